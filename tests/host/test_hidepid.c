/*
 * test_hidepid.c - a hidden process is not an ended one.
 *
 * In a pid namespace of its own, /proc is mounted with hidepid 1, 2, 4 and
 * subset=pid. The reader has given up its groups: options 1 and 2 exempt
 * group 0, and a test that kept it would see no hiding at all.
 */
#include "common.h"

#include "ns.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIDEPID_USER 65534

struct hidepid {
	const char *options;
	uint32_t flags;
	uint64_t value; /* of the mount option */
	int listed;	/* hidepid 1 still lists the pids */
	pid_t victim;
};

static pid_t hidepid_fork(void)
{
	pid_t child = fork();

	if (child == 0) {
		child_bind();
		for (;;)
			pause();
	}
	assert_true(child > 0);
	return child;
}

/* By number: hidden where there is one, no process where there is none. */
static void hidepid_by_number(void *user)
{
	const struct hidepid *hidepid = user;
	plim_host *host;
	plim_target *target = NULL;
	plim_error error = {0};

	child_become(HIDEPID_USER);
	host = open_host(hidepid->flags);
	assert_int_equal(plim_host_count(host, PLIM_HOST_HIDEPID).value,
			 hidepid->value);
	assert_int_equal(
	    plim_target_open(&target, host, hidepid->victim, &error),
	    PLIM_EHIDDEN);
	assert_int_equal(error.code, PLIM_EHIDDEN);
	assert_null(target);
	assert_int_equal(plim_target_open(&target, host, 30000, NULL),
			 PLIM_ENOPROCESS);
	/* Itself is never hidden. */
	target = open_target(host, getpid());
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	plim_target_close(target);
	plim_host_close(host);
}

/* Hidden; a host without pidfds may be unable to tell, but not say "gone". */
static void hidepid_expect_held(plim_target *target, uint32_t flags)
{
	plim_check check = {0};

	assert_int_equal(plim_target_check(target, &check, NULL), PLIM_OK);
	assert_true(check.fate == PLIM_FATE_HIDDEN ||
		    (check.fate == PLIM_FATE_CANNOT_TELL &&
		     flags == PLIM_HOST_NO_PIDFD));
	assert_int_equal(check.changes, 0);
}

/* A target of the time when it could be seen: hidden now, not gone. */
static void hidepid_held(void *user)
{
	const struct hidepid *hidepid = user;
	plim_host *host = open_host(hidepid->flags);
	plim_target *target = open_target(host, hidepid->victim);
	plim_usage *usage = new_usage(host);
	plim_text line = {0};
	uint64_t stamp;
	int code;

	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	measure(usage, target);
	stamp = plim_process_stamp(plim_usage_process(usage)).monotonic.ns;
	child_become(HIDEPID_USER);
	hidepid_expect_held(target, hidepid->flags);
	code = plim_usage_refresh(usage, target, NULL, NULL);
	assert_true(
	    code == PLIM_EHIDDEN ||
	    (code == PLIM_ECANNOTTELL && hidepid->flags == PLIM_HOST_NO_PIDFD));
	assert_int_equal(
	    plim_process_stamp(plim_usage_process(usage)).monotonic.ns, stamp);
	assert_int_equal(plim_target_command_line(target, &line, NULL),
			 PLIM_OK);
	if (hidepid->flags != PLIM_HOST_NO_PIDFD)
		assert_int_equal(line.state, PLIM_STATE_HIDDEN);
	assert_int_not_equal(line.state, PLIM_STATE_KNOWN);
	assert_int_not_equal(line.state, PLIM_STATE_GONE);
	plim_usage_free(usage);
	plim_target_close(target);
	plim_host_close(host);
}

/* A recorded identity of a process that cannot be seen. */
static void hidepid_recorded(void *user)
{
	const struct hidepid *hidepid = user;
	plim_host *host = open_host(hidepid->flags);
	plim_target *target = open_target(host, hidepid->victim);
	plim_identity identity = plim_target_identity(target);
	plim_target *again = NULL;
	int code;

	plim_target_close(target);
	child_become(HIDEPID_USER);
	code = plim_target_open_identity(&again, host, &identity, NULL);
	assert_int_equal(code, PLIM_EHIDDEN);
	assert_null(again);
	plim_host_close(host);
}

