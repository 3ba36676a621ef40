/*
 * stack_tree.c - nodes found again by a hash of parent and item.
 */
#include "export/stack_tree.h"
#include "core/memory.h"

#include <assert.h>

#define TREE_SLOTS_LEAST 1024u

void plimp_stack_tree_begin(struct plimp_stack_tree *tree,
			    const plim_allocator *allocator)
{
	*tree = (struct plimp_stack_tree){.allocator = allocator};
}

void plimp_stack_tree_release(struct plimp_stack_tree *tree)
{
	plimp_release(tree->allocator, tree->nodes, tree->capacity,
		      sizeof *tree->nodes);
	plimp_release(tree->allocator, tree->slots, tree->slot_count,
		      sizeof *tree->slots);
	*tree = (struct plimp_stack_tree){.allocator = tree->allocator};
}

/* Both halves go in, and the product's upper bits, which depend on all of
 * them, come out. */
static size_t tree_hash(uint32_t parent, uint32_t item)
{
	uint64_t hash =
	    ((uint64_t)parent << 32 | item) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)((hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >>
			32);
}

/* The slot of a node, or the free one where it belongs. */
static size_t tree_slot(const struct plimp_stack_tree *tree, uint32_t parent,
			uint32_t item)
{
	const size_t mask = tree->slot_count - 1;
	size_t at = tree_hash(parent, item) & mask;

	for (; tree->slots[at] != 0; at = (at + 1) & mask) {
		const struct plimp_stack_node *node =
		    &tree->nodes[tree->slots[at] - 1];

		if (node->parent == parent && node->item == item)
			break;
	}
	return at;
}

static int tree_room(struct plimp_stack_tree *tree)
{
	uint32_t *before = tree->slots;
	const size_t before_count = tree->slot_count;
	void *nodes = tree->nodes;
	int code;

	if (tree->count >= PLIMP_NO_NODE - 1)
		return PLIM_ENOMEM;
	code = plimp_reserve(tree->allocator, &nodes, &tree->capacity,
			     tree->count + 1, 256, sizeof *tree->nodes);
	tree->nodes = nodes;
	if (code != PLIM_OK || tree->count * 2 < before_count)
		return code;
	tree->slot_count =
	    before_count > 0 ? before_count * 2 : TREE_SLOTS_LEAST;
	tree->slots = plimp_allocate(tree->allocator, tree->slot_count,
				     sizeof *tree->slots);
	if (tree->slots == NULL) {
		tree->slots = before;
		tree->slot_count = before_count;
		return PLIM_ENOMEM;
	}
	for (size_t i = 0; i < tree->count; i++)
		tree->slots[tree_slot(tree, tree->nodes[i].parent,
				      tree->nodes[i].item)] = (uint32_t)i + 1;
	plimp_release(tree->allocator, before, before_count, sizeof *before);
	return PLIM_OK;
}

int plimp_stack_tree_add(struct plimp_stack_tree *tree, uint32_t parent,
			 uint32_t item, uint32_t *node)
{
	size_t slot;
	int code = tree_room(tree);

	assert(parent == PLIMP_NO_NODE || parent < tree->count);
	if (code != PLIM_OK)
		return code;
	slot = tree_slot(tree, parent, item);
	if (tree->slots[slot] == 0) {
		tree->nodes[tree->count] =
		    (struct plimp_stack_node){parent, item};
		tree->slots[slot] = (uint32_t)++tree->count;
	}
	*node = tree->slots[slot] - 1;
	return PLIM_OK;
}
