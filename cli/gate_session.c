/*
 * gate_session.c - one target while it is measured: started or found, asleep
 * beside it, ready, ended.
 *
 * A command is held before it is executed, so that its children are counted
 * from the first one on. All sleeping is done here, in one place: it passes on
 * the output of the command, empties the counter of births, and wakes up when
 * the target ends or somebody interrupts. What fails is written into the
 * repeat, in words; the first reason stays.
 */
#include "gate_run.h"
#include "term.h"

#include <stdarg.h>
#include <string.h>

/* A command that ends before is not seen alive. */
#define SESSION_FIRST_NS  20000000u
#define SESSION_STEP_NS	  20000000u
#define SESSION_PEAK_NS	  200000000u /* of a tree it takes all processes */
#define SESSION_POLITE_NS UINT64_C(2000000000)

uint64_t gate_session_now(const struct gate_session *session)
{
	return plim_host_now(session->gate->host).monotonic.ns;
}

/* The first reason stays. */
void gate_session_fails(struct gate_session *session, int verdict,
			const char *format, ...)
{
	va_list arguments;

	if (session->repeat->verdict != PLIM_VERDICT_PASS)
		return;
	session->repeat->verdict = verdict;
	va_start(arguments, format);
	vsnprintf(session->repeat->reason, sizeof session->repeat->reason,
		  format, arguments);
	va_end(arguments);
}

void gate_session_error(struct gate_session *session, const plim_error *error)
{
	char text[200];

	plim_error_message(error, text, sizeof text);
	gate_session_fails(session, PLIM_VERDICT_UNAVAILABLE,
			   "it cannot be measured: %s", text);
}

int gate_session_fine(const struct gate_session *session)
{
	return session->repeat->verdict == PLIM_VERDICT_PASS &&
	       !session->ended && !interrupted;
}

void gate_session_ended(struct gate_session *session)
{
	if (session->ended)
		return;
	session->ended = 1;
	session->end_ns = gate_session_now(session);
}

/* --- sleeping ------------------------------------------------------------ */

/* What a job holds at most, as far as looks at it tell. */
static void session_peak(struct gate_session *session)
{
	plim_field_set fields = {{0}};
	const plim_tree_options options = {
	    .size = sizeof options, .fields = &fields, .sticky = 1};
	uint64_t begin = gate_session_now(session);
	plim_count now;

	if (!session->job || session->in_window || session->process == NULL ||
	    begin - session->peak_ns < SESSION_PEAK_NS)
		return;
	session->peak_ns = begin;
	plim_field_set_add(&fields, PLIM_FIELD_RESIDENT);
	plim_field_set_add(&fields, PLIM_FIELD_PEAK_RESIDENT);
	if (session->asked->tree) {
		plim_sum sum;

		if (plim_tree_usage(session->tree, session->process, &options,
				    NULL) != PLIM_OK ||
		    plim_tree_size(session->tree) == 0)
			return;
		if (plim_tree_about(session->tree).ignoring > 0)
			session->repeat->ignoring =
			    plim_tree_about(session->tree).ignoring;
		sum = plim_tree_sum(session->tree, PLIM_FIELD_RESIDENT);
		now = plim_sum_total(&sum);
	} else {
		if (plim_usage_refresh(session->usage, session->process,
				       &fields, NULL) != PLIM_OK)
			return;
		now = plim_process_count(plim_usage_process(session->usage),
					 PLIM_FIELD_PEAK_RESIDENT);
	}
	if (now.state != PLIM_STATE_KNOWN)
		return;
	if (session->peak.state != PLIM_STATE_KNOWN ||
	    now.value > session->peak.value)
		session->peak = plim_count_bounded(now.value, now.method,
						   PLIM_BOUND_AT_LEAST);
}

/*
 * Sleeps; passes the output on meanwhile, and empties the counter of births
 * where it fills up. Awake at once when the target ends, when `descriptor`
 * says so; when we are interrupted; and, where `await` is set, when the output
 * held what it was to hold.
 */
