/*
 * system.h - what the files of this folder share: the state of an open host,
 * and system calls that are put on the bill.
 *
 * Files of a process are only ever opened below an O_PATH descriptor of its
 * own directory. The kernel binds that directory to the process, not to the
 * number: once the process is reaped every lookup below it fails with ESRCH
 * or ENOENT, even when the pid has a new owner. That is what makes a record
 * one process's: its files cannot belong to two. Sources that go by number
 * (the CPU clock, pidfd_open) are asked between two such lookups.
 */
#ifndef PLIMP_LINUX_SYSTEM_H
#define PLIMP_LINUX_SYSTEM_H

#include "core/record.h"
#include "core/text.h"
#include "host/host.h"
#include "host/linux/decode.h"

#include <sys/stat.h>
#include <sys/types.h>

/* The kernel's own numbers, for C libraries that are older than these calls:
 * one for all architectures but alpha. */
#define PLIMP_SYS_PIDFD_SEND_SIGNAL 424
#define PLIMP_SYS_PIDFD_OPEN	    434
#define PLIMP_SYS_CLOSE_RANGE	    436
#define PLIMP_SYS_OPENAT2	    437
#define PLIMP_CLONE_PIDFD	    0x1000

/* A file of /proc that is larger than this is not what it says it is. */
#define PLIMP_READ_SIZE 65536

/* The held files of our own process. */
enum plimp_self_file {
	PLIMP_SELF_STAT,
	PLIMP_SELF_STATM,
	PLIMP_SELF_STATUS,
	PLIMP_SELF_IO,
	PLIMP_SELF_CGROUP,
	PLIMP_SELF_OOM_SCORE,
	PLIMP_SELF_SCHEDSTAT,
	PLIMP_SELF_FILES
};

struct plimp_helper {
	int socket; /* -1: none runs */
	int pidfd;  /* -1: none */
	int32_t pid;
	char *stack; /* kept for the next one */
	char *text;  /* of the last answer */
	size_t text_capacity;
};

struct plimp_system {
	int root; /* O_PATH of the proc root */
	int live; /* our own pids: pid-numbered sources may be asked */
	int has_pidfd;
	int has_inode;	  /* pidfs: inodes are unique */
	int has_fd_count; /* the fd directory has a size */
	int has_swap;	  /* as of plimp_system_begin() */
	int starved;	  /* the last lack of a free descriptor; set to 0 by who
			   * wants to know */
	uint64_t page_bytes;
	uint64_t ticks_per_second;
	uint64_t boot_unix_ms; /* time of boot in Unix time */
	int boot_known;
	plim_identity self;
	char *fork_mark;    /* a page that is wiped in a child; or NULL */
	int self_directory; /* O_PATH, -1 if not live */
	int self_files[PLIMP_SELF_FILES]; /* opened on first use */
	struct plimp_helper helper;
	plim_count runqueue_counted; /* UNREAD until asked; see below */
	plim_count delays_counted;
	char cgroup_mount[256]; /* of cgroup2, empty if none or not yet asked */
	int cgroup_asked;
	int cgroup_has_io;
	char buffer[PLIMP_READ_SIZE];
	char listing[32768];
};

struct plimp_grip {
	int directory; /* O_PATH */
	int pidfd;     /* -1 without */
	int exe_known;
	uint64_t exe_device;
	uint64_t exe_inode;
	uint64_t stack_start; /* 0 if not told */
};

/* System calls on the bill; they return -1 and set errno as usual. */
int plimp_call_open(plim_host *host, int directory, const char *path,
		    int flags);
void plimp_call_close(plim_host *host, int descriptor);
ssize_t plimp_call_read(plim_host *host, int descriptor, void *buffer,
			size_t size);
ssize_t plimp_call_pread(plim_host *host, int descriptor, void *buffer,
			 size_t size);
/*
 * Reaps a helper process that was told to end, and puts its CPU time on the
 * bill. Waits a second at most: a fatal signal ends every wait that is known
 * here. 0 if it stays. `pidfd` may be -1.
 */
