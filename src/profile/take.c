/*
 * take.c - a capture becomes a sample: unwound at once, so that of its stack
 * nothing is kept but addresses; its weight by the thread's account.
 */
#include "profile/session.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

/* What a walk reads besides the copy: words of the stack as the capture has
 * them, and instructions, of a file from the file: the target's memory is left
 * alone where it need not be asked. */
struct take_reading {
	struct plimp_program *image;
	const struct plimp_stack_bytes *stack;
};

static int take_word(void *user, uint64_t address, uint64_t *value)
{
	const struct take_reading *reading = user;

	return reading->stack->word(reading->stack->user, address, value);
}

static int take_code_of_file(const struct plimp_elf *elf, uint64_t address,
			     void *bytes, size_t size)
{
	uint64_t place;
	int code = plimp_elf_place(elf, address, &place);

	if (code == PLIM_OK)
		code = plimp_elf_bytes(elf, place, bytes, size);
	return code;
}

/* Of code that no file has: a JIT's. Only pages that are there. */
static int take_code_of_memory(struct plimp_lens *lens, uint64_t address,
			       void *bytes, size_t size)
{
	struct plimp_reader memory;
	uint8_t pages[2] = {0};
	size_t copied = 0;
	uint64_t page;
	size_t count;
	int code;

	plimp_system_lens_reader(lens, &memory);
	page = address & ~(uint64_t)(memory.page_bytes - 1);
	count = (size_t)((address + size - 1 - page) / memory.page_bytes) + 1;
	if (count > 2)
		return -1;
	code = memory.pages(memory.user, page, count, pages);
	for (size_t i = 0; i < count && code == PLIM_OK; i++) {
		if (!(pages[i] & PLIMP_PAGE_READABLE))
			code = PLIM_ENAME;
	}
	if (code == PLIM_OK)
		code = memory.read(memory.user, address, bytes, size, &copied);
	return code == PLIM_OK && copied == size ? 0 : -1;
}

static int take_code(void *user, uint64_t address, void *bytes, size_t size)
{
	const struct take_reading *reading = user;
	const struct plimp_modules *modules = reading->image->modules;
	const struct plimp_code_range *range =
	    plimp_code_find(plimp_modules_map(modules), address);
	struct plimp_object *object;

	if (range == NULL || size == 0 || size > range->end - address)
		return -1;
	object = plimp_modules_object(modules, range->module);
	if (object != NULL && !object->is_memory &&
	    !(range->flags & PLIMP_CODE_NO_FILE))
		return take_code_of_file(&object->elf, address - range->bias,
					 bytes, size);
	if (reading->image->is_over || reading->image->lens == NULL)
		return -1;
	return take_code_of_memory(reading->image->lens, address, bytes, size);
}

/* Walks the stack; gives how many addresses, 0 where its code is unknown. */
static size_t take_unwind(plim_profile *profile, struct plimp_program *image,
			  const struct plimp_capture *capture,
			  struct plimp_unwound *unwound)
{
	struct plimp_program *with = plimp_program_code(profile, image);
	struct plimp_stack_bytes stack = capture->stack;
	struct take_reading reading = {with, &capture->stack};

	*unwound = (struct plimp_unwound){.end = PLIM_STACK_UNKNOWN_CODE};
	if (with->modules == NULL)
		return 0;
	stack.word = stack.word != NULL ? take_word : NULL;
	stack.code = take_code;
	stack.user = &reading;
	plimp_unwind(plimp_modules_map(with->modules), with->cache,
		     &capture->registers, &stack, profile->frame_addresses,
		     NULL, PLIMP_PROFILE_DEPTH, unwound);
	return unwound->count;
}

/* It was walked where it was taken, with the code that was known then. */
static size_t take_walked(plim_profile *profile, struct plimp_program *image,
			  const struct plimp_capture *capture,
			  struct plimp_unwound *unwound)
{
	size_t count = capture->frame_count;

