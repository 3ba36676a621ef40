/*
 * test_lens_file.c - the file behind a mapping is that file or none, whatever
 * stands at its path by now, and nothing that is opened can make us wait; a
 * path of the target's leads to no file but one below its root.
 */
#include "owner.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* What a lens opens by a path of the target's, by its first letter; the code
 * where it opens none. */
static int look_at(struct view *view, const char *path)
{
	struct plimp_file file;
	size_t copied = 0;
	char letter = 0;
	int code;

	memset(&file, 0, sizeof(file));
	code = plimp_system_lens_path(view->lens, path, PLIMP_PATH_OWN, &file,
				      NULL);
	if (code != PLIM_OK) {
		assert_null(file.system);
		return code;
	}
	assert_int_equal(
	    file.reader.read(file.reader.user, 0, &letter, 1, &copied),
	    PLIM_OK);
	assert_int_equal(file.owner, geteuid());
	plimp_system_file_close(view->host, &file);
	return letter;
}

/* Below `folder` the target has a root of its own, with links in it. Outside
 * of it lies what it may not lead us to: a file of Bs of the same name. */
struct cage {
	char folder[64];
	char outside[64];
};

static void make(const char *folder, const char *name, char letter)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	write_file(path, letter);
}

static void link_to(const char *folder, const char *name, const char *target)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(symlink(target, path), 0);
}

static uint64_t caged_step(int step, void *user)
{
	const struct cage *cage = user;

	(void)step;
	if (chroot(cage->folder) != 0 || chdir("/") != 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
	return 0;
}

static void cage_fill(const struct cage *cage)
{
	char path[256];

	make(cage->folder, "in", 'A');
	make(cage->outside, "out", 'B');
	snprintf(path, sizeof(path), "%s%s", cage->folder, "/tmp");
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s%s", cage->folder, cage->outside);
	assert_int_equal(mkdir(path, 0755), 0);
	make(path, "out", 'C');
	link_to(cage->folder, "relative", "tmp/../in");
	link_to(cage->folder, "absolute", "/in");
	snprintf(path, sizeof(path), "%s/out", cage->outside);
	/* Its own one of that name, and never ours. */
	link_to(cage->folder, "leads-out", path);
	link_to(cage->folder, "passwd", "/etc/passwd");
	snprintf(path, sizeof(path), "../../../../..%s/out", cage->outside);
	link_to(cage->folder, "climbs", path);
	link_to(cage->folder, "loop", "loop");
	link_to(cage->folder, "folder", "tmp");
	snprintf(path, sizeof(path), "%s/pipe", cage->folder);
	assert_int_equal(mkfifo(path, 0666), 0);
}

static void cage_check(struct view *view, const char *outside)
{
	char path[256];

	assert_int_equal(look_at(view, "/in"), 'A');
	assert_int_equal(look_at(view, "//tmp/.././in"), 'A');
	assert_int_equal(look_at(view, "/../../in"), 'A');
	assert_int_equal(look_at(view, "/relative"), 'A');
	assert_int_equal(look_at(view, "/absolute"), 'A');
	assert_int_equal(look_at(view, "/folder/../in"), 'A');
	assert_int_equal(look_at(view, "/leads-out"), 'C');
	assert_int_equal(look_at(view, "/climbs"), 'C');
	snprintf(path, sizeof(path), "%s/out", outside);
	assert_int_equal(look_at(view, path), 'C');
	snprintf(path, sizeof(path), "/folder/../%s/out", outside);
	assert_int_equal(look_at(view, path), 'C');
	assert_int_equal(look_at(view, "/passwd"), PLIM_ENAME);
	assert_int_equal(look_at(view, "/in/below"), PLIM_ENAME);
	assert_int_equal(look_at(view, "/nothing"), PLIM_ENAME);
	assert_int_equal(look_at(view, "/loop"), PLIM_ESYSTEM);
	assert_int_equal(look_at(view, "/tmp"), PLIM_EUNSUPPORTED);
	assert_int_equal(look_at(view, "/"), PLIM_EUNSUPPORTED);
	assert_int_equal(look_at(view, "/pipe"), PLIM_EUNSUPPORTED);
	assert_int_equal(look_at(view, "in"), PLIM_EINVAL);
}

/* openat2() answers ENOSYS from here on, as an older kernel does. */
static void refuse_openat2(void)
{
	const struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 437, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {4, (struct sock_filter *)code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		SKIP_BECAUSE("no filter of system calls can be set here");
}

static void caged_inside(void *user)
{
	struct cage *cage = user;
	struct owner owner;
	struct view view;

	owner_start(&owner, caged_step, cage);
	view_open(&view, owner.pid);
	cage_check(&view, cage->outside);
	refuse_openat2();
	errno = 0;
	assert_int_equal(syscall(437, AT_FDCWD, "/", NULL, 0), -1);
	assert_int_equal(errno, ENOSYS);
	cage_check(&view, cage->outside);
	view_close(&view);
	owner_end(&owner);
}

static void cage_new(struct cage *cage)
{
	if (geteuid() != 0)
		SKIP_BECAUSE("chroot takes root");
	strcpy(cage->folder, "/tmp/plim-cage-XXXXXX");
	strcpy(cage->outside, "/tmp/plim-outside-XXXXXX");
	assert_non_null(mkdtemp(cage->folder));
	assert_non_null(mkdtemp(cage->outside));
	assert_int_equal(chmod(cage->folder, 0755), 0);
	assert_int_equal(chmod(cage->outside, 0755), 0);
}

static void cage_free(const struct cage *cage)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf '%s' '%s'", cage->folder,
		 cage->outside);
	assert_int_equal(system(command), 0);
}

