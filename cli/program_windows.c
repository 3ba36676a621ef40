/*
 * program_windows.c - which file a command's name means on Windows (file.h).
 *
 * A name with a folder is looked for there; any other in the folders of PATH,
 * in order, and not in the current one, which may be anybody's. A name without
 * an end gets `.exe`, then `.com`. A batch file is run by an interpreter that
 * reads its arguments anew, by rules of its own, so that no quoting holds: it
 * is not started; `cmd /c` does it for who wants that.
 */
#include "file.h"
#include "term.h"

#include <stdlib.h>
#include <string.h>

static int program_ends(const char *path, const char *end)
{
	const size_t size = strlen(path);
	const size_t more = strlen(end);

	return size > more && _stricmp(path + size - more, end) == 0;
}

/* A last dot or blank is dropped where a file is opened by a plain path:
 * `x.bat.` is a batch file, too. */
static int program_is_plain(const char *path)
{
	const size_t size = strlen(path);

	return size > 0 && path[size - 1] != '.' && path[size - 1] != ' ' &&
	       !program_ends(path, ".bat") && !program_ends(path, ".cmd");
}

static int program_has_end(const char *name)
{
	const char *dot = strrchr(name + file_folder(name), '.');

	return dot != NULL && dot[1] != '\0';
}

static char *program_try(const char *folder, size_t length, const char *name,
			 const char *end)
{
	const size_t size = length + strlen(name) + strlen(end) + 2;
	char *path = malloc(size);
	struct file_about about;

	if (path == NULL)
		return NULL;
	snprintf(path, size, "%.*s%s%s%s", (int)length, folder,
		 length > 0 && folder[length - 1] != '\\' ? "\\" : "", name,
		 end);
	if (program_is_plain(path) && file_look(path, &about) &&
	    about.kind == FILE_REGULAR)
		return path;
	free(path);
	return NULL;
}

static char *program_in(const char *folder, size_t length, const char *name)
{
	char *path = NULL;

	if (program_has_end(name))
		path = program_try(folder, length, name, "");
	if (path == NULL)
		path = program_try(folder, length, name, ".exe");
	if (path == NULL)
		path = program_try(folder, length, name, ".com");
	if (path == NULL && !program_has_end(name) && file_folder(name) > 0)
		path = program_try(folder, length, name, "");
	return path;
}

char *file_program(const char *name)
{
	const char *list = term_setting("PATH");
	char *path = NULL;

	if (name[0] == '\0')
		return NULL;
	if (file_folder(name) > 0)
		return program_in("", 0, name);
	while (list != NULL && *list != '\0' && path == NULL) {
		const size_t size = strcspn(list, ";");

		if (size > 2 && list[0] == '"' && list[size - 1] == '"')
			path = program_in(list + 1, size - 2, name);
		else if (size > 0)
			path = program_in(list, size, name);
		list += size + (list[size] == ';');
	}
	return path;
}
