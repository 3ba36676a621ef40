/*
 * idle.c - plim_idle: its making, its options, and the steps that both halves
 * of an observation share.
 *
 * The states of a target are looked at in one place: it lives, it has ended
 * (a zombie has), or its number has another owner. Between two looks the
 * observer sleeps, once; where the host has a descriptor for the end of the
 * target, that ends the sleep, and no time is spent on one that is no more.
 */
#include "observe/idle.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/bill.h"

#include <assert.h>
#include <string.h>

#define IDLE_WINDOW_NS	    UINT64_C(10000000000)
#define IDLE_QUIET_PERCENT  2.0
#define IDLE_QUIET_FOR_NS   UINT64_C(5000000000)
#define IDLE_QUIET_LIMIT_NS UINT64_C(120000000000)
#define IDLE_STEP_NS	    UINT64_C(250000000)
/* Longer than anything lives: so that a time and a duration can be added. */
#define IDLE_MOST_NS (UINT64_C(1) << 62)

plim_field_set plim_idle_fields(void)
{
	static const int more[] = {PLIM_FIELD_DISK_BLOCKS, PLIM_FIELD_DISK_OPS,
				   PLIM_FIELD_DESCRIPTORS, PLIM_FIELD_RUNQUEUE};
	plim_field_set set = plim_field_set_preset(PLIM_FIELDS_FULL);
	size_t i;

	for (i = 0; i < sizeof more / sizeof more[0]; i++)
		plim_field_set_add(&set, more[i]);
	return set;
}

int plim_idle_new(plim_idle **idle, plim_host *host, plim_error *error)
{
	plim_idle *made;
	plim_count pid;
	int code;

	if (idle == NULL || host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new observation",
				  NULL, NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new observation",
				  NULL, NULL);
	made->host = host;
	pid = plim_host_count(host, PLIM_HOST_OWN_PID);
	if (pid.state == PLIM_STATE_KNOWN)
		made->own_pid = (int32_t)pid.value;
	code = plim_usage_new(&made->usage, host, error);
	if (code == PLIM_OK)
		code = plim_watch_new(&made->watch, host, error);
	if (code == PLIM_OK)
		code = plim_tree_new(&made->tree, host, error);
	if (code == PLIM_OK)
		code = plim_threads_new(&made->threads, host, error);
	if (code != PLIM_OK) {
		plim_idle_free(made);
		return code;
	}
	*idle = made;
	return PLIM_OK;
}

void plim_idle_free(plim_idle *idle)
{
	const plim_allocator *allocator;

	if (idle == NULL)
		return;
	allocator = &idle->host->allocator;
	plimp_idle_members_clear(idle);
	plimp_release(allocator, idle->members.items, idle->members.capacity,
		      sizeof *idle->members.items);
	plimp_release(allocator, idle->wakers, idle->waker_capacity,
		      sizeof *idle->wakers);
	plimp_release(allocator, idle->first.threads, idle->first.capacity,
		      sizeof *idle->first.threads);
	plimp_release(allocator, idle->last.threads, idle->last.capacity,
		      sizeof *idle->last.threads);
	plim_usage_free(idle->usage);
	plim_watch_free(idle->watch);
	plim_tree_free(idle->tree);
	plim_threads_free(idle->threads);
	plimp_release(allocator, idle, 1, sizeof *idle);
}

static void idle_default(uint64_t *value, uint64_t otherwise)
{
	if (*value == 0)
		*value = otherwise;
}

static void idle_bound(plim_idle_options *options)
{
	uint64_t *const durations[] = {
	    &options->window_ns,    &options->longest_period_ns,
	    &options->quiet_for_ns, &options->quiet_limit_ns,
	    &options->step_ns,	    &options->sample_ns};
	size_t i;

	for (i = 0; i < sizeof durations / sizeof durations[0]; i++)
		if (*durations[i] > IDLE_MOST_NS)
			*durations[i] = IDLE_MOST_NS;
}

