/*
 * test_changes.c - a process changes its code while it is looked at: libraries
 * come and go at the same place, files are deleted and replaced, code is made
 * at run time. Who asks about a time gets what was there then.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_USER 65534

/* What the steps of a child share with the test. */
struct scene {
	struct truths truths;
	char folder[64];
	char path[128];
	void *memory;
	size_t size;
};

static struct scene *scene_new(void)
{
	struct scene *scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(scene != MAP_FAILED);
	strcpy(scene->folder, "/tmp/plim-code-XXXXXX");
	assert_non_null(mkdtemp(scene->folder));
	assert_int_equal(chmod(scene->folder, 0777), 0);
	snprintf(scene->path, sizeof(scene->path), "%s/it.so", scene->folder);
	return scene;
}

static void scene_free(struct scene *scene)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", scene->folder);
	assert_int_equal(system(command), 0);
	munmap(scene, sizeof(*scene));
}

/* Puts a copy of a library at the scene's path, as an upgrade does: under
 * another inode. */
static void scene_put(const struct scene *scene, const char *name)
{
	char from[512], to[160], bytes[65536];
	ssize_t size;
	int in, out;

	library_path(from, sizeof(from), name);
	snprintf(to, sizeof(to), "%s/new", scene->folder);
	in = open(from, O_RDONLY | O_CLOEXEC);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(in >= 0 && out >= 0);
	while ((size = read(in, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(out, bytes, (size_t)size), size);
	close(in);
	close(out);
	assert_int_equal(rename(to, scene->path), 0);
}

static uint64_t now(void)
{
	return plimp_system_monotonic();
}

/* Opens one, closes it, opens two: the loader takes the same place again. */
static uint64_t reuse_step(int step, void *user)
{
	static void *library;
	struct scene *scene = user;
	char path[512];

	if (step > 0)
		dlclose(library);
	library_path(path, sizeof(path), step % 2 == 0 ? "one" : "two");
	library = dlopen(path, RTLD_NOW);
	if (library == NULL)
		_exit(1);
	truth_read(&scene->truths);
	return (uint64_t)(uintptr_t)dlsym(library, "module_number");
}

/* HPCToolkit#321: who was asked about by time is the one that was there. */
static void test_reused(void **state)
{
	struct scene *scene = scene_new();
	const struct plimp_module *one, *two;
	struct plimp_modules *modules;
	struct owner owner;
	struct view view;
	uint64_t place, before, after, generation;
	uint32_t first, second;

	(void)state;
	owner_start(&owner, reuse_step, scene);
	place = owner.place;
	view_open(&view, owner.pid);
	modules = history_open(&view);
	first = plimp_modules_at(modules, place, 0);
	history_expect(modules, truth_find(&scene->truths, "/module-one.so"));
	history_refresh(modules);
	before = now();
	generation = plimp_modules_map(modules)->generation;
	owner_step(&owner);
	assert_int_equal(owner.place, place);
	after = now();
	history_refresh(modules);
	second = plimp_modules_at(modules, place, 0);
	assert_int_not_equal(first, second);
	assert_int_not_equal(plimp_modules_map(modules)->generation,
			     generation);
	history_expect(modules, truth_find(&scene->truths, "/module-two.so"));
	one = plimp_modules_item(modules, first);
	two = plimp_modules_item(modules, second);
	assert_int_equal(plimp_modules_at(modules, place, one->last_ns), first);
	assert_int_equal(plimp_modules_at(modules, place, 1), first);
	assert_int_equal(plimp_modules_at(modules, place, now()), second);
	/* Between the looks it may have been the one or the other. */
	assert_int_equal(plimp_modules_at(modules, place, before),
			 PLIMP_NO_MODULE);
	assert_int_equal(plimp_modules_at(modules, place, after),
			 PLIMP_NO_MODULE);
	assert_true(one->until_ns > after && one->last_ns < before);
	assert_true(two->since_ns == one->last_ns &&
		    two->first_ns == one->until_ns);
	assert_int_equal(two->until_ns, 0);
	/* Nothing that was told of the first one is other than it was. */
	assert_int_equal(one->start, two->start);
	assert_int_not_equal(one->inode, two->inode);
	/* The first again is the same module, without end. */
	owner_step(&owner);
	assert_int_equal(owner.place, place);
	history_refresh(modules);
	assert_int_equal(plimp_modules_at(modules, place, 0), first);
	assert_int_equal(one->until_ns, 0);
	assert_int_equal(one->since_ns, 0);
	plimp_modules_forget_maps(modules);
	plimp_modules_close(modules);
	view_close(&view);
	owner_end(&owner);
	scene_free(scene);
}

/* The mapping of an address, as the kernel would tell it by an event. */
static struct plimp_mapped event_of(struct view *view, uint64_t address)
{
	const struct plimp_mapping *mapping;
	struct plimp_mapped mapped;

	assert_int_equal(plimp_system_lens_maps(view->lens, &view->space, NULL),
			 PLIM_OK);
	mapping = plimp_space_find(&view->space, address);
	assert_non_null(mapping);
	mapped.start = mapping->start;
	mapped.end = mapping->end;
	mapped.offset = mapping->offset;
	mapped.device = mapping->device;
	mapped.inode = mapping->inode;
	mapped.path = plimp_space_name(&view->space, mapping);
	return mapped;
}

/* With an event there is no gap: the new one was there from that time on. */
static void test_told(void **state)
{
	struct scene *scene = scene_new();
	struct plimp_modules *modules;
	struct plimp_mapped mapped;
	struct owner owner;
	struct view view;
	uint64_t place, when;
	uint32_t first, second;
	size_t count;

	(void)state;
	owner_start(&owner, reuse_step, scene);
	place = owner.place;
	view_open(&view, owner.pid);
	modules = history_open(&view);
	first = plimp_modules_at(modules, place, 0);
	owner_step(&owner);
	when = now();
	mapped = event_of(&view, place);
	count = plimp_modules_count(modules);
	assert_int_equal(plimp_modules_mapped(modules, &mapped, when, NULL),
			 PLIM_OK);
	assert_int_equal(plimp_modules_count(modules), count + 1);
	second = plimp_modules_at(modules, place, 0);
	assert_int_not_equal(first, second);
	history_expect(modules, truth_find(&scene->truths, "/module-two.so"));
	assert_int_equal(plimp_modules_at(modules, place, when - 1), first);
	assert_int_equal(plimp_modules_at(modules, place, when), second);
	/* Told twice, it is the same; so it is for the next look. */
	assert_int_equal(plimp_modules_mapped(modules, &mapped, when + 5, NULL),
			 PLIM_OK);
	history_refresh(modules);
	assert_int_equal(plimp_modules_count(modules), count + 1);
	assert_int_equal(plimp_modules_at(modules, place, when - 1), first);
	assert_int_equal(plimp_modules_at(modules, place, when), second);
	assert_int_equal(plimp_modules_at(modules, place, now()), second);
	mapped.end = mapped.start;
	assert_int_equal(plimp_modules_mapped(modules, &mapped, now(), NULL),
			 PLIM_EINVAL);
	plimp_modules_close(modules);
	view_close(&view);
	owner_end(&owner);
	scene_free(scene);
}

/* The file, with the rules of its code; nobody could look whether it is what
 * lay in memory. */
static void expect_told(const struct plimp_modules *modules,
			const struct truth *truth)
{
	const struct plimp_module *module = history_at(modules, truth->start);

	assert_int_equal(module->kind, PLIMP_MODULE_FILE);
	assert_int_equal(module->bias, truth->bias);
	assert_int_equal(module->end, truth->end);
	assert_int_equal(module->is_proven, 0);
	assert_int_equal(module->why, PLIM_OK);
	assert_non_null(module->object);
	assert_int_equal(module->object->build_id_size, truth->id_size);
	assert_memory_equal(module->object->build_id, truth->id,
			    truth->id_size);
	assert_non_null(module->object->rules);
}

/* bpftrace#286: of a process that has ended before anybody looked, what the
 * kernel told of its mappings is enough. Until it is waited for it is there,
 * and has no mapping any more: that ends nothing of what was known. */
static void test_departed(void **state)
{
	struct scene *scene = scene_new();
	struct plimp_modules *modules, *before;
	struct plimp_module_store *store;
	const struct truth *truth;
	struct plimp_mapped mapped;
	struct view view, other;
	struct owner owner;
	char path[512];
	siginfo_t ended;

	(void)state;
	owner_start(&owner, reuse_step, scene);
	view_open(&view, owner.pid);
	view_open(&other, getpid());
	before = history_open(&view);
	mapped = event_of(&view, owner.place);
	assert_true(mapped.path.size < sizeof(path));
	memcpy(path, mapped.path.data, mapped.path.size);
	mapped.path.data = path;
	assert_int_equal(kill(owner.pid, SIGKILL), 0);
	assert_int_equal(
	    waitid(P_PID, (id_t)owner.pid, &ended, WEXITED | WNOWAIT), 0);
	assert_int_equal(plimp_modules_open(&modules, view.host, view.lens,
					    NULL, now(), NULL),
			 PLIM_ENOPROCESS);
	assert_int_equal(plimp_modules_refresh(before, now(), NULL),
			 PLIM_ENOPROCESS);
	truth = truth_find(&scene->truths, "/module-one.so");
	history_expect(before, truth);

	assert_int_equal(plimp_module_store_open(&store, view.host, NULL),
			 PLIM_OK);
	assert_int_equal(plimp_modules_told(&modules, view.host, store, NULL),
			 PLIM_OK);
	assert_int_equal(plimp_modules_are_told(modules), 1);
	assert_int_equal(plimp_modules_map(modules)->count, 0);
	plimp_modules_lend(modules, other.lens);
	assert_int_equal(plimp_modules_mapped(modules, &mapped, now(), NULL),
			 PLIM_OK);
	expect_told(modules, truth);
	/* A name that leads to another file now is none. */
	mapped.inode++;
	mapped.start += UINT64_C(0x10000000);
	mapped.end += UINT64_C(0x10000000);
	assert_int_equal(plimp_modules_mapped(modules, &mapped, now(), NULL),
			 PLIM_OK);
	assert_null(history_at(modules, mapped.start)->object);
	/* Nothing is read of the one whose root it is. */
	history_refresh(modules);
	expect_told(modules, truth);
	plimp_modules_close(modules);
	plimp_modules_close(before);
	plimp_module_store_close(store);
	view_close(&other);
	view_close(&view);
	owner_end(&owner);
	scene_free(scene);
}

/* Loads the scene's library. */
static uint64_t loaded_step(int step, void *user)
{
	struct scene *scene = user;
	void *library;

	(void)step;
	library = dlopen(scene->path, RTLD_NOW);
	if (library == NULL)
		_exit(1);
	truth_read(&scene->truths);
	/* Only what it has touched is there to be read. */
	truth_touch(truth_find(&scene->truths, "/it.so"));
	return (uint64_t)(uintptr_t)dlsym(library, "module_number");
}

/* A deleted file is had by the kernel's own link, or not at all; then its
 * memory is, with the build id, the rules and the names that are resident. */
static void expect_gone(struct view *view, const struct scene *scene,
			uint64_t place, int is_replaced)
{
	const struct truth *truth = truth_find(&scene->truths, "/it.so");
	struct plimp_modules *modules = history_open(view);
	const struct plimp_module *module = history_at(modules, place);
	const char *wanted = "module_number";
	struct plimp_elf_symbol symbol;

	assert_int_equal(module->is_deleted, 1);
	assert_int_equal(module->is_replaced, is_replaced);
	assert_int_equal(module->path.size, strlen(scene->path));
	assert_memory_equal(module->path.data, scene->path, module->path.size);
	assert_int_equal(module->bias, truth->bias);
	assert_non_null(module->object);
	assert_int_equal(module->object->build_id_size, truth->id_size);
	assert_memory_equal(module->object->build_id, truth->id,
			    truth->id_size);
	assert_non_null(module->object->rules);
	assert_true(plimp_rules_facts(module->object->rules).entries >= 2);
	assert_int_equal(plimp_elf_symbols_find(&module->object->elf,
						PLIMP_ELF_DYNAMIC_ONES, &wanted,
						1, &symbol),
			 PLIM_OK);
	assert_int_equal(symbol.found, 1);
	assert_int_equal(symbol.value, place - module->bias);
	if (module->kind == PLIMP_MODULE_FILE) {
		assert_int_equal(module->why, PLIM_OK);
		assert_int_equal(module->object->is_memory, 0);
	} else {
		assert_int_equal(module->kind, PLIMP_MODULE_MEMORY);
		assert_int_equal(module->why, PLIM_EUNSUPPORTED);
		assert_int_equal(module->object->is_memory, 1);
	}
	if (geteuid() != 0)
		assert_int_equal(module->kind, PLIMP_MODULE_MEMORY);
	plimp_modules_close(modules);
}

static void gone_inside(void *user)
{
	struct scene *scene = user;
	struct plimp_modules *modules;
	struct owner owner;
	struct view view;
	uint32_t index;

	scene_put(scene, "one");
	owner_start(&owner, loaded_step, scene);
	view_open(&view, owner.pid);
	/* Pinned at first sight, it stays what it was. */
	modules = history_open(&view);
	history_expect(modules, truth_find(&scene->truths, "/it.so"));
	index = plimp_modules_at(modules, owner.place, 0);
	assert_int_equal(unlink(scene->path), 0);
	history_refresh(modules);
	assert_int_equal(plimp_modules_at(modules, owner.place, 0), index);
	assert_int_equal(plimp_modules_item(modules, index)->is_deleted, 1);
	history_expect(modules, truth_find(&scene->truths, "/it.so"));
	plimp_modules_close(modules);
	expect_gone(&view, scene, owner.place, 0);
	scene_put(scene, "two");
	expect_gone(&view, scene, owner.place, 1);
	view_close(&view);
	owner_end(&owner);
}

static void gone_other(void *user)
{
	child_become(OTHER_USER);
	prctl(PR_SET_DUMPABLE, 1);
	gone_inside(user);
}

static void test_gone(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	child_run(gone_inside, scene);
	scene_free(scene);
}

static void test_gone_other(void **state)
{
	struct scene *scene = scene_new();

	(void)state;
	if (geteuid() != 0) {
		scene_free(scene);
		SKIP_BECAUSE("only root can become another user");
	}
	child_run(gone_other, scene);
	scene_free(scene);
}

/* Writes over the build id in its memory: another file was loaded there, for
 * all that can be told. */
static uint64_t forged_step(int step, void *user)
{
	struct scene *scene = user;
	uint64_t place = loaded_step(0, user);
	const struct truth *truth = truth_find(&scene->truths, "/it.so");
	char *at = (char *)(uintptr_t)truth->bias;

	(void)step;
	if (mprotect(at, PAGE, PROT_READ | PROT_WRITE) != 0)
		_exit(1);
	for (size_t i = 0; i + truth->id_size < PAGE; i++)
		if (memcmp(at + i, truth->id, truth->id_size) == 0) {
			at[i] ^= 0x55;
			truth_read(&scene->truths);
			return place;
		}
	_exit(1);
}

static void test_forged(void **state)
{
	struct scene *scene = scene_new();
	const struct plimp_module *module;
	const struct truth *truth;
	struct plimp_modules *modules;
	struct owner owner;
	struct view view;

	(void)state;
	scene_put(scene, "one");
	owner_start(&owner, forged_step, scene);
	view_open(&view, owner.pid);
	modules = history_open(&view);
	module = history_at(modules, owner.place);
	truth = truth_find(&scene->truths, "/it.so");
	assert_int_equal(module->kind, PLIMP_MODULE_MEMORY);
	assert_int_equal(module->is_deleted, 0);
	assert_int_equal(module->is_replaced, 1);
	assert_int_equal(module->bias, truth->bias);
	assert_int_equal(module->object->build_id_size, truth->id_size);
	assert_memory_equal(module->object->build_id, truth->id,
			    truth->id_size);
	plimp_modules_close(modules);
	view_close(&view);
	owner_end(&owner);
	scene_free(scene);
}

/* Executable memory of its own; then more behind it; then a hole in it; then a
 * page of it over the code of a library. */
static uint64_t jit_step(int step, void *user)
{
	const int rwx = PROT_READ | PROT_WRITE | PROT_EXEC;
	struct scene *scene = user;
	static char *memory;
	char *at;

	if (step == 0) {
		loaded_step(0, user);
		memory = mmap(NULL, 16 * PAGE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (mprotect(memory, 4 * PAGE, rwx) != 0)
			_exit(1);
	} else if (step == 1) {
		if (mprotect(memory + 4 * PAGE, 4 * PAGE, rwx) != 0)
			_exit(1);
	} else if (step == 2) {
		if (munmap(memory + 2 * PAGE, PAGE) != 0)
			_exit(1);
	} else {
		at = (char *)(uintptr_t)truth_find(&scene->truths, "/it.so")
			 ->start;
		if (mmap(at, PAGE, rwx, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			 -1, 0) == MAP_FAILED)
			_exit(1);
	}
	return (uint64_t)(uintptr_t)memory;
}

static void expect_jit(const struct plimp_modules *modules, uint64_t address,
		       uint64_t start, uint64_t end)
{
	const struct plimp_code_range *range =
	    plimp_code_find(plimp_modules_map(modules), address);
	const struct plimp_module *module;

	assert_non_null(range);
	assert_int_equal(range->start, start);
	assert_int_equal(range->end, end);
	assert_int_equal(range->flags, PLIMP_CODE_NO_FILE);
	assert_null(range->rules);
	assert_int_equal(range->bias, 0);
	module = plimp_modules_item(modules, range->module);
	assert_int_equal(module->kind, PLIMP_MODULE_ANONYMOUS);
	assert_null(module->object);
	assert_int_equal(module->path.size, 6);
	assert_memory_equal(module->path.data, "[anon]", 6);
}

static void test_jit(void **state)
{
	struct scene *scene = scene_new();
	const struct plimp_code_range *range;
	struct plimp_modules *modules;
	const struct truth *truth;
	struct owner owner;
	struct view view;
	uint64_t place, before;
	uint32_t index;
	size_t count;

	(void)state;
	scene_put(scene, "one");
	owner_start(&owner, jit_step, scene);
	place = owner.place;
	view_open(&view, owner.pid);
	modules = history_open(&view);
	expect_jit(modules, place, place, place + 4 * PAGE);
	index = plimp_modules_at(modules, place, 0);
	owner_step(&owner);
	history_refresh(modules);
	expect_jit(modules, place, place, place + 8 * PAGE);
	count = plimp_modules_count(modules);
	before = now();
	history_refresh(modules);
	owner_step(&owner);
	history_refresh(modules);
	expect_jit(modules, place, place, place + 2 * PAGE);
	expect_jit(modules, place + 3 * PAGE, place + 3 * PAGE,
		   place + 8 * PAGE);
	assert_int_equal(plimp_modules_at(modules, place + 2 * PAGE, 0),
			 PLIMP_NO_MODULE);
	assert_int_equal(plimp_modules_at(modules, place + 2 * PAGE, before),
			 index);
	assert_int_equal(plimp_modules_at(modules, place + 2 * PAGE, now()),
			 PLIMP_NO_MODULE);
	assert_int_equal(plimp_modules_at(modules, place + 3 * PAGE, before),
			 index);
	assert_int_equal(plimp_modules_count(modules), count);
	/* Text that lost its file: it is nobody's, and the rest is. */
	truth = truth_find(&scene->truths, "/it.so");
	index = plimp_modules_at(modules, truth->start, 0);
	before = now();
	history_refresh(modules);
	owner_step(&owner);
	history_refresh(modules);
	expect_jit(modules, truth->start, truth->start, truth->start + PAGE);
	assert_int_equal(plimp_modules_at(modules, truth->start, before),
			 index);
	if (truth->end > truth->start + PAGE) {
		range =
		    plimp_code_find(plimp_modules_map(modules), truth->end - 1);
		assert_int_equal(range->module, index);
		assert_int_equal(range->bias, truth->bias);
	}
	plimp_modules_close(modules);
	view_close(&view);
	owner_end(&owner);
	scene_free(scene);
}

static uint64_t exec_step(int step, void *user)
{
	uint64_t place = loaded_step(0, user);

	if (step == 1)
		execl("/bin/sleep", "sleep", "60", (char *)NULL);
	return place;
}

/* After an exec or the end the history goes on telling what was. */
static void test_exec(void **state)
{
	struct scene *scene = scene_new();
	struct plimp_modules *modules;
	struct owner owner;
	struct view view;
	uint32_t index;
	int code = PLIM_OK;

	(void)state;
	scene_put(scene, "one");
	owner_start(&owner, exec_step, scene);
	view_open(&view, owner.pid);
	modules = history_open(&view);
	index = plimp_modules_at(modules, owner.place, 0);
	owner_leave(&owner);
	for (int tries = 0; code == PLIM_OK && tries < 1000; tries++) {
		child_sleep_ms(10);
		code = plimp_modules_refresh(modules, now(), NULL);
	}
	assert_int_equal(code, PLIM_EIMAGE);
	assert_int_equal(plimp_modules_at(modules, owner.place, 0), index);
	history_expect(modules, truth_find(&scene->truths, "/it.so"));
	owner_end(&owner);
	code = plimp_modules_refresh(modules, now(), NULL);
	assert_int_equal(code, PLIM_ENOPROCESS);
	history_expect(modules, truth_find(&scene->truths, "/it.so"));
	plimp_modules_close(modules);
	view_close(&view);
	scene_free(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reused), cmocka_unit_test(test_told),
	    cmocka_unit_test(test_gone),   cmocka_unit_test(test_gone_other),
	    cmocka_unit_test(test_forged), cmocka_unit_test(test_jit),
	    cmocka_unit_test(test_exec),   cmocka_unit_test(test_departed),
	};

	return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
