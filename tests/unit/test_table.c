/*
 * test_table.c - tables for people byte by byte, and the width of text.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sample.h"

static plim_table *start(void)
{
	plim_table *table = NULL;

	assert_int_equal(plim_table_new(&table, NULL, NULL), PLIM_OK);
	return table;
}

static void text(plim_table *table, const char *string)
{
	plim_table_text(table, sample_bytes(string));
}

static void expect(plim_table *table, size_t width, int header,
		   const char *expected)
{
	static struct sample_output output;

	memset(&output, 0, sizeof(output));
	assert_int_equal(
	    plim_table_print(table, width, header, sample_write, &output, NULL),
	    PLIM_OK);
	assert_string_equal(output.text, expected);
}

static void widths(void **state)
{
	static const struct {
		const char *text;
		size_t width;
	} rows[] = {
	    {"", 0},
	    {"plain", 5},
	    {"\xc3\xa9t\xc3\xa9", 3},
	    {"e\xcc\x81", 1},		     /* e, combining acute */
	    {"\xe4\xb8\xad\xe6\x96\x87", 4}, /* two ideographs */
	    {"\xef\xbc\xa1", 2},	     /* fullwidth A */
	    {"\xef\xbd\xb1", 1},	     /* halfwidth katakana */
	    {"\xf0\x9f\x98\x80", 2},	     /* an emoji */
	    {"\xf0\xa0\x80\x80", 2},	     /* plane 2 */
	    {"\xea\xb0\x80", 2},	     /* a Hangul syllable */
	    {"\xe1\x84\x80\xe1\x85\xa1", 2}, /* the same in two letters */
	    {"\xe2\x80\x8b", 0},	     /* zero width space */
	    {"\xe2\x89\xa5", 1},	     /* at least */
	    {"\xe2\x9d\xa4\xef\xb8\x8f", 1}, /* heart, variation selector */
	    {"\xd7\x91\xd6\xb0", 1},	     /* Hebrew with a point */
	    {"\xf3\xa0\x84\x80", 0},	     /* variation selector 17 */
	    {"\xef\xbf\xbd", 1},
	    {"\xff\xc3", 2},		 /* stray bytes */
	    {"\x01\x1b\x7f\xc2\x9b", 0}, /* controls */
	    {"\xe1\x84\x80", 2},	 /* first and last of the tables */
	    {"\xcc\x80", 0},
	    {"\xf0\xaf\xbf\xbd\xf0\xbf\xbf\xbd", 4},
	    {"\xf3\xa0\x87\xaf", 0},
	    {"\xf3\xa0\x87\xb0", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (plim_text_width(sample_bytes(rows[i].text)) !=
		    rows[i].width)
			fail_msg("row %zu: %zu", i,
				 plim_text_width(sample_bytes(rows[i].text)));
}

static void below_zero(void **state)
{
	plim_table *table = start();

	(void)state;
	plim_table_column(table, "NICE", 1);
	plim_table_count(
	    table, plim_count_known((uint64_t)(int64_t)-20, PLIM_METHOD_STAT),
	    PLIM_UNIT_SIGNED);
	plim_table_count(table, plim_count_known(5, PLIM_METHOD_STAT),
			 PLIM_UNIT_SIGNED);
	plim_table_count(table, plim_count_missing(PLIM_REASON_ENDED, 3),
			 PLIM_UNIT_SIGNED);
	expect(table, 0, 1, "NICE\n -20\n   5\n   -\n");
	plim_table_free(table);
}

static void columns_fit_their_content(void **state)
{
	plim_table *table = start();

	(void)state;
	plim_table_column(table, "PID", 1);
	plim_table_column(table, "NAME", 0);
	plim_table_column(table, "RESIDENT", 1);
	plim_table_column(table, "STATE", 0);
	plim_table_count(table, plim_count_known(7, PLIM_METHOD_LISTING),
			 PLIM_UNIT_ID);
	text(table, "a long name");
	plim_table_count(table,
			 plim_count_known(UINT64_C(3) << 19, PLIM_METHOD_STATM),
			 PLIM_UNIT_BYTES);
	text(table, "S");
	plim_table_count(table, plim_count_known(4194304, PLIM_METHOD_LISTING),
			 PLIM_UNIT_ID);
	text(table, "\xe4\xb8\xad\xe6\x96\x87");
	plim_table_count(table,
			 plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13),
			 PLIM_UNIT_BYTES);
	text(table, "R");
	expect(table, 0, 1,
	       "    PID  NAME         RESIDENT  STATE\n"
	       "      7  a long name   1.5 MiB  S\n"
	       "4194304  \xe4\xb8\xad\xe6\x96\x87                -  R\n");
	/* Without titles they take no room. */
	expect(table, 0, 0,
	       "      7  a long name  1.5 MiB  S\n"
	       "4194304  \xe4\xb8\xad\xe6\x96\x87               -  R\n");
	plim_table_clear(table);
	expect(table, 0, 1, "PID  NAME  RESIDENT  STATE\n");
	text(table, "1");
	text(table, "x");
	expect(table, 0, 1,
	       "PID  NAME  RESIDENT  STATE\n"
	       "  1  x\n");
	plim_table_free(table);
}

