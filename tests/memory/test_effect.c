/*
 * test_effect.c - looking at a process leaves it as it was: no page of it is
 * swapped in, no zero page is mapped, no page shared after a fork is copied.
 *
 * The kernel is asked before and after, page by page: pagemap, smaps_rollup,
 * the size of the page tables, the faults.
 */
#include "common.h"

#include <unistd.h>

struct effect {
	struct pages pages;
	uint64_t tables;
	uint64_t anonymous;
	uint64_t pss;
	uint64_t swap;
	uint64_t faults;
};

static struct effect effect_of(pid_t pid)
{
	struct effect effect;

	assert_int_equal(pages_count(pid, &effect.pages), 0);
	effect.tables = pages_bytes(pid, "status", "VmPTE");
	effect.anonymous = pages_bytes(pid, "smaps_rollup", "Anonymous");
	effect.pss = pages_bytes(pid, "smaps_rollup", "Pss_Anon");
	effect.swap = pages_bytes(pid, "status", "VmSwap");
	effect.faults = pages_major_faults(pid);
	return effect;
}

/* A child that was just forked still copies what it writes to itself: waits
 * until it has come to rest. */
static void effect_rest(pid_t pid)
{
	struct pages last = {0};
	unsigned same = 0;

	for (unsigned tries = 0; same < 5 && tries < 500; tries++) {
		struct pages now;

		assert_int_equal(pages_count(pid, &now), 0);
		same = memcmp(&now, &last, sizeof(now)) == 0 ? same + 1 : 0;
		last = now;
		target_sleep_ms(10);
	}
	assert_true(same >= 5);
}

static void effect_none(const struct effect *before, pid_t pid)
{
	struct effect after = effect_of(pid);

	assert_int_equal(after.pages.present, before->pages.present);
	assert_int_equal(after.pages.swapped, before->pages.swapped);
	assert_int_equal(after.pages.exclusive, before->pages.exclusive);
	assert_int_equal(after.tables, before->tables);
	assert_int_equal(after.anonymous, before->anonymous);
	assert_int_equal(after.pss, before->pss);
	assert_int_equal(after.swap, before->swap);
	assert_int_equal(after.faults, before->faults);
}

/* Blocks that were never written to, and pages that a trim gave back: headers
 * stand between holes. */
static void holes(void **state)
{
	struct effect before;
	struct target target;
	struct trial_walk walk;

	look_can(state);
	look_start(&target, "heap", NULL,
		   "threads 3 join 1 kib 8192 most 30000 touch 0");
	look_ask(&target, "trim");
	before = effect_of(target.pid);
	walk = look_walk(*state, target.pid);
	effect_none(&before, target.pid);
	/* There was something to fall into. */
	assert_true(before.pages.present * 4096 < walk.system / 2);
	look_compare(&target, &walk, 0);
	target_end(&target);
}

/* A parent and its child share every page; a reader that pins them would have
 * them copied. Both are walked, and hold the same. */
static void forked(void **state)
{
	struct effect parent;
	struct effect child;
	struct target target;
	struct trial_walk walk;
	struct trial_walk other;
	pid_t pid;

	look_can(state);
	look_start(&target, "heap", NULL, "threads 2 join 1 kib 16384");
	look_ask(&target, "fork");
	pid = (pid_t)look_truth(&target, "child");
	effect_rest(pid);
	effect_rest(target.pid);
	parent = effect_of(target.pid);
	child = effect_of(pid);
	/* They do share. */
	assert_true(child.pss < child.anonymous * 6 / 10);
	walk = look_walk(*state, target.pid);
	other = look_walk(*state, pid);
	effect_none(&parent, target.pid);
	effect_none(&child, pid);
	assert_int_equal(walk.in_use, other.in_use);
	assert_int_equal(walk.free + walk.fastbin + walk.top,
			 other.free + other.fastbin + other.top);
	look_compare(&target, &walk, 0);
	/* A trim would lower the child's RSS by that, and return nothing. */
	assert_true(look_figure(*state, PLIM_HEAP_SHARED) + 64 * KIB >=
		    other.trim);
	look_ask(&target, "reap");
	target_end(&target);
}

/* What is swapped out stays there, and is not taken for anything else. */
static void swapped(void **state)
{
	struct effect before;
	struct target target;
	uint64_t unknown;

	look_can(state);
	look_start(&target, "heap", NULL, "threads 2 join 1 kib 16384");
	look_ask(&target, "pageout");
	if (look_truth(&target, "swap_bytes") < 16 * MIB) {
		target_end(&target);
		SKIP_BECAUSE("there is no swap");
	}
	before = effect_of(target.pid);
	{
		const struct look *look = *state;
		plim_target *opened = NULL;

		assert_int_equal(
		    plim_target_open(&opened, look->host, target.pid, NULL),
		    PLIM_OK);
		assert_int_equal(
		    plim_heaps_walk(look->heaps, opened, NULL, NULL), PLIM_OK);
		plim_target_close(opened);
	}
	effect_none(&before, target.pid);
	/* Refused as a whole, or unknown for the most part: never a few KiB
	 * in use. */
	if (plim_heap_about(look_glibc(*state)).depth == PLIM_DEPTH_WALKED) {
		unknown = look_figure(*state, PLIM_HEAP_UNKNOWN);
		assert_true(unknown >= 16 * MIB);
	} else {
		assert_string_not_equal(plim_heap_about(look_glibc(*state)).why,
					"");
	}
	target_end(&target);
}

/* That the comparison sees what a careless reader does: one blind read of the
 * whole heap maps zero pages. */
static void carelessness_shows(void **state)
{
	static char buffer[1 << 20];
	struct pages before;
	struct pages after;
	struct target target;
	char path[64];
	char line[512];
	FILE *maps;
	FILE *mem;

	(void)state;
	look_start(&target, "heap", NULL,
		   "threads 0 join 1 kib 8192 least 60000 most 100000 touch 0");
	assert_int_equal(pages_count(target.pid, &before), 0);
	snprintf(path, sizeof(path), "/proc/%ld/maps", (long)target.pid);
	maps = fopen(path, "re");
	snprintf(path, sizeof(path), "/proc/%ld/mem", (long)target.pid);
	mem = fopen(path, "re");
	assert_non_null(maps);
	assert_non_null(mem);
	setvbuf(mem, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), maps) != NULL) {
		unsigned long start;

		if (strstr(line, "[heap]") == NULL)
			continue;
		assert_int_equal(sscanf(line, "%lx", &start), 1);
		assert_int_equal(fseek(mem, (long)start, SEEK_SET), 0);
		assert_int_equal(fread(buffer, 1, sizeof(buffer), mem),
				 sizeof(buffer));
	}
	fclose(maps);
	fclose(mem);
	assert_int_equal(pages_count(target.pid, &after), 0);
	assert_true(after.present > before.present + 100);
	target_end(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(carelessness_shows),
	    cmocka_unit_test(holes),
	    cmocka_unit_test(forked),
	    cmocka_unit_test(swapped),
	};

	return cmocka_run_group_tests(tests, look_open, look_close);
}
