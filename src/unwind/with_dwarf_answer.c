/*
 * with_dwarf_answer.c - the answer to one address: the row of the line table,
 * and the names and calls of the functions around it.
 *
 * What is asked of a profile are many addresses of few functions, and libdw
 * looks a DIE's attributes up anew each time, by way of its abbreviation and of
 * what it is an instance of. So what a node is called is kept, and so is each
 * path of a unit that was put together. Memory is the cell's.
 */
#if defined(PLIM_WITH_DWARF)

#include "unwind/with_dwarf_calls.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static plim_bytes answer_text(const char *text)
{
	plim_bytes bytes = {text, text == NULL ? 0 : strlen(text)};

	return bytes;
}

static uint32_t answer_u32(Dwarf_Word value)
{
	return value > UINT32_MAX ? 0 : (uint32_t)value;
}

/* A text of the DIE, or of what it is an instance of. */
static plim_bytes answer_name(const struct plimp_dwarf *dwarf, Dwarf_Die *die,
			      unsigned which)
{
	Dwarf_Attribute attribute;

	if (dwarf->library->dwarf_attr_integrate(die, which, &attribute) ==
	    NULL)
		return answer_text(NULL);
	return answer_text(dwarf->library->dwarf_formstring(&attribute));
}

/* A number of the DIE itself; 0 where it has none. */
static uint32_t answer_number(const struct plimp_dwarf *dwarf, Dwarf_Die *die,
			      unsigned which)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf->library->dwarf_attr(die, which, &attribute) == NULL ||
	    dwarf->library->dwarf_formudata(&attribute, &value) != 0)
		return 0;
	return answer_u32(value);
}

/* --- paths ---------------------------------------------------------------- */

static plim_bytes answer_folder(const struct plimp_dwarf *dwarf,
				struct plimp_dwarf_unit *unit)
{
	Dwarf_Attribute attribute;

	if (!unit->has_folder &&
	    dwarf->library->dwarf_attr(&unit->die, DW_AT_comp_dir,
				       &attribute) != NULL)
		unit->folder =
		    answer_text(dwarf->library->dwarf_formstring(&attribute));
	unit->has_folder = 1;
	return unit->folder;
}

/*
 * A path from the unit's folder on. libdw puts the folder before most that are
 * relative, but not before all; where the folder itself is relative
 * (-fdebug-prefix-map) it must not be there twice.
 */
static void answer_join(const struct plimp_dwarf *dwarf,
			struct plimp_dwarf_unit *unit,
			struct plimp_dwarf_path *path)
{
	plim_bytes name = answer_text(path->path);
	plim_bytes folder;

	path->whole = name;
	path->made = NULL;
	if (name.size == 0 || name.data[0] == '/')
		return;
	folder = answer_folder(dwarf, unit);
	if (folder.size == 0 || folder.size >= PLIMP_LINES_NAME ||
	    name.size >= PLIMP_LINES_NAME - folder.size)
		return;
	if (name.size > folder.size && name.data[folder.size] == '/' &&
	    memcmp(name.data, folder.data, folder.size) == 0)
		return;
	path->made = malloc(folder.size + 1 + name.size);
	if (path->made == NULL)
		return;
	memcpy(path->made, folder.data, folder.size);
	path->made[folder.size] = '/';
	memcpy(path->made + folder.size + 1, name.data, name.size);
	path->whole.data = path->made;
	path->whole.size = folder.size + 1 + name.size;
}

/* Its place in a table that has a free one: libdw has one text for each. */
static size_t answer_place(const struct plimp_dwarf_path *paths, size_t room,
			   const char *path)
{
	uint64_t hash = (uint64_t)(uintptr_t)path * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash >> 32) & (room - 1);

	while (paths[at].path != NULL && paths[at].path != path)
		at = (at + 1) & (room - 1);
	return at;
}

static int answer_grow(struct plimp_dwarf_unit *unit)
{
	size_t room = unit->path_room == 0 ? 16 : unit->path_room * 2;
	struct plimp_dwarf_path *paths = calloc(room, sizeof paths[0]);
	size_t i;

	if (paths == NULL)
		return PLIM_ENOMEM;
	for (i = 0; i < unit->path_room; i++)
		if (unit->paths[i].path != NULL)
			paths[answer_place(paths, room, unit->paths[i].path)] =
			    unit->paths[i];
	free(unit->paths);
	unit->paths = paths;
	unit->path_room = room;
	return PLIM_OK;
}

static plim_bytes answer_path(const struct plimp_dwarf *dwarf,
			      struct plimp_dwarf_unit *unit, const char *path)
{
	size_t at;

	if (path == NULL)
		return answer_text(NULL);
	if (2 * (unit->path_count + 1) > unit->path_room &&
	    answer_grow(unit) != PLIM_OK)
		return answer_text(path);
	at = answer_place(unit->paths, unit->path_room, path);
	if (unit->paths[at].path == NULL) {
		unit->paths[at].path = path;
		answer_join(dwarf, unit, &unit->paths[at]);
		unit->path_count++;
	}
	return unit->paths[at].whole;
}

/* --- frames --------------------------------------------------------------- */

static struct plimp_dwarf_place answer_row(const struct plimp_dwarf *dwarf,
					   struct plimp_dwarf_unit *unit,
					   uint64_t address)
{
	struct plimp_dwarf_place place = {{NULL, 0}, 0, 0};
	Dwarf_Line *row = dwarf->library->dwarf_getsrc_die(&unit->die, address);
	int number;

	if (row == NULL)
		return place;
	place.file = answer_path(
	    dwarf, unit, dwarf->library->dwarf_linesrc(row, NULL, NULL));
	if (dwarf->library->dwarf_lineno(row, &number) == 0 && number > 0)
		place.line = (uint32_t)number;
	if (dwarf->library->dwarf_linecol(row, &number) == 0 && number > 0)
		place.column = (uint32_t)number;
	return place;
}

