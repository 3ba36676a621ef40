/*
 * storm_threads.c - storms of threads and stacks: threads that come and go
 * faster than anybody can look, stacks that are switched in user mode, and
 * sessions that begin and end all the time.
 */
#include "storm.h"

#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* --- ends of threads ------------------------------------------------------ */

#define EXIT_STACK ((size_t)64 << 20)
#define EXIT_HANDS 4

struct exits {
	pthread_t thread;
	uint64_t count;
	uint64_t hash;
};

static void *brief_main(void *user)
{
	const struct timespec nap = {.tv_nsec = 100000};
	volatile unsigned char deep[32768];
	uint64_t *number = user;

	for (size_t i = 0; i < sizeof(deep); i += 4096)
		deep[i] = (unsigned char)*number;
	if (*number % 16 == 0)
		nanosleep(&nap, NULL);
	*number = storm_mix(storm_work(5000), *number) + deep[4096];
	return NULL;
}

static void *hand_main(void *user)
{
	struct exits *exits = user;

	for (uint64_t i = 0; i < exits->count; i += 2) {
		uint64_t numbers[2] = {i, i + 1};
		pthread_t threads[2];

		for (int k = 0; k < 2; k++)
			threads[k] =
			    storm_thread(brief_main, &numbers[k], EXIT_STACK);
		for (int k = 0; k < 2; k++) {
			pthread_join(threads[k], NULL);
			exits->hash = storm_mix(exits->hash, numbers[k]);
		}
		/* Long enough at a time for whoever looks once in a while. */
		if (i % 32 == 0)
			exits->hash =
			    storm_mix(exits->hash, storm_work(1000000));
	}
	return NULL;
}

void storm_exits(uint64_t size)
{
	struct exits hands[EXIT_HANDS] = {{0}};
	uint64_t hash = 0;
	uint64_t count = 0;

	for (int i = 0; i < EXIT_HANDS; i++) {
		hands[i].count = size / EXIT_HANDS;
		hands[i].thread = storm_thread(hand_main, &hands[i], 0);
	}
	for (int i = 0; i < EXIT_HANDS; i++) {
		pthread_join(hands[i].thread, NULL);
		hash = storm_mix(hash, hands[i].hash);
		count += hands[i].count;
	}
	printf("%llu threads, checksum %016llx\n", (unsigned long long)count,
	       (unsigned long long)hash);
}

/* --- stacks that are switched --------------------------------------------- */

#define CONTEXT_STACK ((size_t)32768)
#define CONTEXT_MOST  8
#define CONTEXT_OWN   ((size_t)262144) /* a thread's, that was given to it */
#define CONTEXT_TURNS 16

struct weaver {
	pthread_t thread;
	uint64_t rounds;
	uint64_t hash;
	unsigned char *memory; /* its contexts' stacks, then perhaps its own */
	int given;	       /* 1: its own, too, without a guard between */
	ucontext_t home;
	ucontext_t contexts[CONTEXT_MOST];
};

static _Thread_local struct weaver *weaving;

/* Some frames deep before it goes to the next. */
static uint64_t weave(unsigned depth, unsigned own)
{
	volatile uint64_t memory[16] = {depth};

	if (depth > 0)
		return weave(depth - 1, own) + memory[0];
	for (unsigned i = 0; i < CONTEXT_TURNS; i++) {
		weaving->hash =
		    storm_mix(weaving->hash, storm_work(2000) + own + i);
		swapcontext(&weaving->contexts[own],
			    &weaving->contexts[(own + 1) % CONTEXT_MOST]);
	}
	return memory[0];
}

static void weave_context(int own)
{
	weaving->hash =
	    storm_mix(weaving->hash, weave((unsigned)own, (unsigned)own));
	/* The first that is at its end ends all. */
	setcontext(&weaving->home);
}

