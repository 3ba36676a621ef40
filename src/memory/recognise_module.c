/*
 * recognise_module.c - allocators by what a module defines and says
 * (recognise.h).
 *
 * Dynamic symbols first, which are in every library; of the program .symtab
 * too, where it was not stripped. A program that needs no loader has everything
 * in it, and where nothing names it, texts that only the allocator prints. All
 * names are asked for in one pass over a table.
 */
#include "memory/recognise.h"

#include "memory/sweep.h"

#include <stdio.h>
#include <string.h>

/* Of a program's read-only segments so much is searched for texts. */
#define MODULE_TEXT_MOST (UINT64_C(64) << 20)

struct module_row {
	int kind;
	const char *symbol;
};

/* What allocators export, or keep in .symtab where they are linked in. The
 * names of jemalloc have a prefix where the program chose one; Rust's is
 * _rjem_. */
static const struct module_row module_rows[] = {
    {PLIM_HEAP_OF_GLIBC, "gnu_get_libc_version"},
    {PLIM_HEAP_OF_GLIBC, "main_arena"},
    {PLIM_HEAP_OF_MUSL, "_dlstart"},
    {PLIM_HEAP_OF_MUSL, "__malloc_context"},
    {PLIM_HEAP_OF_JEMALLOC, "mallctl"},
    {PLIM_HEAP_OF_JEMALLOC, "je_mallctl"},
    {PLIM_HEAP_OF_JEMALLOC, "_rjem_mallctl"},
    {PLIM_HEAP_OF_GPERFTOOLS, "MallocExtension_GetNumericProperty"},
    {PLIM_HEAP_OF_TCMALLOC, "MallocExtension_Internal_GetNumericProperty"},
    {PLIM_HEAP_OF_TCMALLOC, "TCMalloc_Internal_GetStats"},
    {PLIM_HEAP_OF_MIMALLOC, "mi_malloc"},
    {PLIM_HEAP_OF_GO, "runtime.mheap_"},
    {PLIM_HEAP_OF_JVM, "JNI_CreateJavaVM"},
    {PLIM_HEAP_OF_CPYTHON, "PyObject_Malloc"},
    /* Not signs of an allocator: */
    {0, "malloc"},
    {0, "_PyRuntime"},
    {0, "Py_Version"},
};
#define MODULE_ROWS   (sizeof(module_rows) / sizeof(module_rows[0]))
#define MODULE_MALLOC (MODULE_ROWS - 3)
#define MODULE_PYTHON (MODULE_ROWS - 2)
#define MODULE_PY_IS  (MODULE_ROWS - 1)

/* What they print when they complain. */
static const struct module_row module_texts[] = {
    {PLIM_HEAP_OF_GLIBC, "malloc(): corrupted top size"},
    {PLIM_HEAP_OF_JEMALLOC, "<jemalloc>: "},
    {PLIM_HEAP_OF_GPERFTOOLS, "tcmalloc: large alloc "},
    {PLIM_HEAP_OF_TCMALLOC, "tcmalloc_region_"},
    {PLIM_HEAP_OF_MIMALLOC, "mimalloc: "},
};

/* Where a version stands in a module's texts. */
static const struct module_row module_versions[] = {
    {PLIM_HEAP_OF_GPERFTOOLS, "gperftools "},
    {PLIM_HEAP_OF_JVM, "Server VM ("},
};

struct module_look {
	struct plimp_recognition *recognition;
	struct plimp_heap_module *module;
	const struct plimp_elf *elf;
	uint64_t bias;
	plim_bytes name;
};

static int module_add(struct module_look *look, int kind, const char *how,
		      const char *what)
{
	plim_heap *heap =
	    plimp_recognise_as(look->recognition, kind, PLIM_CONFIDENCE_LIKELY);
	plim_bytes name = look->name;

	if (heap == NULL)
		return PLIM_ENOMEM;
	look->module->kind = kind;
	if (kind == PLIM_HEAP_OF_GLIBC)
		look->module->signs |= PLIMP_MODULE_IS_GLIBC;
	if (kind == PLIM_HEAP_OF_MUSL)
		look->module->signs |= PLIMP_MODULE_IS_MUSL;
	if (look->module->signs & PLIMP_MODULE_PROGRAM)
		heap->is_static = 1;
	plimp_heap_add_evidence(heap, "file: %.*s %s %s",
				(int)(name.size < 48 ? name.size : 48),
				name.data, how, what);
	return PLIM_OK;
}

/* --- texts -----------------------------------------------------------------
 */

/* The flags that segments of texts lack: writable; and executable, where the
 * linker has kept data that is only read apart from code. */
static uint32_t module_other_flags(const struct plimp_elf *elf)
{
	struct plimp_elf_segment segment;

	for (uint32_t i = 0; plimp_elf_segment(elf, i, &segment) == PLIM_OK;
	     i++) {
		if (segment.type == PLIMP_ELF_LOAD && (segment.flags & 3) == 0)
			return 3;
	}
	return 2;
}

