/*
 * test_heaps_core.c - core files of real programs: written by the kernel, and
 * copied from a living process by this test, whole, filtered and cut off. The
 * truth is what glibc said in the process before.
 */
#include "common.h"

#include "corefile.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CORE_FOLDER "/tmp/plimsoll-core-XXXXXX"

static const char *const heap_argv[] = {"heap", "threads", "2",	  "kib",
					"3072", "keep",	   "400", NULL};

struct cores {
	char folder[64];
	char path[512];
	struct spawn spawn;
	plim_host *host;
	plim_heaps *heaps;
	uint64_t heap_start; /* of a thread's arena in it: what was left out */
};

static struct cores cores;

static int cores_setup(void **state)
{
	(void)state;
	memset(&cores, 0, sizeof(cores));
	snprintf(cores.folder, sizeof(cores.folder), CORE_FOLDER);
	assert_non_null(mkdtemp(cores.folder));
	snprintf(cores.path, sizeof(cores.path), "%s/copied", cores.folder);
	cores.host = open_host(0);
	assert_int_equal(plim_heaps_new(&cores.heaps, cores.host, NULL),
			 PLIM_OK);
	return 0;
}

static int cores_teardown(void **state)
{
	DIR *folder = opendir(cores.folder);
	const struct dirent *entry;

	(void)state;
	while (folder != NULL && (entry = readdir(folder)) != NULL)
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder != NULL)
		closedir(folder);
	rmdir(cores.folder);
	plim_heaps_free(cores.heaps);
	plim_host_close(cores.host);
	return 0;
}

/* How a copy differs from what the kernel would write. */
enum copy_how {
	COPY_WHOLE,
	COPY_NO_ARENAS, /* the heaps of threads are left out */
	COPY_NO_LIBC,	/* so is all of libc's data */
	COPY_GDB	/* offsets in bytes, files without segments */
};

static void copy_mapping(struct corefile *core, int mem, int how,
			 const char *line)
{
	unsigned long long start;
	unsigned long long end;
	unsigned long long offset;
	unsigned long inode;
	char access[8];
	char name[256] = "";
	int is_file;
	unsigned flags;
	uint64_t held = 0;
	char *bytes;

	assert_true(sscanf(line, "%llx-%llx %7s %llx %*s %lu %255[^\n]", &start,
			   &end, access, &offset, &inode, name) >= 5);
	if (strcmp(name, "[vvar]") == 0 || strcmp(name, "[vsyscall]") == 0 ||
	    strncmp(name, "[vvar_", 6) == 0)
		return;
	is_file = inode != 0;
	flags = (access[0] == 'r' ? 4u : 0) | (access[1] == 'w' ? 2u : 0) |
		(access[2] == 'x' ? 1u : 0);
	/* As coredump_filter 0x33: private memory, and the first page of a
	 * file that is not written to. */
	if (flags != 0)
		held = is_file && (flags & 2) == 0 ? (offset == 0 ? 4096 : 0)
						   : end - start;
	if (how == COPY_NO_ARENAS && !is_file && start % (64 * MIB) == 0) {
		cores.heap_start = start;
		held = 0;
	}
	if (how == COPY_NO_LIBC && strstr(name, "libc.so") != NULL)
		held = 0;
	bytes = malloc(held + 1);
	assert_non_null(bytes);
	if (held > 0 && pread(mem, bytes, held, (off_t)start) != (ssize_t)held)
		held = 0;
	if (how != COPY_GDB || held > 0)
		corefile_segment(core, start, end, flags, bytes, held);
	free(bytes);
	if (is_file)
		corefile_file(core, start, end, offset, name);
}

