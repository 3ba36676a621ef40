/*
 * trial.c - random heaps and both accounts of them (trial.h).
 */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64, Steele, Lea and Flood, OOPSLA 2014: any seed will do. */
static uint64_t trial_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t trial_below(uint64_t *state, uint64_t limit)
{
	return trial_next(state) % limit;
}

static void trial_word(struct trial *trial, const char *word, const char *value)
{
	char(*words)[24] = trial->words;

	snprintf(words[trial->word_count++], 24, "%s", word);
	snprintf(words[trial->word_count++], 24, "%s", value);
}

static void trial_number(struct trial *trial, const char *word, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	trial_word(trial, word, text);
}

static const char *const trial_patterns[] = {
    "last", "page", "random",  "none",	  "all",
    "lifo", "fifo", "churned", "aligned", "raised",
};

/* Sizes of blocks: the common mix, small ones, a cache's largest, those that
 * are mapped, those around a page, and everything. */
static const struct {
	uint64_t least;
	uint64_t most;
} trial_sizes[] = {
    {16, 8192},	       {16, 116},    {900, 1200},
    {100000, 1000000}, {3900, 4300}, {1, 200000},
};

static const char *const trial_tunables[] = {
    "tcache_count=0",	   "tcache_count=200", "arena_max=1",
    "arena_max=2",	   "mxfast=0",	       "mxfast=160",
    "top_pad=0",	   "top_pad=1048576",  "mmap_threshold=16384",
    "trim_threshold=4096", "tcache_max=4096",  "perturb=165",
    "hugetlb=1",
};

#define TRIAL_COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void trial_tunable(struct trial *trial, size_t index)
{
	size_t used = strlen(trial->tunables);

	snprintf(trial->tunables + used, sizeof(trial->tunables) - used,
		 "%sglibc.malloc.%s", used > 0 ? ":" : "",
		 trial_tunables[index]);
}

/* None, one or two, of which the second may say the first otherwise: then it
 * is left out. */
static void trial_draw_tunables(struct trial *trial, uint64_t *state)
{
	uint64_t count = trial_below(state, 3);
	size_t first = (size_t)trial_below(state, TRIAL_COUNT(trial_tunables));
	size_t second = (size_t)trial_below(state, TRIAL_COUNT(trial_tunables));
	size_t length = strcspn(trial_tunables[first], "=");

	if (count > 0)
		trial_tunable(trial, first);
	if (count > 1 && strncmp(trial_tunables[first], trial_tunables[second],
				 length + 1) != 0)
		trial_tunable(trial, second);
}

void trial_draw(struct trial *trial, uint64_t seed, uint64_t most_kib)
{
	uint64_t state = seed;
	size_t size = (size_t)trial_below(&state, TRIAL_COUNT(trial_sizes));
	uint64_t threads = trial_below(&state, 7);
	uint64_t join = threads == 0 ? 1 : trial_below(&state, 2);
	uint64_t kib = most_kib / 8 + trial_below(&state, most_kib * 7 / 8);

	memset(trial, 0, sizeof(*trial));
	trial->seed = seed;
	/* Tables of a heap of tiny blocks are larger than the heap. */
	if (trial_sizes[size].most < 200)
		kib /= 4;
	trial_word(
	    trial, "pattern",
	    trial_patterns[trial_below(&state, TRIAL_COUNT(trial_patterns))]);
	trial_number(trial, "threads", threads);
	trial_number(trial, "join", join);
	trial_number(trial, "kib", kib / (threads + join) + 1);
	trial_number(trial, "least", trial_sizes[size].least);
	trial_number(trial, "most", trial_sizes[size].most);
	trial_number(trial, "keep", trial_below(&state, 1001));
	trial_number(trial, "seed", trial_below(&state, 1000000));
	trial_number(trial, "across", trial_below(&state, 4) == 0);
	trial_number(trial, "touch",
		     trial_below(&state, 4) == 0 ? trial_below(&state, 3) : 1);
	trial_draw_tunables(trial, &state);
	trial->ended = threads > 0 && trial_below(&state, 8) == 0;
}

int trial_start(const struct trial *trial, const char *root,
		struct target *target)
{
	struct target_plan plan = {
	    .program = target_program("heap"),
	    .root = root,
	    .tunables = trial->tunables[0] != '\0' ? trial->tunables : NULL,
	};

	for (size_t i = 0; i < trial->word_count; i++)
		plan.words[i] = trial->words[i];
	return target_start(target, &plan);
}

static const plim_heap *trial_glibc(const plim_heaps *heaps)
{
	for (size_t i = 0; i < plim_heaps_count(heaps); i++) {
		const plim_heap *heap = plim_heaps_at(heaps, i);

		if (plim_heap_about(heap).kind == PLIM_HEAP_OF_GLIBC)
			return heap;
	}
	return NULL;
}

