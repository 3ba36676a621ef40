/*
 * test_glibc_walk.c - heaps of glibc that this test laid out itself, for every
 * layout: what is in use, cached, in fast bins, free and at the top is known
 * to the byte. Then each thing that can be wrong with a heap: the walk says
 * nothing, or what it could not read.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "planted.h"

#include "memory/glibc.h"
#include "memory/heaps.h"

#include <stdlib.h>
#include <string.h>

#define DATA	UINT64_C(0x7f1000000000) /* libc's data: main_arena and mp_ */
#define BREAK	UINT64_C(0x555500000000)
#define HEAP	UINT64_C(0x7f2000000000) /* a thread's heap */
#define LARGE	UINT64_C(0x7f3000000000) /* mmapped blocks */
#define OTHER	UINT64_C(0x7f4000000000) /* not malloc's */
#define SEGMENT UINT64_C(0x7f5000000000) /* the main arena's, by mmap */

#define KEY UINT64_C(0x1234567890abcdef)

struct laid {
	struct planted planted;
	struct plimp_image image;
	struct plimp_glibc_place place;
	struct plimp_heap_list list;
	plim_heap *heap;
	uint64_t arenas[2];
	uint64_t chunk; /* where the next one goes */
	uint64_t in_use;
	uint64_t cached;
	uint64_t fast;
	uint64_t free;
	uint64_t top;
	int before_is_free;
};

/* A chunk behind the last one. */
static uint64_t lay(struct laid *laid, uint64_t size, int is_free)
{
	uint64_t chunk = laid->chunk;

	planted_u64(&laid->planted, chunk + 8,
		    size | (laid->before_is_free ? 0 : 1u) |
			(chunk >= HEAP && !is_free ? 4u : 0));
	laid->before_is_free = is_free;
	laid->chunk += size;
	if (is_free) {
		planted_u64(&laid->planted, laid->chunk, size);
		laid->free += size;
	}
	return chunk;
}

static uint64_t lay_used(struct laid *laid, uint64_t size)
{
	laid->in_use += size;
	return lay(laid, size, 0);
}

static uint64_t lay_link(const struct laid *laid, uint64_t place, uint64_t next)
{
	return laid->place.layout->is_mangled ? next ^ place >> 12 : next;
}

/* The top, up to `end`. */
static void lay_top(struct laid *laid, uint64_t arena, uint64_t end)
{
	uint64_t size = end - laid->chunk;

	planted_u64(&laid->planted, laid->chunk + 8, size | 1);
	planted_u64(&laid->planted, arena + laid->place.layout->top,
		    laid->chunk);
	laid->top += size;
}

static uint64_t lay_cache(struct laid *laid)
{
	const struct plimp_glibc_layout *layout = laid->place.layout;
	uint64_t size = (layout->tcache_size + 8u + 15u) & ~15u;
	uint64_t cache = lay_used(laid, size) + 16;
	unsigned bins = (unsigned)layout->tcache_small + layout->tcache_large;

	if (layout->tcache_counts == PLIMP_GLIBC_SLOTS)
		for (unsigned i = 0; i < bins; i++)
			planted_u16(&laid->planted, cache + 2 * i,
				    (uint16_t)laid->place.tcache_count);
	return cache;
}

/* Two chunks of 48 bytes in the cache's bin. */
static void lay_cached(struct laid *laid, uint64_t cache)
{
	const struct plimp_glibc_layout *layout = laid->place.layout;
	uint64_t key = layout->tcache_key == PLIMP_GLIBC_ADDRESS ? cache : KEY;
	uint64_t first = lay(laid, 48, 0) + 16;
	uint64_t second = lay(laid, 48, 0) + 16;

	planted_u64(&laid->planted, first, lay_link(laid, first, second));
	planted_u64(&laid->planted, second, lay_link(laid, second, 0));
	planted_u64(&laid->planted, first + 8, key);
	planted_u64(&laid->planted, second + 8, key);
	planted_u64(&laid->planted, cache + layout->tcache_entries + 8, first);
	if (layout->tcache_counts == PLIMP_GLIBC_BYTES)
		*planted_at(&laid->planted, cache + 1) = 2;
	else if (layout->tcache_counts == PLIMP_GLIBC_WORDS)
		planted_u16(&laid->planted, cache + 2, 2);
	else
		planted_u16(&laid->planted, cache + 2,
			    (uint16_t)(laid->place.tcache_count - 2));
	laid->cached += 96;
}

