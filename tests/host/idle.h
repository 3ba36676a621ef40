/*
 * idle.h - an observation whose sleeper is the test: what happens in it
 * happens while the observer sleeps, in quiescence or in the window, and
 * nowhere else.
 */
#ifndef TESTS_HOST_IDLE_H
#define TESTS_HOST_IDLE_H

#include "common.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000000)

struct scene;
/* Called when the observer goes to sleep for the n-th time, from 0. Non-zero
 * stops the observation. */
typedef int scene_fn(struct scene *scene, unsigned sleep);

struct scene {
	plim_host *host;
	plim_idle *idle;
	plim_target *target; /* NULL: ourselves */
	struct spawn spawn;
	plim_idle_options options;
	scene_fn *act;
	unsigned sleeps;
	unsigned looks; /* calls of progress, by phase */
	unsigned samples;
	plim_idle_progress last; /* what it was told last */
};

/* How many threads of a process run, or are about to. */
static inline unsigned scene_awake(pid_t pid)
{
	char path[300];
	unsigned awake = 0;
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
		char state = 0;
		FILE *stat;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat",
			 (int)pid, entry->d_name);
		stat = fopen(path, "r");
		if (stat == NULL)
			continue;
		if (fscanf(stat, "%*d (%*[^)]) %c", &state) == 1)
			awake += state == 'R' || state == 'D';
		fclose(stat);
	}
	if (tasks != NULL)
		closedir(tasks);
	return awake;
}

/* Waits until all of them are: what they did before is done. */
static inline void scene_settle(const struct scene *scene)
{
	for (int i = 0; i < 2000 && scene_awake(scene->spawn.pid) > 0; i++)
		child_sleep_ms(5);
}

static inline int scene_sleep(uint64_t ns, int descriptor, void *user)
{
	struct scene *scene = user;
	struct pollfd entry = {descriptor, POLLIN, 0};
	uint64_t begin = child_monotonic_ns();
	int stop = 0;

	if (scene->act != NULL)
		stop = scene->act(scene, scene->sleeps);
	scene->sleeps++;
	if (!stop && scene->spawn.pid > 0)
		scene_settle(scene);
	while (!stop && child_monotonic_ns() - begin < ns) {
		uint64_t rest = ns - (child_monotonic_ns() - begin);
		struct timespec time = {(time_t)(rest / 1000000000u),
					(long)(rest % 1000000000u)};

		if (rest > ns ||
		    ppoll(&entry, descriptor >= 0, &time, NULL) > 0)
			break;
	}
	return stop;
}

static inline void scene_progress(const plim_idle_progress *progress,
				  void *user)
{
	struct scene *scene = user;

	scene->looks += progress->phase == PLIM_IDLE_QUIESCENCE;
	scene->samples += progress->phase == PLIM_IDLE_WINDOW;
	scene->last = *progress;
}

/* No waiting for quiet, a window of 100 ms. `argv` NULL: of ourselves. */
static inline void scene_begin(struct scene *scene, const char *const *argv,
			       scene_fn *act)
{
	memset(scene, 0, sizeof(*scene));
	scene->host = open_host(0);
	assert_int_equal(plim_idle_new(&scene->idle, scene->host, NULL),
			 PLIM_OK);
	if (argv != NULL) {
		spawn_start(&scene->spawn, argv);
		scene_settle(scene);
		scene->target = open_target(scene->host, scene->spawn.pid);
	}
	scene->act = act;
	scene->options = (plim_idle_options){
	    .size = sizeof(scene->options),
	    .window_ns = 100 * MS,
	    .quiet_cpu_percent = -1,
	    .sleep = scene_sleep,
	    .progress = scene_progress,
	    .user = scene,
	};
}

static inline void scene_observe(struct scene *scene)
{
	plim_error error = {0};

	if (plim_idle_observe(scene->idle, scene->target, &scene->options,
			      &error) != PLIM_OK)
		fail_msg("plim_idle_observe: %s", plim_error_word(error.code));
}

static inline void scene_end(struct scene *scene)
{
	if (scene->spawn.pid > 0)
		spawn_end(&scene->spawn);
	plim_idle_free(scene->idle);
	plim_target_close(scene->target);
	plim_host_close(scene->host);
}

static inline plim_idle_facts scene_facts(const struct scene *scene)
{
	return plim_idle_about(scene->idle);
}

/* The value of a change that must be known. */
static inline uint64_t scene_change(const struct scene *scene, int field)
{
	plim_count count = plim_idle_change(scene->idle, field);

	if (count.state != PLIM_STATE_KNOWN)
		fail_msg("%s: %s", plim_field_get(field)->name,
			 plim_reason_word(count.method));
	return count.value;
}

#endif
