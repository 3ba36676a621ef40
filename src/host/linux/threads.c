/*
 * threads.c - every thread of a process, one by one.
 *
 * The kernel tells the context switches of a live process, and what it waited
 * for, thread by thread only; /proc/PID/status is the main thread's. What
 * ended threads had counted is lost: their sum is a lower bound.
 *
 * The files of a thread go by its number, which may be used again between two
 * of them. So one of them, the anchor, is opened first and read last: an open
 * file is bound to its thread and fails with ESRCH once that ended, so what
 * was opened by the number meanwhile is the same thread's. That the thread is
 * one that was there before is told by the anchor's inode: procfs gives a
 * thread's files new ones (a counter of 32 bits, get_next_ino()), and keeps
 * them only as long as the thread lives. Where the inode is another, perhaps
 * because the kernel was short of memory, stat tells the start again.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/system.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* The files in the order of their reading; the numbers are proofs. */
enum threads_file {
	THREADS_SCHEDSTAT = 1,
	THREADS_STATUS = 2,
	THREADS_STAT = 3,
	THREADS_FILES = 4
};

/* One pass over the threads of a process. */
struct threads_pass {
	plim_host *host;
	int task; /* the folder */
	unsigned parts;
	const struct plimp_request *request;
	const struct plimp_threads *known; /* or NULL */
	struct plimp_thread_list *threads;
	size_t first;
	size_t asked; /* behind those that were known and were read again */
	int failed;   /* the first real failure, of every part */
	int failed_switches;
	int failed_runqueue;
	int failed_block_io;
	uint32_t vanished;
	uint64_t young_ticks; /* the start tick of who starts as it begins */
	plim_error *error;
};

/* One thread while it is read. */
struct threads_one {
	struct threads_pass *pass;
	struct plimp_thread *thread;
	const struct plimp_thread *before; /* who had the number, or NULL */
	unsigned wanted;		   /* files, 1 << enum threads_file */
	int errors[THREADS_FILES];	   /* error numbers */
};

#define THREADS_BY(name)                                                       \
	{                                                                      \
		.state = PLIM_STATE_KNOWN, .method = PLIM_METHOD_THREAD_##name \
	}
const struct plimp_thread_ways plimp_linux_thread_ways = {
    .start = THREADS_BY(STAT),
    .wakeups = THREADS_BY(STATUS),
    .involuntary = THREADS_BY(STATUS),
    .switches_in = THREADS_BY(SCHEDSTAT),
    .cpu = THREADS_BY(SCHEDSTAT),
    .cpu_ticks = THREADS_BY(STAT),
    .runqueue = THREADS_BY(SCHEDSTAT),
};

const char *plimp_thread_proof(int proof)
{
	static const char *const names[THREADS_FILES] = {"", "schedstat",
							 "status", "stat"};

	assert(proof > 0 && proof < THREADS_FILES);
	return names[proof];
}

void plimp_thread_path(char path[PLIMP_THREAD_PATH], int32_t tid,
		       const char *name)
{
	size_t digits = plimp_digits((uint64_t)tid, path);
	size_t size = strlen(name) + 1;

	assert(digits + 1 + size <= PLIMP_THREAD_PATH);
	path[digits] = '/';
	memcpy(path + digits + 1, name, size);
}

static int threads_status(struct threads_one *one, plim_bytes text)
{
	const uint32_t both = PLIMP_STATUS_VOLUNTARY | PLIMP_STATUS_INVOLUNTARY;
	struct plimp_status status;

	if (plimp_decode_status_parts(text, both, &status) != PLIM_OK ||
	    status.has != both)
		return EBADMSG;
	one->thread->voluntary = status.voluntary;
	one->thread->involuntary = status.involuntary;
	one->thread->has |= PLIMP_THREAD_SWITCHES;
	return 0;
}

static int threads_schedstat(struct threads_one *one, plim_bytes text)
{
	struct plimp_schedstat found;

	if (plimp_decode_schedstat(text, &found) != PLIM_OK)
		return EBADMSG;
	one->thread->cpu_ns = found.run_ns;
	one->thread->runqueue_ns = found.wait_ns;
	one->thread->switches_in = found.switches_in;
	one->thread->has |= PLIMP_THREAD_RUNQUEUE;
	return 0;
}

