/*
 * fuzz_cgroup.c - a byte that picks the controller, then any bytes as
 * /proc/PID/cgroup: the path is the end of a line that lists the controller;
 * every line of a text that is taken has the form; a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <string.h>

static const char *const controllers[] = {
    NULL, "memory", "cpu", "cpuacct", "io", "name=systemd", "",
};

/* The beginning of the line that holds this place. */
static const char *line_start(plim_bytes text, const char *at)
{
	while (at > text.data && at[-1] != '\n')
		at--;
	return at;
}

static void check_path(plim_bytes text, const char *controller, plim_bytes path)
{
	PROMISE(promise_inside(text, path) && path.size);
	PROMISE(path.data[0] == '/' && path.data[-1] == ':');
	PROMISE(path.data[path.size] == '\n');
	PROMISE(!memchr(path.data, '\n', path.size));

	const char *start = line_start(text, path.data);
	const char *colon = start;
	while (colon < path.data && *colon != ':')
		colon++;
	const char *list = colon + 1;
	size_t size = (size_t)(path.data - 1 - list);
	PROMISE(colon > start && list < path.data);
	PROMISE(!memchr(list, ':', size));
	if (!controller) {
		PROMISE(size == 0);
		return;
	}
	size_t length = strlen(controller);
	int found = 0;
	for (size_t at = 0; length && at + length <= size; at++) {
		int begins = at == 0 || list[at - 1] == ',';
		int ends = at + length == size || list[at + length] == ',';
		if (begins && ends && !memcmp(list + at, controller, length))
			found = 1;
	}
	PROMISE(found);
}

/* The path that tells most is that of some line; the root only if all are. */
static void check_best(plim_bytes text)
{
	plim_bytes path = {.data = NULL, .size = 77};
	int version = 77;
	int result = plimp_decode_cgroup_path(text, &path, &version);
	plim_bytes v2;
	int has_v2 = plimp_decode_cgroup(text, NULL, &v2);

	PROMISE((result < 0) == (has_v2 < 0));
	if (result != 1) {
		PROMISE(!path.data && path.size == 77 && version == 77);
		PROMISE(result < 0 || text.size == 0);
		return;
	}
	PROMISE(promise_inside(text, path) && path.data[path.size] == '\n');
	PROMISE(version == 1 || version == 2);
	PROMISE(version == 1 || has_v2 == 1);
	if (path.size > 1)
		return;
	for (size_t i = 0; i < sizeof(controllers) / sizeof(*controllers); i++)
		PROMISE(plimp_decode_cgroup(text, controllers[i], &v2) != 1 ||
			v2.size == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	const char *controller =
	    controllers[data[0] % (sizeof(controllers) / sizeof(*controllers))];
	plim_bytes text = {.data = (const char *)data + 1, .size = size - 1};
	plim_bytes path = {.data = NULL, .size = 77};
	int result = plimp_decode_cgroup(text, controller, &path);

	PROMISE(result == 0 || result == 1 || result == PLIM_EMALFORMED);
	if (result == 1)
		check_path(text, controller, path);
	else
		PROMISE(!path.data && path.size == 77);
	if (result >= 0) {
		PROMISE(!text.size || text.data[text.size - 1] == '\n');
		PROMISE(!promise_count(text, ":") && !promise_count(text, "-"));
	}
	check_best(text);
	/* Another controller finds the same text as well formed or not. */
	plim_bytes other;
	PROMISE((plimp_decode_cgroup(text, "pids", &other) < 0) ==
		(result < 0));
	return 0;
}
