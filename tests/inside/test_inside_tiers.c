/*
 * test_inside_tiers.c - the ways to sample the own process where better ones
 * are refused: each against the CPU clocks of threads, and what is chosen when
 * the kernel refuses perf events, timers and signals, one after the other.
 *
 * A filter of system calls cannot be taken back: tests that set one come last,
 * and each adds to what the one before has refused.
 */
#include "crew.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint32_t BY_TIMER = PLIM_PROFILE_NO_PERF;
static const uint32_t BY_TICK = PLIM_PROFILE_NO_PERF | PLIM_PROFILE_NO_TIMERS;

/* Threads with shares of 1:2:4:8 have such weights. */
static void expect_shares(uint32_t flags, unsigned hz)
{
	struct crew crew = {0};
	struct member *members[4];
	uint64_t truth[4];
	double all_truth = 0;
	double all_weight = 0;
	double samples = 0;
	plim_profile *profile =
	    self_open((plim_profile_request){.hz = hz, .flags = flags});

	for (int i = 0; i < 4; i++)
		members[i] = crew_add(&crew, MS << i, (16 - (1u << i)) * MS, 0);
	for (int i = 0; i < 4; i++)
		truth[i] = crew_cpu(members[i]);
	/* A thread's time since its last sample is on no stack, so that who has
	 * the least needs some samples, too, however loaded the machine. */
	self_until(profile, &crew, SECOND);
	for (int i = 0; i < 4; i++) {
		const plim_profile_thread *row =
		    self_thread(profile, members[i]->tid);

		truth[i] = crew_cpu(members[i]) - truth[i];
		all_truth += (double)truth[i];
		all_weight += (double)row->times.sampled_ns;
		samples += (double)row->samples;
	}
	assert_true(samples > 20);
	for (int i = 0; i < 4; i++) {
		const plim_profile_thread *row =
		    self_thread(profile, members[i]->tid);
		double share = (double)truth[i] / all_truth;
		double got = (double)row->times.sampled_ns / all_weight;
		double error = sqrt(share * (1 - share) / samples);

		if (fabs(got - share) > 4 * error + 0.02)
			fail_msg("a share of %.3f instead of %.3f", got, share);
		assert_int_equal(row->times.system_ns, 0);
	}
	crew_end(&crew);
	self_holds(profile);
	assert_true((double)self_metric(profile, PLIM_METRIC_SIGNALS) >=
		    samples);
	assert_int_equal(plim_profile_about(profile).kernel_seen, 1);
	plim_profile_free(profile);
}

static void test_timer_shares(void **state)
{
	(void)state;
	expect_shares(BY_TIMER, 200);
}

static void test_tick_shares(void **state)
{
	(void)state;
	expect_shares(BY_TICK, 500);
}

