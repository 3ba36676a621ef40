/*
 * code_thread.c - the stack of one thread that sleeps, by the same look that a
 * profile takes at every thread (host/sampler.h): no stop, no signal, and a
 * proof that what was read was read of a thread at rest.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/sampler.h"
#include "unwind/code.h"

#include <string.h>

/* A thread that is caught running while it is looked at is tried again. */
enum { THREAD_ATTEMPTS = 4 };

const char *plim_stack_thread_word(int thread)
{
	static const char *const words[] = {"none", "blocked", "running",
					    "moved", "unreadable"};

	return thread >= 0 && thread <= PLIM_STACK_THREAD_UNREADABLE
		   ? words[thread]
		   : NULL;
}

/* What is asked of the sampler, and what it told. */
struct thread_look {
	plim_code *code;
	int32_t tid;
	uint64_t *frames;
	size_t capacity;
	plim_stack stack;
	int failed; /* enum plimp_capture_failure */
	int is_seen;
};

static void thread_take(void *user, const struct plimp_capture *capture)
{
	struct thread_look *look = user;

	if (capture->tid != look->tid)
		return;
	if (capture->kind == PLIMP_CAPTURE_ENDED) {
		look->is_seen = 0;
		return;
	}
	if (capture->kind == PLIMP_CAPTURE_BLOCKED) {
		plimp_code_walk(look->code, &capture->registers,
				&capture->stack, look->frames, look->capacity,
				&look->stack);
		look->stack.thread = PLIM_STACK_THREAD_BLOCKED;
		look->stack.call = capture->call;
		look->failed = 0;
		look->is_seen = 1;
	} else if (capture->kind == PLIMP_CAPTURE_UNSAMPLED) {
		memset(&look->stack, 0, sizeof look->stack);
		look->stack.call = -1;
		look->stack.thread = capture->failed == PLIMP_FAILED_MOVED
					 ? PLIM_STACK_THREAD_MOVED
				     : capture->failed == PLIMP_FAILED_MEMORY
					 ? PLIM_STACK_THREAD_UNREADABLE
					 : PLIM_STACK_THREAD_RUNNING;
		look->failed = capture->failed;
		look->is_seen = 1;
	}
}

static int thread_fail(const struct thread_look *look, plim_error *error)
{
	return plimp_fail(error, PLIM_ENOPROCESS, 0, "look at thread", NULL,
			  "the process has no thread %d", (int)look->tid);
}

/* What a thread told, or why it could not. */
static int thread_judge(const struct thread_look *look,
			const struct plimp_tiers *tiers, plim_error *error)
{
	if (!look->is_seen || look->failed == PLIMP_FAILED_ENDED)
		return thread_fail(look, error);
	if (look->failed == PLIMP_FAILED_DENIED)
		return plimp_fail(error, PLIM_EDENIED, 0, "look at thread",
				  NULL, "%s", tiers->no_stop_remedy);
	if (look->failed != 0 && tiers->no_stop.state != PLIM_STATE_KNOWN)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "look at thread",
				  NULL, "%s", tiers->no_stop_remedy);
	if (look->failed == PLIMP_FAILED_SYSTEM ||
	    look->failed == PLIMP_FAILED_NO_LENS)
		return plimp_fail(error, PLIM_ESYSTEM, 0, "look at thread",
				  NULL, NULL);
	return PLIM_OK;
}

static int thread_look(struct thread_look *look, plim_target *target,
		       struct plimp_lens *lens, plim_error *error)
{
	const struct plimp_sampler_options options = {
	    .period_ns = 1000000000u,
	    .flags = PLIMP_SAMPLER_NO_RUNNING | PLIMP_SAMPLER_NO_INHERIT |
		     PLIMP_SAMPLER_NO_PERF,
	    .tids = &look->tid,
	    .tid_count = 1,
	};
	struct plimp_sampler *sampler = NULL;
	struct plimp_tiers tiers;
	int attempt;
	int code = plimp_system_sampler_open(&sampler, look->code->host, target,
					     lens, &options, error);

	if (code != PLIM_OK)
		return code;
	code = plimp_system_sampler_start(sampler, error);
	for (attempt = 0; code == PLIM_OK && attempt < THREAD_ATTEMPTS;
	     attempt++) {
		code = plimp_system_sampler_tick(sampler, thread_take, look,
						 error);
		if (look->failed != PLIMP_FAILED_MOVED)
			break;
	}
	if (code == PLIM_OK)
		code = plimp_system_lens_check(lens, error);
	tiers = plimp_system_sampler_tiers(sampler);
	if (code == PLIM_OK)
		code = thread_judge(look, &tiers, error);
	plimp_system_sampler_close(sampler);
	return code;
}

/* Ourselves are a process like any other here. */
static int thread_look_own(struct thread_look *look, plim_error *error)
{
	plim_host *host = look->code->host;
	plim_count pid = plim_host_count(host, PLIM_HOST_OWN_PID);
	struct plimp_lens *lens = NULL;
	plim_target *target = NULL;
	int code;

	if (pid.state != PLIM_STATE_KNOWN)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "look at thread",
				  "self", NULL);
	code = plim_target_open(&target, host, (int32_t)pid.value, error);
	if (code != PLIM_OK)
		return code;
	code = plimp_system_lens_open(host, target, &lens, error);
	if (code == PLIM_OK) {
		code = thread_look(look, target, lens, error);
		plimp_system_lens_close(lens);
	}
	plim_target_close(target);
	return code;
}

int plim_code_thread(plim_code *code, int32_t tid, uint64_t *frames,
		     size_t capacity, plim_stack *stack, plim_error *error)
{
	struct thread_look look;
	int failed;

	if (code == NULL || tid <= 0 || frames == NULL || capacity == 0 ||
	    stack == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "look at thread", NULL,
				  NULL);
	memset(&look, 0, sizeof look);
	look.code = code;
	look.tid = tid;
	look.frames = frames;
	look.capacity = capacity;
	failed = code->target != NULL
		     ? thread_look(&look, code->target, code->lens, error)
		     : thread_look_own(&look, error);
	if (failed == PLIM_OK)
		*stack = look.stack;
	return failed;
}
