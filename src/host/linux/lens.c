/*
 * lens.c - one image of a process: opening it, proving it, and what two of its
 * files tell of the whole, status and smaps_rollup.
 *
 * An image is told by three things: the directory of the process, which the
 * kernel binds to it; the file of the program and the place of its stack,
 * which is another one after every exec; and, where a file that is bound to
 * the memory is held, whether that memory still has pages at all. Everything
 * is read first and proven after, so that an answer is never of a successor.
 *
 * The prediction. smaps_rollup looks at every entry of the page tables, and at
 * the page behind each that is present. On Linux 6.18 the quickest of 15 reads
 * took 19 to 22 ns for each of 2 GiB of small pages, and 2.1 to 2.4 ns for an
 * empty entry; on a busier machine of the same kind it was 45 ns a page (11.9
 * ms for 1 GiB). The dearer is taken: the guard rather leaves one out. Pages of
 * 2 MiB cost next to nothing and are predicted as if they were small, since
 * status does not tell them apart.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/lens.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LENS_PAGE_NS  45u /* of a resident page */
#define LENS_ENTRY_NS 3u  /* of an entry of a page table, present or not */

/* How often an exec that is under way is waited for, a millisecond each. */
#define LENS_EXEC_MOST 50

int plimp_lens_file(struct plimp_lens *lens, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof path, "%s%s", lens->folder, name);
	return plimp_call_open(lens->host, lens->directory, path,
			       flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

uint64_t plimp_lens_billed(struct plimp_lens *lens, const char *name,
			   uint64_t begin)
{
	uint64_t end = plimp_system_monotonic();
	uint64_t spent = end > begin ? end - begin : 0;

	lens->bill.calls++;
	if (spent > lens->bill.longest_call_ns ||
	    lens->bill.longest_call[0] == '\0') {
		lens->bill.longest_call_ns = spent;
		lens->bill.longest_call = name;
	}
	return spent;
}

static int lens_pid(const struct plimp_lens *lens)
{
	return lens->target != NULL ? (int)lens->target->identity.pid
				    : (int)lens->host->system->self.pid;
}

static int lens_lost(struct plimp_lens *lens, int problem, plim_error *error)
{
	if (lens->target != NULL)
		return plimp_target_lost(lens->target, problem, "read memory",
					 error);
	return plimp_fail(error, PLIM_ESYSTEM, problem, "read memory", "self",
			  NULL);
}

int plimp_lens_fail(struct plimp_lens *lens, int problem, const char *name,
		    plim_error *error)
{
	char path[48];
	int code;

	assert(problem != 0);
	/* A process on its way out refuses what it allowed. */
	code = plimp_system_lens_check(lens, error);
	if (code != PLIM_OK)
		return code;
	snprintf(path, sizeof path, "%d/%s", lens_pid(lens), name);
	switch (problem) {
	case EACCES:
	case EPERM:
		return plimp_fail(error, PLIM_EDENIED, problem, "read memory",
				  path,
				  "it takes the same user and the right to "
				  "trace it, or CAP_SYS_PTRACE");
	case ENOENT:
	case ENOTTY:
	case ENOSYS:
		return plimp_fail(error, PLIM_EUNSUPPORTED, problem,
				  "read memory", path, NULL);
	case ENOMEM:
		return plimp_fail(error, PLIM_ENOMEM, problem, "read memory",
				  path, NULL);
	default:
		return plimp_fail(error, PLIM_ESYSTEM, problem, "read memory",
				  path, NULL);
	}
}

/* The stat of the process, which the directory proves: 0 or the error. */
static int lens_stat(struct plimp_lens *lens, struct plimp_stat *stat)
{
	plim_bytes text;
	int problem =
	    plimp_read_file(lens->host, lens->directory, "stat", &text);

	if (problem == 0 && plimp_decode_stat(text, stat) != PLIM_OK)
		problem = EBADMSG;
	return problem;
}

static int lens_image_is_same(const struct plimp_grip *then,
			      const struct plimp_grip *now)
{
	if (then->exe_known && now->exe_known &&
	    (then->exe_device != now->exe_device ||
	     then->exe_inode != now->exe_inode))
		return 0;
	/* A place that is not told any more: an exec is under way. */
	return then->stack_start == 0 || then->stack_start == now->stack_start;
}

/* Memory that nobody uses any more has no page tables to be read: what is
 * held of it reads as empty. */
static int lens_is_empty(struct plimp_lens *lens)
{
	char entry[8];

	return lens->pagemap >= 0 && plimp_call_pread(lens->host, lens->pagemap,
						      entry, sizeof entry) == 0;
}

/* It has another image than it had, or none any more: then the link to its
 * program leads nowhere. */
static int lens_changed(struct plimp_lens *lens, plim_error *error)
{
	struct stat status;
	char name[16];
	int ended = plimp_call_stat(lens->host, lens->directory, "exe", &status,
				    0) != 0 &&
		    plimp_is_gone(errno);

	snprintf(name, sizeof name, "%d", lens_pid(lens));
	return plimp_fail(error, ended ? PLIM_ENOPROCESS : PLIM_EIMAGE, 0,
			  "read memory", name, NULL);
}

/* The main thread has ended, or is about to: it has no memory any more. */
static int lens_is_ended(const struct plimp_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X' ||
	       (stat->flags & PLIMP_STAT_EXITING) != 0;
}

/* A main thread that has ended has given up the memory; another one has it. */
static void lens_find_folder(struct plimp_lens *lens)
{
	char path[32];

	if (plimp_other_thread(lens->host, lens->directory,
			       (int32_t)lens_pid(lens), path) == 1)
		memcpy(lens->folder, path, sizeof path);
}

static int lens_check_target(struct plimp_lens *lens, plim_error *error)
{
	struct plimp_grip now = lens->image;
	struct plimp_stat stat;
	char name[16];
	int problem = lens_stat(lens, &stat);

	if (problem == EBADMSG)
		return plimp_fail(error, PLIM_ECANNOTTELL, 0, "read memory",
				  "stat", NULL);
	if (problem != 0)
		return lens_lost(lens, problem, error);
	snprintf(name, sizeof name, "%d", lens_pid(lens));
	/* The directory of a recording is bound to nobody. */
	if (stat.start_ticks != lens->target->identity.start_ticks)
		return plimp_fail(error, PLIM_EREPLACED, 0, "read memory", name,
				  NULL);
	if (lens->reason != 0)
		return PLIM_OK;
	if (lens_is_ended(&stat) && stat.threads <= 1)
		return plimp_fail(error, PLIM_ENOPROCESS, 0, "read memory",
				  name, "it has ended and waits to be reaped");
	if (lens_is_ended(&stat) && lens->folder[0] == '\0')
		lens_find_folder(lens);
	if (!lens_is_ended(&stat))
		plimp_target_image(lens->host, lens->directory, &stat, &now);
	if (!lens_image_is_same(&lens->image, &now))
		return lens_changed(lens, error);
	if (lens_is_empty(lens))
		return lens_changed(lens, error);
	return PLIM_OK;
}

int plimp_system_lens_check(struct plimp_lens *lens, plim_error *error)
{
	if (lens->target != NULL)
		return lens_check_target(lens, error);
	if (!plimp_self_is_forked(lens->host))
		return PLIM_OK;
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "read memory", "self",
			  "the host was opened before fork; open another");
}

