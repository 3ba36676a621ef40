/*
 * decode_mac_rusage.c - what proc_pid_rusage() answers. The versions of its
 * structure grow at the end; each has a size of its own, and what a version
 * does not have is not told, instead of 0.
 *
 * Wake-ups are the interrupt wake-ups. Those from the idle state of the whole
 * package, which stand before them, stay 0 on a machine that is busy with
 * anything else: they are not even read.
 */
#include "host/macos/decode.h"

#include "host/macos/read.h"

#include <stddef.h>

#define RUSAGE_END(member)                               \
	(offsetof(struct plimp_mac_rusageinfo, member) + \
	 sizeof(((struct plimp_mac_rusageinfo *)0)->member))

size_t plimp_mac_rusage_size(int flavour)
{
	static const size_t sizes[] = {
	    RUSAGE_END(exit_ticks),
	    RUSAGE_END(child_elapsed_ticks),
	    RUSAGE_END(disk_written),
	    RUSAGE_END(serviced_system_ticks),
	    RUSAGE_END(runnable_ticks),
	    RUSAGE_END(flags),
	    sizeof(struct plimp_mac_rusageinfo),
	};

	if (flavour < 0 || (size_t)flavour >= sizeof sizes / sizeof sizes[0])
		return 0;
	return sizes[flavour];
}

#define RUSAGE_U64(member) PLIMP_MAC_U64(bytes, plimp_mac_rusageinfo, member)

int plimp_decode_mac_rusage(plim_bytes bytes, int flavour,
			    struct plimp_mac_rusage *rusage)
{
	struct plimp_mac_rusage found = {0};

	if (flavour < PLIMP_MAC_RUSAGE_LEAST ||
	    flavour > PLIMP_MAC_RUSAGE_MOST ||
	    bytes.size != plimp_mac_rusage_size(flavour))
		return PLIM_EMALFORMED;
	found.user_ticks = RUSAGE_U64(user_ticks);
	found.system_ticks = RUSAGE_U64(system_ticks);
	found.interrupt_wakeups = RUSAGE_U64(interrupt_wakeups);
	found.pageins = RUSAGE_U64(pageins);
	found.resident_bytes = RUSAGE_U64(resident_size);
	found.footprint_bytes = RUSAGE_U64(footprint);
	found.start_ticks = RUSAGE_U64(start_ticks);
	found.exit_ticks = RUSAGE_U64(exit_ticks);
	found.child_user_ticks = RUSAGE_U64(child_user_ticks);
	found.child_system_ticks = RUSAGE_U64(child_system_ticks);
	found.child_interrupt_wakeups = RUSAGE_U64(child_interrupt_wakeups);
	found.disk_read_bytes = RUSAGE_U64(disk_read);
	found.disk_written_bytes = RUSAGE_U64(disk_written);
	found.has_peak = flavour >= 4;
	if (found.has_peak)
		found.peak_footprint_bytes = RUSAGE_U64(lifetime_max_footprint);
	if (found.system_ticks > UINT64_MAX - found.user_ticks ||
	    found.child_system_ticks > UINT64_MAX - found.child_user_ticks)
		return PLIM_EMALFORMED;
	*rusage = found;
	return PLIM_OK;
}
