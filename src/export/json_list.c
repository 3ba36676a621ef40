/*
 * json_list.c - the members of an object that come from the rows of a table:
 * each figure a number or null, and behind them the side objects that say
 * why there is none, where it is from and how it stands to the truth.
 */
#include "export/json_writer.h"

#include <assert.h>

void plimp_json_list_add(struct plimp_json_list *list, const char *key,
			 plim_count count)
{
	assert(list->count < PLIMP_JSON_LIST_ROOM);
	list->keys[list->count] = key;
	list->counts[list->count] = count;
	list->count++;
}

static void json_list_side(plim_json *json, const struct plimp_json_list *list,
			   enum plimp_json_side side)
{
	plim_json_object(json, plimp_json_side_names[side]);
	for (size_t i = 0; i < list->count; i++)
		plimp_json_side_entry(json, side, list->keys[i],
				      plimp_json_note_count(list->counts[i]));
	plim_json_end(json);
}

void plimp_json_list_write(plim_json *json, const struct plimp_json_list *list,
			   int with_method)
{
	for (size_t i = 0; i < list->count; i++)
		plimp_json_count(json, list->keys[i], list->counts[i]);
	json_list_side(json, list, PLIMP_JSON_UNAVAILABLE);
	if (with_method)
		json_list_side(json, list, PLIMP_JSON_METHOD);
	json_list_side(json, list, PLIMP_JSON_BOUND);
}