int gate_session_sleep(struct gate_session *session, uint64_t ns,
		       int descriptor, int await)
{
	uint64_t begin = gate_session_now(session);
	uint64_t spent = 0;
	plim_births_counts counts;
	int births = session->births == NULL
			 ? -1
			 : plim_births_poll_descriptor(session->births);

	session_peak(session);
	for (;;) {
		struct wait_entry entries[4] = {
		    {.descriptor = descriptor},
		    {.descriptor = session->ready.reads[0], .is_pipe = 1},
		    {.descriptor = session->ready.reads[1], .is_pipe = 1},
		    {.descriptor = births}};

		if (interrupt_wait(ns - spent, entries, 4) < 0)
			return GATE_STOP;
		if (entries[1].is_ready)
			gate_ready_take(&session->ready, 0);
		if (entries[2].is_ready)
			gate_ready_take(&session->ready, 1);
		if (entries[3].is_ready)
			plim_births_read(session->births, &counts, NULL);
		if (entries[0].is_ready)
			return GATE_ENDED;
		if (await && session->ready.met)
			return GATE_READY;
		spent = gate_session_now(session) - begin;
		if (spent >= ns)
			return GATE_SLEPT;
	}
}

/* --- the parts of a repeat ----------------------------------------------- */

int gate_session_wants(const struct gate_session *session, int figure)
{
	size_t i;

	for (i = 0; i < session->asked->limit_count; i++)
		if (session->asked->limits[i].figure == figure)
			return 1;
	return 0;
}

/* Held, pinned, counted from now on, and let go. */
void gate_session_start(struct gate_session *session)
{
	const plim_births_options births = {.size = sizeof births,
					    .flags = PLIM_BIRTHS_ROOT_ALONE};
	struct child_plan plan = {.command =
				      (char **)(uintptr_t)session->asked->run,
				  .hold = 1,
				  .fate = CHILD_IS_KILLED,
				  .output = TERM_ERROR};
	plim_error error;
	int status;

	if (session->ready.writes[0] >= 0) {
		plan.output = session->ready.writes[0];
		plan.error = session->ready.writes[1];
	}
	status = child_launch(&session->child, &plan);
	gate_ready_started(&session->ready);
	if (status == EXIT_DONE) {
		if (plim_target_open(&session->process, session->gate->host,
				     (int32_t)session->child.pid,
				     &error) != PLIM_OK ||
		    (gate_session_wants(session,
					PLIM_BUDGET_CHILDREN_STARTED) &&
		     plim_births_open(&session->births, session->gate->host,
				      session->process, &births,
				      &error) != PLIM_OK)) {
			gate_session_error(session, &error);
			child_drop(&session->child);
			return;
		}
		session->begin_ns = gate_session_now(session);
		status = child_release(&session->child);
	}
	if (status != EXIT_DONE)
		gate_session_fails(session, PLIM_VERDICT_UNAVAILABLE,
				   "no samples: %.120s cannot be executed: %s",
				   session->asked->run[0],
				   child_problem(&session->child));
	session->started = status == EXIT_DONE;
}

void gate_session_attach(struct gate_session *session)
{
	plim_error error;
	char text[200];

	if (target_resolve(session->gate->host, session->asked->attach,
			   &session->process, &error) != PLIM_OK) {
		plim_error_message(&error, text, sizeof text);
		gate_session_fails(session, PLIM_VERDICT_UNAVAILABLE,
				   "no samples: %s", text);
		return;
	}
	if (gate_session_wants(session, PLIM_BUDGET_CHILDREN_STARTED) &&
	    plim_births_open(&session->births, session->gate->host,
			     session->process, NULL, &error) != PLIM_OK)
		gate_session_error(session, &error);
	session->begin_ns = gate_session_now(session);
}

/* The first look: from then on there is something to judge. */
void gate_session_first(struct gate_session *session)
{
	plim_field_set fields = {{0}};
	plim_error error;
	int code;

	if (!gate_session_fine(session))
		return;
	if (session->started &&
	    gate_session_sleep(
		session, SESSION_FIRST_NS,
		child_descriptor(&session->child, session->process),
		0) == GATE_ENDED)
		gate_session_ended(session);
	if (!gate_session_fine(session))
		return;
	plim_field_set_add(&fields, PLIM_FIELD_RESIDENT);
	code = plim_usage_refresh(session->usage, session->process, &fields,
				  &error);
	if (code == PLIM_OK)
		session->sampled = 1;
	else if (code == PLIM_ENOPROCESS || code == PLIM_EREPLACED)
		gate_session_ended(session);
	else
		gate_session_error(session, &error);
}

