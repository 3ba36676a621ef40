/*
 * test_verdict.c - the verdict: its parts, its name, and its words, over every
 * allocator and over figures that are not to be had.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "memory/verdict.h"

#include <plimsoll/fields.h>

#include <string.h>

#define MIB UINT64_C(1048576)

struct world {
	struct plimp_heap_list list;
	plim_retention_memory memory;
	plim_retention found;
};

static plim_count bytes_of(uint64_t value)
{
	return plim_count_known(value, PLIM_METHOD_STATUS);
}

static int world_begin(void **state)
{
	static struct world world;

	memset(&world, 0, sizeof world);
	plimp_heap_list_init(&world.list, NULL, 0);
	world.memory.size = sizeof world.memory;
	*state = &world;
	return 0;
}

static int world_end(void **state)
{
	struct world *world = *state;

	plimp_heap_list_release(&world->list);
	return 0;
}

static void world_memory(struct world *world, uint64_t anonymous, uint64_t file)
{
	world->memory.anonymous = bytes_of(anonymous);
	world->memory.file = bytes_of(file);
	world->memory.shmem = bytes_of(0);
	world->memory.swap = bytes_of(0);
	world->memory.lazy_free = bytes_of(0);
}

/* A heap that was walked: resident, of it free, cached, what a trim returns,
 * pinned, top. */
static plim_heap *world_heap(struct world *world, int kind,
			     const uint64_t mib[6])
{
	static const int figures[] = {
	    PLIM_HEAP_RESIDENT, PLIM_HEAP_FREE_RESIDENT,
	    PLIM_HEAP_CACHED,	PLIM_HEAP_TRIM_RETURNS,
	    PLIM_HEAP_PINNED,	PLIM_HEAP_TOP_RETAINED};
	plim_heap *heap = NULL;
	size_t i;

	assert_int_equal(plimp_heap_list_add(&world->list, kind, &heap),
			 PLIM_OK);
	assert_non_null(heap);
	for (i = 0; i < 6; i++)
		plimp_heap_set(heap, figures[i], mib[i] * MIB);
	plimp_heap_set(heap, PLIM_HEAP_HUGE, 0);
	plimp_heap_set(heap, PLIM_HEAP_SHARED, 0);
	plimp_heap_set(heap, PLIM_HEAP_SWAPPED, 0);
	plimp_heap_finish(heap);
	return heap;
}

static void world_find(struct world *world)
{
	plimp_retention_find(&world->list, &world->memory, &world->found);
}

static void assert_part(const struct world *world, int part, uint64_t mib)
{
	const plim_count count = world->found.parts[part];

	assert_int_equal(count.state, PLIM_STATE_KNOWN);
	assert_int_equal(count.value, mib * MIB);
	assert_int_equal(count.bound, PLIM_BOUND_EXACT);
}

/* What was told. */
struct told {
	int parts[PLIM_RETENTION_LIMIT * 2];
	const char *remedies[PLIM_RETENTION_LIMIT * 2];
	size_t count;
	size_t stop_at;
};

static int told_line(const plim_retention_line *line, void *user)
{
	struct told *told = user;

	assert_non_null(line->text);
	assert_non_null(line->remedy);
	assert_true(strlen(line->remedy) > 0);
	told->parts[told->count] = line->part;
	told->remedies[told->count] = line->remedy;
	return ++told->count == told->stop_at ? 7 : 0;
}

static const char *told_remedy(const struct told *told, int part)
{
	size_t i;

	for (i = 0; i < told->count; i++)
		if (told->parts[i] == part)
			return told->remedies[i];
	return "";
}

static void tell(const struct world *world, struct told *told)
{
	memset(told, 0, sizeof *told);
	assert_int_equal(plim_retention_tell(&world->found, told_line, told),
			 0);
}

static void test_words(void **state)
{
	int part;

	(void)state;
	for (part = 1; plim_retention_word(part) != NULL; part++)
		assert_non_null(plim_retention_text(part));
	assert_int_equal(part, PLIM_RETENTION_MIXED + 1);
	assert_true(part <= PLIM_RETENTION_LIMIT);
	assert_string_equal(plim_retention_word(PLIM_RETENTION_PINNED),
			    "pinned");
	assert_null(plim_retention_word(0));
	assert_null(plim_retention_text(-1));
}