/* The name lies in the buffer that the next file is read into. */
static int threads_name(struct threads_one *one, const struct plimp_stat *stat)
{
	struct plimp_thread_details *details = one->pass->request->details;
	struct plimp_thread_detail *detail;

	if (details == NULL || (one->pass->parts & PLIMP_THREAD_NAME) == 0)
		return 0;
	detail = &details->items[one->thread->detail];
	detail->state = stat->state;
	return plimp_details_text(details, &one->pass->host->allocator,
				  &detail->name, stat->name,
				  PLIM_METHOD_THREAD_STAT) == PLIM_OK
		   ? 0
		   : ENOMEM;
}

static int threads_stat(struct threads_one *one, plim_bytes text)
{
	struct threads_pass *pass = one->pass;
	struct plimp_thread *thread = one->thread;
	struct plimp_stat stat;

	if (plimp_decode_stat(text, &stat) != PLIM_OK)
		return EBADMSG;
	thread->start_ticks = stat.start_ticks;
	if ((stat.has & PLIMP_STAT_BLOCK_IO) != 0) {
		thread->has |= PLIMP_THREAD_BLOCK_IO;
		thread->block_io_ns =
		    plimp_ticks_to_ns(pass->host, stat.block_io_ticks);
	}
	/* Asked for, or all there is. */
	if ((pass->parts & PLIMP_THREAD_TICKS) != 0 ||
	    one->errors[THREADS_SCHEDSTAT] != 0) {
		thread->has |= PLIMP_THREAD_TICKS;
		thread->cpu_ns = plimp_ticks_to_ns(
		    pass->host, stat.user_ticks + stat.system_ticks);
	}
	return threads_name(one, &stat);
}

static int threads_decode(struct threads_one *one, int file, plim_bytes text)
{
	switch (file) {
	case THREADS_SCHEDSTAT:
		return threads_schedstat(one, text);
	case THREADS_STATUS:
		return threads_status(one, text);
	default:
		return threads_stat(one, text);
	}
}

