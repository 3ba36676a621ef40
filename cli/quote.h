/*
 * quote.h - the one text that Windows hands to a program for its arguments.
 */
#ifndef PLIM_QUOTE_H
#define PLIM_QUOTE_H

/* Arguments as a text that is cut into the same ones again; to be freed. NULL:
 * no memory. */
char *quote_arguments(char *const *arguments);

#endif
