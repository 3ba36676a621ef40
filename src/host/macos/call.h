/*
 * call.h - everything that is asked of the system here: the seam between the
 * files that know what to ask, which include no system header, and call.c,
 * which is compiled for macOS alone. The tests put a made-up machine behind
 * the same functions, so that what is built on them runs anywhere.
 *
 * Each call is put on the bill. A negative result is minus the system's error
 * number, of this system's <errno.h>; nothing here is interrupted by a signal.
 */
#ifndef PLIMP_MACOS_CALL_H
#define PLIMP_MACOS_CALL_H

#include "host/host.h"
#include "host/macos/decode.h"

/*
 * proc_listallpids(): the bytes of the pids that were stored. A NULL buffer
 * asks how many there may be, which are 20 more than there are; the kernel
 * stores no more than that, however much room it is given.
 */
int64_t plimp_mac_call_pids(plim_host *host, void *buffer, size_t size);

/* proc_pidinfo(): the bytes that were stored, never 0. */
int64_t plimp_mac_call_info(plim_host *host, int32_t pid, int flavour,
			    uint64_t argument, void *buffer, size_t size);

/* proc_pidpath(): the length of the path, without its NUL. The kernel's own
 * answer has no length. */
int64_t plimp_mac_call_path(plim_host *host, int32_t pid, char *path,
			    size_t size);

/* proc_pid_rusage() into a buffer that has the size of the flavour. */
int plimp_mac_call_rusage(plim_host *host, int32_t pid, int flavour,
			  void *buffer);

/* KERN_PROCARGS2: the bytes that there are, or that were stored. */
int64_t plimp_mac_call_arguments(plim_host *host, int32_t pid, void *buffer,
				 size_t size);

/* sysctlbyname(): the bytes that were stored. */
int64_t plimp_mac_call_sysctl(plim_host *host, const char *name, void *buffer,
			      size_t size);

/* The clocks: Mach ticks that stand still while the machine sleeps, those that
 * do not, and Unix time in ns. They need no call into the kernel. */
uint64_t plimp_mac_call_absolute(void);
uint64_t plimp_mac_call_continuous(void);
uint64_t plimp_mac_call_unix_ns(void);
struct plimp_mac_scale plimp_mac_call_scale(void);

int32_t plimp_mac_call_pid(void);
uint32_t plimp_mac_call_uid(void);    /* effective */
uint64_t plimp_mac_call_thread(void); /* the calling thread's id, 0: none */
uint64_t plimp_mac_call_page(void);

/* CPU time of the calling thread and of its process in ns; a negative error.
 */
int64_t plimp_mac_call_thread_cpu(plim_host *host);
int64_t plimp_mac_call_process_cpu(plim_host *host);

/* Sleeps, or waits until `descriptor` (-1: none) is readable, for at most so
 * long: 1 if it is, 0 if not, or minus the error. */
int plimp_mac_call_sleep(plim_host *host, uint64_t ns, int descriptor);

/*
 * A kqueue that tells of the end of the process that has this pid, with its
 * exit status where `status` says so: a descriptor. -ESRCH, also for a zombie;
 * -EACCES where the status is refused to this user.
 */
int plimp_mac_call_queue(plim_host *host, int32_t pid, int status);

/* Takes what a kqueue tells: 1 and the exit status if the process has ended,
 * 0 if it has not, or minus the error: -EBADF where the descriptor is none of
 * this process's, as after a fork. */
int plimp_mac_call_ended(plim_host *host, int queue, uint32_t *status);

/* Sends a signal, 1 to 31, to the process that has this pid and this version
 * of it, which is another for each process and after each exec: 0, -ESRCH if
 * there is none (a zombie is none). Only where the system has such a call. */
#define PLIMP_MAC_SIGNALS 32
int plimp_mac_call_has_signal(void);
int plimp_mac_call_signal(plim_host *host, int32_t pid, uint32_t version,
			  int number);

void plimp_mac_call_close(plim_host *host, int descriptor);

/*
 * Waits until a child has ended, and leaves it a zombie; reaps it, with its
 * CPU time and faults as the kernel accounts for it and its descendants that
 * were waited for.
 */
struct plimp_mac_account {
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t faults_minor;
	uint64_t faults_major;
};
int plimp_mac_call_await(plim_host *host, int32_t child);
int plimp_mac_call_reap(plim_host *host, int32_t child, int *status,
			struct plimp_mac_account *account);

#endif