static const char *session_sign(const plim_budget_target *asked)
{
	switch (asked->ready) {
	case PLIM_READY_OUTPUT:
		return "its output did not hold";
	case PLIM_READY_FILE:
		return "there was no new file";
	default:
		return "nothing listened on port";
	}
}

void gate_session_ready(struct gate_session *session)
{
	const plim_budget_target *asked = session->asked;
	uint64_t begin = gate_session_now(session);
	char port[16];

	snprintf(port, sizeof port, "%d", asked->ready_port);
	if (session->ready.taken)
		gate_session_fails(
		    session, PLIM_VERDICT_INCONCLUSIVE,
		    "something listened on port %s before the start", port);
	while (gate_session_fine(session) && !gate_ready_met(&session->ready)) {
		uint64_t spent = gate_session_now(session) - begin;

		if (spent >= asked->quiet_limit_ns) {
			gate_session_fails(session, PLIM_VERDICT_INCONCLUSIVE,
					   "not ready after %.1f s: %s %.100s",
					   (double)spent / 1e9,
					   session_sign(asked),
					   asked->ready == PLIM_READY_PORT
					       ? port
					       : asked->ready_text);
			return;
		}
		gate_progress(session, "waiting until it is ready, %.0f s",
			      (double)spent / 1e9);
		if (gate_session_sleep(
			session, SESSION_STEP_NS,
			child_descriptor(&session->child, session->process),
			1) == GATE_ENDED)
			gate_session_ended(session);
	}
	if (gate_session_fine(session))
		session->repeat->ready_ns =
		    gate_session_now(session) - session->begin_ns;
}

/* --- its end ------------------------------------------------------------- */

/* Asks it to end, and takes what it has to say about that; who does not end is
 * made to. Interrupted, child_end() does the same without listening. */
static void session_stop(struct gate_session *session)
{
	if (interrupted || !child_ask(&session->child, session->process))
		return;
	if (gate_session_sleep(
		session, SESSION_POLITE_NS,
		child_descriptor(&session->child, session->process),
		0) == GATE_SLEPT)
		child_kill(&session->child, session->process);
}

void gate_session_end(struct gate_session *session)
{
	struct gate_repeat *repeat = session->repeat;
	plim_births_counts counts;

	if (!session->in_window && session->births != NULL &&
	    plim_births_read(session->births, &counts, NULL) == PLIM_OK)
		session->born_before = counts.processes_started;
	if (!session->started)
		return;
	if (session->ended) {
		session->reaped =
		    plim_usage_reap(session->total, (int32_t)session->child.pid,
				    &session->child.status, NULL) == PLIM_OK;
		session->child.ended = session->reaped;
	} else {
		session_stop(session);
		child_end(&session->child, session->process, session->total);
		session->reaped = session->child.ended;
	}
	session->orphans = reaper_end_all(session->gate->host);
	/* What it had to say last. */
	gate_ready_take(&session->ready, 0);
	gate_ready_take(&session->ready, 1);
	repeat->left_running = session->orphans.left;
	repeat->has_status = session->ended && session->reaped;
	if (repeat->has_status)
		repeat->status = session->child.status;
}

int gate_session_open(struct gate_session *session)
{
	plim_host *host = session->gate->host;
	plim_error error;
	int problem = gate_ready_open(&session->ready, session->asked);

	if (problem != 0) {
		gate_session_fails(session, PLIM_VERDICT_UNAVAILABLE, "%s",
				   plim_system_error_name(problem));
		return 0;
	}
	if (plim_usage_new(&session->usage, host, &error) != PLIM_OK ||
	    plim_usage_new(&session->total, host, &error) != PLIM_OK ||
	    plim_tree_new(&session->tree, host, &error) != PLIM_OK ||
	    plim_idle_new(&session->idle, host, &error) != PLIM_OK) {
		gate_session_error(session, &error);
		return 0;
	}
	return 1;
}

void gate_session_close(struct gate_session *session)
{
	plim_births_free(session->births);
	plim_idle_free(session->idle);
	plim_tree_free(session->tree);
	plim_usage_free(session->total);
	plim_usage_free(session->usage);
	plim_target_close(session->process);
	gate_ready_close(&session->ready);
}
