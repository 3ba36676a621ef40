/*
 * test_reuse_storm.c - thousands of processes in a small range of pids, used
 * again and again (reuse.h), watched round after round. An end that is told
 * must have been one; who was there in two rounds must have stayed; who lived
 * all through a round must be in it; and a rate can be no larger than what
 * that process did.
 */
#include "reuse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct round {
	plim_snapshot *snapshot;
	uint32_t *who; /* the generation of each record, or NOBODY */
	size_t room;
};

struct storm {
	struct round rounds[2];
	uint32_t *seen; /* by generation: the last round it was in */
	uint64_t stayed;
	uint64_t replaced;  /* ended and started with one pid */
	uint64_t same_tick; /* and even with one start tick */
	uint64_t vanished;
	uint64_t zombies;
	double most_percent;
};

static struct storm storm;

static void storm_read(struct round *now)
{
	size_t count = plim_snapshot_size(now->snapshot);

	if (count > now->room) {
		now->room = count * 2;
		now->who = realloc(now->who, now->room * sizeof(*now->who));
		assert_non_null(now->who);
	}
	scale_expect_order(now->snapshot);
	for (size_t i = 0; i < count; i++) {
		const plim_process *it = plim_snapshot_at(now->snapshot, i);
		uint32_t number = reuse_who(it);

		now->who[i] = number;
		if (number == REUSE_NOBODY)
			continue;
		reuse_figures(it, number);
		reuse.records++;
		storm.zombies +=
		    *plim_process_text(it, PLIM_FIELD_STATE).bytes.data == 'Z';
	}
}

static uint32_t storm_of(const struct round *round, const plim_process *it)
{
	const plim_process *first = plim_snapshot_at(round->snapshot, 0);
	size_t low = 0;
	size_t high = plim_snapshot_size(round->snapshot);

	assert_non_null(first);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const plim_process *at =
		    plim_snapshot_at(round->snapshot, middle);

		if (at == it)
			return round->who[middle];
		if (plim_process_pid(at) < plim_process_pid(it))
			low = middle + 1;
		else
			high = middle;
	}
	fail_msg("a record of no round");
	return REUSE_NOBODY;
}

/* Every rate is a number of at least 0, or says why it is none. */
static void storm_rates(const plim_process *first, const plim_process *last,
			uint32_t number)
{
	for (int id = 1; id <= PLIM_FIELD_LAST; id++) {
		const plim_field *field = plim_field_get(id);
		plim_real rate;

		if (field->kind != PLIM_KIND_COUNTER)
			continue;
		rate = plim_process_rate(first, last, id);
		if (rate.state == PLIM_STATE_KNOWN && rate.value >= 0)
			continue;
		if (rate.state == PLIM_STATE_KNOWN ||
		    rate.state == PLIM_STATE_RESET ||
		    rate.state == PLIM_STATE_UNLIKE ||
		    rate.state == PLIM_STATE_PENDING)
			reuse_fail(last, number, field->name);
	}
}

/* What a process may have used between two records, from what it does. */
static void storm_bounds(const plim_process *first, const plim_process *last,
			 uint32_t number)
{
	const struct gen *gen = &reuse.log->items[number];
	uint64_t from = plim_process_stamp(first).monotonic.ns;
	uint64_t passed = plim_process_stamp(last).monotonic.ns - from;
	uint64_t cpu = plim_process_change(first, last, PLIM_FIELD_CPU).value;
	plim_real percent = plim_process_cpu_percent(first, last);
	/* The clock is read after the stamp, and before the round ends. */
	uint64_t most = reuse.end - from;
	int at_rest = gen->kind != GEN_BUSY && gen->kind != GEN_WRITER &&
		      from > gen->born_after + 200000000 &&
		      reuse_is_named(first, number);
	int ending = gen->end_before != 0 && gen->end_before < reuse.end;

	if (percent.state != PLIM_STATE_KNOWN)
		reuse_fail(last, number, "it has no CPU percentage");
	if (gen->kind != GEN_BUSY && most > REUSE_SLACK_NS + 2000000)
		most = REUSE_SLACK_NS + 2000000;
	if (at_rest && !ending)
		most = 0;
	if (cpu > most)
		reuse_fail(last, number, "more CPU time than it can have used");
	if (percent.value < 0 ||
	    percent.value > 100.0 * (double)most / (double)passed + 1e-6)
		reuse_fail(last, number, "an absurd CPU percentage");
	if (percent.value > storm.most_percent)
		storm.most_percent = percent.value;
	if (at_rest &&
	    (plim_process_change(first, last, PLIM_FIELD_IO_CALLS).value != 0 ||
	     plim_process_change(first, last, PLIM_FIELD_DISK_WRITE).value !=
		 0))
		reuse_fail(last, number, "it sleeps and has written");
}

