/*
 * test_judge.c - verdicts: limits and readings in tables, with the verdict,
 * the value that decided and what is said of it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { EXACT = 0, LEAST = 1, MOST = 2, GONE, DENIED, UNREAD, NOTHING };
enum { PASS = 0, EXCEEDED = 1, UNAVAILABLE = 3, INCONCLUSIVE = 4 };
enum { WORST = 0, MEDIAN = 1, BEST = 2 };
enum { MAX = PLIM_LIMIT_MAX, MIN = PLIM_LIMIT_MIN, VERSUS = PLIM_LIMIT_VERSUS };

static plim_budget_reading reading(double value, int what)
{
	plim_budget_reading made = {0};

	made.window_ns = UINT64_C(10000000000);
	made.value = plim_real_known(value, PLIM_METHOD_WAIT4);
	if (what <= MOST)
		made.value.bound = (uint8_t)what;
	else if (what == GONE)
		made.value = plim_real_missing(PLIM_REASON_ENDED, 0);
	else if (what == DENIED)
		made.value = plim_real_missing(PLIM_REASON_NOT_PERMITTED, 13);
	else
		made.value = plim_real_missing(PLIM_REASON_NONE, 0);
	return made;
}

/* Three repeats of a gauge; NOTHING ends them. */
struct row {
	unsigned has;
	double max, min;
	int aggregate;
	struct {
		double value;
		int what;
	} repeats[3];
	int verdict;
	double value;
	int bound;
	const char *says;
};

#define N                  \
	{                  \
		0, NOTHING \
	}

