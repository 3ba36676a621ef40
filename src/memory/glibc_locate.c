/*
 * glibc_locate.c - picks glibc's malloc out of a process: a module, a layout
 * and a place on which everything that could be asked agrees.
 *
 * The module's version chooses the row of the table; where there is no version
 * all rows of the machine are judged. A row is taken if the scan of the
 * module's data finds the two records in its shape, and once. What the symbol,
 * the ring of the threads' heaps and the break say must then lead to the same
 * place: where two ways could be asked at least two must agree. Whatever is
 * left open is a reason, never a guess.
 */
#include "memory/glibc_locate.h"

#include "core/fail.h"
#include "core/memory.h"

#include <string.h>

/* A find that the symbol names, or that is the only one. */
static int locate_pick(const uint64_t *items, size_t count, uint64_t symbol,
		       uint64_t *found)
{
	for (size_t i = 0; i < count; i++)
		if (items[i] == symbol) {
			*found = symbol;
			return PLIMP_GLIBC_FOUND;
		}
	if (symbol && count)
		return PLIMP_GLIBC_DISAGREE;
	if (count != 1)
		return count ? PLIMP_GLIBC_SEVERAL : PLIMP_GLIBC_NO_ARENA;
	*found = items[0];
	return PLIMP_GLIBC_FOUND;
}

/* Several places of mp_: the one whose first break leads to main_arena's top.
 */
static int locate_pick_mp(struct plimp_window *window,
			  const struct plimp_glibc_finds *finds,
			  const struct plimp_glibc_module *module,
			  struct plimp_glibc_fit *fit)
{
	const struct plimp_glibc_layout *layout = fit->layout;
	size_t agreed = 0;
	int reason = locate_pick(finds->parameters, finds->parameter_count,
				 module->mp, &fit->mp);

	if (reason == PLIMP_GLIBC_NO_ARENA)
		fit->reason = PLIMP_GLIBC_NO_PARAMETERS;
	else
		fit->reason = reason;
	if (reason != PLIMP_GLIBC_SEVERAL ||
	    finds->parameter_count == PLIMP_GLIBC_FINDS)
		return PLIMP_REACHED;
	for (size_t i = 0; i < finds->parameter_count; i++) {
		uint64_t base, mp = finds->parameters[i];
		int answer = 0;
		int reach =
		    plimp_window_u64(window, mp + layout->mp_sbrk_base, &base);

		if (!reach)
			reach = plimp_glibc_by_break(window, layout, fit->arena,
						     base, &answer);
		if (reach < 0)
			return reach;
		if (!reach && answer == 1) {
			fit->mp = mp;
			agreed++;
		}
	}
	if (agreed == 1)
		fit->reason = PLIMP_GLIBC_FOUND;
	return PLIMP_REACHED;
}

static int locate_parameters(struct plimp_window *window,
			     struct plimp_glibc_fit *fit)
{
	uint8_t bytes[256];
	int reach =
	    plimp_window_read(window, fit->mp, bytes, fit->layout->mp_size);

	if (reach == PLIMP_UNREACHED)
		fit->reason = PLIMP_GLIBC_UNREADABLE;
	else if (reach == PLIMP_REACHED &&
		 !plimp_glibc_judge_mp(fit->layout,
				       window->image->reader.page_bytes, bytes,
				       &fit->parameters))
		fit->reason = PLIMP_GLIBC_NO_PARAMETERS;
	return reach < 0 ? reach : PLIM_OK;
}

/* Judges one row by the module's data. */
static int locate_try_row(struct plimp_window *window,
			  const struct plimp_glibc_module *module,
			  struct plimp_glibc_fit *fit)
{
	struct plimp_glibc_finds finds;
	int failed =
	    plimp_glibc_scan(window->image, module, fit->layout, &finds);

	if (failed)
		return failed;
	fit->is_raw = !finds.state_count && finds.raw_count;
	fit->is_partial = finds.is_partial;
	fit->reason =
	    locate_pick(fit->is_raw ? finds.raw : finds.states,
			fit->is_raw ? finds.raw_count : finds.state_count,
			module->arena, &fit->arena);
	if (fit->reason == PLIMP_GLIBC_NO_ARENA && finds.is_partial)
		fit->reason = PLIMP_GLIBC_UNREADABLE;
	if (fit->reason)
		return PLIM_OK;
	failed = locate_pick_mp(window, &finds, module, fit);
	if (failed || fit->reason)
		return failed;
	return locate_parameters(window, fit);
}

