/*
 * diff.c - two sides of profiles into one set of stacks, and sums over them.
 *
 * All that is compared is in one list: each stack with the side it is of, its
 * weight and its functions by the numbers of diff_match.c, each once. Verdicts
 * are a matter of summing it again and again with more and more of it left
 * out (diff_judge.c).
 *
 * CPU time that no sample covers is left out from the start: it belongs to no
 * function. CPU time in the kernel that was counted in whole periods counts
 * as so many samples.
 */
#include "compare/diff.h"

#include "compare/stored.h"
#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

#define PLIM_X(name, number, word, text) \
	case number:                     \
		return word;
const char *plim_diff_verdict_word(int change)
{
	switch (change) {
		PLIM_DIFF_VERDICT_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_diff_of_word(int of)
{
	switch (of) {
		PLIM_DIFF_OF_LIST(PLIM_X)
	}
	return NULL;
}
#undef PLIM_X

#define PLIM_X(name, number, word, text) \
	case number:                     \
		return text;
const char *plim_diff_verdict_text(int change)
{
	switch (change) {
		PLIM_DIFF_VERDICT_LIST(PLIM_X)
	}
	return NULL;
}

const char *plim_diff_of_text(int of)
{
	switch (of) {
		PLIM_DIFF_OF_LIST(PLIM_X)
	}
	return NULL;
}
#undef PLIM_X

static const char compare_word[] = "compare profiles";

/* --- stacks --------------------------------------------------------------- */

/* Weights of hostile files may be anything: they end at the largest number. */
static uint64_t diff_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int diff_in_view(const plim_stored_stack *stack)
{
	return stack->activity == 0 || stack->activity == PLIM_ACTIVITY_RUNNING;
}

/* A stack without a sample stands for as many as periods fit in. */
static uint64_t diff_samples(const struct plim_stored *stored,
			     const plim_stored_stack *stack)
{
	const uint64_t period = stored->facts.period_ns;

	if (stack->samples > 0)
		return stack->samples;
	if (!stored->facts.is_time || period == 0 || stack->weight < period)
		return 1;
	return stack->weight / period;
}

/* Samples that follow each other more closely than that in a thread's CPU
 * time find it in the same phase of its work: they tell as much as one. */
#define DIFF_APART UINT64_C(1000000) /* ns */

/* By how much the squares of a profile's samples are larger for it. */
static double diff_crowding(const struct plim_stored *stored)
{
	const uint64_t period = stored->facts.period_ns;

	return period > 0 && period < DIFF_APART
		   ? (double)DIFF_APART / (double)period
		   : 1;
}

static int diff_room(struct plim_diff *diff, size_t items)
{
	void *stacks = diff->stacks;
	void *list = diff->items;
	int code =
	    plimp_reserve(&diff->allocator, &stacks, &diff->stack_capacity,
			  diff->stack_count + 1, 256, sizeof(*diff->stacks));

	diff->stacks = stacks;
	if (code == PLIM_OK)
		code = plimp_reserve(
		    &diff->allocator, &list, &diff->item_capacity,
		    diff->item_count + items, 1024, sizeof(*diff->items));
	diff->items = list;
	return code;
}

static int diff_take_slices(struct plim_diff *diff,
			    const plim_stored_stack *from)
{
	void *slices = diff->slices;
	int code;

	if (diff->slice_limit == 0)
		return PLIM_OK;
	code = plimp_reserve(&diff->allocator, &slices, &diff->slice_capacity,
			     diff->slice_count + from->slice_count, 1024,
			     sizeof(*diff->slices));
	diff->slices = slices;
	if (code != PLIM_OK)
		return code;
	for (uint32_t i = 0; i < from->slice_count; i++)
		diff->slices[diff->slice_count++] = (struct plimp_diff_slice){
		    .stack = (uint32_t)diff->stack_count - 1,
		    .slice = from->slices[i].slice,
		    .weight = (double)from->slices[i].weight,
		};
	return PLIM_OK;
}

/* What a profile's stacks are taken by. */
struct diff_taking {
	uint32_t profile;
	const uint32_t *numbers;
	uint32_t *seen; /* by function: the stack that has it, + 1 */
};

/* Of the last stack, once its functions are there: that again is the list of
 * what is on it, unless a function calls itself. */
static void diff_take_chain(struct plim_diff *diff,
			    const struct diff_taking *taking,
			    const plim_stored_stack *from)
{
	struct plimp_diff_stack *stack = &diff->stacks[diff->stack_count - 1];

	stack->chain = stack->first;
	stack->chain_count = (uint32_t)from->function_count;
	if (stack->function_count == from->function_count)
		return;
	stack->chain = diff->item_count;
	for (size_t i = 0; i < from->function_count; i++)
		diff->items[diff->item_count++] =
		    taking->numbers[from->functions[i]];
}

static int diff_take_stack(struct plim_diff *diff,
			   const struct diff_taking *taking,
			   const plim_stored_stack *from)
{
	const struct plimp_diff_profile *profile =
	    &diff->profiles[taking->profile];
	plim_diff_side *side = &diff->facts.sides[profile->side];
	struct plimp_diff_stack *stack;
	uint64_t samples;

	if (!diff_in_view(from) || from->weight == 0)
		return PLIM_OK;
	if (profile->stored->functions[from->functions[0]].special ==
	    PLIM_SPECIAL_UNSAMPLED) {
		side->left_out = diff_add(side->left_out, from->weight);
		return PLIM_OK;
	}
	if (diff->stack_count >= PLIM_NO_INDEX - 1)
		return PLIM_ELIMIT;
	if (diff_room(diff, 2 * from->function_count) != PLIM_OK)
		return PLIM_ENOMEM;
	samples = diff_samples(profile->stored, from);
	stack = &diff->stacks[diff->stack_count++];
	*stack = (struct plimp_diff_stack){
	    .profile = taking->profile,
	    .first = diff->item_count,
	    .whole = from->weight,
	    .weight = (double)from->weight,
	    .square = (double)from->weight * (double)from->weight /
		      (double)samples * diff_crowding(profile->stored),
	    .samples = samples,
	};
	side->weight = diff_add(side->weight, from->weight);
	side->samples = diff_add(side->samples, samples);
	for (size_t i = 0; i < from->function_count; i++) {
		const uint32_t number = taking->numbers[from->functions[i]];

		if (taking->seen[number] == diff->stack_count)
			continue; /* recursion: once per stack */
		taking->seen[number] = (uint32_t)diff->stack_count;
		diff->items[diff->item_count++] = number;
		stack->function_count++;
	}
	diff_take_chain(diff, taking, from);
	return diff_take_slices(diff, from);
}

static int diff_take(struct plim_diff *diff, uint32_t *const *numbers)
{
	uint32_t *seen = plimp_allocate(
	    &diff->allocator, diff->function_count + 1, sizeof(*seen));
	int code = seen != NULL ? PLIM_OK : PLIM_ENOMEM;

	for (size_t p = 0; p < diff->profile_count && code == PLIM_OK; p++) {
		const struct plim_stored *stored = diff->profiles[p].stored;
		const struct diff_taking taking = {(uint32_t)p, numbers[p],
						   seen};

		for (size_t i = 0; i < stored->stack_count && code == PLIM_OK;
		     i++)
			code =
			    diff_take_stack(diff, &taking, &stored->stacks[i]);
	}
	plimp_release(&diff->allocator, seen, diff->function_count + 1,
		      sizeof(*seen));
	return code;
}

/* --- sums ----------------------------------------------------------------- */

void plimp_diff_count(struct plim_diff *diff)
{
	const size_t size = diff->function_count * sizeof(double);

	for (int side = 0; side < 2; side++) {
		diff->tally[side].weight = 0;
		diff->tally[side].square = 0;
		memset(diff->tally[side].self, 0, size);
		memset(diff->tally[side].total, 0, size);
	}
	for (size_t i = 0; i < diff->stack_count; i++) {
		const struct plimp_diff_stack *stack = &diff->stacks[i];
		const uint32_t *items = diff->items + stack->first;
		struct plimp_diff_tally *tally =
		    &diff->tally[diff->profiles[stack->profile].side];

		if (stack->is_out)
			continue;
		tally->weight += stack->weight;
		tally->square += stack->square;
		tally->self[items[0]] += stack->weight;
		for (uint32_t k = 0; k < stack->function_count; k++)
			tally->total[items[k]] += stack->weight;
	}
}

/* The whole numbers that a function's row has. */
static void diff_rows(struct plim_diff *diff)
{
	for (size_t i = 0; i < diff->stack_count; i++) {
		const struct plimp_diff_stack *stack = &diff->stacks[i];
		const uint32_t *items = diff->items + stack->first;
		struct plimp_diff_profile *profile =
		    &diff->profiles[stack->profile];
		const int side = profile->side;
		const uint64_t weight = stack->whole;
		plim_diff_function *leaf = &diff->functions[items[0]];

		profile->weight += stack->weight;
		profile->square += stack->square;
		if (profile->self != NULL)
			profile->self[items[0]] += stack->weight;
		leaf->self[side] = diff_add(leaf->self[side], weight);
		leaf->self_samples[side] =
		    diff_add(leaf->self_samples[side], stack->samples);
		for (uint32_t k = 0; k < stack->function_count; k++) {
			plim_diff_function *row = &diff->functions[items[k]];

			row->total[side] = diff_add(row->total[side], weight);
			row->total_samples[side] =
			    diff_add(row->total_samples[side], stack->samples);
		}
	}
}

static void diff_shares(struct plim_diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++)
		for (int side = 0; side < 2; side++) {
			const double whole =
			    (double)diff->facts.sides[side].weight;
			plim_diff_function *row = &diff->functions[i];

			row->self_share[side] = (double)row->self[side] / whole;
			row->total_share[side] =
			    (double)row->total[side] / whole;
		}
}

static void diff_per_second(plim_diff_side *side)
{
	const double time = (double)side->weight + (double)side->left_out;

	if (side->duration_ns > 0)
		side->per_second = plim_real_known(
		    time / (double)side->duration_ns, PLIM_METHOD_NONE);
}

/* --- all ------------------------------------------------------------------ */

static int diff_fits(const struct plim_diff *diff, int view, plim_error *error)
{
	const plim_stored_facts *first = &diff->profiles[0].stored->facts;

	for (size_t p = 0; p < diff->profile_count; p++) {
		const plim_stored_facts *facts =
		    &diff->profiles[p].stored->facts;

		if ((facts->views >> view & 1) == 0)
			return plimp_fail(error, PLIM_EUNSUPPORTED, 0,
					  compare_word, NULL,
					  "a profile has no CPU time: it was "
					  "written with --view off or wall");
		if (facts->is_time != first->is_time ||
		    facts->unit.size != first->unit.size ||
		    memcmp(facts->unit.data, first->unit.data,
			   first->unit.size) != 0)
			return plimp_fail(error, PLIM_EUNSUPPORTED, 0,
					  compare_word, NULL,
					  "the profiles count in different "
					  "units");
	}
	return PLIM_OK;
}

static void diff_durations(struct plim_diff *diff)
{
	for (int side = 0; side < 2; side++)
		diff->facts.sides[side].per_second =
		    plim_real_missing(PLIM_REASON_NO_LINE, 0);
	for (size_t p = 0; p < diff->profile_count; p++) {
		plim_diff_side *side =
		    &diff->facts.sides[diff->profiles[p].side];
		const uint64_t duration =
		    diff->profiles[p].stored->facts.duration_ns;

		side->duration_ns = duration == 0 || (side->profiles > 0 &&
						      side->duration_ns == 0)
					? 0
					: diff_add(side->duration_ns, duration);
		side->profiles++;
	}
}

static int diff_arrays(struct plim_diff *diff)
{
	const size_t count = diff->function_count + 1;
	const plim_allocator *allocator = &diff->allocator;

	for (int of = 0; of < 2 && diff->slice_limit > 0; of++) {
		diff->varied[of] =
		    plimp_allocate(allocator, count, sizeof(double));
		if (diff->varied[of] == NULL)
			return PLIM_ENOMEM;
	}
	if (diff->slice_limit > 0) {
		diff->sums =
		    plimp_allocate(allocator, count, sizeof(*diff->sums));
		diff->touched =
		    plimp_allocate(allocator, count, sizeof(*diff->touched));
		if (diff->sums == NULL || diff->touched == NULL)
			return PLIM_ENOMEM;
	}

	diff->order = plimp_allocate(allocator, count, sizeof(*diff->order));
	diff->places = plimp_allocate(allocator, count, sizeof(*diff->places));
	diff->tested = plimp_allocate(allocator, count, 1);
	diff->clear = plimp_allocate(allocator, count, 1);
	diff->judged = plimp_allocate(allocator, count, sizeof(*diff->judged));
	if (diff->order == NULL || diff->places == NULL ||
	    diff->tested == NULL || diff->clear == NULL || diff->judged == NULL)
		return PLIM_ENOMEM;
	for (int side = 0; side < 2; side++) {
		struct plimp_diff_tally *tally = &diff->tally[side];

		tally->self = plimp_allocate(allocator, count, sizeof(double));
		tally->total = plimp_allocate(allocator, count, sizeof(double));
		diff->whole[side] =
		    plimp_allocate(allocator, count, sizeof(double));
		if (tally->self == NULL || tally->total == NULL ||
		    diff->whole[side] == NULL)
			return PLIM_ENOMEM;
	}
	for (size_t p = 0; p < diff->profile_count; p++) {
		struct plimp_diff_profile *profile = &diff->profiles[p];

		if (diff->facts.sides[profile->side].profiles < 2)
			continue;
		profile->self =
		    plimp_allocate(allocator, count, sizeof(double));
		if (profile->self == NULL)
			return PLIM_ENOMEM;
	}
	return PLIM_OK;
}

static int diff_numbers(struct plim_diff *diff, uint32_t **numbers)
{
	int code = PLIM_OK;

	for (size_t p = 0; p < diff->profile_count; p++) {
		numbers[p] =
		    plimp_allocate(&diff->allocator,
				   diff->profiles[p].stored->function_count + 1,
				   sizeof(**numbers));
		if (numbers[p] == NULL)
			return PLIM_ENOMEM;
	}
	code = plimp_diff_match(diff, numbers);
	if (code == PLIM_OK)
		code = diff_arrays(diff);
	if (code == PLIM_OK)
		code = diff_take(diff, numbers);
	if (code == PLIM_OK)
		code = plimp_diff_slices_order(diff);
	return code;
}

/* As many as all profiles have; 0: one has none, or another count. */
static uint32_t diff_slice_limit(const struct plim_diff *diff)
{
	const uint32_t count = diff->profiles[0].stored->facts.slice_count;

	for (size_t p = 1; p < diff->profile_count; p++)
		if (diff->profiles[p].stored->facts.slice_count != count)
			return 0;
	return count;
}

static int diff_make(struct plim_diff *diff, plim_error *error)
{
	uint32_t *numbers[2 * PLIM_DIFF_SIDE_LIMIT] = {NULL};
	int code;

	diff_durations(diff);
	diff->slice_limit = diff_slice_limit(diff);
	diff->facts.unit.size = diff->profiles[0].stored->facts.unit.size;
	diff->facts.unit.data =
	    plimp_pool_copy(&diff->pool, diff->profiles[0].stored->facts.unit);
	code = diff->facts.unit.data != NULL ? diff_numbers(diff, numbers)
					     : PLIM_ENOMEM;
	for (size_t p = 0; p < diff->profile_count; p++)
		plimp_release(&diff->allocator, numbers[p],
			      diff->profiles[p].stored->function_count + 1,
			      sizeof(**numbers));
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, compare_word, NULL, NULL);
	for (int side = 0; side < 2; side++) {
		if (diff->facts.sides[side].weight == 0)
			return plimp_fail(
			    error, PLIM_ENOSAMPLES, 0, compare_word, NULL,
			    "%s of the two has no sample of CPU "
			    "time",
			    side == 0 ? "the first" : "the second");
		if (diff->facts.is_time)
			diff_per_second(&diff->facts.sides[side]);
	}
	diff_rows(diff);
	diff_shares(diff);
	plimp_diff_judge(diff);
	return PLIM_OK;
}

