/*
 * fuzz_mac_rusage.c - any bytes as an answer of proc_pid_rusage(): the first
 * byte is the version, the rest the answer. What is taken has the size of its
 * version, and one version tells what the next one tells of the same bytes.
 */
#include "host/macos/decode.h"
#include "promise.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plimp_mac_rusage found;
	struct plimp_mac_rusage poison;
	struct plimp_mac_rusage least;
	plim_bytes bytes = {(const char *)data + 1, size - 1};
	int flavour;
	int result;

	if (size == 0)
		return 0;
	flavour = data[0] % 10 - 1;
	memset(&poison, 0xa5, sizeof(poison));
	found = poison;
	result = plimp_decode_mac_rusage(bytes, flavour, &found);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK) {
		PROMISE(!memcmp(&found, &poison, sizeof(found)));
		return 0;
	}
	PROMISE(flavour >= 2 && flavour <= 6);
	PROMISE(size - 1 == plimp_mac_rusage_size(flavour));
	PROMISE(found.user_ticks + found.system_ticks >= found.user_ticks);
	PROMISE(found.has_peak == (flavour >= 4));
	bytes.size = plimp_mac_rusage_size(2);
	PROMISE(plimp_decode_mac_rusage(bytes, 2, &least) == PLIM_OK);
	PROMISE(least.interrupt_wakeups == found.interrupt_wakeups &&
		least.footprint_bytes == found.footprint_bytes &&
		least.exit_ticks == found.exit_ticks &&
		least.disk_written_bytes == found.disk_written_bytes);
	PROMISE(!least.has_peak && least.peak_footprint_bytes == 0);
	return 0;
}