/* 1 if the module's version does not rule the row out. */
static int locate_may_be(const struct plimp_glibc_module *module, int machine,
			 const struct plimp_glibc_layout *row, unsigned newest)
{
	unsigned minor = module->minor > newest ? newest : module->minor;

	if (row->machine != machine)
		return 0;
	if (!module->minor)
		return row->last_minor >= module->least ||
		       row->last_minor == newest;
	return (minor >= row->first_minor && minor <= row->last_minor) ||
	       (module->is_between && minor + 1 == row->first_minor);
}

static unsigned locate_newest(int machine)
{
	size_t count;
	const struct plimp_glibc_layout *rows = plimp_glibc_layouts(&count);
	unsigned newest = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].machine == machine && rows[i].last_minor > newest)
			newest = rows[i].last_minor;
	return newest;
}

/* The first failure that says most: what was found and contradicts itself
 * before what was not found. */
static int locate_worse(int reason, int other)
{
	static const uint8_t weight[] = {
	    [PLIMP_GLIBC_NO_ARENA] = 1,	     [PLIMP_GLIBC_UNREADABLE] = 2,
	    [PLIMP_GLIBC_NO_PARAMETERS] = 3, [PLIMP_GLIBC_SEVERAL] = 4,
	    [PLIMP_GLIBC_DISAGREE] = 5,
	};

	return weight[other] > weight[reason] ? other : reason;
}

/* Judges all rows that may be: `fit` is the one that holds, or says why there
 * is none. */
static int locate_row(struct plimp_window *window,
		      const struct plimp_glibc_module *module,
		      struct plimp_glibc_fit *fit)
{
	const int machine = window->image->machine;
	const unsigned newest = locate_newest(machine);
	size_t count, held = 0;
	const struct plimp_glibc_layout *rows = plimp_glibc_layouts(&count);
	struct plimp_glibc_fit fits[16];
	int reason = PLIMP_GLIBC_NO_ARENA;

	*fit = (struct plimp_glibc_fit){.reason = PLIMP_GLIBC_MACHINE};
	if (!newest)
		return PLIM_OK;
	fit->reason = PLIMP_GLIBC_OLD;
	if (module->minor && module->minor < 26)
		return PLIM_OK;
	for (size_t i = 0; i < count && held < 16; i++) {
		struct plimp_glibc_fit one = {.layout = &rows[i]};

		if (!locate_may_be(module, machine, &rows[i], newest))
			continue;
		int failed = locate_try_row(window, module, &one);
		if (failed)
			return failed;
		if (one.reason)
			reason = locate_worse(reason, one.reason);
		else
			fits[held++] = one;
	}
	fit->reason = reason;
	if (!held)
		return PLIM_OK;
	return plimp_glibc_tell(window, fits, held, fit);
}

/* One arena of the ring into the place; `*next` is the one behind it. */
static int locate_arena(struct plimp_window *window,
			struct plimp_glibc_place *place, uint64_t *next)
{
	const struct plimp_glibc_layout *layout = place->layout;
	struct plimp_glibc_state state;
	int holds = 0, failed;
	int reach = plimp_glibc_state_at(window, layout, *next, &state, &holds);

	if (reach < 0)
		return reach;
	place->reason =
	    reach ? PLIMP_GLIBC_UNREADABLE : PLIMP_GLIBC_RING_BROKEN;
	if (reach || !holds || place->arena_count == PLIMP_GLIBC_ARENAS_MOST ||
	    (*next != place->main_arena &&
	     *next % place->heap_bytes != layout->heap_info_size))
		return PLIM_OK;
	failed =
	    plimp_reserve(window->image->allocator, (void **)&place->arenas,
			  &place->arena_capacity, place->arena_count + 1, 16,
			  sizeof(*place->arenas));
	if (failed)
		return failed;
	place->arenas[place->arena_count++] = *next;
	place->system_bytes += state.system_mem;
	place->reason = PLIMP_GLIBC_FOUND;
	*next = state.next;
	return PLIM_OK;
}