static int diff_options(const plim_diff_options *given, plim_diff_facts *facts)
{
	plim_diff_options options = {.size = sizeof(options)};

	if (given != NULL) {
		if (given->size < offsetof(plim_diff_options, reserved))
			return PLIM_EINVAL;
		options = *given;
	}
	facts->view = options.view != 0 ? options.view : PLIM_VIEW_CPU;
	facts->detect = options.detect > 0 ? options.detect : PLIM_DIFF_DETECT;
	facts->level = options.level > 0 ? options.level : PLIM_DIFF_LEVEL;
	facts->allowance = options.allowance < 0   ? 0
			   : options.allowance > 0 ? options.allowance
						   : PLIM_DIFF_ALLOWANCE;
	if (plim_view_word(facts->view) == NULL || !(facts->level < 1) ||
	    !(facts->level > 1e-12) || !(facts->allowance < 1) ||
	    !(facts->detect < 1e6))
		return PLIM_EINVAL;
	return PLIM_OK;
}

int plim_diff_new(plim_diff **diff, const plim_stored *const *before,
		  size_t before_count, const plim_stored *const *after,
		  size_t after_count, const plim_diff_options *options,
		  plim_error *error)
{
	const plim_allocator *allocator =
	    options != NULL ? options->allocator : NULL;
	plim_diff_facts facts = {.view = 0};
	struct plim_diff *made;
	int code;

	assert(diff != NULL);
	if (before_count == 0 || after_count == 0 ||
	    before_count > PLIM_DIFF_SIDE_LIMIT ||
	    after_count > PLIM_DIFF_SIDE_LIMIT ||
	    diff_options(options, &facts) != PLIM_OK)
		return plimp_fail(error, PLIM_EINVAL, 0, compare_word, NULL,
				  NULL);
	if (facts.view != PLIM_VIEW_CPU)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, compare_word,
				  NULL,
				  "blocked samples follow each other too "
				  "closely for the test; compare CPU time");
	made = plimp_allocate(allocator, 1, sizeof(*made));
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, compare_word, NULL,
				  NULL);
	if (allocator != NULL)
		made->allocator = *allocator;
	made->pool.allocator = made->allocator;
	made->facts = facts;
	made->profile_count = before_count + after_count;
	made->profiles = plimp_allocate(allocator, made->profile_count,
					sizeof(*made->profiles));
	if (made->profiles == NULL) {
		plim_diff_free(made);
		return plimp_fail(error, PLIM_ENOMEM, 0, compare_word, NULL,
				  NULL);
	}
	for (size_t p = 0; p < made->profile_count; p++) {
		made->profiles[p].side = p >= before_count;
		made->profiles[p].stored =
		    p < before_count ? before[p] : after[p - before_count];
	}
	made->facts.is_time = made->profiles[0].stored->facts.is_time;
	code = diff_fits(made, facts.view, error);
	if (code == PLIM_OK)
		code = diff_make(made, error);
	if (code != PLIM_OK) {
		plim_diff_free(made);
		return code;
	}
	*diff = made;
	return PLIM_OK;
}

