/*
 * result_line.c - a record of pairs, written one after another.
 *
 * The line gathers its bytes itself, so that a record of usual length reaches
 * the callback in one call and two programs that write into one pipe do not
 * mix. Each pair is made in a sink whose bytes go into the line.
 */
#include "core/text.h"
#include "export/results.h"

#include <assert.h>
#include <string.h>

static void line_flush(plim_result_line *line)
{
	if (line->failed == PLIM_OK && line->used > 0 &&
	    line->write(line->data, line->used, line->user) != 0)
		line->failed = PLIM_EOUTPUT;
	line->used = 0;
}

static void line_put(plim_result_line *line, const char *data, size_t size)
{
	assert(line->used <= sizeof(line->data));
	while (size > 0 && line->failed == PLIM_OK) {
		size_t room = sizeof(line->data) - line->used;
		size_t part = size < room ? size : room;

		memcpy(line->data + line->used, data, part);
		line->used += part;
		data += part;
		size -= part;
		if (line->used == sizeof(line->data))
			line_flush(line);
	}
}

static void line_string(plim_result_line *line, const char *string)
{
	line_put(line, string, strlen(string));
}

void plim_result_begin(plim_result_line *line, const char *record,
		       plim_write_fn *write, void *user)
{
	plim_bytes name = {record, strlen(record)};

	assert(plimp_result_key_size(name) == name.size);
	memset(line, 0, sizeof(*line));
	line->write = write;
	line->user = user;
	line_string(line, PLIMP_RESULT_MARK);
	line_put(line, name.data, name.size);
}

static void line_key(plim_result_line *line, const char *key)
{
	plim_bytes name = {key, strlen(key)};

	assert(plimp_result_key_size(name) == name.size);
	line_put(line, " ", 1);
	line_put(line, name.data, name.size);
	line_put(line, "=", 1);
}

void plim_result_add_whole(plim_result_line *line, const char *key,
			   uint64_t value)
{
	char digits[PLIMP_DIGITS];

	line_key(line, key);
	line_put(line, digits, plimp_digits(value, digits));
}

void plim_result_add_count(plim_result_line *line, const char *key,
			   plim_count count)
{
	if (count.state == PLIM_STATE_KNOWN)
		plim_result_add_whole(line, key, count.value);
	else
		plim_result_add_word(line, key, NULL);
}

void plim_result_add_real(plim_result_line *line, const char *key,
			  plim_real real, int decimals)
{
	char digits[PLIMP_RESULT_NUMBER];

	if (!plimp_results_has(real)) {
		plim_result_add_word(line, key, NULL);
		return;
	}
	line_key(line, key);
	line_put(line, digits,
		 plimp_results_number(real.value, decimals, digits));
}

void plim_result_add_hex(plim_result_line *line, const char *key,
			 plim_count count)
{
	static const char letters[] = "0123456789abcdef";
	char digits[16];
	size_t at = sizeof(digits);

	if (count.state != PLIM_STATE_KNOWN) {
		plim_result_add_word(line, key, NULL);
		return;
	}
	do {
		digits[--at] = letters[count.value & 15];
		count.value >>= 4;
	} while (count.value != 0);
	line_key(line, key);
	line_string(line, "0x");
	line_put(line, digits + at, sizeof(digits) - at);
}

void plim_result_add_word(plim_result_line *line, const char *key,
			  const char *word)
{
	plim_bytes bytes = {word, word != NULL ? strlen(word) : 0};

	if (word != NULL && !plimp_result_is_word(bytes)) {
		plim_result_add_text(line, key, bytes);
		return;
	}
	line_key(line, key);
	line_string(line, word != NULL ? word : PLIMP_RESULT_MISSING);
}

static int line_from_sink(const char *data, size_t size, void *user)
{
	plim_result_line *line = user;

	line_put(line, data, size);
	return line->failed;
}

void plim_result_add_text(plim_result_line *line, const char *key,
			  plim_bytes text)
{
	struct plimp_sink sink;

	line_key(line, key);
	plimp_sink_init(&sink, line_from_sink, line);
	plimp_results_quoted(&sink, text);
	plimp_sink_flush(&sink);
}

void plim_result_add_name(plim_result_line *line, const char *key,
			  plim_text text)
{
	if (text.state == PLIM_STATE_KNOWN)
		plim_result_add_text(line, key, text.bytes);
	else
		plim_result_add_word(line, key, NULL);
}

int plim_result_end(plim_result_line *line)
{
	line_put(line, "\n", 1);
	line_flush(line);
	return line->failed;
}
