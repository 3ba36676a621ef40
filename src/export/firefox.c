/*
 * firefox.c - a profile for the Firefox Profiler, in its processed format,
 * version 66 exactly (firefox-devtools/profiler: src/types/profile.ts;
 * docs-developer/CHANGELOG-formats.md). Its loader brings older versions up to
 * date and refuses newer ones.
 *
 * One thread each, a row where it begins, and then one for each sample at the
 * time at which it was taken, its weight in milliseconds of the view, and the
 * thread's CPU time since the row before. Samples that are not of the view keep
 * their place and have no stack, so that the graph of the CPU is whole in every
 * view. What was counted and not sampled has no time: it stands at the end of
 * the thread, where the kernel's counters were read. Nothing else is made up;
 * what is not known is null.
 */
#include "export/firefox.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/views.h"

#include <plimsoll/unwind.h>

#include <assert.h>
#include <string.h>

#define FIREFOX_VERSION 66
/* Of the format that Firefox itself writes: readers want one, and ignore it. */
#define FIREFOX_GECKO 24

static double firefox_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* Since sampling began; a moment before it is possible. */
static double firefox_time(const struct plimp_firefox *firefox,
			   uint64_t time_ns)
{
	const uint64_t start = firefox->facts.start_ns;

	return time_ns >= start ? firefox_ms(time_ns - start)
				: -firefox_ms(start - time_ns);
}

static int firefox_in_view(const struct plimp_firefox *firefox,
			   const plim_profile_stack *stack)
{
	return stack != NULL &&
	       plimp_view_has(firefox->options.view, stack->activity);
}

/* --- rows of a thread ----------------------------------------------------- */

struct firefox_row {
	const plim_profile_stack *stack; /* NULL: the thread begins */
	uint32_t index;			 /* of it */
	uint64_t time_ns;
	uint64_t weight_ns;
	uint64_t span_ns; /* of a sample of it running: 0 not known */
	int is_counted;
};

/* The beginning, from which CPU time is counted: readers leave out that of the
 * first row. Then samples, and at the end what was counted. */
static size_t firefox_row_count(const struct plimp_firefox *firefox,
				size_t thread)
{
	return 1 + firefox->samples.begin[thread + 1] -
	       firefox->samples.begin[thread] +
	       firefox->stacks.begin[thread + 1] -
	       firefox->stacks.begin[thread];
}

static uint64_t firefox_end(const struct plimp_firefox *firefox, size_t index)
{
	const plim_profile_thread *thread =
	    plim_profile_thread_at(firefox->profile, index);

	return thread->ended_ns != 0
		   ? thread->ended_ns
		   : firefox->facts.start_ns + firefox->facts.duration_ns;
}

static const plim_profile_sample *
firefox_sample(const struct plimp_firefox *firefox, size_t thread, size_t place)
{
	const size_t at = firefox->samples.begin[thread] + place;

	return plim_profile_sample_at(firefox->profile,
				      firefox->samples.items[at]);
}

/* A birth may be told of after the thread was sampled. */
static uint64_t firefox_begin(const struct plimp_firefox *firefox,
			      size_t thread)
{
	uint64_t begin =
	    plim_profile_thread_at(firefox->profile, thread)->born_ns;

	if (begin == 0)
		begin = firefox->facts.start_ns;
	if (firefox->samples.begin[thread] <
		firefox->samples.begin[thread + 1] &&
	    firefox_sample(firefox, thread, 0)->time_ns < begin)
		begin = firefox_sample(firefox, thread, 0)->time_ns;
	return begin;
}

