/*
 * musl_pages.c - what of the groups of mallocng takes memory (musl.h).
 *
 * Each outermost group's pages are asked about once, in order of address; the
 * free slots of the groups in it, which follow it in that order, are found
 * among the pages that are known then. Bytes are counted, so that a page with
 * a live neighbour counts for what of it is free.
 */
#include "memory/musl.h"

/* Bytes of [start, end) in resident and in swapped pages are added. */
static int musl_add_range(struct plimp_residency *residency, uint64_t start,
			  uint64_t end, uint64_t *resident, uint64_t *swapped)
{
	uint64_t bytes = residency->image->reader.page_bytes;
	uint64_t last = (end + bytes - 1) & ~(bytes - 1);

	for (uint64_t at = start; at < end;) {
		uint64_t page = at & ~(bytes - 1);
		uint64_t next = page + bytes < end ? page + bytes : end;
		uint8_t flags = 0;
		int status = plimp_residency_at(residency, page, last, &flags);

		if (status < 0)
			return status;
		if (flags & PLIMP_PAGE_RESIDENT)
			*resident += next - at;
		else if (flags & PLIMP_PAGE_SWAPPED)
			*swapped += next - at;
		at = next;
	}
	return PLIM_OK;
}

static int musl_add_free(struct plimp_residency *residency,
			 struct plimp_musl_groups *groups, size_t index,
			 struct plimp_musl_pages *pages)
{
	const struct plimp_musl_group *group = &groups->items[index];
	uint64_t stride = plimp_musl_stride(group);
	uint32_t mask = group->avail | group->freed;
	uint64_t before = pages->free_resident;

	for (unsigned slot = 0; mask != 0; slot++, mask >>= 1) {
		uint64_t start = group->mem + 16 + slot * stride;
		int status;

		if (!(mask & 1))
			continue;
		status =
		    musl_add_range(residency, start, start + stride,
				   &pages->free_resident, &pages->free_swapped);
		if (status < 0)
			return status;
	}
	groups->items[group->top].kept += pages->free_resident - before;
	return PLIM_OK;
}

int plimp_musl_pages(const struct plimp_image *image,
		     struct plimp_musl_groups *groups,
		     struct plimp_musl_pages *pages)
{
	struct plimp_residency residency;

	plimp_residency_init(&residency, image);
	*pages = (struct plimp_musl_pages){0};
	for (size_t i = 0; i < groups->count; i++) {
		const struct plimp_musl_group *group = &groups->items[i];
		int status = PLIM_OK;

		if (!groups->items[group->top].is_mapped)
			continue;
		if (group->bytes != 0)
			status = musl_add_range(
			    &residency, group->mem, group->mem + group->bytes,
			    &pages->resident, &pages->swapped);
		if (status == PLIM_OK)
			status = musl_add_free(&residency, groups, i, pages);
		if (status < 0)
			return status;
	}
	return PLIM_OK;
}
