/*
 * inside.c - the session thread's side of samples that a signal handler takes:
 * memory for slots, events that signal, what the slots hold. Where there are
 * no events, timers signal (inside_timers.c), or the session thread itself
 * (inside_ticks.c).
 *
 * An event counts the CPU time of one thread in user mode and sends SIGURG to
 * it each time a period is over: before the next instruction, so that no
 * system call is interrupted. Events are disabled before they are closed: a
 * forked child has descriptors of them, too, which would keep them going.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/inside.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INSIDE_SLOTS	   65536u
#define INSIDE_DESCRIPTORS ((size_t)1 << 20)
#define INSIDE_WORDS_LEAST ((size_t)8192)
#define INSIDE_WORDS_MOST  ((size_t)131072)
/* Of so long a ring holds what a busy thread gives, with 64 frames each. */
#define INSIDE_HELD_NS	UINT64_C(100000000)
#define INSIDE_SAMPLE	67u
#define INSIDE_QUIET_NS UINT64_C(5000000000)
#define INSIDE_NAP_NS	50000

static void *inside_map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void inside_unmap(void *memory, size_t size)
{
	if (memory != NULL)
		munmap(memory, size);
}

static size_t inside_slot_bytes(const struct plimp_inside *inside)
{
	return inside->word_count * sizeof(uint64_t) + PLIMP_INSIDE_COPY;
}

static void inside_release(struct plimp_sampler *sampler)
{
	struct plimp_inside *inside = sampler->inside;
	const plim_allocator *allocator = &sampler->host->allocator;
	size_t i;

	for (i = 0; i < inside->slot_count; i++)
		inside_unmap(inside->slots[i].words, inside_slot_bytes(inside));
	inside_unmap(inside->slots, inside->slot_limit * sizeof *inside->slots);
	inside_unmap((void *)(uintptr_t)inside->slot_of,
		     inside->descriptor_limit * sizeof *inside->slot_of);
	inside_unmap((void *)(uintptr_t)inside->slot_of_tid,
		     PLIMP_INSIDE_TIDS * sizeof *inside->slot_of_tid);
	plimp_call_close(sampler->host, inside->memory);
	plimp_release(allocator, inside, 1, sizeof *inside);
	sampler->inside = NULL;
}

static int inside_is_ours(void)
{
	struct sigaction now;

	return sigaction(PLIMP_INSIDE_SIGNAL, NULL, &now) == 0 &&
	       (now.sa_flags & SA_SIGINFO) != 0 &&
	       now.sa_sigaction == plimp_inside_handle;
}

static struct sigaction inside_action(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = plimp_inside_handle;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	/* All of them, the C library's own included, which sigfillset leaves
	 * out. */
	memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
	return action;
}

/* An action in the place of one that was there a moment ago: 1. The
 * application may have set its own meanwhile, which it gets back. */
static int inside_replace(const struct sigaction *old,
			  const struct sigaction *action)
{
	struct sigaction found;

	if (sigaction(PLIMP_INSIDE_SIGNAL, action, &found) != 0)
		return 0;
	if (found.sa_handler == old->sa_handler)
		return 1;
	sigaction(PLIMP_INSIDE_SIGNAL, &found, NULL);
	return 0;
}

/* The signal must be free: neither handled nor blocked by what is there. */
static int inside_install(struct plimp_inside *inside)
{
	const struct sigaction action = inside_action();
	struct sigaction now;

	if (sigaction(PLIMP_INSIDE_SIGNAL, NULL, &now) != 0)
		return errno;
	/* That of a parent's session, in a forked child, is nobody's. */
	if (inside_is_ours())
		now = (struct sigaction){.sa_handler = SIG_DFL};
	if ((now.sa_flags & SA_SIGINFO) != 0 ||
	    (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN))
		return EBUSY;
	if (sigaction(PLIMP_INSIDE_SIGNAL, &action, NULL) != 0)
		return errno;
	inside->before = now;
	inside->is_installed = 1;
	return 0;
}

