/*
 * text_profile.c - a profile as a page for people. It begins with what was
 * sampled and by which ways, so that nobody takes a half for the whole; then
 * the functions, each share with the error that sampling has; the stacks
 * (text_stacks.c); the threads; and at the end what the profile cost.
 */
#include "export/page.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

#define PAGE_FUNCTIONS 20
#define PAGE_THREADS   10

static plim_count page_metric(const struct plimp_text_page *page, int metric)
{
	return plim_profile_metric(page->profile, metric);
}

static uint64_t page_known(const struct plimp_text_page *page, int metric)
{
	const plim_count count = page_metric(page, metric);

	return count.state == PLIM_STATE_KNOWN ? count.value : 0;
}

/* "3 threads", "1 thread". */
static void page_number_of(struct plimp_text_page *page, uint64_t number,
			   const char *what)
{
	plimp_page_format(page, "%llu %s%s", (unsigned long long)number, what,
			  number == 1 ? "" : "s");
}

/* --- the head ------------------------------------------------------------- */

/* Are threads that run, or those that sleep, missing altogether? */
static int page_lacks_half(const struct plimp_text_page *page)
{
	const uint32_t flags = plim_profile_about(page->profile).flags;
	int running = (flags & PLIM_PROFILE_NO_RUNNING) != 0;
	int sleeping = (flags & PLIM_PROFILE_NO_SLEEPERS) != 0;

	for (size_t i = 0; i < plim_profile_tier_count(page->profile); i++) {
		const plim_profile_tier *tier =
		    plim_profile_tier_at(page->profile, i);

		if (tier->used && tier->tier == PLIM_TIER_NO_STOP)
			sleeping = 1;
		else if (tier->used)
			running = 1;
	}
	return !running || !sleeping;
}

/* The first line says what the profile lacks, if it lacks a half. */
static void page_who(struct plimp_text_page *page)
{
	const plim_profile_facts facts = plim_profile_about(page->profile);
	const size_t lacks = plim_profile_lack_count(page->profile);
	size_t told = 0;
	char identity[128];

	plim_identity_format(&facts.target, identity, sizeof identity);
	plimp_page_begin(page, "profile");
	plimp_page_text(page, facts.name);
	plimp_page_format(page, "  %s", identity);
	if (lacks > 0 && page_lacks_half(page)) {
		plimp_page_string(page, "  INCOMPLETE: ");
		plimp_page_string(page, plim_profile_lack(page->profile, 0));
		told = 1;
	}
	plimp_page_end_prose(page);
	for (size_t i = told; i < lacks; i++) {
		plimp_page_begin(page, i == told ? "note" : "");
		plimp_page_string(page, plim_profile_lack(page->profile, i));
		plimp_page_end_prose(page);
	}
}

/* Why it is shorter than was asked for; a command is sampled until it ends. */
static void page_early(struct plimp_text_page *page,
		       const plim_profile_facts *facts)
{
	const char *text = plim_profile_end_text(facts->end);

	if (facts->end == PLIM_PROFILE_END_DURATION || text == NULL ||
	    (facts->end == PLIM_PROFILE_END_TARGET &&
	     (facts->flags & PLIM_PROFILE_ON_EXEC) != 0))
		return;
	plimp_page_begin(page, "");
	plimp_page_string(page, "sampling ended early: ");
	plimp_page_string(page, text);
	plimp_page_end_prose(page);
}

/* ptrace stops a thread that runs 99 times a second at most (profile.h). */
static void page_rate(struct plimp_text_page *page,
		      const plim_profile_facts *facts)
{
	int is_stopped = 0;

	for (size_t i = 0; i < plim_profile_tier_count(page->profile); i++) {
		const plim_profile_tier *tier =
		    plim_profile_tier_at(page->profile, i);

		is_stopped |= tier->used && tier->tier == PLIM_TIER_PTRACE;
	}
	if (is_stopped && facts->hz_effective > PLIM_PROFILE_PTRACE_HZ)
		plimp_page_format(page, ", %u/s of running and %u/s of others",
				  PLIM_PROFILE_PTRACE_HZ, facts->hz_effective);
	else
		plimp_page_format(page, ", %u/s of each", facts->hz_effective);
}

