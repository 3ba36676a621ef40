/*
 * gate_junit.c - what plim gate found out as JUnit XML: a suite for each
 * target, a case for each limit. Exceeded is a failure; unavailable,
 * inconclusive and not measured are errors, because nothing was found out; a
 * skip that the file allows is skipped.
 *
 * There is no one standard. These are the elements and attributes that the
 * schemas of Jenkins and of pytest's tests have in common, in their order.
 * XML 1.0 has no way to write most control characters, so that they are
 * escaped as everywhere, \xNN, before the five of XML are.
 */
#include "gate_say.h"

#include <string.h>

static const char *junit_entity(char byte)
{
	switch (byte) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&apos;";
	default:
		return NULL;
	}
}

static void junit_byte(struct gate_out *out, char byte)
{
	const char *entity = junit_entity(byte);

	if (entity != NULL)
		gate_put(out, entity);
	else
		gate_put_bytes(out, &byte, 1);
}

static void junit_text(struct gate_out *out, const char *text)
{
	gate_put_safe(out, text, junit_byte);
}

static void junit_attribute(struct gate_out *out, const char *name,
			    const char *value)
{
	gate_put(out, " ");
	gate_put(out, name);
	gate_put(out, "=\"");
	junit_text(out, value);
	gate_put(out, "\"");
}

static void junit_whole(struct gate_out *out, const char *name, size_t value)
{
	char digits[32];

	snprintf(digits, sizeof digits, "%zu", value);
	junit_attribute(out, name, digits);
}

static void junit_seconds(struct gate_out *out, uint64_t ns)
{
	char digits[48];

	plim_fixed_format((double)ns / 1e9, 3, digits, sizeof digits);
	junit_attribute(out, "time", digits);
}

struct junit_tally {
	size_t tests;
	size_t failures;
	size_t errors;
	size_t skipped;
};

static int junit_is_failure(const struct gate_target *target,
			    const struct gate_figure *figure)
{
	return target->done &&
	       figure->judgement.verdict == PLIM_VERDICT_EXCEEDED;
}

static void junit_count(const struct gate_target *target,
			struct junit_tally *tally)
{
	for (size_t i = 0; i < target->figure_count; i++) {
		const struct gate_figure *figure = &target->figures[i];

		tally->tests++;
		if (junit_is_failure(target, figure))
			tally->failures++;
		else if (!target->done || gate_figure_failed(figure))
			tally->errors++;
		else if (gate_figure_skipped(figure))
			tally->skipped++;
	}
}

static void junit_tallies(struct gate_out *out, const struct junit_tally *tally)
{
	junit_whole(out, "tests", tally->tests);
	junit_whole(out, "failures", tally->failures);
	junit_whole(out, "errors", tally->errors);
}

/* From the start of the first repeat to the end of the last window. */
static uint64_t junit_time(const struct gate_target *target)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < target->repeat_count; i++)
		ns += target->repeat[i].ready_ns + target->repeat[i].quiet_ns +
		      target->repeat[i].window_ns;
	return ns;
}

static void junit_line(struct gate_out *out, const char *word, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	gate_put(out, word);
	gate_put(out, ": ");
	junit_text(out, text);
	gate_put(out, "\n");
}

/* What stands inside of a failure or an error: all that there is to know. */
static void junit_details(struct gate_out *out, const struct gate *gate,
			  const struct gate_target *target,
			  const struct gate_figure *figure)
{
	const plim_budget_judgement *judged = &figure->judgement;
	char text[512];
	int unit = figure->figure->unit;

	gate_limit_words(figure, text, sizeof text);
	junit_line(out, "limit", text);
	junit_line(out, "value", gate_value(gate, judged->value, unit));
	junit_line(out, "source", gate_method(figure));
	if (judged->value.state != PLIM_STATE_KNOWN)
		junit_line(out, "reason", gate_why_not(figure));
	junit_line(out, "target", target->reason);
	junit_line(out, "why", figure->limit->why);
	junit_line(out, "owner", figure->limit->owner);
	snprintf(text, sizeof text, ":%u:%u", figure->limit->at.line,
		 figure->limit->at.column);
	gate_put(out, "at: ");
	junit_text(out, gate->file);
	junit_text(out, text);
	gate_put(out, "\n");
}

static const char *junit_message(const struct gate_target *target,
				 const struct gate_figure *figure)
{
	if (!target->done)
		return "not measured: the gate was interrupted";
	if (!gate_figure_speaks(target, figure))
		return target->reason;
	return figure->judgement.text;
}

static void junit_outcome(struct gate_out *out, const struct gate *gate,
			  const struct gate_target *target,
			  const struct gate_figure *figure)
{
	const char *element =
	    junit_is_failure(target, figure) ? "failure" : "error";

	gate_put(out, "   <");
	gate_put(out, element);
	junit_attribute(out, "type", gate_figure_word(target, figure));
	junit_attribute(out, "message", junit_message(target, figure));
	gate_put(out, ">");
	junit_details(out, gate, target, figure);
	gate_put(out, "</");
	gate_put(out, element);
	gate_put(out, ">\n");
}

static void junit_case(struct gate_out *out, const struct gate *gate,
		       const struct gate_target *target,
		       const struct gate_figure *figure)
{
	gate_put(out, "  <testcase");
	junit_attribute(out, "name", figure->figure->word);
	junit_attribute(out, "classname", target->target->name);
	junit_seconds(out, junit_time(target));
	if (!target->done || gate_figure_failed(figure)) {
		gate_put(out, ">\n");
		junit_outcome(out, gate, target, figure);
		gate_put(out, "  </testcase>\n");
	} else if (gate_figure_skipped(figure)) {
		gate_put(out, ">\n   <skipped");
		junit_attribute(
		    out, "message",
		    figure->limit->skip != NULL ? figure->limit->skip : "");
		gate_put(out, "/>\n  </testcase>\n");
	} else {
		gate_put(out, "/>\n");
	}
}

static void junit_suite(struct gate_out *out, const struct gate *gate,
			const struct gate_target *target)
{
	struct junit_tally tally = {0, 0, 0, 0};

	junit_count(target, &tally);
	gate_put(out, " <testsuite");
	junit_attribute(out, "name", target->target->name);
	junit_tallies(out, &tally);
	junit_whole(out, "skipped", tally.skipped);
	junit_seconds(out, junit_time(target));
	gate_put(out, ">\n");
	for (size_t i = 0; i < target->figure_count; i++)
		junit_case(out, gate, target, &target->figures[i]);
	gate_put(out, " </testsuite>\n");
}

int gate_junit(const struct gate *gate, plim_write_fn *write, void *user)
{
	struct gate_out out = {write, user, PLIM_OK, 0};
	struct junit_tally tally = {0, 0, 0, 0};
	uint64_t ns = 0;

	for (size_t i = 0; i < gate->target_count; i++) {
		junit_count(&gate->targets[i], &tally);
		ns += junit_time(&gate->targets[i]);
	}
	gate_put(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<testsuites name=\"plim gate\"");
	junit_tallies(&out, &tally);
	junit_seconds(&out, ns);
	gate_put(&out, ">\n");
	for (size_t i = 0; i < gate->target_count; i++)
		junit_suite(&out, gate, &gate->targets[i]);
	gate_put(&out, "</testsuites>\n");
	return out.failed;
}
