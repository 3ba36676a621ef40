/*
 * target.c - a process that is kept an eye on: what pins it, what became of
 * it, signals and its end.
 *
 * A target holds its own directory in /proc and a pidfd. Both are bound to the
 * process. The directory answers while this user may see the process; the
 * pidfd answers also when /proc hides it, which is how "hidden" is told from
 * "ended". Where neither can say, the answer is "cannot tell", never "gone".
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* include/uapi/linux/pidfd.h, first version of the structure (Linux 6.13);
 * the exit code is filled since 6.15, once the process was reaped. */
struct target_pidfd_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t pid, tgid, ppid;
	uint32_t uids[8];
	int32_t exit_code;
};
#define TARGET_GET_INFO	 _IOWR(0xff, 11, struct target_pidfd_info)
#define TARGET_INFO_EXIT 8u

/* Without pidfds: does anybody have this pid? Signal 0 is not delivered. */
static int target_has_owner(plim_host *host, int32_t pid)
{
	host->bill.system_calls++;
	return kill(pid, 0) == 0 || errno != ESRCH;
}

/* 1 if somebody has this pid and has no directory all the same: alive after
 * the look for it has failed, so that an end or a start does not count. */
static int target_is_unseen(plim_host *host, int32_t pid, const char *name)
{
	struct stat status;
	int pidfd = plimp_call_pidfd(host, pid);
	int unseen;

	/* The number is looked up before a descriptor is. */
	if (pidfd < 0)
		return plimp_is_starved(errno);
	unseen =
	    plimp_call_stat(host, host->system->root, name, &status, 0) != 0 &&
	    plimp_probe_pidfd(host, pidfd) == 0;
	plimp_call_close(host, pidfd);
	return unseen;
}

/* Why there is no directory for a pid: nobody has it, or it is hidden. */
static int target_explain(plim_target *target, int32_t pid, int problem,
			  plim_error *error)
{
	plim_host *host = target->host;
	int denied = problem == EPERM || problem == EACCES;
	char name[16];
	int found = 0;

	snprintf(name, sizeof name, "%d", (int)pid);
	if (!denied && !plimp_is_gone(problem))
		return plimp_fail(error, PLIM_ESYSTEM, problem, "open process",
				  name, NULL);
	if (!denied && host->system->has_pidfd)
		found = target_is_unseen(host, pid, name);
	else if (!denied && host->system->live)
		found = target_has_owner(host, pid);
	if (denied || found)
		return plimp_fail(error, PLIM_EHIDDEN, 0, "open process", name,
				  "%s is mounted with hidepid: ask as its "
				  "owner, or as root",
				  host->proc_root);
	return plimp_fail(error, PLIM_ENOPROCESS, 0, "open process", name,
			  NULL);
}

void plimp_target_image(plim_host *host, int directory,
			const struct plimp_stat *stat, struct plimp_grip *grip)
{
	struct statx status;

	grip->stack_start =
	    (stat->has & PLIMP_STAT_STACK) != 0 ? stat->stack_start : 0;
	/* What is cached suffices: no file server is waited for. */
	host->bill.system_calls++;
	grip->exe_known =
	    statx(directory, "exe", AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		  STATX_INO, &status) == 0;
	if (grip->exe_known) {
		grip->exe_device = ((uint64_t)status.stx_dev_major << 32) |
				   status.stx_dev_minor;
		grip->exe_inode = status.stx_ino;
	}
}

static void target_name(plim_target *target, plim_bytes name)
{
	size_t size = name.size < PLIMP_NAME_SIZE ? name.size : PLIMP_NAME_SIZE;

	memcpy(target->name, name.data, size);
	target->name_size = (uint8_t)size;
}

