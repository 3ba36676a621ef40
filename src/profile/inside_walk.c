/*
 * inside_walk.c - the walk that a signal handler takes over its own thread's
 * stack, and what the session thread publishes for it.
 *
 * The map of code is one pointer, read once per walk. Caches of addresses are a
 * pool: a walk takes a free one by an exchange and goes without where there is
 * none, so that nobody waits for anybody. Maps that were replaced live until
 * no walk is running.
 */
#include "profile/session.h"

#include "core/memory.h"

/* As many walks at a time have a cache, of 64 KiB each. */
#define INSIDE_CACHES 4u

struct plimp_inside_walk {
	_Atomic(const struct plimp_code_map *) map;
	struct {
		_Atomic int is_taken;
		struct plimp_pc_cache *cache;
	} caches[INSIDE_CACHES];
};

static void inside_caches_release(plim_profile *profile,
				  struct plimp_inside_walk *walk)
{
	for (size_t i = 0; i < INSIDE_CACHES; i++)
		plimp_release(&profile->host->allocator, walk->caches[i].cache,
			      plimp_pc_cache_size(), 1);
}

int plimp_inside_walk_open(plim_profile *profile)
{
	const plim_allocator *allocator = &profile->host->allocator;
	struct plimp_inside_walk *walk =
	    plimp_allocate(allocator, 1, sizeof(*walk));

	if (walk == NULL)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < INSIDE_CACHES; i++) {
		walk->caches[i].cache =
		    plimp_allocate(allocator, plimp_pc_cache_size(), 1);
		if (walk->caches[i].cache == NULL) {
			inside_caches_release(profile, walk);
			plimp_release(allocator, walk, 1, sizeof(*walk));
			return PLIM_ENOMEM;
		}
	}
	profile->walk = walk;
	return PLIM_OK;
}

void plimp_inside_walk_close(plim_profile *profile)
{
	if (profile->walk == NULL)
		return;
	inside_caches_release(profile, profile->walk);
	plimp_release(&profile->host->allocator, profile->walk, 1,
		      sizeof(*profile->walk));
	profile->walk = NULL;
}

void plimp_inside_walk_publish(plim_profile *profile)
{
	struct plimp_modules *modules = profile->images[0].modules;
	const struct plimp_code_map *map;

	if (profile->walk == NULL || modules == NULL)
		return;
	map = plimp_modules_map(modules);
	if (atomic_load(&profile->walk->map) == map)
		return;
	atomic_store(&profile->walk->map, map);
	if (profile->sampler == NULL ||
	    plimp_system_sampler_is_quiet(profile->sampler))
		plimp_modules_forget_maps(modules);
}

/* Async-signal-safe. */
void plimp_inside_walk(void *user, const struct plimp_registers *registers,
		       const struct plimp_stack_bytes *stack, uint64_t *frames,
		       size_t capacity, struct plimp_walked *walked)
{
	struct plimp_inside_walk *walk = user;
	const struct plimp_code_map *map = atomic_load(&walk->map);
	struct plimp_unwound unwound;
	size_t i = 0;

	while (i < INSIDE_CACHES &&
	       atomic_exchange(&walk->caches[i].is_taken, 1))
		i++;
	plimp_unwind(map, i < INSIDE_CACHES ? walk->caches[i].cache : NULL,
		     registers, stack, frames, NULL, capacity, &unwound);
	if (i < INSIDE_CACHES)
		atomic_store(&walk->caches[i].is_taken, 0);
	walked->count = unwound.count;
	walked->end = unwound.end;
}
