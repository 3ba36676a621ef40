/*
 * groups.c - plim_groups: a snapshot's records by a key that they share.
 *
 * The records are sorted by key, so that a group is a run of them. Paths are
 * sorted part by part, as if a slash came before any other byte: then what
 * lies below a path is one run, too, which begins with what lies in it, and
 * one walk over the sorted records opens and closes the groups as a parser
 * opens and closes brackets. Two sides alternate, so that one that finds no
 * memory leaves the other as it was; keys and records are borrowed from the
 * snapshot.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "core/record.h"
#include "core/text.h"

#include <plimsoll/tree.h>

#include <assert.h>
#include <string.h>

struct groups_entry {
	const plim_process *process;
	plim_text key;
	uint64_t number; /* of a user */
};

struct groups_item {
	plim_group group; /* the first: what plim_groups_at() points to */
	size_t first;	  /* of its entries */
	char digits[PLIMP_DIGITS];
};

struct groups_side {
	struct groups_entry *entries;
	size_t count;
	size_t capacity;
	struct groups_item *items;
	size_t item_count;
	size_t item_capacity;
};

struct plim_groups {
	plim_allocator allocator;
	struct groups_side sides[2];
	int current;
};

int plim_groups_new(plim_groups **groups, const plim_allocator *allocator,
		    plim_error *error)
{
	plim_groups *made;

	if (groups == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new groups", NULL,
				  NULL);
	made = plimp_allocate(allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new groups", NULL,
				  NULL);
	if (allocator != NULL)
		made->allocator = *allocator;
	*groups = made;
	return PLIM_OK;
}

void plim_groups_free(plim_groups *groups)
{
	plim_allocator allocator;
	int i;

	if (groups == NULL)
		return;
	allocator = groups->allocator;
	for (i = 0; i < 2; i++) {
		struct groups_side *side = &groups->sides[i];

		plimp_release(&allocator, side->entries, side->capacity,
			      sizeof *side->entries);
		plimp_release(&allocator, side->items, side->item_capacity,
			      sizeof *side->items);
	}
	plimp_release(&allocator, groups, 1, sizeof *groups);
}

/* --- the order ------------------------------------------------------------ */

static unsigned groups_rank(char byte)
{
	return byte == '/' ? 0 : 1 + (unsigned)(unsigned char)byte;
}

static int groups_order_bytes(plim_bytes a, plim_bytes b)
{
	size_t least = a.size < b.size ? a.size : b.size;
	size_t i = 0;

	while (i < least && a.data[i] == b.data[i])
		i++;
	if (i < least)
		return groups_rank(a.data[i]) < groups_rank(b.data[i]) ? -1 : 1;
	return (a.size > b.size) - (a.size < b.size);
}

/* Known keys in order, then the others; one key by pid. */
static int groups_order(const struct groups_entry *a,
			const struct groups_entry *b)
{
	int missing = (a->key.state != PLIM_STATE_KNOWN) -
		      (b->key.state != PLIM_STATE_KNOWN);
	int order = 0;

	if (missing != 0)
		return missing;
	if (a->key.state == PLIM_STATE_KNOWN)
		order = groups_order_bytes(a->key.bytes, b->key.bytes);
	if (order == 0)
		order = (a->number > b->number) - (a->number < b->number);
	if (order == 0)
		order = (a->process->identity.pid > b->process->identity.pid) -
			(a->process->identity.pid < b->process->identity.pid);
	return order;
}

static void groups_sift(struct groups_entry *entries, size_t root, size_t count)
{
	struct groups_entry moved = entries[root];
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count &&
		    groups_order(&entries[child], &entries[child + 1]) < 0)
			child++;
		if (groups_order(&moved, &entries[child]) >= 0)
			break;
		entries[root] = entries[child];
		root = child;
	}
	entries[root] = moved;
}

/* A heap sort; the C library's qsort() may allocate. */
static void groups_sort(struct groups_entry *entries, size_t count)
{
	size_t at;

	for (at = count / 2; at > 0; at--)
		groups_sift(entries, at - 1, count);
	for (at = count; at-- > 1;) {
		struct groups_entry last = entries[at];

		entries[at] = entries[0];
		entries[0] = last;
		groups_sift(entries, 0, at);
	}
}

