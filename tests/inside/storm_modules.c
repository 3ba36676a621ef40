/*
 * storm_modules.c - storms of code that comes and goes: libraries that are
 * loaded and unloaded while they are on stacks, and exceptions, whose unwinder
 * takes the loader's locks.
 */
#include "storm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* What a plugin has: it calls back some frames deep. */
typedef uint64_t plugin_fn(uint64_t (*work)(uint64_t), uint64_t rounds);
/* What one that throws has: so many exceptions, and their checksum. */
typedef uint64_t throws_fn(uint64_t count);

struct loader {
	pthread_t thread;
	uint64_t size;
	uint64_t hash;
	int own;
	char paths[2][4096];
};

static void *function_of(void *library, const char *name)
{
	void *found = dlsym(library, name);

	STORM_TRUE(found != NULL);
	return found;
}

static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		storm_die(dlerror());
	return library;
}

static void paths_of(struct loader *loader, const char *a, const char *b)
{
	snprintf(loader->paths[0], sizeof(loader->paths[0]), "%s",
		 storm_beside(a));
	snprintf(loader->paths[1], sizeof(loader->paths[1]), "%s",
		 storm_beside(b));
}

/* --- loaded, in stacks, unloaded ------------------------------------------ */

static void *reloads_main(void *user)
{
	struct loader *loader = user;

	for (uint64_t i = 0; i < loader->size; i++) {
		void *library = load(loader->paths[(i + 1) % 2]);
		void *found = function_of(library, "storm_plugin");
		plugin_fn *plugin;

		memcpy(&plugin, &found, sizeof(plugin));
		loader->hash =
		    storm_mix(loader->hash, plugin(storm_work, 100000));
		STORM_TRUE(dlclose(library) == 0);
	}
	return NULL;
}

void storm_reloads(uint64_t size)
{
	static struct loader loaders[2];

	for (int i = 0; i < 2; i++) {
		loaders[i].size = size;
		paths_of(&loaders[i],
			 i ? "storm_plugin_c.so" : "storm_plugin_a.so",
			 i ? "storm_plugin_d.so" : "storm_plugin_b.so");
		loaders[i].thread = storm_thread(reloads_main, &loaders[i], 0);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(loaders[i].thread, NULL);
		printf("loaded %llu times, checksum %016llx\n",
		       (unsigned long long)loaders[i].size,
		       (unsigned long long)loaders[i].hash);
	}
}

/* --- exceptions ----------------------------------------------------------- */

/* Some throw all the time; some load what throws, and unload it. */
static void *throws_main(void *user)
{
	struct loader *loader = user;
	uint64_t turns = loader->own < 2 ? 1 : loader->size / 10;

	for (uint64_t i = 0; i < turns; i++) {
		void *library = load(loader->paths[i % 2]);
		void *found = function_of(library, "storm_throw");
		throws_fn *throws;

		memcpy(&throws, &found, sizeof(throws));
		loader->hash =
		    storm_mix(loader->hash,
			      throws(loader->own < 2 ? loader->size * 10 : 10));
		STORM_TRUE(dlclose(library) == 0);
	}
	return NULL;
}

void storm_throws(uint64_t size)
{
	static struct loader loaders[4];

	for (int i = 0; i < 4; i++) {
		loaders[i].own = i;
		loaders[i].size = size;
		paths_of(&loaders[i],
			 i < 2 ? "storm_throw_a.so" : "storm_throw_b.so",
			 "storm_throw_c.so");
		loaders[i].thread = storm_thread(throws_main, &loaders[i], 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(loaders[i].thread, NULL);
		printf("checksum %016llx\n",
		       (unsigned long long)loaders[i].hash);
	}
}
