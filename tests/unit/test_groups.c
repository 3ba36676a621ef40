/*
 * test_groups.c - records by a common key: runs of one text, nested paths,
 * users by number, and those without a key at the end.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "observe/snapshot.h"

#include "sample.h"

#include <stdio.h>

#define MOST 1000
#define NONE PLIM_NO_PARENT

static plim_snapshot snapshot;
static char texts[MOST][64];
static plim_groups *groups;

static int groups_setup(void **state)
{
	(void)state;
	memset(&snapshot, 0, sizeof(snapshot));
	snapshot.current.records = calloc(MOST, sizeof(plim_process));
	assert_non_null(snapshot.current.records);
	assert_int_equal(plim_groups_new(&groups, NULL, NULL), PLIM_OK);
	return 0;
}

static int groups_teardown(void **state)
{
	(void)state;
	plim_groups_free(groups);
	free(snapshot.current.records);
	return 0;
}

static plim_process *add(int field)
{
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	size_t at = snapshot.current.count++;
	plim_process *record = &snapshot.current.records[at];
	plim_identity identity = {.pid = (int32_t)at + 1};

	assert_true(at < MOST);
	memset(record, 0, sizeof(*record));
	plim_field_set_add(&all, field);
	plimp_record_clear(record, &all);
	plimp_record_identity(record, &identity);
	sample_known(record, PLIM_FIELD_RESIDENT, 1000 + at, PLIM_METHOD_STATM);
	return record;
}

/* The next pid, with this text as its cgroup; NULL for none. */
static void add_path(const char *path)
{
	plim_process *record = add(PLIM_FIELD_CGROUP);
	size_t at = (size_t)record->identity.pid - 1;

	if (path == NULL) {
		plimp_record_set(
		    record, PLIM_FIELD_CGROUP,
		    plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13));
		return;
	}
	assert_true(strlen(path) < sizeof(texts[at]));
	strcpy(texts[at], path);
	record->texts.data = texts[at];
	record->texts.size = (uint32_t)strlen(path);
	record->texts.parts[PLIMP_TEXT_CGROUP].size = (uint16_t)strlen(path);
	sample_known(record, PLIM_FIELD_CGROUP, 0, PLIM_METHOD_CGROUP_V2);
	record->texts.parts[PLIMP_TEXT_UNIT].size = (uint16_t)strlen(path);
	sample_known(record, PLIM_FIELD_UNIT, 0, PLIM_METHOD_CGROUP_V2);
}

static void fill(int field)
{
	assert_int_equal(plim_groups_fill(groups, &snapshot, field, NULL, NULL),
			 PLIM_OK);
}

static void expect(size_t at, const char *key, size_t parent, size_t depth,
		   size_t members, size_t own)
{
	const plim_group *group = plim_groups_at(groups, at);

	assert_non_null(group);
	if (key == NULL) {
		assert_int_not_equal(group->key.state, PLIM_STATE_KNOWN);
	} else {
		assert_int_equal(group->key.state, PLIM_STATE_KNOWN);
		assert_int_equal(group->key.bytes.size, strlen(key));
		assert_memory_equal(group->key.bytes.data, key, strlen(key));
	}
	assert_int_equal(group->parent, parent);
	assert_int_equal(group->depth, depth);
	assert_int_equal(group->members, members);
	assert_int_equal(group->own, own);
	for (size_t i = 0; i < members; i++)
		assert_non_null(plim_groups_member(groups, at, i));
	assert_null(plim_groups_member(groups, at, members));
}

static int32_t member(size_t group, size_t at)
{
	return plim_process_pid(plim_groups_member(groups, group, at));
}

static void test_nested(void **state)
{
	plim_sum sum;

	(void)state;
	add_path("/a/b");      /* pid 1 */
	add_path("/a-b");      /* 2: a byte below the slash */
	add_path("/");	       /* 3 */
	add_path(NULL);	       /* 4 */
	add_path("/a/b/c/d");  /* 5 */
	add_path("/a");	       /* 6 */
	add_path("/a/b");      /* 7 */
	add_path("/a/bb");     /* 8 */
	add_path("/z/deep/x"); /* 9 */
	fill(PLIM_FIELD_CGROUP);
	assert_int_equal(plim_groups_size(groups), 11);
	expect(0, "/", NONE, 0, 8, 1);
	expect(1, "/a", 0, 1, 5, 1);
	expect(2, "/a/b", 1, 2, 3, 2);
	expect(3, "/a/b/c", 2, 3, 1, 0);
	expect(4, "/a/b/c/d", 3, 4, 1, 1);
	expect(5, "/a/bb", 1, 2, 1, 1);
	expect(6, "/a-b", 0, 1, 1, 1);
	expect(7, "/z", 0, 1, 1, 0);
	expect(8, "/z/deep", 7, 2, 1, 0);
	expect(9, "/z/deep/x", 8, 3, 1, 1);
	expect(10, NULL, NONE, 0, 1, 1);
	assert_null(plim_groups_at(groups, 11));
	assert_int_equal(plim_groups_at(groups, 10)->key.state,
			 PLIM_STATE_DENIED);
	assert_int_equal(plim_groups_at(groups, 10)->key.code, 13);
	assert_int_equal(member(0, 0), 3);
	assert_int_equal(member(2, 0), 1);
	assert_int_equal(member(2, 1), 7);
	assert_int_equal(member(2, 2), 5);
	sum = plim_groups_sum(groups, 2, PLIM_FIELD_RESIDENT);
	assert_int_equal(plim_sum_total(&sum).value, 1000 + 1006 + 1004);
	sum = plim_groups_sum(groups, 2, PLIM_FIELD_CPU);
	assert_int_equal(sum.missing, 3);
	assert_int_equal(sum.known, 0);
}

