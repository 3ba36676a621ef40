/*
 * step.c - the tracer. PTRACE_O_EXITKILL ends the program with the test,
 * however that ends. Signals that were on their way are delivered, so that
 * handlers are stepped into.
 */
#include "step.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Starts in a row that end before the first stop, on a loaded machine. */
#define STEP_EMPTY 200

uint32_t step_random(uint32_t *state)
{
	uint32_t x = *state != 0 ? *state : 0x9e3779b9u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

static const struct step_page *step_page(struct step_memory *memory,
					 uint64_t address)
{
	size_t place = (size_t)(address >> 12) % STEP_PAGES;
	struct step_page *page = &memory->pages[place];
	ssize_t got;

	if (page->stop == memory->stop && page->address == address)
		return page;
	got = pread(memory->descriptor, page->bytes, sizeof(page->bytes),
		    (off_t)address);
	page->address = address;
	page->stop = memory->stop;
	page->is_there = got == (ssize_t)sizeof(page->bytes);
	return page;
}

int step_read(struct step_memory *memory, uint64_t address, void *bytes,
	      size_t size)
{
	unsigned char *to = bytes;

	if ((address >> 47) != 0)
		return -1;
	while (size > 0) {
		size_t inside = (size_t)(address & 4095);
		size_t part = 4096 - inside < size ? 4096 - inside : size;
		const struct step_page *page =
		    step_page(memory, address - inside);

		if (!page->is_there)
			return -1;
		memcpy(to, page->bytes + inside, part);
		to += part;
		address += part;
		size -= part;
	}
	return 0;
}

static double step_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What the child does before it is the program. */
static void step_become(const struct step_plan *plan, int go)
{
	int in =
	    open(plan->input != NULL ? plan->input : "/dev/null", O_RDONLY);
	int out = open("/dev/null", O_WRONLY);
	struct rlimit none = {0, 0};
	char byte;

	sigset_t nothing;

	sigemptyset(&nothing);
	sigprocmask(SIG_SETMASK, &nothing, NULL);
	setrlimit(RLIMIT_CORE, &none);
	if (in < 0 || out < 0 || read(go, &byte, 1) != 1)
		_exit(126);
	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	execvp(plan->argv[0], (char *const *)plan->argv);
	_exit(127);
}

/* Waits for a stop: 0 and the signal to deliver, or -1 once it has ended. */
static int step_wait(pid_t pid, int *signal)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return -1;
	*signal = WSTOPSIG(status);
	if (*signal == SIGTRAP || (status >> 16) == PTRACE_EVENT_STOP)
		*signal = 0;
	return 0;
}

static pid_t step_start(const struct step_plan *plan)
{
	int go[2];
	int signal;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		step_become(plan, go[0]);
	}
	close(go[0]);
	if (pid < 0) {
		close(go[1]);
		return -1;
	}
	if (ptrace(PTRACE_SEIZE, pid, 0,
		   PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) != 0 ||
	    write(go[1], "", 1) != 1 || step_wait(pid, &signal) != 0) {
		close(go[1]);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
		return -1;
	}
	close(go[1]);
	return pid;
}

static void step_end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) == pid)
		;
}

/* The next stop, waited for until then at most: 1, 0 when the time is up, or
 * -1 once it has ended. A signal tells us of it, which is blocked meanwhile. */
static int step_wait_until(pid_t pid, double until, int *status)
{
	sigset_t child;
	double rest;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		pid_t got = waitpid(pid, status, __WALL | WNOHANG);
		struct timespec time;

		if (got == pid)
			return WIFSTOPPED(*status) ? 1 : -1;
		rest = until - step_now();
		if (got < 0 || rest <= 0)
			return got < 0 ? -1 : 0;
		time.tv_sec = (time_t)rest;
		time.tv_nsec = (long)((rest - (double)time.tv_sec) * 1e9);
		sigtimedwait(&child, NULL, &time);
	}
}

/* Lets it run for a while and stops it: 0, or -1 once it has ended. Signals
 * are handed on as they come: one that waited for us would always be what it
 * is stopped in. */
