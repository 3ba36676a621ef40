/*
 * lines.c - the keeper of a cell that reads DWARF: it asks, waits for so long,
 * judges what it is told, and starts a new cell after one has died.
 *
 * Many questions are sent ahead of their answers, so that neither side waits
 * for the other at each one, and what comes is taken as it comes, many answers
 * at once. A cell that died of a question has told something about the file.
 * Where several were unanswered it is not known of which: they are asked again,
 * one by one from then on. The one is answered with that, the next ones by a
 * new cell, since a file is rarely broken everywhere; but only so often, and
 * one that took too much time is not tried again, since it would take that time
 * again.
 */
#include "unwind/lines.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/cell.h"
#include "unwind/lines_wire.h"
#include "unwind/with_dwarf.h"

#include <assert.h>
#include <string.h>

struct plimp_lines {
	plim_host *host;
	const struct plimp_file *files[PLIMP_CELL_FILES];
	struct plimp_dwarf_library *library;
	struct plimp_cell *cell; /* NULL: none runs */
	int deaths;
	int given_up; /* what every question is answered with; PLIM_OK */
	size_t ahead; /* questions that may be unanswered */
	uint8_t *answer;
	size_t answer_capacity;
	size_t begin; /* in it, of what came and was not looked at yet */
	size_t end;
};

/* Questions that belong together. */
struct lines_run {
	const uint64_t *addresses;
	size_t count;
	size_t asked; /* the cell that runs was sent those before this one */
};

/* A socket takes some hundred small messages: they are sent by half of this. */
#define LINES_AHEAD 256u
#define LINES_TAKE  65536u

int plimp_lines_open(struct plimp_lines **lines, plim_host *host,
		     const struct plimp_file *file,
		     const struct plimp_file *alternate, plim_error *error)
{
	struct plimp_lines *made;
	int result;

	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "read DWARF", NULL,
				  NULL);
	made->host = host;
	made->ahead = LINES_AHEAD;
	made->files[0] = file;
	made->files[1] = alternate;
	result = plimp_dwarf_open(&made->library, host, error);
	if (result != PLIM_OK) {
		plimp_release(&host->allocator, made, 1, sizeof *made);
		return result;
	}
	*lines = made;
	return PLIM_OK;
}

void plimp_lines_rest(struct plimp_lines *lines)
{
	plimp_system_cell_stop(lines->cell);
	lines->cell = NULL;
}

void plimp_lines_close(struct plimp_lines *lines)
{
	if (lines == NULL)
		return;
	plimp_lines_rest(lines);
	plimp_dwarf_close(lines->library);
	plimp_release(&lines->host->allocator, lines->answer,
		      lines->answer_capacity, 1);
	plimp_release(&lines->host->allocator, lines, 1, sizeof *lines);
}

static int lines_start(struct plimp_lines *lines, struct lines_run *run,
		       size_t index, plim_error *error)
{
	const struct plimp_cell_limits limits = {
	    .memory_bytes = PLIMP_LINES_MEMORY,
	    .cpu_seconds = PLIMP_LINES_CPU_SECONDS,
	};

	if (lines->cell != NULL)
		return PLIM_OK;
	run->asked = index;
	lines->begin = 0;
	lines->end = 0;
	return plimp_system_cell_start(
	    lines->host, plimp_dwarf_serve, lines->library, lines->files,
	    PLIMP_CELL_FILES, &limits, &lines->cell, error);
}

/* Sends questions, so many that the cell has some to go on with. */
static int lines_ask(struct plimp_lines *lines, struct lines_run *run,
		     size_t index, uint64_t deadline)
{
	size_t most = run->count - index;
	size_t first = run->asked;

	assert(index <= first && first <= run->count);
	if (first - index > lines->ahead / 2)
		return PLIM_OK;
	run->asked = index + (most < lines->ahead ? most : lines->ahead);
	return plimp_system_cell_give(
	    lines->cell, &run->addresses[first],
	    (run->asked - first) * sizeof run->addresses[0], deadline);
}

/* Takes what comes until there are so many bytes from `begin` on. */
static int lines_hold(struct plimp_lines *lines, size_t size, uint64_t deadline)
{
	size_t held = lines->end - lines->begin;
	size_t taken = 0;
	int result;

	if (held >= size)
		return PLIM_OK;
	if (lines->begin > 0 && held > 0)
		memmove(lines->answer, lines->answer + lines->begin, held);
	lines->begin = 0;
	lines->end = held;
	if (plimp_reserve(&lines->host->allocator, (void **)&lines->answer,
			  &lines->answer_capacity, size, LINES_TAKE,
			  1) != PLIM_OK)
		return PLIM_ENOMEM;
	result = plimp_system_cell_take_some(
	    lines->cell, lines->answer + held, size - held,
	    lines->answer_capacity - held, &taken, deadline);
	if (result == PLIM_OK)
		lines->end += taken;
	return result;
}

/* The answer to one question, as it comes: PLIM_OK, or what the socket failed
 * with. PLIM_EMALFORMED: it is not an answer. */
