/*
 * report_memory.c - the report's answer to whether memory is live: the
 * allocators are walked once, when the window is over and its figures are
 * read, and the verdict is told in an answer and its parts. A walk takes some
 * 0.35 s of ours for each GiB of small blocks; of what is larger than the bound
 * it is left to plim mem, which has all of it.
 */
#include "prose.h"
#include "report.h"

#include <string.h>

#define REPORT_WALK_MOST  (UINT64_C(2) << 30)
#define REPORT_LINES_MOST 4

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

/* --- the answer ----------------------------------------------------------- */

/* The parts in few words, and what they are said to be. */
static const struct {
	int part;
	const char *word;
	const char *text;
} memory_words[] = {
    {PLIM_RETENTION_LIVE, "live heap", "are live data that the program holds"},
    {PLIM_RETENTION_CACHED, "freed, cached",
     "were freed and are kept in caches of threads"},
    {PLIM_RETENTION_RETURNABLE, "freed, returnable",
     "were freed and are kept until they are asked for"},
    {PLIM_RETENTION_PINNED, "freed, pinned",
     "were freed and are pinned by live neighbours"},
    {PLIM_RETENTION_TOP, "freed, tops of arenas",
     "were freed and are kept at the tops of thread arenas"},
    {PLIM_RETENTION_FREED, "freed", "were freed"},
    {PLIM_RETENTION_LAZY, "given back lazily", "are the kernel's to take"},
    {PLIM_RETENTION_OTHER, "outside of the heap",
     "are no heap: its own mappings, stacks"},
    {PLIM_RETENTION_FILE_CACHE, "files",
     "are pages of files, which the kernel can drop"},
    {PLIM_RETENTION_SHMEM, "shared memory", "are shared memory"},
    {PLIM_RETENTION_UNKNOWN, "not known", "could not be told apart"},
};

static const char *memory_text(int part)
{
	size_t i;

	for (i = 0; i < sizeof memory_words / sizeof memory_words[0]; i++)
		if (memory_words[i].part == part)
			return memory_words[i].text;
	return plim_retention_text(part);
}

static const char *memory_word(int part)
{
	size_t i;

	for (i = 0; i < sizeof memory_words / sizeof memory_words[0]; i++)
		if (memory_words[i].part == part)
			return memory_words[i].word;
	return plim_retention_word(part);
}

/* What nobody asked for is not missing. */
static int memory_is_left_out(const plim_retention_line *line)
{
	return line->bytes.state != PLIM_STATE_KNOWN &&
	       line->bytes.method == PLIM_REASON_NOT_ASKED;
}

static const char *memory_bytes(const struct report *report, plim_count count)
{
	return show_count(report->options, count, PLIM_UNIT_BYTES);
}

static int memory_is_retained(int part)
{
	return part == PLIM_RETENTION_CACHED ||
	       part == PLIM_RETENTION_RETURNABLE ||
	       part == PLIM_RETENTION_PINNED || part == PLIM_RETENTION_TOP ||
	       part == PLIM_RETENTION_FREED;
}

struct memory_search {
	int retained; /* of such parts alone */
	int unknown;  /* of this one alone */
	plim_retention_line line;
	int found;
};

/* The largest part, of what is resident. */
static int memory_largest(const plim_retention_line *line, void *user)
{
	struct memory_search *search = user;

	if (line->part > PLIM_RETENTION_UNKNOWN ||
	    line->bytes.state != PLIM_STATE_KNOWN || line->bytes.value == 0 ||
	    (search->retained && !memory_is_retained(line->part)) ||
	    (search->unknown && line->part != PLIM_RETENTION_UNKNOWN))
		return 0;
	if (!search->found || line->bytes.value > search->line.bytes.value) {
		search->line = *line;
		search->found = 1;
	}
	return 0;
}

static void memory_main_part(const struct report *report,
			     struct report_answer *answer, int unknown)
{
	struct memory_search search = {.unknown = unknown};
	const plim_count resident = memory_of(report, PLIM_FIELD_RESIDENT);

