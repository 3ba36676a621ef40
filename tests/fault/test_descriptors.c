/*
 * test_descriptors.c - no free descriptor.
 *
 * The limit of open files is lowered so that none, one, two ... more can be
 * opened, and everything that opens one is done at each step. It may fail
 * with PLIM_ESYSTEM and EMFILE, or leave out figures as SKIPPED with the
 * reason no_free_descriptor; what it tells is what it tells with descriptors
 * enough. No process is gone, hidden or replaced for want of a descriptor, no
 * figure becomes 0, nothing is remembered wrong, and nothing is leaked.
 */
#include "fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SPARE_MOST 12

enum { KIND_PLAIN, KIND_THREADED, KIND_LEADERLESS, KIND_COUNT };

/* The processes that are read, and what is told of them normally. */
struct starved {
	struct spawn spawns[KIND_COUNT];
	plim_host *host;
	plim_snapshot *snapshot; /* with descriptors enough */
	plim_usage *usages[KIND_COUNT];
	plim_usage *self;
	plim_identity identities[KIND_COUNT];
	size_t descriptors;
	struct fault_children children;
};

static struct starved starved;

static int starved_take(plim_snapshot *snapshot, int threads, plim_error *error)
{
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .fields = &all,
	    .threads = threads,
	    .strong_identity = 1,
	};

	return plim_snapshot_take(snapshot, &options, error);
}

static int starved_setup(void **state)
{
	(void)state;
	memset(&starved, 0, sizeof(starved));
	spawn_start(&starved.spawns[KIND_PLAIN],
		    (const char *const[]){"idle", NULL});
	spawn_start(&starved.spawns[KIND_THREADED],
		    (const char *const[]){"threads", "20", NULL});
	spawn_start(&starved.spawns[KIND_LEADERLESS],
		    (const char *const[]){"leader", "8", NULL});
	starved.host = open_host(0);
	starved.snapshot = new_snapshot(starved.host);
	assert_int_equal(starved_take(starved.snapshot, 0, NULL), PLIM_OK);
	for (int i = 0; i < KIND_COUNT; i++) {
		plim_target *target =
		    open_target(starved.host, starved.spawns[i].pid);

		starved.usages[i] = new_usage(starved.host);
		measure(starved.usages[i], target);
		starved.identities[i] = plim_target_identity(target);
		plim_target_close(target);
	}
	starved.self = new_usage(starved.host);
	measure_self(starved.self);
	starved.children = fault_children();
	starved.descriptors = fault_descriptors();
	return 0;
}

static int starved_teardown(void **state)
{
	(void)state;
	fault_unlimit();
	plim_usage_free(starved.self);
	for (int i = 0; i < KIND_COUNT; i++) {
		plim_usage_free(starved.usages[i]);
		spawn_end(&starved.spawns[i]);
	}
	plim_snapshot_free(starved.snapshot);
	plim_host_close(starved.host);
	return 0;
}

/* Nothing is left behind. */
static void starved_settle(void)
{
	assert_int_equal(fault_descriptors(), starved.descriptors);
	fault_expect_children(&starved.children);
}

/* The only way to fail. */
static void expect_starved(const plim_error *error, int code)
{
	assert_int_equal(code, PLIM_ESYSTEM);
	fault_expect_error(error, PLIM_ESYSTEM);
	assert_int_equal(error->system, EMFILE);
}

static int expect_like_text(const plim_process *now, const plim_process *normal,
			    int field)
{
	plim_text text = plim_process_text(now, field);
	plim_text usual = plim_process_text(normal, field);

	if (text.state == PLIM_STATE_SKIPPED &&
	    text.method == PLIM_REASON_TOO_MANY_DESCRIPTORS)
		return 1;
	assert_int_equal(text.state, usual.state);
	if (field != PLIM_FIELD_STATE && usual.state == PLIM_STATE_KNOWN)
		expect_text(text, usual.bytes.data, usual.bytes.size);
	return 0;
}

/* Every figure is told as it is told normally, or left out for want of a
 * descriptor; what is not 0 normally is not 0. Returns how many are left
 * out. */
static int expect_like(const plim_process *now, const plim_process *normal)
{
	int left_out = 0;

	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);
		plim_count count;
		plim_count usual;

		if (field->kind == PLIM_KIND_TEXT) {
			left_out += expect_like_text(now, normal, field->id);
			continue;
		}
		count = plim_process_count(now, field->id);
		usual = plim_process_count(normal, field->id);
		if (count.state == PLIM_STATE_SKIPPED &&
		    count.method == PLIM_REASON_TOO_MANY_DESCRIPTORS) {
			left_out++;
			continue;
		}
		if (count.state != usual.state || count.method != usual.method)
			fail_msg("%s: state %d, method %d, not %d, %d",
				 field->name, count.state, count.method,
				 usual.state, usual.method);
		if (usual.value != 0 && count.value == 0)
			fail_msg("%s is 0", field->name);
	}
	return left_out;
}

