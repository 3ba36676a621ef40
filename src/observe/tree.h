/*
 * tree.h - the inside of a tree.
 *
 * A round stands on one side; the round before and the one being made stand on
 * the two others, and they change places when a round succeeded. So a failure
 * leaves the tree as it was, members can be compared with the round before,
 * and rounds of one population ask for no memory after the third.
 */
#ifndef PLIMP_TREE_H
#define PLIMP_TREE_H

#include "core/forest.h"
#include "observe/snapshot.h"

#include <plimsoll/tree.h>

/*
 * The counters into which the kernel puts those of a child when its parent
 * waits for it. What is charged of CPU time is told apart from the parent's
 * own; of the others it is not.
 */
enum plimp_charge {
	PLIMP_CHARGE_CPU,
	PLIMP_CHARGE_READ,
	PLIMP_CHARGE_WRITE,
	PLIMP_CHARGE_CANCELLED,
	PLIMP_CHARGE_CALLS,
	PLIMP_CHARGES
};

/* Amounts of members that ended. */
struct plimp_tree_gain {
	uint64_t amount[PLIMP_CHARGES];
	uint32_t members;
};

/* What is remembered of one member besides its record (tree_account.c). */
struct plimp_tree_account {
	/* What was last known: the counter into which children are charged,
	 * and of CPU its own time besides. */
	uint64_t own;
	uint64_t charged[PLIMP_CHARGES];
	uint8_t known[PLIMP_CHARGES]; /* it was, once */
	/* What its ended children were known to cost, and what has not been
	 * seen to arrive in `charged`. */
	uint64_t owed[PLIMP_CHARGES];
	/* Of it, what may have arrived only after the last reading, and whether
	 * nothing at all arrived in the last round. */
	struct plimp_tree_gain late;
	uint8_t stood_still;
	/* Children that ended before this reading, and during it. */
	struct plimp_tree_gain before;
	struct plimp_tree_gain during;
	/* What the counters grew by and no ended child explains. */
	uint64_t spare[PLIMP_CHARGES];
};

struct plimp_tree_books {
	uint64_t kept[PLIMP_CHARGES]; /* charged to no living member */
	/* Owed by whoever it is: of members that ended beside their parent,
	 * known for sure to have ended before this round, or during it. */
	struct plimp_tree_gain doubt;
	struct plimp_tree_gain doubt_late;
	uint64_t total[PLIMP_CHARGES];
	/* Of the total, what is no change since the round before, because it
	 * was there, but not seen. */
	uint64_t found[PLIMP_CHARGES];
	uint8_t grown[PLIMP_CHARGES]; /* kept, in this round */
	uint8_t owing[PLIMP_CHARGES]; /* more than rounding is owed */
	uint32_t left; /* went to a parent outside, alive: members no more */
	/* Last known counts of all that ended, by field. */
	uint64_t ended[PLIM_FIELD_LAST + 1];
};

struct plimp_tree_side {
	struct plimp_pass pass; /* the members' records as they were read */
	struct plimp_forest forest;
	const plim_process **records; /* ascending by pid */
	size_t *earlier; /* by branch: in the round before, or none */
	struct plimp_tree_account *accounts; /* by branch */
	size_t record_capacity;
	size_t earlier_capacity;
	size_t account_capacity;
	plim_tree_facts facts;
	struct plimp_tree_books books;
	plim_cost cost;
};

struct plim_tree {
	plim_host *host;
	plim_identity root;
	int rounds; /* 0, 1, or more, which is 2 */
	struct plimp_tree_side sides[3];
	int current;
	/* Every process, lightly, and as trees. */
	plim_snapshot *table;
	struct plimp_forest forest;
	const plim_process **records;
	size_t record_capacity;
};

/* The three sides by age. */
struct plimp_tree_side *plimp_tree_now(const plim_tree *tree);
struct plimp_tree_side *plimp_tree_before(const plim_tree *tree);

/* The field of a charge. */
int plimp_charge_field(int charge);

/* The branch of a process on a side; PLIM_NO_PARENT if it is not there. */
size_t plimp_tree_seek(const struct plimp_tree_side *side,
		       const plim_identity *identity);

/* The same among all processes of the pass that is being made. */
const plim_branch *plimp_tree_in_table(const plim_tree *tree,
				       const plim_identity *identity);

/* Bit of plim_branch.reserved in the forest of all: it was to be read. */
#define PLIMP_TREE_MEMBER 1u

/*
 * Finds the members and reads them onto `side`; `before` is the round before,
 * or NULL. PLIM_OK and no member if the root has ended.
 */
int plimp_tree_find(plim_tree *tree, plim_target *root,
		    const plim_tree_options *options,
		    const struct plimp_tree_side *before,
		    struct plimp_tree_side *side, plim_error *error);

/* 1 if the process may have started after that round began. */
int plimp_tree_is_newborn(const struct plimp_tree_side *before,
			  const plim_process *process);

/* Fills accounts, books and facts of `side`. PLIM_ENOMEM. */
int plimp_tree_account(plim_tree *tree, const struct plimp_tree_side *before,
		       struct plimp_tree_side *side);

#endif
