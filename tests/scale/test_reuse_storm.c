/*
 * test_reuse_storm.c - thousands of processes in a small range of pids, used
 * again and again (tests/workloads/generations.c), watched round after round.
 *
 * The storm writes down who was born and who ended, and when. So every record
 * belongs to exactly one generation, that of its pid at its time; its name,
 * its proof and its figures must be that one's. An end that is told must have
 * been one; who was there in two rounds must have stayed; and a rate can be no
 * larger than what that process did. PLIM_STORM=SECONDS,LIVE (60,10000) makes
 * it a large one.
 */
#include "scale.h"

#include "generations.h"
#include "ns.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STORM_SECONDS 3 /* at least */
#define STORM_MOST    60
#define STORM_EVENTS  100 /* of each kind, at least */
#define STORM_LIVE    2000
#define STORM_NOBODY  UINT32_MAX
#define STORM_TOLD    1024

/* By so many pages a child may differ from generation 0, its number's pages
 * aside: what a fork shares is counted, and a page more may be touched. */
#define STORM_PAGES    4
#define STORM_METADATA 16

/* What ending and being born cost beside what the number says. */
#define STORM_SLACK_NS 50000000

struct round {
	plim_snapshot *snapshot;
	uint32_t *who; /* the generation of each record, or NOBODY */
	size_t room;
};

struct storm {
	unsigned seconds;
	unsigned live;
	uint64_t own_pages; /* of generation 0, which has none of its number */
	struct gen_log *log;
	struct spawn driver;
	struct round rounds[2];
	uint32_t *seen; /* by generation: the last round it was in */
	uint32_t round;
	uint64_t begin[2]; /* of the earlier and of this round */
	uint64_t end;
	uint64_t records;
	uint64_t stayed;
	uint64_t ended;
	uint64_t started;
	uint64_t replaced;  /* ended and started with one pid */
	uint64_t same_tick; /* and even with one start tick */
	uint64_t vanished;
	uint64_t zombies;
	double most_percent;
	char *told; /* shared with the parent */
};

static struct storm storm;

/* Until all that had begun by now is written down. */
static uint64_t storm_settled(void)
{
	uint64_t step = __atomic_load_n(&storm.log->step, __ATOMIC_SEQ_CST);

	while ((step & 1) != 0 &&
	       __atomic_load_n(&storm.log->step, __ATOMIC_SEQ_CST) == step)
		sched_yield();
	return __atomic_load_n(&storm.log->count, __ATOMIC_SEQ_CST);
}

static _Noreturn void storm_fail(const plim_process *it, uint32_t number,
				 const char *what)
{
	plim_identity identity = plim_process_identity(it);
	plim_text name = plim_process_text(it, PLIM_FIELD_NAME);
	char text[64];

	plim_identity_format(&identity, text, sizeof(text));
	printf("round %u: %s '%.*s', state %c, generation %d: %s\n",
	       storm.round, text, (int)name.bytes.size, name.bytes.data,
	       *plim_process_text(it, PLIM_FIELD_STATE).bytes.data, (int)number,
	       what);
	for (int32_t i = storm.log->last[identity.pid]; i >= 0;
	     i = storm.log->items[i].before) {
		const struct gen *gen = &storm.log->items[i];

		printf("  %d: kind %d, inode %" PRIu64 ", ticks %" PRIu64
		       "-%" PRIu64 ", born %" PRIu64 "-%" PRIu64
		       ", ended %" PRIu64 "-%" PRIu64 "\n",
		       (int)i, gen->kind, gen->inode, gen->tick_low,
		       gen->tick_high, gen->born_before, gen->born_after,
		       gen->end_before, gen->end_after);
	}
	printf("  read at %" PRIu64 ", rounds from %" PRIu64 ", %" PRIu64
	       " to %" PRIu64 "\n",
	       plim_process_stamp(it).monotonic.ns, storm.begin[0],
	       storm.begin[1], storm.end);
	fflush(stdout);
	fail_msg("%s", what);
	abort();
}