static struct firefox_row firefox_row(const struct plimp_firefox *firefox,
				      size_t thread, size_t place)
{
	const size_t samples =
	    firefox->samples.begin[thread + 1] - firefox->samples.begin[thread];
	struct firefox_row row = {.is_counted = place > samples};
	const plim_profile_sample *sample;

	if (place == 0) {
		row.time_ns = firefox_begin(firefox, thread);
		return row;
	}
	place--;
	if (row.is_counted) {
		row.index =
		    (uint32_t)firefox->stacks
			.items[firefox->stacks.begin[thread] + place - samples];
		row.stack = plim_profile_stack_at(firefox->profile, row.index);
		row.time_ns = firefox_end(firefox, thread);
		row.weight_ns = row.stack->weight_ns;
		return row;
	}
	sample = firefox_sample(firefox, thread, place);
	row.index = sample->stack;
	row.stack = plim_profile_stack_at(firefox->profile, row.index);
	row.time_ns = sample->time_ns;
	row.weight_ns = sample->weight_ns;
	if (row.stack->activity == PLIM_ACTIVITY_RUNNING)
		row.span_ns = sample->span_ns;
	return row;
}

/* --- samples -------------------------------------------------------------- */

static void firefox_stacks(struct plimp_firefox *firefox, size_t thread)
{
	plim_json_array(firefox->json, "stack");
	for (size_t i = 0; i < firefox_row_count(firefox, thread); i++) {
		const struct firefox_row row = firefox_row(firefox, thread, i);

		if (firefox_in_view(firefox, row.stack))
			plim_json_whole(
			    firefox->json, NULL,
			    plimp_firefox_stack(firefox, row.index));
		else
			plim_json_null(firefox->json, NULL);
	}
	plim_json_end(firefox->json);
}

/* A thread that was told of late may have ended before its last sample. */
static void firefox_times(struct plimp_firefox *firefox, size_t thread)
{
	uint64_t last = 0;

	plim_json_array(firefox->json, "time");
	for (size_t i = 0; i < firefox_row_count(firefox, thread); i++) {
		const struct firefox_row row = firefox_row(firefox, thread, i);

		if (row.time_ns > last)
			last = row.time_ns;
		plim_json_number(firefox->json, NULL,
				 firefox_time(firefox, last));
	}
	plim_json_end(firefox->json);
}

static void firefox_weights(struct plimp_firefox *firefox, size_t thread)
{
	plim_json_array(firefox->json, "weight");
	for (size_t i = 0; i < firefox_row_count(firefox, thread); i++) {
		const struct firefox_row row = firefox_row(firefox, thread, i);

		plim_json_number(firefox->json, NULL,
				 firefox_in_view(firefox, row.stack)
				     ? firefox_ms(row.weight_ns)
				     : 0);
	}
	plim_json_end(firefox->json);
	plim_json_string(firefox->json, "weightType", "tracing-ms");
}

/*
 * CPU time since the row before. A blocked one that was found so had none of
 * its own: it is told with the next that runs. The first row at the end has
 * what was used behind the last sample; more rows there have none.
 */
static void firefox_deltas(struct plimp_firefox *firefox, size_t thread)
{
	const plim_profile_thread *about =
	    plim_profile_thread_at(firefox->profile, thread);
	uint64_t told = 0;
	int is_known = 1;
	int is_end = 0;

	plim_json_array(firefox->json, "threadCPUDelta");
	for (size_t i = 0; i < firefox_row_count(firefox, thread); i++) {
		const struct firefox_row row = firefox_row(firefox, thread, i);
		uint64_t delta = row.span_ns;

		const int is_unknown =
		    !row.is_counted && row.stack != NULL && delta == 0 &&
		    row.stack->activity == PLIM_ACTIVITY_RUNNING;

		is_known &= !is_unknown;
		if (row.is_counted && !is_end && is_known &&
		    about->times.cpu_ns > told)
			delta = about->times.cpu_ns - told;
		is_end |= row.is_counted;
		told += delta;
		if (is_unknown)
			plim_json_null(firefox->json, NULL);
		else
			plim_json_whole(firefox->json, NULL, delta);
	}
	plim_json_end(firefox->json);
}

static void firefox_samples(struct plimp_firefox *firefox, size_t thread)
{
	plim_json_object(firefox->json, "samples");
	firefox_stacks(firefox, thread);
	firefox_times(firefox, thread);
	firefox_weights(firefox, thread);
	firefox_deltas(firefox, thread);
	plim_json_whole(firefox->json, "length",
			firefox_row_count(firefox, thread));
	plim_json_end(firefox->json);
}

