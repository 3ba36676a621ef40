/*
 * threads.c - what stands beside the counters of threads.
 *
 * The counters come with the table (store_threads.c). Names and start
 * addresses are read behind them, by the thread's number: they count if the
 * thread that has the number was created when the sampled one was.
 */
#include "core/fail.h"
#include "host/windows/system.h"

#include <string.h>
#include <wchar.h>

static int nt_threads_fail(int code, plim_error *error)
{
	return plimp_fail(error, code, 0, "list threads", NULL,
			  code == PLIM_ELIMIT
			      ? "a process has more threads than the limit"
			      : NULL);
}

static int nt_threads_is_same(plim_host *host, HANDLE thread,
			      uint64_t create_time)
{
	FILETIME create;
	FILETIME other;

	host->bill.system_calls++;
	return GetThreadTimes(thread, &create, &other, &other, &other) &&
	       plimp_nt_units(create) == create_time;
}

static HANDLE nt_threads_open(plim_host *host, DWORD tid, DWORD rights,
			      plim_count *missing)
{
	HANDLE thread;

	host->bill.system_calls++;
	thread = OpenThread(rights, FALSE, tid);
	if (thread == NULL && GetLastError() == ERROR_INVALID_PARAMETER)
		*missing = plim_count_missing(PLIM_REASON_THREAD_ENDED, 0);
	else if (thread == NULL)
		*missing = plimp_nt_missing((int)GetLastError());
	return thread;
}

/* NtQueryInformationThread(9): the routine that the program named, which takes
 * more rights than the times of the thread. */
static plim_count nt_threads_address(plim_host *host, DWORD tid,
				     uint64_t create_time)
{
	const ULONG win32_start_address = 9;
	void *address = NULL;
	plim_count figure;
	int32_t status;
	HANDLE thread =
	    nt_threads_open(host, tid, THREAD_QUERY_INFORMATION, &figure);

	if (thread == NULL)
		return figure;
	host->bill.system_calls++;
	status = host->system->calls.query_thread(
	    thread, win32_start_address, &address, sizeof address, NULL);
	if (status < 0)
		figure = plim_count_missing(status == PLIMP_NT_ACCESS_DENIED
						? PLIM_REASON_ACCESS_DENIED
						: PLIM_REASON_READ_FAILED,
					    status);
	/* Nothing begins at 0: the thread has not begun. */
	else if (address == NULL)
		figure = plim_count_missing(PLIM_REASON_READ_FAILED, 0);
	else
		figure = plimp_known((uint64_t)(uintptr_t)address,
				     PLIM_METHOD_QUERY);
	if (!nt_threads_is_same(host, thread, create_time))
		figure = plim_count_missing(PLIM_REASON_THREAD_ENDED, 0);
	plimp_nt_close(host, thread);
	return figure;
}

/* The description that a program gave its thread; there is one from Windows
 * 10, 1607. Without one the thread has no name: that is empty, not missing. */
static int nt_threads_name(plim_host *host, DWORD tid, uint64_t create_time,
			   struct plimp_thread_details *details,
			   struct plimp_thread_text *where)
{
	/* Names are short; what does not fit is cut at a character. */
	char text[1024];
	WCHAR *wide = NULL;
	plim_count missing = plim_count_missing(PLIM_REASON_NONE, 0);
	HRESULT result;
	HANDLE thread;
	int code = PLIM_OK;

	where->size = plim_count_missing(PLIM_REASON_KERNEL_LACKS, 0);
	if (host->system->calls.thread_description == NULL)
		return PLIM_OK;
	thread = nt_threads_open(host, tid, THREAD_QUERY_LIMITED_INFORMATION,
				 &missing);
	where->size = missing;
	if (thread == NULL)
		return PLIM_OK;
	host->bill.system_calls++;
	result = host->system->calls.thread_description(thread, &wide);
	if (!nt_threads_is_same(host, thread, create_time)) {
		where->size = plim_count_missing(PLIM_REASON_THREAD_ENDED, 0);
	} else if (FAILED(result) || wide == NULL) {
		where->size =
		    plim_count_missing(PLIM_REASON_READ_FAILED, result);
	} else {
		const plim_bytes utf16 = {(const char *)wide,
					  wcslen(wide) * sizeof *wide};

		code = plimp_details_text(
		    details, &host->allocator, where,
		    (plim_bytes){text, plimp_nt_utf8(utf16, text, sizeof text)},
		    PLIM_METHOD_QUERY);
	}
	if (wide != NULL)
		LocalFree(wide);
	plimp_nt_close(host, thread);
	return code;
}

