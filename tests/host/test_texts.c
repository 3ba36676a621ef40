/*
 * test_texts.c - cgroup, unit, container and program of processes: of this
 * one against its own reading, of one in a group with a hostile name, of one
 * whose group or program was removed, and of made-up ones with lines of every
 * version and order.
 */
#include "common.h"

#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HOSTILE "a b:c\x1b[31m\xff(deleted)"

static void is_text(const plim_process *it, int field, const char *expected)
{
	plim_text text = plim_process_text(it, field);

	if (text.state != PLIM_STATE_KNOWN)
		fail_msg("%s: %s", plim_field_get(field)->name,
			 plim_reason_word(text.method));
	expect_text(text, expected, strlen(expected));
}

static void is_missing(const plim_process *it, int field, int reason)
{
	plim_text text = plim_process_text(it, field);

	assert_int_equal(text.method, reason);
	assert_int_equal(text.state, plim_reason_state(reason));
	assert_int_equal(text.bytes.size, 0);
}

static char *slurp(const char *path)
{
	static char text[65536];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size;

	assert_true(file >= 0);
	size = read(file, text, sizeof(text) - 1);
	close(file);
	assert_true(size >= 0);
	text[size] = '\0';
	return text;
}

/* Some line of our own file ends in the path, and if all are "/" it is one. */
static void test_self(void **state)
{
	plim_host *host = open_host(0);
	plim_usage *usage = new_usage(host);
	plim_usage *other = new_usage(host);
	plim_target *target = open_target(host, (int32_t)getpid());
	plim_snapshot *snapshot = new_snapshot(host);
	plim_text text =
	    plim_process_text(measure_self(usage), PLIM_FIELD_CGROUP);
	char *lines = slurp("/proc/self/cgroup");
	char wanted[8192];
	size_t size;

	(void)state;
	if (lines[0] == '\0') {
		SKIP_BECAUSE("this kernel has no cgroup mounted");
		return;
	}
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_true(text.method == PLIM_METHOD_CGROUP_V1 ||
		    text.method == PLIM_METHOD_CGROUP_V2);
	size = (size_t)snprintf(wanted, sizeof(wanted), ":%.*s\n",
				(int)text.bytes.size, text.bytes.data);
	assert_true(size < sizeof(wanted));
	assert_non_null(strstr(lines, wanted));
	if (text.bytes.size == 1)
		for (const char *at = lines; (at = strchr(at, '\n')); at++)
			assert_memory_equal(at - 2, ":/", 2);
	/* All ways say the same. */
	wanted[size - 1] = '\0';
	is_text(measure(other, target), PLIM_FIELD_CGROUP, wanted + 1);
	take(snapshot);
	is_text(plim_snapshot_find(snapshot, (int32_t)getpid()),
		PLIM_FIELD_CGROUP, wanted + 1);
	plim_snapshot_free(snapshot);
	plim_target_close(target);
	plim_usage_free(other);
	plim_usage_free(usage);
	plim_host_close(host);
}

struct group {
	char path[4096]; /* in the file system */
	char name[256];	 /* below the mount */
};

/* A cgroup2 mount of the whole hierarchy; 0 if there is none. */
static int group_mount(char mount[2048])
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[8192];
	int found = 0;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, " - cgroup2 ") &&
			sscanf(line, "%*d %*d %*s / %2047s", mount) == 1;
	fclose(file);
	return found;
}

/* Puts a process into a group of its own in the mount. */
static int group_make(struct group *group, const char *name, pid_t pid)
{
	char mount[2048];
	char file[5000];
	FILE *procs;

	if (!group_mount(mount))
		return 0;
	snprintf(group->name, sizeof(group->name), "/plim-%d-%s", (int)getpid(),
		 name);
	snprintf(group->path, sizeof(group->path), "%s%s", mount, group->name);
	if (mkdir(group->path, 0755) != 0)
		return 0;
	snprintf(file, sizeof(file), "%s/cgroup.procs", group->path);
	procs = fopen(file, "we");
	if (procs == NULL || fprintf(procs, "%d", (int)pid) < 0 ||
	    fclose(procs) != 0) {
		rmdir(group->path);
		return 0;
	}
	return 1;
}