/* --- threads -------------------------------------------------------------- */

static void firefox_moment(struct plimp_firefox *firefox, const char *key,
			   uint64_t time_ns)
{
	if (time_ns == 0)
		plim_json_null(firefox->json, key);
	else
		plim_json_number(firefox->json, key,
				 firefox_time(firefox, time_ns));
}

/* A program behind an exec has the same pid: "4711.1", so that each is one. */
static void firefox_pid(struct plimp_firefox *firefox, const char *key,
			uint32_t program)
{
	const plim_profile_process *process =
	    plim_profile_process_at(firefox->profile, program);
	unsigned before = 0;
	char text[32];
	size_t size;

	for (uint32_t at = process->previous;
	     at != PLIM_NO_INDEX && before < 1000; before++)
		at = plim_profile_process_at(firefox->profile, at)->previous;
	size =
	    plimp_digits(process->pid > 0 ? (uint64_t)process->pid : 0, text);
	if (before > 0) {
		text[size++] = '.';
		size += plimp_digits(before, text + size);
	}
	plim_json_text(firefox->json, key, (plim_bytes){text, size});
}

static void firefox_markers(plim_json *json)
{
	static const char *const columns[] = {"data",	 "name",  "startTime",
					      "endTime", "phase", "category"};

	plim_json_object(json, "markers");
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		plim_json_array(json, columns[i]);
		plim_json_end(json);
	}
	plim_json_whole(json, "length", 0);
	plim_json_end(json);
}

static void firefox_thread(struct plimp_firefox *firefox, size_t index)
{
	const plim_profile_thread *thread =
	    plim_profile_thread_at(firefox->profile, index);
	const plim_profile_process *process =
	    plim_profile_process_at(firefox->profile, thread->process);
	plim_json *json = firefox->json;

	plim_json_object(json, NULL);
	plim_json_string(json, "processType", "default");
	plim_json_number(json, "processStartupTime",
			 process->since_ns != 0
			     ? firefox_time(firefox, process->since_ns)
			     : 0);
	firefox_moment(firefox, "processShutdownTime", process->until_ns);
	plim_json_number(
	    json, "registerTime",
	    thread->born_ns != 0 ? firefox_time(firefox, thread->born_ns) : 0);
	firefox_moment(firefox, "unregisterTime", thread->ended_ns);
	plim_json_array(json, "pausedRanges");
	plim_json_end(json);
	plimp_export_text(json, &firefox->text, "name", thread->name);
	plimp_export_text(json, &firefox->text, "processName", process->name);
	plim_json_boolean(json, "isMainThread", thread->tid == process->pid);
	firefox_pid(firefox, "pid", thread->process);
	plim_json_whole(json, "tid", (uint64_t)thread->tid);
	firefox_samples(firefox, index);
	firefox_markers(json);
	plim_json_end(json);
}

static void firefox_threads(struct plimp_firefox *firefox)
{
	const size_t count = plim_profile_thread_count(firefox->profile);

	plim_json_array(firefox->json, "threads");
	for (size_t i = 0; i < count; i++)
		firefox_thread(firefox, i);
	plim_json_end(firefox->json);
}

/* --- what it was, and what it cost ---------------------------------------- */

