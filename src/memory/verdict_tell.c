/*
 * verdict_tell.c - the verdict in words: what each part is, and what would
 * return it.
 *
 * Remedies are of the allocator that holds the memory. For glibc they are
 * malloc_trim(3) and the tunables of its manual, "Memory Allocation Tunables":
 * malloc_trim touches neither the caches of threads nor the tops of their
 * arenas (mtrim of malloc.c, 2.26 to 2.43), and a top shrinks by itself only
 * while the trim threshold is below it, which grows to twice the largest
 * mmapped block that was freed unless it is set.
 */
#include "memory/verdict.h"

#include <assert.h>
#include <string.h>

#define TELL_BIT(kind) (UINT64_C(1) << PLIM_HEAP_OF_##kind)

struct tell_remedy {
	int part;
	uint64_t walked; /* any of these was walked; 0: whatever was */
	const char *text;
};

/* The first row that fits. */
static const struct tell_remedy tell_remedies[] = {
    {PLIM_RETENTION_LIVE, 0,
     "nothing returns it: the program must free it first"},
    {PLIM_RETENTION_CACHED, TELL_BIT(GLIBC),
     "glibc.malloc.tcache_count=0 (or smaller) in GLIBC_TUNABLES, or the end "
     "of the threads; malloc_trim does not touch it"},
    {PLIM_RETENTION_CACHED, 0, "smaller caches of threads, or their end"},
    {PLIM_RETENTION_RETURNABLE, TELL_BIT(GLIBC),
     "malloc_trim(0), called in the process after its load"},
    {PLIM_RETENTION_RETURNABLE, TELL_BIT(GPERFTOOLS),
     "MallocExtension::ReleaseFreeMemory(), or a higher "
     "TCMALLOC_RELEASE_RATE"},
    {PLIM_RETENTION_RETURNABLE, 0,
     "a call of the allocator that gives free pages back"},
    {PLIM_RETENTION_PINNED, TELL_BIT(GLIBC),
     "no trim returns it: free the blocks that hold it (the hostages), keep "
     "short-lived blocks apart from long-lived ones, raise what is mmapped "
     "(a lower glibc.malloc.mmap_threshold), or use another allocator"},
    {PLIM_RETENTION_PINNED, 0,
     "nothing from outside: its pages return when the last block in them is "
     "freed"},
    {PLIM_RETENTION_TOP, 0,
     "malloc_trim never touches it: set glibc.malloc.trim_threshold=131072 "
     "(or M_TRIM_THRESHOLD by mallopt), so that it no longer grows, or fewer "
     "arenas: glibc.malloc.arena_max"},
    {PLIM_RETENTION_FREED, TELL_BIT(GLIBC),
     "malloc_trim(0) returns whole pages of it, but for caches and tops of "
     "thread arenas; a walk of the living process tells how many"},
    {PLIM_RETENTION_FREED, 0, "a walk of the living process tells more"},
    {PLIM_RETENTION_LAZY, 0,
     "nothing to do: the kernel takes it when memory is short"},
    {PLIM_RETENTION_OTHER, 0,
     "nothing of an allocator: the mappings by name tell whose it is"},
    {PLIM_RETENTION_FILE_CACHE, 0,
     "nothing to do: the kernel drops it when memory is short"},
    {PLIM_RETENTION_SHMEM, 0,
     "nothing but removing the shared memory, or unmapping it in every "
     "process that has it"},
    {PLIM_RETENTION_SWAPPED, TELL_BIT(GLIBC),
     "what of it is free leaves swap by malloc_trim(0), which first reads "
     "some of it back in"},
    {PLIM_RETENTION_SWAPPED, 0, "nothing while it is not needed"},
    {PLIM_RETENTION_HUGE, 0,
     "no huge pages for the heap (glibc.malloc.hugetlb=0, or "
     "transparent_hugepage=madvise); the kernel may split them when memory is "
     "short"},
    {PLIM_RETENTION_SHARED, 0,
     "the end of the processes that share it: the parent, or the other "
     "children"},
};

