/*
 * test_decode_syscall.c - /proc/PID/task/TID/syscall and its names.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

/* As Linux 6.18 shows a thread in clock_nanosleep(2). */
#define SLEEPS                                                              \
	"230 0x0 0x0 0x7ffc005c38e0 0x7ffc005c3920 0x0 0x0 0x7ffc005c38c8 " \
	"0x7f9607f5c503\n"

static int decode(plim_bytes text, struct plimp_syscall *call)
{
	struct plimp_syscall poison;
	int result;

	memset(&poison, 0xa5, sizeof(poison));
	*call = poison;
	result = plimp_decode_syscall(text, call);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(call, &poison, sizeof(poison));
	}
	return result;
}

/* The six of a call with a place; none of anything else. */
static void test_arguments(void **state)
{
	static const uint64_t none[6] = {0};
	plim_bytes six = text_string("271 0x1 0x20 0xffffffffffffffff 0x0 0x5 "
				     "0x6 0x70 0x80\n");
	plim_bytes no_call = text_string("-1 0x7ffd11 0x55aa\n");
	plim_bytes no_place = text_string("271\n");
	struct plimp_syscall call;

	(void)state;
	assert_int_equal(decode(six, &call), PLIM_OK);
	assert_int_equal(call.arguments[0], 1);
	assert_int_equal(call.arguments[1], 0x20);
	assert_true(call.arguments[2] == UINT64_MAX);
	assert_int_equal(call.arguments[3], 0);
	assert_int_equal(call.arguments[4], 5);
	assert_int_equal(call.arguments[5], 6);
	assert_int_equal(decode(no_call, &call), PLIM_OK);
	assert_memory_equal(call.arguments, none, sizeof(none));
	assert_int_equal(decode(no_place, &call), PLIM_OK);
	assert_memory_equal(call.arguments, none, sizeof(none));
	text_free(six);
	text_free(no_call);
	text_free(no_place);
}

static void test_texts(void **state)
{
	static const struct {
		const char *text;
		int kind; /* 0: malformed */
		uint64_t number;
		int has_place;
		uint64_t stack, program;
	} rows[] = {
	    {SLEEPS, PLIMP_SYSCALL_CALL, 230, 1, 0x7ffc005c38c8,
	     0x7f9607f5c503},
	    /* read(2) is number 0, alone too. */
	    {"0\n", PLIMP_SYSCALL_CALL, 0, 0, 0, 0},
	    {"0 0x3 0x1 0x2 0x0 0x0 0x0 0x10 0x20\n", PLIMP_SYSCALL_CALL, 0, 1,
	     0x10, 0x20},
	    {"2147483647\n", PLIMP_SYSCALL_CALL, INT32_MAX, 0, 0, 0},
	    {"running\n", PLIMP_SYSCALL_RUNNING, 0, 0, 0, 0},
	    {"-1 0x7ffd11 0x55aa\n", PLIMP_SYSCALL_OUTSIDE, 0, 1, 0x7ffd11,
	     0x55aa},
	    {"-1 0x0 0x0\n", PLIMP_SYSCALL_OUTSIDE, 0, 1, 0, 0},
	    {"-1\n", PLIMP_SYSCALL_OUTSIDE, 0, 0, 0, 0},
	    {"-1 0xffffffffffffffff 0xffffffffffffffff\n",
	     PLIMP_SYSCALL_OUTSIDE, 0, 1, UINT64_MAX, UINT64_MAX},
	    {"-1 0x1ffffffffffffffff 0x0\n", 0, 0, 0, 0, 0},
	    {"-1 0x0\n", 0, 0, 0, 0, 0},
	    {"-2 0x0 0x0\n", 0, 0, 0, 0, 0},
	    {"2147483648\n", 0, 0, 0, 0, 0},
	    {"running", 0, 0, 0, 0, 0},
	    {"runningx\n", 0, 0, 0, 0, 0},
	    {"0", 0, 0, 0, 0, 0},
	    {"0 \n", 0, 0, 0, 0, 0},
	    {"0x0\n", 0, 0, 0, 0, 0},
	    {"0 0x\n", 0, 0, 0, 0, 0},
	    {"1 0x3 0x1 0x2 0x0 0x0 0x0 0x10\n", 0, 0, 0, 0, 0},
	    {"1 0x3 0x1 0x2 0x0 0x0 0x0 0x10 0x20 0x30\n", 0, 0, 0, 0, 0},
	    {"1 0x3 0x1 0x2 0x0 0x0 0x0 0x1G 0x20\n", 0, 0, 0, 0, 0},
	    {"-1 0xAB 0x0\n", 0, 0, 0, 0, 0},
	    {"\n", 0, 0, 0, 0, 0},
	    {"", 0, 0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].text);
		struct plimp_syscall call;
		int result = decode(text, &call);

		assert_int_equal(result,
				 rows[i].kind ? PLIM_OK : PLIM_EMALFORMED);
		if (result == PLIM_OK) {
			assert_int_equal(call.kind, rows[i].kind);
			assert_true(call.number == rows[i].number);
			assert_int_equal(call.has_place, rows[i].has_place);
			assert_true(call.stack == rows[i].stack);
			assert_true(call.program == rows[i].program);
		}
		text_free(text);
	}
}

