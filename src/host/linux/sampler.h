/*
 * sampler.h - what the files of the sampler share.
 *
 * sampler.c opens and closes; sampler_threads.c knows the threads and where
 * they come from; sampler_sources.c chooses by what they are sampled;
 * sampler_events.c opens perf events, sampler_rings.c their rings;
 * sampler_signals.c knows who may get signals; sampler_drain.c takes records
 * out of the rings; sampler_tick.c looks at threads that sleep, sampler_copy.c
 * copies their stacks; sampler_stop.c is the ptrace tier.
 *
 * A thread is covered by events of its own, or by those that it has inherited
 * from the thread that started it: then it has none here, and only records
 * tell of it. Inherited events die with the origin's descriptors, so that
 * those are kept until the end, also when the origin itself has ended.
 */
#ifndef PLIMP_LINUX_SAMPLER_H
#define PLIMP_LINUX_SAMPLER_H

#include "host/linux/lens.h"
#include "host/linux/system.h"
#include "host/sampler.h"

/* How much of a stack is copied at first, how much of one that was deeper
 * before, how much more at a time when it is asked for, and how far. */
#define PLIMP_COPY_SHORT ((size_t)6144)
#define PLIMP_COPY_FIRST ((size_t)12288)
#define PLIMP_COPY_STEP	 ((size_t)32768)
#define PLIMP_COPY_MOST	 ((size_t)8 << 20)
#define PLIMP_COPY_PAGE	 ((size_t)4096)

/* Of the ring of a thread that was let go: what it has is still read. */
enum plimp_ring_over { PLIMP_RING_LEFT = 1, PLIMP_RING_DRAINED = 2 };

struct plimp_sampling_ring {
	int cpu;	/* -1: of one thread */
	int descriptor; /* that holds it; -1: not opened */
	int is_over;	/* 0, or enum plimp_ring_over */
	unsigned char *map;
	size_t map_size;
	size_t size;	  /* a power of 2 */
	uint64_t tail;	  /* read so far */
	uint64_t head;	  /* the end of this drain */
	uint64_t time_ns; /* of the record at `tail`, where one is left */
};

enum plimp_sampled_flag {
	PLIMP_SAMPLED_TOLD = 2,	   /* BORN was handed out */
	PLIMP_SAMPLED_COVERED = 4, /* events of its own, or inherited */
	PLIMP_SAMPLED_INHERITED = 8,
	PLIMP_SAMPLED_REFUSED = 16,   /* no event could be opened */
	PLIMP_SAMPLED_PROVEN = 32,    /* the last tick gave BLOCKED or SAME */
	PLIMP_SAMPLED_NEW = 64,	      /* seen by the list, not yet armed */
	PLIMP_SAMPLED_LISTED = 128,   /* by the list that is being read */
	PLIMP_SAMPLED_ACCOUNTS = 256, /* `last` is known */
	PLIMP_SAMPLED_STOPPED = 512,  /* seized, and not yet let go */
	PLIMP_SAMPLED_GONE = 1024,    /* the record of its end is on the way */
	PLIMP_SAMPLED_GAPS = 2048,    /* it was uncovered for a while */
	PLIMP_SAMPLED_BY_RING = 4096, /* inside: no signal for this one */
	PLIMP_SAMPLED_TALL = 8192,    /* its stack was more than a short copy */
	PLIMP_SAMPLED_UNDECIDED = 16384, /* inside: asked again at each tick */
	PLIMP_SAMPLED_LOADED = 32768	 /* the preloaded object is in it */
};

/* What an event counted when its last sample was taken. */
struct plimp_sampled_count {
	uint64_t id; /* 0: none yet */
	uint64_t value;
};

