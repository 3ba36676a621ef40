/*
 * recognise_bound.c - whose malloc it is that is called (recognise.h).
 *
 * A C library calls malloc through a slot of its own that the loader fills,
 * so that another malloc (preloaded, or linked before it) takes its place
 * everywhere. The slot is named by a relocation of the library, and what the
 * loader wrote into it is the malloc that the process uses: no guess by names
 * or order. A slot that was not filled yet leads back into the library and to
 * no malloc, and says nothing.
 */
#include "memory/recognise.h"

#include "memory/sweep.h"

#include <string.h>

/* Relocations of one library that are looked at; C libraries have some
 * thousand. */
#define BOUND_MOST 65536u

/* Tags of the dynamic segment. */
enum bound_tag {
	BOUND_PLT_SIZE = 2,
	BOUND_STRINGS = 5,
	BOUND_SYMBOLS = 6,
	BOUND_RELA = 7,
	BOUND_RELA_SIZE = 8,
	BOUND_PLT = 23,
	BOUND_TAGS = 24
};

struct bound_library {
	const struct plimp_elf *elf;
	uint64_t tags[BOUND_TAGS];
};

/* Where an address of the dynamic segment lies. The loader may have put the
 * process's addresses there instead of the file's (glibc does on x86-64). */
static int bound_place(const struct plimp_elf *elf, uint64_t address,
		       uint64_t *place)
{
	if (elf->is_loaded && address >= elf->base &&
	    address - elf->base < elf->size) {
		*place = address - elf->base;
		return PLIM_OK;
	}
	return plimp_elf_place(elf, address, place);
}

static int bound_read_tags(struct bound_library *library)
{
	struct plimp_elf_segment dynamic;
	uint64_t place;
	int status =
	    plimp_elf_segment_find(library->elf, PLIMP_ELF_DYNAMIC, &dynamic);

	if (status == PLIM_OK)
		status = plimp_elf_place(library->elf, dynamic.address, &place);
	if (status != PLIM_OK)
		return status;
	for (uint64_t i = 0; i < 512 && i + 16 <= dynamic.file_size; i += 16) {
		uint8_t entry[16];
		uint64_t tag;

		status = plimp_elf_bytes(library->elf, place + i, entry,
					 sizeof(entry));
		if (status != PLIM_OK)
			return status;
		tag = plimp_word64(entry);
		if (tag == 0)
			break;
		if (tag < BOUND_TAGS)
			library->tags[tag] = plimp_word64(entry + 8);
	}
	return library->tags[BOUND_SYMBOLS] != 0 &&
		       library->tags[BOUND_STRINGS] != 0
		   ? PLIM_OK
		   : PLIM_ENAME;
}

/* Does a relocation that is one of a slot go by this symbol's name? */
static int bound_is_malloc(const struct bound_library *library, uint64_t info)
{
	uint8_t symbol[24];
	char name[7];
	uint64_t place;
	uint32_t type = (uint32_t)info;

	/* GLOB_DAT and JUMP_SLOT, of x86-64 and of aarch64. */
	if (type != 6 && type != 7 && type != 1025 && type != 1026)
		return 0;
	if (bound_place(library->elf, library->tags[BOUND_SYMBOLS], &place) !=
		PLIM_OK ||
	    plimp_elf_bytes(library->elf, place + 24 * (info >> 32), symbol,
			    sizeof(symbol)) != PLIM_OK ||
	    bound_place(library->elf, library->tags[BOUND_STRINGS], &place) !=
		PLIM_OK ||
	    plimp_elf_bytes(library->elf, place + plimp_word32(symbol), name,
			    sizeof(name)) != PLIM_OK)
		return 0;
	return memcmp(name, "malloc", sizeof(name)) == 0;
}

/* The address, as the file has it, of the slot; PLIM_ENAME. */
static int bound_find_slot(const struct bound_library *library, int table,
			   int size_tag, uint64_t *slot)
{
	uint64_t count = library->tags[size_tag] / 24;
	uint64_t place;
	int status = bound_place(library->elf, library->tags[table], &place);

	if (library->tags[table] == 0 || status != PLIM_OK)
		return PLIM_ENAME;
	for (uint64_t i = 0; i < count && i < BOUND_MOST; i++) {
		uint8_t entry[24];

		if (plimp_elf_bytes(library->elf, place + 24 * i, entry,
				    sizeof(entry)) != PLIM_OK)
			return PLIM_ENAME;
		if (!bound_is_malloc(library, plimp_word64(entry + 8)))
			continue;
		*slot = plimp_word64(entry);
		return PLIM_OK;
	}
	return PLIM_ENAME;
}

