/*
 * test_mappings.c - what the mappings of a live process are, against a
 * workload that knows where everything lies, and against the kernel's own
 * smaps, read here.
 */
#include "common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What nobody expects of a name. */
#define FILE_NAME "a file\nof \\ (deleted) [heap]"

struct places {
	plim_host *host;
	plim_mappings *mappings;
	plim_target *target;
	struct spawn spawn;
	char folder[64];
	char path[160];
};

static struct places places;

static void start_mapper(void)
{
	const char *const argv[] = {"mapper", places.path, NULL};

	snprintf(places.folder, sizeof(places.folder), "/tmp/mapper-XXXXXX");
	assert_non_null(mkdtemp(places.folder));
	snprintf(places.path, sizeof(places.path), "%s/%s", places.folder,
		 FILE_NAME);
	spawn_start(&places.spawn, argv);
	places.target = open_target(places.host, places.spawn.pid);
}

static int places_setup(void **state)
{
	(void)state;
	places.host = open_host(0);
	assert_int_equal(plim_mappings_new(&places.mappings, places.host, NULL),
			 PLIM_OK);
	start_mapper();
	return 0;
}

static int places_teardown(void **state)
{
	(void)state;
	plim_mappings_free(places.mappings);
	plim_target_close(places.target);
	plim_host_close(places.host);
	spawn_end(&places.spawn);
	unlink(places.path);
	rmdir(places.folder);
	return 0;
}

static void read_all(const plim_memory_options *options)
{
	plim_error error = {0};

	if (plim_mappings_read(places.mappings, places.target, options,
			       &error) != PLIM_OK)
		fail_msg("plim_mappings_read: %s", plim_error_word(error.code));
}

/* The mapping that the workload has under this name, which must be of this
 * kind. */
static size_t mapping_of(const char *key, int kind)
{
	uint64_t address = spawn_truth(&places.spawn, key);
	size_t count = plim_mappings_count(places.mappings);

	for (size_t at = 0; at < count; at++) {
		plim_mapping it = plim_mappings_at(places.mappings, at);

		if (address < it.start || address >= it.end)
			continue;
		if (it.kind != kind)
			fail_msg("%s is %s, not %s", key,
				 plim_mapping_kind_word(it.kind),
				 plim_mapping_kind_word(kind));
		return at;
	}
	fail_msg("%s is in no mapping", key);
	return 0;
}

static uint64_t figure(size_t index, int id)
{
	plim_count got = plim_mappings_figure(places.mappings, index, id);

	if (got.state != PLIM_STATE_KNOWN)
		fail_msg("%s is %s: %s", plim_mapping_figure_name(id),
			 plim_state_word(got.state),
			 plim_reason_word(got.method));
	return got.value;
}

static void expect_named(size_t index, const char *name)
{
	plim_mapping it = plim_mappings_at(places.mappings, index);

	assert_int_equal(it.name.size, strlen(name));
	assert_memory_equal(it.name.data, name, it.name.size);
}

static void expect_kinds(void)
{
	size_t at;

	at = mapping_of("anonymous", PLIM_MAPPING_OTHER);
	assert_true(figure(at, PLIM_MAPPING_FIGURE_RESIDENT) >= 8 * MIB);
	at = mapping_of("shared", PLIM_MAPPING_SHARED);
	assert_int_equal(figure(at, PLIM_MAPPING_FIGURE_RESIDENT), 4 * MIB);
	assert_int_equal(figure(at, PLIM_MAPPING_FIGURE_SIZE), 4 * MIB);
	at = mapping_of("memfd", PLIM_MAPPING_SHARED);
	assert_int_equal(figure(at, PLIM_MAPPING_FIGURE_RESIDENT), 2 * MIB);
	expect_named(at, "/memfd:a buffer (deleted)");
	at = mapping_of("jit", PLIM_MAPPING_JIT);
	assert_int_equal(figure(at, PLIM_MAPPING_FIGURE_RESIDENT), 65536);
	at = mapping_of("file", PLIM_MAPPING_FILE);
	assert_int_equal(figure(at, PLIM_MAPPING_FIGURE_RESIDENT), MIB);
	expect_named(at, places.path);
	assert_int_equal(plim_mappings_at(places.mappings, at).is_deleted, 0);
	mapping_of("code", PLIM_MAPPING_TEXT);
	mapping_of("data", PLIM_MAPPING_TEXT);
	at = mapping_of("libc", PLIM_MAPPING_LIBRARY);
	assert_non_null(memmem(plim_mappings_at(places.mappings, at).name.data,
			       plim_mappings_at(places.mappings, at).name.size,
			       "libc", 4));
	at = mapping_of("main_stack", PLIM_MAPPING_STACK);
	assert_int_equal(plim_mappings_at(places.mappings, at).tid,
			 places.spawn.pid);
}

