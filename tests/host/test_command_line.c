/*
 * test_command_line.c - a command line is read on demand, of one identified
 * process, by a helper that lives as long; never later than its deadline, and
 * never somebody else's.
 */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_DEADLINE_MS 20 /* the default of a host */

struct line {
	plim_host *host;
	plim_target *target;
	struct spawn spawn;
};

static struct line line;

static int line_setup(void **state)
{
	memset(&line, 0, sizeof(line));
	line.host = open_host(0);
	*state = &line;
	return 0;
}

static int line_teardown(void **state)
{
	(void)state;
	spawn_end(&line.spawn);
	plim_target_close(line.target);
	plim_host_close(line.host);
	return 0;
}

/*
 * A loaded machine may let a read be late though nothing holds it up; a text
 * that is asked for again is not a different text.
 */
static plim_text line_read(plim_target *target)
{
	plim_text text = {0};

	for (int tries = 0; tries < 50; tries++) {
		assert_int_equal(plim_target_command_line(target, &text, NULL),
				 PLIM_OK);
		if (text.state != PLIM_STATE_TIMEOUT)
			return text;
		child_sleep_ms(20);
	}
	fail_msg("a command line is always late");
	return text;
}

static void line_start(const char *const *argv)
{
	spawn_start(&line.spawn, argv);
	line.target = open_target(line.host, line.spawn.pid);
}

/* Arguments with odd bytes, and empty ones, at the end, too. */
static void test_exact(void **state)
{
	const char *const argv[] = {
	    "idle",	     "", "a b", "\xff\x1b[2J", "x\ny",
	    "--secret=\xc3", "", "",	NULL};
	static const char expected[] = "idle\0\0a b\0\xff\x1b[2J\0x\ny\0"
				       "--secret=\xc3\0\0";

	(void)state;
	line_start(argv);
	expect_text(line_read(line.target), expected, sizeof(expected));
}

/* Our own, against the kernel's file. */
static void test_self(void **state)
{
	char own[65536];
	ssize_t size;
	int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

	(void)state;
	size = read(file, own, sizeof(own));
	close(file);
	assert_true(size > 0);
	line.target = open_target(line.host, getpid());
	expect_text(line_read(line.target), own, (size_t)size);
}

/* Longer than a page, and longer than any buffer one would begin with. */
static void test_long(void **state)
{
	static char words[8][16001];
	static char expected[8 * 16001 + 8];
	const char *argv[10] = {"idle"};
	size_t at = 5;

	(void)state;
	memcpy(expected, "idle", 5);
	for (int i = 0; i < 8; i++) {
		memset(words[i], 'a' + i, 16000);
		argv[i + 1] = words[i];
		memcpy(expected + at, words[i], 16001);
		at += 16001;
	}
	line_start(argv);
	expect_text(line_read(line.target), expected, at);
}

/* An ended process has none; another start with this pid has none, either. */
static void test_ended(void **state)
{
	const char *const argv[] = {"idle", "once", NULL};
	plim_identity identity;
	plim_target *again = NULL;
	plim_text text = {0};
	int status;

	(void)state;
	line_start(argv);
	identity = plim_target_identity(line.target);
	identity.has = PLIM_IDENTITY_START;
	identity.start_ticks++;
	assert_int_equal(
	    plim_target_open_identity(&again, line.host, &identity, NULL),
	    PLIM_EREPLACED);
	kill(line.spawn.pid, SIGKILL);
	assert_int_equal(child_wait(line.spawn.pid, &status, 5000), 0);
	line.spawn.pid = 0;
	assert_int_equal(plim_target_command_line(line.target, &text, NULL),
			 PLIM_OK);
	assert_int_equal(text.state, PLIM_STATE_GONE);
	assert_int_equal(text.bytes.size, 0);
}

/* Between fork and exec it is the parent's, and then its own. */
static void test_before_exec(void **state)
{
	char program[4096];
	const char *argv[] = {"before-exec", program, "later", NULL};
	char expected[8192];
	size_t size;
	plim_target *child;

	(void)state;
	strcpy(program, spawn_path("idle"));
	line_start(argv);
	spawn_ask(&line.spawn, "fork");
	child =
	    open_target(line.host, (int32_t)spawn_truth(&line.spawn, "child"));
	memcpy(expected, "before-exec", 12);
	memcpy(expected + 12, program, strlen(program) + 1);
	size = 12 + strlen(program) + 1;
	memcpy(expected + size, "later", 6);
	size += 6;
	expect_text(line_read(child), expected, size);
	expect_text(line_read(line.target), expected, size);
	expect_fate(child, PLIM_FATE_SAME, 0, 0);
	spawn_ask(&line.spawn, "release");
	expect_fate(child, PLIM_FATE_SAME, PLIM_CHANGE_IMAGE | PLIM_CHANGE_NAME,
		    0);
	expect_text(line_read(child), expected + 12, size - 12);
	plim_target_signal(child, SIGKILL, NULL);
	plim_target_close(child);
}

