/*
 * test_budget.c - budget files: what the model is read as, and every mistake
 * with its place, its error and what the message advises.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include "counting.h"
#include "skip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What every target must have, on the lines 1 to 4. */
#define HEAD                                                          \
	"schema = 1\n[target.a]\nrun = [\"./a\"]\nscope = \"real\"\n" \
	"load = { statement = \"idle\", unit = \"users\", count = 0 }\n"
/* One limit on line 6, so that what follows begins on line 7. */
#define WHOLE HEAD "limit.wakeups.max = \"100/s\"\n"

static const plim_budget_place place = {
    .size = sizeof(plim_budget_place),
    .os = "linux",
    .arch = "x86_64",
    .kernel = "6.18.5-amd64",
    .processor = "a processor",
    .is_virtual = 1,
    .cores = 2,
    .today = 20261130,
};

static plim_bytes bytes_of(const char *text)
{
	plim_bytes bytes = {text, strlen(text)};

	return bytes;
}

static plim_budget *parse(const char *text)
{
	plim_budget *budget = NULL;
	plim_budget_position where = {7, 7, 7};
	plim_error error = {0};
	int code = plim_budget_parse(&budget, "b.toml", bytes_of(text), &place,
				     NULL, &where, &error);

	if (code != PLIM_OK)
		fail_msg("%s: %s\n%s", error.path, error.detail, text);
	assert_int_equal(where.line, 7);
	assert_int_equal(error.code, 0);
	return budget;
}

static void test_defaults(void **state)
{
	plim_budget *budget = parse(WHOLE);
	const plim_budget_target *target = plim_budget_at(budget, 0);
	const plim_budget_limit *limit = target->limits;

	(void)state;
	assert_int_equal(plim_budget_count(budget), 1);
	assert_null(plim_budget_at(budget, 1));
	assert_ptr_equal(plim_budget_find(budget, "a"), target);
	assert_null(plim_budget_find(budget, "b"));
	assert_string_equal(target->name, "a");
	assert_int_equal(target->at.line, 2);
	assert_int_equal(target->at.column, 9);
	assert_int_equal(target->way, PLIM_BUDGET_RUN);
	assert_string_equal(target->run[0], "./a");
	assert_null(target->run[1]);
	assert_null(target->attach);
	assert_null(target->report);
	assert_int_equal(target->tree, 1);
	assert_string_equal(target->scope, "real");
	assert_string_equal(target->load_statement, "idle");
	assert_string_equal(target->load_unit, "users");
	assert_int_equal(target->load_count, 0);
	assert_int_equal(target->ready, PLIM_READY_QUIET);
	assert_true(target->quiet_cpu_percent == 2);
	assert_int_equal(target->quiet_for_ns, UINT64_C(5000000000));
	assert_int_equal(target->quiet_limit_ns, UINT64_C(120000000000));
	assert_int_equal(target->window_ns, UINT64_C(60000000000));
	assert_int_equal(target->longest_period_ns, 0);
	assert_int_equal(target->repeats, 3);
	assert_int_equal(target->aggregate, PLIM_AGGREGATE_WORST);
	assert_int_equal(target->when_count, 0);
	assert_int_equal(target->when_line, 0);
	assert_int_equal(target->limit_count, 1);
	assert_int_equal(limit->figure, PLIM_BUDGET_WAKEUPS);
	assert_int_equal(limit->has, PLIM_LIMIT_MAX);
	assert_true(limit->max == 100);
	assert_true(limit->slack_warning == 3);
	assert_null(limit->skip);
	assert_null(limit->why);
	assert_int_equal(limit->method_count, 0);
	assert_int_equal(limit->until, 0);
	assert_int_equal(limit->overridden_by, 0);
	assert_int_equal(limit->at.line, 6);
	assert_int_equal(limit->at.column, 7);
	plim_budget_free(budget);
}