struct plimp_sampled {
	size_t place; /* in sampler->threads */
	int32_t tid;
	int32_t pid;
	int32_t parent; /* tid */
	uint32_t flags; /* enum plimp_sampled_flag */
	uint64_t start_ticks;
	uint64_t armed_ns;
	/* One per CPU, sampler->cpu_count of them; or NULL. Where it has a ring
	 * of its own, the first is all that there is, and holds the ring. */
	int *events;
	int *deep;	    /* those that took over, with more stack; or NULL */
	uint64_t *deep_ids; /* by which their samples are known */
	size_t ring;	    /* its own: place + 1 in sampler->rings; or 0 */
	uint32_t deep_bytes;
	uint64_t deep_ns; /* since when they have taken over */
	int schedstat;	  /* held; -1 */
	int call_file;
	char name[16];
	uint8_t name_size;
	struct plimp_schedstat last; /* as of the last tick */
	uint64_t clock_ns;	     /* its CPU clock before; 0: not known */
	long call;		     /* where PROVEN */
	uint64_t ran_ns; /* when its accounts were last seen to change */
	uint8_t state;	 /* enum plimp_thread_state, as of the last tick */
	struct plimp_sampled_count *counts; /* per CPU; or NULL */
	uint32_t slot;	    /* + 1, of a session inside; 0: none */
	int way;	    /* enum plimp_inside_way, where it has a slot */
	int signaller;	    /* its event; -1 */
	int timer;	    /* its timer of CPU time; -1 */
	int status;	    /* held; -1 */
	uint64_t ticked_ns; /* its CPU time at the tick before */
	uint64_t slept;	    /* how often it had gone to sleep then */
	int open_looks;	    /* since it blocked the signal; PLIMP_TICKS_OPEN */
	int is_unfit;	    /* its stacks have no room for a signal */
	uint64_t base_ns;   /* its CPU time when it was armed */
	uint64_t asked_ns;  /* when it was last asked what it blocks */
	uint64_t asked_cpu_ns; /* and while it is undecided */
	uint64_t asked_slept;
	uint64_t deaf_taken; /* what it had sampled then, */
	int was_deaf;	     /* and it blocked the signal so many times */
	uint64_t counted_ns; /* since armed */
	uint64_t ignored_ns; /* of it, before start() */
};

/* A process whose memory may be looked at. */
struct plimp_sampled_process {
	int32_t pid;
	plim_target *target;
	struct plimp_lens *lens; /* NULL: abandoned */
	struct plimp_reader reader;
	int task;	/* the folder of its threads */
	int denied;	/* error number: its sleepers may not be looked at */
	uint64_t links; /* of the folder: 2 + threads */
	uint64_t listed_ns;
	int is_pending;	 /* something in the list may be new */
	uint64_t cpu_ns; /* of its threads but ours, as the last tick began */
};

/* A piece of memory that was read lately. */
struct plimp_copy_piece {
	uint64_t at;
	size_t size; /* 0: none */
	unsigned char bytes[PLIMP_COPY_PAGE];
};

struct plimp_copy {
	struct plimp_sampler *sampler;
	struct plimp_sampled_process *process;
	struct plimp_sampled *thread; /* whose accounts prove it; or NULL */
	unsigned char *bytes;	      /* PLIMP_STACK_MOST + 8 */
	uint64_t low;
	size_t size;
	unsigned char *more; /* what follows; it may move */
	size_t more_size;
	size_t more_capacity;
	int ended; /* no page follows */
	int moved; /* the thread ran meanwhile: nothing more is told */
	struct plimp_copy_piece aside;
	struct plimp_copy_piece code;
};

struct plimp_inside;

struct plimp_sampler {
	plim_host *host;
	struct plimp_sampler_options options;
	int32_t *tids; /* sorted copy of options.tids */
	int32_t pid;   /* of the first process */

	struct plimp_sampled_process *processes;
	size_t process_count;
	size_t process_capacity;

	struct plimp_sampled **threads; /* that live, in no order */
	size_t thread_count;
	size_t thread_capacity;
	struct plimp_sampled **index; /* by tid; open addressing */
	size_t index_size;	      /* a power of 2, or 0 */
	int *kept; /* events of ended threads whose children inherited them */
	size_t kept_count;
	size_t kept_capacity;

	struct plimp_perf_layout layout;
	struct plimp_sampling_ring
	    *rings; /* cpu_count, then those of threads */
	size_t ring_count;
	size_t ring_capacity;
	uint32_t *heap; /* rings that have records, the earliest first */
	size_t heap_capacity;
	size_t cpu_count;
	size_t event_count;
	size_t event_limit;
	size_t file_count; /* held files of threads */
	size_t file_limit;
	int inherits; /* 0, or enum plimp_inherit */
	int is_armed; /* events can be opened */
	int is_alone; /* one for each thread: there are too few descriptors */
	int has_kernel;
	int event; /* enum plimp_sampler_event */
	uint32_t stack_bytes;
	size_t ring_bytes;  /* of a CPU */
	size_t alone_bytes; /* of a thread, at most */
	uint64_t spread_ns; /* when events were last given to who runs */

	/* PERF_FORMAT_LOST: what events that are closed had lost; what all had
	 * at the start, and in the end. */
	uint64_t closed_lost;
	uint64_t first_lost;
	uint64_t all_lost;
	uint64_t told_lost; /* by records of rings, since the start */

