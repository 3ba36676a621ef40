/*
 * test_namer.c - what frames of this very process are called: its own
 * functions and its libraries', code that it made and told of in a map, and
 * what nobody has a name for. dladdr() of the C library is the other opinion.
 */
#include "unwind/modules.h"
#include "unwind/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "skip.h"

struct scene {
	plim_host *host;
	struct plimp_lens *lens;
	struct plimp_modules *modules;
	struct plimp_namer *namer;
	char *code; /* executable, of nobody's file */
	char map[64];
};

int plim_test_global(int value);

__attribute__((noinline)) int plim_test_global(int value)
{
	return value * 3 + 1;
}

__attribute__((noinline, used)) static int plim_test_static(int value)
{
	return plim_test_global(value) - 7;
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	plim_error error;

	assert_non_null(scene);
	scene->code = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(scene->code, MAP_FAILED);
	memset(scene->code, 0xc3, 65536);
	snprintf(scene->map, sizeof(scene->map), "/tmp/perf-%d.map",
		 (int)getpid());
	unlink(scene->map);
	assert_int_equal(plim_host_open(&scene->host, NULL, &error), PLIM_OK);
	assert_int_equal(
	    plimp_system_lens_open(scene->host, NULL, &scene->lens, &error),
	    PLIM_OK);
	assert_int_equal(plimp_modules_open(&scene->modules, scene->host,
					    scene->lens, NULL, 1, &error),
			 PLIM_OK);
	assert_int_equal(plimp_namer_open(&scene->namer, scene->host,
					  scene->lens, scene->modules, 0,
					  &error),
			 PLIM_OK);
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	plimp_namer_close(scene->namer);
	plimp_modules_close(scene->modules);
	plimp_system_lens_close(scene->lens);
	plim_host_close(scene->host);
	munmap(scene->code, 65536);
	unlink(scene->map);
	free(scene);
	return 0;
}

/* The one name at an address, "" for none; `name` gets all of it. */
static const char *name_of(struct scene *scene, uint64_t address,
			   struct plimp_frame_name *name)
{
	static char text[512];
	const struct plimp_frame_name *names = NULL;
	size_t count = 0;
	uint32_t module = plimp_modules_at(scene->modules, address, 0);

	assert_int_equal(plimp_namer_find(scene->namer, module, address, 0,
					  &names, &count, NULL),
			 PLIM_OK);
	assert_int_equal(count, 1);
	assert_false(names[0].is_inlined);
	assert_true(names[0].function.size < sizeof(text));
	memcpy(text, names[0].function.data, names[0].function.size);
	text[names[0].function.size] = '\0';
	if (name)
		*name = names[0];
	return text;
}

static uint64_t address_of(int (*function)(int))
{
	return (uint64_t)(uintptr_t)function;
}

static void test_own_functions(void **state)
{
	struct scene *scene = *state;
	struct plimp_frame_name name;

	assert_string_equal(name_of(scene, address_of(plim_test_global), NULL),
			    "plim_test_global");
	assert_string_equal(
	    name_of(scene, address_of(plim_test_static) + 1, &name),
	    "plim_test_static");
	assert_int_equal(name.source, PLIMP_SYMBOL_SYMTAB);
	/* The first name is still there after the second question. */
	assert_string_equal(
	    name_of(scene, address_of(plim_test_global) + 1, &name),
	    "plim_test_global");
	assert_int_equal(name.linkage.size, strlen("plim_test_global"));
}

/* Functions of the C library: the symbol that dladdr() finds starts where ours
 * does (names are aliases of each other). */
static void test_library(void **state)
{
	static const char *const asked[] = {
	    "malloc",	      "printf", "qsort",  "getaddrinfo",
	    "pthread_create", "fopen",	"strtod", "localtime_r"};
	struct scene *scene = *state;
	size_t equal = 0;

	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		uint64_t address =
		    (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, asked[i]);
		struct plimp_frame_name name, inside;
		Dl_info info;

		assert_true(address);
		assert_int_not_equal(
		    dladdr((void *)(uintptr_t)(address + 5), &info), 0);
		name_of(scene, address, &name);
		name_of(scene, address + 5, &inside);
		assert_true(name.start && name.start == inside.start);
		assert_ptr_equal(name.function.data, inside.function.data);
		equal +=
		    name.function.size == strlen(asked[i]) &&
		    !memcmp(name.function.data, asked[i], name.function.size);
		assert_int_equal(address - name.start,
				 (uintptr_t)info.dli_fbase);
	}
	assert_in_range(equal, 5, 8);
}

static void test_nameless(void **state)
{
	struct scene *scene = *state;
	struct plimp_frame_name name;

	assert_string_equal(name_of(scene, 0x10, &name), "");
	assert_int_equal(name.source, PLIMP_SYMBOL_NONE);
	assert_string_equal(
	    name_of(scene, (uint64_t)(uintptr_t)scene->code, NULL), "");
}

/* Writes a map that names the first 64 bytes of the code. */
static void write_map(const struct scene *scene, const char *path,
		      const char *name)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "%llx 40 %s\n",
		(unsigned long long)(uintptr_t)scene->code, name);
	assert_int_equal(fclose(file), 0);
}

