/*
 * fake.h - a made-up machine behind src/host/macos/call.h, whose processes are
 * what a test says, as the bytes that macOS would answer. It answers and
 * refuses as XNU's bsd/kern/proc_info.c does. All of it is synthetic: it shows
 * what the backend makes of such answers, not that a Mac gives them.
 */
#ifndef FAKE_H
#define FAKE_H

#include "host/macos/call.h"

#define FAKE_PROCESSES 4096
#define FAKE_THREADS   66000
#define FAKE_SELF      100
#define FAKE_UID       501

struct fake_thread {
	uint64_t id;
	uint64_t user_ns;
	uint64_t system_ns;
	uint32_t state;
	const char *name;
	int ended; /* listed, and not there any more */
	int error; /* listed, and refused with this error; 0: not */
};

struct fake_process {
	int32_t pid;
	int32_t ppid;
	uint32_t uid;
	uint32_t status;
	uint32_t flags;
	int32_t nice;
	uint64_t id;
	uint32_t version;
	char comm[16];
	char name[32];
	uint64_t start_s;
	uint64_t start_us;
	struct plimp_mac_rusageinfo rusage;
	uint32_t faults;
	uint32_t pageins;
	uint32_t running;
	uint32_t files;
	struct fake_thread *threads;
	size_t thread_count;
	const char *path;
	const char *arguments; /* KERN_PROCARGS2, whole */
	size_t arguments_size;
	/* Another has the pid after so many looks at the unique id; 0: never.
	 */
	int replaced_after;
	/* It is no more after so many questions; 0: it stays. */
	int gone_after;
	uint32_t exit_status;
	int execs_meanwhile; /* before the next signal arrives */
};

struct fake {
	struct fake_process processes[FAKE_PROCESSES];
	size_t count;
	uint64_t absolute; /* Mach ticks */
	uint64_t continuous;
	uint64_t unix_ns;
	struct plimp_mac_scale scale;
	int translated;
	uint64_t tbfrequency; /* 0: no such number */
	int rusage_most;      /* the newest version that this kernel knows */
	int has_root;	      /* the user is root */
	int cut;	      /* answers of this flavour lack their last byte */
	int32_t hidden; /* of this pid nothing at all is told (a sandbox) */
	int wrong_pid;	/* answers tell another pid than was asked for */
	int has_signal; /* as from macOS 14.4 on */
	int signalled;	/* the last signal, and who got it */
	int32_t signalled_pid;
	size_t forks; /* so many are born while the next list is made */
	int forks_on; /* and while each one after it is */
	size_t infos; /* questions so far, by kind */
	size_t lists;
	size_t thread_lists;
	size_t thread_at; /* where the last one was found */
	size_t list_room; /* bytes offered last */
	int queues;	  /* open ones */
	int queue_error;  /* they answer minus this; 0: as they should */
	uint64_t slept_ns;
	void (*asleep)(void); /* what happens meanwhile, or NULL */
	int32_t own_pid;
};
extern struct fake fake;

/* An empty machine of 8 CPUs, of which one is powered down and another not
 * used, with a tick of 125/3 ns and ourselves on it. */
void fake_reset(void);

/* One more process of this user: running, and with figures of its own. */
struct fake_process *fake_add(int32_t pid, int32_t ppid, const char *name);
struct fake_process *fake_find(int32_t pid);

/* It is on its way out: its footprint is 0 and the time of its exit noted,
 * while its status is what it was; and then it is a zombie. */
void fake_exit(struct fake_process *process);
void fake_end(struct fake_process *process);

/* It is no more. */
void fake_remove(int32_t pid);

#endif
