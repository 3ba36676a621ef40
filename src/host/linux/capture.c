/*
 * capture.c - one process into one record.
 *
 * The fields that were asked for decide which files are opened, the cheapest
 * that tell them: stat always (it proves who it is), statm for memory, status
 * where kinds of memory, swap, the peak or switches are wanted (and then
 * instead of statm), io only when asked. The order keeps every source between
 * two lookups below the process's own directory, so that a source that goes
 * by number cannot tell of a successor: clock and pidfd come right after
 * stat, and a later lookup must succeed, or the process is left out whole.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/capture.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>

static const plim_field_set capture_stat_group = {
    {PLIMP_FIELD_BIT(PPID) | PLIMP_FIELD_BIT(START_TICKS) |
	 PLIMP_FIELD_BIT(START_UNIX_MS) | PLIMP_FIELD_BIT(CPU) |
	 PLIMP_FIELD_BIT(CPU_USER) | PLIMP_FIELD_BIT(CPU_SYSTEM) |
	 PLIMP_FIELD_BIT(CPU_CHILDREN) | PLIMP_FIELD_BIT(THREADS) |
	 PLIMP_FIELD_BIT(FAULTS_MINOR) | PLIMP_FIELD_BIT(FAULTS_MAJOR) |
	 PLIMP_FIELD_BIT(KERNEL_THREAD) | PLIMP_FIELD_BIT(NICE) |
	 PLIMP_FIELD_BIT(RUNQUEUE) | PLIMP_FIELD_BIT(BLOCK_IO_DELAY),
     0}};

int plimp_capture_wants(const struct plimp_reading *capture, int field)
{
	return plimp_set_has(&capture->request->fields, field);
}

int plimp_capture_wants_any(const struct plimp_reading *capture,
			    const plim_field_set *group)
{
	return (capture->request->fields.bits[0] & group->bits[0]) != 0;
}

void plimp_capture_set(struct plimp_reading *capture, int field,
		       plim_count figure)
{
	if (plimp_capture_wants(capture, field))
		plimp_record_set(capture->record, field, figure);
}

void plimp_store_missing(plim_process *record, const plim_field_set *fields,
			 const plim_field_set *group, plim_count figure)
{
	int field;

	for (field = 1; field <= PLIM_FIELD_LAST; field++)
		if (plimp_set_has(group, field) && plimp_set_has(fields, field))
			plimp_record_set(record, field, figure);
}

void plimp_capture_missing(struct plimp_reading *capture,
			   const plim_field_set *group, plim_count figure)
{
	plimp_store_missing(capture->record, &capture->request->fields, group,
			    figure);
}

int plimp_capture_file(struct plimp_reading *capture, const char *path,
		       plim_bytes *text)
{
	int error =
	    plimp_read_file(capture->host, capture->directory, path, text);

	if (error == 0)
		capture->unproven = 0;
	if (error == ENOENT &&
	    plimp_probe_directory(capture->host, capture->directory) != 0)
		error = ESRCH;
	return error;
}

/* Rounded down to a tick, as the method says. That is no bound: the change of
 * two such figures is off by up to a tick in either direction. */
static plim_count capture_ticks(const struct plimp_reading *capture,
				uint64_t ticks)
{
	return plimp_known(plimp_ticks_to_ns(capture->host, ticks),
			   PLIM_METHOD_STAT_TICKS);
}

