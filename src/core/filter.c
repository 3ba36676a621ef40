/*
 * filter.c - judging a process by a compiled filter.
 *
 * Logic has three values (Kleene): what cannot be known is neither true nor
 * false, and stays so unless the other operand decides alone. A figure is
 * taken as the range in which the truth lies: an exact one is a point, one
 * that is "at least" v reaches from v to infinity, "at most" v from zero to v,
 * or from below all limits where the field may be negative. A comparison is
 * true or false if it is so for the whole range, else unknown.
 */
#include "core/filter_program.h"
#include "core/memory.h"
#include "core/fail.h"

#include <plimsoll/usage.h>

#include <assert.h>
#include <string.h>

/* How the ends of a range stand to the limit: below 0, 0, above 0. */
struct filter_range {
	int low;
	int high;
};

int plimp_filter_compile(plim_filter **filter, const char *text,
			 const plim_allocator *allocator,
			 plimp_find_user_fn *find_user, plim_error *error)
{
	plim_filter *made;
	size_t size = 0;
	int code;

	if (filter == NULL || text == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "filter", "", NULL);
	while (size <= PLIM_FILTER_LIMIT && text[size] != '\0')
		size++;
	if (size > PLIM_FILTER_LIMIT)
		return plimp_fail_at(
		    error, PLIM_ELIMIT, "filter", "", PLIM_FILTER_LIMIT,
		    "a filter is at most %d bytes long", PLIM_FILTER_LIMIT);
	made = plimp_allocate(allocator, 1, sizeof(*made) + 2 * size + 1);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "filter", "", NULL);
	if (allocator != NULL)
		made->allocator = *allocator;
	made->pool_size = 2 * size;
	code = plimp_filter_parse(made, text, size, find_user, error);
	if (code != PLIM_OK) {
		plim_filter_free(made);
		return code;
	}
	*filter = made;
	return PLIM_OK;
}

void plim_filter_free(plim_filter *filter)
{
	plim_allocator allocator;

	if (filter == NULL)
		return;
	allocator = filter->allocator;
	plimp_release(&allocator, filter->steps, filter->capacity,
		      sizeof(*filter->steps));
	plimp_release(&allocator, filter, 1,
		      sizeof(*filter) + filter->pool_size + 1);
}

plim_field_set plim_filter_fields(const plim_filter *filter)
{
	plim_field_set none = {{0}};

	return filter != NULL ? filter->fields : none;
}

int plim_filter_needs_rates(const plim_filter *filter)
{
	return filter != NULL && filter->needs_rates;
}

static plim_real filter_rate(const struct plimp_filter_step *step,
			     const plim_process *process,
			     const plim_process *earlier)
{
	if (earlier == NULL)
		return plim_real_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	if (step->source == PLIMP_FILTER_CPU_PERCENT)
		return plim_process_cpu_percent(earlier, process);
	return plim_process_rate(earlier, process, step->field);
}

static int filter_order_count(uint64_t value,
			      const struct plimp_filter_step *step)
{
	if (value != step->whole)
		return value < step->whole ? -1 : 1;
	return step->remainder ? -1 : 0;
}

static int filter_order_real(double value, double limit)
{
	return (value > limit) - (value < limit);
}

static struct filter_range filter_range_of(int bound, int order, int zero)
{
	struct filter_range range = {order, order};

	assert(bound >= PLIM_BOUND_EXACT && bound <= PLIM_BOUND_AT_MOST);
	if (bound == PLIM_BOUND_AT_LEAST)
		range.high = 1;
	else if (bound == PLIM_BOUND_AT_MOST)
		range.low = zero;
	assert(range.low <= range.high);
	return range;
}

static int filter_not(int truth)
{
	if (truth == PLIM_UNKNOWN)
		return PLIM_UNKNOWN;
	return truth == PLIM_TRUE ? PLIM_FALSE : PLIM_TRUE;
}

static int filter_equal(struct filter_range range)
{
	if (range.low > 0 || range.high < 0)
		return PLIM_FALSE;
	if (range.low == 0 && range.high == 0)
		return PLIM_TRUE;
	return PLIM_UNKNOWN;
}

static int filter_less(struct filter_range range)
{
	if (range.high < 0)
		return PLIM_TRUE;
	return range.low >= 0 ? PLIM_FALSE : PLIM_UNKNOWN;
}

static int filter_less_equal(struct filter_range range)
{
	if (range.high <= 0)
		return PLIM_TRUE;
	return range.low > 0 ? PLIM_FALSE : PLIM_UNKNOWN;
}

static int filter_compare(int operator, struct filter_range range)
{
	switch (operator) {
	case PLIMP_FILTER_EQUAL:
		return filter_equal(range);
	case PLIMP_FILTER_UNEQUAL:
		return filter_not(filter_equal(range));
	case PLIMP_FILTER_LESS:
		return filter_less(range);
	case PLIMP_FILTER_LESS_EQUAL:
		return filter_less_equal(range);
	case PLIMP_FILTER_GREATER:
		return filter_not(filter_less_equal(range));
	default:
		assert(operator== PLIMP_FILTER_GREATER_EQUAL);
		return filter_not(filter_less(range));
	}
}

