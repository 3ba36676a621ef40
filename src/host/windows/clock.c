/*
 * clock.c - the clocks.
 *
 * Windows 10 tells both times of a stamp in units of 100 ns: interrupt time
 * counts on while the machine sleeps, unbiased interrupt time does not. Before
 * there is the performance counter alone; then both are that, and a sleep of
 * the machine is not told from an interval. Processes and threads are dated by
 * the system's wall clock as of its last tick, so that is what start ticks
 * are: a clock that is set back can make a newborn look old, never an old one
 * be counted twice.
 */
#include "host/windows/system.h"

#include <stdatomic.h>
#include <string.h>

typedef void(WINAPI clock_precise_fn)(ULONGLONG *);

/* 0: not looked for yet, 1: both are there, 2: not. Looking twice does no
 * harm. */
static atomic_int clock_looked;
static clock_precise_fn *_Atomic clock_interrupt;
static clock_precise_fn *_Atomic clock_unbiased;
static _Atomic uint64_t clock_frequency;

static clock_precise_fn *clock_find(const char *name)
{
	HMODULE module = GetModuleHandleW(L"kernelbase.dll");
	FARPROC found = module != NULL ? GetProcAddress(module, name) : NULL;
	clock_precise_fn *function = NULL;

	memcpy(&function, &found, sizeof found);
	return function;
}

static int clock_look(void)
{
	int looked = atomic_load(&clock_looked);
	LARGE_INTEGER frequency;

	if (looked != 0)
		return looked;
	clock_interrupt = clock_find("QueryInterruptTimePrecise");
	clock_unbiased = clock_find("QueryUnbiasedInterruptTimePrecise");
	QueryPerformanceFrequency(&frequency);
	clock_frequency = (uint64_t)frequency.QuadPart;
	looked = clock_interrupt != NULL && clock_unbiased != NULL ? 1 : 2;
	atomic_store(&clock_looked, looked);
	return looked;
}

static uint64_t clock_counter(void)
{
	const uint64_t frequency = clock_frequency;
	LARGE_INTEGER count;
	uint64_t ticks;

	QueryPerformanceCounter(&count);
	ticks = (uint64_t)count.QuadPart;
	return ticks / frequency * 1000000000u +
	       ticks % frequency * 1000000000u / frequency;
}

uint64_t plimp_system_monotonic(void)
{
	ULONGLONG units;

	if (clock_look() != 1)
		return clock_counter();
	clock_unbiased(&units);
	return plimp_nt_ns(units);
}

plim_stamp plimp_system_now(void)
{
	plim_stamp now;
	ULONGLONG units;

	now.monotonic.ns = plimp_system_monotonic();
	now.boottime.ns = now.monotonic.ns;
	if (clock_look() == 1) {
		clock_interrupt(&units);
		now.boottime.ns = plimp_nt_ns(units);
	}
	return now;
}

uint64_t plimp_system_unix_ns(void)
{
	const uint64_t unix_epoch = UINT64_C(116444736000000000);
	const uint64_t now = plimp_nt_filetime();

	return now > unix_epoch ? plimp_nt_ns(now - unix_epoch) : 0;
}

/* The wall clock now, less what has passed since. */
uint64_t plimp_system_ticks(const plim_host *host, plim_boottime when)
{
	uint64_t wall = plimp_nt_filetime();
	uint64_t now = plimp_system_now().boottime.ns;
	uint64_t past = now > when.ns ? (now - when.ns) / 100 : 0;

	(void)host;
	return past < wall ? wall - past : 0;
}

static plim_count clock_of_thread(plim_host *host, int method)
{
	FILETIME create;
	FILETIME end;
	FILETIME kernel;
	FILETIME user;

	host->bill.system_calls++;
	if (!GetThreadTimes(GetCurrentThread(), &create, &end, &kernel, &user))
		return plimp_nt_missing((int)GetLastError());
	return plimp_known(
	    plimp_nt_ns(plimp_nt_units(kernel) + plimp_nt_units(user)), method);
}

plim_count plimp_system_thread_cpu(plim_host *host)
{
	return clock_of_thread(host, PLIM_METHOD_SYSTEM);
}

/* Of the table, so that the switches of this thread and its process's CPU
 * time are of one instant. */
void plimp_system_own(plim_host *host, struct plimp_own *own)
{
	const DWORD tid = GetCurrentThreadId();
	const struct plimp_nt_entry *entry = NULL;
	struct plimp_nt_thread thread;
	size_t i;

	own->tid = (int32_t)tid;
	own->wakeups = plim_count_missing(PLIM_REASON_NOT_IN_TABLE, 0);
	own->involuntary = plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
	own->process_cpu_ns = own->wakeups;
	plimp_system_begin(host);
	if (plimp_nt_table_take(host, NULL) == PLIM_OK)
		entry = plimp_nt_table_find(host, host->system->self.pid);
	if (entry != NULL && entry->lacks[PLIMP_NT_TABLE_TIMES] == 0)
		own->process_cpu_ns =
		    plimp_known(plimp_nt_ns(entry->process.kernel_time +
					    entry->process.user_time),
				plimp_nt_table_methods[PLIMP_NT_TABLE_TIMES]);
	for (i = 0; entry != NULL && i < entry->process.thread_count; i++) {
		if (plimp_decode_nt_thread(entry->process.threads,
					   plimp_nt_layout, i,
					   &thread) != PLIM_OK ||
		    thread.tid != tid)
			continue;
		own->wakeups =
		    entry->lacks[PLIMP_NT_TABLE_SWITCHES] != 0
			? plim_count_missing(
			      entry->lacks[PLIMP_NT_TABLE_SWITCHES], 0)
			: plimp_known(thread.switches,
				      PLIM_METHOD_THREAD_TABLE);
		break;
	}
	own->cpu_ns = clock_of_thread(host, PLIM_METHOD_SYSTEM);
}

/* A timer of high resolution (Windows 10, 1803) where there is one; without
 * it the rest of a tick of 15.6 ms may be slept longer. */
void plimp_system_sleep(plim_host *host, uint64_t ns, int descriptor)
{
	const DWORD high_resolution = 2;
	const uint64_t most = UINT64_C(86400) * 1000000000u;
	LARGE_INTEGER due;
	HANDLE timer;

	(void)descriptor; /* there are none to wait for here */
	host->bill.system_calls++;
	timer = CreateWaitableTimerExW(NULL, NULL, high_resolution,
				       TIMER_ALL_ACCESS);
	if (timer == NULL)
		timer = CreateWaitableTimerW(NULL, TRUE, NULL);
	while (ns > 0) {
		const uint64_t part = ns < most ? ns : most;

		due.QuadPart = -(LONGLONG)((part + 99) / 100);
		host->bill.system_calls++;
		if (timer == NULL ||
		    !SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE))
			Sleep((DWORD)((part + 999999) / 1000000));
		else
			WaitForSingleObject(timer, INFINITE);
		ns -= part;
	}
	plimp_nt_close(host, timer);
}
