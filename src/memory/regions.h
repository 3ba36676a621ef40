/*
 * regions.h - what each mapping of a space is, and totals over like ones: the
 * inside of plim_mappings (plimsoll/mapping.h).
 */
#ifndef PLIMP_REGIONS_H
#define PLIMP_REGIONS_H

#include "host/target.h"

#include <plimsoll/mapping.h>

/* What is known of one mapping besides what the kernel tells. */
struct plimp_region {
	uint8_t kind;  /* enum plim_mapping_kind */
	uint8_t label; /* enum plimp_region_label */
	int32_t tid;   /* see plim_mapping */
	uint32_t threads;
};

/* What a mapping is added up under. */
enum plimp_region_label {
	PLIMP_LABEL_NAME = 0, /* its own name */
	PLIMP_LABEL_BELOW_64K = 1,
	PLIMP_LABEL_BELOW_1M = 2,
	PLIMP_LABEL_BELOW_16M = 3,
	PLIMP_LABEL_BELOW_64M = 4,
	PLIMP_LABEL_BELOW_1G = 5,
	PLIMP_LABEL_LARGER = 6,
	/* The name without the number of the thread at its end. */
	PLIMP_LABEL_THREAD = 7
};

/* What the kinds are decided from. */
struct plimp_regions_facts {
	const struct plimp_space *space;
	const struct plimp_stacks *stacks; /* by address; NULL: not known */
	plim_bytes program;		   /* its path; empty: not known */
	int32_t pid;			   /* of the main thread; 0: unknown */
};

/* Fills one region for each mapping of the space. */
void plimp_regions_classify(const struct plimp_regions_facts *facts,
			    struct plimp_region *regions);

/* The kind that a name alone decides, the thread that it tells; 0 for a name
 * that decides nothing, an empty one and the path of a file among them. */
int plimp_regions_by_name(plim_bytes name, uint32_t protection, int32_t *tid);

/* 1 for the name of a shared library: ".so" at its end, or before a dot. */
int plimp_regions_is_library(plim_bytes name);

/* 1 if the text begins with the words. */
int plimp_regions_begins(plim_bytes text, const char *words);

/* The label of a mapping: its name, or static storage. */
plim_bytes plimp_regions_label(const struct plimp_space *space, size_t index,
			       const struct plimp_region *region);

/* A figure of a mapping: enum plim_mapping_figure. */
plim_count plimp_regions_figure(const struct plimp_mapping *mapping,
				int figure);

/* The mappings that have one label and kind, or one kind. */
struct plimp_region_group {
	plim_bytes label;
	uint8_t kind;
	size_t count;
	plim_count figures[PLIM_MAPPING_FIGURE_COUNT];
};

struct plimp_region_groups {
	struct plimp_region_group *items;
	size_t count;
	size_t capacity;
};

/*
 * Adds up the mappings, largest resident first: `by` is enum plim_mapping_by.
 * Labels are borrowed from the space. PLIM_ENOMEM leaves no groups.
 */
int plimp_regions_group(const plim_allocator *allocator,
			const struct plimp_space *space,
			const struct plimp_region *regions, int by,
			struct plimp_region_groups *groups);
void plimp_region_groups_release(const plim_allocator *allocator,
				 struct plimp_region_groups *groups);

/* How many mappings make up the heap of glibc that begins with this one, as
 * the baseline counts them; 0 if none does. */
size_t plimp_arenas_span(const struct plimp_space *space, size_t index);

/* 1 for a private anonymous mapping: without a name, or with one that the
 * process gave it. */
int plimp_arenas_is_anonymous(const struct plimp_space *space, size_t index);

/* The baseline estimate; see mapping.h. */
plim_baseline plimp_arenas_estimate(const struct plimp_space *space);

#endif
