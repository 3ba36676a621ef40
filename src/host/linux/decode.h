/*
 * decode.h - bytes of Linux's /proc, and of its records, into numbers.
 *
 * Each decoder has a file of its own, takes a run of bytes (not terminated,
 * from anywhere, hostile), includes no system header and is compiled, tested
 * and fuzzed on every system. All return PLIM_OK, or PLIM_EMALFORMED and
 * leave their output untouched. Numbers that do not fit their type are
 * malformed, not wrapped. None allocates.
 */
#ifndef PLIMP_DECODE_H
#define PLIMP_DECODE_H

#include "core/reader.h"
#include "core/stack.h"

#include <plimsoll/base.h>

/*
 * /proc/PID/stat and /proc/PID/task/TID/stat: fs/proc/array.c do_task_stat.
 * The name stands between the first "(" and the last ")"; it may hold any
 * byte. Fields 1 to 22 must be there; later ones are optional (`has`).
 */
#define PLIMP_STAT_EXITING	 0x4u	   /* PF_EXITING in field 9 */
#define PLIMP_STAT_KERNEL_THREAD 0x200000u /* PF_KTHREAD */
enum plimp_stat_part {
	PLIMP_STAT_ARGUMENTS = 1, /* fields 48 and 49, not zero */
	PLIMP_STAT_EXIT_CODE = 2, /* field 52 */
	PLIMP_STAT_STACK = 4,	  /* field 28, not zero */
	PLIMP_STAT_BLOCK_IO = 8	  /* field 42 */
};
struct plimp_stat {
	int32_t pid;		      /* 1 */
	plim_bytes name;	      /* 2, points into the text */
	char state;		      /* 3 */
	int32_t ppid;		      /* 4 */
	uint64_t flags;		      /* 9 */
	uint64_t faults_minor;	      /* 10 */
	uint64_t faults_major;	      /* 12 */
	uint64_t user_ticks;	      /* 14 */
	uint64_t system_ticks;	      /* 15 */
	uint64_t children_user_ticks; /* 16, signed in the kernel, never < 0 */
	uint64_t children_system_ticks; /* 17 */
	int32_t nice;			/* 19 */
	uint64_t threads;		/* 20 */
	uint64_t start_ticks;		/* 22 */
	uint64_t stack_start;		/* 28: another one after every exec */
	uint64_t block_io_ticks;	/* 42, of this thread alone */
	uint64_t arguments_start;	/* 48 */
	uint64_t arguments_end;		/* 49 */
	int32_t exit_code;		/* 52 */
	uint32_t has;
};
int plimp_decode_stat(plim_bytes text, struct plimp_stat *stat);

/* /proc/PID/statm: seven numbers in pages; the first three are used. */
struct plimp_statm {
	uint64_t size_pages;
	uint64_t resident_pages;
	uint64_t shared_pages; /* file and shared memory; resident - shared is
				* anonymous */
};
int plimp_decode_statm(plim_bytes text, struct plimp_statm *statm);

/*
 * /proc/PID/status: lines "Key:\tvalue", sizes as "N kB". Unknown lines, and
 * known ones that are not as documented, are left out (`has`); a file without
 * one known line is malformed.
 */
enum plimp_status_part {
	PLIMP_STATUS_TGID = 1 << 0,
	PLIMP_STATUS_PID = 1 << 1,
	PLIMP_STATUS_PPID = 1 << 2,
	PLIMP_STATUS_UID = 1 << 3,
	PLIMP_STATUS_HWM = 1 << 4,
	PLIMP_STATUS_RSS = 1 << 5,
	PLIMP_STATUS_ANON = 1 << 6,
	PLIMP_STATUS_FILE = 1 << 7,
	PLIMP_STATUS_SHMEM = 1 << 8,
	PLIMP_STATUS_SWAP = 1 << 9,
	PLIMP_STATUS_PTE = 1 << 10,
	PLIMP_STATUS_THREADS = 1 << 11,
	PLIMP_STATUS_VOLUNTARY = 1 << 12,
	PLIMP_STATUS_INVOLUNTARY = 1 << 13,
	PLIMP_STATUS_IGNORED = 1 << 14
};
struct plimp_status {
	uint32_t has;
	int32_t tgid;
	int32_t pid;
	int32_t ppid;
	uint32_t uid;	     /* the effective one, second of the Uid line */
	uint64_t peak_bytes; /* VmHWM */
	uint64_t resident_bytes;
	uint64_t anonymous_bytes;
	uint64_t file_bytes;
	uint64_t shmem_bytes;
	uint64_t swap_bytes;
	uint64_t page_table_bytes; /* VmPTE */
	uint64_t threads;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t ignored; /* SigIgn: bit N - 1 for signal N */
};
int plimp_decode_status(plim_bytes text, struct plimp_status *status);

