/*
 * test_decode_maps.c - a line of maps: addresses, permissions, device and a
 * name that may be anything; and the one escape that the kernel writes.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static int decode(plim_bytes line, struct plimp_map *map)
{
	struct plimp_map poison;

	memset(&poison, 0xa5, sizeof(poison));
	memcpy(map, &poison, sizeof(poison));
	int result = plimp_decode_map(line, map);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(map, &poison, sizeof(poison));
	} else {
		assert_true(map->start < map->end);
	}
	return result;
}

static void test_recorded(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-maps/python");
	uint64_t least = 0;
	size_t lines = 0, at = 0;
	int odd = 0;

	(void)state;
	while (at < text.size) {
		const char *end = memchr(text.data + at, '\n', text.size - at);
		plim_bytes line =
		    text_copy(text.data + at, (size_t)(end - text.data) - at);
		struct plimp_map map;

		assert_int_equal(decode(line, &map), PLIM_OK);
		assert_true(map.start >= least);
		least = map.end;
		lines++;
		if (text_is(map.name,
			    "/tmp/plim fixture/odd\\012name (deleted)")) {
			char name[64];
			size_t size = plimp_decode_map_name(map.name, name);

			assert_int_equal(map.permissions, PLIMP_MAP_READ |
							      PLIMP_MAP_WRITE |
							      PLIMP_MAP_SHARED);
			assert_int_equal(map.end - map.start, 4096);
			assert_true(map.device == (uint64_t)0xfe << 32);
			assert_true(map.inode > 0);
			assert_true(
			    text_is((plim_bytes){name, size},
				    "/tmp/plim fixture/odd\nname (deleted)"));
			odd++;
		}
		at += line.size + 1;
		text_free(line);
	}
	assert_int_equal(lines, 18);
	assert_int_equal(odd, 1);
	text_free(text);
}

static void test_lines(void **state)
{
	static const struct {
		const char *line;
		int result;
		const char *name;
	} rows[] = {
	    {"00400000-0040b000 r-xp 00000000 08:01 131105     /bin/cat",
	     PLIM_OK, "/bin/cat"},
	    {"1-2 ---p 0 0:0 0", PLIM_OK, ""},
	    {"1-2 ---p 0 0:0 0 ", PLIM_OK, ""},
	    {"1-2 ---s 0 0:0 0  a b  ", PLIM_OK, "a b  "},
	    {"0-ffffffffffffffff rwxs ffffffffffffffff ffffffff:ffffffff "
	     "18446744073709551615 [x]",
	     PLIM_OK, "[x]"},
	    {"", PLIM_EMALFORMED, NULL},
	    {"2-1 ---p 0 0:0 0", PLIM_EMALFORMED, NULL},
	    {"1-1 ---p 0 0:0 0", PLIM_EMALFORMED, NULL},
	    {"A-B ---p 0 0:0 0", PLIM_EMALFORMED, NULL},
	    {"1-10000000000000000 ---p 0 0:0 0", PLIM_EMALFORMED, NULL},
	    {"1-2 ---q 0 0:0 0", PLIM_EMALFORMED, NULL},
	    {"1-2 w--p 0 0:0 0", PLIM_EMALFORMED, NULL},
	    {"1-2 ---p 0 00 0", PLIM_EMALFORMED, NULL},
	    {"1-2 ---p 0 100000000:0 0", PLIM_EMALFORMED, NULL},
	    {"1-2 ---p 0 0:0", PLIM_EMALFORMED, NULL},
	    {"1-2 ---p 0 0:0 18446744073709551616", PLIM_EMALFORMED, NULL},
	    {"1-2 ---p 0 0:0 0x", PLIM_EMALFORMED, NULL},
	    {"1-2  ---p 0 0:0 0", PLIM_EMALFORMED, NULL},
	    {"Rss:                  40 kB", PLIM_EMALFORMED, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes line = text_string(rows[i].line);
		struct plimp_map map;

		if (decode(line, &map) != rows[i].result)
			fail_msg("wrong for %s", rows[i].line);
		if (rows[i].name != NULL)
			assert_true(text_is(map.name, rows[i].name));
		text_free(line);
	}
}

static void test_numbers(void **state)
{
	plim_bytes line = text_string(
	    "7f00-7f10 rw-p 0000a000 103:0b 4711                 /x");
	struct plimp_map map;

	(void)state;
	assert_int_equal(decode(line, &map), PLIM_OK);
	assert_true(map.start == 0x7f00);
	assert_true(map.end == 0x7f10);
	assert_true(map.offset == 0xa000);
	assert_true(map.device == ((uint64_t)0x103 << 32 | 0xb));
	assert_true(map.inode == 4711);
	assert_int_equal(map.permissions, PLIMP_MAP_READ | PLIMP_MAP_WRITE);
	text_free(line);
}

static void test_escapes(void **state)
{
	static const struct {
		const char *name;
		const char *expected;
	} rows[] = {
	    {"", ""},
	    {"a", "a"},
	    {"\\012", "\n"},
	    {"a\\012b\\012", "a\nb\n"},
	    {"\\01", "\\01"},
	    {"\\0122", "\n2"},
	    {"\\\\012", "\\\n"},
	    {"\\134", "\\134"},
	    {"\\", "\\"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes name = text_string(rows[i].name);
		char *buffer = malloc(name.size + 1);
		size_t size = plimp_decode_map_name(name, buffer);

		assert_int_equal(size, strlen(rows[i].expected));
		assert_memory_equal(buffer, rows[i].expected, size);
		free(buffer);
		text_free(name);
	}
}

static void check_any(plim_bytes line)
{
	struct plimp_map map;

	if (decode(line, &map) == PLIM_OK && map.name.size > 0) {
		assert_true(map.name.data >= line.data);
		assert_ptr_equal(map.name.data + map.name.size,
				 line.data + line.size);
	}
}

static void check_refused(plim_bytes line)
{
	struct plimp_map map;

	assert_int_equal(decode(line, &map), PLIM_EMALFORMED);
}

static void test_hostile(void **state)
{
	plim_bytes line = text_string(
	    "7f00-7f10 rw-p 0000a000 103:0b 4711                 /x y");

	(void)state;
	text_every_prefix(line, check_any);
	text_every_change(line, check_any);
	text_every_nonsense(check_refused);
	text_free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_recorded), cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_numbers),  cmocka_unit_test(test_escapes),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_maps", tests, NULL, NULL);
}
