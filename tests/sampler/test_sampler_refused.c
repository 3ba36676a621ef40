/*
 * test_sampler_refused.c - what is refused is named, with the system's error
 * and a remedy, and what is not still works: perf events by a seccomp filter,
 * access to the target, memory for rings, descriptors.
 */
#include "subject.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct seen {
	int running, blocked, same, denied, born, others;
};

static void see(void *user, const struct plimp_capture *capture)
{
	struct seen *seen = user;

	switch (capture->kind) {
	case PLIMP_CAPTURE_RUNNING:
		seen->running++;
		break;
	case PLIMP_CAPTURE_BLOCKED:
		seen->blocked++;
		break;
	case PLIMP_CAPTURE_SAME:
		seen->same++;
		break;
	case PLIMP_CAPTURE_BORN:
		seen->born++;
		break;
	case PLIMP_CAPTURE_UNSAMPLED:
		assert_true(capture->has_accounts);
		seen->denied += capture->failed == PLIMP_FAILED_DENIED;
		break;
	default:
		seen->others++;
	}
}

/* perf_event_open() answers `user` from here on. */
static void refuse_perf(int answer)
{
	struct sock_filter rows[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)answer),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, rows};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		SKIP_BECAUSE("seccomp filters are refused");
}

static void start(struct rig *rig)
{
	assert_int_equal(plimp_system_sampler_start(rig->sampler, NULL),
			 PLIM_OK);
}

/* What the survey said of threads that run. */
static int found(const plim_finding *finding, void *user)
{
	if (strcmp(finding->subject, "profile of threads that run") == 0)
		*(plim_finding *)user = *finding;
	return 0;
}

static void expect_survey(plim_host *host, int answer)
{
	plim_finding finding = {NULL, 0, NULL, NULL, NULL};

	assert_int_equal(plim_host_survey(host, found, &finding, NULL),
			 PLIM_OK);
	assert_non_null(finding.subject);
	assert_int_equal(finding.state, answer == ENOSYS
					    ? PLIM_STATE_UNSUPPORTED
					    : PLIM_STATE_DENIED);
	if (answer != ENOSYS)
		assert_non_null(
		    strstr(finding.remedy, "kernel.perf_event_paranoid"));
}

static void in_filter(void *user)
{
	int answer = *(const int *)user;
	struct subject *subject = subject_start(1);
	struct plimp_tiers tiers;
	struct seen seen = {0};
	struct rig rig;

	refuse_perf(answer);
	subject_busy(subject, 1);
	rig_open(&rig, subject->pid, 0, PLIMP_PTRACE_PERIOD_NS);
	tiers = plimp_system_sampler_tiers(rig.sampler);
	assert_int_equal(tiers.running, PLIMP_TIER_NONE);
	assert_int_equal(tiers.sleeping, PLIMP_TIER_NO_STOP);
	assert_int_equal(tiers.perf.code, answer);
	expect_survey(rig.host, answer);
	if (answer == ENOSYS) {
		assert_int_equal(tiers.perf.state, PLIM_STATE_UNSUPPORTED);
		assert_int_equal(tiers.perf.method, PLIM_REASON_PERF_LACKS);
	} else {
		assert_int_equal(tiers.perf.state, PLIM_STATE_DENIED);
		assert_int_equal(tiers.perf.method, PLIM_REASON_PERF_REFUSED);
		assert_non_null(
		    strstr(tiers.perf_remedy, "kernel.perf_event_paranoid"));
	}
	assert_int_equal(tiers.ptrace.method, PLIM_REASON_NOT_STOPPED);
	start(&rig);
	while (seen.same < 5 * POSTURES)
		rig_run(&rig, see, &seen, 10, 10);
	assert_int_equal(seen.running, 0);
	assert_true(seen.blocked >= POSTURES);
	rig_close(&rig);
	/* Allowed to, it stops who runs. */
	rig_open(&rig, subject->pid, PLIMP_SAMPLER_PTRACE,
		 PLIMP_PTRACE_PERIOD_NS);
	assert_int_equal(plimp_system_sampler_tiers(rig.sampler).running,
			 PLIMP_TIER_PTRACE);
	start(&rig);
	while (seen.running <= 3)
		rig_run(&rig, see, &seen, 10, 10);
	rig_close(&rig);
	subject_end(subject);
}

static void test_perf_refused(void **state)
{
	static const int answers[] = {EACCES, EPERM, ENOSYS};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int answer = answers[i];

		child_run(in_filter, &answer);
	}
}

/* Of a process that this user may not trace: nothing but accounts. */
static void as_stranger(void *user)
{
	struct subject *subject = user;
	struct plimp_tiers tiers;
	struct seen seen = {0};
	struct rig rig;

	child_become(65534);
	rig_open(&rig, subject->pid, PLIMP_SAMPLER_PTRACE,
		 PLIMP_PTRACE_PERIOD_NS);
	tiers = plimp_system_sampler_tiers(rig.sampler);
	assert_int_equal(tiers.running, PLIMP_TIER_NONE);
	assert_int_equal(tiers.sleeping, PLIMP_TIER_NONE);
	assert_int_equal(tiers.threads_present, POSTURES + 2);
	assert_int_equal(tiers.threads_covered, 0);
	assert_int_equal(tiers.perf.state, PLIM_STATE_DENIED);
	assert_int_equal(tiers.no_stop.state, PLIM_STATE_DENIED);
	assert_int_equal(tiers.no_stop.method, PLIM_REASON_NO_TRACE);
	assert_int_equal(tiers.no_stop.code, EACCES);
	assert_non_null(strstr(tiers.no_stop_remedy, "the target's user"));
	assert_int_equal(tiers.ptrace.state, PLIM_STATE_DENIED);
	assert_int_equal(tiers.ptrace.method, PLIM_REASON_NO_TRACE);
	start(&rig);
	while (seen.denied < 2 * (POSTURES + 2))
		rig_run(&rig, see, &seen, 10, 10);
	assert_int_equal(seen.running + seen.blocked + seen.same, 0);
	assert_int_equal(seen.born, POSTURES + 2);
	assert_int_equal(plimp_system_sampler_bill(rig.sampler).stops, 0);
	rig_close(&rig);
}

