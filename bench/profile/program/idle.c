/*
 * idle.c FILE THREADS - threads that wait for what never comes, in four ways;
 * so does the first. FILE is as other workloads have it, and is left alone.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t none;
static int quiet;

static void *waits(void *user)
{
	unsigned long long count;

	switch (*(int *)user % 4) {
	case 0:
		poll(NULL, 0, -1);
		break;
	case 1:
		sem_wait(&none);
		break;
	case 2:
		pthread_mutex_lock(&lock);
		for (;;)
			pthread_cond_wait(&never, &lock);
	default:
		(void)!read(quiet, &count, sizeof(count));
	}
	return NULL;
}

int main(int count, char **words)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int threads;
	int *numbers;
	int i;

	prctl(PR_SET_PDEATHSIG, 9);
	threads = count == 3 ? atoi(words[2]) : 0;
	numbers = calloc((size_t)threads + 1, sizeof(*numbers));
	quiet = eventfd(0, 0);
	if (threads <= 0 || numbers == NULL || quiet < 0)
		return 2;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (i = 0; i < threads; i++) {
		numbers[i] = i;
		if (pthread_create(&thread, &attributes, waits, &numbers[i]))
			return 1;
	}
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
