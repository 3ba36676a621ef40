/*
 * snapshot_compare.c - what became of each process between two rounds: one
 * walk along both, since both stand in the order of pids. The same pid with
 * another proof is an end and a start. Where one side has no stronger proof
 * than the pid, nothing says that it is the same: an end and a start, too, so
 * that no figure is carried over.
 */
#include "observe/snapshot.h"

#include <assert.h>

static int compare_pair(const plim_process *first, const plim_process *last,
			plim_event_fn *callback, void *user)
{
	int result;

	if (plim_identity_compare(&first->identity, &last->identity) ==
	    PLIM_SAME)
		return callback(PLIM_EVENT_STAYED, first, last, user);
	result = callback(PLIM_EVENT_ENDED, first, NULL, user);
	if (result != 0)
		return result;
	return callback(PLIM_EVENT_STARTED, NULL, last, user);
}

int plim_snapshot_compare(const plim_snapshot *first, const plim_snapshot *last,
			  plim_event_fn *callback, void *user)
{
	const struct plimp_pass *a = &first->current;
	const struct plimp_pass *b = &last->current;
	size_t i = 0;
	size_t j = 0;
	int result = 0;

	assert(callback != NULL && first != last);
	while (result == 0 && (i < a->count || j < b->count)) {
		const plim_process *old = i < a->count ? &a->records[i] : NULL;
		const plim_process *now = j < b->count ? &b->records[j] : NULL;

		if (now == NULL ||
		    (old != NULL && old->identity.pid < now->identity.pid)) {
			result = callback(PLIM_EVENT_ENDED, old, NULL, user);
			i++;
		} else if (old == NULL ||
			   now->identity.pid < old->identity.pid) {
			result = callback(PLIM_EVENT_STARTED, NULL, now, user);
			j++;
		} else {
			result = compare_pair(old, now, callback, user);
			i++;
			j++;
		}
	}
	return result;
}
