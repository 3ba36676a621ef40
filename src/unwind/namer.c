/*
 * namer.c - names for the frames of one process: symbols, lines and inlined
 * functions of its modules, and its map of jitted code.
 *
 * A module's tables are read when the first of its addresses is asked for, so
 * that nothing is paid for modules that nobody runs in. Each address is named
 * once. The physical function is what the symbols say, by the alias rule, so
 * that lines change no name; where they have none it is what DWARF says. A
 * module without a file or memory of its own is taken for jitted code. What
 * has no name stays without one. Every text is kept once, in a pool.
 *
 * Processes that have mapped the same file share what is known of it: its debug
 * file, its lines and the names of its addresses belong to the object, so that
 * a tree of a thousand processes asks for each address of libc once.
 */
#include "unwind/symbols.h"

#include "core/fail.h"
#include "core/memory.h"
#include "unwind/lines.h"
#include "unwind/modules.h"
#include "unwind/names.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
	/* Reading processes that are kept: lines.h has one for each file. */
	NAMER_AWAKE = 8,
	NAMER_DEPTH = 64 /* frames of one address */
};

struct named_address {
	uint64_t address;
	uint32_t count; /* 0: this place is free */
	const struct plimp_frame_name *names;
};

/* Answers by address: open addressing, a power of 2. */
struct named_cache {
	struct named_address *items;
	size_t size;
	size_t used;
};

/* What names of one object have in common, whichever process asks: as long as
 * one of the namers that use it is open. Addresses are the file's. */
struct plimp_named {
	size_t users;
	struct plimp_object *object;
	int is_read;
	int symbols_failed;
	struct plimp_debug_file *debug;
	struct plimp_debug_file *alternate;
	struct plimp_lines *lines;
	int has_lines;
	int has_inlines;
	struct named_cache cache;
	struct plimp_names names;
};

/* A module as a namer knows it. */
struct named_module {
	int is_known;
	int failed; /* why it has no object */
	struct plimp_named *named;
};

struct plimp_namer {
	plim_host *host;
	struct plimp_lens *lens;
	struct plimp_modules *modules;
	uint32_t flags;
	struct named_module *items;
	size_t capacity;
	struct plimp_named *awake[NAMER_AWAKE]; /* asked last first */
	struct named_cache cache;		/* of jitted code */
	struct plimp_names names;
	struct plimp_symbols *jit; /* of the map as it was read last */
	int jit_is_read;
};

int plimp_namer_open(struct plimp_namer **namer, plim_host *host,
		     struct plimp_lens *lens, struct plimp_modules *modules,
		     uint32_t flags, plim_error *error)
{
	struct plimp_namer *made =
	    plimp_allocate(&host->allocator, 1, sizeof(*made));

	if (!made)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open namer", NULL,
				  NULL);
	made->host = host;
	made->lens = lens;
	made->modules = modules;
	made->flags = flags;
	made->names.pool.allocator = host->allocator;
	*namer = made;
	return PLIM_OK;
}

static void named_drop(plim_host *host, struct plimp_debug_file *debug)
{
	if (!debug)
		return;
	plimp_debug_file_close(host, debug);
	plimp_release(&host->allocator, debug, 1, sizeof(*debug));
}

static void cache_release(const plim_allocator *allocator,
			  struct named_cache *cache)
{
	plimp_release(allocator, cache->items, cache->size,
		      sizeof(*cache->items));
	memset(cache, 0, sizeof(*cache));
}

static void named_let_go(plim_host *host, struct plimp_named *named)
{
	if (!named || --named->users)
		return;
	named->object->named = NULL;
	plimp_lines_close(named->lines);
	named_drop(host, named->debug);
	named_drop(host, named->alternate);
	cache_release(&host->allocator, &named->cache);
	plimp_names_release(&named->names);
	plimp_release(&host->allocator, named, 1, sizeof(*named));
}

