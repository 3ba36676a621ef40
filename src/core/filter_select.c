/*
 * filter_select.c - selectors: is a process in this cgroup, unit, container,
 * does it belong to this user?
 *
 * A selector is a comparison that knows what it compares: paths by whole
 * components, units by the names that people give them, containers by the
 * first digits of their ids. A process that has no unit or container is in
 * none, so that what does not apply is false here and not unknown. A user is
 * a number, found when the filter is compiled.
 */
#include "core/filter_program.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Fewer digits of an id may be many containers'. */
#define FILTER_DIGITS 6

/* Names of users are shorter. */
#define FILTER_USER 256

uint8_t plimp_filter_selector(const char *word, int *field)
{
	static const struct {
		const char *word;
		int field;
		uint8_t kind;
	} rows[] = {
	    {"cgroup", PLIM_FIELD_CGROUP, PLIMP_FILTER_BELOW},
	    {"unit", PLIM_FIELD_UNIT, PLIMP_FILTER_UNIT},
	    {"container", PLIM_FIELD_CONTAINER, PLIMP_FILTER_CONTAINER},
	    {"user", PLIM_FIELD_UID, PLIMP_FILTER_NUMBER},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(word, rows[i].word) != 0)
			continue;
		*field = rows[i].field;
		return rows[i].kind;
	}
	return 0;
}

/* The text of a step, which is the last one in the pool. */
static char *select_text(plim_filter *filter,
			 const struct plimp_filter_step *step)
{
	assert(step->text_start + step->text_size == filter->pool_used);
	return filter->pool + step->text_start;
}

/* Outer and double slashes say nothing. */
static int select_settle_path(plim_filter *filter,
			      struct plimp_filter_step *step)
{
	char *path = select_text(filter, step);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < step->text_size; i++)
		if (path[i] != '/' || (kept > 0 && path[kept - 1] != '/'))
			path[kept++] = path[i];
	if (kept > 0 && path[kept - 1] == '/')
		kept--;
	step->text_size = kept;
	filter->pool_used = step->text_start + kept;
	return PLIM_OK;
}

static int select_has_type(const char *name, size_t size)
{
	static const char *const types[] = {
	    ".service", ".scope",     ".slice", ".socket", ".mount",  ".swap",
	    ".device",	".automount", ".timer", ".path",   ".target",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		size_t end = strlen(types[i]);

		if (size > end && memcmp(name + size - end, types[i], end) == 0)
			return 1;
	}
	return 0;
}

static int select_is_pattern(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\\')
			i++;
		else if (text[i] == '*' || text[i] == '?')
			return 1;
	}
	return 0;
}

/* As systemctl has it: a plain name without a type is that of a service. */
static int select_settle_unit(plim_filter *filter,
			      struct plimp_filter_step *step)
{
	static const char type[] = ".service";
	const size_t size = sizeof(type) - 1;
	char *name = select_text(filter, step);

	if (select_is_pattern(name, step->text_size) ||
	    select_has_type(name, step->text_size))
		return PLIM_OK;
	/* "unit:" and a byte at least stood in the source, of which the pool
	 * is twice as long. */
	assert(filter->pool_size - filter->pool_used >= size);
	memcpy(name + step->text_size, type, size);
	step->text_size += (uint32_t)size;
	filter->pool_used += size;
	return PLIM_OK;
}

static int select_is_hex(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!((text[i] >= '0' && text[i] <= '9') ||
		      (text[i] >= 'a' && text[i] <= 'f')))
			return 0;
	return size > 0;
}

static int select_settle_container(plim_filter *filter,
				   struct plimp_filter_step *step,
				   char advice[PLIMP_FILTER_ADVICE])
{
	const char *id = select_text(filter, step);

	if (step->text_size >= FILTER_DIGITS ||
	    !select_is_hex(id, step->text_size))
		return PLIM_OK;
	snprintf(advice, PLIMP_FILTER_ADVICE,
		 "expected %d digits of an id at least, or a whole name; a "
		 "name that looks like digits goes by container =",
		 FILTER_DIGITS);
	return PLIM_ESYNTAX;
}

/* Digits alone are a number, as chown(1) has it. */
static int select_user_number(const char *text, size_t size, uint64_t *uid)
{
	*uid = 0;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		if (*uid <= UINT32_MAX)
			*uid = *uid * 10 + (uint64_t)(text[i] - '0');
	}
	return size > 0;
}