static int inside_memory(struct plimp_sampler *sampler)
{
	struct plimp_inside *inside = sampler->inside;
	uint64_t words =
	    INSIDE_HELD_NS / sampler->options.period_ns * INSIDE_SAMPLE;
	struct rlimit limit;

	inside->word_count = INSIDE_WORDS_LEAST;
	while (inside->word_count < words &&
	       inside->word_count < INSIDE_WORDS_MOST)
		inside->word_count *= 2;
	inside->slot_limit = INSIDE_SLOTS;
	inside->descriptor_limit = 1024;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		inside->descriptor_limit = limit.rlim_cur < INSIDE_DESCRIPTORS
					       ? (size_t)limit.rlim_cur
					       : INSIDE_DESCRIPTORS;
	inside->slots = inside_map(inside->slot_limit * sizeof *inside->slots);
	inside->slot_of =
	    inside_map(inside->descriptor_limit * sizeof *inside->slot_of);
	if (inside->slots == NULL || inside->slot_of == NULL)
		return ENOMEM;
	/* Where it may not be opened, stacks that are not the thread's own are
	 * not walked, nor code without rules. */
	inside->memory = plimp_call_open(sampler->host, AT_FDCWD,
					 "/proc/self/mem", O_RDONLY);
	return 0;
}

/* --- events --------------------------------------------------------------- */

/* Bit 36 of the flags of struct perf_event_attr, Linux 5.13. */
static void inside_set_remove_on_exec(struct perf_event_attr *attr)
{
	uint64_t flags;
	const size_t at = offsetof(struct perf_event_attr, read_format) + 8;

	memcpy(&flags, (const char *)attr + at, sizeof flags);
	flags |= UINT64_C(1) << 36;
	memcpy((char *)attr + at, &flags, sizeof flags);
}

static int inside_open(struct plimp_sampler *sampler, int32_t tid)
{
	struct perf_event_attr attr;
	int descriptor;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = sampler->options.period_ns;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	inside_set_remove_on_exec(&attr);
	sampler->host->bill.system_calls++;
	descriptor = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
				  PERF_FLAG_FD_CLOEXEC);
	if (descriptor < 0 && (errno == EINVAL || errno == E2BIG)) {
		/* An older kernel: the descriptor goes with an exec. */
		memset((char *)&attr +
			   offsetof(struct perf_event_attr, read_format) + 12,
		       0, 4);
		sampler->host->bill.system_calls++;
		descriptor = (int)syscall(SYS_perf_event_open, &attr, tid, -1,
					  -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (descriptor < 0 && plimp_is_starved(errno))
		sampler->host->system->starved = errno;
	return descriptor;
}

static void inside_shut(struct plimp_sampler *sampler, int descriptor)
{
	struct plimp_inside *inside = sampler->inside;

	sampler->host->bill.system_calls++;
	ioctl(descriptor, PERF_EVENT_IOC_DISABLE, 0);
	atomic_store(&inside->slot_of[descriptor], 0);
	plimp_call_close(sampler->host, descriptor);
	sampler->event_count--;
}

/* Sends to the thread itself from now on: 0, or the error. */
static int inside_start(struct plimp_sampler *sampler, int descriptor,
			int32_t tid)
{
	const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid};
	int flags = fcntl(descriptor, F_GETFL);

	sampler->host->bill.system_calls += 5;
	/* A software event without a ring signals while it is refreshed: a
	 * number of times that no session reaches. */
	if (flags < 0 || fcntl(descriptor, F_SETOWN_EX, &owner) != 0 ||
	    fcntl(descriptor, F_SETSIG, PLIMP_INSIDE_SIGNAL) != 0 ||
	    fcntl(descriptor, F_SETFL, flags | O_ASYNC) != 0 ||
	    ioctl(descriptor, PERF_EVENT_IOC_REFRESH, INT_MAX) != 0)
		return errno;
	return 0;
}

/* Would one be opened, and do what is asked of it? Of ourselves: the thread
 * that samples blocks the signal or is about to close the event again. */
static int inside_try(struct plimp_sampler *sampler)
{
	int descriptor = inside_open(sampler, 0);

	if (descriptor < 0)
		return errno;
	plimp_call_close(sampler->host, descriptor);
	return 0;
}

