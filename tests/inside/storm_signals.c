/*
 * storm_signals.c - storms of signals: programs that wait for them, take all of
 * them, and take them on small stacks.
 *
 * A signal that an application sends carries a value of its own, so that
 * whatever else arrives is known to be strange.
 */
#include "storm.h"

#include <errno.h>
#include <semaphore.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* The two that cannot be had, and those that the C library keeps. */
static int may_be_had(int number)
{
	return number != SIGKILL && number != SIGSTOP &&
	       (number < 32 || number >= SIGRTMIN);
}

/* They take each other back. */
static int is_job_control(int number)
{
	return number == SIGCONT || number == SIGTSTP || number == SIGTTIN ||
	       number == SIGTTOU;
}

static int signal_after(int number)
{
	do
		number = number < SIGRTMAX ? number + 1 : 1;
	while (!may_be_had(number) || is_job_control(number));
	return number;
}

static void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	STORM_TRUE(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
}

/* --- every signal blocked, and waited for --------------------------------- */

enum waiting { BY_SIGWAIT, BY_SIGNALFD, BY_TIMED, WAITERS };
#define WAIT_LAST 0x7fffffff

struct waiter {
	pthread_t thread;
	int kind;
	int blocks_late;
};

static struct waiter waiters[WAITERS];
static sem_t wait_ready;
static sem_t wait_taken;
/* One signal is under way at a time: whoever takes it writes here. */
static uint64_t wait_hash;
static uint64_t wait_count;
static _Atomic uint64_t wait_strange;
static _Atomic uint64_t wait_pending;
static _Atomic int wait_over;

/* The next signal: who sent it, and its value. */
static int wait_once(const struct waiter *waiter, int descriptor, int *code,
		     int *value)
{
	const struct timespec long_time = {.tv_sec = 60};
	struct signalfd_siginfo read_info;
	siginfo_t info;
	sigset_t all;
	int number;

	if (waiter->kind == BY_SIGNALFD) {
		STORM_TRUE(read(descriptor, &read_info, sizeof(read_info)) ==
			   sizeof(read_info));
		*code = read_info.ssi_code;
		*value = read_info.ssi_int;
		return (int)read_info.ssi_signo;
	}
	sigfillset(&all);
	/* The other kind of reader may have been faster. */
	do
		number = waiter->kind == BY_TIMED
			     ? sigtimedwait(&all, &info, &long_time)
			     : sigwaitinfo(&all, &info);
	while (number < 0 && errno == EINTR);
	STORM_TRUE(number > 0);
	*code = info.si_code;
	*value = info.si_value.sival_int;
	return number;
}

static void note_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigismember(&pending, number) == 1)
			wait_pending++;
}

static void *waiter_main(void *user)
{
	const struct waiter *waiter = user;
	sigset_t all;
	int descriptor;

	if (waiter->blocks_late) {
		storm_work(20000000);
		block_all();
	}
	sigfillset(&all);
	descriptor = signalfd(-1, &all, SFD_CLOEXEC);
	STORM_TRUE(descriptor >= 0);
	sem_post(&wait_ready);
	for (;;) {
		int code;
		int value;
		int number = wait_once(waiter, descriptor, &code, &value);

		if (code != SI_QUEUE) {
			wait_strange++;
			continue;
		}
		if (value == WAIT_LAST)
			break;
		wait_hash = storm_mix(wait_hash, (uint64_t)(unsigned)number);
		wait_hash = storm_mix(wait_hash, (uint64_t)(unsigned)value);
		/* Every other one is to the process: anyone may take it. */
		if (value % 2 == 0)
			wait_hash = storm_mix(wait_hash,
					      (uint64_t)(unsigned)waiter->kind);
		wait_count++;
		wait_hash = storm_mix(wait_hash, storm_work(20000));
		sem_post(&wait_taken);
	}
	note_pending();
	close(descriptor);
	return NULL;
}

/* Runs with everything blocked; what it has at the end is nobody's. */
static void *deaf_main(void *user)
{
	(void)user;
	while (!wait_over)
		storm_work(20000);
	return NULL;
}