void plimp_store_stat(const plim_host *host, plim_process *record,
		      const plim_field_set *fields,
		      const struct plimp_stat *stat)
{
	const struct plimp_system *system = host->system;
	const uint64_t flag = PLIMP_STAT_KERNEL_THREAD;
	uint64_t start_ms =
	    plimp_ticks_to_ns(host, stat->start_ticks) / 1000000;
	const struct {
		int field;
		plim_count figure;
	} rows[] = {
	    {PLIM_FIELD_PPID,
	     plimp_known((uint64_t)stat->ppid, PLIM_METHOD_STAT)},
	    {PLIM_FIELD_START_TICKS,
	     plimp_known(stat->start_ticks, PLIM_METHOD_STAT)},
	    {PLIM_FIELD_START_UNIX_MS,
	     system->boot_known ? plimp_known(system->boot_unix_ms + start_ms,
					      PLIM_METHOD_START_TICKS)
				: plim_count_missing(PLIM_REASON_NO_LINE, 0)},
	    {PLIM_FIELD_THREADS, plimp_known(stat->threads, PLIM_METHOD_STAT)},
	    {PLIM_FIELD_KERNEL_THREAD,
	     plimp_known((stat->flags & flag) != 0, PLIM_METHOD_STAT)},
	};
	size_t i;

	plimp_record_name(record, stat->name);
	record->state = stat->state;
	if ((stat->has & PLIMP_STAT_STACK) != 0)
		record->image = stat->stack_start;
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (plimp_set_has(fields, rows[i].field))
			plimp_record_set(record, rows[i].field, rows[i].figure);
	if (plimp_set_has(fields, PLIM_FIELD_NICE))
		plimp_record_set(record, PLIM_FIELD_NICE,
				 plimp_known((uint64_t)(int64_t)stat->nice,
					     PLIM_METHOD_STAT));
}

/* What stat tells of others; of ourselves getrusage tells it better. */
static void capture_store_counters(struct plimp_reading *capture)
{
	const struct plimp_stat *stat = &capture->stat;

	plimp_capture_set(capture, PLIM_FIELD_CPU_USER,
			  capture_ticks(capture, stat->user_ticks));
	plimp_capture_set(capture, PLIM_FIELD_CPU_SYSTEM,
			  capture_ticks(capture, stat->system_ticks));
	plimp_capture_set(
	    capture, PLIM_FIELD_CPU_CHILDREN,
	    capture_ticks(capture, stat->children_user_ticks +
				       stat->children_system_ticks));
	plimp_capture_set(capture, PLIM_FIELD_FAULTS_MINOR,
			  plimp_known(stat->faults_minor, PLIM_METHOD_STAT));
	plimp_capture_set(capture, PLIM_FIELD_FAULTS_MAJOR,
			  plimp_known(stat->faults_major, PLIM_METHOD_STAT));
}

/* What it says of a process that its directory does not answer. Only a lookup
 * that finds nothing is an end; a file with a number for a name, as it may
 * stand in a recording, never was a process. */
static int capture_lost(int problem, plim_error *error)
{
	if (plimp_is_gone(problem) || problem == ENOTDIR || problem == ELOOP)
		return PLIM_ENOPROCESS;
	if (problem == EPERM || problem == EACCES)
		return PLIM_EHIDDEN;
	return plimp_fail(
	    error, PLIM_ESYSTEM, problem, "read process", NULL,
	    plimp_is_starved(problem) ? "raise the limit of open files" : NULL);
}

/* stat names the process; without it there is a pid and reasons. */
static int capture_stat(struct plimp_reading *capture)
{
	plim_bytes text;
	int error = plimp_capture_file(capture, "stat", &text);

	if (plimp_is_gone(error))
		return PLIM_ENOPROCESS;
	if (error == EPERM && capture->host->system->live)
		return PLIM_EHIDDEN; /* hidepid=1 */
	if (plimp_is_starved(error))
		return capture_lost(error, capture->error);
	if (error == 0 && plimp_decode_stat(text, &capture->stat) != PLIM_OK)
		error = EBADMSG;
	if (error != 0) {
		plimp_capture_missing(capture, &capture_stat_group,
				      plimp_missing_file(error));
		return PLIM_OK;
	}
	capture->stat_known = 1;
	capture->kernel = (capture->stat.flags & PLIMP_STAT_KERNEL_THREAD) != 0;
	if (capture->stat.state == 'Z' || capture->stat.state == 'X') {
		capture->leaderless = capture->stat.threads > 1;
		capture->zombie = !capture->leaderless;
	}
	plimp_store_stat(capture->host, capture->record,
			 &capture->request->fields, &capture->stat);
	capture_store_counters(capture);
	return PLIM_OK;
}

