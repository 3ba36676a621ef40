/*
 * budget_record.c - a recorded result answers: which readings it has of a
 * figure, and whether they are a baseline for this machine.
 *
 * A record is a list of groups, one for each figure of a target, whose
 * readings are its repeats in the order of the text. Plain lines have no
 * target; there a figure may come from several lines, of which the nearest to
 * it counts (enum plimp_record_rank). budget_record_read.c fills the groups.
 */
#include "observe/budget_judge.h"
#include "observe/budget_record.h"

#include "core/memory.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct plimp_record_group *plimp_record_find(const plim_budget_record *record,
					     const char *target, int figure,
					     int rank)
{
	for (size_t i = 0; i < record->count; i++) {
		struct plimp_record_group *group = &record->groups[i];

		if (group->figure != figure || group->rank != rank ||
		    (group->target == NULL) != (target == NULL))
			continue;
		if (target == NULL || strcmp(group->target, target) == 0)
			return group;
	}
	return NULL;
}

static int recorded_group_new(plim_budget_record *record, const char *target,
			      int figure, int rank,
			      struct plimp_record_group **group)
{
	void *groups = record->groups;

	if (record->count >= PLIMP_RECORD_GROUPS)
		return PLIM_ELIMIT;
	if (plimp_reserve(&record->pool.allocator, &groups, &record->capacity,
			  record->count + 1, 16, sizeof(**group)) != PLIM_OK)
		return PLIM_ENOMEM;
	record->groups = groups;
	*group = &record->groups[record->count++];
	**group = (struct plimp_record_group){
	    .target = target, .figure = figure, .rank = rank};
	return PLIM_OK;
}

int plimp_record_add(plim_budget_record *record, const char *target, int figure,
		     int rank, const plim_budget_reading *reading)
{
	struct plimp_record_group *group =
	    plimp_record_find(record, target, figure, rank);
	void *readings;
	int code = PLIM_OK;

	if (record->figures >= PLIMP_RECORD_FIGURES)
		return PLIM_ELIMIT;
	if (group == NULL)
		code = recorded_group_new(record, target, figure, rank, &group);
	if (code != PLIM_OK)
		return code;
	readings = group->readings;
	if (plimp_reserve(&record->pool.allocator, &readings, &group->capacity,
			  group->count + 1, 4,
			  sizeof(*group->readings)) != PLIM_OK)
		return PLIM_ENOMEM;
	group->readings = readings;
	group->readings[group->count++] = *reading;
	record->figures++;
	record->has_gate |= target != NULL;
	return PLIM_OK;
}

void plim_budget_record_free(plim_budget_record *record)
{
	plim_allocator allocator;

	if (record == NULL)
		return;
	allocator = record->pool.allocator;
	for (size_t i = 0; i < record->count; i++)
		plimp_release(&allocator, record->groups[i].readings,
			      record->groups[i].capacity,
			      sizeof(plim_budget_reading));
	plimp_release(&allocator, record->groups, record->capacity,
		      sizeof(*record->groups));
	plimp_pool_release(&record->pool);
	plimp_release(&allocator, record, 1, sizeof(*record));
}

/* 1 if the record has anything that would be of this target. */
static int recorded_knows(const plim_budget_record *record, const char *target)
{
	if (!record->has_gate)
		return record->count > 0;
	for (size_t i = 0; i < record->count && target != NULL; i++)
		if (record->groups[i].target != NULL &&
		    strcmp(record->groups[i].target, target) == 0)
			return 1;
	return 0;
}

static const struct plimp_record_group *
recorded_nearest(const plim_budget_record *record, const char *target,
		 int figure)
{
	if (record->has_gate)
		return target != NULL
			   ? plimp_record_find(record, target, figure,
					       PLIMP_RECORD_ITSELF)
			   : NULL;
	for (int rank = 0; rank < PLIMP_RECORD_RANKS; rank++) {
		const struct plimp_record_group *group =
		    plimp_record_find(record, NULL, figure, rank);

		if (group != NULL)
			return group;
	}
	return NULL;
}

