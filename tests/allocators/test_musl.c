/*
 * test_musl.c - the walk of mallocng against programs that know what they
 * hold: linked statically, and dynamically and stripped; quiet, and replacing
 * blocks as fast as they can.
 *
 * The truth is the program's own count of its blocks, and of each block's slot
 * by its header; and the kernel's figure of anonymous memory.
 */
#include "common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATIC	"keeper-musl-static"
#define DYNAMIC "keeper-musl"
#define NO_MUSL "no musl-gcc"

/* Bytes of anonymous memory in RAM, by smaps_rollup. */
static uint64_t anonymous(int32_t pid)
{
	unsigned long long kib = 0;
	char path[64];
	char line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "Anonymous: %llu kB", &kib) == 1)
			break;
	}
	fclose(file);
	return kib * 1024;
}

static void agrees(const struct spawn *spawn, const plim_heap *heap)
{
	assert_int_equal(figure(heap, PLIM_HEAP_IN_USE_COUNT),
			 spawn_truth(spawn, "small_count"));
	assert_int_equal(figure(heap, PLIM_HEAP_IN_USE),
			 spawn_truth(spawn, "small_slots"));
	assert_int_equal(figure(heap, PLIM_HEAP_MMAPPED_COUNT),
			 spawn_truth(spawn, "large_count"));
	assert_int_equal(figure(heap, PLIM_HEAP_MMAPPED),
			 spawn_truth(spawn, "large_slots"));
	assert_int_equal(figure(heap, PLIM_HEAP_UNCERTAIN), 0);
	/* The parts that the figures promise. */
	assert_int_equal(figure(heap, PLIM_HEAP_FREE_RESIDENT),
			 figure(heap, PLIM_HEAP_PINNED) +
			     figure(heap, PLIM_HEAP_CACHED));
	assert_int_equal(figure(heap, PLIM_HEAP_FREE),
			 figure(heap, PLIM_HEAP_FREE_RESIDENT) +
			     figure(heap, PLIM_HEAP_RELEASED));
	assert_true(figure(heap, PLIM_HEAP_SYSTEM) >=
		    figure(heap, PLIM_HEAP_IN_USE) +
			figure(heap, PLIM_HEAP_FREE));
	lacks(heap, PLIM_HEAP_TRIM_RETURNS, PLIM_REASON_NO_SUCH_PART);
}

/* Asks for something, walks, compares; the resident bytes. */
static uint64_t step(struct spawn *spawn, const char *command)
{
	struct walked walked;
	plim_heap *heap;
	uint64_t resident;

	spawn_ask(spawn, command);
	walk(&walked, spawn->pid);
	heap = walked_heap(&walked, PLIM_HEAP_OF_MUSL);
	is_exact(heap);
	agrees(spawn, heap);
	resident = figure(heap, PLIM_HEAP_RESIDENT);
	walked_release(&walked);
	return resident;
}

static void run_program(const char *name)
{
	static const char *const commands[] = {
	    "small 1",	"small 3",   "large 1",	    "small 3000", "drop 30",
	    "large 40", "drop 50",   "small 40000", "keep 3",	  "small 500",
	    "drop 97",	"large 100", "keep 2",	    "drop 100",	  "small 7"};
	struct spawn spawn;

	start_built(&spawn, name, NO_MUSL);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		step(&spawn, commands[i]);
	spawn_end(&spawn);
}

static void test_static(void **state)
{
	struct walked walked;
	struct spawn spawn;
	plim_heap *heap;

	(void)state;
	run_program(STATIC);
	start_built(&spawn, STATIC, NO_MUSL);
	spawn_ask(&spawn, "small 10");
	walk(&walked, spawn.pid);
	heap = walked_heap(&walked, PLIM_HEAP_OF_MUSL);
	assert_int_equal(heap->is_static, 1);
	assert_int_equal(walked.list.count, 1);
	has_evidence(heap, "share a secret");
	walked_release(&walked);
	spawn_end(&spawn);
}

