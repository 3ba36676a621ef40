/*
 * module_file.c - what stands behind an executable mapping: the file, proven
 * and compared with what lies in memory; or, where the file is gone or is not
 * what was loaded any more, a copy of its memory; or nothing, which is the code
 * of a JIT, or text that was moved onto huge pages and has lost its name.
 *
 * A process lies about its files by nature: it may have been upgraded while it
 * ran, its library may have been written over, and its path may lead anywhere.
 * What is taken for the module's file has the device and inode that maps tells,
 * and the build id that lies in memory, if the page of that is resident. Where
 * they differ the memory is right.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "unwind/module_parts.h"

#include <string.h>

enum { MODULE_MATCHES = 8, MODULE_MAPPINGS = 64 };

static const char module_deleted[] = " (deleted)";

static int module_name_is(plim_bytes name, const char *text)
{
	return name.size == strlen(text) &&
	       memcmp(name.data, text, name.size) == 0;
}

/* Failures of the process as a whole; all else is one module's. */
static int module_is_fatal(int code)
{
	return code == PLIM_ENOMEM || code == PLIM_ENOPROCESS ||
	       code == PLIM_EREPLACED || code == PLIM_EIMAGE ||
	       code == PLIM_EHIDDEN || code == PLIM_ECANNOTTELL;
}

/* The mappings of one load: from that of the file's byte 0 up to the last one
 * before the file begins again. */
struct module_extent {
	uint64_t base; /* where byte 0 of the file is */
	uint64_t end;
};

static int module_is_of(const struct plimp_mapping *mapping,
			const struct plimp_module_sight *sight)
{
	return mapping->device == sight->device &&
	       mapping->inode == sight->inode;
}

/* The mapping that has byte 0 of the load that `index` is of, or SIZE_MAX. That
 * byte may be mapped twice, where two segments share the first page. */
static size_t module_first(const struct plimp_space *space, size_t index,
			   const struct plimp_module_sight *sight)
{
	uint64_t offset = space->items[index].offset;
	size_t found = offset == 0 ? index : SIZE_MAX;
	size_t i;

	for (i = index; i-- > 0 && index - i <= MODULE_MAPPINGS;) {
		if (!module_is_of(&space->items[i], sight))
			continue;
		if (space->items[i].offset > offset)
			break;
		offset = space->items[i].offset;
		if (offset == 0)
			found = i;
	}
	return found;
}

/* 1 and the extent, 0 where byte 0 of the file is not mapped below. */
static int module_extent_of(const struct plimp_modules *modules,
			    const struct plimp_module_sight *sight,
			    struct module_extent *extent)
{
	const struct plimp_space *space = &modules->space;
	const struct plimp_mapping *at = plimp_space_find(space, sight->start);
	uint64_t offset;
	size_t index, first, i;

	if (at == NULL || !module_is_of(at, sight))
		return 0;
	index = (size_t)(at - space->items);
	first = module_first(space, index, sight);
	if (first == SIZE_MAX)
		return 0;
	extent->base = space->items[first].start;
	extent->end = sight->end;
	offset = at->offset;
	for (i = index + 1; i < space->count && i - index <= MODULE_MAPPINGS;
	     i++) {
		if (!module_is_of(&space->items[i], sight))
			continue;
		if (space->items[i].offset < offset)
			break;
		offset = space->items[i].offset;
		extent->end = space->items[i].end;
	}
	return 1;
}

/* The same of a file whose bias is known: its headers tell where byte 0 is. */
static void module_rebase(const struct plimp_modules *modules,
			  const struct plimp_module_sight *sight,
			  const struct plimp_module *module,
			  struct module_extent *extent)
{
	const struct plimp_mapping *mapping;
	struct plimp_elf_segment load;
	uint64_t base;

