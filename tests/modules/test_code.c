/*
 * test_code.c - plim_code: the public modules are those that the loader tells,
 * and a walk by hand, or of a thread that sleeps, gives the stack that the C
 * library's own unwinder gives.
 */
#include "truth.h"

#include <plimsoll/unwind.h>

#include <dlfcn.h>
#include <execinfo.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { FRAMES = 64, DEPTH = 12 };

static plim_code *code_open(plim_host *host, plim_target *target)
{
	plim_error error = {0};
	plim_code *code;

	if (plim_code_open(&code, host, target, &error) != PLIM_OK)
		fail_msg("code: %s", plim_error_word(error.code));
	return code;
}

static void expect_module(const plim_code *code, const struct truth *truth)
{
	size_t index = plim_code_module_find(code, truth->start);
	plim_code_module module;

	assert_int_equal(plim_code_module_at(code, index, &module), PLIM_OK);
	assert_int_equal(module.bias, truth->bias);
	assert_int_equal(module.start, truth->start);
	assert_int_equal(module.end, truth->end);
	assert_int_equal(module.build_id_size, truth->id_size);
	assert_memory_equal(module.build_id, truth->id, truth->id_size);
	assert_int_equal(module.is_loaded, 1);
	assert_int_equal(module.is_deleted, 0);
	assert_int_equal(module.why, PLIM_OK);
	assert_true(module.rule_entries > 0 && module.rule_bytes > 0);
}

static uint64_t loads_step(int step, void *user)
{
	char path[512];

	library_path(path, sizeof(path), "one");
	if (step == 1 && dlopen(path, RTLD_NOW) == NULL)
		_exit(1);
	truth_read(user);
	return 0;
}

static void test_modules(void **state)
{
	struct truths *truths = truth_shared();
	plim_code_module module, before;
	struct owner owner;
	struct view view;
	plim_code *code;
	size_t count;

	(void)state;
	owner_start(&owner, loads_step, truths);
	view_open(&view, owner.pid);
	code = code_open(view.host, view.target);
	for (size_t i = 0; i < truths->count; i++)
		expect_module(code, &truths->items[i]);
	count = plim_code_module_count(code);
	memset(&module, 0x5a, sizeof(module));
	before = module;
	assert_int_equal(plim_code_module_at(code, count, &module),
			 PLIM_EINVAL);
	assert_memory_equal(&module, &before, sizeof(module));
	owner_step(&owner);
	assert_int_equal(plim_code_refresh(code, NULL), PLIM_OK);
	assert_int_equal(plim_code_module_count(code), count + 1);
	expect_module(code, truth_find(truths, "/module-one.so"));
	assert_true(plim_code_module_find(code, 1) == SIZE_MAX);
	owner_end(&owner);
	assert_int_equal(plim_code_refresh(code, NULL), PLIM_ENOPROCESS);
	expect_module(code, truth_find(truths, "/module-one.so"));
	plim_code_close(code);
	view_close(&view);
	munmap(truths, sizeof(*truths));
}

/* Where a walk begins, and what the C library says of it. */
struct walk {
	plim_registers registers;
	void *truth[FRAMES];
	int count;
	plim_code *code;
	plim_memory_read_fn *read;
	uint64_t frames[FRAMES];
	size_t capacity;
	plim_stack stack;
	int failed;
};

static int read_own(uint64_t address, void *buffer, size_t size, void *user)
{
	(void)user;
	memcpy(buffer, (const void *)(uintptr_t)address, size);
	return 0;
}

static int read_nothing(uint64_t address, void *buffer, size_t size, void *user)
{
	(void)address;
	(void)buffer;
	(void)size;
	(void)user;
	return 1;
}

#if defined(__x86_64__)
static int take_registers(const ucontext_t *context, plim_registers *registers)
{
	static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
				    REG_RDI, REG_RBP, REG_RSP, REG_R8,	REG_R9,
				    REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
				    REG_R15, REG_RIP};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		registers->value[i] =
		    (uint64_t)context->uc_mcontext.gregs[order[i]];
	registers->known = 0x1ffff;
	return 1;
}
#else
static int take_registers(const ucontext_t *context, plim_registers *registers)
{
	(void)context;
	(void)registers;
	return 0;
}
#endif

/* At the bottom the walk begins, from within. */
static int __attribute__((noinline)) walk_at(struct walk *walk, int depth)
{
	volatile int below;
	ucontext_t context;

	if (depth > 0) {
		below = walk_at(walk, depth - 1);
		return below + 1;
	}
	walk->count = backtrace(walk->truth, FRAMES);
	memset(&walk->registers, 0, sizeof(walk->registers));
	if (getcontext(&context) != 0 ||
	    !take_registers(&context, &walk->registers))
		return -1000;
	walk->failed =
	    plim_code_unwind(walk->code, &walk->registers, walk->read, NULL,
			     walk->frames, walk->capacity, &walk->stack, NULL);
	return 0;
}