/* Why a process in this state has no memory to look at; 0: it has. */
static int lens_reason(const struct plimp_stat *stat)
{
	if ((stat->flags & PLIMP_STAT_KERNEL_THREAD) != 0)
		return PLIM_REASON_NO_MEMORY;
	if (lens_is_ended(stat) && stat->threads <= 1)
		return PLIM_REASON_ZOMBIE;
	return 0;
}

/* What is executed now; while the stack of an exec is not placed yet it is
 * waited for. */
static int lens_bind(struct plimp_lens *lens, plim_error *error)
{
	struct plimp_stat stat;
	int tries;

	for (tries = 0;; tries++) {
		int problem = lens_stat(lens, &stat);

		if (problem == EBADMSG)
			return plimp_fail(error, PLIM_EMALFORMED, 0,
					  "read memory", "stat", NULL);
		if (problem != 0)
			return lens_lost(lens, problem, error);
		lens->reason = lens_reason(&stat);
		if (lens->reason != 0)
			return PLIM_OK;
		plimp_target_image(lens->host, lens->directory, &stat,
				   &lens->image);
		if (!lens->image.exe_known || lens->image.stack_start != 0 ||
		    lens_is_ended(&stat) || tries == LENS_EXEC_MOST)
			break;
		plimp_system_sleep(lens->host, 1000000, -1);
	}
	if (lens_is_ended(&stat))
		lens_find_folder(lens);
	return PLIM_OK;
}

