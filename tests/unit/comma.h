/*
 * comma.h - a locale whose point is a comma, for the tests of what must not
 * depend on it. Where none is installed one is made (comma.c); Windows has
 * them all (comma_windows.c).
 */
#ifndef PLIMT_COMMA_H
#define PLIMT_COMMA_H

#include <locale.h>

/* 1 if the point is a comma now. */
int set_comma_locale(void);

#endif
