/*
 * test_locate.c - glibc's malloc found in living programs: shared and static,
 * with one thread and with several, with libc's file and without.
 *
 * The truth is the program's own: a freed chunk's link to its bin, which lies
 * in the main arena; the arenas that the heaps of its threads begin with;
 * mallinfo2. With PLIM_ROOT=FOLDER the shared programs run with the glibc of
 * another system.
 */
#include "common.h"

#include "host/target.h"
#include "memory/glibc.h"
#include "memory/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WITHOUT_FILE = 1 };

struct located {
	struct spawn spawn;
	plim_host *host;
	plim_target *target;
	struct plimp_lens *lens;
	struct plimp_space space;
	struct plimp_glibc_place place;
};

static int open_file(void *user, const struct plimp_mapping *mapping,
		     struct plimp_file *file)
{
	struct located *located = user;

	return plimp_system_lens_file(located->lens, &located->space, mapping,
				      file, NULL);
}

static void close_file(void *user, struct plimp_file *file)
{
	struct located *located = user;

	plimp_system_file_close(located->host, file);
}

static int elf_machine(void)
{
#if defined(__aarch64__)
	return PLIMP_MACHINE_AARCH64;
#else
	return PLIMP_MACHINE_X86_64;
#endif
}

static void locate(struct located *located, int32_t pid, unsigned how)
{
	struct plimp_image image = {.machine = elf_machine(),
				    .space = &located->space,
				    .user = located};
	plim_error error = {0};

	located->host = open_host(0);
	located->target = open_target(located->host, pid);
	assert_int_equal(plimp_system_lens_open(located->host, located->target,
						&located->lens, &error),
			 PLIM_OK);
	assert_int_equal(
	    plimp_system_lens_maps(located->lens, &located->space, &error),
	    PLIM_OK);
	plimp_system_lens_reader(located->lens, &image.reader);
	image.close_file = close_file;
	if (!(how & WITHOUT_FILE))
		image.open_file = open_file;
	assert_int_equal(plimp_glibc_locate(&image, &located->place, &error),
			 PLIM_OK);
	assert_int_equal(plimp_system_lens_check(located->lens, &error),
			 PLIM_OK);
}

static void let_go(struct located *located)
{
	plimp_glibc_place_release(NULL, &located->place);
	plimp_space_release(located->host, &located->space);
	plimp_system_lens_close(located->lens);
	plim_target_close(located->target);
	plim_host_close(located->host);
}

/* PLIM_ROOT: the folder of a system whose glibc the shared program is to have,
 * through that system's loader. */
static void start(struct located *located, const char *program,
		  unsigned threads)
{
	const char *root = getenv("PLIM_ROOT");
	char count[16], loader[512], libraries[512], path[512];

	memset(located, 0, sizeof(*located));
	snprintf(count, sizeof(count), "%u", threads);
	snprintf(path, sizeof(path), "%s", spawn_path(program));
	if (root && !strstr(program, "static")) {
		const char *argv[] = {
		    loader, "--library-path", libraries, path, count, NULL};

		snprintf(loader, sizeof(loader),
			 "%s/lib64/ld-linux-x86-64.so.2", root);
		snprintf(libraries, sizeof(libraries),
			 "%s/lib/x86_64-linux-gnu", root);
		spawn_program(&located->spawn, loader, argv);
	} else {
		const char *argv[] = {program, count, NULL};

		spawn_start(&located->spawn, argv);
	}
	spawn_ask(&located->spawn, "truth");
}

static int has_arena(const struct plimp_glibc_place *place, uint64_t arena)
{
	for (size_t i = 0; i < place->arena_count; i++)
		if (place->arenas[i] == arena)
			return 1;
	return 0;
}

