/*
 * gate_progress.c - how far a gate is, for who watches it on a terminal: one
 * line on standard error, written again and again. Anywhere else, nothing.
 */
#include "gate_run.h"
#include "term.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int progress_shown;

static int progress_wanted(const struct options *options)
{
	const char *terminal = term_setting("TERM");

	return !options->silent && term_is(TERM_ERROR) &&
	       (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

void gate_progress(const struct gate_session *session, const char *format, ...)
{
	const char *name = session->asked->name;
	char safe[64];
	char text[160];
	va_list arguments;

	if (!progress_wanted(session->gate->options))
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	plim_escape(PLIM_ESCAPE_TERMINAL, (plim_bytes){name, strlen(name)},
		    safe, sizeof safe);
	fprintf(stderr, "\r\033[K%s, %u of %u: %s", safe, session->number,
		session->target->repeats, text);
	fflush(stderr);
	progress_shown = 1;
}

void gate_progress_clear(void)
{
	if (!progress_shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress_shown = 0;
}
