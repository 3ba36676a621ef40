/*
 * idle_quiet.c - the first half of an observation: waiting until the load has
 * ended.
 *
 * Quiet is not a moment but a stretch: the CPU of every step of it was below
 * the threshold. A step costs one clock for each process, which is next to
 * nothing. That alone would not see what a tree starts meanwhile, nor what its
 * short-lived children cost; so once a second, and right before quiet is
 * found, a round of the tree finds its members anew and says what all of it
 * used since the round before, ended children included. Both must be below the
 * threshold.
 */
#include "observe/idle.h"

#include "host/bill.h"
#include "observe/tree.h"

#include <assert.h>

#define QUIET_ROUND_NS UINT64_C(1000000000)

struct quiet {
	uint64_t begin_ns;
	uint64_t now_ns;
	uint64_t before_ns; /* the last look */
	uint64_t calm_ns;   /* calm since then */
	uint64_t round_ns;  /* the last round of the tree */
	plim_field_set fields;
	struct plimp_own own; /* at the last look, at the last round */
	struct plimp_own round_own;
};

/* Nanoseconds of CPU in so many nanoseconds, in per cent of one core. */
static plim_real quiet_percent(plim_count change, uint64_t ns)
{
	plim_real rate = plim_change_rate(change, ns);

	rate.value /= 1e7;
	return rate;
}

/* What became of a process since the round is no failure. */
static int quiet_is_outcome(int code)
{
	return code == PLIM_ENOPROCESS || code == PLIM_EREPLACED ||
	       code == PLIM_EHIDDEN || code == PLIM_ECANNOTTELL;
}

/* Lets the watch hold the members of the last round, without the observer. */
static int quiet_follow(plim_idle *idle, plim_error *error)
{
	const struct plimp_tree_side *side = plimp_tree_now(idle->tree);
	plim_watch *watch = idle->watch;
	size_t own = plimp_idle_own_branch(idle);
	size_t i = plim_watch_size(watch);
	plim_error problem;

	while (i-- > 0) {
		plim_identity identity = plim_watch_identity(watch, i);

		if (plimp_tree_seek(side, &identity) == PLIM_NO_PARENT)
			plim_watch_remove(watch, identity.pid);
	}
	for (i = 0; i < plim_tree_size(idle->tree); i++) {
		const plim_branch *branch = plim_tree_at(idle->tree, i);
		plim_identity identity = plim_process_identity(branch->process);
		int code = i == own
			       ? PLIM_OK
			       : plim_watch_add(watch, &identity, &problem);

		if (code == PLIM_OK || quiet_is_outcome(code))
			continue;
		if (error != NULL)
			*error = problem;
		return code;
	}
	return PLIM_OK;
}

/* A round: the members are found anew. Its CPU since the round before, or
 * PENDING. */
static int quiet_round(plim_idle *idle, struct quiet *quiet, plim_real *percent,
		       plim_error *error)
{
	struct plimp_own before = quiet->round_own;
	plim_interval interval;
	int code;

	plimp_system_own(idle->host, &quiet->round_own);
	code = plimp_idle_round(idle, &quiet->fields, 0, error);
	if (code != PLIM_OK)
		return code;
	quiet->round_ns = quiet->now_ns;
	*percent = plim_real_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	if (plim_tree_interval(idle->tree, &interval, NULL) == PLIM_OK)
		*percent = quiet_percent(
		    plimp_idle_round_cpu(idle, &before, &quiet->round_own),
		    interval.elapsed_ns);
	return quiet_follow(idle, error);
}

/* Of ourselves: what all threads used but this one. */
static plim_real quiet_self(const struct plimp_own *before,
			    const struct plimp_own *now, uint64_t ns)
{
	plim_count all =
	    plim_counter_change(before->process_cpu_ns, now->process_cpu_ns);
	plim_count own = plim_counter_change(before->cpu_ns, now->cpu_ns);

	return quiet_percent(plimp_idle_less(all, own), ns);
}

/* What the process, or every member that the watch holds, used since the last
 * look. Who ended is told of by the next round. */
static int quiet_look(plim_idle *idle, struct quiet *quiet, plim_real *percent,
		      plim_error *error)
{
	struct plimp_own before = quiet->own;
	double total = 0;
	plim_cost cost;
	size_t i;
	int code;

	if (idle->target == NULL) {
		plimp_system_own(idle->host, &quiet->own);
		*percent = quiet_self(&before, &quiet->own,
				      quiet->now_ns - quiet->before_ns);
		return PLIM_OK;
	}
	code = plim_watch_refresh(idle->watch, error);
	if (code != PLIM_OK)
		return code;
	cost = plim_watch_cost(idle->watch);
	plimp_cost_add(&idle->cost, &cost);
	*percent = plim_real_known(0, PLIM_METHOD_PROCESS_CPU_CLOCK);
	for (i = 0; i < plim_watch_size(idle->watch); i++) {
		plim_real part = plim_watch_percent(idle->watch, i);

		if (part.state == PLIM_STATE_KNOWN)
			total += part.value;
		else if (!idle->options.tree)
			*percent = part;
	}
	if (percent->state == PLIM_STATE_KNOWN)
		percent->value = total;
	return PLIM_OK;
}

/* It holds descriptors only as long as it is looked through. */
static void quiet_forget(plim_idle *idle)
{
	while (plim_watch_size(idle->watch) > 0) {
		plim_identity identity = plim_watch_identity(idle->watch, 0);

		plim_watch_remove(idle->watch, identity.pid);
	}
}

