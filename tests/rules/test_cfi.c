/*
 * test_cfi.c - call frame information made by hand: every instruction, every
 * encoding of pointers, both forms of lengths, versions, augmentations, and
 * what is malformed.
 */
#include "image.h"

#include "unwind/cfi_row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 16, START = 0x2000 };

struct rows {
	size_t count;
	uint64_t at[ROWS];
	struct plimp_cfi_row rows[ROWS];
	struct plimp_cfi_state state;
	uint16_t machine;
	int failed;
};

static int keep(void *user, uint64_t address, const struct plimp_cfi_row *row)
{
	struct rows *rows = user;

	assert_true(rows->count < ROWS);
	rows->at[rows->count] = address;
	rows->rows[rows->count++] = *row;
	return 0;
}

static struct rows rows;

/* Runs a program of an FDE of 0x100 bytes at START; the CIE is x86-64's. */
static void run_of(const char *program, size_t size, uint16_t machine)
{
	static struct image_bytes section, bytes;
	struct plimp_cfi_entry entry;
	struct plimp_cfi_cie cie;
	struct plimp_cfi_fde fde;

	memset(&rows, 0, sizeof(rows));
	rows.machine = machine;
	memset(&section, 0, sizeof(section));
	memset(&bytes, 0, sizeof(bytes));
	image_put_all(&bytes, program, size);
	size_t cie_at = image_cie_x86(&section, "zR");
	size_t at = image_fde(&section, cie_at, START, 0x100, &bytes);
	struct plimp_cfi cfi = {.bytes = section.data,
				.size = section.size,
				.address = IMAGE_EH_FRAME,
				.machine = machine};

	entry = plimp_cfi_entry(&cfi, at);
	assert_int_equal(entry.kind, PLIMP_CFI_FDE);
	assert_int_equal(entry.cie, cie_at);
	assert_int_equal(plimp_cfi_cie(&cfi, cie_at, &cie), 0);
	assert_int_equal(plimp_cfi_fde(&cfi, &entry, &cie, &fde), 0);
	assert_int_equal(fde.start, START);
	assert_int_equal(fde.end, START + 0x100);
	assert_int_equal(plimp_cfi_begin(&cfi, &cie, &rows.state), 0);
	rows.failed = plimp_cfi_run(&cfi, &cie, &fde, &rows.state, keep, &rows);
}
#define RUN(program) run_of(program, sizeof(program) - 1, IMAGE_X86)

static void expect_cfa(size_t row, uint64_t at, int number, int64_t offset)
{
	assert_int_equal(rows.failed, 0);
	assert_true(row < rows.count);
	assert_int_equal(rows.at[row], at);
	assert_int_equal(rows.rows[row].cfa, PLIMP_CFA_REGISTER);
	assert_int_equal(rows.rows[row].cfa_register, number);
	assert_int_equal(rows.rows[row].cfa_value, offset);
}

static void expect_rule(size_t row, int number, int how, int64_t value)
{
	struct plimp_cfi_rule rule;

	assert_true(row < rows.count);
	rule = plimp_cfi_rule(&rows.rows[row], rows.machine, (unsigned)number);
	assert_int_equal(rule.how, how);
	if (how != PLIMP_CFI_UNSET && how != PLIMP_CFI_UNDEFINED &&
	    how != PLIMP_CFI_SAME)
		assert_int_equal(rule.value, value);
	assert_int_equal(rows.rows[row].set >> number & 1,
			 how != PLIMP_CFI_UNSET);
}

static void test_initial(void **state)
{
	(void)state;
	RUN("");
	assert_int_equal(rows.count, 1);
	expect_cfa(0, START, 7, 8);
	expect_rule(0, 16, PLIMP_CFI_OFFSET, -8);
}

static void test_advance(void **state)
{
	(void)state;
	RUN("\x0e\x10\x41\x0e\x18\x02\x10\x0e\x20\x03\x20\x00\x0e\x28\x04"
	    "\x30\x00\x00\x00\x0e\x30");
	assert_int_equal(rows.count, 5);
	expect_cfa(0, START, 7, 16);
	expect_cfa(1, START + 1, 7, 24);
	expect_cfa(2, START + 0x11, 7, 32);
	expect_cfa(3, START + 0x31, 7, 40);
	expect_cfa(4, START + 0x61, 7, 48);
	/* By 8 bytes, and set_loc, in the encoding of the CIE. */
	RUN("\x1d\x05\0\0\0\0\0\0\0\x0e\x20");
	expect_cfa(1, START + 5, 7, 32);
	/* Behind the end of the function nothing follows. */
	RUN("\x02\xff\x0e\x10\x02\x01\x0e\x18");
	assert_int_equal(rows.failed, 0);
	assert_int_equal(rows.count, 2);
	expect_cfa(1, START + 0xff, 7, 16);
}

