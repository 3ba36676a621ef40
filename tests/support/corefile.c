/*
 * corefile.c - see corefile.h. Structures as in include/linux/elfcore.h.
 */
#include "corefile.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct corefile *corefile_new(void)
{
	struct corefile *core = calloc(1, sizeof(*core));

	assert(core != NULL);
	core->machine = 62;
	core->pid = 4711;
	core->signal = 11;
	core->threads = 1;
	core->page_size = 4096;
	core->unit = 4096;
	core->name = "workload";
	return core;
}

void corefile_free(struct corefile *core)
{
	size_t i;

	for (i = 0; i < core->segment_count; i++)
		free(core->segments[i].bytes);
	free(core);
}

void corefile_segment(struct corefile *core, uint64_t start, uint64_t end,
		      unsigned flags, const void *bytes, uint64_t held)
{
	struct corefile_segment *segment;

	assert(core->segment_count < COREFILE_SEGMENTS);
	segment = &core->segments[core->segment_count++];
	segment->start = start;
	segment->end = end;
	segment->flags = flags;
	segment->held = held;
	if (held == 0)
		return;
	segment->bytes = malloc((size_t)held);
	assert(segment->bytes != NULL);
	memcpy(segment->bytes, bytes, (size_t)held);
}

void corefile_file(struct corefile *core, uint64_t start, uint64_t end,
		   uint64_t offset, const char *name)
{
	struct corefile_file *file;

	assert(core->file_count < COREFILE_FILES);
	file = &core->files[core->file_count++];
	file->start = start;
	file->end = end;
	file->offset = offset;
	snprintf(file->name, sizeof(file->name), "%s", name);
}

struct corefile_out {
	uint8_t *bytes;
	size_t size;
	size_t capacity;
};

static void out_bytes(struct corefile_out *out, const void *bytes, size_t size)
{
	if (out->size + size > out->capacity) {
		out->capacity = (out->size + size) * 2;
		out->bytes = realloc(out->bytes, out->capacity);
		assert(out->bytes != NULL);
	}
	if (bytes != NULL)
		memcpy(out->bytes + out->size, bytes, size);
	else
		memset(out->bytes + out->size, 0, size);
	out->size += size;
}

static void out_word(struct corefile_out *out, uint64_t value, size_t size)
{
	uint8_t bytes[8];
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	out_bytes(out, bytes, size);
}

static void out_pad(struct corefile_out *out, size_t to)
{
	while (out->size % to != 0)
		out_word(out, 0, 1);
}

static void out_note(struct corefile_out *out, unsigned type,
		     const struct corefile_out *body)
{
	out_word(out, 5, 4);
	out_word(out, body->size, 4);
	out_word(out, type, 4);
	out_bytes(out, "CORE\0\0\0\0", 8);
	out_bytes(out, body->bytes, body->size);
	out_pad(out, 4);
}

static void note_status(struct corefile_out *out, const struct corefile *core)
{
	struct corefile_out body = {NULL, 0, 0};

	out_bytes(&body, NULL, 12);
	out_word(&body, (uint64_t)core->signal, 2);
	out_bytes(&body, NULL, 18);
	out_word(&body, (uint64_t)core->pid, 4);
	out_bytes(&body, NULL, core->machine == 62 ? 300 : 356);
	out_note(out, 1, &body);
	free(body.bytes);
}

static void note_process(struct corefile_out *out, const struct corefile *core)
{
	struct corefile_out body = {NULL, 0, 0};
	char name[16] = "";

	snprintf(name, sizeof(name), "%s", core->name);
	out_bytes(&body, NULL, 24);
	out_word(&body, (uint64_t)core->pid, 4);
	out_bytes(&body, NULL, 12);
	out_bytes(&body, name, sizeof(name));
	out_bytes(&body, NULL, 80);
	out_note(out, 3, &body);
	free(body.bytes);
}

