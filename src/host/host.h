/*
 * host.h - THE contract between Plimsoll and an operating system, processes
 * part. Who ports the library implements the functions below in a folder of
 * their own (none/ is the template: every answer "unsupported") and adds a
 * column to the field table. Nothing outside that folder asks a kernel.
 *
 * Rules for all of them: outputs are untouched on failure; every call into
 * the kernel is added to host->bill; nothing allocates but through
 * host->allocator; a figure that cannot be had gets a reason, never a value.
 */
#ifndef PLIMP_HOST_H
#define PLIMP_HOST_H

#include "core/record.h"

#include <plimsoll/births.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>
#include <plimsoll/snapshot.h>
#include <plimsoll/usage.h>
#include <plimsoll/watch.h>

/* Calls and bytes since the host was opened. */
struct plimp_bill {
	uint64_t system_calls;
	uint64_t bytes_read;
	uint64_t helper_cpu_ns; /* of helper processes that were reaped */
};

struct plimp_system; /* what the system folder keeps of a host */
struct plimp_grip;   /* what it keeps of a target */

struct plim_host {
	plim_allocator allocator;
	struct plimp_bill bill;
	plim_cost cost; /* of all that was asked; cpu_ns and wall_ns summed */
	uint32_t flags;
	uint32_t command_line_ms;
	char *proc_root;
	size_t proc_root_size; /* with the NUL */
	plim_count facts[PLIM_HOST_IS_LIVE + 1];
	char system_name[16];
	char kernel[128];
	char machine[64];
	char boot_text[40]; /* empty if there is none */
	uint8_t boot[16];
	struct plimp_system *system;
};

struct plim_target {
	plim_host *host;
	plim_identity identity;
	uint8_t name_size; /* as last checked */
	char name[PLIMP_NAME_SIZE];
	struct plimp_grip *grip;
};

/* Texts of one or of many records, one after another. */
struct plimp_text_list {
	char *bytes;
	size_t size;
	size_t capacity;
};

/* A text of a thread: where it lies in the texts of its list; its figure has
 * the size for a value, or says why there is none. */
struct plimp_thread_text {
	size_t start;
	plim_count size;
};

/* What a thread is called and what it waits in, beside its counters. */
struct plimp_thread_detail {
	char state; /* 0: not read */
	plim_count call;
	struct plimp_thread_text name;
	struct plimp_thread_text call_name; /* where the call is known */
	struct plimp_thread_text wait;	    /* the place in the kernel */
	plim_count start_address;	    /* UNREAD: the host has none */
};

/* Details of the threads of a record in any order: plimp_thread.detail. */
struct plimp_thread_details {
	struct plimp_thread_detail *items;
	size_t count;
	size_t capacity;
	struct plimp_text_list texts;
};

/* What to read of a process. */
struct plimp_request {
	plim_field_set fields;
	struct plimp_text_list *texts; /* takes the texts on request; NULL:
					* they are left out */
	int threads;  /* read every thread where fields need it */
	int strong;   /* take the strongest identity */
	int children; /* read whether SIGCHLD is ignored */
	int dear;     /* sources too dear for every process, too */
	int walks;    /* also those that walk the process's page tables */
	/* Parts of every thread that are read whatever the fields need, and
	 * also where it is the only one: enum plimp_thread_part. */
	unsigned thread_parts;
	int remember; /* the threads are to be known again in the next round */
	/* The threads as they were in the round before, or NULL. */
	const struct plimp_threads *known;
	struct plimp_thread_details *details; /* NULL: they are left out */
	uint64_t young_ticks; /* take it for what started at or after this */
};

/* Threads of one or of many records, one after another. */
struct plimp_thread_list {
	struct plimp_thread *items;
	size_t count;
	size_t capacity;
};

/* Appends; PLIM_ENOMEM leaves the list as it was. */
int plimp_threads_add(struct plimp_thread_list *list,
		      const plim_allocator *allocator,
		      const struct plimp_thread *thread);

/* Room for one more behind the last, or NULL: who has filled it counts it. */
struct plimp_thread *plimp_threads_slot(struct plimp_thread_list *list,
					const plim_allocator *allocator);

/* Appends; PLIM_ENOMEM leaves the list as it was. */
int plimp_texts_add(struct plimp_text_list *list,
		    const plim_allocator *allocator, plim_bytes text);

/* Appends an empty one and its text; PLIM_ENOMEM leaves the list as it was. */
int plimp_details_add(struct plimp_thread_details *list,
		      const plim_allocator *allocator);
int plimp_details_text(struct plimp_thread_details *list,
		       const plim_allocator *allocator,
		       struct plimp_thread_text *where, plim_bytes text,
		       int method);