int plimp_inside_begin(struct plimp_sampler *sampler, int way)
{
	struct plimp_inside *inside =
	    plimp_allocate(&sampler->host->allocator, 1, sizeof *inside);
	int problem;

	if (inside == NULL) {
		sampler->problem = PLIM_ENOMEM;
		return ENOMEM;
	}
	inside->memory = -1;
	inside->way = way;
	inside->walk = sampler->options.walk;
	inside->walk_user = sampler->options.walk_user;
	sampler->inside = inside;
	problem = inside_memory(sampler);
	if (problem == 0 && way == PLIMP_INSIDE_EVENTS)
		problem = inside_try(sampler);
	if (problem == 0)
		problem = inside_install(inside);
	if (problem != 0) {
		inside_release(sampler);
		return problem;
	}
	plimp_inside_publish(inside);
	return 0;
}

static void inside_nap(void)
{
	const struct timespec nap = {.tv_nsec = INSIDE_NAP_NS};

	nanosleep(&nap, NULL);
}

void plimp_inside_end(struct plimp_sampler *sampler)
{
	const struct sigaction ours = inside_action();
	struct plimp_inside *inside = sampler->inside;
	uint64_t end = plimp_system_monotonic() + INSIDE_QUIET_NS;

	if (inside == NULL)
		return;
	plimp_inside_publish(NULL);
	while (!plimp_inside_is_quiet() && plimp_system_monotonic() < end)
		inside_nap();
	/* A signal that is still to come is ignored by the default. */
	if (inside->is_installed && inside_is_ours())
		inside_replace(&ours, &inside->before);
	/* A handler that was entered and has not gone on for seconds may still
	 * use it: it is left to it. */
	if (plimp_inside_is_quiet())
		inside_release(sampler);
	sampler->inside = NULL;
}

/* --- threads -------------------------------------------------------------- */

uint64_t plimp_inside_cpu(struct plimp_sampler *sampler, int32_t tid)
{
	uint64_t ns = 0;

	return plimp_thread_clock(sampler->host, tid, &ns) == 0 ? ns : 0;
}

/* A slot with memory; its number + 1, or 0. */
static uint32_t inside_slot(struct plimp_inside *inside)
{
	struct plimp_inside_slot *slot;
	unsigned char *memory;

	/* Who went to a ring may still be in the handler that has it. */
	if (inside->free != 0 &&
	    atomic_load(&inside->slots[inside->free - 1].users) == 0) {
		uint32_t place = inside->free;

		inside->free = inside->slots[place - 1].next;
		return place;
	}
	if (inside->slot_count == inside->slot_limit)
		return 0;
	memory = inside_map(inside_slot_bytes(inside));
	if (memory == NULL)
		return 0;
	slot = inside->slots + inside->slot_count++;
	slot->words = (uint64_t *)(void *)memory;
	slot->copy = memory + inside->word_count * sizeof(uint64_t);
	return (uint32_t)inside->slot_count;
}

static void inside_give_back(struct plimp_inside *inside, uint32_t place)
{
	struct plimp_inside_slot *slot = inside->slots + (place - 1);

	atomic_store(&slot->tid, 0);
	slot->next = inside->free;
	inside->free = place;
}

static int inside_arm_event(struct plimp_sampler *sampler,
			    struct plimp_sampled *thread)
{
	struct plimp_inside *inside = sampler->inside;
	int descriptor;
	int problem;

	if (sampler->event_count >= sampler->event_limit)
		return EMFILE;
	descriptor = inside_open(sampler, thread->tid);
	if (descriptor < 0 || (size_t)descriptor >= inside->descriptor_limit) {
		problem = descriptor < 0 ? errno : EMFILE;
		plimp_call_close(sampler->host, descriptor);
		return problem;
	}
	sampler->event_count++;
	atomic_store(&inside->slot_of[descriptor], thread->slot);
	thread->signaller = descriptor;
	problem = inside_start(sampler, descriptor, thread->tid);
	if (problem != 0)
		inside_shut(sampler, descriptor);
	if (problem != 0)
		thread->signaller = -1;
	return problem;
}

