/*
 * watch.c - CPU time of remembered processes by their clocks.
 *
 * The clock goes by number, so each reading is provisional until a proof that
 * comes after it: who still owns the number then has owned it since he was
 * born, hence also when the clock was read, for he was remembered before that.
 * Three proofs, the cheapest that is to be had:
 *
 *   a held pidfd      poll() of all of them in one call: what it does not
 *                     report has not ended (fs/pidfs.c, pidfd_poll)
 *   a fresh pidfd     its inode is the remembered one, and never another's
 *   stat              below a directory of its own, the start tick is the
 *                     remembered one; or a held directory still answers
 *
 * Where the number has an owner and no directory, nothing says whether it was
 * hidden or has ended: then the figure is hidden, and the process not ended.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/system.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>

size_t plimp_system_watch_limit(plim_host *host)
{
	struct rlimit limit;

	if (!host->system->live)
		return 0;
	host->bill.system_calls++;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 0;
	return limit.rlim_cur / 4 < PLIM_WATCH_HELD
		   ? (size_t)(limit.rlim_cur / 4)
		   : PLIM_WATCH_HELD;
}

static int watch_lost(int problem, plim_error *error)
{
	switch (problem) {
	case ESRCH:
	case ENOENT:
	case EINVAL: /* the number is that of a thread now */
		return plimp_fail(error, PLIM_ENOPROCESS, 0, "watch process",
				  NULL, NULL);
	case EPERM:
	case EACCES:
		return plimp_fail(error, PLIM_EHIDDEN, 0, "watch process", NULL,
				  NULL);
	case EBADMSG:
		return plimp_fail(error, PLIM_EMALFORMED, 0, "watch process",
				  "stat", NULL);
	default:
		return plimp_fail(
		    error, PLIM_ESYSTEM, problem, "watch process", NULL,
		    plimp_is_starved(problem) ? "raise the limit of open files"
					      : NULL);
	}
}

/* The start tick of who is behind a directory: 0, or the error. */
static int watch_ticks(plim_host *host, int directory, struct plimp_stat *stat)
{
	plim_bytes text;
	int problem = plimp_read_file(host, directory, "stat", &text);

	if (problem == 0 && plimp_decode_stat(text, stat) != PLIM_OK)
		problem = EBADMSG;
	return problem;
}

/* Who has the number now: fills `*found`, and opens what may be held. */
static int watch_find(plim_host *host, const plim_identity *wanted,
		      plim_identity *found, int *pidfd, int *directory)
{
	struct plimp_stat stat;
	int problem;

	plimp_identity_of_host(host, found);
	found->pid = wanted->pid;
	if (host->system->has_pidfd) {
		*pidfd = plimp_call_pidfd(host, wanted->pid);
		if (*pidfd < 0)
			return errno;
		if (plimp_pidfd_inode(host, *pidfd, &found->inode) == 0)
			found->has |= PLIM_IDENTITY_INODE;
	}
	if ((wanted->has & found->has & PLIM_IDENTITY_INODE) != 0)
		return 0;
	/* After the pidfd: then the proof holds for that, too. */
	*directory = plimp_open_process(host, wanted->pid);
	problem = *directory < 0 ? errno : watch_ticks(host, *directory, &stat);
	if (problem == 0) {
		found->start_ticks = stat.start_ticks;
		found->has |= PLIM_IDENTITY_START;
	} else if (plimp_is_gone(problem) &&
		   plimp_probe_pidfd(host, *pidfd) == 0) {
		problem = EPERM;
	}
	return problem;
}

static int watch_compare(const plim_identity *wanted,
			 const plim_identity *found, plim_error *error)
{
	char text[48];

	switch (plim_identity_compare(wanted, found)) {
	case PLIM_SAME:
		return PLIM_OK;
	case PLIM_DIFFERENT:
		plim_identity_format(wanted, text, sizeof text);
		return plimp_fail(error, PLIM_EREPLACED, 0, "watch process",
				  text, NULL);
	default:
		plim_identity_format(wanted, text, sizeof text);
		return plimp_fail(error, PLIM_ECANNOTTELL, 0, "watch process",
				  text,
				  "this host cannot prove such an identity");
	}
}

int plimp_system_watch(plim_host *host, const plim_identity *identity, int hold,
		       struct plimp_watched *watched, plim_error *error)
{
	struct plimp_watched made = {.identity = *identity, .descriptor = -1};
	plim_identity found;
	int pidfd = -1;
	int directory = -1;
	int problem = watch_find(host, identity, &found, &pidfd, &directory);
	int code = problem != 0 ? watch_lost(problem, error)
				: watch_compare(identity, &found, error);

	if (code == PLIM_OK) {
		made.identity.inode = found.inode;
		made.identity.has |= found.has & PLIM_IDENTITY_INODE;
		if (hold && host->system->live) {
			made.by_pidfd = pidfd >= 0;
			made.descriptor = made.by_pidfd ? pidfd : directory;
			*(made.by_pidfd ? &pidfd : &directory) = -1;
		}
		*watched = made;
	}
	plimp_call_close(host, pidfd);
	plimp_call_close(host, directory);
	return code;
}

