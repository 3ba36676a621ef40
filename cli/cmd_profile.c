/*
 * cmd_profile.c - plim profile: where the time of a process goes.
 *
 * A process is sampled for the time asked for. A command is held before it is
 * executed until it can be sampled from its first instruction on, and sampled
 * until it ends; its exit status is ours. With a time, sampling ends then, the
 * profile is written, and the command's end is waited for all the same: what
 * we started to look at is not ours to end.
 *
 * An interruption ends the sampling of a process, and what was sampled is
 * told. A command gets it, too (the terminal's by itself, another's by us),
 * and with it decides when to end.
 */
#include "file.h"
#include "profile.h"
#include "term.h"

#include <errno.h>
#include <string.h>

#define PROFILE_STEP_NS UINT64_C(3600000000000) /* nothing ends with it */
/* A command is sampled until it ends, but for longer than a week. */
#define PROFILE_LONGEST_NS UINT64_C(604800000000000)

struct profile_run {
	const struct options *options;
	plim_host *host;
	plim_target *target;
	plim_profile *profile;
	plim_preload *preload; /* NULL: nothing is */
	struct child child;
	int started;
	struct profile_places places;
};

/* --- interruptions -------------------------------------------------------- */

/* Both run in a signal handler. */
static void profile_note(int number, void *user)
{
	(void)number;
	plim_profile_stop(user);
}

static void profile_hand_on(int number, void *user)
{
	if (interrupted_by_user)
		child_hand_on(user, number);
}

/* --- what is asked for ---------------------------------------------------- */

static int profile_check(const struct options *options)
{
	if (options->pause_ns > 0 && options->budget_percent <= 0)
		return fail_usage("--pause is the worst pause of --budget: "
				  "give both");
	if (options->command != NULL && options->tid_count > 0)
		return fail_usage("profile: a command that is not started has "
				  "no threads to name; --tid is of a process");
	if (options->preload && options->no_preload)
		return fail_usage("--preload and --no-preload cannot both be "
				  "meant");
	if (options->preload && options->command == NULL)
		return fail_usage("--preload is for a command that plim "
				  "starts: write -- CMD");
	return EXIT_DONE;
}

static plim_profile_request profile_request(const struct profile_run *run)
{
	const struct options *options = run->options;
	plim_profile_request request = {.size = sizeof request};

	request.hz =
	    options->hz < UINT32_MAX ? (uint32_t)options->hz : UINT32_MAX;
	if (options->hz > PLIM_PROFILE_DEFAULT_CEILING_HZ)
		request.hz_ceiling = PLIM_PROFILE_LIMIT_HZ;
	if (options->for_given)
		request.duration_ns = options->for_ns;
	else if (options->command != NULL)
		request.duration_ns = PROFILE_LONGEST_NS;
	if (request.duration_ns > PLIM_PROFILE_DEFAULT_CEILING_NS)
		request.duration_ceiling_ns = request.duration_ns;
	request.budget_percent = options->budget_percent;
	request.budget_pause_ns = options->pause_ns;
	request.tids = options->tid_count > 0 ? options->tids : NULL;
	request.tid_count = options->tid_count;
	request.thread_name = options->thread_name;
	request.flags = PLIM_PROFILE_RAISED;
	if (options->tree)
		request.flags |= PLIM_PROFILE_TREE;
	if (!options->no_ptrace)
		request.flags |= PLIM_PROFILE_PTRACE;
	if (options->no_inlines)
		request.flags |= PLIM_PROFILE_NO_LINES;
	if (options->cycles)
		request.flags |= PLIM_PROFILE_CYCLES;
	if (options->command != NULL)
		request.flags |= PLIM_PROFILE_ON_EXEC;
	request.preload = run->preload;
	return request;
}

/* --- progress ------------------------------------------------------------- */

static int profile_is_shown(void)
{
	return term_is(TERM_ERROR) && !usage_json;
}

/* Sampling is silent and takes a while. */
static void profile_progress(const struct profile_run *run)
{
	const plim_profile_facts facts = plim_profile_about(run->profile);
	char name[128];

	if (!profile_is_shown() || run->started)
		return;
	plim_escape(PLIM_ESCAPE_TERMINAL, facts.name, name, sizeof name);
	fprintf(stderr, "\r\033[Ksampling %s for %s; Ctrl-C ends it earlier",
		name,
		show_count(run->options,
			   plim_count_known(facts.duration_effective_ns,
					    PLIM_METHOD_SYSTEM),
			   PLIM_UNIT_NS));
	fflush(stderr);
}

static void profile_progress_names(const struct profile_run *run)
{
	if (!profile_is_shown() || run->started)
		return;
	fputs("\r\033[Klooking names up", stderr);
	fflush(stderr);
}

static void profile_progress_end(const struct profile_run *run)
{
	if (!profile_is_shown() || run->started)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
}

/* --- measuring ------------------------------------------------------------ */

/* Whether something is to be preloaded is known when it has been opened; then
 * it is opened again. */
static int profile_arm(struct profile_run *run, plim_error *error)
{
	plim_profile_request request = profile_request(run);
	int code =
	    plim_profile_open(&run->profile, run->target, &request, error);

	if (code == PLIM_OK && run->started)
		code = profile_preload(run->options, run->host, run->profile,
				       &run->preload, error);
	if (code != PLIM_OK || run->preload == NULL)
		return code;
	plim_profile_free(run->profile);
	run->profile = NULL;
	request = profile_request(run);
	return plim_profile_open(&run->profile, run->target, &request, error);
}