static int storm_fits(const struct gen *gen, const plim_identity *identity,
		      uint64_t at)
{
	if (gen->born_before > at ||
	    (gen->end_after != 0 && gen->end_after < at))
		return 0;
	if ((identity->has & PLIM_IDENTITY_INODE) != 0 && gen->inode != 0 &&
	    gen->inode != identity->inode)
		return 0;
	return identity->start_ticks >= gen->tick_low &&
	       identity->start_ticks <= gen->tick_high;
}

/* The one generation that the record can be of. */
static uint32_t storm_who(const plim_process *it)
{
	plim_identity identity = plim_process_identity(it);
	uint64_t at = plim_process_stamp(it).monotonic.ns;
	uint32_t found = STORM_NOBODY;

	assert_in_range(identity.pid, 1, GEN_PIDS - 1);
	if (storm.log->last[identity.pid] < 0)
		return STORM_NOBODY;
	assert_true(identity.has & PLIM_IDENTITY_START);
	for (int32_t i = storm.log->last[identity.pid]; i >= 0;
	     i = storm.log->items[i].before) {
		if (!storm_fits(&storm.log->items[i], &identity, at))
			continue;
		if (found != STORM_NOBODY)
			storm_fail(it, found, "it can be two of them");
		found = (uint32_t)i;
	}
	if (found == STORM_NOBODY)
		storm_fail(it, found, "it is none of them");
	return found;
}

static int storm_is_named(const plim_process *it, uint32_t number)
{
	plim_text name = plim_process_text(it, PLIM_FIELD_NAME);
	char own[16];

	snprintf(own, sizeof(own), "g%u", (unsigned)number);
	if (name.bytes.size == strlen(own) &&
	    memcmp(name.bytes.data, own, strlen(own)) == 0)
		return 1;
	/* Before that it is called as its parent is. */
	if (name.bytes.size != 11 ||
	    memcmp(name.bytes.data, "generations", 11) != 0)
		storm_fail(it, number, "its name is another's");
	return 0;
}

static void storm_between(const plim_process *it, uint32_t number, int field,
			  uint64_t least, uint64_t most)
{
	plim_count count = plim_process_count(it, field);
	char text[160];

	if (count.state != PLIM_STATE_KNOWN ||
	    (count.value >= least && count.value <= most))
		return;
	snprintf(text, sizeof(text),
		 "%s is %" PRIu64 ", not between %" PRIu64 " and %" PRIu64,
		 plim_field_get(field)->name, count.value, least, most);
	storm_fail(it, number, text);
}

/* In bytes, at most. The file system's own pages are charged to who makes it
 * allocate them, and to nobody who does not write. */
static uint64_t storm_written(uint64_t pages)
{
	return pages != 0 ? (pages + STORM_METADATA) * GEN_PAGE : 0;
}

/* What its number says it has done, exactly once it bears its name. */
static void storm_figures(const plim_process *it, uint32_t number)
{
	const struct gen *gen = &storm.log->items[number];
	int named = storm_is_named(it, number);
	int flash = gen->kind == GEN_FLASH;
	uint64_t calls = gen_calls(number) + gen_written(number);
	uint64_t pages = gen_pages(number);
	uint64_t more = 0;

	if (gen->kind == GEN_WRITER)
		more = (storm.end - gen->born_before) / GEN_WRITER_NS + 8;
	if (flash)
		calls = pages = 0;
	storm_between(it, number, PLIM_FIELD_PPID, (uint64_t)storm.log->driver,
		      (uint64_t)storm.log->driver);
	storm_between(it, number, PLIM_FIELD_THREADS, 1, 1);
	storm_between(it, number, PLIM_FIELD_IO_CALLS, named ? calls : 0,
		      calls + more);
	storm_between(it, number, PLIM_FIELD_ANONYMOUS,
		      named ? (pages + storm.own_pages - STORM_PAGES) * GEN_PAGE
			    : 0,
		      (pages + storm.own_pages + STORM_PAGES) * GEN_PAGE);
	storm_between(it, number, PLIM_FIELD_DISK_WRITE, 0,
		      flash ? 0 : storm_written(gen_written(number) + more));
	if (gen->kind != GEN_BUSY && gen->kind != GEN_WRITER)
		storm_between(it, number, PLIM_FIELD_CPU,
			      named ? gen_spin_ns(number) : 0,
			      gen_spin_ns(number) + STORM_SLACK_NS);
}

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
		uint32_t number = storm_who(it);

		now->who[i] = number;
		if (number == STORM_NOBODY)
			continue;
		storm_figures(it, number);
		storm.records++;
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
	return STORM_NOBODY;
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
			storm_fail(last, number, field->name);
	}
}

