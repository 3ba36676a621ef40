/*
 * test_cell.c - the walls of a cell (src/host/cell.h), each tried from inside,
 * and what its keeper notices of it: an answer, its end, nothing else.
 */
#include "common.h"

#include "host/cell.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000u

static const struct plimp_cell_limits usual = {64u << 20, 20};

/* What a cell is to try; it answers with one number. */
enum trial {
	TRIAL_ECHO,
	TRIAL_OPEN,
	TRIAL_SOCKET,
	TRIAL_FORK,
	TRIAL_KILL,
	TRIAL_EXECUTE,
	TRIAL_MEMORY,
	TRIAL_LITTLE_MEMORY,
	TRIAL_DESCRIPTORS,
	TRIAL_FILE,
	TRIAL_WRITE,
	TRIAL_CRASH,
	TRIAL_HANG,
	TRIAL_RETURN
};

static int64_t failed(long result)
{
	return result == -1 ? errno : 0;
}

/* How many descriptors there are, without opening one. */
static int64_t descriptors(void)
{
	struct stat status;
	int64_t count = 0;
	int i;

	for (i = 0; i < 1024; i++)
		count += fstat(i, &status) == 0;
	return count;
}

/* By the kernel: the allocator of a sanitizer ends the program instead. */
static int64_t memory(size_t size)
{
	char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t sum = 0;
	size_t i;

	if (bytes == MAP_FAILED)
		return errno;
	for (i = 0; i < size; i += 4096)
		bytes[i] = 1;
	for (i = 0; i < size; i += 4096)
		sum += bytes[i];
	munmap(bytes, size);
	return sum == (int64_t)((size + 4095) / 4096) ? 0 : -1;
}

static int64_t attempt(const struct plimp_cell_inside *inside, int what)
{
	volatile int *nowhere = NULL;
	char text[8] = "";

	switch (what) {
	case TRIAL_OPEN:
		return failed(open("/dev/null", O_RDONLY));
	case TRIAL_SOCKET:
		return failed(socket(AF_UNIX, SOCK_STREAM, 0));
	case TRIAL_FORK:
		return failed(fork());
	case TRIAL_KILL:
		return failed(kill(getppid(), 0));
	case TRIAL_EXECUTE:
		return mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
			   ? errno
			   : 0;
	case TRIAL_MEMORY:
		return memory(256u << 20);
	case TRIAL_LITTLE_MEMORY:
		return memory(16u << 20);
	case TRIAL_DESCRIPTORS:
		return descriptors();
	case TRIAL_FILE:
		return pread(inside->files[1], text, 4, 1) == 4
			   ? memcmp(text, "ELF", 3)
			   : -1;
	case TRIAL_WRITE:
		return failed(pwrite(inside->files[0], "x", 1, 0));
	case TRIAL_CRASH:
		return *nowhere;
	case TRIAL_HANG:
		for (;;)
			*(volatile char *)text = 1;
	default:
		return what;
	}
}

static void answer(const struct plimp_cell_inside *inside, void *user)
{
	int what;

	while (plimp_system_cell_hear(inside, &what, sizeof(what))) {
		int64_t result;

		if (what == TRIAL_RETURN)
			return;
		result = attempt(inside, what + *(int *)user);
		if (!plimp_system_cell_tell(inside, &result, sizeof(result)))
			return;
	}
}

static struct plimp_cell *cell_new(plim_host *host,
				   const struct plimp_cell_limits *limits)
{
	static int none = 0;
	struct plimp_file file;
	const struct plimp_file *files[PLIMP_CELL_FILES] = {NULL, &file};
	struct plimp_cell *cell;

	memset(&file, 0, sizeof(file));
	assert_int_equal(
	    plimp_system_file_open(host, "/proc/self/exe", &file, NULL),
	    PLIM_OK);
	assert_int_equal(plimp_system_cell_start(host, answer, &none, files,
						 PLIMP_CELL_FILES, limits,
						 &cell, NULL),
			 PLIM_OK);
	/* The cell has its own. */
	plimp_system_file_close(host, &file);
	return cell;
}

static int ask(struct plimp_cell *cell, int what, uint64_t ns, int64_t *result)
{
	uint64_t deadline = plimp_system_monotonic() + ns;

	if (plimp_system_cell_give(cell, &what, sizeof(what), deadline) !=
	    PLIM_OK)
		return PLIM_ESYSTEM;
	return plimp_system_cell_take(cell, result, sizeof(*result), deadline);
}

static int64_t told(struct plimp_cell *cell, int what)
{
	int64_t result = -2;

	assert_int_equal(ask(cell, what, 20ull * SECOND, &result), PLIM_OK);
	return result;
}

static void test_walls(void **state)
{
	plim_host *host = open_host(0);
	struct plimp_cell *cell = cell_new(host, &usual);

	(void)state;
	assert_int_equal(told(cell, TRIAL_ECHO), TRIAL_ECHO);
	/* The socket and the one file. */
	assert_int_equal(told(cell, TRIAL_DESCRIPTORS), 2);
	assert_int_equal(told(cell, TRIAL_FILE), 0);
	assert_int_not_equal(told(cell, TRIAL_OPEN), 0);
	assert_int_not_equal(told(cell, TRIAL_SOCKET), 0);
	assert_int_not_equal(told(cell, TRIAL_FORK), 0);
	assert_int_not_equal(told(cell, TRIAL_KILL), 0);
	assert_int_not_equal(told(cell, TRIAL_EXECUTE), 0);
	assert_int_not_equal(told(cell, TRIAL_WRITE), 0);
	assert_int_equal(told(cell, TRIAL_LITTLE_MEMORY), 0);
	assert_int_equal(told(cell, TRIAL_MEMORY), ENOMEM);
	assert_int_equal(told(cell, TRIAL_ECHO), TRIAL_ECHO);
	plimp_system_cell_stop(cell);
	plim_host_close(host);
}