static int select_user_name(const char *text, size_t size,
			    plimp_find_user_fn *find_user, uint64_t *uid,
			    char advice[PLIMP_FILTER_ADVICE], int *system)
{
	char name[FILTER_USER];
	uint32_t found = 0;
	int code = -1;

	if (size < sizeof(name) && memchr(text, '\0', size) == NULL) {
		memcpy(name, text, size);
		name[size] = '\0';
		code = find_user(name, &found);
	}
	*uid = found;
	if (code == 0)
		return PLIM_OK;
	if (code == -1) {
		snprintf(advice, PLIMP_FILTER_ADVICE,
			 "this machine has no user of this name; a number is "
			 "taken, too");
		return PLIM_ENAME;
	}
	snprintf(advice, PLIMP_FILTER_ADVICE,
		 "users cannot be looked up by name here; a number is taken");
	*system = code == INT_MAX ? 0 : code;
	return code == INT_MAX ? PLIM_EUNSUPPORTED : PLIM_ESYSTEM;
}

/* Becomes `uid = NUMBER`. */
static int select_settle_user(plim_filter *filter,
			      struct plimp_filter_step *step,
			      plimp_find_user_fn *find_user,
			      char advice[PLIMP_FILTER_ADVICE], int *system)
{
	const char *text = select_text(filter, step);
	int code = PLIM_OK;

	if (select_user_number(text, step->text_size, &step->whole)) {
		if (step->whole > UINT32_MAX) {
			snprintf(advice, PLIMP_FILTER_ADVICE,
				 "a user id is at most %u", UINT32_MAX);
			return PLIM_ESYNTAX;
		}
	} else {
		code = select_user_name(text, step->text_size, find_user,
					&step->whole, advice, system);
	}
	step->kind = PLIMP_FILTER_NUMBER;
	step->operator= PLIMP_FILTER_EQUAL;
	step->limit = (double)step->whole;
	filter->pool_used = step->text_start;
	step->text_size = 0;
	return code;
}

int plimp_filter_settle(plim_filter *filter, struct plimp_filter_step *step,
			plimp_find_user_fn *find_user,
			char advice[PLIMP_FILTER_ADVICE], int *system)
{
	if (step->text_size == 0) {
		snprintf(advice, PLIMP_FILTER_ADVICE,
			 "expected something behind the colon");
		return PLIM_ESYNTAX;
	}
	switch (step->kind) {
	case PLIMP_FILTER_BELOW:
		return select_settle_path(filter, step);
	case PLIMP_FILTER_UNIT:
		return select_settle_unit(filter, step);
	case PLIMP_FILTER_CONTAINER:
		return select_settle_container(filter, step, advice);
	default:
		assert(step->kind == PLIMP_FILTER_NUMBER);
		return select_settle_user(filter, step, find_user, advice,
					  system);
	}
}

/* What may stand behind the components of a path: nothing, more of them, or
 * the kernel's mark of a group that was removed. */
static int select_ends(plim_bytes rest)
{
	static const char deleted[] = " (deleted)";

	return rest.size == 0 || rest.data[0] == '/' ||
	       (rest.size == sizeof(deleted) - 1 &&
		memcmp(rest.data, deleted, sizeof(deleted) - 1) == 0);
}

static int select_is_below(plim_bytes path, plim_bytes group)
{
	plim_bytes rest;

	if (group.size == 0)
		return 1;
	if (path.size > 0 && path.data[0] == '/') {
		path.data++;
		path.size--;
	}
	if (path.size < group.size ||
	    memcmp(path.data, group.data, group.size) != 0)
		return 0;
	rest.data = path.data + group.size;
	rest.size = path.size - group.size;
	return select_ends(rest);
}

static int select_is_container(plim_bytes id, plim_bytes wanted)
{
	if (id.size < wanted.size ||
	    memcmp(id.data, wanted.data, wanted.size) != 0)
		return 0;
	return id.size == wanted.size ||
	       (wanted.size >= FILTER_DIGITS &&
		select_is_hex(wanted.data, wanted.size) && id.size == 64 &&
		select_is_hex(id.data, id.size));
}

int plimp_filter_select(const plim_filter *filter,
			const struct plimp_filter_step *step,
			const plim_process *process)
{
	plim_text text = plim_process_text(process, step->field);
	plim_bytes wanted = {filter->pool + step->text_start, step->text_size};
	int in;

	if (text.state == PLIM_STATE_NOT_APPLICABLE)
		return PLIM_FALSE;
	if (text.state != PLIM_STATE_KNOWN)
		return PLIM_UNKNOWN;
	if (step->kind == PLIMP_FILTER_BELOW)
		in = select_is_below(text.bytes, wanted);
	else if (step->kind == PLIMP_FILTER_UNIT)
		in = plimp_filter_glob(wanted, text.bytes);
	else
		in = select_is_container(text.bytes, wanted);
	return in ? PLIM_TRUE : PLIM_FALSE;
}