static void walk_whole(struct walk *walk)
{
	if (walk_at(walk, DEPTH) < 0)
		SKIP_BECAUSE("no context can be had on this machine");
	assert_int_equal(walk->failed, PLIM_OK);
	assert_int_equal(walk->stack.end, PLIM_STACK_ROOT);
	assert_int_equal(walk->stack.count, walk->count);
	assert_true(walk->count > DEPTH);
	for (int at = 1; at < walk->count; at++)
		assert_int_equal(walk->frames[at],
				 (uint64_t)(uintptr_t)walk->truth[at] - 1);
}

static void test_walk(void **state)
{
	struct walk walk = {.read = read_own, .capacity = FRAMES};
	plim_host *host = open_host(0);

	(void)state;
	walk.code = code_open(host, NULL);
	walk_whole(&walk);
	/* The same through the process's own memory. */
	walk.read = NULL;
	walk_whole(&walk);
	walk.capacity = 5;
	walk_at(&walk, DEPTH);
	assert_int_equal(walk.stack.count, 5);
	assert_int_equal(walk.stack.end, PLIM_STACK_DEPTH);
	walk.read = read_nothing;
	walk_at(&walk, DEPTH);
	assert_int_equal(walk.stack.end, PLIM_STACK_BAD_MEMORY);
	assert_int_equal(walk.stack.count, 1);
	assert_int_not_equal(walk.stack.missed, 0);
	plim_code_close(walk.code);
	plim_host_close(host);
}

/* Threads of a child, or of ours: one sleeps at the bottom of some calls, whose
 * way up the C library has told; one runs for ever. */
struct sleepers {
	void *truth[FRAMES];
	volatile int count;
	volatile int32_t asleep;
	volatile int32_t awake;
	volatile int ends;
};

static int __attribute__((noinline)) sleep_at(struct sleepers *all, int depth)
{
	volatile int below;

	if (depth > 0) {
		below = sleep_at(all, depth - 1);
		return below + 1;
	}
	all->count = backtrace(all->truth, FRAMES);
	all->asleep = (int32_t)syscall(SYS_gettid);
	while (!all->ends)
		poll(NULL, 0, 200);
	return 0;
}

static void *sleeper(void *user)
{
	sleep_at(user, DEPTH);
	return NULL;
}

static void *runner(void *user)
{
	struct sleepers *all = user;

	all->awake = (int32_t)syscall(SYS_gettid);
	while (!all->ends)
		;
	return NULL;
}

static void sleepers_start(struct sleepers *all, pthread_t threads[2])
{
	if (pthread_create(&threads[0], NULL, sleeper, all) != 0 ||
	    pthread_create(&threads[1], NULL, runner, all) != 0)
		_exit(1);
	while (all->asleep == 0 || all->awake == 0)
		child_sleep_ms(1);
	child_sleep_ms(20);
}

static uint64_t sleepers_step(int step, void *user)
{
	static pthread_t threads[2];

	(void)step;
	sleepers_start(user, threads);
	return 0;
}

/* The sleeper may be about to sleep again. */
static void sleepers_expect(plim_code *code, const struct sleepers *all)
{
	uint64_t frames[FRAMES];
	plim_error error = {0};
	plim_stack stack;
	size_t extra;

	for (int tries = 0; tries < 100; tries++) {
		if (plim_code_thread(code, all->asleep, frames, FRAMES, &stack,
				     &error) != PLIM_OK)
			fail_msg("%s: %s", plim_error_word(error.code),
				 error.detail);
		if (stack.thread == PLIM_STACK_THREAD_BLOCKED)
			break;
		child_sleep_ms(2);
	}
	assert_int_equal(stack.thread, PLIM_STACK_THREAD_BLOCKED);
	assert_int_equal(stack.call, SYS_poll);
	assert_int_equal(stack.end, PLIM_STACK_ROOT);
	assert_true((size_t)all->count > DEPTH &&
		    stack.count >= (size_t)all->count + 1);
	extra = stack.count - (size_t)all->count;
	for (size_t i = 1; i < (size_t)all->count; i++)
		assert_int_equal(frames[extra + i],
				 (uint64_t)(uintptr_t)all->truth[i] - 1);
	assert_int_equal(
	    plim_code_thread(code, all->awake, frames, FRAMES, &stack, NULL),
	    PLIM_OK);
	assert_int_equal(stack.thread, PLIM_STACK_THREAD_RUNNING);
	assert_int_equal(stack.count, 0);
	assert_int_equal(stack.end, 0);
}