static struct plimp_dwarf_place answer_call(const struct plimp_dwarf *dwarf,
					    struct plimp_dwarf_unit *unit,
					    Dwarf_Die *die)
{
	struct plimp_dwarf_place place = {{NULL, 0}, 0, 0};
	uint32_t index = answer_number(dwarf, die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	if (dwarf->library->dwarf_getsrcfiles(&unit->die, &files, &count) ==
		0 &&
	    index < count)
		place.file = answer_path(
		    dwarf, unit,
		    dwarf->library->dwarf_filesrc(files, index, NULL, NULL));
	place.line = answer_number(dwarf, die, DW_AT_call_line);
	place.column = answer_number(dwarf, die, DW_AT_call_column);
	return place;
}

static void answer_describe(const struct plimp_dwarf *dwarf,
			    struct plimp_dwarf_unit *unit,
			    const struct plimp_dwarf_node *node,
			    struct plimp_dwarf_told *told)
{
	struct plimp_line *line = &told->line;
	Dwarf_Addr start;
	Dwarf_Die die;
	int number;

	memset(told, 0, sizeof *told);
	line->is_inlined = node->parent != PLIMP_DWARF_NONE;
	if (dwarf->library->dwarf_offdie(dwarf->dwarf, node->die, &die) == NULL)
		return;
	line->function = answer_name(dwarf, &die, DW_AT_name);
	line->linkage = answer_name(dwarf, &die, DW_AT_linkage_name);
	if (line->linkage.size == 0)
		line->linkage =
		    answer_name(dwarf, &die, DW_AT_MIPS_linkage_name);
	line->declared_file =
	    answer_path(dwarf, unit, dwarf->library->dwarf_decl_file(&die));
	if (dwarf->library->dwarf_decl_line(&die, &number) == 0 && number > 0)
		line->declared_line = (uint32_t)number;
	if (line->is_inlined)
		told->call = answer_call(dwarf, unit, &die);
	else if (dwarf->library->dwarf_entrypc(&die, &start) == 0)
		line->start = start;
}

/* What is kept of the node, or, where there is no memory to keep it, `spare`,
 * which is filled. */
static const struct plimp_dwarf_told *
answer_node(const struct plimp_dwarf *dwarf, struct plimp_dwarf_unit *unit,
	    struct plimp_dwarf_node *node, struct plimp_dwarf_told *spare)
{
	if (node->told != NULL)
		return node->told;
	answer_describe(dwarf, unit, node, spare);
	node->told = malloc(sizeof *node->told);
	if (node->told == NULL)
		return spare;
	*node->told = *spare;
	return node->told;
}

/* The node and those around it; a parent's number is always below its
 * child's. How many frames there are. */
static size_t answer_frames(const struct plimp_dwarf *dwarf,
			    struct plimp_dwarf_unit *unit, uint32_t node,
			    struct plimp_dwarf_place place,
			    struct plimp_line *frames, size_t capacity)
{
	size_t count = 0;

	while (node != PLIMP_DWARF_NONE) {
		struct plimp_dwarf_node *at = &unit->nodes[node];
		struct plimp_dwarf_told spare;
		const struct plimp_dwarf_told *told =
		    answer_node(dwarf, unit, at, &spare);
		struct plimp_line *frame =
		    &frames[count < capacity ? count : capacity - 1];

		assert(at->parent == PLIMP_DWARF_NONE || at->parent < node);
		*frame = told->line;
		frame->file = place.file;
		frame->line = place.line;
		frame->column = place.column;
		place = told->call;
		count++;
		node = at->parent;
	}
	return count < capacity ? count : capacity;
}

int plimp_dwarf_is_ready(const struct plimp_dwarf *dwarf, uint64_t address)
{
	uint32_t which = plimp_dwarf_lookup(&dwarf->table, address);

	return which == PLIMP_DWARF_NONE || dwarf->units[which].is_indexed;
}

int plimp_dwarf_find(struct plimp_dwarf *dwarf, uint64_t address,
		     struct plimp_line *frames, size_t capacity, size_t *count)
{
	uint32_t which = plimp_dwarf_lookup(&dwarf->table, address);
	struct plimp_dwarf_unit *unit;
	struct plimp_dwarf_place place;
	uint32_t node;

	if (which == PLIMP_DWARF_NONE)
		return PLIM_ENAME;
	unit = &dwarf->units[which];
	if (!unit->is_indexed)
		plimp_dwarf_index(dwarf->library, unit);
	node = plimp_dwarf_lookup(&unit->functions, address);
	place = answer_row(dwarf, unit, address);
	if (node != PLIMP_DWARF_NONE) {
		*count =
		    answer_frames(dwarf, unit, node, place, frames, capacity);
		return PLIM_OK;
	}
	if (place.line == 0)
		return unit->problem != PLIM_OK ? unit->problem : PLIM_ENAME;
	memset(&frames[0], 0, sizeof frames[0]);
	frames[0].file = place.file;
	frames[0].line = place.line;
	frames[0].column = place.column;
	*count = 1;
	return PLIM_OK;
}

#else
typedef int plimp_with_dwarf_answer_is_empty;
#endif