/* Sorts `count` threads by (tid, start) in place, without memory of its own. */
void plimp_threads_sort(struct plimp_thread *items, size_t count);

struct plimp_pids {
	int32_t *items;
	size_t count;
	size_t capacity;
};

/* Appends; PLIM_ELIMIT above PLIM_SNAPSHOT_LIMIT, PLIM_ENOMEM. */
int plimp_pids_add(plim_host *host, struct plimp_pids *pids, int32_t pid);
void plimp_pids_release(plim_host *host, struct plimp_pids *pids);
void plimp_threads_release(plim_host *host, struct plimp_thread_list *list);
void plimp_texts_release(plim_host *host, struct plimp_text_list *list);
void plimp_details_release(plim_host *host, struct plimp_thread_details *list);

/*
 * Fills host->system, facts and names. The allocator, proc_root, flags and
 * deadline are set already. On failure it has released what it took.
 */
int plimp_system_open(plim_host *host, plim_error *error);
void plimp_system_close(plim_host *host);

plim_stamp plimp_system_now(void);
uint64_t plimp_system_monotonic(void); /* ns */

/* Time of the calendar, ns since 1970; 0 where it is not known. */
uint64_t plimp_system_unix_ns(void);

/* CPU time of the calling thread; an unavailable figure where unknown. */
plim_count plimp_system_thread_cpu(plim_host *host);

/* What the calling thread has done so far, and its whole process beside it,
 * all of one instant but for the clock of the last call. `tid` is 0 where it
 * is not known. */
struct plimp_own {
	int32_t tid;
	plim_count wakeups;
	plim_count involuntary;
	plim_count cpu_ns;
	plim_count process_cpu_ns;
};
void plimp_system_own(plim_host *host, struct plimp_own *own);

/* Sleeps for so long, or until `descriptor` (-1: none) becomes readable; a
 * signal does not end it. Nobody is woken but the caller, once. */
void plimp_system_sleep(plim_host *host, uint64_t ns, int descriptor);

/* Logical CPUs online now; what this process may use of them. */
plim_count plimp_system_cpus(plim_host *host);
plim_real plimp_system_usable_cpus(plim_host *host);

/* Whether the proc root hides other users' processes; asked once. */
plim_count plimp_system_hidepid(plim_host *host);

/*
 * Appends the pids of the next part of the list of all processes, in any order
 * within it; no later part has one below. `*position` is 0 for the first part
 * and is moved on; a part that appends nothing is the end.
 */
int plimp_system_list(plim_host *host, struct plimp_pids *pids,
		      uint64_t *position, plim_error *error);

/* Called before the first read of a pass: what holds for all of it (is there
 * swap?) is asked once here. A host that is told of all processes by one
 * answer takes that now, or at the first need after this; list and reads of
 * the pass are of it. */
void plimp_system_begin(plim_host *host);

/*
 * The start tick that a process starting then would get, or one below: who
 * starts later has none below it. Ticks are the host's own unit and count
 * from where it likes (PLIM_HOST_TICKS_PER_SECOND): since boot on Linux, and on
 * macOS without the time that the machine slept; 100 ns since 1601 on Windows.
 * They are compared, and subtracted, of one host.
 */
uint64_t plimp_system_ticks(const plim_host *host, plim_boottime when);

/*
 * Reads one process into `record`, and its threads, when asked, behind those
 * of `threads`; record->threads.count and .known tell how many, .items is the
 * caller's to set. Texts on request likewise go behind those of
 * request->texts; record->texts.size tells how long they are, .data is the
 * caller's to set. PLIM_ENOPROCESS if it ended meanwhile: then the lists may
 * have grown, and record is undefined. PLIM_EHIDDEN, PLIM_ELIMIT,
 * PLIM_ENOMEM, PLIM_ESYSTEM likewise.
 */
int plimp_system_read(plim_host *host, int32_t pid,
		      const struct plimp_request *request, plim_process *record,
		      struct plimp_thread_list *threads, plim_error *error);

/* The same of ourselves: exact, and cheap. */
int plimp_system_read_self(plim_host *host, const struct plimp_request *request,
			   plim_process *record,
			   struct plimp_thread_list *threads,
			   plim_error *error);

/* The same of a target: PLIM_EREPLACED and PLIM_EHIDDEN, too. */
int plimp_system_read_target(plim_target *target,
			     const struct plimp_request *request,
			     plim_process *record,
			     struct plimp_thread_list *threads,
			     plim_error *error);

