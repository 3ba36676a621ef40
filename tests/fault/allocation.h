/*
 * allocation.h - the table of the public functions that ask for memory, and
 * the place where one of them is called under a failing allocator.
 */
#ifndef TESTS_ALLOCATION_H
#define TESTS_ALLOCATION_H

#include "fault.h"

#include "fixture.h"

/* What an attempt stands on; whatever is set is freed behind it. */
struct site {
	struct fault_memory memory;
	plim_allocator allocator;
	plim_host *host;
	plim_target *target;
	plim_usage *usage;
	plim_snapshot *snapshot;
	plim_filter *filter;
	plim_json *json;
	plim_table *table;
	plim_meter *meter;
	plim_tree *tree;
	plim_forest *forest;
	plim_groups *groups;
	plim_watch *watch;
	plim_births *births;
	plim_threads *threads;
	plim_idle *idle;
	plim_heaps *heaps;
	plim_code *code;
	plim_memory *sampled;
	plim_mappings *mappings;
	plim_profile *profile;
	plim_fold *fold;
	plim_stored *stored;
	plim_diff *diff;
	plim_budget *budget;
	plim_budget_record *record;
	int round;
};

/* The processes that are measured, started once: one thread, three hundred
 * threads, and a command line of 128 KB. */
struct site_world {
	struct spawn plain;
	struct spawn threaded;
	struct spawn wordy;
	struct fixture fixture;
	char core[64]; /* the path of a core file */
};
extern struct site_world site_world;

void site_world_begin(void);
void site_world_end(void);

/* A pointer that nothing has; outputs hold it before a call. */
#define SITE_POISON ((void *)(uintptr_t)0x5a5a5a50u)

struct entry {
	const char *symbol; /* the public function */
	const char *name;   /* of the test */
	/* What stands before: memory does not fail. */
	void (*prepare)(struct site *site);
	/* The call; it asserts that its outputs are untouched when it fails,
	 * and right when it does not. It can be made again. */
	int (*act)(struct site *site, plim_error *error);
	/* Descriptors and children may be fewer after a failure. */
	int may_shrink;
};
extern const struct entry site_entries[];
extern const size_t site_entry_count;

#endif
