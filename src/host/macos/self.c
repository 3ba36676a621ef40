/*
 * self.c - this process, and a child at its end.
 *
 * What is asked of others is asked of ourselves the same way, and with the
 * same result: the counters of proc_pid_rusage() hold every thread, ended ones
 * included. A child that has ended keeps them as long as it is a zombie: it is
 * waited for without being reaped, asked, and reaped then. The CPU time and
 * the faults that reaping gives hold the descendants that it had waited for.
 */
#include "core/fail.h"
#include "host/macos/system.h"

#include <errno.h>

int plimp_system_read_self(plim_host *host, const struct plimp_request *request,
			   plim_process *record,
			   struct plimp_thread_list *threads, plim_error *error)
{
	const plim_identity *self = &host->system->self;

	if (plimp_mac_call_pid() != self->pid)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "measure self",
				  NULL,
				  "the host was opened before fork; open "
				  "another");
	return plimp_mac_read(host, self->pid, self, request, record, threads,
			      error);
}

static void self_account(plim_process *record,
			 const struct plimp_mac_account *account)
{
	const struct {
		int field;
		uint64_t value;
	} rows[] = {
	    {PLIM_FIELD_CPU, account->user_ns + account->system_ns},
	    {PLIM_FIELD_CPU_USER, account->user_ns},
	    {PLIM_FIELD_CPU_SYSTEM, account->system_ns},
	    {PLIM_FIELD_FAULTS_MINOR, account->faults_minor},
	    {PLIM_FIELD_FAULTS_MAJOR, account->faults_major},
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		plimp_record_set(record, rows[i].field,
				 plimp_known(rows[i].value, PLIM_METHOD_WAIT4));
}

/* Wake-ups of descendants that it had waited for stand in a counter of their
 * own; their storage traffic stands nowhere. */
static void self_last(const plim_host *host, plim_process *record,
		      struct plimp_mac_rusage *rusage)
{
	const plim_field_set kept = {
	    {PLIMP_MAC_BIT(START_TICKS) | PLIMP_MAC_BIT(PEAK_RESIDENT) |
		 PLIMP_MAC_BIT(WAKEUPS) | PLIMP_MAC_BIT(DISK_READ) |
		 PLIMP_MAC_BIT(DISK_WRITE),
	     0}};
	uint64_t more = rusage->child_interrupt_wakeups;

	rusage->interrupt_wakeups =
	    more > UINT64_MAX - rusage->interrupt_wakeups
		? UINT64_MAX
		: rusage->interrupt_wakeups + more;
	plimp_mac_store_rusage(host, record, &kept, rusage);
}

int plimp_system_reap(plim_host *host, int32_t child, int *status,
		      plim_process *record, plim_error *error)
{
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	struct plimp_mac_account account;
	struct plimp_mac_rusage rusage;
	plim_identity identity = record->identity;
	int raw = 0;
	int known;
	int field;
	int problem = plimp_mac_call_await(host, child);

	if (problem == 0) {
		known = plimp_mac_rusage(host, child, &rusage) == 0;
		if (plimp_mac_who(host, child, &identity) != 0 &&
		    identity.pid != child)
			identity = (plim_identity){.pid = child};
		problem = plimp_mac_call_reap(host, child, &raw, &account);
	}
	if (problem != 0)
		return plimp_fail(
		    error, problem == -ECHILD ? PLIM_ENOPROCESS : PLIM_ESYSTEM,
		    -problem, "wait for child", NULL, NULL);
	plimp_record_clear(record, &all);
	record->stamp = plimp_system_now();
	for (field = 1; field <= PLIM_FIELD_LAST; field++)
		plimp_record_set(record, field,
				 plim_count_missing(PLIM_REASON_ENDED, 0));
	plimp_mac_store_never(record, &all);
	if (known)
		self_last(host, record, &rusage);
	self_account(record, &account);
	plimp_record_set(record, PLIM_FIELD_PID,
			 plimp_known((uint64_t)child, PLIM_METHOD_WAIT4));
	plimp_record_identity(record, &identity);
	plimp_mac_rung(record);
	if (status != NULL)
		*status = raw;
	return PLIM_OK;
}
