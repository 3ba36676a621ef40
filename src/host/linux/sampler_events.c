/*
 * sampler_events.c - perf events of threads.
 *
 * Each thread has one event per CPU, of which the kernel lets one count at a
 * time, and which write to the ring of that CPU (sampler_rings.c). An event
 * that is inherited takes no descriptor; since 5.13 it can be kept from going
 * over to child processes. What this kernel can do of that has been found out
 * before (sampler_sources.c).
 *
 * That takes threads times CPUs descriptors. Where there are not so many, each
 * thread has one event for all CPUs and a ring of its own; such an event
 * cannot be inherited if it is to be mapped, and a thread that is born gets
 * its own when its starter's record tells of it, or the list does. If even
 * those are too few, threads that run come first: they are given the events
 * of those that sleep.
 */
#include "host/linux/gnu.h"

#include "core/memory.h"
#include "host/linux/inside.h"
#include "host/linux/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* PERF_FORMAT_LOST, which older headers lack. */
#define EVENTS_FORMAT_LOST (UINT64_C(1) << 4)
#define EVENTS_NEVER_NS	   (UINT64_C(1) << 62)
/* Events go from who has slept for so long to who runs, at most so often. */
#define EVENTS_IDLE_NS	 UINT64_C(500000000)
#define EVENTS_SPREAD_NS UINT64_C(100000000)

/* By threads alone is bit 35 of the flags of struct perf_event_attr, 5.13. */
static void events_set_inherit(struct perf_event_attr *attr, int inherits)
{
	const uint64_t threads = UINT64_C(1) << 35;
	const size_t at = offsetof(struct perf_event_attr, read_format) + 8;
	uint64_t flags;

	attr->inherit = inherits != 0;
	/* The flags follow read_format, in whose word older headers call this
	 * bit reserved. */
	memcpy(&flags, (const char *)attr + at, sizeof flags);
	flags &= ~threads;
	if (inherits == PLIMP_INHERIT_THREADS)
		flags |= threads;
	memcpy((char *)attr + at, &flags, sizeof flags);
}

int plimp_events_open(struct plimp_sampler *sampler,
		      struct perf_event_attr *attr, int32_t tid, int cpu)
{
	int descriptor;

	sampler->host->bill.system_calls++;
	descriptor = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1,
				  PERF_FLAG_FD_CLOEXEC);
	if (descriptor < 0 && plimp_is_starved(errno))
		sampler->host->system->starved = errno;
	return descriptor;
}

struct perf_event_attr plimp_events_attr(const struct plimp_sampler *sampler)
{
	struct perf_event_attr attr;
	int on_exec = (sampler->options.flags & PLIMP_SAMPLER_ON_EXEC) != 0;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = sampler->options.period_ns;
	if (sampler->event == PLIMP_EVENT_CYCLES) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		attr.freq = 1;
		attr.sample_freq =
		    UINT64_C(1000000000) / sampler->options.period_ns;
	}
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER;
	if (sampler->layout.has_count)
		attr.sample_type |= PERF_SAMPLE_READ;
	if (sampler->layout.has_lost)
		attr.read_format = EVENTS_FORMAT_LOST;
	attr.sample_regs_user = sampler->layout.machine == PLIMP_MACHINE_X86
				    ? PLIMP_PERF_X86_MASK
				    : PLIMP_PERF_ARM_MASK;
	attr.sample_stack_user = sampler->stack_bytes;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.exclude_kernel = !sampler->has_kernel;
	attr.exclude_hv = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.task = 1;
	attr.disabled = on_exec != 0;
	attr.enable_on_exec = on_exec != 0;
	events_set_inherit(&attr, sampler->inherits);
	return attr;
}

/* How many events it has at a time. */
static size_t events_lanes(const struct plimp_sampler *sampler,
			   const struct plimp_sampled *thread)
{
	return thread->ring != 0 ? 1 : sampler->cpu_count;
}

static void events_close(struct plimp_sampler *sampler, const int *events,
			 size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		sampler->closed_lost += plimp_event_lost(sampler, events[i]);
		plimp_call_close(sampler->host, events[i]);
	}
	sampler->event_count -= count;
}

