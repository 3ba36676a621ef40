/*
 * regions_name.c - what the name of a mapping tells, and what it is called in
 * sums.
 *
 * The kernel prints a path, a word of its own in brackets, or, where it was
 * built to (CONFIG_ANON_VMA_NAME, Linux 5.17), "[anon:NAME]" with a name that
 * the process chose by prctl. Who chooses which: glibc from 2.39 with the
 * tunable glibc.mem.decorate_maps (malloc/arena.c, nptl/allocatestack.c), Go
 * from 1.25, tcmalloc, jemalloc, mimalloc, bionic and ART. Formats of the
 * kernel: fs/proc/task_mmu.c, get_vma_name().
 */
#include "memory/regions.h"

#include <string.h>

int plimp_regions_begins(plim_bytes text, const char *words)
{
	size_t size = strlen(words);

	return text.size >= size && memcmp(text.data, words, size) == 0;
}

static int region_ends(plim_bytes text, const char *words)
{
	size_t size = strlen(words);

	return text.size >= size &&
	       memcmp(text.data + text.size - size, words, size) == 0;
}

static char region_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* In any case of letters; `words` has small ones. */
static int region_holds(plim_bytes text, const char *words)
{
	size_t size = strlen(words);
	size_t start;
	size_t at;

	for (start = 0; start + size <= text.size; start++) {
		for (at = 0; at < size; at++)
			if (region_lower(text.data[start + at]) != words[at])
				break;
		if (at == size)
			return 1;
	}
	return 0;
}

/* The name of a removed file, without what the kernel put behind it. */
static plim_bytes region_undeleted(plim_bytes name)
{
	static const char mark[] = " (deleted)";

	if (region_ends(name, mark))
		name.size -= sizeof(mark) - 1;
	return name;
}

int plimp_regions_is_library(plim_bytes name)
{
	plim_bytes base = plim_base_name(region_undeleted(name));
	size_t at;

	for (at = 0; at + 3 <= base.size; at++)
		if (memcmp(base.data + at, ".so", 3) == 0 &&
		    (at + 3 == base.size || base.data[at + 3] == '.'))
			return 1;
	return 0;
}

/* The decimal number at the end of a name, up to a bracket; 0 for none. */
static int32_t region_number(plim_bytes name)
{
	int64_t number = 0;
	int64_t scale = 1;

	if (name.size > 0 && name.data[name.size - 1] == ']')
		name.size--;
	while (name.size > 0 && scale <= 1000000000) {
		char c = name.data[name.size - 1];

		if (c < '0' || c > '9')
			break;
		number += (c - '0') * scale;
		scale *= 10;
		name.size--;
	}
	if (name.size == 0 || name.data[name.size - 1] < '0' ||
	    name.data[name.size - 1] > '9')
		return number <= INT32_MAX ? (int32_t)number : 0;
	return 0;
}

/* Names that processes give to anonymous memory: how they begin, behind
 * "[anon:" and perhaps a space. The first that fits decides. */
static const struct {
	const char *words;
	int kind;
} region_given[] = {
    {"glibc: pthread", PLIM_MAPPING_STACK},
    {"glibc: unused stack", PLIM_MAPPING_STACK},
    {"glibc: malloc", PLIM_MAPPING_ALLOCATOR},
    {"glibc: loader malloc", PLIM_MAPPING_ALLOCATOR},
    {"stack_and_tls:", PLIM_MAPPING_STACK},
    {"Go: ", PLIM_MAPPING_ALLOCATOR},
    {"tcmalloc", PLIM_MAPPING_ALLOCATOR},
    {"jemalloc", PLIM_MAPPING_ALLOCATOR},
    {"mimalloc", PLIM_MAPPING_ALLOCATOR},
    {"mi-", PLIM_MAPPING_ALLOCATOR},
    {"scudo:", PLIM_MAPPING_ALLOCATOR},
    {"libc_malloc", PLIM_MAPPING_ALLOCATOR},
    {"partition_alloc", PLIM_MAPPING_ALLOCATOR},
    {"GWP-ASan", PLIM_MAPPING_ALLOCATOR},
    {"OCaml: ", PLIM_MAPPING_ALLOCATOR},
    {"dalvik-jit", PLIM_MAPPING_JIT},
    {"dalvik-", PLIM_MAPPING_ALLOCATOR},
};

static int region_given_kind(plim_bytes name, uint32_t protection, int32_t *tid)
{
	size_t at;

	name.data += sizeof("[anon:") - 1;
	name.size -= sizeof("[anon:") - 1;
	if (name.size > 0 && name.data[0] == ' ') {
		name.data++;
		name.size--;
	}
	if (protection & PLIMP_MAY_EXECUTE)
		return PLIM_MAPPING_JIT;
	for (at = 0; at < sizeof(region_given) / sizeof(region_given[0]);
	     at++) {
		if (!plimp_regions_begins(name, region_given[at].words))
			continue;
		if (region_given[at].kind == PLIM_MAPPING_STACK)
			*tid = region_number(name);
		return region_given[at].kind;
	}
	return PLIM_MAPPING_OTHER;
}

