/*
 * test_heaps.c - allocators of living processes, against what glibc says of
 * itself there; and what becomes of a walk while whose process ends, or
 * executes another program, in the middle of it.
 *
 * "In the middle" is made exact by the caller's allocator: the library asks it
 * for memory again and again while it walks, and one of these times it does
 * the deed.
 */
#include "common.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The address sanitizer brings its own malloc: gcc says so by a macro, clang
 * by a feature. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_OWN_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_OWN_MALLOC 1
#endif
#endif
#ifndef HAS_OWN_MALLOC
#define HAS_OWN_MALLOC 0
#endif

#define HEAPS_USER 65534

struct scene {
	struct spawn spawn;
	plim_host *host;
	plim_target *target;
	plim_heaps *heaps;
	uint64_t calls; /* of the allocator, since it was armed */
	uint64_t at;	/* the call at which the deed is done; 0: never */
	void (*deed)(struct scene *scene);
	int done;
};

static struct scene scene;

static void *scene_resize(void *memory, size_t old_size, size_t new_size,
			  void *user)
{
	struct scene *it = user;

	(void)old_size;
	if (new_size == 0) {
		free(memory);
		return NULL;
	}
	if (it->at != 0 && ++it->calls == it->at) {
		it->done = 1;
		it->deed(it);
	}
	return realloc(memory, new_size);
}

static void scene_begin(const char *const *argv)
{
	plim_host_options options = {
	    .size = sizeof(options),
	    .allocator = {scene_resize, &scene},
	};

	memset(&scene, 0, sizeof(scene));
	spawn_start(&scene.spawn, argv);
	assert_int_equal(plim_host_open(&scene.host, &options, NULL), PLIM_OK);
	scene.target = open_target(scene.host, scene.spawn.pid);
	assert_int_equal(plim_heaps_new(&scene.heaps, scene.host, NULL),
			 PLIM_OK);
}

static void scene_end(void)
{
	scene.at = 0;
	plim_heaps_free(scene.heaps);
	plim_target_close(scene.target);
	plim_host_close(scene.host);
	spawn_end(&scene.spawn);
}

static const plim_heap *heap_of(const plim_heaps *heaps, int kind)
{
	for (size_t i = 0; i < plim_heaps_count(heaps); i++)
		if (plim_heap_about(plim_heaps_at(heaps, i)).kind == kind)
			return plim_heaps_at(heaps, i);
	return NULL;
}

static uint64_t heap_bytes(const plim_heap *heap, int figure)
{
	plim_count count = plim_heap_figure(heap, figure);

	if (count.state != PLIM_STATE_KNOWN)
		fail_msg("%s is %s", plim_heap_figure_name(figure),
			 plim_reason_word(count.method));
	return count.value;
}

static const plim_heap *walked_glibc(void)
{
	const plim_heap *heap = heap_of(scene.heaps, PLIM_HEAP_OF_GLIBC);

	assert_non_null(heap);
	if (plim_heap_about(heap).depth != PLIM_DEPTH_WALKED)
		fail_msg("refused: %s", plim_heap_about(heap).why);
	return heap;
}

static void expect_truth(const plim_heap *heap)
{
	const struct spawn *spawn = &scene.spawn;

	assert_int_equal(heap_bytes(heap, PLIM_HEAP_IN_USE) +
			     heap_bytes(heap, PLIM_HEAP_TCACHE),
			 spawn_truth(spawn, "uordblks"));
	assert_int_equal(heap_bytes(heap, PLIM_HEAP_FREE) +
			     heap_bytes(heap, PLIM_HEAP_FASTBIN) +
			     heap_bytes(heap, PLIM_HEAP_TOP),
			 spawn_truth(spawn, "fordblks"));
	assert_int_equal(heap_bytes(heap, PLIM_HEAP_MMAPPED),
			 spawn_truth(spawn, "hblkhd"));
	assert_int_equal(heap_bytes(heap, PLIM_HEAP_MMAPPED_COUNT),
			 spawn_truth(spawn, "hblks"));
	assert_int_equal(heap_bytes(heap, PLIM_HEAP_SYSTEM),
			 spawn_truth(spawn, "arena"));
}

/* A quiet program: what glibc says, to the byte, and the parts of the verdict
 * that the kernel's figures bear out. */