static void page_what(struct plimp_text_page *page)
{
	const plim_profile_facts facts = plim_profile_about(page->profile);
	const uint64_t processes = page_known(page, PLIM_METRIC_PROCESSES);

	plimp_page_begin(page, "sampled");
	page_number_of(page, page_known(page, PLIM_METRIC_RUNNING), "sample");
	plimp_page_string(page, " of running and ");
	plimp_page_format(
	    page, "%llu",
	    (unsigned long long)page_known(page, PLIM_METRIC_BLOCKED));
	plimp_page_string(page, " of sleeping threads in ");
	plimp_page_value(page, (double)facts.duration_ns, PLIM_UNIT_NS);
	page_rate(page, &facts);
	if ((facts.clamped & PLIM_CLAMPED_HZ) != 0)
		plimp_page_format(page, " (%u/s was asked for)",
				  facts.hz_asked);
	plimp_page_string(page, "; ");
	page_number_of(page, page_known(page, PLIM_METRIC_THREADS_SEEN),
		       "thread");
	if (processes > 1)
		plimp_page_format(page, " of %llu programs",
				  (unsigned long long)processes);
	plimp_page_end_prose(page);
	page_early(page, &facts);
}

static void page_tier(struct plimp_text_page *page, const char *label,
		      const plim_profile_tier *tier)
{
	const char *reason;

	plimp_page_begin(page, label);
	plimp_page_string(page, tier->text);
	plimp_page_end_prose(page);
	if (tier->used || tier->works.state == PLIM_STATE_KNOWN)
		return;
	reason = plim_reason_text(tier->works.method);
	plimp_page_begin(page, "");
	plimp_page_format(page, "  %s: %s", plim_state_word(tier->works.state),
			  reason != NULL ? reason : "");
	if (tier->works.code != 0)
		plimp_page_format(page, " (%s)",
				  plim_system_error_name(tier->works.code));
	plimp_page_end_prose(page);
	if (tier->remedy != NULL && tier->remedy[0] != '\0') {
		plimp_page_begin(page, "");
		plimp_page_format(page, "  remedy: %s", tier->remedy);
		plimp_page_end_prose(page);
	}
}

static int page_is_missing(const plim_profile_tier *tier)
{
	return !tier->used && tier->works.state != PLIM_STATE_KNOWN &&
	       tier->works.state != PLIM_STATE_UNREAD &&
	       tier->works.state != PLIM_STATE_SKIPPED;
}

static void page_how(struct plimp_text_page *page)
{
	const size_t count = plim_profile_tier_count(page->profile);
	const char *label = "by";

	for (size_t i = 0; i < count; i++)
		if (plim_profile_tier_at(page->profile, i)->used) {
			page_tier(page, label,
				  plim_profile_tier_at(page->profile, i));
			label = "";
		}
	label = "not by";
	for (size_t i = 0; i < count; i++)
		if (page_is_missing(plim_profile_tier_at(page->profile, i))) {
			page_tier(page, label,
				  plim_profile_tier_at(page->profile, i));
			label = "";
		}
}

static void page_times(struct plimp_text_page *page)
{
	const plim_profile_times times = plim_profile_total(page->profile);

	plimp_page_begin(page, "time");
	plimp_page_value(page, (double)times.wall_ns, PLIM_UNIT_NS);
	plimp_page_string(page, " of threads = ");
	plimp_page_value(page, (double)times.cpu_ns, PLIM_UNIT_NS);
	plimp_page_string(page, " on a CPU + ");
	plimp_page_value(page, (double)times.waiting_ns, PLIM_UNIT_NS);
	plimp_page_string(page, " waiting for one + ");
	plimp_page_value(page, (double)times.blocked_ns, PLIM_UNIT_NS);
	plimp_page_string(page, " blocked");
	plimp_page_end_prose(page);
	plimp_page_begin(page, "view");
	plimp_page_string(page, plim_view_word(page->options.view));
	plimp_page_string(page, ": ");
	plimp_page_string(page, plim_view_text(page->options.view));
	plimp_page_end_prose(page);
}

