/*
 * gate_github.c - what plim gate found out, where a workflow of GitHub shows
 * it: annotations at the line of the limit, and the step summary.
 *
 * A step has room for ten annotations of a kind and fifty a job; we take ten
 * in all, the worst first, and the last one says how many more there are. The
 * summary has everything, but a step may write 1 MiB only, beyond which GitHub
 * shows none of it; ours ends before, with a line that says so. What comes
 * from a file or from a process is escaped twice: for a terminal, and for the
 * workflow (%25, %0D, %0A, of properties %3A and %2C) or for Markdown and HTML
 * (as numbers).
 */
#include "gate_say.h"

#include <string.h>

#define GITHUB_MOST 10

/* Below 1 MiB, with room for what other programs of the step have written. */
#define GITHUB_SUMMARY 900000

static void github_percent(struct gate_out *out, char byte)
{
	char text[8];

	snprintf(text, sizeof text, "%%%02X", (unsigned char)byte);
	gate_put(out, text);
}

static void github_message_byte(struct gate_out *out, char byte)
{
	if (byte == '%' || byte == '\r' || byte == '\n')
		github_percent(out, byte);
	else
		gate_put_bytes(out, &byte, 1);
}

static void github_property_byte(struct gate_out *out, char byte)
{
	if (byte == ':' || byte == ',')
		github_percent(out, byte);
	else
		github_message_byte(out, byte);
}

static void github_message(struct gate_out *out, const char *text)
{
	gate_put_safe(out, text, github_message_byte);
}

/* In the order of what is shown first. */
enum github_level {
	GITHUB_ERROR = 0,
	GITHUB_WARNING = 1,
	GITHUB_NOTICE = 2,
	GITHUB_LEVELS = 3
};

static const char *const github_words[GITHUB_LEVELS] = {"error", "warning",
							"notice"};

/* ::LEVEL file=F,line=L,col=C,title=T:: */
static void github_begin(struct gate_out *out, const struct gate *gate,
			 int level, plim_budget_position at, const char *title)
{
	char place[64];

	gate_put(out, "::");
	gate_put(out, github_words[level]);
	gate_put(out, " file=");
	gate_put_safe(out, gate->file, github_property_byte);
	snprintf(place, sizeof place, ",line=%u,col=%u,title=", at.line,
		 at.column);
	gate_put(out, place);
	gate_put_safe(out, title, github_property_byte);
	gate_put(out, "::");
}

/* What fails the build is an error; what was let through is not. */
static int github_failure_level(const struct gate *gate, int verdict)
{
	return verdict == PLIM_VERDICT_INCONCLUSIVE && gate->allowed
		   ? GITHUB_WARNING
		   : GITHUB_ERROR;
}

/* One thing to say; `target` alone: of all of it. */
struct github_note {
	const struct gate_target *target;
	const struct gate_figure *figure;
	int slack;
	int level;
};

/* The notes of a gate, one after another: 1 and the next one, 0 there are no
 * more. A limit has at most a failure or a skip, and a word on its slack. */
struct github_walk {
	size_t target;
	size_t figure; /* 0: the target itself; then 2 for each figure */
};

static int github_of_figure(const struct gate *gate, struct github_note *note)
{
	const plim_budget_judgement *judged = &note->figure->judgement;

	if (note->slack) {
		note->level = GITHUB_WARNING;
		return judged->slack;
	}
	if (gate_figure_skipped(note->figure)) {
		note->level = GITHUB_NOTICE;
		return 1;
	}
	note->level = github_failure_level(gate, judged->verdict);
	return gate_figure_failed(note->figure) &&
	       gate_figure_speaks(note->target, note->figure);
}

static int github_of_target(const struct gate *gate, struct github_note *note)
{
	int failed = note->target->verdict != PLIM_VERDICT_PASS &&
		     note->target->reason[0] != '\0';

	note->level = github_failure_level(gate, note->target->verdict);
	return failed || !note->target->done;
}

static int github_next(const struct gate *gate, struct github_walk *walk,
		       struct github_note *note)
{
	while (walk->target < gate->target_count) {
		const struct gate_target *target = &gate->targets[walk->target];
		size_t step = walk->figure++;
		int found;

		memset(note, 0, sizeof *note);
		note->target = target;
		if (step == 0) {
			found = github_of_target(gate, note);
		} else if ((step - 1) / 2 < target->figure_count &&
			   target->done) {
			note->figure = &target->figures[(step - 1) / 2];
			note->slack = (step - 1) % 2 != 0;
			found = github_of_figure(gate, note);
		} else {
			walk->target++;
			walk->figure = 0;
			continue;
		}
		if (found)
			return 1;
	}
	return 0;
}

