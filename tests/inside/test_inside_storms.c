/*
 * test_inside_storms.c - what a process does while it samples itself is what it
 * does without: each storm (storm.h) is run both ways, has to end in time with
 * the same output and status, and was really sampled.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "skip.h"

#define STORM_SKIPPED 77
#define STORM_MS      60000
#define STORM_TEXT    8192

enum expected {
	SIGNALS = 1,   /* samples by a signal */
	NO_SIGNAL = 2, /* not one, for nobody may get one */
	NOTHING = 3    /* nor any sample, which it says, and why */
};

struct expectation {
	const char *name;
	const char *option;
	unsigned percent; /* samples of those that its CPU time makes; 0: 1 */
	int signals;
};

struct outcome {
	int status;
	char text[STORM_TEXT];
	char told[STORM_TEXT];
};

static void beside(char path[4096], const char *name)
{
	ssize_t size = readlink("/proc/self/exe", path, 3840);
	char *slash;

	assert_true(size > 0);
	path[size] = '\0';
	slash = strrchr(path, '/');
	assert_non_null(slash);
	snprintf(slash + 1, 128, "%s", name);
}

static void collect(int file, char *text)
{
	ssize_t got = pread(file, text, STORM_TEXT - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	close(file);
}

/* NULL words are left out. */
static void run_storm(const char *name, const char *session, const char *option,
		      struct outcome *outcome)
{
	int out = memfd_create("output", MFD_CLOEXEC);
	int errors = memfd_create("errors", MFD_CLOEXEC);
	const char *words[5] = {"storm"};
	char path[4096];
	int count = 1;
	pid_t child;

	beside(path, "storm");
	if (session != NULL)
		words[count++] = session;
	if (session != NULL && option != NULL)
		words[count++] = option;
	words[count] = name;
	assert_true(out >= 0 && errors >= 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		child_bind();
		if (dup2(out, 1) != 1 || dup2(errors, 2) != 2)
			_exit(126);
		execv(path, (char *const *)(uintptr_t)words);
		_exit(127);
	}
	if (child_wait(child, &outcome->status, STORM_MS) != 0) {
		kill(child, SIGKILL);
		waitpid(child, &outcome->status, 0);
		fail_msg("%s %s did not end in time", name,
			 session != NULL ? "with a session" : "alone");
	}
	collect(out, outcome->text);
	collect(errors, outcome->told);
}

static unsigned long figure(const char *told, const char *name)
{
	const char *at = strstr(told, name);

	if (at == NULL)
		fail_msg("no \"%s\" in: %s", name, told);
	return strtoul(at + strlen(name), NULL, 10);
}

/* Rings and events tell of each ms of CPU time outside of the kernel; the other
 * sources come by the tick, and to nobody who may get no signal. */
static void sampled(const struct expectation *expectation, const char *told)
{
	const char *tiers = strstr(told, " tiers=");
	unsigned long running = figure(told, " running=");
	unsigned long signals = figure(told, " signals=");
	unsigned long due =
	    figure(told, " cpu_ms=") - figure(told, " system_ms=");
	int by_events;

	assert_non_null(tiers);
	if (expectation->signals == NOTHING) {
		assert_non_null(
		    strstr(told, "nothing: the thread blocks the signal"));
		assert_int_equal(running + figure(told, " blocked="), 0);
		assert_int_equal(signals, 0);
		return;
	}
	assert_null(strstr(told, "nothing: "));
	by_events = strstr(tiers, "perf") != NULL;
	if (strstr(tiers, "perf") == NULL &&
	    strstr(tiers, "cpu_timer") == NULL &&
	    strstr(tiers, "thread_signal") == NULL &&
	    strstr(tiers, "suspend") == NULL)
		SKIP_BECAUSE("perf events are refused to this user");
	if (running == 0 && (by_events || expectation->signals != NO_SIGNAL))
		fail_msg("it was not sampled");
	if (by_events && running * 100 < due * expectation->percent)
		fail_msg("%lu samples in %lu ms", running, due);
	if (expectation->signals == SIGNALS && signals == 0)
		fail_msg("none was by a signal");
	if (expectation->signals == NO_SIGNAL && signals != 0)
		fail_msg("%lu signals were sent", signals);
}

static void test_storm(void **state)
{
	const struct expectation *expectation = *state;
	static struct outcome alone;
	static struct outcome with;

	if (strcmp(expectation->name, "throws") == 0) {
		char path[4096];

		beside(path, "storm_throw_a.so");
		if (access(path, R_OK) != 0)
			SKIP_BECAUSE("there was no C++ compiler");
	}
	run_storm(expectation->name, NULL, NULL, &alone);
	if (WIFEXITED(alone.status) &&
	    WEXITSTATUS(alone.status) == STORM_SKIPPED)
		SKIP_BECAUSE("less than 6 GiB of memory are free");
	run_storm(expectation->name, "--session", expectation->option, &with);
	print_message("%s", with.told);
	if (alone.status != 0)
		fail_msg("alone: status %#x, %s", (unsigned)alone.status,
			 alone.told);
	if (with.status != 0)
		fail_msg("with a session: status %#x", (unsigned)with.status);
	assert_true(strlen(alone.text) > 0);
	assert_string_equal(alone.text, with.text);
	sampled(expectation, with.told);
}

static const struct expectation expectations[] = {
    {"waits", NULL, 50, NO_SIGNAL},
    {"polls", NULL, 50, NO_SIGNAL},
    {"masks", "--tier=perf", 50, NO_SIGNAL},
    {"handlers", NULL, 50, SIGNALS},
    {"altstacks", NULL, 50, SIGNALS},
    {"exits", NULL, 0, 0},
    {"contexts", NULL, 50, SIGNALS},
    {"starts", NULL, 30, SIGNALS},
    {"forks", NULL, 50, SIGNALS},
    {"spawns", NULL, 30, SIGNALS},
    {"exec", NULL, 50, SIGNALS},
    {"reloads", NULL, 50, SIGNALS},
    {"throws", NULL, 50, SIGNALS},
    {"waits", "--tier=cpu_timer", 0, NO_SIGNAL},
    {"altstacks", "--tier=cpu_timer", 0, SIGNALS},
    {"contexts", "--tier=cpu_timer", 0, SIGNALS},
    {"throws", "--tier=cpu_timer", 0, SIGNALS},
    {"waits", "--tier=thread_signal", 0, NO_SIGNAL},
    {"polls", "--tier=thread_signal", 0, NO_SIGNAL},
    {"altstacks", "--tier=thread_signal", 0, SIGNALS},
    {"exits", "--tier=thread_signal", 0, SIGNALS},
    {"throws", "--tier=thread_signal", 0, SIGNALS},
    {"waits", "--tier=suspend", 0, NOTHING},
    {"polls", "--tier=suspend", 0, NOTHING},
    {"masks", "--tier=suspend", 0, SIGNALS},
    {"handlers", "--tier=suspend", 0, SIGNALS},
    {"altstacks", "--tier=suspend", 0, SIGNALS},
    {"exits", "--tier=suspend", 0, SIGNALS},
    {"contexts", "--tier=suspend", 0, SIGNALS},
    {"starts", "--tier=suspend", 0, SIGNALS},
    {"forks", "--tier=suspend", 0, SIGNALS},
    {"spawns", "--tier=suspend", 0, SIGNALS},
    {"exec", "--tier=suspend", 0, SIGNALS},
    {"reloads", "--tier=suspend", 0, SIGNALS},
    {"throws", "--tier=suspend", 0, SIGNALS},
};

int main(void)
{
	enum { COUNT = sizeof(expectations) / sizeof(expectations[0]) };
	static char names[COUNT][64];
	struct CMUnitTest tests[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		const struct expectation *one = &expectations[i];

		snprintf(names[i], sizeof(names[i]), "%s%s%s", one->name,
			 one->option != NULL ? " " : "",
			 one->option != NULL ? one->option : "");
		tests[i] = (struct CMUnitTest){.name = names[i],
					       .test_func = test_storm,
					       .initial_state =
						   (void *)(uintptr_t)one};
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
