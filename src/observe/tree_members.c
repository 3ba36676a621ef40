/*
 * tree_members.c - which processes are members, and their records.
 *
 * One light pass over every process gives pids, parents and start times; the
 * members are what hangs under the root by proven links, and, where membership
 * is sticky, whoever was a member before and what hangs under that. Then each
 * is read whole, a parent before its children, and must still be who it was in
 * the pass. That order is what the accounts stand on: a child that is seen
 * alive after its parent was read is in none of the parent's counters. At last
 * the members are put into their places by what these readings say, so that
 * who lost its parent meanwhile stands as a root of its own.
 */
#include "observe/tree.h"

#include "core/fail.h"

#include <assert.h>
#include <string.h>

static int members_no_memory(plim_error *error)
{
	return plimp_fail(error, PLIM_ENOMEM, 0, "measure tree", NULL, NULL);
}

size_t plimp_tree_seek(const struct plimp_tree_side *side,
		       const plim_identity *identity)
{
	size_t at;

	if (identity->pid < 1)
		return PLIM_NO_PARENT;
	at = plimp_forest_find(side->records, side->forest.count,
			       (uint64_t)identity->pid);
	if (at == PLIM_NO_PARENT ||
	    plim_identity_compare(&side->records[at]->identity, identity) !=
		PLIM_SAME)
		return PLIM_NO_PARENT;
	return side->forest.nodes[at].branch;
}

const plim_branch *plimp_tree_in_table(const plim_tree *tree,
				       const plim_identity *identity)
{
	size_t at;

	if (identity->pid < 1)
		return NULL;
	at = plimp_forest_find(tree->records, tree->forest.count,
			       (uint64_t)identity->pid);
	if (at == PLIM_NO_PARENT ||
	    plim_identity_compare(&tree->records[at]->identity, identity) !=
		PLIM_SAME)
		return NULL;
	return &tree->forest.branches[tree->forest.nodes[at].branch];
}

/* Every process, lightly, into the spare half of the table. */
static int members_table(plim_tree *tree, struct plimp_request *request,
			 plim_error *error)
{
	const plim_allocator *allocator = &tree->host->allocator;
	struct plimp_pass *pass = &tree->table->spare;
	struct plimp_request light = {.threads = 0};
	void *records = (void *)tree->records;
	size_t i;
	int code;

	plim_field_set_add(&light.fields, PLIM_FIELD_PPID);
	plim_field_set_add(&light.fields, PLIM_FIELD_START_TICKS);
	code = plimp_snapshot_fill(
	    tree->table, &light, tree->rounds > 0 ? tree->table : NULL, error);
	if (code != PLIM_OK)
		return code;
	/* The same processes get the strong identity in both readings. */
	request->young_ticks = light.young_ticks;
	code = plimp_reserve(allocator, &records, &tree->record_capacity,
			     pass->count, 256, sizeof(const plim_process *));
	tree->records = records;
	if (code != PLIM_OK || plimp_forest_reserve(&tree->forest, allocator,
						    pass->count) != PLIM_OK)
		return members_no_memory(error);
	for (i = 0; i < pass->count; i++)
		tree->records[i] = &pass->records[i];
	return PLIM_OK;
}

/* Marks the members of the table and counts them. `root` is its index there,
 * or PLIM_NO_PARENT. */
static size_t members_mark(plim_tree *tree, size_t root,
			   const struct plimp_tree_side *sticky)
{
	plim_branch *branches = tree->forest.branches;
	size_t marked = 0;
	size_t i;

	plimp_forest_plant(&tree->forest, tree->records,
			   tree->table->spare.count, root);
	for (i = 0; i < tree->forest.count; i++) {
		plim_branch *branch = &branches[i];
		int member = root != PLIM_NO_PARENT && i == 0;

		if (branch->parent != PLIM_NO_PARENT)
			member |= branches[branch->parent].reserved != 0;
		if (!member && sticky != NULL)
			member = plimp_tree_seek(sticky,
						 &branch->process->identity) !=
				 PLIM_NO_PARENT;
		branch->reserved = member ? PLIMP_TREE_MEMBER : 0;
		marked += (size_t)member;
	}
	return marked;
}

