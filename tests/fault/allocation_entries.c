/*
 * allocation_entries.c - every public function that asks for memory, each in
 * the situations in which it asks for more of it (allocation.h).
 */
#include "allocation.h"

#include "corefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS	   8
#define WORD_SIZE  16000
#define MORE_FIRST 2000
#define MORE_LAST  2699

struct site_world site_world;

static char word_text[WORDS][WORD_SIZE + 1];

static void site_core(void)
{
	static const uint8_t page[4096];
	struct corefile *core = corefile_new();
	size_t size;
	uint8_t *bytes;
	int file;

	corefile_segment(core, 0x10000, 0x11000, 6, page, sizeof(page));
	corefile_file(core, 0x10000, 0x11000, 0, "/nonexistent");
	bytes = corefile_write(core, &size);
	corefile_free(core);
	snprintf(site_world.core, sizeof(site_world.core),
		 "/tmp/plimsoll-core-XXXXXX");
	file = mkstemp(site_world.core);
	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, size), (ssize_t)size);
	close(file);
	free(bytes);
}

void site_world_begin(void)
{
	const char *wordy[WORDS + 2] = {"idle"};

	for (int i = 0; i < WORDS; i++) {
		memset(word_text[i], 'a' + i, WORD_SIZE);
		wordy[i + 1] = word_text[i];
	}
	spawn_start(&site_world.plain, (const char *const[]){"idle", NULL});
	spawn_start(&site_world.threaded,
		    (const char *const[]){"threads", "300", NULL});
	spawn_start(&site_world.wordy, wordy);
	site_core();
	fixture_new(&site_world.fixture);
	fixture_host(&site_world.fixture, 0);
	fixture_process(&site_world.fixture, 10, "ten", 3);
	fixture_process(&site_world.fixture, 11, "eleven", 6);
}

void site_world_end(void)
{
	unlink(site_world.core);
	fixture_free(&site_world.fixture);
	spawn_end(&site_world.wordy);
	spawn_end(&site_world.threaded);
	spawn_end(&site_world.plain);
}

static int open_act(struct site *site, const char *root, plim_error *error)
{
	plim_host_options options = {
	    .size = sizeof(options),
	    .proc_root = root,
	    .allocator = site->allocator,
	};
	plim_host *made = SITE_POISON;
	int code = plim_host_open(&made, &options, error);

	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	site->host = made;
	assert_int_equal(plim_host_count(made, PLIM_HOST_IS_LIVE).value,
			 root == NULL);
	return code;
}

static int live_act(struct site *site, plim_error *error)
{
	return open_act(site, NULL, error);
}

static int fixture_act(struct site *site, plim_error *error)
{
	return open_act(site, site_world.fixture.root, error);
}

static void host_prepare(struct site *site)
{
	site->host = fault_host(&site->memory, NULL);
}

static int survey_count(const plim_finding *finding, void *user)
{
	(void)finding;
	++*(int *)user;
	return 0;
}

/* Half a survey would be a wrong one. */
static int survey_act(struct site *site, plim_error *error)
{
	int count = 0;
	int code = plim_host_survey(site->host, survey_count, &count, error);

	if (code != PLIM_OK)
		assert_int_equal(count, 0);
	else
		assert_true(count > 3);
	return code;
}

static int target_act(struct site *site, plim_error *error)
{
	plim_target *made = SITE_POISON;
	int code =
	    plim_target_open(&made, site->host, site_world.plain.pid, error);

	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	site->target = made;
	expect_fate(made, PLIM_FATE_SAME, 0, 0);
	return code;
}

static int identity_act(struct site *site, plim_error *error)
{
	plim_target *made = SITE_POISON;
	plim_host *other = open_host(0);
	plim_target *known_target = open_target(other, site_world.plain.pid);
	plim_identity identity = plim_target_identity(known_target);
	int code;

	plim_target_close(known_target);
	plim_host_close(other);
	code = plim_target_open_identity(&made, site->host, &identity, error);
	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	site->target = made;
	return code;
}

/* The helper's stack and its text; then text that grows again and again. */
static int line_act(struct site *site, const struct spawn *spawn, size_t size,
		    plim_error *error)
{
	plim_text text;
	plim_text before;
	int code;

	memset(&text, 0x5a, sizeof(text));
	before = text;
	code = plim_target_command_line(site->target, &text, error);
	if (code != PLIM_OK) {
		assert_memory_equal(&text, &before, sizeof(text));
		return code;
	}
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_int_equal(text.bytes.size, size);
	assert_memory_equal(text.bytes.data, "idle", 5);
	(void)spawn;
	return code;
}

static void line_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, site_world.plain.pid);
}

static int line_short_act(struct site *site, plim_error *error)
{
	return line_act(site, &site_world.plain, 5, error);
}

static void line_long_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, site_world.wordy.pid);
}

static void line_again_prepare(struct site *site)
{
	line_prepare(site);
	assert_int_equal(line_short_act(site, NULL), PLIM_OK);
	plim_target_close(site->target);
	site->target = open_target(site->host, site_world.wordy.pid);
}

static int line_long_act(struct site *site, plim_error *error)
{
	return line_act(site, &site_world.wordy, 5 + WORDS * (WORD_SIZE + 1),
			error);
}

static int snapshot_new_act(struct site *site, plim_error *error)
{
	plim_snapshot *made = SITE_POISON;
	int code = plim_snapshot_new(&made, site->host, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->snapshot = made;
	return code;
}

static int take_with(struct site *site, int threads, plim_error *error)
{
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .threads = threads,
	};

	return plim_snapshot_take(site->snapshot, &options, error);
}

static void take_prepare(struct site *site)
{
	host_prepare(site);
	site->snapshot = new_snapshot(site->host);
}

static void take_again_prepare(struct site *site)
{
	take_prepare(site);
	assert_int_equal(take_with(site, 1, NULL), PLIM_OK);
}

/* Both halves are large enough for the records, not for the threads. */
static void take_threads_prepare(struct site *site)
{
	take_prepare(site);
	assert_int_equal(take_with(site, 0, NULL), PLIM_OK);
	assert_int_equal(take_with(site, 0, NULL), PLIM_OK);
}