size_t plim_budget_record_readings(const plim_budget_record *record,
				   const char *target, int figure,
				   plim_budget_reading *readings, size_t room)
{
	const struct plimp_record_group *group =
	    recorded_nearest(record, target, figure);
	size_t count = group != NULL ? group->count : 0;

	if (group == NULL && recorded_knows(record, target)) {
		/* There was an observation, and this was not told of it. */
		if (room > 0)
			readings[0] = (plim_budget_reading){
			    .value =
				plim_real_missing(PLIM_REASON_NOT_ASKED, 0),
			    .note = "the record does not have it"};
		return 1;
	}
	for (size_t i = 0; i < count && i < room; i++)
		readings[i] = group->readings[i];
	return count;
}

static int recorded_other_text(const char *theirs, const char *ours)
{
	return ours != NULL && (theirs == NULL || strcmp(theirs, ours) != 0);
}

/* Says which fact of the record's machine is another, if one is. */
static int recorded_other_machine(const plim_budget_record *record,
				  const plim_budget_place *place,
				  plim_budget_baseline *baseline)
{
	const struct plimp_record_host *host = &record->host;
	const char *fact = NULL;
	char system[112];

	if (!record->has_host)
		fact = "it does not say of which machine it is";
	else if (recorded_other_text(host->system, place->os)) {
		/* Not the same figures, whatever they are called. */
		snprintf(system, sizeof(system),
			 "it is of another system (%.32s, this is %.32s)",
			 host->system != NULL ? host->system : "unknown",
			 place->os);
		fact = system;
	} else if (recorded_other_text(host->machine, place->arch))
		fact = "it is of another architecture";
	else if (recorded_other_text(host->processor, place->processor))
		fact = "it is of another processor";
	else if (place->cores != 0 && host->cpus != place->cores)
		fact = "it is of a machine with another number of CPUs";
	else if (place->is_virtual >= 0 &&
		 host->is_virtual != place->is_virtual)
		fact = place->is_virtual ? "it is not of a virtual machine"
					 : "it is of a virtual machine";
	if (fact == NULL)
		return 0;
	snprintf(baseline->refused, sizeof(baseline->refused),
		 "%s; record it anew on this one", fact);
	return 1;
}

/* The aggregate of a group, as of a ceiling; missing if one of them is. */
static plim_real recorded_aggregate(const struct plimp_record_group *group,
				    int aggregate)
{
	const plim_budget_limit any = {.figure = group->figure};
	struct plimp_judge_case judged = {
	    .limit = &any,
	    .figure = plim_budget_figure_get(group->figure),
	    .aggregate = aggregate,
	    .readings = group->readings,
	    .count = group->count,
	};
	struct plimp_judge_check check = {0};

	for (size_t i = 0; i < group->count; i++)
		if (group->readings[i].value.state != PLIM_STATE_KNOWN)
			return group->readings[i].value;
	plimp_judge_value(&judged, &check);
	return check.value;
}

void plim_budget_record_baseline(const plim_budget_record *record,
				 const char *target, int figure, int aggregate,
				 const plim_budget_place *place,
				 plim_budget_baseline *baseline)
{
	const struct plimp_record_group *group =
	    recorded_nearest(record, target, figure);
	plim_budget_baseline made = {
	    .value = plim_real_missing(PLIM_REASON_NOT_ASKED, 0)};

	assert(place != NULL && plim_budget_aggregate_word(aggregate) != NULL);
	if (!recorded_other_machine(record, place, &made)) {
		if (group != NULL)
			made.value = recorded_aggregate(group, aggregate);
		else
			snprintf(made.refused, sizeof(made.refused),
				 "it does not have the figure%s",
				 recorded_knows(record, target)
				     ? ""
				     : ", nor any of this target");
	}
	*baseline = made;
}
