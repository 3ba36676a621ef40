/*
 * none.c - the host that knows nothing: every answer is "unsupported".
 *
 * It is a whole implementation of host/host.h, the template for a port, and
 * the proof that everything above it needs no system. Copy it, rename it,
 * and replace one answer after another.
 */
#include "core/fail.h"
#include "host/host.h"

#include <limits.h>
#include <string.h>

static int none_fail(plim_error *error, const char *operation)
{
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, operation, NULL,
			  "this build of the library reads no processes");
}

static plim_count none_count(void)
{
	return plim_count_missing(PLIM_REASON_NO_BACKEND, 0);
}

int plimp_system_open(plim_host *host, plim_error *error)
{
	size_t i;

	(void)error;
	for (i = 1; i < sizeof host->facts / sizeof host->facts[0]; i++)
		host->facts[i] = none_count();
	memcpy(host->system_name, "none", 5);
	return PLIM_OK;
}

void plimp_system_close(plim_host *host)
{
	(void)host;
}

plim_stamp plimp_system_now(void)
{
	plim_stamp never = {{0}, {0}};

	return never;
}

uint64_t plimp_system_monotonic(void)
{
	return 0;
}

uint64_t plimp_system_unix_ns(void)
{
	return 0;
}

plim_count plimp_system_thread_cpu(plim_host *host)
{
	(void)host;
	return none_count();
}

void plimp_system_own(plim_host *host, struct plimp_own *own)
{
	(void)host;
	own->tid = 0;
	own->wakeups = none_count();
	own->involuntary = none_count();
	own->cpu_ns = none_count();
	own->process_cpu_ns = none_count();
}

/* There is no clock to sleep by. */
void plimp_system_sleep(plim_host *host, uint64_t ns, int descriptor)
{
	(void)host;
	(void)ns;
	(void)descriptor;
}

plim_count plimp_system_cpus(plim_host *host)
{
	(void)host;
	return none_count();
}

plim_real plimp_system_usable_cpus(plim_host *host)
{
	(void)host;
	return plim_real_missing(PLIM_REASON_NO_BACKEND, 0);
}

plim_count plimp_system_hidepid(plim_host *host)
{
	(void)host;
	return none_count();
}

int plimp_system_list(plim_host *host, struct plimp_pids *pids,
		      uint64_t *position, plim_error *error)
{
	(void)host;
	(void)pids;
	(void)position;
	return none_fail(error, "list processes");
}

void plimp_system_begin(plim_host *host)
{
	(void)host;
}

uint64_t plimp_system_ticks(const plim_host *host, plim_boottime when)
{
	(void)host;
	(void)when;
	return 0;
}

int plimp_system_read(plim_host *host, int32_t pid,
		      const struct plimp_request *request, plim_process *record,
		      struct plimp_thread_list *threads, plim_error *error)
{
	(void)host;
	(void)pid;
	(void)request;
	(void)record;
	(void)threads;
	return none_fail(error, "read processes");
}

int plimp_system_read_self(plim_host *host, const struct plimp_request *request,
			   plim_process *record,
			   struct plimp_thread_list *threads, plim_error *error)
{
	(void)host;
	(void)request;
	(void)record;
	(void)threads;
	return none_fail(error, "measure self");
}

int plimp_system_read_target(plim_target *target,
			     const struct plimp_request *request,
			     plim_process *record,
			     struct plimp_thread_list *threads,
			     plim_error *error)
{
	(void)target;
	(void)request;
	(void)record;
	(void)threads;
	return none_fail(error, "measure process");
}

int plimp_system_reap(plim_host *host, int32_t child, int *status,
		      plim_process *record, plim_error *error)
{
	(void)host;
	(void)child;
	(void)status;
	(void)record;
	return none_fail(error, "wait for child");
}

int plimp_system_grip(plim_target *target, int32_t pid, plim_error *error)
{
	(void)target;
	(void)pid;
	return none_fail(error, "open process");
}

void plimp_system_release(plim_target *target)
{
	(void)target;
}

void plimp_system_check(plim_target *target, plim_check *check)
{
	(void)target;
	memset(check, 0, sizeof *check);
	check->fate = PLIM_FATE_CANNOT_TELL;
}

int plimp_system_wait(plim_target *target, uint64_t timeout_ns,
		      plim_error *error)
{
	(void)target;
	(void)timeout_ns;
	return none_fail(error, "wait for the end");
}

plim_count plimp_system_exit_status(plim_target *target)
{
	(void)target;
	return none_count();
}

int plimp_system_poll_descriptor(const plim_target *target)
{
	(void)target;
	return -1;
}

int plimp_system_signal(plim_target *target, int signal, plim_error *error)
{
	(void)target;
	(void)signal;
	return none_fail(error, "signal");
}

int plimp_system_command_line(plim_target *target, plim_text *text,
			      plim_error *error)
{
	(void)target;
	(void)text;
	return none_fail(error, "read command line");
}

int plimp_system_find_user(const char *name, uint32_t *uid)
{
	(void)name;
	(void)uid;
	return INT_MAX;
}

int plimp_system_allow_attach(int32_t pid, plim_error *error)
{
	(void)pid;
	return none_fail(error, "allow attach");
}

int plimp_system_survey(plim_host *host, plim_finding_fn *callback, void *user,
			plim_error *error)
{
	const plim_finding finding = {
	    "system", PLIM_STATE_UNSUPPORTED,
	    plim_reason_text(PLIM_REASON_NO_BACKEND), "",
	    "build the library for this system (-Dhost=auto)"};

	(void)host;
	(void)error;
	callback(&finding, user);
	return PLIM_OK;
}

size_t plimp_system_watch_limit(plim_host *host)
{
	(void)host;
	return 0;
}

int plimp_system_watch(plim_host *host, const plim_identity *identity, int hold,
		       struct plimp_watched *watched, plim_error *error)
{
	(void)host;
	(void)identity;
	(void)hold;
	(void)watched;
	return none_fail(error, "watch process");
}

void plimp_system_unwatch(plim_host *host, struct plimp_watched *watched)
{
	(void)host;
	(void)watched;
}

void plimp_system_watch_read(plim_host *host, struct plimp_watched *items,
			     size_t count)
{
	(void)host;
	(void)items;
	(void)count;
}