	plim_retention_tell(&report->retention, memory_largest, &search);
	if (!search.found)
		return;
	snprintf(answer->where, sizeof answer->where, "%s of %s resident %s",
		 memory_bytes(report, search.line.bytes),
		 memory_bytes(report, resident), memory_text(search.line.part));
	if (search.line.part == PLIM_RETENTION_UNKNOWN &&
	    search.line.remedy != NULL && search.line.remedy[0] != '\0') {
		const size_t used = strlen(answer->where);

		snprintf(answer->where + used, sizeof answer->where - used,
			 " (%s)", search.line.remedy);
	}
}

static void memory_kept(const struct report *report,
			struct report_answer *answer)
{
	const plim_retention *found = &report->retention;
	const plim_count resident = memory_of(report, PLIM_FIELD_RESIDENT);
	struct memory_search search = {.retained = 1};

	plim_retention_tell(found, memory_largest, &search);
	snprintf(answer->text, sizeof answer->text,
		 "%s of %s resident was freed and is kept",
		 memory_bytes(report, found->retained),
		 memory_bytes(report, resident));
	if (search.found)
		snprintf(answer->where, sizeof answer->where,
			 "what would return %s of it: %s",
			 memory_bytes(report, search.line.bytes),
			 search.line.remedy);
}

/* Below this share nobody would call it kept. */
static int memory_is_kept(const struct report *report)
{
	const plim_count resident = memory_of(report, PLIM_FIELD_RESIDENT);

	return resident.state != PLIM_STATE_KNOWN ||
	       report->retention.retained.value >= resident.value / 20;
}

/* Of an allocator that was not walked nobody says that it keeps nothing. */
static void memory_unwalked(const struct report *report,
			    struct report_answer *answer)
{
	const plim_count retained = report->retention.retained;
	const char *heap = "another allocator";
	size_t i;

	for (i = 0; i < plim_heaps_count(report->heaps); i++) {
		const plim_heap_facts facts =
		    plim_heap_about(plim_heaps_at(report->heaps, i));

		if (facts.depth == PLIM_DEPTH_WALKED)
			continue;
		heap = plim_heap_kind_word(facts.kind);
		break;
	}
	if (retained.value > 0) {
		answer->is_known = 1;
		snprintf(answer->figure, sizeof answer->figure, "%s",
			 memory_bytes(report, retained));
		snprintf(answer->text, sizeof answer->text,
			 "%s of freed memory is kept; what %s holds was not "
			 "walked",
			 answer->figure, heap);
	} else {
		snprintf(answer->text, sizeof answer->text,
			 "not known: what %s holds was not walked", heap);
	}
	memory_main_part(report, answer, 1);
}

static void memory_known(const struct report *report,
			 struct report_answer *answer)
{
	const plim_count retained = report->retention.retained;

	if (retained.state != PLIM_STATE_KNOWN) {
		snprintf(answer->text, sizeof answer->text, "not known: %s",
			 show_reason(retained.state, retained.method,
				     retained.code));
		memory_main_part(report, answer, 0);
		return;
	}
	if (retained.bound == PLIM_BOUND_AT_LEAST &&
	    (retained.value == 0 || !memory_is_kept(report))) {
		memory_unwalked(report, answer);
		return;
	}
	answer->is_known = 1;
	snprintf(answer->figure, sizeof answer->figure, "%s",
		 memory_bytes(report, retained));
	if (retained.value > 0 && memory_is_kept(report)) {
		memory_kept(report, answer);
		return;
	}
	snprintf(answer->text, sizeof answer->text,
		 retained.value == 0
		     ? "nothing: no freed memory is kept"
		     : "next to nothing: %s of freed memory is kept",
		 answer->figure);
	memory_main_part(report, answer, 0);
}

/* Descendants have heaps of their own, which were not walked. */
static void memory_alone(const struct report *report,
			 struct report_answer *answer)
{
	const size_t used = strlen(answer->text);

	if (plim_idle_about(report->idle).members > 1)
		snprintf(
		    answer->text + used, sizeof answer->text - used,
		    ", of process %d alone",
		    (int)plim_process_pid(plim_usage_process(report->last)));
}

void report_memory_answer(const struct report *report,
			  struct report_answer *answer)
{
	char text[480];

