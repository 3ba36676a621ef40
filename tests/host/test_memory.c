/*
 * test_memory.c - samples of a live process against a workload that knows what
 * it holds; the stall guard; and a process that ends, executes another
 * program or loses its pid between two samples.
 */
#include "common.h"

#include "ns.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK (64 * MIB)
/* Pages of the program's own that may come and go beside the blocks. */
#define SLACK (256 * 1024)

struct held {
	plim_host *host;
	plim_memory *memory;
	plim_target *target;
	struct spawn spawn;
};

static struct held held;

static int held_setup(void **state)
{
	const char *const argv[] = {"holder", "/tmp", NULL};

	(void)state;
	held.host = open_host(0);
	assert_int_equal(plim_memory_new(&held.memory, held.host, NULL),
			 PLIM_OK);
	spawn_start(&held.spawn, argv);
	held.target = open_target(held.host, held.spawn.pid);
	return 0;
}

static int held_teardown(void **state)
{
	(void)state;
	plim_memory_free(held.memory);
	plim_target_close(held.target);
	plim_host_close(held.host);
	spawn_end(&held.spawn);
	return 0;
}

static void sample(const plim_memory_options *options)
{
	plim_error error = {0};

	if (plim_memory_sample(held.memory, held.target, options, &error) !=
	    PLIM_OK)
		fail_msg("plim_memory_sample: %s", plim_error_word(error.code));
}

static uint64_t last(int figure)
{
	plim_count got = plim_memory_last(held.memory, figure);

	if (got.state != PLIM_STATE_KNOWN)
		fail_msg("%s is %s: %s", plim_memory_name(figure),
			 plim_state_word(got.state),
			 plim_reason_word(got.method));
	return got.value;
}

static void expect_more(int figure, uint64_t before, uint64_t by)
{
	uint64_t now = last(figure);

	if (now + SLACK < before + by || now > before + by + SLACK)
		fail_msg("%s went from %llu to %llu", plim_memory_name(figure),
			 (unsigned long long)before, (unsigned long long)now);
}

static const plim_memory_options always = {
    .size = sizeof(always), .force = 1, .rest_set = 1};

/* What the workload takes shows in the figures of its kind and no other. */
static void test_kinds(void **state)
{
	uint64_t before[PLIM_MEMORY_COUNT];
	plim_memory_steady range;

	(void)state;
	sample(&always);
	for (int at = 1; at <= PLIM_MEMORY_LAZY_FREE; at++)
		before[at] = last(at);
	spawn_ask(&held.spawn, "anonymous 64");
	sample(&always);
	expect_more(PLIM_MEMORY_ANONYMOUS, before[PLIM_MEMORY_ANONYMOUS],
		    BLOCK);
	expect_more(PLIM_MEMORY_PRIVATE_DIRTY,
		    before[PLIM_MEMORY_PRIVATE_DIRTY], BLOCK);
	expect_more(PLIM_MEMORY_PSS_ANONYMOUS,
		    before[PLIM_MEMORY_PSS_ANONYMOUS], BLOCK);
	expect_more(PLIM_MEMORY_SHMEM, before[PLIM_MEMORY_SHMEM], 0);
	spawn_ask(&held.spawn, "shared 32");
	spawn_ask(&held.spawn, "file 16");
	sample(&always);
	expect_more(PLIM_MEMORY_SHMEM, before[PLIM_MEMORY_SHMEM], BLOCK / 2);
	expect_more(PLIM_MEMORY_PSS_SHMEM, before[PLIM_MEMORY_PSS_SHMEM],
		    BLOCK / 2);
	expect_more(PLIM_MEMORY_FILE, before[PLIM_MEMORY_FILE], BLOCK / 4);
	expect_more(PLIM_MEMORY_RESIDENT, before[PLIM_MEMORY_RESIDENT],
		    BLOCK + BLOCK / 2 + BLOCK / 4);
	expect_more(PLIM_MEMORY_ANONYMOUS, before[PLIM_MEMORY_ANONYMOUS],
		    BLOCK);
	spawn_ask(&held.spawn, "drop");
	sample(&always);
	expect_more(PLIM_MEMORY_ANONYMOUS, before[PLIM_MEMORY_ANONYMOUS], 0);
	assert_true(last(PLIM_MEMORY_PEAK_RESIDENT) >=
		    before[PLIM_MEMORY_RESIDENT] + BLOCK + BLOCK / 2);
	assert_int_equal(plim_memory_taken(held.memory), 4);
	range = plim_memory_range(held.memory, PLIM_MEMORY_ANONYMOUS);
	assert_int_equal(range.known, 4);
	assert_int_equal(range.trend, PLIM_TREND_MOVING);
	assert_true(range.highest.value - range.lowest.value >= BLOCK - SLACK);
	assert_int_equal(range.last.value, last(PLIM_MEMORY_ANONYMOUS));
}

