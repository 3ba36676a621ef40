/*
 * usage.c - one record that is measured again and again.
 *
 * As in a snapshot two passes alternate, so that a target that has ended
 * leaves its last live state behind.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/bill.h"

#include <assert.h>
#include <string.h>

struct usage_side {
	plim_process record;
	struct plimp_thread_list threads;
	struct plimp_text_list texts;
	plim_cost cost;
};

struct plim_usage {
	plim_host *host;
	struct usage_side sides[2];
	int current;
};

#define USAGE_THREADS 64

/* Texts are bounded, and most processes have few threads: room for them is
 * taken at once, and measuring asks for none. */
static int usage_reserve(plim_usage *usage)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct plimp_text_list *texts = &usage->sides[i].texts;
		struct plimp_thread_list *threads = &usage->sides[i].threads;
		void *items = NULL;
		void *bytes = NULL;

		if (plimp_reserve(&usage->host->allocator, &bytes,
				  &texts->capacity, PLIMP_TEXTS_SIZE,
				  PLIMP_TEXTS_SIZE, 1) != PLIM_OK)
			return PLIM_ENOMEM;
		texts->bytes = bytes;
		if (plimp_reserve(&usage->host->allocator, &items,
				  &threads->capacity, USAGE_THREADS,
				  USAGE_THREADS,
				  sizeof *threads->items) != PLIM_OK)
			return PLIM_ENOMEM;
		threads->items = items;
	}
	return PLIM_OK;
}

int plim_usage_new(plim_usage **usage, plim_host *host, plim_error *error)
{
	plim_usage *made;

	if (usage == NULL || host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new usage", NULL,
				  NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new usage", NULL,
				  NULL);
	made->host = host;
	if (usage_reserve(made) != PLIM_OK) {
		plim_usage_free(made);
		return plimp_fail(error, PLIM_ENOMEM, 0, "new usage", NULL,
				  NULL);
	}
	*usage = made;
	return PLIM_OK;
}

void plim_usage_free(plim_usage *usage)
{
	plim_host *host;

	if (usage == NULL)
		return;
	host = usage->host;
	plimp_threads_release(host, &usage->sides[0].threads);
	plimp_threads_release(host, &usage->sides[1].threads);
	plimp_texts_release(host, &usage->sides[0].texts);
	plimp_texts_release(host, &usage->sides[1].texts);
	plimp_release(&host->allocator, usage, 1, sizeof *usage);
}

static struct plimp_request usage_request(const plim_field_set *fields)
{
	struct plimp_request request = {
	    .fields = fields != NULL ? *fields
				     : plim_field_set_preset(PLIM_FIELDS_ALL),
	    .threads = 1,
	    .strong = 0,
	    .dear = 1,
	    .walks = fields != NULL,
	    .young_ticks = UINT64_MAX,
	    .remember = 1,
	};

	/* Nobody has to wait who was not told so. */
	if (fields == NULL) {
		plim_field_set_remove(&request.fields, PLIM_FIELD_PSS);
		plim_field_set_remove(&request.fields,
				      PLIM_FIELD_PRIVATE_DIRTY);
	}
	return request;
}

/* The threads as they were, if they are of the same process: they are then
 * told apart from new ones at less cost. */
static const struct plimp_threads *usage_known(const plim_usage *usage,
					       const plim_identity *identity)
{
	const plim_process *last = &usage->sides[usage->current].record;

	if (!last->threads.known ||
	    plim_identity_compare(&last->identity, identity) != PLIM_SAME)
		return NULL;
	return &last->threads;
}

/* The side that is written next, emptied. */
static struct usage_side *usage_spare(plim_usage *usage)
{
	struct usage_side *side = &usage->sides[!usage->current];

	side->threads.count = 0;
	side->texts.size = 0;
	memset(&side->cost, 0, sizeof side->cost);
	side->cost.present = 1;
	return side;
}

