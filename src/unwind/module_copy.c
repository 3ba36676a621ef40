/*
 * module_copy.c - a copy of those pages of a module that hold no code: of a
 * file that cannot be had any more its headers, its unwinding tables and its
 * dynamic symbols; of the vDSO everything.
 *
 * It is made at once, since the process may be gone when names are wanted, and
 * only of pages that are resident: reading another one would bring it in, in
 * somebody else's process. What is missing reads as not there, so that a table
 * that lies in it is left out and nothing is taken for zeros.
 */
#include "core/memory.h"
#include "unwind/module_parts.h"

#include <assert.h>
#include <string.h>

enum {
	MODULE_COPY_RUN = 64
}; /* pages that are asked about and read at a time */

static int module_copy_pages(void *user, uint64_t address, size_t count,
			     uint8_t *pages)
{
	const struct plimp_module_copy *copy = user;
	uint64_t first = (address - copy->base) / copy->reader.page_bytes;
	size_t i;

	for (i = 0; i < count; i++)
		pages[i] = address >= copy->base && first < copy->page_count &&
				   i < copy->page_count - first &&
				   copy->places[first + i] != 0
			       ? PLIMP_PAGE_READABLE
			       : 0;
	return PLIM_OK;
}

static int module_copy_read(void *user, uint64_t address, void *buffer,
			    size_t size, size_t *copied)
{
	const struct plimp_module_copy *copy = user;
	const uint64_t page = copy->reader.page_bytes;
	size_t got = 0;

	while (got < size && address >= copy->base) {
		uint64_t at = address + got - copy->base;
		uint64_t index = at / page;
		size_t part = (size_t)(page - at % page);

		if (index >= copy->page_count || copy->places[index] == 0)
			break;
		if (part > size - got)
			part = size - got;
		memcpy((uint8_t *)buffer + got,
		       copy->bytes +
			   (size_t)(copy->places[index] - 1) * (size_t)page +
			   at % page,
		       part);
		got += part;
	}
	*copied = got;
	return PLIM_OK;
}

/* Takes a run of readable pages; fewer come where one went away. */
static int module_copy_take(struct plimp_module_copy *copy,
			    const plim_allocator *allocator,
			    const struct plimp_reader *reader, uint64_t address,
			    size_t count)
{
	const size_t page = reader->page_bytes;
	uint64_t first = (address - copy->base) / page;
	void *bytes = copy->bytes;
	size_t copied = 0;
	size_t i;
	int code;

	if (copy->bytes_count + count > PLIMP_OBJECT_COPY_BYTES / page)
		return PLIM_OK;
	if (plimp_reserve(allocator, &bytes, &copy->bytes_room,
			  copy->bytes_count + count, 16, page) != PLIM_OK)
		return PLIM_ENOMEM;
	copy->bytes = bytes;
	code = reader->read(reader->user, address,
			    copy->bytes + copy->bytes_count * page,
			    count * page, &copied);
	if (code != PLIM_OK)
		return code;
	for (i = 0; i < copied / page; i++)
		copy->places[first + i] = (uint32_t)(++copy->bytes_count);
	return PLIM_OK;
}

/* What is resident of [start, end). */
static int module_copy_range(struct plimp_module_copy *copy,
			     const plim_allocator *allocator,
			     const struct plimp_reader *reader, uint64_t start,
			     uint64_t end)
{
	const uint64_t page = reader->page_bytes;
	uint8_t pages[MODULE_COPY_RUN];

	while (start < end) {
		size_t count = (end - start) / page < MODULE_COPY_RUN
				   ? (size_t)((end - start) / page)
				   : MODULE_COPY_RUN;
		size_t from, to;
		int code = reader->pages(reader->user, start, count, pages);

		for (from = 0; code == PLIM_OK && from < count; from = to + 1) {
			for (to = from; to < count &&
					(pages[to] & PLIMP_PAGE_READABLE) != 0;
			     to++)
				;
			if (to > from)
				code = module_copy_take(copy, allocator, reader,
							start + from * page,
							to - from);
		}
		if (code != PLIM_OK)
			return code;
		start += count * page;
	}
	return PLIM_OK;
}

static int module_copy_mappings(struct plimp_module_copy *copy,
				const plim_allocator *allocator,
				const struct plimp_reader *reader,
				const struct plimp_space *space, uint64_t end,
				int with_code)
{
	size_t i;
	int code = PLIM_OK;

	for (i = 0; code == PLIM_OK && i < space->count; i++) {
		const struct plimp_mapping *mapping = &space->items[i];
		uint64_t start =
		    mapping->start > copy->base ? mapping->start : copy->base;
		uint64_t stop = mapping->end < end ? mapping->end : end;

		if ((mapping->protection & PLIMP_MAY_READ) == 0 ||
		    start >= stop)
			continue;
		if ((mapping->protection & PLIMP_MAY_EXECUTE) != 0 &&
		    !with_code)
			continue;
		code = module_copy_range(copy, allocator, reader, start, stop);
	}
	return code;
}

int plimp_module_copy(struct plimp_module_copy **copy,
		      const plim_allocator *allocator,
		      const struct plimp_reader *reader,
		      const struct plimp_space *space, uint64_t base,
		      uint64_t end, int with_code)
{
	const uint64_t page = reader->page_bytes;
	struct plimp_module_copy *made;
	int code;

	assert(base % page == 0 && end % page == 0 && base < end);
	if (end - base > PLIMP_MODULE_SPAN)
		return PLIM_ELIMIT;
	made = plimp_allocate(allocator, 1, sizeof *made);
	if (made == NULL)
		return PLIM_ENOMEM;
	made->reader.page_bytes = reader->page_bytes;
	made->reader.pages = module_copy_pages;
	made->reader.read = module_copy_read;
	made->reader.user = made;
	made->base = base;
	made->page_count = (size_t)((end - base) / page);
	made->places =
	    plimp_allocate(allocator, made->page_count, sizeof *made->places);
	code = made->places == NULL
		   ? PLIM_ENOMEM
		   : module_copy_mappings(made, allocator, reader, space, end,
					  with_code);
	if (code != PLIM_OK) {
		plimp_module_copy_free(made, allocator);
		return code;
	}
	*copy = made;
	return PLIM_OK;
}

void plimp_module_copy_free(struct plimp_module_copy *copy,
			    const plim_allocator *allocator)
{
	if (copy == NULL)
		return;
	plimp_release(allocator, copy->bytes, copy->bytes_room,
		      copy->reader.page_bytes);
	plimp_release(allocator, copy->places,
		      copy->places == NULL ? 0 : copy->page_count,
		      sizeof *copy->places);
	plimp_release(allocator, copy, 1, sizeof *copy);
}