static void no_blanks_at_the_end(void **state)
{
	plim_table *table = start();

	(void)state;
	plim_table_column(table, "A", 0);
	plim_table_column(table, "", 0);
	text(table, "long one");
	text(table, "  ");
	text(table, "b");
	text(table, "");
	text(table, " c ");
	text(table, "d  ");
	text(table, "");
	text(table, "");
	text(table, "e");
	expect(table, 0, 1,
	       "A\n"
	       "long one\n"
	       "b\n"
	       " c        d\n"
	       "\n"
	       "e\n");
	plim_table_free(table);
}

static void marks_of_bounds(void **state)
{
	plim_table *table = start();
	plim_count least =
	    plim_count_bounded(5, PLIM_METHOD_THREAD_SUM, PLIM_BOUND_AT_LEAST);
	plim_real most = plim_real_known(2, PLIM_METHOD_STAT);

	(void)state;
	most.bound = PLIM_BOUND_AT_MOST;
	plim_table_column(table, "N", 1);
	plim_table_column(table, "M", 1);
	plim_table_count(table, least, PLIM_UNIT_NONE);
	plim_table_real(table, most, PLIM_UNIT_PERCENT);
	plim_table_ascii(table, 1);
	plim_table_count(table, least, PLIM_UNIT_NONE);
	plim_table_real(table, most, PLIM_UNIT_PERCENT);
	plim_table_count(table, plim_count_known(1, PLIM_METHOD_STAT),
			 PLIM_UNIT_NONE);
	plim_table_real(table, plim_real_missing(PLIM_REASON_FIRST_SAMPLE, 0),
			PLIM_UNIT_PERCENT);
	expect(table, 0, 1,
	       "  N      M\n"
	       " \xe2\x89\xa5"
	       "5   \xe2\x89\xa4"
	       "2 %\n"
	       ">=5  <=2 %\n"
	       "  1      -\n");
	plim_table_free(table);
}

static void hostile_cells(void **state)
{
	plim_table *table = start();

	(void)state;
	plim_table_column(table, "NAME", 0);
	plim_table_column(table, "\x1b", 0);
	text(table, "a\n\x1b[2J\xff\xc3\\\xe2\x80\xae");
	text(table, "x");
	plim_table_ascii(table, 1);
	text(table, "\xc3\xa9");
	text(table, "y");
	expect(table, 0, 1,
	       "NAME                                  \\x1b\n"
	       "a\\x0a\\x1b[2J\\xff\\xc3\\x5c\\xe2\\x80\\xae  x\n"
	       "\\xc3\\xa9                              y\n");
	plim_table_free(table);
}

/* A line is cut at a column; a wide character is not halved, and a combining
 * one stays with its base. */
static void cut_to_width(void **state)
{
	plim_table *table = start();

	(void)state;
	plim_table_column(table, "A", 0);
	plim_table_column(table, "B", 0);
	text(table, "\xe4\xb8\xad\xe6\x96\x87");
	text(table, "e\xcc\x81z");
	expect(table, 0, 0, "\xe4\xb8\xad\xe6\x96\x87  e\xcc\x81z\n");
	expect(table, 8, 0, "\xe4\xb8\xad\xe6\x96\x87  e\xcc\x81z\n");
	expect(table, 7, 0, "\xe4\xb8\xad\xe6\x96\x87  e\xcc\x81\n");
	expect(table, 6, 0, "\xe4\xb8\xad\xe6\x96\x87\n");
	expect(table, 5, 0, "\xe4\xb8\xad\xe6\x96\x87\n");
	expect(table, 4, 0, "\xe4\xb8\xad\xe6\x96\x87\n");
	expect(table, 3, 0, "\xe4\xb8\xad\n");
	expect(table, 2, 0, "\xe4\xb8\xad\n");
	expect(table, 1, 0, "\n");
	expect(table, 3, 1, "A\n\xe4\xb8\xad\n");
	plim_table_free(table);
}

/* Plain words are cut where the width ends, too, not left out whole. */
static void cut_inside_a_word(void **state)
{
	static const char whole[] = "abc  de fg";
	plim_table *table = start();

	(void)state;
	plim_table_column(table, "", 0);
	plim_table_column(table, "", 0);
	text(table, "abc");
	text(table, "de fg");
	for (size_t width = 1; width <= sizeof(whole); width++) {
		char line[sizeof(whole) + 1];
		size_t size = width < sizeof(whole) ? width : sizeof(whole) - 1;

		memcpy(line, whole, size);
		while (line[size - 1] == ' ')
			size--;
		memcpy(line + size, "\n", 2);
		expect(table, width, 0, line);
	}
	plim_table_free(table);
}

/* Nothing that would fit later is written after what did not fit. */
static void cut_ends_the_line(void **state)
{
	plim_table *table = start();

	(void)state;
	plim_table_column(table, "", 0);
	plim_table_column(table, "", 0);
	text(table, "ab\xe4\xb8\xad");
	text(table, "");
	text(table, "a");
	text(table, "bc");
	expect(table, 3, 0, "ab\na\n");
	plim_table_free(table);
}

