/*
 * sampler_drain.c - records out of the rings, in the order of their time.
 *
 * How far each ring is filled is looked up once, and what is there up to that
 * is merged: the ring whose next record is the earliest gives it, from a heap.
 * A record is decoded where it lies, or, where it wraps around the end of its
 * ring, from a copy; its place is given back to the kernel as soon as the
 * callback has returned. The kernel alone writes rings, yet a record that
 * cannot be is counted and passed over, and one whose size cannot be ends its
 * ring's turn.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/sampler.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <string.h>

#define DRAIN_TYPE_SAMPLE 9u
#define DRAIN_TRAILER	  32u
#define DRAIN_RECORD_MOST 65536u

static const unsigned char *drain_data(const struct plimp_sampling_ring *ring)
{
	return ring->map + (ring->map_size - ring->size);
}

/* 8 bytes of the ring; places are multiples of 8, so that none wraps. */
static uint64_t drain_word(const struct plimp_sampling_ring *ring, uint64_t at)
{
	uint64_t word;

	memcpy(&word, drain_data(ring) + (size_t)(at & (ring->size - 1)),
	       sizeof word);
	return word;
}

static void drain_give_back(struct plimp_sampling_ring *ring)
{
	struct perf_event_mmap_page *page = (void *)ring->map;

	__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

/* The size of the next record, and its time; 0 at the end of what is there. */
static uint32_t drain_next(struct plimp_sampler *sampler,
			   struct plimp_sampling_ring *ring)
{
	uint64_t left = ring->head - ring->tail;
	uint64_t header;
	plim_bytes bytes = {(const char *)&header, sizeof header};
	uint32_t type;
	uint32_t size;

	if (left == 0)
		return 0;
	header = drain_word(ring, ring->tail);
	if (left > ring->size || left % 8 != 0 ||
	    plimp_decode_perf_size(bytes, &size) != PLIM_OK || size > left) {
		sampler->bill.malformed++;
		ring->tail = ring->head;
		drain_give_back(ring);
		return 0;
	}
	memcpy(&type, &header, sizeof type);
	ring->time_ns = 0;
	if (type == DRAIN_TYPE_SAMPLE && size >= 24)
		ring->time_ns = drain_word(ring, ring->tail + 16);
	else if (size >= 8 + DRAIN_TRAILER)
		ring->time_ns =
		    drain_word(ring, ring->tail + size - DRAIN_TRAILER + 8);
	return size;
}

static void drain_sift(struct plimp_sampler *sampler, size_t root, size_t count)
{
	uint32_t *heap = sampler->heap;
	uint32_t moved = heap[root];
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count &&
		    sampler->rings[heap[child + 1]].time_ns <
			sampler->rings[heap[child]].time_ns)
			child++;
		if (sampler->rings[heap[child]].time_ns >=
		    sampler->rings[moved].time_ns)
			break;
		heap[root] = heap[child];
		root = child;
	}
	heap[root] = moved;
}

/* The whole record at the tail. */
static plim_bytes drain_record(struct plimp_sampler *sampler,
			       const struct plimp_sampling_ring *ring,
			       uint32_t size)
{
	size_t begin = (size_t)(ring->tail & (ring->size - 1));
	size_t first = ring->size - begin;
	plim_bytes bytes = {(const char *)drain_data(ring) + begin, size};

	if (first >= size)
		return bytes;
	assert(size <= DRAIN_RECORD_MOST);
	memcpy(sampler->record, drain_data(ring) + begin, first);
	memcpy(sampler->record + first, drain_data(ring), size - first);
	bytes.data = (const char *)sampler->record;
	return bytes;
}

static int drain_is_silent(const struct plimp_sampler *sampler,
			   uint64_t time_ns)
{
	return sampler->callback == NULL || sampler->start_ns == 0 ||
	       time_ns < sampler->start_ns;
}

/* The thread of a record, made known if it is not yet: it has been born so
 * lately that its birth is still to be read, or nobody told it. What is left
 * in the ring of one that is known to have ended brings it to life no more. */
static struct plimp_sampled *
drain_thread(struct plimp_sampler *sampler, size_t ring,
	     const struct plimp_perf_capture *record)
{
	struct plimp_sampled *thread = plimp_sampled_find(sampler, record->tid);

	if (thread == NULL && record->tid > 0 &&
	    sampler->rings[ring].cpu >= 0) {
		thread = plimp_sampled_add(sampler, record->pid, record->tid);
		if (thread == NULL) {
			sampler->problem = PLIM_ENOMEM;
			return NULL;
		}
		thread->armed_ns = record->time_ns;
		thread->flags |=
		    PLIMP_SAMPLED_COVERED | PLIMP_SAMPLED_INHERITED;
	}
	return thread;
}

