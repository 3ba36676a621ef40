/*
 * test_crowd.c - ten thousand processes: each of them is seen once, under its
 * parent, with its name and with the figures that its own files hold; with
 * few descriptors, too, and in memory that is bounded by their number.
 */
#include "scale.h"

#include "counting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CROWD_COUNT 10000
#define CROWD_LEAST 5000
#define CROWD_UID   100000

/* Both passes of a snapshot, the list of pids and the threads; the arrays
 * double, so that up to half of them may be empty. */
#define CROWD_BYTES 4096

static struct crowd crowd;
static struct truth *truths;

static int crowd_setup(void **state)
{
	char uid[16];
	unsigned count;

	(void)state;
	count = scale_fit("processes", CROWD_COUNT, CROWD_LEAST);
	snprintf(uid, sizeof(uid), "%d", CROWD_UID);
	crowd_start(&crowd, count, geteuid() == 0 ? uid : NULL);
	truths = calloc(count, sizeof(*truths));
	assert_non_null(truths);
	for (unsigned i = 0; i < count; i++)
		truth_read(crowd.members[i].pid, &truths[i]);
	return 0;
}

static int crowd_teardown(void **state)
{
	(void)state;
	crowd_end(&crowd);
	free(truths);
	return 0;
}

/* Every member once, none that is no member, each with its own figures. */
static void crowd_expect(const plim_snapshot *snapshot)
{
	uint64_t mother = (uint64_t)crowd.spawn.pid;
	unsigned children = 0;

	scale_expect_order(snapshot);
	for (size_t i = 0; i < plim_snapshot_size(snapshot); i++) {
		const plim_process *it = plim_snapshot_at(snapshot, i);

		children += known(it, PLIM_FIELD_PPID) == mother;
	}
	assert_int_equal(children, crowd.count);
	for (unsigned i = 0; i < crowd.count; i++) {
		const plim_process *it =
		    plim_snapshot_find(snapshot, crowd.members[i].pid);

		if (it == NULL)
			fail_msg("%s is not there", crowd.members[i].name);
		truth_expect(it, &truths[i]);
	}
}

/* The truth that was read is the one that the workload made. */
static void test_truth(void **state)
{
	(void)state;
	for (unsigned i = 0; i < crowd.count; i++) {
		uint64_t calls = truths[0].io_calls + i % 251;
		/* Of what a fork copies a page more or less is touched. */
		int64_t pages = (int64_t)(truths[i].anonymous_kib / 4) -
				(int64_t)(truths[0].anonymous_kib / 4) -
				(int64_t)(i % 16);

		assert_string_equal(truths[i].name, crowd.members[i].name);
		assert_int_equal(truths[i].ppid, crowd.spawn.pid);
		assert_int_equal(truths[i].io_calls, calls);
		assert_int_equal(truths[i].uid,
				 geteuid() == 0 ? CROWD_UID + i : geteuid());
		assert_true(pages >= -4 && pages <= 4);
	}
}

static void test_all_seen(void **state)
{
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);

	(void)state;
	for (int round = 0; round < 2; round++) {
		assert_int_equal(scale_take(snapshot, NULL, NULL), PLIM_OK);
		crowd_expect(snapshot);
	}
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

/* Without the process directory, whose owner is root for some of them: the
 * cheap set names the same processes. */
static void test_light(void **state)
{
	plim_field_set light = plim_field_set_preset(PLIM_FIELDS_LIGHT);
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .fields = &light,
	};
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);

	(void)state;
	assert_int_equal(plim_snapshot_take(snapshot, &options, NULL), PLIM_OK);
	scale_expect_order(snapshot);
	for (unsigned i = 0; i < crowd.count; i++) {
		const plim_process *it =
		    plim_snapshot_find(snapshot, crowd.members[i].pid);

		assert_non_null(it);
		assert_int_equal(known(it, PLIM_FIELD_CPU), truths[i].cpu_ns);
		assert_int_equal(known(it, PLIM_FIELD_ANONYMOUS),
				 truths[i].anonymous_kib << 10);
		assert_int_equal(known(it, PLIM_FIELD_PPID), truths[i].ppid);
	}
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

