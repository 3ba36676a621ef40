/*
 * test_decode_status.c - /proc/PID/status: what is there, what a kernel
 * thread, a zombie and an old kernel leave out, and lines that are not as
 * documented.
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

#define ALL ((uint32_t)0x7fff)
#define NO_MEMORY                                                              \
	((uint32_t)(PLIMP_STATUS_TGID | PLIMP_STATUS_PID | PLIMP_STATUS_PPID | \
		    PLIMP_STATUS_UID | PLIMP_STATUS_THREADS |                  \
		    PLIMP_STATUS_IGNORED | PLIMP_STATUS_VOLUNTARY |            \
		    PLIMP_STATUS_INVOLUNTARY))
#define BY_KIND \
	((uint32_t)(PLIMP_STATUS_ANON | PLIMP_STATUS_FILE | PLIMP_STATUS_SHMEM))

static int decode(plim_bytes text, struct plimp_status *status)
{
	struct plimp_status poison;

	memset(&poison, 0xa5, sizeof(poison));
	memcpy(status, &poison, sizeof(poison));
	int result = plimp_decode_status(text, status);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(status, &poison, sizeof(poison));
	} else {
		assert_true(status->has && !(status->has & ~ALL));
	}
	return result;
}

/* The figures of the recorded worker, as far as `has` names them; a part that
 * it does not name is 0. */
