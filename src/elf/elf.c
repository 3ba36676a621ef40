/*
 * elf.c - the header of an ELF file, its segments, sections and notes (the
 * System V ABI, "Object Files"; elf.h of Linux for the numbers). Symbols are
 * in elf_symbols.c.
 *
 * A reader of hostile bytes: every place is checked against the size before it
 * is used, by subtraction, so that no sum can wrap; every loop has a bound of
 * its own. Fields are taken from bytes one by one, so that neither alignment
 * nor the byte order of the machine that reads matters.
 */
#include "elf/elf.h"

#include "elf/elf_bytes.h"

#include <assert.h>
#include <string.h>

enum { ELF_HEADER = 64, ELF_SEGMENT = 56, ELF_SECTION = 64, ELF_BLOCK = 16384 };

/* Reads in pieces of a few pages, each asked about first. */
static int elf_read(const struct plimp_elf *elf, uint64_t place, uint8_t *to,
		    size_t size)
{
	const struct plimp_reader *reader = elf->reader;
	const uint64_t page = reader->page_bytes;
	uint8_t pages[32];

	while (size) {
		uint64_t first = place & ~(page - 1);
		uint64_t most = 31 * page - (place - first);
		size_t part = size < most ? size : (size_t)most;
		uint64_t last = (place + part - 1) & ~(page - 1);
		size_t count = (size_t)((last - first) / page) + 1;
		size_t copied = 0;
		int failed = reader->pages(reader->user, first, count, pages);

		if (failed)
			return failed;
		for (size_t i = 0; i < count; i++)
			if (!(pages[i] & PLIMP_PAGE_READABLE))
				return PLIM_EMALFORMED;
		failed = reader->read(reader->user, place, to, part, &copied);
		if (failed)
			return failed;
		if (copied != part)
			return PLIM_EMALFORMED;
		place += part;
		to += part;
		size -= part;
	}
	return PLIM_OK;
}

int plimp_elf_bytes(const struct plimp_elf *elf, uint64_t offset, void *bytes,
		    size_t size)
{
	if (offset > elf->size || size > elf->size - offset)
		return PLIM_EMALFORMED;
	return elf_read(elf, elf->base + offset, bytes, size);
}

/* 1 if `count` entries of `size` bytes lie within the file. */
static int elf_table_fits(const struct plimp_elf *elf, uint64_t place,
			  uint64_t count, uint64_t size)
{
	return place <= elf->size && count <= (elf->size - place) / size;
}

/* A count that does not fit into the header stands in section 0 (e_phnum of
 * 0xffff, e_shnum of 0, e_shstrndx of 0xffff). */
static int elf_extended(struct plimp_elf *elf, uint32_t names)
{
	uint8_t first[ELF_SECTION];
	int failed;

	if (!elf->sections)
		return elf->segment_count == 0xffff ? PLIM_EMALFORMED : 0;
	failed = plimp_elf_bytes(elf, elf->sections, first, sizeof(first));
	if (failed)
		return failed;
	if (elf->segment_count == 0xffff)
		elf->segment_count = plimp_elf_u32(first + 44);
	if (!elf->section_count) {
		uint64_t count = plimp_elf_u64(first + 32);

		if (count > PLIMP_ELF_SECTIONS)
			return PLIM_ELIMIT;
		elf->section_count = (uint32_t)count;
	}
	elf->section_names =
	    names == 0xffff ? plimp_elf_u32(first + 40) : names;
	return PLIM_OK;
}

/* Sections are a comfort: a file that was cut, or pages in memory, have none
 * within reach, and are read without. */
static void elf_take_sections(struct plimp_elf *elf, const uint8_t *header)
{
	uint32_t segments = elf->segment_count;

	elf->sections = plimp_elf_u64(header + 40);
	elf->section_count = plimp_elf_u16(header + 60);
	if (elf->is_loaded || plimp_elf_u16(header + 58) != ELF_SECTION ||
	    elf_extended(elf, plimp_elf_u16(header + 62)) ||
	    !elf_table_fits(elf, elf->sections, elf->section_count,
			    ELF_SECTION)) {
		elf->sections = 0;
		elf->section_count = 0;
		elf->section_names = 0;
		elf->segment_count = segments;
	}
}