static int trial_figures(const plim_heap *heap, struct trial_walk *walk,
			 char *error, size_t size)
{
	const struct {
		int figure;
		uint64_t *value;
	} wanted[] = {
	    {PLIM_HEAP_IN_USE, &walk->in_use},
	    {PLIM_HEAP_TCACHE, &walk->tcache},
	    {PLIM_HEAP_FASTBIN, &walk->fastbin},
	    {PLIM_HEAP_FREE, &walk->free},
	    {PLIM_HEAP_TOP, &walk->top},
	    {PLIM_HEAP_MMAPPED, &walk->mmapped},
	    {PLIM_HEAP_MMAPPED_COUNT, &walk->mmapped_count},
	    {PLIM_HEAP_SYSTEM, &walk->system},
	    {PLIM_HEAP_WALKED, &walk->walked},
	    {PLIM_HEAP_UNKNOWN, &walk->unknown},
	    {PLIM_HEAP_UNCERTAIN, &walk->uncertain},
	    {PLIM_HEAP_TRIM_RETURNS, &walk->trim},
	    {PLIM_HEAP_HUGE, &walk->huge},
	    {PLIM_HEAP_ARENA_COUNT, &walk->arenas},
	    {PLIM_HEAP_HEAP_COUNT, &walk->heaps},
	};

	for (size_t i = 0; i < TRIAL_COUNT(wanted); i++) {
		plim_count got = plim_heap_figure(heap, wanted[i].figure);

		/* A glibc that has no fast bins has nothing in them. */
		if (wanted[i].figure == PLIM_HEAP_FASTBIN &&
		    got.state == PLIM_STATE_NOT_APPLICABLE)
			continue;
		if (got.state != PLIM_STATE_KNOWN) {
			snprintf(error, size, "%s is missing",
				 plim_heap_figure_name(wanted[i].figure));
			return -1;
		}
		*wanted[i].value = got.value;
	}
	return 0;
}

int trial_can(plim_heaps *heaps)
{
	return plim_heaps_walk(heaps, NULL, NULL, NULL) != PLIM_EUNSUPPORTED;
}

int trial_look(plim_heaps *heaps, plim_host *host, pid_t pid,
	       struct trial_walk *walk, char *error, size_t size)
{
	plim_target *target = NULL;
	plim_error why = {0};
	plim_heap_facts facts;
	const plim_heap *heap;
	uint64_t begin;
	int result;

	memset(walk, 0, sizeof(*walk));
	if (plim_target_open(&target, host, (int32_t)pid, &why) != PLIM_OK) {
		snprintf(error, size, "plim_target_open: %s", why.detail);
		return -1;
	}
	begin = target_monotonic_ns();
	result = plim_heaps_walk(heaps, target, NULL, &why);
	walk->ms = (double)(target_monotonic_ns() - begin) / 1e6;
	plim_target_close(target);
	if (result != PLIM_OK) {
		snprintf(error, size, "plim_heaps_walk: %d, %s", result,
			 why.detail);
		return -1;
	}
	heap = trial_glibc(heaps);
	if (heap == NULL) {
		snprintf(error, size, "no glibc");
		return -1;
	}
	facts = plim_heap_about(heap);
	if (facts.depth != PLIM_DEPTH_WALKED) {
		snprintf(error, size, "not walked: %s", facts.why);
		return -1;
	}
	snprintf(walk->version, sizeof(walk->version), "%s", facts.version);
	return trial_figures(heap, walk, error, size);
}

int trial_ask(struct target *target, struct trial_truth *truth)
{
	if (target_ask(target, "truth") != 0)
		return -1;
	truth->uordblks = target_truth(target, "uordblks");
	truth->fordblks = target_truth(target, "fordblks");
	truth->fsmblks = target_truth(target, "fsmblks");
	truth->hblks = target_truth(target, "hblks");
	truth->hblkhd = target_truth(target, "hblkhd");
	truth->arena = target_truth(target, "arena");
	truth->own = target_truth(target, "own_bytes");
	truth->held = target_truth(target, "held_bytes");
	return target->error[0] != '\0' ? -1 : 0;
}

/*
 * What is held and what libc had before are all that is in use, but for what
 * every heap that a thread's arena got since needs for itself: its header, and
 * the two chunks that end the heap before, 64 to 96 bytes by the version and
 * by what was left over there.
 */
static int trial_holds(const struct trial_walk *walk,
		       const struct trial_truth *truth)
{
	uint64_t more =
	    walk->heaps + 1 > walk->arenas ? walk->heaps + 1 - walk->arenas : 0;
	uint64_t held = truth->own + truth->held;

	return walk->in_use >= held + more * 64 &&
	       walk->in_use <= held + more * 96;
}

unsigned trial_compare(const struct trial_walk *walk,
		       const struct trial_truth *truth)
{
	unsigned faults = 0;

	if (walk->in_use + walk->tcache != truth->uordblks)
		faults |= TRIAL_IN_USE;
	if (walk->free + walk->fastbin + walk->top != truth->fordblks)
		faults |= TRIAL_FREE;
	if (walk->walked != walk->system || walk->system != truth->arena)
		faults |= TRIAL_SYSTEM;
	if (walk->mmapped != truth->hblkhd ||
	    walk->mmapped_count != truth->hblks)
		faults |= TRIAL_MMAPPED;
	if (walk->fastbin != truth->fsmblks)
		faults |= TRIAL_FAST;
	if (!trial_holds(walk, truth))
		faults |= TRIAL_HELD;
	if (walk->unknown != 0 || walk->uncertain != 0)
		faults |= TRIAL_UNKNOWN;
	return faults;
}

