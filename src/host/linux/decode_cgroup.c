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

/*
 * How much a line tells: less is more. With systemd its named hierarchy has
 * every process where its unit is, on a hybrid host, too, where the version 2
 * line of a container's process may still be that of the engine. Version 2 is
 * there, with "/", as soon as it was mounted once, whether it is in use or
 * not. Controllers that share no tree may each have another path.
 */
static unsigned cgroup_rank(const struct cgroup_line *line)
{
	static const char *const named[] = {"name=systemd", NULL, "memory",
					    "pids", "cpu"};
	const unsigned count = sizeof(named) / sizeof(named[0]);
	unsigned rank = 0;

	while (rank < count && !cgroup_matches(line, named[rank]))
		rank++;
	return line->path.size == 1 ? rank + count + 1 : rank;
}

static int cgroup_tells_more(const struct cgroup_line *line,
			     const struct cgroup_line *best)
{
	unsigned a = cgroup_rank(line);
	unsigned b = cgroup_rank(best);

	return a != b ? a < b : line->hierarchy < best->hierarchy;
}

int plimp_decode_cgroup_path(plim_bytes text, plim_bytes *path, int *version)
{
	struct plimp_scan scan = plimp_scan_of(text);
	struct cgroup_line line, best;
	plim_bytes whole;
	int seen = 0;

	while (plimp_scan_line(&scan, &whole)) {
		if (whole.data + whole.size == scan.end ||
		    !cgroup_split(whole, &line))
			return PLIM_EMALFORMED;
		if (!seen || cgroup_tells_more(&line, &best))
			best = line;
		seen = 1;
	}
	if (!seen)
		return 0;
	*path = best.path;
	*version = cgroup_matches(&best, NULL) ? 2 : 1;
	return 1;
}
