/*
 * stack_tree.h - stacks as a tree: what begins the same from the root is the
 * same node. For formats that tell a stack as its last frame and the stack
 * that called it.
 */
#ifndef PLIMP_STACK_TREE_H
#define PLIMP_STACK_TREE_H

#include <plimsoll/base.h>

#define PLIMP_NO_NODE 0xffffffffu

struct plimp_stack_node {
	uint32_t parent; /* index, less than its own; PLIMP_NO_NODE: a root */
	uint32_t item;
};

struct plimp_stack_tree {
	const plim_allocator *allocator;
	struct plimp_stack_node *nodes;
	size_t count;
	size_t capacity;
	uint32_t *slots; /* hash table: 1 + index; at most half is used */
	size_t slot_count;
};

void plimp_stack_tree_begin(struct plimp_stack_tree *tree,
			    const plim_allocator *allocator);
void plimp_stack_tree_release(struct plimp_stack_tree *tree);

/* The node of an item below a parent, found or made. PLIM_ENOMEM. */
int plimp_stack_tree_add(struct plimp_stack_tree *tree, uint32_t parent,
			 uint32_t item, uint32_t *node);

#endif