static void test_everything(void **state)
{
	static const char text[] =
	    "schema = 1\n"
	    "[target.\"a b\"]\n"
	    "attach = \"unit:a.service\"\n"
	    "tree = false\n"
	    "scope = \"installed\"\n"
	    "load.statement = \"100 connections\"\n"
	    "load.unit = \"connections\"\n"
	    "load.count = 100\n"
	    "ready = { port = 8080 }\n"
	    "quiet = { cpu = \"0.5 %\", for = \"2s\", limit = \"1 min\" }\n"
	    "window = \"90s\"\n"
	    "longest_period = \"90s\"\n"
	    "repeats = 5\n"
	    "aggregate = \"median\"\n"
	    "[target.\"a b\".limit.resident_end]\n"
	    "max = \"32 MiB\"\n"
	    "min = \"1 MiB\"\n"
	    "versus = \"base.txt\"\n"
	    "rise = \"10 %\"\n"
	    "also_above = \"512 KiB\"\n"
	    "on_unavailable = { skip = \"no \\u00e9\" }\n"
	    "method = [\"statm\", \"status\"]\n"
	    "why = \"small boards\"\n"
	    "owner = \"core@example.org\"\n"
	    "until = 2026-11-30\n"
	    "slack_warning = 1.5\n"
	    "[target.\"a b\".limit]\n"
	    "threads.max = 8\n"
	    "idle_cpu = { max = \"0.5 %\" }\n"
	    "cpu_total.max = \"1.5s\"\n"
	    "disk_write.max = \"4 KiB/s\"\n"
	    "[target.c]\n"
	    "report = \"out.txt\"\n"
	    "scope = \"synthetic\"\n"
	    "load = { statement = \"x\", unit = \"y\", count = 1 }\n"
	    "limit.children_started.max = \"0\"\n"
	    "limit.children_started.on_unavailable = \"fail\"\n";
	plim_budget *budget = parse(text);
	const plim_budget_target *target = plim_budget_find(budget, "a b");
	const plim_budget_limit *limit;

	(void)state;
	assert_int_equal(plim_budget_count(budget), 2);
	assert_int_equal(target->way, PLIM_BUDGET_ATTACH);
	assert_string_equal(target->attach, "unit:a.service");
	assert_null(target->run);
	assert_int_equal(target->tree, 0);
	assert_int_equal(target->load_count, 100);
	assert_int_equal(target->ready, PLIM_READY_PORT);
	assert_int_equal(target->ready_port, 8080);
	assert_true(target->quiet_cpu_percent == 0.5);
	assert_int_equal(target->quiet_for_ns, UINT64_C(2000000000));
	assert_int_equal(target->quiet_limit_ns, UINT64_C(60000000000));
	assert_int_equal(target->window_ns, UINT64_C(90000000000));
	assert_int_equal(target->longest_period_ns, UINT64_C(90000000000));
	assert_int_equal(target->repeats, 5);
	assert_int_equal(target->aggregate, PLIM_AGGREGATE_MEDIAN);
	/* In the order of the table of figures. */
	assert_int_equal(target->limit_count, 5);
	assert_int_equal(target->limits[0].figure, PLIM_BUDGET_IDLE_CPU);
	assert_true(target->limits[0].max == 0.5);
	assert_int_equal(target->limits[1].figure, PLIM_BUDGET_DISK_WRITE);
	assert_true(target->limits[1].max == 4096);
	limit = &target->limits[2];
	assert_int_equal(limit->figure, PLIM_BUDGET_RESIDENT_END);
	assert_int_equal(limit->has, 7);
	assert_true(limit->max == 33554432.0);
	assert_true(limit->min == 1048576.0);
	assert_string_equal(limit->versus, "base.txt");
	assert_true(limit->rise_percent == 10);
	assert_true(limit->also_above == 524288.0);
	assert_string_equal(limit->skip, "no \xc3\xa9");
	assert_int_equal(limit->method_count, 2);
	assert_int_equal(limit->methods[0], PLIM_METHOD_STATM);
	assert_int_equal(limit->methods[1], PLIM_METHOD_STATUS);
	assert_string_equal(limit->why, "small boards");
	assert_string_equal(limit->owner, "core@example.org");
	assert_int_equal(limit->until, 20261130);
	assert_true(limit->slack_warning == 1.5);
	assert_true(target->limits[3].max == 1.5e9);
	assert_true(target->limits[4].max == 8);
	target = plim_budget_at(budget, 1);
	assert_int_equal(target->way, PLIM_BUDGET_REPORT);
	assert_string_equal(target->report, "out.txt");
	assert_int_equal(target->limits[0].figure,
			 PLIM_BUDGET_CHILDREN_STARTED);
	assert_null(target->limits[0].skip);
	plim_budget_free(budget);
}