/* Every thread that waits has its stack, and a heap at a multiple of 64 MiB;
 * no figure of any of these comes from what the test is told. */
static void expect_threads(void)
{
	for (int i = 0; i < 3; i++) {
		plim_mapping it;
		char key[16];

		snprintf(key, sizeof(key), "stack%d", i);
		it = plim_mappings_at(places.mappings,
				      mapping_of(key, PLIM_MAPPING_STACK));
		snprintf(key, sizeof(key), "tid%d", i);
		if (it.threads == 1)
			assert_int_equal(it.tid,
					 spawn_truth(&places.spawn, key));
		else
			assert_true(it.tid <=
				    (int32_t)spawn_truth(&places.spawn, key));
		snprintf(key, sizeof(key), "heap%d", i);
		it = plim_mappings_at(places.mappings,
				      mapping_of(key, PLIM_MAPPING_ALLOCATOR));
		assert_int_equal(it.start % (64 * MIB), 0);
	}
}

static void test_kinds_smaps(void **state)
{
	plim_memory_options options = {.size = sizeof(options), .force = 1};
	plim_count known;

	(void)state;
	spawn_ask(&places.spawn, "truth");
	read_all(&options);
	known = plim_mappings_known(places.mappings);
	assert_int_equal(known.state, PLIM_STATE_KNOWN);
	assert_int_equal(known.method, PLIM_METHOD_SMAPS);
	assert_int_equal(known.value, plim_mappings_count(places.mappings));
	expect_kinds();
	expect_threads();
	assert_int_equal(figure(mapping_of("anonymous", PLIM_MAPPING_OTHER),
				PLIM_MAPPING_FIGURE_PSS),
			 figure(mapping_of("anonymous", PLIM_MAPPING_OTHER),
				PLIM_MAPPING_FIGURE_RESIDENT));
}

/* The same without walking the page tables in one go: PSS is then not known,
 * and it is the guard who says so. */
static void test_kinds_pages(void **state)
{
	plim_memory_options options = {.size = sizeof(options), .stall_ns = 1};
	plim_count known;
	size_t at;

	(void)state;
	spawn_ask(&places.spawn, "truth");
	read_all(&options);
	known = plim_mappings_known(places.mappings);
	assert_int_equal(known.state, PLIM_STATE_KNOWN);
	assert_true(known.method == PLIM_METHOD_PAGEMAP_SCAN ||
		    known.method == PLIM_METHOD_PAGEMAP);
	expect_kinds();
	expect_threads();
	at = mapping_of("anonymous", PLIM_MAPPING_OTHER);
	assert_int_equal(
	    plim_mappings_figure(places.mappings, at, PLIM_MAPPING_FIGURE_PSS)
		.state,
	    PLIM_STATE_SKIPPED);
	assert_true(figure(at, PLIM_MAPPING_FIGURE_EXCLUSIVE) >= 8 * MIB);
}