	assert(count <= PLIMP_PROFILE_DEPTH);
	*unwound =
	    (struct plimp_unwound){.count = count, .end = capture->frames_end};
	memcpy(profile->frame_addresses, capture->frames,
	       count * sizeof(*profile->frame_addresses));
	if (capture->frames_end == PLIM_STACK_UNKNOWN_CODE)
		image->refresh_wanted = 1;
	return count;
}

static void take_end(plim_profile *profile, int end, uint64_t looks)
{
	switch (end) {
	case PLIM_STACK_ROOT:
		profile->metrics[PLIM_METRIC_STACKS_ROOT] += looks;
		break;
	case PLIM_STACK_DEPTH:
		profile->metrics[PLIM_METRIC_STACKS_DEPTH] += looks;
		break;
	case PLIM_STACK_CUT:
		profile->metrics[PLIM_METRIC_STACKS_CUT] += looks;
		break;
	case PLIM_STACK_NO_RULES:
		profile->metrics[PLIM_METRIC_STACKS_NO_RULES] += looks;
		break;
	case PLIM_STACK_BAD_MEMORY:
		profile->metrics[PLIM_METRIC_STACKS_BAD_MEMORY] += looks;
		break;
	case PLIM_STACK_UNKNOWN_CODE:
		profile->metrics[PLIM_METRIC_STACKS_UNKNOWN_CODE] += looks;
		break;
	default:
		profile->metrics[PLIM_METRIC_STACKS_OTHER] += looks;
	}
}

/* A thread whose stacks are deeper than what is copied of them. */
static void take_deeper(plim_profile *profile, struct plimp_task *task)
{
	uint32_t bytes = task->stack_bytes * 2;

	if (task->stack_bytes >= PLIMP_PROFILE_STACK_MOST)
		return;
	if (bytes > PLIMP_PROFILE_STACK_MOST)
		bytes = PLIMP_PROFILE_STACK_MOST;
	task->stack_bytes = bytes;
	(void)plimp_system_sampler_deepen(profile->sampler, task->tid, bytes);
}

/* A walk that ends in unknown code shows that the map is old: that of the
 * image, or, where it has its parent's and nothing own is to be had, of that.
 * 1: it was read again. */
static int take_refresh(plim_profile *profile, struct plimp_program *image,
			uint64_t now_ns, int *code)
{
	struct plimp_program *stale[] = {image,
					 plimp_program_code(profile, image)};

	for (size_t i = 0; i < 2 && *code == PLIM_OK; i++) {
		uint64_t before = stale[i]->refreshed_ns;

		*code = plimp_program_refresh(profile, stale[i], now_ns, 1);
		if (*code == PLIM_OK && stale[i]->refreshed_ns != before) {
			*code = plimp_program_ready(
			    profile, plimp_program_code(profile, image));
			return *code == PLIM_OK;
		}
	}
	return 0;
}

/* The stack of a capture in the store. */
static int take_stack(plim_profile *profile, struct plimp_task *task,
		      const struct plimp_capture *capture, int activity,
		      uint32_t *index)
{
	struct plimp_program *image = profile->images + task->image;
	struct plimp_unwound unwound;
	plim_profile_stack stack = {
	    .thread = task->thread, .activity = activity, .call = -1};
	int code =
	    plimp_program_ready(profile, plimp_program_code(profile, image));
	size_t count;

	if (code != PLIM_OK)
		return code;
	if (capture->frames != NULL)
		count = take_walked(profile, image, capture, &unwound);
	else
		count = take_unwind(profile, image, capture, &unwound);
	if (capture->frames == NULL && unwound.end == PLIM_STACK_UNKNOWN_CODE &&
	    take_refresh(profile, image, capture->time_ns, &code))
		count = take_unwind(profile, image, capture, &unwound);
	if (unwound.end == PLIM_STACK_CUT && capture->frames == NULL &&
	    activity == PLIM_ACTIVITY_RUNNING)
		take_deeper(profile, task);
	for (size_t i = 0; i < count && code == PLIM_OK; i++)
		code = plimp_program_frame(profile, image,
					   profile->frame_addresses[i],
					   &profile->frame_indices[i]);
	if (count == 0 && code == PLIM_OK) {
		code = plimp_store_find_frame(
		    &profile->store, PLIM_NO_INDEX, PLIM_NO_INDEX, 0,
		    PLIM_SPECIAL_NOWHERE, profile->frame_indices);
		count = 1;
	}
	if (code != PLIM_OK)
		return code;
	stack.end = unwound.end;
	stack.frames = profile->frame_indices;
	stack.frame_count = count;
	if (activity == PLIM_ACTIVITY_BLOCKED && capture->call >= 0) {
		const char *name = plimp_system_call_name(
		    profile->host, (uint64_t)capture->call);

		stack.call = capture->call;
		if (name != NULL)
			stack.call_name = (plim_bytes){name, strlen(name)};
	}
	return plimp_store_find_stack(&profile->store, &stack, index);
}