/* A word of the kernel, in brackets. */
static int region_bracket_kind(plim_bytes name, uint32_t protection,
			       int32_t *tid)
{
	if (plimp_regions_begins(name, "[heap]"))
		return PLIM_MAPPING_HEAP;
	if (plimp_regions_begins(name, "[stack")) {
		*tid = region_number(name); /* [stack:TID], Linux 3.4 to 4.4 */
		return PLIM_MAPPING_STACK;
	}
	if (plimp_regions_begins(name, "[anon:"))
		return region_given_kind(name, protection, tid);
	if (plimp_regions_begins(name, "[anon_shmem:"))
		return PLIM_MAPPING_SHARED;
	return PLIM_MAPPING_KERNEL; /* vdso, vvar, vsyscall, uprobes, sigpage */
}

/* What the files that compilers at run time leave for perf and for their
 * second mappings are called. */
static int region_is_jit_name(plim_bytes name)
{
	plim_bytes base = plim_base_name(region_undeleted(name));

	if ((plimp_regions_begins(base, "jit-") &&
	     region_ends(base, ".dump")) ||
	    (plimp_regions_begins(base, "perf-") && region_ends(base, ".map")))
		return 1;
	return plimp_regions_begins(name, "/memfd:") &&
	       (region_holds(name, "jit") || region_holds(name, "doublemap"));
}

static int region_is_shared_name(plim_bytes name)
{
	return plimp_regions_begins(name, "/memfd:") ||
	       plimp_regions_begins(name, "/SYSV") ||
	       plimp_regions_begins(name, "/dev/shm/") ||
	       plimp_regions_begins(name, "/dmabuf:");
}

int plimp_regions_by_name(plim_bytes name, uint32_t protection, int32_t *tid)
{
	if (name.size == 0)
		return 0;
	if (name.data[0] == '[')
		return region_bracket_kind(name, protection, tid);
	if (plimp_regions_begins(name, "anon_inode:") ||
	    plimp_regions_begins(name, "socket:"))
		return PLIM_MAPPING_KERNEL; /* rings shared with the kernel */
	if (plimp_regions_begins(name, "/anon_hugepage") ||
	    plimp_regions_begins(name, "/dev/hugepages/"))
		return PLIM_MAPPING_HUGE;
	if (region_is_jit_name(name))
		return PLIM_MAPPING_JIT;
	if (region_is_shared_name(name))
		return protection & PLIMP_MAY_EXECUTE ? PLIM_MAPPING_JIT
						      : PLIM_MAPPING_SHARED;
	/* MAP_SHARED | MAP_ANONYMOUS is a file of tmpfs by this name; mapped
	 * privately, the device gives anonymous memory. */
	if (plimp_regions_begins(name, "/dev/zero"))
		return protection & PLIMP_IS_SHARED ? PLIM_MAPPING_SHARED
						    : PLIM_MAPPING_OTHER;
	if (plimp_regions_begins(name, "/dev/"))
		return PLIM_MAPPING_OTHER;
	return 0;
}

static const char *const region_labels[] = {
    [PLIMP_LABEL_BELOW_64K] = "anonymous, below 64 KiB",
    [PLIMP_LABEL_BELOW_1M] = "anonymous, 64 KiB to 1 MiB",
    [PLIMP_LABEL_BELOW_16M] = "anonymous, 1 to 16 MiB",
    [PLIMP_LABEL_BELOW_64M] = "anonymous, 16 to 64 MiB",
    [PLIMP_LABEL_BELOW_1G] = "anonymous, 64 MiB to 1 GiB",
    [PLIMP_LABEL_LARGER] = "anonymous, 1 GiB and more",
};

/* Names that end with the number of a thread, without it: a thousand threads
 * are one line. */
static plim_bytes region_thread_label(plim_bytes name)
{
	static const char *const labels[] = {
	    "[anon: glibc: pthread stack]",
	    "[anon: glibc: pthread user stack]",
	    "[anon:stack_and_tls]",
	};
	size_t at;

	for (at = 0; at < sizeof(labels) / sizeof(labels[0]); at++) {
		plim_bytes label = {labels[at], strlen(labels[at])};
		size_t size = label.size - 1; /* up to the bracket */

		if (name.size > size && name.data[size] == ':' &&
		    memcmp(name.data, label.data, size) == 0)
			return label;
	}
	return name;
}

plim_bytes plimp_regions_label(const struct plimp_space *space, size_t index,
			       const struct plimp_region *region)
{
	plim_bytes name = plimp_space_name(space, &space->items[index]);

	if (region->label == PLIMP_LABEL_NAME)
		return name;
	if (region->label == PLIMP_LABEL_THREAD)
		return region_thread_label(name);
	name.data = region_labels[region->label];
	name.size = strlen(name.data);
	return name;
}
