/*
 * window.c - reads of a process's memory that touch nothing (image.h).
 *
 * Before a page is read it is asked what it is; one that is not readable is
 * remembered as unreachable, so that a list that leads there again costs
 * nothing. A reader may give fewer bytes than were asked for, where a page went
 * away in between: what came is used, the rest is unreachable.
 */
#include "memory/image.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

static size_t image_page_bytes(const struct plimp_image *image)
{
	return image->reader.page_bytes;
}

static int image_has_pages(const struct plimp_image *image)
{
	size_t bytes = image_page_bytes(image);

	return bytes >= PLIMP_PAGE_LEAST && bytes <= PLIMP_PAGE_MOST &&
	       (bytes & (bytes - 1)) == 0;
}

int plimp_window_open(struct plimp_window *window,
		      const struct plimp_image *image)
{
	size_t size = image_page_bytes(image);
	uint8_t *bytes;
	uint64_t *pages;

	if (!image_has_pages(image))
		return PLIM_EUNSUPPORTED;
	bytes = plimp_allocate(image->allocator, PLIMP_WINDOW_PAGES, size);
	if (bytes == NULL)
		return PLIM_ENOMEM;
	pages = plimp_allocate(image->allocator, PLIMP_WINDOW_PAGES,
			       sizeof(*pages));
	if (pages == NULL) {
		plimp_release(image->allocator, bytes, PLIMP_WINDOW_PAGES,
			      size);
		return PLIM_ENOMEM;
	}
	*window = (struct plimp_window){
	    .image = image, .bytes = bytes, .pages = pages};
	return PLIM_OK;
}

void plimp_window_close(struct plimp_window *window)
{
	if (window->image == NULL)
		return;
	plimp_release(window->image->allocator, window->bytes,
		      PLIMP_WINDOW_PAGES, image_page_bytes(window->image));
	plimp_release(window->image->allocator, window->pages,
		      PLIMP_WINDOW_PAGES, sizeof(*window->pages));
	*window = (struct plimp_window){0};
}

void plimp_window_forget(struct plimp_window *window)
{
	memset(window->pages, 0, PLIMP_WINDOW_PAGES * sizeof(*window->pages));
}

/* Reads the page into its place. The low bit marks one that is unreachable;
 * page 0 is never asked for, since a key of 0 is an empty place. */
static int window_fill(struct plimp_window *window, size_t slot, uint64_t page)
{
	const struct plimp_reader *reader = &window->image->reader;
	size_t size = reader->page_bytes;
	size_t copied = 0;
	uint8_t flags = 0;
	int code;

	window->pages[slot] = 0;
	window->loads++;
	code = reader->pages(reader->user, page, 1, &flags);
	if (code != PLIM_OK)
		return code;
	if ((flags & PLIMP_PAGE_READABLE) != 0) {
		code = reader->read(reader->user, page,
				    window->bytes + slot * size, size, &copied);
		if (code != PLIM_OK)
			return code;
	}
	window->pages[slot] = copied == size ? page : page | 1;
	return PLIM_OK;
}

static int window_page(struct plimp_window *window, uint64_t page,
		       const uint8_t **bytes)
{
	size_t size = image_page_bytes(window->image);
	size_t slot = (size_t)(page / size) & (PLIMP_WINDOW_PAGES - 1);
	int code;

	if (page == 0)
		return PLIMP_UNREACHED;
	if ((window->pages[slot] & ~(uint64_t)1) != page) {
		code = window_fill(window, slot, page);
		if (code != PLIM_OK)
			return code;
	}
	if (window->pages[slot] != page)
		return PLIMP_UNREACHED;
	*bytes = window->bytes + slot * size;
	return PLIMP_REACHED;
}

int plimp_window_read(struct plimp_window *window, uint64_t address,
		      void *buffer, size_t size)
{
	size_t page_bytes = image_page_bytes(window->image);
	uint8_t *out = buffer;

	if (size > UINT64_MAX - address)
		return PLIMP_UNREACHED;
	while (size > 0) {
		size_t offset = (size_t)(address & (page_bytes - 1));
		size_t part = page_bytes - offset;
		const uint8_t *bytes;
		int code = window_page(window, address - offset, &bytes);

		if (code != PLIMP_REACHED)
			return code;
		if (part > size)
			part = size;
		memcpy(out, bytes + offset, part);
		out += part;
		address += part;
		size -= part;
	}
	return PLIMP_REACHED;
}

int plimp_window_u64(struct plimp_window *window, uint64_t address,
		     uint64_t *value)
{
	uint8_t bytes[8];
	int code = plimp_window_read(window, address, bytes, sizeof(bytes));

	if (code == PLIMP_REACHED)
		*value = plimp_word64(bytes);
	return code;
}

int plimp_window_u32(struct plimp_window *window, uint64_t address,
		     uint32_t *value)
{
	uint8_t bytes[4];
	int code = plimp_window_read(window, address, bytes, sizeof(bytes));

	if (code == PLIMP_REACHED)
		*value = plimp_word32(bytes);
	return code;
}

