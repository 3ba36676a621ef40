/*
 * fuzz_core.c - any bytes as a core file: it opens or is refused, its mappings
 * ascend and do not overlap, and what it says can be read can be read, from
 * where the table says.
 */
#include "memory/core.h"
#include "promise.h"

#include <string.h>

static int core_file_read(void *user, uint64_t address, void *buffer,
			  size_t size, size_t *copied)
{
	const plim_bytes *bytes = user;

	PROMISE(address <= bytes->size && size <= bytes->size - address);
	memcpy(buffer, bytes->data + address, size);
	*copied = size;
	return PLIM_OK;
}

static void core_spaces(const struct plimp_core *core)
{
	const struct plimp_space *space = &core->space;
	uint64_t end = 0;
	size_t i;

	PROMISE(space->count >= core->segment_count ||
		core->segment_count == 0);
	for (i = 0; i < space->count; i++) {
		const struct plimp_mapping *mapping = &space->items[i];

		PROMISE(mapping->start >= end && mapping->end > mapping->start);
		PROMISE(mapping->name_start <= space->texts.size &&
			mapping->name_size <=
			    space->texts.size - mapping->name_start);
		PROMISE(mapping->resident.state != PLIM_STATE_KNOWN);
		end = mapping->end;
	}
}

/* The first and the last page of each segment, and those around it. */
static void core_reads(struct plimp_core *core)
{
	const struct plimp_reader *reader = &core->reader;
	const uint64_t page = reader->page_bytes;
	static uint8_t bytes[65536];
	size_t i;

	PROMISE(page >= 4096 && page <= 65536 && (page & (page - 1)) == 0);
	for (i = 0; i < core->segment_count && i < 64; i++) {
		const uint64_t ends[] = {core->segments[i].start & ~(page - 1),
					 (core->segments[i].end - 1) &
					     ~(page - 1)};
		uint8_t pages[3];
		size_t at;

		for (at = 0; at < 2; at++) {
			size_t copied = 77;

			PROMISE(reader->pages(reader->user, ends[at], 3,
					      pages) == PLIM_OK);
			PROMISE(reader->read(reader->user, ends[at], bytes,
					     (size_t)page, &copied) == PLIM_OK);
			PROMISE(copied <= page);
			if (pages[0] == PLIMP_PAGE_READABLE)
				PROMISE(copied == page);
			else
				PROMISE(pages[0] == 0);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes bytes = {(const char *)data, size};
	const plim_allocator allocator = {NULL, NULL};
	struct plimp_file file;
	struct plimp_core core;
	plim_error error;
	int code;

	memset(&file, 0, sizeof(file));
	memset(&error, 0, sizeof(error));
	file.reader.page_bytes = 4096;
	file.reader.read = core_file_read;
	file.reader.user = &bytes;
	file.size = size;
	code = plimp_core_open(&core, &allocator, &file, "core", &error);
	PROMISE(error.code == code);
	if (code != PLIM_OK) {
		PROMISE(code == PLIM_EMALFORMED || code == PLIM_EUNSUPPORTED ||
			code == PLIM_ELIMIT);
		return 0;
	}
	PROMISE(core.segment_count > 0);
	core_spaces(&core);
	core_reads(&core);
	plimp_core_close(&core);
	return 0;
}
