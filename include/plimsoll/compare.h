/*
 * compare.h - profiles that were written to files: reading them again, and
 * telling what changed between two.
 *
 * A stored profile is read from plim's JSON or from pprof (profile.proto),
 * also that of other programs, compressed with gzip or not. A difference takes
 * one profile or several of each side, and says of each function: changed, the
 * same within noise, or not enough samples. docs/design/profile-diff.md has
 * the statistic and what it rests on.
 *
 * Two profiles tell shares. When one function takes more time, in a program
 * that uses all the time it can get, every other share falls. So a function's
 * time is held against the time of all functions that have not changed:
 * `change` 0.2 is a fifth more time by theirs. What grows by the same factor
 * everywhere cannot be seen in shares; CPU time per second tells it, and
 * stands beside them.
 *
 * Texts may hold any bytes: escape them.
 */
#ifndef PLIMSOLL_COMPARE_H
#define PLIMSOLL_COMPARE_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a file is. X(NAME, NUMBER, "word", "sentence"). Append-only. */
#define PLIM_STORED_FORM_LIST(X)                       \
	X(JSON, 1, "json", "the JSON of plim profile") \
	X(PPROF, 2, "pprof", "profile.proto of google/pprof")
enum plim_stored_form {
#define PLIM_X(name, number, word, text) PLIM_STORED_##name = number,
	PLIM_STORED_FORM_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_stored_form_word(int form);
PLIM_API const char *plim_stored_form_text(int form);

/* Bounds; beyond them a file is PLIM_ELIMIT. That on bytes holds also for the
 * names of all functions, with those of their modules. */
#define PLIM_STORED_FILE_LIMIT	((size_t)128 << 20) /* bytes, also inflated */
#define PLIM_STORED_ITEMS_LIMIT ((size_t)32 << 20)  /* functions of stacks */
#define PLIM_STORED_SLICE_LIMIT 1024u		    /* parts of a run */
/* A stack's functions by its slices, of all stacks. */
#define PLIM_STORED_SLICED_LIMIT ((size_t)64 << 20)

typedef struct plim_stored plim_stored;

/*
 * Reads a profile from the bytes of a file; keeps nothing of them. What it is
 * follows from its first bytes. PLIM_ESYNTAX where it is broken or is none
 * (`position` is the byte, of the inflated file); PLIM_ELIMIT;
 * PLIM_EUNSUPPORTED of pprof that holds neither times nor counts of samples
 * (a heap's), and of gzip in a library without zlib; PLIM_ENOMEM. `allocator`
 * may be NULL.
 */
PLIM_API int plim_stored_read(plim_stored **stored, plim_bytes file,
			      const plim_allocator *allocator,
			      plim_error *error);
/* NULL is allowed. */
PLIM_API void plim_stored_free(plim_stored *stored);

typedef struct plim_stored_facts {
	int form;	/* enum plim_stored_form */
	int is_time;	/* 1: weights are ns; 0: of `unit` */
	uint32_t views; /* that it has: bits 1 << enum plim_view */
	/* The run in so many parts of equal sampled CPU time; 0: not told. */
	uint32_t slice_count;
	uint64_t start_unix_ns; /* 0: not known */
	uint64_t duration_ns;	/* 0: not known */
	uint64_t period_ns;	/* of a sample; 0: not known */
	plim_bytes name;	/* of the process; empty: not known */
	plim_bytes unit;	/* of the weights, as the file calls it */
	plim_bytes type;	/* what they are: "cpu", "cycles" */
	uint64_t reserved[4];
} plim_stored_facts;
PLIM_API plim_stored_facts plim_stored_about(const plim_stored *stored);

typedef struct plim_stored_function {
	plim_bytes name;   /* never empty */
	plim_bytes module; /* its file's name without folders; may be empty */
	int special;	   /* enum plim_special, 0: none */
	int reserved_int;
	uint64_t reserved;
} plim_stored_function;
PLIM_API size_t plim_stored_function_count(const plim_stored *stored);
PLIM_API const plim_stored_function *
plim_stored_function_at(const plim_stored *stored, size_t index);

/* What of a stack was sampled in one part of the run. */
typedef struct plim_stored_slice {
	uint32_t slice; /* from 0, in order of time */
	uint32_t reserved;
	uint64_t weight;
} plim_stored_slice;

/* A stack and what was laid on it. */
typedef struct plim_stored_stack {
	const uint32_t *functions; /* indices, leaf first, inlined ones, too */
	size_t function_count;	   /* at least 1 */
	int activity;		   /* enum plim_activity; 0: not known */
	uint32_t slice_count;	   /* 0: not told when */
	uint64_t weight;
	uint64_t samples;		 /* 0: counted, not sampled */
	const plim_stored_slice *slices; /* ascending */
} plim_stored_stack;
PLIM_API size_t plim_stored_stack_count(const plim_stored *stored);
PLIM_API const plim_stored_stack *
plim_stored_stack_at(const plim_stored *stored, size_t index);

/* --- what changed --------------------------------------------------------- */

/* X(NAME, NUMBER, "word", "sentence"). Append-only. */
#define PLIM_DIFF_VERDICT_LIST(X)                                          \
	X(CHANGED, 1, "changed", "its part of the time changed")           \
	X(SAME, 2, "same",                                                 \
	  "the same within noise: a change of the size asked for would "   \
	  "have been seen")                                                \
	X(FEW, 3, "not_enough_samples",                                    \
	  "not enough samples: a change of the size asked for could have " \
	  "been missed")
enum plim_diff_verdict {
#define PLIM_X(name, number, word, text) PLIM_DIFF_##name = number,
	PLIM_DIFF_VERDICT_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_diff_verdict_word(int change);
PLIM_API const char *plim_diff_verdict_text(int change);

/* What of a function a verdict is about. Append-only. */
#define PLIM_DIFF_OF_LIST(X)                                           \
	X(SELF, 1, "self", "the time in which it was the innermost")   \
	X(TOTAL, 2, "total",                                           \
	  "the time in which it was anywhere on the stack, less what " \
	  "functions that changed themselves took")
enum plim_diff_of {
#define PLIM_X(name, number, word, text) PLIM_DIFF_OF_##name = number,
	PLIM_DIFF_OF_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_diff_of_word(int of);
PLIM_API const char *plim_diff_of_text(int of);

#define PLIM_DIFF_SIDE_LIMIT 64 /* profiles of one side */

/* Start from zeros and set `size`; a zero member means the default. */
typedef struct plim_diff_options {
	size_t size; /* sizeof(plim_diff_options) */
	int view;    /* enum plim_view; 0: CPU. Others are not compared yet:
		      * PLIM_EUNSUPPORTED */
	int reserved_int;
	double detect;	  /* the change that matters; 0: 0.2, a fifth */
	double level;	  /* chance of any false "changed"; 0: 0.01 */
	double allowance; /* how much a function's time differs between two
			   * runs of the same program, as a part of it, beyond
			   * what sampling explains; 0: the default; below 0:
			   * none */
	const plim_allocator *allocator;
	uint64_t reserved[4];
} plim_diff_options;

#define PLIM_DIFF_DETECT    0.2
#define PLIM_DIFF_LEVEL	    0.01
#define PLIM_DIFF_ALLOWANCE 0.01

typedef struct plim_diff plim_diff;

/*
 * Compares. Several profiles of a side are taken together, and tell how much
 * runs differ. Keeps nothing of them. PLIM_ENOSAMPLES where a side has no
 * sample in the view; PLIM_EUNSUPPORTED where a profile has not that view, or
 * the sides are of different units; PLIM_EINVAL, PLIM_ENOMEM, PLIM_ELIMIT.
 */
PLIM_API int plim_diff_new(plim_diff **diff, const plim_stored *const *before,
			   size_t before_count, const plim_stored *const *after,
			   size_t after_count, const plim_diff_options *options,
			   plim_error *error);
/* NULL is allowed. */
PLIM_API void plim_diff_free(plim_diff *diff);

/* One side: its profiles taken together. */
typedef struct plim_diff_side {
	uint64_t weight;   /* of what is compared: sampled time */
	uint64_t left_out; /* CPU time that no sample covers */
	uint64_t samples;
	uint64_t duration_ns; /* 0: one did not tell it */
	double effective_samples;
	plim_real per_second; /* weight, the left out too, a second of it: of
			       * time, CPUs in use */
	size_t profiles;
	uint64_t reserved[4];
} plim_diff_side;

typedef struct plim_diff_facts {
	plim_diff_side sides[2]; /* before, after */
	int view;
	int is_time; /* 1: weights are ns */
	plim_bytes unit;
	double detect; /* in effect */
	double level;
	double allowance;      /* as assumed, or as several profiles told */
	int is_allowance_seen; /* 1: several profiles told of it */
	int reserved_int;
	/* Time a second of what has not changed, after by before: load, or
	 * what all functions have in common. */
	plim_real scale;
	size_t tested[2]; /* functions tested: by self, by total */
	size_t changed;	  /* functions, by verdict */
	size_t same;
	size_t few;
	uint64_t reserved[4];
} plim_diff_facts;
PLIM_API plim_diff_facts plim_diff_about(const plim_diff *diff);

/* A function on both sides, 0 before and 1 after. */
typedef struct plim_diff_function {
	plim_bytes name;
	plim_bytes module;
	int verdict; /* enum plim_diff_verdict */
	int of;	     /* enum plim_diff_of: what it is about */
	int is_open; /* 1: it, or the others that are open, changed: which of
		      * them cannot be told */
	int reserved_int;
	uint64_t self[2];
	uint64_t total[2];
	uint64_t self_samples[2];
	uint64_t total_samples[2];
	double self_share[2]; /* of the side's weight */
	double total_share[2];
	/* Its time by that of what has not changed, after by before, less 1;
	 * unavailable where it was not there before, or nothing else was, or
	 * it is open. */
	plim_real change;
	plim_real change_error; /* the standard error, where |change| is small
				 */
	/* The smallest change that 9 of 10 comparisons would have told;
	 * unavailable: none would, or it changed. */
	plim_real detectable;
	double z; /* how many standard errors it was apart when it was judged */
	uint64_t reserved[4];
} plim_diff_function;
/* Changed ones first, those the most certain first; then the same, then those
 * with not enough samples, each largest share first, then by name. */
PLIM_API size_t plim_diff_function_count(const plim_diff *diff);
PLIM_API const plim_diff_function *plim_diff_function_at(const plim_diff *diff,
							 size_t index);

/* A stack of one side, as it was told: the same stack may come again. */
typedef struct plim_diff_stack {
	const uint32_t *functions; /* places in the list above, leaf first */
	size_t function_count;	   /* at least 1 */
	int side;		   /* 0 before, 1 after */
	int reserved_int;
	uint64_t weight;
	uint64_t samples;
} plim_diff_stack;
PLIM_API size_t plim_diff_stack_count(const plim_diff *diff);
/* All zeros beyond the last. */
PLIM_API plim_diff_stack plim_diff_stack_at(const plim_diff *diff,
					    size_t index);

#ifdef __cplusplus
}
#endif
#endif
