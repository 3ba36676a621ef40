/*
 * decode_blocked.c - which signals a thread blocks, and which wait for it: the
 * lines "SigBlk:", "SigPnd:" and "ShdPnd:" of /proc/PID/task/TID/status, 16
 * digits of a mask each (render_sigset_t() in the kernel's fs/proc/array.c).
 * The name in the first line cannot be taken for one: its newlines are
 * escaped.
 */
#include "host/linux/decode.h"

#include <string.h>

#define BLOCKED_KEY    9u /* "\nSigBlk:\t" */
#define BLOCKED_DIGITS 16u

static int blocked_digit(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static int blocked_line(plim_bytes text, const char *key, uint64_t *mask)
{
	const size_t whole = BLOCKED_KEY + BLOCKED_DIGITS + 1;
	uint64_t found = 0;

	for (size_t at = 0; at + whole <= text.size; at++) {
		const char *line = text.data + at;

		if (memcmp(line, key, BLOCKED_KEY) != 0)
			continue;
		for (size_t i = 0; i < BLOCKED_DIGITS; i++) {
			int digit = blocked_digit(line[BLOCKED_KEY + i]);

			if (digit < 0)
				return PLIM_EMALFORMED;
			found = found << 4 | (uint64_t)digit;
		}
		if (line[whole - 1] != '\n')
			return PLIM_EMALFORMED;
		*mask = found;
		return PLIM_OK;
	}
	return PLIM_EMALFORMED;
}

int plimp_decode_blocked(plim_bytes text, uint64_t *mask)
{
	return blocked_line(text, "\nSigBlk:\t", mask);
}

int plimp_decode_signals(plim_bytes text, struct plimp_signal_masks *masks)
{
	struct plimp_signal_masks found;

	if (blocked_line(text, "\nSigBlk:\t", &found.blocked) != PLIM_OK ||
	    blocked_line(text, "\nSigPnd:\t", &found.pending) != PLIM_OK ||
	    blocked_line(text, "\nShdPnd:\t", &found.shared) != PLIM_OK)
		return PLIM_EMALFORMED;
	*masks = found;
	return PLIM_OK;
}
