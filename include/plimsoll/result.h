/*
 * result.h - RESULT lines: figures that a program or a script reads.
 *
 * One figure a line, `RESULT <key>=<number> <unit>`, or, where it cannot be
 * had, `RESULT <key>=unavailable <reason>`; or a record of pairs a line,
 * `RESULT <record> key=value key="quoted text" ...`. Keys, their order and
 * their formats are fixed, and new ones are only appended, so that a reader
 * ignores what it does not know. A number has a point in every locale, a line
 * never holds a raw newline or any other control character. The grammar
 * stands in plim_result(3) and in docs/design/result-lines.md.
 *
 * Nothing here allocates, prints or keeps state; all of it is safe in any
 * thread. A program that wants to print such lines without linking the
 * library includes <plimsoll-result.h>.
 */
#ifndef PLIMSOLL_RESULT_H
#define PLIMSOLL_RESULT_H

#include <plimsoll/base.h>
#include <plimsoll/export.h>
#include <plimsoll/figure.h>
#include <plimsoll/idle.h>
#include <plimsoll/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writers of one line each. `key` and `unit` are literals of the caller, a
 * key as the grammar has it; `unit` may be NULL: none. An unavailable figure
 * becomes `unavailable` and the word of its reason (plim_reason_word), a NaN
 * or an infinity `unavailable not_a_number`. A line of less than 4,096 bytes
 * is handed to `write` in one call. PLIM_OK or PLIM_EOUTPUT.
 */
PLIM_API int plim_result_count(const char *key, plim_count count,
			       const char *unit, plim_write_fn *write,
			       void *user);
/* `decimals` digits, 0 to 9, behind the point (plim_fixed_format). */
PLIM_API int plim_result_real(const char *key, plim_real real, int decimals,
			      const char *unit, plim_write_fn *write,
			      void *user);
/* A word as it is (`scope=real`), any other text quoted and escaped. */
PLIM_API int plim_result_text(const char *key, plim_bytes text,
			      plim_write_fn *write, void *user);
/* `RESULT <key>=unavailable <reason>` for a reason that is in no table; the
 * reason is escaped. */
PLIM_API int plim_result_unavailable(const char *key, const char *reason,
				     plim_write_fn *write, void *user);

/*
 * A record, pair by pair. The members are the library's. The first failure of
 * the callback is kept and told by plim_result_end(); nothing is written
 * after it. The callback is called when 1,000 bytes are full and at the end.
 */
typedef struct plim_result_line {
	plim_write_fn *write;
	void *user;
	int32_t failed;
	uint32_t reserved;
	size_t used;
	char data[1000];
} plim_result_line;

PLIM_API void plim_result_begin(plim_result_line *line, const char *record,
				plim_write_fn *write, void *user);
/* A figure that is unavailable is the word `unavailable`. */
PLIM_API void plim_result_add_count(plim_result_line *line, const char *key,
				    plim_count count);
PLIM_API void plim_result_add_whole(plim_result_line *line, const char *key,
				    uint64_t value);
/* With `decimals` digits behind the point; below 0: the shortest form that
 * reads back as the same number (plim_number_format). */
PLIM_API void plim_result_add_real(plim_result_line *line, const char *key,
				   plim_real real, int decimals);
/* Hexadecimal, 0x and no leading zeros. */
PLIM_API void plim_result_add_hex(plim_result_line *line, const char *key,
				  plim_count count);
/* Bare where it is a word, else quoted; NULL is `unavailable`. */
PLIM_API void plim_result_add_word(plim_result_line *line, const char *key,
				   const char *word);
/* Quoted and escaped, whatever it is. */
PLIM_API void plim_result_add_text(plim_result_line *line, const char *key,
				   plim_bytes text);
/* The same of a text figure, which may be unavailable. */
PLIM_API void plim_result_add_name(plim_result_line *line, const char *key,
				   plim_text text);
/* Ends the line: PLIM_OK or PLIM_EOUTPUT. */
PLIM_API int plim_result_end(plim_result_line *line);

