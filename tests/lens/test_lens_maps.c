/*
 * test_lens_maps.c - the list of mappings: every one of 30,000, names of every
 * kind, figures that add up to the kernel's own sums, lists that change while
 * they are read, and texts that no kernel wrote.
 */
#include "owner.h"

#include "fixture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MANY 30000

/* Neighbours differ in what is allowed, so that they stay apart. */
static uint64_t many_step(int step, void *user)
{
	char *memory = mmap(NULL, MANY * PAGE, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)step;
	(void)user;
	if (memory == MAP_FAILED)
		_exit(1);
	for (size_t i = 0; i < MANY; i += 2)
		if (mprotect(memory + i * PAGE, PAGE, PROT_READ | PROT_WRITE))
			_exit(1);
	for (size_t i = 0; i < MANY; i += 4)
		memory[i * PAGE] = 1;
	return (uint64_t)(uintptr_t)memory;
}

static void expect_ascending(const struct plimp_space *space)
{
	uint64_t least = 0;

	assert_true(space->count > 0);
	for (size_t i = 0; i < space->count; i++) {
		assert_true(space->items[i].start >= least);
		assert_true(space->items[i].end > space->items[i].start);
		least = space->items[i].end;
	}
}

static void test_many(void **state)
{
	struct owner owner;
	struct view view;
	uint64_t rss = 0, dirty = 0, before, after;
	size_t inside = 0;

	(void)state;
	owner_start(&owner, many_step, NULL);
	view_open(&view, owner.pid);
	owner_settle(&owner);
	assert_int_equal(plimp_system_lens_maps(view.lens, &view.space, NULL),
			 PLIM_OK);
	expect_ascending(&view.space);
	for (size_t i = 0; i < view.space.count; i++) {
		const struct plimp_mapping *one = &view.space.items[i];

		if (one->start < owner.place ||
		    one->end > owner.place + MANY * PAGE)
			continue;
		assert_true(one->start == owner.place + inside * PAGE);
		assert_int_equal(
		    one->protection,
		    inside % 2 == 0 ? PLIMP_MAY_READ | PLIMP_MAY_WRITE : 0);
		assert_int_equal(one->name_size, 0);
		assert_int_equal(one->has, 0);
		assert_int_equal(one->resident.state, PLIM_STATE_SKIPPED);
		inside++;
	}
	assert_int_equal(inside, MANY);
	before = owner_private_dirty_kb(owner.pid);
	assert_int_equal(plimp_system_lens_smaps(view.lens, &view.space, NULL),
			 PLIM_OK);
	expect_ascending(&view.space);
	for (size_t i = 0; i < view.space.count; i++) {
		rss += view.space.items[i].resident.value;
		dirty += view.space.items[i].private_dirty.value;
	}
	assert_int_equal(rss / 1024,
			 owner_sum_kb(owner.pid, "smaps_rollup", "Rss:"));
	after = owner_private_dirty_kb(owner.pid);
	assert_in_range(dirty / 1024, before, after);
	/* Every fourth page is written. */
	assert_true(dirty >= MANY / 4 * PAGE);
	view_close(&view);
	owner_end(&owner);
}

/* The last bytes of a name are those of the file. */
static const char odd_name[] = "a b\nc\\d (deleted) \x1b[1m\xff";

static uint64_t odd_step(int step, void *user)
{
	const char *folder = user;
	char path[512];
	void *memory;
	int file;

	(void)step;
	snprintf(path, sizeof(path), "%s/%s", folder, odd_name);
	file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, (off_t)PAGE) != 0)
		_exit(1);
	memory = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	unlink(path);
	return (uint64_t)(uintptr_t)memory;
}

static void test_names(void **state)
{
	char folder[] = "/tmp/plim-lens-XXXXXX";
	const struct plimp_mapping *one;
	char expected[512];
	struct owner owner;
	struct view view;
	plim_bytes name;
	int seen = 0;

	(void)state;
	assert_non_null(mkdtemp(folder));
	owner_start(&owner, odd_step, folder);
	view_open(&view, owner.pid);
	assert_int_equal(plimp_system_lens_smaps(view.lens, &view.space, NULL),
			 PLIM_OK);
	one = plimp_space_find(&view.space, owner.place);
	assert_non_null(one);
	name = plimp_space_name(&view.space, one);
	snprintf(expected, sizeof(expected), "%s/%s (deleted)", folder,
		 odd_name);
	assert_int_equal(name.size, strlen(expected));
	assert_memory_equal(name.data, expected, name.size);
	assert_int_equal(one->protection, PLIMP_MAY_READ | PLIMP_IS_SHARED);
	assert_true(one->inode != 0);
	assert_int_equal(one->has, PLIMP_MAPPING_SMAPS | PLIMP_MAPPING_FLAGS);
	assert_null(plimp_space_find(&view.space, 0));
	assert_null(plimp_space_find(&view.space, UINT64_MAX));
	for (size_t i = 0; i < view.space.count; i++) {
		one = &view.space.items[i];
		name = plimp_space_name(&view.space, one);
		if (name.size == 7 && memcmp(name.data, "[stack]", 7) == 0) {
			assert_true((one->flags & PLIMP_VM_GROWS_DOWN) != 0);
			assert_true((one->flags & PLIMP_VM_ACCOUNTED) != 0);
			seen++;
		}
	}
	assert_int_equal(seen, 1);
	view_close(&view);
	owner_end(&owner);
	rmdir(folder);
}