/* Timers fire by the kernel's tick, and say how many periods were over. */
static void test_timer_overruns(void **state)
{
	struct crew crew = {0};
	plim_profile *profile =
	    self_open((plim_profile_request){.hz = 1000, .flags = BY_TIMER});
	struct member *member = crew_add(&crew, MS, 0, 0);
	struct timespec tick;
	const plim_profile_thread *row;
	uint64_t samples;
	uint64_t overruns;

	(void)state;
	self_until(profile, &crew, SECOND / 3);
	crew_end(&crew);
	row = self_thread(profile, member->tid);
	samples = row->samples;
	overruns = self_metric(profile, PLIM_METRIC_OVERRUNS);
	assert_int_equal(clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
	if (tick.tv_nsec <= (long)MS) {
		plim_profile_free(profile);
		SKIP_BECAUSE("this kernel has 1,000 ticks a second");
	}
	/* By ticks, of which a thread that has the CPU for less may get more
	 * than its share; and a period for each that was over. */
	assert_true(samples <=
		    row->times.cpu_ns / (uint64_t)tick.tv_nsec * 3 / 2 + 3);
	assert_true(overruns > 0);
	if (fabs((double)(samples + overruns) * (double)MS -
		 (double)row->times.sampled_ns) >
	    (double)row->times.sampled_ns * 0.05 + 3 * (double)tick.tv_nsec)
		fail_msg("%llu samples and %llu overruns in %llu ns",
			 (unsigned long long)samples,
			 (unsigned long long)overruns,
			 (unsigned long long)row->times.sampled_ns);
	assert_true(self_lacks(profile, "once in a tick of the kernel"));
	self_holds(profile);
	plim_profile_free(profile);
}

/* Which tier, and why not the better ones. */
static void expect_tier(plim_profile *profile, int used, const int reasons[4])
{
	static const int tiers[4] = {PLIM_TIER_PERF_SIGNAL, PLIM_TIER_PERF,
				     PLIM_TIER_CPU_TIMER,
				     PLIM_TIER_THREAD_SIGNAL};

	for (int i = 0; i < 4; i++) {
		int reason = self_reason(profile, tiers[i]);

		if (reason != reasons[i])
			fail_msg("tier %d: %d instead of %d", tiers[i], reason,
				 reasons[i]);
		assert_int_equal(self_tier(profile, tiers[i]),
				 tiers[i] == used);
	}
}

static void test_asked(void **state)
{
	const int by_timer[4] = {PLIM_REASON_NOT_WANTED, PLIM_REASON_NOT_WANTED,
				 PLIM_METHOD_CPU_TIMERS,
				 PLIM_REASON_BETTER_SOURCE};
	const int by_tick[4] = {PLIM_REASON_NOT_WANTED, PLIM_REASON_NOT_WANTED,
				PLIM_REASON_NOT_WANTED,
				PLIM_METHOD_THREAD_SIGNALS};
	plim_profile *profile;

	(void)state;
	profile =
	    self_open((plim_profile_request){.hz = 99, .flags = BY_TIMER});
	self_for(profile, SECOND / 20);
	expect_tier(profile, PLIM_TIER_CPU_TIMER, by_timer);
	plim_profile_free(profile);
	profile = self_open((plim_profile_request){.hz = 99, .flags = BY_TICK});
	self_for(profile, SECOND / 20);
	expect_tier(profile, PLIM_TIER_THREAD_SIGNAL, by_tick);
	assert_true(self_lacks(profile, "may interrupt a system call"));
	plim_profile_free(profile);
}

/* --- the classic way ------------------------------------------------------ */

static int has_function(const plim_profile *profile, const plim_fold_row *row,
			const char *name)
{
	for (size_t i = 0; i < row->item_count; i++) {
		plim_bytes found =
		    plim_profile_function_at(profile, row->items[i])->name;

		if (found.size == strlen(name) &&
		    memcmp(found.data, name, found.size) == 0)
			return 1;
	}
	return 0;
}

/* How much of what it was blocked lies on stacks with this function. */
static double blocked_below(const plim_profile *profile, int32_t tid,
			    const char *name)
{
	plim_fold_options options = {.size = sizeof(options),
				     .view = PLIM_VIEW_OFF,
				     .flags = PLIM_FOLD_THREADS};
	plim_fold *fold = NULL;
	double found = 0;
	double all = 0;

	assert_int_equal(plim_profile_fold(profile, &options, &fold, NULL),
			 PLIM_OK);
	for (size_t i = 0; i < plim_fold_row_count(fold); i++) {
		const plim_fold_row *row = plim_fold_row_at(fold, i);

		if (plim_profile_thread_at(profile, row->thread)->tid != tid ||
		    row->samples == 0)
			continue;
		all += (double)row->weight_ns;
		if (has_function(profile, row, name))
			found += (double)row->weight_ns;
	}
	plim_fold_free(fold);
	return all == 0 ? 0 : found / all;
}

struct waiter {
	pthread_t thread;
	_Atomic int over;
	uint64_t taken; /* signals that nobody sent it */
	uint64_t turns;
};

/* Waits for every signal, each of which it blocks. */
static void *waiter_main(void *user)
{
	struct waiter *waiter = user;
	const struct timespec most = {.tv_nsec = (long)(5 * MS)};
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!waiter->over) {
		waiter->taken +=
		    (uint64_t)(sigtimedwait(&all, NULL, &most) == SIGURG);
		waiter->turns++;
	}
	return NULL;
}

/* Each thread is held and copied, also one that sleeps: what it costs is told,
 * and the stacks are right. */
