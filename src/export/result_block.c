/*
 * result_block.c - the RESULT lines that stand together: those of a quiet
 * window, and those of its threads. Keys, order and decimals are an interface
 * (plim_result(3)); a new key is appended.
 *
 * The figures come as plain numbers, so that everything that is printed can be
 * tested without a process. What was measured and what the user stated are two
 * things and come apart.
 */
#include "core/text.h"
#include "export/results.h"

#include <plimsoll/fields.h>

#include <assert.h>
#include <string.h>

/* A resident size of zero is what a host answers that does not know. */
static void block_resident(struct plimp_sink *sink, const char *key,
			   plim_count count)
{
	if (count.state == PLIM_STATE_KNOWN && count.value == 0)
		plimp_results_missing(sink, key, PLIMP_RESULT_ZERO);
	else
		plimp_results_count(sink, key, count, "bytes");
}

/*
 * The larger of warm and idle. plim_count_max() would make the one that is
 * known a lower bound of the two, but a line has no place for a bound, and a
 * ceiling must not be held by half of what it is for.
 */
static plim_count block_larger(plim_count warm, plim_count idle)
{
	if (warm.state != PLIM_STATE_KNOWN)
		return warm;
	if (idle.state != PLIM_STATE_KNOWN)
		return idle;
	return plim_count_max(warm, idle);
}

static double block_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void block_window(struct plimp_sink *sink, uint64_t window_ns)
{
	static const char key[] = "idle_window_seconds";

	if (window_ns == 0)
		plimp_results_missing(sink, key, PLIMP_RESULT_NOT_MEASURED);
	else
		plimp_results_real(sink, key,
				   plim_real_known(block_seconds(window_ns),
						   PLIM_METHOD_SYSTEM),
				   1, "seconds");
}

/* Blocks in place of operations, where the user asked for them. */
static plim_real block_ops(const plim_result_figures *figures,
			   const plim_result_load *load)
{
	return load->blocks_as_ops ? figures->disk_blocks : figures->disk_ops;
}

static void block_scale(struct plimp_sink *sink, const plim_result_load *load)
{
	if (load->scale_unit == NULL) {
		plimp_results_missing(sink, "scale", PLIMP_RESULT_NOT_STATED);
		return;
	}
	plimp_results_key(sink, "scale");
	plimp_sink_whole(sink, load->scale_count);
	if (load->statement != NULL && load->statement[0] != '\0') {
		plimp_sink_put(sink, " ", 1);
		plimp_results_free(sink, (plim_bytes){load->statement,
						      strlen(load->statement)});
	}
	plimp_sink_put(sink, "\n", 1);
}

static void block_scope(struct plimp_sink *sink, const plim_result_load *load)
{
	if (load->scope == NULL)
		plimp_results_missing(sink, "scope", PLIMP_RESULT_NOT_STATED);
	else
		plimp_results_text(
		    sink, "scope",
		    (plim_bytes){load->scope, strlen(load->scope)});
}

/* WORD:METHOD, and :BOUND behind it where the figure is not exact. */
static void block_method(char **at, const char *word, int state, int method,
			 int bound)
{
	const char *parts[] = {word, ":", plim_method_word(method),
			       bound != PLIM_BOUND_EXACT ? ":" : "",
			       plim_bound_word(bound)};

	if (state != PLIM_STATE_KNOWN || parts[2] == NULL)
		parts[2] = plim_method_word(PLIM_METHOD_NONE);
	if (state != PLIM_STATE_KNOWN)
		parts[3] = parts[4] = "";
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t size = strlen(parts[i]);

		memcpy(*at, parts[i], size);
		*at += size;
	}
	**at = '\0';
}

/* Four words, methods and bounds of at most 32 bytes each. */
#define BLOCK_METHODS 512

static void block_methods(const plim_result_figures *figures,
			  const plim_result_load *load,
			  char methods[BLOCK_METHODS])
{
	plim_count resident =
	    block_larger(figures->warm_resident, figures->idle_resident);
	plim_real ops = block_ops(figures, load);
	char *at = methods;

	block_method(&at, "resident", resident.state, resident.method,
		     resident.bound);
	block_method(&at, ",idle_cpu", figures->cpu_percent.state,
		     figures->cpu_percent.method, figures->cpu_percent.bound);
	block_method(&at, ",wakeups", figures->wakeups.state,
		     figures->wakeups.method, figures->wakeups.bound);
	/* The switch is named whether or not there is a figure. */
	block_method(
	    &at, load->blocks_as_ops ? ",disk_ops:disk_blocks" : ",disk_ops",
	    ops.state, ops.method, ops.bound);
	assert(at < methods + BLOCK_METHODS);
}

static plim_real block_window_real(uint64_t window_ns)
{
	if (window_ns == 0)
		return plim_real_missing(PLIM_REASON_NONE, 0);
	return plim_real_known(block_seconds(window_ns), PLIM_METHOD_SYSTEM);
}

static void block_resident_pair(plim_result_line *line,
				const plim_result_figures *figures)
{
	plim_count resident =
	    block_larger(figures->warm_resident, figures->idle_resident);

	if (resident.state == PLIM_STATE_KNOWN && resident.value == 0)
		resident.state = PLIM_STATE_UNREAD;
	plim_result_add_count(line, "resident_bytes", resident);
}

static void block_scale_pairs(plim_result_line *line,
			      const plim_result_load *load)
{
	plim_result_add_word(line, "scale_unit", load->scale_unit);
	if (load->scale_unit == NULL)
		plim_result_add_word(line, "scale_count", NULL);
	else
		plim_result_add_whole(line, "scale_count", load->scale_count);
}

