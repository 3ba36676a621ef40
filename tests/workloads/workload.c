/*
 * workload.c - the common part of the workloads (workload.h).
 *
 * Everything is written with single write calls and no buffer, so that a
 * truth line leaves when it is true, and so that the anonymous memory of a
 * workload stays what it says it holds.
 */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void workload_begin(unsigned seconds)
{
	pid_t parent = getppid();

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		workload_fail("prctl");
	/* The parent may have ended before the line above. */
	if (getppid() != parent)
		_exit(0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	alarm(seconds);
}

void workload_fail(const char *what)
{
	int error = errno;

	dprintf(2, "%s: %s\n", what, strerror(error));
	_exit(1);
}

/* Not dprintf: before glibc 2.37 it takes a buffer from the heap and gives it
 * back, which is not what a workload did. */
static void workload_say(const char *text, int size)
{
	if (size < 0 || write(1, text, (size_t)size) != size)
		_exit(1);
}

void workload_ready(void)
{
	char text[64];

	workload_say(text, snprintf(text, sizeof(text), "pid=%ld ready\n",
				    (long)getpid()));
}

void workload_command(char *line, size_t size)
{
	size_t used = 0;

	for (;;) {
		char byte;
		ssize_t got = read(0, &byte, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			_exit(0);
		if (byte == '\n')
			break;
		if (used + 1 >= size)
			_exit(2);
		line[used++] = byte;
	}
	line[used] = '\0';
}

uint64_t workload_parse(const char *text)
{
	uint64_t value = 0;

	if (text[0] == '\0')
		_exit(2);
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' || value > UINT64_MAX / 16)
			_exit(2);
		value = value * 10 + (uint64_t)(*text - '0');
	}
	return value;
}

int workload_is(const char *line, const char *word, uint64_t *number)
{
	size_t length = strlen(word);

	if (strncmp(line, word, length) != 0)
		return 0;
	if (line[length] == '\0') {
		*number = 0;
		return 1;
	}
	if (line[length] != ' ')
		return 0;
	*number = workload_parse(line + length + 1);
	return 1;
}

void workload_number(const char *key, uint64_t value)
{
	char text[128];

	workload_say(text, snprintf(text, sizeof(text), "%.80s=%llu\n", key,
				    (unsigned long long)value));
}

void workload_done(void)
{
	if (write(1, "end\n", 4) != 4)
		_exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		workload_fail("clock_gettime");
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t workload_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t workload_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void workload_account(void)
{
	struct rusage usage;
	uint64_t cpu = workload_cpu_ns();
	uint64_t now = workload_monotonic_ns();

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		workload_fail("getrusage");
	workload_number("monotonic_ns", now);
	workload_number("cpu_ns", cpu);
	workload_number("wakeups", (uint64_t)usage.ru_nvcsw);
	workload_number("involuntary", (uint64_t)usage.ru_nivcsw);
	workload_number("faults_minor", (uint64_t)usage.ru_minflt);
	workload_number("faults_major", (uint64_t)usage.ru_majflt);
}

void workload_otherwise(const char *line)
{
	if (strcmp(line, "quit") == 0)
		_exit(0);
	if (strcmp(line, "truth") != 0)
		_exit(2);
	workload_account();
	workload_done();
}

void workload_sleep_ns(uint64_t ns)
{
	struct timespec left = {
	    .tv_sec = (time_t)(ns / 1000000000u),
	    .tv_nsec = (long)(ns % 1000000000u),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

void *workload_touched(size_t bytes)
{
	volatile char *memory;
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapped == MAP_FAILED)
		workload_fail("mmap");
	/* Small pages, so that what is held is what was touched. */
	madvise(mapped, bytes, MADV_NOHUGEPAGE);
	memory = mapped;
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = (char)(i >> 12) | 1;
	return mapped;
}

static void workload_fill(int file, size_t bytes)
{
	static char block[4096];

	memset(block, 1, sizeof(block));
	for (size_t i = 0; i < bytes; i += sizeof(block))
		if (write(file, block, sizeof(block)) != (ssize_t)sizeof(block))
			workload_fail("write");
	if (fsync(file) != 0)
		workload_fail("fsync");
}

int workload_file(const char *folder, size_t bytes)
{
	static const char pattern[] = "/plim-workload.XXXXXX";
	char name[4096];
	size_t length = strlen(folder);
	int ends[2];
	char byte = 0;
	int file;
	pid_t child;

	if (length + sizeof(pattern) > sizeof(name))
		_exit(2);
	memcpy(name, folder, length);
	memcpy(name + length, pattern, sizeof(pattern));
	file = mkostemp(name, O_CLOEXEC);
	if (file < 0)
		workload_fail(name);
	unlink(name);
	/* With SIGCHLD ignored the kernel forgets the child and adds nothing
	 * of it to this process (kernel/exit.c, wait_task_zombie). */
	signal(SIGCHLD, SIG_IGN);
	if (pipe2(ends, O_CLOEXEC) != 0)
		workload_fail("pipe");
	child = fork();
	if (child < 0)
		workload_fail("fork");
	if (child == 0) {
		workload_fill(file, bytes);
		if (write(ends[1], "y", 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1 || read(ends[0], &byte, 1) != 0)
		workload_fail("the file was not made");
	close(ends[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	signal(SIGCHLD, SIG_DFL);
	lseek(file, 0, SEEK_SET);
	return file;
}
