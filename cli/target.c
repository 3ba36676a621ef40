/*
 * target.c - the process that an operand means: a pid, an identity with its
 * proof, or a name that exactly one process has.
 */
#include "cmd.h"

#include <string.h>

int host_open(const struct options *options, plim_host **host,
	      plim_error *error)
{
	/* Somebody waits for the answer: a late one is better than none. */
	plim_host_options host_options = {.size = sizeof host_options,
					  .proc_root = options->proc_root,
					  .command_line_ms = 250};

	return plim_host_open(host, &host_options, error);
}

static int target_is_number(const char *operand)
{
	return operand[0] != '\0' &&
	       strspn(operand, "0123456789") == strlen(operand);
}

static void target_set(plim_error *error, int code, const char *operand,
		       const char *detail)
{
	memset(error, 0, sizeof *error);
	error->code = code;
	error->position = -1;
	snprintf(error->operation, sizeof error->operation, "find process");
	snprintf(error->path, sizeof error->path, "%s", operand);
	snprintf(error->detail, sizeof error->detail, "%s", detail);
}

/* Adds a candidate as it can be given back to us, if there is room for it
 * whole. */
static int target_candidate(char *list, size_t size,
			    const plim_process *process)
{
	plim_text identity = plim_process_text(process, PLIM_FIELD_IDENTITY);
	size_t used = strlen(list);

	if (used + identity.bytes.size + 32 > size)
		return 0;
	snprintf(list + used, size - used, "%s%.*s", used > 0 ? ", " : "",
		 (int)identity.bytes.size, identity.bytes.data);
	return 1;
}

/* The kernel keeps 15 bytes of a name; what is longer is meant by them. */
static int target_has_name(plim_bytes has, const char *name)
{
	size_t size = strlen(name);

	if (size > 15 && has.size == 15)
		size = 15;
	return has.size == size && memcmp(has.data, name, size) == 0;
}

static int target_by_name(plim_host *host, const char *name,
			  plim_target **target, plim_error *error)
{
	const plim_field_set none = {{0}};
	const plim_snapshot_options take = {
	    .size = sizeof take, .fields = &none, .strong_identity = 1};
	const plim_process *found = NULL;
	plim_identity identity;
	plim_snapshot *snapshot;
	char list[256] = "";
	int count = 0;
	int listed = 0;
	size_t i;
	int code = plim_snapshot_new(&snapshot, host, error);

	if (code != PLIM_OK)
		return code;
	code = plim_snapshot_take(snapshot, &take, error);
	for (i = 0; code == PLIM_OK && i < plim_snapshot_size(snapshot); i++) {
		const plim_process *process = plim_snapshot_at(snapshot, i);
		plim_text text = plim_process_text(process, PLIM_FIELD_NAME);

		if (text.state != PLIM_STATE_KNOWN ||
		    !target_has_name(text.bytes, name))
			continue;
		found = process;
		count++;
		listed += target_candidate(list, sizeof list, process);
	}
	if (code == PLIM_OK && count == 0) {
		code = PLIM_ENOPROCESS;
		target_set(error, code, name, "no process has this name");
	} else if (code == PLIM_OK && count > 1) {
		code = PLIM_EAMBIGUOUS;
		if (listed < count)
			snprintf(list + strlen(list),
				 sizeof list - strlen(list), " and %d more",
				 count - listed);
		target_set(error, code, name, list);
	} else if (code == PLIM_OK) {
		identity = plim_process_identity(found);
		code =
		    plim_target_open_identity(target, host, &identity, error);
	}
	plim_snapshot_free(snapshot);
	return code;
}

int target_resolve(plim_host *host, const char *operand, plim_target **target,
		   plim_error *error)
{
	plim_identity identity;

	if (!target_is_number(operand) && strchr(operand, '@') == NULL)
		return target_by_name(host, operand, target, error);
	if (plim_identity_parse(operand, &identity, error) != PLIM_OK)
		return error->code;
	if (identity.has == 0)
		return plim_target_open(target, host, identity.pid, error);
	return plim_target_open_identity(target, host, &identity, error);
}