/* The process's memory, through its mem file, as a core. It is quiet. */
static void copy_process(pid_t pid, int how)
{
	struct corefile *core = corefile_new();
	char path[64];
	char line[512];
	uint8_t *bytes;
	size_t size;
	FILE *maps;
	int mem;

	core->pid = pid;
	core->unit = how == COPY_GDB ? 1 : 4096;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(mem >= 0);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL)
		copy_mapping(core, mem, how, line);
	fclose(maps);
	close(mem);
	bytes = corefile_write(core, &size);
	corefile_free(core);
	maps = fopen(cores.path, "we");
	assert_non_null(maps);
	assert_int_equal(fwrite(bytes, 1, size, maps), size);
	assert_int_equal(fclose(maps), 0);
	free(bytes);
}

static const plim_heap *core_glibc(void)
{
	for (size_t i = 0; i < plim_heaps_count(cores.heaps); i++) {
		const plim_heap *heap = plim_heaps_at(cores.heaps, i);

		if (plim_heap_about(heap).kind == PLIM_HEAP_OF_GLIBC)
			return heap;
	}
	fail_msg("no glibc in the core");
	return NULL;
}

static uint64_t core_bytes(int figure)
{
	plim_count count = plim_heap_figure(core_glibc(), figure);

	if (count.state != PLIM_STATE_KNOWN)
		fail_msg("%s is %s: %s", plim_heap_figure_name(figure),
			 plim_reason_word(count.method),
			 plim_heap_about(core_glibc()).why);
	return count.value;
}

/* The truth, asked before; residence is not known, and nothing guesses it. */
static void expect_core(void)
{
	static const int lost[] = {
	    PLIM_HEAP_FREE_RESIDENT, PLIM_HEAP_TRIM_RETURNS, PLIM_HEAP_PINNED,
	    PLIM_HEAP_TOP_RETAINED,  PLIM_HEAP_RESIDENT,     PLIM_HEAP_CACHED};
	plim_heaps_facts facts = plim_heaps_about(cores.heaps);
	const struct spawn *spawn = &cores.spawn;
	plim_retention found;

	assert_int_equal(facts.source, PLIM_HEAPS_CORE);
	assert_int_equal(facts.has_residency, 0);
	assert_int_equal(facts.pid, spawn->pid);
	assert_int_equal(core_bytes(PLIM_HEAP_IN_USE) +
			     core_bytes(PLIM_HEAP_TCACHE),
			 spawn_truth(spawn, "uordblks"));
	assert_int_equal(core_bytes(PLIM_HEAP_FREE) +
			     core_bytes(PLIM_HEAP_FASTBIN) +
			     core_bytes(PLIM_HEAP_TOP),
			 spawn_truth(spawn, "fordblks"));
	assert_int_equal(core_bytes(PLIM_HEAP_MMAPPED),
			 spawn_truth(spawn, "hblkhd"));
	assert_int_equal(core_bytes(PLIM_HEAP_UNKNOWN), 0);
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		assert_int_equal(plim_heap_figure(core_glibc(), lost[i]).state,
				 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_retention_find(cores.heaps, NULL, &found),
			 PLIM_OK);
	assert_int_equal(found.parts[PLIM_RETENTION_FREED].value,
			 spawn_truth(spawn, "fordblks") +
			     core_bytes(PLIM_HEAP_TCACHE));
	assert_int_equal(found.retained.bound, PLIM_BOUND_AT_MOST);
}

static void test_copied(void **state)
{
	static const int ways[] = {COPY_WHOLE, COPY_GDB};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		plim_heaps_facts facts;

		spawn_start(&cores.spawn, heap_argv);
		spawn_ask(&cores.spawn, "truth");
		copy_process(cores.spawn.pid, ways[i]);
		assert_int_equal(
		    plim_heaps_walk_core(cores.heaps, cores.path, NULL, NULL),
		    PLIM_OK);
		expect_core();
		facts = plim_heaps_about(cores.heaps);
		assert_int_equal(facts.is_cut, 0);
		assert_string_equal(facts.process, "workload");
		assert_true(facts.left_out_bytes.value > 0);
		spawn_end(&cores.spawn);
	}
}

/* What was left out is unknown: it is not counted as used, nor as free, and
 * the walk does not say that it is whole. */
