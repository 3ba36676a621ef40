/*
 * naps.c - sixteen threads that sleep 10 ms at a time, with poll, epoll_wait,
 * nanosleep, sem_timedwait and a raw futex, and never try again: what ends a
 * sleep early is counted and taken as it is.
 *
 * `count` tells, of all threads since the last time, `naps`, `interrupted`
 * (EINTR), `shorter` (over before its time without one), `wrong` (any other
 * answer than that time is up), and `switches`, the voluntary context switches
 * that the kernel counted for the threads between the first and the last of
 * those naps: one a nap where nobody wakes them.
 */
#include "workload.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NAPS_THREADS 16
#define NAPS_SECONDS 60
#define NAPS_MS	     10
#define NAPS_NS	     10000000

/* A nap may end by so much before its time: the clocks that sleeps are
 * measured with are read at different moments. */
#define NAPS_SLACK_NS 100000

static struct nap {
	pthread_mutex_t lock; /* of what was counted */
	uint64_t naps;
	uint64_t interrupted;
	uint64_t shorter;
	uint64_t wrong;
	uint64_t switches;
} napping[NAPS_THREADS];

static int by_poll(void)
{
	return poll(NULL, 0, NAPS_MS);
}

static int by_epoll(void)
{
	static _Thread_local int descriptor = -1;
	struct epoll_event event;

	if (descriptor < 0)
		descriptor = epoll_create1(EPOLL_CLOEXEC);
	return epoll_wait(descriptor, &event, 1, NAPS_MS);
}

static int by_nanosleep(void)
{
	struct timespec time = {0, NAPS_NS};

	return nanosleep(&time, NULL);
}

static int by_semaphore(void)
{
	static _Thread_local sem_t never;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += NAPS_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return sem_timedwait(&never, &until) != 0 && errno == ETIMEDOUT ? 0
									: -1;
}

static int by_futex(void)
{
	static _Thread_local uint32_t word;
	struct timespec time = {0, NAPS_NS};
	long status =
	    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);

	return status != 0 && errno == ETIMEDOUT ? 0 : -1;
}

static uint64_t nap_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw;
}

/* The lock is taken by whoever asks for a moment, and never waited for here:
 * that would be a switch of its own. */
static void *nap_run(void *user)
{
	static int (*const ways[])(void) = {by_poll, by_epoll, by_nanosleep,
					    by_semaphore, by_futex};
	const size_t number = (size_t)(uintptr_t)user;
	struct nap *mine = &napping[number];
	struct nap now = {.naps = 0};
	uint64_t before = nap_switches();

	for (;;) {
		uint64_t start = workload_monotonic_ns();
		uint64_t after;
		int status;

		errno = 0;
		status = ways[number % 5]();
		if (status != 0 && errno == EINTR)
			now.interrupted++;
		else if (status != 0)
			now.wrong++;
		else if (workload_monotonic_ns() - start <
			 NAPS_NS - NAPS_SLACK_NS)
			now.shorter++;
		now.naps++;
		after = nap_switches();
		now.switches += after - before;
		before = after;
		if (pthread_mutex_trylock(&mine->lock) != 0)
			continue;
		mine->naps += now.naps;
		mine->interrupted += now.interrupted;
		mine->shorter += now.shorter;
		mine->wrong += now.wrong;
		mine->switches += now.switches;
		pthread_mutex_unlock(&mine->lock);
		now = (struct nap){.naps = 0};
	}
	return NULL;
}

static void naps_tell(void)
{
	struct nap sum = {.naps = 0};

	for (size_t i = 0; i < NAPS_THREADS; i++) {
		struct nap *one = &napping[i];

		pthread_mutex_lock(&one->lock);
		sum.naps += one->naps;
		sum.interrupted += one->interrupted;
		sum.shorter += one->shorter;
		sum.wrong += one->wrong;
		sum.switches += one->switches;
		one->naps = 0;
		one->interrupted = 0;
		one->shorter = 0;
		one->wrong = 0;
		one->switches = 0;
		pthread_mutex_unlock(&one->lock);
	}
	workload_number("naps", sum.naps);
	workload_number("interrupted", sum.interrupted);
	workload_number("shorter", sum.shorter);
	workload_number("wrong", sum.wrong);
	workload_number("switches", sum.switches);
	workload_done();
}

int main(void)
{
	pthread_t thread;
	uint64_t number;
	char line[64];

	workload_begin(NAPS_SECONDS);
	for (size_t i = 0; i < NAPS_THREADS; i++) {
		pthread_mutex_init(&napping[i].lock, NULL);
		if (pthread_create(&thread, NULL, nap_run,
				   (void *)(uintptr_t)i) != 0)
			workload_fail("pthread_create");
	}
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "count", &number))
			naps_tell();
		else
			workload_otherwise(line);
	}
}