static int members_reserve(plim_tree *tree, struct plimp_tree_side *side,
			   size_t count, plim_error *error)
{
	const plim_allocator *allocator = &tree->host->allocator;
	void *records = (void *)side->records;
	void *earlier = side->earlier;
	int code = plimp_pass_reserve(tree->host, &side->pass, count, error);

	if (code != PLIM_OK)
		return code;
	code = plimp_reserve(allocator, &records, &side->record_capacity, count,
			     256, sizeof(const plim_process *));
	side->records = records;
	if (code == PLIM_OK)
		code =
		    plimp_reserve(allocator, &earlier, &side->earlier_capacity,
				  count, 256, sizeof *side->earlier);
	side->earlier = earlier;
	if (code == PLIM_OK)
		code = plimp_forest_reserve(&side->forest, allocator, count);
	return code == PLIM_OK ? PLIM_OK : members_no_memory(error);
}

/* One member; who ended since the pass, or is another by now, adds nothing. */
static int members_read_one(plim_tree *tree,
			    const struct plimp_request *request,
			    plim_branch *branch, struct plimp_tree_side *side,
			    plim_error *error)
{
	const plim_identity *identity = &branch->process->identity;
	struct plimp_pass *pass = &side->pass;
	plim_process *record = &pass->records[pass->count];
	size_t threads = pass->threads.count;
	size_t texts = pass->texts.size;
	int code = plimp_system_read(tree->host, identity->pid, request, record,
				     &pass->threads, error);

	if (code == PLIM_OK &&
	    plim_identity_compare(&record->identity, identity) == PLIM_SAME) {
		pass->count++;
		return PLIM_OK;
	}
	pass->threads.count = threads;
	pass->texts.size = texts;
	if (code != PLIM_OK && code != PLIM_ENOPROCESS && code != PLIM_EHIDDEN)
		return code;
	side->facts.vanished++;
	return PLIM_OK;
}

static int members_read(plim_tree *tree, const struct plimp_request *request,
			struct plimp_tree_side *side, size_t first,
			plim_error *error)
{
	size_t i;

	for (i = first; i < tree->forest.count; i++) {
		plim_branch *branch = &tree->forest.branches[i];
		int code;

		if (branch->reserved == 0)
			continue;
		code = members_read_one(tree, request, branch, side, error);
		if (code != PLIM_OK)
			return code;
	}
	return PLIM_OK;
}

static void members_sift(const plim_process **records, size_t root,
			 size_t count)
{
	const plim_process *moved = records[root];
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count && records[child]->identity.pid <
					     records[child + 1]->identity.pid)
			child++;
		if (moved->identity.pid >= records[child]->identity.pid)
			break;
		records[root] = records[child];
		root = child;
	}
	records[root] = moved;
}

static void members_sort(const plim_process **records, size_t count)
{
	size_t at;

	for (at = count / 2; at > 0; at--)
		members_sift(records, at - 1, count);
	for (at = count; at-- > 1;) {
		const plim_process *last = records[at];

		records[at] = records[0];
		records[0] = last;
		members_sift(records, 0, at);
	}
}

/* The members in their places, as they were read; roots but the tree's own
 * have their parents outside. */
static void members_place(struct plimp_tree_side *side, int has_root,
			  const struct plimp_tree_side *before)
{
	struct plimp_forest *forest = &side->forest;
	size_t count = side->pass.count;
	size_t root = PLIM_NO_PARENT;
	size_t i;

	for (i = 0; i < count; i++)
		side->records[i] = &side->pass.records[i];
	members_sort(side->records, count);
	if (has_root)
		root = plimp_forest_find(
		    side->records, count,
		    (uint64_t)side->pass.records[0].identity.pid);
	plimp_forest_plant(forest, side->records, count, root);
	for (i = 0; i < count; i++) {
		plim_branch *branch = &forest->branches[i];

		side->earlier[i] = PLIM_NO_PARENT;
		if (before != NULL)
			side->earlier[i] =
			    plimp_tree_seek(before, &branch->process->identity);
		if (before != NULL && side->earlier[i] == PLIM_NO_PARENT)
			branch->flags |= PLIM_BRANCH_BORN;
		if (branch->parent == PLIM_NO_PARENT && (i > 0 || !has_root))
			branch->flags |= PLIM_BRANCH_REPARENTED;
	}
}

