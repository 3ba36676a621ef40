/*
 * births_perf.c - births from perf records.
 *
 * A software event that counts nothing (PERF_COUNT_SW_DUMMY), with `task` and
 * `inherit`, is put on every thread of the tree, once for each CPU: the kernel
 * refuses to write what inherited events say into one ring unless the event
 * is bound to a CPU (perf_mmap() in kernel/events/core.c). It writes a record
 * when such a thread starts another or ends, and gives the event to whatever
 * it starts. exclude_kernel makes it an event that an ordinary user may open
 * at perf_event_paranoid 2.
 *
 * The rings belong to events on the observing thread itself, which never
 * count: so they outlive every thread that is observed, and all other events
 * write into them (PERF_EVENT_IOC_SET_OUTPUT asks for the same CPU alone).
 *
 * A thread that is born while the threads are listed may get the event by
 * inheritance and from us, too. The kernel then writes both records of one
 * birth one after the other, with preemption disabled (perf_iterate_sb()), so
 * nothing can stand between them in that CPU's ring: a record that repeats the
 * one before, within a tenth of a second, is no other birth.
 */
#include "host/linux/gnu.h"

#include "core/memory.h"
#include "host/linux/births.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of all rings together. */
#define PERF_RINGS_MOST ((size_t)32 << 20)
#define PERF_REPEAT_NS	100000000u
#define PERF_CPUS	4096u
#define PERF_ONLINE	"/sys/devices/system/cpu/online"

static int perf_open(struct plimp_births *births, int32_t tid, int cpu,
		     int counts, size_t wake_at)
{
	struct perf_event_attr attr;
	int descriptor;

	memset(&attr, 0, sizeof attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.size = sizeof attr;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = !counts;
	attr.inherit = counts != 0;
	attr.task = counts != 0;
	attr.watermark = 1;
	attr.wakeup_watermark = (uint32_t)wake_at;
	births->host->bill.system_calls++;
	descriptor = (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1,
				  PERF_FLAG_FD_CLOEXEC);
	if (descriptor < 0 && plimp_is_starved(errno))
		births->host->system->starved = errno;
	return descriptor;
}

/* As large as the user may have, halving what is asked for. */
static int perf_map(struct plimp_births *births, struct plimp_perf_ring *ring,
		    size_t size)
{
	size_t page = (size_t)births->host->system->page_bytes;

	if (size < page)
		size = page;
	for (; size >= page; size /= 2) {
		void *map;

		births->host->bill.system_calls++;
		map = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
			   MAP_SHARED, ring->descriptor, 0);
		if (map != MAP_FAILED) {
			ring->map = map;
			ring->map_size = size + page;
			ring->size = size;
			return 0;
		}
		if (errno != EPERM && errno != ENOMEM)
			return errno;
	}
	return ENOBUFS;
}

static int perf_ring(struct plimp_births *births, struct plimp_perf_ring *ring,
		     size_t size)
{
	struct epoll_event event = {.events = EPOLLIN};
	int problem;

	ring->descriptor = perf_open(births, 0, ring->cpu, 0, size / 2);
	if (ring->descriptor < 0)
		return errno;
	problem = perf_map(births, ring, size);
	if (problem != 0)
		return problem;
	births->host->bill.system_calls++;
	if (epoll_ctl(births->poll, EPOLL_CTL_ADD, ring->descriptor, &event) !=
	    0)
		return errno;
	return 0;
}

/* The CPUs that are online: as many rings, not yet opened. */
static int perf_cpus(struct plimp_births *births)
{
	plim_host *host = births->host;
	uint64_t count;
	uint64_t cpu = 0;
	plim_bytes text;
	size_t i;
	int problem = plimp_read_file(host, AT_FDCWD, PERF_ONLINE, &text);

	if (problem != 0)
		return problem;
	if (plimp_decode_cpu_list(text, &count) != PLIM_OK || count > PERF_CPUS)
		return EBADMSG;
	births->rings = plimp_allocate(&host->allocator, (size_t)count,
				       sizeof *births->rings);
	if (births->rings == NULL)
		return ENOMEM;
	births->ring_count = (size_t)count;
	for (i = 0; i < count; i++)
		births->rings[i].descriptor = -1;
	for (i = 0; i < count; i++, cpu++) {
		if (plimp_decode_cpu_next(text, &cpu) != 1 || cpu > PERF_CPUS)
			return EBADMSG;
		births->rings[i].cpu = (int)cpu;
	}
	return 0;
}

int plimp_perf_begin(struct plimp_births *births, size_t ring_bytes)
{
	int problem = perf_cpus(births);
	size_t i;

	if (problem != 0)
		return problem;
	births->host->bill.system_calls++;
	births->poll = epoll_create1(EPOLL_CLOEXEC);
	if (births->poll < 0)
		return errno;
	while (ring_bytes > 4096 &&
	       ring_bytes > PERF_RINGS_MOST / births->ring_count)
		ring_bytes /= 2;
	for (i = 0; i < births->ring_count && problem == 0; i++)
		problem = perf_ring(births, &births->rings[i], ring_bytes);
	return problem;
}

