/*
 * example.c - the bundled workload, plim-example: a small program that does a
 * little of everything and counts all of it for itself.
 *
 * Its threads sleep 1 ms at a time, spin for a share of each 100 ms, and write
 * blocks that they fsync; the process holds memory that it has touched. It
 * prints `pid=N ready`, and on SIGUSR1, and when its time is over or SIGTERM
 * or SIGINT comes, a block of `key=value` lines that ends with `end`: what the
 * kernel's own account of the process says at that instant (getrusage and the
 * process CPU clock), and what the threads have counted. The writer pauses
 * while a block is made, so that its bytes are whole blocks, fsynced ones.
 */
#include "workload.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define EXAMPLE_BLOCK	65536u
#define EXAMPLE_ROUND	(16u * EXAMPLE_BLOCK)
#define EXAMPLE_THREADS 64u
#define EXAMPLE_TMPFS	0x01021994

static struct {
	uint64_t seconds;
	uint64_t sleepers;
	uint64_t duty;	    /* per cent of one core */
	uint64_t write_kib; /* per second */
	uint64_t memory_mib;
	const char *folder;
} example_options = {10, 4, 20, 1024, 64, "."};

static _Atomic uint64_t example_sleeps;
static uint64_t example_written;
static uint64_t example_syncs;
static pthread_mutex_t example_writing = PTHREAD_MUTEX_INITIALIZER;
static int example_file = -1;

static void example_help(void)
{
	fputs("plim-example - a workload that knows what it costs\n"
	      "\n"
	      "usage: plim-example [OPTION VALUE]...\n"
	      "  --for SECONDS      how long to run (10, at most 3600)\n"
	      "  --dir FOLDER       where to write (the current folder)\n"
	      "  --memory MIB       memory to hold (64, at most 4096)\n"
	      "  --sleepers COUNT   threads that sleep 1 ms (4, at most 60)\n"
	      "  --spin PERCENT     of one core (20)\n"
	      "  --write KIB        to write and fsync each second (1024)\n"
	      "\n"
	      "SIGUSR1 makes it print what it has used so far.\n"
	      "example: plim-example --for 30 --dir /var/tmp\n",
	      stdout);
}

static void *example_sleep(void *user)
{
	prctl(PR_SET_NAME, "sleeper");
	(void)user;
	for (;;) {
		workload_sleep_ns(1000000);
		atomic_fetch_add(&example_sleeps, 1);
	}
	return NULL;
}

static uint64_t example_thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *example_spin(void *user)
{
	const uint64_t slice = 100000000u;
	uint64_t busy = slice / 100 * example_options.duty;

	prctl(PR_SET_NAME, "spinner");
	(void)user;
	for (;;) {
		uint64_t begin = workload_monotonic_ns();
		uint64_t cpu = example_thread_cpu_ns();
		uint64_t spent;

		while (example_thread_cpu_ns() - cpu < busy)
			for (volatile int i = 0; i < 1000; i++)
				;
		spent = workload_monotonic_ns() - begin;
		if (spent < slice)
			workload_sleep_ns(slice - spent);
	}
	return NULL;
}

/* It goes round in a file that was there before: what is written in place is
 * counted to the byte, and a long run does not fill the folder. */
static void *example_write(void *user)
{
	static char block[EXAMPLE_BLOCK];
	uint64_t a_second = example_options.write_kib * 1024;
	uint64_t pause =
	    1000000000u / ((a_second + EXAMPLE_BLOCK - 1) / EXAMPLE_BLOCK);
	off_t at = 0;

	prctl(PR_SET_NAME, "writer");
	(void)user;
	memset(block, 0x5a, sizeof(block));
	for (;;) {
		pthread_mutex_lock(&example_writing);
		if (pwrite(example_file, block, sizeof(block), at) !=
		    (ssize_t)sizeof(block))
			workload_fail("write");
		if (fsync(example_file) != 0)
			workload_fail("fsync");
		at = (at + (off_t)sizeof(block)) % (off_t)EXAMPLE_ROUND;
		example_written += sizeof(block);
		example_syncs++;
		pthread_mutex_unlock(&example_writing);
		workload_sleep_ns(pause);
	}
	return NULL;
}

