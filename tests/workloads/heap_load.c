/*
 * heap_load.c - threads that allocate and free in known patterns (heap.h).
 *
 * Each thread has a table of its blocks in a mapping of its own. All threads
 * go through a step together: the main thread says which, and goes on when
 * the last is done. A thread's steps depend on the seed alone, so that a
 * trial can be had again; only who shares an arena with whom is left to
 * chance when there are more threads than arenas.
 */
#include "heap.h"
#include "workload.h"

#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum load_step {
	LOAD_NONE = 0,
	LOAD_BEGIN = 1,
	LOAD_ALLOCATE = 2,
	LOAD_FREE = 3,
	LOAD_CHURN = 4,
	LOAD_GIVE = 5,
	LOAD_END = 6
};

struct load_worker {
	void **blocks;
	size_t count; /* of the table that is used */
	size_t capacity;
	uint64_t random;
	_Atomic uint64_t operations;
	pthread_t thread;
	char apart[64]; /* counters of two threads don't share a line */
};

static struct heap_plan load_plan;
static struct load_worker load_workers[HEAP_THREADS_MOST + 1];
static size_t load_worker_count;
static size_t load_thread_count;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t load_change = PTHREAD_COND_INITIALIZER;
static uint64_t load_turn;
static enum load_step load_next;
static size_t load_busy;
static atomic_int load_halt;
static uint64_t load_permille;
static uint64_t load_began_ns;
static uint64_t load_churned_ns;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators", 2016. */
static uint64_t load_draw(struct load_worker *worker, uint64_t below)
{
	uint64_t x = worker->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	worker->random = x;
	return ((x * 2685821657736338717u) >> 16) % below;
}

static size_t load_size(struct load_worker *worker)
{
	uint64_t span = load_plan.most - load_plan.least + 1;

	return (size_t)(load_plan.least + load_draw(worker, span));
}

static void *load_take(struct load_worker *worker, size_t size)
{
	void *block;

	if (strcmp(load_plan.pattern, "aligned") == 0) {
		size_t align = (size_t)16 << load_draw(worker, 9);

		block = memalign(align, size);
	} else {
		block = malloc(size);
	}
	if (block == NULL)
		workload_fail("malloc");
	if (load_plan.touch == 1 ||
	    (load_plan.touch == 2 && load_draw(worker, 2) == 0))
		memset(block, 0x5a, size);
	return block;
}

static void load_keep(struct load_worker *worker, void *block)
{
	if (worker->count == worker->capacity)
		workload_fail("table");
	worker->blocks[worker->count++] = block;
}

static void load_drop(struct load_worker *worker, size_t index)
{
	free(worker->blocks[index]);
	worker->blocks[index] = NULL;
}

/* --- the patterns ----------------------------------------------------------
 */

static int load_is(const char *pattern)
{
	return strcmp(load_plan.pattern, pattern) == 0;
}

static void load_allocate(struct load_worker *worker)
{
	uint64_t taken = 0;

	/* A large block, freed at once, raises the thresholds of mmap and of
	 * trimming: from then on nothing goes back by itself. */
	if (load_is("raised")) {
		load_keep(worker, load_take(worker, (size_t)30 << 20));
		load_drop(worker, worker->count - 1);
	}
	while (taken < load_plan.bytes) {
		size_t size = load_size(worker);

		/* A survivor and what fills the rest of its page. */
		if (load_is("page"))
			size = worker->count % 2 == 0 ? 64 : 4096 - 80 - 8;
		load_keep(worker, load_take(worker, size));
		taken += size;
	}
}

static void load_swap(struct load_worker *worker)
{
	size_t index = (size_t)load_draw(worker, worker->count);

	free(worker->blocks[index]);
	worker->blocks[index] = load_take(worker, load_size(worker));
}

static void load_free_some(struct load_worker *worker, uint64_t keep)
{
	for (size_t i = 0; i < worker->count; i++)
		if (worker->blocks[i] != NULL &&
		    load_draw(worker, 1000) >= keep)
			load_drop(worker, i);
}

static void load_free(struct load_worker *worker)
{
	size_t count = worker->count;
	size_t kept = count * (size_t)load_plan.keep / 1000;

	if (load_is("last")) {
		for (size_t i = 0; i + 1 < count; i++)
			load_drop(worker, i);
	} else if (load_is("page")) {
		for (size_t i = 1; i < count; i += 2)
			load_drop(worker, i);
	} else if (load_is("all") || load_is("raised")) {
		for (size_t i = 0; i < count; i++)
			load_drop(worker, i);
	} else if (load_is("lifo")) {
		for (size_t i = count; i > kept; i--)
			load_drop(worker, i - 1);
	} else if (load_is("fifo")) {
		for (size_t i = 0; i < count - kept; i++)
			load_drop(worker, i);
	} else if (load_is("churned")) {
		for (size_t i = 0; i < count; i++)
			load_swap(worker);
		load_free_some(worker, load_plan.keep);
	} else if (load_is("random") || load_is("aligned")) {
		load_free_some(worker, load_plan.keep);
	} else if (!load_is("none")) {
		workload_fail("pattern");
	}
}

static void load_churn(struct load_worker *worker)
{
	while (atomic_load_explicit(&load_halt, memory_order_relaxed) == 0) {
		load_swap(worker);
		atomic_fetch_add_explicit(&worker->operations, 1,
					  memory_order_relaxed);
	}
}

/* The first block of a thread gives it its arena, and freed once its cache,
 * which some versions make at the first free; it stays in use. Nothing is
 * left in the cache then. */