static void firefox_categories(plim_json *json)
{
	/* The default one, and then those of each activity, at its number.
	 * Transparent is how idle ones are marked. */
	static const char *const rows[][2] = {{"Other", "grey"},
					      {"On a CPU", "yellow"},
					      {"Waiting for a CPU", "red"},
					      {"Blocked", "transparent"}};

	plim_json_array(json, "categories");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		plim_json_object(json, NULL);
		plim_json_string(json, "name", rows[i][0]);
		plim_json_string(json, "color", rows[i][1]);
		plim_json_array(json, "subcategories");
		plim_json_string(json, NULL, "Other");
		plim_json_end(json);
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void firefox_entry(plim_json *json, const char *label,
			  const char *format)
{
	plim_json_object(json, NULL);
	plim_json_string(json, "label", label);
	plim_json_string(json, "format", format);
}

static void firefox_entry_text(struct plimp_firefox *firefox, const char *label,
			       const char *text)
{
	firefox_entry(firefox->json, label, "string");
	plim_json_string(firefox->json, "value", text);
	plim_json_end(firefox->json);
}

static void firefox_figure(struct plimp_firefox *firefox, const char *name,
			   int unit, plim_real figure)
{
	/* "duration" is of milliseconds, and chooses its own unit. */
	const int is_time = unit == PLIM_UNIT_NS;
	const char *format = is_time		       ? "duration"
			     : unit == PLIM_UNIT_BYTES ? "bytes"
						       : "decimal";

	if (figure.state != PLIM_STATE_KNOWN) {
		firefox_entry_text(firefox, name,
				   plim_state_word(figure.state));
		return;
	}
	firefox_entry(firefox->json, name, format);
	plim_json_number(firefox->json, "value",
			 is_time ? figure.value / 1e6 : figure.value);
	plim_json_end(firefox->json);
}

static void firefox_section(plim_json *json, const char *label)
{
	plim_json_object(json, NULL);
	plim_json_string(json, "label", label);
	plim_json_array(json, "entries");
}

static void firefox_section_end(plim_json *json)
{
	plim_json_end(json);
	plim_json_end(json);
}

/* Shown with the profile's other data: view, ways, lacks, and every metric. */
static void firefox_extra(struct plimp_firefox *firefox)
{
	const plim_profile *profile = firefox->profile;
	plim_json *json = firefox->json;
	const char *name;

	plim_json_array(json, "extra");
	firefox_section(json, "How it was sampled");
	firefox_entry_text(firefox, "view",
			   plim_view_text(firefox->options.view));
	for (size_t i = 0; i < plim_profile_tier_count(profile); i++) {
		const plim_profile_tier *tier =
		    plim_profile_tier_at(profile, i);

		firefox_entry_text(firefox, tier->word,
				   tier->used ? "used" : "not used");
	}
	for (size_t i = 0; i < plim_profile_lack_count(profile); i++)
		firefox_entry_text(firefox, "lacks",
				   plim_profile_lack(profile, i));
	firefox_section_end(json);
	firefox_section(json, "What it cost, and what was kept");
	for (int k = 1; (name = plim_profile_metric_name(k)) != NULL; k++)
		firefox_figure(firefox, name, plim_profile_metric_unit(k),
			       plim_real_of(plim_profile_metric(profile, k)));
	for (int k = 1; (name = plim_profile_ratio_name(k)) != NULL; k++)
		firefox_figure(firefox, name, PLIM_UNIT_NONE,
			       plim_profile_ratio(profile, k));
	firefox_section_end(json);
	plim_json_end(json);
}

/* The thread that has most of the view is shown first. */
static size_t firefox_first(const struct plimp_firefox *firefox)
{
	size_t first = 0;
	uint64_t most = 0;

	for (size_t i = 0; i < plim_profile_thread_count(firefox->profile);
	     i++) {
		const plim_profile_times times =
		    plim_profile_thread_at(firefox->profile, i)->times;
		const uint64_t weight =
		    firefox->options.view == PLIM_VIEW_CPU ? times.cpu_ns
		    : firefox->options.view == PLIM_VIEW_OFF
			? times.waiting_ns + times.blocked_ns
			: times.wall_ns;

		if (weight > most) {
			most = weight;
			first = i;
		}
	}
	return first;
}

static void firefox_meta(struct plimp_firefox *firefox)
{
	const plim_profile_facts *facts = &firefox->facts;
	plim_json *json = firefox->json;
	char from[64] = "plimsoll ";

	strncat(from, plim_version(), 32);
	plim_json_object(json, "meta");
	plim_json_number(json, "interval", firefox_ms(facts->period_ns));
	/* And no time at which sampling ended: readers leave out what stands
	 * there. */
	plim_json_number(json, "startTime", firefox_ms(facts->start_unix_ns));
	plim_json_whole(json, "startTimeAsClockMonotonicNanosecondsSinceBoot",
			facts->start_ns);
	plimp_export_text(json, &firefox->text, "product", facts->name);
	plim_json_string(json, "importedFrom", from);
	plim_json_whole(json, "processType", 0);
	plim_json_whole(json, "stackwalk", 1);
	plim_json_whole(json, "version", FIREFOX_GECKO);
	plim_json_whole(json, "preprocessedProfileVersion", FIREFOX_VERSION);
	plim_json_boolean(json, "symbolicated", 1);
	plim_json_boolean(json, "usesOnlyOneStackType", 1);
	plim_json_boolean(json, "sourceCodeIsNotOnSearchfox", 1);
	plim_json_object(json, "sampleUnits");
	plim_json_string(json, "time", "ms");
	plim_json_string(json, "eventDelay", "ms");
	plim_json_string(json, "threadCPUDelta", "ns");
	plim_json_end(json);
	firefox_categories(json);
	plim_json_array(json, "markerSchema");
	plim_json_end(json);
	plim_json_array(json, "initialSelectedThreads");
	plim_json_whole(json, NULL, firefox_first(firefox));
	plim_json_end(json);
	firefox_extra(firefox);
	plim_json_end(json);
}

static void firefox_overhead_column(plim_json *json, const char *key,
				    double value)
{
	plim_json_array(json, key);
	plim_json_number(json, NULL, value);
	plim_json_end(json);
}

static void firefox_statistics(plim_json *json, double cost, double window)
{
	static const char *const kinds[] = {"Cleaning", "Counter",  "Interval",
					    "Lockings", "Overhead", "Thread"};
	static const char *const ranges[] = {"max", "mean", "min"};

	plim_json_object(json, "statistics");
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const double value = i == 2 ? window : i >= 4 ? cost : 0;

		for (size_t k = 0; k < sizeof ranges / sizeof ranges[0]; k++) {
			const struct plimp_json_key key =
			    plimp_json_key(ranges[k], kinds[i]);

			plim_json_number(json, key.text, value);
		}
	}
	plim_json_number(json, "overheadDurations", cost);
	plim_json_number(json, "overheadPercentage",
			 window > 0 ? 100 * cost / window : 0);
	plim_json_number(json, "profiledDuration", window);
	plim_json_whole(json, "samplingCount", 1);
	plim_json_end(json);
}