static int inside_arm_tick(struct plimp_sampler *sampler,
			   struct plimp_sampled *thread)
{
	struct plimp_inside *inside = sampler->inside;
	size_t tid = (size_t)(uint32_t)thread->tid;

	if (tid >= PLIMP_INSIDE_TIDS)
		return EINVAL;
	if (inside->slot_of_tid == NULL)
		inside->slot_of_tid =
		    inside_map(PLIMP_INSIDE_TIDS * sizeof *inside->slot_of_tid);
	if (inside->slot_of_tid == NULL)
		return ENOMEM;
	thread->ticked_ns = thread->base_ns + thread->counted_ns;
	/* Of the classic way nobody has asked yet what it blocks. */
	thread->open_looks =
	    thread->way == PLIMP_INSIDE_SUSPENDS ? 0 : PLIMP_TICKS_OPEN;
	atomic_store(&inside->slot_of_tid[tid], thread->slot);
	return 0;
}

static int inside_may_tick(struct plimp_sampler *sampler)
{
	const plim_count *tick = &sampler->tiers.tick;

	return tick->state == PLIM_STATE_KNOWN ||
	       (tick->method == PLIM_REASON_BETTER_SOURCE &&
		plimp_ticks_begin(sampler));
}

/* By the session's way, or, where this thread cannot have that, the next. */
static int inside_arm_way(struct plimp_sampler *sampler,
			  struct plimp_sampled *thread)
{
	struct plimp_inside *inside = sampler->inside;
	int problem = EAGAIN;

	thread->way = inside->way;
	if (thread->way == PLIMP_INSIDE_SUSPENDS)
		return inside_arm_tick(sampler, thread);
	if (thread->way == PLIMP_INSIDE_EVENTS) {
		problem = inside_arm_event(sampler, thread);
		if (!plimp_is_starved(problem))
			return problem;
		thread->way = PLIMP_INSIDE_TIMERS;
	}
	if (thread->way == PLIMP_INSIDE_TIMERS) {
		if ((sampler->options.flags & PLIMP_SAMPLER_NO_TIMERS) == 0)
			problem = plimp_timer_start(sampler, thread);
		inside->by_timer += problem == 0;
		if (problem == 0 || plimp_is_gone(problem))
			return problem;
		thread->way = PLIMP_INSIDE_TICKS;
	}
	if (!inside_may_tick(sampler))
		return EACCES;
	problem = inside_arm_tick(sampler, thread);
	inside->by_tick += problem == 0;
	return problem;
}

int plimp_inside_arm(struct plimp_sampler *sampler,
		     struct plimp_sampled *thread)
{
	struct plimp_inside *inside = sampler->inside;
	struct plimp_inside_slot *slot;
	uint32_t place;
	int problem;

	if (inside->is_lost)
		return EBUSY;
	place = inside_slot(inside);
	if (place == 0)
		return ENOMEM;
	slot = inside->slots + (place - 1);
	atomic_store(&slot->high, 0);
	atomic_store(&slot->low, 0);
	atomic_store(&slot->strange_stack, 0);
	atomic_store(&slot->alternate, 0);
	atomic_store(&slot->asked, 0);
	atomic_store(&slot->tail, atomic_load(&slot->head));
	atomic_store(&slot->tid, thread->tid);
	thread->slot = place;
	/* What it used while nobody sampled it is no sample's. */
	thread->base_ns =
	    plimp_inside_cpu(sampler, thread->tid) - thread->counted_ns;
	problem = inside_arm_way(sampler, thread);
	if (problem != 0)
		plimp_inside_disarm(sampler, thread);
	return problem;
}

void plimp_inside_disarm(struct plimp_sampler *sampler,
			 struct plimp_sampled *thread)
{
	if (thread->slot == 0)
		return;
	if (thread->signaller >= 0)
		inside_shut(sampler, thread->signaller);
	thread->signaller = -1;
	plimp_timer_stop(sampler, thread);
	if (sampler->inside != NULL && thread->way >= PLIMP_INSIDE_TICKS &&
	    sampler->inside->slot_of_tid != NULL)
		atomic_store(&sampler->inside->slot_of_tid[thread->tid], 0);
	if (sampler->inside != NULL)
		inside_give_back(sampler->inside, thread->slot);
	thread->slot = 0;
}

