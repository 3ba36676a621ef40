/*
 * gate_ready.c - when the load of a target has ended, by its own sign: a line
 * of its output, a file, a port that takes calls.
 *
 * Nothing that was there before the start is such a sign: a file must have
 * appeared or changed, and a port that somebody else listens on is no port of
 * the target. Output is searched as it streams by, so that a text may lie
 * across two pieces of it, and is passed on to our standard error; the pipes
 * are emptied until the end, for a full one would stop the target.
 */
#include "gate_run.h"
#include "link.h"
#include "term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READY_PIECE	  16384
#define READY_PIECES_MOST 16 /* at once; the rest is there next time */

/* Knuth, Morris, Pratt: how long a beginning of the text is also the end of
 * its first `i + 1` bytes. */
static int ready_prepare(struct gate_ready *ready)
{
	const char *text = ready->target->ready_text;
	size_t have = 0;
	size_t i;

	ready->size = strlen(text);
	ready->back = calloc(ready->size + 1, sizeof *ready->back);
	if (ready->back == NULL)
		return ENOMEM;
	for (i = 1; i < ready->size; i++) {
		while (have > 0 && text[i] != text[have])
			have = ready->back[have - 1];
		if (text[i] == text[have])
			have++;
		ready->back[i] = have;
	}
	return 0;
}

static int ready_pipes(struct gate_ready *ready)
{
	int i;

	for (i = 0; i < 2; i++) {
		int ends[2];
		const int problem = link_open(ends);

		if (problem != 0)
			return problem;
		ready->reads[i] = ends[LINK_READS];
		ready->writes[i] = ends[LINK_WRITES];
	}
	return 0;
}

static int ready_file(const struct gate_ready *ready)
{
	struct file_about now;

	if (!file_look(ready->target->ready_text, &now))
		return 0;
	return !ready->there || now.volume != ready->before.volume ||
	       now.number != ready->before.number ||
	       now.size != ready->before.size ||
	       now.written_s != ready->before.written_s ||
	       now.written_ns != ready->before.written_ns;
}

int gate_ready_open(struct gate_ready *ready, const plim_budget_target *target)
{
	int problem;

	memset(ready, 0, sizeof *ready);
	ready->target = target;
	ready->reads[0] = ready->reads[1] = -1;
	ready->writes[0] = ready->writes[1] = -1;
	switch (target->ready) {
	case PLIM_READY_OUTPUT:
		problem = ready_prepare(ready);
		return problem != 0 ? problem : ready_pipes(ready);
	case PLIM_READY_FILE:
		/* Who attaches finds it from before. */
		if (target->way == PLIM_BUDGET_RUN)
			ready->there =
			    file_look(target->ready_text, &ready->before);
		return 0;
	case PLIM_READY_PORT:
		if (target->way == PLIM_BUDGET_RUN)
			ready->taken = link_answers(target->ready_port);
		return 0;
	default:
		ready->met = 1;
		return 0;
	}
}

void gate_ready_started(struct gate_ready *ready)
{
	int i;

	for (i = 0; i < 2; i++)
		link_close(&ready->writes[i]);
}

int gate_ready_met(struct gate_ready *ready)
{
	if (!ready->met && ready->target->ready == PLIM_READY_FILE)
		ready->met = ready_file(ready);
	if (!ready->met && ready->target->ready == PLIM_READY_PORT)
		ready->met = link_answers(ready->target->ready_port);
	return ready->met;
}

static void ready_search(struct gate_ready *ready, int stream,
			 const char *piece, size_t size)
{
	const char *text = ready->target->ready_text;
	size_t at = ready->at[stream];
	size_t i;

	for (i = 0; i < size && !ready->met; i++) {
		while (at > 0 && piece[i] != text[at])
			at = ready->back[at - 1];
		if (piece[i] == text[at])
			at++;
		ready->met = at == ready->size;
	}
	ready->at[stream] = at;
}

/* What cannot be written, or not before an interruption, is lost. */
static void ready_pass_on(const char *piece, size_t size)
{
	gate_progress_clear();
	term_pass_on(TERM_ERROR, piece, size);
}

void gate_ready_take(struct gate_ready *ready, int stream)
{
	char piece[READY_PIECE];
	int size = -1;
	int pieces;

	if (ready->reads[stream] < 0)
		return;
	for (pieces = 0; pieces < READY_PIECES_MOST; pieces++) {
		size = link_take(ready->reads[stream], piece, sizeof piece);
		if (size <= 0)
			break;
		ready_search(ready, stream, piece, (size_t)size);
		ready_pass_on(piece, (size_t)size);
	}
	if (size == 0)
		link_close(&ready->reads[stream]);
}

void gate_ready_close(struct gate_ready *ready)
{
	int i;

	gate_ready_started(ready);
	for (i = 0; i < 2; i++)
		link_close(&ready->reads[i]);
	free(ready->back);
	memset(ready, 0, sizeof *ready);
	ready->reads[0] = ready->reads[1] = -1;
	ready->writes[0] = ready->writes[1] = -1;
}