/* Nothing was read: nothing is said, and nothing is 0. */
static void test_nothing(void **state)
{
	struct world *world = *state;
	struct told told;
	int part;

	plimp_retention_find(NULL, NULL, &world->found);
	assert_int_equal(world->found.verdict, PLIM_RETENTION_UNKNOWN);
	for (part = 1; part <= PLIM_RETENTION_SHARED; part++)
		assert_int_not_equal(world->found.parts[part].state,
				     PLIM_STATE_KNOWN);
	assert_int_not_equal(world->found.retained.state, PLIM_STATE_KNOWN);
	assert_int_not_equal(world->found.rss_falls.state, PLIM_STATE_KNOWN);
	assert_int_not_equal(world->found.machine_gets.state, PLIM_STATE_KNOWN);
	tell(world, &told);
	assert_int_equal(told.count, 0);
	world_find(world);
	assert_int_equal(world->found.verdict, PLIM_RETENTION_UNKNOWN);
	assert_int_equal(world->found.parts[PLIM_RETENTION_LIVE].method,
			 PLIM_REASON_HEAP_NOT_FOUND);
}

/* 8 x 200 MiB freed: a little is live, nearly all returns. */
static void test_returnable(void **state)
{
	struct world *world = *state;
	struct told told;

	world_heap(world, PLIM_HEAP_OF_GLIBC,
		   (const uint64_t[]){1600, 1590, 2, 1500, 30, 60});
	world_memory(world, 1610, 20);
	world->memory.anonymous.value *= MIB;
	world->memory.file.value *= MIB;
	world_find(world);
	assert_int_equal(world->found.verdict, PLIM_RETENTION_RETURNABLE);
	assert_part(world, PLIM_RETENTION_LIVE, 8);
	assert_part(world, PLIM_RETENTION_CACHED, 2);
	assert_part(world, PLIM_RETENTION_RETURNABLE, 1500);
	assert_part(world, PLIM_RETENTION_PINNED, 30);
	assert_part(world, PLIM_RETENTION_TOP, 60);
	assert_part(world, PLIM_RETENTION_OTHER, 10);
	assert_part(world, PLIM_RETENTION_FILE_CACHE, 20);
	assert_int_equal(world->found.parts[PLIM_RETENTION_FREED].state,
			 PLIM_STATE_NOT_APPLICABLE);
	assert_int_equal(world->found.retained.value, 1592 * MIB);
	assert_int_equal(world->found.retained.bound, PLIM_BOUND_EXACT);
	assert_int_equal(world->found.rss_falls.value, 1500 * MIB);
	assert_int_equal(world->found.machine_gets.value, 1500 * MIB);
	assert_int_equal(world->found.machine_gets.bound, PLIM_BOUND_EXACT);
	assert_int_equal(world->found.walked, world->found.allocators);
	tell(world, &told);
	assert_int_equal(told.count, 7);
	assert_int_equal(told.parts[0], PLIM_RETENTION_RETURNABLE);
	assert_int_equal(told.parts[1], PLIM_RETENTION_TOP);
	assert_int_equal(told.parts[2], PLIM_RETENTION_PINNED);
	assert_int_equal(told.parts[3], PLIM_RETENTION_FILE_CACHE);
	assert_int_equal(told.parts[4], PLIM_RETENTION_OTHER);
	assert_int_equal(told.parts[5], PLIM_RETENTION_LIVE);
	assert_int_equal(told.parts[6], PLIM_RETENTION_CACHED);
	assert_non_null(strstr(told.remedies[0], "malloc_trim(0)"));
	assert_non_null(strstr(told.remedies[1], "trim_threshold"));
	assert_non_null(strstr(told.remedies[1], "arena_max"));
	assert_non_null(strstr(told.remedies[2], "mmap_threshold"));
	assert_non_null(strstr(told.remedies[3], "nothing"));
	assert_non_null(strstr(told.remedies[5], "nothing"));
	assert_non_null(strstr(told.remedies[6], "tcache_count"));
}