static void test_set_location(void **state)
{
	static struct image_bytes program;
	/* Behind the CIE (24 bytes) and the 17 before the FDE's program, one
	 * more byte for the instruction. */
	uint64_t field = IMAGE_EH_FRAME + 24 + 17 + 1;

	(void)state;
	memset(&program, 0, sizeof(program));
	image_put(&program, 1, 1);
	image_put(&program, START + 0x40 - field, 4);
	image_put(&program, 0x100e, 2);
	run_of((char *)program.data, program.size, IMAGE_X86);
	assert_int_equal(rows.count, 2);
	expect_cfa(1, START + 0x40, 7, 16);
}

static void test_cfa(void **state)
{
	(void)state;
	RUN("\x0c\x06\x90\x01"); /* def_cfa rbp 144 */
	expect_cfa(0, START, 6, 144);
	RUN("\x0d\x06"); /* def_cfa_register */
	expect_cfa(0, START, 6, 8);
	RUN("\x0e\x80\x02"); /* def_cfa_offset */
	expect_cfa(0, START, 7, 256);
	RUN("\x12\x06\x7e"); /* def_cfa_sf: -2 * -8 */
	expect_cfa(0, START, 6, 16);
	RUN("\x13\x7d"); /* def_cfa_offset_sf */
	expect_cfa(0, START, 7, 24);
	RUN("\x0f\x02\x77\x08"); /* def_cfa_expression */
	assert_int_equal(rows.rows[0].cfa, PLIMP_CFA_EXPRESSION);
	assert_int_equal(rows.rows[0].cfa_size, 2);
	/* Half a rule needs a whole one. */
	RUN("\x0f\x02\x77\x08\x0e\x10");
	assert_int_not_equal(rows.failed, 0);
	RUN("\x0f\x02\x77\x08\x0d\x06");
	assert_int_not_equal(rows.failed, 0);
}

static void test_registers(void **state)
{
	(void)state;
	RUN("\x86\x02"); /* offset rbp 2 * -8 */
	expect_rule(0, 6, PLIMP_CFI_OFFSET, -16);
	RUN("\x05\x0f\x03"); /* offset_extended */
	expect_rule(0, 15, PLIMP_CFI_OFFSET, -24);
	RUN("\x11\x03\x7f"); /* offset_extended_sf: -1 * -8 */
	expect_rule(0, 3, PLIMP_CFI_OFFSET, 8);
	RUN("\x2f\x03\x02"); /* GNU_negative_offset_extended */
	expect_rule(0, 3, PLIMP_CFI_OFFSET, 16);
	RUN("\x14\x03\x02"); /* val_offset */
	expect_rule(0, 3, PLIMP_CFI_VAL_OFFSET, -16);
	RUN("\x15\x03\x7e"); /* val_offset_sf */
	expect_rule(0, 3, PLIMP_CFI_VAL_OFFSET, 16);
	RUN("\x09\x03\x0c"); /* register */
	expect_rule(0, 3, PLIMP_CFI_REGISTER, 12);
	RUN("\x07\x10"); /* undefined */
	expect_rule(0, 16, PLIMP_CFI_UNDEFINED, 0);
	RUN("\x08\x03"); /* same_value */
	expect_rule(0, 3, PLIMP_CFI_SAME, 0);
	RUN("\x10\x06\x02\x76\x00"); /* expression */
	assert_int_equal(rows.rows[0].rules[6].how, PLIMP_CFI_EXPRESSION);
	assert_int_equal(rows.rows[0].rules[6].size, 2);
	RUN("\x16\x06\x01\x30"); /* val_expression */
	assert_int_equal(rows.rows[0].rules[6].how, PLIMP_CFI_VAL_EXPRESSION);
	/* Those of vectors are passed over; so are GNU_args_size and nop. */
	RUN("\x05\x11\x03\x2e\x10\x00\x86\x02");
	assert_int_equal(rows.failed, 0);
	expect_rule(0, 6, PLIMP_CFI_OFFSET, -16);
	assert_int_equal(rows.rows[0].set, 1 << 16 | 1 << 6);
}

