/*
 * tree.h - processes as trees and as groups, and sums that say what they miss.
 *
 * A link from a child to its parent counts only where start times prove it: a
 * "parent" that started after its child uses the number of the real one. What
 * is missing in a member is counted beside the sum, never taken as zero. A sum
 * of resident memory counts a page that members share once for each of them.
 *
 * Which descendants can be found. Linux: those whose chain of living parents
 * leads to the root. One whose parent ended was given to another parent by the
 * kernel (init, or a child subreaper) and is found no more, unless it was a
 * member before and membership is sticky. Windows: the recorded parent is never
 * updated and may name an ended process or a newer one. macOS: as Linux.
 */
#ifndef PLIMSOLL_TREE_H
#define PLIMSOLL_TREE_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/filter.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>
#include <plimsoll/snapshot.h>
#include <plimsoll/usage.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLIM_NO_PARENT SIZE_MAX

/* Bits of plim_branch.flags. */
enum plim_branch_flag {
	/* Of a tree: a member that was given to a parent outside it. */
	PLIM_BRANCH_REPARENTED = 1,
	/* It was not a member in the round before; not in a first round. */
	PLIM_BRANCH_BORN = 2,
	/* It ignores SIGCHLD, so that the kernel reaps its children without
	 * charging it for them. In a forest, where its status was read. */
	PLIM_BRANCH_IGNORES_CHILDREN = 4
};

/*
 * One process in its place. Branches stand in preorder: a parent before its
 * children, siblings by pid; the `size - 1` branches behind one are its
 * descendants.
 */
typedef struct plim_branch {
	const plim_process *process;
	size_t parent; /* index of the parent's branch, or PLIM_NO_PARENT */
	size_t depth;  /* 0 for a root */
	size_t size;   /* of the subtree, itself included */
	uint32_t flags;
	uint32_t reserved; /* 0 */
} plim_branch;

/*
 * The forest of a snapshot: every record once, under its proven parent or as a
 * root. PPID must have been read; without it everything is a root. A circle,
 * as pids that are used again can make one, is cut above its lowest pid. Valid
 * until the snapshot is taken again or freed.
 */
typedef struct plim_forest plim_forest;
PLIM_API int plim_forest_new(plim_forest **forest,
			     const plim_allocator *allocator,
			     plim_error *error);
PLIM_API void plim_forest_free(plim_forest *forest);
/* PLIM_ENOMEM, PLIM_EINVAL: the forest is then as it was. */
PLIM_API int plim_forest_plant(plim_forest *forest,
			       const plim_snapshot *snapshot,
			       plim_error *error);
PLIM_API size_t plim_forest_size(const plim_forest *forest);
PLIM_API const plim_branch *plim_forest_at(const plim_forest *forest,
					   size_t index);
/* Of a subtree. */
PLIM_API plim_sum plim_forest_sum(const plim_forest *forest, size_t index,
				  int field);

/* A remembered process and its descendants, measured again and again. */
typedef struct plim_tree plim_tree;
PLIM_API int plim_tree_new(plim_tree **tree, plim_host *host,
			   plim_error *error);
PLIM_API void plim_tree_free(plim_tree *tree);

/* Start from zeros and set `size`. */
typedef struct plim_tree_options {
	size_t size; /* sizeof(plim_tree_options) */
	/* What to read of each member; NULL means PLIM_FIELDS_FULL. What
	 * finding the members and charging them needs is read besides. */
	const plim_field_set *fields;
	/* Non-zero: read every thread of a member, for its wake-ups. */
	int threads;
	/* Non-zero: who was a member in the round before stays one until it
	 * ends, and so do its descendants, also when the root has ended. */
	int sticky;
} plim_tree_options;

/*
 * Finds the members now and measures them. `options` may be NULL. The root
 * ended or was replaced: no members (but for sticky ones) and PLIM_OK. Every
 * member is verified again when it is read: one that ended meanwhile, or whose
 * pid has a new owner, adds nothing. The first round after plim_tree_new(), or
 * with another root, has no changes. Rounds over one population allocate
 * nothing after the third. On failure the tree is as it was.
 * PLIM_EHIDDEN or PLIM_ECANNOTTELL if that is all that can be said of the root;
 * PLIM_ENOMEM, PLIM_ELIMIT, PLIM_EDENIED, PLIM_ESYSTEM, PLIM_EUNSUPPORTED.
 */
PLIM_API int plim_tree_usage(plim_tree *tree, plim_target *root,
			     const plim_tree_options *options,
			     plim_error *error);

/* The members in preorder: the root first if it lives, then those that lost
 * their parents, each with its descendants. Valid until the next round; what
 * plim_tree_earlier() gives, too. */
