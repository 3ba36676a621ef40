/*
 * test_debug_file.c - which file is taken for a module's debug file: files are
 * invented and put where a debug link or a build id leads, on this machine and
 * below the root of a process that has another one.
 */
#include "invented_elf.h"
#include "unwind/symbols.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ns.h"
#include "skip.h"

static plim_host *host;
static char folder[] = "/tmp/plim-debug-XXXXXX";
static char module[64], beside[64], below[64];
static struct invented own, other;

static uint32_t crc_of(const struct invented *file)
{
	uint32_t sum = 0xffffffffu;

	for (uint64_t i = 0; i < file->size; i++) {
		sum ^= file->bytes[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}

static void write_file(const char *path, const struct invented *file)
{
	FILE *stream = fopen(path, "wb");

	assert_non_null(stream);
	assert_int_equal(fwrite(file->bytes, 1, INVENTED_SIZE, stream),
			 INVENTED_SIZE);
	assert_int_equal(fclose(stream), 0);
}

/* The path that is found for `own`, "" for none: where the process of a lens
 * would find it, or, where that is NULL, here. */
static const char *found_by(plim_host *by, struct plimp_lens *lens,
			    const char *name)
{
	static char path[4096];
	struct plimp_debug_file debug;
	struct plimp_elf elf;

	assert_int_equal(plimp_elf_open(&elf, &own.reader, 0, own.size), 0);
	int code = plimp_debug_file_find(
	    &debug, by, lens, &elf, (plim_bytes){name, strlen(name)}, NULL);

	if (code) {
		assert_int_equal(code, PLIM_ENAME);
		return "";
	}
	assert_int_equal(debug.is_below_target, lens != NULL);
	snprintf(path, sizeof(path), "%s", debug.path);
	plimp_debug_file_close(by, &debug);
	return path;
}

static const char *found(void)
{
	return found_by(host, NULL, module);
}

static int set_up(void **state)
{
	char path[64];

	(void)state;
	assert_int_equal(plim_host_open(&host, NULL, NULL), PLIM_OK);
	assert_non_null(mkdtemp(folder));
	snprintf(module, sizeof(module), "%s/module", folder);
	snprintf(beside, sizeof(beside), "%s/it.debug", folder);
	snprintf(path, sizeof(path), "%s/.debug", folder);
	snprintf(below, sizeof(below), "%s/.debug/it.debug", folder);
	return mkdir(path, 0755);
}

static int tear_down(void **state)
{
	char path[64];

	(void)state;
	unlink(beside);
	unlink(below);
	snprintf(path, sizeof(path), "%s/.debug", folder);
	rmdir(path);
	rmdir(folder);
	plim_host_close(host);
	return 0;
}

static void clean(void)
{
	unlink(beside);
	unlink(below);
	invented_make(&own, 62);
	invented_make(&other, 62);
}

static void test_by_build_id(void **state)
{
	(void)state;
	clean();
	invented_build_id(&own, 0xab);
	invented_debug_link(&own, "it.debug", 1);
	assert_string_equal(found(), "");
	invented_build_id(&other, 0xab);
	write_file(below, &other);
	assert_string_equal(found(), below);
	write_file(beside, &other);
	assert_string_equal(found(), beside);
	/* Another build's file is passed over. */
	invented_build_id(&other, 0xac);
	write_file(beside, &other);
	assert_string_equal(found(), below);
	/* And one of another machine, or without an id, whatever its CRC. */
	invented_make(&other, 183);
	invented_build_id(&other, 0xab);
	write_file(below, &other);
	assert_string_equal(found(), "");
	invented_make(&other, 62);
	write_file(below, &other);
	invented_debug_link(&own, "it.debug", crc_of(&other));
	assert_string_equal(found(), "");
}

static void test_by_crc(void **state)
{
	(void)state;
	clean();
	other.bytes[0x1234] = 77;
	invented_debug_link(&own, "it.debug", crc_of(&other));
	write_file(below, &other);
	assert_string_equal(found(), below);
	other.bytes[0x1235] = 77;
	write_file(below, &other);
	assert_string_equal(found(), "");
}

static void test_odd_files(void **state)
{
	(void)state;
	clean();
	invented_build_id(&own, 0xab);
	invented_debug_link(&own, "it.debug", 1);
	/* A pipe is not waited for, a link to itself not followed for ever,
	 * what is no ELF file not taken. */
	assert_int_equal(mkfifo(beside, 0600), 0);
	assert_string_equal(found(), "");
	unlink(beside);
	assert_int_equal(symlink(beside, beside), 0);
	assert_string_equal(found(), "");
	unlink(beside);
	memset(other.bytes, 0, sizeof(other.bytes));
	write_file(beside, &other);
	assert_string_equal(found(), "");
}

/* Folders of a path up to its last slash. */
static void make_folders(const char *path)
{
	char part[256];

	for (size_t i = 1; path[i] != '\0'; i++) {
		if (path[i] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		if (mkdir(part, 0755) != 0)
			assert_int_equal(errno, EEXIST);
	}
}

static void write_below(const char *root, const char *path,
			const struct invented *file)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	make_folders(whole);
	write_file(whole, file);
}

struct process {
	pid_t pid;
	plim_target *target;
	struct plimp_lens *lens;
};

/* One that waits, with a root of its own; NULL: with ours. */
static void process_start(struct process *process, plim_host *by,
			  const char *root)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	process->pid = fork();
	assert_true(process->pid >= 0);
	if (process->pid == 0) {
		child_bind();
		if ((root != NULL && (chroot(root) != 0 || chdir("/") != 0)) ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_int_equal(
	    plim_target_open(&process->target, by, process->pid, NULL),
	    PLIM_OK);
	assert_int_equal(
	    plimp_system_lens_open(by, process->target, &process->lens, NULL),
	    PLIM_OK);
}

static void process_end(struct process *process)
{
	plimp_system_lens_close(process->lens);
	plim_target_close(process->target);
	kill(process->pid, SIGKILL);
	waitpid(process->pid, NULL, 0);
}

#define BY_ID                                                                \
	"/usr/lib/debug/.build-id/ab/ababababababababababababababababababab" \
	".debug"

/* In a mount namespace, so that /usr/lib/debug is ours to fill. */
static void roots_inside(void *user)
{
	struct process apart, home;
	char root[64], inside[256], link[256];
	plim_host *here;

	(void)user;
	if (mount("none", "/usr/lib", "tmpfs", 0, NULL) != 0 ||
	    mount("none", folder, "tmpfs", 0, NULL) != 0)
		SKIP_BECAUSE("a mount namespace takes root");
	snprintf(root, sizeof(root), "%s/root", folder);
	assert_int_equal(mkdir(root, 0755), 0);
	snprintf(inside, sizeof(inside), "%s/module", root);
	assert_int_equal(plim_host_open(&here, NULL, NULL), PLIM_OK);
	process_start(&apart, here, root);
	process_start(&home, here, NULL);
	clean();

	/* By build id: this machine's is not for the one with another root. */
	invented_build_id(&own, 0xab);
	invented_build_id(&other, 0xab);
	write_below("", BY_ID, &other);
	assert_string_equal(found_by(here, NULL, module), BY_ID);
	assert_string_equal(found_by(here, home.lens, module), BY_ID);
	assert_string_equal(found_by(here, apart.lens, inside), "");
	/* Nor does a link lead there. */
	snprintf(link, sizeof(link), "%s" BY_ID, root);
	make_folders(link);
	write_file(beside, &other);
	assert_int_equal(symlink(beside, link), 0);
	assert_string_equal(found_by(here, apart.lens, inside), "");
	unlink(link);
	assert_int_equal(symlink("../../../../../../.." BY_ID, link), 0);
	assert_string_equal(found_by(here, apart.lens, inside), "");
	unlink(link);
	write_below(root, BY_ID, &other);
	assert_string_equal(found_by(here, apart.lens, inside), BY_ID);

	/* By link: maps tells the path as seen from our root. */
	clean();
	invented_debug_link(&own, "it.debug", crc_of(&other));
	snprintf(link, sizeof(link), "/usr/lib/debug%s/it.debug", root);
	write_below("", link, &other);
	assert_string_equal(found_by(here, NULL, inside), link);
	assert_string_equal(found_by(here, apart.lens, inside), "");
	write_below(root, "/usr/lib/debug/it.debug", &other);
	assert_string_equal(found_by(here, apart.lens, inside),
			    "/usr/lib/debug/it.debug");
	write_below(root, "/.debug/it.debug", &other);
	assert_string_equal(found_by(here, apart.lens, inside),
			    "/.debug/it.debug");
	write_below(root, "/it.debug", &other);
	assert_string_equal(found_by(here, apart.lens, inside), "/it.debug");
	process_end(&apart);
	process_end(&home);
	plim_host_close(here);
}

static void test_of_another_root(void **state)
{
	(void)state;
	ns_run(NULL, roots_inside, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_build_id),
	    cmocka_unit_test(test_by_crc),
	    cmocka_unit_test(test_odd_files),
	    cmocka_unit_test(test_of_another_root),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