/* One thread maps and unmaps, and merges neighbours, all the time. */
static void *churn(void *user)
{
	char *memory = user;

	for (size_t i = 0;; i++) {
		size_t at = (i * 7919) % 512;

		mprotect(memory + at * PAGE, (1 + i % 5) * PAGE,
			 i % 3 == 0 ? PROT_READ : PROT_READ | PROT_WRITE);
		if (i % 16 == 0)
			mmap(memory + at * PAGE, PAGE, PROT_READ,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (i % 1024 == 0)
			child_sleep_ms(1);
	}
	return NULL;
}

static uint64_t churn_step(int step, void *user)
{
	pthread_t thread;
	char *memory = mmap(NULL, 520 * PAGE, PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)step;
	(void)user;
	if (memory == MAP_FAILED ||
	    pthread_create(&thread, NULL, churn, memory) != 0)
		_exit(1);
	return (uint64_t)(uintptr_t)memory;
}

static void test_changing(void **state)
{
	struct owner owner;
	struct view view;

	(void)state;
	owner_start(&owner, churn_step, NULL);
	view_open(&view, owner.pid);
	for (int i = 0; i < 60; i++) {
		assert_int_equal((i % 2 == 0 ? plimp_system_lens_maps
					     : plimp_system_lens_smaps)(
				     view.lens, &view.space, NULL),
				 PLIM_OK);
		expect_ascending(&view.space);
		/* What stays where it is, is always there. */
		assert_non_null(plimp_space_find(
		    &view.space, (uint64_t)(uintptr_t)&test_changing));
	}
	view_close(&view);
	owner_end(&owner);
}

/* A recording: any text can stand in it. */
struct record {
	struct fixture fixture;
	struct view view;
};

static void record_open(struct record *record)
{
	fixture_new(&record->fixture);
	fixture_host(&record->fixture, 0);
	fixture_process(&record->fixture, 42, "recorded", 8);
}

static void record_view(struct record *record)
{
	memset(&record->view, 0, sizeof(record->view));
	record->view.host = open_root(record->fixture.root, 0);
	record->view.target = open_target(record->view.host, 42);
	assert_int_equal(plimp_system_lens_open(record->view.host,
						record->view.target,
						&record->view.lens, NULL),
			 PLIM_OK);
	plimp_system_lens_reader(record->view.lens, &record->view.reader);
}

static void record_close(struct record *record)
{
	view_close(&record->view);
	fixture_free(&record->fixture);
}

static int record_maps(const char *name, const char *text, size_t size,
		       struct record *record)
{
	plim_error error = {0};
	int code;

	record_open(record);
	fixture_file(&record->fixture, name, text, size);
	record_view(record);
	code = (strcmp(name, "42/maps") == 0 ? plimp_system_lens_maps
					     : plimp_system_lens_smaps)(
	    record->view.lens, &record->view.space, &error);
	assert_int_equal(code, error.code);
	return code;
}

/* 200,000 mappings are twelve megabytes, which come in pieces of 64 KiB. */
static void test_huge_text(void **state)
{
	const size_t count = 200000;
	char *text = malloc(count * 200);
	size_t size = 0;
	struct record record;

	(void)state;
	for (size_t i = 0; i < count; i++)
		size += (size_t)sprintf(
		    text + size,
		    "%zx-%zx rw-p %08zx fe:00 %zu %*s/file %zu\nRss: %zu kB\n",
		    0x10000 + i * 8192, 0x10000 + i * 8192 + 4096, i * 4096,
		    i + 1, (int)(i % 40), "", i, i % 5);
	assert_int_equal(record_maps("42/smaps", text, size, &record), PLIM_OK);
	assert_int_equal(record.view.space.count, count);
	for (size_t i = 0; i < count; i++) {
		const struct plimp_mapping *one = &record.view.space.items[i];
		plim_bytes name = plimp_space_name(&record.view.space, one);
		char expected[32];

		snprintf(expected, sizeof(expected), "/file %zu", i);
		assert_true(one->start == 0x10000 + i * 8192);
		assert_int_equal(one->inode, i + 1);
		assert_int_equal(one->offset, i * 4096);
		assert_int_equal(one->resident.value, i % 5 * 1024);
		assert_int_equal(one->pss.state, PLIM_STATE_UNSUPPORTED);
		assert_int_equal(one->pss.method, PLIM_REASON_NO_LINE);
		assert_int_equal(one->has, PLIMP_MAPPING_SMAPS);
		assert_int_equal(name.size, strlen(expected));
		assert_memory_equal(name.data, expected, name.size);
	}
	record_close(&record);
	free(text);
}

static void test_hostile(void **state)
{
	static const struct {
		const char *file;
		const char *text;
		int code;
		size_t count;
	} rows[] = {
	    {"42/maps", "", PLIM_OK, 0},
	    {"42/maps", "1000-2000 r--p 00000000 00:00 0 \n", PLIM_OK, 1},
	    {"42/maps", "1000-2000 r--p 00000000 00:00 0", PLIM_EMALFORMED, 0},
	    {"42/maps", "1000-2000 r--p 00000000 00:00 0\nx\n", PLIM_EMALFORMED,
	     0},
	    {"42/maps", "Rss: 4 kB\n", PLIM_EMALFORMED, 0},
	    /* What goes back is left out; what reaches back is cut. */
	    {"42/maps",
	     "5000-6000 r--p 0 00:00 0\n1000-2000 r--p 0 00:00 0\n"
	     "4000-7000 r--p 0 00:00 0\n",
	     PLIM_OK, 2},
	    {"42/smaps", "Rss: 4 kB\n1000-2000 r--p 0 00:00 0\nRss: 8 kB\n",
	     PLIM_OK, 1},
	    {"42/smaps", "1000-2000 r--p 0 00:00 0\n3000-x\n", PLIM_EMALFORMED,
	     0},
	    {"42/smaps", "1000-2000 r--p 0 00:00 0\n\n\nGarbage\n", PLIM_OK, 1},
	};
	char *line = malloc(1 << 20);
	struct record record;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (record_maps(rows[i].file, rows[i].text,
				strlen(rows[i].text), &record) != rows[i].code)
			fail_msg("wrong for %s", rows[i].text);
		assert_int_equal(record.view.space.count, rows[i].count);
		if (rows[i].count > 0)
			expect_ascending(&record.view.space);
		record_close(&record);
	}
	/* A line that does not end. */
	memset(line, 'a', 1 << 20);
	assert_int_equal(record_maps("42/maps", line, 1 << 20, &record),
			 PLIM_EMALFORMED);
	record_close(&record);
	free(line);
}

