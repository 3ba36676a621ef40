/*
 * test_macos_memory.c - every allocation of the backend of macOS fails in
 * turn: nothing leaks, nothing is lost that was there before, and the error
 * says what it was.
 */
#include "fake.h"

#include <plimsoll/snapshot.h>
#include <plimsoll/thread.h>
#include <plimsoll/tree.h>
#include <plimsoll/usage.h>
#include <plimsoll/watch.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

struct counting {
	size_t held; /* bytes */
	size_t calls;
	size_t fails_at; /* 0: never */
};

static void *resize(void *memory, size_t old_size, size_t new_size, void *user)
{
	struct counting *counting = user;
	void *moved;

	if (new_size == 0) {
		counting->held -= old_size;
		free(memory);
		return NULL;
	}
	if (++counting->calls == counting->fails_at)
		return NULL;
	moved = realloc(memory, new_size);
	if (moved != NULL)
		counting->held += new_size - old_size;
	return moved;
}

/* 0 if everything came, 1 if an allocation failed. */
static int use(plim_host *host)
{
	plim_snapshot *snapshot = NULL;
	plim_threads *threads = NULL;
	plim_target *target = NULL;
	plim_usage *usage = NULL;
	plim_watch *watch = NULL;
	plim_tree *tree = NULL;
	plim_identity identity;
	plim_text text;
	int code = plim_snapshot_new(&snapshot, host, NULL);

	if (code == PLIM_OK)
		code = plim_snapshot_take(snapshot, NULL, NULL);
	if (code == PLIM_OK)
		code = plim_target_open(&target, host, 200, NULL);
	if (code == PLIM_OK)
		code = plim_threads_new(&threads, host, NULL);
	if (code == PLIM_OK)
		code = plim_threads_sample(threads, target, NULL, NULL);
	if (code == PLIM_OK)
		code = plim_usage_new(&usage, host, NULL);
	if (code == PLIM_OK)
		code = plim_usage_refresh(usage, target, NULL, NULL);
	if (code == PLIM_OK)
		code = plim_usage_refresh_self(usage, NULL, NULL);
	if (code == PLIM_OK)
		code = plim_target_command_line(target, &text, NULL);
	if (code == PLIM_OK)
		code = plim_watch_new(&watch, host, NULL);
	if (code == PLIM_OK) {
		identity = plim_target_identity(target);
		code = plim_watch_add(watch, &identity, NULL);
	}
	if (code == PLIM_OK)
		code = plim_tree_new(&tree, host, NULL);
	if (code == PLIM_OK)
		code = plim_tree_usage(tree, target, NULL, NULL);
	if (code == PLIM_OK)
		assert_int_equal(plim_tree_size(tree), 2);
	plim_tree_free(tree);
	plim_watch_free(watch);
	plim_usage_free(usage);
	plim_threads_free(threads);
	plim_target_close(target);
	plim_snapshot_free(snapshot);
	assert_true(code == PLIM_OK || code == PLIM_ENOMEM);
	return code != PLIM_OK;
}

static void test_each_fails(void **state)
{
	static struct fake_thread thread = {.id = 9, .name = "only"};
	static const char line[] = "\1\0\0\0/bin/x\0\0x\0";
	size_t failures = 0;
	int failed = 1;

	(void)state;
	while (failed) {
		struct counting counting = {.fails_at = ++failures};
		plim_host_options options = {
		    .size = sizeof options,
		    .allocator = {resize, &counting},
		};
		plim_host *host = NULL;
		struct fake_process *parent;

		fake_reset();
		parent = fake_add(200, FAKE_SELF, "parent");
		parent->threads = &thread;
		parent->thread_count = 1;
		parent->arguments = line;
		parent->arguments_size = sizeof line;
		parent->path = "/bin/x";
		fake_add(201, 200, "child");
		failed = plim_host_open(&host, &options, NULL) != PLIM_OK;
		if (!failed)
			failed = use(host);
		plim_host_close(host);
		assert_int_equal(counting.held, 0);
		assert_int_equal(fake.queues, 0);
		assert_true(failed || counting.calls < failures);
	}
	assert_true(failures > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_fails),
	};

	return cmocka_run_group_tests_name("macos_memory", tests, NULL, NULL);
}
