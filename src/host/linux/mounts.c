/*
 * mounts.c - the mounts that this process sees, read in blocks: hosts of
 * containers have thousands of them.
 */
#include "host/linux/gnu.h"

#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Hands out the whole lines of the buffer; stores how many bytes they take. */
static int mounts_block(plim_bytes text, size_t *taken,
			plimp_mount_fn *callback, void *user)
{
	struct plimp_mount mount;
	size_t offset = 0;
	int result = 0;
	int more;

	while (text.size > 0 && text.data[text.size - 1] != '\n')
		text.size--;
	*taken = text.size;
	while (result == 0 &&
	       (more = plimp_decode_mount(text, &offset, &mount)) != 0)
		if (more == 1)
			result = callback(&mount, user);
	return result;
}

int plimp_each_mount(plim_host *host, plimp_mount_fn *callback, void *user)
{
	char *buffer = host->system->buffer;
	const size_t size = sizeof host->system->buffer;
	size_t held = 0;
	int result = 0;
	ssize_t count;
	int file;

	if (!host->system->live) /* ours say nothing of a recording */
		return -1;
	file = plimp_call_open(host, host->system->root, "self/mountinfo",
			       O_RDONLY);
	if (file < 0)
		return -1;
	while (result == 0 &&
	       (count = plimp_call_read(host, file, buffer + held,
					size - held)) > 0) {
		size_t taken;

		held += (size_t)count;
		result = mounts_block((plim_bytes){buffer, held}, &taken,
				      callback, user);
		if (taken == 0 && held == size)
			taken = size; /* one endless line */
		held -= taken;
		memmove(buffer, buffer + taken, held);
	}
	plimp_call_close(host, file);
	return result;
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
