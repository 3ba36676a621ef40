/*
 * module_look.c - a look at the mappings, and what the kernel tells of one:
 * what is there is compared with what was, range by range.
 *
 * A range goes on where the same file is mapped at the same addresses with the
 * same offset; mprotect() and munmap() may have cut it, and a JIT may have made
 * it grow. What is left of a range that does not go on has ended. Between two
 * looks nobody knows when something came or went, so that it has a time since
 * when it may have been there and one since when it surely was; an event of the
 * kernel tells one time for both.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "unwind/module_parts.h"

#include <assert.h>
#include <string.h>

static int look_same_name(plim_bytes a, plim_bytes b)
{
	return a.size == b.size &&
	       (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* 1 if the mapping goes on where the sight ends, with the same behind it. */
static int look_continues(const struct plimp_modules *modules,
			  const struct plimp_module_sight *sight,
			  const struct plimp_mapping *mapping)
{
	if (mapping->start != sight->end || mapping->device != sight->device ||
	    mapping->inode != sight->inode)
		return 0;
	if (mapping->inode != 0)
		return mapping->offset - sight->offset ==
		       mapping->start - sight->start;
	return look_same_name(plimp_space_name(&modules->space, mapping),
			      sight->name);
}

/* The executable mapping at or after `*next`, with those that go on from it. 0:
 * there is none any more. */
static int look_next(const struct plimp_modules *modules, size_t *next,
		     struct plimp_module_sight *sight)
{
	const struct plimp_space *space = &modules->space;
	const struct plimp_mapping *mapping;
	size_t i = *next;

	while (i < space->count &&
	       (space->items[i].protection & PLIMP_MAY_EXECUTE) == 0)
		i++;
	if (i == space->count)
		return 0;
	mapping = &space->items[i];
	sight->start = mapping->start;
	sight->end = mapping->end;
	sight->offset = mapping->offset;
	sight->device = mapping->device;
	sight->inode = mapping->inode;
	sight->name = plimp_space_name(space, mapping);
	sight->mapping = mapping;
	for (i++; i < space->count; i++) {
		mapping = &space->items[i];
		if ((mapping->protection & PLIMP_MAY_EXECUTE) == 0 ||
		    !look_continues(modules, sight, mapping))
			break;
		sight->end = mapping->end;
	}
	*next = i;
	return 1;
}

/* 1 if what is seen is what the range holds, wherever its ends are. */
static int look_is_range(const struct plimp_modules *modules,
			 const struct plimp_module_sight *sight,
			 const struct plimp_module_range *range)
{
	const struct plimp_module *module = modules->items[range->module];
	plim_bytes name = sight->name;

	if (range->device != sight->device || range->inode != sight->inode)
		return 0;
	if (sight->inode != 0)
		return range->start - range->offset ==
		       sight->start - sight->offset;
	if (name.size == 0)
		name = (plim_bytes){"[anon]", 6};
	return look_same_name(module->path, name);
}

/* Times of a part of a range that has ended. */
struct look_end {
	uint64_t last_ns;
	uint64_t until_ns;
};

/* [start, end) of a range that was there is no more. */
static int look_ends(struct plimp_modules *modules,
		     struct plimp_module_change *change,
		     const struct plimp_module_range *range, uint64_t start,
		     uint64_t end, struct look_end when, plim_error *error)
{
	struct plimp_module_range part = *range;

	if (start >= end)
		return PLIM_OK;
	if (part.inode != 0)
		part.offset += start - part.start;
	part.start = start;
	part.end = end;
	/* What began by an event was there at that time, whatever the look
	 * before it saw. */
	part.last_ns =
	    when.last_ns > part.first_ns ? when.last_ns : part.first_ns;
	part.until_ns =
	    when.until_ns > part.last_ns ? when.until_ns : part.last_ns + 1;
	return plimp_module_change_add(modules, change, 1, &part, error);
}

/* The ranges that were there, as far as they are not gone over yet. */
struct look_past {
	size_t next;
	uint64_t from; /* of items[next], what is before this is settled */
};

/* All that lies before `address` of the ranges that were there has ended, from
 * where the past is. */
static int look_pass(struct plimp_modules *modules,
		     struct plimp_module_change *change, struct look_past *past,
		     uint64_t address, struct look_end when, plim_error *error)
{
	int code = PLIM_OK;

	while (code == PLIM_OK && past->next < modules->now_count) {
		const struct plimp_module_range *range =
		    &modules->now[past->next];
		uint64_t start =
		    past->from > range->start ? past->from : range->start;
		uint64_t end = address < range->end ? address : range->end;

		code =
		    look_ends(modules, change, range, start, end, when, error);
		if (address < range->end)
			break;
		past->next++;
	}
	if (past->from < address)
		past->from = address;
	return code;
}

/* The range of the past that a sight goes on from, or NULL. Of what another one
 * covers there, it is the first. */
