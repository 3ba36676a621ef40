/*
 * test_perf_map.c - maps of jitted code: what a line names, which line wins
 * where several do, and lines that are made to mislead.
 */
#include "counting.h"
#include "unwind/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct counting counting;

static struct plimp_symbols *map_of(plim_bytes text, int expected)
{
	plim_allocator allocator = counting_allocator(&counting);
	struct plimp_symbols *symbols = NULL;
	plim_error error = {.code = PLIM_OK};

	assert_int_equal(
	    plimp_symbols_perf_map(&symbols, text, &allocator, &error),
	    expected);
	assert_int_equal(error.code, expected);
	if (expected) {
		assert_null(symbols);
		assert_int_equal(counting.live, 0);
	}
	return symbols;
}

static struct plimp_symbols *map_of_text(const char *text, int expected)
{
	return map_of((plim_bytes){text, strlen(text)}, expected);
}

static void drop(struct plimp_symbols *symbols)
{
	plim_allocator allocator = counting_allocator(&counting);

	plimp_symbols_free(symbols, &allocator);
	assert_int_equal(counting.live, 0);
}

static const char *name_at(const struct plimp_symbols *symbols, uint64_t at)
{
	static char text[128];
	struct plimp_symbol symbol;

	if (plimp_symbols_find(symbols, at, &symbol))
		return "";
	assert_int_equal(symbol.source, PLIMP_SYMBOL_PERF_MAP);
	assert_in_range(at, symbol.start, symbol.start + symbol.size - 1);
	assert_true(symbol.name.size < sizeof(text));
	memcpy(text, symbol.name.data, symbol.name.size);
	text[symbol.name.size] = '\0';
	return text;
}

static void test_lines(void **state)
{
	struct plimp_symbols *symbols =
	    map_of_text("7f0000001000 20 LazyCompile:~add /srv/app.js:3\n"
			"0x7F0000001040 0X10 with_prefix\n"
			"7f0000001080\t8   blanks before\n"
			"7f00000010c0 8 \xff\x1b[31m\r\n"
			"10 1 far away\n"
			"ffffffffffffff00 80 the_highest\n",
			PLIM_OK);

	(void)state;
	assert_string_equal(name_at(symbols, 0x7f0000000fff), "");
	assert_string_equal(name_at(symbols, 0x7f0000001000),
			    "LazyCompile:~add /srv/app.js:3");
	assert_string_equal(name_at(symbols, 0x7f000000101f),
			    "LazyCompile:~add /srv/app.js:3");
	assert_string_equal(name_at(symbols, 0x7f0000001020), "");
	assert_string_equal(name_at(symbols, 0x7f000000104f), "with_prefix");
	assert_string_equal(name_at(symbols, 0x7f0000001087), "blanks before");
	assert_string_equal(name_at(symbols, 0x7f00000010c0), "\xff\x1b[31m\r");
	assert_string_equal(name_at(symbols, 0x10), "far away");
	assert_string_equal(name_at(symbols, 0x11), "");
	assert_string_equal(name_at(symbols, 0xffffffffffffff7f),
			    "the_highest");
	assert_string_equal(name_at(symbols, 0xffffffffffffff80), "");
	assert_int_equal(plimp_symbols_facts(symbols).seen, 6);
	assert_int_equal(plimp_symbols_facts(symbols).rejected, 0);
	drop(symbols);
}

static const struct {
	const char *text;
	struct {
		uint64_t at;
		const char *name;
	} truth[8];
} overlaps[] = {
    /* the same place again: the later one, and nothing of the older */
    {"1000 100 old\n1000 40 new\n",
     {{0x1000, "new"}, {0x103f, "new"}, {0x1040, ""}, {0x10ff, ""}}},
    {"1000 40 old\n1000 100 new\n", {{0x1000, "new"}, {0x10ff, "new"}}},
    /* the older one's beginning is gone: so is its end */
    {"1040 100 old\n1000 80 new\n",
     {{0x1000, "new"}, {0x107f, "new"}, {0x1080, ""}, {0x113f, ""}}},
    /* its beginning stands: so does what is left */
    {"1000 100 old\n1080 100 new\n",
     {{0x1000, "old"}, {0x107f, "old"}, {0x1080, "new"}, {0x117f, "new"}}},
    {"1000 100 region\n1040 20 stub\n",
     {{0x103f, "region"},
      {0x1040, "stub"},
      {0x105f, "stub"},
      {0x1060, "region"},
      {0x10ff, "region"},
      {0x1100, ""}}},
    /* a region that is told after its stubs replaces them */
    {"1040 20 stub\n1000 100 region\n",
     {{0x1000, "region"}, {0x1040, "region"}, {0x10ff, "region"}}},
    /* C took B's beginning: B is gone, and what B took of A is not A's */
    {"1000 100 a\n1050 100 b\n1040 20 c\n",
     {{0x1000, "a"},
      {0x103f, "a"},
      {0x1040, "c"},
      {0x105f, "c"},
      {0x1060, ""},
      {0x10a0, ""},
      {0x114f, ""}}},
    /* three times at one place */
    {"1000 10 one\n1000 30 two\n1000 20 three\n",
     {{0x1000, "three"}, {0x101f, "three"}, {0x1020, ""}}},
};

