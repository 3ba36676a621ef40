/*
 * subject.c - a process to be sampled (subject.h).
 */
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct subject *self; /* in the process itself */

#define SUBJECT_CODE __attribute__((noinline, section("subject_code")))
/* The linker's names for the ends of a section. */
extern char subject_code_begin[] __asm__("__start_subject_code");
extern char subject_code_end[] __asm__("__stop_subject_code");

/* Only its own code and a counter: whoever is sampled here has its pc here. */
SUBJECT_CODE static void subject_burn(struct subject *subject, int rank)
{
	while (subject->busy > rank)
		subject->turns++;
}

__attribute__((noinline)) static uint64_t subject_descend(int rank, int depth)
{
	volatile uint64_t room[56];

	for (unsigned i = 0; i < 56; i++)
		room[i] = SUBJECT_WORD + (uint64_t)depth;
	if (depth == 0)
		subject_burn(self, rank);
	else
		room[0] += subject_descend(rank, depth - 1);
	return room[0] + room[55];
}

static void subject_thread(void *(*function)(void *), void *user);

static void *subject_run_nested(void *user)
{
	self->nested_tid = (int)syscall(SYS_gettid);
	(void)user;
	return (void *)(uintptr_t)subject_descend(0, self->depth);
}

static void *subject_run(void *user)
{
	int rank = (int)(intptr_t)user;

	self->busy_tid[rank] = (int)syscall(SYS_gettid);
	for (;;) {
		int turn = self->rest_turn;

		if (rank < self->rest_from || rank >= self->rest_end)
			break;
		syscall(SYS_futex, &self->rest_turn, FUTEX_WAIT, turn, NULL);
	}
	if (self->nest && rank == 0)
		subject_thread(subject_run_nested, NULL);
	return (void *)(uintptr_t)subject_descend(rank, self->depth);
}

static long posture_call(struct posture *me)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = me->arguments[3];
	register long r8 __asm__("r8") = me->arguments[4];
	register long r9 __asm__("r9") = me->arguments[5];
	long result = me->number;

	__asm__ volatile("movq %%rsp, %[sp]\n\t"
			 "leaq 1f(%%rip), %%r11\n\t"
			 "movq %%r11, %[pc]\n\t"
			 "syscall\n"
			 "1:"
			 : "+a"(result), [sp] "=m"(me->sp), [pc] "=m"(me->pc)
			 : "D"(me->arguments[0]), "S"(me->arguments[1]),
			   "d"(me->arguments[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#else
	return syscall(me->number, me->arguments[0], me->arguments[1],
		       me->arguments[2], me->arguments[3], me->arguments[4],
		       me->arguments[5]);
#endif
}

static void *posture_run(void *user)
{
	struct posture *me = user;
	volatile uint64_t words[SUBJECT_WORDS];

	for (unsigned i = 0; i < SUBJECT_WORDS; i++)
		words[i] = SUBJECT_WORD + i;
	me->words = (uint64_t)(uintptr_t)words;
	me->tid = (int)syscall(SYS_gettid);
	posture_call(me);
	self->failed = __LINE__;
	return words[0] == 0 ? user : NULL;
}

static void posture_set(unsigned index, long number, long a, long b, long c,
			long d)
{
	struct posture *posture = &self->postures[index];

	posture->number = number;
	posture->arguments[0] = a;
	posture->arguments[1] = b;
	posture->arguments[2] = c;
	posture->arguments[3] = d;
}

/* The calls, each with what makes it wait. */
static void postures_prepare(void)
{
	static struct timespec longer = {1000000, 0};
	static struct pollfd none = {-1, 0, 0};
	static struct epoll_event event;
	static sigset_t signals;
	static char byte[8];
	static int word = 7;
	int ends[2], pair[2];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (pipe(ends) != 0 || epoll < 0 || timer < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		self->failed = __LINE__;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	posture_set(0, SYS_read, ends[0], (long)byte, 1, 0);
	posture_set(1, SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&longer,
		    0);
	posture_set(2, SYS_ppoll, (long)&none, 1, 0, 0);
	posture_set(3, SYS_epoll_pwait, epoll, (long)&event, 1, -1);
	posture_set(4, SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 7, 0);
	posture_set(5, SYS_nanosleep, (long)&longer, 0, 0, 0);
	posture_set(6, SYS_rt_sigtimedwait, (long)&signals, 0, 0, 0);
	self->postures[6].arguments[3] = 8;
	posture_set(7, SYS_recvfrom, pair[0], (long)byte, 1, 0);
	posture_set(8, SYS_pselect6, 0, 0, 0, 0);
	posture_set(9, SYS_read, timer, (long)byte, 8, 0);
}

static void subject_handle(int number)
{
	(void)number;
	self->signals++;
}

static void subject_thread(void *(*function)(void *), void *user)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 1 << 20);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, function, user) != 0)
		self->failed = __LINE__;
}