/* The same of these parts alone, bits of `has`: cheaper the fewer, and the
 * nearer to the beginning the last of them stands. */
int plimp_decode_status_parts(plim_bytes text, uint32_t parts,
			      struct plimp_status *status);

/* The signals that a thread blocks, of the same text: bit N - 1 for signal N.
 * PLIM_EMALFORMED where there is no such line. */
int plimp_decode_blocked(plim_bytes text, uint64_t *mask);
/* Those, and what waits for the thread, and for any of its process (SigPnd,
 * ShdPnd): PLIM_EMALFORMED where a line is not there. */
struct plimp_signal_masks {
	uint64_t blocked;
	uint64_t pending;
	uint64_t shared;
};
int plimp_decode_signals(plim_bytes text, struct plimp_signal_masks *masks);

/* The pid by which a process knows itself, of the same text: the last of the
 * line "NSpid:" (Linux 4.1), one number for each pid namespace, the innermost
 * last. PLIM_EMALFORMED where there is no such line. */
int plimp_decode_own_pid(plim_bytes text, int32_t *pid);

/* /proc/PID/io: lines "key: N". All seven must be there. */
struct plimp_io {
	uint64_t read_chars;
	uint64_t written_chars;
	uint64_t read_calls;
	uint64_t write_calls;
	uint64_t read_bytes;
	uint64_t write_bytes;
	uint64_t cancelled_bytes;
};
int plimp_decode_io(plim_bytes text, struct plimp_io *io);

/* /proc/PID/schedstat, of one thread: ns on a CPU, ns of waiting for one while
 * it could run, times put on one. Three numbers, and all 0 of a thread that
 * ran if the kernel does not count them. */
struct plimp_schedstat {
	uint64_t run_ns;
	uint64_t wait_ns;
	uint64_t switches_in;
};
int plimp_decode_schedstat(plim_bytes text, struct plimp_schedstat *schedstat);

/*
 * /proc/PID/task/TID/syscall: "running", "-1 SP PC", or the number of a call
 * with its arguments, SP and PC; the last ones may be left out.
 */
enum plimp_syscall_kind {
	PLIMP_SYSCALL_CALL = 1,
	PLIMP_SYSCALL_RUNNING = 2,
	PLIMP_SYSCALL_OUTSIDE = 3 /* it waits, but not in a call */
};
struct plimp_syscall {
	int kind;
	int has_place;	 /* the two addresses stood there */
	uint64_t number; /* of a call, at most 2^31 - 1; 0 is one */
	uint64_t stack;
	uint64_t program;
	uint64_t arguments[6]; /* of a call with a place: any bits at all */
};
int plimp_decode_syscall(plim_bytes text, struct plimp_syscall *call);

/* The name of a call of this machine ("x86_64", "aarch64"), or NULL. */
const char *plimp_syscall_name(const char *machine, uint64_t number);

/*
 * The same of a call that was read, or NULL where it cannot be told: a 32-bit
 * program on a 64-bit kernel has other numbers, and is known by nothing but
 * its addresses, both of which lie below 4 GiB.
 */
const char *plimp_syscall_told(const char *machine,
			       const struct plimp_syscall *call);

/* /proc/PID/task/TID/wchan: 1 and the name of a function of the kernel, a
 * part of the text; 0 for "0", which is none; PLIM_EMALFORMED. */
#define PLIMP_WCHAN_SIZE 511
int plimp_decode_wchan(plim_bytes text, plim_bytes *name);

/*
 * Entries of getdents64(2), which is a kernel format of this shape on every
 * architecture: ino u64, off i64, reclen u16, type u8, name. Walks from
 * `*offset`, which starts at 0: stores the next name that is a decimal number
 * from 1 to 2^31 - 1 and returns 1; 0 at the end; PLIM_EMALFORMED for a
 * record that leaves the buffer or has no room for its name.
 */
int plimp_decode_dents(plim_bytes records, size_t *offset, int32_t *number);

/*
 * One line of /proc/self/mountinfo after another (proc(5)): the mount point
 * with its \ooo escapes as they are, the file system type, and the options of
 * the file system. Starts with `*offset` 0; 1, 0 at the end, PLIM_EMALFORMED
 * for a line (the offset is then behind it, so that the walk can go on).
 */
