/*
 * leader.c - a process whose main thread has ended while others live on.
 *
 * Usage: leader [MIB]. The main thread starts a thread that holds MIB of
 * anonymous memory and two that only wait, and then ends. /proc shows such a
 * process as a zombie without memory (fs/proc/array.c reads the leader); it
 * is none. `truth` adds `anonymous`, `threads` (that run) and `descriptors`.
 */
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static uint64_t leader_mib = 32;

static void *leader_wait(void *user)
{
	(void)user;
	for (;;)
		pause();
	return NULL;
}

/* Until the leader is shown as a zombie: pthread_exit is not over when other
 * threads already run. */
static void leader_await_end(void)
{
	for (int tries = 0; tries < 2000; tries++) {
		char text[512];
		ssize_t got;
		const char *mark;
		int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

		if (file < 0)
			workload_fail("open");
		got = read(file, text, sizeof(text) - 1);
		close(file);
		text[got > 0 ? got : 0] = '\0';
		mark = strrchr(text, ')');
		if (mark != NULL && strncmp(mark, ") Z", 3) == 0)
			return;
		workload_sleep_ns(1000000);
	}
	_exit(1);
}

static uint64_t leader_descriptors(void)
{
	uint64_t open_ones = 0;

	for (int i = 0; i < 1024; i++)
		open_ones += fcntl(i, F_GETFD) >= 0;
	return open_ones;
}

static void *leader_serve(void *user)
{
	uint64_t number;
	char line[64];

	(void)user;
	workload_touched((size_t)leader_mib << 20);
	leader_await_end();
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (!workload_is(line, "truth", &number)) {
			workload_otherwise(line);
			continue;
		}
		workload_account();
		workload_number("anonymous", leader_mib << 20);
		workload_number("threads", 3);
		workload_number("descriptors", leader_descriptors());
		workload_done();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	workload_begin(120);
	if (argc > 1)
		leader_mib = workload_parse(argv[1]);
	if (leader_mib > 1024 ||
	    pthread_create(&thread, NULL, leader_serve, NULL) != 0 ||
	    pthread_create(&thread, NULL, leader_wait, NULL) != 0 ||
	    pthread_create(&thread, NULL, leader_wait, NULL) != 0)
		return 2;
	pthread_exit(NULL);
}