static int filter_number(const struct plimp_filter_step *step,
			 const plim_process *process,
			 const plim_process *earlier)
{
	plim_count count;
	plim_real rate;

	if (step->source != PLIMP_FILTER_FIELD) {
		rate = filter_rate(step, process, earlier);
		if (rate.state != PLIM_STATE_KNOWN)
			return PLIM_UNKNOWN;
		return filter_compare(
		    step->operator, filter_range_of(
			rate.bound, filter_order_real(rate.value, step->limit),
			filter_order_real(0, step->limit)));
	}
	count = plim_process_count(process, step->field);
	if (count.state != PLIM_STATE_KNOWN)
		return PLIM_UNKNOWN;
	if (step->is_signed) {
		rate = plim_real_in_unit(count, PLIM_UNIT_SIGNED);
		return filter_compare(
		    step->operator, filter_range_of(
			rate.bound, filter_order_real(rate.value, step->limit),
			-1));
	}
	return filter_compare(
	    step->operator,
	    filter_range_of(count.bound, filter_order_count(count.value, step),
			    filter_order_count(0, step)));
}

static int filter_known(const struct plimp_filter_step *step,
			const plim_process *process,
			const plim_process *earlier)
{
	const plim_field *field = plim_field_get(step->field);
	int state;

	if (step->source != PLIMP_FILTER_FIELD)
		state = filter_rate(step, process, earlier).state;
	else if (field != NULL && field->kind == PLIM_KIND_TEXT)
		state = plim_process_text(process, step->field).state;
	else
		state = plim_process_count(process, step->field).state;
	return state == PLIM_STATE_KNOWN ? PLIM_TRUE : PLIM_FALSE;
}

/*
 * One wildcard is open at a time: when the text after the last `*` does not
 * fit, that `*` takes one byte more and the earlier ones never move. So the
 * work is bounded by pattern times text, and a name is short.
 */
int plimp_filter_glob(plim_bytes pattern, plim_bytes text)
{
	size_t p = 0, t = 0, retry = 0, star = SIZE_MAX;
	size_t quoted;

	while (t < text.size) {
		if (p < pattern.size && pattern.data[p] == '*') {
			star = ++p;
			retry = t;
			continue;
		}
		quoted = p < pattern.size && pattern.data[p] == '\\';
		if (p + quoted < pattern.size &&
		    (pattern.data[p + quoted] == text.data[t] ||
		     pattern.data[p] == '?')) {
			p += quoted + 1;
			t++;
		} else if (star != SIZE_MAX) {
			p = star;
			t = ++retry;
		} else {
			return 0;
		}
	}
	while (p < pattern.size && pattern.data[p] == '*')
		p++;
	return p == pattern.size;
}

static int filter_text(const plim_filter *filter,
		       const struct plimp_filter_step *step,
		       const plim_process *process)
{
	plim_text text = plim_process_text(process, step->field);
	plim_bytes wanted = {filter->pool + step->text_start, step->text_size};
	int same, negated;

	if (text.state != PLIM_STATE_KNOWN)
		return PLIM_UNKNOWN;
	if (step->kind == PLIMP_FILTER_PATTERN)
		same = plimp_filter_glob(wanted, text.bytes);
	else
		same = text.bytes.size == wanted.size &&
		       (wanted.size == 0 ||
			memcmp(text.bytes.data, wanted.data, wanted.size) == 0);
	negated = step->operator== PLIMP_FILTER_UNEQUAL || step->operator==
		  PLIMP_FILTER_UNLIKE;
	return same != negated ? PLIM_TRUE : PLIM_FALSE;
}

static int filter_join(int kind, int left, int right)
{
	int decisive = kind == PLIMP_FILTER_AND ? PLIM_FALSE : PLIM_TRUE;

	if (left == decisive || right == decisive)
		return decisive;
	if (left == PLIM_UNKNOWN || right == PLIM_UNKNOWN)
		return PLIM_UNKNOWN;
	return filter_not(decisive);
}

static int filter_leaf(const plim_filter *filter,
		       const struct plimp_filter_step *step,
		       const plim_process *process, const plim_process *earlier)
{
	if (step->kind == PLIMP_FILTER_KNOWN)
		return filter_known(step, process, earlier);
	if (step->kind == PLIMP_FILTER_NUMBER)
		return filter_number(step, process, earlier);
	if (step->kind >= PLIMP_FILTER_BELOW)
		return plimp_filter_select(filter, step, process);
	return filter_text(filter, step, process);
}

int plim_filter_match(const plim_filter *filter, const plim_process *process,
		      const plim_process *earlier)
{
	int stack[PLIMP_FILTER_STACK];
	size_t top = 0;

	if (filter == NULL || process == NULL)
		return PLIM_UNKNOWN;
	for (size_t i = 0; i < filter->count; i++) {
		const struct plimp_filter_step *step = &filter->steps[i];

		if (step->kind == PLIMP_FILTER_NOT) {
			assert(top >= 1);
			stack[top - 1] = filter_not(stack[top - 1]);
		} else if (step->kind == PLIMP_FILTER_AND ||
			   step->kind == PLIMP_FILTER_OR) {
			assert(top >= 2);
			top--;
			stack[top - 1] =
			    filter_join(step->kind, stack[top - 1], stack[top]);
		} else {
			assert(top < PLIMP_FILTER_STACK);
			stack[top++] =
			    filter_leaf(filter, step, process, earlier);
		}
	}
	assert(top == 1);
	return stack[0];
}