/* Which of its thread's events wrote to this ring. */
static size_t drain_lane(const struct plimp_sampler *sampler, size_t ring)
{
	return sampler->rings[ring].cpu < 0 ? 0 : ring;
}

/* How far the thread's time has come, by what this CPU counts of it. */
static void drain_count(struct plimp_sampler *sampler,
			struct plimp_sampled *thread, size_t lane,
			const struct plimp_perf_capture *record)
{
	struct plimp_sampled_count *count;
	uint64_t before;

	if (thread->counts == NULL)
		thread->counts =
		    plimp_allocate(&sampler->host->allocator,
				   sampler->cpu_count, sizeof *thread->counts);
	if (thread->counts == NULL) {
		sampler->problem = PLIM_ENOMEM;
		return;
	}
	count = &thread->counts[lane];
	before = count->id == record->id ? count->value : 0;
	if (record->count > before)
		thread->counted_ns += record->count - before;
	count->id = record->id;
	count->value = record->count;
}

/* Of events that others have taken over from. */
static int drain_is_shallow(const struct plimp_sampled *thread, size_t lane,
			    const struct plimp_perf_capture *record)
{
	return thread->deep_ids != NULL && record->time_ns >= thread->deep_ns &&
	       record->id != thread->deep_ids[lane];
}

static void drain_taken(struct plimp_sampler *sampler, size_t ring,
			const struct plimp_perf_capture *record)
{
	struct plimp_sampled *thread = drain_thread(sampler, ring, record);
	size_t lane = drain_lane(sampler, ring);
	struct plimp_sampled_process *process;
	struct plimp_capture capture;
	int is_x86 = sampler->layout.machine == PLIMP_MACHINE_X86;

	if (thread == NULL || drain_is_shallow(thread, lane, record))
		return;
	if (sampler->layout.has_count)
		drain_count(sampler, thread, lane, record);
	if (drain_is_silent(sampler, record->time_ns)) {
		thread->ignored_ns = thread->counted_ns;
		return;
	}
	plimp_sampled_tell(sampler, thread, record->time_ns);
	memset(&capture, 0, sizeof capture);
	capture.kind = PLIMP_CAPTURE_RUNNING;
	capture.pid = record->pid;
	capture.tid = record->tid;
	capture.start_ticks = thread->start_ticks;
	capture.time_ns = record->time_ns;
	capture.cpu_ns = thread->counted_ns - thread->ignored_ns;
	capture.has_cpu = sampler->layout.has_count;
	capture.state = PLIMP_THREAD_RUNNING;
	capture.in_kernel = record->in_kernel;
	capture.registers = record->registers;
	capture.stack.bytes = (const unsigned char *)record->stack.data;
	capture.stack.size = record->stack.size;
	capture.stack.low =
	    record->registers.value[is_x86 ? PLIMP_X86_RSP : PLIMP_ARM_SP];
	capture.stack.is_cut = record->is_cut;
	process = plimp_sampled_process_of(sampler, record->pid);
	if (process != NULL && process->lens != NULL)
		plimp_copy_code(&sampler->copy, process, &capture.stack);
	sampler->bill.samples++;
	sampler->bill.bytes_copied += record->stack.size;
	sampler->callback(sampler->user, &capture);
}

static void drain_tell(struct plimp_sampler *sampler, int kind,
		       const struct plimp_perf_capture *record)
{
	struct plimp_capture capture;

	if (drain_is_silent(sampler, record->time_ns))
		return;
	memset(&capture, 0, sizeof capture);
	capture.kind = kind;
	capture.pid = record->pid;
	capture.tid = record->tid;
	capture.time_ns = record->time_ns;
	capture.name = record->name;
	if (kind == PLIMP_CAPTURE_FORK)
		capture.parent = record->ppid;
	if (kind == PLIMP_CAPTURE_MAPPED) {
		capture.start = record->start;
		capture.end = record->end;
		capture.offset = record->offset;
		capture.device = record->device;
		capture.inode = record->inode;
	}
	capture.count = record->lost;
	sampler->callback(sampler->user, &capture);
}

/* A thread or a process was started: does it have its starter's events? */
static int drain_inherits(const struct plimp_sampler *sampler,
			  const struct plimp_sampled *parent, int is_process)
{
	int enough = is_process ? sampler->inherits == PLIMP_INHERIT_ALL
				: sampler->inherits != 0;

	return enough && (parent == NULL ||
			  ((parent->flags & PLIMP_SAMPLED_COVERED) != 0 &&
			   parent->ring == 0));
}