void plimp_namer_close(struct plimp_namer *namer)
{
	plim_host *host;

	if (!namer)
		return;
	host = namer->host;
	for (size_t i = 0; i < namer->capacity; i++)
		named_let_go(host, namer->items[i].named);
	plimp_release(&host->allocator, namer->items, namer->capacity,
		      sizeof(*namer->items));
	cache_release(&host->allocator, &namer->cache);
	plimp_symbols_free(namer->jit, &host->allocator);
	plimp_names_release(&namer->names);
	plimp_release(&host->allocator, namer, 1, sizeof(*namer));
}

/* --- answers -------------------------------------------------------------- */

static size_t cache_place(const struct named_address *items, size_t size,
			  uint64_t address)
{
	uint64_t hash = address * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash >> 20) & (size - 1);

	while (items[at].count && items[at].address != address)
		at = (at + 1) & (size - 1);
	return at;
}

/* NULL: it was not named yet. */
static const struct named_address *cache_get(const struct named_cache *cache,
					     uint64_t address)
{
	size_t at;

	if (!cache->size)
		return NULL;
	at = cache_place(cache->items, cache->size, address);
	return cache->items[at].count ? &cache->items[at] : NULL;
}

static int cache_grow(const plim_allocator *allocator,
		      struct named_cache *cache)
{
	size_t size = cache->size ? cache->size * 2 : 64;
	struct named_address *items =
	    plimp_allocate(allocator, size, sizeof(*items));

	if (!items)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < cache->size; i++)
		if (cache->items[i].count)
			items[cache_place(items, size,
					  cache->items[i].address)] =
			    cache->items[i];
	plimp_release(allocator, cache->items, cache->size,
		      sizeof(*cache->items));
	cache->items = items;
	cache->size = size;
	return PLIM_OK;
}

static int cache_put(const plim_allocator *allocator, struct named_cache *cache,
		     const struct named_address *made)
{
	if (2 * (cache->used + 1) > cache->size && cache_grow(allocator, cache))
		return PLIM_ENOMEM;
	cache->items[cache_place(cache->items, cache->size, made->address)] =
	    *made;
	cache->used++;
	return PLIM_OK;
}

/* --- modules -------------------------------------------------------------- */

static void object_symbols_free(plim_host *host, struct plimp_symbols *symbols)
{
	plimp_symbols_free(symbols, &host->allocator);
}

/* Debug files that are missing are no failure; no memory is. */
static int read_debug(struct plimp_namer *namer, struct plimp_named *named,
		      const struct plimp_module *module)
{
	struct plimp_debug_file *debug =
	    plimp_allocate(&namer->host->allocator, 1, sizeof(*debug));
	int failed;

	if (!debug)
		return PLIM_ENOMEM;
	failed =
	    plimp_debug_file_find(debug, namer->host, namer->lens,
				  &module->object->elf, module->path, NULL);
	if (failed)
		plimp_release(&namer->host->allocator, debug, 1,
			      sizeof(*debug));
	else
		named->debug = debug;
	return failed == PLIM_ENOMEM ? failed : PLIM_OK;
}

/* The file that dwz moved common parts to, proven by its build id. */
static int read_alternate(struct plimp_namer *namer, struct plimp_named *named,
			  const struct plimp_elf *elf, const char *from)
{
	struct plimp_debug_file *other;
	uint8_t id[PLIMP_ELF_ID], found[PLIMP_ELF_ID];
	size_t id_size = 0, found_size = 0;
	char link[2048], path[4096];
	const char *slash = strrchr(from, '/');
	int is_its = named->debug && named->debug->is_below_target;
	int failed;

	if (plimp_lines_alternate(elf, link, sizeof(link), id, &id_size))
		return PLIM_OK;
	other = plimp_allocate(&namer->host->allocator, 1, sizeof(*other));
	if (!other)
		return PLIM_ENOMEM;
	if (link[0] == '/')
		snprintf(path, sizeof(path), "%s", link);
	else
		snprintf(path, sizeof(path), "%.*s/%s",
			 slash && slash - from < 2000 ? (int)(slash - from) : 0,
			 from, link);
	failed =
	    is_its && namer->lens
		? plimp_system_lens_path(namer->lens, path, 0, &other->file,
					 NULL)
		: plimp_system_file_open(namer->host, path, &other->file, NULL);
	if (!failed &&
	    !plimp_elf_open(&other->elf, &other->file.reader, 0,
			    other->file.size) &&
	    !plimp_elf_build_id(&other->elf, found, &found_size) &&
	    found_size == id_size && !memcmp(found, id, id_size))
		named->alternate = other;
	else
		named_drop(namer->host, other);
	return failed == PLIM_ENOMEM ? failed : PLIM_OK;
}

