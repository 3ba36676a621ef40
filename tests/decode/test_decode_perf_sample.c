/*
 * test_decode_perf_sample.c - records of rings that sample threads: each kind
 * with every part another value, of both machines, cut anywhere, and sizes
 * that lie. Synthetic, by the layout of include/uapi/linux/perf_event.h.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define TIME	 UINT64_C(0x123456789abcdef0)
#define TYPE_MAP 10

static const struct plimp_perf_layout x86 = {PLIMP_MACHINE_X86, 1, 1};
static const struct plimp_perf_layout x86_uncounted = {PLIMP_MACHINE_X86, 0, 0};
static const struct plimp_perf_layout arm = {PLIMP_MACHINE_ARM, 1, 0};

/* A record while it is put together. */
struct draft {
	char data[4096];
	size_t size;
};

static void put_word(struct draft *draft, uint64_t word)
{
	memcpy(draft->data + draft->size, &word, sizeof(word));
	draft->size += sizeof(word);
}

static void put_halves(struct draft *draft, uint32_t low, uint32_t high)
{
	put_word(draft, (uint64_t)high << 32 | low);
}

static void put_text(struct draft *draft, const char *text, size_t size)
{
	memset(draft->data + draft->size, 0, size);
	memcpy(draft->data + draft->size, text, strlen(text));
	draft->size += size;
}

static void put_header(struct draft *draft, uint32_t type, uint32_t misc)
{
	draft->size = 0;
	put_halves(draft, type, misc);
}

static void put_trailer(struct draft *draft)
{
	put_halves(draft, 901, 902);
	put_word(draft, TIME + 9);
	put_word(draft, 903);
	put_halves(draft, 7, 0);
}

/* The size goes where it belongs, last of all. */
static void finish(struct draft *draft)
{
	uint16_t size = (uint16_t)draft->size;

	memcpy(draft->data + 6, &size, sizeof(size));
}

static int decode_bytes(const struct plimp_perf_layout *layout,
			const char *data, size_t size,
			struct plimp_perf_capture *capture)
{
	struct plimp_perf_capture poison;
	plim_bytes bytes = text_copy(data, size);
	int result;

	memset(&poison, 0x5a, sizeof(poison));
	*capture = poison;
	result = plimp_decode_perf_sample(layout, bytes, capture);
	if (result != PLIM_OK) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(capture, &poison, sizeof(poison));
	} else if (capture->stack.data != NULL) {
		/* The copy goes; the stack's place in it is told instead. */
		size_t at = (size_t)(capture->stack.data - bytes.data);

		assert_true(at + capture->stack.size <= size);
		capture->stack.data = data + at;
	}
	if (result == PLIM_OK && capture->name.data != NULL) {
		size_t at = (size_t)(capture->name.data - bytes.data);

		assert_true(at + capture->name.size <= size);
		capture->name.data = data + at;
	}
	text_free(bytes);
	return result;
}

static int decode(const struct plimp_perf_layout *layout,
		  const struct draft *draft, struct plimp_perf_capture *capture)
{
	return decode_bytes(layout, draft->data, draft->size, capture);
}

/* A sample with registers 1000, 1001, ... in perf's order and a stack of 64
 * bytes, of which `filled` are. */
static void put_sample(struct draft *draft,
		       const struct plimp_perf_layout *layout, uint64_t abi,
		       uint64_t filled)
{
	size_t count = layout->machine == PLIMP_MACHINE_X86 ? 17 : 33;

	put_header(draft, 9, 2);
	put_halves(draft, 41, 42);
	put_word(draft, TIME);
	put_word(draft, 77);
	put_halves(draft, 3, 0);
	if (layout->has_count)
		put_word(draft, 123456789);
	if (layout->has_lost)
		put_word(draft, 11);
	put_word(draft, abi);
	for (size_t i = 0; i < count && abi != 0; i++)
		put_word(draft, 1000 + i);
	put_word(draft, 64);
	put_text(draft, "the bytes of the stack", 64);
	put_word(draft, filled);
	finish(draft);
}

static void expect_sample(const struct plimp_perf_capture *capture,
			  const struct draft *draft)
{
	assert_int_equal(capture->type, PLIMP_PERF_TAKEN);
	assert_int_equal(capture->size, draft->size);
	assert_int_equal(capture->pid, 41);
	assert_int_equal(capture->tid, 42);
	assert_true(capture->time_ns == TIME);
	assert_int_equal(capture->id, 77);
	assert_int_equal(capture->cpu, 3);
	assert_string_equal(capture->stack.data, "the bytes of the stack");
}