static void test_ready(void **state)
{
	static const struct {
		const char *text;
		int ready, port;
		const char *with;
	} rows[] = {
	    {"ready = \"quiet\"", PLIM_READY_QUIET, 0, NULL},
	    {"ready = { output = \"listening\" }", PLIM_READY_OUTPUT, 0,
	     "listening"},
	    {"ready.file = \"/run/a.pid\"", PLIM_READY_FILE, 0, "/run/a.pid"},
	    {"ready = { port = 65535 }", PLIM_READY_PORT, 65535, NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512];
		plim_budget *budget;
		const plim_budget_target *target;

		snprintf(text, sizeof(text), "%s%s\n", WHOLE, rows[i].text);
		budget = parse(text);
		target = plim_budget_at(budget, 0);
		assert_int_equal(target->ready, rows[i].ready);
		assert_int_equal(target->ready_port, rows[i].port);
		if (rows[i].with == NULL)
			assert_null(target->ready_text);
		else
			assert_string_equal(target->ready_text, rows[i].with);
		plim_budget_free(budget);
	}
}

/* `when` on the place above: which limit holds. */
static void test_when(void **state)
{
	static const struct {
		const char *when;
		double max;
		uint32_t line;
	} rows[] = {
	    {"os = \"linux\"", 7, 8},
	    {"os = \"Linux\"", 100, 0},
	    {"arch = \"x86_64\"", 7, 8},
	    {"arch = \"x86\"", 100, 0},
	    {"kernel = \"6.18.5-amd64\"", 7, 8},
	    {"kernel = \"6.18.5\"", 7, 8},
	    {"kernel = \"6.18\"", 7, 8},
	    {"kernel = \"6\"", 7, 8},
	    {"kernel = \"6.1\"", 100, 0},
	    {"kernel = \"6.18.\"", 100, 0},
	    {"kernel = \"6.18.5-amd64-x\"", 100, 0},
	    {"virtual = true", 7, 8},
	    {"virtual = false", 100, 0},
	    {"cores = 2", 7, 8},
	    {"cores = 3", 100, 0},
	    {"cores = 2\nos = \"linux\"\nvirtual = true", 7, 8},
	    {"cores = 2\nos = \"linux\"\nvirtual = false", 100, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512];
		plim_budget *budget;
		const plim_budget_target *target;

		snprintf(text, sizeof(text),
			 "%slimit.wakeups.why = \"w\"\n[[target.a.when]]\n%s\n"
			 "limit.wakeups.max = \"7/s\"\n",
			 WHOLE, rows[i].when);
		budget = parse(text);
		target = plim_budget_at(budget, 0);
		print_message("%s\n", rows[i].when);
		assert_true(target->limits[0].max == rows[i].max);
		assert_int_equal(target->limits[0].overridden_by, rows[i].line);
		assert_int_equal(target->when_line, rows[i].line);
		assert_int_equal(target->when_count, 1);
		/* What the entry does not name stays. */
		assert_string_equal(target->limits[0].why, "w");
		plim_budget_free(budget);
	}
}

