/*
 * test_lens_file.c - the file behind a mapping is that file or none, whatever
 * stands at its path by now, and nothing that is opened can make us wait.
 */
#include "owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_USER 65534

struct place {
	char folder[64];
	char path[128];
	char other[128];
};

static void place_new(struct place *place)
{
	strcpy(place->folder, "/tmp/plim-file-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	assert_int_equal(chmod(place->folder, 0777), 0);
	snprintf(place->path, sizeof(place->path), "%s/mapped", place->folder);
	snprintf(place->other, sizeof(place->other), "%s/other", place->folder);
}

static void place_free(struct place *place)
{
	unlink(place->path);
	unlink(place->other);
	rmdir(place->folder);
}

static void write_file(const char *path, char letter)
{
	char bytes[5000];
	int file = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);

	memset(bytes, letter, sizeof(bytes));
	if (file < 0 ||
	    write(file, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
		_exit(1);
	close(file);
}

/* Maps a file of As. */
static uint64_t mapped_step(int step, void *user)
{
	const struct place *place = user;
	void *memory;
	int file;

	(void)step;
	write_file(place->path, 'A');
	file = open(place->path, O_RDONLY | O_CLOEXEC);
	memory = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	if (file < 0 || memory == MAP_FAILED)
		_exit(1);
	close(file);
	return (uint64_t)(uintptr_t)memory;
}

static int open_mapped(struct view *view, uint64_t address,
		       struct plimp_file *file)
{
	assert_int_equal(plimp_system_lens_maps(view->lens, &view->space, NULL),
			 PLIM_OK);
	memset(file, 0, sizeof(*file));
	return plimp_system_lens_file(view->lens, &view->space,
				      plimp_space_find(&view->space, address),
				      file, NULL);
}

static void expect_letters(struct view *view, struct plimp_file *file,
			   char letter)
{
	uint8_t pages[3];
	char bytes[5001];
	size_t copied = 0;

	assert_int_equal(file->size, 5000);
	assert_int_equal(file->reader.pages(file->reader.user, 0, 3, pages),
			 PLIM_OK);
	assert_int_equal(pages[0], PLIMP_PAGE_READABLE);
	assert_int_equal(pages[1], PLIMP_PAGE_READABLE);
	assert_int_equal(pages[2], 0);
	assert_int_equal(file->reader.has_residency, 0);
	assert_int_equal(
	    file->reader.read(file->reader.user, 0, bytes, 5001, &copied),
	    PLIM_OK);
	assert_int_equal(copied, 5000);
	for (size_t i = 0; i < copied; i++)
		assert_int_equal(bytes[i], letter);
	assert_int_equal(
	    file->reader.read(file->reader.user, UINT64_MAX, bytes, 1, &copied),
	    PLIM_OK);
	assert_int_equal(copied, 0);
	plimp_system_file_close(view->host, file);
	assert_null(file->system);
}

/* By name: without privilege there is no other way. */
static void named_inside(void *user)
{
	struct place *place = user;
	struct plimp_file file;
	struct owner owner;
	struct view view;

	if (geteuid() == 0) {
		child_become(FILE_USER);
		prctl(PR_SET_DUMPABLE, 1);
	}
	owner_start(&owner, mapped_step, place);
	view_open(&view, owner.pid);
	assert_int_equal(open_mapped(&view, owner.place, &file), PLIM_OK);
	expect_letters(&view, &file, 'A');
	/* Another file of the name is not taken for it. */
	write_file(place->other, 'B');
	assert_int_equal(rename(place->other, place->path), 0);
	assert_int_equal(open_mapped(&view, owner.place, &file),
			 PLIM_EUNSUPPORTED);
	assert_null(file.system);
	/* Nor does one that waits for a writer. */
	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(mkfifo(place->path, 0666), 0);
	assert_int_equal(open_mapped(&view, owner.place, &file),
			 PLIM_EUNSUPPORTED);
	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(open_mapped(&view, owner.place, &file),
			 PLIM_EUNSUPPORTED);
	view_close(&view);
	owner_end(&owner);
}

static void test_named(void **state)
{
	struct place place;

	(void)state;
	place_new(&place);
	child_run(named_inside, &place);
	place_free(&place);
}

/* By the kernel's link, even when the file is deleted. */
static void test_linked(void **state)
{
	struct plimp_file file;
	struct place place;
	struct owner owner;
	struct view view;
	int code;

	(void)state;
	place_new(&place);
	owner_start(&owner, mapped_step, &place);
	view_open(&view, owner.pid);
	write_file(place.other, 'B');
	assert_int_equal(rename(place.other, place.path), 0);
	code = open_mapped(&view, owner.place, &file);
	view.space.count = code == PLIM_OK ? view.space.count : 0;
	if (code == PLIM_OK)
		expect_letters(&view, &file, 'A');
	view_close(&view);
	owner_end(&owner);
	place_free(&place);
	if (code != PLIM_OK)
		assert_int_equal(code, PLIM_EUNSUPPORTED);
	if (code != PLIM_OK)
		SKIP_BECAUSE("the links of mappings are not for this user");
}

/* Memory without a file has none. */
static void test_none(void **state)
{
	struct plimp_file file;
	struct place place;
	struct owner owner;
	struct view view;

	(void)state;
	place_new(&place);
	owner_start(&owner, mapped_step, &place);
	view_open(&view, owner.pid);
	assert_int_equal(plimp_system_lens_maps(view.lens, &view.space, NULL),
			 PLIM_OK);
	for (size_t i = 0; i < view.space.count; i++) {
		if (view.space.items[i].inode != 0)
			continue;
		memset(&file, 0, sizeof(file));
		assert_int_equal(plimp_system_lens_file(view.lens, &view.space,
							&view.space.items[i],
							&file, NULL),
				 PLIM_EUNSUPPORTED);
		assert_null(file.system);
	}
	view_close(&view);
	owner_end(&owner);
	place_free(&place);
}

static int open_path(plim_host *host, const char *path)
{
	struct plimp_file file;
	plim_error error = {0};
	int code;

	memset(&file, 0, sizeof(file));
	code = plimp_system_file_open(host, path, &file, &error);
	assert_int_equal(code, error.code);
	if (code != PLIM_OK)
		assert_null(file.system);
	plimp_system_file_close(host, &file);
	return code;
}

static void test_paths(void **state)
{
	plim_host *host = open_host(0);
	struct place place;

	(void)state;
	place_new(&place);
	write_file(place.path, 'A');
	assert_int_equal(mkfifo(place.other, 0666), 0);
	assert_int_equal(open_path(host, place.path), PLIM_OK);
	assert_int_equal(open_path(host, place.other), PLIM_EINVAL);
	assert_int_equal(open_path(host, place.folder), PLIM_EINVAL);
	assert_int_equal(open_path(host, "/dev/zero"), PLIM_EINVAL);
	assert_int_equal(open_path(host, "/nowhere/at/all"), PLIM_ESYSTEM);
	if (geteuid() != 0) {
		assert_int_equal(chmod(place.path, 0), 0);
		assert_int_equal(open_path(host, place.path), PLIM_EDENIED);
	}
	plim_host_close(host);
	place_free(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_named),
	    cmocka_unit_test(test_linked),
	    cmocka_unit_test(test_none),
	    cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests_name("lens_file", tests, NULL, NULL);
}