/*
 * What was measured over a quiet window, as plain figures: warm is at the
 * beginning of the window, idle at its end. Zeroed figures are unavailable.
 */
typedef struct plim_result_figures {
	size_t size;		   /* sizeof(plim_result_figures) */
	plim_count warm_resident;  /* bytes */
	plim_count idle_resident;  /* bytes */
	plim_count warm_footprint; /* private bytes */
	plim_count idle_footprint; /* private bytes */
	uint64_t window_ns;	   /* 0: there was none */
	uint32_t samples;	   /* taken of the window, both ends counted */
	uint32_t reserved;
	plim_real cpu_percent; /* of one core */
	plim_real wakeups;     /* all that follow: per second */
	plim_real disk_ops;
	plim_real disk_read;  /* bytes */
	plim_real disk_write; /* bytes */
	plim_real disk_blocks;
	plim_real io_calls;
} plim_result_figures;

/*
 * What was measured, and under which load: what the user stated. A text that
 * is NULL was not stated and is printed as `unavailable`.
 */
typedef struct plim_result_load {
	size_t size;	      /* sizeof(plim_result_load) */
	uint64_t scale_count; /* how much load; not stated where unit is NULL */
	const char *scale_unit; /* "connections" */
	const char *statement;	/* what the load was, in words */
	const char *scope;	/* "synthetic", "real" or "installed" */
	const char *crate;	/* name of what was measured */
	const char *version;
	const char *verdict; /* "pass", ... NULL: nobody judged */
	/* Non-zero: disk_ops is taken from the blocks of 512 bytes, and its
	 * method is `disk_blocks`; for Linux users who gated on blocks. */
	int blocks_as_ops;
	int reserved;
} plim_result_load;

/*
 * The lines of one observation, in their fixed order: warm_resident_bytes,
 * idle_resident_bytes, resident_memory_bytes, footprint_bytes,
 * idle_window_seconds, idle_cpu_percent, wakeups_per_second,
 * disk_ops_per_second, disk_read_bytes_per_second,
 * disk_write_bytes_per_second, scale, scope, and the gate line `budget`.
 *
 * resident_memory_bytes and footprint_bytes are the larger of warm and idle,
 * and unavailable if either is. A resident size of zero is `unavailable
 * zero_reported`: no process that runs has none.
 */
PLIM_API int plim_result_observation(const plim_result_figures *figures,
				     const plim_result_load *load,
				     plim_write_fn *write, void *user);

/* The gate line alone. */
PLIM_API int plim_result_budget(const plim_result_figures *figures,
				const plim_result_load *load,
				plim_write_fn *write, void *user);

/* The figures of a quiet window, and its lines. `load` may be NULL: nothing
 * was stated. */
PLIM_API plim_result_figures plim_result_idle_figures(const plim_idle *idle);
PLIM_API int plim_result_idle(const plim_idle *idle,
			      const plim_result_load *load,
			      plim_write_fn *write, void *user);

/* `RESULT thread_wakeups_summary ...` */
typedef struct plim_result_threads_summary {
	size_t size;
	uint32_t threads; /* of the last sample */
	uint32_t born;
	uint32_t exited;
	uint32_t reserved;
	plim_count listed_wakeups;
	plim_count exited_wakeups_at_start;
	uint64_t window_ns;
} plim_result_threads_summary;
PLIM_API int
plim_result_thread_summary(const plim_result_threads_summary *summary,
			   plim_write_fn *write, void *user);

/* `RESULT thread_wakeups ...`, one of the ranking. */
typedef struct plim_result_thread_row {
	size_t size;
	uint32_t rank; /* from 1 */
	int32_t tid;
	int born;
	int reserved;
	plim_count wakeups; /* in the window */
	plim_count cpu_ns;  /* in the window */
	plim_count start_address;
	uint64_t window_ns;
	plim_text name;
	/* Appended where pid is not 0: of threads of more than one process. */
	int32_t pid;
	int32_t reserved_pid;
	plim_text process;	/* its name */
	plim_count runqueue_ns; /* waited for a CPU in the window */
	plim_text blocked_in;
} plim_result_thread_row;
PLIM_API int plim_result_thread(const plim_result_thread_row *thread,
				plim_write_fn *write, void *user);

