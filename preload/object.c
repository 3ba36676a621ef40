/*
 * object.c - what is preloaded into a program that plim starts where the kernel
 * refuses perf events: each thread has a timer of its own CPU time, whose
 * signal copies the thread's registers and stack into memory that plim reads.
 *
 * It has no thread, no descriptor, no allocation and nothing of the library:
 * who lists threads, looks at those that sleep, unwinds and names is plim, from
 * outside. So whatever ends the program, what was sampled is there. In the
 * handler: no lock, no function of the C library but system calls and the
 * clock, since the program may have put others in their place; a page of the
 * stack is asked for before it is read. Interposed are pthread_create(), for
 * threads to come, and what blocks the signal or takes it for the program: then
 * the timer goes first, so that none of ours is ever seen.
 * docs/design/preload.md.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "host/linux/inside_context.h"
#include "core/preload_shared.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Its default is to be ignored: one that comes late does nothing. */
#define OBJECT_SIGNAL SIGURG
#define OBJECT_STARTS 1024u
/* Timers that there are at a time. */
#define OBJECT_TIMERS 65536u
#define OBJECT_PAGE   4096u

#define OBJECT_PUBLIC __attribute__((visibility("default")))

extern char **environ;

/* struct sigevent as the kernel has it, which C libraries name differently. */
struct object_event {
	union sigval value;
	int signal;
	int notify;
	int32_t tid;
	int32_t rest[11];
};

struct object_thread {
	int timer;
	uint32_t place; /* in object_timers */
	int is_armed;
	int was_armed; /* until it blocked the signal */
	int32_t tid;
	uint64_t period_ns;
};

/* The static TLS of a program's start: no access allocates. */
static __thread struct object_thread object_own
    __attribute__((tls_model("initial-exec")));

static struct plimp_preload_head *object_head; /* NULL: nobody samples */
/* Of its entries, as it was at first: a child that is followed and has given up
 * its privileges can write to the head that its parent reads. */
static uint32_t object_entries;
static int32_t object_pid;
/* Timers that there are, + 1. */
static _Atomic int object_timers[OBJECT_TIMERS];
static _Atomic uint32_t object_next_timer;
static pthread_key_t object_key;
static _Atomic int object_is_taken;    /* the signal is the program's now */
static struct sigaction object_before; /* what it did */

/* What is interposed, as it is without us. */
static int (*object_create)(pthread_t *, const pthread_attr_t *,
			    void *(*)(void *), void *);
static int (*object_sigaction)(int, const struct sigaction *,
			       struct sigaction *);
static void (*(*object_signal)(int, void (*)(int)))(int);
static int (*object_sigprocmask)(int, const sigset_t *, sigset_t *);
static int (*object_pthread_sigmask)(int, const sigset_t *, sigset_t *);

/* Asked for at the beginning, or by who is there before that. */
static void object_find_next(void)
{
	*(void **)(void *)&object_create = dlsym(RTLD_NEXT, "pthread_create");
	*(void **)(void *)&object_sigaction = dlsym(RTLD_NEXT, "sigaction");
	*(void **)(void *)&object_signal = dlsym(RTLD_NEXT, "signal");
	*(void **)(void *)&object_sigprocmask = dlsym(RTLD_NEXT, "sigprocmask");
	*(void **)(void *)&object_pthread_sigmask =
	    dlsym(RTLD_NEXT, "pthread_sigmask");
}

/* --- entries -------------------------------------------------------------- */