/* Beside the files of the kernel, of a process that sleeps meanwhile. */
static void test_files(void **state)
{
	static const struct {
		int figure;
		const char *file;
		const char *key;
	} all[] = {
	    {PLIM_MEMORY_ANONYMOUS, "status", "RssAnon"},
	    {PLIM_MEMORY_FILE, "status", "RssFile"},
	    {PLIM_MEMORY_RESIDENT, "status", "VmRSS"},
	    {PLIM_MEMORY_PEAK_RESIDENT, "status", "VmHWM"},
	    {PLIM_MEMORY_PAGE_TABLES, "status", "VmPTE"},
	    {PLIM_MEMORY_PRIVATE_DIRTY, "smaps_rollup", "Private_Dirty"},
	    {PLIM_MEMORY_PRIVATE_CLEAN, "smaps_rollup", "Private_Clean"},
	    {PLIM_MEMORY_SHARED_CLEAN, "smaps_rollup", "Shared_Clean"},
	    {PLIM_MEMORY_PSS, "smaps_rollup", "Pss"},
	    {PLIM_MEMORY_PSS_ANONYMOUS, "smaps_rollup", "Pss_Anon"},
	};

	(void)state;
	spawn_ask(&held.spawn, "anonymous 8");
	sample(&always);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint64_t kib =
		    proc_number(held.spawn.pid, all[i].file, all[i].key);
		uint64_t got = last(all[i].figure);

		/* Shared pages change with whoever else maps them. */
		if (all[i].figure == PLIM_MEMORY_PSS ||
		    all[i].figure == PLIM_MEMORY_SHARED_CLEAN ||
		    all[i].figure == PLIM_MEMORY_PRIVATE_CLEAN)
			expect_near(got, 1024 * kib, 20, 65536);
		else
			assert_int_equal(got, 1024 * kib);
	}
}

/* Above the limit nothing is walked: what a walk tells is SKIPPED, and the
 * page map gives what it can; below it, or forced, all is known. */
