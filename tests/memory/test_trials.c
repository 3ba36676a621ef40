/*
 * test_trials.c - random heaps: the walk equals mallinfo2 to the byte, and the
 * trim forecast equals what malloc_trim(0) returned.
 *
 * PLIM_TRIALS=COUNT,SEED takes so many trials from another seed; PLIM_ROOT
 * names the folder of another system whose glibc the targets run with. The
 * seed of each trial that goes wrong is printed, with the command line that
 * has it again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "skip.h"
#include "trial.h"

#define TRIALS_DEFAULT 200
#define TRIALS_SEED    20261
#define TRIALS_KIB     24576 /* threads of a trial together ask for at most */

struct trials_settings {
	unsigned count;
	uint64_t seed;
	uint64_t kib;
	const char *root;
};

static struct trials_settings trials_read(void)
{
	struct trials_settings settings = {TRIALS_DEFAULT, TRIALS_SEED,
					   TRIALS_KIB, getenv("PLIM_ROOT")};
	const char *text = getenv("PLIM_TRIALS");
	char *end;

	if (text == NULL)
		return settings;
	settings.count = (unsigned)strtoul(text, &end, 10);
	if (*end == ',')
		settings.seed = strtoull(end + 1, &end, 10);
	if (*end == ',')
		settings.kib = strtoull(end + 1, &end, 10);
	if (*end != '\0' || settings.count == 0 || settings.kib < 64)
		fail_msg("PLIM_TRIALS is COUNT,SEED,KIB");
	return settings;
}

static void trials(void **state)
{
	struct trials_settings settings = trials_read();
	struct trial_tally tally = {0};
	plim_host *host = NULL;
	plim_heaps *heaps = NULL;

	(void)state;
	assert_int_equal(plim_host_open(&host, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_heaps_new(&heaps, host, NULL), PLIM_OK);
	if (!trial_can(heaps)) {
		plim_heaps_free(heaps);
		plim_host_close(host);
		SKIP_BECAUSE("this build walks no heaps");
	}
	printf("%u trials from seed %llu\n", settings.count,
	       (unsigned long long)settings.seed);
	for (unsigned i = 0; i < settings.count; i++) {
		struct trial_result result;
		struct trial trial;

		trial_draw(&trial, settings.seed + i, settings.kib);
		trial_run(&trial, settings.root, heaps, host, &result);
		trial_count(&tally, &result);
		if (result.error[0] == '\0' && result.faults == 0 &&
		    result.off >= -4096 && result.off <= 4096)
			continue;
		trial_print(&trial);
		trial_explain(&result);
	}
	plim_heaps_free(heaps);
	plim_host_close(host);
	trial_tell(&tally);
	assert_int_equal(tally.failed, 0);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(tally.wrong[i], 0);
	assert_int_equal(tally.more, 0);
	assert_true(tally.two * 20 <= tally.trials);
}

/* That the comparison itself can fail: each figure that is off by one chunk
 * shows as the equation that it breaks. */
static void faults_show(void **state)
{
	const struct trial_truth truth = {
	    .uordblks = 1000,
	    .fordblks = 700,
	    .fsmblks = 100,
	    .hblks = 2,
	    .hblkhd = 8192,
	    .arena = 1700,
	    .own = 300,
	    .held = 600,
	};
	const struct trial_walk right = {
	    .in_use = 900,
	    .tcache = 100,
	    .fastbin = 100,
	    .free = 500,
	    .top = 100,
	    .mmapped = 8192,
	    .mmapped_count = 2,
	    .system = 1700,
	    .walked = 1700,
	    .arenas = 3,
	    .heaps = 2,
	};
	struct trial_walk walk = right;

	(void)state;
	assert_int_equal(trial_compare(&walk, &truth), 0);
	walk.in_use += 16;
	assert_int_equal(trial_compare(&walk, &truth),
			 TRIAL_IN_USE | TRIAL_HELD);
	walk = right;
	walk.tcache -= 16;
	walk.in_use += 16;
	assert_int_equal(trial_compare(&walk, &truth), TRIAL_HELD);
	walk = right;
	walk.heaps = 3;
	assert_int_equal(trial_compare(&walk, &truth), TRIAL_HELD);
	walk = right;
	walk.top += 16;
	assert_int_equal(trial_compare(&walk, &truth), TRIAL_FREE);
	walk = right;
	walk.fastbin -= 32;
	walk.free += 32;
	assert_int_equal(trial_compare(&walk, &truth), TRIAL_FAST);
	walk = right;
	walk.walked -= 16;
	assert_int_equal(trial_compare(&walk, &truth), TRIAL_SYSTEM);
	walk = right;
	walk.mmapped_count = 3;
	assert_int_equal(trial_compare(&walk, &truth), TRIAL_MMAPPED);
	walk = right;
	walk.unknown = 4096;
	assert_int_equal(trial_compare(&walk, &truth), TRIAL_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(faults_show),
	    cmocka_unit_test(trials),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
