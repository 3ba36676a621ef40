/*
 * capture_texts.c - the texts that are read on request: the cgroup of a
 * process, and what its path tells of unit and container; the program file.
 *
 * Their bytes go behind those of the request's list (host/host.h). Unit and
 * container are parts of the path, so that they cost no place of their own,
 * and are kept when the path itself was not asked for.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/capture.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const plim_field_set texts_cgroup_group = {
    {PLIMP_FIELD_BIT(CGROUP) | PLIMP_FIELD_BIT(UNIT) |
	 PLIMP_FIELD_BIT(CONTAINER),
     0}};

/* Puts a text behind the record's others: PLIM_OK and its place. */
static int texts_put(const plim_host *host, struct plimp_text_list *list,
		     plim_process *record, plim_bytes text, size_t *start)
{
	assert(text.size <= PLIMP_TEXT_SIZE);
	if (plimp_texts_add(list, &host->allocator, text) != PLIM_OK)
		return PLIM_ENOMEM;
	*start = record->texts.size;
	record->texts.size += (uint32_t)text.size;
	return PLIM_OK;
}

/* A part of a text that was put at `start`, or the reason why there is none. */
static void texts_part(plim_process *record, int field, int text, size_t start,
		       size_t size, int method, int reason)
{
	if (size > 0)
		plimp_record_text(record, text, start, size, method);
	else
		plimp_record_set(record, field, plim_count_missing(reason, 0));
}

static int texts_store_path(const plim_host *host,
			    const struct plimp_request *request,
			    plim_process *record, plim_bytes path, int method)
{
	plim_bytes unit = {path.data, 0};
	plim_bytes container = {path.data, 0};
	size_t start;

	if (texts_put(host, request->texts, record, path, &start) != PLIM_OK)
		return PLIM_ENOMEM;
	plimp_decode_unit(path, &unit);
	plimp_decode_container(path, &container);
	if (plimp_set_has(&request->fields, PLIM_FIELD_CGROUP))
		plimp_record_text(record, PLIMP_TEXT_CGROUP, start, path.size,
				  method);
	if (plimp_set_has(&request->fields, PLIM_FIELD_UNIT))
		texts_part(record, PLIM_FIELD_UNIT, PLIMP_TEXT_UNIT,
			   start + (size_t)(unit.data - path.data), unit.size,
			   method, PLIM_REASON_NO_UNIT);
	if (plimp_set_has(&request->fields, PLIM_FIELD_CONTAINER))
		texts_part(record, PLIM_FIELD_CONTAINER, PLIMP_TEXT_CONTAINER,
			   start + (size_t)(container.data - path.data),
			   container.size, method, PLIM_REASON_NO_CONTAINER);
	return PLIM_OK;
}

int plimp_store_cgroup(const plim_host *host,
		       const struct plimp_request *request,
		       plim_process *record, plim_bytes text, int exiting)
{
	plim_count missing = {0};
	plim_bytes path;
	int version;
	int found = plimp_decode_cgroup_path(text, &path, &version);

	if (found == 0)
		missing = plim_count_missing(PLIM_REASON_NO_LINE, 0);
	else if (found < 0)
		missing = plim_count_missing(PLIM_REASON_BAD_TEXT, 0);
	else if (path.size > PLIMP_TEXT_SIZE)
		missing = plim_count_missing(PLIM_REASON_SHORT, 0);
	else if (version == 1 && exiting)
		/* It reads as the root of every hierarchy now. */
		missing = plim_count_missing(PLIM_REASON_ZOMBIE, 0);
	else
		return texts_store_path(host, request, record, path,
					version == 2 ? PLIM_METHOD_CGROUP_V2
						     : PLIM_METHOD_CGROUP_V1);
	plimp_store_missing(record, &request->fields, &texts_cgroup_group,
			    missing);
	return PLIM_OK;
}

int plimp_wants_cgroup(const struct plimp_request *request)
{
	return request->texts != NULL &&
	       (request->fields.bits[0] & texts_cgroup_group.bits[0]) != 0;
}

void plimp_store_no_cgroup(const struct plimp_request *request,
			   plim_process *record, plim_count missing)
{
	plimp_store_missing(record, &request->fields, &texts_cgroup_group,
			    missing);
}

