/*
 * regions.c - what each mapping of a process is.
 *
 * One pass by address decides, from the strongest evidence to the weakest:
 * the name that the kernel prints (regions_name.c), the file, a stack pointer
 * that lies in it, the layout of glibc's heaps (arenas.c), the kernel's flags,
 * and what lies right below. A mapping of which nothing is known but that it
 * is anonymous is OTHER. Nothing is decided from what is resident, since that
 * says nothing of a purpose. Flags are there when smaps was read; without them
 * the layout and the stack pointers decide alone.
 *
 * Everything here is the process's own doing and may be made to deceive; it
 * takes time in proportion to the number of mappings, and no memory.
 */
#include "memory/regions.h"

#include <assert.h>
#include <string.h>

/* Where the Go runtime asks for its first arena on 64-bit systems
 * (runtime/malloc.go, arenaBaseOffset and the hints). */
#define REGION_GO_START 0xc000000000u

struct region_pass {
	const struct plimp_regions_facts *facts;
	const struct plimp_space *space;
	struct plimp_region *regions;
	size_t stack; /* the first stack pointer that is not below */
};

static int region_is_follower(const struct plimp_space *space, size_t index)
{
	return index > 0 &&
	       space->items[index - 1].end == space->items[index].start;
}

static int region_is_private(const struct plimp_mapping *mapping)
{
	return !(mapping->protection & PLIMP_IS_SHARED);
}

static int region_is_writable(const struct plimp_mapping *mapping)
{
	return (mapping->protection & PLIMP_MAY_WRITE) != 0;
}

