/*
 * sampler_preload.c - samples that a preloaded object has put into shared
 * memory (preload_shared.h): sized and mapped when the sampler opens, read on
 * each drain, and a last time when the target has ended.
 *
 * What is there is copied before it is judged, and belongs to a thread of the
 * target or to nobody; with FOLLOW also to a process that the target says is a
 * child of it. An entry is free again when it has been handed out. One that was
 * claimed and never given, by a thread that was killed in its handler, stays
 * lost; there is one for each such thread at most.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/preload.h"

#include <plimsoll/thread.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* What all CPUs sample in so long has room, within bounds. */
#define PRELOADS_HELD_NS UINT64_C(1000000000)
#define PRELOADS_LEAST	 64u
#define PRELOADS_MOST	 2048u
/* A timer of CPU time expires on a tick: no shorter period makes more. */
#define PRELOADS_TICK_NS UINT64_C(1000000)
/* So often it is asked whether another program is executed. */
#define PRELOADS_ASK_NS UINT64_C(20000000)

static struct plimp_preload_entry *
preloads_entry(const struct plimp_preload_memory *memory, uint64_t place)
{
	return (void *)((unsigned char *)memory->head + PLIMP_PRELOAD_FIRST +
			(size_t)place * PLIMP_PRELOAD_STRIDE);
}

static uint32_t preloads_count(const struct plimp_sampler *sampler)
{
	uint64_t period = sampler->options.period_ns > PRELOADS_TICK_NS
			      ? sampler->options.period_ns
			      : PRELOADS_TICK_NS;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t count =
	    PRELOADS_HELD_NS / period * (uint64_t)(cpus > 0 ? cpus : 1);

	if (count < PRELOADS_LEAST)
		return PRELOADS_LEAST;
	return count < PRELOADS_MOST ? (uint32_t)count : PRELOADS_MOST;
}

