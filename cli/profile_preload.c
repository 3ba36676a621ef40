/*
 * profile_preload.c - whether the object that samples a program from inside is
 * to be preloaded into the command, and where it is.
 *
 * It is the last resort: where perf events and ptrace are refused, or where
 * --preload asks for it. The object is found from where this program lies, so
 * that an installed tree can be moved, and a build tree is one.
 */
#include "profile.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD_NAME "libplimsoll-preload.so"

/* From the folder of this program. */
static const char *const preload_places[] = {
    PLIM_PRELOAD_FROM_BINDIR "/" PRELOAD_NAME,
    "../preload/" PRELOAD_NAME,
};

/* Its real path, or NULL: then `*path` is where it should be. */
static char *preload_object(char *path, size_t size)
{
	ssize_t got = readlink("/proc/self/exe", path, size - 1);
	char *end;
	size_t i;

	if (got <= 0)
		return NULL;
	path[got] = '\0';
	end = strrchr(path, '/');
	if (end == NULL)
		return NULL;
	end++;
	for (i = sizeof preload_places / sizeof preload_places[0]; i-- > 0;) {
		char *real;

		snprintf(end, size - (size_t)(end - path), "%s",
			 preload_places[i]);
		real = realpath(path, NULL);
		if (real != NULL)
			return real;
	}
	return NULL;
}

/* As execvp() finds it; NULL: it does not. */
static char *preload_program(const char *name)
{
	const char *path = getenv("PATH");
	char full[PATH_MAX];

	if (strchr(name, '/') != NULL)
		return strdup(name);
	if (path == NULL)
		path = "/bin:/usr/bin";
	while (*path != '\0') {
		const size_t size = strcspn(path, ":");

		snprintf(full, sizeof full, "%.*s%s%s", (int)size, path,
			 size > 0 ? "/" : "", name);
		if (access(full, X_OK) == 0)
			return strdup(full);
		path += size + (path[size] == ':');
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
	char *program = preload_program(options->command[0]);
	int code;

	if (object == NULL)
		code = preload_fail(error, PLIM_ENAME, PRELOAD_NAME,
				    "it is not installed with this plim");
	else if (program == NULL)
		code = preload_fail(error, PLIM_ENAME, options->command[0],
				    "no such command");
	else
		code = plim_preload_open(preload, host, program, object,
					 getenv("LD_PRELOAD"), error);
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
