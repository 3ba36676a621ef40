/*
 * fuzz_mac_ticks.c - any scale and any number of Mach ticks: the result grows
 * with the ticks, and there and back loses no more than rounding does.
 */
#include "host/macos/decode.h"
#include "promise.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plimp_mac_scale scale;
	uint64_t ticks;
	uint64_t ns;
	uint64_t back;

	if (size != 16)
		return 0;
	memcpy(&scale.numerator, data, 4);
	memcpy(&scale.denominator, data + 4, 4);
	memcpy(&ticks, data + 8, 8);
	if (!plimp_mac_scale_is_sound(scale)) {
		PROMISE(scale.numerator == 0 || scale.denominator == 0 ||
			scale.numerator / scale.denominator >= 1000000000 / 2 ||
			scale.numerator > scale.denominator);
		return 0;
	}
	PROMISE(plimp_mac_ticks_per_second(scale) > 0);
	PROMISE(plimp_mac_ticks_to_ns(scale, 0) == 0);
	ns = plimp_mac_ticks_to_ns(scale, ticks);
	if (ticks < UINT64_MAX)
		PROMISE(plimp_mac_ticks_to_ns(scale, ticks + 1) >= ns);
	if (ns == UINT64_MAX)
		return 0;
	back = plimp_mac_ns_to_ticks(scale, ns);
	PROMISE(back <= ticks);
	/* Rounded down by less than a nanosecond, and then by less than a tick.
	 */
	PROMISE(ticks - back <=
		(uint64_t)scale.denominator / scale.numerator + 1);
	return 0;
}
