/*
 * test_macos_refused.c - what a made-up Mac does not tell: processes that a
 * sandbox hides, resources that an old kernel lacks, a clock without a scale,
 * starts of processes, command lines that are too long; and what plim doctor
 * says of it.
 */
#include "fake.h"

#include <plimsoll/births.h>
#include <plimsoll/snapshot.h>
#include <plimsoll/usage.h>
#include <plimsoll/watch.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static plim_host *host;

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	fake_add(200, FAKE_SELF, "somebody");
	return plim_host_open(&host, NULL, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	plim_host_close(host);
	return 0;
}

static void test_hidden(void **state)
{
	plim_snapshot *snapshot = NULL;
	plim_usage *usage = NULL;
	plim_watch *watch = NULL;
	plim_target *target = NULL;
	plim_target *other = NULL;
	plim_identity identity;
	plim_check check;
	plim_text line;
	plim_error error;

	(void)state;
	assert_int_equal(plim_snapshot_new(&snapshot, host, NULL), PLIM_OK);
	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	assert_int_equal(plim_watch_new(&watch, host, NULL), PLIM_OK);
	assert_int_equal(plim_target_open(&target, host, 200, NULL), PLIM_OK);
	identity = plim_target_identity(target);
	fake.hidden = 200;
	assert_int_equal(plim_snapshot_take(snapshot, NULL, NULL), PLIM_OK);
	assert_null(plim_snapshot_find(snapshot, 200));
	assert_int_equal(plim_snapshot_cost(snapshot).refused, 1);
	assert_int_equal(plim_snapshot_cost(snapshot).vanished, 0);
	/* "Cannot see" is never "gone". */
	assert_int_equal(plim_target_check(target, &check, NULL), PLIM_OK);
	assert_int_equal(check.fate, PLIM_FATE_HIDDEN);
	assert_int_equal(plim_usage_refresh(usage, target, NULL, &error),
			 PLIM_EHIDDEN);
	assert_int_equal(plim_target_open(&other, host, 200, &error),
			 PLIM_EHIDDEN);
	assert_int_equal(plim_watch_add(watch, &identity, &error),
			 PLIM_EHIDDEN);
	assert_int_equal(plim_target_command_line(target, &line, NULL),
			 PLIM_OK);
	assert_int_equal(line.state, PLIM_STATE_HIDDEN);
	plim_target_close(target);
	plim_watch_free(watch);
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
}

