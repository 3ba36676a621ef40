/*
 * fuzz_glibc_walk.c - a heap of glibc that was laid out rightly, and then
 * patched anywhere: the walk ends in bounded work and memory, reads no page
 * that is not readable, and what it tells adds up.
 *
 * The input is a script. Two bytes: the layout, and bits of the process
 * (enum scene_bit). Then steps, each a byte: the low three bits are what to do
 * (enum step), the others mostly which arena. Patches come as the script has
 * them, before or behind the chunks; those of STEP_LATER are made while the
 * walk goes on. So a few bytes reach what any bytes would hardly reach.
 */
#include "picture_glibc.h"

#include "memory/heaps.h"
#include "promise.h"

#include <stdlib.h>
#include <string.h>

enum scene_bit {
	SCENE_LOCATE = 1,  /* the place is looked for, not told */
	SCENE_THREAD = 2,  /* an arena of a thread */
	SCENE_HEAP = 4,	   /* with a second heap */
	SCENE_SEGMENT = 8, /* the main arena went on outside of brk */
	SCENE_BLIND = 16,  /* residency is not known */
	SCENE_MAPPED = 32, /* mmapped blocks */
	SCENE_CACHE = 64,  /* a cache */
	SCENE_ROOM = 128   /* memory behind the heaps, of nobody */
};

enum step {
	STEP_USED = 0,
	STEP_FREE = 1,
	STEP_CACHED = 2,
	STEP_FAST = 3,
	STEP_PUT = 4,  /* 8 bytes at a multiple of 8 */
	STEP_FLIP = 5, /* a byte */
	STEP_PAGE = 6, /* what a page is */
	STEP_LATER = 7 /* a byte, after so many reads */
};

enum { LATER = 16, ROOM = 0x8000, MOST_MEMORY = 64 << 20 };

#define SCENE_ROOM_AT (PICTURE_LIBC + 0x100000u)

struct scene {
	struct picture_glibc glibc;
	plim_allocator allocator;
	size_t held;
	uint64_t arenas[2];
	unsigned arena_count;
	uint64_t cache;
	int (*read)(void *, uint64_t, void *, size_t, size_t *);
	struct {
		uint8_t *byte;
		uint8_t value;
		uint64_t when;
	} later[LATER];
	unsigned later_count;
	uint64_t reads;
	uint64_t asked;
	const uint8_t *data;
	size_t size;
};

static void *scene_memory(void *memory, size_t old, size_t size, void *user)
{
	struct scene *scene = user;
	void *to = NULL;

	scene->held += size - old;
	PROMISE(scene->held < MOST_MEMORY);
	if (size == 0)
		free(memory);
	else
		to = realloc(memory, size);
	return to;
}

static uint64_t take(struct scene *scene, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes && scene->size > 0; i++) {
		value |= (uint64_t)*scene->data++ << 8 * i;
		scene->size--;
	}
	return value;
}

static int scene_read(void *user, uint64_t address, void *buffer, size_t size,
		      size_t *copied)
{
	struct picture *picture = user;
	struct scene *scene = (struct scene *)(void *)picture;

	scene->reads++;
	for (unsigned i = 0; i < scene->later_count; i++)
		if (scene->later[i].when == scene->reads)
			*scene->later[i].byte ^= scene->later[i].value;
	return scene->read(user, address, buffer, size, copied);
}

/* A second heap of a thread's arena, of fenceposts at its end; the arena's top
 * moves there. */
static void add_heap(struct scene *scene, uint64_t arena)
{
	const struct plimp_glibc_layout *layout = scene->glibc.layout;
	struct picture *picture = &scene->glibc.picture;
	uint64_t first = arena - layout->heap_info_size;
	uint64_t heap = first + layout->heap_bytes;
	uint64_t top = picture_get(picture, arena + layout->top);
	uint64_t size = picture_get(picture, top + 8) & ~(uint64_t)7;
	uint64_t chunk = heap + ((layout->heap_info_size + 15u) & ~15u);

	picture_put(picture, top + 8, (size - 32) | 5);
	picture_put(picture, top + size - 24, 17);
	picture_put(picture, top + size - 8, 1);
	picture_put(picture, heap, arena);
	picture_put(picture, heap + layout->heap_prev, first);
	picture_put(picture, heap + layout->heap_size, 0x21000);
	picture_put(picture, arena + layout->top, chunk);
	picture_put(picture, chunk + 8, (heap + 0x21000 - chunk) | 1);
	picture_put(picture, arena + layout->system_mem, 0x42000);
}

