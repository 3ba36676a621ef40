/*
 * test_budget_text.c - what is written of budgets: explained for people, and
 * drafted from a measurement so that the reader takes it back.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct page {
	char text[16384];
	size_t size;
	size_t room; /* writing fails beyond */
};

static int put(const char *data, size_t size, void *user)
{
	struct page *page = user;

	if (page->size + size > page->room)
		return 28; /* ENOSPC */
	memcpy(page->text + page->size, data, size);
	page->size += size;
	page->text[page->size] = '\0';
	return 0;
}

static plim_budget *parse(const char *text, size_t size)
{
	plim_budget_place place = {.size = sizeof(place),
				   .is_virtual = -1,
				   .cores = 2,
				   .today = 20261130};
	plim_bytes bytes = {text, size};
	plim_budget *budget = NULL;
	plim_error error = {0};

	if (plim_budget_parse(&budget, "b.toml", bytes, &place, NULL, NULL,
			      &error) != PLIM_OK)
		fail_msg("%s: %s\n%s", error.path, error.detail, text);
	return budget;
}

static const char budget_text[] =
    "schema = 1\n"
    "[target.\"a b\"]\n"
    "run = [\"./a\", \"\", \"-x\"]\n"
    "scope = \"real\"\n"
    "load = { statement = \"idle\\u001b\", unit = \"users\", count = 3 }\n"
    "ready = { port = 80 }\n"
    "longest_period = \"30s\"\n"
    "limit.wakeups = { max = \"100/s\", min = \"1/min\" }\n"
    "limit.threads = { max = 8, why = \"w\", owner = \"o\", until = "
    "2027-01-31 }\n"
    "limit.resident_end = { versus = \"base.txt\", rise = \"10 %\", "
    "also_above = \"1 MiB\", method = [\"statm\", \"status\"], "
    "on_unavailable = { skip = \"because\" } }\n"
    "[[target.\"a b\".when]]\n"
    "cores = 2\n"
    "limit.threads.max = 9\n"
    "[target.b]\n"
    "report = \"out.txt\"\n"
    "tree = false\n"
    "scope = \"synthetic\"\n"
    "load = { statement = \"x\", unit = \"y\", count = 1 }\n"
    "limit.wall.max = \"1.5s\"\n";

static const char explained[] =
    "target a b, line 2\n"
    "  starts: ./a \"\" -x\n"
    "  with its descendants, those that end too\n"
    "  load: 3 users (real): idle\\x1b\n"
    "  ready when port 80 takes a call\n"
    "  quiet when it uses less than 2 % of one core for 5 s; not within 2 "
    "min is inconclusive\n"
    "  window: 1 min, for timers of up to 30 s; 3 repeats, of which the "
    "worst counts\n"
    "  the when of line 11 is of this machine\n"
    "  line 8: wakeups at most 100/s, at least 0.017/s\n"
    "    voluntary context switches of all threads, per second\n"
    "    where it cannot be had, that fails\n"
    "    warns where the ceiling is more than 3 times the figure\n"
    "  line 10: resident_end no more than 10 % and 1 MiB above the baseline\n"
    "    resident memory when the window ends\n"
    "    baseline: base.txt\n"
    "    only measured by: statm, status\n"
    "    skipped where it cannot be had: because\n"
    "  line 13: threads at most 9 (by the when of this machine)\n"
    "    threads when the window ends\n"
    "    where it cannot be had, that fails\n"
    "    warns where the ceiling is more than 3 times the figure\n"
    "    why: w\n"
    "    owner: o\n"
    "    until: 2027-01-31\n"
    "\n"
    "target b, line 14\n"
    "  judges what is recorded in: out.txt\n"
    "  without its descendants\n"
    "  load: 1 y (synthetic): x\n"
    "  line 19: wall at most 1.5 s\n"
    "    time by the clock from the start until it ended or was quiet\n"
    "    where it cannot be had, that fails\n"
    "    warns where the ceiling is more than 3 times the figure\n";