static void load_begin(struct load_worker *worker)
{
	void *volatile block = malloc(24);

	free(block);
	block = malloc(24);
	if (block == NULL)
		workload_fail("malloc");
	worker->random =
	    (load_plan.seed + 1) * 0x9e3779b97f4a7c15u +
	    (uint64_t)(worker - load_workers) * 0xbf58476d1ce4e5b9u;
	if (worker->random == 0)
		worker->random = 1;
}

static struct load_worker *load_neighbour(struct load_worker *worker)
{
	size_t index = (size_t)(worker - load_workers);

	return &load_workers[(index + 1) % load_worker_count];
}

static void load_perform(struct load_worker *worker, enum load_step step)
{
	if (step == LOAD_BEGIN)
		load_begin(worker);
	else if (step == LOAD_ALLOCATE)
		load_allocate(worker);
	else if (step == LOAD_FREE)
		load_free(load_plan.across ? load_neighbour(worker) : worker);
	else if (step == LOAD_CHURN)
		load_churn(worker);
	else if (step == LOAD_GIVE)
		load_free_some(worker, 1000 - load_permille);
}

/* --- steps that all take together ------------------------------------------
 */

static void *load_thread(void *user)
{
	struct load_worker *worker = user;
	uint64_t turn = 0;
	enum load_step step;

	do {
		pthread_mutex_lock(&load_lock);
		while (load_turn == turn)
			pthread_cond_wait(&load_change, &load_lock);
		turn = load_turn;
		step = load_next;
		pthread_mutex_unlock(&load_lock);
		load_perform(worker, step);
		pthread_mutex_lock(&load_lock);
		load_busy--;
		pthread_cond_broadcast(&load_change);
		pthread_mutex_unlock(&load_lock);
	} while (step != LOAD_END);
	return NULL;
}

static void load_go(enum load_step step)
{
	pthread_mutex_lock(&load_lock);
	load_next = step;
	load_busy = load_thread_count;
	load_turn++;
	pthread_cond_broadcast(&load_change);
	pthread_mutex_unlock(&load_lock);
}

static void load_await(void)
{
	pthread_mutex_lock(&load_lock);
	while (load_busy > 0)
		pthread_cond_wait(&load_change, &load_lock);
	pthread_mutex_unlock(&load_lock);
}

static void load_step_all(enum load_step step)
{
	load_go(step);
	if (load_worker_count > load_thread_count)
		load_perform(&load_workers[load_thread_count], step);
	load_await();
}

static void load_make(struct load_worker *worker)
{
	size_t least = load_is("page") ? 1024 : (size_t)load_plan.least + 1;

	worker->capacity = (size_t)load_plan.bytes / least * 2 + 1024;
	worker->blocks = mmap(
	    NULL, worker->capacity * sizeof(void *), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (worker->blocks == MAP_FAILED)
		workload_fail("mmap");
}

void heap_start(const struct heap_plan *plan, uint64_t *own)
{
	load_plan = *plan;
	load_thread_count = (size_t)plan->threads;
	load_worker_count = load_thread_count + (plan->join != 0);
	for (size_t i = 0; i < load_worker_count; i++)
		load_make(&load_workers[i]);
	for (size_t i = 0; i < load_thread_count; i++)
		if (pthread_create(&load_workers[i].thread, NULL, load_thread,
				   &load_workers[i]) != 0)
			workload_fail("pthread_create");
	/* The main thread has its cache in any case: it asks for truth. */
	if (plan->join == 0)
		load_begin(&load_workers[load_thread_count]);
	load_step_all(LOAD_BEGIN);
	*own = mallinfo2().uordblks;
}

void heap_load(void)
{
	load_step_all(LOAD_ALLOCATE);
	load_step_all(LOAD_FREE);
}

void heap_churn(void)
{
	atomic_store(&load_halt, 0);
	for (size_t i = 0; i < load_worker_count; i++)
		atomic_store(&load_workers[i].operations, 0);
	load_began_ns = workload_monotonic_ns();
	load_go(LOAD_CHURN);
}

void heap_stop(void)
{
	atomic_store(&load_halt, 1);
	load_await();
	load_churned_ns = workload_monotonic_ns() - load_began_ns;
}

uint64_t heap_operations(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < load_worker_count; i++)
		sum += atomic_load(&load_workers[i].operations);
	return sum;
}

uint64_t heap_churned_ns(void)
{
	return load_churned_ns;
}

void heap_give(uint64_t permille)
{
	load_permille = permille < 1000 ? permille : 1000;
	load_step_all(LOAD_GIVE);
}

void heap_end(void)
{
	load_step_all(LOAD_END);
	for (size_t i = 0; i < load_thread_count; i++)
		pthread_join(load_workers[i].thread, NULL);
	load_thread_count = 0;
	load_worker_count = 0;
}

/* The word before a block is the size of its chunk in every version; its bit
 * 1 says that the chunk is a mapping of its own. */
void heap_count(struct heap_held *held)
{
	memset(held, 0, sizeof(*held));
	for (size_t i = 0; i <= HEAP_THREADS_MOST; i++) {
		const struct load_worker *worker = &load_workers[i];

		for (size_t j = 0; j < worker->count; j++) {
			size_t size;

			if (worker->blocks[j] == NULL)
				continue;
			memcpy(&size, (char *)worker->blocks[j] - 8, 8);
			if ((size & 2) != 0) {
				held->mapped_bytes += size & ~(size_t)7;
				held->mapped_count++;
			} else {
				held->bytes += size & ~(size_t)7;
				held->count++;
			}
		}
	}
}