static int elf_start(struct plimp_elf *to, const struct plimp_reader *reader,
		     uint64_t base, uint64_t size, int is_loaded)
{
	static const uint8_t mark[7] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	struct plimp_elf elf = {.reader = reader,
				.base = base,
				.size = size,
				.is_loaded = is_loaded};
	uint8_t header[ELF_HEADER];
	int failed;

	assert(reader->page_bytes &&
	       !(reader->page_bytes & (reader->page_bytes - 1)));
	if (size > UINT64_MAX - base)
		elf.size = UINT64_MAX - base;
	failed = plimp_elf_bytes(&elf, 0, header, sizeof(header));
	if (failed)
		return failed;
	if (memcmp(header, mark, sizeof(mark)) ||
	    plimp_elf_u32(header + 20) != 1)
		return PLIM_EMALFORMED;
	elf.type = plimp_elf_u16(header + 16);
	elf.machine = plimp_elf_u16(header + 18);
	elf.entry = plimp_elf_u64(header + 24);
	elf.segments = plimp_elf_u64(header + 32);
	elf.segment_count = plimp_elf_u16(header + 56);
	elf_take_sections(&elf, header);
	if (elf.segment_count > PLIMP_ELF_SEGMENTS && elf.type != 4)
		return PLIM_ELIMIT;
	if (elf.segment_count &&
	    (plimp_elf_u16(header + 54) != ELF_SEGMENT ||
	     !elf_table_fits(&elf, elf.segments, elf.segment_count,
			     ELF_SEGMENT)))
		return PLIM_EMALFORMED;
	*to = elf;
	return PLIM_OK;
}

int plimp_elf_open(struct plimp_elf *elf, const struct plimp_reader *reader,
		   uint64_t base, uint64_t size)
{
	return elf_start(elf, reader, base, size, 0);
}

/* The page that `base` is the start of holds the file's byte 0, so the first
 * LOAD segment tells what address that has. */
int plimp_elf_open_loaded(struct plimp_elf *elf,
			  const struct plimp_reader *reader, uint64_t base,
			  uint64_t size)
{
	struct plimp_elf_segment load;
	struct plimp_elf loaded;
	int failed = elf_start(&loaded, reader, base, size, 1);

	if (!failed)
		failed = plimp_elf_segment_find(&loaded, PLIMP_ELF_LOAD, &load);
	if (failed)
		return failed == PLIM_ENAME ? PLIM_EMALFORMED : failed;
	loaded.loaded_at = load.address - load.offset;
	*elf = loaded;
	return PLIM_OK;
}

int plimp_elf_segment(const struct plimp_elf *elf, uint32_t index,
		      struct plimp_elf_segment *segment)
{
	uint8_t bytes[ELF_SEGMENT];
	int failed;

	if (index >= elf->segment_count)
		return PLIM_ENAME;
	failed =
	    plimp_elf_bytes(elf, elf->segments + (uint64_t)index * ELF_SEGMENT,
			    bytes, sizeof(bytes));
	if (failed)
		return failed;
	*segment = (struct plimp_elf_segment){
	    .type = plimp_elf_u32(bytes),
	    .flags = plimp_elf_u32(bytes + 4),
	    .offset = plimp_elf_u64(bytes + 8),
	    .address = plimp_elf_u64(bytes + 16),
	    .file_size = plimp_elf_u64(bytes + 32),
	    .memory_size = plimp_elf_u64(bytes + 40),
	    .align = plimp_elf_u64(bytes + 48),
	};
	return PLIM_OK;
}

int plimp_elf_segment_find(const struct plimp_elf *elf, uint32_t type,
			   struct plimp_elf_segment *segment)
{
	struct plimp_elf_segment found;
	int failed;

	for (uint32_t i = 0;; i++) {
		failed = plimp_elf_segment(elf, i, &found);
		if (failed)
			return failed;
		if (found.type == type)
			break;
	}
	*segment = found;
	return PLIM_OK;
}

int plimp_elf_section(const struct plimp_elf *elf, uint32_t index,
		      struct plimp_elf_section *section)
{
	uint8_t bytes[ELF_SECTION];
	int failed;

