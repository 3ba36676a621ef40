/*
 * intern.c - hashes of what was seen, and the indices that they lead to.
 *
 * Open addressing with a load of at most a half. A slot holds an index + 1 and
 * nothing else; what it stands for lies in the table, so that the rows are the
 * one truth and a hash can be made anew from them when it grows.
 */
#include "core/memory.h"
#include "profile/store.h"

#include <assert.h>
#include <string.h>

#define HASH_FIRST 256u

/* The finalizer of MurmurHash3, which is in the public domain. */
static uint64_t hash_mix(uint64_t value)
{
	value ^= value >> 33;
	value *= UINT64_C(0xff51afd7ed558ccd);
	value ^= value >> 33;
	value *= UINT64_C(0xc4ceb9fe1a85ec53);
	value ^= value >> 33;
	return value;
}

uint64_t plimp_hash_number(uint64_t hash, uint64_t number)
{
	return hash_mix(hash * UINT64_C(0x9e3779b97f4a7c15) + number + 1);
}

uint64_t plimp_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t word;

	hash = plimp_hash_number(hash, size);
	while (size >= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = plimp_hash_number(hash, word);
		at += sizeof(word);
		size -= sizeof(word);
	}
	if (size > 0) {
		word = 0;
		memcpy(&word, at, size);
		hash = plimp_hash_number(hash, word);
	}
	return hash;
}

void plimp_hash_put(struct plimp_hash *hash, uint64_t value, uint32_t index)
{
	size_t at = (size_t)value & (hash->size - 1);

	assert(hash->used < hash->size);
	while (hash->slots[at] != 0)
		at = (at + 1) & (hash->size - 1);
	hash->slots[at] = index + 1;
	hash->used++;
}

int plimp_hash_room(const plim_allocator *allocator, struct plimp_hash *hash,
		    plimp_hash_fn *value_of, void *user)
{
	struct plimp_hash grown = {0};

	if (hash->size > 0 && hash->used + 1 <= hash->size / 2)
		return PLIM_OK;
	grown.size = hash->size > 0 ? hash->size * 2 : HASH_FIRST;
	grown.slots =
	    plimp_allocate(allocator, grown.size, sizeof(*grown.slots));
	if (grown.slots == NULL)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < hash->size; i++) {
		if (hash->slots[i] != 0)
			plimp_hash_put(&grown,
				       value_of(user, hash->slots[i] - 1),
				       hash->slots[i] - 1);
	}
	plimp_hash_release(allocator, hash);
	*hash = grown;
	return PLIM_OK;
}

void plimp_hash_release(const plim_allocator *allocator,
			struct plimp_hash *hash)
{
	plimp_release(allocator, hash->slots, hash->size, sizeof(*hash->slots));
	*hash = (struct plimp_hash){0};
}