void plimp_inside_base(struct plimp_sampler *sampler)
{
	size_t i;

	for (i = 0; i < sampler->thread_count; i++) {
		struct plimp_sampled *thread = sampler->threads[i];

		if (thread->slot == 0)
			continue;
		/* Periods begin here, too. */
		plimp_timer_set(sampler, thread, sampler->options.period_ns);
		thread->base_ns = plimp_inside_cpu(sampler, thread->tid);
		thread->ticked_ns = thread->base_ns;
	}
}

void plimp_inside_halt(struct plimp_sampler *sampler)
{
	size_t i;

	for (i = 0; i < sampler->thread_count; i++) {
		plimp_timer_set(sampler, sampler->threads[i], 0);
		if (sampler->threads[i]->signaller < 0)
			continue;
		sampler->host->bill.system_calls++;
		ioctl(sampler->threads[i]->signaller, PERF_EVENT_IOC_DISABLE,
		      0);
	}
}

void plimp_inside_period(struct plimp_sampler *sampler)
{
	uint64_t period = sampler->options.period_ns;
	size_t i;

	for (i = 0; i < sampler->thread_count; i++) {
		plimp_timer_set(sampler, sampler->threads[i], period);
		if (sampler->threads[i]->signaller < 0)
			continue;
		sampler->host->bill.system_calls++;
		ioctl(sampler->threads[i]->signaller, PERF_EVENT_IOC_PERIOD,
		      &period);
	}
}

/* What the tiers say when the signal is not ours any more. */
static void inside_lost(struct plimp_sampler *sampler)
{
	static const char *const remedy = "leave SIGURG alone while it samples";
	const plim_count taken =
	    plim_count_missing(PLIM_REASON_SIGNAL_TAKEN, 0);

	if (sampler->inside->way == PLIMP_INSIDE_SUSPENDS) {
		sampler->tiers.suspend = taken;
		return;
	}
	if (sampler->inside->way == PLIMP_INSIDE_EVENTS) {
		sampler->tiers.signal = taken;
		sampler->tiers.signal_remedy = remedy;
	}
	sampler->tiers.timer = taken;
	sampler->tiers.timer_remedy = remedy;
	sampler->tiers.tick = taken;
	sampler->tiers.tick_remedy = remedy;
}

int plimp_inside_masks(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread,
		       struct plimp_signal_masks *masks)
{
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, thread->pid);
	plim_bytes text;
	int problem;

	if (process == NULL || process->lens == NULL)
		return ESRCH;
	problem = plimp_sampled_read(sampler, process, thread, &thread->status,
				     "status", &text);
	if (problem != 0)
		return problem;
	return plimp_decode_signals(text, masks) == PLIM_OK ? 0 : EBADMSG;
}

/*
 * What is ignored is thrown away where it waits (do_sigaction() in
 * kernel/signal.c), for every thread: those that were asked are asked again.
 * One for the whole process is the application's, and nothing is done.
 */
void plimp_inside_unqueue(struct plimp_sampler *sampler,
			  struct plimp_sampled *thread)
{
	const uint64_t bit = UINT64_C(1) << (PLIMP_INSIDE_SIGNAL - 1);
	const struct sigaction ignored = {.sa_handler = SIG_IGN};
	const struct sigaction ours = inside_action();
	struct plimp_inside *inside = sampler->inside;
	struct plimp_signal_masks masks;
	size_t i;

	if (plimp_inside_masks(sampler, thread, &masks) != 0 ||
	    (masks.blocked & masks.pending & bit) == 0 ||
	    (masks.shared & bit) != 0 || !inside_is_ours())
		return;
	sampler->host->bill.system_calls += 2;
	if (inside_replace(&ours, &ignored))
		inside_replace(&ignored, &ours);
	for (i = 0; i < inside->slot_count; i++)
		atomic_store(&inside->slots[i].asked, 0);
	/* Before 6.13 a timer whose signal was thrown away fires no more until
	 * it is set. */
	for (i = 0; i < sampler->thread_count; i++)
		plimp_timer_set(sampler, sampler->threads[i],
				sampler->options.period_ns);
}

