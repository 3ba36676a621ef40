/*
 * sampler_rings.c - the rings that samples come in.
 *
 * A ring that events of several threads write to must belong to one CPU, and
 * so must they: each CPU has one, held by an event of our own that counts
 * nothing. Where descriptors are too few for that, a thread has one event for
 * all CPUs, which holds a ring of its own; the rings of the CPUs stand first
 * in the list, those of threads behind them, in places that are used again.
 *
 * Ring memory is locked: an ordinary user has 516 KiB per CPU, for all rings
 * and all processes of his, and RLIMIT_MEMLOCK besides
 * (kernel.perf_event_mlock_kb). So rings are asked for as large as a tenth of
 * a second of a busy CPU needs, and then half of that, until they are granted;
 * and if they hold less than 20 ms then, stacks are cut shorter.
 *
 * The ring of a thread goes only after it has been drained, which takes a
 * whole drain after its thread was let go.
 */
#include "host/linux/gnu.h"

#include "core/memory.h"
#include "host/linux/sampler.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>

#define SAMPLING_CPUS	    4096u
#define SAMPLING_ONLINE	    "/sys/devices/system/cpu/online"
#define SAMPLING_RING_LEAST ((size_t)32768)
#define SAMPLING_RING_MOST  ((size_t)8 << 20)
#define SAMPLING_RINGS_MOST ((size_t)128 << 20)
/* What a sample takes besides its stack: 32 + 8 + 8 + 33 * 8 + 16 + 8, and
 * records of other kinds between. */
#define SAMPLING_RECORD	     512u
#define SAMPLING_STACK_LEAST 1024u
/* Of a busy CPU's samples a ring is to hold those of so long; of one thread's,
 * since there are many; at least so. */
#define SAMPLING_USUAL_NS UINT64_C(100000000)
#define SAMPLING_ALONE_NS UINT64_C(30000000)
#define SAMPLING_LEAST_NS UINT64_C(20000000)

/* Ours, and no refusal of the kernel's. */
static int sampling_short(struct plimp_sampler *sampler)
{
	sampler->problem = PLIM_ENOMEM;
	return ENOMEM;
}

/* Room for so many rings; those that are added are empty. */
static int sampling_rings_reserve(struct plimp_sampler *sampler, size_t count)
{
	const plim_allocator *allocator = &sampler->host->allocator;
	void *rings = sampler->rings;
	void *heap = sampler->heap;
	size_t i;

	if (plimp_reserve(allocator, &rings, &sampler->ring_capacity, count, 1,
			  sizeof *sampler->rings) != PLIM_OK)
		return sampling_short(sampler);
	sampler->rings = rings;
	if (plimp_reserve(allocator, &heap, &sampler->heap_capacity, count, 1,
			  sizeof *sampler->heap) != PLIM_OK)
		return sampling_short(sampler);
	sampler->heap = heap;
	for (i = sampler->ring_count; i < count; i++) {
		memset(&sampler->rings[i], 0, sizeof sampler->rings[i]);
		sampler->rings[i].cpu = -1;
		sampler->rings[i].descriptor = -1;
	}
	if (count > sampler->ring_count)
		sampler->ring_count = count;
	return 0;
}

int plimp_rings_count(struct plimp_sampler *sampler)
{
	plim_host *host = sampler->host;
	uint64_t count;
	uint64_t cpu = 0;
	plim_bytes text;
	size_t i;
	int problem = plimp_read_file(host, AT_FDCWD, SAMPLING_ONLINE, &text);

	if (problem != 0)
		return problem;
	if (plimp_decode_cpu_list(text, &count) != PLIM_OK || count == 0 ||
	    count > SAMPLING_CPUS)
		return EBADMSG;
	if (sampling_rings_reserve(sampler, (size_t)count) != 0)
		return ENOMEM;
	sampler->cpu_count = (size_t)count;
	for (i = 0; i < sampler->cpu_count; i++, cpu++) {
		if (plimp_decode_cpu_next(text, &cpu) != 1 ||
		    cpu > SAMPLING_CPUS)
			return EBADMSG;
		sampler->rings[i].cpu = (int)cpu;
	}
	return 0;
}

