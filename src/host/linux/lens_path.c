/*
 * lens_path.c - what a path means to the target: looked up in its mount
 * namespace, below its root.
 *
 * /proc/PID/root leads there, but a lookup that goes on behind it by name would
 * follow an absolute symbolic link from OUR root: whoever owns the target could
 * have us read our own file in place of his. So the root is opened first and
 * the path is looked up below it with openat2(2) (Linux 5.6), whose
 * RESOLVE_IN_ROOT makes absolute links and ".." stay inside, and whose
 * RESOLVE_NO_MAGICLINKS refuses links of /proc that are doors. Where that call
 * is missing or refused, the path is walked component by component, no link
 * ever followed by the kernel: the text of each is put into the path by us, and
 * the walk begins anew.
 */
#include "host/linux/gnu.h"

#include "host/linux/lens.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* include/uapi/linux/openat2.h */
struct path_how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};
#define PATH_NO_MAGIC_LINKS 0x02u
#define PATH_IN_ROOT	    0x10u

/* As the kernel's MAXSYMLINKS; and how often a lookup that a rename made
 * doubtful (EAGAIN) is tried. */
#define PATH_RESTARTS 40
#define PATH_ATTEMPTS 16

static int path_openat2(plim_host *host, int root, const char *path)
{
	struct path_how how = {(uint64_t)O_PATH | (uint64_t)O_CLOEXEC, 0,
			       PATH_IN_ROOT | PATH_NO_MAGIC_LINKS};
	int descriptor = -1;
	int attempt;

	for (attempt = 0; attempt < PATH_ATTEMPTS; attempt++) {
		host->bill.system_calls++;
		descriptor = (int)syscall(PLIMP_SYS_OPENAT2, root, path, &how,
					  sizeof how);
		if (descriptor >= 0 || errno != EAGAIN)
			break;
	}
	if (descriptor < 0 && plimp_is_starved(errno))
		host->system->starved = errno;
	return descriptor;
}

/* A walk: the path as it is by now, and where in it the next component is. */
struct path_walk {
	plim_host *host;
	int root;
	int at; /* the directory come to; the root itself is not closed */
	size_t next;
	char path[PATH_MAX];
};

static void path_begin(struct path_walk *walk)
{
	if (walk->at != walk->root)
		plimp_call_close(walk->host, walk->at);
	walk->at = walk->root;
	walk->next = 0;
}

/* Puts `text` in place of the bytes from `start` to `end`. 0 or ENAMETOOLONG.
 */
static int path_splice(struct path_walk *walk, size_t start, size_t end,
		       const char *text, size_t size)
{
	size_t rest = strlen(walk->path + end) + 1;

	if (start + size + rest > sizeof walk->path)
		return ENAMETOOLONG;
	memmove(walk->path + start + size, walk->path + end, rest);
	memcpy(walk->path + start, text, size);
	return 0;
}

/* The component from `start` to `end` is a link that was opened: its text takes
 * its place, or that of all before it. */
static int path_follow(struct path_walk *walk, int link, size_t start,
		       size_t end)
{
	char text[PATH_MAX];
	ssize_t size =
	    plimp_call_readlink(walk->host, link, "", text, sizeof text);

	if (size < 0)
		return errno;
	if (size == 0)
		return ENOENT;
	if ((size_t)size == sizeof text)
		return ENAMETOOLONG;
	return path_splice(walk, text[0] == '/' ? 0 : start, end, text,
			   (size_t)size);
}

/* ".." from `start` to `end` goes, and the component before it, which is no
 * link, or it would have been replaced. */
static int path_up(struct path_walk *walk, size_t start, size_t end)
{
	size_t before = start;

	while (before > 0 && walk->path[before - 1] == '/')
		before--;
	while (before > 0 && walk->path[before - 1] != '/')
		before--;
	return path_splice(walk, before, end, "", 0);
}