static int take_act(struct site *site, plim_error *error)
{
	int code = take_with(site, 1, error);
	const plim_process *record;

	if (code != PLIM_OK)
		return code;
	record = plim_snapshot_find(site->snapshot, site_world.threaded.pid);
	assert_non_null(record);
	assert_int_equal(known(record, PLIM_FIELD_THREADS), 301);
	assert_true(known(record, PLIM_FIELD_WAKEUPS) >= 301);
	assert_non_null(
	    plim_snapshot_find(site->snapshot, site_world.plain.pid));
	assert_non_null(plim_snapshot_find(site->snapshot, getpid()));
	return code;
}

static void more_path(int number, char path[300])
{
	snprintf(path, 300, "%s/%d", site_world.fixture.root, number);
}

static void more_remove(void)
{
	char path[300];

	for (int i = MORE_FIRST; i <= MORE_LAST; i++) {
		more_path(i, path);
		if (rmdir(path) != 0)
			assert_int_equal(errno, ENOENT);
	}
}

/* Seven hundred that end while they are read come into the listing. */
static void take_more_prepare(struct site *site)
{
	char path[300];

	more_remove();
	site->host = fault_host(&site->memory, site_world.fixture.root);
	site->snapshot = new_snapshot(site->host);
	assert_int_equal(take_with(site, 1, NULL), PLIM_OK);
	assert_int_equal(take_with(site, 1, NULL), PLIM_OK);
	for (int i = MORE_FIRST; i <= MORE_LAST; i++) {
		more_path(i, path);
		assert_int_equal(mkdir(path, 0755), 0);
	}
}

static int take_more_act(struct site *site, plim_error *error)
{
	int code = take_with(site, 1, error);

	if (code != PLIM_OK)
		return code;
	assert_int_equal(plim_snapshot_size(site->snapshot), 2);
	assert_int_equal(plim_snapshot_cost(site->snapshot).vanished,
			 MORE_LAST - MORE_FIRST + 1);
	more_remove();
	return code;
}

static int usage_new_act(struct site *site, plim_error *error)
{
	plim_usage *made = SITE_POISON;
	int code = plim_usage_new(&made, site->host, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->usage = made;
	return code;
}

static void refresh_prepare(struct site *site)
{
	line_prepare(site);
	site->usage = new_usage(site->host);
}

/* It holds the record of another process, and room for one thread's. */
static void refresh_grown_prepare(struct site *site)
{
	refresh_prepare(site);
	measure(site->usage, site->target);
	measure(site->usage, site->target);
	plim_target_close(site->target);
	site->target = open_target(site->host, site_world.threaded.pid);
}

static int refresh_act(struct site *site, plim_error *error)
{
	int code = plim_usage_refresh(site->usage, site->target, NULL, error);

	if (code == PLIM_OK)
		assert_int_equal(
		    plim_process_pid(plim_usage_process(site->usage)),
		    plim_target_identity(site->target).pid);
	return code;
}

static int watch_new_act(struct site *site, plim_error *error)
{
	plim_watch *made = SITE_POISON;
	int code = plim_watch_new(&made, site->host, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->watch = made;
	return code;
}

static void watch_prepare(struct site *site)
{
	take_prepare(site);
	assert_int_equal(take_with(site, 0, NULL), PLIM_OK);
	assert_int_equal(watch_new_act(site, NULL), PLIM_OK);
}

static int watch_add_act(struct site *site, plim_error *error)
{
	plim_identity identity = plim_process_identity(
	    plim_snapshot_find(site->snapshot, site_world.plain.pid));
	int code = plim_watch_add(site->watch, &identity, error);

	assert_int_equal(plim_watch_size(site->watch), code == PLIM_OK);
	return code;
}

/* One is watched before, and it alone while it fails. */
static void watch_follow_prepare(struct site *site)
{
	watch_prepare(site);
	assert_int_equal(watch_add_act(site, NULL), PLIM_OK);
}

static int watch_follow_act(struct site *site, plim_error *error)
{
	int code = plim_watch_follow(site->watch, site->snapshot, error);

	if (code != PLIM_OK)
		assert_int_equal(plim_watch_size(site->watch), 1);
	else
		assert_true(plim_watch_size(site->watch) > 2);
	assert_int_equal(plim_watch_refresh(site->watch, NULL), PLIM_OK);
	return code;
}

/* Three hundred threads: more events than room is made for at first. Where no
 * source may be used nothing is counted, which is an answer, too. */
static void births_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, site_world.threaded.pid);
}

static int births_with(struct site *site, uint32_t flags, plim_error *error)
{
	plim_births_options options = {
	    .size = sizeof(options),
	    .flags = flags,
	};
	plim_births *made = SITE_POISON;
	int code =
	    plim_births_open(&made, site->host, site->target, &options, error);

	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	site->births = made;
	return code;
}

static int births_perf_act(struct site *site, plim_error *error)
{
	return births_with(site, PLIM_BIRTHS_NO_CONNECTOR, error);
}

static int births_connector_act(struct site *site, plim_error *error)
{
	return births_with(site, PLIM_BIRTHS_NO_PERF, error);
}

static int births_alone_act(struct site *site, plim_error *error)
{
	return births_with(
	    site, PLIM_BIRTHS_ROOT_ALONE | PLIM_BIRTHS_NO_CONNECTOR, error);
}

/* A target of every kind of value, and more texts than one chunk holds. */
static int budget_act(struct site *site, plim_error *error)
{
	static const char text[] =
	    "schema = 1\n[target.a]\nrun = [\"a\", \"b\", \"c\"]\n"
	    "scope = \"real\"\nready.output = \"up\"\n"
	    "load = { statement = \"s\", unit = \"u\", count = 1_000 }\n"
	    "[target.a.limit.wakeups]\nmax = \"100/s\"\nmethod = "
	    "[\"wait4\", \"getrusage\"]\nversus = \"b\"\nrise = "
	    "\"1.5 %%\"\nuntil = 2027-01-01\nslack_warning = 2.5\n"
	    "on_unavailable = { skip = \"no\" }\nwhy = \"\"\"\n%s\"\"\"\n"
	    "[[target.a.when]]\nos = \"x\"\nlimit.threads.max = 3\n";
	char whole[sizeof(text) + 4000];
	char filler[4000];
	plim_budget *made = SITE_POISON;
	plim_budget_position where = {7, 7, 7};
	plim_bytes bytes = {whole, 0};
	int code;

	memset(filler, 'x', sizeof(filler) - 1);
	filler[sizeof(filler) - 1] = '\0';
	bytes.size = (size_t)snprintf(whole, sizeof(whole), text, filler);
	code = plim_budget_parse(&made, "budget.toml", bytes, NULL,
				 &site->allocator, &where, error);
	assert_int_equal(where.line, 7);
	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	site->budget = made;
	assert_int_equal(plim_budget_count(made), 1);
	assert_int_equal(plim_budget_at(made, 0)->limit_count, 1);
	return code;
}