static void test_zombie(void **state)
{
	const char *const argv[] = {"zombie", NULL};
	plim_target *child;
	plim_text text = {0};

	(void)state;
	line_start(argv);
	spawn_ask(&line.spawn, "child");
	spawn_ask(&line.spawn, "end 0");
	child =
	    open_target(line.host, (int32_t)spawn_truth(&line.spawn, "child"));
	assert_int_equal(plim_target_command_line(child, &text, NULL), PLIM_OK);
	assert_int_equal(text.state, PLIM_STATE_NOT_APPLICABLE);
	assert_int_equal(text.bytes.size, 0);
	plim_target_close(child);
}

/* A kernel thread has an empty one, which is known. */
static void test_kernel_thread(void **state)
{
	plim_snapshot *snapshot = new_snapshot(line.host);
	int32_t pid = 0;

	(void)state;
	take(snapshot);
	for (size_t i = 0; i < plim_snapshot_size(snapshot) && pid == 0; i++) {
		const plim_process *it = plim_snapshot_at(snapshot, i);

		if (plim_process_count(it, PLIM_FIELD_KERNEL_THREAD).value == 1)
			pid = plim_process_pid(it);
	}
	plim_snapshot_free(snapshot);
	if (pid == 0)
		SKIP_BECAUSE("no kernel thread is visible here");
	line.target = open_target(line.host, pid);
	expect_text(line_read(line.target), "", 0);
}

/* How many children we have that are not the workload, as the library itself
 * tells; the helper would be one. */
static unsigned line_children(void)
{
	plim_snapshot *snapshot = new_snapshot(line.host);
	unsigned count = 0;

	take(snapshot);
	for (size_t i = 0; i < plim_snapshot_size(snapshot); i++) {
		const plim_process *it = plim_snapshot_at(snapshot, i);

		if (known(it, PLIM_FIELD_PPID) == (uint64_t)getpid() &&
		    plim_process_pid(it) != line.spawn.pid)
			count++;
	}
	plim_snapshot_free(snapshot);
	return count;
}

/* A target whose memory lock is held most of the time: every read ends. */
static void test_deadline(void **state)
{
	const char *const argv[] = {"forkloop", "1024", "5", NULL};
	static const char expected[] = "forkloop\0"
				       "1024\0"
				       "5";
	int known_reads = 0;
	int reads = 0;
	uint64_t end = child_monotonic_ns() + 20000000000ull;

	(void)state;
	line_start(argv);
	while (child_monotonic_ns() < end) {
		uint64_t begin = child_monotonic_ns();
		plim_text text = {0};

		assert_int_equal(
		    plim_target_command_line(line.target, &text, NULL),
		    PLIM_OK);
		/* What is above the deadline is the machine's load. */
		assert_true(child_monotonic_ns() - begin <
			    (LINE_DEADLINE_MS + 1000) * 1000000ull);
		if (text.state == PLIM_STATE_GONE ||
		    text.state == PLIM_STATE_NOT_APPLICABLE)
			break;
		reads++;
		if (text.state == PLIM_STATE_KNOWN) {
			known_reads++;
			expect_text(text, expected, sizeof(expected));
		} else {
			assert_true(text.state == PLIM_STATE_TIMEOUT ||
				    text.state == PLIM_STATE_TRUNCATED);
		}
		assert_int_equal(line_children(), 0);
		child_sleep_ms(5);
	}
	assert_true(reads >= 3);
	print_message("%d reads, %d of them in time\n", reads, known_reads);
	/* It works on with everybody else. */
	spawn_end(&line.spawn);
	plim_target_close(line.target);
	line_start((const char *const[]){"idle", "after", NULL});
	expect_text(line_read(line.target), "idle\0after", 11);
}

/* The helper is gone when the answer is there, and nobody can wait for it. */
static void test_no_helper_stays(void **state)
{
	const char *const argv[] = {"idle", "helper", NULL};
	int status;

	(void)state;
	line_start(argv);
	assert_int_equal(line_children(), 0);
	for (int i = 0; i < 20; i++) {
		expect_text(line_read(line.target), "idle\0helper", 12);
		assert_int_equal(waitpid(-1, &status, __WALL | WNOHANG), 0);
		assert_int_equal(line_children(), 0);
	}
	/* Without the workload there is no child at all. */
	spawn_end(&line.spawn);
	assert_int_equal(waitpid(-1, &status, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* No record has it: it may hold a secret. */
static void test_no_record_has_it(void **state)
{
	const char *const argv[] = {"idle", "--password=hunter2", NULL};
	plim_usage *usage = new_usage(line.host);
	const plim_process *it;

	(void)state;
	line_start(argv);
	it = measure(usage, line.target);
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);
		plim_text text;

		if (field->kind != PLIM_KIND_TEXT)
			continue;
		text = plim_process_text(it, field->id);
		assert_true(text.bytes.size < 64);
		for (size_t at = 0; at + 7 <= text.bytes.size; at++)
			assert_memory_not_equal(text.bytes.data + at, "hunter2",
						7);
	}
	plim_usage_free(usage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define LINE(test) \
	cmocka_unit_test_setup_teardown(test, line_setup, line_teardown)
	    LINE(test_exact),
	    LINE(test_self),
	    LINE(test_long),
	    LINE(test_ended),
	    LINE(test_before_exec),
	    LINE(test_zombie),
	    LINE(test_kernel_thread),
	    LINE(test_deadline),
	    LINE(test_no_helper_stays),
	    LINE(test_no_record_has_it),
	};

	return cmocka_run_group_tests_name("command line", tests, NULL, NULL);
}
