/*
 * inside.c - a profile of the process that calls it: opened with a host and a
 * target of its own, run in a thread of ours, and run again.
 *
 * The session is the same as that of any process; it is opened up to its code
 * and its rules, which stay, and arms its sampler each time it runs. Who runs
 * it holds the claim of the process meanwhile. Design: docs/design/inside.md.
 */
#include "profile/session.h"

#include "core/fail.h"

#include <string.h>

int plimp_inside_busy(plim_error *error)
{
	return plimp_fail(error, PLIM_EBUSY, 0, "profile", NULL,
			  "another session samples this process: join it "
			  "first");
}

static int inside_request_is_right(const plim_profile_request *request)
{
	const uint32_t others =
	    PLIM_PROFILE_TREE | PLIM_PROFILE_ON_EXEC | PLIM_PROFILE_PTRACE;

	if (request == NULL)
		return 1;
	/* It is by a signal, and of all. */
	if ((request->flags & PLIM_PROFILE_SUSPEND) &&
	    (request->flags &
	     (PLIM_PROFILE_NO_SIGNALS | PLIM_PROFILE_NO_RUNNING)))
		return 0;
	return (request->flags & others) == 0;
}

static int inside_target(plim_target **target, plim_host *host,
			 plim_error *error)
{
	plim_count pid = plim_host_count(host, PLIM_HOST_OWN_PID);

	if (pid.state != PLIM_STATE_KNOWN)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "profile", NULL,
				  "this host does not show this process");
	return plim_target_open(target, host, (int32_t)pid.value, error);
}

int plim_profile_open_self(plim_profile **profile,
			   const plim_host_options *options,
			   const plim_profile_request *request,
			   plim_error *error)
{
	plim_host *host = NULL;
	plim_target *target = NULL;
	int code;

	if (profile == NULL || !inside_request_is_right(request))
		return plimp_fail(error, PLIM_EINVAL, 0, "profile", NULL, NULL);
	code = plim_host_open(&host, options, error);
	if (code == PLIM_OK)
		code = inside_target(&target, host, error);
	if (code == PLIM_OK)
		code = plimp_profile_make(profile, target, request, 1, error);
	if (code != PLIM_OK) {
		plim_target_close(target);
		plim_host_close(host);
		return code;
	}
	(*profile)->owns_host = 1;
	return PLIM_OK;
}

static void inside_body(void *user)
{
	plim_profile *profile = user;

	profile->run_code = plimp_profile_sample(profile, &profile->run_error);
	if (profile->is_inside)
		plimp_system_inside_release();
}

int plim_profile_start(plim_profile *profile, plim_error *error)
{
	int code;

	if (!plimp_profile_is_ready(profile))
		return plimp_fail(error, PLIM_EINVAL, 0, "profile", NULL, NULL);
	if (profile->is_inside && !plimp_system_inside_claim())
		return plimp_inside_busy(error);
	profile->has_begun = 0;
	code = plimp_system_runner_start(&profile->runner,
					 &profile->host->allocator, inside_body,
					 profile, error);
	if (code != PLIM_OK) {
		if (profile->is_inside)
			plimp_system_inside_release();
		return code;
	}
	plimp_system_runner_await(profile->runner);
	return profile->has_begun ? PLIM_OK : plim_profile_join(profile, error);
}

int plim_profile_join(plim_profile *profile, plim_error *error)
{
	if (profile == NULL || profile->runner == NULL ||
	    profile->inside_pid != plimp_system_own_pid())
		return plimp_fail(error, PLIM_EINVAL, 0, "profile", NULL, NULL);
	plimp_system_runner_join(profile->runner);
	profile->runner = NULL;
	atomic_store(&profile->stop_wanted, 0);
	if (profile->run_code != PLIM_OK && error != NULL)
		*error = profile->run_error;
	return profile->run_code;
}
