/*
 * decode_unit.c - the unit of systemd in the path of a cgroup.
 *
 * The rules are those of cg_path_get_unit(), cg_path_get_user_unit() and
 * cg_path_get_slice() in systemd's src/basic/cgroup-util.c: slices lead the
 * path, the first component behind them is the unit, and what a service makes
 * below itself is its own business. Where that unit is a user's manager or
 * session, the same is asked of what lies below it. What is no unit name by
 * src/basic/unit-name.c ends the search: a path that only looks similar gives
 * no unit. Where slices are all there is, the innermost one is the unit.
 *
 * A leading "_" is systemd's escape for names that the kernel would take for
 * its own files, and " (deleted)" is the kernel's mark; neither is part of
 * the name. ".." leads out of our cgroup namespace and is passed over.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <string.h>

#define UNIT_NAME_SIZE 256 /* systemd's UNIT_NAME_MAX, with the NUL */

static int unit_ends(plim_bytes name, const char *end)
{
	size_t size = strlen(end);

	return name.size > size &&
	       memcmp(name.data + name.size - size, end, size) == 0;
}

static int unit_begins(plim_bytes name, const char *start)
{
	size_t size = strlen(start);

	return name.size >= size && memcmp(name.data, start, size) == 0;
}

static int unit_is_type(plim_bytes name, size_t *stem)
{
	static const char *const types[] = {
	    ".service", ".scope",     ".slice", ".socket", ".mount",  ".swap",
	    ".device",	".automount", ".timer", ".path",   ".target",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!unit_ends(name, types[i]))
			continue;
		*stem = name.size - strlen(types[i]);
		return 1;
	}
	return 0;
}

static int unit_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c != '\0' && strchr(":-_.\\", c));
}

/* A plain name or an instance of a template; a template alone runs nothing. */
static int unit_is_name(plim_bytes name)
{
	const char *at = NULL;
	size_t stem;

	if (name.size >= UNIT_NAME_SIZE || !unit_is_type(name, &stem))
		return 0;
	for (size_t i = 0; i < stem; i++) {
		if (name.data[i] == '@' && !at)
			at = name.data + i;
		else if (name.data[i] != '@' && !unit_is_letter(name.data[i]))
			return 0;
	}
	return !at || (at > name.data && at + 1 < name.data + stem);
}

static int unit_is_slice(plim_bytes name)
{
	return unit_ends(name, ".slice") && unit_is_name(name) &&
	       !memchr(name.data, '@', name.size);
}

/* The next component of the path, unescaped; 0 at the end. */
static int unit_component(struct plimp_scan *scan, plim_bytes *name)
{
	while (scan->at < scan->end && *scan->at == '/')
		scan->at++;
	if (scan->at == scan->end)
		return 0;
	const char *slash =
	    memchr(scan->at, '/', (size_t)(scan->end - scan->at));
	name->data = scan->at;
	name->size = (size_t)((slash ? slash : scan->end) - scan->at);
	scan->at += name->size;
	if (name->data[0] == '_') {
		name->data++;
		name->size--;
	}
	return 1;
}

/* Steps over slices to the unit below them: 1 and the unit; 0 if there is no
 * more, or no unit. `slice` becomes the last slice on the way. */
static int unit_next(struct plimp_scan *scan, plim_bytes *unit,
		     plim_bytes *slice)
{
	plim_bytes name;

	while (unit_component(scan, &name)) {
		if (unit_is_slice(name)) {
			*slice = name;
			continue;
		}
		if (!unit_is_name(name) || unit_ends(name, ".slice"))
			return 0;
		*unit = name;
		return 1;
	}
	return 0;
}

static int unit_is_number(plim_bytes name, size_t start, size_t end)
{
	for (size_t i = start; i < end; i++)
		if (name.data[i] < '0' || name.data[i] > '9')
			return 0;
	return start < end;
}

/* A user's manager or session: units of the user may lie below it. */
static int unit_is_users(plim_bytes unit)
{
	static const char manager[] = "user@", session[] = "session-";

	if (unit_begins(unit, manager) && unit_ends(unit, ".service"))
		return unit_is_number(unit, strlen(manager),
				      unit.size - strlen(".service"));
	return unit_begins(unit, session) && unit_ends(unit, ".scope");
}

static void unit_strip(struct plimp_scan *scan)
{
	static const char deleted[] = " (deleted)";
	size_t size = strlen(deleted);
	struct plimp_scan rest;

	if ((size_t)(scan->end - scan->at) > size &&
	    memcmp(scan->end - size, deleted, size) == 0)
		scan->end -= size;
	rest = *scan;
	while (plimp_scan_literal(&rest, "/..") &&
	       (rest.at == rest.end || *rest.at == '/'))
		scan->at = rest.at;
}

int plimp_decode_unit(plim_bytes path, plim_bytes *unit)
{
	struct plimp_scan scan = plimp_scan_of(path);
	plim_bytes slice = {NULL, 0};
	plim_bytes found, below, ignored;

	unit_strip(&scan);
	if (!unit_next(&scan, &found, &slice)) {
		if (!slice.data)
			return 0;
		*unit = slice;
		return 1;
	}
	if (unit_is_users(found) && unit_next(&scan, &below, &ignored))
		found = below;
	*unit = found;
	return 1;
}
