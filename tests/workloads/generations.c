/*
 * generations.c - a storm in which pids are used again and again.
 *
 * Usage: generations LIVE LOG PIDS FOLDER. In a pid namespace of its own it
 * keeps LIVE processes alive, ends one after another by chance and starts the
 * next: half of them at once with the pid that became free, the others where
 * the kernel's count has come to, which goes round below PIDS. A third of the
 * births end at once. LOG is an open descriptor for the log of generations.h.
 * It is ready when all LIVE are there; `stop` ends the storm and tells of it,
 * the CPU time of all that it has waited for and its own included; `end` ends
 * everybody.
 */
#include "generations.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GEN_SECONDS 240
#define GEN_FIRST   300 /* the kernel's RESERVED_PIDS */

static struct {
	struct gen_log *log;
	uint32_t *live; /* numbers of the generations that live */
	uint32_t count;
	uint32_t most;
	uint32_t elders;
	int32_t pids;
	int counted; /* the kernel's count is set back by us */
	int file;
	int nothing;
	uint32_t seed;
	uint64_t ends;
	uint64_t again; /* births with the pid that was just freed */
} storm;

static uint32_t gen_chance(uint32_t below)
{
	storm.seed = storm.seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)storm.seed * below >> 32);
}

static uint64_t gen_tick(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 100 + (uint64_t)now.tv_nsec / 10000000;
}

static void gen_step(void)
{
	__atomic_add_fetch(&storm.log->step, 1, __ATOMIC_SEQ_CST);
}

static int gen_put(const char *path, long number)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "%ld", number);
	int file = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t put;

	if (file < 0)
		return -1;
	put = write(file, text, (size_t)size);
	close(file);
	return put == size ? 0 : -1;
}

/*
 * The range of pids. pid_max belongs to the namespace since Linux 6.14, and to
 * the machine before: it is not touched there, nor outside of a namespace.
 */
static void gen_range(void)
{
	struct utsname names;
	struct stat own;
	unsigned major = 0;
	unsigned minor = 0;

	if (stat("/proc/self/ns/pid", &own) != 0 || own.st_ino == 0xeffffffc) {
		errno = EPERM;
		workload_fail("a pid namespace of its own");
	}
	uname(&names);
	if (sscanf(names.release, "%u.%u", &major, &minor) == 2 &&
	    major * 1000 + minor >= 6014 &&
	    gen_put("/proc/sys/kernel/pid_max", storm.pids) == 0)
		return;
	storm.counted = 1;
}

static void gen_busy(void)
{
	for (;;) {
		uint64_t end = workload_monotonic_ns() + 2000000;

		while (workload_monotonic_ns() < end)
			;
		workload_sleep_ns(8000000);
	}
}

static void gen_write(uint64_t number, uint64_t page)
{
	static const char bytes[GEN_PAGE] = {1};
	off_t at = (off_t)((number % 4096 * 8 + page) * GEN_PAGE);

	if (pwrite(storm.file, bytes, sizeof(bytes), at) != GEN_PAGE)
		workload_fail("pwrite");
}

static void gen_cost(uint64_t number)
{
	uint64_t end = workload_cpu_ns() + gen_spin_ns(number);

	if (gen_pages(number) != 0)
		workload_touched(gen_pages(number) * GEN_PAGE);
	for (uint64_t i = 0; i < gen_written(number); i++)
		gen_write(number, i);
	for (uint64_t i = 0; i < gen_calls(number); i++)
		if (write(storm.nothing, "x", 1) != 1)
			workload_fail("write");
	while (gen_spin_ns(number) != 0 && workload_cpu_ns() < end)
		;
}

