/*
 * test_modules.c - the modules of a process are those that its loader tells,
 * with bias, build id and rules, for every way that a file can be laid out; and
 * the file is the one that the process has, not one of the same name.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER_USER 65534

static void test_ourselves(void **state)
{
	struct truths truths;
	struct plimp_modules *modules;
	struct view view;

	(void)state;
	view_open(&view, 0);
	truth_read(&truths);
	assert_true(truths.count >= 4);
	modules = history_open(&view);
	for (size_t i = 0; i < truths.count; i++)
		history_expect(modules, &truths.items[i]);
	assert_int_equal(
	    history_at(modules, (uint64_t)getauxval(AT_SYSINFO_EHDR))->kind,
	    PLIMP_MODULE_VDSO);
	assert_int_equal(
	    plimp_modules_map(modules)->machine,
	    history_at(modules, truths.items[0].start)->object->elf.machine);
	assert_int_equal(plimp_modules_at(modules, 1, 0), PLIMP_NO_MODULE);
	assert_int_equal(
	    plimp_modules_at(modules, (uint64_t)(uintptr_t)&truths, 0),
	    PLIMP_NO_MODULE);
	plimp_modules_close(modules);
	view_close(&view);
}

static const char *const libraries[] = {"one", "nameless", "shared-page", "far",
					"gold"};

/* Each library, one per step; the place is its number's function. */
static uint64_t libraries_step(int step, void *user)
{
	struct truths *truths = user;
	char path[512];
	void *library;

	if (step >= (int)(sizeof(libraries) / sizeof(libraries[0])))
		return 0;
	library_path(path, sizeof(path), libraries[step]);
	library = dlopen(path, RTLD_NOW);
	if (library == NULL && access(path, F_OK) == 0)
		_exit(1);
	truth_read(truths);
	/* A build id is compared where its page is resident. */
	if (library != NULL)
		truth_touch(truth_find(truths, path));
	return library == NULL
		   ? 0
		   : (uint64_t)(uintptr_t)dlsym(library, "module_number");
}

static void test_layouts(void **state)
{
	struct truths *truths = truth_shared();
	struct plimp_modules *modules;
	struct owner owner;
	struct view view;

	(void)state;
	owner_start(&owner, libraries_step, truths);
	view_open(&view, owner.pid);
	modules = history_open(&view);
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		char name[64];
		const struct plimp_module *module;
		struct plimp_elf_symbol symbol;
		const char *wanted = "module_number";

		if (i > 0)
			owner_step(&owner);
		history_refresh(modules);
		if (owner.place == 0)
			continue;
		snprintf(name, sizeof(name), "/module-%s.so", libraries[i]);
		history_expect(modules, truth_find(truths, name));
		/* The bias is right for the code, too. */
		module = history_at(modules, owner.place);
		assert_int_equal(plimp_elf_symbols_find(&module->object->elf,
							PLIMP_ELF_DYNAMIC_ONES,
							&wanted, 1, &symbol),
				 PLIM_OK);
		assert_int_equal(symbol.found, 1);
		assert_int_equal(owner.place - module->bias, symbol.value);
		assert_int_equal(module->kind, PLIMP_MODULE_FILE);
		assert_true(module->since_ns != 0 || i == 0);
	}
	for (size_t i = 0; i < truths->count; i++)
		history_expect(modules, &truths->items[i]);
	plimp_modules_close(modules);
	view_close(&view);
	owner_end(&owner);
	munmap(truths, sizeof(*truths));
}

struct started {
	pid_t pid;
	int in;
	uint64_t entry;
};

