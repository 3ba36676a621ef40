/*
 * test_fixture_root.c - another proc root: a made-up one, whose files are
 * right, missing, empty, cut, binary, too large or unreadable.
 *
 * The invariant behind all of it: of a damaged process a figure is either
 * unavailable or what it is in the undamaged one; the process beside it is
 * not touched.
 */
#include "common.h"

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT_PID  (1 << 20) /* damaged */
#define ROOT_NEXT 42	    /* left alone */

static const char *const root_files[] = {"stat", "statm",     "status",
					 "io",	 "oom_score", "cgroup"};
#define ROOT_FILES (sizeof(root_files) / sizeof(root_files[0]))

struct root {
	struct fixture fixture;
	plim_host *host;
	plim_snapshot *snapshot;
};

static struct root root;

static int root_setup(void **state)
{
	(void)state;
	memset(&root, 0, sizeof(root));
	fixture_new(&root.fixture);
	fixture_host(&root.fixture, 1000);
	fixture_process(&root.fixture, ROOT_PID, "damaged", 7);
	fixture_process(&root.fixture, ROOT_NEXT, "next", 4);
	return 0;
}

static int root_teardown(void **state)
{
	(void)state;
	plim_snapshot_free(root.snapshot);
	plim_host_close(root.host);
	fixture_free(&root.fixture);
	return 0;
}

static void root_open(void)
{
	root.host = open_root(root.fixture.root, 0);
	root.snapshot = new_snapshot(root.host);
}

static const struct {
	int field;
	uint64_t value;
} root_values[] = {
    {PLIM_FIELD_PPID, 1},
    {PLIM_FIELD_UID, 1000},
    {PLIM_FIELD_START_TICKS, 123456},
    {PLIM_FIELD_ANONYMOUS, 40 * 4096},
    {PLIM_FIELD_RESIDENT, 100 * 4096},
    {PLIM_FIELD_PRIVATE, 40 * 4096 + 12 * 1024},
    {PLIM_FIELD_FILE, 232 * 1024},
    {PLIM_FIELD_SHMEM, 8 * 1024},
    {PLIM_FIELD_SWAP, 12 * 1024},
    {PLIM_FIELD_PEAK_RESIDENT, 480 * 1024},
    {PLIM_FIELD_THREADS, 7},
    {PLIM_FIELD_FAULTS_MINOR, 1111},
    {PLIM_FIELD_FAULTS_MAJOR, 22},
    {PLIM_FIELD_DISK_READ, 4096},
    {PLIM_FIELD_DISK_WRITE, 8192},
    {PLIM_FIELD_DISK_CANCELLED, 12288},
    {PLIM_FIELD_IO_CALLS, 70},
    {PLIM_FIELD_KERNEL_THREAD, 0},
    {PLIM_FIELD_CPU, 7770000000},
    {PLIM_FIELD_CPU_USER, 3330000000},
    {PLIM_FIELD_CPU_SYSTEM, 4440000000},
    {PLIM_FIELD_CPU_CHILDREN, 110000000},
    {PLIM_FIELD_START_UNIX_MS, 1700000000000 + 1234560},
    {PLIM_FIELD_NICE, (uint64_t)-5},
    {PLIM_FIELD_OOM_SCORE, 333},
};
#define ROOT_VALUES (sizeof(root_values) / sizeof(root_values[0]))

/* All figures of an undamaged process, whatever is beside it. */
static void root_expect_whole(const plim_process *it)
{
	assert_non_null(it);
	for (size_t i = 0; i < ROOT_VALUES; i++)
		assert_int_equal(known(it, root_values[i].field),
				 root_values[i].value);
}

/* Nothing is wrong about a damaged one. */
static void root_expect_no_lie(const plim_process *it, const char *what)
{
	if (it == NULL)
		return;
	for (size_t i = 0; i < ROOT_VALUES; i++) {
		plim_count count = plim_process_count(it, root_values[i].field);

		if (count.state != PLIM_STATE_KNOWN) {
			assert_int_equal(count.value, 0);
			continue;
		}
		/* A uid can be told by the folder's owner as well. */
		if (root_values[i].field == PLIM_FIELD_UID &&
		    count.method == PLIM_METHOD_DIRECTORY_OWNER)
			continue;
		/* statm and status round differently; here they agree, but
		 * without swap the private memory is an equal's. */
		if (count.value != root_values[i].value)
			fail_msg("%s: %s is %llu, which is wrong", what,
				 plim_field_get(root_values[i].field)->name,
				 (unsigned long long)count.value);
	}
}

