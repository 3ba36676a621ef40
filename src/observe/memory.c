/*
 * memory.c - plim_memory: one sample after another of what a process holds.
 *
 * A sample is one cheap read, and as much of the dear ones as the stall guard
 * allows (memory_guard.c). It is put together aside and committed when the
 * lens has proven at its end that all of it was of one image; so the last
 * sample is always one of a live process, and a process that ends while it is
 * read leaves the one before. The lens stays open from sample to sample, which
 * is what makes an exec in between show. What is kept of samples is
 * memory_series.c's, the mappings are memory_mappings.c's.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/bill.h"
#include "observe/memory_guard.h"
#include "observe/memory_mappings.h"
#include "observe/memory_series.h"

#include <assert.h>
#include <string.h>

struct plim_memory {
	plim_host *host;
	plim_target *target;	 /* NULL: ourselves */
	struct plimp_lens *lens; /* NULL: bound to nobody */
	struct plimp_memory_guard guard;
	struct plimp_memory_series series;
	plim_mappings *mappings;
	int has_mappings;
	plim_memory_cost ledger;
	plim_memory_end end;
	int end_code; /* PLIM_OK while it lives */
};

/* A sample on its way. */
struct memory_draft {
	struct plimp_memory_point point;
	uint32_t parts;
	int answer; /* enum plimp_guard_answer */
	int has_mappings;
	uint64_t began_ns; /* of the walks; 0: none was made */
	uint64_t ended_ns;
};

int plim_memory_new(plim_memory **memory, plim_host *host, plim_error *error)
{
	plim_memory *made;
	int code;

	if (memory == NULL || host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new memory", NULL,
				  NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof(*made));
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new memory", NULL,
				  NULL);
	made->host = host;
	made->series.allocator = host->allocator;
	code = plim_mappings_new(&made->mappings, host, error);
	if (code != PLIM_OK) {
		plimp_release(&host->allocator, made, 1, sizeof(*made));
		return code;
	}
	plim_memory_clear(made);
	*memory = made;
	return PLIM_OK;
}

void plim_memory_clear(plim_memory *memory)
{
	assert(memory != NULL);
	plimp_system_lens_close(memory->lens);
	memory->lens = NULL;
	memory->target = NULL;
	memset(&memory->guard, 0, sizeof(memory->guard));
	plimp_memory_series_clear(&memory->series);
	plimp_mappings_clear(memory->mappings);
	memory->has_mappings = 0;
	memset(&memory->ledger, 0, sizeof(memory->ledger));
	memory->ledger.longest_call = "";
	memset(&memory->end, 0, sizeof(memory->end));
	memory->end.exit_status = plim_count_missing(PLIM_REASON_NOT_REAPED, 0);
	memory->end_code = PLIM_OK;
}

void plim_memory_free(plim_memory *memory)
{
	plim_host *host;

	if (memory == NULL)
		return;
	host = memory->host;
	plim_memory_clear(memory);
	plimp_memory_series_release(&memory->series);
	plim_mappings_free(memory->mappings);
	plimp_release(&host->allocator, memory, 1, sizeof(*memory));
}

/* A lens fills the figures of a point in place: its numbers are the published
 * ones, and it has none beyond them. */
_Static_assert((int)PLIMP_FIGURE_ANONYMOUS == (int)PLIM_MEMORY_ANONYMOUS,
	       "ANONYMOUS");
_Static_assert((int)PLIMP_FIGURE_RESIDENT == (int)PLIM_MEMORY_RESIDENT,
	       "RESIDENT");
_Static_assert((int)PLIMP_FIGURE_FILE == (int)PLIM_MEMORY_FILE, "FILE");
_Static_assert((int)PLIMP_FIGURE_SHMEM == (int)PLIM_MEMORY_SHMEM, "SHMEM");
_Static_assert((int)PLIMP_FIGURE_SWAP == (int)PLIM_MEMORY_SWAP, "SWAP");
_Static_assert((int)PLIMP_FIGURE_PEAK_RESIDENT ==
		   (int)PLIM_MEMORY_PEAK_RESIDENT,
	       "PEAK_RESIDENT");
_Static_assert((int)PLIMP_FIGURE_PAGE_TABLES == (int)PLIM_MEMORY_PAGE_TABLES,
	       "PAGE_TABLES");
_Static_assert((int)PLIMP_FIGURE_PRIVATE_DIRTY ==
		   (int)PLIM_MEMORY_PRIVATE_DIRTY,
	       "PRIVATE_DIRTY");
_Static_assert((int)PLIMP_FIGURE_PRIVATE_CLEAN ==
		   (int)PLIM_MEMORY_PRIVATE_CLEAN,
	       "PRIVATE_CLEAN");
