/*
 * names.c - the texts of a namer.
 *
 * The same names come again and again: a function is in many stacks, and a
 * template's name in many functions. A table finds the copy that there is;
 * beside it stands what the name is shown as, since demangling takes longer
 * than anything else that is done with it.
 */
#include "unwind/names.h"

#include "core/memory.h"
#include "unwind/symbols.h"

#include <assert.h>
#include <string.h>

static size_t names_place(const struct plimp_name_text *texts, size_t size,
			  plim_bytes text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < text.size; i++)
		hash = (hash ^ (uint8_t)text.data[i]) * 0x100000001b3u;
	size_t at = (size_t)(hash ^ hash >> 29) & (size - 1);

	while (texts[at].text.data &&
	       (texts[at].text.size != text.size ||
		memcmp(texts[at].text.data, text.data, text.size)))
		at = (at + 1) & (size - 1);
	return at;
}

static int names_grow(struct plimp_names *names)
{
	size_t size = names->size ? names->size * 2 : 256;
	struct plimp_name_text *texts =
	    plimp_allocate(&names->pool.allocator, size, sizeof(*texts));

	if (!texts)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < names->size; i++)
		if (names->texts[i].text.data)
			texts[names_place(texts, size, names->texts[i].text)] =
			    names->texts[i];
	plimp_release(&names->pool.allocator, names->texts, names->size,
		      sizeof(*names->texts));
	names->texts = texts;
	names->size = size;
	return PLIM_OK;
}

/* The place of a text that is not empty, which it has from now on. */
static int names_take(struct plimp_names *names, plim_bytes text, size_t *place)
{
	assert(text.size);
	if (2 * (names->used + 1) > names->size && names_grow(names))
		return PLIM_ENOMEM;
	*place = names_place(names->texts, names->size, text);
	if (!names->texts[*place].text.data) {
		char *copy = plimp_pool_copy(&names->pool, text);

		if (!copy)
			return PLIM_ENOMEM;
		names->texts[*place].text = (plim_bytes){copy, text.size};
		names->used++;
	}
	return PLIM_OK;
}

int plimp_names_keep(struct plimp_names *names, plim_bytes text,
		     plim_bytes *kept)
{
	size_t place;

	*kept = (plim_bytes){"", 0};
	if (!text.size)
		return PLIM_OK;
	if (names_take(names, text, &place))
		return PLIM_ENOMEM;
	*kept = names->texts[place].text;
	return PLIM_OK;
}

int plimp_names_symbol(struct plimp_names *names, plim_bytes linkage,
		       plim_bytes *kept, plim_bytes *shown)
{
	char text[PLIMP_DEMANGLE_OUTPUT];
	size_t length = 0;
	size_t place;

	*kept = (plim_bytes){"", 0};
	*shown = *kept;
	if (!linkage.size)
		return PLIM_OK;
	if (names_take(names, linkage, &place))
		return PLIM_ENOMEM;
	*kept = names->texts[place].text;
	*shown = names->texts[place].shown;
	if (shown->data)
		return PLIM_OK;
	*shown = *kept;
	if (!plimp_demangle(linkage, text, sizeof(text), &length) &&
	    plimp_names_keep(names, (plim_bytes){text, length}, shown))
		return PLIM_ENOMEM;
	/* Keeping may have moved it. */
	place = names_place(names->texts, names->size, *kept);
	names->texts[place].shown = *shown;
	return PLIM_OK;
}

void plimp_names_release(struct plimp_names *names)
{
	plimp_release(&names->pool.allocator, names->texts, names->size,
		      sizeof(*names->texts));
	plimp_pool_release(&names->pool);
}
