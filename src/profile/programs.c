/*
 * programs.c - the programs of a session, and the code of each.
 *
 * A process that was forked runs its parent's code until it executes another
 * program, or until it shows other code. An exec makes a new image, whose code
 * is read as soon as it is told of; when that is too late, the kernel's own
 * records of its mappings stand for it. A map is read again when code appears
 * that is not in it, at most every PLIMP_REFRESH_SOONEST_NS.
 */
#include "profile/session.h"

#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct plimp_program *plimp_program_now(plim_profile *profile, int32_t pid)
{
	for (size_t i = profile->image_count; i-- > 0;) {
		if (profile->images[i].pid == pid &&
		    !profile->images[i].is_over)
			return profile->images + i;
	}
	return NULL;
}

struct plimp_program *plimp_program_code(plim_profile *profile,
					 struct plimp_program *image)
{
	for (int depth = 0; depth < 64; depth++) {
		if (image->modules != NULL || image->like == 0)
			break;
		assert(image->like <= profile->image_count);
		image = profile->images + (image->like - 1);
	}
	return image;
}

/* A module that lacks its file or its rules for want of memory is no module
 * without: there the whole fails. */
static int program_lacks_memory(const struct plimp_modules *modules)
{
	for (size_t i = 0; i < plimp_modules_count(modules); i++) {
		const struct plimp_module *module =
		    plimp_modules_item(modules, i);

		if (module->why == PLIM_ENOMEM ||
		    (module->object != NULL &&
		     module->object->why_no_rules == PLIM_ENOMEM))
			return 1;
	}
	return 0;
}

/* Its own code, where it has none yet. */
static int program_read(plim_profile *profile, struct plimp_program *image,
			uint64_t now_ns)
{
	int code =
	    plimp_modules_open(&image->modules, profile->host, image->lens,
			       profile->objects, now_ns, NULL);

	if (code != PLIM_OK)
		return code;
	if (plimp_modules_is_narrow(image->modules)) {
		plimp_modules_close(image->modules);
		image->modules = NULL;
		image->is_narrow = 1;
		return PLIM_EUNSUPPORTED;
	}
	return program_lacks_memory(image->modules) ? PLIM_ENOMEM : PLIM_OK;
}

/* Opens what is needed to look at it, and reads its code unless it has
 * another's; whatever fails, fails here alone. */
static int program_open(plim_profile *profile, struct plimp_program *image,
			uint64_t now_ns)
{
	int code = PLIM_OK;

	if (image->target == NULL) {
		code = plim_target_open(&image->target, profile->host,
					image->pid, NULL);
		image->owns_target = code == PLIM_OK;
	}
	if (code == PLIM_OK)
		code = plimp_system_lens_open(profile->host, image->target,
					      &image->lens, NULL);
	image->refreshed_ns = now_ns;
	return code == PLIM_OK && image->like == 0
		   ? program_read(profile, image, now_ns)
		   : code;
}

int plimp_program_ready(plim_profile *profile, struct plimp_program *image)
{
	const plim_allocator *allocator = &profile->host->allocator;

	if (image->cache == NULL)
		image->cache =
		    plimp_allocate(allocator, plimp_pc_cache_size(), 1);
	if (image->frames == NULL)
		image->frames = plimp_allocate(allocator, PLIMP_FRAME_CACHE,
					       sizeof(*image->frames));
	return image->cache != NULL && image->frames != NULL ? PLIM_OK
							     : PLIM_ENOMEM;
}

int plimp_program_refuse(const plim_profile *profile, plim_error *error)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)profile->target->identity.pid);
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "profile", pid,
			  PLIMP_MODULES_NARROW);
}

/* Where it is gone before its code could be read, what the kernel tells of its
 * mappings has to do. */
static int program_told(plim_profile *profile, struct plimp_program *image)
{
	int code;

	if (image->modules != NULL || image->is_narrow)
		return PLIM_OK;
	code = plimp_modules_told(&image->modules, profile->host,
				  profile->objects, NULL);
	if (code == PLIM_OK)
		plimp_store_process(&profile->store, image->process)
		    ->has_modules = 1;
	return code;
}