_Static_assert((int)PLIMP_FIGURE_SHARED_CLEAN == (int)PLIM_MEMORY_SHARED_CLEAN,
	       "SHARED_CLEAN");
_Static_assert((int)PLIMP_FIGURE_SHARED_DIRTY == (int)PLIM_MEMORY_SHARED_DIRTY,
	       "SHARED_DIRTY");
_Static_assert((int)PLIMP_FIGURE_PSS == (int)PLIM_MEMORY_PSS, "PSS");
_Static_assert((int)PLIMP_FIGURE_PSS_DIRTY == (int)PLIM_MEMORY_PSS_DIRTY,
	       "PSS_DIRTY");
_Static_assert((int)PLIMP_FIGURE_PSS_ANONYMOUS ==
		   (int)PLIM_MEMORY_PSS_ANONYMOUS,
	       "PSS_ANONYMOUS");
_Static_assert((int)PLIMP_FIGURE_PSS_FILE == (int)PLIM_MEMORY_PSS_FILE,
	       "PSS_FILE");
_Static_assert((int)PLIMP_FIGURE_PSS_SHMEM == (int)PLIM_MEMORY_PSS_SHMEM,
	       "PSS_SHMEM");
_Static_assert((int)PLIMP_FIGURE_ROLLUP_SWAP == (int)PLIM_MEMORY_ROLLUP_SWAP,
	       "ROLLUP_SWAP");
_Static_assert((int)PLIMP_FIGURE_SWAP_PSS == (int)PLIM_MEMORY_SWAP_PSS,
	       "SWAP_PSS");
_Static_assert((int)PLIMP_FIGURE_HUGE_ANONYMOUS ==
		   (int)PLIM_MEMORY_HUGE_ANONYMOUS,
	       "HUGE_ANONYMOUS");
_Static_assert((int)PLIMP_FIGURE_LAZY_FREE == (int)PLIM_MEMORY_LAZY_FREE,
	       "LAZY_FREE");
_Static_assert((int)PLIMP_FIGURES <= (int)PLIM_MEMORY_COUNT, "figures");

/* The figures that a walk tells. */
static int memory_is_walked(int figure)
{
	return figure == PLIM_MEMORY_PRIVATE_DIRTY ||
	       (figure >= PLIM_MEMORY_PRIVATE_CLEAN &&
		figure <= PLIM_MEMORY_LAZY_FREE);
}

static void memory_set_walked(struct memory_draft *draft, plim_count figure)
{
	int at;

	for (at = 1; at < PLIM_MEMORY_COUNT; at++)
		if (memory_is_walked(at))
			draft->point.figures[at] = figure;
}

static void memory_walked(struct memory_draft *draft, uint64_t began_ns)
{
	if (draft->began_ns == 0)
		draft->began_ns = began_ns;
	draft->ended_ns = plimp_system_monotonic();
}

static int memory_status(plim_memory *memory, struct memory_draft *draft,
			 plim_error *error)
{
	int code =
	    plimp_system_lens_status(memory->lens, draft->point.figures, error);

	if (code != PLIM_OK)
		return code;
	draft->point.stamp = plimp_system_now();
	memory->ledger.predicted_ns = plimp_system_lens_predict(memory->lens);
	draft->answer =
	    plimp_guard_ask(&memory->guard, memory->ledger.predicted_ns,
			    draft->point.stamp.monotonic.ns);
	return PLIM_OK;
}

static int memory_rollup(plim_memory *memory, struct memory_draft *draft,
			 plim_error *error)
{
	plim_count resident = draft->point.figures[PLIM_MEMORY_RESIDENT];
	uint64_t began_ns;
	int code;

	memory_set_walked(draft, plim_count_missing(PLIM_REASON_NOT_ASKED, 0));
	if (!(draft->parts & PLIM_MEMORY_ROLLUP))
		return PLIM_OK;
	if (resident.state == PLIM_STATE_NOT_APPLICABLE) {
		memory_set_walked(draft, resident);
		return PLIM_OK;
	}
	if (draft->answer != PLIMP_GUARD_WALK) {
		memory_set_walked(
		    draft,
		    plim_count_missing(plimp_guard_reason(draft->answer), 0));
		return PLIM_OK;
	}
	began_ns = plimp_system_monotonic();
	code =
	    plimp_system_lens_rollup(memory->lens, draft->point.figures, error);
	memory_walked(draft, began_ns);
	return code;
}

/* A kernel thread, or one that waits to be reaped: it has no memory. */
static int memory_draft_has_none(const struct memory_draft *draft)
{
	return draft->point.figures[PLIM_MEMORY_RESIDENT].state ==
	       PLIM_STATE_NOT_APPLICABLE;
}

