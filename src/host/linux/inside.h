/*
 * inside.h - what the session thread and the signal handler of a session inside
 * a process share (docs/design/inside.md).
 *
 * A slot is one thread's. The handler, which runs in that thread, writes to the
 * slot's ring; the session thread reads it. All that the handler reads besides
 * was published before the thread's event was opened, or is one word that is
 * written at once. Nothing here moves or goes while a handler runs.
 */
#ifndef PLIMP_LINUX_INSIDE_H
#define PLIMP_LINUX_INSIDE_H

#include "host/linux/sampler.h"

#include <signal.h>
#include <stdatomic.h>

/* The signal, whose default is to be ignored. */
#define PLIMP_INSIDE_SIGNAL SIGURG

/* What sends it to a thread: the better one is the lower one. */
enum plimp_inside_way {
	PLIMP_INSIDE_EVENTS = 1, /* perf events of its CPU time */
	PLIMP_INSIDE_TIMERS = 2, /* a timer of its CPU time */
	PLIMP_INSIDE_TICKS = 3,	 /* the session thread, while it runs */
	/* The same, asleep or not, and it is held while its stack is copied:
	 * on request alone, to compare with. */
	PLIMP_INSIDE_SUSPENDS = 4
};

/* The two lowest bits of plimp_inside_slot.hold; a number lies above them, so
 * that a handler which is late finds that it is not meant any more. */
enum plimp_inside_hold {
	PLIMP_HOLD_ASKED = 1,
	PLIMP_HOLD_HELD = 2,
	PLIMP_HOLD_OVER = 3
};
#define PLIMP_HOLD_NS UINT64_C(250000000) /* no longer, whoever waits */

/* The upper half of the value that a timer's signal carries; the lower one is
 * the slot. */
#define PLIMP_INSIDE_MAGIC UINT64_C(0x706c696d)
/* pid_max is 2^22 at most (PID_MAX_LIMIT in include/linux/threads.h). */
#define PLIMP_INSIDE_TIDS ((size_t)1 << 22)

#define PLIMP_INSIDE_DEPTH 1024u /* addresses of one sample */
#define PLIMP_INSIDE_COPY  16384u

/* A sample in a ring: time, CPU time of the thread, count and end, addresses.
 * A first word of all ones says that the next one is at the ring's beginning.
 */
#define PLIMP_INSIDE_TIME  0u
#define PLIMP_INSIDE_CPU   1u
#define PLIMP_INSIDE_COUNT 2u /* and the end, from bit 32 on */
#define PLIMP_INSIDE_HEAD  3u
#define PLIMP_INSIDE_PAD   UINT64_MAX

struct plimp_inside_slot {
	_Atomic int32_t tid;	/* 0: nobody's */
	_Atomic uint32_t users; /* handlers that are in it */
	/* The thread's own stack; `high` is 0 until it is known, `low` may
	 * become less later. */
	_Atomic uint64_t low;
	_Atomic uint64_t high;
	/* The handler found it outside of that: stack and thread pointer. */
	_Atomic uint64_t strange_stack;
	_Atomic uint64_t strange_thread;
	_Atomic uint64_t alternate; /* size of an alternate stack that is small
				     */
	_Atomic uint64_t head;	    /* words written, ever */
	_Atomic uint64_t tail;	    /* words read */
	_Atomic uint64_t dropped;   /* periods whose samples found no room */
	_Atomic uint64_t overruns;  /* periods beyond one of each sample */
	_Atomic uint64_t disturbed; /* system calls that failed by EINTR */
	_Atomic uint32_t asked;	    /* TICKS: a signal is on the way */
	_Atomic uint64_t taken;
	_Atomic uint64_t inside_ns;	  /* time in the handler, in all */
	_Atomic uint64_t longest_ns;	  /* since it was last read */
	_Atomic uint32_t hold;		  /* SUSPENDS: a futex */
	struct plimp_registers registers; /* of the thread, while it is held */
	uint64_t *words;		  /* inside->word_count */
	unsigned char *copy;		  /* PLIMP_INSIDE_COPY */
	uint32_t next;			  /* that is free, + 1 */
};

struct plimp_inside {
	plimp_walk_fn *walk;
	void *walk_user;
	int memory;	   /* /proc/self/mem; -1: not to be had */
	size_t word_count; /* of a ring; a power of 2 */
	struct plimp_inside_slot *slots;
	size_t slot_limit;
	_Atomic uint32_t *slot_of; /* by descriptor: slot + 1 */
	size_t descriptor_limit;
	/* By tid: slot + 1, of those that TICKS asks. A signal may come without
	 * what it was sent with, where the user's limit of them is reached. */
	_Atomic uint32_t *slot_of_tid;