static void test_live(void **state)
{
	static const char *const argv[] = {"heap", "threads", "3",   "kib",
					   "8192", "keep",    "300", NULL};
	plim_retention_memory memory = {.size = sizeof(memory)};
	plim_retention found;
	plim_heaps_facts facts;
	plim_heap_facts about;
	const plim_heap *heap;
	plim_usage *usage;
	const plim_process *process;

	(void)state;
	scene_begin(argv);
	spawn_ask(&scene.spawn, "truth");
	assert_int_equal(plim_heaps_walk(scene.heaps, scene.target, NULL, NULL),
			 PLIM_OK);
	heap = walked_glibc();
	expect_truth(heap);
	about = plim_heap_about(heap);
	assert_int_equal(about.confidence, PLIM_CONFIDENCE_CERTAIN);
	assert_string_equal(about.version, gnu_get_libc_version());
	assert_true(plim_heap_evidence_count(heap) > 0);
	assert_int_equal(plim_heap_arena_count(heap), 4);
	assert_int_equal(plim_heap_arena(heap, 0)->is_main, 1);
	facts = plim_heaps_about(scene.heaps);
	assert_int_equal(facts.source, PLIM_HEAPS_PROCESS);
	assert_int_equal(facts.pid, scene.spawn.pid);
	assert_int_equal(facts.has_residency, 1);
	assert_int_equal(facts.page_bytes, sysconf(_SC_PAGESIZE));
	assert_true(facts.memory_read_bytes.value >= 1 * MIB);
	assert_int_equal(facts.wall_ns.state, PLIM_STATE_KNOWN);
	usage = new_usage(scene.host);
	process = measure(usage, scene.target);
	memory.anonymous = plim_process_count(process, PLIM_FIELD_ANONYMOUS);
	memory.file = plim_process_count(process, PLIM_FIELD_FILE);
	assert_int_equal(plim_retention_find(scene.heaps, &memory, &found),
			 PLIM_OK);
	assert_true(heap_bytes(heap, PLIM_HEAP_RESIDENT) <=
		    memory.anonymous.value + 64 * 4096);
	/* 3 x 8 MiB, of which 300 of 1,000 blocks are kept. */
	assert_true(found.parts[PLIM_RETENTION_LIVE].value > 5 * MIB &&
		    found.parts[PLIM_RETENTION_LIVE].value < 11 * MIB);
	assert_true(found.retained.value > 12 * MIB &&
		    found.retained.value < 22 * MIB);
	assert_int_equal(found.rss_falls.value,
			 heap_bytes(heap, PLIM_HEAP_TRIM_RETURNS));
	plim_usage_free(usage);
	scene_end();
}

/* Named alone: nothing of its blocks is read, and the figures say so. */
static void test_recognise(void **state)
{
	static const char *const argv[] = {"heap", "kib", "1024", NULL};
	plim_heaps_options options = {.size = sizeof(options),
				      .flags = PLIM_HEAPS_RECOGNISE};
	const plim_heap *heap;

	(void)state;
	scene_begin(argv);
	assert_int_equal(
	    plim_heaps_walk(scene.heaps, scene.target, &options, NULL),
	    PLIM_OK);
	heap = heap_of(scene.heaps, PLIM_HEAP_OF_GLIBC);
	assert_non_null(heap);
	assert_int_equal(plim_heap_about(heap).depth, PLIM_DEPTH_RECOGNISED);
	assert_string_equal(plim_heap_about(heap).version,
			    gnu_get_libc_version());
	assert_int_equal(plim_heap_figure(heap, PLIM_HEAP_IN_USE).method,
			 PLIM_REASON_NOT_ASKED);
	options.flags = 77;
	assert_int_equal(
	    plim_heaps_walk(scene.heaps, scene.target, &options, NULL),
	    PLIM_EINVAL);
	options.flags = 0;
	options.size = 1;
	assert_int_equal(
	    plim_heaps_walk(scene.heaps, scene.target, &options, NULL),
	    PLIM_EINVAL);
	scene_end();
}

