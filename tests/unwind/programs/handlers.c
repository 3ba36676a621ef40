/*
 * handlers.c - stacks that are hard to walk: signal handlers that nest, on an
 * alternate stack and on the plain one; frames that grow (alloca), realigned
 * frames, calls through pointers with many arguments; the clocks of the vDSO;
 * a handler that leaves by siglongjmp. It goes on until it is ended. Signals
 * are rare, since at each a traced process waits for its tracer.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sum;
static sigjmp_buf back;

__attribute__((noinline)) static void clocks(int rounds)
{
	struct timespec now;
	struct timeval day;

	while (rounds-- > 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		sum += (unsigned long)now.tv_nsec;
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		gettimeofday(&day, NULL);
		sum += (unsigned long)day.tv_usec + (unsigned long)time(NULL);
	}
}

__attribute__((noinline)) static void grows(size_t size, int depth)
{
	char *bytes = alloca(size);

	memset(bytes, depth, size);
	sum += (unsigned long)bytes[size / 2];
	if (depth > 0)
		grows(size + 40, depth - 1);
	else
		clocks(3);
	sum += (unsigned long)bytes[size - 1];
}

__attribute__((noinline)) static void realigned(int depth)
{
	_Alignas(64) unsigned char bytes[128];

	memset(bytes, depth, sizeof(bytes));
	sum += bytes[5] + (unsigned long)((uintptr_t)bytes & 63);
	if (depth > 0)
		realigned(depth - 1);
	else
		grows(100, 3);
	sum += bytes[100];
}

__attribute__((noinline)) static long
many(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	if (a > 0)
		return many(a - 1, i, b, c, d, e, f, g, h) + b;
	realigned(2);
	return b + c + d + e + f + g + h + i;
}

static long (*volatile called)(long, long, long, long, long, long, long, long,
			       long) = many;

static int by_value(const void *left, const void *right)
{
	int a = *(const int *)left;
	int b = *(const int *)right;

	return (a > b) - (a < b);
}

static void innermost(int number)
{
	int values[32];
	size_t i;

	(void)number;
	for (i = 0; i < 32; i++)
		values[i] = (int)((sum + i * 7919) % 97);
	qsort(values, 32, sizeof(values[0]), by_value);
	clocks(2);
}

static void nested(int number)
{
	(void)number;
	raise(SIGUSR2);
	realigned(1);
}

static void on_alternate(int number)
{
	(void)number;
	grows(64, 2);
	raise(SIGUSR1);
}

static void leaves(int number)
{
	(void)number;
	clocks(1);
	siglongjmp(back, 1);
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(signal, &action, NULL);
}

int main(void)
{
	stack_t other = {.ss_size = 65536};
	struct itimerval timer = {{0, 5000}, {0, 5000}};
	volatile unsigned round = 0; /* survives the jump */

	other.ss_sp = malloc(other.ss_size);
	if (other.ss_sp == NULL || sigaltstack(&other, NULL) != 0)
		return 1;
	handle(SIGUSR2, innermost, 0);
	handle(SIGUSR1, nested, SA_NODEFER);
	handle(SIGPROF, on_alternate, SA_ONSTACK | SA_RESTART);
	handle(SIGHUP, leaves, SA_ONSTACK);
	setitimer(ITIMER_PROF, &timer, NULL);
	for (;;) {
		sum += (unsigned long)called(4, 1, 2, 3, 4, 5, 6, 7, 8);
		clocks(5);
		if (++round % 256 == 0 && sigsetjmp(back, 1) == 0)
			raise(SIGHUP);
	}
}