/* The stack of a context is new each time, where an old one was. */
static void weaver_round(struct weaver *weaver)
{
	volatile int is_back = 0;

	for (int i = 0; i < CONTEXT_MOST; i++) {
		unsigned char *stack =
		    weaver->memory + (size_t)i * CONTEXT_STACK;
		ucontext_t *context = &weaver->contexts[i];

		STORM_TRUE(mmap(stack, CONTEXT_STACK, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
				0) == stack);
		STORM_TRUE(getcontext(context) == 0);
		context->uc_stack.ss_sp = stack;
		context->uc_stack.ss_size = CONTEXT_STACK;
		context->uc_link = NULL;
		makecontext(context, (void (*)(void))weave_context, 1, i);
	}
	STORM_TRUE(getcontext(&weaver->home) == 0);
	if (!is_back) {
		is_back = 1;
		setcontext(&weaver->contexts[0]);
	}
	/* Nothing is where they were. */
	STORM_TRUE(mmap(weaver->memory, CONTEXT_MOST * CONTEXT_STACK, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			0) == weaver->memory);
}

static void *weaver_main(void *user)
{
	struct weaver *weaver = user;

	weaving = weaver;
	for (uint64_t i = 0; i < weaver->rounds; i++) {
		weaver_round(weaver);
		weaver->hash = storm_mix(weaver->hash, storm_work(20000));
	}
	return NULL;
}

static void weaver_start(struct weaver *weaver)
{
	const size_t contexts = CONTEXT_MOST * CONTEXT_STACK;
	pthread_attr_t attributes;

	weaver->memory =
	    mmap(NULL, contexts + CONTEXT_OWN, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	STORM_TRUE(weaver->memory != MAP_FAILED);
	if (!weaver->given) {
		weaver->thread = storm_thread(weaver_main, weaver, 0);
		return;
	}
	STORM_TRUE(pthread_attr_init(&attributes) == 0);
	STORM_TRUE(pthread_attr_setstack(&attributes, weaver->memory + contexts,
					 CONTEXT_OWN) == 0);
	STORM_TRUE(pthread_create(&weaver->thread, &attributes, weaver_main,
				  weaver) == 0);
	pthread_attr_destroy(&attributes);
}

void storm_contexts(uint64_t size)
{
	static struct weaver weavers[4];

	for (int i = 0; i < 4; i++) {
		weavers[i].rounds = size;
		weavers[i].given = i % 2;
		weaver_start(&weavers[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(weavers[i].thread, NULL);
		munmap(weavers[i].memory,
		       CONTEXT_MOST * CONTEXT_STACK + CONTEXT_OWN);
		printf("rounds %llu, checksum %016llx\n",
		       (unsigned long long)weavers[i].rounds,
		       (unsigned long long)weavers[i].hash);
	}
}

/* --- sessions that begin and end ------------------------------------------ */

static _Atomic int starts_over;

static void *load_main(void *user)
{
	uint64_t number = 0;

	(void)user;
	while (!starts_over) {
		pthread_t brief = storm_thread(brief_main, &number, 0);

		storm_work(100000);
		pthread_join(brief, NULL);
	}
	return NULL;
}

static unsigned count_files(const char *folder)
{
	DIR *directory = opendir(folder);
	unsigned count = 0;

	STORM_TRUE(directory != NULL);
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static unsigned count_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned count = 0;
	int byte;

	STORM_TRUE(maps != NULL);
	while ((byte = getc(maps)) != EOF)
		count += byte == '\n';
	fclose(maps);
	return count;
}

/* Under load; nothing is left behind. The one of main() makes way. */
void storm_starts(uint64_t size)
{
	unsigned files = 0;
	unsigned maps = 0;
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		threads[i] = storm_thread(load_main, NULL, 0);
	storm_work(10000000);
	storm_session_end();
	for (uint64_t i = 0; storm_has_session() && i < size; i++) {
		storm_session_turn(i % 8 == 0);
		if (i == size / 4) {
			files = count_files("/proc/self/fd");
			maps = count_maps();
		}
	}
	storm_work(10000000);
	if (storm_has_session()) {
		STORM_TRUE(count_files("/proc/self/fd") <= files);
		STORM_TRUE(count_maps() <= maps + 64);
	}
	storm_session_begin();
	storm_work(20000000);
	starts_over = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("threads %u\n", count_files("/proc/self/task") - 2 -
				   (unsigned)storm_has_session());
}