static void drain_name(struct plimp_sampled *thread, const char *name,
		       size_t size)
{
	if (size > sizeof thread->name)
		size = sizeof thread->name;
	memcpy(thread->name, name, size);
	thread->name_size = (uint8_t)size;
}

/* Of a thread that has deeper samples, besides shallow ones that it could not
 * be rid of: who is born of it has inherited both, by the same numbers. */
static void drain_deep(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread,
		       const struct plimp_sampled *parent, uint64_t time_ns)
{
	size_t i;

	if (parent == NULL || parent->deep_ids == NULL ||
	    time_ns < parent->deep_ns)
		return;
	thread->deep_ids =
	    plimp_allocate(&sampler->host->allocator, sampler->cpu_count,
			   sizeof *thread->deep_ids);
	if (thread->deep_ids == NULL) {
		sampler->problem = PLIM_ENOMEM;
		return;
	}
	for (i = 0; i < sampler->cpu_count; i++)
		thread->deep_ids[i] = parent->deep_ids[i];
	thread->deep_bytes = parent->deep_bytes;
	thread->deep_ns = time_ns;
}

static void drain_born(struct plimp_sampler *sampler,
		       const struct plimp_perf_capture *record)
{
	int is_process = record->pid != record->ppid;
	struct plimp_sampled *parent =
	    plimp_sampled_find(sampler, record->ptid);
	struct plimp_sampled *thread = plimp_sampled_find(sampler, record->tid);

	if (sampler->options.tid_count > 0)
		return;
	if (is_process && (sampler->options.flags & PLIMP_SAMPLER_FOLLOW) == 0)
		return;
	/* Told already, by another event of its starter. */
	if (thread != NULL && thread->armed_ns == record->time_ns)
		return;
	if (thread != NULL && (thread->flags & PLIMP_SAMPLED_NEW) == 0 &&
	    thread->armed_ns < record->time_ns) {
		plimp_sampled_end(sampler, thread, record->time_ns);
		thread = NULL;
	}
	if (thread == NULL)
		thread = plimp_sampled_add(sampler, record->pid, record->tid);
	if (thread == NULL) {
		sampler->problem = PLIM_ENOMEM;
		return;
	}
	thread->parent = record->ptid;
	if (thread->name_size == 0 && parent != NULL)
		drain_name(thread, parent->name, parent->name_size);
	thread->flags &= ~(uint32_t)PLIMP_SAMPLED_NEW;
	if (is_process)
		drain_tell(sampler, PLIMP_CAPTURE_FORK, record);
	if (drain_inherits(sampler, parent, is_process)) {
		/* Armed before its birth was read: once is enough. */
		plimp_events_disarm(sampler, thread);
		drain_deep(sampler, thread, parent, record->time_ns);
		/* Born before that was silenced, and told after: those whom it
		 * starts must not inherit the silence. */
		if (parent != NULL && parent->deep != NULL &&
		    record->time_ns < parent->deep_ns)
			plimp_events_speak(sampler, parent);
		thread->flags |=
		    PLIMP_SAMPLED_COVERED | PLIMP_SAMPLED_INHERITED;
		thread->armed_ns = record->time_ns;
	} else {
		plimp_events_arm(sampler, thread);
	}
	if (!drain_is_silent(sampler, record->time_ns))
		plimp_sampled_tell(sampler, thread, record->time_ns);
}

static void drain_ended(struct plimp_sampler *sampler,
			const struct plimp_perf_capture *record)
{
	struct plimp_sampled *thread = plimp_sampled_find(sampler, record->tid);

	if (thread != NULL && thread->pid == record->pid &&
	    thread->armed_ns <= record->time_ns)
		plimp_sampled_end(sampler, thread, record->time_ns);
}

/* All others of the process have ended, told or not; its lens shows what is
 * no more. */
static void drain_executed(struct plimp_sampler *sampler, size_t ring,
			   const struct plimp_perf_capture *record)
{
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, record->pid);
	struct plimp_sampled *thread;
	size_t i = 0;

	while (i < sampler->thread_count) {
		thread = sampler->threads[i];
		if (thread->pid == record->pid && thread->tid != record->tid)
			plimp_sampled_end(sampler, thread, record->time_ns);
		else
			i++;
	}
	thread = drain_thread(sampler, ring, record);
	if (thread == NULL)
		return;
	thread->flags &= ~(uint32_t)PLIMP_SAMPLED_PROVEN;
	if (thread->ring != 0 && thread->ring != ring + 1) {
		/* The thread that executed it took the number of the first
		 * one, whose event is none of its own. */
		plimp_events_disarm(sampler, thread);
		plimp_events_arm(sampler, thread);
	}
	drain_name(thread, record->name.data, record->name.size);
	if (process != NULL && !drain_is_silent(sampler, record->time_ns))
		process->lens = NULL;
	plimp_sampled_tell(sampler, thread, record->time_ns);
	drain_tell(sampler, PLIMP_CAPTURE_EXEC, record);
}