/*
 * The format tells what each pass over the threads took. We know what all of
 * them took: one row, of the whole window, in microseconds. There are no locks,
 * no counters and no markers to clean.
 */
static void firefox_overhead(struct plimp_firefox *firefox)
{
	const plim_count cpu =
	    plim_profile_metric(firefox->profile, PLIM_METRIC_SAMPLER_CPU);
	const double cost = (double)cpu.value / 1e3;
	const double window = (double)firefox->facts.duration_ns / 1e3;
	plim_json *json = firefox->json;

	plim_json_array(json, "profilerOverhead");
	if (cpu.state == PLIM_STATE_KNOWN &&
	    plim_profile_process_count(firefox->profile) > 0) {
		plim_json_object(json, NULL);
		plim_json_object(json, "samples");
		firefox_overhead_column(json, "counters", 0);
		firefox_overhead_column(json, "expiredMarkerCleaning", 0);
		firefox_overhead_column(json, "locking", 0);
		firefox_overhead_column(json, "threads", cost);
		firefox_overhead_column(json, "time", window / 1e3);
		plim_json_whole(json, "length", 1);
		plim_json_end(json);
		firefox_statistics(json, cost, window);
		firefox_pid(firefox, "pid", 0);
		plim_json_whole(json, "mainThreadIndex", 0);
		plim_json_end(json);
	}
	plim_json_end(json);
}

/* --- all ------------------------------------------------------------------ */

static size_t firefox_sample_thread(const void *user, size_t index)
{
	const plim_profile *profile = user;

	return plim_profile_stack_at(
		   profile, plim_profile_sample_at(profile, index)->stack)
	    ->thread;
}

