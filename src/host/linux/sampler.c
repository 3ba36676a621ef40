/*
 * sampler.c - a sampler as a whole: opening, adopting, starting, waiting.
 *
 * Opening arms the threads of the first process with events that count at
 * once, so that births and ends are told from then on; what was sampled before
 * the start is thrown away when it is drained. Waiting is one epoll set: the
 * rings, the end of the target, a timer of absolute time (which has no slack),
 * and an eventfd for whoever stops it, who may be a signal handler.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/inside.h"
#include "host/linux/inside.h"
#include "host/linux/sampler.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SAMPLER_RECORD	      65536u
#define SAMPLER_PERIOD_LEAST  10000u
#define SAMPLER_WAKES	      8
#define SAMPLER_LET_GO_NS     UINT64_C(2000000000)
#define SAMPLER_OWED_SLICE_NS UINT64_C(1000000)

static int sampler_fail(int code, int problem, plim_error *error)
{
	return plimp_fail(error, code, problem, "profile", NULL, NULL);
}

static int sampler_watch(struct plimp_sampler *sampler, int descriptor,
			 uint64_t wake)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = wake};

	sampler->host->bill.system_calls++;
	return epoll_ctl(sampler->poll, EPOLL_CTL_ADD, descriptor, &event) == 0
		   ? 0
		   : errno;
}

/* Two readings of a clock of CPU time differ where it counts each nanosecond,
 * and are mostly the same where it counts ticks. */
static int sampler_has_clocks(plim_host *host)
{
	plim_count first = plimp_system_thread_cpu(host);
	plim_count second = plimp_system_thread_cpu(host);

	return second.state == PLIM_STATE_KNOWN && second.value > first.value;
}

/* What it waits for, but for the rings: 0, or the error. */
static int sampler_waits(struct plimp_sampler *sampler, int pidfd)
{
	int problem;

	sampler->host->bill.system_calls += 3;
	sampler->poll = epoll_create1(EPOLL_CLOEXEC);
	sampler->timer =
	    timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	sampler->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (sampler->poll < 0 || sampler->timer < 0 || sampler->stop < 0)
		return errno;
	problem = sampler_watch(sampler, sampler->timer, PLIMP_WAKE_TIME);
	if (problem == 0)
		problem =
		    sampler_watch(sampler, sampler->stop, PLIMP_WAKE_STOP);
	if (problem == 0 && pidfd >= 0)
		problem = sampler_watch(sampler, pidfd, PLIMP_WAKE_ENDED);
	return problem;
}

static int sampler_machine(struct plimp_sampler *sampler)
{
	const char *machine = sampler->host->machine;

	if (strcmp(machine, "x86_64") == 0)
		sampler->layout.machine = PLIMP_MACHINE_X86;
	else if (strcmp(machine, "aarch64") == 0)
		sampler->layout.machine = PLIMP_MACHINE_ARM;
	else
		return PLIM_EUNSUPPORTED;
	return PLIM_OK;
}

static void sampler_sort(int32_t *items, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++) {
		int32_t moved = items[i];
		size_t at = i;

		for (; at > 0 && items[at - 1] > moved; at--)
			items[at] = items[at - 1];
		items[at] = moved;
	}
}

static int sampler_options(struct plimp_sampler *sampler,
			   const struct plimp_sampler_options *options)
{
	sampler->options = *options;
	sampler->options.tids = NULL;
	sampler->stack_bytes = options->stack_bytes != 0
				   ? options->stack_bytes & ~7u
				   : PLIMP_STACK_USUAL;
	if (sampler->stack_bytes > PLIMP_STACK_MOST)
		sampler->stack_bytes = PLIMP_STACK_MOST;
	if (sampler->stack_bytes < 1024)
		sampler->stack_bytes = 1024;
	if (options->tid_count == 0)
		return PLIM_OK;
	sampler->tids =
	    plimp_allocate(&sampler->host->allocator, options->tid_count,
			   sizeof *sampler->tids);
	if (sampler->tids == NULL) {
		sampler->options.tid_count = 0;
		return PLIM_ENOMEM;
	}
	memcpy(sampler->tids, options->tids,
	       options->tid_count * sizeof *sampler->tids);
	sampler_sort(sampler->tids, options->tid_count);
	return PLIM_OK;
}

