/*
 * owner.h - a process that owns some memory and does one thing after another
 * when it is told to, for tests that look at it from outside; and what the
 * kernel itself says of it, read without the library.
 */
#ifndef TESTS_LENS_OWNER_H
#define TESTS_LENS_OWNER_H

#include "common.h"

#include "host/target.h"

#include <stdio.h>

/* Runs in the child: `step` counts from 0; the place of what it made goes
 * back to the parent. */
typedef uint64_t owner_fn(int step, void *user);

struct owner {
	pid_t pid;
	int in;	 /* each byte is a step */
	int out; /* each answer a place */
	uint64_t place;
};

/* Forks, and waits until step 0 is done. */
void owner_start(struct owner *owner, owner_fn *function, void *user);

/* In a step: forks a child that shares all memory until this one ends. */
void owner_share(void);

/* Has the next step done, and takes its place. */
void owner_step(struct owner *owner);

/* The same without an answer: the step does not return. */
void owner_leave(struct owner *owner);

void owner_end(struct owner *owner);

/* A host, a target and a lens on a process. */
struct view {
	plim_host *host;
	plim_target *target;
	struct plimp_lens *lens;
	struct plimp_space space;
	struct plimp_reader reader;
};
void view_open(struct view *view, pid_t pid);
void view_close(struct view *view);

/* Sum of the lines `key` in a file of the process, of all mappings, kB. */
uint64_t owner_sum_kb(pid_t pid, const char *file, const char *key);

/* What it alone has written. It is our fork: a page that we write becomes its
 * own, so that this grows while it sleeps, and what is taken in between lies
 * between two readings. */
uint64_t owner_private_dirty_kb(pid_t pid);

/* Waits until its memory does not change any more: after an answer it has yet
 * to come to rest, and a child that it has forked to start. */
void owner_settle(const struct owner *owner);

/* Entries of pagemap, read directly; aborts on failure. */
void owner_entries(pid_t pid, uint64_t address, size_t count,
		   uint64_t *entries);

#define PAGE UINT64_C(4096)

#endif