static void test_no_resources(void **state)
{
	plim_host *old = NULL;
	plim_snapshot *snapshot = NULL;
	const plim_process *process;

	(void)state;
	fake.rusage_most = 1;
	assert_int_equal(plim_host_open(&old, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_snapshot_new(&snapshot, old, NULL), PLIM_OK);
	assert_int_equal(plim_snapshot_take(snapshot, NULL, NULL), PLIM_OK);
	process = plim_snapshot_find(snapshot, 200);
	assert_int_equal(plim_process_count(process, PLIM_FIELD_CPU).method,
			 PLIM_REASON_KERNEL_LACKS);
	assert_int_equal(plim_process_count(process, PLIM_FIELD_PRIVATE).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_process_count(process, PLIM_FIELD_THREADS).state,
			 PLIM_STATE_KNOWN);
	assert_int_equal(plim_process_is_measured(process), 0);
	plim_snapshot_free(snapshot);
	plim_host_close(old);
}

static void test_no_scale(void **state)
{
	plim_host *none = NULL;
	plim_error error;

	(void)state;
	fake.scale = (struct plimp_mac_scale){0, 3};
	assert_int_equal(plim_host_open(&none, NULL, &error), PLIM_EMALFORMED);
	assert_null(none);
}

static void test_births(void **state)
{
	plim_target *target = NULL;
	plim_births *births = NULL;
	plim_births_counts counts;

	(void)state;
	assert_int_equal(plim_target_open(&target, host, 200, NULL), PLIM_OK);
	assert_int_equal(plim_births_open(&births, host, target, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(plim_births_method(births), PLIM_METHOD_NONE);
	assert_int_equal(plim_births_read(births, &counts, NULL), PLIM_OK);
	assert_int_equal(counts.processes_started.state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(counts.processes_started.method,
			 PLIM_REASON_HOST_NEVER);
	assert_int_equal(plim_births_poll_descriptor(births), -1);
	plim_births_free(births);
	plim_target_close(target);
	assert_int_equal(plim_allow_attach(200, NULL), PLIM_EUNSUPPORTED);
}

/* No more than ARG_MAX and its number is ever asked for. */
static void test_long_line(void **state)
{
	static char bytes[1024 * 1024 + 64];
	plim_target *target = NULL;
	plim_text line;

	(void)state;
	memset(bytes, 'x', sizeof bytes);
	memcpy(bytes, "\1\0\0\0/x", 7);
	bytes[sizeof bytes - 1] = '\0';
	fake_find(200)->arguments = bytes;
	fake_find(200)->arguments_size = 1024 * 1024;
	bytes[1024 * 1024 - 1] = '\0';
	assert_int_equal(plim_target_open(&target, host, 200, NULL), PLIM_OK);
	assert_int_equal(plim_target_command_line(target, &line, NULL),
			 PLIM_OK);
	assert_int_equal(line.state, PLIM_STATE_KNOWN);
	assert_int_equal(line.bytes.size, 1024 * 1024 - 7);
	fake_find(200)->arguments_size = sizeof bytes;
	assert_int_equal(plim_target_command_line(target, &line, NULL),
			 PLIM_OK);
	assert_int_not_equal(line.state, PLIM_STATE_KNOWN);
	fake_find(200)->arguments = "\1\0\0\0/never-ends";
	fake_find(200)->arguments_size = 15;
	assert_int_equal(plim_target_command_line(target, &line, NULL),
			 PLIM_OK);
	assert_int_equal(line.state, PLIM_STATE_MALFORMED);
	plim_target_close(target);
}

struct told {
	char subjects[512];
	char others[256]; /* text and remedy */
	int states[PLIM_STATE_MALFORMED + 1];
};

static int on_finding(const plim_finding *finding, void *user)
{
	struct told *told = user;
	size_t used = strlen(told->subjects);

	assert_non_null(finding->text);
	assert_non_null(finding->remedy);
	snprintf(told->subjects + used, sizeof told->subjects - used, "%s:%s ",
		 finding->subject, plim_state_word(finding->state));
	told->states[finding->state]++;
	if (strstr(finding->subject, "other users") != NULL)
		snprintf(told->others, sizeof told->others, "%s; %s",
			 finding->text, finding->remedy);
	return 0;
}

static void survey(struct told *told)
{
	plim_host *asked = NULL;

	memset(told, 0, sizeof *told);
	assert_int_equal(plim_host_open(&asked, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_host_survey(asked, on_finding, told, NULL),
			 PLIM_OK);
	plim_host_close(asked);
}

static void test_survey(void **state)
{
	struct told told;

	(void)state;
	survey(&told);
	assert_non_null(strstr(told.subjects, "identity:known "));
	assert_non_null(strstr(told.subjects, "resources:known "));
	assert_non_null(strstr(told.subjects, "signals:unsupported "));
	assert_non_null(strstr(told.subjects, "processes:pending "));
	fake_add(300, 1, "theirs")->uid = 0;
	fake.has_signal = 1;
	fake.translated = 1;
	fake.rusage_most = 1;
	survey(&told);
	/* Not for want of permission: "ask as root" would not help. */
	assert_non_null(strstr(told.subjects, "processes:unsupported "));
	assert_non_null(strstr(told.others, "could not be asked: ENOSYS"));
	assert_null(strstr(told.others, "root"));
	assert_non_null(strstr(told.subjects, "resources:unsupported "));
	assert_non_null(strstr(told.subjects, "CPU time:unsupported "));
	assert_non_null(strstr(told.subjects, "signals:known "));
	fake.rusage_most = 3;
	survey(&told);
	assert_non_null(strstr(told.subjects, "resources:known "));
	assert_non_null(strstr(told.subjects, "processes:denied "));
	assert_non_null(strstr(told.others, "ask as root"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_hidden), TEST(test_no_resources), TEST(test_no_scale),
	    TEST(test_births), TEST(test_long_line),	TEST(test_survey),
	};

	return cmocka_run_group_tests_name("macos_refused", tests, NULL, NULL);
}