static int profile_open(struct profile_run *run, plim_error *error)
{
	int code;

	if (run->started)
		code = plim_target_open(&run->target, run->host,
					(int32_t)run->child.pid, error);
	else
		code = target_resolve(run->host, run->options->operands[0],
				      &run->target, error);
	if (code != PLIM_OK)
		return code;
	/* One perf event a thread and CPU. The command is there already, whose
	 * own limit stays as it was. */
	file_raise_limit();
	code = profile_arm(run, error);
	if (code != PLIM_OK)
		return code;
	if (run->started)
		interrupt_tell(profile_hand_on, &run->child);
	else
		interrupt_tell(profile_note, run->profile);
	/* One that came before it could be told. */
	if (interrupted && !run->started)
		plim_profile_stop(run->profile);
	return PLIM_OK;
}

/* Behind the reason and its remedy, if there is room for all of it. */
static void profile_hint(const struct profile_run *run, plim_error *error)
{
	const char *hint =
	    run->options->tree
		? "; --view off tells where it waits"
		: "; --view off tells where it waits, --tree samples what it "
		  "starts, too";
	const size_t used = strlen(error->detail);

	if (strlen(hint) < sizeof error->detail - used)
		memcpy(error->detail + used, hint, strlen(hint) + 1);
}

/* Nothing of what was asked for: of that no empty profile is made. */
static int profile_is_empty(struct profile_run *run, plim_error *error)
{
	const int code = profile_places_check(run->options, &run->places,
					      run->profile, error);

	if (code != PLIM_OK && run->options->view <= PLIM_VIEW_CPU &&
	    plim_profile_metric(run->profile, PLIM_METRIC_BLOCKED).value > 0)
		profile_hint(run, error);
	return code;
}

/* The status of measuring and writing, whatever becomes of the command. */
static int profile_measure(struct profile_run *run)
{
	plim_error error;
	int code;
	int status;

	profile_progress(run);
	code = plim_profile_run(run->profile, &error);
	if (code == PLIM_OK)
		code = profile_is_empty(run, &error);
	if (code == PLIM_OK) {
		profile_progress_names(run);
		code = plim_profile_resolve(run->profile, &error);
	}
	profile_progress_end(run);
	if (code != PLIM_OK) {
		status = fail_with(run->options, &error);
		return interrupted && code == PLIM_ENOSAMPLES ? EXIT_INTERRUPTED
							      : status;
	}
	return profile_places_write(run->options, &run->places, run->host,
				    run->profile);
}

/* --- a command ------------------------------------------------------------ */

/* Held, not executed: it is sampled from the exec on. */
static int profile_start(struct profile_run *run)
{
	const struct child_plan plan = {
	    .command = run->options->command,
	    .hold = 1,
	    /* Who is killed cannot wait for it. */
	    .fate = CHILD_IS_ASKED,
	};

	run->started = 1;
	return child_tell(&run->child, child_launch(&run->child, &plan));
}

static void profile_await(struct profile_run *run)
{
	int descriptor = child_descriptor(&run->child, run->target);

	while (descriptor >= 0 &&
	       interrupt_sleep(PROFILE_STEP_NS, descriptor) != 2)
		interrupted = 0; /* it has been handed on */
}

/* The command's status; our own failure is told by it only where the command
 * itself had none. */
static int profile_end(struct profile_run *run, int status)
{
	plim_usage *usage = NULL;
	plim_error error;
	int code;

	output_flush();
	profile_await(run);
	interrupt_tell(NULL, NULL);
	code = plim_usage_new(&usage, run->host, &error);
	if (code == PLIM_OK)
		code = plim_usage_reap(usage, (int32_t)run->child.pid,
				       &run->child.status, &error);
	plim_usage_free(usage);
	if (code != PLIM_OK)
		return fail_with(run->options, &error);
	run->child.ended = 1;
	code = child_exit_status(run->child.status);
	return code != 0 ? code : status;
}

static int profile_release(struct profile_run *run)
{
	const char *settings[3] = {NULL};

	for (size_t i = 0; i < 2 && run->preload != NULL; i++)
		settings[i] = plim_preload_setting(run->preload, i);
	return child_tell(&run->child,
			  child_release_with(&run->child, settings));
}

static int profile_command(struct profile_run *run)
{
	plim_error error;
	int status = profile_start(run);

	if (status != EXIT_DONE)
		return status;
	if (profile_open(run, &error) != PLIM_OK) {
		child_drop(&run->child);
		return fail_with(run->options, &error);
	}
	status = profile_release(run);
	if (status != EXIT_DONE)
		return status;
	return profile_end(run, profile_measure(run));
}

static int profile_process(struct profile_run *run)
{
	plim_error error;
	int status;

	if (profile_open(run, &error) != PLIM_OK)
		return fail_with(run->options, &error);
	status = profile_measure(run);
	interrupt_tell(NULL, NULL);
	return interrupted && status == EXIT_DONE ? EXIT_INTERRUPTED : status;
}

int cmd_profile(const struct options *options)
{
	struct profile_run run = {.options = options};
	plim_error error;
	int failed;
	int status;

	if (profile_is_diff(command_given(), options))
		return profile_diff(options);
	if (options->command != NULL)
		failure_status = EXIT_OWN_FAILURE;
	status = profile_check(options);
	if (status == EXIT_DONE)
		status = profile_places_find(options, &run.places);
	if (status != EXIT_DONE)
		goto free_places;
	if (host_open(options, &run.host, &error) != PLIM_OK) {
		status = fail_with(options, &error);
		goto free_places;
	}
	status = options->command != NULL ? profile_command(&run)
					  : profile_process(&run);
	plim_profile_free(run.profile);
	plim_preload_free(run.preload);
	plim_target_close(run.target);
	plim_host_close(run.host);
	failed = output_flush();
	if (failed != 0 && failed != EPIPE && status == EXIT_DONE)
		status = failure_status;
free_places:
	profile_places_free(&run.places);
	return status;
}
