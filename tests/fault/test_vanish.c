/*
 * test_vanish.c - processes end while they are read.
 *
 * A storm of at most two thousand children, each alive for a few
 * milliseconds or some tens of them, runs for at most ten seconds while
 * snapshots are taken and targets are opened. A storm child's name holds its
 * pid and its serial number, and it holds as many descriptors more than its
 * parent as the serial number says, so that a record that mixes two processes
 * shows it. In a pid namespace with few pids each of them is used again and
 * again.
 */
#include "fault.h"

#include "ns.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORM_FORKS	2000
#define STORM_MS	10000
#define STORM_AT_ONCE	24
#define STORM_HELD	16
#define STABLE_COUNT	3
#define DYING_REFRESHES 400

struct storm {
	pid_t pid;    /* of the forker, 0 when it has ended */
	pid_t forker; /* the same for good */
	plim_host *host;
	struct spawn stable[STABLE_COUNT];
	size_t descriptors; /* of the forker */
	uint64_t seen;	    /* records of storm children */
	uint64_t vanished;
	uint64_t passes;
	uint64_t targets;
	uint64_t outlived; /* targets that ended under their usage */
};

static void storm_child(unsigned serial, unsigned us)
{
	char name[32];

	for (unsigned i = 0; i < serial % STORM_HELD; i++)
		if (dup(1) < 0)
			_exit(1);
	snprintf(name, sizeof(name), "s%d.%u", (int)getpid(), serial);
	prctl(PR_SET_NAME, name);
	usleep(us);
	_exit(0);
}

/* One at a time, each with the pid of the one before. */
static void storm_run_again(pid_t again)
{
	uint64_t end = child_monotonic_ns() + STORM_MS * 1000000ull;

	child_bind();
	prctl(PR_SET_NAME, "storm");
	for (unsigned serial = 0;
	     serial < STORM_FORKS && child_monotonic_ns() < end; serial++) {
		pid_t pid = ns_fork_as(again);

		if (pid == 0)
			storm_child(serial, serial * 7 % 150);
		while (pid > 0 && waitpid(pid, NULL, 0) < 0)
			;
	}
	_exit(0);
}

