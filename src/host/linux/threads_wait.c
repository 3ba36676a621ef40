/*
 * threads_wait.c - what the threads of a process are called and what each of
 * them waits in, read behind their counters.
 *
 * stat is the anchor (threads.c) of what is read here: it is opened first and
 * read last, and its start must be that of the thread whose counters were
 * read. Who took over the number since then started after the pass began, so
 * that for all but the youngest threads the start is proof; of those the
 * inode of the file that was read then must still be found by the number. A
 * thread that ended in between keeps its counters and has no details; a file
 * that is refused is no failure of the others.
 */
#include "host/linux/gnu.h"

#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* All threads of one process. */
struct waits_pass {
	plim_host *host;
	int task;
	unsigned parts;
	uint64_t young_ticks; /* when the pass began */
	struct plimp_thread_details *details;
};

/* One of them. */
struct waits_one {
	const struct waits_pass *pass;
	const struct plimp_thread *thread;
	struct plimp_thread_detail found;
	int running;
};

static int waits_read(const struct waits_one *one, const char *name,
		      plim_bytes *text)
{
	char path[PLIMP_THREAD_PATH];

	plimp_thread_path(path, one->thread->tid, name);
	return plimp_read_file(one->pass->host, one->pass->task, path, text);
}

static int waits_text(const struct waits_one *one,
		      struct plimp_thread_text *where, plim_bytes text,
		      int method)
{
	return plimp_details_text(one->pass->details,
				  &one->pass->host->allocator, where, text,
				  method) == PLIM_OK
		   ? 0
		   : ENOMEM;
}

/* As strace has it where there is no name. */
static int waits_number(struct waits_one *one, uint64_t number)
{
	char text[8 + PLIMP_DIGITS] = "syscall_";
	size_t size = 8 + plimp_digits(number, text + 8);

	return waits_text(one, &one->found.call_name, (plim_bytes){text, size},
			  PLIM_METHOD_THREAD_SYSCALL);
}

static int waits_named(struct waits_one *one, const struct plimp_syscall *call)
{
	const char *name = plimp_syscall_told(one->pass->host->machine, call);

	if (name == NULL)
		return waits_number(one, call->number);
	return waits_text(one, &one->found.call_name,
			  (plim_bytes){name, strlen(name)},
			  PLIM_METHOD_THREAD_SYSCALL);
}

static int waits_call(struct waits_one *one)
{
	struct plimp_syscall call;
	plim_bytes text;
	int error = waits_read(one, "syscall", &text);

	if (plimp_is_starved(error))
		return error;
	if (error == 0 && plimp_decode_syscall(text, &call) != PLIM_OK)
		error = EBADMSG;
	if (error != 0) {
		one->found.call = plimp_missing_file(error);
		return 0;
	}
	if (call.kind == PLIMP_SYSCALL_CALL) {
		one->found.call =
		    plimp_known(call.number, PLIM_METHOD_THREAD_SYSCALL);
		return waits_named(one, &call);
	}
	one->running = call.kind == PLIMP_SYSCALL_RUNNING;
	one->found.call = plim_count_missing(
	    one->running ? PLIM_REASON_RUNNING : PLIM_REASON_NO_CALL, 0);
	return 0;
}

static int waits_place(struct waits_one *one)
{
	plim_bytes text;
	plim_bytes name;
	int error = waits_read(one, "wchan", &text);
	int found = 0;

	if (plimp_is_starved(error))
		return error;
	if (error == 0)
		found = plimp_decode_wchan(text, &name);
	if (error == 0 && found < 0)
		error = EBADMSG;
	if (found == 1)
		return waits_text(one, &one->found.wait, name,
				  PLIM_METHOD_THREAD_WCHAN);
	one->found.wait.size =
	    error != 0 ? plimp_missing_file(error)
		       : plim_count_missing(one->running ? PLIM_REASON_RUNNING
							 : PLIM_REASON_NO_WAIT,
					    0);
	return 0;
}