/* Who woke most, in a few words: "; most: worker 980/s, timer 20/s". */
static void github_threads(struct gate_out *out, const struct gate *gate,
			   const struct gate_target *target)
{
	for (size_t i = 0; i < target->thread_count && i < 3; i++) {
		const struct gate_thread *thread = &target->threads[i];

		gate_put(out, i == 0 ? "; most: " : ", ");
		github_message(out, thread->name[0] != '\0' ? thread->name
							    : "a thread");
		gate_put(out, " ");
		github_message(out, gate_value(gate, thread->per_second,
					       PLIM_UNIT_PER_SECOND));
	}
}

static void github_failure(struct gate_out *out, const struct gate *gate,
			   const struct github_note *note)
{
	const plim_budget_limit *limit = note->figure->limit;

	github_message(out, note->figure->judgement.text);
	if (note->figure->judgement.value.state != PLIM_STATE_KNOWN) {
		gate_put(out, ": ");
		github_message(out, gate_why_not(note->figure));
	}
	if (limit->figure == PLIM_BUDGET_WAKEUPS)
		github_threads(out, gate, note->target);
	if (limit->why != NULL) {
		gate_put(out, "; why: ");
		github_message(out, limit->why);
	}
	if (limit->owner != NULL) {
		gate_put(out, "; owner: ");
		github_message(out, limit->owner);
	}
}

static void github_say(struct gate_out *out, const struct gate *gate,
		       const struct github_note *note)
{
	const struct gate_figure *figure = note->figure;
	char title[512];

	if (figure == NULL) {
		github_begin(out, gate, note->level, note->target->target->at,
			     note->target->target->name);
		github_message(out, note->target->reason[0] != '\0'
					? note->target->reason
					: "not measured: interrupted");
		gate_put(out, "\n");
		return;
	}
	snprintf(title, sizeof title, "%.400s: %s", note->target->target->name,
		 figure->figure->word);
	github_begin(out, gate, note->level, figure->limit->at, title);
	if (note->slack) {
		gate_put(out, "the limit is ");
		github_message(out,
			       gate_quantity(figure->judgement.slack_factor,
					     PLIM_UNIT_NONE));
		gate_put(out, " times what was measured");
	} else if (gate_figure_skipped(figure)) {
		gate_put(out, "skipped: ");
		github_message(out, figure->limit->skip != NULL
					? figure->limit->skip
					: "");
	} else {
		github_failure(out, gate, note);
	}
	gate_put(out, "\n");
}

static void github_more(struct gate_out *out, const struct gate *gate,
			int level, size_t more)
{
	plim_budget_position top = {1, 1, 0};
	char text[64];

	github_begin(out, gate, level, top, "plim gate");
	snprintf(text, sizeof text, "%zu more; the step summary has all\n",
		 more);
	gate_put(out, text);
}

int gate_annotations(const struct gate *gate, plim_write_fn *write, void *user)
{
	struct gate_out out = {write, user, PLIM_OK, 0};
	struct github_note note;
	size_t count = 0;
	size_t said = 0;
	struct github_walk walk = {0, 0};

	while (github_next(gate, &walk, &note))
		count++;
	for (int level = 0; level < GITHUB_LEVELS; level++) {
		walk = (struct github_walk){0, 0};
		while (github_next(gate, &walk, &note)) {
			if (note.level != level)
				continue;
			if (said == GITHUB_MOST - 1 && count > GITHUB_MOST) {
				github_more(&out, gate, level, count - said);
				return out.failed;
			}
			github_say(&out, gate, &note);
			said++;
		}
	}
	return out.failed;
}

/* Letters, digits, blanks and what lies beyond ASCII stand as they are; what
 * remains could be Markdown or HTML, and is written as its number. */
static void github_markdown_byte(struct gate_out *out, char byte)
{
	static const char plain[] = " .,;/()-%=?'";
	char text[8];

	if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	    (byte >= '0' && byte <= '9') || (unsigned char)byte >= 0x80 ||
	    strchr(plain, byte) != NULL) {
		gate_put_bytes(out, &byte, 1);
		return;
	}
	snprintf(text, sizeof text, "&#%d;", (int)byte);
	gate_put(out, text);
}

