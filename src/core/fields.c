/*
 * fields.c - the tables of fields.h as arrays, and sets of fields.
 *
 * The arrays are indexed by the number of the row, which works because rows
 * are only ever appended; the assertions below hold the lists to it. Nothing
 * here knows a single field except the ready sets.
 */
#include <plimsoll/fields.h>

#include "core/fail.h"

#include <assert.h>
#include <string.h>

#define FIELDS_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Row 0 is empty: no field has the number 0. */
static const plim_field fields_rows[] = {
#define PLIM_X(symbol, number, json, kind_, unit_, since_, sentence, linux_, \
	       macos_, windows_)                                             \
	[number] = {.id = (number),                                          \
		    .kind = PLIM_KIND_##kind_,                               \
		    .unit = PLIM_UNIT_##unit_,                               \
		    .name = json,                                            \
		    .since = since_,                                         \
		    .text = sentence,                                        \
		    .linux_source = linux_,                                  \
		    .macos_source = macos_,                                  \
		    .windows_source = windows_},
    PLIM_FIELD_LIST(PLIM_X)
#undef PLIM_X
};

static_assert(FIELDS_LENGTH(fields_rows) == PLIM_FIELD_LAST + 1,
	      "PLIM_FIELD_LAST is the number of the last row");
static_assert(PLIM_FIELD_LAST < PLIM_FIELD_LIMIT, "a set holds every field");

static const char *const fields_names[] = {
#define PLIM_X(symbol, number, json, kind_, unit_, since_, sentence, linux_, \
	       macos_, windows_)                                             \
	json,
    PLIM_FIELD_LIST(PLIM_X)
#undef PLIM_X
	NULL,
};

static_assert(FIELDS_LENGTH(fields_names) == FIELDS_LENGTH(fields_rows),
	      "numbers leave no gap");

