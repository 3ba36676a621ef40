/*
 * sampler_threads.c - which threads there are, and where they came from.
 *
 * The kernel lists them, and records in the rings tell of births and ends. A
 * thread that the list has and no record told may have been born a moment ago
 * of one that is covered: then it has inherited its events, and its record is
 * on the way. Opening others would count it twice. So who is new in the list
 * is armed when the next list still has it and the rings have been drained
 * between; and if the record comes later still, the events are closed again.
 *
 * That a list leaves a thread out does not prove its end: the kernel goes on
 * by position when the thread at which it stopped has ended, and may skip one.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/inside.h"
#include "host/linux/sampler.h"

#include <plimsoll/thread.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define SAMPLED_INDEX_LEAST  64u
#define SAMPLED_LIST_NS	     UINT64_C(100000000)
#define SAMPLED_LIST_LONG_NS UINT64_C(1000000000)
#define SAMPLED_PASSES	     16

static size_t sampled_slot(const struct plimp_sampler *sampler, int32_t tid)
{
	return (size_t)((uint32_t)tid * UINT32_C(2654435769) >> 7) &
	       (sampler->index_size - 1);
}

struct plimp_sampled *plimp_sampled_find(struct plimp_sampler *sampler,
					 int32_t tid)
{
	size_t mask = sampler->index_size - 1;
	size_t at;

	if (sampler->index_size == 0)
		return NULL;
	for (at = sampled_slot(sampler, tid); sampler->index[at] != NULL;
	     at = (at + 1) & mask)
		if (sampler->index[at]->tid == tid)
			return sampler->index[at];
	return NULL;
}

static void sampled_insert(struct plimp_sampler *sampler,
			   struct plimp_sampled *thread)
{
	size_t mask = sampler->index_size - 1;
	size_t at = sampled_slot(sampler, thread->tid);

	while (sampler->index[at] != NULL)
		at = (at + 1) & mask;
	sampler->index[at] = thread;
}

/* Takes it out; those behind it that it had pushed on move up. */
static void sampled_remove(struct plimp_sampler *sampler,
			   const struct plimp_sampled *thread)
{
	size_t mask = sampler->index_size - 1;
	size_t hole = sampled_slot(sampler, thread->tid);
	size_t at;

	while (sampler->index[hole] != thread)
		hole = (hole + 1) & mask;
	for (at = (hole + 1) & mask; sampler->index[at] != NULL;
	     at = (at + 1) & mask) {
		size_t home = sampled_slot(sampler, sampler->index[at]->tid);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		sampler->index[hole] = sampler->index[at];
		hole = at;
	}
	sampler->index[hole] = NULL;
}

/* Room for one more, at most half full. */
static int sampled_grow(struct plimp_sampler *sampler)
{
	const plim_allocator *allocator = &sampler->host->allocator;
	size_t old_size = sampler->index_size;
	size_t size = old_size == 0 ? SAMPLED_INDEX_LEAST : old_size * 2;
	struct plimp_sampled **old = sampler->index;
	struct plimp_sampled **made;
	void *threads = sampler->threads;
	size_t i;

	if (plimp_reserve(allocator, &threads, &sampler->thread_capacity,
			  sampler->thread_count + 1, 64,
			  sizeof *sampler->threads) != PLIM_OK)
		return 0;
	sampler->threads = threads;
	if (sampler->thread_count + 1 <= old_size / 2)
		return 1;
	made = plimp_allocate(allocator, size, sizeof *made);
	if (made == NULL)
		return 0;
	sampler->index = made;
	sampler->index_size = size;
	for (i = 0; i < sampler->thread_count; i++)
		sampled_insert(sampler, sampler->threads[i]);
	plimp_release(allocator, old, old_size, sizeof *old);
	return 1;
}

struct plimp_sampled *plimp_sampled_add(struct plimp_sampler *sampler,
					int32_t pid, int32_t tid)
{
	struct plimp_sampled *made;

	assert(plimp_sampled_find(sampler, tid) == NULL);
	if (!sampled_grow(sampler))
		return NULL;
	made = plimp_allocate(&sampler->host->allocator, 1, sizeof *made);
	if (made == NULL)
		return NULL;
	made->tid = tid;
	made->pid = pid;
	made->schedstat = -1;
	made->call_file = -1;
	made->signaller = -1;
	made->timer = -1;
	made->status = -1;
	made->place = sampler->thread_count;
	sampler->threads[sampler->thread_count++] = made;
	sampled_insert(sampler, made);
	return made;
}

