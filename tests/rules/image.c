/*
 * image.c - files for the tests of rules (image.h).
 */
#include "image.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

void image_put(struct image_bytes *bytes, uint64_t value, size_t size)
{
	assert(bytes->size + size <= sizeof(bytes->data));
	for (size_t i = 0; i < size; i++)
		bytes->data[bytes->size++] = (uint8_t)(value >> 8 * i);
}

void image_put_all(struct image_bytes *bytes, const void *data, size_t size)
{
	assert(bytes->size + size <= sizeof(bytes->data));
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

void image_uleb(struct image_bytes *bytes, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		image_put(bytes, (value & 0x7f) | 0x80, 1);
	image_put(bytes, value, 1);
}

void image_sleb(struct image_bytes *bytes, int64_t value)
{
	for (; value < -64 || value > 63;
	     value = (int64_t)((uint64_t)value >> 7 |
			       (value < 0 ? UINT64_C(0xfe) << 56 : 0)))
		image_put(bytes, ((uint64_t)value & 0x7f) | 0x80, 1);
	image_put(bytes, (uint64_t)value & 0x7f, 1);
}

static int image_pages(void *user, uint64_t address, size_t count,
		       uint8_t *pages)
{
	const struct image *image = user;

	for (size_t i = 0; i < count; i++)
		pages[i] = address + i * PAGE - image->base < image->size
			       ? PLIMP_PAGE_READABLE
			       : 0;
	return PLIM_OK;
}

static int image_read(void *user, uint64_t address, void *buffer, size_t size,
		      size_t *copied)
{
	const struct image *image = user;
	uint64_t at = address - image->base;

	if (at > image->size)
		at = image->size;
	if (size > image->size - at)
		size = (size_t)(image->size - at);
	memcpy(buffer, image->bytes + at, size);
	*copied = size;
	return PLIM_OK;
}

void image_over(struct image *image)
{
	image->reader = (struct plimp_reader){.page_bytes = PAGE,
					      .pages = image_pages,
					      .read = image_read,
					      .user = image};
}

int image_open(struct image *image, const char *path)
{
	struct stat stat;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	memset(image, 0, sizeof(*image));
	if (file < 0)
		return -1;
	if (!fstat(file, &stat) && stat.st_size > 0) {
		image->mapped = mmap(NULL, (size_t)stat.st_size, PROT_READ,
				     MAP_PRIVATE, file, 0);
		image->size = (size_t)stat.st_size;
	}
	close(file);
	if (!image->mapped || image->mapped == MAP_FAILED)
		return -1;
	image->bytes = image->mapped;
	image_over(image);
	return plimp_elf_open(&image->elf, &image->reader, 0, image->size);
}

void image_close(struct image *image)
{
	if (image->mapped)
		munmap(image->mapped, image->size);
	free(image->made);
	memset(image, 0, sizeof(*image));
}

/* Header, one segment of code that is not in the file, names, sections. */
static void image_section(struct image_bytes *table, uint32_t name,
			  uint32_t type, uint64_t flags, uint64_t address,
			  uint64_t offset, uint64_t size)
{
	image_put(table, name, 4);
	image_put(table, type, 4);
	image_put(table, flags, 8);
	image_put(table, address, 8);
	image_put(table, offset, 8);
	image_put(table, size, 8);
	image_put(table, 0, 8);
	image_put(table, 1, 8);
	image_put(table, 0, 8);
}

void image_make(struct image *image, const struct image_parts *parts)
{
	static const char names[] = "\0.shstrtab\0.eh_frame\0.debug_frame\0";
	static const char other[] = "\0.shstrtab\0.eh_frame\0.zdebug_frame\0";
	struct image_bytes *file = calloc(1, sizeof(*file));
	struct image_bytes *table = calloc(1, sizeof(*table));
	size_t sizes[2] = {parts->eh_frame ? parts->eh_frame->size : 0,
			   parts->debug_frame ? parts->debug_frame->size : 0};
	size_t text = 64 + 56;
	size_t eh_frame = text + sizeof(other);
	size_t debug = eh_frame + sizes[0];
	size_t sections = debug + sizes[1];

	assert(file && table);
	image_put_all(file, "\177ELF\2\1\1", 8);
	image_put(file, 0, 8);
	image_put(file, 3, 2);
	image_put(file, (uint64_t)parts->machine, 2);
	image_put(file, 1, 4);
	image_put(file, IMAGE_ENTRY, 8);
	image_put(file, 64, 8);
	image_put(file, sections, 8);
	image_put(file, 0, 4);
	image_put(file, 64 | 56 << 16, 4);
	image_put(file, 1 | 64 << 16, 4);
	image_put(file, 4 | 1 << 16, 4);
	image_put(file, 1 | UINT64_C(5) << 32, 8);
	image_put(file, 0, 8);
	image_put(file, IMAGE_CODE, 8);
	image_put(file, IMAGE_CODE, 8);
	image_put(file, 0, 8);
	image_put(file, IMAGE_CODE_SIZE, 8);
	image_put(file, PAGE, 8);
	image_put_all(file, parts->debug_name ? other : names, sizeof(names));
	file->size = eh_frame;
	if (parts->eh_frame)
		image_put_all(file, parts->eh_frame->data, sizes[0]);
	if (parts->debug_frame)
		image_put_all(file, parts->debug_frame->data, sizes[1]);
	image_section(table, 0, 0, 0, 0, 0, 0);
	image_section(table, 1, 3, 0, 0, text, sizeof(other));
	image_section(table, 11, parts->eh_frame ? 1 : 8, 2, IMAGE_EH_FRAME,
		      eh_frame, sizes[0]);
	image_section(table, 21, parts->debug_frame ? 1 : 8, parts->debug_flags,
		      0, debug, sizes[1]);
	image_put_all(file, table->data, table->size);
	free(table);
	memset(image, 0, sizeof(*image));
	image->made = malloc(file->size);
	assert(image->made);
	memcpy(image->made, file->data, file->size);
	image->bytes = image->made;
	image->size = file->size;
	free(file);
	image_over(image);
	int failed =
	    plimp_elf_open(&image->elf, &image->reader, 0, image->size);

	assert(!failed);
	(void)failed;
}

/* Fills the length in, after padding to 8 bytes by nops. */
static void image_close_entry(struct image_bytes *section, size_t at)
{
	while (section->size % 8)
		image_put(section, 0, 1);
	uint32_t length = (uint32_t)(section->size - at - 4);

	memcpy(section->data + at, &length, 4);
}

size_t image_cie(struct image_bytes *section, const char *augmentation,
		 const struct image_bytes *data, int data_align, int column,
		 const struct image_bytes *program)
{
	size_t at = section->size;

	image_put(section, 0, 8);
	image_put(section, 1, 1);
	image_put_all(section, augmentation, strlen(augmentation) + 1);
	image_uleb(section, 1);
	image_sleb(section, data_align);
	image_put(section, (uint64_t)column, 1);
	image_put_all(section, data->data, data->size);
	image_put_all(section, program->data, program->size);
	image_close_entry(section, at);
	return at;
}

size_t image_cie_x86(struct image_bytes *section, const char *augmentation)
{
	struct image_bytes *data = calloc(2, sizeof(*data));
	size_t at;

	assert(data);
	image_put(&data[0], 1, 1);
	image_put(&data[0], 0x1b, 1);
	image_put_all(&data[1], "\x0c\x07\x08\x90\x01", 5);
	at = image_cie(section, augmentation, &data[0], -8, 16, &data[1]);
	free(data);
	return at;
}

size_t image_fde(struct image_bytes *section, size_t cie, uint64_t start,
		 uint64_t size, const struct image_bytes *program)
{
	size_t at = section->size;

	image_put(section, 0, 4);
	image_put(section, section->size - cie, 4);
	image_put(section, start - (IMAGE_EH_FRAME + section->size), 4);
	image_put(section, size, 4);
	image_put(section, 0, 1);
	image_put_all(section, program->data, program->size);
	image_close_entry(section, at);
	return at;
}
