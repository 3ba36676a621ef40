/*
 * json_heap.c - allocators and the verdict as objects of the documented
 * schema. As of a process a figure is a number or null, and the side objects
 * `unavailable`, `method` and `bound` say the rest. An address is a text of
 * hexadecimal digits: many readers of JSON cut numbers at 2^53.
 */
#include "export/json_writer.h"

#include <plimsoll/heap.h>

#include <assert.h>
#include <string.h>

static void heap_address(plim_json *json, const char *key, uint64_t address)
{
	char text[2 + 16] = "0x";
	size_t size = 2;

	for (int shift = 60; shift >= 0; shift -= 4) {
		unsigned digit = (unsigned)(address >> shift) & 15;

		if (digit != 0 || size > 2 || shift == 0)
			text[size++] = "0123456789abcdef"[digit];
	}
	plim_json_text(json, key, (plim_bytes){text, size});
}

/* Text, or null where there is none. */
static void heap_text(plim_json *json, const char *key, const char *text)
{
	if (text == NULL || text[0] == '\0')
		plim_json_null(json, key);
	else
		plim_json_string(json, key, text);
}

static void heap_arenas(plim_json *json, const plim_heap *heap)
{
	const plim_arena *arena;

	plim_json_array(json, "arenas");
	for (size_t i = 0; (arena = plim_heap_arena(heap, i)) != NULL; i++) {
		struct plimp_json_list list = {.count = 0};
		const char *name;

		plim_json_object(json, NULL);
		heap_address(json, "address", arena->address);
		plim_json_boolean(json, "main", arena->is_main);
		plim_json_whole(json, "heaps", arena->heaps);
		plimp_json_list_add(&list, "threads", arena->threads);
		for (int k = 1; (name = plim_heap_figure_name(k)) != NULL;
		     k++) {
			plim_count figure = plim_heap_arena_figure(heap, i, k);

			/* What an arena has no part in. */
			if (figure.state != PLIM_STATE_UNREAD)
				plimp_json_list_add(&list, name, figure);
		}
		plimp_json_list_write(json, &list, 1);
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void heap_hostages(plim_json *json, const plim_heap *heap)
{
	const plim_hostage *hostage;

	plim_json_array(json, "hostages");
	for (size_t i = 0; (hostage = plim_heap_hostage(heap, i)) != NULL;
	     i++) {
		plim_json_object(json, NULL);
		heap_address(json, "address", hostage->address);
		plim_json_whole(json, "size_bytes", hostage->size);
		plim_json_whole(json, "kept_bytes", hostage->kept_bytes);
		plim_json_whole(json, "arena", hostage->arena);
		plim_json_end(json);
	}
	plim_json_end(json);
}

/* A check that compares no numbers has none. */
static void heap_check_number(plim_json *json, const char *key,
			      plim_count number)
{
	if (number.state == PLIM_STATE_KNOWN)
		plim_json_whole(json, key, number.value);
	else
		plim_json_null(json, key);
}

static void heap_checks(plim_json *json, const plim_heap *heap)
{
	const plim_heap_check *check;

	plim_json_array(json, "checks");
	for (size_t i = 0; (check = plim_heap_check_at(heap, i)) != NULL; i++) {
		plim_json_object(json, NULL);
		plim_json_string(json, "name", check->name);
		plim_json_string(json, "state",
				 plim_heap_check_word(check->state));
		heap_check_number(json, "expected", check->expected);
		heap_check_number(json, "found", check->found);
		heap_text(json, "text", check->text);
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void heap_evidence(plim_json *json, const plim_heap *heap)
{
	plim_json_array(json, "evidence");
	for (size_t i = 0; i < plim_heap_evidence_count(heap); i++)
		plim_json_string(json, NULL, plim_heap_evidence(heap, i));
	plim_json_end(json);
}

void plim_json_heap(plim_json *json, const char *key, const plim_heap *heap)
{
	struct plimp_json_list list = {.count = 0};
	plim_heap_facts facts;
	const char *name;

	assert(heap != NULL);
	facts = plim_heap_about(heap);
	plim_json_object(json, key);
	plim_json_string(json, "name", plim_heap_kind_word(facts.kind));
	heap_text(json, "version", facts.version);
	plim_json_string(json, "confidence",
			 plim_confidence_word(facts.confidence));
	plim_json_string(json, "depth", plim_heap_depth_word(facts.depth));
	plim_json_boolean(json, "static", facts.is_static);
	heap_text(json, "layout", facts.layout);
	heap_text(json, "standing", facts.standing);
	heap_text(json, "why", facts.why);
	for (int k = 1; (name = plim_heap_figure_name(k)) != NULL; k++)
		plimp_json_list_add(&list, name, plim_heap_figure(heap, k));
	plimp_json_list_write(json, &list, 1);
	heap_evidence(json, heap);
	heap_arenas(json, heap);
	heap_hostages(json, heap);
	heap_checks(json, heap);
	plim_json_end(json);
}

static int heap_line(const plim_retention_line *line, void *user)
{
	plim_json *json = user;

	plim_json_object(json, NULL);
	plim_json_string(json, "part", plim_retention_word(line->part));
	plimp_json_count(json, "bytes", line->bytes);
	plim_json_string(json, "text", line->text);
	plim_json_string(json, "remedy", line->remedy);
	plim_json_end(json);
	return 0;
}

static void heap_kinds(plim_json *json, const char *key, uint64_t kinds)
{
	plim_json_array(json, key);
	for (int kind = 1; plim_heap_kind_word(kind) != NULL; kind++)
		if ((kinds & (UINT64_C(1) << kind)) != 0)
			plim_json_string(json, NULL, plim_heap_kind_word(kind));
	plim_json_end(json);
}

void plim_json_retention(plim_json *json, const char *key,
			 const plim_retention *retention)
{
	struct plimp_json_key keys[PLIM_RETENTION_LIMIT];
	struct plimp_json_list list = {.count = 0};

	assert(retention != NULL);
	plim_json_object(json, key);
	plim_json_string(json, "word", plim_retention_word(retention->verdict));
	plim_json_string(json, "text", plim_retention_text(retention->verdict));
	for (int part = 1; part < PLIM_RETENTION_LIMIT; part++) {
		const char *word = plim_retention_word(part);

		if (word == NULL || part == PLIM_RETENTION_MIXED)
			continue;
		keys[part] = plimp_json_key(word, "_bytes");
		plimp_json_list_add(&list, keys[part].text,
				    retention->parts[part]);
	}
	plimp_json_list_add(&list, "retained_bytes", retention->retained);
	plimp_json_list_add(&list, "rss_falls_bytes", retention->rss_falls);
	plimp_json_list_add(&list, "machine_gets_bytes",
			    retention->machine_gets);
	plimp_json_list_write(json, &list, 1);
	heap_kinds(json, "allocators", retention->allocators);
	heap_kinds(json, "walked", retention->walked);
	plim_json_array(json, "lines");
	plim_retention_tell(retention, heap_line, json);
	plim_json_end(json);
	plim_json_end(json);
}
