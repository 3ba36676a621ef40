/*
 * gate_run.c - the repeats of one target: started or found, ready, quiet,
 * observed over the window, and ended.
 *
 * What does not go as planned makes the repeat inconclusive, with the reason in
 * words, and what was measured until then is kept. A target that was never seen
 * alive has no samples: unavailable. The repeats of a command are fresh starts,
 * those of a process that was found are windows one after another.
 */
#include "gate_run.h"

#include <string.h>

#define RUN_SAMPLE_NS UINT64_C(1000000000)

/* What was born since the mark; set at it. */
static plim_count run_born(struct gate_session *session, int mark)
{
	plim_births_counts counts;

	if (session->births == NULL ||
	    plim_births_read(session->births, &counts, NULL) != PLIM_OK)
		return plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	if (mark)
		plim_births_mark(session->births, NULL);
	return counts.processes_started;
}

/* Births are counted while the window's sleeps last: a sample of a tree takes
 * a while, and what is born then is of no window. */
static int run_idle_sleep(uint64_t ns, int descriptor, void *user)
{
	struct gate_session *session = user;
	int woken;

	if (session->in_window && !session->marked) {
		session->born_before = run_born(session, 1);
		session->marked = 1;
	}
	if (descriptor < 0)
		descriptor =
		    child_descriptor(&session->child, session->process);
	woken = gate_session_sleep(session, ns, descriptor, 0);
	if (session->in_window)
		session->born = run_born(session, 0);
	return woken == GATE_STOP;
}

static void run_idle_progress(const plim_idle_progress *progress, void *user)
{
	const struct gate_session *session = user;

	if (progress->phase == PLIM_IDLE_WINDOW)
		gate_progress(session, "window, %.0f of %.0f s",
			      (double)progress->elapsed_ns / 1e9,
			      (double)progress->whole_ns / 1e9);
	else
		gate_progress(session,
			      "waiting for quiet, %.0f of at most %.0f s; CPU "
			      "%s of one core",
			      (double)progress->elapsed_ns / 1e9,
			      (double)progress->whole_ns / 1e9,
			      show_real(session->gate->options,
					progress->cpu_percent,
					PLIM_UNIT_PERCENT));
}

static plim_idle_options run_options(struct gate_session *session)
{
	const plim_budget_target *asked = session->asked;
	plim_idle_options options = {
	    .size = sizeof options,
	    .window_ns = session->target->window_ns,
	    .longest_period_ns = asked->longest_period_ns,
	    .quiet_cpu_percent = asked->quiet_cpu_percent,
	    .quiet_for_ns = asked->quiet_for_ns,
	    .quiet_limit_ns = asked->quiet_limit_ns,
	    .tree = asked->tree,
	    .threads = 1,
	    .sleep = run_idle_sleep,
	    .progress = run_idle_progress,
	    .user = session};

	if (options.window_ns > RUN_SAMPLE_NS)
		options.sample_ns = RUN_SAMPLE_NS;
	return options;
}

static void run_quiet(struct gate_session *session)
{
	plim_idle_options options = run_options(session);
	plim_error error;

	/* What was found goes on: one window after the other. */
	if (!gate_session_fine(session) ||
	    (!session->started && session->number > 1))
		return;
	if (plim_idle_await_quiet(session->idle, session->process, &options,
				  &error) != PLIM_OK) {
		gate_session_error(session, &error);
		return;
	}
	session->facts = plim_idle_about(session->idle);
	session->repeat->quiet_ns = session->facts.quiet_after_ns;
	if (session->facts.ended)
		gate_session_ended(session);
	else if (session->facts.quiet < 0)
		gate_session_fails(
		    session, PLIM_VERDICT_INCONCLUSIVE,
		    "it was not quiet within %.1f s: at most %g %% of "
		    "one core for %g s",
		    (double)options.quiet_limit_ns / 1e9,
		    options.quiet_cpu_percent,
		    (double)options.quiet_for_ns / 1e9);
	if (!session->ended)
		session->end_ns = gate_session_now(session);
}

