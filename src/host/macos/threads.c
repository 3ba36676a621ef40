/*
 * threads.c - every thread of a process, one by one.
 *
 * Threads are asked for by their ids, counters of 64 bits that are never used
 * twice while the machine is up. The handles that an older list gives are
 * addresses, which the next thread may have again: two samples could not be
 * compared by them. A thread has no start here and needs none: who has an id
 * that the sample before did not have was born since. The kernel tells a
 * thread's CPU time and name, and no switches.
 */
#include "core/fail.h"
#include "host/macos/system.h"

#include <plimsoll/usage.h>

#include <errno.h>

#define THREADS_FIRST 64

#define THREADS_NEVER                            \
	{                                        \
		.state = PLIM_STATE_UNSUPPORTED, \
		.method = PLIM_REASON_HOST_NEVER \
	}

static const struct plimp_thread_ways threads_mac_ways = {
    .start = THREADS_NEVER,
    .wakeups = THREADS_NEVER,
    .involuntary = THREADS_NEVER,
    .switches_in = THREADS_NEVER,
    .cpu = {.state = PLIM_STATE_KNOWN, .method = PLIM_METHOD_MAC_THREAD},
    .cpu_ticks = {.state = PLIM_STATE_KNOWN, .method = PLIM_METHOD_MAC_THREAD},
    .runqueue = THREADS_NEVER,
    .no_main = 1,
};

struct threads_mac {
	plim_host *host;
	int32_t pid;
	const struct plimp_request *request;
	plim_process *record;
	struct plimp_thread_list *threads;
	plim_error *error;
};

static void threads_mac_none(struct threads_mac *pass, plim_count missing)
{
	pass->record->threads.known = 0;
	pass->record->threads.no_switches = missing;
	pass->record->threads.no_times = missing;
}

static int threads_mac_memory(struct threads_mac *pass)
{
	return plimp_fail(pass->error, PLIM_ENOMEM, 0, "list threads", NULL,
			  NULL);
}

/*
 * The ids, in the room of the host: the bytes that came; minus an error; or
 * -E2BIG. A list that fills its room may be longer.
 */
static int64_t threads_mac_list(struct threads_mac *pass)
{
	const size_t each = sizeof(uint64_t);
	size_t count = THREADS_FIRST;

	for (;;) {
		char *bytes = plimp_mac_room(pass->host, count * each);
		int64_t size;

		if (bytes == NULL)
			return -ENOMEM;
		size = plimp_mac_call_info(pass->host, pass->pid,
					   PLIMP_MAC_LIST_THREAD_IDS, 0, bytes,
					   count * each);
		if (size < 0 || (size_t)size + each <= count * each)
			return size;
		if (count > PLIM_THREAD_LIMIT)
			return -E2BIG;
		count *= 2;
	}
}

/* What stands beside the counters, if that was asked for. */
static int threads_mac_detail(struct threads_mac *pass,
			      struct plimp_thread *slot,
			      const struct plimp_mac_thread *found)
{
	struct plimp_thread_details *details = pass->request->details;
	const plim_allocator *allocator = &pass->host->allocator;
	struct plimp_thread_detail *detail;

	if (details == NULL)
		return PLIM_OK;
	slot->detail = (uint32_t)details->count;
	if (plimp_details_add(details, allocator) != PLIM_OK)
		return PLIM_ENOMEM;
	detail = &details->items[slot->detail];
	detail->state = found->state;
	detail->call = plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
	detail->call_name.size = detail->call;
	detail->wait.size = detail->call;
	if ((pass->request->thread_parts & PLIMP_THREAD_NAME) == 0)
		return PLIM_OK;
	return plimp_details_text(details, allocator, &detail->name,
				  found->name, PLIM_METHOD_MAC_THREAD);
}

/* 1 if it is there, 0 if it has ended, which ESRCH alone says; PLIM_ENOMEM, or
 * PLIM_ESYSTEM and why it is not told. */
static int threads_mac_take(struct threads_mac *pass, uint64_t id,
			    plim_count *why)
{
	char bytes[sizeof(struct plimp_mac_threadinfo)];
	struct plimp_mac_thread found;
	struct plimp_thread *slot;
	int64_t size =
	    plimp_mac_call_info(pass->host, pass->pid, PLIMP_MAC_THREAD_BY_ID,
				id, bytes, sizeof bytes);

	if (size == -ESRCH)
		return 0;
	if (size >= 0 &&
	    plimp_decode_mac_thread((plim_bytes){bytes, (size_t)size},
				    &found) != PLIM_OK)
		size = -EBADMSG;
	if (size < 0) {
		*why = plimp_mac_missing((int)-size);
		return PLIM_ESYSTEM;
	}
	slot = plimp_threads_slot(pass->threads, &pass->host->allocator);
	if (slot == NULL)
		return PLIM_ENOMEM;
	*slot = (struct plimp_thread){
	    .tid = (int32_t)id,
	    .cpu_ns = found.cpu_ns,
	    .inode = id,
	    .has = PLIMP_THREAD_TICKS,
	};
	if (threads_mac_detail(pass, slot, &found) != PLIM_OK)
		return PLIM_ENOMEM;
	pass->threads->count++;
	return 1;
}

/* The room is used again by nobody while threads are read. Where one that has
 * not ended is not told the list is none: a sum over the others would be too
 * small. */
static int threads_mac_take_all(struct threads_mac *pass, plim_bytes list)
{
	struct plimp_threads *told = &pass->record->threads;
	size_t first = pass->threads->count;
	size_t i;

	told->ways = &threads_mac_ways;
	told->no_switches = plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
	told->no_times = told->no_switches;
	for (i = 0; i < list.size / sizeof(uint64_t); i++) {
		uint64_t id = plimp_decode_mac_handle(list, i);
		plim_count why =
		    plim_count_missing(PLIM_REASON_READ_FAILED, EOVERFLOW);
		int there = PLIM_ESYSTEM;

		if (id <= INT32_MAX)
			there = threads_mac_take(pass, id, &why);
		if (there == PLIM_ENOMEM)
			return threads_mac_memory(pass);
		if (there < 0) {
			threads_mac_none(pass, why);
			pass->threads->count = first;
			return PLIM_OK;
		}
		told->vanished += !there;
	}
	told->count = pass->threads->count - first;
	told->known = 1;
	if (told->count > 0)
		plimp_threads_sort(pass->threads->items + first, told->count);
	return PLIM_OK;
}

int plimp_mac_threads(plim_host *host, int32_t pid,
		      const struct plimp_request *request, plim_process *record,
		      struct plimp_thread_list *threads, plim_error *error)
{
	struct threads_mac pass = {
	    .host = host,
	    .pid = pid,
	    .request = request,
	    .record = record,
	    .threads = threads,
	    .error = error,
	};
	int64_t size = threads_mac_list(&pass);

	if (size == -E2BIG ||
	    size > (int64_t)(PLIM_THREAD_LIMIT * sizeof(uint64_t)))
		return plimp_fail(error, PLIM_ELIMIT, 0, "list threads", NULL,
				  "more than %d threads", PLIM_THREAD_LIMIT);
	if (size == -ENOMEM)
		return threads_mac_memory(&pass);
	if (size < 0) {
		threads_mac_none(&pass, plimp_mac_missing((int)-size));
		return PLIM_OK;
	}
	return threads_mac_take_all(
	    &pass, (plim_bytes){host->system->room, (size_t)size});
}
