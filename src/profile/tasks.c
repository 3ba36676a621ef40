/*
 * tasks.c - the threads of a session, found by their numbers while they live.
 */
#include "profile/session.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

static uint64_t task_hash(int32_t tid)
{
	return plimp_hash_number(0, (uint64_t)(uint32_t)tid);
}

static uint64_t task_hash_at(void *user, uint32_t index)
{
	const plim_profile *profile = user;

	return task_hash(profile->tasks[index].tid);
}

/* A number that is used again has several; one of them lives at most. */
struct plimp_task *plimp_task_find(plim_profile *profile, int32_t tid)
{
	const struct plimp_hash *hash = &profile->task_hash;
	size_t at;

	if (hash->size == 0)
		return NULL;
	for (at = (size_t)task_hash(tid) & (hash->size - 1);
	     hash->slots[at] != 0; at = (at + 1) & (hash->size - 1)) {
		struct plimp_task *task =
		    profile->tasks + (hash->slots[at] - 1);

		if (task->tid == tid && !task->is_over)
			return task;
	}
	return NULL;
}

static int task_is_wanted(const plim_profile *profile,
			  const struct plimp_capture *capture)
{
	size_t size = profile->name_size;

	if (profile->tid_count == 0 && profile->thread_name == NULL)
		return 1;
	for (size_t i = 0; i < profile->tid_count; i++) {
		if (profile->tids[i] == capture->tid)
			return 1;
	}
	return profile->thread_name != NULL &&
	       capture->kind == PLIMP_CAPTURE_BORN &&
	       capture->name.size == size - 1 &&
	       memcmp(capture->name.data, profile->thread_name, size - 1) == 0;
}

static int task_new(plim_profile *profile, const struct plimp_capture *capture,
		    struct plimp_program *image, uint32_t *index)
{
	int born = capture->kind == PLIMP_CAPTURE_BORN && !profile->is_first;
	int named = capture->kind == PLIMP_CAPTURE_BORN ||
		    capture->kind == PLIMP_CAPTURE_NAMED ||
		    capture->kind == PLIMP_CAPTURE_EXEC;
	plim_profile_thread row = {.process = image->process,
				   .tid = capture->tid,
				   .start_ticks = capture->start_ticks,
				   .born_ns = born ? capture->time_ns : 0};
	struct plimp_task *task;
	int code =
	    plimp_reserve(&profile->host->allocator, (void **)&profile->tasks,
			  &profile->task_capacity, profile->task_count + 1, 16,
			  sizeof(*profile->tasks));

	row.name = named ? capture->name : (plim_bytes){"", 0};
	if (code == PLIM_OK)
		code =
		    plimp_hash_room(&profile->host->allocator,
				    &profile->task_hash, task_hash_at, profile);
	if (code != PLIM_OK)
		return code;
	task = profile->tasks + profile->task_count;
	*task = (struct plimp_task){
	    .pid = capture->pid,
	    .tid = capture->tid,
	    .start_ticks = capture->start_ticks,
	    .image = (uint32_t)(image - profile->images),
	    .stack_bytes = profile->effective.stack_bytes,
	    .account = {.begin_ns = profile->is_first ? profile->facts.start_ns
						      : capture->time_ns}};
	code = plimp_store_add_thread(&profile->store, &row, &task->thread);
	if (code != PLIM_OK)
		return code;
	image->alive++;
	*index = (uint32_t)profile->task_count++;
	plimp_hash_put(&profile->task_hash, task_hash(task->tid), *index);
	if (profile->is_first)
		profile->metrics[PLIM_METRIC_THREADS_AT_START]++;
	else if (born)
		profile->metrics[PLIM_METRIC_THREADS_BORN]++;
	return PLIM_OK;
}

struct plimp_task *plimp_task_get(plim_profile *profile,
				  const struct plimp_capture *capture)
{
	struct plimp_task *task = plimp_task_find(profile, capture->tid);
	struct plimp_program *image;
	uint32_t index;

	if (task != NULL && task->start_ticks != 0 &&
	    capture->start_ticks != 0 &&
	    task->start_ticks != capture->start_ticks) {
		plimp_task_end(profile, task, capture->time_ns);
		task = NULL;
	}
	if (task != NULL) {
		if (task->start_ticks == 0 && capture->start_ticks != 0) {
			task->start_ticks = capture->start_ticks;
			plimp_store_thread(&profile->store, task->thread)
			    ->start_ticks = capture->start_ticks;
		}
		return task;
	}
	if (!task_is_wanted(profile, capture))
		return NULL;
	image = plimp_program_now(profile, capture->pid);
	if (image == NULL) {
		profile->code = plimp_program_unborn(
		    profile, capture->pid, capture->parent, capture->time_ns);
		image = plimp_program_now(profile, capture->pid);
	}
	if (image == NULL)
		return NULL;
	profile->code = task_new(profile, capture, image, &index);
	return profile->code == PLIM_OK ? profile->tasks + index : NULL;
}

void plimp_task_end(plim_profile *profile, struct plimp_task *task,
		    uint64_t time_ns)
{
	plim_profile_thread *row =
	    plimp_store_thread(&profile->store, task->thread);

	assert(!task->is_over);
	task->is_over = 1;
	task->account.end_ns = time_ns;
	row->ended_ns = time_ns;
	profile->images[task->image].alive--;
	profile->metrics[PLIM_METRIC_THREADS_ENDED]++;
}
