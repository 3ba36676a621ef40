/*
 * musl_find.c - where a process has mallocng's context (musl.h).
 *
 * The context is static data of the C library: of musl's libc.so, or of a
 * program that musl is linked into. No symbol names it in a stripped file, but
 * it begins with a random secret of 64 bits, and the meta areas that it points
 * to begin with the same. So every aligned place in the writable data of the
 * mapped files is looked at, and one whose flag says "initialised" and whose
 * page-aligned pointer leads to its own first word is it. A false one would
 * have to hold a pointer to a page that it has copied its own bytes to.
 *
 * Writable data is what is mapped private and writable of a file, and the
 * anonymous memory directly behind it (.bss).
 */
#include "memory/musl.h"

#include "memory/sweep.h"

#include <string.h>

/* struct malloc_context; + 8 behind the secret where the page size is in it. */
#define MUSL_INIT_DONE	8u
#define MUSL_AREA_HEAD	56u
#define MUSL_AREA_TAIL	64u
#define MUSL_USAGE	464u
#define MUSL_CONTEXT	928u
#define MUSL_PAGE_FIELD 8u

/* What is looked at of one file's data, and of all. */
#define MUSL_DATA_MOST	(64u << 20)
#define MUSL_TOTAL_MOST (256u << 20)

struct musl_search {
	const struct plimp_image *image;
	struct plimp_musl_place *place;
	uint64_t found; /* address of the context, 0 while there is none */
};

/* struct meta_area: the secret, the next area, the number of records. */
static int musl_is_area(const struct plimp_image *image, uint64_t address,
			uint64_t secret)
{
	uint8_t head[24];
	int status;

	if (address == 0 || address % 4096 != 0)
		return 0;
	status = plimp_fetch(image, address, head, sizeof(head));
	if (status < 0)
		return status;
	if (status != PLIMP_FETCHED)
		return 0;
	return plimp_word64(head) == secret && plimp_word32(head + 16) == 101;
}

/* Could this be a context, by its own bytes alone? */
static int musl_is_likely(const uint8_t *bytes, size_t shift)
{
	uint64_t head = plimp_word64(bytes + MUSL_AREA_HEAD + shift);
	uint64_t tail = plimp_word64(bytes + MUSL_AREA_TAIL + shift);

	if (shift != 0) {
		uint64_t page = plimp_word64(bytes + 8);

		if (page < 4096 || page > 65536 || (page & (page - 1)) != 0)
			return 0;
	}
	return plimp_word32(bytes + MUSL_INIT_DONE + shift) == 1 &&
	       plimp_word64(bytes) != 0 && head != 0 && tail != 0 &&
	       head % 4096 == 0 && tail % 4096 == 0;
}

int plimp_musl_refresh(const struct plimp_image *image,
		       struct plimp_musl_place *place)
{
	uint8_t bytes[MUSL_CONTEXT + MUSL_PAGE_FIELD];
	size_t shift = place->has_page_size ? MUSL_PAGE_FIELD : 0;
	int status =
	    plimp_fetch(image, place->context, bytes, MUSL_CONTEXT + shift);

	if (status < 0)
		return status;
	if (status == PLIMP_FETCH_SWAPPED)
		return PLIMP_MUSL_SWAPPED;
	if (status != PLIMP_FETCHED)
		return PLIMP_MUSL_ABSENT;
	if (!musl_is_likely(bytes, shift))
		return PLIMP_MUSL_CORRUPT;
	place->secret = plimp_word64(bytes);
	place->head = plimp_word64(bytes + MUSL_AREA_HEAD + shift);
	place->tail = plimp_word64(bytes + MUSL_AREA_TAIL + shift);
	for (size_t i = 0; i < PLIMP_MUSL_CLASSES; i++)
		place->usage[i] =
		    plimp_word64(bytes + MUSL_USAGE + shift + 8 * i);
	return PLIMP_MUSL_OK;
}

/* Looks a likely place up: 0 if it is none, 1 if it is, a negative error. */
static int musl_try(struct musl_search *search, uint64_t address, size_t shift)
{
	struct plimp_musl_place place = {.context = address,
					 .has_page_size = shift != 0};
	int status;

	if (search->found == address)
		return 0; /* blocks of a sweep overlap */
	status = plimp_musl_refresh(search->image, &place);
	if (status != PLIMP_MUSL_OK)
		return status < 0 ? status : 0;
	status = musl_is_area(search->image, place.head, place.secret);
	if (status == 1)
		status = musl_is_area(search->image, place.tail, place.secret);
	if (status != 1)
		return status;
	if (search->found != 0)
		return PLIMP_MUSL_SEVERAL;
	search->found = address;
	*search->place = place;
	return 0;
}

static int musl_look(uint64_t address, const uint8_t *bytes, size_t size,
		     void *user)
{
	struct musl_search *search = user;
	const size_t span = MUSL_AREA_TAIL + 8 + MUSL_PAGE_FIELD;

	for (size_t i = 0; i + span <= size; i += 8) {
		for (size_t shift = 0; shift <= MUSL_PAGE_FIELD; shift += 8) {
			int status;

			if (!musl_is_likely(bytes + i, shift))
				continue;
			status = musl_try(search, address + i, shift);
			if (status != 0)
				return status;
		}
	}
	return 0;
}

int plimp_musl_locate(const struct plimp_image *image,
		      struct plimp_musl_place *place)
{
	struct plimp_musl_place found = {0};
	struct musl_search search = {.image = image, .place = &found};
	struct plimp_data data = {0};
	uint64_t left = MUSL_TOTAL_MOST;

	while (left > 0 && plimp_data_next(image->space, &data)) {
		uint64_t size = data.end - data.start;
		int status;

		if (size > MUSL_DATA_MOST)
			size = MUSL_DATA_MOST;
		if (size > left)
			size = left;
		left -= size;
		status = plimp_sweep(image, data.start, data.start + size,
				     musl_look, &search);
		if (status != 0)
			return status;
	}
	if (search.found == 0)
		return PLIMP_MUSL_NONE;
	*place = found;
	return PLIMP_MUSL_OK;
}