/* What is set is what is read, packed or not, and nothing else changes. */
static void test_packed(void **state)
{
	static const int64_t values[] = {
	    -8, -16, -8 * 0x7fff, -8 * 0x8000, -8 * 0x10001, -4,
	    0,	8,   INT64_MIN,	  INT64_MAX,   -1,	     7};
	static const uint16_t machines[] = {IMAGE_X86, IMAGE_ARM};

	(void)state;
	for (unsigned way = 0; way < 2; way++)
		for (unsigned number = 0; number < 32; number++)
			for (size_t i = 0; i < 2 * 12; i++) {
				static struct plimp_cfi_row row, copy;
				const struct plimp_cfi_rule rule = {
				    i % 2 ? PLIMP_CFI_OFFSET
					  : PLIMP_CFI_VAL_OFFSET,
				    0, values[i / 2]};
				struct plimp_cfi_rule got;

				plimp_cfi_set(&row, machines[way], number,
					      &rule);
				got =
				    plimp_cfi_rule(&row, machines[way], number);
				assert_int_equal(got.how, rule.how);
				assert_int_equal(got.value, rule.value);
				plimp_cfi_copy(&copy, &row);
				got = plimp_cfi_rule(&copy, machines[way],
						     number);
				assert_int_equal(got.how, rule.how);
				assert_int_equal(got.value, rule.value);
				plimp_cfi_set(&row, machines[way], number,
					      &(struct plimp_cfi_rule){
						  PLIMP_CFI_UNSET, 0, 0});
				assert_int_equal(
				    row.set | row.odd | row.packed[0] |
					row.packed[1] | row.packed[2],
				    0);
			}
}

static void test_restore(void **state)
{
	(void)state;
	RUN("\x86\x02\x41\xc6"); /* restore rbp: as in the CIE, unset */
	assert_int_equal(rows.count, 2);
	expect_rule(0, 6, PLIMP_CFI_OFFSET, -16);
	expect_rule(1, 6, PLIMP_CFI_UNSET, 0);
	RUN("\x07\x10\x41\x06\x10"); /* restore_extended of the address */
	expect_rule(1, 16, PLIMP_CFI_OFFSET, -8);
	/* remember, change, recall: the CFA as well. */
	RUN("\x0e\x10\x86\x02\x0a\x41\x0c\x07\x08\xc6\x41\x0b");
	assert_int_equal(rows.count, 3);
	expect_cfa(1, START + 1, 7, 8);
	expect_rule(1, 6, PLIMP_CFI_UNSET, 0);
	expect_cfa(2, START + 2, 7, 16);
	expect_rule(2, 6, PLIMP_CFI_OFFSET, -16);
	RUN("\x0b");
	assert_int_not_equal(rows.failed, 0);
}

static void test_remembered(void **state)
{
	char program[PLIMP_CFI_REMEMBERED + 1];

	(void)state;
	memset(program, 0x0a, sizeof(program));
	run_of(program, PLIMP_CFI_REMEMBERED, IMAGE_X86);
	assert_int_equal(rows.failed, 0);
	run_of(program, PLIMP_CFI_REMEMBERED + 1, IMAGE_X86);
	assert_int_not_equal(rows.failed, 0);
}

static void test_sign(void **state)
{
	(void)state;
	run_of("\x41\x2d\x41\x2d\x41\x2c", 6, IMAGE_ARM);
	assert_int_equal(rows.count, 4);
	assert_int_equal(rows.rows[0].is_signed, 0);
	assert_int_equal(rows.rows[1].is_signed, 1);
	assert_int_equal(rows.rows[2].is_signed, 0);
	assert_int_equal(rows.rows[3].is_signed, 1);
	RUN("\x2d"); /* SPARC's register windows */
	assert_int_not_equal(rows.failed, 0);
}

