/*
 * fuzz_unit.c - any bytes as the path of a cgroup: a unit is a whole
 * component of it with a name that systemd takes, behind nothing but slices
 * (and a user's manager or session); a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <string.h>

static int ends(plim_bytes text, const char *end)
{
	size_t size = strlen(end);

	return text.size > size &&
	       !memcmp(text.data + text.size - size, end, size);
}

static int has_type(plim_bytes text)
{
	static const char *const types[] = {
	    ".service", ".scope",     ".slice", ".socket", ".mount",  ".swap",
	    ".device",	".automount", ".timer", ".path",   ".target",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (ends(text, types[i]))
			return 1;
	return 0;
}

static void check_unit(plim_bytes path, plim_bytes unit)
{
	const char *end = path.data + path.size;
	const char *behind = unit.data + unit.size;

	PROMISE(promise_inside(path, unit));
	PROMISE(unit.size < 256 && has_type(unit));
	PROMISE(!memchr(unit.data, '/', unit.size) &&
		!memchr(unit.data, ' ', unit.size));
	PROMISE(unit.data == path.data || unit.data[-1] == '/' ||
		unit.data[-1] == '_');
	PROMISE(behind == end || *behind == '/' ||
		(end - behind == 10 && !memcmp(behind, " (deleted)", 10)));
	/* The first component that is no slice decides. */
	const char *at = path.data;
	while (at < unit.data) {
		const char *slash = memchr(at, '/', (size_t)(unit.data - at));
		const char *stop = slash ? slash : unit.data;
		plim_bytes name = {at, (size_t)(stop - at)};
		int mine = !slash;

		PROMISE(mine || name.size == 0 ||
			(name.size == 2 && !memcmp(name.data, "..", 2)) ||
			has_type(name));
		at = stop + !mine;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes path = {.data = (const char *)data, .size = size};
	plim_bytes unit = {.data = NULL, .size = 77};
	int result = plimp_decode_unit(path, &unit);

	PROMISE(result == 0 || result == 1);
	if (result)
		check_unit(path, unit);
	else
		PROMISE(!unit.data && unit.size == 77);
	return 0;
}
