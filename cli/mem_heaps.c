/*
 * mem_heaps.c - what plim mem tells of the allocators: the verdict in plain
 * words with what would return each part, every allocator with its figures,
 * arenas, hostages and checks; or why nothing was walked, and what would allow
 * it.
 */
#include "mem.h"

#include <string.h>

static const char *heaps_bytes(const struct telling *telling, plim_count count)
{
	return show_count(telling->options, count, PLIM_UNIT_BYTES);
}

/* --- the verdict ---------------------------------------------------------- */

static int heaps_line(const plim_retention_line *line, void *user)
{
	struct telling *telling = user;
	int known = line->bytes.state == PLIM_STATE_KNOWN;

	tell_line(
	    telling, "%s %s",
	    known ? heaps_bytes(telling, line->bytes) : "unknown:", line->text);
	if (line->remedy != NULL && line->remedy[0] != '\0')
		tell_aside(telling, "%s: %s",
			   known ? "what would return it" : "why",
			   line->remedy);
	return 0;
}

/* Two figures, since they are not the same. */
static void heaps_trim(struct telling *telling, const struct mem_view *view)
{
	const plim_retention *found = &view->retention;

	if (found->rss_falls.state != PLIM_STATE_KNOWN ||
	    (found->walked & UINT64_C(1) << PLIM_HEAP_OF_GLIBC) == 0)
		return;
	tell_line(telling,
		  "a malloc_trim(0) now would lower RSS by %s; the machine "
		  "would get %s of that",
		  heaps_bytes(telling, found->rss_falls),
		  found->machine_gets.state == PLIM_STATE_KNOWN
		      ? heaps_bytes(telling, found->machine_gets)
		      : "an unknown part");
}

void mem_tell_verdict(struct telling *telling, const struct mem_view *view)
{
	const char *text = plim_retention_text(view->retention.verdict);

	tell_section(telling, "verdict", "Verdict");
	tell_line(telling, "%s: %s",
		  plim_retention_word(view->retention.verdict), text);
	if (view->target != NULL && view->walked && !view->walked_before &&
	    plim_memory_taken(view->memory) > 1)
		tell_line(telling,
			  "as it was where the window began; at its end "
			  "nothing was walked");
	if (telling->sheet != NULL)
		mem_plot_parts(telling->sheet, view);
	plim_retention_tell(&view->retention, heaps_line, telling);
	heaps_trim(telling, view);
}

/* --- one allocator -------------------------------------------------------- */

static const char *heaps_or(const char *text, const char *other)
{
	return text != NULL && text[0] != '\0' ? text : other;
}

static void heaps_who(struct telling *telling, const plim_heap *heap,
		      const plim_heap_facts *facts)
{
	char version[40] = "";
	size_t i;

	if (facts->version != NULL && facts->version[0] != '\0')
		snprintf(version, sizeof version, " %s", facts->version);
	tell_line(telling, "%s%s: %s; %s%s; %s",
		  plim_heap_kind_word(facts->kind), version,
		  plim_heap_kind_text(facts->kind),
		  plim_confidence_word(facts->confidence),
		  facts->is_static ? ", linked into the program itself" : "",
		  facts->depth == PLIM_DEPTH_RECOGNISED
		      ? "recognised, not walked"
		      : plim_heap_depth_word(facts->depth));
	for (i = 0; i < plim_heap_evidence_count(heap); i++)
		tell_quote(telling, "  by ",
			   (plim_bytes){plim_heap_evidence(heap, i),
					strlen(plim_heap_evidence(heap, i))},
			   "");
	if (facts->layout != NULL && facts->layout[0] != '\0')
		tell_aside(telling, "layout %s%s%s%s", facts->layout,
			   facts->standing[0] != '\0' ? " (" : "",
			   heaps_or(facts->standing, ""),
			   facts->standing[0] != '\0' ? ")" : "");
	if (facts->depth == PLIM_DEPTH_REFUSED)
		tell_quote(telling, "  no figures: ",
			   (plim_bytes){facts->why, strlen(facts->why)}, "");
}

/* What counts the blocks of a figure, or 0. */
static int heaps_count_of(int figure)
{
	switch (figure) {
	case PLIM_HEAP_IN_USE:
		return PLIM_HEAP_IN_USE_COUNT;
	case PLIM_HEAP_FREE:
		return PLIM_HEAP_FREE_COUNT;
	case PLIM_HEAP_MMAPPED:
		return PLIM_HEAP_MMAPPED_COUNT;
	default:
		return 0;
	}
}

static int heaps_is_count(int figure)
{
	const char *name = plim_heap_figure_name(figure);
	size_t size = strlen(name);

	return size > 6 && strcmp(name + size - 6, "_count") == 0;
}