/* clang-format off */
static const struct row rows[] = {
	/* A ceiling and a floor are inclusive. */
	{MAX, 100, 0, WORST, {{100, EXACT}, N}, PASS, 100, EXACT, "100 B is within the ceiling of 100 B"},
	{MAX, 100, 0, WORST, {{100.001, EXACT}, N}, EXCEEDED, 100.001, EXACT, "100.001 B is above the ceiling of 100 B"},
	{MAX, 0, 0, WORST, {{0, EXACT}, N}, PASS, 0, EXACT, "within"},
	{MIN, 0, 100, WORST, {{100, EXACT}, N}, PASS, 100, EXACT, "100 B is not below the floor of 100 B"},
	{MIN, 0, 100, WORST, {{99, EXACT}, N}, EXCEEDED, 99, EXACT, "99 B is below the floor of 100 B"},
	/* Worst, median, best are taken towards the limit. */
	{MAX, 100, 0, WORST, {{1, EXACT}, {101, EXACT}, {2, EXACT}}, EXCEEDED, 101, EXACT, "above"},
	{MAX, 100, 0, MEDIAN, {{1, EXACT}, {101, EXACT}, {2, EXACT}}, PASS, 2, EXACT, "within"},
	{MAX, 100, 0, MEDIAN, {{102, EXACT}, {101, EXACT}, {2, EXACT}}, EXCEEDED, 101, EXACT, "above"},
	{MAX, 100, 0, BEST, {{102, EXACT}, {101, EXACT}, {2, EXACT}}, PASS, 2, EXACT, "within"},
	{MAX, 100, 0, BEST, {{102, EXACT}, {101, EXACT}, {103, EXACT}}, EXCEEDED, 101, EXACT, "above"},
	{MIN, 0, 100, WORST, {{102, EXACT}, {101, EXACT}, {2, EXACT}}, EXCEEDED, 2, EXACT, "below"},
	{MIN, 0, 100, MEDIAN, {{102, EXACT}, {101, EXACT}, {2, EXACT}}, PASS, 101, EXACT, "not below"},
	{MIN, 0, 100, BEST, {{99, EXACT}, {101, EXACT}, {2, EXACT}}, PASS, 101, EXACT, "not below"},
	/* Of two the median is the worse one. */
	{MAX, 100, 0, MEDIAN, {{1, EXACT}, {101, EXACT}, N}, EXCEEDED, 101, EXACT, "above"},
	{MIN, 0, 100, MEDIAN, {{101, EXACT}, {1, EXACT}, N}, EXCEEDED, 1, EXACT, "below"},
	/* Bounds against a ceiling. */
	{MAX, 100, 0, WORST, {{100, LEAST}, N}, PASS, 100, LEAST, "it is a lower bound"},
	{MAX, 100, 0, WORST, {{101, LEAST}, N}, EXCEEDED, 101, LEAST, "at least 101 B is above"},
	{MAX, 100, 0, WORST, {{100, MOST}, N}, PASS, 100, MOST, "it is an upper bound"},
	{MAX, 100, 0, WORST, {{101, MOST}, N}, INCONCLUSIVE, 101, MOST, "only an upper bound: the true value may hold"},
	{MAX, 100, 0, WORST, {{101, MOST}, {102, EXACT}, N}, EXCEEDED, 102, EXACT, "above"},
	{MAX, 100, 0, WORST, {{50, MOST}, {99, EXACT}, {98, LEAST}}, PASS, 99, LEAST, "lower bound"},
	{MAX, 100, 0, BEST, {{50, LEAST}, {40, EXACT}, {30, EXACT}}, PASS, 30, EXACT, "within"},
	/* Bounds against a floor. */
	{MIN, 0, 100, WORST, {{100, LEAST}, N}, PASS, 100, LEAST, "lower bound"},
	{MIN, 0, 100, WORST, {{99, LEAST}, N}, INCONCLUSIVE, 99, LEAST, "only a lower bound"},
	{MIN, 0, 100, WORST, {{100, MOST}, N}, PASS, 100, MOST, "upper bound"},
	{MIN, 0, 100, WORST, {{99, MOST}, N}, EXCEEDED, 99, MOST, "at most 99 B is below"},
	/* A missing repeat: unknown, unless the rest crosses whatever it was. */
	{MAX, 100, 0, WORST, {{1, EXACT}, {0, DENIED}, N}, UNAVAILABLE, -1, 0, "1 of 2 repeats: the kernel tells it only"},
	{MAX, 100, 0, WORST, {{101, EXACT}, {0, DENIED}, N}, EXCEEDED, 101, LEAST, "at least 101 B is above"},
	{MAX, 100, 0, MEDIAN, {{101, EXACT}, {0, DENIED}, {1, EXACT}}, UNAVAILABLE, -1, 0, "1 of 3"},
	{MAX, 100, 0, MEDIAN, {{101, EXACT}, {0, DENIED}, {102, EXACT}}, EXCEEDED, 101, LEAST, "above"},
	{MAX, 100, 0, BEST, {{101, EXACT}, {0, DENIED}, {102, EXACT}}, UNAVAILABLE, -1, 0, "1 of 3"},
	{MAX, 100, 0, WORST, {{101, MOST}, {0, DENIED}, N}, UNAVAILABLE, -1, 0, "1 of 2"},
	{MIN, 0, 100, WORST, {{99, EXACT}, {0, GONE}, N}, EXCEEDED, 99, MOST, "at most 99 B is below"},
	{MIN, 0, 100, WORST, {{101, EXACT}, {0, GONE}, N}, UNAVAILABLE, -1, 0, "the process ended"},
	{MAX, 100, 0, WORST, {{0, UNREAD}, N}, UNAVAILABLE, -1, 0, "nothing has been read yet"},
	{MAX, 100, 0, WORST, {N}, UNAVAILABLE, -1, 0, "no samples"},
	{MIN, 0, 100, WORST, {N}, UNAVAILABLE, -1, 0, "no samples"},
	/* Both at once: the worse verdict, else the tighter one. */
	{MAX | MIN, 100, 50, WORST, {{101, EXACT}, {60, EXACT}, N}, EXCEEDED, 101, EXACT, "ceiling"},
	{MAX | MIN, 100, 50, WORST, {{99, EXACT}, {49, EXACT}, N}, EXCEEDED, 49, EXACT, "floor"},
	{MAX | MIN, 100, 50, WORST, {{99, EXACT}, {90, EXACT}, N}, PASS, 99, EXACT, "ceiling"},
	{MAX | MIN, 100, 50, WORST, {{60, EXACT}, {51, EXACT}, N}, PASS, 51, EXACT, "floor"},
	{MAX | MIN, 100, 50, WORST, {{101, MOST}, {40, EXACT}, N}, EXCEEDED, 40, MOST, "floor"},
};
/* clang-format on */