/* Children of a thread may have inherited its events: those die with these,
 * which are kept until the end where memory allows. */
static void events_keep(struct plimp_sampler *sampler, const int *events)
{
	void *kept = sampler->kept;
	size_t i;

	if (plimp_reserve(&sampler->host->allocator, &kept,
			  &sampler->kept_capacity,
			  sampler->kept_count + sampler->cpu_count, 64,
			  sizeof *sampler->kept) != PLIM_OK) {
		events_close(sampler, events, sampler->cpu_count);
		return;
	}
	sampler->kept = kept;
	for (i = 0; i < sampler->cpu_count; i++)
		sampler->kept[sampler->kept_count++] = events[i];
}

static void events_free(struct plimp_sampler *sampler, int **events)
{
	plimp_release(&sampler->host->allocator, *events, sampler->cpu_count,
		      sizeof **events);
	*events = NULL;
}

static void events_leave(struct plimp_sampler *sampler,
			 const struct plimp_sampled *thread, int **events)
{
	if (*events == NULL)
		return;
	if (thread->ring != 0)
		events_close(sampler, *events, 1);
	else if (sampler->inherits != 0 && !sampler->halted)
		events_keep(sampler, *events);
	else
		events_close(sampler, *events, sampler->cpu_count);
	events_free(sampler, events);
}

static void events_disable(struct plimp_sampler *sampler, const int *events,
			   size_t count)
{
	size_t i;

	for (i = 0; events != NULL && i < count; i++) {
		sampler->host->bill.system_calls++;
		ioctl(events[i], PERF_EVENT_IOC_DISABLE, 0);
	}
}

void plimp_events_disarm(struct plimp_sampler *sampler,
			 struct plimp_sampled *thread)
{
	plimp_inside_disarm(sampler, thread);
	events_leave(sampler, thread, &thread->deep);
	plimp_release(&sampler->host->allocator, thread->deep_ids,
		      sampler->cpu_count, sizeof *thread->deep_ids);
	thread->deep_ids = NULL;
	thread->deep_bytes = 0;
	if (thread->ring == 0) {
		events_leave(sampler, thread, &thread->events);
		return;
	}
	/* What is in its ring is still to be read. */
	events_disable(sampler, thread->events, 1);
	sampler->rings[thread->ring - 1].is_over = PLIMP_RING_LEFT;
	events_free(sampler, &thread->events);
	thread->ring = 0;
}

/* All its events or none: 0, or the error. */
static int events_attach(struct plimp_sampler *sampler,
			 const struct plimp_sampled *thread,
			 struct perf_event_attr *attr, int *events)
{
	size_t count = events_lanes(sampler, thread);
	size_t first = thread->ring != 0 ? thread->ring - 1 : 0;
	int problem = 0;
	size_t i;

	if (sampler->event_count + count > sampler->event_limit)
		return EMFILE;
	for (i = 0; i < count && problem == 0; i++) {
		const struct plimp_sampling_ring *ring =
		    &sampler->rings[first + i];

		events[i] =
		    plimp_events_open(sampler, attr, thread->tid, ring->cpu);
		if (events[i] < 0) {
			problem = errno;
			break;
		}
		sampler->event_count++;
		sampler->host->bill.system_calls++;
		if (ioctl(events[i], PERF_EVENT_IOC_SET_OUTPUT,
			  ring->descriptor) != 0)
			problem = errno;
	}
	if (problem != 0)
		events_close(sampler, events, i);
	return problem;
}

static int *events_array(struct plimp_sampler *sampler)
{
	int *events = plimp_allocate(&sampler->host->allocator,
				     sampler->cpu_count, sizeof *events);

	/* Ours, and no refusal of the kernel's. */
	if (events == NULL)
		sampler->problem = PLIM_ENOMEM;
	return events;
}

/* The same, in an array that is made: NULL and the error. */
static int *events_make(struct plimp_sampler *sampler,
			const struct plimp_sampled *thread,
			struct perf_event_attr *attr, int *problem)
{
	int *events = events_array(sampler);

