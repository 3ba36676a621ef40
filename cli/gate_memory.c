/*
 * gate_memory.c - what the allocators of a target keep when its window has
 * ended, and, where a limit on memory is crossed, whether what it holds is
 * live.
 *
 * The walk comes behind the last sample, so that it is part of no figure, and
 * only where somebody will read its result. It stops nobody; what it cannot
 * tell is missing with its reason.
 */
#include "gate_run.h"

#include <string.h>

static plim_count memory_refused(int code, const plim_error *error)
{
	switch (code) {
	case PLIM_EDENIED:
	case PLIM_EHIDDEN:
		return plim_count_missing(PLIM_REASON_NOT_PERMITTED,
					  error->system);
	case PLIM_ENOPROCESS:
	case PLIM_EREPLACED:
		return plim_count_missing(PLIM_REASON_ENDED, 0);
	case PLIM_EUNSUPPORTED:
		return plim_count_missing(PLIM_REASON_NO_BACKEND, 0);
	default:
		return plim_count_missing(PLIM_REASON_READ_FAILED,
					  error->system);
	}
}

/* What one process retains, and all of what was found about it. */
static plim_count memory_of(plim_heaps *heaps, plim_target *process,
			    const plim_retention_memory *memory,
			    plim_retention *found)
{
	plim_error error;
	int code = plim_heaps_walk(heaps, process, NULL, &error);

	if (code != PLIM_OK) {
		plim_retention_find(NULL, memory, found);
		return memory_refused(code, &error);
	}
	plim_retention_find(heaps, memory, found);
	return found->retained;
}

/* What the kernel says of the process now. */
static void memory_figures(struct gate_session *session,
			   plim_retention_memory *memory)
{
	static const int ids[] = {PLIM_FIELD_RESIDENT, PLIM_FIELD_ANONYMOUS,
				  PLIM_FIELD_FILE, PLIM_FIELD_SHMEM,
				  PLIM_FIELD_SWAP};
	plim_count *const figures[] = {&memory->resident, &memory->anonymous,
				       &memory->file, &memory->shmem,
				       &memory->swap};
	plim_field_set fields = {{0}};
	size_t i;

	memset(memory, 0, sizeof *memory);
	memory->size = sizeof *memory;
	for (i = 0; i < sizeof ids / sizeof ids[0]; i++)
		plim_field_set_add(&fields, ids[i]);
	if (plim_usage_refresh(session->usage, session->process, &fields,
			       NULL) != PLIM_OK)
		return;
	for (i = 0; i < sizeof ids / sizeof ids[0]; i++)
		*figures[i] = plim_process_count(
		    plim_usage_process(session->usage), ids[i]);
}

/* The members below the root, as they were at the last sample. */
static void memory_members(struct gate_session *session, plim_heaps *heaps,
			   plim_sum *sum)
{
	const plim_tree *tree = plim_idle_tree(session->idle);
	const int32_t root = plim_target_identity(session->process).pid;
	plim_retention found;
	size_t i;

	for (i = 0; tree != NULL && i < plim_tree_size(tree); i++) {
		const plim_process *member = plim_tree_at(tree, i)->process;
		plim_identity identity = plim_process_identity(member);
		plim_target *process = NULL;
		plim_error error;
		int code;

		if (identity.pid == root || interrupted)
			continue;
		code = plim_target_open_identity(&process, session->gate->host,
						 &identity, &error);
		/* One that has ended keeps nothing any more. */
		if (code == PLIM_ENOPROCESS || code == PLIM_EREPLACED)
			continue;
		plim_sum_add(sum, code != PLIM_OK ? memory_refused(code, &error)
						  : memory_of(heaps, process,
							      NULL, &found));
		plim_target_close(process);
	}
}

/* Figures of memory that a walk can say something about. */
static int memory_is_about(int figure)
{
	return figure == PLIM_BUDGET_RESIDENT_WARM ||
	       figure == PLIM_BUDGET_RESIDENT_END ||
	       figure == PLIM_BUDGET_PRIVATE_WARM ||
	       figure == PLIM_BUDGET_PRIVATE_DIRTY_END ||
	       figure == PLIM_BUDGET_PEAK_RESIDENT ||
	       figure == PLIM_BUDGET_RETAINED;
}

static int memory_is_crossed(const struct gate_session *session)
{
	size_t i;

	for (i = 0; i < session->asked->limit_count; i++) {
		const plim_budget_limit *limit = &session->asked->limits[i];
		plim_budget_reading reading;

		if (!memory_is_about(limit->figure) ||
		    (limit->has & PLIM_LIMIT_MAX) == 0)
			continue;
		memset(&reading, 0, sizeof reading);
		gate_figures_now(session, limit->figure, &reading);
		if (reading.value.state == PLIM_STATE_KNOWN &&
		    reading.value.value > limit->max)
			return 1;
	}
	return 0;
}

void gate_memory_read(struct gate_session *session)
{
	plim_retention_memory memory;
	plim_heaps *heaps = NULL;
	plim_error error;
	plim_sum sum;
	int wanted = gate_session_wants(session, PLIM_BUDGET_RETAINED);

	session->retained = plim_count_missing(PLIM_REASON_NONE, 0);
	if (!gate_session_fine(session) ||
	    (!wanted && !memory_is_crossed(session)))
		return;
	if (plim_heaps_new(&heaps, session->gate->host, &error) != PLIM_OK) {
		session->retained = memory_refused(error.code, &error);
		return;
	}
	gate_progress(session, "looking at what its allocators keep");
	memory_figures(session, &memory);
	memset(&sum, 0, sizeof sum);
	plim_sum_add(&sum, memory_of(heaps, session->process, &memory,
				     &session->target->retention));
	session->target->has_retention = 1;
	if (session->asked->tree && wanted)
		memory_members(session, heaps, &sum);
	session->retained = plim_sum_total(&sum);
	plim_heaps_free(heaps);
}

int gate_memory_is_shown(const struct gate_target *target)
{
	size_t i;

	for (i = 0; target->has_retention && i < target->figure_count; i++)
		if (memory_is_about(target->figures[i].limit->figure) &&
		    target->figures[i].judgement.verdict ==
			PLIM_VERDICT_EXCEEDED)
			return 1;
	return 0;
}
