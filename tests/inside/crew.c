/*
 * crew.c - see crew.h.
 */
#include "crew.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t crew_sink;

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t crew_now(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

void crew_compute(uint64_t ns)
{
	uint64_t end = clock_now(CLOCK_THREAD_CPUTIME_ID) + ns;

	do {
		for (unsigned i = 0; i < 100000; i++)
			crew_sink += i;
	} while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end);
}

void crew_sleep(uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / SECOND),
				.tv_nsec = (long)(ns % SECOND)};

	while (nanosleep(&time, &time) != 0 && errno == EINTR)
		;
}

/* A sleep that is not tried again. */
static void member_rests(struct member *member)
{
	struct timespec time = {.tv_sec = (time_t)(member->idle_ns / SECOND),
				.tv_nsec = (long)(member->idle_ns % SECOND)};
	uint64_t before = crew_now();

	if (nanosleep(&time, NULL) != 0 ||
	    crew_now() - before < member->idle_ns)
		member->disturbed++;
}

static void *member_main(void *user)
{
	struct member *member = user;
	struct crew *crew = member->crew;
	sigset_t all;

	member->tid = (int32_t)syscall(SYS_gettid);
	sigfillset(&all);
	if (member->blocks)
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	crew->ready++;
	while (!crew->over) {
		if (member->busy_ns != 0)
			crew_compute(member->busy_ns);
		if (member->idle_ns != 0)
			member_rests(member);
		member->turns++;
	}
	return NULL;
}

struct member *crew_add(struct crew *crew, uint64_t busy_ns, uint64_t idle_ns,
			int blocks)
{
	struct member *member = &crew->members[crew->count++];

	assert_true(crew->count <= CREW_MOST);
	memset(member, 0, sizeof(*member));
	member->crew = crew;
	member->busy_ns = busy_ns;
	member->idle_ns = idle_ns;
	member->blocks = blocks;
	assert_int_equal(
	    pthread_create(&member->thread, NULL, member_main, member), 0);
	while (crew->ready < crew->count)
		crew_sleep(MS / 10);
	return member;
}

void crew_end(struct crew *crew)
{
	crew->over = 1;
	for (int i = 0; i < crew->count; i++)
		pthread_join(crew->members[i].thread, NULL);
}

uint64_t crew_cpu(const struct member *member)
{
	clockid_t clock;

	assert_int_equal(pthread_getcpuclockid(member->thread, &clock), 0);
	return clock_now(clock);
}

uint32_t self_flags;

void self_arguments(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "timers") == 0)
		self_flags = PLIM_PROFILE_NO_PERF;
	if (argc > 1 && strcmp(argv[1], "ticks") == 0)
		self_flags = PLIM_PROFILE_NO_PERF | PLIM_PROFILE_NO_TIMERS;
	if (argc > 1 && strcmp(argv[1], "suspend") == 0)
		self_flags = PLIM_PROFILE_SUSPEND;
}

int self_by_signal(const plim_profile *profile)
{
	if (self_flags == 0)
		return self_tier(profile, PLIM_TIER_PERF_SIGNAL);
	assert_int_equal(self_tier(profile, PLIM_TIER_PERF_SIGNAL), 0);
	assert_int_equal(self_tier(profile, PLIM_TIER_PERF), 0);
	if (self_flags == PLIM_PROFILE_NO_PERF) {
		assert_int_equal(self_tier(profile, PLIM_TIER_CPU_TIMER), 1);
		return 1;
	}
	assert_int_equal(self_tier(profile, PLIM_TIER_CPU_TIMER), 0);
	if (self_flags == PLIM_PROFILE_SUSPEND) {
		assert_int_equal(self_tier(profile, PLIM_TIER_NO_STOP), 0);
		assert_int_equal(self_tier(profile, PLIM_TIER_SUSPEND), 1);
		return 1;
	}
	assert_int_equal(self_tier(profile, PLIM_TIER_THREAD_SIGNAL), 1);
	return 1;
}

plim_profile *self_open(plim_profile_request request)
{
	plim_profile *profile = NULL;
	plim_error error = {0};

	request.size = sizeof(request);
	request.flags |= self_flags;
	if (plim_profile_open_self(&profile, NULL, &request, &error) != PLIM_OK)
		fail_msg("open: %s (%s)", plim_error_text(error.code),
			 error.detail);
	return profile;
}

