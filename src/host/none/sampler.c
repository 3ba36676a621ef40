/*
 * sampler.c - captures of the host that knows nothing: no sampler can be
 * opened, so that nothing else is ever asked. It is a whole implementation of
 * host/sampler.h.
 */
#include "core/fail.h"
#include "host/sampler.h"

static int none_sampler_fail(plim_error *error)
{
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "profile", NULL,
			  "profiles are taken on Linux alone so far");
}

int plimp_system_sampler_open(struct plimp_sampler **sampler, plim_host *host,
			      plim_target *target, struct plimp_lens *lens,
			      const struct plimp_sampler_options *options,
			      plim_error *error)
{
	(void)sampler;
	(void)host;
	(void)target;
	(void)lens;
	(void)options;
	return none_sampler_fail(error);
}

void plimp_system_sampler_close(struct plimp_sampler *sampler)
{
	(void)sampler;
}

int plimp_system_sampler_adopt(struct plimp_sampler *sampler,
			       plim_target *target, struct plimp_lens *lens,
			       plim_error *error)
{
	(void)sampler;
	(void)target;
	(void)lens;
	return none_sampler_fail(error);
}

void plimp_system_sampler_abandon(struct plimp_sampler *sampler, int32_t pid)
{
	(void)sampler;
	(void)pid;
}

struct plimp_tiers plimp_system_sampler_tiers(struct plimp_sampler *sampler)
{
	const plim_count none = plim_count_missing(PLIM_REASON_NO_BACKEND, 0);
	const struct plimp_tiers tiers = {
	    .perf = none,
	    .ptrace = none,
	    .no_stop = none,
	    .perf_remedy = "",
	    .ptrace_remedy = "",
	    .no_stop_remedy = "",
	};

	(void)sampler;
	return tiers;
}

int plimp_system_sampler_start(struct plimp_sampler *sampler, plim_error *error)
{
	(void)sampler;
	return none_sampler_fail(error);
}

int plimp_system_sampler_halt(struct plimp_sampler *sampler, plim_error *error)
{
	(void)sampler;
	return none_sampler_fail(error);
}

int plimp_system_sampler_drain(struct plimp_sampler *sampler,
			       plimp_capture_fn *callback, void *user,
			       plim_error *error)
{
	(void)sampler;
	(void)callback;
	(void)user;
	return none_sampler_fail(error);
}

int plimp_system_sampler_tick(struct plimp_sampler *sampler,
			      plimp_capture_fn *callback, void *user,
			      plim_error *error)
{
	(void)sampler;
	(void)callback;
	(void)user;
	return none_sampler_fail(error);
}

int plimp_system_sampler_wait(struct plimp_sampler *sampler, uint64_t until_ns,
			      plim_error *error)
{
	(void)sampler;
	(void)until_ns;
	return none_sampler_fail(error);
}

void plimp_system_sampler_stop(struct plimp_sampler *sampler)
{
	(void)sampler;
}

int plimp_system_sampler_period(struct plimp_sampler *sampler,
				uint64_t period_ns, plim_error *error)
{
	(void)sampler;
	(void)period_ns;
	return none_sampler_fail(error);
}

int plimp_system_sampler_deepen(struct plimp_sampler *sampler, int32_t tid,
				uint32_t bytes)
{
	(void)sampler;
	(void)tid;
	(void)bytes;
	return -1;
}

int plimp_system_sampler_totals(struct plimp_sampler *sampler,
				plimp_capture_fn *callback, void *user,
				plim_error *error)
{
	(void)sampler;
	(void)callback;
	(void)user;
	return none_sampler_fail(error);
}

struct plimp_sampler_bill
plimp_system_sampler_bill(const struct plimp_sampler *sampler)
{
	const struct plimp_sampler_bill none = {0};

	(void)sampler;
	return none;
}

int plimp_system_sampler_has_moved(struct plimp_sampler *sampler)
{
	(void)sampler;
	return 1;
}

void plimp_system_sampler_rested(struct plimp_sampler *sampler,
				 uint64_t time_ns, plimp_capture_fn *callback,
				 void *user)
{
	(void)sampler;
	(void)time_ns;
	(void)callback;
	(void)user;
}

int plimp_system_sampler_is_quiet(const struct plimp_sampler *sampler)
{
	(void)sampler;
	return 1;
}

void plimp_system_sampler_end(struct plimp_sampler *sampler)
{
	(void)sampler;
}