	*problem = ENOMEM;
	if (events == NULL)
		return NULL;
	*problem = events_attach(sampler, thread, attr, events);
	if (*problem != 0)
		events_free(sampler, &events);
	return events;
}

/* One event for all CPUs, which holds a ring: 0, or the error. */
static int events_make_alone(struct plimp_sampler *sampler,
			     struct plimp_sampled *thread)
{
	struct perf_event_attr attr = plimp_events_attr(sampler);
	int *events;
	size_t place;
	int problem;

	if (sampler->event_count >= sampler->event_limit)
		return EMFILE;
	events = events_array(sampler);
	if (events == NULL)
		return ENOMEM;
	events_set_inherit(&attr, 0);
	attr.watermark = 1; /* 0: half of the ring */
	events[0] = plimp_events_open(sampler, &attr, thread->tid, -1);
	problem = events[0] < 0
		      ? errno
		      : plimp_ring_of_thread(sampler, events[0], &place);
	if (problem != 0) {
		plimp_call_close(sampler->host, events[0]);
		events_free(sampler, &events);
		return problem;
	}
	thread->events = events;
	thread->ring = place + 1;
	return 0;
}

void plimp_events_arm(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread)
{
	struct perf_event_attr attr;
	int problem = EMFILE;

	if (sampler->inside != NULL && !sampler->halted) {
		if (plimp_signals_arm(sampler, thread))
			return;
		plimp_sources_beside(sampler);
	}
	if (!sampler->is_armed || sampler->halted || thread->events != NULL)
		return;
	thread->armed_ns = plimp_system_monotonic();
	if (!sampler->is_alone) {
		attr = plimp_events_attr(sampler);
		thread->events = events_make(sampler, thread, &attr, &problem);
	}
	if (plimp_is_starved(problem))
		problem = events_make_alone(sampler, thread);
	if (thread->events != NULL) {
		sampler->by_ring++;
		thread->flags |= PLIMP_SAMPLED_COVERED;
		thread->flags &= ~(uint32_t)PLIMP_SAMPLED_REFUSED;
		return;
	}
	if (plimp_is_gone(problem) || sampler->problem != PLIM_OK)
		return;
	thread->flags |= PLIMP_SAMPLED_REFUSED | PLIMP_SAMPLED_GAPS;
	plimp_sources_denied(sampler, problem);
}

/* Lets a thread go that sleeps, and whose ring has been read: was there one
 * from `*at` on? */
static int events_take_away(struct plimp_sampler *sampler, size_t *at,
			    uint64_t now)
{
	for (; *at < sampler->thread_count; ++*at) {
		struct plimp_sampled *thread = sampler->threads[*at];
		struct plimp_sampling_ring *ring;

		if (thread->ring == 0 ||
		    (thread->flags & PLIMP_SAMPLED_ACCOUNTS) == 0 ||
		    now - thread->ran_ns < EVENTS_IDLE_NS)
			continue;
		ring = &sampler->rings[thread->ring - 1];
		plimp_events_disarm(sampler, thread);
		thread->flags &= ~(uint32_t)PLIMP_SAMPLED_COVERED;
		thread->flags |= PLIMP_SAMPLED_REFUSED | PLIMP_SAMPLED_GAPS;
		/* It may have run since its ring was read. */
		if (plimp_ring_is_read(ring)) {
			ring->is_over = PLIMP_RING_DRAINED;
			plimp_rings_sweep(sampler);
			return 1;
		}
	}
	return 0;
}

