/*
 * modules.c - the history: modules, the ranges that they hold and held, and the
 * maps that are published of them.
 *
 * A change is made ready beside the history and settled at once, so that a
 * failure leaves everything as it was. Ranges that are there are sorted by
 * address, those that ended by when they ended: most questions are about now,
 * and the others about a moment ago, so that a search begins behind all that
 * ended before it.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "unwind/module_parts.h"

#include <assert.h>
#include <string.h>

struct plimp_module_map {
	struct plimp_code_map map;
	struct plimp_code_range *ranges;
	struct plimp_module_map *older;
};

static int modules_no_memory(plim_error *error)
{
	return plimp_fail(error, PLIM_ENOMEM, 0, "read modules", NULL, NULL);
}

static int modules_same_path(plim_bytes a, plim_bytes b)
{
	return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static void modules_free(plim_host *host, struct plimp_module *module)
{
	union {
		const char *told;
		char *own;
	} path = {module->path.data};

	plimp_release(&host->allocator, path.own, module->path.size, 1);
	plimp_release(&host->allocator, module, 1, sizeof *module);
}

static void modules_drop(struct plimp_modules *modules, size_t count)
{
	while (modules->count > count)
		modules_free(modules->host, modules->items[--modules->count]);
}

static void modules_free_map(plim_host *host, struct plimp_module_map *map)
{
	plimp_release(&host->allocator, map->ranges, map->map.count,
		      sizeof *map->ranges);
	plimp_release(&host->allocator, map, 1, sizeof *map);
}

/* Nobody can count the maps of all histories without a number of the whole
 * process, so a generation is mixed of when and where: never 0, and the same as
 * another's once in 2^64. */
