/*
 * profile.h - what plim profile shares between measuring (cmd_profile.c), where
 * the result goes (profile_place.c) and writing it there (profile_write.c).
 */
#ifndef PLIM_PROFILE_H
#define PLIM_PROFILE_H

#include "cmd.h"

enum profile_form {
	PROFILE_TEXT,
	PROFILE_PPROF,
	PROFILE_COLLAPSED,
	PROFILE_JSON,
	PROFILE_CSV,
	PROFILE_SPEEDSCOPE,
	PROFILE_FLAME,
	PROFILE_FIREFOX
};
/* args_profile.c: the words of --format in that order, then NULL. */
extern const char *const profile_words[];

struct profile_place {
	int form;	  /* enum profile_form */
	const char *path; /* NULL: standard output */
	char *real;	  /* without a link; NULL with path */
	int is_kept;	  /* written to as it is: a pipe, a device */
	int view;	  /* enum plim_view: the first that is shown; 0: cpu */
	int is_empty;	  /* there is nothing of its view */
	int is_written;
	uint64_t size;
};

struct profile_places {
	struct profile_place items[OPTION_OUTPUTS];
	size_t count;
	int has_output; /* standard output is one of them */
	int to_error;	/* what is said besides goes to standard error */
};

/* What is asked for: which forms, and where. Nothing is written, but that it
 * can be has been tried. EXIT_DONE, or the status of what is wrong; either
 * way profile_places_free() is due. */
int profile_places_find(const struct options *options,
			struct profile_places *places);
void profile_places_free(struct profile_places *places);
/* One place: tells what failed there; the name that it has until it is whole,
 * to be freed, or NULL where it is written to as it is; and opens it. */
int profile_place_fail(const struct profile_place *place, int number);
int profile_place_temporary(const struct profile_place *place, char **made);
int profile_place_open(const struct profile_place *place, const char *made);

/* profile_write.c: is there something for each? Only where there is nothing
 * for any of them it is a failure. */
int profile_places_check(const struct options *options,
			 struct profile_places *places,
			 const plim_profile *profile, plim_error *error);
/* Writes all of it there; the status of the first that failed. */
int profile_places_write(const struct options *options,
			 struct profile_places *places, plim_host *host,
			 const plim_profile *profile);

/* One of them, in a file or on standard output, whatever it is that `say`
 * writes there. */
typedef int profile_say_fn(const struct profile_place *place,
			   plim_write_fn *write, void *user, plim_error *error,
			   void *what);
int profile_place_write(const struct options *options,
			struct profile_place *place, profile_say_fn *say,
			void *what);
/* profile_preload.c: what is to be preloaded into the command, if anything is:
 * where it is asked for, or where `profile` says that neither perf events nor
 * ptrace are allowed. `*preload` stays NULL where nothing is. */
int profile_preload(const struct options *options, plim_host *host,
		    const plim_profile *profile, plim_preload **preload,
		    plim_error *error);

/* profile_diff.c: plim profile diff A B, or A ... -- B ... */
int profile_diff(const struct options *options);

#endif