/* It ends by a fault of its own, by returning, by its keeper's word. */
static void test_ends(void **state)
{
	static const int ends[] = {TRIAL_CRASH, TRIAL_RETURN};
	plim_host *host = open_host(0);
	int64_t result = 17;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct plimp_cell *cell = cell_new(host, &usual);

		assert_int_equal(told(cell, TRIAL_ECHO), TRIAL_ECHO);
		assert_int_equal(ask(cell, ends[i], 20ull * SECOND, &result),
				 PLIM_ESYSTEM);
		assert_int_equal(ask(cell, TRIAL_ECHO, 20ull * SECOND, &result),
				 PLIM_ESYSTEM);
		plimp_system_cell_stop(cell);
	}
	/* Nothing of it is left to wait for. */
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	plim_host_close(host);
}

static void test_hangs(void **state)
{
	const struct plimp_cell_limits short_one = {64u << 20, 1};
	plim_host *host = open_host(0);
	struct plimp_cell *cell = cell_new(host, &usual);
	int64_t result;

	(void)state;
	assert_int_equal(ask(cell, TRIAL_HANG, SECOND / 5, &result),
			 PLIM_ETIMEOUT);
	plimp_system_cell_stop(cell);
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);

	/* Nobody stops it: its CPU time ends it. */
	cell = cell_new(host, &short_one);
	assert_int_equal(ask(cell, TRIAL_HANG, 60ull * SECOND, &result),
			 PLIM_ESYSTEM);
	plimp_system_cell_stop(cell);
	plim_host_close(host);
}

static volatile sig_atomic_t children;
static volatile sig_atomic_t handled;

static void on_child(int signal)
{
	(void)signal;
	children++;
}

static void on_fault(int signal)
{
	(void)signal;
	handled++;
	_exit(3);
}

/* Neither does a signal tell the application of it, nor does a handler of the
 * application run in it: that would write where the keeper reads. */
static void test_unnoticed(void **state)
{
	plim_host *host = open_host(0);
	struct plimp_cell *cell;
	struct sigaction action, before_child, before_fault;
	int64_t result;
	pid_t own;
	int status;

	(void)state;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_child;
	assert_int_equal(sigaction(SIGCHLD, &action, &before_child), 0);
	action.sa_handler = on_fault;
	assert_int_equal(sigaction(SIGSEGV, &action, &before_fault), 0);

	own = fork();
	assert_int_not_equal(own, -1);
	if (own == 0) {
		child_bind();
		child_sleep_ms(60000);
		_exit(0);
	}
	cell = cell_new(host, &usual);
	assert_int_equal(told(cell, TRIAL_ECHO), TRIAL_ECHO);
	assert_int_equal(waitpid(-1, &status, WNOHANG), 0);
	assert_int_equal(ask(cell, TRIAL_CRASH, 20ull * SECOND, &result),
			 PLIM_ESYSTEM);
	/* A child that has ended, and that a plain wait does not find. */
	assert_int_equal(waitpid(-1, &status, WNOHANG), 0);
	plimp_system_cell_stop(cell);
	assert_int_equal(children, 0);
	assert_int_equal(handled, 0);

	kill(own, SIGKILL);
	assert_int_equal(waitpid(own, &status, 0), own);
	sigaction(SIGCHLD, &before_child, NULL);
	sigaction(SIGSEGV, &before_fault, NULL);
	plim_host_close(host);
}

/* Compilers don't agree whether these are an enum or numbers: getrlimit() gets
 * them as they are. */
static int read_limit(size_t i, struct rlimit *limit)
{
	switch (i) {
	case 0:
		return getrlimit(RLIMIT_AS, limit);
	case 1:
		return getrlimit(RLIMIT_CPU, limit);
	case 2:
		return getrlimit(RLIMIT_NOFILE, limit);
	case 3:
		return getrlimit(RLIMIT_CORE, limit);
	default:
		return getrlimit(RLIMIT_FSIZE, limit);
	}
}

/* The limits are the cell's, not the caller's. */
static void test_caller(void **state)
{
	struct rlimit before[5], after[5];
	plim_host *host = open_host(0);
	struct plimp_cell *cell;
	sigset_t mask, mask_after;
	int64_t files = descriptors();
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++)
		assert_int_equal(read_limit(i, &before[i]), 0);
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
	cell = cell_new(host, &usual);
	assert_int_equal(told(cell, TRIAL_ECHO), TRIAL_ECHO);
	plimp_system_cell_stop(cell);
	for (i = 0; i < 5; i++) {
		assert_int_equal(read_limit(i, &after[i]), 0);
		assert_memory_equal(&before[i], &after[i], sizeof(before[i]));
	}
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &mask_after), 0);
	for (i = 1; i < 64; i++)
		assert_int_equal(sigismember(&mask, (int)i),
				 sigismember(&mask_after, (int)i));
	assert_int_equal(descriptors(), files);
	assert_int_equal(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
	plim_host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_walls),  cmocka_unit_test(test_ends),
	    cmocka_unit_test(test_hangs),  cmocka_unit_test(test_unnoticed),
	    cmocka_unit_test(test_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
