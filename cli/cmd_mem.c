/*
 * cmd_mem.c - plim mem: what a process still holds, whether it is live, and
 * what would return it.
 *
 * Without a duration it is one sample and one walk of the allocators. With
 * one, samples are taken at equal steps, and the allocators are walked where
 * the window begins and where it ends, so that what grew can be told; one that
 * ends meanwhile is reported as it was last seen alive. A core file has no
 * samples: its allocators alone are told.
 */
#include "mem.h"
#include "term.h"

#include <stdlib.h>
#include <string.h>

#define MEM_EVERY_NS	500000000u
#define MEM_AGAIN_NS	1000000000u /* who interrupts waits no longer */
#define MEM_PROGRESS_NS 200000000u

static plim_memory_options mem_options(const struct mem_view *view)
{
	return (plim_memory_options){
	    .size = sizeof(plim_memory_options),
	    .force = view->options->force != 0,
	    .stall_ns = view->options->stall_ns,
	};
}

static uint64_t mem_now(const struct mem_view *view)
{
	return plim_host_now(view->host).monotonic.ns;
}

static int mem_has_ended(const struct mem_view *view)
{
	return plim_memory_ended(view->memory).how != PLIM_MEMORY_END_ALIVE;
}

/* The end of the process is no failure once there is a sample. */
static int mem_sample(struct mem_view *view, plim_error *error)
{
	const plim_memory_options options = mem_options(view);
	int code =
	    plim_memory_sample(view->memory, view->target, &options, error);

	return code != PLIM_OK && mem_has_ended(view) ? PLIM_OK : code;
}

/* Why a walk failed is told beside the figures: those are there. */
static void mem_walk(struct mem_view *view)
{
	const plim_heaps_options options = {.size = sizeof options,
					    .hostages = MEM_ROWS};
	plim_heaps *last = view->heaps;

	if (view->options->no_walk || mem_has_ended(view))
		return;
	if (view->walked) {
		view->heaps = view->before;
		view->before = last;
	}
	view->walk_failed = plim_heaps_walk(view->heaps, view->target, &options,
					    &view->walk_error) != PLIM_OK;
	if (view->walk_failed && view->walked) {
		view->before = view->heaps;
		view->heaps = last;
		return;
	}
	if (view->walk_failed)
		return;
	view->walked_before = view->walked;
	view->walked = 1;
	view->walk_sample = plim_memory_samples(view->memory) - 1;
}

/* --- progress ------------------------------------------------------------- */

