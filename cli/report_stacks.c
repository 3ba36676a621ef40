/*
 * report_stacks.c - the report's answer to where the time goes: while its
 * window is observed, a thread of ours samples the process and its
 * descendants, without stopping them (plim_profile without ptrace). Of each
 * thread that wakes there is then the stack that it sleeps in.
 *
 * A command is sampled from its start on, so that one which ends before it is
 * quiet has its stacks, too; of one that became quiet the window alone counts.
 *
 * The sampling thread has a host of its own, since a host is used by one
 * thread at a time; it blocks all signals, which are the main thread's.
 */
#include "report.h"
#include "worker.h"

#include <stdlib.h>
#include <string.h>

#define STACKS_ITEMS 256 /* of a deeper stack all is told */

struct report_sampling {
	struct worker *worker; /* to be joined, or NULL */
	plim_host *host;
	plim_target *target;
};

/* Where a thread was blocked longest. */
struct report_sleep {
	int32_t pid;
	int32_t tid;
	const plim_fold_row *row;
};

/* --- measuring ------------------------------------------------------------ */

static void stacks_run(void *user)
{
	struct report_stacks *stacks = user;

	stacks->code = plim_profile_run(stacks->profile, &stacks->error);
}

static int stacks_open(struct report *report, struct report_stacks *stacks,
		       uint64_t ns)
{
	const plim_profile_request request = {
	    .size = sizeof request,
	    .flags = PLIM_PROFILE_TREE,
	    .duration_ns = ns,
	    .duration_ceiling_ns =
		ns > PLIM_PROFILE_DEFAULT_CEILING_NS ? ns : 0,
	};
	const plim_process *last = plim_usage_process(report->last);
	const plim_identity identity = plim_process_identity(last);
	int code =
	    host_open(report->options, &stacks->sampling->host, &stacks->error);

	if (code == PLIM_OK)
		code = plim_target_open_identity(&stacks->sampling->target,
						 stacks->sampling->host,
						 &identity, &stacks->error);
	if (code == PLIM_OK)
		code = plim_profile_open(&stacks->profile,
					 stacks->sampling->target, &request,
					 &stacks->error);
	return code;
}

/* Nothing of a recording is sampled, and of another proc root no threads. */
void report_stacks_begin(struct report *report, uint64_t ns)
{
	struct report_stacks *stacks;
	int number;

	if (report->stacks != NULL ||
	    plim_host_count(report->host, PLIM_HOST_IS_LIVE).value != 1)
		return;
	stacks = calloc(1, sizeof *stacks);
	if (stacks == NULL)
		return;
	stacks->sampling = calloc(1, sizeof *stacks->sampling);
	if (stacks->sampling == NULL) {
		free(stacks);
		return;
	}
	report->stacks = stacks;
	stacks->code = stacks_open(report, stacks, ns);
	if (stacks->code != PLIM_OK)
		return;
	number = worker_start(&stacks->sampling->worker, stacks_run, stacks);
	if (number == 0)
		return;
	stacks->code = PLIM_ESYSTEM;
	stacks->error.code = PLIM_ESYSTEM;
	stacks->error.system = number;
	snprintf(stacks->error.operation, sizeof stacks->error.operation,
		 "start thread");
}

static plim_fold *stacks_fold(const struct report_stacks *stacks, int view,
			      uint32_t flags)
{
	const plim_fold_options options = {
	    .size = sizeof options, .view = view, .flags = flags};
	plim_fold *fold = NULL;

	plim_profile_fold(stacks->profile, &options, &fold, NULL);
	return fold;
}

/* The window is over. */
void report_stacks_end(struct report *report)
{
	struct report_stacks *stacks = report->stacks;

	if (stacks == NULL || stacks->sampling->worker == NULL)
		return;
	plim_profile_stop(stacks->profile);
	worker_join(stacks->sampling->worker);
	stacks->sampling->worker = NULL;
	stacks->sampled = stacks->code == PLIM_OK;
}