static void test_guard(void **state)
{
	plim_memory_options options = {
	    .size = sizeof(options), .stall_ns = 1, .rest_set = 1};
	const plim_mappings *mappings;
	plim_memory_cost ledger;
	plim_count got;

	(void)state;
	spawn_ask(&held.spawn, "anonymous 64");
	sample(&options);
	for (int at = PLIM_MEMORY_PRIVATE_CLEAN; at <= PLIM_MEMORY_LAZY_FREE;
	     at++) {
		got = plim_memory_last(held.memory, at);
		assert_int_equal(got.state, PLIM_STATE_SKIPPED);
		assert_int_equal(got.method, PLIM_REASON_STALL);
		assert_int_equal(got.value, 0);
	}
	got = plim_memory_last(held.memory, PLIM_MEMORY_PRIVATE_DIRTY);
	assert_int_equal(got.state, PLIM_STATE_SKIPPED);
	assert_in_range(last(PLIM_MEMORY_EXCLUSIVE_ANONYMOUS), BLOCK,
			last(PLIM_MEMORY_ANONYMOUS));
	mappings = plim_memory_mappings(held.memory);
	assert_non_null(mappings);
	assert_true(
	    plim_mappings_total(mappings, PLIM_MAPPING_FIGURE_RESIDENT).value >=
	    BLOCK);
	assert_int_equal(
	    plim_mappings_total(mappings, PLIM_MAPPING_FIGURE_PRIVATE_DIRTY)
		.state,
	    PLIM_STATE_SKIPPED);
	ledger = plim_memory_ledger(held.memory);
	assert_int_equal(ledger.walks, 0);
	assert_int_equal(ledger.skipped, 1);
	assert_int_equal(ledger.scans, 1);
	assert_int_equal(ledger.stall_ns, 1);
	assert_true(ledger.predicted_ns.value > 1);
	assert_int_equal(ledger.longest_call_ns.state, PLIM_STATE_KNOWN);
	assert_true(strncmp(ledger.longest_call, "pagemap", 7) == 0);
	options.force = 1;
	sample(&options);
	assert_true(last(PLIM_MEMORY_PRIVATE_DIRTY) >= BLOCK);
	assert_int_equal(
	    plim_memory_last(held.memory, PLIM_MEMORY_EXCLUSIVE_ANONYMOUS)
		.state,
	    PLIM_STATE_SKIPPED);
	ledger = plim_memory_ledger(held.memory);
	assert_int_equal(ledger.walks, 2); /* the sums, and the mappings */
	options.force = 0;
	options.stall_ns = 1000000000;
	sample(&options);
	assert_true(last(PLIM_MEMORY_PSS) >= BLOCK);
	assert_true(last(PLIM_MEMORY_PRIVATE_DIRTY) >= BLOCK);
	assert_int_equal(plim_memory_ledger(held.memory).skipped, 1);
	/* The range of what was not known once: over those that know it. */
	assert_int_equal(
	    plim_memory_range(held.memory, PLIM_MEMORY_PRIVATE_DIRTY).known, 2);
	assert_int_equal(
	    plim_memory_range(held.memory, PLIM_MEMORY_PRIVATE_DIRTY).missing,
	    1);
}

/* After a walk the process is left alone; the cheap figures come all the
 * same, and the mappings of the last walk stay. */
static void test_rest(void **state)
{
	plim_memory_options options = {
	    .size = sizeof(options), .stall_ns = 1000000000, .rest = 100000000};
	plim_stamp stamp;
	plim_count got;

	(void)state;
	sample(&options);
	last(PLIM_MEMORY_PRIVATE_DIRTY);
	stamp = plim_mappings_stamp(plim_memory_mappings(held.memory));
	sample(&options);
	got = plim_memory_last(held.memory, PLIM_MEMORY_PRIVATE_DIRTY);
	assert_int_equal(got.state, PLIM_STATE_SKIPPED);
	assert_int_equal(got.method, PLIM_REASON_RECENT_WALK);
	last(PLIM_MEMORY_ANONYMOUS);
	assert_int_equal(plim_memory_ledger(held.memory).rested, 1);
	assert_int_equal(
	    plim_mappings_stamp(plim_memory_mappings(held.memory)).monotonic.ns,
	    stamp.monotonic.ns);
	/* Steady state knows the last that was known, and when. */
	assert_int_equal(
	    plim_memory_range(held.memory, PLIM_MEMORY_PRIVATE_DIRTY)
		.last_at.monotonic.ns,
	    plim_memory_stamp(held.memory, 0).monotonic.ns);
}

/* Only what was asked for is read. */
static void test_parts(void **state)
{
	plim_memory_options options = {.size = sizeof(options),
				       .parts = PLIM_MEMORY_STATUS};
	plim_count got;

	(void)state;
	sample(&options);
	last(PLIM_MEMORY_ANONYMOUS);
	got = plim_memory_last(held.memory, PLIM_MEMORY_PSS);
	assert_int_equal(got.method, PLIM_REASON_NOT_ASKED);
	assert_null(plim_memory_mappings(held.memory));
	assert_int_equal(plim_memory_ledger(held.memory).walks, 0);
	options.parts = PLIM_MEMORY_ROLLUP;
	sample(&options);
	last(PLIM_MEMORY_PSS);
	assert_null(plim_memory_mappings(held.memory));
}