static int usage_end(plim_usage *usage, struct usage_side *side,
		     const struct plimp_bill_mark *mark, int code,
		     plim_error *error)
{
	struct plimp_thread_list *other = &usage->sides[usage->current].threads;
	void *items = other->items;

	/* The other side grows along, so that the next time needs no memory. */
	if (code == PLIM_OK &&
	    plimp_reserve(&usage->host->allocator, &items, &other->capacity,
			  side->threads.count, USAGE_THREADS,
			  sizeof *other->items) != PLIM_OK)
		code = plimp_fail(error, PLIM_ENOMEM, 0, "measure process",
				  NULL, NULL);
	other->items = items;
	side->cost.read = code == PLIM_OK;
	side->cost.vanished = code == PLIM_ENOPROCESS;
	plimp_bill_end(usage->host, mark, &side->cost);
	if (code != PLIM_OK)
		return code;
	side->record.threads.items = side->threads.items;
	side->record.texts.data = side->texts.bytes;
	usage->current = !usage->current;
	return PLIM_OK;
}

int plim_usage_refresh_self(plim_usage *usage, const plim_field_set *fields,
			    plim_error *error)
{
	struct plimp_request request = usage_request(fields);
	struct plimp_bill_mark mark;
	struct usage_side *side;
	int code;

	if (usage == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "measure self", NULL,
				  NULL);
	side = usage_spare(usage);
	request.texts = &side->texts;
	mark = plimp_bill_begin(usage->host, 0);
	code = plimp_system_read_self(usage->host, &request, &side->record,
				      &side->threads, error);
	return usage_end(usage, side, &mark, code, error);
}

int plim_usage_refresh(plim_usage *usage, plim_target *target,
		       const plim_field_set *fields, plim_error *error)
{
	struct plimp_request request = usage_request(fields);
	struct plimp_bill_mark mark;
	struct usage_side *side;
	int code;

	if (usage == NULL || target == NULL || target->host != usage->host)
		return plimp_fail(error, PLIM_EINVAL, 0, "measure process",
				  NULL, NULL);
	side = usage_spare(usage);
	request.texts = &side->texts;
	request.known = usage_known(usage, &target->identity);
	mark = plimp_bill_begin(usage->host, 1);
	plimp_system_begin(usage->host);
	code = plimp_system_read_target(target, &request, &side->record,
					&side->threads, error);
	if (code == PLIM_OK)
		side->cost.refused =
		    (uint32_t)plimp_record_is_refused(&side->record);
	return usage_end(usage, side, &mark, code, error);
}

int plim_usage_reap(plim_usage *usage, int32_t child, int *status,
		    plim_error *error)
{
	struct plimp_bill_mark mark;
	struct usage_side *side;
	int code;

	if (usage == NULL || child < 1)
		return plimp_fail(error, PLIM_EINVAL, 0, "wait for child", NULL,
				  NULL);
	side = usage_spare(usage);
	/* Who it was is known if it was measured while it lived. */
	side->record.identity = usage->sides[usage->current].record.identity;
	mark = plimp_bill_begin(usage->host, 1);
	code =
	    plimp_system_reap(usage->host, child, status, &side->record, error);
	return usage_end(usage, side, &mark, code, error);
}

const plim_process *plim_usage_process(const plim_usage *usage)
{
	assert(usage != NULL);
	return &usage->sides[usage->current].record;
}

plim_cost plim_usage_cost(const plim_usage *usage)
{
	assert(usage != NULL);
	return usage->sides[usage->current].cost;
}

plim_field_set plim_usage_basic(void)
{
	static const int basic[] = {
	    PLIM_FIELD_CPU,	     PLIM_FIELD_WAKEUPS,
	    PLIM_FIELD_INVOLUNTARY,  PLIM_FIELD_FAULTS_MINOR,
	    PLIM_FIELD_FAULTS_MAJOR, PLIM_FIELD_DISK_BLOCKS,
	    PLIM_FIELD_RESIDENT};
	plim_field_set set = {{0}};
	size_t i;

	for (i = 0; i < sizeof basic / sizeof basic[0]; i++)
		plim_field_set_add(&set, basic[i]);
	return set;
}