static void page_head(struct plimp_text_page *page)
{
	page_who(page);
	page_what(page);
	page_how(page);
	page_times(page);
}

/* --- functions ------------------------------------------------------------ */

static void page_function(struct plimp_text_page *page, const char *label,
			  const plim_fold_function *row)
{
	const plim_profile_function *function =
	    plim_profile_function_at(page->profile, row->function);
	char share[340];

	plimp_page_begin(page, label);
	plimp_page_right(page, (double)row->self_ns, PLIM_UNIT_NS, 8);
	plimp_page_string(page, " ");
	plimp_page_share(page, row->self_share, row->self_error);
	plimp_page_right(page, (double)row->total_ns, PLIM_UNIT_NS, 11);
	plim_fixed_format(100 * row->total_share, 1, share, sizeof share);
	plimp_page_format(page, "%7.32s %%  ", share);
	plimp_page_text(page, function->name);
	if (function->module != PLIM_NO_INDEX && !function->is_unnamed) {
		plimp_page_string(page, "  ");
		plimp_page_text(page, plimp_export_module_name(
					  page->profile, function->module));
	}
	plimp_page_end(page);
}

static int page_functions(struct plimp_text_page *page, plim_error *error)
{
	const size_t most =
	    page->options.limit > 0 ? page->options.limit : PAGE_FUNCTIONS;
	plim_fold *fold = NULL;
	size_t count;
	int code =
	    plimp_export_fold(page->profile, &page->options, 0, &fold, error);

	if (code != PLIM_OK)
		return code;
	count = plim_fold_function_count(fold);
	plimp_page_begin(page, "functions");
	if (count == 0)
		plimp_page_format(page, "none: there was no %s",
				  plim_view_text(page->options.view));
	else
		plimp_page_format(
		    page, "%8s %5s %s %-6s%11s%9s  %s", "self", "share",
		    (page->options.flags & PLIM_EXPORT_ASCII) != 0 ? "+-"
								   : "\xc2\xb1",
		    "error", "total", "share", "function, file");
	plimp_page_end(page);
	for (size_t i = 0; i < count && i < most; i++)
		page_function(page, "", plim_fold_function_at(fold, i));
	if (count > most) {
		plimp_page_begin(page, "");
		plimp_page_format(page, "and %zu more", count - most);
		plimp_page_end(page);
	}
	plim_fold_free(fold);
	return PLIM_OK;
}

/* --- threads -------------------------------------------------------------- */

static uint64_t page_thread_weight(const struct plimp_text_page *page,
				   uint32_t index)
{
	const plim_profile_times *times =
	    &plim_profile_thread_at(page->profile, index)->times;

	return page->options.view == PLIM_VIEW_OFF
		   ? times->waiting_ns + times->blocked_ns
		   : times->cpu_ns;
}

/* The heaviest that comes behind the one told last; equal ones by index. */
static uint32_t page_thread_next(const struct plimp_text_page *page,
				 uint32_t last)
{
	const size_t count = plim_profile_thread_count(page->profile);
	uint32_t found = PLIM_NO_INDEX;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t weight = page_thread_weight(page, i);

		if (last != PLIM_NO_INDEX) {
			const uint64_t told = page_thread_weight(page, last);

			if (weight > told || (weight == told && i <= last))
				continue;
		}
		if (found == PLIM_NO_INDEX ||
		    weight > page_thread_weight(page, found))
			found = i;
	}
	return found;
}

