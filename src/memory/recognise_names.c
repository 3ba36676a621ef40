/*
 * recognise_names.c - allocators by the names of mappings (recognise.h).
 *
 * A file's name is what its packager gave it: a weak sign alone, and the only
 * one where the file cannot be opened. The name of anonymous memory
 * (PR_SET_VMA_ANON_NAME, Linux 5.17) is what the allocator gave it at run time:
 * it is in use.
 */
#include "memory/recognise.h"

#include <string.h>

struct names_row {
	int kind;
	const char *start; /* of the base name, or of the name in [anon:...] */
};

static const struct names_row names_of_files[] = {
    {PLIM_HEAP_OF_GLIBC, "libc.so.6"},
    {PLIM_HEAP_OF_GLIBC, "libc-2."},
    {PLIM_HEAP_OF_MUSL, "ld-musl-"},
    {PLIM_HEAP_OF_MUSL, "libc.musl-"},
    {PLIM_HEAP_OF_JEMALLOC, "libjemalloc"},
    {PLIM_HEAP_OF_GPERFTOOLS, "libtcmalloc"},
    {PLIM_HEAP_OF_MIMALLOC, "libmimalloc"},
    {PLIM_HEAP_OF_JVM, "libjvm.so"},
    {PLIM_HEAP_OF_CPYTHON, "libpython3."},
};

static const struct names_row names_of_memory[] = {
    {PLIM_HEAP_OF_GLIBC, " glibc: malloc"},
    {PLIM_HEAP_OF_JEMALLOC, "jemalloc_pg"},
    {PLIM_HEAP_OF_TCMALLOC, "tcmalloc_region"},
    {PLIM_HEAP_OF_MIMALLOC, "mimalloc"},
    {PLIM_HEAP_OF_GO, "Go: "},
};

static int names_begin(plim_bytes name, const char *start)
{
	size_t size = strlen(start);

	return name.size >= size && memcmp(name.data, start, size) == 0;
}

/* The name inside of "[anon:NAME]" or "[anon_shmem:NAME]", or nothing. */
static plim_bytes names_inside(plim_bytes name)
{
	static const char *const marks[] = {"[anon:", "[anon_shmem:"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t size = strlen(marks[i]);

		if (!names_begin(name, marks[i]))
			continue;
		name.data += size;
		name.size -= size;
		if (name.size > 0 && name.data[name.size - 1] == ']')
			name.size--;
		return name;
	}
	return (plim_bytes){NULL, 0};
}

static int names_add(struct plimp_recognition *recognition, int kind,
		     int confidence, const char *what, plim_bytes name)
{
	plim_heap *heap = plimp_recognise_as(recognition, kind, confidence);

	if (heap == NULL)
		return PLIM_ENOMEM;
	plimp_heap_add_evidence(heap, "%s %.*s", what,
				(int)(name.size < 96 ? name.size : 96),
				name.data);
	return PLIM_OK;
}

/* One sentence for each kind, whatever number of mappings has the name. */
static int names_ask_memory(struct plimp_recognition *recognition,
			    plim_bytes name, uint32_t *seen)
{
	plim_bytes inside = names_inside(name);

	for (size_t i = 0;
	     i < sizeof(names_of_memory) / sizeof(names_of_memory[0]); i++) {
		const struct names_row *row = &names_of_memory[i];

		if (*seen >> row->kind & 1 || !names_begin(inside, row->start))
			continue;
		*seen |= UINT32_C(1) << row->kind;
		return names_add(recognition, row->kind,
				 PLIM_CONFIDENCE_CERTAIN,
				 "memory: mappings are named", inside);
	}
	return PLIM_OK;
}

static int names_ask_file(struct plimp_recognition *recognition,
			  const struct plimp_heap_module *module)
{
	plim_bytes name =
	    plimp_recognise_name(recognition->image, module->first);

	for (size_t i = 0;
	     i < sizeof(names_of_files) / sizeof(names_of_files[0]); i++) {
		const struct names_row *row = &names_of_files[i];

		if (!names_begin(name, row->start) || module->kind == row->kind)
			continue;
		return names_add(recognition, row->kind,
				 PLIM_CONFIDENCE_POSSIBLE, "file: the name is",
				 name);
	}
	return PLIM_OK;
}

/* The JVM's record of itself, which other tools of Java look for. */
static int names_ask_record(struct plimp_recognition *recognition,
			    plim_bytes name, uint32_t *seen)
{
	const uint32_t bit = UINT32_C(1) << PLIM_HEAP_OF_JVM;
	static const char mark[] = "/hsperfdata_";

	if (*seen & bit)
		return PLIM_OK;
	for (size_t i = 0; i + sizeof(mark) <= name.size; i++) {
		if (memcmp(name.data + i, mark, sizeof(mark) - 1) != 0)
			continue;
		*seen |= bit;
		return names_add(
		    recognition, PLIM_HEAP_OF_JVM, PLIM_CONFIDENCE_CERTAIN,
		    "memory: the record of a running machine:", name);
	}
	return PLIM_OK;
}

int plimp_recognise_names(struct plimp_recognition *recognition)
{
	const struct plimp_space *space = recognition->image->space;
	uint32_t seen = 0;
	int status = PLIM_OK;

	for (size_t i = 0; status == PLIM_OK && i < recognition->modules.count;
	     i++)
		status =
		    names_ask_file(recognition, &recognition->modules.items[i]);
	for (size_t i = 0; status == PLIM_OK && i < space->count; i++) {
		plim_bytes name = plimp_space_name(space, &space->items[i]);

		if (name.size == 0)
			continue;
		status = names_ask_memory(recognition, name, &seen);
		if (status == PLIM_OK)
			status = names_ask_record(recognition, name, &seen);
	}
	return status;
}