/* --- the groups ----------------------------------------------------------- */

static struct groups_entry groups_entry_of(const plim_process *process,
					   int field)
{
	struct groups_entry entry = {.process = process};
	plim_count user;

	if (field != PLIM_FIELD_UID) {
		entry.key = plim_process_text(process, field);
		return entry;
	}
	user = plim_process_count(process, field);
	entry.key.bytes.data = "";
	entry.key.state = user.state;
	entry.key.method = user.method;
	entry.key.code = user.code;
	entry.number = user.value;
	return entry;
}

static int groups_collect(plim_groups *groups, struct groups_side *side,
			  const plim_snapshot *snapshot, int field,
			  const plim_filter *filter)
{
	void *entries = side->entries;
	size_t count = plim_snapshot_size(snapshot);
	size_t i;
	int code = plimp_reserve(&groups->allocator, &entries, &side->capacity,
				 count, 256, sizeof *side->entries);

	side->entries = entries;
	if (code != PLIM_OK)
		return code;
	side->count = 0;
	for (i = 0; i < count; i++) {
		const plim_process *process = plim_snapshot_at(snapshot, i);

		if (filter == NULL ||
		    plim_filter_match(filter, process, NULL) == PLIM_TRUE)
			side->entries[side->count++] =
			    groups_entry_of(process, field);
	}
	groups_sort(side->entries, side->count);
	return PLIM_OK;
}

/* Opens a group at the entry `first`, in the group `parent`. */
static int groups_open(plim_groups *groups, struct groups_side *side,
		       size_t first, size_t parent, plim_text key)
{
	void *items = side->items;
	struct groups_item *item;
	int code =
	    plimp_reserve(&groups->allocator, &items, &side->item_capacity,
			  side->item_count + 1, 64, sizeof *side->items);

	side->items = items;
	if (code != PLIM_OK)
		return code;
	item = &side->items[side->item_count++];
	memset(item, 0, sizeof *item);
	item->first = first;
	item->group.key = key;
	item->group.parent = parent;
	if (parent != PLIM_NO_PARENT)
		item->group.depth = side->items[parent].group.depth + 1;
	return PLIM_OK;
}

/* The path of the group is a part of the path, up to a slash or to its end. */
static int groups_holds(const plim_group *group, plim_bytes path)
{
	plim_bytes key = group->key.bytes;

	if (key.size == 0 || key.size > path.size ||
	    memcmp(key.data, path.data, key.size) != 0)
		return key.size == 0 && path.size == 0;
	return key.size == path.size || path.data[key.size] == '/' ||
	       (key.size == 1 && key.data[0] == '/');
}

/* The end of the next part of a path behind `at`: "/", "/a", "/a/b". */
static size_t groups_part(plim_bytes path, size_t at)
{
	if (at == 0 && path.size > 0 && path.data[0] == '/')
		return 1;
	if (at < path.size && path.data[at] == '/')
		at++;
	while (at < path.size && path.data[at] != '/')
		at++;
	return at;
}

/* The group of a path, in those of its parts; `last` is the group of the entry
 * before, and becomes that of this one. */
static int groups_nest(plim_groups *groups, struct groups_side *side, size_t at,
		       size_t *last)
{
	plim_text key = side->entries[at].key;
	plim_bytes path = key.bytes;
	size_t done = 0;

	while (*last != PLIM_NO_PARENT &&
	       !groups_holds(&side->items[*last].group, path)) {
		struct groups_item *item = &side->items[*last];

		item->group.members = at - item->first;
		*last = item->group.parent;
	}
	if (*last != PLIM_NO_PARENT) {
		done = side->items[*last].group.key.bytes.size;
		if (done == path.size)
			return PLIM_OK;
	}
	do {
		int code;

		done = groups_part(path, done);
		key.bytes.size = done;
		code = groups_open(groups, side, at, *last, key);
		if (code != PLIM_OK)
			return code;
		*last = side->item_count - 1;
	} while (done < path.size);
	return PLIM_OK;
}

