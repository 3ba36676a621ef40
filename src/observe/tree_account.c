/*
 * tree_account.c - who was charged for members that ended.
 *
 * When a parent waits for a child the kernel adds the child's CPU time to the
 * parent's children-time, and its I/O to the parent's I/O (wait_task_zombie()
 * in kernel/exit.c). So the living members' counters hold what ended members
 * cost, unless nobody was charged: the parent is outside, or it ignores
 * SIGCHLD and the kernel reaps unseen. Then what was last known is kept here.
 *
 * Which of the two it was shows in the parent's counter. An ended child's last
 * known amount is owed by its parent; what the counter grows by pays it; what
 * the first reading after the end has not paid was charged to nobody. Until
 * then it stays in the total as owed, so that a child which ends between the
 * reading of its parent and its own is neither lost nor counted twice. Each
 * amount is a lower bound of the truth, and no total ever goes back.
 *
 * Children-time comes in two parts, each rounded down to a tick, so up to two
 * ticks of what is owed are rounding. I/O grows by what the parent does itself,
 * too, which can hide that a child was not charged; there it decides that
 * children-time stood still while a child with more than two ticks ended.
 *
 * A system without children-time charges nobody (Windows): there all of an
 * ended member is kept at once.
 */
#include "observe/tree.h"

#include "core/record.h"

#include <assert.h>
#include <string.h>

static const int account_fields[PLIMP_CHARGES] = {
    [PLIMP_CHARGE_CPU] = PLIM_FIELD_CPU_CHILDREN,
    [PLIMP_CHARGE_READ] = PLIM_FIELD_DISK_READ,
    [PLIMP_CHARGE_WRITE] = PLIM_FIELD_DISK_WRITE,
    [PLIMP_CHARGE_CANCELLED] = PLIM_FIELD_DISK_CANCELLED,
    [PLIMP_CHARGE_CALLS] = PLIM_FIELD_IO_CALLS,
};

int plimp_charge_field(int charge)
{
	assert(charge >= 0 && charge < PLIMP_CHARGES);
	return account_fields[charge];
}

static uint64_t account_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t account_past(uint64_t less, uint64_t more)
{
	return more > less ? more - less : 0;
}

static void account_count(uint32_t *number, uint32_t more)
{
	*number = *number > UINT32_MAX - more ? UINT32_MAX : *number + more;
}

static void gain_add(struct plimp_tree_gain *gain,
		     const struct plimp_tree_gain *more)
{
	int charge;

	for (charge = 0; charge < PLIMP_CHARGES; charge++)
		gain->amount[charge] =
		    account_add(gain->amount[charge], more->amount[charge]);
	account_count(&gain->members, more->members);
}

/* Everything that a member stood for when it was last seen. */
static void account_whole(const struct plimp_tree_account *account,
			  struct plimp_tree_gain *whole)
{
	int charge;

	memset(whole, 0, sizeof *whole);
	for (charge = 0; charge < PLIMP_CHARGES; charge++)
		whole->amount[charge] = account_add(account->charged[charge],
						    account->owed[charge]);
	whole->amount[PLIMP_CHARGE_CPU] =
	    account_add(whole->amount[PLIMP_CHARGE_CPU], account->own);
	whole->members = 1;
}

/*
 * Who ended after its parent was read, in the last round, may have lost that
 * parent before, and then another was charged. If the parent is seen to have
 * ended, what it still owes of such children is in doubt.
 */
static void account_doubt_late(const struct plimp_tree_account *account,
			       struct plimp_tree_gain *doubt)
{
	int charge;

	for (charge = 0; charge < PLIMP_CHARGES; charge++) {
		uint64_t late = account->late.amount[charge];
		uint64_t owed = account->owed[charge];

		doubt->amount[charge] = late < owed ? late : owed;
	}
	doubt->members = account->late.members;
}

