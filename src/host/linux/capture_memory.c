/*
 * capture_memory.c - memory of one process: from statm where resident and
 * anonymous memory suffice, from status where its kinds, swap or the peak are
 * wanted, or where it is read for switches anyway. stat's own resident size is
 * never used: since Linux 6.2 it is a counter that lags by up to a batch of
 * pages for each CPU.
 */
#include "host/linux/gnu.h"

#include "host/linux/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

static const plim_field_set capture_memory_group = {
    {PLIMP_FIELD_BIT(RESIDENT) | PLIMP_FIELD_BIT(PRIVATE) |
	 PLIMP_FIELD_BIT(ANONYMOUS) | PLIMP_FIELD_BIT(FILE) |
	 PLIMP_FIELD_BIT(SHMEM) | PLIMP_FIELD_BIT(SWAP) |
	 PLIMP_FIELD_BIT(PEAK_RESIDENT),
     0}};
/* What only status tells; PRIVATE too while the host has swap. */
static const plim_field_set capture_status_group = {
    {PLIMP_FIELD_BIT(FILE) | PLIMP_FIELD_BIT(SHMEM) | PLIMP_FIELD_BIT(SWAP) |
	 PLIMP_FIELD_BIT(PEAK_RESIDENT),
     0}};
static const plim_field_set capture_statm_group = {
    {PLIMP_FIELD_BIT(RESIDENT) | PLIMP_FIELD_BIT(ANONYMOUS) |
	 PLIMP_FIELD_BIT(PRIVATE),
     0}};
static const plim_field_set capture_switch_group = {
    {PLIMP_FIELD_BIT(WAKEUPS) | PLIMP_FIELD_BIT(INVOLUNTARY), 0}};

void plimp_store_statm(const plim_host *host, plim_process *record,
		       const plim_field_set *fields,
		       const struct plimp_statm *statm, int method)
{
	uint64_t page = host->system->page_bytes;
	uint64_t resident = statm->resident_pages * page;
	uint64_t anonymous = resident - statm->shared_pages * page;

	if (plimp_set_has(fields, PLIM_FIELD_RESIDENT))
		plimp_record_set(record, PLIM_FIELD_RESIDENT,
				 plimp_known(resident, method));
	if (plimp_set_has(fields, PLIM_FIELD_ANONYMOUS))
		plimp_record_set(record, PLIM_FIELD_ANONYMOUS,
				 plimp_known(anonymous, method));
	if (plimp_set_has(fields, PLIM_FIELD_PRIVATE) &&
	    !host->system->has_swap)
		plimp_record_set(
		    record, PLIM_FIELD_PRIVATE,
		    plimp_known(anonymous, PLIM_METHOD_STATM_NO_SWAP));
}

/* The kernel sums the two counts one after the other, so that a process in
 * motion may show more shared than resident pages: then neither is known. */
int plimp_statm_is_sound(const plim_host *host, const struct plimp_statm *statm)
{
	return statm->shared_pages <= statm->resident_pages &&
	       statm->resident_pages <= UINT64_MAX / host->system->page_bytes;
}

/* A file of the process, or of the folder of one of its threads. */
static int memory_file(struct plimp_reading *capture, const char *folder,
		       const char *name, plim_bytes *text)
{
	char path[48];

	if (folder[0] == '\0')
		return plimp_capture_file(capture, name, text);
	snprintf(path, sizeof path, "%s%s", folder, name);
	return plimp_capture_file(capture, path, text);
}

static int capture_statm(struct plimp_reading *capture, const char *folder)
{
	struct plimp_statm statm;
	plim_bytes text;
	int error = memory_file(capture, folder, "statm", &text);

	if (error == ESRCH && !capture->leaderless)
		return PLIM_ENOPROCESS;
	if (error == 0 && (plimp_decode_statm(text, &statm) != PLIM_OK ||
			   !plimp_statm_is_sound(capture->host, &statm)))
		error = EBADMSG;
	if (error == 0 && statm.size_pages == 0)
		error = ESRCH; /* its memory is given back: on its way out */
	if (error != 0)
		plimp_capture_missing(capture, &capture_statm_group,
				      plimp_missing_file(error));
	else
		plimp_store_statm(capture->host, capture->record,
				  &capture->request->fields, &statm,
				  capture->leaderless ? PLIM_METHOD_TASK_STATM
						      : PLIM_METHOD_STATM);
	return PLIM_OK;
}

