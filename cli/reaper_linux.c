/*
 * reaper_linux.c - what a command started in the background ends with it.
 *
 * As a child subreaper we inherit the orphans of what we started, so that its
 * descendants come to be our children, however they were detached, as soon as
 * their parents have ended. They are asked to end, and after two seconds made
 * to. Only our own children are signalled, and a child keeps its number until
 * we reap it, which happens nowhere else: no pid can have a new owner. One
 * that forks and ends again and again is caught between two forks: a fork
 * fails once the signal is pending, so rounds follow each other without a
 * pause while they find somebody new.
 */
#include "cmd.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAPER_POLITE_NS UINT64_C(2000000000)
#define REAPER_KILL_NS	 UINT64_C(3000000000)
#define REAPER_PAUSE_NS	 1000000
#define REAPER_KNOWN	 512 /* more at a time are signalled again */

struct reaper {
	struct reaper_account account;
	plim_host *host; /* for a kernel without lists of children */
	plim_host *own;	 /* opened for that */
	int number;	 /* the signal */
	int first;	 /* of the two signals */
	int fresh;	 /* somebody that had not been signalled */
	size_t known_count;
	pid_t known[REAPER_KNOWN];
};

/* The command, which is reaped by who wants its account; and the orphans that
 * have ended meanwhile. */
static pid_t reaper_kept;
static struct reaper_account reaper_swept;

void reaper_start(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static uint64_t reaper_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t reaper_cpu(const struct rusage *usage)
{
	return ((uint64_t)usage->ru_utime.tv_sec +
		(uint64_t)usage->ru_stime.tv_sec) *
		   1000000000u +
	       ((uint64_t)usage->ru_utime.tv_usec +
		(uint64_t)usage->ru_stime.tv_usec) *
		   1000u;
}

void reaper_keep(pid_t pid)
{
	reaper_kept = pid;
}

void reaper_sweep(void)
{
	struct rusage usage;
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		    info.si_pid == 0 || info.si_pid == reaper_kept ||
		    wait4(info.si_pid, NULL, WNOHANG, &usage) != info.si_pid)
			return;
		reaper_swept.reaped++;
		reaper_swept.cpu_ns += reaper_cpu(&usage);
	}
}

/* Forgets the pid: its number may be given out again from now on. */
static void reaper_forget(struct reaper *reaper, pid_t pid)
{
	size_t i;

	for (i = 0; i < reaper->known_count; i++)
		if (reaper->known[i] == pid) {
			reaper->known[i] = reaper->known[--reaper->known_count];
			return;
		}
}

/* 1 while there are children, ended ones reaped. */
static int reaper_reap(struct reaper *reaper)
{
	struct rusage usage;
	pid_t pid;
	int status;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		reaper_forget(reaper, pid);
		reaper->account.reaped++;
		reaper->account.cpu_ns += reaper_cpu(&usage);
	}
	return pid == 0;
}

/* Signals a child of ours, each once with one signal. */
static void reaper_signal(struct reaper *reaper, pid_t pid)
{
	size_t i;

	for (i = 0; i < reaper->known_count; i++)
		if (reaper->known[i] == pid)
			return;
	if (reaper->known_count < REAPER_KNOWN)
		reaper->known[reaper->known_count++] = pid;
	reaper->fresh = 1;
	if (reaper->first)
		reaper->account.signalled++;
	kill(pid, reaper->number);
}

/*
 * fs/proc/array.c, children_seq_show: our children's pids, each followed by a
 * blank, in reading order of the kernel's list; one that ends meanwhile may
 * hide another, which the next round finds. 0 where there is no such file
 * (CONFIG_PROC_CHILDREN) or no /proc.
 */
static int reaper_list(struct reaper *reaper)
{
	char path[64];
	char text[4096];
	pid_t pid = 0;
	ssize_t size;
	int file;

	snprintf(path, sizeof path, "/proc/self/task/%d/children",
		 (int)getpid());
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	while ((size = read(file, text, sizeof text)) > 0) {
		ssize_t i;

		for (i = 0; i < size; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
			} else if (pid > 0) {
				reaper_signal(reaper, pid);
				pid = 0;
			}
		}
	}
	close(file);
	return 1;
}

/* The same from a pass over every process. */
static void reaper_pass(struct reaper *reaper)
{
	plim_field_set parent = {{0}};
	const plim_snapshot_options take = {.size = sizeof take,
					    .fields = &parent};
	plim_snapshot *snapshot;
	size_t i;

	if (reaper->host == NULL) {
		if (plim_host_open(&reaper->own, NULL, NULL) != PLIM_OK)
			return;
		reaper->host = reaper->own;
	}
	if (plim_snapshot_new(&snapshot, reaper->host, NULL) != PLIM_OK)
		return;
	plim_field_set_add(&parent, PLIM_FIELD_PPID);
	if (plim_snapshot_take(snapshot, &take, NULL) == PLIM_OK)
		for (i = 0; i < plim_snapshot_size(snapshot); i++) {
			const plim_process *process =
			    plim_snapshot_at(snapshot, i);
			plim_count ppid =
			    plim_process_count(process, PLIM_FIELD_PPID);

			if (ppid.state == PLIM_STATE_KNOWN &&
			    ppid.value == (uint64_t)getpid())
				reaper_signal(reaper,
					      (pid_t)plim_process_pid(process));
		}
	plim_snapshot_free(snapshot);
}

/* Rounds with one signal: 1 if there are children left after so long. */
static int reaper_rounds(struct reaper *reaper, int number, uint64_t limit)
{
	const struct timespec pause = {0, REAPER_PAUSE_NS};
	uint64_t begin = reaper_now();

	reaper->number = number;
	reaper->known_count = 0;
	while (reaper_reap(reaper)) {
		if (reaper_now() - begin >= limit)
			return 1;
		if (number == SIGTERM && interrupt_lost)
			return 1;
		reaper->fresh = 0;
		if (!reaper_list(reaper))
			reaper_pass(reaper);
		if (!reaper->fresh || number == SIGTERM)
			nanosleep(&pause, NULL);
	}
	return 0;
}

static struct reaper_account reaper_run(plim_host *host, int polite)
{
	struct reaper reaper = {.account = reaper_swept, .host = host};

	memset(&reaper_swept, 0, sizeof reaper_swept);

	reaper.first = 1;
	reaper.account.left =
	    !polite || reaper_rounds(&reaper, SIGTERM, REAPER_POLITE_NS);
	if (reaper.account.left) {
		reaper.first = !polite;
		reaper.account.left =
		    reaper_rounds(&reaper, SIGKILL, REAPER_KILL_NS);
	}
	plim_host_close(reaper.own);
	return reaper.account;
}

void reaper_kill(void)
{
	if (reaper_run(NULL, 0).left)
		fail_usage("something that was started does not end");
}

struct reaper_account reaper_end_all(plim_host *host)
{
	return reaper_run(host, !interrupt_lost);
}

/* The command itself is reaped by then; plim has no other children, except a
 * helper that reads command lines, which no report starts. */
void reaper_end(plim_host *host)
{
	reaper_end_all(host);
}