	if (plimp_elf_segment_find(&module->object->elf, PLIMP_ELF_LOAD,
				   &load) != PLIM_OK)
		return;
	base = module->bias + load.address - load.offset;
	mapping = plimp_space_find(&modules->space, base);
	if (mapping != NULL && module_is_of(mapping, sight) &&
	    mapping->start == base && mapping->offset == 0 &&
	    base < extent->end)
		extent->base = base;
}

/*
 * The biases that a mapping of the file's byte `offset` at `start` may have:
 * one for each segment that has the page. The kernel maps whole pages, so that
 * one of the file may belong to two segments, which have different addresses.
 */
static size_t module_biases(const struct plimp_elf *elf, uint64_t offset,
			    uint64_t start, int executable,
			    uint64_t biases[MODULE_MATCHES])
{
	const uint64_t page = elf->reader->page_bytes;
	struct plimp_elf_segment load;
	size_t count = 0;
	uint32_t i;

	for (i = 0; count < MODULE_MATCHES &&
		    plimp_elf_segment(elf, i, &load) == PLIM_OK;
	     i++) {
		uint64_t first = load.offset & ~(page - 1);

		if (load.type != PLIMP_ELF_LOAD ||
		    (executable && (load.flags & 1) == 0) || offset < first ||
		    offset - first >= load.file_size + (load.offset - first))
			continue;
		biases[count++] = start - (load.address - load.offset + offset);
	}
	return count;
}

/* The bias of a sight; `wanted`, if there is one of byte 0, decides between
 * segments. 0 where no segment is mapped there. */
static int module_bias(const struct plimp_elf *elf,
		       const struct plimp_module_sight *sight,
		       const struct module_extent *extent, uint64_t *bias)
{
	uint64_t found[MODULE_MATCHES];
	uint64_t wanted[MODULE_MATCHES];
	size_t count =
	    module_biases(elf, sight->offset, sight->start, 1, found);
	size_t wants = 0;
	size_t i, j;

	if (count == 0)
		count =
		    module_biases(elf, sight->offset, sight->start, 0, found);
	if (count == 0)
		return 0;
	if (extent != NULL)
		wants = module_biases(elf, 0, extent->base, 0, wanted);
	*bias = found[0];
	for (i = 0; i < count; i++)
		for (j = 0; j < wants; j++)
			if (found[i] == wanted[j]) {
				*bias = found[i];
				return 1;
			}
	return 1;
}

int plimp_module_is_load(const struct plimp_module *module,
			 const struct plimp_module_sight *sight)
{
	uint64_t found[MODULE_MATCHES];
	size_t count;
	size_t i;

	if (module->object == NULL)
		return module->bias == sight->start - sight->offset;
	count = module_biases(&module->object->elf, sight->offset, sight->start,
			      1, found);
	for (i = 0; i < count; i++)
		if (found[i] == module->bias)
			return 1;
	return 0;
}

/* 1 if the headers of the file are those in memory, -1 where they cannot be
 * read. */
static int module_same_headers(const struct plimp_elf *file,
			       const struct plimp_elf *memory)
{
	uint8_t a[56], b[56];
	uint32_t i;

	if (file->segment_count != memory->segment_count ||
	    file->segments != memory->segments || file->entry != memory->entry)
		return 0;
	for (i = 0; i < file->segment_count; i++) {
		uint64_t place = file->segments + (uint64_t)i * sizeof a;

		if (plimp_elf_bytes(file, place, a, sizeof a) != PLIM_OK ||
		    plimp_elf_bytes(memory, place, b, sizeof b) != PLIM_OK)
			return -1;
		if (memcmp(a, b, sizeof a) != 0)
			return 0;
	}
	return 1;
}

/* 1: the file's bytes are those that were loaded, 0: they are not, -1: it
 * cannot be told, the pages are not resident. */
