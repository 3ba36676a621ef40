/*
 * with_dwarf_unit.c - one pass over the tree of a unit, which leaves the
 * subprograms and inlined subroutines that have code, each with the next one
 * around it.
 *
 * libdw's own dwarf_getscopes() makes this pass for every address. Ours is
 * made once, and looks at no DIE twice: it enters what can hold code, as
 * dwarf_getscopes() does, and steps over the rest. What follows a DIE's last
 * child is found by the byte that ends the list of children, where a failed
 * dwarf_siblingof() leaves off; asking it for what follows the parent would
 * read all the children again where the compiler wrote no DW_AT_sibling
 * (clang). Nothing in a file can make the place go back, so that the pass ends.
 */
#if defined(PLIM_WITH_DWARF)

#include "unwind/with_dwarf_calls.h"

#include <assert.h>
#include <stdlib.h>

/* DIEs are not entered deeper. */
#define UNIT_DEPTH 512
/* Nodes of one unit; LTO makes units of some million. */
#define UNIT_NODES 16777216u

struct unit_pass {
	const struct plimp_dwarf_library *library;
	struct plimp_dwarf_unit *unit;
	struct plimp_dwarf_intervals intervals;
	size_t count;
	size_t capacity;
	size_t depth;
	uint32_t above[UNIT_DEPTH]; /* the node around the DIEs of a depth */
};

/* 1 for what has code of its own, 2 for what may hold something that has. */
static int unit_kind(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		return 1;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_entry_point:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* Rust has methods in them */
		return 2;
	default:
		return 0;
	}
}

static int unit_node_add(struct unit_pass *pass, Dwarf_Off die, uint32_t parent)
{
	if (pass->count == pass->capacity) {
		size_t wanted = pass->capacity == 0 ? 64 : pass->capacity * 2;
		void *more;

		if (pass->capacity >= UNIT_NODES)
			return PLIM_ELIMIT;
		more = realloc(pass->unit->nodes,
			       wanted * sizeof pass->unit->nodes[0]);
		if (more == NULL)
			return PLIM_ENOMEM;
		pass->unit->nodes = more;
		pass->capacity = wanted;
	}
	pass->unit->nodes[pass->count].die = die;
	pass->unit->nodes[pass->count].told = NULL;
	pass->unit->nodes[pass->count].parent = parent;
	pass->unit->node_count = ++pass->count;
	return PLIM_OK;
}

/*
 * Keeps a DIE that has code; `*above` becomes what is around its children.
 * 1 where its children are to be looked at, 0 where not, or an error. An
 * abstract function has no code, and nothing below it has. An inlined one
 * outside of any function is no such thing.
 */
static int unit_keep(struct unit_pass *pass, Dwarf_Die *die, int tag,
		     uint32_t *above)
{
	size_t before = pass->intervals.count;
	uint32_t node = (uint32_t)pass->count;
	int is_inlined = tag == DW_TAG_inlined_subroutine;
	int result;

	if (is_inlined && *above == PLIMP_DWARF_NONE)
		return 0;
	result =
	    plimp_dwarf_ranges_add(pass->library, die, node, &pass->intervals);
	if (result != PLIM_OK)
		return result;
	if (pass->intervals.count == before)
		return 0;
	result = unit_node_add(pass, pass->library->dwarf_dieoffset(die),
			       is_inlined ? *above : PLIMP_DWARF_NONE);
	if (result != PLIM_OK)
		return result;
	*above = node;
	return 1;
}

/* `die` stands where a list of siblings ends: steps behind the end, and behind
 * those of the lists around it. 1 and the next DIE, or 0. */
static int unit_ascend(struct unit_pass *pass, Dwarf_Die *die)
{
	for (;;) {
		const unsigned char *at = die->addr;
		Dwarf_Off offset = pass->library->dwarf_dieoffset(die);

		if (at == NULL || offset >= pass->unit->end)
			return 0;
		if (*at != 0) {
			die->abbrev = NULL;
			return 1;
		}
		if (pass->depth == 0)
			return 0;
		pass->depth--;
		die->addr = (unsigned char *)die->addr + 1;
	}
}

/* Looks at one DIE and goes to the next in the order of the file. 1, 0 at the
 * end of the unit, or an error. */
static int unit_step(struct unit_pass *pass, Dwarf_Die *die)
{
	uint32_t above = pass->above[pass->depth];
	int tag = pass->library->dwarf_tag(die);
	int kind = unit_kind(tag);
	int enter = kind == 2;
	/* Where there is no next one libdw sets its address alone. */
	Dwarf_Die next = *die;

	if (tag <= 0)
		return PLIM_EMALFORMED;
	if (kind == 1)
		enter = unit_keep(pass, die, tag, &above);
	if (enter < 0)
		return enter;
	if (enter && pass->depth + 1 < UNIT_DEPTH) {
		int has = pass->library->dwarf_child(die, &next);

		if (has < 0)
			return PLIM_EMALFORMED;
		if (has == 0) {
			pass->above[++pass->depth] = above;
			*die = next;
			return 1;
		}
	}
	switch (pass->library->dwarf_siblingof(die, &next)) {
	case 0:
		*die = next;
		return 1;
	case 1:
		*die = next;
		return unit_ascend(pass, die);
	default:
		return PLIM_EMALFORMED;
	}
}

static int unit_walk(struct unit_pass *pass)
{
	Dwarf_Die unit = pass->unit->die;
	Dwarf_Die die;
	int result;

	result = pass->library->dwarf_child(&unit, &die);
	if (result != 0)
		return result < 0 ? PLIM_EMALFORMED : PLIM_OK;
	do {
		result = unit_step(pass, &die);
	} while (result > 0);
	return result;
}

/* What was found before the tree turned out to be broken is kept. */
void plimp_dwarf_index(const struct plimp_dwarf_library *library,
		       struct plimp_dwarf_unit *unit)
{
	struct unit_pass pass = {.library = library, .unit = unit};
	int result;

	assert(!unit->is_indexed);
	pass.above[0] = PLIMP_DWARF_NONE;
	unit->is_indexed = 1;
	unit->problem = unit_walk(&pass);
	result = plimp_dwarf_flatten(&pass.intervals, &unit->functions);
	if (unit->problem == PLIM_OK)
		unit->problem = result;
}

void plimp_dwarf_unit_free(struct plimp_dwarf_unit *unit)
{
	size_t i;

	for (i = 0; i < unit->node_count; i++)
		free(unit->nodes[i].told);
	free(unit->nodes);
	free(unit->functions.items);
	for (i = 0; i < unit->path_room; i++)
		free(unit->paths[i].made);
	free(unit->paths);
}

#else
typedef int plimp_with_dwarf_unit_is_empty;
#endif
