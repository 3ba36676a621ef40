/*
 * sweep.c - reading memory that is there, and none that is not (sweep.h).
 */
#include "memory/sweep.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

/* Pages that one question is about. */
#define SWEEP_PAGES 512u

struct sweep_state {
	const struct plimp_image *image;
	plimp_sweep_fn *callback;
	void *user;
	uint8_t *block;
	size_t kept;   /* bytes at the block's start from the one before */
	uint64_t next; /* where what adjoins the last block begins */
};

int plimp_fetch(const struct plimp_image *image, uint64_t address, void *buffer,
		size_t size)
{
	uint8_t pages[PLIMP_FETCH_MOST / 4096 + 2];
	uint64_t page = image->reader.page_bytes;
	uint64_t first = address & ~(page - 1);
	size_t count;
	size_t copied;
	int status;

	assert(size <= PLIMP_FETCH_MOST && page >= 4096);
	if (size == 0)
		return PLIMP_FETCHED;
	if (address > UINT64_MAX - page - size)
		return PLIMP_FETCH_ABSENT;
	count = (size_t)((address + size - first + page - 1) / page);
	status = image->reader.pages(image->reader.user, first, count, pages);
	if (status < 0)
		return status;
	for (size_t i = 0; i < count; i++) {
		if (pages[i] & PLIMP_PAGE_SWAPPED)
			return PLIMP_FETCH_SWAPPED;
		if (!(pages[i] & PLIMP_PAGE_READABLE))
			return PLIMP_FETCH_ABSENT;
	}
	status = image->reader.read(image->reader.user, address, buffer, size,
				    &copied);
	if (status < 0)
		return status;
	return copied == size ? PLIMP_FETCHED : PLIMP_FETCH_ABSENT;
}

/* The bytes from `start` to `end`, which were readable just now. */
static int sweep_run(struct sweep_state *state, uint64_t start, uint64_t end)
{
	const struct plimp_reader *reader = &state->image->reader;

	if (start != state->next)
		state->kept = 0;
	while (start < end) {
		size_t room = PLIMP_SWEEP_BLOCK - state->kept;
		size_t want = end - start < room ? (size_t)(end - start) : room;
		size_t copied = 0;
		size_t size;
		int status;

		status =
		    reader->read(reader->user, start,
				 state->block + state->kept, want, &copied);
		if (status < 0)
			return status;
		if (copied == 0)
			return 0;
		size = state->kept + copied;
		status = state->callback(start - state->kept, state->block,
					 size, state->user);
		if (status != 0)
			return status;
		if (copied < want)
			return 0;
		start += copied;
		state->next = start;
		state->kept =
		    size < PLIMP_SWEEP_OVERLAP ? size : PLIMP_SWEEP_OVERLAP;
		memmove(state->block, state->block + size - state->kept,
			state->kept);
	}
	return 0;
}

/* The runs of readable pages among `count` pages from `start` on. */
static int sweep_pages(struct sweep_state *state, uint64_t start,
		       const uint8_t *pages, size_t count)
{
	uint64_t bytes = state->image->reader.page_bytes;
	size_t first = 0;

	for (size_t i = 0; i <= count; i++) {
		int readable = i < count && (pages[i] & PLIMP_PAGE_READABLE);

		/* Zeros are readable, and hold nothing to be found. */
		if (readable && !(pages[i] & PLIMP_PAGE_ZERO))
			continue;
		if (i > first) {
			int status = sweep_run(state, start + first * bytes,
					       start + i * bytes);

			if (status != 0)
				return status;
		}
		first = i + 1;
	}
	return 0;
}

static int sweep_range(struct sweep_state *state, uint64_t start, uint64_t end)
{
	const struct plimp_reader *reader = &state->image->reader;
	uint8_t pages[SWEEP_PAGES];

	while (start < end) {
		uint64_t left = (end - start) / reader->page_bytes;
		size_t count = left < SWEEP_PAGES ? (size_t)left : SWEEP_PAGES;
		int status;

		if (count == 0)
			return 0;
		status = reader->pages(reader->user, start, count, pages);
		if (status == 0)
			status = sweep_pages(state, start, pages, count);
		if (status != 0)
			return status;
		start += (uint64_t)count * reader->page_bytes;
	}
	return 0;
}

int plimp_sweep(const struct plimp_image *image, uint64_t start, uint64_t end,
		plimp_sweep_fn *callback, void *user)
{
	struct sweep_state state = {
	    .image = image, .callback = callback, .user = user};
	int status;

	assert(start % image->reader.page_bytes == 0);
	state.block = plimp_allocate(image->allocator, PLIMP_SWEEP_BLOCK, 1);
	if (state.block == NULL)
		return PLIM_ENOMEM;
	status = sweep_range(&state, start, end);
	plimp_release(image->allocator, state.block, PLIMP_SWEEP_BLOCK, 1);
	return status;
}

static int data_is_writable(const struct plimp_mapping *mapping)
{
	const uint32_t need = PLIMP_MAY_READ | PLIMP_MAY_WRITE;

	return (mapping->protection & need) == need &&
	       !(mapping->protection & PLIMP_IS_SHARED);
}

/* Is the mapping at `index` memory that a file's segment goes on with? Then
 * `*file` is the last mapping of that file. */
static int data_is_behind(const struct plimp_space *space, size_t index,
			  size_t *file)
{
	while (index > 0) {
		const struct plimp_mapping *here = &space->items[index];
		const struct plimp_mapping *before = &space->items[index - 1];

		if (here->inode != 0 || here->name_size != 0 ||
		    here->start != before->end)
			return 0;
		if (before->inode != 0) {
			*file = index - 1;
			return 1;
		}
		index--;
	}
	return 0;
}

int plimp_data_next(const struct plimp_space *space, struct plimp_data *data)
{
	for (size_t i = data->next; i < space->count; i++) {
		const struct plimp_mapping *mapping = &space->items[i];
		size_t file = i;

		if (!data_is_writable(mapping))
			continue;
		if (mapping->inode == 0 && !data_is_behind(space, i, &file))
			continue;
		data->start = mapping->start;
		data->end = mapping->end;
		data->mapping = i;
		data->file = file;
		data->next = i + 1;
		return 1;
	}
	data->next = space->count;
	return 0;
}