static void example_open(void)
{
	struct statfs about;

	example_file = workload_file(example_options.folder, EXAMPLE_ROUND);
	if (fstatfs(example_file, &about) == 0 && about.f_type == EXAMPLE_TMPFS)
		fputs("plim-example: warning: the folder is a tmpfs: what is "
		      "written there never reaches storage, and the system "
		      "counts none of it\n",
		      stderr);
}

static void example_truth(void)
{
	pthread_mutex_lock(&example_writing);
	workload_account();
	workload_number("sleeps", atomic_load(&example_sleeps));
	workload_number("disk_write_bytes", example_written);
	workload_number("fsyncs", example_syncs);
	workload_number("anonymous_bytes", example_options.memory_mib << 20);
	workload_number("threads", example_options.sleepers + 1 +
				       (example_options.duty != 0) +
				       (example_options.write_kib != 0));
	workload_done();
	pthread_mutex_unlock(&example_writing);
}

static void example_start(void *(*run)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 131072);
	if (pthread_create(&thread, &attributes, run, NULL) != 0)
		workload_fail("pthread_create");
	pthread_attr_destroy(&attributes);
}

static void example_parse(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t *value;
		uint64_t most;
	} rows[] = {
	    {"--for", &example_options.seconds, 3600},
	    {"--memory", &example_options.memory_mib, 4096},
	    {"--sleepers", &example_options.sleepers, EXAMPLE_THREADS - 4},
	    {"--spin", &example_options.duty, 100},
	    {"--write", &example_options.write_kib, 1048576},
	};

	for (int i = 1; i < argc; i++) {
		size_t row = 0;

		if (strcmp(argv[i], "--help") == 0) {
			example_help();
			exit(0);
		}
		if (i + 1 < argc && strcmp(argv[i], "--dir") == 0) {
			example_options.folder = argv[++i];
			continue;
		}
		while (row < sizeof(rows) / sizeof(rows[0]) &&
		       strcmp(argv[i], rows[row].name) != 0)
			row++;
		if (row == sizeof(rows) / sizeof(rows[0]) || i + 1 == argc) {
			fprintf(stderr, "plim-example: what is '%s'?\n",
				argv[i]);
			exit(2);
		}
		*rows[row].value = workload_parse(argv[++i]);
		if (*rows[row].value > rows[row].most) {
			fprintf(stderr, "plim-example: %s: at most %llu\n",
				argv[i - 1],
				(unsigned long long)rows[row].most);
			exit(2);
		}
	}
}

/* Serves SIGUSR1 until the time is over or it is told to end. */
static void example_serve(const sigset_t *signals, uint64_t end)
{
	for (;;) {
		uint64_t now = workload_monotonic_ns();
		uint64_t left = end > now ? end - now : 0;
		struct timespec timeout = {
		    .tv_sec = (time_t)(left / 1000000000u),
		    .tv_nsec = (long)(left % 1000000000u),
		};
		int signal;

		if (left == 0)
			return;
		signal = sigtimedwait(signals, NULL, &timeout);
		if (signal == SIGUSR1)
			example_truth();
		else if (signal > 0)
			return;
	}
}

int main(int argc, char **argv)
{
	uint64_t end;
	sigset_t signals;

	example_parse(argc, argv);
	workload_begin((unsigned)example_options.seconds + 30);
	/* Blocked before the threads start: they inherit it. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	end = workload_monotonic_ns() + example_options.seconds * 1000000000u;
	if (example_options.memory_mib != 0)
		workload_touched((size_t)example_options.memory_mib << 20);
	if (example_options.write_kib != 0)
		example_open();
	for (uint64_t i = 0; i < example_options.sleepers; i++)
		example_start(example_sleep);
	if (example_options.duty != 0)
		example_start(example_spin);
	if (example_options.write_kib != 0)
		example_start(example_write);
	workload_ready();
	example_serve(&signals, end);
	example_truth();
	return 0;
}