static void gen_child(uint32_t number, int kind)
{
	char name[16];

	if (kind == GEN_FLASH)
		_exit(0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	gen_cost(number);
	snprintf(name, sizeof(name), "g%u", (unsigned)number);
	prctl(PR_SET_NAME, name);
	if (kind == GEN_BUSY)
		gen_busy();
	for (uint64_t i = 0; kind == GEN_WRITER; i++) {
		workload_sleep_ns(GEN_WRITER_NS);
		gen_write(number, i % 8);
	}
	for (;;)
		pause();
}

/* A child with any pid (0) or this one; its pidfd. */
static pid_t gen_clone(pid_t pid, int *pidfd)
{
	struct clone_args arguments = {
	    .flags = CLONE_PIDFD,
	    .pidfd = (uint64_t)(uintptr_t)pidfd,
	    .exit_signal = SIGCHLD,
	};

	if (pid != 0) {
		arguments.set_tid = (uint64_t)(uintptr_t)&pid;
		arguments.set_tid_size = 1;
	}
	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

static uint64_t gen_inode(int pidfd)
{
	struct stat status;

	return fstat(pidfd, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* Writes the entry of a birth; 0 if no process could be had. */
static pid_t gen_birth(pid_t pid, int kind)
{
	uint32_t number = (uint32_t)storm.log->count;
	struct gen *gen = &storm.log->items[number];
	int pidfd = -1;
	pid_t child;

	if (number >= GEN_CAPACITY)
		return 0;
	gen_step();
	gen->kind = kind;
	gen->tick_low = gen_tick();
	gen->born_before = workload_monotonic_ns();
	if (kind == GEN_FLASH)
		gen->end_before = gen->born_before;
	child = gen_clone(pid, &pidfd);
	if (child == 0)
		gen_child(number, kind);
	if (child > 0 && child < GEN_PIDS) {
		gen->born_after = workload_monotonic_ns();
		gen->tick_high = gen_tick();
		gen->inode = gen_inode(pidfd);
		gen->pid = child;
		gen->before = storm.log->last[child];
		storm.log->last[child] = (int32_t)number;
		storm.log->count++;
		close(pidfd);
	}
	gen_step();
	if (child >= GEN_PIDS)
		_exit(1);
	if (child > 0 && storm.counted && child >= storm.pids)
		gen_put("/proc/sys/kernel/ns_last_pid", GEN_FIRST);
	return child > 0 ? child : 0;
}

static void gen_reap(struct gen *gen)
{
	while (waitpid(gen->pid, NULL, 0) < 0 && errno == EINTR)
		;
	gen->end_after = workload_monotonic_ns();
	storm.ends++;
}

static void gen_end(struct gen *gen)
{
	gen_step();
	gen->end_before = workload_monotonic_ns();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	kill(gen->pid, SIGKILL);
	gen_reap(gen);
	gen_step();
}

/* One that stays for a while takes the place `at`. */
static void gen_settle(uint32_t at, pid_t pid, int kind)
{
	if (gen_birth(pid, kind) == 0 && gen_birth(0, kind) == 0)
		workload_fail("clone3");
	storm.live[at] = (uint32_t)storm.log->count - 1;
}

static void gen_fill(void)
{
	for (storm.count = 0; storm.count < storm.most; storm.count++) {
		int kind = storm.count == 0		? GEN_BUSY
			   : storm.count == 1		? GEN_WRITER
			   : storm.count < storm.elders ? GEN_ELDER
							: GEN_PLAIN;

		gen_settle(storm.count, 0, kind);
	}
}

static void gen_round(void)
{
	uint32_t at = storm.elders + gen_chance(storm.most - storm.elders);
	struct gen *gen = &storm.log->items[storm.live[at]];
	pid_t pid = gen_chance(2) == 0 ? gen->pid : 0;

	gen_end(gen);
	storm.again += pid != 0;
	if (gen_chance(2) == 0 && gen_birth(pid, GEN_FLASH) != 0)
		gen_reap(&storm.log->items[storm.log->count - 1]);
	gen_settle(at, pid, GEN_PLAIN);
}

/* Until somebody says something. */
static void gen_storm(void)
{
	struct pollfd wait = {0, POLLIN, 0};

	while (poll(&wait, 1, 0) == 0 && storm.log->count + 3 < GEN_CAPACITY)
		gen_round();
}

/* What was charged for all that was waited for. */
static uint64_t gen_children_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) != 0)
		workload_fail("getrusage");
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
		   1000000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
		   1000u;
}

static void gen_tell(void)
{
	workload_number("births", storm.log->count);
	workload_number("ends", storm.ends);
	workload_number("again", storm.again);
	workload_number("cpu_ns", workload_cpu_ns() + gen_children_ns());
	workload_done();
}

static void gen_all_end(void)
{
	for (uint32_t i = 0; i < storm.count; i++)
		gen_end(&storm.log->items[storm.live[i]]);
	storm.count = 0;
}

static void gen_open(int log, const char *folder)
{
	storm.nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	storm.file = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (storm.nothing < 0 || storm.file < 0)
		workload_fail(folder);
	if (ftruncate(log, sizeof(*storm.log)) != 0)
		workload_fail("ftruncate");
	storm.log = mmap(NULL, sizeof(*storm.log), PROT_READ | PROT_WRITE,
			 MAP_SHARED, log, 0);
	/* Shared, so that it is no private memory of every child. */
	storm.live =
	    mmap(NULL, storm.most * sizeof(*storm.live), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (storm.log == MAP_FAILED || storm.live == MAP_FAILED)
		workload_fail("memory");
	memset(storm.log->last, 0xff, sizeof(storm.log->last));
	storm.log->driver = (int32_t)getpid();
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc != 5)
		return 2;
	workload_begin(GEN_SECONDS);
	storm.most = (uint32_t)workload_parse(argv[1]);
	storm.elders = storm.most / 10;
	storm.pids = (int32_t)workload_parse(argv[3]);
	storm.seed = 1;
	if (storm.most < 100 || storm.pids >= GEN_PIDS)
		return 2;
	gen_open((int)workload_parse(argv[2]), argv[4]);
	gen_range();
	gen_fill();
	workload_ready();
	gen_storm();
	for (;;) {
		workload_command(line, sizeof(line));
		if (strcmp(line, "end") == 0)
			gen_all_end();
		else if (strcmp(line, "stop") != 0)
			workload_otherwise(line);
		gen_tell();
	}
}
