/*
 * profile_place.c - where a profile goes, and as what: to one place or to
 * several, each in the form that the end of its name says, unless it is told.
 *
 * Whether everything can be written is tried before anything is measured: a
 * file is made beside each, under the name that it will have until it is
 * whole, with room for a small profile, while the others are there, too; then
 * they go. What is no regular file (a pipe, a device) is not opened to try it:
 * that would end a pipe for its reader. profile_write.c does the writing.
 */
#include "file.h"
#include "profile.h"
#include "term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Less is no room for any profile. */
#define PLACE_ROOM 65536

/* The first that fits. */
static const struct {
	const char *end;
	int form;
} place_ends[] = {
    {".pb.gz", PROFILE_PPROF},
    {".pb", PROFILE_PPROF},
    {".pprof", PROFILE_PPROF},
    {".folded", PROFILE_COLLAPSED},
    {".collapsed", PROFILE_COLLAPSED},
    {".speedscope.json", PROFILE_SPEEDSCOPE},
    {".firefox.json", PROFILE_FIREFOX},
    {".json", PROFILE_JSON},
    {".html", PROFILE_FLAME},
    {".csv", PROFILE_CSV},
    {".txt", PROFILE_TEXT},
};

static int place_by_word(const char *word)
{
	int i;

	for (i = 0; profile_words[i + 1] != NULL; i++)
		if (strcmp(profile_words[i], word) == 0)
			break;
	return i;
}

static int place_by_end(const char *path)
{
	const size_t size = strlen(path);
	size_t i;

	for (i = 0; i < sizeof place_ends / sizeof place_ends[0]; i++) {
		const size_t end = strlen(place_ends[i].end);

		if (size > end &&
		    strcasecmp(path + size - end, place_ends[i].end) == 0)
			return place_ends[i].form;
	}
	return -1;
}

/* --json and --csv are words of their own for two of the forms. */
static int place_told(const struct options *options, int *form)
{
	*form = -1;
	if (options->format == FORMAT_JSON)
		*form = PROFILE_JSON;
	else if (options->format == FORMAT_CSV)
		*form = PROFILE_CSV;
	if (options->written_as == NULL)
		return EXIT_DONE;
	if (*form >= 0 && *form != place_by_word(options->written_as))
		return fail_usage(
		    "profile: --%s and --format %s cannot both be meant",
		    profile_words[*form], options->written_as);
	*form = place_by_word(options->written_as);
	return EXIT_DONE;
}

/* "pprof:FILE" is a file in that form; where it is no form that stands before
 * the colon, it is a name with a colon. */
static const char *place_prefix(const char *value, int *form)
{
	const size_t size = strcspn(value, ":");
	int i;

	for (i = 0; value[size] == ':' && profile_words[i] != NULL; i++)
		if (strlen(profile_words[i]) == size &&
		    memcmp(profile_words[i], value, size) == 0) {
			*form = i;
			return value + size + 1;
		}
	return value;
}

static int place_form(const char *value, int told, struct profile_place *place)
{
	int form = -1;

	place->path = place_prefix(value, &form);
	if (place->path[0] == '\0')
		return fail_usage("--output: '%s' names no file", value);
	if (form >= 0 && told >= 0 && form != told)
		return fail_usage("--output: '%s' and %s cannot both be meant",
				  value, profile_words[told]);
	if (form < 0)
		form = told;
	if (strcmp(place->path, "-") == 0)
		place->path = NULL;
	if (form < 0 && place->path != NULL) {
		form = place_by_end(place->path);
		if (form < 0)
			return fail_usage(
			    "--output: the end of '%s' is none of .pb.gz, "
			    ".pprof, .folded, .collapsed, .speedscope.json, "
			    ".firefox.json, .html, .json, .csv and .txt; say "
			    "--format, or FORMAT:FILE",
			    place->path);
	}
	place->form = form < 0 ? PROFILE_TEXT : form;
	return EXIT_DONE;
}

/* --- the same file twice ------------------------------------------------- */

/* /dev/stdout, where it is a file: a new one in its place would not be what
 * our output goes to. */
static int place_is_output(const char *path)
{
	struct file_about there;
	struct file_about output;

	return file_look(path, &there) && there.kind == FILE_REGULAR &&
	       file_look_output(&output) && there.volume == output.volume &&
	       there.number == output.number;
}

static int place_identify(struct profile_place *place)
{
	struct file_about there;

	if (place->path != NULL && place_is_output(place->path))
		place->path = NULL;
	if (place->path == NULL)
		return EXIT_DONE;
	place->is_kept =
	    file_look(place->path, &there) && there.kind != FILE_REGULAR;
	/* What two outputs are told apart by, and what gets the file's name in
	 * the end, so that a link stays one. */
	place->real = file_real(place->path);
	return place->real != NULL ? EXIT_DONE : fail_memory();
}

