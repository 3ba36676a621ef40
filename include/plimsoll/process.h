/*
 * process.h - who a process is: identity, one record, one remembered process.
 *
 * A process is a pid plus a proof. Identity is a ladder; the strongest rung
 * that both sides have decides. A record (plim_process) is what was read of
 * one process in one go; a target (plim_target) is a process that the caller
 * keeps an eye on, pinned by descriptors, so that a pid that is used again
 * yields nothing of its new owner.
 */
#ifndef PLIMSOLL_PROCESS_H
#define PLIMSOLL_PROCESS_H

#include <plimsoll/base.h>
#include <plimsoll/fields.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ladder. */
enum plim_rung {
	PLIM_RUNG_INODE =
	    1, /* Linux 6.9, macOS: never reused while the machine is up */
	PLIM_RUNG_START =
	    2,		   /* boot + pid namespace + pid + start tick (10 ms) */
	PLIM_RUNG_NONE = 3 /* the pid alone: never trusted */
};

/* Bits of plim_identity.has. */
enum plim_identity_part {
	PLIM_IDENTITY_START = 1,
	PLIM_IDENTITY_INODE = 2,
	PLIM_IDENTITY_BOOT = 4,
	PLIM_IDENTITY_NAMESPACE = 8
};

/*
 * A value: copy it, store it, compare it. A part that `has` does not name is
 * zero and means nothing. Not part of it: the parent (re-parenting changes
 * it), the executable (exec keeps the process), and any wall clock.
 */
typedef struct plim_identity {
	int32_t pid;
	uint32_t has;
	/* In PLIM_HOST_TICKS_PER_SECOND; since boot on Linux, and on macOS
	 * without the time that the machine slept; since 1601 on Windows,
	 * where it is the creation time. */
	uint64_t start_ticks;
	uint64_t inode;		/* of the pidfd; macOS: the unique id */
	uint64_t pid_namespace; /* inode */
	uint8_t boot[16];	/* the boot id, as bytes */
} plim_identity;

/* The rung that an identity stands on: enum plim_rung. */
PLIM_API int plim_identity_rung(const plim_identity *identity);

enum plim_sameness {
	PLIM_SAME = 1,
	PLIM_DIFFERENT = 2,
	PLIM_UNCERTAIN = 3 /* the two share no part that proves anything */
};
/* Compares by the strongest part that both have. */
PLIM_API int plim_identity_compare(const plim_identity *a,
				   const plim_identity *b);

/* "PID@iINODE", "PID@tTICKS", or "PID" where there is no proof. Boot id and
 * namespace are not part of the text: a text holds for one boot of one host.
 * Returns the length; 48 bytes always suffice. */
PLIM_API size_t plim_identity_format(const plim_identity *identity,
				     char *buffer, size_t size);

/* Reads such a text. PLIM_ESYNTAX with the position; a pid of 0, or one above
 * 2^31 - 1, is none. */
PLIM_API int plim_identity_parse(const char *text, plim_identity *identity,
				 plim_error *error);

/*
 * A record: everything that was read of one process. Opaque, owned by the
 * snapshot or usage it was asked of, valid until that is refreshed or freed.
 */
typedef struct plim_process plim_process;

/* A figure of a record by field id. A field the library does not know is
 * UNSUPPORTED, one that was not asked for SKIPPED; a text field asked for as
 * a count is UNSUPPORTED. */
PLIM_API plim_count plim_process_count(const plim_process *process, int field);

/* A text of a record: NAME, STATE, IDENTITY, and, asked for, CGROUP, UNIT,
 * CONTAINER, EXE. A number field is UNSUPPORTED. */
PLIM_API plim_text plim_process_text(const plim_process *process, int field);

PLIM_API int32_t plim_process_pid(const plim_process *process);
PLIM_API plim_identity plim_process_identity(const plim_process *process);

/* When it was read. */
PLIM_API plim_stamp plim_process_stamp(const plim_process *process);

/* 1 if its CPU time or its private memory is known. */
PLIM_API int plim_process_is_measured(const plim_process *process);

/*
 * 1 if `parent` can be the parent of `child`: its pid is the recorded one, the
 * two are not one process, and it did not start after the child. 0 otherwise.
 */
PLIM_API int plim_process_is_child_of(const plim_process *child,
				      const plim_process *parent);

/*
 * A remembered process. On macOS it holds a kqueue, one descriptor, that tells
 * of its end. On Linux it holds the process's own directory and,
 * from 5.3 on, a pidfd: two descriptors. On Windows it holds a handle, where
 * the process gives one to this user; meanwhile nobody else gets the pid. Used
 * by one thread at a time.
 */
typedef struct plim_target plim_target;