static void gain_remove(uint64_t *amounts, const struct plimp_tree_gain *less)
{
	int charge;

	for (charge = 0; charge < PLIMP_CHARGES; charge++)
		amounts[charge] =
		    account_past(less->amount[charge], amounts[charge]);
}

static void account_keep(struct plimp_tree_side *side, int charge,
			 uint64_t amount)
{
	if (amount == 0)
		return;
	side->books.kept[charge] =
	    account_add(side->books.kept[charge], amount);
	side->books.grown[charge] = 1;
}

static void account_keep_gain(struct plimp_tree_side *side,
			      const struct plimp_tree_gain *gain)
{
	int charge;

	for (charge = 0; charge < PLIMP_CHARGES; charge++)
		account_keep(side, charge, gain->amount[charge]);
	account_count(&side->facts.kept, gain->members);
}

static int account_ignores(const plim_process *process)
{
	return process->ignores_children == PLIMP_IGNORES_YES;
}

/* It waits to be reaped, and its children have been given to others. */
static int account_has_ended(const plim_process *process)
{
	return process->state == 'Z' || process->state == 'X';
}

/* For other counters than those above: what was last known of it. */
static void account_forget(struct plimp_tree_side *side,
			   const plim_process *process)
{
	int field;

	for (field = 1; field <= PLIM_FIELD_LAST; field++) {
		const plim_count *figure = &process->figures[field];
		uint64_t *sum = &side->books.ended[field];

		if (figure->state == PLIM_STATE_KNOWN)
			*sum = account_add(*sum, figure->value);
	}
}

/* Its system charges a parent, or it is not known whether: the field was not
 * read. */
static int account_may_charge(const plim_process *process)
{
	const plim_count *charged = &process->figures[PLIM_FIELD_CPU_CHILDREN];

	return charged->state == PLIM_STATE_KNOWN ||
	       charged->method != PLIM_REASON_HOST_NEVER;
}

/*
 * Hands what an ended member stood for to who was charged for it: its parent,
 * if that is a member still and did wait. Where the parent has ended, too, it
 * may have waited before, or the kernel gave the child to another member
 * above, or to one outside: that is in doubt.
 */
static void account_hand_on(const struct plimp_tree_side *before, size_t at,
			    struct plimp_tree_side *side, int during)
{
	const plim_branch *branch = &before->forest.branches[at];
	const plim_branch *parent;
	struct plimp_tree_gain whole;
	struct plimp_tree_gain doubt;
	size_t now;

	account_whole(&before->accounts[at], &whole);
	if (!account_may_charge(branch->process)) {
		account_keep_gain(side, &whole);
		return;
	}
	account_doubt_late(&before->accounts[at], &doubt);
	gain_remove(whole.amount, &doubt);
	gain_add(&side->books.doubt_late, &doubt);
	if (branch->parent == PLIM_NO_PARENT) {
		account_keep_gain(side, &whole);
		return;
	}
	parent = &before->forest.branches[branch->parent];
	now = plimp_tree_seek(side, &parent->process->identity);
	if (now == PLIM_NO_PARENT ||
	    account_has_ended(side->forest.branches[now].process))
		gain_add(&side->books.doubt_late, &whole);
	else if (account_ignores(parent->process) &&
		 account_ignores(side->forest.branches[now].process))
		account_keep_gain(side, &whole);
	else
		gain_add(during ? &side->accounts[now].during
				: &side->accounts[now].before,
			 &whole);
}

/*
 * Members of the round before that are none now. Who was not even in the pass
 * over all processes was reaped before any member was read; who was, but could
 * not be read then, ended at some time during that, and so whoever was charged
 * for it may have been read before; what is in doubt can hang on any of those.
 * Who lives outside keeps its own account from here on; what it had used is the
 * tree's.
 */
static void account_departed(const plim_tree *tree,
			     const struct plimp_tree_side *before,
			     struct plimp_tree_side *side)
{
	int during = 0;
	size_t at;

