/*
 * test_inside_lives.c - what happens to a process while it samples itself:
 * threads that end, forks, threads that block every signal, sleeps that
 * nobody tries again.
 */
#include "crew.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint64_t lives_ended;

static void *short_life(void *user)
{
	(void)user;
	crew_compute(MS / 4);
	lives_ended++;
	return NULL;
}

/* Threads come and go: who was seen has ended. */
static void test_churn(void **state)
{
	plim_profile *profile = self_open((plim_profile_request){.hz = 997});
	uint64_t end;
	uint64_t born;
	size_t over = 0;

	(void)state;
	lives_ended = 0;
	assert_int_equal(plim_profile_start(profile, NULL), PLIM_OK);
	end = crew_now() + SECOND;
	while (crew_now() < end) {
		pthread_t threads[4];

		for (int i = 0; i < 4; i++)
			assert_int_equal(
			    pthread_create(&threads[i], NULL, short_life, NULL),
			    0);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	plim_profile_stop(profile);
	assert_int_equal(plim_profile_join(profile, NULL), PLIM_OK);
	self_holds(profile);
	born = self_metric(profile, PLIM_METRIC_THREADS_BORN);
	assert_true(born > 0 && born <= lives_ended);
	for (size_t i = 0; i < plim_profile_thread_count(profile); i++)
		over += plim_profile_thread_at(profile, i)->ended_ns != 0;
	assert_true(over + 4 >= born);
	assert_int_equal(self_thread(profile, getpid())->ended_ns, 0);
	plim_profile_free(profile);
}

/* Its parent's handler is there, and in nobody's way. */
static int child_is_refused(const plim_profile *own)
{
	for (size_t i = 0; i < plim_profile_tier_count(own); i++) {
		const plim_profile_tier *tier = plim_profile_tier_at(own, i);

		if (tier->tier == PLIM_TIER_PERF_SIGNAL &&
		    tier->works.state != PLIM_STATE_KNOWN &&
		    tier->works.method == PLIM_REASON_SIGNAL_TAKEN)
			return 1;
	}
	return 0;
}

/* What a child does that has a copy of its parent's session. */
static int child_life(plim_profile *copy)
{
	plim_profile_request request = {
	    .size = sizeof(request), .hz = 200, .flags = self_flags};
	plim_profile *own = NULL;
	int code;

	if (plim_profile_join(copy, NULL) != PLIM_EINVAL)
		return 2;
	plim_profile_free(copy);
	crew_compute(2 * MS);
	if (plim_profile_open_self(&own, NULL, &request, NULL) != PLIM_OK)
		return 3;
	if (plim_profile_start(own, NULL) != PLIM_OK)
		return 4;
	crew_compute(20 * MS);
	plim_profile_stop(own);
	code = plim_profile_join(own, NULL);
	if (code != PLIM_OK)
		return 5;
	if (plim_profile_about(own).target.pid != getpid())
		return 6;
	if (child_is_refused(own))
		return 7;
	plim_profile_free(own);
	return 0;
}

/* Children by fork, that sample themselves, while their parent is sampled. */
static void test_fork(void **state)
{
	struct crew crew = {0};
	plim_profile *profile = self_open((plim_profile_request){.hz = 499});
	struct member *member = crew_add(&crew, MS, MS, 0);

	(void)state;
	assert_int_equal(plim_profile_start(profile, NULL), PLIM_OK);
	for (int i = 0; i < 10; i++) {
		int status = -1;
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0)
			_exit(child_life(profile));
		while (waitpid(child, &status, 0) < 0)
			assert_int_equal(errno, EINTR);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	plim_profile_stop(profile);
	assert_int_equal(plim_profile_join(profile, NULL), PLIM_OK);
	NEEDS_RUNNING(&crew, profile);
	assert_true(self_thread(profile, member->tid)->samples > 0);
	assert_int_equal(plim_profile_process_count(profile), 1);
	self_holds(profile);
	crew_end(&crew);
	plim_profile_free(profile);
}

/* The copy of a session that does not run is not run in a child either: it
 * would sample the parent. */
static void test_fork_idle(void **state)
{
	plim_profile *profile = self_open((plim_profile_request){.hz = 499});
	int status = -1;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		int is_refused =
		    plim_profile_run(profile, NULL) == PLIM_EINVAL &&
		    plim_profile_start(profile, NULL) == PLIM_EINVAL;

		plim_profile_free(profile);
		_exit(!is_refused);
	}
	while (waitpid(child, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	plim_profile_free(profile);
}

/* A child that executes another program, by vfork: it ends as it should. */
static void test_spawn(void **state)
{
	char *const arguments[] = {(char *)(uintptr_t) "true", NULL};
	plim_profile *profile = self_open((plim_profile_request){.hz = 997});

	(void)state;
	assert_int_equal(plim_profile_start(profile, NULL), PLIM_OK);
	for (int i = 0; i < 20; i++) {
		int status = -1;
		pid_t child = vfork();

		if (child == 0) {
			execv("/bin/true", arguments);
			_exit(127);
		}
		assert_true(child > 0);
		while (waitpid(child, &status, 0) < 0)
			assert_int_equal(errno, EINTR);
		assert_int_equal(status, 0);
		crew_compute(MS);
	}
	plim_profile_stop(profile);
	assert_int_equal(plim_profile_join(profile, NULL), PLIM_OK);
	self_holds(profile);
	plim_profile_free(profile);
}

/* Who blocks every signal is sampled all the same, and gets none. */
static void test_blocks(void **state)
{
	struct crew crew = {0};
	plim_profile *profile = self_open((plim_profile_request){.hz = 499});
	struct member *deaf = crew_add(&crew, MS, 0, 1);
	uint64_t before = crew_cpu(deaf);
	const plim_profile_thread *row;
	uint64_t truth;

	(void)state;
	self_for(profile, SECOND / 2);
	NEEDS_RUNNING(&crew, profile);
	row = self_thread(profile, deaf->tid);
	truth = crew_cpu(deaf) - before;
	crew_end(&crew);
	if (self_flags != 0) {
		/* There is nothing but the signal. */
		assert_int_equal(row->samples, 0);
		assert_int_equal(row->times.sampled_ns, 0);
		assert_true(row->times.unsampled_ns > truth / 2);
		assert_true(self_lacks(profile, "1 of 2 threads"));
		self_holds(profile);
		plim_profile_free(profile);
		return;
	}
	assert_true(row->times.sampled_ns > truth / 2);
	assert_true(row->samples > 10);
	self_holds(profile);
	plim_profile_free(profile);
}

/* --- sleeps --------------------------------------------------------------- */

enum sleeping { IN_NANOSLEEP, IN_POLL, IN_EPOLL, IN_SEMAPHORE, SLEEPS };

struct sleeper {
	pthread_t thread;
	int kind;
	uint64_t turns;
	uint64_t interrupted; /* EINTR */
	uint64_t early;	      /* the sleep was short */
	_Atomic int *over;
};

static int sleep_once(int kind, int epoll, sem_t *semaphore)
{
	struct timespec time = {.tv_nsec = (long)(5 * MS)};
	struct epoll_event event;

	switch (kind) {
	case IN_NANOSLEEP:
		return nanosleep(&time, NULL);
	case IN_POLL:
		return poll(NULL, 0, 5);
	case IN_EPOLL:
		return epoll_wait(epoll, &event, 1, 5);
	default:
		clock_gettime(CLOCK_REALTIME, &time);
		time.tv_nsec += (long)(5 * MS);
		if (time.tv_nsec >= (long)SECOND) {
			time.tv_nsec -= (long)SECOND;
			time.tv_sec++;
		}
		return sem_timedwait(semaphore, &time);
	}
}

static void *sleeper_main(void *user)
{
	struct sleeper *sleeper = user;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	while (!*sleeper->over) {
		uint64_t before = crew_now();

		errno = 0;
		if (sleep_once(sleeper->kind, epoll, &semaphore) != 0 &&
		    errno == EINTR)
			sleeper->interrupted++;
		/* A millisecond for clocks that differ. */
		if (crew_now() - before < 4 * MS)
			sleeper->early++;
		crew_compute(MS / 10);
		sleeper->turns++;
	}
	sem_destroy(&semaphore);
	close(epoll);
	return NULL;
}

static void test_sleepers(void **state)
{
	struct sleeper sleepers[2 * SLEEPS] = {{0}};
	_Atomic int over = 0;
	plim_profile *profile = self_open((plim_profile_request){.hz = 1000});
	uint64_t interrupted = 0;
	uint64_t early = 0;
	uint64_t disturbed;

	(void)state;
	for (int i = 0; i < 2 * SLEEPS; i++) {
		sleepers[i].kind = i % SLEEPS;
		sleepers[i].over = &over;
		assert_int_equal(pthread_create(&sleepers[i].thread, NULL,
						sleeper_main, &sleepers[i]),
				 0);
	}
	self_for(profile, SECOND);
	over = 1;
	for (int i = 0; i < 2 * SLEEPS; i++) {
		pthread_join(sleepers[i].thread, NULL);
		assert_true(sleepers[i].turns > 10);
		interrupted += sleepers[i].interrupted;
		early += sleepers[i].early;
	}
	/* A signal to one that runs may find it asleep, and the classic way
	 * disturbs them all; no other tier does. */
	if (self_flags == PLIM_PROFILE_SUSPEND)
		assert_true(interrupted > 5);
	else if ((self_flags & PLIM_PROFILE_NO_TIMERS) == 0)
		assert_int_equal(interrupted, 0);
	assert_true(early <= interrupted);
	self_holds(profile);
	assert_true(self_metric(profile, PLIM_METRIC_BLOCKED) >
		    (self_flags == PLIM_PROFILE_SUSPEND ? 10 : 100));
	/* The last one may come when nobody counts any more. */
	disturbed = self_metric(profile, PLIM_METRIC_CALLS_DISTURBED);
	print_message("%llu sleeps interrupted, %llu told\n",
		      (unsigned long long)interrupted,
		      (unsigned long long)disturbed);
	/* The classic way disturbs others, too: us, who waited for them. */
	assert_true(disturbed <= interrupted ||
		    self_flags == PLIM_PROFILE_SUSPEND);
	assert_true(interrupted <= disturbed + 2 * SLEEPS);
	plim_profile_free(profile);
}

struct turns {
	pthread_t thread;
	_Atomic int32_t tid;
	_Atomic int over;
	_Atomic uint64_t naps; /* begun */
	_Atomic uint64_t nap_ns;
};

/* Nine tenths of the time in one call, one in another. */
static void *turns_main(void *user)
{
	struct turns *turns = user;

	turns->tid = (int32_t)syscall(SYS_gettid);
	while (!turns->over) {
		struct timespec time = {.tv_nsec = 50 * (long)MS};
		uint64_t before;

		poll(NULL, 0, 450);
		before = crew_now();
		turns->naps++;
		nanosleep(&time, NULL);
		turns->nap_ns += crew_now() - before;
	}
	return NULL;
}

/* Looks are left out while nobody runs; what a thread slept meanwhile is its
 * old place's, not that where it is found afterwards. So what the nap has
 * beyond its own time is at most the time between two looks, once a nap: a
 * period, and what came late or not at all, which the metrics tell. */
static void test_turns(void **state)
{
	plim_profile *profile = self_open((plim_profile_request){.hz = 99});
	const plim_profile_stack *stack;
	struct turns turns = {0};
	uint64_t in_poll = 0;
	uint64_t in_all = 0;
	uint64_t gaps;

	(void)state;
	assert_int_equal(
	    pthread_create(&turns.thread, NULL, turns_main, &turns), 0);
	self_for(profile, 3 * SECOND);
	turns.over = 1;
	pthread_join(turns.thread, NULL);
	self_holds(profile);
	for (size_t i = 0; i < plim_profile_stack_count(profile); i++) {
		stack = plim_profile_stack_at(profile, i);
		if (plim_profile_thread_at(profile, stack->thread)->tid !=
			turns.tid ||
		    stack->activity != PLIM_ACTIVITY_BLOCKED)
			continue;
		in_all += stack->weight_ns;
		if (stack->call == SYS_poll)
			in_poll += stack->weight_ns;
	}
	assert_true(in_all > 2 * SECOND);
	gaps = turns.naps + self_metric(profile, PLIM_METRIC_TICKS_LATE) +
	       self_metric(profile, PLIM_METRIC_TICKS_SKIPPED);
	/* The classic way ends both calls at each tick. */
	if (self_flags != PLIM_PROFILE_SUSPEND &&
	    in_all - in_poll > turns.nap_ns + gaps * (SECOND / 99))
		fail_msg("%llu ms in naps of %llu ms, %llu gaps",
			 (unsigned long long)((in_all - in_poll) / MS),
			 (unsigned long long)(turns.nap_ns / MS),
			 (unsigned long long)gaps);
	plim_profile_free(profile);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_churn),     cmocka_unit_test(test_fork),
	    cmocka_unit_test(test_fork_idle), cmocka_unit_test(test_spawn),
	    cmocka_unit_test(test_blocks),    cmocka_unit_test(test_sleepers),
	    cmocka_unit_test(test_turns),
	};

	self_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