static int take_sample(plim_profile *profile, uint32_t stack, uint64_t time_ns,
		       uint64_t weight, uint32_t *index)
{
	plim_profile_sample sample = {.time_ns = time_ns,
				      .weight_ns = weight,
				      .stack = stack,
				      .looks = 1};
	int code = plimp_store_add_sample(&profile->store, &sample, index);

	if (code == PLIM_OK)
		plimp_store_weigh(&profile->store, stack, weight, 1);
	return code;
}

/* The thread's CPU time until this sample, as its account counts it; 0: not
 * known. What is stopped has no event that counts, but the kernel's account. */
static uint64_t take_cpu(const struct plimp_account *account,
			 const struct plimp_capture *capture)
{
	if (capture->has_cpu)
		return capture->cpu_ns;
	if (!capture->has_accounts || !account->has_first ||
	    capture->cpu_ns <= account->first_cpu)
		return 0;
	return account->event_base + (capture->cpu_ns - account->first_cpu);
}

static int take_running(plim_profile *profile, struct plimp_task *task,
			const struct plimp_capture *capture)
{
	const uint64_t before = task->account.event_cpu;
	struct plimp_sampling sampling = profile->sampling;
	uint32_t stack;
	uint32_t sample;
	uint64_t weight;
	int code =
	    take_stack(profile, task, capture, PLIM_ACTIVITY_RUNNING, &stack);

	if (code != PLIM_OK)
		return code;
	sampling.kernel_seen |= capture->sees_kernel;
	weight = plimp_account_running(&task->account, &sampling,
				       take_cpu(&task->account, capture),
				       &profile->lost);
	code = take_sample(profile, stack, capture->time_ns, weight, &sample);
	if (code != PLIM_OK) {
		task->account.sampled_ns -= weight;
		return code;
	}
	if (task->account.event_cpu > before)
		plimp_store_sample(&profile->store, sample)->span_ns =
		    task->account.event_cpu - before;
	task->samples_seen++;
	task->blocked_sample = 0;
	task->blocked_stack = 0;
	profile->metrics[PLIM_METRIC_RUNNING]++;
	plimp_store_thread(&profile->store, task->thread)->samples++;
	take_end(profile, plimp_store_stack(&profile->store, stack)->end, 1);
	return PLIM_OK;
}

/* More looks at a thread that is where it was. */
static void take_again(plim_profile *profile, struct plimp_task *task,
		       uint64_t weight, uint64_t looks)
{
	plim_profile_sample *sample =
	    plimp_store_sample(&profile->store, task->blocked_sample - 1);

	sample->weight_ns += weight;
	sample->looks += (uint32_t)looks;
	plimp_store_weigh(&profile->store, sample->stack, weight, looks);
}

static void take_until(plim_profile *profile, const struct plimp_task *task,
		       uint64_t time_ns)
{
	plim_profile_sample *sample =
	    plimp_store_sample(&profile->store, task->blocked_sample - 1);

	if (time_ns > sample->time_ns)
		sample->span_ns = time_ns - sample->time_ns;
}