/* A text that is no path is a group of its own, nested in nothing. */
static void test_flat(void **state)
{
	(void)state;
	add_path("/b");
	add_path("/a/x");
	add_path("/a");
	add_path("/b");
	fill(PLIM_FIELD_UNIT);
	assert_int_equal(plim_groups_size(groups), 3);
	expect(0, "/a", NONE, 0, 1, 1);
	expect(1, "/a/x", NONE, 0, 1, 1);
	expect(2, "/b", NONE, 0, 2, 2);
	assert_int_equal(member(2, 0), 1);
	assert_int_equal(member(2, 1), 4);
}

/* What a hostile recording may call a path. */
static void test_strange(void **state)
{
	(void)state;
	add_path("");
	add_path("//");
	add_path("/a//b");
	add_path("a/b");
	add_path("/a/");
	add_path("/a/x");
	add_path("/../out");
	fill(PLIM_FIELD_CGROUP);
	assert_int_equal(plim_groups_size(groups), 11);
	expect(0, "", NONE, 0, 1, 1);
	expect(1, "/", NONE, 0, 5, 0);
	expect(2, "//", 1, 1, 1, 1);
	expect(3, "/..", 1, 1, 1, 0);
	expect(4, "/../out", 3, 2, 1, 1);
	expect(5, "/a", 1, 1, 3, 0);
	expect(6, "/a/", 5, 2, 2, 1);
	expect(7, "/a//b", 6, 3, 1, 1);
	expect(8, "/a/x", 5, 2, 1, 1);
	expect(9, "a", NONE, 0, 1, 0);
	expect(10, "a/b", 9, 1, 1, 1);
}

static void test_users(void **state)
{
	static const uint64_t users[] = {1000, 0, 65534, 1000, 20, 4294967295u};

	(void)state;
	for (size_t i = 0; i < 6; i++)
		sample_known(add(PLIM_FIELD_UID), PLIM_FIELD_UID, users[i],
			     PLIM_METHOD_STATUS);
	add(PLIM_FIELD_UID);
	fill(PLIM_FIELD_UID);
	assert_int_equal(plim_groups_size(groups), 6);
	expect(0, "0", NONE, 0, 1, 1);
	expect(1, "20", NONE, 0, 1, 1);
	expect(2, "1000", NONE, 0, 2, 2);
	expect(3, "65534", NONE, 0, 1, 1);
	expect(4, "4294967295", NONE, 0, 1, 1);
	expect(5, NULL, NONE, 0, 1, 1);
	assert_int_equal(plim_groups_at(groups, 2)->key.method,
			 PLIM_METHOD_STATUS);
}

static void test_filter(void **state)
{
	plim_filter *filter = NULL;

	(void)state;
	add_path("/a");
	add_path("/a");
	add_path("/b");
	assert_int_equal(
	    plim_filter_new(&filter, "pid != 1 and pid != 3", NULL, NULL),
	    PLIM_OK);
	assert_int_equal(plim_groups_fill(groups, &snapshot, PLIM_FIELD_CGROUP,
					  filter, NULL),
			 PLIM_OK);
	assert_int_equal(plim_groups_size(groups), 2);
	expect(1, "/a", 0, 1, 1, 1);
	assert_int_equal(member(1, 0), 2);
	plim_filter_free(filter);
}

/* No key of any: all in one; no record: nothing; a field that makes none. */
static void test_edges(void **state)
{
	(void)state;
	fill(PLIM_FIELD_UID);
	assert_int_equal(plim_groups_size(groups), 0);
	assert_null(plim_groups_member(groups, 0, 0));
	add(PLIM_FIELD_PID);
	add(PLIM_FIELD_PID);
	fill(PLIM_FIELD_CONTAINER);
	assert_int_equal(plim_groups_size(groups), 1);
	expect(0, NULL, NONE, 0, 2, 2);
	assert_int_equal(
	    plim_groups_fill(groups, &snapshot, PLIM_FIELD_NAME, NULL, NULL),
	    PLIM_EINVAL);
	expect(0, NULL, NONE, 0, 2, 2);
}

/* Many, in no order: as a slow count says. */
static void test_many(void **state)
{
	uint32_t random = 7;
	size_t total = 0;

	(void)state;
	for (int i = 0; i < MOST; i++) {
		char path[64];

		random = random * 1664525u + 1013904223u;
		snprintf(path, sizeof(path), "/%u/%u/%u", random >> 28,
			 random >> 24 & 7, random >> 20 & 3);
		add_path(path);
	}
	fill(PLIM_FIELD_CGROUP);
	assert_int_equal(plim_groups_at(groups, 0)->members, MOST);
	for (size_t i = 0; i < plim_groups_size(groups); i++) {
		const plim_group *group = plim_groups_at(groups, i);
		plim_bytes key = group->key.bytes;
		size_t inside = 0;

		total += group->own;
		for (size_t j = 0; j < MOST; j++)
			inside += key.size == 1 ||
				  (strncmp(texts[j], key.data, key.size) == 0 &&
				   (texts[j][key.size] == '/' ||
				    texts[j][key.size] == '\0'));
		assert_int_equal(group->members, inside);
		if (group->parent != NONE)
			assert_true(group->parent < i);
	}
	assert_int_equal(total, MOST);
}

int main(void)
{
#define GROUPS(test) \
	cmocka_unit_test_setup_teardown(test, groups_setup, groups_teardown)
	const struct CMUnitTest tests[] = {
	    GROUPS(test_nested), GROUPS(test_flat),   GROUPS(test_strange),
	    GROUPS(test_users),	 GROUPS(test_filter), GROUPS(test_edges),
	    GROUPS(test_many),
	};

	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
