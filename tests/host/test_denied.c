/*
 * test_denied.c - an ordinary user looks at a process of root: memory by
 * kind, CPU, switches and the number of descriptors are known, disk bytes are
 * refused, and refused is not 0. The survey says what is refused.
 *
 * Run by root, the test starts the process and becomes the user; run by an
 * ordinary user, it looks at the init of the machine.
 */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DENIED_USER 65534

struct denied {
	struct spawn spawn;
	pid_t pid;
};

static const int denied_fields[] = {
    PLIM_FIELD_DISK_READ,
    PLIM_FIELD_DISK_WRITE,
    PLIM_FIELD_DISK_CANCELLED,
    PLIM_FIELD_IO_CALLS,
};
#define DENIED_FIELDS (sizeof(denied_fields) / sizeof(denied_fields[0]))

static const int denied_not_fields[] = {
    PLIM_FIELD_PPID,	      PLIM_FIELD_UID,	       PLIM_FIELD_START_TICKS,
    PLIM_FIELD_START_UNIX_MS, PLIM_FIELD_CPU,	       PLIM_FIELD_CPU_USER,
    PLIM_FIELD_CPU_SYSTEM,    PLIM_FIELD_CPU_CHILDREN, PLIM_FIELD_RESIDENT,
    PLIM_FIELD_PRIVATE,	      PLIM_FIELD_ANONYMOUS,    PLIM_FIELD_FILE,
    PLIM_FIELD_SHMEM,	      PLIM_FIELD_SWAP,	       PLIM_FIELD_PEAK_RESIDENT,
    PLIM_FIELD_WAKEUPS,	      PLIM_FIELD_INVOLUNTARY,  PLIM_FIELD_FAULTS_MINOR,
    PLIM_FIELD_FAULTS_MAJOR,  PLIM_FIELD_THREADS,      PLIM_FIELD_NICE,
    PLIM_FIELD_OOM_SCORE,     PLIM_FIELD_RUNQUEUE,
};
#define DENIED_NOT_FIELDS \
	(sizeof(denied_not_fields) / sizeof(denied_not_fields[0]))

static void denied_expect(const plim_process *it)
{
	for (size_t i = 0; i < DENIED_FIELDS; i++) {
		plim_count count = plim_process_count(it, denied_fields[i]);

		expect_state(it, denied_fields[i], PLIM_STATE_DENIED);
		assert_int_equal(count.method, PLIM_REASON_NOT_PERMITTED);
		assert_int_equal(count.code, EACCES);
	}
	assert_int_equal(plim_process_text(it, PLIM_FIELD_EXE).method,
			 PLIM_REASON_NOT_PERMITTED);
	assert_int_equal(plim_process_text(it, PLIM_FIELD_EXE).code, EACCES);
	assert_int_equal(plim_process_text(it, PLIM_FIELD_CGROUP).state,
			 PLIM_STATE_KNOWN);
	for (size_t i = 0; i < DENIED_NOT_FIELDS; i++)
		known(it, denied_not_fields[i]);
	if (kernel_version() >= 6002)
		known(it, PLIM_FIELD_DESCRIPTORS);
	else
		expect_state(it, PLIM_FIELD_DESCRIPTORS, PLIM_STATE_DENIED);
	assert_int_equal(known(it, PLIM_FIELD_UID), 0);
	assert_true(plim_process_is_measured(it));
}

