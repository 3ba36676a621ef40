/*
 * test_lens_pages.c - what pages are, and their bytes: every kind of page is
 * told, the sums are the kernel's own, and looking changes nothing in the
 * process that is looked at.
 */
#include "owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

/* Places of pages in the region; the others were never touched. */
enum { AT_WRITTEN = 1, AT_READ = 3, AT_DROPPED = 5, AT_GUARD = 7, PAGES = 16 };
#define FILE_PAGES 4

static char *owner_map(size_t pages)
{
	char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		_exit(1);
	(void)madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static uint64_t kinds_step(int step, void *user)
{
	static char *memory;

	(void)user;
	if (step == 0) {
		memory = owner_map(PAGES);
		for (size_t i = 0; i < PAGE; i++)
			memory[AT_WRITTEN * PAGE + i] = (char)(i * 7 + 1);
		(void)*(volatile char *)(memory + AT_READ * PAGE);
		memory[AT_DROPPED * PAGE] = 1;
		madvise(memory + AT_DROPPED * PAGE, PAGE, MADV_DONTNEED);
		(void)madvise(memory + AT_GUARD * PAGE, PAGE,
			      MADV_GUARD_INSTALL);
	} else if (step == 1) {
		owner_share();
	}
	return (uint64_t)(uintptr_t)memory;
}

static void ask(struct view *view, uint64_t address, size_t count,
		uint8_t *pages)
{
	assert_int_equal(
	    view->reader.pages(view->reader.user, address, count, pages),
	    PLIM_OK);
}

static void test_kinds(void **state)
{
	struct owner owner;
	struct view view;
	uint8_t pages[PAGES];

	(void)state;
	owner_start(&owner, kinds_step, NULL);
	view_open(&view, owner.pid);
	memset(pages, 0xff, sizeof(pages));
	ask(&view, owner.place, PAGES, pages);
	for (int i = 0; i < PAGES; i++) {
		int expected = 0;

		if (i == AT_WRITTEN)
			expected = PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT |
				   PLIMP_PAGE_EXCLUSIVE;
		else if (i == AT_READ)
			expected = kernel_version() >= 6007 || geteuid() == 0
				       ? PLIMP_PAGE_READABLE | PLIMP_PAGE_ZERO
				       : PLIMP_PAGE_READABLE;
		if (i == AT_GUARD && kernel_version() < 6015)
			continue;
		if (pages[i] != expected)
			fail_msg("page %d is %#x, not %#x", i, pages[i],
				 expected);
	}
	/* One that a forked child shares. */
	owner_step(&owner);
	ask(&view, owner.place + AT_WRITTEN * PAGE, 1, pages);
	assert_int_equal(pages[0], PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT |
				       PLIMP_PAGE_SHARED);
	assert_int_equal(plimp_system_lens_check(view.lens, NULL), PLIM_OK);
	view_close(&view);
	owner_end(&owner);
}

/* A file of which two pages are read and one is written privately. */
static uint64_t file_step(int step, void *user)
{
	char name[] = "/tmp/plim-lens-XXXXXX";
	int file = mkostemp(name, O_CLOEXEC);
	char *memory;

	(void)step;
	(void)user;
	if (file < 0 || ftruncate(file, FILE_PAGES * (off_t)PAGE) != 0)
		_exit(1);
	unlink(name);
	memory = mmap(NULL, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE, file, 0);
	if (memory == MAP_FAILED)
		_exit(1);
	madvise(memory, FILE_PAGES * PAGE, MADV_RANDOM);
	(void)*(volatile char *)memory;
	memory[2 * PAGE] = 1;
	return (uint64_t)(uintptr_t)memory;
}

static void test_file_pages(void **state)
{
	struct owner owner;
	struct view view;
	uint8_t pages[FILE_PAGES];

	(void)state;
	owner_start(&owner, file_step, NULL);
	view_open(&view, owner.pid);
	ask(&view, owner.place, FILE_PAGES, pages);
	assert_int_equal(pages[0], PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT |
				       PLIMP_PAGE_FILE | PLIMP_PAGE_EXCLUSIVE);
	assert_int_equal(pages[2], PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT |
				       PLIMP_PAGE_EXCLUSIVE);
	view_close(&view);
	owner_end(&owner);
}

/* Addresses that nobody has, of the kernel, and of no page table are 0. */
static void test_nobodys(void **state)
{
	static const uint64_t places[] = {0, 0x7000, UINT64_C(0x7ffffffff000),
					  UINT64_C(0xffffffffff600000),
					  UINT64_C(0x8000000000000000)};
	struct owner owner;
	struct view view;
	uint8_t pages[3];

	(void)state;
	owner_start(&owner, kinds_step, NULL);
	view_open(&view, owner.pid);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		memset(pages, 0xff, sizeof(pages));
		ask(&view, places[i], 3, pages);
		assert_int_equal(pages[0] | pages[1] | pages[2], 0);
	}
	view_close(&view);
	owner_end(&owner);
}