/*
 * Both, of two samples: the summary, then the `top` threads that woke most,
 * those of which that is unknown last; one that did not wake has no line.
 * Before there are two samples the summary is alone.
 */
PLIM_API int plim_result_threads(const plim_threads *threads, size_t top,
				 plim_write_fn *write, void *user);

/* The same of the threads of a quiet window, which may be of many processes:
 * with pid and process. */
PLIM_API int plim_result_idle_threads(const plim_idle *idle, size_t top,
				      plim_write_fn *write, void *user);

/*
 * Reading. A line is taken apart in place: every text of a result is a part
 * of the line, and lives as long.
 */
enum plim_result_kind {
	PLIM_RESULT_NONE = 0,	     /* no RESULT line at all */
	PLIM_RESULT_VALUE = 1,	     /* KEY=NUMBER [UNIT] */
	PLIM_RESULT_UNAVAILABLE = 2, /* KEY=unavailable [REASON] */
	PLIM_RESULT_TEXT = 3,	     /* KEY=TEXT */
	PLIM_RESULT_RECORD = 4	     /* NAME KEY=VALUE ... */
};

typedef struct plim_result {
	int kind;
	int quoted;	  /* TEXT: it is quoted; `value` is without quotes */
	plim_bytes key;	  /* of a record: its name */
	plim_bytes value; /* the number, the text, still escaped; of a record:
			   * all of its pairs */
	plim_bytes unit;  /* VALUE: what stands behind the number, to the end;
			   * UNAVAILABLE: the reason; else empty */
	double number;	  /* VALUE */
	size_t start;	  /* where `value` begins in the line */
} plim_result;

/*
 * Reads one line, with or without its line end. A line that does not begin
 * with `RESULT ` is PLIM_RESULT_NONE, and no failure: programs print others
 * too. PLIM_ESYNTAX with the position for one that does and is none.
 */
PLIM_API int plim_result_parse(plim_bytes line, plim_result *result,
			       plim_error *error);

typedef struct plim_result_pair {
	plim_bytes key;
	plim_bytes value; /* without the quotes, still escaped */
	int quoted;
	int unavailable; /* the bare word */
} plim_result_pair;

/* The next pair of a record: 1 a pair, 0 there is none. `*offset` starts at 0
 * and belongs to this function. A record was checked when it was parsed. */
PLIM_API int plim_result_next(const plim_result *record, size_t *offset,
			      plim_result_pair *pair);

/* The pair with this key: 1 found, 0 not there, PLIM_ESYNTAX if it is there
 * twice, which says two things at once. */
PLIM_API int plim_result_find(const plim_result *record, const char *key,
			      plim_result_pair *pair, plim_error *error);

/*
 * A number as the grammar has it: digits, a point, an exponent; `-` before.
 * PLIM_ESYNTAX, or PLIM_EINVAL for one too large for a double. The result is
 * the nearest double, ties to even, however many digits there are.
 */
PLIM_API int plim_result_number(plim_bytes text, double *number,
				plim_error *error);
/* A whole number: digits, or 0x and hexadecimal ones. PLIM_EINVAL above
 * 2^64 - 1. */
PLIM_API int plim_result_whole(plim_bytes text, uint64_t *whole,
			       plim_error *error);

/* Takes the escapes of a text away (\" \\ \xNN); the result can hold any byte,
 * also NUL. Writes at most `size` bytes, adds no NUL, and returns the length
 * of the whole. What is no escape stands as it is. */
PLIM_API size_t plim_result_unescape(plim_bytes text, char *buffer,
				     size_t size);

#ifdef __cplusplus
}
#endif
#endif
