/*
 * sum.c - sums over members of which some may be missing.
 *
 * The running total covers the known members and carries their bound. Where
 * the members' bounds point apart (one at least, another at most) the total
 * says nothing any more and becomes UNLIKE, for good: no later member can
 * mend it. The same holds in the end for an upper bound with a member
 * missing. So the order of the members never matters to state, bound and
 * value.
 */
#include <plimsoll/figure.h>
#include <plimsoll/fields.h>

static void sum_count_up(uint32_t *number)
{
	if (*number < UINT32_MAX)
		(*number)++;
}

/* The total once it is known to be a lower bound; an upper bound that is also
 * a lower bound of something else bounds nothing. */
static plim_count sum_at_least(plim_count total)
{
	if (total.bound == PLIM_BOUND_AT_MOST)
		return plim_count_missing(PLIM_REASON_SAME_BOUND, 0);
	total.bound = PLIM_BOUND_AT_LEAST;
	return total;
}

static plim_count sum_two(plim_count total, plim_count member)
{
	int saturated = member.value > UINT64_MAX - total.value;

	if (total.bound == PLIM_BOUND_EXACT)
		total.bound = member.bound;
	else if (member.bound != PLIM_BOUND_EXACT &&
		 member.bound != total.bound)
		return plim_count_missing(PLIM_REASON_SAME_BOUND, 0);
	if (total.method != member.method)
		total.method = PLIM_METHOD_MIXED;
	if (!saturated) {
		total.value += member.value;
		return total;
	}
	total.value = UINT64_MAX;
	return sum_at_least(total);
}

/* What does not apply to a member is nothing that the sum lacks; it is told
 * only where nothing else is to be told. */
static void sum_add_missing(plim_sum *sum, plim_count member)
{
	int lacks = member.state != PLIM_STATE_NOT_APPLICABLE;

	if (sum->missing == 0 &&
	    (lacks || sum->first_missing.state == PLIM_STATE_UNREAD)) {
		sum->first_missing = member;
		sum->first_missing.value = 0;
		sum->first_missing.bound = PLIM_BOUND_EXACT;
	}
	if (lacks)
		sum_count_up(&sum->missing);
}

void plim_sum_add(plim_sum *sum, plim_count member)
{
	if (member.state != PLIM_STATE_KNOWN) {
		sum_add_missing(sum, member);
		return;
	}
	member.code = 0;
	if (sum->known == 0)
		sum->total_known = member;
	else if (sum->total_known.state == PLIM_STATE_KNOWN)
		sum->total_known = sum_two(sum->total_known, member);
	sum_count_up(&sum->known);
}

plim_count plim_sum_total(const plim_sum *sum)
{
	if (sum->known == 0 && sum->missing == 0 &&
	    sum->first_missing.state != PLIM_STATE_NOT_APPLICABLE)
		return plim_count_known(0, PLIM_METHOD_NONE);
	if (sum->known == 0)
		return sum->first_missing;
	if (sum->missing == 0 || sum->total_known.state != PLIM_STATE_KNOWN)
		return sum->total_known;
	return sum_at_least(sum->total_known);
}
