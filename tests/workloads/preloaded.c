/*
 * preloaded.c WHAT - programs with a known profile that end, or treat what is
 * preloaded into them, in their own way:
 *
 *	shares		four threads use 1, 2, 4 and 8 units of CPU time, in
 *			functions of those names; ends with status 7
 *	closes		closes every descriptor, uses 4 units, ends with 3
 *	leaves		uses 4 units, and is gone by _exit(9)
 *	killed		uses 4 units, and kills itself
 *	chain		uses 4 units, forks a child that sees the default action
 *			of SIGURG, uses 2 and executes this program, which uses
 *			8; ends with the child's status
 *	becomes		uses 4 units, and executes this program as leaf
 *	lingers		has a child by vfork that sleeps for 1.5 s, and executes
 *			this program as leaf; ends with the child's status
 *	leaf		uses 8 units, ends with 5
 *	handles		takes SIGURG for itself, and ends with the number of
 *			those that it got
 *	blocks		blocks every signal, uses 4 units, then takes what is
 *			pending: ends with 1 if there is anything
 *	refused		asks to change its mask in a way that there is not, and
 *			uses 4 units; ends with 6
 *
 * A unit is 60 ms of a thread's own clock.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNIT_NS 60000000L

static volatile unsigned long sink;

static long spent(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Not to be merged into one, nor into who calls it. */
#define UNITS(n)                                                  \
	__attribute__((noinline)) static void units_##n(void)     \
	{                                                         \
		const long end = spent() + (n)*UNIT_NS;           \
                                                                  \
		while (spent() < end)                             \
			for (unsigned long i = 0; i < 20000; i++) \
				sink += i * (n);                  \
	}
UNITS(1)
UNITS(2)
UNITS(4)
UNITS(8)

static void *thread_1(void *user)
{
	units_1();
	return user;
}

static void *thread_2(void *user)
{
	units_2();
	pthread_exit(user);
}

static void *thread_4(void *user)
{
	units_4();
	return user;
}

static void *thread_8(void *user)
{
	units_8();
	return user;
}

static int shares(void)
{
	void *(*const routines[])(void *) = {thread_1, thread_2, thread_4,
					     thread_8};
	pthread_t threads[4];
	void *got = NULL;
	int sum = 0;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, routines[i],
				   (void *)routines) != 0)
			return 1;
	for (int i = 0; i < 4; i++)
		if (pthread_join(threads[i], &got) == 0)
			sum += got == (const void *)routines;
	return sum == 4 ? 7 : 1;
}

static int has_default(void)
{
	struct sigaction now;

	return sigaction(SIGURG, NULL, &now) == 0 &&
	       now.sa_handler == SIG_DFL && signal(SIGURG, SIG_DFL) == SIG_DFL;
}

static int chain(char *self)
{
	int status = 0;
	pid_t child;

	units_4();
	child = fork();
	if (child == 0) {
		if (!has_default())
			_exit(1);
		units_2();
		execl(self, self, "leaf", (char *)NULL);
		_exit(1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int lingers(char *self)
{
	const struct timespec while_shared = {1, 500000000};
	int status = 0;
	pid_t child = vfork();

	if (child == 0) {
		nanosleep(&while_shared, NULL);
		execl(self, self, "leaf", (char *)NULL);
		_exit(1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static volatile sig_atomic_t caught;

static void catch_one(int number)
{
	(void)number;
	caught++;
}

static int handles(void)
{
	struct sigaction action;
	struct sigaction before;

	memset(&action, 0, sizeof(action));
	action.sa_handler = catch_one;
	if (sigaction(SIGURG, &action, &before) != 0 ||
	    before.sa_handler != SIG_DFL)
		return 100;
	units_4();
	return caught;
}

static int blocks(void)
{
	const struct timespec none = {0, 0};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	units_4();
	return sigtimedwait(&all, NULL, &none) > 0;
}

static int refused(void)
{
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK + 1, &all, NULL) != -1 || errno != EINVAL)
		return 1;
	units_4();
	return 6;
}

static int closes(void)
{
	for (int i = 0; i < 1024; i++)
		close(i);
	units_4();
	return 3;
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";

	if (strcmp(what, "shares") == 0)
		return shares();
	if (strcmp(what, "closes") == 0)
		return closes();
	if (strcmp(what, "chain") == 0)
		return chain(words[0]);
	if (strcmp(what, "lingers") == 0)
		return lingers(words[0]);
	if (strcmp(what, "handles") == 0)
		return handles();
	if (strcmp(what, "blocks") == 0)
		return blocks();
	if (strcmp(what, "refused") == 0)
		return refused();
	if (strcmp(what, "leaf") == 0) {
		units_8();
		return 5;
	}
	if (strcmp(what, "becomes") == 0) {
		units_4();
		execl(words[0], words[0], "leaf", (char *)NULL);
		return 1;
	}
	if (strcmp(what, "leaves") == 0) {
		units_4();
		_exit(9);
	}
	if (strcmp(what, "killed") == 0) {
		units_4();
		raise(SIGKILL);
	}
	return 2;
}