#define NO_GROUP "no cgroup version 2 file system that this user may write to"

static void test_hostile(void **state)
{
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	plim_usage *usage = new_usage(host);
	struct group group;
	struct spawn spawn;
	plim_target *target;

	(void)state;
	spawn_start(&spawn, (const char *const[]){"idle", NULL});
	if (group_make(&group, HOSTILE ".service", spawn.pid)) {
		target = open_target(host, spawn.pid);
		is_text(measure(usage, target), PLIM_FIELD_CGROUP, group.name);
		is_missing(measure(usage, target), PLIM_FIELD_UNIT,
			   PLIM_REASON_NO_UNIT);
		take(snapshot);
		is_text(plim_snapshot_find(snapshot, spawn.pid),
			PLIM_FIELD_CGROUP, group.name);
		plim_target_close(target);
		spawn_end(&spawn);
		assert_int_equal(rmdir(group.path), 0);
	} else {
		spawn_end(&spawn);
		SKIP_BECAUSE(NO_GROUP);
	}
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

/* A zombie whose group was removed: the kernel says so behind the path. */
static void test_removed(void **state)
{
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	struct group group;
	struct spawn spawn;
	siginfo_t info;

	(void)state;
	spawn_start(&spawn, (const char *const[]){"idle", NULL});
	if (group_make(&group, "gone.service", spawn.pid)) {
		char expected[300];

		kill(spawn.pid, SIGKILL);
		assert_int_equal(
		    waitid(P_PID, (id_t)spawn.pid, &info, WEXITED | WNOWAIT),
		    0);
		assert_int_equal(rmdir(group.path), 0);
		take(snapshot);
		snprintf(expected, sizeof(expected), "%s (deleted)",
			 group.name);
		is_text(plim_snapshot_find(snapshot, spawn.pid),
			PLIM_FIELD_CGROUP, expected);
		is_text(plim_snapshot_find(snapshot, spawn.pid),
			PLIM_FIELD_UNIT, group.name + 1);
		spawn_end(&spawn);
	} else {
		spawn_end(&spawn);
		SKIP_BECAUSE(NO_GROUP);
	}
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

static char *link_of(pid_t pid)
{
	static char target[8192];
	char path[64];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	size = readlink(path, target, sizeof(target) - 1);
	assert_true(size > 0);
	target[size] = '\0';
	return target;
}

static void test_exe(void **state)
{
	plim_host *host = open_host(0);
	plim_usage *usage = new_usage(host);
	plim_snapshot *snapshot = new_snapshot(host);
	plim_target *target;
	struct spawn spawn;
	char path[4096];

	(void)state;
	is_text(measure_self(usage), PLIM_FIELD_EXE, link_of(getpid()));
	spawn_start(&spawn, (const char *const[]){"idle", NULL});
	target = open_target(host, spawn.pid);
	assert_non_null(realpath(spawn_path("idle"), path));
	is_text(measure(usage, target), PLIM_FIELD_EXE, path);
	take(snapshot);
	is_text(plim_snapshot_find(snapshot, spawn.pid), PLIM_FIELD_EXE, path);
	is_text(plim_snapshot_find(snapshot, (int32_t)getpid()), PLIM_FIELD_EXE,
		link_of(getpid()));
	if (plim_snapshot_find(snapshot, 2) != NULL &&
	    known(plim_snapshot_find(snapshot, 2), PLIM_FIELD_KERNEL_THREAD))
		is_missing(plim_snapshot_find(snapshot, 2), PLIM_FIELD_EXE,
			   PLIM_REASON_NO_PROGRAM);
	kill(spawn.pid, SIGKILL);
	waitid(P_PID, (id_t)spawn.pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	is_missing(measure(usage, target), PLIM_FIELD_EXE, PLIM_REASON_ZOMBIE);
	plim_target_close(target);
	spawn_end(&spawn);
	plim_snapshot_free(snapshot);
	plim_usage_free(usage);
	plim_host_close(host);
}

/* The main thread has ended: another one has cgroup and program. */
static void test_leaderless(void **state)
{
	plim_host *host = open_host(0);
	plim_usage *usage = new_usage(host);
	plim_usage *own = new_usage(host);
	plim_target *target;
	struct spawn spawn;
	char path[4096];
	plim_text text;

	(void)state;
	spawn_start(&spawn, (const char *const[]){"leader", "1", NULL});
	target = open_target(host, spawn.pid);
	assert_non_null(realpath(spawn_path("leader"), path));
	is_text(measure(usage, target), PLIM_FIELD_EXE, path);
	/* A child is where its parent is. */
	text = plim_process_text(measure_self(own), PLIM_FIELD_CGROUP);
	expect_text(
	    plim_process_text(plim_usage_process(usage), PLIM_FIELD_CGROUP),
	    text.bytes.data, text.bytes.size);
	plim_target_close(target);
	spawn_end(&spawn);
	plim_usage_free(own);
	plim_usage_free(usage);
	plim_host_close(host);
}

/* A program whose file was removed, with a name of the worst kind. */
static void test_removed_program(void **state)
{
	plim_host *host = open_host(0);
	plim_usage *usage = new_usage(host);
	char folder[] = "/tmp/plim-texts.XXXXXX";
	char path[256];
	char expected[300];
	plim_target *target;
	struct spawn spawn;
	char command[5000];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a\nb\x1b\xff", folder);
	snprintf(command, sizeof(command), "cp '%s' '%s'", spawn_path("idle"),
		 path);
	assert_int_equal(system(command), 0);
	spawn_program(&spawn, path, (const char *const[]){"idle", NULL});
	target = open_target(host, spawn.pid);
	is_text(measure(usage, target), PLIM_FIELD_EXE, path);
	unlink(path);
	rmdir(folder);
	snprintf(expected, sizeof(expected), "%s (deleted)", path);
	is_text(measure(usage, target), PLIM_FIELD_EXE, expected);
	plim_target_close(target);
	spawn_end(&spawn);
	plim_usage_free(usage);
	plim_host_close(host);
}

static struct fixture fixture;

static void made_up(long pid, const char *cgroup)
{
	char path[64];

	fixture_process(&fixture, pid, "made", 4);
	snprintf(path, sizeof(path), "%ld/cgroup", pid);
	if (cgroup != NULL)
		fixture_text(&fixture, path, cgroup);
	else
		fixture_remove(&fixture, path);
}

static const plim_process *find(plim_snapshot *snapshot, int32_t pid)
{
	const plim_process *it = plim_snapshot_find(snapshot, pid);

	assert_non_null(it);
	return it;
}

static void all_missing(const plim_process *it, int reason)
{
	is_missing(it, PLIM_FIELD_CGROUP, reason);
	is_missing(it, PLIM_FIELD_UNIT, reason);
	is_missing(it, PLIM_FIELD_CONTAINER, reason);
}

static void look(plim_snapshot *snapshot)
{
	static char longest[4097] = "/";
	const plim_process *it = find(snapshot, 10);

	memset(longest + 1, 'x', 4095);
	is_text(it, PLIM_FIELD_CGROUP, "/system.slice/ssh.service");
	is_text(it, PLIM_FIELD_UNIT, "ssh.service");
	is_missing(it, PLIM_FIELD_CONTAINER, PLIM_REASON_NO_CONTAINER);
	assert_int_equal(plim_process_text(it, PLIM_FIELD_UNIT).method,
			 PLIM_METHOD_CGROUP_V2);
	it = find(snapshot, 11);
	is_text(it, PLIM_FIELD_CGROUP, "/docker/" ID);
	is_text(it, PLIM_FIELD_CONTAINER, ID);
	is_missing(it, PLIM_FIELD_UNIT, PLIM_REASON_NO_UNIT);
	assert_int_equal(plim_process_text(it, PLIM_FIELD_CONTAINER).method,
			 PLIM_METHOD_CGROUP_V1);
	it = find(snapshot, 12);
	is_text(it, PLIM_FIELD_CGROUP, "/x\x1b\xff:y.scope");
	all_missing(find(snapshot, 13), PLIM_REASON_NO_FILE);
	all_missing(find(snapshot, 14), PLIM_REASON_NO_LINE);
	all_missing(find(snapshot, 15), PLIM_REASON_BAD_TEXT);
	is_text(find(snapshot, 16), PLIM_FIELD_CGROUP, longest);
	all_missing(find(snapshot, 17), PLIM_REASON_SHORT);
	is_missing(find(snapshot, 17), PLIM_FIELD_EXE, PLIM_REASON_NO_FILE);
	it = find(snapshot, 18);
	is_text(it, PLIM_FIELD_EXE, "/gone (deleted)");
	is_text(it, PLIM_FIELD_UNIT, "docker-" ID ".scope");
	is_text(it, PLIM_FIELD_CONTAINER, ID);
}

/* Two snapshots alternate, and the older one keeps its texts. */
static void test_made_up(void **state)
{
	static char text[6000];
	plim_host *host;
	plim_snapshot *first;
	plim_snapshot *last;

	(void)state;
	fixture_new(&fixture);
	fixture_host(&fixture, 0);
	made_up(10, "1:net_cls:/\n0::/system.slice/ssh.service\n");
	made_up(11, "0::/\n9:name=systemd:/docker/" ID "\n4:memory:/m\n");
	made_up(12, "0::/x\x1b\xff:y.scope\n");
	made_up(13, NULL);
	made_up(14, "");
	made_up(15, "0::/system.slice/cut.service");
	memset(text, 'x', sizeof(text));
	memcpy(text, "0::/", 4);
	text[3 + 4096] = '\n';
	text[3 + 4097] = '\0';
	made_up(16, text);
	text[3 + 4096] = 'x';
	text[3 + 4097] = '\n';
	text[3 + 4098] = '\0';
	made_up(17, text);
	made_up(18, "0::/system.slice/docker-" ID ".scope\n");
	snprintf(text, sizeof(text), "%s/18/exe", fixture.root);
	assert_int_equal(symlink("/gone (deleted)", text), 0);
	host = open_root(fixture.root, 0);
	first = new_snapshot(host);
	last = new_snapshot(host);
	take(first);
	look(first);
	take(last);
	fixture_text(&fixture, "10/cgroup", "0::/other.service\n");
	take(last);
	look(first);
	is_text(find(last, 10), PLIM_FIELD_CGROUP, "/other.service");
	is_text(find(last, 18), PLIM_FIELD_CONTAINER, ID);
	plim_snapshot_free(first);
	plim_snapshot_free(last);
	plim_host_close(host);
	fixture_free(&fixture);
}

/* A part is told though the path was not asked for. */
static void test_asked(void **state)
{
	plim_field_set fields = {{0}};
	plim_snapshot_options options = {.size = sizeof(options),
					 .fields = &fields};
	plim_snapshot *snapshot;
	plim_host *host;

	(void)state;
	fixture_new(&fixture);
	fixture_host(&fixture, 0);
	made_up(10, "0::/system.slice/ssh.service\n");
	host = open_root(fixture.root, 0);
	snapshot = new_snapshot(host);
	plim_field_set_add(&fields, PLIM_FIELD_UNIT);
	assert_int_equal(plim_snapshot_take(snapshot, &options, NULL), PLIM_OK);
	is_text(find(snapshot, 10), PLIM_FIELD_UNIT, "ssh.service");
	is_missing(find(snapshot, 10), PLIM_FIELD_CGROUP,
		   PLIM_REASON_NOT_ASKED);
	assert_int_equal(plim_snapshot_take(snapshot, NULL, NULL), PLIM_OK);
	all_missing(find(snapshot, 10), PLIM_REASON_NOT_ASKED);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
	fixture_free(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_self),
	    cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_removed),
	    cmocka_unit_test(test_made_up),
	    cmocka_unit_test(test_asked),
	    cmocka_unit_test(test_exe),
	    cmocka_unit_test(test_leaderless),
	    cmocka_unit_test(test_removed_program),
	};

	return cmocka_run_group_tests_name("texts", tests, NULL, NULL);
}