static int idle_options(plim_idle *idle, const plim_idle_options *given,
			plim_error *error)
{
	plim_idle_options options = {0};

	if (given != NULL && given->size < sizeof given->size)
		return plimp_fail(error, PLIM_EINVAL, 0, "observe",
				  "options.size",
				  "set it to sizeof(plim_idle_options)");
	if (given != NULL)
		memcpy(&options, given,
		       given->size < sizeof options ? given->size
						    : sizeof options);
	idle_default(&options.window_ns, IDLE_WINDOW_NS);
	idle_default(&options.quiet_for_ns, IDLE_QUIET_FOR_NS);
	idle_default(&options.quiet_limit_ns, IDLE_QUIET_LIMIT_NS);
	idle_default(&options.step_ns, IDLE_STEP_NS);
	idle_bound(&options);
	/* A threshold that is no number would never be undercut. */
	if (options.quiet_cpu_percent != options.quiet_cpu_percent)
		return plimp_fail(error, PLIM_EINVAL, 0, "observe",
				  "options.quiet_cpu_percent", NULL);
	if (options.quiet_cpu_percent == 0)
		options.quiet_cpu_percent = IDLE_QUIET_PERCENT;
	idle->fields =
	    options.fields != NULL ? *options.fields : plim_idle_fields();
	options.fields = &idle->fields;
	idle->options = options;
	return PLIM_OK;
}

/* Whoever is asked for by his own number is ourselves, but for a tree, which
 * is read as that of any other. */
static int idle_is_own_pid(const plim_idle *idle, const plim_target *target)
{
	return idle->own_pid != 0 && target->identity.pid == idle->own_pid;
}

int plimp_idle_is_self(const plim_idle *idle)
{
	return idle->target == NULL || idle_is_own_pid(idle, idle->target);
}

/* The bill of this call: calls and bytes as they were counted, CPU time of
 * all of it; the others are those of what was read. */
struct idle_mark {
	struct plimp_bill bill;
	plim_count cpu;
};

static void idle_bill(plim_idle *idle, const struct idle_mark *mark)
{
	plim_host *host = idle->host;

	idle->cost.cpu_ns =
	    plim_counter_change(mark->cpu, plimp_system_thread_cpu(host));
	idle->cost.system_calls =
	    host->bill.system_calls - mark->bill.system_calls;
	idle->cost.bytes_read = host->bill.bytes_read - mark->bill.bytes_read;
}

static void idle_forget(plim_idle *idle)
{
	memset(&idle->facts, 0, sizeof idle->facts);
	idle->facts.busiest_step = plim_real_missing(PLIM_REASON_NONE, 0);
}

/* What changed before was none of ours: it is looked at, and not told. */
static void idle_look_first(plim_idle *idle)
{
	plim_check check;

	if (idle->target != NULL)
		plim_target_check(idle->target, &check, NULL);
}

static int idle_begin(plim_idle *idle, plim_target *target,
		      const plim_idle_options *given, plim_error *error)
{
	plim_identity identity = {0};
	int code;

	if (idle == NULL || (target != NULL && target->host != idle->host))
		return plimp_fail(error, PLIM_EINVAL, 0, "observe", NULL, NULL);
	code = idle_options(idle, given, error);
	if (code != PLIM_OK)
		return code;
	if (target == NULL && idle->options.tree)
		return plimp_fail(error, PLIM_EINVAL, 0, "observe",
				  "options.tree",
				  "open a target for a tree of one's own");
	if (target != NULL && !idle->options.tree &&
	    idle_is_own_pid(idle, target))
		target = NULL;
	if (target != NULL)
		identity = target->identity;
	/* What was found out of another is not told of this one. */
	if (memcmp(&identity, &idle->identity, sizeof identity) != 0)
		idle_forget(idle);
	idle->target = target;
	idle->identity = identity;
	memset(&idle->cost, 0, sizeof idle->cost);
	idle->cost.wall_ns = plim_count_known(0, PLIM_METHOD_SYSTEM);
	idle_look_first(idle);
	return PLIM_OK;
}

/* What the two halves are given and give. */
typedef int idle_half_fn(plim_idle *idle, plim_error *error);

static int idle_first_half(plim_idle *idle, plim_error *error)
{
	idle_forget(idle);
	return plimp_idle_await(idle, error);
}

/* What ended or stopped the first half is no matter of a window that is asked
 * for by itself. */
