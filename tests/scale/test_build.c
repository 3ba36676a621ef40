/*
 * test_build.c - the tree of a build tool: make -j2 with hundreds of short
 * compilers, each of them three processes, most of which no round ever sees.
 * What the tree is said to have used must be what wait4() charges in the end
 * for make and all that it waited for, whether rounds are dense or sparse; and
 * in each round what the kernel's account of a cgroup says at that moment,
 * where one can be made.
 */
#include "scale.h"

#include "account.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUILD_FILES    200
#define BUILD_PER_CENT 3
#define BUILD_SECONDS  60

/* Children-time comes in ticks, up to two of them for each living parent, of
 * which there are five at most; besides, who was born after the pass over all
 * processes has no place in the round. The other way the account of the cgroup
 * is late by a tick on each CPU. */
#define BUILD_UNDER_NS 300000000
#define BUILD_OVER_NS  20000000

struct build {
	char folder[256];
	pid_t make;
	plim_host *host;
	plim_tree *tree;
	plim_target *root;
	uint64_t rounds;
	uint64_t most; /* members in one round */
	uint64_t born;
	struct account account;
	uint64_t over;	/* at most, of the account */
	uint64_t under; /* the same */
};

static struct build build;

static void build_file(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", build.folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void build_remove(void)
{
	char path[512];

	for (int i = 0; i < BUILD_FILES; i++)
		for (int object = 0; object < 2; object++) {
			snprintf(path, sizeof(path), "%s/f%d.%c", build.folder,
				 i, object ? 'o' : 'c');
			unlink(path);
		}
	snprintf(path, sizeof(path), "%s/Makefile", build.folder);
	unlink(path);
	assert_int_equal(rmdir(build.folder), 0);
}

static void build_sources(void)
{
	static char makefile[BUILD_FILES * 16 + 256];
	char name[32];
	char text[512];
	size_t at;

	snprintf(build.folder, sizeof(build.folder), "%s/plim-build.XXXXXX",
		 getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(build.folder));
	at = (size_t)snprintf(makefile, sizeof(makefile), "all:");
	for (int i = 0; i < BUILD_FILES; i++) {
		snprintf(name, sizeof(name), "f%d.c", i);
		snprintf(text, sizeof(text),
			 "int printf(const char *, ...);\n"
			 "int f%d(const char *s)\n{\n\tint n = %d;\n\n"
			 "\tfor (; *s != 0; s++)\n\t\tn = n * 31 + *s;\n"
			 "\tprintf(\"%%d\", n);\n\treturn n;\n}\n",
			 i, i);
		build_file(name, text);
		at += (size_t)snprintf(makefile + at, sizeof(makefile) - at,
				       " f%d.o", i);
	}
	snprintf(makefile + at, sizeof(makefile) - at,
		 "\n%%.o: %%.c\n\tcc -c -o $@ $<\n");
	build_file("Makefile", makefile);
}

static int build_has(const char *program)
{
	const char *folders[] = {"/usr/bin", "/usr/local/bin", "/bin"};
	char path[64];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], program);
		if (access(path, X_OK) == 0)
			return 1;
	}
	return 0;
}

static int build_setup(void **state)
{
	(void)state;
	memset(&build, 0, sizeof(build));
	if (!build_has("make") || !build_has("cc"))
		SKIP_BECAUSE("make or cc is not installed");
	build_sources();
	build.host = open_host(0);
	assert_int_equal(plim_tree_new(&build.tree, build.host, NULL), PLIM_OK);
	return 0;
}

static int build_teardown(void **state)
{
	(void)state;
	if (build.make > 0) {
		kill(build.make, SIGKILL);
		waitpid(build.make, NULL, 0);
	}
	account_close(&build.account);
	plim_target_close(build.root);
	plim_tree_free(build.tree);
	plim_host_close(build.host);
	if (build.folder[0] != '\0')
		build_remove();
	return 0;
}

static void build_start(void)
{
	fflush(stdout);
	build.make = fork();
	assert_true(build.make >= 0);
	if (build.make == 0) {
		int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

		child_bind();
		account_join(&build.account);
		unsetenv("MAKEFLAGS");
		dup2(nothing, 1);
		if (chdir(build.folder) == 0)
			execlp("make", "make", "-s", "-j2", (char *)NULL);
		_exit(127);
	}
	build.root = open_target(build.host, build.make);
}

/* 1 when make has ended; it is not reaped. */
static int build_ended(void)
{
	siginfo_t info = {0};

	assert_int_equal(
	    waitid(P_PID, (id_t)build.make, &info, WEXITED | WNOWAIT | WNOHANG),
	    0);
	return info.si_pid == build.make;
}

