/*
 * test_filter.c - the filter language: what it accepts, where it says that it
 * went wrong, and what it judges, by tables of texts and expected answers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/filter_program.h"

#include "sample.h"

#include <limits.h>

#include <stdio.h>

#define F PLIM_FALSE
#define T PLIM_TRUE
#define U PLIM_UNKNOWN

struct verdict {
	const char *text;
	int truth;
};

static int judge(const char *text, const plim_process *process,
		 const plim_process *earlier)
{
	plim_filter *filter = NULL;
	plim_error error = {0};
	char message[1024];
	int truth;

	if (plim_filter_new(&filter, text, NULL, &error) != PLIM_OK) {
		plim_error_message(&error, message, sizeof(message));
		fail_msg("%s: %s", text, message);
	}
	truth = plim_filter_match(filter, process, earlier);
	plim_filter_free(filter);
	return truth;
}

static void judge_all(const struct verdict *rows, size_t count,
		      const plim_process *process, const plim_process *earlier)
{
	for (size_t i = 0; i < count; i++) {
		int truth = judge(rows[i].text, process, earlier);

		if (truth != rows[i].truth)
			fail_msg("%s: %d, expected %d", rows[i].text, truth,
				 rows[i].truth);
	}
}

#define JUDGE_ALL(rows, process, earlier) \
	judge_all(rows, sizeof(rows) / sizeof((rows)[0]), process, earlier)

static void numbers(void **state)
{
	static const struct verdict rows[] = {
	    {"pid = 4242", T},
	    {"pid == 4242", T},
	    {"pid != 4242", F},
	    {"pid<4243", T},
	    {"pid<4242", F},
	    {"pid<=4242", T},
	    {"pid>4241", T},
	    {"pid>4242", F},
	    {"pid>=4242", T},
	    {"pid>=4243", F},
	    {"  pid\t=\n4242  ", T},
	    /* A fraction between two whole numbers excludes neither side. */
	    {"threads > 2.5", T},
	    {"threads > 3.5", F},
	    {"threads < 3.5", T},
	    {"threads = 3.5", F},
	    {"threads = 3.0", T},
	    /* Suffixes of names and of quantities. */
	    {"resident_bytes = 100MiB", T},
	    {"resident = 100MiB", T},
	    {"resident = 100 MiB", T},
	    {"resident = 104857600", T},
	    {"resident = 100M", T},
	    {"resident < 105MB", T},
	    {"resident > 0.1GiB", F},
	    {"cpu = 2s", T},
	    {"cpu_ns = 2000ms", T},
	    {"cpu > 1.999s", T},
	    {"cpu > 0", T},
	    {"cpu = 2 s and pid = 4242", T},
	    {"pid = 4242 and cpu = 2 s", T},
	    {"identity_rung = 2", T},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	JUDGE_ALL(rows, &record, NULL);
}

