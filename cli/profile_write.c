/*
 * profile_write.c - a profile, into each place that it goes to, and what is
 * said of that.
 *
 * A file gets its name when it is whole, so that nobody reads half of one and
 * a failure leaves the older one; what is no regular file is written to as it
 * is. A place that fails takes none of the others with it: a run cannot be
 * had again.
 */
#include "file.h"
#include "profile.h"
#include "term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- which view ---------------------------------------------------------- */

/* These have all views at once, and begin with one of them. */
static int write_has_all(int form)
{
	return form == PROFILE_JSON || form == PROFILE_PPROF ||
	       form == PROFILE_FLAME;
}

/* Where threads that run could not be sampled, nobody knows that none ran. */
static int write_saw_running(const plim_profile *profile)
{
	for (size_t i = 0; i < plim_profile_tier_count(profile); i++) {
		const plim_profile_tier *tier =
		    plim_profile_tier_at(profile, i);

		if (tier->used && tier->tier != PLIM_TIER_NO_STOP)
			return 1;
	}
	return 0;
}

static int write_check(const struct options *options,
		       const plim_profile *profile, struct profile_place *place,
		       plim_error *error)
{
	const int view = options->view != 0 ? options->view : PLIM_VIEW_CPU;

	if (place->form == PROFILE_JSON ||
	    plim_profile_check(profile, view, error) == PLIM_OK)
		return PLIM_OK;
	if (!write_has_all(place->form) || options->view != 0 ||
	    !write_saw_running(profile) ||
	    plim_profile_check(profile, PLIM_VIEW_OFF, NULL) != PLIM_OK)
		return error->code;
	place->view = PLIM_VIEW_OFF;
	return PLIM_OK;
}

int profile_places_check(const struct options *options,
			 struct profile_places *places,
			 const plim_profile *profile, plim_error *error)
{
	plim_error first;
	size_t wrong = 0;

	for (size_t i = 0; i < places->count; i++) {
		struct profile_place *place = &places->items[i];

		place->is_empty =
		    write_check(options, profile, place, error) != PLIM_OK;
		if (place->is_empty && wrong++ == 0)
			first = *error;
	}
	if (wrong == 0)
		return PLIM_OK;
	*error = first;
	return wrong < places->count ? PLIM_OK : error->code;
}

/* --- writing ------------------------------------------------------------- */

struct place_file {
	int descriptor;
	uint64_t size;
};

static int place_to_file(const char *data, size_t size, void *user)
{
	struct place_file *file = user;

	file->size += size;
	return file_put(file->descriptor, data, size);
}

static plim_profile_export place_options(const struct options *options,
					 const struct profile_place *place)
{
	plim_profile_export how = {.size = sizeof how, .view = place->view};

	if (options->no_inlines)
		how.flags |= PLIM_EXPORT_NO_INLINES;
	if (options->ascii)
		how.flags |= PLIM_EXPORT_ASCII;
	how.limit =
	    options->limit < UINT32_MAX ? (uint32_t)options->limit : UINT32_MAX;
	if (place->path == NULL)
		how.width = (uint32_t)term_width();
	return how;
}

static int place_json(const struct options *options, plim_host *host,
		      const plim_profile *profile,
		      const plim_profile_export *how, plim_write_fn *write,
		      void *user, plim_error *error)
{
	plim_json *json = json_begin_to(options, host, write, user);
	int code;

	if (json == NULL) {
		memset(error, 0, sizeof *error);
		error->code = PLIM_ENOMEM;
		error->position = -1;
		return PLIM_ENOMEM;
	}
	plim_json_profile_members(json, profile, how);
	code = json_end(json, host, error);
	plim_json_free(json);
	return code;
}

static int place_say(const struct options *options,
		     const struct profile_place *place, plim_host *host,
		     const plim_profile *profile, plim_write_fn *write,
		     void *user, plim_error *error)
{
	const plim_profile_export how = place_options(options, place);

	switch (place->form) {
	case PROFILE_PPROF:
		return plim_pprof_profile(profile, &how, write, user, error);
	case PROFILE_COLLAPSED:
		return plim_collapsed_profile(profile, &how, write, user,
					      error);
	case PROFILE_SPEEDSCOPE:
		return plim_speedscope_profile(profile, &how, write, user,
					       error);
	case PROFILE_FLAME:
		return plim_flame_profile(profile, &how, write, user, error);
	case PROFILE_FIREFOX:
		return plim_firefox_profile(profile, &how, write, user, error);
	case PROFILE_JSON:
		return place_json(options, host, profile, &how, write, user,
				  error);
	case PROFILE_CSV:
		return plim_csv_profile(profile, &how, write, user, error);
	default:
		return plim_text_profile(profile, &how, write, user, error);
	}
}

/* --- telling ------------------------------------------------------------- */

/* A library's bill is of sampling; names and writing are ours, too. */
static void place_bill(const struct options *options, plim_host *host)
{
	const plim_cost cost = command_cost(host);
	char bytes[32];

	plim_quantity_format((double)cost.bytes_read, PLIM_UNIT_BYTES, bytes,
			     sizeof bytes);
	output_format("             in all, with names: %llu system calls, %s "
		      "read, %s of CPU time\n",
		      (unsigned long long)cost.system_calls, bytes,
		      show_count(options, cost.cpu_ns, PLIM_UNIT_NS));
}

static int place_to_error(const char *data, size_t size, void *user)
{
	(void)user;
	fwrite(data, 1, size, stderr);
	return 0;
}

/* Of collapsed stacks the file cannot say it. */
static const char *place_unit(const struct profile_place *place)
{
	return place->form == PROFILE_COLLAPSED ? ", in nanoseconds" : "";
}