/* Each part gives the verdict its name when it is more than half. */
static void test_names(void **state)
{
	static const struct {
		int part;
		uint64_t mib[6];
		uint64_t anonymous, file;
	} cases[] = {
	    {PLIM_RETENTION_LIVE, {100, 20, 1, 10, 5, 5}, 101, 10},
	    {PLIM_RETENTION_CACHED, {100, 5, 85, 5, 0, 0}, 101, 1},
	    {PLIM_RETENTION_PINNED, {100, 95, 1, 5, 90, 0}, 101, 1},
	    {PLIM_RETENTION_TOP, {222, 221, 0, 0, 0, 221}, 223, 2},
	    {PLIM_RETENTION_OTHER, {1, 0, 0, 0, 0, 0}, 100, 10},
	    {PLIM_RETENTION_FILE_CACHE, {1, 0, 0, 0, 0, 0}, 2, 100},
	    {PLIM_RETENTION_MIXED, {100, 50, 0, 50, 0, 0}, 100, 0},
	    {PLIM_RETENTION_MIXED, {60, 30, 0, 30, 0, 0}, 60, 30},
	};
	struct world *world = *state;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		plimp_heap_list_release(&world->list);
		world_heap(world, PLIM_HEAP_OF_GLIBC, cases[i].mib);
		world_memory(world, cases[i].anonymous * MIB,
			     cases[i].file * MIB);
		world_find(world);
		assert_int_equal(world->found.verdict, cases[i].part);
	}
	world->memory.shmem = bytes_of(500 * MIB);
	world_find(world);
	assert_int_equal(world->found.verdict, PLIM_RETENTION_SHMEM);
}

/* What stays of a trim: two figures. */
static void test_two_figures(void **state)
{
	struct world *world = *state;
	struct told told;
	plim_heap *heap =
	    world_heap(world, PLIM_HEAP_OF_GLIBC,
		       (const uint64_t[]){500, 400, 0, 342, 58, 0});

	world_memory(world, 500 * MIB, 0);
	plimp_heap_set(heap, PLIM_HEAP_HUGE, 340 * MIB);
	world_find(world);
	assert_int_equal(world->found.rss_falls.value, 342 * MIB);
	assert_int_equal(world->found.machine_gets.value, 2 * MIB);
	assert_int_equal(world->found.machine_gets.bound, PLIM_BOUND_AT_LEAST);
	plimp_heap_set(heap, PLIM_HEAP_SHARED, 10 * MIB);
	plimp_heap_set(heap, PLIM_HEAP_SWAPPED, 3 * MIB);
	world->memory.swap = plim_count_missing(PLIM_REASON_NO_LINE, 0);
	world_find(world);
	assert_int_equal(world->found.machine_gets.value, 0);
	assert_part(world, PLIM_RETENTION_SWAPPED, 3);
	world->memory.swap = bytes_of(4 * MIB);
	world_find(world);
	assert_part(world, PLIM_RETENTION_SWAPPED, 4);
	tell(world, &told);
	assert_non_null(
	    strstr(told_remedy(&told, PLIM_RETENTION_HUGE), "hugetlb"));
	assert_non_null(
	    strstr(told_remedy(&told, PLIM_RETENTION_SHARED), "parent"));
	assert_non_null(strstr(told_remedy(&told, PLIM_RETENTION_SWAPPED),
			       "malloc_trim(0)"));
	/* Beside the parts: they are told behind them. */
	assert_int_equal(told.parts[told.count - 3], PLIM_RETENTION_HUGE);
	assert_int_equal(told.parts[told.count - 2], PLIM_RETENTION_SHARED);
	assert_int_equal(told.parts[told.count - 1], PLIM_RETENTION_SWAPPED);
	plimp_heap_set_missing(heap, PLIM_HEAP_HUGE, PLIM_REASON_NOT_PERMITTED);
	world_find(world);
	assert_int_equal(world->found.rss_falls.value, 342 * MIB);
	assert_int_equal(world->found.machine_gets.state, PLIM_STATE_DENIED);
	plimp_heap_set(heap, PLIM_HEAP_HUGE, 0);
	plimp_heap_set_missing(heap, PLIM_HEAP_SHARED,
			       PLIM_REASON_KERNEL_LACKS);
	world_find(world);
	assert_int_equal(world->found.machine_gets.state,
			 PLIM_STATE_UNSUPPORTED);
}

/* Lazily freed memory is of the rest; what does not fit in there is of what
 * the allocators have free. */