void plim_diff_free(plim_diff *diff)
{
	plim_allocator allocator;
	size_t count;

	if (diff == NULL)
		return;
	allocator = diff->allocator;
	count = diff->function_count + 1;
	plimp_pool_release(&diff->pool);
	for (size_t p = 0; diff->profiles != NULL && p < diff->profile_count;
	     p++)
		plimp_release(&allocator, diff->profiles[p].self, count,
			      sizeof(double));
	for (int side = 0; side < 2; side++) {
		plimp_release(&allocator, diff->tally[side].self, count,
			      sizeof(double));
		plimp_release(&allocator, diff->tally[side].total, count,
			      sizeof(double));
		plimp_release(&allocator, diff->whole[side], count,
			      sizeof(double));
	}
	for (int of = 0; of < 2; of++)
		plimp_release(&allocator, diff->varied[of], count,
			      sizeof(double));
	plimp_release(&allocator, diff->sums, count, sizeof(*diff->sums));
	plimp_release(&allocator, diff->touched, count, sizeof(*diff->touched));
	plimp_release(&allocator, diff->slices, diff->slice_capacity,
		      sizeof(*diff->slices));
	plimp_release(&allocator, diff->order, count, sizeof(*diff->order));
	plimp_release(&allocator, diff->places, count, sizeof(*diff->places));
	plimp_release(&allocator, diff->tested, count, 1);
	plimp_release(&allocator, diff->clear, count, 1);
	plimp_release(&allocator, diff->judged, count, sizeof(*diff->judged));
	plimp_release(&allocator, diff->functions, count,
		      sizeof(*diff->functions));
	plimp_release(&allocator, diff->stacks, diff->stack_capacity,
		      sizeof(*diff->stacks));
	plimp_release(&allocator, diff->items, diff->item_capacity,
		      sizeof(*diff->items));
	plimp_release(&allocator, diff->profiles, diff->profile_count,
		      sizeof(*diff->profiles));
	plimp_release(&allocator, diff, 1, sizeof(*diff));
}

plim_diff_facts plim_diff_about(const plim_diff *diff)
{
	return diff->facts;
}

size_t plim_diff_function_count(const plim_diff *diff)
{
	return diff->facts.changed + diff->facts.same + diff->facts.few;
}

const plim_diff_function *plim_diff_function_at(const plim_diff *diff,
						size_t index)
{
	return index < plim_diff_function_count(diff)
		   ? &diff->functions[diff->order[index]]
		   : NULL;
}

size_t plim_diff_stack_count(const plim_diff *diff)
{
	return diff->stack_count;
}

plim_diff_stack plim_diff_stack_at(const plim_diff *diff, size_t index)
{
	const struct plimp_diff_stack *stack;

	if (index >= diff->stack_count)
		return (plim_diff_stack){.functions = NULL};
	stack = &diff->stacks[index];
	return (plim_diff_stack){
	    .functions = diff->items + stack->chain,
	    .function_count = stack->chain_count,
	    .side = diff->profiles[stack->profile].side,
	    .weight = stack->whole,
	    .samples = stack->samples,
	};
}
