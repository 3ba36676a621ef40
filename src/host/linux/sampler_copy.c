/*
 * sampler_copy.c - the stack of a thread that is not stopped, without bringing
 * in a page.
 *
 * Every page is asked for first, and only those are read that are there: a
 * stack whose pages were swapped out stays so. From 128 bytes below the stack
 * pointer (the red zone) as much is copied as most stacks have; what the
 * unwinder asks for beyond that is fetched in larger steps, and elsewhere by
 * the page. Whatever comes late is told only if the thread's accounts have
 * still not moved: its third number rises each time that it is put on a CPU,
 * so that it has not run between the first look at it and now, and what was
 * read between is of one moment.
 */
#include "host/linux/gnu.h"

#include "core/memory.h"
#include "host/linux/sampler.h"

#include <assert.h>
#include <string.h>

#define COPY_PAGES_MOST 64u

int plimp_copy_open(struct plimp_copy *copy, struct plimp_sampler *sampler)
{
	copy->sampler = sampler;
	copy->bytes =
	    plimp_allocate(&sampler->host->allocator, PLIMP_STACK_MOST + 8, 1);
	return copy->bytes != NULL ? PLIM_OK : PLIM_ENOMEM;
}

void plimp_copy_close(struct plimp_copy *copy)
{
	const plim_allocator *allocator;

	if (copy->sampler == NULL)
		return;
	allocator = &copy->sampler->host->allocator;
	plimp_release(allocator, copy->bytes, PLIMP_STACK_MOST + 8, 1);
	plimp_release(allocator, copy->more, copy->more_capacity, 1);
}

/* How many bytes from `address` on lie in pages that are there, of `size`. */
static size_t copying_present(struct plimp_copy *copy, uint64_t address,
			      size_t size)
{
	uint64_t page_bytes = copy->process->reader.page_bytes;
	uint64_t first = address & ~(page_bytes - 1);
	uint8_t pages[COPY_PAGES_MOST];
	uint64_t end;
	size_t count;
	size_t i;

	if (size == 0 || size > UINT64_MAX - page_bytes - address)
		return 0;
	count = (size_t)((address + size - 1 - first) / page_bytes + 1);
	if (count > COPY_PAGES_MOST)
		count = COPY_PAGES_MOST;
	if (plimp_lens_readable(copy->process->lens, first, count, pages) !=
	    PLIM_OK)
		return 0;
	for (i = 0; i < count; i++)
		if ((pages[i] & PLIMP_PAGE_READABLE) == 0)
			break;
	end = first + i * page_bytes;
	if (end <= address)
		return 0;
	return end - address < size ? (size_t)(end - address) : size;
}

static size_t copying_read(struct plimp_copy *copy, uint64_t address,
			   unsigned char *buffer, size_t size)
{
	const struct plimp_reader *reader = &copy->process->reader;
	size_t copied = 0;

	if (size == 0 || reader->read(reader->user, address, buffer, size,
				      &copied) != PLIM_OK)
		return 0;
	return copied;
}

/* Has what was read just now been read of a thread that sleeps? */
static int copying_is_proven(struct plimp_copy *copy)
{
	if (copy->thread == NULL)
		return 1;
	copy->moved =
	    !plimp_sampled_is_still(copy->sampler, copy->process, copy->thread);
	return !copy->moved;
}

int plimp_copy_begin(struct plimp_copy *copy,
		     struct plimp_sampled_process *process,
		     struct plimp_sampled *thread, uint64_t sp, size_t size)
{
	uint64_t page_bytes = process->reader.page_bytes;
	size_t present;

	assert(size <= PLIMP_STACK_MOST);
	copy->process = process;
	copy->thread = thread;
	copy->size = 0;
	copy->more_size = 0;
	copy->ended = 0;
	copy->moved = 0;
	copy->aside.size = 0;
	copy->code.size = 0;
	if (sp < page_bytes || sp > UINT64_MAX / 2)
		return PLIMP_FAILED_MEMORY;
	copy->low = (sp - PLIMP_RED_ZONE) & ~UINT64_C(7);
	/* To the end of a page, so that no page is asked for in vain. */
	size -= (size_t)((copy->low + size) & (page_bytes - 1));
	if (size < 2 * PLIMP_RED_ZONE)
		size = 2 * PLIMP_RED_ZONE;
	present = copying_present(copy, copy->low, size);
	if (present == 0) {
		/* The page below the stack pointer was never used. */
		copy->low = sp & ~UINT64_C(7);
		present = copying_present(copy, copy->low, size);
	}
	copy->size = copying_read(copy, copy->low, copy->bytes, present);
	copy->ended = copy->size < size;
	copy->sampler->bill.bytes_copied += copy->size;
	return copy->size < 8 ? PLIMP_FAILED_MEMORY : 0;
}

