/*
 * test_macos_target.c - remembered processes on a made-up Mac: who they are,
 * what became of them, their end, their command line; watches; a reaped child;
 * the survey.
 */
#include "fake.h"

#include <plimsoll/births.h>
#include <plimsoll/usage.h>
#include <plimsoll/watch.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static plim_host *host;
static plim_target *target;

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	fake_add(200, FAKE_SELF, "watched");
	return plim_host_open(&host, NULL, NULL) ||
	       plim_target_open(&target, host, 200, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	plim_target_close(target);
	plim_host_close(host);
	assert_int_equal(fake.queues, 0);
	return 0;
}

static plim_check check(void)
{
	plim_check found;

	assert_int_equal(plim_target_check(target, &found, NULL), PLIM_OK);
	return found;
}

static void test_fate(void **state)
{
	(void)state;
	assert_int_equal(check().fate, PLIM_FATE_SAME);
	assert_int_equal(check().changes, 0);
	fake_find(200)->version++;
	assert_int_equal(check().changes, PLIM_CHANGE_IMAGE);
	assert_int_equal(check().changes, 0);
	snprintf(fake_find(200)->name, 32, "other");
	assert_int_equal(check().changes, PLIM_CHANGE_NAME);
	fake_end(fake_find(200));
	assert_int_equal(check().fate, PLIM_FATE_SAME);
	assert_int_equal(check().zombie, 1);
	fake_find(200)->status = PLIMP_MAC_RUN;
	fake_find(200)->id = 4711;
	assert_int_equal(check().fate, PLIM_FATE_REPLACED);
	fake_remove(200);
	assert_int_equal(check().fate, PLIM_FATE_GONE);
}

/* The figures of a successor are nobody's. */
static void test_usage(void **state)
{
	plim_usage *usage = NULL;
	plim_error error;

	(void)state;
	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	fake_find(200)->rusage.user_ticks = 24000000;
	assert_int_equal(plim_usage_refresh(usage, target, NULL, &error),
			 PLIM_OK);
	assert_int_equal(
	    plim_process_count(plim_usage_process(usage), PLIM_FIELD_CPU).value,
	    1000000000);
	fake_find(200)->replaced_after = 1;
	fake_find(200)->rusage.user_ticks = 48000000;
	assert_int_equal(plim_usage_refresh(usage, target, NULL, &error),
			 PLIM_EREPLACED);
	assert_int_equal(
	    plim_process_count(plim_usage_process(usage), PLIM_FIELD_CPU).value,
	    1000000000);
	fake_remove(200);
	assert_int_equal(plim_usage_refresh(usage, target, NULL, &error),
			 PLIM_ENOPROCESS);
	plim_usage_free(usage);
}

static void test_open(void **state)
{
	plim_target *other = NULL;
	plim_identity identity = plim_target_identity(target);
	plim_error error;

	(void)state;
	assert_int_equal(plim_target_open(&other, host, 77, &error),
			 PLIM_ENOPROCESS);
	assert_int_equal(plim_identity_rung(&identity), PLIM_RUNG_INODE);
	assert_true(identity.inode == 1200);
	assert_true(identity.start_ticks == 240000200);
	identity.inode++;
	assert_int_equal(
	    plim_target_open_identity(&other, host, &identity, &error),
	    PLIM_EREPLACED);
	/* It is replaced while it is opened. */
	fake_find(200)->replaced_after = 3;
	assert_int_equal(plim_target_open(&other, host, 200, &error),
			 PLIM_ENOPROCESS);
	assert_int_equal(plim_target_open(&other, host, 200, &error), PLIM_OK);
	plim_target_close(other);
}

static void ends_now(void)
{
	fake_end(fake_find(200));
	fake_find(200)->exit_status = 7 << 8;
}

static void test_wait(void **state)
{
	plim_error error;
	plim_count status;

	(void)state;
	assert_int_equal(plim_target_wait(target, 0, &error), PLIM_ETIMEOUT);
	assert_int_equal(plim_target_wait(target, 5000000, &error),
			 PLIM_ETIMEOUT);
	assert_true(fake.slept_ns >= 5000000);
	assert_int_equal(plim_target_exit_status(target).state,
			 PLIM_STATE_PENDING);
	fake.asleep = ends_now;
	assert_int_equal(plim_target_wait(target, UINT64_MAX / 4, &error),
			 PLIM_OK);
	status = plim_target_exit_status(target);
	assert_int_equal(status.state, PLIM_STATE_KNOWN);
	assert_int_equal(status.value, 7 << 8);
	assert_int_equal(status.method, PLIM_METHOD_MAC_QUEUE);
	assert_int_equal(plim_target_wait(target, 0, &error), PLIM_OK);
}

