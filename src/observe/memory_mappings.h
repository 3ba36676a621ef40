/*
 * memory_mappings.h - what a plim_mappings is inside: two readings, of which
 * one is current.
 */
#ifndef PLIMP_MEMORY_MAPPINGS_H
#define PLIMP_MEMORY_MAPPINGS_H

#include "memory/regions.h"

struct plimp_mappings_side {
	struct plimp_space space;
	struct plimp_region *regions; /* one for each mapping */
	size_t regions_capacity;
	struct plimp_region_groups groups[2]; /* enum plim_mapping_by */
	plim_baseline baseline;
	plim_count known;
	plim_stamp stamp;
};

struct plim_mappings {
	plim_host *host;
	struct plimp_mappings_side sides[2];
	int current;
	struct plimp_stacks stacks;
	struct plimp_text_list texts;
};

/* How the figures of mappings are to be found. */
enum plimp_mappings_way {
	PLIMP_MAPPINGS_SMAPS = 0,
	PLIMP_MAPPINGS_PAGES = 1 /* maps and page maps, in short calls */
};

/*
 * Reads all mappings through the lens into the side that is not current: the
 * caller makes it so with plimp_mappings_turn() when all else went well, too.
 * A refused list is PLIM_OK. `stacks`: find the threads.
 */
int plimp_mappings_take(plim_mappings *mappings, struct plimp_lens *lens,
			plim_target *target, int way, int stacks,
			plim_error *error);
void plimp_mappings_turn(plim_mappings *mappings);

/* Forgets what was read; the memory stays for the next time. */
void plimp_mappings_clear(plim_mappings *mappings);

/* The side that was taken last, turned or not: the sum of a figure over it. */
plim_count plimp_mappings_taken(const plim_mappings *mappings, int figure);

#endif
