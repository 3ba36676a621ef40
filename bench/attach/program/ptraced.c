/*
 * ptraced.c PID HZ SECONDS - how a profiler samples that stops its target:
 * each thread is seized, and at each tick interrupted, its registers and
 * 16 KiB of its stack are read, and it goes on. Nothing is unwound or kept:
 * this is what the target feels, and no more. Prints what it did.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#define THREADS 1024

static pid_t tids[THREADS];
static size_t tid_count;
static volatile sig_atomic_t is_over;
static char stack[16384];

static void over(int number)
{
	(void)number;
	is_over = 1;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void seize(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && tid_count < THREADS &&
		    ptrace(PTRACE_SEIZE, tid, 0, 0) == 0)
			tids[tid_count++] = tid;
	}
	if (folder != NULL)
		closedir(folder);
}

static int sample(pid_t tid)
{
	struct user_regs_struct registers;
	struct iovec here = {stack, sizeof(stack)};
	struct iovec there;
	int status;
	int is_stop;

	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) != 0 ||
	    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		return -1;
	is_stop = status >> 16 == PTRACE_EVENT_STOP;
	if (ptrace(PTRACE_GETREGS, tid, 0, &registers) == 0) {
		there.iov_base = (void *)(uintptr_t)(registers.rsp - 128);
		there.iov_len = sizeof(stack);
		(void)!process_vm_readv(tid, &here, 1, &there, 1, 0);
	}
	return (int)ptrace(PTRACE_CONT, tid, 0, is_stop ? 0 : WSTOPSIG(status));
}

int main(int count, char **words)
{
	uint64_t period;
	uint64_t next;
	uint64_t samples = 0;
	uint64_t end;
	size_t i;

	if (count != 4)
		return 2;
	signal(SIGTERM, over);
	signal(SIGINT, over);
	period = 1000000000 / (uint64_t)atoi(words[2]);
	seize(atoi(words[1]));
	next = now_ns();
	end = next + (uint64_t)(atof(words[3]) * 1e9);
	while (!is_over && now_ns() < end && tid_count > 0) {
		struct timespec until;

		next += period;
		if (next < now_ns())
			next = now_ns();
		until.tv_sec = (time_t)(next / 1000000000);
		until.tv_nsec = (long)(next % 1000000000);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		for (i = 0; i < tid_count; i++)
			samples += sample(tids[i]) == 0;
	}
	printf("threads %zu samples %llu\n", tid_count,
	       (unsigned long long)samples);
	for (i = 0; i < tid_count; i++) {
		ptrace(PTRACE_INTERRUPT, tids[i], 0, 0);
		waitpid(tids[i], NULL, __WALL);
		ptrace(PTRACE_DETACH, tids[i], 0, 0);
	}
	return 0;
}