/* Lines are of the debug file, else of the module's own file. */
static int read_lines(struct plimp_namer *namer, struct plimp_named *named,
		      const struct plimp_module *module)
{
	const struct plimp_file *file = &module->object->file;

	int failed = PLIM_OK;

	if (!(namer->flags & PLIMP_NAMER_LINES))
		return PLIM_OK;
	if (named->debug) {
		file = &named->debug->file;
		if (!named->alternate)
			failed =
			    read_alternate(namer, named, &named->debug->elf,
					   named->debug->path);
	}
	if (failed || !file->system)
		return failed;
	failed = plimp_lines_open(
	    &named->lines, namer->host, file,
	    named->alternate ? &named->alternate->file : NULL, NULL);
	if (failed)
		named->lines = NULL;
	return failed == PLIM_ENOMEM ? failed : PLIM_OK;
}

static int read_object(struct plimp_namer *namer, struct plimp_named *named,
		       const struct plimp_module *module)
{
	struct plimp_object *object = named->object;
	int failed = PLIM_OK;

	if (!named->debug)
		failed = read_debug(namer, named, module);
	if (!failed && !object->symbols) {
		failed = plimp_symbols_build(&object->symbols, &object->elf,
					     named->debug ? &named->debug->elf
							  : NULL,
					     &namer->host->allocator, NULL);
		if (!failed)
			object->symbols_free = object_symbols_free;
	}
	named->symbols_failed = failed;
	if (failed == PLIM_ENOMEM)
		return failed;
	failed = read_lines(namer, named, module);
	named->is_read = !failed;
	return failed;
}

/* What the object is known by: another namer's, or a new one. */
static int named_take(struct plimp_namer *namer, struct plimp_object *object,
		      struct plimp_named **named)
{
	struct plimp_named *made = object->named;

	if (!made) {
		made =
		    plimp_allocate(&namer->host->allocator, 1, sizeof(*made));
		if (!made)
			return PLIM_ENOMEM;
		made->object = object;
		made->names.pool.allocator = namer->host->allocator;
		object->named = made;
	}
	made->users++;
	*named = made;
	return PLIM_OK;
}

static int items_reach(struct plimp_namer *namer, uint32_t index)
{
	size_t before = namer->capacity;
	int failed;

	if (index < before)
		return PLIM_OK;
	failed = plimp_reserve(&namer->host->allocator, (void **)&namer->items,
			       &namer->capacity, (size_t)index + 1, 64,
			       sizeof(*namer->items));
	if (!failed)
		memset(namer->items + before, 0,
		       (namer->capacity - before) * sizeof(*namer->items));
	return failed;
}

/* The module, its object read; NULL and PLIM_OK for places that are in none. */
static int named_module_of(struct plimp_namer *namer, uint32_t index,
			   struct named_module **item)
{
	const struct plimp_module *module;
	struct named_module *at;
	int failed;

	*item = NULL;
	if (index == PLIMP_NO_MODULE)
		return PLIM_OK;
	module = plimp_modules_item(namer->modules, index);
	if (!module)
		return PLIM_EINVAL;
	failed = items_reach(namer, index);
	if (failed)
		return failed;
	at = &namer->items[index];
	if (!at->is_known) {
		if (module->object)
			failed = named_take(namer, module->object, &at->named);
		else
			at->failed = module->why ? module->why : PLIM_ENAME;
		if (failed)
			return failed;
		at->is_known = 1;
	}
	if (at->named && !at->named->is_read) {
		failed = read_object(namer, at->named, module);
		if (failed)
			return failed;
	}
	*item = at;
	return PLIM_OK;
}