/* Two chunks of 64 bytes in the arena's fast bin. */
static void lay_fast(struct laid *laid, uint64_t arena)
{
	const struct plimp_glibc_layout *layout = laid->place.layout;
	uint64_t first;
	uint64_t second;

	if (layout->fastbins == PLIMP_GLIBC_NONE)
		return;
	first = lay(laid, 64, 0);
	second = lay(laid, 64, 0);
	planted_u64(&laid->planted, first + 16,
		    lay_link(laid, first + 16, second));
	planted_u64(&laid->planted, second + 16,
		    lay_link(laid, second + 16, 0));
	planted_u64(&laid->planted, arena + layout->fastbins + 16, first);
	laid->fast += 128;
}

static void lay_main(struct laid *laid)
{
	uint64_t cache;

	laid->chunk = BREAK;
	cache = lay_cache(laid);
	lay_cached(laid, cache);
	lay_used(laid, 0x1000);
	lay(laid, 0x5000, 1);
	lay_used(laid, 0x40);
	lay_fast(laid, DATA);
	lay_used(laid, 0x20);
	lay_top(laid, DATA, BREAK + 64 * PLANTED_PAGE);
	planted_u64(&laid->planted, DATA + laid->place.layout->system_mem,
		    64 * PLANTED_PAGE);
}

static void lay_thread(struct laid *laid)
{
	const struct plimp_glibc_layout *layout = laid->place.layout;
	uint64_t arena = HEAP + layout->heap_info_size;
	uint64_t size = 32 * PLANTED_PAGE;

	planted_u64(&laid->planted, HEAP, arena);
	planted_u64(&laid->planted, HEAP + layout->heap_size, size);
	planted_u64(&laid->planted, arena + layout->system_mem, size);
	laid->chunk = ((arena + layout->state_size + 31u) & ~UINT64_C(15)) - 16;
	laid->in_use += laid->chunk - HEAP;
	laid->before_is_free = 0;
	lay_used(laid, 0x800);
	lay(laid, 0x3000, 1);
	lay_used(laid, 0x800);
	lay_top(laid, arena, HEAP + size);
}

static void lay_begin(struct laid *laid,
		      const struct plimp_glibc_layout *layout)
{
	uint64_t mp = DATA + 4 * PLANTED_PAGE;

	memset(laid, 0, sizeof(*laid));
	planted_begin(&laid->planted);
	planted_add(&laid->planted, BREAK, 64 * PLANTED_PAGE, "[heap]");
	planted_add(&laid->planted, DATA, 8 * PLANTED_PAGE, "");
	planted_add(&laid->planted, HEAP, 32 * PLANTED_PAGE, "");
	/* Room for a second heap of that arena. */
	planted_add(&laid->planted, HEAP + layout->heap_bytes,
		    32 * PLANTED_PAGE, "");
	planted_add(&laid->planted, LARGE, 40 * PLANTED_PAGE, "");
	laid->arenas[0] = DATA;
	laid->arenas[1] = HEAP + layout->heap_info_size;
	laid->place = (struct plimp_glibc_place){
	    .layout = layout,
	    .main_arena = DATA,
	    .mp = mp,
	    .arenas = laid->arenas,
	    .arena_count = 2,
	    .sbrk_base = BREAK,
	    .heap_bytes = layout->heap_bytes,
	    .tcache_bins = 64,
	    .tcache_count = 7,
	};
	lay_main(laid);
	lay_thread(laid);
	/* Two blocks one after another in one mapping. */
	planted_u64(
	    &laid->planted, LARGE + 8,
	    (30 * PLANTED_PAGE - (layout->is_mmapped_like_normal ? 16u : 0u)) |
		2);
	planted_u64(
	    &laid->planted, LARGE + 30 * PLANTED_PAGE + 8,
	    (10 * PLANTED_PAGE - (layout->is_mmapped_like_normal ? 16u : 0u)) |
		2);
	planted_u32(&laid->planted, mp + layout->mp_n_mmaps, 2);
	planted_u64(&laid->planted, mp + layout->mp_mmapped_mem,
		    40 * PLANTED_PAGE);
	planted_image(&laid->planted, &laid->image);
	plimp_heap_list_init(&laid->list, &laid->planted.allocator, 0);
	assert_int_equal(
	    plimp_heap_list_add(&laid->list, PLIM_HEAP_OF_GLIBC, &laid->heap),
	    PLIM_OK);
}

