/*
 * result.c - writing RESULT lines, one figure a line or one record a line.
 *
 * The formats are fixed (spec: "Machine-readable lines"; the grammar:
 * docs/design/result-lines.md) and read back by core/result.c. Text is made
 * safe in one place: what is not printable UTF-8 becomes \xNN, the backslash
 * and, between quotes, the quote get a backslash before them. Numbers never
 * pass through printf. An unavailable figure becomes a word, never a number.
 */
#include "export/results.h"

#include <plimsoll/fields.h>
#include <plimsoll/units.h>

#include <assert.h>
#include <float.h>
#include <string.h>

static plim_bytes results_bytes(const char *string)
{
	return (plim_bytes){string, strlen(string)};
}

int plimp_results_has(plim_real real)
{
	return real.state == PLIM_STATE_KNOWN && real.value >= -DBL_MAX &&
	       real.value <= DBL_MAX;
}

/* Cut at the bytes that get a backslash, so that what is between goes through
 * the common escapes. */
static void results_escaped(struct plimp_sink *sink, plim_bytes text,
			    int quoted)
{
	size_t size;

	while (text.size > 0) {
		for (size = 0; size < text.size; size++)
			if (text.data[size] == '\\' ||
			    (quoted && text.data[size] == '"'))
				break;
		plimp_sink_escaped(sink, PLIM_ESCAPE_TERMINAL,
				   (plim_bytes){text.data, size});
		if (size < text.size) {
			plimp_sink_put(sink, "\\", 1);
			plimp_sink_put(sink, text.data + size, 1);
			size++;
		}
		text.data += size;
		text.size -= size;
	}
}

void plimp_results_quoted(struct plimp_sink *sink, plim_bytes text)
{
	plimp_sink_put(sink, "\"", 1);
	results_escaped(sink, text, 1);
	plimp_sink_put(sink, "\"", 1);
}

void plimp_results_free(struct plimp_sink *sink, plim_bytes text)
{
	results_escaped(sink, text, 0);
}

void plimp_results_key(struct plimp_sink *sink, const char *key)
{
	assert(plimp_result_key_size(results_bytes(key)) == strlen(key));
	plimp_sink_string(sink, PLIMP_RESULT_MARK);
	plimp_sink_string(sink, key);
	plimp_sink_put(sink, "=", 1);
}

static void results_unit(struct plimp_sink *sink, const char *unit)
{
	if (unit != NULL && *unit != '\0') {
		plimp_sink_put(sink, " ", 1);
		plimp_results_free(sink, results_bytes(unit));
	}
	plimp_sink_put(sink, "\n", 1);
}

void plimp_results_missing(struct plimp_sink *sink, const char *key,
			   const char *reason)
{
	plimp_results_key(sink, key);
	plimp_sink_string(sink, PLIMP_RESULT_MISSING);
	results_unit(sink, reason);
}

static void results_missing_for(struct plimp_sink *sink, const char *key,
				int reason)
{
	const char *word = plim_reason_word(reason);

	plimp_results_missing(sink, key, word != NULL ? word : "unknown");
}

void plimp_results_count(struct plimp_sink *sink, const char *key,
			 plim_count count, const char *unit)
{
	if (count.state != PLIM_STATE_KNOWN) {
		results_missing_for(sink, key, count.method);
		return;
	}
	plimp_results_key(sink, key);
	plimp_sink_whole(sink, count.value);
	results_unit(sink, unit);
}

size_t plimp_results_number(double value, int decimals,
			    char digits[PLIMP_RESULT_NUMBER])
{
	if (decimals < 0)
		return plim_number_format(value, digits, PLIMP_RESULT_NUMBER);
	return plim_fixed_format(value, decimals, digits, PLIMP_RESULT_NUMBER);
}

void plimp_results_real(struct plimp_sink *sink, const char *key,
			plim_real real, int decimals, const char *unit)
{
	char digits[PLIMP_RESULT_NUMBER];

	if (real.state != PLIM_STATE_KNOWN) {
		results_missing_for(sink, key, real.method);
		return;
	}
	if (!plimp_results_has(real)) {
		plimp_results_missing(sink, key, PLIMP_RESULT_NOT_NUMBER);
		return;
	}
	plimp_results_key(sink, key);
	plimp_sink_put(sink, digits,
		       plimp_results_number(real.value, decimals, digits));
	results_unit(sink, unit);
}

/* A word that reads as a number would come back as one. */
void plimp_results_text(struct plimp_sink *sink, const char *key,
			plim_bytes text)
{
	plimp_results_key(sink, key);
	if (plimp_result_is_word(text) &&
	    plimp_result_number_size(text) < text.size)
		plimp_sink_put(sink, text.data, text.size);
	else
		plimp_results_quoted(sink, text);
	plimp_sink_put(sink, "\n", 1);
}

int plim_result_count(const char *key, plim_count count, const char *unit,
		      plim_write_fn *write, void *user)
{
	struct plimp_sink sink;

	plimp_sink_init(&sink, write, user);
	plimp_results_count(&sink, key, count, unit);
	return plimp_sink_flush(&sink);
}

int plim_result_real(const char *key, plim_real real, int decimals,
		     const char *unit, plim_write_fn *write, void *user)
{
	struct plimp_sink sink;

	assert(decimals >= 0);
	plimp_sink_init(&sink, write, user);
	plimp_results_real(&sink, key, real, decimals, unit);
	return plimp_sink_flush(&sink);
}

int plim_result_text(const char *key, plim_bytes text, plim_write_fn *write,
		     void *user)
{
	struct plimp_sink sink;

	plimp_sink_init(&sink, write, user);
	plimp_results_text(&sink, key, text);
	return plimp_sink_flush(&sink);
}

int plim_result_unavailable(const char *key, const char *reason,
			    plim_write_fn *write, void *user)
{
	struct plimp_sink sink;

	plimp_sink_init(&sink, write, user);
	plimp_results_missing(&sink, key, reason);
	return plimp_sink_flush(&sink);
}
