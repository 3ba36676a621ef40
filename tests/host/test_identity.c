/*
 * test_identity.c - a process stays itself through exec, renaming and a new
 * parent; what is none, or another, is called so. Every test runs on both
 * rungs of the ladder.
 */
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint32_t identity_flags[] = {0, PLIM_HOST_NO_INODE,
					  PLIM_HOST_NO_PIDFD};
#define IDENTITY_FLAGS (sizeof(identity_flags) / sizeof(identity_flags[0]))

/* Two rounds agree on who this is, whatever they read. */
static void test_stable(void **state)
{
	(void)state;
	for (size_t i = 0; i < IDENTITY_FLAGS; i++) {
		plim_host *host = open_host(identity_flags[i]);
		plim_snapshot *first = new_snapshot(host);
		plim_snapshot *last = new_snapshot(host);
		plim_target *target = open_target(host, getpid());
		plim_identity a;
		plim_identity b;
		plim_identity c = plim_target_identity(target);

		take(first);
		child_sleep_ms(30);
		take(last);
		a = plim_process_identity(plim_snapshot_find(first, getpid()));
		b = plim_process_identity(plim_snapshot_find(last, getpid()));
		assert_int_equal(plim_identity_compare(&a, &b), PLIM_SAME);
		assert_int_equal(plim_identity_compare(&a, &c), PLIM_SAME);
		assert_int_equal(a.pid, getpid());
		assert_int_equal(
		    plim_identity_rung(&c),
		    plim_host_count(host, PLIM_HOST_IDENTITY_RUNG).value);
		if (identity_flags[i] != 0)
			assert_int_equal(plim_identity_rung(&c),
					 PLIM_RUNG_START);
		expect_fate(target, PLIM_FATE_SAME, 0, 0);
		plim_target_close(target);
		plim_snapshot_free(first);
		plim_snapshot_free(last);
		plim_host_close(host);
	}
}

/* The inode rung where the kernel has it: pidfs, Linux 6.9. */
static void test_strongest_rung(void **state)
{
	plim_host *host = open_host(0);

	(void)state;
	assert_int_equal(plim_host_count(host, PLIM_HOST_IDENTITY_RUNG).value,
			 kernel_version() >= 6009 ? PLIM_RUNG_INODE
						  : PLIM_RUNG_START);
	plim_host_close(host);
}

/* What is printed of an identity opens the same process again. */
static void test_text_opens(void **state)
{
	(void)state;
	for (size_t i = 0; i < IDENTITY_FLAGS; i++) {
		plim_host *host = open_host(identity_flags[i]);
		plim_target *target = open_target(host, getppid());
		plim_target *again = NULL;
		plim_identity identity = plim_target_identity(target);
		plim_identity back = {0};
		char text[48];

		plim_identity_format(&identity, text, sizeof(text));
		assert_int_equal(plim_identity_parse(text, &back, NULL),
				 PLIM_OK);
		assert_int_equal(
		    plim_target_open_identity(&again, host, &back, NULL),
		    PLIM_OK);
		back = plim_target_identity(again);
		assert_int_equal(plim_identity_compare(&identity, &back),
				 PLIM_SAME);
		plim_target_close(again);
		plim_target_close(target);
		plim_host_close(host);
	}
}

/* The same pid with another start, another inode, or no proof at all. */
static void test_wrong_proof(void **state)
{
	(void)state;
	for (size_t i = 0; i < IDENTITY_FLAGS; i++) {
		plim_host *host = open_host(identity_flags[i]);
		plim_target *target = open_target(host, getpid());
		plim_identity mine = plim_target_identity(target);
		plim_identity other = {.pid = mine.pid,
				       .has = PLIM_IDENTITY_START,
				       .start_ticks = mine.start_ticks + 1};
		plim_identity bare = {.pid = mine.pid};
		plim_target *out = target;
		plim_error error = {0};

		assert_int_equal(
		    plim_target_open_identity(&out, host, &other, &error),
		    PLIM_EREPLACED);
		assert_int_equal(error.code, PLIM_EREPLACED);
		assert_ptr_equal(out, target);
		if (mine.has & PLIM_IDENTITY_INODE) {
			other = (plim_identity){.pid = mine.pid,
						.has = PLIM_IDENTITY_INODE,
						.inode = mine.inode + 1};
			assert_int_equal(
			    plim_target_open_identity(&out, host, &other, NULL),
			    PLIM_EREPLACED);
		}
		assert_int_equal(
		    plim_target_open_identity(&out, host, &bare, NULL),
		    PLIM_ECANNOTTELL);
		assert_ptr_equal(out, target);
		plim_target_close(target);
		plim_host_close(host);
	}
}

/* exec in place: the same process, another image; told once. */
static void test_exec(void **state)
{
	(void)state;
	for (size_t i = 0; i < IDENTITY_FLAGS; i++) {
		char program[4096];
		const char *argv[] = {"before-exec", program, NULL};
		plim_host *host = open_host(identity_flags[i]);
		plim_usage *first = new_usage(host);
		plim_usage *last = new_usage(host);
		plim_target *target;
		struct spawn spawn;

		strcpy(program, spawn_path("idle"));
		spawn_start(&spawn, argv);
		target = open_target(host, spawn.pid);
		expect_fate(target, PLIM_FATE_SAME, 0, 0);
		measure(first, target);
		expect_text(plim_process_text(plim_usage_process(first),
					      PLIM_FIELD_NAME),
			    "before-exec", 11);
		spawn_send(&spawn, "exec");
		spawn_await_ready(&spawn);
		measure(last, target);
		expect_text(plim_process_text(plim_usage_process(last),
					      PLIM_FIELD_NAME),
			    "idle", 4);
		assert_int_equal(plim_process_change(plim_usage_process(first),
						     plim_usage_process(last),
						     PLIM_FIELD_CPU)
				     .state,
				 PLIM_STATE_KNOWN);
		expect_fate(target, PLIM_FATE_SAME,
			    PLIM_CHANGE_IMAGE | PLIM_CHANGE_NAME, 0);
		expect_fate(target, PLIM_FATE_SAME, 0, 0);
		spawn_end(&spawn);
		plim_target_close(target);
		plim_usage_free(first);
		plim_usage_free(last);
		plim_host_close(host);
	}
}