/* Bytes are those that were written; what is not there gives none. */
static void test_bytes(void **state)
{
	struct owner owner;
	struct view view;
	unsigned char bytes[4096];
	size_t copied = 99;

	(void)state;
	owner_start(&owner, kinds_step, NULL);
	view_open(&view, owner.pid);
	assert_int_equal(view.reader.read(view.reader.user,
					  owner.place + AT_WRITTEN * PAGE,
					  bytes, sizeof(bytes), &copied),
			 PLIM_OK);
	assert_int_equal(copied, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], (unsigned char)(i * 7 + 1));
	/* Page 0 belongs to nobody. */
	assert_int_equal(
	    view.reader.read(view.reader.user, 0, bytes, 16, &copied), PLIM_OK);
	assert_int_equal(copied, 0);
	assert_int_equal(plimp_system_lens_bill(view.lens).bytes_read,
			 sizeof(bytes));
	view_close(&view);
	owner_end(&owner);
}

/* Sparse memory: one page of each `stride` is written. */
struct sparse {
	size_t pages;
	size_t stride;
};

static uint64_t sparse_step(int step, void *user)
{
	static char *memory;
	const struct sparse *sparse = user;

	if (step == 0) {
		memory = owner_map(sparse->pages);
		for (size_t i = 0; i < sparse->pages; i += sparse->stride)
			memory[i * PAGE] = (char)(i + 1);
		for (size_t i = sparse->stride / 2; i < sparse->pages;
		     i += 16 * sparse->stride)
			(void)*(volatile char *)(memory + i * PAGE);
	} else if (step == 1) {
		if (madvise(memory, sparse->pages * PAGE, MADV_PAGEOUT) != 0)
			_exit(1);
	} else if (step == 2) {
		owner_share();
	}
	return (uint64_t)(uintptr_t)memory;
}

static uint64_t value_of(plim_count figure)
{
	assert_int_equal(figure.state, PLIM_STATE_KNOWN);
	return figure.value;
}

/* What is found page by page is what smaps says of the mapping. */
static void check_sums(struct view *view, struct owner *owner)
{
	struct plimp_space pages = {0};
	const struct plimp_mapping *one, *other;
	size_t known = 0;

	owner_settle(owner);
	assert_int_equal(
	    plimp_system_lens_smaps(view->lens, &view->space, NULL), PLIM_OK);
	assert_int_equal(plimp_system_lens_maps(view->lens, &pages, NULL),
			 PLIM_OK);
	assert_int_equal(plimp_system_lens_resident(view->lens, &pages, NULL),
			 PLIM_OK);
	assert_int_equal(pages.count, view->space.count);
	for (size_t i = 0; i < pages.count; i++) {
		one = &view->space.items[i];
		other = &pages.items[i];
		assert_true(one->start == other->start);
		assert_int_equal(other->has, PLIMP_MAPPING_PAGES);
		assert_int_equal(other->pss.state, PLIM_STATE_SKIPPED);
		if (kernel_version() < 6007 && geteuid() != 0)
			continue;
		assert_int_equal(value_of(one->resident),
				 value_of(other->resident));
		assert_int_equal(value_of(one->anonymous),
				 value_of(other->anonymous));
		assert_int_equal(value_of(one->swap), value_of(other->swap));
		/* The rest is shared with us, who write to it meanwhile. */
		if (one->start <= owner->place && owner->place < one->end)
			assert_int_equal(value_of(one->private_dirty) +
					     value_of(one->private_clean),
					 value_of(other->exclusive));
		known += value_of(one->resident) > 0;
	}
	assert_true(known > 3);
	assert_non_null(plimp_space_find(&pages, owner->place));
	plimp_space_release(view->host, &pages);
}

static void test_sums(void **state)
{
	struct sparse sparse = {40000, 3};
	struct owner owner;
	struct view view;
	uint64_t resident = 0;

	(void)state;
	owner_start(&owner, sparse_step, &sparse);
	view_open(&view, owner.pid);
	check_sums(&view, &owner);
	for (size_t i = 0; i < view.space.count; i++)
		resident += value_of(view.space.items[i].resident);
	assert_int_equal(resident / 1024,
			 owner_sum_kb(owner.pid, "smaps_rollup", "Rss:"));
	/* 2 is the step that forks. */
	owner_step(&owner);
	owner_step(&owner);
	check_sums(&view, &owner);
	assert_int_equal(
	    value_of(plimp_space_find(&view.space, owner.place)->shared_dirty),
	    value_of(plimp_space_find(&view.space, owner.place)->resident));
	view_close(&view);
	owner_end(&owner);
}

static int host_has_swap(void)
{
	char line[256];
	int lines = 0;
	FILE *swaps = fopen("/proc/swaps", "re");

	while (swaps != NULL && fgets(line, sizeof(line), swaps) != NULL)
		lines++;
	if (swaps != NULL)
		fclose(swaps);
	return lines > 1;
}