static int take_blocked(plim_profile *profile, struct plimp_task *task,
			const struct plimp_capture *capture, uint64_t weight)
{
	int same = capture->kind == PLIMP_CAPTURE_SAME;
	/* At ticks that were left out it was there, too. */
	uint64_t looks = same ? profile->looks : 1;
	uint32_t stack = task->blocked_stack - 1;
	uint32_t sample;
	int code = PLIM_OK;

	/* The same as what was not had is not had either. */
	if (same && task->blocked_stack == 0)
		return plimp_store_special(&profile->store, task->thread,
					   PLIM_ACTIVITY_BLOCKED,
					   PLIM_SPECIAL_BLOCKED, weight, 0);
	if (!same)
		code = take_stack(profile, task, capture, PLIM_ACTIVITY_BLOCKED,
				  &stack);
	if (code != PLIM_OK)
		return code;
	if (task->blocked_sample != 0 && task->blocked_stack == stack + 1) {
		take_again(profile, task, weight, looks);
	} else {
		code = take_sample(profile, stack, capture->time_ns, weight,
				   &sample);
		if (code != PLIM_OK)
			return code;
		task->blocked_sample = sample + 1;
	}
	take_until(profile, task, capture->time_ns);
	task->blocked_stack = stack + 1;
	profile->metrics[PLIM_METRIC_BLOCKED] += looks;
	plimp_store_thread(&profile->store, task->thread)->blocked_samples +=
	    looks;
	take_end(profile, plimp_store_stack(&profile->store, stack)->end,
		 looks);
	return PLIM_OK;
}

static int take_failed(plim_profile *profile, struct plimp_task *task,
		       const struct plimp_capture *capture, uint64_t weight)
{
	static const int metrics[] = {
	    [PLIMP_FAILED_MOVED] = PLIM_METRIC_FAILED_MOVED,
	    [PLIMP_FAILED_DENIED] = PLIM_METRIC_FAILED_DENIED,
	    [PLIMP_FAILED_ENDED] = PLIM_METRIC_FAILED_ENDED,
	    [PLIMP_FAILED_MEMORY] = PLIM_METRIC_FAILED_UNREADABLE,
	    [PLIMP_FAILED_NO_LENS] = PLIM_METRIC_FAILED_DENIED,
	    [PLIMP_FAILED_SYSTEM] = PLIM_METRIC_FAILED_UNREADABLE,
	};

	task->blocked_stack = 0;
	task->blocked_sample = 0;
	if (capture->failed > PLIMP_FAILED_NOT &&
	    capture->failed <= PLIMP_FAILED_SYSTEM)
		profile->metrics[metrics[capture->failed]]++;
	if (weight == 0)
		return PLIM_OK;
	return plimp_store_special(&profile->store, task->thread,
				   PLIM_ACTIVITY_BLOCKED, PLIM_SPECIAL_BLOCKED,
				   weight, 0);
}

/* A look by tick: accounts first, then what it gives to the stack. */
static int take_look(plim_profile *profile, struct plimp_task *task,
		     const struct plimp_capture *capture)
{
	int blocked = capture->kind != PLIMP_CAPTURE_UNSAMPLED ||
		      capture->state == PLIMP_THREAD_BLOCKED;
	uint64_t weight = 0;
	int code;

	if (capture->has_accounts)
		weight = plimp_account_look(&task->account, capture->time_ns,
					    capture->cpu_ns, capture->wait_ns,
					    blocked && capture->failed !=
							   PLIMP_FAILED_MOVED);
	code = capture->kind == PLIMP_CAPTURE_UNSAMPLED
		   ? take_failed(profile, task, capture, weight)
		   : take_blocked(profile, task, capture, weight);
	if (code != PLIM_OK)
		task->account.blocked_ns -= weight;
	return code;
}

/* The counters of a thread go on when it executes another program; the thread
 * of the new program counts from there. */
