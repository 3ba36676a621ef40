/*
 * gate_init.c - plim gate --init PID | -- CMD: a first budget file, from a
 * measurement as the gate will make it, with room above each figure.
 */
#include "gate_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INIT_WINDOW_NS	UINT64_C(10000000000)
#define INIT_REPEATS	2
#define INIT_QUIET_CPU	2.0
#define INIT_QUIET_NS	UINT64_C(5000000000)
#define INIT_LIMIT_NS	UINT64_C(120000000000)
#define INIT_SLACK	1.5
#define INIT_SLACK_MOST 100.0

/* What a first file limits: what a program can be held to on any machine. The
 * time by the clock, and sums over a run that the gate itself ends, are not
 * among it. */
static const int init_figures[] = {
    PLIM_BUDGET_IDLE_CPU,	 PLIM_BUDGET_WAKEUPS,
    PLIM_BUDGET_DISK_WRITE,	 PLIM_BUDGET_RESIDENT_END,
    PLIM_BUDGET_PRIVATE_WARM,	 PLIM_BUDGET_PEAK_RESIDENT,
    PLIM_BUDGET_THREADS,	 PLIM_BUDGET_DESCRIPTORS,
    PLIM_BUDGET_CHILDREN_STARTED};
#define INIT_FIGURES (sizeof init_figures / sizeof init_figures[0])

static const char *init_name(const struct options *options)
{
	const char *path = options->command != NULL ? options->command[0]
						    : options->operands[0];
	const size_t folder = file_folder(path);

	return path[folder] != '\0' ? path + folder : path;
}

/* The worst and the least of the repeats. */
static void init_figure(const struct gate_figure *figure,
			plim_budget_draft_figure *draft)
{
	size_t i;

	draft->figure = figure->limit->figure;
	draft->value = draft->least = plim_real_missing(PLIM_REASON_NONE, 0);
	for (i = 0; i < figure->reading_count; i++) {
		plim_real value = figure->readings[i].value;

		if (i == 0 || value.state != PLIM_STATE_KNOWN) {
			draft->value = draft->least = value;
			if (value.state != PLIM_STATE_KNOWN)
				return;
		}
		if (value.value > draft->value.value)
			draft->value = value;
		if (value.value < draft->least.value)
			draft->least = value;
	}
}

static int init_write(const struct gate_target *target,
		      const plim_budget_place *place, double slack,
		      plim_write_fn *write, void *user)
{
	plim_budget_draft_figure drafts[INIT_FIGURES];
	plim_budget_sketch sketch = {.size = sizeof sketch,
				     .name = target->target->name,
				     .run = target->target->run,
				     .attach = target->target->attach,
				     .window_ns = target->window_ns,
				     .repeats = target->repeats,
				     .slack = slack,
				     .figure_count = INIT_FIGURES,
				     .figures = drafts};
	char measured[256];
	size_t i;

	snprintf(measured, sizeof measured,
		 "measured on %04d-%02d-%02d by plim %s: %s %.60s, %u CPUs",
		 place->today / 10000, place->today / 100 % 100,
		 place->today % 100, plim_version(),
		 place->os != NULL ? place->os : "",
		 place->kernel != NULL ? place->kernel : "", place->cores);
	sketch.measured = measured;
	for (i = 0; i < INIT_FIGURES; i++)
		init_figure(&target->figures[i], &drafts[i]);
	return plim_budget_draft(&sketch, write, user);
}

static int init_to_file(const char *data, size_t size, void *user)
{
	return fwrite(data, 1, size, user) == size ? 0 : errno;
}

static int init_output(const struct gate *gate,
		       const struct gate_target *target, double slack,
		       FILE *file)
{
	int code =
	    init_write(target, &gate->place, slack,
		       file != NULL ? init_to_file : output_write,
		       file != NULL ? (void *)file : (void *)&standard_output);

	if (file != NULL && (fclose(file) != 0 || code == PLIM_EOUTPUT)) {
		fail_usage("%s: it could not be written",
			   gate->options->write_to);
		return EXIT_FAILED;
	}
	if (code != PLIM_OK && code != PLIM_EOUTPUT) {
		fail_usage("no budget can be made of it: %s",
			   plim_error_text(code));
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static int init_measure(struct gate *gate, const plim_budget_target *asked,
			double slack, FILE *file)
{
	struct gate_target target;
	int status;

	if (gate_target_open(&target, gate, asked) != 0) {
		gate_target_close(&target);
		if (file != NULL)
			fclose(file);
		return fail_memory();
	}
	gate_measure(gate, &target);
	if (target.repeat[target.repeat_count - 1].verdict !=
	    PLIM_VERDICT_PASS) {
		fail_usage("%s: %s", asked->name,
			   target.repeat[target.repeat_count - 1].reason);
		status = interrupted ? EXIT_INTERRUPTED : EXIT_FAILED;
		if (file != NULL) {
			fclose(file);
			file_remove(gate->options->write_to);
		}
	} else {
		status = init_output(gate, &target, slack, file);
	}
	gate_target_close(&target);
	return status;
}

/* A file that is there is nobody's to write over. */
static int init_open(const char *path, FILE **file)
{
	*file = NULL;
	if (path == NULL)
		return EXIT_DONE;
	*file = file_stream(path, FILE_MAKE);
	if (*file == NULL)
		return fail_usage("%s: %s", path,
				  plim_system_error_name(errno));
	return EXIT_DONE;
}

int gate_init(const struct options *options)
{
	struct gate gate = {.options = options};
	plim_budget_limit limits[INIT_FIGURES];
	plim_budget_target asked = {
	    .name = init_name(options),
	    .way =
		options->command != NULL ? PLIM_BUDGET_RUN : PLIM_BUDGET_ATTACH,
	    .tree = 1,
	    .run = (const char *const *)(uintptr_t)options->command,
	    .attach = options->command != NULL ? NULL : options->operands[0],
	    .scope = "real",
	    .quiet_cpu_percent = INIT_QUIET_CPU,
	    .quiet_for_ns = INIT_QUIET_NS,
	    .quiet_limit_ns = INIT_LIMIT_NS,
	    .window_ns = INIT_WINDOW_NS,
	    .repeats = INIT_REPEATS,
	    .limit_count = INIT_FIGURES,
	    .limits = limits};
	double slack = options->slack > 0 ? options->slack : INIT_SLACK;
	plim_error error;
	FILE *file;
	size_t i;
	int status;

	if (slack < 1 || slack > INIT_SLACK_MOST)
		return fail_usage("--slack: a factor from 1 to %g",
				  INIT_SLACK_MOST);
	memset(limits, 0, sizeof limits);
	for (i = 0; i < INIT_FIGURES; i++)
		limits[i].figure = init_figures[i];
	if (host_open(options, &gate.host, &error) != PLIM_OK)
		return fail_with(options, &error);
	place_read(&gate.place, gate.host);
	status = init_open(options->write_to, &file);
	if (status == EXIT_DONE)
		status = init_measure(&gate, &asked, slack, file);
	place_free(&gate.place);
	plim_host_close(gate.host);
	return status;
}
