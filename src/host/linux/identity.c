/*
 * identity.c - the parts of an identity that this kernel tells.
 *
 * The inode of a pidfd is a 64-bit counter on Linux 6.9 and later (pidfs) and
 * is never used again while the machine is up. Before, every pidfd had the
 * same anonymous inode; that is told by the file system's magic, not by the
 * kernel's version.
 */
#include "host/linux/gnu.h"

#include "host/linux/system.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void plimp_identity_of_host(const plim_host *host, plim_identity *identity)
{
	memset(identity, 0, sizeof *identity);
	if (host->boot_text[0] != '\0') {
		memcpy(identity->boot, host->boot, sizeof identity->boot);
		identity->has |= PLIM_IDENTITY_BOOT;
	}
	if ((host->system->self.has & PLIM_IDENTITY_NAMESPACE) != 0) {
		identity->pid_namespace = host->system->self.pid_namespace;
		identity->has |= PLIM_IDENTITY_NAMESPACE;
	}
}

int plimp_pidfd_inode(plim_host *host, int pidfd, uint64_t *inode)
{
	struct stat status;

	/* A 32-bit inode number would be the lower half of the counter. */
	if (!host->system->has_inode || sizeof status.st_ino < 8)
		return ENOSYS;
	if (plimp_call_fstat(host, pidfd, &status) != 0)
		return errno;
	if (status.st_ino == 0)
		return ENOSYS;
	*inode = (uint64_t)status.st_ino;
	return 0;
}

int plimp_probe_pidfd(plim_host *host, int pidfd)
{
	if (pidfd < 0)
		return ENOSYS;
	host->bill.system_calls++;
	if (syscall(PLIMP_SYS_PIDFD_SEND_SIGNAL, pidfd, 0, NULL, 0) == 0 ||
	    errno == EPERM)
		return 0;
	return errno;
}