/* A new name is not a new image. */
static void test_rename(void **state)
{
	const char *const argv[] = {"renamer", NULL};
	plim_host *host = open_host(0);
	plim_target *target;
	struct spawn spawn;

	(void)state;
	spawn_start(&spawn, argv);
	target = open_target(host, spawn.pid);
	spawn_ask(&spawn, "name 6e65776e616d65");
	expect_fate(target, PLIM_FATE_SAME, PLIM_CHANGE_NAME, 0);
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	spawn_end(&spawn);
	plim_target_close(target);
	plim_host_close(host);
}

/* A parent whose child lives until the other end of `life` is closed, and
 * tells its pid. */
static void identity_parent(const int life[2], int tell)
{
	pid_t child;

	child_bind();
	child = fork();
	if (child == 0) {
		char byte;

		close(life[1]);
		alarm(60);
		_exit(read(life[0], &byte, 1) == 0 ? 0 : 1);
	}
	if (write(tell, &child, sizeof(child)) < 0)
		_exit(1);
	for (;;)
		pause();
}

/* A child whose parent has ended has another parent, and is the same. */
static void test_new_parent(void **state)
{
	plim_host *host = open_host(0);
	plim_usage *first = new_usage(host);
	plim_usage *last = new_usage(host);
	plim_target *target;
	pid_t orphan = 0;
	int life[2];
	int tell[2];
	pid_t parent;
	int status;
	plim_count change;

	(void)state;
	assert_int_equal(pipe(life), 0);
	assert_int_equal(pipe(tell), 0);
	parent = fork();
	if (parent == 0)
		identity_parent(life, tell[1]);
	assert_int_equal(read(tell[0], &orphan, sizeof(orphan)),
			 sizeof(orphan));
	target = open_target(host, orphan);
	measure(first, target);
	assert_int_equal(known(plim_usage_process(first), PLIM_FIELD_PPID),
			 (uint64_t)parent);
	kill(parent, SIGKILL);
	assert_int_equal(child_wait(parent, &status, 5000), 0);
	measure(last, target);
	assert_int_not_equal(known(plim_usage_process(last), PLIM_FIELD_PPID),
			     (uint64_t)parent);
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	change = plim_process_change(plim_usage_process(first),
				     plim_usage_process(last), PLIM_FIELD_CPU);
	assert_int_equal(change.state, PLIM_STATE_KNOWN);
	close(life[0]);
	close(life[1]);
	close(tell[0]);
	close(tell[1]);
	plim_target_close(target);
	plim_usage_free(first);
	plim_usage_free(last);
	plim_host_close(host);
}

static void *identity_thread(void *user)
{
	int *pipes = user;
	char byte;
	int32_t id = (int32_t)syscall(SYS_gettid);

	if (write(pipes[1], &id, sizeof(id)) < 0)
		return NULL;
	if (read(pipes[2], &byte, 1) < 0)
		return NULL;
	return NULL;
}

/* The id of a thread where a pid is asked: named with its process. */
static void test_thread_id(void **state)
{
	int pipes[4];
	int32_t id = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(pipe(pipes + 2), 0);
	pthread_create(&thread, NULL, identity_thread, pipes);
	assert_int_equal(read(pipes[0], &id, sizeof(id)), sizeof(id));
	for (size_t i = 0; i < IDENTITY_FLAGS; i++) {
		plim_host *host = open_host(identity_flags[i]);
		plim_target *target = NULL;
		plim_error error = {0};
		char own[16];

		assert_int_equal(plim_target_open(&target, host, id, &error),
				 PLIM_ETHREAD);
		snprintf(own, sizeof(own), "%d", (int)getpid());
		assert_non_null(strstr(error.detail, own));
		assert_null(target);
		plim_host_close(host);
	}
	close(pipes[3]);
	pthread_join(thread, NULL);
	close(pipes[0]);
	close(pipes[1]);
	close(pipes[2]);
}

/* Numbers that are no process. */
static void test_no_process(void **state)
{
	static const struct {
		int32_t pid;
		int code;
	} rows[] = {
	    {0, PLIM_EINVAL},		{-1, PLIM_EINVAL},
	    {INT32_MIN, PLIM_EINVAL},	{INT32_MAX, PLIM_ENOPROCESS},
	    {4194305, PLIM_ENOPROCESS}, /* above the kernel's last pid */
	};

	(void)state;
	for (size_t i = 0; i < IDENTITY_FLAGS; i++) {
		plim_host *host = open_host(identity_flags[i]);

		for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]);
		     row++) {
			plim_target *target = NULL;
			plim_error error = {0};

			assert_int_equal(plim_target_open(&target, host,
							  rows[row].pid,
							  &error),
					 rows[row].code);
			assert_int_equal(error.code, rows[row].code);
			assert_null(target);
		}
		plim_host_close(host);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stable),
	    cmocka_unit_test(test_strongest_rung),
	    cmocka_unit_test(test_text_opens),
	    cmocka_unit_test(test_wrong_proof),
	    cmocka_unit_test(test_exec),
	    cmocka_unit_test(test_rename),
	    cmocka_unit_test(test_new_parent),
	    cmocka_unit_test(test_thread_id),
	    cmocka_unit_test(test_no_process),
	};

	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