	for (at = 0; at < before->forest.count; at++) {
		const plim_process *process =
		    before->forest.branches[at].process;
		const plim_branch *seen;
		struct plimp_tree_gain whole;

		if (plimp_tree_seek(side, &process->identity) != PLIM_NO_PARENT)
			continue;
		account_forget(side, process);
		seen = plimp_tree_in_table(tree, &process->identity);
		if (seen == NULL || seen->reserved != 0) {
			account_count(&side->facts.ended, 1);
			account_hand_on(before, at, side, seen != NULL);
			during |= seen != NULL;
			continue;
		}
		account_whole(&before->accounts[at], &whole);
		whole.members = 0;
		account_keep_gain(side, &whole);
		account_count(&side->books.left, 1);
	}
	if (during)
		return;
	gain_add(&side->books.doubt, &side->books.doubt_late);
	memset(&side->books.doubt_late, 0, sizeof side->books.doubt_late);
}

/* What the kernel charges to a process when it comes into being: nothing. Who
 * is older than the round before was there and not seen. */
int plimp_tree_is_newborn(const struct plimp_tree_side *before,
			  const plim_process *process)
{
	return (process->identity.has & PLIM_IDENTITY_START) != 0 &&
	       process->identity.start_ticks >= before->pass.young_ticks;
}

/* Takes the counter of one charge over; gives what it grew by, `*first` if
 * nothing was known of it until now. */
static uint64_t account_read(struct plimp_tree_account *account, int charge,
			     const plim_process *process, int *first)
{
	const plim_count *now = &process->figures[account_fields[charge]];
	uint64_t grown;

	*first = 0;
	if (charge == PLIMP_CHARGE_CPU &&
	    process->figures[PLIM_FIELD_CPU].state == PLIM_STATE_KNOWN &&
	    process->figures[PLIM_FIELD_CPU].value > account->own)
		account->own = process->figures[PLIM_FIELD_CPU].value;
	if (now->state != PLIM_STATE_KNOWN)
		return 0;
	*first = !account->known[charge];
	account->known[charge] = 1;
	grown = account_past(account->charged[charge], now->value);
	account->charged[charge] = account_add(account->charged[charge], grown);
	return *first ? 0 : grown;
}

/* Nothing at all was charged while a child ended that cost more than rounding
 * could hide. */
static int account_is_unseen(const struct plimp_tree_account *account,
			     uint64_t grown, uint64_t slack)
{
	uint64_t due = account_add(account->owed[PLIMP_CHARGE_CPU],
				   account->before.amount[PLIMP_CHARGE_CPU]);

	return grown == 0 && due > slack &&
	       (account->late.members == 0 || account->stood_still);
}

/* What ended during the last round was charged to nobody, nor was what ended
 * before this one: it is kept, and owed no more. */
static void account_write_off(struct plimp_tree_account *account, int charge,
			      struct plimp_tree_side *side)
{
	uint64_t late = account->late.amount[charge];

	account->owed[charge] = account_past(late, account->owed[charge]);
	account_keep(side, charge,
		     account_add(late, account->before.amount[charge]));
	account->before.amount[charge] = 0;
}

/* Pays what is owed for sure from what the counter grew by; what is still not
 * paid is kept. Returns that. */
static uint64_t account_settle(struct plimp_tree_account *account, int charge,
			       uint64_t grown, uint64_t slack,
			       struct plimp_tree_side *side)
{
	uint64_t due =
	    account_add(account->owed[charge], account->before.amount[charge]);
	uint64_t lost = account_past(slack, account_past(grown, due));

	account->owed[charge] = account_past(grown, due) - lost;
	account->spare[charge] = account_past(due, grown);
	account_keep(side, charge, lost);
	return lost;
}

/* What was there before and is seen now for the first time is no change. */
static void account_found(struct plimp_tree_side *side, int charge,
			  uint64_t amount)
{
	side->books.found[charge] =
	    account_add(side->books.found[charge], amount);
}