static void test_suspend(void **state)
{
	struct crew crew = {0};
	plim_profile *profile = self_open(
	    (plim_profile_request){.hz = 200, .flags = PLIM_PROFILE_SUSPEND});
	struct member *busy = crew_add(&crew, MS, 0, 0);
	struct member *sleeper = crew_add(&crew, 0, SECOND / 20, 0);
	struct member *deaf = crew_add(&crew, 0, SECOND / 20, 1);
	struct waiter waiter = {0};
	const plim_profile_thread *row;
	uint64_t stops;

	(void)state;
	assert_int_equal(
	    pthread_create(&waiter.thread, NULL, waiter_main, &waiter), 0);
	self_for(profile, SECOND);
	waiter.over = 1;
	pthread_join(waiter.thread, NULL);
	assert_true(waiter.turns > 1);
	assert_int_equal(waiter.taken, 0);
	assert_int_equal(plim_profile_resolve(profile, NULL), PLIM_OK);
	assert_int_equal(self_tier(profile, PLIM_TIER_SUSPEND), 1);
	assert_int_equal(self_tier(profile, PLIM_TIER_NO_STOP), 0);
	assert_int_equal(self_tier(profile, PLIM_TIER_PERF_SIGNAL), 0);
	assert_true(self_thread(profile, busy->tid)->samples > 5);
	row = self_thread(profile, sleeper->tid);
	assert_true(row->blocked_samples > 5);
	assert_true(blocked_below(profile, sleeper->tid, "member_main") > 0.99);
	assert_true(row->times.blocked_ns > row->times.wall_ns / 2);
	assert_true(sleeper->disturbed > 5);
	/* Whoever blocks the signal is left alone. */
	assert_int_equal(deaf->disturbed, 0);
	row = self_thread(profile, deaf->tid);
	assert_int_equal(row->samples + row->blocked_samples, 0);
	stops = self_metric(profile, PLIM_METRIC_STOPS);
	/* One of each thread may have been let go, and not have left yet. */
	if (stops + 4 < self_metric(profile, PLIM_METRIC_CAPTURED))
		fail_msg("%llu stops for %llu samples",
			 (unsigned long long)stops,
			 (unsigned long long)self_metric(profile,
							 PLIM_METRIC_CAPTURED));
	assert_true(self_metric(profile, PLIM_METRIC_SIGNALS) >= stops);
	assert_true(self_metric(profile, PLIM_METRIC_PAUSE_SUM) > stops * 1000);
	assert_true(self_metric(profile, PLIM_METRIC_BYTES_COPIED) >
		    stops * 256);
	assert_true(self_lacks(profile, "held for each sample"));
	self_holds(profile);
	crew_end(&crew);
	plim_profile_free(profile);
}