static void waits_run(uint64_t size, int late)
{
	pthread_t deaf = {0};
	int number = 0;

	sem_init(&wait_ready, 0, 0);
	sem_init(&wait_taken, 0, 0);
	for (int i = 0; i < WAITERS; i++) {
		waiters[i].kind = i;
		waiters[i].blocks_late = late;
		waiters[i].thread = storm_thread(waiter_main, &waiters[i], 0);
	}
	if (late)
		block_all();
	deaf = storm_thread(deaf_main, NULL, 0);
	for (int i = 0; i < WAITERS; i++)
		sem_wait(&wait_ready);
	for (uint64_t i = 0; i < size; i++) {
		const union sigval value = {.sival_int = (int)i};
		const struct waiter *to = &waiters[i / 2 % WAITERS];

		number = signal_after(number);
		if (i % 2 == 0)
			STORM_TRUE(
			    pthread_sigqueue(to->thread, number, value) == 0);
		else
			STORM_TRUE(sigqueue(getpid(), number, value) == 0);
		sem_wait(&wait_taken);
	}
	for (int i = 0; i < WAITERS; i++) {
		const union sigval last = {.sival_int = WAIT_LAST};

		STORM_TRUE(pthread_sigqueue(waiters[i].thread, SIGTERM, last) ==
			   0);
		pthread_join(waiters[i].thread, NULL);
	}
	wait_over = 1;
	pthread_join(deaf, NULL);
	note_pending();
	printf("taken %llu, checksum %016llx\n", (unsigned long long)wait_count,
	       (unsigned long long)wait_hash);
	printf("not sent by us %llu, left pending %llu\n",
	       (unsigned long long)wait_strange,
	       (unsigned long long)wait_pending);
}

void storm_waits_prepare(void)
{
	block_all();
}

void storm_waits(uint64_t size)
{
	waits_run(size, 0);
}

/* They block late, when they have been sampled already. */
void storm_masks(uint64_t size)
{
	waits_run(size, 1);
}

/* --- every signal blocked but in a call --------------------------------- */

enum polling { BY_PPOLL, BY_PSELECT, BY_EPOLL, POLLERS };

struct poller {
	pthread_t thread;
	int kind;
	uint64_t size;
	uint64_t disturbed;
	uint64_t hash;
};

/* It lets everything through for two milliseconds, and nothing may come. */
static int poll_once(int kind, int epoll)
{
	const struct timespec time = {.tv_nsec = 2000000};
	struct epoll_event event;
	sigset_t none;

	sigemptyset(&none);
	switch (kind) {
	case BY_PPOLL:
		return ppoll(NULL, 0, &time, &none);
	case BY_PSELECT:
		return pselect(0, NULL, NULL, NULL, &time, &none);
	default:
		return epoll_pwait(epoll, &event, 1, 2, &none);
	}
}

static void *poller_main(void *user)
{
	struct poller *poller = user;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	for (uint64_t i = 0; i < poller->size; i++) {
		poller->disturbed += poll_once(poller->kind, epoll) != 0;
		poller->hash = storm_mix(poller->hash, storm_work(500000));
	}
	close(epoll);
	return NULL;
}

void storm_polls(uint64_t size)
{
	static struct poller pollers[POLLERS];

	for (int i = 0; i < POLLERS; i++) {
		pollers[i].kind = i;
		pollers[i].size = size;
		pollers[i].thread = storm_thread(poller_main, &pollers[i], 0);
	}
	for (int i = 0; i < POLLERS; i++) {
		pthread_join(pollers[i].thread, NULL);
		printf("disturbed %llu, checksum %016llx\n",
		       (unsigned long long)pollers[i].disturbed,
		       (unsigned long long)pollers[i].hash);
	}
}

/* --- every signal taken --------------------------------------------------- */

enum { TO_SELF, TO_OTHER, TAKERS };

static _Atomic uint64_t taken[128];
/* The last round whose signal came, by whom it was for. */
static _Atomic uint64_t taken_last[TAKERS][128];
static _Atomic int taken_over;

/* One that is sent again counts once. */
static void take(int number, siginfo_t *info, void *context)
{
	uint64_t value = (uint64_t)(unsigned)info->si_value.sival_int;

	(void)context;
	if (info->si_code != SI_QUEUE)
		storm_strange(1);
	else if (atomic_exchange(&taken_last[value % TAKERS][number],
				 value / TAKERS) < value / TAKERS)
		taken[number]++;
}

static void *taker_main(void *user)
{
	(void)user;
	while (!taken_over)
		storm_work(20000);
	return NULL;
}

static void set_all(void (*handler)(int), struct sigaction *before)
{
	for (int number = 1; number <= SIGRTMAX; number++) {
		struct sigaction action = {.sa_handler = handler};

		if (handler == NULL) {
			action.sa_sigaction = take;
			action.sa_flags = SA_SIGINFO;
			if (number % 2 == 0)
				action.sa_flags |= SA_RESTART;
		}
		if (may_be_had(number))
			STORM_TRUE(sigaction(number, &action,
					     before == NULL
						 ? NULL
						 : &before[number]) == 0);
	}
}

static void send_one(pthread_t thread, int whose, int number, uint64_t round)
{
	const union sigval value = {
	    .sival_int = (int)(round * TAKERS + (unsigned)whose)};

	STORM_TRUE(pthread_sigqueue(thread, number, value) == 0);
}

/* A signal that is pending already takes one of the same number in: until the
 * session has noticed that its handler is gone, that may be one of its own. */
