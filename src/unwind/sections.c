/*
 * sections.c - .eh_frame and .debug_frame of a file or of an image in memory.
 *
 * A file is read by its sections: its .eh_frame is walked from end to end, so
 * that neither a missing header nor one that lies matters. An image in memory
 * has segments alone: PT_GNU_EH_FRAME leads to the header, and that to
 * .eh_frame, whose end nobody tells; there the header's table, where it has
 * one, says what functions there are.
 */
#include "unwind/sections.h"

#include "core/memory.h"
#include "elf/elf_bytes.h"
#include "unwind/rules.h"

#include <string.h>

enum {
	SECTION_EH_HEADER = 0x6474e550, /* PT_GNU_EH_FRAME */
	SECTION_COMPRESSED = 0x800,	/* SHF_COMPRESSED */
	SECTION_ZLIB = 1,		/* ELFCOMPRESS_ZLIB */
	SECTION_CHDR = 24
};

void plimp_section_release(struct plimp_section *section,
			   const plim_allocator *allocator)
{
	plimp_release(allocator, section->bytes, section->room, 1);
	plimp_release(allocator, section->header, section->header_size, 1);
	*section = (struct plimp_section){.bytes = NULL};
}

/* Bytes of the file or image into memory of their own. */
static int section_copy(const struct plimp_elf *elf, uint64_t place,
			uint64_t size, const plim_allocator *allocator,
			uint8_t **bytes)
{
	int failed;

	if (!size)
		return PLIM_ENAME;
	if (place > elf->size || size > elf->size - place)
		return PLIM_EMALFORMED;
	if (size > PLIMP_RULES_SECTION)
		return PLIM_ELIMIT;
	uint8_t *copy = plimp_resize(allocator, NULL, 0, (size_t)size, 1);

	if (!copy)
		return PLIM_ENOMEM;
	failed = plimp_elf_bytes(elf, place, copy, (size_t)size);
	if (failed) {
		plimp_release(allocator, copy, (size_t)size, 1);
		return failed;
	}
	*bytes = copy;
	return PLIM_OK;
}

/* --- a file's sections ---------------------------------------------------- */

/* What an Elf64_Chdr, or the "ZLIB" of a .zdebug section, says of the size. */
static int section_inflated(const struct plimp_elf_section *found,
			    const uint8_t *bytes, size_t *head, uint64_t *size)
{
	if (found->flags & SECTION_COMPRESSED) {
		if (found->size < SECTION_CHDR)
			return PLIM_EMALFORMED;
		if (plimp_elf_u32(bytes) != SECTION_ZLIB)
			return PLIM_EUNSUPPORTED;
		*size = plimp_elf_u64(bytes + 8);
		*head = SECTION_CHDR;
		return PLIM_OK;
	}
	if (found->size < 12 || memcmp(bytes, "ZLIB", 4))
		return PLIM_EMALFORMED;
	*size = 0;
	for (int i = 4; i < 12; i++)
		*size = *size << 8 | bytes[i];
	*head = 12;
	return PLIM_OK;
}

static int section_expand(const struct plimp_elf_section *found,
			  const plim_allocator *allocator,
			  struct plimp_section *section)
{
	size_t head = 0;
	uint64_t size = 0;
	int failed = section_inflated(found, section->bytes, &head, &size);

	if (failed)
		return failed;
	/* zlib makes at most a thousand bytes of one. */
	if (!size || size > PLIMP_RULES_SECTION ||
	    size / 1100 > section->cfi.size)
		return PLIM_EMALFORMED;
	uint8_t *bytes = plimp_resize(allocator, NULL, 0, (size_t)size, 1);

	if (!bytes)
		return PLIM_ENOMEM;
	failed = plimp_section_inflate(section->bytes + head,
				       section->cfi.size - head, bytes,
				       (size_t)size, allocator);
	if (failed) {
		plimp_release(allocator, bytes, (size_t)size, 1);
		return failed;
	}
	plimp_release(allocator, section->bytes, section->room, 1);
	section->bytes = bytes;
	section->room = (size_t)size;
	section->cfi.bytes = bytes;
	section->cfi.size = (size_t)size;
	return PLIM_OK;
}

static int section_by_name(const struct plimp_elf *elf, const char *name,
			   const plim_allocator *allocator,
			   struct plimp_section *section)
{
	struct plimp_elf_section found;
	struct plimp_section made = {.bytes = NULL};
	int failed = plimp_elf_section_find(elf, name, &found);

	if (failed)
		return failed;
	if (found.type == PLIMP_ELF_NO_BITS) /* of a debug file */
		return PLIM_ENAME;
	failed =
	    section_copy(elf, found.offset, found.size, allocator, &made.bytes);
	if (failed)
		return failed;
	made.room = (size_t)found.size;
	made.cfi = (struct plimp_cfi){.bytes = made.bytes,
				      .size = made.room,
				      .address = found.address,
				      .machine = elf->machine};
	if ((found.flags & SECTION_COMPRESSED) || name[1] == 'z')
		failed = section_expand(&found, allocator, &made);
	if (failed)
		plimp_section_release(&made, allocator);
	else
		*section = made;
	return failed;
}