static const char *root_path(const char *file)
{
	static char path[64];

	snprintf(path, sizeof(path), "%d/%s", ROOT_PID, file);
	return path;
}

/* Takes it, and looks at both. */
static const plim_process *root_take(const char *what)
{
	const plim_process *it;

	take(root.snapshot);
	root_expect_whole(plim_snapshot_find(root.snapshot, ROOT_NEXT));
	it = plim_snapshot_find(root.snapshot, ROOT_PID);
	root_expect_no_lie(it, what);
	return it;
}

static void root_restore(void)
{
	fixture_process(&root.fixture, ROOT_PID, "damaged", 7);
}

static void test_values(void **state)
{
	const plim_process *it;
	plim_identity identity;

	(void)state;
	root_open();
	assert_int_equal(plim_host_count(root.host, PLIM_HOST_IS_LIVE).value,
			 0);
	assert_int_equal(
	    plim_host_count(root.host, PLIM_HOST_IDENTITY_RUNG).value,
	    PLIM_RUNG_START);
	assert_int_equal(plim_host_count(root.host, PLIM_HOST_SWAP_BYTES).value,
			 1000 * 1024);
	assert_int_equal(
	    plim_host_count(root.host, PLIM_HOST_BOOT_UNIX_MS).value,
	    1700000000000);
	expect_text(plim_host_text(root.host, PLIM_HOST_BOOT_ID),
		    "01234567-89ab-cdef-0123-456789abcdef", 36);
	it = root_take("undamaged");
	assert_int_equal(plim_snapshot_size(root.snapshot), 2);
	root_expect_whole(it);
	expect_text(plim_process_text(it, PLIM_FIELD_NAME), "damaged", 7);
	expect_text(plim_process_text(it, PLIM_FIELD_STATE), "S", 1);
	/* What goes by pid would be somebody else's here. */
	expect_method(it, PLIM_FIELD_CPU, PLIM_METHOD_STAT_TICKS);
	identity = plim_process_identity(it);
	assert_int_equal(plim_identity_rung(&identity), PLIM_RUNG_START);
	assert_false(identity.has & PLIM_IDENTITY_INODE);
}

/* A pid of the recording is a live one's number at best: nothing is sent. */
static void test_no_numbers(void **state)
{
	plim_target *target;
	plim_usage *usage;
	plim_text text = {0};

	(void)state;
	root_open();
	target = open_target(root.host, ROOT_PID);
	assert_int_equal(plim_target_signal(target, 9, NULL),
			 PLIM_EUNSUPPORTED);
	assert_int_equal(plim_target_wait(target, 0, NULL), PLIM_EUNSUPPORTED);
	assert_int_equal(plim_target_poll_descriptor(target), -1);
	assert_int_equal(plim_target_exit_status(target).state,
			 PLIM_STATE_UNSUPPORTED);
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	usage = new_usage(root.host);
	root_expect_whole(measure(usage, target));
	assert_int_equal(known(plim_usage_process(usage), PLIM_FIELD_RUNQUEUE),
			 5550000);
	assert_int_equal(
	    known(plim_usage_process(usage), PLIM_FIELD_BLOCK_IO_DELAY),
	    250000000);
	assert_int_equal(plim_target_command_line(target, &text, NULL),
			 PLIM_OK);
	expect_text(text, "fixture\0--option", 17);
	plim_usage_free(usage);
	plim_target_close(target);
	target = NULL;
	assert_int_equal(plim_target_open(&target, root.host, 43, NULL),
			 PLIM_ENOPROCESS);
	/* The live process of this number is not there, either. */
	assert_int_equal(plim_target_open(&target, root.host, getpid(), NULL),
			 PLIM_ENOPROCESS);
}

/* Folders that are no proc file system, and no folder at all. */
static void test_no_root(void **state)
{
	static const char *const roots[] = {"/nonexistent", "/dev/null", ""};
	char plain[300];
	plim_host *host = NULL;
	plim_error error;

	(void)state;
	snprintf(plain, sizeof(plain), "%s/sys/kernel", root.fixture.root);
	for (size_t i = 0; i < 4; i++) {
		plim_host_options options = {
		    .size = sizeof(options),
		    .proc_root = i < 3 ? roots[i] : plain,
		};
		memset(&error, 0, sizeof(error));
		assert_int_equal(plim_host_open(&host, &options, &error),
				 PLIM_EROOT);
		assert_int_equal(error.code, PLIM_EROOT);
		assert_string_equal(error.path, options.proc_root);
		assert_null(host);
	}
}