static void sampler_let_go(struct plimp_sampler *sampler,
			   struct plimp_sampled_process *process)
{
	plimp_call_close(sampler->host, process->task);
	process->task = -1;
	process->lens = NULL;
	process->target = NULL;
	if (sampler->copy.process == process)
		sampler->copy.process = NULL;
}

/* Whether the files of sleepers may be read: asked once, of whoever answers. */
static void sampler_ask(struct plimp_sampler *sampler,
			struct plimp_sampled_process *process)
{
	int problem = ENOENT;
	size_t i;

	if ((sampler->options.flags & PLIMP_SAMPLER_NO_SLEEPERS) != 0 ||
	    plimp_suspends(sampler))
		return;
	for (i = 0; i < sampler->thread_count; i++) {
		struct plimp_sampled *thread = sampler->threads[i];
		plim_bytes text;

		if (thread->pid != process->pid)
			continue;
		problem =
		    plimp_sampled_read(sampler, process, thread,
				       &thread->call_file, "syscall", &text);
		if (!plimp_is_gone(problem) || problem == ENOENT)
			break;
	}
	if (problem == 0 && process->pid == sampler->pid)
		sampler->tiers.no_stop =
		    plimp_known(1, PLIM_METHOD_BLOCKED_THREADS);
	else if (problem == EACCES || problem == EPERM ||
		 (problem == ENOENT && i < sampler->thread_count))
		plimp_sampled_denied(sampler, process, problem);
}

/* The place of one that was abandoned, or one more; NULL without memory. Every
 * sample looks for its process among them all. */
static struct plimp_sampled_process *
sampler_place(struct plimp_sampler *sampler)
{
	struct plimp_sampled_process *process;
	void *processes = sampler->processes;
	size_t at = 0;

	while (at < sampler->process_count &&
	       sampler->processes[at].target != NULL)
		at++;
	if (at == sampler->process_count) {
		if (plimp_reserve(&sampler->host->allocator, &processes,
				  &sampler->process_capacity, at + 1, 8,
				  sizeof *process) != PLIM_OK)
			return NULL;
		sampler->copy.process = NULL; /* they may have moved */
		sampler->processes = processes;
		sampler->process_count++;
	}
	process = &sampler->processes[at];
	memset(process, 0, sizeof *process);
	process->task = -1;
	return process;
}

static int sampler_adopt(struct plimp_sampler *sampler, plim_target *target,
			 struct plimp_lens *lens,
			 struct plimp_sampled_process **adopted)
{
	int32_t pid = target->identity.pid;
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, pid);

	if (process == NULL) {
		process = sampler_place(sampler);
		if (process == NULL)
			return ENOMEM;
		process->pid = pid;
	}
	sampler_let_go(sampler, process);
	process->task = plimp_call_open(sampler->host, target->grip->directory,
					"task", O_RDONLY | O_DIRECTORY);
	if (process->task < 0)
		return errno;
	process->target = target;
	process->lens = lens;
	process->denied = 0;
	process->is_pending = 1;
	plimp_system_lens_reader(lens, &process->reader);
	*adopted = process;
	return 0;
}

int plimp_system_sampler_adopt(struct plimp_sampler *sampler,
			       plim_target *target, struct plimp_lens *lens,
			       plim_error *error)
{
	struct plimp_sampled_process *process = NULL;
	int problem;

	assert(target != NULL && lens != NULL);
	sampler->callback = NULL;
	problem = sampler_adopt(sampler, target, lens, &process);
	if (problem == ENOMEM)
		return sampler_fail(PLIM_ENOMEM, 0, error);
	if (problem != 0)
		return plimp_lens_fail(lens, problem, "task", error);
	/* After the start, the next tick arms what is new. */
	if (sampler->start_ns == 0)
		problem = plimp_sampled_cover(sampler, process, error);
	if (problem == PLIM_OK)
		sampler_ask(sampler, process);
	return problem;
}

void plimp_system_sampler_abandon(struct plimp_sampler *sampler, int32_t pid)
{
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, pid);

	if (process != NULL)
		sampler_let_go(sampler, process);
}