void plimp_inside_check(struct plimp_sampler *sampler)
{
	struct plimp_inside *inside = sampler->inside;
	size_t i;

	if (inside == NULL || inside->is_lost)
		return;
	sampler->host->bill.system_calls++;
	if (inside_is_ours())
		return;
	inside->is_lost = 1;
	for (i = 0; i < sampler->thread_count; i++) {
		struct plimp_sampled *thread = sampler->threads[i];

		/* Who has a ring keeps it. */
		if (thread->events == NULL)
			plimp_signals_to_ring(sampler, thread);
	}
	inside_lost(sampler);
}

/* --- what was sampled ----------------------------------------------------- */

static void inside_bill(struct plimp_sampler *sampler,
			const struct plimp_sampled *thread,
			struct plimp_inside_slot *slot)
{
	struct plimp_sampler_bill *bill = &sampler->bill;
	uint64_t longest = atomic_exchange(&slot->longest_ns, 0);
	uint64_t taken = atomic_exchange(&slot->taken, 0);
	uint64_t overruns = atomic_exchange(&slot->overruns, 0);

	bill->stops += taken;
	/* The session thread counts its own as it sends them. */
	if (thread->way < PLIMP_INSIDE_TICKS)
		bill->signals_sent += taken;
	if (sampler->start_ns != 0)
		bill->overruns += overruns;
	bill->calls_disturbed += atomic_exchange(&slot->disturbed, 0);
	bill->stop_sum_ns += atomic_exchange(&slot->inside_ns, 0);
	if (longest > bill->stop_longest_ns)
		bill->stop_longest_ns = longest;
}

static int inside_is_silent(const struct plimp_sampler *sampler)
{
	return sampler->callback == NULL || sampler->start_ns == 0;
}

static void inside_hand_out(struct plimp_sampler *sampler,
			    struct plimp_sampled *thread, const uint64_t *words,
			    size_t count)
{
	uint64_t cpu = words[PLIMP_INSIDE_CPU];
	struct plimp_capture capture = {
	    .kind = PLIMP_CAPTURE_RUNNING,
	    .pid = thread->pid,
	    .tid = thread->tid,
	    .start_ticks = thread->start_ticks,
	    .time_ns = words[PLIMP_INSIDE_TIME],
	    .state = PLIMP_THREAD_RUNNING,
	    .sees_kernel = thread->way != PLIMP_INSIDE_EVENTS,
	    .has_cpu = 1,
	    .cpu_ns = cpu > thread->base_ns ? cpu - thread->base_ns : 0,
	    .frames = words + PLIMP_INSIDE_HEAD,
	    .frame_count = count,
	    .frames_end = (int)(words[PLIMP_INSIDE_COUNT] >> 32),
	};

	if (inside_is_silent(sampler) || capture.time_ns < sampler->start_ns)
		return;
	plimp_sampled_tell(sampler, thread, capture.time_ns);
	thread->counted_ns = capture.cpu_ns;
	sampler->bill.samples++;
	sampler->callback(sampler->user, &capture);
}

static void inside_dropped(struct plimp_sampler *sampler,
			   struct plimp_inside_slot *slot)
{
	uint64_t dropped = atomic_exchange(&slot->dropped, 0);
	struct plimp_capture capture = {.kind = PLIMP_CAPTURE_LOST,
					.time_ns = plimp_system_monotonic(),
					.count = dropped};

	if (dropped == 0 || inside_is_silent(sampler))
		return;
	sampler->bill.lost += dropped;
	sampler->callback(sampler->user, &capture);
}

