/*
 * inside.c - a library to preload: every 4 ms of CPU time a signal, in whose
 * handler all unwinders walk the same interrupted stack.
 *
 * Who is first changes with every sample, and only the first one's walk is
 * told as "in situ": the stack, and its own tables, are then as cold as the
 * program has left them. A second walk right after one's own first is told as
 * "hot". The other unwinders are loaded out of the program's sight, so that
 * none answers for another: linking libunwind would replace backtrace() and
 * _Unwind_Backtrace() by its own.
 *
 * A walk that touches what is not there (libgcc's does, now and then, above a
 * thrown exception) is counted and left.
 *
 * After INSIDE_SAMPLES the file INSIDE_OUT is written and the program ends.
 */
#include "../../tests/unwind/ours.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#include <x86intrin.h>

#define FRAMES	256
#define SAMPLES 4000

enum way { IN_PLACE, COPIED, STEPPED, LIBGCC, BACKTRACE, WAYS };
static const char *const way_names[WAYS] = {"ours_in_place", "ours_on_a_copy",
					    "libunwind", "libgcc", "backtrace"};

/* As libunwind.h has them, for its own machine. */
typedef int init_fn(void *cursor, void *context, int flags);
typedef int step_cursor_fn(void *cursor);
typedef int get_fn(void *cursor, int number, unsigned long *value);
typedef _Unwind_Reason_Code walk_fn(_Unwind_Trace_Fn function, void *user);
typedef uintptr_t ip_fn(struct _Unwind_Context *context);
typedef int backtrace_fn(void **frames, int size);

static init_fn *init_cursor;
static step_cursor_fn *step_cursor;
static get_fn *get_register;
static walk_fn *walk;
static ip_fn *walked_ip;
static backtrace_fn *backtrace_of_libc;

static struct ours *ours;
static struct plimp_pc_cache *cache;
static struct step_memory memory;
static uint64_t stack_end;
static uint64_t stack_start;
static unsigned char copy[16384];
static uint64_t cursor_room[4096 / 8];
static size_t wanted = 1000;
static size_t sample_count;
static double tsc_per_ns = 1;
static struct {
	float situ[SAMPLES]; /* ns a frame */
	float hot[SAMPLES];
	size_t situ_count;
	size_t hot_count;
	double frames;
	double walks;
	size_t crashes;
} told[WAYS];

static int code_here(void *user, uint64_t address, void *bytes, size_t size)
{
	const struct plimp_code_range *range =
	    plimp_code_find(ours_map(ours), address);

	(void)user;
	if (range == NULL || range->end - address < size)
		return -1;
	memcpy(bytes, (const void *)(uintptr_t)address, size);
	return 0;
}

