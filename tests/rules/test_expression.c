/*
 * test_expression.c - expressions of call frame information: every operation
 * against a value worked out by hand, bounds, and what is malformed.
 */
#include "unwind/expression.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static uint64_t memory[4] = {0x1122334455667788, 0x8877665544332211, 3, 0};

/* Memory is at 0x1000, of 32 bytes. */
static int read_word(void *user, uint64_t address, uint64_t *value)
{
	(void)user;
	if (address < 0x1000 || address > 0x1000 + sizeof(memory) - 8)
		return -1;
	memcpy(value, (char *)memory + (address - 0x1000), 8);
	return 0;
}

static uint64_t registers[33];

static int run(const char *bytes, size_t size, const uint64_t *begin,
	       uint64_t *value)
{
	struct plimp_expression expression = {.registers = registers,
					      .known = 1 << 7 | 1 << 16,
					      .bias = 0x100,
					      .word = read_word};

	registers[7] = 0x7000;
	registers[16] = 0x40100b;
	return plimp_expression_run(&expression, (const uint8_t *)bytes, size,
				    begin, value);
}

struct good {
	const char *bytes;
	size_t size;
	uint64_t value;
};
#define GOOD(text, value)                     \
	{                                     \
		text, sizeof(text) - 1, value \
	}

static const struct good goods[] = {
    GOOD("\x30", 0),
    GOOD("\x4f", 31),
    GOOD("\x03\x10\0\0\0\0\0\0\0", 0x110), /* addr: moved by the bias */
    GOOD("\x08\xff", 255),
    GOOD("\x09\xff", UINT64_MAX),
    GOOD("\x0a\x34\x12", 0x1234),
    GOOD("\x0b\xff\xff", UINT64_MAX),
    GOOD("\x0c\x78\x56\x34\x12", 0x12345678),
    GOOD("\x0d\xfe\xff\xff\xff", UINT64_MAX - 1),
    GOOD("\x0e\x08\x07\x06\x05\x04\x03\x02\x01", 0x0102030405060708),
    GOOD("\x0f\xff\xff\xff\xff\xff\xff\xff\xff", UINT64_MAX),
    GOOD("\x10\x80\x01", 128),
    GOOD("\x11\x7f", UINT64_MAX),
    GOOD("\x77\x08", 0x7008),	     /* breg7 8 */
    GOOD("\x77\x78", 0x6ff8),	     /* breg7 -8 */
    GOOD("\x92\x07\x10", 0x7010),    /* bregx */
    GOOD("\x32\x12\x22", 4),	     /* dup plus */
    GOOD("\x32\x33\x13", 2),	     /* drop */
    GOOD("\x32\x33\x14", 2),	     /* over */
    GOOD("\x34\x33\x32\x15\x02", 4), /* pick 2 */
    GOOD("\x32\x33\x16", 2),	     /* swap */
    GOOD("\x31\x32\x33\x17", 2),     /* rot: 3 1 2 */
    GOOD("\x31\x32\x33\x17\x13", 1), /* the one below */
    GOOD("\x31\x32\x33\x17\x13\x13", 3),
    GOOD("\x09\xfb\x19", 5), /* abs -5 */
    GOOD("\x35\x19", 5),
    GOOD("\x35\x1f", (uint64_t)-5),	    /* neg */
    GOOD("\x30\x20", UINT64_MAX),	    /* not */
    GOOD("\x3c\x3a\x1a", 8),		    /* and */
    GOOD("\x3c\x33\x21", 15),		    /* or */
    GOOD("\x3c\x3a\x27", 6),		    /* xor */
    GOOD("\x37\x33\x1c", 4),		    /* minus */
    GOOD("\x37\x33\x1e", 21),		    /* mul */
    GOOD("\x37\x33\x1d", 1),		    /* mod */
    GOOD("\x09\xf9\x32\x1b", (uint64_t)-3), /* -7 div 2 */
    GOOD("\x0f\0\0\0\0\0\0\0\x80\x09\xff\x1b", UINT64_C(1) << 63),
    GOOD("\x33\x23\x81\x01", 132), /* plus_uconst 129 */
    GOOD("\x33\x34\x24", 48),	   /* shl */
    GOOD("\x33\x08\x40\x24", 0),
    GOOD("\x08\x30\x34\x25", 3), /* shr */
    GOOD("\x33\x08\x40\x25", 0),
    GOOD("\x09\xf0\x32\x26", (uint64_t)-4), /* shra */
    GOOD("\x09\xf0\x08\x80\x26", UINT64_MAX),
    GOOD("\x33\x30\x26", 3),
    GOOD("\x33\x33\x29", 1), /* eq */
    GOOD("\x33\x34\x2a", 0), /* ge: signed */
    GOOD("\x33\x09\xff\x2a", 1),
    GOOD("\x34\x33\x2b", 1),		 /* gt */
    GOOD("\x33\x33\x2c", 1),		 /* le */
    GOOD("\x09\xff\x30\x2d", 1),	 /* lt */
    GOOD("\x33\x34\x2e", 1),		 /* ne */
    GOOD("\x31\x2f\x01\x00\x32\x33", 3), /* skip over lit2 */
    GOOD("\x31\x31\x28\x01\x00\x32", 1), /* bra taken */
    GOOD("\x31\x30\x28\x01\x00\x32", 2), /* not taken */
    GOOD("\x96\x33", 3),
    GOOD("\x0a\x00\x10\x06", 0x1122334455667788), /* deref 0x1000 */
    GOOD("\x0a\x01\x10\x94\x01", 0x77),		  /* deref_size 1 */
    GOOD("\x0a\x1f\x10\x94\x01", 0),		  /* the last byte */
    GOOD("\x0a\x06\x10\x94\x04", 0x22111122),	  /* across two words */
    GOOD("\x0a\x08\x10\x94\x08", 0x8877665544332211),
    /* A PLT's: rsp + 8 + (((rip & 15) >= 11) << 3). */
    GOOD("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 0x7010),
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		uint64_t value = 0xbad;

		if (run(goods[i].bytes, goods[i].size, NULL, &value) ||
		    value != goods[i].value)
			fail_msg("expression %zu gives 0x%llx", i,
				 (unsigned long long)value);
	}
}