/* The verdict `unavailable` stands bare, like a figure that is. */
static void block_verdict(plim_result_line *line, const char *verdict)
{
	if (verdict == NULL)
		verdict = "not_judged";
	plim_result_add_word(
	    line, "verdict",
	    strcmp(verdict, PLIMP_RESULT_MISSING) != 0 ? verdict : NULL);
}

int plim_result_budget(const plim_result_figures *figures,
		       const plim_result_load *load, plim_write_fn *write,
		       void *user)
{
	char methods[BLOCK_METHODS];
	plim_result_line line;

	assert(figures->size >= sizeof(*figures) &&
	       load->size >= sizeof(*load));
	plim_result_begin(&line, "budget", write, user);
	plim_result_add_word(&line, "crate", load->crate);
	plim_result_add_word(&line, "version", load->version);
	block_resident_pair(&line, figures);
	plim_result_add_real(&line, "idle_cpu_percent", figures->cpu_percent,
			     3);
	plim_result_add_real(&line, "wakeups_per_s", figures->wakeups, 3);
	plim_result_add_real(&line, "disk_ops_per_s", block_ops(figures, load),
			     3);
	block_scale_pairs(&line, load);
	/* What follows was appended and is append-only too. */
	block_methods(figures, load, methods);
	plim_result_add_word(&line, "method", methods);
	plim_result_add_real(&line, "window",
			     block_window_real(figures->window_ns), 1);
	plim_result_add_whole(&line, "samples", figures->samples);
	block_verdict(&line, load->verdict);
	plim_result_add_real(&line, "disk_blocks_per_s", figures->disk_blocks,
			     3);
	plim_result_add_real(&line, "io_calls_per_s", figures->io_calls, 3);
	return plim_result_end(&line);
}

int plim_result_observation(const plim_result_figures *figures,
			    const plim_result_load *load, plim_write_fn *write,
			    void *user)
{
	static const char rate[] = "per_second";
	static const char bytes_rate[] = "bytes_per_second";
	struct plimp_sink sink;
	int code;

	assert(figures->size >= sizeof(*figures) &&
	       load->size >= sizeof(*load));
	plimp_sink_init(&sink, write, user);
	block_resident(&sink, "warm_resident_bytes", figures->warm_resident);
	block_resident(&sink, "idle_resident_bytes", figures->idle_resident);
	block_resident(
	    &sink, "resident_memory_bytes",
	    block_larger(figures->warm_resident, figures->idle_resident));
	plimp_results_count(
	    &sink, "footprint_bytes",
	    block_larger(figures->warm_footprint, figures->idle_footprint),
	    "bytes");
	block_window(&sink, figures->window_ns);
	plimp_results_real(&sink, "idle_cpu_percent", figures->cpu_percent, 3,
			   "percent");
	plimp_results_real(&sink, "wakeups_per_second", figures->wakeups, 3,
			   rate);
	plimp_results_real(&sink, "disk_ops_per_second",
			   block_ops(figures, load), 3, rate);
	plimp_results_real(&sink, "disk_read_bytes_per_second",
			   figures->disk_read, 3, bytes_rate);
	plimp_results_real(&sink, "disk_write_bytes_per_second",
			   figures->disk_write, 3, bytes_rate);
	block_scale(&sink, load);
	block_scope(&sink, load);
	code = plimp_sink_flush(&sink);
	if (code != PLIM_OK)
		return code;
	return plim_result_budget(figures, load, write, user);
}

int plim_result_thread_summary(const plim_result_threads_summary *summary,
			       plim_write_fn *write, void *user)
{
	plim_result_line line;

	assert(summary->size >= sizeof(*summary));
	plim_result_begin(&line, "thread_wakeups_summary", write, user);
	plim_result_add_whole(&line, "threads", summary->threads);
	plim_result_add_whole(&line, "born", summary->born);
	plim_result_add_whole(&line, "exited", summary->exited);
	plim_result_add_count(&line, "listed_wakeups", summary->listed_wakeups);
	plim_result_add_count(&line, "exited_wakeups_at_start",
			      summary->exited_wakeups_at_start);
	plim_result_add_real(&line, "window_seconds",
			     block_window_real(summary->window_ns), 1);
	return plim_result_end(&line);
}

static void block_thread_process(plim_result_line *line,
				 const plim_result_thread_row *thread)
{
	plim_real waited_ms = plim_real_of(thread->runqueue_ns);

	waited_ms.value /= 1e6;
	plim_result_add_whole(line, "pid", (uint64_t)thread->pid);
	plim_result_add_name(line, "process", thread->process);
	plim_result_add_real(line, "waited_ms", waited_ms, 1);
	plim_result_add_name(line, "blocked_in", thread->blocked_in);
}

int plim_result_thread(const plim_result_thread_row *thread,
		       plim_write_fn *write, void *user)
{
	plim_real cpu_ms = plim_real_of(thread->cpu_ns);
	plim_result_line line;

	assert(thread->size >= sizeof(*thread));
	cpu_ms.value /= 1e6;
	plim_result_begin(&line, "thread_wakeups", write, user);
	plim_result_add_whole(&line, "rank", thread->rank);
	plim_result_add_whole(&line, "tid",
			      thread->tid > 0 ? (uint64_t)thread->tid : 0);
	plim_result_add_count(&line, "wakeups", thread->wakeups);
	plim_result_add_real(
	    &line, "per_second",
	    plim_change_rate(thread->wakeups, thread->window_ns), 3);
	plim_result_add_real(&line, "cpu_ms", cpu_ms, 1);
	plim_result_add_whole(&line, "born", thread->born != 0);
	plim_result_add_hex(&line, "start", thread->start_address);
	plim_result_add_name(&line, "name", thread->name);
	if (thread->pid > 0)
		block_thread_process(&line, thread);
	return plim_result_end(&line);
}
