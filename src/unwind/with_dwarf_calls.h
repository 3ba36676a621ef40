/*
 * with_dwarf_calls.h - what of libdw and libelf is called, and what the files
 * that call it share. It is the one header that includes theirs.
 *
 * The functions are found at run time, so that a program which asks for no
 * lines does not load the six libraries that libdw stands on, and one on a
 * machine without them runs all the same.
 */
#ifndef PLIMP_WITH_DWARF_CALLS_H
#define PLIMP_WITH_DWARF_CALLS_H

#include "unwind/with_dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>

/* All are in elfutils 0.171 (2018), which brought DWARF 5. */
#define PLIMP_DWARF_CALLS(X)     \
	X(elf_version)           \
	X(elf_begin)             \
	X(elf_memory)            \
	X(elf_kind)              \
	X(elf_end)               \
	X(elf_nextscn)           \
	X(elf_getshdrstrndx)     \
	X(elf_strptr)            \
	X(gelf_getshdr)          \
	X(gelf_update_shdr)      \
	X(dwarf_begin_elf)       \
	X(dwarf_end)             \
	X(dwarf_setalt)          \
	X(dwarf_new_oom_handler) \
	X(dwarf_next_unit)       \
	X(dwarf_offdie)          \
	X(dwarf_dieoffset)       \
	X(dwarf_tag)             \
	X(dwarf_child)           \
	X(dwarf_siblingof)       \
	X(dwarf_attr)            \
	X(dwarf_attr_integrate)  \
	X(dwarf_formudata)       \
	X(dwarf_formstring)      \
	X(dwarf_ranges)          \
	X(dwarf_entrypc)         \
	X(dwarf_decl_file)       \
	X(dwarf_decl_line)       \
	X(dwarf_getsrclines)     \
	X(dwarf_getsrc_die)      \
	X(dwarf_lineno)          \
	X(dwarf_linecol)         \
	X(dwarf_linesrc)         \
	X(dwarf_getsrcfiles)     \
	X(dwarf_filesrc)

struct plimp_dwarf_library {
	plim_host *host;
	void *handle;
#define PLIM_X(name) __typeof__(name) *name;
	PLIMP_DWARF_CALLS(PLIM_X)
#undef PLIM_X
};

#define PLIMP_DWARF_NONE 0xffffffffu

/* [low, high) is of this node, or unit, and of nothing nested in it. */
struct plimp_dwarf_interval {
	uint64_t low;
	uint64_t high;
	uint32_t node;
};

/* From `start` to the next one's on, this node, or none. */
struct plimp_dwarf_segment {
	uint64_t start;
	uint32_t node;
};

struct plimp_dwarf_table {
	struct plimp_dwarf_segment *items;
	size_t count;
};

/* A position in the source. */
struct plimp_dwarf_place {
	plim_bytes file;
	uint32_t line;
	uint32_t column;
};

/* What a node is called, and where it was called from; of its place in the
 * file nothing. Made when it is first asked for. */
struct plimp_dwarf_told {
	struct plimp_line line;
	struct plimp_dwarf_place call;
};

/* A subprogram, or an inlined subroutine below one. */
struct plimp_dwarf_node {
	Dwarf_Off die;
	struct plimp_dwarf_told *told; /* NULL before */
	uint32_t parent; /* PLIMP_DWARF_NONE: it is a subprogram */
};

/* A path as libdw has it, and from the unit's folder on. */
struct plimp_dwarf_path {
	const char *path; /* NULL: this place is free */
	plim_bytes whole;
	char *made; /* NULL: it is the same */
};

struct plimp_dwarf_unit {
	Dwarf_Die die;
	Dwarf_Off end; /* where its DIEs end */
	int is_indexed;
	int problem; /* PLIM_OK, or why its functions are not known */
	struct plimp_dwarf_node *nodes;
	size_t node_count;
	struct plimp_dwarf_table functions;
	plim_bytes folder;		/* that it was compiled in */
	int has_folder;			/* it was looked for */
	struct plimp_dwarf_path *paths; /* open addressing, a power of 2 */
	size_t path_room;
	size_t path_count;
};

struct plimp_dwarf {
	const struct plimp_dwarf_library *library;
	Elf *elf;
	Dwarf *dwarf;
	Elf *other_elf; /* what dwz moved out; NULL */
	Dwarf *other;
	struct plimp_dwarf_unit *units;
	size_t count;
	size_t capacity;
	struct plimp_dwarf_table table;
};

/* Grows by doubling; realloc() of the cell, not the caller's allocator. */
struct plimp_dwarf_intervals {
	struct plimp_dwarf_interval *items;
	size_t count;
	size_t capacity;
};
int plimp_dwarf_interval_add(struct plimp_dwarf_intervals *list, uint64_t low,
			     uint64_t high, uint32_t node);

/*
 * Makes a table of them, and gives their memory back, whatever comes. Where
 * they are nested, as they should be, the inner one wins; what overlaps
 * otherwise is cut. PLIM_ENOMEM.
 */
int plimp_dwarf_flatten(struct plimp_dwarf_intervals *list,
			struct plimp_dwarf_table *table);
uint32_t plimp_dwarf_lookup(const struct plimp_dwarf_table *table,
			    uint64_t address);

/* All ranges of a DIE, as of this node. */
int plimp_dwarf_ranges_add(const struct plimp_dwarf_library *library,
			   Dwarf_Die *die, uint32_t node,
			   struct plimp_dwarf_intervals *list);

/* One pass over the unit's tree, once. */
void plimp_dwarf_index(const struct plimp_dwarf_library *library,
		       struct plimp_dwarf_unit *unit);
void plimp_dwarf_unit_free(struct plimp_dwarf_unit *unit);

/* 0 if the address is in a unit that nothing was asked of yet, which takes up
 * to 100 ms: all others take microseconds. */
int plimp_dwarf_is_ready(const struct plimp_dwarf *dwarf, uint64_t address);

#endif