/* How many are to be sampled; 0 where that cannot be told. */
static size_t sampler_threads(struct plimp_sampler *sampler,
			      const plim_target *target)
{
	struct stat status;

	if (sampler->options.tid_count > 0)
		return sampler->options.tid_count;
	/* The links of the folder: its own two, and one of each thread. */
	if (plimp_call_stat(sampler->host, target->grip->directory, "task",
			    &status, 0) != 0 ||
	    status.st_nlink < 2)
		return 0;
	return (size_t)status.st_nlink - 2;
}

static int sampler_make(struct plimp_sampler *made, plim_target *target,
			struct plimp_lens *lens,
			const struct plimp_sampler_options *options,
			plim_error *error)
{
	int problem;
	int code;

	if (sampler_options(made, options) != PLIM_OK ||
	    plimp_copy_open(&made->copy, made) != PLIM_OK)
		return sampler_fail(PLIM_ENOMEM, 0, error);
	made->record =
	    plimp_allocate(&made->host->allocator, SAMPLER_RECORD, 1);
	if (made->record == NULL)
		return sampler_fail(PLIM_ENOMEM, 0, error);
	problem = sampler_waits(made, target->grip->pidfd);
	if (problem != 0)
		return sampler_fail(PLIM_ESYSTEM, problem, error);
	code = plimp_sources_begin(made, sampler_threads(made, target), error);
	if (code == PLIM_OK)
		code = plimp_system_sampler_adopt(made, target, lens, error);
	if (code == PLIM_OK)
		plimp_stops_begin(made);
	return code;
}

int plimp_system_sampler_open(struct plimp_sampler **sampler, plim_host *host,
			      plim_target *target, struct plimp_lens *lens,
			      const struct plimp_sampler_options *options,
			      plim_error *error)
{
	struct plimp_sampler *made;
	int code;

	if (target == NULL || lens == NULL ||
	    options->period_ns < SAMPLER_PERIOD_LEAST ||
	    options->tid_count > PLIMP_SAMPLER_TIDS_MOST)
		return sampler_fail(PLIM_EINVAL, 0, error);
	if (!host->system->live)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "profile",
				  host->proc_root,
				  "this proc root does not show us");
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return sampler_fail(PLIM_ENOMEM, 0, error);
	made->host = host;
	made->poll = -1;
	made->timer = -1;
	made->stop = -1;
	made->pid = target->identity.pid;
	made->tiers.perf_remedy = "";
	made->tiers.ptrace_remedy = "";
	made->tiers.no_stop_remedy = "";
	made->tiers.signal_remedy = "";
	made->tiers.timer_remedy = "";
	made->tiers.tick_remedy = "";
	made->tiers.suspend = plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	made->tiers.timer = plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	made->tiers.tick = plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	made->tiers.preload_remedy = "";
	made->tiers.preload = plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	made->tiers.signal = plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	made->tiers.no_stop = plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	made->tiers.ptrace = plim_count_missing(PLIM_REASON_NOT_STOPPED, 0);
	made->by_switches =
	    plimp_runqueue_counted(host).state != PLIM_STATE_KNOWN;
	made->is_own = made->pid == plimp_system_own_pid();
	made->by_clocks = made->is_own && sampler_has_clocks(host);
	if (sampler_machine(made) != PLIM_OK)
		code = plimp_fail(error, PLIM_EUNSUPPORTED, 0, "profile",
				  host->machine,
				  "registers of this machine are not known");
	else
		code = sampler_make(made, target, lens, options, error);
	if (code != PLIM_OK) {
		plimp_system_sampler_close(made);
		return code;
	}
	*sampler = made;
	return PLIM_OK;
}

void plimp_system_sampler_end(struct plimp_sampler *sampler)
{
	size_t i;

	plimp_sampled_release(sampler);
	plimp_inside_end(sampler);
	plimp_events_end(sampler);
	for (i = 0; i < sampler->process_count; i++)
		sampler_let_go(sampler, &sampler->processes[i]);
}

void plimp_system_sampler_close(struct plimp_sampler *sampler)
{
	const plim_allocator *allocator;
	plim_host *host;

	if (sampler == NULL)
		return;
	host = sampler->host;
	allocator = &host->allocator;
	plimp_stops_settle(sampler,
			   plimp_system_monotonic() + SAMPLER_LET_GO_NS);
	plimp_system_sampler_end(sampler);
	plimp_release(allocator, sampler->processes, sampler->process_capacity,
		      sizeof *sampler->processes);
	plimp_call_close(host, sampler->poll);
	plimp_call_close(host, sampler->timer);
	plimp_call_close(host, sampler->stop);
	plimp_copy_close(&sampler->copy);
	plimp_release(allocator, sampler->record, SAMPLER_RECORD, 1);
	plimp_release(allocator, sampler->tids, sampler->options.tid_count,
		      sizeof *sampler->tids);
	plimp_release(allocator, sampler, 1, sizeof *sampler);
}