/* More readings and more groups than there is room for at first. */
static int record_act(struct site *site, plim_error *error)
{
	char text[20000];
	size_t used = (size_t)snprintf(
	    text, sizeof(text),
	    "RESULT gate_host system=linux machine=x86_64 processor=\"p\"\n"
	    "RESULT wakeups_per_second=unavailable of_its_own\n");
	plim_budget_record *made = SITE_POISON;
	plim_budget_position where = {7, 7, 7};
	plim_bytes bytes = {text, 0};
	int code;

	for (int i = 0; i < 120; i++)
		used += (size_t)snprintf(
		    text + used, sizeof(text) - used,
		    "RESULT gate_figure target=\"a target %d\" figure=wakeups "
		    "value=%d method=wait4\n",
		    i / 6, i);
	bytes.size = used;
	code = plim_budget_record_parse(&made, "record.txt", bytes,
					&site->allocator, &where, error);
	assert_int_equal(where.line, 7);
	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	site->record = made;
	assert_int_equal(plim_budget_record_readings(
			     made, "a target 19", PLIM_BUDGET_WAKEUPS, NULL, 0),
			 6);
	return code;
}

static int filter_act(struct site *site, plim_error *error)
{
	static const char text[] =
	    "not (name ~ \"a*\\x41\" and (resident > 100MiB or cpu_percent > "
	    "5%)) or known(disk_ops) and pid != 1 and state = \"S\" or "
	    "wakeups_per_second > 10";
	plim_filter *made = SITE_POISON;
	int code = plim_filter_new(&made, text, &site->allocator, error);

	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	site->filter = made;
	assert_int_equal(plim_filter_needs_rates(made), 1);
	return code;
}

static int swallow(const char *data, size_t size, void *user)
{
	(void)data;
	*(size_t *)user += size;
	return 0;
}

static size_t swallowed;

