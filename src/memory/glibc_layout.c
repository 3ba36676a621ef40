/*
 * glibc_layout.c - where glibc's malloc keeps what, by release and machine.
 *
 * The numbers are those of a compiler that lays out the structures of the
 * tagged sources (malloc/malloc.c: malloc_state, malloc_par,
 * tcache_perthread_struct; malloc/arena.c: heap_info), which
 * tools/check-layouts does again for every tag of a checkout. Both machines
 * have 8-byte words, 4-byte ints and chunks aligned to 16, so that they share
 * the numbers; a row of its own says what of it was ever run. Each group of
 * members has a macro per shape, and a row names its groups.
 */
#include "memory/glibc.h"

/* heap_info got `pagesize` in 2.35, and padding to stay a multiple of 16. */
#define HEAP_2_26                                                    \
	.heap_info_size = 32, .heap_prev = 8, .heap_size = 16,       \
	.heap_mprotect_size = 24, .heap_pagesize = PLIMP_GLIBC_NONE, \
	.heap_bytes = 64 << 20
#define HEAP_2_35                                              \
	.heap_info_size = 48, .heap_prev = 8, .heap_size = 16, \
	.heap_mprotect_size = 24, .heap_pagesize = 32, .heap_bytes = 64 << 20

#define STATE_2_26                                                           \
	.state_size = 2192, .flags = 4, .have_fastchunks = PLIMP_GLIBC_NONE, \
	.fastbins = 8, .fastbin_count = 10, .top = 88, .last_remainder = 96, \
	.bins = 104, .binmap = 2136, .next = 2152, .next_free = 2160,        \
	.attached_threads = 2168, .system_mem = 2176, .max_system_mem = 2184
#define STATE_2_27                                                            \
	.state_size = 2200, .flags = 4, .have_fastchunks = 8, .fastbins = 16, \
	.fastbin_count = 10, .top = 96, .last_remainder = 104, .bins = 112,   \
	.binmap = 2144, .next = 2160, .next_free = 2168,                      \
	.attached_threads = 2176, .system_mem = 2184, .max_system_mem = 2192
/* Fast bins were removed in December 2025 (bb5a4f5295). */
#define STATE_2_43                                                           \
	.state_size = 2112, .flags = 4, .have_fastchunks = PLIMP_GLIBC_NONE, \
	.fastbins = PLIMP_GLIBC_NONE, .fastbin_count = 0, .top = 8,          \
	.last_remainder = 16, .bins = 24, .binmap = 2056, .next = 2072,      \
	.next_free = 2080, .attached_threads = 2088, .system_mem = 2096,     \
	.max_system_mem = 2104

#define MP_2_26                                                                \
	.mp_size = 112, .mp_trim_threshold = 0, .mp_top_pad = 8,               \
	.mp_mmap_threshold = 16, .mp_arena_test = 24, .mp_arena_max = 32,      \
	.mp_thp_pagesize = PLIMP_GLIBC_NONE,                                   \
	.mp_hp_pagesize = PLIMP_GLIBC_NONE, .mp_n_mmaps = 40,                  \
	.mp_n_mmaps_max = 44, .mp_max_n_mmaps = 48, .mp_no_dyn_threshold = 52, \
	.mp_mmapped_mem = 56, .mp_max_mmapped_mem = 64, .mp_sbrk_base = 72,    \
	.mp_tcache_bins = 80, .mp_tcache_max_bytes = 88,                       \
	.mp_tcache_count = 96, .mp_tcache_unsorted_limit = 104
#define MP_2_35                                                                \
	.mp_size = 136, .mp_trim_threshold = 0, .mp_top_pad = 8,               \
	.mp_mmap_threshold = 16, .mp_arena_test = 24, .mp_arena_max = 32,      \
	.mp_thp_pagesize = 40, .mp_hp_pagesize = 48, .mp_n_mmaps = 60,         \
	.mp_n_mmaps_max = 64, .mp_max_n_mmaps = 68, .mp_no_dyn_threshold = 72, \
	.mp_mmapped_mem = 80, .mp_max_mmapped_mem = 88, .mp_sbrk_base = 96,    \
	.mp_tcache_bins = 104, .mp_tcache_max_bytes = 112,                     \
	.mp_tcache_count = 120, .mp_tcache_unsorted_limit = 128
