/*
 * symbols_table.h - how a table of symbols is made: entries as they were read
 * become pieces of code, each of which has one name, and those the table.
 */
#ifndef PLIMP_SYMBOLS_TABLE_H
#define PLIMP_SYMBOLS_TABLE_H

#include "unwind/symbols.h"

/* Executable segments of a module; linkers make one or a few. */
#define PLIMP_SYMBOL_RANGES 64

enum plimp_symbol_binding { /* as the alias rule has them, best first */
			    PLIMP_BINDING_GLOBAL = 0,
			    PLIMP_BINDING_WEAK = 1,
			    PLIMP_BINDING_LOCAL = 2
};

struct plimp_symbol_entry {
	uint64_t start;
	uint32_t size;	/* of one that is sized: not 0 */
	uint32_t limit; /* up to where it may reach: end of section or segment;
			 * not 0 */
	uint32_t name;	/* in the strings */
	uint16_t name_size;  /* not 0 */
	uint8_t underscores; /* the name begins with so many, 255 at most */
	uint8_t is_untyped;
	uint8_t binding;
	uint8_t source;
};

struct plimp_symbol_piece {
	uint32_t size;	/* bytes from its start on */
	uint32_t back;	/* bytes from its symbol's start up to its own */
	uint32_t whole; /* what its symbol covers, holes included */
	uint32_t name;
	uint16_t name_size;
	uint16_t source;
};

struct plimp_symbol_range {
	uint64_t start;
	uint64_t end;
};

struct plimp_symbol_maker {
	const plim_allocator *allocator;
	struct plimp_symbol_range ranges[PLIMP_SYMBOL_RANGES];
	size_t range_count; /* of code, in the module's file */
	struct plimp_symbol_entry *entries;
	size_t count;
	size_t capacity;
	char *strings; /* every name in it ends with a NUL */
	size_t strings_size;
	size_t strings_capacity;
	uint64_t measured; /* bytes of names that were looked at */
	uint64_t seen;
	uint64_t rejected;
	int source; /* of the table as a whole */
	/* What sweeping makes. */
	uint64_t *starts;
	struct plimp_symbol_piece *pieces;
	size_t piece_count;
	size_t starts_capacity;
	size_t pieces_capacity;
};

/* Everything that the maker holds. */
void plimp_symbol_maker_release(struct plimp_symbol_maker *maker);

/* Room for `size` more bytes of names and a NUL behind them, which it sets;
 * they begin at `*place`. PLIM_ELIMIT where 32 bits don't reach. */
int plimp_symbol_strings(struct plimp_symbol_maker *maker, size_t size,
			 uint32_t *place);

/* Sets what an entry tells of its name, which begins there. PLIM_ENAME where
 * that is empty or longer than an entry can tell; PLIM_ELIMIT where all names
 * together would take too long to look at. */
int plimp_symbol_name(struct plimp_symbol_maker *maker, uint32_t name,
		      struct plimp_symbol_entry *entry);

int plimp_symbol_add(struct plimp_symbol_maker *maker,
		     const struct plimp_symbol_entry *entry);

/* The range of code that holds the address, or NULL. */
const struct plimp_symbol_range *
plimp_symbol_range(const struct plimp_symbol_maker *maker, uint64_t address);

/* Sorts the entries by their start; those of one start stay in order. */
int plimp_symbol_sort(struct plimp_symbol_maker *maker);

/* Negative where the name `a` is the better one of two symbols that start at
 * one address: the alias rule. */
int plimp_symbol_compare(const struct plimp_symbol_maker *maker,
			 const struct plimp_symbol_entry *a,
			 const struct plimp_symbol_entry *b);

/* Of sorted entries: the pieces, by the alias rule. */
int plimp_symbol_pieces(struct plimp_symbol_maker *maker);

/*
 * Cuts `count` entries, ascending by start, into pieces: of those that cover
 * an address, the one with the highest `order` names it. With `retires`, one
 * whose start is covered by a higher one names nothing.
 */
int plimp_symbol_sweep(struct plimp_symbol_maker *maker,
		       const struct plimp_symbol_entry *entries,
		       const uint32_t *order, size_t count, int retires);

/* One more piece, behind the last one. */
int plimp_symbol_piece(struct plimp_symbol_maker *maker,
		       const struct plimp_symbol_entry *entry, uint64_t from,
		       uint64_t to);

/* Makes the table of the pieces, and takes the strings over. PLIM_ENAME where
 * there is no piece. */
int plimp_symbol_table(struct plimp_symbol_maker *maker,
		       struct plimp_symbols **symbols);

/* Stubs of the PLT, named after the dynamic symbols, whose names lie in the
 * strings from `names` on. What cannot be read has no names. */
int plimp_symbol_plt(struct plimp_symbol_maker *maker,
		     const struct plimp_elf *elf,
		     const struct plimp_elf_symbol_table *dynamic,
		     uint32_t names);

#endif