static void lay_end(struct laid *laid)
{
	assert_false(laid->planted.violated);
	plimp_heap_list_release(&laid->list);
	planted_end(&laid->planted);
}

static int lay_walk(struct laid *laid)
{
	plim_error error = {0};

	return plimp_glibc_walk(&laid->image, &laid->place, laid->heap, &error);
}

static uint64_t figure(const struct laid *laid, int number)
{
	plim_count count = laid->heap->figures[number];

	assert_int_equal(count.state, PLIM_STATE_KNOWN);
	return count.value;
}

static void assert_refused(struct laid *laid, int reason)
{
	assert_int_equal(lay_walk(laid), PLIM_OK);
	assert_int_equal(laid->heap->depth, PLIM_DEPTH_REFUSED);
	assert_int_equal(laid->heap->missing.method, reason);
	assert_int_equal(laid->heap->figures[PLIM_HEAP_IN_USE].state,
			 PLIM_STATE_UNREAD);
	lay_end(laid);
}

static const struct plimp_glibc_layout *layout_of(unsigned minor)
{
	const struct plimp_glibc_layout *layout =
	    plimp_glibc_layout_find(PLIMP_MACHINE_X86_64, minor);

	assert_non_null(layout);
	return layout;
}

static void every_layout_is_exact(void **state)
{
	size_t count;
	const struct plimp_glibc_layout *rows = plimp_glibc_layouts(&count);

	(void)state;
	assert_true(count > 5);
	for (size_t i = 0; i < count; i++) {
		struct laid laid;

		lay_begin(&laid, &rows[i]);
		assert_int_equal(lay_walk(&laid), PLIM_OK);
		assert_string_equal(laid.heap->why, "");
		assert_int_equal(laid.heap->depth, PLIM_DEPTH_WALKED);
		assert_int_equal(figure(&laid, PLIM_HEAP_IN_USE), laid.in_use);
		assert_int_equal(figure(&laid, PLIM_HEAP_TCACHE), laid.cached);
		assert_int_equal(figure(&laid, PLIM_HEAP_FREE), laid.free);
		assert_int_equal(figure(&laid, PLIM_HEAP_TOP), laid.top);
		if (rows[i].fastbins != PLIMP_GLIBC_NONE)
			assert_int_equal(figure(&laid, PLIM_HEAP_FASTBIN),
					 laid.fast);
		assert_int_equal(figure(&laid, PLIM_HEAP_MMAPPED),
				 40 * PLANTED_PAGE);
		assert_int_equal(figure(&laid, PLIM_HEAP_SYSTEM),
				 96 * PLANTED_PAGE);
		assert_int_equal(figure(&laid, PLIM_HEAP_WALKED),
				 96 * PLANTED_PAGE);
		assert_int_equal(figure(&laid, PLIM_HEAP_UNKNOWN), 0);
		assert_int_equal(figure(&laid, PLIM_HEAP_UNCERTAIN), 0);
		for (size_t j = 0; j < laid.heap->check_count; j++)
			assert_int_equal(laid.heap->checks[j].state,
					 PLIM_CHECK_PASSED);
		lay_end(&laid);
	}
}

/* Whole pages of the two free chunks and of the main arena's top; the top of
 * the thread's arena stays. */
