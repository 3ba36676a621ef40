/*
 * session.h - what a plim_profile is inside: programs with their code
 * (programs.c), threads with their accounts (tasks.c), captures that become
 * samples (take.c), the loop (session.c), what is made of it at the end
 * (finish.c, rest.c, naming.c).
 *
 * The sampler knows processes and threads by their numbers; here a thread is
 * one of one program, so that an exec ends all threads of a process and begins
 * a new one, and a number that is used again is a new thread.
 */
#ifndef PLIMP_PROFILE_SESSION_H
#define PLIMP_PROFILE_SESSION_H

#include "host/inside.h"
#include "host/sampler.h"
#include "profile/accounts.h"
#include "profile/request.h"
#include "profile/schedule.h"
#include "profile/store.h"
#include "unwind/modules.h"
#include "unwind/symbols.h"

#include <plimsoll/snapshot.h>
#include <plimsoll/unwind.h>
#include <plimsoll/usage.h>

#include <stdatomic.h>

/* A map may be read again after so long; unasked, after so long. Reading it
 * holds the target's memory lock for a moment. */
#define PLIMP_REFRESH_SOONEST_NS 50000000u
#define PLIMP_REFRESH_USUAL_NS	 2000000000u

/* Frames found before: by address, for one map. */
#define PLIMP_FRAME_CACHE 4096u
struct plimp_frame_cached {
	uint64_t address;
	uint64_t generation;
	uint32_t frame;
};

/* A program of a process: one image. */
struct plimp_program {
	int32_t pid;
	uint32_t process; /* index in the store */
	int is_over;	  /* ended, or another image has followed */
	int is_root;	  /* of the process that was asked for */
	plim_target *target;
	int owns_target;
	struct plimp_lens *lens;
	struct plimp_modules *modules; /* NULL: its code could not be read */
	int is_narrow;		       /* since it is of 32 bits */
	/* A child that has not executed anything yet has the code of its
	 * parent: index + 1 of that image, 0 none. */
	size_t like;
	struct plimp_pc_cache *cache;
	struct plimp_frame_cached *frames; /* PLIMP_FRAME_CACHE */
	uint32_t *modules_of; /* store's index + 1 by modules' index */
	size_t modules_room;
	uint64_t refreshed_ns;
	int refresh_wanted;
	struct plimp_namer *namer; /* when sampling is over */
	int adopted;		   /* the sampler has it */
	uint32_t alive;		   /* threads */
	uint64_t spent_ns;	   /* before it was ours: rest.c */
	int spent_unknown;
};

/* A thread of an image. */
struct plimp_task {
	int32_t pid;
	int32_t tid;
	uint64_t start_ticks;
	uint32_t thread; /* index in the store */
	uint32_t image;
	int is_over;
	uint32_t stack_bytes;	 /* of its samples, as asked for last */
	uint32_t blocked_stack;	 /* index + 1 of the last blocked one, 0 none */
	uint32_t blocked_sample; /* index + 1, while it stays there */
	uint64_t samples_seen;	 /* running ones */
	int has_times;		 /* of the beginning, below */
	uint64_t user_ns;
	uint64_t system_ns;
	struct plimp_account account;
};

struct plim_profile {
	plim_host *host;
	plim_target *target;
	struct plimp_store store;
	struct plimp_effective effective;
	plim_profile_request request; /* tids and name: own copies */
	int32_t *tids;
	size_t tid_count;
	char *thread_name;
	size_t name_size; /* with the NUL */
	struct plimp_sampler *sampler;
	struct plimp_module_store *objects;
	struct plimp_program *images;
	size_t image_count;
	size_t image_capacity;
	struct plimp_task *tasks;
	size_t task_count;
	size_t task_capacity;
	struct plimp_hash task_hash;
	struct plimp_schedule schedule;
	struct plimp_budget_state budget;
	struct plimp_sampling sampling;
	uint64_t *frame_addresses; /* PLIMP_PROFILE_DEPTH */
	uint32_t *frame_indices;
	int code; /* of the callback: the first failure */
	int has_run;
	int awaits_exec;    /* the program that is meant is not there yet */
	int is_first;	    /* the first look is not over */
	int is_settling;    /* totals are of the end */
	int has_moved;	    /* somebody, since the last tick */
	uint64_t looks;	    /* ticks that this one stands for */
	uint64_t rested_ns; /* nobody has moved till then; 0: not known */
	uint64_t lost; /* samples known to be lost, not yet found missing */
	plim_profile_facts facts;
	struct plimp_tiers tiers;
	struct plimp_sampler_bill bill;
	plim_profile_tier tier_rows[7];
	char lacks[8][320];
	size_t lack_count;
	plim_profile_times total;
	uint64_t metrics[PLIM_METRIC_LIMIT];
	plim_count target_cpu;
	plim_count sampler_cpu;
	uint64_t known_cpu_ns; /* of all, by the kernel's sums: rest.c */
	uint64_t judged_ns;    /* when the budget was last kept */
	uint64_t longest_ns;   /* of the stops, when it was last judged */
	size_t forgotten;      /* images before it are over for good */
	size_t present_at_start;
	uint64_t found_ns; /* when descendants were looked for */

	/* Whoever stops it may be any thread or a signal handler. */
	_Atomic int stop_wanted;
	_Atomic(struct plimp_sampler *) stoppable;

	/* A session of the process that called (inside.c): it owns host and
	 * target, opens its sampler when it runs, and may run again. */
	int is_inside;
	int owns_host;			/* and the target */
	struct plimp_inside_walk *walk; /* NULL: by the kernel's rings alone */
	int32_t inside_pid; /* the caller's: a forked child has another one */
	struct plimp_runner *runner; /* while it is started and not joined */
	int has_begun;
	int run_code;
	plim_error run_error;
};

