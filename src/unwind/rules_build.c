/*
 * rules_build.c - the rules of a module out of its call frame information.
 *
 * First every function of every section is listed by its address, then the
 * list is sorted, then each one's program is run into the table (rules_make.c)
 * in that order. Where functions overlap, which only a hostile or broken file
 * has, the one that begins later holds from where it begins, as a search by
 * address would find it; of two that begin together .eh_frame's comes first.
 * .debug_frame adds what .eh_frame does not cover.
 */
#include "unwind/table.h"

#include "core/fail.h"
#include "core/memory.h"
#include "unwind/sections.h"

#include <assert.h>
#include <string.h>

enum { BUILD_SECTIONS = 3, BUILD_SEGMENTS = 16, BUILD_CIES = 16 };

struct build_span {
	uint64_t start;
	uint64_t end;
};

struct build_cie {
	size_t offset; /* + 1; 0: free */
	size_t section;
	int is_bad;
	struct plimp_cfi_cie cie;
};

struct build {
	const plim_allocator *allocator;
	struct plimp_section sections[BUILD_SECTIONS];
	size_t section_count;
	/* Where code is: functions elsewhere are none. */
	struct build_span code[BUILD_SEGMENTS];
	size_t code_count;
	uint64_t base;
	struct plimp_function *functions;
	size_t count, room;
	struct build_cie cies[BUILD_CIES];
	uint64_t rejected;
	uint64_t entries;
	uint64_t text_bytes;
	struct plimp_making making;
	struct plimp_cfi_state state;
};

/* --- where code is -------------------------------------------------------- */

static int build_find_code(struct build *build, const struct plimp_elf *elf)
{
	struct plimp_elf_segment load;
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;

	for (uint32_t i = 0; build->code_count < BUILD_SEGMENTS; i++) {
		int failed = plimp_elf_segment(elf, i, &load);

		if (failed == PLIM_ENAME)
			break;
		if (failed)
			return failed;
		if (load.type != PLIMP_ELF_LOAD || !(load.flags & 1) ||
		    !load.memory_size ||
		    load.memory_size > UINT64_MAX - load.address)
			continue;
		build->code[build->code_count++] = (struct build_span){
		    load.address, load.address + load.memory_size};
		if (load.address < low)
			low = load.address;
		if (load.address + load.memory_size > high)
			high = load.address + load.memory_size;
	}
	if (!build->code_count)
		return PLIM_ENAME;
	if (high - low > UINT32_MAX)
		return PLIM_ELIMIT;
	build->base = low;
	return PLIM_OK;
}

static int build_is_code(const struct build *build, uint64_t start,
			 uint64_t end)
{
	for (size_t i = 0; i < build->code_count; i++)
		if (start >= build->code[i].start && end <= build->code[i].end)
			return 1;
	return 0;
}

/* --- listing functions ---------------------------------------------------- */

/* A CIE, read once for the many FDEs that name it one after the other. */
static const struct plimp_cfi_cie *build_cie(struct build *build,
					     size_t section, size_t offset)
{
	const struct plimp_cfi *cfi = &build->sections[section].cfi;
	struct build_cie *kept = &build->cies[offset / 8 % BUILD_CIES];

	if (kept->offset != offset + 1 || kept->section != section) {
		kept->offset = offset + 1;
		kept->section = section;
		kept->is_bad = plimp_cfi_cie(cfi, offset, &kept->cie) != 0;
	}
	return kept->is_bad ? NULL : &kept->cie;
}

static int build_add(struct build *build, size_t section,
		     const struct plimp_cfi_entry *entry)
{
	const struct plimp_cfi_cie *cie = build_cie(build, section, entry->cie);
	struct plimp_cfi_fde fde;

	if (!cie ||
	    plimp_cfi_fde(&build->sections[section].cfi, entry, cie, &fde) ||
	    !build_is_code(build, fde.start, fde.end)) {
		build->rejected++;
		return PLIM_OK;
	}
	if (build->count == build->room) {
		void *array = build->functions;
		int failed = plimp_reserve(build->allocator, &array,
					   &build->room, build->count + 1, 1024,
					   sizeof(*build->functions));

		build->functions = array;
		if (failed)
			return failed;
	}
	build->functions[build->count++] = (struct plimp_function){
	    .start = (uint32_t)(fde.start - build->base),
	    .end = (uint32_t)(fde.end - build->base),
	    .program = (uint32_t)fde.program,
	    .program_end = (uint32_t)fde.program_end,
	    .cie = (uint32_t)entry->cie,
	    .source = (uint32_t)section,
	};
	return PLIM_OK;
}