static size_t readings_of(const struct row *row, plim_budget_reading made[3])
{
	size_t count = 0;

	while (count < 3 && row->repeats[count].what != NOTHING) {
		made[count] = reading(row->repeats[count].value,
				      row->repeats[count].what);
		count++;
	}
	return count;
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row *row = &rows[i];
		plim_budget_limit limit = {
		    .figure = PLIM_BUDGET_RESIDENT_END,
		    .has = row->has,
		    .max = row->max,
		    .min = row->min,
		    .slack_warning = 3,
		};
		plim_budget_reading made[3];
		plim_budget_judgement out;
		size_t count = readings_of(row, made);

		assert_int_equal(plim_budget_judge(&limit, row->aggregate, made,
						   count, NULL, &out),
				 PLIM_OK);
		if (out.verdict != row->verdict ||
		    strstr(out.text, row->says) == NULL)
			fail_msg("row %zu: %s: %s", i,
				 plim_verdict_word(out.verdict), out.text);
		assert_int_equal(out.readings, count);
		assert_true(out.error == 0);
		assert_int_equal(out.skipped, 0);
		if (row->verdict == UNAVAILABLE) {
			assert_int_not_equal(out.value.state, PLIM_STATE_KNOWN);
			continue;
		}
		assert_int_equal(out.value.state, PLIM_STATE_KNOWN);
		assert_true(out.value.value == row->value);
		assert_int_equal(out.value.bound, row->bound);
		assert_int_equal(out.value.method, PLIM_METHOD_WAIT4);
		assert_true(out.limit ==
			    (out.decided == MAX ? row->max : row->min));
		assert_true(out.headroom == (out.decided == MAX
						 ? row->max - row->value
						 : row->value - row->min));
	}
}

static plim_budget_judgement judge(const plim_budget_limit *limit,
				   const plim_budget_reading *readings,
				   size_t count,
				   const plim_budget_baseline *baseline)
{
	plim_budget_judgement out;

	assert_int_equal(
	    plim_budget_judge(limit, WORST, readings, count, baseline, &out),
	    PLIM_OK);
	print_message("%s: %s\n", plim_verdict_word(out.verdict), out.text);
	return out;
}

/* A rate of n events in 10 s, all counted. */
static plim_budget_reading events(uint64_t n)
{
	plim_budget_reading made = reading((double)n / 10, EXACT);

	made.counted = plim_count_known(n, PLIM_METHOD_WAIT4);
	return made;
}

static void test_noise(void **state)
{
	/* 100/s over 10 s are 1,000 events: an error of 3.16/s. */
	static const struct {
		uint64_t n[3];
		int verdict;
		const char *says;
	} cases[] = {
	    {{1000, 1000, 1000}, PASS, "100/s is within"},
	    {{990, 1000, 1001}, INCONCLUSIVE, "noise: 100.1/s is above"},
	    {{990, 1000, 1031}, INCONCLUSIVE, "noise"},
	    {{990, 1000, 1033}, EXCEEDED, "103/s is above"},
	    {{1001, 1002, 1003}, EXCEEDED, "if only by less than its sampling"},
	    {{30000, 30000, 30000}, EXCEEDED, "3000/s is above"},
	};
	plim_budget_limit limit = {.figure = PLIM_BUDGET_WAKEUPS,
				   .has = MAX,
				   .max = 100,
				   .slack_warning = 3};
	plim_budget_reading one;
	plim_budget_judgement out;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		plim_budget_reading made[3];

		for (size_t j = 0; j < 3; j++)
			made[j] = events(cases[i].n[j]);
		out = judge(&limit, made, 3, NULL);
		assert_int_equal(out.verdict, cases[i].verdict);
		assert_non_null(strstr(out.text, cases[i].says));
		assert_true(fabs(out.error - sqrt((double)cases[i].n[2]) / 10) <
			    1e-9);
		assert_int_equal(out.counted.value, cases[i].n[2]);
		assert_true(out.least.value == (double)cases[i].n[0] / 10);
		assert_true(out.most.value == (double)cases[i].n[2] / 10);
	}
	/* One repeat agrees with itself: it is over. */
	one = events(1001);
	out = judge(&limit, &one, 1, NULL);
	assert_int_equal(out.verdict, EXCEEDED);
	assert_non_null(strstr(out.text, "repeats would tell"));
	/* Not counted, but the window is known: as many events. */
	one = reading(100, EXACT);
	out = judge(&limit, &one, 1, NULL);
	assert_true(fabs(out.error - sqrt(1000) / 10) < 1e-9);
	/* Nothing counted in 10 s is known to a tenth per second. */
	one = events(0);
	out = judge(&limit, &one, 1, NULL);
	assert_true(fabs(out.error - 0.1) < 1e-9);
	/* The same numbers of a floor. */
	limit.has = MIN;
	limit.min = 100;
	{
		plim_budget_reading made[2] = {events(1010), events(999)};

		out = judge(&limit, made, 2, NULL);
		assert_int_equal(out.verdict, INCONCLUSIVE);
		made[1] = events(900);
		out = judge(&limit, made, 2, NULL);
		assert_int_equal(out.verdict, EXCEEDED);
	}
	/* A gauge has no such error, nor has a count of starts. */
	limit.has = MAX;
	limit.max = 2;
	limit.figure = PLIM_BUDGET_CHILDREN_STARTED;
	{
		plim_budget_reading made[2] = {reading(2, EXACT),
					       reading(3, EXACT)};

		out = judge(&limit, made, 2, NULL);
		assert_int_equal(out.verdict, EXCEEDED);
		assert_true(out.error == 0);
	}
}