/* The list: itself, and the hidden one is left out or not measured. */
static void hidepid_listed(void *user)
{
	const struct hidepid *hidepid = user;
	plim_host *host;
	plim_snapshot *snapshot;
	const plim_process *it;

	child_become(HIDEPID_USER);
	host = open_host(hidepid->flags);
	snapshot = new_snapshot(host);
	take(snapshot);
	assert_non_null(plim_snapshot_find(snapshot, getpid()));
	assert_true(
	    plim_process_is_measured(plim_snapshot_find(snapshot, getpid())));
	it = plim_snapshot_find(snapshot, hidepid->victim);
	if (!hidepid->listed)
		assert_null(it);
	else if (it != NULL)
		expect_state(it, PLIM_FIELD_RESIDENT, PLIM_STATE_HIDDEN);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

static void hidepid_body(void *user)
{
	struct hidepid *hidepid = user;

	ns_mount_proc(hidepid->options);
	hidepid->victim = hidepid_fork();
	child_run(hidepid_by_number, hidepid);
	child_run(hidepid_held, hidepid);
	child_run(hidepid_recorded, hidepid);
	child_run(hidepid_listed, hidepid);
	/* Ended, it is gone, hidden or not. */
	kill(hidepid->victim, SIGKILL);
	waitpid(hidepid->victim, NULL, 0);
}

static void hidepid_run(const char *options, uint64_t value, int listed)
{
	struct hidepid hidepid = {
	    .options = options, .value = value, .listed = listed};

	ns_run(NULL, hidepid_body, &hidepid);
	hidepid.flags = PLIM_HOST_NO_INODE;
	ns_run(NULL, hidepid_body, &hidepid);
	hidepid.flags = PLIM_HOST_NO_PIDFD;
	ns_run(NULL, hidepid_body, &hidepid);
}

static void test_hidepid_1(void **state)
{
	(void)state;
	hidepid_run("hidepid=1", 1, 1);
}

static void test_hidepid_2(void **state)
{
	(void)state;
	hidepid_run("hidepid=2", 2, 0);
}

static void test_hidepid_4(void **state)
{
	(void)state;
	hidepid_run("hidepid=4", 4, 0);
}

struct hidepid_pair {
	int order[2]; /* to the parent of the victim: end it */
	int done[2];  /* from it: its pid, then that it has been reaped */
	pid_t victim;
};

/* Held by an ordinary user, and ended while hidden: gone, not hidden. */
static void hidepid_ends(void *user)
{
	struct hidepid_pair *pair = user;
	plim_host *host = open_host(0);
	plim_target *target = open_target(host, pair->victim);
	char byte = 1;

	child_become(HIDEPID_USER);
	expect_fate(target, PLIM_FATE_HIDDEN, 0, 0);
	assert_int_equal(write(pair->order[1], &byte, 1), 1);
	assert_int_equal(read(pair->done[0], &byte, 1), 1);
	expect_fate(target, PLIM_FATE_GONE, 0, 0);
	plim_target_close(target);
	plim_host_close(host);
}

static void hidepid_parent(const struct hidepid_pair *pair)
{
	char byte;
	pid_t victim = hidepid_fork();

	if (write(pair->done[1], &victim, sizeof(victim)) < 0 ||
	    read(pair->order[0], &byte, 1) != 1)
		_exit(1);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	_exit(write(pair->done[1], "y", 1) == 1 ? 0 : 1);
}

static void hidepid_ends_body(void *user)
{
	struct hidepid_pair pair = {.victim = 0};
	pid_t parent;
	int status;

	(void)user;
	ns_mount_proc("hidepid=2");
	assert_int_equal(pipe(pair.order), 0);
	assert_int_equal(pipe(pair.done), 0);
	parent = fork();
	if (parent == 0) {
		child_bind();
		hidepid_parent(&pair);
	}
	assert_int_equal(read(pair.done[0], &pair.victim, sizeof(pair.victim)),
			 sizeof(pair.victim));
	child_run(hidepid_ends, &pair);
	assert_int_equal(child_wait(parent, &status, 5000), 0);
}

static void test_ends_while_hidden(void **state)
{
	(void)state;
	ns_run(NULL, hidepid_ends_body, NULL);
}

/* subset=pid takes the files of the whole machine away, not the processes. */
static void hidepid_subset(void *user)
{
	plim_host *host;
	plim_snapshot *snapshot;
	plim_target *target;
	plim_usage *usage;
	pid_t victim;

	(void)user;
	ns_mount_proc("subset=pid");
	victim = hidepid_fork();
	host = open_host(0);
	assert_true(plim_host_count(host, PLIM_HOST_CPUS).value >= 1);
	assert_int_equal(plim_host_count(host, PLIM_HOST_IS_LIVE).value, 1);
	target = open_target(host, victim);
	usage = new_usage(host);
	measure(usage, target);
	known(plim_usage_process(usage), PLIM_FIELD_RESIDENT);
	known(plim_usage_process(usage), PLIM_FIELD_PRIVATE);
	known(plim_usage_process(usage), PLIM_FIELD_CPU);
	known(plim_usage_process(usage), PLIM_FIELD_START_UNIX_MS);
	snapshot = new_snapshot(host);
	take(snapshot);
	assert_non_null(plim_snapshot_find(snapshot, victim));
	assert_non_null(plim_snapshot_find(snapshot, getpid()));
	plim_snapshot_free(snapshot);
	plim_usage_free(usage);
	plim_target_close(target);
	plim_host_close(host);
}

static void test_subset(void **state)
{
	(void)state;
	ns_run(NULL, hidepid_subset, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hidepid_1),
	    cmocka_unit_test(test_hidepid_2),
	    cmocka_unit_test(test_hidepid_4),
	    cmocka_unit_test(test_ends_while_hidden),
	    cmocka_unit_test(test_subset),
	};

	return cmocka_run_group_tests_name("hidden processes", tests, NULL,
					   NULL);
}