static int storm_event(int event, const plim_process *first,
		       const plim_process *last, void *user)
{
	struct round *rounds = user;
	uint32_t was =
	    first != NULL ? storm_of(&rounds[0], first) : REUSE_NOBODY;
	uint32_t is = last != NULL ? storm_of(&rounds[1], last) : REUSE_NOBODY;

	if (was == REUSE_NOBODY && is == REUSE_NOBODY)
		return 0;
	switch (event) {
	case PLIM_EVENT_STAYED:
		if (was != is)
			reuse_fail(last, was, "it is another one");
		storm_rates(first, last, is);
		storm_bounds(first, last, is);
		storm.stayed++;
		return 0;
	case PLIM_EVENT_ENDED:
		if (reuse.log->items[was].end_before == 0 ||
		    reuse.log->items[was].end_before > reuse.end)
			reuse_fail(first, was, "nobody has ended it");
		reuse.ended++;
		return 0;
	default:
		/* Unseen in the earlier round, whatever its pid was. */
		if (storm.seen[is] != 0 && storm.seen[is] == reuse.round - 1)
			reuse_fail(last, is, "it was there before");
		reuse.started++;
		first = plim_snapshot_find(rounds[0].snapshot,
					   plim_process_pid(last));
		if (first == NULL)
			return 0;
		storm.replaced++;
		storm.same_tick += plim_process_identity(first).start_ticks ==
				   plim_process_identity(last).start_ticks;
		return 0;
	}
}

/* Who lived from before a round's begin to after its end is in it. */
static void storm_whole(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		const struct gen *gen = &reuse.log->items[i];

		if (gen->born_after >= reuse.begin[1] ||
		    (gen->end_before != 0 && gen->end_before <= reuse.end) ||
		    storm.seen[i] == reuse.round)
			continue;
		fail_msg("round %u: generation %d, pid %d, was missed",
			 reuse.round, (int)i, gen->pid);
	}
}

static void storm_round(void)
{
	struct round *now = &storm.rounds[reuse.round % 2];
	struct round *before = &storm.rounds[(reuse.round + 1) % 2];
	struct round pair[2] = {*before, *now};
	uint64_t count;

	reuse.round++;
	reuse.begin[0] = reuse.begin[1];
	reuse.begin[1] = child_monotonic_ns();
	assert_int_equal(scale_take(now->snapshot,
				    reuse.round > 1 ? before->snapshot : NULL,
				    NULL),
			 PLIM_OK);
	reuse.end = child_monotonic_ns();
	storm.vanished += plim_snapshot_cost(now->snapshot).vanished;
	count = reuse_settled();
	storm_read(now);
	pair[1] = *now;
	if (reuse.round > 1)
		plim_snapshot_compare(before->snapshot, now->snapshot,
				      storm_event, pair);
	for (size_t i = 0; i < plim_snapshot_size(now->snapshot); i++)
		if (now->who[i] != REUSE_NOBODY)
			storm.seen[now->who[i]] = reuse.round;
	storm_whole(count);
}

/* A child's own words are not repeated unless it fails. */
static void storm_tell(uint64_t births)
{
	snprintf(
	    reuse.told, REUSE_TOLD,
	    "%u s, %u alive: %" PRIu64 " births, %" PRIu64
	    " at once with the same pid; %u rounds, %" PRIu64
	    " records, %" PRIu64 " of zombies, %" PRIu64 " vanished; %" PRIu64
	    " stayed, %" PRIu64 " ended, %" PRIu64 " started, %" PRIu64
	    " of them in the place of another, %" PRIu64
	    " in its tick; at most %.1f %% CPU",
	    reuse.seconds, reuse.live, births,
	    spawn_truth(&reuse.driver, "again"), reuse.round, reuse.records,
	    storm.zombies, storm.vanished, storm.stayed, reuse.ended,
	    reuse.started, storm.replaced, storm.same_tick, storm.most_percent);
}

static void storm_body(void *user)
{
	plim_host *host = open_host(0);
	uint64_t begin;
	uint64_t births;

	(void)user;
	reuse_start();
	storm.seen = calloc(GEN_CAPACITY, sizeof(*storm.seen));
	assert_non_null(storm.seen);
	storm.rounds[0].snapshot = new_snapshot(host);
	storm.rounds[1].snapshot = new_snapshot(host);
	begin = child_monotonic_ns();
	while (!reuse_is_over(begin))
		storm_round();
	spawn_ask(&reuse.driver, "stop");
	births = spawn_truth(&reuse.driver, "births");
	storm_tell(births);
	assert_true(reuse.ended > REUSE_EVENTS);
	assert_true(reuse.started > REUSE_EVENTS);
	assert_true(storm.replaced > REUSE_EVENTS / 5);
	spawn_ask(&reuse.driver, "end");
	spawn_finish(&reuse.driver);
	plim_snapshot_free(storm.rounds[0].snapshot);
	plim_snapshot_free(storm.rounds[1].snapshot);
	plim_host_close(host);
}

static void test_snapshots(void **state)
{
	(void)state;
	reuse_run(storm_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_snapshots),
	};

	return cmocka_run_group_tests_name("a storm of reused pids", tests,
					   NULL, NULL);
}
