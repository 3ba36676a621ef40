/*
 * profile_preload.c - whether the object that samples a program from inside is
 * to be preloaded into the command, and where it is.
 *
 * It is the last resort: where perf events and ptrace are refused, or where
 * --preload asks for it. The object is found from where this program lies, so
 * that an installed tree can be moved, and a build tree is one.
 */
#include "file.h"
#include "profile.h"
#include "term.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PRELOAD_NAME "libplimsoll-preload.so"

/* From the folder of this program. */
static const char *const preload_places[] = {
    PLIM_PRELOAD_FROM_BINDIR "/" PRELOAD_NAME,
    "../preload/" PRELOAD_NAME,
};

/* Its real path, or NULL: then `*path` is where it should be. */
static char *preload_object(char *path, size_t size)
{
	char *end;
	size_t i;

	if (!file_own_path(path, size) || file_folder(path) == 0)
		return NULL;
	end = path + file_folder(path);
	for (i = sizeof preload_places / sizeof preload_places[0]; i-- > 0;) {
		char *real;

		snprintf(end, size - (size_t)(end - path), "%s",
			 preload_places[i]);
		real = file_real_there(path);
		if (real != NULL)
			return real;
	}
	return NULL;
}

static int preload_fail(plim_error *error, int code, const char *path,
			const char *detail)
{
	memset(error, 0, sizeof *error);
	error->code = code;
	error->position = -1;
	snprintf(error->operation, sizeof error->operation, "preload");
	snprintf(error->path, sizeof error->path, "%s", path);
	snprintf(error->detail, sizeof error->detail, "%s", detail);
	return code;
}

static int preload_open(const struct options *options, plim_host *host,
			plim_preload **preload, plim_error *error)
{
	char path[PATH_MAX] = "";
	char *object = preload_object(path, sizeof path);
	const char *name = options->command[0];
	char *program =
	    file_folder(name) > 0 ? strdup(name) : file_program(name);
	int code;

	if (object == NULL)
		code = preload_fail(error, PLIM_ENAME, PRELOAD_NAME,
				    "it is not installed with this plim");
	else if (program == NULL)
		code = preload_fail(error, PLIM_ENAME, options->command[0],
				    "no such command");
	else
		code = plim_preload_open(preload, host, program, object,
					 term_setting("LD_PRELOAD"), error);
	free(program);
	free(object);
	return code;
}

static int preload_is_lacking(const plim_profile *profile)
{
	size_t i;

	for (i = 0; i < plim_profile_tier_count(profile); i++) {
		const plim_profile_tier *tier =
		    plim_profile_tier_at(profile, i);

		if ((tier->tier == PLIM_TIER_PERF ||
		     tier->tier == PLIM_TIER_PTRACE) &&
		    tier->works.state == PLIM_STATE_KNOWN)
			return 0;
	}
	return 1;
}

int profile_preload(const struct options *options, plim_host *host,
		    const plim_profile *profile, plim_preload **preload,
		    plim_error *error)
{
	int code;

	if (options->command == NULL || options->no_preload ||
	    (!options->preload && !preload_is_lacking(profile)))
		return PLIM_OK;
	code = preload_open(options, host, preload, error);
	if (code == PLIM_OK || options->preload)
		return code;
	/* Without it there is what there was. */
	if (code == PLIM_ENOMEM)
		return code;
	fprintf(stderr, "plim: nothing is preloaded: %s%s%s\n", error->path,
		error->path[0] != '\0' ? ": " : "",
		error->detail[0] != '\0' ? error->detail
					 : plim_error_text(error->code));
	return PLIM_OK;
}