static int json_act(struct site *site, plim_error *error)
{
	plim_json *made = SITE_POISON;
	int code = plim_json_new(&made, swallow, &swallowed, 2,
				 &site->allocator, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->json = made;
	return code;
}

static int table_new_act(struct site *site, plim_error *error)
{
	plim_table *made = SITE_POISON;
	int code = plim_table_new(&made, &site->allocator, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->table = made;
	return code;
}

static void table_prepare(struct site *site)
{
	assert_int_equal(table_new_act(site, NULL), PLIM_OK);
}

/* Nothing may be written of a table that lacks something. */
static int table_print(struct site *site, plim_error *error)
{
	int code;

	swallowed = 0;
	code = plim_table_print(site->table, 0, 1, swallow, &swallowed, error);
	assert_int_equal(swallowed > 0, code == PLIM_OK);
	return code;
}

/* A lost column cannot be had again: the table is made anew. */
static int table_column_act(struct site *site, plim_error *error)
{
	struct fault_memory held;

	if (site->round++ > 0) {
		held = site->memory;
		fault_arm(&site->memory, 0, 0);
		plim_table_free(site->table);
		table_prepare(site);
		site->memory.fail_at = held.fail_at;
	}
	for (int i = 0; i < 40; i++)
		plim_table_column(site->table, "TITLE OF A COLUMN", i % 2);
	return table_print(site, error);
}

static void table_cells_prepare(struct site *site)
{
	table_prepare(site);
	plim_table_column(site->table, "A", 0);
	plim_table_column(site->table, "B", 1);
}

static int table_text_act(struct site *site, plim_error *error)
{
	plim_table_clear(site->table);
	for (int i = 0; i < 300; i++)
		plim_table_text(site->table, (plim_bytes){word_text[0], 40});
	return table_print(site, error);
}

static int table_count_act(struct site *site, plim_error *error)
{
	plim_table_clear(site->table);
	for (uint64_t i = 0; i < 300; i++)
		plim_table_count(site->table,
				 plim_count_known(i << 30, PLIM_METHOD_STAT),
				 PLIM_UNIT_BYTES);
	return table_print(site, error);
}

static int table_real_act(struct site *site, plim_error *error)
{
	plim_table_clear(site->table);
	for (int i = 0; i < 300; i++)
		plim_table_real(site->table,
				plim_real_known(i / 3.0, PLIM_METHOD_STAT),
				PLIM_UNIT_PERCENT);
	return table_print(site, error);
}

static int meter_new_act(struct site *site, plim_error *error)
{
	plim_meter *made = SITE_POISON;
	int code = plim_meter_new(&made, &site->allocator, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->meter = made;
	return code;
}

static plim_stamp meter_time(uint64_t seconds)
{
	plim_stamp stamp = {{seconds * 1000000000u}, {seconds * 1000000000u}};

	return stamp;
}

/* Every rate of the second round is known, whatever could not be put in
 * between; what was not put has none. */
static int meter_put(struct site *site, int32_t pid, uint64_t value,
		     double expected, plim_error *error)
{
	plim_identity key = {.pid = pid};
	plim_real rate = plim_real_known(-1, PLIM_METHOD_MIXED);
	int code = plim_meter_put(site->meter, &key,
				  plim_count_known(value, PLIM_METHOD_STAT),
				  &rate, error);

	if (code != PLIM_OK)
		assert_true(rate.value == -1 &&
			    rate.method == PLIM_METHOD_MIXED);
	else if (expected >= 0)
		assert_true(rate.state == PLIM_STATE_KNOWN &&
			    rate.value == expected);
	else
		assert_int_equal(rate.state, PLIM_STATE_PENDING);
	return code;
}

static void meter_prepare(struct site *site)
{
	assert_int_equal(meter_new_act(site, NULL), PLIM_OK);
	plim_meter_round(site->meter, meter_time(1));
	for (int32_t i = 1; i <= 20; i++)
		assert_int_equal(meter_put(site, i, 100, -1, NULL), PLIM_OK);
	plim_meter_round(site->meter, meter_time(3));
	site->round = 1;
}

static int meter_put_act(struct site *site, plim_error *error)
{
	int code = PLIM_OK;

	while (code == PLIM_OK && site->round <= 300) {
		code = meter_put(site, site->round, 300,
				 site->round <= 20 ? 100 : -1, error);
		if (code == PLIM_OK)
			site->round++;
	}
	return code;
}

static int forest_new_act(struct site *site, plim_error *error)
{
	plim_forest *made = SITE_POISON;
	int code = plim_forest_new(&made, &site->allocator, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->forest = made;
	return code;
}

static void forest_prepare(struct site *site)
{
	site->host = fault_host(&site->memory, site_world.fixture.root);
	site->snapshot = new_snapshot(site->host);
	assert_int_equal(take_with(site, 0, NULL), PLIM_OK);
	assert_int_equal(forest_new_act(site, NULL), PLIM_OK);
}

static int forest_act(struct site *site, plim_error *error)
{
	int code = plim_forest_plant(site->forest, site->snapshot, error);

	if (code == PLIM_OK)
		assert_int_equal(plim_forest_size(site->forest), 2);
	return code;
}

/* Its other half has no room yet, and what it holds must stay. */
static void forest_again_prepare(struct site *site)
{
	forest_prepare(site);
	assert_int_equal(forest_act(site, NULL), PLIM_OK);
}

static int groups_new_act(struct site *site, plim_error *error)
{
	plim_groups *made = SITE_POISON;
	int code = plim_groups_new(&made, &site->allocator, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->groups = made;
	return code;
}

static void groups_prepare(struct site *site)
{
	forest_prepare(site);
	assert_int_equal(groups_new_act(site, NULL), PLIM_OK);
}

static int groups_act(struct site *site, plim_error *error)
{
	int code = plim_groups_fill(site->groups, site->snapshot,
				    PLIM_FIELD_UID, NULL, error);

	if (code == PLIM_OK) {
		assert_int_equal(plim_groups_size(site->groups), 1);
		assert_int_equal(plim_groups_at(site->groups, 0)->members, 2);
	}
	return code;
}

static void groups_again_prepare(struct site *site)
{
	groups_prepare(site);
	assert_int_equal(groups_act(site, NULL), PLIM_OK);
}

static int tree_new_act(struct site *site, plim_error *error)
{
	plim_tree *made = SITE_POISON;
	int code = plim_tree_new(&made, site->host, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->tree = made;
	return code;
}

/* The processes that this test has started are below it. */
static void tree_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, getpid());
	assert_int_equal(tree_new_act(site, NULL), PLIM_OK);
}

static int tree_act(struct site *site, plim_error *error)
{
	plim_tree_options options = {
	    .size = sizeof(options),
	    .threads = 1,
	    .sticky = 1,
	};
	int code = plim_tree_usage(site->tree, site->target, &options, error);

	if (code == PLIM_OK) {
		assert_int_equal(plim_tree_size(site->tree), 4);
		assert_int_equal(
		    plim_tree_total(site->tree, PLIM_FIELD_CPU).state,
		    PLIM_STATE_KNOWN);
	}
	return code;
}

static void tree_again_prepare(struct site *site)
{
	tree_prepare(site);
	assert_int_equal(tree_act(site, NULL), PLIM_OK);
}

static void tree_third_prepare(struct site *site)
{
	tree_again_prepare(site);
	assert_int_equal(tree_act(site, NULL), PLIM_OK);
}

static int threads_new_act(struct site *site, plim_error *error)
{
	plim_threads *made = SITE_POISON;
	int code = plim_threads_new(&made, site->host, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->threads = made;
	return code;
}

static void threads_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, site_world.threaded.pid);
	assert_int_equal(threads_new_act(site, NULL), PLIM_OK);
}

/* Whatever fails, what was there before stays whole. */
static int threads_act(struct site *site, plim_error *error)
{
	size_t before = plim_threads_count(site->threads);
	int code =
	    plim_threads_sample(site->threads, site->target, NULL, error);

	assert_int_equal(plim_threads_count(site->threads),
			 code == PLIM_OK ? 301 : before);
	if (plim_threads_first(site->threads) != NULL)
		assert_int_equal(
		    plim_threads_about(site->threads).live_total_change.state,
		    PLIM_STATE_KNOWN);
	return code;
}

static int threads_extend_act(struct site *site, plim_error *error)
{
	int code =
	    plim_threads_extend(site->threads, site->target, NULL, error);

	assert_int_equal(plim_threads_count(site->threads), 301);
	return code;
}

static void threads_again_prepare(struct site *site)
{
	threads_prepare(site);
	assert_int_equal(threads_act(site, NULL), PLIM_OK);
}

static void threads_third_prepare(struct site *site)
{
	threads_again_prepare(site);
	assert_int_equal(threads_act(site, NULL), PLIM_OK);
}

static int idle_new_act(struct site *site, plim_error *error)
{
	plim_idle *made = SITE_POISON;
	int code = plim_idle_new(&made, site->host, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->idle = made;
	return code;
}

static int heaps_new_act(struct site *site, plim_error *error)
{
	plim_heaps *made = SITE_POISON;
	int code = plim_heaps_new(&made, site->host, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->heaps = made;
	return code;
}

static void heaps_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, site_world.plain.pid);
	assert_int_equal(heaps_new_act(site, NULL), PLIM_OK);
}

static int heaps_walk_act(struct site *site, plim_error *error)
{
	int code = plim_heaps_walk(site->heaps, site->target, NULL, error);

	if (code == PLIM_OK)
		assert_true(plim_heaps_count(site->heaps) > 0);
	else
		assert_int_equal(plim_heaps_count(site->heaps), 0);
	return code;
}

static int code_open_act(struct site *site, plim_error *error)
{
	plim_code *made = SITE_POISON;
	int code = plim_code_open(&made, site->host, site->target, error);

	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	plim_code_close(site->code);
	site->code = made;
	assert_true(plim_code_module_count(made) >= 3);
	return code;
}

static void code_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, site_world.plain.pid);
}

static void code_refresh_prepare(struct site *site)
{
	code_prepare(site);
	assert_int_equal(code_open_act(site, NULL), PLIM_OK);
}

static int code_refresh_act(struct site *site, plim_error *error)
{
	size_t count = plim_code_module_count(site->code);
	int code = plim_code_refresh(site->code, error);

	assert_int_equal(plim_code_module_count(site->code), count);
	return code;
}

/* Of the vDSO: a file that was opened for names would stay open, whatever fails
 * after that. */
static int code_name_act(struct site *site, plim_error *error)
{
	plim_code_module module = {0};
	plim_frame_name names[4];
	size_t count = 77;
	int code;

	for (size_t i = 0; module.kind != PLIM_CODE_VDSO; i++)
		assert_int_equal(plim_code_module_at(site->code, i, &module),
				 PLIM_OK);
	code =
	    plim_code_name(site->code, module.start, names, 4, &count, error);
	if (code != PLIM_OK)
		assert_int_equal(count, 77);
	else
		assert_int_equal(count, 1);
	return code;
}

/* The first name that is wanted takes hold of the target's root, too. */
static void code_name_prepare(struct site *site)
{
	plim_frame_name name;
	size_t count;

	code_refresh_prepare(site);
	assert_int_equal(plim_code_name(site->code, 1, &name, 1, &count, NULL),
			 PLIM_OK);
}

static int code_thread_act(struct site *site, plim_error *error)
{
	uint64_t frames[32];
	plim_stack stack = {.count = 77};
	int code = plim_code_thread(site->code, site_world.plain.pid, frames,
				    32, &stack, error);

	if (code != PLIM_OK)
		assert_int_equal(stack.count, 77);
	else
		assert_int_equal(stack.thread, PLIM_STACK_THREAD_BLOCKED);
	return code;
}

/* A core of one page: its process had no allocator that is known. */
static int heaps_core_act(struct site *site, plim_error *error)
{
	int code =
	    plim_heaps_walk_core(site->heaps, site_world.core, NULL, error);

	assert_int_equal(plim_heaps_about(site->heaps).source,
			 code == PLIM_OK ? PLIM_HEAPS_CORE
					 : PLIM_HEAPS_NOTHING);
	return code;
}

static void idle_prepare(struct site *site, pid_t pid)
{
	host_prepare(site);
	site->target = open_target(site->host, pid);
	assert_int_equal(idle_new_act(site, NULL), PLIM_OK);
}

static void idle_threaded_prepare(struct site *site)
{
	idle_prepare(site, site_world.threaded.pid);
}

static void idle_tree_prepare(struct site *site)
{
	idle_prepare(site, getpid());
}

/* The files of our own that the host keeps open are open already. */
static void idle_self_prepare(struct site *site)
{
	plim_usage *usage;

	idle_tree_prepare(site);
	usage = new_usage(site->host);
	measure_self(usage);
	plim_usage_free(usage);
}

/* Everything is calm at such a threshold, and the window is over at once. */
static plim_idle_options idle_options_of(int tree)
{
	plim_idle_options options = {
	    .size = sizeof(options),
	    .window_ns = 1,
	    .quiet_cpu_percent = 1e9,
	    .quiet_for_ns = 1,
	    .step_ns = 1000000,
	    .tree = tree,
	    .threads = 1,
	};

	return options;
}

static int idle_act(struct site *site, int tree, size_t threads,
		    plim_error *error)
{
	plim_idle_options options = idle_options_of(tree);
	int code = plim_idle_observe(site->idle, site->target, &options, error);

	if (code != PLIM_OK)
		return code;
	assert_int_equal(plim_idle_about(site->idle).quiet, 1);
	assert_int_equal(plim_idle_about(site->idle).samples, 2);
	assert_int_equal(plim_idle_thread_count(site->idle), threads);
	assert_int_equal(plim_idle_change(site->idle, PLIM_FIELD_CPU).state,
			 PLIM_STATE_KNOWN);
	return code;
}

static int idle_threaded_act(struct site *site, plim_error *error)
{
	return idle_act(site, 0, 301, error);
}

/* Of this process, which is the root, the observing thread is not told of. */
static int idle_tree_act(struct site *site, plim_error *error)
{
	return idle_act(site, 1, 1 + 301 + 1, error);
}

static int idle_quiet_act(struct site *site, plim_error *error)
{
	plim_idle_options options = idle_options_of(1);
	int code =
	    plim_idle_await_quiet(site->idle, site->target, &options, error);

	if (code == PLIM_OK)
		assert_int_equal(plim_idle_about(site->idle).quiet, 1);
	return code;
}

static int idle_window_act(struct site *site, plim_error *error)
{
	plim_idle_options options = idle_options_of(0);
	int code = plim_idle_window(site->idle, NULL, &options, error);

	if (code == PLIM_OK)
		assert_int_equal(plim_idle_about(site->idle).samples, 2);
	return code;
}

static int memory_new_act(struct site *site, plim_error *error)
{
	plim_memory *made = SITE_POISON;
	int code = plim_memory_new(&made, site->host, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->sampled = made;
	return code;
}

/* A process of many threads, whose stacks are looked up. */
static void memory_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, site_world.threaded.pid);
	assert_int_equal(plim_memory_new(&site->sampled, site->host, NULL),
			 PLIM_OK);
}

