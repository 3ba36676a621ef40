/*
 * glibc_module.c - which of the mapped files can be glibc's libc, of what
 * version it is, and where its symbols say that malloc's records are.
 *
 * The file of a shared libc is called libc.so.6 by its own name in the loader,
 * and libc-2.31.so before 2.34. A static program has it inside, under any
 * name; what tells the program is that it wants no interpreter. Neither name
 * nor version is believed further than to choose which layout is judged.
 *
 * The version stands in one line that gnu_get_libc_version()'s file has ("GNU C
 * Library ... release version 2.36."); it is looked for in the file, else in
 * the pages of it that are in memory. Static programs have no such line, and
 * a file that is gone leaves the names of symbol versions, which give the
 * oldest release it can be.
 */
#include "memory/glibc_locate.h"

#include "elf/elf.h"

#include <string.h>

/* The most of a file that is searched for the line: libc has 2 MiB, a static
 * program may have anything. */
#define MODULE_SEARCH 0x4000000u

static plim_bytes module_name(const struct plimp_image *image,
			      const struct plimp_mapping *mapping)
{
	static const char deleted[] = " (deleted)";
	plim_bytes name = plimp_space_name(image->space, mapping);
	const size_t tail = sizeof(deleted) - 1;

	if (name.size > tail &&
	    !memcmp(name.data + name.size - tail, deleted, tail))
		name.size -= tail;
	return plim_base_name(name);
}

/* "libc.so.6", "libc-2.31.so", "libc.so"; not "libcrypt.so.1". */
static int module_is_libc(plim_bytes name)
{
	static const char so[] = ".so";

	if (name.size < 7 || memcmp(name.data, "libc", 4) ||
	    (name.data[4] != '.' && name.data[4] != '-'))
		return 0;
	for (size_t i = 4; i + 3 <= name.size; i++)
		if (!memcmp(name.data + i, so, 3))
			return 1;
	return 0;
}

static int module_same_file(const struct plimp_mapping *a,
			    const struct plimp_mapping *b)
{
	return a->inode && a->inode == b->inode && a->device == b->device;
}

/* Segments follow each other, with .bss behind or between them; the next copy
 * of the same file (dlmopen) begins with its byte 0 again. */
static size_t module_end(const struct plimp_space *space, size_t first)
{
	const struct plimp_mapping *start = &space->items[first];
	size_t end = first + 1;

	for (size_t i = first + 1; i < space->count; i++) {
		const struct plimp_mapping *mapping = &space->items[i];

		if (module_same_file(start, mapping) && mapping->offset)
			end = i + 1;
		else if (mapping->inode || mapping->name_size)
			break;
	}
	return end;
}

int plimp_glibc_module_next(const struct plimp_image *image, size_t from,
			    struct plimp_glibc_module *module)
{
	const struct plimp_space *space = image->space;

	for (size_t i = from; i < space->count; i++) {
		const struct plimp_mapping *mapping = &space->items[i];

		if (!mapping->inode || mapping->offset ||
		    !(mapping->protection & PLIMP_MAY_READ))
			continue;
		size_t end = module_end(space, i);
		if (end == i + 1)
			continue;
		*module = (struct plimp_glibc_module){
		    .first = i,
		    .end = end,
		    .is_named = module_is_libc(module_name(image, mapping)),
		};
		return 1;
	}
	return 0;
}

int plimp_glibc_module_has(const struct plimp_image *image,
			   const struct plimp_glibc_module *module,
			   uint64_t address)
{
	const struct plimp_space *space = image->space;
	const struct plimp_mapping *mapping = plimp_space_find(space, address);

	return mapping && mapping >= space->items + module->first &&
	       mapping < space->items + module->end &&
	       (mapping->protection & PLIMP_MAY_WRITE) &&
	       !(mapping->protection & PLIMP_IS_SHARED) &&
	       module_same_file(&space->items[module->first], mapping);
}

static unsigned module_number(plim_bytes text, size_t *at)
{
	unsigned value = 0;
	size_t digits = 0;

	while (*at < text.size && text.data[*at] >= '0' &&
	       text.data[*at] <= '9' && digits++ < 5)
		value = value * 10 + (unsigned)(text.data[(*at)++] - '0');
	return value;
}