static void sampling_ring_unmap(struct plimp_sampler *sampler,
				struct plimp_sampling_ring *ring)
{
	if (ring->map != NULL) {
		sampler->host->bill.system_calls++;
		munmap(ring->map, ring->map_size);
	}
	ring->map = NULL;
	if (ring->cpu < 0 && ring->descriptor >= 0) {
		sampler->event_count--;
		sampler->closed_lost +=
		    plimp_event_lost(sampler, ring->descriptor);
	}
	plimp_call_close(sampler->host, ring->descriptor);
	ring->descriptor = -1;
	ring->is_over = 0;
}

/* The memory of the ring that its event holds: 0, or the error. */
static int sampling_ring_map(struct plimp_sampler *sampler,
			     struct plimp_sampling_ring *ring, size_t size)
{
	size_t page = (size_t)sampler->host->system->page_bytes;
	struct epoll_event event = {.events = EPOLLIN,
				    .data.u64 = PLIMP_WAKE_RING};
	int problem;
	void *map;

	sampler->host->bill.system_calls++;
	map = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED,
		   ring->descriptor, 0);
	if (map == MAP_FAILED)
		return errno;
	ring->map = map;
	ring->map_size = size + page;
	ring->size = size;
	ring->tail = 0;
	sampler->host->bill.system_calls++;
	if (epoll_ctl(sampler->poll, EPOLL_CTL_ADD, ring->descriptor, &event) ==
	    0)
		return 0;
	problem = errno;
	sampler->host->bill.system_calls++;
	munmap(map, size + page);
	ring->map = NULL;
	return problem;
}

/* Ours, and counts nothing. It wakes us when half of the ring is full, which
 * the kernel takes a watermark of 0 for. */
static int sampling_holder(struct plimp_sampler *sampler, int cpu)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	attr.watermark = 1;
	return plimp_events_open(sampler, &attr, 0, cpu);
}

/* All rings of CPUs, of one size: 0, or the error, and none is left. */
static int sampling_rings_open(struct plimp_sampler *sampler, size_t size)
{
	int problem = 0;
	size_t i;

	for (i = 0; i < sampler->cpu_count && problem == 0; i++) {
		struct plimp_sampling_ring *ring = &sampler->rings[i];

		ring->descriptor = sampling_holder(sampler, ring->cpu);
		problem = ring->descriptor < 0
			      ? errno
			      : sampling_ring_map(sampler, ring, size);
	}
	if (problem == 0)
		return 0;
	for (i = 0; i < sampler->cpu_count; i++)
		sampling_ring_unmap(sampler, &sampler->rings[i]);
	return problem;
}

/* A power of 2 that holds what a busy CPU gives in `ns`. */
static size_t sampling_room(const struct plimp_sampler *sampler,
			    uint32_t stack_bytes, uint64_t ns)
{
	uint64_t samples = ns / sampler->options.period_ns + 4;
	uint64_t wanted = samples * (stack_bytes + SAMPLING_RECORD);
	size_t size = SAMPLING_RING_LEAST;

	while (size < wanted && size < SAMPLING_RING_MOST)
		size *= 2;
	return size;
}

int plimp_rings_hold(const struct plimp_sampler *sampler, uint32_t stack_bytes,
		     size_t size)
{
	return sampling_room(sampler, stack_bytes, SAMPLING_LEAST_NS) <= size;
}

/* Stacks are cut so that a ring of this size holds enough of them. */
static void sampling_cut(struct plimp_sampler *sampler, size_t size)
{
	while (sampler->stack_bytes > SAMPLING_STACK_LEAST &&
	       !plimp_rings_hold(sampler, sampler->stack_bytes, size))
		sampler->stack_bytes = sampler->stack_bytes / 16 * 8;
}

static int sampling_is_refused(int problem)
{
	return problem == EPERM || problem == ENOMEM;
}

int plimp_rings_open(struct plimp_sampler *sampler)
{
	size_t size =
	    sampling_room(sampler, sampler->stack_bytes, SAMPLING_USUAL_NS);
	int problem;

	while (size > SAMPLING_RING_LEAST &&
	       size > SAMPLING_RINGS_MOST / sampler->cpu_count)
		size /= 2;
	for (;; size /= 2) {
		problem = sampling_rings_open(sampler, size);
		if (!sampling_is_refused(problem) ||
		    size == SAMPLING_RING_LEAST)
			break;
	}
	if (problem != 0)
		return problem == EPERM ? ENOBUFS : problem;
	sampler->ring_bytes = size;
	sampling_cut(sampler, size);
	return 0;
}