static int lens_no_self(plim_host *host, plim_error *error)
{
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "read memory",
			  host->proc_root, "%s",
			  plimp_self_is_forked(host)
			      ? "the host was opened before fork; open another"
			      : "this proc root does not show us");
}

int plimp_system_lens_open(plim_host *host, plim_target *target,
			   struct plimp_lens **lens, plim_error *error)
{
	struct plimp_lens *made;
	int code;

	assert(target == NULL || target->host == host);
	if (target == NULL &&
	    (plimp_self_is_forked(host) || !host->system->live ||
	     host->system->self_directory < 0))
		return lens_no_self(host, error);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "read memory", NULL,
				  NULL);
	made->host = host;
	made->target = target;
	made->directory = target != NULL ? target->grip->directory
					 : host->system->self_directory;
	made->mem = -1;
	made->pagemap = -1;
	made->root = -1;
	made->has_scan = -1;
	made->bill.longest_call = "";
	made->buffer = plimp_allocate(&host->allocator, PLIMP_LENS_BUFFER, 1);
	if (made->buffer == NULL)
		code = plimp_fail(error, PLIM_ENOMEM, 0, "read memory", NULL,
				  NULL);
	else
		code = lens_bind(made, error);
	if (code != PLIM_OK) {
		plimp_system_lens_close(made);
		return code;
	}
	*lens = made;
	return PLIM_OK;
}

void plimp_system_lens_close(struct plimp_lens *lens)
{
	const plim_allocator *allocator;

	if (lens == NULL)
		return;
	allocator = &lens->host->allocator;
	plimp_call_close(lens->host, lens->mem);
	plimp_call_close(lens->host, lens->pagemap);
	plimp_call_close(lens->host, lens->root);
	plimp_release(allocator, lens->buffer, PLIMP_LENS_BUFFER, 1);
	plimp_release(allocator, lens, 1, sizeof *lens);
}

struct plimp_lens_bill plimp_system_lens_bill(const struct plimp_lens *lens)
{
	return lens->bill;
}

/* The text of a file, whole, in the lens's buffer: 0 or the error. */
static int lens_text(struct plimp_lens *lens, const char *name,
		     plim_bytes *text)
{
	int descriptor = plimp_lens_file(lens, name, O_RDONLY);
	ssize_t count;
	int problem;

	if (descriptor < 0)
		return errno;
	count = plimp_call_read(lens->host, descriptor, lens->buffer,
				PLIMP_LENS_BUFFER);
	problem = count < 0 ? errno : 0;
	plimp_call_close(lens->host, descriptor);
	if (problem != 0)
		return problem;
	if ((size_t)count == PLIMP_LENS_BUFFER)
		return EFBIG;
	text->data = lens->buffer;
	text->size = (size_t)count;
	return 0;
}

