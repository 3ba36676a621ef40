/*
 * helper.c - the one process that this library starts: it reads a file that
 * can block, so that the caller need not.
 *
 * /proc/PID/cmdline is read through the memory of its process, under that
 * process's memory lock, and the lock may be held for seconds. The wait ends
 * on a fatal signal only; so a helper waits, and is killed at the deadline.
 *
 * The helper is made by clone(CLONE_VM), not by fork: no page of the caller is
 * copied or shared behind its back, however large it is, no atfork handler
 * runs, and no SIGCHLD is sent. It has a stack of its own and a copy of the
 * descriptor table, of which it keeps its socket alone. It shares the caller's
 * memory, its errno too, so its code touches nothing but that stack and enters
 * the kernel by itself (raw.h), not through the C library. When the caller
 * ends the socket does, and then the helper.
 *
 * Requests are one byte with a descriptor of the process's directory, so that
 * a pid that is used again cannot answer. The answer is pieces, each behind
 * its size; the last has the size 0 and is followed by an error number.
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
#include <string.h>
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
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Everything that the helper uses lies at the foot of its own stack. */
struct helper_frame {
	int socket;
	struct {
		uint32_t size;
		char data[HELPER_PIECE];
	} piece;
	struct iovec part;
	struct msghdr message;
	char byte;
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
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

/* Receives a directory: its descriptor, or a negative error number. */
HELPER_BARE static int helper_receive(struct helper_frame *frame)
{
	struct msghdr *message = &frame->message;
	const struct cmsghdr *header = &frame->control.header;
	long count;

	frame->part.iov_base = &frame->byte;
	frame->part.iov_len = 1;
	message->msg_name = NULL;
	message->msg_namelen = 0;
	message->msg_iov = &frame->part;
	message->msg_iovlen = 1;
	message->msg_control = &frame->control;
	message->msg_controllen = sizeof frame->control;
	message->msg_flags = 0;
	do {
		count = plimp_raw3(SYS_recvmsg, frame->socket, (long)message,
				   MSG_CMSG_CLOEXEC);
	} while (count == -EINTR);
	if (count <= 0)
		plimp_raw1(SYS_exit, 0);
	if (message->msg_controllen < CMSG_LEN(sizeof(int)) ||
	    header->cmsg_type != SCM_RIGHTS)
		return -EMFILE;
	return *(const int *)(const void *)CMSG_DATA(header);
}

HELPER_BARE static int helper_copy(struct helper_frame *frame, int directory)
{
	long file = plimp_raw4(SYS_openat, directory, (long)"cmdline",
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
	plimp_raw1(SYS_close, file);
	return (int)-count;
}

HELPER_BARE static int helper_main(void *argument)
{
	struct helper_frame *frame = argument;
	unsigned long all = ~0ul;

	plimp_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof all);
	if (frame->socket > 0)
		plimp_raw3(SYS_close_range, 0, frame->socket - 1, 0);
	plimp_raw3(SYS_close_range, frame->socket + 1, (long)~0u, 0);
	for (;;) {
		int directory = helper_receive(frame);
		int error =
		    directory < 0 ? -directory : helper_copy(frame, directory);

		if (directory >= 0)
			plimp_raw1(SYS_close, directory);
		frame->piece.size = 0;
		frame->piece.data[0] = (char)error;
		helper_send(frame, (long)sizeof frame->piece.size + 1);
	}
	return 0;
}

/* Reaps the killed helper, within a second: a fatal signal ends every wait
 * that is known here. 0 if it stays; then its stack is left to it. */
static int helper_reap(plim_host *host, const struct plimp_helper *helper)
{
	const struct timespec pause = {0, 1000000};
	int status;
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		host->bill.system_calls++;
		if (waitpid(helper->pid, &status, __WALL | WNOHANG) != 0 &&
		    errno != EINTR)
			return 1;
		host->bill.system_calls++;
		nanosleep(&pause, NULL);
	}
	return 0;
}

void plimp_helper_stop(plim_host *host)
{
	struct plimp_helper *helper = &host->system->helper;
	int saved = errno;

	if (helper->socket < 0)
		return;
	plimp_call_close(host, helper->socket);
	host->bill.system_calls++;
	if (helper->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, helper->pidfd, SIGKILL, NULL, 0);
	else
		kill(helper->pid, SIGKILL); /* a child: its pid is its own */
	if (helper_reap(host, helper))
		plimp_release(&host->allocator, helper->stack, HELPER_STACK, 1);
	plimp_call_close(host, helper->pidfd);
	helper->socket = -1;
	helper->pidfd = -1;
	helper->stack = NULL;
	errno = saved;
}

/* Runs the helper on `stack`: its pid, or -1. */
static int helper_clone(plim_host *host, char *stack, int socket)
{
	struct helper_frame *frame = (struct helper_frame *)(void *)stack;
	int flags = (PLIMP_RAW_SHARED ? CLONE_VM : 0) |
		    (host->system->has_pidfd ? CLONE_PIDFD : 0);

	frame->socket = socket;
	host->bill.system_calls++;
	return clone(helper_main, stack + HELPER_STACK, flags, frame,
		     &host->system->helper.pidfd);
}

int plimp_helper_start(plim_host *host, plim_error *error)
{
	struct plimp_helper *helper = &host->system->helper;
	int pair[2];
	int problem;

	if (helper->socket >= 0)
		return PLIM_OK;
	helper->stack = plimp_allocate(&host->allocator, HELPER_STACK, 1);
	if (helper->stack == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "start helper", NULL,
				  NULL);
	host->bill.system_calls++;
	problem = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		problem = errno;
		goto release_stack;
	}
	helper->pid = helper_clone(host, helper->stack, pair[1]);
	if (helper->pid < 0) {
		problem = errno;
		goto close_pair;
	}
	plimp_call_close(host, pair[1]);
	helper->socket = pair[0];
	return PLIM_OK;

close_pair:
	plimp_call_close(host, pair[0]);
	plimp_call_close(host, pair[1]);
release_stack:
	plimp_release(&host->allocator, helper->stack, HELPER_STACK, 1);
	helper->stack = NULL;
	helper->pidfd = -1; /* a clone that fails may have stored one */
	return plimp_fail(error, PLIM_ESYSTEM, problem, "start helper", NULL,
			  NULL);
}

/* Hands it a directory; 0 or the error. */
int plimp_helper_ask(plim_host *host, int directory)
{
	char byte = 0;
	struct iovec part = {&byte, 1};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {
	    .msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof control,
	};

	memset(&control, 0, sizeof control);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &directory, sizeof directory);
	host->bill.system_calls++;
	return sendmsg(host->system->helper.socket, &message, MSG_NOSIGNAL) == 1
		   ? 0
		   : errno;
}

/* Receives `size` bytes before the deadline: 0, ETIMEDOUT, or EPIPE where the
 * helper is no more. */
static int helper_take(plim_host *host, void *buffer, size_t size,
		       uint64_t deadline)
{
	struct pollfd entry = {host->system->helper.socket, POLLIN, 0};
	char *at = buffer;

	while (size > 0) {
		uint64_t now = plimp_system_now().monotonic.ns;
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