void plimp_events_spread(struct plimp_sampler *sampler)
{
	uint64_t now = plimp_system_monotonic();
	size_t from = 0;
	size_t i;

	if (!sampler->is_armed || sampler->halted ||
	    sampler->tiers.perf.method != PLIM_REASON_TOO_MANY_DESCRIPTORS ||
	    now - sampler->spread_ns < EVENTS_SPREAD_NS)
		return;
	sampler->spread_ns = now;
	for (i = 0; i < sampler->thread_count; i++) {
		struct plimp_sampled *thread = sampler->threads[i];

		if ((thread->flags & PLIMP_SAMPLED_REFUSED) == 0 ||
		    (thread->flags & PLIMP_SAMPLED_ACCOUNTS) == 0 ||
		    now - thread->ran_ns >= EVENTS_SPREAD_NS)
			continue;
		if (sampler->event_count >= sampler->event_limit &&
		    !events_take_away(sampler, &from, now))
			return;
		plimp_events_arm(sampler, thread);
	}
}

static void events_set_period(struct plimp_sampler *sampler, const int *events,
			      size_t count, uint64_t period)
{
	size_t i;

	for (i = 0; events != NULL && i < count; i++) {
		sampler->host->bill.system_calls++;
		ioctl(events[i], PERF_EVENT_IOC_PERIOD, &period);
	}
}

/* Whoever inherits an event, by however many births, has the period that it
 * has then where it was opened. Who has inherited one before keeps its own, but
 * would hand on silence. */
static int events_are_handed_on(const struct plimp_sampler *sampler,
				const struct plimp_sampled *thread)
{
	size_t i;

	for (i = 0; sampler->inherits != 0 && i < sampler->thread_count; i++) {
		if (sampler->threads[i] != thread &&
		    (sampler->threads[i]->flags & PLIMP_SAMPLED_INHERITED) != 0)
			return 1;
	}
	return 0;
}

/* By a period that never ends: they go on telling births and mappings. What
 * others have inherited goes on, and its samples are passed over. */
static void events_silence(struct plimp_sampler *sampler,
			   const struct plimp_sampled *thread,
			   const int *events)
{
	if (events_are_handed_on(sampler, thread))
		return;
	events_set_period(sampler, events, events_lanes(sampler, thread),
			  EVENTS_NEVER_NS);
}

static uint64_t *events_ids(struct plimp_sampler *sampler, const int *events,
			    size_t count)
{
	uint64_t *ids = plimp_allocate(&sampler->host->allocator,
				       sampler->cpu_count, sizeof *ids);
	size_t i;

	for (i = 0; ids != NULL && i < count; i++) {
		sampler->host->bill.system_calls++;
		if (ioctl(events[i], PERF_EVENT_IOC_ID, &ids[i]) == 0)
			continue;
		plimp_release(&sampler->host->allocator, ids,
			      sampler->cpu_count, sizeof *ids);
		return NULL;
	}
	return ids;
}

int plimp_events_deepen(struct plimp_sampler *sampler,
			struct plimp_sampled *thread, uint32_t bytes)
{
	size_t size = thread->ring != 0 ? sampler->rings[thread->ring - 1].size
					: sampler->ring_bytes;
	size_t count = events_lanes(sampler, thread);
	struct perf_event_attr attr;
	uint64_t *ids = NULL;
	int problem;
	int *deep;

	if (!sampler->is_armed || sampler->halted || bytes > PLIMP_STACK_MOST ||
	    sampler->event != PLIMP_EVENT_TASK_CLOCK ||
	    (thread->flags & PLIMP_SAMPLED_COVERED) == 0 ||
	    !plimp_rings_hold(sampler, bytes, size))
		return -1;
	attr = plimp_events_attr(sampler);
	if (thread->ring != 0)
		events_set_inherit(&attr, 0);
	attr.sample_stack_user = bytes;
	/* Told once is enough. */
	attr.mmap = 0;
	attr.mmap2 = 0;
	attr.comm = 0;
	attr.comm_exec = 0;
	attr.task = 0;
	attr.disabled = 0;
	attr.enable_on_exec = 0;
	deep = events_make(sampler, thread, &attr, &problem);
	if (deep != NULL)
		ids = events_ids(sampler, deep, count);
	if (ids == NULL) {
		if (deep != NULL)
			events_close(sampler, deep, count);
		events_free(sampler, &deep);
		return -1;
	}
	events_silence(sampler, thread, thread->events);
	events_silence(sampler, thread, thread->deep);
	events_leave(sampler, thread, &thread->deep);
	plimp_release(&sampler->host->allocator, thread->deep_ids,
		      sampler->cpu_count, sizeof *thread->deep_ids);
	thread->deep = deep;
	thread->deep_ids = ids;
	thread->deep_bytes = bytes;
	thread->deep_ns = plimp_system_monotonic();
	return 0;
}