static void sampled_forget(struct plimp_sampler *sampler,
			   struct plimp_sampled *thread)
{
	const plim_allocator *allocator = &sampler->host->allocator;

	sampler->file_count -= (size_t)(thread->schedstat >= 0);
	sampler->file_count -= (size_t)(thread->call_file >= 0);
	sampler->file_count -= (size_t)(thread->status >= 0);
	plimp_call_close(sampler->host, thread->schedstat);
	plimp_call_close(sampler->host, thread->call_file);
	plimp_call_close(sampler->host, thread->status);
	plimp_events_disarm(sampler, thread);
	plimp_release(allocator, thread->counts, sampler->cpu_count,
		      sizeof *thread->counts);
	plimp_release(allocator, thread, 1, sizeof *thread);
}

/* Nothing is told before the start, and without somebody to tell it to. */
static int sampled_is_silent(const struct plimp_sampler *sampler)
{
	return sampler->callback == NULL || sampler->start_ns == 0;
}

void plimp_sampled_tell(struct plimp_sampler *sampler,
			struct plimp_sampled *thread, uint64_t time_ns)
{
	struct plimp_capture capture = {
	    .kind = PLIMP_CAPTURE_BORN,
	    .pid = thread->pid,
	    .tid = thread->tid,
	    .parent = thread->parent,
	    .start_ticks = thread->start_ticks,
	    .time_ns = time_ns,
	    .name = {thread->name, thread->name_size},
	};

	if ((thread->flags & PLIMP_SAMPLED_TOLD) != 0 ||
	    sampled_is_silent(sampler))
		return;
	thread->flags |= PLIMP_SAMPLED_TOLD;
	sampler->callback(sampler->user, &capture);
}

void plimp_sampled_end(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread, uint64_t time_ns)
{
	plimp_inside_take(sampler, thread);

	struct plimp_capture capture = {
	    .kind = PLIMP_CAPTURE_ENDED,
	    .pid = thread->pid,
	    .tid = thread->tid,
	    .start_ticks = thread->start_ticks,
	    .time_ns = time_ns,
	    .cpu_ns = thread->last.run_ns,
	    .wait_ns = thread->last.wait_ns,
	    .slices = thread->last.switches_in,
	    .has_accounts = (thread->flags & PLIMP_SAMPLED_ACCOUNTS) != 0,
	    .count = thread->counted_ns - thread->ignored_ns,
	    .has_gaps =
		!sampler->is_armed || (thread->flags & PLIMP_SAMPLED_GAPS) != 0,
	};

	plimp_sampled_tell(sampler, thread, time_ns);
	if (!sampled_is_silent(sampler))
		sampler->callback(sampler->user, &capture);
	sampled_remove(sampler, thread);
	sampler->threads[thread->place] =
	    sampler->threads[--sampler->thread_count];
	sampler->threads[thread->place]->place = thread->place;
	sampled_forget(sampler, thread);
}

void plimp_sampled_release(struct plimp_sampler *sampler)
{
	const plim_allocator *allocator = &sampler->host->allocator;
	size_t i;

	for (i = 0; i < sampler->thread_count; i++)
		sampled_forget(sampler, sampler->threads[i]);
	plimp_release(allocator, sampler->threads, sampler->thread_capacity,
		      sizeof *sampler->threads);
	plimp_release(allocator, sampler->index, sampler->index_size,
		      sizeof *sampler->index);
	sampler->threads = NULL;
	sampler->index = NULL;
	sampler->thread_count = 0;
	sampler->index_size = 0;
}

struct plimp_sampled_process *
plimp_sampled_process_of(struct plimp_sampler *sampler, int32_t pid)
{
	size_t i;

	for (i = 0; i < sampler->process_count; i++)
		if (sampler->processes[i].pid == pid)
			return &sampler->processes[i];
	return NULL;
}

