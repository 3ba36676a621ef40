/*
 * self.c - this process: exact, and as cheap as asking oneself can be.
 *
 * getrusage covers every thread, ended ones included, in one call. Its CPU
 * time is that of the process CPU clock to the microsecond, and is taken here
 * for two reasons: it is of the same instant as the counters beside it, and a
 * second call would cost nearly as much as the first. The four files of /proc
 * that tell the rest stay open once they were asked for, which saves two
 * thirds of their price. Only what the fields need is asked.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const plim_field_set self_rusage_group = {
    {PLIMP_FIELD_BIT(CPU) | PLIMP_FIELD_BIT(CPU_USER) |
	 PLIMP_FIELD_BIT(CPU_SYSTEM) | PLIMP_FIELD_BIT(WAKEUPS) |
	 PLIMP_FIELD_BIT(INVOLUNTARY) | PLIMP_FIELD_BIT(DISK_BLOCKS) |
	 PLIMP_FIELD_BIT(FAULTS_MINOR) | PLIMP_FIELD_BIT(FAULTS_MAJOR),
     0}};
static const plim_field_set self_stat_group = {
    {PLIMP_FIELD_BIT(PPID) | PLIMP_FIELD_BIT(NAME) | PLIMP_FIELD_BIT(STATE) |
	 PLIMP_FIELD_BIT(START_TICKS) | PLIMP_FIELD_BIT(START_UNIX_MS) |
	 PLIMP_FIELD_BIT(THREADS) | PLIMP_FIELD_BIT(KERNEL_THREAD) |
	 PLIMP_FIELD_BIT(NICE) | PLIMP_FIELD_BIT(RUNQUEUE) |
	 PLIMP_FIELD_BIT(BLOCK_IO_DELAY),
     0}};
static const plim_field_set self_statm_group = {
    {PLIMP_FIELD_BIT(RESIDENT) | PLIMP_FIELD_BIT(ANONYMOUS), 0}};
static const plim_field_set self_status_group = {
    {PLIMP_FIELD_BIT(FILE) | PLIMP_FIELD_BIT(SHMEM) | PLIMP_FIELD_BIT(SWAP) |
	 PLIMP_FIELD_BIT(PRIVATE) | PLIMP_FIELD_BIT(PEAK_RESIDENT) |
	 PLIMP_FIELD_BIT(UID),
     0}};
static const plim_field_set self_io_group = {
    {PLIMP_FIELD_BIT(DISK_READ) | PLIMP_FIELD_BIT(DISK_WRITE) |
	 PLIMP_FIELD_BIT(DISK_CANCELLED) | PLIMP_FIELD_BIT(IO_CALLS),
     0}};

static uint64_t self_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u +
	       (uint64_t)time.tv_usec * 1000u;
}

/* The kernel's longs only grow; a negative one is no count. */
static uint64_t self_count(long value)
{
	return value > 0 ? (uint64_t)value : 0;
}

struct self_row {
	int field;
	uint64_t value;
};

