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
#include <plimsoll/fields.h>
#include <plimsoll/figure.h>
#include <plimsoll/heap.h>
#include <plimsoll/host.h>
#include <plimsoll/mapping.h>
#include <plimsoll/memory.h>
#include <plimsoll/process.h>
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

/* Terminal columns that UTF-8 text takes: wide and combining characters are
 * counted as terminals draw them. */
PLIM_API size_t plim_text_width(plim_bytes text);

#ifdef __cplusplus
}
#endif
#endif
