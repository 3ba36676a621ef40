/*
 * keeper.c - blocks of malloc in known numbers, for an allocator that is told
 * to be exact.
 *
 * Usage: keeper. `small N` and `large N` allocate N more blocks of 1 to 6,000
 * and of 200,000 to 400,000 bytes; `drop P` frees P per cent of what is held,
 * block by block at random; `keep K` frees all but every K-th;
 * `churn MS` replaces blocks for so long;
 * `release` has gperftools give back what it can. The blocks'
 * addresses lie in memory of its own mapping, so that the allocator is asked
 * for the blocks and for nothing else. The truth is the count and the bytes
 * that were asked for, small and large apart; what the allocator's own records
 * say of these blocks, one by one (keeper_musl.c); and what gperftools' own
 * interface says, where it is the allocator.
 */
#include "keeper.h"
#include "workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEPER_MOST  (1u << 21)
#define KEEPER_LARGE 200000u

struct keeper_block {
	unsigned char *address;
	size_t size;
};

static struct keeper_block *keeper_blocks;
static size_t keeper_count;
static uint64_t keeper_state = 88172645463325252u;

static uint64_t keeper_random(uint64_t below)
{
	keeper_state ^= keeper_state << 13;
	keeper_state ^= keeper_state >> 7;
	keeper_state ^= keeper_state << 17;
	return keeper_state % below;
}

static void keeper_take(uint64_t count, size_t least, size_t span)
{
	for (uint64_t i = 0; i < count; i++) {
		struct keeper_block *block = &keeper_blocks[keeper_count];

		if (keeper_count == KEEPER_MOST)
			_exit(2);
		/* Small ones are more frequent, as they are in programs. */
		block->size = least + (size_t)keeper_random(
					  1 + keeper_random((uint64_t)span));
		block->address = malloc(block->size);
		if (block->address == NULL)
			workload_fail("malloc");
		memset(block->address, 0x5a, block->size);
		keeper_count++;
	}
}

static void keeper_drop(uint64_t per_cent)
{
	size_t kept = 0;

	for (size_t i = 0; i < keeper_count; i++) {
		if (keeper_random(100) < per_cent)
			free(keeper_blocks[i].address);
		else
			keeper_blocks[kept++] = keeper_blocks[i];
	}
	keeper_count = kept;
}

/* Frees a block and takes another in its place, over and over: what is held
 * is as many as before, or one less. */
static void keeper_churn(uint64_t ms)
{
	uint64_t end = workload_monotonic_ns() + ms * 1000000u;

	if (keeper_count == 0)
		return;
	while (workload_monotonic_ns() < end) {
		for (int i = 0; i < 64; i++) {
			struct keeper_block *block =
			    &keeper_blocks[keeper_random(keeper_count)];

			free(block->address);
			block->size = 1 + (size_t)keeper_random(6000);
			block->address = malloc(block->size);
			if (block->address == NULL)
				workload_fail("malloc");
			block->address[0] = 1;
		}
	}
}

static void keeper_keep(uint64_t every)
{
	size_t kept = 0;

	for (size_t i = 0; i < keeper_count; i++) {
		if (every == 0 || i % every != 0)
			free(keeper_blocks[i].address);
		else
			keeper_blocks[kept++] = keeper_blocks[i];
	}
	keeper_count = kept;
}

/* The interface of gperftools, where that is preloaded. */
extern int MallocExtension_GetNumericProperty(const char *property,
					      size_t *value)
    __attribute__((__weak__));
extern void MallocExtension_ReleaseFreeMemory(void) __attribute__((__weak__));

static void keeper_property(const char *key, const char *property)
{
	size_t value;

	if (MallocExtension_GetNumericProperty != NULL &&
	    MallocExtension_GetNumericProperty(property, &value))
		workload_number(key, value);
}

static void keeper_gperftools(void)
{
	keeper_property("tc_allocated", "generic.current_allocated_bytes");
	keeper_property("tc_heap", "generic.heap_size");
	keeper_property("tc_free", "tcmalloc.pageheap_free_bytes");
	keeper_property("tc_unmapped", "tcmalloc.pageheap_unmapped_bytes");
	keeper_property("tc_committed", "tcmalloc.pageheap_committed_bytes");
	keeper_property("tc_threads",
			"tcmalloc.current_total_thread_cache_bytes");
	keeper_property("tc_central", "tcmalloc.central_cache_free_bytes");
	keeper_property("tc_transfer", "tcmalloc.transfer_cache_free_bytes");
}

static void keeper_truth(void)
{
	uint64_t counts[2] = {0, 0};
	uint64_t bytes[2] = {0, 0};
	uint64_t slots[2] = {0, 0};

	for (size_t i = 0; i < keeper_count; i++) {
		const struct keeper_block *block = &keeper_blocks[i];
		int large = block->size >= KEEPER_LARGE;

		counts[large]++;
		bytes[large] += block->size;
		slots[large] += keeper_slot(block->address);
	}
	workload_number("small_count", counts[0]);
	workload_number("small_bytes", bytes[0]);
	workload_number("large_count", counts[1]);
	workload_number("large_bytes", bytes[1]);
	workload_number("small_slots", slots[0]);
	workload_number("large_slots", slots[1]);
	workload_number("first",
			keeper_count == 0
			    ? 0
			    : (uint64_t)(uintptr_t)keeper_blocks[0].address);
	keeper_gperftools();
}

int main(void)
{
	uint64_t number;
	char line[64];

	workload_begin(120);
	keeper_blocks = mmap(
	    NULL, KEEPER_MOST * sizeof(*keeper_blocks), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (keeper_blocks == MAP_FAILED)
		workload_fail("mmap");
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "small", &number)) {
			keeper_take(number, 1, 6000);
		} else if (workload_is(line, "large", &number)) {
			keeper_take(number, KEEPER_LARGE, 200000);
		} else if (workload_is(line, "drop", &number)) {
			keeper_drop(number);
		} else if (workload_is(line, "keep", &number)) {
			keeper_keep(number);
		} else if (workload_is(line, "churn", &number)) {
			keeper_churn(number);
		} else if (workload_is(line, "release", &number)) {
			if (MallocExtension_ReleaseFreeMemory != NULL)
				MallocExtension_ReleaseFreeMemory();
		} else if (!workload_is(line, "truth", &number)) {
			workload_otherwise(line);
			continue;
		}
		keeper_truth();
		workload_done();
	}
}