static int place_is_same(const struct profile_place *one,
			 const struct profile_place *other)
{
	if (one->path == NULL || other->path == NULL)
		return one->path == other->path;
	return strcmp(one->real, other->real) == 0;
}

static int place_differs(const struct profile_places *places, size_t index)
{
	const struct profile_place *place = &places->items[index];

	for (size_t i = 0; i < index; i++) {
		if (!place_is_same(&places->items[i], place))
			continue;
		if (place->path == NULL)
			return fail_usage("--output: standard output can be "
					  "given once");
		return fail_usage("--output: '%s' and '%s' are the same file",
				  places->items[i].path, place->path);
	}
	return EXIT_DONE;
}

/* --- trying -------------------------------------------------------------- */

int profile_place_fail(const struct profile_place *place, int number)
{
	plim_error error;

	memset(&error, 0, sizeof error);
	error.code = PLIM_EOUTPUT;
	error.system = number;
	error.position = -1;
	snprintf(error.operation, sizeof error.operation, "write profile");
	snprintf(error.path, sizeof error.path, "%s", place->path);
	return fail_with(&(struct options){.format = usage_json ? FORMAT_JSON
								: FORMAT_TABLE},
			 &error);
}

int profile_place_temporary(const struct profile_place *place, char **made)
{
	*made = NULL;
	if (place->is_kept)
		return EXIT_DONE;
	*made = file_beside(place->real);
	return *made != NULL ? EXIT_DONE : fail_memory();
}

int profile_place_open(const struct profile_place *place, const char *made)
{
	if (made == NULL)
		return file_open(place->path, FILE_THERE);
	return file_open(made, FILE_MAKE);
}

static int place_try_kept(const struct profile_place *place)
{
	struct file_about there;

	if (file_look(place->path, &there) && there.kind == FILE_FOLDER)
		return profile_place_fail(place, EISDIR);
	if (file_may_write(place->path) != 0)
		return profile_place_fail(place, errno);
	return EXIT_DONE;
}

/* What was made stays, until all have been. */
static int place_try(const struct profile_place *place, char **made)
{
	int status = profile_place_temporary(place, made);
	int descriptor;
	int number;

	if (status != EXIT_DONE)
		return status;
	if (*made == NULL)
		return place_try_kept(place);
	descriptor = profile_place_open(place, *made);
	if (descriptor < 0) {
		status = profile_place_fail(place, errno);
		free(*made);
		*made = NULL;
		return status;
	}
	number = file_reserve(descriptor, PLACE_ROOM);
	if (close(descriptor) != 0 && number == 0)
		number = errno;
	return number == 0 ? EXIT_DONE : profile_place_fail(place, number);
}

static int place_try_all(const struct profile_places *places)
{
	char *made[OPTION_OUTPUTS] = {NULL};
	int status = EXIT_DONE;

	for (size_t i = 0; i < places->count && status == EXIT_DONE; i++)
		if (places->items[i].path != NULL)
			status = place_try(&places->items[i], &made[i]);
	for (size_t i = 0; i < places->count; i++) {
		if (made[i] != NULL)
			file_remove(made[i]);
		free(made[i]);
	}
	return status;
}

/* --- all ----------------------------------------------------------------- */

static int place_add(const struct options *options, const char *value, int told,
		     struct profile_places *places)
{
	struct profile_place *place = &places->items[places->count++];
	int status = place_form(value, told, place);

	if (status == EXIT_DONE)
		status = place_identify(place);
	if (status == EXIT_DONE)
		status = place_differs(places, places->count - 1);
	if (status != EXIT_DONE)
		return status;
	place->view = options->view;
	if (place->path != NULL)
		return EXIT_DONE;
	places->to_error |= options->output_count > 1;
	places->has_output = 1;
	if (place->form == PROFILE_PPROF && term_is(TERM_OUTPUT))
		return fail_usage("profile: a profile for pprof is no text; "
				  "say -o FILE.pb.gz");
	return EXIT_DONE;
}

int profile_places_find(const struct options *options,
			struct profile_places *places)
{
	int told;
	int status = place_told(options, &told);

	places->to_error = options->command != NULL;
	if (status == EXIT_DONE && told >= 0 && options->output_count > 1)
		return fail_usage("profile: --%s is of one output: with "
				  "several say FORMAT:FILE, %s:%s for instance",
				  options->written_as != NULL ? "format"
				  : told == PROFILE_JSON      ? "json"
							      : "csv",
				  profile_words[told], options->outputs[0]);
	if (status == EXIT_DONE && options->output_count == 0)
		status = place_add(options, "-", told, places);
	for (size_t i = 0; i < options->output_count && status == EXIT_DONE;
	     i++)
		status = place_add(options, options->outputs[i], told, places);
	return status == EXIT_DONE ? place_try_all(places) : status;
}

void profile_places_free(struct profile_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->items[i].real);
	places->count = 0;
}
