/*
 * layout.c - the layouts that are declared in decode_nt_table.c, compared with
 * the SDK's where it declares them, when the library is compiled for Windows.
 * The structures stand here once more as C would lay them out, because the
 * SDK calls half of their members reserved; those that Microsoft's and MinGW's
 * both name are compared, and the sizes.
 */
#include "host/windows/system.h"

#include <psapi.h>
#include <winternl.h>

#include <assert.h>
#include <stddef.h>

struct layout_thread {
	LARGE_INTEGER kernel_time;
	LARGE_INTEGER user_time;
	LARGE_INTEGER create_time;
	ULONG wait_time;
	void *start_address;
	HANDLE pid;
	HANDLE tid;
	LONG priority;
	LONG base_priority;
	ULONG switches;
	ULONG state;
	ULONG wait_reason;
};

struct layout_process {
	ULONG next;
	ULONG thread_count;
	LARGE_INTEGER private_resident;
	ULONG hard_faults;
	ULONG most_threads;
	ULONGLONG cycles;
	LARGE_INTEGER create_time;
	LARGE_INTEGER user_time;
	LARGE_INTEGER kernel_time;
	UNICODE_STRING image_name;
	LONG base_priority;
	HANDLE pid;
	HANDLE parent;
	ULONG handles;
	ULONG session;
	ULONG_PTR key;
	SIZE_T peak_virtual;
	SIZE_T virtual_size;
	ULONG faults;
	SIZE_T peak_resident;
	SIZE_T resident;
	SIZE_T quotas[4];
	SIZE_T pagefile;
	SIZE_T peak_pagefile;
	SIZE_T commit;
	IO_COUNTERS io;
	struct layout_thread threads[1];
};

#define LAYOUT_WORDS(in_64, in_32) (sizeof(void *) == 8 ? (in_64) : (in_32))
#define LAYOUT_IS(member, in_64, in_32) \
	(offsetof(struct layout_process, member) == LAYOUT_WORDS(in_64, in_32))
#define LAYOUT_THREAD(member, in_64, in_32) \
	(offsetof(struct layout_thread, member) == LAYOUT_WORDS(in_64, in_32))
static_assert(LAYOUT_IS(private_resident, 0x8, 0x8), "private_resident");
static_assert(LAYOUT_IS(hard_faults, 0x10, 0x10), "hard_faults");
static_assert(LAYOUT_IS(create_time, 0x20, 0x20), "create_time");
static_assert(LAYOUT_IS(user_time, 0x28, 0x28), "user_time");
static_assert(LAYOUT_IS(kernel_time, 0x30, 0x30), "kernel_time");
static_assert(LAYOUT_IS(image_name, 0x38, 0x38), "image_name");
static_assert(LAYOUT_IS(pid, 0x50, 0x44), "pid");
static_assert(LAYOUT_IS(parent, 0x58, 0x48), "parent");
static_assert(LAYOUT_IS(handles, 0x60, 0x4c), "handles");
static_assert(LAYOUT_IS(session, 0x64, 0x50), "session");
static_assert(LAYOUT_IS(faults, 0x80, 0x60), "faults");
static_assert(LAYOUT_IS(peak_resident, 0x88, 0x64), "peak_resident");
static_assert(LAYOUT_IS(resident, 0x90, 0x68), "resident");
static_assert(LAYOUT_IS(commit, 0xc8, 0x84), "commit");
static_assert(LAYOUT_IS(io, 0xd0, 0x88), "io");
static_assert(LAYOUT_IS(threads, 0x100, 0xb8), "threads");

static_assert(LAYOUT_THREAD(start_address, 0x20, 0x1c), "start_address");
static_assert(LAYOUT_THREAD(tid, 0x30, 0x24), "tid");
static_assert(LAYOUT_THREAD(switches, 0x40, 0x30), "switches");
static_assert(LAYOUT_THREAD(state, 0x44, 0x34), "state");
static_assert(LAYOUT_THREAD(wait_reason, 0x48, 0x38), "wait_reason");
static_assert(sizeof(struct layout_thread) ==
		  (sizeof(void *) == 8 ? 0x50 : 0x40),
	      "a thread");

/* What the SDK does declare. */
static_assert(offsetof(SYSTEM_PROCESS_INFORMATION, UniqueProcessId) ==
		  offsetof(struct layout_process, pid),
	      "the SDK's pid");
static_assert(offsetof(SYSTEM_PROCESS_INFORMATION, HandleCount) ==
		  offsetof(struct layout_process, handles),
	      "the SDK's handles");
static_assert(offsetof(SYSTEM_PROCESS_INFORMATION, PrivatePageCount) ==
		  offsetof(struct layout_process, commit),
	      "the SDK's commit");
static_assert(sizeof(SYSTEM_PROCESS_INFORMATION) ==
		  offsetof(struct layout_process, threads),
	      "the threads lie behind the SDK's structure");
static_assert(sizeof(SYSTEM_THREAD_INFORMATION) == sizeof(struct layout_thread),
	      "the SDK's thread");
static_assert(sizeof(IO_COUNTERS) == PLIMP_NT_IO_SIZE, "I/O counters");
static_assert(offsetof(PROCESS_MEMORY_COUNTERS_EX, PeakWorkingSetSize) == 8,
	      "the first word of the memory counters");
static_assert(offsetof(PROCESS_MEMORY_COUNTERS_EX, PagefileUsage) ==
		  8 + 6 * sizeof(void *),
	      "the seventh");
static_assert(offsetof(PROCESS_MEMORY_COUNTERS_EX, PrivateUsage) ==
		  8 + 8 * sizeof(void *),
	      "the ninth");
static_assert(offsetof(UNICODE_STRING, Buffer) == sizeof(void *),
	      "a string's characters");
static_assert(offsetof(PEB, ProcessParameters) ==
		  (sizeof(void *) == 8 ? 0x20 : 0x10),
	      "the parameters in the PEB");
static_assert(offsetof(RTL_USER_PROCESS_PARAMETERS, CommandLine) ==
		  (sizeof(void *) == 8 ? 0x70 : 0x40),
	      "the command line in the parameters");

const struct plimp_nt_layout *const plimp_nt_layout =
    sizeof(void *) == 8 ? &plimp_nt_layout_64 : &plimp_nt_layout_32;
