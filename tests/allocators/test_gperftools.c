/*
 * test_gperftools.c - the page heap of gperftools against its own interface,
 * asked in the program that it is preloaded into, and linked into.
 */
#include "common.h"

#include <string.h>

#define LIBRARY "/usr/lib/*/libtcmalloc.so.4"
#define MINIMAL "/usr/lib/*/libtcmalloc_minimal.so.4"
#define NONE	"no libtcmalloc.so.4"

static void agrees(const struct spawn *spawn, const plim_heap *heap)
{
	plim_count in_use = plim_heap_figure(heap, PLIM_HEAP_IN_USE);
	plim_count trim = plim_heap_figure(heap, PLIM_HEAP_TRIM_RETURNS);

	is_exact(heap);
	assert_int_equal(figure(heap, PLIM_HEAP_SYSTEM),
			 spawn_truth(spawn, "tc_heap"));
	assert_int_equal(figure(heap, PLIM_HEAP_FREE),
			 spawn_truth(spawn, "tc_free"));
	assert_int_equal(figure(heap, PLIM_HEAP_RELEASED),
			 spawn_truth(spawn, "tc_unmapped"));
	/* Blocks, and what all caches hold: to the byte. */
	assert_int_equal(in_use.bound, PLIM_BOUND_AT_MOST);
	assert_int_equal(in_use.value, spawn_truth(spawn, "tc_allocated") +
					   spawn_truth(spawn, "tc_threads") +
					   spawn_truth(spawn, "tc_central") +
					   spawn_truth(spawn, "tc_transfer"));
	assert_int_equal(trim.bound, PLIM_BOUND_AT_MOST);
	assert_int_equal(trim.value, spawn_truth(spawn, "tc_free"));
	lacks(heap, PLIM_HEAP_CACHED, PLIM_REASON_NOT_WALKED);
}

static void run_program(struct spawn *spawn)
{
	static const char *const commands[] = {
	    "small 1",	"small 20000", "large 50", "drop 50",  "release",
	    "large 10", "drop 100",    "release",  "small 900"};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct walked walked;

		spawn_ask(spawn, commands[i]);
		walk(&walked, spawn->pid);
		agrees(spawn, walked_heap(&walked, PLIM_HEAP_OF_GPERFTOOLS));
		walked_release(&walked);
	}
}

static void test_preloaded(void **state)
{
	struct walked walked;
	struct spawn spawn;
	plim_heap *heap;

	(void)state;
	start_preloaded(&spawn, "keeper", LIBRARY, NONE);
	run_program(&spawn);
	walk(&walked, spawn.pid);
	heap = walked_heap(&walked, PLIM_HEAP_OF_GPERFTOOLS);
	assert_true(strncmp(heap->version, "2.", 2) == 0);
	assert_int_equal(heap->is_static, 0);
	heap = walked_heap(&walked, PLIM_HEAP_OF_GLIBC);
	assert_int_equal(heap->confidence, PLIM_CONFIDENCE_POSSIBLE);
	walked_release(&walked);
	spawn_end(&spawn);
}

static void test_minimal(void **state)
{
	struct spawn spawn;

	(void)state;
	start_preloaded(&spawn, "keeper", MINIMAL, NONE);
	run_program(&spawn);
	spawn_end(&spawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_preloaded),
	    cmocka_unit_test(test_minimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