static uint64_t object_clock(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

static struct plimp_preload_entry *object_entry(uint32_t place)
{
	return (void *)((unsigned char *)object_head + PLIMP_PRELOAD_FIRST +
			(size_t)place * PLIMP_PRELOAD_STRIDE);
}

/* One that is free, or NULL. */
static struct plimp_preload_entry *object_claim(int kind)
{
	const uint32_t count = object_entries;
	uint32_t tries =
	    count < PLIMP_PRELOAD_TRIES ? count : PLIMP_PRELOAD_TRIES;

	while (tries-- > 0) {
		uint32_t at = atomic_fetch_add(&object_head->next, 1) % count;
		struct plimp_preload_entry *entry = object_entry(at);
		uint32_t is = PLIMP_PRELOAD_FREE;

		if (!atomic_compare_exchange_strong(&entry->state, &is,
						    PLIMP_PRELOAD_CLAIMED))
			continue;
		entry->kind = (uint32_t)kind;
		entry->pid = object_pid;
		entry->tid = object_own.tid;
		entry->parent = 0;
		entry->stack_size = 0;
		entry->time_ns = object_clock(CLOCK_MONOTONIC);
		entry->cpu_ns = object_clock(CLOCK_THREAD_CPUTIME_ID);
		return entry;
	}
	atomic_fetch_add(&object_head->dropped, 1);
	return NULL;
}

static void object_tell(int kind)
{
	struct plimp_preload_entry *entry = object_claim(kind);

	if (entry == NULL)
		return;
	entry->parent = (int32_t)getppid();
	atomic_store(&entry->state, PLIMP_PRELOAD_GIVEN);
}

/* --- the timer of a thread ------------------------------------------------ */

static int object_is_blocked(void)
{
	uint64_t blocked = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
	return (blocked >> (OBJECT_SIGNAL - 1) & 1) != 0;
}

static int object_set(uint64_t period_ns)
{
	const long second = 1000000000;
	struct timespec each = {(time_t)(period_ns / (uint64_t)second),
				(long)(period_ns % (uint64_t)second)};
	struct itimerspec when = {each, each};

	object_own.period_ns = period_ns;
	return (int)syscall(SYS_timer_settime, object_own.timer, 0, &when,
			    NULL);
}

/* In a child that was forked, or shares its parent's memory until it executes
 * something, nothing is ours: its timers may be the program's. */
static int object_is_other(void)
{
	return object_pid != (int32_t)getpid();
}

/* Who takes it out of the list deletes it. */
static void object_delete(uint32_t place)
{
	int timer = atomic_exchange(&object_timers[place], 0);
	int saved = errno;

	if (timer > 0)
		syscall(SYS_timer_delete, timer - 1);
	errno = saved;
}

static void object_disarm(void)
{
	if (!object_own.is_armed || object_is_other())
		return;
	object_own.is_armed = 0;
	object_delete(object_own.place);
}

static void object_disarm_all(void)
{
	for (uint32_t i = 0; i < OBJECT_TIMERS; i++)
		if (atomic_load(&object_timers[i]) != 0)
			object_delete(i);
	object_own.is_armed = 0;
}

/* A place in the list: -1 until the timer is there. */
static int object_place(void)
{
	for (uint32_t tries = 0; tries < OBJECT_TIMERS; tries++) {
		uint32_t at =
		    atomic_fetch_add(&object_next_timer, 1) % OBJECT_TIMERS;
		int is = 0;

		if (!atomic_compare_exchange_strong(&object_timers[at], &is,
						    -1))
			continue;
		object_own.place = at;
		return 0;
	}
	return -1;
}

static int object_make(const struct object_event *event)
{
	if (object_place() != 0)
		return -1;
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, event,
		    &object_own.timer) != 0) {
		atomic_store(&object_timers[object_own.place], 0);
		return -1;
	}
	atomic_store(&object_timers[object_own.place], object_own.timer + 1);
	return 0;
}

/* Timers of CPU time expire on the scheduler's tick, while the thread runs,
 * and their work is done on the way back to the program: no system call is
 * interrupted (CONFIG_POSIX_CPU_TIMERS_TASK_WORK). */