/* One member: its counters, and what children that ended before this round
 * leave it owing. */
static void account_member(const struct plimp_tree_side *before, size_t at,
			   uint64_t slack, struct plimp_tree_side *side)
{
	struct plimp_tree_account *account = &side->accounts[at];
	const plim_process *process = side->forest.branches[at].process;
	int newborn = before != NULL && plimp_tree_is_newborn(before, process);
	uint32_t members = account->before.members;
	int unseen = 0;
	int charge;

	if (account->late.members > 0 && account_has_ended(process)) {
		struct plimp_tree_gain doubt;

		account_doubt_late(account, &doubt);
		gain_remove(account->owed, &doubt);
		gain_add(&side->books.doubt, &doubt);
		memset(&account->late, 0, sizeof account->late);
	}
	account_count(&members, account->late.members);
	for (charge = 0; charge < PLIMP_CHARGES; charge++) {
		uint64_t room = charge == PLIMP_CHARGE_CPU ? slack : 0;
		uint64_t own = account->own;
		int first;
		uint64_t grown = account_read(account, charge, process, &first);

		if (first && !newborn)
			account_found(side, charge,
				      account_add(account->charged[charge],
						  account->own - own));
		if (charge == PLIMP_CHARGE_CPU) {
			unseen = account_is_unseen(account, grown, slack);
			account->stood_still = grown == 0;
		} else if (unseen) {
			account_write_off(account, charge, side);
		}
		grown = account_settle(account, charge, grown, room, side);
		if (charge == PLIMP_CHARGE_CPU && grown > 0)
			account_count(&side->facts.kept, unseen ? members : 1);
	}
}

/* What is in doubt, out of the growth that nothing else explains anywhere in
 * the tree. The rounding may be that of every member. Returns what was paid. */
static uint64_t account_settle_doubt(struct plimp_tree_side *side, int charge,
				     uint64_t slack)
{
	uint64_t *doubt = &side->books.doubt.amount[charge];
	uint64_t room = slack > UINT64_MAX / (side->forest.count + 1)
			    ? UINT64_MAX
			    : slack * (side->forest.count + 1);
	uint64_t spare = 0;
	uint64_t paid;
	uint64_t lost;
	size_t i;

	for (i = 0; i < side->forest.count; i++)
		spare = account_add(spare, side->accounts[i].spare[charge]);
	paid = spare < *doubt ? spare : *doubt;
	lost = account_past(room, *doubt - paid);
	*doubt -= paid + lost;
	account_keep(side, charge, lost);
	if (charge == PLIMP_CHARGE_CPU && lost > 0)
		account_count(&side->facts.kept, 1);
	return paid;
}

/* What ended during this round comes last: its charge may have been read and
 * may come. `paid` was taken out of the growth already. */
static void account_settle_late(struct plimp_tree_side *side, int charge,
				uint64_t paid, uint64_t slack)
{
	uint64_t *doubt = &side->books.doubt.amount[charge];
	uint64_t late = side->books.doubt_late.amount[charge];
	uint64_t spare = 0;
	size_t i;

	for (i = 0; i < side->forest.count; i++) {
		struct plimp_tree_account *account = &side->accounts[i];
		uint64_t *owed = &account->owed[charge];
		uint64_t due = account->during.amount[charge];
		uint64_t left = account_past(paid, account->spare[charge]);

		paid = account_past(account->spare[charge], paid);
		*owed = account_add(*owed, account_past(left, due));
		spare = account_add(spare, account_past(due, left));
		if (*owed > slack)
			side->books.owing[charge] = 1;
	}
	*doubt = account_add(*doubt, account_past(spare, late));
	if (*doubt > slack)
		side->books.owing[charge] = 1;
}