static void test_dynamic(void **state)
{
	struct walked walked;
	struct spawn spawn;
	plim_heap *heap;

	(void)state;
	run_program(DYNAMIC);
	start_built(&spawn, DYNAMIC, NO_MUSL);
	walk(&walked, spawn.pid);
	heap = walked_heap(&walked, PLIM_HEAP_OF_MUSL);
	assert_int_equal(heap->is_static, 0);
	assert_int_equal(walked.list.count, 1);
	has_evidence(heap, "calls the malloc of libc.so");
	walked_release(&walked);
	spawn_end(&spawn);
}

/* What the kernel counts falls by what the walk counts. */
static void test_resident(void **state)
{
	static const char *const commands[] = {"large 30", "drop 60", "keep 50",
					       "drop 100"};
	uint64_t kernel, ours;
	struct spawn spawn;

	(void)state;
	start_built(&spawn, STATIC, NO_MUSL);
	ours = step(&spawn, "small 60000");
	kernel = anonymous(spawn.pid);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		uint64_t now = step(&spawn, commands[i]);
		int64_t change = (int64_t)(anonymous(spawn.pid) - kernel);
		int64_t found = (int64_t)(now - ours);

		if (llabs(change - found) > 8 * 4096)
			fail_msg("%s: %" PRId64 ", the kernel says %" PRId64,
				 commands[i], found, change);
	}
	spawn_end(&spawn);
}

/* One block of sixteen stays, so that most groups are held by few: whoever is
 * named to hold one must be a block, and its group free but for it. */
static void test_hostages(void **state)
{
	struct walked walked;
	struct spawn spawn;
	plim_heap *heap;

	(void)state;
	start_built(&spawn, STATIC, NO_MUSL);
	spawn_ask(&spawn, "small 20000");
	spawn_ask(&spawn, "keep 20000");
	assert_int_equal(spawn_truth(&spawn, "small_count"), 1);
	walk(&walked, spawn.pid);
	heap = walked_heap(&walked, PLIM_HEAP_OF_MUSL);
	is_exact(heap);
	/* The one that is left, wherever it lies, keeps the rest. */
	assert_int_equal(heap->hostage_count, 1);
	assert_int_equal(heap->hostages[0].address,
			 spawn_truth(&spawn, "first"));
	assert_int_equal(heap->hostages[0].size,
			 spawn_truth(&spawn, "small_slots"));
	assert_true(heap->hostages[0].kept_bytes > 0);
	assert_true(heap->hostages[0].kept_bytes <=
		    figure(heap, PLIM_HEAP_PINNED));
	walked_release(&walked);
	spawn_end(&spawn);
}

/* A program that goes on: never an error; what is walked is within what it
 * says that it may be off by, or nearly. */
static void test_churn(void **state)
{
	unsigned walks = 0;
	struct spawn spawn;
	uint64_t count;

	(void)state;
	start_built(&spawn, STATIC, NO_MUSL);
	spawn_ask(&spawn, "small 20000");
	count = spawn_truth(&spawn, "small_count");
	spawn_send(&spawn, "churn 700");
	for (int i = 0; i < 20; i++) {
		struct walked walked;
		plim_heap *heap;
		uint64_t found;

		walk(&walked, spawn.pid);
		heap = walked_heap(&walked, PLIM_HEAP_OF_MUSL);
		if (heap->depth == PLIM_DEPTH_WALKED) {
			walks++;
			found = figure(heap, PLIM_HEAP_IN_USE_COUNT);
			if (found > count + count / 50 ||
			    found < count - count / 50)
				fail_msg("%" PRIu64 " blocks of %" PRIu64,
					 found, count);
		} else {
			print_message("refused: %s\n", heap->why);
		}
		walked_release(&walked);
	}
	spawn_await_answer(&spawn);
	/* It must not have refused them all. */
	assert_true(walks >= 10);
	step(&spawn, "small 1");
	spawn_end(&spawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_static),   cmocka_unit_test(test_dynamic),
	    cmocka_unit_test(test_resident), cmocka_unit_test(test_hostages),
	    cmocka_unit_test(test_churn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