static int build_walk(struct build *build, size_t section)
{
	const struct plimp_cfi *cfi = &build->sections[section].cfi;
	size_t offset = 0;
	int failed = 0;

	while (!failed) {
		struct plimp_cfi_entry entry = plimp_cfi_entry(cfi, offset);

		if (entry.kind == PLIMP_CFI_END ||
		    (entry.kind == PLIMP_CFI_EMPTY && cfi->is_cut_off))
			break;
		if (entry.kind == PLIMP_CFI_BAD)
			build->rejected++;
		if (entry.kind == PLIMP_CFI_FDE)
			failed = build_add(build, section, &entry);
		offset = entry.next;
	}
	return failed;
}

/* The FDEs that the header's table names: pairs of the function's address and
 * the entry's, from the header on. What the entry says counts. */
static int build_by_header(struct build *build, size_t section)
{
	const struct plimp_section *from = &build->sections[section];
	int failed = 0;

	for (uint64_t i = 0; !failed && i < from->header_count; i++) {
		struct plimp_cursor cursor = {from->header + i * 8 + 4,
					      from->header + i * 8 + 8, 0};
		struct plimp_cfi_bases bases = {0, from->header_address, 1};
		uint64_t address =
		    plimp_cfi_pointer(&cursor, from->header_encoding, &bases);
		uint64_t offset = address - from->cfi.address;

		if (offset >= from->cfi.size) {
			build->rejected++;
			continue;
		}
		struct plimp_cfi_entry entry =
		    plimp_cfi_entry(&from->cfi, (size_t)offset);

		if (entry.kind == PLIMP_CFI_FDE)
			failed = build_add(build, section, &entry);
		else
			build->rejected++;
	}
	return failed;
}

/* --- sorting -------------------------------------------------------------- */

/* By start, stably, a byte at a time; bytes that are all alike are passed
 * over. Sections are nearly in order already, and then nothing is done. */
static int build_sort(struct build *build)
{
	size_t sorted = 1;
	size_t counts[256];

	while (sorted < build->count && build->functions[sorted - 1].start <=
					    build->functions[sorted].start)
		sorted++;
	if (sorted >= build->count)
		return PLIM_OK;
	struct plimp_function *from = build->functions;
	struct plimp_function *to =
	    plimp_resize(build->allocator, NULL, 0, build->room, sizeof(*to));

	if (!to)
		return PLIM_ENOMEM;
	for (unsigned shift = 0; shift < 32; shift += 8) {
		size_t sum = 0;

		memset(counts, 0, sizeof(counts));
		for (size_t i = 0; i < build->count; i++)
			counts[from[i].start >> shift & 0xff]++;
		if (counts[from[0].start >> shift & 0xff] == build->count)
			continue;
		for (size_t i = 0; i < 256; i++) {
			size_t count = counts[i];

			counts[i] = sum;
			sum += count;
		}
		for (size_t i = 0; i < build->count; i++)
			to[counts[from[i].start >> shift & 0xff]++] = from[i];
		struct plimp_function *swap = from;

		from = to;
		to = swap;
	}
	build->functions = from;
	plimp_release(build->allocator, to, build->room, sizeof(*to));
	return PLIM_OK;
}

/* --- running programs ----------------------------------------------------- */

/* The CIE's program is run again only when it is another one's. */
static int build_begin(struct build *build,
		       const struct plimp_function *function,
		       const struct plimp_cfi *cfi,
		       const struct plimp_cfi_cie *cie, size_t *ready)
{
	size_t at = cie->offset * BUILD_SECTIONS + function->source + 1;

	if (*ready == at)
		return 0;
	*ready = 0;
	if (plimp_cfi_begin(cfi, cie, &build->state))
		return -1;
	*ready = at;
	return 0;
}

/* A program that is malformed leaves no row at all: what it said before may
 * be as wrong. */
static int build_run(struct build *build, const struct plimp_function *function,
		     uint32_t end, size_t *ready)
{
	struct plimp_rules *rules = build->making.rules;
	const struct plimp_cfi *cfi = &build->sections[function->source].cfi;
	const struct plimp_cfi_cie *cie =
	    build_cie(build, function->source, function->cie);
	const struct plimp_cfi_fde fde = {.cie = function->cie,
					  .start =
					      build->base + function->start,
					  .end = build->base + function->end,
					  .program = function->program,
					  .program_end = function->program_end};
	size_t rows = rules->row_count;

	assert(cie); /* it was read when the function was listed */
	if (build_begin(build, function, cfi, cie, ready)) {
		build->rejected++;
		return PLIM_OK;
	}
	plimp_making_function(&build->making, cfi, cie, end);
	int failed = plimp_cfi_run(cfi, cie, &fde, &build->state,
				   plimp_making_row, &build->making);

	if (failed == PLIM_ENOMEM)
		return failed;
	if (failed) {
		/* A row at the very place may have been replaced; that was
		 * a gap, and is one again. */
		if (rules->row_count > rows)
			rules->row_count = rows;
		build->rejected++;
		return plimp_making_gap(&build->making, function->start);
	}
	build->entries++;
	build->text_bytes += end - function->start;
	return plimp_making_gap(&build->making, end);
}

