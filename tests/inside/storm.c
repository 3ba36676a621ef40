/*
 * storm.c - see storm.h: the list of storms, the session around them, and what
 * they share.
 */
#include "storm.h"

#include <plimsoll.h>

#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct storm storms[] = {
    {"waits", storm_waits_prepare, storm_waits, 1000},
    {"polls", storm_waits_prepare, storm_polls, 80},
    {"masks", NULL, storm_masks, 1000},
    {"handlers", NULL, storm_handlers, 20},
    {"altstacks", NULL, storm_altstacks, 800},
    {"exits", NULL, storm_exits, 5000},
    {"contexts", NULL, storm_contexts, 150},
    {"starts", NULL, storm_starts, 250},
    {"forks", storm_forks_prepare, storm_forks, 4},
    {"spawns", NULL, storm_spawns, 60},
    {"exec", NULL, storm_exec, 1},
    {"throws", NULL, storm_throws, 800},
    {"reloads", NULL, storm_reloads, 200},
};

static plim_profile *session;
static plim_profile_request session_request = {
    .size = sizeof(plim_profile_request),
    .hz = 1000,
    .duration_ns = UINT64_C(600000000000),
    .duration_ceiling_ns = UINT64_C(600000000000),
};
static int session_wanted;
static _Atomic uint64_t session_strange;
static _Atomic uint64_t work_sink;

void storm_die(const char *what)
{
	fprintf(stderr, "storm: not so: %s\n", what);
	_exit(3);
}

uint64_t storm_mix(uint64_t hash, uint64_t value)
{
	hash ^=
	    value + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
	return hash * UINT64_C(0xff51afd7ed558ccd);
}

uint64_t storm_work(uint64_t rounds)
{
	uint64_t value = rounds;

	for (uint64_t i = 0; i < rounds; i++)
		value = value * UINT64_C(6364136223846793005) + i;
	work_sink = value;
	return value;
}

pthread_t storm_thread(void *(*body)(void *user), void *user, size_t stack)
{
	pthread_attr_t attributes;
	pthread_t thread;

	STORM_TRUE(pthread_attr_init(&attributes) == 0);
	if (stack != 0)
		STORM_TRUE(pthread_attr_setstacksize(&attributes, stack) == 0);
	STORM_TRUE(pthread_create(&thread, &attributes, body, user) == 0);
	pthread_attr_destroy(&attributes);
	return thread;
}

const char *storm_beside(const char *name)
{
	static char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 256);
	char *slash;

	STORM_TRUE(size > 0);
	path[size] = '\0';
	slash = strrchr(path, '/');
	STORM_TRUE(slash != NULL);
	snprintf(slash + 1, 256, "%s", name);
	return path;
}

/* --- the session ---------------------------------------------------------- */

static void session_failed(const char *what, const plim_error *error)
{
	fprintf(stderr, "storm: %s: %s (%s, %d)\n", what,
		plim_error_text(error->code), error->detail, error->system);
	_exit(4);
}

int storm_has_session(void)
{
	return session_wanted;
}

/* The kernel's frame of a signal lies below the stack pointer and what the ABI
 * lets a function keep there, with the handler's own below it: in a piece of
 * the stack that storm_work() does not come to. */
#define SETTLE_HIGH   1200
#define SETTLE_LOW    7000
#define SETTLE_WORDS  ((SETTLE_LOW - SETTLE_HIGH) / 8)
#define SETTLE_CLEAN  UINT64_C(0x5a5a5a5a5a5a5a5a)
#define SETTLE_ROUNDS 2000

__attribute__((noinline, no_sanitize("address"))) static void
settle_until(uint64_t most)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	volatile uint64_t *words =
	    (volatile uint64_t *)((here - SETTLE_LOW) & ~(uintptr_t)7);

	for (int i = 0; i < SETTLE_WORDS; i++)
		words[i] = SETTLE_CLEAN;
	for (uint64_t done = 0; done < most; done += SETTLE_ROUNDS) {
		storm_work(SETTLE_ROUNDS);
		for (int i = 0; i < SETTLE_WORDS; i++)
			if (words[i] != SETTLE_CLEAN)
				return;
	}
}

void storm_settle(void)
{
	if (session_wanted)
		settle_until(UINT64_C(2000000000));
}

void storm_session_lags(void)
{
	const struct sched_param none = {0};
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	STORM_TRUE(tasks != NULL);
	while (session_wanted && (entry = readdir(tasks)) != NULL) {
		char path[320];
		char name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 entry->d_name);
		file = fopen(path, "re");
		if (file == NULL)
			continue;
		if (fgets(name, sizeof(name), file) != NULL &&
		    strcmp(name, "plimsoll\n") == 0)
			STORM_TRUE(sched_setscheduler(atoi(entry->d_name),
						      SCHED_IDLE, &none) == 0);
		fclose(file);
	}
	closedir(tasks);
}

void storm_strange(uint64_t count)
{
	session_strange += count;
}

void storm_session_begin(void)
{
	plim_error error = {0};

	if (!session_wanted)
		return;
	if (session == NULL &&
	    plim_profile_open_self(&session, NULL, &session_request, &error) !=
		PLIM_OK)
		session_failed("open", &error);
	if (plim_profile_start(session, &error) != PLIM_OK)
		session_failed("start", &error);
}

