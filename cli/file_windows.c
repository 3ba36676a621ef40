/*
 * file_windows.c - files of Windows (file.h): names in UTF-16, long ones too,
 * and descriptors of the C library over handles that are shared as on Unix: a
 * file that is open can be renamed, removed and read by others.
 */
#include "file.h"
#include "wide.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <bcrypt.h>

#define FILE_SHARES (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

#define FILE_PIECE 1048576u

/* From 1601 to 1970, in units of 100 ns. */
#define FILE_UNIX_EPOCH UINT64_C(116444736000000000)

int file_open(const char *path, int way)
{
	static const struct {
		DWORD access;
		DWORD creation;
		int flags;
	} ways[] = {
	    [FILE_READ] = {GENERIC_READ, OPEN_EXISTING, _O_RDONLY},
	    [FILE_MAKE] = {GENERIC_WRITE | DELETE, CREATE_NEW, _O_WRONLY},
	    [FILE_WRITE] = {GENERIC_WRITE, OPEN_ALWAYS, _O_WRONLY},
	    [FILE_APPEND] = {FILE_APPEND_DATA | SYNCHRONIZE, OPEN_ALWAYS,
			     _O_WRONLY | _O_APPEND},
	    [FILE_THERE] = {GENERIC_WRITE, OPEN_EXISTING, _O_WRONLY},
	};
	wchar_t *wide = wide_path(path);
	HANDLE handle;
	int descriptor;

	if (wide == NULL) {
		errno = ENOMEM;
		return -1;
	}
	handle = CreateFileW(wide, ways[way].access, FILE_SHARES, NULL,
			     ways[way].creation, FILE_ATTRIBUTE_NORMAL, NULL);
	free(wide);
	if (handle == INVALID_HANDLE_VALUE)
		return wide_fail();
	descriptor = _open_osfhandle(
	    (intptr_t)handle, ways[way].flags | _O_BINARY | _O_NOINHERIT);
	if (descriptor < 0)
		CloseHandle(handle);
	return descriptor;
}

int file_input(void)
{
	return _dup(_fileno(stdin));
}

long file_take(int descriptor, char *bytes, size_t size)
{
	return _read(descriptor, bytes,
		     size < FILE_PIECE ? (unsigned)size : FILE_PIECE);
}

int file_put(int descriptor, const char *bytes, size_t size)
{
	while (size > 0) {
		const int count =
		    _write(descriptor, bytes,
			   size < FILE_PIECE ? (unsigned)size : FILE_PIECE);

		if (count < 0)
			return errno;
		bytes += count;
		size -= (size_t)count;
	}
	return 0;
}

int file_empty(FILE *file)
{
	return _chsize_s(_fileno(file), 0) == 0 ? 0 : -1;
}

int file_reserve(int descriptor, uint64_t size)
{
	FILE_ALLOCATION_INFO room;

	room.AllocationSize.QuadPart = (LONGLONG)size;
	if (SetFileInformationByHandle((HANDLE)_get_osfhandle(descriptor),
				       FileAllocationInfo, &room,
				       sizeof room) ||
	    wide_errno(GetLastError()) != ENOSPC)
		return 0;
	return ENOSPC;
}