static void test_when_adds(void **state)
{
	plim_budget *budget = parse(
	    WHOLE "[[target.a.when]]\ncores = 3\nlimit.threads.max = 1\n"
		  "[[target.a.when]]\ncores = 2\nlimit.threads.max = 2\n"
		  "limit.wakeups = { on_unavailable = { skip = \"s\" } }\n");
	const plim_budget_target *target = plim_budget_at(budget, 0);
	plim_budget *unknown = NULL;

	(void)state;
	assert_int_equal(target->limit_count, 2);
	assert_int_equal(target->when_line, 10);
	assert_int_equal(target->when_count, 2);
	assert_true(target->limits[0].max == 100);
	assert_string_equal(target->limits[0].skip, "s");
	assert_true(target->limits[1].max == 2);
	plim_budget_free(budget);
	/* Of an unknown place nothing matches, and nothing expires. */
	assert_int_equal(
	    plim_budget_parse(&unknown, NULL,
			      bytes_of(WHOLE "limit.wakeups.until = "
					     "2000-01-01\n"
					     "[[target.a.when]]\n"
					     "virtual = false\n"
					     "limit.wakeups.max = \"1/s\"\n"),
			      NULL, NULL, NULL, NULL),
	    PLIM_OK);
	assert_int_equal(plim_budget_at(unknown, 0)->when_line, 0);
	plim_budget_free(unknown);
}

struct mistake {
	const char *text;
	int code;
	uint32_t line, column;
	const char *says;
};

#define SYNTAX PLIM_ESYNTAX
#define NAME   PLIM_ENAME
#define WRONG  PLIM_EBUDGET