int plimp_call_reap(plim_host *host, int32_t pid, int pidfd);
int plimp_call_stat(plim_host *host, int directory, const char *path,
		    struct stat *status, int flags);
/* At most `size` bytes of a link, without a NUL. */
ssize_t plimp_call_readlink(plim_host *host, int directory, const char *path,
			    char *buffer, size_t size);
int plimp_call_fstat(plim_host *host, int descriptor, struct stat *status);
ssize_t plimp_call_dents(plim_host *host, int descriptor, void *buffer,
			 size_t size);
off_t plimp_call_seek(plim_host *host, int descriptor, off_t offset,
		      int whence);
int plimp_call_pidfd(plim_host *host, int32_t pid);

/*
 * Reads a file whole into the host's buffer: 0 and `*text`, or the error
 * number (EFBIG if it is too large). One read suffices: the kernel makes the
 * whole text of these files at once (seq_file, single_show), and a regular
 * file of a recording does not come in parts.
 */
int plimp_read_file(plim_host *host, int directory, const char *path,
		    plim_bytes *text);

/* The same from the start of an open descriptor. */
int plimp_read_held(plim_host *host, int descriptor, plim_bytes *text);

/* What the process executes: the program's file and where its stack begins,
 * which is another place after every exec; into those members alone. 0 where
 * this user may not know them, or an exec is under way. */
void plimp_target_image(plim_host *host, int directory,
			const struct plimp_stat *stat, struct plimp_grip *grip);

/* The directory of a target does not answer, with this error: what became of
 * it, as PLIM_ENOPROCESS, PLIM_EREPLACED, PLIM_EHIDDEN or PLIM_ECANNOTTELL. */
int plimp_target_lost(plim_target *target, int problem, const char *operation,
		      plim_error *error);

/* 1 in a child of the process that opened the host: what the host holds of
 * "self" is the parent's. */
int plimp_self_is_forked(const plim_host *host);

/* The directory of a process below the root: a descriptor, or -1. */
int plimp_open_process(plim_host *host, int32_t pid);

/* 0 if the process behind a directory still exists, else the error. */
int plimp_probe_directory(plim_host *host, int directory);

/* The reason that a failed read gives its figures: ESRCH is an end, ENOENT a
 * file that is not there though its process is. */
int plimp_reason_of(int error);

/* 1 if the error says that the process is no more. */
int plimp_is_gone(int error);

/* 1 if the error says that there is no free descriptor, which is never said
 * of a process. */
int plimp_is_starved(int error);

/* What holds of a figure whose file could not be read. */
plim_count plimp_missing_file(int error);

/* A duration in clock ticks, as ns. */
uint64_t plimp_ticks_to_ns(const plim_host *host, uint64_t ticks);

/* The CPU clock of a process by number; 0 and `*ns`, or the error. */
int plimp_process_clock(plim_host *host, int32_t pid, uint64_t *ns);
/* That of a thread, of the own process alone. */
int plimp_thread_clock(plim_host *host, int32_t tid, uint64_t *ns);

/* The parts of identity that hold for every process of the host. */
void plimp_identity_of_host(const plim_host *host, plim_identity *identity);

/* The inode of an open pidfd: 0 and `*inode`, or the error; ENOSYS where there
 * are no such inodes. */
int plimp_pidfd_inode(plim_host *host, int pidfd, uint64_t *inode);

/* 0 if the process of a pidfd exists, perhaps as a zombie; else the error:
 * ESRCH once it was reaped. */
int plimp_probe_pidfd(plim_host *host, int pidfd);

/* Reads the process behind `directory`; see plimp_system_read(). */
int plimp_read_directory(plim_host *host, int directory, int32_t pid,
			 const struct plimp_request *request,
			 plim_process *record,
			 struct plimp_thread_list *threads, plim_error *error);