/* What a recording does not hold is said of each. */
static void test_recording(void **state)
{
	plim_count figures[PLIMP_FIGURES];
	struct record record;
	uint8_t pages[2];
	size_t copied;

	(void)state;
	memset(figures, 0, sizeof(figures));
	record_open(&record);
	fixture_text(&record.fixture, "42/smaps_rollup",
		     "1000-9000 ---p 00000000 00:00 0 [rollup]\n"
		     "Rss: 12 kB\nPss: 7 kB\nPrivate_Dirty: 3 kB\n"
		     "Swap: 18446744073709551615 kB\nSwapPss: 2 MB\n"
		     "Pss_Dirty:9 kB\nLazyFree: 1 kB");
	record_view(&record);
	assert_int_equal(
	    plimp_system_lens_rollup(record.view.lens, figures, NULL), PLIM_OK);
	assert_int_equal(figures[PLIMP_FIGURE_PSS].value, 7 * 1024);
	assert_int_equal(figures[PLIMP_FIGURE_PSS].method,
			 PLIM_METHOD_SMAPS_ROLLUP);
	assert_int_equal(figures[PLIMP_FIGURE_PRIVATE_DIRTY].value, 3 * 1024);
	assert_int_equal(figures[PLIMP_FIGURE_PSS_DIRTY].value, 9 * 1024);
	assert_int_equal(figures[PLIMP_FIGURE_ROLLUP_SWAP].method,
			 PLIM_REASON_NO_LINE);
	assert_int_equal(figures[PLIMP_FIGURE_SWAP_PSS].method,
			 PLIM_REASON_NO_LINE);
	/* The last line is cut: what it says may be half a number. */
	assert_int_equal(figures[PLIMP_FIGURE_LAZY_FREE].method,
			 PLIM_REASON_NO_LINE);
	assert_int_equal(figures[PLIMP_FIGURE_RESIDENT].state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(
	    plimp_system_lens_maps(record.view.lens, &record.view.space, NULL),
	    PLIM_EUNSUPPORTED);
	assert_int_equal(
	    record.view.reader.pages(record.view.reader.user, 0, 2, pages),
	    PLIM_EUNSUPPORTED);
	assert_int_equal(record.view.reader.read(record.view.reader.user, 0,
						 pages, 2, &copied),
			 PLIM_EUNSUPPORTED);
	record_close(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_many),     cmocka_unit_test(test_names),
	    cmocka_unit_test(test_changing), cmocka_unit_test(test_huge_text),
	    cmocka_unit_test(test_hostile),  cmocka_unit_test(test_recording),
	};

	return cmocka_run_group_tests_name("lens_maps", tests, NULL, NULL);
}
