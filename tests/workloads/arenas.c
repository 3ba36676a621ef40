/*
 * arenas.c - where glibc's malloc keeps its arenas, told by chunks.
 *
 * Usage: arenas THREADS. A chunk that was freed last of its size links back to
 * the bin of unsorted chunks, which lies in main_arena; the heap of a thread's
 * chunk begins with the address of the thread's arena (malloc/arena.c). Both
 * are read out of memory that malloc has handed out or taken back, without
 * any knowledge of the layout of an arena. `truth` tells `bin`, `arena1` and
 * so on, and what mallinfo2 says.
 */
#include "workload.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARENAS_MOST 8

static pthread_barrier_t arenas_ready;
static uint64_t arenas_of[ARENAS_MOST];

/* No chunk of a thread may be mapped by itself, or come from main_arena. */
static void *arenas_thread(void *user)
{
	uint64_t *arena = user;
	void *volatile chunk = malloc(5000);

	*arena = *(uint64_t *)((uintptr_t)chunk & ~(uintptr_t)0x3ffffff);
	pthread_barrier_wait(&arenas_ready);
	pause();
	return NULL;
}

/* Too large for caches and fast bins, with a chunk behind it that keeps it
 * from the top. */
static uint64_t arenas_bin(void)
{
	uint64_t *volatile chunk = malloc(5000);
	void *volatile behind = malloc(16);

	if (!chunk || !behind)
		_exit(2);
	free(chunk);
	return chunk[1];
}

int main(int argc, char **argv)
{
	struct mallinfo2 info;
	uint64_t ignored, bin;
	int count;
	char line[64], key[16];

	workload_begin(120);
	count = argc == 2 ? atoi(argv[1]) : -1;
	if (count < 0 || count > ARENAS_MOST)
		return 2;
	pthread_barrier_init(&arenas_ready, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, arenas_thread, &arenas_of[i]))
			workload_fail("pthread_create");
	}
	pthread_barrier_wait(&arenas_ready);
	if (!malloc(1 << 20))
		return 2;
	bin = arenas_bin();
	info = mallinfo2();
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (!workload_is(line, "truth", &ignored)) {
			workload_otherwise(line);
			continue;
		}
		workload_account();
		workload_number("bin", bin);
		workload_number("system", info.arena + info.hblkhd);
		workload_number("mapped", info.hblks);
		for (int i = 0; i < count; i++) {
			snprintf(key, sizeof(key), "arena%d", i + 1);
			workload_number(key, arenas_of[i]);
		}
		workload_done();
	}
}