	/* The session thread's alone. */
	size_t slot_count;	 /* that were ever used */
	uint32_t free;		 /* the first slot that is nobody's, + 1 */
	struct sigaction before; /* what the signal did */
	int is_installed;
	int way;	   /* enum plimp_inside_way, of most threads */
	uint32_t by_timer; /* threads that ever had such a way, beside */
	uint32_t by_tick;
	int is_lost; /* the handler was replaced */
	int strange; /* somebody asks for his stack */
};

/* inside_handler.c. A handler sees what was published, or NULL. */
void plimp_inside_publish(struct plimp_inside *inside);
/* 1: no handler runs that may have seen something else. */
int plimp_inside_is_quiet(void);
/* The handlers of a parent are none of ours. */
void plimp_inside_forked(void);
void plimp_inside_handle(int number, siginfo_t *info, void *context);

/* inside.c: by this way or a lower one: 0, or the error; then the sampler has
 * none. */
int plimp_inside_begin(struct plimp_sampler *sampler, int way);
void plimp_inside_end(struct plimp_sampler *sampler);
/* 0, or the error. */
int plimp_inside_arm(struct plimp_sampler *sampler,
		     struct plimp_sampled *thread);
void plimp_inside_disarm(struct plimp_sampler *sampler,
			 struct plimp_sampled *thread);
/* CPU time counts from now on. */
void plimp_inside_base(struct plimp_sampler *sampler);
void plimp_inside_halt(struct plimp_sampler *sampler);
void plimp_inside_period(struct plimp_sampler *sampler);
/* What the thread's slot has; without a callback it is thrown away. */
void plimp_inside_take(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread);
/* Words that its handlers have written, ever. */
uint64_t plimp_inside_written(const struct plimp_sampler *sampler,
			      const struct plimp_sampled *thread);
void plimp_inside_drain(struct plimp_sampler *sampler);
/* Is the handler still ours? Else signals end. */
void plimp_inside_check(struct plimp_sampler *sampler);
/* A signal that waits for a thread which blocks it is taken back, so that it
 * never finds one of ours. */
void plimp_inside_unqueue(struct plimp_sampler *sampler,
			  struct plimp_sampled *thread);
/* CPU time of a thread of this process; 0: it has ended. */
uint64_t plimp_inside_cpu(struct plimp_sampler *sampler, int32_t tid);
/* The masks of a thread: 0, or the error. */
struct plimp_signal_masks;
int plimp_inside_masks(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread,
		       struct plimp_signal_masks *masks);

/* inside_timers.c: 1 where timers can be had; the tiers say why not. */
int plimp_timers_begin(struct plimp_sampler *sampler);
/* Of a thread, whose slot is known: 0, or the error. */
int plimp_timer_start(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread);
/* 0: it fires no more. */
void plimp_timer_set(struct plimp_sampler *sampler,
		     const struct plimp_sampled *thread, uint64_t period_ns);
void plimp_timer_stop(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread);
/* It has an alternate stack that has no room for us, as its handler has seen.
 */
int plimp_inside_is_crowded(const struct plimp_sampler *sampler,
			    const struct plimp_sampled *thread);

/* inside_ticks.c: 1 where signals can be sent; the tiers say why not. */
int plimp_ticks_begin(struct plimp_sampler *sampler);
/* Signals who runs. */
void plimp_ticks_pass(struct plimp_sampler *sampler);
/* 0, or the error. */
int plimp_ticks_signal(struct plimp_sampler *sampler, int32_t tid, int number);
/* Looks at a thread that runs, none of which has found that it blocks the
 * signal, after which it is believed. */
#define PLIMP_TICKS_OPEN 3
/* It runs, it seems: is it safe to signal it? `cpu` is its clock of a moment
 * ago. */
int plimp_ticks_may(struct plimp_sampler *sampler,
		    struct plimp_sampled_process *process,
		    struct plimp_sampled *thread, uint64_t cpu);
/* By its mask, does it let the signal through? Who does not is not covered
 * meanwhile, and what it uses then, since `before_ns`, is no sample's. */
int plimp_ticks_hears(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread,
		      const struct plimp_signal_masks *masks,
		      uint64_t before_ns);

/* inside_suspend.c: 1 where it can be done; the tiers say why not. */
int plimp_suspends_begin(struct plimp_sampler *sampler);
/* Holds one thread after the other, and hands out what it was at. */
void plimp_suspends_pass(struct plimp_sampler *sampler);
/* Does it sample so? */
int plimp_suspends(const struct plimp_sampler *sampler);

#endif