static void test_malformed(void **state)
{
	static const struct {
		const char *program;
		size_t size;
	} bad[] = {{"\x17", 1},
		   {"\x3f", 1},
		   {"\x0f\x7f\x00", 3}, /* longer than what follows */
		   {"\x10\x06\xff\xff\xff\xff\x7f", 7},
		   {"\x86\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12}};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		run_of(bad[i].program, bad[i].size, IMAGE_X86);
		if (!rows.failed)
			fail_msg("program %zu is taken", i);
	}
}

/* --- entries -------------------------------------------------------------- */

static struct plimp_cfi over(const struct image_bytes *bytes, int is_debug)
{
	return (struct plimp_cfi){.bytes = bytes->data,
				  .size = bytes->size,
				  .address = 0x5000,
				  .machine = IMAGE_X86,
				  .is_debug = is_debug};
}

static void test_pointers(void **state)
{
	static const struct {
		unsigned encoding;
		const char *bytes;
		size_t size;
		uint64_t value;
		int bad;
	} all[] = {
	    {0x00, "\x01\x02\0\0\0\0\0\0", 8, 0x201, 0},
	    {0x01, "\x81\x01", 2, 129, 0},
	    {0x02, "\xff\xff", 2, 0xffff, 0},
	    {0x03, "\xff\xff\xff\xff", 4, 0xffffffff, 0},
	    {0x04, "\1\0\0\0\0\0\0\x80", 8, UINT64_C(0x8000000000000001), 0},
	    {0x09, "\x7f", 1, UINT64_MAX, 0},
	    {0x0a, "\xfe\xff", 2, UINT64_MAX - 1, 0},
	    {0x0b, "\xfd\xff\xff\xff", 4, UINT64_MAX - 2, 0},
	    {0x0c, "\1\0\0\0\0\0\0\0", 8, 1, 0},
	    {0x1b, "\xf0\xff\xff\xff", 4, 0x4ff0, 0}, /* from the field */
	    {0x13, "\x10\0\0\0", 4, 0x5010, 0},
	    {0x3b, "\x10\0\0\0", 4, 0x9010, 0}, /* from the data */
	    {0x2b, "\x10\0\0\0", 4, 0, 1},	/* from the text */
	    {0x4b, "\x10\0\0\0", 4, 0, 1},	/* from the function */
	    {0x50, "\x10\0\0\0\0\0\0\0", 8, 0, 1},
	    {0x9b, "\x10\0\0\0", 4, 0, 1}, /* indirect */
	    {0x05, "\x10\0\0\0", 4, 0, 1},
	    {0x03, "\x10\0\0", 3, 0, 1},
	};
	const struct plimp_cfi_bases bases = {0x5000, 0x9000, 1};
	const struct plimp_cfi_bases nowhere = {0x5000, 0, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const uint8_t *bytes = (const uint8_t *)all[i].bytes;
		struct plimp_cursor cursor = {bytes, bytes + all[i].size, 0};
		uint64_t value =
		    plimp_cfi_pointer(&cursor, all[i].encoding, &bases);

		if (cursor.is_bad != all[i].bad ||
		    (!cursor.is_bad && value != all[i].value))
			fail_msg("encoding %x gives %llx", all[i].encoding,
				 (unsigned long long)value);
	}
	struct plimp_cursor cursor = {(const uint8_t *)"\1\0\0\0",
				      (const uint8_t *)"\1\0\0\0" + 4, 0};

	plimp_cfi_pointer(&cursor, 0x3b, &nowhere);
	assert_int_equal(cursor.is_bad, 1);
}

static void test_leb(void **state)
{
	static const uint8_t longest[] = {0xff, 0xff, 0xff, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 0x01};
	static const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff,
					   0xff, 0xff, 0xff, 0xff, 0x02};
	struct plimp_cursor cursor = {longest, longest + 10, 0};

	(void)state;
	assert_int_equal(plimp_cursor_uleb(&cursor), UINT64_MAX);
	assert_int_equal(cursor.is_bad, 0);
	cursor = (struct plimp_cursor){too_long, too_long + 10, 0};
	plimp_cursor_uleb(&cursor);
	assert_int_equal(cursor.is_bad, 1);
}

static void put_cie(struct image_bytes *bytes, int is_64bit, int is_debug,
		    int version, const char *letters, const char *data,
		    size_t data_size)
{
	size_t size = (is_64bit ? 8u : 4u) + 1 + strlen(letters) + 1 +
		      (version == 4 ? 2u : 0u) + 3 + data_size;

	if (is_64bit)
		image_put(bytes, 0xffffffff, 4);
	image_put(bytes, size, is_64bit ? 8 : 4);
	image_put(bytes, is_debug ? UINT64_MAX : 0, is_64bit ? 8 : 4);
	image_put(bytes, (uint64_t)version, 1);
	image_put_all(bytes, letters, strlen(letters) + 1);
	if (version == 4)
		image_put(bytes, 8, 2);
	image_uleb(bytes, 4);
	image_sleb(bytes, -8);
	image_uleb(bytes, 30);
	image_put_all(bytes, data, data_size);
}

static void test_cie(void **state)
{
	static struct image_bytes bytes;
	struct plimp_cfi_cie cie;

	(void)state;
	for (int version = 1; version <= 4; version++)
		for (int form = 0; form < 4; form++) {
			memset(&bytes, 0, sizeof(bytes));
			put_cie(&bytes, form & 1, form >> 1, version, "", "",
				0);
			struct plimp_cfi cfi = over(&bytes, form >> 1);
			int failed = plimp_cfi_cie(&cfi, 0, &cie);

			assert_int_equal(failed != 0, version == 2);
			if (failed)
				continue;
			assert_int_equal(cie.code_align, 4);
			assert_int_equal(cie.data_align, -8);
			assert_int_equal(cie.return_column, 30);
			assert_int_equal(cie.program, bytes.size);
			assert_int_equal(plimp_cfi_entry(&cfi, 0).next,
					 bytes.size);
		}
}

