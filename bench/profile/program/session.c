/*
 * session.c - preloaded into a workload that knows nothing of it: sampling
 * sessions inside, begun and ended by lines from a pipe.
 *
 *     plim FLAGS HZ    a session of the library: enum plim_profile_flag
 *     gperf FILE       gperftools' libprofiler, where that is preloaded, too
 *     stop             ends whichever it is
 *
 * Each line is answered by one: "ok", after `stop` with what it sampled, or
 * "error" and why. PLIM_BENCH_PIPES has the two descriptors and the CPU where
 * sessions run. Our own thread blocks every signal and waits in a read.
 */
#include <plimsoll.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 16

/* As gperftools/profiler.h has it. */
struct ProfilerState {
	int enabled;
	time_t start_time;
	char profile_name[1024];
	int samples_gathered;
};

static struct kept {
	unsigned flags;
	unsigned hz;
	plim_profile *profile;
} kept[KEPT];
static size_t kept_count;
static plim_profile *running;
static FILE *from;
static FILE *to;

/* Code and rules of one that was opened stay, so that it starts at once. */
static plim_profile *opened(unsigned flags, unsigned hz, plim_error *error)
{
	plim_profile_request request = {.size = sizeof(request),
					.flags = flags,
					.hz = hz,
					.hz_ceiling = PLIM_PROFILE_LIMIT_HZ,
					.duration_ns = 60000000000};
	plim_profile *made = NULL;
	size_t i;

	for (i = 0; i < kept_count; i++)
		if (kept[i].flags == flags && kept[i].hz == hz)
			return kept[i].profile;
	if (kept_count == KEPT ||
	    plim_profile_open_self(&made, NULL, &request, error) != PLIM_OK)
		return NULL;
	kept[kept_count++] = (struct kept){flags, hz, made};
	return made;
}

static void begin(unsigned flags, unsigned hz)
{
	plim_error error = {0};
	plim_profile *profile = opened(flags, hz, &error);

	if (profile == NULL || plim_profile_start(profile, &error) != PLIM_OK) {
		fprintf(to, "error %s\n", error.detail);
		return;
	}
	running = profile;
	fprintf(to, "ok\n");
}

static void end(void)
{
	const plim_profile_tier *tier;
	size_t i;
	int metric;

	plim_profile_stop(running);
	plim_profile_join(running, NULL);
	fprintf(to, "ok");
	for (i = 0; (tier = plim_profile_tier_at(running, i)) != NULL; i++)
		if (tier->used)
			fprintf(to, " tier_%s=1", tier->word);
	for (metric = 1; plim_profile_metric_name(metric) != NULL; metric++) {
		plim_count value = plim_profile_metric(running, metric);

		if (value.state == PLIM_STATE_KNOWN)
			fprintf(to, " %s=%" PRIu64,
				plim_profile_metric_name(metric), value.value);
	}
	fprintf(to, "\n");
	running = NULL;
}

static void gperf_begin(const char *file)
{
	void *found = dlsym(RTLD_DEFAULT, "ProfilerStart");
	int (*start)(const char *);

	memcpy(&start, &found, sizeof(start));
	fprintf(to, found != NULL && start(file) ? "ok\n" : "error\n");
}

static void gperf_end(void)
{
	void *found[2] = {dlsym(RTLD_DEFAULT, "ProfilerGetCurrentState"),
			  dlsym(RTLD_DEFAULT, "ProfilerStop")};
	struct ProfilerState state = {0};
	void (*ask)(struct ProfilerState *);
	void (*stop)(void);

	if (found[0] == NULL || found[1] == NULL) {
		fprintf(to, "error\n");
		return;
	}
	memcpy(&ask, &found[0], sizeof(ask));
	memcpy(&stop, &found[1], sizeof(stop));
	ask(&state);
	stop();
	fprintf(to, "ok running_captured=%d\n", state.samples_gathered);
}

static void *obey(void *user)
{
	char line[4096];
	unsigned flags;
	unsigned hz;

	(void)user;
	pthread_setname_np(pthread_self(), "bench");
	while (fgets(line, sizeof(line), from) != NULL) {
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "plim %u %u", &flags, &hz) == 2)
			begin(flags, hz);
		else if (strncmp(line, "gperf ", 6) == 0)
			gperf_begin(line + 6);
		else if (running != NULL)
			end();
		else
			gperf_end();
		fflush(to);
	}
	return NULL;
}

__attribute__((constructor)) static void listens(void)
{
	const char *pipes = getenv("PLIM_BENCH_PIPES");
	pthread_t thread;
	cpu_set_t cpus;
	sigset_t all;
	sigset_t before;
	int in;
	int out;
	int cpu;

	if (pipes == NULL || sscanf(pipes, "%d %d %d", &in, &out, &cpu) != 3)
		return;
	from = fdopen(in, "r");
	to = fdopen(out, "w");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (from != NULL && to != NULL &&
	    pthread_create(&thread, NULL, obey, NULL) == 0 && cpu >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET((size_t)cpu, &cpus);
		pthread_setaffinity_np(thread, sizeof(cpus), &cpus);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
