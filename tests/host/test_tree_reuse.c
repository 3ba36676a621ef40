/*
 * test_tree_reuse.c - a member's pid that is used again, really, in a pid
 * namespace of its own: between two rounds, and in the middle of one.
 *
 * The middle of a round is reached through the allocator, which the library
 * calls between its steps in a first round: at one call after another the
 * member is ended and its pid given to a process that is none of the tree.
 */
#include "common.h"

#include "ns.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct reuse {
	size_t calls;
	size_t at; /* the call at which it happens; 0: never */
	pid_t root;
	pid_t victim;
	pid_t newcomer;
	plim_host *host;
	plim_target *target;
	plim_tree *tree;
	int sticky;
};

static pid_t idle_as(pid_t pid)
{
	pid_t child = ns_fork_as(pid);

	if (child == 0) {
		child_bind();
		for (;;)
			pause();
	}
	return child;
}

/* A root that waits for its only child, and stays. */
static void start_family(struct reuse *reuse)
{
	pid_t victim = ns_fresh_pid();
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	reuse->victim = victim;
	reuse->root = ns_fork_as(ns_fresh_pid());
	assert_true(reuse->root >= 0);
	if (reuse->root == 0) {
		child_bind();
		if (idle_as(victim) != victim || write(ends[1], "x", 1) != 1)
			_exit(1);
		waitpid(victim, NULL, 0);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
}

/* Ends the victim, lets its parent reap it, and gives its pid away. */
static void replace(struct reuse *reuse)
{
	kill(reuse->victim, SIGKILL);
	for (int i = 0; i < 5000 && kill(reuse->victim, 0) == 0; i++)
		child_sleep_ms(1);
	reuse->newcomer = idle_as(reuse->victim);
	if (reuse->newcomer != reuse->victim)
		abort();
}

static void *resize(void *memory, size_t old_size, size_t new_size, void *user)
{
	struct reuse *reuse = user;

	(void)old_size;
	if (new_size == 0) {
		free(memory);
		return NULL;
	}
	if (++reuse->calls == reuse->at)
		replace(reuse);
	return realloc(memory, new_size);
}

static void begin(struct reuse *reuse)
{
	plim_host_options options = {
	    .size = sizeof(options),
	    .allocator = {resize, reuse},
	};

	start_family(reuse);
	assert_int_equal(plim_host_open(&reuse->host, &options, NULL), PLIM_OK);
	reuse->target = open_target(reuse->host, reuse->root);
	assert_int_equal(plim_tree_new(&reuse->tree, reuse->host, NULL),
			 PLIM_OK);
}

static void end(struct reuse *reuse)
{
	int status;

	reuse->at = 0;
	plim_tree_free(reuse->tree);
	plim_target_close(reuse->target);
	plim_host_close(reuse->host);
	if (reuse->newcomer > 0) {
		kill(reuse->newcomer, SIGKILL);
		waitpid(reuse->newcomer, &status, 0);
	}
	kill(reuse->root, SIGKILL);
	waitpid(reuse->root, &status, 0);
}

static void take_round(struct reuse *reuse)
{
	plim_tree_options options = {
	    .size = sizeof(options),
	    .sticky = reuse->sticky,
	};

	assert_int_equal(
	    plim_tree_usage(reuse->tree, reuse->target, &options, NULL),
	    PLIM_OK);
}

/* The member that was read before it was replaced is not the newcomer. */
static void expect_old(struct reuse *reuse)
{
	plim_target *newcomer;
	plim_identity now;
	plim_identity old;

	if (kernel_version() < 6009)
		return; /* they may share their start tick */
	newcomer = open_target(reuse->host, reuse->victim);
	now = plim_target_identity(newcomer);
	old = plim_process_identity(plim_tree_at(reuse->tree, 1)->process);
	assert_int_equal(plim_identity_compare(&old, &now), PLIM_DIFFERENT);
	plim_target_close(newcomer);
}

/* At the call number `at`; 1 if there was one. */
static int in_the_middle(size_t at, int *vanished)
{
	struct reuse reuse = {.at = 0};
	int happened;

	begin(&reuse);
	reuse.calls = 0;
	reuse.at = at;
	take_round(&reuse);
	reuse.at = 0;
	happened = reuse.newcomer > 0;
	assert_int_equal(plim_process_pid(plim_tree_at(reuse.tree, 0)->process),
			 reuse.root);
	*vanished = (int)plim_tree_about(reuse.tree).vanished;
	if (!happened)
		assert_int_equal(plim_tree_size(reuse.tree), 2);
	else if (plim_tree_size(reuse.tree) == 2)
		expect_old(&reuse);
	else
		assert_int_equal(plim_tree_size(reuse.tree), 1);
	if (happened) {
		take_round(&reuse);
		assert_int_equal(plim_tree_size(reuse.tree), 1);
	}
	end(&reuse);
	return happened;
}

static void middle_body(void *user)
{
	int vanished;
	int all = 0;
	size_t at = 1;

	(void)user;
	while (in_the_middle(at, &vanished)) {
		assert_in_range(vanished, 0, 1);
		all += vanished;
		assert_true(++at < 100);
	}
	/* Before the pass over all processes, and after it. */
	assert_true(all > 0);
	assert_true(all < (int)at - 1);
}

static void test_middle(void **state)
{
	(void)state;
	ns_run(NULL, middle_body, NULL);
}

/* Between rounds, also of a tree whose members stay members. */
static void between_body(void *user)
{
	for (int sticky = 0; sticky < 2; sticky++) {
		struct reuse reuse = {.sticky = sticky};
		plim_tree_facts facts;

		begin(&reuse);
		take_round(&reuse);
		assert_int_equal(plim_tree_size(reuse.tree), 2);
		replace(&reuse);
		take_round(&reuse);
		facts = plim_tree_about(reuse.tree);
		assert_int_equal(plim_tree_size(reuse.tree), 1);
		assert_int_equal(facts.ended, 1);
		assert_int_equal(facts.vanished, 0);
		assert_int_equal(facts.reparented, 0);
		end(&reuse);
	}
	(void)user;
}

static void test_between(void **state)
{
	(void)state;
	ns_run(NULL, between_body, NULL);
}

/* The root's own pid belongs to another now, who has a child, too. */
static void root_body(void *user)
{
	struct reuse reuse = {.at = 0};
	pid_t root;

	(void)user;
	begin(&reuse);
	root = reuse.root;
	take_round(&reuse);
	kill(reuse.victim, SIGKILL);
	kill(root, SIGKILL);
	assert_int_equal(waitpid(root, NULL, 0), root);
	assert_int_equal(idle_as(root), root);
	take_round(&reuse);
	assert_int_equal(plim_tree_size(reuse.tree), 0);
	assert_int_equal(plim_tree_sum(reuse.tree, PLIM_FIELD_CPU).known, 0);
	end(&reuse);
}

static void test_root(void **state)
{
	(void)state;
	ns_run(NULL, root_body, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_middle),
	    cmocka_unit_test(test_between),
	    cmocka_unit_test(test_root),
	};

	return cmocka_run_group_tests_name("trees and reused pids", tests, NULL,
					   NULL);
}
