/*
 * rest.c - CPU time that the kernel has counted and no thread is known to have
 * had.
 *
 * What a thread did after it was last seen goes with it: neither a sample nor
 * a look tells of it, and of a thread that lived for less than a period often
 * nothing does. Its sum is not lost: the clock of a process goes on with the
 * threads that have ended, and its children-time has the processes that were
 * waited for (docs/design/trees.md). Both are read at the start and at the end.
 * What they have grown by, less what is known of threads, gets a row: a thread
 * without a number, all of whose time is CPU time that was not sampled.
 *
 * It is a lower bound. A child that nobody waited for is in no sum.
 */
#include "profile/session.h"

#include "core/fail.h"

#include <string.h>

/* The counters of a thread that runs are up to a scheduler's tick old, and
 * those of a process are not; less than this is no rest. */
#define REST_LEAST_NS UINT64_C(10000000)

/* Of a part of the threads the rest is not known. */
static int rest_is_wanted(const plim_profile *profile)
{
	/* Inside, the thread that samples would be among them. */
	if (profile->is_inside)
		return 0;
	return profile->tid_count == 0 && profile->thread_name == NULL;
}

/* What a process has used so far and, in a tree, what was charged to it: what
 * is known of that, and whether it is all. */
static int rest_spent(const plim_profile *profile, plim_target *target,
		      uint64_t *spent_ns, int *is_all)
{
	int in_tree = (profile->request.flags & PLIM_PROFILE_TREE) != 0;
	plim_count own = {0};
	plim_count children = {0};
	int code = plimp_process_figure(target, PLIM_FIELD_CPU, &own);

	if (code == PLIM_OK && in_tree)
		code = plimp_process_figure(target, PLIM_FIELD_CPU_CHILDREN,
					    &children);
	*spent_ns = 0;
	if (own.state == PLIM_STATE_KNOWN)
		*spent_ns += own.value;
	if (children.state == PLIM_STATE_KNOWN)
		*spent_ns += children.value;
	*is_all = own.state == PLIM_STATE_KNOWN &&
		  (!in_tree || children.state == PLIM_STATE_KNOWN);
	return code;
}

int plimp_rest_join(plim_profile *profile, struct plimp_program *image)
{
	int is_all = 0;
	int code = PLIM_OK;

	if (!rest_is_wanted(profile))
		return PLIM_OK;
	if (image->target != NULL)
		code = rest_spent(profile, image->target, &image->spent_ns,
				  &is_all);
	image->spent_unknown = !is_all;
	return code;
}

int plimp_rest_begin(plim_profile *profile, plim_error *error)
{
	int code = PLIM_OK;

	for (size_t i = 0; i < profile->image_count && code == PLIM_OK; i++)
		code = plimp_rest_join(profile, profile->images + i);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	return PLIM_OK;
}

int plimp_rest_end(plim_profile *profile, plim_error *error)
{
	uint64_t before = 0;
	uint64_t after = 0;
	int code = PLIM_OK;

	if (!rest_is_wanted(profile))
		return PLIM_OK;
	for (size_t i = 0; i < profile->image_count && code == PLIM_OK; i++) {
		const struct plimp_program *image = profile->images + i;
		uint64_t spent_ns = 0;
		int is_all;

		before += image->spent_ns;
		/* All of its life would pass for the session's. */
		if (!image->is_over && image->target != NULL &&
		    !image->spent_unknown)
			code = rest_spent(profile, image->target, &spent_ns,
					  &is_all);
		after += spent_ns;
	}
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	profile->known_cpu_ns = after > before ? after - before : 0;
	return PLIM_OK;
}

int plimp_rest_add(plim_profile *profile)
{
	static const char name[] = "[ended threads]";
	plim_profile_thread row = {.name = {name, sizeof(name) - 1}};
	plim_profile_times *times = &row.times;
	uint32_t thread;
	uint64_t rest;
	int code;

	if (profile->metrics[PLIM_METRIC_THREADS_ENDED] == 0 ||
	    profile->known_cpu_ns < profile->total.cpu_ns + REST_LEAST_NS)
		return PLIM_OK;
	rest = profile->known_cpu_ns - profile->total.cpu_ns;
	times->wall_ns = rest;
	times->cpu_ns = rest;
	times->unsampled_ns = rest;
	row.user_ns = plim_count_missing(PLIM_REASON_THREAD_ENDED, 0);
	row.system_ns = row.user_ns;
	code = plimp_store_add_thread(&profile->store, &row, &thread);
	if (code == PLIM_OK)
		code = plimp_store_special(&profile->store, thread,
					   PLIM_ACTIVITY_RUNNING,
					   PLIM_SPECIAL_UNSAMPLED, rest, 0);
	if (code != PLIM_OK)
		return code;
	profile->total.wall_ns += rest;
	profile->total.cpu_ns += rest;
	profile->total.unsampled_ns += rest;
	return PLIM_OK;
}