/* Starts a program of ours; 0 where it was not built. */
static int program_start(struct started *started, const char *name)
{
	char path[512], text[64] = "";
	int in[2], out[2];

	snprintf(path, sizeof(path), "%s/module-%s", MODULE_FOLDER, name);
	if (access(path, X_OK) != 0)
		return 0;
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	started->pid = fork();
	assert_true(started->pid >= 0);
	if (started->pid == 0) {
		child_bind();
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, name, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	started->in = in[1];
	assert_true(read(out[0], text, sizeof(text) - 1) > 0);
	close(out[0]);
	started->entry = strtoull(text, NULL, 16);
	return 1;
}

static void program_expect(const char *name, int is_fixed)
{
	struct started started = {0};
	struct plimp_modules *modules;
	const struct plimp_module *module;
	struct view view;
	int status;

	if (!program_start(&started, name))
		SKIP_BECAUSE("no such program can be linked here");
	view_open(&view, started.pid);
	modules = history_open(&view);
	module = history_at(modules, started.entry);
	assert_non_null(module->object);
	assert_int_equal(module->bias,
			 started.entry - module->object->elf.entry);
	assert_int_equal(module->bias == 0, is_fixed);
	assert_int_equal(module->is_proven, 1);
	assert_non_null(module->object->rules);
	plimp_modules_close(modules);
	view_close(&view);
	close(started.in);
	assert_int_equal(child_wait(started.pid, &status, 10000), 0);
}

static void test_static(void **state)
{
	(void)state;
	program_expect("static", 1);
}

static void test_static_pie(void **state)
{
	(void)state;
	program_expect("static-pie", 0);
}

/* Two processes, one store: what was read of a file once serves both. */
static void test_shared(void **state)
{
	struct truths *truths = truth_shared();
	struct plimp_module_store *store;
	struct plimp_modules *first, *second;
	struct owner one, two;
	struct view view, other;
	size_t objects;

	(void)state;
	owner_start(&one, libraries_step, truths);
	owner_start(&two, libraries_step, truths);
	view_open(&view, one.pid);
	view_open(&other, two.pid);
	assert_int_equal(plimp_module_store_open(&store, view.host, NULL),
			 PLIM_OK);
	assert_int_equal(plimp_modules_open(&first, view.host, view.lens, store,
					    plimp_system_monotonic(), NULL),
			 PLIM_OK);
	objects = plimp_module_store_count(store);
	assert_true(objects >= 4);
	assert_int_equal(plimp_modules_open(&second, other.host, other.lens,
					    store, plimp_system_monotonic(),
					    NULL),
			 PLIM_OK);
	assert_int_equal(plimp_module_store_count(store), objects);
	assert_ptr_equal(history_at(first, one.place)->object,
			 history_at(second, two.place)->object);
	assert_int_equal(plimp_module_store_bill(store).objects, objects);
	assert_true(plimp_module_store_bill(store).rules_bytes > 0);
	assert_int_not_equal(plimp_modules_map(first)->generation,
			     plimp_modules_map(second)->generation);
	plimp_modules_close(second);
	plimp_modules_close(first);
	plimp_module_store_close(store);
	view_close(&other);
	view_close(&view);
	owner_end(&two);
	owner_end(&one);
	munmap(truths, sizeof(*truths));
}

/* In a mount namespace of its own, where another library has the name. */
static uint64_t namespace_step(int step, void *user)
{
	char one[512], two[512];
	void *library;

	(void)step;
	library_path(one, sizeof(one), "one");
	library_path(two, sizeof(two), "two");
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount(two, one, NULL, MS_BIND, NULL) != 0)
		return 0;
	library = dlopen(one, RTLD_NOW);
	if (library == NULL)
		_exit(1);
	truth_read(user);
	if (setgid(OTHER_USER) != 0 || setuid(OTHER_USER) != 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
	return (uint64_t)(uintptr_t)dlsym(library, "module_number");
}

static void namespace_inside(void *user)
{
	struct truths *truths = user;
	struct plimp_modules *modules;
	const struct plimp_module *module;
	struct plimp_file file;
	struct plimp_elf elf;
	struct owner owner;
	struct view view;
	uint8_t id[PLIMP_ELF_ID];
	char path[512];
	size_t size;

	owner_start(&owner, namespace_step, truths);
	if (owner.place == 0)
		SKIP_BECAUSE("no mount namespace can be made here");
	/* The kernel's own link of the mapping is not for this user. */
	child_become(OTHER_USER);
	view_open(&view, owner.pid);
	modules = history_open(&view);
	history_expect(modules, truth_find(truths, "/module-one.so"));
	module = history_at(modules, owner.place);
	assert_int_equal(module->kind, PLIMP_MODULE_FILE);
	/* What has the name here is another one. */
	library_path(path, sizeof(path), "one");
	memset(&file, 0, sizeof(file));
	assert_int_equal(plimp_system_file_open(view.host, path, &file, NULL),
			 PLIM_OK);
	assert_int_equal(plimp_elf_open(&elf, &file.reader, 0, file.size),
			 PLIM_OK);
	assert_int_equal(plimp_elf_build_id(&elf, id, &size), PLIM_OK);
	assert_memory_not_equal(id, module->object->build_id, size);
	plimp_system_file_close(view.host, &file);
	plimp_modules_close(modules);
	view_close(&view);
	owner_end(&owner);
}

static void test_namespace(void **state)
{
	struct truths *truths = truth_shared();

	(void)state;
	if (geteuid() != 0)
		SKIP_BECAUSE("a mount namespace takes root");
	child_run(namespace_inside, truths);
	munmap(truths, sizeof(*truths));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ourselves), cmocka_unit_test(test_layouts),
	    cmocka_unit_test(test_static),    cmocka_unit_test(test_static_pie),
	    cmocka_unit_test(test_shared),    cmocka_unit_test(test_namespace),
	};

	return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
