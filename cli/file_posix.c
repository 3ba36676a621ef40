/*
 * file_posix.c - files of a system of POSIX (file.h): the names go to the
 * system as they are.
 */
#include "file_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int file_open(const char *path, int way)
{
	static const int flags[] = {
	    [FILE_READ] = O_RDONLY,
	    [FILE_MAKE] = O_WRONLY | O_CREAT | O_EXCL,
	    [FILE_WRITE] = O_WRONLY | O_CREAT,
	    [FILE_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
	    [FILE_THERE] = O_WRONLY | O_NOCTTY,
	};

	return open(path, flags[way] | O_CLOEXEC, 0666);
}

int file_input(void)
{
	return dup(STDIN_FILENO);
}

long file_take(int descriptor, char *bytes, size_t size)
{
	return (long)read(descriptor, bytes, size);
}

int file_put(int descriptor, const char *bytes, size_t size)
{
	while (size > 0) {
		const ssize_t count = write(descriptor, bytes, size);

		if (count < 0 && errno != EINTR)
			return errno;
		if (count > 0) {
			bytes += count;
			size -= (size_t)count;
		}
	}
	return 0;
}

int file_empty(FILE *file)
{
	return ftruncate(fileno(file), 0);
}

static int look_fill(const struct stat *there, struct file_about *about)
{
	about->kind = S_ISREG(there->st_mode)	? FILE_REGULAR
		      : S_ISDIR(there->st_mode) ? FILE_FOLDER
						: FILE_OTHER;
	about->volume = (uint64_t)there->st_dev;
	about->number = (uint64_t)there->st_ino;
	about->size = (uint64_t)there->st_size;
	file_look_written(there, about);
	return 1;
}

int file_look(const char *path, struct file_about *about)
{
	struct stat there;

	return stat(path, &there) == 0 && look_fill(&there, about);
}

int file_look_output(struct file_about *about)
{
	struct stat there;

	return fstat(STDOUT_FILENO, &there) == 0 && look_fill(&there, about);
}

int file_may_write(const char *path)
{
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

int file_rename(const char *from, const char *to)
{
	return rename(from, to);
}

void file_remove(const char *path)
{
	unlink(path);
}

size_t file_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

int file_is_absolute(const char *path)
{
	return path[0] == '/';
}

char *file_real_there(const char *path)
{
	return realpath(path, NULL);
}

char *file_real(const char *path)
{
	const size_t length = file_folder(path);
	const char *base = path + length;
	char *real = realpath(path, NULL);
	char folder[PATH_MAX] = ".";
	char *above;
	size_t size;

	if (real != NULL)
		return real;
	if (length + 1 > sizeof folder)
		return strdup(path);
	if (length > 0)
		snprintf(folder, sizeof folder, "%.*s", (int)length, path);
	above = realpath(folder, NULL);
	if (above == NULL)
		return strdup(path);
	size = strlen(above) + strlen(base) + 2;
	real = malloc(size);
	if (real != NULL)
		snprintf(real, size, "%s/%s", above, base);
	free(above);
	return real;
}

static int file_runs(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
	       access(path, X_OK) == 0;
}

/* As execvp() finds it. */
char *file_program(const char *name)
{
	const char *list = getenv("PATH");
	char path[PATH_MAX];

	if (strchr(name, '/') != NULL)
		return file_runs(name) ? strdup(name) : NULL;
	if (list == NULL)
		list = "/bin:/usr/bin";
	while (*list != '\0') {
		int size = (int)strcspn(list, ":");

		snprintf(path, sizeof path, "%.*s%s%s", size, list,
			 size > 0 ? "/" : "", name);
		if (file_runs(path))
			return strdup(path);
		list += size + (list[size] == ':');
	}
	return NULL;
}

int file_random(void *bytes, size_t size)
{
	FILE *random = fopen("/dev/urandom", "rb");
	size_t got;

	if (random == NULL)
		return 0;
	got = fread(bytes, 1, size, random);
	fclose(random);
	return got == size;
}

/* One that is raised once a command has been started is ours alone. */
void file_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
