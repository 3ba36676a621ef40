/*
 * core.c - a core file's header and its table of segments, and the reader of
 * the memory that they hold.
 *
 * The gABI wants segments ascending by address, and both writers keep to it; a
 * table that does not is refused. Nothing is read twice for an answer: what
 * the table says is checked against the file's size once, and a segment that
 * goes beyond its end holds only what is there.
 */
#include "memory/core.h"

#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

#define CORE_HEADER    64
#define CORE_SEGMENT   56 /* a program header */
#define CORE_BATCH     64 /* of them at a time */
#define CORE_SECTION   64
#define CORE_MANY      0xffffu /* PN_XNUM: the count is in section 0 */
#define CORE_TYPE      4       /* ET_CORE */
#define CORE_PAGE      4096u
#define CORE_PAGE_MOST 65536u
#define CORE_LOAD      1
#define CORE_NOTE      4

static uint64_t core_word(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	while (size > 0)
		value = value << 8 | bytes[--size];
	return value;
}

int plimp_core_bytes(const struct plimp_core *core, uint64_t offset,
		     void *bytes, size_t size)
{
	const struct plimp_file *file = core->file;
	uint8_t *to = bytes;
	size_t copied;
	int code;

	if (offset > file->size || size > file->size - offset)
		return PLIM_EMALFORMED;
	while (size > 0) {
		copied = 0;
		code = file->reader.read(file->reader.user, offset, to, size,
					 &copied);
		if (code != PLIM_OK)
			return code;
		/* The file has shrunk meanwhile. */
		if (copied == 0 || copied > size)
			return PLIM_EMALFORMED;
		offset += copied;
		to += copied;
		size -= copied;
	}
	return PLIM_OK;
}

/* What a file that begins so is, when it is no ELF file. */
static const char *core_other(const uint8_t *bytes)
{
	static const struct {
		const char *magic;
		size_t size;
		const char *text;
	} others[] = {
	    {"\x28\xb5\x2f\xfd", 4, "compressed: unpack it first, zstd -d"},
	    {"\x04\x22\x4d\x18", 4, "compressed: unpack it first, lz4 -d"},
	    {"\xfd\x37zXZ", 5, "compressed: unpack it first, xz -d"},
	    {"\x1f\x8b", 2, "compressed: unpack it first, gzip -d"},
	};
	size_t i;

	for (i = 0; i < sizeof others / sizeof others[0]; i++)
		if (memcmp(bytes, others[i].magic, others[i].size) == 0)
			return others[i].text;
	return "no ELF file: give a core of the kernel's or of gcore";
}

static int core_header(struct plimp_core *core, uint8_t *header,
		       const char *path, plim_error *error)
{
	static const char *const what = "read core";
	int code = plimp_core_bytes(core, 0, header, CORE_HEADER);
	unsigned type;

	if (code == PLIM_EMALFORMED)
		return plimp_fail(error, code, 0, what, path,
				  "too short to be an ELF file");
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, what, path, NULL);
	if (memcmp(header, "\177ELF", 4) != 0)
		return plimp_fail(error, PLIM_EMALFORMED, 0, what, path, "%s",
				  core_other(header));
	if (header[4] != 2 || header[5] != 1)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, what, path,
				  "of a %s process: only 64-bit little-endian "
				  "ones can be walked",
				  header[4] == 1 ? "32-bit" : "big-endian");
	type = (unsigned)core_word(header + 16, 2);
	if (type != CORE_TYPE)
		return plimp_fail(error, PLIM_EMALFORMED, 0, what, path,
				  "an ELF file, but no core (its type is %u): "
				  "give a core of the kernel's or of gcore",
				  type);
	core->machine = (int)core_word(header + 18, 2);
	if (core->machine != 62 && core->machine != 183)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, what, path,
				  "of machine %d: only x86-64 (62) and aarch64 "
				  "(183) can be walked",
				  core->machine);
	if (core_word(header + 54, 2) != CORE_SEGMENT)
		return plimp_fail(error, PLIM_EMALFORMED, 0, what, path,
				  "its table of segments has entries of "
				  "another size");
	return PLIM_OK;
}

