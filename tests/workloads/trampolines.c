/*
 * trampolines.c - runs as python does with -X perf: each of its functions is
 * called through a trampoline of its own, made at run time, that calls one
 * evaluator; a map in /tmp tells whose each is. The evaluator keeps no frame
 * pointer, and what it leaves in that register leads nowhere.
 *
 * `trampolines MS` takes so much CPU time, half of it in py::early and half in
 * py::late.<lambda>, which is not made before; then it ends by itself, and
 * leaves the map, as python does.
 */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TRAMPOLINE_SECONDS = 60, TRAMPOLINE_ROOM = 32 };

typedef void *trampoline_evaluator(void *frame, void *first, void *second);
typedef void *trampoline_code(void *frame, void *first, void *second,
			      trampoline_evaluator *evaluate);

/* endbr64; sub $8,%rsp; call *%rcx; add $8,%rsp; ret - on aarch64 with a frame
 * record: Python/asm_trampoline.S of 3.12 and 3.13. */
#if defined(__x86_64__)
static const unsigned char trampoline_bytes[] = {
    0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08,
    0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3,
};
#define LEADS_NOWHERE() __asm__ volatile("movl $0x1234, %%ebp" ::: "rbp")
#elif defined(__aarch64__)
static const unsigned char trampoline_bytes[] = {
    0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x60, 0x00,
    0x3f, 0xd6, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6,
};
#define LEADS_NOWHERE() (void)0
#else
static const unsigned char trampoline_bytes[] = {0};
#define LEADS_NOWHERE() (void)0
#endif

/* A function of the program: whom it calls, or until when it computes. */
struct trampoline_frame {
	trampoline_code *callee;
	struct trampoline_frame *of_callee;
	uint64_t until_ns;
};

static char *trampoline_area;
static size_t trampoline_count;
static FILE *trampoline_map;

static trampoline_code *trampoline_make(const char *name)
{
	char *at = trampoline_area + TRAMPOLINE_ROOM * trampoline_count++;
	trampoline_code *code = NULL;

	if (mprotect(trampoline_area, 4096, PROT_READ | PROT_WRITE) != 0)
		workload_fail("mprotect");
	memcpy(at, trampoline_bytes, sizeof(trampoline_bytes));
	__builtin___clear_cache(at, at + sizeof(trampoline_bytes));
	if (mprotect(trampoline_area, 4096, PROT_READ | PROT_EXEC) != 0)
		workload_fail("mprotect");
	fprintf(trampoline_map, "%lx %zx py::%s:/srv/app.py\n",
		(unsigned long)(uintptr_t)at, sizeof(trampoline_bytes), name);
	fflush(trampoline_map);
	memcpy(&code, &at, sizeof(code));
	return code;
}

__attribute__((noinline)) static void trampoline_compute(uint64_t until_ns)
{
	while (workload_cpu_ns() < until_ns) {
		for (volatile int i = 0; i < 100000; i++)
			;
	}
}

__attribute__((noinline)) static void *
trampoline_evaluate(void *frame, void *first, void *second)
{
	struct trampoline_frame *own = frame;
	void *result = own;

	LEADS_NOWHERE();
	if (own->callee != NULL)
		result = own->callee(own->of_callee, first, second,
				     trampoline_evaluate);
	else
		trampoline_compute(own->until_ns);
	/* Not a tail call. */
	__asm__ volatile("" : : "r"(result), "r"(own) : "memory");
	return result;
}

static void trampoline_run(trampoline_code *outer, trampoline_code *inner,
			   uint64_t for_ns)
{
	struct trampoline_frame leaf = {.until_ns = workload_cpu_ns() + for_ns};
	struct trampoline_frame root = {.callee = inner, .of_callee = &leaf};

	outer(&root, NULL, NULL, trampoline_evaluate);
}

int main(int count, char **arguments)
{
	uint64_t ns;
	char path[64];
	trampoline_code *outer;

	workload_begin(TRAMPOLINE_SECONDS);
	if (count != 2 || sizeof(trampoline_bytes) == 1)
		workload_fail("code");
	ns = workload_parse(arguments[1]) * 1000000;
	trampoline_area = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	trampoline_map = fopen(path, "w");
	if (trampoline_area == MAP_FAILED || trampoline_map == NULL)
		workload_fail(path);
	outer = trampoline_make("outer");
	trampoline_run(outer, trampoline_make("early"), ns / 2);
	trampoline_run(outer, trampoline_make("late.<lambda>"), ns / 2);
	return 0;
}