/* As a tree: its mother and all of them, every sum that of the truths. */
static void test_tree(void **state)
{
	plim_host *host = open_host(0);
	plim_target *root = open_target(host, crowd.spawn.pid);
	plim_tree *tree = NULL;
	struct truth mother;
	uint64_t cpu = 0;
	uint64_t anonymous = 0;

	(void)state;
	assert_int_equal(plim_tree_new(&tree, host, NULL), PLIM_OK);
	assert_int_equal(plim_tree_usage(tree, root, NULL, NULL), PLIM_OK);
	truth_read(crowd.spawn.pid, &mother);
	for (unsigned i = 0; i < crowd.count; i++) {
		cpu += truths[i].cpu_ns;
		anonymous += truths[i].anonymous_kib << 10;
	}
	assert_int_equal(plim_tree_size(tree), crowd.count + 1);
	assert_int_equal(plim_tree_about(tree).members, crowd.count + 1);
	assert_int_equal(plim_tree_sum(tree, PLIM_FIELD_CPU).missing, 0);
	assert_int_equal(plim_tree_sum(tree, PLIM_FIELD_CPU).total_known.value,
			 cpu + mother.cpu_ns);
	assert_int_equal(
	    plim_tree_sum(tree, PLIM_FIELD_ANONYMOUS).total_known.value,
	    anonymous + (mother.anonymous_kib << 10));
	for (size_t i = 1; i < plim_tree_size(tree); i++) {
		const plim_branch *branch = plim_tree_at(tree, i);

		assert_int_equal(branch->parent, 0);
		assert_int_equal(branch->depth, 1);
		assert_int_equal(branch->size, 1);
	}
	plim_tree_free(tree);
	plim_target_close(root);
	plim_host_close(host);
}

static int crowd_event(int event, const plim_process *first,
		       const plim_process *last, void *user)
{
	unsigned *stayed = user;

	if (event != PLIM_EVENT_STAYED ||
	    known(last, PLIM_FIELD_PPID) != (uint64_t)crowd.spawn.pid)
		return 0;
	assert_int_equal(plim_process_change(first, last, PLIM_FIELD_CPU).value,
			 0);
	(*stayed)++;
	return 0;
}

/* Nobody has come or gone; who sleeps has used nothing meanwhile. */
static void test_stays(void **state)
{
	plim_host *host = open_host(0);
	plim_snapshot *first = new_snapshot(host);
	plim_snapshot *last = new_snapshot(host);
	unsigned stayed = 0;

	(void)state;
	assert_int_equal(scale_take(first, NULL, NULL), PLIM_OK);
	assert_int_equal(scale_take(last, first, NULL), PLIM_OK);
	plim_snapshot_compare(first, last, crowd_event, &stayed);
	assert_int_equal(stayed, crowd.count);
	plim_snapshot_free(first);
	plim_snapshot_free(last);
	plim_host_close(host);
}

/* So many bytes for each, and none more after the second time. */
static void test_memory(void **state)
{
	struct counting counting = {0};
	plim_host_options options = {
	    .size = sizeof(options),
	    .allocator = counting_allocator(&counting),
	};
	plim_host *host = NULL;
	plim_snapshot *snapshot;
	size_t before;
	size_t held;
	size_t calls;

	(void)state;
	assert_int_equal(plim_host_open(&host, &options, NULL), PLIM_OK);
	snapshot = new_snapshot(host);
	before = counting.live;
	take(snapshot);
	held = counting.live - before;
	printf("%zu processes: one pass holds %zu bytes, %zu each\n",
	       plim_snapshot_size(snapshot), held,
	       held / plim_snapshot_size(snapshot));
	take(snapshot);
	held = counting.live - before;
	printf("%zu processes: two passes hold %zu bytes, %zu each\n",
	       plim_snapshot_size(snapshot), held,
	       held / plim_snapshot_size(snapshot));
	assert_true(held / plim_snapshot_size(snapshot) <= CROWD_BYTES);
	/* Both passes are there now; the crowd is far from the doubling. */
	calls = counting.calls;
	for (int round = 0; round < 3; round++)
		take(snapshot);
	assert_int_equal(counting.calls, calls);
	assert_int_equal(counting.live - before, held);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
	assert_int_equal(counting.live, 0);
}

