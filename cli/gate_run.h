/*
 * gate_run.h - what the parts of the gate's measuring share: one repeat of one
 * target, from its start to its end.
 */
#ifndef PLIM_GATE_RUN_H
#define PLIM_GATE_RUN_H

#include "file.h"
#include "gate.h"

#define GATE_THREADS_MOST 20 /* of the ranking */

/* gate_ready.c: when the load has ended, by the target's own sign; and the
 * output of a command, which is taken through pipes when it is that sign. */
struct gate_ready {
	const plim_budget_target *target;
	int met;
	int reads[2]; /* of the command's output and error; -1: closed */
	int writes[2];
	size_t size;  /* of the text that is looked for */
	size_t *back; /* where to go on after a mismatch, for each byte */
	size_t at[2]; /* how much of it has come, in each stream */
	int there;    /* the file was there before the start */
	struct file_about before;
	int taken; /* somebody took calls on the port before the start */
};
/* 0, or an error of the system. */
int gate_ready_open(struct gate_ready *ready, const plim_budget_target *target);
/* The command has its ends of the pipes. */
void gate_ready_started(struct gate_ready *ready);
/* Asks now; a step of it takes at most 50 ms. */
int gate_ready_met(struct gate_ready *ready);
/* Takes what there is in a pipe, and passes it on to standard error. */
void gate_ready_take(struct gate_ready *ready, int stream);
void gate_ready_close(struct gate_ready *ready);

struct gate_session {
	struct gate *gate;
	struct gate_target *target;
	const plim_budget_target *asked;
	struct gate_repeat *repeat;
	uint32_t number; /* of the repeat, from 1 */
	int job;	 /* its end is no failure */
	int started;
	int ended;
	int in_window;
	int marked; /* births are counted anew */
	struct child child;
	struct gate_ready ready;
	plim_target *process;
	plim_usage *usage; /* samples before the window */
	plim_usage *total; /* of wait4 */
	plim_tree *tree;   /* of a job: what it has at once */
	plim_idle *idle;
	plim_births *births;
	int sampled; /* alive, at least once */
	int reaped;
	uint64_t begin_ns; /* the monotonic clock at its start */
	uint64_t end_ns;   /* and when it had ended or was quiet */
	uint64_t window_begin_ns;
	uint64_t peak_ns;	/* when that was last looked at: */
	plim_count peak;	/* resident, of the samples before the window */
	plim_count born_before; /* children, until the window */
	plim_count born;	/* in the window */
	plim_count private_dirty; /* when the window had ended */
	struct reaper_account orphans;
	plim_idle_facts facts;
	plim_count retained; /* behind the window */
};

/* gate_session.c. A failure becomes the repeat's verdict, in words. */
int gate_session_open(struct gate_session *session); /* 0: failed */
void gate_session_close(struct gate_session *session);
void gate_session_start(struct gate_session *session);
void gate_session_attach(struct gate_session *session);
/* The first look: from then on there is something to judge. */
void gate_session_first(struct gate_session *session);
void gate_session_ready(struct gate_session *session);
/* Ends what was started, and takes the account of it. */
void gate_session_end(struct gate_session *session);
/* Nothing has failed, it has not ended, and nobody interrupts. */
int gate_session_fine(const struct gate_session *session);
/* It has ended by itself, just now. */
void gate_session_ended(struct gate_session *session);
void gate_session_fails(struct gate_session *session, int verdict,
			const char *format, ...) FORMATS(3, 4);
void gate_session_error(struct gate_session *session, const plim_error *error);
int gate_session_wants(const struct gate_session *session, int figure);
uint64_t gate_session_now(const struct gate_session *session);
/*
 * Sleeps; awake at once when the target ends, as `descriptor` says, when we
 * are interrupted, and, where `await` is set, when the output held what it was
 * to hold.
 */
enum gate_woken { GATE_SLEPT, GATE_STOP, GATE_ENDED, GATE_READY };
int gate_session_sleep(struct gate_session *session, uint64_t ns,
		       int descriptor, int await);

/* gate_run.c: all repeats of a target, with the readings of each. Stops at
 * the first that cannot be judged, or when interrupted. */
void gate_measure(struct gate *gate, struct gate_target *target);

/* gate_figures.c: the readings of the repeat that was measured last. */
void gate_figures_read(struct gate_session *session);
/* What a figure would be read as now. */
void gate_figures_now(const struct gate_session *session, int figure,
		      plim_budget_reading *reading);

/* gate_memory.c: behind the window, while it is alive. */
void gate_memory_read(struct gate_session *session);

/* 1 if all limits are figures of a whole run. */
int gate_is_job(const plim_budget_target *target);

/* gate_judge.c: room for the readings; the verdicts. */
int gate_target_open(struct gate_target *target, const struct gate *gate,
		     const plim_budget_target *asked);
void gate_target_close(struct gate_target *target);
/* `baselines` gives that of a limit with one; NULL: none is asked for. */
struct gate_files;
void gate_judge(struct gate *gate, struct gate_target *target,
		const struct gate_files *files);
/* A recorded result instead of a measurement. */
void gate_recall(struct gate_target *target, const plim_budget_record *record);

/* gate_load.c: the files that a budget names. */
struct gate_file {
	const char *name; /* as written in the budget */
	plim_budget_record *record;
	char problem[160]; /* why there is none, or "" */
	struct gate_file *next;
};
struct gate_files {
	struct gate_file *first;
};
/* Reads a whole file, at most `limit` bytes: 0, an error of the system, or -1
 * for one that is larger. */
int gate_read_file(const char *path, size_t limit, char **text, size_t *size);
/* Reads the budget; EXIT_DONE or EXIT_USAGE, and then says why. */
int gate_load(struct gate *gate);
int gate_load_files(const struct gate *gate, struct gate_files *files);
void gate_files_close(struct gate_files *files);
const struct gate_file *gate_file_of(const struct gate_files *files,
				     const char *name);

/* gate_places.c: where results go besides standard output. */
typedef int gate_teller_fn(const struct gate *gate, plim_write_fn *write,
			   void *user);

struct gate_place {
	const char *path;
	gate_teller_fn *tell;
	int append;
	FILE *file; /* standard output where the path is "-" */
};

enum gate_place_id {
	GATE_RECORD,
	GATE_JUNIT,
	GATE_BENCHER,
	GATE_ACTION,
	GATE_SUMMARY,
	GATE_PLACES
};

int gate_places_open(const struct options *options, struct gate_place *places);
/* 1 if one could not be written, which it says. */
int gate_places_write(const struct gate *gate, struct gate_place *places);
void gate_places_close(struct gate_place *places);
/* To standard output, in the format that was asked for. */
void gate_tell(const struct gate *gate);

/* place.c: the machine, as `when` and baselines compare it; to be freed. */
void place_read(plim_budget_place *place, plim_host *host);
void place_free(plim_budget_place *place);
/* place_*.c: adds the processor's model, on the heap, and whether there is a
 * hypervisor below. */
void place_machine(plim_budget_place *place);

/* gate_progress.c: one line on a terminal, written again and again. */
void gate_progress(const struct gate_session *session, const char *format, ...)
    FORMATS(2, 3);
void gate_progress_clear(void);

/* gate_init.c, gate_explain.c: the other two things that plim gate does. */
int gate_init(const struct options *options);
int gate_explain(const struct gate *gate);

#endif