/* The page map is dear, too, if not to the target: the rest holds for it. */
static int memory_may_map(const plim_memory *memory,
			  const struct memory_draft *draft)
{
	if (!(draft->parts & PLIM_MEMORY_MAPPINGS) ||
	    memory_draft_has_none(draft))
		return 0;
	return draft->answer == PLIMP_GUARD_WALK ||
	       (draft->answer == PLIMP_GUARD_STALL &&
		draft->point.stamp.monotonic.ns >= memory->guard.rest_until);
}

static int memory_map(plim_memory *memory, struct memory_draft *draft,
		      plim_error *error)
{
	plim_count *exclusive =
	    &draft->point.figures[PLIM_MEMORY_EXCLUSIVE_ANONYMOUS];
	int is_walk = draft->answer == PLIMP_GUARD_WALK;
	uint64_t began_ns;
	int code;

	*exclusive =
	    plim_count_missing((draft->parts & PLIM_MEMORY_MAPPINGS) && !is_walk
				   ? PLIM_REASON_RECENT_WALK
				   : PLIM_REASON_NOT_ASKED,
			       0);
	if (memory_draft_has_none(draft) &&
	    (draft->parts & PLIM_MEMORY_MAPPINGS))
		*exclusive = draft->point.figures[PLIM_MEMORY_RESIDENT];
	if (!memory_may_map(memory, draft))
		return PLIM_OK;
	began_ns = plimp_system_monotonic();
	code = plimp_mappings_take(
	    memory->mappings, memory->lens, memory->target,
	    is_walk ? PLIMP_MAPPINGS_SMAPS : PLIMP_MAPPINGS_PAGES,
	    (draft->parts & PLIM_MEMORY_STACKS) != 0, error);
	memory_walked(draft, began_ns);
	if (code != PLIM_OK)
		return code;
	draft->has_mappings = 1;
	if (!is_walk) {
		*exclusive = plimp_mappings_taken(
		    memory->mappings, PLIM_MAPPING_FIGURE_EXCLUSIVE);
		memory->ledger.scans++;
	}
	return PLIM_OK;
}

static int memory_read(plim_memory *memory, struct memory_draft *draft,
		       plim_error *error)
{
	int code = memory_status(memory, draft, error);

	if (code == PLIM_OK)
		code = memory_rollup(memory, draft, error);
	if (code == PLIM_OK)
		code = memory_map(memory, draft, error);
	if (draft->began_ns != 0)
		plimp_guard_walked(&memory->guard, draft->began_ns,
				   draft->ended_ns);
	if (code == PLIM_OK)
		code = plimp_system_lens_check(memory->lens, error);
	return code;
}

static void memory_commit(plim_memory *memory, const struct memory_draft *draft)
{
	int wants_walk =
	    (draft->parts & (PLIM_MEMORY_ROLLUP | PLIM_MEMORY_MAPPINGS)) != 0 &&
	    !memory_draft_has_none(draft);

	plimp_memory_series_add(&memory->series, &draft->point);
	if (draft->has_mappings) {
		plimp_mappings_turn(memory->mappings);
		memory->has_mappings = 1;
	}
	if (wants_walk && draft->answer == PLIMP_GUARD_STALL)
		memory->ledger.skipped++;
	if (wants_walk && draft->answer == PLIMP_GUARD_REST)
		memory->ledger.rested++;
}

static void memory_bill(plim_memory *memory, const struct plimp_bill_mark *mark)
{
	struct plimp_lens_bill bill;
	plim_cost cost = {0};

	if (memory->lens != NULL) {
		bill = plimp_system_lens_bill(memory->lens);
		memory->ledger.walks = bill.walks;
		memory->ledger.longest_call = bill.longest_call;
		memory->ledger.longest_call_ns =
		    bill.calls > 0 ? plim_count_known(bill.longest_call_ns,
						      PLIM_METHOD_SYSTEM)
				   : plim_count_missing(PLIM_REASON_NONE, 0);
	}
	memory->ledger.stall_ns = memory->guard.stall_ns;
	plimp_bill_end(memory->host, mark, &cost);
	if (memory->ledger.cost.cpu_ns.state == PLIM_STATE_UNREAD) {
		memory->ledger.cost = cost;
		return;
	}
	plimp_cost_add(&memory->ledger.cost, &cost);
}

static int memory_end_of(int code)
{
	switch (code) {
	case PLIM_ENOPROCESS:
		return PLIM_MEMORY_END_GONE;
	case PLIM_EREPLACED:
		return PLIM_MEMORY_END_REPLACED;
	case PLIM_EIMAGE:
		return PLIM_MEMORY_END_IMAGE_CHANGED;
	default:
		return PLIM_MEMORY_END_ALIVE;
	}
}