/* All of them, main_arena first. A new one is complete before it is put into
 * the ring, so that a broken ring is one, not a race. */
static int locate_arenas(struct plimp_window *window,
			 struct plimp_glibc_place *place)
{
	uint64_t next = place->main_arena;

	place->system_bytes = place->mmapped_bytes;
	do {
		int failed = locate_arena(window, place, &next);

		if (failed || place->reason)
			return failed;
	} while (next != place->main_arena);
	return PLIM_OK;
}

static unsigned locate_count(unsigned bits)
{
	unsigned count = 0;

	for (; bits; bits &= bits - 1)
		count++;
	return count;
}

/* Asks the ways that are not the scan. */
static int locate_ways(struct plimp_window *window,
		       const struct plimp_glibc_module *module,
		       const struct plimp_glibc_fit *fit,
		       struct plimp_glibc_place *place)
{
	uint64_t found;
	int applied, answer;
	int failed =
	    plimp_glibc_by_ring(window, module, fit->layout,
				fit->parameters.hp_pagesize, &found, &applied);

	if (failed < 0)
		return failed;
	place->ways = place->applied = PLIMP_GLIBC_BY_SCAN;
	if (module->arena) {
		place->applied |= PLIMP_GLIBC_BY_SYMBOL;
		place->ways |= PLIMP_GLIBC_BY_SYMBOL;
	}
	if (applied)
		place->applied |= PLIMP_GLIBC_BY_RING;
	if (found == fit->arena)
		place->ways |= PLIMP_GLIBC_BY_RING;
	failed = plimp_glibc_by_break(window, fit->layout, fit->arena,
				      fit->parameters.sbrk_base, &answer);
	if (failed < 0)
		return failed;
	if (answer >= 0)
		place->applied |= PLIMP_GLIBC_BY_BREAK;
	if (answer > 0)
		place->ways |= PLIMP_GLIBC_BY_BREAK;
	if ((found && found != fit->arena) ||
	    (locate_count(place->applied) > 1 && locate_count(place->ways) < 2))
		place->reason = PLIMP_GLIBC_DISAGREE;
	return PLIM_OK;
}

static void locate_fill(const struct plimp_glibc_fit *fit,
			struct plimp_glibc_place *place)
{
	const struct plimp_glibc_parameters *from = &fit->parameters;

	place->layout = fit->layout;
	place->main_arena = fit->arena;
	place->mp = fit->mp;
	place->sbrk_base = from->sbrk_base;
	place->heap_bytes =
	    plimp_glibc_heap_bytes(fit->layout, from->hp_pagesize);
	place->hp_pagesize = from->hp_pagesize;
	place->thp_pagesize = from->thp_pagesize;
	place->trim_threshold = from->trim_threshold;
	place->top_pad = from->top_pad;
	place->mmap_threshold = from->mmap_threshold;
	place->mmapped_bytes = from->mmapped_mem;
	place->mmapped_count = from->n_mmaps;
	place->tcache_bins = from->tcache_bins;
	place->tcache_max_bytes = from->tcache_max_bytes;
	place->tcache_count = from->tcache_count;
}

static void locate_about(const struct plimp_image *image,
			 const struct plimp_glibc_module *module,
			 struct plimp_glibc_place *place)
{
	const struct plimp_mapping *items = image->space->items;

	memcpy(place->version, module->version, sizeof(place->version));
	place->version_from = module->minor ? module->version_from : "layout";
	place->libc_start = items[module->first].start;
	place->libc_end = items[module->end - 1].end;
	place->is_static = module->is_static;
	place->is_beyond = module->minor > locate_newest(image->machine);
}

/* Half a ring is no ring. */
static void locate_drop(const plim_allocator *allocator,
			struct plimp_glibc_place *place)
{
	plimp_release(allocator, place->arenas, place->arena_capacity,
		      sizeof(*place->arenas));
	place->arenas = NULL;
	place->arena_count = place->arena_capacity = 0;
	place->system_bytes = 0;
}