static const struct mistake mistakes[] = {
    {"", WRONG, 1, 1, "schema is missing; add schema = 1"},
    {"schema = 1", WRONG, 1, 1, "add a table [target.NAME]"},
    {"schema = 1\n[target]", WRONG, 2, 2, "add a table [target.NAME]"},
    {"schema = 1\ntarget = 1", SYNTAX, 2, 10, "[target.NAME]"},
    {"schema = 1\ntarget.a = 1", SYNTAX, 2, 12, "[target.NAME]"},
    {"schema = \"1\"", SYNTAX, 1, 10, "expected an integer, not a string"},
    {"schema = 2\nnew = 1", WRONG, 1, 10, "schema 2 is newer"},
    {"schema = 0", WRONG, 1, 10, "0 is below 1"},
    {"schema = 1\ntargets = 1", NAME, 2, 1, "did you mean target?"},
    {"schema = 1\nschema = 1", SYNTAX, 2, 1, "in line 1 already"},
    {"schema = 1\n[target.a]\n[target.a]", SYNTAX, 3, 9, "in line 2 already"},
    {"schema = 1\n[target.\"\"]", WRONG, 2, 9, "1 to 128 bytes"},
    {"schema = 1\n[target.\"\\n\"]", WRONG, 2, 9, "control character"},
    {"schema = 1\n[target.a]", WRONG, 2, 9, "says not what it judges"},
    {"schema = 1\n[target.a]\nrum = []", NAME, 3, 1, "did you mean run?"},
    {"schema = 1\n[target.a]\nzzzz = []", NAME, 3, 1, "it takes run, attach"},
    {"schema = 1\n[target.a]\nrun = []", WRONG, 3, 7, "no program"},
    {"schema = 1\n[target.a]\nrun = \"./a\"", SYNTAX, 3, 7, "[\"./server\""},
    {"schema = 1\n[target.a]\nrun = [\"a\", 1]", SYNTAX, 3, 13, "a text"},
    {"schema = 1\n[target.a]\nrun = [\"\"]", SYNTAX, 3, 8, "empty"},
    {"schema = 1\n[target.a]\nrun = [\"\\u0000\"]", SYNTAX, 3, 8, "NUL"},
    {"schema = 1\n[target.a]\nattach = \"\"", SYNTAX, 3, 10, "empty"},
    {"schema = 1\n[target.a]\nattach = \"a\"\nreport = \"b\"", WRONG, 4, 1,
     "has attach already"},
    {"schema = 1\n[target.a]\nreport = \"b\"\nrun = [\"a\"]", WRONG, 3, 1,
     "has run already"},
    {"schema = 1\n[target.a]\nrun = [\"a\"]", WRONG, 2, 9,
     "scope is missing; add scope = \"synthetic\""},
    {"schema = 1\n[target.a]\nrun = [\"a\"]\nscope = \"reel\"", NAME, 4, 9,
     "did you mean real?"},
    {"schema = 1\n[target.a]\nrun = [\"a\"]\nscope = \"real\"", WRONG, 2, 9,
     "load.statement is missing"},
    {"schema = 1\n[target.a]\nrun = [\"a\"]\nscope = \"real\"\nload.unit = "
     "\"a\"",
     WRONG, 5, 1, "load.statement is missing"},
    {"schema = 1\n[target.a]\nrun = [\"a\"]\nscope = \"real\"\n"
     "load.statement = \"a\"",
     WRONG, 5, 1, "load.unit is missing"},
    {"schema = 1\n[target.a]\nrun = [\"a\"]\nscope = \"real\"\n"
     "load = { statement = \"a\", unit = \"b\" }",
     WRONG, 5, 1, "load.count is missing"},
    {"schema = 1\n[target.a]\nrun = [\"a\"]\nscope = \"real\"\n"
     "load = { statement = \"a\", unit = \"b\", count = -1 }",
     WRONG, 5, 47, "count: -1 is below 0"},
    {"schema = 1\n[target.a]\nrun = [\"a\"]\nscope = \"real\"\n"
     "load = { statment = \"a\" }",
     NAME, 5, 10, "did you mean statement?"},
    {HEAD, WRONG, 2, 9, "target a has no limit; add"},
    {HEAD "limit = {}", WRONG, 6, 1, "there is no limit in it"},
    {HEAD "limit.wakeups = {}", WRONG, 6, 7, "limit of wakeups is empty"},
    {HEAD "limit.wakeups.why = \"x\"", WRONG, 6, 7, "is empty"},
    {HEAD "limit.wakeups = \"100/s\"", SYNTAX, 6, 17, "{ max = ... }"},
    {HEAD "limit.wakeup.max = \"1/s\"", NAME, 6, 7, "did you mean wakeups?"},
    {HEAD "limit.zz.max = \"1/s\"", NAME, 6, 7, "plim-budget(5)"},
    {HEAD "limit.wakeups.maxx = \"1/s\"", NAME, 6, 15, "did you mean max?"},
    {HEAD "limit.wakeups.max = 100", SYNTAX, 6, 21, "as in \"100/s\", not an"},
    {HEAD "limit.wakeups.max = \"100\"", SYNTAX, 6, 21, "it has no unit"},
    {HEAD "limit.wakeups.max = \"100 MiB\"", SYNTAX, 6, 21, "/s, /min or /h"},
    {HEAD "limit.wakeups.max = \"-1/s\"", SYNTAX, 6, 21, "it is negative"},
    {HEAD "limit.wakeups.max = \"\"", SYNTAX, 6, 21, "a number"},
    {HEAD "limit.wakeups.max = \"1e3/s\"", SYNTAX, 6, 21, "no quantity here"},
    {HEAD "limit.wakeups.max = nan", SYNTAX, 6, 21, "not a float"},
    {HEAD "limit.resident_end.max = \"32\"", SYNTAX, 6, 26, "\"32 MiB\""},
    {HEAD "limit.idle_cpu.max = \"1\"", SYNTAX, 6, 22, "\"0.5 %\""},
    {HEAD "limit.wall.max = \"1\"", SYNTAX, 6, 18, "\"60s\""},
    {HEAD "limit.threads.max = -1", SYNTAX, 6, 21, "a quantity"},
    {HEAD "limit.threads.max = \"8 threads\"", SYNTAX, 6, 21, "plain number"},
    {HEAD "limit.wakeups = { max = \"1/s\", min = \"2/s\" }", WRONG, 6, 7,
     "the max of wakeups is below its min"},
    {HEAD "limit.wakeups = { versus = \"b\" }", WRONG, 6, 7,
     "versus without rise"},
    {HEAD "limit.wakeups = { max = \"1/s\", rise = \"1 %\" }", WRONG, 6, 7,
     "rise without versus"},
    {HEAD "limit.wakeups = { max = \"1/s\", also_above = \"1/s\" }", WRONG, 6,
     7, "also_above without versus"},
    {HEAD "limit.wakeups = { versus = \"b\", rise = 10 }", SYNTAX, 6, 40,
     "\"0.5 %\""},
    {WHOLE "limit.wakeups.on_unavailable = \"skip\"", WRONG, 7, 32,
     "a skip needs its reason"},
    {WHOLE "limit.wakeups.on_unavailable = {}", WRONG, 7, 32,
     "{ skip = \"the reason\" }"},
    {WHOLE "limit.wakeups.on_unavailable = { skip = \"\" }", SYNTAX, 7, 41,
     "empty"},
    {WHOLE "limit.wakeups.on_unavailable = \"fial\"", NAME, 7, 32,
     "did you mean fail?"},
    {WHOLE "limit.wakeups.on_unavailable = true", SYNTAX, 7, 32, "skip"},
    {WHOLE "limit.wakeups.method = \"wait4\"", SYNTAX, 7, 24, "a list"},
    {WHOLE "limit.wakeups.method = []", WRONG, 7, 24, "the list is empty"},
    {WHOLE "limit.wakeups.method = [\"wait5\"]", NAME, 7, 25,
     "wait5 is not known here; did you mean wait4?"},
    {WHOLE "limit.wakeups.method = [\"none\"]", NAME, 7, 25, "none"},
    {WHOLE "limit.wakeups.until = \"2027-01-01\"", SYNTAX, 7, 23,
     "a date without quotes"},
    {WHOLE "limit.wakeups.until = 2027-01-01T00:00:00", SYNTAX, 7, 23,
     "a date without quotes"},
    {WHOLE "limit.wakeups.until = 2026-11-29\nlimit.wakeups.owner = \"Ada\"",
     WRONG, 7, 23, "until 2026-11-29; ask its owner, Ada"},
    {WHOLE "limit.wakeups.until = 2026-11-29", WRONG, 7, 23,
     "who is not named"},
    {WHOLE "limit.wakeups.slack_warning = 0.5", WRONG, 7, 31, "at least 1"},
    {WHOLE "limit.wakeups.slack_warning = nan", WRONG, 7, 31, "at least 1"},
    {WHOLE "limit.wakeups.slack_warning = \"3\"", SYNTAX, 7, 31, "a factor"},
    {WHOLE "tree = 1", SYNTAX, 7, 8, "true or false"},
    {WHOLE "window = 60", SYNTAX, 7, 10, "\"60s\""},
    {WHOLE "window = \"60\"", SYNTAX, 7, 10, "ns, us, ms, s"},
    {WHOLE "window = \"0s\"", SYNTAX, 7, 10, "no time at all"},
    {WHOLE "window = \"9s\"\nlongest_period = \"10s\"", WRONG, 7, 10,
     "raise window"},
    {WHOLE "longest_period = \"61s\"", WRONG, 7, 18, "raise window"},
    {WHOLE "repeats = 0", WRONG, 7, 11, "0 is below 1"},
    {WHOLE "repeats = 1001", WRONG, 7, 11, "1001 is above 1000"},
    {WHOLE "aggregate = \"mean\"", NAME, 7, 13, "worst, median or best"},
    {WHOLE "ready = \"quit\"", NAME, 7, 9, "did you mean quiet?"},
    {WHOLE "ready = { file = \"a\", port = 1 }", WRONG, 7, 9, "exactly one"},
    {WHOLE "ready = {}", WRONG, 7, 9, "exactly one"},
    {WHOLE "ready = { port = 0 }", WRONG, 7, 18, "0 is below 1"},
    {WHOLE "ready = { port = 65536 }", WRONG, 7, 18, "above 65535"},
    {WHOLE "ready = { ports = 1 }", NAME, 7, 11, "did you mean port?"},
    {WHOLE "ready = 8080", SYNTAX, 7, 9, "{ port = 8080 }"},
    {WHOLE "quiet.cpu = \"2\"", SYNTAX, 7, 13, "no unit"},
    {WHOLE "quiet.fro = \"2s\"", NAME, 7, 7, "did you mean for?"},
    {WHOLE "quiet = { for = \"10s\", limit = \"9s\" }", WRONG, 7, 1,
     "raise quiet.limit"},
    {WHOLE "when = {}", SYNTAX, 7, 1, "[[target.NAME.when]]"},
    {WHOLE "[target.a.when]\ncores = 2", SYNTAX, 7, 11, "two brackets"},
    {WHOLE "[[target.a.when]]\nlimit.wakeups.max = \"1/s\"", WRONG, 7, 12,
     "when what?"},
    {WHOLE "[[target.a.when]]\ncore = 1", NAME, 8, 1, "did you mean cores?"},
    {WHOLE "[[target.a.when]]\ncores = 0", WRONG, 8, 9, "0 is below 1"},
    {WHOLE "[[target.a.when]]\ncores = 1", WRONG, 7, 12, "changes nothing"},
    {WHOLE "[[target.a.when]]\nos = \"a\"\nlimit.wakeups.max = 1", SYNTAX, 9,
     21, "\"100/s\""},
    /* An entry that does not match is checked all the same. */
    {WHOLE "[[target.a.when]]\nos = \"a\"\nlimit.wakeups.min = \"101/s\"",
     WRONG, 9, 7, "below its min"},
    {WHOLE "[[target.a.when]]\nos = \"a\"\nlimit.wakeups.until = 2026-01-01",
     WRONG, 9, 23, "who is not named"},
    {WHOLE "[[target.a.when]]\nos = \"linux\"\nlimit.wakeups.max = \"1/s\"\n"
	   "[[target.a.when]]\ncores = 2\nlimit.wakeups.max = \"1/s\"",
     WRONG, 10, 12, "that of line 7 both match"},
    {WHOLE "[[target.a.when]]\nos = \"a\"\nlimit.wakeups.max = \"1/s\"\n"
	   "[[target.a.when]]\nos = \"a\"\nlimit.wakeups.max = \"2/s\"",
     WRONG, 10, 12, "the same conditions"},
    {"schema = 1\n[target.a]\nattach = \"x\"\nscope = \"real\"\n"
     "load = { statement = \"a\", unit = \"b\", count = 1 }\n"
     "ready = { output = \"x\" }\nlimit.wakeups.max = \"1/s\"",
     WRONG, 6, 1, "use file, port or quiet"},
    {"schema = 1\n[target.a]\nreport = \"x\"\nscope = \"real\"\n"
     "load = { statement = \"a\", unit = \"b\", count = 1 }\n"
     "quiet.cpu = \"1 %\"\nlimit.wakeups.max = \"1/s\"",
     WRONG, 6, 1, "remove it"},
    {HEAD "[[target.a.when]]\nos = \"a\"\nlimit.wakeups.max = \"1/s\"", WRONG,
     2, 9, "no limit outside of when"},
};

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		const struct mistake *row = &mistakes[i];
		struct counting counting = {0};
		plim_allocator allocator = counting_allocator(&counting);
		plim_budget *budget = (plim_budget *)(uintptr_t)1;
		plim_budget_position where = {0};
		plim_error error = {0};
		char path[64], message[1024];
		int code = plim_budget_parse(&budget, "dir/b.toml",
					     bytes_of(row->text), &place,
					     &allocator, &where, &error);

		snprintf(path, sizeof(path), "dir/b.toml:%u:%u", row->line,
			 row->column);
		plim_error_message(&error, message, sizeof(message));
		if (code != row->code || strcmp(error.path, path) != 0 ||
		    strstr(error.detail, row->says) == NULL)
			fail_msg("%d %s %s, not %d %s %s:\n%s", code,
				 error.path, error.detail, row->code, path,
				 row->says, row->text);
		assert_int_equal(error.code, row->code);
		assert_int_equal(where.line, row->line);
		assert_int_equal(where.column, row->column);
		assert_int_equal(where.offset, error.position);
		assert_non_null(strstr(message, row->says));
		assert_ptr_equal(budget, (plim_budget *)(uintptr_t)1);
		assert_int_equal(counting.live, 0);
	}
}

