/*
 * fuzz_glibc_locate.c - a made-up process of any bytes: what is found is
 * consistent, what is not has a reason, no page is read that is not readable,
 * and the work is bounded.
 *
 * The input is a list of mappings, ascending: start and count of pages (8 and
 * 2 bytes), protection, kind, size of the name (1 byte each), size of the bytes
 * (2), the name, the bytes; the rest of the mapping is 0. Bits of the kind: 1
 * has an inode, 2 has a file (its bytes), 4 swapped, 8 the file offset is not
 * 0. The first two bytes of all are the machine.
 */
#include "memory/glibc.h"
#include "memory/image.h"
#include "promise.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, MOST = 24, HEAD = 15 };

struct part {
	const uint8_t *bytes;
	size_t size;
	uint8_t kind;
};

struct scene {
	struct plimp_mapping mappings[MOST];
	struct part parts[MOST];
	size_t count;
	char names[MOST * 256];
	uint64_t reads;
	uint64_t asked;
};

static struct scene *scene_of(void *user)
{
	return user;
}

static size_t index_of(const struct scene *scene, uint64_t address)
{
	for (size_t i = 0; i < scene->count; i++)
		if (address >= scene->mappings[i].start &&
		    address < scene->mappings[i].end)
			return i;
	return MOST;
}

static int scene_pages(void *user, uint64_t address, size_t count,
		       uint8_t *pages)
{
	struct scene *scene = scene_of(user);

	PROMISE(address % PAGE == 0);
	scene->asked += count;
	for (size_t i = 0; i < count; i++) {
		size_t at = index_of(scene, address + i * PAGE);

		pages[i] = at == MOST ? 0
			   : scene->parts[at].kind & 4
			       ? PLIMP_PAGE_SWAPPED
			       : PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT;
	}
	return PLIM_OK;
}

static int scene_read(void *user, uint64_t address, void *buffer, size_t size,
		      size_t *copied)
{
	struct scene *scene = scene_of(user);
	uint8_t *to = buffer;

	scene->reads++;
	for (size_t i = 0; i < size; i++) {
		size_t at = index_of(scene, address + i);

		PROMISE(at < MOST && !(scene->parts[at].kind & 4));
		uint64_t place = address + i - scene->mappings[at].start;
		to[i] = place < scene->parts[at].size
			    ? scene->parts[at].bytes[place]
			    : 0;
	}
	*copied = size;
	return PLIM_OK;
}

static int file_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	const struct part *part = user;

	for (size_t i = 0; i < count; i++)
		pages[i] =
		    address + i * PAGE < part->size ? PLIMP_PAGE_READABLE : 0;
	return PLIM_OK;
}

static int file_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	const struct part *part = user;

	PROMISE(address < part->size);
	if (size > part->size - address)
		size = part->size - (size_t)address;
	memcpy(buffer, part->bytes + address, size);
	*copied = size;
	return PLIM_OK;
}

static int open_file(void *user, const struct plimp_mapping *mapping,
		     struct plimp_file *file)
{
	struct scene *scene = scene_of(user);
	struct part *part = &scene->parts[mapping - scene->mappings];

	if (!(part->kind & 2))
		return PLIM_EUNSUPPORTED;
	memset(file, 0, sizeof(*file));
	file->reader = (struct plimp_reader){.page_bytes = PAGE,
					     .pages = file_pages,
					     .read = file_read,
					     .user = part};
	file->size = part->size;
	return PLIM_OK;
}

static void close_file(void *user, struct plimp_file *file)
{
	(void)user;
	memset(file, 0, sizeof(*file));
}

static uint64_t number(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	for (size_t i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

/* One mapping; how many bytes of the input it took, 0 at the end. */
static size_t take(struct scene *scene, const uint8_t *data, size_t size)
{
	size_t at = scene->count;
	uint64_t last = at ? scene->mappings[at - 1].end : PAGE;

	if (at == MOST || size < HEAD)
		return 0;
	uint64_t start = number(data, 8) & (((uint64_t)1 << 47) - PAGE);
	uint64_t pages = number(data + 8, 2) + 1;
	size_t name = data[12], bytes = (size_t)number(data + 13, 2);

	if (start < last)
		start = last;
	if (name > size - HEAD)
		name = size - HEAD;
	if (bytes > size - HEAD - name)
		bytes = size - HEAD - name;
	scene->parts[at] = (struct part){data + HEAD + name, bytes, data[11]};
	scene->mappings[at] = (struct plimp_mapping){
	    .start = start,
	    .end = start + pages * PAGE,
	    .offset = data[11] & 8 ? 4 * PAGE : 0,
	    .inode = data[11] & 1,
	    .device = 1,
	    .protection = data[10] & 15,
	    .name_start = at * 256,
	    .name_size = name,
	};
	memcpy(scene->names + at * 256, data + HEAD, name);
	scene->count++;
	return HEAD + name + bytes;
}

static unsigned ways(unsigned bits)
{
	return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3 & 1);
}

static void check_place(const struct scene *scene,
			const struct plimp_glibc_place *place)
{
	PROMISE(place->reason >= 0 && place->reason <= PLIMP_GLIBC_RING_BROKEN);
	if (place->reason != PLIMP_GLIBC_FOUND) {
		PROMISE(!place->arenas && !place->arena_count);
		return;
	}
	PROMISE(place->layout && place->mp && place->arena_count);
	PROMISE(place->arenas[0] == place->main_arena);
	PROMISE(place->ways & PLIMP_GLIBC_BY_SCAN);
	PROMISE(!(place->ways & ~place->applied));
	PROMISE(ways(place->applied) < 2 || ways(place->ways) >= 2);
	PROMISE(index_of(scene, place->main_arena) < MOST);
	PROMISE(place->heap_bytes >= 65536 &&
		!(place->heap_bytes & (place->heap_bytes - 1)));
	for (size_t i = 1; i < place->arena_count; i++)
		PROMISE(place->arenas[i] % place->heap_bytes ==
			place->layout->heap_info_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scene scene;
	struct plimp_space space = {.items = scene.mappings};
	struct plimp_image image = {
	    .reader = {.page_bytes = PAGE,
		       .has_residency = 1,
		       .pages = scene_pages,
		       .read = scene_read,
		       .user = &scene},
	    .space = &space,
	    .open_file = open_file,
	    .close_file = close_file,
	    .user = &scene,
	};
	struct plimp_glibc_place place;
	size_t at = 2, part;

	if (size < 2)
		return 0;
	memset(&scene, 0, sizeof(scene));
	image.machine = (int)number(data, 2);
	while ((part = take(&scene, data + at, size - at)) > 0)
		at += part;
	space.count = scene.count;
	space.texts.bytes = scene.names;
	space.texts.size = space.texts.capacity = sizeof(scene.names);
	PROMISE(plimp_glibc_locate(&image, &place, NULL) == PLIM_OK);
	check_place(&scene, &place);
	PROMISE(scene.reads < 2000000 && scene.asked < 20000000);
	plimp_glibc_place_release(NULL, &place);
	return 0;
}
