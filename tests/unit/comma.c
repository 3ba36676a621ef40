/*
 * comma.c - a locale with a decimal comma by the names of POSIX systems; see
 * comma.h.
 */
#define _POSIX_C_SOURCE	 200809L /* mkdtemp, setenv */
#define _DARWIN_C_SOURCE	 /* where mkdtemp is not of POSIX alone */
#include "comma.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A folder with one locale, made for this test where none is installed. */
static int comma_make(const char *name)
{
	char folder[] = "/tmp/test_comma.XXXXXX";
	char command[300];
	int made;

	if (mkdtemp(folder) == NULL)
		return 0;
	snprintf(command, sizeof(command),
		 "localedef -i %s -f UTF-8 %s/%s.UTF-8 >/dev/null 2>&1", name,
		 folder, name);
	made = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0;
	snprintf(command, sizeof(command), "%s.UTF-8", name);
	made = made && setlocale(LC_ALL, command) != NULL;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) == 0 && made;
}

int set_comma_locale(void)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",
					    "fr_FR.UTF-8", "fr_FR.utf8"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (setlocale(LC_ALL, names[i]) != NULL)
			return 1;
	return comma_make("de_DE");
}
