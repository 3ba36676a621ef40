/*
 * layout.h - what the kernel of macOS answers, declared by us.
 *
 * These are the structures of XNU's bsd/sys/proc_info.h, proc_info_private.h
 * and resource.h, with our own names and types of a fixed size. They are not
 * laid over bytes: the decoders take an offset from them and put the number
 * together, so that any bytes at any place may be read. All numbers are little
 * endian. layout_check.c, which is compiled for macOS alone, compares each
 * size and offset that is used with Apple's headers. Those lack the structure
 * of the unique identifier and the flavours 17 and 28, which were compared with
 * XNU's published source by hand.
 */
#ifndef PLIMP_MACOS_LAYOUT_H
#define PLIMP_MACOS_LAYOUT_H

#include <stdint.h>

/* Flavours of proc_pidinfo(). 17 and 28 stand in a private header; the latter
 * came with macOS 10.14 (xnu-4903). */
enum plimp_mac_flavour {
	PLIMP_MAC_LIST_FILES = 1,
	PLIMP_MAC_BSDINFO = 3,
	PLIMP_MAC_TASKINFO = 4,
	PLIMP_MAC_THREAD = 5,
	PLIMP_MAC_LIST_THREADS = 6,
	PLIMP_MAC_BSDSHORT = 13,
	PLIMP_MAC_THREAD_BY_ID = 15,
	PLIMP_MAC_UNIQUE = 17,
	PLIMP_MAC_LIST_THREAD_IDS = 28
};

/* Values of a status. */
enum plimp_mac_status {
	PLIMP_MAC_IDLE = 1, /* being made */
	PLIMP_MAC_RUN = 2,  /* not stopped; whether it runs its threads tell */
	PLIMP_MAC_SLEEP = 3,
	PLIMP_MAC_STOP = 4,
	PLIMP_MAC_ZOMBIE = 5
};

#define PLIMP_MAC_FLAG_SYSTEM  1u /* the kernel itself */
#define PLIMP_MAC_FLAG_EXITING 4u /* on its way out */

#define PLIMP_MAC_COMM	      16
#define PLIMP_MAC_THREAD_NAME 64

struct plimp_mac_bsdinfo {
	uint32_t flags;
	uint32_t status;
	uint32_t exit_status;
	uint32_t pid;
	uint32_t ppid;
	uint32_t uid;
	uint32_t gid;
	uint32_t real_uid;
	uint32_t real_gid;
	uint32_t saved_uid;
	uint32_t saved_gid;
	uint32_t reserved;
	char comm[PLIMP_MAC_COMM];
	char name[2 * PLIMP_MAC_COMM]; /* empty if there is none */
	uint32_t files;		       /* room in the table, not those open */
	uint32_t group;
	uint32_t job_control;
	uint32_t terminal;
	uint32_t terminal_group;
	int32_t nice;
	uint64_t start_s; /* Unix time */
	uint64_t start_us;
};

struct plimp_mac_bsdshort {
	uint32_t pid;
	uint32_t ppid;
	uint32_t group;
	uint32_t status;
	char comm[PLIMP_MAC_COMM];
	uint32_t flags;
	uint32_t uid;
	uint32_t gid;
	uint32_t real_uid;
	uint32_t real_gid;
	uint32_t saved_uid;
	uint32_t saved_gid;
	uint32_t reserved;
};

struct plimp_mac_uniqueinfo {
	uint8_t executable[16];
	uint64_t id; /* never another process's until the machine restarts */
	uint64_t parent_id;
	int32_t version; /* another after every exec; 0 in older kernels */
	int32_t parent_version;
	uint64_t reserved[2];
};

/* Times are in Mach ticks. The counters stop at 2^31 - 1 since macOS 12; before
 * (xnu-7195) they go on into negative numbers, and begin again. */
struct plimp_mac_taskinfo {
	uint64_t virtual_size;
	uint64_t resident_size;
	uint64_t total_user;
	uint64_t total_system;
	uint64_t threads_user;
	uint64_t threads_system;
	int32_t policy;
	int32_t faults;
	int32_t pageins;
	int32_t cow_faults;
	int32_t messages_sent;
	int32_t messages_received;
	int32_t syscalls_mach;
	int32_t syscalls_unix;
	int32_t switches; /* of context; no figure is made of them */
	int32_t threads;
	int32_t running;
	int32_t priority;
};

/* Times are in nanoseconds, in steps of a microsecond. */
struct plimp_mac_threadinfo {
	uint64_t user_time;
	uint64_t system_time;
	int32_t cpu_usage;
	int32_t policy;
	int32_t run_state;
	int32_t flags;
	int32_t sleep_time;
	int32_t current_priority;
	int32_t priority;
	int32_t most_priority;
	char name[PLIMP_MAC_THREAD_NAME];
};

/* An entry of the list of open files. */
struct plimp_mac_fdinfo {
	int32_t fd;
	uint32_t type;
};

/*
 * struct rusage_info_v6. Each version has what the one before has and more at
 * the end: V0 ends behind exit_ticks, V1 behind child_elapsed_ticks, V2 behind
 * disk_written, V3 behind serviced_system_ticks, V4 behind runnable_ticks, V5
 * behind flags.
 */
struct plimp_mac_rusageinfo {
	uint8_t executable[16];
	uint64_t user_ticks;
	uint64_t system_ticks;
	uint64_t package_idle_wakeups; /* stays 0 on a busy machine */
	uint64_t interrupt_wakeups;
	uint64_t pageins;
	uint64_t wired_size;
	uint64_t resident_size;
	uint64_t footprint;
	uint64_t start_ticks; /* Mach ticks since boot */
	uint64_t exit_ticks;  /* 0 until it is on its way out */
	uint64_t child_user_ticks;
	uint64_t child_system_ticks;
	uint64_t child_package_idle_wakeups;
	uint64_t child_interrupt_wakeups;
	uint64_t child_pageins;
	uint64_t child_elapsed_ticks;
	uint64_t disk_read;
	uint64_t disk_written;
	uint64_t qos_ticks[7];
	uint64_t billed_system_ticks;
	uint64_t serviced_system_ticks;
	uint64_t logical_writes;
	uint64_t lifetime_max_footprint;
	uint64_t instructions;
	uint64_t cycles;
	uint64_t billed_energy;
	uint64_t serviced_energy;
	uint64_t interval_max_footprint;
	uint64_t runnable_ticks;
	uint64_t flags;
	uint64_t later[20];
};

#define PLIMP_MAC_RUSAGE_LEAST 2
#define PLIMP_MAC_RUSAGE_MOST  6

#endif