static plim_count memory_line(const struct plimp_status *status, uint32_t part,
			      uint64_t value, int method)
{
	if ((status->has & part) != 0)
		return plimp_known(value, method);
	return plim_count_missing(PLIM_REASON_NO_LINE, 0);
}

static plim_count memory_private(const struct plimp_status *status, int method)
{
	uint32_t both = PLIMP_STATUS_ANON | PLIMP_STATUS_SWAP;

	if ((status->has & both) != both ||
	    status->anonymous_bytes > UINT64_MAX - status->swap_bytes)
		return plim_count_missing(PLIM_REASON_NO_LINE, 0);
	return plimp_known(status->anonymous_bytes + status->swap_bytes,
			   method);
}

void plimp_store_status(plim_process *record, const plim_field_set *fields,
			const struct plimp_status *status, int method)
{
	const struct {
		int field;
		uint32_t part;
		uint64_t value;
	} rows[] = {
	    {PLIM_FIELD_RESIDENT, PLIMP_STATUS_RSS, status->resident_bytes},
	    {PLIM_FIELD_ANONYMOUS, PLIMP_STATUS_ANON, status->anonymous_bytes},
	    {PLIM_FIELD_FILE, PLIMP_STATUS_FILE, status->file_bytes},
	    {PLIM_FIELD_SHMEM, PLIMP_STATUS_SHMEM, status->shmem_bytes},
	    {PLIM_FIELD_SWAP, PLIMP_STATUS_SWAP, status->swap_bytes},
	    {PLIM_FIELD_PEAK_RESIDENT, PLIMP_STATUS_HWM, status->peak_bytes},
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (plimp_set_has(fields, rows[i].field))
			plimp_record_set(record, rows[i].field,
					 memory_line(status, rows[i].part,
						     rows[i].value, method));
	if (plimp_set_has(fields, PLIM_FIELD_PRIVATE))
		plimp_record_set(record, PLIM_FIELD_PRIVATE,
				 memory_private(status, method));
}

static void capture_status_failed(struct plimp_reading *capture, int memory,
				  int switches, plim_count missing)
{
	if (memory)
		plimp_capture_missing(capture, &capture_memory_group, missing);
	if (switches)
		plimp_capture_missing(capture, &capture_switch_group, missing);
	plimp_capture_set(capture, PLIM_FIELD_UID, missing);
}

static uint32_t memory_parts(int memory, int switches)
{
	uint32_t parts =
	    PLIMP_STATUS_UID | PLIMP_STATUS_THREADS | PLIMP_STATUS_IGNORED;

	if (memory)
		parts |= PLIMP_STATUS_HWM | PLIMP_STATUS_RSS |
			 PLIMP_STATUS_ANON | PLIMP_STATUS_FILE |
			 PLIMP_STATUS_SHMEM | PLIMP_STATUS_SWAP;
	if (switches)
		parts |= PLIMP_STATUS_VOLUNTARY | PLIMP_STATUS_INVOLUNTARY;
	return parts;
}

/* Memory and switches, as far as asked, and the user. */
static int capture_status(struct plimp_reading *capture, const char *folder,
			  int memory, int switches)
{
	struct plimp_status status;
	plim_bytes text;
	int error = memory_file(capture, folder, "status", &text);

	if (error == ESRCH && !capture->leaderless)
		return PLIM_ENOPROCESS;
	if (error == 0 &&
	    plimp_decode_status_parts(text, memory_parts(memory, switches),
				      &status) != PLIM_OK)
		error = EBADMSG;
	if (error != 0) {
		capture_status_failed(capture, memory, switches,
				      plimp_missing_file(error));
		return PLIM_OK;
	}
	if (memory && (status.has & PLIMP_STATUS_RSS) == 0)
		/* No memory and no zombie yet: it is on its way out. */
		plimp_capture_missing(capture, &capture_memory_group,
				      plim_count_missing(PLIM_REASON_ENDED, 0));
	else if (memory)
		plimp_store_status(capture->record, &capture->request->fields,
				   &status,
				   capture->leaderless ? PLIM_METHOD_TASK_STATUS
						       : PLIM_METHOD_STATUS);
	if ((status.has & PLIMP_STATUS_IGNORED) != 0)
		capture->record->ignores_children =
		    (status.ignored >> (SIGCHLD - 1) & 1) != 0
			? PLIMP_IGNORES_YES
			: PLIMP_IGNORES_NO;
	plimp_capture_set(capture, PLIM_FIELD_UID,
			  memory_line(&status, PLIMP_STATUS_UID, status.uid,
				      PLIM_METHOD_STATUS));
	if (switches)
		plimp_capture_switches(capture, &status);
	return PLIM_OK;
}

int plimp_other_thread(plim_host *host, int directory, int32_t pid,
		       char path[32])
{
	int task =
	    plimp_call_open(host, directory, "task", O_RDONLY | O_DIRECTORY);
	int32_t tid = 0;
	ssize_t size;

	if (task < 0)
		return -1;
	size = plimp_call_dents(host, task, host->system->listing,
				sizeof host->system->listing);
	plimp_call_close(host, task);
	if (size < 0)
		return -1;
	if (size > 0) {
		plim_bytes records = {host->system->listing, (size_t)size};
		size_t offset = 0;

		while (plimp_decode_dents(records, &offset, &tid) == 1)
			if (tid != pid)
				break;
	}
	snprintf(path, 32, "task/%d/", (int)tid);
	return tid > 0 && tid != pid;
}

/* Where the main thread has ended another one tells the memory: its folder as
 * a path. PLIM_ENOPROCESS if there is none; `*wanted` becomes 0 if they could
 * not be looked for. */
static int memory_leaderless(struct plimp_reading *capture, int *wanted,
			     char path[32])
{
	int found = plimp_other_thread(capture->host, capture->directory,
				       capture->pid, path);
	int problem = errno;

	if (found > 0)
		return PLIM_OK;
	if (found == 0 || plimp_is_gone(problem))
		return PLIM_ENOPROCESS;
	plimp_capture_missing(capture, &capture_memory_group,
			      plimp_missing_file(problem));
	*wanted = 0;
	return PLIM_OK;
}

static int memory_has_none(struct plimp_reading *capture)
{
	int reason = capture->kernel   ? PLIM_REASON_NO_MEMORY
		     : capture->zombie ? PLIM_REASON_ZOMBIE
				       : PLIM_REASON_NONE;

	if (reason == PLIM_REASON_NONE)
		return 0;
	plimp_capture_missing(capture, &capture_memory_group,
			      plim_count_missing(reason, 0));
	return 1;
}

int plimp_capture_memory(struct plimp_reading *capture)
{
	int wanted = plimp_capture_wants_any(capture, &capture_memory_group) &&
		     !memory_has_none(capture);
	int switches = capture->stat_known && capture->stat.threads <= 1 &&
		       plimp_capture_wants_any(capture, &capture_switch_group);
	int kinds = wanted &&
		    (switches ||
		     plimp_capture_wants_any(capture, &capture_status_group) ||
		     (plimp_capture_wants(capture, PLIM_FIELD_PRIVATE) &&
		      capture->host->system->has_swap));
	char folder[32] = "";

	if (wanted && capture->leaderless) {
		int code = memory_leaderless(capture, &wanted, folder);

		if (code != PLIM_OK)
			return code;
		kinds = kinds && wanted;
	}
	if (wanted && !kinds) {
		int code = capture_statm(capture, folder);

		if (code != PLIM_OK)
			return code;
	}
	if (!kinds && !switches && !capture->request->children)
		return PLIM_OK;
	return capture_status(capture, folder, kinds, switches);
}