void plimp_inside_take(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread)
{
	struct plimp_inside *inside = sampler->inside;
	struct plimp_inside_slot *slot;
	uint64_t tail;
	uint64_t head;

	if (inside == NULL || thread->slot == 0)
		return;
	slot = inside->slots + (thread->slot - 1);
	tail = atomic_load(&slot->tail);
	head = atomic_load(&slot->head);
	if (head == tail && atomic_load(&slot->dropped) == 0 &&
	    atomic_load(&slot->taken) == 0)
		return;
	while (tail != head) {
		size_t place = (size_t)(tail & (inside->word_count - 1));
		const uint64_t *words = slot->words + place;
		uint64_t count = words[PLIMP_INSIDE_COUNT] & 0xffffffff;

		if (words[0] == PLIMP_INSIDE_PAD) {
			tail += inside->word_count - place;
			continue;
		}
		assert(count <= PLIMP_INSIDE_DEPTH &&
		       PLIMP_INSIDE_HEAD + count <= head - tail);
		inside_hand_out(sampler, thread, words, (size_t)count);
		tail += PLIMP_INSIDE_HEAD + count;
		atomic_store(&slot->tail, tail);
	}
	inside_dropped(sampler, slot);
	inside_bill(sampler, thread, slot);
	if (atomic_load(&slot->strange_stack) != 0)
		inside->strange = 1;
}

/* The mapping that a thread was found on is its own stack if it is the first
 * thread's, or if the C library has put the thread's own data at its top. 0: it
 * is another one, whose size and life nobody knows. */
static int inside_stack(struct plimp_inside_slot *slot, int is_first,
			const struct plimp_space *space)
{
	uint64_t stack = atomic_exchange(&slot->strange_stack, 0);
	uint64_t pointer = atomic_load(&slot->strange_thread);
	const struct plimp_mapping *mapping = plimp_space_find(space, stack);
	uint64_t high = atomic_load(&slot->high);
	plim_bytes name;

	if (stack == 0)
		return 1;
	if (mapping == NULL)
		return 0;
	name = plimp_space_name(space, mapping);
	if (is_first && name.size == 7 && memcmp(name.data, "[stack]", 7) == 0)
		pointer = mapping->end;
	else if (pointer <= stack || pointer > mapping->end)
		return 0;
	if (high != 0 && high != (pointer & ~UINT64_C(7)))
		return 0;
	atomic_store(&slot->low, mapping->start);
	atomic_store(&slot->high, pointer & ~UINT64_C(7));
	return 1;
}

/* Who asked what his stack is; the maps are read once for all of them. */
static void inside_stacks(struct plimp_sampler *sampler)
{
	struct plimp_inside *inside = sampler->inside;
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, sampler->pid);
	struct plimp_space space = {0};
	size_t i;
	int code;

	inside->strange = 0;
	if (process == NULL || process->lens == NULL)
		return;
	code = plimp_system_lens_maps(process->lens, &space, NULL);
	if (code == PLIM_ENOMEM)
		sampler->problem = code;
	if (code != PLIM_OK)
		return;
	for (i = 0; i < sampler->thread_count; i++) {
		struct plimp_sampled *thread = sampler->threads[i];

		if (thread->slot == 0 ||
		    inside_stack(inside->slots + (thread->slot - 1),
				 thread->tid == thread->pid, &space))
			continue;
		thread->is_unfit = 1;
		plimp_signals_to_ring(sampler, thread);
	}
	plimp_space_release(sampler->host, &space);
}

int plimp_inside_is_crowded(const struct plimp_sampler *sampler,
			    const struct plimp_sampled *thread)
{
	struct plimp_inside_slot *slot =
	    sampler->inside->slots + (thread->slot - 1);

	return atomic_load(&slot->alternate) != 0;
}

void plimp_inside_drain(struct plimp_sampler *sampler)
{
	size_t i;

	if (sampler->inside == NULL)
		return;
	for (i = 0; i < sampler->thread_count; i++) {
		struct plimp_sampled *thread = sampler->threads[i];

		plimp_inside_take(sampler, thread);
		/* A signal must not find it there. */
		if (thread->slot == 0 ||
		    !plimp_inside_is_crowded(sampler, thread))
			continue;
		thread->is_unfit = 1;
		plimp_signals_to_ring(sampler, thread);
	}
	if (sampler->inside->strange)
		inside_stacks(sampler);
}

uint64_t plimp_inside_written(const struct plimp_sampler *sampler,
			      const struct plimp_sampled *thread)
{
	return atomic_load(&sampler->inside->slots[thread->slot - 1].head);
}
