/*
 * core_notes.c - the notes of a core file: which file was mapped where, the
 * page size, who it was.
 *
 * Offsets are those of the kernel's structures of 64 bits, which x86-64 and
 * aarch64 have in common (include/linux/elfcore.h, elf_prstatus and
 * elf_prpsinfo). NT_FILE counts offsets in units that it names itself: pages
 * by the kernel, bytes by gdb (gcore writes a page size of 1).
 */
#include "memory/core.h"

#include "core/memory.h"

#include <string.h>

#define NOTE_HEADER   12
#define NOTE_PRSTATUS 1u
#define NOTE_PRPSINFO 3u
#define NOTE_AUXV     6u
#define NOTE_FILE     0x46494c45u
#define NOTE_MOST     UINT64_C(67108864) /* bytes of NT_FILE */
#define NOTE_ROWS     1048576u		 /* notes of one segment */
#define NOTE_AUX_MOST 4096u		 /* bytes of NT_AUXV */
#define AUX_PAGE_SIZE 6u
#define AUX_VDSO      33u

static uint64_t note_word(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	while (size > 0)
		value = value << 8 | bytes[--size];
	return value;
}

static int note_is_page_size(uint64_t size)
{
	return size >= 4096 && size <= 65536 && (size & (size - 1)) == 0;
}

/* The first is of the thread that the core is about. */
static int note_status(struct plimp_core *core, uint64_t offset, uint64_t size)
{
	uint8_t bytes[36];
	int code;

	if (size < sizeof bytes || core->threads++ > 0)
		return PLIM_OK;
	code = plimp_core_bytes(core, offset, bytes, sizeof bytes);
	if (code != PLIM_OK)
		return code;
	core->signal = (int)note_word(bytes + 12, 2);
	if (core->pid == 0)
		core->pid = (int32_t)note_word(bytes + 32, 4);
	return PLIM_OK;
}

static int note_process(struct plimp_core *core, uint64_t offset, uint64_t size)
{
	uint8_t bytes[56];
	int code;

	if (size < sizeof bytes)
		return PLIM_OK;
	code = plimp_core_bytes(core, offset, bytes, sizeof bytes);
	if (code != PLIM_OK)
		return code;
	core->pid = (int32_t)note_word(bytes + 24, 4);
	if (core->pid < 0)
		core->pid = 0;
	memcpy(core->name, bytes + 40, 16);
	core->name[16] = '\0';
	return PLIM_OK;
}

static int note_aux(struct plimp_core *core, uint64_t offset, uint64_t size)
{
	uint8_t bytes[NOTE_AUX_MOST];
	size_t count = size < sizeof bytes ? (size_t)size : sizeof bytes;
	size_t at;
	int code = plimp_core_bytes(core, offset, bytes, count);

	if (code != PLIM_OK)
		return code;
	for (at = 0; count - at >= 16; at += 16) {
		const uint64_t type = note_word(bytes + at, 8);
		const uint64_t value = note_word(bytes + at + 8, 8);

		if (type == 0)
			break;
		if (type == AUX_PAGE_SIZE && note_is_page_size(value))
			core->reader.page_bytes = (uint32_t)value;
		if (type == AUX_VDSO)
			core->vdso = value;
	}
	return PLIM_OK;
}

/* Rows that are out of order are left out: no writer makes them. */
static int note_file_add(struct plimp_core *core, const uint8_t *row,
			 uint64_t unit, plim_bytes name)
{
	struct plimp_core_file *file;
	void *items = core->files;
	const uint64_t start = note_word(row, 8);
	const uint64_t end = note_word(row + 8, 8);
	const uint64_t offset = note_word(row + 16, 8);
	int code;

	if (end <= start || start % 4096 != 0 || end % 4096 != 0 ||
	    (unit > 1 && offset > UINT64_MAX / unit) ||
	    (core->file_count > 0 &&
	     start < core->files[core->file_count - 1].end))
		return PLIM_OK;
	if (core->file_count >= PLIMP_MAPPING_LIMIT)
		return PLIM_ELIMIT;
	code = plimp_reserve(core->allocator, &items, &core->file_capacity,
			     core->file_count + 1, 64, sizeof *core->files);
	core->files = items;
	if (code != PLIM_OK)
		return code;
	file = &core->files[core->file_count];
	file->start = start;
	file->end = end;
	file->offset = offset * unit;
	file->name_start = core->space.texts.size;
	file->name_size = name.size;
	code = plimp_texts_add(&core->space.texts, core->allocator, name);
	if (code == PLIM_OK)
		core->file_count++;
	return code;
}

