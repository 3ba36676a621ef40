/*
 * perf_map.c - maps of jitted code, as processes write them for perf:
 * /tmp/perf-PID.map, lines of START SIZE NAME in hexadecimal (Linux,
 * tools/perf/Documentation/jit-interface.txt).
 *
 * The file only grows: code that is jitted again at an address, or other code
 * that takes a freed place, gets a later line. So later lines win, and code
 * whose first byte has been overwritten is gone as a whole: its rest would be a
 * wrong name. A line that another one lies inside of keeps what is left (maps
 * name regions and the stubs in them). A last line without its newline is just
 * being written, and is left out. Names are any bytes but NUL and newline, and
 * stay raw.
 */
#include "unwind/symbols_table.h"

#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

/* A number in hexadecimal, with 0x or without, and the blanks behind it. 0:
 * there is none, or it does not fit. */
static int map_number(const char **at, const char *end, uint64_t *number)
{
	const char *text = *at;
	uint64_t value = 0;
	size_t digits = 0;

	if (end - text > 2 && text[0] == '0' && (text[1] | 32) == 'x')
		text += 2;
	for (; text < end; text++, digits++) {
		int digit = *text;

		if (digit >= '0' && digit <= '9')
			digit -= '0';
		else if ((digit | 32) >= 'a' && (digit | 32) <= 'f')
			digit = (digit | 32) - 'a' + 10;
		else
			break;
		if (value >> 60)
			return 0;
		value = value << 4 | (uint64_t)digit;
	}
	if (!digits || text == end || (*text != ' ' && *text != '\t'))
		return 0;
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	*at = text;
	*number = value;
	return 1;
}

/* A line without its newline; 0 where it is malformed. */
static int map_line(const char *line, const char *end,
		    struct plimp_symbol_entry *entry, const char **name)
{
	uint64_t size;

	if (memchr(line, 0, (size_t)(end - line)))
		return 0;
	if (!map_number(&line, end, &entry->start) ||
	    !map_number(&line, end, &size) || line == end)
		return 0;
	if (!size || size > UINT32_MAX || entry->start > UINT64_MAX - size)
		return 0;
	entry->size = (uint32_t)size;
	*name = line;
	return 1;
}

/* The newlines of the strings become the ends of the names. */
static int map_lines(struct plimp_symbol_maker *maker, size_t size)
{
	char *text = maker->strings;
	char *end;

	for (char *line = text; line < text + size; line = end + 1) {
		struct plimp_symbol_entry entry = {.source =
						       PLIMP_SYMBOL_PERF_MAP};
		const char *name;
		int failed;

		end = memchr(line, '\n', (size_t)(text + size - line));
		if (!end) {
			maker->rejected++;
			maker->seen++;
			break;
		}
		if (++maker->seen > PLIMP_PERF_MAP_LINES ||
		    end - line > (ptrdiff_t)PLIMP_PERF_MAP_LINE)
			return PLIM_ELIMIT;
		if (!map_line(line, end, &entry, &name)) {
			maker->rejected++;
			continue;
		}
		*end = '\0';
		/* Its order, until it has been sorted. */
		entry.limit = (uint32_t)maker->seen;
		failed =
		    plimp_symbol_name(maker, (uint32_t)(name - text), &entry);
		if (!failed)
			failed = plimp_symbol_add(maker, &entry);
		if (failed)
			return failed;
	}
	return PLIM_OK;
}

/* Ascending by start; of one start the latest line first, so that it is there
 * when those that it replaced come. */
static int map_sort(struct plimp_symbol_maker *maker)
{
	for (size_t i = 0; i < maker->count / 2; i++) {
		struct plimp_symbol_entry *a = &maker->entries[i];
		struct plimp_symbol_entry *b =
		    &maker->entries[maker->count - 1 - i];
		struct plimp_symbol_entry swap = *a;

		*a = *b;
		*b = swap;
	}
	return plimp_symbol_sort(maker);
}

static int map_pieces(struct plimp_symbol_maker *maker)
{
	uint32_t *order;
	int failed;

	if (!maker->count)
		return PLIM_ENAME;
	order = plimp_allocate(maker->allocator, maker->count, sizeof(*order));
	if (!order)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < maker->count; i++)
		order[i] = maker->entries[i].limit;
	failed =
	    plimp_symbol_sweep(maker, maker->entries, order, maker->count, 1);
	plimp_release(maker->allocator, order, maker->count, sizeof(*order));
	return failed;
}

static int map_read(struct plimp_symbol_maker *maker, plim_bytes text)
{
	uint32_t place;
	int failed;

	if (!text.size)
		return PLIM_ENAME;
	if (text.size > PLIMP_PERF_MAP_BYTES)
		return PLIM_ELIMIT;
	failed = plimp_symbol_strings(maker, text.size, &place);
	if (failed)
		return failed;
	assert(place == 0);
	memcpy(maker->strings, text.data, text.size);
	failed = map_lines(maker, text.size);
	if (!failed)
		failed = map_sort(maker);
	return failed ? failed : map_pieces(maker);
}

int plimp_symbols_perf_map(struct plimp_symbols **symbols, plim_bytes text,
			   const plim_allocator *allocator, plim_error *error)
{
	struct plimp_symbol_maker maker = {.allocator = allocator,
					   .source = PLIMP_SYMBOL_PERF_MAP};
	int failed = map_read(&maker, text);

	if (!failed)
		failed = plimp_symbol_table(&maker, symbols);
	plimp_symbol_maker_release(&maker);
	if (failed)
		return plimp_fail(error, failed, 0, "read perf map", NULL,
				  NULL);
	return PLIM_OK;
}
