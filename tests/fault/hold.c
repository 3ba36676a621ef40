/*
 * hold.c - holds the helper that reads command lines (hold.h).
 *
 * The listener of a filter is polled and never waited for: a notice whose
 * process was killed is withdrawn, and asking for it would wait for the next.
 */
#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static int hold_filter(struct sock_filter *code, size_t count, unsigned flags)
{
	struct sock_fprog program = {(unsigned short)count, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
			    &program);
}

static void hold_go(int listener, uint64_t id)
{
	struct seccomp_notif_resp answer = {
	    .id = id,
	    .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
	};

	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static void *hold_run(void *user)
{
	struct hold *hold = user;

	while (!atomic_load(&hold->stop)) {
		struct pollfd wait = {atomic_load(&hold->listener), POLLIN, 0};
		struct seccomp_notif notice;

		/* Without a listener this is a pause. */
		if (poll(&wait, 1, wait.fd >= 0 ? 20 : 1) <= 0)
			continue;
		memset(&notice, 0, sizeof(notice));
		if (ioctl(wait.fd, SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0)
			continue;
		atomic_fetch_add(&hold->calls, 1);
		atomic_store(&hold->kept, notice.id);
		if (hold->function(hold, (pid_t)notice.pid, notice.data.nr) ==
		    HOLD_GO)
			hold_go(wait.fd, notice.id);
	}
	return NULL;
}

void hold_start(struct hold *hold, hold_fn *function, void *user)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 1, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	int listener;

	memset(hold, 0, sizeof(*hold));
	hold->function = function;
	hold->user = user;
	atomic_store(&hold->listener, -1);
	/* The thread comes first, and so without the filter. */
	assert_int_equal(pthread_create(&hold->thread, NULL, hold_run, hold),
			 0);
	listener = hold_filter(code, sizeof(code) / sizeof(code[0]),
			       SECCOMP_FILTER_FLAG_NEW_LISTENER);
	if (listener < 0) {
		hold_end(hold);
		SKIP_BECAUSE("a seccomp filter is refused here");
	}
	atomic_store(&hold->listener, listener);
}

void hold_release(struct hold *hold)
{
	hold_go(atomic_load(&hold->listener), atomic_load(&hold->kept));
}

void hold_end(struct hold *hold)
{
	int listener;

	atomic_store(&hold->stop, 1);
	pthread_join(hold->thread, NULL);
	listener = atomic_exchange(&hold->listener, -1);
	if (listener >= 0)
		close(listener);
}

void hold_refuse(long number, int error)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K,
		     SECCOMP_RET_ERRNO | ((uint32_t)error & 0xffffu)),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	if (hold_filter(code, sizeof(code) / sizeof(code[0]), 0) != 0)
		SKIP_BECAUSE("a seccomp filter is refused here");
}

char hold_state(pid_t pid)
{
	char path[64];
	char text[512];
	const char *at;
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	got = read(file, text, sizeof(text) - 1);
	close(file);
	text[got > 0 ? got : 0] = '\0';
	at = strrchr(text, ')');
	return at != NULL && at[1] == ' ' ? at[2] : 0;
}

int hold_await_state(pid_t pid, char state)
{
	for (int tries = 0; tries < 5000; tries++) {
		if (hold_state(pid) == state)
			return 1;
		child_sleep_ms(1);
	}
	return 0;
}

struct halt halt;

enum hold_answer halt_helper(struct hold *it, pid_t helper, long number)
{
	(void)it;
	if (number != halt.number || !atomic_exchange(&halt.armed, 0))
		return HOLD_GO;
	if (halt.signal != 0) {
		kill(helper, halt.signal);
		atomic_store(&halt.stopped, hold_await_state(helper, 'T'));
	}
	atomic_store(&halt.helper, helper);
	return HOLD_KEEP;
}

void halt_arm(long number, int signal)
{
	halt.number = number;
	halt.signal = signal;
	atomic_store(&halt.helper, 0);
	atomic_store(&halt.stopped, 0);
	atomic_store(&halt.armed, 1);
}