static void test_skip(void **state)
{
	plim_budget_limit limit = {.figure = PLIM_BUDGET_DISK_OPS,
				   .has = MAX,
				   .max = 10,
				   .slack_warning = 3,
				   .skip = "not counted \x1b here"};
	plim_budget_reading one = reading(0, DENIED);
	plim_budget_judgement out[2];

	(void)state;
	out[0] = judge(&limit, &one, 1, NULL);
	assert_int_equal(out[0].verdict, PASS);
	assert_int_equal(out[0].skipped, 1);
	assert_int_equal(out[0].decided, 0);
	assert_int_equal(out[0].value.state, PLIM_STATE_DENIED);
	assert_int_equal(out[0].value.code, 13);
	assert_non_null(strstr(out[0].text, "not counted \\x1b here"));
	/* Nothing was judged by that alone. */
	assert_int_equal(plim_budget_verdict(out, 1), UNAVAILABLE);
	out[1] = (plim_budget_judgement){.verdict = PASS, .decided = MAX};
	assert_int_equal(plim_budget_verdict(out, 2), PASS);
	/* A skip is for what a host cannot tell. */
	one = reading(0, GONE);
	assert_int_equal(judge(&limit, &one, 1, NULL).verdict, UNAVAILABLE);
	one = reading(0, UNREAD);
	assert_int_equal(judge(&limit, &one, 1, NULL).verdict, UNAVAILABLE);
	assert_int_equal(judge(&limit, NULL, 0, NULL).verdict, UNAVAILABLE);
	/* What crosses is not skipped. */
	one = reading(11, EXACT);
	out[0] = judge(&limit, &one, 1, NULL);
	assert_int_equal(out[0].verdict, EXCEEDED);
	assert_int_equal(out[0].skipped, 0);
	/* A note says more. */
	limit.skip = NULL;
	one = reading(0, DENIED);
	one.note = "try sudo";
	out[0] = judge(&limit, &one, 1, NULL);
	assert_int_equal(out[0].verdict, UNAVAILABLE);
	assert_non_null(strstr(out[0].text, ": try sudo"));
}

static void test_methods(void **state)
{
	static const int exact[] = {PLIM_METHOD_GETRUSAGE, PLIM_METHOD_WAIT4};
	plim_budget_limit limit = {.figure = PLIM_BUDGET_WAKEUPS,
				   .has = MAX,
				   .max = 100,
				   .slack_warning = 3,
				   .methods = exact,
				   .method_count = 2};
	plim_budget_reading made[2] = {reading(1, EXACT), reading(2, EXACT)};
	plim_budget_judgement out = judge(&limit, made, 2, NULL);

	(void)state;
	assert_int_equal(out.verdict, PASS);
	made[1].value.method = PLIM_METHOD_GETRUSAGE;
	out = judge(&limit, made, 2, NULL);
	assert_int_equal(out.verdict, PASS);
	assert_int_equal(out.value.method, PLIM_METHOD_MIXED);
	made[1].value.method = PLIM_METHOD_THREAD_SUM;
	out = judge(&limit, made, 2, NULL);
	assert_int_equal(out.verdict, UNAVAILABLE);
	assert_int_equal(out.value.state, PLIM_STATE_UNLIKE);
	assert_int_equal(out.missing, 1);
	assert_non_null(strstr(out.text, "1 of 2 repeats: measured by "
					 "thread_sum"));
	made[1].value.method = PLIM_METHOD_NONE;
	out = judge(&limit, made, 2, NULL);
	assert_int_equal(out.verdict, UNAVAILABLE);
	assert_non_null(strstr(out.text, "not stated"));
	/* The others cross whatever it was. */
	made[0] = reading(1000, EXACT);
	assert_int_equal(judge(&limit, made, 2, NULL).verdict, EXCEEDED);
}