static void test_filtered(void **state)
{
	const plim_heap *heap;
	plim_count use;

	(void)state;
	spawn_start(&cores.spawn, heap_argv);
	spawn_ask(&cores.spawn, "truth");
	copy_process(cores.spawn.pid, COPY_NO_ARENAS);
	spawn_end(&cores.spawn);
	assert_true(cores.heap_start != 0);
	assert_int_equal(
	    plim_heaps_walk_core(cores.heaps, cores.path, NULL, NULL), PLIM_OK);
	heap = core_glibc();
	use = plim_heap_figure(heap, PLIM_HEAP_IN_USE);
	if (use.state == PLIM_STATE_KNOWN) {
		assert_int_equal(use.bound, PLIM_BOUND_AT_LEAST);
		assert_true(core_bytes(PLIM_HEAP_UNKNOWN) > 2 * MIB);
		assert_true(use.value < spawn_truth(&cores.spawn, "uordblks"));
	} else {
		assert_int_equal(plim_heap_about(heap).depth,
				 PLIM_DEPTH_REFUSED);
		assert_true(strlen(plim_heap_about(heap).why) > 0);
	}
	spawn_start(&cores.spawn, heap_argv);
	copy_process(cores.spawn.pid, COPY_NO_LIBC);
	spawn_end(&cores.spawn);
	assert_int_equal(
	    plim_heaps_walk_core(cores.heaps, cores.path, NULL, NULL), PLIM_OK);
	heap = core_glibc();
	assert_int_equal(plim_heap_about(heap).depth, PLIM_DEPTH_REFUSED);
	assert_int_equal(plim_heap_figure(heap, PLIM_HEAP_IN_USE).value, 0);
	assert_int_not_equal(plim_heap_figure(heap, PLIM_HEAP_IN_USE).state,
			     PLIM_STATE_KNOWN);
}

/* Cut off at any place: never more in use than there was, and what is said to
 * be whole is right. */
static void test_cut(void **state)
{
	struct stat whole;
	uint64_t truth;
	int told = 0;

	(void)state;
	spawn_start(&cores.spawn, heap_argv);
	spawn_ask(&cores.spawn, "truth");
	truth = spawn_truth(&cores.spawn, "uordblks");
	copy_process(cores.spawn.pid, COPY_WHOLE);
	spawn_end(&cores.spawn);
	assert_int_equal(stat(cores.path, &whole), 0);
	for (int part = 15; part >= 0; part--) {
		plim_error error = {.code = 0};
		plim_count use;
		int code;

		assert_int_equal(
		    truncate(cores.path, whole.st_size / 16 * part), 0);
		code =
		    plim_heaps_walk_core(cores.heaps, cores.path, NULL, &error);
		if (code != PLIM_OK) {
			assert_int_equal(code, PLIM_EMALFORMED);
			assert_true(error.detail[0] != '\0');
			assert_string_equal(error.path, cores.path);
			continue;
		}
		told++;
		assert_int_equal(plim_heaps_about(cores.heaps).is_cut, 1);
		use = plim_heaps_sum(cores.heaps, PLIM_HEAP_IN_USE);
		if (use.state != PLIM_STATE_KNOWN)
			continue;
		assert_true(use.value <= truth);
		if (use.bound == PLIM_BOUND_EXACT)
			assert_true(use.value + core_bytes(PLIM_HEAP_TCACHE) ==
				    truth);
	}
	assert_true(told > 8);
}