/* 0, or the error. */
static int preloads_map(struct plimp_preload_memory *memory, uint32_t count)
{
	const plim_allocator *allocator = &memory->host->allocator;
	const size_t size =
	    PLIMP_PRELOAD_FIRST + (size_t)count * PLIMP_PRELOAD_STRIDE;
	struct stat status;
	void *map;

	memory->host->bill.system_calls += 3;
	if (plimp_call_fstat(memory->host, memory->descriptor, &status) != 0 ||
	    ftruncate(memory->descriptor, (off_t)size) != 0 ||
	    fcntl(memory->descriptor, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		return errno;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   memory->descriptor, 0);
	if (map == MAP_FAILED)
		return errno;
	memory->head = map;
	memory->size = size;
	memory->count = count;
	memory->inode = (uint64_t)status.st_ino;
	memory->device = (uint64_t)major(status.st_dev) << 32 |
			 (uint64_t)minor(status.st_dev);
	memory->order =
	    plimp_allocate(allocator, count, 2 * sizeof *memory->order);
	memory->entry = plimp_allocate(allocator, PLIMP_PRELOAD_STRIDE, 1);
	return memory->order != NULL && memory->entry != NULL ? 0 : ENOMEM;
}

int plimp_preloads_begin(struct plimp_sampler *sampler, plim_error *error)
{
	struct plimp_preload_memory *memory = sampler->options.preload;
	struct plimp_preload_head *head;
	struct stat status;
	int problem = memory->head != NULL
			  ? EBUSY
			  : preloads_map(memory, preloads_count(sampler));

	if (problem != 0)
		return plimp_fail(
		    error, problem == ENOMEM ? PLIM_ENOMEM : PLIM_ESYSTEM,
		    problem, "preload", NULL, NULL);
	head = memory->head;
	if (sampler->stack_bytes > PLIMP_PRELOAD_STACK_MOST - PLIMP_RED_ZONE)
		sampler->stack_bytes =
		    PLIMP_PRELOAD_STACK_MOST - PLIMP_RED_ZONE;
	head->entry_count = memory->count;
	if ((sampler->options.flags & PLIMP_SAMPLER_FOLLOW) != 0)
		head->flags = PLIMP_PRELOAD_FOLLOW;
	atomic_store(&head->period_ns, sampler->options.period_ns);
	atomic_store(&head->stack_bytes, sampler->stack_bytes);
	atomic_store(&head->alive_ns, plimp_system_monotonic());
	if (plimp_call_stat(sampler->host, AT_FDCWD, PLIMP_PRELOAD_PIDS,
			    &status, 0) == 0)
		head->pid_space = (uint64_t)status.st_ino;
	head->magic = PLIMP_PRELOAD_MAGIC;
	sampler->tiers.preload = plimp_known(1, PLIM_METHOD_CPU_TIMERS);
	return PLIM_OK;
}

/* Time before it is ours is none of the samples'. */
void plimp_preloads_start(struct plimp_sampler *sampler)
{
	size_t i;

	for (i = 0; i < sampler->thread_count; i++) {
		struct plimp_sampled *thread = sampler->threads[i];
		struct plimp_sampled_process *process =
		    plimp_sampled_process_of(sampler, thread->pid);
		struct plimp_schedstat now;

		if (process != NULL && process->lens != NULL &&
		    plimp_sampled_account(sampler, process, thread, &now) == 0)
			thread->base_ns = now.run_ns;
	}
}

void plimp_preloads_halt(struct plimp_sampler *sampler)
{
	if (sampler->options.preload != NULL)
		atomic_store(&sampler->options.preload->head->is_over, 1);
}

void plimp_preloads_period(struct plimp_sampler *sampler)
{
	atomic_store(&sampler->options.preload->head->period_ns,
		     sampler->options.period_ns);
}

/* All threads alike. */
int plimp_preloads_deepen(struct plimp_sampler *sampler, uint32_t bytes)
{
	struct plimp_preload_head *head = sampler->options.preload->head;
	const uint32_t most = PLIMP_PRELOAD_STACK_MOST - PLIMP_RED_ZONE;

	if (bytes > most)
		return -1;
	if (bytes > sampler->stack_bytes) {
		sampler->stack_bytes = bytes;
		atomic_store(&head->stack_bytes, bytes);
	}
	return 0;
}

/* Until the object can have told of itself it is taken to be there. */
uint8_t plimp_preloads_tiers(const struct plimp_sampler *sampler,
			     struct plimp_tiers *tiers)
{
	uint64_t left_out =
	    atomic_load(&sampler->options.preload->head->uncovered);

	tiers->threads_left_out =
	    left_out < PLIM_THREAD_LIMIT ? (uint32_t)left_out : 0;
	tiers->signal_taken = sampler->preload_taken;
	tiers->is_left = sampler->preload_left;
	if (sampler->preloaded || !sampler->halted)
		return PLIMP_TIER_PRELOAD;
	tiers->preload = plim_count_missing(PLIM_REASON_READ_FAILED, 0);
	tiers->preload_remedy = "";
	return PLIMP_TIER_NONE;
}

uint64_t plimp_preloads_bytes(const struct plimp_sampler *sampler)
{
	return sampler->options.preload->size;
}

/* --- what there is, by time ----------------------------------------------- */

/* Pairs of a time and a place, as a heap whose root is the latest. */
static void preloads_sift(uint64_t *pairs, size_t root, size_t count)
{
	size_t child;

	while ((child = 2 * root + 1) < count) {
		uint64_t time, place;

		if (child + 1 < count &&
		    pairs[2 * child + 2] > pairs[2 * child])
			child++;
		if (pairs[2 * child] <= pairs[2 * root])
			return;
		time = pairs[2 * root];
		place = pairs[2 * root + 1];
		pairs[2 * root] = pairs[2 * child];
		pairs[2 * root + 1] = pairs[2 * child + 1];
		pairs[2 * child] = time;
		pairs[2 * child + 1] = place;
		root = child;
	}
}

static void preloads_sort(uint64_t *pairs, size_t count)
{
	size_t i;

	for (i = count / 2; i-- > 0;)
		preloads_sift(pairs, i, count);
	for (i = count; i-- > 1;) {
		uint64_t time = pairs[0];
		uint64_t place = pairs[1];

		pairs[0] = pairs[2 * i];
		pairs[1] = pairs[2 * i + 1];
		pairs[2 * i] = time;
		pairs[2 * i + 1] = place;
		preloads_sift(pairs, 0, i);
	}
}

static size_t preloads_given(struct plimp_preload_memory *memory)
{
	size_t found = 0;
	uint32_t i;

	for (i = 0; i < memory->count; i++) {
		struct plimp_preload_entry *entry = preloads_entry(memory, i);

		if (atomic_load(&entry->state) != PLIMP_PRELOAD_GIVEN)
			continue;
		memory->order[2 * found] = entry->time_ns;
		memory->order[2 * found + 1] = i;
		found++;
	}
	preloads_sort(memory->order, found);
	return found;
}

/* --- one of them ---------------------------------------------------------- */

static int preloads_is_silent(const struct plimp_sampler *sampler)
{
	return sampler->callback == NULL || sampler->start_ns == 0;
}

/* Of the target, or of a child of it that is followed: made known if it is not
 * yet. What is born in between the list has not told yet. */
static struct plimp_sampled *
preloads_thread(struct plimp_sampler *sampler,
		const struct plimp_preload_told *told)
{
	struct plimp_sampled *thread = plimp_sampled_find(sampler, told->tid);
	struct plimp_sampled_process *process;
	int is_followed = (sampler->options.flags & PLIMP_SAMPLER_FOLLOW) != 0;

	if (thread != NULL)
		return thread->pid == told->pid ? thread : NULL;
	if (told->pid != sampler->pid && !is_followed)
		return NULL;
	thread = plimp_sampled_add(sampler, told->pid, told->tid);
	if (thread == NULL) {
		sampler->problem = PLIM_ENOMEM;
		return NULL;
	}
	thread->armed_ns = told->time_ns;
	process = plimp_sampled_process_of(sampler, told->pid);
	if (process != NULL && process->lens != NULL)
		plimp_sampled_know(sampler, process, thread);
	return thread;
}

static void preloads_tell(struct plimp_sampler *sampler, int kind,
			  const struct plimp_sampled *thread,
			  const struct plimp_preload_told *told)
{
	struct plimp_capture capture = {
	    .kind = kind,
	    .pid = told->pid,
	    .tid = told->tid,
	    .parent = kind == PLIMP_CAPTURE_FORK ? told->parent : 0,
	    .start_ticks = thread->start_ticks,
	    .time_ns = told->time_ns,
	    .name = {thread->name, thread->name_size},
	};

	if (!preloads_is_silent(sampler))
		sampler->callback(sampler->user, &capture);
}

/* All others of the process have ended, and its lens shows what is no more. */
static void preloads_executed(struct plimp_sampler *sampler,
			      struct plimp_sampled *thread,
			      const struct plimp_preload_told *told)
{
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, told->pid);
	size_t i = 0;

	while (i < sampler->thread_count) {
		struct plimp_sampled *other = sampler->threads[i];

		if (other->pid == told->pid && other != thread)
			plimp_sampled_end(sampler, other, told->time_ns);
		else
			i++;
	}
	thread->flags &= ~(uint32_t)PLIMP_SAMPLED_PROVEN;
	plimp_sampled_tell(sampler, thread, told->time_ns);
	preloads_tell(sampler, PLIMP_CAPTURE_EXEC, thread, told);
	if (process != NULL && !preloads_is_silent(sampler))
		process->lens = NULL;
}

