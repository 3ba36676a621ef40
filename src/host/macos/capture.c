/*
 * capture.c - one process into one record.
 *
 * Four questions: who it is (the unique id, first and last), the process, its
 * resources, its task; each takes a microsecond or two, so they are asked
 * whatever the fields are. Only lists and paths are asked where they are
 * wanted. The process and the unique id are answered to everybody in a short
 * form: name, parent, user, status; so is the path. All others are the user's
 * own business: the kernel answers EPERM for another user's process unless root
 * asks, and its figures are then DENIED, not 0. A process that ends while it is
 * read becomes a zombie before its pid is free; what could not be read any more
 * then is GONE.
 */
#include "core/fail.h"
#include "host/macos/system.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

const plim_field_set plimp_mac_rusage_fields = {
    {PLIMP_MAC_BIT(START_TICKS) | PLIMP_MAC_BIT(CPU) | PLIMP_MAC_BIT(CPU_USER) |
	 PLIMP_MAC_BIT(CPU_SYSTEM) | PLIMP_MAC_BIT(CPU_CHILDREN) |
	 PLIMP_MAC_BIT(RESIDENT) | PLIMP_MAC_BIT(PRIVATE) |
	 PLIMP_MAC_BIT(PEAK_RESIDENT) | PLIMP_MAC_BIT(WAKEUPS) |
	 PLIMP_MAC_BIT(DISK_READ) | PLIMP_MAC_BIT(DISK_WRITE) |
	 PLIMP_MAC_BIT(FAULTS_MAJOR),
     0}};
static const plim_field_set capture_memory_fields = {
    {PLIMP_MAC_BIT(RESIDENT) | PLIMP_MAC_BIT(PRIVATE), 0}};
static const plim_field_set capture_task_fields = {
    {PLIMP_MAC_BIT(THREADS) | PLIMP_MAC_BIT(FAULTS_MINOR), 0}};
/* What of ourselves takes a question, when it was asked for. */
static const plim_field_set capture_own_process_fields = {
    {PLIMP_MAC_BIT(NAME) | PLIMP_MAC_BIT(STATE) | PLIMP_MAC_BIT(PPID) |
	 PLIMP_MAC_BIT(UID) | PLIMP_MAC_BIT(KERNEL_THREAD) |
	 PLIMP_MAC_BIT(NICE) | PLIMP_MAC_BIT(START_UNIX_MS),
     0}};
static const plim_field_set capture_own_task_fields = {
    {PLIMP_MAC_BIT(STATE) | PLIMP_MAC_BIT(THREADS) |
	 PLIMP_MAC_BIT(FAULTS_MINOR),
     0}};
/* Told by the long form alone. */
static const plim_field_set capture_long_fields = {
    {PLIMP_MAC_BIT(NICE) | PLIMP_MAC_BIT(START_UNIX_MS), 0}};
static const plim_field_set capture_never_fields = {
    {PLIMP_MAC_BIT(ANONYMOUS) | PLIMP_MAC_BIT(FILE) | PLIMP_MAC_BIT(SHMEM) |
	 PLIMP_MAC_BIT(SWAP) | PLIMP_MAC_BIT(COMMIT) |
	 PLIMP_MAC_BIT(INVOLUNTARY) | PLIMP_MAC_BIT(DISK_CANCELLED) |
	 PLIMP_MAC_BIT(DISK_BLOCKS) | PLIMP_MAC_BIT(DISK_OPS) |
	 PLIMP_MAC_BIT(IO_CALLS) | PLIMP_MAC_BIT(CGROUP) | PLIMP_MAC_BIT(UNIT) |
	 PLIMP_MAC_BIT(CONTAINER) | PLIMP_MAC_BIT(OOM_SCORE) |
	 PLIMP_MAC_BIT(RUNQUEUE) | PLIMP_MAC_BIT(BLOCK_IO_DELAY) |
	 PLIMP_MAC_BIT(PSS) | PLIMP_MAC_BIT(PRIVATE_DIRTY),
     0}};

/* One reading. */
struct capture_mac {
	plim_host *host;
	int32_t pid;
	const struct plimp_request *request;
	plim_process *record;
	plim_error *error;
	int is_self;
	int zombie;
};

