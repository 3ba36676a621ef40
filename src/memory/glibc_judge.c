/*
 * glibc_judge.c - whether bytes can be a record of glibc's malloc, and what it
 * says then.
 *
 * A malloc_state refers to itself: an empty bin's links are the address of the
 * bin, the last bin is never used, so that it always says where the record
 * lies, and the arenas form a ring. A malloc_par does not, but its members
 * bind each other. A record of another layout, shifted by a word, breaks one of
 * these; that is how a wrong layout shows itself. A racing target may be
 * between two stores, so that links are allowed to be half way, never to be
 * impossible.
 */
#include "memory/glibc_locate.h"

#include <assert.h>

enum { JUDGE_HALF_LINKS = 8 };

/* Addresses of user space: 47 bits on x86-64, 56 with five levels, 48 or 52 on
 * aarch64. */
static int judge_address(uint64_t address, uint64_t align)
{
	return address >= 4096 && address < (uint64_t)1 << 56 &&
	       !(address & (align - 1));
}

static int judge_is_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return 0;
	return 1;
}

/* Every bin: both links to itself, or both to chunks. A bin is addressed as
 * the chunk whose links it would be, 16 bytes before; that is aligned to 8. */
static int judge_bins(const uint8_t *bins, uint64_t address)
{
	const uint64_t last = PLIMP_GLIBC_BINS - 1;
	unsigned half = 0;

	for (uint64_t i = 0; i <= last; i++) {
		uint64_t self = address + 16 * i - 16;
		uint64_t fd = plimp_word64(bins + 16 * i);
		uint64_t bk = plimp_word64(bins + 16 * i + 8);

		if ((fd != self && !judge_address(fd, 16)) ||
		    (bk != self && !judge_address(bk, 16)))
			return 0;
		if ((fd == self) != (bk == self) && ++half > JUDGE_HALF_LINKS)
			return 0;
		if (i == last && (fd != self || bk != self))
			return 0;
	}
	return 1;
}

static int judge_fast_bins(const struct plimp_glibc_layout *layout,
			   const uint8_t *bytes)
{
	for (size_t i = 0; i < layout->fastbin_count; i++) {
		uint64_t head = plimp_word64(bytes + layout->fastbins + 8 * i);

		if (head && !judge_address(head, 16))
			return 0;
	}
	return 1;
}

/* What is checked of a state that was never set up, as its initialiser left
 * it: main_arena of a program whose malloc is another one's. */
static int judge_raw(const struct plimp_glibc_layout *layout,
		     const uint8_t *bytes, uint64_t address)
{
	return judge_is_zero(bytes, layout->next) &&
	       plimp_word64(bytes + layout->next) == address &&
	       !plimp_word64(bytes + layout->next_free) &&
	       plimp_word64(bytes + layout->attached_threads) == 1 &&
	       !plimp_word64(bytes + layout->system_mem) &&
	       !plimp_word64(bytes + layout->max_system_mem);
}

int plimp_glibc_judge_state(const struct plimp_glibc_layout *layout,
			    const uint8_t *bytes, uint64_t address,
			    struct plimp_glibc_state *state)
{
	const uint64_t bins = address + layout->bins;
	struct plimp_glibc_state found = {
	    .address = address,
	    .top = plimp_word64(bytes + layout->top),
	    .next = plimp_word64(bytes + layout->next),
	    .system_mem = plimp_word64(bytes + layout->system_mem),
	    .flags = plimp_word32(bytes + layout->flags),
	};
	uint64_t free = plimp_word64(bytes + layout->next_free);
	uint64_t most = plimp_word64(bytes + layout->max_system_mem);

	assert(layout->state_size <= PLIMP_GLIBC_STATE_BYTES);
	if (!judge_address(found.next, 8) || found.flags > 7 ||
	    plimp_word32(bytes) > 2)
		return 0;
	if (!found.top) {
		found.is_raw = found.is_initial = 1;
		if (!judge_raw(layout, bytes, address))
			return 0;
		*state = found;
		return 1;
	}
	/* initial_top(): the first bin stands for a top of no bytes. */
	found.is_initial = found.top == bins - 16;
	if (!found.is_initial && !judge_address(found.top, 16))
		return 0;
	if (found.is_initial != !found.system_mem ||
	    (found.system_mem && !most))
		return 0;
	if (found.system_mem >= (uint64_t)1 << 56 ||
	    plimp_word64(bytes + layout->attached_threads) > 1u << 22 ||
	    (free && !judge_address(free, 8)))
		return 0;
	if (layout->have_fastchunks != PLIMP_GLIBC_NONE &&
	    plimp_word32(bytes + layout->have_fastchunks) > 1)
		return 0;
	if (!judge_fast_bins(layout, bytes) ||
	    !judge_bins(bytes + layout->bins, bins))
		return 0;
	*state = found;
	return 1;
}

