/*
 * export.h - writers: JSON, CSV and tables for people.
 *
 * A writer hands its bytes to a callback. Everything of a process is escaped
 * here, so that what comes out is safe to print, whatever the name. The first
 * failure of the callback is kept, and nothing is written after it.
 */
#ifndef PLIMSOLL_EXPORT_H
#define PLIMSOLL_EXPORT_H

#include <plimsoll/base.h>
#include <plimsoll/compare.h>
#include <plimsoll/fields.h>
#include <plimsoll/figure.h>
#include <plimsoll/heap.h>
#include <plimsoll/host.h>
#include <plimsoll/mapping.h>
#include <plimsoll/memory.h>
#include <plimsoll/process.h>
#include <plimsoll/profile.h>
#include <plimsoll/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes bytes; 0 if it took all of them, else a system error number. */
typedef int plim_write_fn(const char *data, size_t size, void *user);

/*
 * A stream of JSON (RFC 8259). Keys are literals of the caller; values are
 * escaped. `key` is NULL inside an array and for the outermost value.
 * Nesting deeper than 32 is PLIM_EINVAL, kept like any failure.
 */
typedef struct plim_json plim_json;

/* `indent` 0 writes one line, else that many spaces a level (at most 8). */
PLIM_API int plim_json_new(plim_json **json, plim_write_fn *write, void *user,
			   int indent, const plim_allocator *allocator,
			   plim_error *error);
PLIM_API void plim_json_free(plim_json *json);
PLIM_API void plim_json_object(plim_json *json, const char *key);
PLIM_API void plim_json_array(plim_json *json, const char *key);
PLIM_API void plim_json_end(plim_json *json);
PLIM_API void plim_json_text(plim_json *json, const char *key,
			     plim_bytes value);
PLIM_API void plim_json_string(plim_json *json, const char *key,
			       const char *value);
PLIM_API void plim_json_whole(plim_json *json, const char *key, uint64_t value);
PLIM_API void plim_json_number(plim_json *json, const char *key, double value);
PLIM_API void plim_json_boolean(plim_json *json, const char *key, int value);
PLIM_API void plim_json_null(plim_json *json, const char *key);
/* Ends the outermost value with a newline, hands out what is buffered, and
 * tells whether all went well; the next value may follow (NDJSON). */
PLIM_API int plim_json_finish(plim_json *json, plim_error *error);

/*
 * Objects of the documented schema (plim(1), "JSON"): one process with its
 * side objects `unavailable`, `method` and `bound`, and, where `earlier` is
 * not NULL, `rates`. Only the fields of `fields` are written.
 */
PLIM_API void plim_json_process(plim_json *json, const char *key,
				const plim_process *process,
				const plim_process *earlier,
				const plim_field_set *fields);
/* What is in that object, into one that the caller has begun and will end: for
 * who has more to say of a process, behind it. */
PLIM_API void plim_json_process_members(plim_json *json,
					const plim_process *process,
					const plim_process *earlier,
					const plim_field_set *fields);
/* A thread, as it was in a sample; with `change`, which may be NULL, what it
 * did between two, below `delta`. `change->last` is `thread`. */
PLIM_API void plim_json_thread(plim_json *json, const char *key,
			       const plim_thread *thread,
			       const plim_thread_change *change);
/* The same without the braces, for an object that has other members too. */
PLIM_API void plim_json_thread_members(plim_json *json,
				       const plim_thread *thread,
				       const plim_thread_change *change);
/* Memory: the members `samples_taken`, `samples`, `steady`, `ended` and
 * `ledger`, into an object that the caller has begun and will end. `steady`
 * has the method of each figure, the samples have not. */
PLIM_API void plim_json_memory_members(plim_json *json,
				       const plim_memory *memory);
/* Mappings: totals, groups by name and by kind, stacks whose thread is known,
 * and the estimate, marked as one. */
PLIM_API void plim_json_mappings(plim_json *json, const char *key,
				 const plim_mappings *mappings);
/* An allocator with its arenas, hostages and checks; the verdict with its
 * lines. */
PLIM_API void plim_json_heap(plim_json *json, const char *key,
			     const plim_heap *heap);
PLIM_API void plim_json_retention(plim_json *json, const char *key,
				  const plim_retention *retention);
PLIM_API void plim_json_host(plim_json *json, const char *key, plim_host *host);
PLIM_API void plim_json_cost(plim_json *json, const char *key,
			     const plim_cost *cost);