/* Every figure that is known; a zero of those that most programs have none of
 * says nothing. */
static int heaps_is_told(int figure, plim_count value)
{
	if (value.state != PLIM_STATE_KNOWN || heaps_is_count(figure))
		return 0;
	switch (figure) {
	case PLIM_HEAP_UNKNOWN:
	case PLIM_HEAP_UNCERTAIN:
	case PLIM_HEAP_SWAPPED:
	case PLIM_HEAP_HUGE:
	case PLIM_HEAP_SHARED:
	case PLIM_HEAP_TRIM_SWAP:
		return value.value > 0;
	default:
		return 1;
	}
}

/* The same allocator in the walk where the window began. */
static const plim_heap *heaps_before(const struct mem_view *view,
				     const plim_heap *heap)
{
	const plim_heap *other;
	size_t i;

	if (!view->walked_before)
		return NULL;
	for (i = 0; (other = plim_heaps_at(view->before, i)) != NULL; i++)
		if (plim_heap_about(other).kind == plim_heap_about(heap).kind)
			return other;
	return NULL;
}

static void heaps_figure(struct telling *telling, const plim_heap *heap,
			 const plim_heap *before, int figure)
{
	plim_count value = plim_heap_figure(heap, figure);
	int counted = heaps_count_of(figure);

	tell_string(telling, plim_heap_figure_name(figure));
	tell_count(telling, value, PLIM_UNIT_BYTES);
	if (before != NULL)
		tell_count(telling, plim_heap_figure(before, figure),
			   PLIM_UNIT_BYTES);
	if (counted > 0)
		tell_count(telling, plim_heap_figure(heap, counted),
			   PLIM_UNIT_NONE);
	else
		tell_string(telling, "");
	tell_string(telling, plim_heap_figure_text(figure));
}

static void heaps_figures(struct telling *telling, const struct mem_view *view,
			  const plim_heap *heap)
{
	static const char *const once[] = {" FIGURE", "BYTES", "BLOCKS",
					   " WHAT IT IS"};
	static const char *const twice[] = {" FIGURE", "BYTES", "BEFORE",
					    "BLOCKS", " WHAT IT IS"};
	const plim_heap *before = heaps_before(view, heap);
	int figure;

	if (before != NULL)
		tell_table(telling, twice, 5);
	else
		tell_table(telling, once, 4);
	for (figure = 1; plim_heap_figure_name(figure) != NULL; figure++)
		if (heaps_is_told(figure, plim_heap_figure(heap, figure)))
			heaps_figure(telling, heap, before, figure);
	tell_table_end(telling);
}

static void heaps_address(char *text, size_t size, uint64_t address)
{
	snprintf(text, size, "0x%llx", (unsigned long long)address);
}

static void heaps_arenas(struct telling *telling, const struct mem_view *view,
			 const plim_heap *heap)
{
	static const char *const titles[] = {
	    " ARENA", "HEAPS", "THREADS", "SYSTEM",	"IN USE",
	    "FREE",   "TOP",   "CACHED",  "TRIM GIVES", "PINNED"};
	static const int figures[] = {PLIM_HEAP_SYSTEM, PLIM_HEAP_IN_USE,
				      PLIM_HEAP_FREE,	PLIM_HEAP_TOP,
				      PLIM_HEAP_CACHED, PLIM_HEAP_TRIM_RETURNS,
				      PLIM_HEAP_PINNED};
	const size_t count = plim_heap_arena_count(heap);
	const size_t rows = mem_rows(view, count);
	char address[24];
	size_t i;
	size_t k;

	if (count < 1)
		return;
	tell_section(telling, "arenas", "Arenas");
	tell_line(telling, "%zu", count);
	tell_table(telling, titles, 10);
	for (i = 0; i < rows; i++) {
		const plim_arena *arena = plim_heap_arena(heap, i);

		heaps_address(address, sizeof address, arena->address);
		tell_string(telling, arena->is_main ? "main" : address);
		tell_count(telling,
			   plim_count_known(arena->heaps, PLIM_METHOD_LISTING),
			   PLIM_UNIT_NONE);
		tell_count(telling, arena->threads, PLIM_UNIT_NONE);
		for (k = 0; k < sizeof figures / sizeof figures[0]; k++)
			tell_count(telling,
				   plim_heap_arena_figure(heap, i, figures[k]),
				   PLIM_UNIT_BYTES);
	}
	tell_table_end(telling);
	mem_rows_more(telling, rows, count);
}