/* The nearest process that lives and can be looked into, of those that it
 * descends from: its root is most often this one's, too. NULL: none. */
static struct plimp_lens *program_lender(plim_profile *profile,
					 const struct plimp_program *image)
{
	uint32_t at =
	    plimp_store_process(&profile->store, image->process)->parent;

	for (int depth = 0; depth < 64 && at != PLIM_NO_INDEX; depth++) {
		const plim_profile_process *row =
		    plimp_store_process(&profile->store, at);
		const struct plimp_program *parent =
		    plimp_program_now(profile, row->pid);

		if (parent != NULL && parent->lens != NULL &&
		    plimp_system_lens_check(parent->lens, NULL) == PLIM_OK)
			return parent->lens;
		at = row->parent;
	}
	return NULL;
}

/* What was opened of it, in the order in which it stands on each other. */
static void program_shut(plim_profile *profile, struct plimp_program *image)
{
	const plim_allocator *allocator = &profile->host->allocator;

	plimp_namer_close(image->namer);
	plimp_modules_close(image->modules);
	if (image->lens != NULL)
		plimp_system_lens_close(image->lens);
	plimp_release(allocator, image->cache, plimp_pc_cache_size(), 1);
	plimp_release(allocator, image->frames, PLIMP_FRAME_CACHE,
		      sizeof(*image->frames));
	plimp_release(allocator, image->modules_of, image->modules_room,
		      sizeof(*image->modules_of));
	image->namer = NULL;
	image->modules = NULL;
	image->lens = NULL;
	image->cache = NULL;
	image->frames = NULL;
	image->modules_of = NULL;
	image->modules_room = 0;
}

/*
 * The program that was meant is executed now: what was opened before it is of
 * the one that executes it, and nothing counts of that. The sampler forgets
 * the old lens first.
 */
int plimp_program_begun(plim_profile *profile, plim_error *error)
{
	struct plimp_program *image = profile->images;
	plim_profile_process *row;
	plim_check check;
	int code = plimp_system_lens_check(image->lens, NULL);

	if (code != PLIM_EIMAGE)
		return PLIM_OK;
	plimp_system_sampler_abandon(profile->sampler, image->pid);
	program_shut(profile, image);
	profile->awaits_exec = 0;
	code = program_open(profile, image, plimp_system_monotonic());
	if (code == PLIM_ENOMEM)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	plimp_system_check(profile->target, &check);
	row = plimp_store_process(&profile->store, image->process);
	row->has_modules = image->modules != NULL;
	row->why = code;
	row->name = plimp_store_text(
	    &profile->store,
	    (plim_bytes){profile->target->name, profile->target->name_size});
	profile->facts.name = row->name;
	if (image->is_narrow)
		return plimp_program_refuse(profile, error);
	if (image->lens == NULL)
		return PLIM_OK;
	return plimp_system_sampler_adopt(profile->sampler, image->target,
					  image->lens, error);
}

void plimp_program_close(plim_profile *profile, struct plimp_program *image)
{
	program_shut(profile, image);
	if (image->owns_target)
		plim_target_close(image->target);
	*image = (struct plimp_program){0};
}

/* `like`: index + 1 of the image whose code it has, 0: its own. */
static int program_add(plim_profile *profile, int32_t pid, plim_target *target,
		       plim_bytes name, uint64_t since_ns, size_t like,
		       uint32_t *index)
{
	struct plimp_program *image;
	plim_profile_process row = {.pid = pid,
				    .parent = PLIM_NO_INDEX,
				    .previous = PLIM_NO_INDEX,
				    .name = name,
				    .since_ns = since_ns};
	int code =
	    plimp_reserve(&profile->host->allocator, (void **)&profile->images,
			  &profile->image_capacity, profile->image_count + 1, 4,
			  sizeof(*image));

	if (code != PLIM_OK)
		return code;
	image = profile->images + profile->image_count;
	*image =
	    (struct plimp_program){.pid = pid, .target = target, .like = like};
	row.why = program_open(profile, image, plimp_system_monotonic());
	row.has_modules = plimp_program_code(profile, image)->modules != NULL;
	if (image->target != NULL) {
		row.identity = plim_target_identity(image->target);
		if (name.size == 0)
			row.name = (plim_bytes){image->target->name,
						image->target->name_size};
	}
	code = row.why == PLIM_ENOMEM
		   ? PLIM_ENOMEM
		   : plimp_store_add_process(&profile->store, &row,
					     &image->process);
	if (code != PLIM_OK) {
		plimp_program_close(profile, image);
		return code;
	}
	*index = (uint32_t)profile->image_count++;
	return PLIM_OK;
}

