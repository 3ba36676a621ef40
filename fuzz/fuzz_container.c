/*
 * fuzz_container.c - any bytes as the path of a cgroup: a container is a part
 * of one component, 64 digits behind an engine's name, or a name where lxc or
 * systemd-nspawn have one; a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <string.h>

static int is_id(plim_bytes text)
{
	for (size_t i = 0; i < text.size; i++)
		if (!strchr("0123456789abcdef", text.data[i]) || !text.data[i])
			return 0;
	return text.size == 64;
}

static int contains(plim_bytes text, const char *word)
{
	size_t size = strlen(word);

	for (size_t i = 0; i + size <= text.size; i++)
		if (!memcmp(text.data + i, word, size))
			return 1;
	return 0;
}

static void check_container(plim_bytes path, plim_bytes id)
{
	plim_bytes before = {path.data, 0};

	PROMISE(promise_inside(path, id) && id.size);
	PROMISE(!memchr(id.data, '/', id.size));
	before.size = (size_t)(id.data - path.data);
	if (is_id(id))
		PROMISE(
		    contains(before, "docker") || contains(before, "crio-") ||
		    contains(before, "libpod-") ||
		    contains(before, "containerd") ||
		    contains(before, "nerdctl-") ||
		    contains(before, "kubepods") || contains(before, "lxc") ||
		    contains(before, "machine-") ||
		    contains(before, "systemd-nspawn@"));
	else
		PROMISE(contains(before, "lxc") ||
			contains(before, "machine-") ||
			contains(before, "systemd-nspawn@"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes path = {.data = (const char *)data, .size = size};
	plim_bytes id = {.data = NULL, .size = 77};
	int result = plimp_decode_container(path, &id);

	PROMISE(result == 0 || result == 1);
	if (result)
		check_container(path, id);
	else
		PROMISE(!id.data && id.size == 77);
	return 0;
}