/* Few live blocks can keep many free pages. */
static void heaps_hostages(struct telling *telling, const struct mem_view *view,
			   const plim_heap *heap)
{
	static const char *const titles[] = {" BLOCK", "SIZE", "KEEPS",
					     "ARENA"};
	const size_t count = plim_heap_hostage_count(heap);
	const size_t rows = mem_rows(view, count);
	char address[24];
	size_t i;

	if (count == 0)
		return;
	tell_section(telling, "hostages",
		     "Live blocks that keep free memory from being returned");
	tell_line(telling, "live blocks that keep the most free memory");
	tell_table(telling, titles, 4);
	for (i = 0; i < rows; i++) {
		const plim_hostage *hostage = plim_heap_hostage(heap, i);

		heaps_address(address, sizeof address, hostage->address);
		tell_string(telling, address);
		tell_count(telling,
			   plim_count_known(hostage->size, PLIM_METHOD_LISTING),
			   PLIM_UNIT_BYTES);
		tell_count(
		    telling,
		    plim_count_known(hostage->kept_bytes, PLIM_METHOD_LISTING),
		    PLIM_UNIT_BYTES);
		tell_count(
		    telling,
		    plim_count_known(hostage->arena, PLIM_METHOD_LISTING),
		    PLIM_UNIT_ID);
	}
	tell_table_end(telling);
}

/* Why what is free and resident would not be returned, with a remedy each: the
 * verdict has them of all allocators, this has the numbers of one. */
static void heaps_check_told(struct telling *telling,
			     const plim_heap_check *check)
{
	const struct options *options = telling->options;
	int numbers = check->expected.state == PLIM_STATE_KNOWN &&
		      check->found.state == PLIM_STATE_KNOWN;
	char expected[48] = "";

	if (numbers)
		snprintf(expected, sizeof expected, "%s",
			 show_count(options, check->expected, PLIM_UNIT_NONE));
	tell_aside(
	    telling, "%s: %s%s%s%s%s%s%s", check->name,
	    plim_heap_check_word(check->state), numbers ? "; expected " : "",
	    expected, numbers ? ", found " : "",
	    numbers ? show_count(options, check->found, PLIM_UNIT_NONE) : "",
	    check->text[0] != '\0' ? "; " : "", check->text);
}

static void heaps_checks(struct telling *telling, const plim_heap *heap)
{
	const plim_heap_check *check;
	size_t passed = 0;
	size_t i;

	if (plim_heap_check_count(heap) == 0)
		return;
	for (i = 0; (check = plim_heap_check_at(heap, i)) != NULL; i++)
		passed += check->state == PLIM_CHECK_PASSED;
	tell_section(telling, "checks",
		     "Checks of the walk against the allocator's own counts");
	tell_line(telling, "%zu of %zu passed", passed,
		  plim_heap_check_count(heap));
	for (i = 0; (check = plim_heap_check_at(heap, i)) != NULL; i++)
		if (check->state != PLIM_CHECK_PASSED)
			heaps_check_told(telling, check);
}

static void heaps_one(struct telling *telling, const struct mem_view *view,
		      const plim_heap *heap)
{
	plim_heap_facts facts = plim_heap_about(heap);
	char title[80];

	snprintf(title, sizeof title, "Allocator: %s",
		 plim_heap_kind_word(facts.kind));
	tell_section(telling, "allocator", title);
	heaps_who(telling, heap, &facts);
	if (facts.missing.state != PLIM_STATE_KNOWN)
		return;
	heaps_figures(telling, view, heap);
	heaps_arenas(telling, view, heap);
	heaps_hostages(telling, view, heap);
	heaps_checks(telling, heap);
}

/* --- all of them ---------------------------------------------------------- */

static void heaps_failed(struct telling *telling, const struct mem_view *view)
{
	char text[1024];

	plim_error_message(&view->walk_error, text, sizeof text);
	tell_section(telling, "allocators", "Allocators");
	tell_line(telling,
		  view->walked ? "not walked again: %s" : "not walked: %s",
		  text);
}

void mem_tell_heaps(struct telling *telling, const struct mem_view *view)
{
	size_t i;

	if (view->walk_failed)
		heaps_failed(telling, view);
	if (!view->walked && !view->walk_failed) {
		tell_section(telling, "allocators", "Allocators");
		tell_line(telling, view->options->no_walk
				       ? "not walked: --no-walk"
				       : "not walked: the process ended first");
	}
	if (!view->walked)
		return;
	if (plim_heaps_count(view->heaps) == 0) {
		tell_section(telling, "allocators", "Allocators");
		tell_line(telling, "none was recognised");
	}
	for (i = 0; i < plim_heaps_count(view->heaps); i++)
		heaps_one(telling, view, plim_heaps_at(view->heaps, i));
}