static void storm_run(void)
{
	uint64_t end = child_monotonic_ns() + STORM_MS * 1000000ull;
	unsigned live = 0;

	child_bind();
	prctl(PR_SET_NAME, "storm");
	for (unsigned serial = 0;
	     serial < STORM_FORKS && child_monotonic_ns() < end; serial++) {
		pid_t pid = fork();

		if (pid == 0)
			storm_child(serial, serial % 2 != 0
						? serial * 37 % 3000
						: serial * 997 % 60000);
		live += pid > 0;
		while (live > 0 &&
		       waitpid(-1, NULL, live < STORM_AT_ONCE ? WNOHANG : 0) >
			   0)
			live--;
	}
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static void storm_begin(struct storm *storm, pid_t again)
{
	memset(storm, 0, sizeof(*storm));
	storm->host = open_host(0);
	for (int i = 0; i < STABLE_COUNT; i++)
		spawn_start(&storm->stable[i],
			    i == 0
				? (const char *const[]){"threads", "10", NULL}
				: (const char *const[]){"idle", NULL});
	fflush(stdout);
	storm->descriptors = fault_descriptors();
	storm->pid = fork();
	assert_true(storm->pid >= 0);
	storm->forker = storm->pid;
	if (storm->pid == 0 && again > 0)
		storm_run_again(again);
	if (storm->pid == 0)
		storm_run();
}

static int storm_is_over(struct storm *storm)
{
	if (storm->pid > 0 && waitpid(storm->pid, NULL, WNOHANG) == storm->pid)
		storm->pid = 0;
	return storm->pid == 0;
}

static void storm_end(struct storm *storm)
{
	if (storm->pid > 0) {
		kill(storm->pid, SIGKILL);
		waitpid(storm->pid, NULL, 0);
	}
	for (int i = 0; i < STABLE_COUNT; i++)
		spawn_end(&storm->stable[i]);
	plim_host_close(storm->host);
}

/* The serial number of a child of this storm that has its name, else -1.
 * Another storm may run in a namespace that is seen from here. */
static long storm_serial(const struct storm *storm, const plim_process *record)
{
	plim_text text = plim_process_text(record, PLIM_FIELD_NAME);
	char name[64];
	int pid;
	unsigned serial;

	if (text.state != PLIM_STATE_KNOWN || text.bytes.size >= sizeof(name) ||
	    plim_process_count(record, PLIM_FIELD_PPID).value !=
		(uint64_t)storm->forker)
		return -1;
	memcpy(name, text.bytes.data, text.bytes.size);
	name[text.bytes.size] = '\0';
	if (sscanf(name, "s%d.%u", &pid, &serial) != 2)
		return -1;
	if (pid != plim_process_pid(record))
		fail_msg("the process %d is told to be %s",
			 (int)plim_process_pid(record), name);
	return (long)serial;
}

/* One process, whole. A process that is ending has none of its descriptors
 * left; it may have none to tell, either. */
static void storm_expect_whole(const struct storm *storm,
			       const plim_process *record)
{
	long serial = storm_serial(storm, record);
	plim_count held = plim_process_count(record, PLIM_FIELD_DESCRIPTORS);
	plim_identity identity = plim_process_identity(record);

	assert_int_equal(known(record, PLIM_FIELD_PID),
			 plim_process_pid(record));
	assert_int_equal(identity.pid, plim_process_pid(record));
	assert_int_equal(known(record, PLIM_FIELD_START_TICKS),
			 identity.start_ticks);
	if (serial < 0)
		return;
	if (held.state == PLIM_STATE_KNOWN && held.value != 0)
		assert_int_equal(held.value, storm->descriptors +
						 (size_t)serial % STORM_HELD);
}

static void storm_expect_pass(struct storm *storm,
			      const plim_snapshot *snapshot)
{
	plim_cost cost = plim_snapshot_cost(snapshot);
	size_t size = plim_snapshot_size(snapshot);

	assert_int_equal(cost.read, size);
	assert_int_equal(cost.present, cost.read + cost.vanished);
	storm->vanished += cost.vanished;
	storm->passes++;
	for (int i = 0; i < STABLE_COUNT; i++)
		assert_non_null(
		    plim_snapshot_find(snapshot, storm->stable[i].pid));
	assert_non_null(plim_snapshot_find(snapshot, getpid()));
	for (size_t i = 0; i < size; i++) {
		const plim_process *it = plim_snapshot_at(snapshot, i);

		if (i > 0)
			assert_true(plim_process_pid(it) >
				    plim_process_pid(
					plim_snapshot_at(snapshot, i - 1)));
		storm_expect_whole(storm, it);
		storm->seen += storm_serial(storm, it) >= 0;
	}
}

/* The stable ones stay. */
static int storm_event(int event, const plim_process *first,
		       const plim_process *last, void *user)
{
	const struct storm *storm = user;
	const plim_process *it = first != NULL ? first : last;

	for (int i = 0; i < STABLE_COUNT; i++)
		if (plim_process_pid(it) == storm->stable[i].pid &&
		    event != PLIM_EVENT_STAYED)
			return 1;
	if (event == PLIM_EVENT_STAYED && storm_serial(storm, first) >= 0)
		assert_int_equal(storm_serial(storm, first),
				 storm_serial(storm, last));
	return 0;
}

/* Measured until it is gone: the record is its own to the last, and its last
 * live one is what stays. */
static void storm_outlive(struct storm *storm, plim_target *target)
{
	static char before[65536];
	static char after[65536];
	plim_identity identity = plim_target_identity(target);
	plim_usage *usage = new_usage(storm->host);
	size_t size = 0;
	int code = PLIM_OK;

	for (int i = 0; i < DYING_REFRESHES; i++) {
		const plim_process *record;
		plim_identity found;

		code = plim_usage_refresh(usage, target, NULL, NULL);
		if (code != PLIM_OK)
			break;
		record = plim_usage_process(usage);
		found = plim_process_identity(record);
		assert_memory_equal(&found, &identity, sizeof(found));
		storm_expect_whole(storm, record);
		size = fault_record(record, before, sizeof(before));
	}
	if (code != PLIM_OK) {
		assert_true(code == PLIM_ENOPROCESS || code == PLIM_EREPLACED);
		storm->outlived++;
		if (size > 0) {
			assert_int_equal(fault_record(plim_usage_process(usage),
						      after, sizeof(after)),
					 size);
			assert_memory_equal(before, after, size);
		}
		assert_int_equal(
		    plim_usage_refresh(usage, target, NULL, NULL) == PLIM_OK,
		    0);
	}
	plim_usage_free(usage);
}

/* A target of the youngest storm child that was seen. */
static void storm_target(struct storm *storm, const plim_snapshot *snapshot)
{
	plim_target *target = NULL;
	size_t at = plim_snapshot_size(snapshot);
	plim_check check;
	int code;

	while (at > 0 &&
	       storm_serial(storm, plim_snapshot_at(snapshot, at - 1)) < 0)
		at--;
	if (at == 0)
		return;
	code = plim_target_open(
	    &target, storm->host,
	    plim_process_pid(plim_snapshot_at(snapshot, at - 1)), NULL);
	if (code != PLIM_OK) {
		assert_int_equal(code, PLIM_ENOPROCESS);
		return;
	}
	storm->targets++;
	assert_int_equal(plim_target_check(target, &check, NULL), PLIM_OK);
	assert_true(check.fate == PLIM_FATE_SAME ||
		    check.fate == PLIM_FATE_GONE ||
		    check.fate == PLIM_FATE_REPLACED);
	storm_outlive(storm, target);
	plim_target_close(target);
}

static void storm_watch(struct storm *storm)
{
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_snapshot *rounds[2] = {new_snapshot(storm->host),
				    new_snapshot(storm->host)};
	size_t descriptors = fault_descriptors();
	int at = 0;

	while (!storm_is_over(storm)) {
		plim_snapshot_options options = {
		    .size = sizeof(options),
		    .fields = &all,
		    .threads = (int)(storm->passes & 1),
		    .strong_identity = (int)(storm->passes >> 1 & 1),
		    .previous = storm->passes > 0 ? rounds[!at] : NULL,
		};

		assert_int_equal(plim_snapshot_take(rounds[at], &options, NULL),
				 PLIM_OK);
		storm_expect_pass(storm, rounds[at]);
		if (storm->passes > 1)
			assert_int_equal(
			    plim_snapshot_compare(rounds[!at], rounds[at],
						  storm_event, storm),
			    0);
		if (storm->passes % 3 == 0)
			storm_target(storm, rounds[at]);
		at = !at;
	}
	assert_int_equal(fault_descriptors(), descriptors);
	plim_snapshot_free(rounds[0]);
	plim_snapshot_free(rounds[1]);
}

static void storm_tell(const struct storm *storm)
{
	print_message("%llu passes, %llu storm records, %llu vanished, "
		      "%llu targets, %llu outlived\n",
		      (unsigned long long)storm->passes,
		      (unsigned long long)storm->seen,
		      (unsigned long long)storm->vanished,
		      (unsigned long long)storm->targets,
		      (unsigned long long)storm->outlived);
}

static void storm_whole(void *user)
{
	static struct storm storm;
	struct fault_children children = fault_children();

	(void)user;
	storm_begin(&storm, 0);
	storm_watch(&storm);
	storm_tell(&storm);
	storm_end(&storm);
	fault_expect_children(&children);
	assert_true(storm.passes > 3);
	assert_true(storm.seen > 0 && storm.vanished > 0);
	assert_true(storm.targets > 0 && storm.outlived > 0);
}

static void test_storm(void **state)
{
	(void)state;
	storm_whole(NULL);
}

/* A hundred pids go round where a namespace has a limit of its own (6.14);
 * before, the limit is the whole machine's, and left alone. */
static void storm_few_pids(void *user)
{
	int file;

	if (kernel_version() >= 6014) {
		file = open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC);
		if (file >= 0) {
			assert_int_equal(write(file, "400", 3), 3);
			close(file);
		}
	}
	storm_whole(user);
}

static void test_storm_few_pids(void **state)
{
	(void)state;
	ns_run(NULL, storm_few_pids, NULL);
}

/* All of them have one pid: what is read by number is another's at once. */
static void storm_one_pid(void *user)
{
	static struct storm storm;
	pid_t again = ns_fresh_pid();
	pid_t first = ns_fork_as(again);

	(void)user;
	assert_true(first >= 0);
	if (first == 0)
		_exit(0);
	assert_int_equal(waitpid(first, NULL, 0), again);
	storm_begin(&storm, again);
	storm_watch(&storm);
	storm_end(&storm);
	assert_true(storm.passes > 3 && storm.seen > 0);
}

static void test_storm_one_pid(void **state)
{
	(void)state;
	ns_run(NULL, storm_one_pid, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_storm),
	    cmocka_unit_test(test_storm_few_pids),
	    cmocka_unit_test(test_storm_one_pid),
	};

	return cmocka_run_group_tests_name("vanish", tests, NULL, NULL);
}