/*
 * Remembers the process that has this pid now. PLIM_ENOPROCESS if none has,
 * PLIM_EHIDDEN if one has but this user may not see it, PLIM_ETHREAD if it is
 * the id of a thread (the detail names the process), PLIM_EINVAL for a pid
 * below 1.
 */
PLIM_API int plim_target_open(plim_target **target, plim_host *host,
			      int32_t pid, plim_error *error);

/* The same for an identity that was recorded earlier: PLIM_EREPLACED if the
 * pid has another owner by now, PLIM_ECANNOTTELL if the identity holds no
 * part that can be compared here. */
PLIM_API int plim_target_open_identity(plim_target **target, plim_host *host,
				       const plim_identity *identity,
				       plim_error *error);

PLIM_API void plim_target_close(plim_target *target);

/* Who it is: the strongest identity to be had here, taken when it was opened.
 */
PLIM_API plim_identity plim_target_identity(const plim_target *target);

enum plim_fate {
	PLIM_FATE_SAME = 1, /* it is still there (a zombie is, too) */
	PLIM_FATE_GONE = 2, /* it ended and was reaped; nobody has its pid */
	PLIM_FATE_REPLACED = 3, /* it ended, and another process has its pid */
	PLIM_FATE_HIDDEN = 4,	/* it is there, not visible to this user */
	PLIM_FATE_CANNOT_TELL = 5 /* never taken for an end */
};

/* Bits of plim_check.changes: what became different since the target was
 * opened or last checked. */
enum plim_change {
	PLIM_CHANGE_IMAGE = 1, /* it executed another program */
	PLIM_CHANGE_NAME = 2   /* its name changed; of another user's process no
				* more can be told */
};

typedef struct plim_check {
	int fate;    /* enum plim_fate */
	int changes; /* enum plim_change; 0 unless the fate is SAME */
	int zombie;  /* 1 if it has ended and waits to be reaped */
	int reserved[5];
} plim_check;

/* Is it still the same? Fails only for PLIM_EINVAL and PLIM_ENOMEM. */
PLIM_API int plim_target_check(plim_target *target, plim_check *check,
			       plim_error *error);

/*
 * Waits until it has ended (it may still be a zombie), at most `timeout_ns`;
 * 0 asks and returns. It need not be a child, and it is not reaped. Returns
 * PLIM_OK when it has ended, PLIM_ETIMEOUT, PLIM_EUNSUPPORTED without pidfds,
 * PLIM_EDENIED on Windows without a handle. A signal that interrupts the wait
 * does not end it.
 */
PLIM_API int plim_target_wait(plim_target *target, uint64_t timeout_ns,
			      plim_error *error);

/* How it ended, as wait() encodes it. PENDING while it lives or has not been
 * reaped; UNSUPPORTED before Linux 6.15. macOS tells it at once, of a process
 * that this user may signal; of others it is DENIED. Windows tells it at once,
 * as the exit code itself, all 32 bits; DENIED without a handle. */
PLIM_API plim_count plim_target_exit_status(plim_target *target);

/* A descriptor that becomes readable when it ends, for the caller's own poll;
 * owned by the target. -1 where there is none. */
PLIM_API int plim_target_poll_descriptor(const plim_target *target);

/*
 * Sends a signal to it and to no other: through the pidfd; on macOS 14.4 by
 * the pid and its version. PLIM_ENOPROCESS if it has ended, PLIM_EDENIED,
 * PLIM_EINVAL for a number that is no signal, PLIM_EUNSUPPORTED where the
 * system has neither: then nothing is sent. Windows has no signals: 9 and 15
 * (SIGKILL and SIGTERM of Linux) end the process at once with exit code 1, 0
 * asks whether it lives, all others are PLIM_EUNSUPPORTED.
 */
PLIM_API int plim_target_signal(plim_target *target, int signal,
				plim_error *error);

/*
 * Its command line, the arguments each ended by a NUL, read now and for this
 * process only; it is part of no record, because it may hold secrets. The
 * read can block on the target's memory lock: a helper process does it, which
 * lives for this one read and is killed at the deadline of the host (macOS has
 * no helper, and so no deadline). Fills
 * `*text`, valid until the next call on this host: KNOWN (empty for a kernel
 * thread), GONE, DENIED, TIMEOUT, TRUNCATED (with what came), HIDDEN,
 * NOT_APPLICABLE for a zombie. A child that has not yet called exec shows its
 * parent's. On Windows a command line is one string, which is split as
 * Microsoft's C runtime does it; what another runtime makes of it may differ,
 * and there is no deadline, since nothing is waited for. Fails for PLIM_ENOMEM
 * and PLIM_ESYSTEM (the helper could not be started) alone.
 */
PLIM_API int plim_target_command_line(plim_target *target, plim_text *text,
				      plim_error *error);

#ifdef __cplusplus
}
#endif
#endif