/* It is nobody's but by name, and of all threads of the own process. */
static void test_suspend_refused(void **state)
{
	plim_profile *profile = NULL;
	plim_profile_request request = {.size = sizeof(request)};
	plim_host *host = NULL;
	plim_target *target = NULL;

	(void)state;
	request.flags = PLIM_PROFILE_SUSPEND | PLIM_PROFILE_NO_SIGNALS;
	assert_int_equal(plim_profile_open_self(&profile, NULL, &request, NULL),
			 PLIM_EINVAL);
	request.flags = PLIM_PROFILE_SUSPEND | PLIM_PROFILE_NO_RUNNING;
	assert_int_equal(plim_profile_open_self(&profile, NULL, &request, NULL),
			 PLIM_EINVAL);
	request.flags = PLIM_PROFILE_SUSPEND;
	assert_int_equal(plim_host_open(&host, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_target_open(&target, host, getppid(), NULL),
			 PLIM_OK);
	assert_int_equal(plim_profile_open(&profile, target, &request, NULL),
			 PLIM_EINVAL);
	assert_null(profile);
	plim_target_close(target);
	plim_host_close(host);
}

/* --- started again and again ---------------------------------------------- */

static size_t descriptors(void)
{
	size_t count = 0;

	for (int i = 0; i < 1024; i++)
		count += (size_t)(fcntl(i, F_GETFD) >= 0);
	return count;
}

/* /proc/self/timers has four lines for each, since 3.10. */
static size_t timers_left(void)
{
	char text[4096];
	int file = open("/proc/self/timers", O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? 0 : read(file, text, sizeof(text));

	if (file >= 0)
		close(file);
	return size < 0 ? 0 : (size_t)size;
}

/* In each tier: nothing is left behind, whatever was under way. STARTS in the
 * environment says how often, 25 times each else. */
static void test_starts(void **state)
{
	static const uint32_t tiers[] = {
	    0, PLIM_PROFILE_NO_SIGNALS, PLIM_PROFILE_NO_PERF,
	    PLIM_PROFILE_NO_PERF | PLIM_PROFILE_NO_TIMERS,
	    PLIM_PROFILE_SUSPEND};
	const char *asked = getenv("STARTS");
	int count = asked != NULL ? atoi(asked) : 25;
	struct crew crew = {0};

	(void)state;
	crew_add(&crew, MS, 0, 0);
	crew_add(&crew, 0, MS, 0);
	for (size_t t = 0; t < sizeof(tiers) / sizeof(tiers[0]); t++) {
		plim_profile *profile = self_open(
		    (plim_profile_request){.hz = 997, .flags = tiers[t]});
		uint64_t begin = crew_now();
		size_t before = 0;
		struct sigaction now;

		for (int i = 0; i < count; i++) {
			assert_int_equal(plim_profile_start(profile, NULL),
					 PLIM_OK);
			crew_sleep((uint64_t)(i % 4) * MS / 2);
			plim_profile_stop(profile);
			/* So short a run may have no sample. */
			(void)plim_profile_join(profile, NULL);
			/* The first one opens what stays. */
			if (i == 0)
				before = descriptors();
			assert_int_equal(descriptors(), before);
			assert_int_equal(timers_left(), 0);
			assert_int_equal(sigaction(SIGURG, NULL, &now), 0);
			assert_true(now.sa_handler == SIG_DFL);
		}
		if (asked != NULL)
			print_message("flags %u: %d starts, %.2f ms each\n",
				      (unsigned)tiers[t], count,
				      (double)(crew_now() - begin) / 1e6 /
					  count);
		plim_profile_free(profile);
	}
	crew_end(&crew);
}

/* --- who blocks the signal at times --------------------------------------- */

struct fickle {
	pthread_t thread;
	_Atomic int32_t tid;
	_Atomic int over;
	uint64_t found; /* ours, waiting, when it had blocked all for long */
	uint64_t taken; /* by sigtimedwait() */
	_Atomic uint64_t turns;
	uint64_t open_ns; /* CPU time with all let through */
};

static uint64_t fickle_cpu(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* Blocks every signal, works for long, and looks what waits for it. */
static void *fickle_main(void *user)
{
	struct fickle *fickle = user;
	const struct timespec now = {0};
	sigset_t all;
	sigset_t none;
	sigset_t waiting;

	sigfillset(&all);
	sigemptyset(&none);
	fickle->tid = (int32_t)syscall(SYS_gettid);
	while (!fickle->over) {
		/* Long, for a session thread that has to wait for a CPU. */
		uint64_t end = crew_now() + SECOND / 5 * 2;
		uint64_t before;

		pthread_sigmask(SIG_SETMASK, &all, NULL);
		crew_compute(40 * MS);
		while (crew_now() < end)
			crew_compute(MS);
		sigpending(&waiting);
		fickle->found += (uint64_t)(sigismember(&waiting, SIGURG) == 1);
		fickle->taken +=
		    (uint64_t)(sigtimedwait(&all, NULL, &now) == SIGURG);
		pthread_sigmask(SIG_SETMASK, &none, NULL);
		before = fickle_cpu();
		crew_compute(100 * MS);
		end = crew_now() + SECOND / 8;
		while (crew_now() < end)
			crew_compute(MS);
		fickle->open_ns += fickle_cpu() - before;
		fickle->turns++;
	}
	return NULL;
}

/* It never finds a signal of ours, and is sampled while it lets it through. */
static void expect_none_waiting(uint32_t flags)
{
	struct fickle fickle = {0};
	plim_profile *profile =
	    self_open((plim_profile_request){.hz = 997, .flags = flags});
	const plim_profile_thread *row;

	assert_int_equal(
	    pthread_create(&fickle.thread, NULL, fickle_main, &fickle), 0);
	while (fickle.tid == 0)
		crew_sleep(MS);
	assert_int_equal(plim_profile_start(profile, NULL), PLIM_OK);
	while (fickle.turns < 1)
		crew_sleep(10 * MS);
	fickle.over = 1;
	pthread_join(fickle.thread, NULL);
	plim_profile_stop(profile);
	assert_int_equal(plim_profile_join(profile, NULL), PLIM_OK);
	assert_int_equal(fickle.found, 0);
	assert_int_equal(fickle.taken, 0);
	row = self_thread(profile, fickle.tid);
	assert_true(row->samples > 5);
	/* What it used with all blocked is nobody's, and not laid on a stack
	 * that it had when it let the signal through. It takes a while to find
	 * that out, and that it does so again. */
	if (flags != 0) {
		assert_true(row->times.unsampled_ns * 10 > row->times.cpu_ns);
		if (row->times.sampled_ns < fickle.open_ns / 3)
			fail_msg("%llu of %llu ns on stacks",
				 (unsigned long long)row->times.sampled_ns,
				 (unsigned long long)fickle.open_ns);
	}
	self_holds(profile);
	plim_profile_free(profile);
}

static void test_none_waiting(void **state)
{
	(void)state;
	expect_none_waiting(0);
	expect_none_waiting(BY_TIMER);
	expect_none_waiting(BY_TICK);
}

/* --- what the kernel refuses ---------------------------------------------- */

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* From now on this call fails, for all threads. */
static void refuse(int call, int problem)
{
	struct sock_filter program[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, arch)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)problem &
							   SECCOMP_RET_DATA)),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {
	    .len = sizeof(program) / sizeof(program[0]), .filter = program};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter),
			 0);
}