static uint8_t sampler_running(const struct plimp_sampler *sampler,
			       struct plimp_tiers *tiers)
{
	static const uint8_t of_way[] = {
	    [PLIMP_INSIDE_EVENTS] = PLIMP_TIER_PERF_SIGNAL,
	    [PLIMP_INSIDE_TIMERS] = PLIMP_TIER_CPU_TIMER,
	    [PLIMP_INSIDE_TICKS] = PLIMP_TIER_THREAD_SIGNAL,
	    [PLIMP_INSIDE_SUSPENDS] = PLIMP_TIER_SUSPEND,
	};

	if (sampler->inside != NULL) {
		tiers->threads_by_timer = sampler->inside->by_timer;
		tiers->threads_by_tick = sampler->inside->by_tick;
		if (!sampler->inside->is_lost)
			return of_way[sampler->inside->way];
	}
	if (sampler->is_armed && tiers->threads_covered > 0)
		return PLIMP_TIER_PERF;
	if (sampler->options.preload != NULL)
		return plimp_preloads_tiers(sampler, tiers);
	return tiers->ptrace.state == PLIM_STATE_KNOWN ? PLIMP_TIER_PTRACE
						       : PLIMP_TIER_NONE;
}

struct plimp_tiers plimp_system_sampler_tiers(struct plimp_sampler *sampler)
{
	struct plimp_tiers tiers = sampler->tiers;
	size_t i;

	tiers.threads_present = 0;
	tiers.threads_covered = 0;
	tiers.threads_by_ring = sampler->by_ring;
	for (i = 0; i < sampler->thread_count; i++) {
		uint32_t flags = sampler->threads[i]->flags;

		/* Of one that was seen a moment ago it is not known yet. */
		tiers.threads_present += (flags & PLIMP_SAMPLED_NEW) == 0;
		tiers.threads_covered += (flags & PLIMP_SAMPLED_COVERED) != 0;
	}
	tiers.running = sampler_running(sampler, &tiers);
	tiers.sleeping = tiers.no_stop.state == PLIM_STATE_KNOWN
			     ? PLIMP_TIER_NO_STOP
			     : PLIMP_TIER_NONE;
	tiers.event = (uint8_t)sampler->event;
	tiers.kernel_seen = (sampler->is_armed && sampler->has_kernel) ||
			    tiers.running == PLIMP_TIER_CPU_TIMER ||
			    tiers.running == PLIMP_TIER_THREAD_SIGNAL ||
			    tiers.running == PLIMP_TIER_SUSPEND ||
			    tiers.running == PLIMP_TIER_PRELOAD;
	if (tiers.running == PLIMP_TIER_SUSPEND &&
	    (sampler->options.flags & PLIMP_SAMPLER_NO_SLEEPERS) == 0)
		tiers.sleeping = PLIMP_TIER_SUSPEND;
	tiers.newborn_inherit = sampler->is_armed && sampler->inherits != 0;
	tiers.alone = sampler->is_armed && sampler->is_alone;
	tiers.counts_cpu = sampler->is_armed && sampler->layout.has_count;
	tiers.stack_bytes = sampler->stack_bytes;
	if (sampler->is_armed)
		tiers.ring_bytes = sampler->is_alone ? sampler->alone_bytes
						     : sampler->ring_bytes;
	return tiers;
}

int plimp_system_sampler_start(struct plimp_sampler *sampler, plim_error *error)
{
	int code;

	sampler->callback = NULL;
	/* What is there was sampled before the start. */
	code = plimp_events_drain(sampler);
	if (code != PLIM_OK)
		return sampler_fail(code, 0, error);
	plimp_inside_drain(sampler);
	plimp_inside_base(sampler);
	plimp_preloads_drain(sampler);
	if (sampler->options.preload != NULL)
		plimp_preloads_start(sampler);
	sampler->start_ns = plimp_system_monotonic();
	sampler->first_lost = plimp_events_lost(sampler);
	return PLIM_OK;
}