static void page_thread(struct plimp_text_page *page, uint32_t index)
{
	const plim_profile_thread *thread =
	    plim_profile_thread_at(page->profile, index);
	const plim_profile_process *process =
	    plim_profile_process_at(page->profile, thread->process);

	plimp_page_begin(page, "");
	plimp_page_right(page, (double)thread->times.cpu_ns, PLIM_UNIT_NS, 10);
	plimp_page_right(page, (double)thread->times.waiting_ns, PLIM_UNIT_NS,
			 10);
	plimp_page_right(page, (double)thread->times.blocked_ns, PLIM_UNIT_NS,
			 11);
	plimp_page_format(
	    page, "%9llu%9d  ",
	    (unsigned long long)(thread->samples + thread->blocked_samples),
	    (int)thread->tid);
	plimp_page_text(page, thread->name);
	if (plim_profile_process_count(page->profile) > 1 && process != NULL)
		plimp_page_format(page, " of %d", (int)process->pid);
	if (thread->born_ns != 0)
		plimp_page_string(page, " (new)");
	if (thread->ended_ns != 0)
		plimp_page_string(page, " (ended)");
	plimp_page_end(page);
}

static void page_threads(struct plimp_text_page *page)
{
	const size_t count = plim_profile_thread_count(page->profile);
	const size_t most =
	    page->options.limit > 0 ? page->options.limit : PAGE_THREADS;
	uint32_t index = PLIM_NO_INDEX;

	plimp_page_begin(page, "threads");
	plimp_page_format(page, "%10s%10s%11s%9s%9s  %s", "on a CPU", "waiting",
			  "blocked", "samples", "tid", "name");
	plimp_page_end(page);
	for (size_t i = 0; i < count && i < most; i++) {
		index = page_thread_next(page, index);
		if (index == PLIM_NO_INDEX)
			break;
		page_thread(page, index);
	}
	if (count > most) {
		plimp_page_begin(page, "");
		plimp_page_format(page, "and %zu more", count - most);
		plimp_page_end(page);
	}
}

/* --- what it cost --------------------------------------------------------- */

static void page_quality(struct plimp_text_page *page)
{
	const plim_real fidelity =
	    plim_profile_ratio(page->profile, PLIM_PROFILE_RATIO_FIDELITY);
	const plim_real complete =
	    plim_profile_ratio(page->profile, PLIM_PROFILE_RATIO_COMPLETE);

	plimp_page_begin(page, "kept");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_CAPTURED),
			 PLIM_UNIT_NONE);
	plimp_page_string(page, " of ");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_OFFERED),
			 PLIM_UNIT_NONE);
	plimp_page_string(page, " samples");
	if (fidelity.state == PLIM_STATE_KNOWN) {
		plimp_page_string(page, " (");
		plimp_page_value(page, 100 * fidelity.value, PLIM_UNIT_PERCENT);
		plimp_page_string(page, ")");
	}
	if (complete.state == PLIM_STATE_KNOWN) {
		plimp_page_string(page, "; ");
		plimp_page_value(page, 100 * complete.value, PLIM_UNIT_PERCENT);
		plimp_page_string(page, " of the stacks are whole");
	}
	plimp_page_string(page, "; ");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_FRAMES_UNNAMED),
			 PLIM_UNIT_NONE);
	plimp_page_string(page, " of ");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_FRAMES),
			 PLIM_UNIT_NONE);
	plimp_page_string(page, " places have no name");
	plimp_page_end_prose(page);
}

/* What there was that was not kept, or not whole, and why. */
static void page_causes(struct plimp_text_page *page)
{
	static const struct {
		int metric;
		const char *text;
	} causes[] = {
	    {PLIM_METRIC_UNSEEN, "samples in the kernel"},
	    {PLIM_METRIC_LOST, "samples lost in full rings"},
	    {PLIM_METRIC_TICKS_SKIPPED, "ticks skipped"},
	    {PLIM_METRIC_FAILED_MOVED, "looks at threads that went on"},
	    {PLIM_METRIC_FAILED_DENIED, "looks refused"},
	    {PLIM_METRIC_FAILED_ENDED, "looks at threads that ended"},
	    {PLIM_METRIC_FAILED_UNREADABLE, "looks at what cannot be read"},
	    {PLIM_METRIC_THROTTLED, "times held back by the kernel"},
	    {PLIM_METRIC_STACKS_DEPTH, "stacks deeper than is kept"},
	    {PLIM_METRIC_STACKS_CUT, "stacks larger than the copy"},
	    {PLIM_METRIC_STACKS_NO_RULES, "stacks through code without rules"},
	    {PLIM_METRIC_STACKS_BAD_MEMORY, "stacks through lost memory"},
	    {PLIM_METRIC_STACKS_UNKNOWN_CODE, "stacks out of known code"},
	    {PLIM_METRIC_STACKS_OTHER, "stacks cut for another reason"},
	};
	int told = 0;

	for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
		const uint64_t number = page_known(page, causes[i].metric);

		if (number == 0)
			continue;
		if (told % 3 == 0) {
			if (told > 0)
				plimp_page_end_prose(page);
			plimp_page_begin(page, "");
		} else {
			plimp_page_string(page, ", ");
		}
		plimp_page_format(page, "%llu %s", (unsigned long long)number,
				  causes[i].text);
		told++;
	}
	if (told > 0)
		plimp_page_end_prose(page);
}