static plim_memory_options memory_options_of(uint64_t stall_ns)
{
	plim_memory_options options = {
	    .size = sizeof(options),
	    .stall_ns = stall_ns,
	    .rest_set = 1,
	};

	return options;
}

static int memory_act(struct site *site, uint64_t stall_ns, plim_error *error)
{
	plim_memory_options options = memory_options_of(stall_ns);
	size_t before = plim_memory_samples(site->sampled);
	int code =
	    plim_memory_sample(site->sampled, site->target, &options, error);

	assert_int_equal(plim_memory_samples(site->sampled),
			 before + (code == PLIM_OK));
	if (code == PLIM_OK)
		assert_true(plim_mappings_count(
				plim_memory_mappings(site->sampled)) > 5);
	return code;
}

static int memory_walk_act(struct site *site, plim_error *error)
{
	return memory_act(site, UINT64_MAX, error);
}

static int memory_pages_act(struct site *site, plim_error *error)
{
	return memory_act(site, 1, error);
}

static void memory_again_prepare(struct site *site)
{
	memory_prepare(site);
	assert_int_equal(memory_walk_act(site, NULL), PLIM_OK);
}

static int mappings_new_act(struct site *site, plim_error *error)
{
	plim_mappings *made = SITE_POISON;
	int code = plim_mappings_new(&made, site->host, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->mappings = made;
	return code;
}

static void mappings_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, site_world.threaded.pid);
	assert_int_equal(plim_mappings_new(&site->mappings, site->host, NULL),
			 PLIM_OK);
}