/* A thread other than the main one has a directory too, though unlisted. */
static int target_is_process(plim_host *host, int directory, int32_t pid,
			     plim_error *error)
{
	struct plimp_status status;
	plim_bytes text;
	char name[16];

	/* A process that was reaped under the reader has the numbers 0; the
	 * look at the directory that follows finds it gone. */
	if (plimp_read_file(host, directory, "status", &text) != 0 ||
	    plimp_decode_status(text, &status) != PLIM_OK ||
	    (status.has & PLIMP_STATUS_TGID) == 0 || status.tgid == pid ||
	    status.tgid == 0)
		return PLIM_OK;
	snprintf(name, sizeof name, "%d", (int)pid);
	return plimp_fail(error, PLIM_ETHREAD, 0, "open process", name,
			  "it is a thread of process %d", (int)status.tgid);
}

/* Fills identity, name and grip from an open directory. */
static int target_describe(plim_target *target, int32_t pid, plim_error *error)
{
	plim_host *host = target->host;
	struct plimp_grip *grip = target->grip;
	struct plimp_stat stat;
	plim_bytes text;
	int problem = plimp_read_file(host, grip->directory, "stat", &text);
	int code;

	if (problem != 0)
		return target_explain(target, pid, problem, error);
	if (plimp_decode_stat(text, &stat) != PLIM_OK)
		return plimp_fail(error, PLIM_EMALFORMED, 0, "open process",
				  "stat", NULL);
	target_name(target, stat.name);
	plimp_target_image(host, grip->directory, &stat, grip);
	plimp_identity_of_host(host, &target->identity);
	target->identity.pid = pid;
	target->identity.start_ticks = stat.start_ticks;
	target->identity.has |= PLIM_IDENTITY_START;
	code = target_is_process(host, grip->directory, pid, error);
	if (code != PLIM_OK)
		return code;
	if (host->system->has_pidfd)
		grip->pidfd = plimp_call_pidfd(host, pid);
	if (host->system->has_pidfd && grip->pidfd < 0 &&
	    plimp_is_starved(errno))
		return target_explain(target, pid, errno, error);
	if (grip->pidfd >= 0 &&
	    plimp_pidfd_inode(host, grip->pidfd, &target->identity.inode) == 0)
		target->identity.has |= PLIM_IDENTITY_INODE;
	/* Still there: then the number was its own while the pidfd was made. */
	problem = plimp_probe_directory(host, grip->directory);
	return problem == 0 ? PLIM_OK
			    : target_explain(target, pid, problem, error);
}

int plimp_system_grip(plim_target *target, int32_t pid, plim_error *error)
{
	plim_host *host = target->host;
	int code;

	target->grip =
	    plimp_allocate(&host->allocator, 1, sizeof *target->grip);
	if (target->grip == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open process", NULL,
				  NULL);
	target->grip->pidfd = -1;
	target->grip->directory = plimp_open_process(host, pid);
	if (target->grip->directory < 0)
		code = target_explain(target, pid, errno, error);
	else
		code = target_describe(target, pid, error);
	if (code != PLIM_OK)
		plimp_system_release(target);
	return code;
}

void plimp_system_release(plim_target *target)
{
	if (target->grip == NULL)
		return;
	plimp_call_close(target->host, target->grip->directory);
	plimp_call_close(target->host, target->grip->pidfd);
	plimp_release(&target->host->allocator, target->grip, 1,
		      sizeof *target->grip);
	target->grip = NULL;
}

/* The target is known to have ended: does its pid have a new owner? */
static int target_successor(plim_target *target)
{
	plim_host *host = target->host;
	int32_t pid = target->identity.pid;
	int other = plimp_open_process(host, pid);

	if (other < 0 && host->system->has_pidfd)
		other = plimp_call_pidfd(host, pid);
	if (other < 0)
		return plimp_is_gone(errno) ? PLIM_FATE_GONE
					    : PLIM_FATE_CANNOT_TELL;
	plimp_call_close(host, other);
	return PLIM_FATE_REPLACED;
}

/* The directory does not answer; the pidfd knows, and where there is none the
 * absence proves an end only if nothing can be hidden. */
