/*
 * fault.h - what the tests of failures share: an allocator that fails on
 * request and holds the library to its sizes, counts of what a process holds
 * (descriptors, children), and poison for what must stay untouched.
 */
#ifndef TESTS_FAULT_H
#define TESTS_FAULT_H

#include "common.h"

#include <sys/types.h>

/* Requests are counted from 1; `fail_at` 0 fails none. */
struct fault_memory {
	size_t calls;	/* that asked for memory */
	size_t fail_at; /* this one fails */
	int all_after;	/* and all later ones */
	size_t failed;
	size_t live;   /* bytes that are not given back */
	size_t blocks; /* the same in blocks */
};

/* Every block knows its size: a wrong old_size fails the test. */
plim_allocator fault_allocator(struct fault_memory *memory);

/* Counts and failures start anew; what is held stays. */
void fault_arm(struct fault_memory *memory, size_t fail_at, int all_after);

/* Opens the live system, or `proc_root`, on such an allocator. */
plim_host *fault_host(struct fault_memory *memory, const char *proc_root);

/* An error record whose every byte is poison; 1 if it still is. */
plim_error fault_poisoned(void);
int fault_is_poisoned(const plim_error *error);

/* A filled record of this code, with an operation and terminated texts. */
void fault_expect_error(const plim_error *error, int code);

/* How many descriptors this process holds. */
size_t fault_descriptors(void);

/* The children of this process, whatever signal their end sends, in
 * ascending order; zombies too. */
#define FAULT_CHILDREN 64
struct fault_children {
	size_t count;
	pid_t pids[FAULT_CHILDREN];
};
struct fault_children fault_children(void);

/* The child that is not in `before`, or 0; more than one fails. */
pid_t fault_new_child(const struct fault_children *before);

/* Fails if the children are others than before. */
void fault_expect_children(const struct fault_children *before);

/* Lowers the limit of open files so that `spare` more can be opened;
 * fault_unlimit() sets it back. */
void fault_limit(unsigned spare);
void fault_unlimit(void);

/* Everything a record tells, as bytes, for a comparison; its length. */
size_t fault_record(const plim_process *process, char *buffer, size_t size);

#endif