/* What is known of its exit; asked again each time, since it is told only
 * when somebody has waited for the process. */
static void memory_exit_status(plim_memory *memory)
{
	if (memory->end.how == PLIM_MEMORY_END_IMAGE_CHANGED)
		memory->end.exit_status =
		    plim_count_missing(PLIM_REASON_OTHER_IMAGE, 0);
	else if (memory->target != NULL)
		memory->end.exit_status =
		    plim_target_exit_status(memory->target);
}

static void memory_note_end(plim_memory *memory, int code)
{
	size_t last = plimp_memory_series_count(&memory->series) - 1;

	memory->end_code = code;
	memory->end.how = memory_end_of(code);
	memory->end.seen = plimp_system_now();
	memory->end.last_alive =
	    plimp_memory_series_at(&memory->series, last)->stamp;
	memory_exit_status(memory);
}

/* Binds to the target, if it is not bound already. */
static int memory_bind(plim_memory *memory, plim_target *target,
		       plim_error *error)
{
	int code;

	if (memory->lens != NULL)
		return PLIM_OK;
	code =
	    plimp_system_lens_open(memory->host, target, &memory->lens, error);
	if (code == PLIM_OK)
		memory->target = target;
	return code;
}

int plim_memory_sample(plim_memory *memory, plim_target *target,
		       const plim_memory_options *options, plim_error *error)
{
	struct memory_draft draft;
	struct plimp_bill_mark mark;
	int code;

	if (memory == NULL || (target != NULL && target->host != memory->host))
		return plimp_fail(error, PLIM_EINVAL, 0, "sample memory", NULL,
				  NULL);
	if (memory->lens != NULL && memory->target != target)
		plim_memory_clear(memory);
	code = plimp_guard_set(&memory->guard, options, error);
	if (code != PLIM_OK)
		return code;
	if (memory->end_code != PLIM_OK) {
		memory_exit_status(memory);
		return plimp_fail(error, memory->end_code, 0, "sample memory",
				  NULL, NULL);
	}
	if (plimp_memory_series_reserve(&memory->series) != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "sample memory", NULL,
				  NULL);
	memset(&draft, 0, sizeof(draft));
	draft.parts = memory->guard.parts;
	mark = plimp_bill_begin(memory->host, 1);
	code = memory_bind(memory, target, error);
	if (code == PLIM_OK)
		code = memory_read(memory, &draft, error);
	if (code == PLIM_OK)
		memory_commit(memory, &draft);
	memory_bill(memory, &mark);
	if (code != PLIM_OK && memory->series.taken == 0)
		plim_memory_clear(memory);
	else if (memory_end_of(code) != PLIM_MEMORY_END_ALIVE)
		memory_note_end(memory, code);
	return code;
}

size_t plim_memory_samples(const plim_memory *memory)
{
	assert(memory != NULL);
	return plimp_memory_series_count(&memory->series);
}

uint64_t plim_memory_taken(const plim_memory *memory)
{
	assert(memory != NULL);
	return memory->series.taken;
}

plim_stamp plim_memory_stamp(const plim_memory *memory, size_t index)
{
	const struct plimp_memory_point *point =
	    plimp_memory_series_at(&memory->series, index);
	plim_stamp never = {{0}, {0}};

	return point != NULL ? point->stamp : never;
}

plim_count plim_memory_at(const plim_memory *memory, size_t index, int figure)
{
	const struct plimp_memory_point *point =
	    plimp_memory_series_at(&memory->series, index);

	if (point == NULL)
		return plim_count_missing(PLIM_REASON_NONE, 0);
	if (figure < 1 || figure >= PLIM_MEMORY_COUNT)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	return point->figures[figure];
}

plim_count plim_memory_last(const plim_memory *memory, int figure)
{
	size_t count = plim_memory_samples(memory);

	return plim_memory_at(memory, count > 0 ? count - 1 : 0, figure);
}

size_t plim_memory_timeline(const plim_memory *memory, size_t most,
			    size_t *indices)
{
	assert(memory != NULL && (indices != NULL || most == 0));
	return plimp_memory_series_timeline(&memory->series, most, indices);
}

plim_memory_steady plim_memory_range(const plim_memory *memory, int figure)
{
	assert(memory != NULL);
	return plimp_memory_series_range(&memory->series, figure);
}

plim_memory_end plim_memory_ended(const plim_memory *memory)
{
	assert(memory != NULL);
	return memory->end;
}

plim_memory_cost plim_memory_ledger(const plim_memory *memory)
{
	assert(memory != NULL);
	return memory->ledger;
}

const plim_mappings *plim_memory_mappings(const plim_memory *memory)
{
	assert(memory != NULL);
	return memory->has_mappings ? memory->mappings : NULL;
}