static void test_lazy(void **state)
{
	struct world *world = *state;
	struct told told;

	world_heap(world, PLIM_HEAP_OF_MUSL,
		   (const uint64_t[]){50, 40, 0, 0, 40, 0});
	world_memory(world, 100 * MIB, 0);
	world->memory.lazy_free = bytes_of(30 * MIB);
	world_find(world);
	assert_part(world, PLIM_RETENTION_LAZY, 30);
	assert_part(world, PLIM_RETENTION_OTHER, 20);
	assert_part(world, PLIM_RETENTION_PINNED, 40);
	world->memory.lazy_free = bytes_of(70 * MIB);
	world_find(world);
	assert_part(world, PLIM_RETENTION_OTHER, 0);
	assert_int_equal(world->found.parts[PLIM_RETENTION_PINNED].value,
			 20 * MIB);
	assert_int_equal(world->found.parts[PLIM_RETENTION_PINNED].bound,
			 PLIM_BOUND_AT_LEAST);
	assert_int_equal(world->found.retained.value, 20 * MIB);
	world->memory.lazy_free = bytes_of(2000 * MIB);
	world_find(world);
	assert_int_equal(world->found.parts[PLIM_RETENTION_PINNED].value, 0);
	assert_part(world, PLIM_RETENTION_LIVE, 10);
	tell(world, &told);
	assert_non_null(
	    strstr(told_remedy(&told, PLIM_RETENTION_LAZY), "nothing"));
}

/* What another allocator holds free is told once, with that one's remedy: a
 * glibc that is mapped and holds nothing has no say. */
static void test_idle_glibc(void **state)
{
	struct world *world = *state;
	struct told told;
	plim_heap *heap = NULL;

	assert_int_equal(
	    plimp_heap_list_add(&world->list, PLIM_HEAP_OF_GPERFTOOLS, &heap),
	    PLIM_OK);
	plimp_heap_set(heap, PLIM_HEAP_SYSTEM, 24 * MIB);
	plimp_heap_set(heap, PLIM_HEAP_IN_USE, 4 * MIB);
	plimp_heap_set(heap, PLIM_HEAP_FREE, 20 * MIB);
	plimp_heap_set(heap, PLIM_HEAP_TRIM_RETURNS, 20 * MIB);
	heap->figures[PLIM_HEAP_TRIM_RETURNS].bound = PLIM_BOUND_AT_MOST;
	plimp_heap_finish(heap);
	heap = world_heap(world, PLIM_HEAP_OF_GLIBC, (const uint64_t[6]){0});
	plimp_heap_set(heap, PLIM_HEAP_SYSTEM, 0);
	plimp_heap_set(heap, PLIM_HEAP_MMAPPED, 0);
	world_memory(world, 25 * MIB, 1 * MIB);
	world_find(world);
	assert_int_equal(world->found.verdict, PLIM_RETENTION_RETURNABLE);
	assert_int_equal(world->found.parts[PLIM_RETENTION_FREED].state,
			 PLIM_STATE_NOT_APPLICABLE);
	assert_int_equal(world->found.walked, UINT64_C(1)
						  << PLIM_HEAP_OF_GPERFTOOLS);
	tell(world, &told);
	assert_non_null(strstr(told_remedy(&told, PLIM_RETENTION_RETURNABLE),
			       "ReleaseFreeMemory"));
}

/* What a walk does not explain may belong to those that were not walked. */
static void test_unwalked(void **state)
{
	static const struct {
		int kind;
		const char *says;
	} others[] = {
	    {PLIM_HEAP_OF_JVM, "jcmd"},
	    {PLIM_HEAP_OF_GO, "FreeOSMemory"},
	    {PLIM_HEAP_OF_JEMALLOC, "purge"},
	    {PLIM_HEAP_OF_TCMALLOC, "ReleaseMemoryToSystem"},
	    {PLIM_HEAP_OF_GPERFTOOLS, "ReleaseFreeMemory"},
	    {PLIM_HEAP_OF_MIMALLOC, "mi_collect"},
	    {PLIM_HEAP_OF_CPYTHON, "PYTHONMALLOC"},
	    {PLIM_HEAP_OF_MUSL, "reason"},
	};
	struct world *world = *state;
	plim_heap *heap = NULL;
	struct told told;
	size_t i;

	for (i = 0; i < sizeof others / sizeof others[0]; i++) {
		plimp_heap_list_release(&world->list);
		world_heap(world, PLIM_HEAP_OF_GLIBC,
			   (const uint64_t[]){10, 8, 0, 8, 0, 0});
		assert_int_equal(
		    plimp_heap_list_add(&world->list, others[i].kind, &heap),
		    PLIM_OK);
		world_memory(world, 200 * MIB, 1 * MIB);
		world_find(world);
		assert_int_equal(world->found.verdict, PLIM_RETENTION_UNKNOWN);
		assert_part(world, PLIM_RETENTION_UNKNOWN, 190);
		assert_part(world, PLIM_RETENTION_LIVE, 2);
		assert_int_equal(world->found.parts[PLIM_RETENTION_OTHER].state,
				 PLIM_STATE_UNREAD);
		assert_int_equal(world->found.retained.value, 8 * MIB);
		assert_int_equal(world->found.retained.bound,
				 PLIM_BOUND_AT_LEAST);
		tell(world, &told);
		assert_non_null(strstr(told.remedies[0], others[i].says));
	}
}

