/*
 * comma_windows.c - a locale with a decimal comma by its name on Windows; see
 * comma.h.
 */
#include "comma.h"

#include <stddef.h>

int set_comma_locale(void)
{
	return setlocale(LC_ALL, "German_Germany") != NULL;
}
