/*
 * test_heaps.c - the result of walks: its words, its bounds, its order, and
 * the sums over several allocators.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "memory/heaps.h"

#include <plimsoll/fields.h>

#include <stdlib.h>
#include <string.h>

static void assert_bytes(plim_count count, uint64_t value)
{
	assert_int_equal(count.state, PLIM_STATE_KNOWN);
	assert_int_equal(count.value, value);
	assert_int_equal(count.method, PLIM_METHOD_HEAP_WALK);
	assert_int_equal(count.bound, PLIM_BOUND_EXACT);
}

static void test_words(void **state)
{
	int figure;

	(void)state;
	for (figure = 1; plim_heap_figure_name(figure) != NULL; figure++) {
		const char *name = plim_heap_figure_name(figure);
		plim_bytes bytes = {name, strlen(name)};

		assert_int_equal(plim_heap_figure_find(bytes), figure);
		assert_non_null(plim_heap_figure_text(figure));
		assert_true(strstr(name, "_bytes") != NULL ||
			    strstr(name, "_count") != NULL);
	}
	assert_int_equal(figure, PLIM_HEAP_RESIDENT + 1);
	assert_true(figure <= PLIM_HEAP_LIMIT);
	assert_null(plim_heap_figure_name(0));
	assert_null(plim_heap_figure_name(-1));
	assert_int_equal(plim_heap_figure_find((plim_bytes){"top", 3}), 0);
	assert_int_equal(plim_heap_figure_find((plim_bytes){NULL, 0}), 0);
	assert_string_equal(plim_heap_kind_word(PLIM_HEAP_OF_GPERFTOOLS),
			    "gperftools");
	assert_string_equal(plim_heap_kind_text(PLIM_HEAP_OF_CPYTHON),
			    "pymalloc of CPython");
	assert_null(plim_heap_kind_word(PLIM_HEAP_OF_CPYTHON + 1));
	assert_string_equal(plim_heap_depth_word(PLIM_DEPTH_REFUSED),
			    "refused");
	assert_null(plim_heap_depth_word(0));
	assert_string_equal(plim_confidence_word(PLIM_CONFIDENCE_CERTAIN),
			    "certain");
	assert_string_equal(plim_heap_check_word(PLIM_CHECK_NOT_MADE),
			    "not_made");
	assert_null(plim_heap_check_word(4));
}

static plim_heap *heap_added(struct plimp_heap_list *list, int kind)
{
	plim_heap *heap = NULL;

	assert_int_equal(plimp_heap_list_add(list, kind, &heap), PLIM_OK);
	assert_non_null(heap);
	return heap;
}

static void test_recognised(void **state)
{
	struct plimp_heap_list list;
	plim_heap_facts facts;
	plim_heap *heap;
	int i;

	(void)state;
	plimp_heap_list_init(&list, NULL, 0);
	heap = heap_added(&list, PLIM_HEAP_OF_JEMALLOC);
	heap->confidence = PLIM_CONFIDENCE_LIKELY;
	for (i = 0; i < PLIMP_EVIDENCE_MOST + 3; i++)
		plimp_heap_add_evidence(heap, "exports %s%d", "mallctl", i);
	facts = plim_heap_about(heap);
	assert_int_equal(facts.kind, PLIM_HEAP_OF_JEMALLOC);
	assert_int_equal(facts.depth, PLIM_DEPTH_RECOGNISED);
	assert_int_equal(facts.confidence, PLIM_CONFIDENCE_LIKELY);
	assert_string_equal(facts.version, "");
	assert_string_equal(facts.layout, "");
	assert_int_equal(facts.missing.method, PLIM_REASON_NOT_WALKED);
	assert_string_equal(facts.why,
			    plim_reason_text(PLIM_REASON_NOT_WALKED));
	assert_int_equal(plim_heap_figure(heap, PLIM_HEAP_IN_USE).method,
			 PLIM_REASON_NOT_WALKED);
	assert_int_equal(plim_heap_figure(heap, 99).method,
			 PLIM_REASON_UNKNOWN_FIELD);
	assert_int_equal(plim_heap_evidence_count(heap), PLIMP_EVIDENCE_MOST);
	assert_string_equal(plim_heap_evidence(heap, 0), "exports mallctl0");
	assert_string_equal(plim_heap_evidence(heap, PLIMP_EVIDENCE_MOST), "");
	assert_ptr_equal(plimp_heap_list_find(&list, PLIM_HEAP_OF_JEMALLOC),
			 heap);
	assert_null(plimp_heap_list_find(&list, PLIM_HEAP_OF_GO));
	plimp_heap_list_release(&list);
}

static void test_walked_and_refused(void **state)
{
	struct plimp_heap_list list;
	struct plimp_arena *arena = NULL;
	const plim_hostage hostage = {.address = 16, .kept_bytes = 4096};
	plim_heap *heap;

	(void)state;
	plimp_heap_list_init(&list, NULL, 0);
	heap = heap_added(&list, PLIM_HEAP_OF_GLIBC);
	plimp_heap_set(heap, PLIM_HEAP_IN_USE, 4096);
	plimp_heap_set_bounded(heap, PLIM_HEAP_FREE, 7, PLIM_BOUND_AT_LEAST);
	plimp_heap_set_missing(heap, PLIM_HEAP_RESIDENT,
			       PLIM_REASON_NO_RESIDENCY);
	/* Not before the walk is through. */
	assert_int_equal(plim_heap_figure(heap, PLIM_HEAP_IN_USE).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plimp_heap_add_arena(heap, &arena), PLIM_OK);
	arena->about.address = 0x7f0000000030;
	arena->about.is_main = 1;
	arena->figures[PLIM_HEAP_TOP] =
	    plim_count_known(132, PLIM_METHOD_HEAP_WALK);
	assert_int_equal(plimp_heap_add_hostage(heap, &hostage), PLIM_OK);
	plimp_heap_add_check(heap, "walked_is_system", PLIM_CHECK_FAILED,
			     plim_count_known(2, PLIM_METHOD_HEAP_WALK),
			     plim_count_known(1, PLIM_METHOD_HEAP_WALK),
			     "arena %d", 3);
	plimp_heap_finish(heap);
	assert_bytes(plim_heap_figure(heap, PLIM_HEAP_IN_USE), 4096);
	assert_int_equal(plim_heap_figure(heap, PLIM_HEAP_FREE).bound,
			 PLIM_BOUND_AT_LEAST);
	assert_int_equal(plim_heap_figure(heap, PLIM_HEAP_RESIDENT).method,
			 PLIM_REASON_NO_RESIDENCY);
	assert_int_equal(plim_heap_figure(heap, PLIM_HEAP_TCACHE).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(plim_heap_about(heap).missing.state, PLIM_STATE_KNOWN);
	assert_string_equal(plim_heap_about(heap).why, "");
	assert_int_equal(plim_heap_arena_count(heap), 1);
	assert_int_equal(plim_heap_arena(heap, 0)->address, 0x7f0000000030);
	assert_null(plim_heap_arena(heap, 1));
	assert_bytes(plim_heap_arena_figure(heap, 0, PLIM_HEAP_TOP), 132);
	assert_int_equal(plim_heap_arena_figure(heap, 1, PLIM_HEAP_TOP).method,
			 PLIM_REASON_UNKNOWN_FIELD);
	plimp_heap_refuse(heap, PLIM_REASON_HEAP_CONTRADICTS, 0, "%d short", 5);
	assert_int_equal(plim_heap_figure(heap, PLIM_HEAP_IN_USE).state,
			 PLIM_STATE_MALFORMED);
	assert_int_equal(plim_heap_about(heap).depth, PLIM_DEPTH_REFUSED);
	assert_string_equal(plim_heap_about(heap).why, "5 short");
	assert_int_equal(plim_heap_arena_count(heap), 0);
	assert_int_equal(plim_heap_hostage_count(heap), 0);
	assert_null(plim_heap_hostage(heap, 0));
	assert_int_equal(plim_heap_check_count(heap), 1);
	assert_string_equal(plim_heap_check_at(heap, 0)->text, "arena 3");
	assert_int_equal(plim_heap_check_at(heap, 0)->found.value, 1);
	assert_null(plim_heap_check_at(heap, 1));
	plimp_heap_list_release(&list);
}

