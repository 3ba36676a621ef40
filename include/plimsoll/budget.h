/*
 * budget.h - budgets: a file of limits, and the verdict on what was measured.
 *
 * A budget file (plim-budget(5)) says what is judged and how much it may
 * cost. It is read strictly: what is unknown, repeated, contradictory or out
 * of date is an error with its line and column, never a limit that nobody
 * checks. Measured figures become readings, one for each repeat, and a limit
 * and its readings become a verdict, with the reason in words.
 *
 * Everything here is pure: no file is opened, no clock is read, nothing is
 * printed. A budget and a record are read-only once they are made and may be
 * shared by threads.
 */
#ifndef PLIMSOLL_BUDGET_H
#define PLIMSOLL_BUDGET_H

#include <plimsoll/base.h>
#include <plimsoll/export.h>
#include <plimsoll/figure.h>
#include <plimsoll/units.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The newest `schema` that this version reads. */
#define PLIM_BUDGET_SCHEMA 1

/* Bounds of a budget file; what is beyond is PLIM_ELIMIT. */
#define PLIM_BUDGET_FILE_LIMIT	 1048576 /* bytes */
#define PLIM_BUDGET_TARGET_LIMIT 256
#define PLIM_BUDGET_REPEAT_LIMIT 1000

/*
 * The figures that a limit can stand on. X(NAME, NUMBER, "word", UNIT, KIND,
 * "sentence"). Words are stable, numbers append-only.
 */
#define PLIM_BUDGET_FIGURE_LIST(X)                                             \
	X(IDLE_CPU, 1, "idle_cpu", PERCENT, TIME,                              \
	  "CPU time over the window, in per cent of one core")                 \
	X(WAKEUPS, 2, "wakeups", PER_SECOND, EVENTS,                           \
	  "voluntary context switches of all threads, per second")             \
	X(DISK_READ, 3, "disk_read", BYTES_PER_SECOND, TIME,                   \
	  "bytes read from storage, per second")                               \
	X(DISK_WRITE, 4, "disk_write", BYTES_PER_SECOND, TIME,                 \
	  "bytes written to storage, per second")                              \
	X(DISK_BLOCKS, 5, "disk_blocks", PER_SECOND, TIME,                     \
	  "blocks of 512 bytes read and written, per second")                  \
	X(DISK_OPS, 6, "disk_ops", PER_SECOND, EVENTS,                         \
	  "operations on storage, per second")                                 \
	X(IO_CALLS, 7, "io_calls", PER_SECOND, EVENTS,                         \
	  "calls that read or write, per second")                              \
	X(RESIDENT_WARM, 8, "resident_warm", BYTES, GAUGE,                     \
	  "resident memory when the window begins")                            \
	X(RESIDENT_END, 9, "resident_end", BYTES, GAUGE,                       \
	  "resident memory when the window ends")                              \
	X(PRIVATE_WARM, 10, "private_warm", BYTES, GAUGE,                      \
	  "private memory when the window begins")                             \
	X(PRIVATE_DIRTY_END, 11, "private_dirty_end", BYTES, GAUGE,            \
	  "private dirty memory when the window ends")                         \
	X(PEAK_RESIDENT, 12, "peak_resident", BYTES, TOTAL,                    \
	  "the most memory that was ever resident")                            \
	X(RETAINED, 13, "retained", BYTES, GAUGE,                              \
	  "free memory that the allocator keeps, by an exact walk")            \
	X(CPU_TOTAL, 14, "cpu_total", NS, TOTAL,                               \
	  "CPU time from the start to the end of the window")                  \
	X(WALL, 15, "wall", NS, TOTAL,                                         \
	  "time by the clock from the start until it ended or was quiet")      \
	X(THREADS, 16, "threads", NONE, GAUGE, "threads when the window ends") \
	X(DESCRIPTORS, 17, "descriptors", NONE, GAUGE,                         \
	  "open descriptors when the window ends")                             \
	X(CHILDREN_STARTED, 18, "children_started", NONE, STARTS,              \
	  "processes that were started in the window")

