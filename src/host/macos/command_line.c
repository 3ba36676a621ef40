/*
 * command_line.c - the command line of one process, on demand.
 *
 * KERN_PROCARGS2 copies the top of the process's stack. Given too little room
 * it copies the end of that instead of its beginning, and says nothing; so the
 * size is asked for first, and an answer that fills its room is asked for
 * again. The kernel says EINVAL for everything it does not like: a pid without
 * an owner, a zombie, another user's process. Who it is was known before, and
 * is asked again afterwards, which tells these apart. The read has no deadline
 * here: the call cannot be cut off, and no helper process could make it.
 */
#include "core/fail.h"
#include "host/macos/system.h"

#include <errno.h>

/* ARG_MAX of this system, and the number before it: with more room the kernel
 * refuses. */
#define LINE_MOST   (1024 * 1024 + 4)
#define LINE_MARGIN 1024

static plim_text line_mac_missing(plim_count why)
{
	return (plim_text){
	    {NULL, 0}, why.state, PLIM_BOUND_EXACT, why.method, why.code};
}

/* A known figure if it can have a command line; its uid. */
static plim_count line_mac_look(plim_target *target, uint32_t *uid)
{
	char bytes[PLIMP_MAC_ASK_SIZE];
	struct plimp_mac_process process;
	struct plimp_mac_unique unique;
	int32_t pid = target->identity.pid;
	int refused;
	int problem = plimp_mac_unique(target->host, pid, &unique);

	if (problem == 0 && unique.id != target->identity.inode)
		problem = -ESRCH;
	if (problem == 0)
		problem =
		    plimp_mac_ask(target->host, pid, bytes, &process, &refused);
	if (problem == -EPERM || problem == -EACCES)
		return plim_count_missing(PLIM_REASON_INVISIBLE, -problem);
	if (problem != 0)
		return plimp_mac_missing(-problem);
	if (process.status == PLIMP_MAC_ZOMBIE)
		return plim_count_missing(PLIM_REASON_ZOMBIE, 0);
	if ((process.flags & PLIMP_MAC_FLAG_EXITING) != 0)
		return plim_count_missing(PLIM_REASON_ENDED, 0);
	*uid = process.uid;
	return plimp_known(0, PLIM_METHOD_MAC_BSDINFO);
}

/* The bytes, in the room of the host; or minus the error. */
static int64_t line_mac_read(plim_host *host, int32_t pid)
{
	int64_t size = plimp_mac_call_arguments(host, pid, NULL, 0);
	size_t room;

	if (size < 0)
		return size;
	room = (size_t)size + LINE_MARGIN;
	for (;;) {
		char *bytes;

		if (room > LINE_MOST)
			room = LINE_MOST;
		bytes = plimp_mac_room(host, room);
		if (bytes == NULL)
			return -ENOMEM;
		size = plimp_mac_call_arguments(host, pid, bytes, room);
		if (size < 0 || (size_t)size < room)
			return size;
		if (room == LINE_MOST)
			return -E2BIG;
		room *= 2;
	}
}

static plim_text line_mac_text(plim_bytes bytes)
{
	struct plimp_mac_arguments found;
	plim_count short_ = plim_count_missing(PLIM_REASON_SHORT, 0);
	plim_text text;

	if (plimp_decode_mac_arguments(bytes, &found) != PLIM_OK)
		return line_mac_missing(
		    plim_count_missing(PLIM_REASON_BAD_TEXT, 0));
	text = line_mac_missing(found.is_whole
				    ? plimp_known(0, PLIM_METHOD_MAC_ARGUMENTS)
				    : short_);
	text.bytes = found.arguments;
	return text;
}

int plimp_system_command_line(plim_target *target, plim_text *text,
			      plim_error *error)
{
	plim_host *host = target->host;
	uint32_t uid = 0;
	plim_count look = line_mac_look(target, &uid);
	int64_t size;

	if (look.state != PLIM_STATE_KNOWN) {
		*text = line_mac_missing(look);
		return PLIM_OK;
	}
	size = line_mac_read(host, target->identity.pid);
	if (size == -ENOMEM)
		return plimp_fail(error, PLIM_ENOMEM, 0, "read command line",
				  NULL, NULL);
	look = line_mac_look(target, &uid);
	if (look.state != PLIM_STATE_KNOWN)
		/* A zombie was none before: it has ended meanwhile. */
		*text = line_mac_missing(
		    look.method == PLIM_REASON_ZOMBIE
			? plim_count_missing(PLIM_REASON_ENDED, 0)
			: look);
	else if (size == -EINVAL && uid != plimp_mac_call_uid())
		*text = line_mac_missing(
		    plim_count_missing(PLIM_REASON_OTHER_USER, EINVAL));
	else if (size < 0)
		*text = line_mac_missing(plimp_mac_missing((int)-size));
	else
		*text = line_mac_text(
		    (plim_bytes){host->system->room, (size_t)size});
	return PLIM_OK;
}