int plimp_program_add(plim_profile *profile, int32_t pid, plim_target *target,
		      plim_bytes name, uint64_t since_ns, uint32_t *index)
{
	return program_add(profile, pid, target, name, since_ns, 0, index);
}

int plimp_program_again(plim_profile *profile, struct plimp_program *image)
{
	plim_profile_process row = {.pid = image->pid,
				    .parent = PLIM_NO_INDEX,
				    .previous = PLIM_NO_INDEX,
				    .name = profile->facts.name,
				    .identity = profile->target->identity,
				    .has_modules = image->modules != NULL};

	assert(profile->image_count == 1 && !image->is_over);
	plimp_namer_close(image->namer);
	image->namer = NULL;
	image->alive = 0;
	image->refresh_wanted = 1;
	if (image->frames != NULL)
		memset(image->frames, 0,
		       PLIMP_FRAME_CACHE * sizeof(*image->frames));
	if (image->modules_of != NULL)
		memset(image->modules_of, 0,
		       image->modules_room * sizeof(*image->modules_of));
	return plimp_store_add_process(&profile->store, &row, &image->process);
}

int plimp_program_exec(plim_profile *profile, int32_t pid, plim_bytes name,
		       uint64_t time_ns)
{
	struct plimp_program *old = plimp_program_now(profile, pid);
	plim_target *target = old != NULL ? old->target : NULL;
	uint32_t previous = old != NULL ? old->process : PLIM_NO_INDEX;
	int is_root = old != NULL && old->is_root;
	uint64_t spent_ns = old != NULL ? old->spent_ns : 0;
	int spent_unknown = old != NULL && old->spent_unknown;
	uint32_t index;
	int code;

	if (old != NULL) {
		old->is_over = 1;
		old->spent_ns = 0;
		plimp_store_process(&profile->store, previous)->until_ns =
		    time_ns;
	}
	code = plimp_program_add(profile, pid, target, name, time_ns, &index);
	if (code != PLIM_OK)
		return code;
	profile->images[index].is_root = is_root;
	profile->images[index].spent_ns = spent_ns;
	profile->images[index].spent_unknown = spent_unknown;
	code = program_told(profile, profile->images + index);
	if (code != PLIM_OK)
		return code;
	plimp_store_process(&profile->store, profile->images[index].process)
	    ->previous = previous;
	if (previous != PLIM_NO_INDEX)
		plimp_store_process(&profile->store,
				    profile->images[index].process)
		    ->parent =
		    plimp_store_process(&profile->store, previous)->parent;
	return PLIM_OK;
}

static int program_born(plim_profile *profile, int32_t pid, int32_t parent,
			uint64_t time_ns, int has_own_code)
{
	struct plimp_program *from = plimp_program_now(profile, parent);
	size_t at = from != NULL ? (size_t)(from - profile->images) + 1 : 0;
	plim_bytes name = {"", 0};
	uint32_t index;
	int code;

	if (from != NULL && !has_own_code)
		name =
		    plimp_store_process(&profile->store, from->process)->name;
	code = program_add(profile, pid, NULL, name, time_ns,
			   has_own_code ? 0 : at, &index);
	if (code == PLIM_OK && at != 0)
		plimp_store_process(&profile->store,
				    profile->images[index].process)
		    ->parent = profile->images[at - 1].process;
	return code;
}