static void object_arm(void)
{
	struct object_event event = {
	    .value = {.sival_ptr = &object_own},
	    .signal = OBJECT_SIGNAL,
	    .notify = SIGEV_THREAD_ID,
	};

	object_own.tid = (int32_t)syscall(SYS_gettid);
	event.tid = object_own.tid;
	if (atomic_load(&object_is_taken))
		return;
	object_own.was_armed = object_is_blocked();
	if (object_own.was_armed || object_make(&event) != 0) {
		atomic_fetch_add(&object_head->uncovered, 1);
		return;
	}
	object_own.is_armed = 1;
	pthread_setspecific(object_key, &object_own);
	/* Who took the signal meanwhile may not have seen this timer yet. */
	if (!atomic_load(&object_is_taken) &&
	    object_set(atomic_load(&object_head->period_ns)) == 0)
		return;
	object_disarm();
	atomic_fetch_add(&object_head->uncovered, 1);
}

/* --- in the handler ------------------------------------------------------- */

/* Asks the kernel, which answers EFAULT where a load would kill: with a `how`
 * that is none nothing is done. */
static int object_is_readable(uint64_t address)
{
	return syscall(SYS_rt_sigprocmask, -1, address, NULL, 8) == 0 ||
	       errno != EFAULT;
}

/* Word by word: memcpy() may be somebody else's. */
static uint32_t object_copy(unsigned char *bytes, uint64_t from, uint32_t size)
{
	uint64_t page = ~UINT64_C(0);
	uint32_t at;

	for (at = 0; at + 8 <= size; at += 8) {
		const uint64_t address = from + at;

		if (address < from)
			break;
		if (address / OBJECT_PAGE != page) {
			page = address / OBJECT_PAGE;
			if (!object_is_readable(address))
				break;
		}
		*(volatile uint64_t *)(void *)(bytes + at) =
		    *(const volatile uint64_t *)(uintptr_t)address;
	}
	return at;
}

static uint32_t object_stack_bytes(void)
{
	uint32_t bytes =
	    atomic_load(&object_head->stack_bytes) + PLIMP_RED_ZONE;

	return bytes < PLIMP_PRELOAD_STACK_MOST ? bytes & ~7u
						: PLIMP_PRELOAD_STACK_MOST;
}

static void object_sample(const ucontext_t *context)
{
	struct plimp_preload_entry *entry = object_claim(PLIMP_PRELOAD_SAMPLE);
	uint64_t from;

	if (entry == NULL)
		return;
	plimp_context_registers(context, &entry->registers);
	from = (entry->registers.value[PLIMP_CONTEXT_SP] & ~UINT64_C(7)) -
	       PLIMP_RED_ZONE;
	entry->stack_size =
	    object_copy((unsigned char *)entry + PLIMP_PRELOAD_STACK, from,
			object_stack_bytes());
	entry->spent_ns = object_clock(CLOCK_MONOTONIC) - entry->time_ns;
	atomic_store(&entry->state, PLIMP_PRELOAD_GIVEN);
}

/* Sampling is over, or plim is gone. */
static int object_is_over(void)
{
	return atomic_load(&object_head->is_over) != 0 ||
	       object_clock(CLOCK_MONOTONIC) >
		   atomic_load(&object_head->alive_ns) +
		       PLIMP_PRELOAD_SILENCE_NS;
}

static void object_handle(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	uint64_t period;

	(void)number;
	if (info->si_code == SI_TIMER && object_own.is_armed &&
	    info->si_value.sival_ptr == &object_own) {
		period = atomic_load(&object_head->period_ns);
		if (object_is_over() || atomic_load(&object_is_taken))
			object_disarm();
		else
			object_sample(context);
		if (object_own.is_armed && object_own.period_ns != period)
			object_set(period);
	}
	errno = saved;
}

/* --- threads -------------------------------------------------------------- */

/* What a thread is to do, on its way to it. */
static struct object_start {
	_Atomic int is_used;
	void *(*routine)(void *);
	void *user;
} object_starts[OBJECT_STARTS];
static _Atomic uint32_t object_next_start;