	if (index >= elf->section_count)
		return PLIM_ENAME;
	failed =
	    plimp_elf_bytes(elf, elf->sections + (uint64_t)index * ELF_SECTION,
			    bytes, sizeof(bytes));
	if (failed)
		return failed;
	*section = (struct plimp_elf_section){
	    .name = plimp_elf_u32(bytes),
	    .type = plimp_elf_u32(bytes + 4),
	    .flags = plimp_elf_u64(bytes + 8),
	    .address = plimp_elf_u64(bytes + 16),
	    .offset = plimp_elf_u64(bytes + 24),
	    .size = plimp_elf_u64(bytes + 32),
	    .link = plimp_elf_u32(bytes + 40),
	    .info = plimp_elf_u32(bytes + 44),
	    .align = plimp_elf_u64(bytes + 48),
	    .entry_size = plimp_elf_u64(bytes + 56),
	};
	return PLIM_OK;
}

/* 1 if the string at `place` of a table of `size` bytes is `name`. */
static int elf_name_is(const struct plimp_elf *elf,
		       const struct plimp_elf_section *table, uint32_t place,
		       const char *name, size_t length)
{
	char text[64];

	if (place > table->size || length >= table->size - place ||
	    length >= sizeof(text) || table->offset > elf->size ||
	    plimp_elf_bytes(elf, table->offset + place, text, length + 1))
		return 0;
	return !memcmp(text, name, length) && !text[length];
}

int plimp_elf_section_find(const struct plimp_elf *elf, const char *name,
			   struct plimp_elf_section *section)
{
	struct plimp_elf_section names, found;
	const size_t length = strlen(name);
	int failed = plimp_elf_section(elf, elf->section_names, &names);

	if (failed)
		return failed;
	if (names.type != PLIMP_ELF_STRINGS_TABLE)
		return PLIM_ENAME;
	for (uint32_t i = 1;; i++) {
		failed = plimp_elf_section(elf, i, &found);
		if (failed)
			return failed;
		if (elf_name_is(elf, &names, found.name, name, length))
			break;
	}
	*section = found;
	return PLIM_OK;
}

int plimp_elf_place(const struct plimp_elf *elf, uint64_t address,
		    uint64_t *place)
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
	*place = elf->is_loaded ? address - elf->loaded_at
				: load.offset + (address - load.address);
	return PLIM_OK;
}

/* 2 where the segment begins in the page of `offset`, 1 where it has it, 0. */
static int elf_has_page(const struct plimp_elf *elf,
			const struct plimp_elf_segment *load, uint64_t offset)
{
	/* The kernel maps whole pages: those of `offset` may begin before the
	 * segment does. */
	uint64_t page = elf->reader->page_bytes;
	uint64_t first = load->offset & ~(page - 1);

	if (load->type != PLIMP_ELF_LOAD || offset < first ||
	    offset - first >= load->file_size + (load->offset - first))
		return 0;
	return offset == first ? 2 : 1;
}

static int elf_bias(const struct plimp_elf *elf, uint32_t flags,
		    uint64_t offset, uint64_t start, uint64_t *bias)
{
	struct plimp_elf_segment load;
	uint64_t shift = 0;
	int best = 0;
	int failed = PLIM_OK;

	for (uint32_t i = 0; best < 2; i++) {
		failed = plimp_elf_segment(elf, i, &load);
		if (failed)
			break;
		int has = (load.flags & flags) == flags
			      ? elf_has_page(elf, &load, offset)
			      : 0;

		if (has > best) {
			best = has;
			shift = load.address - load.offset;
		}
	}
	if (!best)
		return failed;
	*bias = start - (shift + offset);
	return PLIM_OK;
}

int plimp_elf_bias(const struct plimp_elf *elf, uint64_t offset, uint64_t start,
		   uint64_t *bias)
{
	return elf_bias(elf, 0, offset, start, bias);
}

int plimp_elf_bias_of_code(const struct plimp_elf *elf, uint64_t offset,
			   uint64_t start, uint64_t *bias)
{
	return elf_bias(elf, 1, offset, start, bias);
}

/* Where notes lie, and how they are padded (the generic ABI has 4 bytes;
 * segments that say 8 are padded to 8). */
struct elf_notes {
	uint64_t place;
	uint64_t size;
	uint64_t align;
};

