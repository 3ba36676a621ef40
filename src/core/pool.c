/*
 * pool.c - chunks of growing size, each filled from its beginning.
 *
 * A chunk is its header and the bytes behind it. The next one is twice as
 * large, up to a bound, so that few are asked for and little is wasted; a
 * piece that is larger than that gets a chunk of its own size.
 */
#include "core/pool.h"
#include "core/memory.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define POOL_FIRST 1024
#define POOL_MOST  65536

/* The union makes the bytes behind the header aligned for any type. */
union pool_unit {
	long long whole;
	long double real;
	void *pointer;
	void (*function)(void);
};

struct plimp_pool_chunk {
	struct plimp_pool_chunk *next;
	size_t units; /* of the bytes */
	size_t used;
	union pool_unit bytes[];
};

static struct plimp_pool_chunk *pool_grow(struct plimp_pool *pool,
					  size_t needed)
{
	struct plimp_pool_chunk *chunk;
	size_t units = POOL_FIRST / sizeof(union pool_unit);

	if (pool->chunks != NULL)
		units = pool->chunks->units * 2;
	if (units > POOL_MOST / sizeof(union pool_unit))
		units = POOL_MOST / sizeof(union pool_unit);
	if (units < needed)
		units = needed;
	if (units > (SIZE_MAX - sizeof(*chunk)) / sizeof(union pool_unit))
		return NULL;
	chunk =
	    plimp_allocate(&pool->allocator,
			   sizeof(*chunk) + units * sizeof(union pool_unit), 1);
	if (chunk == NULL)
		return NULL;
	chunk->units = units;
	chunk->next = pool->chunks;
	pool->chunks = chunk;
	return chunk;
}

void *plimp_pool_take(struct plimp_pool *pool, size_t size)
{
	struct plimp_pool_chunk *chunk = pool->chunks;
	size_t units = size / sizeof(union pool_unit) + 1;
	void *piece;

	if (chunk == NULL || chunk->units - chunk->used < units)
		chunk = pool_grow(pool, units);
	if (chunk == NULL)
		return NULL;
	assert(chunk->units - chunk->used >= units);
	piece = chunk->bytes + chunk->used;
	chunk->used += units;
	return piece;
}

char *plimp_pool_copy(struct plimp_pool *pool, plim_bytes text)
{
	char *copy =
	    text.size < SIZE_MAX ? plimp_pool_take(pool, text.size + 1) : NULL;

	if (copy != NULL && text.size > 0)
		memcpy(copy, text.data, text.size);
	return copy;
}

void plimp_pool_release(struct plimp_pool *pool)
{
	while (pool->chunks != NULL) {
		struct plimp_pool_chunk *chunk = pool->chunks;

		pool->chunks = chunk->next;
		plimp_release(
		    &pool->allocator, chunk,
		    sizeof(*chunk) + chunk->units * sizeof(union pool_unit), 1);
	}
}