static void test_overlaps(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(overlaps) / sizeof(*overlaps); i++) {
		struct plimp_symbols *symbols =
		    map_of_text(overlaps[i].text, PLIM_OK);

		for (size_t k = 0; k < 8 && overlaps[i].truth[k].name; k++)
			assert_string_equal(
			    name_at(symbols, overlaps[i].truth[k].at),
			    overlaps[i].truth[k].name);
		drop(symbols);
	}
}

/* Malformed lines name nothing, and take nothing from the others. */
static void test_malformed(void **state)
{
	static const char *const bad[] = {
	    "",
	    "\n",
	    "garbage\n",
	    "1000\n",
	    "1000 10\n",
	    "1000 10 \n",
	    "1000 0 empty\n",
	    "g000 10 digit\n",
	    "1000 1g digit\n",
	    "10000000000000000 10 too_wide\n",
	    "1000 100000000 too_large\n",
	    "ffffffffffffffff 10 wraps\n",
	    "-1000 10 sign\n",
	    " 1000 10 blank_first\n",
	    "0x 10 no_digit\n",
	    "1000 10 being_written",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char text[256];
		struct plimp_symbols *symbols;

		map_of_text(bad[i], PLIM_ENAME);
		snprintf(text, sizeof(text), "1000 4 good\n%s", bad[i]);
		symbols = map_of_text(text, PLIM_OK);
		assert_string_equal(name_at(symbols, 0x1000), "good");
		assert_string_equal(name_at(symbols, 0x1004), "");
		assert_int_equal(plimp_symbols_facts(symbols).pieces, 1);
		assert_int_equal(plimp_symbols_facts(symbols).rejected,
				 bad[i][0] ? 1 : 0);
		drop(symbols);
	}
	map_of((plim_bytes){"1000 10 a\0b\n", 12}, PLIM_ENAME);
	map_of((plim_bytes){NULL, 0}, PLIM_ENAME);
}

/* Beyond a bound there is no name at all: the newest lines would be lost. */
static void test_bounds(void **state)
{
	size_t size = (size_t)PLIMP_PERF_MAP_LINE + 2;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	memcpy(text, "1000 10 ", 8);
	text[size - 1] = '\n';
	map_of((plim_bytes){text, size}, PLIM_ELIMIT);
	/* One byte less is let through. */
	struct plimp_symbol symbol;
	struct plimp_symbols *symbols;

	text[size - 2] = '\n';
	symbols = map_of((plim_bytes){text, size - 1}, PLIM_OK);
	assert_int_equal(plimp_symbols_find(symbols, 0x1000, &symbol), PLIM_OK);
	assert_int_equal(symbol.name.size, size - 2 - 8);
	drop(symbols);
	free(text);
	map_of((plim_bytes){"", (size_t)PLIMP_PERF_MAP_BYTES + 1}, PLIM_ELIMIT);

	size_t lines = (size_t)PLIMP_PERF_MAP_LINES + 1;

	text = malloc(lines);
	assert_non_null(text);
	memset(text, '\n', lines);
	map_of((plim_bytes){text, lines}, PLIM_ELIMIT);
	free(text);
}

/* A tower of ranges, each inside of the one before and told later, and then
 * each around the one before: what is on top has the name. */
static void test_towers(void **state)
{
	enum { HIGH = 1000 };
	char *text = malloc(HIGH * 40);
	size_t size = 0;
	char name[16];

	(void)state;
	assert_non_null(text);
	for (unsigned i = 0; i < HIGH; i++)
		size += (size_t)sprintf(text + size, "%x %x f%u\n", 0x10000 + i,
					2 * (HIGH - i), i);
	struct plimp_symbols *symbols = map_of((plim_bytes){text, size}, 0);

	for (unsigned i = 0; i < HIGH; i++) {
		sprintf(name, "f%u", i);
		assert_string_equal(name_at(symbols, 0x10000 + i), name);
		assert_string_equal(
		    name_at(symbols, 0x10000 + 2 * HIGH - 1 - i), name);
	}
	assert_string_equal(name_at(symbols, 0x10000 + 2 * HIGH), "");
	drop(symbols);
	size = 0;
	for (unsigned i = HIGH; i-- > 0;)
		size += (size_t)sprintf(text + size, "%x %x f%u\n", 0x10000 + i,
					2 * (HIGH - i), i);
	symbols = map_of((plim_bytes){text, size}, 0);
	for (unsigned i = 0; i < 2 * HIGH; i++)
		assert_string_equal(name_at(symbols, 0x10000 + i), "f0");
	drop(symbols);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),     cmocka_unit_test(test_overlaps),
	    cmocka_unit_test(test_malformed), cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_towers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
