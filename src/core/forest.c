/*
 * forest.c - from records to branches in preorder.
 *
 * Four passes without recursion, each linear but the first, which looks every
 * parent up among the pids: link, cut circles, hang children onto their
 * parents, walk. Every record has exactly one link upwards, so that a walk up
 * ends at a root, in a circle, or where an earlier walk has been; and since
 * all circles are cut, the walk down meets every record once. What a parent
 * is decides plim_process_is_child_of().
 */
#include "core/forest.h"
#include "core/record.h"

#include <assert.h>

int plimp_forest_reserve(struct plimp_forest *forest,
			 const plim_allocator *allocator, size_t count)
{
	void *branches = forest->branches;
	void *nodes = forest->nodes;
	int code;

	code = plimp_reserve(allocator, &nodes, &forest->node_capacity, count,
			     256, sizeof *forest->nodes);
	forest->nodes = nodes;
	if (code != PLIM_OK)
		return code;
	code = plimp_reserve(allocator, &branches, &forest->capacity, count,
			     256, sizeof *forest->branches);
	forest->branches = branches;
	return code;
}

void plimp_forest_release(struct plimp_forest *forest,
			  const plim_allocator *allocator)
{
	plimp_release(allocator, forest->nodes, forest->node_capacity,
		      sizeof *forest->nodes);
	plimp_release(allocator, forest->branches, forest->capacity,
		      sizeof *forest->branches);
	*forest = (struct plimp_forest){0};
}

size_t plimp_forest_find(const plim_process *const *records, size_t count,
			 uint64_t pid)
{
	size_t low = 0;
	size_t high = count;

	if (pid > INT32_MAX)
		return PLIM_NO_PARENT;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uint64_t)records[middle]->identity.pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && (uint64_t)records[low]->identity.pid == pid
		   ? low
		   : PLIM_NO_PARENT;
}

static void forest_link(struct plimp_forest *forest,
			const plim_process *const *records, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		plim_count ppid = records[i]->figures[PLIM_FIELD_PPID];
		size_t parent = PLIM_NO_PARENT;

		assert(i == 0 ||
		       records[i - 1]->identity.pid < records[i]->identity.pid);
		if (ppid.state == PLIM_STATE_KNOWN)
			parent = plimp_forest_find(records, count, ppid.value);
		if (parent != PLIM_NO_PARENT &&
		    !plim_process_is_child_of(records[i], records[parent]))
			parent = PLIM_NO_PARENT;
		forest->nodes[i] = (struct plimp_forest_node){
		    .parent = parent,
		    .child = PLIM_NO_PARENT,
		    .sibling = PLIM_NO_PARENT,
		};
	}
}

/* Above the lowest pid of the circle through `start`. */
static void forest_cut_circle(struct plimp_forest_node *nodes, size_t start)
{
	size_t lowest = start;
	size_t at = nodes[start].parent;

	while (at != start) {
		if (at < lowest)
			lowest = at;
		at = nodes[at].parent;
	}
	nodes[lowest].parent = PLIM_NO_PARENT;
}

/* Walks up from each record and leaves its mark, until it meets a mark: an
 * own one closes a circle, another one has been dealt with. */
static void forest_cut(struct plimp_forest *forest, size_t count)
{
	struct plimp_forest_node *nodes = forest->nodes;
	size_t i;

	for (i = 0; i < count; i++) {
		size_t at = i;

		while (at != PLIM_NO_PARENT && nodes[at].branch == 0) {
			nodes[at].branch = i + 1;
			at = nodes[at].parent;
		}
		if (at != PLIM_NO_PARENT && nodes[at].branch == i + 1)
			forest_cut_circle(nodes, at);
	}
}

/* From the last to the first, so that siblings ascend by pid. */
static void forest_hang(struct plimp_forest *forest, size_t count)
{
	struct plimp_forest_node *nodes = forest->nodes;
	size_t i;

	for (i = count; i-- > 0;) {
		size_t parent = nodes[i].parent;

		if (parent == PLIM_NO_PARENT)
			continue;
		nodes[i].sibling = nodes[parent].child;
		nodes[parent].child = i;
	}
}

static void forest_place(struct plimp_forest *forest,
			 const plim_process *const *records, size_t at)
{
	struct plimp_forest_node *node = &forest->nodes[at];
	plim_branch *branch = &forest->branches[forest->count];

	*branch = (plim_branch){
	    .process = records[at],
	    .parent = PLIM_NO_PARENT,
	    .size = 1,
	    .flags = records[at]->ignores_children == PLIMP_IGNORES_YES
			 ? PLIM_BRANCH_IGNORES_CHILDREN
			 : 0,
	};
	if (node->parent != PLIM_NO_PARENT) {
		branch->parent = forest->nodes[node->parent].branch;
		branch->depth = forest->branches[branch->parent].depth + 1;
	}
	node->branch = forest->count++;
}

/* One tree: down to the first child, else on to the sibling of the nearest
 * record on the way up that has one. */
static void forest_walk(struct plimp_forest *forest,
			const plim_process *const *records, size_t root)
{
	const struct plimp_forest_node *nodes = forest->nodes;
	size_t at = root;

	assert(nodes[root].parent == PLIM_NO_PARENT);
	for (;;) {
		forest_place(forest, records, at);
		if (nodes[at].child != PLIM_NO_PARENT) {
			at = nodes[at].child;
			continue;
		}
		while (at != root && nodes[at].sibling == PLIM_NO_PARENT)
			at = nodes[at].parent;
		if (at == root)
			return;
		at = nodes[at].sibling;
	}
}

static void forest_measure(struct plimp_forest *forest)
{
	size_t i;

	for (i = forest->count; i-- > 0;) {
		const plim_branch *branch = &forest->branches[i];

		assert(branch->parent == PLIM_NO_PARENT || branch->parent < i);
		if (branch->parent != PLIM_NO_PARENT)
			forest->branches[branch->parent].size += branch->size;
	}
}

void plimp_forest_plant(struct plimp_forest *forest,
			const plim_process *const *records, size_t count,
			size_t first)
{
	size_t i;

	assert(count <= forest->capacity && count <= forest->node_capacity);
	assert(first == PLIM_NO_PARENT || first < count);
	forest->count = 0;
	forest_link(forest, records, count);
	if (first != PLIM_NO_PARENT)
		forest->nodes[first].parent = PLIM_NO_PARENT;
	forest_cut(forest, count);
	forest_hang(forest, count);
	if (first != PLIM_NO_PARENT)
		forest_walk(forest, records, first);
	for (i = 0; i < count; i++)
		if (i != first && forest->nodes[i].parent == PLIM_NO_PARENT)
			forest_walk(forest, records, i);
	assert(forest->count == count);
	forest_measure(forest);
}
