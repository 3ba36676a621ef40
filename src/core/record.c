/*
 * record.c - what a host puts into a record, and how it is read.
 *
 * Figures stand in an array by field id. A figure that nobody wrote is
 * UNREAD; for a reader that means "not asked for" unless it was. Identity,
 * pid, name and state are delivered whatever was asked, so they are never
 * SKIPPED. The texts have figures, too: their state and method are there, and
 * the bytes in the record or, of those on request, with its owner.
 */
#include "core/record.h"

#include <assert.h>
#include <string.h>

static_assert(PLIMP_NAME_SIZE <= UINT8_MAX, "name_size holds the size");
static_assert(PLIMP_TEXTS_SIZE <= UINT16_MAX, "a place in the texts fits");
static_assert(PLIMP_IDENTITY_TEXT >= 48, "see plim_identity_format()");

void plimp_record_clear(plim_process *record, const plim_field_set *asked)
{
	assert(asked != NULL);
	memset(record->figures, 0, sizeof(record->figures));
	memset(&record->threads, 0, sizeof(record->threads));
	memset(&record->texts, 0, sizeof(record->texts));
	record->asked = *asked;
	record->name_size = 0;
	record->state = 0;
	record->ignores_children = PLIMP_IGNORES_UNREAD;
	record->stamp_ticks = 0;
	record->image = 0;
}

/* A text is there as soon as its bytes are; a host that has more to say of it
 * sets the figure itself. */
static void record_set_if_unread(plim_process *record, int field,
				 plim_count figure)
{
	if (record->figures[field].state == PLIM_STATE_UNREAD)
		plimp_record_set(record, field, figure);
}

static const uint8_t record_text_fields[PLIMP_TEXTS] = {
    [PLIMP_TEXT_CGROUP] = PLIM_FIELD_CGROUP,
    [PLIMP_TEXT_UNIT] = PLIM_FIELD_UNIT,
    [PLIMP_TEXT_CONTAINER] = PLIM_FIELD_CONTAINER,
    [PLIMP_TEXT_EXE] = PLIM_FIELD_EXE,
};

void plimp_record_text(plim_process *record, int text, size_t start,
		       size_t size, int method)
{
	assert(text >= 0 && text < PLIMP_TEXTS);
	assert(start <= record->texts.size &&
	       size <= record->texts.size - start);
	record->texts.parts[text].start = (uint16_t)start;
	record->texts.parts[text].size = (uint16_t)size;
	plimp_record_set(record, record_text_fields[text],
			 plimp_known(0, method));
}

void plimp_record_name(plim_process *record, plim_bytes name)
{
	size_t size = name.size < PLIMP_NAME_SIZE ? name.size : PLIMP_NAME_SIZE;

	if (size > 0)
		memcpy(record->name, name.data, size);
	record->name_size = (uint8_t)size;
	record_set_if_unread(record, PLIM_FIELD_NAME,
			     plim_count_known(0, PLIM_METHOD_STAT));
}

static int record_identity_method(int rung)
{
	switch (rung) {
	case PLIM_RUNG_INODE:
		return PLIM_METHOD_PIDFD_INODE;
	case PLIM_RUNG_START:
		return PLIM_METHOD_STAT;
	default:
		return PLIM_METHOD_LISTING;
	}
}

void plimp_record_identity(plim_process *record, const plim_identity *identity)
{
	int rung = plim_identity_rung(identity);
	int method = record_identity_method(rung);

	if (record->identity_size == 0 ||
	    memcmp(&record->identity, identity, sizeof(*identity)) != 0) {
		record->identity = *identity;
		record->identity_size = (uint8_t)plim_identity_format(
		    identity, record->identity_text,
		    sizeof(record->identity_text));
	}
	assert(record->identity_size < sizeof(record->identity_text));
	plimp_record_set(record, PLIM_FIELD_IDENTITY,
			 plimp_known(0, PLIM_METHOD_IDENTITY));
	plimp_record_set(record, PLIM_FIELD_IDENTITY_RUNG,
			 plimp_known((uint64_t)rung, method));
	record_set_if_unread(
	    record, PLIM_FIELD_PID,
	    plimp_known((uint64_t)identity->pid, PLIM_METHOD_LISTING));
}

static int record_figure_is_sound(plim_count figure)
{
	if (figure.state == PLIM_STATE_KNOWN)
		return figure.bound <= PLIM_BOUND_AT_MOST &&
		       plim_method_word(figure.method) != NULL;
	return figure.value == 0 && figure.bound == PLIM_BOUND_EXACT &&
	       plim_reason_word(figure.method) != NULL &&
	       plim_reason_state(figure.method) == figure.state;
}

/* While the record is filled its texts have sizes and no bytes yet. */
static int record_texts_are_inside(const struct plimp_texts *texts)
{
	for (int i = 0; i < PLIMP_TEXTS; i++)
		if (texts->parts[i].start > texts->size ||
		    texts->parts[i].size > texts->size - texts->parts[i].start)
			return 0;
	return 1;
}