/* A removed file keeps its name and what the kernel puts behind it. */
static void test_removed(void **state)
{
	char name[200];
	size_t at;

	(void)state;
	spawn_ask(&places.spawn, "remove");
	read_all(NULL);
	at = mapping_of("file", PLIM_MAPPING_FILE);
	snprintf(name, sizeof(name), "%s (deleted)", places.path);
	expect_named(at, name);
	assert_int_equal(plim_mappings_at(places.mappings, at).is_deleted, 1);
}

/* Totals against the kernel's own sums, which the target, asleep, does not
 * change meanwhile; and groups against totals. */
static void test_totals(void **state)
{
	static const struct {
		int figure;
		const char *key;
	} sums[] = {
	    {PLIM_MAPPING_FIGURE_RESIDENT, "Rss"},
	    {PLIM_MAPPING_FIGURE_PRIVATE_DIRTY, "Private_Dirty"},
	    {PLIM_MAPPING_FIGURE_PRIVATE_CLEAN, "Private_Clean"},
	    {PLIM_MAPPING_FIGURE_ANONYMOUS, "Anonymous"},
	    {PLIM_MAPPING_FIGURE_SWAP, "Swap"},
	};
	plim_memory_options options = {.size = sizeof(options), .force = 1};

	(void)state;
	read_all(&options);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		plim_count total =
		    plim_mappings_total(places.mappings, sums[i].figure);

		assert_int_equal(total.state, PLIM_STATE_KNOWN);
		assert_int_equal(total.bound, PLIM_BOUND_EXACT);
		assert_int_equal(total.value,
				 1024 * proc_number(places.spawn.pid,
						    "smaps_rollup",
						    sums[i].key));
		for (int by = 0; by < 2; by++) {
			size_t count =
			    plim_mappings_group_count(places.mappings, by);
			uint64_t sum = 0;

			for (size_t at = 0; at < count; at++)
				sum +=
				    plim_mappings_group_figure(
					places.mappings, by, at, sums[i].figure)
					.value;
			assert_int_equal(sum, total.value);
		}
	}
}

static void test_groups(void **state)
{
	size_t count;
	size_t members = 0;
	uint64_t before = UINT64_MAX;

	(void)state;
	read_all(NULL);
	count =
	    plim_mappings_group_count(places.mappings, PLIM_MAPPING_BY_NAME);
	assert_true(count > 5);
	for (size_t at = 0; at < count; at++) {
		plim_mapping_group group = plim_mappings_group(
		    places.mappings, PLIM_MAPPING_BY_NAME, at);
		plim_count resident = plim_mappings_group_figure(
		    places.mappings, PLIM_MAPPING_BY_NAME, at,
		    PLIM_MAPPING_FIGURE_RESIDENT);

		assert_true(group.count > 0 && group.label.size > 0);
		members += group.count;
		if (resident.state != PLIM_STATE_KNOWN)
			continue; /* [vsyscall] has no pages to look at */
		assert_true(resident.value <= before);
		before = resident.value;
	}
	assert_int_equal(members, plim_mappings_count(places.mappings));
	assert_int_equal(
	    plim_mappings_group(places.mappings, PLIM_MAPPING_BY_NAME, count)
		.count,
	    0);
	assert_int_equal(plim_mappings_group_count(places.mappings, 7), 0);
	assert_int_equal(plim_mappings_at(places.mappings, SIZE_MAX).end, 0);
}

/* One heap for each thread; the main heap beside them. */
static void test_baseline(void **state)
{
	plim_baseline baseline;

	(void)state;
	read_all(NULL);
	baseline = plim_mappings_baseline(places.mappings);
	assert_int_equal(baseline.sub_heaps.state, PLIM_STATE_KNOWN);
	assert_int_equal(baseline.sub_heaps.value, 3);
	assert_int_equal(baseline.reserved.value, 3 * 64 * MIB);
	assert_in_range(baseline.resident.value, 3 * 4096, 3 * MIB);
	assert_true(baseline.main_heap_size.value > 0);
	assert_int_equal(baseline.blind_spots, PLIM_BLIND_SPOT_MAIN_ARENA |
						   PLIM_BLIND_SPOT_RESIDENCY);
}