static void test_begin(void **state)
{
	uint64_t begin = 0x5000;
	uint64_t value = 0;

	(void)state;
	assert_int_equal(run("\x23\x08", 2, &begin, &value), 0);
	assert_int_equal(value, 0x5008);
}

struct bad {
	const char *bytes;
	size_t size;
	int result;
};
#define BAD(text, result)                                         \
	{                                                         \
		text, sizeof(text) - 1, PLIMP_EXPRESSION_##result \
	}
static const struct bad bads[] = {
    BAD("", BAD),
    BAD("\x96", BAD),		  /* nothing on the stack */
    BAD("\x22", BAD),		  /* plus of nothing */
    BAD("\x31\x22", BAD),	  /* of one */
    BAD("\x31\x30\x1b", BAD),	  /* by zero */
    BAD("\x31\x30\x1d", BAD),	  /* mod zero */
    BAD("\x31\x32\x17", BAD),	  /* rot of two */
    BAD("\x13", BAD),		  /* drop of nothing */
    BAD("\x31\x15\x01", BAD),	  /* pick behind the end */
    BAD("\x0c\x01\x02", BAD),	  /* cut off */
    BAD("\x10\x80", BAD),	  /* cut off */
    BAD("\x2f\xfd\xff", BAD),	  /* a loop */
    BAD("\x2f\xfc\xff", BAD),	  /* before the beginning */
    BAD("\x2f\x01\x00", BAD),	  /* behind the end */
    BAD("\x28\x00\x00", BAD),	  /* bra of nothing */
    BAD("\x31\x2f\xfc\xff", BAD), /* pushes for ever */
    BAD("\xe0", BAD),		  /* no such operation */
    BAD("\x50", BAD),		  /* reg0: a place, no value */
    BAD("\x92\x21\x00", BAD),	  /* no such register */
    BAD("\x0a\x00\x10\x94\x00", BAD),
    BAD("\x0a\x00\x10\x94\x09", BAD),
    BAD("\x06", BAD),
    BAD("\x76\x00", REGISTER), /* rbp is not known */
    BAD("\x30\x06", MEMORY),
    BAD("\x0a\x19\x10\x06", MEMORY), /* across the end */
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		uint64_t value = 0xdead;
		int result = run(bads[i].bytes, bads[i].size, NULL, &value);

		if (result != bads[i].result || value != 0xdead)
			fail_msg("expression %zu: %d, 0x%llx", i, result,
				 (unsigned long long)value);
	}
}

static void test_depth(void **state)
{
	char bytes[PLIMP_EXPRESSION_DEPTH + 1];
	uint64_t value;

	(void)state;
	memset(bytes, 0x31, sizeof(bytes));
	assert_int_equal(run(bytes, PLIMP_EXPRESSION_DEPTH, NULL, &value), 0);
	assert_int_equal(run(bytes, PLIMP_EXPRESSION_DEPTH + 1, NULL, &value),
			 PLIMP_EXPRESSION_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_begin),
	    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