static void trim_is_whole_pages(void **state)
{
	struct laid laid;

	(void)state;
	lay_begin(&laid, layout_of(36));
	/* One page of the free chunk of 5 pages was given back before, one is
	 * in swap. */
	planted_page(&laid.planted, BREAK + 3 * PLANTED_PAGE, 0);
	planted_page(&laid.planted, BREAK + 4 * PLANTED_PAGE,
		     PLIMP_PAGE_SWAPPED);
	assert_int_equal(lay_walk(&laid), PLIM_OK);
	assert_int_equal(laid.heap->depth, PLIM_DEPTH_WALKED);
	/* 0x1300 to 0x6300 in the break: pages 2 to 5, two are there; in the
	 * thread's heap 2 pages of 3; the top from 0x63e0 on: all whole pages
	 * of its 64. */
	assert_int_equal(figure(&laid, PLIM_HEAP_TRIM_RETURNS),
			 (2 + 2 + 57) * PLANTED_PAGE);
	assert_int_equal(figure(&laid, PLIM_HEAP_TRIM_SWAP), PLANTED_PAGE);
	assert_int_equal(figure(&laid, PLIM_HEAP_SWAPPED), PLANTED_PAGE);
	assert_int_equal(figure(&laid, PLIM_HEAP_RELEASED), PLANTED_PAGE);
	assert_int_equal(figure(&laid, PLIM_HEAP_FREE_RESIDENT),
			 figure(&laid, PLIM_HEAP_TRIM_RETURNS) +
			     figure(&laid, PLIM_HEAP_PINNED) +
			     figure(&laid, PLIM_HEAP_TOP_RETAINED));
	lay_end(&laid);
}

/* Of blocks that are mappings of their own, the pages that were touched. */
static void mmapped_is_resident(void **state)
{
	struct laid laid;
	uint64_t before;

	(void)state;
	lay_begin(&laid, layout_of(36));
	assert_int_equal(lay_walk(&laid), PLIM_OK);
	before = figure(&laid, PLIM_HEAP_RESIDENT);
	assert_true(before > 40 * PLANTED_PAGE);
	lay_end(&laid);
	lay_begin(&laid, layout_of(36));
	planted_page(&laid.planted, LARGE + 3 * PLANTED_PAGE, 0);
	planted_page(&laid.planted, LARGE + 35 * PLANTED_PAGE,
		     PLIMP_PAGE_SWAPPED);
	assert_int_equal(lay_walk(&laid), PLIM_OK);
	assert_int_equal(figure(&laid, PLIM_HEAP_RESIDENT),
			 before - 2 * PLANTED_PAGE);
	lay_end(&laid);
}

/* A header in a page that is swapped out: neither free nor zero. */
static void swapped_header_is_unknown(void **state)
{
	struct laid laid;

	(void)state;
	lay_begin(&laid, layout_of(36));
	planted_page(&laid.planted, laid.chunk & ~UINT64_C(4095),
		     PLIMP_PAGE_SWAPPED);
	assert_int_equal(lay_walk(&laid), PLIM_OK);
	assert_int_equal(laid.heap->depth, PLIM_DEPTH_WALKED);
	assert_true(figure(&laid, PLIM_HEAP_UNKNOWN) > 0);
	assert_int_equal(laid.heap->figures[PLIM_HEAP_IN_USE].bound,
			 PLIM_BOUND_AT_LEAST);
	assert_true(figure(&laid, PLIM_HEAP_IN_USE) <= laid.in_use);
	assert_int_equal(figure(&laid, PLIM_HEAP_WALKED) +
			     figure(&laid, PLIM_HEAP_UNKNOWN),
			 96 * PLANTED_PAGE);
	lay_end(&laid);
}

