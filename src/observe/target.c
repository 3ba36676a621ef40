/*
 * target.c - plim_target: arguments are checked here, the host does the rest.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/host.h"
#include "host/bill.h"

#include <assert.h>

int plim_target_open(plim_target **target, plim_host *host, int32_t pid,
		     plim_error *error)
{
	plim_target *made;
	int code;

	if (target == NULL || host == NULL || pid < 1)
		return plimp_fail(error, PLIM_EINVAL, 0, "open process", NULL,
				  "a pid is a number from 1 up");
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open process", NULL,
				  NULL);
	made->host = host;
	code = plimp_system_grip(made, pid, error);
	if (code != PLIM_OK) {
		plimp_release(&host->allocator, made, 1, sizeof *made);
		return code;
	}
	*target = made;
	return PLIM_OK;
}

int plim_target_open_identity(plim_target **target, plim_host *host,
			      const plim_identity *identity, plim_error *error)
{
	plim_target *made = NULL;
	char text[48];
	char owner[48];
	int code;

	if (target == NULL || host == NULL || identity == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "open process", NULL,
				  NULL);
	code = plim_target_open(&made, host, identity->pid, error);
	if (code != PLIM_OK)
		return code;
	assert(made != NULL);
	switch (plim_identity_compare(identity, &made->identity)) {
	case PLIM_SAME:
		*target = made;
		return PLIM_OK;
	case PLIM_DIFFERENT:
		plim_identity_format(identity, text, sizeof text);
		plim_identity_format(&made->identity, owner, sizeof owner);
		plimp_fail(error, PLIM_EREPLACED, 0, "open process", text,
			   "its pid is %s now", owner);
		code = PLIM_EREPLACED;
		break;
	default:
		plim_identity_format(identity, text, sizeof text);
		plimp_fail(error, PLIM_ECANNOTTELL, 0, "open process", text,
			   "this host cannot prove such an identity");
		code = PLIM_ECANNOTTELL;
		break;
	}
	plim_target_close(made);
	return code;
}

void plim_target_close(plim_target *target)
{
	plim_host *host;

	if (target == NULL)
		return;
	host = target->host;
	plimp_system_release(target);
	plimp_release(&host->allocator, target, 1, sizeof *target);
}

plim_identity plim_target_identity(const plim_target *target)
{
	assert(target != NULL);
	return target->identity;
}

int plim_target_check(plim_target *target, plim_check *check, plim_error *error)
{
	if (target == NULL || check == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "check process", NULL,
				  NULL);
	plimp_system_check(target, check);
	assert(check->changes == 0 || check->fate == PLIM_FATE_SAME);
	return PLIM_OK;
}

int plim_target_wait(plim_target *target, uint64_t timeout_ns,
		     plim_error *error)
{
	if (target == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "wait for the end",
				  NULL, NULL);
	return plimp_system_wait(target, timeout_ns, error);
}

plim_count plim_target_exit_status(plim_target *target)
{
	assert(target != NULL);
	return plimp_system_exit_status(target);
}

int plim_target_poll_descriptor(const plim_target *target)
{
	assert(target != NULL);
	return plimp_system_poll_descriptor(target);
}

int plim_target_signal(plim_target *target, int signal, plim_error *error)
{
	if (target == NULL || signal < 0)
		return plimp_fail(error, PLIM_EINVAL, 0, "signal", NULL, NULL);
	return plimp_system_signal(target, signal, error);
}

int plim_target_command_line(plim_target *target, plim_text *text,
			     plim_error *error)
{
	struct plimp_bill_mark mark;
	plim_cost cost = {0};
	int code;

	if (target == NULL || text == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "read command line",
				  NULL, NULL);
	mark = plimp_bill_begin(target->host, 1);
	code = plimp_system_command_line(target, text, error);
	plimp_bill_end(target->host, &mark, &cost);
	return code;
}