/* Is so much locked memory to be had? Asked by one ring of all of it. */
static int sampling_try(struct plimp_sampler *sampler, size_t size)
{
	size_t page = (size_t)sampler->host->system->page_bytes;
	int descriptor = sampling_holder(sampler, -1);
	void *map;
	int problem;

	if (descriptor < 0)
		return errno;
	sampler->host->bill.system_calls++;
	map = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED,
		   descriptor, 0);
	problem = map == MAP_FAILED ? errno : 0;
	if (problem == 0) {
		sampler->host->bill.system_calls++;
		munmap(map, size + page);
	}
	plimp_call_close(sampler->host, descriptor);
	return problem;
}

int plimp_rings_share(struct plimp_sampler *sampler, size_t threads)
{
	size_t size =
	    sampling_room(sampler, sampler->stack_bytes, SAMPLING_ALONE_NS);
	size_t places = 1;
	int problem = 0;

	sampler->alone_bytes = size;
	if (threads == 0)
		return 0;
	while (places < threads)
		places *= 2;
	for (; size > SAMPLING_RING_LEAST; size /= 2) {
		if (size > SAMPLING_RINGS_MOST / places)
			continue;
		problem = sampling_try(sampler, size * places);
		if (!sampling_is_refused(problem))
			break;
	}
	sampler->alone_bytes = size;
	sampling_cut(sampler, size);
	return sampling_is_refused(problem) ? 0 : problem;
}

/* A place that no ring has: ring_count where memory is short. */
static size_t sampling_place(struct plimp_sampler *sampler)
{
	size_t at;

	for (at = sampler->cpu_count; at < sampler->ring_count; at++)
		if (sampler->rings[at].descriptor < 0)
			return at;
	/* One more than there are, or those that there are. */
	(void)sampling_rings_reserve(sampler, at + 1);
	return at;
}

int plimp_ring_of_thread(struct plimp_sampler *sampler, int descriptor,
			 size_t *place)
{
	size_t at = sampling_place(sampler);
	struct plimp_sampling_ring *ring;
	size_t size = sampler->alone_bytes;
	int problem;

	if (at == sampler->ring_count)
		return ENOMEM;
	ring = &sampler->rings[at];
	ring->descriptor = descriptor;
	do {
		problem = sampling_ring_map(sampler, ring, size);
		size /= 2;
	} while (sampling_is_refused(problem) && size >= SAMPLING_RING_LEAST);
	if (problem != 0) {
		ring->descriptor = -1; /* the caller's */
		return problem == EPERM ? ENOBUFS : problem;
	}
	sampler->event_count++;
	*place = at;
	return 0;
}

int plimp_ring_is_read(const struct plimp_sampling_ring *ring)
{
	const struct perf_event_mmap_page *page = (const void *)ring->map;

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) ==
	       ring->tail;
}

void plimp_rings_sweep(struct plimp_sampler *sampler)
{
	size_t i;

	for (i = sampler->cpu_count; i < sampler->ring_count; i++)
		if (sampler->rings[i].is_over == PLIMP_RING_DRAINED)
			sampling_ring_unmap(sampler, &sampler->rings[i]);
}

uint64_t plimp_rings_bytes(const struct plimp_sampler *sampler)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < sampler->ring_count; i++)
		if (sampler->rings[i].map != NULL)
			bytes += sampler->rings[i].size;
	return bytes;
}

void plimp_rings_end(struct plimp_sampler *sampler)
{
	const plim_allocator *allocator = &sampler->host->allocator;
	size_t i;

	for (i = 0; i < sampler->ring_count; i++)
		sampling_ring_unmap(sampler, &sampler->rings[i]);
	plimp_release(allocator, sampler->rings, sampler->ring_capacity,
		      sizeof *sampler->rings);
	plimp_release(allocator, sampler->heap, sampler->heap_capacity,
		      sizeof *sampler->heap);
}