/* A segment of two chunks and fenceposts that is not by brk. */
static void add_segment(struct scene *scene)
{
	const struct plimp_glibc_layout *layout = scene->glibc.layout;
	struct picture *picture = &scene->glibc.picture;
	uint64_t at = SCENE_ROOM_AT;

	picture_put32(picture, PICTURE_ARENA + layout->flags, 2);
	picture_put(picture, at + 8, 0x801);
	picture_put(picture, at + 0x808, 0x7e1);
	picture_put(picture, at + 0xfe8, 17);
	picture_put(picture, at + 0xff8, 17);
	picture_put(picture, PICTURE_ARENA + layout->system_mem, 0x22000);
}

static void add_mapped(struct scene *scene)
{
	const struct plimp_glibc_layout *layout = scene->glibc.layout;
	struct picture *picture = &scene->glibc.picture;
	uint64_t less = layout->is_mmapped_like_normal ? 16 : 0;

	picture_put(picture, SCENE_ROOM_AT + 0x2008, (0x3000 - less) | 2);
	picture_put(picture, SCENE_ROOM_AT + 0x6008, (0x1000 - less) | 2);
	picture_mp(&scene->glibc, layout->mp_mmapped_mem, 0x4000);
	picture_put32(picture, PICTURE_MP + layout->mp_n_mmaps, 2);
}

static void scene_open(struct scene *scene, unsigned layout, unsigned bits)
{
	size_t count;
	const struct plimp_glibc_layout *rows = plimp_glibc_layouts(&count);
	struct picture *picture = &scene->glibc.picture;

	picture_glibc_open(&scene->glibc, &rows[layout % count], NULL, 0,
			   bits & SCENE_THREAD ? 2 : 0);
	if (bits & (SCENE_SEGMENT | SCENE_MAPPED | SCENE_ROOM))
		picture_map(picture, SCENE_ROOM_AT, ROOM,
			    PLIMP_MAY_READ | PLIMP_MAY_WRITE, 0, 0, "");
	scene->arenas[0] = PICTURE_ARENA;
	scene->arena_count = 1;
	if (bits & SCENE_CACHE)
		scene->cache = picture_cache(&scene->glibc, PICTURE_ARENA);
	if (bits & SCENE_THREAD)
		scene->arenas[scene->arena_count++] =
		    picture_thread(&scene->glibc);
	if ((bits & SCENE_THREAD) && (bits & SCENE_HEAP))
		add_heap(scene, scene->arenas[1]);
	if (bits & SCENE_SEGMENT)
		add_segment(scene);
	if (bits & SCENE_MAPPED)
		add_mapped(scene);
	picture->image.reader.has_residency = !(bits & SCENE_BLIND);
}

/* A place in one of the parts. */
static uint64_t scene_place(struct scene *scene, uint64_t granule)
{
	const struct picture *picture = &scene->glibc.picture;
	uint64_t part = take(scene, 1) % picture->part_count;
	uint64_t at = take(scene, 3);

	at %= picture->parts[part].size;
	return picture->parts[part].start + at / granule * granule;
}

static uint8_t scene_kind(uint64_t byte)
{
	static const uint8_t kinds[] = {
	    PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_EXCLUSIVE,
	    PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_SHARED,
	    PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_HUGE,
	    PLIMP_PAGE_READABLE | PLIMP_PAGE_ZERO,
	    PLIMP_PAGE_READABLE,
	    PLIMP_PAGE_SWAPPED,
	    0,
	};

	return kinds[byte % sizeof(kinds)];
}