static int lines_exchange(struct plimp_lines *lines, struct lines_run *run,
			  size_t index, struct plimp_lines_head *head,
			  const uint8_t **bytes)
{
	uint64_t deadline = plimp_system_monotonic() + PLIMP_LINES_DEADLINE_NS;
	int result = lines_ask(lines, run, index, deadline);

	if (result == PLIM_OK)
		result = lines_hold(lines, sizeof *head, deadline);
	if (result != PLIM_OK)
		return result;
	memcpy(head, lines->answer + lines->begin, sizeof *head);
	if (head->size > PLIMP_LINES_ANSWER || head->code > 0)
		return PLIM_EMALFORMED;
	result = lines_hold(lines, sizeof *head + head->size, deadline);
	if (result != PLIM_OK)
		return result;
	*bytes = lines->answer + lines->begin + sizeof *head;
	lines->begin += sizeof *head + head->size;
	/* It said more than it was asked. */
	if (run->asked == index + 1 && lines->begin != lines->end)
		return PLIM_EMALFORMED;
	return PLIM_OK;
}

/* The cell did not answer as it should: what that says of the file. */
static int lines_bury(struct plimp_lines *lines, int problem)
{
	plimp_lines_rest(lines);
	if (problem == PLIM_ENOMEM)
		return PLIM_ENOMEM; /* ours, not the cell's */
	if (problem == PLIM_ETIMEOUT) {
		lines->given_up = PLIM_ELIMIT;
	} else if (++lines->deaths > PLIMP_LINES_DEATHS) {
		lines->given_up = PLIM_EMALFORMED;
	}
	return problem == PLIM_ETIMEOUT ? PLIM_ELIMIT : PLIM_EMALFORMED;
}

static int lines_told(int code, plim_error *error)
{
	return plimp_fail(error, code, 0, "read DWARF", NULL, NULL);
}

static int lines_one(struct plimp_lines *lines, struct lines_run *run,
		     size_t index, struct plimp_line *frames, size_t capacity,
		     size_t *count, plim_error *error)
{
	for (;;) {
		struct plimp_lines_head head = {0, PLIM_OK, 0, 0};
		const uint8_t *bytes = NULL;
		int result;

		if (lines->given_up != PLIM_OK)
			return lines_told(lines->given_up, error);
		result = lines_start(lines, run, index, error);
		if (result != PLIM_OK)
			return result;
		result = lines_exchange(lines, run, index, &head, &bytes);
		if (result == PLIM_OK && head.code == PLIM_OK)
			result = plimp_lines_read(bytes, head.size, head.count,
						  frames, capacity, count);
		if (result == PLIM_OK)
			return head.code == PLIM_OK
				   ? PLIM_OK
				   : lines_told(head.code, error);
		if (result == PLIM_ENOMEM || result == PLIM_ETIMEOUT ||
		    run->asked <= index + 1)
			return lines_told(lines_bury(lines, result), error);
		/* Again, and alone: then it is known what it dies of. */
		plimp_lines_rest(lines);
		lines->ahead = 1;
	}
}

int plimp_lines_find(struct plimp_lines *lines, uint64_t file_address,
		     struct plimp_line *frames, size_t capacity, size_t *count,
		     plim_error *error)
{
	struct lines_run run = {&file_address, 1, 0};

	assert(capacity > 0);
	return lines_one(lines, &run, 0, frames, capacity, count, error);
}

int plimp_lines_each(struct plimp_lines *lines, const uint64_t *file_addresses,
		     size_t count, struct plimp_line *frames, size_t capacity,
		     plimp_lines_fn *told, void *user)
{
	struct lines_run run = {file_addresses, count, 0};
	size_t i;

	assert(capacity > 0);
	for (i = 0; i < count; i++) {
		size_t found = 0;
		int result =
		    lines_one(lines, &run, i, frames, capacity, &found, NULL);

		if (result == PLIM_OK)
			result = told(user, i, PLIM_OK, frames, found);
		else if (result != PLIM_ENOMEM)
			result = told(user, i, result, NULL, 0);
		if (result != PLIM_OK) {
			/* It has not answered all yet. */
			plimp_lines_rest(lines);
			return result;
		}
	}
	return PLIM_OK;
}

int plimp_lines_alternate(const struct plimp_elf *elf, char *path, size_t size,
			  uint8_t id[PLIMP_ELF_ID], size_t *id_size)
{
	struct plimp_elf_section section;
	uint8_t bytes[4096 + PLIMP_ELF_ID];
	const uint8_t *end;
	size_t length;
	int result;

	result = plimp_elf_section_find(elf, ".gnu_debugaltlink", &section);
	if (result != PLIM_OK)
		return result;
	if (section.type == PLIMP_ELF_NO_BITS || section.size > sizeof bytes)
		return PLIM_EMALFORMED;
	result =
	    plimp_elf_bytes(elf, section.offset, bytes, (size_t)section.size);
	if (result != PLIM_OK)
		return result;
	end = memchr(bytes, 0, (size_t)section.size);
	if (end == NULL || end == bytes)
		return PLIM_EMALFORMED;
	length = (size_t)(end - bytes) + 1;
	if (length > size || section.size - length < 4 ||
	    section.size - length > PLIMP_ELF_ID)
		return PLIM_EMALFORMED;
	memcpy(path, bytes, length);
	*id_size = (size_t)section.size - length;
	memcpy(id, bytes + length, *id_size);
	return PLIM_OK;
}
