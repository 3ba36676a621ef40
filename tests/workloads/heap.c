/*
 * heap.c - a heap of known contents: threads that allocate and free in
 * patterns, and say what they hold and what glibc says of it.
 *
 * Usage: heap [WORD VALUE]... The words, with their defaults:
 *
 *   pattern random    what is freed after everything was allocated:
 *                     last (all but the last block), page (all but 64 bytes
 *                     a page), random, none, all, lifo, fifo (the last, the
 *                     first ones), churned (blocks replaced, then random),
 *                     aligned (memalign, then random), raised (a block of
 *                     30 MiB freed first, then all)
 *   threads 1         beside the main thread, which works only with `join 1`
 *   kib 4096          that each asks for
 *   least 16, most 8192    bytes of a block
 *   keep 300          of 1,000 blocks, where the pattern leaves it open
 *   seed 1
 *   touch 1           0 no block is written to, 1 each, 2 every other
 *   across 0          1: each thread frees what its neighbour allocated
 *   block 0           brk fails so many KiB above its start
 *   sbrk 0            so many bytes taken by sbrk half-way
 *   map 0             so many aligned mappings of 64 MiB
 *   hold 120          seconds until it ends by itself
 *   wait 0            1: allocates only at `load`
 *
 * Commands: `truth` (mallinfo2 by its field names; own_bytes, what libc alone
 * had in use before; held_bytes, held_count, held_mapped_*; the kernel's
 * figures), `memory` (only those, which touches no heap), `trim`
 * (before_bytes, after_bytes, trimmed, and the truth after), `load`, `churn`
 * and `stop` (operations, churn_ns), `give N` (frees N of 1,000 blocks), `end`
 * (the threads end), `fork` (child) and `reap`, `pageout`, `sbrk N`, `probe`
 * and `worst` (see heap.h), `exec` (the same program again), `quit`.
 */
#include "heap.h"
#include "workload.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct heap_extra {
	uint64_t block_kib;
	uint64_t sbrk_bytes;
	uint64_t mappings;
	uint64_t seconds;
	uint64_t wait;
};

static uint64_t heap_own;

static uint64_t *heap_word(struct heap_plan *plan, struct heap_extra *extra,
			   const char *word)
{
	const struct {
		const char *word;
		uint64_t *value;
	} words[] = {
	    {"threads", &plan->threads},  {"kib", &plan->bytes},
	    {"least", &plan->least},	  {"most", &plan->most},
	    {"keep", &plan->keep},	  {"seed", &plan->seed},
	    {"touch", &plan->touch},	  {"across", &plan->across},
	    {"join", &plan->join},	  {"block", &extra->block_kib},
	    {"sbrk", &extra->sbrk_bytes}, {"map", &extra->mappings},
	    {"hold", &extra->seconds},	  {"wait", &extra->wait},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, word) == 0)
			return words[i].value;
	_exit(2);
}

static void heap_read(int argc, char **argv, struct heap_plan *plan,
		      struct heap_extra *extra)
{
	for (int i = 1; i < argc; i += 2) {
		if (i + 1 >= argc)
			_exit(2);
		if (strcmp(argv[i], "pattern") == 0)
			plan->pattern = argv[i + 1];
		else
			*heap_word(plan, extra, argv[i]) =
			    workload_parse(argv[i + 1]);
	}
	plan->bytes *= 1024;
	if (plan->threads > HEAP_THREADS_MOST || plan->least > plan->most ||
	    plan->most == 0 || plan->threads + plan->join == 0)
		_exit(2);
}

static void heap_truth(void)
{
	struct heap_held held;

	heap_count(&held);
	heap_tell_mallinfo();
	workload_number("own_bytes", heap_own);
	workload_number("held_bytes", held.bytes);
	workload_number("held_count", held.count);
	workload_number("held_mapped_bytes", held.mapped_bytes);
	workload_number("held_mapped_count", held.mapped_count);
	heap_tell_memory();
}

static void heap_trim(void)
{
	uint64_t before = heap_anonymous();
	int trimmed = malloc_trim(0);
	uint64_t after = heap_anonymous();

	workload_number("before_bytes", before);
	workload_number("after_bytes", after);
	workload_number("trimmed", (uint64_t)trimmed);
}

/* Answers once into nothing, so that what asking and trimming take of pages
 * (buffers, stack, libc's data) is resident before anything is compared. */
static void heap_warm(void)
{
	int output = dup(STDOUT_FILENO);
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (output < 0 || nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0)
		workload_fail("dup");
	heap_trim();
	heap_truth();
	if (dup2(output, STDOUT_FILENO) < 0)
		workload_fail("dup");
	close(output);
	close(nothing);
}

static void heap_obey(const char *line, char **argv)
{
	uint64_t number;

	if (workload_is(line, "truth", &number)) {
		heap_truth();
	} else if (workload_is(line, "memory", &number)) {
		heap_tell_memory();
	} else if (workload_is(line, "trim", &number)) {
		heap_trim();
		heap_truth();
	} else if (workload_is(line, "load", &number)) {
		heap_load();
	} else if (workload_is(line, "churn", &number)) {
		heap_churn();
	} else if (workload_is(line, "stop", &number)) {
		heap_stop();
		workload_number("operations", heap_operations());
		workload_number("churn_ns", heap_churned_ns());
		heap_truth();
	} else if (workload_is(line, "give", &number)) {
		heap_give(number);
	} else if (workload_is(line, "end", &number)) {
		heap_end();
	} else if (workload_is(line, "fork", &number)) {
		workload_number("child", (uint64_t)heap_fork());
	} else if (workload_is(line, "reap", &number)) {
		heap_reap();
	} else if (workload_is(line, "pageout", &number)) {
		heap_page_out();
		heap_tell_memory();
	} else if (workload_is(line, "sbrk", &number)) {
		heap_take_sbrk(number);
	} else if (workload_is(line, "probe", &number)) {
		heap_probe();
	} else if (workload_is(line, "worst", &number)) {
		heap_probe_tell();
	} else if (workload_is(line, "exec", &number)) {
		execv("/proc/self/exe", argv);
		workload_fail("exec");
	} else {
		workload_otherwise(line);
		return;
	}
	workload_done();
}

int main(int argc, char **argv)
{
	struct heap_plan plan = {
	    .pattern = "random",
	    .threads = 1,
	    .bytes = 4096,
	    .least = 16,
	    .most = 8192,
	    .keep = 300,
	    .seed = 1,
	    .touch = 1,
	};
	struct heap_extra extra = {.seconds = 120};
	char line[64];

	heap_read(argc, argv, &plan, &extra);
	workload_begin((unsigned)extra.seconds);
	if (extra.block_kib > 0)
		heap_block_brk(extra.block_kib);
	heap_map_aligned(extra.mappings);
	heap_start(&plan, &heap_own);
	heap_warm();
	if (extra.wait == 0)
		heap_load();
	if (extra.sbrk_bytes > 0) {
		heap_take_sbrk(extra.sbrk_bytes);
		heap_load();
	}
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		heap_obey(line, argv);
	}
}