static const char *const fields_method_words[] = {
#define PLIM_X(symbol, number, word, sentence) [number] = word,
    PLIM_METHOD_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const fields_method_texts[] = {
#define PLIM_X(symbol, number, word, sentence) [number] = sentence,
    PLIM_METHOD_LIST(PLIM_X)
#undef PLIM_X
};

struct fields_reason {
	int state;
	const char *word;
	const char *text;
};

static const struct fields_reason fields_reasons[] = {
#define PLIM_X(symbol, number, state_, word_, sentence) \
	[number] = {PLIM_STATE_##state_, word_, sentence},
    PLIM_REASON_LIST(PLIM_X)
#undef PLIM_X
};

const plim_field *plim_field_get(int id)
{
	if (id < 1 || id > PLIM_FIELD_LAST)
		return NULL;
	assert(fields_rows[id].id == id);
	return &fields_rows[id];
}

const plim_field *plim_field_find(plim_bytes name)
{
	for (int id = 1; id <= PLIM_FIELD_LAST; id++) {
		const char *word = fields_rows[id].name;

		if (strlen(word) == name.size &&
		    memcmp(word, name.data, name.size) == 0)
			return &fields_rows[id];
	}
	return NULL;
}

size_t plim_field_count(void)
{
	return PLIM_FIELD_LAST;
}

const plim_field *plim_field_at(size_t index)
{
	return index < PLIM_FIELD_LAST ? &fields_rows[index + 1] : NULL;
}

static const char *fields_word_at(const char *const *words, size_t count,
				  int number)
{
	return number >= 0 && (size_t)number < count ? words[number] : NULL;
}

const char *plim_method_word(int method)
{
	return fields_word_at(fields_method_words,
			      FIELDS_LENGTH(fields_method_words), method);
}

const char *plim_method_text(int method)
{
	return fields_word_at(fields_method_texts,
			      FIELDS_LENGTH(fields_method_texts), method);
}

static const struct fields_reason *fields_reason_row(int reason)
{
	if (reason < 0 || (size_t)reason >= FIELDS_LENGTH(fields_reasons))
		return NULL;
	return &fields_reasons[reason];
}

const char *plim_reason_word(int reason)
{
	const struct fields_reason *row = fields_reason_row(reason);

	return row != NULL ? row->word : NULL;
}

const char *plim_reason_text(int reason)
{
	const struct fields_reason *row = fields_reason_row(reason);

	return row != NULL ? row->text : NULL;
}

int plim_reason_state(int reason)
{
	const struct fields_reason *row = fields_reason_row(reason);

	return row != NULL ? row->state : PLIM_STATE_UNREAD;
}

/* Sets hold numbers, not rows: one made by a newer program keeps the fields
 * that this library does not know, and answers UNSUPPORTED for them. */
static int fields_is_number(int id)
{
	return id >= 1 && id < PLIM_FIELD_LIMIT;
}

static uint64_t fields_bit(int id)
{
	return UINT64_C(1) << (id % 64);
}

void plim_field_set_add(plim_field_set *set, int id)
{
	if (fields_is_number(id))
		set->bits[id / 64] |= fields_bit(id);
}

void plim_field_set_remove(plim_field_set *set, int id)
{
	if (fields_is_number(id))
		set->bits[id / 64] &= ~fields_bit(id);
}

int plim_field_set_has(const plim_field_set *set, int id)
{
	return fields_is_number(id) &&
	       (set->bits[id / 64] & fields_bit(id)) != 0;
}

/* What stat and statm hold. */
static const uint8_t fields_light[] = {
    PLIM_FIELD_PID,	     PLIM_FIELD_PPID,	       PLIM_FIELD_NAME,
    PLIM_FIELD_STATE,	     PLIM_FIELD_IDENTITY,      PLIM_FIELD_IDENTITY_RUNG,
    PLIM_FIELD_START_TICKS,  PLIM_FIELD_START_UNIX_MS, PLIM_FIELD_CPU,
    PLIM_FIELD_CPU_USER,     PLIM_FIELD_CPU_SYSTEM,    PLIM_FIELD_CPU_CHILDREN,
    PLIM_FIELD_RESIDENT,     PLIM_FIELD_ANONYMOUS,     PLIM_FIELD_THREADS,
    PLIM_FIELD_FAULTS_MINOR, PLIM_FIELD_FAULTS_MAJOR,  PLIM_FIELD_KERNEL_THREAD,
};

/* And status and io. Not here: what a look at every process never gets
 * (commit, blocks), and what needs files of its own (descriptors, disk
 * operations). */
static const uint8_t fields_full[] = {
    PLIM_FIELD_UID,	   PLIM_FIELD_PRIVATE,	      PLIM_FIELD_FILE,
    PLIM_FIELD_SHMEM,	   PLIM_FIELD_SWAP,	      PLIM_FIELD_PEAK_RESIDENT,
    PLIM_FIELD_WAKEUPS,	   PLIM_FIELD_INVOLUNTARY,    PLIM_FIELD_DISK_READ,
    PLIM_FIELD_DISK_WRITE, PLIM_FIELD_DISK_CANCELLED, PLIM_FIELD_IO_CALLS,
};

static void fields_add_all(plim_field_set *set, const uint8_t *ids,
			   size_t count)
{
	for (size_t i = 0; i < count; i++)
		plim_field_set_add(set, ids[i]);
}

plim_field_set plim_field_set_preset(int preset)
{
	plim_field_set set = {{0}};

	if (preset == PLIM_FIELDS_LIGHT || preset == PLIM_FIELDS_FULL)
		fields_add_all(&set, fields_light, FIELDS_LENGTH(fields_light));
	if (preset == PLIM_FIELDS_FULL)
		fields_add_all(&set, fields_full, FIELDS_LENGTH(fields_full));
	for (int id = 1; preset == PLIM_FIELDS_ALL && id <= PLIM_FIELD_LAST;
	     id++)
		plim_field_set_add(&set, id);
	return set;
}

/* Longer than any name, so that a word cut to it is near to none. */
#define FIELDS_WORD_SIZE 64

static int fields_fail_name(plim_error *error, const char *word, size_t size,
			    size_t position)
{
	char copy[FIELDS_WORD_SIZE];
	const char *nearest;

	if (size >= sizeof(copy))
		size = sizeof(copy) - 1;
	memcpy(copy, word, size);
	copy[size] = '\0';
	nearest = plim_nearest_name(copy, fields_names);
	if (size == 0)
		return plimp_fail_at(error, PLIM_ENAME, "fields", copy,
				     position, "a field name was expected");
	if (nearest == NULL)
		return plimp_fail_at(error, PLIM_ENAME, "fields", copy,
				     position, NULL);
	return plimp_fail_at(error, PLIM_ENAME, "fields", copy, position,
			     "did you mean %s?", nearest);
}

int plim_field_set_parse(plim_field_set *set, const char *list,
			 plim_error *error)
{
	plim_field_set added;
	const char *word = list;

	assert(set != NULL && list != NULL);
	if (set == NULL || list == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "fields", NULL, NULL);
	added = *set;
	for (;;) {
		size_t size = strcspn(word, ",");
		const plim_field *field =
		    plim_field_find((plim_bytes){word, size});

		if (field == NULL)
			return fields_fail_name(error, word, size,
						(size_t)(word - list));
		plim_field_set_add(&added, field->id);
		if (word[size] == '\0')
			break;
		word += size + 1;
	}
	*set = added;
	return PLIM_OK;
}