PLIM_API size_t plim_tree_size(const plim_tree *tree);
PLIM_API const plim_branch *plim_tree_at(const plim_tree *tree, size_t index);
/* The same member in the round before, or NULL. */
PLIM_API const plim_process *plim_tree_earlier(const plim_tree *tree,
					       size_t index);

typedef struct plim_tree_facts {
	uint32_t members;
	uint32_t unreadable; /* with at least one DENIED figure */
	uint32_t born;	     /* since the round before */
	uint32_t ended;	     /* since the round before */
	uint32_t reparented; /* members whose parent is outside */
	uint32_t vanished;   /* found, but ended before they were read */
	/* Ended members that no living member was charged for (given to a
	 * parent outside, or reaped by the kernel unseen): their last known
	 * counts are kept. Since the first round. */
	uint32_t kept;
	/* Members that ignore SIGCHLD: what their children cost after they were
	 * last seen is charged to nobody, so that totals are lower bounds. A
	 * parent that set SA_NOCLDWAIT has the same effect and cannot be seen;
	 * it shows in `kept` once a child with some CPU time has ended. */
	uint32_t ignoring;
	uint64_t reserved[4];
} plim_tree_facts;
PLIM_API plim_tree_facts plim_tree_about(const plim_tree *tree);

/* Over the living members, as each of them has it. */
PLIM_API plim_sum plim_tree_sum(const plim_tree *tree, int field);

/*
 * What the tree has used in all, ended descendants included.
 *
 * CPU: each member's own time and that of the children it has waited for.
 * DISK_READ, DISK_WRITE, DISK_CANCELLED, IO_CALLS: the members' counters, which
 * include children that were waited for. To both is added what was last known
 * of ended members until their parent is charged for them, and for good where
 * nobody is; so these totals never go back. They are lower bounds where a
 * figure is missing, something is kept, or a member ignores SIGCHLD.
 * Children-time comes in whole ticks: up to two ticks (20 ms) for each living
 * parent are not in it yet.
 *
 * Other counters end with their process: the living members', and what was
 * last known of those that ended; at least. CPU_CHILDREN, and a gauge: the
 * total of plim_tree_sum(). UNREAD before the first round.
 */
PLIM_API plim_count plim_tree_total(const plim_tree *tree, int field);

/* Since the round before: PENDING in the first one, NOT_APPLICABLE for a field
 * that is no counter. Of CPU and I/O the change of the totals; of other
 * counters what common members added and all of those that were born (at
 * least). */
PLIM_API plim_count plim_tree_change(const plim_tree *tree, int field);
PLIM_API plim_real plim_tree_rate(const plim_tree *tree, int field);
PLIM_API plim_real plim_tree_cpu_percent(const plim_tree *tree);
/* From the beginning of one round's readings to that of the next.
 * PLIM_ECANNOTTELL in the first round. */
PLIM_API int plim_tree_interval(const plim_tree *tree, plim_interval *interval,
				plim_error *error);

/* The bill of the last round: `present` counts the processes of the machine,
 * `read` the members. */
PLIM_API plim_cost plim_tree_cost(const plim_tree *tree);

/*
 * The processes of a snapshot by what they have in common: the same CGROUP,
 * UNIT, CONTAINER or UID. Groups ascend by key, users by number. Groups of
 * CGROUP are nested, a group before those in it: one for each part of each
 * path, whose members are those below it, too. Processes whose key is
 * unavailable are one group, the last; why it is, is said of the first of them.
 * Valid until the snapshot is taken again or freed.
 */
typedef struct plim_groups plim_groups;
typedef struct plim_group {
	plim_text key; /* the number of a user as digits; unavailable: why */
	size_t parent; /* index, or PLIM_NO_PARENT */
	size_t depth;
	size_t members; /* nested ones included */
	size_t own;	/* in this very group */
	uint64_t reserved[2];
} plim_group;
PLIM_API int plim_groups_new(plim_groups **groups,
			     const plim_allocator *allocator,
			     plim_error *error);
PLIM_API void plim_groups_free(plim_groups *groups);
/* PLIM_EINVAL for a field that makes no groups; PLIM_ENOMEM: the groups are
 * then as they were. The field must have been read. `filter` may be NULL; it
 * judges as with no earlier round, and only what it selects is grouped. */
PLIM_API int plim_groups_fill(plim_groups *groups,
			      const plim_snapshot *snapshot, int field,
			      const plim_filter *filter, plim_error *error);
PLIM_API size_t plim_groups_size(const plim_groups *groups);
PLIM_API const plim_group *plim_groups_at(const plim_groups *groups,
					  size_t index);
/* A member of the group or of one nested in it; its own come first, by pid. */
PLIM_API const plim_process *plim_groups_member(const plim_groups *groups,
						size_t index, size_t member);
PLIM_API plim_sum plim_groups_sum(const plim_groups *groups, size_t index,
				  int field);

#ifdef __cplusplus
}
#endif
#endif
