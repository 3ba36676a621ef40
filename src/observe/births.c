/*
 * births.c - plim_births: what a tree starts.
 *
 * The host counts; here the tree that is there already is taken in, round
 * after round, until a round finds nobody who is not known. Whoever a known
 * member starts is known by itself, so that rounds come to an end, and who is
 * found by none was started by somebody who is known. Counts are those of the
 * host less those at the mark.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "core/rates.h"
#include "host/bill.h"

#include <plimsoll/births.h>
#include <plimsoll/tree.h>

#include <assert.h>
#include <string.h>

/* So many rounds without an end make the counts lower bounds. */
#define BIRTHS_ROUNDS 64

struct plim_births {
	plim_host *host;
	struct plimp_births *source; /* NULL: none */
	int method;
	plim_count missing; /* why */
	struct plimp_birth_counts mark;
	plim_stamp since;
	plim_cost cost;
};

static int births_options(const plim_births_options *given,
			  plim_births_options *options, plim_error *error)
{
	memset(options, 0, sizeof *options);
	if (given == NULL)
		return PLIM_OK;
	if (given->size < sizeof given->size)
		return plimp_fail(error, PLIM_EINVAL, 0, "count births",
				  "options.size",
				  "set it to sizeof(plim_births_options)");
	memcpy(options, given,
	       given->size < sizeof *options ? given->size : sizeof *options);
	return PLIM_OK;
}

/* One round: every member that there is now. */
static int births_round(plim_births *births, plim_tree *tree,
			plim_target *target, size_t *added, plim_error *error)
{
	plim_field_set none = {{0}};
	plim_tree_options options = {sizeof options, &none, 0, 1};
	size_t i;
	int code = plim_tree_usage(tree, target, &options, error);

	for (i = 0; i < plim_tree_size(tree) && code == PLIM_OK; i++) {
		plim_identity member =
		    plim_process_identity(plim_tree_at(tree, i)->process);

		code = plimp_system_births_cover(births->source, &member, added,
						 error);
	}
	return code;
}

/* The root was taken in; now its other threads, and its descendants. */
static int births_cover(plim_births *births, plim_target *target,
			const plim_births_options *options, plim_error *error)
{
	plim_tree *tree = NULL;
	size_t added = 1;
	int alone = (options->flags & PLIM_BIRTHS_ROOT_ALONE) != 0;
	int code = PLIM_OK;
	int i;

	if (!alone)
		code = plim_tree_new(&tree, births->host, error);
	for (i = 0; i < BIRTHS_ROUNDS && added > 0 && code == PLIM_OK; i++) {
		added = 0;
		code = alone
			   ? plimp_system_births_cover(births->source,
						       &target->identity,
						       &added, error)
			   : births_round(births, tree, target, &added, error);
	}
	plim_tree_free(tree);
	if (code == PLIM_OK)
		plimp_system_births_settle(births->source, added == 0);
	return code;
}

static int births_begin(plim_births *births, plim_target *target,
			const plim_births_options *options, plim_error *error)
{
	plim_check check;
	int code;

	plimp_system_check(target, &check);
	if (check.fate == PLIM_FATE_REPLACED)
		return plimp_fail(error, PLIM_EREPLACED, 0, "count births",
				  NULL, NULL);
	if (check.fate == PLIM_FATE_GONE || check.zombie)
		return plimp_fail(error, PLIM_ENOPROCESS, 0, "count births",
				  NULL, NULL);
	code = plimp_system_births_open(
	    births->host, options, &target->identity, &births->source,
	    &births->method, &births->missing, error);
	if (code == PLIM_OK && births->source != NULL)
		code = births_cover(births, target, options, error);
	if (code == PLIM_OK)
		code = plim_births_mark(births, error);
	return code;
}

