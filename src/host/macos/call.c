/*
 * call.c - the calls into macOS, one function each, put on the bill. Nothing is
 * decided here; what is, stands in the other files and is tested anywhere.
 * Compiled for macOS alone.
 */
#include "host/macos/call.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <limits.h>
#include <mach/mach_time.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sysctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int call_int(size_t size)
{
	return size > INT_MAX ? INT_MAX : (int)size;
}

/* libproc gives a number of entries, and -1 or 0 for an error. */
int64_t plimp_mac_call_pids(plim_host *host, void *buffer, size_t size)
{
	int count;

	host->bill.system_calls++;
	errno = 0;
	count = proc_listallpids(buffer, call_int(size));
	if (count <= 0)
		return errno != 0 ? -(int64_t)errno : -(int64_t)EIO;
	if (buffer != NULL)
		host->bill.bytes_read += (uint64_t)count * sizeof(int32_t);
	return (int64_t)count * (int64_t)sizeof(int32_t);
}

int64_t plimp_mac_call_info(plim_host *host, int32_t pid, int flavour,
			    uint64_t argument, void *buffer, size_t size)
{
	int came;

	host->bill.system_calls++;
	errno = 0;
	came = proc_pidinfo(pid, flavour, argument, buffer, call_int(size));
	/* A list of files may be empty. */
	if (came <= 0 && errno != 0)
		return -(int64_t)errno;
	if (came <= 0)
		return flavour == PLIMP_MAC_LIST_FILES ? 0 : -(int64_t)ESRCH;
	host->bill.bytes_read += (uint64_t)came;
	return came;
}

int64_t plimp_mac_call_path(plim_host *host, int32_t pid, char *path,
			    size_t size)
{
	int length;

	host->bill.system_calls++;
	errno = 0;
	length = proc_pidpath(pid, path, (uint32_t)call_int(size));
	if (length <= 0)
		return errno != 0 ? -(int64_t)errno : -(int64_t)ENOENT;
	host->bill.bytes_read += (uint64_t)length;
	return length;
}

int plimp_mac_call_rusage(plim_host *host, int32_t pid, int flavour,
			  void *buffer)
{
	host->bill.system_calls++;
	if (proc_pid_rusage(pid, flavour, (rusage_info_t *)buffer) != 0)
		return -errno;
	host->bill.bytes_read += plimp_mac_rusage_size(flavour);
	return 0;
}

int64_t plimp_mac_call_arguments(plim_host *host, int32_t pid, void *buffer,
				 size_t size)
{
	int name[3] = {CTL_KERN, KERN_PROCARGS2, pid};

	host->bill.system_calls++;
	if (sysctl(name, 3, buffer, &size, NULL, 0) != 0)
		return -(int64_t)errno;
	if (buffer != NULL)
		host->bill.bytes_read += size;
	return (int64_t)size;
}

int64_t plimp_mac_call_sysctl(plim_host *host, const char *name, void *buffer,
			      size_t size)
{
	host->bill.system_calls++;
	if (sysctlbyname(name, buffer, &size, NULL, 0) != 0)
		return -(int64_t)errno;
	return (int64_t)size;
}

uint64_t plimp_mac_call_absolute(void)
{
	return mach_absolute_time();
}

uint64_t plimp_mac_call_continuous(void)
{
	return mach_continuous_time();
}

static uint64_t call_clock(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) != 0)
		return 0;
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t plimp_mac_call_unix_ns(void)
{
	return call_clock(CLOCK_REALTIME);
}

struct plimp_mac_scale plimp_mac_call_scale(void)
{
	mach_timebase_info_data_t info = {0, 0};

	mach_timebase_info(&info);
	return (struct plimp_mac_scale){info.numer, info.denom};
}

int32_t plimp_mac_call_pid(void)
{
	return getpid();
}

uint32_t plimp_mac_call_uid(void)
{
	return geteuid();
}

uint64_t plimp_mac_call_thread(void)
{
	uint64_t id = 0;

	return pthread_threadid_np(NULL, &id) == 0 ? id : 0;
}

uint64_t plimp_mac_call_page(void)
{
	long size = sysconf(_SC_PAGESIZE);

	return size > 0 ? (uint64_t)size : 4096;
}

static int64_t call_cpu(plim_host *host, clockid_t clock)
{
	struct timespec time;

	host->bill.system_calls++;
	if (clock_gettime(clock, &time) != 0)
		return -(int64_t)errno;
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t plimp_mac_call_thread_cpu(plim_host *host)
{
	return call_cpu(host, CLOCK_THREAD_CPUTIME_ID);
}

int64_t plimp_mac_call_process_cpu(plim_host *host)
{
	return call_cpu(host, CLOCK_PROCESS_CPUTIME_ID);
}

/* The kernel refuses a wait of more than some years (itimerfix()). */
#define CALL_LONGEST UINT64_C(86400000000000)

/* There is no ppoll() here. A descriptor beyond the sets of pselect() is
 * waited for in milliseconds, rounded up so that nobody is woken early. */
static int call_wait(int descriptor, uint64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000u),
				(long)(ns % 1000000000u)};
	struct pollfd entry = {descriptor, POLLIN, 0};
	uint64_t ms = ns / 1000000u + (ns % 1000000u != 0);
	fd_set set;

	if (descriptor >= FD_SETSIZE)
		return poll(&entry, 1, call_int((size_t)ms));
	FD_ZERO(&set);
	if (descriptor >= 0)
		FD_SET(descriptor, &set);
	return pselect(descriptor + 1, &set, NULL, NULL, &time, NULL);
}