static void test_signal(void **state)
{
	plim_target *other = NULL;
	plim_error error;

	(void)state;
	assert_int_equal(plim_target_signal(target, 15, &error),
			 PLIM_EUNSUPPORTED);
	assert_int_equal(plim_target_signal(target, 0, &error), PLIM_OK);
	fake.has_signal = 1;
	assert_int_equal(plim_target_signal(target, 15, &error), PLIM_OK);
	assert_int_equal(fake.signalled, 15);
	assert_int_equal(fake.signalled_pid, 200);
	fake_find(200)->execs_meanwhile = 1;
	assert_int_equal(plim_target_signal(target, 9, &error), PLIM_OK);
	assert_int_equal(fake.signalled, 9);
	assert_int_equal(plim_target_signal(target, 32, &error), PLIM_EINVAL);
	fake_add(300, 1, "theirs")->uid = 0;
	assert_int_equal(plim_target_open(&other, host, 300, &error), PLIM_OK);
	assert_int_equal(plim_target_signal(other, 15, &error), PLIM_EDENIED);
	plim_target_close(other);
	/* Never its successor, who comes between the look and the signal. */
	fake.signalled = 0;
	fake_find(200)->replaced_after = 1;
	assert_int_equal(plim_target_signal(target, 15, &error),
			 PLIM_ENOPROCESS);
	assert_int_equal(plim_target_signal(target, 0, &error),
			 PLIM_ENOPROCESS);
	assert_int_equal(fake.signalled, 0);
}

/* Another user's end is told, not how it ended; a zombie has ended. */
static void test_wait_others(void **state)
{
	plim_target *other = NULL;
	plim_error error;

	(void)state;
	fake_add(300, 1, "theirs")->uid = 0;
	assert_int_equal(plim_target_open(&other, host, 300, &error), PLIM_OK);
	fake_end(fake_find(300));
	assert_int_equal(plim_target_wait(other, 0, &error), PLIM_OK);
	assert_int_equal(plim_target_exit_status(other).state,
			 PLIM_STATE_DENIED);
	plim_target_close(other);
	assert_int_equal(plim_target_open(&other, host, 300, &error), PLIM_OK);
	assert_int_equal(plim_target_poll_descriptor(other), -1);
	assert_int_equal(plim_target_wait(other, 0, &error), PLIM_OK);
	plim_target_close(other);
}

static void is_lost(void)
{
	fake.queue_error = EBADF;
}

/* After a fork the queue is the parent's alone: no end is told, none is waited
 * for. */
static void test_wait_forked(void **state)
{
	plim_error error;

	(void)state;
	is_lost();
	assert_int_equal(plim_target_wait(target, 5000000, &error),
			 PLIM_ESYSTEM);
	assert_int_equal(error.system, EBADF);
	assert_int_equal(plim_target_wait(target, UINT64_MAX, &error),
			 PLIM_ESYSTEM);
	assert_int_equal(plim_target_exit_status(target).state,
			 PLIM_STATE_PENDING);
	assert_true(fake.slept_ns == 0);
	fake.queue_error = 0;
	fake.asleep = is_lost;
	assert_int_equal(plim_target_wait(target, 5000000, &error),
			 PLIM_ESYSTEM);
	fake.queue_error = 0;
	fake_end(fake_find(200));
	assert_int_equal(plim_target_wait(target, 0, &error), PLIM_OK);
	/* What it has told once stands. */
	is_lost();
	assert_int_equal(plim_target_wait(target, 0, &error), PLIM_OK);
}

static void arguments(const char *bytes, size_t size)
{
	fake_find(200)->arguments = bytes;
	fake_find(200)->arguments_size = size;
}

static plim_text line(void)
{
	plim_text text;
	plim_error error;

	assert_int_equal(plim_target_command_line(target, &text, &error),
			 PLIM_OK);
	return text;
}