/* The account before the round, and after it. */
static void build_compare(uint64_t total, uint64_t least, uint64_t most)
{
	if (most == 0)
		return;
	if (total > most && total - most > build.over)
		build.over = total - most;
	if (total < least && least - total > build.under)
		build.under = least - total;
}

static uint64_t build_round(uint64_t before)
{
	plim_tree_options options = {
	    .size = sizeof(options),
	    .sticky = 1,
	};
	uint64_t least = account_cpu_ns(&build.account);
	uint64_t most;
	plim_count total;
	plim_tree_facts facts;

	assert_int_equal(
	    plim_tree_usage(build.tree, build.root, &options, NULL), PLIM_OK);
	most = account_cpu_ns(&build.account);
	total = plim_tree_total(build.tree, PLIM_FIELD_CPU);
	facts = plim_tree_about(build.tree);
	assert_int_equal(total.state, PLIM_STATE_KNOWN);
	if (total.value < before)
		fail_msg("round %" PRIu64 ": %" PRIu64 " ns after %" PRIu64,
			 build.rounds, total.value, before);
	if (build.rounds > 0) {
		plim_count change =
		    plim_tree_change(build.tree, PLIM_FIELD_CPU);

		assert_int_equal(change.state, PLIM_STATE_KNOWN);
		assert_true(change.value <= total.value);
		assert_int_equal(plim_tree_cpu_percent(build.tree).state,
				 PLIM_STATE_KNOWN);
	}
	build_compare(total.value, least, most);
	if (facts.members > build.most)
		build.most = facts.members;
	build.born += facts.born;
	build.rounds++;
	return total.value;
}

static uint64_t build_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u +
	       (uint64_t)time.tv_usec * 1000u;
}

static void build_tell(unsigned every_ms, uint64_t total, uint64_t truth)
{
	printf("every %u ms: %" PRIu64 " rounds, %" PRIu64
	       " members seen, at most %" PRIu64 " at once, %u kept: %" PRIu64
	       " ns of CPU, truth %" PRIu64 " (%+.2f %%)\n",
	       every_ms, build.rounds, build.born, build.most,
	       plim_tree_about(build.tree).kept, total, truth,
	       100.0 * ((double)total - (double)truth) / (double)truth);
	if (build.account.folder[0] != '\0')
		printf("in a round at most %.1f ms above, %.1f ms below the "
		       "cgroup's account\n",
		       (double)build.over / 1e6, (double)build.under / 1e6);
}

/* The kernel's account of blocks is that of bytes, in 512s. The counters of a
 * process that has ended are refused to an ordinary user, so that what make
 * was charged for last is not seen: then the total says "at least". */
static void build_expect_written(uint64_t truth)
{
	plim_count written = plim_tree_total(build.tree, PLIM_FIELD_DISK_WRITE);

	printf("%" PRIu64 " bytes written, truth %" PRIu64 "\n", written.value,
	       truth);
	assert_int_equal(written.state, PLIM_STATE_KNOWN);
	if (geteuid() == 0)
		assert_int_equal(written.value, truth);
	assert_true(written.value <= truth);
	if (written.value < truth)
		assert_int_equal(written.bound, PLIM_BOUND_AT_LEAST);
}

static void build_run(unsigned every_ms)
{
	uint64_t end = child_monotonic_ns() + BUILD_SECONDS * 1000000000ull;
	uint64_t total = 0;
	uint64_t truth;
	struct rusage usage;
	int status;

	account_open(&build.account);
	build_start();
	while (!build_ended()) {
		assert_true(child_monotonic_ns() < end);
		total = build_round(total);
		child_sleep_ms(every_ms);
	}
	total = build_round(total);
	assert_int_equal(wait4(build.make, &status, 0, &usage), build.make);
	build.make = 0;
	assert_int_equal(status, 0);
	truth = build_ns(usage.ru_utime) + build_ns(usage.ru_stime);
	build_tell(every_ms, total, truth);
	expect_near(total, truth, BUILD_PER_CENT, 0);
	build_expect_written((uint64_t)usage.ru_oublock * 512);
	assert_true(build.over <= BUILD_OVER_NS);
	assert_true(build.under <= BUILD_UNDER_NS);
	/* Its own time is all that is left of an ended root; nothing runs. */
	assert_int_equal(plim_tree_usage(build.tree, build.root, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(plim_tree_size(build.tree), 0);
}

static void test_dense(void **state)
{
	(void)state;
	build_run(10);
}

static void test_sparse(void **state)
{
	(void)state;
	build_run(400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_dense, build_setup,
					    build_teardown),
	    cmocka_unit_test_setup_teardown(test_sparse, build_setup,
					    build_teardown),
	};

	return cmocka_run_group_tests_name("a build", tests, NULL, NULL);
}