static uint64_t elf_padded(uint64_t size, uint64_t align)
{
	return (size + align - 1) & ~(align - 1);
}

static int elf_note_among(const struct plimp_elf *elf,
			  const struct elf_notes *notes, const char *owner,
			  uint32_t type, uint64_t *place, uint64_t *size)
{
	const size_t length = strlen(owner) + 1;
	uint64_t at = 0;
	char name[16];
	uint8_t head[12];

	if (notes->size > PLIMP_ELF_NOTE_BYTES || length > sizeof(name))
		return PLIM_ENAME;
	for (uint32_t i = 0; i < PLIMP_ELF_NOTES; i++) {
		if (at > notes->size || notes->size - at < sizeof(head))
			return PLIM_ENAME;
		int failed =
		    plimp_elf_bytes(elf, notes->place + at, head, sizeof(head));
		uint64_t name_size = plimp_elf_u32(head);
		uint64_t body = plimp_elf_u32(head + 4);
		uint64_t begin =
		    elf_padded(sizeof(head) + name_size, notes->align);

		if (failed)
			return failed;
		if (begin > notes->size - at || body > notes->size - at - begin)
			return PLIM_ENAME;
		if (plimp_elf_u32(head + 8) == type && name_size == length &&
		    !plimp_elf_bytes(elf, notes->place + at + sizeof(head),
				     name, length) &&
		    !memcmp(name, owner, length)) {
			*place = notes->place + at + begin;
			*size = body;
			return PLIM_OK;
		}
		at += elf_padded(begin + body, notes->align);
	}
	return PLIM_ELIMIT;
}

/* The notes of one segment or section, if it has any within the file. */
static int elf_notes_of(const struct plimp_elf *elf, int is_section,
			uint32_t index, struct elf_notes *notes)
{
	struct plimp_elf_segment segment;
	struct plimp_elf_section section;
	uint64_t align;
	int failed;

	notes->size = 0;
	if (is_section) {
		failed = plimp_elf_section(elf, index, &section);
		if (failed || section.type != PLIMP_ELF_SECTION_NOTE)
			return failed;
		notes->place = section.offset;
		notes->size = section.size;
		align = section.align;
	} else {
		failed = plimp_elf_segment(elf, index, &segment);
		if (failed || segment.type != PLIMP_ELF_NOTE)
			return failed;
		notes->place = elf->is_loaded ? segment.address - elf->loaded_at
					      : segment.offset;
		notes->size = segment.file_size;
		align = segment.align;
	}
	notes->align = align == 8 ? 8 : 4;
	if (!elf_table_fits(elf, notes->place, notes->size, 1))
		notes->size = 0;
	return PLIM_OK;
}

static int elf_note_place(const struct plimp_elf *elf, const char *owner,
			  uint32_t type, uint64_t *place, uint64_t *size)
{
	for (int is_section = 0; is_section < 2; is_section++)
		for (uint32_t i = 0;; i++) {
			struct elf_notes notes;
			int failed = elf_notes_of(elf, is_section, i, &notes);

			if (failed == PLIM_ENAME)
				break;
			if (failed)
				return failed;
			if (!notes.size)
				continue;
			failed = elf_note_among(elf, &notes, owner, type, place,
						size);
			if (failed != PLIM_ENAME)
				return failed;
		}
	return PLIM_ENAME;
}

int plimp_elf_note_find(const struct plimp_elf *elf, const char *owner,
			uint32_t type, void *bytes, size_t capacity,
			size_t *size)
{
	uint64_t place = 0;
	uint64_t found = 0;
	int failed = elf_note_place(elf, owner, type, &place, &found);

	if (failed)
		return failed;
	failed = plimp_elf_bytes(elf, place, bytes,
				 found < capacity ? (size_t)found : capacity);
	if (!failed)
		*size = (size_t)found;
	return failed;
}

int plimp_elf_build_id(const struct plimp_elf *elf, uint8_t id[PLIMP_ELF_ID],
		       size_t *size)
{
	uint8_t bytes[PLIMP_ELF_ID];
	size_t found;
	int failed = plimp_elf_note_find(elf, "GNU", 3 /* NT_GNU_BUILD_ID */,
					 bytes, sizeof(bytes), &found);

	if (failed)
		return failed;
	if (found < 4 || found > sizeof(bytes))
		return PLIM_ENAME;
	memcpy(id, bytes, found);
	*size = found;
	return PLIM_OK;
}

