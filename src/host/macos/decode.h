/*
 * decode.h - the bytes that the kernel of macOS answers, as numbers.
 *
 * Every decoder takes what came and its size, trusts none of it, and includes
 * no system header: it is compiled, tested and fuzzed on every system. An
 * answer of another size than its structure has is PLIM_EMALFORMED, as is a
 * number that cannot be; outputs are then as they were. Texts in the outputs
 * point into the bytes.
 */
#ifndef PLIMP_MACOS_DECODE_H
#define PLIMP_MACOS_DECODE_H

#include "host/macos/layout.h"

#include <plimsoll/base.h>

/* PROC_PIDTBSDINFO, or the short one that is told of any user's process. */
struct plimp_mac_process {
	int32_t pid;
	int32_t ppid;
	uint32_t uid;
	uint32_t flags;
	uint32_t status; /* enum plimp_mac_status */
	plim_bytes name;
	/* Not in the short one. */
	int has_more;
	int32_t nice;
	uint64_t start_unix_us;
};
int plimp_decode_mac_bsdinfo(plim_bytes bytes,
			     struct plimp_mac_process *process);
int plimp_decode_mac_bsdshort(plim_bytes bytes,
			      struct plimp_mac_process *process);

/* PROC_PIDUNIQIDENTIFIERINFO. An id of 0 is none: it is refused. */
struct plimp_mac_unique {
	uint64_t id;
	uint64_t parent_id;
	uint32_t version; /* 0: not told */
};
int plimp_decode_mac_unique(plim_bytes bytes, struct plimp_mac_unique *unique);

/* PROC_PIDTASKINFO. */
struct plimp_mac_task {
	uint64_t user_ticks;
	uint64_t system_ticks;
	uint64_t resident_bytes;
	uint32_t threads;
	uint32_t running;
	int has_faults; /* neither counter is beyond its largest */
	uint32_t faults;
	uint32_t pageins;
	int faults_are_least; /* the counter has stopped at its largest */
};
int plimp_decode_mac_task(plim_bytes bytes, struct plimp_mac_task *task);

/* PROC_PIDTHREADINFO, by handle or by id. */
struct plimp_mac_thread {
	uint64_t cpu_ns; /* user and system */
	char state;	 /* a letter of PLIM_FIELD_STATE, 0 if not known */
	plim_bytes name; /* empty if there is none */
};
int plimp_decode_mac_thread(plim_bytes bytes, struct plimp_mac_thread *thread);

/* An entry of a list of threads (64 bits) or of pids (32); the list has
 * `bytes.size` divided by the size of one, and what is left over is none. */
uint64_t plimp_decode_mac_handle(plim_bytes bytes, size_t index);
int32_t plimp_decode_mac_pid(plim_bytes bytes, size_t index);

/* proc_pid_rusage() of this flavour, 2 to 6. */
struct plimp_mac_rusage {
	uint64_t user_ticks;
	uint64_t system_ticks;
	uint64_t interrupt_wakeups;
	uint64_t pageins;
	uint64_t resident_bytes;
	uint64_t footprint_bytes;
	uint64_t start_ticks;
	uint64_t exit_ticks; /* 0: it lives */
	uint64_t child_user_ticks;
	uint64_t child_system_ticks;
	uint64_t child_interrupt_wakeups;
	uint64_t disk_read_bytes;
	uint64_t disk_written_bytes;
	int has_peak; /* flavour 4 and above */
	uint64_t peak_footprint_bytes;
};
int plimp_decode_mac_rusage(plim_bytes bytes, int flavour,
			    struct plimp_mac_rusage *rusage);

/* The size of the answer of this flavour, 0 for one that is not known. */
size_t plimp_mac_rusage_size(int flavour);

/*
 * KERN_PROCARGS2: the number of arguments, the path of the program, the
 * arguments, each ended by a NUL, and what else the kernel tells, the
 * environment first. `arguments` has those that are whole; where fewer are
 * than the number says `is_whole` is 0. What stands behind is not looked at.
 */
struct plimp_mac_arguments {
	plim_bytes program;
	plim_bytes arguments;
	uint32_t count; /* those found */
	int is_whole;
};
int plimp_decode_mac_arguments(plim_bytes bytes,
			       struct plimp_mac_arguments *arguments);

/* The id of the boot, as "kern.bootsessionuuid" has it: 36 characters, a NUL
 * may stand behind them. Linux's plimp_decode_boot_id() takes a newline there;
 * it stands in a folder that none of this one's files includes. */
int plimp_decode_mac_boot(plim_bytes bytes, uint8_t boot[16]);

/* The scale of Mach ticks: a tick is numerator / denominator nanoseconds. */
struct plimp_mac_scale {
	uint32_t numerator;
	uint32_t denominator;
};

/* 1 if the scale is one: neither number is 0, and there are whole ticks in a
 * second. */
int plimp_mac_scale_is_sound(struct plimp_mac_scale scale);

/* Rounded down; UINT64_MAX where it does not fit. The scale is sound. */
uint64_t plimp_mac_ticks_to_ns(struct plimp_mac_scale scale, uint64_t ticks);
uint64_t plimp_mac_ns_to_ticks(struct plimp_mac_scale scale, uint64_t ns);
uint64_t plimp_mac_ticks_per_second(struct plimp_mac_scale scale);

#endif
