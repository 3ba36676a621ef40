/*
 * test_fooled.c - programs whose mappings mislead: residency that says nothing
 * about retention, arenas that don't look like ones, and what looks like one.
 *
 * Each is a heap of known contents; the walk must say what mallinfo2 says, and
 * name what would come back and what would not.
 */
#include "common.h"

#include <stdlib.h>
#include <unistd.h>

static void freed_but_the_last(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", "glibc.malloc.tcache_count=0",
		   "pattern last threads 4 kib 15360 least 1100");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	/* Fully resident, and hardly anything of it live. */
	assert_true(walk.in_use < 128 * KIB);
	assert_true(walk.trim > 56 * MIB);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

static void survivor_in_each_page(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", NULL, "pattern page threads 4 kib 15360");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	/* Nearly all free, and nothing of it returnable. */
	assert_true(walk.free > 55 * MIB);
	assert_true(walk.trim <= 16 * KIB);
	assert_true(look_figure(*state, PLIM_HEAP_PINNED) > 55 * MIB);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

static void quiet_threads(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", NULL,
		   "pattern none threads 32 kib 2048 most 4096");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	assert_true(walk.in_use >= 64 * MIB);
	assert_true(walk.trim <= 64 * KIB);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

/* What a trim never touches: the tops of threads' arenas, once a large block
 * that was freed has raised the threshold. */
static void raised_threshold(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", "glibc.malloc.tcache_count=0",
		   "pattern raised threads 4 kib 15360 least 1100");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	assert_true(walk.top > 56 * MIB);
	assert_true(look_figure(*state, PLIM_HEAP_TOP_RETAINED) > 56 * MIB);
	assert_true(walk.trim <= 64 * KIB);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

static void one_arena(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", "glibc.malloc.arena_max=1",
		   "threads 4 join 1 kib 12288");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	assert_int_equal(look_figure(*state, PLIM_HEAP_ARENA_COUNT), 1);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

/* Two fully grown heaps are one mapping of 128 MiB. */
static void merged_heaps(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", NULL,
		   "threads 2 kib 307200 least 1000 most 1000 keep 700");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	assert_int_equal(look_figure(*state, PLIM_HEAP_ARENA_COUNT), 3);
	assert_true(look_figure(*state, PLIM_HEAP_HEAP_COUNT) >= 10);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

/* Aligned mappings of 64 MiB that no allocator made. */
static void aligned_mappings(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", NULL,
		   "threads 0 join 1 kib 64 pattern none map 6");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	assert_int_equal(look_figure(*state, PLIM_HEAP_ARENA_COUNT), 1);
	assert_int_equal(look_figure(*state, PLIM_HEAP_HEAP_COUNT), 0);
	assert_true(walk.system < MIB);
	target_end(&target);
}

static void mapped_blocks(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", "glibc.malloc.mmap_threshold=16384",
		   "threads 2 kib 30720 least 20000 most 300000 keep 1000");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	assert_true(walk.mmapped >= 60 * MIB);
	assert_true(walk.mmapped_count > 200);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

/* With a mapping in the way of brk the main arena goes on in mappings, all of
 * which look like one. */
static void brk_blocked(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", "glibc.malloc.arena_max=1",
		   "threads 0 join 1 kib 62464 block 800");
	walk = look_walk(*state, target.pid);
	/* The main arena ends each of its mappings with two chunks. */
	look_compare(&target, &walk, TRIAL_HELD);
	assert_true(walk.system > 60 * MIB);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