static void test_augmentation(void **state)
{
	static struct image_bytes bytes;
	struct plimp_cfi_cie cie;
	static const struct {
		const char *letters;
		const char *data;
		size_t size;
		int bad;
		unsigned encoding;
		int is_signal;
	} all[] = {
	    {"zR", "\x01\x1b", 2, 0, 0x1b, 0},
	    {"zRS", "\x01\x1b", 2, 0, 0x1b, 1},
	    {"zPLR", "\x07\x9b\1\2\3\4\x1b\x03", 8, 0, 0x03, 0},
	    {"zPR", "\x02\xff\x1b", 3, 0, 0x1b, 0}, /* no personality */
	    {"zPR", "\x0a\x00\1\2\3\4\5\6\7\x08\x1b", 11, 0, 0x1b, 0},
	    {"zRB", "\x01\x1b", 2, 0, 0x1b, 0},
	    {"zRG", "\x01\x1b", 2, 0, 0x1b, 0},
	    {"zR", "\x03\x1b\0\0", 4, 0, 0x1b, 0},
	    {"zR", "\x00\x1b", 2, 1, 0, 0}, /* larger than said */
	    {"zR", "\x7f\x1b", 2, 1, 0, 0}, /* than the entry */
	    {"zQ", "\x01\x1b", 2, 1, 0, 0}, /* not known */
	    {"zPR", "\x09\x50\0\0\0\0\0\0\0", 9, 1, 0, 0}, /* aligned */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		memset(&bytes, 0, sizeof(bytes));
		put_cie(&bytes, 0, 0, 1, all[i].letters, all[i].data,
			all[i].size);
		struct plimp_cfi cfi = over(&bytes, 0);
		int failed = plimp_cfi_cie(&cfi, 0, &cie);

		if ((failed != 0) != all[i].bad)
			fail_msg("augmentation %zu: %d", i, failed);
		if (failed)
			continue;
		assert_int_equal(cie.encoding, all[i].encoding);
		assert_int_equal(cie.is_signal, all[i].is_signal);
		assert_int_equal(cie.program, bytes.size);
	}
}

static void test_entries(void **state)
{
	static struct image_bytes bytes;
	struct plimp_cfi cfi;

	(void)state;
	memset(&bytes, 0, sizeof(bytes));
	image_put(&bytes, 0, 4); /* empty */
	image_put(&bytes, 3, 4); /* too short for an id */
	image_put(&bytes, 0, 3);
	image_put(&bytes, 8, 4); /* an FDE of a CIE before the section */
	image_put(&bytes, 0xffff, 4);
	image_put(&bytes, 0, 4);
	image_put(&bytes, 0x7fffffff, 4); /* longer than the section */
	cfi = over(&bytes, 0);
	assert_int_equal(plimp_cfi_entry(&cfi, 0).kind, PLIMP_CFI_EMPTY);
	assert_int_equal(plimp_cfi_entry(&cfi, 4).kind, PLIMP_CFI_BAD);
	assert_int_equal(plimp_cfi_entry(&cfi, 4).next, 11);
	assert_int_equal(plimp_cfi_entry(&cfi, 11).kind, PLIMP_CFI_BAD);
	assert_int_equal(plimp_cfi_entry(&cfi, 11).next, 23);
	assert_int_equal(plimp_cfi_entry(&cfi, 23).kind, PLIMP_CFI_END);
	assert_int_equal(plimp_cfi_entry(&cfi, 27).kind, PLIMP_CFI_END);
	assert_int_equal(plimp_cfi_entry(&cfi, SIZE_MAX).kind, PLIMP_CFI_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_initial),
	    cmocka_unit_test(test_advance),
	    cmocka_unit_test(test_set_location),
	    cmocka_unit_test(test_cfa),
	    cmocka_unit_test(test_registers),
	    cmocka_unit_test(test_packed),
	    cmocka_unit_test(test_restore),
	    cmocka_unit_test(test_remembered),
	    cmocka_unit_test(test_sign),
	    cmocka_unit_test(test_malformed),
	    cmocka_unit_test(test_pointers),
	    cmocka_unit_test(test_leb),
	    cmocka_unit_test(test_cie),
	    cmocka_unit_test(test_augmentation),
	    cmocka_unit_test(test_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
