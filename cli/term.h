/*
 * term.h - what plim is connected to: its arguments, its environment, standard
 * output and error, and whether people look at them.
 *
 * Everything that a text goes through is UTF-8 here, on every system: who
 * implements this (term_*.c) turns the system's own form into it and back.
 */
#ifndef PLIM_TERM_H
#define PLIM_TERM_H

#include <stddef.h>

enum term_stream { TERM_INPUT, TERM_OUTPUT, TERM_ERROR };

/* Before anything else: sees to it that what we open takes the place of no
 * standard stream, and turns the arguments into UTF-8. 0 if there is no memory
 * for it. */
int term_begin(int *argc, char ***argv);

/* A variable of the environment, or NULL; valid until the end. */
const char *term_setting(const char *name);

/* Is it a terminal? */
int term_is(int stream);

/* Columns of standard output's terminal; 0 if it is none. */
size_t term_width(void);

/* Whether more than ASCII is understood where standard output goes. */
int term_takes_utf8(void);

/* Of a text that was escaped for people: where the backslash parts folders it
 * is shown as itself, unless an x behind it would make that an escape. */
void term_show_folders(char *text);

/* All of it: 0, or the error number. Goes on after a signal. */
int term_write(int stream, const char *data, size_t size);

/* The same until we are interrupted, by who loses what is left. */
void term_pass_on(int stream, const char *data, size_t size);

#endif