/* Behind the counters of all. */
static int nt_threads_decorate(plim_host *host,
			       const struct plimp_request *request,
			       struct plimp_thread *items, size_t count)
{
	struct plimp_thread_details *details = request->details;
	size_t i;

	for (i = 0; i < count; i++) {
		struct plimp_thread_detail *detail;
		struct plimp_thread_text name = {0};

		items[i].detail = (uint32_t)details->count;
		if (plimp_details_add(details, &host->allocator) != PLIM_OK)
			return PLIM_ENOMEM;
		if ((request->thread_parts & PLIMP_THREAD_NAME) == 0)
			continue;
		if (nt_threads_name(host, (DWORD)items[i].tid,
				    items[i].start_ticks, details,
				    &name) != PLIM_OK)
			return PLIM_ENOMEM;
		detail = &details->items[items[i].detail];
		detail->name = name;
		detail->start_address = nt_threads_address(
		    host, (DWORD)items[i].tid, items[i].start_ticks);
	}
	return PLIM_OK;
}

/* What each waits for, in the order of the table: found again by its number. */
static int nt_threads_waits(plim_host *host, const struct plimp_nt_entry *entry,
			    const struct plimp_request *request,
			    const struct plimp_thread *items, size_t count)
{
	struct plimp_thread_details *details = request->details;
	struct plimp_nt_thread thread;
	size_t i;
	size_t j;

	for (i = 0; i < count; i++) {
		struct plimp_thread_detail *detail =
		    &details->items[items[i].detail];

		detail->call = plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
		detail->wait.size =
		    plim_count_missing(PLIM_REASON_NOT_IN_TABLE, 0);
	}
	for (j = 0;
	     plimp_decode_nt_thread(entry->process.threads, plimp_nt_layout, j,
				    &thread) == PLIM_OK;
	     j++) {
		size_t low = 0;
		size_t high = count;
		struct plimp_thread_text wait = {0};
		struct plimp_thread_detail *detail;
		const char *reason;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if ((uint64_t)items[middle].tid < thread.tid)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == count || (uint64_t)items[low].tid != thread.tid)
			continue;
		detail = &details->items[items[low].detail];
		detail->state =
		    plimp_nt_state(thread.state, thread.wait_reason);
		reason = plimp_nt_wait_reason(thread.wait_reason);
		if (detail->state == 'R') {
			detail->call =
			    plim_count_missing(PLIM_REASON_RUNNING, 0);
			detail->wait.size = detail->call;
			continue;
		}
		if (detail->state == 0 || reason[0] == '\0')
			continue;
		if (plimp_details_text(details, &host->allocator, &wait,
				       (plim_bytes){reason, strlen(reason)},
				       PLIM_METHOD_THREAD_TABLE) != PLIM_OK)
			return PLIM_ENOMEM;
		detail->wait = wait;
	}
	return PLIM_OK;
}

int plimp_windows_threads(plim_host *host, const struct plimp_nt_entry *entry,
			  const struct plimp_request *request,
			  plim_process *record,
			  struct plimp_thread_list *threads, plim_error *error)
{
	const size_t first = threads->count;
	size_t count;
	int code;

	if (!plimp_set_has(&request->fields, PLIM_FIELD_WAKEUPS) &&
	    request->thread_parts == 0)
		return PLIM_OK;
	code = plimp_nt_store_threads(entry, &host->allocator, &request->fields,
				      record, threads);
	count = threads->count - first;
	if (code == PLIM_OK && request->details != NULL) {
		struct plimp_thread *items = threads->items + first;

		code = nt_threads_decorate(host, request, items, count);
		if (code == PLIM_OK &&
		    (request->thread_parts & PLIMP_THREAD_WAIT) != 0)
			code = nt_threads_waits(host, entry, request, items,
						count);
	}
	return code == PLIM_OK ? PLIM_OK : nt_threads_fail(code, error);
}