static void self_store_rusage(plim_process *record,
			      const plim_field_set *fields,
			      const struct rusage *usage, int method)
{
	const uint64_t user = self_ns(usage->ru_utime);
	const uint64_t system = self_ns(usage->ru_stime);
	const struct self_row rows[] = {
	    {PLIM_FIELD_CPU, user + system},
	    {PLIM_FIELD_CPU_USER, user},
	    {PLIM_FIELD_CPU_SYSTEM, system},
	    {PLIM_FIELD_WAKEUPS, self_count(usage->ru_nvcsw)},
	    {PLIM_FIELD_INVOLUNTARY, self_count(usage->ru_nivcsw)},
	    /* Two counters, clamped and widened before they are added. */
	    {PLIM_FIELD_DISK_BLOCKS,
	     self_count(usage->ru_inblock) + self_count(usage->ru_oublock)},
	    {PLIM_FIELD_FAULTS_MINOR, self_count(usage->ru_minflt)},
	    {PLIM_FIELD_FAULTS_MAJOR, self_count(usage->ru_majflt)},
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (plimp_set_has(fields, rows[i].field))
			plimp_record_set(record, rows[i].field,
					 plimp_known(rows[i].value, method));
}

static int self_wants(const plim_field_set *fields, const plim_field_set *group)
{
	return (fields->bits[0] & group->bits[0]) != 0;
}

static void self_rusage(plim_host *host, plim_process *record,
			const plim_field_set *fields)
{
	struct rusage usage;

	if (self_wants(fields, &self_rusage_group)) {
		host->bill.system_calls++;
		if (getrusage(RUSAGE_SELF, &usage) == 0)
			self_store_rusage(record, fields, &usage,
					  PLIM_METHOD_GETRUSAGE);
	}
	if (plimp_set_has(fields, PLIM_FIELD_CPU_CHILDREN)) {
		host->bill.system_calls++;
		if (getrusage(RUSAGE_CHILDREN, &usage) == 0)
			plimp_record_set(
			    record, PLIM_FIELD_CPU_CHILDREN,
			    plimp_known(self_ns(usage.ru_utime) +
					    self_ns(usage.ru_stime),
					PLIM_METHOD_GETRUSAGE));
	}
}

/* Reads one of our own files from its held descriptor, opened on first use. */
static int self_file(plim_host *host, int which, plim_bytes *text)
{
	static const char *const names[PLIMP_SELF_FILES] = {
	    "stat",   "statm",	   "status",   "io",
	    "cgroup", "oom_score", "schedstat"};
	int *held = &host->system->self_files[which];

	if (*held < 0)
		*held = plimp_call_open(host, host->system->self_directory,
					names[which], O_RDONLY);
	if (*held < 0)
		return errno;
	return plimp_read_held(host, *held, text);
}

/* 1 if stat is known. */
static int self_stat(plim_host *host, plim_process *record,
		     const plim_field_set *fields, struct plimp_stat *stat)
{
	plim_bytes text;
	int error;

	if (!self_wants(fields, &self_stat_group))
		return 0;
	error = self_file(host, PLIMP_SELF_STAT, &text);
	if (error == 0 && plimp_decode_stat(text, stat) != PLIM_OK)
		error = EBADMSG;
	if (error == 0)
		plimp_store_stat(host, record, fields, stat);
	else
		plimp_store_missing(record, fields, &self_stat_group,
				    plimp_missing_file(error));
	return error == 0;
}

/* Every thread, and what the process had counted when they were read. */
static int self_threads(plim_host *host, const struct plimp_request *request,
			plim_process *record, unsigned delays,
			struct plimp_thread_list *threads, plim_error *error)
{
	const unsigned parts = delays | plimp_threads_wanted(host, request);
	struct plimp_thread_sum sum;
	struct rusage usage;
	int code = plimp_read_threads(host, host->system->self_directory,
				      request, parts, threads, &sum, error);

	if (code != PLIM_OK)
		return code;
	record->stamp_ticks = plimp_system_ticks(host, record->stamp.boottime);
	plimp_delays_store(record, delays, &sum);
	plimp_threads_store(host, record, &sum);
	if (request->thread_parts == 0)
		return PLIM_OK;
	host->bill.system_calls++;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		record->threads.wakeups_after = plimp_known(
		    self_count(usage.ru_nvcsw), PLIM_METHOD_GETRUSAGE);
	return PLIM_OK;
}

/* What getrusage does not tell of the whole process. */
static int self_delays(plim_host *host, const struct plimp_request *request,
		       plim_process *record, const struct plimp_stat *stat,
		       struct plimp_thread_list *threads, plim_error *error)
{
	unsigned parts = plimp_delays_wanted(host, record, &request->fields);
	struct plimp_thread thread = {.tid = host->system->self.pid};
	plim_bytes text = {NULL, 0};
	int problem = 0;

	if (request->thread_parts != 0 ||
	    (parts != 0 && stat != NULL && stat->threads > 1))
		return self_threads(host, request, record, parts, threads,
				    error);
	if (parts == 0 || stat == NULL)
		return PLIM_OK;
	if ((parts & PLIMP_THREAD_RUNQUEUE) != 0)
		problem = self_file(host, PLIMP_SELF_SCHEDSTAT, &text);
	thread.start_ticks = stat->start_ticks;
	if (plimp_delays_of_one(host, record, parts, text, problem, stat,
				&thread) == 0)
		return PLIM_OK;
	record->threads.count = 1;
	record->threads.known = 1;
	record->threads.ways = &plimp_linux_thread_ways;
	return plimp_threads_add(threads, &host->allocator, &thread);
}

static void self_statm(plim_host *host, plim_process *record,
		       const plim_field_set *fields)
{
	struct plimp_statm statm;
	plim_bytes text;
	int error;

	if (!self_wants(fields, &self_statm_group))
		return;
	error = self_file(host, PLIMP_SELF_STATM, &text);
	if (error == 0 && (plimp_decode_statm(text, &statm) != PLIM_OK ||
			   !plimp_statm_is_sound(host, &statm)))
		error = EBADMSG;
	if (error == 0)
		plimp_store_statm(host, record, fields, &statm,
				  PLIM_METHOD_STATM);
	else
		plimp_store_missing(record, fields, &self_statm_group,
				    plimp_missing_file(error));
}

static void self_status(plim_host *host, plim_process *record,
			plim_field_set fields)
{
	struct plimp_status status;
	plim_bytes text;
	int error;

	/* statm has told these, and stays their method. */
	plim_field_set_remove(&fields, PLIM_FIELD_RESIDENT);
	plim_field_set_remove(&fields, PLIM_FIELD_ANONYMOUS);
	if (!self_wants(&fields, &self_status_group))
		return;
	error = self_file(host, PLIMP_SELF_STATUS, &text);
	if (error == 0 && plimp_decode_status(text, &status) != PLIM_OK)
		error = EBADMSG;
	if (error != 0) {
		plimp_store_missing(record, &fields, &self_status_group,
				    plimp_missing_file(error));
		return;
	}
	plimp_store_status(record, &fields, &status, PLIM_METHOD_STATUS);
	if (plimp_set_has(&fields, PLIM_FIELD_UID))
		plimp_record_set(
		    record, PLIM_FIELD_UID,
		    (status.has & PLIMP_STATUS_UID) != 0
			? plimp_known(status.uid, PLIM_METHOD_STATUS)
			: plim_count_missing(PLIM_REASON_NO_LINE, 0));
}

static void self_io(plim_host *host, plim_process *record,
		    const plim_field_set *fields)
{
	struct plimp_io io;
	plim_bytes text;
	int error;

	if (!self_wants(fields, &self_io_group))
		return;
	error = self_file(host, PLIMP_SELF_IO, &text);
	if (error == 0 && plimp_decode_io(text, &io) != PLIM_OK)
		error = EBADMSG;
	if (error == 0)
		plimp_store_io(record, fields, &io);
	else
		plimp_store_missing(record, fields, &self_io_group,
				    plimp_missing_file(error));
}

static void self_oom_score(plim_host *host, plim_process *record,
			   const plim_field_set *fields)
{
	plim_bytes text = {NULL, 0};
	int error;

	if (!plimp_set_has(fields, PLIM_FIELD_OOM_SCORE))
		return;
	error = self_file(host, PLIMP_SELF_OOM_SCORE, &text);
	plimp_record_set(record, PLIM_FIELD_OOM_SCORE,
			 plimp_number_of(text, error, PLIM_METHOD_OOM_SCORE));
}

/* The group may change at any time, and the program's file may be moved. */
static int self_texts(plim_host *host, const struct plimp_request *request,
		      plim_process *record)
{
	int code = PLIM_OK;
	plim_bytes text;
	int error;

	if (plimp_wants_cgroup(request)) {
		error = self_file(host, PLIMP_SELF_CGROUP, &text);
		if (error == 0)
			code =
			    plimp_store_cgroup(host, request, record, text, 0);
		else
			plimp_store_no_cgroup(request, record,
					      plimp_missing_file(error));
	}
	if (code == PLIM_OK && plimp_wants_exe(request))
		code = plimp_store_exe(host, host->system->self_directory,
				       "exe", request, record);
	return code;
}

/* What the other readers of a process tell in the same way. */
static void self_others(plim_host *host, const struct plimp_request *request,
			plim_process *record)
{
	const plim_field_set *fields = &request->fields;
	struct stat status;

	if (plimp_set_has(fields, PLIM_FIELD_PID))
		plimp_record_set(record, PLIM_FIELD_PID,
				 plimp_known((uint64_t)host->system->self.pid,
					     PLIM_METHOD_SYSTEM));
	if (plimp_set_has(fields, PLIM_FIELD_COMMIT))
		plimp_record_set(record, PLIM_FIELD_COMMIT,
				 plim_count_missing(PLIM_REASON_HOST_NEVER, 0));
	if (plimp_set_has(fields, PLIM_FIELD_DISK_OPS))
		plimp_record_set(
		    record, PLIM_FIELD_DISK_OPS,
		    plimp_cgroup_operations(host, host->system->self_directory,
					    host->system->self.pid));
	if (!plimp_set_has(fields, PLIM_FIELD_DESCRIPTORS))
		return;
	if (host->system->has_fd_count &&
	    plimp_call_stat(host, host->system->self_directory, "fd", &status,
			    0) == 0)
		plimp_record_set(record, PLIM_FIELD_DESCRIPTORS,
				 plimp_known((uint64_t)status.st_size,
					     PLIM_METHOD_FD_DIRECTORY_SIZE));
	else
		plimp_record_set(
		    record, PLIM_FIELD_DESCRIPTORS,
		    plim_count_missing(PLIM_REASON_KERNEL_LACKS, 0));
}

/* Held files would tell of the parent. The mark is wiped in a child. */
int plimp_self_is_forked(const plim_host *host)
{
	const volatile char *mark = host->system->fork_mark;

	if (mark != NULL)
		return *mark == 0;
	return host->system->live && getpid() != (pid_t)host->system->self.pid;
}

int plimp_system_read_self(plim_host *host, const struct plimp_request *request,
			   plim_process *record,
			   struct plimp_thread_list *threads, plim_error *error)
{
	const plim_field_set *fields = &request->fields;
	struct plimp_stat stat;
	int told;
	int code;

	if (plimp_self_is_forked(host))
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "measure self",
				  host->proc_root,
				  "the host was opened before fork; open "
				  "another");
	if (!host->system->live || host->system->self_directory < 0)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "measure self",
				  host->proc_root,
				  "this proc root does not show us");
	plimp_record_clear(record, fields);
	record->stamp = plimp_system_now();
	self_rusage(host, record, fields);
	self_statm(host, record, fields);
	told = self_stat(host, record, fields, &stat);
	code = self_delays(host, request, record, told ? &stat : NULL, threads,
			   error);
	self_status(host, record, *fields);
	self_io(host, record, fields);
	if (plimp_wants_walk(fields) && request->walks)
		plimp_walk_process(host, host->system->self_directory, "",
				   fields, record);
	else
		plimp_store_no_walk(
		    record, fields,
		    plim_count_missing(PLIM_REASON_TOO_DEAR, 0));
	self_oom_score(host, record, fields);
	if (code == PLIM_OK)
		code = self_texts(host, request, record);
	if (code == PLIM_ENOMEM)
		return plimp_fail(error, PLIM_ENOMEM, 0, "measure self", NULL,
				  NULL);
	if (code != PLIM_OK)
		return code;
	self_others(host, request, record);
	plimp_record_identity(record, &host->system->self);
	return PLIM_OK;
}

