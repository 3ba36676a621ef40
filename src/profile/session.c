/*
 * session.c - a profile from its opening to its end: one thread, which sleeps
 * until the next tick, drains what came, looks at who sleeps, and keeps the
 * maps of code fresh.
 */
#include "profile/session.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/bill.h"
#include "profile/fold.h"
#include "profile/preload.h"

#include <string.h>

/* Rings are drained at least so often, however slow the ticks. */
#define SESSION_DRAIN_NS 100000000u
/* All processes are listed so often. */
#define SESSION_FIND_NS 1000000000u
/* Windows of a budget. */
#define SESSION_BUDGET_NS 500000000u

/* What one sample of a running thread costs the target: 3 us for the kernel's
 * way there and back, and its copy of the stack (docs/design/profile.md). */
#define SESSION_SAMPLE_NS   3000u
#define SESSION_COPY_KIB_NS 280u

static int session_copy_request(plim_profile *profile,
				const plim_profile_request *request)
{
	const plim_allocator *allocator = &profile->host->allocator;

	profile->request = *request;
	if (request->tid_count > 0) {
		profile->tids = plimp_allocate(allocator, request->tid_count,
					       sizeof(*profile->tids));
		if (profile->tids == NULL)
			return PLIM_ENOMEM;
		memcpy(profile->tids, request->tids,
		       request->tid_count * sizeof(*profile->tids));
		profile->tid_count = request->tid_count;
	}
	if (request->thread_name != NULL) {
		size_t size = strlen(request->thread_name) + 1;

		profile->thread_name = plimp_allocate(allocator, size, 1);
		if (profile->thread_name == NULL)
			return PLIM_ENOMEM;
		memcpy(profile->thread_name, request->thread_name, size);
		profile->name_size = size;
	}
	return PLIM_OK;
}

static int session_request_is_right(const plim_profile_request *request)
{
	const uint32_t both =
	    PLIM_PROFILE_NO_SLEEPERS | PLIM_PROFILE_NO_RUNNING;

	return request->size >= sizeof(size_t) + 2 * sizeof(uint32_t) &&
	       request->size <= sizeof(*request) &&
	       (request->flags & both) != both &&
	       (request->preload == NULL ||
		(request->flags & PLIM_PROFILE_ON_EXEC) != 0) &&
	       (request->tid_count == 0) == (request->tids == NULL) &&
	       request->tid_count <= PLIMP_SAMPLER_TIDS_MOST &&
	       request->budget_percent >= 0 && request->budget_percent <= 100 &&
	       (request->thread_name == NULL ||
		request->thread_name[0] != '\0');
}

static uint32_t session_sampler_flags(const plim_profile *profile)
{
	uint32_t flags = profile->request.flags;
	uint32_t own = 0;

	/* The rate of inherited events cannot be changed. */
	if (profile->effective.is_budget)
		own |= PLIMP_SAMPLER_NO_INHERIT;
	if (flags & PLIM_PROFILE_TREE)
		own |= PLIMP_SAMPLER_FOLLOW;
	if (flags & PLIM_PROFILE_PTRACE)
		own |= PLIMP_SAMPLER_PTRACE;
	if (flags & PLIM_PROFILE_ON_EXEC)
		own |= PLIMP_SAMPLER_ON_EXEC;
	if (flags & PLIM_PROFILE_NO_SLEEPERS)
		own |= PLIMP_SAMPLER_NO_SLEEPERS;
	if (flags & PLIM_PROFILE_NO_RUNNING)
		own |= PLIMP_SAMPLER_NO_RUNNING;
	if (flags & PLIM_PROFILE_NO_PERF)
		own |= PLIMP_SAMPLER_NO_PERF;
	if (flags & PLIM_PROFILE_NO_TIMERS)
		own |= PLIMP_SAMPLER_NO_TIMERS;
	if (flags & PLIM_PROFILE_SUSPEND)
		own |= PLIMP_SAMPLER_SUSPEND;
	return own;
}

