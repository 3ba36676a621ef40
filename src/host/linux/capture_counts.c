/*
 * capture_counts.c - what a process did: switches, storage, calls; and its
 * user and descriptors.
 *
 * Switches of a live process are known thread by thread only. Where the main
 * thread is the only one its status, which may have been read for memory,
 * tells them; where there are more, all are read if that was asked for.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const plim_field_set capture_io_group = {
    {PLIMP_FIELD_BIT(DISK_READ) | PLIMP_FIELD_BIT(DISK_WRITE) |
	 PLIMP_FIELD_BIT(DISK_CANCELLED) | PLIMP_FIELD_BIT(IO_CALLS),
     0}};
static const plim_field_set counts_switch_group = {
    {PLIMP_FIELD_BIT(WAKEUPS) | PLIMP_FIELD_BIT(INVOLUNTARY), 0}};

void plimp_capture_switches(struct plimp_reading *capture,
			    const struct plimp_status *status)
{
	const uint32_t both = PLIMP_STATUS_VOLUNTARY | PLIMP_STATUS_INVOLUNTARY;

	/* A thread may have been born since stat was read. */
	if ((status->has & PLIMP_STATUS_THREADS) != 0 && status->threads > 1) {
		capture->stat.threads = status->threads;
		return;
	}
	if ((status->has & both) != both) {
		plimp_capture_missing(
		    capture, &counts_switch_group,
		    plim_count_missing(PLIM_REASON_NO_LINE, 0));
		return;
	}
	capture->thread.voluntary = status->voluntary;
	capture->thread.involuntary = status->involuntary;
	capture->parts |= PLIMP_THREAD_SWITCHES;
	plimp_capture_set(capture, PLIM_FIELD_WAKEUPS,
			  plim_count_bounded(status->voluntary,
					     PLIM_METHOD_THREAD_SUM,
					     PLIM_BOUND_AT_LEAST));
	plimp_capture_set(capture, PLIM_FIELD_INVOLUNTARY,
			  plim_count_bounded(status->involuntary,
					     PLIM_METHOD_THREAD_SUM,
					     PLIM_BOUND_AT_LEAST));
}

/* The only thread: its status was read for its memory, or will not be. */
static int counts_one_thread(struct plimp_reading *capture, unsigned delays)
{
	plim_bytes text = {NULL, 0};
	int error = 0;

	if ((delays & PLIMP_THREAD_RUNQUEUE) != 0)
		error = plimp_capture_file(capture, "schedstat", &text);
	if (error == ESRCH)
		return PLIM_ENOPROCESS;
	capture->parts |=
	    plimp_delays_of_one(capture->host, capture->record, delays, text,
				error, &capture->stat, &capture->thread);
	if (capture->parts == 0)
		return PLIM_OK;
	capture->thread.tid = capture->pid;
	capture->thread.start_ticks = capture->stat.start_ticks;
	if (plimp_threads_add(capture->threads, &capture->host->allocator,
			      &capture->thread) != PLIM_OK)
		return plimp_fail(capture->error, PLIM_ENOMEM, 0,
				  "read process", NULL, NULL);
	capture->record->threads.count = 1;
	capture->record->threads.known = 1;
	capture->record->threads.ways = &plimp_linux_thread_ways;
	return PLIM_OK;
}

/* All of several, if that was asked for. */
static int counts_all_threads(struct plimp_reading *capture, unsigned parts,
			      unsigned delays)
{
	const struct plimp_request *request = capture->request;
	struct plimp_thread_sum sum;
	int code;

	if (!request->threads && request->thread_parts == 0) {
		sum.voluntary = plim_count_missing(PLIM_REASON_THREAD_PASS, 0);
		plimp_capture_missing(capture, &counts_switch_group,
				      sum.voluntary);
		sum.runqueue = sum.voluntary;
		sum.block_io = sum.voluntary;
		plimp_delays_store(capture->record, delays, &sum);
		return PLIM_OK;
	}
	code =
	    plimp_read_threads(capture->host, capture->directory, request,
			       parts, capture->threads, &sum, capture->error);
	if (code != PLIM_OK)
		return code;
	/* Was it the process that ended? */
	capture->unproven = sum.vanished > 0;
	plimp_capture_set(capture, PLIM_FIELD_WAKEUPS, sum.voluntary);
	plimp_capture_set(capture, PLIM_FIELD_INVOLUNTARY, sum.involuntary);
	plimp_delays_store(capture->record, delays, &sum);
	plimp_threads_store(capture->host, capture->record, &sum);
	return PLIM_OK;
}

