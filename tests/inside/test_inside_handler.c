/*
 * test_inside_handler.c - what the signal handler of a session does to the
 * process: it calls no allocator and takes no lock, needs little stack, leaves
 * errno alone, and may be taken away at any time.
 *
 * This program's allocator and locks count who calls them in a handler: there
 * the signal is blocked, and a member of the crew never blocks it himself.
 */
#include "crew.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <math.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- the allocator and the locks ------------------------------------------ */

/* The C library's own, by the names that it keeps for this. */
#pragma redefine_extname libc_malloc __libc_malloc
#pragma redefine_extname libc_calloc __libc_calloc
#pragma redefine_extname libc_realloc __libc_realloc
#pragma redefine_extname libc_free __libc_free
#pragma redefine_extname libc_memalign __libc_memalign
extern void *libc_malloc(size_t size);
extern void *libc_calloc(size_t count, size_t size);
extern void *libc_realloc(void *memory, size_t size);
extern void libc_free(void *memory);
extern void *libc_memalign(size_t alignment, size_t size);

static _Thread_local int counts __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t calls_outside;
static _Atomic uint64_t calls_inside;
static int (*next_lock)(pthread_mutex_t *lock);
static int (*next_read)(pthread_rwlock_t *lock);
static int (*next_write)(pthread_rwlock_t *lock);

static void count_call(void)
{
	uint64_t blocked = 0;

	if (!counts)
		return;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof(blocked));
	if (blocked >> (SIGURG - 1) & 1)
		calls_inside++;
	else
		calls_outside++;
}

void *malloc(size_t size)
{
	count_call();
	return libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	count_call();
	return libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	count_call();
	return libc_realloc(memory, size);
}

void free(void *memory)
{
	count_call();
	libc_free(memory);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	count_call();
	return libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	count_call();
	*memory = libc_memalign(alignment, size);
	return *memory != NULL ? 0 : ENOMEM;
}