/* Where nothing was sampled, says why and gives 0. */
static int session_stop(char why[256])
{
	plim_error error = {0};
	int code;

	plim_profile_stop(session);
	code = plim_profile_join(session, &error);
	if (code != PLIM_OK && code != PLIM_ENOSAMPLES)
		session_failed("join", &error);
	snprintf(why, 256, "%s", code != PLIM_OK ? error.detail : "");
	return code == PLIM_OK;
}

/* So short a one may have no sample. */
void storm_session_turn(int is_long)
{
	char why[256];

	storm_session_begin();
	if (is_long)
		usleep(3000);
	(void)session_stop(why);
}

static unsigned long long told(int metric)
{
	plim_count count = plim_profile_metric(session, metric);

	return count.state == PLIM_STATE_KNOWN ? count.value : 0;
}

void storm_session_end(void)
{
	plim_profile_times total;
	char why[256];

	if (!session_wanted)
		return;
	if (!session_stop(why))
		fprintf(stderr, "nothing: %s\n", why);
	total = plim_profile_total(session);
	STORM_TRUE(total.wall_ns ==
		   total.cpu_ns + total.waiting_ns + total.blocked_ns);
	fprintf(stderr,
		"session running=%llu blocked=%llu lost=%llu signals=%llu "
		"whole=%llu cpu_ms=%llu system_ms=%llu wall_ms=%llu "
		"strange=%llu tiers=",
		told(PLIM_METRIC_RUNNING), told(PLIM_METRIC_BLOCKED),
		told(PLIM_METRIC_LOST), told(PLIM_METRIC_SIGNALS),
		told(PLIM_METRIC_STACKS_ROOT),
		(unsigned long long)total.cpu_ns / 1000000,
		(unsigned long long)total.system_ns / 1000000,
		(unsigned long long)plim_profile_about(session).duration_ns /
		    1000000,
		(unsigned long long)session_strange);
	for (size_t i = 0; i < plim_profile_tier_count(session); i++) {
		const plim_profile_tier *tier =
		    plim_profile_tier_at(session, i);

		if (tier->used)
			fprintf(stderr, "%s,", tier->word);
	}
	fputs("\n", stderr);
}

/* --- the command ---------------------------------------------------------- */

static const struct storm *storm_find(const char *name)
{
	for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++)
		if (strcmp(storms[i].name, name) == 0)
			return storms + i;
	return NULL;
}

static void usage(void)
{
	fputs("usage: storm [--session] [--hz=N] [--tier=WORD] NAME [SIZE]\n",
	      stderr);
	for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++)
		fprintf(stderr, "  %-10s %llu\n", storms[i].name,
			(unsigned long long)storms[i].usual);
	exit(2);
}

/* By which all that runs is to be sampled. */
static int option_tier(const char *word)
{
	static const struct {
		const char *word;
		uint32_t flags;
	} tiers[] = {
	    {"perf", PLIM_PROFILE_NO_SIGNALS},
	    {"perf_signal", 0},
	    {"cpu_timer", PLIM_PROFILE_NO_PERF},
	    {"thread_signal", PLIM_PROFILE_NO_PERF | PLIM_PROFILE_NO_TIMERS},
	    {"suspend", PLIM_PROFILE_SUSPEND},
	};

	for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++) {
		if (strcmp(word, tiers[i].word) != 0)
			continue;
		session_request.flags |= tiers[i].flags;
		return 1;
	}
	return 0;
}

static int option(const char *word)
{
	if (strcmp(word, "--session") == 0)
		session_wanted = 1;
	else if (strncmp(word, "--hz=", 5) == 0)
		session_request.hz = (uint32_t)strtoul(word + 5, NULL, 10);
	else if (strncmp(word, "--tier=", 7) == 0)
		return option_tier(word + 7);
	else
		return 0;
	return 1;
}

/* Who was executed by a storm tells how it found itself. */
static int executed(const char *word, int *status)
{
	unsigned wrong;

	if (strncmp(word, "--child=", 8) != 0 &&
	    strncmp(word, "--after=", 8) != 0)
		return 0;
	wrong = storm_inherited((unsigned)strtoul(word + 8, NULL, 10));
	if (word[2] == 'a')
		printf("after exec: %u\n", wrong);
	*status = word[2] == 'a' ? 0 : (int)wrong;
	return 1;
}

int main(int count, char **words)
{
	const struct storm *storm;
	int status = 0;
	int at = 1;

	session_request.hz_ceiling = PLIM_PROFILE_LIMIT_HZ;
	session_request.flags = PLIM_PROFILE_NO_LINES;
	if (count == 2 && executed(words[1], &status))
		return status;
	storm_lives_begin();
	while (at < count && option(words[at]))
		at++;
	storm = at < count ? storm_find(words[at++]) : NULL;
	if (storm == NULL || at + 1 < count)
		usage();
	if (storm->prepare != NULL)
		storm->prepare();
	storm_session_begin();
	storm->run(at < count ? strtoull(words[at], NULL, 10) : storm->usual);
	storm_session_end();
	plim_profile_free(session);
	fflush(stdout);
	return 0;
}