/* A busy thread, sampled by this tier; 0: by none. */
static void expect_chosen(int tier, const int reasons[4])
{
	struct crew crew = {0};
	plim_profile *profile = self_open((plim_profile_request){.hz = 200});
	struct member *member = crew_add(&crew, MS, 0, 0);

	self_until(profile, &crew, SECOND / 10);
	crew_end(&crew);
	expect_tier(profile, tier, reasons);
	if (tier == 0) {
		assert_int_equal(self_thread(profile, member->tid)->samples, 0);
		assert_true(
		    self_lacks(profile, "running threads are not sampled"));
	} else {
		assert_true(self_thread(profile, member->tid)->samples > 1);
	}
	self_holds(profile);
	plim_profile_free(profile);
}

static void test_refused_perf(void **state)
{
	const int reasons[4] = {
	    PLIM_REASON_PERF_REFUSED, PLIM_REASON_PERF_REFUSED,
	    PLIM_METHOD_CPU_TIMERS, PLIM_REASON_BETTER_SOURCE};

	(void)state;
	refuse(SYS_perf_event_open, EACCES);
	expect_chosen(PLIM_TIER_CPU_TIMER, reasons);
}

/* No timer is left: root has as many, too. */
static void test_no_timer_left(void **state)
{
	const int reasons[4] = {
	    PLIM_REASON_PERF_REFUSED, PLIM_REASON_PERF_REFUSED,
	    PLIM_REASON_TIMERS_USED_UP, PLIM_METHOD_THREAD_SIGNALS};
	struct rlimit before;
	struct rlimit none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	expect_chosen(PLIM_TIER_THREAD_SIGNAL, reasons);
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &before), 0);
}

/* Timers run out in the middle: who has none gets signals. */
static void test_some_timers(void **state)
{
	struct crew crew = {0};
	struct rlimit before;
	struct rlimit none;
	struct member *first;
	struct member *second;
	plim_profile *profile = self_open((plim_profile_request){.hz = 200});

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &before), 0);
	first = crew_add(&crew, MS, 0, 0);
	assert_int_equal(plim_profile_start(profile, NULL), PLIM_OK);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	second = crew_add(&crew, MS, 0, 0);
	while (crew_cpu(first) < SECOND / 5 || crew_cpu(second) < SECOND / 10)
		crew_sleep(10 * MS);
	plim_profile_stop(profile);
	assert_int_equal(plim_profile_join(profile, NULL), PLIM_OK);
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &before), 0);
	crew_end(&crew);
	assert_int_equal(self_tier(profile, PLIM_TIER_CPU_TIMER), 1);
	assert_int_equal(self_tier(profile, PLIM_TIER_THREAD_SIGNAL), 1);
	assert_true(self_thread(profile, first->tid)->samples > 1);
	assert_true(self_thread(profile, second->tid)->samples > 1);
	self_holds(profile);
	plim_profile_free(profile);
}

static void test_refused_timers(void **state)
{
	const int reasons[4] = {
	    PLIM_REASON_PERF_REFUSED, PLIM_REASON_PERF_REFUSED,
	    PLIM_REASON_TIMERS_REFUSED, PLIM_METHOD_THREAD_SIGNALS};

	(void)state;
	refuse(SYS_timer_create, EPERM);
	expect_chosen(PLIM_TIER_THREAD_SIGNAL, reasons);
}

static void test_refused_signals(void **state)
{
	const int reasons[4] = {
	    PLIM_REASON_PERF_REFUSED, PLIM_REASON_PERF_REFUSED,
	    PLIM_REASON_TIMERS_REFUSED, PLIM_REASON_SIGNALS_REFUSED};

	(void)state;
	refuse(SYS_tgkill, EPERM);
	expect_chosen(0, reasons);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_timer_shares),
	    cmocka_unit_test(test_tick_shares),
	    cmocka_unit_test(test_timer_overruns),
	    cmocka_unit_test(test_asked),
	    cmocka_unit_test(test_suspend),
	    cmocka_unit_test(test_suspend_refused),
	    cmocka_unit_test(test_starts),
	    cmocka_unit_test(test_none_waiting),
	    cmocka_unit_test(test_refused_perf),
	    cmocka_unit_test(test_no_timer_left),
	    cmocka_unit_test(test_some_timers),
	    cmocka_unit_test(test_refused_timers),
	    cmocka_unit_test(test_refused_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