/* No core: what it is, and what to do; the last result stays. */
static void test_no_core(void **state)
{
	plim_error error = {.code = 0};
	uint64_t before;
	FILE *file;

	(void)state;
	spawn_start(&cores.spawn, heap_argv);
	copy_process(cores.spawn.pid, COPY_WHOLE);
	spawn_end(&cores.spawn);
	assert_int_equal(
	    plim_heaps_walk_core(cores.heaps, cores.path, NULL, NULL), PLIM_OK);
	before = core_bytes(PLIM_HEAP_IN_USE);
	assert_int_equal(
	    plim_heaps_walk_core(cores.heaps, "/proc/self/exe", NULL, &error),
	    PLIM_EMALFORMED);
	assert_non_null(strstr(error.detail, "no core"));
	assert_int_equal(
	    plim_heaps_walk_core(cores.heaps, "/nonexistent", NULL, &error),
	    PLIM_ESYSTEM);
	assert_string_equal(error.path, "/nonexistent");
	assert_int_not_equal(
	    plim_heaps_walk_core(cores.heaps, "/dev/zero", NULL, &error),
	    PLIM_OK);
	assert_int_not_equal(
	    plim_heaps_walk_core(cores.heaps, cores.folder, NULL, &error),
	    PLIM_OK);
	file = fopen(cores.path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite("\x28\xb5\x2f\xfd", 1, 4, file), 4);
	for (int i = 0; i < 100; i++)
		assert_int_equal(fputc('x', file), 'x');
	assert_int_equal(fclose(file), 0);
	assert_int_equal(
	    plim_heaps_walk_core(cores.heaps, cores.path, NULL, &error),
	    PLIM_EMALFORMED);
	assert_non_null(strstr(error.detail, "zstd -d"));
	assert_int_equal(core_bytes(PLIM_HEAP_IN_USE), before);
}

/* The file that appeared in the folder, or 0. */
static int core_appeared(void)
{
	DIR *folder = opendir(cores.folder);
	const struct dirent *entry;
	int found = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL)
		if (strncmp(entry->d_name, "core", 4) == 0) {
			snprintf(cores.path, sizeof(cores.path), "%s/%s",
				 cores.folder, entry->d_name);
			found = 1;
		}
	closedir(folder);
	return found;
}

/* One that the kernel writes, where it writes cores into the folder of the
 * process. */
static void test_kernel(void **state)
{
	const struct rlimit no_limit = {RLIM_INFINITY, RLIM_INFINITY};
	char pattern[128] = "|";
	char before[4096];
	FILE *file = fopen("/proc/sys/kernel/core_pattern", "re");
	int status = 0;

	(void)state;
	if (file != NULL) {
		if (fgets(pattern, sizeof(pattern), file) == NULL)
			pattern[0] = '|';
		fclose(file);
	}
	if (strncmp(pattern, "core", 4) != 0)
		SKIP_BECAUSE("this machine writes no core files into the "
			     "folder of the process");
	assert_non_null(getcwd(before, sizeof(before)));
	spawn_path("heap"); /* found before the folder changes */
	assert_int_equal(chdir(cores.folder), 0);
	spawn_start(&cores.spawn, heap_argv);
	assert_int_equal(chdir(before), 0);
	if (prlimit(cores.spawn.pid, RLIMIT_CORE, &no_limit, NULL) != 0) {
		spawn_end(&cores.spawn);
		SKIP_BECAUSE("this user may write no core files");
	}
	spawn_ask(&cores.spawn, "truth");
	assert_int_equal(kill(cores.spawn.pid, SIGQUIT), 0);
	assert_int_equal(child_wait(cores.spawn.pid, &status, 30000), 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT);
	if (!WCOREDUMP(status) || !core_appeared())
		SKIP_BECAUSE("the kernel wrote no core file");
	assert_int_equal(
	    plim_heaps_walk_core(cores.heaps, cores.path, NULL, NULL), PLIM_OK);
	expect_core();
	assert_string_equal(plim_heaps_about(cores.heaps).process, "heap");
	assert_int_equal(plim_heaps_about(cores.heaps).is_cut, 0);
}

int main(void)
{
#define CORE_TEST(name) \
	cmocka_unit_test_setup_teardown(name, cores_setup, cores_teardown)
	const struct CMUnitTest tests[] = {
	    CORE_TEST(test_copied), CORE_TEST(test_filtered),
	    CORE_TEST(test_cut),    CORE_TEST(test_no_core),
	    CORE_TEST(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