struct plimp_mount {
	plim_bytes root;
	plim_bytes point;
	plim_bytes type;
	plim_bytes options; /* of the super block */
};
int plimp_decode_mount(plim_bytes text, size_t *offset,
		       struct plimp_mount *mount);

/* The value of `name` in a list "a,b=c,d"; an option without a value gives
 * an empty text. 1 if it is there, else 0. */
int plimp_decode_mount_option(plim_bytes options, const char *name,
			      plim_bytes *value);

/*
 * A line of /proc/PID/maps, without its newline: "START-END PERM OFFSET DEVICE
 * INODE NAME", which is also the head of a mapping in smaps. `name` is a part
 * of the line, as it stands there; plimp_decode_map_name() undoes its escapes.
 */
enum plimp_map_permission { /* bits */
			    PLIMP_MAP_READ = 1,
			    PLIMP_MAP_WRITE = 2,
			    PLIMP_MAP_EXECUTE = 4,
			    PLIMP_MAP_SHARED = 8
};
struct plimp_map {
	uint64_t start; /* < end */
	uint64_t end;
	uint64_t offset;
	uint64_t device; /* major << 32 | minor */
	uint64_t inode;
	uint32_t permissions;
	plim_bytes name;
};
int plimp_decode_map(plim_bytes line, struct plimp_map *map);

/* Copies a name with "\\012" made a newline; at most name.size bytes, whose
 * number is returned. The kernel escapes nothing else: a file whose name holds
 * these four characters looks the same. */
size_t plimp_decode_map_name(plim_bytes name, char *buffer);

/*
 * The lines of smaps and smaps_rollup. Sizes are "Key: N kB", in bytes here. A
 * line that is neither such nor VmFlags, or is not known, is passed over; of
 * one that comes twice the first counts.
 */
enum plimp_smaps_row {
	PLIMP_SMAPS_RSS,
	PLIMP_SMAPS_PSS,
	PLIMP_SMAPS_PSS_DIRTY,
	PLIMP_SMAPS_PSS_ANON,
	PLIMP_SMAPS_PSS_FILE,
	PLIMP_SMAPS_PSS_SHMEM,
	PLIMP_SMAPS_SHARED_CLEAN,
	PLIMP_SMAPS_SHARED_DIRTY,
	PLIMP_SMAPS_PRIVATE_CLEAN,
	PLIMP_SMAPS_PRIVATE_DIRTY,
	PLIMP_SMAPS_ANONYMOUS,
	PLIMP_SMAPS_LAZY_FREE,
	PLIMP_SMAPS_ANON_HUGE,
	PLIMP_SMAPS_SHARED_HUGETLB,
	PLIMP_SMAPS_PRIVATE_HUGETLB,
	PLIMP_SMAPS_SWAP,
	PLIMP_SMAPS_SWAP_PSS,
	PLIMP_SMAPS_LOCKED,
	PLIMP_SMAPS_FLAGS, /* of `has` alone */
	PLIMP_SMAPS_ROWS = PLIMP_SMAPS_FLAGS
};
enum plimp_smaps_flag { /* bits: words of VmFlags */
			PLIMP_SMAPS_NH = 1,
			PLIMP_SMAPS_NR = 2,
			PLIMP_SMAPS_AC = 4,
			PLIMP_SMAPS_HT = 8,
			PLIMP_SMAPS_GD = 16,
			PLIMP_SMAPS_IO = 32, /* io or pf */
			PLIMP_SMAPS_HG = 64,
			PLIMP_SMAPS_LO = 128
};
struct plimp_smaps {
	uint32_t has;	/* bit N for row N */
	uint32_t flags; /* enum plimp_smaps_flag */
	uint64_t bytes[PLIMP_SMAPS_ROWS];
};
/* Takes one line without its newline into what is there already: 1 if it told
 * something new, else 0. */
int plimp_decode_smaps_line(plim_bytes line, struct plimp_smaps *smaps);
/* All lines of a smaps_rollup; a last line without its newline was cut. At
 * least one must be known. */
int plimp_decode_smaps(plim_bytes text, struct plimp_smaps *smaps);

/*
 * Entries of /proc/PID/pagemap, 8 bytes each in the machine's order, as bits of
 * enum plimp_page: entries.size / 8 of them. A page that may be the shared zero
 * page (present, anonymous, not exclusive) is READABLE alone, and 1 is
 * returned if there is such a one, else 0; unless `zero_frame`, the frame of
 * that page, is not 0 and the entry tells its own. PLIM_EMALFORMED for a size
 * that is no multiple of 8.
 */