/* Everything that the program has told. */
static void expect_truth(const struct located *located, unsigned threads)
{
	const struct plimp_glibc_place *place = &located->place;
	const struct spawn *spawn = &located->spawn;
	char key[16];

	assert_string_equal(plimp_glibc_reason_word(place->reason), "found");
	assert_true(place->main_arena + place->layout->bins - 16 ==
		    spawn_truth(spawn, "bin"));
	assert_int_equal(place->arena_count, threads + 1);
	for (unsigned i = 1; i <= threads; i++) {
		snprintf(key, sizeof(key), "arena%u", i);
		assert_true(has_arena(place, spawn_truth(spawn, key)));
	}
	assert_int_equal(place->system_bytes, spawn_truth(spawn, "system"));
	assert_int_equal(place->mmapped_count, spawn_truth(spawn, "mapped"));
	/* What can be asked agrees: the scan and the break always can. */
	assert_true(place->ways == place->applied);
	assert_true(place->ways & PLIMP_GLIBC_BY_SCAN);
	assert_true(place->ways & PLIMP_GLIBC_BY_BREAK);
	assert_int_equal(!(place->ways & PLIMP_GLIBC_BY_RING), threads == 0);
}

static void shared_libc(void **state)
{
	static const unsigned threads[] = {0, 1, 4};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (unsigned how = 0; how < 2; how++) {
			struct located located;

			start(&located, "arenas", threads[i]);
			locate(&located, located.spawn.pid, how);
			expect_truth(&located, threads[i]);
			assert_string_equal(located.place.version_from,
					    how ? "memory" : "file");
			assert_false(located.place.is_static);
			let_go(&located);
			spawn_end(&located.spawn);
		}
}

static void static_program(void **state)
{
	static const unsigned threads[] = {0, 4};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (unsigned how = 0; how < 2; how++) {
			struct located located;

			start(&located, "arenas-static", threads[i]);
			locate(&located, located.spawn.pid, how);
			expect_truth(&located, threads[i]);
			assert_true(located.place.is_static);
			/* Its own table of symbols is asked where it can be. */
			assert_int_equal(
			    !(located.place.ways & PLIMP_GLIBC_BY_SYMBOL), how);
			let_go(&located);
			spawn_end(&located.spawn);
		}
}

/* What a user has set is taken from the process, not from the defaults. */
static void tunables(void **state)
{
	struct located located;

	(void)state;
	setenv("GLIBC_TUNABLES",
	       "glibc.malloc.tcache_count=200:glibc.malloc.tcache_max=100:"
	       "glibc.malloc.mmap_threshold=65536:"
	       "glibc.malloc.trim_threshold=777216",
	       1);
	start(&located, "arenas", 1);
	unsetenv("GLIBC_TUNABLES");
	locate(&located, located.spawn.pid, 0);
	expect_truth(&located, 1);
	assert_int_equal(located.place.tcache_count, 200);
	assert_int_equal(located.place.tcache_bins, 6);
	assert_int_equal(located.place.mmap_threshold, 65536);
	assert_int_equal(located.place.trim_threshold, 777216);
	let_go(&located);
	spawn_end(&located.spawn);
}

/* Programs without glibc: musl's, where its compiler is. */
static void not_glibc(void **state)
{
	static const char *const programs[] = {"keeper-musl",
					       "keeper-musl-static"};

	(void)state;
	if (access(spawn_path(programs[0]), X_OK))
		SKIP_BECAUSE("no musl-gcc");
	for (size_t i = 0; i < 2; i++) {
		struct located located;
		const char *argv[] = {programs[i], NULL};

		memset(&located, 0, sizeof(located));
		spawn_start(&located.spawn, argv);
		locate(&located, located.spawn.pid, 0);
		assert_string_equal(
		    plimp_glibc_reason_word(located.place.reason), "no_glibc");
		let_go(&located);
		spawn_end(&located.spawn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shared_libc),
	    cmocka_unit_test(static_program),
	    cmocka_unit_test(tunables),
	    cmocka_unit_test(not_glibc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