/* A child that runs for 100 ms; or executes sleep(1) instead. */
static void subject_fork(int executes)
{
	struct timespec now;
	pid_t child = fork();

	if (child == 0 && executes) {
		execl("/bin/sleep", "sleep", "0.2", (char *)NULL);
		_exit(127);
	}
	if (child == 0) {
		do {
			for (unsigned i = 0; i < 100000; i++)
				self->turns++;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		} while (now.tv_sec == 0 && now.tv_nsec < 100000000);
		_exit(0);
	}
	self->child = child;
	waitpid(child, NULL, 0);
}

static _Noreturn void subject_live(int postures)
{
	const struct timespec nap = {0, 1000000};
	struct sigaction action = {.sa_handler = subject_handle,
				   .sa_flags = SA_RESTART};
	int busy = 0;

	child_bind();
	self->code_start = (uint64_t)(uintptr_t)subject_code_begin;
	self->code_end = (uint64_t)(uintptr_t)subject_code_end;
	sigaction(SIGUSR1, &action, NULL);
	if (postures) {
		postures_prepare();
		for (int i = 0; i < POSTURES; i++)
			subject_thread(posture_run, &self->postures[i]);
	}
	self->pid = getpid();
	for (;;) {
		int wanted = self->busy;

		for (; busy < wanted; busy++)
			subject_thread(subject_run, (void *)(intptr_t)busy);
		busy = wanted;
		self->known_busy = busy;
		if (self->forks > 0) {
			subject_fork(0);
			self->forks--;
		}
		if (self->execs > 0) {
			subject_fork(1);
			self->execs--;
		}
		nanosleep(&nap, NULL);
	}
}

struct subject *subject_start(int postures)
{
	struct subject *subject =
	    mmap(NULL, sizeof(*subject), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	assert_true(subject != MAP_FAILED);
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		self = subject;
		subject_live(postures);
	}
	subject_wait((_Atomic int *)&subject->pid, (int)pid);
	for (int i = 0; postures && i < POSTURES; i++) {
		for (int turn = 0; subject->postures[i].tid == 0; turn++) {
			assert_true(turn < 10000);
			child_sleep_ms(1);
		}
		for (int turn = 0;
		     thread_state(pid, subject->postures[i].tid) != 'S';
		     turn++) {
			assert_true(turn < 10000);
			child_sleep_ms(1);
		}
	}
	assert_int_equal(subject->failed, 0);
	return subject;
}

