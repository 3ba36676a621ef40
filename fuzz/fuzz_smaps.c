/*
 * fuzz_smaps.c - any bytes as smaps_rollup: every size that is told stands in
 * the text, and a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[PLIMP_SMAPS_ROWS] = {"Rss:",
							   "Pss:",
							   "Pss_Dirty:",
							   "Pss_Anon:",
							   "Pss_File:",
							   "Pss_Shmem:",
							   "Shared_Clean:",
							   "Shared_Dirty:",
							   "Private_Clean:",
							   "Private_Dirty:",
							   "Anonymous:",
							   "LazyFree:",
							   "AnonHugePages:",
							   "Shared_Hugetlb:",
							   "Private_Hugetlb:",
							   "Swap:",
							   "SwapPss:",
							   "Locked:"};
	plim_bytes text = {(const char *)data, size};
	struct plimp_smaps poison, smaps;

	/* As one line: it tells one thing or none. */
	memset(&smaps, 0, sizeof(smaps));
	int taken = plimp_decode_smaps_line(text, &smaps);
	PROMISE(taken == (smaps.has != 0) &&
		(smaps.has & (smaps.has - 1)) == 0);
	memset(&poison, 0xa5, sizeof(poison));
	memcpy(&smaps, &poison, sizeof(smaps));
	int result = plimp_decode_smaps(text, &smaps);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK) {
		PROMISE(!memcmp(&smaps, &poison, sizeof(smaps)));
		return 0;
	}
	PROMISE(smaps.has != 0 && smaps.has >> (PLIMP_SMAPS_FLAGS + 1) == 0);
	for (int row = 0; row < PLIMP_SMAPS_ROWS; row++) {
		if ((smaps.has >> row & 1) == 0)
			PROMISE(smaps.bytes[row] == 0);
		else
			PROMISE(smaps.bytes[row] % 1024 == 0 &&
				promise_says(text, keys[row],
					     smaps.bytes[row] / 1024));
	}
	if ((smaps.has >> PLIMP_SMAPS_FLAGS & 1) == 0)
		PROMISE(smaps.flags == 0);
	return 0;
}
