/*
 * fuzz_perf_map.c - any bytes as a map of jitted code: a name that comes out
 * covers the address that was asked, and stands in the text behind its own
 * start and size.
 */
#include "promise.h"
#include "unwind/symbols.h"

#include <stdlib.h>
#include <string.h>

struct line {
	uint64_t start;
	uint64_t size;
	const char *name;
	size_t name_size;
};

/* Strict where the reader is: 1 for a line that names something. */
static int line_of(const char *text, size_t size, struct line *line)
{
	char copy[64];
	char *end;

	if (size >= sizeof(copy) || memchr(text, 0, size) || !size)
		return 0;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (strspn(copy, "0123456789abcdefABCDEF") == 0)
		return 0;
	line->start = strtoull(copy, &end, 16);
	if (*end != ' ' || end - copy > 16)
		return 0;
	end += strspn(end, " \t");
	const char *second = end;

	if (strspn(end, "0123456789abcdefABCDEF") == 0)
		return 0;
	line->size = strtoull(end, &end, 16);
	if (*end != ' ' || end - second > 16)
		return 0;
	end += strspn(end, " \t");
	line->name = text + (end - copy);
	line->name_size = size - (size_t)(end - copy);
	return line->name_size && line->size && line->size <= UINT32_MAX &&
	       line->start <= UINT64_MAX - line->size;
}

/* 1 if the text has a line of this start, size and name. */
static int is_told(const char *text, size_t size,
		   const struct plimp_symbol *symbol)
{
	struct line line;
	const char *end;
	int unread = 0;

	for (const char *from = text; from < text + size; from = end + 1) {
		end = memchr(from, '\n', (size_t)(text + size - from));
		if (!end)
			break;
		if (!line_of(from, (size_t)(end - from), &line))
			unread = 1;
		else if (line.start == symbol->start &&
			 line.size == symbol->size &&
			 line.name_size == symbol->name.size &&
			 !memcmp(line.name, symbol->name.data, line.name_size))
			return 1;
	}
	/* What this does not read the map may. */
	return unread;
}

static void check_at(const struct plimp_symbols *symbols, const char *text,
		     size_t size, uint64_t at)
{
	struct plimp_symbol symbol;
	int code = plimp_symbols_find(symbols, at, &symbol);

	PROMISE(code == PLIM_OK || code == PLIM_ENAME);
	if (code)
		return;
	PROMISE(symbol.name.size && symbol.source == PLIMP_SYMBOL_PERF_MAP);
	PROMISE(at >= symbol.start && at - symbol.start < symbol.size);
	PROMISE(!memchr(symbol.name.data, '\n', symbol.name.size) &&
		!memchr(symbol.name.data, 0, symbol.name.size));
	PROMISE(is_told(text, size, &symbol));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const plim_allocator allocator = {0};
	struct plimp_symbols *symbols = NULL;
	plim_bytes text = {(const char *)data, size};
	int code = plimp_symbols_perf_map(&symbols, text, &allocator, NULL);
	const char *end;
	size_t asked = 0;

	PROMISE(code == PLIM_OK || code == PLIM_ENAME || code == PLIM_ELIMIT);
	if (code) {
		PROMISE(!symbols);
		return 0;
	}
	for (const char *from = text.data;
	     from < text.data + size && asked++ < 64; from = end + 1) {
		struct line line;

		end = memchr(from, '\n', (size_t)(text.data + size - from));
		if (!end)
			break;
		if (!line_of(from, (size_t)(end - from), &line))
			continue;
		check_at(symbols, text.data, size, line.start);
		check_at(symbols, text.data, size, line.start - 1);
		check_at(symbols, text.data, size, line.start + line.size);
		check_at(symbols, text.data, size, line.start + line.size / 2);
	}
	check_at(symbols, text.data, size, 0);
	check_at(symbols, text.data, size, UINT64_MAX);
	struct plimp_symbols_facts facts = plimp_symbols_facts(symbols);

	PROMISE(facts.pieces && facts.rejected <= facts.seen);
	PROMISE(facts.pieces <= 2 * facts.seen);
	plimp_symbols_free(symbols, &allocator);
	return 0;
}