/* The next number that open() would give. */
static rlim_t crowd_next(void)
{
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(file >= 0);
	close(file);
	return (rlim_t)file;
}

static struct rlimit crowd_limit(rlim_t limit)
{
	struct rlimit usual;
	struct rlimit few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
	few = usual;
	few.rlim_cur = limit;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	return usual;
}

/* What most shells allow is plenty: nothing is kept open per process. */
static void test_256_descriptors(void **state)
{
	struct rlimit usual = crowd_limit(256);
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	rlim_t next = crowd_next();

	(void)state;
	assert_int_equal(scale_take(snapshot, NULL, NULL), PLIM_OK);
	assert_int_equal(crowd_next(), next);
	setrlimit(RLIMIT_NOFILE, &usual);
	crowd_expect(snapshot);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

static int crowd_starved(const plim_process *it, const struct truth *truth)
{
	const int fields[] = {
	    PLIM_FIELD_CPU,	 PLIM_FIELD_PPID,      PLIM_FIELD_UID,
	    PLIM_FIELD_RESIDENT, PLIM_FIELD_ANONYMOUS, PLIM_FIELD_PEAK_RESIDENT,
	    PLIM_FIELD_WAKEUPS,	 PLIM_FIELD_IO_CALLS,  PLIM_FIELD_FAULTS_MINOR,
	};
	const uint64_t values[] = {
	    truth->cpu_ns,
	    truth->ppid,
	    truth->uid,
	    truth->resident_kib << 10,
	    truth->anonymous_kib << 10,
	    truth->peak_kib << 10,
	    truth->wakeups,
	    truth->io_calls,
	    truth->faults_minor,
	};
	int missing = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		plim_count count = plim_process_count(it, fields[i]);

		if (count.state == PLIM_STATE_KNOWN) {
			assert_int_equal(count.value, values[i]);
			continue;
		}
		assert_int_equal(count.method,
				 PLIM_REASON_TOO_MANY_DESCRIPTORS);
		missing++;
	}
	return missing;
}

/* With hardly any left: an error that says so, or figures that are right or
 * say why they are not there; and every process is in it. */
static void test_few_descriptors(void **state)
{
	plim_host *host = open_host(0);
	int taken = 0;

	(void)state;
	for (rlim_t spare = 0; spare <= 8; spare++) {
		plim_snapshot *snapshot = new_snapshot(host);
		plim_error error = {0};
		rlim_t next = crowd_next();
		struct rlimit usual = crowd_limit(next + spare);
		int code = scale_take(snapshot, NULL, &error);
		long missing = 0;

		setrlimit(RLIMIT_NOFILE, &usual);
		assert_int_equal(crowd_next(), next);
		if (code != PLIM_OK) {
			assert_int_equal(code, PLIM_ESYSTEM);
			assert_int_equal(error.code, PLIM_ESYSTEM);
			assert_non_null(strstr(error.detail, "open files"));
			assert_int_equal(plim_snapshot_size(snapshot), 0);
			assert_int_equal(taken, 0);
		} else {
			taken++;
			scale_expect_order(snapshot);
			for (unsigned i = 0; i < crowd.count; i++) {
				const plim_process *it = plim_snapshot_find(
				    snapshot, crowd.members[i].pid);

				assert_non_null(it);
				missing += crowd_starved(it, &truths[i]);
			}
		}
		printf("%d free: %s, %ld figures missing\n", (int)spare,
		       code == PLIM_OK ? "taken" : "refused", missing);
		if (spare >= 3)
			assert_int_equal(missing, 0);
		plim_snapshot_free(snapshot);
	}
	assert_true(taken >= 6);
	plim_host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_truth),
	    cmocka_unit_test(test_all_seen),
	    cmocka_unit_test(test_light),
	    cmocka_unit_test(test_tree),
	    cmocka_unit_test(test_stays),
	    cmocka_unit_test(test_memory),
	    cmocka_unit_test(test_256_descriptors),
	    cmocka_unit_test(test_few_descriptors),
	};

	return cmocka_run_group_tests_name("a crowd", tests, crowd_setup,
					   crowd_teardown);
}