enum plim_budget_figure_id {
#define PLIM_X(name, number, word, unit, kind, text) \
	PLIM_BUDGET_##name = number,
	PLIM_BUDGET_FIGURE_LIST(PLIM_X)
#undef PLIM_X
	    PLIM_BUDGET_FIGURE_LAST = 18 /* of this header */
};

/* What a figure is of. Only the rate of EVENTS has a sampling error; the
 * bytes and the time of a window do not come one by one, and a start of a
 * process is not left to chance. */
enum plim_budget_kind {
	PLIM_BUDGET_EVENTS = 1, /* events of the window, per second */
	PLIM_BUDGET_TIME = 2,	/* a rate over the window of another kind */
	PLIM_BUDGET_STARTS = 3, /* a plain count over the window */
	PLIM_BUDGET_GAUGE = 4,	/* a state at one moment */
	PLIM_BUDGET_TOTAL = 5	/* of the whole run */
};

/* One row of the table. Static storage. */
typedef struct plim_budget_figure {
	int id;
	int unit; /* enum plim_unit: the base of readings and limits */
	int kind; /* enum plim_budget_kind */
	const char *word;
	const char *text;
} plim_budget_figure;

/* The row of a figure; NULL for a number that is none. */
PLIM_API const plim_budget_figure *plim_budget_figure_get(int id);
/* The row with this word, or NULL; the word need not be terminated. */
PLIM_API const plim_budget_figure *plim_budget_figure_find(plim_bytes word);

/*
 * The machine and the day: what a `when` is matched against, what `until` is
 * compared with, and what a baseline must agree with. A text that is NULL, 0
 * cores and `is_virtual` -1 are unknown and match nothing. `today` is
 * year x 10000 + month x 100 + day, as in 20261130; with 0 no limit expires.
 */
typedef struct plim_budget_place {
	size_t size;	       /* sizeof(plim_budget_place) */
	const char *os;	       /* "linux", as PLIM_HOST_SYSTEM */
	const char *arch;      /* "x86_64", as PLIM_HOST_MACHINE */
	const char *kernel;    /* its release, as PLIM_HOST_KERNEL */
	const char *processor; /* its model; for baselines only */
	int32_t is_virtual;    /* 1 a virtual machine, 0 not, -1 unknown */
	uint32_t cores;	       /* CPUs of the machine, as PLIM_HOST_CPUS */
	int32_t today;
	int32_t reserved;
} plim_budget_place;

/* Where in a text: line and column from 1, the column in characters (a tab is
 * one), the offset in bytes from 0. */
typedef struct plim_budget_position {
	uint32_t line;
	uint32_t column;
	size_t offset;
} plim_budget_position;

/* `run`: start it; `attach`: find it, by a selector of the command line of
 * plim; `report`: judge the recorded result in that file. */
enum plim_budget_way {
	PLIM_BUDGET_RUN = 1,
	PLIM_BUDGET_ATTACH = 2,
	PLIM_BUDGET_REPORT = 3
};

enum plim_budget_ready {
	PLIM_READY_QUIET = 0,  /* as soon as it is quiet */
	PLIM_READY_OUTPUT = 1, /* a line of its output holds `text` */
	PLIM_READY_FILE = 2,   /* the path `text` exists */
	PLIM_READY_PORT = 3    /* TCP `port` of this machine takes a call */
};

/* The one of several repeats that is held against the limit. The worst is the
 * highest for a ceiling and the lowest for a floor; the median of an even
 * number is the worse of the two in the middle. */
enum plim_budget_aggregate {
	PLIM_AGGREGATE_WORST = 0,
	PLIM_AGGREGATE_MEDIAN = 1,
	PLIM_AGGREGATE_BEST = 2
};
PLIM_API const char *plim_budget_aggregate_word(int aggregate);

/* Bits of what a limit has. */
#define PLIM_LIMIT_MAX	  1u
#define PLIM_LIMIT_MIN	  2u
#define PLIM_LIMIT_VERSUS 4u

/* One limit, `when` applied. Texts are NUL-terminated UTF-8 without a NUL
 * inside and belong to the budget; they come from a file: escape them before
 * they reach a terminal. */