static int take_exec_task(plim_profile *profile,
			  const struct plimp_capture *capture,
			  const struct plimp_account *old)
{
	struct plimp_task *task = plimp_task_get(profile, capture);
	struct plimp_account *account;

	if (task == NULL)
		return profile->code;
	account = &task->account;
	account->event_base = old->event_cpu;
	account->event_cpu = old->event_cpu;
	account->has_first = old->has_first;
	account->first_cpu = old->last_cpu;
	account->last_cpu = old->last_cpu;
	account->first_wait = old->last_wait;
	account->last_wait = old->last_wait;
	account->last_ns = capture->time_ns;
	return PLIM_OK;
}

/* All threads of the process end, and one of the new program begins. */
static int take_exec(plim_profile *profile, const struct plimp_capture *capture)
{
	struct plimp_account old = {0};
	int has_old = 0;
	int code;

	for (size_t i = 0; i < profile->task_count; i++) {
		struct plimp_task *task = profile->tasks + i;

		if (task->pid != capture->pid || task->is_over)
			continue;
		if (task->tid == capture->pid) {
			has_old = 1;
			old = task->account;
		}
		task->account.event_end = task->account.event_cpu;
		plimp_task_end(profile, task, capture->time_ns);
	}
	code = plimp_program_exec(profile, capture->pid, capture->name,
				  capture->time_ns);
	if (code == PLIM_OK && has_old)
		code = take_exec_task(profile, capture, &old);
	return code;
}

static int take_named(plim_profile *profile, struct plimp_task *task,
		      plim_bytes name)
{
	plim_profile_thread *row =
	    plimp_store_thread(&profile->store, task->thread);

	if (name.size == 0 ||
	    (name.size == row->name.size &&
	     memcmp(name.data, row->name.data, name.size) == 0))
		return PLIM_OK;
	row->name = plimp_store_text(&profile->store, name);
	return row->name.size == name.size ? PLIM_OK : PLIM_ENOMEM;
}

/* With its last thread a process has ended; that of the target is told by the
 * sampler's wait. */
static void take_gone(plim_profile *profile, struct plimp_program *image,
		      uint64_t time_ns)
{
	if (image->alive > 0 || image->is_root || image->is_over)
		return;
	image->is_over = 1;
	plimp_store_process(&profile->store, image->process)->until_ns =
	    time_ns;
}

/* The last counters that were seen of a thread. */
static void take_last(struct plimp_account *account,
		      const struct plimp_capture *capture)
{
	if (!account->has_first) {
		/* Nobody has looked at it before: it was born meanwhile. */
		account->has_first = 1;
		account->last_ns = capture->time_ns;
	}
	if (capture->cpu_ns > account->last_cpu)
		account->last_cpu = capture->cpu_ns;
	if (capture->wait_ns > account->last_wait)
		account->last_wait = capture->wait_ns;
}

static int take_thread(plim_profile *profile,
		       const struct plimp_capture *capture)
{
	struct plimp_task *task;

	if (capture->kind == PLIMP_CAPTURE_ENDED) {
		task = plimp_task_find(profile, capture->tid);
		if (task == NULL)
			return PLIM_OK;
		if (capture->has_accounts)
			take_last(&task->account, capture);
		task->account.has_gaps = capture->has_gaps;
		plimp_task_end(profile, task, capture->time_ns);
		take_gone(profile, profile->images + task->image,
			  capture->time_ns);
		return PLIM_OK;
	}
	task = plimp_task_get(profile, capture);
	if (task == NULL)
		return profile->code;
	switch (capture->kind) {
	case PLIMP_CAPTURE_RUNNING:
		return take_running(profile, task, capture);
	case PLIMP_CAPTURE_BLOCKED:
	case PLIMP_CAPTURE_SAME:
	case PLIMP_CAPTURE_UNSAMPLED:
		return take_look(profile, task, capture);
	case PLIMP_CAPTURE_NAMED:
	case PLIMP_CAPTURE_BORN:
		return take_named(profile, task, capture->name);
	}
	return PLIM_OK;
}