static void test_explain(void **state)
{
	plim_budget *budget = parse(budget_text, sizeof(budget_text) - 1);
	static struct page page;

	(void)state;
	page = (struct page){.room = sizeof(page.text) - 1};
	assert_int_equal(plim_budget_explain(budget, NULL, put, &page),
			 PLIM_OK);
	assert_string_equal(page.text, explained);
	page.size = 0;
	assert_int_equal(plim_budget_explain(budget, "b", put, &page), PLIM_OK);
	assert_string_equal(page.text, strstr(explained, "target b"));
	page.size = 0;
	assert_int_equal(plim_budget_explain(budget, "c", put, &page),
			 PLIM_ENAME);
	assert_int_equal(page.size, 0);
	/* The first failure ends it. */
	for (size_t room = 0; room < sizeof(explained) - 1; room += 7) {
		page.size = 0;
		page.room = room;
		assert_int_equal(plim_budget_explain(budget, NULL, put, &page),
				 PLIM_EOUTPUT);
		assert_true(page.size <= room);
		assert_memory_equal(page.text, explained, page.size);
	}
	plim_budget_free(budget);
}

/* Long texts are written whole, and no character is cut. */
static void test_long_text(void **state)
{
	static char text[4096];
	static struct page page;
	size_t used = (size_t)snprintf(
	    text, sizeof(text),
	    "schema = 1\n[target.a]\nrun = [\"a\"]\nscope = \"real\"\n"
	    "load = { statement = \"");
	plim_budget *budget;
	const char *found;

	(void)state;
	for (int i = 0; i < 1000; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "\xc3\xa9");
	snprintf(text + used, sizeof(text) - used,
		 "\", unit = \"y\", count = 1 }\nlimit.threads.max = 1\n");
	budget = parse(text, strlen(text));
	page = (struct page){.room = sizeof(page.text) - 1};
	assert_int_equal(plim_budget_explain(budget, NULL, put, &page),
			 PLIM_OK);
	found = strstr(page.text, "\xc3\xa9");
	assert_non_null(found);
	for (int i = 0; i < 1000; i++)
		assert_memory_equal(found + 2 * i, "\xc3\xa9", 2);
	assert_int_equal(found[2000], '\n');
	plim_budget_free(budget);
}

static const char *const run[] = {"./a \"b\"", "", "c\\d", "\xc3\xa9", NULL};

static plim_budget_draft_figure figure_of(int figure, double value)
{
	plim_budget_draft_figure made = {.figure = figure};

	made.value = plim_real_known(value, PLIM_METHOD_WAIT4);
	made.least = plim_real_known(value / 2, PLIM_METHOD_WAIT4);
	return made;
}

static void test_draft(void **state)
{
	plim_budget_draft_figure figures[] = {
	    figure_of(PLIM_BUDGET_WAKEUPS, 12.34),
	    figure_of(PLIM_BUDGET_RESIDENT_END, 1234567),
	    figure_of(PLIM_BUDGET_CPU_TOTAL, 1.5e9),
	    figure_of(PLIM_BUDGET_THREADS, 3),
	    figure_of(PLIM_BUDGET_CHILDREN_STARTED, 0),
	    figure_of(PLIM_BUDGET_DISK_WRITE, 0),
	    {.figure = PLIM_BUDGET_DISK_OPS},
	};
	plim_budget_sketch sketch = {
	    .size = sizeof(sketch),
	    .name = "a b",
	    .run = run,
	    .window_ns = UINT64_C(10000000000),
	    .repeats = 3,
	    .slack = 1.5,
	    .measured = "on a Monday",
	    .figure_count = COUNT(figures),
	    .figures = figures,
	};
	static struct page page;
	plim_budget *budget;
	const plim_budget_target *target;

	(void)state;
	figures[6].value = plim_real_missing(PLIM_REASON_SHARED_CGROUP, 0);
	page = (struct page){.room = sizeof(page.text) - 1};
	assert_int_equal(plim_budget_draft(&sketch, put, &page), PLIM_OK);
	print_message("%s", page.text);
	assert_non_null(strstr(page.text, "times 1.5.\n# on a Monday\n"));
	assert_non_null(strstr(page.text, "# Measured 6.17/s to 12.3/s by "
					  "wait4.\nlimit.wakeups.max = "
					  "\"19/s\"\n"));
	assert_non_null(strstr(page.text, "limit.resident_end.max = \"1.8 "
					  "MiB\"\n"));
	assert_non_null(strstr(page.text, "limit.cpu_total.max = \"2.3s\"\n"));
	assert_non_null(strstr(page.text, "limit.threads.max = \"5\"\n"));
	assert_non_null(
	    strstr(page.text, "limit.children_started.max = \"0\"\n"));
	assert_non_null(
	    strstr(page.text, "limit.disk_write.max = \"620 B/s\"\n"));
	assert_non_null(strstr(page.text, "# No limit of disk_ops: operations "
					  "are counted per cgroup"));
	budget = parse(page.text, page.size);
	target = plim_budget_find(budget, "a b");
	assert_non_null(target);
	for (size_t i = 0; i < COUNT(run) - 1; i++)
		assert_string_equal(target->run[i], run[i]);
	assert_int_equal(target->window_ns, sketch.window_ns);
	assert_int_equal(target->limit_count, 6);
	plim_budget_free(budget);
	sketch.run = NULL;
	sketch.attach = "unit:a.service";
	sketch.window_ns = 1500000001;
	page.size = 0;
	assert_int_equal(plim_budget_draft(&sketch, put, &page), PLIM_OK);
	budget = parse(page.text, page.size);
	target = plim_budget_at(budget, 0);
	assert_string_equal(target->attach, "unit:a.service");
	assert_int_equal(target->window_ns, 1500000001);
	plim_budget_free(budget);
	for (size_t room = 0; room < page.size; room += 13) {
		struct page small = {.room = room};

		assert_int_equal(plim_budget_draft(&sketch, put, &small),
				 PLIM_EOUTPUT);
	}
}