typedef struct plim_budget_limit {
	int figure;	      /* enum plim_budget_figure_id */
	unsigned has;	      /* PLIM_LIMIT_... */
	double max;	      /* in the unit of the figure, inclusive */
	double min;	      /* likewise */
	const char *versus;   /* the baseline's file, as written; or NULL */
	double rise_percent;  /* with versus */
	double also_above;    /* with versus; 0 if not given */
	double slack_warning; /* a factor of at least 1; 3 if not given */
	const char *skip;     /* the reason of a skip; NULL: fail */
	size_t method_count;  /* 0: any */
	const int *methods;   /* enum plim_method */
	const char *why;      /* NULL if not given; so too the next */
	const char *owner;
	int32_t until;		/* yyyymmdd, the last day; 0 if not given */
	uint32_t overridden_by; /* line of the `when` that changed it, or 0 */
	plim_budget_position at;
} plim_budget_limit;

/* One target. Durations are nanoseconds. */
typedef struct plim_budget_target {
	const char *name;
	plim_budget_position at;
	int way;		/* enum plim_budget_way */
	int tree;		/* 1: with its descendants */
	const char *const *run; /* ends with NULL; NULL unless RUN */
	const char *attach;	/* NULL unless ATTACH */
	const char *report;	/* NULL unless REPORT; as written */
	const char *scope;	/* "synthetic", "real", "installed" */
	const char *load_statement;
	const char *load_unit;
	uint64_t load_count;
	int ready; /* enum plim_budget_ready */
	int ready_port;
	const char *ready_text;
	double quiet_cpu_percent; /* of one core */
	uint64_t quiet_for_ns;
	uint64_t quiet_limit_ns;
	uint64_t window_ns;
	uint64_t longest_period_ns; /* 0 if not given */
	uint32_t repeats;
	int aggregate;	     /* enum plim_budget_aggregate */
	uint32_t when_line;  /* of the `when` that matched, or 0 */
	uint32_t when_count; /* how many the target has */
	size_t limit_count;  /* at least 1 */
	const plim_budget_limit *limits;
} plim_budget_target;

typedef struct plim_budget plim_budget;

/*
 * Reads a budget. `file_name` is for messages only. `place` may be NULL:
 * nothing is known, no `when` matches and no limit expires. `allocator` may
 * be NULL. On failure `where` (optional) has the place in the text, and the
 * error has FILE:LINE:COLUMN in `path` and in `detail` what is wrong and what
 * to do. PLIM_ESYNTAX: it is no TOML 1.0, or a value has the wrong form;
 * PLIM_ENAME: an unknown key, figure or method, with the nearest name;
 * PLIM_EBUDGET: it is incomplete, contradictory, expired or of a newer
 * schema; PLIM_ELIMIT; PLIM_ENOMEM (`where` is then untouched);
 * PLIM_EINVAL.
 */
PLIM_API int plim_budget_parse(plim_budget **budget, const char *file_name,
			       plim_bytes text, const plim_budget_place *place,
			       const plim_allocator *allocator,
			       plim_budget_position *where, plim_error *error);
PLIM_API void plim_budget_free(plim_budget *budget);

/* Targets in the order of the file; NULL beyond the last. */
PLIM_API size_t plim_budget_count(const plim_budget *budget);
PLIM_API const plim_budget_target *plim_budget_at(const plim_budget *budget,
						  size_t index);
/* The target of this name, or NULL. */
PLIM_API const plim_budget_target *plim_budget_find(const plim_budget *budget,
						    const char *name);

/*
 * Verdicts; the number is the exit status of plim gate. 2 is no verdict: the
 * file or the command line was wrong and nothing was judged.
 */
enum plim_verdict {
	PLIM_VERDICT_PASS = 0,
	PLIM_VERDICT_EXCEEDED = 1,
	PLIM_VERDICT_UNAVAILABLE = 3,
	PLIM_VERDICT_INCONCLUSIVE = 4
};
/* "pass", "exceeded", "unavailable", "inconclusive"; NULL for any other
 * number. */
PLIM_API const char *plim_verdict_word(int verdict);
/* The worse of two: exceeded, unavailable, inconclusive, pass. A number that
 * is no verdict counts as unavailable. */
PLIM_API int plim_verdict_join(int a, int b);