static int groups_is_same(const struct groups_entry *a,
			  const struct groups_entry *b)
{
	if (a->key.state != PLIM_STATE_KNOWN)
		return b->key.state != PLIM_STATE_KNOWN;
	return b->key.state == PLIM_STATE_KNOWN && a->number == b->number &&
	       groups_order_bytes(a->key.bytes, b->key.bytes) == 0;
}

static int groups_build(plim_groups *groups, struct groups_side *side,
			int field)
{
	size_t last = PLIM_NO_PARENT;
	size_t i;

	side->item_count = 0;
	for (i = 0; i < side->count; i++) {
		const struct groups_entry *entry = &side->entries[i];
		int nested = field == PLIM_FIELD_CGROUP &&
			     entry->key.state == PLIM_STATE_KNOWN;
		int code = PLIM_OK;

		if (nested) {
			code = groups_nest(groups, side, i, &last);
		} else if (i == 0 || !groups_is_same(entry - 1, entry)) {
			for (; last != PLIM_NO_PARENT;
			     last = side->items[last].group.parent)
				side->items[last].group.members =
				    i - side->items[last].first;
			code = groups_open(groups, side, i, PLIM_NO_PARENT,
					   entry->key);
			last = side->item_count - 1;
		}
		if (code != PLIM_OK)
			return code;
		side->items[last].group.own++;
	}
	for (; last != PLIM_NO_PARENT; last = side->items[last].group.parent)
		side->items[last].group.members =
		    side->count - side->items[last].first;
	return PLIM_OK;
}

/* The digits of users lie in the items, which stand still now. */
static void groups_name_users(struct groups_side *side)
{
	size_t i;

	for (i = 0; i < side->item_count; i++) {
		struct groups_item *item = &side->items[i];
		uint64_t user = side->entries[item->first].number;

		if (item->group.key.state != PLIM_STATE_KNOWN)
			continue;
		item->group.key.bytes = (plim_bytes){
		    item->digits, plimp_digits(user, item->digits)};
	}
}

int plim_groups_fill(plim_groups *groups, const plim_snapshot *snapshot,
		     int field, const plim_filter *filter, plim_error *error)
{
	struct groups_side *side;
	int code;

	if (groups == NULL || snapshot == NULL ||
	    (field != PLIM_FIELD_CGROUP && field != PLIM_FIELD_UNIT &&
	     field != PLIM_FIELD_CONTAINER && field != PLIM_FIELD_UID))
		return plimp_fail(error, PLIM_EINVAL, 0, "fill groups", NULL,
				  NULL);
	side = &groups->sides[!groups->current];
	code = groups_collect(groups, side, snapshot, field, filter);
	if (code == PLIM_OK)
		code = groups_build(groups, side, field);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "fill groups", NULL, NULL);
	if (field == PLIM_FIELD_UID)
		groups_name_users(side);
	groups->current = !groups->current;
	return PLIM_OK;
}

size_t plim_groups_size(const plim_groups *groups)
{
	assert(groups != NULL);
	return groups->sides[groups->current].item_count;
}

const plim_group *plim_groups_at(const plim_groups *groups, size_t index)
{
	if (index >= plim_groups_size(groups))
		return NULL;
	return &groups->sides[groups->current].items[index].group;
}

const plim_process *plim_groups_member(const plim_groups *groups, size_t index,
				       size_t member)
{
	const plim_group *group = plim_groups_at(groups, index);
	const struct groups_side *side;

	if (group == NULL || member >= group->members)
		return NULL;
	side = &groups->sides[groups->current];
	return side->entries[side->items[index].first + member].process;
}

plim_sum plim_groups_sum(const plim_groups *groups, size_t index, int field)
{
	const plim_group *group = plim_groups_at(groups, index);
	plim_sum sum = {0};
	size_t i;

	for (i = 0; group != NULL && i < group->members; i++)
		plim_sum_add(&sum,
			     plim_process_count(
				 plim_groups_member(groups, index, i), field));
	return sum;
}