/* Of many the twelve that keep most, first those; of equals the one at the
 * lower address. */
static void test_hostages(void **state)
{
	struct plimp_heap_list list;
	plim_heap *heap;
	uint64_t i;

	(void)state;
	plimp_heap_list_init(&list, NULL, 0);
	heap = heap_added(&list, PLIM_HEAP_OF_GLIBC);
	for (i = 0; i < 1000; i++) {
		const plim_hostage hostage = {
		    .address = 16 * (i + 1),
		    .kept_bytes = i * 7919 % 1000,
		};

		assert_int_equal(plimp_heap_add_hostage(heap, &hostage),
				 PLIM_OK);
	}
	assert_int_equal(plimp_heap_hostage_floor(heap), 988);
	for (i = 0; i < 5; i++) {
		const plim_hostage hostage = {.address = 16 * (5 - i),
					      .kept_bytes = 5000};

		assert_int_equal(plimp_heap_add_hostage(heap, &hostage),
				 PLIM_OK);
	}
	plimp_heap_finish(heap);
	assert_int_equal(plim_heap_hostage_count(heap), PLIMP_HOSTAGES);
	for (i = 0; i < 5; i++) {
		assert_int_equal(plim_heap_hostage(heap, i)->kept_bytes, 5000);
		assert_int_equal(plim_heap_hostage(heap, i)->address,
				 16 * (i + 1));
	}
	for (; i < PLIMP_HOSTAGES; i++)
		assert_int_equal(plim_heap_hostage(heap, i)->kept_bytes,
				 999 - (i - 5));
	plimp_heap_list_release(&list);
	plimp_heap_list_init(&list, NULL, 1);
	heap = heap_added(&list, PLIM_HEAP_OF_GLIBC);
	assert_int_equal(plimp_heap_hostage_floor(heap), 0);
	assert_int_equal(
	    plimp_heap_add_hostage(heap, &(plim_hostage){.address = 1}),
	    PLIM_OK);
	plimp_heap_finish(heap);
	assert_int_equal(plim_heap_hostage_count(heap), 0);
	plimp_heap_list_release(&list);
	plimp_heap_list_init(&list, NULL, 100000);
	assert_int_equal(list.hostage_most, PLIMP_HOSTAGES_MOST);
}

