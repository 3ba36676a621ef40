/*
 * wide.h - texts between UTF-8, which plim has everywhere, and the UTF-16 of
 * Windows; and its errors as numbers of errno.h. For the files *_windows.c.
 *
 * What is no Unicode comes out with U+FFFD in its place.
 */
#ifndef PLIM_WIDE_H
#define PLIM_WIDE_H

#include <stddef.h>
#include <wchar.h>

/* To be freed; NULL: no memory. */
wchar_t *wide_from(const char *text);
char *wide_to(const wchar_t *text);

/* A path as the system takes it, of any length: one that is longer than a
 * name of old may be is made whole, with the mark before it that lifts the
 * limit (MAX_PATH). */
wchar_t *wide_path(const char *path);

/* What GetLastError() gave, as a number of errno.h. */
int wide_errno(unsigned long problem);
/* The same of the last call, put into errno. -1. */
int wide_fail(void);

#endif