/* It did nothing because it may not: who judges that passes everything. */
static int run_is_stopped(const struct gate_session *session)
{
	const plim_process *end = plim_idle_end(session->idle);
	plim_text state;

	if (end == NULL)
		return 0;
	state = plim_process_text(end, PLIM_FIELD_STATE);
	return state.state == PLIM_STATE_KNOWN && state.bytes.size == 1 &&
	       (state.bytes.data[0] == 'T' || state.bytes.data[0] == 't');
}

static void run_window_facts(struct gate_session *session)
{
	struct gate_repeat *repeat = session->repeat;
	const plim_idle_facts *facts = &session->facts;
	const plim_tree *tree = plim_idle_tree(session->idle);

	repeat->window_ns = facts->interval.elapsed_ns;
	repeat->suspended_ns = facts->interval.suspended_ns;
	repeat->samples = facts->samples;
	repeat->members = facts->members;
	repeat->processes_ended = facts->members_ended;
	repeat->threads_ended = facts->threads_ended;
	if (tree != NULL) {
		plim_tree_facts about = plim_tree_about(tree);

		repeat->kept = about.kept;
		repeat->ignoring = about.ignoring;
	}
	if (facts->ended)
		gate_session_ended(session);
	if (facts->image_changed == PLIM_IDLE_WINDOW)
		gate_session_fails(session, PLIM_VERDICT_INCONCLUSIVE,
				   "it executed another program in the window");
	if (facts->interval.suspended_ns > 0)
		gate_session_fails(session, PLIM_VERDICT_INCONCLUSIVE,
				   "the machine slept for %.1f s in the window",
				   (double)facts->interval.suspended_ns / 1e9);
	if (!facts->ended && run_is_stopped(session))
		gate_session_fails(session, PLIM_VERDICT_INCONCLUSIVE,
				   "it was stopped when the window ended");
	if (!facts->ended && facts->samples < 2)
		gate_session_fails(session, PLIM_VERDICT_UNAVAILABLE,
				   "no samples of the window");
}

/* What it alone has written, right behind the window: the walk that it takes
 * may make the process wait, which must not be measured. */
static void run_private_dirty(struct gate_session *session)
{
	const int field = PLIM_FIELD_PRIVATE_DIRTY;
	plim_field_set fields = {{0}};
	const plim_tree_options options = {
	    .size = sizeof options, .fields = &fields, .sticky = 1};
	plim_sum sum;

	session->private_dirty = plim_count_missing(PLIM_REASON_ENDED, 0);
	if (!gate_session_wants(session, PLIM_BUDGET_PRIVATE_DIRTY_END) ||
	    session->ended)
		return;
	plim_field_set_add(&fields, field);
	if (!session->asked->tree) {
		if (plim_usage_refresh(session->usage, session->process,
				       &fields, NULL) == PLIM_OK)
			session->private_dirty = plim_process_count(
			    plim_usage_process(session->usage), field);
		return;
	}
	if (plim_tree_usage(session->tree, session->process, &options, NULL) !=
	    PLIM_OK)
		return;
	sum = plim_tree_sum(session->tree, field);
	/* One that was left out makes the sum a floor, which would pass. */
	session->private_dirty =
	    sum.missing > 0 ? sum.first_missing : plim_sum_total(&sum);
}

static void run_window(struct gate_session *session)
{
	plim_idle_options options = run_options(session);
	plim_error error;

	if (!gate_session_fine(session))
		return;
	session->in_window = 1;
	session->window_begin_ns = gate_session_now(session);
	session->marked = 0;
	if (plim_idle_window(session->idle, session->process, &options,
			     &error) != PLIM_OK) {
		gate_session_error(session, &error);
		return;
	}
	session->facts = plim_idle_about(session->idle);
	run_window_facts(session);
	run_private_dirty(session);
	gate_memory_read(session);
}