int plimp_decode_pagemap(plim_bytes entries, uint64_t zero_frame,
			 uint8_t *pages);

/*
 * The next of the regions that PAGEMAP_SCAN stored (struct page_region of
 * include/uapi/linux/fs.h: start, end, categories; 24 bytes, ascending). Starts
 * with `*offset` 0; 1, 0 at the end, PLIM_EMALFORMED for one that is empty, cut
 * or begins before `*at`, which is moved to its end.
 */
enum plimp_category { /* bits */
		      PLIMP_CATEGORY_FILE = 1 << 2,
		      PLIMP_CATEGORY_PRESENT = 1 << 3,
		      PLIMP_CATEGORY_SWAPPED = 1 << 4,
		      PLIMP_CATEGORY_ZERO = 1 << 5,
		      PLIMP_CATEGORY_HUGE = 1 << 6,
		      PLIMP_CATEGORY_GUARD = 1 << 8 /* Linux 6.15 */
};
#define PLIMP_REGION_SIZE 24
struct plimp_page_run {
	uint64_t start;
	uint64_t end;
	uint64_t categories;
};
int plimp_decode_region(plim_bytes regions, size_t *offset, uint64_t *at,
			struct plimp_page_run *region);

/* A line "Key:   N kB" of /proc/meminfo, in bytes. */
int plimp_decode_meminfo(plim_bytes text, const char *key, uint64_t *bytes);

/* "btime N" of /proc/stat, in seconds of Unix time. */
int plimp_decode_btime(plim_bytes text, uint64_t *seconds);

/* A CPU list such as "0-3,8,10-11": how many it names (no overlap, ascending;
 * at most 2^20). */
int plimp_decode_cpu_list(plim_bytes text, uint64_t *count);

/* The first CPU of such a list that is `*cpu` or above: 1 and stored, 0 if
 * there is none, PLIM_EMALFORMED. */
int plimp_decode_cpu_next(plim_bytes text, uint64_t *cpu);

/* 36 characters of a boot id, as 16 bytes; a newline may follow. */
int plimp_decode_boot_id(plim_bytes text, uint8_t id[16]);

/*
 * /proc/PID/cgroup: lines "N:controllers:path" in any order; the v2 line is
 * "0::path". Stores the path of the line that lists `controller`, or of the
 * v2 line for NULL. 1 found, 0 not there, PLIM_EMALFORMED.
 */
int plimp_decode_cgroup(plim_bytes text, const char *controller,
			plim_bytes *path);

/*
 * The path that tells most of a process, of all lines: one that is not "/",
 * of the named systemd hierarchy, version 2, memory, pids, cpu, any other by
 * its number, in this order; "/" if all are. Stores it and the version of its
 * line. 1 found, 0 for an empty text, PLIM_EMALFORMED.
 */
int plimp_decode_cgroup_path(plim_bytes text, plim_bytes *path, int *version);

/*
 * The unit of systemd in the path of a cgroup (systemd's src/basic/
 * cgroup-util.c): 1 and a part of `path`, or 0 if there is none.
 */
int plimp_decode_unit(plim_bytes path, plim_bytes *unit);

/* The container in the path of a cgroup: 1 and a part of `path`, or 0. */
int plimp_decode_container(plim_bytes path, plim_bytes *container);

/* cgroup v2 cpu.max: "max PERIOD" or "QUOTA PERIOD" in microseconds. 1 with
 * both stored, 0 for no limit, PLIM_EMALFORMED. */
int plimp_decode_cpu_max(plim_bytes text, uint64_t *quota_us,
			 uint64_t *period_us);

/* cgroup v2 io.stat: lines "MAJ:MIN rbytes=N wbytes=N rios=N wios=N ...":
 * the sum of rios and wios over all lines. An empty file is 0. */
int plimp_decode_io_stat(plim_bytes text, uint64_t *operations);

/* A single decimal number, with an optional newline. */
int plimp_decode_number(plim_bytes text, uint64_t *number);

/*
 * One record of a perf ring (include/uapi/linux/perf_event.h), without the
 * sample_id behind it. `bytes` begins with the record and holds all of it, or
 * at least PLIMP_PERF_RECORD_SIZE bytes. `size` is what the record says of
 * itself, a multiple of 8 that is no less than its parts; whether so much is
 * in the ring, the caller checks.
 */
