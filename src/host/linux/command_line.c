/*
 * command_line.c - the command line of one process, on demand.
 *
 * The process is looked at before and after: what came is its own, because it
 * was read below its own directory; that it is all, and that an empty answer
 * is no sign of an end, is what the two looks are for.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static plim_text line_missing(int reason, int32_t code)
{
	plim_count missing = plim_count_missing(reason, code);
	plim_text text = {{NULL, 0}, missing.state, 0, missing.method, code};

	return text;
}

/* Looks at the target: PLIM_REASON_NONE and its stat, or why it has no
 * command line. */
static int line_look(plim_target *target, struct plimp_stat *stat)
{
	plim_check check;
	plim_bytes text;
	int problem = plimp_read_file(target->host, target->grip->directory,
				      "stat", &text);

	if (plimp_is_starved(problem))
		return PLIM_REASON_TOO_MANY_DESCRIPTORS;
	if (problem == 0 && plimp_decode_stat(text, stat) == PLIM_OK) {
		stat->name.data = NULL; /* the buffer is used again */
		stat->name.size = 0;
		if (stat->state == 'Z')
			return stat->threads <= 1 ? PLIM_REASON_ZOMBIE
						  : PLIM_REASON_NONE;
		/* Its memory may be given back, and an empty text is none. */
		return (stat->flags & PLIMP_STAT_EXITING) != 0
			   ? PLIM_REASON_ENDED
			   : PLIM_REASON_NONE;
	}
	plimp_system_check(target, &check);
	switch (check.fate) {
	case PLIM_FATE_GONE:
	case PLIM_FATE_REPLACED:
		return PLIM_REASON_ENDED;
	case PLIM_FATE_HIDDEN:
		return PLIM_REASON_INVISIBLE;
	default:
		return PLIM_REASON_READ_FAILED;
	}
}

/* The directory to read below: the process's own, or that of a live thread
 * where its main thread has ended and tells nothing any more. */
static int line_directory(plim_target *target, const struct plimp_stat *stat)
{
	plim_host *host = target->host;
	char path[32];
	int found;

	if (stat->state != 'Z')
		return target->grip->directory;
	found = plimp_other_thread(host, target->grip->directory,
				   target->identity.pid, path);
	if (found <= 0)
		return found < 0 ? -1 : target->grip->directory;
	return plimp_call_open(host, target->grip->directory, path,
			       O_PATH | O_DIRECTORY);
}

/* One read by a helper; one that is found dead is started once more. The
 * deadline is that of the read: what starting takes is not the target's doing.
 * The error of the read in `*problem`. */
static int line_exchange(plim_host *host, int directory, size_t *size,
			 int *problem, plim_error *error)
{
	uint64_t deadline = 0;
	int tries;

	for (tries = 0; tries < 2; tries++) {
		int code = plimp_helper_start(host, directory, error);

		if (code != PLIM_OK)
			return code;
		if (tries == 0)
			deadline = plimp_system_monotonic() +
				   (uint64_t)host->command_line_ms * 1000000u;
		*problem = plimp_helper_answer(host, deadline, size);
		plimp_helper_stop(host);
		if (*problem != EPIPE)
			break;
	}
	if (*problem == ENOMEM)
		return plimp_fail(error, PLIM_ENOMEM, 0, "read command line",
				  NULL, NULL);
	return PLIM_OK;
}

static int line_reason(int problem, size_t size, const struct plimp_stat *stat)
{
	if (problem == ETIMEDOUT)
		return PLIM_REASON_DEADLINE;
	if (problem == E2BIG)
		return PLIM_REASON_SHORT;
	if (problem != 0)
		return plimp_reason_of(problem);
	if ((stat->has & PLIMP_STAT_ARGUMENTS) != 0 &&
	    stat->arguments_end > stat->arguments_start &&
	    size < stat->arguments_end - stat->arguments_start)
		return PLIM_REASON_SHORT;
	return PLIM_REASON_NONE;
}

int plimp_system_command_line(plim_target *target, plim_text *text,
			      plim_error *error)
{
	plim_host *host = target->host;
	struct plimp_stat before;
	struct plimp_stat after;
	size_t size = 0;
	int problem = 0;
	int reason = line_look(target, &before);

	if (reason == PLIM_REASON_NONE) {
		int directory = line_directory(target, &before);
		int code = PLIM_OK;

		if (directory < 0)
			problem = errno;
		else
			code = line_exchange(host, directory, &size, &problem,
					     error);
		if (directory != target->grip->directory)
			plimp_call_close(host, directory);
		if (code != PLIM_OK)
			return code;
		reason = line_reason(problem, size, &before);
		if (reason != PLIM_REASON_DEADLINE) {
			int end = line_look(target, &after);

			if (end != PLIM_REASON_NONE)
				reason = end == PLIM_REASON_ZOMBIE
					     ? PLIM_REASON_ENDED
					     : end;
		}
	}
	if (reason != PLIM_REASON_NONE) {
		*text = line_missing(reason, problem);
		if (reason == PLIM_REASON_SHORT)
			text->bytes =
			    (plim_bytes){host->system->helper.text, size};
		return PLIM_OK;
	}
	*text = (plim_text){{host->system->helper.text, size},
			    PLIM_STATE_KNOWN,
			    PLIM_BOUND_EXACT,
			    PLIM_METHOD_COMMAND_LINE,
			    0};
	return PLIM_OK;
}