static int look_handle(HANDLE handle, struct file_about *about)
{
	BY_HANDLE_FILE_INFORMATION there;
	uint64_t ticks;

	memset(about, 0, sizeof *about);
	if (GetFileType(handle) != FILE_TYPE_DISK) {
		about->kind = FILE_OTHER;
		return GetFileType(handle) != FILE_TYPE_UNKNOWN;
	}
	if (!GetFileInformationByHandle(handle, &there))
		return 0;
	about->kind = (there.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0
			  ? FILE_FOLDER
			  : FILE_REGULAR;
	about->volume = there.dwVolumeSerialNumber;
	about->number =
	    (uint64_t)there.nFileIndexHigh << 32 | there.nFileIndexLow;
	about->size = (uint64_t)there.nFileSizeHigh << 32 | there.nFileSizeLow;
	ticks = (uint64_t)there.ftLastWriteTime.dwHighDateTime << 32 |
		there.ftLastWriteTime.dwLowDateTime;
	if (ticks >= FILE_UNIX_EPOCH) {
		about->written_s = (ticks - FILE_UNIX_EPOCH) / 10000000;
		about->written_ns = (ticks - FILE_UNIX_EPOCH) % 10000000 * 100;
	}
	return 1;
}

/* Without any right to it: enough to be told about it, also of a folder. */
static HANDLE look_open(const char *path)
{
	wchar_t *wide = wide_path(path);
	HANDLE handle = INVALID_HANDLE_VALUE;

	if (wide != NULL)
		handle = CreateFileW(wide, 0, FILE_SHARES, NULL, OPEN_EXISTING,
				     FILE_FLAG_BACKUP_SEMANTICS, NULL);
	free(wide);
	return handle;
}

int file_look(const char *path, struct file_about *about)
{
	const HANDLE handle = look_open(path);
	int found;

	if (handle == INVALID_HANDLE_VALUE)
		return 0;
	found = look_handle(handle, about);
	CloseHandle(handle);
	return found;
}

int file_look_output(struct file_about *about)
{
	const HANDLE handle = GetStdHandle(STD_OUTPUT_HANDLE);

	return handle != NULL && handle != INVALID_HANDLE_VALUE &&
	       look_handle(handle, about);
}

int file_may_write(const char *path)
{
	const int descriptor = file_open(path, FILE_THERE);

	return descriptor >= 0 ? _close(descriptor) : -1;
}

int file_rename(const char *from, const char *to)
{
	wchar_t *old = wide_path(from);
	wchar_t *new = wide_path(to);
	BOOL done = FALSE;

	if (old != NULL && new != NULL)
		done = MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING);
	else
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
	if (!done)
		wide_fail();
	free(old);
	free(new);
	return done ? 0 : -1;
}

void file_remove(const char *path)
{
	wchar_t *wide = wide_path(path);

	if (wide != NULL)
		DeleteFileW(wide);
	free(wide);
}

/* `C:name` is meant from the drive's own folder. */
size_t file_folder(const char *path)
{
	size_t size = strlen(path);

	while (size > 0 && path[size - 1] != '/' && path[size - 1] != '\\' &&
	       !(size == 2 && path[1] == ':'))
		size--;
	return size;
}

int file_is_absolute(const char *path)
{
	return path[0] == '/' || path[0] == '\\' ||
	       (path[0] != '\0' && path[1] == ':');
}

static char *real_of(HANDLE handle)
{
	const DWORD size =
	    GetFinalPathNameByHandleW(handle, NULL, 0, FILE_NAME_NORMALIZED);
	wchar_t *wide = size > 0 ? malloc((size + 1) * sizeof *wide) : NULL;
	char *real = NULL;

	if (wide != NULL) {
		const DWORD length = GetFinalPathNameByHandleW(
		    handle, wide, size + 1, FILE_NAME_NORMALIZED);

		if (length > 0 && length <= size)
			real = wide_to(wide);
	}
	free(wide);
	return real;
}

/* With the mark of a long path, which every call of ours understands. */
char *file_real_there(const char *path)
{
	const HANDLE handle = look_open(path);
	char *real;

	if (handle == INVALID_HANDLE_VALUE)
		return NULL;
	real = real_of(handle);
	CloseHandle(handle);
	return real;
}

char *file_real(const char *path)
{
	const size_t length = file_folder(path);
	char *real = file_real_there(path);
	char *folder;
	char *above = NULL;
	size_t size;

	if (real != NULL)
		return real;
	folder = malloc(length + 2);
	if (folder == NULL)
		return NULL;
	memcpy(folder, path, length);
	memcpy(folder + length, length > 0 ? "" : ".", length > 0 ? 1 : 2);
	above = file_real_there(folder);
	free(folder);
	if (above == NULL)
		return _strdup(path);
	/* That of a drive's root ends with a backslash; a second one would not
	 * be taken out of a long path. */
	size = strlen(above) + strlen(path + length) + 2;
	real = malloc(size);
	if (real != NULL)
		snprintf(real, size, "%s%s%s", above,
			 above[0] != '\0' && above[strlen(above) - 1] == '\\'
			     ? ""
			     : "\\",
			 path + length);
	free(above);
	return real;
}

int file_own_path(char *path, size_t size)
{
	wchar_t wide[4096];
	const DWORD length =
	    GetModuleFileNameW(NULL, wide, sizeof wide / sizeof wide[0]);
	char *text;
	int fits;

	if (length == 0 || length >= sizeof wide / sizeof wide[0])
		return 0;
	text = wide_to(wide);
	fits = text != NULL && strlen(text) < size;
	if (fits)
		memcpy(path, text, strlen(text) + 1);
	free(text);
	return fits;
}

int file_random(void *bytes, size_t size)
{
	return BCryptGenRandom(NULL, bytes, (ULONG)size,
			       BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

/* Handles have no limit that could be raised. */
void file_raise_limit(void)
{
}