/*
 * Reads every thread of a process: appends them, sorted, and sums up the
 * parts that are asked for, which the request's own do not limit. PLIM_OK;
 * PLIM_ENOPROCESS; PLIM_ELIMIT above PLIM_THREAD_LIMIT; PLIM_ENOMEM. A refused
 * or failed read gives PLIM_OK and an unavailable sum.
 */
struct plimp_thread_sum {
	plim_count voluntary;
	plim_count involuntary;
	plim_count runqueue;
	plim_count block_io;
	size_t count;
	int known;
	uint32_t vanished;
	int no_switches; /* error numbers: why a thread lacks the part */
	int no_times;
};
int plimp_read_threads(plim_host *host, int directory,
		       const struct plimp_request *request, unsigned parts,
		       struct plimp_thread_list *threads,
		       struct plimp_thread_sum *sum, plim_error *error);

/* The parts that the request asks of every thread: where the scheduler's
 * account is not kept, the clock ticks instead. */
unsigned plimp_threads_wanted(plim_host *host,
			      const struct plimp_request *request);

/* What the pass has found out about the threads goes into the record. */
void plimp_threads_store(plim_host *host, plim_process *record,
			 const struct plimp_thread_sum *sum);

/*
 * What the threads are called and wait in (threads_wait.c), of those that
 * `items` have, behind their counters: fills their details. `task` is the
 * folder of the threads, `young_ticks` the start tick of what started when
 * the pass began. 0, or ENOMEM, EMFILE, ENFILE.
 */
int plimp_read_waits(plim_host *host, int task, unsigned parts,
		     uint64_t young_ticks, const struct plimp_thread *items,
		     size_t count, struct plimp_thread_details *details);

/* A file of one thread below the folder of the threads: "TID/NAME". */
#define PLIMP_THREAD_PATH (PLIMP_DIGITS + 16)
void plimp_thread_path(char path[PLIMP_THREAD_PATH], int32_t tid,
		       const char *name);

/* How the figures of threads are told here. */
extern const struct plimp_thread_ways plimp_linux_thread_ways;

/* The name of the file that a proof is of. */
const char *plimp_thread_proof(int proof);

/*
 * What counts the waits of threads (delays.c). A known figure if this kernel
 * counts them, else the missing one of every process; asked once per host.
 */
plim_count plimp_runqueue_counted(plim_host *host);
plim_count plimp_delays_counted(plim_host *host);

/*
 * Findings of plim_host_survey() on the waits of threads (survey_waits.c);
 * their strings are constants. `directory` is one of another user's process, or
 * -1 if none is visible.
 */
plim_finding plimp_survey_runqueue(plim_host *host);
plim_finding plimp_survey_storage(plim_host *host);
plim_finding plimp_survey_own_places(plim_host *host);
plim_finding plimp_survey_others_places(plim_host *host, int directory);

/* On profiles (survey_profile.c), likewise. */
plim_finding plimp_survey_running(plim_host *host);
plim_finding plimp_survey_room(plim_host *host);
plim_finding plimp_survey_tracing(plim_host *host);

/* The parts of threads that the fields ask for; the figures of those that are
 * not counted here are stored. */
unsigned plimp_delays_wanted(plim_host *host, plim_process *record,
			     const plim_field_set *fields);

/* What one thread waited: what its schedstat, if `error` is 0, and its stat
 * say goes into `thread` and the record; the parts that are known. */
unsigned plimp_delays_of_one(const plim_host *host, plim_process *record,
			     unsigned parts, plim_bytes schedstat, int error,
			     const struct plimp_stat *stat,
			     struct plimp_thread *thread);

/* Stores the sums of these parts. */
void plimp_delays_store(plim_process *record, unsigned parts,
			const struct plimp_thread_sum *sum);

/* A live thread of a process whose main thread has ended, whose own files then
 * say 0: stores "task/TID/" and returns 1; 0 if none was found, -1 and errno if
 * the threads could not be listed. */
int plimp_other_thread(plim_host *host, int directory, int32_t pid,
		       char path[32]);

/* How long a walk over all page tables is predicted to take, in ns, from the
 * resident size and the page tables of a status (lens.c). */