/* One measurement, one list; rates stay as refused as their counters. */
static void denied_look(void *user)
{
	const struct denied *denied = user;
	plim_host *host;
	plim_target *target;
	plim_usage *first;
	plim_usage *last;
	plim_snapshot *snapshot;

	if (geteuid() == 0)
		child_become(DENIED_USER);
	host = open_host(0);
	target = open_target(host, denied->pid);
	first = new_usage(host);
	last = new_usage(host);
	denied_expect(measure(first, target));
	child_sleep_ms(20);
	denied_expect(measure(last, target));
	assert_int_equal(plim_process_change(plim_usage_process(first),
					     plim_usage_process(last),
					     PLIM_FIELD_DISK_WRITE)
			     .state,
			 PLIM_STATE_DENIED);
	assert_int_equal(plim_process_rate(plim_usage_process(first),
					   plim_usage_process(last),
					   PLIM_FIELD_DISK_WRITE)
			     .state,
			 PLIM_STATE_DENIED);
	assert_int_equal(plim_process_change(plim_usage_process(first),
					     plim_usage_process(last),
					     PLIM_FIELD_CPU)
			     .state,
			 PLIM_STATE_KNOWN);
	assert_int_equal(plim_usage_cost(last).refused, 1);
	snapshot = new_snapshot(host);
	take(snapshot);
	assert_non_null(plim_snapshot_find(snapshot, denied->pid));
	expect_state(plim_snapshot_find(snapshot, denied->pid),
		     PLIM_FIELD_DISK_WRITE, PLIM_STATE_DENIED);
	known(plim_snapshot_find(snapshot, denied->pid), PLIM_FIELD_ANONYMOUS);
	assert_true(plim_snapshot_cost(snapshot).refused >= 1);
	/* Its own I/O it may read. */
	known(plim_snapshot_find(snapshot, getpid()), PLIM_FIELD_DISK_WRITE);
	plim_snapshot_free(snapshot);
	plim_usage_free(first);
	plim_usage_free(last);
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	assert_int_equal(plim_target_signal(target, 0, NULL), PLIM_EDENIED);
	plim_target_close(target);
	plim_host_close(host);
}

/* In a child, at a process of root: one that is started, else the first. */
static void denied_run(child_fn *look, void **state)
{
	const char *const argv[] = {"holder", ".", NULL};
	struct denied denied = {.pid = 1};
	struct stat about;

	(void)state;
	if (geteuid() == 0) {
		spawn_start(&denied.spawn, argv);
		denied.pid = denied.spawn.pid;
	} else if (stat("/proc/1", &about) != 0 || about.st_uid != 0) {
		SKIP_BECAUSE("there is no process of root to look at");
	}
	child_run(look, &denied);
	spawn_end(&denied.spawn);
}

static void test_figures(void **state)
{
	denied_run(denied_look, state);
}

struct denied_truth {
	pid_t pid;
	uint64_t anonymous;
	uint64_t shared;
	uint64_t cpu_ns;
	uint64_t wakeups;
};

static void denied_values(void *user)
{
	const struct denied_truth *truth = user;
	plim_host *host;
	plim_target *target;
	plim_usage *usage;
	const plim_process *it;

	child_become(DENIED_USER);
	host = open_host(0);
	target = open_target(host, truth->pid);
	usage = new_usage(host);
	it = measure(usage, target);
	expect_near(known(it, PLIM_FIELD_ANONYMOUS), truth->anonymous, 0, MIB);
	expect_near(known(it, PLIM_FIELD_SHMEM), truth->shared, 0, MIB);
	expect_near(known(it, PLIM_FIELD_CPU), truth->cpu_ns, 2, 1000000);
	expect_near(known(it, PLIM_FIELD_WAKEUPS), truth->wakeups, 0, 2);
	plim_usage_free(usage);
	plim_target_close(target);
	plim_host_close(host);
}

/* What is known is right, too. */
static void test_values(void **state)
{
	const char *const argv[] = {"holder", ".", NULL};
	struct denied_truth truth;
	struct spawn spawn;

	(void)state;
	if (geteuid() != 0)
		SKIP_BECAUSE("only root can start a process of root");
	spawn_start(&spawn, argv);
	spawn_ask(&spawn, "anonymous 24");
	spawn_ask(&spawn, "shared 8");
	truth.pid = spawn.pid;
	truth.anonymous = spawn_truth(&spawn, "anonymous");
	truth.shared = spawn_truth(&spawn, "shared");
	truth.cpu_ns = spawn_truth(&spawn, "cpu_ns");
	truth.wakeups = spawn_truth(&spawn, "wakeups");
	child_run(denied_values, &truth);
	spawn_end(&spawn);
}

static void denied_exec(void *user)
{
	const struct denied *denied = user;
	struct denied *changed = (struct denied *)(uintptr_t)denied;
	plim_host *host;
	plim_target *target;

	child_become(DENIED_USER);
	host = open_host(0);
	target = open_target(host, denied->pid);
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	spawn_send(&changed->spawn, "name 6e65770a");
	spawn_await_answer(&changed->spawn);
	/* Of another user's process no image is told, only the name. */
	expect_fate(target, PLIM_FATE_SAME, PLIM_CHANGE_NAME, 0);
	plim_target_close(target);
	plim_host_close(host);
}