static int note_files_of(struct plimp_core *core, const uint8_t *bytes,
			 size_t size)
{
	const uint64_t count = note_word(bytes, 8);
	const uint64_t unit = note_word(bytes + 8, 8);
	const uint8_t *end = bytes + size;
	const uint8_t *row = bytes + 16;
	const uint8_t *name;
	uint64_t i;
	int code = PLIM_OK;

	if (count > (size - 16) / 24)
		return PLIM_OK;
	if (core->reader.page_bytes == 4096 && note_is_page_size(unit))
		core->reader.page_bytes = (uint32_t)unit;
	name = row + count * 24;
	for (i = 0; code == PLIM_OK && i < count; i++, row += 24) {
		const uint8_t *stop = memchr(name, '\0', (size_t)(end - name));
		plim_bytes text;

		if (stop == NULL)
			break;
		text.data = (const char *)name;
		text.size = (size_t)(stop - name);
		code = note_file_add(core, row, unit, text);
		name = stop + 1;
	}
	return code;
}

static int note_files(struct plimp_core *core, uint64_t offset, uint64_t size)
{
	uint8_t *bytes;
	int code;

	if (core->has_files || size < 16 || size > NOTE_MOST)
		return PLIM_OK;
	bytes = plimp_allocate(core->allocator, (size_t)size, 1);
	if (bytes == NULL)
		return PLIM_ENOMEM;
	code = plimp_core_bytes(core, offset, bytes, (size_t)size);
	if (code == PLIM_OK) {
		core->has_files = 1;
		code = note_files_of(core, bytes, (size_t)size);
	}
	plimp_release(core->allocator, bytes, (size_t)size, 1);
	return code;
}

static int note_take(struct plimp_core *core, uint64_t type, uint64_t offset,
		     uint64_t size)
{
	switch (type) {
	case NOTE_PRSTATUS:
		return note_status(core, offset, size);
	case NOTE_PRPSINFO:
		return note_process(core, offset, size);
	case NOTE_AUXV:
		return note_aux(core, offset, size);
	case NOTE_FILE:
		return note_files(core, offset, size);
	default:
		return PLIM_OK;
	}
}

static uint64_t note_padded(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

int plimp_core_notes(struct plimp_core *core, uint64_t offset, uint64_t size)
{
	uint8_t header[NOTE_HEADER];
	uint32_t rows = 0;
	int code = PLIM_OK;

	while (code == PLIM_OK && size >= NOTE_HEADER && rows++ < NOTE_ROWS) {
		uint64_t name;
		uint64_t body;
		char owner[5] = "";

		code = plimp_core_bytes(core, offset, header, sizeof header);
		if (code != PLIM_OK)
			break;
		name = note_padded(note_word(header, 4));
		body = note_word(header + 4, 4);
		offset += NOTE_HEADER;
		size -= NOTE_HEADER;
		if (name > size || body > size - name)
			break;
		if (name >= sizeof owner)
			code =
			    plimp_core_bytes(core, offset, owner, sizeof owner);
		/* "LINUX" has registers of others alone. */
		if (code == PLIM_OK && memcmp(owner, "CORE", 5) == 0)
			code = note_take(core, note_word(header + 8, 4),
					 offset + name, body);
		body = note_padded(body);
		if (body > size - name)
			break;
		offset += name + body;
		size -= name + body;
	}
	return code;
}