/* "GNU C Library (...) stable release version 2.36.\n", "... development
 * release version 2.42.9000.\n" (csu/version.c). */
int plimp_glibc_version_parse(plim_bytes line,
			      struct plimp_glibc_module *module)
{
	static const char mark[] = "release version 2.";
	const size_t size = sizeof(mark) - 1;

	for (size_t i = 0; i + size < line.size; i++) {
		if (line.data[i] == '\n' || !line.data[i])
			return 0;
		if (memcmp(line.data + i, mark, size))
			continue;
		size_t start = i + size - 2, at = i + size;
		unsigned minor = module_number(line, &at);

		if (at == i + size || minor > 999)
			return 0;
		if (at + 4 < line.size && line.data[at] == '.' &&
		    !memcmp(line.data + at + 1, "9000", 4)) {
			module->is_between = 1;
			at += 5;
		}
		memset(module->version, 0, sizeof(module->version));
		memcpy(module->version, line.data + start, at - start);
		module->minor = minor;
		module->is_glibc = 1;
		return 1;
	}
	return 0;
}

/* The line in a file or in pages. */
static int module_version(const struct plimp_elf *elf, const char *from,
			  struct plimp_glibc_module *module)
{
	static const char mark[] = "GNU C Library (";
	uint64_t place, start = 0;
	char line[160];

	/* The words stand in other texts, too, so that some more are tried. */
	for (int i = 0; i < 8; i++) {
		int failed = plimp_elf_search(elf, start, MODULE_SEARCH - start,
					      mark, sizeof(mark) - 1, &place);
		size_t size = sizeof(line);

		if (failed == PLIM_ENAME || place >= MODULE_SEARCH)
			return PLIM_OK;
		if (failed)
			return failed;
		if (elf->size - place < size)
			size = (size_t)(elf->size - place);
		failed = plimp_elf_bytes(elf, place, line, size);
		if (failed && failed != PLIM_EMALFORMED)
			return failed;
		if (!failed && plimp_glibc_version_parse(
				   (plim_bytes){line, size}, module)) {
			module->version_from = from;
			return PLIM_OK;
		}
		start = place + 1;
	}
	return PLIM_OK;
}

/* The newest "GLIBC_2.N" among the names of versions. */
static int module_least(const struct plimp_elf *elf,
			struct plimp_glibc_module *module)
{
	static const char mark[] = "GLIBC_2.";
	uint64_t place, start = 0;

	for (int i = 0; i < 512; i++) {
		int failed = plimp_elf_search(elf, start, MODULE_SEARCH - start,
					      mark, sizeof(mark) - 1, &place);
		char text[4];
		size_t at = 0;

		if (failed == PLIM_ENAME || place >= MODULE_SEARCH)
			return PLIM_OK;
		if (failed)
			return failed;
		start = place + sizeof(mark) - 1;
		if (plimp_elf_bytes(elf, start, text, sizeof(text)))
			continue;
		unsigned minor =
		    module_number((plim_bytes){text, sizeof(text)}, &at);
		if (at && at < 4 && !text[at] && minor > module->least) {
			module->least = minor;
			module->version_from = "symbols";
			module->is_glibc = 1;
		}
	}
	return PLIM_OK;
}

/* Where main_arena and mp_ are, if a table has them. */
static void module_symbols(const struct plimp_elf *elf,
			   struct plimp_glibc_module *module)
{
	static const char *const names[] = {"main_arena", "mp_"};
	struct plimp_elf_symbol symbols[2];

	if (plimp_elf_symbols_find(elf, PLIMP_ELF_STATIC, names, 2, symbols))
		return;
	if (symbols[0].found)
		module->arena = symbols[0].value + module->bias;
	if (symbols[1].found)
		module->mp = symbols[1].value + module->bias;
}

static int module_interpreter(const struct plimp_elf *elf)
{
	struct plimp_elf_segment segment;

	return !plimp_elf_segment_find(elf, PLIMP_ELF_INTERPRETER, &segment);
}