/* What the loader wrote into the library's slot for malloc; 0: nothing. */
static int bound_read_slot(const struct plimp_image *image,
			   const struct plimp_elf *elf,
			   const struct plimp_mapping *first, uint64_t *value)
{
	struct bound_library library = {.elf = elf};
	uint8_t word[8];
	uint64_t slot;
	uint64_t bias;
	int status;

	*value = 0;
	if (bound_read_tags(&library) != PLIM_OK ||
	    plimp_elf_bias(elf, first->offset, first->start, &bias) != PLIM_OK)
		return PLIM_OK;
	if (bound_find_slot(&library, BOUND_RELA, BOUND_RELA_SIZE, &slot) !=
		PLIM_OK &&
	    bound_find_slot(&library, BOUND_PLT, BOUND_PLT_SIZE, &slot) !=
		PLIM_OK)
		return PLIM_OK;
	status = plimp_fetch(image, slot + bias, word, sizeof(word));
	if (status < 0)
		return status;
	if (status == PLIMP_FETCHED)
		*value = plimp_word64(word);
	return PLIM_OK;
}

static struct plimp_heap_module *
bound_module(struct plimp_heap_modules *modules, uint64_t address)
{
	for (size_t i = 0; i < modules->count; i++) {
		struct plimp_heap_module *module = &modules->items[i];

		if (address >= module->start && address < module->end)
			return module;
	}
	return NULL;
}

/* The library's own malloc, or another module's. */
static int bound_tell(struct plimp_recognition *recognition,
		      const struct plimp_heap_module *library,
		      const struct plimp_heap_module *owner)
{
	plim_bytes who = plimp_recognise_name(recognition->image, owner->first);
	plim_bytes of =
	    plimp_recognise_name(recognition->image, library->first);
	int shown = (int)(who.size < 40 ? who.size : 40);
	plim_heap *heap;

	if (owner->kind != 0) {
		heap = plimp_recognise_as(recognition, owner->kind,
					  PLIM_CONFIDENCE_CERTAIN);
		if (heap == NULL)
			return PLIM_ENOMEM;
		plimp_heap_add_evidence(heap,
					"memory: %.*s calls the malloc of %.*s",
					(int)(of.size < 40 ? of.size : 40),
					of.data, shown, who.data);
	}
	if (owner == library)
		return PLIM_OK;
	heap = plimp_heap_list_find(recognition->list, library->kind);
	if (heap == NULL)
		return PLIM_OK;
	heap->confidence = PLIM_CONFIDENCE_POSSIBLE;
	plimp_heap_add_evidence(heap,
				"memory: not in use for malloc, which is that "
				"of %.*s",
				shown, who.data);
	return PLIM_OK;
}

/* What a module's slot for malloc leads to; 0: it has none, or not yet. */
static int bound_value(struct plimp_recognition *recognition,
		       const struct plimp_heap_module *module, uint64_t *value)
{
	const struct plimp_image *image = recognition->image;
	const struct plimp_mapping *first = &image->space->items[module->first];
	struct plimp_file file;
	struct plimp_elf elf;
	int status = PLIM_OK;

	*value = 0;
	if (image->open_file == NULL ||
	    image->open_file(image->user, first, &file) != PLIM_OK) {
		if (plimp_elf_open_loaded(&elf, &image->reader, module->start,
					  module->end - module->start) ==
		    PLIM_OK)
			status = bound_read_slot(image, &elf, first, value);
		return status;
	}
	if (plimp_elf_open(&elf, &file.reader, 0, file.size) == PLIM_OK)
		status = bound_read_slot(image, &elf, first, value);
	image->close_file(image->user, &file);
	return status;
}

/*
 * A program at a fixed address that takes malloc's address itself has a stub
 * whose address stands for malloc's everywhere: then its own slot is the one
 * that leads on.
 */
static int bound_ask(struct plimp_recognition *recognition,
		     const struct plimp_heap_module *library)
{
	const struct plimp_heap_module *owner = library;
	uint64_t value;

	for (int step = 0; step < 2; step++) {
		int status = bound_value(recognition, owner, &value);

		if (status != PLIM_OK)
			return status;
		owner = bound_module(&recognition->modules, value);
		if (owner == NULL)
			return PLIM_OK;
		if (value == owner->malloc_at)
			return bound_tell(recognition, library, owner);
	}
	return PLIM_OK;
}

int plimp_recognise_bound(struct plimp_recognition *recognition)
{
	const uint32_t library = PLIMP_MODULE_IS_GLIBC | PLIMP_MODULE_IS_MUSL;

	for (size_t i = 0; i < recognition->modules.count; i++) {
		const struct plimp_heap_module *module =
		    &recognition->modules.items[i];
		int status;

		if ((module->signs & library) == 0 ||
		    (module->signs & PLIMP_MODULE_PROGRAM) != 0)
			continue;
		status = bound_ask(recognition, module);
		if (status != PLIM_OK)
			return status;
	}
	return PLIM_OK;
}