/* The target, or ourselves for as long as it takes. */
static int births_of(plim_births *births, plim_target *target,
		     const plim_births_options *options, plim_error *error)
{
	plim_target *self = NULL;
	plim_count pid;
	int code = PLIM_OK;

	if (target == NULL) {
		pid = plim_host_count(births->host, PLIM_HOST_OWN_PID);
		if (pid.state != PLIM_STATE_KNOWN)
			return plimp_fail(error, PLIM_EUNSUPPORTED, 0,
					  "count births", NULL, NULL);
		code = plim_target_open(&self, births->host, (int32_t)pid.value,
					error);
		target = self;
	}
	if (code == PLIM_OK)
		code = births_begin(births, target, options, error);
	plim_target_close(self);
	return code;
}

int plim_births_open(plim_births **births, plim_host *host, plim_target *target,
		     const plim_births_options *given, plim_error *error)
{
	struct plimp_bill_mark mark;
	plim_births_options options;
	plim_births *made;
	int code;

	if (births == NULL || host == NULL ||
	    (target != NULL && target->host != host))
		return plimp_fail(error, PLIM_EINVAL, 0, "count births", NULL,
				  NULL);
	code = births_options(given, &options, error);
	if (code != PLIM_OK)
		return code;
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "count births", NULL,
				  NULL);
	made->host = host;
	mark = plimp_bill_begin(host, 1);
	code = births_of(made, target, &options, error);
	plimp_bill_end(host, &mark, &made->cost);
	if (code != PLIM_OK) {
		plim_births_free(made);
		return code;
	}
	*births = made;
	return PLIM_OK;
}

void plim_births_free(plim_births *births)
{
	plim_host *host;

	if (births == NULL)
		return;
	host = births->host;
	plimp_system_births_close(births->source);
	plimp_release(&host->allocator, births, 1, sizeof *births);
}

static plim_count births_count(const plim_births *births, uint64_t now,
			       uint64_t then, int less)
{
	if (births->source == NULL)
		return births->missing;
	return plim_count_bounded(now - then, births->method,
				  less ? PLIM_BOUND_AT_LEAST
				       : PLIM_BOUND_EXACT);
}

/* What has happened until now; nothing where there is no source. */
static void births_take_in(plim_births *births,
			   struct plimp_birth_counts *counts)
{
	struct plimp_bill_mark mark = plimp_bill_begin(births->host, 1);

	memset(counts, 0, sizeof *counts);
	memset(&births->cost, 0, sizeof births->cost);
	if (births->source != NULL)
		plimp_system_births_read(births->source, counts);
	plimp_bill_end(births->host, &mark, &births->cost);
}

int plim_births_read(plim_births *births, plim_births_counts *counts,
		     plim_error *error)
{
	struct plimp_birth_counts now;
	const struct plimp_birth_counts *then;
	int less;

	if (births == NULL || counts == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "read births", NULL,
				  NULL);
	births_take_in(births, &now);
	then = &births->mark;
	less = now.is_partial || now.overflows != then->overflows;
	memset(counts, 0, sizeof *counts);
	counts->processes_started = births_count(births, now.processes_started,
						 then->processes_started, less);
	counts->processes_ended = births_count(births, now.processes_ended,
					       then->processes_ended, less);
	counts->threads_started = births_count(births, now.threads_started,
					       then->threads_started, less);
	counts->threads_ended =
	    births_count(births, now.threads_ended, then->threads_ended, less);
	/* What was lost before the mark may be told only after it. */
	counts->lost = births_count(births, less ? now.lost : then->lost,
				    then->lost, less);
	counts->interval = plimp_interval(births->since, plimp_system_now());
	return PLIM_OK;
}

int plim_births_mark(plim_births *births, plim_error *error)
{
	if (births == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "mark births", NULL,
				  NULL);
	births_take_in(births, &births->mark);
	births->since = plimp_system_now();
	return PLIM_OK;
}

int plim_births_poll_descriptor(const plim_births *births)
{
	assert(births != NULL);
	return births->source == NULL
		   ? -1
		   : plimp_system_births_descriptor(births->source);
}

int plim_births_method(const plim_births *births)
{
	assert(births != NULL);
	return births->method;
}

plim_cost plim_births_cost(const plim_births *births)
{
	assert(births != NULL);
	return births->cost;
}