static struct object_start *object_start(void)
{
	for (uint32_t tries = 0; tries < OBJECT_STARTS; tries++) {
		struct object_start *start =
		    object_starts +
		    atomic_fetch_add(&object_next_start, 1) % OBJECT_STARTS;
		int is = 0;

		if (atomic_compare_exchange_strong(&start->is_used, &is, 1))
			return start;
	}
	return NULL;
}

/* At the end of a thread, however it ends: timers are the process's. */
static void object_leave(void *user)
{
	(void)user;
	object_disarm();
}

/* The call at the end is a jump, so that stacks look as they do without. */
static void *object_begin(void *user)
{
	struct object_start *start = user;
	void *(*routine)(void *) = start->routine;
	void *what = start->user;
	int saved = errno;

	atomic_store(&start->is_used, 0);
	object_arm();
	errno = saved;
	return routine(what);
}

OBJECT_PUBLIC int pthread_create(pthread_t *thread,
				 const pthread_attr_t *attributes,
				 void *(*routine)(void *), void *user)
{
	struct object_start *start = NULL;
	int problem;

	if (object_create == NULL)
		object_find_next();
	if (object_create == NULL)
		return EAGAIN;
	/* A child that was forked is none of ours, unless it said so. */
	if (object_head != NULL && !object_is_other())
		start = object_start();
	if (start == NULL)
		return object_create(thread, attributes, routine, user);
	start->routine = routine;
	start->user = user;
	problem = object_create(thread, attributes, object_begin, start);
	if (problem != 0)
		atomic_store(&start->is_used, 0);
	return problem;
}

/* In another namespace of pids our number is somebody else's to plim. */
static int object_is_elsewhere(void)
{
	struct stat status;
	uint64_t space = 0;

	if (stat(PLIMP_PRELOAD_PIDS, &status) == 0)
		space = (uint64_t)status.st_ino;
	return space != object_head->pid_space;
}

/* Timers are not inherited. */
static void object_forked(void)
{
	int saved = errno;

	object_own.is_armed = 0;
	object_own.was_armed = 0;
	object_pid = (int32_t)getpid();
	for (uint32_t i = 0; i < OBJECT_TIMERS; i++)
		if (atomic_load(&object_timers[i]) != 0)
			atomic_store(&object_timers[i], 0);
	for (uint32_t i = 0; i < OBJECT_STARTS; i++)
		atomic_store(&object_starts[i].is_used, 0);
	object_own.tid = object_pid;
	if (object_head != NULL && object_is_elsewhere())
		object_head = NULL;
	if (object_head != NULL) {
		object_tell(PLIMP_PRELOAD_FORKED);
		object_arm();
	}
	errno = saved;
}

/* --- the signal as the program's own ------------------------------------- */

static int object_is_ours(void)
{
	return object_head != NULL && !atomic_load(&object_is_taken) &&
	       !object_is_other();
}

/* From now on no timer fires. It is told, since what the program computes is
 * not sampled any more. */
static void object_give_up(void)
{
	atomic_store(&object_is_taken, 1);
	object_disarm_all();
	object_tell(PLIMP_PRELOAD_TAKEN);
}