static const struct plimp_module_range *
look_find(const struct plimp_modules *modules, const struct look_past *past,
	  const struct plimp_module_sight *sight)
{
	size_t i;

	for (i = past->next;
	     i < modules->now_count && modules->now[i].start < sight->end; i++)
		if (modules->now[i].end > sight->start &&
		    look_is_range(modules, sight, &modules->now[i]))
			return &modules->now[i];
	return NULL;
}

/* The ranges that lie below the sight go on or end there, and the past is
 * behind it. */
static int look_cover(struct plimp_modules *modules,
		      struct plimp_module_change *change,
		      struct look_past *past,
		      const struct plimp_module_sight *sight,
		      struct look_end when, plim_error *error)
{
	int code = look_pass(modules, change, past, sight->start, when, error);

	while (code == PLIM_OK && past->next < modules->now_count &&
	       modules->now[past->next].start < sight->end) {
		const struct plimp_module_range *range =
		    &modules->now[past->next];

		if (look_is_range(modules, sight, range)) {
			past->from =
			    sight->end < range->end ? sight->end : range->end;
			if (past->from < range->end)
				break;
			past->next++;
		} else {
			code = look_pass(modules, change, past,
					 sight->end < range->end ? sight->end
								 : range->end,
					 when, error);
			if (sight->end < range->end)
				break;
		}
	}
	if (past->from < sight->end)
		past->from = sight->end;
	return code;
}

/* A file that has lost its name since. */
static void look_at_name(struct plimp_modules *modules,
			 const struct plimp_module_sight *sight,
			 struct plimp_module *module)
{
	plim_bytes path;

	if (sight->inode == 0 || module->is_deleted ||
	    look_same_name(sight->name, module->path))
		return;
	module->is_deleted = plimp_module_name(modules, sight->name, &path);
}

static int look_take(struct plimp_modules *modules,
		     struct plimp_module_change *change, struct look_past *past,
		     const struct plimp_module_sight *sight, uint64_t now_ns,
		     plim_error *error)
{
	const struct look_end when = {modules->looked_ns, now_ns};
	const struct plimp_module_range *before =
	    look_find(modules, past, sight);
	struct plimp_module_range range = {
	    .start = sight->start,
	    .end = sight->end,
	    .offset = sight->offset,
	    .device = sight->device,
	    .inode = sight->inode,
	    .since_ns = modules->looked_ns,
	    .first_ns = now_ns,
	    .last_ns = now_ns,
	};
	int code = PLIM_OK;

	if (before != NULL) {
		range.module = before->module;
		range.since_ns = before->since_ns;
		range.first_ns = before->first_ns;
		look_at_name(modules, sight, modules->items[range.module]);
	} else {
		code = plimp_modules_assign(modules, change, sight,
					    &range.module, error);
	}
	if (code == PLIM_OK)
		code =
		    plimp_module_change_add(modules, change, 0, &range, error);
	if (code == PLIM_OK)
		code = look_cover(modules, change, past, sight, when, error);
	return code;
}

/* The mappings of now. A process that has ended and was not waited for yet has
 * none, which tells nothing of what it had. */
static int look_read(struct plimp_modules *modules, plim_error *error)
{
	int code =
	    plimp_system_lens_maps(modules->lens, &modules->space, error);

	if (code == PLIM_OK && modules->space.count == 0)
		code = plimp_fail(error, PLIM_ENOPROCESS, 0, "read modules",
				  NULL, "it has no memory any more");
	return code;
}

int plimp_modules_refresh(struct plimp_modules *modules, uint64_t now_ns,
			  plim_error *error)
{
	struct plimp_module_change change;
	struct plimp_module_sight sight;
	struct look_past past = {0, 0};
	size_t next = 0;
	int code;

	if (modules->is_told)
		return PLIM_OK;
	memset(&change, 0, sizeof change);
	change.made = modules->count;
	/* Time does not stand still, nor go back. */
	if (now_ns <= modules->looked_ns)
		now_ns = modules->looked_ns + 1;
	code = look_read(modules, error);
	while (code == PLIM_OK && look_next(modules, &next, &sight))
		code =
		    look_take(modules, &change, &past, &sight, now_ns, error);
	if (code == PLIM_OK)
		code = look_pass(modules, &change, &past, UINT64_MAX,
				 (struct look_end){modules->looked_ns, now_ns},
				 error);
	if (code != PLIM_OK) {
		plimp_module_change_drop(modules, &change);
		return code;
	}
	code = plimp_modules_settle(modules, &change, error);
	if (code == PLIM_OK)
		modules->looked_ns = now_ns;
	return code;
}

/* The mapping of an event in the list of them, read again if it is not there;
 * NULL: it is gone already, or it is another one by now. */