int plimp_system_sampler_halt(struct plimp_sampler *sampler, plim_error *error)
{
	(void)error;
	plimp_events_halt(sampler);
	plimp_inside_halt(sampler);
	plimp_preloads_halt(sampler);
	return PLIM_OK;
}

static void sampler_call_back(struct plimp_sampler *sampler,
			      plimp_capture_fn *callback, void *user)
{
	sampler->callback = callback;
	sampler->user = user;
}

int plimp_system_sampler_drain(struct plimp_sampler *sampler,
			       plimp_capture_fn *callback, void *user,
			       plim_error *error)
{
	int code;

	sampler_call_back(sampler, callback, user);
	code = plimp_events_drain(sampler);
	if (code == PLIM_OK) {
		plimp_inside_drain(sampler);
		plimp_preloads_drain(sampler);
		code = sampler->problem;
	}
	sampler_call_back(sampler, NULL, NULL);
	return code == PLIM_OK ? PLIM_OK : sampler_fail(code, 0, error);
}

int plimp_system_sampler_tick(struct plimp_sampler *sampler,
			      plimp_capture_fn *callback, void *user,
			      plim_error *error)
{
	int code;

	sampler_call_back(sampler, callback, user);
	code = plimp_events_drain(sampler);
	if (code != PLIM_OK) {
		code = sampler_fail(code, 0, error);
	} else {
		plimp_inside_check(sampler);
		plimp_inside_drain(sampler);
		plimp_preloads_drain(sampler);
		code = sampler->problem != PLIM_OK
			   ? sampler_fail(PLIM_ENOMEM, 0, error)
			   : plimp_sampled_look(sampler, error);
	}
	if (code == PLIM_OK) {
		plimp_sampled_tick(sampler);
		plimp_ticks_pass(sampler);
		plimp_suspends_pass(sampler);
		plimp_stops_tick(sampler);
		if (sampler->problem != PLIM_OK)
			code = sampler_fail(PLIM_ENOMEM, 0, error);
	}
	sampler_call_back(sampler, NULL, NULL);
	return code;
}

/* Sets the timer: absolute, and 0 means that it is off. */
static int sampler_time(struct plimp_sampler *sampler, uint64_t until_ns)
{
	struct itimerspec time = {
	    .it_value = {.tv_sec = (time_t)(until_ns / 1000000000),
			 .tv_nsec = (long)(until_ns % 1000000000)},
	};

	sampler->host->bill.system_calls++;
	return timerfd_settime(sampler->timer, TFD_TIMER_ABSTIME, &time,
			       NULL) == 0
		   ? 0
		   : errno;
}

