/*
 * space.h - mappings made by hand, for the tests of what they are: one call
 * for each, in ascending order, as a line of maps has it.
 */
#ifndef PLIMT_SPACE_H
#define PLIMT_SPACE_H

#include "memory/regions.h"

#include <string.h>

#define SPACE_MOST  64
#define SPACE_TEXTS 8192
#define SPACE_MIB   ((uint64_t)1 << 20)

static struct plimp_mapping space_items[SPACE_MOST];
static char space_texts[SPACE_TEXTS];
static struct plimp_space space;
static struct plimp_region space_regions[SPACE_MOST];
static struct plimp_stack_pointer space_pointers[SPACE_MOST];
static struct plimp_stacks space_stacks;

static inline void space_begin(void)
{
	memset(space_items, 0, sizeof(space_items));
	memset(&space, 0, sizeof(space));
	memset(&space_stacks, 0, sizeof(space_stacks));
	space.items = space_items;
	space.texts.bytes = space_texts;
	space_stacks.items = space_pointers;
}

static inline uint32_t space_rights(const char *rights)
{
	return (rights[0] == 'r' ? (uint32_t)PLIMP_MAY_READ : 0) |
	       (rights[1] == 'w' ? (uint32_t)PLIMP_MAY_WRITE : 0) |
	       (rights[2] == 'x' ? (uint32_t)PLIMP_MAY_EXECUTE : 0) |
	       (rights[3] == 's' ? (uint32_t)PLIMP_IS_SHARED : 0);
}

/* The next mapping. Its figures are known: resident is what it is told, all
 * else 0; space_flags() and space_skip() change that of the last. */
static inline struct plimp_mapping *space_add(uint64_t start, uint64_t size,
					      const char *rights,
					      uint64_t inode, const char *name,
					      uint64_t resident)
{
	struct plimp_mapping *mapping = &space.items[space.count++];
	plim_count none = plim_count_known(0, PLIM_METHOD_SMAPS);

	assert_true(space.count <= SPACE_MOST);
	mapping->start = start;
	mapping->end = start + size;
	mapping->protection = space_rights(rights);
	mapping->inode = inode;
	mapping->device = inode != 0 ? (uint64_t)8 << 32 | 1 : 0;
	mapping->name_start = space.texts.size;
	mapping->name_size = strlen(name);
	assert_true(space.texts.size + mapping->name_size <= SPACE_TEXTS);
	memcpy(space_texts + space.texts.size, name, mapping->name_size);
	space.texts.size += mapping->name_size;
	mapping->has = PLIMP_MAPPING_SMAPS;
	mapping->resident = plim_count_known(resident, PLIM_METHOD_SMAPS);
	mapping->pss = none;
	mapping->pss_dirty = none;
	mapping->shared_clean = none;
	mapping->shared_dirty = none;
	mapping->private_clean = none;
	mapping->private_dirty = none;
	mapping->anonymous = none;
	mapping->lazy_free = none;
	mapping->huge = none;
	mapping->hugetlb = none;
	mapping->swap = none;
	mapping->swap_pss = none;
	mapping->locked = none;
	mapping->exclusive = plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	return mapping;
}

/* Right behind the last one. */
static inline struct plimp_mapping *space_next(uint64_t size,
					       const char *rights,
					       uint64_t inode, const char *name,
					       uint64_t resident)
{
	return space_add(space.items[space.count - 1].end, size, rights, inode,
			 name, resident);
}

/* Flags of the last one, as VmFlags writes them. */
static inline void space_flags(const char *words)
{
	static const struct {
		const char *word;
		uint32_t flag;
	} known[] = {
	    {"nh", PLIMP_VM_NO_HUGE},	 {"nr", PLIMP_VM_NO_RESERVE},
	    {"ac", PLIMP_VM_ACCOUNTED},	 {"ht", PLIMP_VM_HUGETLB},
	    {"gd", PLIMP_VM_GROWS_DOWN},
	};
	struct plimp_mapping *mapping = &space.items[space.count - 1];
	size_t at;

	mapping->has |= PLIMP_MAPPING_FLAGS;
	for (at = 0; at < sizeof(known) / sizeof(known[0]); at++)
		if (strstr(words, known[at].word) != NULL)
			mapping->flags |= known[at].flag;
}

static inline void space_pointer(uint64_t address, int32_t tid)
{
	struct plimp_stack_pointer *pointer =
	    &space_pointers[space_stacks.count++];

	pointer->address = address;
	pointer->tid = tid;
}

static inline void space_classify(const char *program, int32_t pid)
{
	struct plimp_regions_facts facts = {
	    .space = &space,
	    .stacks = space_stacks.count > 0 ? &space_stacks : NULL,
	    .program = {program, strlen(program)},
	    .pid = pid,
	};

	plimp_regions_classify(&facts, space_regions);
}

#endif