static void test_refused(void **state)
{
	struct world *world = *state;
	struct told told;
	plim_heap *heap = world_heap(world, PLIM_HEAP_OF_GLIBC,
				     (const uint64_t[]){10, 8, 0, 8, 0, 0});

	plimp_heap_refuse(heap, PLIM_REASON_HEAP_CONTRADICTS, 0, "no");
	world_memory(world, 200 * MIB, 1 * MIB);
	world_find(world);
	assert_part(world, PLIM_RETENTION_UNKNOWN, 200);
	assert_int_equal(world->found.parts[PLIM_RETENTION_LIVE].method,
			 PLIM_REASON_HEAP_CONTRADICTS);
	assert_int_equal(world->found.retained.state, PLIM_STATE_MALFORMED);
	tell(world, &told);
	assert_int_equal(told.parts[0], PLIM_RETENTION_UNKNOWN);
	assert_non_null(strstr(told.remedies[0], "glibc was not walked"));
	assert_string_equal(told_remedy(&told, PLIM_RETENTION_LIVE),
			    plim_reason_text(PLIM_REASON_HEAP_CONTRADICTS));
	/* Without a walk the anonymous memory is unknown, not other. */
	plimp_retention_find(NULL, &world->memory, &world->found);
	assert_part(world, PLIM_RETENTION_UNKNOWN, 200);
	tell(world, &told);
	assert_non_null(strstr(told.remedies[0], "mappings by name"));
	world->memory.anonymous = plim_count_missing(PLIM_REASON_ENDED, 0);
	plimp_retention_find(NULL, &world->memory, &world->found);
	assert_int_equal(world->found.parts[PLIM_RETENTION_UNKNOWN].state,
			 PLIM_STATE_GONE);
	assert_int_equal(world->found.verdict, PLIM_RETENTION_FILE_CACHE);
}

/* A core: in use and free are known, residence is not. */
static void test_core(void **state)
{
	static const int lost[] = {
	    PLIM_HEAP_RESIDENT, PLIM_HEAP_FREE_RESIDENT,
	    PLIM_HEAP_CACHED,	PLIM_HEAP_TRIM_RETURNS,
	    PLIM_HEAP_PINNED,	PLIM_HEAP_TOP_RETAINED,
	    PLIM_HEAP_HUGE,	PLIM_HEAP_SHARED,
	    PLIM_HEAP_SWAPPED,
	};
	struct world *world = *state;
	struct told told;
	plim_heap *heap = world_heap(world, PLIM_HEAP_OF_GLIBC,
				     (const uint64_t[]){0, 0, 0, 0, 0, 0});
	size_t i;

	for (i = 0; i < sizeof lost / sizeof lost[0]; i++)
		plimp_heap_set_missing(heap, lost[i], PLIM_REASON_NO_RESIDENCY);
	plimp_heap_set(heap, PLIM_HEAP_IN_USE, 40 * MIB);
	plimp_heap_set(heap, PLIM_HEAP_MMAPPED, 2 * MIB);
	plimp_heap_set(heap, PLIM_HEAP_TCACHE, 1 * MIB);
	plimp_heap_set(heap, PLIM_HEAP_FREE, 80 * MIB);
	plimp_heap_set(heap, PLIM_HEAP_FASTBIN, 3 * MIB);
	plimp_heap_set(heap, PLIM_HEAP_TOP, 16 * MIB);
	world_find(world);
	assert_int_equal(world->found.verdict, PLIM_RETENTION_FREED);
	assert_int_equal(world->found.parts[PLIM_RETENTION_FREED].value,
			 100 * MIB);
	assert_int_equal(world->found.parts[PLIM_RETENTION_FREED].bound,
			 PLIM_BOUND_AT_MOST);
	assert_int_equal(world->found.parts[PLIM_RETENTION_LIVE].value,
			 42 * MIB);
	assert_int_equal(world->found.parts[PLIM_RETENTION_LIVE].bound,
			 PLIM_BOUND_AT_MOST);
	assert_int_equal(world->found.retained.bound, PLIM_BOUND_AT_MOST);
	assert_int_equal(world->found.retained.value, 100 * MIB);
	assert_int_equal(world->found.rss_falls.method,
			 PLIM_REASON_NO_RESIDENCY);
	tell(world, &told);
	assert_int_equal(told.parts[0], PLIM_RETENTION_FREED);
	assert_int_equal(told.parts[1], PLIM_RETENTION_LIVE);
	assert_string_equal(told_remedy(&told, PLIM_RETENTION_PINNED),
			    plim_reason_text(PLIM_REASON_NO_RESIDENCY));
	/* Beside one that was not walked, at most is nothing. */
	assert_int_equal(
	    plimp_heap_list_add(&world->list, PLIM_HEAP_OF_GO, &heap), PLIM_OK);
	world_find(world);
	assert_int_equal(world->found.retained.method, PLIM_REASON_SAME_BOUND);
	assert_int_equal(world->found.parts[PLIM_RETENTION_LIVE].value,
			 42 * MIB);
}

