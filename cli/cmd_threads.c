/*
 * cmd_threads.c - plim threads PID: the threads of a process, once, over a
 * while or in rounds: who wakes, who computes, and what each blocks in.
 *
 * Over a while the last sample is taken again and again, so that a target
 * that ends leaves what its threads did until shortly before.
 */
#include "threads_page.h"

#include <string.h>

static int threads_take(struct threads_view *view, int extend,
			plim_error *error)
{
	const plim_threads_options take = {.size = sizeof take,
					   .fields = &view->fields};
	int code = extend ? plim_threads_extend(view->threads, view->target,
						&take, error)
			  : plim_threads_sample(view->threads, view->target,
						&take, error);

	if (plim_threads_last(view->threads) != NULL &&
	    (code == PLIM_ENOPROCESS || code == PLIM_EREPLACED)) {
		view->ended = 1;
		return PLIM_OK;
	}
	return code;
}

/* Waits for so long; at each step, and at the end, the last sample is taken
 * anew. A zombie is no sample: its threads have ended already. */
static int threads_observe(struct threads_view *view, uint64_t ns,
			   plim_error *error)
{
	const int descriptor = plim_target_poll_descriptor(view->target);
	const uint64_t begin = plim_host_now(view->host).monotonic.ns;
	uint64_t spent = 0;
	int code = PLIM_OK;

	while (code == PLIM_OK && spent < ns && !view->ended && !interrupted) {
		uint64_t rest = ns - spent;
		uint64_t step = view->options->every_ns;

		if (interrupt_sleep(rest < step ? rest : step, descriptor) ==
		    2) {
			view->ended = 1;
			break;
		}
		code = threads_take(view, 1, error);
		spent = plim_host_now(view->host).monotonic.ns - begin;
	}
	return code;
}

/* The same between two rounds, each of which begins where the last ended. */
static int threads_next(struct threads_view *view, plim_error *error)
{
	const int descriptor = plim_target_poll_descriptor(view->target);

	if (interrupt_sleep(view->options->every_ns, descriptor) == 2) {
		view->ended = 1;
		return PLIM_OK;
	}
	return threads_take(view, 0, error);
}

static int threads_rounds(struct threads_view *view, plim_error *error)
{
	const struct options *options = view->options;
	uint64_t end = UINT64_MAX;
	int status = EXIT_DONE;

	if (options->for_given)
		end = plim_host_now(view->host).monotonic.ns + options->for_ns;
	do {
		if (threads_next(view, error) != PLIM_OK)
			return fail_with(options, error);
		if (options->format == FORMAT_TABLE)
			output_clear_screen(options);
		status = threads_view_output(view);
		view->round++;
	} while (!interrupted && !view->ended && status == EXIT_DONE &&
		 output_flush() == 0 &&
		 (options->rounds == 0 || view->round < options->rounds) &&
		 plim_host_now(view->host).monotonic.ns < end);
	return status;
}

static int threads_run(struct threads_view *view)
{
	const struct options *options = view->options;
	plim_error error;
	int status;

	if (threads_take(view, 0, &error) != PLIM_OK)
		return fail_with(options, &error);
	if (options->watch) {
		status = threads_rounds(view, &error);
	} else {
		if (options->for_given &&
		    threads_observe(view, options->for_ns, &error) != PLIM_OK)
			return fail_with(options, &error);
		status = threads_view_output(view);
	}
	return interrupted && status == EXIT_DONE ? EXIT_INTERRUPTED : status;
}

static plim_field_set threads_fields(void)
{
	static const int fields[] = {
	    PLIM_FIELD_PID,	    PLIM_FIELD_NAME,
	    PLIM_FIELD_STATE,	    PLIM_FIELD_IDENTITY,
	    PLIM_FIELD_START_TICKS, PLIM_FIELD_START_UNIX_MS,
	    PLIM_FIELD_CPU,	    PLIM_FIELD_WAKEUPS,
	    PLIM_FIELD_INVOLUNTARY, PLIM_FIELD_THREADS,
	};
	plim_field_set set = {{0}};
	size_t i;

	for (i = 0; i < sizeof fields / sizeof fields[0]; i++)
		plim_field_set_add(&set, fields[i]);
	return set;
}

int cmd_threads(const struct options *options)
{
	struct threads_view view = {.options = options,
				    .fields = threads_fields()};
	plim_error error;
	int status;

	if (host_open(options, &view.host, &error) != PLIM_OK)
		return fail_with(options, &error);
	if (target_resolve(view.host, options->operands[0], &view.target,
			   &error) != PLIM_OK ||
	    plim_threads_new(&view.threads, view.host, &error) != PLIM_OK)
		status = fail_with(options, &error);
	else
		status = threads_run(&view);
	plim_threads_free(view.threads);
	plim_target_close(view.target);
	plim_host_close(view.host);
	return status;
}
