/*
 * musl_read.c - every record of mallocng that is in use (musl.h).
 *
 * Meta areas are single pages of 101 records each, in a list. A record that is
 * not in use is all zero, or on the list of free ones, with nothing but its
 * links; `mem` tells. The list is followed no longer than it can be, and every
 * page on it must begin with the secret, so that a broken one ends in a result
 * and never in a guess.
 */
#include "memory/musl.h"

#include "core/memory.h"
#include "memory/sweep.h"

#define MUSL_AREA_BYTES	  4096u
#define MUSL_AREA_HEADER  24u
#define MUSL_RECORD	  40u
#define MUSL_AREA_RECORDS 101u

static const uint16_t musl_classes[PLIMP_MUSL_CLASSES] = {
    1,	  2,	3,    4,    5,	  6,	7,    8,    9,	  10,	12,   15,
    18,	  20,	25,   31,   36,	  42,	50,   63,   72,	  84,	102,  127,
    146,  170,	204,  255,  292,  340,	409,  511,  584,  682,	818,  1023,
    1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191};

uint64_t plimp_musl_stride(const struct plimp_musl_group *group)
{
	if (group->last == 0 && group->bytes != 0)
		return group->bytes - 16;
	return 16u * (uint64_t)musl_classes[group->class];
}

/* struct meta: prev 0, next 8, mem 16, avail_mask 24, freed_mask 28, then bit
 * fields: last_idx 5, freeable 1, sizeclass 6, maplen 52 (pages of 4 KiB). */
static int musl_take_record(const uint8_t *bytes,
			    struct plimp_musl_group *group)
{
	uint64_t bits = plimp_word64(bytes + 32);
	uint32_t all;

	group->mem = plimp_word64(bytes + 16);
	group->avail = plimp_word32(bytes + 24);
	group->freed = plimp_word32(bytes + 28);
	group->last = bits & 31;
	group->freeable = bits >> 5 & 1;
	group->class = bits >> 6 & 63;
	if (bits >> 12 >= UINT64_C(1) << 36)
		return PLIMP_MUSL_CORRUPT;
	group->bytes = (bits >> 12) * 4096;
	all = group->last == 31 ? UINT32_MAX : (2u << group->last) - 1;
	if (group->mem % 16 != 0 || group->mem > UINT64_MAX / 2 ||
	    ((group->avail | group->freed) & ~all) != 0 ||
	    (group->avail & group->freed) != 0)
		return PLIMP_MUSL_CORRUPT;
	if (group->class == PLIMP_MUSL_LARGE)
		return group->bytes != 0 && group->last == 0
			   ? PLIMP_MUSL_OK
			   : PLIMP_MUSL_CORRUPT;
	if (group->class >= PLIMP_MUSL_CLASSES)
		return PLIMP_MUSL_CORRUPT;
	/* A mapping holds the header and the slots; a single slot is what is
	 * left of it. */
	if (group->bytes != 0 &&
	    16 + plimp_musl_stride(group) * (group->last + 1u) > group->bytes)
		return PLIMP_MUSL_CORRUPT;
	return PLIMP_MUSL_OK;
}

static int musl_take_area(const struct plimp_image *image, uint64_t address,
			  const uint8_t *area, struct plimp_musl_groups *groups)
{
	for (size_t i = 0; i < MUSL_AREA_RECORDS; i++) {
		const size_t offset = MUSL_AREA_HEADER + i * MUSL_RECORD;
		const uint8_t *record = area + offset;
		struct plimp_musl_group *group;
		void *items = groups->items;
		int status;

		if (plimp_word64(record + 16) == 0)
			continue;
		status = plimp_reserve(image->allocator, &items,
				       &groups->capacity, groups->count + 1,
				       256, sizeof(*groups->items));
		if (status != PLIM_OK)
			return status;
		groups->items = items;
		group = &groups->items[groups->count];
		*group = (struct plimp_musl_group){.meta = address + offset};
		status = musl_take_record(record, group);
		if (status != PLIMP_MUSL_OK)
			return status;
		groups->count++;
	}
	return PLIMP_MUSL_OK;
}

int plimp_musl_read(const struct plimp_image *image,
		    const struct plimp_musl_place *place,
		    struct plimp_musl_groups *groups, uint64_t *areas)
{
	uint64_t address = place->head;
	uint64_t milestone = address; /* of Brent's search for a cycle */
	uint64_t count = 0;

	groups->count = 0;
	while (address != 0) {
		uint8_t area[MUSL_AREA_BYTES];
		int status;

		if (address % MUSL_AREA_BYTES != 0)
			return PLIMP_MUSL_CORRUPT;
		if (count == PLIMP_MUSL_AREAS_MOST)
			return PLIMP_MUSL_TOO_LARGE;
		status = plimp_fetch(image, address, area, sizeof(area));
		if (status < 0)
			return status;
		if (status != PLIMP_FETCHED)
			return status == PLIMP_FETCH_SWAPPED
				   ? PLIMP_MUSL_SWAPPED
				   : PLIMP_MUSL_ABSENT;
		if (plimp_word64(area) != place->secret ||
		    plimp_word32(area + 16) != MUSL_AREA_RECORDS)
			return PLIMP_MUSL_CORRUPT;
		status = musl_take_area(image, address, area, groups);
		if (status != PLIMP_MUSL_OK)
			return status;
		count++;
		if (address == place->tail)
			break;
		address = plimp_word64(area + 8);
		if (address == milestone)
			return PLIMP_MUSL_CORRUPT;
		if ((count & (count - 1)) == 0)
			milestone = address;
	}
	if (count == 0)
		return PLIMP_MUSL_CORRUPT;
	*areas = count;
	return PLIMP_MUSL_OK;
}

void plimp_musl_groups_release(const struct plimp_image *image,
			       struct plimp_musl_groups *groups)
{
	plimp_release(image->allocator, groups->items, groups->capacity,
		      sizeof(*groups->items));
	groups->items = NULL;
	groups->count = 0;
	groups->capacity = 0;
}
