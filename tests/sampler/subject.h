/*
 * subject.h - a process to be sampled, which is a fork of the test: what it
 * does is told in memory that both share, so that the truth needs no asking.
 */
#ifndef TESTS_SAMPLER_SUBJECT_H
#define TESTS_SAMPLER_SUBJECT_H

#include "host/sampler.h"

#include "common.h"

#include <stdatomic.h>

#define POSTURES      10
#define SUBJECT_MOST  48   /* that run */
#define SUBJECT_WORDS 4096 /* 32 KiB, more than is copied at first */
#define SUBJECT_WORD  UINT64_C(0x706f737475000000)

/* A thread that waits in one system call, by the instruction itself. */
struct posture {
	long number;
	long arguments[6];
	uint64_t sp;	/* there */
	uint64_t pc;	/* behind the instruction */
	uint64_t words; /* SUBJECT_WORDS on its stack: SUBJECT_WORD + i */
	_Atomic int tid;
};

struct subject {
	pid_t pid;
	/* What the process writes. */
	struct posture postures[POSTURES];
	_Atomic int busy_tid[SUBJECT_MOST];
	_Atomic uint64_t turns; /* of those that run */
	uint64_t code_start;	/* what runs lies here */
	uint64_t code_end;
	_Atomic uint64_t signals; /* handled */
	_Atomic int child;	  /* its last child */
	_Atomic int failed;	  /* a line */
	_Atomic int known_busy;	  /* `busy` as it was last looked at */
	/* What the test writes; the process looks each millisecond. */
	_Atomic int busy;      /* so many threads are to run */
	_Atomic int depth;     /* calls of 512 bytes each, of those to come */
	_Atomic int rest_from; /* those of these ranks sleep before they run: */
	_Atomic int rest_end;
	_Atomic int rest_turn;
	_Atomic int nest; /* the first one starts another before it runs, */
	_Atomic int nested_tid; /* which runs as long */
	_Atomic int forks;	/* so many children are to run and to end */
	_Atomic int execs;
};

/* Forks it: with `postures`, threads that wait. Ends with the test. */
struct subject *subject_start(int postures);
void subject_end(struct subject *subject);

/* Sets how many threads run, and waits until they do. */
void subject_busy(struct subject *subject, int count);

/* Threads that are started from now on sleep if their rank is one of those;
 * who slept and is none of them any more runs. */
void subject_rest(struct subject *subject, int from, int end);

/* Waits until it is so, or fails the test after 10 s. */
void subject_wait(_Atomic int *what, int value);

/* "voluntary + involuntary" switches, and CPU time in ns, of one thread. */
uint64_t thread_switches(pid_t pid, int tid);
uint64_t thread_cpu(pid_t pid, int tid);
char thread_state(pid_t pid, int tid);

/* All that a sampler takes. */
struct rig {
	plim_host *host;
	plim_target *target;
	struct plimp_lens *lens;
	struct plimp_sampler *sampler;
};
void rig_open(struct rig *rig, pid_t pid, uint32_t flags, uint64_t period_ns);
void rig_close(struct rig *rig);
/* Ticks every so many ms, for so many ms. */
void rig_run(struct rig *rig, plimp_capture_fn *callback, void *user,
	     unsigned every_ms, unsigned for_ms);
/* The same until a thread has used so much CPU time: however loaded the
 * machine is. */
void rig_run_cpu(struct rig *rig, plimp_capture_fn *callback, void *user,
		 pid_t pid, int tid, unsigned cpu_ms);

#endif
