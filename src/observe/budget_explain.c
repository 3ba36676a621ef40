/*
 * budget_explain.c - what a budget means, for people: every default written
 * out, and what a `when` of this machine changed.
 *
 * Texts of the file are escaped as for a terminal. The words follow the order
 * in which a gate works: start, ready, quiet, window, limits.
 */
#include "observe/budget_writer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void plimp_budget_put(struct plimp_budget_writer *writer, const char *data,
		      size_t size)
{
	if (!writer->failed && size > 0 &&
	    writer->write(data, size, writer->user) != 0)
		writer->failed = 1;
}

void plimp_budget_print(struct plimp_budget_writer *writer, const char *format,
			...)
{
	char text[256];
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	assert(size >= 0 && (size_t)size < sizeof(text));
	if (size > 0)
		plimp_budget_put(writer, text, strlen(text));
}

void plimp_budget_put_quantity(struct plimp_budget_writer *writer, double value,
			       int unit)
{
	char text[64];

	plim_quantity_format(value, unit, text, sizeof(text));
	plimp_budget_print(writer, "%s", text);
}

/* A text of the file, whole, in pieces that fit. */
static void explain_text(struct plimp_budget_writer *writer, const char *text)
{
	size_t size = strlen(text);

	while (size > 0) {
		char escaped[1024];
		/* A byte takes four at most; a character is not cut. */
		size_t part = size < 200 ? size : 200;
		plim_bytes bytes = {text, part};

		while (part < size && part > 190 &&
		       ((unsigned char)text[part] & 0xc0) == 0x80)
			part--;
		bytes.size = part;
		plim_escape(PLIM_ESCAPE_TERMINAL, bytes, escaped,
			    sizeof(escaped));
		plimp_budget_put(writer, escaped, strlen(escaped));
		text += part;
		size -= part;
	}
}

static void explain_line(struct plimp_budget_writer *writer, const char *before,
			 const char *text)
{
	plimp_budget_print(writer, "%s", before);
	explain_text(writer, text);
	plimp_budget_print(writer, "\n");
}

static void explain_way(struct plimp_budget_writer *writer,
			const plim_budget_target *target)
{
	if (target->way == PLIM_BUDGET_ATTACH)
		explain_line(writer, "  finds: ", target->attach);
	if (target->way == PLIM_BUDGET_REPORT)
		explain_line(writer,
			     "  judges what is recorded in: ", target->report);
	if (target->way != PLIM_BUDGET_RUN)
		return;
	plimp_budget_print(writer, "  starts:");
	for (size_t i = 0; target->run[i] != NULL; i++) {
		plimp_budget_print(writer, " ");
		explain_text(writer, target->run[i][0] != '\0' ? target->run[i]
							       : "\"\"");
	}
	plimp_budget_print(writer, "\n");
}

static void explain_ready(struct plimp_budget_writer *writer,
			  const plim_budget_target *target)
{
	if (target->ready == PLIM_READY_OUTPUT)
		explain_line(writer, "  ready when its output has: ",
			     target->ready_text);
	else if (target->ready == PLIM_READY_FILE)
		explain_line(writer,
			     "  ready when there is: ", target->ready_text);
	else if (target->ready == PLIM_READY_PORT)
		plimp_budget_print(writer,
				   "  ready when port %d takes a call\n",
				   target->ready_port);
	plimp_budget_print(writer, "  quiet when it uses less than ");
	plimp_budget_put_quantity(writer, target->quiet_cpu_percent,
				  PLIM_UNIT_PERCENT);
	plimp_budget_print(writer, " of one core for ");
	plimp_budget_put_quantity(writer, (double)target->quiet_for_ns,
				  PLIM_UNIT_NS);
	plimp_budget_print(writer, "; not within ");
	plimp_budget_put_quantity(writer, (double)target->quiet_limit_ns,
				  PLIM_UNIT_NS);
	plimp_budget_print(writer, " is inconclusive\n");
}

static void explain_window(struct plimp_budget_writer *writer,
			   const plim_budget_target *target)
{
	plimp_budget_print(writer, "  window: ");
	plimp_budget_put_quantity(writer, (double)target->window_ns,
				  PLIM_UNIT_NS);
	if (target->longest_period_ns > 0) {
		plimp_budget_print(writer, ", for timers of up to ");
		plimp_budget_put_quantity(
		    writer, (double)target->longest_period_ns, PLIM_UNIT_NS);
	}
	plimp_budget_print(writer, "; %lu %s, of which the %s counts\n",
			   (unsigned long)target->repeats,
			   target->repeats == 1 ? "repeat" : "repeats",
			   plim_budget_aggregate_word(target->aggregate));
}

