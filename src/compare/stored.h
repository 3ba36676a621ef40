/*
 * stored.h - what a stored profile is inside, for its readers and for who
 * compares: tables of functions and stacks, and the texts they point into.
 *
 * A reader fills the tables by the calls below; what fails is kept in the
 * builder, the first failure wins, and nothing is added after it.
 */
#ifndef PLIMP_COMPARE_STORED_H
#define PLIMP_COMPARE_STORED_H

#include "core/pool.h"

#include <plimsoll/compare.h>

struct plim_stored {
	plim_allocator allocator;
	struct plimp_pool pool; /* texts */
	plim_stored_facts facts;
	plim_stored_function *functions;
	size_t function_count;
	size_t function_capacity;
	plim_stored_stack *stacks;
	size_t stack_count;
	size_t stack_capacity;
	uint32_t *items; /* of all stacks, one after the other */
	size_t item_count;
	size_t item_capacity;
	plim_stored_slice *slices; /* of all stacks, one after the other */
	size_t slice_count;
	size_t slice_capacity;
};

/* A profile in the making. */
struct plimp_stored_maker {
	struct plim_stored *stored;
	int code; /* PLIM_OK, or the first failure */
	size_t position;
	const char *wrong;
	size_t text_size;   /* of names and modules, of all functions */
	size_t items_added; /* also of stacks that were left out */
	size_t items_ended; /* of stacks that have ended */
	size_t slices_ended;
	size_t sliced; /* items by slices, of stacks that have ended */
};

void plimp_stored_fail(struct plimp_stored_maker *maker, int code,
		       size_t position, const char *wrong);

/* Copies of texts; empty where there is no memory. */
plim_bytes plimp_stored_text(struct plimp_stored_maker *maker, plim_bytes text);

/* A file's name without folders. Only where no slash is in it a backslash
 * parts it: it may as well be an escape. */
plim_bytes plimp_stored_base(plim_bytes path);

/* The special frame of that name, or 0. */
int plimp_stored_special(plim_bytes name);

/* Appends a function; returns its index. The texts live long enough. */
uint32_t plimp_stored_add_function(struct plimp_stored_maker *maker,
				   plim_bytes name, plim_bytes module);
/* Of one that was added without: it is no special frame then. */
void plimp_stored_set_module(struct plimp_stored_maker *maker,
			     uint32_t function, plim_bytes module);
/* Appends to the stack in the making, from its leaf on. */
void plimp_stored_add_item(struct plimp_stored_maker *maker, uint32_t function);
/* When it was sampled; slices ascend. */
void plimp_stored_add_slice(struct plimp_stored_maker *maker, uint32_t slice,
			    uint64_t weight);
/* Ends it. One without an item gets [no stack]; `weight` of 0 is left out. */
void plimp_stored_end_stack(struct plimp_stored_maker *maker, int activity,
			    uint64_t weight, uint64_t samples);

void plimp_stored_json(struct plimp_stored_maker *maker, plim_bytes text);
void plimp_stored_pprof(struct plimp_stored_maker *maker, plim_bytes message);

/*
 * with_inflate.c: a gzip member, or several, into memory of its own of
 * `*capacity` bytes. PLIM_EUNSUPPORTED without zlib, PLIM_ESYNTAX, PLIM_ELIMIT
 * beyond `limit` bytes, PLIM_ENOMEM.
 */
int plimp_stored_inflate(plim_bytes from, size_t limit, char **data,
			 size_t *size, size_t *capacity,
			 const plim_allocator *allocator);

#endif