int plimp_namer_module(struct plimp_namer *namer, uint32_t module,
		       struct plimp_namer_module *told, plim_error *error)
{
	struct named_module *item;
	const struct plimp_named *named;
	int failed = named_module_of(namer, module, &item);

	if (failed)
		return plimp_fail(error, failed, 0, "name module", NULL, NULL);
	memset(told, 0, sizeof(*told));
	told->debug_path = (plim_bytes){"", 0};
	told->symbols_failed = item ? item->failed : PLIM_ENAME;
	if (!item || !item->named)
		return PLIM_OK;
	named = item->named;
	told->symbols_failed = named->symbols_failed;
	if (named->object->symbols) {
		told->facts = plimp_symbols_facts(named->object->symbols);
		told->has_symbols =
		    told->facts.source == PLIMP_SYMBOL_SYMTAB ||
		    told->facts.source == PLIMP_SYMBOL_DEBUG_FILE;
	}
	if (named->debug)
		told->debug_path = (plim_bytes){named->debug->path,
						strlen(named->debug->path)};
	told->has_lines = named->has_lines;
	told->has_inlines = named->has_inlines;
	return PLIM_OK;
}

/* --- jitted code ---------------------------------------------------------- */

static int read_map(struct plimp_namer *namer, struct plimp_symbols **symbols)
{
	const plim_allocator *allocator = &namer->host->allocator;
	struct plimp_file file;
	struct plimp_elf bytes;
	char path[48];
	char *text;
	int32_t pid = plimp_system_lens_inner_pid(namer->lens);
	int failed;

	if (pid <= 0)
		return PLIM_ENAME;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	memset(&file, 0, sizeof(file));
	failed = plimp_system_lens_path(namer->lens, path,
					PLIMP_PATH_OWN | PLIMP_PATH_WRITTEN,
					&file, NULL);
	if (failed)
		return failed;
	bytes = (struct plimp_elf){.reader = &file.reader, .size = file.size};
	failed = file.size > PLIMP_PERF_MAP_BYTES ? PLIM_ELIMIT
		 : !file.size			  ? PLIM_ENAME
						  : PLIM_OK;
	text = failed ? NULL : plimp_allocate(allocator, file.size, 1);
	if (!failed && !text)
		failed = PLIM_ENOMEM;
	if (!failed)
		failed = plimp_elf_bytes(&bytes, 0, text, (size_t)file.size);
	if (!failed)
		failed = plimp_symbols_perf_map(
		    symbols, (plim_bytes){text, (size_t)file.size}, allocator,
		    NULL);
	plimp_release(allocator, text, text ? (size_t)file.size : 0, 1);
	plimp_system_file_close(namer->host, &file);
	return failed;
}

int plimp_namer_refresh(struct plimp_namer *namer, plim_error *error)
{
	struct plimp_symbols *symbols = NULL;
	int failed;

	namer->jit_is_read = 1;
	if (!namer->lens)
		return PLIM_OK;
	failed = read_map(namer, &symbols);
	if (failed == PLIM_ENOMEM)
		return plimp_fail(error, failed, 0, "read perf map", NULL,
				  NULL);
	if (failed)
		return PLIM_OK;
	plimp_symbols_free(namer->jit, &namer->host->allocator);
	namer->jit = symbols;
	/* The names stay in the pool; what is asked now is asked anew. */
	cache_release(&namer->host->allocator, &namer->cache);
	return PLIM_OK;
}

/* --- one address ---------------------------------------------------------- */

/* The one that is asked now is the first of those that are awake; where there
 * are too many the one that was asked longest ago is put to rest. */