int plimp_sampled_read(struct plimp_sampler *sampler,
		       const struct plimp_sampled_process *process,
		       const struct plimp_sampled *thread, int *held,
		       const char *name, plim_bytes *text)
{
	char path[PLIMP_THREAD_PATH];

	if (*held >= 0)
		return plimp_read_held(sampler->host, *held, text);
	plimp_thread_path(path, thread->tid, name);
	if (sampler->file_count >= sampler->file_limit)
		return plimp_read_file(sampler->host, process->task, path,
				       text);
	*held = plimp_call_open(sampler->host, process->task, path,
				O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	if (*held < 0)
		return errno;
	sampler->file_count++;
	return plimp_read_held(sampler->host, *held, text);
}

void plimp_sampled_know(struct plimp_sampler *sampler,
			const struct plimp_sampled_process *process,
			struct plimp_sampled *thread)
{
	char path[PLIMP_THREAD_PATH];
	struct plimp_stat stat;
	plim_bytes text;

	plimp_thread_path(path, thread->tid, "stat");
	if (plimp_read_file(sampler->host, process->task, path, &text) != 0 ||
	    plimp_decode_stat(text, &stat) != PLIM_OK)
		return;
	thread->start_ticks = stat.start_ticks;
	thread->name_size = (uint8_t)(stat.name.size < sizeof thread->name
					  ? stat.name.size
					  : sizeof thread->name);
	memcpy(thread->name, stat.name.data, thread->name_size);
}

static int sampled_is_wanted(const struct plimp_sampler *sampler, int32_t tid)
{
	size_t low = 0;
	size_t high = sampler->options.tid_count;

	if (tid == sampler->options.left_out)
		return 0;
	if (high == 0)
		return 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sampler->tids[middle] == tid)
			return 1;
		if (sampler->tids[middle] < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* The list has this thread: 1 if it is new, 0, or PLIM_ENOMEM. */
static int sampled_listed(struct plimp_sampler *sampler,
			  const struct plimp_sampled_process *process,
			  int32_t tid)
{
	struct plimp_sampled *thread = plimp_sampled_find(sampler, tid);

	if (!sampled_is_wanted(sampler, tid))
		return 0;
	if (thread != NULL && thread->pid != process->pid) {
		/* Its number went on to another process unseen. */
		plimp_sampled_end(sampler, thread, plimp_system_monotonic());
		thread = NULL;
	}
	if (thread == NULL) {
		thread = plimp_sampled_add(sampler, process->pid, tid);
		if (thread == NULL)
			return PLIM_ENOMEM;
		thread->flags = PLIMP_SAMPLED_NEW | PLIMP_SAMPLED_LISTED;
		/* Nobody inherits what signals: there is nothing to wait for.
		 */
		if (sampler->inside == NULL && sampler->options.preload == NULL)
			return 1;
	}
	if (thread->start_ticks == 0)
		plimp_sampled_know(sampler, process, thread);
	thread->flags |= PLIMP_SAMPLED_LISTED;
	if ((thread->flags & PLIMP_SAMPLED_NEW) != 0) {
		thread->flags &= ~(uint32_t)PLIMP_SAMPLED_NEW;
		plimp_events_arm(sampler, thread);
		return sampler->problem == PLIM_OK ? 1 : PLIM_ENOMEM;
	}
	return 0;
}

static int sampled_fail(int code, plim_error *error)
{
	return plimp_fail(error, code, 0, "profile", NULL, NULL);
}

/* One reading of the list: whether it had anybody new, or an error. */
static int sampled_list(struct plimp_sampler *sampler,
			struct plimp_sampled_process *process,
			plim_error *error)
{
	plim_host *host = sampler->host;
	char *listing = host->system->listing;
	int fresh = 0;
	size_t seen = 0;
	ssize_t size;

	if (plimp_call_seek(host, process->task, 0, SEEK_SET) < 0)
		return plimp_lens_fail(process->lens, errno, "task", error);
	while ((size = plimp_call_dents(host, process->task, listing,
					sizeof host->system->listing)) > 0) {
		plim_bytes records = {listing, (size_t)size};
		size_t offset = 0;
		int32_t tid;

		while (plimp_decode_dents(records, &offset, &tid) == 1) {
			int code = sampled_listed(sampler, process, tid);

			if (code < 0)
				return sampled_fail(code, error);
			if (++seen > PLIM_THREAD_LIMIT)
				return sampled_fail(PLIM_ELIMIT, error);
			fresh |= code;
		}
	}
	if (size < 0 && !plimp_is_gone(errno))
		return plimp_lens_fail(process->lens, errno, "task", error);
	return fresh;
}

int plimp_sampled_gone(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread, uint64_t time_ns)
{
	const uint32_t both = PLIMP_SAMPLED_COVERED | PLIMP_SAMPLED_GONE;

	if ((thread->flags & both) == PLIMP_SAMPLED_COVERED) {
		thread->flags |= PLIMP_SAMPLED_GONE;
		return 0;
	}
	plimp_sampled_end(sampler, thread, time_ns);
	return 1;
}

/* Who was not listed is asked; who does not answer has ended. */
static void sampled_sweep(struct plimp_sampler *sampler,
			  const struct plimp_sampled_process *process)
{
	uint64_t now = plimp_system_monotonic();
	size_t i = 0;

	while (i < sampler->thread_count) {
		struct plimp_sampled *thread = sampler->threads[i];
		int listed = (thread->flags & PLIMP_SAMPLED_LISTED) != 0;
		char path[PLIMP_THREAD_PATH];
		struct stat status;

		thread->flags &= ~(uint32_t)PLIMP_SAMPLED_LISTED;
		plimp_thread_path(path, thread->tid, "stat");
		if (thread->pid != process->pid || listed ||
		    plimp_call_stat(sampler->host, process->task, path, &status,
				    0) == 0 ||
		    !plimp_is_gone(errno) ||
		    !plimp_sampled_gone(sampler, thread, now))
			i++;
	}
}

int plimp_sampled_cover(struct plimp_sampler *sampler,
			struct plimp_sampled_process *process,
			plim_error *error)
{
	int fresh = 1;
	int pass;
	int code;

	/* Whoever goes on being born faster than this is told by records. */
	for (pass = 0; pass < SAMPLED_PASSES && fresh > 0; pass++) {
		code = plimp_events_drain(sampler);
		if (code != PLIM_OK)
			return sampled_fail(code, error);
		fresh = sampled_list(sampler, process, error);
		/* Later on, the next look arms who is new now. */
		if (sampler->start_ns != 0)
			break;
	}
	if (fresh < 0)
		return fresh;
	process->is_pending = fresh > 0;
	process->listed_ns = plimp_system_monotonic();
	sampled_sweep(sampler, process);
	return PLIM_OK;
}

/* Without records of births only the number of threads tells of one, or, of
 * as many ends as births, time. */
static int sampled_is_due(struct plimp_sampler *sampler,
			  struct plimp_sampled_process *process, uint64_t now)
{
	struct stat status;
	int changed;

	/* Whoever is born or ends has run. */
	uint64_t most =
	    sampler->is_still ? SAMPLED_LIST_LONG_NS : SAMPLED_LIST_NS;

	if (process->is_pending || now - process->listed_ns >= most)
		return 1;
	if (sampler->is_armed && sampler->inside == NULL)
		return 0;
	if (plimp_call_fstat(sampler->host, process->task, &status) != 0)
		return 0;
	changed = process->links != (uint64_t)status.st_nlink;
	process->links = (uint64_t)status.st_nlink;
	return changed;
}

int plimp_sampled_look(struct plimp_sampler *sampler, plim_error *error)
{
	uint64_t now = plimp_system_monotonic();
	size_t i;

	for (i = 0; i < sampler->process_count; i++) {
		struct plimp_sampled_process *process = &sampler->processes[i];
		int code;

		if (process->lens == NULL ||
		    !sampled_is_due(sampler, process, now))
			continue;
		code = plimp_sampled_cover(sampler, process, error);
		if (code == PLIM_ENOPROCESS || code == PLIM_EIMAGE ||
		    code == PLIM_EREPLACED)
			continue;
		if (code != PLIM_OK)
			return code;
	}
	plimp_events_spread(sampler);
	return sampler->problem == PLIM_OK
		   ? PLIM_OK
		   : sampled_fail(sampler->problem, error);
}
