/*
 * json_thread.c - a thread as an object of the documented schema: its figures
 * in one sample and, below `delta`, what it did between two. As of a process
 * a figure is a number or null, and the side objects say the rest.
 */
#include "export/json_writer.h"

#include <plimsoll/thread.h>

#include <assert.h>

/* A key with its figure, which is a count or a text. */
struct thread_row {
	const char *key;
	int is_text;
	plim_count count;
	plim_text text;
};

static struct plimp_json_note thread_note(const struct thread_row *row)
{
	return row->is_text ? plimp_json_note_text(row->text)
			    : plimp_json_note_count(row->count);
}

static void thread_rows(plim_json *json, const struct thread_row *rows,
			size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].is_text)
			plimp_json_bytes(json, rows[i].key, rows[i].text);
		else
			plimp_json_count(json, rows[i].key, rows[i].count);
}

static void thread_sides(plim_json *json, const struct thread_row *rows,
			 size_t count)
{
	static const enum plimp_json_side sides[] = {
	    PLIMP_JSON_UNAVAILABLE, PLIMP_JSON_METHOD, PLIMP_JSON_BOUND};

	for (size_t side = 0; side < 3; side++) {
		plim_json_object(json, plimp_json_side_names[sides[side]]);
		for (size_t i = 0; i < count; i++)
			plimp_json_side_entry(json, sides[side], rows[i].key,
					      thread_note(&rows[i]));
		plim_json_end(json);
	}
}

#define THREAD_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The letter is part of what a thread blocks in: so is why there is none. */
static plim_text thread_state(const plim_thread *thread)
{
	plim_text state = thread->blocked_in;

	if (thread->state == '\0') {
		if (state.state == PLIM_STATE_KNOWN) {
			state.state = PLIM_STATE_UNREAD;
			state.method = PLIM_REASON_NONE;
		}
		return state;
	}
	return (plim_text){.bytes = {&thread->state, 1},
			   .state = PLIM_STATE_KNOWN,
			   .method = PLIM_METHOD_THREAD_STAT};
}

static void thread_delta(plim_json *json, const plim_thread_change *change)
{
	const struct thread_row rows[] = {
	    {.key = "cpu_ns", .count = change->cpu_ns},
	    {.key = "runqueue_wait_ns", .count = change->runqueue_ns},
	    {.key = "wakeups", .count = change->wakeups},
	    {.key = "switches_in", .count = change->switches_in},
	};

	plim_json_object(json, "delta");
	thread_rows(json, rows, THREAD_ROWS(rows));
	thread_sides(json, rows, THREAD_ROWS(rows));
	plim_json_end(json);
}

void plim_json_thread_members(plim_json *json, const plim_thread *thread,
			      const plim_thread_change *change)
{
	assert(thread != NULL);
	const struct thread_row rows[] = {
	    {.key = "start_ticks", .count = thread->start_ticks},
	    {.key = "name",
	     .is_text = 1,
	     .text = change != NULL ? change->name : thread->name},
	    {.key = "cpu_ns", .count = thread->cpu_ns},
	    {.key = "runqueue_wait_ns", .count = thread->runqueue_ns},
	    {.key = "wakeups", .count = thread->wakeups},
	    {.key = "switches_in", .count = thread->switches_in},
	    {.key = "state", .is_text = 1, .text = thread_state(thread)},
	    {.key = "blocked_in", .is_text = 1, .text = thread->blocked_in},
	};

	plim_json_whole(json, "tid", (uint64_t)thread->tid);
	thread_rows(json, rows, THREAD_ROWS(rows));
	if (change != NULL)
		plim_json_boolean(json, "born", change->born);
	else
		plim_json_null(json, "born");
	thread_sides(json, rows, THREAD_ROWS(rows));
	if (change != NULL)
		thread_delta(json, change);
}

void plim_json_thread(plim_json *json, const char *key,
		      const plim_thread *thread,
		      const plim_thread_change *change)
{
	plim_json_object(json, key);
	plim_json_thread_members(json, thread, change);
	plim_json_end(json);
}