PLIM_API void plim_json_error(plim_json *json, const char *key,
			      const plim_error *error);

/*
 * CSV (RFC 4180): a header of field names, then a row for each process; an
 * unavailable figure is empty. The result is PLIM_OK or PLIM_EOUTPUT.
 */
PLIM_API int plim_csv_header(const plim_field_set *fields, int rates,
			     plim_write_fn *write, void *user);
PLIM_API int plim_csv_process(const plim_process *process,
			      const plim_process *earlier,
			      const plim_field_set *fields, int rates,
			      plim_write_fn *write, void *user);

/* The timeline of a process's memory: a header and a row for each sample that
 * is kept. The result is PLIM_OK or PLIM_EOUTPUT. */
PLIM_API int plim_csv_memory(const plim_memory *memory, plim_write_fn *write,
			     void *user);

/*
 * A table for people: add columns, then cells row by row, then print. Numbers
 * stand right, texts left; an unavailable figure is `-`. Cells are copied and
 * escaped as they are added.
 */
typedef struct plim_table plim_table;

PLIM_API int plim_table_new(plim_table **table, const plim_allocator *allocator,
			    plim_error *error);
PLIM_API void plim_table_free(plim_table *table);
/* Forgets the rows, keeps the columns. */
PLIM_API void plim_table_clear(plim_table *table);
/* Escape everything above ASCII from here on. */
PLIM_API void plim_table_ascii(plim_table *table, int ascii);
/* `right` is non-zero for a column of numbers. */
PLIM_API void plim_table_column(plim_table *table, const char *title,
				int right);
PLIM_API void plim_table_text(plim_table *table, plim_bytes text);
PLIM_API void plim_table_count(plim_table *table, plim_count count, int unit);
PLIM_API void plim_table_real(plim_table *table, plim_real real, int unit);
/* Prints title and rows, cut to `width` columns of a terminal (0: uncut).
 * PLIM_ENOMEM if a cell was lost, PLIM_EOUTPUT. */
PLIM_API int plim_table_print(plim_table *table, size_t width, int header,
			      plim_write_fn *write, void *user,
			      plim_error *error);

/*
 * Profiles. Every writer takes its rows from plim_profile_fold(), so that what
 * one says of a function or a thread, all say. Names are escaped for where
 * they go: they are valid UTF-8 without a control character everywhere.
 *
 * The results are PLIM_OK, PLIM_EINVAL (a view that is none), PLIM_ENOMEM and
 * PLIM_EOUTPUT. What came out before a failure is of no use.
 */
enum plim_export_flag {
	PLIM_EXPORT_PLAIN = 1,	    /* pprof: not compressed */
	PLIM_EXPORT_NO_INLINES = 2, /* inlined functions are not told apart */
	PLIM_EXPORT_ASCII = 4	    /* text: nothing above ASCII */
};
typedef struct plim_profile_export {
	size_t size;	/* sizeof(plim_profile_export) */
	int view;	/* enum plim_view; 0: CPU */
	uint32_t flags; /* enum plim_export_flag */
	uint32_t limit; /* text: rows of a table; 0: as many as fit a page */
	uint32_t width; /* text: columns of the terminal; 0: not cut */
	/* Where memory comes from; NULL: the C library's. */
	const plim_allocator *allocator;
	uint64_t reserved[4];
} plim_profile_export;

/*
 * Collapsed stacks: a line for each, heaviest first. The thread's name, then
 * functions from the root to the leaf, with semicolons between them; a blank;
 * nanoseconds of the view. The format cannot escape: a semicolon in a name
 * becomes a colon.
 */
PLIM_API int plim_collapsed_profile(const plim_profile *profile,
				    const plim_profile_export *how,
				    plim_write_fn *write, void *user,
				    plim_error *error);

/*
 * A file of speedscope (https://www.speedscope.app/file-format-schema.json): a
 * profile for each thread that has any of the view, "NAME TID", in nanoseconds,
 * without the order of time. Frames have the source file and line where they
 * are known, else the module's path as the file, and the module besides. The
 * facts and metrics of plim_json_profile_members() stand below `plimsoll`.
 */
PLIM_API int plim_speedscope_profile(const plim_profile *profile,
				     const plim_profile_export *how,
				     plim_write_fn *write, void *user,
				     plim_error *error);

