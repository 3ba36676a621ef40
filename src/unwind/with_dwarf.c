/*
 * with_dwarf.c - libdw: loading it, opening a file, and what is said to the
 * keeper. The one file, with its three neighbours, that knows that library.
 *
 * Everything here but loading runs in a cell. It may use the C library's
 * malloc(), die of a bug in libdw, or be killed for taking too long; so it
 * frees little, and checks what it must to give right answers to files that
 * are whole and some answer to those that are not. The first question opens
 * the file and asks each unit for its ranges; a unit's tree is read when one
 * of its addresses is asked for (with_dwarf_unit.c), its line table then too
 * (with_dwarf_answer.c).
 */
#include "unwind/with_dwarf.h"

#include "core/fail.h"

#if defined(PLIM_WITH_DWARF)

#include "core/memory.h"
#include "unwind/lines_wire.h"
#include "unwind/with_dwarf_calls.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Chromium has some 40,000. */
#define DWARF_UNITS 1048576u
/* What is said at once, unless a single answer is longer. */
#define DWARF_SAID 65536u
/* Questions that are heard at once. */
#define DWARF_HEARD 512

/* The one way in ISO C from an object pointer to a function's. */
static int dwarf_symbol(void *handle, const char *name, void *place,
			size_t size)
{
	void *symbol = dlsym(handle, name);

	assert(size == sizeof symbol);
	memcpy(place, &symbol, size);
	return symbol != NULL;
}

int plimp_dwarf_open(struct plimp_dwarf_library **library, plim_host *host,
		     plim_error *error)
{
	struct plimp_dwarf_library *made;
	int found = 1;

	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "load libdw", NULL,
				  NULL);
	made->host = host;
	made->handle = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	if (made->handle != NULL) {
#define PLIM_X(name) \
	found &=     \
	    dwarf_symbol(made->handle, #name, &made->name, sizeof made->name);
		PLIMP_DWARF_CALLS(PLIM_X)
#undef PLIM_X
	}
	if (made->handle != NULL && found &&
	    made->elf_version(EV_CURRENT) != EV_NONE) {
		*library = made;
		return PLIM_OK;
	}
	plimp_dwarf_close(made);
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "load libdw",
			  "libdw.so.1", "install the package libdw1");
}

void plimp_dwarf_close(struct plimp_dwarf_library *library)
{
	if (library == NULL)
		return;
	if (library->handle != NULL)
		dlclose(library->handle);
	plimp_release(&library->host->allocator, library, 1, sizeof *library);
}

/* --- opening ------------------------------------------------------------- */

/* Remembers a unit of code and its ranges; PLIM_OK for one that has none. */
static int dwarf_unit_add(struct plimp_dwarf *dwarf, Dwarf_Off die,
			  Dwarf_Off end, struct plimp_dwarf_intervals *ranges)
{
	Dwarf_Die unit;
	size_t before = ranges->count;
	int result;
	int tag;

	if (dwarf->library->dwarf_offdie(dwarf->dwarf, die, &unit) == NULL)
		return PLIM_OK;
	tag = dwarf->library->dwarf_tag(&unit);
	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return PLIM_OK;
	if (dwarf->count == dwarf->capacity) {
		size_t wanted = dwarf->capacity == 0 ? 64 : dwarf->capacity * 2;
		void *more;

		if (dwarf->capacity >= DWARF_UNITS)
			return PLIM_ELIMIT;
		more = realloc(dwarf->units, wanted * sizeof dwarf->units[0]);
		if (more == NULL)
			return PLIM_ENOMEM;
		dwarf->units = more;
		dwarf->capacity = wanted;
	}
	result = plimp_dwarf_ranges_add(dwarf->library, &unit,
					(uint32_t)dwarf->count, ranges);
	if (result == PLIM_OK && ranges->count > before) {
		memset(&dwarf->units[dwarf->count], 0, sizeof dwarf->units[0]);
		dwarf->units[dwarf->count].die = unit;
		dwarf->units[dwarf->count++].end = end;
	}
	return result;
}

/* The headers of all units, one behind the other: each is at least as long as
 * itself, so that this ends. */