/* What a process may have used between two records, from what it does. */
static void storm_bounds(const plim_process *first, const plim_process *last,
			 uint32_t number)
{
	const struct gen *gen = &storm.log->items[number];
	uint64_t from = plim_process_stamp(first).monotonic.ns;
	uint64_t passed = plim_process_stamp(last).monotonic.ns - from;
	uint64_t cpu = plim_process_change(first, last, PLIM_FIELD_CPU).value;
	plim_real percent = plim_process_cpu_percent(first, last);
	/* The clock is read after the stamp, and before the round ends. */
	uint64_t most = storm.end - from;
	int at_rest = gen->kind != GEN_BUSY && gen->kind != GEN_WRITER &&
		      from > gen->born_after + 200000000 &&
		      storm_is_named(first, number);
	int ending = gen->end_before != 0 && gen->end_before < storm.end;

	if (percent.state != PLIM_STATE_KNOWN)
		storm_fail(last, number, "it has no CPU percentage");
	if (gen->kind != GEN_BUSY && most > STORM_SLACK_NS + 2000000)
		most = STORM_SLACK_NS + 2000000;
	if (at_rest && !ending)
		most = 0;
	if (cpu > most)
		storm_fail(last, number, "more CPU time than it can have used");
	if (percent.value < 0 ||
	    percent.value > 100.0 * (double)most / (double)passed + 1e-6)
		storm_fail(last, number, "an absurd CPU percentage");
	if (percent.value > storm.most_percent)
		storm.most_percent = percent.value;
	if (at_rest &&
	    (plim_process_change(first, last, PLIM_FIELD_IO_CALLS).value != 0 ||
	     plim_process_change(first, last, PLIM_FIELD_DISK_WRITE).value !=
		 0))
		storm_fail(last, number, "it sleeps and has written");
}

static int storm_event(int event, const plim_process *first,
		       const plim_process *last, void *user)
{
	struct round *rounds = user;
	uint32_t was =
	    first != NULL ? storm_of(&rounds[0], first) : STORM_NOBODY;
	uint32_t is = last != NULL ? storm_of(&rounds[1], last) : STORM_NOBODY;

	if (was == STORM_NOBODY && is == STORM_NOBODY)
		return 0;
	switch (event) {
	case PLIM_EVENT_STAYED:
		if (was != is)
			storm_fail(last, was, "it is another one");
		storm_rates(first, last, is);
		storm_bounds(first, last, is);
		storm.stayed++;
		return 0;
	case PLIM_EVENT_ENDED:
		if (storm.log->items[was].end_before == 0 ||
		    storm.log->items[was].end_before > storm.end)
			storm_fail(first, was, "nobody has ended it");
		storm.ended++;
		return 0;
	default:
		/* Unseen in the earlier round, whatever its pid was. */
		if (storm.seen[is] != 0 && storm.seen[is] == storm.round - 1)
			storm_fail(last, is, "it was there before");
		storm.started++;
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
		const struct gen *gen = &storm.log->items[i];

		if (gen->born_after >= storm.begin[1] ||
		    (gen->end_before != 0 && gen->end_before <= storm.end) ||
		    storm.seen[i] == storm.round)
			continue;
		fail_msg("round %u: generation %d, pid %d, was missed",
			 storm.round, (int)i, gen->pid);
	}
}

