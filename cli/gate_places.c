/*
 * gate_places.c - where the results of a gate go: standard output, files, and
 * what GitHub reads.
 *
 * Files are opened before anything is measured, so that a place that cannot be
 * written is found while nothing is lost yet.
 */
#include "gate_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int places_on_github(const struct options *options)
{
	const char *actions = getenv("GITHUB_ACTIONS");

	return options->github ||
	       (actions != NULL && strcmp(actions, "true") == 0);
}

int gate_places_open(const struct options *options, struct gate_place *places)
{
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
		places[GATE_SUMMARY].path = getenv("GITHUB_STEP_SUMMARY");
	places[GATE_SUMMARY].tell = gate_summary;
	places[GATE_SUMMARY].append = 1;
	for (i = 0; i < GATE_PLACES; i++) {
		struct gate_place *place = &places[i];

		if (place->path == NULL || place->path[0] == '\0' ||
		    strcmp(place->path, "-") == 0)
			continue;
		place->file = fopen(place->path, place->append ? "ae" : "we");
		if (place->file == NULL)
			return fail_usage("%s: %s", place->path,
					  plim_system_error_name(errno));
	}
	return EXIT_DONE;
}

static int places_to_file(const char *data, size_t size, void *user)
{
	errno = 0;
	if (fwrite(data, 1, size, user) == size)
		return 0;
	return errno != 0 ? errno : EIO;
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