static void test_sample_x86(void **state)
{
	/* The place in perf's order of rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp,
	 * r8 to r15 and rip, as arch/x86/include/uapi/asm/perf_regs.h has it
	 * with the flags and segments left out. */
	static const unsigned place[17] = {0,  3,  2,  1,  4,  5,  6,  7, 9,
					   10, 11, 12, 13, 14, 15, 16, 8};
	struct plimp_perf_capture capture;
	struct draft draft;

	(void)state;
	put_sample(&draft, &x86, 2, 40);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	expect_sample(&capture, &draft);
	assert_int_equal(capture.count, 123456789);
	assert_int_equal(capture.stack.size, 40);
	assert_false(capture.is_cut);
	assert_false(capture.in_kernel);
	assert_int_equal(capture.registers.known, 0x1ffff);
	for (unsigned i = 0; i < 17; i++)
		assert_int_equal(capture.registers.value[i], 1000 + place[i]);
	put_sample(&draft, &x86_uncounted, 2, 64);
	draft.data[4] = 1; /* in the kernel */
	assert_int_equal(decode(&x86_uncounted, &draft, &capture), PLIM_OK);
	expect_sample(&capture, &draft);
	assert_int_equal(capture.count, 0);
	assert_int_equal(capture.stack.size, 64);
	assert_true(capture.is_cut);
	assert_true(capture.in_kernel);
}

static void test_sample_arm(void **state)
{
	struct plimp_perf_capture capture;
	struct draft draft;

	(void)state;
	put_sample(&draft, &arm, 2, 64);
	assert_int_equal(decode(&arm, &draft, &capture), PLIM_OK);
	expect_sample(&capture, &draft);
	assert_true(capture.registers.known == UINT64_C(0x1ffffffff));
	for (unsigned i = 0; i < 33; i++)
		assert_int_equal(capture.registers.value[i], 1000 + i);
}

/* No registers of a thread of the kernel, and none of a 32-bit program, whose
 * stack is no stack of ours. */
static void test_sample_without(void **state)
{
	struct plimp_perf_capture capture;
	struct draft draft;

	(void)state;
	put_sample(&draft, &x86, 0, 0);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.registers.known, 0);
	assert_int_equal(capture.stack.size, 0);
	put_sample(&draft, &x86, 1, 64);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.registers.known, 0);
	/* No room was made for a stack. */
	put_sample(&draft, &x86, 2, 64);
	draft.size -= 64 + 8 + 8;
	put_word(&draft, 0);
	finish(&draft);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.stack.size, 0);
	assert_false(capture.is_cut);
}

static void test_sample_lies(void **state)
{
	struct plimp_perf_capture capture;
	struct draft draft;
	uint64_t lie;

	(void)state;
	/* More filled than there is room. */
	put_sample(&draft, &x86, 2, 65);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_EMALFORMED);
	/* Room beyond the record, by a little and by so much that it wraps. */
	for (int i = 0; i < 3; i++) {
		lie = i == 0 ? 80 : i == 1 ? UINT64_MAX : UINT64_MAX - 63;
		put_sample(&draft, &x86, 2, 40);
		memcpy(draft.data + draft.size - 64 - 16, &lie, sizeof(lie));
		assert_int_equal(decode(&x86, &draft, &capture),
				 PLIM_EMALFORMED);
	}
	/* A record that says it is shorter, at every place. */
	put_sample(&draft, &x86, 2, 40);
	for (size_t size = 0; size < draft.size; size += 8) {
		uint16_t told = (uint16_t)size;

		memcpy(draft.data + 6, &told, sizeof(told));
		assert_int_equal(decode(&x86, &draft, &capture),
				 PLIM_EMALFORMED);
	}
	/* And one that is. */
	put_sample(&draft, &x86, 2, 40);
	for (size_t size = 0; size < draft.size; size++)
		assert_int_equal(decode_bytes(&x86, draft.data, size, &capture),
				 PLIM_EMALFORMED);
}

static void test_tasks(void **state)
{
	static const struct {
		uint32_t told;
		int type;
	} rows[] = {{7, PLIMP_PERF_FORK}, {4, PLIMP_PERF_EXIT}};
	struct plimp_perf_capture capture;
	struct draft draft;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		put_header(&draft, rows[i].told, 0);
		put_halves(&draft, 51, 52);
		put_halves(&draft, 53, 54);
		put_word(&draft, TIME);
		put_trailer(&draft);
		finish(&draft);
		assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
		assert_int_equal(capture.type, rows[i].type);
		assert_int_equal(capture.pid, 51);
		assert_int_equal(capture.ppid, 52);
		assert_int_equal(capture.tid, 53);
		assert_int_equal(capture.ptid, 54);
		assert_true(capture.time_ns == TIME);
		assert_int_equal(capture.cpu, 7);
		/* The trailer is no part of what a record says. */
		draft.size -= 8;
		finish(&draft);
		assert_int_equal(decode(&x86, &draft, &capture),
				 PLIM_EMALFORMED);
	}
}