/* What is left when the process is gone: its last live state. */
static void expect_left(int how, uint64_t anonymous, size_t samples)
{
	plim_memory_end end = plim_memory_ended(held.memory);
	const plim_mappings *mappings = plim_memory_mappings(held.memory);

	assert_int_equal(end.how, how);
	assert_true(end.seen.monotonic.ns >= end.last_alive.monotonic.ns);
	assert_int_equal(
	    end.last_alive.monotonic.ns,
	    plim_memory_stamp(held.memory, samples - 1).monotonic.ns);
	assert_int_equal(plim_memory_samples(held.memory), samples);
	assert_int_equal(last(PLIM_MEMORY_ANONYMOUS), anonymous);
	assert_non_null(mappings);
	assert_true(plim_mappings_count(mappings) > 5);
}

static void test_gone(void **state)
{
	uint64_t anonymous;
	plim_error error = {0};

	(void)state;
	spawn_ask(&held.spawn, "anonymous 8");
	sample(&always);
	sample(&always);
	assert_int_equal(plim_memory_ended(held.memory).how,
			 PLIM_MEMORY_END_ALIVE);
	assert_int_equal(plim_memory_ended(held.memory).exit_status.state,
			 PLIM_STATE_PENDING);
	anonymous = last(PLIM_MEMORY_ANONYMOUS);
	spawn_end(&held.spawn);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(plim_memory_sample(held.memory, held.target,
						    &always, &error),
				 PLIM_ENOPROCESS);
		assert_int_equal(error.code, PLIM_ENOPROCESS);
		expect_left(PLIM_MEMORY_END_GONE, anonymous, 2);
	}
	plim_memory_clear(held.memory);
	assert_int_equal(plim_memory_samples(held.memory), 0);
	assert_null(plim_memory_mappings(held.memory));
	/* Now it is gone from the start, which is an error and no end. */
	assert_int_equal(
	    plim_memory_sample(held.memory, held.target, &always, NULL),
	    PLIM_ENOPROCESS);
	assert_int_equal(plim_memory_ended(held.memory).how,
			 PLIM_MEMORY_END_ALIVE);
}