/* Every figure, over all sizes: the ceiling is at least the figure times the
 * slack, and never more than a tenth above. */
static void test_draft_values(void **state)
{
	static struct page page;

	(void)state;
	for (int id = 1; id <= PLIM_BUDGET_FIGURE_LAST; id++) {
		int whole = plim_budget_figure_get(id)->unit == PLIM_UNIT_NONE;

		for (double value = 3e-5; value < 1e14; value *= 1.37) {
			plim_budget_draft_figure figure =
			    figure_of(id, whole ? ceil(value) : value);
			plim_budget_sketch sketch = {
			    .size = sizeof(sketch),
			    .name = "a",
			    .attach = "a",
			    .window_ns = 1,
			    .repeats = 1,
			    .slack = 2,
			    .figure_count = 1,
			    .figures = &figure,
			};
			plim_budget *budget;
			double max;

			page = (struct page){.room = sizeof(page.text) - 1};
			assert_int_equal(plim_budget_draft(&sketch, put, &page),
					 PLIM_OK);
			budget = parse(page.text, page.size);
			max = plim_budget_at(budget, 0)->limits[0].max;
			if (max < figure.value.value * 2 ||
			    max > figure.value.value * 2.2 + 1e-5)
				fail_msg("%d %g: %g\n%s", id,
					 figure.value.value, max, page.text);
			plim_budget_free(budget);
		}
	}
}

static void test_draft_refuses(void **state)
{
	plim_budget_draft_figure figures[2] = {
	    figure_of(PLIM_BUDGET_WAKEUPS, 1),
	    figure_of(PLIM_BUDGET_THREADS, 1)};
	const plim_budget_sketch good = {
	    .size = sizeof(good),
	    .name = "a",
	    .run = run,
	    .window_ns = 1,
	    .repeats = 1,
	    .slack = 1,
	    .figure_count = 2,
	    .figures = figures,
	};
	static struct page page;
	plim_budget_sketch bad;

	(void)state;
	page.room = sizeof(page.text) - 1;
	assert_int_equal(plim_budget_draft(&good, put, &page), PLIM_OK);
	page.size = 0;
#define REFUSED(member, value)                                        \
	do {                                                          \
		bad = good;                                           \
		bad.member = value;                                   \
		assert_int_equal(plim_budget_draft(&bad, put, &page), \
				 PLIM_EINVAL);                        \
		assert_int_equal(page.size, 0);                       \
	} while (0)
	REFUSED(name, "");
	REFUSED(name, "a\n");
	REFUSED(name, "\xff");
	REFUSED(run, NULL);
	REFUSED(measured, "a\nlimit.wakeups.max = \"9/s\"");
	REFUSED(slack, 0.5);
	REFUSED(slack, (double)NAN);
	REFUSED(window_ns, 0);
	REFUSED(repeats, 0);
	REFUSED(figure_count, 0);
	figures[1].figure = PLIM_BUDGET_WAKEUPS;
	REFUSED(repeats, 1);
	figures[1].figure = 99;
	REFUSED(repeats, 1);
	figures[1] = figure_of(PLIM_BUDGET_THREADS, 1);
	figures[1].value.value = (double)INFINITY;
	REFUSED(repeats, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_explain),
	    cmocka_unit_test(test_long_text),
	    cmocka_unit_test(test_draft),
	    cmocka_unit_test(test_draft_values),
	    cmocka_unit_test(test_draft_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
