/*
 * jitted.c - computes in code that was made at run time, which no file has.
 *
 * `where` tells the address of that code, `code`, and its size, `size`: who
 * wants it to have a name writes /tmp/perf-PID.map.
 */
#include "workload.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define JITTED_SECONDS 60

/* Counts down from some 65,000, and returns. */
#if defined(__x86_64__)
static const unsigned char jitted_code[] = {
    0xb8, 0xff, 0xff, 0, 0, 0xff, 0xc8, 0x75, 0xfc, 0xc3,
};
#elif defined(__aarch64__)
static const unsigned char jitted_code[] = {
    0xe0, 0xff, 0x9f, 0x52, 0x00, 0x04, 0x00, 0x71,
    0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6,
};
#else
static const unsigned char jitted_code[] = {0};
#endif

static void *jitted_run(void *code)
{
	void (*function)(void) = NULL;

	memcpy(&function, &code, sizeof(function));
	for (;;)
		function();
	return NULL;
}

int main(void)
{
	pthread_t thread;
	uint64_t number;
	char line[64];
	char *code;

	workload_begin(JITTED_SECONDS);
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || sizeof(jitted_code) == 1)
		workload_fail("code");
	memcpy(code, jitted_code, sizeof(jitted_code));
	__builtin___clear_cache(code, code + sizeof(jitted_code));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
		workload_fail("mprotect");
	if (pthread_create(&thread, NULL, jitted_run, code) != 0)
		workload_fail("pthread_create");
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (!workload_is(line, "where", &number)) {
			workload_otherwise(line);
			continue;
		}
		workload_number("code", (uint64_t)(uintptr_t)code);
		workload_number("size", sizeof(jitted_code));
		workload_done();
	}
}