static void capture_put(struct capture_mac *capture, int field,
			plim_count figure)
{
	if (plimp_set_has(&capture->request->fields, field))
		plimp_record_set(capture->record, field, figure);
}

void plimp_mac_store_missing(plim_process *record, const plim_field_set *fields,
			     const plim_field_set *group, plim_count figure)
{
	int field;

	for (field = 1; field <= PLIM_FIELD_LAST; field++)
		if (plimp_set_has(group, field) && plimp_set_has(fields, field))
			plimp_record_set(record, field, figure);
}

void plimp_mac_store_never(plim_process *record, const plim_field_set *fields)
{
	plimp_mac_store_missing(record, fields, &capture_never_fields,
				plim_count_missing(PLIM_REASON_HOST_NEVER, 0));
}

plim_count plimp_mac_missing(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return plim_count_missing(PLIM_REASON_OTHER_USER, error);
	case ESRCH:
		return plim_count_missing(PLIM_REASON_ENDED, error);
	case EBADMSG:
		return plim_count_missing(PLIM_REASON_BAD_TEXT, 0);
	default:
		return plim_count_missing(PLIM_REASON_READ_FAILED, error);
	}
}

plim_count plimp_mac_time(const plim_host *host, uint64_t ticks, int method)
{
	const struct plimp_system *system = host->system;

	if (system->no_scale)
		return plim_count_missing(PLIM_REASON_TRANSLATED, 0);
	return plimp_known(plimp_mac_ticks_to_ns(system->scale, ticks), method);
}

int plimp_mac_unique(plim_host *host, int32_t pid,
		     struct plimp_mac_unique *unique)
{
	char bytes[sizeof(struct plimp_mac_uniqueinfo)];
	/* The argument is whether zombies count. */
	int64_t size = plimp_mac_call_info(host, pid, PLIMP_MAC_UNIQUE, 1,
					   bytes, sizeof bytes);

	if (size < 0)
		return (int)size;
	if (plimp_decode_mac_unique((plim_bytes){bytes, (size_t)size},
				    unique) != PLIM_OK)
		return -EBADMSG;
	return 0;
}

void plimp_mac_identity(const plim_host *host, int32_t pid,
			const struct plimp_mac_unique *unique,
			plim_identity *identity)
{
	memset(identity, 0, sizeof *identity);
	identity->pid = pid;
	identity->inode = unique->id;
	identity->has = PLIM_IDENTITY_INODE;
	if (host->boot_text[0] != '\0') {
		memcpy(identity->boot, host->boot, sizeof identity->boot);
		identity->has |= PLIM_IDENTITY_BOOT;
	}
}

int plimp_mac_who(plim_host *host, int32_t pid, plim_identity *identity)
{
	struct plimp_mac_unique before;
	struct plimp_mac_unique after;
	struct plimp_mac_rusage rusage;
	int told;
	int problem = plimp_mac_unique(host, pid, &before);

	if (problem != 0)
		return problem;
	told = plimp_mac_rusage(host, pid, &rusage) == 0;
	problem = plimp_mac_unique(host, pid, &after);
	if (problem != 0)
		return problem;
	if (after.id != before.id)
		return -ESRCH;
	plimp_mac_identity(host, pid, &before, identity);
	if (told) {
		identity->start_ticks = rusage.start_ticks;
		identity->has |= PLIM_IDENTITY_START;
	}
	return 0;
}

void plimp_mac_rung(plim_process *record)
{
	int rung = plim_identity_rung(&record->identity);

	if (rung == PLIM_RUNG_INODE)
		plimp_record_set(
		    record, PLIM_FIELD_IDENTITY_RUNG,
		    plimp_known((uint64_t)rung, PLIM_METHOD_MAC_UNIQUE_ID));
}

int plimp_mac_rusage(plim_host *host, int32_t pid,
		     struct plimp_mac_rusage *rusage)
{
	char bytes[sizeof(struct plimp_mac_rusageinfo)];
	int flavour = host->system->rusage_flavour;
	size_t size = plimp_mac_rusage_size(flavour);
	int error;

	if (flavour == 0)
		return -ENOSYS;
	assert(size > 0 && size <= sizeof bytes);
	error = plimp_mac_call_rusage(host, pid, flavour, bytes);
	if (error != 0)
		return error;
	if (plimp_decode_mac_rusage((plim_bytes){bytes, size}, flavour,
				    rusage) != PLIM_OK)
		return -EBADMSG;
	return 0;
}