/* What tells a static program that has glibc from one that has none, at no
 * version: the names of its tunables (from 2.26). */
static int module_evidence(const struct plimp_elf *elf,
			   struct plimp_glibc_module *module)
{
	static const char mark[] = "glibc.malloc.";
	uint64_t place;
	int failed = plimp_elf_search(elf, 0, MODULE_SEARCH, mark,
				      sizeof(mark) - 1, &place);

	if (!failed)
		module->is_glibc = 1;
	return failed == PLIM_ENAME ? PLIM_OK : failed;
}

static int module_read_elf(const struct plimp_elf *elf, const char *from,
			   struct plimp_glibc_module *module)
{
	int failed = PLIM_OK;

	module->is_static = !module->is_named && !module_interpreter(elf);
	if (!module->minor && module->is_named)
		failed = module_version(elf, from, module);
	if (!failed && module->is_named && !module->minor)
		failed = module_least(elf, module);
	if (!failed && module->is_static && !module->is_glibc)
		failed = module_evidence(elf, module);
	return failed;
}

/* The debug file, which must have the same build id. Its program headers may
 * have been emptied with the sections that it lacks, so that the bias is the
 * file's own. */
static void module_debug(const struct plimp_image *image, const uint8_t *id,
			 size_t size, struct plimp_glibc_module *module)
{
	struct plimp_file file;
	struct plimp_elf elf;
	uint8_t other[PLIMP_ELF_ID];
	size_t other_size;

	if (!image->open_debug ||
	    image->open_debug(image->user, id, size, &file))
		return;
	if (!plimp_elf_open(&elf, &file.reader, 0, file.size) &&
	    !plimp_elf_build_id(&elf, other, &other_size) &&
	    other_size == size && !memcmp(id, other, size))
		module_symbols(&elf, module);
	image->close_file(image->user, &file);
}

/* What a file cannot give is looked for in memory; no error of it is ours. */
static void module_file(const struct plimp_image *image,
			const struct plimp_mapping *mapping,
			struct plimp_glibc_module *module, uint8_t *id,
			size_t *size)
{
	struct plimp_file file;
	struct plimp_elf elf;

	if (!image->open_file || image->open_file(image->user, mapping, &file))
		return;
	if (!plimp_elf_open(&elf, &file.reader, 0, file.size) &&
	    !plimp_elf_bias(&elf, 0, mapping->start, &module->bias) &&
	    !module_read_elf(&elf, "file", module)) {
		module->is_read = 1;
		if (plimp_elf_build_id(&elf, id, size))
			*size = 0;
		if (module->is_named || module->is_static)
			module_symbols(&elf, module);
	}
	image->close_file(image->user, &file);
}

static int module_pages(const struct plimp_image *image,
			struct plimp_glibc_module *module, uint8_t *id,
			size_t *size)
{
	const struct plimp_mapping *first = &image->space->items[module->first];
	const struct plimp_mapping *last =
	    &image->space->items[module->end - 1];
	struct plimp_elf elf;
	int failed = plimp_elf_open_loaded(&elf, &image->reader, first->start,
					   last->end - first->start);

	if (!failed)
		failed = plimp_elf_bias(&elf, 0, first->start, &module->bias);
	if (!failed)
		failed = module_read_elf(&elf, "memory", module);
	if (!failed && plimp_elf_build_id(&elf, id, size))
		*size = 0;
	if (failed == PLIM_EMALFORMED || failed == PLIM_ENAME ||
	    failed == PLIM_ELIMIT)
		return PLIM_OK;
	return failed;
}

int plimp_glibc_module_read(const struct plimp_image *image,
			    struct plimp_glibc_module *module)
{
	const struct plimp_mapping *first = &image->space->items[module->first];
	uint8_t id[PLIMP_ELF_ID];
	size_t size = 0;
	int failed = PLIM_OK;

	module_file(image, first, module, id, &size);
	if (!module->is_read)
		failed = module_pages(image, module, id, &size);
	if (!failed && !module->arena && size &&
	    (module->is_named || module->is_static))
		module_debug(image, id, size, module);
	return failed;
}