/* A child that shared its parent's memory until now (vfork) did not tell of
 * itself, but may have been found, when it still showed its parent's code. That
 * of the target is the session's to follow. */
static int preloads_was_found(const struct plimp_sampler *sampler,
			      const struct plimp_sampled_process *process)
{
	return process != NULL && process->lens != NULL &&
	       process->pid != sampler->pid &&
	       plimp_system_lens_check(process->lens, NULL) == PLIM_EIMAGE;
}

/* A program is about to begin, and gave its thread its name: the first of a
 * process, or another one. */
static void preloads_loaded(struct plimp_sampler *sampler,
			    const struct plimp_preload_told *told)
{
	struct plimp_sampled *thread = preloads_thread(sampler, told);
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, told->pid);
	int had;

	if (thread == NULL)
		return;
	had = (thread->flags & PLIMP_SAMPLED_LOADED) != 0 ||
	      preloads_was_found(sampler, process);
	thread->flags |= PLIMP_SAMPLED_LOADED;
	thread->parent = told->parent;
	if (process != NULL && process->lens != NULL)
		plimp_sampled_know(sampler, process, thread);
	if (had)
		preloads_executed(sampler, thread, told);
	else if ((thread->flags & PLIMP_SAMPLED_TOLD) != 0)
		preloads_tell(sampler, PLIMP_CAPTURE_NAMED, thread, told);
	else
		plimp_sampled_tell(sampler, thread, told->time_ns);
}

