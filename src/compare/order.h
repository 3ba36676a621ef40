/*
 * order.h - sorting indices, in n log n steps whoever made what is sorted, and
 * without memory. Names and ids of files are found by order, never by a hash
 * that who wrote the file could make collide.
 */
#ifndef PLIMP_COMPARE_ORDER_H
#define PLIMP_COMPARE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Below 0, 0, above 0: `a` before, equal to, behind `b`. */
typedef int plimp_order_fn(uint32_t a, uint32_t b, const void *user);

void plimp_order(uint32_t *indices, size_t count, plimp_order_fn *compare,
		 const void *user);

#endif