/* The chunk that a request of `bytes` gets, and the cache's bin of a chunk. */
static uint64_t judge_chunk(uint64_t bytes)
{
	return bytes + 23 < 32 ? 32 : (bytes + 23) & ~(uint64_t)15;
}

/* do_set_tcache_max(): how the largest size and the number of small bins go
 * together. To 2.41 the size is the request's, in 2.42 the chunk's (but for
 * the start value), later one more than the chunk's. From 2.42 sizes beyond
 * the small bins leave their number alone. */
static int judge_cache(const struct plimp_glibc_layout *layout,
		       const struct plimp_glibc_parameters *found)
{
	const uint64_t bins = found->tcache_bins;
	const uint64_t most = found->tcache_max_bytes;

	if (!bins || bins > layout->tcache_small)
		return 0;
	if (layout->tcache_counts != PLIMP_GLIBC_SLOTS)
		return most <= 1032 &&
		       (judge_chunk(most) - 17) / 16 + 1 == bins;
	if (found->tcache_count > UINT16_MAX)
		return 0;
	if (layout->is_mmapped_like_normal)
		return most >= 33 && most % 16 == 1 &&
		       (most == bins * 16 + 17 ||
			(bins == layout->tcache_small && most > 1041 &&
			 most <= (4u << 20) + 1));
	return (bins == layout->tcache_small && most == 1032) ||
	       (most >= 32 && most % 16 == 0 &&
		(most == bins * 16 + 16 || (bins == layout->tcache_small &&
					    most > 1040 && most <= 4u << 20)));
}

static uint64_t judge_member(const uint8_t *bytes, uint16_t offset)
{
	return offset == PLIMP_GLIBC_NONE ? 0 : plimp_word64(bytes + offset);
}

static int judge_is_huge_page(uint64_t size)
{
	return !size || (size >= 65536 && size <= (uint64_t)1 << 40 &&
			 !(size & (size - 1)));
}

int plimp_glibc_judge_mp(const struct plimp_glibc_layout *layout,
			 uint64_t page_bytes, const uint8_t *bytes,
			 struct plimp_glibc_parameters *parameters)
{
	struct plimp_glibc_parameters found = {
	    .trim_threshold = judge_member(bytes, layout->mp_trim_threshold),
	    .top_pad = judge_member(bytes, layout->mp_top_pad),
	    .mmap_threshold = judge_member(bytes, layout->mp_mmap_threshold),
	    .thp_pagesize = judge_member(bytes, layout->mp_thp_pagesize),
	    .hp_pagesize = judge_member(bytes, layout->mp_hp_pagesize),
	    .mmapped_mem = judge_member(bytes, layout->mp_mmapped_mem),
	    .sbrk_base = judge_member(bytes, layout->mp_sbrk_base),
	    .tcache_bins = judge_member(bytes, layout->mp_tcache_bins),
	    .tcache_max_bytes =
		judge_member(bytes, layout->mp_tcache_max_bytes),
	    .tcache_count = judge_member(bytes, layout->mp_tcache_count),
	    .n_mmaps = plimp_word32(bytes + layout->mp_n_mmaps),
	};
	uint64_t arena_test = judge_member(bytes, layout->mp_arena_test);
	uint32_t most = plimp_word32(bytes + layout->mp_max_n_mmaps);

	if (!judge_cache(layout, &found))
		return 0;
	/* M_ARENA_TEST takes no 0; the start value is 8. */
	if (!arena_test || arena_test > 1u << 30)
		return 0;
	if (!judge_is_huge_page(found.thp_pagesize) ||
	    !judge_is_huge_page(found.hp_pagesize))
		return 0;
	if (plimp_word32(bytes + layout->mp_no_dyn_threshold) > 1 ||
	    found.n_mmaps > 1u << 30 || most > 1u << 30)
		return 0;
	/* Counted one after another: a racing target has one too many. */
	if (found.n_mmaps > most + 64 ||
	    found.mmapped_mem >= (uint64_t)1 << 56 ||
	    found.mmapped_mem % page_bytes)
		return 0;
	if (found.sbrk_base && !judge_address(found.sbrk_base, 1))
		return 0;
	*parameters = found;
	return 1;
}

uint64_t plimp_glibc_heap_bytes(const struct plimp_glibc_layout *layout,
				uint64_t hp_pagesize)
{
	if (!hp_pagesize || !layout->huge_heap_pages)
		return layout->heap_bytes;
	return hp_pagesize * layout->huge_heap_pages;
}