static void what_contradicts_is_refused(void **state)
{
	const struct plimp_glibc_layout *layout = layout_of(36);
	struct laid laid;

	(void)state;
	/* malloc took another page. */
	lay_begin(&laid, layout);
	planted_u64(&laid.planted, DATA + layout->system_mem,
		    65 * PLANTED_PAGE);
	assert_refused(&laid, PLIM_REASON_HEAP_CONTRADICTS);
	/* A size that cannot be. */
	lay_begin(&laid, layout);
	planted_u64(&laid.planted, BREAK + 0x290 + 96 + 8, 0x1009);
	assert_refused(&laid, PLIM_REASON_HEAP_CONTRADICTS);
	/* A size beyond the end of everything. */
	lay_begin(&laid, layout);
	planted_u64(&laid.planted, BREAK + 0x290 + 96 + 8,
		    UINT64_MAX & ~UINT64_C(14));
	assert_refused(&laid, PLIM_REASON_HEAP_CONTRADICTS);
	/* A fast bin that leads back to its beginning. */
	lay_begin(&laid, layout);
	{
		uint64_t first = 0;

		memcpy(&first,
		       planted_at(&laid.planted, DATA + layout->fastbins + 16u),
		       sizeof(first));
		planted_u64(&laid.planted, first + 64 + 16,
			    lay_link(&laid, first + 64 + 16, first));
	}
	assert_refused(&laid, PLIM_REASON_HEAP_CONTRADICTS);
	/* A heap that names itself as the one before. */
	lay_begin(&laid, layout);
	planted_u64(&laid.planted, HEAP + layout->heap_prev, HEAP);
	assert_refused(&laid, PLIM_REASON_HEAP_CONTRADICTS);
	/* Two arenas with one heap. */
	lay_begin(&laid, layout);
	laid.place.sbrk_base = HEAP;
	planted_u64(&laid.planted, DATA + layout->top,
		    HEAP + 31 * PLANTED_PAGE);
	planted_u64(&laid.planted, HEAP + 31 * PLANTED_PAGE + 8,
		    PLANTED_PAGE | 1);
	assert_refused(&laid, PLIM_REASON_HEAP_CONTRADICTS);
	/* A heap too small for the record of its arena. */
	lay_begin(&laid, layout);
	planted_u64(&laid.planted, HEAP + layout->heap_size, 0x400);
	planted_u64(&laid.planted, laid.arenas[1] + layout->system_mem, 0x400);
	assert_refused(&laid, PLIM_REASON_HEAP_CONTRADICTS);
	/* The header of a heap is swapped out. */
	lay_begin(&laid, layout);
	planted_page(&laid.planted, HEAP, PLIMP_PAGE_SWAPPED);
	assert_refused(&laid, PLIM_REASON_PAGES_MISSING);
}

static uint64_t word_at(struct laid *laid, uint64_t address)
{
	return plimp_word64(planted_at(&laid->planted, address));
}

/* A thread's arena went on in a second heap: the first one is full and ends
 * with fenceposts, which are in use as mallinfo2() has it. */
static void two_heaps_are_exact(void **state)
{
	size_t count;
	const struct plimp_glibc_layout *rows = plimp_glibc_layouts(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		uint64_t heap = HEAP + rows[i].heap_bytes;
		uint64_t arena = HEAP + rows[i].heap_info_size;
		uint64_t size = 32 * PLANTED_PAGE;
		uint64_t old;
		struct laid laid;

		lay_begin(&laid, &rows[i]);
		old = HEAP + size - laid.chunk;
		laid.top -= old;
		lay_used(&laid, old - 32);
		planted_u64(&laid.planted, laid.chunk + 8, 16 | 1);
		planted_u64(&laid.planted, laid.chunk + 24, 1);
		planted_u64(&laid.planted, heap, arena);
		planted_u64(&laid.planted, heap + rows[i].heap_prev, HEAP);
		planted_u64(&laid.planted, heap + rows[i].heap_size, size);
		planted_u64(&laid.planted, arena + rows[i].system_mem,
			    2 * size);
		laid.chunk = (heap + rows[i].heap_info_size + 15) & ~15ULL;
		laid.in_use += 32 + laid.chunk - heap;
		lay_used(&laid, 0x100);
		lay_top(&laid, arena, heap + size);
		assert_int_equal(lay_walk(&laid), PLIM_OK);
		assert_string_equal(laid.heap->why, "");
		assert_int_equal(figure(&laid, PLIM_HEAP_IN_USE), laid.in_use);
		assert_int_equal(figure(&laid, PLIM_HEAP_TOP), laid.top);
		assert_int_equal(figure(&laid, PLIM_HEAP_FREE), laid.free);
		assert_int_equal(figure(&laid, PLIM_HEAP_HEAP_COUNT), 2);
		assert_int_equal(figure(&laid, PLIM_HEAP_WALKED),
				 128 * PLANTED_PAGE);
		lay_end(&laid);
	}
}