int plimp_process_figure(plim_target *target, int field, plim_count *figure)
{
	plim_field_set fields = {{0}};
	plim_usage *usage = NULL;
	int code = plim_usage_new(&usage, target->host, NULL);

	if (code != PLIM_OK)
		return code;
	plim_field_set_add(&fields, field);
	code = plim_usage_refresh(usage, target, &fields, NULL);
	if (code == PLIM_OK)
		*figure = plim_process_count(plim_usage_process(usage), field);
	else
		*figure = plim_count_missing(PLIM_REASON_ENDED, 0);
	plim_usage_free(usage);
	return code == PLIM_ENOMEM ? code : PLIM_OK;
}

static int session_facts(plim_profile *profile)
{
	plim_profile_facts *facts = &profile->facts;
	const struct plimp_effective *effective = &profile->effective;

	facts->target = profile->target->identity;
	facts->name = plimp_store_text(
	    &profile->store,
	    (plim_bytes){profile->target->name, profile->target->name_size});
	facts->duration_asked_ns = profile->request.duration_ns;
	facts->duration_effective_ns = effective->duration_ns;
	facts->hz_asked = profile->request.hz;
	facts->hz_effective = effective->hz;
	facts->period_ns = effective->period_ns;
	facts->jitter_ns = effective->period_ns / 10;
	facts->memory_bytes = effective->memory_bytes;
	facts->stack_bytes = effective->stack_bytes;
	facts->clamped = effective->clamped;
	facts->flags = profile->request.flags;
	facts->is_budget = effective->is_budget;
	facts->budget_percent = profile->request.budget_percent;
	facts->budget_pause_ns = profile->request.budget_pause_ns;
	return facts->name.size == profile->target->name_size ? PLIM_OK
							      : PLIM_ENOMEM;
}

/* From now on it can be stopped; who wanted that before has it now. */
static void session_stoppable(plim_profile *profile)
{
	atomic_store(&profile->stoppable, profile->sampler);
	if (atomic_load(&profile->stop_wanted))
		plimp_system_sampler_stop(profile->sampler);
}

static int session_sampler(plim_profile *profile, plim_error *error)
{
	struct plimp_program *root = profile->images;
	struct plimp_sampler_options options = {
	    .period_ns = profile->effective.period_ns,
	    .stack_bytes = profile->effective.stack_bytes,
	    .flags = session_sampler_flags(profile),
	    .event = (profile->request.flags & PLIM_PROFILE_CYCLES) != 0
			 ? PLIMP_EVENT_CYCLES
			 : PLIMP_EVENT_TASK_CLOCK,
	    .tids = profile->thread_name == NULL ? profile->tids : NULL,
	    .tid_count = profile->thread_name == NULL ? profile->tid_count : 0,
	};

	int code;

	if (profile->is_inside)
		options.left_out = plimp_system_own_tid();
	options.preload = plimp_preload_memory(profile->request.preload);
	if (profile->walk != NULL) {
		options.flags |= PLIMP_SAMPLER_INSIDE;
		options.walk = plimp_inside_walk;
		options.walk_user = profile->walk;
		plimp_inside_walk_publish(profile);
	}
	root->adopted = 1;
	profile->awaits_exec =
	    (profile->request.flags & PLIM_PROFILE_ON_EXEC) != 0;
	code = plimp_system_sampler_open(&profile->sampler, profile->host,
					 root->target, root->lens, &options,
					 error);
	if (code == PLIM_OK)
		session_stoppable(profile);
	return code;
}

/* The memory that a session needs besides its tables. */
static int session_memory(plim_profile *profile)
{
	const plim_allocator *allocator = &profile->host->allocator;

	profile->frame_addresses = plimp_allocate(
	    allocator, PLIMP_PROFILE_DEPTH, sizeof(*profile->frame_addresses));
	profile->frame_indices = plimp_allocate(
	    allocator, PLIMP_PROFILE_DEPTH, sizeof(*profile->frame_indices));
	return profile->frame_addresses != NULL &&
		       profile->frame_indices != NULL
		   ? PLIM_OK
		   : PLIM_ENOMEM;
}

