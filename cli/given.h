/*
 * given.h - the command line that plim itself was given, as one would type it
 * again, for a page that says how it was made. The arguments of a command that
 * plim starts are left out: they may hold secrets, and are none of a report.
 */
#ifndef PLIM_GIVEN_H
#define PLIM_GIVEN_H

#include <stddef.h>

/* Before the words are put in another order: from the subcommand on. */
void given_note(int argc, char **argv);
/* Never NULL; quoted as a shell needs it, and unescaped otherwise. What is too
 * long ends in " ...". */
const char *given_text(void);
/* How many arguments of a command that was started are not in it. */
int given_left_out(void);

#endif