/* What to ask an allocator that was seen and not walked. */
static const struct tell_remedy tell_unwalked[] = {
    {PLIM_RETENTION_UNKNOWN, TELL_BIT(JVM),
     "the Java heap: ask the machine itself (jcmd PID GC.heap_info); -Xmx "
     "bounds it"},
    {PLIM_RETENTION_UNKNOWN, TELL_BIT(GO),
     "the heap of Go: runtime/metrics tells, debug.FreeOSMemory() returns, "
     "GOMEMLIMIT bounds"},
    {PLIM_RETENTION_UNKNOWN, TELL_BIT(JEMALLOC),
     "jemalloc: malloc_stats_print tells; arena.<i>.purge by mallctl, or "
     "MALLOC_CONF=dirty_decay_ms:0, returns"},
    {PLIM_RETENTION_UNKNOWN, TELL_BIT(TCMALLOC),
     "tcmalloc: MallocExtension::GetStats tells, "
     "MallocExtension::ReleaseMemoryToSystem returns"},
    {PLIM_RETENTION_UNKNOWN, TELL_BIT(GPERFTOOLS),
     "tcmalloc: MallocExtension::GetStats tells, "
     "MallocExtension::ReleaseFreeMemory returns"},
    {PLIM_RETENTION_UNKNOWN, TELL_BIT(MIMALLOC),
     "mimalloc: MIMALLOC_SHOW_STATS=1 tells; mi_collect(true), or "
     "MIMALLOC_PURGE_DELAY=0, returns"},
    {PLIM_RETENTION_UNKNOWN, TELL_BIT(CPYTHON),
     "objects of Python: PYTHONMALLOC=malloc puts them where the walk sees "
     "them"},
    {PLIM_RETENTION_UNKNOWN, TELL_BIT(GLIBC),
     "glibc was not walked: the reason stands with it"},
    {PLIM_RETENTION_UNKNOWN, TELL_BIT(MUSL),
     "musl was not walked: the reason stands with it"},
    {PLIM_RETENTION_UNKNOWN, 0,
     "no allocator is known in it: the mappings by name tell whose it is"},
};

static const char *tell_find(const struct tell_remedy *rows, size_t count,
			     int part, uint64_t kinds)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rows[i].part == part &&
		    (rows[i].walked == 0 || (rows[i].walked & kinds) != 0))
			return rows[i].text;
	return "";
}

static const char *tell_remedy_of(const plim_retention *retention, int part)
{
	plim_count bytes = retention->parts[part];

	if (bytes.state != PLIM_STATE_KNOWN)
		return plim_reason_text(bytes.method);
	if (part == PLIM_RETENTION_UNKNOWN &&
	    retention->parts[PLIM_RETENTION_LIVE].state == PLIM_STATE_UNREAD)
		return "nothing was walked; the mappings by name tell whose "
		       "it may be, if they can be read";
	if (part == PLIM_RETENTION_UNKNOWN)
		return tell_find(tell_unwalked,
				 sizeof tell_unwalked / sizeof tell_unwalked[0],
				 part,
				 retention->allocators & ~retention->walked);
	return tell_find(tell_remedies,
			 sizeof tell_remedies / sizeof tell_remedies[0], part,
			 retention->walked);
}

static int tell_line(const plim_retention *retention, int part,
		     plim_retention_fn *callback, void *user)
{
	plim_retention_line line;

	line.part = part;
	line.bytes = retention->parts[part];
	line.text = plim_retention_text(part);
	line.remedy = tell_remedy_of(retention, part);
	if (line.remedy == NULL)
		line.remedy = "";
	return callback(&line, user);
}

static int tell_is_shown(const plim_retention *retention, int part)
{
	plim_count bytes = retention->parts[part];

	return bytes.state == PLIM_STATE_KNOWN && bytes.value > 0;
}

/* The largest part from `first` to `last` that is smaller than the one that
 * was told before, or as large and behind it; 0 if there is none. */
static int tell_next(const plim_retention *retention, int first, int last,
		     int before)
{
	int best = 0;
	int part;

	for (part = first; part <= last; part++) {
		uint64_t value = retention->parts[part].value;

		if (!tell_is_shown(retention, part) ||
		    part == retention->verdict)
			continue;
		if (before != 0 && before != part) {
			uint64_t told = retention->parts[before].value;

			if (value > told || (value == told && part < before))
				continue;
		}
		if (part == before)
			continue;
		if (best == 0 || value > retention->parts[best].value)
			best = part;
	}
	return best;
}

static int tell_range(const plim_retention *retention, int first, int last,
		      plim_retention_fn *callback, void *user)
{
	int part = 0;
	int code = 0;

	while (code == 0 &&
	       (part = tell_next(retention, first, last, part)) != 0)
		code = tell_line(retention, part, callback, user);
	return code;
}

int plim_retention_tell(const plim_retention *retention,
			plim_retention_fn *callback, void *user)
{
	int code = 0;
	int part;

	assert(retention != NULL && callback != NULL);
	if (retention->verdict > 0 &&
	    retention->verdict <= PLIM_RETENTION_UNKNOWN &&
	    tell_is_shown(retention, retention->verdict))
		code = tell_line(retention, retention->verdict, callback, user);
	if (code == 0)
		code = tell_range(retention, 1, PLIM_RETENTION_UNKNOWN,
				  callback, user);
	if (code == 0)
		code = tell_range(retention, PLIM_RETENTION_SWAPPED,
				  PLIM_RETENTION_SHARED, callback, user);
	for (part = 1; code == 0 && part <= PLIM_RETENTION_SHARED; part++) {
		int state = retention->parts[part].state;

		if (state != PLIM_STATE_KNOWN && state != PLIM_STATE_UNREAD &&
		    state != PLIM_STATE_NOT_APPLICABLE)
			code = tell_line(retention, part, callback, user);
	}
	return code;
}