/*
 * Its code is not read now: between its birth and the moment when that is told
 * it may have executed another program, and what was sampled of it before ran
 * its parent's code. It is read when it shows that it has other code.
 */
int plimp_program_fork(plim_profile *profile, int32_t pid, int32_t parent,
		       uint64_t time_ns)
{
	/* It may have been found by itself before. */
	return plimp_program_now(profile, pid) != NULL
		   ? PLIM_OK
		   : program_born(profile, pid, parent, time_ns, 0);
}

int plimp_program_unborn(plim_profile *profile, int32_t pid, int32_t parent,
			 uint64_t time_ns)
{
	return program_born(profile, pid, parent, time_ns, 1);
}

/* A process that is there already; its threads are told of when the sampler
 * has it. */
static int program_join(plim_profile *profile, const plim_process *process,
			int32_t pid, int32_t parent)
{
	struct plimp_program *from = plimp_program_now(profile, parent);
	uint32_t parent_index = from != NULL ? from->process : PLIM_NO_INDEX;
	plim_text name = plim_process_text(process, PLIM_FIELD_NAME);
	uint32_t index;
	int code = plimp_program_add(
	    profile, pid, NULL, name.bytes,
	    profile->is_first ? 0 : plimp_system_monotonic(), &index);

	if (code != PLIM_OK)
		return code;
	plimp_store_process(&profile->store, profile->images[index].process)
	    ->parent = parent_index;
	return plimp_rest_join(profile, profile->images + index);
}

/* By the root of an ancestor. */
static int program_mapped_told(plim_profile *profile,
			       struct plimp_program *image,
			       const struct plimp_mapped *mapped,
			       uint64_t time_ns)
{
	struct plimp_lens *lender = program_lender(profile, image);

	if (lender == NULL)
		return PLIM_ENOPROCESS;
	plimp_modules_lend(image->modules, lender);
	return plimp_modules_mapped(image->modules, mapped, time_ns, NULL);
}

int plimp_program_mapped(plim_profile *profile,
			 const struct plimp_capture *told)
{
	struct plimp_program *image = plimp_program_now(profile, told->pid);
	struct plimp_mapped mapped = {.start = told->start,
				      .end = told->end,
				      .offset = told->offset,
				      .device = told->device,
				      .inode = told->inode,
				      .path = told->name};
	int code = PLIM_ENOPROCESS;

	if (image == NULL)
		return PLIM_OK;
	if (image->modules == NULL) {
		image->refresh_wanted = 1;
		return PLIM_OK;
	}
	if (!plimp_modules_are_told(image->modules))
		code = plimp_modules_mapped(image->modules, &mapped,
					    told->time_ns, NULL);
	if (code == PLIM_ENOPROCESS)
		code =
		    program_mapped_told(profile, image, &mapped, told->time_ns);
	/* What cannot be had now, the next refresh finds. */
	if (code != PLIM_OK)
		image->refresh_wanted = 1;
	return code == PLIM_ENOMEM ? code : PLIM_OK;
}

int plimp_program_refresh(plim_profile *profile, struct plimp_program *image,
			  uint64_t now_ns, int soonest)
{
	uint64_t wait =
	    soonest ? PLIMP_REFRESH_SOONEST_NS : PLIMP_REFRESH_USUAL_NS;
	int code;

	if (image->is_over || now_ns < image->refreshed_ns + wait ||
	    (image->modules == NULL &&
	     (image->like == 0 || image->lens == NULL)))
		return PLIM_OK;
	image->refreshed_ns = now_ns;
	image->refresh_wanted = 0;
	/* It may have ended, or have executed another program that is told
	 * later: the history stays as it was. */
	if (image->modules == NULL)
		code = program_read(profile, image, now_ns);
	else
		code = plimp_modules_refresh(image->modules, now_ns, NULL);
	if (code == PLIM_OK && program_lacks_memory(image->modules))
		code = PLIM_ENOMEM;
	return code == PLIM_ENOMEM ? code : PLIM_OK;
}

