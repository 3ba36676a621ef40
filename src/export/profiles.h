/*
 * profiles.h - what the writers of profiles share: the options read, and the
 * folding that each takes its rows from.
 */
#ifndef PLIMP_PROFILES_H
#define PLIMP_PROFILES_H

#include "core/buffer.h"

#include <plimsoll/export.h>

struct plimp_sink;

/* The options in effect; PLIM_EINVAL for a view that is none. `how` may be
 * NULL, or older and shorter. */
int plimp_export_read(const plim_profile_export *how,
		      plim_profile_export *options, const char *operation,
		      plim_error *error);

/* Folds by the view and, unless they are not wanted, with inlined functions
 * told apart. `flags` are more of enum plim_fold_flag. */
int plimp_export_fold(const plim_profile *profile,
		      const plim_profile_export *options, uint32_t flags,
		      plim_fold **fold, plim_error *error);

/* The one place where a failure of a writer is told. */
int plimp_export_end(int code, int system, const char *operation,
		     plim_error *error);

/*
 * Names in JSON that somebody else's program shows: as everywhere, without a
 * control character, and what is no UTF-8 as \xNN, which JSON alone would let
 * through. `text` is room for one; its failure is kept in it.
 */
void plimp_export_text(plim_json *json, struct plimp_buffer *text,
		       const char *key, plim_bytes value);
/* "worker 4712": threads may have the same name. */
void plimp_export_thread_name(plim_json *json, struct plimp_buffer *text,
			      const char *key,
			      const plim_profile_thread *thread);
/* "nginx 4711, time on a CPU" */
void plimp_export_title(plim_json *json, struct plimp_buffer *text,
			const char *key, const plim_profile *profile, int view);
/* Ends the outermost value and tells what failed, in `text`, too. */
int plimp_export_finish(plim_json *json, const struct plimp_buffer *text,
			const char *operation, plim_error *error);

/* A field of CSV, which `text` is room for, since its quotes depend on the
 * whole; its failure is kept in it. A number, behind a comma. */
void plimp_export_csv_text(struct plimp_sink *sink, struct plimp_buffer *text,
			   plim_bytes value);
void plimp_export_csv_number(struct plimp_sink *sink, double number);

/* json_profile.c: what a profile says of itself, `profile` and `metrics`, into
 * an object that is begun. */
void plimp_json_profile_self(plim_json *json, const plim_profile *profile,
			     int view);

/* The last component of a module's path, or the path where it has none. */
plim_bytes plimp_export_module_name(const plim_profile *profile,
				    uint32_t module);

#endif