/* A profile of nothing, as if it had run: for tests, which fill its store,
 * facts, metrics, total and tiers, and then call plimp_naming_plain(). */
int plimp_profile_invent(plim_host *host, plim_profile **profile);

/* session.c, for inside.c */
int plimp_profile_make(plim_profile **profile, plim_target *target,
		       const plim_profile_request *request, int is_inside,
		       plim_error *error);
int plimp_profile_sample(plim_profile *profile, plim_error *error);
/* May it be run or started now? */
int plimp_profile_is_ready(const plim_profile *profile);

/* inside.c: the failure PLIM_EBUSY. */
int plimp_inside_busy(plim_error *error);

/* inside_walk.c: PLIM_ENOMEM. */
int plimp_inside_walk_open(plim_profile *profile);
void plimp_inside_walk_close(plim_profile *profile);
/* The code of now is that of the walks to come. */
void plimp_inside_walk_publish(plim_profile *profile);
/* A plimp_walk_fn; `user` is profile->walk. */
void plimp_inside_walk(void *user, const struct plimp_registers *registers,
		       const struct plimp_stack_bytes *stack, uint64_t *frames,
		       size_t capacity, struct plimp_walked *walked);

/* programs.c */
/* PLIM_EUNSUPPORTED: the program that was asked for is of 32 bits. */
int plimp_program_refuse(const plim_profile *profile, plim_error *error);
int plimp_program_add(plim_profile *profile, int32_t pid, plim_target *target,
		      plim_bytes name, uint64_t since_ns, uint32_t *index);
/* The image that goes by the pid now, or NULL. */
struct plimp_program *plimp_program_now(plim_profile *profile, int32_t pid);
/* While profile->awaits_exec: has the program begun? */
int plimp_program_begun(plim_profile *profile, plim_error *error);
/* Another program: the last image ends, a new one begins. */
int plimp_program_exec(plim_profile *profile, int32_t pid, plim_bytes name,
		       uint64_t time_ns);
int plimp_program_fork(plim_profile *profile, int32_t pid, int32_t parent,
		       uint64_t time_ns);
/* One that nobody told the birth of, and that may have executed since. */
int plimp_program_unborn(plim_profile *profile, int32_t pid, int32_t parent,
			 uint64_t time_ns);
int plimp_program_mapped(plim_profile *profile,
			 const struct plimp_capture *told);
/* Its maps again; of one that has its parent's code, its own. */
int plimp_program_refresh(plim_profile *profile, struct plimp_program *image,
			  uint64_t now_ns, int soonest);
/* Into a store that is empty again: its code stays. */
int plimp_program_again(plim_profile *profile, struct plimp_program *image);
/* Memory for walks; PLIM_ENOMEM. */
int plimp_program_ready(plim_profile *profile, struct plimp_program *image);
/* Whose code it runs: itself, or what it was forked from. */
struct plimp_program *plimp_program_code(plim_profile *profile,
					 struct plimp_program *image);
/* The frame at an address, now. */
int plimp_program_frame(plim_profile *profile, struct plimp_program *image,
			uint64_t address, uint32_t *frame);
/* Descendants that nobody told of. */
int plimp_programs_find(plim_profile *profile, plim_error *error);
/* The sampler takes over what was found since the last call. */
int plimp_programs_adopt(plim_profile *profile, plim_error *error);
void plimp_program_close(plim_profile *profile, struct plimp_program *image);
/* 1: another image had the process's pid after this one. */
int plimp_program_has_followed(const plim_profile *profile,
			       const struct plimp_program *image);
/* What is known at the end of each module, into the store. */
void plimp_programs_finish(plim_profile *profile);

/* tasks.c */
struct plimp_task *plimp_task_find(plim_profile *profile, int32_t tid);
/* The live thread, made if it is not there; NULL without memory, or where it
 * is not asked for (then profile->code is PLIM_OK). */
struct plimp_task *plimp_task_get(plim_profile *profile,
				  const struct plimp_capture *capture);
void plimp_task_end(plim_profile *profile, struct plimp_task *task,
		    uint64_t time_ns);

/* take.c: a plimp_capture_fn. */
void plimp_take(void *user, const struct plimp_capture *capture);
void plimp_take_total(void *user, const struct plimp_capture *capture);

/* finish.c */
/* Opens the namer of each program that has none. PLIM_ENOMEM. */
int plimp_finish_namers(plim_profile *profile);
int plimp_finish(plim_profile *profile, uint64_t end_ns, plim_error *error);

/* session.c: a figure of a whole process, by the kernel's account of it; of
 * one that is gone, why not. PLIM_ENOMEM. */
int plimp_process_figure(plim_target *target, int field, plim_count *figure);

/* rest.c */
int plimp_rest_begin(plim_profile *profile, plim_error *error);
int plimp_rest_end(plim_profile *profile, plim_error *error);
/* What a process that is found now has had before. PLIM_ENOMEM. */
int plimp_rest_join(plim_profile *profile, struct plimp_program *image);
/* A thread of its own for what is left. */
int plimp_rest_add(plim_profile *profile);

/* metrics.c */
void plimp_metrics_finish(plim_profile *profile);
void plimp_tiers_tell(plim_profile *profile);
int plimp_why_empty(const plim_profile *profile, int view, plim_error *error);

/* naming.c: every frame gets lines; what has none before, as module+offset. */
int plimp_naming_plain(struct plimp_store *store);

#endif
