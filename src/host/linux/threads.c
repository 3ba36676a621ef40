/*
 * threads.c - every thread of a process, one by one.
 *
 * The kernel tells the context switches of a live process, and what it waited
 * for, thread by thread only; /proc/PID/status is the main thread's. So each
 * thread's directory is opened (which binds it to that thread, not to its
 * number), its start and the counters that are asked for are read below it,
 * and it is left out when it ends meanwhile. What ended threads had counted is
 * lost: the sum is a lower bound.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* One pass over the threads of a process. */
struct threads_pass {
	plim_host *host;
	int task; /* the folder */
	unsigned parts;
	struct plimp_thread_list *threads;
	size_t first;
	int failed;	     /* the first real failure, of every part */
	int failed_runqueue; /* of schedstat alone */
	int failed_block_io;
	plim_error *error;
};

/* The files of one thread beside stat. A failure that is followed by a look
 * at stat that succeeds is one of the file and not of the thread. */
static int threads_read_switches(struct threads_pass *pass, int directory,
				 struct plimp_thread *thread)
{
	const uint32_t both = PLIMP_STATUS_VOLUNTARY | PLIMP_STATUS_INVOLUNTARY;
	struct plimp_status status;
	plim_bytes text;
	int error = plimp_read_file(pass->host, directory, "status", &text);

	if (error == 0 &&
	    (plimp_decode_status_parts(text, both, &status) != PLIM_OK ||
	     status.has != both))
		error = EBADMSG;
	if (error != 0)
		return error;
	thread->voluntary = status.voluntary;
	thread->involuntary = status.involuntary;
	return 0;
}

static int threads_read_runqueue(struct threads_pass *pass, int directory,
				 struct plimp_thread *thread)
{
	struct plimp_schedstat schedstat;
	plim_bytes text;
	int error = plimp_read_file(pass->host, directory, "schedstat", &text);

	if (error == 0 && plimp_decode_schedstat(text, &schedstat) != PLIM_OK)
		error = EBADMSG;
	if (error == 0)
		thread->runqueue_ns = schedstat.wait_ns;
	return error;
}

static int threads_read_files(struct threads_pass *pass, int directory,
			      struct plimp_thread *thread)
{
	struct plimp_stat stat;
	plim_bytes text;
	int runqueue = 0;
	int error;

	if ((pass->parts & PLIMP_THREAD_RUNQUEUE) != 0)
		runqueue = threads_read_runqueue(pass, directory, thread);
	error = plimp_read_file(pass->host, directory, "stat", &text);
	if (error == 0 && plimp_decode_stat(text, &stat) != PLIM_OK)
		error = EBADMSG;
	if (error == 0 && (pass->parts & PLIMP_THREAD_SWITCHES) != 0)
		error = threads_read_switches(pass, directory, thread);
	if (error != 0)
		return error;
	if (pass->failed_runqueue == 0)
		pass->failed_runqueue = runqueue;
	if ((stat.has & PLIMP_STAT_BLOCK_IO) == 0)
		pass->failed_block_io = EBADMSG;
	else
		thread->block_io_ns =
		    plimp_ticks_to_ns(pass->host, stat.block_io_ticks);
	thread->start_ticks = stat.start_ticks;
	return 0;
}

/* Reads one thread: 0, or the error number of the read that failed. */
static int threads_read_one(struct threads_pass *pass, int32_t tid,
			    struct plimp_thread *thread)
{
	char path[16];
	int directory;
	int error;

	*thread = (struct plimp_thread){.tid = tid};
	snprintf(path, sizeof path, "%d", (int)tid);
	directory =
	    plimp_call_open(pass->host, pass->task, path, O_PATH | O_DIRECTORY);
	if (directory < 0)
		return errno;
	error = threads_read_files(pass, directory, thread);
	plimp_call_close(pass->host, directory);
	return error;
}

/* One block of the list of threads. */
static int threads_block(struct threads_pass *pass, size_t size)
{
	plim_bytes records = {pass->host->system->listing, size};
	struct plimp_thread thread;
	size_t offset = 0;
	int32_t tid;
	int more;

	while ((more = plimp_decode_dents(records, &offset, &tid)) == 1) {
		int problem = threads_read_one(pass, tid, &thread);

		if (problem != 0) {
			if (!plimp_is_gone(problem) && pass->failed == 0)
				pass->failed = problem;
			continue;
		}
		if (pass->threads->count - pass->first >= PLIM_THREAD_LIMIT)
			return plimp_fail(
			    pass->error, PLIM_ELIMIT, 0, "list threads", NULL,
			    "more than %d threads", PLIM_THREAD_LIMIT);
		if (plimp_threads_add(pass->threads, &pass->host->allocator,
				      &thread) != PLIM_OK)
			return plimp_fail(pass->error, PLIM_ENOMEM, 0,
					  "list threads", NULL, NULL);
	}
	if (more < 0 && pass->failed == 0)
		pass->failed = EBADMSG;
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
	sum->voluntary = threads_total(total.voluntary, 0);
	sum->involuntary = threads_total(total.involuntary, 0);
	sum->runqueue = threads_total(total.runqueue_ns, pass->failed_runqueue);
	sum->block_io = threads_total(total.block_io_ns, pass->failed_block_io);
	sum->known = 1;
}

static int threads_fail(struct plimp_thread_sum *sum, int error)
{
	sum->voluntary = plimp_missing_file(error);
	sum->involuntary = sum->voluntary;
	sum->runqueue = sum->voluntary;
	sum->block_io = sum->voluntary;
	sum->count = 0;
	sum->known = 0;
	return PLIM_OK;
}

int plimp_read_threads(plim_host *host, int directory, unsigned parts,
		       struct plimp_thread_list *threads,
		       struct plimp_thread_sum *sum, plim_error *error)
{
	struct threads_pass pass = {
	    .host = host,
	    .task = plimp_call_open(host, directory, "task",
				    O_RDONLY | O_DIRECTORY),
	    .parts = parts,
	    .threads = threads,
	    .first = threads->count,
	    .error = error,
	};
	int code = PLIM_OK;
	ssize_t size;

	if (pass.task < 0)
		return plimp_is_gone(errno) ? PLIM_ENOPROCESS
					    : threads_fail(sum, errno);
	while ((size = plimp_call_dents(host, pass.task, host->system->listing,
					sizeof host->system->listing)) > 0) {
		code = threads_block(&pass, (size_t)size);
		if (code != PLIM_OK)
			break;
	}
	if (size < 0 && pass.failed == 0)
		pass.failed = errno;
	plimp_call_close(host, pass.task);
	if (code != PLIM_OK || pass.failed != 0)
		threads->count = pass.first;
	if (code != PLIM_OK)
		return code;
	if (pass.failed != 0)
		return plimp_is_gone(pass.failed)
			   ? PLIM_ENOPROCESS
			   : threads_fail(sum, pass.failed);
	if (threads->count == pass.first)
		return PLIM_ENOPROCESS;
	plimp_threads_sort(threads->items + pass.first,
			   threads->count - pass.first);
	threads_sum_up(&pass, sum);
	return PLIM_OK;
}