static void put_mapped(struct draft *draft, uint32_t misc, uint64_t start,
		       uint64_t size)
{
	put_header(draft, TYPE_MAP, misc);
	put_halves(draft, 61, 62);
	put_word(draft, start);
	put_word(draft, size);
	put_word(draft, 0x5000);
	put_halves(draft, 8, 1);
	put_word(draft, 4711);
	put_word(draft, 1);
	put_halves(draft, 5, 2);
	put_text(draft, "/usr/lib/libx.so", 24);
	put_trailer(draft);
	finish(draft);
}

static void test_mapped(void **state)
{
	struct plimp_perf_capture capture;
	struct draft draft;

	(void)state;
	put_mapped(&draft, 2, 0x7f0000001000, 0x3000);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.type, PLIMP_PERF_MAPPED);
	assert_int_equal(capture.pid, 61);
	assert_int_equal(capture.tid, 62);
	assert_true(capture.time_ns == TIME + 9);
	assert_true(capture.start == 0x7f0000001000);
	assert_true(capture.end == 0x7f0000004000);
	assert_int_equal(capture.offset, 0x5000);
	assert_true(capture.device == (UINT64_C(8) << 32 | 1));
	assert_int_equal(capture.inode, 4711);
	assert_int_equal(capture.name.size, strlen("/usr/lib/libx.so"));
	assert_memory_equal(capture.name.data, "/usr/lib/libx.so", 16);
	/* With a build id where device and inode would be. */
	put_mapped(&draft, 2 | 0x4000, 0x1000, 0x1000);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.device, 0);
	assert_int_equal(capture.inode, 0);
	put_mapped(&draft, 2, 0x1000, 0);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_EMALFORMED);
	put_mapped(&draft, 2, 0x1000, UINT64_MAX - 0xfff);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_EMALFORMED);
}

static void test_named(void **state)
{
	struct plimp_perf_capture capture;
	struct draft draft;

	(void)state;
	for (int is_exec = 0; is_exec < 2; is_exec++) {
		put_header(&draft, 3, is_exec ? 0x2000 : 0);
		put_halves(&draft, 71, 72);
		put_text(&draft, "worker", 8);
		put_trailer(&draft);
		finish(&draft);
		assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
		assert_int_equal(capture.type, PLIMP_PERF_NAMED);
		assert_int_equal(capture.is_exec, is_exec);
		assert_int_equal(capture.pid, 71);
		assert_int_equal(capture.tid, 72);
		assert_int_equal(capture.name.size, 6);
		assert_memory_equal(capture.name.data, "worker", 6);
	}
	/* A name without an end stops at the trailer. */
	memset(draft.data + 16, 'x', 8);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.name.size, 8);
}

static void test_others(void **state)
{
	struct plimp_perf_capture capture;
	struct draft draft;

	(void)state;
	put_header(&draft, 2, 0); /* LOST */
	put_word(&draft, 5);
	put_word(&draft, UINT64_MAX - 1);
	put_trailer(&draft);
	finish(&draft);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.type, PLIMP_PERF_LOST);
	assert_true(capture.lost == UINT64_MAX - 1);
	put_header(&draft, 13, 0); /* LOST_SAMPLES */
	put_word(&draft, 6);
	put_trailer(&draft);
	finish(&draft);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.lost, 6);
	put_header(&draft, 5, 0); /* THROTTLE */
	put_word(&draft, 1);
	put_word(&draft, 2);
	put_word(&draft, 3);
	put_trailer(&draft);
	finish(&draft);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.type, PLIMP_PERF_THROTTLED);
	assert_int_equal(capture.pid, 901);
	assert_int_equal(capture.tid, 902);
	assert_int_equal(capture.id, 903);
	put_header(&draft, 4711, 0);
	put_trailer(&draft);
	finish(&draft);
	assert_int_equal(decode(&x86, &draft, &capture), PLIM_OK);
	assert_int_equal(capture.type, PLIMP_PERF_OTHER);
	assert_int_equal(capture.size, draft.size);
}

static void test_size(void **state)
{
	struct draft draft;
	plim_bytes bytes = {draft.data, 8};
	uint32_t size;

	(void)state;
	for (unsigned told = 0; told < 65536; told++) {
		uint16_t half = (uint16_t)told;
		int good = told >= 8 && told % 8 == 0;

		put_header(&draft, 9, 0);
		memcpy(draft.data + 6, &half, sizeof(half));
		size = 77;
		assert_int_equal(plimp_decode_perf_size(bytes, &size),
				 good ? PLIM_OK : PLIM_EMALFORMED);
		assert_int_equal(size, good ? told : 77);
	}
	bytes.size = 7;
	assert_int_equal(plimp_decode_perf_size(bytes, &size), PLIM_EMALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sample_x86),
	    cmocka_unit_test(test_sample_arm),
	    cmocka_unit_test(test_sample_without),
	    cmocka_unit_test(test_sample_lies),
	    cmocka_unit_test(test_tasks),
	    cmocka_unit_test(test_mapped),
	    cmocka_unit_test(test_named),
	    cmocka_unit_test(test_others),
	    cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("decode perf samples", tests, NULL,
					   NULL);
}
