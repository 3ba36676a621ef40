/*
 * test_lens_image.c - an answer is of one image, or it says why not: a process
 * that executes another program, that ends, whose number is used again, that
 * is another user's, that has threads.
 */
#include "owner.h"

#include "ns.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define IMAGE_USER 65534

/* What every part of a lens answers. */
static void expect_all(struct view *view, int code)
{
	plim_count figures[PLIMP_FIGURES];
	struct plimp_stacks stacks = {0};
	plim_error error = {0};

	memset(figures, 0, sizeof(figures));
	assert_int_equal(plimp_system_lens_check(view->lens, &error), code);
	assert_int_equal(error.code, code);
	assert_int_equal(plimp_system_lens_status(view->lens, figures, NULL),
			 code);
	assert_int_equal(plimp_system_lens_rollup(view->lens, figures, NULL),
			 code);
	assert_int_equal(plimp_system_lens_maps(view->lens, &view->space, NULL),
			 code);
	assert_int_equal(
	    plimp_system_lens_smaps(view->lens, &view->space, NULL), code);
	assert_int_equal(plimp_system_lens_stacks(view->lens, &stacks, NULL),
			 code);
	plimp_stacks_release(view->host, &stacks);
	if (code == PLIM_OK)
		return;
	assert_int_equal(view->space.count, 0);
	for (size_t i = 0; i < PLIMP_FIGURES; i++)
		assert_int_equal(figures[i].state, PLIM_STATE_UNREAD);
}

/* Opens what a lens holds, so that it is of the first image. */
static void hold(struct view *view, uint64_t place)
{
	char bytes[16];
	uint8_t page = 0;
	size_t copied = 0;

	assert_int_equal(view->reader.pages(view->reader.user,
					    place & ~(PAGE - 1), 1, &page),
			 PLIM_OK);
	assert_true((page & PLIMP_PAGE_READABLE) != 0);
	assert_int_equal(view->reader.read(view->reader.user, place, bytes,
					   sizeof(bytes), &copied),
			 PLIM_OK);
	assert_int_equal(copied, sizeof(bytes));
}

static uint64_t exec_step(int step, void *user)
{
	static char marked[16] = "fifteen letters";

	if (step == 1) {
		const char *const *arguments = user;

		execv(arguments[0], (char *const *)(uintptr_t)arguments);
		_exit(1);
	}
	return (uint64_t)(uintptr_t)marked;
}

/* Waits until the target executes something else, asking the kernel. */
static void await_exec(pid_t pid)
{
	char path[64], own[512], other[512];
	ssize_t size, theirs;

	size = readlink("/proc/self/exe", own, sizeof(own));
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	for (int i = 0; i < 5000; i++) {
		theirs = readlink(path, other, sizeof(other));
		if (theirs != size || memcmp(own, other, (size_t)size) != 0)
			return;
		child_sleep_ms(1);
	}
	fail_msg("the program was not executed");
}

static void test_exec(void **state)
{
	const char *arguments[] = {"/bin/sleep", "60", NULL};
	struct owner owner;
	struct view view;
	char bytes[16];
	size_t copied = 99;
	int code;

	(void)state;
	owner_start(&owner, exec_step, arguments);
	view_open(&view, owner.pid);
	hold(&view, owner.place);
	expect_all(&view, PLIM_OK);
	owner_leave(&owner);
	await_exec(owner.pid);
	expect_all(&view, PLIM_EIMAGE);
	code = view.reader.read(view.reader.user, owner.place, bytes,
				sizeof(bytes), &copied);
	assert_int_equal(code, PLIM_EIMAGE);
	assert_int_equal(copied, 99);
	view_close(&view);
	/* A new lens is one on the new image. */
	view_open(&view, owner.pid);
	expect_all(&view, PLIM_OK);
	view_close(&view);
	owner_end(&owner);
}

/* Another process keeps the memory: what is held can still be read, and the
 * check tells that it is not the target's any more. */