/* 1 if a function of .debug_frame begins inside of one of .eh_frame. */
static int build_is_covered(const struct build *build,
			    const struct plimp_function *function,
			    uint32_t eh_end)
{
	return build->sections[function->source].cfi.is_debug &&
	       function->start < eh_end;
}

static int build_rows(struct build *build)
{
	uint32_t eh_end = 0;
	uint32_t end = 0;
	size_t ready = 0;
	int failed = PLIM_OK;

	for (size_t i = 0; !failed && i < build->count; i++) {
		const struct plimp_function *function = &build->functions[i];
		size_t next = i + 1;

		if (build_is_covered(build, function, eh_end) ||
		    (i && function->start == function[-1].start)) {
			build->rejected++;
			continue;
		}
		while (next < build->count &&
		       (build->functions[next].start == function->start ||
			(build_is_covered(build, &build->functions[next],
					  function->end) &&
			 !build->sections[function->source].cfi.is_debug)))
			next++;
		end = function->end;
		if (next < build->count && build->functions[next].start < end)
			end = build->functions[next].start;
		if (!build->sections[function->source].cfi.is_debug &&
		    function->end > eh_end)
			eh_end = function->end;
		failed = build_run(build, function, end, &ready);
	}
	return failed;
}

/* --- the whole ------------------------------------------------------------ */

static int build_sections(struct build *build, const struct plimp_elf *elf,
			  const struct plimp_elf *debug, int *unsupported)
{
	const struct plimp_elf *const files[2] = {elf, debug};
	int failed =
	    plimp_section_eh_frame(elf, build->allocator, &build->sections[0]);

	if (!failed)
		build->section_count++;
	else if (failed != PLIM_ENAME && failed != PLIM_EMALFORMED)
		return failed;
	for (int i = 0; i < 2 && files[i]; i++) {
		int missing = plimp_section_debug_frame(
		    files[i], build->allocator,
		    &build->sections[build->section_count]);

		if (!missing) {
			build->section_count++;
			return PLIM_OK;
		}
		if (missing == PLIM_EUNSUPPORTED)
			*unsupported = 1;
		else if (missing == PLIM_ENOMEM ||
			 (files[i] == elf && missing != PLIM_ENAME &&
			  missing != PLIM_EMALFORMED))
			return missing;
	}
	if (build->section_count)
		return PLIM_OK;
	return *unsupported ? PLIM_EUNSUPPORTED : failed;
}

static int build_all(struct build *build, const struct plimp_elf *elf,
		     const struct plimp_elf *debug, struct plimp_rules **rules)
{
	int unsupported = 0;
	int failed = build_find_code(build, elf);

	if (!failed)
		failed = build_sections(build, elf, debug, &unsupported);
	for (size_t i = 0; !failed && i < build->section_count; i++)
		failed = build->sections[i].header_count
			     ? build_by_header(build, i)
			     : build_walk(build, i);
	if (!failed && !build->count)
		failed = PLIM_ENAME;
	if (!failed)
		failed = build_sort(build);
	if (!failed)
		failed = plimp_making_begin(&build->making, elf->machine,
					    build->base, build->allocator);
	if (!failed)
		failed = build_rows(build);
	if (!failed && !build->entries)
		failed = PLIM_ENAME;
	if (failed)
		return failed;
	/* The last row is the gap behind the last function. */
	uint32_t last =
	    build->making.rules->at[build->making.rules->row_count - 1];
	struct plimp_rules_facts *facts = &build->making.rules->facts;

	build->making.rules->entry = elf->entry;
	facts->entries = build->entries;
	facts->rejected = build->rejected;
	facts->text_bytes = build->text_bytes;
	facts->unsupported = unsupported;
	facts->has_debug_frame =
	    build->sections[build->section_count - 1].cfi.is_debug;
	return plimp_making_end(&build->making, (uint64_t)last + 1, rules);
}

int plimp_rules_build(struct plimp_rules **rules, const struct plimp_elf *elf,
		      const struct plimp_elf *debug,
		      const plim_allocator *allocator, plim_error *error)
{
	int failed;

	if (elf->machine != PLIMP_MACHINE_X86 &&
	    elf->machine != PLIMP_MACHINE_ARM)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "unwinding",
				  NULL, "machine %u", (unsigned)elf->machine);
	struct build *build = plimp_allocate(allocator, 1, sizeof(*build));

	if (!build)
		return plimp_fail(error, PLIM_ENOMEM, 0, "unwinding", NULL,
				  NULL);
	build->allocator = allocator;
	failed = build_all(build, elf, debug, rules);
	plimp_making_drop(&build->making);
	for (size_t i = 0; i < BUILD_SECTIONS; i++)
		plimp_section_release(&build->sections[i], allocator);
	plimp_release(allocator, build->functions, build->room,
		      sizeof(*build->functions));
	plimp_release(allocator, build, 1, sizeof(*build));
	return failed ? plimp_fail(error, failed, 0, "unwinding", NULL, NULL)
		      : PLIM_OK;
}
