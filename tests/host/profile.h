/*
 * profile.h - steps that the tests of profiles share: a workload, a profile of
 * it, and what of its time lies between two addresses.
 */
#ifndef TESTS_HOST_PROFILE_H
#define TESTS_HOST_PROFILE_H

#include "common.h"

#include <plimsoll/profile.h>
#include <plimsoll/unwind.h>

#define SECOND UINT64_C(1000000000)

struct profiled {
	plim_host *host;
	struct spawn workload;
	plim_target *target;
	plim_profile *profile;
};

/* Starts `profiled` in this mode and opens it. */
void profiled_start(struct profiled *of, const char *mode);
void profiled_start_with(struct profiled *of, const char *const *argv);
void profiled_end(struct profiled *of);

/* Opens a profile, and runs it: each must succeed. */
void profiled_open(struct profiled *of, plim_profile_request request);
void profiled_run(struct profiled *of);

/* Skips the test where running threads, or sleeping ones, can't be sampled. */
void profiled_needs(struct profiled *of, int tier);

/* The sum of weights of stacks of this activity (0: any) and thread
 * (PLIM_NO_INDEX: any) with a frame, or with the leaf, in the range. */
uint64_t profiled_weight(struct profiled *of, int activity, uint32_t thread,
			 uint64_t start, uint64_t end, int leaf);
/* The same, of samples. */
uint64_t profiled_samples(struct profiled *of, uint32_t thread, uint64_t start,
			  uint64_t end);

/* The metric, which must be known. */
uint64_t profiled_metric(struct profiled *of, int metric);

/* What must hold of every profile: sums, order, indices. */
void profiled_holds(struct profiled *of);

#endif
