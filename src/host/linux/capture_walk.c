/*
 * capture_walk.c - the two figures that take a walk over all page tables of a
 * process, its proportional share and what it alone has written: from
 * smaps_rollup, when they were asked for of this very process.
 *
 * The process waits for the walk if it maps or faults meanwhile. So its length
 * is predicted from the cheap status, and one that is predicted to be longer
 * than the limit is left out, with that for a reason (lens.c says what the
 * prediction stands on).
 */
#include "host/linux/gnu.h"

#include "host/linux/capture.h"
#include "host/target.h"

#include <errno.h>
#include <stdio.h>

static const plim_field_set capture_walk_group = {
    {PLIMP_FIELD_BIT(PSS) | PLIMP_FIELD_BIT(PRIVATE_DIRTY), 0}};

/* A file of the process, or of the folder of one of its threads. */
static int walk_file(plim_host *host, int directory, const char *folder,
		     const char *name, plim_bytes *text)
{
	char path[48];

	snprintf(path, sizeof path, "%s%s", folder, name);
	return plimp_read_file(host, directory, path, text);
}

static plim_count walk_line(const struct plimp_smaps *smaps, int row)
{
	if ((smaps->has >> row & 1) == 0)
		return plim_count_missing(PLIM_REASON_NO_LINE, 0);
	return plimp_known(smaps->bytes[row], PLIM_METHOD_SMAPS_ROLLUP);
}

/* Why it must not be walked; known: it may, in so many ns. */
static plim_count walk_allowed(plim_host *host, int directory,
			       const char *folder)
{
	const uint32_t parts = PLIMP_STATUS_RSS | PLIMP_STATUS_PTE;
	struct plimp_status status;
	plim_count predicted;
	plim_bytes text;
	int error = walk_file(host, directory, folder, "status", &text);

	if (error != 0)
		return plimp_missing_file(error);
	if (plimp_decode_status_parts(text, parts, &status) != PLIM_OK)
		/* No memory and no zombie yet: it is on its way out. */
		return plim_count_missing(PLIM_REASON_ENDED, 0);
	predicted = plimp_predict_walk(host, &status);
	if (predicted.state == PLIM_STATE_KNOWN &&
	    predicted.value > PLIMP_STALL_NS)
		return plim_count_missing(PLIM_REASON_STALL, 0);
	return predicted;
}

void plimp_walk_process(plim_host *host, int directory, const char *folder,
			const plim_field_set *fields, plim_process *record)
{
	plim_count allowed = walk_allowed(host, directory, folder);
	struct plimp_smaps smaps;
	plim_bytes text;
	int error;

	if (allowed.state != PLIM_STATE_KNOWN) {
		plimp_store_missing(record, fields, &capture_walk_group,
				    allowed);
		return;
	}
	error = walk_file(host, directory, folder, "smaps_rollup", &text);
	if (error == 0 && plimp_decode_smaps(text, &smaps) != PLIM_OK)
		error = EBADMSG;
	if (error != 0) {
		plimp_store_missing(record, fields, &capture_walk_group,
				    plimp_missing_file(error));
		return;
	}
	if (plimp_set_has(fields, PLIM_FIELD_PSS))
		plimp_record_set(record, PLIM_FIELD_PSS,
				 walk_line(&smaps, PLIMP_SMAPS_PSS));
	if (plimp_set_has(fields, PLIM_FIELD_PRIVATE_DIRTY))
		plimp_record_set(record, PLIM_FIELD_PRIVATE_DIRTY,
				 walk_line(&smaps, PLIMP_SMAPS_PRIVATE_DIRTY));
}

int plimp_wants_walk(const plim_field_set *fields)
{
	return (fields->bits[0] & capture_walk_group.bits[0]) != 0;
}

void plimp_store_no_walk(plim_process *record, const plim_field_set *fields,
			 plim_count missing)
{
	plimp_store_missing(record, fields, &capture_walk_group, missing);
}

int plimp_capture_walk(struct plimp_reading *capture)
{
	const plim_field_set *fields = &capture->request->fields;
	char folder[32] = "";
	int reason = capture->kernel		? PLIM_REASON_NO_MEMORY
		     : capture->zombie		? PLIM_REASON_ZOMBIE
		     : !capture->request->walks ? PLIM_REASON_TOO_DEAR
						: PLIM_REASON_NONE;

	if (!plimp_wants_walk(fields))
		return PLIM_OK;
	if (reason != PLIM_REASON_NONE) {
		plimp_store_no_walk(capture->record, fields,
				    plim_count_missing(reason, 0));
		return PLIM_OK;
	}
	if (capture->leaderless &&
	    plimp_other_thread(capture->host, capture->directory, capture->pid,
			       folder) != 1) {
		plimp_store_no_walk(capture->record, fields,
				    plim_count_missing(PLIM_REASON_ENDED, 0));
		return PLIM_OK;
	}
	plimp_walk_process(capture->host, capture->directory, folder, fields,
			   capture->record);
	/* The walk may be what the process ended in. */
	capture->unproven = 1;
	return PLIM_OK;
}