static void misuse(void **state)
{
	static struct sample_output output;
	plim_table *table = start();
	plim_error error = {0};

	(void)state;
	text(table, "a cell without a column");
	assert_int_equal(
	    plim_table_print(table, 0, 1, sample_write, &output, &error),
	    PLIM_EINVAL);
	plim_table_clear(table);
	plim_table_column(table, "A", 0);
	expect(table, 0, 1, "A\n");
	text(table, "x");
	plim_table_column(table, "B", 0);
	assert_int_equal(
	    plim_table_print(table, 0, 1, sample_write, &output, &error),
	    PLIM_EINVAL);
	assert_int_equal(error.code, PLIM_EINVAL);
	assert_int_equal(plim_table_print(table, 0, 1, NULL, NULL, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_table_new(NULL, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(output.calls, 0);
	plim_table_free(table);
	plim_table_free(NULL);
}

static void failing_output(void **state)
{
	static struct sample_output output;

	(void)state;
	for (int at = 1; at <= 2; at++) {
		plim_table *table = start();
		plim_error error = {0};

		memset(&output, 0, sizeof(output));
		output.fail_at = at;
		output.fail_with = 32;
		plim_table_column(table, "A", 0);
		for (int i = 0; i < 3000; i++)
			text(table, "abc");
		assert_int_equal(plim_table_print(table, 0, 1, sample_write,
						  &output, &error),
				 PLIM_EOUTPUT);
		assert_int_equal(error.code, PLIM_EOUTPUT);
		assert_int_equal(error.system, 32);
		assert_int_equal(output.calls, at);
		/* The table is still good. */
		output.fail_at = 0;
		output.size = 0;
		assert_int_equal(
		    plim_table_print(table, 0, 1, sample_write, &output, NULL),
		    PLIM_OK);
		assert_int_equal(output.size, 2 + 3000 * 4);
		plim_table_free(table);
	}
}

static void fill(plim_table *table)
{
	char title[] = "COLUMN ?";

	for (int i = 0; i < 40; i++) {
		title[7] = (char)('0' + i);
		plim_table_column(table, title, i & 1);
	}
	for (int i = 0; i < 400; i++)
		plim_table_count(
		    table,
		    plim_count_known((uint64_t)i * 1000003, PLIM_METHOD_STAT),
		    PLIM_UNIT_BYTES);
}

/* With any one allocation missing, the table says so and prints nothing; with
 * all of them it prints what it would otherwise. */
static void failing_allocations(void **state)
{
	static struct sample_output whole, output;
	plim_table *table = start();
	int code = PLIM_ENOMEM;
	long k;

	(void)state;
	fill(table);
	memset(&whole, 0, sizeof(whole));
	assert_int_equal(
	    plim_table_print(table, 0, 1, sample_write, &whole, NULL), PLIM_OK);
	plim_table_free(table);
	for (k = 1; code != PLIM_OK; k++) {
		struct sample_memory memory = {0, k, 0};
		plim_allocator allocator = sample_allocator(&memory);
		plim_error error = {0};

		table = NULL;
		memset(&output, 0, sizeof(output));
		code = plim_table_new(&table, &allocator, &error);
		if (code == PLIM_OK) {
			fill(table);
			code = plim_table_print(table, 0, 1, sample_write,
						&output, &error);
		}
		assert_true(code == PLIM_OK || code == PLIM_ENOMEM);
		assert_int_equal(error.code, code);
		if (code == PLIM_OK)
			assert_string_equal(output.text, whole.text);
		else
			assert_int_equal(output.calls, 0);
		plim_table_free(table);
		assert_int_equal(memory.held, 0);
	}
	assert_true(k > 8);
}

/* A lost cell is forgotten with its rows. */
static void recovery(void **state)
{
	struct sample_memory memory = {0, 0, 0};
	plim_allocator allocator = sample_allocator(&memory);
	plim_table *table = NULL;
	static struct sample_output output;

	(void)state;
	assert_int_equal(plim_table_new(&table, &allocator, NULL), PLIM_OK);
	plim_table_column(table, "A", 0);
	memory.fail_at = memory.calls + 1;
	text(table, "lost");
	text(table, "kept out, too");
	assert_int_equal(
	    plim_table_print(table, 0, 1, sample_write, &output, NULL),
	    PLIM_ENOMEM);
	plim_table_clear(table);
	text(table, "x");
	expect(table, 0, 1, "A\nx\n");
	plim_table_free(table);
	assert_int_equal(memory.held, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(widths),
	    cmocka_unit_test(columns_fit_their_content),
	    cmocka_unit_test(below_zero),
	    cmocka_unit_test(no_blanks_at_the_end),
	    cmocka_unit_test(marks_of_bounds),
	    cmocka_unit_test(hostile_cells),
	    cmocka_unit_test(cut_to_width),
	    cmocka_unit_test(cut_inside_a_word),
	    cmocka_unit_test(cut_ends_the_line),
	    cmocka_unit_test(misuse),
	    cmocka_unit_test(failing_output),
	    cmocka_unit_test(failing_allocations),
	    cmocka_unit_test(recovery),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