static int record_threads_are_sorted(const struct plimp_threads *threads)
{
	for (size_t i = 1; threads->known && i < threads->count; i++) {
		const struct plimp_thread *a = &threads->items[i - 1];
		const struct plimp_thread *b = &threads->items[i];

		if (a->tid > b->tid ||
		    (a->tid == b->tid && a->start_ticks >= b->start_ticks))
			return 0;
	}
	return 1;
}

int plimp_record_is_refused(const plim_process *record)
{
	for (int field = 1; field <= PLIM_FIELD_LAST; field++)
		if (record->figures[field].state == PLIM_STATE_DENIED)
			return 1;
	return 0;
}

int plimp_record_is_sound(const plim_process *record)
{
	for (int field = 1; field <= PLIM_FIELD_LAST; field++)
		if (!record_figure_is_sound(record->figures[field]))
			return 0;
	return record->name_size <= PLIMP_NAME_SIZE &&
	       record->identity_size < PLIMP_IDENTITY_TEXT &&
	       record_texts_are_inside(&record->texts) &&
	       record_threads_are_sorted(&record->threads);
}

static int record_is_always_read(int field)
{
	switch (field) {
	case PLIM_FIELD_PID:
	case PLIM_FIELD_NAME:
	case PLIM_FIELD_STATE:
	case PLIM_FIELD_IDENTITY:
	case PLIM_FIELD_IDENTITY_RUNG:
		return 1;
	default:
		return 0;
	}
}

/* The figure of any field, texts included. The state is read if its letter is
 * there. */
static plim_count record_figure(const plim_process *process, int field)
{
	plim_count figure = process->figures[field];

	if (figure.state != PLIM_STATE_UNREAD)
		return figure;
	if (field == PLIM_FIELD_STATE && process->state != 0)
		return plim_count_known(0, PLIM_METHOD_STAT);
	if (process->identity_size == 0) /* never read */
		return figure;
	if (!record_is_always_read(field) &&
	    !plim_field_set_has(&process->asked, field))
		return plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	return figure;
}

plim_count plim_process_count(const plim_process *process, int field)
{
	const plim_field *row = plim_field_get(field);

	if (row == NULL || row->kind == PLIM_KIND_TEXT)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	return record_figure(process, field);
}

static plim_bytes record_text(const struct plimp_texts *texts, int field)
{
	int text = 0;

	while (record_text_fields[text] != field)
		text++;
	assert(text < PLIMP_TEXTS && texts->data != NULL);
	return (plim_bytes){texts->data + texts->parts[text].start,
			    texts->parts[text].size};
}

static plim_bytes record_bytes(const plim_process *process, int field)
{
	switch (field) {
	case PLIM_FIELD_NAME:
		return (plim_bytes){process->name, process->name_size};
	case PLIM_FIELD_STATE:
		return (plim_bytes){&process->state, process->state != 0};
	case PLIM_FIELD_IDENTITY:
		return (plim_bytes){process->identity_text,
				    process->identity_size};
	default:
		return record_text(&process->texts, field);
	}
}

plim_text plim_process_text(const plim_process *process, int field)
{
	const plim_field *row = plim_field_get(field);
	plim_count figure;
	plim_text text = {.bytes = {"", 0}};

	if (row == NULL || row->kind != PLIM_KIND_TEXT)
		figure = plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	else
		figure = record_figure(process, field);
	if (figure.state == PLIM_STATE_KNOWN)
		text.bytes = record_bytes(process, field);
	text.state = figure.state;
	text.method = figure.method;
	text.code = figure.code;
	return text;
}

int32_t plim_process_pid(const plim_process *process)
{
	return process->identity.pid;
}

plim_identity plim_process_identity(const plim_process *process)
{
	return process->identity;
}

plim_stamp plim_process_stamp(const plim_process *process)
{
	return process->stamp;
}

static int record_is_known(const plim_process *process, int field)
{
	return process->figures[field].state == PLIM_STATE_KNOWN;
}

int plim_process_is_measured(const plim_process *process)
{
	return record_is_known(process, PLIM_FIELD_CPU) ||
	       record_is_known(process, PLIM_FIELD_PRIVATE);
}

/* Equal pids end it at once: nothing is its own parent, and a process that
 * took over its parent's pid is not the child of that pid. */
int plim_process_is_child_of(const plim_process *child,
			     const plim_process *parent)
{
	const plim_identity *young = &child->identity;
	const plim_identity *old = &parent->identity;

	if (!record_is_known(child, PLIM_FIELD_PPID) || old->pid < 1 ||
	    child->figures[PLIM_FIELD_PPID].value != (uint64_t)old->pid ||
	    young->pid == old->pid)
		return 0;
	if (young->has & old->has & PLIM_IDENTITY_START)
		return old->start_ticks <= young->start_ticks;
	return 1;
}