int plimp_mac_call_sleep(plim_host *host, uint64_t ns, int descriptor)
{
	uint64_t begin = call_clock(CLOCK_UPTIME_RAW);
	uint64_t spent = 0;

	for (;;) {
		uint64_t rest = ns - spent;
		int ready;

		host->bill.system_calls++;
		ready = call_wait(descriptor,
				  rest < CALL_LONGEST ? rest : CALL_LONGEST);
		if (ready > 0)
			return 1;
		if (ready < 0 && errno != EINTR)
			return -errno;
		spent = call_clock(CLOCK_UPTIME_RAW) - begin;
		if (spent >= ns)
			return 0;
	}
}

int plimp_mac_call_queue(plim_host *host, int32_t pid, int status)
{
	const uint32_t what = NOTE_EXIT | (status ? NOTE_EXITSTATUS : 0);
	struct kevent change;
	int queue;

	host->bill.system_calls += 3;
	queue = kqueue();
	if (queue < 0)
		return -errno;
	fcntl(queue, F_SETFD, FD_CLOEXEC);
	EV_SET(&change, (uintptr_t)pid, EVFILT_PROC, EV_ADD | EV_ENABLE, what,
	       0, NULL);
	if (kevent(queue, &change, 1, NULL, 0, NULL) != 0) {
		int error = errno;

		close(queue);
		return -error;
	}
	return queue;
}

/* The event goes once it was taken; one of our own takes its place, so that
 * the queue stays readable for whoever polls it. */
int plimp_mac_call_ended(plim_host *host, int queue, uint32_t *status)
{
	const struct timespec now = {0, 0};
	struct kevent told;
	struct kevent mark;
	int count;

	host->bill.system_calls++;
	do
		count = kevent(queue, NULL, 0, &told, 1, &now);
	while (count < 0 && errno == EINTR);
	if (count < 0)
		return -errno;
	if (count == 0)
		return 0;
	if (told.filter == EVFILT_PROC) {
		*status = (uint32_t)told.data;
		host->bill.system_calls++;
		EV_SET(&mark, 1, EVFILT_USER, EV_ADD, NOTE_TRIGGER, 0, NULL);
		kevent(queue, &mark, 1, NULL, 0, NULL);
	}
	return 1;
}

/* Declared by libproc.h; in libSystem since macOS 14.4, so that it is looked
 * for at run time. */
typedef int call_signal_fn(audit_token_t *token, int number);

static call_signal_fn *call_find_signal(void)
{
	/* An address of a function as POSIX's dlsym() gives it. */
	union {
		void *address;
		call_signal_fn *function;
	} found;

	found.address = dlsym(RTLD_DEFAULT, "proc_signal_with_audittoken");
	return found.function;
}

int plimp_mac_call_has_signal(void)
{
	return call_find_signal() != NULL;
}

/* Of an audit token the kernel looks at the pid and its version alone. */
int plimp_mac_call_signal(plim_host *host, int32_t pid, uint32_t version,
			  int number)
{
	call_signal_fn *function = call_find_signal();
	audit_token_t token = {{0}};

	if (function == NULL)
		return -ENOSYS;
	token.val[5] = (uint32_t)pid;
	token.val[7] = version;
	host->bill.system_calls++;
	return -function(&token, number);
}

void plimp_mac_call_close(plim_host *host, int descriptor)
{
	host->bill.system_calls++;
	close(descriptor);
}

int plimp_mac_call_await(plim_host *host, int32_t child)
{
	siginfo_t info;
	int result;

	do {
		host->bill.system_calls++;
		result = waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	} while (result != 0 && errno == EINTR);
	return result != 0 ? -errno : 0;
}

static uint64_t call_mac_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u +
	       (uint64_t)time.tv_usec * 1000u;
}

int plimp_mac_call_reap(plim_host *host, int32_t child, int *status,
			struct plimp_mac_account *account)
{
	struct rusage usage;
	pid_t pid;

	do {
		host->bill.system_calls++;
		pid = wait4(child, status, 0, &usage);
	} while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return -errno;
	*account = (struct plimp_mac_account){
	    .user_ns = call_mac_ns(usage.ru_utime),
	    .system_ns = call_mac_ns(usage.ru_stime),
	    .faults_minor = usage.ru_minflt > 0 ? (uint64_t)usage.ru_minflt : 0,
	    .faults_major = usage.ru_majflt > 0 ? (uint64_t)usage.ru_majflt : 0,
	};
	return 0;
}