static int keep_memory(void *user)
{
	(void)user;
	child_bind();
	for (;;)
		pause();
	return 0;
}

static uint64_t shared_step(int step, void *user)
{
	static char stack[65536] __attribute__((aligned(16)));

	if (step == 0 && clone(keep_memory, stack + sizeof(stack),
			       CLONE_VM | SIGCHLD, NULL) < 0)
		_exit(1);
	return exec_step(step, user);
}

static void test_exec_shared(void **state)
{
	const char *arguments[] = {"/bin/sleep", "60", NULL};
	struct owner owner;
	struct view view;
	char bytes[16] = "";
	size_t copied = 0;

	(void)state;
	owner_start(&owner, shared_step, arguments);
	view_open(&view, owner.pid);
	hold(&view, owner.place);
	owner_leave(&owner);
	await_exec(owner.pid);
	assert_int_equal(view.reader.read(view.reader.user, owner.place, bytes,
					  sizeof(bytes), &copied),
			 PLIM_OK);
	assert_string_equal(bytes, "fifteen letters");
	expect_all(&view, PLIM_EIMAGE);
	view_close(&view);
	owner_end(&owner);
}

/* The same program again, at the same places: only the memory is another. */
static uint64_t again_step(int step, void *user)
{
	static char marked[16] = "fifteen letters";

	(void)user;
	if (step == 1) {
		char *arguments[] = {(char *)(uintptr_t) "again", NULL};

		setenv("LENS_TEST_AGAIN", "1", 1);
		execv("/proc/self/exe", arguments);
		_exit(1);
	}
	return (uint64_t)(uintptr_t)marked;
}

static void test_exec_again(void **state)
{
	struct owner owner;
	struct view view;
	int code = PLIM_OK;

	(void)state;
	owner_start(&owner, again_step, NULL);
	view_open(&view, owner.pid);
	hold(&view, owner.place);
	expect_all(&view, PLIM_OK);
	owner_leave(&owner);
	for (int i = 0; i < 5000 && code == PLIM_OK; i++) {
		code = plimp_system_lens_check(view.lens, NULL);
		child_sleep_ms(1);
	}
	expect_all(&view, PLIM_EIMAGE);
	view_close(&view);
	owner_end(&owner);
}

static uint64_t plain_step(int step, void *user)
{
	static char marked[16] = "fifteen letters";

	(void)user;
	if (step == 1)
		_exit(7);
	return (uint64_t)(uintptr_t)marked;
}

static void test_end(void **state)
{
	plim_count figures[PLIMP_FIGURES];
	struct owner owner;
	struct view view, late;
	char bytes[16];
	uint8_t page;
	size_t copied;
	siginfo_t info;

	(void)state;
	owner_start(&owner, plain_step, NULL);
	view_open(&view, owner.pid);
	hold(&view, owner.place);
	owner_leave(&owner);
	assert_int_equal(
	    waitid(P_PID, (id_t)owner.pid, &info, WEXITED | WNOWAIT), 0);
	/* A zombie. */
	expect_all(&view, PLIM_ENOPROCESS);
	view_open(&late, owner.pid);
	memset(figures, 0, sizeof(figures));
	assert_int_equal(plimp_system_lens_status(late.lens, figures, NULL),
			 PLIM_OK);
	assert_int_equal(figures[PLIMP_FIGURE_RESIDENT].method,
			 PLIM_REASON_ZOMBIE);
	assert_int_equal(plimp_system_lens_rollup(late.lens, figures, NULL),
			 PLIM_OK);
	assert_int_equal(figures[PLIMP_FIGURE_PSS].method, PLIM_REASON_ZOMBIE);
	assert_int_equal(plimp_system_lens_predict(late.lens).state,
			 PLIM_STATE_NOT_APPLICABLE);
	assert_int_equal(plimp_system_lens_maps(late.lens, &late.space, NULL),
			 PLIM_OK);
	assert_int_equal(late.space.count, 0);
	/* Reaped. */
	owner_end(&owner);
	expect_all(&view, PLIM_ENOPROCESS);
	assert_int_equal(plimp_system_lens_check(late.lens, NULL),
			 PLIM_ENOPROCESS);
	assert_int_equal(view.reader.pages(view.reader.user,
					   owner.place & ~(PAGE - 1), 1, &page),
			 PLIM_ENOPROCESS);
	assert_int_equal(view.reader.read(view.reader.user, owner.place, bytes,
					  sizeof(bytes), &copied),
			 PLIM_ENOPROCESS);
	view_close(&late);
	view_close(&view);
}