/* Figures that one file tells, by their places in what was decoded. */
struct lens_row {
	int figure;
	uint32_t part;
	uint64_t value;
};

static void lens_store(plim_count *figures, const struct lens_row *rows,
		       size_t count, uint32_t has, int method)
{
	size_t i;

	for (i = 0; i < count; i++)
		figures[rows[i].figure] =
		    (has & rows[i].part) != 0
			? plimp_known(rows[i].value, method)
			: plim_count_missing(PLIM_REASON_NO_LINE, 0);
}

static void lens_store_missing(plim_count *figures, const struct lens_row *rows,
			       size_t count, plim_count missing)
{
	size_t i;

	for (i = 0; i < count; i++)
		figures[rows[i].figure] = missing;
}

int plimp_system_lens_status(struct plimp_lens *lens, plim_count *figures,
			     plim_error *error)
{
	struct plimp_status status;
	plim_bytes text;
	int problem = lens_text(lens, "status", &text);
	int code;

	memset(&status, 0, sizeof status);
	if (problem != 0)
		return plimp_lens_fail(lens, problem, "status", error);
	if (plimp_decode_status(text, &status) != PLIM_OK)
		return plimp_fail(error, PLIM_EMALFORMED, 0, "read memory",
				  "status", NULL);
	code = plimp_system_lens_check(lens, error);
	if (code != PLIM_OK)
		return code;
	lens->status = status;
	if (figures == NULL)
		return PLIM_OK;
	const struct lens_row rows[] = {
	    {PLIMP_FIGURE_RESIDENT, PLIMP_STATUS_RSS, status.resident_bytes},
	    {PLIMP_FIGURE_ANONYMOUS, PLIMP_STATUS_ANON, status.anonymous_bytes},
	    {PLIMP_FIGURE_FILE, PLIMP_STATUS_FILE, status.file_bytes},
	    {PLIMP_FIGURE_SHMEM, PLIMP_STATUS_SHMEM, status.shmem_bytes},
	    {PLIMP_FIGURE_SWAP, PLIMP_STATUS_SWAP, status.swap_bytes},
	    {PLIMP_FIGURE_PEAK_RESIDENT, PLIMP_STATUS_HWM, status.peak_bytes},
	    {PLIMP_FIGURE_PAGE_TABLES, PLIMP_STATUS_PTE,
	     status.page_table_bytes},
	};
	if (lens->reason != 0)
		lens_store_missing(figures, rows, sizeof rows / sizeof rows[0],
				   plim_count_missing(lens->reason, 0));
	else
		lens_store(figures, rows, sizeof rows / sizeof rows[0],
			   status.has,
			   lens->folder[0] == '\0' ? PLIM_METHOD_STATUS
						   : PLIM_METHOD_TASK_STATUS);
	return PLIM_OK;
}

/* Who it is, as the last status that could be read tells. */
static void lens_learn_user(struct plimp_lens *lens)
{
	struct plimp_status status;
	plim_bytes text;
	int32_t pid = 0;

	memset(&status, 0, sizeof status);
	if (lens_text(lens, "status", &text) != 0 ||
	    plimp_decode_status_parts(text, PLIMP_STATUS_UID, &status) !=
		PLIM_OK)
		return;
	if (plimp_decode_own_pid(text, &pid) != PLIM_OK)
		pid = 0;
	if (plimp_system_lens_check(lens, NULL) != PLIM_OK)
		return;
	lens->user = status.uid;
	lens->user_known = 1;
	lens->inner_pid = pid;
}

int plimp_lens_user(struct plimp_lens *lens, uint32_t *user)
{
	lens_learn_user(lens);
	*user = lens->user;
	return lens->user_known;
}

int32_t plimp_system_lens_inner_pid(struct plimp_lens *lens)
{
	if (!lens->user_known)
		lens_learn_user(lens);
	return lens->inner_pid;
}

