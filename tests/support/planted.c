/*
 * planted.c - made-up memory; see planted.h.
 */
#include "planted.h"

#include <stdlib.h>
#include <string.h>

static struct planted_area *planted_find(struct planted *planted,
					 uint64_t address)
{
	for (size_t i = 0; i < planted->count; i++) {
		struct planted_area *area = &planted->areas[i];

		if (address >= area->address &&
		    address - area->address < area->size)
			return area;
	}
	return NULL;
}

static int planted_fails(struct planted *planted)
{
	if (planted->fail_after < 0)
		return 0;
	if (planted->fail_after > 0) {
		planted->fail_after--;
		return 0;
	}
	return 1;
}

static int planted_pages(void *user, uint64_t address, size_t count,
			 uint8_t *pages)
{
	struct planted *planted = user;

	planted->page_calls++;
	if (planted_fails(planted))
		return planted->fail_code;
	for (size_t i = 0; i < count; i++) {
		uint64_t page = address + i * PLANTED_PAGE;
		struct planted_area *area = planted_find(planted, page);

		pages[i] = 0;
		if (area != NULL)
			pages[i] =
			    area->pages[(page - area->address) / PLANTED_PAGE];
	}
	return PLIM_OK;
}

static int planted_read(void *user, uint64_t address, void *buffer, size_t size,
			size_t *copied)
{
	struct planted *planted = user;
	uint8_t *out = buffer;

	planted->read_calls++;
	if (planted_fails(planted))
		return planted->fail_code;
	*copied = 0;
	if (size > planted->most_read)
		planted->most_read = size;
	while (*copied < size) {
		uint64_t at = address + *copied;
		struct planted_area *area = planted_find(planted, at);
		size_t part = PLANTED_PAGE - (size_t)(at % PLANTED_PAGE);
		size_t offset;

		if (area == NULL)
			break;
		offset = (size_t)(at - area->address);
		if ((area->pages[offset / PLANTED_PAGE] &
		     PLIMP_PAGE_READABLE) == 0)
			planted->violated = 1;
		if (part > size - *copied)
			part = size - *copied;
		memcpy(out + *copied, area->bytes + offset, part);
		*copied += part;
	}
	if (*copied < size)
		planted->violated = 1;
	planted->bytes_read += *copied;
	return PLIM_OK;
}

void planted_begin(struct planted *planted)
{
	memset(planted, 0, sizeof(*planted));
	planted->fail_after = -1;
	planted->fail_code = PLIM_ENOPROCESS;
}

void planted_end(struct planted *planted)
{
	for (size_t i = 0; i < planted->count; i++) {
		free(planted->areas[i].bytes);
		free(planted->areas[i].pages);
	}
	planted_begin(planted);
}

uint8_t *planted_add(struct planted *planted, uint64_t address, size_t size,
		     const char *name)
{
	struct planted_area *area = &planted->areas[planted->count];
	struct plimp_mapping *mapping = &planted->mappings[planted->count];
	size_t at = planted->count * 32;

	if (planted->count == PLANTED_AREAS || size == 0 ||
	    size % PLANTED_PAGE != 0 || address % PLANTED_PAGE != 0)
		abort();
	area->address = address;
	area->size = size;
	area->bytes = calloc(1, size);
	area->pages = malloc(size / PLANTED_PAGE);
	if (area->bytes == NULL || area->pages == NULL)
		abort();
	memset(area->pages, PLANTED_USUAL, size / PLANTED_PAGE);
	strncpy(planted->names + at, name, 31);
	*mapping = (struct plimp_mapping){
	    .start = address,
	    .end = address + size,
	    .protection = PLIMP_MAY_READ | PLIMP_MAY_WRITE,
	    .name_start = at,
	    .name_size = strlen(name),
	};
	planted->count++;
	return area->bytes;
}

uint8_t *planted_at(struct planted *planted, uint64_t address)
{
	struct planted_area *area = planted_find(planted, address);

	return area == NULL ? NULL : area->bytes + (address - area->address);
}

void planted_page(struct planted *planted, uint64_t address, unsigned flags)
{
	struct planted_area *area = planted_find(planted, address);

	if (area == NULL)
		abort();
	area->pages[(address - area->address) / PLANTED_PAGE] = (uint8_t)flags;
}

static void planted_bytes(struct planted *planted, uint64_t address,
			  uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++) {
		uint8_t *byte = planted_at(planted, address + i);

		if (byte == NULL)
			abort();
		*byte = (uint8_t)(value >> (8 * i));
	}
}

void planted_u64(struct planted *planted, uint64_t address, uint64_t value)
{
	planted_bytes(planted, address, value, 8);
}

void planted_u32(struct planted *planted, uint64_t address, uint32_t value)
{
	planted_bytes(planted, address, value, 4);
}

void planted_u16(struct planted *planted, uint64_t address, uint16_t value)
{
	planted_bytes(planted, address, value, 2);
}

void planted_image(struct planted *planted, struct plimp_image *image)
{
	planted->space = (struct plimp_space){
	    .items = planted->mappings,
	    .count = planted->count,
	    .capacity = planted->count,
	    .texts = {planted->names, sizeof(planted->names),
		      sizeof(planted->names)},
	};
	*image = (struct plimp_image){
	    .allocator = &planted->allocator,
	    .reader = {.page_bytes = PLANTED_PAGE,
		       .has_residency = 1,
		       .pages = planted_pages,
		       .read = planted_read,
		       .user = planted},
	    .space = &planted->space,
	    .machine = 62,
	};
}