/* Ends at any time while it is read: an answer or an error, and never a
 * crash, a hang, or half a space. */
static void test_vanish(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		struct owner owner;
		struct view view;
		int code;

		owner_start(&owner, plain_step, NULL);
		view_open(&view, owner.pid);
		if (fork() == 0) {
			child_bind();
			usleep(i * 10);
			kill(owner.pid, SIGKILL);
			_exit(0);
		}
		do {
			code = plimp_system_lens_smaps(view.lens, &view.space,
						       NULL);
			if (code == PLIM_OK)
				code = plimp_system_lens_resident(
				    view.lens, &view.space, NULL);
			if (code == PLIM_OK)
				assert_true(view.space.count > 5);
		} while (code == PLIM_OK);
		assert_int_equal(code, PLIM_ENOPROCESS);
		view_close(&view);
		owner_end(&owner);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

static void reuse_inside(void *user)
{
	struct owner owner;
	struct view view;
	pid_t successor;
	pid_t pid;
	char bytes[16];
	size_t copied;

	(void)user;
	owner_start(&owner, plain_step, NULL);
	pid = owner.pid;
	view_open(&view, pid);
	hold(&view, owner.place);
	owner_end(&owner);
	successor = ns_fork_as(pid);
	if (successor == 0) {
		child_bind();
		for (;;)
			pause();
	}
	assert_int_equal(successor, pid);
	expect_all(&view, PLIM_EREPLACED);
	assert_int_equal(view.reader.read(view.reader.user, owner.place, bytes,
					  sizeof(bytes), &copied),
			 PLIM_EREPLACED);
	view_close(&view);
	kill(successor, SIGKILL);
	waitpid(successor, NULL, 0);
}

static void test_reuse(void **state)
{
	(void)state;
	ns_run(NULL, reuse_inside, NULL);
}

static void denied_inside(void *user)
{
	const struct owner *owner = user;
	plim_count figures[PLIMP_FIGURES];
	struct plimp_stacks stacks = {0};
	struct view view;
	uint8_t page;
	size_t copied;
	char bytes[16];

	child_become(IMAGE_USER);
	view_open(&view, owner->pid);
	memset(figures, 0, sizeof(figures));
	/* status is everybody's. */
	assert_int_equal(plimp_system_lens_status(view.lens, figures, NULL),
			 PLIM_OK);
	assert_int_equal(figures[PLIMP_FIGURE_ANONYMOUS].state,
			 PLIM_STATE_KNOWN);
	assert_true(figures[PLIMP_FIGURE_ANONYMOUS].value > 0);
	assert_int_equal(figures[PLIMP_FIGURE_PAGE_TABLES].state,
			 PLIM_STATE_KNOWN);
	assert_int_equal(plimp_system_lens_predict(view.lens).state,
			 PLIM_STATE_KNOWN);
	assert_int_equal(plimp_system_lens_rollup(view.lens, figures, NULL),
			 PLIM_OK);
	assert_int_equal(figures[PLIMP_FIGURE_PSS].state, PLIM_STATE_DENIED);
	assert_int_equal(figures[PLIMP_FIGURE_PSS].method,
			 PLIM_REASON_NOT_PERMITTED);
	assert_int_equal(plimp_system_lens_maps(view.lens, &view.space, NULL),
			 PLIM_EDENIED);
	assert_int_equal(plimp_system_lens_smaps(view.lens, &view.space, NULL),
			 PLIM_EDENIED);
	assert_int_equal(
	    plimp_system_lens_resident(view.lens, &view.space, NULL),
	    PLIM_EDENIED);
	assert_int_equal(view.reader.pages(view.reader.user, PAGE, 1, &page),
			 PLIM_EDENIED);
	assert_int_equal(view.reader.read(view.reader.user, PAGE, bytes,
					  sizeof(bytes), &copied),
			 PLIM_EDENIED);
	assert_int_equal(plimp_system_lens_stacks(view.lens, &stacks, NULL),
			 PLIM_OK);
	assert_int_equal(stacks.count, 0);
	assert_int_equal(stacks.denied, 1);
	plimp_stacks_release(view.host, &stacks);
	view_close(&view);
}

static void test_denied(void **state)
{
	struct owner owner;

	(void)state;
	owner_start(&owner, plain_step, NULL);
	child_run(denied_inside, &owner);
	owner_end(&owner);
}

/* Threads, each of which tells where its stack is. */
#define THREADS 5
static uint64_t *thread_places;

static void *thread_wait(void *user)
{
	char here;

	*(volatile uint64_t *)user = (uint64_t)(uintptr_t)&here;
	for (;;)
		pause();
	return NULL;
}

static uint64_t threads_step(int step, void *user)
{
	(void)step;
	(void)user;
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, thread_wait,
				   &thread_places[i]) != 0)
			_exit(1);
	}
	for (int i = 0; i < THREADS; i++)
		while (*(volatile uint64_t *)&thread_places[i] == 0)
			child_sleep_ms(1);
	return 0;
}