static void test_thread(void **state)
{
	struct sleepers *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct owner owner;
	struct view view;
	plim_code *code;
	plim_stack stack, before;
	uint64_t frame;

	(void)state;
	assert_true(all != MAP_FAILED);
	owner_start(&owner, sleepers_step, all);
	view_open(&view, owner.pid);
	code = code_open(view.host, view.target);
	sleepers_expect(code, all);
	memset(&stack, 0x5a, sizeof(stack));
	before = stack;
	assert_int_equal(
	    plim_code_thread(code, getpid(), &frame, 1, &stack, NULL),
	    PLIM_ENOPROCESS);
	assert_int_equal(plim_code_thread(code, 0, &frame, 1, &stack, NULL),
			 PLIM_EINVAL);
	assert_memory_equal(&stack, &before, sizeof(stack));
	owner_end(&owner);
	assert_int_equal(
	    plim_code_thread(code, all->asleep, &frame, 1, &stack, NULL),
	    PLIM_ENOPROCESS);
	plim_code_close(code);
	view_close(&view);
	munmap(all, sizeof(*all));
}

static void test_own_thread(void **state)
{
	static struct sleepers all;
	pthread_t threads[2];
	plim_host *host = open_host(0);
	plim_code *code = code_open(host, NULL);

	(void)state;
	sleepers_start(&all, threads);
	sleepers_expect(code, &all);
	all.ends = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	plim_code_close(code);
	plim_host_close(host);
}

/* The walk's callers are called what they are. */
static void test_names(void **state)
{
	struct walk walk = {.read = read_own, .capacity = FRAMES};
	plim_host *host = open_host(0);
	plim_frame_name names[8];
	size_t count = 0;
	size_t found = 0;

	(void)state;
	walk.code = code_open(host, NULL);
	walk_whole(&walk);
	for (size_t i = 0; i < walk.stack.count; i++) {
		const plim_frame_name *last;

		assert_int_equal(plim_code_name(walk.code, walk.frames[i],
						names, 8, &count, NULL),
				 PLIM_OK);
		assert_true(count >= 1 && count <= 8);
		last = &names[count - 1];
		assert_int_equal(last->is_inlined, 0);
		assert_int_equal(last->module, plim_code_module_find(
						   walk.code, walk.frames[i]));
		found += last->linkage.size == 7 &&
			 memcmp(last->linkage.data, "walk_at", 7) == 0;
	}
	/* The one that begins and its callers of the same name. */
	assert_int_equal(found, DEPTH + 1);
	assert_int_equal(plim_code_name(walk.code, 1, names, 8, &count, NULL),
			 PLIM_OK);
	assert_int_equal(count, 1);
	assert_int_equal(names[0].function.size, 0);
	assert_true(names[0].module == SIZE_MAX);
	assert_int_equal(names[0].offset, 1);
	assert_int_equal(plim_code_name(NULL, 1, names, 8, &count, NULL),
			 PLIM_EINVAL);
	plim_code_close(walk.code);
	plim_host_close(host);
}

static void test_misuse(void **state)
{
	plim_host *host = open_host(0);
	plim_registers registers;
	plim_code *code = NULL;
	plim_stack stack;
	uint64_t frame;

	(void)state;
	memset(&registers, 0, sizeof(registers));
	assert_int_equal(plim_code_open(NULL, host, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_code_open(&code, NULL, NULL, NULL), PLIM_EINVAL);
	assert_null(code);
	code = code_open(host, NULL);
	/* Without program counter and stack pointer there is no beginning. */
	assert_int_equal(plim_code_unwind(code, &registers, read_own, NULL,
					  &frame, 1, &stack, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_code_unwind(code, &registers, read_own, NULL,
					  &frame, 0, &stack, NULL),
			 PLIM_EINVAL);
	plim_code_close(code);
	plim_code_close(NULL);
	assert_int_equal(plim_code_module_count(NULL), 0);
	assert_int_equal(plim_code_refresh(NULL, NULL), PLIM_EINVAL);
	for (int kind = 1; kind <= PLIM_CODE_MEMORY; kind++)
		assert_non_null(plim_code_kind_word(kind));
	assert_null(plim_code_kind_word(0));
	assert_null(plim_code_kind_word(PLIM_CODE_MEMORY + 1));
	for (int thread = 0; thread <= PLIM_STACK_THREAD_UNREADABLE; thread++)
		assert_non_null(plim_stack_thread_word(thread));
	assert_null(plim_stack_thread_word(-1));
	assert_null(plim_stack_thread_word(PLIM_STACK_THREAD_UNREADABLE + 1));
	plim_host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_modules), cmocka_unit_test(test_walk),
	    cmocka_unit_test(test_thread),  cmocka_unit_test(test_own_thread),
	    cmocka_unit_test(test_names),   cmocka_unit_test(test_misuse),
	};

	return cmocka_run_group_tests_name("code", tests, NULL, NULL);
}
