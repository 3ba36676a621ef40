/*
 * fuzz_mount.c - any bytes as mountinfo: the walk steps over every line,
 * whatever it is; what is told lies in that line, in its order, and can be
 * written again; a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <stdlib.h>
#include <string.h>

static int step(plim_bytes text, size_t *offset, struct plimp_mount *mount)
{
	struct plimp_mount poison;

	memset(&poison, 0xa5, sizeof(poison));
	memcpy(mount, &poison, sizeof(poison));
	int result = plimp_decode_mount(text, offset, mount);
	PROMISE(result == 0 || result == 1 || result == PLIM_EMALFORMED);
	if (result != 1)
		PROMISE(!memcmp(mount, &poison, sizeof(poison)));
	return result;
}

static int same(plim_bytes a, plim_bytes b)
{
	return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

static size_t put(char *at, const char *before, plim_bytes text)
{
	size_t size = strlen(before);

	memcpy(at, before, size);
	memcpy(at + size, text.data, text.size);
	return size + text.size;
}

static void round_trip(const struct plimp_mount *mount)
{
	struct plimp_mount again;
	size_t offset = 0;
	char *line = malloc(mount->root.size + mount->point.size +
			    mount->type.size + mount->options.size + 64);

	if (!line)
		return;
	size_t size = put(line, "1 2 3:4 ", mount->root);
	size += put(line + size, " ", mount->point);
	size += put(line + size, " rw shared:1 master:2 - ", mount->type);
	size += put(line + size, "  ", mount->options);
	line[size++] = '\n';
	PROMISE(step((plim_bytes){line, size}, &offset, &again) == 1);
	PROMISE(offset == size);
	PROMISE(same(mount->root, again.root));
	PROMISE(same(mount->point, again.point));
	PROMISE(same(mount->type, again.type));
	PROMISE(same(mount->options, again.options));
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	struct plimp_mount mount;
	size_t offset = 0, before = 0, lines = 0;
	int result;

	while ((result = step(text, &offset, &mount))) {
		plim_bytes line = {text.data + before, offset - before};
		PROMISE(offset > before && offset <= size);
		PROMISE(offset == size || text.data[offset - 1] == '\n');
		before = offset;
		lines++;
		if (result != 1)
			continue;
		PROMISE(promise_inside(line, mount.root) && mount.root.size);
		PROMISE(promise_inside(line, mount.point) && mount.point.size);
		PROMISE(promise_inside(line, mount.type) && mount.type.size);
		PROMISE(promise_inside(line, mount.options) &&
			mount.options.size);
		PROMISE(mount.root.data < mount.point.data &&
			mount.point.data < mount.type.data &&
			mount.type.data < mount.options.data);
		PROMISE(text.data[offset - 1] == '\n');
		round_trip(&mount);
	}
	PROMISE(offset == size && lines == promise_count(text, ""));
	return 0;
}