static int mappings_act(struct site *site, plim_error *error)
{
	plim_memory_options options = memory_options_of(UINT64_MAX);
	size_t before = plim_mappings_count(site->mappings);
	int code =
	    plim_mappings_read(site->mappings, site->target, &options, error);

	if (code != PLIM_OK)
		assert_int_equal(plim_mappings_count(site->mappings), before);
	else
		assert_true(plim_mappings_count(site->mappings) > 5);
	return code;
}

static int profile_open_act(struct site *site, plim_error *error)
{
	plim_profile_request request = {.size = sizeof(request),
					.hz = 1000,
					.duration_ns = 5000000,
					.thread_name = "idle"};
	plim_profile *made = SITE_POISON;
	int code = plim_profile_open(&made, site->target, &request, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->profile = made;
	return code;
}

/* A run cannot be made again: one that failed is opened anew. */
static int profile_run_act(struct site *site, plim_error *error)
{
	int code = profile_open_act(site, error);

	if (code != PLIM_OK)
		return code;
	code = plim_profile_run(site->profile, error);
	if (code != PLIM_OK) {
		plim_profile_free(site->profile);
		site->profile = NULL;
		return code;
	}
	assert_true(plim_profile_sample_count(site->profile) > 0);
	return code;
}

/* What is preloaded is not looked at but for its machine: this program does. */
static int preload_open_act(struct site *site, plim_error *error)
{
	plim_preload *made = SITE_POISON;
	int code = plim_preload_open(&made, site->host, "/proc/self/exe",
				     "/proc/self/exe", "others", error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		plim_preload_free(made);
	return code;
}

/* Of this process. Its only thread is blocked while it is started, so that
 * there is something to sample. */
static int profile_self_act(struct site *site, plim_error *error)
{
	const plim_host_options options = {.size = sizeof(options),
					   .allocator = site->allocator};
	plim_profile_request request = {.size = sizeof(request), .hz = 1000};
	plim_profile *made = SITE_POISON;
	int code = plim_profile_open_self(&made, &options, &request, error);

	if (code != PLIM_OK)
		assert_ptr_equal(made, SITE_POISON);
	else
		site->profile = made;
	return code;
}

/* It may be started again, also when that failed before. */
static int profile_start_act(struct site *site, plim_error *error)
{
	const struct timespec a_while = {.tv_nsec = 5000000};
	int code = plim_profile_start(site->profile, error);

	if (code != PLIM_OK)
		return code;
	nanosleep(&a_while, NULL);
	plim_profile_stop(site->profile);
	code = plim_profile_join(site->profile, error);
	if (code == PLIM_OK)
		assert_true(plim_profile_sample_count(site->profile) > 0);
	return code;
}

/* Once: what stopping it takes is there from then on. */
static void profile_self_prepare(struct site *site)
{
	assert_int_equal(profile_self_act(site, NULL), PLIM_OK);
	assert_int_equal(profile_start_act(site, NULL), PLIM_OK);
}

static void profile_prepare(struct site *site)
{
	host_prepare(site);
	site->target = open_target(site->host, site_world.plain.pid);
}

static void profile_ran_prepare(struct site *site)
{
	int code = PLIM_ENOSAMPLES;

	profile_prepare(site);
	/* It takes 5 ms, in which a loaded machine may not let us look. */
	for (int i = 0; i < 200 && code == PLIM_ENOSAMPLES; i++)
		code = profile_run_act(site, NULL);
	assert_int_equal(code, PLIM_OK);
}

static int profile_resolve_act(struct site *site, plim_error *error)
{
	size_t functions = plim_profile_function_count(site->profile);
	int code = plim_profile_resolve(site->profile, error);

	if (code != PLIM_OK)
		assert_int_equal(plim_profile_function_count(site->profile),
				 functions);
	assert_int_equal(plim_profile_about(site->profile).is_resolved,
			 code == PLIM_OK);
	return code;
}

static int profile_fold_act(struct site *site, plim_error *error)
{
	plim_fold_options options = {.size = sizeof(options),
				     .view = PLIM_VIEW_WALL,
				     .flags = PLIM_FOLD_INLINES};
	plim_fold *made = SITE_POISON;
	int code = plim_profile_fold(site->profile, &options, &made, error);

	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	site->fold = made;
	assert_true(plim_fold_row_count(made) > 0);
	return code;
}

/* The writers of profiles: the folding asks by the profile's allocator, the
 * writer by that of its options, and both are the site's. */
static plim_profile_export written(struct site *site)
{
	return (plim_profile_export){.size = sizeof(plim_profile_export),
				     .view = PLIM_VIEW_WALL,
				     .allocator = &site->allocator};
}

static int profile_text_act(struct site *site, plim_error *error)
{
	const plim_profile_export how = written(site);

	return plim_text_profile(site->profile, &how, swallow, &swallowed,
				 error);
}

static int profile_head_act(struct site *site, plim_error *error)
{
	const plim_profile_export how = written(site);

	return plim_text_profile_head(site->profile, &how, swallow, &swallowed,
				      error);
}

static int profile_pprof_act(struct site *site, plim_error *error)
{
	const plim_profile_export how = written(site);

	return plim_pprof_profile(site->profile, &how, swallow, &swallowed,
				  error);
}

static int profile_collapsed_act(struct site *site, plim_error *error)
{
	const plim_profile_export how = written(site);

	return plim_collapsed_profile(site->profile, &how, swallow, &swallowed,
				      error);
}

static int profile_speedscope_act(struct site *site, plim_error *error)
{
	const plim_profile_export how = written(site);

	return plim_speedscope_profile(site->profile, &how, swallow, &swallowed,
				       error);
}

static int profile_firefox_act(struct site *site, plim_error *error)
{
	const plim_profile_export how = written(site);

	return plim_firefox_profile(site->profile, &how, swallow, &swallowed,
				    error);
}

static int profile_flame_act(struct site *site, plim_error *error)
{
	const plim_profile_export how = written(site);

	return plim_flame_profile(site->profile, &how, swallow, &swallowed,
				  error);
}

static int profile_csv_act(struct site *site, plim_error *error)
{
	const plim_profile_export how = written(site);

	return plim_csv_profile(site->profile, &how, swallow, &swallowed,
				error);
}

static int profile_json_act(struct site *site, plim_error *error)
{
	const plim_profile_export how = written(site);
	plim_json *json = NULL;
	int code = plim_json_new(&json, swallow, &swallowed, 0,
				 &site->allocator, error);

	if (code != PLIM_OK)
		return code;
	plim_json_object(json, NULL);
	plim_json_profile_members(json, site->profile, &how);
	plim_json_end(json);
	code = plim_json_finish(json, error);
	plim_json_free(json);
	return code;
}

/* Profiles in files. */
static int stored_act(struct site *site, plim_bytes file, plim_error *error)
{
	plim_stored *made = SITE_POISON;
	int code = plim_stored_read(&made, file, &site->allocator, error);

	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	plim_stored_free(site->stored);
	site->stored = made;
	assert_int_equal(plim_stored_stack_count(made), 1);
	return code;
}

static int stored_json_act(struct site *site, plim_error *error)
{
	static const char text[] =
	    "{\"profile\":{\"name\":\"p\",\"duration_ns\":9},"
	    "\"modules\":[{\"path\":\"/p\"}],\"functions\":[{\"name\":"
	    "\"f\",\"module\":0}],\"frames\":[{\"lines\":[{\"function\":0}]"
	    "}],\"stacks\":[{\"activity\":\"running\",\"weight_ns\":5,"
	    "\"samples\":5,\"frames\":[0]}]}";

	return stored_act(site, (plim_bytes){text, sizeof(text) - 1}, error);
}

/* Made by hand: two strings, one of each message, and a sample. */
static int stored_pprof_act(struct site *site, plim_error *error)
{
	static const char bytes[] =
	    "\x32\x00\x32\x07samples\x32\x05"
	    "count\x32\x01"
	    "f\x0a\x04\x08\x01\x10\x02\x12\x06\x0a\x01\x01\x12\x01\x05"
	    "\x1a\x02\x08\x01\x22\x08\x08\x01\x10\x01\x22\x02\x08\x01"
	    "\x2a\x04\x08\x01\x10\x03";

	return stored_act(site, (plim_bytes){bytes, sizeof(bytes) - 1}, error);
}

/* The same bytes by gzip -n. */
static int stored_gzip_act(struct site *site, plim_error *error)
{
	static const unsigned char bytes[] = {
	    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
	    0x33, 0x62, 0x30, 0x62, 0x2f, 0x4e, 0xcc, 0x2d, 0xc8, 0x49,
	    0x2d, 0x36, 0x62, 0x4d, 0xce, 0x2f, 0xcd, 0x2b, 0x31, 0x62,
	    0x4c, 0xe3, 0x62, 0xe1, 0x60, 0x14, 0x60, 0x12, 0x62, 0xe3,
	    0x62, 0x64, 0x14, 0x62, 0x64, 0x95, 0x62, 0xe2, 0x60, 0x54,
	    0xe2, 0x00, 0x8a, 0x30, 0x2a, 0x01, 0x59, 0x5a, 0x20, 0x39,
	    0x66, 0x00, 0x65, 0x68, 0x2a, 0xf2, 0x37, 0x00, 0x00, 0x00};

	if (!plim_pprof_compresses())
		return stored_pprof_act(site, error);
	return stored_act(
	    site, (plim_bytes){(const char *)bytes, sizeof(bytes)}, error);
}

static void stored_prepare(struct site *site)
{
	assert_int_equal(stored_json_act(site, NULL), PLIM_OK);
}

static int diff_act(struct site *site, plim_error *error)
{
	const plim_stored *both[2] = {site->stored, site->stored};
	const plim_diff_options options = {.size = sizeof(options),
					   .allocator = &site->allocator};
	plim_diff *made = SITE_POISON;
	int code = plim_diff_new(&made, both, 2, both, 1, &options, error);

	if (code != PLIM_OK) {
		assert_ptr_equal(made, SITE_POISON);
		return code;
	}
	plim_diff_free(site->diff);
	site->diff = made;
	assert_int_equal(plim_diff_function_count(made), 1);
	return code;
}

static void diff_prepare(struct site *site)
{
	stored_prepare(site);
	assert_int_equal(diff_act(site, NULL), PLIM_OK);
}

static int diff_csv_act(struct site *site, plim_error *error)
{
	return plim_csv_diff(site->diff, &site->allocator, swallow, &swallowed,
			     error);
}

static int diff_flame_act(struct site *site, plim_error *error)
{
	return plim_flame_diff(site->diff, NULL, &site->allocator, swallow,
			       &swallowed, error);
}

#define MADE(symbol, prepare, act)                \
	{                                         \
#symbol, #symbol, prepare, act, 0 \
	}
const struct entry site_entries[] = {
    {"plim_host_open", "plim_host_open, live", NULL, live_act, 0},
    {"plim_host_open", "plim_host_open, fixture", NULL, fixture_act, 0},
    MADE(plim_host_survey, host_prepare, survey_act),
    MADE(plim_target_open, host_prepare, target_act),
    MADE(plim_target_open_identity, host_prepare, identity_act),
    {"plim_target_command_line", "plim_target_command_line, short",
     line_prepare, line_short_act, 1},
    {"plim_target_command_line", "plim_target_command_line, long",
     line_long_prepare, line_long_act, 1},
    {"plim_target_command_line", "plim_target_command_line, again",
     line_again_prepare, line_long_act, 1},
    MADE(plim_snapshot_new, host_prepare, snapshot_new_act),
    {"plim_snapshot_take", "plim_snapshot_take, first", take_prepare, take_act,
     0},
    {"plim_snapshot_take", "plim_snapshot_take, second", take_again_prepare,
     take_act, 0},
    {"plim_snapshot_take", "plim_snapshot_take, threads", take_threads_prepare,
     take_act, 0},
    {"plim_snapshot_take", "plim_snapshot_take, more", take_more_prepare,
     take_more_act, 0},
    MADE(plim_usage_new, host_prepare, usage_new_act),
    {"plim_usage_refresh", "plim_usage_refresh, grown", refresh_grown_prepare,
     refresh_act, 0},
    MADE(plim_forest_new, NULL, forest_new_act),
    {"plim_forest_plant", "plim_forest_plant, first", forest_prepare,
     forest_act, 0},
    {"plim_forest_plant", "plim_forest_plant, second", forest_again_prepare,
     forest_act, 0},
    MADE(plim_groups_new, NULL, groups_new_act),
    {"plim_groups_fill", "plim_groups_fill, first", groups_prepare, groups_act,
     0},
    {"plim_groups_fill", "plim_groups_fill, second", groups_again_prepare,
     groups_act, 0},
    MADE(plim_tree_new, host_prepare, tree_new_act),
    {"plim_tree_usage", "plim_tree_usage, first", tree_prepare, tree_act, 0},
    {"plim_tree_usage", "plim_tree_usage, second", tree_again_prepare, tree_act,
     0},
    {"plim_tree_usage", "plim_tree_usage, third", tree_third_prepare, tree_act,
     0},
    MADE(plim_threads_new, host_prepare, threads_new_act),
    {"plim_threads_sample", "plim_threads_sample, first", threads_prepare,
     threads_act, 0},
    {"plim_threads_sample", "plim_threads_sample, second",
     threads_again_prepare, threads_act, 0},
    {"plim_threads_extend", "plim_threads_extend, third", threads_third_prepare,
     threads_extend_act, 0},
    MADE(plim_watch_new, host_prepare, watch_new_act),
    MADE(plim_watch_add, watch_prepare, watch_add_act),
    {"plim_watch_follow", "plim_watch_follow", watch_follow_prepare,
     watch_follow_act, 0},
    {"plim_births_open", "plim_births_open, perf", births_prepare,
     births_perf_act, 0},
    {"plim_births_open", "plim_births_open, connector", births_prepare,
     births_connector_act, 0},
    {"plim_births_open", "plim_births_open, alone", births_prepare,
     births_alone_act, 0},
    MADE(plim_memory_new, host_prepare, memory_new_act),
    {"plim_memory_sample", "plim_memory_sample, walk", memory_prepare,
     memory_walk_act, 0},
    {"plim_memory_sample", "plim_memory_sample, pages", memory_prepare,
     memory_pages_act, 0},
    {"plim_memory_sample", "plim_memory_sample, second", memory_again_prepare,
     memory_walk_act, 0},
    MADE(plim_mappings_new, host_prepare, mappings_new_act),
    MADE(plim_mappings_read, mappings_prepare, mappings_act),
    MADE(plim_heaps_new, host_prepare, heaps_new_act),
    MADE(plim_heaps_walk, heaps_prepare, heaps_walk_act),
    MADE(plim_heaps_walk_core, heaps_prepare, heaps_core_act),
    MADE(plim_code_open, code_prepare, code_open_act),
    MADE(plim_code_refresh, code_refresh_prepare, code_refresh_act),
    MADE(plim_code_thread, code_refresh_prepare, code_thread_act),
    MADE(plim_code_name, code_name_prepare, code_name_act),
    MADE(plim_profile_open, profile_prepare, profile_open_act),
    MADE(plim_preload_open, host_prepare, preload_open_act),
    MADE(plim_profile_run, profile_prepare, profile_run_act),
    MADE(plim_profile_resolve, profile_ran_prepare, profile_resolve_act),
    MADE(plim_profile_fold, profile_ran_prepare, profile_fold_act),
    MADE(plim_idle_new, host_prepare, idle_new_act),
    {"plim_idle_observe", "plim_idle_observe, threads", idle_threaded_prepare,
     idle_threaded_act, 0},
    {"plim_idle_observe", "plim_idle_observe, tree", idle_tree_prepare,
     idle_tree_act, 0},
    MADE(plim_idle_await_quiet, idle_tree_prepare, idle_quiet_act),
    MADE(plim_idle_window, idle_self_prepare, idle_window_act),
    MADE(plim_budget_parse, NULL, budget_act),
    MADE(plim_budget_record_parse, NULL, record_act),
    MADE(plim_filter_new, NULL, filter_act),
    MADE(plim_json_new, NULL, json_act),
    MADE(plim_text_profile, profile_ran_prepare, profile_text_act),
    MADE(plim_text_profile_head, profile_ran_prepare, profile_head_act),
    MADE(plim_pprof_profile, profile_ran_prepare, profile_pprof_act),
    MADE(plim_collapsed_profile, profile_ran_prepare, profile_collapsed_act),
    MADE(plim_speedscope_profile, profile_ran_prepare, profile_speedscope_act),
    MADE(plim_firefox_profile, profile_ran_prepare, profile_firefox_act),
    MADE(plim_flame_profile, profile_ran_prepare, profile_flame_act),
    MADE(plim_csv_profile, profile_ran_prepare, profile_csv_act),
    {"plim_stored_read", "plim_stored_read, json", NULL, stored_json_act, 0},
    {"plim_stored_read", "plim_stored_read, pprof", NULL, stored_pprof_act, 0},
    {"plim_stored_read", "plim_stored_read, gzip", NULL, stored_gzip_act, 0},
    MADE(plim_diff_new, stored_prepare, diff_act),
    MADE(plim_csv_diff, diff_prepare, diff_csv_act),
    MADE(plim_flame_diff, diff_prepare, diff_flame_act),
    MADE(plim_json_profile_members, profile_ran_prepare, profile_json_act),
    MADE(plim_table_new, NULL, table_new_act),
    MADE(plim_table_column, table_prepare, table_column_act),
    MADE(plim_table_text, table_cells_prepare, table_text_act),
    MADE(plim_table_count, table_cells_prepare, table_count_act),
    MADE(plim_table_real, table_cells_prepare, table_real_act),
    MADE(plim_meter_new, NULL, meter_new_act),
    MADE(plim_meter_put, meter_prepare, meter_put_act),
    /* Last: they build rules for this program each time, which takes long,
     * and the processes of the world do not live for ever. */
    MADE(plim_profile_open_self, NULL, profile_self_act),
    {"plim_profile_start", "plim_profile_start", profile_self_prepare,
     profile_start_act, 1},
};
const size_t site_entry_count = sizeof(site_entries) / sizeof(site_entries[0]);