static int region_is_same_file(const struct plimp_mapping *a,
			       const struct plimp_mapping *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/*
 * A file's mappings that follow one another belong together: the segments of
 * one program or library, with anonymous memory (.bss, holes) between them.
 * `*after` is the place behind the last; the result is whether one of them is
 * executable.
 */
static int region_file_run(const struct plimp_space *space, size_t first,
			   size_t *after)
{
	const struct plimp_mapping *file = &space->items[first];
	int is_executable = 0;
	size_t at;

	*after = first + 1;
	for (at = first; at < space->count; at++) {
		const struct plimp_mapping *mapping = &space->items[at];

		if (region_is_same_file(mapping, file)) {
			if (mapping->protection & PLIMP_MAY_EXECUTE)
				is_executable = 1;
			*after = at + 1;
		} else if (mapping->inode != 0 || mapping->name_size != 0 ||
			   !region_is_follower(space, at)) {
			break;
		}
	}
	return is_executable;
}

static int region_file_kind(const struct region_pass *pass, plim_bytes name,
			    int is_executable)
{
	plim_bytes program = pass->facts->program;

	if (program.size > 0 && program.size == name.size &&
	    memcmp(program.data, name.data, name.size) == 0)
		return PLIM_MAPPING_TEXT;
	if (is_executable || plimp_regions_is_library(name))
		return PLIM_MAPPING_LIBRARY;
	return PLIM_MAPPING_FILE;
}

/* Gives all mappings of a file that follow one another their kind. */
static void region_set_files(struct region_pass *pass, size_t first)
{
	const struct plimp_space *space = pass->space;
	const struct plimp_mapping *file = &space->items[first];
	size_t after;
	int is_executable = region_file_run(space, first, &after);
	int kind = region_file_kind(pass, plimp_space_name(space, file),
				    is_executable);
	size_t at;

	for (at = first; at < after; at++)
		if (region_is_same_file(&space->items[at], file))
			pass->regions[at].kind = (uint8_t)kind;
}

/* How many stack pointers lie in the mapping, and the lowest thread of them. */
static void region_count_stacks(struct region_pass *pass, size_t index)
{
	const struct plimp_stacks *stacks = pass->facts->stacks;
	const struct plimp_mapping *mapping = &pass->space->items[index];
	struct plimp_region *region = &pass->regions[index];

	if (stacks == NULL)
		return;
	while (pass->stack < stacks->count &&
	       stacks->items[pass->stack].address < mapping->start)
		pass->stack++;
	for (; pass->stack < stacks->count; pass->stack++) {
		const struct plimp_stack_pointer *pointer =
		    &stacks->items[pass->stack];

		if (pointer->address >= mapping->end)
			break;
		if (region->threads == 0 || pointer->tid < region->tid)
			region->tid = pointer->tid;
		region->threads++;
	}
}

/* The marks of memory that was reserved without being accounted for: glibc's
 * heaps of threads have them (arena.c maps them with MAP_NORESERVE), and the
 * reserves of other allocators. */
static int region_is_reserve(const struct plimp_mapping *mapping)
{
	return (mapping->has & PLIMP_MAPPING_FLAGS) &&
	       (mapping->flags & PLIMP_VM_NO_RESERVE) &&
	       !(mapping->flags & PLIMP_VM_ACCOUNTED) &&
	       region_is_writable(mapping);
}

/* MAP_STACK has meant "no huge pages" since Linux 6.7; a program that asks
 * for these with madvise() looks the same, and is the rarer case. */
static int region_has_stack_marks(const struct plimp_mapping *mapping)
{
	const uint32_t marks = PLIMP_VM_NO_HUGE | PLIMP_VM_ACCOUNTED;

	return (mapping->has & PLIMP_MAPPING_FLAGS) &&
	       (mapping->flags & marks) == marks &&
	       !(mapping->flags & PLIMP_VM_NO_RESERVE) &&
	       region_is_writable(mapping);
}

/* .bss lies right behind the data of its file. */
static int region_is_bss(const struct region_pass *pass, size_t index)
{
	const struct plimp_mapping *below;
	int kind;

	if (!region_is_follower(pass->space, index) ||
	    !region_is_writable(&pass->space->items[index]))
		return 0;
	below = &pass->space->items[index - 1];
	kind = pass->regions[index - 1].kind;
	return below->inode != 0 && region_is_writable(below) &&
	       region_is_private(below) &&
	       (kind == PLIM_MAPPING_TEXT || kind == PLIM_MAPPING_LIBRARY);
}

/* A run of anonymous memory that begins where Go's first arena does. */
static int region_is_go(const struct region_pass *pass, size_t index)
{
	const struct plimp_mapping *mapping = &pass->space->items[index];

	if (mapping->start == REGION_GO_START)
		return 1;
	return mapping->start > REGION_GO_START &&
	       region_is_follower(pass->space, index) &&
	       pass->regions[index - 1].kind == PLIM_MAPPING_ALLOCATOR;
}

/* What a private anonymous mapping without a name is. */
static int region_anonymous_kind(const struct region_pass *pass, size_t index)
{
	const struct plimp_mapping *mapping = &pass->space->items[index];
	const struct plimp_region *region = &pass->regions[index];
	int has_flags = (mapping->has & PLIMP_MAPPING_FLAGS) != 0;

	if (region_is_reserve(mapping) || region_is_go(pass, index))
		return PLIM_MAPPING_ALLOCATOR;
	if (region->threads > 0 && region_is_writable(mapping) &&
	    (has_flags || region->kind != PLIM_MAPPING_ALLOCATOR))
		return PLIM_MAPPING_STACK;
	if (region->kind == PLIM_MAPPING_ALLOCATOR)
		return PLIM_MAPPING_ALLOCATOR;
	if (mapping->protection & PLIMP_MAY_EXECUTE)
		return PLIM_MAPPING_JIT;
	if (region_has_stack_marks(mapping))
		return PLIM_MAPPING_STACK;
	if (region_is_bss(pass, index))
		return pass->regions[index - 1].kind;
	return PLIM_MAPPING_OTHER;
}

/* The mappings of a heap of glibc, if one begins here. */
static void region_mark_heap(struct region_pass *pass, size_t index)
{
	size_t span = plimp_arenas_span(pass->space, index);
	size_t at;

	for (at = 0; at < span; at++)
		pass->regions[index + at].kind = PLIM_MAPPING_ALLOCATOR;
}

static void region_decide(struct region_pass *pass, size_t index)
{
	const struct plimp_mapping *mapping = &pass->space->items[index];
	struct plimp_region *region = &pass->regions[index];
	plim_bytes name = plimp_space_name(pass->space, mapping);
	int32_t named = 0;
	int kind = plimp_regions_by_name(name, mapping->protection, &named);

	region_count_stacks(pass, index);
	if (region->kind == 0 || name.size == 0)
		region_mark_heap(pass, index);
	if ((mapping->has & PLIMP_MAPPING_FLAGS) &&
	    (mapping->flags & PLIMP_VM_HUGETLB))
		region->kind = PLIM_MAPPING_HUGE;
	else if (kind != 0)
		region->kind = (uint8_t)kind;
	else if (name.size == 0 && mapping->inode == 0)
		region->kind =
		    (uint8_t)(region_is_private(mapping)
				  ? region_anonymous_kind(pass, index)
				  : PLIM_MAPPING_SHARED);
	else if (region->kind == 0 && mapping->inode != 0)
		region_set_files(pass, index);
	else if (region->kind == 0)
		region->kind = PLIM_MAPPING_OTHER;
	if (named != 0)
		region->tid = named;
}

static int region_label(plim_bytes name, uint64_t size, int kind)
{
	static const uint64_t below[] = {
	    (uint64_t)64 << 10, (uint64_t)1 << 20, (uint64_t)16 << 20,
	    (uint64_t)64 << 20, (uint64_t)1 << 30,
	};
	size_t at = 0;

	if (name.size > 0)
		return kind == PLIM_MAPPING_STACK &&
			       plimp_regions_begins(name, "[anon:")
			   ? PLIMP_LABEL_THREAD
			   : PLIMP_LABEL_NAME;
	while (at < sizeof(below) / sizeof(below[0]) && size >= below[at])
		at++;
	return (int)at + PLIMP_LABEL_BELOW_64K;
}

/* Threads are told of stacks alone: elsewhere a stack pointer is that of a
 * coroutine, or of a stack that the program took from its allocator. */
static void region_finish(const struct region_pass *pass, size_t index)
{
	const struct plimp_mapping *mapping = &pass->space->items[index];
	struct plimp_region *region = &pass->regions[index];
	plim_bytes name = plimp_space_name(pass->space, mapping);

	if (region->kind != PLIM_MAPPING_STACK) {
		region->tid = 0;
		region->threads = 0;
	} else if (plimp_regions_begins(name, "[stack]")) {
		region->tid = pass->facts->pid;
	}
	if (region->tid != 0 && region->threads == 0)
		region->threads = 1;
	region->label = (uint8_t)region_label(
	    name, mapping->end - mapping->start, region->kind);
	assert(region->kind >= PLIM_MAPPING_TEXT &&
	       region->kind <= PLIM_MAPPING_OTHER);
}

void plimp_regions_classify(const struct plimp_regions_facts *facts,
			    struct plimp_region *regions)
{
	struct region_pass pass = {
	    .facts = facts,
	    .space = facts->space,
	    .regions = regions,
	};
	size_t index;

	if (facts->space->count == 0)
		return;
	memset(regions, 0, facts->space->count * sizeof(*regions));
	for (index = 0; index < facts->space->count; index++)
		region_decide(&pass, index);
	for (index = 0; index < facts->space->count; index++)
		region_finish(&pass, index);
}