static size_t by_ours(const ucontext_t *context, int is_copied)
{
	static const int numbers[17] = {
	    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
	    REG_RBP, REG_RSP, REG_R8,  REG_R9,	REG_R10, REG_R11,
	    REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	struct plimp_registers registers = {.known = (1u << 17) - 1};
	struct plimp_stack_bytes stack = {.code = code_here};
	struct plimp_unwound unwound = {0};
	uint64_t frames[FRAMES];
	size_t i;

	for (i = 0; i < 17; i++)
		registers.value[i] =
		    (uint64_t)context->uc_mcontext.gregs[numbers[i]];
	stack.low = registers.value[PLIMP_X86_RSP] - PLIMP_RED_ZONE;
	stack.size = stack_end - stack.low;
	stack.bytes = (const unsigned char *)(uintptr_t)stack.low;
	if (is_copied) {
		stack.bytes = copy;
		if (stack.size > sizeof(copy)) {
			stack.size = sizeof(copy);
			stack.is_cut = 1;
		}
	}
	plimp_unwind(ours_map(ours), cache, &registers, &stack, frames, NULL,
		     FRAMES, &unwound);
	return unwound.count;
}

static size_t by_libunwind(ucontext_t *context)
{
	unsigned long ip;
	size_t count = 0;

	if (init_cursor(cursor_room, context, 1) != 0)
		return 0;
	do {
		get_register(cursor_room, 16, &ip);
		count++;
	} while (count < FRAMES && step_cursor(cursor_room) > 0);
	return count;
}

static _Unwind_Reason_Code counts(struct _Unwind_Context *context, void *user)
{
	size_t *count = user;

	(void)walked_ip(context);
	return ++*count < FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static size_t by(enum way way, ucontext_t *context)
{
	void *frames[FRAMES];
	size_t count = 0;

	switch (way) {
	case IN_PLACE:
	case COPIED:
		return by_ours(context, way == COPIED);
	case STEPPED:
		return by_libunwind(context);
	case LIBGCC:
		walk(counts, &count);
		return count;
	case BACKTRACE:
		return (size_t)backtrace_of_libc(frames, FRAMES);
	default:
		return 0;
	}
}

static sigjmp_buf crashed;
static volatile sig_atomic_t is_walking;

static void crashes(int number)
{
	if (is_walking)
		siglongjmp(crashed, 1);
	signal(number, SIG_DFL);
	raise(number);
}

static double timed(enum way way, ucontext_t *context)
{
	unsigned auxiliary;
	uint64_t start;
	size_t count;

	if (sigsetjmp(crashed, 0) != 0) {
		is_walking = 0;
		told[way].crashes++;
		return -1;
	}
	is_walking = 1;
	_mm_lfence();
	start = __rdtsc();
	count = by(way, context);
	start = __rdtscp(&auxiliary) - start;
	is_walking = 0;
	told[way].frames += (double)count;
	told[way].walks++;
	return count > 2 ? (double)start / (double)count : -1;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_size(const void *left, const void *right)
{
	float a = *(const float *)left;
	float b = *(const float *)right;

	return (a > b) - (a < b);
}

static double quantile(float *values, size_t count, size_t percent)
{
	if (count == 0)
		return -1;
	qsort(values, count, sizeof(values[0]), by_size);
	return (double)values[(count - 1) * percent / 100] / tsc_per_ns;
}

static void tell_all(void)
{
	FILE *file = fopen(getenv("INSIDE_OUT"), "w");
	size_t i;

	if (file == NULL)
		return;
	for (i = 0; i < WAYS; i++)
		fprintf(file, "%s %.1f %.1f %.1f %.1f %.1f %zu %zu\n",
			way_names[i],
			quantile(told[i].situ, told[i].situ_count, 50),
			quantile(told[i].situ, told[i].situ_count, 10),
			quantile(told[i].situ, told[i].situ_count, 90),
			quantile(told[i].hot, told[i].hot_count, 50),
			told[i].frames / told[i].walks, sample_count,
			told[i].crashes);
	fclose(file);
}

static void keep(float *values, size_t *count, double value)
{
	if (value > 0 && *count < SAMPLES)
		values[(*count)++] = (float)value;
}

/* As the kernel or another process would, before the walk. */
static void copy_stack(uint64_t sp)
{
	uint64_t low = sp - PLIMP_RED_ZONE;

	memcpy(copy, (const void *)(uintptr_t)low,
	       stack_end - low < sizeof(copy) ? stack_end - low : sizeof(copy));
}

static void sampled(int number, siginfo_t *info, void *user)
{
	ucontext_t *context = user;
	uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
	size_t i;

	(void)number;
	(void)info;
	if (sp < stack_start || sp >= stack_end - 4096 ||
	    sample_count >= wanted)
		return;
	for (i = 0; i < WAYS; i++) {
		enum way way = (enum way)((sample_count + i) % WAYS);
		double first;
		double again;

		if (way == COPIED)
			copy_stack(sp);
		first = timed(way, context);
		again = timed(way, context);

		if (i == 0)
			keep(told[way].situ, &told[way].situ_count, first);
		keep(told[way].hot, &told[way].hot_count, again);
	}
	if (++sample_count == wanted) {
		tell_all();
		_exit(0);
	}
}

/* The others, each from its own file. */
static int load_others(void)
{
	void *libunwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_LOCAL);
	void *frames[8];

	if (libunwind == NULL || libgcc == NULL || libc == NULL)
		return -1;
	init_cursor = (init_fn *)dlsym(libunwind, "_ULx86_64_init_local2");
	step_cursor = (step_cursor_fn *)dlsym(libunwind, "_ULx86_64_step");
	get_register = (get_fn *)dlsym(libunwind, "_ULx86_64_get_reg");
	walk = (walk_fn *)dlsym(libgcc, "_Unwind_Backtrace");
	walked_ip = (ip_fn *)dlsym(libgcc, "_Unwind_GetIP");
	backtrace_of_libc = (backtrace_fn *)dlsym(libc, "backtrace");
	if (init_cursor == NULL || step_cursor == NULL ||
	    get_register == NULL || walk == NULL || walked_ip == NULL ||
	    backtrace_of_libc == NULL)
		return -1;
	backtrace_of_libc(frames, 8); /* loads what it needs */
	return 0;
}

static int load_ours(void)
{
	static char maps[1 << 18];
	int descriptor = open("/proc/self/maps", O_RDONLY);
	size_t used = 0;
	ssize_t got;
	const char *line;
	unsigned long long start;
	unsigned long long end;

	while (descriptor >= 0 && used < sizeof(maps) - 1 &&
	       (got = read(descriptor, maps + used, sizeof(maps) - 1 - used)) >
		   0)
		used += (size_t)got;
	close(descriptor);
	line = strstr(maps, "[stack]");
	while (line != NULL && line > maps && line[-1] != '\n')
		line--;
	if (line == NULL || sscanf(line, "%llx-%llx", &start, &end) != 2)
		return -1;
	stack_end = end;
	stack_start = end - (8 << 20);
	memory.descriptor = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	memory.pages = calloc(STEP_PAGES, sizeof(struct step_page));
	memory.stop = 1;
	ours = ours_open();
	cache = calloc(1, plimp_pc_cache_size());
	return ours == NULL || cache == NULL || memory.pages == NULL ||
		       ours_refresh(ours, maps, &memory) != 0
		   ? -1
		   : 0;
}

static void calibrate(void)
{
	double start = now_ns();
	uint64_t ticks = __rdtsc();

	while (now_ns() - start < 20e6)
		;
	tsc_per_ns = (double)(__rdtsc() - ticks) / (now_ns() - start);
}

/* Arms the timer once the program has started and loaded what it needs: only
 * what is mapped by then is in our map. A thread, since it allocates. */
static void *inside_arms(void *user)
{
	struct itimerval timer = {{0, 4000}, {0, 4000}};
	struct timespec nap = {0, 10000000};
	struct timespec cpu;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	do {
		nanosleep(&nap, NULL);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	} while (cpu.tv_sec == 0 && cpu.tv_nsec < 300000000);
	if (load_ours() != 0) {
		fprintf(stderr, "inside: no map\n");
		_exit(1);
	}
	setitimer(ITIMER_PROF, &timer, NULL);
	return user;
}

__attribute__((constructor)) static void inside_begin(void)
{
	struct sigaction action;
	pthread_t thread;

	if (getenv("INSIDE_OUT") == NULL)
		return;
	unsetenv("LD_PRELOAD");
	if (getenv("INSIDE_SAMPLES") != NULL)
		wanted = strtoul(getenv("INSIDE_SAMPLES"), NULL, 10);
	if (load_others() != 0) {
		fprintf(stderr, "inside: the others cannot be loaded\n");
		_exit(1);
	}
	calibrate();
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = sampled;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGPROF, &action, NULL);
	memset(&action, 0, sizeof(action));
	action.sa_handler = crashes;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, NULL);
	if (pthread_create(&thread, NULL, inside_arms, NULL) != 0)
		_exit(1);
}
