/*
 * call.c - system calls that are put on the bill, and the reading of whole
 * files. Everything in this folder that enters the kernel for a figure goes
 * through here (clocks that the vDSO answers do not enter it), so that the
 * bill agrees with strace.
 */
#include "host/linux/gnu.h"

#include "core/text.h"
#include "host/linux/system.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int plimp_call_open(plim_host *host, int directory, const char *path, int flags)
{
	int descriptor;

	host->bill.system_calls++;
	descriptor = openat(directory, path, flags | O_CLOEXEC);
	if (descriptor < 0 && plimp_is_starved(errno))
		host->system->starved = errno;
	return descriptor;
}

/* errno survives, so that a failure can be told after cleaning up. */
void plimp_call_close(plim_host *host, int descriptor)
{
	int saved = errno;

	if (descriptor < 0)
		return;
	host->bill.system_calls++;
	close(descriptor);
	errno = saved;
}

ssize_t plimp_call_read(plim_host *host, int descriptor, void *buffer,
			size_t size)
{
	ssize_t count;

	do {
		host->bill.system_calls++;
		count = read(descriptor, buffer, size);
	} while (count < 0 && errno == EINTR);
	if (count > 0)
		host->bill.bytes_read += (uint64_t)count;
	return count;
}

ssize_t plimp_call_pread(plim_host *host, int descriptor, void *buffer,
			 size_t size)
{
	ssize_t count;

	do {
		host->bill.system_calls++;
		count = pread(descriptor, buffer, size, 0);
	} while (count < 0 && errno == EINTR);
	if (count > 0)
		host->bill.bytes_read += (uint64_t)count;
	return count;
}

static uint64_t call_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u +
	       (uint64_t)time.tv_usec * 1000u;
}

/* 1 if it is no child any more. */
static int call_reap(plim_host *host, int32_t pid)
{
	struct rusage usage;
	int status;
	pid_t ended;

	host->bill.system_calls++;
	ended = wait4((pid_t)pid, &status, __WALL | WNOHANG, &usage);
	if (ended == 0 || (ended < 0 && errno == EINTR))
		return 0;
	if (ended > 0)
		host->bill.helper_cpu_ns +=
		    call_ns(usage.ru_utime) + call_ns(usage.ru_stime);
	return 1;
}

int plimp_call_reap(plim_host *host, int32_t pid, int pidfd)
{
	const long pause_ns = pidfd >= 0 ? 10000000 : 100000;
	const struct timespec pause = {0, pause_ns};
	const uint64_t end_ns = plimp_system_monotonic() + 1000000000u;
	struct pollfd entry = {pidfd, POLLIN, 0};

	/* By the clock: a signal of the caller's ends a pause early. */
	while (!call_reap(host, pid)) {
		if (plimp_system_monotonic() >= end_ns)
			return 0;
		host->bill.system_calls++;
		ppoll(&entry, pidfd >= 0, &pause, NULL);
	}
	return 1;
}

int plimp_call_stat(plim_host *host, int directory, const char *path,
		    struct stat *status, int flags)
{
	host->bill.system_calls++;
	return fstatat(directory, path, status, flags);
}

ssize_t plimp_call_readlink(plim_host *host, int directory, const char *path,
			    char *buffer, size_t size)
{
	host->bill.system_calls++;
	return readlinkat(directory, path, buffer, size);
}

int plimp_call_fstat(plim_host *host, int descriptor, struct stat *status)
{
	host->bill.system_calls++;
	return fstat(descriptor, status);
}

ssize_t plimp_call_dents(plim_host *host, int descriptor, void *buffer,
			 size_t size)
{
	long count;

	host->bill.system_calls++;
	count = syscall(SYS_getdents64, descriptor, buffer, size);
	if (count > 0)
		host->bill.bytes_read += (uint64_t)count;
	return (ssize_t)count;
}

off_t plimp_call_seek(plim_host *host, int descriptor, off_t offset, int whence)
{
	host->bill.system_calls++;
	return lseek(descriptor, offset, whence);
}

/* A pidfd is close-on-exec from birth. */
int plimp_call_pidfd(plim_host *host, int32_t pid)
{
	int descriptor;

	host->bill.system_calls++;
	descriptor = (int)syscall(PLIMP_SYS_PIDFD_OPEN, pid, 0);
	if (descriptor < 0 && plimp_is_starved(errno))
		host->system->starved = errno;
	return descriptor;
}

static int call_take(plim_host *host, ssize_t count, plim_bytes *text)
{
	if (count < 0)
		return errno;
	if ((size_t)count == sizeof host->system->buffer)
		return EFBIG;
	text->data = host->system->buffer;
	text->size = (size_t)count;
	return 0;
}

int plimp_read_file(plim_host *host, int directory, const char *path,
		    plim_bytes *text)
{
	int descriptor = plimp_call_open(host, directory, path,
					 O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	ssize_t count;
	int error;

	if (descriptor < 0)
		return errno;
	count = plimp_call_read(host, descriptor, host->system->buffer,
				sizeof host->system->buffer);
	error = call_take(host, count, text);
	plimp_call_close(host, descriptor);
	return error;
}

int plimp_read_held(plim_host *host, int descriptor, plim_bytes *text)
{
	ssize_t count = plimp_call_pread(host, descriptor, host->system->buffer,
					 sizeof host->system->buffer);

	return call_take(host, count, text);
}

int plimp_open_process(plim_host *host, int32_t pid)
{
	char path[PLIMP_DIGITS + 1];

	assert(pid > 0);
	path[plimp_digits((uint64_t)pid, path)] = '\0';
	return plimp_call_open(host, host->system->root, path,
			       O_PATH | O_DIRECTORY);
}

int plimp_probe_directory(plim_host *host, int directory)
{
	struct stat status;

	return plimp_call_stat(host, directory, "stat", &status, 0) == 0
		   ? 0
		   : errno;
}

int plimp_is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

int plimp_is_starved(int error)
{
	return error == EMFILE || error == ENFILE;
}

int plimp_reason_of(int error)
{
	switch (error) {
	case ESRCH:
		return PLIM_REASON_ENDED;
	case ENOENT:
		return PLIM_REASON_NO_FILE;
	case EACCES:
	case EPERM:
		return PLIM_REASON_NOT_PERMITTED;
	case EMFILE:
	case ENFILE:
		return PLIM_REASON_TOO_MANY_DESCRIPTORS;
	case EFBIG:
	case EBADMSG:
		return PLIM_REASON_BAD_TEXT;
	case ENOSYS:
		return PLIM_REASON_KERNEL_LACKS;
	default:
		return PLIM_REASON_READ_FAILED;
	}
}

plim_count plimp_missing_file(int error)
{
	return plim_count_missing(plimp_reason_of(error), error);
}
