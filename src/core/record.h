/*
 * record.h - what a plim_process is inside: figures indexed by field id.
 *
 * A record is filled by a host (host/host.h) and read through
 * plim_process_count() and its kin. A figure that nobody wrote is UNREAD; the
 * readers turn that into SKIPPED for a field that was not asked for.
 */
#ifndef PLIMP_RECORD_H
#define PLIMP_RECORD_H

#include <plimsoll/process.h>

#include <assert.h>

/* Linux names are 15 bytes; kernel workers show up to 63. */
#define PLIMP_NAME_SIZE	    64
#define PLIMP_IDENTITY_TEXT 48

/* What is read of a thread; the first four are counters. */
enum plimp_thread_part {
	PLIMP_THREAD_SWITCHES = 1, /* voluntary, involuntary */
	/* cpu_ns, runqueue_ns, switches_in by the scheduler's account */
	PLIMP_THREAD_RUNQUEUE = 2,
	PLIMP_THREAD_BLOCK_IO = 4,
	PLIMP_THREAD_TICKS = 8, /* cpu_ns in clock ticks */
	PLIMP_THREAD_NAME = 16,
	PLIMP_THREAD_WAIT = 32,
	PLIMP_THREAD_NO_START = 64 /* start_ticks is not known, and 0 */
};

/* One live thread at the time of the record, ascending by (tid, start). */
struct plimp_thread {
	int32_t tid;
	uint64_t start_ticks;
	uint64_t voluntary; /* wake-ups, whatever the host counts as such */
	uint64_t involuntary;
	uint64_t runqueue_ns;
	uint64_t block_io_ns;
	uint64_t cpu_ns;
	uint64_t switches_in;
	uint64_t inode;	 /* never another thread's; by it it is known again */
	uint32_t detail; /* its place in the list of details, if there is one */
	uint8_t has;	 /* enum plimp_thread_part, of the counters */
	uint8_t proof;	 /* what `inode` is of, the host's; 0: there is none */
};

/*
 * How a host tells the figures of threads: each is KNOWN with its method, or
 * missing for every thread, with the reason. A figure that is known here may
 * lack in one thread: then plimp_threads.no_switches or .no_times says why.
 */
struct plimp_thread_ways {
	plim_count start;
	plim_count wakeups;
	plim_count involuntary;
	plim_count switches_in;
	plim_count cpu;
	plim_count cpu_ticks; /* where PLIMP_THREAD_TICKS is all there is */
	plim_count runqueue;
	int no_main; /* no thread is told to be the main one by its id */
};

/* The live threads of a record; borrowed from whoever owns the record. */
struct plimp_threads {
	const struct plimp_thread *items;
	size_t count;
	int known; /* 0: not read, then the two above mean nothing */
	const struct plimp_thread_ways *ways; /* of the host; static */
	uint32_t vanished;		      /* ended while they were read */
	/* Why a thread that lacks the part does, or why none was read. */
	plim_count no_switches;
	plim_count no_times;
	/* Wake-ups of the whole process once its threads were read; those in
	 * the record are from before. Of ourselves alone. */
	plim_count wakeups_after;
};

/* Whether SIGCHLD is ignored: then ended children are charged to nobody. */
enum plimp_ignores {
	PLIMP_IGNORES_UNREAD = 0,
	PLIMP_IGNORES_NO = 1,
	PLIMP_IGNORES_YES = 2
};

/* Texts that are read on request; their bytes lie with the owner. */
enum plimp_text {
	PLIMP_TEXT_CGROUP,
	PLIMP_TEXT_UNIT,      /* a part of the cgroup */
	PLIMP_TEXT_CONTAINER, /* likewise */
	PLIMP_TEXT_EXE,
	PLIMP_TEXTS
};

/* The longest text: what the kernel makes of a path (PATH_MAX). */
#define PLIMP_TEXT_SIZE 4096

/* All texts of a record are never longer. */
#define PLIMP_TEXTS_SIZE ((size_t)2 * PLIMP_TEXT_SIZE)

/*
 * The texts of a record, one behind the other. Like the threads they are
 * borrowed from whoever owns the record, who sets `data` when his list stands
 * still; a place is counted from there.
 */
struct plimp_texts {
	const char *data;
	uint32_t size; /* of all of them */
	struct {
		uint16_t start;
		uint16_t size;
	} parts[PLIMP_TEXTS];
};

struct plim_process {
	plim_identity identity;
	plim_stamp stamp;
	uint64_t stamp_ticks; /* the start tick of what starts at the stamp */
	uint64_t image;	      /* another number after every exec; 0: not told */
	plim_field_set asked;
	struct plimp_threads threads;
	struct plimp_texts texts;
	plim_count figures[PLIM_FIELD_LAST + 1];
	uint8_t name_size;
	uint8_t identity_size;
	uint8_t ignores_children; /* enum plimp_ignores */
	char state;		  /* the letter, 0 if not read */
	char name[PLIMP_NAME_SIZE];
	char identity_text[PLIMP_IDENTITY_TEXT];
};

/*
 * What is done for every figure of every process, without a call: the known
 * figure, and whether a field is in a set (id from 1 to PLIM_FIELD_LAST).
 */
static inline plim_count plimp_known(uint64_t value, int method)
{
	plim_count figure = {value, PLIM_STATE_KNOWN, PLIM_BOUND_EXACT,
			     (uint16_t)method, 0};

	return figure;
}

static inline int plimp_set_has(const plim_field_set *set, int field)
{
	return (int)(set->bits[field / 64] >> (field % 64) & 1);
}

/*
 * Empties a record for reading: all figures UNREAD, nothing known. Identity
 * and its text stay until plimp_record_identity() replaces them, which every
 * reading that succeeds does; so a process that is read again and again has
 * its text made once. A record without identity was never read: it must have
 * been zeroed before it is cleared for the first time.
 */
void plimp_record_clear(plim_process *record, const plim_field_set *asked);

/* Stores a figure. */
static inline void plimp_record_set(plim_process *record, int field,
				    plim_count figure)
{
	assert(field >= 1 && field <= PLIM_FIELD_LAST);
	assert(figure.state == PLIM_STATE_KNOWN || figure.value == 0);
	record->figures[field] = figure;
}

/* Where a text on request lies: `start` counted from the record's first one.
 * Sets its figure. */
void plimp_record_text(plim_process *record, int text, size_t start,
		       size_t size, int method);

/* Copies at most PLIMP_NAME_SIZE bytes. */
void plimp_record_name(plim_process *record, plim_bytes name);

/* Stores identity, its text and its rung; sets IDENTITY and IDENTITY_RUNG, the
 * latter with the method of Linux: a host whose rung stands on something else
 * sets it again. */
void plimp_record_identity(plim_process *record, const plim_identity *identity);

/* 1 if a figure of it was refused to this user. */
int plimp_record_is_refused(const plim_process *record);

/* 1 if the invariants hold: every figure has a valid state and bound, an
 * unavailable one has value 0. For assertions and tests. */
int plimp_record_is_sound(const plim_process *record);

#endif