int plimp_window_u16(struct plimp_window *window, uint64_t address,
		     uint16_t *value)
{
	uint8_t bytes[2];
	int code = plimp_window_read(window, address, bytes, sizeof(bytes));

	if (code == PLIMP_REACHED)
		*value = plimp_word16(bytes);
	return code;
}

void plimp_residency_init(struct plimp_residency *residency,
			  const struct plimp_image *image)
{
	residency->image = image;
	residency->start = 0;
	residency->count = 0;
	residency->asked = 0;
}

int plimp_residency_at(struct plimp_residency *residency, uint64_t page,
		       uint64_t end, uint8_t *flags)
{
	const struct plimp_reader *reader = &residency->image->reader;
	uint64_t bytes = reader->page_bytes;
	uint64_t index = (page - residency->start) / bytes;
	uint64_t count = PLIMP_RESIDENCY_PAGES;
	int code;

	assert(page % bytes == 0);
	if (page >= residency->start && index < residency->count) {
		*flags = residency->pages[index];
		return PLIM_OK;
	}
	if (end <= page)
		count = 1;
	else if ((end - page + bytes - 1) / bytes < count)
		count = (end - page + bytes - 1) / bytes;
	residency->count = 0;
	code =
	    reader->pages(reader->user, page, (size_t)count, residency->pages);
	if (code != PLIM_OK)
		return code;
	residency->start = page;
	residency->count = (size_t)count;
	residency->asked += count;
	*flags = residency->pages[0];
	return PLIM_OK;
}

/* Two pages at least: what is asked for may lie across a border. */
static size_t span_capacity(const struct plimp_image *image)
{
	size_t two = 2 * image_page_bytes(image);

	return two > PLIMP_SPAN_BYTES ? two : PLIMP_SPAN_BYTES;
}

int plimp_span_open(struct plimp_span *span, const struct plimp_image *image,
		    struct plimp_residency *residency)
{
	uint8_t *bytes;

	if (!image_has_pages(image))
		return PLIM_EUNSUPPORTED;
	bytes = plimp_allocate(image->allocator, span_capacity(image), 1);
	if (bytes == NULL)
		return PLIM_ENOMEM;
	*span = (struct plimp_span){
	    .image = image,
	    .residency = residency,
	    .bytes = bytes,
	    .want = span_capacity(image),
	};
	return PLIM_OK;
}

void plimp_span_close(struct plimp_span *span)
{
	if (span->image == NULL)
		return;
	plimp_release(span->image->allocator, span->bytes,
		      span_capacity(span->image), 1);
	*span = (struct plimp_span){0};
}

void plimp_span_forget(struct plimp_span *span)
{
	span->size = 0;
}

/* Twice as much where every page was used and the next one is wanted, half
 * where half were not. */
static void span_adapt(struct plimp_span *span, uint64_t page)
{
	size_t page_bytes = image_page_bytes(span->image);
	size_t pages = span->size / page_bytes;

	if (pages == 0)
		return;
	if (2 * span->uses <= pages && span->want > page_bytes)
		span->want /= 2;
	else if (span->uses >= pages && page == span->start + span->size &&
		 span->want < span_capacity(span->image))
		span->want *= 2;
	span->uses = 0;
}

/* How many bytes from `page` on are readable in one run, up to `want`. */
static int span_run(struct plimp_span *span, uint64_t page, size_t want,
		    uint64_t end, size_t *size)
{
	size_t page_bytes = image_page_bytes(span->image);

	*size = 0;
	while (*size < want && (*size == 0 || page + *size < end)) {
		uint8_t flags;
		int code = plimp_residency_at(span->residency, page + *size,
					      end, &flags);

		if (code != PLIM_OK)
			return code;
		if ((flags & PLIMP_PAGE_READABLE) == 0)
			break;
		*size += page_bytes;
	}
	return PLIM_OK;
}

int plimp_span_load(struct plimp_span *span, uint64_t address, size_t size,
		    uint64_t end, const uint8_t **bytes)
{
	const struct plimp_reader *reader = &span->image->reader;
	size_t page_bytes = reader->page_bytes;
	uint64_t page = address & ~(uint64_t)(page_bytes - 1);
	size_t needed = (size_t)(address - page) + size;
	size_t want;
	size_t copied = 0;
	int code;

	assert(size > 0 && size <= page_bytes);
	if (address >= end || end - address < size)
		return PLIMP_UNREACHED;
	span_adapt(span, page);
	span->size = 0;
	want = span->want;
	if (want < needed)
		want = 2 * page_bytes;
	code = span_run(span, page, want, end, &want);
	if (code != PLIM_OK)
		return code;
	if (want < needed)
		return PLIMP_UNREACHED;
	code = reader->read(reader->user, page, span->bytes, want, &copied);
	if (code != PLIM_OK)
		return code;
	span->loads++;
	span->start = page;
	span->size = copied > want ? 0 : copied;
	if (span->size < needed)
		return PLIMP_UNREACHED;
	span->uses++;
	*bytes = span->bytes + (address - page);
	return PLIMP_REACHED;
}
