/*
 * list.c - the pids of all processes: getdents64 of the proc root, decoded
 * here because readdir() would allocate a stream and look at every name twice.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysinfo.h>

static int list_block(plim_host *host, struct plimp_pids *pids, size_t size,
		      plim_error *error)
{
	plim_bytes records = {host->system->listing, size};
	size_t offset = 0;
	int32_t pid;
	int more;

	while ((more = plimp_decode_dents(records, &offset, &pid)) == 1) {
		int code = plimp_pids_add(host, pids, pid);

		if (code != PLIM_OK)
			return plimp_fail(error, code, 0, "list processes",
					  host->proc_root, NULL);
	}
	if (more < 0)
		return plimp_fail(error, PLIM_EMALFORMED, 0, "list processes",
				  host->proc_root, NULL);
	return PLIM_OK;
}

int plimp_system_list(plim_host *host, struct plimp_pids *pids,
		      plim_error *error)
{
	int directory = plimp_call_open(host, host->system->root, ".",
					O_RDONLY | O_DIRECTORY);
	int code = PLIM_OK;
	ssize_t size;

	if (directory < 0)
		return plimp_fail(
		    error, errno == EACCES ? PLIM_EDENIED : PLIM_ESYSTEM, errno,
		    "list processes", host->proc_root,
		    plimp_is_starved(errno) ? "raise the limit of open files"
					    : NULL);
	while ((size = plimp_call_dents(host, directory, host->system->listing,
					sizeof host->system->listing)) > 0) {
		code = list_block(host, pids, (size_t)size, error);
		if (code != PLIM_OK)
			break;
	}
	if (size < 0)
		code = plimp_fail(error, PLIM_ESYSTEM, errno, "list processes",
				  host->proc_root, NULL);
	plimp_call_close(host, directory);
	return code;
}

/* Swap may be switched on at any time; sysinfo(2) is the cheapest witness. */
void plimp_system_begin(plim_host *host)
{
	struct sysinfo info;

	if (!host->system->live)
		return;
	host->bill.system_calls++;
	if (sysinfo(&info) == 0)
		host->system->has_swap = info.totalswap != 0;
}