/* thp_mode at 40 in front of thp_pagesize. */
#define MP_2_43                                                                \
	.mp_size = 144, .mp_trim_threshold = 0, .mp_top_pad = 8,               \
	.mp_mmap_threshold = 16, .mp_arena_test = 24, .mp_arena_max = 32,      \
	.mp_thp_pagesize = 48, .mp_hp_pagesize = 56, .mp_n_mmaps = 68,         \
	.mp_n_mmaps_max = 72, .mp_max_n_mmaps = 76, .mp_no_dyn_threshold = 80, \
	.mp_mmapped_mem = 88, .mp_max_mmapped_mem = 96, .mp_sbrk_base = 104,   \
	.mp_tcache_bins = 112, .mp_tcache_max_bytes = 120,                     \
	.mp_tcache_count = 128, .mp_tcache_unsorted_limit = 136

#define CACHE_BYTES                                             \
	.tcache_counts = PLIMP_GLIBC_BYTES, .tcache_size = 576, \
	.tcache_entries = 64, .tcache_small = 64, .tcache_large = 0
#define CACHE_WORDS                                             \
	.tcache_counts = PLIMP_GLIBC_WORDS, .tcache_size = 640, \
	.tcache_entries = 128, .tcache_small = 64, .tcache_large = 0
#define CACHE_SLOTS                                             \
	.tcache_counts = PLIMP_GLIBC_SLOTS, .tcache_size = 760, \
	.tcache_entries = 152, .tcache_small = 64, .tcache_large = 12

/* How lists are written, what a cached chunk has behind its link, and how
 * large heaps are with huge pages. */
#define LISTS_2_26 .is_mangled = 0, .tcache_key = PLIMP_GLIBC_NO_KEY
#define LISTS_2_29 .is_mangled = 0, .tcache_key = PLIMP_GLIBC_ADDRESS
#define LISTS_2_32 .is_mangled = 1, .tcache_key = PLIMP_GLIBC_ADDRESS
#define LISTS_2_34 .is_mangled = 1, .tcache_key = PLIMP_GLIBC_RANDOM
#define LISTS_2_35 LISTS_2_34, .huge_heap_pages = 4
#define LISTS_2_43 LISTS_2_34, .is_mmapped_like_normal = 1

/* X(first, last, "releases", heap, state, mp, cache, lists, what was done with
 * it on x86-64, and on aarch64) */
#define GLIBC_ROWS(X)                                                       \
	X(26, 26, "2.26", HEAP_2_26, STATE_2_26, MP_2_26, CACHE_BYTES,      \
	  LISTS_2_26, READ, READ)                                           \
	X(27, 28, "2.27-2.28", HEAP_2_26, STATE_2_27, MP_2_26, CACHE_BYTES, \
	  LISTS_2_26, READ, READ)                                           \
	X(29, 29, "2.29", HEAP_2_26, STATE_2_27, MP_2_26, CACHE_BYTES,      \
	  LISTS_2_29, READ, READ)                                           \
	X(30, 31, "2.30-2.31", HEAP_2_26, STATE_2_27, MP_2_26, CACHE_WORDS, \
	  LISTS_2_29, READ, READ)                                           \
	X(32, 33, "2.32-2.33", HEAP_2_26, STATE_2_27, MP_2_26, CACHE_WORDS, \
	  LISTS_2_32, READ, READ)                                           \
	X(34, 34, "2.34", HEAP_2_26, STATE_2_27, MP_2_26, CACHE_WORDS,      \
	  LISTS_2_34, READ, READ)                                           \
	X(35, 41, "2.35-2.41", HEAP_2_35, STATE_2_27, MP_2_35, CACHE_WORDS, \
	  LISTS_2_35, RUN, READ)                                            \
	X(42, 42, "2.42", HEAP_2_35, STATE_2_27, MP_2_35, CACHE_SLOTS,      \
	  LISTS_2_34, READ, READ)                                           \
	X(43, 43, "2.43", HEAP_2_35, STATE_2_43, MP_2_43, CACHE_SLOTS,      \
	  LISTS_2_43, RUN, READ)