#define PLIMP_PERF_RECORD_SIZE 32
enum plimp_perf_type {
	PLIMP_PERF_OTHER = 0,
	PLIMP_PERF_LOST = 1,
	PLIMP_PERF_EXIT = 2,
	PLIMP_PERF_FORK = 3,
	PLIMP_PERF_TAKEN = 4, /* these by plimp_decode_perf_sample() alone */
	PLIMP_PERF_NAMED = 5,
	PLIMP_PERF_MAPPED = 6,
	PLIMP_PERF_THROTTLED = 7
};
struct plimp_perf_record {
	int type; /* enum plimp_perf_type */
	uint32_t size;
	int32_t pid; /* of EXIT and FORK: the process and the thread; */
	int32_t tid;
	int32_t ppid; /* who started it, or whose child it is */
	int32_t ptid;
	uint64_t time_ns;
	uint64_t lost; /* of LOST: how many records */
};
int plimp_decode_perf_record(plim_bytes bytes,
			     struct plimp_perf_record *record);

/*
 * One record of a ring that samples threads (decode_perf_sample.c, which names
 * the layout). `bytes` holds all of it; pointers of what is found point there.
 */
#define PLIMP_PERF_X86_MASK  UINT64_C(0xff01ff)
#define PLIMP_PERF_X86_COUNT 17u
#define PLIMP_PERF_ARM_MASK  UINT64_C(0x1ffffffff)
#define PLIMP_PERF_ARM_COUNT 33u
struct plimp_perf_layout {
	uint16_t machine; /* PLIMP_MACHINE_X86, PLIMP_MACHINE_ARM */
	int has_count;	  /* PERF_SAMPLE_READ */
	int has_lost;	  /* and with it PERF_FORMAT_LOST, 6.0 */
};
struct plimp_perf_capture {
	int type; /* enum plimp_perf_type */
	uint32_t size;
	int32_t pid; /* of whom it tells */
	int32_t tid;
	int32_t ppid; /* FORK, EXIT: as of plimp_perf_record */
	int32_t ptid;
	uint64_t time_ns;
	uint64_t id; /* of the event; of an inherited one, its origin's */
	uint32_t cpu;
	int in_kernel;	/* TAKEN in kernel mode */
	uint64_t count; /* TAKEN: the event's, of this thread on this CPU */
	uint64_t lost;
	int is_exec; /* NAMED */
	int is_cut;  /* TAKEN: the room for the stack is full */
	struct plimp_registers registers; /* TAKEN: none of 32-bit programs */
	plim_bytes stack;
	uint64_t start; /* MAPPED, executable */
	uint64_t end;
	uint64_t offset;
	uint64_t device;
	uint64_t inode;
	plim_bytes name; /* NAMED, MAPPED */
};
int plimp_decode_perf_sample(const struct plimp_perf_layout *layout,
			     plim_bytes bytes,
			     struct plimp_perf_capture *capture);

/*
 * An entry of the memory that a preloaded object shares with the sampler
 * (preload_shared.h), from a copy of its first bytes.
 */
struct plimp_preload_told {
	int kind; /* enum plimp_preload_kind */
	int32_t pid;
	int32_t tid;
	int32_t parent; /* pid */
	uint32_t stack_size;
	uint64_t time_ns;
	uint64_t cpu_ns;
	uint64_t spent_ns;
	struct plimp_registers registers; /* SAMPLE: all of the machine's */
};
int plimp_decode_preload(uint32_t machine, plim_bytes bytes,
			 struct plimp_preload_told *told);

/* What a record says of its own size, from its first 8 bytes. */
int plimp_decode_perf_size(plim_bytes bytes, uint32_t *size);

/*
 * Events of the process connector (include/uapi/linux/cn_proc.h) in what one
 * recv() of its netlink socket gave. 1 and `*event` for the next one at
 * `*offset`, which moves behind it; 0 at the end; PLIM_EMALFORMED.
 */
enum plimp_proc_event_type {
	PLIMP_PROC_OTHER = 0,
	PLIMP_PROC_ANSWER = 1, /* to the request to listen */
	PLIMP_PROC_FORK = 2,
	PLIMP_PROC_EXIT = 3,
	PLIMP_PROC_OVERRUN = 4 /* messages were lost */
};
struct plimp_proc_event {
	int type;	/* enum plimp_proc_event_type */
	uint32_t error; /* of ANSWER */
	int32_t tid;	/* of FORK and EXIT */
	int32_t pid;
	int32_t ppid; /* of FORK: the parent process */
};
int plimp_decode_proc_event(plim_bytes bytes, size_t *offset,
			    struct plimp_proc_event *event);

#endif
