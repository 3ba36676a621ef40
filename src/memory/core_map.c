/*
 * core_map.c - the mappings of a core file: its segments, named by NT_FILE.
 *
 * A core of gcore leaves mappings out that NT_FILE still names; the kernel has
 * a segment of each, even if it dumps nothing of it. So the two are merged:
 * wherever either of them has a border, one mapping ends. A core knows neither
 * device nor inode, so that the name stands for them: same name, same inode.
 */
#include "memory/core.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

static const char core_vdso_name[] = "[vdso]";

/* FNV-1a; never 0, which means no file. */
static uint64_t map_inode(const char *name, size_t size)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)name[i]) * UINT64_C(1099511628211);
	return hash | 1;
}

static void map_figures(struct plimp_mapping *mapping)
{
	plim_count *const figures[] = {
	    &mapping->resident,	     &mapping->pss,
	    &mapping->pss_dirty,     &mapping->shared_clean,
	    &mapping->shared_dirty,  &mapping->private_clean,
	    &mapping->private_dirty, &mapping->anonymous,
	    &mapping->lazy_free,     &mapping->huge,
	    &mapping->hugetlb,	     &mapping->swap,
	    &mapping->swap_pss,	     &mapping->locked,
	    &mapping->exclusive};
	size_t i;

	for (i = 0; i < sizeof figures / sizeof figures[0]; i++)
		*figures[i] = plim_count_missing(PLIM_REASON_NO_RESIDENCY, 0);
}

static int map_add(struct plimp_core *core, uint64_t start, uint64_t end,
		   const struct plimp_core_segment *segment,
		   const struct plimp_core_file *file)
{
	struct plimp_space *space = &core->space;
	struct plimp_mapping *mapping;
	void *items = space->items;
	int code;

	if (space->count >= PLIMP_MAPPING_LIMIT)
		return PLIM_ELIMIT;
	code = plimp_reserve(core->allocator, &items, &space->capacity,
			     space->count + 1, 64, sizeof *space->items);
	space->items = items;
	if (code != PLIM_OK)
		return code;
	mapping = &space->items[space->count];
	memset(mapping, 0, sizeof *mapping);
	map_figures(mapping);
	mapping->start = start;
	mapping->end = end;
	mapping->protection =
	    segment != NULL ? segment->protection : PLIMP_MAY_READ;
	if (file != NULL) {
		mapping->offset = file->offset + (start - file->start);
		mapping->name_start = file->name_start;
		mapping->name_size = file->name_size;
		/* Without a name there may be no texts to point into. */
		if (file->name_size > 0)
			mapping->inode =
			    map_inode(space->texts.bytes + file->name_start,
				      file->name_size);
	} else if (core->vdso != 0 && core->vdso >= start && core->vdso < end) {
		const plim_bytes name = {core_vdso_name,
					 sizeof core_vdso_name - 1};

		mapping->name_start = space->texts.size;
		mapping->name_size = name.size;
		code = plimp_texts_add(&space->texts, core->allocator, name);
		if (code != PLIM_OK)
			return code;
	}
	if (segment == NULL)
		core->left_out_bytes += end - start;
	space->count++;
	return PLIM_OK;
}

static uint64_t map_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int plimp_core_map(struct plimp_core *core)
{
	const struct plimp_core_segment *segment = core->segments;
	/* A list of nothing has no address that could be added to. */
	const struct plimp_core_segment *segments_end =
	    core->segment_count > 0 ? segment + core->segment_count : segment;
	const struct plimp_core_file *file = core->files;
	const struct plimp_core_file *files_end =
	    core->file_count > 0 ? file + core->file_count : file;
	uint64_t at = 0;
	int code = PLIM_OK;

	while (code == PLIM_OK &&
	       (segment < segments_end || file < files_end)) {
		uint64_t end = UINT64_MAX;
		int in_segment = 0;
		int in_file = 0;

		if (segment < segments_end) {
			in_segment = segment->start <= at;
			end = in_segment ? segment->end : segment->start;
		}
		if (file < files_end) {
			in_file = file->start <= at;
			end = map_least(end, in_file ? file->end : file->start);
		}
		assert(end >= at);
		if ((in_segment || in_file) && end > at)
			code =
			    map_add(core, at, end, in_segment ? segment : NULL,
				    in_file ? file : NULL);
		at = end;
		if (in_segment && at == segment->end)
			segment++;
		if (in_file && at == file->end)
			file++;
	}
	return code;
}