/* Counted ones alone; the others go to a thread that there is not. */
static size_t firefox_stack_thread(const void *user, size_t index)
{
	const plim_profile *profile = user;
	const plim_profile_stack *stack = plim_profile_stack_at(profile, index);

	return stack->is_counted && stack->weight_ns > 0
		   ? stack->thread
		   : plim_profile_thread_count(profile);
}

static int firefox_prepare(struct plimp_firefox *firefox)
{
	const plim_profile *profile = firefox->profile;
	const plim_allocator *allocator = firefox->options.allocator;
	const size_t threads = plim_profile_thread_count(profile);
	const size_t stacks = plim_profile_stack_count(profile);

	firefox->leaves =
	    plimp_allocate(allocator, stacks + 1, sizeof *firefox->leaves);
	firefox->first_frame =
	    plimp_allocate(allocator, plim_profile_frame_count(profile) + 1,
			   3 * sizeof *firefox->first_frame);
	firefox->libs =
	    plimp_allocate(allocator, plim_profile_module_count(profile) + 1,
			   sizeof *firefox->libs);
	if (firefox->leaves == NULL || firefox->first_frame == NULL ||
	    firefox->libs == NULL)
		return PLIM_ENOMEM;
	if (plimp_by_thread_make(&firefox->samples, allocator, threads,
				 plim_profile_sample_count(profile),
				 firefox_sample_thread, profile) != PLIM_OK)
		return PLIM_ENOMEM;
	return plimp_by_thread_make(&firefox->stacks, allocator, threads + 1,
				    stacks, firefox_stack_thread, profile);
}

static void firefox_release(struct plimp_firefox *firefox)
{
	const plim_profile *profile = firefox->profile;
	const plim_allocator *allocator = firefox->options.allocator;

	plimp_release(allocator, firefox->leaves,
		      plim_profile_stack_count(profile) + 1,
		      sizeof *firefox->leaves);
	plimp_release(allocator, firefox->first_frame,
		      plim_profile_frame_count(profile) + 1,
		      3 * sizeof *firefox->first_frame);
	plimp_release(allocator, firefox->libs,
		      plim_profile_module_count(profile) + 1,
		      sizeof *firefox->libs);
	plimp_release(allocator, firefox->frames, firefox->frame_capacity,
		      sizeof *firefox->frames);
	plimp_by_thread_release(&firefox->samples);
	plimp_by_thread_release(&firefox->stacks);
	plimp_stack_tree_release(&firefox->tree);
	plimp_buffer_release(&firefox->text);
	plim_json_free(firefox->json);
}

static int firefox_all(struct plimp_firefox *firefox, plim_error *error)
{
	plim_json *json = firefox->json;

	plimp_firefox_find_libs(firefox);
	plim_json_object(json, NULL);
	firefox_meta(firefox);
	plimp_firefox_libs(firefox);
	firefox_threads(firefox);
	plimp_firefox_shared(firefox);
	firefox_overhead(firefox);
	plim_json_end(json);
	if (firefox->failed != PLIM_OK)
		return plimp_export_end(firefox->failed, 0, "firefox", error);
	return plimp_export_finish(json, &firefox->text, "firefox", error);
}

int plim_firefox_profile(const plim_profile *profile,
			 const plim_profile_export *how, plim_write_fn *write,
			 void *user, plim_error *error)
{
	struct plimp_firefox firefox = {.profile = profile};
	int code;

	assert(profile != NULL && write != NULL);
	code = plimp_export_read(how, &firefox.options, "firefox", error);
	if (code != PLIM_OK)
		return code;
	firefox.facts = plim_profile_about(profile);
	plimp_buffer_init(&firefox.text, firefox.options.allocator);
	plimp_stack_tree_begin(&firefox.tree, firefox.options.allocator);
	code = plim_json_new(&firefox.json, write, user, 0,
			     firefox.options.allocator, error);
	if (code == PLIM_OK && firefox_prepare(&firefox) != PLIM_OK)
		code = plimp_export_end(PLIM_ENOMEM, 0, "firefox", error);
	if (code == PLIM_OK)
		code = firefox_all(&firefox, error);
	firefox_release(&firefox);
	return code;
}