/* The place of a text in those segments; PLIM_ENAME. */
static int module_find_text(const struct module_look *look, const char *text,
			    uint64_t *place)
{
	struct plimp_elf_segment segment;
	uint32_t others = module_other_flags(look->elf);
	uint64_t left = MODULE_TEXT_MOST;

	for (uint32_t i = 0; left > 0; i++) {
		int status = plimp_elf_segment(look->elf, i, &segment);
		uint64_t size;
		uint64_t start;

		if (status != PLIM_OK)
			return status;
		size = segment.file_size;
		if (segment.type != PLIMP_ELF_LOAD ||
		    (segment.flags & others) != 0 ||
		    plimp_elf_place(look->elf, segment.address, &start) !=
			PLIM_OK)
			continue;
		if (size > left)
			size = left;
		left -= size;
		status = plimp_elf_search(look->elf, start, size, text,
					  strlen(text), place);
		if (status != PLIM_ENAME)
			return status;
	}
	return PLIM_ENAME;
}

static int module_is_of_version(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || byte == '.' || byte == '+' ||
	       byte == '-' || byte == '~' || byte == '_';
}

/* Copies the version that stands at a place of the module. */
static void module_copy_version(const struct module_look *look, uint64_t place,
				plim_heap *heap)
{
	uint8_t bytes[sizeof(heap->version)];
	size_t size = 0;

	if (plimp_elf_bytes(look->elf, place, bytes, sizeof(bytes)) != PLIM_OK)
		return;
	while (size + 1 < sizeof(bytes) && module_is_of_version(bytes[size]))
		size++;
	if (size == 0 || bytes[0] < '0' || bytes[0] > '9')
		return;
	memcpy(heap->version, bytes, size);
	heap->version[size] = '\0';
}

static void module_set_version(const struct module_look *look, int kind)
{
	plim_heap *heap = plimp_heap_list_find(look->recognition->list, kind);

	for (size_t i = 0;
	     i < sizeof(module_versions) / sizeof(module_versions[0]); i++) {
		const char *text = module_versions[i].symbol;
		uint64_t place;

		if (module_versions[i].kind != kind || heap == NULL ||
		    module_find_text(look, text, &place) != PLIM_OK)
			continue;
		module_copy_version(look, place + strlen(text), heap);
	}
}

/* --- Go --------------------------------------------------------------------
 */

/* The build information of a program of Go: 16 bytes that begin so, 16 of
 * flags and pointers, and from 1.18 on the version, its length before it. */
static int module_ask_go(struct module_look *look)
{
	static const char magic[] = "\xff Go buildinf:";
	struct plimp_elf_section section;
	uint8_t head[33];
	plim_heap *heap;
	int status;

	if (plimp_elf_section_find(look->elf, ".go.buildinfo", &section) !=
		PLIM_OK ||
	    plimp_elf_bytes(look->elf, section.offset, head, sizeof(head)) !=
		PLIM_OK ||
	    memcmp(head, magic, sizeof(magic) - 1) != 0)
		return PLIM_OK;
	status = module_add(look, PLIM_HEAP_OF_GO, "has the section",
			    ".go.buildinfo");
	heap = plimp_heap_list_find(look->recognition->list, PLIM_HEAP_OF_GO);
	/* "go1.22.1": the number alone. */
	if (status == PLIM_OK && (head[15] & 2) != 0 && head[32] > 2 &&
	    head[32] < sizeof(heap->version))
		module_copy_version(look, section.offset + 35, heap);
	return status;
}

/* --- CPython ---------------------------------------------------------------
 */

/* Py_Version (3.11 on) is 0x030B02F0 for 3.11.2. */
static void module_python_version(const struct module_look *look,
				  uint64_t address, plim_heap *heap)
{
	uint8_t bytes[8];
	uint64_t place;
	uint64_t version;

	if (plimp_elf_place(look->elf, address, &place) != PLIM_OK ||
	    plimp_elf_bytes(look->elf, place, bytes, sizeof(bytes)) != PLIM_OK)
		return;
	version = plimp_word64(bytes);
	if (version >> 24 != 3)
		return;
	(void)snprintf(heap->version, sizeof(heap->version), "3.%u.%u",
		       (unsigned)(version >> 16 & 255),
		       (unsigned)(version >> 8 & 255));
}

/* The runtime's record begins with flags that say how far it has come; before
 * that it is all zero. */
