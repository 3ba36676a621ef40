/*
 * hostile.c - threads and functions whose names are meant to break whoever
 * writes them down, and a stack that is known.
 *
 * Each thread computes for a while in
 *
 *   hostile_outer_namely  made code  hostile_inner_namely
 *
 * and in made code alone, and then is blocked in hostile_wait_at_last. Names
 * of functions are as a compiler allows; tests/cli/hostile.py gives a copy of
 * the program others, of the same length, which no compiler would. The code
 * that is made at run time has its names from /tmp/perf-PID.map, which is
 * written here; whoever starts it takes it away.
 */
#include "workload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define HOSTILE_SECONDS 60
#define HOSTILE_LEAF_AT 64 /* in the made code, of all that it has */

/* The kernel keeps 15 bytes. The last two are the same. */
static const char *const hostile_names[] = {
    "a;b c",	    "q\"u'o`te\\",	 "<b>&amp;</b>", "new\nline\t\r",
    "bad\xff\xc3(", "\xe2\x80\xaegnp.x", " 12 ",	 " 12 "};

#define HOSTILE_THREADS (sizeof(hostile_names) / sizeof(hostile_names[0]))

/* It keeps a frame pointer, calls its argument, and returns. */
#if defined(__x86_64__)
static const unsigned char hostile_call[] = {0x55, 0x48, 0x89, 0xe5,
					     0xff, 0xd7, 0x5d, 0xc3};
/* Counts down from some 65,000. */
static const unsigned char hostile_leaf[] = {0x55, 0x48, 0x89, 0xe5, 0xb8,
					     0xff, 0xff, 0,    0,    0xff,
					     0xc8, 0x75, 0xfc, 0x5d, 0xc3};
#elif defined(__aarch64__)
static const unsigned char hostile_call[] = {
    0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x00, 0x00,
    0x3f, 0xd6, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
static const unsigned char hostile_leaf[] = {
    0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0xe0, 0xff,
    0x9f, 0x52, 0x00, 0x04, 0x00, 0x71, 0xe1, 0xff, 0xff, 0x54,
    0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
#else
static const unsigned char hostile_call[] = {0};
static const unsigned char hostile_leaf[] = {0};
#endif

static char *hostile_code;
static _Atomic uint64_t hostile_rounds;

void hostile_inner_namely(void);
void hostile_outer_namely(void (*call)(void (*)(void)), void (*leaf)(void));
void hostile_wait_at_last(void);

__attribute__((noinline)) void hostile_inner_namely(void)
{
	for (int i = 0; i < 200000; i++)
		atomic_fetch_add_explicit(&hostile_rounds, 1,
					  memory_order_relaxed);
}

__attribute__((noinline)) void
hostile_outer_namely(void (*call)(void (*)(void)), void (*leaf)(void))
{
	call(hostile_inner_namely);
	for (int i = 0; i < 20; i++)
		leaf();
	atomic_fetch_add(&hostile_rounds, 1); /* no tail call */
}

__attribute__((noinline)) void hostile_wait_at_last(void)
{
	workload_sleep_ns(8000000);
	atomic_fetch_add(&hostile_rounds, 1);
}

static void *hostile_run(void *user)
{
	void (*call)(void (*)(void)) = NULL;
	void (*leaf)(void) = NULL;
	const char *at = hostile_code + HOSTILE_LEAF_AT;

	prctl(PR_SET_NAME, user);
	memcpy(&call, &hostile_code, sizeof(call));
	memcpy(&leaf, &at, sizeof(leaf));
	for (;;) {
		hostile_outer_namely(call, leaf);
		hostile_wait_at_last();
	}
	return NULL;
}

/* A line of a map has no end but a newline. */
static void hostile_map(void)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	if (file == NULL)
		workload_fail(path);
	fprintf(file, "%lx %zx ca;ll \"it\" <&'\\\xfe> (int)\n",
		(unsigned long)(uintptr_t)hostile_code, sizeof(hostile_call));
	fprintf(file, "%lx %zx le\raf;\x1b[7m </script> \xe2\x80\xae` 17\n",
		(unsigned long)(uintptr_t)hostile_code + HOSTILE_LEAF_AT,
		sizeof(hostile_leaf));
	if (fclose(file) != 0)
		workload_fail(path);
}

static void hostile_make(void)
{
	hostile_code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (hostile_code == MAP_FAILED || sizeof(hostile_call) == 1)
		workload_fail("code");
	memcpy(hostile_code, hostile_call, sizeof(hostile_call));
	memcpy(hostile_code + HOSTILE_LEAF_AT, hostile_leaf,
	       sizeof(hostile_leaf));
	__builtin___clear_cache(hostile_code, hostile_code + 4096);
	if (mprotect(hostile_code, 4096, PROT_READ | PROT_EXEC) != 0)
		workload_fail("mprotect");
}

int main(void)
{
	pthread_t thread;
	char line[64];

	workload_begin(HOSTILE_SECONDS);
	hostile_make();
	hostile_map();
	for (size_t i = 0; i < HOSTILE_THREADS; i++)
		if (pthread_create(&thread, NULL, hostile_run,
				   (void *)(uintptr_t)hostile_names[i]) != 0)
			workload_fail("pthread_create");
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		workload_otherwise(line);
	}
}
