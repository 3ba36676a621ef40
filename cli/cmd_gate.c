/*
 * cmd_gate.c - plim gate: is a program below its load line? Reads a budget
 * file, measures each target of it, judges, and tells the verdict, which is
 * the exit status.
 *
 * What can be wrong is found before anything is started: the file, the files
 * it names, the commands, the places where the results are to go. From then on
 * every target is judged and told, whatever happens to one of them, and what
 * was started has ended when the verdict is printed.
 */
#include "gate_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- what is wrong is wrong before anything is started -------------------- */

static int gate_finds(const char *name)
{
	char *path = file_program(name);
	const int found = path != NULL;

	free(path);
	return found;
}

static int gate_check_target(const struct gate *gate,
			     const struct gate_target *target)
{
	const plim_budget_target *asked = target->target;

	if (asked->way != PLIM_BUDGET_REPORT &&
	    target->window_ns < asked->longest_period_ns)
		return fail_usage(
		    "--for: the window of %s is %g s, which is shorter than "
		    "its longest_period of %g s",
		    asked->name, (double)target->window_ns / 1e9,
		    (double)asked->longest_period_ns / 1e9);
	if (asked->ready == PLIM_READY_OUTPUT && asked->way != PLIM_BUDGET_RUN)
		return fail_usage("%s:%u: the output of %s can be seen only "
				  "where the gate runs it",
				  gate->file, asked->at.line, asked->name);
	if (asked->way == PLIM_BUDGET_RUN && !gate_finds(asked->run[0]))
		return fail_usage("%s:%u: %s: no such command that could be "
				  "executed",
				  gate->file, asked->at.line, asked->run[0]);
	return EXIT_DONE;
}

static int gate_unknown_target(const struct gate *gate)
{
	size_t count = plim_budget_count(gate->budget);
	const char **names = calloc(count + 1, sizeof *names);
	const char *nearest = NULL;
	size_t i;
	int status;

	for (i = 0; i < count && names != NULL; i++)
		names[i] = plim_budget_at(gate->budget, i)->name;
	if (names != NULL)
		nearest = plim_nearest_name(gate->options->target, names);
	if (nearest != NULL)
		status = fail_usage("%s has no target '%s'; did you mean "
				    "'%s'?",
				    gate->file, gate->options->target, nearest);
	else
		status = fail_usage("%s has no target '%s'", gate->file,
				    gate->options->target);
	free(names);
	return status;
}

/* The targets that were asked for, in the order of the file. */
static int gate_targets(struct gate *gate)
{
	const char *only = gate->options->target;
	size_t count = plim_budget_count(gate->budget);
	size_t i;

	gate->targets = calloc(count + 1, sizeof *gate->targets);
	if (gate->targets == NULL)
		return fail_memory();
	for (i = 0; i < count; i++) {
		const plim_budget_target *asked =
		    plim_budget_at(gate->budget, i);
		struct gate_target *target = &gate->targets[gate->target_count];

		if (only != NULL && strcmp(asked->name, only) != 0)
			continue;
		gate->target_count++;
		if (gate_target_open(target, gate, asked) != 0)
			return fail_memory();
	}
	return gate->target_count > 0 ? EXIT_DONE : gate_unknown_target(gate);
}

static int gate_check(const struct gate *gate)
{
	int status = EXIT_DONE;
	size_t i;

	for (i = 0; i < gate->target_count && status == EXIT_DONE; i++)
		status = gate_check_target(gate, &gate->targets[i]);
	return status;
}

/* --- the gate itself ------------------------------------------------------ */

static void gate_target_measure(struct gate *gate, struct gate_target *target,
				const struct gate_files *files)
{
	const struct gate_file *file;

	if (target->target->way != PLIM_BUDGET_REPORT) {
		gate_measure(gate, target);
		return;
	}
	file = gate_file_of(files, target->target->report);
	if (file == NULL || file->record == NULL) {
		target->done = 1;
		target->repeats = 1;
		snprintf(target->reason, sizeof target->reason,
			 "no samples: %s",
			 file == NULL ? "no file" : file->problem);
		return;
	}
	gate_recall(target, file->record);
}