static void expect_same_host(plim_host *host)
{
	for (int figure = 1; figure <= PLIM_HOST_IS_LIVE; figure++) {
		plim_count count = plim_host_count(host, figure);
		plim_count usual = plim_host_count(starved.host, figure);

		assert_int_equal(count.state, usual.state);
		assert_int_equal(count.method, usual.method);
		/* Two clocks that are read one after the other. */
		if (figure == PLIM_HOST_BOOT_UNIX_MS)
			expect_near(count.value, usual.value, 0, 1000);
		else
			assert_int_equal(count.value, usual.value);
	}
	for (int id = 1; id <= PLIM_HOST_PROC_ROOT; id++) {
		plim_text text = plim_host_text(starved.host, id);

		expect_text(plim_host_text(host, id), text.bytes.data,
			    text.bytes.size);
	}
}

/* A host either opens whole or not at all. */
static void test_host_open(void **state)
{
	int opened = 0;

	(void)state;
	for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
		plim_host *host = NULL;
		plim_error error = fault_poisoned();
		int code;

		fault_limit(spare);
		code = plim_host_open(&host, NULL, &error);
		fault_unlimit();
		if (code != PLIM_OK) {
			expect_starved(&error, code);
			assert_null(host);
			assert_int_equal(opened, 0);
			starved_settle();
			continue;
		}
		opened++;
		expect_same_host(host);
		plim_host_close(host);
		starved_settle();
	}
	assert_true(opened > 0 && opened < SPARE_MOST);
}

/* What is asked once and kept must not be kept wrong. */
static void test_host_facts(void **state)
{
	double usable = plim_host_usable_cpus(starved.host).value;
	plim_count cpus = plim_host_count(starved.host, PLIM_HOST_CPUS);
	int left_out = 0;

	(void)state;
	for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
		plim_host *host = open_host(0);
		plim_count count;
		plim_count hidepid;
		plim_real real;

		fault_limit(spare);
		count = plim_host_count(host, PLIM_HOST_CPUS);
		hidepid = plim_host_count(host, PLIM_HOST_HIDEPID);
		real = plim_host_usable_cpus(host);
		fault_unlimit();
		if (count.state == PLIM_STATE_KNOWN)
			assert_int_equal(count.value, cpus.value);
		else
			assert_int_equal(count.method,
					 PLIM_REASON_TOO_MANY_DESCRIPTORS);
		if (hidepid.state != PLIM_STATE_KNOWN)
			assert_int_equal(hidepid.method,
					 PLIM_REASON_TOO_MANY_DESCRIPTORS);
		if (real.state == PLIM_STATE_KNOWN)
			assert_true(real.value == usable);
		else
			assert_int_equal(real.method,
					 PLIM_REASON_TOO_MANY_DESCRIPTORS);
		left_out += real.state != PLIM_STATE_KNOWN;
		expect_same_host(host);
		assert_true(plim_host_usable_cpus(host).value == usable);
		plim_host_close(host);
		starved_settle();
	}
	assert_true(left_out > 0 && left_out < SPARE_MOST);
}

static int event_ended(int event, const plim_process *first,
		       const plim_process *last, void *user)
{
	const plim_process *it = first != NULL ? first : last;

	(void)user;
	for (int i = 0; i < KIND_COUNT; i++)
		if (plim_process_pid(it) == starved.spawns[i].pid &&
		    event != PLIM_EVENT_STAYED)
			return event;
	return 0;
}

static void expect_like_snapshot(const plim_snapshot *snapshot)
{
	for (int i = 0; i < KIND_COUNT; i++) {
		int32_t pid = starved.spawns[i].pid;
		const plim_process *now = plim_snapshot_find(snapshot, pid);

		assert_non_null(now);
		expect_like(now, plim_snapshot_find(starved.snapshot, pid));
	}
	assert_int_equal(plim_snapshot_compare(starved.snapshot, snapshot,
					       event_ended, NULL),
			 0);
}

static void starved_pass(int threads)
{
	plim_snapshot *snapshot = new_snapshot(starved.host);
	int taken = 0;

	assert_int_equal(starved_take(snapshot, 0, NULL), PLIM_OK);
	for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
		plim_error error = fault_poisoned();
		size_t size = plim_snapshot_size(snapshot);
		int code;

		fault_limit(spare);
		code = starved_take(snapshot, threads, &error);
		fault_unlimit();
		if (code != PLIM_OK) {
			expect_starved(&error, code);
			assert_int_equal(plim_snapshot_size(snapshot), size);
			assert_int_equal(taken, 0);
		} else {
			taken++;
			if (!threads)
				expect_like_snapshot(snapshot);
		}
		starved_settle();
	}
	assert_true(taken > 0 && taken <= SPARE_MOST);
	plim_snapshot_free(snapshot);
}

