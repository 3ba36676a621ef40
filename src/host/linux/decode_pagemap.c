/*
 * decode_pagemap.c - what the page tables say of each page: entries of
 * /proc/PID/pagemap, and the regions that PAGEMAP_SCAN stores. Both are in
 * fs/proc/task_mmu.c; Documentation/admin-guide/mm/pagemap.rst lists the bits.
 *
 * A guard page (MADV_GUARD_INSTALL) looks like one in swap and holds nothing:
 * it is no page. The zero page has no bit in pagemap. It is present and
 * neither a file's nor exclusive, which is also what a page looks like that
 * is shared after a fork; only its frame, which root alone is told, or
 * PAGEMAP_SCAN tells one from the other.
 */
#include "host/linux/decode.h"

#include <string.h>

#define PAGEMAP_FRAME	  ((UINT64_C(1) << 55) - 1)
#define PAGEMAP_EXCLUSIVE (UINT64_C(1) << 56) /* Linux 4.2 */
#define PAGEMAP_GUARD	  (UINT64_C(1) << 58) /* Linux 6.15 */
#define PAGEMAP_FILE	  (UINT64_C(1) << 61)
#define PAGEMAP_SWAPPED	  (UINT64_C(1) << 62)
#define PAGEMAP_PRESENT	  (UINT64_C(1) << 63)

/* A present page of which nothing says that it is not the zero page. */
static uint8_t pagemap_doubtful(uint64_t entry, uint64_t zero_frame)
{
	uint64_t frame = entry & PAGEMAP_FRAME;

	if (frame == 0 || zero_frame == 0)
		return PLIMP_PAGE_READABLE;
	return frame == zero_frame ? PLIMP_PAGE_READABLE | PLIMP_PAGE_ZERO
				   : PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT |
					 PLIMP_PAGE_SHARED;
}

static uint8_t pagemap_page(uint64_t entry, uint64_t zero_frame)
{
	uint8_t page = PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT;

	if ((entry & PAGEMAP_PRESENT) == 0) {
		if ((entry & PAGEMAP_SWAPPED) == 0 ||
		    (entry & PAGEMAP_GUARD) != 0)
			return 0;
		return (entry & PAGEMAP_FILE) != 0
			   ? PLIMP_PAGE_SWAPPED | PLIMP_PAGE_FILE
			   : PLIMP_PAGE_SWAPPED;
	}
	if ((entry & (PAGEMAP_EXCLUSIVE | PAGEMAP_FILE)) == 0)
		return pagemap_doubtful(entry, zero_frame);
	page |= (entry & PAGEMAP_EXCLUSIVE) != 0 ? PLIMP_PAGE_EXCLUSIVE
						 : PLIMP_PAGE_SHARED;
	if ((entry & PAGEMAP_FILE) != 0)
		page |= PLIMP_PAGE_FILE;
	return page;
}

int plimp_decode_pagemap(plim_bytes entries, uint64_t zero_frame,
			 uint8_t *pages)
{
	size_t count = entries.size / 8;
	int doubtful = 0;
	size_t i;

	if (entries.size % 8 != 0)
		return PLIM_EMALFORMED;
	for (i = 0; i < count; i++) {
		uint64_t entry;

		memcpy(&entry, entries.data + i * 8, sizeof entry);
		pages[i] = pagemap_page(entry, zero_frame);
		doubtful |= pages[i] == PLIMP_PAGE_READABLE;
	}
	return doubtful;
}

int plimp_decode_region(plim_bytes regions, size_t *offset, uint64_t *at,
			struct plimp_page_run *region)
{
	struct plimp_page_run found;
	uint64_t words[3];

	if (*offset >= regions.size)
		return 0;
	if (regions.size - *offset < sizeof words)
		return PLIM_EMALFORMED;
	memcpy(words, regions.data + *offset, sizeof words);
	found.start = words[0];
	found.end = words[1];
	found.categories = words[2];
	if (found.start < *at || found.end <= found.start)
		return PLIM_EMALFORMED;
	*offset += sizeof words;
	*at = found.end;
	*region = found;
	return 1;
}
