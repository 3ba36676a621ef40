/*
 * gate_load.c - the files that a gate reads: the budget, and the recorded
 * results that it names as baselines or judges. Their names are meant from the
 * folder of the budget, so that it can be used from anywhere.
 *
 * A recorded result that is not there is no mistake of the budget: the limit
 * that needs it is unavailable. One that is broken is.
 */
#include "gate_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOAD_RECORD_LIMIT ((size_t)16 * 1048576)
#define LOAD_PIECE	  65536

int gate_read_file(const char *path, size_t limit, char **text, size_t *size)
{
	char *buffer = NULL;
	size_t used = 0;
	size_t room = 0;
	long got = 1;
	int problem = 0;
	int file =
	    strcmp(path, "-") == 0 ? file_input() : file_open(path, FILE_READ);

	if (file < 0)
		return errno;
	while (got != 0 && problem == 0) {
		if (used == room) {
			char *larger = realloc(buffer, room + LOAD_PIECE);

			if (larger == NULL) {
				problem = ENOMEM;
				break;
			}
			buffer = larger;
			room += LOAD_PIECE;
		}
		got = file_take(file, buffer + used, room - used);
		if (got > 0)
			used += (size_t)got;
		else if (got < 0 && (errno != EINTR || interrupted))
			problem = errno;
		if (used > limit)
			problem = -1;
	}
	close(file);
	if (problem != 0) {
		free(buffer);
		return problem;
	}
	*text = buffer;
	*size = used;
	return 0;
}

/* The place is in the path of the error, the sentence in its detail. */
static int load_wrong(const plim_error *error)
{
	return fail_usage("%s: %s", error->path,
			  error->detail[0] != '\0'
			      ? error->detail
			      : plim_error_text(error->code));
}

static int load_unreadable(const char *path, int problem)
{
	return fail_usage("%s: %s", path,
			  problem < 0 ? "too large"
				      : plim_system_error_name(problem));
}

int gate_load(struct gate *gate)
{
	plim_budget_position where;
	plim_error error;
	char *text = NULL;
	size_t size = 0;
	int problem =
	    gate_read_file(gate->file, PLIM_BUDGET_FILE_LIMIT, &text, &size);
	int code;

	if (problem != 0)
		return load_unreadable(gate->file, problem);
	code = plim_budget_parse(&gate->budget, gate->file,
				 (plim_bytes){text, size}, &gate->place, NULL,
				 &where, &error);
	free(text);
	return code == PLIM_OK ? EXIT_DONE : load_wrong(&error);
}

/* The name as it is meant from the folder of the budget; to be freed. */
static char *load_path(const struct gate *gate, const char *name)
{
	size_t folder = file_folder(gate->file);
	size_t size = strlen(name) + 1;
	char *path;

	if (file_is_absolute(name))
		folder = 0;
	path = malloc(folder + size);
	if (path == NULL)
		return NULL;
	memcpy(path, gate->file, folder);
	memcpy(path + folder, name, size);
	return path;
}

static int load_record(const struct gate *gate, struct gate_files *files,
		       const char *name)
{
	struct gate_file *file;
	plim_budget_position where;
	plim_error error;
	char *path;
	char *text = NULL;
	size_t size = 0;
	int problem;
	int status = EXIT_DONE;

	if (name == NULL || gate_file_of(files, name) != NULL)
		return EXIT_DONE;
	file = calloc(1, sizeof *file);
	path = load_path(gate, name);
	if (file == NULL || path == NULL) {
		free(file);
		free(path);
		return fail_memory();
	}
	file->name = name;
	file->next = files->first;
	files->first = file;
	problem = gate_read_file(path, LOAD_RECORD_LIMIT, &text, &size);
	if (problem == 0) {
		if (plim_budget_record_parse(&file->record, path,
					     (plim_bytes){text, size}, NULL,
					     &where, &error) != PLIM_OK)
			status = load_wrong(&error);
		free(text);
	} else if (problem > 0) {
		snprintf(file->problem, sizeof file->problem, "%.100s: %s",
			 path, plim_system_error_name(problem));
	} else {
		status = load_unreadable(path, problem);
	}
	free(path);
	return status;
}

int gate_load_files(const struct gate *gate, struct gate_files *files)
{
	size_t t;
	size_t i;

	for (t = 0; t < gate->target_count; t++) {
		const plim_budget_target *target = gate->targets[t].target;
		int status = load_record(gate, files, target->report);

		for (i = 0; i < target->limit_count && status == EXIT_DONE; i++)
			status =
			    load_record(gate, files, target->limits[i].versus);
		if (status != EXIT_DONE)
			return status;
	}
	return EXIT_DONE;
}

void gate_files_close(struct gate_files *files)
{
	while (files->first != NULL) {
		struct gate_file *file = files->first;

		files->first = file->next;
		plim_budget_record_free(file->record);
		free(file);
	}
}

const struct gate_file *gate_file_of(const struct gate_files *files,
				     const char *name)
{
	const struct gate_file *file;

	for (file = files->first; file != NULL; file = file->next)
		if (strcmp(file->name, name) == 0)
			return file;
	return NULL;
}