static void self_start(plim_profile *profile)
{
	plim_error error = {0};

	if (plim_profile_start(profile, &error) != PLIM_OK)
		fail_msg("start: %s (%s, %d)", plim_error_text(error.code),
			 error.detail, error.system);
}

static void self_end(plim_profile *profile)
{
	plim_error error = {0};

	plim_profile_stop(profile);
	if (plim_profile_join(profile, &error) != PLIM_OK)
		fail_msg("join: %s (%s, %d)", plim_error_text(error.code),
			 error.detail, error.system);
}

void self_for(plim_profile *profile, uint64_t ns)
{
	self_start(profile);
	crew_sleep(ns);
	self_end(profile);
}

static uint64_t crew_cpu_of_all(const struct crew *crew)
{
	uint64_t sum = 0;

	for (int i = 0; i < crew->count; i++)
		sum += crew_cpu(&crew->members[i]);
	return sum;
}

void self_until(plim_profile *profile, const struct crew *crew, uint64_t ns)
{
	uint64_t end = crew_now() + 30 * SECOND;
	uint64_t first;

	self_start(profile);
	first = crew_cpu_of_all(crew);
	while (crew_cpu_of_all(crew) - first < ns && crew_now() < end)
		crew_sleep(10 * MS);
	self_end(profile);
}

const plim_profile_thread *self_thread(const plim_profile *profile, int32_t tid)
{
	for (size_t i = 0; i < plim_profile_thread_count(profile); i++) {
		const plim_profile_thread *thread =
		    plim_profile_thread_at(profile, i);

		if (thread->tid == tid)
			return thread;
	}
	fail_msg("thread %d is not in the profile", (int)tid);
	return NULL;
}

static uint64_t folded(const plim_profile *profile, int view)
{
	plim_fold_options options = {.size = sizeof(options), .view = view};
	plim_fold *fold = NULL;
	uint64_t sum = 0;

	assert_int_equal(plim_profile_fold(profile, &options, &fold, NULL),
			 PLIM_OK);
	for (size_t i = 0; i < plim_fold_row_count(fold); i++)
		sum += plim_fold_row_at(fold, i)->weight_ns;
	assert_int_equal(sum, plim_fold_about(fold).weight_ns);
	plim_fold_free(fold);
	return sum;
}

void self_holds(const plim_profile *profile)
{
	plim_profile_times total = plim_profile_total(profile);
	plim_profile_times sum = {0};

	for (size_t i = 0; i < plim_profile_thread_count(profile); i++) {
		plim_profile_times times =
		    plim_profile_thread_at(profile, i)->times;

		assert_int_equal(times.wall_ns, times.cpu_ns +
						    times.waiting_ns +
						    times.blocked_ns);
		assert_int_equal(times.cpu_ns, times.sampled_ns +
						   times.system_ns +
						   times.unsampled_ns);
		sum.wall_ns += times.wall_ns;
		sum.cpu_ns += times.cpu_ns;
	}
	assert_int_equal(sum.wall_ns, total.wall_ns);
	assert_int_equal(sum.cpu_ns, total.cpu_ns);
	assert_int_equal(folded(profile, PLIM_VIEW_CPU), total.cpu_ns);
	assert_int_equal(folded(profile, PLIM_VIEW_OFF),
			 total.waiting_ns + total.blocked_ns);
	assert_int_equal(folded(profile, PLIM_VIEW_WALL), total.wall_ns);
}

uint64_t self_metric(const plim_profile *profile, int metric)
{
	plim_count count = plim_profile_metric(profile, metric);

	assert_int_equal(count.state, PLIM_STATE_KNOWN);
	return count.value;
}

static const plim_profile_tier *tier_row(const plim_profile *profile, int tier)
{
	for (size_t i = 0; i < plim_profile_tier_count(profile); i++) {
		const plim_profile_tier *row = plim_profile_tier_at(profile, i);

		if (row->tier == tier)
			return row;
	}
	fail_msg("there is no row of tier %d", tier);
	return NULL;
}

int self_tier(const plim_profile *profile, int tier)
{
	return tier_row(profile, tier)->used;
}

int self_reason(const plim_profile *profile, int tier)
{
	return tier_row(profile, tier)->works.method;
}

int self_lacks(const plim_profile *profile, const char *words)
{
	for (size_t i = 0; i < plim_profile_lack_count(profile); i++)
		if (strstr(plim_profile_lack(profile, i), words) != NULL)
			return 1;
	return 0;
}
