/*
 * musl.h - mallocng, the allocator of musl from 1.2.1 on, as it lies in
 * memory: what its reader finds, and what its walk counts.
 *
 * mallocng keeps its records apart from the data. One context, in the data of
 * the C library, begins with a random secret; pages of records (meta areas)
 * begin with the same secret and form a list. A record tells of one group: up
 * to 32 slots of one size, in a mapping of their own or in one slot of a
 * larger group, and in two masks which slots are free. So live blocks are
 * counted without looking at the data. Layout and rules: src/malloc/mallocng/
 * of musl, meta.h, malloc.c and free.c, the same in 1.2.1 to 1.2.5.
 */
#ifndef PLIMP_MUSL_H
#define PLIMP_MUSL_H

#include "memory/image.h"

#define PLIMP_MUSL_CLASSES 48
#define PLIMP_MUSL_LARGE   63 /* the class of a block with its own mapping */
/* Meta areas that are read: 6.6 million records, of some 250 GiB. */
#define PLIMP_MUSL_AREAS_MOST 65536u
/* What all mappings of a heap have at most: its pages are asked about. */
#define PLIMP_MUSL_BYTES_MOST (UINT64_C(1) << 40)

#define PLIMP_MUSL_NO_GROUP UINT32_MAX

/* One record that is in use. */
struct plimp_musl_group {
	uint64_t meta;	  /* where the record is */
	uint64_t mem;	  /* where the group's header is; slots are behind it */
	uint64_t bytes;	  /* of its mapping; 0: it has none of its own */
	uint32_t avail;	  /* masks of free slots: to be taken next, */
	uint32_t freed;	  /* and freed since */
	uint8_t last;	  /* index of the last slot, 0 to 31 */
	uint8_t class;	  /* 0 to 47, or PLIMP_MUSL_LARGE */
	uint8_t freeable; /* 0: memory that the loader had left over */

	/* Set by plimp_musl_nest(): */
	uint32_t nested;   /* slots that hold a group instead of a block */
	uint8_t is_mapped; /* an outermost one: in the mappings that we know */
	uint32_t top;	 /* index of the outermost group that it lies in, itself
			  * where it lies in none */
	uint64_t live;	 /* of an outermost one: blocks in it, inner groups'
			  * included */
	uint64_t block;	 /* the address of one of their slots */
	uint64_t stride; /* and its size */
	/* Set by plimp_musl_pages(): */
	uint64_t kept; /* of an outermost one: resident free bytes in it */
};

struct plimp_musl_groups {
	struct plimp_musl_group *items;
	size_t count;
	size_t capacity;
};

/* Where a process has its context. */
struct plimp_musl_place {
	uint64_t context;
	uint64_t secret;
	uint64_t head;			    /* the first meta area */
	uint64_t tail;			    /* and the last */
	uint64_t usage[PLIMP_MUSL_CLASSES]; /* slots that each class has */
	/* On machines with several page sizes the context has the size, and
	 * what follows lies 8 bytes further on (aarch64, not x86-64). */
	int has_page_size;
};

/* What became of looking for the context, or of reading the records. */
enum plimp_musl_result {
	PLIMP_MUSL_OK = 0,
	PLIMP_MUSL_NONE = 1,	 /* there is no such context */
	PLIMP_MUSL_SEVERAL = 2,	 /* several places look like one */
	PLIMP_MUSL_ABSENT = 3,	 /* a record is not in memory */
	PLIMP_MUSL_SWAPPED = 4,	 /* a record is in swap */
	PLIMP_MUSL_CORRUPT = 5,	 /* a record that cannot be one */
	PLIMP_MUSL_TOO_LARGE = 6 /* more records than the bound */
};

/* Bytes from one slot of a group to the next. */
uint64_t plimp_musl_stride(const struct plimp_musl_group *group);

/*
 * Looks for a context in the writable data of the files that are mapped. A
 * place is one only if each of its meta areas has its secret. A negative error
 * of the reader, PLIM_ENOMEM, or enum plimp_musl_result.
 */
int plimp_musl_locate(const struct plimp_image *image,
		      struct plimp_musl_place *place);

/* Reads secret, list and usage of the context again. */
int plimp_musl_refresh(const struct plimp_image *image,
		       struct plimp_musl_place *place);

/* Reads every record in use into a list that is emptied first. `*areas` is
 * the number of meta areas. */
int plimp_musl_read(const struct plimp_image *image,
		    const struct plimp_musl_place *place,
		    struct plimp_musl_groups *groups, uint64_t *areas);
void plimp_musl_groups_release(const struct plimp_image *image,
			       struct plimp_musl_groups *groups);

/*
 * Puts the groups in order of address and finds which lie in slots of others.
 * The result is how many contradict: a group that lies in no live slot, or
 * across one. Those count as if they were alone. Which of the outermost ones
 * lie in the mappings of the space is marked: a group that was made after
 * they were read does not.
 */
size_t plimp_musl_nest(struct plimp_musl_groups *groups,
		       const struct plimp_space *space);

/* What of the groups takes memory, in bytes. */
struct plimp_musl_pages {
	uint64_t resident; /* pages of all groups and meta areas */
	uint64_t swapped;
	uint64_t free_resident; /* of free slots */
	uint64_t free_swapped;
};
/* Groups that are nested; a negative error of the reader, or PLIM_OK. */
int plimp_musl_pages(const struct plimp_image *image,
		     struct plimp_musl_groups *groups,
		     struct plimp_musl_pages *pages);

struct plim_heap;

/*
 * Walks the heap of a process whose context was found, and fills `heap`, or
 * says there why it cannot. PLIM_OK whatever the heap is like; an error of the
 * reader, PLIM_ENOMEM.
 */
int plimp_musl_walk(const struct plimp_image *image, struct plim_heap *heap,
		    plim_error *error);

#endif
