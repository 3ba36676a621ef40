/*
 * test_stack_tree.c - stacks as a tree, against prefixes that are counted
 * without one; and things sorted by thread.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/by_thread.h"
#include "export/stack_tree.h"

#include <stdlib.h>

#define WIDTH 7
#define DEPTH 5

/* Every stack of five items of seven, told in an order that is not theirs. */
static uint32_t item_of(uint32_t stack, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		stack /= WIDTH;
	return stack % WIDTH;
}

static void test_tree(void **state)
{
	const uint32_t count = 7 * 7 * 7 * 7 * 7;
	struct plimp_stack_tree tree;
	uint32_t *leaves = calloc(count, sizeof *leaves);

	(void)state;
	assert_non_null(leaves);
	plimp_stack_tree_begin(&tree, NULL);
	for (uint32_t i = 0; i < 2 * count; i++) {
		const uint32_t stack = (i * UINT32_C(7919)) % count;
		uint32_t node = PLIMP_NO_NODE;

		for (unsigned k = 0; k < DEPTH; k++)
			assert_int_equal(plimp_stack_tree_add(&tree, node,
							      item_of(stack, k),
							      &node),
					 PLIM_OK);
		if (i < count)
			leaves[stack] = node;
		assert_int_equal(leaves[stack], node);
	}
	/* One for each beginning of one to five items. */
	assert_int_equal(tree.count, 7 + 49 + 343 + 2401 + 16807);
	for (uint32_t stack = 0; stack < count; stack++) {
		uint32_t node = leaves[stack];

		for (unsigned k = DEPTH; k-- > 0;) {
			const uint32_t parent = tree.nodes[node].parent;

			assert_int_equal(tree.nodes[node].item,
					 item_of(stack, k));
			assert_true(parent == PLIMP_NO_NODE || parent < node);
			assert_int_equal(parent == PLIMP_NO_NODE, k == 0);
			node = parent;
		}
	}
	plimp_stack_tree_release(&tree);
	free(leaves);
}

static size_t thread_of(const void *user, size_t index)
{
	return ((const uint8_t *)user)[index];
}

static void test_by_thread(void **state)
{
	static const uint8_t threads[] = {3, 0, 3, 1, 0, 3};
	static const size_t items[] = {1, 4, 3, 0, 2, 5};
	static const size_t begin[] = {0, 2, 3, 3, 6, 6};
	struct plimp_by_thread sorted;

	(void)state;
	assert_int_equal(
	    plimp_by_thread_make(&sorted, NULL, 5, 6, thread_of, threads),
	    PLIM_OK);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(sorted.items[i], items[i]);
		assert_int_equal(sorted.begin[i], begin[i]);
	}
	plimp_by_thread_release(&sorted);
	assert_int_equal(
	    plimp_by_thread_make(&sorted, NULL, 0, 0, thread_of, NULL),
	    PLIM_OK);
	assert_int_equal(sorted.begin[0], 0);
	plimp_by_thread_release(&sorted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tree),
	    cmocka_unit_test(test_by_thread),
	};

	return cmocka_run_group_tests_name("stack_tree", tests, NULL, NULL);
}