int plimp_section_debug_frame(const struct plimp_elf *elf,
			      const plim_allocator *allocator,
			      struct plimp_section *section)
{
	int failed = section_by_name(elf, ".debug_frame", allocator, section);

	if (failed == PLIM_ENAME)
		failed =
		    section_by_name(elf, ".zdebug_frame", allocator, section);
	if (!failed)
		section->cfi.is_debug = 1;
	return failed;
}

/* --- an image in memory --------------------------------------------------- */

/* The bytes from an address up to the end of the segment that loads it. */
static int section_loaded(const struct plimp_elf *elf, uint64_t address,
			  uint64_t *place, uint64_t *size)
{
	struct plimp_elf_segment load;

	for (uint32_t i = 0;; i++) {
		int failed = plimp_elf_segment(elf, i, &load);

		if (failed)
			return failed;
		if (load.type == PLIMP_ELF_LOAD && address >= load.address &&
		    address - load.address < load.file_size)
			break;
	}
	int failed = plimp_elf_place(elf, address, place);

	if (failed)
		return failed;
	*size = load.file_size - (address - load.address);
	if (*place > elf->size)
		return PLIM_EMALFORMED;
	if (*size > elf->size - *place)
		*size = elf->size - *place;
	return PLIM_OK;
}

/* The header: version, three encodings, where .eh_frame is, how many entries
 * the table has (LSB 5.0, 10.6.2). */
static int section_header(const struct plimp_elf *elf,
			  struct plimp_section *section, uint64_t *eh_frame)
{
	struct plimp_elf_segment segment;
	uint64_t place = 0;
	uint64_t size = 0;
	uint8_t bytes[32];
	int failed = plimp_elf_segment_find(elf, SECTION_EH_HEADER, &segment);

	if (!failed)
		failed = section_loaded(elf, segment.address, &place, &size);
	if (failed)
		return failed;
	if (size > segment.memory_size)
		size = segment.memory_size;
	if (size < 8)
		return PLIM_EMALFORMED;
	size_t part = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);

	failed = plimp_elf_bytes(elf, place, bytes, part);
	if (failed)
		return failed;
	if (bytes[0] != 1)
		return PLIM_EMALFORMED;
	struct plimp_cursor cursor = {bytes + 4, bytes + part, 0};
	struct plimp_cfi_bases bases = {segment.address + 4, segment.address,
					1};

	*eh_frame = plimp_cfi_pointer(&cursor, bytes[1], &bases);
	if (cursor.is_bad)
		return PLIM_EMALFORMED;
	bases.field = segment.address + (uint64_t)(cursor.at - bytes);
	uint64_t count =
	    bytes[2] == 0xff ? 0 : plimp_cfi_pointer(&cursor, bytes[2], &bases);

	section->header_address = segment.address;
	section->header_encoding = bytes[3];
	if (cursor.is_bad || bytes[3] != 0x3b) /* 4 bytes, from the header */
		count = 0;
	uint64_t head = (uint64_t)(cursor.at - bytes);

	if (count > (size - head) / 8)
		count = 0; /* it lies */
	section->header_count = count;
	section->header_size = (size_t)head; /* where the table begins */
	return PLIM_OK;
}

/* Reads what lies from .eh_frame on, but not more than the table's entries
 * can be in: pages behind it may be missing. */
static int section_in_memory(const struct plimp_elf *elf,
			     const plim_allocator *allocator,
			     struct plimp_section *section)
{
	struct plimp_section made = {.bytes = NULL};
	uint64_t address = 0;
	uint64_t place = 0;
	uint64_t size = 0;
	int failed = section_header(elf, &made, &address);
	size_t head = made.header_size;

	made.header_size = 0;
	if (!failed)
		failed = section_loaded(elf, address, &place, &size);
	if (!failed)
		failed = section_copy(elf, place, size, allocator, &made.bytes);
	if (failed)
		return failed;
	made.room = (size_t)size;
	made.cfi = (struct plimp_cfi){.bytes = made.bytes,
				      .size = made.room,
				      .address = address,
				      .machine = elf->machine,
				      .is_cut_off = 1};
	if (made.header_count &&
	    !plimp_elf_place(elf, made.header_address, &place)) {
		size_t bytes = (size_t)made.header_count * 8;

		failed = section_copy(elf, place + head, bytes, allocator,
				      &made.header);
		made.header_size = failed ? 0 : bytes;
	}
	if (failed)
		plimp_section_release(&made, allocator);
	else
		*section = made;
	return failed;
}

int plimp_section_eh_frame(const struct plimp_elf *elf,
			   const plim_allocator *allocator,
			   struct plimp_section *section)
{
	int failed = PLIM_ENAME;

	if (!elf->is_loaded)
		failed = section_by_name(elf, ".eh_frame", allocator, section);
	/* A file without sections has segments all the same. */
	if (failed == PLIM_ENAME)
		failed = section_in_memory(elf, allocator, section);
	return failed;
}