static void test_stacks(void **state)
{
	struct plimp_stacks stacks = {0};
	struct owner owner;
	struct view view;
	int found = 0;

	(void)state;
	thread_places = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	owner_start(&owner, threads_step, NULL);
	view_open(&view, owner.pid);
	for (int i = 0; i < 500; i++) {
		assert_int_equal(
		    plimp_system_lens_stacks(view.lens, &stacks, NULL),
		    PLIM_OK);
		assert_int_equal(stacks.count + stacks.running, THREADS + 1);
		assert_int_equal(stacks.denied, 0);
		if (stacks.running == 0)
			break;
		child_sleep_ms(10);
	}
	assert_int_equal(stacks.count, THREADS + 1);
	assert_int_equal(plimp_system_lens_maps(view.lens, &view.space, NULL),
			 PLIM_OK);
	for (size_t i = 0; i < stacks.count; i++) {
		const struct plimp_mapping *one =
		    plimp_space_find(&view.space, stacks.items[i].address);

		assert_non_null(one);
		assert_true(i == 0 || stacks.items[i - 1].address <
					  stacks.items[i].address);
		for (int k = 0; k < THREADS; k++)
			found += one->start <= thread_places[k] &&
				 thread_places[k] < one->end;
	}
	assert_int_equal(found, THREADS);
	plimp_stacks_release(view.host, &stacks);
	view_close(&view);
	owner_end(&owner);
	munmap(thread_places, PAGE);
}

/* The main thread ends, the others keep the memory. */
static void *leader_wait(void *user)
{
	(void)user;
	for (;;)
		pause();
	return NULL;
}

static uint64_t leader_step(int step, void *user)
{
	static char marked[16] = "fifteen letters";
	pthread_t thread;

	(void)user;
	if (step == 1) {
		if (pthread_create(&thread, NULL, leader_wait, NULL) != 0)
			_exit(1);
		pthread_exit(NULL);
	}
	return (uint64_t)(uintptr_t)marked;
}