static uint64_t modules_generation(const struct plimp_module_map *map)
{
	uint64_t mix = plimp_system_monotonic() +
		       (uint64_t)(uintptr_t)map * UINT64_C(0x9e3779b97f4a7c15);

	mix = (mix ^ (mix >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mix = (mix ^ (mix >> 27)) * UINT64_C(0x94d049bb133111eb);
	mix ^= mix >> 31;
	return mix != 0 ? mix : 1;
}

static uint32_t modules_flags(const struct plimp_module *module)
{
	if (module->kind == PLIMP_MODULE_VDSO)
		return PLIMP_CODE_VDSO;
	if (module->kind == PLIMP_MODULE_ANONYMOUS ||
	    (module->object == NULL && module->why == PLIM_EMALFORMED))
		return PLIMP_CODE_NO_FILE;
	return 0;
}

static struct plimp_module_map *
modules_make_map(struct plimp_modules *modules,
		 const struct plimp_module_change *change)
{
	const plim_allocator *allocator = &modules->host->allocator;
	struct plimp_module_map *map =
	    plimp_allocate(allocator, 1, sizeof *map);
	size_t i;

	if (map == NULL)
		return NULL;
	if (change->now_count > 0) {
		map->ranges = plimp_allocate(allocator, change->now_count,
					     sizeof *map->ranges);
		if (map->ranges == NULL) {
			modules_free_map(modules->host, map);
			return NULL;
		}
	}
	for (i = 0; i < change->now_count; i++) {
		const struct plimp_module_range *range = &change->now[i];
		const struct plimp_module *module =
		    modules->items[range->module];

		assert(range->start < range->end);
		assert(i == 0 || range->start >= change->now[i - 1].end);
		map->ranges[i].start = range->start;
		map->ranges[i].end = range->end;
		map->ranges[i].bias = module->bias;
		map->ranges[i].rules =
		    module->object != NULL ? module->object->rules : NULL;
		map->ranges[i].module = range->module;
		map->ranges[i].flags = modules_flags(module);
	}
	map->map.ranges = map->ranges;
	map->map.count = change->now_count;
	map->map.machine = modules->machine;
	map->map.generation = modules_generation(map);
	return map;
}

static void modules_widen(struct plimp_module *module,
			  const struct plimp_module_range *range)
{
	if (module->first_ns == 0 || range->since_ns < module->since_ns)
		module->since_ns = range->since_ns;
	if (module->first_ns == 0 || range->first_ns < module->first_ns)
		module->first_ns = range->first_ns;
	module->last_ns = range->last_ns;
	module->until_ns = range->until_ns;
	if (range->end > module->end)
		module->end = range->end;
	if (range->start > module->start)
		return;
	module->start = range->start;
	if (module->kind != PLIMP_MODULE_ANONYMOUS)
		module->offset = range->offset;
}

/* The times and the span of each module: what ended first, since a module that
 * has a range left has not. */
static void modules_account(struct plimp_modules *modules, size_t from)
{
	size_t i;

	for (i = from; i < modules->old_count; i++)
		modules_widen(modules->items[modules->old[i].module],
			      &modules->old[i]);
	for (i = 0; i < modules->now_count; i++)
		modules_widen(modules->items[modules->now[i].module],
			      &modules->now[i]);
}

int plimp_module_change_add(struct plimp_modules *modules,
			    struct plimp_module_change *change, int ended,
			    const struct plimp_module_range *range,
			    plim_error *error)
{
	void *items = ended ? change->ended : change->now;
	size_t *capacity =
	    ended ? &change->ended_capacity : &change->now_capacity;
	size_t *count = ended ? &change->ended_count : &change->now_count;

	if (*count >= (ended ? PLIMP_MODULE_RANGES_OLD : PLIMP_MODULE_RANGES))
		return plimp_fail(error, PLIM_ELIMIT, 0, "read modules", NULL,
				  NULL);
	if (plimp_reserve(&modules->host->allocator, &items, capacity,
			  *count + 1, 64, sizeof *range) != PLIM_OK)
		return modules_no_memory(error);
	if (ended)
		change->ended = items;
	else
		change->now = items;
	((struct plimp_module_range *)items)[(*count)++] = *range;
	return PLIM_OK;
}

static void modules_change_release(struct plimp_modules *modules,
				   struct plimp_module_change *change)
{
	plimp_release(&modules->host->allocator, change->now,
		      change->now_capacity, sizeof *change->now);
	plimp_release(&modules->host->allocator, change->ended,
		      change->ended_capacity, sizeof *change->ended);
	memset(change, 0, sizeof *change);
}

void plimp_module_change_drop(struct plimp_modules *modules,
			      struct plimp_module_change *change)
{
	modules_drop(modules, change->made);
	modules_change_release(modules, change);
}

/* 1 if the ranges are those of the newest map. */
static int modules_is_unchanged(const struct plimp_modules *modules,
				const struct plimp_module_change *change)
{
	const struct plimp_code_map *map;
	size_t i;

	if (modules->map == NULL)
		return 0;
	map = &modules->map->map;
	if (map->count != change->now_count)
		return 0;
	for (i = 0; i < map->count; i++)
		if (map->ranges[i].start != change->now[i].start ||
		    map->ranges[i].end != change->now[i].end ||
		    map->ranges[i].module != change->now[i].module)
			return 0;
	return 1;
}

/* The machine of the first object there is, else of the host. */
static void modules_learn_machine(struct plimp_modules *modules)
{
	plim_text text;
	size_t i;

	for (i = 0; modules->machine == 0 && i < modules->count; i++)
		if (modules->items[i]->object != NULL)
			modules->machine =
			    modules->items[i]->object->elf.machine;
	if (modules->machine != 0)
		return;
	text = plim_host_text(modules->host, PLIM_HOST_MACHINE);
	if (text.state == PLIM_STATE_KNOWN)
		modules->machine =
		    modules_same_path(text.bytes, (plim_bytes){"aarch64", 7})
			? PLIMP_MACHINE_ARM
			: PLIMP_MACHINE_X86;
}

/* Behind those that ended before; a search relies on the order of time. */
static void modules_end(struct plimp_modules *modules,
			const struct plimp_module_change *change)
{
	size_t i;

	for (i = 0; i < change->ended_count; i++) {
		struct plimp_module_range *range =
		    &modules->old[modules->old_count];
		uint64_t least =
		    modules->old_count > 0 ? range[-1].until_ns : 0;

		*range = change->ended[i];
		if (range->until_ns < least)
			range->until_ns = least;
		modules->old_count++;
	}
}

int plimp_modules_settle(struct plimp_modules *modules,
			 struct plimp_module_change *change, plim_error *error)
{
	void *old = modules->old;
	struct plimp_module_map *map = NULL;
	size_t from = modules->old_count;
	int code = PLIM_OK;

	if (change->ended_count > PLIMP_MODULE_RANGES_OLD - from)
		code = plimp_fail(error, PLIM_ELIMIT, 0, "read modules", NULL,
				  NULL);
	else if (plimp_reserve(&modules->host->allocator, &old,
			       &modules->old_capacity,
			       from + change->ended_count + 1, 64,
			       sizeof *modules->old) != PLIM_OK)
		code = modules_no_memory(error);
	else
		modules->old = old;
	if (code == PLIM_OK && !modules_is_unchanged(modules, change)) {
		modules_learn_machine(modules);
		map = modules_make_map(modules, change);
		if (map == NULL)
			code = modules_no_memory(error);
	}
	if (code != PLIM_OK) {
		plimp_module_change_drop(modules, change);
		return code;
	}
	if (map != NULL) {
		map->older = modules->map;
		modules->map = map;
	}
	modules_end(modules, change);
	plimp_release(&modules->host->allocator, modules->now,
		      modules->now_capacity, sizeof *modules->now);
	modules->now = change->now;
	modules->now_count = change->now_count;
	modules->now_capacity = change->now_capacity;
	change->now = NULL;
	change->now_capacity = 0;
	modules_account(modules, from);
	modules_change_release(modules, change);
	return PLIM_OK;
}

/* 1 if one of the ranges is the module's. */
static int modules_is_there(const struct plimp_modules *modules,
			    const struct plimp_module_change *change,
			    uint32_t index)
{
	size_t i;

	for (i = 0; i < change->now_count; i++)
		if (change->now[i].module == index)
			return 1;
	for (i = 0; i < modules->now_count; i++)
		if (modules->now[i].module == index)
			return 1;
	return 0;
}

/* Another segment of a load that is there, -1 if it is none. */
static int64_t modules_find_load(const struct plimp_modules *modules,
				 const struct plimp_module_change *change,
				 const struct plimp_module_sight *sight)
{
	size_t i;

	if (sight->inode == 0)
		return -1;
	for (i = modules->count; i-- > 0;) {
		const struct plimp_module *module = modules->items[i];

		if (module->device == sight->device &&
		    module->inode == sight->inode &&
		    plimp_module_is_load(module, sight) &&
		    modules_is_there(modules, change, (uint32_t)i))
			return (int64_t)i;
	}
	return -1;
}

/* One that was there before and is the same again: what a program that loads
 * and unloads for ever does must not make modules without end. */
static int64_t modules_find_again(const struct plimp_modules *modules,
				  const struct plimp_module *new)
{
	size_t i;

	for (i = modules->count; i-- > 0;) {
		const struct plimp_module *module = modules->items[i];

		if (module->kind == new->kind && module->bias == new->bias &&
		    module->device == new->device &&
		    module->inode == new->inode &&
		    module->object == new->object &&
		    module->why ==
			new->why &&modules_same_path(module->path, new->path))
			return (int64_t)i;
	}
	return -1;
}

static int modules_add(struct plimp_modules *modules,
		       const struct plimp_module *new, plim_error *error)
{
	const plim_allocator *allocator = &modules->host->allocator;
	void *items = modules->items;
	struct plimp_module *made;
	char *path;

	if (modules->count >= PLIMP_CODE_MODULES)
		return plimp_fail(error, PLIM_ELIMIT, 0, "read modules", NULL,
				  NULL);
	if (plimp_reserve(allocator, &items, &modules->capacity,
			  modules->count + 1, 32,
			  sizeof *modules->items) != PLIM_OK)
		return modules_no_memory(error);
	modules->items = items;
	made = plimp_allocate(allocator, 1, sizeof *made);
	path = plimp_allocate(allocator, new->path.size, 1);
	if (made == NULL || (path == NULL && new->path.size > 0)) {
		plimp_release(allocator, made, made != NULL, sizeof *made);
		plimp_release(allocator, path, new->path.size, 1);
		return modules_no_memory(error);
	}
	*made = *new;
	if (new->path.size > 0)
		memcpy(path, new->path.data, new->path.size);
	made->path.data = path;
	modules->items[modules->count++] = made;
	return PLIM_OK;
}

int plimp_modules_assign(struct plimp_modules *modules,
			 const struct plimp_module_change *change,
			 const struct plimp_module_sight *sight,
			 uint32_t *index, plim_error *error)
{
	int64_t found = modules_find_load(modules, change, sight);
	struct plimp_module new;
	int code;

	if (found < 0) {
		code = plimp_module_identify(modules, sight, &new, error);
		if (code != PLIM_OK)
			return code;
		found = modules_find_again(modules, &new);
	}
	if (found < 0) {
		code = modules_add(modules, &new, error);
		if (code != PLIM_OK)
			return code;
		found = (int64_t)modules->count - 1;
	}
	*index = (uint32_t)found;
	return PLIM_OK;
}

int plimp_modules_open(struct plimp_modules **modules, plim_host *host,
		       struct plimp_lens *lens,
		       struct plimp_module_store *store, uint64_t now_ns,
		       plim_error *error)
{
	struct plimp_modules *made =
	    plimp_allocate(&host->allocator, 1, sizeof *made);
	int code;

	if (made == NULL)
		return modules_no_memory(error);
	made->host = host;
	made->lens = lens;
	made->store = store;
	plimp_system_lens_reader(lens, &made->reader);
	code = PLIM_OK;
	if (store == NULL) {
		code = plimp_module_store_open(&made->store, host, error);
		made->own_store = code == PLIM_OK;
	}
	if (code == PLIM_OK)
		code = plimp_modules_refresh(made, now_ns, error);
	if (code != PLIM_OK) {
		plimp_modules_close(made);
		return code;
	}
	*modules = made;
	return PLIM_OK;
}

int plimp_modules_told(struct plimp_modules **modules, plim_host *host,
		       struct plimp_module_store *store, plim_error *error)
{
	struct plimp_module_change none;
	struct plimp_modules *made =
	    plimp_allocate(&host->allocator, 1, sizeof *made);
	int code;

	assert(store != NULL);
	if (made == NULL)
		return modules_no_memory(error);
	made->host = host;
	made->store = store;
	made->is_told = 1;
	memset(&none, 0, sizeof none);
	code = plimp_modules_settle(made, &none, error);
	if (code != PLIM_OK) {
		plimp_modules_close(made);
		return code;
	}
	*modules = made;
	return PLIM_OK;
}

void plimp_modules_lend(struct plimp_modules *modules, struct plimp_lens *lens)
{
	modules->is_told = 1;
	modules->lens = lens;
}

int plimp_modules_are_told(const struct plimp_modules *modules)
{
	return modules->is_told;
}

void plimp_modules_forget_maps(struct plimp_modules *modules)
{
	struct plimp_module_map *map;

	while (modules->map != NULL && (map = modules->map->older) != NULL) {
		modules->map->older = map->older;
		modules_free_map(modules->host, map);
	}
}

void plimp_modules_close(struct plimp_modules *modules)
{
	const plim_allocator *allocator;

	if (modules == NULL)
		return;
	allocator = &modules->host->allocator;
	plimp_modules_forget_maps(modules);
	if (modules->map != NULL)
		modules_free_map(modules->host, modules->map);
	modules_drop(modules, 0);
	plimp_release(allocator, modules->items, modules->capacity,
		      sizeof *modules->items);
	plimp_release(allocator, modules->now, modules->now_capacity,
		      sizeof *modules->now);
	plimp_release(allocator, modules->old, modules->old_capacity,
		      sizeof *modules->old);
	plimp_space_release(modules->host, &modules->space);
	if (modules->own_store)
		plimp_module_store_close(modules->store);
	plimp_release(allocator, modules, 1, sizeof *modules);
}

const struct plimp_code_map *
plimp_modules_map(const struct plimp_modules *modules)
{
	return &modules->map->map;
}

size_t plimp_modules_count(const struct plimp_modules *modules)
{
	return modules->count;
}

const struct plimp_module *
plimp_modules_item(const struct plimp_modules *modules, size_t index)
{
	return index < modules->count ? modules->items[index] : NULL;
}

struct plimp_object *plimp_modules_object(const struct plimp_modules *modules,
					  uint32_t index)
{
	return index < modules->count ? modules->items[index]->object : NULL;
}

/* The range of now that holds the address, or NULL. */
static const struct plimp_module_range *
modules_range_now(const struct plimp_modules *modules, uint64_t address)
{
	size_t low = 0;
	size_t high = modules->now_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (modules->now[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == modules->now_count || modules->now[low].start > address)
		return NULL;
	return &modules->now[low];
}

/* The first of those that ended after that time. */
static size_t modules_ended_after(const struct plimp_modules *modules,
				  uint64_t time_ns)
{
	size_t low = 0;
	size_t high = modules->old_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (modules->old[middle].until_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Who may have held an address at a time. */
struct modules_claim {
	uint32_t module;
	int count;   /* of modules that may have */
	int is_sure; /* this one did */
};

static void modules_weigh(const struct plimp_module_range *range,
			  uint64_t address, uint64_t time_ns,
			  struct modules_claim *claim)
{
	if (address < range->start || address >= range->end ||
	    time_ns < range->since_ns || claim->is_sure)
		return;
	if ((range->since_ns == 0 || time_ns >= range->first_ns) &&
	    (range->until_ns == 0 || time_ns <= range->last_ns)) {
		claim->is_sure = 1;
	} else if (claim->count > 0 && claim->module == range->module) {
		return;
	}
	claim->module = range->module;
	claim->count++;
}

uint32_t plimp_modules_at(const struct plimp_modules *modules, uint64_t address,
			  uint64_t time_ns)
{
	const struct plimp_module_range *now =
	    modules_range_now(modules, address);
	struct modules_claim claim = {PLIMP_NO_MODULE, 0, 0};
	size_t i;

	if (time_ns == 0)
		return now != NULL ? now->module : PLIMP_NO_MODULE;
	if (now != NULL)
		modules_weigh(now, address, time_ns, &claim);
	for (i = modules_ended_after(modules, time_ns);
	     i < modules->old_count && !claim.is_sure; i++)
		modules_weigh(&modules->old[i], address, time_ns, &claim);
	return claim.is_sure || claim.count == 1 ? claim.module
						 : PLIMP_NO_MODULE;
}

/* A program of 64 bits has its stack near the end of its address space. */
int plimp_modules_is_narrow(const struct plimp_modules *modules)
{
	const struct plimp_space *space = &modules->space;
	size_t i;

	if (space->count == 0 ||
	    space->items[space->count - 1].end > UINT64_C(1) << 32)
		return 0;
	for (i = 0; i < modules->count; i++)
		if (modules->items[i]->object != NULL)
			return 0;
	return 1;
}