static void note_aux(struct corefile_out *out, const struct corefile *core)
{
	struct corefile_out body = {NULL, 0, 0};

	if (core->page_size == 0)
		return;
	out_word(&body, 33, 8);
	out_word(&body, core->vdso, 8);
	out_word(&body, 6, 8);
	out_word(&body, core->page_size, 8);
	out_bytes(&body, NULL, 16);
	out_note(out, 6, &body);
	free(body.bytes);
}

static void note_files(struct corefile_out *out, const struct corefile *core)
{
	struct corefile_out body = {NULL, 0, 0};
	size_t i;

	if (core->unit == 0)
		return;
	out_word(&body, core->file_count, 8);
	out_word(&body, core->unit, 8);
	for (i = 0; i < core->file_count; i++) {
		out_word(&body, core->files[i].start, 8);
		out_word(&body, core->files[i].end, 8);
		out_word(&body, core->files[i].offset / core->unit, 8);
	}
	for (i = 0; i < core->file_count; i++)
		out_bytes(&body, core->files[i].name,
			  strlen(core->files[i].name) + 1);
	out_note(out, 0x46494c45, &body);
	free(body.bytes);
}

static void out_row(struct corefile_out *out, unsigned type, unsigned flags,
		    uint64_t offset, uint64_t start, uint64_t held,
		    uint64_t size)
{
	out_word(out, type, 4);
	out_word(out, flags, 4);
	out_word(out, offset, 8);
	out_word(out, start, 8);
	out_word(out, 0, 8);
	out_word(out, held, 8);
	out_word(out, size, 8);
	out_word(out, type == 1 ? 4096 : 0, 8);
}

static void out_header(struct corefile_out *out, const struct corefile *core)
{
	static const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	const uint64_t count = core->segment_count + 1;

	out_bytes(out, ident, sizeof(ident));
	out_word(out, 4, 2);
	out_word(out, (uint64_t)core->machine, 2);
	out_word(out, 1, 4);
	out_word(out, 0, 8);
	out_word(out, 64, 8);
	out_word(out, core->many ? 64 + count * 56 : 0, 8);
	out_word(out, 0, 4);
	out_word(out, 64, 2);
	out_word(out, 56, 2);
	out_word(out, core->many ? 0xffff : count, 2);
	out_word(out, core->many ? 64 : 0, 2);
	out_word(out, core->many ? 1 : 0, 2);
	out_word(out, 0, 2);
}

uint8_t *corefile_write(const struct corefile *core, size_t *size)
{
	struct corefile_out out = {NULL, 0, 0};
	struct corefile_out notes = {NULL, 0, 0};
	size_t head = 64 + (core->segment_count + 1) * 56;
	size_t offset;
	size_t i;

	if (core->many)
		head += 64;
	note_status(&notes, core);
	note_process(&notes, core);
	note_aux(&notes, core);
	note_files(&notes, core);
	for (i = 1; i < core->threads; i++)
		note_status(&notes, core);
	out_header(&out, core);
	out_row(&out, 4, 0, head, 0, notes.size, 0);
	offset = (head + notes.size + 4095) / 4096 * 4096;
	for (i = 0; i < core->segment_count; i++) {
		const struct corefile_segment *row = &core->segments[i];

		out_row(&out, 1, row->flags, offset, row->start, row->held,
			row->end - row->start);
		offset += (size_t)(row->held + 4095) / 4096 * 4096;
	}
	if (core->many) {
		out_bytes(&out, NULL, 44);
		out_word(&out, core->segment_count + 1, 4);
		out_bytes(&out, NULL, 16);
	}
	out_bytes(&out, notes.bytes, notes.size);
	for (i = 0; i < core->segment_count; i++) {
		out_pad(&out, 4096);
		out_bytes(&out, core->segments[i].bytes,
			  (size_t)core->segments[i].held);
	}
	free(notes.bytes);
	*size = out.size;
	return out.bytes;
}