static void expect_worker(const struct plimp_status *s)
{
#define PART(part, member, value) \
	assert_true(s->member == (s->has & PLIMP_STATUS_##part ? value : 0))
	PART(TGID, tgid, 16767);
	PART(PID, pid, 16767);
	PART(PPID, ppid, 16726);
	PART(UID, uid, 0);
	PART(HWM, peak_bytes, 80988u * 1024);
	PART(RSS, resident_bytes, 73176u * 1024);
	PART(ANON, anonymous_bytes, 58232u * 1024);
	PART(FILE, file_bytes, 6752u * 1024);
	PART(SHMEM, shmem_bytes, 8192u * 1024);
	PART(SWAP, swap_bytes, 0);
	PART(PTE, page_table_bytes, 220u * 1024);
	PART(THREADS, threads, 5);
	PART(IGNORED, ignored, 0x1001000);
	PART(VOLUNTARY, voluntary, 416);
	PART(INVOLUNTARY, involuntary, 76);
#undef PART
}

static void test_worker(void **state)
{
	static const struct {
		const char *file;
		uint32_t has;
	} rows[] = {
	    {"linux-6.18-status/worker", ALL},
	    {"synthetic-status/before-4.5", ALL & ~BY_KIND},
	    {"synthetic-status/twice", ALL},
	    {"synthetic-status/shadow-stack", ALL},
	    {"synthetic-status/switches-first", ALL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_fixture(rows[i].file);
		struct plimp_status status;
		assert_int_equal(decode(text, &status), PLIM_OK);
		assert_int_equal(status.has, rows[i].has);
		expect_worker(&status);
		text_free(text);
	}
}

static void test_recorded(void **state)
{
	/* clang-format off */
	static const struct {
		const char *file;
		uint32_t has;
		int32_t tgid, pid, ppid;
		uint32_t uid;
		uint64_t resident_kb, anonymous_kb, threads;
		uint64_t voluntary, involuntary;
	} rows[] = {
		{"thread", ALL, 16767, 16771, 16726, 0, 73176, 58232, 5, 428,
		 28},
		{"kworker", NO_MEMORY, 16, 16, 2, 0, 0, 0, 1, 2, 0},
		{"zombie", NO_MEMORY, 16777, 16777, 16726, 0, 0, 0, 1, 1, 1},
		{"user-1000", ALL, 16776, 16776, 16726, 1000, 1736, 108, 1, 5,
		 0},
		/* A newline in a name cannot make a line. */
		{"name-newline", ALL, 16783, 16783, 16726, 0, 11816, 8024, 1,
		 1, 0},
		{"name-escapes", ALL, 16784, 16784, 16726, 0, 11816, 8024, 1,
		 1, 0},
		{"name-empty", ALL, 16787, 16787, 16726, 0, 11816, 8024, 1, 1,
		 0},
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char file[128];
		struct plimp_status s;
		snprintf(file, sizeof(file), "linux-6.18-status/%s",
			 rows[i].file);
		plim_bytes text = text_fixture(file);
		assert_int_equal(decode(text, &s), PLIM_OK);
		assert_int_equal(s.has, rows[i].has);
		assert_int_equal(s.tgid, rows[i].tgid);
		assert_int_equal(s.pid, rows[i].pid);
		assert_int_equal(s.ppid, rows[i].ppid);
		assert_int_equal(s.uid, rows[i].uid);
		assert_int_equal(s.resident_bytes, rows[i].resident_kb * 1024);
		assert_int_equal(s.anonymous_bytes,
				 rows[i].anonymous_kb * 1024);
		assert_int_equal(s.threads, rows[i].threads);
		assert_int_equal(s.voluntary, rows[i].voluntary);
		assert_int_equal(s.involuntary, rows[i].involuntary);
		text_free(text);
	}
}

/* What does not fit is left out, and its neighbours stay. */
static void test_too_large(void **state)
{
	plim_bytes text = text_fixture("synthetic-status/too-large");
	struct plimp_status status;

	(void)state;
	assert_int_equal(decode(text, &status), PLIM_OK);
	assert_int_equal(
	    status.has, ALL & ~(uint32_t)(PLIMP_STATUS_RSS | PLIMP_STATUS_PID |
					  PLIMP_STATUS_PPID | PLIMP_STATUS_UID |
					  PLIMP_STATUS_THREADS));
	assert_true(status.peak_bytes == UINT64_MAX - 1023);
	status.peak_bytes = 80988u * 1024;
	expect_worker(&status);
	text_free(text);
}

static void test_lines(void **state)
{
	/* clang-format off */
	static const struct {
		const char *line;
		uint32_t has; /* 0: malformed */
		uint64_t value;
	} rows[] = {
		{"Threads:\t5\n", PLIMP_STATUS_THREADS, 5},
		{"Threads:5\n", PLIMP_STATUS_THREADS, 5},
		{"Threads:\t18446744073709551615\n", PLIMP_STATUS_THREADS,
		 UINT64_MAX},
		{"\n\nThreads:\t5\n", PLIMP_STATUS_THREADS, 5},
		{"\xff\n:\nV\nVm\nT\nP\nR\nRs\nRss\nThreads:\t5\n",
		 PLIMP_STATUS_THREADS, 5},
		{"Threads:\tx\nThreads:\t5\n", PLIMP_STATUS_THREADS, 5},
		{"Threads:\t5\nThreads:\t6\n", PLIMP_STATUS_THREADS, 5},
		{"Threads:\t5", 0, 0},
		{"Threads:\t5 \n", 0, 0},
		{"Threads:\t5\r\n", 0, 0},
		{"Threads:\t-5\n", 0, 0},
		{"Threads:\t5 kB\n", 0, 0},
		{"Threads:\t\n5\n", 0, 0},
		{"Threads:\t\n", 0, 0},
		{"Threads:\n", 0, 0},
		{"Threads:", 0, 0},
		{"Threads\n", 0, 0},
		{" Threads:\t5\n", 0, 0},
		{"threads:\t5\n", 0, 0},
		{"Tgid:Threads:\t5\n", 0, 0},
		{"VmRSS:\t       3 kB\n", PLIMP_STATUS_RSS, 3072},
		{"VmRSS:\t3 kB", 0, 0},
		{"VmRSS:\t3 kB \n", 0, 0},
		{"VmRSS:\t3\n", 0, 0},
		{"VmRSS:\t3 MB\n", 0, 0},
		{"VmRSS:\t3kB\n", 0, 0},
		{"VmRSSX:\t3 kB\n", 0, 0},
		{"RssTwo:\t3 kB\n", 0, 0},
		{"Tgid:\t0\n", PLIMP_STATUS_TGID, 0},
		{"Tgid:\t2147483647\n", PLIMP_STATUS_TGID, INT32_MAX},
		{"Tgid:\t2147483648\n", 0, 0},
		{"Uid:\t1\t4294967295\t3\t4\n", PLIMP_STATUS_UID, UINT32_MAX},
		{"Uid:\t4294967295\t6\t4294967295\t4294967295\n",
		 PLIMP_STATUS_UID, 6},
		{"Uid:\t1\t2\t\n", 0, 0},
		{"Uid:\t1\t2\t\t4\n", 0, 0},
		{"Uid:\t4294967296\t2\t3\t4\n", 0, 0},
		{"Uid:\t1\t2\t4294967296\t4\n", 0, 0},
		{"Uid:\t1\t4294967296\t3\t4\n", 0, 0},
		{"Uid:\t1\t2\t3\t4294967296\n", 0, 0},
		{"Uid:\t1\t2\t3\n", 0, 0},
		{"Uid:\t1\t2\t3\n4\n", 0, 0},
		{"Uid:\t1\t2\t3\t4\t5\n", 0, 0},
		{"Uid:\t1\t2\t3\t4", 0, 0},
		{"SigIgn:\t0000000000010000\n", PLIMP_STATUS_IGNORED, 0x10000},
		{"SigIgn:\tffffffffffffffff\n", PLIMP_STATUS_IGNORED,
		 UINT64_MAX},
		{"SigIgn:\t0123456789abcdef\n", PLIMP_STATUS_IGNORED,
		 UINT64_C(0x123456789abcdef)},
		{"SigIgn:\t10000\n", 0, 0},
		{"SigIgn:\t00000000000010000\n", 0, 0},
		{"SigIgn:\t000000000001000G\n", 0, 0},
		{"SigIgn:\t000000000001000A\n", 0, 0},
		{"SigIgn:\t0000000000010000", 0, 0},
		{"SigIgn:\t\n", 0, 0},
		{"SigIgX:\t0000000000010000\n", 0, 0},
		{"voluntary_ctxt_switches:\t8\n", PLIMP_STATUS_VOLUNTARY, 8},
		{"nonvoluntary_ctxt_switches:\t8\n", PLIMP_STATUS_INVOLUNTARY,
		 8},
		{"xnonvoluntary_ctxt_switches:\t8\n", 0, 0},
		{"x\nvoluntary_ctxt_switches:\t8", 0, 0},
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].line);
		struct plimp_status s;
		int result = decode(text, &s);
		if (result != (rows[i].has ? PLIM_OK : PLIM_EMALFORMED))
			fail_msg("%d for %s", result, rows[i].line);
		if (!result) {
			assert_int_equal(s.has, rows[i].has);
			uint64_t sum = s.threads + s.resident_bytes +
				       (uint64_t)s.tgid + s.uid + s.voluntary +
				       s.involuntary + s.ignored;
			assert_true(sum == rows[i].value);
		}
		text_free(text);
	}
}

/* Each figure is stored in its own place, in whatever order they come. */
static void test_order(void **state)
{
	plim_bytes text = text_string(
	    "nonvoluntary_ctxt_switches:\t14\n"
	    "voluntary_ctxt_switches:\t13\nSigIgn:\t000000000000000f\n"
	    "Threads:\t12\nVmPTE:\t11 kB\n"
	    "VmSwap:\t10 kB\nRssShmem:\t9 kB\nRssFile:\t8 kB\n"
	    "RssAnon:\t7 kB\nVmRSS:\t6 kB\nVmHWM:\t5 kB\n"
	    "Uid:\t0\t4\t0\t0\nPPid:\t3\nPid:\t2\nTgid:\t1\n");
	struct plimp_status s;

	(void)state;
	assert_int_equal(decode(text, &s), PLIM_OK);
	assert_int_equal(s.has, ALL);
	assert_int_equal(s.tgid, 1);
	assert_int_equal(s.pid, 2);
	assert_int_equal(s.ppid, 3);
	assert_int_equal(s.uid, 4);
	assert_int_equal(s.peak_bytes, 5 * 1024);
	assert_int_equal(s.resident_bytes, 6 * 1024);
	assert_int_equal(s.anonymous_bytes, 7 * 1024);
	assert_int_equal(s.file_bytes, 8 * 1024);
	assert_int_equal(s.shmem_bytes, 9 * 1024);
	assert_int_equal(s.swap_bytes, 10 * 1024);
	assert_int_equal(s.page_table_bytes, 11 * 1024);
	assert_int_equal(s.threads, 12);
	assert_int_equal(s.voluntary, 13);
	assert_int_equal(s.involuntary, 14);
	assert_int_equal(s.ignored, 15);
	text_free(text);
}

/* Once all but the switches are known, lines are jumped over: the switches
 * are found in either order, at once, and behind lines that hold a "v". */
static void test_jump(void **state)
{
	static const struct {
		const char *tail;
		uint64_t voluntary, involuntary;
	} rows[] = {
	    {"voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t2\n", 1,
	     2},
	    {"nonvoluntary_ctxt_switches:\t2\nvoluntary_ctxt_switches:\t1\n", 1,
	     2},
	    {"NoNewPrivs:\t0\nvoid:\t1\nnonv\nv\n\nvoluntary_ctxt_switches:\t1"
	     "\nvvv\nnonvoluntary_ctxt_switches:\t2\nx\n",
	     1, 2},
	    {"a voluntary_ctxt_switches:\t1\nnonnonvoluntary_ctxt_switches:"
	     "\t2\n",
	     0, 0},
	    {"voluntary_ctxt_switches:\tx\nvoluntary_ctxt_switches:\t1\n", 1,
	     0},
	    {"x\ny\nnonvoluntary_ctxt_switches:\t2\nx\n"
	     "voluntary_ctxt_switches:\t1\n",
	     1, 2},
	    {"voluntary_ctxt_switches:\t12", 0, 0},
	    {"v", 0, 0},
	    {"nonv", 0, 0},
	    {"", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char file[2048];
		struct plimp_status s;
		snprintf(file, sizeof(file),
			 "Tgid:\t9\nPid:\t9\nPPid:\t9\nUid:\t0\t0\t0\t0\n"
			 "VmHWM:\t9 kB\nVmRSS:\t9 kB\nRssAnon:\t9 kB\n"
			 "RssFile:\t9 kB\nRssShmem:\t9 kB\nVmPTE:\t9 kB\n"
			 "VmSwap:\t9 kB\nThreads:\t9\n"
			 "SigIgn:\t0000000000000000\n%s",
			 rows[i].tail);
		plim_bytes text = text_string(file);
		assert_int_equal(decode(text, &s), PLIM_OK);
		assert_int_equal(s.voluntary, rows[i].voluntary);
		assert_int_equal(s.involuntary, rows[i].involuntary);
		assert_int_equal(!!(s.has & PLIMP_STATUS_VOLUNTARY),
				 rows[i].voluntary != 0);
		assert_int_equal(!!(s.has & PLIMP_STATUS_INVOLUNTARY),
				 rows[i].involuntary != 0);
		text_free(text);
	}
}

static void check_prefix(plim_bytes prefix)
{
	struct plimp_status status;

	if (!decode(prefix, &status))
		expect_worker(&status);
}

static void check_any(plim_bytes text)
{
	struct plimp_status status;

	(void)decode(text, &status);
}

static void check_refused(plim_bytes text)
{
	struct plimp_status status;

	assert_int_equal(decode(text, &status), PLIM_EMALFORMED);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-status/worker");

	(void)state;
	text_every_prefix(text, check_prefix);
	text_every_change(text, check_any);
	text_every_nonsense(check_refused);
	text_free(text);

	text = text_fixture("synthetic-status/unknown-lines-only");
	check_refused(text);
	text_free(text);
	text = text_fixture("synthetic-status/crlf");
	check_refused(text);
	text_free(text);
}

/* The signals that a thread blocks. */
static void test_blocked(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t mask;
	} cases[] = {
	    {"Name:\tx\nSigBlk:\t0000000000400000\n", PLIM_OK, 0x400000},
	    {"\nSigBlk:\tfffffffffffbfeff\n", PLIM_OK, 0xfffffffffffbfeff},
	    {"\nSigBlk:\t0000000000000000\nSigBlk:\t1", PLIM_OK, 0},
	    {"SigBlk:\t0000000000400000\n", PLIM_EMALFORMED, 0},
	    {"\nSigBlk:\t000000000040000\n", PLIM_EMALFORMED, 0},
	    {"\nSigBlk:\t00000000004000000\n", PLIM_EMALFORMED, 0},
	    {"\nSigBlk:\t000000000040000G\n", PLIM_EMALFORMED, 0},
	    {"\nSigBlk:\t000000000040000A\n", PLIM_EMALFORMED, 0},
	    {"\nSigBlk:\t0000000000400000", PLIM_EMALFORMED, 0},
	    {"\nSigIgn:\t0000000000400000\n", PLIM_EMALFORMED, 0},
	    {"", PLIM_EMALFORMED, 0},
	};
	plim_bytes whole = text_fixture("linux-6.18-status/worker");
	uint64_t mask = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plim_bytes text = {cases[i].text, strlen(cases[i].text)};

		mask = 5;
		assert_int_equal(plimp_decode_blocked(text, &mask),
				 cases[i].result);
		assert_true(mask == (cases[i].result ? 5 : cases[i].mask));
	}
	assert_int_equal(plimp_decode_blocked(whole, &mask), PLIM_OK);
	assert_true(mask == 0);
	text_free(whole);
}