/* It runs its parent's program until it is told of another one. */
static void preloads_forked(struct plimp_sampler *sampler,
			    const struct plimp_preload_told *told)
{
	struct plimp_sampled *thread = preloads_thread(sampler, told);

	if (thread == NULL || told->pid == sampler->pid)
		return;
	thread->flags |= PLIMP_SAMPLED_LOADED;
	thread->parent = told->parent;
	if ((thread->flags & PLIMP_SAMPLED_TOLD) == 0)
		preloads_tell(sampler, PLIMP_CAPTURE_FORK, thread, told);
	plimp_sampled_tell(sampler, thread, told->time_ns);
}

static void preloads_sample(struct plimp_sampler *sampler,
			    const struct plimp_preload_told *told)
{
	struct plimp_preload_memory *memory = sampler->options.preload;
	int is_x86 = sampler->layout.machine == PLIMP_MACHINE_X86;
	struct plimp_sampled *thread;
	struct plimp_sampled_process *process;
	struct plimp_capture capture;

	if (preloads_is_silent(sampler) || told->time_ns < sampler->start_ns)
		return;
	thread = preloads_thread(sampler, told);
	if (thread == NULL)
		return;
	plimp_sampled_tell(sampler, thread, told->time_ns);
	thread->flags |= PLIMP_SAMPLED_COVERED;
	memset(&capture, 0, sizeof capture);
	capture.kind = PLIMP_CAPTURE_RUNNING;
	capture.pid = told->pid;
	capture.tid = told->tid;
	capture.start_ticks = thread->start_ticks;
	capture.time_ns = told->time_ns;
	if (told->cpu_ns > thread->base_ns)
		capture.cpu_ns = told->cpu_ns - thread->base_ns;
	capture.has_cpu = 1;
	thread->counted_ns = capture.cpu_ns;
	capture.state = PLIMP_THREAD_RUNNING;
	capture.registers = told->registers;
	capture.stack.bytes = memory->entry + PLIMP_PRELOAD_STACK;
	capture.stack.size = told->stack_size;
	capture.stack.low =
	    (told->registers.value[is_x86 ? PLIMP_X86_RSP : PLIMP_ARM_SP] &
	     ~UINT64_C(7)) -
	    PLIMP_RED_ZONE;
	capture.stack.is_cut =
	    told->stack_size >= sampler->stack_bytes + PLIMP_RED_ZONE;
	process = plimp_sampled_process_of(sampler, told->pid);
	if (process != NULL && process->lens != NULL)
		plimp_copy_code(&sampler->copy, process, &capture.stack);
	sampler->bill.samples++;
	sampler->bill.signals_sent++;
	sampler->bill.bytes_copied += told->stack_size;
	sampler->bill.stops++;
	sampler->bill.stop_sum_ns += told->spent_ns;
	if (told->spent_ns > sampler->bill.stop_longest_ns)
		sampler->bill.stop_longest_ns = told->spent_ns;
	sampler->callback(sampler->user, &capture);
}