void plimp_mac_store_rusage(const plim_host *host, plim_process *record,
			    const plim_field_set *fields,
			    const struct plimp_mac_rusage *rusage)
{
	const int method = PLIM_METHOD_MAC_RUSAGE;
	const struct {
		int field;
		plim_count figure;
	} rows[] = {
	    {PLIM_FIELD_START_TICKS, plimp_known(rusage->start_ticks, method)},
	    {PLIM_FIELD_CPU,
	     plimp_mac_time(host, rusage->user_ticks + rusage->system_ticks,
			    method)},
	    {PLIM_FIELD_CPU_USER,
	     plimp_mac_time(host, rusage->user_ticks, method)},
	    {PLIM_FIELD_CPU_SYSTEM,
	     plimp_mac_time(host, rusage->system_ticks, method)},
	    {PLIM_FIELD_CPU_CHILDREN,
	     plimp_mac_time(
		 host, rusage->child_user_ticks + rusage->child_system_ticks,
		 method)},
	    {PLIM_FIELD_RESIDENT, plimp_known(rusage->resident_bytes, method)},
	    {PLIM_FIELD_PRIVATE,
	     plimp_known(rusage->footprint_bytes, PLIM_METHOD_MAC_FOOTPRINT)},
	    {PLIM_FIELD_PEAK_RESIDENT,
	     rusage->has_peak
		 ? plimp_known(rusage->peak_footprint_bytes,
			       PLIM_METHOD_MAC_PEAK_FOOTPRINT)
		 : plim_count_missing(PLIM_REASON_KERNEL_LACKS, 0)},
	    {PLIM_FIELD_WAKEUPS,
	     plimp_known(rusage->interrupt_wakeups, PLIM_METHOD_MAC_WAKEUPS)},
	    {PLIM_FIELD_DISK_READ,
	     plimp_known(rusage->disk_read_bytes, method)},
	    {PLIM_FIELD_DISK_WRITE,
	     plimp_known(rusage->disk_written_bytes, method)},
	    {PLIM_FIELD_FAULTS_MAJOR, plimp_known(rusage->pageins, method)},
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (plimp_set_has(fields, rows[i].field))
			plimp_record_set(record, rows[i].field, rows[i].figure);
}

int plimp_mac_ask(plim_host *host, int32_t pid, char bytes[PLIMP_MAC_ASK_SIZE],
		  struct plimp_mac_process *process, int *refused)
{
	int64_t size = plimp_mac_call_info(host, pid, PLIMP_MAC_BSDINFO, 1,
					   bytes, PLIMP_MAC_ASK_SIZE);
	int code;

	*refused = 0;
	if (size == -EPERM || size == -EACCES) {
		*refused = (int)-size;
		size =
		    plimp_mac_call_info(host, pid, PLIMP_MAC_BSDSHORT, 1, bytes,
					sizeof(struct plimp_mac_bsdshort));
	}
	if (size < 0)
		return (int)size;
	code = *refused == 0 ? plimp_decode_mac_bsdinfo(
				   (plim_bytes){bytes, (size_t)size}, process)
			     : plimp_decode_mac_bsdshort(
				   (plim_bytes){bytes, (size_t)size}, process);
	return code == PLIM_OK && process->pid == pid ? 0 : -EBADMSG;
}

static void capture_store_process(struct capture_mac *capture,
				  const struct plimp_mac_process *process,
				  int refused)
{
	const int method =
	    refused == 0 ? PLIM_METHOD_MAC_BSDINFO : PLIM_METHOD_MAC_BSDSHORT;
	plim_process *record = capture->record;

	plimp_record_set(record, PLIM_FIELD_NAME, plimp_known(0, method));
	plimp_record_name(record, process->name);
	capture_put(capture, PLIM_FIELD_PPID,
		    plimp_known((uint64_t)process->ppid, method));
	capture_put(capture, PLIM_FIELD_UID, plimp_known(process->uid, method));
	capture_put(
	    capture, PLIM_FIELD_KERNEL_THREAD,
	    plimp_known((process->flags & PLIMP_MAC_FLAG_SYSTEM) != 0, method));
	if (!process->has_more) {
		plimp_mac_store_missing(record, &capture->request->fields,
					&capture_long_fields,
					plimp_mac_missing(refused));
		return;
	}
	capture_put(capture, PLIM_FIELD_NICE,
		    plimp_known((uint64_t)(int64_t)process->nice, method));
	capture_put(capture, PLIM_FIELD_START_UNIX_MS,
		    plimp_known(process->start_unix_us / 1000, method));
}

static void capture_mac_state(struct capture_mac *capture, char letter,
			      int method)
{
	capture->record->state = letter;
	plimp_record_set(capture->record, PLIM_FIELD_STATE,
			 plimp_known(0, method));
}

/* Of a process that is neither made, stopped nor ended the status does not
 * say whether it runs; its task does. */
static void capture_mac_status(struct capture_mac *capture,
			       const struct plimp_mac_process *process,
			       int method)
{
	switch (process->status) {
	case PLIMP_MAC_IDLE:
		capture_mac_state(capture, 'I', method);
		break;
	case PLIMP_MAC_STOP:
		capture_mac_state(capture, 'T', method);
		break;
	case PLIMP_MAC_ZOMBIE:
		capture_mac_state(capture, 'Z', method);
		capture->zombie = 1;
		break;
	default:
		break;
	}
}

static void capture_no_state(struct capture_mac *capture, plim_count missing)
{
	if (capture->record->state == 0)
		plimp_record_set(capture->record, PLIM_FIELD_STATE, missing);
}

static void capture_process(struct capture_mac *capture)
{
	char bytes[PLIMP_MAC_ASK_SIZE];
	const plim_field_set short_fields = {{PLIMP_MAC_BIT(PPID) |
						  PLIMP_MAC_BIT(UID) |
						  PLIMP_MAC_BIT(KERNEL_THREAD),
					      0}};
	struct plimp_mac_process process;
	int refused;
	int error = plimp_mac_ask(capture->host, capture->pid, bytes, &process,
				  &refused);
	plim_count missing;

	if (error == 0) {
		capture_store_process(capture, &process, refused);
		capture_mac_status(capture, &process,
				   refused == 0 ? PLIM_METHOD_MAC_BSDINFO
						: PLIM_METHOD_MAC_BSDSHORT);
		return;
	}
	missing = plimp_mac_missing(-error);
	plimp_record_set(capture->record, PLIM_FIELD_NAME, missing);
	plimp_mac_store_missing(capture->record, &capture->request->fields,
				&short_fields, missing);
	plimp_mac_store_missing(capture->record, &capture->request->fields,
				&capture_long_fields, missing);
}

/*
 * An ended process keeps its counters until it is reaped, and no memory: as
 * soon as it is on its way out (proc_prepareexit() in XNU's bsd/kern/
 * kern_exit.c), long before it is a zombie, the kernel answers what it noted
 * then, with a footprint of 0 and the time of the exit.
 */
static void capture_resources(struct capture_mac *capture,
			      plim_identity *identity)
{
	struct plimp_mac_rusage rusage;
	int error = plimp_mac_rusage(capture->host, capture->pid, &rusage);

	if (error != 0) {
		plimp_mac_store_missing(
		    capture->record, &capture->request->fields,
		    &plimp_mac_rusage_fields,
		    error == -ENOSYS
			? plim_count_missing(PLIM_REASON_KERNEL_LACKS, 0)
			: plimp_mac_missing(-error));
		return;
	}
	plimp_mac_store_rusage(capture->host, capture->record,
			       &capture->request->fields, &rusage);
	if (capture->zombie || rusage.exit_ticks != 0)
		plimp_mac_store_missing(
		    capture->record, &capture->request->fields,
		    &capture_memory_fields,
		    plim_count_missing(capture->zombie ? PLIM_REASON_ZOMBIE
						       : PLIM_REASON_ENDED,
				       0));
	identity->start_ticks = rusage.start_ticks;
	identity->has |= PLIM_IDENTITY_START;
}

/* The kernel counts all faults and, of them, those that waited for storage;
 * both stop at 2^31 - 1 since macOS 12. Before they went on beyond, which is no
 * number of anything. */
static plim_count capture_minor(const struct plimp_mac_task *task)
{
	uint32_t pageins =
	    task->pageins < task->faults ? task->pageins : task->faults;

	if (!task->has_faults)
		return plim_count_missing(PLIM_REASON_READ_FAILED, EOVERFLOW);
	return plim_count_bounded(
	    task->faults - pageins, PLIM_METHOD_MAC_TASKINFO,
	    task->faults_are_least ? PLIM_BOUND_AT_LEAST : PLIM_BOUND_EXACT);
}

static void capture_task(struct capture_mac *capture)
{
	char bytes[sizeof(struct plimp_mac_taskinfo)];
	struct plimp_mac_task task;
	plim_count missing = {0};
	int64_t size;

	if (capture->zombie) {
		missing = plim_count_missing(PLIM_REASON_ZOMBIE, 0);
	} else {
		size = plimp_mac_call_info(capture->host, capture->pid,
					   PLIMP_MAC_TASKINFO, 0, bytes,
					   sizeof bytes);
		if (size < 0)
			missing = plimp_mac_missing((int)-size);
		else if (plimp_decode_mac_task(
			     (plim_bytes){bytes, (size_t)size}, &task) !=
			 PLIM_OK)
			missing = plimp_mac_missing(EBADMSG);
	}
	if (missing.state != PLIM_STATE_UNREAD) {
		plimp_mac_store_missing(capture->record,
					&capture->request->fields,
					&capture_task_fields, missing);
		capture_no_state(capture, missing);
		return;
	}
	if (capture->record->state == 0)
		capture_mac_state(capture, task.running > 0 ? 'R' : 'S',
				  PLIM_METHOD_MAC_TASKINFO);
	capture_put(capture, PLIM_FIELD_THREADS,
		    plimp_known(task.threads, PLIM_METHOD_MAC_TASKINFO));
	capture_put(capture, PLIM_FIELD_FAULTS_MINOR, capture_minor(&task));
}

/* A descriptor that is opened meanwhile may fill the room: then there may be
 * more than were listed. */
static plim_count capture_count_files(struct capture_mac *capture)
{
	const size_t each = sizeof(struct plimp_mac_fdinfo);
	size_t room = 64 * each;

	for (;;) {
		char *bytes = plimp_mac_room(capture->host, room);
		int64_t size;

		if (bytes == NULL)
			return plim_count_missing(PLIM_REASON_READ_FAILED,
						  ENOMEM);
		size =
		    plimp_mac_call_info(capture->host, capture->pid,
					PLIMP_MAC_LIST_FILES, 0, bytes, room);
		if (size < 0)
			return plimp_mac_missing((int)-size);
		if ((size_t)size + each <= room)
			return plimp_known((size_t)size / each,
					   PLIM_METHOD_MAC_FILE_LIST);
		if (room > ((size_t)1 << 27))
			return plim_count_missing(PLIM_REASON_SHORT, 0);
		room *= 2;
	}
}

static void capture_files(struct capture_mac *capture)
{
	if (!plimp_set_has(&capture->request->fields, PLIM_FIELD_DESCRIPTORS))
		return;
	plimp_record_set(capture->record, PLIM_FIELD_DESCRIPTORS,
			 capture->zombie
			     ? plim_count_missing(PLIM_REASON_ZOMBIE, 0)
			     : capture_count_files(capture));
}

static int capture_path(struct capture_mac *capture)
{
	struct plimp_system *system = capture->host->system;
	struct plimp_text_list *texts = capture->request->texts;
	size_t length;
	int64_t size;

	if (!plimp_set_has(&capture->request->fields, PLIM_FIELD_EXE) ||
	    texts == NULL)
		return PLIM_OK;
	if (capture->zombie) {
		plimp_record_set(capture->record, PLIM_FIELD_EXE,
				 plim_count_missing(PLIM_REASON_ZOMBIE, 0));
		return PLIM_OK;
	}
	size = plimp_mac_call_path(capture->host, capture->pid, system->path,
				   sizeof system->path);
	if (size < 0) {
		plimp_record_set(capture->record, PLIM_FIELD_EXE,
				 plimp_mac_missing((int)-size));
		return PLIM_OK;
	}
	length = (size_t)size < sizeof system->path ? (size_t)size
						    : sizeof system->path;
	if (plimp_texts_add(texts, &capture->host->allocator,
			    (plim_bytes){system->path, length}) != PLIM_OK)
		return plimp_fail(capture->error, PLIM_ENOMEM, 0,
				  "read process", NULL, NULL);
	capture->record->texts.size = (uint32_t)length;
	plimp_record_text(capture->record, PLIMP_TEXT_EXE, 0, length,
			  PLIM_METHOD_MAC_PATH);
	return PLIM_OK;
}

/* Threads tell their CPU time alone, which no field of a process needs. */
static int capture_threads(struct capture_mac *capture,
			   struct plimp_thread_list *threads)
{
	if (capture->request->thread_parts == 0)
		return PLIM_OK;
	return plimp_mac_threads(capture->host, capture->pid, capture->request,
				 capture->record, threads, capture->error);
}

/* Measuring oneself is to be cheap: only what the fields need is asked. */
static int capture_is_due(const struct capture_mac *capture,
			  const plim_field_set *group)
{
	return !capture->is_self ||
	       (capture->request->fields.bits[0] & group->bits[0]) != 0;
}

static int capture_all(struct capture_mac *capture, plim_identity *identity,
		       struct plimp_thread_list *threads)
{
	plim_process *record = capture->record;
	int code;

	plimp_record_clear(record, &capture->request->fields);
	record->stamp = plimp_system_now();
	capture_put(capture, PLIM_FIELD_PID,
		    plimp_known((uint64_t)capture->pid, PLIM_METHOD_LISTING));
	plimp_mac_store_never(record, &capture->request->fields);
	if (capture_is_due(capture, &capture_own_process_fields))
		capture_process(capture);
	capture_resources(capture, identity);
	if (capture_is_due(capture, &capture_own_task_fields))
		capture_task(capture);
	capture_files(capture);
	code = capture_path(capture);
	return code == PLIM_OK ? capture_threads(capture, threads) : code;
}

/* What it says of a process that its unique id is not told. */
static int capture_mac_lost(int problem, plim_error *error)
{
	switch (problem) {
	case ESRCH:
		return PLIM_ENOPROCESS;
	case EPERM:
	case EACCES:
		return PLIM_EHIDDEN;
	default:
		return plimp_fail(error, PLIM_ESYSTEM, problem, "read process",
				  NULL, NULL);
	}
}

static void capture_finish(plim_process *record, const plim_identity *identity,
			   uint32_t version)
{
	record->image = version;
	plimp_record_identity(record, identity);
	plimp_mac_rung(record);
}

int plimp_mac_read(plim_host *host, int32_t pid, const plim_identity *wanted,
		   const struct plimp_request *request, plim_process *record,
		   struct plimp_thread_list *threads, plim_error *error)
{
	struct capture_mac capture = {
	    .host = host,
	    .pid = pid,
	    .request = request,
	    .record = record,
	    .error = error,
	};
	struct plimp_mac_unique before;
	struct plimp_mac_unique after;
	plim_identity identity;
	int problem;
	int code;

	capture.is_self = wanted == &host->system->self;
	if (capture.is_self) {
		/* Nobody else has our pid. */
		identity = *wanted;
		code = capture_all(&capture, &identity, threads);
		if (code == PLIM_OK)
			capture_finish(record, &identity, 0);
		return code;
	}
	problem = plimp_mac_unique(host, pid, &before);

	if (problem != 0)
		return capture_mac_lost(-problem, error);
	if (wanted != NULL && before.id != wanted->inode)
		return PLIM_EREPLACED;
	plimp_mac_identity(host, pid, &before, &identity);
	code = capture_all(&capture, &identity, threads);
	if (code != PLIM_OK)
		return code;
	problem = plimp_mac_unique(host, pid, &after);
	if (problem != 0)
		return capture_mac_lost(-problem, error);
	if (after.id != before.id)
		return wanted != NULL ? PLIM_EREPLACED : PLIM_ENOPROCESS;
	capture_finish(record, &identity, before.version);
	return PLIM_OK;
}

int plimp_system_read(plim_host *host, int32_t pid,
		      const struct plimp_request *request, plim_process *record,
		      struct plimp_thread_list *threads, plim_error *error)
{
	return plimp_mac_read(host, pid, NULL, request, record, threads, error);
}