static void storm_round(void)
{
	struct round *now = &storm.rounds[storm.round % 2];
	struct round *before = &storm.rounds[(storm.round + 1) % 2];
	struct round pair[2] = {*before, *now};
	uint64_t count;

	storm.round++;
	storm.begin[0] = storm.begin[1];
	storm.begin[1] = child_monotonic_ns();
	assert_int_equal(scale_take(now->snapshot,
				    storm.round > 1 ? before->snapshot : NULL,
				    NULL),
			 PLIM_OK);
	storm.end = child_monotonic_ns();
	storm.vanished += plim_snapshot_cost(now->snapshot).vanished;
	count = storm_settled();
	storm_read(now);
	pair[1] = *now;
	if (storm.round > 1)
		plim_snapshot_compare(before->snapshot, now->snapshot,
				      storm_event, pair);
	for (size_t i = 0; i < plim_snapshot_size(now->snapshot); i++)
		if (now->who[i] != STORM_NOBODY)
			storm.seen[now->who[i]] = storm.round;
	storm_whole(count);
}

static void storm_start(void)
{
	char live[16];
	char log[16];
	char pids[16];
	const char *folder = getenv("TMPDIR");
	const char *const argv[] = {
	    "generations", live, log, pids, folder != NULL ? folder : "/tmp",
	    NULL};
	int file = memfd_create("generations", 0);

	assert_true(file >= 0);
	snprintf(live, sizeof(live), "%u", storm.live);
	snprintf(log, sizeof(log), "%d", file);
	snprintf(pids, sizeof(pids), "%u", 600 + storm.live / 4 * 5);
	spawn_start(&storm.driver, argv);
	storm.log =
	    mmap(NULL, sizeof(*storm.log), PROT_READ, MAP_SHARED, file, 0);
	assert_ptr_not_equal(storm.log, MAP_FAILED);
	storm.own_pages =
	    proc_number(storm.log->items[0].pid, "status", "RssAnon") * 1024 /
	    GEN_PAGE;
	storm.seen = calloc(GEN_CAPACITY, sizeof(*storm.seen));
	assert_non_null(storm.seen);
}

/* Long enough, and as much as is to be seen, on a busy machine too. */
static int storm_is_over(uint64_t begin)
{
	uint64_t passed = (child_monotonic_ns() - begin) / 1000000000u;
	int enough = storm.ended > STORM_EVENTS &&
		     storm.started > STORM_EVENTS && storm.round > 5;

	return passed >= storm.seconds &&
	       (enough || passed >= storm.seconds + STORM_MOST);
}

/* A child's own words are not repeated unless it fails. */
static void storm_tell(uint64_t births)
{
	snprintf(
	    storm.told, STORM_TOLD,
	    "%u s, %u alive: %" PRIu64 " births, %" PRIu64
	    " at once with the same pid; %u rounds, %" PRIu64
	    " records, %" PRIu64 " of zombies, %" PRIu64 " vanished; %" PRIu64
	    " stayed, %" PRIu64 " ended, %" PRIu64 " started, %" PRIu64
	    " of them in the place of another, %" PRIu64
	    " in its tick; at most %.1f %% CPU",
	    storm.seconds, storm.live, births,
	    spawn_truth(&storm.driver, "again"), storm.round, storm.records,
	    storm.zombies, storm.vanished, storm.stayed, storm.ended,
	    storm.started, storm.replaced, storm.same_tick, storm.most_percent);
}

static void storm_body(void *user)
{
	plim_host *host = open_host(0);
	uint64_t begin;
	uint64_t births;

	(void)user;
	storm_start();
	storm.rounds[0].snapshot = new_snapshot(host);
	storm.rounds[1].snapshot = new_snapshot(host);
	begin = child_monotonic_ns();
	while (!storm_is_over(begin))
		storm_round();
	spawn_ask(&storm.driver, "stop");
	births = spawn_truth(&storm.driver, "births");
	storm_tell(births);
	assert_true(storm.ended > STORM_EVENTS);
	assert_true(storm.started > STORM_EVENTS);
	assert_true(storm.replaced > STORM_EVENTS / 5);
	spawn_ask(&storm.driver, "end");
	spawn_finish(&storm.driver);
	plim_snapshot_free(storm.rounds[0].snapshot);
	plim_snapshot_free(storm.rounds[1].snapshot);
	plim_host_close(host);
}