void plimp_take(void *user, const struct plimp_capture *capture)
{
	plim_profile *profile = user;
	int code;

	if (profile->code != PLIM_OK)
		return;
	/* What neither runs on nor sleeps on, or is sampled by ticks. */
	if (capture->needs_ticks)
		profile->has_moved = 1;
	if (capture->kind != PLIMP_CAPTURE_RUNNING &&
	    capture->kind != PLIMP_CAPTURE_SAME &&
	    (capture->kind != PLIMP_CAPTURE_UNSAMPLED ||
	     capture->failed == PLIMP_FAILED_MOVED))
		profile->has_moved = 1;
	switch (capture->kind) {
	case PLIMP_CAPTURE_EXEC:
		code = take_exec(profile, capture);
		break;
	case PLIMP_CAPTURE_FORK:
		code = plimp_program_fork(profile, capture->pid,
					  capture->parent, capture->time_ns);
		break;
	case PLIMP_CAPTURE_MAPPED:
		code = plimp_program_mapped(profile, capture);
		break;
	case PLIMP_CAPTURE_LOST:
		profile->metrics[PLIM_METRIC_LOST] += capture->count;
		profile->lost += capture->count;
		code = PLIM_OK;
		break;
	case PLIMP_CAPTURE_THROTTLED:
		profile->metrics[PLIM_METRIC_THROTTLED]++;
		code = PLIM_OK;
		break;
	default:
		code = take_thread(profile, capture);
	}
	if (profile->code == PLIM_OK)
		profile->code = code;
}

/* The thread of a total, also one that has ended. */
static struct plimp_task *total_task(plim_profile *profile,
				     const struct plimp_capture *capture)
{
	if (!profile->is_settling)
		return plimp_task_get(profile, capture);
	for (size_t i = profile->task_count; i-- > 0;) {
		struct plimp_task *task = profile->tasks + i;

		if (task->tid == capture->tid && task->pid == capture->pid &&
		    (task->start_ticks == 0 || capture->start_ticks == 0 ||
		     task->start_ticks == capture->start_ticks))
			return task;
	}
	return NULL;
}

static void total_begin(struct plimp_task *task,
			const struct plimp_capture *capture)
{
	if (capture->has_accounts)
		(void)plimp_account_look(&task->account, capture->time_ns,
					 capture->cpu_ns, capture->wait_ns, 0);
	task->has_times = capture->has_times;
	task->user_ns = capture->user_ns;
	task->system_ns = capture->system_ns;
}

static plim_count total_part(const struct plimp_task *task,
			     const struct plimp_capture *capture,
			     uint64_t first, uint64_t last, int born)
{
	if (!capture->has_times || (!task->has_times && !born))
		return plim_count_missing(PLIM_REASON_THREAD_ENDED, 0);
	return plim_count_known(last > first ? last - first : 0,
				PLIM_METHOD_THREAD_STAT);
}

static void total_end(plim_profile *profile, struct plimp_task *task,
		      const struct plimp_capture *capture)
{
	struct plimp_account *account = &task->account;
	plim_profile_thread *row =
	    plimp_store_thread(&profile->store, task->thread);

	account->has_gaps = capture->has_gaps;
	if (capture->count > account->event_end)
		account->event_end = capture->count;
	if (capture->has_accounts && account->has_first)
		take_last(account, capture);
	row->user_ns = total_part(task, capture, task->user_ns,
				  capture->user_ns, row->born_ns != 0);
	row->system_ns = total_part(task, capture, task->system_ns,
				    capture->system_ns, row->born_ns != 0);
}

void plimp_take_total(void *user, const struct plimp_capture *capture)
{
	plim_profile *profile = user;
	struct plimp_task *task;

	if (profile->code != PLIM_OK || capture->kind != PLIMP_CAPTURE_TOTAL)
		return;
	task = total_task(profile, capture);
	if (task == NULL)
		return;
	if (profile->is_settling)
		total_end(profile, task, capture);
	else
		total_begin(task, capture);
}
