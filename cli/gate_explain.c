/*
 * gate_explain.c - plim gate --explain: what a budget file means, limit by
 * limit, and from where each of its figures is measured. Nothing is started.
 */
#include "gate_run.h"

#include <string.h>

static void explain_source(const plim_budget_target *target, int id)
{
	const plim_budget_figure *figure = plim_budget_figure_get(id);
	const struct gate_source *source = gate_source_of(id);

	if (figure == NULL || source == NULL)
		return;
	output_format("  %s\n    %s\n", figure->word, source->process);
	if (target->tree)
		output_format("    of the tree: %s\n", source->tree);
}

static void explain_sources(const struct options *options,
			    const plim_budget_target *target)
{
	size_t i;
	size_t j;

	output_text("\nsources of ");
	output_escaped(options,
		       (plim_bytes){target->name, strlen(target->name)});
	output_text("\n");
	for (i = 0; i < target->limit_count; i++) {
		for (j = 0; j < i; j++)
			if (target->limits[j].figure ==
			    target->limits[i].figure)
				break;
		if (j == i)
			explain_source(target, target->limits[i].figure);
	}
	if (gate_is_job(target))
		output_text("  every limit is of a whole run: it may end by "
			    "itself\n");
	else if (target->way == PLIM_BUDGET_RUN)
		output_text("  that it ends before the window is over is "
			    "inconclusive\n");
}

int gate_explain(const struct gate *gate)
{
	size_t i;

	plim_budget_explain(gate->budget, gate->options->target, output_write,
			    &standard_output);
	for (i = 0; i < gate->target_count; i++)
		if (gate->targets[i].target->way != PLIM_BUDGET_REPORT)
			explain_sources(gate->options, gate->targets[i].target);
	return EXIT_DONE;
}
