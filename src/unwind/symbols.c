/*
 * symbols.c - the table of symbols that is looked up: pieces of code in
 * ascending order, each with one name.
 *
 * A look-up goes through an index, which has for each stretch of 2^shift bytes
 * of text the first piece that begins there, with about as many stretches as
 * pieces; what is left to search is a piece or two (a hostile file can make it
 * the whole table: a binary search then). The starts lie in an array of their
 * own, so that a search touches little memory. How the pieces come to be:
 * symbols_sweep.c. The measured figures: docs/design/symbols.md.
 */
#include "unwind/symbols_table.h"

#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

struct plimp_symbols {
	uint64_t *starts; /* ascending */
	struct plimp_symbol_piece *pieces;
	size_t count; /* at least 1 */
	size_t starts_capacity;
	size_t pieces_capacity;
	uint32_t *index; /* stretches + 1 of them: the first piece that begins
			  * in the stretch or behind it */
	size_t stretches;
	unsigned shift;
	char *strings;
	size_t strings_capacity;
	struct plimp_symbols_facts facts;
};

const char *plimp_symbol_source_word(int source)
{
	static const char *const words[] = {"none",	  "symtab", "dynsym",
					    "debug_file", "plt",    "perf_map",
					    "dwarf"};

	if (source < 0 || (size_t)source >= sizeof(words) / sizeof(*words))
		return "none";
	return words[source];
}

static int symbols_index(struct plimp_symbols *symbols,
			 const plim_allocator *allocator)
{
	uint64_t first = symbols->starts[0];
	uint64_t span = symbols->starts[symbols->count - 1] - first;
	size_t at = 0;

	while (span >> symbols->shift >= symbols->count && symbols->shift < 63)
		symbols->shift++;
	symbols->stretches = (size_t)(span >> symbols->shift) + 1;
	symbols->index = plimp_allocate(allocator, symbols->stretches + 1,
					sizeof(*symbols->index));
	if (!symbols->index)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < symbols->stretches; i++) {
		while (at < symbols->count &&
		       (symbols->starts[at] - first) >> symbols->shift < i)
			at++;
		symbols->index[i] = (uint32_t)at;
	}
	symbols->index[symbols->stretches] = (uint32_t)symbols->count;
	return PLIM_OK;
}

static uint64_t symbols_bytes(const struct plimp_symbols *symbols)
{
	return sizeof(*symbols) +
	       (uint64_t)symbols->starts_capacity * sizeof(*symbols->starts) +
	       (uint64_t)symbols->pieces_capacity * sizeof(*symbols->pieces) +
	       (uint64_t)(symbols->stretches + 1) * sizeof(*symbols->index) +
	       (uint64_t)symbols->strings_capacity;
}

/* Gives what is too much of an array back; keeps it where that fails. */
static void *symbols_trim(const plim_allocator *allocator, void *array,
			  size_t *capacity, size_t count, size_t size)
{
	void *smaller;

	if (*capacity == count)
		return array;
	smaller = plimp_resize(allocator, array, *capacity, count, size);
	if (!smaller)
		return array;
	*capacity = count;
	return smaller;
}

int plimp_symbol_table(struct plimp_symbol_maker *maker,
		       struct plimp_symbols **symbols)
{
	struct plimp_symbols *made;

	if (!maker->piece_count)
		return PLIM_ENAME;
	made = plimp_allocate(maker->allocator, 1, sizeof(*made));
	if (!made)
		return PLIM_ENOMEM;
	made->count = maker->piece_count;
	made->starts = maker->starts;
	made->pieces = maker->pieces;
	made->starts_capacity = maker->starts_capacity;
	made->pieces_capacity = maker->pieces_capacity;
	if (symbols_index(made, maker->allocator)) {
		plimp_release(maker->allocator, made, 1, sizeof(*made));
		return PLIM_ENOMEM;
	}
	made->starts =
	    symbols_trim(maker->allocator, made->starts, &made->starts_capacity,
			 made->count, sizeof(*made->starts));
	made->pieces =
	    symbols_trim(maker->allocator, made->pieces, &made->pieces_capacity,
			 made->count, sizeof(*made->pieces));
	made->strings =
	    symbols_trim(maker->allocator, maker->strings,
			 &maker->strings_capacity, maker->strings_size, 1);
	made->strings_capacity = maker->strings_capacity;
	made->facts.pieces = made->count;
	made->facts.seen = maker->seen;
	made->facts.rejected = maker->rejected;
	made->facts.source = maker->source;
	made->facts.bytes = symbols_bytes(made);
	maker->starts = NULL;
	maker->pieces = NULL;
	maker->strings = NULL;
	*symbols = made;
	return PLIM_OK;
}

void plimp_symbols_free(struct plimp_symbols *symbols,
			const plim_allocator *allocator)
{
	if (!symbols)
		return;
	plimp_release(allocator, symbols->starts, symbols->starts_capacity,
		      sizeof(*symbols->starts));
	plimp_release(allocator, symbols->pieces, symbols->pieces_capacity,
		      sizeof(*symbols->pieces));
	plimp_release(allocator, symbols->index, symbols->stretches + 1,
		      sizeof(*symbols->index));
	plimp_release(allocator, symbols->strings, symbols->strings_capacity,
		      1);
	plimp_release(allocator, symbols, 1, sizeof(*symbols));
}

struct plimp_symbols_facts
plimp_symbols_facts(const struct plimp_symbols *symbols)
{
	return symbols->facts;
}

/* The last piece that begins at or below the address, which is not below the
 * first one. */
static size_t symbols_last(const struct plimp_symbols *symbols,
			   uint64_t address)
{
	uint64_t stretch = (address - symbols->starts[0]) >> symbols->shift;
	size_t low, high;

	if (stretch >= symbols->stretches)
		return symbols->count - 1;
	/* Pieces [low, high) begin in the stretch; one before may reach in. */
	low = symbols->index[stretch];
	high = symbols->index[stretch + 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->starts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	assert(low > 0);
	return low - 1;
}

int plimp_symbols_find(const struct plimp_symbols *symbols,
		       uint64_t file_address, struct plimp_symbol *symbol)
{
	const struct plimp_symbol_piece *piece;
	size_t at;

	if (!symbols || file_address < symbols->starts[0])
		return PLIM_ENAME;
	at = symbols_last(symbols, file_address);
	piece = &symbols->pieces[at];
	if (file_address - symbols->starts[at] >= piece->size)
		return PLIM_ENAME;
	symbol->name.data = symbols->strings + piece->name;
	symbol->name.size = piece->name_size;
	symbol->start = symbols->starts[at] - piece->back;
	symbol->size = piece->whole;
	symbol->source = (int)piece->source;
	return PLIM_OK;
}