struct write_tell {
	plim_write_fn *write;
	void *user;
};

/* Where standard output is the profile's or the command's, it is left alone. */
static struct write_tell write_teller(const struct profile_places *places)
{
	if (places->to_error)
		return (struct write_tell){place_to_error, NULL};
	return (struct write_tell){output_write, &standard_output};
}

static void write_say(const struct write_tell *tell, const char *text)
{
	tell->write(text, strlen(text), tell->user);
}

static void place_tell(const struct write_tell *tell,
		       const struct profile_place *place, int is_first)
{
	char bytes[32];
	char path[1024];
	char line[1200];

	plim_quantity_format((double)place->size, PLIM_UNIT_BYTES, bytes,
			     sizeof bytes);
	plim_escape(PLIM_ESCAPE_TERMINAL,
		    (plim_bytes){place->path, strlen(place->path)}, path,
		    sizeof path);
	snprintf(line, sizeof line, "%-13s%s: %s%s, %s\n",
		 is_first ? "written" : "", path, profile_words[place->form],
		 place_unit(place), bytes);
	write_say(tell, line);
	if (place->form == PROFILE_PPROF) {
		snprintf(line, sizeof line, "%-13sgo tool pprof -top %s\n", "",
			 path);
		write_say(tell, line);
	}
}

/* Who wrote files is told what is in them. */
static void write_tell(const struct options *options,
		       const struct profile_places *places,
		       const plim_profile *profile)
{
	const struct write_tell tell = write_teller(places);
	size_t told = 0;

	for (size_t i = 0; i < places->count; i++) {
		const struct profile_place *place = &places->items[i];
		plim_profile_export how;

		if (!place->is_written)
			continue;
		if (told++ == 0 && !places->has_output) {
			how = place_options(options, place);
			how.width = (uint32_t)term_width();
			plim_text_profile_head(profile, &how, tell.write,
					       tell.user, NULL);
		}
		place_tell(&tell, place, told == 1);
	}
}

/* --- each place ---------------------------------------------------------- */

static int place_file(const struct options *options,
		      struct profile_place *place, profile_say_fn *say,
		      void *what)
{
	struct place_file file = {.descriptor = -1};
	char *made = NULL;
	plim_error error;
	int code = PLIM_OK;
	int failed = 0;
	int status = profile_place_temporary(place, &made);

	if (status != EXIT_DONE)
		return status;
	file.descriptor = profile_place_open(place, made);
	if (file.descriptor < 0) {
		status = profile_place_fail(place, errno);
		free(made);
		return status;
	}
	code = say(place, place_to_file, &file, &error, what);
	if (close(file.descriptor) != 0 && code == PLIM_OK)
		failed = errno;
	if (code == PLIM_EOUTPUT)
		failed = error.system;
	if (code == PLIM_OK && failed == 0 && made != NULL &&
	    file_rename(made, place->real) != 0)
		failed = errno;
	if (failed != 0)
		status = profile_place_fail(place, failed);
	else if (code != PLIM_OK)
		status = fail_with(options, &error);
	if (status != EXIT_DONE && made != NULL)
		file_remove(made);
	free(made);
	place->size = file.size;
	place->is_written = status == EXIT_DONE;
	return status;
}

static int place_output(const struct options *options,
			const struct profile_place *place, profile_say_fn *say,
			void *what)
{
	plim_error error;
	int code;

	if (place->form == PROFILE_TEXT)
		output_bold(options);
	code = say(place, output_write, &standard_output, &error, what);
	if (code == PLIM_EOUTPUT) /* output_end() tells it */
		return EXIT_DONE;
	return code == PLIM_OK ? EXIT_DONE : fail_with(options, &error);
}

int profile_place_write(const struct options *options,
			struct profile_place *place, profile_say_fn *say,
			void *what)
{
	return place->path != NULL ? place_file(options, place, say, what)
				   : place_output(options, place, say, what);
}

/* --- a profile in each --------------------------------------------------- */

struct place_profile {
	const struct options *options;
	plim_host *host;
	const plim_profile *profile;
};

static int place_say_profile(const struct profile_place *place,
			     plim_write_fn *write, void *user,
			     plim_error *error, void *what)
{
	const struct place_profile *of = what;

	return place_say(of->options, place, of->host, of->profile, write, user,
			 error);
}

static int place_profile(const struct options *options,
			 struct profile_place *place, plim_host *host,
			 const plim_profile *profile)
{
	struct place_profile of = {options, host, profile};
	const int status =
	    profile_place_write(options, place, place_say_profile, &of);

	if (status == EXIT_DONE && place->path == NULL &&
	    place->form == PROFILE_TEXT)
		place_bill(options, host);
	return status;
}

/* Its view has nothing; others have something. */
static int place_empty(const struct options *options,
		       const struct profile_place *place,
		       const plim_profile *profile)
{
	plim_error error;

	plim_profile_check(profile,
			   options->view != 0 ? options->view : PLIM_VIEW_CPU,
			   &error);
	snprintf(error.path, sizeof error.path, "%s",
		 place->path != NULL ? place->path : "-");
	return fail_with(options, &error);
}

int profile_places_write(const struct options *options,
			 struct profile_places *places, plim_host *host,
			 const plim_profile *profile)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < places->count; i++) {
		struct profile_place *place = &places->items[i];
		const int one =
		    place->is_empty
			? place_empty(options, place, profile)
			: place_profile(options, place, host, profile);

		if (status == EXIT_DONE)
			status = one;
	}
	if (options->format == FORMAT_TABLE)
		write_tell(options, places, profile);
	return status;
}