/* Prepares the first look: nothing is known of the time before. */
static int quiet_first(plim_idle *idle, struct quiet *quiet, plim_error *error)
{
	plim_real percent;
	int code;

	plim_field_set_add(&quiet->fields, PLIM_FIELD_CPU);
	/* Says of ourselves whether we can be asked at all. */
	if (idle->target == NULL)
		code =
		    plim_usage_refresh_self(idle->usage, &quiet->fields, error);
	else if (idle->options.tree)
		code = quiet_round(idle, quiet, &percent, error);
	else
		code = plim_watch_add(idle->watch, &idle->identity, error);
	return code == PLIM_OK ? quiet_look(idle, quiet, &percent, error)
			       : code;
}

static int quiet_is_calm(const plim_idle *idle, plim_real percent)
{
	return percent.state == PLIM_STATE_KNOWN &&
	       percent.value <= idle->options.quiet_cpu_percent;
}

/* One step: looks, and says how busy it was. `*rounded`: by a round, too. */
static int quiet_step(plim_idle *idle, struct quiet *quiet, plim_real *percent,
		      int *rounded, plim_error *error)
{
	plim_real whole;
	int code = quiet_look(idle, quiet, percent, error);
	int due;

	*rounded = 0;
	if (code != PLIM_OK || !idle->options.tree)
		return code;
	due = quiet->now_ns - quiet->round_ns >= QUIET_ROUND_NS;
	due |= quiet_is_calm(idle, *percent) &&
	       quiet->now_ns - quiet->calm_ns >= idle->options.quiet_for_ns;
	if (!due)
		return PLIM_OK;
	code = quiet_round(idle, quiet, &whole, error);
	if (code != PLIM_OK)
		return code;
	*rounded = 1;
	if (percent->state != PLIM_STATE_KNOWN ||
	    whole.state != PLIM_STATE_KNOWN || whole.value > percent->value)
		*percent = whole;
	return PLIM_OK;
}

static void quiet_tell(plim_idle *idle, const struct quiet *quiet,
		       plim_real percent)
{
	plim_real *busiest = &idle->facts.busiest_step;
	const plim_idle_progress progress = {
	    .phase = PLIM_IDLE_QUIESCENCE,
	    .calm = quiet_is_calm(idle, percent),
	    .elapsed_ns = quiet->now_ns - quiet->begin_ns,
	    .whole_ns = idle->options.quiet_limit_ns,
	    .calm_ns = quiet->now_ns - quiet->calm_ns,
	    .cpu_percent = percent,
	};

	if (percent.state == PLIM_STATE_KNOWN &&
	    (busiest->state != PLIM_STATE_KNOWN ||
	     percent.value > busiest->value))
		*busiest = percent;
	if (idle->options.progress != NULL)
		idle->options.progress(&progress, idle->options.user);
}

/* A look behind a step. */
static int quiet_judge(plim_idle *idle, struct quiet *quiet, plim_error *error)
{
	const plim_idle_options *options = &idle->options;
	plim_real percent;
	int rounded;
	int code;

	plimp_idle_look(idle, PLIM_IDLE_QUIESCENCE);
	code = quiet_step(idle, quiet, &percent, &rounded, error);
	if (code != PLIM_OK || plimp_idle_has_ended(idle, PLIM_IDLE_QUIESCENCE))
		return code;
	if (!quiet_is_calm(idle, percent))
		quiet->calm_ns = quiet->now_ns;
	quiet_tell(idle, quiet, percent);
	if (quiet->now_ns - quiet->calm_ns >= options->quiet_for_ns &&
	    (rounded || !options->tree))
		idle->facts.quiet = 1;
	else if (quiet->now_ns - quiet->begin_ns >= options->quiet_limit_ns)
		idle->facts.quiet = -1;
	return PLIM_OK;
}

int plimp_idle_await(plim_idle *idle, plim_error *error)
{
	uint64_t limit_ns = idle->options.quiet_limit_ns;
	struct quiet quiet = {0};
	int code;

	if (idle->options.quiet_cpu_percent < 0 ||
	    plimp_idle_has_ended(idle, PLIM_IDLE_QUIESCENCE))
		return PLIM_OK;
	quiet.begin_ns = plimp_system_monotonic();
	quiet.now_ns = quiet.begin_ns;
	quiet.calm_ns = quiet.begin_ns;
	code = quiet_first(idle, &quiet, error);
	while (code == PLIM_OK && idle->facts.quiet == 0) {
		uint64_t spent = quiet.now_ns - quiet.begin_ns;
		uint64_t rest = spent < limit_ns ? limit_ns - spent : 0;
		uint64_t step = idle->options.step_ns;

		if (plimp_idle_sleep(idle,
				     quiet.now_ns + (step < rest ? step : rest),
				     PLIM_IDLE_QUIESCENCE))
			break;
		quiet.before_ns = quiet.now_ns;
		quiet.now_ns = plimp_system_monotonic();
		code = quiet_judge(idle, &quiet, error);
		if (idle->facts.ended)
			break;
	}
	quiet_forget(idle);
	idle->facts.quiet_after_ns = quiet.now_ns - quiet.begin_ns;
	if (plimp_idle_is_end(idle, code, PLIM_IDLE_QUIESCENCE))
		return PLIM_OK;
	return code;
}