static void page_cost(struct plimp_text_page *page)
{
	plimp_page_begin(page, "cost");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_STOPS),
			 PLIM_UNIT_NONE);
	plimp_page_string(page, " stops of the process");
	if (page_known(page, PLIM_METRIC_STOPS) > 0) {
		plimp_page_string(page, " (in all ");
		plimp_page_count(page, page_metric(page, PLIM_METRIC_PAUSE_SUM),
				 PLIM_UNIT_NS);
		plimp_page_string(page, ", the longest ");
		plimp_page_count(page,
				 page_metric(page, PLIM_METRIC_PAUSE_LONGEST),
				 PLIM_UNIT_NS);
		plimp_page_string(page, ")");
	}
	plimp_page_string(page, ", ");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_SIGNALS),
			 PLIM_UNIT_NONE);
	plimp_page_string(page, " signals, ");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_CALLS_DISTURBED),
			 PLIM_UNIT_NONE);
	plimp_page_string(page, " system calls disturbed");
	plimp_page_end_prose(page);
	plimp_page_begin(page, "");
	plimp_page_string(page, "ours: ");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_SAMPLER_CPU),
			 PLIM_UNIT_NS);
	plimp_page_string(page, " of CPU time to sample, ");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_BYTES_COPIED),
			 PLIM_UNIT_BYTES);
	plimp_page_string(page, " of stacks copied, ");
	plimp_page_count(page, page_metric(page, PLIM_METRIC_SAMPLER_MEMORY),
			 PLIM_UNIT_BYTES);
	plimp_page_string(page, " of memory");
	plimp_page_end_prose(page);
}

/* --- all ------------------------------------------------------------------ */

static int page_make(struct plimp_text_page *page, int whole, plim_error *error)
{
	int code = PLIM_OK;

	page_head(page);
	if (whole) {
		code = page_functions(page, error);
		if (code == PLIM_OK)
			code = plimp_page_stacks(page, error);
		page_threads(page);
		page_quality(page);
		page_causes(page);
		page_cost(page);
	}
	return code;
}

static int page_write(const plim_profile *profile,
		      const plim_profile_export *how, int whole,
		      plim_write_fn *write, void *user, plim_error *error)
{
	struct plimp_text_page page;
	int code;
	int flushed;

	assert(profile != NULL && write != NULL);
	page.profile = profile;
	code = plimp_export_read(how, &page.options, "text", error);
	if (code != PLIM_OK)
		return code;
	plimp_sink_init(&page.sink, write, user);
	plimp_buffer_init(&page.line, page.options.allocator);
	code = page_make(&page, whole, error);
	flushed = plimp_sink_flush(&page.sink);
	if (code == PLIM_OK) {
		code = page.line.failed != PLIM_OK ? page.line.failed : flushed;
		plimp_export_end(code, page.sink.system, "text", error);
	}
	plimp_buffer_release(&page.line);
	return code;
}

int plim_text_profile(const plim_profile *profile,
		      const plim_profile_export *how, plim_write_fn *write,
		      void *user, plim_error *error)
{
	return page_write(profile, how, 1, write, user, error);
}

int plim_text_profile_head(const plim_profile *profile,
			   const plim_profile_export *how, plim_write_fn *write,
			   void *user, plim_error *error)
{
	return page_write(profile, how, 0, write, user, error);
}