static void test_name_change(void **state)
{
	const char *const argv[] = {"renamer", NULL};
	struct denied denied;

	(void)state;
	if (geteuid() != 0)
		SKIP_BECAUSE("only root can start a process of root");
	spawn_start(&denied.spawn, argv);
	denied.pid = denied.spawn.pid;
	child_run(denied_exec, &denied);
	spawn_end(&denied.spawn);
}

/* What the survey said of one subject. */
struct denied_finding {
	const char *subject;
	int state;
	int has_remedy;
};

static int denied_found(const plim_finding *finding, void *user)
{
	struct denied_finding *wanted = user;

	if (strcmp(finding->subject, wanted->subject) != 0)
		return 0;
	wanted->state = finding->state;
	wanted->has_remedy = finding->remedy[0] != '\0';
	assert_true(finding->text[0] != '\0');
	return 1;
}

static void denied_expect_finding(const char *subject, int state,
				  int has_remedy)
{
	struct denied_finding found = {subject, -1, -1};
	plim_host *host = open_host(0);

	assert_int_equal(plim_host_survey(host, denied_found, &found, NULL),
			 PLIM_OK);
	plim_host_close(host);
	if (found.state != state || found.has_remedy != has_remedy)
		fail_msg("%s: state %d, remedy %d", subject, found.state,
			 found.has_remedy);
}

/* What the kernel says when we read the file ourselves. */
static int denied_truth_of(pid_t pid)
{
	char path[64];
	char byte;
	ssize_t size;
	int descriptor;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	size = descriptor < 0 ? -1 : read(descriptor, &byte, 1);
	if (size == 1) {
		close(descriptor);
		return PLIM_STATE_KNOWN;
	}
	assert_true(errno == EACCES || errno == EPERM);
	if (descriptor >= 0)
		close(descriptor);
	return PLIM_STATE_DENIED;
}

static void denied_survey_own(void)
{
	const char *subject = "where own threads wait";
	struct stat about;
	char path[64];
	int state;

	snprintf(path, sizeof(path), "/proc/%d", (int)getppid());
	if (stat(path, &about) != 0 || about.st_uid != geteuid()) {
		denied_expect_finding(subject, PLIM_STATE_PENDING, 0);
		return;
	}
	state = denied_truth_of(getppid());
	denied_expect_finding(subject, state, state == PLIM_STATE_DENIED);
}

static void denied_survey(void *user)
{
	const struct denied *denied = user;

	/* The parent is of the same user. */
	denied_survey_own();
	if (geteuid() == 0)
		child_become(DENIED_USER);
	/* And now, where root ran this, it is not. */
	denied_survey_own();
	assert_int_equal(denied_truth_of(denied->pid), PLIM_STATE_DENIED);
	denied_expect_finding("where others' threads wait", PLIM_STATE_DENIED,
			      1);
}

static void test_survey(void **state)
{
	denied_run(denied_survey, state);
}

/* Whether the kernel counts waits for storage is told by its switch. */
static void test_survey_times(void **state)
{
	FILE *file = fopen("/proc/sys/kernel/task_delayacct", "re");
	int on = file != NULL && fgetc(file) == '1';

	(void)state;
	if (file != NULL)
		fclose(file);
	denied_expect_finding("waits for storage",
			      on ? PLIM_STATE_KNOWN : PLIM_STATE_UNSUPPORTED,
			      !on);
	file = fopen("/proc/self/schedstat", "re");
	if (file == NULL)
		SKIP_BECAUSE("this kernel has no schedstat");
	on = fgetc(file) != '0';
	fclose(file);
	denied_expect_finding("waits for a CPU",
			      on ? PLIM_STATE_KNOWN : PLIM_STATE_UNSUPPORTED,
			      0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_figures),	 cmocka_unit_test(test_values),
	    cmocka_unit_test(test_name_change),	 cmocka_unit_test(test_survey),
	    cmocka_unit_test(test_survey_times),
	};

	return cmocka_run_group_tests_name("another user's process", tests,
					   NULL, NULL);
}
