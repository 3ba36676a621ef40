/*
 * keeper.h - what the allocator that a keeper is linked with has of a block.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdint.h>

/* The bytes of the slot, or of the mapping, that a block lies in, by its
 * header and its group's record; 0 where the allocator is not musl's. */
uint64_t keeper_slot(const unsigned char *block);

#endif
