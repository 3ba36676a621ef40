/*
 * threads.c - every thread of a process, one by one.
 *
 * The kernel tells the context switches of a live process thread by thread
 * only; /proc/PID/status is the main thread's. So each thread's directory is
 * opened (which binds it to that thread, not to its number), its start and
 * its two counters are read below it, and it is left out when it ends
 * meanwhile. What ended threads had counted is lost: the sum is a lower bound.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* Reads one thread: 0, or the error number of the read that failed. */
static int threads_read_one(plim_host *host, int task, int32_t tid,
			    struct plimp_thread *thread)
{
	struct plimp_stat stat;
	struct plimp_status status;
	plim_bytes text;
	char path[16];
	int directory;
	int error;

	snprintf(path, sizeof path, "%d", (int)tid);
	directory = plimp_call_open(host, task, path, O_PATH | O_DIRECTORY);
	if (directory < 0)
		return errno;
	error = plimp_read_file(host, directory, "stat", &text);
	if (error == 0 && plimp_decode_stat(text, &stat) != PLIM_OK)
		error = EBADMSG;
	if (error == 0)
		error = plimp_read_file(host, directory, "status", &text);
	if (error == 0 && (plimp_decode_status(text, &status) != PLIM_OK ||
			   (status.has & PLIMP_STATUS_VOLUNTARY) == 0 ||
			   (status.has & PLIMP_STATUS_INVOLUNTARY) == 0))
		error = EBADMSG;
	plimp_call_close(host, directory);
	if (error != 0)
		return error;
	thread->tid = tid;
	thread->start_ticks = stat.start_ticks;
	thread->voluntary = status.voluntary;
	thread->involuntary = status.involuntary;
	return 0;
}

/* One block of the list of threads; `*failed` is the first real failure. */
static int threads_block(plim_host *host, int task, size_t size,
			 struct plimp_thread_list *threads, size_t first,
			 int *failed, plim_error *error)
{
	plim_bytes records = {host->system->listing, size};
	struct plimp_thread thread;
	size_t offset = 0;
	int32_t tid;
	int more;

	while ((more = plimp_decode_dents(records, &offset, &tid)) == 1) {
		int problem = threads_read_one(host, task, tid, &thread);

		if (problem != 0) {
			if (!plimp_is_gone(problem) && *failed == 0)
				*failed = problem;
			continue;
		}
		if (threads->count - first >= PLIM_THREAD_LIMIT)
			return plimp_fail(error, PLIM_ELIMIT, 0, "list threads",
					  NULL, "more than %d threads",
					  PLIM_THREAD_LIMIT);
		if (plimp_threads_add(threads, &host->allocator, &thread) !=
		    PLIM_OK)
			return plimp_fail(error, PLIM_ENOMEM, 0, "list threads",
					  NULL, NULL);
	}
	if (more < 0 && *failed == 0)
		*failed = EBADMSG;
	return PLIM_OK;
}

static void threads_sum_up(const struct plimp_thread *items, size_t count,
			   struct plimp_thread_sum *sum)
{
	uint64_t voluntary = 0;
	uint64_t involuntary = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		voluntary += items[i].voluntary;
		involuntary += items[i].involuntary;
	}
	sum->voluntary = plim_count_bounded(voluntary, PLIM_METHOD_THREAD_SUM,
					    PLIM_BOUND_AT_LEAST);
	sum->involuntary = plim_count_bounded(
	    involuntary, PLIM_METHOD_THREAD_SUM, PLIM_BOUND_AT_LEAST);
	sum->count = count;
	sum->known = 1;
}

static int threads_fail(struct plimp_thread_sum *sum, int error)
{
	sum->voluntary = plimp_missing_file(error);
	sum->involuntary = sum->voluntary;
	sum->count = 0;
	sum->known = 0;
	return PLIM_OK;
}

int plimp_read_threads(plim_host *host, int directory,
		       struct plimp_thread_list *threads,
		       struct plimp_thread_sum *sum, plim_error *error)
{
	size_t first = threads->count;
	int task =
	    plimp_call_open(host, directory, "task", O_RDONLY | O_DIRECTORY);
	int code = PLIM_OK;
	int failed = 0;
	ssize_t size;

	if (task < 0)
		return plimp_is_gone(errno) ? PLIM_ENOPROCESS
					    : threads_fail(sum, errno);
	while ((size = plimp_call_dents(host, task, host->system->listing,
					sizeof host->system->listing)) > 0) {
		code = threads_block(host, task, (size_t)size, threads, first,
				     &failed, error);
		if (code != PLIM_OK)
			break;
	}
	if (size < 0 && failed == 0)
		failed = errno;
	plimp_call_close(host, task);
	if (code != PLIM_OK || failed != 0)
		threads->count = first;
	if (code != PLIM_OK)
		return code;
	if (failed != 0)
		return plimp_is_gone(failed) ? PLIM_ENOPROCESS
					     : threads_fail(sum, failed);
	if (threads->count == first)
		return PLIM_ENOPROCESS;
	plimp_threads_sort(threads->items + first, threads->count - first);
	threads_sum_up(threads->items + first, threads->count - first, sum);
	return PLIM_OK;
}