/* The folder is there, the file is not: ended while it was read. */
static void test_missing(void **state)
{
	(void)state;
	root_open();
	for (size_t i = 0; i < ROOT_FILES; i++) {
		const plim_process *it;

		fixture_remove(&root.fixture, root_path(root_files[i]));
		it = root_take(root_files[i]);
		if (i == 0) {
			assert_null(it);
			assert_int_equal(
			    plim_snapshot_cost(root.snapshot).vanished, 1);
		}
		root_restore();
	}
	root_expect_whole(root_take("restored"));
}

static void test_empty(void **state)
{
	(void)state;
	root_open();
	for (size_t i = 0; i < ROOT_FILES; i++) {
		fixture_text(&root.fixture, root_path(root_files[i]), "");
		root_take(root_files[i]);
		root_restore();
	}
}

/* Cut behind every byte. */
static void test_cut(void **state)
{
	(void)state;
	root_open();
	for (size_t i = 0; i < ROOT_FILES; i++) {
		char text[2048];
		char path[512];
		char what[64];
		size_t size;
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", root.fixture.root,
			 root_path(root_files[i]));
		file = fopen(path, "r");
		assert_non_null(file);
		size = fread(text, 1, sizeof(text), file);
		fclose(file);
		for (size_t cut = 0; cut < size; cut++) {
			fixture_file(&root.fixture, root_path(root_files[i]),
				     text, cut);
			snprintf(what, sizeof(what), "%s cut at %zu",
				 root_files[i], cut);
			root_take(what);
		}
		root_restore();
	}
}

/* Bytes that are no text, a short and a long run of them. */
static void test_binary(void **state)
{
	static unsigned char bytes[1 << 20];
	uint32_t seed = 1;

	(void)state;
	root_open();
	for (size_t i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(seed >> 24);
	}
	for (size_t i = 0; i < ROOT_FILES; i++) {
		static const size_t sizes[] = {1, 300, 5000, sizeof(bytes)};

		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			fixture_file(&root.fixture, root_path(root_files[i]),
				     bytes, sizes[s]);
			root_take(root_files[i]);
		}
		root_restore();
	}
}

/* Too large: digits without end, lines without end, a name without end. */
static void test_oversized(void **state)
{
	static char bytes[4 << 20];

	(void)state;
	root_open();
	for (size_t i = 0; i < ROOT_FILES; i++) {
		memset(bytes, '9', sizeof(bytes));
		fixture_file(&root.fixture, root_path(root_files[i]), bytes,
			     sizeof(bytes));
		root_take(root_files[i]);
		memset(bytes, '\n', sizeof(bytes));
		fixture_file(&root.fixture, root_path(root_files[i]), bytes,
			     sizeof(bytes));
		root_take(root_files[i]);
		memset(bytes, ')', sizeof(bytes));
		memcpy(bytes, "1048576 (", 9);
		fixture_file(&root.fixture, root_path(root_files[i]), bytes,
			     sizeof(bytes));
		root_take(root_files[i]);
		root_restore();
	}
}

/* Numbers that fit nowhere are not wrapped into ones that do. */
static void test_huge_numbers(void **state)
{
	static const struct {
		const char *file;
		const char *text;
		int field;
	} rows[] = {
	    {"statm", "99999999999999999999 99999999999999999999 1 0 0 0 0\n",
	     PLIM_FIELD_ANONYMOUS},
	    {"statm", "2500 18446744073709551615 60 10 0 200 0\n",
	     PLIM_FIELD_ANONYMOUS},
	    {"statm", "2500 -1 60 10 0 200 0\n", PLIM_FIELD_ANONYMOUS},
	    {"statm", "2500 60 100 10 0 200 0\n", PLIM_FIELD_ANONYMOUS},
	    {"io",
	     "rchar: 1\nwchar: 2\nsyscr: 30\nsyscw: 40\n"
	     "read_bytes: 99999999999999999999\nwrite_bytes: 8192\n"
	     "cancelled_write_bytes: 12288\n",
	     PLIM_FIELD_DISK_READ},
	    {"io",
	     "rchar: 1\nwchar: 2\nsyscr: 18446744073709551615\nsyscw: 40\n"
	     "read_bytes: 4096\nwrite_bytes: 8192\n"
	     "cancelled_write_bytes: 12288\n",
	     PLIM_FIELD_IO_CALLS},
	};

	(void)state;
	root_open();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const plim_process *it;
		plim_count count;

		fixture_text(&root.fixture, root_path(rows[i].file),
			     rows[i].text);
		take(root.snapshot);
		root_expect_whole(plim_snapshot_find(root.snapshot, ROOT_NEXT));
		it = plim_snapshot_find(root.snapshot, ROOT_PID);
		assert_non_null(it);
		count = plim_process_count(it, rows[i].field);
		/* Unavailable, taken from another file, or the largest number
		 * there is: never a small one. */
		if (count.state == PLIM_STATE_KNOWN &&
		    count.value != 40 * 4096 && count.value != UINT64_MAX)
			fail_msg("row %zu: %s is %llu", i,
				 plim_field_get(rows[i].field)->name,
				 (unsigned long long)count.value);
		root_restore();
	}
}