static void test_stranger(void **state)
{
	struct subject *subject;

	(void)state;
	if (geteuid() != 0)
		SKIP_BECAUSE("only root can start a process of root");
	subject = subject_start(1);
	subject_busy(subject, 1);
	child_run(as_stranger, subject);
	subject_end(subject);
}

/* No room for rings at all; little of it: then stacks are cut shorter. */
static void with_little_memory(void *user)
{
	const struct rlimit none = {0, 0};
	struct subject *subject;
	struct plimp_tiers tiers;
	struct rig rig;

	(void)user;
	setrlimit(RLIMIT_MEMLOCK, &none);
	if (geteuid() == 0)
		child_become(65534);
	subject = subject_start(0);
	rig_open(&rig, subject->pid, 0, 100000);
	tiers = plimp_system_sampler_tiers(rig.sampler);
	if (tiers.perf.method == PLIM_REASON_PERF_REFUSED)
		SKIP_BECAUSE("perf events are refused to this user");
	if (tiers.perf.state == PLIM_STATE_KNOWN) {
		/* 10,000 samples a second: 20 ms of them fit. */
		assert_true(tiers.ring_bytes <= 512 * 1024);
		assert_true(tiers.stack_bytes <= tiers.ring_bytes / 200);
		assert_true(tiers.stack_bytes >= 1024 ||
			    tiers.ring_bytes < 512 * 1024);
	} else {
		assert_int_equal(tiers.perf.method, PLIM_REASON_PERF_MEMORY);
		assert_int_equal(tiers.perf.code, ENOBUFS);
	}
	rig_close(&rig);
	subject_end(subject);
}

static void test_little_memory(void **state)
{
	(void)state;
	child_run(with_little_memory, NULL);
}

/* Descriptors for some threads only: that is said, in numbers. */
static void with_few_descriptors(void *user)
{
	struct subject *subject = subject_start(1);
	struct plimp_tiers tiers;
	struct rlimit limit;
	struct seen seen = {0};
	struct rig rig;

	(void)user;
	getrlimit(RLIMIT_NOFILE, &limit);
	/* The host and the rest of the sampler take some eight. */
	limit.rlim_cur = (rlim_t)dup(0) + 8 + 16 + 8;
	setrlimit(RLIMIT_NOFILE, &limit);
	rig_open(&rig, subject->pid, 0, PLIMP_PTRACE_PERIOD_NS);
	tiers = plimp_system_sampler_tiers(rig.sampler);
	assert_int_equal(tiers.threads_present, POSTURES + 1);
	assert_true(tiers.threads_covered < tiers.threads_present);
	assert_true(tiers.threads_covered > 0);
	assert_int_equal(tiers.running, PLIMP_TIER_PERF);
	assert_int_equal(tiers.perf.method, PLIM_REASON_TOO_MANY_DESCRIPTORS);
	start(&rig);
	rig_run(&rig, see, &seen, 10, 50);
	assert_true(seen.blocked >= POSTURES);
	rig_close(&rig);
	subject_end(subject);
}

static void test_few_descriptors(void **state)
{
	(void)state;
	child_run(with_few_descriptors, NULL);
}

/* What a caller may not ask for. */
static void test_misuse(void **state)
{
	struct subject *subject = subject_start(0);
	struct plimp_sampler_options options = {.period_ns = 9999};
	struct plimp_sampler *none = NULL;
	plim_error error = {.code = 0};
	uint64_t held;
	struct rig rig;

	(void)state;
	rig_open(&rig, subject->pid, PLIMP_SAMPLER_NO_PERF, 1000000);
	assert_int_equal(plimp_system_sampler_open(&none, rig.host, rig.target,
						   rig.lens, &options, &error),
			 PLIM_EINVAL);
	assert_null(none);
	assert_int_equal(error.code, PLIM_EINVAL);
	plimp_system_sampler_abandon(rig.sampler, 1);
	held = plimp_system_sampler_bill(rig.sampler).descriptors;
	plimp_system_sampler_abandon(rig.sampler, subject->pid);
	assert_int_equal(plimp_system_sampler_bill(rig.sampler).descriptors,
			 held - 1);
	start(&rig);
	assert_int_equal(plimp_system_sampler_tick(rig.sampler, see,
						   &(struct seen){0}, NULL),
			 PLIM_OK);
	rig_close(&rig);
	plimp_system_sampler_close(NULL);
	subject_end(subject);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_perf_refused),
	    cmocka_unit_test(test_stranger),
	    cmocka_unit_test(test_little_memory),
	    cmocka_unit_test(test_few_descriptors),
	    cmocka_unit_test(test_misuse),
	};

	return cmocka_run_group_tests_name("sampler: what is refused", tests,
					   NULL, NULL);
}