static void test_snapshot(void **state)
{
	(void)state;
	starved_pass(0);
}

/* Wake-ups of many threads need a descriptor more than the rest. */
static void test_snapshot_threads(void **state)
{
	plim_snapshot *snapshot = new_snapshot(starved.host);
	int left_out = 0;
	int counted = 0;

	(void)state;
	starved_pass(1);
	for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
		const plim_process *record;
		plim_count wakeups;
		int code;

		fault_limit(spare);
		code = starved_take(snapshot, 1, NULL);
		fault_unlimit();
		if (code != PLIM_OK)
			continue;
		record = plim_snapshot_find(snapshot,
					    starved.spawns[KIND_THREADED].pid);
		assert_non_null(record);
		wakeups = plim_process_count(record, PLIM_FIELD_WAKEUPS);
		if (wakeups.state == PLIM_STATE_KNOWN) {
			assert_true(wakeups.value >= 21);
			counted++;
		} else {
			assert_int_equal(wakeups.method,
					 PLIM_REASON_TOO_MANY_DESCRIPTORS);
			left_out++;
		}
	}
	assert_true(left_out > 0 && counted > 0);
	plim_snapshot_free(snapshot);
}

/* A target that opens is as strong as ever. */
static void starved_open(int kind)
{
	int opened = 0;

	for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
		plim_target *target = NULL;
		plim_error error = fault_poisoned();
		plim_identity identity;
		int code;

		fault_limit(spare);
		code = plim_target_open(&target, starved.host,
					starved.spawns[kind].pid, &error);
		fault_unlimit();
		if (code != PLIM_OK) {
			expect_starved(&error, code);
			assert_null(target);
			assert_int_equal(opened, 0);
			starved_settle();
			continue;
		}
		opened++;
		identity = plim_target_identity(target);
		assert_memory_equal(&identity, &starved.identities[kind],
				    sizeof(identity));
		expect_fate(target, PLIM_FATE_SAME, 0, 0);
		plim_target_close(target);
		starved_settle();
	}
	assert_true(opened > 0 && opened < SPARE_MOST);
}

static void test_target_open(void **state)
{
	plim_target *target = NULL;
	plim_error error;
	int code;

	(void)state;
	for (int i = 0; i < KIND_COUNT; i++)
		starved_open(i);
	/* Nobody has this pid: that cannot be known, either. */
	error = fault_poisoned();
	fault_limit(0);
	code = plim_target_open(&target, starved.host, 0x7ffffffe, &error);
	fault_unlimit();
	expect_starved(&error, code);
	assert_int_equal(
	    plim_target_open(&target, starved.host, 0x7ffffffe, NULL),
	    PLIM_ENOPROCESS);
	assert_null(target);
}

/* It cannot tell, or it is the same; it has not ended and is not hidden. */
static void test_check(void **state)
{
	int unsure = 0;

	(void)state;
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		plim_target *target =
		    open_target(starved.host, starved.spawns[kind].pid);

		for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
			plim_check check = {0};

			fault_limit(spare);
			assert_int_equal(
			    plim_target_check(target, &check, NULL), PLIM_OK);
			fault_unlimit();
			assert_true(check.fate == PLIM_FATE_SAME ||
				    check.fate == PLIM_FATE_CANNOT_TELL);
			assert_int_equal(check.changes, 0);
			unsure += check.fate != PLIM_FATE_SAME;
			expect_fate(target, PLIM_FATE_SAME, 0, 0);
		}
		plim_target_close(target);
		starved_settle();
	}
	assert_true(unsure > 0 && unsure < SPARE_MOST);
}

static void starved_refresh(int kind)
{
	static char before[65536];
	static char after[65536];
	plim_target *target =
	    open_target(starved.host, starved.spawns[kind].pid);
	plim_usage *usage = new_usage(starved.host);
	int refreshed = 0;

	measure(usage, target);
	for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
		plim_error error = fault_poisoned();
		size_t size = fault_record(plim_usage_process(usage), before,
					   sizeof(before));
		int left_out;
		int code;

		fault_limit(spare);
		code = plim_usage_refresh(usage, target, NULL, &error);
		fault_unlimit();
		if (code != PLIM_OK) {
			expect_starved(&error, code);
			assert_int_equal(fault_record(plim_usage_process(usage),
						      after, sizeof(after)),
					 size);
			assert_memory_equal(before, after, size);
			assert_int_equal(refreshed, 0);
			continue;
		}
		left_out =
		    expect_like(plim_usage_process(usage),
				plim_usage_process(starved.usages[kind]));
		refreshed += left_out == 0;
	}
	assert_true(refreshed > 0 && refreshed <= SPARE_MOST);
	plim_usage_free(usage);
	plim_target_close(target);
	starved_settle();
}