/* Waits for a child, reaps it where the system has such a thing, fills the
 * record from its account. `*status` is as the system gives it: wait()'s, or
 * the exit code itself. */
int plimp_system_reap(plim_host *host, int32_t child, int *status,
		      plim_process *record, plim_error *error);

/* Takes hold of the process with this pid: fills identity, name and grip. */
int plimp_system_grip(plim_target *target, int32_t pid, plim_error *error);
void plimp_system_release(plim_target *target);

/* Where a system has no zombies, who has ended is GONE although a handle
 * keeps what is left of it. */
void plimp_system_check(plim_target *target, plim_check *check);
int plimp_system_wait(plim_target *target, uint64_t timeout_ns,
		      plim_error *error);
plim_count plimp_system_exit_status(plim_target *target);
int plimp_system_poll_descriptor(const plim_target *target);
/* A number means what it does on Linux. What the system has not the like of is
 * PLIM_EUNSUPPORTED, and nothing is done. */
int plimp_system_signal(plim_target *target, int signal, plim_error *error);
int plimp_system_command_line(plim_target *target, plim_text *text,
			      plim_error *error);

/* A process of a plim_watch. */
struct plimp_watched {
	plim_identity identity;
	int descriptor; /* or handle, that holds it, or -1 */
	int by_pidfd;	/* a pidfd, else a directory */
	int ended;
	plim_count cpu; /* its last two samples, and when they were taken */
	plim_count earlier;
	uint64_t monotonic_ns;
	uint64_t earlier_ns;
};

/* How many may be held by a descriptor, at most PLIM_WATCH_HELD. */
size_t plimp_system_watch_limit(plim_host *host);

/* Fills `*watched`, held by a descriptor if `hold`; see plim_watch_add(). */
int plimp_system_watch(plim_host *host, const plim_identity *identity, int hold,
		       struct plimp_watched *watched, plim_error *error);

/* Lets go of the descriptor. */
void plimp_system_unwatch(plim_host *host, struct plimp_watched *watched);

/* Fills cpu and monotonic_ns of each that has not ended; of what has ended
 * meanwhile it sets `ended` and lets go. */
void plimp_system_watch_read(plim_host *host, struct plimp_watched *items,
			     size_t count);

/* What a source of births has counted since it was opened. */
struct plimp_birth_counts {
	uint64_t processes_started;
	uint64_t processes_ended; /* main threads */
	uint64_t threads_started;
	uint64_t threads_ended;
	uint64_t lost;	    /* records, as far as it is told */
	uint64_t overflows; /* how often something may have been lost */
	int is_partial;	    /* somebody is not observed, for good */
};

struct plimp_births; /* what the system folder keeps of one */

/*
 * Begins with one process: `*births` and its method. PLIM_OK and NULL where no
 * source can be used: then `*missing` says why, and the method is NONE.
 * PLIM_ENOPROCESS, PLIM_EREPLACED, PLIM_ENOMEM, PLIM_ESYSTEM.
 */
int plimp_system_births_open(plim_host *host,
			     const plim_births_options *options,
			     const plim_identity *root,
			     struct plimp_births **births, int *method,
			     plim_count *missing, plim_error *error);

/*
 * Takes in a process and its threads, and adds to `*added` how many of them
 * were not known. One that has ended, or may not be observed, adds nothing.
 * PLIM_ENOMEM, PLIM_ESYSTEM.
 */
int plimp_system_births_cover(struct plimp_births *births,
			      const plim_identity *member, size_t *added,
			      plim_error *error);

/* No more members will be taken in; `whole`: all that there were, were. */
void plimp_system_births_settle(struct plimp_births *births, int whole);

/* Takes what has happened, and fills `*counts`. */
void plimp_system_births_read(struct plimp_births *births,
			      struct plimp_birth_counts *counts);

/* Becomes readable when half of the room is used up; -1 without. */
int plimp_system_births_descriptor(const struct plimp_births *births);

void plimp_system_births_close(struct plimp_births *births);

/* A user of this machine by name: 0 and `*uid`, -1 if nobody has the name,
 * else the system's error number, INT_MAX where there is nobody to ask. It is
 * asked of no host: a recording has no users. */
int plimp_system_find_user(const char *name, uint32_t *uid);

/* See plim_allow_attach(); `pid` is in range. */
int plimp_system_allow_attach(int32_t pid, plim_error *error);

/* The name of a system call of the host's machine, or NULL. Static. */
const char *plimp_system_call_name(const plim_host *host, uint64_t number);

/* See plim_host_survey(). */
int plimp_system_survey(plim_host *host, plim_finding_fn *callback, void *user,
			plim_error *error);

#endif
