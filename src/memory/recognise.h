/*
 * recognise.h - which allocators a process has, and by what that is known.
 *
 * Several in one process are normal: a program of Python has pymalloc on top of
 * malloc, and malloc may be a preloaded one with glibc's idle beside it. So
 * every sign is collected: names of mapped files, names that allocators give
 * their memory, symbols that modules define, texts in a program that they are
 * linked into, and to whose malloc the C library's own calls are bound.
 *
 * What a file or a name says makes an allocator POSSIBLE or LIKELY; CERTAIN
 * needs a sign of life: its memory, its initialised records, or the binding of
 * malloc.
 */
#ifndef PLIMP_RECOGNISE_H
#define PLIMP_RECOGNISE_H

#include "elf/elf.h"
#include "memory/heaps.h"
#include "memory/image.h"

/* Modules and bytes that are looked at; the rest is left out. */
#define PLIMP_MODULES_MOST 4096u

/* Bits of plimp_heap_module.signs. */
enum plimp_heap_module_sign {
	PLIMP_MODULE_PROGRAM = 1, /* the program itself */
	PLIMP_MODULE_DEFINES_MALLOC = 2,
	PLIMP_MODULE_IS_GLIBC = 4,
	PLIMP_MODULE_IS_MUSL = 8,
	PLIMP_MODULE_IS_STATIC = 16 /* needs no loader */
};

/* A file that is mapped with code in it. */
struct plimp_heap_module {
	uint64_t start; /* of its first mapping */
	uint64_t end;	/* of its last one, .bss included */
	size_t first;	/* indices of mappings */
	size_t last;
	uint32_t signs;
	int kind; /* the allocator that it holds, 0: none; of the table */
	uint64_t malloc_at; /* where it has malloc, 0: nowhere */
};

struct plimp_heap_modules {
	struct plimp_heap_module *items;
	size_t count;
	size_t capacity;
};

/* What the parts of a recognition share. */
struct plimp_recognition {
	const struct plimp_image *image;
	struct plimp_heap_list *list;
	struct plimp_heap_modules modules;
};

/* Adds a heap for each allocator that is seen, with evidence, and puts the
 * surest first. PLIM_ENOMEM, or an error of the reader. */
int plimp_recognise(const struct plimp_image *image,
		    struct plimp_heap_list *list, plim_error *error);

/* --- its parts -------------------------------------------------------------
 */

/* The base name of a mapping's file. */
plim_bytes plimp_recognise_name(const struct plimp_image *image,
				size_t mapping);

/* The heap of this kind, added where there is none; its confidence becomes at
 * least this. NULL where there is no memory. */
plim_heap *plimp_recognise_as(struct plimp_recognition *recognition, int kind,
			      int confidence);

/* By names of mappings (recognise_names.c), by the modules' symbols and texts
 * (recognise_module.c), by whose malloc is called (recognise_bound.c). */
int plimp_recognise_names(struct plimp_recognition *recognition);
int plimp_recognise_module(struct plimp_recognition *recognition,
			   struct plimp_heap_module *module);
int plimp_recognise_bound(struct plimp_recognition *recognition);

#endif
