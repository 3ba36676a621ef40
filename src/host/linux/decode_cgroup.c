/*
 * decode_cgroup.c - /proc/PID/cgroup, lines "N:controllers:path".
 *
 * The format is proc_cgroup_show() in the kernel's kernel/cgroup/cgroup.c. A
 * machine may have version 1 lines ("4:memory:/a"), the version 2 line
 * ("0::/a") or both, in any order, so the right one is looked for by what it
 * lists and never by its place or number. The kernel refuses newlines in
 * names of groups. A path may hold ":" and may end in " (deleted)", which
 * stays. One line that is not of this form makes the whole malformed.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <string.h>

struct cgroup_line {
	uint64_t hierarchy;
	plim_bytes controllers;
	plim_bytes path;
};

static int cgroup_split(plim_bytes text, struct cgroup_line *line)
{
	struct plimp_scan scan = plimp_scan_of(text);

	if (!plimp_scan_u64(&scan, &line->hierarchy) ||
	    !plimp_scan_literal(&scan, ":"))
		return 0;
	const char *colon = NULL;
	if (scan.at < scan.end)
		colon = memchr(scan.at, ':', (size_t)(scan.end - scan.at));
	if (!colon || colon + 1 == scan.end || colon[1] != '/')
		return 0;
	line->controllers.data = scan.at;
	line->controllers.size = (size_t)(colon - scan.at);
	line->path.data = colon + 1;
	line->path.size = (size_t)(scan.end - (colon + 1));
	return 1;
}

/* 1 if the list "a,b,c" has this item; the empty name is in none. */
static int cgroup_lists(plim_bytes list, const char *name)
{
	struct plimp_scan scan = plimp_scan_of(list);

	while (*name && scan.at < scan.end) {
		size_t left = (size_t)(scan.end - scan.at);
		const char *comma = memchr(scan.at, ',', left);
		struct plimp_scan item = {.at = scan.at,
					  .end = comma ? comma : scan.end};
		if (plimp_scan_literal(&item, name) && item.at == item.end)
			return 1;
		scan.at = comma ? comma + 1 : scan.end;
	}
	return 0;
}

static int cgroup_matches(const struct cgroup_line *line,
			  const char *controller)
{
	if (controller)
		return cgroup_lists(line->controllers, controller);
	return line->hierarchy == 0 && line->controllers.size == 0;
}

int plimp_decode_cgroup(plim_bytes text, const char *controller,
			plim_bytes *path)
{
	struct plimp_scan scan = plimp_scan_of(text);
	struct cgroup_line line;
	plim_bytes whole, found;
	int seen = 0;

	while (plimp_scan_line(&scan, &whole)) {
		/* A last line without its newline was cut. */
		if (whole.data + whole.size == scan.end ||
		    !cgroup_split(whole, &line))
			return PLIM_EMALFORMED;
		if (!seen && cgroup_matches(&line, controller)) {
			found = line.path;
			seen = 1;
		}
	}
	if (seen)
		*path = found;
	return seen;
}