/* The root through the caller's hold on it, which no successor can answer.
 * Sets `*has_root` to 0 if it has ended. */
static int members_root(plim_target *root, const struct plimp_request *request,
			struct plimp_tree_side *side, int *has_root,
			plim_error *error)
{
	plim_error problem = {0};
	int code =
	    plimp_system_read_target(root, request, &side->pass.records[0],
				     &side->pass.threads, &problem);

	*has_root = code == PLIM_OK;
	if (code == PLIM_OK) {
		side->pass.count = 1;
		return PLIM_OK;
	}
	side->pass.threads.count = 0;
	side->pass.texts.size = 0;
	if (code == PLIM_ENOPROCESS || code == PLIM_EREPLACED)
		return PLIM_OK;
	if (error != NULL)
		*error = problem;
	return code;
}

/* The pass may still have seen the root: it ended, and did not go away. */
static void members_root_ended(plim_tree *tree, const plim_target *root)
{
	const plim_branch *branch = plimp_tree_in_table(tree, &root->identity);

	if (branch != NULL)
		tree->forest.branches[branch - tree->forest.branches].reserved =
		    PLIMP_TREE_MEMBER;
}

static void members_request(const plim_tree_options *options,
			    struct plimp_request *request)
{
	static const int needed[] = {PLIM_FIELD_PPID, PLIM_FIELD_START_TICKS,
				     PLIM_FIELD_CPU, PLIM_FIELD_CPU_CHILDREN};
	size_t i;

	memset(request, 0, sizeof *request);
	request->fields = options->fields != NULL
			      ? *options->fields
			      : plim_field_set_preset(PLIM_FIELDS_FULL);
	for (i = 0; i < sizeof needed / sizeof needed[0]; i++)
		plim_field_set_add(&request->fields, needed[i]);
	request->threads = options->threads != 0;
	request->children = 1;
	request->walks = options->fields != NULL;
}

int plimp_tree_find(plim_tree *tree, plim_target *root,
		    const plim_tree_options *options,
		    const struct plimp_tree_side *before,
		    struct plimp_tree_side *side, plim_error *error)
{
	struct plimp_request request;
	size_t at = PLIM_NO_PARENT;
	size_t count;
	int has_root;
	int code;

	members_request(options, &request);
	memset(&side->facts, 0, sizeof side->facts);
	side->pass.count = 0;
	side->pass.threads.count = 0;
	side->pass.texts.size = 0;
	request.texts = &side->pass.texts;
	code = members_table(tree, &request, error);
	if (code == PLIM_OK)
		code = members_reserve(tree, side, 1, error);
	if (code != PLIM_OK)
		return code;
	side->pass.begin = plimp_system_now();
	side->pass.young_ticks = tree->table->spare.young_ticks;
	code = members_root(root, &request, side, &has_root, error);
	if (code != PLIM_OK)
		return code;
	if (has_root)
		at = plimp_forest_find(tree->records, tree->table->spare.count,
				       (uint64_t)root->identity.pid);
	/* It was there all the time, so the pass must have seen it. */
	if (has_root && (at == PLIM_NO_PARENT ||
			 plim_identity_compare(&tree->records[at]->identity,
					       &root->identity) != PLIM_SAME))
		return plimp_fail(error, PLIM_ECANNOTTELL, 0, "measure tree",
				  NULL,
				  "the root is not in the list of "
				  "processes");
	count = members_mark(tree, at, options->sticky ? before : NULL);
	code = members_reserve(tree, side, count + 1, error);
	if (code == PLIM_OK)
		code =
		    members_read(tree, &request, side, (size_t)has_root, error);
	if (code != PLIM_OK)
		return code;
	if (!has_root)
		members_root_ended(tree, root);
	side->pass.end = plimp_system_now();
	plimp_pass_join(&side->pass);
	members_place(side, has_root, before);
	return PLIM_OK;
}