int plimp_system_sampler_wait(struct plimp_sampler *sampler, uint64_t until_ns,
			      plim_error *error)
{
	struct epoll_event events[SAMPLER_WAKES];
	uint64_t slice = until_ns;
	int woken = 0;
	int count;
	int i;

	if (sampler->owed > 0) {
		uint64_t soon =
		    plimp_system_monotonic() + SAMPLER_OWED_SLICE_NS;

		plimp_stops_settle(sampler, 0);
		if (sampler->owed > 0 && soon < until_ns)
			slice = soon;
	}
	i = sampler_time(sampler, slice);
	if (i != 0)
		return sampler_fail(PLIM_ESYSTEM, i, error);
	do {
		sampler->host->bill.system_calls++;
		count = epoll_wait(sampler->poll, events, SAMPLER_WAKES,
				   until_ns == 0 ? 0 : -1);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return sampler_fail(PLIM_ESYSTEM, errno, error);
	for (i = 0; i < count; i++)
		woken |= (int)events[i].data.u64;
	return woken;
}

void plimp_system_sampler_stop(struct plimp_sampler *sampler)
{
	const uint64_t one = 1;
	int saved = errno;
	ssize_t written = write(sampler->stop, &one, sizeof one);

	/* Full is stopped, too. */
	(void)written;
	errno = saved;
}

int plimp_system_sampler_period(struct plimp_sampler *sampler,
				uint64_t period_ns, plim_error *error)
{
	if (period_ns < SAMPLER_PERIOD_LEAST)
		return sampler_fail(PLIM_EINVAL, 0, error);
	if (sampler->event != PLIMP_EVENT_TASK_CLOCK)
		return sampler_fail(PLIM_EUNSUPPORTED, 0, error);
	sampler->options.period_ns = period_ns;
	if (sampler->is_armed)
		plimp_events_period(sampler);
	plimp_inside_period(sampler);
	if (sampler->options.preload != NULL)
		plimp_preloads_period(sampler);
	return PLIM_OK;
}

int plimp_system_sampler_deepen(struct plimp_sampler *sampler, int32_t tid,
				uint32_t bytes)
{
	struct plimp_sampled *thread = plimp_sampled_find(sampler, tid);
	uint32_t most = PLIMP_STACK_MOST;
	uint32_t wanted = bytes < most ? (bytes + 7) & ~7u : most;

	if (thread == NULL)
		return -1;
	if (wanted <= sampler->stack_bytes || wanted <= thread->deep_bytes)
		return bytes <= most ? 0 : -1;
	if (sampler->options.preload != NULL)
		return plimp_preloads_deepen(sampler, wanted);
	return plimp_events_deepen(sampler, thread, wanted);
}

static void sampler_times(struct plimp_sampler *sampler,
			  struct plimp_sampled_process *process,
			  const struct plimp_sampled *thread,
			  struct plimp_capture *capture)
{
	char path[PLIMP_THREAD_PATH];
	struct plimp_stat stat;
	plim_bytes text;

	plimp_thread_path(path, thread->tid, "stat");
	if (plimp_read_file(sampler->host, process->task, path, &text) != 0 ||
	    plimp_decode_stat(text, &stat) != PLIM_OK)
		return;
	capture->user_ns = plimp_ticks_to_ns(sampler->host, stat.user_ticks);
	capture->system_ns =
	    plimp_ticks_to_ns(sampler->host, stat.system_ticks);
	capture->has_times = 1;
}

static void sampler_total(struct plimp_sampler *sampler,
			  struct plimp_sampled *thread)
{
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, thread->pid);
	struct plimp_capture capture;
	struct plimp_schedstat now;

	memset(&capture, 0, sizeof capture);
	capture.kind = PLIMP_CAPTURE_TOTAL;
	capture.pid = thread->pid;
	capture.tid = thread->tid;
	capture.start_ticks = thread->start_ticks;
	capture.time_ns = plimp_system_monotonic();
	capture.count = thread->counted_ns - thread->ignored_ns;
	capture.has_gaps =
	    !sampler->is_armed || (thread->flags & PLIMP_SAMPLED_GAPS) != 0;
	capture.name.data = thread->name;
	capture.name.size = thread->name_size;
	if (process != NULL && process->lens != NULL) {
		sampler_times(sampler, process, thread, &capture);
		if (!sampler->by_switches &&
		    plimp_sampled_account(sampler, process, thread, &now) ==
			0) {
			capture.cpu_ns = now.run_ns;
			capture.wait_ns = now.wait_ns;
			capture.slices = now.switches_in;
			capture.has_accounts = 1;
		}
	}
	sampler->callback(sampler->user, &capture);
}

int plimp_system_sampler_totals(struct plimp_sampler *sampler,
				plimp_capture_fn *callback, void *user,
				plim_error *error)
{
	size_t i;

	(void)error;
	sampler_call_back(sampler, callback, user);
	for (i = 0; i < sampler->thread_count; i++)
		sampler_total(sampler, sampler->threads[i]);
	sampler_call_back(sampler, NULL, NULL);
	return PLIM_OK;
}

int plimp_system_sampler_is_quiet(const struct plimp_sampler *sampler)
{
	return sampler->inside == NULL || plimp_inside_is_quiet();
}

struct plimp_sampler_bill
plimp_system_sampler_bill(const struct plimp_sampler *sampler)
{
	struct plimp_sampler_bill bill = sampler->bill;
	size_t i;

	bill.descriptors = sampler->event_count + sampler->file_count + 3;
	for (i = 0; i < sampler->process_count; i++)
		bill.descriptors += sampler->processes[i].task >= 0;
	if (sampler->is_armed) {
		bill.descriptors += sampler->is_alone ? 0 : sampler->cpu_count;
		bill.ring_bytes = plimp_rings_bytes(sampler);
	}
	if (sampler->options.preload != NULL)
		bill.ring_bytes += plimp_preloads_bytes(sampler);
	return bill;
}