static void drain_named(struct plimp_sampler *sampler, size_t ring,
			const struct plimp_perf_capture *record)
{
	struct plimp_sampled *thread;

	if (record->is_exec) {
		drain_executed(sampler, ring, record);
		return;
	}
	thread = drain_thread(sampler, ring, record);
	if (thread == NULL)
		return;
	drain_name(thread, record->name.data, record->name.size);
	plimp_sampled_tell(sampler, thread, record->time_ns);
	drain_tell(sampler, PLIMP_CAPTURE_NAMED, record);
}

static void drain_one(struct plimp_sampler *sampler, size_t ring,
		      struct plimp_perf_capture *record)
{
	switch (record->type) {
	case PLIMP_PERF_TAKEN:
		drain_taken(sampler, ring, record);
		break;
	case PLIMP_PERF_FORK:
		drain_born(sampler, record);
		break;
	case PLIMP_PERF_EXIT:
		drain_ended(sampler, record);
		break;
	case PLIMP_PERF_NAMED:
		drain_named(sampler, ring, record);
		break;
	case PLIMP_PERF_MAPPED:
		drain_tell(sampler, PLIMP_CAPTURE_MAPPED, record);
		break;
	case PLIMP_PERF_THROTTLED:
		sampler->bill.throttled++;
		drain_tell(sampler, PLIMP_CAPTURE_THROTTLED, record);
		break;
	case PLIMP_PERF_LOST:
		if (drain_is_silent(sampler, record->time_ns))
			break;
		sampler->bill.lost += record->lost;
		sampler->told_lost += record->lost;
		record->pid = 0;
		record->tid = 0;
		drain_tell(sampler, PLIMP_CAPTURE_LOST, record);
		break;
	default:
		break;
	}
}

/* The kernel tells of a loss with the next record that finds room: of the last
 * ones no record tells, but the events themselves do. */
static void drain_untold(struct plimp_sampler *sampler)
{
	struct plimp_perf_capture record;

	if (!sampler->halted || sampler->all_lost <= sampler->told_lost)
		return;
	memset(&record, 0, sizeof record);
	record.type = PLIMP_PERF_LOST;
	record.time_ns = plimp_system_monotonic();
	record.lost = sampler->all_lost - sampler->told_lost;
	drain_one(sampler, 0, &record);
}

/* The rings that have something, as a heap: how many. */
static size_t drain_begin(struct plimp_sampler *sampler)
{
	size_t count = 0;
	size_t i;

	for (i = 0; i < sampler->ring_count; i++) {
		struct plimp_sampling_ring *ring = &sampler->rings[i];
		struct perf_event_mmap_page *page = (void *)ring->map;

		if (page == NULL)
			continue;
		/* Whoever wrote to it is gone before this look at its end. */
		if (ring->is_over != 0)
			ring->is_over = PLIMP_RING_DRAINED;
		ring->head =
		    __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
		sampler->host->bill.bytes_read += ring->head - ring->tail;
		if (drain_next(sampler, ring) != 0)
			sampler->heap[count++] = (uint32_t)i;
	}
	for (i = count / 2; i > 0; i--)
		drain_sift(sampler, i - 1, count);
	return count;
}

int plimp_events_drain(struct plimp_sampler *sampler)
{
	size_t count = sampler->is_armed ? drain_begin(sampler) : 0;

	sampler->problem = PLIM_OK;
	while (count > 0) {
		size_t at = sampler->heap[0];
		struct plimp_sampling_ring *ring = &sampler->rings[at];
		uint32_t size = drain_next(sampler, ring);
		struct plimp_perf_capture record;

		if (size != 0) {
			if (plimp_decode_perf_sample(
				&sampler->layout,
				drain_record(sampler, ring, size),
				&record) == PLIM_OK)
				drain_one(sampler, at, &record);
			else
				sampler->bill.malformed++;
			/* There may be more of them by now, elsewhere. */
			ring = &sampler->rings[at];
			ring->tail += size;
			drain_give_back(ring);
		}
		if (drain_next(sampler, ring) == 0)
			sampler->heap[0] = sampler->heap[--count];
		if (count > 0)
			drain_sift(sampler, 0, count);
	}
	plimp_rings_sweep(sampler);
	drain_untold(sampler);
	return sampler->problem;
}
