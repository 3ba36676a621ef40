/*
 * target.c - a process that is kept an eye on: what became of it, and its end.
 *
 * Its unique id says who it is; a kqueue, attached between two looks at that
 * id and so to the process itself, says when it ends and how. The queue stays
 * readable once it has told. A signal goes to a pid and its version, which no
 * successor has (macOS 14.4); before there are signals to numbers alone, whose
 * owner may change between a look and the signal: then none is sent.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/macos/system.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int target_mac_fail(int problem, int32_t pid, plim_error *error)
{
	char name[16];
	int code = problem == ESRCH			   ? PLIM_ENOPROCESS
		   : problem == EPERM || problem == EACCES ? PLIM_EHIDDEN
		   : problem == EBADMSG			   ? PLIM_EMALFORMED
							   : PLIM_ESYSTEM;

	snprintf(name, sizeof name, "%d", (int)pid);
	return plimp_fail(error, code, code == PLIM_ESYSTEM ? problem : 0,
			  "open process", name,
			  problem == EMFILE || problem == ENFILE
			      ? "raise the limit of open files"
			      : NULL);
}

/* A zombie has nothing to attach to: it has ended already. */
static int target_mac_queue(plim_target *target, int32_t pid)
{
	struct plimp_grip *grip = target->grip;
	int queue = plimp_mac_call_queue(target->host, pid, 1);

	grip->tells_status = queue >= 0;
	if (queue == -EACCES || queue == -EPERM)
		queue = plimp_mac_call_queue(target->host, pid, 0);
	if (queue == -ESRCH) {
		grip->ended = 1;
		return 0;
	}
	if (queue < 0)
		return queue;
	grip->queue = queue;
	return 0;
}

/* 0, or minus the error. */
static int target_mac_describe(plim_target *target, int32_t pid)
{
	plim_host *host = target->host;
	char bytes[PLIMP_MAC_ASK_SIZE];
	struct plimp_mac_process process;
	struct plimp_mac_unique before;
	struct plimp_mac_unique after;
	int refused;
	int problem = plimp_mac_who(host, pid, &target->identity);

	if (problem == 0)
		problem = plimp_mac_unique(host, pid, &before);
	if (problem == 0)
		problem = plimp_mac_ask(host, pid, bytes, &process, &refused);
	if (problem == 0)
		problem = target_mac_queue(target, pid);
	if (problem == 0)
		problem = plimp_mac_unique(host, pid, &after);
	if (problem != 0)
		return problem;
	if (before.id != target->identity.inode ||
	    after.id != target->identity.inode)
		return -ESRCH;
	target->grip->version = after.version;
	target->name_size = (uint8_t)process.name.size;
	memcpy(target->name, process.name.data, process.name.size);
	return 0;
}

int plimp_system_grip(plim_target *target, int32_t pid, plim_error *error)
{
	plim_host *host = target->host;
	int problem;

	target->grip =
	    plimp_allocate(&host->allocator, 1, sizeof *target->grip);
	if (target->grip == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open process", NULL,
				  NULL);
	target->grip->queue = -1;
	problem = target_mac_describe(target, pid);
	if (problem == 0)
		return PLIM_OK;
	plimp_system_release(target);
	return target_mac_fail(-problem, pid, error);
}

void plimp_system_release(plim_target *target)
{
	if (target->grip == NULL)
		return;
	if (target->grip->queue >= 0)
		plimp_mac_call_close(target->host, target->grip->queue);
	plimp_release(&target->host->allocator, target->grip, 1,
		      sizeof *target->grip);
	target->grip = NULL;
}

static int target_mac_fate(plim_target *target, struct plimp_mac_unique *unique)
{
	switch (plimp_mac_unique(target->host, target->identity.pid, unique)) {
	case 0:
		return unique->id == target->identity.inode
			   ? PLIM_FATE_SAME
			   : PLIM_FATE_REPLACED;
	case -ESRCH:
		return PLIM_FATE_GONE;
	case -EPERM:
	case -EACCES:
		return PLIM_FATE_HIDDEN;
	default:
		return PLIM_FATE_CANNOT_TELL;
	}
}

static int target_mac_changes(plim_target *target,
			      const struct plimp_mac_unique *unique,
			      const struct plimp_mac_process *process)
{
	struct plimp_grip *grip = target->grip;
	int changes = 0;

	if (unique->version != 0 && grip->version != 0 &&
	    unique->version != grip->version)
		changes |= PLIM_CHANGE_IMAGE;
	if (process->name.size != target->name_size ||
	    memcmp(process->name.data, target->name, target->name_size) != 0)
		changes |= PLIM_CHANGE_NAME;
	grip->version = unique->version;
	target->name_size = (uint8_t)process->name.size;
	memcpy(target->name, process->name.data, process->name.size);
	return changes;
}

void plimp_system_check(plim_target *target, plim_check *check)
{
	char bytes[PLIMP_MAC_ASK_SIZE];
	struct plimp_mac_process process;
	struct plimp_mac_unique unique;
	int refused;
	int problem;

	memset(check, 0, sizeof *check);
	check->fate = target_mac_fate(target, &unique);
	if (check->fate != PLIM_FATE_SAME)
		return;
	problem = plimp_mac_ask(target->host, target->identity.pid, bytes,
				&process, &refused);
	/* What was asked by number is its own if it is still the same. */
	check->fate = target_mac_fate(target, &unique);
	if (check->fate != PLIM_FATE_SAME || problem != 0)
		return;
	check->zombie = process.status == PLIMP_MAC_ZOMBIE;
	if (!check->zombie)
		check->changes = target_mac_changes(target, &unique, &process);
}

