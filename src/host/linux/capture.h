/*
 * capture.h - what the files that read one process share while they do.
 */
#ifndef PLIMP_LINUX_CAPTURE_H
#define PLIMP_LINUX_CAPTURE_H

#include "host/linux/system.h"

/* Fields whose figures come from one file, and are missing together. */
#define PLIMP_FIELD_BIT(name) (UINT64_C(1) << PLIM_FIELD_##name)

struct plimp_reading {
	plim_host *host;
	int directory; /* of the process */
	int32_t pid;
	const struct plimp_request *request;
	plim_process *record;
	struct plimp_thread_list *threads;
	plim_error *error;
	struct plimp_stat stat;
	int stat_known;
	int zombie;	/* it ended, and none of its threads lives */
	int leaderless; /* its main thread ended, others live */
	int kernel;	/* a thread of the kernel */
	struct plimp_thread thread; /* the only one */
	unsigned parts; /* of it that are known: enum plimp_thread_part */
	int unproven;	/* asked by number since the last lookup below it */
};

int plimp_capture_wants(const struct plimp_reading *capture, int field);
int plimp_capture_wants_any(const struct plimp_reading *capture,
			    const plim_field_set *group);

/* Stores a figure, or the same missing one for a group, where asked for. */
void plimp_capture_set(struct plimp_reading *capture, int field,
		       plim_count figure);
void plimp_capture_missing(struct plimp_reading *capture,
			   const plim_field_set *group, plim_count figure);

/*
 * Reads a file of the process: 0 or the error. Success proves the process.
 * ESRCH if it ended; ENOENT if it is still there and has no such file: `io`
 * takes a kernel that accounts for it, and a recording may lack any.
 */
int plimp_capture_file(struct plimp_reading *capture, const char *path,
		       plim_bytes *text);

/*
 * The parts of a record. PLIM_OK, whatever became of the figures;
 * PLIM_ENOPROCESS if the process ended; PLIM_ENOMEM, PLIM_ELIMIT.
 */
int plimp_capture_memory(struct plimp_reading *capture);
int plimp_capture_walk(struct plimp_reading *capture);
int plimp_capture_counts(struct plimp_reading *capture);
int plimp_capture_texts(struct plimp_reading *capture);

/* The switches in a status file that was read for its memory. */
void plimp_capture_switches(struct plimp_reading *capture,
			    const struct plimp_status *status);

#endif
