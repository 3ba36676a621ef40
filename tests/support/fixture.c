/*
 * fixture.c - a made-up proc file system (fixture.h). All of its contents are
 * synthetic: written after the formats of Linux 6.18, recorded nowhere.
 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

void fixture_new(struct fixture *fixture)
{
	const char *folder = getenv("TMPDIR");

	if (folder == NULL)
		folder = "/tmp";
	snprintf(fixture->root, sizeof(fixture->root), "%s/plim-fixture.XXXXXX",
		 folder);
	assert_non_null(mkdtemp(fixture->root));
	/* Other users read it, too. */
	assert_int_equal(chmod(fixture->root, 0755), 0);
}

static void fixture_path(const struct fixture *fixture, const char *path,
			 char *full, size_t size)
{
	int length = snprintf(full, size, "%s/%s", fixture->root, path);

	assert_true(length > 0 && (size_t)length < size);
}

void fixture_file(struct fixture *fixture, const char *path, const void *bytes,
		  size_t size)
{
	char full[512];
	int file;

	fixture_path(fixture, path, full, sizeof(full));
	for (char *at = full + strlen(fixture->root) + 1;
	     (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		if (mkdir(full, 0755) != 0)
			assert_int_equal(errno, EEXIST);
		*at = '/';
	}
	file = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, size), (ssize_t)size);
	close(file);
}

void fixture_text(struct fixture *fixture, const char *path, const char *text)
{
	fixture_file(fixture, path, text, strlen(text));
}

void fixture_host(struct fixture *fixture, unsigned long swap_kb)
{
	char text[256];

	fixture_text(fixture, "stat",
		     "cpu  100 0 100 1000 0 0 0 0 0 0\n"
		     "cpu0 50 0 50 500 0 0 0 0 0 0\n"
		     "cpu1 50 0 50 500 0 0 0 0 0 0\n"
		     "intr 1\nctxt 1\nbtime 1700000000\nprocesses 100\n"
		     "procs_running 1\nprocs_blocked 0\n");
	fixture_text(fixture, "uptime", "100000.00 190000.00\n");
	fixture_text(fixture, "loadavg", "0.00 0.00 0.00 1/100 100\n");
	fixture_text(fixture, "version", "Linux version 6.18.0 (synthetic)\n");
	snprintf(text, sizeof(text),
		 "MemTotal:        8000000 kB\nMemFree:         4000000 kB\n"
		 "SwapTotal:       %7lu kB\nSwapFree:        %7lu kB\n",
		 swap_kb, swap_kb);
	fixture_text(fixture, "meminfo", text);
	fixture_text(fixture, "sys/kernel/random/boot_id",
		     "01234567-89ab-cdef-0123-456789abcdef\n");
	fixture_text(fixture, "sys/kernel/osrelease", "6.18.0-synthetic\n");
	fixture_text(fixture, "sys/kernel/task_delayacct", "1\n");
	fixture_text(fixture, "self/mountinfo",
		     "22 1 0:20 / /proc rw,relatime - proc proc rw\n");
}

void fixture_process(struct fixture *fixture, long pid, const char *name,
		     size_t name_size)
{
	char path[64];
	char text[1024];
	size_t at;

	at = (size_t)snprintf(text, sizeof(text), "%ld (", pid);
	memcpy(text + at, name, name_size);
	at += name_size;
	at += (size_t)snprintf(
	    text + at, sizeof(text) - at,
	    ") S 1 %ld %ld 0 -1 4194304 1111 0 22 0 333 444 5 6 20 -5 7 0 "
	    "123456 10240000 100 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 "
	    "0 17 1 0 0 25 0 0 1 1 1 1000 1017 1 1 0\n",
	    pid, pid);
	snprintf(path, sizeof(path), "%ld/stat", pid);
	fixture_file(fixture, path, text, at);
	snprintf(path, sizeof(path), "%ld/task/%ld/stat", pid, pid);
	fixture_file(fixture, path, text, at);
	snprintf(path, sizeof(path), "%ld/statm", pid);
	fixture_text(fixture, path, "2500 100 60 10 0 200 0\n");
	snprintf(path, sizeof(path), "%ld/task/%ld/statm", pid, pid);
	fixture_text(fixture, path, "2500 100 60 10 0 200 0\n");
	snprintf(text, sizeof(text),
		 "Name:\tfixture\nUmask:\t0022\nState:\tS (sleeping)\n"
		 "Tgid:\t%ld\nNgid:\t0\nPid:\t%ld\nPPid:\t1\nTracerPid:\t0\n"
		 "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\n"
		 "VmPeak:\t   10000 kB\nVmHWM:\t     480 kB\n"
		 "VmRSS:\t     400 kB\nRssAnon:\t     160 kB\n"
		 "RssFile:\t     232 kB\nRssShmem:\t       8 kB\n"
		 "VmPTE:\t      40 kB\nVmSwap:\t      12 kB\nThreads:\t7\n"
		 "voluntary_ctxt_switches:\t77\n"
		 "nonvoluntary_ctxt_switches:\t8\n",
		 pid, pid);
	snprintf(path, sizeof(path), "%ld/status", pid);
	fixture_text(fixture, path, text);
	snprintf(path, sizeof(path), "%ld/task/%ld/status", pid, pid);
	fixture_text(fixture, path, text);
	snprintf(path, sizeof(path), "%ld/io", pid);
	fixture_text(fixture, path,
		     "rchar: 1\nwchar: 2\nsyscr: 30\nsyscw: 40\n"
		     "read_bytes: 4096\nwrite_bytes: 8192\n"
		     "cancelled_write_bytes: 12288\n");
	snprintf(path, sizeof(path), "%ld/schedstat", pid);
	fixture_text(fixture, path, "7770000000 5550000 99\n");
	snprintf(path, sizeof(path), "%ld/task/%ld/schedstat", pid, pid);
	fixture_text(fixture, path, "7770000000 5550000 99\n");
	snprintf(path, sizeof(path), "%ld/oom_score", pid);
	fixture_text(fixture, path, "333\n");
	snprintf(path, sizeof(path), "%ld/cgroup", pid);
	fixture_text(fixture, path, "0::/system.slice/made-up.service\n");
	snprintf(path, sizeof(path), "%ld/cmdline", pid);
	fixture_file(fixture, path, "fixture\0--option\0", 17);
}

void fixture_remove(struct fixture *fixture, const char *path)
{
	char full[512];

	fixture_path(fixture, path, full, sizeof(full));
	assert_int_equal(unlink(full), 0);
}

void fixture_mode(struct fixture *fixture, const char *path, mode_t mode)
{
	char full[512];

	fixture_path(fixture, path, full, sizeof(full));
	assert_int_equal(chmod(full, mode), 0);
}

static int fixture_unlink(const char *path, const struct stat *about, int type,
			  struct FTW *walk)
{
	(void)about;
	(void)type;
	(void)walk;
	return remove(path);
}

void fixture_free(struct fixture *fixture)
{
	if (fixture->root[0] == '\0')
		return;
	nftw(fixture->root, fixture_unlink, 16,
	     FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	fixture->root[0] = '\0';
}