plim_count plimp_predict_walk(const plim_host *host,
			      const struct plimp_status *status);

/* The fields that take such a walk (capture_walk.c). `folder` is "" or that of
 * a thread, "task/TID/". */
int plimp_wants_walk(const plim_field_set *fields);
void plimp_walk_process(plim_host *host, int directory, const char *folder,
			const plim_field_set *fields, plim_process *record);
void plimp_store_no_walk(plim_process *record, const plim_field_set *fields,
			 plim_count missing);

/* Storing what a file told; shared by the readers of others and of self. */
void plimp_store_missing(plim_process *record, const plim_field_set *fields,
			 const plim_field_set *group, plim_count figure);
void plimp_store_stat(const plim_host *host, plim_process *record,
		      const plim_field_set *fields,
		      const struct plimp_stat *stat);
void plimp_store_statm(const plim_host *host, plim_process *record,
		       const plim_field_set *fields,
		       const struct plimp_statm *statm, int method);
void plimp_store_status(plim_process *record, const plim_field_set *fields,
			const struct plimp_status *status, int method);
void plimp_store_io(plim_process *record, const plim_field_set *fields,
		    const struct plimp_io *io);
/* The same of the cgroup file and its three texts; PLIM_ENOMEM leaves them out.
 * `exiting`: the version 1 lines of a process on its way out all say "/". */
int plimp_wants_cgroup(const struct plimp_request *request);
int plimp_store_cgroup(const plim_host *host,
		       const struct plimp_request *request,
		       plim_process *record, plim_bytes text, int exiting);
void plimp_store_no_cgroup(const struct plimp_request *request,
			   plim_process *record, plim_count missing);
/* The same of the link exe. */
int plimp_wants_exe(const struct plimp_request *request);
int plimp_store_exe(plim_host *host, int directory, const char *path,
		    const struct plimp_request *request, plim_process *record);
/* The only number in a file, or why not. */
plim_count plimp_number_of(plim_bytes text, int error, int method);
int plimp_statm_is_sound(const plim_host *host,
			 const struct plimp_statm *statm);

/*
 * Calls back with whole lines of a file below the root, block after block,
 * until the callback returns non-zero; that value is returned, 0 at the end,
 * or -1 if the file could not be opened. A line that is longer than the
 * buffer is passed over.
 */
typedef int plimp_block_fn(plim_bytes lines, void *user);
int plimp_each_block(plim_host *host, const char *path,
		     plimp_block_fn *callback, void *user);

/*
 * Calls back for each mount that this process sees, until the callback
 * returns non-zero; that value is returned, 0 at the end, or -1 if the list
 * could not be read. Lines that are longer than the buffer are passed over.
 */
typedef int plimp_mount_fn(const struct plimp_mount *mount, void *user);
int plimp_each_mount(plim_host *host, plimp_mount_fn *callback, void *user);

/* Operations on block devices; see PLIM_FIELD_DISK_OPS. */
plim_count plimp_cgroup_operations(plim_host *host, int directory, int32_t pid);
/* CPUs that the cgroup of this process allows; NO_LIMIT if it sets none. */
plim_real plimp_cgroup_cpus(plim_host *host);

/*
 * The helper that reads what can block (helper.c), for one read. Start it on
 * the directory of a process; take its answer into host->system->helper.text
 * before `deadline` (monotonic ns): 0, or the error of the read, or ETIMEDOUT,
 * EPIPE (it is no more), ENOMEM, E2BIG; then stop it, whatever came.
 */
int plimp_helper_start(plim_host *host, int directory, plim_error *error);
int plimp_helper_answer(plim_host *host, uint64_t deadline, size_t *size);
void plimp_helper_stop(plim_host *host);
void plimp_helper_release(plim_host *host);

/* What an answer of PR_SET_PTRACER means where Yama's setting is `scope`, or
 * there is none (-1). */
int plimp_attach_answer(int problem, int scope, int32_t pid, plim_error *error);

#endif