/*
 * A page of HTML that draws itself: a flame graph of every view and of every
 * thread, to zoom into and to search, tables of functions and libraries, and
 * what it cost to find out. One file, which loads nothing; `view` is the one
 * that it begins with.
 */
PLIM_API int plim_flame_profile(const plim_profile *profile,
				const plim_profile_export *how,
				plim_write_fn *write, void *user,
				plim_error *error);

/*
 * For the Firefox Profiler: its processed format, version 66. A row for each
 * sample, at the time at which it was taken, with its weight in the view and
 * the thread's CPU time since the row before; what was counted and not sampled
 * stands at the end of its thread. Facts and metrics are in `meta.extra`, the
 * sampler's CPU time in `profilerOverhead`.
 */
PLIM_API int plim_firefox_profile(const plim_profile *profile,
				  const plim_profile_export *how,
				  plim_write_fn *write, void *user,
				  plim_error *error);

/*
 * pprof (profile.proto of google/pprof): gzip where the library was built with
 * zlib, else the bare message, which `go tool pprof` reads as well. Values are
 * samples, and nanoseconds of each view, of which `view` is the default; labels
 * thread, tid, pid, state and end (why the stack ends); metrics stand in the
 * comments.
 */
PLIM_API int plim_pprof_profile(const plim_profile *profile,
				const plim_profile_export *how,
				plim_write_fn *write, void *user,
				plim_error *error);
/* 1 if plim_pprof_profile() compresses. */
PLIM_API int plim_pprof_compresses(void);

/*
 * A page for people: what was sampled, how, and what is missing; functions
 * with the error of sampling; the heaviest stacks; threads; what it cost. The
 * head is the first part of it alone, for who writes the rest elsewhere.
 */
PLIM_API int plim_text_profile(const plim_profile *profile,
			       const plim_profile_export *how,
			       plim_write_fn *write, void *user,
			       plim_error *error);
PLIM_API int plim_text_profile_head(const plim_profile *profile,
				    const plim_profile_export *how,
				    plim_write_fn *write, void *user,
				    plim_error *error);

/*
 * The functions of a row as a person reads them, the innermost first:
 * "a < b < c < 4 more" is a, which b called. What called main() is left out.
 * Names are without parameters and template arguments, and escaped: `form` is
 * PLIM_ESCAPE_TERMINAL or PLIM_ESCAPE_ASCII. At most so many functions, and as
 * many as fit into `size` bytes with the NUL; returns the length, as snprintf
 * does.
 */
PLIM_API size_t plim_text_stack(const plim_fold *fold, const plim_fold_row *row,
				size_t functions, int form, char *buffer,
				size_t size);

/* CSV: a header, then a row for each function, heaviest first. */
PLIM_API int plim_csv_profile(const plim_profile *profile,
			      const plim_profile_export *how,
			      plim_write_fn *write, void *user,
			      plim_error *error);

/*
 * The members of a profile, into an object that the caller has begun and will
 * end: `profile`, `metrics`, `views`, `programs`, `threads`, `modules`,
 * `functions` with their shares in each view, `frames` and `stacks`. Indices
 * are places in these arrays. The stacks are those of all views at once: the
 * activity says which view has them. A failure is kept, as of any value.
 */
PLIM_API void plim_json_profile_members(plim_json *json,
					const plim_profile *profile,
					const plim_profile_export *how);

/*
 * What changed between two profiles (compare.h): an object of the documented
 * schema, and CSV with a row for each function. `allocator` may be NULL.
 */
PLIM_API void plim_json_diff(plim_json *json, const char *key,
			     const plim_diff *diff);
PLIM_API int plim_csv_diff(const plim_diff *diff,
			   const plim_allocator *allocator,
			   plim_write_fn *write, void *user, plim_error *error);
/*
 * The page of plim_flame_profile() for a difference: one flame graph of both
 * sides, as wide as either, in which what changed is red (more) or blue
 * (less), what is the same within noise grey, and what has not enough samples
 * pale and hatched. `names` are what the sides are called, or NULL. As the
 * writers of profiles.
 */
PLIM_API int plim_flame_diff(const plim_diff *diff, const plim_bytes *names,
			     const plim_allocator *allocator,
			     plim_write_fn *write, void *user,
			     plim_error *error);

/* Terminal columns that UTF-8 text takes: wide and combining characters are
 * counted as terminals draw them. */
PLIM_API size_t plim_text_width(plim_bytes text);

#ifdef __cplusplus
}
#endif
#endif
