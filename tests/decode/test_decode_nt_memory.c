/*
 * test_decode_nt_memory.c - memory counters, which count as far as the call
 * says that it filled them, I/O counters, and times.
 */
#include "fixture.h"
#include "nt.h"

#include "host/windows/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

enum {
	OLD = PLIMP_NT_FAULTS | PLIMP_NT_PEAK_RESIDENT | PLIMP_NT_RESIDENT |
	      PLIMP_NT_PAGEFILE,
	EX = OLD | PLIMP_NT_PRIVATE,
	EX2 = EX | PLIMP_NT_PRIVATE_RESIDENT | PLIMP_NT_SHARED_COMMIT
};

static int decode(plim_bytes bytes, unsigned word,
		  struct plimp_nt_memory *memory)
{
	struct plimp_nt_memory poison;

	memset(&poison, 0xa5, sizeof(poison));
	*memory = poison;
	int result = plimp_decode_nt_memory(bytes, word, memory);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(memory, &poison, sizeof(poison));
	}
	return result;
}

/* All of _EX2, each word another number, as if `filled` bytes were. */
static plim_bytes counters(unsigned word, size_t size, uint32_t filled)
{
	char bytes[96];

	memset(bytes, 0x77, sizeof(bytes));
	nt_put(bytes, 0, 4, filled);
	nt_put(bytes, 4, 4, 99);
	for (unsigned i = 0; i < 10; i++)
		nt_put(bytes, 8 + i * word, word, 1000 + i);
	nt_put(bytes, 8 + 10 * word, 8, UINT64_C(0x100000007));
	return text_copy(bytes, size);
}

static void check(unsigned word, size_t size, uint32_t filled, uint32_t has)
{
	struct plimp_nt_memory memory;
	plim_bytes bytes = counters(word, size, filled);

	assert_int_equal(decode(bytes, word, &memory), PLIM_OK);
	assert_int_equal(memory.has, has);
	assert_int_equal(memory.faults, 99);
	assert_int_equal(memory.peak_resident,
			 has & PLIMP_NT_PEAK_RESIDENT ? 1000 : 0);
	assert_int_equal(memory.resident, has & PLIMP_NT_RESIDENT ? 1001 : 0);
	assert_int_equal(memory.pagefile, has & PLIMP_NT_PAGEFILE ? 1006 : 0);
	assert_int_equal(memory.private_bytes,
			 has & PLIMP_NT_PRIVATE ? 1008 : 0);
	assert_int_equal(memory.private_resident,
			 has & PLIMP_NT_PRIVATE_RESIDENT ? 1009 : 0);
	assert_true(memory.shared_commit ==
		    (has & PLIMP_NT_SHARED_COMMIT ? UINT64_C(0x100000007) : 0));
	text_free(bytes);
}

static void test_filled(void **state)
{
	(void)state;
	check(8, 96, 96, EX2);
	check(8, 96, 80, EX);
	/* Asked for _EX2, succeeded, filled the oldest: what stands behind is
	 * what was in the buffer. */
	check(8, 96, 72, OLD);
	check(8, 80, 80, EX);
	check(8, 72, 72, OLD);
	/* It says more than there is. */
	check(8, 72, 96, OLD);
	check(8, 96, UINT32_MAX, EX2);
	/* Between two members: the one that is not whole does not count. */
	check(8, 96, 79, OLD);
	check(8, 96, 87, EX);
	check(8, 96, 95, EX | PLIMP_NT_PRIVATE_RESIDENT);
	check(8, 96, 8, PLIMP_NT_FAULTS);
	check(4, 56, 56, EX2);
	check(4, 44, 44, EX);
	check(4, 40, 40, OLD);
}

static void check_any(plim_bytes bytes)
{
	struct plimp_nt_memory memory;
	struct plimp_nt_io io;

	(void)decode(bytes, 8, &memory);
	(void)decode(bytes, 4, &memory);
	(void)plimp_decode_nt_io(bytes, &io);
}

static void test_hostile(void **state)
{
	struct plimp_nt_memory memory;
	plim_bytes bytes = counters(8, 96, 96);

	(void)state;
	text_every_prefix(bytes, check_any);
	text_every_change(bytes, check_any);
	text_every_nonsense(check_any);
	assert_int_equal(decode(bytes, 2, &memory), PLIM_EMALFORMED);
	text_free(bytes);
	bytes = counters(8, 96, 7);
	assert_int_equal(decode(bytes, 8, &memory), PLIM_EMALFORMED);
	text_free(bytes);
	bytes = counters(8, 96, 0);
	assert_int_equal(decode(bytes, 8, &memory), PLIM_EMALFORMED);
	text_free(bytes);
}

static void test_io(void **state)
{
	struct plimp_nt_io io;
	struct plimp_nt_io poison;
	char bytes[48];

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		nt_put(bytes, 8 * i, 8, (UINT64_C(1) << 40) + i);
	plim_bytes text = text_copy(bytes, sizeof(bytes));
	assert_int_equal(plimp_decode_nt_io(text, &io), PLIM_OK);
	assert_true(io.read_calls == (UINT64_C(1) << 40));
	assert_true(io.write_calls == (UINT64_C(1) << 40) + 1);
	assert_true(io.other_calls == (UINT64_C(1) << 40) + 2);
	assert_true(io.read_bytes == (UINT64_C(1) << 40) + 3);
	assert_true(io.write_bytes == (UINT64_C(1) << 40) + 4);
	assert_true(io.other_bytes == (UINT64_C(1) << 40) + 5);
	text.size--;
	memset(&poison, 0xa5, sizeof(poison));
	io = poison;
	assert_int_equal(plimp_decode_nt_io(text, &io), PLIM_EMALFORMED);
	assert_memory_equal(&io, &poison, sizeof(io));
	text_free(text);
}

static void test_times(void **state)
{
	const uint64_t epoch = UINT64_C(116444736000000000);
	uint64_t ms = 77;

	(void)state;
	assert_int_equal(plimp_nt_unix_ms(epoch - 1, &ms), -1);
	assert_int_equal(plimp_nt_unix_ms(0, &ms), -1);
	assert_int_equal(ms, 77);
	assert_int_equal(plimp_nt_unix_ms(epoch, &ms), 0);
	assert_int_equal(ms, 0);
	assert_int_equal(plimp_nt_unix_ms(epoch + 19999, &ms), 0);
	assert_int_equal(ms, 1);
	/* 2026-11-30 20:36:17.459 UTC */
	assert_int_equal(plimp_nt_unix_ms(UINT64_C(134405445774598520), &ms),
			 0);
	assert_true(ms == UINT64_C(1796070977459));
	assert_int_equal(plimp_nt_unix_ms(UINT64_MAX, &ms), 0);
	assert_int_equal(plimp_nt_ns(15), 1500);
	assert_true(plimp_nt_ns(UINT64_MAX / 100) == UINT64_MAX / 100 * 100);
	assert_true(plimp_nt_ns(UINT64_MAX / 100 + 1) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_filled),
	    cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_io),
	    cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