static int module_ask_python(struct module_look *look,
			     const struct plimp_elf_symbol *symbols)
{
	plim_heap *heap =
	    plimp_heap_list_find(look->recognition->list, PLIM_HEAP_OF_CPYTHON);
	uint8_t bytes[32];
	int status;

	if (heap == NULL)
		return PLIM_OK;
	if (symbols[MODULE_PY_IS].found)
		module_python_version(look, symbols[MODULE_PY_IS].value, heap);
	if (!symbols[MODULE_PYTHON].found)
		return PLIM_OK;
	status = plimp_fetch(look->recognition->image,
			     symbols[MODULE_PYTHON].value + look->bias, bytes,
			     sizeof(bytes));
	if (status < 0)
		return status;
	for (size_t i = 0; status == PLIMP_FETCHED && i < sizeof(bytes); i++) {
		if (bytes[i] == 0)
			continue;
		heap->confidence = PLIM_CONFIDENCE_CERTAIN;
		plimp_heap_add_evidence(
		    heap, "memory: the interpreter's record is initialised");
		break;
	}
	return PLIM_OK;
}

/* --- symbols ---------------------------------------------------------------
 */

/* `_dlstart` is musl's, and libc.so of musl says nothing of GNU. */
static int module_take_symbols(struct module_look *look,
			       const struct plimp_elf_symbol *symbols,
			       uint32_t *told)
{
	for (size_t i = 0; i < MODULE_ROWS; i++) {
		int kind = module_rows[i].kind;
		int status;

		if (!symbols[i].found || kind == 0 || *told >> kind & 1)
			continue;
		*told |= UINT32_C(1) << kind;
		status =
		    module_add(look, kind, "defines", module_rows[i].symbol);
		if (status != PLIM_OK)
			return status;
		module_set_version(look, kind);
	}
	if (symbols[MODULE_MALLOC].found) {
		look->module->signs |= PLIMP_MODULE_DEFINES_MALLOC;
		look->module->malloc_at =
		    symbols[MODULE_MALLOC].value + look->bias;
	}
	return module_ask_python(look, symbols);
}

static int module_ask_symbols(struct module_look *look, int table,
			      uint32_t *told)
{
	const char *names[MODULE_ROWS];
	struct plimp_elf_symbol symbols[MODULE_ROWS];

	for (size_t i = 0; i < MODULE_ROWS; i++)
		names[i] = module_rows[i].symbol;
	memset(symbols, 0, sizeof(symbols));
	if (plimp_elf_symbols_find(look->elf, table, names, MODULE_ROWS,
				   symbols) != PLIM_OK)
		return PLIM_OK; /* a broken or missing table says nothing */
	return module_take_symbols(look, symbols, told);
}

static int module_ask_texts(struct module_look *look, uint32_t *told)
{
	for (size_t i = 0; i < sizeof(module_texts) / sizeof(module_texts[0]);
	     i++) {
		int kind = module_texts[i].kind;
		uint64_t place;
		int status;

		if (*told >> kind & 1 ||
		    module_find_text(look, module_texts[i].symbol, &place) !=
			PLIM_OK)
			continue;
		status = module_add(look, kind, "holds the text",
				    module_texts[i].symbol);
		if (status != PLIM_OK)
			return status;
		module_set_version(look, kind);
	}
	return PLIM_OK;
}

static int module_ask(struct module_look *look)
{
	const struct plimp_mapping *first =
	    &look->recognition->image->space->items[look->module->first];
	struct plimp_elf_segment segment;
	uint32_t told = 0;
	int status;

	if (plimp_elf_bias(look->elf, first->offset, first->start,
			   &look->bias) != PLIM_OK)
		return PLIM_OK;
	if (plimp_elf_segment_find(look->elf, PLIMP_ELF_INTERPRETER,
				   &segment) != PLIM_OK)
		look->module->signs |= PLIMP_MODULE_IS_STATIC;
	status = module_ask_symbols(look, PLIMP_ELF_DYNAMIC_ONES, &told);
	if (status == PLIM_OK)
		status = module_ask_go(look);
	if (status != PLIM_OK || !(look->module->signs & PLIMP_MODULE_PROGRAM))
		return status;
	status = module_ask_symbols(look, PLIMP_ELF_STATIC, &told);
	if (status == PLIM_OK)
		status = module_ask_texts(look, &told);
	return status;
}

int plimp_recognise_module(struct plimp_recognition *recognition,
			   struct plimp_heap_module *module)
{
	const struct plimp_image *image = recognition->image;
	const struct plimp_mapping *first = &image->space->items[module->first];
	struct module_look look = {.recognition = recognition,
				   .module = module};
	struct plimp_elf elf;
	struct plimp_file file;
	int status = PLIM_OK;

	look.elf = &elf;
	look.name = plimp_recognise_name(image, module->first);
	if (image->open_file == NULL ||
	    image->open_file(image->user, first, &file) != PLIM_OK) {
		if (plimp_elf_open_loaded(&elf, &image->reader, module->start,
					  module->end - module->start) ==
		    PLIM_OK)
			status = module_ask(&look);
		return status;
	}
	if (plimp_elf_open(&elf, &file.reader, 0, file.size) == PLIM_OK)
		status = module_ask(&look);
	image->close_file(image->user, &file);
	return status;
}