static void test_swapped(void **state)
{
	struct sparse sparse = {2000, 2};
	uint8_t pages[2000];
	struct owner owner;
	struct view view;
	size_t swapped = 0;

	(void)state;
	if (!host_has_swap())
		SKIP_BECAUSE("this machine has no swap");
	owner_start(&owner, sparse_step, &sparse);
	owner_step(&owner);
	view_open(&view, owner.pid);
	check_sums(&view, &owner);
	ask(&view, owner.place, sparse.pages, pages);
	for (size_t i = 0; i < sparse.pages; i++)
		swapped += pages[i] == PLIMP_PAGE_SWAPPED;
	assert_int_equal(
	    swapped * PAGE,
	    value_of(plimp_space_find(&view.space, owner.place)->swap));
	assert_true(swapped > 0);
	view_close(&view);
	owner_end(&owner);
}

/* All that is readable is read, and nothing else: not one entry of a page
 * table has changed. */
static void test_unmoved(void **state)
{
	struct sparse sparse = {20000, 5};
	uint64_t *before = calloc(sparse.pages, 8);
	uint64_t *after = calloc(sparse.pages, 8);
	uint8_t *pages = malloc(sparse.pages);
	char *bytes = malloc(PAGE);
	uint64_t tables;
	struct owner owner;
	struct view view;

	(void)state;
	owner_start(&owner, sparse_step, &sparse);
	/* With a child that shares it all: nothing may be copied. */
	owner_step(&owner);
	owner_step(&owner);
	owner_entries(owner.pid, owner.place, sparse.pages, before);
	tables = owner_sum_kb(owner.pid, "status", "VmPTE:");
	view_open(&view, owner.pid);
	assert_int_equal(plimp_system_lens_maps(view.lens, &view.space, NULL),
			 PLIM_OK);
	assert_int_equal(
	    plimp_system_lens_resident(view.lens, &view.space, NULL), PLIM_OK);
	ask(&view, owner.place, sparse.pages, pages);
	for (size_t i = 0; i < sparse.pages; i++) {
		size_t copied = 0;

		if ((pages[i] & PLIMP_PAGE_READABLE) == 0)
			continue;
		assert_int_equal(view.reader.read(view.reader.user,
						  owner.place + i * PAGE, bytes,
						  PAGE, &copied),
				 PLIM_OK);
		assert_int_equal(copied, PAGE);
		if ((pages[i] & PLIMP_PAGE_ZERO) == 0)
			assert_int_equal(bytes[0], (char)(i + 1));
	}
	owner_entries(owner.pid, owner.place, sparse.pages, after);
	assert_memory_equal(before, after, sparse.pages * 8);
	assert_int_equal(owner_sum_kb(owner.pid, "status", "VmPTE:"), tables);
	view_close(&view);
	owner_end(&owner);
	free(before);
	free(after);
	free(pages);
	free(bytes);
}

/* Transparent huge pages are told as such, and so is their zero page. */
#define HUGE_BYTES ((size_t)2 << 20)

static uint64_t huge_step(int step, void *user)
{
	char *memory = owner_map(4 * HUGE_BYTES / PAGE);

	(void)step;
	(void)user;
	memory += HUGE_BYTES - (uintptr_t)memory % HUGE_BYTES;
	(void)madvise(memory, 2 * HUGE_BYTES, MADV_HUGEPAGE);
	memory[0] = 1;
	(void)*(volatile char *)(memory + HUGE_BYTES);
	return (uint64_t)(uintptr_t)memory;
}

static void test_huge(void **state)
{
	uint8_t pages[1024];
	struct owner owner;
	struct view view;
	uint64_t huge;

	(void)state;
	owner_start(&owner, huge_step, NULL);
	view_open(&view, owner.pid);
	huge = owner_sum_kb(owner.pid, "smaps", "AnonHugePages:");
	if (huge == 0 || kernel_version() < 6007) {
		view_close(&view);
		owner_end(&owner);
		SKIP_BECAUSE("no transparent huge page was to be had");
	}
	ask(&view, owner.place, 1024, pages);
	for (int i = 0; i < 512; i++)
		assert_int_equal(pages[i],
				 PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT |
				     PLIMP_PAGE_EXCLUSIVE | PLIMP_PAGE_HUGE);
	for (int i = 512; i < 1024; i++)
		if ((pages[i] & PLIMP_PAGE_RESIDENT) != 0)
			fail_msg("page %d of the huge zero page is %#x", i,
				 pages[i]);
	check_sums(&view, &owner);
	view_close(&view);
	owner_end(&owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kinds),   cmocka_unit_test(test_file_pages),
	    cmocka_unit_test(test_nobodys), cmocka_unit_test(test_bytes),
	    cmocka_unit_test(test_sums),    cmocka_unit_test(test_swapped),
	    cmocka_unit_test(test_unmoved), cmocka_unit_test(test_huge),
	};

	return cmocka_run_group_tests_name("lens_pages", tests, NULL, NULL);
}
