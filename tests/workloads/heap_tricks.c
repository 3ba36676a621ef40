/*
 * heap_tricks.c - what fools a reader of heaps, and what feels one (heap.h).
 *
 * The tricks are what programs in the field do: a mapping in the way of brk,
 * sbrk behind malloc's back, aligned mappings that look like arenas, pages
 * shared with a child, pages in swap. The probe is a thread that needs the
 * process's memory lock all the time.
 */
#include "heap.h"
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

static pid_t tricks_child;

void heap_block_brk(uint64_t kib)
{
	uintptr_t end = (uintptr_t)sbrk(0);
	uintptr_t at = (end + kib * 1024 + 4095) & ~(uintptr_t)4095;

	if (mmap((void *)at, 4096, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) != (void *)at)
		workload_fail("mmap");
}

void heap_take_sbrk(uint64_t bytes)
{
	char *taken = sbrk((intptr_t)bytes);

	if (taken == (void *)-1)
		workload_fail("sbrk");
	memset(taken, 0x33, (size_t)bytes);
}

void heap_map_aligned(uint64_t count)
{
	const size_t size = (size_t)64 << 20;

	for (uint64_t i = 0; i < count; i++) {
		char *raw =
		    mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		char *at;

		if (raw == MAP_FAILED)
			workload_fail("mmap");
		at = (char *)(((uintptr_t)raw + size - 1) & ~(size - 1));
		if (at > raw)
			munmap(raw, (size_t)(at - raw));
		munmap(at + size, (size_t)(raw + size - at));
		madvise(at, size, MADV_NOHUGEPAGE);
		memset(at, 0x44, size / 8);
	}
}

/* Hexadecimal up to `stop`; moves the text behind it. */
static uintptr_t tricks_hex(const char **text, char stop)
{
	uintptr_t value = 0;

	for (; **text != stop && **text != '\0'; (*text)++) {
		int c = **text;

		value =
		    value * 16 + (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (**text != '\0')
		(*text)++;
	return value;
}

static void tricks_page_out(const char *line)
{
	uintptr_t start = tricks_hex(&line, '-');
	uintptr_t end = tricks_hex(&line, ' ');

	if (strncmp(line, "rw-p 00000000 00:00 0", 21) != 0 ||
	    strstr(line, "[stack") != NULL)
		return;
	/* Refused for what may not leave, which then stays. */
	madvise((void *)start, end - start, MADV_PAGEOUT);
}

void heap_page_out(void)
{
	static char text[65536];
	int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	if (file < 0)
		workload_fail("maps");
	while ((got = read(file, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)got;
	close(file);
	text[used] = '\0';
	for (char *line = text; *line != '\0';) {
		char *end = strchr(line, '\n');

		if (end == NULL)
			break;
		*end = '\0';
		tricks_page_out(line);
		line = end + 1;
	}
}

long heap_fork(void)
{
	tricks_child = fork();
	if (tricks_child < 0)
		workload_fail("fork");
	if (tricks_child == 0) {
		workload_begin(120);
		for (;;)
			pause();
	}
	return (long)tricks_child;
}

void heap_reap(void)
{
	if (tricks_child <= 0)
		return;
	kill(tricks_child, SIGKILL);
	waitpid(tricks_child, NULL, 0);
	tricks_child = 0;
}

/* --- the probe -------------------------------------------------------------
 */

/* Shorter operations are not looked at: asking costs as much. */
#define PROBE_LEAST_NS 60000

static _Atomic uint64_t probe_operations;
static _Atomic uint64_t probe_worst_ns;
static _Atomic uint64_t probe_blocked_ns;

static uint64_t probe_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How long the thread has waited for a CPU in all. */
static uint64_t probe_delay_ns(int schedstat)
{
	char text[96];
	ssize_t got = pread(schedstat, text, sizeof(text) - 1, 0);
	const char *second;

	if (got <= 0)
		workload_fail("schedstat");
	text[got] = '\0';
	second = strchr(text, ' ');
	return second == NULL ? 0 : strtoull(second + 1, NULL, 10);
}

static void probe_note(_Atomic uint64_t *worst, uint64_t value)
{
	uint64_t known = atomic_load(worst);

	while (value > known &&
	       !atomic_compare_exchange_weak(worst, &known, value))
		;
}

static void probe_once(int schedstat)
{
	uint64_t delay = probe_delay_ns(schedstat);
	uint64_t cpu = probe_cpu_ns();
	uint64_t begin = workload_monotonic_ns();
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t wall;
	uint64_t busy;

	if (pages == MAP_FAILED)
		workload_fail("mmap");
	pages[0] = 1;
	pages[4096] = 1;
	munmap(pages, 8192);
	wall = workload_monotonic_ns() - begin;
	atomic_fetch_add(&probe_operations, 1);
	if (wall < PROBE_LEAST_NS)
		return;
	busy = probe_cpu_ns() - cpu + probe_delay_ns(schedstat) - delay;
	probe_note(&probe_worst_ns, wall);
	probe_note(&probe_blocked_ns, wall > busy ? wall - busy : 0);
}

static void *probe_thread(void *user)
{
	int schedstat =
	    open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	(void)user;
	if (schedstat < 0)
		workload_fail("schedstat");
	for (;;)
		probe_once(schedstat);
	return NULL;
}

void heap_probe(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, probe_thread, NULL) != 0)
		workload_fail("pthread_create");
}

void heap_probe_tell(void)
{
	workload_number("probe_operations",
			atomic_exchange(&probe_operations, 0));
	workload_number("probe_worst_ns", atomic_exchange(&probe_worst_ns, 0));
	workload_number("probe_blocked_ns",
			atomic_exchange(&probe_blocked_ns, 0));
}