void plimp_perf_end(struct plimp_births *births)
{
	plim_host *host = births->host;
	size_t i;

	for (i = 0; i < births->event_count; i++)
		plimp_call_close(host, births->events[i]);
	plimp_release(&host->allocator, births->events, births->event_capacity,
		      sizeof *births->events);
	births->events = NULL;
	births->event_count = 0;
	births->event_capacity = 0;
	plimp_call_close(host, births->poll);
	births->poll = -1;
	for (i = 0; i < births->ring_count; i++) {
		struct plimp_perf_ring *ring = &births->rings[i];

		if (ring->map != NULL) {
			host->bill.system_calls++;
			munmap(ring->map, ring->map_size);
		}
		plimp_call_close(host, ring->descriptor);
	}
	plimp_release(&host->allocator, births->rings, births->ring_count,
		      sizeof *births->rings);
	births->rings = NULL;
	births->ring_count = 0;
}

/* The events of one thread; on failure none of them is left. */
static int perf_attach(struct plimp_births *births, int32_t tid)
{
	size_t before = births->event_count;
	void *events = births->events;
	int problem = 0;
	size_t i;

	if (plimp_reserve(&births->host->allocator, &events,
			  &births->event_capacity, before + births->ring_count,
			  births->ring_count,
			  sizeof *births->events) != PLIM_OK)
		problem = ENOMEM;
	births->events = events;
	for (i = 0; i < births->ring_count && problem == 0; i++) {
		const struct plimp_perf_ring *ring = &births->rings[i];
		int descriptor =
		    perf_open(births, tid, ring->cpu, 1, ring->size / 2);

		if (descriptor < 0) {
			problem = errno;
			break;
		}
		births->events[births->event_count++] = descriptor;
		births->host->bill.system_calls++;
		if (ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT,
			  ring->descriptor) != 0)
			problem = errno;
	}
	while (problem != 0 && births->event_count > before)
		plimp_call_close(births->host,
				 births->events[--births->event_count]);
	return problem;
}

/* One thread of the folder `task`: 0, or the error. Who is still listed there
 * afterwards was the owner of the number before, too. */
static int perf_thread(struct plimp_births *births, int task, int32_t tid,
		       size_t *added)
{
	plim_host *host = births->host;
	size_t before = births->event_count;
	struct stat status;
	char path[16];
	int problem;

	if (plimp_births_knows(births, tid))
		return 0;
	if (before + births->ring_count > births->event_limit)
		return E2BIG;
	problem = perf_attach(births, tid);
	if (problem != 0)
		return plimp_is_gone(problem) ? 0 : problem;
	snprintf(path, sizeof path, "%d", (int)tid);
	if (plimp_call_stat(host, task, path, &status, 0) != 0) {
		while (births->event_count > before)
			plimp_call_close(host,
					 births->events[--births->event_count]);
		return 0;
	}
	plimp_births_learn(births, tid, 1);
	++*added;
	return 0;
}

static int perf_block(struct plimp_births *births, int task, size_t size,
		      size_t *added)
{
	plim_bytes records = {births->host->system->listing, size};
	size_t offset = 0;
	int32_t tid;
	int problem = 0;
	int more;

	while (problem == 0 &&
	       (more = plimp_decode_dents(records, &offset, &tid)) != 0)
		problem =
		    more < 0 ? EBADMSG : perf_thread(births, task, tid, added);
	return problem;
}

int plimp_perf_cover(struct plimp_births *births, int directory, size_t *added)
{
	plim_host *host = births->host;
	int task =
	    plimp_call_open(host, directory, "task", O_RDONLY | O_DIRECTORY);
	size_t before = *added;
	int problem = 0;
	ssize_t size = 0;

	if (task < 0)
		return errno;
	/* Who was born of the known threads meanwhile needs no events. */
	plimp_perf_drain(births);
	while (problem == 0 &&
	       (size = plimp_call_dents(host, task, host->system->listing,
					sizeof host->system->listing)) > 0)
		problem = perf_block(births, task, (size_t)size, added);
	if (problem == 0 && size < 0)
		problem = errno;
	plimp_call_close(host, task);
	/* Some threads are better than none, if it is said. */
	if (problem == E2BIG && *added > before) {
		births->counts.is_partial = 1;
		problem = 0;
	}
	return problem;
}

static int perf_repeats(const struct plimp_perf_record *record,
			const struct plimp_perf_record *last)
{
	return record->type == last->type && record->pid == last->pid &&
	       record->tid == last->tid && record->ppid == last->ppid &&
	       record->ptid == last->ptid &&
	       record->time_ns - last->time_ns < PERF_REPEAT_NS;
}