/* Ourselves: the walk changes what it counts, and says by how much at most. */
static void test_self(void **state)
{
	static const char *const argv[] = {"heap", "kib", "64", NULL};
	const plim_heap *heap;
	void *held = malloc(10 * MIB);

	(void)state;
	scene_begin(argv);
	memset(held, 1, 10 * MIB);
	assert_int_equal(plim_heaps_walk(scene.heaps, NULL, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(plim_heaps_about(scene.heaps).pid, getpid());
	heap = heap_of(scene.heaps, PLIM_HEAP_OF_GLIBC);
#if !HAS_OWN_MALLOC
	assert_non_null(heap);
	if (plim_heap_about(heap).depth == PLIM_DEPTH_WALKED)
		assert_true(heap_bytes(heap, PLIM_HEAP_MMAPPED) >= 10 * MIB);
	else
		assert_int_equal(plim_heap_about(heap).missing.state,
				 PLIM_STATE_MALFORMED);
#else
	(void)heap;
#endif
	free(held);
	scene_end();
}

static void deed_kill(struct scene *it)
{
	siginfo_t info;

	assert_int_equal(kill(it->spawn.pid, SIGKILL), 0);
	assert_int_equal(
	    waitid(P_PID, (id_t)it->spawn.pid, &info, WEXITED | WNOWAIT), 0);
}

static void deed_reap(struct scene *it)
{
	deed_kill(it);
	assert_int_equal(waitpid(it->spawn.pid, NULL, 0), it->spawn.pid);
}

static void deed_exec(struct scene *it)
{
	spawn_send(&it->spawn, "exec");
	spawn_await_ready(&it->spawn);
}

/* At every moment of a walk: the right error and the last result, or the new
 * program whole, but never of both. */
static void expect_fate_of_walk(void (*deed)(struct scene *it), int expected)
{
	static const char *const argv[] = {"heap", "kib", "4096",
					   "wait", "1",	  NULL};
	uint64_t at = 1;
	int fired = 0;

	for (;; at = at < 8 ? at + 1 : at + at / 2) {
		plim_error error = {.code = 0};
		uint64_t before;
		size_t count;
		int code;

		scene_begin(argv);
		spawn_ask(&scene.spawn, "load");
		spawn_ask(&scene.spawn, "truth");
		assert_int_equal(
		    plim_heaps_walk(scene.heaps, scene.target, NULL, NULL),
		    PLIM_OK);
		expect_truth(walked_glibc());
		count = plim_heaps_count(scene.heaps);
		before = heap_bytes(walked_glibc(), PLIM_HEAP_IN_USE);
		scene.deed = deed;
		scene.at = at;
		code = plim_heaps_walk(scene.heaps, scene.target, NULL, &error);
		scene.at = 0;
		if (!scene.done) {
			assert_int_equal(code, PLIM_OK);
			scene_end();
			break;
		}
		fired++;
		if (code == PLIM_OK) {
			/* It was done before anything was read. */
			assert_int_equal(expected, PLIM_EIMAGE);
			spawn_ask(&scene.spawn, "truth");
			expect_truth(walked_glibc());
			assert_true(heap_bytes(walked_glibc(),
					       PLIM_HEAP_IN_USE) < before);
		} else {
			assert_int_equal(code, expected);
			assert_int_equal(error.code, expected);
			assert_int_equal(plim_heaps_count(scene.heaps), count);
			assert_int_equal(
			    heap_bytes(walked_glibc(), PLIM_HEAP_IN_USE),
			    before);
		}
		scene_end();
	}
	assert_true(fired > 8);
}

static void test_killed(void **state)
{
	(void)state;
	expect_fate_of_walk(deed_kill, PLIM_ENOPROCESS);
}

static void test_reaped(void **state)
{
	(void)state;
	expect_fate_of_walk(deed_reap, PLIM_ENOPROCESS);
}

static void test_executed(void **state)
{
	(void)state;
	expect_fate_of_walk(deed_exec, PLIM_EIMAGE);
}

/* Another user's: refused, with what would allow it, and nothing is shown. */
static void denied_child(void *user)
{
	pid_t pid = *(pid_t *)user;
	plim_heaps *heaps = NULL;
	plim_target *target;
	plim_host *host;
	plim_error error = {.code = 0};

	if (getuid() == 0)
		child_become(HEAPS_USER);
	host = open_host(0);
	target = open_target(host, pid);
	assert_int_equal(plim_heaps_new(&heaps, host, NULL), PLIM_OK);
	assert_int_equal(plim_heaps_walk(heaps, target, NULL, &error),
			 PLIM_EDENIED);
	assert_int_equal(error.code, PLIM_EDENIED);
	assert_non_null(strstr(error.detail, "CAP_SYS_PTRACE"));
	assert_int_equal(plim_heaps_count(heaps), 0);
	assert_int_equal(plim_heaps_about(heaps).source, PLIM_HEAPS_NOTHING);
	plim_heaps_free(heaps);
	plim_target_close(target);
	plim_host_close(host);
}

static void test_denied(void **state)
{
	static const char *const argv[] = {"heap", "kib", "64", NULL};
	struct spawn spawn;
	pid_t pid = 1;

	(void)state;
	if (getuid() == 0) {
		spawn_start(&spawn, argv);
		pid = spawn.pid;
	}
	child_run(denied_child, &pid);
	if (getuid() == 0)
		spawn_end(&spawn);
}

/* A process that ended before, and one that waits to be reaped. */
static void test_gone(void **state)
{
	static const char *const argv[] = {"heap", "kib", "64", NULL};

	(void)state;
	scene_begin(argv);
	deed_kill(&scene);
	assert_int_equal(plim_heaps_walk(scene.heaps, scene.target, NULL, NULL),
			 PLIM_ENOPROCESS);
	assert_int_equal(waitpid(scene.spawn.pid, NULL, 0), scene.spawn.pid);
	assert_int_equal(plim_heaps_walk(scene.heaps, scene.target, NULL, NULL),
			 PLIM_ENOPROCESS);
	assert_int_equal(plim_heaps_count(scene.heaps), 0);
	scene_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_live),   cmocka_unit_test(test_recognise),
	    cmocka_unit_test(test_self),   cmocka_unit_test(test_killed),
	    cmocka_unit_test(test_reaped), cmocka_unit_test(test_executed),
	    cmocka_unit_test(test_denied), cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
