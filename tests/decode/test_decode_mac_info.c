/*
 * test_decode_mac_info.c - what proc_pidinfo() answers: every number at its
 * place and no other's, names without a NUL, sizes that are not a structure's,
 * numbers that cannot be.
 */
#include "fixture.h"
#include "mac_bytes.h"

#include <limits.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/* Each byte tells its place; then the fields are set. */
static void fill(char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i * 7 + 1);
}

static void make_bsdinfo(char bytes[sizeof(struct plimp_mac_bsdinfo)])
{
	const size_t at_comm = offsetof(struct plimp_mac_bsdinfo, comm);
	const size_t at_name = offsetof(struct plimp_mac_bsdinfo, name);

	fill(bytes, sizeof(struct plimp_mac_bsdinfo));
	MAC_PUT(bytes, plimp_mac_bsdinfo, flags, 0x12345678);
	MAC_PUT(bytes, plimp_mac_bsdinfo, status, PLIMP_MAC_STOP);
	MAC_PUT(bytes, plimp_mac_bsdinfo, pid, 99999);
	MAC_PUT(bytes, plimp_mac_bsdinfo, ppid, 88888);
	MAC_PUT(bytes, plimp_mac_bsdinfo, uid, 4294967294);
	MAC_PUT(bytes, plimp_mac_bsdinfo, nice, (uint32_t)-20);
	MAC_PUT(bytes, plimp_mac_bsdinfo, start_s, 1700000000);
	MAC_PUT(bytes, plimp_mac_bsdinfo, start_us, 999999);
	memcpy(bytes + at_comm, "com.apple.longn", 16);
	memset(bytes + at_name, 0, 32);
	memcpy(bytes + at_name, "com.apple.longname.helper", 25);
}

static int decode_bsdinfo(const char *data, size_t size,
			  struct plimp_mac_process *process)
{
	struct plimp_mac_process poison;
	plim_bytes bytes = text_copy(data, size);
	int result;

	memset(&poison, 0xa5, sizeof(poison));
	*process = poison;
	result = plimp_decode_mac_bsdinfo(bytes, process);
	if (result != PLIM_OK) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(process, &poison, sizeof(poison));
	} else {
		assert_true(process->name.data >= bytes.data);
		assert_true(process->name.data + process->name.size <=
			    bytes.data + bytes.size);
		process->name.data = data + (process->name.data - bytes.data);
	}
	text_free(bytes);
	return result;
}

static void test_bsdinfo(void **state)
{
	char bytes[sizeof(struct plimp_mac_bsdinfo)];
	struct plimp_mac_process process;

	(void)state;
	make_bsdinfo(bytes);
	assert_int_equal(decode_bsdinfo(bytes, sizeof(bytes), &process),
			 PLIM_OK);
	assert_int_equal(process.pid, 99999);
	assert_int_equal(process.ppid, 88888);
	assert_true(process.uid == 4294967294);
	assert_int_equal(process.flags, 0x12345678);
	assert_int_equal(process.status, PLIMP_MAC_STOP);
	assert_int_equal(process.has_more, 1);
	assert_int_equal(process.nice, -20);
	assert_true(process.start_unix_us == UINT64_C(1700000000999999));
	assert_true(text_is(process.name, "com.apple.longname.helper"));
}

/* Without a registered name the short one is it; neither needs a NUL. */
static void test_names(void **state)
{
	const size_t at_comm = offsetof(struct plimp_mac_bsdinfo, comm);
	const size_t at_name = offsetof(struct plimp_mac_bsdinfo, name);
	char bytes[sizeof(struct plimp_mac_bsdinfo)];
	struct plimp_mac_process process;

	(void)state;
	make_bsdinfo(bytes);
	bytes[at_name] = '\0';
	assert_int_equal(decode_bsdinfo(bytes, sizeof(bytes), &process),
			 PLIM_OK);
	assert_true(text_is(process.name, "com.apple.longn"));
	memset(bytes + at_comm, 0xff, 16);
	assert_int_equal(decode_bsdinfo(bytes, sizeof(bytes), &process),
			 PLIM_OK);
	assert_int_equal(process.name.size, 16);
	memset(bytes + at_name, '\n', 32);
	assert_int_equal(decode_bsdinfo(bytes, sizeof(bytes), &process),
			 PLIM_OK);
	assert_int_equal(process.name.size, 32);
	memset(bytes + at_name, 0, 32);
	memset(bytes + at_comm, 0, 16);
	assert_int_equal(decode_bsdinfo(bytes, sizeof(bytes), &process),
			 PLIM_OK);
	assert_int_equal(process.name.size, 0);
}