static void test_bounds(void **state)
{
	struct plimp_heap_list list;
	struct plimp_arena *arena = NULL;
	plim_heap *heap;
	int i;

	(void)state;
	plimp_heap_list_init(&list, NULL, 0);
	for (i = 0; i < PLIMP_HEAPS_MOST; i++)
		heap_added(&list, PLIM_HEAP_OF_GLIBC);
	heap = NULL;
	assert_int_equal(plimp_heap_list_add(&list, PLIM_HEAP_OF_GO, &heap),
			 PLIM_ELIMIT);
	assert_null(heap);
	for (i = 0; i < PLIMP_ARENAS_MOST; i++)
		assert_int_equal(plimp_heap_add_arena(list.items[0], &arena),
				 PLIM_OK);
	assert_int_equal(plimp_heap_add_arena(list.items[0], &arena),
			 PLIM_ELIMIT);
	for (i = 0; i < PLIMP_CHECKS_MOST + 1; i++)
		plimp_heap_add_check(list.items[0], "c", PLIM_CHECK_PASSED,
				     plim_count_known(0, 0),
				     plim_count_known(0, 0), NULL);
	assert_int_equal(plim_heap_check_count(list.items[0]),
			 PLIMP_CHECKS_MOST);
	plimp_heap_list_release(&list);
}