static const struct plimp_mapping *
look_mapping(struct plimp_modules *modules, const struct plimp_mapped *mapped,
	     plim_error *error, int *code)
{
	int attempt;

	*code = PLIM_OK;
	if (modules->is_told)
		return NULL;
	for (attempt = 0; attempt < 2; attempt++) {
		const struct plimp_mapping *mapping =
		    plimp_space_find(&modules->space, mapped->start);

		if (mapping != NULL && mapping->device == mapped->device &&
		    mapping->inode == mapped->inode &&
		    (mapping->inode == 0 || mapping->offset - mapped->offset ==
						mapping->start - mapped->start))
			return mapping;
		if (attempt == 0)
			*code = look_read(modules, error);
		if (*code != PLIM_OK)
			return NULL;
	}
	return NULL;
}

/* What the record calls code without a file has no name in maps. */
static plim_bytes look_event_name(plim_bytes path)
{
	static const char *const none[] = {"//anon", "anon_inode:[perf_event]"};
	size_t i;

	for (i = 0; i < sizeof none / sizeof none[0]; i++)
		if (look_same_name(path,
				   (plim_bytes){none[i], strlen(none[i])}))
			return (plim_bytes){path.data, 0};
	return path;
}

/* The range of an event that has a module now, between those that are there:
 * they are cut by it. */
static int look_insert(struct plimp_modules *modules,
		       struct plimp_module_change *change,
		       const struct plimp_module_range *added,
		       plim_error *error)
{
	const struct look_end when = {added->first_ns, added->first_ns};
	int is_in = 0;
	int code = PLIM_OK;
	size_t i;

	for (i = 0; code == PLIM_OK && i <= modules->now_count; i++) {
		const struct plimp_module_range *range =
		    i < modules->now_count ? &modules->now[i] : NULL;
		struct plimp_module_range part;

		if (range != NULL && range->start < added->start) {
			part = *range;
			if (part.end > added->start)
				part.end = added->start;
			code = plimp_module_change_add(modules, change, 0,
						       &part, error);
		}
		if (code == PLIM_OK && !is_in &&
		    (range == NULL || range->end > added->start)) {
			code = plimp_module_change_add(modules, change, 0,
						       added, error);
			is_in = 1;
		}
		if (code != PLIM_OK || range == NULL)
			break;
		code = look_ends(
		    modules, change, range,
		    range->start > added->start ? range->start : added->start,
		    range->end < added->end ? range->end : added->end, when,
		    error);
		if (code == PLIM_OK && range->end > added->end) {
			part = *range;
			if (part.start < added->end) {
				if (part.inode != 0)
					part.offset += added->end - part.start;
				part.start = added->end;
			}
			code = plimp_module_change_add(modules, change, 0,
						       &part, error);
		}
	}
	return code;
}

/* The event is of a range that is known: it began no later. 1 if so. */
static int look_known(struct plimp_modules *modules,
		      const struct plimp_module_sight *sight, uint64_t time_ns)
{
	size_t i;

	for (i = 0; i < modules->now_count; i++) {
		struct plimp_module_range *range = &modules->now[i];

		if (range->start > sight->start || range->end < sight->end ||
		    !look_is_range(modules, sight, range))
			continue;
		if (range->since_ns != 0 && time_ns > range->since_ns &&
		    time_ns < range->first_ns) {
			range->since_ns = time_ns;
			range->first_ns = time_ns;
		}
		return 1;
	}
	return 0;
}

int plimp_modules_mapped(struct plimp_modules *modules,
			 const struct plimp_mapped *mapped, uint64_t time_ns,
			 plim_error *error)
{
	struct plimp_module_sight sight = {
	    .start = mapped->start,
	    .end = mapped->end,
	    .offset = mapped->inode != 0 ? mapped->offset : 0,
	    .device = mapped->inode != 0 ? mapped->device : 0,
	    .inode = mapped->inode,
	    .name = look_event_name(mapped->path),
	};
	struct plimp_module_range range = {
	    .start = sight.start,
	    .end = sight.end,
	    .offset = sight.offset,
	    .device = sight.device,
	    .inode = sight.inode,
	    .since_ns = time_ns,
	    .first_ns = time_ns,
	    .last_ns = time_ns,
	};
	struct plimp_module_change change;
	int code;

	if (mapped->start >= mapped->end)
		return plimp_fail(error, PLIM_EINVAL, 0, "read modules", NULL,
				  NULL);
	assert(!modules->is_told || modules->lens != NULL);
	if (look_known(modules, &sight, time_ns))
		return PLIM_OK;
	/* A look that was later has not seen it: it is gone. */
	if (time_ns <= modules->looked_ns)
		return PLIM_OK;
	memset(&change, 0, sizeof change);
	change.made = modules->count;
	sight.mapping = look_mapping(modules, mapped, error, &code);
	if (code == PLIM_OK)
		code = plimp_modules_assign(modules, &change, &sight,
					    &range.module, error);
	if (code == PLIM_OK)
		code = look_insert(modules, &change, &range, error);
	if (code != PLIM_OK) {
		plimp_module_change_drop(modules, &change);
		return code;
	}
	return plimp_modules_settle(modules, &change, error);
}
