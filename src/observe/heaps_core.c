/*
 * heaps_core.c - the image of a process that a core file holds.
 *
 * The files that were mapped lie where the core names them, perhaps: on this
 * machine, today. One is taken for the same only if its build id is that of
 * the first page that the core has of it, which the kernel dumps for this
 * (coredump_filter bit 4). Without one the walk goes by memory alone.
 */
#include "observe/heaps.h"

#include "core/fail.h"
#include "memory/core.h"
#include "elf/elf.h"
#include "memory/heaps_image.h"

#include <stdio.h>
#include <string.h>

#define CORE_PATH_MOST 4096

struct core_files {
	plim_host *host;
	const struct plimp_core *core;
	int failed; /* PLIM_ENOMEM: a file is missing for want of memory */
};

/* The mapping of the file's beginning. */
static const struct plimp_mapping *
core_first_of(const struct plimp_space *space,
	      const struct plimp_mapping *mapping)
{
	size_t i;

	for (i = 0; i < space->count; i++)
		if (space->items[i].inode == mapping->inode &&
		    space->items[i].offset == 0)
			return &space->items[i];
	return NULL;
}

/* Its first page, as it was dumped, says which build it is of. */
static int core_is_build(const struct core_files *files,
			 const struct plimp_mapping *mapping,
			 const struct plimp_file *file)
{
	const struct plimp_core *core = files->core;
	const struct plimp_mapping *first =
	    core_first_of(&core->space, mapping);
	struct plimp_elf dumped;
	struct plimp_elf here;
	uint8_t ids[2][PLIMP_ELF_ID];
	size_t sizes[2];

	return first != NULL &&
	       plimp_elf_open_loaded(&dumped, &core->reader, first->start,
				     first->end - first->start) == PLIM_OK &&
	       plimp_elf_build_id(&dumped, ids[0], &sizes[0]) == PLIM_OK &&
	       plimp_elf_open(&here, &file->reader, 0, file->size) == PLIM_OK &&
	       plimp_elf_build_id(&here, ids[1], &sizes[1]) == PLIM_OK &&
	       sizes[0] == sizes[1] && memcmp(ids[0], ids[1], sizes[0]) == 0;
}

static int core_open_file(void *user, const struct plimp_mapping *mapping,
			  struct plimp_file *file)
{
	struct core_files *files = user;
	const plim_bytes name = {files->core->space.texts.bytes +
				     mapping->name_start,
				 mapping->name_size};
	struct plimp_file opened;
	char path[CORE_PATH_MOST];
	int code;

	if (mapping->inode == 0 || name.size == 0 || name.size >= sizeof path ||
	    name.data[0] != '/')
		return PLIM_EUNSUPPORTED;
	memcpy(path, name.data, name.size);
	path[name.size] = '\0';
	memset(&opened, 0, sizeof opened);
	code = plimp_system_file_open(files->host, path, &opened, NULL);
	if (code == PLIM_ENOMEM)
		files->failed = code;
	if (code != PLIM_OK)
		return PLIM_EUNSUPPORTED;
	if (!core_is_build(files, mapping, &opened)) {
		plimp_system_file_close(files->host, &opened);
		return PLIM_EUNSUPPORTED;
	}
	*file = opened;
	return PLIM_OK;
}

static int core_open_debug(void *user, const uint8_t *id, size_t size,
			   struct plimp_file *file)
{
	struct core_files *files = user;

	const int code = plimp_heaps_debug(files->host, id, size, file);

	if (code == PLIM_ENOMEM)
		files->failed = code;
	return code;
}

static void core_close_file(void *user, struct plimp_file *file)
{
	struct core_files *files = user;

	plimp_system_file_close(files->host, file);
}

static void core_facts(const struct plimp_core *core, plim_heaps_facts *facts)
{
	facts->source = PLIM_HEAPS_CORE;
	facts->pid = core->pid;
	facts->machine = core->machine;
	facts->is_cut = core->is_cut;
	facts->page_bytes = core->reader.page_bytes;
	facts->mappings =
	    plim_count_known(core->space.count, PLIM_METHOD_SYSTEM);
	facts->held_bytes =
	    plim_count_known(core->held_bytes, PLIM_METHOD_SYSTEM);
	facts->left_out_bytes =
	    plim_count_known(core->left_out_bytes, PLIM_METHOD_SYSTEM);
	snprintf(facts->process, sizeof facts->process, "%s", core->name);
}

static int core_walk(struct plimp_heaps_draft *draft, struct plimp_core *core,
		     plim_error *error)
{
	struct core_files files = {draft->host, core, PLIM_OK};
	struct plimp_image image;
	int code;

	memset(&image, 0, sizeof image);
	image.allocator = &draft->host->allocator;
	image.reader = core->reader;
	image.space = &core->space;
	image.machine = core->machine;
	image.open_file = core_open_file;
	image.open_debug = core_open_debug;
	image.close_file = core_close_file;
	image.user = &files;
	core_facts(core, &draft->facts);
	code = plimp_heaps_of_image(&image, draft->walk, &draft->list, error);
	if (code == PLIM_OK && files.failed != PLIM_OK)
		return plimp_fail(error, files.failed, 0, "walk core", NULL,
				  NULL);
	return code;
}

int plimp_heaps_core(struct plimp_heaps_draft *draft, const char *path,
		     plim_error *error)
{
	struct plimp_file file;
	struct plimp_core core;
	int code;

	memset(&file, 0, sizeof file);
	code = plimp_system_file_open(draft->host, path, &file, error);
	if (code != PLIM_OK)
		return code;
	code =
	    plimp_core_open(&core, &draft->host->allocator, &file, path, error);
	if (code == PLIM_OK) {
		code = core_walk(draft, &core, error);
		plimp_core_close(&core);
	}
	plimp_system_file_close(draft->host, &file);
	return code;
}