static int step_run(pid_t pid, unsigned us)
{
	double until = step_now() + us / 1e6;
	int is_asked = 0;
	int status;

	if (ptrace(PTRACE_CONT, pid, 0, 0) != 0)
		return -1;
	for (;;) {
		int got = step_wait_until(pid, is_asked ? until + 30 : until,
					  &status);
		int signal;

		if (got < 0 || (got == 0 && is_asked))
			return -1;
		if (got == 0) {
			is_asked = 1;
			ptrace(PTRACE_INTERRUPT, pid, 0, 0);
			continue;
		}
		if ((status >> 16) == PTRACE_EVENT_STOP && is_asked)
			return 0;
		signal = WSTOPSIG(status) == SIGTRAP ||
				 (status >> 16) == PTRACE_EVENT_STOP
			     ? 0
			     : WSTOPSIG(status);
		if (ptrace(PTRACE_CONT, pid, 0, signal) != 0)
			return -1;
	}
}

struct step_trial {
	const struct step_plan *plan;
	struct step_done *done;
	step_fn *function;
	void *user;
	struct step_memory memory;
	uint32_t random;
	double deadline;
	int is_over;
};

static int step_is_enough(const struct step_trial *trial)
{
	return trial->is_over || trial->done->stops >= trial->plan->stops ||
	       step_now() > trial->deadline;
}

/* 1 if the next instruction enters the kernel, which may map something. */
static int step_is_call(struct step_trial *trial, const struct step_stop *stop)
{
	unsigned char code[2];

	return step_read(&trial->memory, stop->registers.rip, code, 2) != 0 ||
	       (code[0] == 0x0f && code[1] == 0x05);
}

static int step_burst(struct step_trial *trial, struct step_stop *stop)
{
	unsigned steps = 20 + step_random(&trial->random) % 21;
	int signal = 0;
	int is_call;

	stop->may_have_mapped = 1;
	trial->done->bursts++;
	while (steps-- > 0 && !step_is_enough(trial)) {
		trial->memory.stop++;
		if (ptrace(PTRACE_GETREGS, stop->pid, 0, &stop->registers) != 0)
			return -1;
		trial->done->stops++;
		if (trial->function(trial->user, stop) != 0)
			trial->is_over = 1;
		is_call = step_is_call(trial, stop);
		if (ptrace(PTRACE_SINGLESTEP, stop->pid, 0, signal) != 0 ||
		    step_wait(stop->pid, &signal) != 0)
			return -1;
		stop->may_have_mapped = is_call;
		stop->is_new_program = 0;
	}
	return 0;
}

/* One process, until it ends or there is enough of it. */
static int step_process(struct step_trial *trial)
{
	struct step_stop stop = {.memory = &trial->memory, .is_new_program = 1};
	unsigned us = trial->plan->skip_us;
	char path[64];
	int has_ended = 0;

	stop.pid = step_start(trial->plan);
	if (stop.pid < 0)
		return -1;
	trial->done->starts++;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)stop.pid);
	trial->memory.descriptor = open(path, O_RDONLY | O_CLOEXEC);
	while (!has_ended && !step_is_enough(trial)) {
		us += 50 +
		      step_random(&trial->random) % (trial->plan->run_us + 1);
		has_ended = step_run(stop.pid, us) != 0 ||
			    step_burst(trial, &stop) != 0;
		us = 0;
	}
	step_end(stop.pid);
	close(trial->memory.descriptor);
	return 0;
}

int step_program(const struct step_plan *plan, step_fn *function, void *user,
		 struct step_done *done)
{
	struct step_trial trial = {.plan = plan,
				   .done = done,
				   .function = function,
				   .user = user,
				   .random = plan->seed,
				   .deadline = step_now() + plan->seconds};
	size_t before;
	size_t empty = 0;

	sigset_t child;
	sigset_t old;

	*done = (struct step_done){0};
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &old);
	trial.memory.pages = calloc(STEP_PAGES, sizeof(struct step_page));
	if (trial.memory.pages == NULL)
		done->trouble = "no memory";
	while (done->trouble == NULL && !step_is_enough(&trial)) {
		before = done->stops;
		if (step_process(&trial) != 0)
			done->trouble = "it could not be started and traced";
		else if (done->stops > before)
			empty = 0;
		else if (++empty == STEP_EMPTY && !step_is_enough(&trial))
			done->trouble = "it ends before it is stopped";
	}
	free(trial.memory.pages);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return done->trouble == NULL ? 0 : -1;
}