/* What waits for it, too. */
static void test_signals(void **state)
{
	static const char made[] = "Name:\tx\nSigPnd:\t0000000000400000\n"
				   "ShdPnd:\t0000000000000001\n"
				   "SigBlk:\tfffffffe7ffbfeff\n";
	const plim_bytes text = {made, sizeof(made) - 1};
	struct plimp_signal_masks masks = {7, 7, 7};

	(void)state;
	for (size_t size = 0; size < text.size; size++) {
		const plim_bytes part = {made, size};

		assert_int_equal(plimp_decode_signals(part, &masks),
				 PLIM_EMALFORMED);
		assert_true(masks.blocked == 7 && masks.pending == 7 &&
			    masks.shared == 7);
	}
	assert_int_equal(plimp_decode_signals(text, &masks), PLIM_OK);
	assert_true(masks.blocked == 0xfffffffe7ffbfeff);
	assert_true(masks.pending == 0x400000);
	assert_true(masks.shared == 1);
}

/* Any parts of it: what is asked is as in the whole, and nothing else is. */
static void test_parts(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-status/worker");
	struct plimp_status whole, some;

	(void)state;
	assert_int_equal(plimp_decode_status(text, &whole), PLIM_OK);
	for (uint32_t parts = 0; parts < 2 * PLIMP_STATUS_IGNORED; parts++) {
		int result = plimp_decode_status_parts(text, parts, &some);
		if ((whole.has & parts) == 0) {
			assert_int_equal(result, PLIM_EMALFORMED);
			continue;
		}
		assert_int_equal(result, PLIM_OK);
		assert_int_equal(some.has, whole.has & parts);
		if (parts & PLIMP_STATUS_UID)
			assert_int_equal(some.uid, whole.uid);
		if (parts & PLIMP_STATUS_RSS)
			assert_int_equal(some.resident_bytes,
					 whole.resident_bytes);
		if (parts & PLIMP_STATUS_SWAP)
			assert_int_equal(some.swap_bytes, whole.swap_bytes);
		if (parts & PLIMP_STATUS_THREADS)
			assert_int_equal(some.threads, whole.threads);
		if (parts & PLIMP_STATUS_IGNORED)
			assert_int_equal(some.ignored, whole.ignored);
		if (parts & PLIMP_STATUS_VOLUNTARY)
			assert_int_equal(some.voluntary, whole.voluntary);
		if (parts & PLIMP_STATUS_INVOLUNTARY)
			assert_int_equal(some.involuntary, whole.involuntary);
	}
	text_free(text);
}