/* By default it is ignored: ours does the same to what is not ours. */
static int object_is_free(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) == 0 &&
	       (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

/* As it is without us. A child that is not sampled has inherited ours. */
static void object_hide_ours(struct sigaction *action)
{
	if (action->sa_sigaction == object_handle)
		*action = object_before;
}

OBJECT_PUBLIC int sigaction(int number, const struct sigaction *action,
			    struct sigaction *before)
{
	struct sigaction was = object_before;
	int result;

	if (object_sigaction == NULL)
		object_find_next();
	if (object_sigaction == NULL) {
		errno = ENOSYS;
		return -1;
	}
	if (number != OBJECT_SIGNAL || !object_is_ours()) {
		result = object_sigaction(number, action, before);
		if (result == 0 && before != NULL)
			object_hide_ours(before);
		return result;
	}
	if (action != NULL && object_is_free(action)) {
		object_before = *action;
	} else if (action != NULL) {
		object_give_up();
		result = object_sigaction(number, action, NULL);
		if (result != 0)
			return result;
	}
	if (before != NULL)
		*before = was;
	return 0;
}

OBJECT_PUBLIC void (*signal(int number, void (*handler)(int)))(int)
{
	void (*before)(int) = object_before.sa_handler;
	struct sigaction was = {.sa_handler = SIG_DFL};

	if (object_signal == NULL)
		object_find_next();
	if (object_signal == NULL) {
		errno = ENOSYS;
		return SIG_ERR;
	}
	if (number != OBJECT_SIGNAL || !object_is_ours()) {
		was.sa_handler = object_signal(number, handler);
		object_hide_ours(&was);
		return was.sa_handler;
	}
	if (handler == SIG_DFL || handler == SIG_IGN) {
		object_before.sa_handler = handler;
		return before;
	}
	object_give_up();
	return object_signal(number, handler) == SIG_ERR ? SIG_ERR : before;
}

/* Does it block (1) or let through (-1) the signal, or neither? */
static int object_masks(int how, const sigset_t *set)
{
	int has = set != NULL && sigismember(set, OBJECT_SIGNAL) == 1;

	if (set == NULL)
		return 0;
	if (how == SIG_BLOCK)
		return has;
	if (how == SIG_UNBLOCK)
		return -has;
	if (how != SIG_SETMASK)
		return 0; /* it will be refused */
	return has ? 1 : -1;
}

/* Before the mask is changed, and after it: a signal that is blocked could be
 * taken by sigwait(), and one is let through only to a handler. */
static void object_mask_before(int masks)
{
	if (masks > 0 && object_own.is_armed && object_is_ours()) {
		object_disarm();
		object_own.was_armed = 1;
		atomic_fetch_add(&object_head->uncovered, 1);
	}
}

static void object_mask_after(int masks)
{
	int saved = errno;

	if (masks < 0 && object_own.was_armed && object_is_ours()) {
		atomic_fetch_sub(&object_head->uncovered, 1);
		object_arm();
	}
	errno = saved;
}

OBJECT_PUBLIC int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	int masks = object_masks(how, set);
	int result;

	if (object_sigprocmask == NULL)
		object_find_next();
	if (object_sigprocmask == NULL) {
		errno = ENOSYS;
		return -1;
	}
	object_mask_before(masks);
	result = object_sigprocmask(how, set, before);
	object_mask_after(masks);
	return result;
}

OBJECT_PUBLIC int pthread_sigmask(int how, const sigset_t *set,
				  sigset_t *before)
{
	int masks = object_masks(how, set);
	int result;

	if (object_pthread_sigmask == NULL)
		object_find_next();
	if (object_pthread_sigmask == NULL)
		return ENOSYS;
	object_mask_before(masks);
	result = object_pthread_sigmask(how, set, before);
	object_mask_after(masks);
	return result;
}

/* --- the beginning -------------------------------------------------------- */

/* The value of the variable, where the entry is it. */
static char *object_value(char *entry, const char *name)
{
	while (*name != '\0' && *entry == *name) {
		entry++;
		name++;
	}
	return *name == '\0' && *entry == '=' ? entry + 1 : NULL;
}

static char **object_find(const char *name)
{
	char **at;

	for (at = environ; at != NULL && *at != NULL; at++)
		if (object_value(*at, name) != NULL)
			return at;
	return NULL;
}

static void object_remove(char **at)
{
	for (; at != NULL && *at != NULL; at++)
		at[0] = at[1];
}

/* Where our own path stands in a list, between colons or spaces. NULL: nowhere.
 * `*end` is what is behind it. */
