/*
 * tree.c - plim_tree: a remembered process and its descendants, in rounds.
 *
 * A round finds the members (tree_members.c), settles who was charged for
 * those that ended (tree_account.c), and can then be asked (tree_sums.c).
 */
#include "observe/tree.h"

#include "core/fail.h"
#include "host/bill.h"

#include <assert.h>
#include <string.h>

int plim_tree_new(plim_tree **tree, plim_host *host, plim_error *error)
{
	plim_tree *made;
	int code;

	if (tree == NULL || host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new tree", NULL,
				  NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new tree", NULL,
				  NULL);
	made->host = host;
	code = plim_snapshot_new(&made->table, host, error);
	if (code != PLIM_OK) {
		plimp_release(&host->allocator, made, 1, sizeof *made);
		return code;
	}
	*tree = made;
	return PLIM_OK;
}

static void tree_release(plim_host *host, struct plimp_tree_side *side)
{
	const plim_allocator *allocator = &host->allocator;

	plimp_pass_release(host, &side->pass);
	plimp_forest_release(&side->forest, allocator);
	plimp_release(allocator, (void *)side->records, side->record_capacity,
		      sizeof(const plim_process *));
	plimp_release(allocator, side->earlier, side->earlier_capacity,
		      sizeof *side->earlier);
	plimp_release(allocator, side->accounts, side->account_capacity,
		      sizeof *side->accounts);
}

void plim_tree_free(plim_tree *tree)
{
	plim_host *host;
	int i;

	if (tree == NULL)
		return;
	host = tree->host;
	for (i = 0; i < 3; i++)
		tree_release(host, &tree->sides[i]);
	plim_snapshot_free(tree->table);
	plimp_forest_release(&tree->forest, &host->allocator);
	plimp_release(&host->allocator, (void *)tree->records,
		      tree->record_capacity, sizeof(const plim_process *));
	plimp_release(&host->allocator, tree, 1, sizeof *tree);
}

struct plimp_tree_side *plimp_tree_now(const plim_tree *tree)
{
	return (struct plimp_tree_side *)&tree->sides[tree->current];
}

struct plimp_tree_side *plimp_tree_before(const plim_tree *tree)
{
	return (struct plimp_tree_side *)&tree->sides[(tree->current + 2) % 3];
}

static int tree_options(const plim_tree_options *given,
			plim_tree_options *options, plim_error *error)
{
	memset(options, 0, sizeof *options);
	if (given == NULL)
		return PLIM_OK;
	if (given->size < sizeof given->size)
		return plimp_fail(error, PLIM_EINVAL, 0, "measure tree",
				  "options.size",
				  "set it to sizeof(plim_tree_options)");
	memcpy(options, given,
	       given->size < sizeof *options ? given->size : sizeof *options);
	return PLIM_OK;
}

/* What the round cost: processes present, vanished and hidden are those of
 * the table and those of the members. */
static void tree_cost(const plim_tree *tree, struct plimp_tree_side *side)
{
	const plim_cost *table = &tree->table->spare.cost;

	side->cost.present = table->present;
	side->cost.read = (uint32_t)side->pass.count;
	side->cost.vanished = table->vanished + side->facts.vanished;
	side->cost.refused = table->refused + side->facts.unreadable;
}

int plim_tree_usage(plim_tree *tree, plim_target *root,
		    const plim_tree_options *given, plim_error *error)
{
	const struct plimp_tree_side *before = NULL;
	struct plimp_tree_side *side;
	struct plimp_bill_mark mark;
	plim_tree_options options;
	int code;

	if (tree == NULL || root == NULL || root->host != tree->host)
		return plimp_fail(error, PLIM_EINVAL, 0, "measure tree", NULL,
				  NULL);
	code = tree_options(given, &options, error);
	if (code != PLIM_OK)
		return code;
	if (tree->rounds > 0 &&
	    plim_identity_compare(&tree->root, &root->identity) == PLIM_SAME)
		before = plimp_tree_now(tree);
	side = &tree->sides[(tree->current + 1) % 3];
	memset(&side->cost, 0, sizeof side->cost);
	mark = plimp_bill_begin(tree->host, 1);
	code = plimp_tree_find(tree, root, &options, before, side, error);
	if (code == PLIM_OK) {
		code = plimp_tree_account(tree, before, side);
		if (code != PLIM_OK)
			plimp_fail(error, code, 0, "measure tree", NULL, NULL);
	}
	if (code == PLIM_OK)
		tree_cost(tree, side);
	plimp_bill_end(tree->host, &mark, &side->cost);
	if (code != PLIM_OK)
		return code;
	plimp_snapshot_swap(tree->table);
	tree->current = (tree->current + 1) % 3;
	tree->rounds = before != NULL ? 2 : 1;
	tree->root = root->identity;
	return PLIM_OK;
}

size_t plim_tree_size(const plim_tree *tree)
{
	assert(tree != NULL);
	return tree->rounds > 0 ? plimp_tree_now(tree)->forest.count : 0;
}

const plim_branch *plim_tree_at(const plim_tree *tree, size_t index)
{
	assert(tree != NULL);
	if (index >= plim_tree_size(tree))
		return NULL;
	return &plimp_tree_now(tree)->forest.branches[index];
}

const plim_process *plim_tree_earlier(const plim_tree *tree, size_t index)
{
	size_t earlier;

	assert(tree != NULL);
	if (index >= plim_tree_size(tree) || tree->rounds < 2)
		return NULL;
	earlier = plimp_tree_now(tree)->earlier[index];
	if (earlier == PLIM_NO_PARENT)
		return NULL;
	return plimp_tree_before(tree)->forest.branches[earlier].process;
}

plim_tree_facts plim_tree_about(const plim_tree *tree)
{
	const plim_tree_facts none = {0};

	assert(tree != NULL);
	return tree->rounds > 0 ? plimp_tree_now(tree)->facts : none;
}

plim_cost plim_tree_cost(const plim_tree *tree)
{
	const plim_cost none = {0};

	assert(tree != NULL);
	return tree->rounds > 0 ? plimp_tree_now(tree)->cost : none;
}