static void check_refused(plim_bytes text)
{
	struct plimp_syscall call;

	assert_int_equal(decode(text, &call), PLIM_EMALFORMED);
}

static void check_prefix(plim_bytes text)
{
	struct plimp_syscall call;

	if (text.size < sizeof(SLEEPS) - 1)
		check_refused(text);
	else
		assert_int_equal(decode(text, &call), PLIM_OK);
}

static void check_any(plim_bytes text)
{
	struct plimp_syscall call;

	decode(text, &call);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_string(SLEEPS);

	(void)state;
	text_every_prefix(text, check_prefix);
	text_every_change(text, check_any);
	text_every_nonsense(check_refused);
	text_free(text);
}

/* arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h
 * of the kernel, by hand. */
static void test_names(void **state)
{
	static const struct {
		const char *machine;
		uint64_t number;
		const char *name;
	} rows[] = {
	    {"x86_64", 0, "read"},
	    {"x86_64", 7, "poll"},
	    {"x86_64", 23, "select"},
	    {"x86_64", 35, "nanosleep"},
	    {"x86_64", 61, "wait4"},
	    {"x86_64", 202, "futex"},
	    {"x86_64", 230, "clock_nanosleep"},
	    {"x86_64", 232, "epoll_wait"},
	    {"x86_64", 281, "epoll_pwait"},
	    {"x86_64", 334, "rseq"},
	    {"x86_64", 424, "pidfd_send_signal"},
	    {"x86_64", 426, "io_uring_enter"},
	    {"x86_64", 469, "file_setattr"},
	    {"x86_64", 400, NULL}, /* a gap */
	    {"x86_64", 470, NULL},
	    {"x86_64", UINT64_MAX, NULL},
	    {"aarch64", 0, "io_setup"},
	    {"aarch64", 22, "epoll_pwait"},
	    {"aarch64", 63, "read"},
	    {"aarch64", 72, "pselect6"},
	    {"aarch64", 73, "ppoll"},
	    {"aarch64", 98, "futex"},
	    {"aarch64", 101, "nanosleep"},
	    {"aarch64", 115, "clock_nanosleep"},
	    {"aarch64", 222, "mmap"},
	    {"aarch64", 424, "pidfd_send_signal"},
	    {"aarch64", 300, NULL}, /* a gap */
	    {"riscv64", 63, NULL},
	    {"", 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name =
		    plimp_syscall_name(rows[i].machine, rows[i].number);

		if (rows[i].name == NULL)
			assert_null(name);
		else
			assert_string_equal(name, rows[i].name);
	}
}

/* 162 is nanosleep of i386 and sync of x86_64: the addresses tell. */
static void test_told(void **state)
{
	struct plimp_syscall call = {.kind = PLIMP_SYSCALL_CALL,
				     .has_place = 1,
				     .number = 162,
				     .stack = 0x7ffc005c38c8,
				     .program = 0x401000};

	(void)state;
	assert_string_equal(plimp_syscall_told("x86_64", &call), "sync");
	call.stack = UINT32_MAX;
	assert_null(plimp_syscall_told("x86_64", &call));
	call.program = UINT64_C(1) << 32;
	assert_string_equal(plimp_syscall_told("x86_64", &call), "sync");
	call.stack = call.program = 0;
	call.has_place = 0;
	assert_string_equal(plimp_syscall_told("x86_64", &call), "sync");
	assert_null(plimp_syscall_told("vax", &call));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),   cmocka_unit_test(test_arguments),
	    cmocka_unit_test(test_hostile), cmocka_unit_test(test_names),
	    cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests_name("decode_syscall", tests, NULL, NULL);
}