void subject_end(struct subject *subject)
{
	int status;

	assert_int_equal(subject->failed, 0);
	assert_int_equal(kill(subject->pid, SIGKILL), 0);
	assert_int_equal(waitpid(subject->pid, &status, 0), subject->pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	munmap(subject, sizeof(*subject));
}

void subject_wait(_Atomic int *what, int value)
{
	for (int turn = 0; *what != value; turn++) {
		if (turn == 10000)
			fail_msg("it is %d, not %d", *what, value);
		child_sleep_ms(1);
	}
}

void subject_busy(struct subject *subject, int count)
{
	subject_wait(&subject->known_busy, subject->busy);
	for (int i = subject->known_busy; i < count; i++)
		subject->busy_tid[i] = 0;
	subject->busy = count;
	for (int i = 0; i < count; i++)
		for (int turn = 0; subject->busy_tid[i] == 0; turn++) {
			assert_true(turn < 10000);
			child_sleep_ms(1);
		}
}

void subject_rest(struct subject *subject, int from, int end)
{
	subject->rest_from = from;
	subject->rest_end = end;
	subject->rest_turn++;
	syscall(SYS_futex, &subject->rest_turn, FUTEX_WAKE, SUBJECT_MOST);
}

static uint64_t thread_number(pid_t pid, int tid, const char *file,
			      const char *key)
{
	char path[64], line[256];
	FILE *stream;
	uint64_t value = UINT64_MAX;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, tid,
		 file);
	stream = fopen(path, "re");
	if (stream == NULL)
		return value;
	while (fgets(line, sizeof(line), stream) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoull(line + strlen(key), NULL, 10);
	fclose(stream);
	return value;
}

uint64_t thread_switches(pid_t pid, int tid)
{
	return thread_number(pid, tid, "status", "voluntary_ctxt_switches:") +
	       thread_number(pid, tid, "status", "nonvoluntary_ctxt_switches:");
}

uint64_t thread_cpu(pid_t pid, int tid)
{
	return thread_number(pid, tid, "schedstat", "");
}

char thread_state(pid_t pid, int tid)
{
	char path[64], text[256] = "";
	FILE *stream;
	char *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, tid);
	stream = fopen(path, "re");
	if (stream == NULL)
		return '-';
	end = fgets(text, sizeof(text), stream) == NULL ? NULL
							: strrchr(text, ')');
	fclose(stream);
	return end == NULL ? '-' : end[2];
}

void rig_open(struct rig *rig, pid_t pid, uint32_t flags, uint64_t period_ns)
{
	const struct plimp_sampler_options options = {.period_ns = period_ns,
						      .flags = flags};
	plim_error error = {.code = 0};

	rig->host = open_host(0);
	rig->target = open_target(rig->host, pid);
	assert_int_equal(
	    plimp_system_lens_open(rig->host, rig->target, &rig->lens, &error),
	    PLIM_OK);
	assert_int_equal(plimp_system_sampler_open(&rig->sampler, rig->host,
						   rig->target, rig->lens,
						   &options, &error),
			 PLIM_OK);
}

void rig_close(struct rig *rig)
{
	plimp_system_sampler_close(rig->sampler);
	plimp_system_lens_close(rig->lens);
	plim_target_close(rig->target);
	plim_host_close(rig->host);
}

void rig_run(struct rig *rig, plimp_capture_fn *callback, void *user,
	     unsigned every_ms, unsigned for_ms)
{
	uint64_t now = child_monotonic_ns();
	uint64_t end = now + for_ms * UINT64_C(1000000);
	uint64_t next = now + every_ms * UINT64_C(1000000);

	while (now < end) {
		int woken = plimp_system_sampler_wait(rig->sampler, next, NULL);

		assert_true(woken > 0);
		assert_int_equal(plimp_system_sampler_tick(
				     rig->sampler, callback, user, NULL),
				 PLIM_OK);
		now = child_monotonic_ns();
		while (next <= now)
			next += every_ms * UINT64_C(1000000);
	}
}

void rig_run_cpu(struct rig *rig, plimp_capture_fn *callback, void *user,
		 pid_t pid, int tid, unsigned cpu_ms)
{
	uint64_t end = thread_cpu(pid, tid) + cpu_ms * UINT64_C(1000000);

	for (int turn = 0; thread_cpu(pid, tid) < end; turn++) {
		assert_true(turn < 6000);
		rig_run(rig, callback, user, 10, 10);
	}
}
