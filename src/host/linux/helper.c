/*
 * helper.c - the one process that this library starts: it reads a file that
 * can block, so that the caller need not.
 *
 * /proc/PID/cmdline is read through the memory of its process, under that
 * process's memory lock, and the lock may be held for seconds. The wait ends
 * on a fatal signal only; so a helper waits, and is killed at the deadline. It
 * lives for one read: one that stayed would keep the credentials that its
 * caller may drop, the descriptors that its caller may close, and a second
 * line with the caller's whole memory in every list of processes.
 *
 * The helper is made by clone(CLONE_VM), not by fork: no page of the caller is
 * copied or shared behind its back, however large it is, no atfork handler
 * runs, and no SIGCHLD is sent. It has a stack of its own and a copy of the
 * descriptor table, of which it keeps a socket and the directory of the
 * process that is asked, so that a pid that is used again cannot answer. It
 * shares the caller's memory, its errno too, so its code touches nothing but
 * that stack and enters the kernel by itself (raw.h), not through the C
 * library.
 *
 * The answer is pieces, each behind its size; the last has the size 0 and is
 * followed by an error number.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/raw.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELPER_STACK 65536
#define HELPER_PIECE 16384
/* Arguments take at most three quarters of a stack that is at most 8 MiB
 * where it is limited at all (fs/exec.c); more is cut, and told. */
#define HELPER_TEXT_LIMIT (8u << 20)

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

/* Everything that the helper uses lies at the foot of its own stack. */
struct helper_frame {
	int socket;
	int directory;
	struct {
		uint32_t size;
		char data[HELPER_PIECE];
	} piece;
};

#if defined(__clang__)
#define HELPER_BARE                                                            \
	__attribute__((                                                        \
	    noinline, no_sanitize("address", "thread", "undefined", "memory"), \
	    no_stack_protector))
#else
#define HELPER_BARE                                                       \
	__attribute__((noinline, no_sanitize_address, no_sanitize_thread, \
		       no_sanitize_undefined, no_stack_protector))
#endif

/* Sends everything, or ends: there is nobody to answer to. */
HELPER_BARE static void helper_send(struct helper_frame *frame, long size)
{
	const char *at = (const char *)&frame->piece;

	while (size > 0) {
		long sent = plimp_raw6(SYS_sendto, frame->socket, (long)at,
				       size, MSG_NOSIGNAL, 0, 0);

		if (sent <= 0 && sent != -EINTR)
			plimp_raw1(SYS_exit, 0);
		if (sent > 0) {
			at += sent;
			size -= sent;
		}
	}
}

/* Reads and sends: 0, or the error number. */
HELPER_BARE static int helper_copy(struct helper_frame *frame)
{
	long file = plimp_raw4(SYS_openat, frame->directory, (long)"cmdline",
			       O_RDONLY | O_CLOEXEC, 0);
	long count;

	if (file < 0)
		return (int)-file;
	do {
		count = plimp_raw3(SYS_read, file, (long)frame->piece.data,
				   HELPER_PIECE);
		if (count > 0) {
			frame->piece.size = (uint32_t)count;
			helper_send(frame,
				    (long)sizeof frame->piece.size + count);
		}
	} while (count > 0 || count == -EINTR);
	return (int)-count;
}

/* Closes what the caller has open, but for the two. Without close_range
 * (Linux 5.9) they stay open here, for as long as one read takes. */
HELPER_BARE static void helper_close(const struct helper_frame *frame)
{
	long low = frame->socket;
	long high = frame->directory;

	if (low > high) {
		low = frame->directory;
		high = frame->socket;
	}
	if (low > 0)
		plimp_raw3(PLIMP_SYS_CLOSE_RANGE, 0, low - 1, 0);
	if (low + 1 < high)
		plimp_raw3(PLIMP_SYS_CLOSE_RANGE, low + 1, high - 1, 0);
	plimp_raw3(PLIMP_SYS_CLOSE_RANGE, high + 1, (long)~0u, 0);
}

HELPER_BARE static int helper_main(void *argument)
{
	struct helper_frame *frame = argument;
	int error;

	helper_close(frame);
	error = helper_copy(frame);
	frame->piece.size = 0;
	frame->piece.data[0] = (char)error;
	helper_send(frame, (long)sizeof frame->piece.size + 1);
	plimp_raw1(SYS_exit, 0);
	return 0;
}

/*
 * Runs the helper on its stack: its pid, or -1. Every signal is blocked from
 * its birth on: one to the whole process group, as the terminal sends it,
 * would else run the caller's handler there, in the caller's memory. To that
 * end the calling thread blocks them too, for as long as the clone takes; its
 * mask is then as it was. The C library would leave two out.
 */
static int helper_clone(plim_host *host, int socket, int directory)
{
	struct plimp_helper *helper = &host->system->helper;
	struct helper_frame *frame =
	    (struct helper_frame *)(void *)helper->stack;
	int flags = (PLIMP_RAW_SHARED ? CLONE_VM : 0) |
		    (host->system->has_pidfd ? CLONE_PIDFD : 0);
	const uint64_t all = UINT64_MAX;
	uint64_t before;
	int problem;
	int pid;

	frame->socket = socket;
	frame->directory = directory;
	host->bill.system_calls += 3;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
	pid = clone(helper_main, helper->stack + HELPER_STACK, flags, frame,
		    &helper->pidfd);
	problem = errno;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
	errno = problem;
	return pid;
}

