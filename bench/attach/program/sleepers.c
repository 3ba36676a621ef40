/*
 * sleepers.c FILE - sixteen threads that sleep 10 ms at a time, with poll,
 * epoll_wait, nanosleep, sem_timedwait and a raw futex, and work a little in
 * between. None of them tries again: what ends a sleep early is counted and
 * taken as it is. The counts are in FILE, which is shared.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 16
#define MS	10

static struct told {
	volatile uint64_t turns;
	volatile uint64_t interrupted; /* EINTR */
	volatile uint64_t shorter;     /* ended before its time without one */
	volatile uint64_t wrong;       /* any other answer than time is up */
} * told;

static int by_poll(void)
{
	return poll(NULL, 0, MS);
}

static int by_epoll(void)
{
	static __thread int descriptor = -1;
	struct epoll_event event;

	if (descriptor < 0)
		descriptor = epoll_create1(0);
	return epoll_wait(descriptor, &event, 1, MS);
}

static int by_nanosleep(void)
{
	struct timespec time = {0, MS * 1000000};

	return nanosleep(&time, NULL);
}

static int by_semaphore(void)
{
	static __thread sem_t never;
	struct timespec until;
	int status;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	status = sem_timedwait(&never, &until);
	return status != 0 && errno == ETIMEDOUT ? 0 : -1;
}

static int by_futex(void)
{
	static __thread uint32_t word;
	struct timespec time = {0, MS * 1000000};
	long status =
	    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);

	return status != 0 && errno == ETIMEDOUT ? 0 : -1;
}

static int (*const ways[5])(void) = {by_poll, by_epoll, by_nanosleep,
				     by_semaphore, by_futex};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *sleeper(void *user)
{
	size_t number = (size_t)(uintptr_t)user;
	struct told *mine = &told[number];
	volatile uint64_t work = 1;
	uint64_t start;
	int status;
	int i;

	for (;;) {
		start = now_ns();
		errno = 0;
		status = ways[number % 5]();
		if (status != 0 && errno == EINTR)
			mine->interrupted++;
		else if (status != 0)
			mine->wrong++;
		else if (now_ns() - start < MS * 1000000 - 100000)
			mine->shorter++;
		for (i = 0; i < 20000; i++)
			work = work * 6364136223846793005u + 1;
		mine->turns++;
	}
	return NULL;
}

int main(int count, char **words)
{
	pthread_t thread;
	size_t i;
	int file;

	prctl(PR_SET_PDEATHSIG, 9);
	if (count != 2 || (file = open(words[1], O_RDWR | O_CREAT, 0644)) < 0 ||
	    ftruncate(file, 4096) != 0)
		return 2;
	told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (told == MAP_FAILED)
		return 1;
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, sleeper,
				   (void *)(uintptr_t)i) != 0)
			return 1;
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
