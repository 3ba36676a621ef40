/*
 * pool.h - memory that is asked for in small pieces and given back at once.
 *
 * A pool hands out zeroed pieces of larger chunks and frees none of them
 * alone; plimp_pool_release() gives all chunks back. What was handed out
 * never moves, so pieces may point at each other. Zero the struct and set the
 * allocator to begin.
 */
#ifndef PLIMP_POOL_H
#define PLIMP_POOL_H

#include <plimsoll/base.h>

struct plimp_pool_chunk;

struct plimp_pool {
	plim_allocator allocator;
	struct plimp_pool_chunk *chunks; /* the last one first */
};

/* `size` zeroed bytes, aligned for anything; NULL if there is no memory. */
void *plimp_pool_take(struct plimp_pool *pool, size_t size);

/* The bytes with a NUL behind them, or NULL. */
char *plimp_pool_copy(struct plimp_pool *pool, plim_bytes text);

void plimp_pool_release(struct plimp_pool *pool);

#endif
