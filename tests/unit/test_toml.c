/*
 * test_toml.c - where the TOML reader says that things stand, and its bounds.
 * That it accepts what it should, with the right values, is compared with
 * another reader in tests/toml.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include "core/decimal.h"
#include "core/toml.h"

#include "counting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mistake {
	const char *text;
	uint32_t line, column;
	const char *says;
};

static const struct mistake mistakes[] = {
    {"a = 1\nb = \n", 2, 5, "expected a value"},
    {"a = 1\nb c = 2", 2, 3, "expected ="},
    {"a = 1\n\n  a = 2", 3, 3, "line 1 already"},
    {"a = 1 b = 2", 1, 7, "expected the end of the line"},
    {"[a]\n[b]\n[a]", 3, 2, "a was defined as a table in line 1"},
    {"[[a]]\n[a]", 2, 2, "an array in line 1"},
    {"[a", 1, 3, "expected ]"},
    {"[[a]", 1, 4, "expected ]]"},
    {"a = {b = 1\n}", 1, 11, "on the line on which"},
    {"a = [1\n\n2]", 3, 1, "expected , or ]"},
    {"a = \"x\ny\"", 1, 5, "not closed; expected \""},
    {"a = '''x\ny", 1, 5, "not closed; expected '''"},
    {"a = \"\xc3\xa9\xc3\xa9\\q\"", 1, 8, "write \\\\ for a backslash"},
    {"a = \"\\uD800\"", 1, 6, "no Unicode character"},
    {"a = \"\\u12\"", 1, 6, "expected 4 hexadecimal"},
    {"a = 9223372036854775808", 1, 5, "does not fit into 64 bits"},
    {"a = yes", 1, 5, "yes is no value; a text stands in \"quotes\""},
    {"a = 2026-02-29", 1, 5, "2026-02-29 is no value"},
    {"a = 1\nb = \"\xff\"", 2, 6, "not UTF-8"},
    {"\xef\xbb\xbf"
     "a = b",
     1, 5, "b is no value"},
    {"a = 1\n\xef\xbb\xbf", 2, 1, "expected a key"},
    {"a = 1 # \x01", 1, 9, "control character in a comment"},
    {"a = \"\x02\"", 1, 6, "control character in a string"},
    {"a.b = 1\na = 2", 2, 1, "a was defined as a table in line 1"},
    {"\"\"\"a\"\"\" = 1", 1, 1, "a key stands on one line"},
    {"a = { b = { } }\na.b.c = 1", 2, 1, "defined as a table in line 1"},
};

static plim_bytes bytes_of(const char *text)
{
	plim_bytes bytes = {text, strlen(text)};

	return bytes;
}

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *row = &mistakes[i];
		struct plimp_toml document = {0};
		plim_budget_position where = {0};
		plim_error error = {0};

		print_message("%s\n", row->text);
		assert_int_equal(plimp_toml_parse(&document,
						  bytes_of(row->text), NULL,
						  &where, &error),
				 PLIM_ESYNTAX);
		assert_int_equal(error.code, PLIM_ESYNTAX);
		assert_int_equal(where.line, row->line);
		assert_int_equal(where.column, row->column);
		assert_int_equal(where.offset, error.position);
		if (strstr(error.detail, row->says) == NULL)
			fail_msg("%s: %s", row->says, error.detail);
		assert_null(document.pool.chunks);
		assert_int_equal(document.count, 0);
	}
}

static const struct plimp_toml_node *find(const struct plimp_toml_node *table,
					  const char *key)
{
	const struct plimp_toml_node *node =
	    plimp_toml_find(table, bytes_of(key));

	assert_non_null(node);
	return node;
}

static void assert_at(const plim_budget_position *at, uint32_t line,
		      uint32_t column, size_t offset)
{
	assert_int_equal(at->line, line);
	assert_int_equal(at->column, column);
	assert_int_equal(at->offset, offset);
}

/* A character is one column, whatever its bytes; CR LF is one line end. */
static void test_positions(void **state)
{
	static const char text[] = "a = 1\r\n"
				   "\t\"\xc3\xa9\" . c = [ 2,\n"
				   " 3 ]\n"
				   "[t]\n"
				   "d.e = { f = 4 }\n"
				   "[[u]]\n"
				   "[[u]]\n"
				   "g = 5\n";
	struct plimp_toml document = {0};
	const struct plimp_toml_node *node, *root = &document.root;

	(void)state;
	assert_int_equal(
	    plimp_toml_parse(&document, bytes_of(text), NULL, NULL, NULL),
	    PLIM_OK);
	assert_at(&find(root, "a")->key_at, 1, 1, 0);
	assert_at(&find(root, "a")->value_at, 1, 5, 4);
	node = find(root, "\xc3\xa9");
	assert_at(&node->key_at, 2, 2, 8);
	node = find(node, "c");
	assert_at(&node->key_at, 2, 8, 15);
	assert_at(&node->value_at, 2, 12, 19);
	assert_at(&node->is.list.first->value_at, 2, 14, 21);
	assert_at(&node->is.list.last->value_at, 3, 2, 25);
	node = find(root, "t");
	assert_at(&node->key_at, 4, 2, 30);
	node = find(find(node, "d"), "e");
	assert_at(&node->key_at, 5, 3, 35);
	assert_at(&find(node, "f")->value_at, 5, 13, 45);
	node = find(root, "u");
	assert_at(&node->key_at, 6, 3, 51);
	assert_at(&node->is.list.last->key_at, 7, 3, 57);
	assert_int_equal(find(node->is.list.last, "g")->is.integer, 5);
	assert_int_equal(root->is.list.count, 4);
	plimp_toml_release(&document);
	assert_null(document.pool.chunks);
}