/* The image that was asked for: what fails of it fails the opening. */
static int session_root(plim_profile *profile, plim_error *error)
{
	struct plimp_program *root;
	uint32_t index;
	int code =
	    plimp_module_store_open(&profile->objects, profile->host, error);

	if (code != PLIM_OK)
		return code;
	code = plimp_program_add(
	    profile, profile->target->identity.pid, profile->target,
	    (plim_bytes){profile->target->name, profile->target->name_size}, 0,
	    &index);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	root = profile->images + index;
	root->is_root = 1;
	if (root->is_narrow)
		return plimp_program_refuse(profile, error);
	if (root->lens == NULL)
		return plimp_system_lens_open(profile->host, root->target,
					      &root->lens, error);
	return PLIM_OK;
}

static int session_open(plim_profile *profile, plim_error *error)
{
	plim_count threads = {0};
	int code = session_memory(profile);

	if (code == PLIM_OK)
		code = plimp_process_figure(profile->target, PLIM_FIELD_THREADS,
					    &threads);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	plimp_request_settle(
	    &profile->request,
	    threads.state == PLIM_STATE_KNOWN ? (size_t)threads.value : 1,
	    &profile->effective);
	plimp_store_begin(&profile->store, &profile->host->allocator,
			  profile->effective.memory_bytes);
	if (session_facts(profile) != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "profile", NULL, NULL);
	code = session_root(profile, error);
	if (code == PLIM_OK && profile->is_inside &&
	    profile->images[0].modules != NULL &&
	    !(profile->request.flags & PLIM_PROFILE_NO_SIGNALS) &&
	    plimp_inside_walk_open(profile) != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "profile", NULL, NULL);
	if (code == PLIM_OK && !profile->is_inside)
		code = session_sampler(profile, error);
	if (code == PLIM_OK)
		plimp_tiers_tell(profile);
	return code;
}

int plimp_profile_make(plim_profile **profile, plim_target *target,
		       const plim_profile_request *request, int is_inside,
		       plim_error *error)
{
	static const plim_profile_request usual = {.size = sizeof(usual)};
	struct plimp_bill_whole bill;
	plim_profile *made;
	int code;

	if (request == NULL)
		request = &usual;
	if (profile == NULL || target == NULL ||
	    !session_request_is_right(request))
		return plimp_fail(error, PLIM_EINVAL, 0, "profile", NULL, NULL);
	made = plimp_allocate(&target->host->allocator, 1, sizeof(*made));
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "profile", NULL, NULL);
	bill = plimp_bill_open(target->host);
	made->host = target->host;
	made->target = target;
	made->inside_pid = plimp_system_own_pid();
	made->is_inside = is_inside;
	plimp_store_begin(&made->store, &target->host->allocator, 0);
	code = session_copy_request(made, request);
	if (code == PLIM_OK)
		code = session_open(made, error);
	else
		plimp_fail(error, code, 0, "profile", NULL, NULL);
	plimp_bill_close(target->host, &bill);
	if (code != PLIM_OK) {
		plim_profile_free(made);
		return code;
	}
	*profile = made;
	return PLIM_OK;
}

int plim_profile_open(plim_profile **profile, plim_target *target,
		      const plim_profile_request *request, plim_error *error)
{
	/* Nobody holds the threads of others by a handler. */
	if (request != NULL && (request->flags & PLIM_PROFILE_SUSPEND))
		return plimp_fail(error, PLIM_EINVAL, 0, "profile", NULL, NULL);
	return plimp_profile_make(profile, target, request, 0, error);
}

/* A thread that samples is asked to end first. 0: it is a forked child's copy
 * of a session inside its parent, whose rings are not mapped here and whose
 * descriptors are the parent's: it is left where it is. */
static int session_ends(plim_profile *profile)
{
	if (profile->is_inside && profile->inside_pid != plimp_system_own_pid())
		return 0;
	if (profile->runner == NULL)
		return 1;
	plim_profile_stop(profile);
	plimp_system_runner_join(profile->runner);
	profile->runner = NULL;
	return 1;
}