static void explain_bounds(struct plimp_budget_writer *writer,
			   const plim_budget_limit *limit, int unit)
{
	const char *comma = "";

	if (limit->has & PLIM_LIMIT_MAX) {
		plimp_budget_print(writer, " at most ");
		plimp_budget_put_quantity(writer, limit->max, unit);
		comma = ",";
	}
	if (limit->has & PLIM_LIMIT_MIN) {
		plimp_budget_print(writer, "%s at least ", comma);
		plimp_budget_put_quantity(writer, limit->min, unit);
		comma = ",";
	}
	if (limit->has & PLIM_LIMIT_VERSUS) {
		plimp_budget_print(writer, "%s no more than ", comma);
		plimp_budget_put_quantity(writer, limit->rise_percent,
					  PLIM_UNIT_PERCENT);
		plimp_budget_print(writer, " and ");
		plimp_budget_put_quantity(writer, limit->also_above, unit);
		plimp_budget_print(writer, " above the baseline");
	}
}

static void explain_terms(struct plimp_budget_writer *writer,
			  const plim_budget_limit *limit)
{
	if (limit->has & PLIM_LIMIT_VERSUS)
		explain_line(writer, "    baseline: ", limit->versus);
	for (size_t i = 0; i < limit->method_count; i++)
		plimp_budget_print(writer, "%s%s%s",
				   i == 0 ? "    only measured by: " : ", ",
				   plim_method_word(limit->methods[i]),
				   i + 1 == limit->method_count ? "\n" : "");
	if (limit->skip != NULL)
		explain_line(writer, "    skipped where it cannot be had: ",
			     limit->skip);
	else
		plimp_budget_print(writer,
				   "    where it cannot be had, that fails\n");
	if (limit->has & PLIM_LIMIT_MAX) {
		char factor[48];

		plim_number_format(limit->slack_warning, factor,
				   sizeof(factor));
		plimp_budget_print(writer,
				   "    warns where the ceiling is more than "
				   "%s times the figure\n",
				   factor);
	}
	if (limit->why != NULL)
		explain_line(writer, "    why: ", limit->why);
	if (limit->owner != NULL)
		explain_line(writer, "    owner: ", limit->owner);
	if (limit->until != 0)
		plimp_budget_print(writer, "    until: %04d-%02d-%02d\n",
				   (int)(limit->until / 10000),
				   (int)(limit->until / 100 % 100),
				   (int)(limit->until % 100));
}

static void explain_limit(struct plimp_budget_writer *writer,
			  const plim_budget_limit *limit)
{
	const plim_budget_figure *figure =
	    plim_budget_figure_get(limit->figure);

	plimp_budget_print(writer, "  line %lu: %s",
			   (unsigned long)limit->at.line, figure->word);
	explain_bounds(writer, limit, figure->unit);
	plimp_budget_print(
	    writer, "%s\n    %s\n",
	    limit->overridden_by != 0 ? " (by the when of this machine)" : "",
	    figure->text);
	explain_terms(writer, limit);
}

static void explain_target(struct plimp_budget_writer *writer,
			   const plim_budget_target *target)
{
	plimp_budget_print(writer, "target ");
	explain_text(writer, target->name);
	plimp_budget_print(writer, ", line %lu\n",
			   (unsigned long)target->at.line);
	explain_way(writer, target);
	plimp_budget_print(writer, "  %s\n",
			   target->tree
			       ? "with its descendants, those that end too"
			       : "without its descendants");
	plimp_budget_print(writer, "  load: %llu ",
			   (unsigned long long)target->load_count);
	explain_text(writer, target->load_unit);
	plimp_budget_print(writer, " (%s): ", target->scope);
	explain_line(writer, "", target->load_statement);
	if (target->way != PLIM_BUDGET_REPORT) {
		explain_ready(writer, target);
		explain_window(writer, target);
	}
	if (target->when_line != 0)
		plimp_budget_print(
		    writer, "  the when of line %lu is of this machine\n",
		    (unsigned long)target->when_line);
	else if (target->when_count != 0)
		plimp_budget_print(writer, "  no when is of this machine\n");
	for (size_t i = 0; i < target->limit_count; i++)
		explain_limit(writer, &target->limits[i]);
}

int plim_budget_explain(const plim_budget *budget, const char *target,
			plim_write_fn *write, void *user)
{
	struct plimp_budget_writer writer = {.write = write, .user = user};

	assert(budget != NULL && write != NULL);
	if (target != NULL && plim_budget_find(budget, target) == NULL)
		return PLIM_ENAME;
	for (size_t i = 0; i < budget->count; i++) {
		if (target != NULL &&
		    strcmp(budget->targets[i].name, target) != 0)
			continue;
		if (i > 0 && target == NULL)
			plimp_budget_print(&writer, "\n");
		explain_target(&writer, &budget->targets[i]);
	}
	return writer.failed ? PLIM_EOUTPUT : PLIM_OK;
}