static int threads_open(struct threads_one *one, int file)
{
	char path[PLIMP_THREAD_PATH];
	int descriptor;

	plimp_thread_path(path, one->thread->tid, plimp_thread_proof(file));
	descriptor = plimp_call_open(one->pass->host, one->pass->task, path,
				     O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	one->errors[file] = descriptor < 0 ? errno : 0;
	return descriptor;
}

static void threads_read(struct threads_one *one, int file, int descriptor)
{
	plim_host *host = one->pass->host;
	plim_bytes text = {host->system->buffer, 0};
	ssize_t size = plimp_call_read(host, descriptor, host->system->buffer,
				       sizeof host->system->buffer);

	if (size < 0)
		one->errors[file] = errno;
	else if ((size_t)size == sizeof host->system->buffer)
		one->errors[file] = EFBIG;
	text.size = size > 0 ? (size_t)size : 0;
	if (one->errors[file] == 0)
		one->errors[file] = threads_decode(one, file, text);
}

/* Is it the thread that had the number before? Then its start is known. */
static void threads_prove(struct threads_one *one, int file, int descriptor)
{
	struct threads_pass *pass = one->pass;
	struct stat status;

	if (!pass->request->remember || !pass->host->system->live ||
	    plimp_call_fstat(pass->host, descriptor, &status) != 0)
		return;
	one->thread->proof = (uint8_t)file;
	one->thread->inode = status.st_ino;
	if (one->before == NULL || one->before->proof != file ||
	    one->before->inode != status.st_ino)
		return;
	one->thread->start_ticks = one->before->start_ticks;
	if ((pass->parts & (PLIMP_THREAD_BLOCK_IO | PLIMP_THREAD_TICKS)) == 0)
		one->wanted &= ~(1u << THREADS_STAT);
}

/* The anchor is the first file that opens; what stands behind it in the order
 * is read before it. */
static void threads_read_files(struct threads_one *one)
{
	plim_host *host = one->pass->host;
	int anchor = -1;
	int proof = 0;
	int file;

	for (file = THREADS_SCHEDSTAT; file <= THREADS_STAT; file++) {
		int descriptor;

		if ((one->wanted & (1u << file)) == 0)
			continue;
		descriptor = threads_open(one, file);
		if (descriptor < 0 && plimp_is_starved(one->errors[file]))
			break;
		if (descriptor < 0)
			continue;
		if (anchor < 0) {
			anchor = descriptor;
			proof = file;
			threads_prove(one, file, descriptor);
			continue;
		}
		threads_read(one, file, descriptor);
		plimp_call_close(host, descriptor);
	}
	if (anchor < 0)
		return;
	threads_read(one, proof, anchor);
	plimp_call_close(host, anchor);
	/* It ended: nothing that was read by its number counts. */
	if (plimp_is_gone(one->errors[proof]))
		one->errors[THREADS_STAT] = ESRCH;
}

/* What failed although the thread lives is one of the file. */
static void threads_note(struct threads_one *one)
{
	struct threads_pass *pass = one->pass;

	if (pass->failed_runqueue == 0)
		pass->failed_runqueue = one->errors[THREADS_SCHEDSTAT];
	if (pass->failed_switches == 0)
		pass->failed_switches = one->errors[THREADS_STATUS];
	if ((pass->parts & PLIMP_THREAD_BLOCK_IO) != 0 &&
	    (one->thread->has & PLIMP_THREAD_BLOCK_IO) == 0)
		pass->failed_block_io = EBADMSG;
}

/* Reads one thread: 0, or the error number of the read that failed. `before`:
 * who had the number in the round before, or NULL. */
static int threads_read_one(struct threads_pass *pass, int32_t tid,
			    const struct plimp_thread *before,
			    struct plimp_thread *thread)
{
	struct plimp_thread_details *details = pass->request->details;
	size_t texts = details != NULL ? details->texts.size : 0;
	struct threads_one one = {
	    .pass = pass,
	    .thread = thread,
	    .before = before,
	    .wanted = 1u << THREADS_STAT,
	};
	int error;
	int file;

	*thread = (struct plimp_thread){.tid = tid};
	if ((pass->parts & PLIMP_THREAD_RUNQUEUE) != 0)
		one.wanted |= 1u << THREADS_SCHEDSTAT;
	if ((pass->parts & PLIMP_THREAD_SWITCHES) != 0)
		one.wanted |= 1u << THREADS_STATUS;
	if (details != NULL) {
		thread->detail = (uint32_t)details->count;
		if (plimp_details_add(details, &pass->host->allocator) !=
		    PLIM_OK)
			return ENOMEM;
	}
	threads_read_files(&one);
	error = one.errors[THREADS_STAT];
	for (file = THREADS_SCHEDSTAT; file <= THREADS_STAT; file++)
		if (plimp_is_starved(one.errors[file]))
			error = one.errors[file];
	if (error == 0) {
		threads_note(&one);
	} else if (details != NULL) {
		details->count--;
		details->texts.size = texts;
	}
	return error;
}

static int threads_no_memory(const struct threads_pass *pass)
{
	return plimp_fail(pass->error, PLIM_ENOMEM, 0, "list threads", NULL,
			  NULL);
}

/* Reads and appends one. 1 if it is there, 0 if it ended or failed, which is
 * noted; else the error. */
static int threads_take(struct threads_pass *pass, int32_t tid,
			const struct plimp_thread *before)
{
	struct plimp_thread *slot =
	    plimp_threads_slot(pass->threads, &pass->host->allocator);
	int problem;

	if (slot == NULL)
		return threads_no_memory(pass);
	problem = threads_read_one(pass, tid, before, slot);
	if (problem == ENOMEM)
		return threads_no_memory(pass);
	if (problem != 0) {
		if (!plimp_is_gone(problem) && pass->failed == 0)
			pass->failed = problem;
		return 0;
	}
	if (pass->threads->count - pass->first >= PLIM_THREAD_LIMIT)
		return plimp_fail(pass->error, PLIM_ELIMIT, 0, "list threads",
				  NULL, "more than %d threads",
				  PLIM_THREAD_LIMIT);
	pass->threads->count++;
	return 1;
}

/*
 * Those of the round before, by number: 1 if these are all there are, 0 if
 * not, else the error. How many threads there are the folder tells in its link
 * count (proc_task_getattr() in the kernel's fs/proc/base.c). If so many were
 * known, and each of them was read after that count and is the one that it
 * was, then they were all: no list is needed, and none is missed, as happens
 * to who reads a list while threads end (next_tid() stops where it stood).
 */
static int threads_known_ones(struct threads_pass *pass)
{
	const struct plimp_threads *known = pass->known;
	struct stat status;
	int whole;
	size_t i;

	if (known == NULL)
		return 0;
	whole = plimp_call_fstat(pass->host, pass->task, &status) == 0 &&
		status.st_nlink == known->count + 2;
	for (i = 0; i < known->count; i++) {
		const struct plimp_thread *before = &known->items[i];
		int there = threads_take(pass, before->tid, before);

		if (there < 0)
			return there;
		if (!there || pass->threads->items[pass->threads->count - 1]
				      .start_ticks != before->start_ticks)
			whole = 0;
	}
	pass->asked = pass->threads->count;
	return whole;
}

/* Was it read as one of those of the round before? They ascend. */
static int threads_is_asked(const struct threads_pass *pass, int32_t tid)
{
	size_t low = pass->first;
	size_t high = pass->asked;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pass->threads->items[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < pass->asked && pass->threads->items[low].tid == tid;
}

/* One block of the list of threads. */
static int threads_block(struct threads_pass *pass, size_t size)
{
	plim_bytes records = {pass->host->system->listing, size};
	size_t offset = 0;
	int32_t tid;
	int more;

	while ((more = plimp_decode_dents(records, &offset, &tid)) == 1) {
		int failed = pass->failed;
		int there;

		if (threads_is_asked(pass, tid))
			continue;
		there = threads_take(pass, tid, NULL);
		if (there < 0)
			return there;
		pass->vanished += !there && pass->failed == failed;
	}
	if (more < 0 && pass->failed == 0)
		pass->failed = EBADMSG;
	return PLIM_OK;
}

static int threads_list(struct threads_pass *pass)
{
	plim_host *host = pass->host;
	ssize_t size;

	while ((size = plimp_call_dents(host, pass->task, host->system->listing,
					sizeof host->system->listing)) > 0) {
		int code = threads_block(pass, (size_t)size);

		if (code != PLIM_OK)
			return code;
	}
	if (size < 0 && pass->failed == 0)
		pass->failed = errno;
	plimp_threads_sort(pass->threads->items + pass->first,
			   pass->threads->count - pass->first);
	return PLIM_OK;
}

static void threads_add_up(uint64_t *total, uint64_t more)
{
	*total = more > UINT64_MAX - *total ? UINT64_MAX : *total + more;
}

static plim_count threads_total(uint64_t total, int error)
{
	return error != 0 ? plimp_missing_file(error)
			  : plim_count_bounded(total, PLIM_METHOD_THREAD_SUM,
					       PLIM_BOUND_AT_LEAST);
}

static void threads_sum_up(const struct threads_pass *pass,
			   struct plimp_thread_sum *sum)
{
	const struct plimp_thread *items = pass->threads->items + pass->first;
	struct plimp_thread total = {0};
	size_t i;

	sum->count = pass->threads->count - pass->first;
	for (i = 0; i < sum->count; i++) {
		threads_add_up(&total.voluntary, items[i].voluntary);
		threads_add_up(&total.involuntary, items[i].involuntary);
		threads_add_up(&total.runqueue_ns, items[i].runqueue_ns);
		threads_add_up(&total.block_io_ns, items[i].block_io_ns);
	}
	sum->voluntary = threads_total(total.voluntary, pass->failed_switches);
	sum->involuntary =
	    threads_total(total.involuntary, pass->failed_switches);
	sum->runqueue = threads_total(total.runqueue_ns, pass->failed_runqueue);
	sum->block_io = threads_total(total.block_io_ns, pass->failed_block_io);
	sum->no_switches = pass->failed_switches;
	sum->no_times = pass->failed_runqueue;
	sum->vanished = pass->vanished;
	sum->known = 1;
}

static int threads_fail(struct plimp_thread_sum *sum, int error)
{
	sum->voluntary = plimp_missing_file(error);
	sum->involuntary = sum->voluntary;
	sum->runqueue = sum->voluntary;
	sum->block_io = sum->voluntary;
	sum->no_switches = error;
	sum->no_times = error;
	sum->vanished = 0;
	sum->count = 0;
	sum->known = 0;
	return PLIM_OK;
}

/* What stands beside the counters. */
static int threads_beside(struct threads_pass *pass)
{
	int error;

	if (pass->failed != 0 || pass->request->details == NULL)
		return PLIM_OK;
	error = plimp_read_waits(
	    pass->host, pass->task, pass->parts, pass->young_ticks,
	    pass->threads->items + pass->first,
	    pass->threads->count - pass->first, pass->request->details);
	if (error == ENOMEM)
		return threads_no_memory(pass);
	pass->failed = error;
	return PLIM_OK;
}

/* Those that are known, and those that are listed. */
static int threads_pass_over(struct threads_pass *pass)
{
	int code = threads_known_ones(pass);

	if (code == 0 && pass->failed == 0)
		code = threads_list(pass);
	return code < 0 ? code : threads_beside(pass);
}

static int threads_end(const struct threads_pass *pass, int code,
		       struct plimp_thread_sum *sum)
{
	struct plimp_thread_list *threads = pass->threads;

	if (code != PLIM_OK || pass->failed != 0)
		threads->count = pass->first;
	if (code != PLIM_OK)
		return code;
	if (pass->failed != 0)
		return plimp_is_gone(pass->failed)
			   ? PLIM_ENOPROCESS
			   : threads_fail(sum, pass->failed);
	if (threads->count == pass->first)
		return PLIM_ENOPROCESS;
	threads_sum_up(pass, sum);
	return PLIM_OK;
}

/*
 * A recording need not have the folder of the threads. Of a process with one
 * thread the process's own files are that thread's, by the same paths below
 * the root.
 */
static int threads_recorded(struct threads_pass *pass, int directory,
			    struct plimp_thread_sum *sum)
{
	plim_host *host = pass->host;
	struct plimp_stat stat;
	plim_bytes text;
	int code;

	if (plimp_read_file(host, directory, "stat", &text) != 0 ||
	    plimp_decode_stat(text, &stat) != PLIM_OK || stat.pid < 1 ||
	    stat.threads > 1)
		return threads_fail(sum, ENOENT);
	pass->task = host->system->root;
	code = threads_take(pass, stat.pid, NULL);
	if (code == 1 &&
	    pass->threads->items[pass->first].start_ticks != stat.start_ticks)
		return threads_fail(sum, ENOENT);
	if (code == 1)
		code = threads_beside(pass);
	return threads_end(pass, code < 0 ? code : PLIM_OK, sum);
}

/* There is no list: the process ended, or a recording has none. */
static int threads_none(struct threads_pass *pass, int directory, int error,
			struct plimp_thread_sum *sum)
{
	if (!plimp_is_gone(error))
		return threads_fail(sum, error);
	if (pass->host->system->live ||
	    plimp_probe_directory(pass->host, directory) != 0)
		return PLIM_ENOPROCESS;
	return threads_recorded(pass, directory, sum);
}

int plimp_read_threads(plim_host *host, int directory,
		       const struct plimp_request *request, unsigned parts,
		       struct plimp_thread_list *threads,
		       struct plimp_thread_sum *sum, plim_error *error)
{
	struct threads_pass pass = {
	    .host = host,
	    .task = plimp_call_open(host, directory, "task",
				    O_RDONLY | O_DIRECTORY),
	    .parts = parts,
	    .request = request,
	    .known = host->system->live ? request->known : NULL,
	    .threads = threads,
	    .first = threads->count,
	    .asked = threads->count,
	    .young_ticks =
		plimp_system_ticks(host, plimp_system_now().boottime),
	    .error = error,
	};
	int code;

	if (pass.task < 0)
		return threads_none(&pass, directory, errno, sum);
	code = threads_pass_over(&pass);
	plimp_call_close(host, pass.task);
	return threads_end(&pass, code, sum);
}

unsigned plimp_threads_wanted(plim_host *host,
			      const struct plimp_request *request)
{
	unsigned parts = request->thread_parts;

	if ((parts & PLIMP_THREAD_RUNQUEUE) != 0 &&
	    plimp_runqueue_counted(host).state != PLIM_STATE_KNOWN) {
		parts &= ~(unsigned)PLIMP_THREAD_RUNQUEUE;
		parts |= PLIMP_THREAD_TICKS;
	}
	return parts;
}

void plimp_threads_store(plim_host *host, plim_process *record,
			 const struct plimp_thread_sum *sum)
{
	plim_count counted = plimp_runqueue_counted(host);

	record->threads.count = sum->count;
	record->threads.known = sum->known;
	record->threads.ways = &plimp_linux_thread_ways;
	record->threads.vanished = sum->vanished;
	record->threads.no_switches = plimp_missing_file(sum->no_switches);
	record->threads.no_times = counted.state == PLIM_STATE_KNOWN
				       ? plimp_missing_file(sum->no_times)
				       : counted;
}