void plim_profile_free(plim_profile *profile)
{
	plim_allocator allocator;
	plim_host *owned_host = NULL;
	plim_target *owned_target = NULL;

	if (profile == NULL)
		return;
	if (profile->host == NULL || !session_ends(profile))
		return;
	if (profile->owns_host) {
		owned_host = profile->host;
		owned_target = profile->target;
	}
	allocator = profile->host->allocator;
	plimp_system_sampler_close(profile->sampler);
	plimp_inside_walk_close(profile);
	/* The newest first: an exec's image uses the target of the older. */
	for (size_t i = profile->image_count; i-- > 0;)
		plimp_program_close(profile, profile->images + i);
	plimp_module_store_close(profile->objects);
	plimp_release(&allocator, profile->images, profile->image_capacity,
		      sizeof(*profile->images));
	plimp_release(&allocator, profile->tasks, profile->task_capacity,
		      sizeof(*profile->tasks));
	plimp_hash_release(&allocator, &profile->task_hash);
	plimp_release(&allocator, profile->tids, profile->tid_count,
		      sizeof(*profile->tids));
	plimp_release(&allocator, profile->thread_name, profile->name_size, 1);
	plimp_release(&allocator, profile->frame_addresses, PLIMP_PROFILE_DEPTH,
		      sizeof(*profile->frame_addresses));
	plimp_release(&allocator, profile->frame_indices, PLIMP_PROFILE_DEPTH,
		      sizeof(*profile->frame_indices));
	plimp_store_end(&profile->store);
	plimp_release(&allocator, profile, 1, sizeof(*profile));
	plim_target_close(owned_target);
	plim_host_close(owned_host);
}

void plim_profile_stop(plim_profile *profile)
{
	struct plimp_sampler *sampler;

	atomic_store(&profile->stop_wanted, 1);
	sampler = atomic_load(&profile->stoppable);
	if (sampler != NULL)
		plimp_system_sampler_stop(sampler);
}

/* What sampling has cost the target so far. */
static uint64_t session_cost(plim_profile *profile)
{
	struct plimp_sampler_bill bill =
	    plimp_system_sampler_bill(profile->sampler);

	return bill.samples * SESSION_SAMPLE_NS +
	       bill.bytes_copied / 1024 * SESSION_COPY_KIB_NS +
	       bill.stop_sum_ns;
}

/* CPU time of all threads since the session began, as far as it was told. */
static uint64_t session_cpu(const plim_profile *profile)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->task_count; i++) {
		const struct plimp_account *account =
		    &profile->tasks[i].account;
		uint64_t looked = account->last_cpu - account->first_cpu;
		uint64_t sampled = account->event_cpu - account->event_base;

		sum += looked > sampled ? looked : sampled;
	}
	return sum;
}

static void session_budget(plim_profile *profile, uint64_t now_ns)
{
	struct plimp_budget_state *budget = &profile->budget;
	struct plimp_sampler_bill bill;
	uint32_t before = budget->hz;
	uint64_t pause = 0;
	uint32_t hz;

	if (!profile->effective.is_budget ||
	    now_ns < profile->judged_ns + SESSION_BUDGET_NS)
		return;
	profile->judged_ns = now_ns;
	bill = plimp_system_sampler_bill(profile->sampler);
	/* The longest so far is one of this window if it has grown. */
	if (bill.stop_longest_ns > profile->longest_ns) {
		pause = bill.stop_longest_ns;
		profile->longest_ns = pause;
	}
	hz = plimp_budget_adjust(budget, session_cpu(profile),
				 session_cost(profile), pause);
	if (hz == before)
		return;
	if (plimp_system_sampler_period(
		profile->sampler, UINT64_C(1000000000) / hz, NULL) != PLIM_OK)
		return;
	profile->sampling.period_ns = UINT64_C(1000000000) / hz;
	profile->facts.period_ns = profile->sampling.period_ns;
	plimp_schedule_change(&profile->schedule, now_ns,
			      profile->sampling.period_ns);
}

static int session_look(plim_profile *profile, plim_error *error)
{
	int code = PLIM_OK;

	if (profile->awaits_exec)
		code = plimp_program_begun(profile, error);
	if (code == PLIM_OK)
		code = plimp_system_sampler_tick(profile->sampler, plimp_take,
						 profile, error);
	if (code == PLIM_OK && profile->code != PLIM_OK)
		code =
		    plimp_fail(error, profile->code, 0, "profile", NULL, NULL);
	if (code == PLIM_OK)
		code = plimp_programs_adopt(profile, error);
	return code;
}

