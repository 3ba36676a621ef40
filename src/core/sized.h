/*
 * sized.h - memory for who gives pieces back without telling how large they
 * were, as zlib does and plim_allocator wants: each piece has its size before
 * it. The functions have the types of zlib's hooks.
 */
#ifndef PLIMP_SIZED_H
#define PLIMP_SIZED_H

#include <plimsoll/base.h>

/* `user` is a plim_allocator. NULL where there is no memory. */
void *plimp_sized_take(void *user, unsigned items, unsigned size);
/* NULL is allowed. */
void plimp_sized_release(void *user, void *piece);

#endif