static void test_bsdinfo_hostile(void **state)
{
	char bytes[sizeof(struct plimp_mac_bsdinfo) + 1];
	struct plimp_mac_process process;

	(void)state;
	make_bsdinfo(bytes);
	for (size_t size = 0; size < sizeof(bytes); size++)
		if (size != sizeof(struct plimp_mac_bsdinfo))
			assert_int_equal(decode_bsdinfo(bytes, size, &process),
					 PLIM_EMALFORMED);
	MAC_PUT(bytes, plimp_mac_bsdinfo, pid, 0x80000000);
	assert_int_equal(decode_bsdinfo(bytes, 136, &process), PLIM_EMALFORMED);
	make_bsdinfo(bytes);
	MAC_PUT(bytes, plimp_mac_bsdinfo, ppid, 0xffffffff);
	assert_int_equal(decode_bsdinfo(bytes, 136, &process), PLIM_EMALFORMED);
	make_bsdinfo(bytes);
	MAC_PUT(bytes, plimp_mac_bsdinfo, start_us, 1000000);
	assert_int_equal(decode_bsdinfo(bytes, 136, &process), PLIM_EMALFORMED);
	make_bsdinfo(bytes);
	MAC_PUT(bytes, plimp_mac_bsdinfo, start_s, UINT64_MAX);
	assert_int_equal(decode_bsdinfo(bytes, 136, &process), PLIM_EMALFORMED);
}

static void test_bsdshort(void **state)
{
	const size_t at_comm = offsetof(struct plimp_mac_bsdshort, comm);
	char bytes[sizeof(struct plimp_mac_bsdshort)];
	struct plimp_mac_process process;

	(void)state;
	fill(bytes, sizeof(bytes));
	MAC_PUT(bytes, plimp_mac_bsdshort, pid, 12);
	MAC_PUT(bytes, plimp_mac_bsdshort, ppid, 34);
	MAC_PUT(bytes, plimp_mac_bsdshort, status, PLIMP_MAC_ZOMBIE);
	MAC_PUT(bytes, plimp_mac_bsdshort, flags, PLIMP_MAC_FLAG_EXITING);
	MAC_PUT(bytes, plimp_mac_bsdshort, uid, 56);
	memcpy(bytes + at_comm, "no end here, see", 16);
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		plim_bytes text = text_copy(bytes, size);

		assert_int_equal(plimp_decode_mac_bsdshort(text, &process),
				 size == sizeof(bytes) ? PLIM_OK
						       : PLIM_EMALFORMED);
		if (size == sizeof(bytes))
			assert_true(text_is(process.name, "no end here, see"));
		text_free(text);
	}
	assert_int_equal(process.pid, 12);
	assert_int_equal(process.ppid, 34);
	assert_int_equal(process.status, PLIMP_MAC_ZOMBIE);
	assert_int_equal(process.flags, PLIMP_MAC_FLAG_EXITING);
	assert_int_equal(process.uid, 56);
	assert_int_equal(process.has_more, 0);
	MAC_PUT(bytes, plimp_mac_bsdshort, pid, 0x80000000);
	assert_int_equal(plimp_decode_mac_bsdshort(
			     (plim_bytes){bytes, sizeof(bytes)}, &process),
			 PLIM_EMALFORMED);
	assert_int_equal(process.pid, 12);
}

