/*
 * budget_judge.c - from readings and a limit to a verdict.
 *
 * A reading is an interval: one point if it is exact, open to one side if it
 * is a bound, the whole line if it is missing. The aggregate of the repeats,
 * their k-th smallest, grows with each of them, so the lowest and the highest
 * value that it can have are the aggregates of the lower and of the upper
 * ends. A ceiling is crossed for certain where the lower one is above it, and
 * holds for certain where the upper one is not. In between stand the values
 * as they were read: the rules for them are in plimsoll/budget.h and argued
 * for in docs/design/budgets.md. A floor is the same thing upside down.
 */
#include "observe/budget_judge.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int judge_is_crossed(const struct plimp_judge_check *check, double value)
{
	return check->is_floor ? value < check->bound : value > check->bound;
}

/* The values were all read, and cross: for certain, or not. */
static void judge_crossed(const struct plimp_judge_case *judged,
			  struct plimp_judge_check *check, int certain)
{
	if (!certain) {
		check->verdict = PLIM_VERDICT_INCONCLUSIVE;
		plimp_judge_say_open(judged, check);
	} else if (check->error > 0 && -check->headroom <= check->error &&
		   plimp_judge_disagree(judged, check)) {
		check->verdict = PLIM_VERDICT_INCONCLUSIVE;
		plimp_judge_say_noise(judged, check);
	} else {
		check->verdict = PLIM_VERDICT_EXCEEDED;
		plimp_judge_say_crossed(judged, check);
	}
}

/* Judges one bound; bit, is_floor and bound are set. */
static void judge_bound(const struct plimp_judge_case *judged,
			struct plimp_judge_check *check)
{
	double low, high;

	if (judged->count == 0) {
		check->verdict = PLIM_VERDICT_UNAVAILABLE;
		check->value = plim_real_missing(PLIM_REASON_NONE, 0);
		snprintf(check->text, PLIMP_JUDGE_TEXT, "no samples");
		return;
	}
	low = plimp_judge_aggregate(judged, PLIMP_JUDGE_LOW, check->is_floor);
	high = plimp_judge_aggregate(judged, PLIMP_JUDGE_HIGH, check->is_floor);
	if (plimp_judge_missing(judged) > 0) {
		/* Crossed whatever the missing ones were, or unknown. */
		double sure = check->is_floor ? high : low;

		if (!isfinite(sure) || !judge_is_crossed(check, sure)) {
			plimp_judge_unavailable(judged, check);
			return;
		}
		plimp_judge_fill(judged, check, sure,
				 check->is_floor ? PLIM_BOUND_AT_MOST
						 : PLIM_BOUND_AT_LEAST);
		judge_crossed(judged, check, 1);
		return;
	}
	plimp_judge_value(judged, check);
	if (judge_is_crossed(check, check->value.value)) {
		judge_crossed(
		    judged, check,
		    judge_is_crossed(check, check->is_floor ? high : low));
		return;
	}
	check->verdict = PLIM_VERDICT_PASS;
	plimp_judge_say_held(judged, check);
}

/* A relative limit becomes a ceiling, or is unavailable; 1 if the former. */
static int judge_baseline(const struct plimp_judge_case *judged,
			  const plim_budget_baseline *baseline,
			  struct plimp_judge_check *check)
{
	const plim_budget_limit *limit = judged->limit;
	int method = plimp_judge_method(judged);
	const char *theirs, *ours;