/* Everything about one module. */
static int locate_module(struct plimp_window *window,
			 const struct plimp_glibc_module *module,
			 struct plimp_glibc_place *place)
{
	struct plimp_glibc_fit fit;
	int failed = locate_row(window, module, &fit);

	if (failed)
		return failed;
	memset(place, 0, sizeof(*place));
	locate_about(window->image, module, place);
	place->reason = fit.reason;
	if (fit.reason)
		return PLIM_OK;
	locate_fill(&fit, place);
	plimp_window_forget(window);
	failed = locate_ways(window, module, &fit, place);
	if (failed || place->reason)
		return failed;
	plimp_window_forget(window);
	failed = locate_arenas(window, place);
	if (failed || place->reason)
		locate_drop(window->image->allocator, place);
	return failed;
}

/*
 * Which of two modules' places counts. A second copy of libc (dlmopen, an
 * auditor's) that nobody used is no rival; two that were used are, and so is
 * one of which nothing is known.
 */
static void locate_join(const plim_allocator *allocator,
			struct plimp_glibc_place *place,
			struct plimp_glibc_place *other)
{
	int keeps = place->reason == PLIMP_GLIBC_FOUND;
	int comes = other->reason == PLIMP_GLIBC_FOUND;
	struct plimp_glibc_place gone;

	if (place->reason == PLIMP_GLIBC_ABSENT ||
	    (comes && keeps && !place->system_bytes)) {
		gone = *place;
		*place = *other;
	} else {
		if (other->reason != PLIMP_GLIBC_ABSENT &&
		    (!comes || (keeps && other->system_bytes))) {
			place->reason = PLIMP_GLIBC_SEVERAL;
			locate_drop(allocator, place);
		}
		gone = *other;
	}
	plimp_glibc_place_release(allocator, &gone);
}

/* A shared libc has its name; where none is mapped, the program itself, which
 * lies lowest, may be a static one. */
static int locate_all(struct plimp_window *window,
		      struct plimp_glibc_place *place)
{
	const struct plimp_image *image = window->image;
	struct plimp_glibc_module module, first;
	int failed = PLIM_OK, seen = 0, named = 0;

	memset(place, 0, sizeof(*place));
	place->reason = PLIMP_GLIBC_ABSENT;
	for (size_t i = 0; plimp_glibc_module_next(image, i, &module);
	     i = module.end) {
		struct plimp_glibc_place other;

		if (!seen++)
			first = module;
		if (!module.is_named)
			continue;
		failed = plimp_glibc_module_read(image, &module);
		if (failed)
			return failed;
		if (module.is_read && !module.is_glibc)
			continue;
		named = 1;
		failed = locate_module(window, &module, &other);
		if (failed)
			return failed;
		locate_join(image->allocator, place, &other);
	}
	if (named || !seen)
		return PLIM_OK;
	failed = plimp_glibc_module_read(image, &first);
	if (failed || !first.is_static || (first.is_read && !first.is_glibc))
		return failed;
	failed = locate_module(window, &first, place);
	if (!failed && !first.is_glibc && place->reason)
		place->reason = PLIMP_GLIBC_ABSENT;
	return failed;
}

int plimp_glibc_locate(const struct plimp_image *image,
		       struct plimp_glibc_place *place, plim_error *error)
{
	struct plimp_window window = {0};
	struct plimp_glibc_place found;
	int failed = plimp_window_open(&window, image);

	if (failed)
		return plimp_fail(error, failed, 0, "glibc", NULL, NULL);
	failed = locate_all(&window, &found);
	plimp_window_close(&window);
	if (failed) {
		plimp_glibc_place_release(image->allocator, &found);
		if (failed != PLIM_EDENIED)
			return plimp_fail(error, failed, 0, "glibc", NULL,
					  NULL);
		found.reason = PLIMP_GLIBC_DENIED;
	}
	*place = found;
	return PLIM_OK;
}

void plimp_glibc_place_release(const plim_allocator *allocator,
			       struct plimp_glibc_place *place)
{
	if (place->arenas)
		plimp_release(allocator, place->arenas, place->arena_capacity,
			      sizeof(*place->arenas));
	memset(place, 0, sizeof(*place));
}
