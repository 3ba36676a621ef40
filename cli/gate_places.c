/*
 * gate_places.c - where the results of a gate go: standard output, files, and
 * what GitHub reads.
 *
 * Files are opened before anything is measured, so that a place that cannot be
 * written is found while nothing is lost yet.
 */
#include "gate_run.h"
#include "term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int places_on_github(const struct options *options)
{
	const char *actions = term_setting("GITHUB_ACTIONS");

	return options->github ||
	       (actions != NULL && strcmp(actions, "true") == 0);
}

/* What is at a path already, and where two are told apart: 0 for what is no
 * file, such as a terminal, which may take everything. */
static int places_are_one(const char *a, const char *b)
{
	struct file_about one;
	struct file_about other;

	return file_look(a, &one) && file_look(b, &other) &&
	       one.kind == FILE_REGULAR && one.volume == other.volume &&
	       one.number == other.number;
}

/* What is there keeps its content until there is something else to write: a
 * baseline outlives a gate that is killed. */
static int places_open_one(const struct options *options,
			   struct gate_place *places, int i)
{
	struct gate_place *place = &places[i];
	int k;

	if (places_are_one(place->path, options->operands[0]))
		return fail_usage("%s: it is the budget itself", place->path);
	place->file =
	    file_stream(place->path, place->append ? FILE_APPEND : FILE_WRITE);
	if (place->file == NULL)
		return fail_usage("%s: %s", place->path,
				  plim_system_error_name(errno));
	for (k = 0; k < i; k++)
		if (places[k].file != NULL && places[k].path != NULL &&
		    places_are_one(place->path, places[k].path))
			return fail_usage("%s: two results cannot go there",
					  place->path);
	return EXIT_DONE;
}

int gate_places_open(const struct options *options, struct gate_place *places)
{
	int status = EXIT_DONE;
	int i;

	memset(places, 0, GATE_PLACES * sizeof *places);
	places[GATE_RECORD].path = options->record;
	places[GATE_RECORD].tell = gate_results;
	places[GATE_JUNIT].path = options->junit;
	places[GATE_JUNIT].tell = gate_junit;
	places[GATE_BENCHER].path = options->bencher;
	places[GATE_BENCHER].tell = gate_bencher;
	places[GATE_ACTION].path = options->action;
	places[GATE_ACTION].tell = gate_action_array;
	if (places_on_github(options))
		places[GATE_SUMMARY].path = term_setting("GITHUB_STEP_SUMMARY");
	places[GATE_SUMMARY].tell = gate_summary;
	places[GATE_SUMMARY].append = 1;
	for (i = 0; i < GATE_PLACES && status == EXIT_DONE; i++)
		if (places[i].path != NULL && places[i].path[0] != '\0' &&
		    strcmp(places[i].path, "-") != 0)
			status = places_open_one(options, places, i);
	return status;
}

static int places_to_file(const char *data, size_t size, void *user)
{
	errno = 0;
	if (fwrite(data, 1, size, user) == size)
		return 0;
	return errno != 0 ? errno : EIO;
}

/* What is no file has nothing in it. */
static void places_empty(const struct gate_place *place)
{
	if (!place->append && file_empty(place->file) != 0)
		return;
}

/* 1 if it could not be written. */
int gate_places_write(const struct gate *gate, struct gate_place *places)
{
	int failed = 0;
	int i;

	for (i = 0; i < GATE_PLACES; i++) {
		struct gate_place *place = &places[i];
		int code = PLIM_OK;

		if (place->path != NULL && strcmp(place->path, "-") == 0) {
			place->tell(gate, output_write, &standard_output);
			continue;
		}
		if (place->file == NULL)
			continue;
		places_empty(place);
		code = place->tell(gate, places_to_file, place->file);
		errno = 0;
		if (fclose(place->file) != 0 || code != PLIM_OK) {
			fprintf(stderr, "plim: %s: %s\n", place->path,
				errno != 0 ? plim_system_error_name(errno)
					   : "it could not be written");
			failed = 1;
		}
		place->file = NULL;
	}
	return failed;
}

void gate_places_close(struct gate_place *places)
{
	int i;

	for (i = 0; i < GATE_PLACES; i++)
		if (places[i].file != NULL)
			fclose(places[i].file);
}

static int places_to_stderr(const char *data, size_t size, void *user)
{
	return places_to_file(data, size, user != NULL ? user : stderr);
}

/* On GitHub both streams are searched for annotations; a machine format must
 * not be mixed with them. */
void gate_tell(const struct gate *gate)
{
	const struct options *options = gate->options;
	int machine = 1;

	switch (options->format) {
	case FORMAT_JSON:
		gate_json(gate);
		break;
	case FORMAT_CSV:
		gate_csv(gate);
		break;
	case FORMAT_RESULT:
		gate_results(gate, output_write, &standard_output);
		break;
	default:
		gate_table(gate);
		machine = 0;
		break;
	}
	if (!places_on_github(options))
		return;
	if (machine)
		gate_annotations(gate, places_to_stderr, NULL);
	else
		gate_annotations(gate, output_write, &standard_output);
}