static void test_unique(void **state)
{
	char bytes[sizeof(struct plimp_mac_uniqueinfo)];
	struct plimp_mac_unique unique;

	(void)state;
	fill(bytes, sizeof(bytes));
	MAC_PUT(bytes, plimp_mac_uniqueinfo, id, UINT64_C(0x8877665544332211));
	MAC_PUT(bytes, plimp_mac_uniqueinfo, parent_id, 17);
	MAC_PUT(bytes, plimp_mac_uniqueinfo, version, 0xfffffffe);
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		plim_bytes text = text_copy(bytes, size);

		assert_int_equal(plimp_decode_mac_unique(text, &unique),
				 size == sizeof(bytes) ? PLIM_OK
						       : PLIM_EMALFORMED);
		text_free(text);
	}
	assert_true(unique.id == UINT64_C(0x8877665544332211));
	assert_int_equal(unique.parent_id, 17);
	assert_true(unique.version == 0xfffffffe);
	MAC_PUT(bytes, plimp_mac_uniqueinfo, id, 0);
	assert_int_equal(plimp_decode_mac_unique(
			     (plim_bytes){bytes, sizeof(bytes)}, &unique),
			 PLIM_EMALFORMED);
}

static void make_task(char bytes[sizeof(struct plimp_mac_taskinfo)])
{
	fill(bytes, sizeof(struct plimp_mac_taskinfo));
	MAC_PUT(bytes, plimp_mac_taskinfo, total_user, 111);
	MAC_PUT(bytes, plimp_mac_taskinfo, total_system, 222);
	MAC_PUT(bytes, plimp_mac_taskinfo, resident_size, 333);
	MAC_PUT(bytes, plimp_mac_taskinfo, faults, 444);
	MAC_PUT(bytes, plimp_mac_taskinfo, pageins, 555);
	MAC_PUT(bytes, plimp_mac_taskinfo, switches, 666);
	MAC_PUT(bytes, plimp_mac_taskinfo, threads, 777);
	MAC_PUT(bytes, plimp_mac_taskinfo, running, 888);
}

static void test_task(void **state)
{
	static const size_t counters[] = {
	    offsetof(struct plimp_mac_taskinfo, threads),
	    offsetof(struct plimp_mac_taskinfo, running),
	};
	char bytes[sizeof(struct plimp_mac_taskinfo)];
	struct plimp_mac_task task;

	(void)state;
	make_task(bytes);
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		plim_bytes text = text_copy(bytes, size);

		assert_int_equal(plimp_decode_mac_task(text, &task),
				 size == sizeof(bytes) ? PLIM_OK
						       : PLIM_EMALFORMED);
		text_free(text);
	}
	assert_int_equal(task.user_ticks, 111);
	assert_int_equal(task.system_ticks, 222);
	assert_int_equal(task.resident_bytes, 333);
	assert_int_equal(task.has_faults, 1);
	assert_int_equal(task.faults, 444);
	assert_int_equal(task.pageins, 555);
	assert_int_equal(task.threads, 777);
	assert_int_equal(task.running, 888);
	assert_int_equal(task.faults_are_least, 0);
	MAC_PUT(bytes, plimp_mac_taskinfo, faults, INT32_MAX);
	assert_int_equal(
	    plimp_decode_mac_task((plim_bytes){bytes, sizeof(bytes)}, &task),
	    PLIM_OK);
	assert_int_equal(task.faults_are_least, 1);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		make_task(bytes);
		mac_put(bytes, counters[i], UINT32_MAX, 4);
		assert_int_equal(plimp_decode_mac_task(
				     (plim_bytes){bytes, sizeof(bytes)}, &task),
				 PLIM_EMALFORMED);
	}
	assert_int_equal(task.faults_are_least, 1);
}

/* Before macOS 12 they go on behind 2^31 - 1; the rest is told all the same. */
static void test_task_wrapped(void **state)
{
	static const size_t counters[] = {
	    offsetof(struct plimp_mac_taskinfo, faults),
	    offsetof(struct plimp_mac_taskinfo, pageins),
	};
	char bytes[sizeof(struct plimp_mac_taskinfo)];
	plim_bytes whole = {bytes, sizeof(bytes)};
	struct plimp_mac_task task;

	(void)state;
	make_task(bytes);
	MAC_PUT(bytes, plimp_mac_taskinfo, switches, UINT32_MAX);
	assert_int_equal(plimp_decode_mac_task(whole, &task), PLIM_OK);
	assert_int_equal(task.has_faults, 1);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		make_task(bytes);
		mac_put(bytes, counters[i], UINT32_C(0x80000000), 4);
		assert_int_equal(plimp_decode_mac_task(whole, &task), PLIM_OK);
		assert_int_equal(task.has_faults, 0);
		assert_int_equal(task.faults_are_least, 0);
		assert_int_equal(task.threads, 777);
		assert_int_equal(task.running, 888);
	}
}