/* Who is not told of by the kernel is found by a look at every process. */
static int session_find(plim_profile *profile, uint64_t now_ns,
			plim_error *error)
{
	int code;

	if (!(profile->request.flags & PLIM_PROFILE_TREE) ||
	    (profile->found_ns != 0 &&
	     now_ns < profile->found_ns + SESSION_FIND_NS))
		return PLIM_OK;
	profile->found_ns = now_ns;
	code = plimp_programs_find(profile, error);
	return code == PLIM_OK ? plimp_programs_adopt(profile, error) : code;
}

/* Maps of code: those that are known to be old, and all now and then. */
static int session_refresh(plim_profile *profile, uint64_t now_ns,
			   plim_error *error)
{
	int code = PLIM_OK;

	for (size_t i = 0; i < profile->image_count && code == PLIM_OK; i++)
		code =
		    plimp_program_refresh(profile, profile->images + i, now_ns,
					  profile->images[i].refresh_wanted);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	plimp_inside_walk_publish(profile);
	return PLIM_OK;
}

static uint64_t session_until(const plim_profile *profile, uint64_t now_ns,
			      uint64_t end_ns)
{
	uint64_t until = plimp_schedule_due(&profile->schedule);

	if (until > now_ns + SESSION_DRAIN_NS)
		until = now_ns + SESSION_DRAIN_NS;
	return until < end_ns ? until : end_ns;
}

/* May ticks be left out at which nothing changes? Not where programs come and
 * go, whose code is to be read while it is there, nor where a tick is what
 * samples those that run. */
static int session_may_rest(const plim_profile *profile)
{
	return !(profile->request.flags & PLIM_PROFILE_TREE) &&
	       !profile->awaits_exec &&
	       profile->tiers.running != PLIMP_TIER_PTRACE &&
	       profile->tiers.running != PLIMP_TIER_SUSPEND;
}

/* Everybody slept on till then: whoever has moved since, too. */
static void session_rested(plim_profile *profile)
{
	uint64_t until = profile->rested_ns;

	profile->rested_ns = 0;
	if (until == 0)
		return;
	profile->looks = plimp_schedule_past(&profile->schedule, until);
	plimp_system_sampler_rested(profile->sampler, until, plimp_take,
				    profile);
}

/* Nobody has run since the last look: this tick needs none. Not asked where
 * the last has found somebody moving. */
static int session_rests(plim_profile *profile, uint64_t now_ns)
{
	if (profile->schedule.quiet == 0 || !session_may_rest(profile) ||
	    plimp_system_sampler_has_moved(profile->sampler) ||
	    !plimp_schedule_leave(&profile->schedule))
		return 0;
	profile->rested_ns = now_ns;
	return 1;
}

/* One turn; `*end` is set when it is the last. */
static int session_turn(plim_profile *profile, uint64_t end_ns, int *end,
			plim_error *error)
{
	uint64_t now = plimp_system_monotonic();
	int wake = plimp_system_sampler_wait(
	    profile->sampler, session_until(profile, now, end_ns), error);
	int code = PLIM_OK;

	if (wake < 0)
		return wake;
	now = plimp_system_monotonic();
	if (now >= end_ns)
		*end = PLIM_PROFILE_END_DURATION;
	if (wake & PLIMP_WAKE_ENDED)
		*end = PLIM_PROFILE_END_TARGET;
	if (wake & PLIMP_WAKE_STOP)
		*end = PLIM_PROFILE_END_STOPPED;
	if (*end == PLIM_PROFILE_END_NOT_RUN &&
	    now < plimp_schedule_due(&profile->schedule)) {
		if (profile->awaits_exec)
			code = plimp_program_begun(profile, error);
		/* Before what they did then. */
		session_rested(profile);
		if (code == PLIM_OK)
			code = plimp_system_sampler_drain(
			    profile->sampler, plimp_take, profile, error);
		if (code == PLIM_OK && profile->code != PLIM_OK)
			code = plimp_fail(error, profile->code, 0, "profile",
					  NULL, NULL);
		return code;
	}
	if (*end == PLIM_PROFILE_END_NOT_RUN && session_rests(profile, now))
		return PLIM_OK;
	session_rested(profile);
	profile->looks = 1;
	if (*end == PLIM_PROFILE_END_NOT_RUN) {
		profile->looks += profile->schedule.ahead;
		plimp_schedule_take(&profile->schedule, now);
	}
	code = session_look(profile, error);
	if (code != PLIM_OK)
		return code;
	plimp_schedule_settle(&profile->schedule,
			      !profile->has_moved && session_may_rest(profile));
	profile->has_moved = 0;
	session_budget(profile, now);
	code = session_refresh(profile, now, error);
	return code == PLIM_OK ? session_find(profile, now, error) : code;
}