static void signed_numbers(void **state)
{
	static const struct verdict rows[] = {
	    {"nice < 0", T},	 {"nice<0", T},	      {"nice > 0", F},
	    {"nice = -5", T},	 {"nice=-5", T},      {"nice != -5", F},
	    {"nice > -6", T},	 {"nice >= -5", T},   {"nice > -5", F},
	    {"nice < -4.5", T},	 {"nice <= -5.5", F}, {"nice < 19", T},
	    {"not nice < 0", F},
	};
	static const struct verdict positive[] = {
	    {"nice > 0", T},
	    {"nice < 0", F},
	    {"nice > -20", T},
	    {"nice = 7", T},
	};
	static const struct verdict at_most[] = {
	    {"nice < -4", T},
	    {"nice < -100", U},
	    {"nice > -5", F},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	sample_known(&record, PLIM_FIELD_NICE, (uint64_t)(int64_t)-5,
		     PLIM_METHOD_STAT);
	JUDGE_ALL(rows, &record, NULL);
	sample_known(&record, PLIM_FIELD_NICE, 7, PLIM_METHOD_STAT);
	JUDGE_ALL(positive, &record, NULL);
	plimp_record_set(&record, PLIM_FIELD_NICE,
			 plim_count_bounded((uint64_t)(int64_t)-5,
					    PLIM_METHOD_STAT,
					    PLIM_BOUND_AT_MOST));
	JUDGE_ALL(at_most, &record, NULL);
}

/* Beyond 2^53 a double cannot tell neighbours apart. */
static void numbers_above_2_53(void **state)
{
	static const struct verdict rows[] = {
	    {"disk_write_bytes = 9007199254740993", T},
	    {"disk_write_bytes = 9007199254740992", F},
	    {"disk_write_bytes > 9007199254740992", T},
	    {"disk_write_bytes >= 9007199254740994", F},
	    {"disk_read_bytes = 18446744073709551615", T},
	    {"disk_read_bytes < 18446744073709551615", F},
	    {"disk_read_bytes > 18446744073709551614", T},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	sample_known(&record, PLIM_FIELD_DISK_WRITE, UINT64_C(9007199254740993),
		     PLIM_METHOD_IO);
	sample_known(&record, PLIM_FIELD_DISK_READ, UINT64_MAX, PLIM_METHOD_IO);
	JUDGE_ALL(rows, &record, NULL);
}

static void bounds(void **state)
{
	static const struct verdict at_least[] = {
	    {"wakeups > 499", T},  {"wakeups > 500", U},  {"wakeups > 501", U},
	    {"wakeups >= 500", T}, {"wakeups >= 501", U}, {"wakeups < 500", F},
	    {"wakeups < 499", F},  {"wakeups < 501", U},  {"wakeups <= 499", F},
	    {"wakeups <= 500", U}, {"wakeups = 499", F},  {"wakeups = 500", U},
	    {"wakeups = 501", U},  {"wakeups != 499", T}, {"wakeups != 500", U},
	};
	static const struct verdict at_most[] = {
	    {"wakeups < 501", T},
	    {"wakeups < 500", U},
	    {"wakeups < 499", U},
	    {"wakeups <= 500", T},
	    {"wakeups <= 499", U},
	    {"wakeups > 500", F},
	    {"wakeups > 499", U},
	    {"wakeups >= 501", F},
	    {"wakeups >= 500", U},
	    {"wakeups = 501", F},
	    {"wakeups = 500", U},
	    {"wakeups != 501", T},
	    /* No count is below zero. */
	    {"wakeups >= 0", T},
	    {"wakeups < 0", F},
	};
	static const struct verdict at_most_zero[] = {
	    {"wakeups = 0", T},
	    {"wakeups > 0", F},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	JUDGE_ALL(at_least, &record, NULL);
	plimp_record_set(
	    &record, PLIM_FIELD_WAKEUPS,
	    plim_count_bounded(500, PLIM_METHOD_STATUS, PLIM_BOUND_AT_MOST));
	JUDGE_ALL(at_most, &record, NULL);
	plimp_record_set(
	    &record, PLIM_FIELD_WAKEUPS,
	    plim_count_bounded(0, PLIM_METHOD_STATUS, PLIM_BOUND_AT_MOST));
	JUDGE_ALL(at_most_zero, &record, NULL);
}

/* Every pair of truths: `pid = 1` is false, `pid = 4242` true, a comparison
 * with a refused figure unknown. */
static void kleene(void **state)
{
	static const char *const operands[] = {"pid = 1", "pid = 4242",
					       "disk_read = 0"};
	static const int truths[] = {F, T, U};
	static const int both[3][3] = {{F, F, F}, {F, T, U}, {F, U, U}};
	static const int either[3][3] = {{F, T, U}, {T, T, T}, {U, T, U}};
	static const int negated[] = {T, F, U};
	plim_process record;
	char text[256];

	(void)state;
	sample_record(&record);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(judge(operands[i], &record, NULL), truths[i]);
		snprintf(text, sizeof(text), "not %s", operands[i]);
		assert_int_equal(judge(text, &record, NULL), negated[i]);
		snprintf(text, sizeof(text), "!(%s)", operands[i]);
		assert_int_equal(judge(text, &record, NULL), negated[i]);
		for (int j = 0; j < 3; j++) {
			snprintf(text, sizeof(text), "%s and %s", operands[i],
				 operands[j]);
			assert_int_equal(judge(text, &record, NULL),
					 both[i][j]);
			snprintf(text, sizeof(text), "%s||%s", operands[i],
				 operands[j]);
			assert_int_equal(judge(text, &record, NULL),
					 either[i][j]);
		}
	}
}

static void precedence(void **state)
{
	static const struct verdict rows[] = {
	    {"pid=4242 or pid=1 and pid=1", T},
	    {"(pid=4242 or pid=1) and pid=1", F},
	    {"pid=1 and pid=1 or pid=4242", T},
	    {"not pid=1 and pid=1", F},
	    {"not (pid=1 and pid=1)", T},
	    {"not not pid=4242", T},
	    {"!!pid=4242", T},
	    {"! pid=1&&!pid=2&&pid=4242", T},
	    {"pid=1 or pid=2 or pid=4242 or pid=3", T},
	    {"pid=4242 and (pid=1 or (pid=2 or (pid=4242)))", T},
	    {"known(pid)and known(name)or known(disk_read)", T},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	JUDGE_ALL(rows, &record, NULL);
}

static void known(void **state)
{
	static const struct verdict rows[] = {
	    {"known(pid)", T},
	    {"known ( name )", T},
	    {"known(identity)", T},
	    {"known(disk_read)", F},
	    {"known(disk_read_bytes)", F},
	    {"not known(disk_read)", T},
	    {"known(uid)", F},
	    {"known(cpu_percent)", F},
	    {"known(cpu_per_second)", F},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	JUDGE_ALL(rows, &record, NULL);
}

static void texts(void **state)
{
	static const struct verdict rows[] = {
	    {"name = worker", T},
	    {"name = \"worker\"", T},
	    {"name = work", F},
	    {"name != worker", F},
	    {"name != other", T},
	    {"name = \"\"", F},
	    {"name = \"w\\x6frker\"", T},
	    {"name = wor*", F},
	    {"name ~ wor*", T},
	    {"name ~ *", T},
	    {"name ~ *ker", T},
	    {"name ~ *or*e*", T},
	    {"name ~ w?rker", T},
	    {"name ~ w?ker", F},
	    {"name ~ work", F},
	    {"name ~ *work", F},
	    {"name ~ worker*", T},
	    {"name ~ worker?", F},
	    {"name ~ *x*", F},
	    {"name ~ \"\"", F},
	    {"name !~ wor*", F},
	    {"name !~ x*", T},
	    {"state = S", T},
	    {"state ~ ?", T},
	    {"state = R", F},
	    {"identity = 4242@t777", T},
	    {"identity ~ 4242@*", T},
	    {"(name=worker)", T},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	JUDGE_ALL(rows, &record, NULL);
	record.figures[PLIM_FIELD_NAME] =
	    plim_count_missing(PLIM_REASON_ENDED, 0);
	assert_int_equal(judge("name = worker", &record, NULL), U);
	assert_int_equal(judge("name != worker", &record, NULL), U);
	assert_int_equal(judge("name ~ *", &record, NULL), U);
}

/* Names are bytes; escaped bytes are never wildcards. */
static void hostile_names(void **state)
{
	static const struct verdict rows[] = {
	    {"name = \"a\\x0ab\\x1b\\\"\\\\*\\xff\\xc3\"", T},
	    {"name ~ \"a\\x0a*\\xff?\"", T},
	    {"name ~ \"*\\x2a\\xff*\"", T},
	    {"name ~ \"*\\\\\\x2a*\"", T},
	    {"name ~ \"*\\x2a\"", F},
	    {"name ~ \"*\\\\\\xff*\"", F},
	    {"name ~ \"*\\x3f*\"", F},
	    {"name ~ ?????????", T},
	    {"name ~ ????????", F},
	    {"name ~ \"*\\\"*\"", T},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	plimp_record_name(&record, sample_bytes("a\nb\x1b\"\\*\xff\xc3"));
	JUDGE_ALL(rows, &record, NULL);
}

/* A pattern that makes a recursive matcher try 2^60 ways. */
static void pattern_is_cheap(void **state)
{
	char text[PLIM_FILTER_LIMIT + 1] = "name ~ ";
	size_t size = strlen(text);
	plim_process record;
	char name[PLIMP_NAME_SIZE];
	plim_bytes bytes = {name, sizeof(name)};

	(void)state;
	sample_record(&record);
	memset(name, 'a', sizeof(name));
	plimp_record_name(&record, bytes);
	while (size + 3 < PLIM_FILTER_LIMIT) {
		memcpy(text + size, size % 4 ? "a*" : "**", 2);
		size += 2;
	}
	memcpy(text + size, "b", 2);
	assert_int_equal(judge(text, &record, NULL), F);
	assert_int_equal(judge("name ~ *a*a*a*a*a*a*a*a*b", &record, NULL), F);
	assert_int_equal(judge("name ~ *a*a*a*a*a*a*a*a*a", &record, NULL), T);
}

static void rates(void **state)
{
	static const struct verdict rows[] = {
	    {"cpu_percent = 25%", T},
	    {"cpu_percent > 24.9 %", T},
	    {"cpu_percent > 25 %", F},
	    {"cpu_percent > 0", T},
	    {"faults_minor_per_second = 0.5", T},
	    {"faults_minor_per_second = 30/min", T},
	    {"faults_minor_per_second > 0.5/s", F},
	    {"disk_write_per_second = 1MiB/s", T},
	    {"disk_write_per_second = 1 MiB/s", T},
	    {"disk_write_bytes_per_second >= 1MiB", T},
	    {"cpu_per_second = 250000000", T},
	    {"cpu_ns_per_second = 250000000/s", T},
	    {"disk_read_per_second < 1MiB/s", U},
	    {"known(cpu_percent)", T},
	    {"known(disk_read_per_second)", F},
	    {"known(disk_write_per_second)", T},
	};
	plim_process earlier, later;

	(void)state;
	sample_pair(&earlier, &later);
	JUDGE_ALL(rows, &later, &earlier);
	assert_int_equal(judge("cpu_percent > 0", &later, NULL), U);
	later.identity.start_ticks++;
	assert_int_equal(judge("cpu_percent > 0", &later, &earlier), U);
}

/* Wake-ups of the pair are lower bounds summed over threads: the rate is one,
 * too. */
static void rate_bounds(void **state)
{
	static const struct verdict rows[] = {
	    {"wakeups_per_second >= 5", T}, {"wakeups_per_second > 5", U},
	    {"wakeups_per_second < 5", F},  {"wakeups_per_second < 6", U},
	    {"wakeups_per_second = 5", U},  {"wakeups_per_second = 4", F},
	};
	static const struct plimp_thread before[] = {
	    {.tid = 4242, .start_ticks = 777, .voluntary = 100}};
	static const struct plimp_thread after[] = {
	    {.tid = 4242, .start_ticks = 777, .voluntary = 110}};
	plim_process earlier, later;

	(void)state;
	sample_pair(&earlier, &later);
	earlier.threads =
	    (struct plimp_threads){.items = before, .count = 1, .known = 1};
	later.threads =
	    (struct plimp_threads){.items = after, .count = 1, .known = 1};
	JUDGE_ALL(rows, &later, &earlier);
}

struct mistake {
	const char *text;
	int code;
	int position;
	const char *detail; /* a part of it */
};

static void mistakes(void **state)
{
	static const struct mistake rows[] = {
	    {"", PLIM_ESYNTAX, 0, "expected the name of a field"},
	    {"   ", PLIM_ESYNTAX, 3, "expected the name of a field"},
	    {"5 < pid", PLIM_ESYNTAX, 0, "expected the name of a field"},
	    {"pid", PLIM_ESYNTAX, 3, "expected = != < <= > or >="},
	    {"pid 5", PLIM_ESYNTAX, 4, "expected = != < <= > or >="},
	    {"pid ~ 5", PLIM_ESYNTAX, 4, "after a number"},
	    {"pid !~ 5", PLIM_ESYNTAX, 4, "after a number"},
	    {"name < x", PLIM_ESYNTAX, 5, "after a text"},
	    {"name >= x", PLIM_ESYNTAX, 5, "after a text"},
	    {"identity > 5", PLIM_ESYNTAX, 9, "after a text"},
	    {"name", PLIM_ESYNTAX, 4, "expected = != ~ or !~"},
	    {"pid =", PLIM_ESYNTAX, 5, "expected a quantity"},
	    {"pid = )", PLIM_ESYNTAX, 6, "expected a quantity"},
	    {"pid = \"5\"", PLIM_ESYNTAX, 6, "expected a quantity"},
	    {"pid = five", PLIM_ESYNTAX, 6, ""},
	    {"pid = -5", PLIM_ESYNTAX, 6, ""},
	    {"resident > 5 MiX", PLIM_ESYNTAX, 13, "MiB"},
	    {"resident > 5s", PLIM_ESYNTAX, 12, ""},
	    {"cpu > 5", PLIM_ESYNTAX, 7, ""},
	    {"cpu_percent > 5", PLIM_ESYNTAX, 15, ""},
	    {"name =", PLIM_ESYNTAX, 6, "expected a word"},
	    {"name = )", PLIM_ESYNTAX, 7, "expected a word"},
	    {"name = \"abc", PLIM_ESYNTAX, 7, "expected a closing quote"},
	    {"name = \"a\\n\"", PLIM_ESYNTAX, 9, "expected \\\", \\\\ or"},
	    {"name = \"a\\x4\"", PLIM_ESYNTAX, 9, "expected \\\", \\\\ or"},
	    {"name = \"a\\", PLIM_ESYNTAX, 9, "expected \\\", \\\\ or"},
	    {"name = a\\b", PLIM_ESYNTAX, 8, "expected quotes"},
	    {"(pid = 1", PLIM_ESYNTAX, 8, "closing )"},
	    {"pid = 1)", PLIM_ESYNTAX, 7, "expected and, or or the end"},
	    {"pid = 1 pid = 2", PLIM_ESYNTAX, 8, ""},
	    {"pid = 1 and", PLIM_ESYNTAX, 11, "expected the name"},
	    {"pid = 1 && or", PLIM_ENAME, 11, ""},
	    {"cgroup:", PLIM_ESYNTAX, 7, "expected a word or a"},
	    {"cgroup:\"\"", PLIM_ESYNTAX, 7, "expected something"},
	    {"unit: \"\" and pid=1", PLIM_ESYNTAX, 6, "expected something"},
	    {"pid=1 or unit:)", PLIM_ESYNTAX, 14, "expected a word"},
	    {"cgroup:a\\b", PLIM_ESYNTAX, 8, "expected quotes"},
	    {"container:01234", PLIM_ESYNTAX, 10, "6 digits"},
	    {"unit:ssh service", PLIM_ESYNTAX, 9, "expected and, or"},
	    {"pid:5", PLIM_ESYNTAX, 3, "expected = != <"},
	    {"name:x", PLIM_ESYNTAX, 4, "expected = != ~"},
	    {"usr:root", PLIM_ENAME, 0, ""},
	    {"runqueue_wait_per_second > 10x", PLIM_ESYNTAX, 29, ""},
	    {"nice < -", PLIM_ESYNTAX, 7, ""},
	    {"pid = 1 & pid = 2", PLIM_ESYNTAX, 8, "expected and, or"},
	    {"pid=1 AND pid=2", PLIM_ESYNTAX, 6, "expected and, or"},
	    {"pid = 1 ; 2", PLIM_ESYNTAX, 8, "expected and, or"},
	    {"()", PLIM_ESYNTAX, 1, "expected the name of a field"},
	    {"not", PLIM_ESYNTAX, 3, "expected the name of a field"},
	    {"known", PLIM_ESYNTAX, 5, "expected ( after known"},
	    {"known(pid", PLIM_ESYNTAX, 9, "expected )"},
	    {"known()", PLIM_ESYNTAX, 6, "expected the name of a field"},
	    {"known(pif)", PLIM_ENAME, 6, "did you mean pid?"},
	    {"notpid = 1", PLIM_ENAME, 0, ""},
	    {"knownpid = 1", PLIM_ENAME, 0, ""},
	    {"name=x andpid=1", PLIM_ESYNTAX, 7, "expected and, or"},
	    {"name=x or2=1", PLIM_ESYNTAX, 7, "expected and, or"},
	    {"cpu_usre > 1s", PLIM_ENAME, 0, "did you mean cpu_user?"},
	    {"residnet > 5", PLIM_ENAME, 0, "did you mean resident?"},
	    {"  residnet_bytes > 5", PLIM_ENAME, 2,
	     "did you mean resident_bytes?"},
	    {"pid = 1 and nmae = x", PLIM_ENAME, 12, "did you mean name?"},
	    {"cpu_precent > 5 %", PLIM_ENAME, 0, "did you mean cpu_percent?"},
	    {"wakups_per_second > 5", PLIM_ENAME, 0,
	     "did you mean wakeups_per_second?"},
	    {"resident_per_second > 5", PLIM_ENAME, 0,
	     "resident_bytes is no counter"},
	    {"name_per_second = 5", PLIM_ENAME, 0, "name is no counter"},
	    {"cpu_percent_per_second = 5", PLIM_ENAME, 0, ""},
	    {"xyzzyxyzzy = 1", PLIM_ENAME, 0, "expected the name of a field"},
	    {"_per_second > 1", PLIM_ENAME, 0, ""},
	    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	     "aaaaaaaaa = 1",
	     PLIM_ENAME, 0, ""},
	    {"pid = "
	     "0.0000000000000000000000000000000000000000000000000000000000000"
	     "0001",
	     PLIM_ESYNTAX, 6, "at most 63"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_filter *filter = NULL;
		plim_error error = {0};
		int code = plim_filter_new(&filter, rows[i].text, NULL, &error);

		if (code != rows[i].code ||
		    error.position != rows[i].position || filter != NULL ||
		    strstr(error.detail, rows[i].detail) == NULL)
			fail_msg("%s: %d at %d: %s", rows[i].text, code,
				 (int)error.position, error.detail);
		assert_int_equal(error.code, code);
		assert_string_equal(error.operation, "filter");
		assert_true(error.detail[0] != '\0');
		assert_int_equal(
		    plim_filter_new(&filter, rows[i].text, NULL, NULL), code);
	}
}

static void limits(void **state)
{
	char text[PLIM_FILTER_LIMIT + 2];
	plim_filter *filter = NULL;
	plim_error error = {0};
	plim_process record;

	(void)state;
	sample_record(&record);
	memset(text, ' ', sizeof(text));
	memcpy(text, "pid=4242", 8);
	text[PLIM_FILTER_LIMIT] = '\0';
	assert_int_equal(judge(text, &record, NULL), T);
	text[PLIM_FILTER_LIMIT] = ' ';
	text[PLIM_FILTER_LIMIT + 1] = '\0';
	assert_int_equal(plim_filter_new(&filter, text, NULL, &error),
			 PLIM_ELIMIT);
	assert_int_equal(error.position, PLIM_FILTER_LIMIT);

	memset(text, '(', 64);
	memcpy(text + 64, "pid=4242", 8);
	memset(text + 72, ')', 64);
	text[136] = '\0';
	assert_int_equal(judge(text, &record, NULL), T);
	memset(text, '(', 65);
	text[65] = '\0';
	assert_int_equal(plim_filter_new(&filter, text, NULL, &error),
			 PLIM_ELIMIT);
	assert_int_equal(error.position, 65);
	memset(text, '!', 64);
	memcpy(text + 64, "pid=4242", 9);
	assert_int_equal(judge(text, &record, NULL), T);
	memset(text, '!', PLIM_FILTER_LIMIT);
	text[PLIM_FILTER_LIMIT] = '\0';
	assert_int_equal(plim_filter_new(&filter, text, NULL, &error),
			 PLIM_ELIMIT);
	assert_null(filter);
	assert_int_equal(plim_filter_new(&filter, NULL, NULL, &error),
			 PLIM_EINVAL);
	assert_int_equal(plim_filter_new(NULL, "pid=1", NULL, &error),
			 PLIM_EINVAL);
	plim_filter_free(NULL);
}

/* The deepest stack of waiting operands: `or` and `and` at every level. */
static void deepest_stack(void **state)
{
	char text[PLIM_FILTER_LIMIT + 1] = "";
	plim_process record;

	(void)state;
	sample_record(&record);
	for (int i = 0; i < 64; i++)
		strcat(text, "pid=1||pid=4242&&(");
	strcat(text, "pid=1||pid=4242&&pid=4242");
	for (int i = 0; i < 64; i++)
		strcat(text, ")");
	assert_int_equal(judge(text, &record, NULL), T);
	/* Depth is where one stands, not how often one went down. */
	text[0] = '\0';
	for (int i = 0; i < 100; i++)
		strcat(text, "!pid=1 and (pid=4242) and ");
	strcat(text, "pid=4242");
	assert_int_equal(judge(text, &record, NULL), T);
	/* And a chain as long as the limit lets it be. */
	text[0] = '\0';
	for (int i = 0; i < 500; i++)
		strcat(text, "pid=1||");
	strcat(text, "pid=4242");
	assert_int_equal(judge(text, &record, NULL), T);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A user's service, in a container; ours is 4242's uid 1000. */
static void selected_record(plim_process *record)
{
	static const char text[] =
	    "/user.slice/a b.slice/ssh@1.service/docker-" ID ".scope";

	sample_record(record);
	sample_known(record, PLIM_FIELD_UID, 1000, PLIM_METHOD_STATUS);
	record->texts.data = text;
	record->texts.size = sizeof(text) - 1;
	plimp_record_text(record, PLIMP_TEXT_CGROUP, 0, sizeof(text) - 1,
			  PLIM_METHOD_CGROUP_V2);
	plimp_record_text(record, PLIMP_TEXT_UNIT, 22, 13,
			  PLIM_METHOD_CGROUP_V2);
	plimp_record_text(record, PLIMP_TEXT_CONTAINER, 43, 64,
			  PLIM_METHOD_CGROUP_V2);
}

static void selectors(void **state)
{
	static const struct verdict rows[] = {
	    {"cgroup:/user.slice", T},
	    {"cgroup:user.slice", T},
	    {"cgroup:/user.slice/", T},
	    {"cgroup: //user.slice//", T},
	    {"cgroup:/user", F},
	    {"cgroup:/user.slic", F},
	    {"cgroup:/user.slice2", F},
	    {"cgroup:\"/user.slice/a b.slice\"", T},
	    {"cgroup:\"user.slice//a\\x20b.slice\"", T},
	    {"cgroup:\"/a b.slice\"", F},
	    {"cgroup:/", T},
	    {"cgroup:/user.slice/*", F},
	    {"unit:ssh@1.service", T},
	    {"unit:ssh@1", T},
	    {"unit:\"ssh@1\"", T},
	    {"unit:ssh", F},
	    {"unit:ssh*", T},
	    {"unit:ssh@?.service", T},
	    {"unit:*.scope", F},
	    {"unit:\"ssh@1*\"", T},
	    {"unit:\"ssh@\\x2a\"", F},
	    {"unit:a", F},
	    {"container:" ID, T},
	    {"container:012345", T},
	    {"container:0123456789ab", T},
	    {"container:012346", F},
	    {"container:123456", F},
	    {"container:" ID "0", F},
	    {"container:web", F},
	    {"user:1000", T},
	    {"user:01000", T},
	    {"user:1001", F},
	    {"user:0", F},
	    {"user:4294967295", F},
	    {"not user:0 and pid = 4242", T},
	    {"not(cgroup:x or unit:y)", T},
	    {"cgroup:/user.slice and name = worker", T},
	    {"cgroup ~ *scope", T},
	    {"exe = x", U},
	};
	plim_process record;

	(void)state;
	selected_record(&record);
	JUDGE_ALL(rows, &record, NULL);
}

/* What a process does not have it is not in; what is not known is not known. */
static void selectors_of_none(void **state)
{
	static const struct verdict rows[] = {
	    {"unit:ssh", F},	     {"not unit:ssh", T},
	    {"container:012345", F}, {"not container:012345", T},
	    {"cgroup:/x", U},	     {"not cgroup:/x", U},
	    {"user:0", U},	     {"unit != x", U},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	plimp_record_set(&record, PLIM_FIELD_UNIT,
			 plim_count_missing(PLIM_REASON_NO_UNIT, 0));
	plimp_record_set(&record, PLIM_FIELD_CONTAINER,
			 plim_count_missing(PLIM_REASON_NO_CONTAINER, 0));
	plimp_record_set(&record, PLIM_FIELD_CGROUP,
			 plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13));
	JUDGE_ALL(rows, &record, NULL);
}

static void removed_group(void **state)
{
	static const struct verdict rows[] = {
	    {"cgroup:/a/b", T},	      {"cgroup:/a", T},
	    {"cgroup:/a/b/c", F},     {"cgroup:\"/a/b (deleted)\"", T},
	    {"cgroup:\"/a/b (\"", F},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	record.texts.data = "/a/b (deleted)";
	record.texts.size = 14;
	plimp_record_text(&record, PLIMP_TEXT_CGROUP, 0, 14,
			  PLIM_METHOD_CGROUP_V2);
	JUDGE_ALL(rows, &record, NULL);
}

static void a_container_by_name(void **state)
{
	static const struct verdict rows[] = {
	    {"container:webserver", T},
	    {"container:webserve", F},
	    {"container:\"webserver\"", T},
	    {"container:webserver2", F},
	};
	plim_process record;

	(void)state;
	sample_record(&record);
	record.texts.data = "webserver";
	record.texts.size = 9;
	plimp_record_text(&record, PLIMP_TEXT_CONTAINER, 0, 9,
			  PLIM_METHOD_CGROUP_V1);
	JUDGE_ALL(rows, &record, NULL);
}

/* A machine of one user; asking for another breaks it. */
static int one_user(const char *name, uint32_t *uid)
{
	if (strcmp(name, "ann") == 0) {
		*uid = 1000;
		return 0;
	}
	if (strcmp(name, "broken") == 0)
		return 5;
	return strcmp(name, "nowhere") == 0 ? INT_MAX : -1;
}

static void users(void **state)
{
	static const struct {
		const char *text;
		int code;
		int system;
		int position;
	} rows[] = {
	    {"user:ann", PLIM_OK, 0, 0},
	    {"pid = 1 or user: \"ann\"", PLIM_OK, 0, 0},
	    {"pid > 1 and user:bob", PLIM_ENAME, 0, 17},
	    {"user:\"ann\\x00\"", PLIM_ENAME, 0, 5},
	    {"user:broken", PLIM_ESYSTEM, 5, 5},
	    {"user:nowhere", PLIM_EUNSUPPORTED, 0, 5},
	    {"user:4294967296", PLIM_ESYNTAX, 0, 5},
	    {"user:99999999999999999999999", PLIM_ESYNTAX, 0, 5},
	    {"user:1000x", PLIM_ENAME, 0, 5},
	};
	plim_process record;

	(void)state;
	selected_record(&record);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_filter *filter = NULL;
		plim_error error = {0};

		assert_int_equal(plimp_filter_compile(&filter, rows[i].text,
						      NULL, one_user, &error),
				 rows[i].code);
		if (rows[i].code == PLIM_OK) {
			plim_field_set fields = plim_filter_fields(filter);

			assert_int_equal(
			    plim_filter_match(filter, &record, NULL), T);
			assert_true(
			    plim_field_set_has(&fields, PLIM_FIELD_UID));
		} else {
			assert_null(filter);
			assert_int_equal(error.position, rows[i].position);
			assert_int_equal(error.system, rows[i].system);
			assert_true(error.detail[0] != '\0');
		}
		plim_filter_free(filter);
	}
}

/* 250 ms more in two seconds: an eighth of the time. */
static void time_per_second(void **state)
{
	static const struct verdict rows[] = {
	    {"cpu_user_per_second > 12%", T},
	    {"cpu_user_per_second = 12.5 %", T},
	    {"cpu_user_per_second > 13%", F},
	    {"cpu_user_ns_per_second = 125ms", T},
	    {"cpu_user_per_second = 125ms/s", T},
	    {"cpu_user_per_second = 125 ms/s", T},
	    {"cpu_user_per_second < 0.2s", T},
	    {"cpu_user_per_second = 125000000", T},
	    {"cpu_user_per_second = 125000000/s", T},
	    {"cpu_user_per_second = 7500000000/min", T},
	};
	plim_process earlier, later;

	(void)state;
	sample_pair(&earlier, &later);
	sample_known(&earlier, PLIM_FIELD_CPU_USER, 0, PLIM_METHOD_STAT_TICKS);
	sample_known(&later, PLIM_FIELD_CPU_USER, SAMPLE_SECOND / 4,
		     PLIM_METHOD_STAT_TICKS);
	JUDGE_ALL(rows, &later, &earlier);
}

/* A text that grows, as often as a filter has room for. */
static void many_units(void **state)
{
	static char text[PLIM_FILTER_LIMIT + 1];
	plim_process record;

	(void)state;
	selected_record(&record);
	for (size_t i = 0; i + 10 < PLIM_FILTER_LIMIT; i += 8)
		strcpy(text + i, "unit:a||");
	strcat(text, "pid>1");
	assert_int_equal(judge(text, &record, NULL), T);
}

static void fields_and_rates(void **state)
{
	plim_filter *filter = NULL;
	plim_field_set set;

	(void)state;
	assert_int_equal(plim_filter_new(&filter,
					 "resident > 5 or not known(uid)", NULL,
					 NULL),
			 PLIM_OK);
	set = plim_filter_fields(filter);
	for (int id = 1; id <= PLIM_FIELD_LAST; id++)
		assert_int_equal(plim_field_set_has(&set, id),
				 id == PLIM_FIELD_RESIDENT ||
				     id == PLIM_FIELD_UID);
	assert_int_equal(plim_filter_needs_rates(filter), 0);
	plim_filter_free(filter);
	assert_int_equal(
	    plim_filter_new(&filter,
			    "cpu_percent > 5 % or io_calls_per_second "
			    "> 3",
			    NULL, NULL),
	    PLIM_OK);
	set = plim_filter_fields(filter);
	for (int id = 1; id <= PLIM_FIELD_LAST; id++)
		assert_int_equal(plim_field_set_has(&set, id),
				 id == PLIM_FIELD_CPU ||
				     id == PLIM_FIELD_IO_CALLS);
	assert_int_equal(plim_filter_needs_rates(filter), 1);
	plim_filter_free(filter);
	assert_int_equal(
	    plim_filter_new(&filter, "known(cpu_percent)", NULL, NULL),
	    PLIM_OK);
	assert_int_equal(plim_filter_needs_rates(filter), 1);
	plim_filter_free(filter);
}

/* Every field of the table can be filtered by, under every name it has. */
static void every_field(void **state)
{
	plim_process record;
	char text[128];

	(void)state;
	sample_record(&record);
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);
		int is_text = field->kind == PLIM_KIND_TEXT;

		snprintf(text, sizeof(text), "%s %s not known(%s)", field->name,
			 is_text ? "~ * or" : ">= 0 or", field->name);
		assert_int_equal(judge(text, &record, NULL), T);
		if (field->kind != PLIM_KIND_COUNTER)
			continue;
		snprintf(text, sizeof(text), "known(%s_per_second)",
			 field->name);
		assert_int_equal(judge(text, &record, NULL), F);
	}
}

static void failing_allocations(void **state)
{
	static const char text[] =
	    "pid=1 or pid=2 or pid=3 or pid=4 or pid=5 or pid=6 or name ~ w* "
	    "or known(uid) and cpu_percent > 5%";
	int code = PLIM_ENOMEM;
	long k;

	(void)state;
	for (k = 1; code != PLIM_OK; k++) {
		struct sample_memory memory = {0, k, 0};
		plim_allocator allocator = sample_allocator(&memory);
		plim_filter *filter = NULL;
		plim_error error = {0};

		code = plim_filter_new(&filter, text, &allocator, &error);
		if (code != PLIM_OK) {
			assert_int_equal(code, PLIM_ENOMEM);
			assert_int_equal(error.code, PLIM_ENOMEM);
			assert_null(filter);
		}
		plim_filter_free(filter);
		assert_int_equal(memory.held, 0);
	}
	assert_true(k > 4); /* the filter, its steps, two times more of them */
}

static void errors_leave_success_alone(void **state)
{
	plim_filter *filter = NULL;
	plim_error error = {0};

	(void)state;
	error.code = 77;
	assert_int_equal(plim_filter_new(&filter, "pid = 1", NULL, &error),
			 PLIM_OK);
	assert_int_equal(error.code, 77);
	assert_int_equal(plim_filter_match(filter, NULL, NULL), U);
	plim_filter_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers),
	    cmocka_unit_test(signed_numbers),
	    cmocka_unit_test(numbers_above_2_53),
	    cmocka_unit_test(bounds),
	    cmocka_unit_test(kleene),
	    cmocka_unit_test(precedence),
	    cmocka_unit_test(known),
	    cmocka_unit_test(texts),
	    cmocka_unit_test(hostile_names),
	    cmocka_unit_test(pattern_is_cheap),
	    cmocka_unit_test(rates),
	    cmocka_unit_test(rate_bounds),
	    cmocka_unit_test(mistakes),
	    cmocka_unit_test(limits),
	    cmocka_unit_test(deepest_stack),
	    cmocka_unit_test(selectors),
	    cmocka_unit_test(selectors_of_none),
	    cmocka_unit_test(removed_group),
	    cmocka_unit_test(a_container_by_name),
	    cmocka_unit_test(users),
	    cmocka_unit_test(many_units),
	    cmocka_unit_test(time_per_second),
	    cmocka_unit_test(fields_and_rates),
	    cmocka_unit_test(every_field),
	    cmocka_unit_test(failing_allocations),
	    cmocka_unit_test(errors_leave_success_alone),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
