/*
 * fuzz_fields.c - any bytes as a list of fields: a list that is taken adds
 * exactly the fields it names; one that is not leaves the set alone and says
 * where; the names of a set, written as a list, give the set back.
 */
#include <plimsoll/fields.h>

#include "promise.h"

#include <stdlib.h>
#include <string.h>

/* The names of the set, with commas; free it. */
static char *write_list(const plim_field_set *set)
{
	size_t used = 0;
	char *list = malloc(plim_field_count() * 64 + 1);

	if (!list)
		abort();
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);
		if (!plim_field_set_has(set, field->id))
			continue;
		PROMISE(strlen(field->name) < 63);
		if (used)
			list[used++] = ',';
		memcpy(list + used, field->name, strlen(field->name));
		used += strlen(field->name);
	}
	list[used] = '\0';
	return list;
}

/* Every word of the list is a field of the set. */
static void check_words(const char *list, const plim_field_set *set)
{
	const char *word = list;

	for (;;) {
		size_t size = strcspn(word, ",");
		const plim_field *field =
		    plim_field_find((plim_bytes){word, size});
		PROMISE(field && plim_field_set_has(set, field->id));
		PROMISE(plim_field_get(field->id) == field);
		if (!word[size])
			return;
		word += size + 1;
	}
}

static void check_taken(const char *list, const plim_field_set *set)
{
	plim_field_set again = {{0}}, removed = *set;
	char *names = write_list(set);

	check_words(list, set);
	PROMISE(plim_field_set_parse(&again, names, NULL) == PLIM_OK);
	PROMISE(!memcmp(&again, set, sizeof(again)));
	free(names);
	for (size_t i = 0; i < plim_field_count(); i++) {
		int id = plim_field_at(i)->id;
		plim_field_set_remove(&removed, id);
		PROMISE(!plim_field_set_has(&removed, id));
	}
	for (size_t i = 0; i < sizeof(set->bits) / sizeof(set->bits[0]); i++)
		PROMISE(removed.bits[i] == 0);
}

static void try_list(const char *list, int preset)
{
	plim_field_set set = {{0}}, before;
	plim_error error, untouched;

	if (preset)
		set = plim_field_set_preset(preset);
	before = set;
	memset(&untouched, 0xa5, sizeof(untouched));
	memcpy(&error, &untouched, sizeof(error));
	int code = plim_field_set_parse(&set, list, &error);
	if (code != PLIM_OK) {
		PROMISE(code == PLIM_ENAME && error.code == code);
		PROMISE(error.position >= 0 &&
			(size_t)error.position <= strlen(list));
		PROMISE(!memcmp(&set, &before, sizeof(set)));
		return;
	}
	PROMISE(!memcmp(&error, &untouched, sizeof(error)));
	for (size_t i = 0; i < sizeof(set.bits) / sizeof(set.bits[0]); i++)
		PROMISE((set.bits[i] & before.bits[i]) == before.bits[i]);
	check_taken(list, &set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *list = promise_string(data, size);

	/* 0, and the ready sets. */
	try_list(list, (int)(size % 4));
	/* Numbers that are no field are in no set. */
	if (size) {
		plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
		int id = (int8_t)data[0];
		PROMISE(!plim_field_set_has(&all, id) ||
			plim_field_get(id) != NULL);
		const plim_field *field = plim_field_at(data[0]);
		PROMISE((field != NULL) == (data[0] < plim_field_count()));
	}
	/* Each table of words has one for every number that it has a sentence
	 * for. */
	for (int number = -1; size == 1 && number < 64; number++) {
		PROMISE(!plim_method_word(number) == !plim_method_text(number));
		PROMISE(!plim_reason_word(number) == !plim_reason_text(number));
		(void)plim_reason_state(number);
	}
	free(list);
	return 0;
}
