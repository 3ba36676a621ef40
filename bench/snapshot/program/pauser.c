/*
 * pauser.c - a process that does nothing: pauser PARENT THREADS.
 *
 * It has THREADS threads, writes one byte when all are there, and sleeps until
 * it is killed, its parent ends, or twenty minutes have passed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *sleep_on(void *user)
{
	for (;;)
		pause();
	return user;
}

int main(int argc, char **argv)
{
	pthread_attr_t small;
	pthread_t thread;

	if (argc != 3)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != atoi(argv[1]))
		return 1;
	alarm(1200);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 1; i < atoi(argv[2]); i++)
		if (pthread_create(&thread, &small, sleep_on, NULL) != 0)
			return 1;
	if (write(STDOUT_FILENO, "r", 1) != 1)
		return 1;
	close(STDOUT_FILENO);
	sleep_on(NULL);
	return 0;
}