static int own_pid(const char *text)
{
	int32_t pid = -7;
	int result =
	    plimp_decode_own_pid((plim_bytes){text, strlen(text)}, &pid);

	assert_true(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK)
		assert_int_equal(pid, -7);
	return result == PLIM_OK ? (int)pid : -1;
}

/* The innermost namespace's pid stands last. */
static void test_own_pid(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-status/worker");
	int32_t pid = 0;

	(void)state;
	assert_int_equal(plimp_decode_own_pid(text, &pid), PLIM_OK);
	assert_int_equal(pid, 16767);
	text_free(text);
	assert_int_equal(own_pid("NSpid:\t5\n"), 5);
	assert_int_equal(own_pid("Pid:\t9\nNSpid:\t9\t12\t1\nx\n"), 1);
	assert_int_equal(own_pid("NSpid:\t5\nNSpid:\t6\n"), 5);
	assert_int_equal(own_pid("NSpid:\t2147483647\n"), 2147483647);
	assert_int_equal(own_pid("NSpid:\t2147483648\n"), -1);
	assert_int_equal(own_pid("NSpid:\t0\n"), -1);
	assert_int_equal(own_pid("NSpid:\t5"), -1);
	assert_int_equal(own_pid("NSpid:\n"), -1);
	assert_int_equal(own_pid("NSpid:\t5 x\n"), -1);
	assert_int_equal(own_pid("NSpid:\t5\t\n"), -1);
	assert_int_equal(own_pid("NStgid:\t5\n"), -1);
	assert_int_equal(own_pid(" NSpid:\t5\n"), -1);
	assert_int_equal(own_pid(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_worker),    cmocka_unit_test(test_recorded),
	    cmocka_unit_test(test_too_large), cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_order),     cmocka_unit_test(test_jump),
	    cmocka_unit_test(test_hostile),   cmocka_unit_test(test_parts),
	    cmocka_unit_test(test_blocked),   cmocka_unit_test(test_signals),
	    cmocka_unit_test(test_own_pid),
	};

	return cmocka_run_group_tests_name("decode_status", tests, NULL, NULL);
}
