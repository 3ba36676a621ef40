/*
 * file_macos.c - files of macOS, where POSIX ends (file_posix.h). Room is
 * given by F_PREALLOCATE (fcntl(2)), which leaves the size as it is.
 */
#include "file_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <string.h>

void file_look_written(const struct stat *there, struct file_about *about)
{
	about->written_s = (uint64_t)there->st_mtimespec.tv_sec;
	about->written_ns = (uint64_t)there->st_mtimespec.tv_nsec;
}

int file_reserve(int descriptor, uint64_t size)
{
	fstore_t room;

	memset(&room, 0, sizeof room);
	room.fst_flags = F_ALLOCATEALL;
	room.fst_posmode = F_PEOFPOSMODE;
	room.fst_length = (off_t)size;
	if (fcntl(descriptor, F_PREALLOCATE, &room) == 0)
		return 0;
	return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ||
		       errno == EIO
		   ? errno
		   : 0;
}

int file_own_path(char *path, size_t size)
{
	uint32_t room = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;

	return _NSGetExecutablePath(path, &room) == 0;
}