#define LAYOUT(first, last, seen, arch, words)                 \
	.name = words, .standing = PLIMP_GLIBC_##seen,         \
	.machine = PLIMP_MACHINE_##arch, .first_minor = first, \
	.last_minor = last
#define ROW_X86_64(first, last, name, heap, state, mp, cache, lists, x, a) \
	{LAYOUT(first, last, x, X86_64, name " x86-64"),                   \
	 heap,                                                             \
	 state,                                                            \
	 mp,                                                               \
	 cache,                                                            \
	 lists},
#define ROW_AARCH64(first, last, name, heap, state, mp, cache, lists, x, a) \
	{LAYOUT(first, last, a, AARCH64, name " aarch64"),                  \
	 heap,                                                              \
	 state,                                                             \
	 mp,                                                                \
	 cache,                                                             \
	 lists},

static const struct plimp_glibc_layout glibc_rows[] = {
    GLIBC_ROWS(ROW_X86_64) GLIBC_ROWS(ROW_AARCH64)};

const struct plimp_glibc_layout *plimp_glibc_layouts(size_t *count)
{
	*count = sizeof(glibc_rows) / sizeof(glibc_rows[0]);
	return glibc_rows;
}

const struct plimp_glibc_layout *plimp_glibc_layout_find(int machine,
							 unsigned minor)
{
	for (size_t i = 0; i < sizeof(glibc_rows) / sizeof(glibc_rows[0]); i++)
		if (glibc_rows[i].machine == machine &&
		    minor >= glibc_rows[i].first_minor &&
		    minor <= glibc_rows[i].last_minor)
			return &glibc_rows[i];
	return NULL;
}

const char *plimp_glibc_standing_word(int standing)
{
	switch (standing) {
	case PLIMP_GLIBC_READ:
		return "read";
	case PLIMP_GLIBC_BUILT:
		return "built";
	case PLIMP_GLIBC_RUN:
		return "run";
	default:
		return "unknown";
	}
}

/* X(NAME, word, sentence) in the order of the numbers. */
#define GLIBC_REASONS(X)                                             \
	X(FOUND, "found", "found")                                   \
	X(ABSENT, "no_glibc", "the process has no glibc")            \
	X(MACHINE, "machine", "no layout is known for this machine") \
	X(OLD, "too_old", "glibc before 2.26 is not read")           \
	X(NO_ARENA, "no_arena",                                      \
	  "no record of glibc's data is consistent with the layout") \
	X(SEVERAL, "several", "more than one place or layout fits")  \
	X(DISAGREE, "ways_disagree",                                 \
	  "the ways to the main arena lead to different places")     \
	X(UNREADABLE, "not_readable",                                \
	  "glibc's data is swapped out or not in memory")            \
	X(DENIED, "denied", "its memory may not be read")            \
	X(NO_PARAMETERS, "no_parameters",                            \
	  "the main arena was found, malloc's parameters were not")  \
	X(RING_BROKEN, "ring_broken", "the arenas do not form a ring")

const char *plimp_glibc_reason_word(int reason)
{
	switch (reason) {
#define PLIM_X(name, word, text) \
	case PLIMP_GLIBC_##name: \
		return word;
		GLIBC_REASONS(PLIM_X)
#undef PLIM_X
	default:
		return "unknown";
	}
}

const char *plimp_glibc_reason_text(int reason)
{
	switch (reason) {
#define PLIM_X(name, word, text) \
	case PLIMP_GLIBC_##name: \
		return text;
		GLIBC_REASONS(PLIM_X)
#undef PLIM_X
	default:
		return "unknown";
	}
}