/* The members are the driver and generations, each in its own place. */
static void storm_members(plim_tree *tree)
{
	for (size_t i = 0; i < plim_tree_size(tree); i++) {
		const plim_branch *branch = plim_tree_at(tree, i);
		uint32_t number;

		if (i == 0) {
			assert_int_equal(plim_process_pid(branch->process),
					 storm.log->driver);
			continue;
		}
		assert_int_equal(branch->parent, 0);
		number = storm_who(branch->process);
		if (number == STORM_NOBODY)
			storm_fail(branch->process, number, "no member");
		storm_figures(branch->process, number);
		storm.records++;
	}
}

static uint64_t storm_tree_round(plim_tree *tree, plim_target *root,
				 uint64_t before)
{
	plim_tree_options options = {
	    .size = sizeof(options),
	    .sticky = 1,
	};
	plim_count total;

	storm.round++;
	storm.begin[0] = storm.begin[1];
	storm.begin[1] = child_monotonic_ns();
	assert_int_equal(plim_tree_usage(tree, root, &options, NULL), PLIM_OK);
	storm.end = child_monotonic_ns();
	storm_settled();
	storm_members(tree);
	total = plim_tree_total(tree, PLIM_FIELD_CPU);
	assert_int_equal(total.state, PLIM_STATE_KNOWN);
	assert_true(total.value >= before);
	storm.ended += plim_tree_about(tree).ended;
	storm.started += plim_tree_about(tree).born;
	return total.value;
}

/* The storm as a tree: its members, and in the end what wait4() has charged
 * for tens of times as many as ever live. */
static void storm_tree_body(void *user)
{
	plim_host *host = open_host(0);
	plim_target *root;
	plim_tree *tree = NULL;
	uint64_t begin;
	uint64_t total = 0;
	uint64_t truth;

	(void)user;
	storm_start();
	root = open_target(host, storm.driver.pid);
	assert_int_equal(plim_tree_new(&tree, host, NULL), PLIM_OK);
	begin = child_monotonic_ns();
	while (!storm_is_over(begin))
		total = storm_tree_round(tree, root, total);
	spawn_ask(&storm.driver, "stop");
	spawn_ask(&storm.driver, "end");
	truth = spawn_truth(&storm.driver, "cpu_ns");
	total = storm_tree_round(tree, root, total);
	assert_int_equal(plim_tree_size(tree), 1);
	snprintf(storm.told, STORM_TOLD,
		 "%u rounds, %" PRIu64 " members read, %" PRIu64
		 " ended, %" PRIu64 " born, %u kept: %" PRIu64
		 " ns of CPU, truth %" PRIu64 " (%+.2f %%)",
		 storm.round, storm.records, storm.ended, storm.started,
		 plim_tree_about(tree).kept, total, truth,
		 100.0 * ((double)total - (double)truth) / (double)truth);
	expect_near(total, truth, 3, 40000000);
	assert_true(storm.ended > STORM_EVENTS);
	assert_true(storm.started > STORM_EVENTS);
	spawn_finish(&storm.driver);
	plim_tree_free(tree);
	plim_target_close(root);
	plim_host_close(host);
}

static void storm_run(child_fn *body)
{
	const char *large = getenv("PLIM_STORM");

	storm.seconds = STORM_SECONDS;
	storm.live = STORM_LIVE;
	if (large != NULL &&
	    (sscanf(large, "%u,%u", &storm.seconds, &storm.live) != 2 ||
	     storm.seconds > 120 || storm.live > 20000))
		fail_msg("PLIM_STORM is SECONDS,LIVE");
	storm.live = scale_fit("processes", storm.live, 500);
	child_patience(30000 + (STORM_MOST + storm.seconds) * 1000);
	storm.told = mmap(NULL, STORM_TOLD, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(storm.told, MAP_FAILED);
	ns_run(NULL, body, NULL);
	printf("%s\n", storm.told);
}

static void test_snapshots(void **state)
{
	(void)state;
	storm_run(storm_body);
}

static void test_tree(void **state)
{
	(void)state;
	storm_run(storm_tree_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_snapshots),
	    cmocka_unit_test(test_tree),
	};

	return cmocka_run_group_tests_name("a storm of reused pids", tests,
					   NULL, NULL);
}