static void summary_text(struct gate_out *out, const char *text)
{
	gate_put_safe(out, text, github_markdown_byte);
}

static void summary_cell(struct gate_out *out, const char *text)
{
	gate_put(out, " ");
	summary_text(out, text);
	gate_put(out, " |");
}

static const char *summary_mark(const struct gate_target *target,
				const struct gate_figure *figure)
{
	if (!target->done)
		return "\xe2\x9d\x93"; /* a question mark */
	if (gate_figure_skipped(figure))
		return "\xe2\x9a\xaa"; /* a white circle */
	switch (figure->judgement.verdict) {
	case PLIM_VERDICT_PASS:
		return "\xe2\x9c\x85"; /* a check mark */
	case PLIM_VERDICT_EXCEEDED:
		return "\xe2\x9d\x8c"; /* a cross mark */
	default:
		return "\xe2\x9d\x93"; /* a question mark */
	}
}

static void summary_row(struct gate_out *out, const struct gate *gate,
			const struct gate_target *target,
			const struct gate_figure *figure)
{
	const plim_budget_judgement *judged = &figure->judgement;
	int unit = figure->figure->unit;
	char limit[512];

	gate_limit_words(figure, limit, sizeof limit);
	gate_put(out, "| ");
	gate_put(out, summary_mark(target, figure));
	gate_put(out, " |");
	summary_cell(out, figure->figure->word);
	summary_cell(out, gate_value(gate, judged->value, unit));
	summary_cell(out, limit);
	summary_cell(out, judged->decided != 0 &&
				  judged->value.state == PLIM_STATE_KNOWN
			      ? gate_quantity(judged->headroom, unit)
			      : "-");
	summary_cell(out, gate_method(figure));
	summary_cell(out,
		     gate_figure_skipped(figure) && figure->limit->skip != NULL
			 ? figure->limit->skip
			 : judged->text);
	gate_put(out, "\n");
}

static void summary_thread(struct gate_out *out, const struct gate *gate,
			   const struct gate_thread *thread)
{
	char tid[16];

	snprintf(tid, sizeof tid, "%d", (int)thread->tid);
	gate_put(out, "|");
	summary_cell(
	    out, gate_value(gate, thread->per_second, PLIM_UNIT_PER_SECOND));
	summary_cell(out, tid);
	summary_cell(out, thread->name);
	summary_cell(out, thread->process);
	summary_cell(out, thread->blocked_in);
	gate_put(out, "\n");
}

static int summary_full(const struct gate_out *out)
{
	return out->written > GITHUB_SUMMARY;
}

static void summary_threads(struct gate_out *out, const struct gate *gate,
			    const struct gate_target *target)
{
	if (target->thread_count == 0 || target->verdict == PLIM_VERDICT_PASS)
		return;
	gate_put(out, "\n| wakes | tid | thread | process | blocks in |\n"
		      "|---:|---:|---|---|---|\n");
	for (size_t i = 0; i < target->thread_count && i < 20; i++)
		summary_thread(out, gate, &target->threads[i]);
}

static void summary_target(struct gate_out *out, const struct gate *gate,
			   const struct gate_target *target)
{
	gate_put(out, "\n### ");
	summary_text(out, target->target->name);
	gate_put(out, ": ");
	gate_put(out, target->done ? gate_verdict_word(target->verdict)
				   : "not measured");
	gate_put(out, "\n\n");
	if (target->reason[0] != '\0') {
		summary_text(out, target->reason);
		gate_put(out, "\n\n");
	}
	gate_put(out, "| | figure | value | limit | headroom | source | |\n"
		      "|---|---|---:|---|---:|---|---|\n");
	for (size_t i = 0; i < target->figure_count && !summary_full(out); i++)
		summary_row(out, gate, target, &target->figures[i]);
	if (!summary_full(out))
		summary_threads(out, gate, target);
}

int gate_summary(const struct gate *gate, plim_write_fn *write, void *user)
{
	struct gate_out out = {write, user, PLIM_OK, 0};

	gate_put(&out, "## plim gate: ");
	gate_put(&out, gate_word(gate));
	gate_put(&out, gate->allowed ? ", which is allowed\n" : "\n");
	for (size_t i = 0; i < gate->target_count && !summary_full(&out); i++)
		summary_target(&out, gate, &gate->targets[i]);
	if (summary_full(&out))
		gate_put(&out, "\nThere is more than a step summary may "
			       "hold; the output of the step has all.\n");
	return out.failed;
}