/* A page of headers that was never read into RAM, and one that is gone: what
 * lies behind is found again, what lies there is unknown. */
static void absent_header_is_unknown(void **state)
{
	struct laid laid;
	uint64_t unknown;

	(void)state;
	lay_begin(&laid, layout_of(36));
	planted_page(&laid.planted, BREAK + 6 * PLANTED_PAGE, 0);
	assert_int_equal(lay_walk(&laid), PLIM_OK);
	assert_int_equal(laid.heap->depth, PLIM_DEPTH_WALKED);
	/* The free chunk before it has its end there; behind it is the top,
	 * whose header is there as well: nothing of the main arena is known
	 * but what is before the free chunk. */
	unknown = figure(&laid, PLIM_HEAP_UNKNOWN);
	assert_true(unknown >= 0x5000 + 0x40 + 2 * 64 + 0x20);
	assert_int_equal(figure(&laid, PLIM_HEAP_FREE), 0x3000);
	assert_int_equal(laid.heap->figures[PLIM_HEAP_FREE].bound,
			 PLIM_BOUND_AT_LEAST);
	assert_int_equal(laid.heap->figures[PLIM_HEAP_IN_USE].bound,
			 PLIM_BOUND_AT_LEAST);
	assert_int_equal(figure(&laid, PLIM_HEAP_WALKED) + unknown,
			 96 * PLANTED_PAGE);
	lay_end(&laid);
}

/* The target of a reader that changes a word at the third read. */
struct racing {
	struct planted *planted;
	int (*read)(void *user, uint64_t address, void *buffer, size_t size,
		    size_t *copied);
	uint64_t address;
	int reads;
};

static int racing_pages(void *user, uint64_t address, size_t count,
			uint8_t *pages)
{
	struct racing *racing = user;
	struct plimp_image image;

	planted_image(racing->planted, &image);
	return image.reader.pages(image.reader.user, address, count, pages);
}

static int racing_read(void *user, uint64_t address, void *buffer, size_t size,
		       size_t *copied)
{
	struct racing *racing = user;

	if (++racing->reads == 3)
		*planted_at(racing->planted, racing->address) ^= 1;
	return racing->read(racing->planted, address, buffer, size, copied);
}

/* The header of the block of 0x1000 makes no sense. If malloc went on while
 * the walk did, the walk goes on with the chunk behind it and says how much it
 * lost; if not, it has misunderstood the heap. */
static void bad_header_is_lost_in_a_race(void **state)
{
	const struct plimp_glibc_layout *layout = layout_of(36);
	struct plimp_reader reader;
	struct racing racing;
	struct laid laid;

	(void)state;
	lay_begin(&laid, layout);
	planted_u64(&laid.planted, BREAK + 0x2f0 + 8, 0x1009);
	reader = laid.image.reader;
	racing = (struct racing){
	    .planted = reader.user,
	    .read = reader.read,
	    .address = DATA + layout->attached_threads,
	};
	assert_ptr_equal(reader.user, &laid.planted);
	laid.image.reader.user = &racing;
	laid.image.reader.read = racing_read;
	laid.image.reader.pages = racing_pages;
	assert_int_equal(lay_walk(&laid), PLIM_OK);
	assert_true(racing.reads > 3);
	assert_string_equal(laid.heap->why, "");
	assert_int_equal(laid.heap->depth, PLIM_DEPTH_WALKED);
	assert_int_equal(figure(&laid, PLIM_HEAP_UNKNOWN), 0x1000);
	assert_int_equal(figure(&laid, PLIM_HEAP_IN_USE), laid.in_use - 0x1000);
	assert_int_equal(laid.heap->figures[PLIM_HEAP_IN_USE].bound,
			 PLIM_BOUND_AT_LEAST);
	assert_true(figure(&laid, PLIM_HEAP_UNCERTAIN) >= 0x1000);
	lay_end(&laid);
	lay_begin(&laid, layout);
	planted_u64(&laid.planted, BREAK + 0x2f0 + 8, 0x1009);
	assert_refused(&laid, PLIM_REASON_HEAP_CONTRADICTS);
}