static void test_command_line(void **state)
{
	static const char plain[] = "\3\0\0\0/bin/cp\0cp\0a b\0\0HOME=/";
	static const char empty[] = "\2\0\0\0/bin/cp\0\0a\0SECRET=1";
	static const char lie[] = "\7\0\0\0/bin/cp\0cp\0a\0";
	static char large[300000];
	plim_text text;

	(void)state;
	arguments(plain, sizeof plain);
	text = line();
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_int_equal(text.method, PLIM_METHOD_MAC_ARGUMENTS);
	assert_int_equal(text.bytes.size, 8);
	assert_memory_equal(text.bytes.data, "cp\0a b\0", 8);
	arguments(empty, sizeof empty);
	text = line();
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_int_equal(text.bytes.size, 3);
	assert_memory_equal(text.bytes.data, "\0a\0", 3);
	arguments(lie, sizeof lie - 1);
	text = line();
	assert_int_equal(text.state, PLIM_STATE_TRUNCATED);
	assert_int_equal(text.bytes.size, 5);
	memset(large, 'x', sizeof large);
	memcpy(large, "\1\0\0\0/bin/cp", 12);
	large[sizeof large - 1] = '\0';
	arguments(large, sizeof large);
	text = line();
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_int_equal(text.bytes.size, sizeof large - 12);
	fake_find(200)->uid = 0;
	text = line();
	assert_int_equal(text.state, PLIM_STATE_DENIED);
	fake_find(200)->uid = FAKE_UID;
	fake_end(fake_find(200));
	assert_int_equal(line().method, PLIM_REASON_ZOMBIE);
	fake_find(200)->status = PLIMP_MAC_RUN;
	fake_find(200)->flags = PLIMP_MAC_FLAG_EXITING;
	assert_int_equal(line().method, PLIM_REASON_ENDED);
	fake_find(200)->flags = 0;
	/* The pid has a new owner between the two looks. */
	fake_find(200)->replaced_after = 1;
	text = line();
	assert_int_equal(text.state, PLIM_STATE_GONE);
	assert_null(text.bytes.data);
	fake_remove(200);
	assert_int_equal(line().state, PLIM_STATE_GONE);
}

static void test_watch(void **state)
{
	plim_watch *watch = NULL;
	plim_identity identity = plim_target_identity(target);
	plim_identity start;

	(void)state;
	assert_int_equal(plim_watch_new(&watch, host, NULL), PLIM_OK);
	assert_int_equal(plim_watch_add(watch, &identity, NULL), PLIM_OK);
	assert_int_equal(plim_watch_refresh(watch, NULL), PLIM_OK);
	fake.absolute += 24000000;
	fake_find(200)->rusage.user_ticks += 6000000;
	fake_find(200)->rusage.system_ticks += 6000000;
	assert_int_equal(plim_watch_refresh(watch, NULL), PLIM_OK);
	assert_int_equal(plim_watch_cpu(watch, 0).value, 500000000);
	assert_true(plim_watch_percent(watch, 0).value == 50.0);
	fake_find(200)->id++;
	assert_int_equal(plim_watch_refresh(watch, NULL), PLIM_OK);
	assert_int_equal(plim_watch_cpu(watch, 0).state, PLIM_STATE_GONE);
	assert_int_equal(plim_watch_add(watch, &identity, NULL),
			 PLIM_EREPLACED);
	/* By the start alone; and by nothing. */
	start = identity;
	start.has = PLIM_IDENTITY_START;
	assert_int_equal(plim_watch_add(watch, &start, NULL), PLIM_OK);
	start.has = 0;
	start.pid = FAKE_SELF;
	assert_int_equal(plim_watch_add(watch, &start, NULL), PLIM_ECANNOTTELL);
	plim_watch_free(watch);
}

