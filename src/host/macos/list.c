/*
 * list.c - the pids of all processes, zombies too.
 *
 * The kernel says how many there may be, and a list that is not shorter than
 * that may not be all: it is asked for again, in more room. It comes
 * in the order of birth, the newest first; so the whole list is one part. Pid 0
 * is the kernel itself, whose figures are told to nobody but root; it is left
 * out, as on systems where it is no process.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/macos/system.h"

#include <errno.h>

#define LIST_MARGIN 64 /* pids, beyond those that there may be */
#define LIST_TRIES  16

char *plimp_mac_room(plim_host *host, size_t size)
{
	struct plimp_system *system = host->system;
	void *room = system->room;

	if (plimp_reserve(&host->allocator, &room, &system->room_size, size,
			  4096, 1) != PLIM_OK)
		return NULL;
	system->room = room;
	return system->room;
}

static int list_mac_failed(int problem, plim_error *error)
{
	return plimp_fail(error,
			  problem == EPERM || problem == EACCES ? PLIM_EDENIED
			  : problem == ENOMEM			? PLIM_ENOMEM
								: PLIM_ESYSTEM,
			  problem, "list processes", NULL, NULL);
}

/*
 * The bytes that came, in the room of the host; or minus the error. So many as
 * there may be are as suspect as a room that is full: the kernel may have
 * stopped there, with more processes born since it counted them.
 */
static int64_t list_mac_ask(plim_host *host)
{
	int tries;

	for (tries = 0; tries < LIST_TRIES; tries++) {
		int64_t most = plimp_mac_call_pids(host, NULL, 0);
		size_t room;
		char *bytes;
		int64_t size;

		if (most < 0)
			return most;
		room = (size_t)most + LIST_MARGIN * sizeof(int32_t);
		if (room / sizeof(int32_t) > 2 * (size_t)PLIM_SNAPSHOT_LIMIT)
			return -E2BIG;
		bytes = plimp_mac_room(host, room);
		if (bytes == NULL)
			return -ENOMEM;
		size = plimp_mac_call_pids(host, bytes, room);
		if (size < most)
			return size;
	}
	return -EAGAIN;
}

int plimp_system_list(plim_host *host, struct plimp_pids *pids,
		      uint64_t *position, plim_error *error)
{
	plim_bytes bytes;
	int64_t size;
	size_t i;

	if (*position != 0)
		return PLIM_OK;
	size = list_mac_ask(host);
	if (size == -E2BIG)
		return plimp_fail(error, PLIM_ELIMIT, 0, "list processes", NULL,
				  NULL);
	if (size < 0)
		return list_mac_failed((int)-size, error);
	bytes = (plim_bytes){host->system->room, (size_t)size};
	for (i = 0; i < bytes.size / sizeof(int32_t); i++) {
		int32_t pid = plimp_decode_mac_pid(bytes, i);
		int code = pid > 0 ? plimp_pids_add(host, pids, pid) : PLIM_OK;

		if (code != PLIM_OK)
			return plimp_fail(error, code, 0, "list processes",
					  NULL, NULL);
	}
	*position = 1;
	return PLIM_OK;
}

void plimp_system_begin(plim_host *host)
{
	(void)host;
}