static int target_fate(plim_target *target, int problem)
{
	plim_host *host = target->host;
	int alive = plimp_probe_pidfd(host, target->grip->pidfd);
	plim_count hidepid;

	if (alive == ESRCH)
		return target_successor(target);
	if (problem == EPERM || problem == EACCES)
		return PLIM_FATE_HIDDEN;
	if (!plimp_is_gone(problem))
		return PLIM_FATE_CANNOT_TELL;
	if (alive == 0)
		return plimp_probe_directory(host, target->grip->directory) == 0
			   ? PLIM_FATE_CANNOT_TELL
			   : PLIM_FATE_HIDDEN;
	if (!host->system->live)
		return target_successor(target);
	hidepid = plimp_system_hidepid(host);
	if (hidepid.state == PLIM_STATE_KNOWN && hidepid.value == 0)
		return target_successor(target);
	return target_has_owner(host, target->identity.pid)
		   ? PLIM_FATE_CANNOT_TELL
		   : PLIM_FATE_GONE;
}

int plimp_target_lost(plim_target *target, int problem, const char *operation,
		      plim_error *error)
{
	char name[16];
	int code;

	switch (target_fate(target, problem)) {
	case PLIM_FATE_REPLACED:
		code = PLIM_EREPLACED;
		break;
	case PLIM_FATE_HIDDEN:
		code = PLIM_EHIDDEN;
		break;
	case PLIM_FATE_CANNOT_TELL:
		code = PLIM_ECANNOTTELL;
		break;
	default:
		code = PLIM_ENOPROCESS;
	}
	snprintf(name, sizeof name, "%d", (int)target->identity.pid);
	return plimp_fail(error, code, 0, operation, name, NULL);
}

static int target_changes(plim_target *target, const struct plimp_stat *stat)
{
	struct plimp_grip now = *target->grip;
	int changes = 0;

	plimp_target_image(target->host, target->grip->directory, stat, &now);
	/* While exec is under way the stack is not placed yet: what was seen
	 * then is no state to compare with. */
	if (now.exe_known && target->grip->exe_known &&
	    target->grip->stack_start == 0) {
		*target->grip = now;
		return 0;
	}
	if (now.exe_known && target->grip->exe_known && now.stack_start != 0 &&
	    (now.exe_device != target->grip->exe_device ||
	     now.exe_inode != target->grip->exe_inode ||
	     now.stack_start != target->grip->stack_start))
		changes |= PLIM_CHANGE_IMAGE;
	if (stat->name.size != target->name_size ||
	    memcmp(stat->name.data, target->name, target->name_size) != 0)
		changes |= PLIM_CHANGE_NAME;
	if (now.exe_known && now.stack_start != 0)
		*target->grip = now;
	return changes;
}

void plimp_system_check(plim_target *target, plim_check *check)
{
	struct plimp_stat stat;
	plim_bytes text;
	int problem = plimp_read_file(target->host, target->grip->directory,
				      "stat", &text);

	memset(check, 0, sizeof *check);
	if (problem != 0) {
		check->fate = target_fate(target, problem);
		return;
	}
	check->fate = PLIM_FATE_SAME;
	if (plimp_decode_stat(text, &stat) != PLIM_OK) {
		if (!target->host->system->live)
			check->fate = PLIM_FATE_CANNOT_TELL;
		return;
	}
	/* A directory of a recording is bound to nobody. */
	if (stat.start_ticks != target->identity.start_ticks) {
		check->fate = PLIM_FATE_REPLACED;
		return;
	}
	check->zombie = stat.state == 'Z' && stat.threads <= 1;
	if (!check->zombie)
		check->changes = target_changes(target, &stat);
	target_name(target, stat.name);
}