static void test_reap(void **state)
{
	plim_usage *usage = NULL;
	const plim_process *record;
	plim_error error;
	int status = 0;

	(void)state;
	fake_find(200)->rusage.interrupt_wakeups = 40;
	fake_find(200)->rusage.child_interrupt_wakeups = 2;
	fake_find(200)->rusage.disk_written = 12345;
	fake_find(200)->rusage.lifetime_max_footprint = 99 << 20;
	fake_find(200)->exit_status = 3 << 8;
	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	assert_int_equal(plim_usage_reap(usage, 200, &status, &error), PLIM_OK);
	record = plim_usage_process(usage);
	assert_int_equal(status, 3 << 8);
	assert_int_equal(plim_process_count(record, PLIM_FIELD_CPU).value,
			 1000000000);
	assert_int_equal(plim_process_count(record, PLIM_FIELD_CPU).method,
			 PLIM_METHOD_WAIT4);
	assert_int_equal(plim_process_count(record, PLIM_FIELD_WAKEUPS).value,
			 42);
	assert_int_equal(
	    plim_process_count(record, PLIM_FIELD_DISK_WRITE).value, 12345);
	assert_int_equal(
	    plim_process_count(record, PLIM_FIELD_PEAK_RESIDENT).value,
	    99 << 20);
	assert_int_equal(
	    plim_process_count(record, PLIM_FIELD_FAULTS_MINOR).value, 41);
	assert_int_equal(plim_process_count(record, PLIM_FIELD_RESIDENT).state,
			 PLIM_STATE_GONE);
	assert_int_equal(
	    plim_process_count(record, PLIM_FIELD_IDENTITY_RUNG).value,
	    PLIM_RUNG_INODE);
	assert_null(fake_find(200));
	assert_int_equal(plim_usage_reap(usage, 200, &status, &error),
			 PLIM_ENOPROCESS);
	plim_usage_free(usage);
}

/* Two questions, with what plim_usage_basic() has; none about who we are. */
static void test_self(void **state)
{
	plim_usage *usage = NULL;
	plim_field_set basic = plim_usage_basic();
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	const plim_process *record;

	(void)state;
	fake_find(FAKE_SELF)->rusage.interrupt_wakeups = 17;
	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	assert_int_equal(plim_usage_refresh_self(usage, &basic, NULL), PLIM_OK);
	assert_int_equal(plim_usage_cost(usage).system_calls, 2);
	record = plim_usage_process(usage);
	assert_int_equal(plim_process_count(record, PLIM_FIELD_WAKEUPS).value,
			 17);
	assert_int_equal(plim_process_identity(record).inode, 1100);
	assert_int_equal(plim_process_text(record, PLIM_FIELD_NAME).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(plim_usage_refresh_self(usage, &all, NULL), PLIM_OK);
	record = plim_usage_process(usage);
	assert_int_equal(plim_process_text(record, PLIM_FIELD_NAME).bytes.size,
			 8);
	assert_int_equal(plim_process_count(record, PLIM_FIELD_PPID).value, 1);
	plim_usage_free(usage);
}

static void test_forked(void **state)
{
	plim_usage *usage = NULL;
	plim_error error;

	(void)state;
	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	fake.own_pid = 201;
	assert_int_equal(plim_usage_refresh_self(usage, NULL, &error),
			 PLIM_EUNSUPPORTED);
	plim_usage_free(usage);
}

struct surveyed {
	int count;
	int denied;
	int translated;
};

static int on_finding(const plim_finding *finding, void *user)
{
	struct surveyed *surveyed = user;

	surveyed->count++;
	if (strcmp(finding->subject, "other users' processes") == 0)
		surveyed->denied = finding->state == PLIM_STATE_DENIED;
	if (strcmp(finding->subject, "CPU time") == 0)
		surveyed->translated = finding->state == PLIM_STATE_UNSUPPORTED;
	return 0;
}

static void test_survey(void **state)
{
	struct surveyed surveyed = {0};

	(void)state;
	assert_int_equal(plim_host_survey(host, on_finding, &surveyed, NULL),
			 PLIM_OK);
	assert_true(surveyed.count >= 8);
	assert_int_equal(surveyed.denied, 0);
	assert_int_equal(surveyed.translated, 0);
	fake_add(300, 1, "theirs")->uid = 0;
	assert_int_equal(plim_host_survey(host, on_finding, &surveyed, NULL),
			 PLIM_OK);
	assert_int_equal(surveyed.denied, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_fate),	     TEST(test_usage),	TEST(test_open),
	    TEST(test_wait),	     TEST(test_signal), TEST(test_wait_others),
	    TEST(test_command_line), TEST(test_watch),	TEST(test_reap),
	    TEST(test_wait_forked),  TEST(test_self),	TEST(test_forked),
	    TEST(test_survey),
	};

	return cmocka_run_group_tests_name("macos_target", tests, NULL, NULL);
}