/* `before`, its number, `after`, again and again; cut to `limit` unless 0. */
static int parse_repeated(const char *before, const char *after, size_t count,
			  size_t limit)
{
	size_t size = strlen(before) + strlen(after) + 24, used = 0;
	char *text = malloc(count * size);
	struct plimp_toml document = {0};
	plim_bytes bytes = {text, 0};
	int code;

	assert_non_null(text);
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, size, "%s%zu%s", before,
					 i, after);
	bytes.size = limit > 0 ? limit : used;
	code = plimp_toml_parse(&document, bytes, NULL, NULL, NULL);
	plimp_toml_release(&document);
	free(text);
	return code;
}

/* Each bound by one below and one above. */
static void test_bounds(void **state)
{
	(void)state;
	assert_int_equal(parse_repeated("a", " = 1\n", PLIMP_TOML_NODES, 0),
			 PLIM_OK);
	assert_int_equal(parse_repeated("a", " = 1\n", PLIMP_TOML_NODES + 1, 0),
			 PLIM_ELIMIT);
	assert_int_equal(parse_repeated("#", "\n", 200000, PLIMP_TOML_SIZE),
			 PLIM_OK);
	assert_int_equal(parse_repeated("#", "\n", 200000, PLIMP_TOML_SIZE + 1),
			 PLIM_ELIMIT);
}

static void test_deep(void **state)
{
	char text[PLIMP_TOML_SIZE / 2];
	struct plimp_toml document = {0};
	plim_bytes bytes = {text, sizeof(text)};

	(void)state;
	memset(text, '[', sizeof(text));
	memcpy(text, "a = ", 4);
	assert_int_equal(plimp_toml_parse(&document, bytes, NULL, NULL, NULL),
			 PLIM_ELIMIT);
	for (size_t i = 4; i + 4 <= sizeof(text); i += 4)
		memcpy(text + i, "{b= ", 4);
	assert_int_equal(plimp_toml_parse(&document, bytes, NULL, NULL, NULL),
			 PLIM_ELIMIT);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 2 ? '.' : 'a';
	assert_int_equal(plimp_toml_parse(&document, bytes, NULL, NULL, NULL),
			 PLIM_ELIMIT);
}

static void test_memory(void **state)
{
	static const char text[] =
	    "[a.b]\nc = \"text\"\nd = [1, 2.5, { e = 2026-11-30 }]\n"
	    "[[f]]\n[[f]]\n";
	struct counting counting = {0};
	plim_allocator allocator = counting_allocator(&counting);
	struct plimp_toml document = {0};
	plim_error error = {0};

	(void)state;
	assert_int_equal(plimp_toml_parse(&document, bytes_of(text), &allocator,
					  NULL, &error),
			 PLIM_OK);
	plimp_toml_release(&document);
	assert_int_equal(counting.live, 0);
	assert_int_equal(error.code, 0);
}

static void test_decimal(void **state)
{
	/* Each with the bits of the double that is nearest. */
	static const struct {
		const char *text;
		double value;
		size_t used;
	} rows[] = {
	    {"0", 0, 1},
	    {"000", 0, 3},
	    {"0.1", 0x1.999999999999ap-4, 3},
	    {"1e23", 0x1.52d02c7e14af6p+76, 4},
	    {"9007199254740993", 0x1p+53, 16},
	    {"9007199254740995", 0x1.0000000000002p+53, 16},
	    {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022, 23},
	    {"4.9406564584124654e-324", 0x1p-1074, 23},
	    {"2.4703282292062327e-324", 0, 23},
	    {"2.4703282292062328e-324", 0x1p-1074, 23},
	    {"1e400", (double)INFINITY, 5},
	    {"1e-99999999999999999999", 0, 23},
	    {"1e99999999999999999999", (double)INFINITY, 22},
	    {"0e99999999999999999999", 0, 22},
	    {"12.5MiB", 12.5, 4},
	    {"1.", 1, 1},
	    {"1e", 1, 1},
	    {"1e+", 1, 1},
	    {"1.5e3", 1500, 5},
	};
	double value = 42;
	char text[5100];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		value = -1;
		assert_int_equal(
		    plimp_decimal_read(bytes_of(rows[i].text), &value),
		    rows[i].used);
		assert_memory_equal(&value, &rows[i].value, sizeof(value));
	}
	/* An exponent that takes back a long run of zeros. */
	memset(text, '0', sizeof(text));
	memcpy(text, "25", 2);
	memcpy(text + 5002, "e-5001", 7);
	assert_int_equal(plimp_decimal_read(bytes_of(text), &value), 5008);
	assert_true(value == 2.5);
	memset(text, '0', sizeof(text));
	memcpy(text, "0.", 2);
	memcpy(text + 5002, "25e5001", 8);
	assert_int_equal(plimp_decimal_read(bytes_of(text), &value), 5009);
	assert_true(value == 2.5);
	value = 42;
	assert_int_equal(plimp_decimal_read(bytes_of(""), &value), 0);
	assert_int_equal(plimp_decimal_read(bytes_of(".5"), &value), 0);
	assert_int_equal(plimp_decimal_read(bytes_of("-1"), &value), 0);
	assert_true(value == 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_mistakes), cmocka_unit_test(test_positions),
	    cmocka_unit_test(test_bounds),   cmocka_unit_test(test_deep),
	    cmocka_unit_test(test_memory),   cmocka_unit_test(test_decimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