static char *object_own_place(char *list, char **end)
{
	Dl_info info;

	if (dladdr((void *)object_starts, &info) == 0 || info.dli_fname == NULL)
		return NULL;
	while (*list != '\0') {
		const char *own = info.dli_fname;
		char *at = list;

		while (*own != '\0' && *at == *own) {
			at++;
			own++;
		}
		*end = at;
		if (*own == '\0' && (*at == '\0' || *at == ':' || *at == ' '))
			return list;
		while (*list != '\0' && *list != ':' && *list != ' ')
			list++;
		list += *list != '\0';
	}
	return NULL;
}

/* The program's environment is as it was. Ours is the first to be preloaded,
 * unless a child that was followed has put others before it. */
static void object_hide(void)
{
	char **at;
	char *value;
	char *own;
	char *rest;

	object_remove(object_find(PLIMP_PRELOAD_VARIABLE));
	at = object_find("LD_PRELOAD");
	value = at != NULL ? object_value(*at, "LD_PRELOAD") : NULL;
	own = value != NULL ? object_own_place(value, &rest) : NULL;
	if (own == NULL)
		return;
	if (*rest != '\0')
		rest++;
	else if (own > value)
		own--;
	else
		object_remove(at);
	do {
		*own++ = *rest;
	} while (*rest++ != '\0');
}

/* Of the right size, and so that nobody can make it shorter. */
static int object_is_right(int descriptor, size_t *size)
{
	const int seals = fcntl(descriptor, F_GET_SEALS);
	struct stat status;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
	    fstat(descriptor, &status) != 0 ||
	    status.st_size < (off_t)PLIMP_PRELOAD_FIRST)
		return 0;
	*size = (size_t)status.st_size;
	return 1;
}

static struct plimp_preload_head *object_map(const char *path)
{
	int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct plimp_preload_head *head = NULL;
	size_t size = 0;
	void *map;

	if (descriptor < 0)
		return NULL;
	if (object_is_right(descriptor, &size)) {
		map = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE, descriptor, 0);
		head = map == MAP_FAILED ? NULL : map;
	}
	close(descriptor);
	if (head == NULL)
		return NULL;
	object_entries = *(volatile uint32_t *)&head->entry_count;
	if (head->magic == PLIMP_PRELOAD_MAGIC && object_entries > 0 &&
	    object_entries <=
		(size - PLIMP_PRELOAD_FIRST) / PLIMP_PRELOAD_STRIDE)
		return head;
	munmap(head, size);
	return NULL;
}

static int object_install(void)
{
	struct sigaction action = {.sa_sigaction = object_handle,
				   .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction now;

	sigfillset(&action.sa_mask);
	return object_sigaction != NULL &&
	       object_sigaction(OBJECT_SIGNAL, NULL, &now) == 0 &&
	       object_is_free(&now) &&
	       object_sigaction(OBJECT_SIGNAL, &action, &object_before) == 0;
}

__attribute__((constructor)) static void object_load(void)
{
	char **at = object_find(PLIMP_PRELOAD_VARIABLE);
	int saved = errno;

	object_find_next();
	if (at == NULL)
		return;
	object_pid = (int32_t)getpid();
	object_own.tid = object_pid;
	object_head = object_map(object_value(*at, PLIMP_PRELOAD_VARIABLE));
	if (object_head == NULL ||
	    (object_head->flags & PLIMP_PRELOAD_FOLLOW) == 0)
		object_hide();
	if (object_head != NULL &&
	    (object_is_elsewhere() ||
	     pthread_key_create(&object_key, object_leave) != 0 ||
	     !object_install()))
		object_head = NULL;
	if (object_head != NULL) {
		object_tell(PLIMP_PRELOAD_LOADED);
		object_arm();
		if ((object_head->flags & PLIMP_PRELOAD_FOLLOW) != 0)
			pthread_atfork(NULL, NULL, object_forked);
	}
	errno = saved;
}
