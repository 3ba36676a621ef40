/*
 * picture.c - memory that a test makes up.
 */
#include "picture.h"

#include <stdlib.h>
#include <string.h>

static struct picture_part *part_of(struct picture *picture, uint64_t address)
{
	for (size_t i = 0; i < picture->part_count; i++) {
		struct picture_part *part = &picture->parts[i];

		if (address >= part->start &&
		    address - part->start < part->size)
			return part;
	}
	return NULL;
}

static int picture_pages(void *user, uint64_t address, size_t count,
			 uint8_t *pages)
{
	struct picture *picture = user;

	if (picture->failure)
		return picture->failure;
	for (size_t i = 0; i < count; i++) {
		uint64_t page = address + i * PICTURE_PAGE;
		struct picture_part *part = part_of(picture, page);

		pages[i] =
		    part ? part->pages[(page - part->start) / PICTURE_PAGE] : 0;
	}
	return PLIM_OK;
}

static int picture_read(void *user, uint64_t address, void *buffer, size_t size,
			size_t *copied)
{
	struct picture *picture = user;
	uint8_t *to = buffer;
	size_t done = 0;

	if (picture->failure)
		return picture->failure;
	picture->reads++;
	while (done < size) {
		struct picture_part *part = part_of(picture, address + done);
		uint64_t at = part ? address + done - part->start : 0;
		size_t piece = PICTURE_PAGE - (address + done) % PICTURE_PAGE;

		if (!part)
			break;
		if (!(part->pages[at / PICTURE_PAGE] & PLIMP_PAGE_READABLE))
			picture->forbidden++;
		if (piece > size - done)
			piece = size - done;
		memcpy(to + done, part->bytes + at, piece);
		done += piece;
	}
	*copied = done;
	return PLIM_OK;
}

static int buffer_pages(void *user, uint64_t address, size_t count,
			uint8_t *pages)
{
	const struct picture_buffer *buffer = user;

	for (size_t i = 0; i < count; i++)
		pages[i] = address + i * PICTURE_PAGE < buffer->size
			       ? PLIMP_PAGE_READABLE | PLIMP_PAGE_FILE
			       : 0;
	return PLIM_OK;
}

static int buffer_read(void *user, uint64_t address, void *to, size_t size,
		       size_t *copied)
{
	const struct picture_buffer *buffer = user;

	*copied = 0;
	if (address >= buffer->size)
		return PLIM_OK;
	if (size > buffer->size - address)
		size = buffer->size - (size_t)address;
	memcpy(to, buffer->bytes + address, size);
	*copied = size;
	return PLIM_OK;
}

void picture_buffer_reader(struct picture_buffer *buffer,
			   struct plimp_reader *reader)
{
	*reader = (struct plimp_reader){.page_bytes = PICTURE_PAGE,
					.pages = buffer_pages,
					.read = buffer_read,
					.user = buffer};
}

static int open_one(const struct picture_file *from, struct plimp_file *file)
{
	struct picture_buffer *buffer = malloc(sizeof(*buffer));

	if (!buffer)
		abort();
	*buffer = (struct picture_buffer){from->bytes, from->size};
	memset(file, 0, sizeof(*file));
	picture_buffer_reader(buffer, &file->reader);
	file->size = from->size;
	file->inode = from->inode;
	file->system = buffer;
	return PLIM_OK;
}

static int picture_open_file(void *user, const struct plimp_mapping *mapping,
			     struct plimp_file *file)
{
	struct picture *picture = user;

	for (size_t i = 0; i < picture->file_count; i++)
		if (picture->files[i].inode &&
		    picture->files[i].inode == mapping->inode)
			return open_one(&picture->files[i], file);
	return PLIM_EUNSUPPORTED;
}

static int picture_open_debug(void *user, const uint8_t *id, size_t size,
			      struct plimp_file *file)
{
	struct picture *picture = user;

	for (size_t i = 0; i < picture->file_count; i++)
		if (!picture->files[i].inode && size == 20 &&
		    !memcmp(picture->files[i].id, id, 20))
			return open_one(&picture->files[i], file);
	return PLIM_EUNSUPPORTED;
}

static void picture_close_file(void *user, struct plimp_file *file)
{
	(void)user;
	free(file->system);
	memset(file, 0, sizeof(*file));
}

void picture_open(struct picture *picture, int machine)
{
	memset(picture, 0, sizeof(*picture));
	picture->image = (struct plimp_image){
	    .reader = {.page_bytes = PICTURE_PAGE,
		       .has_residency = 1,
		       .pages = picture_pages,
		       .read = picture_read,
		       .user = picture},
	    .space = &picture->space,
	    .machine = machine,
	    .open_file = picture_open_file,
	    .open_debug = picture_open_debug,
	    .close_file = picture_close_file,
	    .user = picture,
	};
}