static void test_refresh(void **state)
{
	(void)state;
	for (int i = 0; i < KIND_COUNT; i++)
		starved_refresh(i);
}

/* Its own files are opened on first use, and kept. */
static void test_refresh_self(void **state)
{
	int whole = 0;

	(void)state;
	for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
		plim_host *host = open_host(0);
		plim_usage *usage = new_usage(host);
		int left_out;

		fault_limit(spare);
		assert_int_equal(plim_usage_refresh_self(usage, NULL, NULL),
				 PLIM_OK);
		fault_unlimit();
		left_out = expect_like(plim_usage_process(usage),
				       plim_usage_process(starved.self));
		whole += left_out == 0;
		measure_self(usage);
		left_out = expect_like(plim_usage_process(usage),
				       plim_usage_process(starved.self));
		assert_int_equal(left_out, 0);
		plim_usage_free(usage);
		plim_host_close(host);
		starved_settle();
	}
	assert_true(whole > 0 && whole < SPARE_MOST);
}

static void expect_line(plim_target *target)
{
	plim_text text = {0};

	assert_int_equal(plim_target_command_line(target, &text, NULL),
			 PLIM_OK);
	expect_text(text, "idle", 5);
}

/* With a helper that runs already, and without. */
static void starved_line(int started)
{
	int told = 0;

	for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
		struct fault_memory memory = {0};
		plim_host *host = fault_host(&memory, NULL);
		plim_target *target =
		    open_target(host, starved.spawns[KIND_PLAIN].pid);
		plim_error error = fault_poisoned();
		plim_text text = {0};
		int code;

		if (started)
			expect_line(target);
		fault_limit(spare);
		code = plim_target_command_line(target, &text, &error);
		fault_unlimit();
		if (code != PLIM_OK)
			expect_starved(&error, code);
		else if (text.state != PLIM_STATE_KNOWN)
			assert_int_equal(text.method,
					 PLIM_REASON_TOO_MANY_DESCRIPTORS);
		else
			expect_text(text, "idle", 5);
		told += code == PLIM_OK && text.state == PLIM_STATE_KNOWN;
		expect_line(target);
		plim_target_close(target);
		plim_host_close(host);
		assert_int_equal(memory.live, 0);
		starved_settle();
	}
	assert_true(told > 0 && told <= SPARE_MOST);
}

static void test_command_line(void **state)
{
	(void)state;
	starved_line(0);
	starved_line(1);
}

/* A survey that is told is told right. */
struct surveyed {
	size_t count;
	char subjects[32][64];
	int states[32];
};

static int survey_keep(const plim_finding *finding, void *user)
{
	struct surveyed *surveyed = user;

	assert_true(surveyed->count < 32);
	snprintf(surveyed->subjects[surveyed->count], 64, "%s",
		 finding->subject);
	surveyed->states[surveyed->count++] = finding->state;
	return 0;
}

static void test_survey(void **state)
{
	struct surveyed usual = {0};
	int told = 0;

	(void)state;
	assert_int_equal(
	    plim_host_survey(starved.host, survey_keep, &usual, NULL), PLIM_OK);
	for (unsigned spare = 0; spare <= SPARE_MOST; spare++) {
		plim_host *host = open_host(0);
		struct surveyed now = {0};
		plim_error error = fault_poisoned();
		int code;

		fault_limit(spare);
		code = plim_host_survey(host, survey_keep, &now, &error);
		fault_unlimit();
		plim_host_close(host);
		starved_settle();
		if (code != PLIM_OK) {
			expect_starved(&error, code);
			continue;
		}
		told++;
		assert_int_equal(now.count, usual.count);
		for (size_t i = 0; i < now.count; i++)
			if (now.states[i] != PLIM_STATE_SKIPPED &&
			    now.states[i] != usual.states[i])
				fail_msg("%s: %d, not %d", now.subjects[i],
					 now.states[i], usual.states[i]);
	}
	assert_true(told > 0 && told <= SPARE_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define STARVED(test) \
	cmocka_unit_test_setup_teardown(test, starved_setup, starved_teardown)
	    STARVED(test_host_open),	STARVED(test_host_facts),
	    STARVED(test_snapshot),	STARVED(test_snapshot_threads),
	    STARVED(test_target_open),	STARVED(test_check),
	    STARVED(test_refresh),	STARVED(test_refresh_self),
	    STARVED(test_command_line), STARVED(test_survey),
	};

	return cmocka_run_group_tests_name("descriptors", tests, NULL, NULL);
}