static int mem_progress_wanted(void)
{
	const char *terminal = term_setting("TERM");

	return term_is(TERM_ERROR) &&
	       (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

static void mem_progress(const struct mem_view *view, uint64_t spent)
{
	const struct options *options = view->options;

	fprintf(
	    stderr, "\r\033[K%s of %s: anonymous %s, resident %s",
	    show_count(options, plim_count_known(spent, PLIM_METHOD_SYSTEM),
		       PLIM_UNIT_NS),
	    show_count(options,
		       plim_count_known(options->for_ns, PLIM_METHOD_SYSTEM),
		       PLIM_UNIT_NS),
	    show_count(options,
		       plim_memory_last(view->memory, PLIM_MEMORY_ANONYMOUS),
		       PLIM_UNIT_BYTES),
	    show_count(options,
		       plim_memory_last(view->memory, PLIM_MEMORY_RESIDENT),
		       PLIM_UNIT_BYTES));
	fflush(stderr);
}

static void mem_progress_clear(void)
{
	fputs("\r\033[K", stderr);
	fflush(stderr);
}

/* --- the window ----------------------------------------------------------- */

/* Samples at equal steps from `begin`; a step that was missed is left out, and
 * the last sample is where the window ends. */
static int mem_window(struct mem_view *view, uint64_t begin, plim_error *error)
{
	const struct options *options = view->options;
	const uint64_t every =
	    options->every_given ? options->every_ns : MEM_EVERY_NS;
	const int progress = mem_progress_wanted();
	int descriptor = plim_target_poll_descriptor(view->target);
	uint64_t spent = mem_now(view) - begin;
	uint64_t shown = 0;
	int code = PLIM_OK;

	while (code == PLIM_OK && spent < options->for_ns && !interrupted &&
	       !mem_has_ended(view)) {
		uint64_t next = (spent / every + 1) * every;
		int woken;

		if (next > options->for_ns)
			next = options->for_ns;
		woken = interrupt_sleep(next - spent, descriptor);
		if (woken == 1)
			break;
		if (woken == 2)
			descriptor = -1; /* it says so for ever */
		code = mem_sample(view, error);
		spent = mem_now(view) - begin;
		if (progress && spent - shown >= MEM_PROGRESS_NS) {
			mem_progress(view, spent);
			shown = spent;
		}
	}
	if (shown > 0)
		mem_progress_clear();
	return code;
}

/* A second walk, unless somebody waits for us to end and it would take long. */
static void mem_walk_again(struct mem_view *view)
{
	plim_count took = plim_heaps_about(view->heaps).wall_ns;

	if (interrupted && (!view->walked || took.state != PLIM_STATE_KNOWN ||
			    took.value > MEM_AGAIN_NS))
		return;
	mem_walk(view);
}

static void mem_tree(struct mem_view *view)
{
	static const int wanted[] = {
	    PLIM_FIELD_PID,	     PLIM_FIELD_NAME, PLIM_FIELD_ANONYMOUS,
	    PLIM_FIELD_RESIDENT,     PLIM_FIELD_SWAP, PLIM_FIELD_PSS,
	    PLIM_FIELD_PRIVATE_DIRTY};
	plim_field_set fields = {{0}};
	plim_tree_options take = {.size = sizeof take, .fields = &fields};
	size_t i;

	if (!view->options->tree || mem_has_ended(view))
		return;
	for (i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		plim_field_set_add(&fields, wanted[i]);
	view->tree_failed = plim_tree_new(&view->tree, view->host,
					  &view->tree_error) != PLIM_OK ||
			    plim_tree_usage(view->tree, view->target, &take,
					    &view->tree_error) != PLIM_OK;
}

plim_count mem_beside(const struct mem_view *view, int figure)
{
	return plim_memory_at(view->memory, view->walk_sample, figure);
}

/* The walk, and the sample that was taken before it. */
static void mem_judge(struct mem_view *view)
{
	plim_retention_memory memory = {.size = sizeof memory};

	memory.resident = mem_beside(view, PLIM_MEMORY_RESIDENT);
	memory.anonymous = mem_beside(view, PLIM_MEMORY_ANONYMOUS);
	memory.file = mem_beside(view, PLIM_MEMORY_FILE);
	memory.shmem = mem_beside(view, PLIM_MEMORY_SHMEM);
	memory.swap = mem_beside(view, PLIM_MEMORY_SWAP);
	memory.lazy_free = mem_beside(view, PLIM_MEMORY_LAZY_FREE);
	plim_retention_find(view->walked ? view->heaps : NULL,
			    view->target != NULL ? &memory : NULL,
			    &view->retention);
}

plim_field_set mem_fields(void)
{
	static const int fields[] = {
	    PLIM_FIELD_PID,	      PLIM_FIELD_NAME,
	    PLIM_FIELD_STATE,	      PLIM_FIELD_IDENTITY,
	    PLIM_FIELD_UID,	      PLIM_FIELD_START_TICKS,
	    PLIM_FIELD_START_UNIX_MS, PLIM_FIELD_THREADS,
	};
	plim_field_set set = {{0}};
	size_t i;

	for (i = 0; i < sizeof fields / sizeof fields[0]; i++)
		plim_field_set_add(&set, fields[i]);
	return set;
}

static int mem_measure(struct mem_view *view, plim_error *error)
{
	const plim_field_set who = mem_fields();
	uint64_t begin;
	int code = plim_usage_refresh(view->usage, view->target, &who, error);

	begin = mem_now(view);
	if (code == PLIM_OK)
		code = mem_sample(view, error);
	if (code != PLIM_OK)
		return code;
	mem_walk(view);
	if (view->options->for_given) {
		code = mem_window(view, begin, error);
		if (code == PLIM_OK)
			mem_walk_again(view);
	}
	if (code == PLIM_OK)
		mem_tree(view);
	if (!view->walked && plim_memory_samples(view->memory) > 0)
		view->walk_sample = plim_memory_samples(view->memory) - 1;
	return code;
}

/* --- the command ---------------------------------------------------------- */

/* What cannot be meant together. */
static int mem_check(const struct options *options)
{
	if (options->core == NULL && options->operand_count == 0)
		return fail_usage("usage: plim %s", command_given()->usage);
	if (options->core != NULL && options->operand_count > 0)
		return fail_usage(
		    "mem takes a process or a core file, not both");
	if (options->core != NULL && options->for_given)
		return fail_usage("mem: a core file stands still; --for is of "
				  "a process");
	if (options->core != NULL && options->format == FORMAT_CSV)
		return fail_usage("mem: --csv is the timeline, and a core "
				  "file has none");
	if (options->core != NULL && (options->tree || options->no_walk))
		return fail_usage("mem: of a core file the allocators alone "
				  "are told: no --tree, no --no-walk");
	return sheet_check(options->page);
}

static int mem_open(struct mem_view *view, plim_error *error)
{
	const struct options *options = view->options;
	int code = PLIM_OK;

	if (options->core == NULL)
		code = target_resolve(view->host, options->operands[0],
				      &view->target, error);
	if (code == PLIM_OK)
		code = plim_usage_new(&view->usage, view->host, error);
	if (code == PLIM_OK)
		code = plim_memory_new(&view->memory, view->host, error);
	if (code == PLIM_OK)
		code = plim_heaps_new(&view->heaps, view->host, error);
	if (code == PLIM_OK)
		code = plim_heaps_new(&view->before, view->host, error);
	return code;
}

static int mem_core(struct mem_view *view, plim_error *error)
{
	const plim_heaps_options options = {.size = sizeof options,
					    .hostages = MEM_ROWS};
	int code = plim_heaps_walk_core(view->heaps, view->options->core,
					&options, error);

	view->walked = code == PLIM_OK;
	return code;
}

static int mem_print(const struct mem_view *view)
{
	struct telling telling = {.options = view->options};

	switch (view->options->format) {
	case FORMAT_JSON:
		return mem_json(view);
	case FORMAT_CSV:
		plim_csv_memory(view->memory, output_write, &standard_output);
		return EXIT_DONE;
	default:
		mem_tell(&telling, view);
		return telling.failed ? fail_memory() : EXIT_DONE;
	}
}

static int mem_run(struct mem_view *view)
{
	const struct options *options = view->options;
	plim_error error;
	int status;

	if (mem_open(view, &error) != PLIM_OK ||
	    (options->core != NULL ? mem_core(view, &error)
				   : mem_measure(view, &error)) != PLIM_OK)
		return fail_with(options, &error);
	mem_judge(view);
	status = mem_print(view);
	if (status == EXIT_DONE && options->page != NULL)
		status = mem_sheet(view, options->page);
	return interrupted && status == EXIT_DONE ? EXIT_INTERRUPTED : status;
}

int cmd_mem(const struct options *options)
{
	struct mem_view view = {.options = options};
	plim_error error;
	int status = mem_check(options);

	if (status != EXIT_DONE)
		return status;
	if (host_open(options, &view.host, &error) != PLIM_OK)
		return fail_with(options, &error);
	status = mem_run(&view);
	plim_tree_free(view.tree);
	plim_heaps_free(view.before);
	plim_heaps_free(view.heaps);
	plim_memory_free(view.memory);
	plim_usage_free(view.usage);
	plim_target_close(view.target);
	plim_host_close(view.host);
	return status;
}