/* Figures of different moments: a rest below zero is none, and numbers of any
 * size neither wrap nor trap. */
static void test_hostile(void **state)
{
	struct world *world = *state;
	plim_heap *heap = world_heap(world, PLIM_HEAP_OF_GLIBC,
				     (const uint64_t[]){10, 20, 5, 30, 5, 5});

	world_memory(world, 1 * MIB, 0);
	world_find(world);
	assert_part(world, PLIM_RETENTION_LIVE, 0);
	assert_part(world, PLIM_RETENTION_OTHER, 0);
	plimp_heap_set(heap, PLIM_HEAP_RESIDENT, UINT64_MAX);
	plimp_heap_set(heap, PLIM_HEAP_FREE_RESIDENT, UINT64_MAX);
	plimp_heap_set(heap, PLIM_HEAP_CACHED, UINT64_MAX);
	plimp_heap_set(heap, PLIM_HEAP_TRIM_RETURNS, UINT64_MAX);
	plimp_heap_set(heap, PLIM_HEAP_HUGE, UINT64_MAX);
	plimp_heap_set(heap, PLIM_HEAP_SHARED, UINT64_MAX);
	world->memory.lazy_free = bytes_of(UINT64_MAX);
	world->memory.anonymous = bytes_of(UINT64_MAX);
	world_find(world);
	assert_part(world, PLIM_RETENTION_LIVE, 0);
	assert_int_equal(world->found.machine_gets.value, 0);
}

static void test_stops(void **state)
{
	struct world *world = *state;
	size_t i;

	world_heap(world, PLIM_HEAP_OF_GPERFTOOLS,
		   (const uint64_t[]){100, 40, 5, 30, 5, 5});
	world_memory(world, 120 * MIB, 30 * MIB);
	world_find(world);
	for (i = 1; i <= 7; i++) {
		struct told told = {.stop_at = i};

		assert_int_equal(
		    plim_retention_tell(&world->found, told_line, &told), 7);
		assert_int_equal(told.count, i);
		if (i == 7)
			assert_non_null(strstr(
			    told_remedy(&told, PLIM_RETENTION_RETURNABLE),
			    "ReleaseFreeMemory"));
	}
}

int main(void)
{
#define VERDICT_TEST(name) \
	cmocka_unit_test_setup_teardown(name, world_begin, world_end)
	const struct CMUnitTest tests[] = {
	    VERDICT_TEST(test_words),	    VERDICT_TEST(test_nothing),
	    VERDICT_TEST(test_returnable),  VERDICT_TEST(test_names),
	    VERDICT_TEST(test_two_figures), VERDICT_TEST(test_lazy),
	    VERDICT_TEST(test_idle_glibc),  VERDICT_TEST(test_unwalked),
	    VERDICT_TEST(test_refused),	    VERDICT_TEST(test_core),
	    VERDICT_TEST(test_hostile),	    VERDICT_TEST(test_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