	struct plimp_inside *inside; /* NULL: not inside, or not by signals */
	uint32_t by_ring; /* threads that ever had a ring, or a part of one */
	int preloaded;	  /* the object has told of itself */
	uint64_t preload_lost;
	int preload_taken; /* the program took the signal for itself */
	int preload_left;  /* it executed another one, without the object */
	int preload_found; /* its memory, in the program that is looked at */
	uint64_t preload_asked_ns;
	const struct plimp_lens *preload_old; /* seen to be of another one */
	struct plimp_tiers tiers;
	struct plimp_sampler_bill bill;
	int by_switches;   /* no schedstat: switches of status instead */
	int is_own;	   /* the process that asks */
	int by_clocks;	   /* the CPU clock of each thread can be had, too */
	size_t movers;	   /* threads that had run, at the last tick */
	int is_still;	   /* nobody has moved since, as was just asked */
	uint64_t start_ns; /* 0: not started */
	int halted;
	int poll;
	int timer;
	int stop;
	uint64_t listed_ns;
	uint64_t stopped_ns; /* when threads were last stopped by ptrace */
	size_t owed; /* threads that were interrupted and not yet let go */

	unsigned char *record; /* of one that wraps in its ring */
	struct plimp_copy copy;

	/* During a call with a callback. */
	plimp_capture_fn *callback;
	void *user;
	int problem; /* ENOMEM of a drain */
};

enum plimp_inherit { PLIMP_INHERIT_THREADS = 1, PLIMP_INHERIT_ALL = 2 };

/* sampler_threads.c */
struct plimp_sampled *plimp_sampled_find(struct plimp_sampler *sampler,
					 int32_t tid);
/* Makes it known: NULL where memory is short. */
struct plimp_sampled *plimp_sampled_add(struct plimp_sampler *sampler,
					int32_t pid, int32_t tid);
/* It has ended: tells it, and frees its place. */
void plimp_sampled_end(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread, uint64_t time_ns);
/* Its files are gone: a record may still tell of its end, and of samples before
 * it, so that it ends at the second time. Has it ended? */
int plimp_sampled_gone(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread, uint64_t time_ns);
void plimp_sampled_tell(struct plimp_sampler *sampler,
			struct plimp_sampled *thread, uint64_t time_ns);
void plimp_sampled_release(struct plimp_sampler *sampler);
struct plimp_sampled_process *
plimp_sampled_process_of(struct plimp_sampler *sampler, int32_t pid);
/* Since when it is, and its name. */
void plimp_sampled_know(struct plimp_sampler *sampler,
			const struct plimp_sampled_process *process,
			struct plimp_sampled *thread);
/* Reads its list of threads, and arms who is new. */
int plimp_sampled_cover(struct plimp_sampler *sampler,
			struct plimp_sampled_process *process,
			plim_error *error);
/* The same of every process that may have somebody new. */
int plimp_sampled_look(struct plimp_sampler *sampler, plim_error *error);
/* A file of a thread below `task`: held where descriptors allow, else opened
 * for this one read. 0 and the text, or the error. */
int plimp_sampled_read(struct plimp_sampler *sampler,
		       const struct plimp_sampled_process *process,
		       const struct plimp_sampled *thread, int *held,
		       const char *name, plim_bytes *text);

/* sampler_rings.c: 0, or the error. Which CPUs there are. */
int plimp_rings_count(struct plimp_sampler *sampler);
/* One per CPU, as large as is granted; stacks are cut if that is little. */
int plimp_rings_open(struct plimp_sampler *sampler);
/* How large those of so many threads are to be, 0: not known; opens none. */
int plimp_rings_share(struct plimp_sampler *sampler, size_t threads);
/* The ring of an event that samples one thread. The descriptor is the ring's
 * from then on, and counted among the events. */
int plimp_ring_of_thread(struct plimp_sampler *sampler, int descriptor,
			 size_t *place);
/* Does a ring of this size hold enough of such stacks? */
int plimp_rings_hold(const struct plimp_sampler *sampler, uint32_t stack_bytes,
		     size_t size);
/* Closes those that are over and drained. */
void plimp_rings_sweep(struct plimp_sampler *sampler);
/* Has all been read that it had a moment ago? */
int plimp_ring_is_read(const struct plimp_sampling_ring *ring);
uint64_t plimp_rings_bytes(const struct plimp_sampler *sampler);
void plimp_rings_end(struct plimp_sampler *sampler);

/* sampler_sources.c. For that many threads, as far as is known. */
int plimp_sources_begin(struct plimp_sampler *sampler, size_t threads,
			plim_error *error);
/* Rings for those that signals cannot reach, made when the first one comes. */
void plimp_sources_beside(struct plimp_sampler *sampler);
/* What an error of opening on the target says. */
void plimp_sources_denied(struct plimp_sampler *sampler, int problem);

/* sampler_signals.c. Everything blocked but the two that cannot be: that is no
 * application's mask, since pthread_sigmask lets the C library's own two
 * through. It is a moment of the C library's, such as the birth of a thread, or
 * our own handler. */
int plimp_signals_moment(uint64_t blocked);
/* Inside. Samples it by signal: 1, or 0 where a ring has to
 * do. */
