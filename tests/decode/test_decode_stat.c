/*
 * test_decode_stat.c - /proc/PID/stat: recorded processes and threads, names
 * that try to be fields, old kernels, cut texts, numbers at the edges.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define BLOCK_IO PLIMP_STAT_BLOCK_IO
#define CODE	 (PLIMP_STAT_EXIT_CODE | BLOCK_IO)
#define ALL	 (PLIMP_STAT_ARGUMENTS | CODE | PLIMP_STAT_STACK)

/* Decodes; on failure the output must be as it was. */
static int decode(plim_bytes text, struct plimp_stat *stat)
{
	struct plimp_stat poison;

	memset(&poison, 0xa5, sizeof(poison));
	memcpy(stat, &poison, sizeof(poison));
	int result = plimp_decode_stat(text, stat);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(stat, &poison, sizeof(poison));
	}
	return result;
}

static void must_fail(const char *string)
{
	plim_bytes text = text_string(string);
	struct plimp_stat stat;

	if (!decode(text, &stat))
		fail_msg("taken: %s", string);
	text_free(text);
}

static void test_worker(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-stat/worker");
	struct plimp_stat stat;

	(void)state;
	assert_int_equal(decode(text, &stat), PLIM_OK);
	assert_int_equal(stat.pid, 16767);
	assert_true(text_is(stat.name, "worker"));
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.ppid, 16726);
	assert_int_equal(stat.flags, 4194304);
	assert_int_equal(stat.faults_minor, 19167);
	assert_int_equal(stat.faults_major, 0);
	assert_int_equal(stat.user_ticks, 155);
	assert_int_equal(stat.system_ticks, 11);
	assert_int_equal(stat.children_user_ticks, 122);
	assert_int_equal(stat.children_system_ticks, 1);
	assert_int_equal(stat.nice, 10);
	assert_int_equal(stat.threads, 5);
	assert_int_equal(stat.start_ticks, 132174);
	assert_int_equal(stat.has, ALL);
	assert_int_equal(stat.block_io_ticks, 0);
	assert_true(stat.stack_start == 140733770492400u);
	assert_true(stat.arguments_start == 140733770499702u);
	assert_true(stat.arguments_end == 140733770500308u);
	assert_int_equal(stat.exit_code, 0);
	text_free(text);
}

