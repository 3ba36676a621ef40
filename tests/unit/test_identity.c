/*
 * test_identity.c - comparing along the ladder, and the text of an identity.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll/process.h>

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	S = PLIM_IDENTITY_START,
	I = PLIM_IDENTITY_INODE,
	B = PLIM_IDENTITY_BOOT,
	N = PLIM_IDENTITY_NAMESPACE
};

static plim_identity identity_of(uint32_t has)
{
	plim_identity identity = {.pid = 7, .has = has};

	if (has & S)
		identity.start_ticks = 100;
	if (has & I)
		identity.inode = 200;
	if (has & N)
		identity.pid_namespace = 300;
	if (has & B)
		memset(identity.boot, 4, sizeof(identity.boot));
	return identity;
}

static void test_rung(void **state)
{
	(void)state;
	for (uint32_t has = 0; has < 16; has++) {
		plim_identity identity = identity_of(has);
		int expected = PLIM_RUNG_NONE;

		if (has & I)
			expected = PLIM_RUNG_INODE;
		else if (has & S)
			expected = PLIM_RUNG_START;
		assert_int_equal(plim_identity_rung(&identity), expected);
	}
}

/* Makes one part other than in identity_of(). */
static void change(plim_identity *identity, uint32_t part)
{
	if (part == S)
		identity->start_ticks++;
	if (part == I)
		identity->inode++;
	if (part == N)
		identity->pid_namespace++;
	if (part == B)
		identity->boot[15]++;
}

/*
 * All parts of one side against all of the other, with any one part made
 * different. A part that only one side has must not matter, not even by what
 * is in it.
 */
static void test_compare(void **state)
{
	static const uint32_t parts[] = {0, S, I, B, N};

	(void)state;
	for (uint32_t x = 0; x < 16; x++)
		for (uint32_t y = 0; y < 16; y++)
			for (size_t p = 0; p < COUNT(parts); p++) {
				plim_identity a = identity_of(x);
				plim_identity b = identity_of(y);
				uint32_t differs = parts[p] & x & y;
				int expected = PLIM_SAME;

				change(&b, parts[p]);
				if (differs & (B | N))
					expected = PLIM_DIFFERENT;
				else if (x & y & I)
					expected = differs & I ? PLIM_DIFFERENT
							       : PLIM_SAME;
				else if (x & y & S)
					expected = differs & S ? PLIM_DIFFERENT
							       : PLIM_SAME;
				else
					expected = PLIM_UNCERTAIN;
				assert_int_equal(plim_identity_compare(&a, &b),
						 expected);
				assert_int_equal(plim_identity_compare(&b, &a),
						 expected);
				b.pid++;
				assert_int_equal(plim_identity_compare(&a, &b),
						 PLIM_DIFFERENT);
			}
}

/* The inode outweighs the tick, which a successor can share; and a tick read
 * differently is no proof against an equal inode. */
static void test_inode_decides(void **state)
{
	plim_identity a = identity_of(S | I);
	plim_identity b = identity_of(S | I);

	(void)state;
	b.inode++;
	assert_int_equal(plim_identity_compare(&a, &b), PLIM_DIFFERENT);
	b = identity_of(S | I);
	b.start_ticks++;
	assert_int_equal(plim_identity_compare(&a, &b), PLIM_SAME);
}

static void test_format(void **state)
{
	plim_identity identity = identity_of(S);
	char text[48];

	(void)state;
	assert_int_equal(plim_identity_format(&identity, text, sizeof(text)),
			 6);
	assert_string_equal(text, "7@t100");
	identity = identity_of(S | I | B | N);
	plim_identity_format(&identity, text, sizeof(text));
	assert_string_equal(text, "7@i200");
	identity = identity_of(B);
	plim_identity_format(&identity, text, sizeof(text));
	assert_string_equal(text, "7");
	identity = identity_of(I);
	identity.pid = INT32_MIN;
	identity.inode = UINT64_MAX;
	assert_int_equal(plim_identity_format(&identity, text, sizeof(text)),
			 33);
	assert_string_equal(text, "-2147483648@i18446744073709551615");
	memset(text, 'x', sizeof(text));
	assert_int_equal(plim_identity_format(&identity, text, 5), 33);
	assert_string_equal(text, "-214");
	assert_int_equal(plim_identity_format(&identity, NULL, 0), 33);
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int32_t pid;
		uint32_t has;
		uint64_t proof;
	} rows[] = {
	    {"1", 1, 0, 0},
	    {"2147483647", INT32_MAX, 0, 0},
	    {"42@i7", 42, I, 7},
	    {"42@t7", 42, S, 7},
	    {"1@t0", 1, S, 0},
	    {"4194304@i18446744073709551615", 4194304, I, UINT64_MAX},
	};
	char text[48];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		plim_identity identity;

		memset(&identity, 'x', sizeof(identity));
		assert_int_equal(
		    plim_identity_parse(rows[i].text, &identity, NULL),
		    PLIM_OK);
		assert_int_equal(identity.pid, rows[i].pid);
		assert_int_equal(identity.has, rows[i].has);
		assert_int_equal(identity.inode,
				 rows[i].has & I ? rows[i].proof : 0);
		assert_int_equal(identity.start_ticks,
				 rows[i].has & S ? rows[i].proof : 0);
		assert_int_equal(identity.pid_namespace, 0);
		assert_int_equal(identity.boot[0], 0);
		plim_identity_format(&identity, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

static void test_parse_errors(void **state)
{
	static const struct {
		const char *text;
		int position;
	} rows[] = {
	    {"", 0},
	    {"0", 0},
	    {"0@i5", 0},
	    {"-1", 0},
	    {"+1", 0},
	    {" 1", 0},
	    {"1 ", 1},
	    {"01", 1},
	    {"00", 1},
	    {"x", 0},
	    {"@i5", 0},
	    {"12x", 2},
	    {"2147483648", 9},
	    {"99999999999999999999", 9},
	    {"5@", 2},
	    {"5@i", 3},
	    {"5@t", 3},
	    {"5@x7", 2},
	    {"5@7", 2},
	    {"5@I7", 2},
	    {"5@i-7", 3},
	    {"5@i 7", 3},
	    {"5@i07", 4},
	    {"5@t00", 4},
	    {"5@i7 ", 4},
	    {"5@i7@t3", 4},
	    {"5@i18446744073709551616", 22},
	    {"5@i99999999999999999999", 22},
	    {"5@i184467440737095516150", 23},
	};
	plim_identity before;
	plim_identity identity;
	plim_error error;

	(void)state;
	memset(&before, 'x', sizeof(before));
	identity = before;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(
		    plim_identity_parse(rows[i].text, &identity, &error),
		    PLIM_ESYNTAX);
		assert_int_equal(error.code, PLIM_ESYNTAX);
		assert_int_equal(error.position, rows[i].position);
		assert_string_equal(error.path, rows[i].text);
		assert_memory_equal(&identity, &before, sizeof(before));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rung),
	    cmocka_unit_test(test_compare),
	    cmocka_unit_test(test_inode_decides),
	    cmocka_unit_test(test_format),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_parse_errors),
	};

	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
