/*
 * script.c - a program whose load is written on its command line.
 *
 * Usage: script WORD ARGUMENT... WORD ARGUMENT... Each word is done when the
 * one before is:
 *
 *   wait MS                nothing, for so long
 *   burn MS                CPU time
 *   wake RATE THREADS US   threads `waker-0`, ... that wake RATE times a
 *                          second together and burn US each time; the second
 *                          does twice what the first does, and so on
 *   memory MIB             touched, and kept
 *   say TEXT, half TEXT    to standard output, with and without a newline
 *   flood KIB              to standard output, as fast as it is taken
 *   touch FILE             written anew
 *   listen PORT            on 127.0.0.1
 *   file KIB FOLDER        a file that is on storage already
 *   write KIB CALLS        so much into it, in so many calls, to storage
 *   child MS COUNT         a child that burns 1 ms, every MS, COUNT times
 *   ignore                 SIGCHLD; deaf: SIGTERM
 *   detach                 goes on in a child; the first process ends
 *   leave                  a child that stays
 *   exec FILE              becomes `FILE wait 60000`
 *   exit STATUS
 *
 * It ends after the last word, and after two minutes in any case.
 */
#include "workload.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAKERS_MOST 16

struct waker {
	uint64_t period_ns;
	uint64_t burn_ns;
	int number;
};

static struct waker wakers[WAKERS_MOST];
static int file = -1;

static void burn(uint64_t ns)
{
	struct timespec now;
	uint64_t begin;
	uint64_t spent;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	begin = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		spent = (uint64_t)now.tv_sec * 1000000000u +
			(uint64_t)now.tv_nsec - begin;
	} while (spent < ns);
}

/* Wakes on a grid, so that the rate is kept; what was missed is left out. */
static void *waker(void *given)
{
	const struct waker *self = given;
	uint64_t next = workload_monotonic_ns();
	char name[16];

	snprintf(name, sizeof name, "waker-%d", self->number);
	pthread_setname_np(pthread_self(), name);
	for (;;) {
		struct timespec time;

		next += self->period_ns;
		time.tv_sec = (time_t)(next / 1000000000u);
		time.tv_nsec = (long)(next % 1000000000u);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
		if (self->burn_ns > 0)
			burn(self->burn_ns);
	}
	return NULL;
}

static void wake(uint64_t rate, uint64_t threads, uint64_t burn_us)
{
	uint64_t parts = threads * (threads + 1) / 2;
	pthread_t thread;

	if (threads > WAKERS_MOST || rate == 0)
		exit(2);
	for (uint64_t i = 0; i < threads; i++) {
		wakers[i].number = (int)i;
		wakers[i].burn_ns = burn_us * 1000;
		wakers[i].period_ns = 1000000000u * parts / (rate * (i + 1));
		if (pthread_create(&thread, NULL, waker, &wakers[i]) != 0)
			workload_fail("pthread_create");
	}
}

static void put(const char *data, size_t size)
{
	while (size > 0) {
		ssize_t written = write(STDOUT_FILENO, data, size);

		if (written < 0)
			workload_fail("write");
		data += written;
		size -= (size_t)written;
	}
}

static void flood(uint64_t kib)
{
	char line[1024];

	memset(line, '.', sizeof line);
	line[sizeof line - 1] = '\n';
	while (kib-- > 0)
		put(line, sizeof line);
}

static void touch(const char *path)
{
	int made = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (made < 0 || write(made, "x", 1) != 1)
		workload_fail(path);
	close(made);
}

static void take_calls(uint64_t port)
{
	int at = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr =
					  htonl(INADDR_LOOPBACK)};
	int yes = 1;

	setsockopt(at, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(at, (const struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(at, 5) != 0)
		workload_fail("listen");
}

static void to_file(uint64_t kib, uint64_t calls)
{
	size_t piece = (size_t)(kib * 1024 / calls);
	char *data = calloc(1, piece);

	if (data == NULL)
		workload_fail("calloc");
	memset(data, 'w', piece);
	for (uint64_t i = 0; i < calls; i++)
		if (pwrite(file, data, piece, (off_t)(i * piece)) !=
		    (ssize_t)piece)
			workload_fail("pwrite");
	fdatasync(file);
	free(data);
}

static void children(uint64_t every_ms, uint64_t count)
{
	while (count-- > 0) {
		pid_t child = fork();

		if (child < 0)
			workload_fail("fork");
		if (child == 0) {
			burn(1000000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		workload_sleep_ns(every_ms * 1000000);
	}
}

static void become_child(int stay)
{
	pid_t child = fork();

	if (child < 0)
		workload_fail("fork");
	if (child > 0 && !stay)
		_exit(0);
	while (child == 0 && stay)
		pause();
	alarm(120);
}

static uint64_t number(char ***word)
{
	if (**word == NULL)
		exit(2);
	return workload_parse(*(*word)++);
}

static char *text(char ***word)
{
	if (**word == NULL)
		exit(2);
	return *(*word)++;
}

static void more(const char *name, char ***word)
{
	uint64_t first;
	uint64_t second;

	if (strcmp(name, "wake") == 0) {
		first = number(word);
		second = number(word);
		wake(first, second, number(word));
	} else if (strcmp(name, "write") == 0) {
		first = number(word);
		to_file(first, number(word));
	} else if (strcmp(name, "child") == 0) {
		first = number(word);
		children(first, number(word));
	} else if (strcmp(name, "file") == 0) {
		first = number(word);
		file = workload_file(text(word), (size_t)first * 1024);
	} else if (strcmp(name, "exec") == 0) {
		char *path = text(word);

		execl(path, path, "wait", "60000", (char *)NULL);
		workload_fail(path);
	} else {
		exit(2);
	}
}

static void perform(const char *name, char ***word)
{
	const char *given;

	if (strcmp(name, "wait") == 0) {
		workload_sleep_ns(number(word) * 1000000);
	} else if (strcmp(name, "burn") == 0) {
		burn(number(word) * 1000000);
	} else if (strcmp(name, "memory") == 0) {
		workload_touched((size_t)number(word) << 20);
	} else if (strcmp(name, "say") == 0 || strcmp(name, "half") == 0) {
		given = text(word);
		put(given, strlen(given));
		if (strcmp(name, "say") == 0)
			put("\n", 1);
	} else if (strcmp(name, "flood") == 0) {
		flood(number(word));
	} else if (strcmp(name, "touch") == 0) {
		touch(text(word));
	} else if (strcmp(name, "listen") == 0) {
		take_calls(number(word));
	} else if (strcmp(name, "ignore") == 0) {
		signal(SIGCHLD, SIG_IGN);
	} else if (strcmp(name, "deaf") == 0) {
		signal(SIGTERM, SIG_IGN);
	} else if (strcmp(name, "detach") == 0) {
		become_child(0);
	} else if (strcmp(name, "leave") == 0) {
		become_child(1);
	} else if (strcmp(name, "exit") == 0) {
		_exit((int)number(word));
	} else {
		more(name, word);
	}
}

int main(int argc, char **argv)
{
	char **word = argv + (argc > 0);

	alarm(120);
	while (*word != NULL) {
		const char *name = *word++;

		perform(name, &word);
	}
	return 0;
}
