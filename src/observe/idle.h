/*
 * idle.h - the inside of an observation.
 *
 * Records are copied into two places, the first sample's and the last one's,
 * so that it does not matter whose they were and when that is read again.
 * Figures stand in columns, one for each field: what a sample adds to a column
 * is worked out when it is taken, so that a window of any number of samples
 * needs the one before and no other.
 */
#ifndef PLIMP_IDLE_H
#define PLIMP_IDLE_H

#include "host/host.h"

#include <plimsoll/idle.h>

/* A record with its threads and texts. */
struct plimp_idle_kept {
	plim_process record;
	struct plimp_thread *threads;
	size_t capacity;
	char texts[PLIMP_TEXTS_SIZE];
};

/* One field. `own` is what the observer's process, a member of the tree,
 * added to `change`. */
struct plimp_idle_column {
	plim_count first;
	plim_count last;
	plim_count peak;
	plim_count change;
	plim_count own;
};

/* A member of the tree whose threads are read. */
struct plimp_idle_member {
	plim_identity identity;
	plim_threads *threads;
	uint32_t samples; /* of the window; 0: none yet */
	uint32_t seen;	  /* the sample of the window in which it last was */
	int born;	  /* in the window: all that it has is the window's */
	uint32_t first_threads;
	plim_sum first_wakeups;
	uint8_t name_size;
	char name[PLIMP_NAME_SIZE];
};

struct plimp_idle_members {
	struct plimp_idle_member *items; /* ascending by pid */
	size_t count;
	size_t capacity;
};

/* The ranking. */
struct plimp_idle_waker {
	int32_t pid;
	plim_text process;
	plim_thread_change change;
};

struct plim_idle {
	plim_host *host;
	plim_usage *usage;
	plim_watch *watch;
	plim_tree *tree;
	plim_threads *threads; /* of a single process */
	struct plimp_idle_members members;
	struct plimp_idle_waker *wakers;
	size_t waker_count;
	size_t waker_capacity;
	plim_threads_facts thread_facts;
	int unread; /* why threads of a member could not be read at the last
		     * sample: enum plim_reason, 0 */

	/* Of the call that is under way, or was. */
	plim_target *target; /* NULL: ourselves */
	plim_identity identity;
	plim_idle_options options; /* complete */
	plim_field_set fields;
	int32_t own_pid; /* 0 where it is not known */

	plim_idle_facts facts;
	plim_stamp begin; /* of the first sample, of the last */
	plim_stamp end;
	struct plimp_own own_begin;
	struct plimp_own own_end;
	struct plimp_idle_kept first;
	struct plimp_idle_kept last;
	int root_first; /* there is such a record */
	int root_last;
	struct plimp_idle_column columns[PLIM_FIELD_LAST + 1];
	plim_count operations; /* DISK_OPS of the root of a tree */
	plim_cost cost;
};

/* What is observed is this process, or one of which it is the root. */
int plimp_idle_is_self(const plim_idle *idle);

/* 1 if the target has ended, which is noted for this phase. */
int plimp_idle_has_ended(plim_idle *idle, int phase);

/* Notes whether it executed another program. */
void plimp_idle_look(plim_idle *idle, int phase);

/* Sleeps until then. 0: that is now; 1: the sleeper said stop, or the target
 * has ended; both are noted. */
int plimp_idle_sleep(plim_idle *idle, uint64_t until_ns, int phase);

/* A failed reading that says what became of the target is no failure: 1, and
 * noted. */
int plimp_idle_is_end(plim_idle *idle, int code, int phase);

/* a - b, for shares that are taken off; never below 0. Where b is not known,
 * a is the most that it can be. */
plim_count plimp_idle_less(plim_count a, plim_count b);

/* The branch of the observer's process in the tree, or PLIM_NO_PARENT. */
size_t plimp_idle_own_branch(const plim_idle *idle);

/* CPU of the round of the tree that was just taken, without the observer, who
 * did `before` and `now` before the two rounds. */
plim_count plimp_idle_round_cpu(const plim_idle *idle,
				const struct plimp_own *before,
				const struct plimp_own *now);

/* One round of the tree. */
int plimp_idle_round(plim_idle *idle, const plim_field_set *fields, int threads,
		     plim_error *error);

/* The figures of one more sample: of a process, before it is kept as the last
 * one; of the round that was just taken. */
void plimp_idle_columns_clear(plim_idle *idle);
void plimp_idle_take_process(plim_idle *idle, const plim_process *now);
void plimp_idle_take_tree(plim_idle *idle);

/* The two halves: idle_quiet.c, idle_window.c. */
int plimp_idle_await(plim_idle *idle, plim_error *error);
int plimp_idle_watch_window(plim_idle *idle, plim_error *error);

/* idle_threads.c: reads the threads of every member, right behind a round;
 * forgets them; ranks all of them, after the last sample. */
int plimp_idle_members_sample(plim_idle *idle, plim_error *error);
void plimp_idle_members_clear(plim_idle *idle);
int plimp_idle_rank(plim_idle *idle, plim_error *error);

#endif