static int core_segment_count(const struct plimp_core *core,
			      const uint8_t *header, uint64_t *count)
{
	uint8_t section[CORE_SECTION];
	int code;

	*count = core_word(header + 56, 2);
	if (*count != CORE_MANY)
		return PLIM_OK;
	code = plimp_core_bytes(core, core_word(header + 40, 8), section,
				sizeof section);
	if (code == PLIM_OK)
		*count = core_word(section + 44, 4);
	return code;
}

static int core_segment_add(struct plimp_core *core, const uint8_t *row)
{
	struct plimp_core_segment *segment;
	void *items = core->segments;
	const uint64_t flags = core_word(row + 4, 4);
	const uint64_t offset = core_word(row + 8, 8);
	const uint64_t start = core_word(row + 16, 8);
	const uint64_t wanted = core_word(row + 32, 8);
	const uint64_t size = core_word(row + 40, 8);
	uint64_t held = wanted < size ? wanted : size;
	int code;

	if (size == 0)
		return PLIM_OK;
	if (start > UINT64_MAX - size || start % CORE_PAGE != 0 ||
	    (core->segment_count > 0 &&
	     start < core->segments[core->segment_count - 1].end))
		return PLIM_EMALFORMED;
	if (held > 0 &&
	    (offset > core->file->size || held > core->file->size - offset)) {
		core->is_cut = 1;
		held =
		    offset > core->file->size ? 0 : core->file->size - offset;
	}
	code =
	    plimp_reserve(core->allocator, &items, &core->segment_capacity,
			  core->segment_count + 1, 64, sizeof *core->segments);
	core->segments = items;
	if (code != PLIM_OK)
		return code;
	segment = &core->segments[core->segment_count++];
	segment->start = start;
	segment->end = start + size;
	segment->offset = offset;
	segment->held = held;
	segment->protection = ((flags & 4) != 0 ? PLIMP_MAY_READ : 0u) |
			      ((flags & 2) != 0 ? PLIMP_MAY_WRITE : 0u) |
			      ((flags & 1) != 0 ? PLIMP_MAY_EXECUTE : 0u);
	core->held_bytes += held;
	core->left_out_bytes += size - held;
	return PLIM_OK;
}

/* Notes that are cut off are left out; so is what comes behind them. */
static int core_notes_row(struct plimp_core *core, const uint8_t *row)
{
	const uint64_t offset = core_word(row + 8, 8);
	uint64_t size = core_word(row + 32, 8);

	if (offset > core->file->size || size > core->file->size - offset) {
		core->is_cut = 1;
		if (offset > core->file->size)
			return PLIM_OK;
		size = core->file->size - offset;
	}
	return plimp_core_notes(core, offset, size);
}

static int core_rows(struct plimp_core *core, const uint8_t *header, int type)
{
	uint8_t rows[CORE_BATCH * CORE_SEGMENT];
	uint64_t at = core_word(header + 32, 8);
	uint64_t count = 0;
	int code = core_segment_count(core, header, &count);

	if (code == PLIM_OK && count > PLIMP_MAPPING_LIMIT)
		return PLIM_ELIMIT;
	while (code == PLIM_OK && count > 0) {
		const size_t batch =
		    count < CORE_BATCH ? (size_t)count : CORE_BATCH;
		size_t i;

		code = plimp_core_bytes(core, at, rows, batch * CORE_SEGMENT);
		for (i = 0; code == PLIM_OK && i < batch; i++) {
			const uint8_t *row = rows + i * CORE_SEGMENT;

			if (core_word(row, 4) != (uint64_t)type)
				continue;
			code = type == CORE_LOAD ? core_segment_add(core, row)
						 : core_notes_row(core, row);
		}
		at += batch * CORE_SEGMENT;
		count -= batch;
	}
	return code;
}