/* A copy of it is judged, so that it stays what it was judged to be. */
static void preloads_take(struct plimp_sampler *sampler, uint64_t place,
			  uint64_t now)
{
	struct plimp_preload_memory *memory = sampler->options.preload;
	struct plimp_preload_entry *entry = preloads_entry(memory, place);
	struct plimp_preload_told told;

	memcpy(memory->entry, entry, sizeof *entry);
	if (plimp_decode_preload(
		sampler->layout.machine,
		(plim_bytes){(const char *)memory->entry, sizeof *entry},
		&told) != PLIM_OK ||
	    told.time_ns > now || told.spent_ns > now || told.cpu_ns > now) {
		sampler->bill.malformed++;
		return;
	}
	if (told.stack_size > 0)
		memcpy(memory->entry + PLIMP_PRELOAD_STACK,
		       (const unsigned char *)entry + PLIMP_PRELOAD_STACK,
		       told.stack_size);
	if (told.pid == sampler->pid)
		sampler->preloaded = 1;
	if (told.kind == PLIMP_PRELOAD_LOADED)
		preloads_loaded(sampler, &told);
	else if (told.kind == PLIMP_PRELOAD_FORKED)
		preloads_forked(sampler, &told);
	else if (told.kind == PLIMP_PRELOAD_TAKEN)
		sampler->preload_taken = 1;
	else
		preloads_sample(sampler, &told);
}

static void preloads_lost(struct plimp_sampler *sampler)
{
	struct plimp_preload_head *head = sampler->options.preload->head;
	uint64_t lost = atomic_load(&head->dropped) - sampler->preload_lost;
	struct plimp_capture capture = {.kind = PLIMP_CAPTURE_LOST,
					.time_ns = plimp_system_monotonic(),
					.count = lost};

	/* More than there can be are the target's own invention. */
	if (lost == 0 || preloads_is_silent(sampler))
		return;
	sampler->preload_lost += lost;
	if (lost > UINT32_MAX)
		return;
	sampler->bill.lost += lost;
	sampler->callback(sampler->user, &capture);
}

/* PLIM_ENAME: what runs there now has not got the memory, which a program keeps
 * from before its main() until it ends. */
static int preloads_find(struct plimp_sampler *sampler, struct plimp_lens *lens)
{
	const struct plimp_preload_memory *memory = sampler->options.preload;
	struct plimp_space space;
	int found = 0;
	size_t i;
	int code;

	memset(&space, 0, sizeof space);
	code = plimp_system_lens_maps(lens, &space, NULL);
	for (i = 0; i < space.count; i++)
		found |= space.items[i].inode == memory->inode &&
			 space.items[i].device == memory->device;
	plimp_space_release(sampler->host, &space);
	if (code == PLIM_ENOMEM)
		sampler->problem = code;
	return code == PLIM_OK && !found ? PLIM_ENAME : code;
}

/* Without FOLLOW the environment has the object no more: what the program
 * executes in its own place goes on without. */
static void preloads_ask(struct plimp_sampler *sampler, uint64_t now)
{
	struct plimp_sampled_process *process;
	int code;

	if (!sampler->preloaded || sampler->preload_left ||
	    (sampler->options.flags & PLIMP_SAMPLER_FOLLOW) != 0 ||
	    now < sampler->preload_asked_ns + PRELOADS_ASK_NS)
		return;
	sampler->preload_asked_ns = now;
	process = plimp_sampled_process_of(sampler, sampler->pid);
	if (process == NULL || process->lens == NULL)
		return;
	if (sampler->preload_found) {
		sampler->preload_left =
		    plimp_system_lens_check(process->lens, NULL) == PLIM_EIMAGE;
		return;
	}
	/* The lens may be of the second program already. Of another one it may
	 * be once, at the beginning, when it is of plim itself. */
	code = preloads_find(sampler, process->lens);
	sampler->preload_found = code == PLIM_OK;
	sampler->preload_left =
	    code == PLIM_ENAME ||
	    (code == PLIM_EIMAGE && sampler->preload_old == process->lens);
	sampler->preload_old = code == PLIM_EIMAGE ? process->lens : NULL;
}

void plimp_preloads_drain(struct plimp_sampler *sampler)
{
	struct plimp_preload_memory *memory = sampler->options.preload;
	uint64_t now;
	size_t count;
	size_t i;

	if (memory == NULL)
		return;
	count = preloads_given(memory);
	now = plimp_system_monotonic();
	atomic_store(&memory->head->alive_ns, now);
	for (i = 0; i < count; i++) {
		uint64_t place = memory->order[2 * i + 1];

		assert(place < memory->count);
		preloads_take(sampler, place, now);
		atomic_store(&preloads_entry(memory, place)->state,
			     PLIMP_PRELOAD_FREE);
	}
	preloads_lost(sampler);
	preloads_ask(sampler, now);
}