static int dwarf_scan(struct plimp_dwarf *dwarf)
{
	struct plimp_dwarf_intervals ranges = {NULL, 0, 0};
	Dwarf_Off offset = 0, next, abbreviations;
	uint8_t address_size, offset_size;
	size_t header_size;
	Dwarf_Half version;
	int result = PLIM_OK;
	int flat;

	while (result == PLIM_OK &&
	       dwarf->library->dwarf_next_unit(dwarf->dwarf, offset, &next,
					       &header_size, &version,
					       &abbreviations, &address_size,
					       &offset_size, NULL, NULL) == 0) {
		result =
		    dwarf_unit_add(dwarf, offset + header_size, next, &ranges);
		if (next <= offset)
			break;
		offset = next;
	}
	flat = plimp_dwarf_flatten(&ranges, &dwarf->table);
	return result != PLIM_OK ? result : flat;
}

/* What libdw would read, and inflate, of every file that it opens, and what
 * neither names nor lines are in: of libc's debug file it is a seventh. */
static int dwarf_is_unread(const char *name)
{
	static const char *const unread[] = {
	    "aranges", "frame",	   "loc",      "loclists", "macinfo",  "macro",
	    "names",   "pubnames", "pubtypes", "cu_index", "tu_index",
	};
	size_t i;

	if (strncmp(name, ".debug_", 7) == 0)
		name += 7;
	else if (strncmp(name, ".zdebug_", 8) == 0)
		name += 8;
	else
		return 0;
	for (i = 0; i < sizeof unread / sizeof unread[0]; i++)
		if (strcmp(name, unread[i]) == 0)
			return 1;
	return 0;
}

/* They are told as stripped, in memory alone. */
static void dwarf_leave_out(const struct plimp_dwarf_library *library, Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (library->elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = library->elf_nextscn(elf, section)) != NULL) {
		const char *name = NULL;
		GElf_Shdr header;

		if (library->gelf_getshdr(section, &header) != NULL)
			name = library->elf_strptr(elf, names, header.sh_name);
		if (name == NULL || !dwarf_is_unread(name))
			continue;
		header.sh_type = SHT_NOBITS;
		library->gelf_update_shdr(section, &header);
	}
}

static Dwarf *dwarf_begin_checked(const struct plimp_dwarf_library *library,
				  Elf *elf)
{
	if (elf == NULL || library->elf_kind(elf) != ELF_K_ELF)
		return NULL;
	dwarf_leave_out(library, elf);
	return library->dwarf_begin_elf(elf, DWARF_C_READ, NULL);
}

void plimp_dwarf_free(struct plimp_dwarf *dwarf)
{
	size_t i;

	if (dwarf == NULL)
		return;
	for (i = 0; i < dwarf->count; i++)
		plimp_dwarf_unit_free(&dwarf->units[i]);
	free(dwarf->units);
	free(dwarf->table.items);
	if (dwarf->dwarf != NULL)
		dwarf->library->dwarf_end(dwarf->dwarf);
	if (dwarf->other != NULL)
		dwarf->library->dwarf_end(dwarf->other);
	dwarf->library->elf_end(dwarf->elf);
	dwarf->library->elf_end(dwarf->other_elf);
	free(dwarf);
}

/* Takes the handles over. `*problem`: why there is nothing. */
static struct plimp_dwarf *dwarf_new(const struct plimp_dwarf_library *library,
				     Elf *elf, Elf *other, int *problem)
{
	struct plimp_dwarf *dwarf = calloc(1, sizeof *dwarf);

	*problem = PLIM_ENOMEM;
	if (dwarf == NULL)
		return NULL;
	dwarf->library = library;
	dwarf->elf = elf;
	dwarf->other_elf = other;
	dwarf->dwarf = dwarf_begin_checked(library, elf);
	dwarf->other = dwarf_begin_checked(library, other);
	if (dwarf->dwarf != NULL && dwarf->other != NULL)
		library->dwarf_setalt(dwarf->dwarf, dwarf->other);
	*problem = dwarf->dwarf == NULL ? PLIM_ENAME : dwarf_scan(dwarf);
	if (*problem == PLIM_OK)
		return dwarf;
	plimp_dwarf_free(dwarf);
	return NULL;
}

struct plimp_dwarf *plimp_dwarf_image(const struct plimp_dwarf_library *library,
				      char *bytes, size_t size)
{
	int problem;

	return dwarf_new(library, library->elf_memory(bytes, size), NULL,
			 &problem);
}

/* --- the cell ------------------------------------------------------------ */

/* libdw's own says so and ends the program, by way of what the application
 * wants done at its end. */
__attribute__((noreturn)) static void dwarf_out_of_memory(void)
{
	abort();
}