/* One component: 0 and `*again` where the walk begins anew, or the error. */
static int path_step(struct path_walk *walk, size_t start, size_t end,
		     int *again)
{
	char name[NAME_MAX + 1];
	struct stat status;
	int descriptor;
	int problem = 0;

	*again = 0;
	if (end - start > NAME_MAX)
		return ENAMETOOLONG;
	memcpy(name, walk->path + start, end - start);
	name[end - start] = '\0';
	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		*again = 1;
		return path_up(walk, start, end);
	}
	descriptor =
	    plimp_call_open(walk->host, walk->at, name, O_PATH | O_NOFOLLOW);
	if (descriptor < 0)
		return errno;
	if (plimp_call_fstat(walk->host, descriptor, &status) != 0)
		problem = errno;
	else if (S_ISLNK(status.st_mode)) {
		*again = 1;
		problem = path_follow(walk, descriptor, start, end);
	}
	if (problem != 0 || *again) {
		plimp_call_close(walk->host, descriptor);
		return problem;
	}
	if (walk->at != walk->root)
		plimp_call_close(walk->host, walk->at);
	walk->at = descriptor;
	return 0;
}

/* Walks on to the end, or to where it must begin anew. */
static int path_pass(struct path_walk *walk, int *again)
{
	int problem = 0;

	*again = 0;
	while (problem == 0 && !*again) {
		size_t start = walk->next;
		size_t end;

		while (walk->path[start] == '/')
			start++;
		if (walk->path[start] == '\0')
			break;
		end = start + strcspn(walk->path + start, "/");
		walk->next = end;
		problem = path_step(walk, start, end, again);
	}
	return problem;
}

static int path_by_steps(plim_host *host, int root, const char *path)
{
	struct path_walk walk = {.host = host, .root = root, .at = root};
	int problem = strlen(path) < sizeof walk.path ? 0 : ENAMETOOLONG;
	int again = 1;
	int restarts;

	if (problem == 0)
		memcpy(walk.path, path, strlen(path) + 1);
	for (restarts = 0; problem == 0 && again; restarts++) {
		path_begin(&walk);
		problem = restarts == PATH_RESTARTS ? ELOOP
						    : path_pass(&walk, &again);
	}
	if (problem == 0 && walk.at != root)
		return walk.at;
	path_begin(&walk);
	/* The root itself is no regular file. */
	errno = problem != 0 ? problem : EINVAL;
	return -1;
}

static int path_below(plim_host *host, int root, const char *path)
{
	int descriptor = path_openat2(host, root, path);

	/* A filter of system calls refuses with one of these two. */
	if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
		descriptor = path_by_steps(host, root, path);
	return descriptor;
}

/* The root of now is held from here on; of a process that has ended, the one
 * that it had. */
static int path_root(struct plimp_lens *lens)
{
	char name[48];
	int root;

	snprintf(name, sizeof name, "%sroot", lens->folder);
	root = plimp_call_open(lens->host, lens->directory, name,
			       O_PATH | O_DIRECTORY);
	if (root >= 0) {
		plimp_call_close(lens->host, lens->root);
		lens->root = root;
	}
	return lens->root;
}

void plimp_system_lens_hold(struct plimp_lens *lens)
{
	if (lens->root < 0)
		(void)path_root(lens);
	(void)plimp_system_lens_inner_pid(lens);
}

/* The link of its root has them, too. */
size_t plimp_system_lens_outside(struct plimp_lens *lens, const char *path)
{
	char name[48];
	char text[PATH_MAX];
	ssize_t size;

	snprintf(name, sizeof name, "%sroot", lens->folder);
	size = plimp_call_readlink(lens->host, lens->directory, name, text,
				   sizeof text);
	if (size <= 1 || (size_t)size == sizeof text ||
	    strncmp(path, text, (size_t)size) != 0 || path[size] != '/')
		return 0;
	return (size_t)size;
}

int plimp_lens_below_root(struct plimp_lens *lens, const char *path,
			  int is_name)
{
	int root = path_root(lens);

	if (root < 0)
		return -1;
	if (is_name)
		path += plimp_system_lens_outside(lens, path);
	return path_below(lens->host, root, path);
}

int plimp_lens_below_ours(struct plimp_lens *lens, const char *path)
{
	int root =
	    plimp_call_open(lens->host, AT_FDCWD, "/", O_PATH | O_DIRECTORY);
	int descriptor;

	if (root < 0)
		return -1;
	descriptor = path_below(lens->host, root, path);
	plimp_call_close(lens->host, root);
	return descriptor;
}