static void assert_no_cache(struct laid *laid)
{
	assert_int_equal(lay_walk(laid), PLIM_OK);
	assert_int_equal(laid->heap->depth, PLIM_DEPTH_WALKED);
	assert_int_equal(figure(laid, PLIM_HEAP_TCACHE), 0);
	assert_int_equal(figure(laid, PLIM_HEAP_IN_USE), laid->in_use + 96);
	lay_end(laid);
}

/* What does not hold together as a cache is a block in use like others. */
static void false_cache_is_in_use(void **state)
{
	const struct plimp_glibc_layout *layout = layout_of(36);
	uint64_t cache = BREAK + 16;
	struct laid laid;
	uint64_t node;

	(void)state;
	/* The list goes round. */
	lay_begin(&laid, layout);
	node = word_at(&laid, cache + layout->tcache_entries + 8);
	planted_u64(&laid.planted, node + 48, lay_link(&laid, node + 48, node));
	assert_no_cache(&laid);
	/* A count that no bin can have. */
	lay_begin(&laid, layout);
	planted_u16(&laid.planted, cache + 2, 0xffff);
	assert_no_cache(&laid);
	/* One too few. */
	lay_begin(&laid, layout);
	planted_u16(&laid.planted, cache + 2, 1);
	assert_no_cache(&laid);
	/* Another key. */
	lay_begin(&laid, layout);
	node = word_at(&laid, cache + layout->tcache_entries + 8);
	planted_u64(&laid.planted, node + 48 + 8, KEY + 1);
	assert_no_cache(&laid);
	/* A block that is no chunk of the bin's size. */
	lay_begin(&laid, layout);
	planted_u64(&laid.planted, cache + layout->tcache_entries + 8,
		    BREAK + 0x2f0 + 16);
	assert_no_cache(&laid);
}

/* From 2.42 a bin holds a range of sizes: one that reaches beyond the heap is
 * not added up. */
static void cached_size_is_bounded(void **state)
{
	const struct plimp_glibc_layout *layout = layout_of(42);
	uint64_t cache = BREAK + 16;
	unsigned bin = layout->tcache_small;
	struct laid laid;
	uint64_t node;

	(void)state;
	assert_true(layout->tcache_large > 0);
	lay_begin(&laid, layout);
	/* A place in the block of 0x1000 poses as a cached one. */
	node = BREAK + ((layout->tcache_size + 23u) & ~15u) + 96 + 0x200;
	planted_u64(&laid.planted, node - 8, UINT64_MAX & ~UINT64_C(15));
	planted_u64(&laid.planted, node, lay_link(&laid, node, 0));
	planted_u64(&laid.planted, node + 8, KEY);
	planted_u64(&laid.planted, cache + layout->tcache_entries + 8 * bin,
		    node);
	planted_u16(&laid.planted, cache + 2 * bin, 6);
	assert_int_equal(lay_walk(&laid), PLIM_OK);
	assert_int_equal(laid.heap->depth, PLIM_DEPTH_WALKED);
	assert_int_equal(figure(&laid, PLIM_HEAP_TCACHE), 96);
	assert_int_equal(figure(&laid, PLIM_HEAP_IN_USE), laid.in_use);
	lay_end(&laid);
}