static void account_members(const struct plimp_tree_side *before,
			    uint64_t slack, struct plimp_tree_side *side)
{
	size_t i;
	int charge;

	for (i = 0; i < side->forest.count; i++)
		account_member(before, i, slack, side);
	for (charge = 0; charge < PLIMP_CHARGES; charge++) {
		uint64_t room = charge == PLIMP_CHARGE_CPU ? slack : 0;

		account_settle_late(side, charge,
				    account_settle_doubt(side, charge, room),
				    room);
	}
	for (i = 0; i < side->forest.count; i++) {
		struct plimp_tree_account *account = &side->accounts[i];

		account->late = account->during;
		memset(&account->before, 0, sizeof account->before);
		memset(&account->during, 0, sizeof account->during);
	}
	memset(&side->books.doubt_late, 0, sizeof side->books.doubt_late);
}

static void account_totals(struct plimp_tree_side *side)
{
	struct plimp_tree_gain all = side->books.doubt;
	size_t i;
	int charge;

	for (charge = 0; charge < PLIMP_CHARGES; charge++)
		all.amount[charge] =
		    account_add(all.amount[charge], side->books.kept[charge]);
	for (i = 0; i < side->forest.count; i++) {
		struct plimp_tree_gain whole;

		account_whole(&side->accounts[i], &whole);
		gain_add(&all, &whole);
	}
	memcpy(side->books.total, all.amount, sizeof all.amount);
}

static void account_facts(struct plimp_tree_side *side)
{
	plim_tree_facts *facts = &side->facts;
	size_t i;

	for (i = 0; i < side->forest.count; i++) {
		const plim_branch *branch = &side->forest.branches[i];

		account_count(&facts->members, 1);
		account_count(
		    &facts->unreadable,
		    (uint32_t)plimp_record_is_refused(branch->process));
		account_count(&facts->born,
			      (branch->flags & PLIM_BRANCH_BORN) != 0);
		account_count(&facts->reparented,
			      (branch->flags & PLIM_BRANCH_REPARENTED) != 0);
		account_count(&facts->ignoring,
			      (branch->flags & PLIM_BRANCH_IGNORES_CHILDREN) !=
				  0);
	}
}

static int account_reserve(plim_tree *tree, struct plimp_tree_side *side)
{
	void *accounts = side->accounts;
	int code = plimp_reserve(
	    &tree->host->allocator, &accounts, &side->account_capacity,
	    side->forest.count + 1, 256, sizeof *side->accounts);

	side->accounts = accounts;
	return code;
}

/* Two ticks in nanoseconds; where the tick is not told, as on most hosts. */
static uint64_t account_slack(const plim_host *host)
{
	plim_count rate = host->facts[PLIM_HOST_TICKS_PER_SECOND];

	if (rate.state != PLIM_STATE_KNOWN || rate.value == 0)
		return UINT64_C(20000000);
	return UINT64_C(2000000000) / rate.value;
}

int plimp_tree_account(plim_tree *tree, const struct plimp_tree_side *before,
		       struct plimp_tree_side *side)
{
	uint64_t slack = account_slack(tree->host);
	size_t i;
	int code = account_reserve(tree, side);

	if (code != PLIM_OK)
		return code;
	memset(&side->books, 0, sizeof side->books);
	memset(side->accounts, 0, side->forest.count * sizeof *side->accounts);
	if (before != NULL) {
		side->books = before->books;
		memset(side->books.found, 0, sizeof side->books.found);
		memset(side->books.grown, 0, sizeof side->books.grown);
		memset(side->books.owing, 0, sizeof side->books.owing);
		side->facts.kept = before->facts.kept;
		for (i = 0; i < side->forest.count; i++)
			if (side->earlier[i] != PLIM_NO_PARENT)
				side->accounts[i] =
				    before->accounts[side->earlier[i]];
		account_departed(tree, before, side);
	}
	account_members(before, slack, side);
	account_totals(side);
	account_facts(side);
	return PLIM_OK;
}