static void await_one(pthread_t thread, int whose, int number, uint64_t round)
{
	for (unsigned i = 1; taken_last[whose][number] < round; i++) {
		usleep(100);
		if (i % 1000 != 0)
			continue;
		storm_strange(1);
		send_one(thread, whose, number, round);
	}
}

/* Each to ourselves and to another thread, and both must come. */
static void send_all(pthread_t other, uint64_t round)
{
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (!may_be_had(number))
			continue;
		send_one(pthread_self(), TO_SELF, number, round);
		if (!is_job_control(number))
			send_one(other, TO_OTHER, number, round);
	}
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (!may_be_had(number))
			continue;
		await_one(pthread_self(), TO_SELF, number, round);
		if (!is_job_control(number))
			await_one(other, TO_OTHER, number, round);
	}
}

void storm_handlers(uint64_t size)
{
	static struct sigaction before[128];
	pthread_t threads[2];
	uint64_t hash = 0;

	for (int i = 0; i < 2; i++)
		threads[i] = storm_thread(taker_main, NULL, 0);
	storm_work(10000000);
	for (uint64_t i = 0; i < size; i++) {
		set_all(NULL, before);
		send_all(threads[i % 2], i + 1);
		set_all(SIG_IGN, NULL);
		for (int number = 1; number <= SIGRTMAX; number++)
			if (may_be_had(number))
				raise(number);
		set_all(SIG_DFL, NULL);
		for (int number = 1; number <= SIGRTMAX; number++)
			if (may_be_had(number))
				STORM_TRUE(sigaction(number, &before[number],
						     NULL) == 0);
		storm_work(1000000);
	}
	taken_over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int number = 1; number <= SIGRTMAX; number++)
		hash = storm_mix(hash, taken[number]);
	printf("SIGURG %llu, SIGPROF %llu, checksum %016llx\n",
	       (unsigned long long)taken[SIGURG],
	       (unsigned long long)taken[SIGPROF], (unsigned long long)hash);
}

/* --- small alternate stacks ----------------------------------------------- */

#define ALTERNATE_PAGE ((size_t)4096)

struct climber {
	pthread_t thread;
	size_t stack_size;
	uint64_t size;
	uint64_t handled;
	uint64_t hash;
};

static _Thread_local struct climber *climbing;

/* Some frames with memory of their own, on the alternate stack. */
static uint64_t climb(unsigned depth)
{
	volatile unsigned char memory[256];

	for (unsigned i = 0; i < sizeof(memory); i++)
		memory[i] = (unsigned char)(i * depth);
	if (depth == 0)
		return storm_work(20000);
	return climb(depth - 1) + memory[depth];
}

static void climb_on(int number)
{
	climbing->handled++;
	climbing->hash = storm_mix(climbing->hash, climb(8));
	climbing->hash = storm_mix(climbing->hash, (uint64_t)(unsigned)number);
}

/* A page below the stack that nobody may touch. */
static void *climber_main(void *user)
{
	struct climber *climber = user;
	size_t whole = climber->stack_size + ALTERNATE_PAGE;
	unsigned char *memory = mmap(NULL, whole, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_size = climber->stack_size};
	stack_t off = {.ss_flags = SS_DISABLE};

	climbing = climber;
	STORM_TRUE(memory != MAP_FAILED);
	STORM_TRUE(mprotect(memory, ALTERNATE_PAGE, PROT_NONE) == 0);
	stack.ss_sp = memory + ALTERNATE_PAGE;
	/* The size of it can be seen only off it, by a sample that is due in
	 * this time, and whose thread must then be left alone at once. */
	storm_settle();
	storm_session_lags();
	STORM_TRUE(sigaltstack(&stack, NULL) == 0);
	storm_settle();
	for (uint64_t i = 0; i < climber->size; i++) {
		raise(SIGUSR1);
		climber->hash = storm_mix(climber->hash, storm_work(2000));
	}
	STORM_TRUE(sigaltstack(&off, NULL) == 0);
	munmap(memory, whole);
	return NULL;
}

void storm_altstacks(uint64_t size)
{
	static struct climber climbers[] = {
	    {.stack_size = 8192}, {.stack_size = 12288}, {.stack_size = 16384}};
	const size_t count = sizeof(climbers) / sizeof(climbers[0]);
	struct sigaction action = {.sa_handler = climb_on,
				   .sa_flags = SA_ONSTACK};

	STORM_TRUE(sigaction(SIGUSR1, &action, NULL) == 0);
	for (size_t i = 0; i < count; i++) {
		climbers[i].size = size;
		climbers[i].thread =
		    storm_thread(climber_main, &climbers[i], 0);
	}
	for (size_t i = 0; i < count; i++) {
		pthread_join(climbers[i].thread, NULL);
		printf("on %zu bytes: %llu, checksum %016llx\n",
		       climbers[i].stack_size,
		       (unsigned long long)climbers[i].handled,
		       (unsigned long long)climbers[i].hash);
	}
}