static void test_recorded(void **state)
{
	/* clang-format off */
	static const struct {
		const char *file;
		const char *name;
		int32_t pid, ppid;
		char state;
		uint64_t start, threads;
		uint32_t has;
		int32_t exit_code;
		int kernel_thread;
	} rows[] = {
		{"kthreadd", "kthreadd", 2, 0, 'S', 6, 1, CODE, 0, 1},
		{"kworker", "rcu_exp_par_gp_kthread_worker/0", 16, 2, 'S', 6,
		 1, CODE, 0, 1},
		{"thread", "python3", 16771, 16726, 'S', 132192, 5, ALL, 0, 0},
		{"worker-as-nobody", "worker", 16767, 16726, 'S', 132174, 5, CODE,
		 0, 0},
		{"user-1000", "sleep", 16776, 16726, 'S', 132478, 1, ALL, 0, 0},
		{"zombie", "sh", 16777, 16726, 'Z', 132508, 1, CODE, 3 << 8, 0},
		{"zombie-killed", "sh", 16778, 16726, 'Z', 132539, 1, CODE, 9, 0},
		{"name-spaces", " two  blanks ", 16779, 16726, 'S', 132569, 1,
		 ALL, 0, 0},
		{"name-parentheses", "a) R 1\n2 (", 16780, 16726, 'S', 132569,
		 1, ALL, 0, 0},
		{"name-close", ")))", 16781, 16726, 'S', 132569, 1, ALL, 0, 0},
		{"name-open", "(((", 16782, 16726, 'S', 132570, 1, ALL, 0, 0},
		{"name-newline", "a\nPid:\t1\nb", 16783, 16726, 'S', 132570, 1,
		 ALL, 0, 0},
		{"name-escapes", "\x1b[31mred\x1b[0m\x07", 16784, 16726, 'S',
		 132570, 1, ALL, 0, 0},
		{"name-half-utf8", "half \xe2\x82", 16785, 16726, 'S', 132570,
		 1, ALL, 0, 0},
		{"name-0xff", "\xff\xff\xff\xff", 16786, 16726, 'S', 132571, 1,
		 ALL, 0, 0},
		{"name-empty", "", 16787, 16726, 'S', 132571, 1, ALL, 0, 0},
		{"name-backslash", "a\\n\\b", 16788, 16726, 'S', 132571, 1, ALL,
		 0, 0},
		{"name-stat", "1 (x) S 1 1 1 1", 16789, 16726, 'S', 132572, 1,
		 ALL, 0, 0},
		{"name-blank", "               ", 16790, 16726, 'S', 132572, 1,
		 ALL, 0, 0},
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char file[128];
		struct plimp_stat stat;
		snprintf(file, sizeof(file), "linux-6.18-stat/%s",
			 rows[i].file);
		plim_bytes text = text_fixture(file);
		assert_int_equal(decode(text, &stat), PLIM_OK);
		assert_int_equal(stat.pid, rows[i].pid);
		assert_true(text_is(stat.name, rows[i].name));
		assert_int_equal(stat.ppid, rows[i].ppid);
		assert_int_equal(stat.state, rows[i].state);
		assert_int_equal(stat.start_ticks, rows[i].start);
		assert_int_equal(stat.threads, rows[i].threads);
		assert_int_equal(stat.has, rows[i].has);
		assert_int_equal(stat.exit_code, rows[i].exit_code);
		assert_int_equal(!!(stat.flags & PLIMP_STAT_KERNEL_THREAD),
				 rows[i].kernel_thread);
		text_free(text);
	}
}