	check->verdict = PLIM_VERDICT_UNAVAILABLE;
	check->can_skip = 1;
	check->value = plim_real_missing(PLIM_REASON_OTHER_METHOD, 0);
	if (baseline == NULL) {
		snprintf(check->text, PLIMP_JUDGE_TEXT, "there is no baseline");
		return 0;
	}
	if (baseline->refused[0] != '\0') {
		snprintf(check->text, PLIMP_JUDGE_TEXT, "the baseline: %.*s",
			 (int)sizeof(baseline->refused), baseline->refused);
		return 0;
	}
	if (baseline->value.state != PLIM_STATE_KNOWN) {
		theirs = plim_reason_text(baseline->value.method);
		snprintf(check->text, PLIMP_JUDGE_TEXT,
			 "the baseline does not have it: %s",
			 theirs != NULL ? theirs : "unavailable");
		return 0;
	}
	if (plimp_judge_missing(judged) < judged->count &&
	    baseline->value.method != method) {
		theirs = plim_method_word(baseline->value.method);
		ours = plim_method_word(method);
		snprintf(check->text, PLIMP_JUDGE_TEXT,
			 "the baseline was measured by %s and this by %s, "
			 "which cannot be compared",
			 theirs != NULL ? theirs : "another method",
			 ours != NULL ? ours : "another");
		return 0;
	}
	check->bound = baseline->value.value +
		       baseline->value.value * limit->rise_percent / 100;
	if (check->bound < baseline->value.value + limit->also_above)
		check->bound = baseline->value.value + limit->also_above;
	return 1;
}

/* A lower bound of the baseline allows no less than was computed from it. */
static void judge_versus(const struct plimp_judge_case *judged,
			 const plim_budget_baseline *baseline,
			 struct plimp_judge_check *check)
{
	if (judged->count > 0 && !judge_baseline(judged, baseline, check)) {
		if (plimp_judge_missing(judged) > 0)
			plimp_judge_unavailable(judged, check);
		return;
	}
	check->can_skip = 0;
	judge_bound(judged, check);
	if (check->verdict != PLIM_VERDICT_EXCEEDED ||
	    baseline->value.bound != PLIM_BOUND_AT_LEAST ||
	    check->value.bound == PLIM_BOUND_AT_LEAST)
		return;
	check->verdict = PLIM_VERDICT_INCONCLUSIVE;
	snprintf(check->text, PLIMP_JUDGE_TEXT,
		 "it is above what the baseline allows, but the baseline is "
		 "only a lower bound");
}

static void judge_slack(const struct plimp_judge_case *judged,
			const struct plimp_judge_check *check,
			plim_budget_judgement *out)
{
	double value = check->value.value;

	if (check->bit != PLIM_LIMIT_MAX ||
	    check->verdict != PLIM_VERDICT_PASS ||
	    check->value.state != PLIM_STATE_KNOWN || value <= 0 ||
	    !(check->bound >
	      (value + check->error) * judged->limit->slack_warning))
		return;
	out->slack = 1;
	out->slack_factor = check->bound / value;
}

static double judge_tightness(double headroom, double bound)
{
	return headroom / (bound > 0 ? bound : 1);
}

/* The worst of the checks, and of equally bad ones the tightest, tells. */
static int judge_is_worse(const struct plimp_judge_check *a,
			  const struct plimp_judge_check *b)
{
	int worse =
	    plimp_judge_badness(a->verdict) - plimp_judge_badness(b->verdict);

	if (worse != 0)
		return worse > 0;
	return judge_tightness(a->headroom, a->bound) <
	       judge_tightness(b->headroom, b->bound);
}

/*
 * `told` is the check that tells, NULL if all were skipped; `skipped` is one
 * that was, or NULL.
 */