static int target_mac_lost(plim_target *target, plim_error *error)
{
	struct plimp_mac_unique unique;
	char name[16];
	int code;

	switch (target_mac_fate(target, &unique)) {
	case PLIM_FATE_REPLACED:
		code = PLIM_EREPLACED;
		break;
	case PLIM_FATE_HIDDEN:
		code = PLIM_EHIDDEN;
		break;
	case PLIM_FATE_GONE:
		code = PLIM_ENOPROCESS;
		break;
	default:
		code = PLIM_ECANNOTTELL;
	}
	snprintf(name, sizeof name, "%d", (int)target->identity.pid);
	return plimp_fail(error, code, 0, "measure process", name, NULL);
}

int plimp_system_read_target(plim_target *target,
			     const struct plimp_request *request,
			     plim_process *record,
			     struct plimp_thread_list *threads,
			     plim_error *error)
{
	int code =
	    plimp_mac_read(target->host, target->identity.pid,
			   &target->identity, request, record, threads, error);

	if (code == PLIM_OK)
		plimp_record_identity(record, &target->identity);
	if (code == PLIM_OK)
		plimp_mac_rung(record);
	if (code == PLIM_ENOPROCESS || code == PLIM_EHIDDEN ||
	    code == PLIM_EREPLACED)
		return target_mac_lost(target, error);
	return code;
}

/* Takes what the queue has to tell: 1 if the process has ended, 0 if not, or
 * minus the error. A queue is not handed on by fork: a child's is none. */
static int target_mac_ended(plim_target *target)
{
	struct plimp_grip *grip = target->grip;
	int told;

	if (grip->ended || grip->queue < 0)
		return grip->ended;
	told = plimp_mac_call_ended(target->host, grip->queue, &grip->status);
	if (told == 1) {
		grip->ended = 1;
		grip->has_status = grip->tells_status;
	}
	return told;
}

int plimp_system_wait(plim_target *target, uint64_t timeout_ns,
		      plim_error *error)
{
	uint64_t begin = plimp_system_monotonic();
	uint64_t spent = 0;
	int ended = target_mac_ended(target);

	while (ended == 0) {
		if (spent >= timeout_ns)
			return plimp_fail(error, PLIM_ETIMEOUT, 0,
					  "wait for the end", NULL, NULL);
		ended = plimp_mac_call_sleep(target->host, timeout_ns - spent,
					     target->grip->queue);
		if (ended >= 0)
			ended = target_mac_ended(target);
		spent = plimp_system_monotonic() - begin;
	}
	if (ended > 0)
		return PLIM_OK;
	return plimp_fail(error, PLIM_ESYSTEM, -ended, "wait for the end", NULL,
			  ended == -EBADF ? "a target opened before fork: open "
					    "another"
					  : NULL);
}

plim_count plimp_system_exit_status(plim_target *target)
{
	const struct plimp_grip *grip = target->grip;

	if (target_mac_ended(target) <= 0)
		return plim_count_missing(PLIM_REASON_STILL_LIVES, 0);
	if (grip->has_status)
		return plimp_known(grip->status, PLIM_METHOD_MAC_QUEUE);
	return grip->queue >= 0 ? plim_count_missing(PLIM_REASON_OTHER_USER, 0)
				: plim_count_missing(PLIM_REASON_ENDED, 0);
}

int plimp_system_poll_descriptor(const plim_target *target)
{
	return target->grip->queue;
}

/* 0, or minus the error. The version that the signal goes by is another after
 * an exec: then it is looked up again. */
static int target_mac_signal(plim_target *target, int number)
{
	struct plimp_mac_unique unique;
	int32_t pid = target->identity.pid;
	int problem = -ESRCH;
	int tries;

	for (tries = 0; tries < 3 && problem == -ESRCH; tries++) {
		problem = plimp_mac_unique(target->host, pid, &unique);
		if (problem != 0)
			return problem;
		if (unique.id != target->identity.inode)
			return -ESRCH;
		if (number == 0)
			return 0;
		problem = unique.version != 0
			      ? plimp_mac_call_signal(target->host, pid,
						      unique.version, number)
			      : -ENOSYS;
	}
	return problem;
}

int plimp_system_signal(plim_target *target, int number, plim_error *error)
{
	char name[16];
	int problem = number < PLIMP_MAC_SIGNALS
			  ? target_mac_signal(target, number)
			  : -EINVAL;
	int code = problem == -ESRCH			     ? PLIM_ENOPROCESS
		   : problem == -EPERM || problem == -EACCES ? PLIM_EDENIED
		   : problem == -EINVAL			     ? PLIM_EINVAL
		   : problem == -ENOSYS			     ? PLIM_EUNSUPPORTED
							     : PLIM_ESYSTEM;

	if (problem == 0)
		return PLIM_OK;
	snprintf(name, sizeof name, "%d", (int)target->identity.pid);
	return plimp_fail(error, code, code == PLIM_EUNSUPPORTED ? 0 : -problem,
			  "signal", name,
			  code == PLIM_EUNSUPPORTED
			      ? "before macOS 14.4 signals go to numbers"
			      : NULL);
}

int plimp_system_allow_attach(int32_t pid, plim_error *error)
{
	(void)pid;
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "allow attach", NULL,
			  "this system leaves it to root and to entitlements");
}
