/*
 * mounts.c - files of any length, read in blocks of whole lines; above all the
 * mounts that this process sees: hosts of containers have thousands of them.
 */
#include "host/linux/gnu.h"

#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

int plimp_each_block(plim_host *host, const char *path,
		     plimp_block_fn *callback, void *user)
{
	char *buffer = host->system->buffer;
	const size_t size = sizeof host->system->buffer;
	int file = plimp_call_open(host, host->system->root, path, O_RDONLY);
	size_t held = 0;
	int result = 0;
	ssize_t count;

	if (file < 0)
		return -1;
	while (result == 0 &&
	       (count = plimp_call_read(host, file, buffer + held,
					size - held)) > 0) {
		size_t taken;

		held += (size_t)count;
		for (taken = held; taken > 0 && buffer[taken - 1] != '\n';)
			taken--;
		if (taken > 0)
			result = callback((plim_bytes){buffer, taken}, user);
		else if (held == size)
			taken = size; /* one endless line */
		held -= taken;
		memmove(buffer, buffer + taken, held);
	}
	plimp_call_close(host, file);
	return result;
}

struct mounts_walk {
	plimp_mount_fn *callback;
	void *user;
};

static int mounts_block(plim_bytes text, void *user)
{
	const struct mounts_walk *walk = user;
	struct plimp_mount mount;
	size_t offset = 0;
	int result = 0;
	int more;

	while (result == 0 &&
	       (more = plimp_decode_mount(text, &offset, &mount)) != 0)
		if (more == 1)
			result = walk->callback(&mount, walk->user);
	return result;
}

int plimp_each_mount(plim_host *host, plimp_mount_fn *callback, void *user)
{
	struct mounts_walk walk = {callback, user};

	if (!host->system->live) /* ours say nothing of a recording */
		return -1;
	return plimp_each_block(host, "self/mountinfo", mounts_block, &walk);
}

struct mounts_hidepid {
	const char *point;
	plim_count figure;
};

static int mounts_same_point(plim_bytes point, const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return point.size == length && memcmp(point.data, path, length) == 0;
}

/* The last mount on a point is the one that is seen there. */
static int mounts_look(const struct plimp_mount *mount, void *user)
{
	static const char *const words[] = {"off", "noaccess", "invisible",
					    NULL, "ptraceable"};
	struct mounts_hidepid *look = user;
	plim_bytes value;
	uint64_t number = 0;

	if (!mounts_same_point(mount->point, look->point))
		return 0;
	if (plimp_decode_mount_option(mount->options, "hidepid", &value) &&
	    plimp_decode_number(value, &number) != PLIM_OK) {
		for (number = 0; number < 5; number++)
			if (words[number] != NULL &&
			    value.size == strlen(words[number]) &&
			    memcmp(value.data, words[number], value.size) == 0)
				break;
		if (number == 5) {
			look->figure =
			    plim_count_missing(PLIM_REASON_BAD_TEXT, 0);
			return 0;
		}
	}
	look->figure = plimp_known(number, PLIM_METHOD_SYSTEM);
	return 0;
}

plim_count plimp_system_hidepid(plim_host *host)
{
	struct mounts_hidepid look = {
	    host->proc_root, plim_count_missing(PLIM_REASON_NO_LINE, 0)};

	if (host->facts[PLIM_HOST_HIDEPID].state == PLIM_STATE_UNREAD) {
		host->system->starved = 0;
		plimp_each_mount(host, mounts_look, &look);
		if (host->system->starved != 0)
			return plimp_missing_file(host->system->starved);
		host->facts[PLIM_HOST_HIDEPID] = look.figure;
	}
	return host->facts[PLIM_HOST_HIDEPID];
}
