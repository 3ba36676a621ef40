/*
 * names.h - the texts of a namer: each is kept once, and demangled once.
 */
#ifndef PLIMP_UNWIND_NAMES_H
#define PLIMP_UNWIND_NAMES_H

#include "core/pool.h"

struct plimp_name_text {
	plim_bytes text;  /* .data NULL: this place is free */
	plim_bytes shown; /* demangled, or the same; .data NULL: not asked */
};

struct plimp_names {
	struct plimp_pool pool;	       /* with the allocator of all */
	struct plimp_name_text *texts; /* open addressing, a power of 2 */
	size_t size;
	size_t used;
};

/* The one copy of a text, as long as the names; empty ones have none.
 * PLIM_ENOMEM. */
int plimp_names_keep(struct plimp_names *names, plim_bytes text,
		     plim_bytes *kept);
/* The same of a symbol's name, and what is shown for it. */
int plimp_names_symbol(struct plimp_names *names, plim_bytes linkage,
		       plim_bytes *kept, plim_bytes *shown);
void plimp_names_release(struct plimp_names *names);

#endif
