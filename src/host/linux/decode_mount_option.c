/*
 * decode_mount_option.c - one option of a mounted file system.
 *
 * The options of mountinfo are a list "rw,gid=27,hidepid=invisible" without
 * blanks; a value ends at the next comma, quoted or not, which no option that
 * is read here minds. The first one of the name counts. What hidepid is set to
 * is a number before Linux 5.8 and a word since.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <string.h>

int plimp_decode_mount_option(plim_bytes options, const char *name,
			      plim_bytes *value)
{
	struct plimp_scan scan = plimp_scan_of(options);

	while (*name && scan.at < scan.end) {
		size_t left = (size_t)(scan.end - scan.at);
		const char *comma = memchr(scan.at, ',', left);
		struct plimp_scan option = {.at = scan.at,
					    .end = comma ? comma : scan.end};
		scan.at = comma ? comma + 1 : scan.end;
		if (!plimp_scan_literal(&option, name))
			continue;
		if (option.at < option.end && !plimp_scan_literal(&option, "="))
			continue;
		value->data = option.at;
		value->size = (size_t)(option.end - option.at);
		return 1;
	}
	return 0;
}
