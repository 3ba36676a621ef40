/*
 * order.c - heap sort: the sift goes down a heap that is an array, so that
 * the worst input costs what any other does. qsort() may be quadratic, or
 * allocate, and gives its comparison no place to look things up.
 */
#include "compare/order.h"

static void order_sift(uint32_t *indices, size_t at, size_t count,
		       plimp_order_fn *compare, const void *user)
{
	const uint32_t moved = indices[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count &&
		    compare(indices[child], indices[child + 1], user) < 0)
			child++;
		if (compare(moved, indices[child], user) >= 0)
			break;
		indices[at] = indices[child];
		at = child;
	}
	indices[at] = moved;
}

void plimp_order(uint32_t *indices, size_t count, plimp_order_fn *compare,
		 const void *user)
{
	for (size_t i = count / 2; i-- > 0;)
		order_sift(indices, i, count, compare, user);
	for (size_t end = count; end-- > 1;) {
		const uint32_t last = indices[0];

		indices[0] = indices[end];
		indices[end] = last;
		order_sift(indices, 0, end, compare, user);
	}
}
