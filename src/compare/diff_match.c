/*
 * diff_match.c - which functions of several profiles are one.
 *
 * A function is its name and its file's name. A file that stands on one side
 * alone ("server-1.2" and "server-1.3", a library with its version in its
 * name) parts nothing: functions of such files go by their names. And where a
 * file's functions have names on one side and places ("[vdso]+0xbe1") on the
 * other, the file is one function.
 */
#include "compare/diff.h"

#include "compare/order.h"
#include "compare/stored.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

struct alike_entry {
	plim_bytes name;
	plim_bytes module;
	uint32_t profile;
	uint32_t function;
	int side;
	int is_shared; /* its module stands on both sides */
};

struct alike {
	struct alike_entry *entries;
	uint32_t *order;
	size_t count;
};

static int alike_bytes(plim_bytes a, plim_bytes b)
{
	const size_t size = a.size < b.size ? a.size : b.size;
	const int order = size > 0 ? memcmp(a.data, b.data, size) : 0;

	if (order != 0)
		return order;
	return a.size < b.size ? -1 : a.size > b.size;
}

static int alike_by_module(uint32_t a, uint32_t b, const void *user)
{
	const struct alike_entry *entries = user;
	const int order = alike_bytes(entries[a].module, entries[b].module);

	return order != 0 ? order : entries[a].side - entries[b].side;
}

static plim_bytes alike_module(const struct alike_entry *entry)
{
	return entry->is_shared ? entry->module : (plim_bytes){"", 0};
}

/* What makes two entries one function. */
static int alike_key(const struct alike_entry *a, const struct alike_entry *b)
{
	const int order = alike_bytes(a->name, b->name);

	return order != 0 ? order
			  : alike_bytes(alike_module(a), alike_module(b));
}

static int alike_by_key(uint32_t a, uint32_t b, const void *user)
{
	const struct alike_entry *entries = user;
	const int order = alike_key(&entries[a], &entries[b]);

	return order != 0 ? order : a < b ? -1 : a > b;
}

static void alike_fill(struct alike *alike, const struct plim_diff *diff)
{
	size_t at = 0;

	for (size_t p = 0; p < diff->profile_count; p++) {
		const struct plim_stored *stored = diff->profiles[p].stored;

		for (size_t i = 0; i < stored->function_count; i++, at++) {
			alike->entries[at] = (struct alike_entry){
			    .name = stored->functions[i].name,
			    .module = stored->functions[i].module,
			    .profile = (uint32_t)p,
			    .function = (uint32_t)i,
			    .side = diff->profiles[p].side,
			};
			alike->order[at] = (uint32_t)at;
		}
	}
	assert(at == alike->count);
}

/* "libc.so.6+0x1234": the place of one that has no name. */
static int alike_is_place(const struct alike_entry *entry)
{
	const size_t size = entry->module.size;

	return size > 0 && entry->name.size > size + 3 &&
	       memcmp(entry->name.data, entry->module.data, size) == 0 &&
	       memcmp(entry->name.data + size, "+0x", 3) == 0;
}

/* Of entries of one module: whether one side has names and the other none. */
static int alike_is_torn(const struct alike *alike, size_t first, size_t end)
{
	int named[2] = {0, 0};
	int seen[2] = {0, 0};

	for (; first < end; first++) {
		const struct alike_entry *entry =
		    &alike->entries[alike->order[first]];

		seen[entry->side] = 1;
		named[entry->side] |= !alike_is_place(entry);
	}
	return seen[0] && seen[1] && named[0] != named[1];
}

/* Entries of one module follow each other, those before first. */
static void alike_share(struct alike *alike)
{
	size_t first = 0;

	plimp_order(alike->order, alike->count, alike_by_module,
		    alike->entries);
	while (first < alike->count) {
		const struct alike_entry *head =
		    &alike->entries[alike->order[first]];
		size_t end = first;
		int shared;
		int torn;

		while (end < alike->count &&
		       alike_bytes(alike->entries[alike->order[end]].module,
				   head->module) == 0)
			end++;
		shared =
		    head->side != alike->entries[alike->order[end - 1]].side;
		torn = alike_is_torn(alike, first, end);
		for (; first < end; first++) {
			struct alike_entry *entry =
			    &alike->entries[alike->order[first]];

			entry->is_shared = shared;
			if (torn)
				entry->name = entry->module;
		}
	}
}

static int alike_number(struct alike *alike, struct plim_diff *diff,
			uint32_t **numbers)
{
	const struct alike_entry *last = NULL;
	size_t count = 0;

	plimp_order(alike->order, alike->count, alike_by_key, alike->entries);
	for (size_t i = 0; i < alike->count; i++) {
		const struct alike_entry *entry =
		    &alike->entries[alike->order[i]];

		if (last == NULL || alike_key(last, entry) != 0)
			count++;
		last = entry;
		numbers[entry->profile][entry->function] = (uint32_t)count - 1;
	}
	diff->functions = plimp_allocate(&diff->allocator, count + 1,
					 sizeof(*diff->functions));
	if (diff->functions == NULL)
		return PLIM_ENOMEM;
	diff->function_count = count;
	return PLIM_OK;
}

/* Texts of profiles that may be gone before we are. */
static int alike_names(const struct alike *alike, struct plim_diff *diff,
		       uint32_t *const *numbers)
{
	for (size_t i = 0; i < alike->count; i++) {
		const struct alike_entry *entry =
		    &alike->entries[alike->order[i]];
		plim_diff_function *function =
		    &diff->functions[numbers[entry->profile][entry->function]];

		if (function->name.size > 0)
			continue;
		assert(entry->name.size > 0);
		function->name.data = plimp_pool_copy(&diff->pool, entry->name);
		function->module.data =
		    plimp_pool_copy(&diff->pool, entry->module);
		if (function->name.data == NULL ||
		    function->module.data == NULL)
			return PLIM_ENOMEM;
		function->name.size = entry->name.size;
		function->module.size = entry->module.size;
	}
	return PLIM_OK;
}

int plimp_diff_match(struct plim_diff *diff, uint32_t **numbers)
{
	struct alike alike = {NULL, NULL, 0};
	int code = PLIM_ENOMEM;

	for (size_t p = 0; p < diff->profile_count; p++)
		alike.count += diff->profiles[p].stored->function_count;
	/* Each function takes bytes of a file of at most 128 MiB, and there
	 * are at most 128 files: indices could run out. */
	if (alike.count >= PLIM_NO_INDEX)
		return PLIM_ELIMIT;
	alike.entries = plimp_allocate(&diff->allocator, alike.count + 1,
				       sizeof(*alike.entries));
	alike.order = plimp_allocate(&diff->allocator, alike.count + 1,
				     sizeof(*alike.order));
	if (alike.entries != NULL && alike.order != NULL) {
		alike_fill(&alike, diff);
		alike_share(&alike);
		code = alike_number(&alike, diff, numbers);
	}
	if (code == PLIM_OK)
		code = alike_names(&alike, diff, numbers);
	plimp_release(&diff->allocator, alike.entries, alike.count + 1,
		      sizeof(*alike.entries));
	plimp_release(&diff->allocator, alike.order, alike.count + 1,
		      sizeof(*alike.order));
	return code;
}
