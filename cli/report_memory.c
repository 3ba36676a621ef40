/*
 * report_memory.c - the report's answer to whether memory is live: the
 * allocators are walked once, when the window is over and its figures are
 * read, and the verdict is told in a few lines. A walk takes some 0.35 s of
 * ours for each GiB of small blocks; of what is larger than the bound it is
 * left to plim mem, which has all of it.
 */
#include "report.h"

#define REPORT_WALK_MOST  (UINT64_C(2) << 30)
#define REPORT_LINES_MOST 3

static plim_count memory_of(const struct report *report, int field)
{
	return plim_process_count(plim_usage_process(report->last), field);
}

int report_memory_open(struct report *report, plim_error *error)
{
	return plim_heaps_new(&report->heaps, report->host, error);
}

void report_memory_take(struct report *report)
{
	plim_count anonymous = memory_of(report, PLIM_FIELD_ANONYMOUS);
	plim_retention_memory memory = {.size = sizeof memory};

	if (!report->sampled || report->ended || interrupted ||
	    anonymous.state != PLIM_STATE_KNOWN)
		return;
	if (anonymous.value > REPORT_WALK_MOST) {
		report->memory = REPORT_MEMORY_LARGE;
		return;
	}
	if (plim_heaps_walk(report->heaps, report->target, NULL,
			    &report->memory_error) != PLIM_OK) {
		report->memory = REPORT_MEMORY_REFUSED;
		return;
	}
	memory.resident = memory_of(report, PLIM_FIELD_RESIDENT);
	memory.anonymous = anonymous;
	memory.file = memory_of(report, PLIM_FIELD_FILE);
	memory.shmem = memory_of(report, PLIM_FIELD_SHMEM);
	memory.swap = memory_of(report, PLIM_FIELD_SWAP);
	memory.lazy_free = plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	plim_retention_find(report->heaps, &memory, &report->retention);
	report->memory = REPORT_MEMORY_KNOWN;
}

struct memory_lines {
	const struct report *report;
	int told;
};

static int memory_line(const plim_retention_line *line, void *user)
{
	struct memory_lines *lines = user;

	if (lines->told == REPORT_LINES_MOST)
		return 1;
	if (lines->told++ > 0)
		output_text("             ");
	if (line->bytes.state == PLIM_STATE_KNOWN)
		output_format("%s ", show_count(lines->report->options,
						line->bytes, PLIM_UNIT_BYTES));
	output_format("%s\n", line->text);
	if (line->remedy != NULL && line->remedy[0] != '\0')
		output_format("               %s: %s\n",
			      line->bytes.state == PLIM_STATE_KNOWN
				  ? "what would return it"
				  : "why",
			      line->remedy);
	return 0;
}

/* Behind the figures of memory. */
void report_memory_page(const struct report *report)
{
	struct memory_lines lines = {.report = report};
	char text[1024];

	switch (report->memory) {
	case REPORT_MEMORY_KNOWN:
		output_text("it holds     ");
		plim_retention_tell(&report->retention, memory_line, &lines);
		if (lines.told == 0)
			output_text("nothing that could be told apart\n");
		return;
	case REPORT_MEMORY_LARGE:
		output_text("it holds     not walked, since it is large; plim "
			    "mem does\n");
		return;
	case REPORT_MEMORY_REFUSED:
		plim_error_message(&report->memory_error, text, sizeof text);
		output_format("it holds     not known, live or retained: %s\n",
			      text);
		return;
	default:
		return;
	}
}

void report_memory_json(const struct report *report, plim_json *json)
{
	size_t i;

	if (report->memory == REPORT_MEMORY_REFUSED)
		plim_json_error(json, "walk_error", &report->memory_error);
	if (report->memory != REPORT_MEMORY_KNOWN)
		return;
	plim_json_array(json, "allocators");
	for (i = 0; i < plim_heaps_count(report->heaps); i++)
		plim_json_heap(json, NULL, plim_heaps_at(report->heaps, i));
	plim_json_end(json);
	plim_json_retention(json, "verdict", &report->retention);
}

void report_memory_release(struct report *report)
{
	plim_heaps_free(report->heaps);
}
