/*
 * pulses.c - threads that wake so many times and count it for themselves.
 *
 * Usage: pulses COUNT (at most 8). `pulse N` lets thread i, from 0, sleep
 * N * (i + 1) times, `finish N` lets the last one sleep N times and end, and
 * `born N` starts another that sleeps N times. The answer comes when that is
 * done: the account of the process, and of each thread `wakeups_I`, its own
 * voluntary switches since its start, and `tid_I`. Between commands every
 * thread is blocked in a read of its own, and one more switch brings it there,
 * so that two answers differ by what anybody sees who looks in between. The
 * threads are called pulse-I.
 */
#include "workload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PULSES_MOST 8
#define PULSES_END  UINT64_MAX

struct pulse {
	int ends[2];
	uint64_t number;
	pthread_t thread;
	_Atomic uint64_t wakeups;
	_Atomic uint64_t tid;
	_Atomic int done;
};

static struct pulse pulses[PULSES_MOST];
static uint64_t pulses_count;

static uint64_t pulse_own(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage) != 0)
		workload_fail("getrusage");
	return (uint64_t)usage.ru_nvcsw;
}

static void *pulse_run(void *user)
{
	struct pulse *pulse = user;
	char name[16];

	snprintf(name, sizeof(name), "pulse-%u", (unsigned)pulse->number);
	prctl(PR_SET_NAME, name);
	atomic_store(&pulse->tid, (uint64_t)syscall(SYS_gettid));
	for (;;) {
		uint64_t times = 0;

		atomic_store(&pulse->wakeups, pulse_own());
		atomic_store(&pulse->done, 1);
		if (read(pulse->ends[0], &times, sizeof(times)) !=
			sizeof(times) ||
		    times == PULSES_END)
			return NULL;
		for (; times > 0; times--)
			workload_sleep_ns(200000);
	}
}

static void pulse_send(struct pulse *pulse, uint64_t times)
{
	atomic_store(&pulse->done, 0);
	if (write(pulse->ends[1], &times, sizeof(times)) != sizeof(times))
		workload_fail("write");
}

static void pulse_await(struct pulse *pulse)
{
	while (!atomic_load(&pulse->done))
		workload_sleep_ns(5000000);
}

static void pulse_start(void)
{
	struct pulse *pulse = &pulses[pulses_count];

	pulse->number = pulses_count++;
	if (pipe(pulse->ends) != 0 ||
	    pthread_create(&pulse->thread, NULL, pulse_run, pulse) != 0)
		workload_fail("pthread_create");
	pulse_await(pulse);
}

static void pulse_finish(uint64_t times)
{
	struct pulse *pulse = &pulses[pulses_count - 1];

	pulse_send(pulse, times);
	pulse_await(pulse);
	if (write(pulse->ends[1], &(uint64_t){PULSES_END}, 8) != 8)
		workload_fail("write");
	pthread_join(pulse->thread, NULL);
	close(pulse->ends[0]);
	close(pulse->ends[1]);
	pulses_count--;
}

static void pulse_all(uint64_t times)
{
	for (uint64_t i = 0; i < pulses_count; i++)
		pulse_send(&pulses[i], times * (i + 1));
	for (uint64_t i = 0; i < pulses_count; i++)
		pulse_await(&pulses[i]);
}

static void pulse_answer(void)
{
	char key[32];

	for (uint64_t i = 0; i < pulses_count; i++) {
		snprintf(key, sizeof(key), "wakeups_%u", (unsigned)i);
		workload_number(key, atomic_load(&pulses[i].wakeups));
		snprintf(key, sizeof(key), "tid_%u", (unsigned)i);
		workload_number(key, atomic_load(&pulses[i].tid));
	}
	/* The last that is done before the main thread blocks again. */
	workload_account();
	workload_done();
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? workload_parse(argv[1]) : 1;
	uint64_t number;
	char line[64];

	workload_begin(120);
	if (count < 1 || count > PULSES_MOST)
		return 2;
	for (uint64_t i = 0; i < count; i++)
		pulse_start();
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "pulse", &number)) {
			pulse_all(number);
		} else if (workload_is(line, "finish", &number)) {
			if (pulses_count == 0)
				return 2;
			pulse_finish(number);
		} else if (workload_is(line, "born", &number)) {
			if (pulses_count == PULSES_MOST)
				return 2;
			pulse_start();
			pulse_send(&pulses[pulses_count - 1], number);
			pulse_await(&pulses[pulses_count - 1]);
		} else if (!workload_is(line, "truth", &number)) {
			workload_otherwise(line);
			continue;
		}
		pulse_answer();
	}
}
