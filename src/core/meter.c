/*
 * meter.c - rates of many keys at once.
 *
 * Two tables: the round before and this one. A round begins by exchanging
 * them and emptying the one that is filled next, so what was not put again is
 * forgotten without being looked for, and the memory is used again. A table
 * is open addressing with linear probing, at most half full. Nothing is ever
 * removed from one, so a probe ends at the first free place.
 */
#include <plimsoll/usage.h>

#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

#define METER_START 64 /* a power of two */

struct meter_entry {
	uint64_t start_ticks;
	uint64_t inode;
	int32_t pid;
	int32_t used;
	plim_count counter;
};

struct meter_table {
	struct meter_entry *entries;
	size_t capacity; /* 0 or a power of two */
	size_t count;
	plim_stamp stamp;
};

struct plim_meter {
	plim_allocator allocator;
	struct meter_table before;
	struct meter_table now;
};

int plim_meter_new(plim_meter **meter, const plim_allocator *allocator,
		   plim_error *error)
{
	plim_meter *made;

	assert(meter != NULL);
	if (meter == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "meter", NULL, NULL);
	made = plimp_allocate(allocator, 1, sizeof(*made));
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "meter", NULL, NULL);
	if (allocator != NULL)
		made->allocator = *allocator;
	*meter = made;
	return PLIM_OK;
}

static void meter_release_table(plim_meter *meter, struct meter_table *table)
{
	plimp_release(&meter->allocator, table->entries, table->capacity,
		      sizeof(*table->entries));
}

void plim_meter_free(plim_meter *meter)
{
	plim_allocator allocator;

	if (meter == NULL)
		return;
	meter_release_table(meter, &meter->before);
	meter_release_table(meter, &meter->now);
	allocator = meter->allocator;
	plimp_release(&allocator, meter, 1, sizeof(*meter));
}

void plim_meter_round(plim_meter *meter, plim_stamp now)
{
	struct meter_table table = meter->before;

	meter->before = meter->now;
	if (table.capacity > 0)
		memset(table.entries, 0,
		       table.capacity * sizeof(*table.entries));
	table.count = 0;
	table.stamp = now;
	meter->now = table;
}

/* Parts that an identity does not have are zero here, whatever they hold. */
static struct meter_entry meter_entry_of(const plim_identity *key,
					 plim_count counter)
{
	struct meter_entry entry = {
	    .pid = key->pid,
	    .used = 1,
	    .counter = counter,
	};

	if (key->has & PLIM_IDENTITY_START)
		entry.start_ticks = key->start_ticks;
	if (key->has & PLIM_IDENTITY_INODE)
		entry.inode = key->inode;
	return entry;
}

/* The finisher of splitmix64 (Steele, Lea, Flood 2014): every bit of the input
 * reaches every bit of the result, so that a mask may pick the low ones. */
static uint64_t meter_mix(uint64_t bits)
{
	bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
	return bits ^ bits >> 31;
}

static uint64_t meter_hash(const struct meter_entry *entry)
{
	uint64_t hash = meter_mix((uint64_t)(uint32_t)entry->pid);

	hash = meter_mix(hash ^ entry->start_ticks);
	return meter_mix(hash ^ entry->inode);
}

static int meter_is_same(const struct meter_entry *a,
			 const struct meter_entry *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks &&
	       a->inode == b->inode;
}

/* The place of a key: where it stands, or the free place where it belongs.
 * The table has free places. */
static struct meter_entry *meter_place(const struct meter_table *table,
				       const struct meter_entry *entry)
{
	size_t mask = table->capacity - 1;
	size_t at = (size_t)meter_hash(entry) & mask;

	assert(table->capacity > 0 && (table->capacity & mask) == 0);
	assert(table->count <= table->capacity / 2);
	while (table->entries[at].used &&
	       !meter_is_same(&table->entries[at], entry))
		at = (at + 1) & mask;
	return &table->entries[at];
}

/* Room for one more key. On failure the table is as it was. */
static int meter_grow(plim_meter *meter, struct meter_table *table)
{
	struct meter_table larger = *table;

	if (table->count < table->capacity / 2)
		return PLIM_OK;
	if (table->capacity > SIZE_MAX / 2)
		return PLIM_ENOMEM;
	larger.capacity =
	    table->capacity > 0 ? table->capacity * 2 : METER_START;
	larger.entries = plimp_allocate(&meter->allocator, larger.capacity,
					sizeof(*larger.entries));
	if (larger.entries == NULL)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->entries[i].used)
			*meter_place(&larger, &table->entries[i]) =
			    table->entries[i];
	meter_release_table(meter, table);
	*table = larger;
	return PLIM_OK;
}

static plim_real meter_rate(const plim_meter *meter,
			    const struct meter_entry *entry)
{
	uint64_t first = meter->before.stamp.monotonic.ns;
	uint64_t last = meter->now.stamp.monotonic.ns;
	const struct meter_entry *before = NULL;

	if (meter->before.count > 0)
		before = meter_place(&meter->before, entry);
	if (before != NULL && before->used)
		return plim_counter_rate(before->counter, entry->counter,
					 last > first ? last - first : 0);
	if (entry->counter.state != PLIM_STATE_KNOWN)
		return plim_change_rate(entry->counter, 0);
	return plim_real_missing(PLIM_REASON_FIRST_SAMPLE, 0);
}

int plim_meter_put(plim_meter *meter, const plim_identity *key,
		   plim_count counter, plim_real *rate, plim_error *error)
{
	struct meter_entry entry;
	struct meter_entry *place;

	assert(meter != NULL && key != NULL && rate != NULL);
	if (meter == NULL || key == NULL || rate == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "meter", NULL, NULL);
	entry = meter_entry_of(key, counter);
	if (meter_grow(meter, &meter->now) != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "meter", NULL, NULL);
	place = meter_place(&meter->now, &entry);
	if (!place->used)
		meter->now.count++;
	*place = entry;
	*rate = meter_rate(meter, &entry);
	return PLIM_OK;
}