static void gate_run(struct gate *gate, const struct gate_files *files)
{
	size_t i;

	gate->verdict = PLIM_VERDICT_PASS;
	for (i = 0; i < gate->target_count; i++) {
		struct gate_target *target = &gate->targets[i];

		if (interrupted)
			snprintf(target->reason, sizeof target->reason,
				 "interrupted before it was measured");
		else
			gate_target_measure(gate, target, files);
		gate_judge(gate, target, files);
		gate->verdict =
		    plim_verdict_join(gate->verdict, target->verdict);
	}
	gate->interrupted = interrupted;
	gate->allowed = gate->verdict == PLIM_VERDICT_INCONCLUSIVE &&
			gate->options->allow_inconclusive;
	gate->status = gate->allowed ? EXIT_DONE : gate->verdict;
	if (gate->interrupted)
		gate->status = EXIT_INTERRUPTED;
}

/* Whatever is done for a verdict that was not told is not done well. That
 * standard output failed is said where plim ends. */
static int gate_finish(struct gate *gate, struct gate_place *places)
{
	int failed;
	int problem;

	/* Killed, it has nobody to tell, and its files stay as they were. */
	if (interrupt_lost)
		return EXIT_OWN_FAILURE;
	gate_tell(gate);
	failed = gate_places_write(gate, places);
	problem = output_flush();
	if (problem != 0 && problem != EPIPE)
		failed = 1;
	return failed && gate->status == EXIT_DONE ? EXIT_OWN_FAILURE
						   : gate->status;
}

static int gate_open(struct gate *gate)
{
	plim_error error;

	if (host_open(gate->options, &gate->host, &error) != PLIM_OK)
		return fail_with(gate->options, &error);
	place_read(&gate->place, gate->host);
	return EXIT_DONE;
}

static void gate_close(struct gate *gate)
{
	size_t i;

	for (i = 0; i < gate->target_count; i++)
		gate_target_close(&gate->targets[i]);
	free(gate->targets);
	plim_budget_free(gate->budget);
	place_free(&gate->place);
	plim_host_close(gate->host);
}

/* Everything that can be wrong before something is started. */
static int gate_prepare(struct gate *gate, struct gate_files *files)
{
	int status = gate_open(gate);

	if (status == EXIT_DONE)
		status = gate_load(gate);
	if (status == EXIT_DONE)
		status = gate_targets(gate);
	if (status == EXIT_DONE && !gate->options->explain)
		status = gate_load_files(gate, files);
	if (status == EXIT_DONE && !gate->options->explain)
		status = gate_check(gate);
	return status;
}

/*
 * Two processes from here on, where something will be started: 1 in the one
 * that has waited for the other. A host does not survive the fork.
 */
static int gate_guard(struct gate *gate, int *status)
{
	plim_error error;
	size_t i;

	for (i = 0; i < gate->target_count; i++)
		if (gate->targets[i].target->way == PLIM_BUDGET_RUN)
			break;
	if (i == gate->target_count)
		return 0;
	plim_host_close(gate->host);
	gate->host = NULL;
	if (guard_start(status))
		return 1;
	if (host_open(gate->options, &gate->host, &error) == PLIM_OK)
		return 0;
	*status = fail_with(gate->options, &error);
	return 1;
}

static int gate_file(const struct options *options)
{
	struct gate gate = {.options = options, .file = options->operands[0]};
	struct gate_files files = {NULL};
	struct gate_place places[GATE_PLACES];
	int status;

	failure_status = EXIT_OWN_FAILURE; /* 1 is a verdict */
	status = gate_prepare(&gate, &files);
	memset(places, 0, sizeof places);
	if (status == EXIT_DONE && options->explain) {
		status = gate_explain(&gate);
	} else if (status == EXIT_DONE && !gate_guard(&gate, &status)) {
		status = gate_places_open(options, places);
		if (status == EXIT_DONE) {
			gate_run(&gate, &files);
			status = gate_finish(&gate, places);
		}
		gate_places_close(places);
	}
	gate_files_close(&files);
	gate_close(&gate);
	return status;
}

int cmd_gate(const struct options *options)
{
	if (options->init && options->explain)
		return fail_usage("gate: --init makes a file, --explain reads "
				  "one");
	if (options->init && options->command == NULL &&
	    options->operand_count == 0)
		return fail_usage("gate: --init needs a process, or -- and a "
				  "command");
	if (!options->init && options->command != NULL)
		return fail_usage("gate: what to run stands in the budget "
				  "file; --init -- CMD makes one");
	return options->init ? gate_init(options) : gate_file(options);
}
