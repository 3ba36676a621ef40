/*
 * test_storm.c - snapshots while thousands of processes are born and end
 * (tests/workloads/forkstorm.c). No process that stays is missed, none is
 * there twice, none has a figure of another: each sleeps, and is unlike the
 * rest in name, user, memory and calls. What vanished is counted.
 */
#include "scale.h"

#include "ns.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STORM_STABLE  240
#define STORM_FORKERS 3
#define STORM_SECONDS 2	 /* at least */
#define STORM_ROUNDS  20 /* at least */
#define STORM_MOST    30 /* seconds at most */
#define STORM_UID     200000

struct storm {
	struct crowd crowd;
	struct truth truths[STORM_STABLE];
	struct spawn forks;
	uint64_t start_ticks;
	unsigned rounds;
	unsigned ephemeral;
	uint64_t vanished;
};

static struct storm storm;

static void storm_stable(const plim_snapshot *snapshot)
{
	for (unsigned i = 0; i < STORM_STABLE; i++) {
		const plim_process *it =
		    plim_snapshot_find(snapshot, storm.crowd.members[i].pid);

		if (it == NULL)
			fail_msg("%s was missed", storm.truths[i].name);
		truth_expect(it, &storm.truths[i]);
	}
}

/* The parent of whoever has the name of a storm's child is the forker that
 * the name tells. */
static void storm_child(const plim_snapshot *snapshot, const plim_process *it,
			unsigned forker)
{
	char wanted[16];
	int32_t pid = (int32_t)known(it, PLIM_FIELD_PPID);
	const plim_process *parent = plim_snapshot_find(snapshot, pid);
	plim_text name;

	storm.ephemeral++;
	assert_true(known(it, PLIM_FIELD_START_TICKS) >= storm.start_ticks);
	/* In the last round the parent may have ended since. */
	if (parent == NULL || pid == 1)
		return;
	snprintf(wanted, sizeof(wanted), "forker-%u", forker);
	name = plim_process_text(parent, PLIM_FIELD_NAME);
	if (name.bytes.size != strlen(wanted) ||
	    memcmp(name.bytes.data, wanted, name.bytes.size) != 0)
		fail_msg("a child of %s is under '%.*s'", wanted,
			 (int)name.bytes.size, name.bytes.data);
}

static void storm_look(const plim_snapshot *snapshot)
{
	scale_expect_order(snapshot);
	storm_stable(snapshot);
	for (size_t i = 0; i < plim_snapshot_size(snapshot); i++) {
		const plim_process *it = plim_snapshot_at(snapshot, i);
		plim_text name = plim_process_text(it, PLIM_FIELD_NAME);
		unsigned forker;
		char text[32];

		snprintf(text, sizeof(text), "%.*s", (int)name.bytes.size,
			 name.bytes.data);
		if (sscanf(text, "e-%u-", &forker) == 1)
			storm_child(snapshot, it, forker);
	}
	storm.rounds++;
	storm.vanished += plim_snapshot_cost(snapshot).vanished;
}

static int storm_event(int event, const plim_process *first,
		       const plim_process *last, void *user)
{
	unsigned *stayed = user;

	if (event != PLIM_EVENT_STAYED)
		return 0;
	assert_int_equal(plim_process_pid(first), plim_process_pid(last));
	*stayed +=
	    known(last, PLIM_FIELD_PPID) == (uint64_t)storm.crowd.spawn.pid;
	return 0;
}

/* Long enough, and something was seen of the storm, on a busy machine too. */
static int storm_is_over(uint64_t begin)
{
	uint64_t passed = (child_monotonic_ns() - begin) / 1000000000u;
	int enough = storm.rounds >= STORM_ROUNDS && storm.ephemeral > 0 &&
		     storm.vanished > 0;

	return passed >= STORM_SECONDS && (enough || passed >= STORM_MOST);
}

/* One round after another while the storm lasts. */
static void storm_watch(plim_host *host, const plim_snapshot_options *options)
{
	plim_snapshot *rounds[2] = {new_snapshot(host), new_snapshot(host)};
	uint64_t begin = child_monotonic_ns();

	while (!storm_is_over(begin)) {
		plim_snapshot_options now = *options;
		plim_snapshot *taken = rounds[storm.rounds % 2];
		unsigned stayed = 0;

		if (storm.rounds > 0)
			now.previous = rounds[(storm.rounds + 1) % 2];
		assert_int_equal(plim_snapshot_take(taken, &now, NULL),
				 PLIM_OK);
		storm_look(taken);
		if (now.previous == NULL)
			continue;
		plim_snapshot_compare(now.previous, taken, storm_event,
				      &stayed);
		assert_int_equal(stayed, STORM_STABLE);
	}
	plim_snapshot_free(rounds[0]);
	plim_snapshot_free(rounds[1]);
}

static void storm_run(const plim_snapshot_options *options)
{
	char forkers[8];
	char seconds[8];
	const char *const argv[] = {"forkstorm", forkers, seconds, NULL};
	plim_host *host = open_host(0);
	uint64_t births;

	storm.rounds = 0;
	storm.ephemeral = 0;
	storm.vanished = 0;
	snprintf(forkers, sizeof(forkers), "%d", STORM_FORKERS);
	snprintf(seconds, sizeof(seconds), "%d", STORM_MOST);
	spawn_start(&storm.forks, argv);
	storm.start_ticks = ns_start_ticks(storm.forks.pid);
	storm_watch(host, options);
	spawn_ask(&storm.forks, "stop");
	births = spawn_truth(&storm.forks, "births");
	printf("%u rounds, %llu births, %u seen, %llu vanished\n", storm.rounds,
	       (unsigned long long)births, storm.ephemeral,
	       (unsigned long long)storm.vanished);
	assert_int_equal(spawn_truth(&storm.forks, "refused"), 0);
	assert_true(births > 1000);
	assert_true(storm.ephemeral > 0);
	assert_true(storm.vanished > 0);
	spawn_finish(&storm.forks);
	plim_host_close(host);
}

static int storm_setup(void **state)
{
	char uid[16];

	(void)state;
	snprintf(uid, sizeof(uid), "%d", STORM_UID);
	crowd_start(&storm.crowd, STORM_STABLE, geteuid() == 0 ? uid : NULL);
	for (unsigned i = 0; i < STORM_STABLE; i++)
		truth_read(storm.crowd.members[i].pid, &storm.truths[i]);
	return 0;
}

static int storm_teardown(void **state)
{
	(void)state;
	crowd_end(&storm.crowd);
	return 0;
}

static void test_full(void **state)
{
	plim_snapshot_options options = {.size = sizeof(options)};

	(void)state;
	storm_run(&options);
}

/* Everything, thread by thread, on the strongest rung: more calls for each
 * process, and so more moments at which it can be gone. */
static void test_everything(void **state)
{
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .fields = &all,
	    .threads = 1,
	    .strong_identity = 1,
	};

	(void)state;
	storm_run(&options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_full),
	    cmocka_unit_test(test_everything),
	};

	return cmocka_run_group_tests_name("a storm", tests, storm_setup,
					   storm_teardown);
}