static void test_thread(void **state)
{
	static const char letters[] = {0, 'R', 'T', 'S', 'D', 'T', 0};
	const size_t at_name = offsetof(struct plimp_mac_threadinfo, name);
	char bytes[sizeof(struct plimp_mac_threadinfo)];
	plim_bytes whole = {bytes, sizeof(bytes)};
	struct plimp_mac_thread thread;

	(void)state;
	fill(bytes, sizeof(bytes));
	MAC_PUT(bytes, plimp_mac_threadinfo, user_time,
		UINT64_C(5000000000000));
	MAC_PUT(bytes, plimp_mac_threadinfo, system_time, 7000);
	memset(bytes + at_name, 0, PLIMP_MAC_THREAD_NAME);
	memcpy(bytes + at_name, "worker\n", 7);
	for (uint32_t i = 0; i < sizeof(letters); i++) {
		MAC_PUT(bytes, plimp_mac_threadinfo, run_state, i);
		assert_int_equal(plimp_decode_mac_thread(whole, &thread),
				 PLIM_OK);
		assert_int_equal(thread.state, letters[i]);
	}
	assert_true(thread.cpu_ns == UINT64_C(5000000007000));
	assert_true(text_is(thread.name, "worker\n"));
	memset(bytes + at_name, 'x', PLIMP_MAC_THREAD_NAME);
	assert_int_equal(plimp_decode_mac_thread(whole, &thread), PLIM_OK);
	assert_int_equal(thread.name.size, PLIMP_MAC_THREAD_NAME);
	MAC_PUT(bytes, plimp_mac_threadinfo, user_time, UINT64_MAX);
	assert_int_equal(plimp_decode_mac_thread(whole, &thread),
			 PLIM_EMALFORMED);
	for (size_t size = 0; size < sizeof(bytes); size++) {
		plim_bytes text = text_copy(bytes, size);

		assert_int_equal(plimp_decode_mac_thread(text, &thread),
				 PLIM_EMALFORMED);
		text_free(text);
	}
}

static void test_lists(void **state)
{
	static const char bytes[] = "\1\0\0\0\2\0\0\x80\xff\xff\xff\x7f\4";
	plim_bytes list = text_copy(bytes, 13);

	(void)state;
	assert_int_equal(plimp_decode_mac_pid(list, 0), 1);
	assert_true(plimp_decode_mac_pid(list, 1) < 0);
	assert_int_equal(plimp_decode_mac_pid(list, 2), INT32_MAX);
	assert_true(plimp_decode_mac_handle(list, 0) ==
		    UINT64_C(0x8000000200000001));
	text_free(list);
}

static void test_boot(void **state)
{
	static const uint8_t expected[16] = {0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a,
					     0x69, 0x78, 0x87, 0x96, 0xa5, 0xb4,
					     0xc3, 0xd2, 0xe1, 0xf0};
	static const struct {
		const char *text;
		int result;
	} rows[] = {
	    {"0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0", PLIM_OK},
	    {"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", PLIM_OK},
	    {"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f", PLIM_EMALFORMED},
	    {"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f00", PLIM_EMALFORMED},
	    {"0f1e2d3c04b5a-6978-8796-a5b4c3d2e1f0", PLIM_EMALFORMED},
	    {"0g1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", PLIM_EMALFORMED},
	    {"", PLIM_EMALFORMED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].text);
		uint8_t boot[16] = {0};

		assert_int_equal(plimp_decode_mac_boot(text, boot),
				 rows[i].result);
		if (rows[i].result == PLIM_OK)
			assert_memory_equal(boot, expected, 16);
		else
			assert_int_equal(boot[0] | boot[15], 0);
		text_free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bsdinfo),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_bsdinfo_hostile),
	    cmocka_unit_test(test_bsdshort),
	    cmocka_unit_test(test_unique),
	    cmocka_unit_test(test_task),
	    cmocka_unit_test(test_task_wrapped),
	    cmocka_unit_test(test_thread),
	    cmocka_unit_test(test_lists),
	    cmocka_unit_test(test_boot),
	};

	return cmocka_run_group_tests_name("decode_mac_info", tests, NULL,
					   NULL);
}
