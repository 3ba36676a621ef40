/*
 * budget_say.c - verdicts in words.
 *
 * Quantities are written as people write them; two that would look the same
 * and are not get all their digits. The sentences end without a full stop and
 * fit their buffer but for notes that come from outside, which are cut.
 */
#include "observe/budget_judge.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define JUDGE_NUMBER 40

/* All digits of a value, in the base of its unit. */
static void judge_digits(double value, int unit, char text[JUDGE_NUMBER])
{
	static const char *const suffixes[] = {
	    [PLIM_UNIT_NONE] = "",
	    [PLIM_UNIT_BYTES] = " B",
	    [PLIM_UNIT_NS] = " ns",
	    [PLIM_UNIT_PERCENT] = " %",
	    [PLIM_UNIT_PER_SECOND] = "/s",
	    [PLIM_UNIT_BYTES_PER_SECOND] = " B/s",
	};
	size_t size = plim_number_format(value, text, JUDGE_NUMBER);

	assert(unit >= 0 && unit <= PLIM_UNIT_BYTES_PER_SECOND);
	assert(size + 4 < JUDGE_NUMBER);
	snprintf(text + size, JUDGE_NUMBER - size, "%s", suffixes[unit]);
}

/* Two quantities for one sentence, told apart where the one crosses the
 * other. */
static void judge_numbers(const struct plimp_judge_check *check, int unit,
			  char value[JUDGE_NUMBER], char bound[JUDGE_NUMBER])
{
	plim_quantity_format(check->value.value, unit, value, JUDGE_NUMBER);
	plim_quantity_format(check->bound, unit, bound, JUDGE_NUMBER);
	if (strcmp(value, bound) != 0 || check->headroom >= 0)
		return;
	judge_digits(check->value.value, unit, value);
	judge_digits(check->bound, unit, bound);
}

static const char *judge_bound_name(const struct plimp_judge_check *check)
{
	if (check->bit == PLIM_LIMIT_VERSUS)
		return "what the baseline allows, ";
	return check->is_floor ? "the floor of " : "the ceiling of ";
}

void plimp_judge_say_held(const struct plimp_judge_case *judged,
			  struct plimp_judge_check *check)
{
	char value[JUDGE_NUMBER], bound[JUDGE_NUMBER];
	int of = check->value.bound;

	judge_numbers(check, judged->figure->unit, value, bound);
	snprintf(check->text, PLIMP_JUDGE_TEXT, "%s is %s %s%s%s", value,
		 check->is_floor ? "not below" : "within",
		 judge_bound_name(check), bound,
		 of == PLIM_BOUND_AT_LEAST  ? "; it is a lower bound"
		 : of == PLIM_BOUND_AT_MOST ? "; it is an upper bound"
					    : "");
}

void plimp_judge_say_crossed(const struct plimp_judge_case *judged,
			     struct plimp_judge_check *check)
{
	char value[JUDGE_NUMBER], bound[JUDGE_NUMBER], error[JUDGE_NUMBER];
	int within = check->error > 0 && -check->headroom <= check->error;

	judge_numbers(check, judged->figure->unit, value, bound);
	plim_quantity_format(check->error, judged->figure->unit, error,
			     sizeof(error));
	snprintf(check->text, PLIMP_JUDGE_TEXT, "%s%s is %s %s%s%s%s%s",
		 check->value.bound == PLIM_BOUND_AT_LEAST  ? "at least "
		 : check->value.bound == PLIM_BOUND_AT_MOST ? "at most "
							    : "",
		 value, check->is_floor ? "below" : "above",
		 judge_bound_name(check), bound,
		 within ? ", if only by less than its sampling error of " : "",
		 within ? error : "",
		 within && judged->count == 1 ? "; repeats would tell" : "");
}

void plimp_judge_say_noise(const struct plimp_judge_case *judged,
			   struct plimp_judge_check *check)
{
	char value[JUDGE_NUMBER], bound[JUDGE_NUMBER], error[JUDGE_NUMBER];

	judge_numbers(check, judged->figure->unit, value, bound);
	plim_quantity_format(check->error, judged->figure->unit, error,
			     sizeof(error));
	snprintf(check->text, PLIMP_JUDGE_TEXT,
		 "noise: %s is %s %s%s by less than its sampling error of %s, "
		 "and the repeats disagree; a longer window would tell",
		 value, check->is_floor ? "below" : "above",
		 judge_bound_name(check), bound, error);
}

void plimp_judge_say_open(const struct plimp_judge_case *judged,
			  struct plimp_judge_check *check)
{
	char value[JUDGE_NUMBER], bound[JUDGE_NUMBER];

	judge_numbers(check, judged->figure->unit, value, bound);
	snprintf(check->text, PLIMP_JUDGE_TEXT,
		 "%s is %s %s%s, and it is only %s bound: the true value may "
		 "hold",
		 value, check->is_floor ? "below" : "above",
		 judge_bound_name(check), bound,
		 check->is_floor ? "a lower" : "an upper");
}

/* Why there is no verdict: the first reading that does not count. */
void plimp_judge_unavailable(const struct plimp_judge_case *judged,
			     struct plimp_judge_check *check)
{
	const plim_budget_reading *reading = judged->readings;
	size_t missing = plimp_judge_missing(judged);
	char part[64] = "";

	check->verdict = PLIM_VERDICT_UNAVAILABLE;
	check->can_skip = 1;
	check->value = plim_real_missing(PLIM_REASON_NONE, 0);
	for (size_t i = judged->count; i > 0; i--) {
		if (plimp_judge_is_known(judged, &judged->readings[i - 1]))
			continue;
		reading = &judged->readings[i - 1];
		/* A skip is for what a host cannot tell. */
		if (reading->value.state == PLIM_STATE_GONE ||
		    reading->value.state == PLIM_STATE_UNREAD)
			check->can_skip = 0;
	}
	if (missing < judged->count)
		snprintf(part, sizeof(part),
			 "%lu of %lu repeats: ", (unsigned long)missing,
			 (unsigned long)judged->count);
	if (reading->value.state == PLIM_STATE_KNOWN) {
		const char *word = plim_method_word(reading->value.method);

		check->value = plim_real_missing(PLIM_REASON_OTHER_METHOD, 0);
		snprintf(check->text, PLIMP_JUDGE_TEXT,
			 "%smeasured by %s, which is no method that the limit "
			 "names",
			 part,
			 reading->value.method == PLIM_METHOD_NONE ||
				 word == NULL
			     ? "a method that is not stated"
			     : word);
		return;
	}
	check->value = reading->value;
	snprintf(check->text, PLIMP_JUDGE_TEXT, "%s%s%s%s", part,
		 plim_reason_text(reading->value.method) != NULL
		     ? plim_reason_text(reading->value.method)
		     : "the figure is unavailable",
		 reading->note != NULL ? ": " : "",
		 reading->note != NULL ? reading->note : "");
}