/* Reads a file of a live thread: the main one has ended, and says nothing. */
static int texts_file(struct plimp_reading *capture, const char *name,
		      plim_bytes *text)
{
	char path[48] = "";
	int found;

	if (!capture->leaderless)
		return plimp_capture_file(capture, name, text);
	found = plimp_other_thread(capture->host, capture->directory,
				   capture->pid, path);
	if (found <= 0)
		return found < 0 ? errno : ESRCH;
	snprintf(path + strlen(path), sizeof path - strlen(path), "%s", name);
	return plimp_capture_file(capture, path, text);
}

static int texts_cgroup(struct plimp_reading *capture)
{
	plim_bytes text;
	int exiting = capture->zombie ||
		      (!capture->leaderless &&
		       (capture->stat.flags & PLIMP_STAT_EXITING) != 0);
	int error;

	if (!plimp_wants_cgroup(capture->request))
		return PLIM_OK;
	error = texts_file(capture, "cgroup", &text);
	if (error == ESRCH && !capture->leaderless)
		return PLIM_ENOPROCESS;
	if (error != 0)
		plimp_store_no_cgroup(capture->request, capture->record,
				      plimp_missing_file(error));
	else if (plimp_store_cgroup(capture->host, capture->request,
				    capture->record, text, exiting) != PLIM_OK)
		return plimp_fail(capture->error, PLIM_ENOMEM, 0,
				  "read process", NULL, NULL);
	return PLIM_OK;
}

/*
 * The kernel looks up the link, then asks whether this user may trace the
 * process, and answers EACCES also if it ended in between. A process that has
 * no link and is none of the kernel's has given its memory back.
 */
int plimp_store_exe(plim_host *host, int directory, const char *path,
		    const struct plimp_request *request, plim_process *record)
{
	char *buffer = host->system->buffer;
	ssize_t size = plimp_call_readlink(host, directory, path, buffer,
					   sizeof host->system->buffer);
	int error = size < 0 ? errno : 0;
	size_t start;

	if (error == ENOENT && host->system->live)
		error = ESRCH;
	if (error == ENAMETOOLONG || size > PLIMP_TEXT_SIZE)
		plimp_record_set(record, PLIM_FIELD_EXE,
				 plim_count_missing(PLIM_REASON_SHORT, error));
	else if (error != 0)
		plimp_record_set(record, PLIM_FIELD_EXE,
				 plimp_missing_file(error));
	else if (texts_put(host, request->texts, record,
			   (plim_bytes){buffer, (size_t)size},
			   &start) != PLIM_OK)
		return PLIM_ENOMEM;
	else
		plimp_record_text(record, PLIMP_TEXT_EXE, start, (size_t)size,
				  PLIM_METHOD_EXE_LINK);
	return PLIM_OK;
}

int plimp_wants_exe(const struct plimp_request *request)
{
	return request->texts != NULL &&
	       plimp_set_has(&request->fields, PLIM_FIELD_EXE);
}

static int texts_exe(struct plimp_reading *capture)
{
	char path[48] = "";
	int found = 1;

	if (!plimp_wants_exe(capture->request))
		return PLIM_OK;
	if (capture->kernel || capture->zombie) {
		plimp_capture_set(
		    capture, PLIM_FIELD_EXE,
		    plim_count_missing(capture->kernel ? PLIM_REASON_NO_PROGRAM
						       : PLIM_REASON_ZOMBIE,
				       0));
		return PLIM_OK;
	}
	if (capture->leaderless)
		found = plimp_other_thread(capture->host, capture->directory,
					   capture->pid, path);
	if (found <= 0) {
		plimp_capture_set(
		    capture, PLIM_FIELD_EXE,
		    plimp_missing_file(found < 0 ? errno : ESRCH));
		return PLIM_OK;
	}
	snprintf(path + strlen(path), sizeof path - strlen(path), "exe");
	if (plimp_store_exe(capture->host, capture->directory, path,
			    capture->request, capture->record) != PLIM_OK)
		return plimp_fail(capture->error, PLIM_ENOMEM, 0,
				  "read process", NULL, NULL);
	if (capture->record->figures[PLIM_FIELD_EXE].state ==
	    PLIM_STATE_KNOWN) {
		capture->unproven = 0;
		return PLIM_OK;
	}
	/* A refusal may be an end, and no refusal of a living one's. */
	found = capture->host->system->live
		    ? plimp_probe_directory(capture->host, capture->directory)
		    : 0;
	return plimp_is_gone(found) ? PLIM_ENOPROCESS : PLIM_OK;
}

int plimp_capture_texts(struct plimp_reading *capture)
{
	int code = texts_cgroup(capture);

	return code == PLIM_OK ? texts_exe(capture) : code;
}