static void helper_release_stack(plim_host *host)
{
	plimp_release(&host->allocator, host->system->helper.stack,
		      HELPER_STACK, 1);
	host->system->helper.stack = NULL;
}

int plimp_helper_start(plim_host *host, int directory, plim_error *error)
{
	struct plimp_helper *helper = &host->system->helper;
	int problem = 0;
	int pair[2];

	if (helper->stack == NULL)
		helper->stack =
		    plimp_allocate(&host->allocator, HELPER_STACK, 1);
	if (helper->stack == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "start helper", NULL,
				  NULL);
	host->bill.system_calls++;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		problem = errno;
		helper_release_stack(host);
		return plimp_fail(error, PLIM_ESYSTEM, problem, "start helper",
				  NULL, NULL);
	}
	helper->pidfd = -1;
	helper->pid = helper_clone(host, pair[1], directory);
	if (helper->pid < 0)
		problem = errno;
	plimp_call_close(host, pair[1]);
	if (problem == 0) {
		helper->socket = pair[0];
		return PLIM_OK;
	}
	plimp_call_close(host, pair[0]);
	helper_release_stack(host);
	helper->pidfd = -1; /* a clone that fails may have stored one */
	return plimp_fail(error, PLIM_ESYSTEM, problem, "start helper", NULL,
			  NULL);
}

/* Without a pidfd: by number, if it is still our child, whose number is then
 * nobody else's; a loop over everybody's children may have reaped it. */
static void helper_kill(plim_host *host, const struct plimp_helper *helper)
{
	siginfo_t info;

	host->bill.system_calls++;
	if (waitid(P_PID, (id_t)helper->pid, &info,
		   WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
		return;
	host->bill.system_calls++;
	kill(helper->pid, SIGKILL);
}

void plimp_helper_stop(plim_host *host)
{
	struct plimp_helper *helper = &host->system->helper;
	int saved = errno;

	if (helper->socket < 0)
		return;
	plimp_call_close(host, helper->socket);
	host->bill.system_calls++;
	if (helper->pidfd < 0 || syscall(PLIMP_SYS_PIDFD_SEND_SIGNAL,
					 helper->pidfd, SIGKILL, NULL, 0) != 0)
		helper_kill(host, helper);
	/* One that stays after all keeps its stack. */
	if (!plimp_call_reap(host, helper->pid, helper->pidfd))
		helper->stack = NULL;
	plimp_call_close(host, helper->pidfd);
	helper->socket = -1;
	helper->pidfd = -1;
	errno = saved;
}

void plimp_helper_release(plim_host *host)
{
	struct plimp_helper *helper = &host->system->helper;

	plimp_helper_stop(host);
	helper_release_stack(host);
	plimp_release(&host->allocator, helper->text, helper->text_capacity, 1);
	helper->text = NULL;
}

/* Receives `size` bytes before the deadline: 0, ETIMEDOUT, or EPIPE where the
 * helper is no more. */
static int helper_take(plim_host *host, void *buffer, size_t size,
		       uint64_t deadline)
{
	struct pollfd entry = {host->system->helper.socket, POLLIN, 0};
	char *at = buffer;

	while (size > 0) {
		uint64_t now = plimp_system_monotonic();
		struct timespec rest;
		ssize_t count;

		if (now >= deadline)
			return ETIMEDOUT;
		rest.tv_sec = (time_t)((deadline - now) / 1000000000u);
		rest.tv_nsec = (long)((deadline - now) % 1000000000u);
		host->bill.system_calls++;
		if (ppoll(&entry, 1, &rest, NULL) <= 0)
			continue;
		host->bill.system_calls++;
		count = recv(entry.fd, at, size, MSG_DONTWAIT);
		if (count == 0 ||
		    (count < 0 && errno != EINTR && errno != EAGAIN))
			return EPIPE;
		if (count > 0) {
			at += count;
			size -= (size_t)count;
		}
	}
	return 0;
}

int plimp_helper_answer(plim_host *host, uint64_t deadline, size_t *size)
{
	struct plimp_helper *helper = &host->system->helper;
	unsigned char last;
	uint32_t piece;
	int problem;

	*size = 0;
	for (;;) {
		void *text = helper->text;

		problem = helper_take(host, &piece, sizeof piece, deadline);
		if (problem != 0 || piece == 0)
			break;
		if (piece > HELPER_PIECE)
			return EPIPE;
		if (*size + piece > HELPER_TEXT_LIMIT)
			return E2BIG;
		if (plimp_reserve(&host->allocator, &text,
				  &helper->text_capacity, *size + piece, 4096,
				  1) != PLIM_OK)
			return ENOMEM;
		helper->text = text;
		problem =
		    helper_take(host, helper->text + *size, piece, deadline);
		if (problem != 0)
			break;
		*size += piece;
		host->bill.bytes_read += piece;
	}
	if (problem == 0)
		problem = helper_take(host, &last, 1, deadline);
	return problem != 0 ? problem : last;
}