/* CPU time of the whole process since the last call. */
static int session_target_cpu(plim_profile *profile, plim_error *error)
{
	plim_count now = {0};
	int code = plimp_process_figure(profile->target, PLIM_FIELD_CPU, &now);

	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	profile->target_cpu = plim_counter_change(profile->target_cpu, now);
	return PLIM_OK;
}

static int session_begin(plim_profile *profile, plim_error *error)
{
	int code;

	profile->tiers = plimp_system_sampler_tiers(profile->sampler);
	profile->present_at_start = profile->tiers.threads_present;
	profile->sampling.period_ns = profile->effective.period_ns;
	profile->sampling.kernel_seen = profile->tiers.kernel_seen;
	profile->sampler_cpu = plimp_system_thread_cpu(profile->host);
	code = plimp_process_figure(profile->target, PLIM_FIELD_CPU,
				    &profile->target_cpu);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	profile->facts.start_ns = plimp_system_monotonic();
	profile->facts.start_unix_ns = plimp_system_unix_ns();
	profile->is_first = 1;
	profile->looks = 1;
	code = plimp_system_sampler_totals(profile->sampler, plimp_take_total,
					   profile, error);
	/* A program that is only about to begin has started nobody. */
	if (profile->awaits_exec)
		profile->found_ns = profile->facts.start_ns;
	if (code == PLIM_OK)
		code = session_find(profile, profile->facts.start_ns, error);
	if (code == PLIM_OK)
		code = plimp_rest_begin(profile, error);
	if (code == PLIM_OK)
		code = plimp_system_sampler_start(profile->sampler, error);
	if (code == PLIM_OK)
		code = session_look(profile, error);
	profile->is_first = 0;
	plimp_schedule_begin(&profile->schedule, profile->facts.start_ns,
			     profile->effective.period_ns);
	plimp_budget_begin(&profile->budget, &profile->request,
			   &profile->effective);
	profile->judged_ns = profile->facts.start_ns;
	if (code == PLIM_OK && profile->runner != NULL) {
		profile->has_begun = 1;
		plimp_system_runner_tell(profile->runner);
	}
	return code;
}

/* Until an end; PLIM_ELIMIT is the memory's. */
static int session_loop(plim_profile *profile, plim_error *error)
{
	uint64_t end_ns =
	    profile->facts.start_ns + profile->effective.duration_ns;
	int end = PLIM_PROFILE_END_NOT_RUN;
	int code = PLIM_OK;

	while (code == PLIM_OK && end == PLIM_PROFILE_END_NOT_RUN)
		code = session_turn(profile, end_ns, &end, error);
	profile->facts.end = end;
	return code;
}

/* As it was when it was opened, but for the code that is known. */
static int session_again(plim_profile *profile)
{
	plimp_system_sampler_close(profile->sampler);
	profile->sampler = NULL;
	plimp_store_end(&profile->store);
	plimp_store_begin(&profile->store, &profile->host->allocator,
			  profile->effective.memory_bytes);
	plimp_hash_release(&profile->host->allocator, &profile->task_hash);
	profile->task_hash = (struct plimp_hash){0};
	profile->task_count = 0;
	profile->code = PLIM_OK;
	profile->is_settling = 0;
	profile->lost = 0;
	profile->facts = (plim_profile_facts){0};
	profile->total = (plim_profile_times){0};
	memset(profile->metrics, 0, sizeof(profile->metrics));
	profile->longest_ns = 0;
	profile->found_ns = 0;
	profile->rested_ns = 0;
	profile->known_cpu_ns = 0;
	profile->bill = (struct plimp_sampler_bill){0};
	profile->target_cpu = (plim_count){0};
	profile->sampler_cpu = (plim_count){0};
	if (session_facts(profile) != PLIM_OK)
		return PLIM_ENOMEM;
	return plimp_program_again(profile, profile->images);
}

