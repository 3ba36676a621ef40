/*
 * fuzz_pagemap.c - any bytes as entries of pagemap and as regions: a page is
 * one of the few things that a page can be, regions ascend and end.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <stdlib.h>
#include <string.h>

static void entries(plim_bytes bytes, uint64_t zero_frame)
{
	uint8_t *pages = malloc(bytes.size / 8 + 1);
	int doubtful = 0;

	memset(pages, 0xff, bytes.size / 8 + 1);
	int result = plimp_decode_pagemap(bytes, zero_frame, pages);
	if (bytes.size % 8 != 0) {
		PROMISE(result == PLIM_EMALFORMED);
		free(pages);
		return;
	}
	for (size_t i = 0; i < bytes.size / 8; i++) {
		const int who = PLIMP_PAGE_EXCLUSIVE | PLIMP_PAGE_SHARED;
		int page = pages[i];

		PROMISE((page & who) != who);
		PROMISE((page & PLIMP_PAGE_HUGE) == 0);
		if (page & PLIMP_PAGE_SWAPPED)
			PROMISE((page & PLIMP_PAGE_READABLE) == 0);
		if (page & (PLIMP_PAGE_RESIDENT | PLIMP_PAGE_ZERO))
			PROMISE(page & PLIMP_PAGE_READABLE);
		if (page & PLIMP_PAGE_ZERO)
			PROMISE(zero_frame != 0 &&
				!(page & PLIMP_PAGE_RESIDENT));
		doubtful |= page == PLIMP_PAGE_READABLE;
	}
	PROMISE(result == doubtful);
	PROMISE(pages[bytes.size / 8] == 0xff);
	free(pages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes bytes = {(const char *)data, size};
	struct plimp_page_run region;
	uint64_t at = 0;
	uint64_t before = 0;
	size_t offset = 0;
	size_t count = 0;
	int result;

	entries(bytes, 0);
	if (size > 8) {
		uint64_t frame;

		memcpy(&frame, data, 8);
		entries((plim_bytes){bytes.data + 8, size - 8},
			frame & ((UINT64_C(1) << 55) - 1));
	}
	while ((result = plimp_decode_region(bytes, &offset, &at, &region)) ==
	       1) {
		PROMISE(region.start >= before && region.end > region.start);
		PROMISE(at == region.end);
		before = at;
		count++;
	}
	PROMISE(result == 0 || result == PLIM_EMALFORMED);
	PROMISE(offset == count * PLIMP_REGION_SIZE);
	if (result == 0)
		PROMISE(offset == size);
	return 0;
}
