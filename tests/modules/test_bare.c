/*
 * test_bare.c - code whose rules are in a separate debug file alone: walks go
 * through it by them, and without the file they do not. Its functions have no
 * names either; the rules tell where they start.
 */
#include "bare.h"
#include "truth.h"

#include "unwind/symbols.h"

#include <plimsoll/unwind.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { FRAMES = 64 };

struct bare_walk {
	struct bare bare; /* first */
	plim_code *code;
	uint64_t frames[FRAMES];
	plim_stack stack;
	int failed;
};

#if defined(__x86_64__)
static void take_registers(const ucontext_t *context, plim_registers *registers)
{
	static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
				    REG_RDI, REG_RBP, REG_RSP, REG_R8,	REG_R9,
				    REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
				    REG_R15, REG_RIP};

	memset(registers, 0, sizeof(*registers));
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		registers->value[i] =
		    (uint64_t)context->uc_mcontext.gregs[order[i]];
	registers->known = 0x1ffff;
}
#endif

static void __attribute__((noinline)) bottom(struct bare *bare)
{
	struct bare_walk *walk = (struct bare_walk *)bare;

	bare->returns[0] = __builtin_return_address(0);
#if defined(__x86_64__)
	plim_registers registers;
	ucontext_t context;

	walk->failed = getcontext(&context);
	take_registers(&context, &registers);
	walk->failed |=
	    plim_code_unwind(walk->code, &registers, NULL, NULL, walk->frames,
			     FRAMES, &walk->stack, NULL);
#else
	walk->failed = -1;
#endif
}

/* Loads the library, walks from below its functions; 1 if all four places that
 * it returned to are in the stack, one after the other. */
static int walk_through(const char *path, struct bare_walk *walk)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	union {
		void *found;
		int (*outer)(struct bare *bare);
	} entry;
	plim_host *host = open_host(0);
	size_t equal = 0;

	if (library == NULL)
		fail_msg("%s", dlerror());
	entry.found = dlsym(library, "bare_outer");
	assert_non_null(entry.found);
	memset(walk, 0, sizeof(*walk));
	walk->bare.bottom = bottom;
	assert_int_equal(plim_code_open(&walk->code, host, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(entry.outer(&walk->bare), 0);
	assert_int_equal(walk->failed, 0);
	plim_code_close(walk->code);
	plim_host_close(host);
	assert_int_equal(dlclose(library), 0);
	for (size_t i = 0; i < walk->stack.count && equal < 4; i++)
		if (walk->frames[i] ==
		    (uint64_t)(uintptr_t)walk->bare.returns[equal] - 1)
			equal++;
		else if (equal)
			break;
	return equal == 4;
}

static void needs_registers(void)
{
#if !defined(__x86_64__)
	SKIP_BECAUSE("no context can be had on this machine");
#endif
}

static void test_debug_frame(void **state)
{
	struct bare_walk walk;
	char path[512];

	(void)state;
	needs_registers();
	library_path(path, sizeof(path), "bare");
	assert_true(walk_through(path, &walk));
	assert_int_equal(walk.stack.end, PLIM_STACK_ROOT);
	assert_int_equal(walk.stack.by_pointer, 0);
}

static void copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	char block[4096];
	size_t size;

	assert_non_null(in);
	assert_non_null(out);
	while ((size = fread(block, 1, sizeof(block), in)) > 0)
		assert_int_equal(fwrite(block, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
	fclose(in);
}

/* The same library where its debug file is not, and where another build's is:
 * that this walk fails shows what the other one needs. */
static void test_without(void **state)
{
	char folder[] = "/tmp/plim-bare-XXXXXX";
	char from[512], library[64], debug[64];
	struct bare_walk walk;
	int found[2];

	(void)state;
	needs_registers();
	assert_non_null(mkdtemp(folder));
	snprintf(library, sizeof(library), "%s/module-bare.so", folder);
	snprintf(debug, sizeof(debug), "%s/module-bare.debug", folder);
	library_path(from, sizeof(from), "bare");
	copy_file(from, library);
	found[0] = walk_through(library, &walk);
	library_path(from, sizeof(from), "one");
	copy_file(from, debug);
	found[1] = walk_through(library, &walk);
	unlink(library);
	unlink(debug);
	rmdir(folder);
	assert_false(found[0]);
	assert_false(found[1]);
}

static void expect_start(struct plimp_namer *namer,
			 const struct plimp_modules *modules, void *inside,
			 uint64_t start)
{
	uint64_t address = (uint64_t)(uintptr_t)inside - 1;
	uint32_t index = plimp_modules_at(modules, address, 0);
	const struct plimp_frame_name *names = NULL;
	size_t count = 0;

	assert_int_equal(
	    plimp_namer_find(namer, index, address, 0, &names, &count, NULL),
	    PLIM_OK);
	assert_int_equal(count, 1);
	assert_int_equal(names[0].function.size, 0);
	assert_int_equal(names[0].source, PLIMP_SYMBOL_NONE);
	assert_int_equal(names[0].start + history_at(modules, address)->bias,
			 start);
}

/* One without a debug file and with tables: no name, but a start. */
static void test_start(void **state)
{
	void *library;
	struct bare_walk walk;
	char path[512];
	struct view view;
	struct plimp_modules *modules;
	struct plimp_namer *namer;

	(void)state;
	needs_registers();
	library_path(path, sizeof(path), "stripped");
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(library);
	assert_true(walk_through(path, &walk));
	view_open(&view, 0);
	modules = history_open(&view);
	assert_int_equal(
	    plimp_namer_open(&namer, view.host, view.lens, modules, 0, NULL),
	    PLIM_OK);
	expect_start(namer, modules, walk.bare.returns[0], walk.bare.inner);
	expect_start(namer, modules, walk.bare.returns[1], walk.bare.middle);
	plimp_namer_close(namer);
	plimp_modules_close(modules);
	view_close(&view);
	dlclose(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_debug_frame),
	    cmocka_unit_test(test_without),
	    cmocka_unit_test(test_start),
	};

	return cmocka_run_group_tests_name("bare", tests, NULL, NULL);
}