	switch (report->memory) {
	case REPORT_MEMORY_KNOWN:
		memory_known(report, answer);
		memory_alone(report, answer);
		return;
	case REPORT_MEMORY_LARGE:
		snprintf(
		    answer->text, sizeof answer->text,
		    "not known: more than %s is not walked by the way; "
		    "plim mem does",
		    memory_bytes(report, plim_count_known(REPORT_WALK_MOST,
							  PLIM_METHOD_SYSTEM)));
		return;
	case REPORT_MEMORY_REFUSED:
		report_reason(&report->memory_error, text, sizeof text);
		snprintf(answer->text, sizeof answer->text, "not known: %s",
			 text);
		return;
	default:
		snprintf(answer->text, sizeof answer->text, "%s",
			 report->ended
			     ? "not known: it ended before its heap was walked"
			     : "not known: its memory cannot be told");
	}
}

/* --- the details ---------------------------------------------------------- */

struct memory_lines {
	const struct report *report;
	struct prose *prose;
	struct sheet *sheet;
	int told;
};

static int memory_line(const plim_retention_line *line, void *user)
{
	struct memory_lines *lines = user;
	const struct report *report = lines->report;
	const int known = line->bytes.state == PLIM_STATE_KNOWN;
	const int all = report->options->all;

	if (memory_is_left_out(line) ||
	    (!all && (!known || lines->told == REPORT_LINES_MOST)))
		return 0;
	if (all)
		prose_line(lines->prose, lines->told > 0 ? "" : "memory",
			   "%s%s%s",
			   known ? memory_bytes(report, line->bytes) : "",
			   known ? " " : "", line->text);
	else
		prose_format(
		    lines->prose, "%s%s %s", lines->told > 0 ? "; " : "",
		    memory_bytes(report, line->bytes), memory_word(line->part));
	if (all && line->remedy != NULL && line->remedy[0] != '\0')
		prose_line(lines->prose, "", "  %s: %s",
			   known ? "what would return it" : "why",
			   line->remedy);
	lines->told++;
	return 0;
}

/* The parts; in short, in one paragraph, or each with what would return it. */
void report_memory_page(const struct report *report)
{
	struct prose prose = {.options = report->options};
	struct memory_lines lines = {.report = report, .prose = &prose};

	if (report->memory != REPORT_MEMORY_KNOWN)
		return;
	prose_begin(&prose, "memory");
	plim_retention_tell(&report->retention, memory_line, &lines);
	if (!report->options->all && lines.told > 0)
		prose_end(&prose);
}

static int memory_row(const plim_retention_line *line, void *user)
{
	const struct memory_lines *lines = user;
	struct sheet *sheet = lines->sheet;
	const plim_count resident =
	    memory_of(lines->report, PLIM_FIELD_RESIDENT);

	if (memory_is_left_out(line))
		return 0;
	sheet_text(sheet, "<tr>");
	sheet_count(sheet, line->bytes, PLIM_UNIT_BYTES);
	sheet_text(sheet, "<td class=\"bar\">");
	if (line->bytes.state == PLIM_STATE_KNOWN &&
	    line->part <= PLIM_RETENTION_UNKNOWN &&
	    resident.state == PLIM_STATE_KNOWN && resident.value > 0)
		sheet_format(sheet, "<i class=\"%s\" style=\"width:%u%%\"></i>",
			     memory_is_retained(line->part) ? "kept" : "held",
			     (unsigned)(line->bytes.value * 100 /
					(resident.value > line->bytes.value
					     ? resident.value
					     : line->bytes.value)));
	sheet_text(sheet, "</td><td><b>");
	sheet_string(sheet, memory_word(line->part));
	sheet_text(sheet, "</b>: ");
	sheet_string(sheet, line->text);
	sheet_text(sheet, "</td><td>");
	sheet_string(sheet, line->remedy != NULL ? line->remedy : "");
	sheet_text(sheet, "</td></tr>\n");
	return 0;
}

void report_memory_sheet(const struct report *report, struct sheet *sheet)
{
	struct memory_lines lines = {.report = report, .sheet = sheet};

	if (report->memory != REPORT_MEMORY_KNOWN)
		return;
	sheet_text(sheet,
		   "<div class=\"wide\"><table class=\"t3\"><thead><tr><th "
		   "class=\"n\">"
		   "Size</th><th>of resident</th><th>What it is</th><th>What "
		   "would return it</th></tr></thead><tbody>\n");
	plim_retention_tell(&report->retention, memory_row, &lines);
	sheet_text(sheet, "</tbody></table></div>\n");
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