/* The segment that holds the address, or the first one above it; NULL: none. */
static const struct plimp_core_segment *core_find(struct plimp_core *core,
						  uint64_t address)
{
	const struct plimp_core_segment *segment;
	size_t low = 0;
	size_t high = core->segment_count;

	if (core->last < core->segment_count) {
		segment = &core->segments[core->last];
		if (address >= segment->start && address < segment->end)
			return segment;
	}
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (core->segments[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == core->segment_count)
		return NULL;
	core->last = low;
	return &core->segments[low];
}

static int core_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	struct plimp_core *core = user;
	const uint64_t size = core->reader.page_bytes;
	size_t i;

	for (i = 0; i < count; i++) {
		const uint64_t page = address + i * size;
		const struct plimp_core_segment *segment;

		pages[i] = 0;
		if (page < address)
			continue;
		segment = core_find(core, page);
		if (segment != NULL && page >= segment->start &&
		    segment->held >= size &&
		    page - segment->start <= segment->held - size)
			pages[i] = PLIMP_PAGE_READABLE;
	}
	return PLIM_OK;
}

static int core_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	struct plimp_core *core = user;
	uint8_t *to = buffer;
	size_t done = 0;

	while (done < size) {
		const struct plimp_core_segment *segment =
		    core_find(core, address + done);
		uint64_t into;
		size_t part = size - done;
		int code;

		if (segment == NULL || address + done < segment->start)
			break;
		into = address + done - segment->start;
		if (into >= segment->held)
			break;
		if (part > segment->held - into)
			part = (size_t)(segment->held - into);
		code = plimp_core_bytes(core, segment->offset + into, to + done,
					part);
		if (code != PLIM_OK && code != PLIM_EMALFORMED)
			return code;
		if (code != PLIM_OK)
			break;
		done += part;
	}
	*copied = done;
	return PLIM_OK;
}

static int core_say(int code, const char *path, plim_error *error)
{
	if (code == PLIM_EMALFORMED)
		return plimp_fail(error, code, 0, "read core", path,
				  "its table of segments is cut off, or "
				  "contradicts itself: was the file copied "
				  "whole?");
	return plimp_fail(error, code, 0, "read core", path, NULL);
}

int plimp_core_open(struct plimp_core *core, const plim_allocator *allocator,
		    const struct plimp_file *file, const char *path,
		    plim_error *error)
{
	uint8_t header[CORE_HEADER];
	int code;

	assert(core != NULL && file != NULL);
	memset(core, 0, sizeof *core);
	core->allocator = allocator;
	core->file = file;
	core->reader.page_bytes = CORE_PAGE;
	core->reader.pages = core_pages;
	core->reader.read = core_read;
	core->reader.user = core;
	code = core_header(core, header, path, error);
	if (code != PLIM_OK)
		return code;
	code = core_rows(core, header, CORE_LOAD);
	if (code == PLIM_OK)
		code = core_rows(core, header, CORE_NOTE);
	if (code == PLIM_OK)
		code = plimp_core_map(core);
	if (code == PLIM_OK && core->segment_count == 0)
		code = plimp_fail(error, PLIM_EMALFORMED, 0, "read core", path,
				  "there is no memory in it");
	else if (code != PLIM_OK)
		core_say(code, path, error);
	if (code != PLIM_OK)
		plimp_core_close(core);
	return code;
}

void plimp_core_close(struct plimp_core *core)
{
	plimp_release(core->allocator, core->segments, core->segment_capacity,
		      sizeof *core->segments);
	plimp_release(core->allocator, core->files, core->file_capacity,
		      sizeof *core->files);
	plimp_release(core->allocator, core->space.items, core->space.capacity,
		      sizeof *core->space.items);
	plimp_release(core->allocator, core->space.texts.bytes,
		      core->space.texts.capacity, 1);
	memset(core, 0, sizeof *core);
}