/*
 * A main thread has said its end: does its process go on all the same? So it
 * does where perf let go of it, because it executed a program with another's
 * rights, or one that it may not read (begin_new_exec() in fs/exec.c), or
 * where another thread executed one and took over the number.
 */
static int perf_goes_on(struct plimp_births *births, int32_t pid)
{
	plim_host *host = births->host;
	struct plimp_stat stat;
	plim_bytes text;
	int directory;
	int goes_on = 0;

	if (pid < 1)
		return 0;
	host->bill.system_calls++;
	if (kill(pid, 0) != 0 && errno == ESRCH)
		return 0;
	directory = plimp_open_process(host, pid);
	if (directory >= 0 &&
	    plimp_read_file(host, directory, "stat", &text) == 0 &&
	    plimp_decode_stat(text, &stat) == PLIM_OK)
		goes_on = (stat.flags & PLIMP_STAT_EXITING) == 0 &&
			  stat.state != 'Z' && stat.state != 'X';
	plimp_call_close(host, directory);
	return goes_on;
}

static void perf_end(struct plimp_births *births,
		     const struct plimp_perf_record *record)
{
	plimp_births_learn(births, record->tid, 0);
	if (record->pid != record->tid)
		births->counts.threads_ended++;
	else if (perf_goes_on(births, record->pid))
		births->counts.is_partial = 1;
	else
		births->counts.processes_ended++;
}

static void perf_count(struct plimp_births *births,
		       struct plimp_perf_ring *ring,
		       const struct plimp_perf_record *record)
{
	struct plimp_birth_counts *counts = &births->counts;
	int is_process = record->pid == record->tid;

	switch (record->type) {
	case PLIMP_PERF_LOST:
		counts->lost += record->lost;
		counts->overflows += (uint64_t)!ring->was_full;
		break;
	case PLIMP_PERF_FORK:
	case PLIMP_PERF_EXIT:
		if (perf_repeats(record, &ring->last))
			break;
		if (record->type == PLIMP_PERF_FORK) {
			counts->processes_started += (uint64_t)is_process;
			counts->threads_started += (uint64_t)!is_process;
			plimp_births_learn(births, record->tid, 1);
		} else {
			perf_end(births, record);
		}
		break;
	default:
		break;
	}
	ring->was_full = 0;
	ring->last = *record;
}

/* The begin of the record at `at`, copied out of the ring where it wraps. */
static plim_bytes perf_bytes(const struct plimp_perf_ring *ring, uint64_t at,
			     uint64_t left, char copy[PLIMP_PERF_RECORD_SIZE])
{
	const unsigned char *data = ring->map + (ring->map_size - ring->size);
	size_t begin = (size_t)(at & (ring->size - 1));
	size_t size = left < PLIMP_PERF_RECORD_SIZE ? (size_t)left
						    : PLIMP_PERF_RECORD_SIZE;
	size_t first = ring->size - begin < size ? ring->size - begin : size;
	plim_bytes bytes = {copy, size};

	memcpy(copy, data + begin, first);
	memcpy(copy + first, data, size - first);
	return bytes;
}

/* A ring that is full may have lost what no record tells yet: one says so only
 * when the next record finds room. It is the first then, and says nothing of
 * what came after this reading. */
static void perf_drain_ring(struct plimp_births *births,
			    struct plimp_perf_ring *ring)
{
	struct perf_event_mmap_page *page = (void *)ring->map;
	uint64_t tail = page->data_tail;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	int is_full =
	    head - tail > ring->size - (size_t)2 * PLIMP_PERF_RECORD_SIZE;

	births->host->bill.bytes_read += head - tail;
	births->counts.overflows += (uint64_t)is_full;
	while (tail != head) {
		char copy[PLIMP_PERF_RECORD_SIZE];
		struct plimp_perf_record record;
		plim_bytes bytes = perf_bytes(ring, tail, head - tail, copy);

		if (head - tail > ring->size ||
		    plimp_decode_perf_record(bytes, &record) != PLIM_OK ||
		    record.size > head - tail) {
			births->counts.overflows++;
			break;
		}
		perf_count(births, ring, &record);
		tail += record.size;
	}
	ring->was_full |= is_full;
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

/* Does each CPU that is online now have a ring? */
void plimp_perf_check_cpus(struct plimp_births *births)
{
	plim_bytes text;
	uint64_t cpu = 0;
	size_t i = 0;
	int known =
	    plimp_read_file(births->host, AT_FDCWD, PERF_ONLINE, &text) == 0;

	for (; known && plimp_decode_cpu_next(text, &cpu) == 1; cpu++) {
		while (i < births->ring_count &&
		       (uint64_t)births->rings[i].cpu < cpu)
			i++;
		known = i < births->ring_count &&
			(uint64_t)births->rings[i].cpu == cpu;
	}
	if (!known)
		births->counts.is_partial = 1;
}

void plimp_perf_drain(struct plimp_births *births)
{
	size_t i;

	for (i = 0; i < births->ring_count; i++)
		perf_drain_ring(births, &births->rings[i]);
}