/* Who keeps how much: each page with free bytes and one block alone. */
static void hostages_are_known(void **state)
{
	const struct plimp_glibc_layout *layout = layout_of(36);
	uint64_t first =
	    ((layout->heap_info_size + layout->state_size + 31u) & ~15u) - 16u;
	uint64_t last = first + 0x800 + 0x3000;
	const plim_hostage *hostages;
	struct laid laid;

	(void)state;
	lay_begin(&laid, layout);
	assert_int_equal(lay_walk(&laid), PLIM_OK);
	hostages = laid.heap->hostages;
	assert_int_equal(laid.heap->hostage_count, 3);
	/* The end of the first block of the thread's arena. */
	assert_int_equal(hostages[0].address, HEAP + first + 16);
	assert_int_equal(hostages[0].size, 0x800);
	assert_int_equal(hostages[0].kept_bytes, 0x2000 - (first + 0x800));
	assert_int_equal(hostages[0].arena, 1);
	/* The end of the block of 0x1000. */
	assert_int_equal(hostages[1].address, BREAK + 0x2f0 + 16);
	assert_int_equal(hostages[1].size, 0x1000);
	assert_int_equal(hostages[1].kept_bytes, 0x2000 - 0x12f0);
	assert_int_equal(hostages[1].arena, 0);
	/* The start of the last block of the thread's arena. */
	assert_int_equal(hostages[2].address, HEAP + last + 16);
	assert_int_equal(hostages[2].kept_bytes, last % PLANTED_PAGE);
	lay_end(&laid);
}

/* The main arena went on in memory by mmap(). Memory of others that begins as
 * a segment would is looked at on the way, and says nothing about the heap. */
static void segment_is_told_from_others(void **state)
{
	const struct plimp_glibc_layout *layout = layout_of(36);
	struct laid laid;

	(void)state;
	lay_begin(&laid, layout);
	planted_add(&laid.planted, OTHER, 4 * PLANTED_PAGE, "");
	planted_add(&laid.planted, SEGMENT, PLANTED_PAGE, "");
	planted_image(&laid.planted, &laid.image);
	planted_u64(&laid.planted, OTHER + 8, 0x30 | 1);
	planted_u64(&laid.planted, OTHER + 0x38, 0x40);
	planted_u64(&laid.planted, SEGMENT + 8, 0xfe0 | 1);
	planted_u64(&laid.planted, SEGMENT + 0xfe8, 16 | 1);
	planted_u64(&laid.planted, SEGMENT + 0xff8, 16 | 1);
	planted_u32(&laid.planted, DATA + layout->flags, 2);
	planted_u64(&laid.planted, DATA + layout->system_mem,
		    65 * PLANTED_PAGE);
	assert_int_equal(lay_walk(&laid), PLIM_OK);
	assert_string_equal(laid.heap->why, "");
	assert_int_equal(figure(&laid, PLIM_HEAP_IN_USE),
			 laid.in_use + PLANTED_PAGE);
	assert_int_equal(figure(&laid, PLIM_HEAP_WALKED), 97 * PLANTED_PAGE);
	lay_end(&laid);
}

static void errors_come_through(void **state)
{
	(void)state;
	for (int after = 0; after < 40; after++) {
		struct laid laid;
		int code;

		lay_begin(&laid, layout_of(36));
		laid.planted.fail_after = after;
		code = lay_walk(&laid);
		assert_true(code == PLIM_ENOPROCESS || code == PLIM_OK);
		if (after < 5)
			assert_int_equal(code, PLIM_ENOPROCESS);
		lay_end(&laid);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_layout_is_exact),
	    cmocka_unit_test(trim_is_whole_pages),
	    cmocka_unit_test(mmapped_is_resident),
	    cmocka_unit_test(swapped_header_is_unknown),
	    cmocka_unit_test(two_heaps_are_exact),
	    cmocka_unit_test(absent_header_is_unknown),
	    cmocka_unit_test(bad_header_is_lost_in_a_race),
	    cmocka_unit_test(false_cache_is_in_use),
	    cmocka_unit_test(cached_size_is_bounded),
	    cmocka_unit_test(hostages_are_known),
	    cmocka_unit_test(segment_is_told_from_others),
	    cmocka_unit_test(what_contradicts_is_refused),
	    cmocka_unit_test(errors_come_through),
	};

	return cmocka_run_group_tests_name("glibc_walk", tests, NULL, NULL);
}
