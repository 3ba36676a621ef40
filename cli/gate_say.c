/*
 * gate_say.c - see gate_say.h. Nothing here decides anything: verdicts come
 * from the library.
 */
#include "gate_say.h"

#include <string.h>

plim_bytes gate_bytes(const char *text)
{
	return (plim_bytes){text, strlen(text)};
}

void gate_put_bytes(struct gate_out *out, const char *data, size_t size)
{
	if (out->failed != PLIM_OK || size == 0)
		return;
	if (out->write(data, size, out->user) != 0)
		out->failed = PLIM_EOUTPUT;
	out->written += size;
}

void gate_put(struct gate_out *out, const char *text)
{
	gate_put_bytes(out, text, strlen(text));
}

/* U+FFFE and U+FFFF are characters of UTF-8 and none of XML: the bytes EF BF
 * BE and EF BF BF. */
static int say_is_none(plim_bytes text)
{
	const unsigned char *at = (const unsigned char *)text.data;

	return text.size >= 3 && at[0] == 0xef && at[1] == 0xbf &&
	       at[2] >= 0xbe;
}

/* How much of the text is escaped at once: to where a character begins, so
 * that pieces escape as the whole would, and to the next that is none. */
static size_t say_piece(plim_bytes text)
{
	size_t size = text.size;

	if (size > 100) {
		size = 100;
		while (size > 96 &&
		       ((unsigned char)text.data[size] & 0xc0) == 0x80)
			size--;
	}
	for (size_t i = 0; i < size; i++)
		if (say_is_none((plim_bytes){text.data + i, text.size - i}))
			return i;
	return size;
}

void gate_put_safe(struct gate_out *out, const char *text, gate_byte_fn *each)
{
	plim_bytes rest = gate_bytes(text);
	char safe[512];

	while (rest.size > 0) {
		plim_bytes part = {rest.data, say_piece(rest)};

		if (part.size == 0) {
			part.size = 3;
			snprintf(safe, sizeof safe, "\\xef\\xbf\\x%02x",
				 (unsigned char)rest.data[2]);
		} else {
			plim_escape(PLIM_ESCAPE_TERMINAL, part, safe,
				    sizeof safe);
		}
		for (const char *at = safe; *at != '\0'; at++)
			each(out, *at);
		rest.data += part.size;
		rest.size -= part.size;
	}
}

const char *gate_quantity(double value, int unit)
{
	static char texts[16][40];
	static unsigned turn;
	char *text = texts[turn++ % 16];

	plim_quantity_format(value, unit, text, sizeof texts[0]);
	return text;
}

const char *gate_value(const struct gate *gate, plim_real real, int unit)
{
	if (real.state != PLIM_STATE_KNOWN)
		return "unavailable";
	return show_real(gate->options, real, unit);
}

static size_t say(char *text, size_t size, size_t used, const char *word)
{
	size_t length = strlen(word);

	if (used >= size)
		return used;
	if (length >= size - used)
		length = size - used - 1;
	memcpy(text + used, word, length);
	text[used + length] = '\0';
	return used + length;
}

static size_t say_versus(const plim_budget_limit *limit, int unit, char *text,
			 size_t size, size_t used)
{
	used = say(text, size, used, "at most ");
	used = say(text, size, used,
		   gate_quantity(limit->rise_percent, PLIM_UNIT_PERCENT));
	if (limit->also_above > 0) {
		used = say(text, size, used, " or ");
		used = say(text, size, used,
			   gate_quantity(limit->also_above, unit));
	}
	used = say(text, size, used, " above ");
	return say(text, size, used, limit->versus);
}

void gate_limit_words(const struct gate_figure *figure, char *text, size_t size)
{
	const plim_budget_limit *limit = figure->limit;
	int unit = figure->figure->unit;
	size_t used = 0;

	text[0] = '\0';
	if ((limit->has & PLIM_LIMIT_MAX) != 0) {
		used = say(text, size, used, "at most ");
		used = say(text, size, used, gate_quantity(limit->max, unit));
	}
	if ((limit->has & PLIM_LIMIT_MIN) != 0) {
		used = say(text, size, used, used > 0 ? ", " : "");
		used = say(text, size, used, "at least ");
		used = say(text, size, used, gate_quantity(limit->min, unit));
	}
	if ((limit->has & PLIM_LIMIT_VERSUS) != 0) {
		used = say(text, size, used, used > 0 ? ", " : "");
		say_versus(limit, unit, text, size, used);
	}
}

const char *gate_why_not(const struct gate_figure *figure)
{
	for (size_t i = 0; i < figure->reading_count; i++) {
		const plim_budget_reading *reading = &figure->readings[i];

		if (reading->value.state == PLIM_STATE_KNOWN ||
		    reading->value.state == PLIM_STATE_UNREAD)
			continue;
		if (reading->note != NULL && reading->note[0] != '\0')
			return reading->note;
		return show_reason(reading->value.state, reading->value.method,
				   reading->value.code);
	}
	return "";
}

int gate_has_limit(const plim_budget_judgement *judged)
{
	return judged->decided != 0 &&
	       (judged->decided != PLIM_LIMIT_VERSUS ||
		judged->value.state == PLIM_STATE_KNOWN);
}

const char *gate_verdict_word(int verdict)
{
	const char *word = plim_verdict_word(verdict);

	return word != NULL ? word : "unavailable";
}

const char *gate_target_word(const struct gate_target *target)
{
	return target->done ? gate_verdict_word(target->verdict)
			    : "not_measured";
}

const char *gate_figure_word(const struct gate_target *target,
			     const struct gate_figure *figure)
{
	if (!target->done)
		return gate_target_word(target);
	if (gate_figure_skipped(figure))
		return "skipped";
	return gate_verdict_word(figure->judgement.verdict);
}

const char *gate_word(const struct gate *gate)
{
	return gate->interrupted ? "interrupted"
				 : gate_verdict_word(gate->verdict);
}

int gate_figure_skipped(const struct gate_figure *figure)
{
	return figure->judgement.skipped &&
	       figure->judgement.verdict == PLIM_VERDICT_PASS;
}

int gate_figure_failed(const struct gate_figure *figure)
{
	return figure->judgement.verdict != PLIM_VERDICT_PASS;
}

int gate_figure_speaks(const struct gate_target *target,
		       const struct gate_figure *figure)
{
	for (size_t i = 0; i < figure->reading_count; i++)
		if (figure->readings[i].value.state != PLIM_STATE_UNREAD)
			return 1;
	return target->reason[0] == '\0';
}

const plim_budget_reading *gate_reading(const struct gate_figure *figure)
{
	for (size_t i = 0; i < figure->reading_count; i++)
		if (figure->readings[i].value.state == PLIM_STATE_KNOWN)
			return &figure->readings[i];
	return NULL;
}

const char *gate_method(const struct gate_figure *figure)
{
	const plim_budget_reading *reading = gate_reading(figure);
	const char *word =
	    reading != NULL ? plim_method_word(reading->value.method) : NULL;

	return word != NULL ? word : "";
}

const char *gate_way_word(int way)
{
	switch (way) {
	case PLIM_BUDGET_RUN:
		return "run";
	case PLIM_BUDGET_ATTACH:
		return "attach";
	default:
		return "report";
	}
}

void gate_date(int32_t date, char text[16])
{
	snprintf(text, 16, "%04d-%02d-%02d", (int)(date / 10000 % 10000),
		 (int)(date / 100 % 100), (int)(date % 100));
}