static int idle_second_half(plim_idle *idle, plim_error *error)
{
	idle->facts.stopped = 0;
	idle->facts.ended = 0;
	return plimp_idle_watch_window(idle, error);
}

static int idle_both(plim_idle *idle, plim_error *error)
{
	int code = idle_first_half(idle, error);

	return code == PLIM_OK ? plimp_idle_watch_window(idle, error) : code;
}

static int idle_run(plim_idle *idle, plim_target *target,
		    const plim_idle_options *options, idle_half_fn *half,
		    plim_error *error)
{
	struct idle_mark mark;
	int code = idle_begin(idle, target, options, error);

	if (code != PLIM_OK)
		return code;
	mark.bill = idle->host->bill;
	mark.cpu = plimp_system_thread_cpu(idle->host);
	code = half(idle, error);
	idle_bill(idle, &mark);
	idle->target = NULL;
	return code;
}

int plim_idle_observe(plim_idle *idle, plim_target *target,
		      const plim_idle_options *options, plim_error *error)
{
	return idle_run(idle, target, options, idle_both, error);
}

int plim_idle_await_quiet(plim_idle *idle, plim_target *target,
			  const plim_idle_options *options, plim_error *error)
{
	return idle_run(idle, target, options, idle_first_half, error);
}

int plim_idle_window(plim_idle *idle, plim_target *target,
		     const plim_idle_options *options, plim_error *error)
{
	return idle_run(idle, target, options, idle_second_half, error);
}

static void idle_note_end(plim_idle *idle, int phase)
{
	plim_check check;

	if (idle->facts.ended == 0)
		idle->facts.ended = phase;
	if (plim_target_check(idle->target, &check, NULL) == PLIM_OK &&
	    check.fate == PLIM_FATE_REPLACED)
		idle->facts.replaced = 1;
}

int plimp_idle_has_ended(plim_idle *idle, int phase)
{
	plim_check check;
	int code;

	if (idle->target == NULL || plimp_idle_is_self(idle))
		return 0;
	code = plim_target_wait(idle->target, 0, NULL);
	if (code == PLIM_ETIMEOUT)
		return 0;
	if (code != PLIM_OK &&
	    (plim_target_check(idle->target, &check, NULL) != PLIM_OK ||
	     (check.fate != PLIM_FATE_GONE &&
	      check.fate != PLIM_FATE_REPLACED && !check.zombie)))
		return 0;
	idle_note_end(idle, phase);
	return 1;
}

int plimp_idle_is_end(plim_idle *idle, int code, int phase)
{
	if (code != PLIM_ENOPROCESS && code != PLIM_EREPLACED)
		return 0;
	idle_note_end(idle, phase);
	return 1;
}

void plimp_idle_look(plim_idle *idle, int phase)
{
	plim_check check;

	if (idle->target == NULL ||
	    plim_target_check(idle->target, &check, NULL) != PLIM_OK)
		return;
	if ((check.changes & PLIM_CHANGE_IMAGE) != 0 &&
	    idle->facts.image_changed == 0)
		idle->facts.image_changed = phase;
	idle->facts.name_changed |= (check.changes & PLIM_CHANGE_NAME) != 0;
}

static int idle_sleep_once(plim_idle *idle, uint64_t ns)
{
	int descriptor = -1;

	if (idle->target != NULL && !plimp_idle_is_self(idle))
		descriptor = plim_target_poll_descriptor(idle->target);
	if (idle->options.sleep != NULL)
		return idle->options.sleep(ns, descriptor, idle->options.user);
	plimp_system_sleep(idle->host, ns, descriptor);
	return 0;
}

int plimp_idle_sleep(plim_idle *idle, uint64_t until_ns, int phase)
{
	uint64_t now = plimp_system_monotonic();

	while (now < until_ns) {
		if (idle_sleep_once(idle, until_ns - now) != 0) {
			idle->facts.stopped = phase;
			return 1;
		}
		if (plimp_idle_has_ended(idle, phase))
			return 1;
		now = plimp_system_monotonic();
	}
	return 0;
}

plim_idle_facts plim_idle_about(const plim_idle *idle)
{
	assert(idle != NULL);
	return idle->facts;
}

plim_cost plim_idle_cost(const plim_idle *idle)
{
	assert(idle != NULL);
	return idle->cost;
}