static void test_fields(void **state)
{
	static const struct {
		const char *file;
		int result;
		uint32_t has;
	} rows[] = {
	    {"synthetic-stat/fields-60", PLIM_OK, ALL},
	    {"synthetic-stat/fields-44", PLIM_OK, PLIMP_STAT_STACK | BLOCK_IO},
	    {"synthetic-stat/fields-22", PLIM_OK, 0},
	    {"synthetic-stat/fields-21", PLIM_EMALFORMED, 0},
	    {"synthetic-stat/start-too-large", PLIM_EMALFORMED, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_fixture(rows[i].file);
		struct plimp_stat stat;
		assert_int_equal(decode(text, &stat), rows[i].result);
		if (!rows[i].result) {
			assert_int_equal(stat.start_ticks, 132174);
			assert_int_equal(stat.has, rows[i].has);
		}
		text_free(text);
	}
}

static void test_largest(void **state)
{
	plim_bytes text = text_fixture("synthetic-stat/largest");
	struct plimp_stat stat;

	(void)state;
	assert_int_equal(decode(text, &stat), PLIM_OK);
	assert_int_equal(stat.pid, INT32_MAX);
	assert_int_equal(stat.ppid, 4194303);
	assert_true(stat.flags == UINT64_MAX);
	assert_true(stat.faults_minor == UINT64_MAX);
	assert_true(stat.faults_major == UINT64_MAX);
	assert_true(stat.user_ticks == UINT64_MAX);
	assert_true(stat.system_ticks == UINT64_MAX);
	assert_true(stat.children_user_ticks == UINT64_MAX);
	assert_true(stat.children_system_ticks == UINT64_MAX);
	assert_int_equal(stat.nice, -20);
	assert_true(stat.threads == UINT64_MAX);
	assert_true(stat.start_ticks == UINT64_MAX);
	text_free(text);
}

/* What stands before field 23, with one part replaced. */
#define REST " 1 1 0 -1 64 1 0 2 0 3 4 5 6 20 0 1 0 9"

static void test_malformed(void **state)
{
	struct plimp_stat stat;
	plim_bytes text = text_string("7 (x) S 1" REST "\n");

	(void)state;
	assert_int_equal(decode(text, &stat), PLIM_OK);
	assert_int_equal(stat.pid, 7);
	assert_int_equal(stat.start_ticks, 9);
	text_free(text);

	must_fail("");
	must_fail("\n");
	must_fail("7");
	must_fail("7 (");
	must_fail("7 (x");
	must_fail("7 (x)");
	must_fail("7 (x) ");
	must_fail("7 (x) S");
	must_fail("7 (x) S 1");
	must_fail("7(x) S 1" REST "\n");
	must_fail("7 x) S 1" REST "\n");
	must_fail("7 (x S 1" REST "\n");
	must_fail(" 7 (x) S 1" REST "\n");
	must_fail("-7 (x) S 1" REST "\n");
	must_fail("x (x) S 1" REST "\n");
	must_fail("2147483648 (x) S 1" REST "\n");
	must_fail("18446744073709551623 (x) S 1" REST "\n");
	must_fail("7 (x)S 1" REST "\n");
	must_fail("7 (x)  1" REST "\n");
	must_fail("7 (x)   1" REST "\n");
	must_fail("S 1" REST "\n");
	must_fail("7 (S 1" REST "\n");
	must_fail("7 (x) SS 1" REST "\n");
	must_fail("7 (x) \xff 1" REST "\n");
	must_fail("7 (x) S -1" REST "\n");
	must_fail("7 (x) S 2147483648" REST "\n");
	must_fail("7 (x) S 1 1 1 0 -1 -64 1 0 2 0 3 4 5 6 20 0 1 0 9\n");
	must_fail("7 (x) S 1 1 1 0 -1 64 1 0 2 0 3 4 -5 6 20 0 1 0 9\n");
	must_fail("7 (x) S 1 1 1 0 -1 64 1 0 2 0 3 4 5 6 20 0 1 0 -9\n");
	must_fail("7 (x) S 1 1 1 0 -1 64 1 0 2 0 3 4 5 6 20 x 1 0 9\n");
	must_fail(
	    "7 (x) S 1 1 1 0 -1 64 1 0 2 0 3 4 5 6 20 2147483648 1 0 9\n");
	must_fail("7 (x) S 1 1 1 0 -1 64 1 0 2 0 3 4 5 6 20 0 1 0 9x\n");
	must_fail("7 (x) S 1 1 1 0 -1 64 1 0 2 0 3 4 5 6 20 0 1 0\n9\n");
	/* The last field was cut: it may have had more digits. */
	must_fail("7 (x) S 1" REST);
}

/* The state is a letter, whichever. */
static void test_state(void **state)
{
	(void)state;
	for (int c = 1; c < 256; c++) {
		char line[128];
		struct plimp_stat stat;
		int letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
		snprintf(line, sizeof(line), "7 (x) %c 1" REST "\n", c);
		plim_bytes text = text_string(line);
		assert_int_equal(decode(text, &stat),
				 letter ? PLIM_OK : PLIM_EMALFORMED);
		if (letter)
			assert_int_equal(stat.state, c);
		text_free(text);
	}
}

/* A blank ends a field that is stepped over, and no other byte does. */
static void test_steps(void **state)
{
	(void)state;
	for (int c = 1; c < 256; c++) {
		char line[128];
		struct plimp_stat stat;
		if (c == '\n' || c == ')') /* ends the line, the name */
			continue;
		snprintf(line, sizeof(line),
			 "7 (x) S 1 aa%c aaaaaaaaa 0 -1 64 1 0 2 0 3 4 5 6 20 "
			 "0 1 0 9\n",
			 c);
		plim_bytes text = text_string(line);
		assert_int_equal(decode(text, &stat),
				 c == ' ' ? PLIM_EMALFORMED : PLIM_OK);
		text_free(text);
	}
}

/* So does each of several in a row: fields 29 to 47, so many of them empty. */
static void test_empty_fields(void **state)
{
	(void)state;
	for (int empty = 0; empty <= 19; empty++) {
		char line[256] = "7 (x) S 1" REST " 1 2 3 4 5 6";
		struct plimp_stat stat;
		for (int field = 0; field < 19; field++)
			strcat(line, field < empty ? " " : " 1");
		strcat(line, " 10 20 30 40 5\n");
		plim_bytes text = text_string(line);
		assert_int_equal(decode(text, &stat), PLIM_OK);
		assert_int_equal(stat.has & ~(uint32_t)PLIMP_STAT_BLOCK_IO,
				 PLIMP_STAT_ARGUMENTS | PLIMP_STAT_EXIT_CODE |
				     PLIMP_STAT_STACK);
		assert_true(stat.arguments_start == 10);
		assert_int_equal(stat.exit_code, 5);
		text_free(text);
	}
}

#define NO_CODE	     (PLIMP_STAT_ARGUMENTS | PLIMP_STAT_STACK | BLOCK_IO)
#define NO_ARGUMENTS (PLIMP_STAT_EXIT_CODE | PLIMP_STAT_STACK | BLOCK_IO)
#define NO_TAIL	     (PLIMP_STAT_STACK | BLOCK_IO)

/* Fields 23 to 47, then 48, 49 and the rest. */
#define MIDDLE " 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7"

static void test_tail(void **state)
{
	static const struct {
		const char *tail;
		uint32_t has;
		int32_t exit_code;
	} rows[] = {
	    {" 10 20 30 40 -9\n", ALL, -9},
	    {" 10 20 30 40 0\n", ALL, 0},
	    {" 10 20 30 40 2147483647\n", ALL, INT32_MAX},
	    {" 10 20 30 40 -2147483648\n", ALL, INT32_MIN},
	    {" 10 20 30 40 2147483648\n", NO_CODE, 0},
	    {" 10 20 30 40 -2147483649\n", NO_CODE, 0},
	    {" 10 20 30 40 5", NO_CODE, 0},
	    {" 10 20 30 40 x\n", NO_CODE, 0},
	    {" 10 20 30 40\n", NO_CODE, 0},
	    {" 10 20\n", NO_CODE, 0},
	    {" 10 20", NO_TAIL, 0},
	    {" 0 20 30 40 5\n", NO_ARGUMENTS, 5},
	    {" 10 0 30 40 5\n", NO_ARGUMENTS, 5},
	    {" -1 20 30 40 5\n", NO_TAIL, 0},
	    {" 18446744073709551616 20 30 40 5\n", NO_TAIL, 0},
	    {"\n10 20 30 40 5\n", NO_TAIL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[512];
		struct plimp_stat stat;
		snprintf(line, sizeof(line), "7 (x) S 1" REST MIDDLE "%s",
			 rows[i].tail);
		plim_bytes text = text_string(line);
		assert_int_equal(decode(text, &stat), PLIM_OK);
		assert_int_equal(stat.has, rows[i].has);
		assert_int_equal(stat.exit_code, rows[i].exit_code);
		assert_true(stat.stack_start == 6);
		assert_true(stat.arguments_start == (stat.has & 1 ? 10 : 0));
		assert_true(stat.arguments_end == (stat.has & 1 ? 20 : 0));
		text_free(text);
	}
}

/* Field 28 is told on its own, and not if it is 0 or was cut. */
static void test_stack(void **state)
{
	static const struct {
		const char *tail;
		uint32_t has;
		uint64_t stack;
	} rows[] = {
	    {" 1 2 3 4 5 6 7\n", PLIMP_STAT_STACK, 6},
	    {" 1 2 3 4 5 6\n", PLIMP_STAT_STACK, 6},
	    {" 1 2 3 4 5 6", 0, 0},
	    {" 1 2 3 4 5 0 7\n", 0, 0},
	    {" 1 2 3 4 5 -6 7\n", 0, 0},
	    {" 1 2 3 4 5\n6 7\n", 0, 0},
	    {" 1 2 3 4 5 18446744073709551615\n", PLIMP_STAT_STACK, UINT64_MAX},
	    {" 1 2 3 4 5 18446744073709551616\n", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[512];
		struct plimp_stat stat;
		snprintf(line, sizeof(line), "7 (x) S 1" REST "%s",
			 rows[i].tail);
		plim_bytes text = text_string(line);
		assert_int_equal(decode(text, &stat), PLIM_OK);
		assert_int_equal(stat.has, rows[i].has);
		assert_true(stat.stack_start == rows[i].stack);
		text_free(text);
	}
}

/* Field 42 is told on its own, and the ones behind it without it. */
static void test_block_io(void **state)
{
	static const struct {
		const char *field;
		uint32_t has;
		uint64_t ticks;
	} rows[] = {
	    {"0", ALL, 0},
	    {"123", ALL, 123},
	    {"18446744073709551615", ALL, UINT64_MAX},
	    {"18446744073709551616", ALL & ~BLOCK_IO, 0},
	    {"-1", ALL & ~BLOCK_IO, 0},
	    {"1x", ALL & ~BLOCK_IO, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[512];
		struct plimp_stat stat;
		snprintf(line, sizeof(line),
			 "7 (x) S 1" REST " 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9"
			 " 1 %s 3 4 5 6 7 10 20 30 40 5\n",
			 rows[i].field);
		plim_bytes text = text_string(line);
		assert_int_equal(decode(text, &stat), PLIM_OK);
		assert_int_equal(stat.has, rows[i].has);
		assert_true(stat.block_io_ticks == rows[i].ticks);
		assert_int_equal(stat.arguments_start, 10);
		assert_int_equal(stat.exit_code, 5);
		text_free(text);
	}
}

/* Every cut of the recorded text is refused, or has the right start tick. */
static void check_prefix(plim_bytes prefix)
{
	struct plimp_stat stat;

	if (decode(prefix, &stat))
		return;
	assert_int_equal(stat.pid, 16780);
	assert_true(text_is(stat.name, "a) R 1\n2 ("));
	assert_int_equal(stat.start_ticks, 132569);
	if (stat.has & PLIMP_STAT_ARGUMENTS) {
		assert_true(stat.arguments_start == 140734659553436u);
		assert_true(stat.arguments_end == 140734659553492u);
	}
}

static void check_any(plim_bytes text)
{
	struct plimp_stat stat;

	if (decode(text, &stat))
		return;
	assert_true(stat.name.data > text.data);
	assert_true(stat.name.data + stat.name.size < text.data + text.size);
	assert_true(stat.pid >= 0 && stat.ppid >= 0);
}

static void check_refused(plim_bytes text)
{
	struct plimp_stat stat;

	assert_int_equal(decode(text, &stat), PLIM_EMALFORMED);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-stat/name-parentheses");

	(void)state;
	text_every_prefix(text, check_prefix);
	text_every_change(text, check_any);
	text_every_nonsense(check_refused);
	text_free(text);
}

/* A name of 1 MiB is no kernel's, and yet no reason to go wrong. */
static void test_long_name(void **state)
{
	plim_bytes text = text_repeat(')', MIB);
	char *data = (char *)(uintptr_t)text.data;
	static const char tail[] = ") S 1" REST "\n";
	struct plimp_stat stat;

	(void)state;
	memcpy(data, "7 (", 3);
	memcpy(data + MIB - (sizeof(tail) - 1), tail, sizeof(tail) - 1);
	assert_int_equal(decode(text, &stat), PLIM_OK);
	assert_int_equal(stat.name.size, MIB - 3 - (sizeof(tail) - 1));
	assert_int_equal(stat.start_ticks, 9);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_worker),
	    cmocka_unit_test(test_recorded),
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_largest),
	    cmocka_unit_test(test_malformed),
	    cmocka_unit_test(test_tail),
	    cmocka_unit_test(test_state),
	    cmocka_unit_test(test_stack),
	    cmocka_unit_test(test_block_io),
	    cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_empty_fields),
	    cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_long_name),
	};

	return cmocka_run_group_tests_name("decode_stat", tests, NULL, NULL);
}