static int self_wait(plim_host *host, int32_t child, int *status,
		     struct rusage *usage)
{
	pid_t pid;

	do {
		host->bill.system_calls++;
		pid = wait4(child, status, 0, usage);
	} while (pid < 0 && errno == EINTR);
	return pid < 0 ? errno : 0;
}

int plimp_system_reap(plim_host *host, int32_t child, int *status,
		      plim_process *record, plim_error *error)
{
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_identity identity;
	struct rusage usage;
	int raw = 0;
	int problem = self_wait(host, child, &raw, &usage);
	int field;

	if (problem != 0)
		return plimp_fail(
		    error, problem == ECHILD ? PLIM_ENOPROCESS : PLIM_ESYSTEM,
		    problem, "wait for child", NULL, NULL);
	if (record->identity.pid == child) {
		identity = record->identity;
	} else {
		plimp_identity_of_host(host, &identity);
		identity.pid = child;
	}
	plimp_record_clear(record, &all);
	record->stamp = plimp_system_now();
	for (field = 1; field <= PLIM_FIELD_LAST; field++)
		plimp_record_set(record, field,
				 plim_count_missing(PLIM_REASON_ENDED, 0));
	self_store_rusage(record, &all, &usage, PLIM_METHOD_WAIT4);
	plimp_record_set(record, PLIM_FIELD_PID,
			 plimp_known((uint64_t)child, PLIM_METHOD_WAIT4));
	plimp_record_identity(record, &identity);
	if (status != NULL)
		*status = raw;
	return PLIM_OK;
}