/* A long name of a file keeps its end, and the numbers. */
static void test_long_name(void **state)
{
	char name[600];
	plim_budget *budget = NULL;
	plim_error error = {0};

	(void)state;
	memset(name, 'x', sizeof(name));
	strcpy(name + sizeof(name) - 8, "/b.toml");
	assert_int_equal(plim_budget_parse(&budget, name, bytes_of("\n x"),
					   NULL, NULL, NULL, &error),
			 PLIM_ESYNTAX);
	assert_non_null(strstr(error.path, "xx/b.toml:2:3"));
}

static void test_figures(void **state)
{
	(void)state;
	assert_null(plim_budget_figure_get(0));
	assert_null(plim_budget_figure_get(PLIM_BUDGET_FIGURE_LAST + 1));
	for (int id = 1; id <= PLIM_BUDGET_FIGURE_LAST; id++) {
		const plim_budget_figure *figure = plim_budget_figure_get(id);

		assert_int_equal(figure->id, id);
		assert_ptr_equal(
		    plim_budget_figure_find(bytes_of(figure->word)), figure);
	}
	assert_null(plim_budget_figure_find(bytes_of("wakeup")));
	assert_null(plim_budget_figure_find(bytes_of("")));
}

/* The example of the documentation, on the machine of this file. */
static void test_example(void **state)
{
	const char *source = getenv("PLIM_SOURCE");
	static char text[16384];
	char path[4096];
	plim_budget *budget;
	const plim_budget_target *target;
	FILE *file;

	(void)state;
	if (source == NULL)
		SKIP_BECAUSE("PLIM_SOURCE does not name the source folder");
	snprintf(path, sizeof(path), "%s/docs/examples/budget.toml", source);
	file = fopen(path, "rb");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	budget = parse(text);
	target = plim_budget_at(budget, 0);
	assert_string_equal(target->name, "idle-server");
	assert_int_equal(target->limit_count, 6);
	assert_int_equal(target->when_count, 2);
	/* The first of them is of this place. */
	assert_true(target->limits[0].figure == PLIM_BUDGET_IDLE_CPU &&
		    target->limits[0].max == 1);
	assert_true(target->limits[1].max == 150);
	assert_true(target->limits[1].min == 1.0 / 60);
	assert_int_equal(target->limits[1].method_count, 3);
	plim_budget_free(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_defaults),  cmocka_unit_test(test_everything),
	    cmocka_unit_test(test_ready),     cmocka_unit_test(test_when),
	    cmocka_unit_test(test_when_adds), cmocka_unit_test(test_mistakes),
	    cmocka_unit_test(test_long_name), cmocka_unit_test(test_figures),
	    cmocka_unit_test(test_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
