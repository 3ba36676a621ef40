/*
 * common.c - steps that the tests of heaps share (common.h).
 */
#include "common.h"

#include <stdlib.h>

int look_open(void **state)
{
	static struct look look;

	if (plim_host_open(&look.host, NULL, NULL) != PLIM_OK ||
	    plim_heaps_new(&look.heaps, look.host, NULL) != PLIM_OK)
		return -1;
	*state = &look;
	return 0;
}

int look_close(void **state)
{
	struct look *look = *state;

	plim_heaps_free(look->heaps);
	plim_host_close(look->host);
	return 0;
}

void look_can(void **state)
{
	const struct look *look = *state;

	if (!trial_can(look->heaps))
		SKIP_BECAUSE("this build walks no heaps");
}

void look_start(struct target *target, const char *name, const char *tunables,
		const char *line)
{
	static char words[512];
	struct target_plan plan = {
	    .program = target_program(name),
	    .root = strcmp(name, "heap") == 0 ? getenv("PLIM_ROOT") : NULL,
	    .tunables = tunables,
	};
	char *rest = words;
	char *word;
	size_t count = 0;

	snprintf(words, sizeof(words), "%s", line);
	while ((word = strtok_r(rest, " ", &rest)) != NULL)
		plan.words[count++] = word;
	if (target_start(target, &plan) != 0)
		fail_msg("%s: %s", line, target->error);
}

void look_ask(struct target *target, const char *command)
{
	if (target_ask(target, command) != 0)
		fail_msg("%s: %s", command, target->error);
}

uint64_t look_truth(struct target *target, const char *key)
{
	uint64_t value = target_truth(target, key);

	if (target->error[0] != '\0')
		fail_msg("%s", target->error);
	return value;
}

struct trial_walk look_walk(const struct look *look, pid_t pid)
{
	struct trial_walk walk;
	char error[256];

	if (trial_look(look->heaps, look->host, pid, &walk, error,
		       sizeof(error)) != 0)
		fail_msg("%s", error);
	return walk;
}

void look_compare(struct target *target, const struct trial_walk *walk,
		  unsigned but)
{
	struct trial_result result = {.walk = *walk};

	if (trial_ask(target, &result.truth) != 0)
		fail_msg("%s", target->error);
	result.faults = trial_compare(walk, &result.truth) & ~but;
	if (result.faults != 0) {
		trial_explain(&result);
		fail_msg("the walk is not what the target says");
	}
}

void look_trim(struct target *target, const struct trial_walk *walk,
	       uint64_t pages)
{
	uint64_t before;
	uint64_t fell;
	uint64_t off;

	look_ask(target, "trim");
	before = look_truth(target, "before_bytes");
	fell = before - look_truth(target, "after_bytes");
	off = walk->trim > fell ? walk->trim - fell : fell - walk->trim;
	if (off > pages * 4096)
		fail_msg("forecast %llu, anonymous memory fell by %llu",
			 (unsigned long long)walk->trim,
			 (unsigned long long)fell);
}

const plim_heap *look_glibc(const struct look *look)
{
	for (size_t i = 0; i < plim_heaps_count(look->heaps); i++) {
		const plim_heap *heap = plim_heaps_at(look->heaps, i);

		if (plim_heap_about(heap).kind == PLIM_HEAP_OF_GLIBC)
			return heap;
	}
	fail_msg("no glibc was found");
	return NULL;
}

uint64_t look_figure(const struct look *look, int figure)
{
	plim_count got = plim_heap_figure(look_glibc(look), figure);

	if (got.state != PLIM_STATE_KNOWN)
		fail_msg("%s is not known", plim_heap_figure_name(figure));
	return got.value;
}
