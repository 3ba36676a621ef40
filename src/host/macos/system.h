/*
 * system.h - what the files of this folder share: the state of an open host
 * and the reading of one process.
 *
 * Everything here goes by pid: nothing on macOS binds a question to a process
 * as a directory of /proc does. So each reading stands between two looks at
 * the kernel's unique id of the process, a counter of 64 bits that is never
 * used twice while the machine is up. Whoever has the same id before and after
 * had the pid all the time, and what was read in between is his.
 */
#ifndef PLIMP_MACOS_SYSTEM_H
#define PLIMP_MACOS_SYSTEM_H

#include "core/record.h"
#include "host/macos/call.h"

struct plimp_system {
	/* Of the ticks that the kernel counts in; in a program that is
	 * translated from another processor's code not those of its clocks. */
	struct plimp_mac_scale scale;
	int no_scale; /* which ticks those are is not known */
	int rusage_flavour;
	uint64_t page_bytes;
	uint64_t boot_unix_ms;
	plim_identity self;
	/* Lists of pids, of threads and of files, one at a time, and command
	 * lines: grown as needed and kept. */
	char *room;
	size_t room_size;
	char path[4096]; /* the longest that the kernel gives */
};

struct plimp_grip {
	uint32_t version; /* of the image; 0: not told */
	int queue;	  /* tells of its end, -1 without */
	int ended;	  /* the queue has told it */
	int has_status;
	int tells_status; /* the queue was asked for it */
	uint32_t status;
};

/* The room, grown to `size` bytes; NULL without memory. What was in it is
 * lost. */
char *plimp_mac_room(plim_host *host, size_t size);

/*
 * Who has a pid: 0 and his unique id, a zombie's too; or minus the error, with
 * -EBADMSG for an answer that is none. What the host knows of identity goes
 * into `identity`, which is otherwise made anew.
 */
int plimp_mac_unique(plim_host *host, int32_t pid,
		     struct plimp_mac_unique *unique);
void plimp_mac_identity(const plim_host *host, int32_t pid,
			const struct plimp_mac_unique *unique,
			plim_identity *identity);

/* The same with the start, where that is told to this user: 0 or minus the
 * error. */
int plimp_mac_who(plim_host *host, int32_t pid, plim_identity *identity);

/* The rung of a record's identity stands on the unique id. */
void plimp_mac_rung(plim_process *record);

/* The long form of a process, or the short one if that is all that is told: 0,
 * or minus the error. `*refused`: why it was not the long one. The name points
 * into the bytes. */
#define PLIMP_MAC_ASK_SIZE sizeof(struct plimp_mac_bsdinfo)
int plimp_mac_ask(plim_host *host, int32_t pid, char bytes[PLIMP_MAC_ASK_SIZE],
		  struct plimp_mac_process *process, int *refused);

/* What holds of a figure whose source answered with this error number. */
plim_count plimp_mac_missing(int error);

/* A duration in Mach ticks as ns, or why it is not known. */
plim_count plimp_mac_time(const plim_host *host, uint64_t ticks, int method);

/*
 * Reads the process that has this pid, and this unique id unless `wanted` is
 * NULL. PLIM_EREPLACED where it has another one; else as plimp_system_read().
 */
int plimp_mac_read(plim_host *host, int32_t pid, const plim_identity *wanted,
		   const struct plimp_request *request, plim_process *record,
		   struct plimp_thread_list *threads, plim_error *error);

/* The resources of a process: 0, or minus the error. */
int plimp_mac_rusage(plim_host *host, int32_t pid,
		     struct plimp_mac_rusage *rusage);

/* The figures of it that were asked for. */
void plimp_mac_store_rusage(const plim_host *host, plim_process *record,
			    const plim_field_set *fields,
			    const struct plimp_mac_rusage *rusage);
void plimp_mac_store_missing(plim_process *record, const plim_field_set *fields,
			     const plim_field_set *group, plim_count figure);
extern const plim_field_set plimp_mac_rusage_fields;

/* Figures that macOS never tells. */
void plimp_mac_store_never(plim_process *record, const plim_field_set *fields);

/*
 * Reads every thread: appends them, sorted. PLIM_OK, whatever became of the
 * list: record->threads says it; PLIM_ELIMIT, PLIM_ENOMEM.
 */
int plimp_mac_threads(plim_host *host, int32_t pid,
		      const struct plimp_request *request, plim_process *record,
		      struct plimp_thread_list *threads, plim_error *error);

#define PLIMP_MAC_BIT(name) (UINT64_C(1) << PLIM_FIELD_##name)

#endif
