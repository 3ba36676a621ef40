/*
 * cell.c - keeping a cell: a copy of this process that is made by clone()
 * without CLONE_VM, so that what happens to its memory happens to the copy.
 *
 * It is not made by fork(): no atfork handler of the application runs, and the
 * exit signal is 0, so that neither SIGCHLD nor a wait for any child tells of
 * it. The price is that a lock which another thread holds in that moment, that
 * of malloc's arena above all, is never released in the copy; then it does not
 * answer, and the deadline ends it. The pages of the caller are shared until
 * written, as after a fork. A cell holds no descriptor of the caller but the
 * socket and the files that it was given (cell_inside.c).
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/cell.h"
#include "host/linux/lens.h"
#include "host/linux/system.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Room for libraries that were written for a thread's stack. The copy has its
 * own copy of it, so that it is given back as soon as that was made. */
#define CELL_STACK 1048576u

struct plimp_cell {
	plim_host *host;
	int socket;
	int pidfd; /* -1: none */
	int pid;
};

struct cell_birth {
	struct plimp_cell_inside inside;
	const struct plimp_cell_limits *limits;
	plimp_cell_fn *run;
	void *user;
};

/* Neither returns nor exits through the C library: what the application has
 * registered for its end is not for the copy to do. */
static int cell_main(void *argument)
{
	const struct cell_birth *birth = argument;

	if (plimp_cell_shut(&birth->inside, birth->limits) == 0)
		birth->run(&birth->inside, birth->user);
	syscall(SYS_exit_group, 0);
	return 0;
}

/* All signals are blocked in the copy from its birth on, until its own
 * dispositions are the default's: a handler of the caller never runs there. */
static int cell_clone(struct plimp_cell *cell, char *stack,
		      struct cell_birth *birth)
{
	int flags = cell->host->system->has_pidfd ? PLIMP_CLONE_PIDFD : 0;
	const uint64_t all = UINT64_MAX;
	uint64_t before;
	int problem;

	cell->host->bill.system_calls += 3;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
	cell->pid =
	    clone(cell_main, stack + CELL_STACK, flags, birth, &cell->pidfd);
	problem = cell->pid < 0 ? errno : 0;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
	if (cell->pid < 0)
		cell->pidfd = -1; /* it may have stored one */
	return problem;
}

static int cell_begin(struct plimp_cell *cell, struct cell_birth *birth)
{
	plim_host *host = cell->host;
	char *stack;
	int pair[2];
	int problem;

	host->bill.system_calls++;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return errno;
	stack = plimp_allocate(&host->allocator, CELL_STACK, 1);
	birth->inside.socket = pair[1];
	cell->socket = pair[0];
	problem = stack == NULL ? ENOMEM : cell_clone(cell, stack, birth);
	plimp_release(&host->allocator, stack, CELL_STACK, 1);
	plimp_call_close(host, pair[1]);
	if (problem != 0)
		plimp_call_close(host, pair[0]);
	return problem;
}

int plimp_system_cell_start(plim_host *host, plimp_cell_fn *run, void *user,
			    const struct plimp_file *const *files, size_t count,
			    const struct plimp_cell_limits *limits,
			    struct plimp_cell **cell, plim_error *error)
{
	struct cell_birth birth = {{-1, {-1, -1}}, limits, run, user};
	struct plimp_cell *made;
	int problem;
	size_t i;

	assert(count <= PLIMP_CELL_FILES);
	for (i = 0; i < count; i++)
		if (files[i] != NULL)
			birth.inside.files[i] = plimp_file_descriptor(files[i]);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "start cell", NULL,
				  NULL);
	made->host = host;
	made->pidfd = -1;
	problem = cell_begin(made, &birth);
	if (problem == 0) {
		*cell = made;
		return PLIM_OK;
	}
	plimp_release(&host->allocator, made, 1, sizeof *made);
	return plimp_fail(error, problem == ENOMEM ? PLIM_ENOMEM : PLIM_ESYSTEM,
			  problem, "start cell", NULL, NULL);
}

/* Waits until the socket can be read or written: 0 when it is too late. */
static int cell_wait(struct plimp_cell *cell, short what, uint64_t deadline_ns)
{
	struct pollfd entry = {cell->socket, what, 0};

	for (;;) {
		uint64_t now = plimp_system_monotonic();
		struct timespec rest;

		if (now >= deadline_ns)
			return 0;
		rest.tv_sec = (time_t)((deadline_ns - now) / 1000000000u);
		rest.tv_nsec = (long)((deadline_ns - now) % 1000000000u);
		cell->host->bill.system_calls++;
		if (ppoll(&entry, 1, &rest, NULL) > 0)
			return 1;
	}
}

int plimp_system_cell_give(struct plimp_cell *cell, const void *bytes,
			   size_t size, uint64_t deadline_ns)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t count;

		cell->host->bill.system_calls++;
		count =
		    send(cell->socket, at, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (count < 0 && errno == EAGAIN) {
			if (!cell_wait(cell, POLLOUT, deadline_ns))
				return PLIM_ETIMEOUT;
		} else if (count < 0 && errno != EINTR) {
			return PLIM_ESYSTEM;
		} else if (count > 0) {
			at += count;
			size -= (size_t)count;
		}
	}
	return PLIM_OK;
}

int plimp_system_cell_take_some(struct plimp_cell *cell, void *bytes,
				size_t least, size_t most, size_t *taken,
				uint64_t deadline_ns)
{
	char *at = bytes;
	size_t got = 0;

	assert(least <= most);
	while (got < least) {
		ssize_t count;

		cell->host->bill.system_calls++;
		count = recv(cell->socket, at + got, most - got, MSG_DONTWAIT);
		if (count > 0) {
			got += (size_t)count;
			cell->host->bill.bytes_read += (uint64_t)count;
		} else if (count < 0 && errno == EAGAIN) {
			if (!cell_wait(cell, POLLIN, deadline_ns))
				return PLIM_ETIMEOUT;
		} else if (count == 0 || errno != EINTR) {
			return PLIM_ESYSTEM;
		}
	}
	*taken = got;
	return PLIM_OK;
}

int plimp_system_cell_take(struct plimp_cell *cell, void *bytes, size_t size,
			   uint64_t deadline_ns)
{
	size_t taken;

	return plimp_system_cell_take_some(cell, bytes, size, size, &taken,
					   deadline_ns);
}

/* Without a pidfd: by number, if it is still our child, whose number is then
 * nobody else's. */
static void cell_kill(const struct plimp_cell *cell)
{
	siginfo_t info;

	cell->host->bill.system_calls++;
	if (cell->pidfd >= 0 && syscall(PLIMP_SYS_PIDFD_SEND_SIGNAL,
					cell->pidfd, SIGKILL, NULL, 0) == 0)
		return;
	if (waitid(P_PID, (id_t)cell->pid, &info,
		   WEXITED | WNOHANG | WNOWAIT | __WALL) == 0)
		kill(cell->pid, SIGKILL);
}

void plimp_system_cell_stop(struct plimp_cell *cell)
{
	int saved = errno;

	if (cell == NULL)
		return;
	plimp_call_close(cell->host, cell->socket);
	cell_kill(cell);
	/* It waits for nothing that a fatal signal does not end, but a read of
	 * a file system that does not answer; then it is left. */
	(void)plimp_call_reap(cell->host, cell->pid, cell->pidfd);
	plimp_call_close(cell->host, cell->pidfd);
	plimp_release(&cell->host->allocator, cell, 1, sizeof *cell);
	errno = saved;
}
