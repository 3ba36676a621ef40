/*
 * lens_stacks.c - where the threads' stack pointers are: the last but one
 * number of task/TID/syscall, which a thread that waits has. One that runs has
 * none to be read from outside; it is asked again a few times, since most
 * threads wait most of the time.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/lens.h"

#include <plimsoll/thread.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>

#define STACKS_TRIES 3

static int stacks_add(struct plimp_lens *lens, struct plimp_stacks *stacks,
		      int32_t tid, uint64_t address)
{
	void *items = stacks->items;

	if (plimp_reserve(&lens->host->allocator, &items, &stacks->capacity,
			  stacks->count + 1, 64,
			  sizeof *stacks->items) != PLIM_OK)
		return PLIM_ENOMEM;
	stacks->items = items;
	stacks->items[stacks->count].tid = tid;
	stacks->items[stacks->count].address = address;
	stacks->count++;
	return PLIM_OK;
}

static int stacks_thread(struct plimp_lens *lens, struct plimp_stacks *stacks,
			 int task, int32_t tid)
{
	char path[PLIMP_THREAD_PATH];
	struct plimp_syscall call;
	plim_bytes text;
	int tries;

	plimp_thread_path(path, tid, "syscall");
	for (tries = 0; tries < STACKS_TRIES; tries++) {
		int problem = plimp_read_file(lens->host, task, path, &text);

		if (problem == EACCES || problem == EPERM)
			stacks->denied++;
		if (problem != 0 ||
		    plimp_decode_syscall(text, &call) != PLIM_OK)
			return PLIM_OK;
		if (call.kind != PLIMP_SYSCALL_RUNNING)
			break;
	}
	if (call.kind == PLIMP_SYSCALL_RUNNING)
		stacks->running++;
	else if (call.has_place)
		return stacks_add(lens, stacks, tid, call.stack);
	return PLIM_OK;
}

static int stacks_fail(struct plimp_lens *lens, int code, plim_error *error)
{
	(void)lens;
	return plimp_fail(error, code, 0, "read stacks", NULL, NULL);
}

/* The listing is taken part by part; reading a thread uses another buffer. */
static int stacks_list(struct plimp_lens *lens, struct plimp_stacks *stacks,
		       int task, plim_error *error)
{
	plim_bytes records = {lens->buffer, 0};
	size_t seen = 0;
	ssize_t size;

	while ((size = plimp_call_dents(lens->host, task, lens->buffer,
					PLIMP_LENS_BUFFER)) > 0) {
		size_t offset = 0;
		int32_t tid;

		records.size = (size_t)size;
		while (plimp_decode_dents(records, &offset, &tid) == 1) {
			if (++seen > PLIM_THREAD_LIMIT)
				return stacks_fail(lens, PLIM_ELIMIT, error);
			if (stacks_thread(lens, stacks, task, tid) != PLIM_OK)
				return stacks_fail(lens, PLIM_ENOMEM, error);
		}
	}
	if (size < 0)
		return plimp_lens_fail(lens, errno, "task", error);
	return PLIM_OK;
}

/* Ascending by address: a heap sort, since qsort() may allocate. */
static void stacks_sift(struct plimp_stack_pointer *items, size_t root,
			size_t count)
{
	struct plimp_stack_pointer moved = items[root];
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count &&
		    items[child].address < items[child + 1].address)
			child++;
		if (items[child].address <= moved.address)
			break;
		items[root] = items[child];
		root = child;
	}
	items[root] = moved;
}

static void stacks_sort(struct plimp_stack_pointer *items, size_t count)
{
	size_t at;

	for (at = count / 2; at > 0; at--)
		stacks_sift(items, at - 1, count);
	for (at = count; at > 1; at--) {
		struct plimp_stack_pointer last = items[at - 1];

		items[at - 1] = items[0];
		items[0] = last;
		stacks_sift(items, 0, at - 1);
	}
}

int plimp_system_lens_stacks(struct plimp_lens *lens,
			     struct plimp_stacks *stacks, plim_error *error)
{
	int task;
	int code;

	stacks->count = 0;
	stacks->running = 0;
	stacks->denied = 0;
	if (lens->reason != 0)
		return plimp_system_lens_check(lens, error);
	task = plimp_call_open(lens->host, lens->directory, "task",
			       O_RDONLY | O_DIRECTORY);
	if (task < 0)
		return plimp_lens_fail(lens, errno, "task", error);
	code = stacks_list(lens, stacks, task, error);
	plimp_call_close(lens->host, task);
	if (code == PLIM_OK)
		code = plimp_system_lens_check(lens, error);
	if (code != PLIM_OK) {
		stacks->count = 0;
		return code;
	}
	stacks_sort(stacks->items, stacks->count);
	return PLIM_OK;
}