static void step_chunk(struct scene *scene, unsigned what, uint64_t arena)
{
	const struct plimp_glibc_layout *layout = scene->glibc.layout;
	struct picture *picture = &scene->glibc.picture;
	uint64_t size = 32 + 16 * take(scene, what == STEP_FREE ? 2 : 1);
	uint64_t chunk = 0, head;

	/* A patch may have moved the top to where there is nothing. */
	head = picture_get(picture, arena + layout->top);
	for (size_t i = 0; i < picture->part_count; i++) {
		const struct picture_part *part = &picture->parts[i];

		if (head >= part->start && part->size > size + 64 &&
		    head - part->start < part->size - size - 64)
			chunk = picture_chunk(&scene->glibc, arena, size);
	}
	if (!chunk)
		return;
	if (what == STEP_FREE) {
		picture_put(picture, chunk + size, size);
		head = picture_get(picture, chunk + size + 8);
		picture_put(picture, chunk + size + 8, head & ~(uint64_t)1);
	} else if (what == STEP_CACHED && scene->cache && size < 0x400) {
		picture_cache_put(&scene->glibc, scene->cache, chunk);
	} else if (what == STEP_FAST && size < 0x80 &&
		   layout->fastbins != PLIMP_GLIBC_NONE) {
		uint64_t place = arena + layout->fastbins + (size - 32) / 2;
		uint64_t next = picture_get(picture, place);

		if (layout->is_mangled)
			next ^= (chunk + 16) >> 12;
		picture_put(picture, chunk + 16, next);
		picture_put(picture, place, chunk);
	}
}

static void step(struct scene *scene)
{
	struct picture *picture = &scene->glibc.picture;
	unsigned byte = (unsigned)take(scene, 1);
	uint64_t arena = scene->arenas[(byte >> 3) % scene->arena_count];
	uint64_t place;

	switch (byte & 7) {
	case STEP_PUT:
		place = scene_place(scene, 8);
		picture_put(picture, place, take(scene, 8));
		break;
	case STEP_FLIP:
		place = scene_place(scene, 1);
		*picture_at(picture, place, 1) ^= (uint8_t)take(scene, 1);
		break;
	case STEP_PAGE:
		place = scene_place(scene, PICTURE_PAGE);
		picture_kind(picture, place, PICTURE_PAGE,
			     scene_kind(take(scene, 1)));
		break;
	case STEP_LATER:
		place = scene_place(scene, 1);
		if (scene->later_count == LATER)
			break;
		scene->later[scene->later_count].byte =
		    picture_at(picture, place, 1);
		scene->later[scene->later_count].when = 1 + take(scene, 1);
		scene->later[scene->later_count++].value =
		    (uint8_t)take(scene, 1);
		break;
	default:
		step_chunk(scene, byte & 7, arena);
	}
}

/* The value, or 0 where there is none. */
static uint64_t told(const plim_heap *heap, int figure)
{
	plim_count count = heap->figures[figure];

	return count.state == PLIM_STATE_KNOWN ? count.value : 0;
}

static void check_walked(const struct scene *scene, const plim_heap *heap,
			 uint64_t mapped)
{
	uint64_t walked = told(heap, PLIM_HEAP_WALKED);
	uint64_t unknown = told(heap, PLIM_HEAP_UNKNOWN);
	uint64_t free = told(heap, PLIM_HEAP_FREE) + told(heap, PLIM_HEAP_TOP) +
			told(heap, PLIM_HEAP_FASTBIN);

	PROMISE(heap->why[0] == '\0' && heap->arena_count > 0);
	PROMISE(walked <= mapped && unknown <= mapped - walked);
	PROMISE(free <= walked);
	PROMISE(told(heap, PLIM_HEAP_IN_USE) <= walked - free);
	PROMISE(told(heap, PLIM_HEAP_TCACHE) <= walked + unknown);
	PROMISE(told(heap, PLIM_HEAP_TRIM_RETURNS) <= walked);
	PROMISE(told(heap, PLIM_HEAP_FREE_RESIDENT) <= free);
	PROMISE(told(heap, PLIM_HEAP_RESIDENT) <= mapped);
	PROMISE(told(heap, PLIM_HEAP_RELEASED) <= mapped);
	if (scene->later_count == 0) {
		PROMISE(walked + unknown == told(heap, PLIM_HEAP_SYSTEM));
		PROMISE(told(heap, PLIM_HEAP_UNCERTAIN) == 0);
	}
	if (unknown > 0)
		PROMISE(heap->figures[PLIM_HEAP_IN_USE].bound ==
			PLIM_BOUND_AT_LEAST);
	for (size_t i = 0; i < heap->hostage_count; i++)
		PROMISE(heap->hostages[i].kept_bytes > 0 &&
			heap->hostages[i].arena < heap->arena_count);
}

