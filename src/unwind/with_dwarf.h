/*
 * with_dwarf.h - the two places where lines.c and libdw meet: finding the
 * library, and what runs in the cell. Without libdw (PLIM_WITH_DWARF is not
 * defined) the first says so and the second is never reached.
 */
#ifndef PLIMP_WITH_DWARF_H
#define PLIMP_WITH_DWARF_H

#include "host/cell.h"
#include "unwind/lines.h"

struct plimp_dwarf_library;

/* Loads libdw.so.1, which costs nothing before: the library and plim are not
 * linked with it. PLIM_EUNSUPPORTED where it is not there. */
int plimp_dwarf_open(struct plimp_dwarf_library **library, plim_host *host,
		     plim_error *error);
/* NULL is allowed. */
void plimp_dwarf_close(struct plimp_dwarf_library *library);

/* A plimp_cell_fn: answers questions (lines_wire.h) until the keeper goes.
 * `user` is the library. */
void plimp_dwarf_serve(const struct plimp_cell_inside *inside, void *user);

/* The same without a cell, over a file's bytes: for fuzzing. NULL: it is no
 * ELF file with DWARF. Texts lie in the file. */
struct plimp_dwarf;
struct plimp_dwarf *plimp_dwarf_image(const struct plimp_dwarf_library *library,
				      char *bytes, size_t size);
int plimp_dwarf_find(struct plimp_dwarf *dwarf, uint64_t address,
		     struct plimp_line *frames, size_t capacity, size_t *count);
void plimp_dwarf_free(struct plimp_dwarf *dwarf);

#endif