static void run_how_it_ended(const struct gate_session *session, char *text,
			     size_t size)
{
	int status = session->repeat->status;

	if (!session->repeat->has_status)
		snprintf(text, size, "it ended");
	else if (child_signal(status) != 0)
		snprintf(text, size, "it was ended by signal %d",
			 child_signal(status));
	else
		snprintf(text, size, "it ended with status %u",
			 (unsigned)child_exit_status(status));
}

/* Whether that it ended, or that it was interrupted, makes it inconclusive. */
static void run_conclude(struct gate_session *session)
{
	char how[64];

	session->repeat->ended = session->ended;
	run_how_it_ended(session, how, sizeof how);
	if (interrupted)
		gate_session_fails(session, PLIM_VERDICT_INCONCLUSIVE,
				   "interrupted");
	if (session->repeat->left_running)
		gate_session_fails(session, PLIM_VERDICT_INCONCLUSIVE,
				   "something that it started cannot be ended");
	if (session->ended && !session->sampled)
		gate_session_fails(session, PLIM_VERDICT_UNAVAILABLE,
				   "no samples: %s before it was seen alive",
				   how);
	else if (session->ended && session->orphans.signalled > 0 &&
		 !session->job)
		gate_session_fails(
		    session, PLIM_VERDICT_INCONCLUSIVE,
		    "%s and left %u descendant%s running: start it in "
		    "the foreground",
		    how, session->orphans.signalled,
		    session->orphans.signalled == 1 ? "" : "s");
	else if (session->ended && !session->job)
		gate_session_fails(
		    session, PLIM_VERDICT_INCONCLUSIVE,
		    session->in_window ? "%s in the window, after %.1f s of it"
				       : "%s before the window, after %.1f s",
		    how,
		    (double)(session->end_ns - (session->in_window
						    ? session->window_begin_ns
						    : session->begin_ns)) /
			1e9);
	else if (session->repeat->has_status && session->repeat->status != 0)
		gate_session_fails(session, PLIM_VERDICT_INCONCLUSIVE, "%s",
				   how);
}

/* One repeat; of a process that was found, the session goes on. */
static void run_repeat(struct gate_session *session)
{
	struct gate_repeat *repeat =
	    &session->target->repeat[session->target->repeat_count++];

	memset(repeat, 0, sizeof *repeat);
	session->repeat = repeat;
	session->number = (uint32_t)session->target->repeat_count;
	session->in_window = 0;
	session->born = session->born_before =
	    plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	if (session->idle == NULL && gate_session_open(session)) {
		if (session->asked->way == PLIM_BUDGET_RUN)
			gate_session_start(session);
		else
			gate_session_attach(session);
		gate_session_first(session);
		gate_session_ready(session);
	}
	run_quiet(session);
	run_window(session);
	gate_session_end(session);
	run_conclude(session);
	gate_progress_clear();
	gate_figures_read(session);
}

void gate_measure(struct gate *gate, struct gate_target *target)
{
	struct gate_session session;
	int again = 0;

	target->done = 1;
	while (target->repeat_count < target->repeats) {
		if (!again) {
			memset(&session, 0, sizeof session);
			session.gate = gate;
			session.target = target;
			session.asked = target->target;
			session.job = gate_is_job(target->target);
			session.child.ended = 1;
			session.ready.reads[0] = session.ready.reads[1] = -1;
			session.ready.writes[0] = session.ready.writes[1] = -1;
		}
		run_repeat(&session);
		again = session.asked->way == PLIM_BUDGET_ATTACH;
		if (session.repeat->verdict != PLIM_VERDICT_PASS ||
		    target->repeat_count == target->repeats)
			again = 0;
		if (!again)
			gate_session_close(&session);
		if (session.repeat->verdict != PLIM_VERDICT_PASS || interrupted)
			break;
	}
}