static void check(const struct scene *scene, const plim_heap *heap)
{
	const struct picture *picture = &scene->glibc.picture;
	uint64_t mapped = 0;

	PROMISE(picture->forbidden == 0);
	PROMISE(scene->reads < 4000000);
	PROMISE(heap->hostage_count <= PLIMP_HOSTAGES);
	PROMISE(heap->depth == PLIM_DEPTH_WALKED ||
		heap->depth == PLIM_DEPTH_REFUSED);
	for (size_t i = 0; i < picture->part_count; i++)
		mapped += picture->parts[i].size;
	if (heap->depth == PLIM_DEPTH_WALKED) {
		check_walked(scene, heap, mapped);
		return;
	}
	PROMISE(heap->why[0] != '\0' && heap->arena_count == 0 &&
		heap->hostage_count == 0);
	PROMISE(heap->missing.state != PLIM_STATE_KNOWN);
	for (int i = 1; i < PLIM_HEAP_LIMIT; i++)
		PROMISE(heap->figures[i].state != PLIM_STATE_KNOWN);
}

static void walk(struct scene *scene, unsigned bits)
{
	struct plimp_image *image = &scene->glibc.picture.image;
	struct plimp_glibc_place place = {
	    .layout = scene->glibc.layout,
	    .main_arena = PICTURE_ARENA,
	    .mp = PICTURE_MP,
	    .arenas = scene->arenas,
	    .arena_count = scene->arena_count,
	    .sbrk_base = PICTURE_HEAP,
	    .heap_bytes = scene->glibc.layout->heap_bytes,
	    .tcache_bins = 64,
	    .tcache_max_bytes = 1032,
	    .tcache_count =
		scene->glibc.layout->is_mmapped_like_normal ? 16 : 7,
	};
	struct plimp_heap_list list;
	plim_heap *heap;

	if (bits & SCENE_LOCATE)
		PROMISE(plimp_glibc_locate(image, &place, NULL) == PLIM_OK);
	image->allocator = &scene->allocator;
	scene->read = image->reader.read;
	image->reader.read = scene_read;
	scene->reads = 0;
	plimp_heap_list_init(&list, &scene->allocator, 0);
	PROMISE(plimp_heap_list_add(&list, PLIM_HEAP_OF_GLIBC, &heap) ==
		PLIM_OK);
	PROMISE(plimp_glibc_walk(image, &place, heap, NULL) == PLIM_OK);
	check(scene, heap);
	plimp_heap_list_release(&list);
	PROMISE(scene->held == 0);
	if (bits & SCENE_LOCATE)
		plimp_glibc_place_release(NULL, &place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scene scene;
	unsigned layout, bits;

	memset(&scene, 0, sizeof(scene));
	scene.data = data;
	scene.size = size;
	scene.allocator = (plim_allocator){scene_memory, &scene};
	layout = (unsigned)take(&scene, 1);
	bits = (unsigned)take(&scene, 1);
	scene_open(&scene, layout, bits);
	for (int i = 0; i < 512 && scene.size > 0; i++)
		step(&scene);
	walk(&scene, bits);
	picture_glibc_close(&scene.glibc);
	return 0;
}
