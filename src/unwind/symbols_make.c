/*
 * symbols_make.c - what a table of symbols is made from: its entries, their
 * names, and their order.
 *
 * Names are kept as they are, one string table behind another, so that an
 * entry has a 32-bit place and nothing is copied name by name.
 */
#include "unwind/symbols_table.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

void plimp_symbol_maker_release(struct plimp_symbol_maker *maker)
{
	plimp_release(maker->allocator, maker->entries, maker->capacity,
		      sizeof(*maker->entries));
	plimp_release(maker->allocator, maker->strings, maker->strings_capacity,
		      1);
	plimp_release(maker->allocator, maker->starts, maker->starts_capacity,
		      sizeof(*maker->starts));
	plimp_release(maker->allocator, maker->pieces, maker->pieces_capacity,
		      sizeof(*maker->pieces));
}

int plimp_symbol_strings(struct plimp_symbol_maker *maker, size_t size,
			 uint32_t *place)
{
	size_t needed = maker->strings_size + size + 1;
	int failed;

	if (size >= UINT32_MAX || needed > UINT32_MAX)
		return PLIM_ELIMIT;
	/* A whole table at a time: room for just that. */
	if (size > maker->strings_capacity) {
		char *more = plimp_resize(maker->allocator, maker->strings,
					  maker->strings_capacity, needed, 1);

		if (!more)
			return PLIM_ENOMEM;
		maker->strings = more;
		maker->strings_capacity = needed;
	}
	failed = plimp_reserve(maker->allocator, (void **)&maker->strings,
			       &maker->strings_capacity, needed, 4096, 1);
	if (failed)
		return failed;
	*place = (uint32_t)maker->strings_size;
	maker->strings_size = needed;
	maker->strings[needed - 1] = '\0';
	return PLIM_OK;
}

/* A file may let every symbol's name be the tail of one that is as long as the
 * table, so the work is bounded as a whole: linkers let equal names and tails
 * share a place, and so often is more than any of them does. */
enum { NAME_WORK = 64, NAME_WORK_LEAST = 16777216 };

int plimp_symbol_name(struct plimp_symbol_maker *maker, uint32_t name,
		      struct plimp_symbol_entry *entry)
{
	const char *text = maker->strings + name;
	size_t left = maker->strings_size - name;
	size_t most = left < UINT16_MAX ? left : UINT16_MAX;
	const char *end = memchr(text, 0, most);
	size_t size = end ? (size_t)(end - text) : most;
	size_t underscores = 0;

	assert(name < maker->strings_size);
	maker->measured += size;
	if (maker->measured >
	    (uint64_t)maker->strings_size * NAME_WORK + NAME_WORK_LEAST)
		return PLIM_ELIMIT;
	if (!end || !size)
		return PLIM_ENAME;
	while (underscores < size && underscores < UINT8_MAX &&
	       text[underscores] == '_')
		underscores++;
	entry->name = name;
	entry->name_size = (uint16_t)size;
	entry->underscores = (uint8_t)underscores;
	return PLIM_OK;
}

int plimp_symbol_add(struct plimp_symbol_maker *maker,
		     const struct plimp_symbol_entry *entry)
{
	int failed = plimp_reserve(maker->allocator, (void **)&maker->entries,
				   &maker->capacity, maker->count + 1, 1024,
				   sizeof(*maker->entries));

	assert(entry->limit > 0);
	if (failed)
		return failed;
	maker->entries[maker->count++] = *entry;
	return PLIM_OK;
}

const struct plimp_symbol_range *
plimp_symbol_range(const struct plimp_symbol_maker *maker, uint64_t address)
{
	for (size_t i = 0; i < maker->range_count; i++)
		if (address >= maker->ranges[i].start &&
		    address < maker->ranges[i].end)
			return &maker->ranges[i];
	return NULL;
}

enum { SORT_BITS = 11, SORT_DIGITS = 1 << SORT_BITS };

static int entries_are_sorted(const struct plimp_symbol_maker *maker,
			      uint64_t *lowest, uint64_t *highest)
{
	int are = 1;

	*lowest = UINT64_MAX;
	*highest = 0;
	for (size_t i = 0; i < maker->count; i++) {
		uint64_t start = maker->entries[i].start;

		if (start < *highest)
			are = 0;
		else
			*highest = start;
		if (start < *lowest)
			*lowest = start;
	}
	return are;
}

/* One digit of the keys `start - lowest`, stable. */
static void sort_digit(const struct plimp_symbol_entry *from,
		       struct plimp_symbol_entry *to, size_t count,
		       uint64_t lowest, unsigned shift)
{
	size_t place[SORT_DIGITS] = {0};
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		place[((from[i].start - lowest) >> shift) &
		      (SORT_DIGITS - 1)]++;
	for (size_t i = 0; i < SORT_DIGITS; i++) {
		size_t here = place[i];

		place[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[((from[i].start - lowest) >> shift) &
			 (SORT_DIGITS - 1)]++] = from[i];
}

/* By radix, least digit first: a module's text takes two or three. */
int plimp_symbol_sort(struct plimp_symbol_maker *maker)
{
	struct plimp_symbol_entry *from = maker->entries, *to;
	uint64_t lowest, highest;

	if (entries_are_sorted(maker, &lowest, &highest))
		return PLIM_OK;
	to = plimp_allocate(maker->allocator, maker->capacity, sizeof(*to));
	if (!to)
		return PLIM_ENOMEM;
	for (unsigned shift = 0; shift < 64 && (highest - lowest) >> shift;
	     shift += SORT_BITS) {
		struct plimp_symbol_entry *sorted = to;

		sort_digit(from, to, maker->count, lowest, shift);
		to = from;
		from = sorted;
	}
	maker->entries = from;
	plimp_release(maker->allocator, to, maker->capacity, sizeof(*to));
	return PLIM_OK;
}