static int stacks_order(const void *left, const void *right)
{
	const struct report_sleep *a = left;
	const struct report_sleep *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* A row that is nothing but time without a stack is none to be told of. */
int report_stacks_is_stack(const struct report_stacks *stacks,
			   const plim_fold_row *row)
{
	const plim_profile_function *function;

	if (row->item_count != 1)
		return row->item_count > 1;
	function = plim_profile_function_at(stacks->profile, row->items[0]);
	return function == NULL || function->special == 0;
}

/* Rows come heaviest first, so the first of a thread is where it was blocked
 * longest. */
static int stacks_sleeps(struct report_stacks *stacks)
{
	const size_t threads = plim_profile_thread_count(stacks->profile);
	const size_t rows = plim_fold_row_count(stacks->off);
	size_t i;

	stacks->sleeps =
	    calloc(threads > 0 ? threads : 1, sizeof *stacks->sleeps);
	if (stacks->sleeps == NULL)
		return -1;
	stacks->sleep_count = threads;
	for (i = 0; i < rows; i++) {
		const plim_fold_row *row = plim_fold_row_at(stacks->off, i);

		if (row->thread < threads && row->samples > 0 &&
		    row->activity == PLIM_ACTIVITY_BLOCKED &&
		    stacks->sleeps[row->thread].row == NULL &&
		    report_stacks_is_stack(stacks, row))
			stacks->sleeps[row->thread].row = row;
	}
	for (i = 0; i < threads; i++) {
		const plim_profile_thread *thread =
		    plim_profile_thread_at(stacks->profile, i);

		stacks->sleeps[i].tid = thread->tid;
		stacks->sleeps[i].pid =
		    plim_profile_process_at(stacks->profile, thread->process)
			->pid;
	}
	qsort(stacks->sleeps, threads, sizeof *stacks->sleeps, stacks_order);
	return 0;
}

/* Once nothing waits for it any more, names are looked up. */
void report_stacks_resolve(struct report *report)
{
	struct report_stacks *stacks = report->stacks;

	if (stacks == NULL || !stacks->sampled)
		return;
	plim_profile_resolve(stacks->profile, NULL);
	stacks->cpu = stacks_fold(stacks, PLIM_VIEW_CPU, PLIM_FOLD_INLINES);
	stacks->off = stacks_fold(stacks, PLIM_VIEW_OFF,
				  PLIM_FOLD_INLINES | PLIM_FOLD_THREADS |
				      PLIM_FOLD_ACTIVITIES);
	stacks->resolved = stacks->cpu != NULL && stacks->off != NULL &&
			   stacks_sleeps(stacks) == 0;
}

void report_stacks_release(struct report *report)
{
	struct report_stacks *stacks = report->stacks;

	if (stacks == NULL)
		return;
	report_stacks_end(report);
	plim_fold_free(stacks->cpu);
	plim_fold_free(stacks->off);
	plim_profile_free(stacks->profile);
	plim_target_close(stacks->sampling->target);
	plim_host_close(stacks->sampling->host);
	free(stacks->sampling);
	free(stacks->sleeps);
	free(stacks);
	report->stacks = NULL;
}

/* --- what there is -------------------------------------------------------- */

int report_stacks_are_there(const struct report *report)
{
	return report->stacks != NULL && report->stacks->resolved;
}

const plim_fold_row *report_stacks_sleep(const struct report *report,
					 int32_t pid, int32_t tid)
{
	const struct report_stacks *stacks = report->stacks;
	const struct report_sleep key = {.pid = pid, .tid = tid};
	const struct report_sleep *found;
	const struct report_sleep *end;

	if (!report_stacks_are_there(report))
		return NULL;
	end = stacks->sleeps + stacks->sleep_count;
	found = bsearch(&key, stacks->sleeps, stacks->sleep_count, sizeof key,
			stacks_order);
	if (found == NULL)
		return NULL;
	/* A number may have been used again: any of them that has a stack. */
	while (found > stacks->sleeps && stacks_order(found - 1, &key) == 0)
		found--;
	while (found->row == NULL && found + 1 < end &&
	       stacks_order(found + 1, &key) == 0)
		found++;
	return found->row;
}

/* What the C library begins a thread with is the same in every program. */
static int stacks_is_beginning(plim_bytes name)
{
	static const char *const names[] = {"clone3", "clone", "__clone",
					    "__clone3", "start_thread"};
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		if (name.size == strlen(names[i]) &&
		    memcmp(name.data, names[i], name.size) == 0)
			return 1;
	return 0;
}

/* A frame that is but a place in a file: "libx.so.1+0x1234". */
static int stacks_is_unnamed(const struct report_stacks *stacks, uint32_t item)
{
	const plim_profile_function *function =
	    plim_profile_function_at(stacks->profile, item);
	size_t i;

	if (function == NULL || function->special != 0 ||
	    function->linkage.size > 0)
		return 0;
	for (i = 0; i + 3 <= function->name.size; i++)
		if (memcmp(function->name.data + i, "+0x", 3) == 0)
			return 1;
	return 0;
}

void report_stacks_text(const struct report *report, const plim_fold *fold,
			const plim_fold_row *row, int how, size_t functions,
			size_t columns, char *text, size_t size)
{
	uint32_t items[STACKS_ITEMS];
	plim_fold_row told = *row;
	size_t i;

	while (told.item_count > 1 &&
	       stacks_is_beginning(plim_fold_item_name(fold, told.items[0]))) {
		told.items++;
		told.item_count--;
	}
	if (how == REPORT_NAMED && told.item_count <= STACKS_ITEMS) {
		const uint32_t *all = told.items;
		const size_t count = told.item_count;

		told.items = items;
		told.item_count = 0;
		for (i = 0; i < count; i++)
			if (i + 1 == count ||
			    !stacks_is_unnamed(report->stacks, all[i]))
				items[told.item_count++] = all[i];
	}
	plim_text_stack(fold, &told, functions,
			report->options->ascii ? PLIM_ESCAPE_ASCII
					       : PLIM_ESCAPE_TERMINAL,
			text, columns < size ? columns + 1 : size);
}

int report_stacks_why_none(const struct report *report, char *text, size_t size)
{
	plim_error error;

	if (plim_profile_check(report->stacks->profile, PLIM_VIEW_CPU,
			       &error) == PLIM_OK)
		return 0;
	report_reason(&error, text, size);
	return 1;
}

int report_stacks_why(const struct report *report, char *text, size_t size)
{
	const struct report_stacks *stacks = report->stacks;

	if (report_stacks_are_there(report))
		return 0;
	if (stacks == NULL && report->ended)
		snprintf(text, size, "it ended first");
	else if (stacks == NULL)
		snprintf(text, size,
			 "of a recording, or through another proc root, "
			 "nothing is sampled");
	else if (stacks->code != PLIM_OK)
		report_reason(&stacks->error, text, size);
	else
		snprintf(text, size, "%s",
			 stacks->sampled ? "memory could not be allocated"
					 : "nothing was sampled");
	return 1;
}