void picture_close(struct picture *picture)
{
	for (size_t i = 0; i < picture->part_count; i++) {
		free(picture->parts[i].bytes);
		free(picture->parts[i].pages);
	}
	for (size_t i = 0; i < picture->file_count; i++)
		free(picture->files[i].bytes);
	free(picture->space.items);
	free(picture->space.texts.bytes);
	memset(picture, 0, sizeof(*picture));
}

static void *grown(void *memory, size_t size)
{
	void *to = realloc(memory, size);

	if (!to)
		abort();
	return to;
}

static void add_mapping(struct picture *picture, size_t index,
			struct plimp_mapping mapping, const char *name)
{
	struct plimp_space *space = &picture->space;
	struct plimp_text_list *texts = &space->texts;
	size_t size = strlen(name);

	if (index > space->count ||
	    (index && space->items[index - 1].end > mapping.start) ||
	    (index < space->count && space->items[index].start < mapping.end))
		abort();
	mapping.name_start = texts->size;
	mapping.name_size = size;
	texts->bytes = grown(texts->bytes, texts->size + size + 1);
	memcpy(texts->bytes + texts->size, name, size + 1);
	texts->size = texts->capacity = texts->size + size + 1;
	space->items =
	    grown(space->items, (space->count + 1) * sizeof(*space->items));
	memmove(space->items + index + 1, space->items + index,
		(space->count - index) * sizeof(*space->items));
	space->items[index] = mapping;
	space->capacity = ++space->count;
}

uint8_t *picture_map(struct picture *picture, uint64_t start, uint64_t size,
		     uint32_t protection, uint64_t inode, uint64_t offset,
		     const char *name)
{
	return picture_insert(picture, picture->space.count, start, size,
			      protection, inode, offset, name);
}

uint8_t *picture_insert(struct picture *picture, size_t index, uint64_t start,
			uint64_t size, uint32_t protection, uint64_t inode,
			uint64_t offset, const char *name)
{
	struct picture_part *part = &picture->parts[picture->part_count];
	struct plimp_mapping mapping = {
	    .start = start,
	    .end = start + size,
	    .offset = offset,
	    .device = inode ? 1 : 0,
	    .inode = inode,
	    .protection = protection,
	};

	if (picture->part_count++ == PICTURE_MOST || start % PICTURE_PAGE ||
	    size % PICTURE_PAGE)
		abort();
	*part = (struct picture_part){.start = start, .size = size};
	part->bytes = calloc(1, size);
	part->pages = calloc(1, size / PICTURE_PAGE);
	if (!part->bytes || !part->pages)
		abort();
	memset(part->pages,
	       PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_EXCLUSIVE,
	       size / PICTURE_PAGE);
	add_mapping(picture, index, mapping, name ? name : "");
	return part->bytes;
}

void picture_kind(struct picture *picture, uint64_t start, uint64_t size,
		  uint8_t kind)
{
	for (uint64_t at = start; at < start + size; at += PICTURE_PAGE) {
		struct picture_part *part = part_of(picture, at);

		if (!part)
			abort();
		part->pages[(at - part->start) / PICTURE_PAGE] = kind;
	}
}

uint8_t *picture_at(struct picture *picture, uint64_t address, size_t size)
{
	struct picture_part *part = part_of(picture, address);

	if (!part || size > part->size - (address - part->start))
		abort();
	return part->bytes + (address - part->start);
}

static void put(struct picture *picture, uint64_t address, uint64_t value,
		size_t size)
{
	uint8_t *to = picture_at(picture, address, size);

	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

void picture_put(struct picture *picture, uint64_t address, uint64_t value)
{
	put(picture, address, value, 8);
}

void picture_put32(struct picture *picture, uint64_t address, uint32_t value)
{
	put(picture, address, value, 4);
}

void picture_put16(struct picture *picture, uint64_t address, uint16_t value)
{
	put(picture, address, value, 2);
}

uint64_t picture_get(struct picture *picture, uint64_t address)
{
	return plimp_word64(picture_at(picture, address, 8));
}

void picture_add_file(struct picture *picture, uint64_t inode,
		      const uint8_t *id, const uint8_t *bytes, size_t size)
{
	struct picture_file *file = &picture->files[picture->file_count];

	if (picture->file_count++ == PICTURE_FILES)
		abort();
	*file = (struct picture_file){.inode = inode, .size = size};
	if (id)
		memcpy(file->id, id, sizeof(file->id));
	file->bytes = malloc(size ? size : 1);
	if (!file->bytes)
		abort();
	memcpy(file->bytes, bytes, size);
}