static void capture_identity(struct plimp_reading *capture)
{
	plim_identity identity;
	int strong = capture->request->strong;

	plimp_identity_of_host(capture->host, &identity);
	identity.pid = capture->pid;
	if (capture->stat_known) {
		identity.start_ticks = capture->stat.start_ticks;
		identity.has |= PLIM_IDENTITY_START;
		if (identity.start_ticks >= capture->request->young_ticks)
			strong = 1;
	}
	if (strong && capture->host->system->has_inode) {
		int pidfd = plimp_call_pidfd(capture->host, capture->pid);

		if (pidfd >= 0 && plimp_pidfd_inode(capture->host, pidfd,
						    &identity.inode) == 0) {
			identity.has |= PLIM_IDENTITY_INODE;
			capture->unproven = 1;
		}
		plimp_call_close(capture->host, pidfd);
	}
	plimp_record_identity(capture->record, &identity);
}

static void capture_cpu(struct plimp_reading *capture)
{
	uint64_t ns = 0;

	if (!plimp_capture_wants(capture, PLIM_FIELD_CPU))
		return;
	if (capture->host->system->live &&
	    plimp_process_clock(capture->host, capture->pid, &ns) == 0) {
		capture->unproven = 1;
		plimp_record_set(
		    capture->record, PLIM_FIELD_CPU,
		    plimp_known(ns, PLIM_METHOD_PROCESS_CPU_CLOCK));
	} else if (capture->stat_known) {
		plimp_record_set(
		    capture->record, PLIM_FIELD_CPU,
		    capture_ticks(capture, capture->stat.user_ticks +
					       capture->stat.system_ticks));
	}
}

int plimp_read_directory(plim_host *host, int directory, int32_t pid,
			 const struct plimp_request *request,
			 plim_process *record,
			 struct plimp_thread_list *threads, plim_error *error)
{
	struct plimp_reading capture = {
	    .host = host,
	    .directory = directory,
	    .pid = pid,
	    .request = request,
	    .record = record,
	    .threads = threads,
	    .error = error,
	};
	int code;

	plimp_record_clear(record, &request->fields);
	record->stamp = plimp_system_now();
	record->stamp_ticks = plimp_system_ticks(host, record->stamp.boottime);
	plimp_capture_set(&capture, PLIM_FIELD_PID,
			  plimp_known((uint64_t)pid, PLIM_METHOD_LISTING));
	plimp_capture_set(&capture, PLIM_FIELD_COMMIT,
			  plim_count_missing(PLIM_REASON_HOST_NEVER, 0));
	plimp_capture_set(&capture, PLIM_FIELD_DISK_BLOCKS,
			  plim_count_missing(PLIM_REASON_SELF_ONLY, 0));
	code = capture_stat(&capture);
	if (code != PLIM_OK)
		return code;
	capture_identity(&capture);
	capture_cpu(&capture);
	code = plimp_capture_memory(&capture);
	if (code == PLIM_OK)
		code = plimp_capture_walk(&capture);
	if (code == PLIM_OK)
		code = plimp_capture_counts(&capture);
	if (code == PLIM_OK)
		code = plimp_capture_texts(&capture);
	if (code == PLIM_OK && capture.unproven) {
		int problem = plimp_probe_directory(host, directory);

		if (problem != 0)
			code = capture_lost(problem, error);
	}
	return code;
}

int plimp_system_read(plim_host *host, int32_t pid,
		      const struct plimp_request *request, plim_process *record,
		      struct plimp_thread_list *threads, plim_error *error)
{
	int directory = plimp_open_process(host, pid);
	int code;

	if (directory < 0)
		return capture_lost(errno, error);
	code = plimp_read_directory(host, directory, pid, request, record,
				    threads, error);
	plimp_call_close(host, directory);
	return code;
}
