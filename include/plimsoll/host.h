/*
 * host.h - the system that is asked: open it once, ask through it, close it.
 *
 * A host is the live system, or another proc file system (a container's host
 * mount, a recorded tree). It owns a few descriptors (all close-on-exec), one
 * read buffer and its bill. It starts no thread and changes nothing; a helper
 * process lives while a command line is read (process.h).
 *
 * One host is used by one thread at a time; two hosts in two threads need no
 * lock. A host does not survive fork: its descriptors name the parent. All
 * that is made from a host (targets, usages, snapshots) is freed before it.
 */
#ifndef PLIMSOLL_HOST_H
#define PLIMSOLL_HOST_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plim_host plim_host;

/* Monotonic time, which stands still while the machine sleeps; boot time,
 * which does not. Two types, so that they cannot be mixed. */
typedef struct plim_monotonic {
	uint64_t ns;
} plim_monotonic;
typedef struct plim_boottime {
	uint64_t ns;
} plim_boottime;

/* When something was read. */
typedef struct plim_stamp {
	plim_monotonic monotonic;
	plim_boottime boottime;
} plim_stamp;

/* Bits of plim_host_options.flags. */
enum plim_host_flag {
	/* Identity by start tick even where the pidfd inode is to be had: for
	 * tests, and for records that must compare across kernels. */
	PLIM_HOST_NO_INODE = 1,
	/* As on a kernel without pidfds: no inode, no wait for the exit of a
	 * process that is no child. */
	PLIM_HOST_NO_PIDFD = 2
};

/* Start from zeros and set `size`: a zero member means the default. */
typedef struct plim_host_options {
	size_t size;		  /* sizeof(plim_host_options) */
	const char *proc_root;	  /* default "/proc"; copied; Linux alone */
	plim_allocator allocator; /* default realloc and free */
	uint32_t flags;		  /* enum plim_host_flag */
	uint32_t command_line_ms; /* deadline, default 20, at most 10000 */
} plim_host_options;

/*
 * Opens a host and stores it in `*host`. `options` may be NULL. Errors:
 * PLIM_EROOT if proc_root is no proc file system and no recording of one,
 * PLIM_EDENIED, PLIM_ENOMEM, PLIM_ESYSTEM (no free descriptor, for one). A
 * build with -Dhost=none opens a host whose every figure is UNSUPPORTED.
 */
PLIM_API int plim_host_open(plim_host **host, const plim_host_options *options,
			    plim_error *error);

/* Closes everything. NULL is allowed. */
PLIM_API void plim_host_close(plim_host *host);

/* Facts of the host as figures. Read when the host was opened, except CPUS,
 * which is read again. Numbers are append-only. */
enum plim_host_figure {
	PLIM_HOST_CPUS = 1,	/* logical CPUs online in the machine, >= 1 */
	PLIM_HOST_AFFINITY = 2, /* CPUs that this process may run on */
	PLIM_HOST_PAGE_BYTES = 3,
	PLIM_HOST_TICKS_PER_SECOND = 4,
	PLIM_HOST_BOOT_UNIX_MS = 5,
	PLIM_HOST_SWAP_BYTES = 6, /* total swap space */
	PLIM_HOST_OWN_PID = 7,	  /* this process in the host's pid namespace */
	PLIM_HOST_PID_NAMESPACE = 8,
	PLIM_HOST_HIDEPID = 9,	      /* mount option of the proc root */
	PLIM_HOST_IDENTITY_RUNG = 10, /* the best that targets stand on here */
	PLIM_HOST_IS_LIVE = 11	      /* 1: our own pids; 0: another root */
};
PLIM_API plim_count plim_host_count(plim_host *host, int figure);

/* CPUs that this process may use: the least of the machine's, its affinity
 * and its cgroup's quota. Never more than PLIM_HOST_CPUS. */
PLIM_API plim_real plim_host_usable_cpus(plim_host *host);

/* Facts of the host as text, valid until the host is closed. */
enum plim_host_text_id {
	PLIM_HOST_SYSTEM = 1,	/* "linux", "macos", "windows", "none" */
	PLIM_HOST_KERNEL = 2,	/* its release */
	PLIM_HOST_MACHINE = 3,	/* "x86_64" */
	PLIM_HOST_BOOT_ID = 4,	/* 36 characters */
	PLIM_HOST_PROC_ROOT = 5 /* UNSUPPORTED where there is no such thing */
};
PLIM_API plim_text plim_host_text(const plim_host *host, int id);

/* The two clocks, now. */
PLIM_API plim_stamp plim_host_now(const plim_host *host);

/*
 * What asking cost. A bill is part of every result; the host's is the sum of
 * all since it was opened. Nothing that is measured is stopped or signalled,
 * so there is no pause to report. `system_calls` counts every one the library
 * made for the result, clock reads that need the kernel included.
 */
typedef struct plim_cost {
	uint64_t system_calls;
	uint64_t bytes_read;
	/* CPU time of the calling thread, and time by the clock; SKIPPED where
	 * asking for them would cost more than the work itself. */
	plim_count cpu_ns;
	plim_count wall_ns;
	uint32_t present;  /* processes listed */
	uint32_t read;	   /* of them: read whole */
	uint32_t vanished; /* ended between listing and reading */
	uint32_t refused;  /* read, with at least one DENIED figure */
	/* CPU time of helper processes that had ended by then: one that reads
	 * a command line, one that reads lines from debug information. It is
	 * not in cpu_ns. */
	uint64_t helper_cpu_ns;
	uint64_t reserved[5]; /* 0; room for what a later version tells */
} plim_cost;
PLIM_API plim_cost plim_host_cost(const plim_host *host);

/*
 * What this user can learn on this host. The callback gets one finding after
 * another: what it is about, whether it works (KNOWN) or the state that its
 * figures will have, a sentence, the figures concerned (a list of field
 * names), and the cheapest remedy or "". The strings are valid during the
 * call. A callback that returns non-zero ends the survey. Reads only; it
 * changes nothing. PLIM_ENOMEM, PLIM_EINVAL.
 */
typedef struct plim_finding {
	const char *subject;
	int state; /* enum plim_state */
	const char *text;
	const char *figures;
	const char *remedy;
} plim_finding;
typedef int plim_finding_fn(const plim_finding *finding, void *user);
PLIM_API int plim_host_survey(plim_host *host, plim_finding_fn *callback,
			      void *user, plim_error *error);

/*
 * Lets another process of the same user read this one's memory and profile it,
 * where the system lets only descendants do so (Linux: Yama's
 * kernel.yama.ptrace_scope at 1, as on Ubuntu): for a program that wants to be
 * looked at. `pid` is a process, which has its descendants with it, or
 * PLIM_ATTACH_ANY; the last call counts, and PLIM_ATTACH_NONE takes it back. A
 * forked child has to ask anew. PLIM_OK also where nothing keeps them apart.
 * PLIM_EDENIED where this process cannot allow it: it is not dumpable, or the
 * system leaves it to root; PLIM_ENOPROCESS, PLIM_EUNSUPPORTED, PLIM_ESYSTEM,
 * PLIM_EINVAL for another negative number. Any thread may call it.
 */
enum { PLIM_ATTACH_NONE = 0, PLIM_ATTACH_ANY = -1 };
PLIM_API int plim_allow_attach(int32_t pid, plim_error *error);

#ifdef __cplusplus
}
#endif
#endif
