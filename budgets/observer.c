/*
 * observer.c - a program that does nothing but observe, with the library's
 * means: what budgets/plim.toml holds to a load line.
 *
 * It starts a process that sleeps and never wakes, and observes it in one
 * quiet window after another, thread by thread, with a sample each second and
 * its births counted, for as long as it lives. So it is to wake up once a
 * second, hold what it held at first, and start nothing more.
 */
#include <plimsoll.h>

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static const plim_idle_options window = {
    .size = sizeof(window),
    .window_ns = UINT64_C(60000000000),
    .quiet_cpu_percent = -1,
    .sample_ns = UINT64_C(1000000000),
    .threads = 1,
};

static pid_t sleeper(void)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static int observe(plim_host *host, plim_target *target)
{
	plim_births_counts counts;
	plim_births *births = NULL;
	plim_idle *idle = NULL;
	plim_error error;
	int code = plim_idle_new(&idle, host, &error);

	if (code == PLIM_OK)
		code = plim_births_open(&births, host, target, NULL, &error);
	while (code == PLIM_OK) {
		code = plim_idle_window(idle, target, &window, &error);
		if (code == PLIM_OK)
			code = plim_births_read(births, &counts, &error);
	}
	fprintf(stderr, "observer: %s\n", plim_error_word(error.code));
	plim_births_free(births);
	plim_idle_free(idle);
	return 1;
}

int main(void)
{
	plim_host *host = NULL;
	plim_target *target = NULL;
	pid_t pid = sleeper();

	if (pid < 0 || plim_host_open(&host, NULL, NULL) != PLIM_OK ||
	    plim_target_open(&target, host, (int32_t)pid, NULL) != PLIM_OK)
		return 1;
	return observe(host, target);
}