/* malloc's first chunk is not where [heap] begins. */
static void linked_statically(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	if (access(target_program("heap-static"), X_OK) != 0)
		SKIP_BECAUSE("no static libc to build with");
	look_start(&target, "heap-static", NULL, "threads 2 join 1 kib 8192");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	assert_true(plim_heap_about(look_glibc(*state)).is_static);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

/* Memory that the program took by sbrk is counted by malloc as its own, and
 * holds nothing of malloc's. */
static void foreign_break(void **state)
{
	struct target target;
	struct trial_walk walk;
	struct trial_truth truth;

	look_can(state);
	look_start(&target, "heap", NULL,
		   "threads 1 join 1 kib 8192 sbrk 300000");
	walk = look_walk(*state, target.pid);
	assert_int_equal(trial_ask(&target, &truth), 0);
	assert_int_equal(walk.free + walk.fastbin + walk.top, truth.fordblks);
	assert_int_equal(walk.fastbin, truth.fsmblks);
	assert_int_equal(walk.system, truth.arena);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

static void huge_pages_advised(void **state)
{
	struct target target;
	struct trial_walk walk;
	uint64_t huge;

	look_can(state);
	look_start(&target, "heap", "glibc.malloc.hugetlb=1",
		   "threads 2 join 1 kib 20480");
	walk = look_walk(*state, target.pid);
	look_compare(&target, &walk, 0);
	/* RSS falls by these, and they stay inside huge pages that are in use:
	 * about half is free, so about half of what is in huge pages. */
	huge = look_truth(&target, "huge_bytes");
	assert_true(walk.huge <= walk.trim && walk.huge <= huge);
	assert_true(walk.huge >= huge / 4);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

/* Reserved huge pages: heaps are smaller, belong to a file by name, and are
 * in no resident figure. */
static void huge_pages_reserved(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	if (pages_bytes(getpid(), "../meminfo", "HugePages_Free") / KIB < 48)
		SKIP_BECAUSE("no huge pages are reserved");
	look_start(&target, "heap", "glibc.malloc.hugetlb=2",
		   "threads 3 join 1 kib 8192 keep 400");
	walk = look_walk(*state, target.pid);
	/* As above: the main arena is in mappings, too. */
	look_compare(&target, &walk, TRIAL_HELD);
	assert_int_equal(walk.trim, 0);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

/* Threads that have ended: their arenas are free, their caches gone. */
static void threads_ended(void **state)
{
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", NULL, "threads 6 kib 2048 keep 500");
	look_ask(&target, "end");
	walk = look_walk(*state, target.pid);
	/* Their own blocks went with them: what libc held before does not. */
	look_compare(&target, &walk, TRIAL_HELD);
	look_trim(&target, &walk, 1);
	target_end(&target);
}

/* Another program in the same process: what is said is true of it, or is not
 * said. */
static void executed_another(void **state)
{
	struct target target;
	struct trial_walk first;
	struct trial_walk second;

	look_can(state);
	look_start(&target, "heap", NULL, "threads 2 kib 4096 pattern none");
	first = look_walk(*state, target.pid);
	if (getenv("PLIM_ROOT") != NULL) {
		target_end(&target);
		SKIP_BECAUSE("a program of another loader cannot exec itself");
	}
	assert_true(dprintf(target.in, "exec\n") > 0);
	for (int tries = 0; tries < 500; tries++) {
		char line[64];
		ssize_t got = read(target.out, line, sizeof(line));

		assert_true(got > 0);
		if (memchr(line, 'y', (size_t)got) != NULL)
			break;
	}
	second = look_walk(*state, target.pid);
	look_compare(&target, &second, 0);
	assert_true(first.in_use >= 8 * MIB && second.in_use >= 8 * MIB);
	target_end(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(freed_but_the_last),
	    cmocka_unit_test(survivor_in_each_page),
	    cmocka_unit_test(quiet_threads),
	    cmocka_unit_test(raised_threshold),
	    cmocka_unit_test(one_arena),
	    cmocka_unit_test(merged_heaps),
	    cmocka_unit_test(aligned_mappings),
	    cmocka_unit_test(mapped_blocks),
	    cmocka_unit_test(brk_blocked),
	    cmocka_unit_test(linked_statically),
	    cmocka_unit_test(foreign_break),
	    cmocka_unit_test(huge_pages_advised),
	    cmocka_unit_test(huge_pages_reserved),
	    cmocka_unit_test(threads_ended),
	    cmocka_unit_test(executed_another),
	};

	return cmocka_run_group_tests(tests, look_open, look_close);
}