static void test_versus(void **state)
{
	/* A rise of 10 % and of 5 bytes must both be crossed. */
	static const struct {
		double base, value;
		int verdict;
		double limit;
	} cases[] = {
	    {100, 110, PASS, 110},    {100, 110.5, EXCEEDED, 110},
	    {100, 90, PASS, 110},     {10, 15, PASS, 15},
	    {10, 15.5, EXCEEDED, 15}, {10, 12, PASS, 15},
	    {0, 5, PASS, 5},	      {0, 5.1, EXCEEDED, 5},
	    {50, 55, PASS, 55},
	};
	plim_budget_limit limit = {.figure = PLIM_BUDGET_RESIDENT_END,
				   .has = VERSUS,
				   .versus = "base.txt",
				   .rise_percent = 10,
				   .also_above = 5,
				   .slack_warning = 3};
	plim_budget_baseline baseline = {0};
	plim_budget_reading one;
	plim_budget_judgement out;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		one = reading(cases[i].value, EXACT);
		baseline.value =
		    plim_real_known(cases[i].base, PLIM_METHOD_WAIT4);
		out = judge(&limit, &one, 1, &baseline);
		assert_int_equal(out.verdict, cases[i].verdict);
		assert_int_equal(out.decided, VERSUS);
		assert_true(fabs(out.limit - cases[i].limit) < 1e-9);
		assert_true(out.baseline.value == cases[i].base);
	}
	/* What cannot be compared is unavailable, and says why. */
	one = reading(1, EXACT);
	out = judge(&limit, &one, 1, NULL);
	assert_int_equal(out.verdict, UNAVAILABLE);
	assert_non_null(strstr(out.text, "no baseline"));
	strcpy(baseline.refused, "of another machine");
	out = judge(&limit, &one, 1, &baseline);
	assert_int_equal(out.verdict, UNAVAILABLE);
	assert_non_null(strstr(out.text, "of another machine"));
	assert_int_equal(out.baseline.state, PLIM_STATE_UNREAD);
	baseline.refused[0] = '\0';
	baseline.value = plim_real_known(1, PLIM_METHOD_GETRUSAGE);
	out = judge(&limit, &one, 1, &baseline);
	assert_int_equal(out.verdict, UNAVAILABLE);
	assert_non_null(strstr(out.text, "by getrusage and this by wait4"));
	baseline.value = plim_real_missing(PLIM_REASON_NOT_PERMITTED, 0);
	out = judge(&limit, &one, 1, &baseline);
	assert_int_equal(out.verdict, UNAVAILABLE);
	assert_non_null(strstr(out.text, "does not have it"));
	/* A skip lets that be; not that there were no samples, or an end. */
	limit.skip = "the first run";
	out = judge(&limit, &one, 1, NULL);
	assert_int_equal(out.verdict, PASS);
	assert_int_equal(out.skipped, 1);
	assert_int_equal(judge(&limit, NULL, 0, NULL).verdict, UNAVAILABLE);
	one = reading(0, GONE);
	assert_int_equal(judge(&limit, &one, 1, NULL).verdict, UNAVAILABLE);
	/* A ceiling beside it was judged. */
	limit.has = MAX | VERSUS;
	limit.max = 7;
	one = reading(6, EXACT);
	out = judge(&limit, &one, 1, NULL);
	assert_int_equal(out.verdict, PASS);
	assert_int_equal(out.skipped, 1);
	assert_int_equal(out.decided, MAX);
	assert_non_null(strstr(out.text, "baseline skipped (the first run)"));
	assert_int_equal(plim_budget_verdict(&out, 1), PASS);
	one = reading(8, EXACT);
	assert_int_equal(judge(&limit, &one, 1, NULL).verdict, EXCEEDED);
	/* A lower bound of the baseline proves no rise. */
	limit.has = VERSUS;
	baseline.value = plim_real_known(10, PLIM_METHOD_WAIT4);
	baseline.value.bound = PLIM_BOUND_AT_LEAST;
	one = reading(100, EXACT);
	assert_int_equal(judge(&limit, &one, 1, &baseline).verdict,
			 INCONCLUSIVE);
	one = reading(100, LEAST);
	assert_int_equal(judge(&limit, &one, 1, &baseline).verdict, EXCEEDED);
}