/* A folder where a file should be. */
static void test_folder_for_file(void **state)
{
	char path[512];

	(void)state;
	root_open();
	for (size_t i = 0; i < ROOT_FILES; i++) {
		fixture_remove(&root.fixture, root_path(root_files[i]));
		snprintf(path, sizeof(path), "%s/%s", root.fixture.root,
			 root_path(root_files[i]));
		assert_int_equal(mkdir(path, 0755), 0);
		root_take(root_files[i]);
		assert_int_equal(rmdir(path), 0);
		root_restore();
	}
}

static void root_unreadable(void *user)
{
	(void)user;
	if (geteuid() == 0)
		child_become(65534);
	root_open();
	take(root.snapshot);
	root_expect_whole(plim_snapshot_find(root.snapshot, ROOT_NEXT));
	for (size_t i = 0; i < 4; i++) {
		static const int fields[] = {
		    PLIM_FIELD_DISK_READ, PLIM_FIELD_DISK_WRITE,
		    PLIM_FIELD_DISK_CANCELLED, PLIM_FIELD_IO_CALLS};

		expect_state(plim_snapshot_find(root.snapshot, ROOT_PID),
			     fields[i], PLIM_STATE_DENIED);
	}
	assert_int_equal(plim_snapshot_cost(root.snapshot).refused, 1);
	plim_snapshot_free(root.snapshot);
	plim_host_close(root.host);
}

/* Refused, as another user: DENIED, and the list goes on. */
static void test_unreadable(void **state)
{
	(void)state;
	fixture_mode(&root.fixture, root_path("io"), 0);
	child_run(root_unreadable, NULL);
}

/* A process that is gone is gone; another one with its number is another. */
static void test_replaced(void **state)
{
	plim_target *target;
	char text[512];
	size_t size;

	(void)state;
	root_open();
	target = open_target(root.host, ROOT_PID);
	size = (size_t)snprintf(
	    text, sizeof(text),
	    "%d (new) S 1 1 1 0 -1 4194304 1 0 1 0 1 1 0 0 20 0 1 0 999999 1 "
	    "1 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 1 "
	    "1 1 1 1 1 1 0\n",
	    ROOT_PID);
	fixture_file(&root.fixture, root_path("stat"), text, size);
	expect_fate(target, PLIM_FATE_REPLACED, 0, 0);
	plim_target_close(target);
}

/* Names that a recording may hold: raw bytes, and a cut in the middle. */
static void test_name_bytes(void **state)
{
	static const char name[] = "a) R 1\n2 (\xff";

	(void)state;
	root_open();
	fixture_process(&root.fixture, ROOT_PID, name, sizeof(name) - 1);
	expect_text(plim_process_text(root_take("name"), PLIM_FIELD_NAME), name,
		    sizeof(name) - 1);
}

/* A host without swap: private is what is anonymous, and says how. */
static void test_no_swap(void **state)
{
	plim_field_set set = {{0}};
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .fields = &set,
	};
	const plim_process *it;

	(void)state;
	fixture_host(&root.fixture, 0);
	root_open();
	plim_field_set_add(&set, PLIM_FIELD_PRIVATE);
	assert_int_equal(plim_snapshot_take(root.snapshot, &options, NULL),
			 PLIM_OK);
	it = plim_snapshot_find(root.snapshot, ROOT_PID);
	assert_int_equal(known(it, PLIM_FIELD_PRIVATE), 40 * 4096);
	expect_method(it, PLIM_FIELD_PRIVATE, PLIM_METHOD_STATM_NO_SWAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROOT(test) \
	cmocka_unit_test_setup_teardown(test, root_setup, root_teardown)
	    ROOT(test_values),	     ROOT(test_no_numbers),
	    ROOT(test_no_root),	     ROOT(test_missing),
	    ROOT(test_empty),	     ROOT(test_cut),
	    ROOT(test_binary),	     ROOT(test_oversized),
	    ROOT(test_huge_numbers), ROOT(test_folder_for_file),
	    ROOT(test_unreadable),   ROOT(test_replaced),
	    ROOT(test_name_bytes),   ROOT(test_no_swap),
	};

	return cmocka_run_group_tests_name("another proc root", tests, NULL,
					   NULL);
}