/* Switches and waits. */
static int counts_threads(struct plimp_reading *capture)
{
	const struct plimp_request *request = capture->request;
	unsigned parts;
	unsigned delays;

	if (!capture->stat_known)
		return PLIM_OK;
	delays = plimp_delays_wanted(capture->host, capture->record,
				     &request->fields);
	if (capture->stat.threads <= 1 && request->thread_parts == 0)
		return counts_one_thread(capture, delays);
	parts = delays | plimp_threads_wanted(capture->host, request);
	if (plimp_capture_wants_any(capture, &counts_switch_group))
		parts |= PLIMP_THREAD_SWITCHES;
	return parts != 0 ? counts_all_threads(capture, parts, delays)
			  : PLIM_OK;
}

void plimp_store_io(plim_process *record, const plim_field_set *fields,
		    const struct plimp_io *io)
{
	uint64_t calls = io->read_calls > UINT64_MAX - io->write_calls
			     ? UINT64_MAX
			     : io->read_calls + io->write_calls;
	const struct {
		int field;
		uint64_t value;
	} rows[] = {
	    {PLIM_FIELD_DISK_READ, io->read_bytes},
	    {PLIM_FIELD_DISK_WRITE, io->write_bytes},
	    {PLIM_FIELD_DISK_CANCELLED, io->cancelled_bytes},
	    {PLIM_FIELD_IO_CALLS, calls},
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (plimp_set_has(fields, rows[i].field))
			plimp_record_set(
			    record, rows[i].field,
			    plimp_known(rows[i].value,
					PLIM_METHOD_IO_WITH_CHILDREN));
}

static int counts_io(struct plimp_reading *capture)
{
	struct plimp_io io;
	plim_bytes text;
	int error;

	if (!plimp_capture_wants_any(capture, &capture_io_group))
		return PLIM_OK;
	error = plimp_capture_file(capture, "io", &text);
	if (error == ESRCH)
		return PLIM_ENOPROCESS;
	if (error == 0 && plimp_decode_io(text, &io) != PLIM_OK)
		error = EBADMSG;
	if (error != 0)
		plimp_capture_missing(capture, &capture_io_group,
				      plimp_missing_file(error));
	else
		plimp_store_io(capture->record, &capture->request->fields, &io);
	return PLIM_OK;
}

/*
 * Before Linux 6.2 the fd directory has no size. Those who may list it can
 * count its entries: every number but 0 is one that the decoder tells, and
 * descriptor 0 is asked for by name. Too dear for every process.
 */
static plim_count counts_list_descriptors(struct plimp_reading *capture,
					  const char *folder)
{
	plim_host *host = capture->host;
	struct stat status;
	uint64_t total = 0;
	ssize_t size;
	int fd;

	if (!capture->request->dear)
		return plim_count_missing(PLIM_REASON_KERNEL_LACKS, 0);
	fd = plimp_call_open(host, capture->directory, folder,
			     O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return plimp_missing_file(errno);
	while ((size = plimp_call_dents(host, fd, host->system->listing,
					sizeof host->system->listing)) > 0) {
		plim_bytes records = {host->system->listing, (size_t)size};
		size_t offset = 0;
		int32_t number;

		while (plimp_decode_dents(records, &offset, &number) == 1)
			total++;
	}
	if (size == 0 &&
	    plimp_call_stat(host, fd, "0", &status, AT_SYMLINK_NOFOLLOW) == 0)
		total++;
	plimp_call_close(host, fd);
	return size < 0 ? plimp_missing_file(errno)
			: plimp_known(total, PLIM_METHOD_FD_LISTING);
}

/* Where the main thread has ended its fd is empty, whatever the others hold
 * open: one of theirs. 0, or an errno. */
static int counts_fd_folder(const struct plimp_reading *capture,
			    char folder[48])
{
	int found = 1;

	folder[0] = '\0';
	if (capture->leaderless)
		found = plimp_other_thread(capture->host, capture->directory,
					   capture->pid, folder);
	if (found < 0)
		return errno;
	memcpy(folder + strlen(folder), "fd", sizeof "fd");
	return found > 0 ? 0 : ESRCH;
}

static int counts_descriptors(struct plimp_reading *capture)
{
	char folder[48];
	struct stat status;
	plim_count figure;
	int problem;

	if (!plimp_capture_wants(capture, PLIM_FIELD_DESCRIPTORS))
		return PLIM_OK;
	problem = counts_fd_folder(capture, folder);
	if (capture->zombie) {
		figure = plim_count_missing(PLIM_REASON_ZOMBIE, 0);
	} else if (problem == 0 && !capture->host->system->has_fd_count) {
		figure = counts_list_descriptors(capture, folder);
	} else if (problem == 0 &&
		   plimp_call_stat(capture->host, capture->directory, folder,
				   &status, 0) == 0) {
		capture->unproven = 0;
		figure = plimp_known((uint64_t)status.st_size,
				     PLIM_METHOD_FD_DIRECTORY_SIZE);
	} else {
		if (problem == 0)
			problem = errno;
		if (plimp_is_gone(problem) &&
		    plimp_probe_directory(capture->host, capture->directory) !=
			0)
			return PLIM_ENOPROCESS;
		figure = plimp_missing_file(problem);
	}
	plimp_capture_set(capture, PLIM_FIELD_DESCRIPTORS, figure);
	return PLIM_OK;
}

/* The folders of a recording belong to whoever made it. */
static plim_count counts_recorded_owner(struct plimp_reading *capture)
{
	struct plimp_status status;
	plim_bytes text;
	int error = plimp_capture_file(capture, "status", &text);

	if (error == 0 && plimp_decode_status(text, &status) != PLIM_OK)
		error = EBADMSG;
	if (error != 0)
		return plimp_missing_file(error);
	if ((status.has & PLIMP_STATUS_UID) == 0)
		return plim_count_missing(PLIM_REASON_NO_LINE, 0);
	return plimp_known(status.uid, PLIM_METHOD_STATUS);
}

/* Where status was not read: the directory belongs to the effective user,
 * whatever became of the right to trace the process. */
static void counts_owner(struct plimp_reading *capture)
{
	struct stat status;

	if (!plimp_capture_wants(capture, PLIM_FIELD_UID) ||
	    capture->record->figures[PLIM_FIELD_UID].state != PLIM_STATE_UNREAD)
		return;
	if (!capture->host->system->live) {
		plimp_capture_set(capture, PLIM_FIELD_UID,
				  counts_recorded_owner(capture));
		return;
	}
	/* It answers of a dead one, too: 0, which would be root. */
	capture->unproven = 1;
	plimp_capture_set(
	    capture, PLIM_FIELD_UID,
	    plimp_call_fstat(capture->host, capture->directory, &status) == 0
		? plimp_known(status.st_uid, PLIM_METHOD_DIRECTORY_OWNER)
		: plimp_missing_file(errno));
}

plim_count plimp_number_of(plim_bytes text, int error, int method)
{
	uint64_t number;

	/* Without the newline it was cut. */
	if (error == 0 && (text.size == 0 || text.data[text.size - 1] != '\n' ||
			   plimp_decode_number(text, &number) != PLIM_OK))
		error = EBADMSG;
	return error != 0 ? plimp_missing_file(error)
			  : plimp_known(number, method);
}

/* For who has no memory the kernel says 0, "never", which says nothing. */
static int counts_oom_score(struct plimp_reading *capture)
{
	plim_count figure;
	plim_bytes text = {NULL, 0};
	int error;

	if (!plimp_capture_wants(capture, PLIM_FIELD_OOM_SCORE))
		return PLIM_OK;
	if (capture->kernel || capture->zombie) {
		figure =
		    plim_count_missing(capture->kernel ? PLIM_REASON_NO_MEMORY
						       : PLIM_REASON_ZOMBIE,
				       0);
	} else {
		error = plimp_capture_file(capture, "oom_score", &text);
		if (error == ESRCH)
			return PLIM_ENOPROCESS;
		figure = plimp_number_of(text, error, PLIM_METHOD_OOM_SCORE);
	}
	plimp_capture_set(capture, PLIM_FIELD_OOM_SCORE, figure);
	return PLIM_OK;
}

static void counts_operations(struct plimp_reading *capture)
{
	if (!plimp_capture_wants(capture, PLIM_FIELD_DISK_OPS))
		return;
	plimp_capture_set(capture, PLIM_FIELD_DISK_OPS,
			  capture->request->dear
			      ? plimp_cgroup_operations(capture->host,
							capture->directory,
							capture->pid)
			      : plim_count_missing(PLIM_REASON_TOO_DEAR, 0));
}

int plimp_capture_counts(struct plimp_reading *capture)
{
	int code = counts_threads(capture);

	if (code == PLIM_OK)
		code = counts_io(capture);
	if (code == PLIM_OK)
		code = counts_descriptors(capture);
	if (code == PLIM_OK)
		code = counts_oom_score(capture);
	if (code == PLIM_OK) {
		counts_owner(capture);
		counts_operations(capture);
	}
	return code;
}