static int module_prove(struct plimp_modules *modules,
			const struct plimp_object *object,
			const struct module_extent *extent)
{
	uint8_t id[PLIMP_ELF_ID];
	struct plimp_elf memory;
	size_t size = 0;
	int code;

	if (plimp_elf_open_loaded(&memory, &modules->reader, extent->base,
				  extent->end - extent->base) != PLIM_OK)
		return -1;
	code = module_same_headers(&object->elf, &memory);
	if (code != 1 || object->build_id_size == 0)
		return code;
	code = plimp_elf_build_id(&memory, id, &size);
	if (code != PLIM_OK)
		return -1;
	return size == object->build_id_size &&
	       memcmp(id, object->build_id, size) == 0;
}

/* The object is a copy of memory. */
static int module_from_memory(struct plimp_modules *modules,
			      const struct plimp_module_sight *sight,
			      const struct module_extent *extent,
			      struct plimp_module *module, plim_error *error)
{
	const plim_allocator *allocator = &modules->host->allocator;
	struct plimp_module_copy *copy = NULL;
	struct plimp_object *object = NULL;
	int why = PLIM_OK;
	int code = plimp_module_copy(&copy, allocator, &modules->reader,
				     &modules->space, extent->base, extent->end,
				     sight->inode == 0);

	if (code == PLIM_OK)
		code = plimp_object_of_copy(modules->store, copy, sight->device,
					    sight->inode, &object, &why, error);
	else if (module_is_fatal(code))
		return plimp_fail(error, code, 0, "read modules", NULL, NULL);
	else
		return PLIM_OK;
	if (code != PLIM_OK || object == NULL)
		return code;
	if (!module_bias(&object->elf, sight, extent, &module->bias))
		return PLIM_OK;
	module->object = object;
	if (module->kind == PLIMP_MODULE_FILE)
		module->kind = PLIMP_MODULE_MEMORY;
	module->is_proven = 1;
	return PLIM_OK;
}

/* Does anything stand at the path? The file itself does not, as it has no name
 * any more. */
static int module_has_successor(struct plimp_modules *modules, plim_bytes path)
{
	char text[4096];
	struct plimp_file file;
	int found;

	if (path.size >= sizeof text || path.size == 0 || path.data[0] != '/')
		return 0;
	memcpy(text, path.data, path.size);
	text[path.size] = '\0';
	memset(&file, 0, sizeof file);
	found = plimp_system_lens_path(modules->lens, text, 0, &file, NULL) ==
		PLIM_OK;
	plimp_system_file_close(modules->host, &file);
	return found;
}

int plimp_module_name(struct plimp_modules *modules, plim_bytes name,
		      plim_bytes *path)
{
	const size_t size = sizeof module_deleted - 1;

	*path = name;
	if (name.size <= size ||
	    memcmp(name.data + name.size - size, module_deleted, size) != 0)
		return 0;
	/* A file may be called so. */
	if (module_has_successor(modules, name))
		return 0;
	path->size -= size;
	return 1;
}

/* One that is in the list no more, for the look for its file by name. */
static void module_alone(const struct plimp_module_sight *sight,
			 struct plimp_mapping *mapping,
			 struct plimp_space *space)
{
	union {
		const char *told;
		char *bytes; /* not written */
	} name = {sight->name.data};

	memset(mapping, 0, sizeof *mapping);
	mapping->start = sight->start;
	mapping->end = sight->end;
	mapping->offset = sight->offset;
	mapping->device = sight->device;
	mapping->inode = sight->inode;
	mapping->name_size = sight->name.size;
	memset(space, 0, sizeof *space);
	space->items = mapping;
	space->count = 1;
	space->texts.bytes = name.bytes;
	space->texts.size = sight->name.size;
}

/* The file by its inode, or why not. */
static int module_from_file(struct plimp_modules *modules,
			    const struct plimp_module_sight *sight,
			    struct plimp_module *module, plim_error *error)
{
	struct plimp_mapping mapping;
	struct plimp_space alone;
	struct plimp_file file;
	plim_error problem;
	int code;

