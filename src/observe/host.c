/*
 * host.c - plim_host: what is the same on every system.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/host.h"
#include "host/bill.h"

#include <assert.h>
#include <string.h>

#define HOST_DEADLINE_MS      20
#define HOST_DEADLINE_MOST_MS 10000

/* Copies what a caller of an older header gave, zeros for the rest. */
static int host_options(const plim_host_options *given,
			plim_host_options *options, plim_error *error)
{
	const uint32_t flags = PLIM_HOST_NO_INODE | PLIM_HOST_NO_PIDFD;

	memset(options, 0, sizeof *options);
	if (given != NULL) {
		if (given->size < sizeof given->size)
			return plimp_fail(
			    error, PLIM_EINVAL, 0, "open host", "options.size",
			    "set it to sizeof(plim_host_options)");
		memcpy(options, given,
		       given->size < sizeof *options ? given->size
						     : sizeof *options);
	}
	if ((options->flags & ~flags) != 0)
		return plimp_fail(error, PLIM_EINVAL, 0, "open host",
				  "options.flags", NULL);
	if (options->proc_root == NULL)
		options->proc_root = "/proc";
	if (options->command_line_ms == 0)
		options->command_line_ms = HOST_DEADLINE_MS;
	if (options->command_line_ms > HOST_DEADLINE_MOST_MS)
		options->command_line_ms = HOST_DEADLINE_MOST_MS;
	return PLIM_OK;
}

static plim_host *host_make(const plim_host_options *options)
{
	const plim_allocator *allocator = &options->allocator;
	plim_host *host = plimp_allocate(allocator, 1, sizeof *host);
	size_t size;

	assert(options->proc_root != NULL);
	size = strlen(options->proc_root) + 1;
	if (host == NULL)
		return NULL;
	host->proc_root = plimp_allocate(allocator, size, 1);
	if (host->proc_root == NULL) {
		plimp_release(allocator, host, 1, sizeof *host);
		return NULL;
	}
	memcpy(host->proc_root, options->proc_root, size);
	host->proc_root_size = size;
	host->allocator = *allocator;
	host->flags = options->flags;
	host->command_line_ms = options->command_line_ms;
	host->cost.cpu_ns = plim_count_known(0, PLIM_METHOD_SYSTEM);
	host->cost.wall_ns = host->cost.cpu_ns;
	return host;
}

static void host_free(plim_host *host)
{
	const plim_allocator allocator = host->allocator;

	plimp_release(&allocator, host->proc_root, host->proc_root_size, 1);
	plimp_release(&allocator, host, 1, sizeof *host);
}

int plim_host_open(plim_host **host, const plim_host_options *given,
		   plim_error *error)
{
	plim_host_options options;
	struct plimp_bill_mark mark;
	plim_cost cost = {0};
	plim_host *made;
	int code;

	if (host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "open host", NULL,
				  NULL);
	code = host_options(given, &options, error);
	if (code != PLIM_OK)
		return code;
	made = host_make(&options);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open host",
				  options.proc_root, NULL);
	mark = plimp_bill_begin(made, 1);
	code = plimp_system_open(made, error);
	if (code != PLIM_OK) {
		host_free(made);
		return code;
	}
	plimp_bill_end(made, &mark, &cost);
	*host = made;
	return PLIM_OK;
}

void plim_host_close(plim_host *host)
{
	if (host == NULL)
		return;
	plimp_system_close(host);
	host_free(host);
}

plim_count plim_host_count(plim_host *host, int figure)
{
	if (host == NULL || figure <= 0 || figure > PLIM_HOST_IS_LIVE)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	if (figure == PLIM_HOST_CPUS)
		return plimp_system_cpus(host);
	if (figure == PLIM_HOST_HIDEPID)
		return plimp_system_hidepid(host);
	return host->facts[figure];
}

plim_real plim_host_usable_cpus(plim_host *host)
{
	assert(host != NULL);
	return plimp_system_usable_cpus(host);
}

plim_text plim_host_text(const plim_host *host, int id)
{
	const char *text = NULL;
	plim_text found;

	switch (id) {
	case PLIM_HOST_SYSTEM:
		text = host->system_name;
		break;
	case PLIM_HOST_KERNEL:
		text = host->kernel;
		break;
	case PLIM_HOST_MACHINE:
		text = host->machine;
		break;
	case PLIM_HOST_BOOT_ID:
		text = host->boot_text;
		break;
	case PLIM_HOST_PROC_ROOT:
		text = host->proc_root;
		break;
	default:
		break;
	}
	memset(&found, 0, sizeof found);
	if (text == NULL || text[0] == '\0') {
		found.state = PLIM_STATE_UNSUPPORTED;
		found.method = text == NULL ? PLIM_REASON_UNKNOWN_FIELD
					    : PLIM_REASON_NO_LINE;
		return found;
	}
	found.bytes.data = text;
	found.bytes.size = strlen(text);
	found.state = PLIM_STATE_KNOWN;
	found.method = PLIM_METHOD_SYSTEM;
	return found;
}

plim_stamp plim_host_now(const plim_host *host)
{
	(void)host;
	return plimp_system_now();
}

plim_cost plim_host_cost(const plim_host *host)
{
	assert(host != NULL);
	return host->cost;
}

int plim_host_survey(plim_host *host, plim_finding_fn *callback, void *user,
		     plim_error *error)
{
	struct plimp_bill_mark mark;
	plim_cost cost = {0};
	int code;

	if (host == NULL || callback == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "survey", NULL, NULL);
	mark = plimp_bill_begin(host, 1);
	code = plimp_system_survey(host, callback, user, error);
	plimp_bill_end(host, &mark, &cost);
	return code;
}

int plim_allow_attach(int32_t pid, plim_error *error)
{
	if (pid < PLIM_ATTACH_ANY)
		return plimp_fail(error, PLIM_EINVAL, 0, "allow attach", "pid",
				  NULL);
	return plimp_system_allow_attach(pid, error);
}