/* What else may wait for another thread, or is one of the loader's locks. */
#define COUNTED(name, parameters, ...)                              \
	static int(*next_##name) parameters;                        \
	int name parameters                                         \
	{                                                           \
		void *found;                                        \
                                                                    \
		count_call();                                       \
		if (next_##name == NULL) {                          \
			found = dlsym(RTLD_NEXT, #name);            \
			memcpy(&next_##name, &found, sizeof found); \
		}                                                   \
		return next_##name(__VA_ARGS__);                    \
	}
COUNTED(pthread_mutex_trylock, (pthread_mutex_t * lock), lock)
COUNTED(pthread_mutex_unlock, (pthread_mutex_t * lock), lock)
COUNTED(pthread_rwlock_unlock, (pthread_rwlock_t * lock), lock)
COUNTED(pthread_spin_lock, (pthread_spinlock_t * lock), lock)
COUNTED(sem_wait, (sem_t * semaphore), semaphore)
COUNTED(sem_post, (sem_t * semaphore), semaphore)
COUNTED(dl_iterate_phdr,
	(int (*each)(struct dl_phdr_info *, size_t, void *), void *user), each,
	user)

static void find_locks(void)
{
	void *found[3] = {dlsym(RTLD_NEXT, "pthread_mutex_lock"),
			  dlsym(RTLD_NEXT, "pthread_rwlock_rdlock"),
			  dlsym(RTLD_NEXT, "pthread_rwlock_wrlock")};

	memcpy(&next_read, &found[1], sizeof(next_read));
	memcpy(&next_write, &found[2], sizeof(next_write));
	memcpy(&next_lock, &found[0], sizeof(next_lock));
}

int pthread_mutex_lock(pthread_mutex_t *lock)
{
	count_call();
	if (next_lock == NULL)
		find_locks();
	return next_lock(lock);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	count_call();
	if (next_lock == NULL)
		find_locks();
	return next_read(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	count_call();
	if (next_lock == NULL)
		find_locks();
	return next_write(lock);
}

static _Atomic int allocating_over;

/* Allocates and locks all the time, so that most samples find it there. */
static void *allocating(void *user)
{
	pthread_mutex_t *lock = user;
	void *held[16] = {0};
	unsigned at = 0;

	counts = 1;
	while (!allocating_over) {
		pthread_mutex_lock(lock);
		free(held[at % 16]);
		held[at % 16] = malloc(64 + at % 512);
		pthread_mutex_unlock(lock);
		at++;
	}
	for (at = 0; at < 16; at++)
		free(held[at]);
	counts = 0;
	return NULL;
}

static void needs_signals(const plim_profile *profile)
{
	if (!self_by_signal(profile))
		SKIP_BECAUSE("perf events are refused to this user");
}

static void test_no_call(void **state)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	plim_profile *profile = self_open((plim_profile_request){
	    .hz = 4000, .hz_ceiling = PLIM_PROFILE_LIMIT_HZ});
	pthread_t threads[2];

	(void)state;
	allocating_over = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, allocating, &lock), 0);
	self_for(profile, SECOND);
	allocating_over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	needs_signals(profile);
	/* The lower tiers come by the tick. */
	assert_true(self_metric(profile, PLIM_METRIC_RUNNING) >
		    (self_flags == 0 ? 50 : 5));
	assert_true(calls_outside > 1000);
	assert_int_equal(calls_inside, 0);
	self_holds(profile);
	plim_profile_free(profile);
}

/* --- its stack ------------------------------------------------------------ */

#define STACK	  (256 * 1024)
#define UNTOUCHED 0xa5

static _Atomic int spinning_over;
static _Atomic int32_t spinning_tid;
static volatile uint64_t spinning_sink;

/* Calls nothing while it is looked at. */
static void *spinning(void *user)
{
	(void)user;
	spinning_tid = (int32_t)syscall(SYS_gettid);
	while (!spinning_over)
		spinning_sink++;
	return NULL;
}

/* A thread on this stack; how deep it was used comes by spinning_end(). */
static pthread_t spinning_start(unsigned char *stack)
{
	pthread_attr_t attributes;
	pthread_t thread;

	memset(stack, UNTOUCHED, STACK);
	spinning_over = 0;
	spinning_tid = 0;
	pthread_attr_init(&attributes);
	assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
	assert_int_equal(pthread_create(&thread, &attributes, spinning, NULL),
			 0);
	pthread_attr_destroy(&attributes);
	while (spinning_tid == 0)
		crew_sleep(MS / 10);
	return thread;
}

static size_t spinning_end(pthread_t thread, const unsigned char *stack)
{
	size_t at = 0;

	spinning_over = 1;
	pthread_join(thread, NULL);
	while (at < STACK && stack[at] == UNTOUCHED)
		at++;
	return STACK - at;
}

static _Atomic int nothings;

static void nothing(int number)
{
	(void)number;
	nothings++;
}

/* What a handler that does nothing needs is the kernel's. */
static size_t kernels_share(unsigned char *stack)
{
	struct sigaction action = {.sa_handler = nothing};
	struct sigaction before;
	pthread_t thread = spinning_start(stack);

	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	nothings = 0;
	for (int i = 0; i < 10; i++) {
		pthread_kill(thread, SIGUSR1);
		while (nothings <= i)
			crew_sleep(MS);
	}
	sigaction(SIGUSR1, &before, NULL);
	return spinning_end(thread, stack);
}

static void test_stack(void **state)
{
	unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	plim_profile *profile = self_open((plim_profile_request){.hz = 500});
	size_t kernel;
	size_t all;
	pthread_t thread;
	int32_t tid;

	(void)state;
	assert_true(stack != MAP_FAILED);
	kernel = kernels_share(stack);
	thread = spinning_start(stack);
	tid = spinning_tid;
	self_for(profile, SECOND / 2);
	all = spinning_end(thread, stack);
	munmap(stack, STACK);
	needs_signals(profile);
	assert_true(self_thread(profile, tid)->samples >
		    (self_flags == 0 ? 10 : 1));
	print_message("a sample needs %zu bytes of stack, and the kernel's "
		      "frame\n",
		      all - kernel);
	assert_true(all > kernel);
	assert_true(all - kernel <= 2048);
	plim_profile_free(profile);
}

/* --- the signal ----------------------------------------------------------- */

static _Atomic uint64_t own_calls;

static void own_handler(int number)
{
	(void)number;
	own_calls++;
}

/* Whoever handles the signal sees none of ours, and is sampled all the same. */
static void test_taken(void **state)
{
	struct crew crew = {0};
	struct sigaction action = {.sa_handler = own_handler};
	struct sigaction before;
	struct sigaction now;
	plim_profile *profile = self_open((plim_profile_request){.hz = 499});
	struct member *member = crew_add(&crew, MS, 0, 0);

	(void)state;
	own_calls = 0;
	assert_int_equal(sigaction(SIGURG, &action, &before), 0);
	self_for(profile, SECOND / 2);
	assert_int_equal(sigaction(SIGURG, &before, &now), 0);
	crew_end(&crew);
	assert_true(now.sa_handler == own_handler);
	assert_int_equal(own_calls, 0);
	assert_false(self_tier(profile, PLIM_TIER_PERF_SIGNAL));
	assert_false(self_tier(profile, PLIM_TIER_CPU_TIMER));
	assert_false(self_tier(profile, PLIM_TIER_THREAD_SIGNAL));
	if (self_flags != 0) {
		/* All that there is needs the signal. */
		assert_int_equal(self_reason(profile, PLIM_TIER_THREAD_SIGNAL),
				 PLIM_REASON_SIGNAL_TAKEN);
		assert_int_equal(self_thread(profile, member->tid)->samples, 0);
		plim_profile_free(profile);
		return;
	}
	if (!self_tier(profile, PLIM_TIER_PERF))
		SKIP_BECAUSE("perf events are refused to this user");
	assert_true(self_thread(profile, member->tid)->samples > 10);
	plim_profile_free(profile);
}

/* Taken away in the middle: nobody dies, whatever was due, and what the
 * application set stays. */
static void test_replaced(void **state)
{
	void (*const handlers[])(int) = {SIG_DFL, SIG_IGN, own_handler};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct crew crew = {0};
		struct sigaction action = {.sa_handler = handlers[i]};
		struct sigaction usual = {.sa_handler = SIG_DFL};
		struct sigaction now;
		plim_profile *profile =
		    self_open((plim_profile_request){.hz = 1000});

		crew_add(&crew, MS, 0, 0);
		assert_int_equal(plim_profile_start(profile, NULL), PLIM_OK);
		crew_sleep(SECOND / 10);
		assert_int_equal(sigaction(SIGURG, &action, NULL), 0);
		crew_sleep(SECOND / 5);
		plim_profile_stop(profile);
		assert_int_equal(plim_profile_join(profile, NULL), PLIM_OK);
		assert_int_equal(sigaction(SIGURG, &usual, &now), 0);
		assert_true(now.sa_handler == handlers[i]);
		crew_end(&crew);
		self_holds(profile);
		plim_profile_free(profile);
	}
}