static struct plimp_dwarf *
dwarf_of_files(const struct plimp_dwarf_library *library,
	       const struct plimp_cell_inside *inside, int *problem)
{
	Elf *other = NULL;
	Elf *elf;

	/* Not mapped: a file that is cut meanwhile gives an error, no signal;
	 * and only what is used is read. */
	elf = library->elf_begin(inside->files[0], ELF_C_READ, NULL);
	if (inside->files[1] >= 0)
		other = library->elf_begin(inside->files[1], ELF_C_READ, NULL);
	return dwarf_new(library, elf, other, problem);
}

/* What is said and was not sent yet. */
struct dwarf_speech {
	const struct plimp_cell_inside *inside;
	struct plimp_line *frames;
	uint8_t *bytes;
	size_t size;
};

static int dwarf_send(struct dwarf_speech *speech)
{
	int is_heard =
	    plimp_system_cell_tell(speech->inside, speech->bytes, speech->size);

	speech->size = 0;
	return is_heard;
}

/* One answer: 0 where the keeper has gone. What takes long is not begun with
 * answers in hand: they are known, and may be the last ones. */
static int dwarf_answer(struct plimp_dwarf *dwarf, int problem,
			uint64_t address, struct dwarf_speech *speech)
{
	struct plimp_lines_head head = {0, problem, 0, 0};
	uint8_t *at;
	size_t count = 0;

	if (dwarf != NULL && !plimp_dwarf_is_ready(dwarf, address) &&
	    !dwarf_send(speech))
		return 0;
	at = speech->bytes + speech->size;
	if (dwarf != NULL)
		head.code = plimp_dwarf_find(dwarf, address, speech->frames,
					     PLIMP_LINES_FRAMES, &count);
	head.count = (uint32_t)count;
	if (head.code == PLIM_OK)
		head.size = (uint32_t)plimp_lines_write(speech->frames, count,
							at + sizeof head,
							PLIMP_LINES_ANSWER);
	memcpy(at, &head, sizeof head);
	speech->size += sizeof head + head.size;
	return speech->size < DWARF_SAID || dwarf_send(speech);
}

/* Questions, as they come; all that were heard are answered before more are
 * waited for. */
static void dwarf_talk(struct plimp_dwarf *dwarf, int problem,
		       struct dwarf_speech *speech)
{
	uint64_t heard[DWARF_HEARD];
	size_t size;
	size_t i;

	for (;;) {
		size = plimp_system_cell_hear_some(speech->inside, heard,
						   sizeof heard);
		if (size == 0)
			return;
		if (size % sizeof heard[0] != 0) {
			size_t rest = sizeof heard[0] - size % sizeof heard[0];

			if (!plimp_system_cell_hear(
				speech->inside, (uint8_t *)heard + size, rest))
				return;
			size += rest;
		}
		for (i = 0; i < size / sizeof heard[0]; i++)
			if (!dwarf_answer(dwarf, problem, heard[i], speech))
				return;
		if (!dwarf_send(speech))
			return;
	}
}

void plimp_dwarf_serve(const struct plimp_cell_inside *inside, void *user)
{
	const struct plimp_dwarf_library *library = user;
	struct dwarf_speech speech = {.inside = inside};
	struct plimp_dwarf *dwarf;
	int problem = PLIM_ENOMEM;

	speech.frames = malloc(PLIMP_LINES_FRAMES * sizeof speech.frames[0]);
	speech.bytes = malloc(DWARF_SAID + sizeof(struct plimp_lines_head) +
			      PLIMP_LINES_ANSWER);
	if (speech.frames == NULL || speech.bytes == NULL)
		return;
	dwarf = dwarf_of_files(library, inside, &problem);
	if (dwarf != NULL)
		library->dwarf_new_oom_handler(dwarf->dwarf,
					       dwarf_out_of_memory);
	dwarf_talk(dwarf, problem, &speech);
}

#else

int plimp_dwarf_open(struct plimp_dwarf_library **library, plim_host *host,
		     plim_error *error)
{
	(void)library;
	(void)host;
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "load libdw", NULL,
			  "this build of the library reads no DWARF");
}

void plimp_dwarf_close(struct plimp_dwarf_library *library)
{
	(void)library;
}

void plimp_dwarf_serve(const struct plimp_cell_inside *inside, void *user)
{
	(void)inside;
	(void)user;
}

#endif