/* Goes on behind what is there, up to `address` and a step beyond. */
static int copying_extend(struct plimp_copy *copy, uint64_t address)
{
	while (!copy->ended) {
		uint64_t end = copy->low + copy->size + copy->more_size;
		void *more = copy->more;
		size_t present;
		size_t got;

		if (address < end && end - address >= 8)
			return 1;
		if (plimp_reserve(&copy->sampler->host->allocator, &more,
				  &copy->more_capacity,
				  copy->more_size + PLIMP_COPY_STEP,
				  PLIMP_COPY_STEP, 1) != PLIM_OK) {
			copy->sampler->problem = PLIM_ENOMEM;
			return 0;
		}
		copy->more = more;
		present = copying_present(copy, end, PLIMP_COPY_STEP);
		got = copying_read(copy, end, copy->more + copy->more_size,
				   present);
		if (!copying_is_proven(copy))
			return 0;
		copy->more_size += got;
		copy->sampler->bill.bytes_copied += got;
		copy->ended = got < PLIMP_COPY_STEP;
	}
	return address <= copy->low + copy->size + copy->more_size - 8;
}

/* Where an address lies in what follows the copy; NULL where it cannot be. */
static const unsigned char *copying_more(struct plimp_copy *copy,
					 uint64_t address)
{
	uint64_t end = copy->low + copy->size;

	if (address < end || address - end > PLIMP_COPY_MOST ||
	    !copying_extend(copy, address))
		return NULL;
	return copy->more + (size_t)(address - end);
}

/* The piece with this address, read anew where it has another one. */
static const unsigned char *copying_piece(struct plimp_copy *copy,
					  struct plimp_copy_piece *piece,
					  uint64_t address, size_t *left)
{
	uint64_t at = address & ~(uint64_t)(PLIMP_COPY_PAGE - 1);

	if (piece->size == 0 || piece->at != at) {
		size_t present = copying_present(copy, at, PLIMP_COPY_PAGE);

		piece->at = at;
		piece->size = copying_read(copy, at, piece->bytes, present);
		copy->sampler->bill.bytes_copied += piece->size;
	}
	if (address - at >= piece->size)
		return NULL;
	*left = piece->size - (size_t)(address - at);
	return piece->bytes + (size_t)(address - at);
}

static int copying_word(void *user, uint64_t address, uint64_t *value)
{
	struct plimp_copy *copy = user;
	const unsigned char *at = NULL;
	size_t left = 8;

	if (copy->moved || address > UINT64_MAX - 8)
		return -1;
	if (address >= copy->low && copy->size >= 8 &&
	    address - copy->low <= copy->size - 8)
		at = copy->bytes + (size_t)(address - copy->low);
	else if (address >= copy->low)
		at = copying_more(copy, address);
	if (at == NULL && !copy->moved) {
		uint64_t was = copy->aside.size == 0 ? 1 : copy->aside.at;

		at = copying_piece(copy, &copy->aside, address, &left);
		if (at != NULL && copy->aside.at != was &&
		    !copying_is_proven(copy))
			at = NULL;
	}
	if (at == NULL || left < 8)
		return -1;
	memcpy(value, at, 8);
	return 0;
}

/* Code does not change, but where it is made on the fly. */
static int copying_take_code(void *user, uint64_t address, void *bytes,
			     size_t size)
{
	struct plimp_copy *copy = user;
	unsigned char *to = bytes;

	if (size > UINT64_MAX - address)
		return -1;
	while (size > 0) {
		size_t left = 0;
		const unsigned char *at =
		    copying_piece(copy, &copy->code, address, &left);

		if (at == NULL)
			return -1;
		if (left > size)
			left = size;
		memcpy(to, at, left);
		to += left;
		address += left;
		size -= left;
	}
	return 0;
}

void plimp_copy_give(struct plimp_copy *copy, struct plimp_stack_bytes *stack)
{
	stack->low = copy->low;
	stack->bytes = copy->bytes;
	stack->size = copy->size;
	stack->is_cut = !copy->ended;
	/* Counts of switches prove nothing of a thread that runs just now. */
	stack->word = copy->thread != NULL && !copy->sampler->by_switches
			  ? copying_word
			  : NULL;
	stack->code = copying_take_code;
	stack->user = copy;
}

void plimp_copy_code(struct plimp_copy *copy,
		     struct plimp_sampled_process *process,
		     struct plimp_stack_bytes *stack)
{
	if (copy->process != process)
		copy->code.size = 0;
	copy->process = process;
	copy->thread = NULL;
	stack->code = copying_take_code;
	stack->user = copy;
}