static int program_module_add(plim_profile *profile,
			      struct plimp_program *image, uint32_t module,
			      uint32_t *index)
{
	const struct plimp_module *known =
	    plimp_modules_item(image->modules, module);
	plim_profile_module row = {.process = image->process};

	if (known == NULL) {
		*index = PLIM_NO_INDEX;
		return PLIM_OK;
	}
	row.path = known->path;
	/* Made at run time: its names are in a file, which the program may have
	 * written when it ends before we do. */
	if (known->object == NULL && image->lens != NULL)
		plimp_system_lens_hold(image->lens);
	if (known->object != NULL)
		row.build_id =
		    (plim_bytes){(const char *)known->object->build_id,
				 known->object->build_id_size};
	/* For who names its frames: the module's own index. */
	row.reserved[0] = (uint64_t)module + 1;
	return plimp_store_add_module(&profile->store, &row, index);
}

/* The store's module of a module of the image. */
static int program_module(plim_profile *profile, struct plimp_program *image,
			  uint32_t module, uint32_t *index)
{
	size_t room = image->modules_room;
	int code;

	if (module == PLIMP_NO_MODULE) {
		*index = PLIM_NO_INDEX;
		return PLIM_OK;
	}
	code =
	    plimp_reserve(&profile->host->allocator,
			  (void **)&image->modules_of, &image->modules_room,
			  (size_t)module + 1, 32, sizeof(*image->modules_of));
	if (code != PLIM_OK)
		return code;
	if (image->modules_room > room)
		memset(image->modules_of + room, 0,
		       (image->modules_room - room) *
			   sizeof(*image->modules_of));
	if (image->modules_of[module] == 0) {
		code = program_module_add(profile, image, module, index);
		if (code == PLIM_OK && *index != PLIM_NO_INDEX)
			image->modules_of[module] = *index + 1;
		return code;
	}
	*index = image->modules_of[module] - 1;
	return PLIM_OK;
}

int plimp_program_frame(plim_profile *profile, struct plimp_program *image,
			uint64_t address, uint32_t *frame)
{
	struct plimp_program *with = plimp_program_code(profile, image);
	struct plimp_frame_cached *cached = NULL;
	uint32_t module = PLIMP_NO_MODULE;
	uint32_t index = PLIM_NO_INDEX;
	uint64_t generation = 0;
	int code;

	if (with->modules != NULL) {
		const struct plimp_code_map *map =
		    plimp_modules_map(with->modules);
		const struct plimp_code_range *range;

		generation = map->generation;
		cached = with->frames +
			 (address ^ address >> 12) % PLIMP_FRAME_CACHE;
		if (cached->address == address &&
		    cached->generation == generation) {
			*frame = cached->frame;
			return PLIM_OK;
		}
		range = plimp_code_find(map, address);
		if (range != NULL)
			module = range->module;
	}
	code = program_module(profile, with, module, &index);
	if (code == PLIM_OK)
		code = plimp_store_find_frame(&profile->store, with->process,
					      index, address, 0, frame);
	if (code == PLIM_OK && cached != NULL)
		*cached =
		    (struct plimp_frame_cached){address, generation, *frame};
	return code;
}

/* Descendants that are not known yet: by a look at every process. Who samples
 * is none of them: its shell would be said to do what it does. */
static int programs_find(plim_profile *profile, const plim_snapshot *snapshot,
			 size_t *found)
{
	*found = 0;
	for (size_t i = 0; i < plim_snapshot_size(snapshot); i++) {
		const plim_process *process = plim_snapshot_at(snapshot, i);
		plim_count pid = plim_process_count(process, PLIM_FIELD_PID);
		plim_count parent =
		    plim_process_count(process, PLIM_FIELD_PPID);
		int code;

		if (pid.state != PLIM_STATE_KNOWN ||
		    parent.state != PLIM_STATE_KNOWN ||
		    (int32_t)pid.value == profile->inside_pid ||
		    plimp_program_now(profile, (int32_t)pid.value) != NULL ||
		    plimp_program_now(profile, (int32_t)parent.value) == NULL)
			continue;
		code = program_join(profile, process, (int32_t)pid.value,
				    (int32_t)parent.value);
		if (code != PLIM_OK)
			return code;
		++*found;
	}
	return PLIM_OK;
}

