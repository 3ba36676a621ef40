/*
 * wide.c - UTF-8, UTF-16 and long paths of Windows (wide.h).
 */
#include "wide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* From this length on a path is given with the mark: MAX_PATH less the 12
 * characters that a folder must leave for a name. */
#define WIDE_LONG 248

/* ERROR_ELEVATION_REQUIRED, which older headers do not have. */
#define WIDE_ELEVATION_REQUIRED 740

wchar_t *wide_from(const char *text)
{
	const int size = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
	wchar_t *wide = size > 0 ? malloc((size_t)size * sizeof *wide) : NULL;

	if (wide != NULL)
		MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, size);
	return wide;
}

char *wide_to(const wchar_t *text)
{
	const int size =
	    WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
	char *bytes = size > 0 ? malloc((size_t)size) : NULL;

	if (bytes != NULL)
		WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, size, NULL,
				    NULL);
	return bytes;
}

/* `\\?\C:\...` or, of a share, `\\?\UNC\server\...`. */
static wchar_t *wide_marked(const wchar_t *path)
{
	static const wchar_t local[] = L"\\\\?\\";
	static const wchar_t share[] = L"\\\\?\\UNC";
	const DWORD size = GetFullPathNameW(path, 0, NULL, NULL);
	const size_t room = (size_t)size + sizeof share / sizeof share[0];
	wchar_t *whole = malloc(room * sizeof *whole);
	wchar_t *marked = malloc(room * sizeof *marked);
	DWORD length = 0;

	if (whole != NULL && marked != NULL && size > 0)
		length = GetFullPathNameW(path, size, whole, NULL);
	if (length == 0 || length >= size) {
		free(marked);
		marked = NULL;
	} else if (whole[0] == L'\\' && whole[1] == L'\\') {
		wcscpy(marked, share);
		wcscat(marked, whole + 1);
	} else {
		wcscpy(marked, local);
		wcscat(marked, whole);
	}
	free(whole);
	return marked;
}

wchar_t *wide_path(const char *path)
{
	wchar_t *wide = wide_from(path);
	wchar_t *marked;

	if (wide == NULL || wcsncmp(wide, L"\\\\?\\", 4) == 0 ||
	    wcsncmp(wide, L"\\\\.\\", 4) == 0 ||
	    GetFullPathNameW(wide, 0, NULL, NULL) < WIDE_LONG)
		return wide;
	marked = wide_marked(wide);
	free(wide);
	return marked;
}

int wide_errno(unsigned long problem)
{
	static const struct {
		unsigned long problem;
		int number;
	} numbers[] = {
	    {ERROR_FILE_NOT_FOUND, ENOENT},
	    {ERROR_PATH_NOT_FOUND, ENOENT},
	    {ERROR_INVALID_NAME, ENOENT},
	    {ERROR_BAD_PATHNAME, ENOENT},
	    {ERROR_INVALID_DRIVE, ENOENT},
	    {ERROR_BAD_NETPATH, ENOENT},
	    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
	    {ERROR_ACCESS_DENIED, EACCES},
	    {ERROR_SHARING_VIOLATION, EACCES},
	    {ERROR_LOCK_VIOLATION, EACCES},
	    {WIDE_ELEVATION_REQUIRED, EACCES},
	    {ERROR_WRITE_PROTECT, EROFS},
	    {ERROR_INVALID_HANDLE, EBADF},
	    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
	    {ERROR_OUTOFMEMORY, ENOMEM},
	    {ERROR_FILE_EXISTS, EEXIST},
	    {ERROR_ALREADY_EXISTS, EEXIST},
	    {ERROR_BROKEN_PIPE, EPIPE},
	    {ERROR_NO_DATA, EPIPE},
	    {ERROR_DISK_FULL, ENOSPC},
	    {ERROR_HANDLE_DISK_FULL, ENOSPC},
	    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
	    {ERROR_BAD_EXE_FORMAT, ENOEXEC},
	    {ERROR_BAD_FORMAT, ENOEXEC},
	    {ERROR_EXE_MACHINE_TYPE_MISMATCH, ENOEXEC},
	    {ERROR_INVALID_PARAMETER, EINVAL},
	};
	size_t i;

	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (numbers[i].problem == problem)
			return numbers[i].number;
	return EIO;
}

int wide_fail(void)
{
	errno = wide_errno(GetLastError());
	return -1;
}
