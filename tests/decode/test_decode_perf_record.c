/*
 * test_decode_perf_record.c - records of a perf ring: starts, ends, losses,
 * others; sizes that lie.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define OTHER_TYPE 5 /* PERF_RECORD_THROTTLE */

static const struct plimp_perf_record poison = {
    .type = 77,
    .size = 77,
    .pid = -77,
};

static size_t put_header(char *at, uint32_t type, uint16_t size)
{
	memset(at, 0, 64);
	memcpy(at, &type, sizeof(type));
	memcpy(at + 6, &size, sizeof(size));
	return 8;
}

static void put_task(char *at, uint32_t type, uint16_t size)
{
	const int32_t ids[4] = {4194303, 41, 4194302, 42};
	const uint64_t time = UINT64_C(0x123456789abcdef0);
	size_t used = put_header(at, type, size);

	memcpy(at + used, ids, sizeof(ids));
	memcpy(at + used + sizeof(ids), &time, sizeof(time));
}

static void put_lost(char *at, uint16_t size)
{
	const uint64_t parts[2] = {7, UINT64_MAX - 1};
	size_t used = put_header(at, 2, size);

	memcpy(at + used, parts, sizeof(parts));
}

static int decode(const char *data, size_t size,
		  struct plimp_perf_record *record)
{
	plim_bytes bytes = text_copy(data, size);
	int result;

	*record = poison;
	result = plimp_decode_perf_record(bytes, record);
	if (result != PLIM_OK) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(record, &poison, sizeof(poison));
	}
	text_free(bytes);
	return result;
}

static void test_tasks(void **state)
{
	static const struct {
		uint32_t told;
		int type;
	} rows[] = {{7, PLIMP_PERF_FORK}, {4, PLIMP_PERF_EXIT}};
	struct plimp_perf_record record;
	char data[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_task(data, rows[i].told, 32);
		assert_int_equal(decode(data, 32, &record), PLIM_OK);
		assert_int_equal(record.type, rows[i].type);
		assert_int_equal(record.size, 32);
		assert_int_equal(record.pid, 4194303);
		assert_int_equal(record.ppid, 41);
		assert_int_equal(record.tid, 4194302);
		assert_int_equal(record.ptid, 42);
		assert_int_equal(record.time_ns, UINT64_C(0x123456789abcdef0));
		assert_int_equal(record.lost, 0);
	}
	/* With a sample_id behind it, of which only the size is known. */
	put_task(data, 7, 40);
	assert_int_equal(decode(data, 32, &record), PLIM_OK);
	assert_int_equal(record.size, 40);
}

static void test_others(void **state)
{
	struct plimp_perf_record record;
	char data[64];

	(void)state;
	put_lost(data, 24);
	assert_int_equal(decode(data, 24, &record), PLIM_OK);
	assert_int_equal(record.type, PLIMP_PERF_LOST);
	assert_int_equal(record.lost, UINT64_MAX - 1);
	assert_int_equal(record.pid, 0);
	put_task(data, OTHER_TYPE, 65528);
	assert_int_equal(decode(data, 8, &record), PLIM_OK);
	assert_int_equal(record.type, PLIMP_PERF_OTHER);
	assert_int_equal(record.size, 65528);
	assert_int_equal(record.pid, 0);
	assert_int_equal(record.lost, 0);
}

/* Cut anywhere, and every size that a record may not have. */
static void test_malformed(void **state)
{
	struct plimp_perf_record record;
	char data[64];

	(void)state;
	for (size_t size = 0; size < 32; size++) {
		put_task(data, 7, 32);
		assert_int_equal(decode(data, size, &record), PLIM_EMALFORMED);
		put_task(data, 4, (uint16_t)size);
		assert_int_equal(decode(data, 64, &record), PLIM_EMALFORMED);
		put_lost(data, (uint16_t)size);
		assert_int_equal(decode(data, 64, &record),
				 size == 24 ? PLIM_OK : PLIM_EMALFORMED);
		put_header(data, OTHER_TYPE, (uint16_t)size);
		assert_int_equal(decode(data, 64, &record),
				 size >= 8 && size % 8 == 0 ? PLIM_OK
							    : PLIM_EMALFORMED);
	}
	put_task(data, 7, 33);
	assert_int_equal(decode(data, 64, &record), PLIM_EMALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tasks),
	    cmocka_unit_test(test_others),
	    cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests_name("decode perf records", tests, NULL,
					   NULL);
}