static void judge_tell(const struct plimp_judge_case *judged,
		       const struct plimp_judge_check *told,
		       const struct plimp_judge_check *skipped,
		       plim_budget_judgement *out)
{
	char text[4 * PLIMP_JUDGE_TEXT];
	plim_bytes bytes = {text, 0};
	const struct plimp_judge_check *from = told != NULL ? told : skipped;

	assert(from != NULL);
	out->value = from->value;
	out->verdict = told != NULL ? told->verdict : PLIM_VERDICT_PASS;
	out->skipped = skipped != NULL;
	if (told != NULL) {
		out->decided = told->bit;
		out->limit = told->bound;
		out->headroom = told->headroom;
		out->error = told->error;
		out->counted = told->counted;
	}
	if (skipped == NULL)
		snprintf(text, sizeof(text), "%s", told->text);
	else
		snprintf(
		    text, sizeof(text), "%s%s%s skipped (%.255s): %s",
		    told != NULL ? told->text : "", told != NULL ? "; " : "",
		    skipped->bit == PLIM_LIMIT_VERSUS ? "baseline" : "figure",
		    judged->limit->skip, skipped->text);
	bytes.size = strlen(text);
	plim_escape(PLIM_ESCAPE_TERMINAL, bytes, out->text, sizeof(out->text));
}

/* Every bound of the limit, in turn. */
static void judge_all(const struct plimp_judge_case *judged,
		      const plim_budget_baseline *baseline,
		      plim_budget_judgement *out)
{
	static const unsigned bits[] = {PLIM_LIMIT_MAX, PLIM_LIMIT_MIN,
					PLIM_LIMIT_VERSUS};
	struct plimp_judge_check checks[3] = {{0}};
	const struct plimp_judge_check *told = NULL, *skipped = NULL;

	for (size_t i = 0; i < 3; i++) {
		struct plimp_judge_check *check = &checks[i];

		if (!(judged->limit->has & bits[i]))
			continue;
		check->bit = bits[i];
		check->is_floor = bits[i] == PLIM_LIMIT_MIN;
		if (bits[i] == PLIM_LIMIT_VERSUS) {
			judge_versus(judged, baseline, check);
		} else {
			check->bound = check->is_floor ? judged->limit->min
						       : judged->limit->max;
			judge_bound(judged, check);
		}
		judge_slack(judged, check, out);
		if (check->verdict == PLIM_VERDICT_UNAVAILABLE &&
		    check->can_skip && judged->limit->skip != NULL)
			skipped = check;
		else if (told == NULL || judge_is_worse(check, told))
			told = check;
	}
	judge_tell(judged, told, skipped, out);
}

static int judge_is_sound(const struct plimp_judge_case *judged,
			  const plim_budget_baseline *baseline)
{
	const unsigned known =
	    PLIM_LIMIT_MAX | PLIM_LIMIT_MIN | PLIM_LIMIT_VERSUS;

	if (judged->figure == NULL || !(judged->limit->has & known) ||
	    plim_budget_aggregate_word(judged->aggregate) == NULL ||
	    !isfinite(judged->limit->max) || !isfinite(judged->limit->min) ||
	    (judged->readings == NULL && judged->count > 0))
		return 0;
	for (size_t i = 0; i < judged->count; i++)
		if (judged->readings[i].value.state == PLIM_STATE_KNOWN &&
		    !isfinite(judged->readings[i].value.value))
			return 0;
	return baseline == NULL || baseline->refused[0] != '\0' ||
	       baseline->value.state != PLIM_STATE_KNOWN ||
	       isfinite(baseline->value.value);
}

int plim_budget_judge(const plim_budget_limit *limit, int aggregate,
		      const plim_budget_reading *readings, size_t count,
		      const plim_budget_baseline *baseline,
		      plim_budget_judgement *out)
{
	struct plimp_judge_case judged = {
	    .limit = limit,
	    .figure = plim_budget_figure_get(limit->figure),
	    .aggregate = aggregate,
	    .readings = readings,
	    .count = count,
	};
	plim_budget_judgement made = {0};

	if (!judge_is_sound(&judged, baseline))
		return PLIM_EINVAL;
	plimp_judge_spread(&judged, &made);
	made.readings = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
	made.missing = (uint32_t)plimp_judge_missing(&judged);
	if (baseline != NULL && baseline->refused[0] == '\0')
		made.baseline = baseline->value;
	judge_all(&judged, baseline, &made);
	*out = made;
	return PLIM_OK;
}