static void wake_lines(struct plimp_namer *namer, struct plimp_named *named)
{
	struct plimp_named *moved = named;

	for (size_t i = 0; i < NAMER_AWAKE; i++) {
		struct plimp_named *here = namer->awake[i];

		namer->awake[i] = moved;
		if (!here || here == named)
			return;
		moved = here;
	}
	plimp_lines_rest(moved->lines);
}

static int name_line(struct plimp_names *names, const struct plimp_line *line,
		     struct plimp_frame_name *name)
{
	int failed = plimp_names_symbol(
	    names, line->linkage.size ? line->linkage : line->function,
	    &name->linkage, &name->function);

	if (!failed)
		failed = plimp_names_keep(names, line->file, &name->file);
	name->line = line->line;
	name->start = line->start;
	name->is_inlined = line->is_inlined;
	name->source =
	    name->function.size ? PLIMP_SYMBOL_LINES : PLIMP_SYMBOL_NONE;
	return failed;
}

/* The physical function's name by symbols; unchanged where they have none. */
static int name_symbol(struct plimp_names *names,
		       const struct plimp_symbols *symbols, uint64_t address,
		       struct plimp_frame_name *name)
{
	struct plimp_symbol symbol;
	int failed;

	if (plimp_symbols_find(symbols, address, &symbol))
		return PLIM_OK;
	failed = plimp_names_symbol(names, symbol.name, &name->linkage,
				    &name->function);
	name->start = symbol.start;
	name->source = symbol.source;
	return failed;
}

/* Where a function without a name begins, so that its frames can be told to be
 * of one. */
static void name_start(const struct plimp_object *object, uint64_t file_address,
		       struct plimp_frame_name *name)
{
	uint64_t start;

	if (!name->function.size && object && object->rules &&
	    plimp_rules_function(object->rules, file_address, &start))
		name->start = start;
}

/* The names of an address by symbols and by what lines tell of it, `count`
 * frames or none; texts and frames in `names`. `object` is what it is of, NULL
 * for jitted code. */
static int name_frames(struct plimp_names *names,
		       const struct plimp_symbols *symbols,
		       const struct plimp_object *object,
		       const struct plimp_line *lines, size_t count,
		       struct named_address *made)
{
	struct plimp_frame_name frames[NAMER_DEPTH];
	struct plimp_frame_name *kept;
	size_t total = count ? count : 1;
	int failed = PLIM_OK;

	assert(count <= NAMER_DEPTH);
	memset(frames, 0, total * sizeof(*frames));
	frames[0].function = (plim_bytes){"", 0};
	frames[0].linkage = frames[0].function;
	frames[0].file = frames[0].function;
	for (size_t i = 0; !failed && i < count; i++)
		failed = name_line(names, &lines[i], &frames[i]);
	if (!failed)
		failed = name_symbol(names, symbols, made->address,
				     &frames[total - 1]);
	if (failed)
		return failed;
	name_start(object, made->address, &frames[total - 1]);
	kept = plimp_pool_take(&names->pool, total * sizeof(*kept));
	if (!kept)
		return PLIM_ENOMEM;
	memcpy(kept, frames, total * sizeof(*kept));
	made->count = (uint32_t)total;
	made->names = kept;
	return PLIM_OK;
}

static void note_lines(struct plimp_named *named, size_t count)
{
	named->has_lines = 1;
	named->has_inlines |= count > 1;
}

/* An address of an object that has tables. */
static int name_in_object(struct plimp_namer *namer, struct plimp_named *named,
			  struct named_address *made)
{
	struct plimp_line lines[NAMER_DEPTH];
	size_t found = 0;

	if (named->lines) {
		int failed;

		wake_lines(namer, named);
		failed = plimp_lines_find(named->lines, made->address, lines,
					  NAMER_DEPTH, &found, NULL);
		if (failed == PLIM_ENOMEM)
			return failed;
		if (!failed)
			note_lines(named, found);
	}
	return name_frames(&named->names, named->object->symbols, named->object,
			   lines, found, made);
}