int plimp_programs_find(plim_profile *profile, plim_error *error)
{
	plim_field_set fields = {{0}};
	plim_snapshot_options options = {.size = sizeof(options),
					 .fields = &fields};
	plim_snapshot *snapshot = NULL;
	size_t found = 1;
	int code = plim_snapshot_new(&snapshot, profile->host, error);

	if (code != PLIM_OK)
		return code;
	plim_field_set_add(&fields, PLIM_FIELD_PPID);
	code = plim_snapshot_take(snapshot, &options, error);
	/* Grandchildren may be listed before their parents. */
	for (int depth = 0; depth < 64 && found > 0 && code == PLIM_OK; depth++)
		code = programs_find(profile, snapshot, &found);
	plim_snapshot_free(snapshot);
	return code;
}

/* Somebody runs its code and has none of its own. */
static int program_is_needed(const plim_profile *profile, size_t index)
{
	for (size_t i = 0; i < profile->image_count; i++) {
		if (profile->images[i].like == index + 1 &&
		    profile->images[i].modules == NULL &&
		    !profile->images[i].is_over)
			return 1;
	}
	return 0;
}

/* One that is over and of which nothing was sampled has nothing to tell any
 * more: a build of ten thousand processes must not hold them all. */
static void program_forget(plim_profile *profile, size_t index)
{
	struct plimp_program *image = profile->images + index;

	if ((image->lens == NULL && image->modules == NULL) ||
	    image->modules_of != NULL || program_is_needed(profile, index))
		return;
	if (image->adopted && plimp_program_now(profile, image->pid) == NULL)
		plimp_system_sampler_abandon(profile->sampler, image->pid);
	program_shut(profile, image);
}

int plimp_programs_adopt(plim_profile *profile, plim_error *error)
{
	for (size_t i = 0; i < profile->image_count; i++) {
		struct plimp_program *image = profile->images + i;
		int code;

		if (image->adopted || image->is_over || image->lens == NULL)
			continue;
		image->adopted = 1;
		code = plimp_system_sampler_adopt(
		    profile->sampler, image->target, image->lens, error);
		if (code == PLIM_ENOMEM)
			return code;
	}
	for (size_t i = profile->forgotten; i < profile->image_count; i++) {
		if (profile->images[i].is_over)
			program_forget(profile, i);
	}
	while (profile->forgotten < profile->image_count &&
	       profile->images[profile->forgotten].is_over)
		profile->forgotten++;
	return PLIM_OK;
}

int plimp_program_has_followed(const plim_profile *profile,
			       const struct plimp_program *image)
{
	for (size_t i = (size_t)(image - profile->images) + 1;
	     i < profile->image_count; i++) {
		if (profile->images[i].pid == image->pid)
			return 1;
	}
	return 0;
}

static void finish_modules(plim_profile *profile, struct plimp_program *image)
{
	for (size_t i = 0; i < image->modules_room; i++) {
		const struct plimp_module *known;
		plim_profile_module *row;

		if (image->modules_of[i] == 0)
			continue;
		known = plimp_modules_item(image->modules, i);
		if (known == NULL)
			continue;
		row = plimp_store_module(&profile->store,
					 image->modules_of[i] - 1);
		row->start = known->start;
		row->end = known->end;
		row->offset = known->offset;
		row->bias = known->bias;
		row->since_ns = known->since_ns;
		row->until_ns = known->until_ns;
		row->is_deleted = known->is_deleted != 0;
		row->is_replaced = known->is_replaced != 0;
		row->why = known->why;
	}
}

void plimp_programs_finish(plim_profile *profile)
{
	for (size_t i = 0; i < profile->image_count; i++) {
		if (profile->images[i].modules != NULL)
			finish_modules(profile, profile->images + i);
	}
}
