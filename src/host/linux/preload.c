/*
 * preload.c - the memory that a preloaded object writes to: a file without a
 * name, which the object opens by way of our descriptor in /proc, maps and
 * closes again, so that the program has no descriptor of it.
 *
 * Its size is sealed: neither can shorten it under the other. Its pages come
 * when they are touched.
 */
#include "host/linux/gnu.h"

#include "host/linux/preload.h"

#include "core/fail.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

static int preload_fail(int problem, plim_error *error)
{
	return plimp_fail(error, problem == ENOMEM ? PLIM_ENOMEM : PLIM_ESYSTEM,
			  problem, "preload", NULL, NULL);
}

int plimp_system_preload_open(struct plimp_preload_memory **memory,
			      plim_host *host, plim_error *error)
{
	struct plimp_preload_memory *made;

	if (!PLIMP_CONTEXT_KNOWN || !host->system->live)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "preload", NULL,
				  "this host cannot be sampled");
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return preload_fail(ENOMEM, error);
	made->host = host;
	host->bill.system_calls++;
	made->descriptor =
	    memfd_create("plimsoll", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (made->descriptor < 0) {
		int problem = errno;

		plimp_release(&host->allocator, made, 1, sizeof *made);
		return preload_fail(problem, error);
	}
	snprintf(made->setting, sizeof made->setting,
		 PLIMP_PRELOAD_VARIABLE "=/proc/%d/fd/%d", (int)getpid(),
		 made->descriptor);
	*memory = made;
	return PLIM_OK;
}

void plimp_system_preload_close(struct plimp_preload_memory *memory)
{
	const plim_allocator *allocator;

	if (memory == NULL)
		return;
	allocator = &memory->host->allocator;
	if (memory->head != NULL)
		munmap(memory->head, memory->size);
	plimp_call_close(memory->host, memory->descriptor);
	plimp_release(allocator, memory->order, memory->count,
		      2 * sizeof *memory->order);
	plimp_release(allocator, memory->entry, PLIMP_PRELOAD_STRIDE, 1);
	plimp_release(allocator, memory, 1, sizeof *memory);
}

const char *
plimp_system_preload_setting(const struct plimp_preload_memory *memory)
{
	return memory->setting;
}

int plimp_system_gives_privileges(plim_host *host, const char *path)
{
	struct stat status;
	char value[64];

	if (plimp_call_stat(host, AT_FDCWD, path, &status, 0) != 0)
		return 0;
	/* Whose id it has already gains nothing by it. */
	if ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid())
		return 1;
	if ((status.st_mode & S_ISGID) != 0 &&
	    (status.st_mode & S_IXGRP) != 0 && status.st_gid != getgid())
		return 1;
	host->bill.system_calls++;
	return getuid() != 0 &&
	       getxattr(path, "security.capability", value, sizeof value) > 0;
}