void plimp_elf_debug_path(const uint8_t *id, size_t size,
			  char path[PLIMP_ELF_DEBUG_PATH])
{
	static const char digits[] = "0123456789abcdef";
	static const char folder[] = PLIMP_ELF_DEBUG_ROOT "/.build-id/";
	size_t at = sizeof(folder) - 1;

	assert(size >= 2 && size <= PLIMP_ELF_ID);
	memcpy(path, folder, at);
	for (size_t i = 0; i < size; i++) {
		path[at++] = digits[id[i] >> 4];
		path[at++] = digits[id[i] & 15];
		if (i == 0)
			path[at++] = '/';
	}
	memcpy(path + at, ".debug", sizeof(".debug"));
}

/* The name, its NUL, padding to 4 bytes, the CRC. */
int plimp_elf_debug_link(const struct plimp_elf *elf, char *name, size_t size,
			 uint32_t *crc)
{
	struct plimp_elf_section section;
	uint8_t bytes[512];
	int failed = plimp_elf_section_find(elf, ".gnu_debuglink", &section);

	if (failed)
		return failed;
	if (section.size < 8 || section.size > sizeof(bytes))
		return PLIM_EMALFORMED;
	failed =
	    plimp_elf_bytes(elf, section.offset, bytes, (size_t)section.size);
	if (failed)
		return failed;
	const uint8_t *end = memchr(bytes, 0, (size_t)section.size);
	size_t length = end ? (size_t)(end - bytes) : 0;
	size_t place = (length + 4) & ~(size_t)3;

	if (!length || length >= size || place > section.size - 4)
		return PLIM_EMALFORMED;
	/* A path would lead out of the folders of debug files. */
	if (memchr(bytes, '/', length))
		return PLIM_EMALFORMED;
	memcpy(name, bytes, length + 1);
	*crc = plimp_elf_u32(bytes + place);
	return PLIM_OK;
}

static const uint8_t *elf_match(const uint8_t *bytes, size_t size,
				const char *pattern, size_t length)
{
	const uint8_t *end = bytes + size;

	while ((size_t)(end - bytes) >= length) {
		bytes = memchr(bytes, (uint8_t)pattern[0],
			       (size_t)(end - bytes) - length + 1);
		if (!bytes || !memcmp(bytes, pattern, length))
			return bytes;
		bytes++;
	}
	return NULL;
}

/* The bytes up to the end of the page that holds the place. */
static size_t elf_to_page_end(const struct plimp_elf *elf, uint64_t place,
			      size_t most)
{
	const uint64_t page = elf->reader->page_bytes;
	uint64_t left = page - ((elf->base + place) & (page - 1));

	return left < most ? (size_t)left : most;
}

/* By blocks that overlap by what a match may begin with. Where a page of one
 * cannot be read, its first page is tried alone, and passed over if that is
 * the one. */
int plimp_elf_search(const struct plimp_elf *elf, uint64_t start, uint64_t size,
		     const char *pattern, size_t length, uint64_t *place)
{
	uint8_t block[ELF_BLOCK];

	assert(length && length <= 256);
	if (start > elf->size)
		return PLIM_ENAME;
	if (size > elf->size - start)
		size = elf->size - start;
	for (uint64_t at = 0; size - at >= length;) {
		size_t part = size - at < sizeof(block) ? (size_t)(size - at)
							: sizeof(block);
		size_t page = elf_to_page_end(elf, start + at, part);
		int failed = plimp_elf_bytes(elf, start + at, block, part);

		if (failed == PLIM_EMALFORMED && page < part) {
			part = page;
			failed = plimp_elf_bytes(elf, start + at, block, part);
		}
		if (failed && failed != PLIM_EMALFORMED)
			return failed;
		const uint8_t *found =
		    failed ? NULL : elf_match(block, part, pattern, length);

		if (found) {
			*place = start + at + (uint64_t)(found - block);
			return PLIM_OK;
		}
		at += !failed && part >= 2 * length ? part - length + 1 : part;
	}
	return PLIM_ENAME;
}
