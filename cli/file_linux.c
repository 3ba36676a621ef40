/*
 * file_linux.c - files of Linux, where POSIX ends (file_posix.h).
 */
#include "file_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void file_look_written(const struct stat *there, struct file_about *about)
{
	about->written_s = (uint64_t)there->st_mtim.tv_sec;
	about->written_ns = (uint64_t)there->st_mtim.tv_nsec;
}

int file_reserve(int descriptor, uint64_t size)
{
	const int number = posix_fallocate(descriptor, 0, (off_t)size);

	return number == ENOSPC || number == EDQUOT || number == EFBIG ||
		       number == EIO
		   ? number
		   : 0;
}

int file_own_path(char *path, size_t size)
{
	const ssize_t got = readlink("/proc/self/exe", path, size - 1);

	if (got <= 0)
		return 0;
	path[got] = '\0';
	return 1;
}