static void test_slack(void **state)
{
	plim_budget_limit limit = {.figure = PLIM_BUDGET_RESIDENT_END,
				   .has = MAX,
				   .max = 300,
				   .slack_warning = 3};
	plim_budget_reading one = reading(100, EXACT);
	plim_budget_judgement out = judge(&limit, &one, 1, NULL);

	(void)state;
	assert_int_equal(out.slack, 0);
	limit.max = 301;
	out = judge(&limit, &one, 1, NULL);
	assert_int_equal(out.slack, 1);
	assert_true(fabs(out.slack_factor - 3.01) < 1e-9);
	/* Nothing is a factor of zero. */
	one = reading(0, EXACT);
	assert_int_equal(judge(&limit, &one, 1, NULL).slack, 0);
	/* What may be chance is no slack: 4 events in 10 s, and 2 more. */
	limit.figure = PLIM_BUDGET_WAKEUPS;
	limit.max = 1.8;
	one = events(4);
	assert_int_equal(judge(&limit, &one, 1, NULL).slack, 0);
	limit.max = 1.81;
	assert_int_equal(judge(&limit, &one, 1, NULL).slack, 1);
}

static void test_join(void **state)
{
	static const int order[] = {EXCEEDED, UNAVAILABLE, INCONCLUSIVE, PASS};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 4; j++)
			assert_int_equal(plim_verdict_join(order[i], order[j]),
					 order[i < j ? i : j]);
	assert_int_equal(plim_verdict_join(2, PASS), UNAVAILABLE);
	assert_int_equal(plim_verdict_join(PASS, -1), UNAVAILABLE);
	assert_int_equal(plim_verdict_join(99, EXCEEDED), EXCEEDED);
	assert_int_equal(plim_budget_verdict(NULL, 0), UNAVAILABLE);
	assert_string_equal(plim_verdict_word(PASS), "pass");
	assert_string_equal(plim_verdict_word(EXCEEDED), "exceeded");
	assert_string_equal(plim_verdict_word(UNAVAILABLE), "unavailable");
	assert_string_equal(plim_verdict_word(INCONCLUSIVE), "inconclusive");
	assert_null(plim_verdict_word(2));
}

static void test_wrong_use(void **state)
{
	plim_budget_limit limit = {.figure = PLIM_BUDGET_WAKEUPS, .has = MAX};
	plim_budget_reading one = reading(1, EXACT);
	plim_budget_judgement out, before;

	(void)state;
	memset(&out, 0x5a, sizeof(out));
	before = out;
	one.value.value = (double)NAN;
	assert_int_equal(plim_budget_judge(&limit, WORST, &one, 1, NULL, &out),
			 PLIM_EINVAL);
	one = reading(1, EXACT);
	assert_int_equal(plim_budget_judge(&limit, 3, &one, 1, NULL, &out),
			 PLIM_EINVAL);
	limit.has = 0;
	assert_int_equal(plim_budget_judge(&limit, WORST, &one, 1, NULL, &out),
			 PLIM_EINVAL);
	limit.has = MAX;
	limit.figure = 999;
	assert_int_equal(plim_budget_judge(&limit, WORST, &one, 1, NULL, &out),
			 PLIM_EINVAL);
	assert_memory_equal(&out, &before, sizeof(out));
}

/* Many repeats: the rank is found without sorting. */
static void test_many(void **state)
{
	static plim_budget_reading made[1001];
	plim_budget_limit limit = {.figure = PLIM_BUDGET_RESIDENT_END,
				   .has = MAX,
				   .max = 1000,
				   .slack_warning = 3};
	plim_budget_judgement out;

	(void)state;
	for (size_t i = 0; i < COUNT(made); i++)
		made[i] = reading((double)(i * 577 % 1001), EXACT);
	assert_int_equal(
	    plim_budget_judge(&limit, MEDIAN, made, COUNT(made), NULL, &out),
	    PLIM_OK);
	assert_true(out.value.value == 500);
	assert_int_equal(
	    plim_budget_judge(&limit, BEST, made, COUNT(made), NULL, &out),
	    PLIM_OK);
	assert_true(out.value.value == 0);
	assert_true(out.most.value == 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),  cmocka_unit_test(test_noise),
	    cmocka_unit_test(test_skip),   cmocka_unit_test(test_methods),
	    cmocka_unit_test(test_versus), cmocka_unit_test(test_slack),
	    cmocka_unit_test(test_join),   cmocka_unit_test(test_wrong_use),
	    cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