/* The signal of others, in between: it is ignored as before. */
static void test_foreign(void **state)
{
	struct crew crew = {0};
	struct sigaction now;
	plim_profile *profile = self_open((plim_profile_request){.hz = 499});
	struct member *member = crew_add(&crew, MS, 0, 0);
	union sigval value = {.sival_int = 1};

	(void)state;
	assert_int_equal(plim_profile_start(profile, NULL), PLIM_OK);
	for (int i = 0; i < 100; i++) {
		errno = 77;
		raise(SIGURG);
		sigqueue(getpid(), SIGURG, value);
		assert_int_equal(errno, 77);
		pthread_kill(member->thread, SIGURG);
		crew_sleep(MS);
	}
	plim_profile_stop(profile);
	assert_int_equal(plim_profile_join(profile, NULL), PLIM_OK);
	crew_end(&crew);
	assert_int_equal(sigaction(SIGURG, NULL, &now), 0);
	assert_true(now.sa_handler == SIG_DFL);
	self_holds(profile);
	plim_profile_free(profile);
}

/* Whole stacks, to the thread's first function. */
static void test_complete(void **state)
{
	struct crew crew = {0};
	plim_profile *profile = self_open((plim_profile_request){.hz = 500});
	struct member *member = crew_add(&crew, MS, 0, 0);
	const plim_profile_thread *row;
	uint64_t root;
	uint64_t all;

	(void)state;
	self_for(profile, SECOND);
	crew_end(&crew);
	needs_signals(profile);
	root = self_metric(profile, PLIM_METRIC_STACKS_ROOT);
	all = self_metric(profile, PLIM_METRIC_CAPTURED);
	row = self_thread(profile, member->tid);
	/* A sample each 2 ms of its CPU time; a timer's may stand for more,
	 * and a tick may come late. */
	if (row->samples + self_metric(profile, PLIM_METRIC_OVERRUNS) <
		row->times.cpu_ns / (2 * MS) * 9 / 10 &&
	    (self_flags & PLIM_PROFILE_NO_TIMERS) == 0)
		fail_msg("%llu samples in %llu ns",
			 (unsigned long long)row->samples,
			 (unsigned long long)row->times.cpu_ns);
	if (root * 100 < all * 99)
		fail_msg("%llu of %llu stacks are whole",
			 (unsigned long long)root, (unsigned long long)all);
	/* One that stood in a handler for long may have got a ring. */
	if (!self_tier(profile, PLIM_TIER_PERF) &&
	    self_metric(profile, PLIM_METRIC_SIGNALS) <
		self_metric(profile, PLIM_METRIC_RUNNING))
		fail_msg("%llu signals for %llu samples",
			 (unsigned long long)self_metric(profile,
							 PLIM_METRIC_SIGNALS),
			 (unsigned long long)self_metric(profile,
							 PLIM_METRIC_RUNNING));
	plim_profile_free(profile);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_complete), cmocka_unit_test(test_no_call),
	    cmocka_unit_test(test_stack),    cmocka_unit_test(test_taken),
	    cmocka_unit_test(test_replaced), cmocka_unit_test(test_foreign),
	};

	self_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