	memset(&file, 0, sizeof file);
	if (sight->mapping == NULL)
		module_alone(sight, &mapping, &alone);
	code = plimp_system_lens_file(
	    modules->lens, sight->mapping != NULL ? &modules->space : &alone,
	    sight->mapping != NULL ? sight->mapping : &mapping, &file,
	    &problem);
	if (module_is_fatal(code)) {
		if (error != NULL)
			*error = problem;
		return code;
	}
	if (code != PLIM_OK) {
		module->why = code;
		return PLIM_OK;
	}
	return plimp_object_of_file(modules->store, modules->lens, module->path,
				    &file, sight->device, sight->inode,
				    &module->object, &module->why, error);
}

static int module_identify_file(struct plimp_modules *modules,
				const struct plimp_module_sight *sight,
				struct plimp_module *module, plim_error *error)
{
	struct module_extent extent;
	int has_extent = module_extent_of(modules, sight, &extent);
	int proven;
	int code;

	module->kind = PLIMP_MODULE_FILE;
	module->device = sight->device;
	module->inode = sight->inode;
	module->bias = sight->start - sight->offset;
	module->is_deleted =
	    plimp_module_name(modules, sight->name, &module->path);
	module->is_replaced =
	    module->is_deleted && module_has_successor(modules, module->path);
	code = module_from_file(modules, sight, module, error);
	if (code != PLIM_OK)
		return code;
	if (module->object != NULL &&
	    !module_bias(&module->object->elf, sight,
			 has_extent ? &extent : NULL, &module->bias))
		module->object = NULL;
	if (module->object != NULL && has_extent) {
		module_rebase(modules, sight, module, &extent);
		proven = module_prove(modules, module->object, &extent);
		module->is_proven = proven == 1;
		if (proven == 0) {
			module->is_replaced = 1;
			module->why = PLIM_EUNSUPPORTED;
			module->object = NULL;
		}
	}
	/* What is no ELF file is none in memory either. */
	if (module->object == NULL && has_extent &&
	    module->why != PLIM_EMALFORMED)
		return module_from_memory(modules, sight, &extent, module,
					  error);
	return PLIM_OK;
}

/* Ours, if it is the same; else the pages that are resident. */
static int module_identify_vdso(struct plimp_modules *modules,
				const struct plimp_module_sight *sight,
				struct plimp_module *module, plim_error *error)
{
	const struct module_extent extent = {sight->start, sight->end};
	struct plimp_object *own;
	int code;

	module->kind = PLIMP_MODULE_VDSO;
	module->bias = sight->start;
	code = plimp_object_of_vdso(modules->store, &own, error);
	if (code != PLIM_OK)
		return code;
	/* It has gone: the kernel has told that it was the vDSO. */
	if (modules->is_told) {
		if (own != NULL &&
		    module_bias(&own->elf, sight, &extent, &module->bias))
			module->object = own;
		return PLIM_OK;
	}
	if (own == NULL ||
	    !plimp_object_is_vdso(own, &modules->reader, sight->start,
				  sight->end) ||
	    !module_bias(&own->elf, sight, &extent, &module->bias))
		return module_from_memory(modules, sight, &extent, module,
					  error);
	module->object = own;
	module->is_proven = 1;
	return PLIM_OK;
}

int plimp_module_identify(struct plimp_modules *modules,
			  const struct plimp_module_sight *sight,
			  struct plimp_module *module, plim_error *error)
{
	static const char anonymous[] = "[anon]";

	memset(module, 0, sizeof *module);
	module->start = sight->start;
	module->end = sight->end;
	module->offset = sight->offset;
	module->path = sight->name;
	if (sight->inode != 0)
		return module_identify_file(modules, sight, module, error);
	if (module_name_is(sight->name, "[vdso]"))
		return module_identify_vdso(modules, sight, module, error);
	module->kind = PLIMP_MODULE_ANONYMOUS;
	module->offset = 0;
	if (sight->name.size == 0)
		module->path = (plim_bytes){anonymous, sizeof anonymous - 1};
	return PLIM_OK;
}
