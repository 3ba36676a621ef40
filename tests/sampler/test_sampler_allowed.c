/*
 * test_sampler_allowed.c - a process lets others look at it
 * (plim_allow_attach()): what the system says to it, and what each answer
 * means where Yama restricts tracing. What PR_SET_PTRACER was given is told by
 * a filter that answers with it.
 */
#include "common.h"
#include "host/linux/system.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Answers, and what is then in the record. */
static void test_answers(void **state)
{
	static const struct {
		int problem, scope;
		int32_t pid;
		int code;
		const char *says;
	} rows[] = {
	    {0, 0, 7, PLIM_OK, NULL},
	    {0, 1, 7, PLIM_OK, NULL},
	    {0, 1, PLIM_ATTACH_ANY, PLIM_OK, NULL},
	    {EINVAL, -1, 7, PLIM_OK, NULL},
	    {EINVAL, -1, PLIM_ATTACH_ANY, PLIM_OK, NULL},
	    {EINVAL, 1, 7, PLIM_ENOPROCESS, "no process 7"},
	    {EINVAL, 1, PLIM_ATTACH_ANY, PLIM_ESYSTEM, ""},
	    {EPERM, 1, 7, PLIM_ESYSTEM, ""},
	    {EPERM, -1, 7, PLIM_ESYSTEM, ""},
	    {0, 2, 7, PLIM_EDENIED, "it is 2: only root"},
	    {0, 3, PLIM_ATTACH_ANY, PLIM_EDENIED, "it is 3: only root"},
	    {0, 1, PLIM_ATTACH_NONE, PLIM_OK, NULL},
	    {0, 2, PLIM_ATTACH_NONE, PLIM_OK, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_error error = {.code = 99};

		assert_int_equal(plimp_attach_answer(rows[i].problem,
						     rows[i].scope, rows[i].pid,
						     &error),
				 rows[i].code);
		if (rows[i].code == PLIM_OK) {
			assert_int_equal(error.code, 99);
			continue;
		}
		assert_int_equal(error.code, rows[i].code);
		assert_int_equal(error.system, rows[i].problem);
		assert_non_null(strstr(error.detail, rows[i].says));
	}
}

/* PR_SET_PTRACER answers ERANGE for `who`, and ENOTTY for all others. */
static void tell_ptracer(unsigned long who)
{
	struct sock_filter rows[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 5),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, args[0])),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_PTRACER, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, args[1])),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)who, 2, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ERANGE),
	};
	struct sock_fprog program = {9, rows};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(77);
}

/* In a child: the error's number where `who` is what the kernel is told. */
static int told(int32_t pid, unsigned long who)
{
	int status;
	const pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		plim_error error = {0};

		tell_ptracer(who);
		_exit(plim_allow_attach(pid, &error) == PLIM_ESYSTEM
			  ? error.system
			  : 99);
	}
	assert_int_equal(child_wait(child, &status, 10000), 0);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		SKIP_BECAUSE("seccomp filters are refused");
	return WEXITSTATUS(status);
}

static void test_told(void **state)
{
	(void)state;
	assert_int_equal(told(1234, 1234), ERANGE);
	assert_int_equal(told(1234, 1235), ENOTTY);
	assert_int_equal(told(PLIM_ATTACH_ANY, PR_SET_PTRACER_ANY), ERANGE);
	assert_int_equal(told(PLIM_ATTACH_NONE, 0), ERANGE);
}

/* Of a process that is not dumpable nobody else's word counts; taking leave
 * back needs no leave. */
static void test_not_dumpable(void **state)
{
	plim_error error = {0};

	(void)state;
	assert_int_equal(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
	assert_int_equal(plim_allow_attach(PLIM_ATTACH_ANY, &error),
			 PLIM_EDENIED);
	assert_non_null(strstr(error.detail, "not dumpable"));
	assert_int_equal(plim_allow_attach(PLIM_ATTACH_NONE, NULL), PLIM_OK);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
	assert_int_equal(plim_allow_attach(PLIM_ATTACH_ANY, NULL), PLIM_OK);
	assert_int_equal(plim_allow_attach(getpid(), NULL), PLIM_OK);
	assert_int_equal(plim_allow_attach(-2, &error), PLIM_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_answers),
	    cmocka_unit_test(test_told),
	    cmocka_unit_test(test_not_dumpable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