/* Ourselves, by the same call. */
static void test_self(void **state)
{
	static char here[3 * 65536];
	size_t count;
	int found = 0;

	(void)state;
	memset(here, 1, sizeof(here));
	assert_int_equal(plim_mappings_read(places.mappings, NULL, NULL, NULL),
			 PLIM_OK);
	count = plim_mappings_count(places.mappings);
	for (size_t at = 0; at < count; at++) {
		plim_mapping it = plim_mappings_at(places.mappings, at);
		uint64_t address = (uint64_t)(uintptr_t)here;

		if (address >= it.start && address < it.end) {
			assert_int_equal(it.kind, PLIM_MAPPING_TEXT);
			found = 1;
		}
		address = (uint64_t)(uintptr_t)&found;
		if (address >= it.start && address < it.end) {
			assert_int_equal(it.kind, PLIM_MAPPING_STACK);
			assert_int_equal(it.tid, getpid());
		}
	}
	assert_int_equal(found, 1);
}

/* What was read stays when the process is gone. */
static void test_gone(void **state)
{
	size_t count;

	(void)state;
	spawn_ask(&places.spawn, "truth");
	read_all(NULL);
	count = plim_mappings_count(places.mappings);
	spawn_end(&places.spawn);
	assert_int_equal(
	    plim_mappings_read(places.mappings, places.target, NULL, NULL),
	    PLIM_ENOPROCESS);
	assert_int_equal(plim_mappings_count(places.mappings), count);
	mapping_of("anonymous", PLIM_MAPPING_OTHER);
}

static void test_wrong(void **state)
{
	plim_memory_options options = {.size = 1};
	plim_mappings *made = NULL;

	(void)state;
	assert_int_equal(plim_mappings_new(&made, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_mappings_new(NULL, places.host, NULL),
			 PLIM_EINVAL);
	assert_null(made);
	plim_mappings_free(NULL);
	assert_int_equal(plim_mappings_read(NULL, NULL, NULL, NULL),
			 PLIM_EINVAL);
	assert_int_equal(
	    plim_mappings_read(places.mappings, places.target, &options, NULL),
	    PLIM_EINVAL);
	assert_int_equal(plim_mappings_known(places.mappings).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(plim_mappings_count(places.mappings), 0);
	assert_int_equal(plim_mappings_figure(places.mappings, 0, 1).state,
			 PLIM_STATE_UNREAD);
}

/* The list of another user's process is refused, which is no failure. */
static void refused_body(void *user)
{
	plim_host *host;
	plim_target *target;
	plim_mappings *mappings = NULL;

	(void)user;
	child_become(65534);
	host = open_host(0);
	target = open_target(host, places.spawn.pid);
	assert_int_equal(plim_mappings_new(&mappings, host, NULL), PLIM_OK);
	assert_int_equal(plim_mappings_read(mappings, target, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(plim_mappings_known(mappings).state,
			 PLIM_STATE_DENIED);
	assert_int_equal(plim_mappings_count(mappings), 0);
	assert_int_equal(
	    plim_mappings_total(mappings, PLIM_MAPPING_FIGURE_RESIDENT).state,
	    PLIM_STATE_DENIED);
	assert_int_equal(plim_mappings_baseline(mappings).sub_heaps.state,
			 PLIM_STATE_DENIED);
	assert_int_equal(plim_mappings_baseline(mappings).blind_spots, 0);
	plim_mappings_free(mappings);
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
#define PLACES(test) \
	cmocka_unit_test_setup_teardown(test, places_setup, places_teardown)
	const struct CMUnitTest tests[] = {
	    PLACES(test_kinds_smaps), PLACES(test_kinds_pages),
	    PLACES(test_removed),     PLACES(test_totals),
	    PLACES(test_groups),      PLACES(test_baseline),
	    PLACES(test_self),	      PLACES(test_gone),
	    PLACES(test_wrong),	      PLACES(test_refused),
	};

	return cmocka_run_group_tests_name("mappings", tests, NULL, NULL);
}