plim_count plimp_predict_walk(const plim_host *host,
			      const struct plimp_status *status)
{
	const uint32_t both = PLIMP_STATUS_RSS | PLIMP_STATUS_PTE;
	uint64_t pages, entries;

	if ((status->has & both) != both)
		return plim_count_missing(PLIM_REASON_NO_LINE, 0);
	pages = status->resident_bytes / host->system->page_bytes;
	entries = status->page_table_bytes / 8;
	/* Both lie below 2^54 - 128, as they were kilobytes. */
	return plimp_known(pages * LENS_PAGE_NS + entries * LENS_ENTRY_NS,
			   PLIM_METHOD_STATUS);
}

plim_count plimp_system_lens_predict(struct plimp_lens *lens)
{
	if (lens->reason != 0)
		return plim_count_missing(lens->reason, 0);
	if (lens->status.has == 0 &&
	    plimp_system_lens_status(lens, NULL, NULL) != PLIM_OK)
		return plim_count_missing(PLIM_REASON_READ_FAILED, 0);
	return plimp_predict_walk(lens->host, &lens->status);
}

#define LENS_ROLLUP_ROW(figure, row)                            \
	{                                                       \
		PLIMP_FIGURE_##figure, 1u << PLIMP_SMAPS_##row, \
		    smaps.bytes[PLIMP_SMAPS_##row]              \
	}

int plimp_system_lens_rollup(struct plimp_lens *lens, plim_count *figures,
			     plim_error *error)
{
	struct plimp_smaps smaps;
	plim_bytes text = {NULL, 0};
	uint64_t begin = plimp_system_monotonic();
	int problem = 0;
	int code;

	memset(&smaps, 0, sizeof smaps);
	if (lens->reason == 0) {
		problem = lens_text(lens, "smaps_rollup", &text);
		if (problem == 0) {
			plimp_lens_billed(lens, "smaps_rollup", begin);
			lens->bill.walks++;
		}
		if (problem == 0 && plimp_decode_smaps(text, &smaps) != PLIM_OK)
			problem = EBADMSG;
	}
	code = plimp_system_lens_check(lens, error);
	if (code != PLIM_OK)
		return code;
	const struct lens_row rows[] = {
	    LENS_ROLLUP_ROW(PRIVATE_DIRTY, PRIVATE_DIRTY),
	    LENS_ROLLUP_ROW(PRIVATE_CLEAN, PRIVATE_CLEAN),
	    LENS_ROLLUP_ROW(SHARED_CLEAN, SHARED_CLEAN),
	    LENS_ROLLUP_ROW(SHARED_DIRTY, SHARED_DIRTY),
	    LENS_ROLLUP_ROW(PSS, PSS),
	    LENS_ROLLUP_ROW(PSS_DIRTY, PSS_DIRTY),
	    LENS_ROLLUP_ROW(PSS_ANONYMOUS, PSS_ANON),
	    LENS_ROLLUP_ROW(PSS_FILE, PSS_FILE),
	    LENS_ROLLUP_ROW(PSS_SHMEM, PSS_SHMEM),
	    LENS_ROLLUP_ROW(ROLLUP_SWAP, SWAP),
	    LENS_ROLLUP_ROW(SWAP_PSS, SWAP_PSS),
	    LENS_ROLLUP_ROW(HUGE_ANONYMOUS, ANON_HUGE),
	    LENS_ROLLUP_ROW(LAZY_FREE, LAZY_FREE),
	};
	if (lens->reason != 0)
		lens_store_missing(figures, rows, sizeof rows / sizeof rows[0],
				   plim_count_missing(lens->reason, 0));
	else if (problem != 0)
		lens_store_missing(figures, rows, sizeof rows / sizeof rows[0],
				   plimp_missing_file(problem));
	else
		lens_store(figures, rows, sizeof rows / sizeof rows[0],
			   smaps.has, PLIM_METHOD_SMAPS_ROLLUP);
	return PLIM_OK;
}