/* 0 if the start will prove it, or the number is still that of the thread
 * whose counters were read; else the error. */
static int waits_prove(const struct waits_one *one)
{
	const struct plimp_thread *thread = one->thread;
	char path[PLIMP_THREAD_PATH];
	struct stat status;

	if (thread->proof == 0 ||
	    thread->start_ticks + 1 < one->pass->young_ticks)
		return 0;
	plimp_thread_path(path, thread->tid, plimp_thread_proof(thread->proof));
	if (plimp_call_stat(one->pass->host, one->pass->task, path, &status,
			    0) != 0)
		return errno;
	return status.st_ino == thread->inode ? 0 : ESRCH;
}

/* The anchor: who it is, what it is called, what it does. */
static int waits_stat(struct waits_one *one, int descriptor)
{
	plim_host *host = one->pass->host;
	struct plimp_stat stat;
	ssize_t size = plimp_call_read(host, descriptor, host->system->buffer,
				       sizeof host->system->buffer);
	plim_bytes text = {host->system->buffer, size > 0 ? (size_t)size : 0};

	if (size < 0)
		return errno;
	if (plimp_decode_stat(text, &stat) != PLIM_OK)
		return EBADMSG;
	if (stat.start_ticks != one->thread->start_ticks)
		return ESRCH;
	one->found.state = stat.state;
	return waits_text(one, &one->found.name, stat.name,
			  PLIM_METHOD_THREAD_STAT);
}

/* All of one thread, between opening the anchor and reading it. */
static int waits_of(struct waits_one *one)
{
	plim_host *host = one->pass->host;
	char path[PLIMP_THREAD_PATH];
	int descriptor;
	int error;

	plimp_thread_path(path, one->thread->tid, "stat");
	descriptor = plimp_call_open(host, one->pass->task, path,
				     O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	if (descriptor < 0)
		return errno;
	error = waits_prove(one);
	if (error == 0 && (one->pass->parts & PLIMP_THREAD_WAIT) != 0) {
		error = waits_call(one);
		if (error == 0)
			error = waits_place(one);
	}
	if (error == 0)
		error = waits_stat(one, descriptor);
	plimp_call_close(host, descriptor);
	return error;
}

static plim_count waits_missing(int error)
{
	return plimp_is_gone(error)
		   ? plim_count_missing(PLIM_REASON_THREAD_ENDED, error)
		   : plimp_missing_file(error);
}

static int waits_take(const struct waits_pass *pass,
		      const struct plimp_thread *thread)
{
	struct plimp_thread_detail *detail =
	    &pass->details->items[thread->detail];
	struct waits_one one = {.pass = pass, .thread = thread};
	size_t texts = pass->details->texts.size;
	int named = detail->name.size.state == PLIM_STATE_KNOWN;
	int error;

	if (named && (pass->parts & PLIMP_THREAD_WAIT) == 0)
		return 0;
	error = waits_of(&one);
	if (error == 0) {
		*detail = one.found;
		return 0;
	}
	pass->details->texts.size = texts;
	if (error == ENOMEM || plimp_is_starved(error))
		return error;
	if (!named)
		detail->name.size = waits_missing(error);
	if ((pass->parts & PLIMP_THREAD_WAIT) != 0) {
		detail->call = waits_missing(error);
		detail->wait.size = detail->call;
	}
	return 0;
}

int plimp_read_waits(plim_host *host, int task, unsigned parts,
		     uint64_t young_ticks, const struct plimp_thread *items,
		     size_t count, struct plimp_thread_details *details)
{
	const struct waits_pass pass = {host, task, parts, young_ticks,
					details};
	size_t i;

	if ((parts & (PLIMP_THREAD_NAME | PLIMP_THREAD_WAIT)) == 0)
		return 0;
	for (i = 0; i < count; i++) {
		int error = waits_take(&pass, &items[i]);

		if (error != 0)
			return error;
	}
	return 0;
}

const char *plimp_system_call_name(const plim_host *host, uint64_t number)
{
	return plimp_syscall_name(host->machine, number);
}
