/*
 * mapper.c - mappings of each kind, whose places and sizes it knows.
 *
 * Usage: mapper FILE. Maps 8 MiB of anonymous memory (touched), 4 MiB of
 * shared memory (touched), 2 MiB of a memory file (touched), 64 KiB of
 * anonymous memory that may be executed, and FILE, which is made with 1 MiB
 * and removed again at `remove` and at the end of the input; starts three
 * threads, of which each takes a heap of its own from malloc and waits in a
 * system call. The truth is where all that is: an address in each mapping,
 * each thread's id and a place on its stack.
 */
#include "workload.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAPPER_THREADS 3
#define MAPPER_MIB     ((size_t)1 << 20)

static struct mapper_thread {
	uint64_t tid;
	uint64_t stack; /* the address of one of its variables */
	uint64_t heap;	/* of one of its blocks */
} mapper_threads[MAPPER_THREADS];
static pthread_barrier_t mapper_ready;
static const char *mapper_path;
static int mapper_removed;

static void *mapper_wait(void *user)
{
	struct mapper_thread *thread = user;
	char here = 0;
	char *block = malloc(1000);

	if (block == NULL)
		workload_fail("malloc");
	memset(block, 1, 1000);
	thread->tid = (uint64_t)syscall(SYS_gettid);
	thread->stack = (uint64_t)(uintptr_t)&here;
	thread->heap = (uint64_t)(uintptr_t)block;
	pthread_barrier_wait(&mapper_ready);
	for (;;)
		pause();
}

static void *mapper_map(size_t bytes, int rights, int flags, int file)
{
	volatile char *memory = mmap(NULL, bytes, rights, flags, file, 0);

	if (memory == MAP_FAILED)
		workload_fail("mmap");
	for (size_t at = 0; at < bytes; at += 4096) {
		if (rights & PROT_WRITE)
			memory[at] = 1;
		else
			(void)memory[at];
	}
	return (void *)(uintptr_t)memory;
}

static void *mapper_memory_file(void)
{
	int file = (int)syscall(SYS_memfd_create, "a buffer", 1u);

	if (file < 0 || ftruncate(file, (off_t)(2 * MAPPER_MIB)) != 0)
		workload_fail("memfd_create");
	return mapper_map(2 * MAPPER_MIB, PROT_READ | PROT_WRITE, MAP_SHARED,
			  file);
}

static void *mapper_file(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char *page = calloc(1, MAPPER_MIB);

	if (file < 0 || page == NULL ||
	    write(file, page, MAPPER_MIB) != (ssize_t)MAPPER_MIB)
		workload_fail(path);
	free(page);
	mapper_path = path;
	return mapper_map(MAPPER_MIB, PROT_READ, MAP_SHARED, file);
}

static void mapper_remove(void)
{
	if (!mapper_removed)
		unlink(mapper_path);
	mapper_removed = 1;
}

static void mapper_start(void)
{
	pthread_barrier_init(&mapper_ready, NULL, MAPPER_THREADS + 1);
	for (int i = 0; i < MAPPER_THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, mapper_wait,
				   &mapper_threads[i]) != 0)
			workload_fail("pthread_create");
	}
	pthread_barrier_wait(&mapper_ready);
}

static void mapper_tell(void)
{
	for (int i = 0; i < MAPPER_THREADS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "tid%d", i);
		workload_number(key, mapper_threads[i].tid);
		snprintf(key, sizeof(key), "stack%d", i);
		workload_number(key, mapper_threads[i].stack);
		snprintf(key, sizeof(key), "heap%d", i);
		workload_number(key, mapper_threads[i].heap);
	}
}

int main(int argc, char **argv)
{
	int on_stack = 0;
	uint64_t number;
	char line[64];
	void *places[5];

	if (argc != 2)
		return 2;
	workload_begin(120);
	places[0] = mapper_map(8 * MAPPER_MIB, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1);
	places[1] = mapper_map(4 * MAPPER_MIB, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1);
	places[2] = mapper_memory_file();
	places[3] = mapper_map(65536, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1);
	places[4] = mapper_file(argv[1]);
	atexit(mapper_remove);
	mapper_start();
	workload_ready();
	for (;;) {
		static const char *const names[] = {"anonymous", "shared",
						    "memfd", "jit", "file"};

		workload_command(line, sizeof(line));
		if (workload_is(line, "remove", &number)) {
			mapper_remove();
		} else if (!workload_is(line, "truth", &number)) {
			workload_otherwise(line);
			continue;
		}
		for (int i = 0; i < 5; i++)
			workload_number(names[i],
					(uint64_t)(uintptr_t)places[i]);
		workload_number("main_stack", (uint64_t)(uintptr_t)&on_stack);
		workload_number("code", (uint64_t)(uintptr_t)&mapper_tell);
		workload_number("data", (uint64_t)(uintptr_t)&mapper_threads);
		workload_number("libc", (uint64_t)(uintptr_t)&malloc_trim);
		mapper_tell();
		workload_done();
	}
}