/* What one repeat measured of one figure, in the figure's unit. */
typedef struct plim_budget_reading {
	plim_real value;    /* with method and bound, or with its reason */
	plim_count counted; /* events behind a rate, where known */
	uint64_t window_ns; /* that they were counted over; 0 unknown */
	const char *note;   /* more on a missing value, or NULL; not copied */
} plim_budget_reading;

/* What a relative limit compares with. */
typedef struct plim_budget_baseline {
	plim_real value;
	/* Why it must not be compared, or ""; then `value` is not looked at. */
	char refused[160];
} plim_budget_baseline;

/* A verdict on one limit. Values are in the figure's unit. */
typedef struct plim_budget_judgement {
	int verdict;	  /* enum plim_verdict */
	unsigned decided; /* PLIM_LIMIT_... that `limit` is of; 0: none */
	plim_real value;  /* of the aggregate, or why there is none */
	plim_real least;  /* of the repeats: the spread */
	plim_real most;
	double limit;	     /* the ceiling or floor that decided */
	double headroom;     /* what is left of it; below 0 where crossed */
	double error;	     /* sampling error of `value`; 0: it has none */
	plim_count counted;  /* events behind `value` */
	plim_real baseline;  /* of a relative limit */
	uint32_t readings;   /* how many there were */
	uint32_t missing;    /* of them: unavailable, or of another method */
	int skipped;	     /* 1: unavailable, and the limit lets it be so */
	int slack;	     /* 1: the ceiling is further off than need be */
	double slack_factor; /* ceiling / value; 0 unless `slack` */
	/* The verdict in words, without a full stop; escaped. */
	char text[256];
} plim_budget_judgement;

/*
 * Judges the readings of one figure, one for each repeat, against one limit.
 *
 * A ceiling and a floor are inclusive: a value at the limit holds. No reading
 * at all is unavailable ("no samples"), and so is a figure of which a repeat
 * is missing or by a method that the limit does not name, unless the others
 * cross the limit whatever it was. A limit with `skip` passes then, with
 * `skipped` set, unless there was no reading or the process had ended
 * (PLIM_STATE_GONE): a skip is for what a host cannot tell.
 *
 * An at-least value above a ceiling is exceeded; at or below it passes, and
 * the text says that it is a lower bound. An at-most value at or below a
 * ceiling passes; above it is inconclusive. For floors it is the other way
 * round.
 *
 * A rate of EVENTS has a sampling error of sqrt(n) events. The verdict is
 * inconclusive for noise only if both hold: the repeats disagree, some on
 * either side of the limit, and the value crosses it by no more than its
 * sampling error. Repeats that agree are never argued away.
 *
 * A relative limit is the baseline and the larger of `rise` and
 * `also_above`, so it is crossed only where both are. A baseline that is
 * NULL, refused, unavailable or of another method is unavailable; a skip
 * lets that be, too. A limit with several bounds has the worst verdict of
 * them.
 *
 * PLIM_OK; PLIM_EINVAL if the limit has no known figure or no bound, or a
 * value is no number; `out` is then untouched.
 */
PLIM_API int plim_budget_judge(const plim_budget_limit *limit, int aggregate,
			       const plim_budget_reading *readings,
			       size_t count,
			       const plim_budget_baseline *baseline,
			       plim_budget_judgement *out);

/* The verdict of a target: all of them joined, and unavailable if there is
 * none, or all were skipped, so that nothing was judged. */
PLIM_API int plim_budget_verdict(const plim_budget_judgement *judgements,
				 size_t count);