void plimp_system_unwatch(plim_host *host, struct plimp_watched *watched)
{
	plimp_call_close(host, watched->descriptor);
	watched->descriptor = -1;
}

static void watch_end(plim_host *host, struct plimp_watched *watched)
{
	watched->cpu = plim_count_missing(PLIM_REASON_ENDED, 0);
	watched->ended = 1;
	plimp_system_unwatch(host, watched);
}

/* No directory, where hiding is possible: a number without an owner is one
 * that ended. */
static void watch_unseen(plim_host *host, struct plimp_watched *watched)
{
	plim_count hidepid = plimp_system_hidepid(host);

	if (!host->system->live || watched->cpu.state != PLIM_STATE_KNOWN ||
	    (hidepid.state == PLIM_STATE_KNOWN && hidepid.value == 0))
		watch_end(host, watched);
	else
		watched->cpu = plim_count_missing(PLIM_REASON_INVISIBLE, 0);
}

static void watch_failed(plim_host *host, struct plimp_watched *watched,
			 int problem)
{
	if (plimp_is_gone(problem))
		watch_unseen(host, watched);
	else
		watched->cpu = plimp_missing_file(problem);
}

static void watch_prove_inode(plim_host *host, struct plimp_watched *watched)
{
	int pidfd = plimp_call_pidfd(host, watched->identity.pid);
	uint64_t inode;
	int problem;

	if (pidfd < 0 && (plimp_is_gone(errno) || errno == EINVAL)) {
		watch_end(host, watched);
		return;
	}
	problem = pidfd < 0 ? errno : plimp_pidfd_inode(host, pidfd, &inode);
	plimp_call_close(host, pidfd);
	if (problem != 0)
		watched->cpu = plimp_missing_file(problem);
	else if (inode != watched->identity.inode)
		watch_end(host, watched);
}

/* Through another proc root there is no clock; there stat tells it in ticks. */
static void watch_prove_ticks(plim_host *host, struct plimp_watched *watched)
{
	int directory = plimp_open_process(host, watched->identity.pid);
	struct plimp_stat stat;
	int problem =
	    directory < 0 ? errno : watch_ticks(host, directory, &stat);

	plimp_call_close(host, directory);
	if (problem != 0)
		watch_failed(host, watched, problem);
	else if (stat.start_ticks != watched->identity.start_ticks)
		watch_end(host, watched);
	else if (watched->cpu.state != PLIM_STATE_KNOWN)
		watched->cpu =
		    plimp_known(plimp_ticks_to_ns(host, stat.user_ticks +
							    stat.system_ticks),
				PLIM_METHOD_STAT_TICKS);
}

static void watch_prove_directory(plim_host *host,
				  struct plimp_watched *watched)
{
	int problem = plimp_probe_directory(host, watched->descriptor);

	if (problem != 0)
		watch_failed(host, watched, problem);
}

/* What has a held pidfd is proven later, with all others. */
static void watch_read(plim_host *host, struct plimp_watched *watched)
{
	uint64_t ns = 0;
	int problem = ENOSYS;

	watched->monotonic_ns = plimp_system_monotonic();
	if (host->system->live)
		problem = plimp_process_clock(host, watched->identity.pid, &ns);
	watched->cpu = problem == 0
			   ? plimp_known(ns, PLIM_METHOD_PROCESS_CPU_CLOCK)
			   : plimp_missing_file(problem);
	if (watched->by_pidfd)
		return;
	if (watched->descriptor >= 0)
		watch_prove_directory(host, watched);
	else if ((watched->identity.has & PLIM_IDENTITY_INODE) != 0)
		watch_prove_inode(host, watched);
	else
		watch_prove_ticks(host, watched);
}

/* It has ended, or is a zombie, whose number is still its own. */
static void watch_prove_pidfd(plim_host *host, struct plimp_watched *watched)
{
	int problem = plimp_probe_pidfd(host, watched->descriptor);

	if (problem == ESRCH)
		watch_end(host, watched);
	else if (problem != 0)
		watched->cpu = plimp_missing_file(problem);
}

static void watch_prove_held(plim_host *host, struct plimp_watched *items,
			     size_t count)
{
	struct pollfd entries[PLIM_WATCH_HELD];
	struct plimp_watched *owners[PLIM_WATCH_HELD];
	nfds_t held = 0;
	nfds_t i;
	int ready;

	for (; count > 0; count--, items++) {
		if (items->ended || !items->by_pidfd)
			continue;
		assert(held < PLIM_WATCH_HELD);
		entries[held] = (struct pollfd){items->descriptor, POLLIN, 0};
		owners[held++] = items;
	}
	if (held == 0)
		return;
	host->bill.system_calls++;
	ready = poll(entries, held, 0);
	for (i = 0; i < held && ready != 0; i++)
		if (ready < 0 || entries[i].revents != 0)
			watch_prove_pidfd(host, owners[i]);
}

void plimp_system_watch_read(plim_host *host, struct plimp_watched *items,
			     size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!items[i].ended)
			watch_read(host, &items[i]);
	watch_prove_held(host, items, count);
}