const char *trial_fault_name(unsigned fault)
{
	switch (fault) {
	case TRIAL_IN_USE:
		return "in use + tcache = uordblks";
	case TRIAL_FREE:
		return "free + fast bins + top = fordblks";
	case TRIAL_SYSTEM:
		return "walked = system = arena";
	case TRIAL_MMAPPED:
		return "mmapped = hblkhd, hblks";
	case TRIAL_FAST:
		return "fast bins = fsmblks";
	case TRIAL_HELD:
		return "in use = held + libc's own";
	case TRIAL_UNKNOWN:
		return "nothing unknown or uncertain";
	}
	return "?";
}

static void trial_judge(struct target *target, int ended,
			struct trial_result *result)
{
	if (trial_ask(target, &result->truth) != 0 ||
	    target_ask(target, "trim") != 0) {
		snprintf(result->error, sizeof(result->error), "%.200s",
			 target->error);
		return;
	}
	result->faults = trial_compare(&result->walk, &result->truth);
	/* With its threads libc has given back what it held for them. */
	if (ended)
		result->faults &= ~(unsigned)TRIAL_HELD;
	result->trimmed = (int64_t)target_truth(target, "before_bytes") -
			  (int64_t)target_truth(target, "after_bytes");
	result->off = (int64_t)result->walk.trim - result->trimmed;
}

void trial_run(const struct trial *trial, const char *root, plim_heaps *heaps,
	       plim_host *host, struct trial_result *result)
{
	struct target target;

	memset(result, 0, sizeof(*result));
	if (trial_start(trial, root, &target) != 0 ||
	    (trial->ended && target_ask(&target, "end") != 0))
		snprintf(result->error, sizeof(result->error), "%.200s",
			 target.error);
	else if (trial_look(heaps, host, target.pid, &result->walk,
			    result->error, sizeof(result->error)) == 0)
		trial_judge(&target, trial->ended, result);
	target_end(&target);
}

void trial_print(const struct trial *trial)
{
	printf("seed %llu:", (unsigned long long)trial->seed);
	if (trial->tunables[0] != '\0')
		printf(" GLIBC_TUNABLES=%s", trial->tunables);
	printf(" heap");
	for (size_t i = 0; i < trial->word_count; i++)
		printf(" %s", trial->words[i]);
	printf("%s\n", trial->ended ? "; end" : "");
}

static void trial_pair(const char *name, uint64_t walked, uint64_t truth)
{
	printf("   %-10s %14llu %14llu %+lld\n", name,
	       (unsigned long long)walked, (unsigned long long)truth,
	       (long long)(walked - truth));
}

void trial_explain(const struct trial_result *result)
{
	const struct trial_walk *walk = &result->walk;
	const struct trial_truth *truth = &result->truth;

	if (result->error[0] != '\0') {
		printf("   %s\n", result->error);
		return;
	}
	for (unsigned bit = 1; bit <= TRIAL_UNKNOWN; bit *= 2)
		if ((result->faults & bit) != 0)
			printf("   not: %s\n", trial_fault_name(bit));
	trial_pair("uordblks", walk->in_use + walk->tcache, truth->uordblks);
	trial_pair("fordblks", walk->free + walk->fastbin + walk->top,
		   truth->fordblks);
	trial_pair("fsmblks", walk->fastbin, truth->fsmblks);
	trial_pair("arena", walk->system, truth->arena);
	trial_pair("walked", walk->walked, truth->arena);
	trial_pair("hblkhd", walk->mmapped, truth->hblkhd);
	trial_pair("hblks", walk->mmapped_count, truth->hblks);
	trial_pair("in use", walk->in_use, truth->own + truth->held);
	trial_pair("trim", walk->trim, (uint64_t)result->trimmed);
	trial_pair("unknown", walk->unknown, 0);
	trial_pair("uncertain", walk->uncertain, 0);
}

void trial_count(struct trial_tally *tally, const struct trial_result *result)
{
	uint64_t off = (uint64_t)(result->off < 0 ? -result->off : result->off);

	tally->trials++;
	if (result->error[0] != '\0') {
		tally->failed++;
		return;
	}
	for (unsigned bit = 0; bit < 7; bit++)
		if ((result->faults & (1u << bit)) != 0)
			tally->wrong[bit]++;
	if (off == 0)
		tally->exact++;
	else if (off <= 4096)
		tally->one++;
	else if (off <= 8192)
		tally->two++;
	else
		tally->more++;
}

void trial_tell(const struct trial_tally *tally)
{
	unsigned done = tally->trials - tally->failed;

	printf("trials that took place             %u of %u\n", done,
	       tally->trials);
	for (unsigned bit = 0; bit < 7; bit++)
		printf("%-34s %u of %u\n", trial_fault_name(1u << bit),
		       done - tally->wrong[bit], done);
	printf("trim forecast: exact %u, one page off %u, two %u, more %u\n",
	       tally->exact, tally->one, tally->two, tally->more);
}
