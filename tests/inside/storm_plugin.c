/*
 * storm_plugin.c - an object to be loaded and unloaded: it computes, and calls
 * back. Built several times, as files with build ids of their own.
 */
#include <stdint.h>

uint64_t storm_plugin(uint64_t (*work)(uint64_t), uint64_t rounds);

static volatile uint64_t plugin_sink = PLUGIN;

static __attribute__((noinline)) uint64_t
deeper(uint64_t (*work)(uint64_t), uint64_t rounds, unsigned depth)
{
	uint64_t own = depth;

	for (unsigned i = 0; i < 20000; i++)
		plugin_sink = i + own;
	if (depth > 0)
		return deeper(work, rounds, depth - 1) + own;
	return work(rounds);
}

uint64_t storm_plugin(uint64_t (*work)(uint64_t), uint64_t rounds)
{
	return deeper(work, rounds, 8) + PLUGIN;
}