/* 1 if the names of the module's addresses are those of its object; else they
 * are of jitted code. */
static int names_by_object(const struct named_module *item)
{
	return item && item->named &&
	       (item->named->object->symbols || item->named->lines ||
		item->named->object->rules);
}

int plimp_namer_find(struct plimp_namer *namer, uint32_t module,
		     uint64_t address, uint64_t time_ns,
		     const struct plimp_frame_name **names, size_t *count,
		     plim_error *error)
{
	const plim_allocator *allocator = &namer->host->allocator;
	struct named_address made = {.address = address};
	const struct named_address *known;
	struct named_cache *cache = &namer->cache;
	struct named_module *item;
	int failed = named_module_of(namer, module, &item);
	int by_object = !failed && names_by_object(item);

	/* The map of jitted code has no times: the last line is believed. */
	(void)time_ns;
	if (by_object) {
		made.address -=
		    plimp_modules_item(namer->modules, module)->bias;
		cache = &item->named->cache;
	} else if (!failed && !namer->jit_is_read) {
		/* Which empties the cache. */
		failed = plimp_namer_refresh(namer, NULL);
	}
	known = failed ? NULL : cache_get(cache, made.address);
	if (!failed && !known) {
		failed = by_object ? name_in_object(namer, item->named, &made)
				   : name_frames(&namer->names, namer->jit,
						 NULL, NULL, 0, &made);
		if (!failed)
			failed = cache_put(allocator, cache, &made);
		known = &made;
	}
	if (failed)
		return plimp_fail(error, failed, 0, "name address", NULL, NULL);
	*names = known->names;
	*count = known->count;
	return PLIM_OK;
}

/* --- many addresses ------------------------------------------------------- */

struct naming_run {
	const plim_allocator *allocator;
	struct plimp_named *named;
	const uint64_t *addresses;
};

static int run_told(void *user, size_t index, int result,
		    const struct plimp_line *lines, size_t count)
{
	struct naming_run *run = user;
	struct plimp_named *named = run->named;
	struct named_address made = {.address = run->addresses[index]};
	int failed;

	if (!result)
		note_lines(named, count);
	if (cache_get(&named->cache, made.address))
		return PLIM_OK; /* it was asked twice */
	failed = name_frames(&named->names, named->object->symbols,
			     named->object, lines, result ? 0 : count, &made);
	return failed ? failed
		      : cache_put(run->allocator, &named->cache, &made);
}

int plimp_namer_prepare(struct plimp_namer *namer, uint32_t module,
			const uint64_t *file_addresses, size_t count,
			plim_error *error)
{
	struct plimp_line lines[NAMER_DEPTH];
	struct naming_run run = {.allocator = &namer->host->allocator};
	struct named_module *item;
	uint64_t *wanted;
	size_t missing = 0;
	int failed = named_module_of(namer, module, &item);

	if (failed)
		return plimp_fail(error, failed, 0, "name module", NULL, NULL);
	/* What symbols alone tell is as fast one by one. */
	if (!item || !item->named || !item->named->lines || !count)
		return PLIM_OK;
	run.named = item->named;
	wanted = plimp_allocate(run.allocator, count, sizeof(*wanted));
	if (!wanted)
		return plimp_fail(error, PLIM_ENOMEM, 0, "name module", NULL,
				  NULL);
	run.addresses = wanted;
	for (size_t i = 0; i < count; i++)
		if (!cache_get(&run.named->cache, file_addresses[i]))
			wanted[missing++] = file_addresses[i];
	failed = plimp_lines_each(run.named->lines, wanted, missing, lines,
				  NAMER_DEPTH, run_told, &run);
	plimp_lines_rest(run.named->lines);
	plimp_release(run.allocator, wanted, count, sizeof(*wanted));
	if (failed)
		return plimp_fail(error, failed, 0, "name module", NULL, NULL);
	return PLIM_OK;
}