static void test_map(void **state)
{
	struct scene *scene = *state;
	uint64_t at = (uint64_t)(uintptr_t)scene->code;
	struct plimp_frame_name name;

	write_map(scene, scene->map, "first \x1b[31m");
	assert_int_equal(plimp_namer_refresh(scene->namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, at, &name), "first \x1b[31m");
	assert_int_equal(name.source, PLIMP_SYMBOL_PERF_MAP);
	assert_int_equal(name.start, at);
	assert_string_equal(name_of(scene, at + 63, NULL), "first \x1b[31m");
	assert_string_equal(name_of(scene, at + 64, NULL), "");
	write_map(scene, scene->map, "second");
	assert_string_equal(name_of(scene, at, NULL), "first \x1b[31m");
	assert_int_equal(plimp_namer_refresh(scene->namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, at, NULL), "second");
	/* The first name is still to be read. */
	assert_memory_equal(name.function.data, "first", 5);
	/* A map names nothing of a file. */
	FILE *file = fopen(scene->map, "w");

	assert_non_null(file);
	fprintf(file, "%llx 40 stolen\n",
		(unsigned long long)address_of(plim_test_global));
	assert_int_equal(fclose(file), 0);
	assert_int_equal(plimp_namer_refresh(scene->namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, address_of(plim_test_global), NULL),
			    "plim_test_global");
	/* Once it is gone what was read stays. */
	unlink(scene->map);
	assert_int_equal(plimp_namer_refresh(scene->namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, address_of(plim_test_global), NULL),
			    "plim_test_global");
}

/* What is no regular file of the target's own user is not read, and nothing
 * waits for it. */
static void test_map_of_others(void **state)
{
	struct scene *scene = *state;
	uint64_t at = (uint64_t)(uintptr_t)scene->code;

	assert_int_equal(mkfifo(scene->map, 0600), 0);
	assert_int_equal(plimp_namer_refresh(scene->namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, at, NULL), "");
	unlink(scene->map);
	assert_int_equal(mkdir(scene->map, 0700), 0);
	assert_int_equal(plimp_namer_refresh(scene->namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, at, NULL), "");
	rmdir(scene->map);
	/* A device, by a link. */
	assert_int_equal(symlink("/dev/zero", scene->map), 0);
	assert_int_equal(plimp_namer_refresh(scene->namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, at, NULL), "");
	unlink(scene->map);
	if (geteuid() != 0)
		SKIP_BECAUSE("only root can become another user");
	write_map(scene, scene->map, "theirs");
	assert_int_equal(chown(scene->map, 12345, 12345), 0);
	assert_int_equal(plimp_namer_refresh(scene->namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, at, NULL), "");
	assert_int_equal(chown(scene->map, 0, 0), 0);
	assert_int_equal(plimp_namer_refresh(scene->namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, at, NULL), "theirs");
}

/* A process with a root of its own points its map at a path that has a map
 * here, and nothing there: ours is not read. The same below its root is. */
static void test_map_by_link(void **state)
{
	struct scene *scene = *state;
	uint64_t at = (uint64_t)(uintptr_t)scene->code;
	char root[] = "/tmp/plim-root-XXXXXX", path[128], ours[64];
	plim_target *target;
	struct plimp_lens *lens;
	struct plimp_namer *namer;
	int ready[2], end[2];
	char byte;

	if (geteuid() != 0)
		SKIP_BECAUSE("only root can become another user");
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/tmp", root);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(end), 0);
	pid_t child = fork();

	if (child == 0) {
		close(end[1]);
		if (chroot(root) || chdir("/") || write(ready[1], "x", 1) != 1)
			_exit(1);
		_exit(read(end[0], &byte, 1) != 0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	snprintf(ours, sizeof(ours), "/tmp/plim-ours-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/tmp/perf-%d.map", root, (int)child);
	write_map(scene, ours, "ours");
	assert_int_equal(symlink(ours, path), 0);
	assert_int_equal(plim_target_open(&target, scene->host, child, NULL),
			 PLIM_OK);
	assert_int_equal(
	    plimp_system_lens_open(scene->host, target, &lens, NULL), PLIM_OK);
	assert_int_equal(plimp_namer_open(&namer, scene->host, lens,
					  scene->modules, 0, NULL),
			 PLIM_OK);
	struct plimp_namer *own = scene->namer;

	scene->namer = namer;
	assert_string_equal(name_of(scene, at, NULL), "");
	unlink(path);
	write_map(scene, path, "theirs");
	assert_int_equal(plimp_namer_refresh(namer, NULL), PLIM_OK);
	assert_string_equal(name_of(scene, at, NULL), "theirs");
	scene->namer = own;
	plimp_namer_close(namer);
	plimp_system_lens_close(lens);
	plim_target_close(target);
	close(end[1]);
	waitpid(child, NULL, 0);
	close(end[0]);
	close(ready[0]);
	close(ready[1]);
	unlink(path);
	unlink(ours);
	snprintf(path, sizeof(path), "%s/tmp", root);
	rmdir(path);
	rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_own_functions, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(test_library, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_nameless, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_map, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_map_of_others, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(test_map_by_link, set_up,
					    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