int plimp_signals_arm(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread);
/* No signal for it any more. */
void plimp_signals_to_ring(struct plimp_sampler *sampler,
			   struct plimp_sampled *thread);
/* It has run: does it still let the signal through? */
void plimp_signals_ask(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread, uint64_t now_ns);

/* sampler_masks.c. 1: it waits with a mask that is not the one it goes on with.
 */
int plimp_masks_hide(const struct plimp_syscall *call);

/* sampler_events.c */
struct perf_event_attr;
int plimp_events_open(struct plimp_sampler *sampler,
		      struct perf_event_attr *attr, int32_t tid, int cpu);
/* The event that samples, as what is known to work says. */
struct perf_event_attr plimp_events_attr(const struct plimp_sampler *sampler);
void plimp_events_arm(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread);
void plimp_events_disarm(struct plimp_sampler *sampler,
			 struct plimp_sampled *thread);
int plimp_events_deepen(struct plimp_sampler *sampler,
			struct plimp_sampled *thread, uint32_t bytes);
/* A thread that was silenced, since others have inherited from it. */
void plimp_events_speak(struct plimp_sampler *sampler,
			const struct plimp_sampled *thread);
void plimp_events_period(struct plimp_sampler *sampler);
/* Those for whom no event was left get one: a new one where there is room, or
 * that of a thread which sleeps. */
void plimp_events_spread(struct plimp_sampler *sampler);
/* How many records an event, and all of them, have lost so far, where the
 * kernel counts that. */
uint64_t plimp_event_lost(struct plimp_sampler *sampler, int descriptor);
uint64_t plimp_events_lost(struct plimp_sampler *sampler);
void plimp_events_halt(struct plimp_sampler *sampler);
void plimp_events_end(struct plimp_sampler *sampler);

/* sampler_drain.c; without a callback it only learns. */
int plimp_events_drain(struct plimp_sampler *sampler);

/* sampler_copy.c: the stack from `sp` up, `size` bytes of it or a little less,
 * at most PLIMP_STACK_MOST: 0, or enum plimp_capture_failure. */
int plimp_copy_begin(struct plimp_copy *copy,
		     struct plimp_sampled_process *process,
		     struct plimp_sampled *thread, uint64_t sp, size_t size);
/* The copy as the bytes of a capture. */
void plimp_copy_give(struct plimp_copy *copy, struct plimp_stack_bytes *stack);
/* No thread's: code alone. */
void plimp_copy_code(struct plimp_copy *copy,
		     struct plimp_sampled_process *process,
		     struct plimp_stack_bytes *stack);
int plimp_copy_open(struct plimp_copy *copy, struct plimp_sampler *sampler);
void plimp_copy_close(struct plimp_copy *copy);

/* sampler_tick.c: the accounts of a thread now: 0, or the error. */
int plimp_sampled_account(struct plimp_sampler *sampler,
			  struct plimp_sampled_process *process,
			  struct plimp_sampled *thread,
			  struct plimp_schedstat *now);
/* What it does now: 0, or the error. */
int plimp_sampled_call(struct plimp_sampler *sampler,
		       const struct plimp_sampled_process *process,
		       struct plimp_sampled *thread,
		       struct plimp_syscall *call);
/* Have they all stayed as they were at the last tick? */
int plimp_sampled_is_still(struct plimp_sampler *sampler,
			   struct plimp_sampled_process *process,
			   struct plimp_sampled *thread);
void plimp_sampled_tick(struct plimp_sampler *sampler);
/* What an error of the files of sleepers says. */
void plimp_sampled_denied(struct plimp_sampler *sampler,
			  struct plimp_sampled_process *process, int problem);

/* sampler_preload.c: options.preload, where it is not NULL. */
int plimp_preloads_begin(struct plimp_sampler *sampler, plim_error *error);
void plimp_preloads_start(struct plimp_sampler *sampler);
void plimp_preloads_drain(struct plimp_sampler *sampler);
void plimp_preloads_halt(struct plimp_sampler *sampler);
uint8_t plimp_preloads_tiers(const struct plimp_sampler *sampler,
			     struct plimp_tiers *tiers);
void plimp_preloads_period(struct plimp_sampler *sampler);
/* Memory that it has, touched or not. */
uint64_t plimp_preloads_bytes(const struct plimp_sampler *sampler);
/* 0, or -1: it cannot be. */
int plimp_preloads_deepen(struct plimp_sampler *sampler, uint32_t bytes);

/* sampler_stop.c: may it be used? Stops who runs, if it is time again; lets
 * go whoever has stopped late, until there is nobody or that time. */
void plimp_stops_begin(struct plimp_sampler *sampler);
void plimp_stops_tick(struct plimp_sampler *sampler);
void plimp_stops_settle(struct plimp_sampler *sampler, uint64_t until_ns);

#endif
