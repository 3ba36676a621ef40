/*
 * text_stacks.c - the heaviest stacks as a person reads them: the innermost
 * function first, then who called it, without parameters and template
 * arguments, and no more of them than tell where one is.
 */
#include "export/page.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define STACKS_SHOWN 6
#define STACK_FRAMES 12
#define STACK_NAME   48

/* A parameter list or template arguments stand behind a name. */
static int stack_is_named(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= 'a' && byte <= 'z') || byte == '_' || byte == '>' ||
	       ((unsigned char)byte & 0x80) != 0;
}

/*
 * A C++, Rust or Java name without what is in its brackets. What is a name in
 * brackets itself stays: "(anonymous namespace)::f", "String.<init>",
 * "outer.<locals>.<lambda>". The result's size; it does not end within a
 * character.
 */
static size_t stack_name(plim_bytes name, char kept[STACK_NAME])
{
	size_t size = 0;
	int depth = 0;

	for (size_t i = 0; i < name.size; i++) {
		const char byte = name.data[i];
		const int opens = byte == '<' || byte == '(';
		const int closes = byte == '>' || byte == ')';
		const int is_operator =
		    size >= 8 && memcmp(kept + size - 8, "operator", 8) == 0;

		if (opens && !is_operator &&
		    (depth > 0 || (i > 0 && stack_is_named(name.data[i - 1]))))
			depth++;
		if (depth == 0) {
			if (size == STACK_NAME)
				break;
			kept[size++] = byte;
		}
		if (closes && depth > 0)
			depth--;
	}
	while (size == STACK_NAME &&
	       ((unsigned char)kept[size - 1] & 0x80) != 0)
		size--;
	return size;
}

static void stack_put_name(struct plimp_text_page *page, plim_bytes name)
{
	char kept[STACK_NAME];

	plimp_page_text(page, (plim_bytes){kept, stack_name(name, kept)});
}

static size_t stack_name_size(plim_bytes name)
{
	return name.size < STACK_NAME ? name.size : STACK_NAME;
}

/* How many functions of a row tell where one is: what called main() is the same
 * in every program. */
static size_t stack_told(const plim_fold *fold, const plim_fold_row *row)
{
	for (size_t i = 0; i < row->item_count; i++) {
		const size_t at = row->item_count - 1 - i;
		const plim_bytes name =
		    plim_fold_item_name(fold, row->items[at]);

		if (name.size == 4 && memcmp(name.data, "main", 4) == 0)
			return i + 1;
	}
	return row->item_count;
}

/* Frames, with a new line wherever one is full. */
static void stack_frames(struct plimp_text_page *page, const plim_fold *fold,
			 const plim_fold_row *row)
{
	const size_t width =
	    page->options.width > 0 ? page->options.width : 100;
	const size_t told = stack_told(fold, row);
	const size_t shown = told < STACK_FRAMES ? told : STACK_FRAMES;

	plimp_page_begin(page, "");
	plimp_page_string(page, " ");
	for (size_t i = 0; i < shown; i++) {
		const plim_bytes name = plim_fold_item_name(
		    fold, row->items[row->item_count - 1 - i]);

		if (i > 0 &&
		    page->line.size + stack_name_size(name) + 3 > width) {
			plimp_page_end(page);
			plimp_page_begin(page, "");
			plimp_page_string(page, " ");
		}
		plimp_page_string(page, i > 0 ? " < " : " ");
		stack_put_name(page, name);
	}
	if (told > shown)
		plimp_page_format(page, " < %zu more", told - shown);
	plimp_page_end(page);
}

/* Time that no sample tells of has no stack. */
static int stack_is_told(const struct plimp_text_page *page,
			 const plim_fold_row *row)
{
	const plim_profile_function *function;

	if (row->weight_ns == 0 || row->item_count == 0)
		return 0;
	if (row->item_count > 1)
		return 1;
	function = row->items[0] < plim_profile_function_count(page->profile)
		       ? plim_profile_function_at(page->profile, row->items[0])
		       : NULL;
	return function == NULL || function->special == 0;
}

int plimp_page_stacks(struct plimp_text_page *page, plim_error *error)
{
	const size_t most =
	    page->options.limit > 0 ? page->options.limit : STACKS_SHOWN;
	const char *label = "hot stacks";
	plim_fold *fold = NULL;
	size_t told = 0;
	int code = plimp_export_fold(page->profile, &page->options,
				     PLIM_FOLD_CALLS, &fold, error);

	if (code != PLIM_OK)
		return code;
	for (size_t i = 0; i < plim_fold_row_count(fold) && told < most; i++) {
		const plim_fold_row *row = plim_fold_row_at(fold, i);

		if (!stack_is_told(page, row))
			continue;
		plimp_page_begin(page, label);
		plimp_page_share(page, row->share, row->share_error);
		plimp_page_string(page, "  ");
		plimp_page_value(page, (double)row->weight_ns, PLIM_UNIT_NS);
		if (row->samples > 0)
			plimp_page_format(page, ", %llu sample%s",
					  (unsigned long long)row->samples,
					  row->samples == 1 ? "" : "s");
		if (row->incomplete_samples > 0)
			plimp_page_format(
			    page, ", %llu of them cut short",
			    (unsigned long long)row->incomplete_samples);
		plimp_page_end(page);
		stack_frames(page, fold, row);
		label = "";
		told++;
	}
	plim_fold_free(fold);
	return PLIM_OK;
}

/* Appends as much as there is room for; the length that it would have. */
static size_t stack_append(char *buffer, size_t size, size_t used,
			   const char *text)
{
	const size_t more = strlen(text);

	if (used < size) {
		const size_t room = size - used - 1;

		memcpy(buffer + used, text, more < room ? more : room);
		buffer[used + (more < room ? more : room)] = '\0';
	}
	return used + more;
}

size_t plim_text_stack(const plim_fold *fold, const plim_fold_row *row,
		       size_t functions, int form, char *buffer, size_t size)
{
	/* A byte becomes at most four. */
	char escaped[4 * STACK_NAME + 1];
	char kept[STACK_NAME];
	size_t used = 0;
	size_t told;
	size_t i;

	assert(fold != NULL && row != NULL && (buffer != NULL || size == 0));
	if (size > 0)
		buffer[0] = '\0';
	told = stack_told(fold, row);
	for (i = 0; i < told && i < functions; i++) {
		const plim_bytes name = plim_fold_item_name(
		    fold, row->items[row->item_count - 1 - i]);
		const plim_bytes shown = {kept, stack_name(name, kept)};
		const size_t length =
		    plim_escape(form, shown, escaped, sizeof escaped);

		/* Not in the middle of a name; room for " < 99999 more" */
		if (i > 0 && used + length + 16 > size)
			break;
		if (i > 0)
			used = stack_append(buffer, size, used, " < ");
		used = stack_append(buffer, size, used, escaped);
	}
	if (i < told) {
		snprintf(escaped, sizeof escaped, " < %zu more", told - i);
		used = stack_append(buffer, size, used, escaped);
	}
	return used;
}
