/*
 * test_decode_smaps.c - the lines of smaps and smaps_rollup: sizes and flags,
 * kernels that lack some, and everything that is neither.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define BIT(row) (1u << PLIMP_SMAPS_##row)

static int decode(plim_bytes text, struct plimp_smaps *smaps)
{
	struct plimp_smaps poison;

	memset(&poison, 0xa5, sizeof(poison));
	memcpy(smaps, &poison, sizeof(poison));
	int result = plimp_decode_smaps(text, smaps);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(smaps, &poison, sizeof(poison));
	}
	return result;
}

static struct plimp_smaps recorded(const char *name)
{
	plim_bytes text = text_fixture(name);
	struct plimp_smaps smaps;

	assert_int_equal(decode(text, &smaps), PLIM_OK);
	text_free(text);
	return smaps;
}

static void expect_kb(const struct plimp_smaps *smaps, int row, uint64_t kb)
{
	assert_true((smaps->has >> row & 1) != 0);
	assert_true(smaps->bytes[row] == kb * 1024);
}

static void test_recorded(void **state)
{
	struct plimp_smaps stack = recorded("linux-6.18-smaps/stack");
	struct plimp_smaps heap = recorded("linux-6.18-smaps/heap");
	struct plimp_smaps whole = recorded("linux-6.18-smaps/rollup");
	const uint32_t parts = BIT(PSS_ANON) | BIT(PSS_FILE) | BIT(PSS_SHMEM);

	(void)state;
	assert_int_equal(stack.flags, PLIMP_SMAPS_GD | PLIMP_SMAPS_AC);
	assert_int_equal(heap.flags, PLIMP_SMAPS_AC);
	/* A mapping lacks the parts of Pss, the sum lacks the flags. */
	assert_int_equal(stack.has, (BIT(FLAGS) * 2 - 1) & ~parts);
	assert_int_equal(whole.has, BIT(FLAGS) - 1);
	assert_true(stack.bytes[PLIMP_SMAPS_ANONYMOUS] > 0);
	expect_kb(&whole, PLIMP_SMAPS_SWAP, 0);
	assert_true(whole.bytes[PLIMP_SMAPS_PSS] <=
		    whole.bytes[PLIMP_SMAPS_RSS]);
	assert_true(whole.bytes[PLIMP_SMAPS_RSS] ==
		    whole.bytes[PLIMP_SMAPS_SHARED_CLEAN] +
			whole.bytes[PLIMP_SMAPS_SHARED_DIRTY] +
			whole.bytes[PLIMP_SMAPS_PRIVATE_CLEAN] +
			whole.bytes[PLIMP_SMAPS_PRIVATE_DIRTY]);
}

static void test_older(void **state)
{
	struct plimp_smaps old = recorded("synthetic-smaps/before-4.3");

	(void)state;
	expect_kb(&old, PLIMP_SMAPS_RSS, 40);
	expect_kb(&old, PLIMP_SMAPS_PSS, 20);
	expect_kb(&old, PLIMP_SMAPS_SHARED_CLEAN, 40);
	expect_kb(&old, PLIMP_SMAPS_PRIVATE_DIRTY, 0);
	assert_int_equal(old.has &
			     (BIT(PSS_DIRTY) | BIT(LAZY_FREE) | BIT(SWAP_PSS) |
			      BIT(FLAGS) | BIT(SHARED_HUGETLB)),
			 0);
}

static void test_lines(void **state)
{
	static const struct {
		const char *line;
		int taken;
		uint64_t rss;
	} rows[] = {
	    {"Rss:                  40 kB", 1, 40 * 1024},
	    {"Rss:40 kB", 1, 40 * 1024},
	    {"Rss:\t18014398509481983 kB", 1, UINT64_MAX - 1023},
	    {"Rss: 18014398509481984 kB", 0, 0},
	    {"Rss: 40 KB", 0, 0},
	    {"Rss: 40 kB ", 0, 0},
	    {"Rss: 40", 0, 0},
	    {"Rss: -4 kB", 0, 0},
	    {"Rss:  kB", 0, 0},
	    {"Rss: 4 0 kB", 0, 0},
	    {" Rss: 40 kB", 0, 0},
	    {"rss: 40 kB", 0, 0},
	    {"Rsss: 40 kB", 0, 0},
	    {"THPeligible:           0", 0, 0},
	    {"KSM:                   4 kB", 0, 0},
	    {"", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes line = text_string(rows[i].line);
		struct plimp_smaps smaps;

		memset(&smaps, 0, sizeof(smaps));
		if (plimp_decode_smaps_line(line, &smaps) != rows[i].taken)
			fail_msg("wrong for %s", rows[i].line);
		assert_true(smaps.bytes[PLIMP_SMAPS_RSS] == rows[i].rss);
		assert_int_equal(smaps.has, rows[i].taken ? BIT(RSS) : 0);
		text_free(line);
	}
}

/* Of two the first counts, and a cut line is none. */
static void test_whole(void **state)
{
	plim_bytes text = text_string("junk\nPss: 3 kB\nPss: 4 kB\nRss: 99 kB");
	struct plimp_smaps smaps;

	(void)state;
	assert_int_equal(decode(text, &smaps), PLIM_OK);
	assert_int_equal(smaps.has, BIT(PSS));
	expect_kb(&smaps, PLIMP_SMAPS_PSS, 3);
	text_free(text);
}

static void test_flags(void **state)
{
	static const struct {
		const char *line;
		uint32_t flags;
	} rows[] = {
	    {"VmFlags: rd ex mr mw me ", 0},
	    {"VmFlags:", 0},
	    {"VmFlags: nh nr ac ht gd hg lo",
	     PLIMP_SMAPS_NH | PLIMP_SMAPS_NR | PLIMP_SMAPS_AC | PLIMP_SMAPS_HT |
		 PLIMP_SMAPS_GD | PLIMP_SMAPS_HG | PLIMP_SMAPS_LO},
	    {"VmFlags: io", PLIMP_SMAPS_IO},
	    {"VmFlags: rd pf", PLIMP_SMAPS_IO},
	    {"VmFlags: n h nhh NH ac", PLIMP_SMAPS_AC},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes line = text_string(rows[i].line);
		struct plimp_smaps smaps;

		memset(&smaps, 0, sizeof(smaps));
		assert_int_equal(plimp_decode_smaps_line(line, &smaps), 1);
		assert_int_equal(smaps.flags, rows[i].flags);
		assert_int_equal(smaps.has, BIT(FLAGS));
		/* A second time it tells nothing. */
		smaps.flags = 77;
		assert_int_equal(plimp_decode_smaps_line(line, &smaps), 0);
		assert_int_equal(smaps.flags, 77);
		text_free(line);
	}
}

static void check_any(plim_bytes text)
{
	struct plimp_smaps smaps;

	(void)decode(text, &smaps);
}

static void check_refused(plim_bytes text)
{
	struct plimp_smaps smaps;

	assert_int_equal(decode(text, &smaps), PLIM_EMALFORMED);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-smaps/stack");

	(void)state;
	text_every_prefix(text, check_any);
	text_every_change(text, check_any);
	text_every_nonsense(check_refused);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_recorded), cmocka_unit_test(test_older),
	    cmocka_unit_test(test_lines),    cmocka_unit_test(test_whole),
	    cmocka_unit_test(test_flags),    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_smaps", tests, NULL, NULL);
}
