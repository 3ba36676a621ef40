/*
 * file_other.c - files of another Unix, where POSIX ends (file_posix.h): it
 * does not tell where our program lies, and room is not given beforehand.
 */
#include "file_posix.h"

void file_look_written(const struct stat *there, struct file_about *about)
{
	about->written_s = (uint64_t)there->st_mtime;
	about->written_ns = 0;
}

int file_reserve(int descriptor, uint64_t size)
{
	(void)descriptor;
	(void)size;
	return 0;
}

int file_own_path(char *path, size_t size)
{
	(void)path;
	(void)size;
	return 0;
}