/* What an inside session does before it begins. */
static int session_arm(plim_profile *profile, plim_error *error)
{
	int code = PLIM_OK;

	if (!profile->is_inside)
		return PLIM_OK;
	atomic_store(&profile->stoppable, NULL);
	if (profile->has_run)
		code = session_again(profile);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	return session_sampler(profile, error);
}

int plimp_profile_sample(plim_profile *profile, plim_error *error)
{
	struct plimp_bill_whole bill;
	uint64_t end_ns;
	int code;

	bill = plimp_bill_open(profile->host);
	code = session_arm(profile, error);
	profile->has_run = 1;
	if (code == PLIM_OK)
		code = session_begin(profile, error);
	if (code == PLIM_OK)
		code = session_loop(profile, error);
	if (code == PLIM_ELIMIT && profile->store.is_full) {
		profile->facts.end = PLIM_PROFILE_END_FULL;
		code = PLIM_OK;
	}
	/* No sample is later than what is told as the end. */
	if (code == PLIM_OK)
		code = plimp_system_sampler_halt(profile->sampler, error);
	end_ns = plimp_system_monotonic();
	if (code == PLIM_OK)
		code = session_target_cpu(profile, error);
	if (code == PLIM_OK)
		code = plimp_rest_end(profile, error);
	if (code == PLIM_OK)
		code = plimp_finish(profile, end_ns, error);
	profile->sampler_cpu = plim_counter_change(
	    profile->sampler_cpu, plimp_system_thread_cpu(profile->host));
	plimp_bill_close(profile->host, &bill);
	if (profile->is_inside && profile->sampler != NULL)
		plimp_system_sampler_end(profile->sampler);
	if (code != PLIM_OK)
		return code;
	if (profile->metrics[PLIM_METRIC_CAPTURED] == 0)
		return plimp_why_empty(profile, PLIM_VIEW_WALL, error);
	return PLIM_OK;
}

int plimp_profile_is_ready(const plim_profile *profile)
{
	if (profile == NULL || profile->runner != NULL)
		return 0;
	/* A forked child's copy would sample the parent. */
	if (profile->is_inside)
		return profile->inside_pid == plimp_system_own_pid();
	return !profile->has_run && profile->sampler != NULL;
}

int plim_profile_run(plim_profile *profile, plim_error *error)
{
	int code;

	if (!plimp_profile_is_ready(profile))
		return plimp_fail(error, PLIM_EINVAL, 0, "profile", NULL, NULL);
	if (!profile->is_inside)
		return plimp_profile_sample(profile, error);
	if (!plimp_system_inside_claim())
		return plimp_inside_busy(error);
	code = plimp_profile_sample(profile, error);
	plimp_system_inside_release();
	atomic_store(&profile->stop_wanted, 0);
	return code;
}

int plimp_profile_invent(plim_host *host, plim_profile **profile)
{
	plim_profile *made = plimp_allocate(&host->allocator, 1, sizeof(*made));

	if (made == NULL)
		return PLIM_ENOMEM;
	made->host = host;
	made->has_run = 1;
	made->sampling.period_ns = 1;
	made->facts.period_ns = 1;
	plimp_store_begin(&made->store, &host->allocator, 0);
	*profile = made;
	return PLIM_OK;
}

int plim_profile_fold(const plim_profile *profile,
		      const plim_fold_options *options, plim_fold **fold,
		      plim_error *error)
{
	static const plim_fold_options usual = {.size = sizeof(usual)};

	if (options == NULL)
		options = &usual;
	if (profile == NULL || fold == NULL || options->view < 0 ||
	    options->view > PLIM_VIEW_WALL ||
	    options->thread_limit > profile->store.threads.count)
		return plimp_fail(error, PLIM_EINVAL, 0, "fold", NULL, NULL);
	return plimp_fold_store(&profile->store, options, fold, error);
}