void plimp_events_speak(struct plimp_sampler *sampler,
			const struct plimp_sampled *thread)
{
	events_set_period(sampler, thread->events,
			  events_lanes(sampler, thread),
			  sampler->options.period_ns);
}

/* Of whoever samples, and of whom others have inherited from. */
void plimp_events_period(struct plimp_sampler *sampler)
{
	size_t i;

	for (i = 0; i < sampler->thread_count; i++) {
		const struct plimp_sampled *thread = sampler->threads[i];

		events_set_period(
		    sampler,
		    thread->deep != NULL ? thread->deep : thread->events,
		    events_lanes(sampler, thread), sampler->options.period_ns);
		if (thread->deep != NULL &&
		    events_are_handed_on(sampler, thread))
			plimp_events_speak(sampler, thread);
	}
}

uint64_t plimp_event_lost(struct plimp_sampler *sampler, int descriptor)
{
	uint64_t read_format[2] = {0, 0}; /* the count, what is lost */

	/* After the halt all is summed up. */
	if (!sampler->layout.has_lost || sampler->halted)
		return 0;
	sampler->host->bill.system_calls++;
	return read(descriptor, read_format, sizeof read_format) ==
		       (ssize_t)sizeof read_format
		   ? read_format[1]
		   : 0;
}

static uint64_t events_lost(struct plimp_sampler *sampler, const int *events,
			    size_t count)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; events != NULL && i < count; i++)
		lost += plimp_event_lost(sampler, events[i]);
	return lost;
}

/* What inherited ones lose is counted for their origins. A ring that is still
 * to be read holds the event of a thread that was let go. */
uint64_t plimp_events_lost(struct plimp_sampler *sampler)
{
	uint64_t lost = sampler->closed_lost;
	size_t i;

	for (i = 0; i < sampler->thread_count; i++) {
		const struct plimp_sampled *thread = sampler->threads[i];
		size_t count = events_lanes(sampler, thread);

		lost += events_lost(sampler, thread->events, count);
		lost += events_lost(sampler, thread->deep, count);
	}
	for (i = sampler->cpu_count; i < sampler->ring_count; i++)
		if (sampler->rings[i].is_over != 0)
			lost += plimp_event_lost(sampler,
						 sampler->rings[i].descriptor);
	return lost + events_lost(sampler, sampler->kept, sampler->kept_count);
}

/* Inherited ones go with their origins. */
void plimp_events_halt(struct plimp_sampler *sampler)
{
	size_t i;

	for (i = 0; i < sampler->thread_count; i++) {
		const struct plimp_sampled *thread = sampler->threads[i];
		size_t count = events_lanes(sampler, thread);

		events_disable(sampler, thread->events, count);
		events_disable(sampler, thread->deep, count);
	}
	events_disable(sampler, sampler->kept, sampler->kept_count);
	if (!sampler->halted)
		sampler->all_lost =
		    plimp_events_lost(sampler) - sampler->first_lost;
	sampler->halted = 1;
}

/* After the threads were released. */
void plimp_events_end(struct plimp_sampler *sampler)
{
	const plim_allocator *allocator = &sampler->host->allocator;

	events_close(sampler, sampler->kept, sampler->kept_count);
	plimp_release(allocator, sampler->kept, sampler->kept_capacity,
		      sizeof *sampler->kept);
	plimp_rings_end(sampler);
	sampler->kept = NULL;
	sampler->kept_count = 0;
	sampler->kept_capacity = 0;
	sampler->rings = NULL;
	sampler->ring_count = 0;
	sampler->ring_capacity = 0;
	sampler->heap = NULL;
	sampler->heap_capacity = 0;
	sampler->is_armed = 0;
}