int plimp_system_read_target(plim_target *target,
			     const struct plimp_request *request,
			     plim_process *record,
			     struct plimp_thread_list *threads,
			     plim_error *error)
{
	char name[16];
	int code = plimp_read_directory(target->host, target->grip->directory,
					target->identity.pid, request, record,
					threads, error);

	snprintf(name, sizeof name, "%d", (int)target->identity.pid);
	if (code == PLIM_OK) {
		int same =
		    plim_identity_compare(&record->identity, &target->identity);

		if (same == PLIM_DIFFERENT)
			return plimp_fail(error, PLIM_EREPLACED, 0,
					  "measure process", name, NULL);
		/* A live directory is its process's own, whatever it tells. */
		if (same != PLIM_SAME && !target->host->system->live)
			return plimp_fail(error, PLIM_ECANNOTTELL, 0,
					  "measure process", name, NULL);
	}
	if (code == PLIM_OK)
		plimp_record_identity(record, &target->identity);
	if (code != PLIM_ENOPROCESS && code != PLIM_EHIDDEN)
		return code;
	return plimp_target_lost(target, code == PLIM_EHIDDEN ? EPERM : ESRCH,
				 "measure process", error);
}

static int target_no_pidfd(const char *operation, plim_error *error)
{
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, operation, NULL,
			  "it takes a pidfd (Linux 5.3) of the live system");
}

int plimp_system_wait(plim_target *target, uint64_t timeout_ns,
		      plim_error *error)
{
	struct pollfd poll_entry = {target->grip->pidfd, POLLIN, 0};
	uint64_t begin = plimp_system_now().monotonic.ns;
	int ready;

	if (target->grip->pidfd < 0)
		return target_no_pidfd("wait for the end", error);
	do {
		uint64_t spent = plimp_system_now().monotonic.ns - begin;
		uint64_t rest = spent < timeout_ns ? timeout_ns - spent : 0;
		struct timespec time = {(time_t)(rest / 1000000000u),
					(long)(rest % 1000000000u)};

		target->host->bill.system_calls++;
		ready = ppoll(&poll_entry, 1, &time, NULL);
	} while (ready < 0 && errno == EINTR);
	if (ready > 0)
		return PLIM_OK;
	return plimp_fail(error, ready == 0 ? PLIM_ETIMEOUT : PLIM_ESYSTEM,
			  ready == 0 ? 0 : errno, "wait for the end", NULL,
			  NULL);
}

plim_count plimp_system_exit_status(plim_target *target)
{
	struct target_pidfd_info info;

	if (target->grip->pidfd < 0)
		return plim_count_missing(target->host->system->live
					      ? PLIM_REASON_KERNEL_LACKS
					      : PLIM_REASON_OTHER_ROOT,
					  0);
	memset(&info, 0, sizeof info);
	info.mask = TARGET_INFO_EXIT;
	target->host->bill.system_calls++;
	if (ioctl(target->grip->pidfd, TARGET_GET_INFO, &info) != 0)
		return plim_count_missing(PLIM_REASON_KERNEL_LACKS, errno);
	if ((info.mask & TARGET_INFO_EXIT) == 0)
		return plim_count_missing(PLIM_REASON_NOT_REAPED, 0);
	return plimp_known((uint64_t)(uint32_t)info.exit_code,
			   PLIM_METHOD_PIDFD_INFO);
}

int plimp_system_poll_descriptor(const plim_target *target)
{
	return target->grip->pidfd;
}

int plimp_system_signal(plim_target *target, int number, plim_error *error)
{
	char name[16];
	int code;

	if (target->grip->pidfd < 0)
		return target_no_pidfd("signal", error);
	target->host->bill.system_calls++;
	if (syscall(PLIMP_SYS_PIDFD_SEND_SIGNAL, target->grip->pidfd, number,
		    NULL, 0) == 0)
		return PLIM_OK;
	code = errno == ESRCH	 ? PLIM_ENOPROCESS
	       : errno == EPERM	 ? PLIM_EDENIED
	       : errno == EINVAL ? PLIM_EINVAL
				 : PLIM_ESYSTEM;
	snprintf(name, sizeof name, "%d", (int)target->identity.pid);
	return plimp_fail(error, code, errno, "signal", name, NULL);
}
