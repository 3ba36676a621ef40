/*
 * test_names.c - a process calls itself whatever it likes; its bytes are
 * carried as they are, and none of its figures is misread because of them.
 */
#include "common.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *what;
	const char *bytes;
	size_t size;
} names_rows[] = {
#define NAME(what, bytes)                      \
	{                                      \
		what, bytes, sizeof(bytes) - 1 \
	}
    NAME("a parenthesis, a state and a line", "a) R 1\n2 ("),
    NAME("leading blanks", "  lead"),
    NAME("trailing blanks", "trail  "),
    NAME("an inner blank", "in ner"),
    NAME("a terminal's escapes", "\x1b[31m\x1b]0;x\x07"),
    NAME("half a character at the limit", "0123456789abcd\xc3"),
    NAME("stray bytes", "\xff\xfe\x80"),
    NAME("parentheses alone", "))))(((())))"),
    NAME("one parenthesis", ")"),
    NAME("a whole stat line", ") Z 0 0 0 0"),
    NAME("a backslash", "a\\nb\\\\"),
    NAME("tabs and returns", "\t\r\x0b\x0c"),
    NAME("a C1 control", "\xc2\x9b"
			 "31m"),
    NAME("a right-to-left override", "\xe2\x80\xae"
				     "gpj"),
    NAME("quotes and commas", "\"',;=+@"),
    NAME("no byte at all", ""),
    NAME("markup", "<b>&amp;"),
    NAME("a path", "../../x/y"),
#undef NAME
};
#define NAMES_ROWS (sizeof(names_rows) / sizeof(names_rows[0]))

static void names_set(struct spawn *spawn, size_t row)
{
	char command[64] = "name ";
	size_t at = 5;

	for (size_t i = 0; i < names_rows[row].size; i++)
		at += (size_t)snprintf(
		    command + at, sizeof(command) - at, "%02x",
		    (unsigned)(unsigned char)names_rows[row].bytes[i]);
	spawn_ask(spawn, command);
}

/* What is known of the process but for its name does not depend on it. */
static void names_expect(const plim_process *it, size_t row, pid_t pid,
			 uint64_t ticks)
{
	plim_text name = plim_process_text(it, PLIM_FIELD_NAME);
	char escaped[256];
	size_t size;

	print_message("%s\n", names_rows[row].what);
	expect_text(name, names_rows[row].bytes, names_rows[row].size);
	expect_text(plim_process_text(it, PLIM_FIELD_STATE), "S", 1);
	assert_int_equal(known(it, PLIM_FIELD_PID), (uint64_t)pid);
	assert_int_equal(known(it, PLIM_FIELD_PPID), (uint64_t)getpid());
	assert_int_equal(known(it, PLIM_FIELD_START_TICKS), ticks);
	assert_int_equal(known(it, PLIM_FIELD_THREADS), 1);
	assert_int_equal(known(it, PLIM_FIELD_UID), geteuid());
	assert_int_equal(known(it, PLIM_FIELD_KERNEL_THREAD), 0);
	known(it, PLIM_FIELD_RESIDENT);
	known(it, PLIM_FIELD_ANONYMOUS);
	known(it, PLIM_FIELD_WAKEUPS);
	known(it, PLIM_FIELD_CPU);
	/* What is shown of it holds no control character. */
	size = plim_escape(PLIM_ESCAPE_TERMINAL, name.bytes, escaped,
			   sizeof(escaped));
	assert_true(size < sizeof(escaped));
	for (size_t i = 0; i < size; i++)
		assert_true((unsigned char)escaped[i] >= 0x20 &&
			    escaped[i] != 0x7f);
}

/* By target and by list, with the change of the name told. */
static void test_names(void **state)
{
	const char *const argv[] = {"renamer", NULL};
	plim_host *host = open_host(0);
	plim_usage *usage = new_usage(host);
	plim_snapshot *snapshot = new_snapshot(host);
	plim_target *target;
	struct spawn spawn;
	uint64_t ticks;

	(void)state;
	spawn_start(&spawn, argv);
	target = open_target(host, spawn.pid);
	ticks = known(measure(usage, target), PLIM_FIELD_START_TICKS);
	for (size_t row = 0; row < NAMES_ROWS; row++) {
		const plim_process *listed;

		names_set(&spawn, row);
		expect_fate(target, PLIM_FATE_SAME, PLIM_CHANGE_NAME, 0);
		/* It sleeps again once the answer is out. */
		child_sleep_ms(5);
		names_expect(measure(usage, target), row, spawn.pid, ticks);
		take(snapshot);
		listed = plim_snapshot_find(snapshot, spawn.pid);
		assert_non_null(listed);
		names_expect(listed, row, spawn.pid, ticks);
	}
	spawn_end(&spawn);
	plim_target_close(target);
	plim_snapshot_free(snapshot);
	plim_usage_free(usage);
	plim_host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
