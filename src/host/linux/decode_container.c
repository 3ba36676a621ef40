/*
 * decode_container.c - the container in the path of a cgroup.
 *
 * No interface tells it; what is certain is the names that engines give the
 * groups they make. Those of docker, podman (libpod), cri-o, containerd and
 * kubernetes hold an id of 64 hexadecimal digits, alone or between a prefix
 * and ".scope"; lxc and systemd-nspawn have a group for what runs inside, and
 * name the container by it or by the group around it. A name that only looks
 * similar (a monitor beside the container, a virtual machine in
 * machine.slice, 64 digits in a group of the user's own) gives none. In
 * nested containers the innermost is the one that the process runs in.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <string.h>

#define CONTAINER_DIGITS 64

static int container_begins(plim_bytes name, const char *start)
{
	size_t size = strlen(start);

	return name.size >= size && memcmp(name.data, start, size) == 0;
}

static int container_ends(plim_bytes name, const char *end)
{
	size_t size = strlen(end);

	return name.size >= size &&
	       memcmp(name.data + name.size - size, end, size) == 0;
}

static int container_is(plim_bytes name, const char *word)
{
	return name.size == strlen(word) && container_begins(name, word);
}

static int container_is_id(plim_bytes text)
{
	if (text.size != CONTAINER_DIGITS)
		return 0;
	for (size_t i = 0; i < text.size; i++) {
		char c = text.data[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return 0;
	}
	return 1;
}

/* What is left between a prefix and an end, if both are there. */
static int container_between(plim_bytes name, const char *start,
			     const char *end, plim_bytes *inside)
{
	size_t before = strlen(start), behind = strlen(end);

	if (name.size <= before + behind || !container_begins(name, start) ||
	    !container_ends(name, end))
		return 0;
	inside->data = name.data + before;
	inside->size = name.size - before - behind;
	return 1;
}

/* "docker-ID.scope" and its like, of the systemd driver; "libpod-ID", of
 * podman without systemd; "SLICE:cri-containerd:ID", which containerd makes
 * of a systemd path where it does not use systemd. */
static int container_named(plim_bytes name, plim_bytes *id)
{
	static const char *const prefixes[] = {
	    "docker-", "cri-containerd-", "crio-", "libpod-", "nerdctl-",
	};
	static const char colon[] = ":cri-containerd:";
	size_t tail = strlen(colon) + CONTAINER_DIGITS;
	plim_bytes rest;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (container_between(name, prefixes[i], ".scope", id) &&
		    container_is_id(*id))
			return 1;
	}
	if (container_between(name, "libpod-", "", id) && container_is_id(*id))
		return 1;
	if (name.size <= tail)
		return 0;
	rest = (plim_bytes){name.data + name.size - tail, tail};
	return container_between(rest, colon, "", id) && container_is_id(*id);
}

/* The names around a component. */
struct container_place {
	plim_bytes parent;
	plim_bytes pod; /* of kubernetes: the last of its groups on the way */
};

/* A bare id is a container below docker's own group, or in a pod. */
static int container_bare(plim_bytes name, const struct container_place *place,
			  plim_bytes *id)
{
	if (!container_is_id(name) ||
	    (!container_is(place->parent, "docker") && place->pod.size == 0))
		return 0;
	*id = name;
	return 1;
}

/* What is inside, as lxc and systemd-nspawn name it. */
static int container_payload(plim_bytes name,
			     const struct container_place *place,
			     plim_bytes *id)
{
	if (container_between(name, "lxc.payload.", "", id))
		return 1;
	if (container_is(place->parent, "lxc.payload") ||
	    container_is(place->parent, "lxc")) {
		*id = name;
		return 1;
	}
	return container_is(name, "payload") &&
	       (container_between(place->parent, "systemd-nspawn@", ".service",
				  id) ||
		container_between(place->parent, "machine-", ".scope", id));
}

static int container_component(struct plimp_scan *scan, plim_bytes *name)
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
	return 1;
}

/* The kernel's mark of a group that was removed is no part of a name. */
static plim_bytes container_strip(plim_bytes path)
{
	static const char deleted[] = " (deleted)";

	if (path.size > strlen(deleted) && container_ends(path, deleted))
		path.size -= strlen(deleted);
	return path;
}

int plimp_decode_container(plim_bytes path, plim_bytes *container)
{
	struct plimp_scan scan = plimp_scan_of(container_strip(path));
	struct container_place place = {{"", 0}, {"", 0}};
	plim_bytes name, id;
	int found = 0;

	while (container_component(&scan, &name)) {
		if (container_named(name, &id) ||
		    container_bare(name, &place, &id) ||
		    container_payload(name, &place, &id)) {
			*container = id;
			found = 1;
		}
		if (container_begins(name, "kubepods"))
			place.pod = name;
		place.parent = name;
	}
	return found;
}
