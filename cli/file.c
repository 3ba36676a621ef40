/*
 * file.c - what is said of files alike on every system (file.h).
 */
#include "file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FILE *file_stream(const char *path, int way)
{
	const int descriptor = file_open(path, way);
	FILE *file = NULL;

	if (descriptor >= 0)
		file = fdopen(descriptor, way == FILE_READ     ? "rb"
					  : way == FILE_APPEND ? "ab"
							       : "wb");
	if (descriptor >= 0 && file == NULL) {
		close(descriptor);
		if (way == FILE_MAKE)
			file_remove(path);
	}
	return file;
}

/* Whoever writes a file writes it under this name first. */
char *file_beside(const char *path)
{
	const size_t size = strlen(path) + 32;
	char *made = malloc(size);

	if (made != NULL)
		snprintf(made, size, "%s.%ld.new", path, (long)getpid());
	return made;
}
