/*
 * busy.c FILE DEPTH - one thread that computes, DEPTH calls deep, in code
 * without frame pointers. How often it went round, and the CPU time that it
 * had by then, are in FILE, which is shared: two numbers of one moment.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t *told;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static uint64_t turn(uint64_t work)
{
	unsigned i;

	for (i = 0; i < 1000; i++)
		work = work * 6364136223846793005u + (work >> 40) + 1;
	return work;
}

__attribute__((noinline)) static uint64_t goes_round(uint64_t work)
{
	uint64_t turns = 0;
	unsigned i;

	for (;;) {
		for (i = 0; i < 100; i++)
			work = turn(work);
		turns += i;
		told[0]++; /* odd: being written */
		told[1] = turns;
		told[2] = cpu_ns();
		told[3] = work;
		told[0]++;
	}
	return work;
}

__attribute__((noinline)) static uint64_t deeper(int depth, uint64_t work)
{
	volatile char room[200];

	room[0] = (char)depth;
	work += depth > 0 ? deeper(depth - 1, work + 1) : goes_round(work);
	return work + (uint64_t)room[0];
}

int main(int count, char **words)
{
	void *memory;
	int file;

	prctl(PR_SET_PDEATHSIG, 9);
	if (count != 3 || (file = open(words[1], O_RDWR | O_CREAT, 0644)) < 0 ||
	    ftruncate(file, 4096) != 0)
		return 2;
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		return 1;
	told = memory;
	printf("ready\n");
	fflush(stdout);
	return (int)deeper(atoi(words[2]), 1);
}
