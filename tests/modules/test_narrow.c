/*
 * test_narrow.c - a program of 32 bits is refused with that reason, whoever
 * asks: its registers and words are not those that are read here.
 */
#include "common.h"

#include <plimsoll.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct narrow {
	plim_host *host;
	pid_t pid;
	plim_target *target;
	int go; /* closed: it executes the program */
	int ready;
};

/* A child that executes the program when it is told to. */
static void narrow_hold(struct narrow *narrow)
{
	int go[2], ready[2];
	char byte;

	memset(narrow, 0, sizeof(*narrow));
	narrow->host = open_host(0);
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(ready), 0);
	narrow->pid = fork();
	assert_true(narrow->pid >= 0);
	if (narrow->pid == 0) {
		child_bind();
		close(go[1]);
		if (read(go[0], &byte, 1) != 0)
			_exit(1);
		dup2(ready[1], STDOUT_FILENO);
		close(ready[0]);
		close(ready[1]);
		execl(MODULE_FOLDER "/module-narrow", "narrow", (char *)NULL);
		_exit(errno == ENOENT ? 2 : 3);
	}
	close(go[0]);
	close(ready[1]);
	narrow->go = go[1];
	narrow->ready = ready[0];
	assert_int_equal(
	    plim_target_open(&narrow->target, narrow->host, narrow->pid, NULL),
	    PLIM_OK);
}

static void narrow_go(struct narrow *narrow)
{
	close(narrow->go);
	narrow->go = -1;
}

static void narrow_end(struct narrow *narrow)
{
	if (narrow->go >= 0)
		close(narrow->go);
	close(narrow->ready);
	kill(narrow->pid, SIGKILL);
	waitpid(narrow->pid, NULL, 0);
	plim_target_close(narrow->target);
	plim_host_close(narrow->host);
}

/* It runs; skips where no such program can. */
static void narrow_await(struct narrow *narrow)
{
	char byte;

	if (read(narrow->ready, &byte, 1) == 1)
		return;
	narrow_end(narrow);
	SKIP_BECAUSE("programs of 32 bits cannot be built or run here");
}

static void expect_refused(int code, const plim_error *error)
{
	char text[512];

	plim_error_message(error, text, sizeof(text));
	assert_int_equal(code, PLIM_EUNSUPPORTED);
	assert_int_equal(error->code, PLIM_EUNSUPPORTED);
	assert_non_null(strstr(text, "32 bits"));
}

static void test_running(void **state)
{
	plim_profile *profile = NULL;
	plim_code *code = NULL;
	plim_target *target;
	struct narrow narrow;
	plim_error error;

	(void)state;
	narrow_hold(&narrow);
	narrow_go(&narrow);
	narrow_await(&narrow);
	/* Anew: the other one is of the program before. */
	assert_int_equal(
	    plim_target_open(&target, narrow.host, narrow.pid, NULL), PLIM_OK);
	expect_refused(plim_code_open(&code, narrow.host, target, &error),
		       &error);
	assert_null(code);
	expect_refused(plim_profile_open(&profile, target, NULL, &error),
		       &error);
	assert_null(profile);
	plim_target_close(target);
	narrow_end(&narrow);
}

/* As of a command: what it executes is known when it does. */
static void test_executed(void **state)
{
	plim_profile_request request = {.size = sizeof(request),
					.duration_ns = 2000000000u,
					.flags = PLIM_PROFILE_ON_EXEC};
	plim_profile *profile = NULL;
	struct narrow narrow;
	plim_error error;
	int code;

	(void)state;
	narrow_hold(&narrow);
	code = plim_profile_open(&profile, narrow.target, &request, &error);
	if (code == PLIM_EDENIED) {
		narrow_end(&narrow);
		SKIP_BECAUSE("perf events are refused to this user");
	}
	assert_int_equal(code, PLIM_OK);
	narrow_go(&narrow);
	code = plim_profile_run(profile, &error);
	plim_profile_free(profile);
	narrow_await(&narrow);
	expect_refused(code, &error);
	narrow_end(&narrow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_running),
	    cmocka_unit_test(test_executed),
	};

	return cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
}
