/*
 * list.c - the pids of all processes: getdents64 of the proc root, decoded
 * here because readdir() would allocate a stream and look at every name twice.
 *
 * The kernel lists them in ascending order, and its position in the directory
 * says from which pid on (proc_pid_readdir() in fs/proc/base.c), so the list
 * can be had in parts. A part is small: what the kernel touched to list a
 * process is still in the caches when its files are read.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define LIST_PART 2048 /* bytes: some 80 processes */
#define LIST_END  UINT64_MAX

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

static int list_failed(const plim_host *host, plim_error *error)
{
	return plimp_fail(
	    error, errno == EACCES ? PLIM_EDENIED : PLIM_ESYSTEM, errno,
	    "list processes", host->proc_root,
	    plimp_is_starved(errno) ? "raise the limit of open files" : NULL);
}

/* A recording is listed at once: its names come in any order. */
static int list_whole(plim_host *host, int directory, struct plimp_pids *pids,
		      plim_error *error)
{
	ssize_t size;
	int code = PLIM_OK;

	while (code == PLIM_OK &&
	       (size = plimp_call_dents(host, directory, host->system->listing,
					sizeof host->system->listing)) != 0)
		code = size < 0 ? list_failed(host, error)
				: list_block(host, pids, (size_t)size, error);
	return code;
}

/* On, until there are pids, from where the part before ended. */
static int list_part(plim_host *host, int directory, struct plimp_pids *pids,
		     uint64_t *position, plim_error *error)
{
	size_t before = pids->count;
	off_t at = (off_t)*position;

	if (at > 0 && plimp_call_seek(host, directory, at, SEEK_SET) < 0)
		return list_failed(host, error);
	while (pids->count == before) {
		ssize_t size = plimp_call_dents(
		    host, directory, host->system->listing, LIST_PART);
		int code;

		if (size < 0)
			return list_failed(host, error);
		if (size == 0) {
			*position = LIST_END;
			return PLIM_OK;
		}
		code = list_block(host, pids, (size_t)size, error);
		if (code != PLIM_OK)
			return code;
	}
	at = plimp_call_seek(host, directory, 0, SEEK_CUR);
	if (at < 0)
		return list_failed(host, error);
	*position = (uint64_t)at;
	return PLIM_OK;
}

/* No descriptor is held from part to part: a caller may have few. */
int plimp_system_list(plim_host *host, struct plimp_pids *pids,
		      uint64_t *position, plim_error *error)
{
	int directory;
	int code;

	if (*position == LIST_END)
		return PLIM_OK;
	directory = plimp_call_open(host, host->system->root, ".",
				    O_RDONLY | O_DIRECTORY);
	if (directory < 0)
		return list_failed(host, error);
	if (host->system->live) {
		code = list_part(host, directory, pids, position, error);
	} else {
		code = list_whole(host, directory, pids, error);
		if (code == PLIM_OK)
			*position = LIST_END;
	}
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