/* The surest first, of these the walked, else as they came. */
static void test_order(void **state)
{
	struct plimp_heap_list list;

	(void)state;
	plimp_heap_list_init(&list, NULL, 0);
	heap_added(&list, PLIM_HEAP_OF_JVM);
	heap_added(&list, PLIM_HEAP_OF_CPYTHON)->confidence =
	    PLIM_CONFIDENCE_CERTAIN;
	heap_added(&list, PLIM_HEAP_OF_GO);
	heap_added(&list, PLIM_HEAP_OF_GLIBC)->confidence =
	    PLIM_CONFIDENCE_CERTAIN;
	plimp_heap_finish(list.items[3]);
	plimp_heap_list_sort(&list);
	assert_int_equal(list.items[0]->kind, PLIM_HEAP_OF_GLIBC);
	assert_int_equal(list.items[1]->kind, PLIM_HEAP_OF_CPYTHON);
	assert_int_equal(list.items[2]->kind, PLIM_HEAP_OF_JVM);
	assert_int_equal(list.items[3]->kind, PLIM_HEAP_OF_GO);
	plimp_heap_list_release(&list);
}

static void test_sum(void **state)
{
	struct plimp_heap_list list;
	plim_count sum;
	plim_heap *heap;

	(void)state;
	plimp_heap_list_init(&list, NULL, 0);
	assert_int_equal(plimp_heap_list_sum(&list, PLIM_HEAP_TOP).method,
			 PLIM_REASON_HEAP_NOT_FOUND);
	assert_int_equal(plimp_heap_list_sum(&list, 0).method,
			 PLIM_REASON_UNKNOWN_FIELD);
	heap = heap_added(&list, PLIM_HEAP_OF_GLIBC);
	assert_int_equal(plimp_heap_list_sum(&list, PLIM_HEAP_TOP).method,
			 PLIM_REASON_NOT_WALKED);
	plimp_heap_set(heap, PLIM_HEAP_TOP, 100);
	plimp_heap_finish(heap);
	assert_bytes(plimp_heap_list_sum(&list, PLIM_HEAP_TOP), 100);
	heap = heap_added(&list, PLIM_HEAP_OF_MUSL);
	plimp_heap_set_missing(heap, PLIM_HEAP_TOP, PLIM_REASON_NO_SUCH_PART);
	plimp_heap_finish(heap);
	assert_bytes(plimp_heap_list_sum(&list, PLIM_HEAP_TOP), 100);
	heap_added(&list, PLIM_HEAP_OF_CPYTHON);
	sum = plimp_heap_list_sum(&list, PLIM_HEAP_TOP);
	assert_int_equal(sum.value, 100);
	assert_int_equal(sum.bound, PLIM_BOUND_AT_LEAST);
	plimp_heap_list_release(&list);
}

/* Counts, and fails from a given call on. */
struct ration {
	int left;
	size_t held;
};

static void *ration_resize(void *memory, size_t old_size, size_t new_size,
			   void *user)
{
	struct ration *ration = user;

	if (new_size == 0) {
		ration->held -= old_size;
		free(memory);
		return NULL;
	}
	if (ration->left == 0)
		return NULL;
	ration->left--;
	ration->held += new_size - old_size;
	return realloc(memory, new_size);
}

/* Fills a list as far as memory goes. */
static int list_fill(struct plimp_heap_list *list)
{
	const plim_hostage hostage = {.address = 16, .kept_bytes = 1};
	struct plimp_arena *arena = NULL;
	plim_heap *heap = NULL;
	int code = plimp_heap_list_add(list, PLIM_HEAP_OF_GLIBC, &heap);

	if (code == PLIM_OK)
		code = plimp_heap_add_arena(heap, &arena);
	if (code == PLIM_OK)
		code = plimp_heap_add_hostage(heap, &hostage);
	return code;
}

static void test_no_memory(void **state)
{
	int left;

	(void)state;
	for (left = 0; left < 10; left++) {
		struct ration ration = {.left = left};
		const plim_allocator allocator = {ration_resize, &ration};
		struct plimp_heap_list list;
		int code;

		plimp_heap_list_init(&list, &allocator, 0);
		code = list_fill(&list);
		plimp_heap_list_release(&list);
		assert_int_equal(ration.held, 0);
		if (code == PLIM_OK)
			break;
		assert_int_equal(code, PLIM_ENOMEM);
	}
	assert_int_equal(left, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_recognised),
	    cmocka_unit_test(test_walked_and_refused),
	    cmocka_unit_test(test_hostages),
	    cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_sum),
	    cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
