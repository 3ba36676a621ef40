/*
 * sized.c - pieces of memory with their size before them (sized.h).
 */
#include "core/sized.h"

#include "core/memory.h"

#include <string.h>

/* As wide as the widest alignment that a struct needs. */
#define SIZED_HEADER 16

void *plimp_sized_take(void *user, unsigned items, unsigned size)
{
	size_t whole;
	char *piece;

	if (size != 0 && items > (SIZE_MAX - SIZED_HEADER) / size)
		return NULL;
	whole = (size_t)items * size + SIZED_HEADER;
	piece = plimp_allocate(user, whole, 1);
	if (piece == NULL)
		return NULL;
	memcpy(piece, &whole, sizeof(whole));
	return piece + SIZED_HEADER;
}

void plimp_sized_release(void *user, void *piece)
{
	char *start = piece;
	size_t whole;

	if (start == NULL)
		return;
	start -= SIZED_HEADER;
	memcpy(&whole, start, sizeof(whole));
	plimp_release(user, start, whole, 1);
}