/*
 * A recorded result: the RESULT lines (result.h) of plim gate, of plim idle,
 * or of any program that prints them. Other lines are ignored. Of plim gate
 * it takes
 *
 *   RESULT gate_host system=linux machine=x86_64 kernel=6.18.5 virtual=1
 *     cpus=2 processor="..."
 *   RESULT gate_figure target=NAME figure=WORD value=V unit=U method=M
 *     bound=at_least|at_most|exact reason=R window_seconds=S counted=N ...
 *
 * each on one line, pairs in any order, others ignored, one line for each
 * repeat; `value` is in the figure's base unit or `unavailable`, the unit
 * plim_unit_word(), `count` for none. Of any other program it takes
 *
 *   line or pair of `budget`       figure
 *   idle_cpu_percent               idle_cpu
 *   wakeups_per_second             wakeups
 *   disk_ops_per_second            disk_ops
 *   disk_read_bytes_per_second     disk_read
 *   disk_write_bytes_per_second    disk_write
 *   disk_blocks_per_s (budget)     disk_blocks
 *   io_calls_per_s (budget)        io_calls
 *   warm_resident_bytes            resident_warm
 *   idle_resident_bytes            resident_end
 *   resident_memory_bytes          the last two, at most
 *   footprint_bytes                private_warm, at most
 *
 * where the last two lines, being the larger of two, count only if there is
 * none of the figure itself, and the pairs of `budget` that repeat a line
 * likewise. The method of `budget` is that of the lines before it; operations
 * that were taken from blocks are unavailable. A figure that comes again is
 * the next repeat.
 */
typedef struct plim_budget_record plim_budget_record;

/* As plim_budget_parse(). PLIM_ESYNTAX for a broken RESULT line, a figure
 * that is no number, or one in another unit; PLIM_ELIMIT above 16 MiB or
 * 16,384 figures. A text without a figure is an empty record. */
PLIM_API int plim_budget_record_parse(plim_budget_record **record,
				      const char *file_name, plim_bytes text,
				      const plim_allocator *allocator,
				      plim_budget_position *where,
				      plim_error *error);
PLIM_API void plim_budget_record_free(plim_budget_record *record);

/*
 * The readings of a figure: those that plim gate recorded for `target`, or,
 * where it recorded none for any target, those of the plain lines. Fills at
 * most `room` and returns how many there are. Their notes belong to the
 * record.
 */
PLIM_API size_t plim_budget_record_readings(const plim_budget_record *record,
					    const char *target, int figure,
					    plim_budget_reading *readings,
					    size_t room);

/*
 * The baseline of a figure: of several readings the one that `aggregate`
 * takes for a ceiling. It is refused if the record does not say of which
 * machine it is, or of one that differs from `place` in system, machine,
 * processor, cpus or virtual; the kernel may be another. A fact that `place`
 * does not know is not compared.
 */
PLIM_API void plim_budget_record_baseline(const plim_budget_record *record,
					  const char *target, int figure,
					  int aggregate,
					  const plim_budget_place *place,
					  plim_budget_baseline *baseline);

/*
 * Writes for people what a target's limits mean, with every default, what a
 * `when` changed, and where each stands: plim gate --explain. `target` NULL:
 * all of them. PLIM_OK, PLIM_ENAME or PLIM_EOUTPUT.
 */
PLIM_API int plim_budget_explain(const plim_budget *budget, const char *target,
				 plim_write_fn *write, void *user);

/* What plim_budget_draft() makes a file of. */
typedef struct plim_budget_draft_figure {
	int figure;
	plim_real value; /* the worst of the repeats, in the figure's unit */
	plim_real least;
} plim_budget_draft_figure;

typedef struct plim_budget_sketch {
	size_t size;		/* sizeof(plim_budget_sketch) */
	const char *name;	/* of the target; any text */
	const char *const *run; /* ends with NULL; or NULL */
	const char *attach;	/* where run is NULL */
	uint64_t window_ns;
	uint32_t repeats;
	uint32_t reserved;
	double slack;	      /* factor, at least 1, e.g. 1.5 */
	const char *measured; /* a line of comment: when, where; or NULL */
	size_t figure_count;
	const plim_budget_draft_figure *figures;
} plim_budget_sketch;

/*
 * Writes a first budget file from a measurement: plim gate --init. Each
 * ceiling is the figure times the slack, rounded up to two digits; of a
 * figure of 0 it is the least that can be seen in the window, times the slack,
 * but for children_started, which stays 0. A figure that is unavailable is
 * named in a comment with its reason and gets no limit. What was the load
 * must be written by hand; until then the file says so in its place. It
 * parses back. PLIM_EINVAL if no figure is known, a text is not UTF-8 or has
 * control characters, or a number is out of range; PLIM_EOUTPUT.
 */
PLIM_API int plim_budget_draft(const plim_budget_sketch *sketch,
			       plim_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