/* A path is the target's: no link of its leads us to a file of ours, with and
 * without the call that promises this. */
static void test_caged(void **state)
{
	struct cage cage;

	(void)state;
	cage_new(&cage);
	cage_fill(&cage);
	child_run(caged_inside, &cage);
	cage_free(&cage);
}

static uint64_t no_step(int step, void *user)
{
	(void)user;
	return (uint64_t)step;
}

/* Another user's file is not taken for the target's; and what was there when
 * the target ended is still found, if it was asked before. */
static void test_owned(void **state)
{
	struct place place;
	struct owner owner;
	struct view view;

	(void)state;
	place_new(&place);
	write_file(place.path, 'A');
	write_file(place.other, 'B');
	owner_start(&owner, no_step, NULL);
	view_open(&view, owner.pid);
	assert_int_equal(plimp_system_lens_inner_pid(view.lens), owner.pid);
	assert_int_equal(look_at(&view, place.path), 'A');
	if (geteuid() == 0) {
		assert_int_equal(chown(place.other, FILE_USER, 0), 0);
		assert_int_equal(look_at(&view, place.other), PLIM_EDENIED);
	}
	owner_end(&owner);
	assert_int_equal(look_at(&view, place.path), 'A');
	if (geteuid() == 0)
		assert_int_equal(look_at(&view, place.other), PLIM_EDENIED);
	assert_int_equal(plimp_system_lens_inner_pid(view.lens), owner.pid);
	view_close(&view);
	owner_start(&owner, no_step, NULL);
	view_open(&view, owner.pid);
	owner_end(&owner);
	assert_int_equal(look_at(&view, place.path), PLIM_ENOPROCESS);
	assert_int_equal(plimp_system_lens_inner_pid(view.lens), 0);
	view_close(&view);
	place_free(&place);
}

/* In a chroot maps tells the names as we see them: mapped within, and before.
 * The kernel's own link is not for an ordinary user. */
static uint64_t chroot_step(int step, void *user)
{
	struct cage *cage = user;
	static void *before;
	char name[160];
	void *memory;
	int file;

	if (step == 0) {
		snprintf(name, sizeof(name), "%s/out", cage->outside);
	} else {
		snprintf(name, sizeof(name), "/in");
	}
	if (step == 1 && (chroot(cage->folder) != 0 || chdir("/") != 0))
		_exit(1);
	file = open(name, O_RDONLY | O_CLOEXEC);
	memory = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	if (file < 0 || memory == MAP_FAILED)
		_exit(1);
	close(file);
	if (step == 0)
		before = memory;
	if (step == 1 && setgid(FILE_USER) == 0 && setuid(FILE_USER) == 0)
		prctl(PR_SET_DUMPABLE, 1);
	return step < 2 ? (uint64_t)(uintptr_t)memory
			: (uint64_t)(uintptr_t)before;
}

static void chroot_inside(void *user)
{
	struct cage *cage = user;
	uint64_t before, within;
	struct plimp_file file;
	struct owner owner;
	struct view view;

	owner_start(&owner, chroot_step, cage);
	before = owner.place;
	owner_step(&owner);
	within = owner.place;
	child_become(FILE_USER);
	view_open(&view, owner.pid);
	assert_int_equal(open_mapped(&view, within, &file), PLIM_OK);
	expect_letters(&view, &file, 'A');
	assert_int_equal(open_mapped(&view, before, &file), PLIM_OK);
	expect_letters(&view, &file, 'B');
	view_close(&view);
	owner_end(&owner);
}

static void test_chroot(void **state)
{
	struct cage cage;

	(void)state;
	cage_new(&cage);
	cage_fill(&cage);
	child_run(chroot_inside, &cage);
	cage_free(&cage);
}

/* Whatever is asked for comes out of the block that is kept, or past it, as it
 * is in the file, and no more than the file has; one that was cut short since
 * it was opened gives less. */
static void test_pieces(void **state)
{
	enum { BYTES = 9001 };
	static const size_t sizes[] = {1, 4, 64, 4095, 4096, 4097, 8192, BYTES};
	static unsigned char bytes[BYTES], got[BYTES];
	plim_host *host = open_host(0);
	struct plimp_file file;
	struct place place;
	size_t copied;
	int made;

	(void)state;
	place_new(&place);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 256);
	made = open(place.path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_int_equal(write(made, bytes, BYTES), BYTES);
	memset(&file, 0, sizeof(file));
	assert_int_equal(plimp_system_file_open(host, place.path, &file, NULL),
			 PLIM_OK);
	for (size_t at = 0; at <= BYTES + 8; at += at % 8 == 7 ? 90 : 1)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			size_t left = at < BYTES ? BYTES - at : 0;
			size_t want = sizes[i] < left ? sizes[i] : left;

			assert_int_equal(file.reader.read(file.reader.user, at,
							  got, sizes[i],
							  &copied),
					 PLIM_OK);
			assert_int_equal(copied, want);
			assert_memory_equal(got, bytes + (at < BYTES ? at : 0),
					    want);
		}
	assert_int_equal(ftruncate(made, 5000), 0);
	assert_int_equal(
	    file.reader.read(file.reader.user, 4097, got, 4090, &copied),
	    PLIM_OK);
	assert_int_equal(copied, 5000 - 4097);
	close(made);
	plimp_system_file_close(host, &file);
	place_free(&place);
	plim_host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_named),  cmocka_unit_test(test_linked),
	    cmocka_unit_test(test_none),   cmocka_unit_test(test_paths),
	    cmocka_unit_test(test_caged),  cmocka_unit_test(test_owned),
	    cmocka_unit_test(test_chroot), cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests_name("lens_file", tests, NULL, NULL);
}
