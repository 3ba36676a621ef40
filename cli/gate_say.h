/*
 * gate_say.h - what those who tell of a gate share: where bytes go, words for
 * a limit, for what was measured and for how it ended, and which figures there
 * is something to say about. Texts come back raw or safe as their function
 * says.
 */
#ifndef PLIM_GATE_SAY_H
#define PLIM_GATE_SAY_H

#include "gate.h"

/* A writer's bytes; nothing is written after the first failure. */
struct gate_out {
	plim_write_fn *write;
	void *user;
	int failed;	/* PLIM_EOUTPUT, or PLIM_OK */
	size_t written; /* bytes so far */
};
void gate_put(struct gate_out *out, const char *text);
void gate_put_bytes(struct gate_out *out, const char *data, size_t size);
/* The pieces of a text that are no control characters go through plim_escape
 * first (PLIM_ESCAPE_TERMINAL), then through `each`, byte by byte. */
typedef void gate_byte_fn(struct gate_out *out, char byte);
void gate_put_safe(struct gate_out *out, const char *text, gate_byte_fn *each);

/* A value of this unit for people: "1.5 MiB". One of a few buffers in turn. */
const char *gate_quantity(double value, int unit);
/* The same of a figure that may be a bound or missing ("unavailable"). */
const char *gate_value(const struct gate *gate, plim_real real, int unit);
/* "at most 100/s, at least 1/s", "at most 10 % or 2 above base.txt". Raw: the
 * name of a baseline is in it. */
void gate_limit_words(const struct gate_figure *figure, char *text,
		      size_t size);
/* Why an unavailable value is: a sentence. */
const char *gate_why_not(const struct gate_figure *figure);

/* 1 if there is a number that decided: a relative limit has none where the
 * baseline could not be used. */
int gate_has_limit(const plim_budget_judgement *judged);

/* The outcome of a figure as a word: its verdict, "skipped", or "not_measured"
 * where the gate was interrupted before. The same of a target. */
const char *gate_figure_word(const struct gate_target *target,
			     const struct gate_figure *figure);
const char *gate_target_word(const struct gate_target *target);
const char *gate_verdict_word(int verdict);
/* How the whole ended, in a word. */
const char *gate_word(const struct gate *gate);
/* A figure whose own verdict is to be told: something was read for it, or its
 * target has no reason of its own that says it all. */
int gate_figure_speaks(const struct gate_target *target,
		       const struct gate_figure *figure);
/* One that is unavailable, and that the file lets be so. */
int gate_figure_skipped(const struct gate_figure *figure);
/* One that failed: exceeded, unavailable or inconclusive. */
int gate_figure_failed(const struct gate_figure *figure);
/* The reading whose method stands for all, or NULL. */
const plim_budget_reading *gate_reading(const struct gate_figure *figure);
/* "thread_sum"; "" without. */
const char *gate_method(const struct gate_figure *figure);
const char *gate_way_word(int way);
/* "YYYY-MM-DD" of yyyymmdd. */
void gate_date(int32_t date, char text[16]);

/* A text of C as bytes. */
plim_bytes gate_bytes(const char *text);

#endif