static void test_leaderless(void **state)
{
	plim_count figures[PLIMP_FIGURES];
	struct owner owner;
	struct view view, late;

	(void)state;
	owner_start(&owner, leader_step, NULL);
	view_open(&view, owner.pid);
	owner_leave(&owner);
	for (int i = 0; i < 2000; i++) {
		char path[64], line[512] = "";
		int file;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)owner.pid);
		file = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(read(file, line, sizeof(line) - 1) > 0);
		close(file);
		if (strstr(line, ") Z ") != NULL)
			break;
		child_sleep_ms(1);
	}
	view_open(&late, owner.pid);
	for (int i = 0; i < 2; i++) {
		struct view *one = i == 0 ? &late : &view;

		/* The first look at the ended thread is what finds another. */
		assert_int_equal(plimp_system_lens_check(one->lens, NULL),
				 PLIM_OK);
		expect_all(one, PLIM_OK);
		assert_true(one->space.count > 5);
		hold(one, owner.place);
		memset(figures, 0, sizeof(figures));
		assert_int_equal(
		    plimp_system_lens_status(one->lens, figures, NULL),
		    PLIM_OK);
		assert_int_equal(figures[PLIMP_FIGURE_RESIDENT].state,
				 PLIM_STATE_KNOWN);
		assert_true(figures[PLIMP_FIGURE_RESIDENT].value > 0);
	}
	view_close(&late);
	view_close(&view);
	owner_end(&owner);
}

/* Ourselves: the kernel's own sums, of the same moment but for what reading
 * them touches. */
static void test_self(void **state)
{
	plim_count figures[PLIMP_FIGURES];
	char *memory = malloc(8 * MIB);
	struct view view;
	uint64_t before, kernel;

	(void)state;
	for (size_t i = 0; i < 8 * MIB; i += PAGE)
		((volatile char *)memory)[i] = 1;
	memset(figures, 0, sizeof(figures));
	view_open(&view, 0);
	before = owner_sum_kb(getpid(), "status", "VmPTE:");
	assert_int_equal(plimp_system_lens_status(view.lens, figures, NULL),
			 PLIM_OK);
	assert_int_equal(plimp_system_lens_rollup(view.lens, figures, NULL),
			 PLIM_OK);
	kernel = owner_sum_kb(getpid(), "smaps_rollup", "Private_Dirty:");
	expect_near(figures[PLIMP_FIGURE_PRIVATE_DIRTY].value, kernel * 1024, 0,
		    512 * 1024);
	/* A first touch between the two may need a table of its own. */
	kernel = owner_sum_kb(getpid(), "status", "VmPTE:");
	assert_in_range(figures[PLIMP_FIGURE_PAGE_TABLES].value, before * 1024,
			kernel * 1024);
	kernel = owner_sum_kb(getpid(), "status", "RssAnon:");
	expect_near(figures[PLIMP_FIGURE_ANONYMOUS].value, kernel * 1024, 0,
		    512 * 1024);
	assert_true(figures[PLIMP_FIGURE_ANONYMOUS].value > 8 * MIB);
	assert_int_equal(plimp_system_lens_bill(view.lens).walks, 1);
	assert_string_equal(plimp_system_lens_bill(view.lens).longest_call,
			    "smaps_rollup");
	assert_true(plimp_system_lens_bill(view.lens).longest_call_ns > 0);
	/* A page costs 45 ns and its entry 3. */
	assert_true(plimp_system_lens_predict(view.lens).value >=
		    8 * MIB / PAGE * 48);
	assert_true(plimp_system_lens_predict(view.lens).value <
		    figures[PLIMP_FIGURE_RESIDENT].value / PAGE * 45 +
			figures[PLIMP_FIGURE_PAGE_TABLES].value * 3 / 8 + 1);
	view_close(&view);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_exec),
	    cmocka_unit_test(test_exec_shared),
	    cmocka_unit_test(test_exec_again),
	    cmocka_unit_test(test_end),
	    cmocka_unit_test(test_vanish),
	    cmocka_unit_test(test_reuse),
	    cmocka_unit_test(test_denied),
	    cmocka_unit_test(test_stacks),
	    cmocka_unit_test(test_leaderless),
	    cmocka_unit_test(test_self),
	};

	/* What test_exec_again() executes. */
	if (getenv("LENS_TEST_AGAIN") != NULL)
		for (;;)
			pause();
	return cmocka_run_group_tests_name("lens_image", tests, NULL, NULL);
}