/* One that has ended and waits to be reaped has ended. */
static void test_zombie(void **state)
{
	siginfo_t info;
	uint64_t anonymous;

	(void)state;
	sample(&always);
	anonymous = last(PLIM_MEMORY_ANONYMOUS);
	assert_int_equal(kill(held.spawn.pid, SIGKILL), 0);
	assert_int_equal(
	    waitid(P_PID, (id_t)held.spawn.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(
	    plim_memory_sample(held.memory, held.target, &always, NULL),
	    PLIM_ENOPROCESS);
	expect_left(PLIM_MEMORY_END_GONE, anonymous, 1);
}

/* One that had ended before the first sample has no memory, which is not 0
 * bytes of it, and nothing was left out to spare it. */
static void test_zombie_from_the_start(void **state)
{
	siginfo_t info;
	int figure;

	(void)state;
	assert_int_equal(kill(held.spawn.pid, SIGKILL), 0);
	assert_int_equal(
	    waitid(P_PID, (id_t)held.spawn.pid, &info, WEXITED | WNOWAIT), 0);
	sample(&always);
	for (figure = 1; plim_memory_name(figure) != NULL; figure++)
		assert_int_equal(plim_memory_last(held.memory, figure).state,
				 PLIM_STATE_NOT_APPLICABLE);
	assert_null(plim_memory_mappings(held.memory));
	assert_int_equal(plim_memory_ledger(held.memory).skipped, 0);
	assert_int_equal(plim_memory_ledger(held.memory).scans, 0);
}

/* Another program in the same process is another memory: the run ends. */
static void test_exec(void **state)
{
	char path[4096];
	const char *argv[] = {"before-exec", path, "/tmp", NULL};
	uint64_t anonymous;

	(void)state;
	snprintf(path, sizeof(path), "%s", spawn_path("holder"));
	plim_target_close(held.target);
	spawn_end(&held.spawn);
	spawn_start(&held.spawn, argv);
	held.target = open_target(held.host, held.spawn.pid);
	sample(&always);
	anonymous = last(PLIM_MEMORY_ANONYMOUS);
	spawn_send(&held.spawn, "exec");
	spawn_await_ready(&held.spawn);
	spawn_ask(&held.spawn, "anonymous 8");
	assert_int_equal(
	    plim_memory_sample(held.memory, held.target, &always, NULL),
	    PLIM_EIMAGE);
	expect_left(PLIM_MEMORY_END_IMAGE_CHANGED, anonymous, 1);
	assert_int_equal(plim_memory_ended(held.memory).exit_status.state,
			 PLIM_STATE_UNLIKE);
	assert_int_equal(
	    plim_memory_sample(held.memory, held.target, &always, NULL),
	    PLIM_EIMAGE);
	/* A new run is of the new program. */
	plim_memory_clear(held.memory);
	sample(&always);
	assert_true(last(PLIM_MEMORY_ANONYMOUS) >= 8 * MIB);
}

static pid_t replaced_start(pid_t pid)
{
	pid_t child = ns_fork_as(pid);

	if (child == 0) {
		child_bind();
		for (;;)
			pause();
	}
	assert_int_equal(child, pid);
	return child;
}

static void replaced_body(void *user)
{
	plim_host *host = open_host(0);
	plim_memory *memory = NULL;
	pid_t pid = replaced_start(ns_fresh_pid());
	plim_target *target = open_target(host, pid);
	uint64_t anonymous;
	int status;

	(void)user;
	assert_int_equal(plim_memory_new(&memory, host, NULL), PLIM_OK);
	assert_int_equal(plim_memory_sample(memory, target, &always, NULL),
			 PLIM_OK);
	anonymous = plim_memory_last(memory, PLIM_MEMORY_ANONYMOUS).value;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(child_wait(pid, &status, 5000), 0);
	replaced_start(pid);
	assert_int_equal(plim_memory_sample(memory, target, &always, NULL),
			 PLIM_EREPLACED);
	assert_int_equal(plim_memory_ended(memory).how,
			 PLIM_MEMORY_END_REPLACED);
	assert_int_equal(plim_memory_samples(memory), 1);
	assert_int_equal(plim_memory_last(memory, PLIM_MEMORY_ANONYMOUS).value,
			 anonymous);
	plim_memory_free(memory);
	plim_target_close(target);
	plim_host_close(host);
}

static void test_replaced(void **state)
{
	(void)state;
	ns_run(NULL, replaced_body, NULL);
}

/* The sampler's own process, and then another: the memory starts anew. */
static void test_self_then_other(void **state)
{
	(void)state;
	assert_int_equal(plim_memory_sample(held.memory, NULL, &always, NULL),
			 PLIM_OK);
	assert_int_equal(plim_memory_sample(held.memory, NULL, &always, NULL),
			 PLIM_OK);
	assert_int_equal(plim_memory_samples(held.memory), 2);
	expect_near(last(PLIM_MEMORY_RESIDENT),
		    1024 * proc_number((int32_t)getpid(), "status", "VmRSS"), 5,
		    65536);
	sample(&always);
	assert_int_equal(plim_memory_samples(held.memory), 1);
	assert_int_equal(last(PLIM_MEMORY_PAGE_TABLES),
			 1024 * proc_number(held.spawn.pid, "status", "VmPTE"));
}

/* A leak of a known pace is a drift of that slope. */
static void test_drift(void **state)
{
	plim_memory_options options = {.size = sizeof(options),
				       .parts = PLIM_MEMORY_STATUS};
	plim_memory_steady got;
	uint64_t first = 0;
	uint64_t whole;

	(void)state;
	for (int i = 0; i < 16; i++) {
		spawn_ask(&held.spawn, "anonymous 1");
		child_sleep_ms(10);
		sample(&options);
		if (i == 0)
			first = last(PLIM_MEMORY_ANONYMOUS);
	}
	got = plim_memory_range(held.memory, PLIM_MEMORY_ANONYMOUS);
	assert_int_equal(got.trend, PLIM_TREND_DRIFTING);
	assert_int_equal(last(PLIM_MEMORY_ANONYMOUS) - first, 15 * MIB);
	whole = plim_memory_stamp(held.memory, 15).monotonic.ns -
		plim_memory_stamp(held.memory, 0).monotonic.ns;
	/* The line, and the straight way from first to last, by the clock
	 * readings of the very same samples. */
	expect_near((uint64_t)(got.slope.value * (double)whole / 1e9), 15 * MIB,
		    35, 0);
}

static void test_wrong(void **state)
{
	plim_memory_options options = {.size = 3};
	plim_memory *made = NULL;
	plim_host *other = open_host(0);

	(void)state;
	assert_int_equal(plim_memory_new(NULL, held.host, NULL), PLIM_EINVAL);
	assert_int_equal(plim_memory_new(&made, NULL, NULL), PLIM_EINVAL);
	assert_null(made);
	plim_memory_free(NULL);
	assert_int_equal(plim_memory_sample(NULL, NULL, NULL, NULL),
			 PLIM_EINVAL);
	assert_int_equal(
	    plim_memory_sample(held.memory, held.target, &options, NULL),
	    PLIM_EINVAL);
	assert_int_equal(plim_memory_new(&made, other, NULL), PLIM_OK);
	assert_int_equal(plim_memory_sample(made, held.target, NULL, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_memory_samples(made), 0);
	assert_int_equal(plim_memory_at(made, 0, PLIM_MEMORY_PSS).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(plim_memory_stamp(made, 9).monotonic.ns, 0);
	assert_string_equal(plim_memory_ledger(made).longest_call, "");
	plim_memory_free(made);
	plim_host_close(other);
}

/* Another user's process: what status tells comes, the rest is DENIED, and
 * the mappings say so; the sample stands. */
static void refused_body(void *user)
{
	plim_host *host;
	plim_target *target;
	plim_memory *memory = NULL;

	(void)user;
	child_become(65534);
	host = open_host(0);
	target = open_target(host, held.spawn.pid);
	assert_int_equal(plim_memory_new(&memory, host, NULL), PLIM_OK);
	assert_int_equal(plim_memory_sample(memory, target, &always, NULL),
			 PLIM_OK);
	assert_int_equal(plim_memory_last(memory, PLIM_MEMORY_ANONYMOUS).state,
			 PLIM_STATE_KNOWN);
	assert_int_equal(
	    plim_memory_last(memory, PLIM_MEMORY_PRIVATE_DIRTY).state,
	    PLIM_STATE_DENIED);
	assert_int_equal(
	    plim_mappings_known(plim_memory_mappings(memory)).state,
	    PLIM_STATE_DENIED);
	plim_memory_free(memory);
	plim_target_close(target);
	plim_host_close(host);
}

static void test_refused(void **state)
{
	(void)state;
	child_run(refused_body, NULL);
}

int main(void)
{
#define HELD(test) \
	cmocka_unit_test_setup_teardown(test, held_setup, held_teardown)
	const struct CMUnitTest tests[] = {
	    HELD(test_kinds),	 HELD(test_files),
	    HELD(test_guard),	 HELD(test_rest),
	    HELD(test_parts),	 HELD(test_gone),
	    HELD(test_zombie),	 HELD(test_exec),
	    HELD(test_replaced), HELD(test_self_then_other),
	    HELD(test_drift),	 HELD(test_wrong),
	    HELD(test_refused),	 HELD(test_zombie_from_the_start),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
