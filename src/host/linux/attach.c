/*
 * attach.c - letting another process look into this one.
 *
 * Two things keep a user's processes from each other. A process that is not
 * dumpable is closed to everybody but root, and stays so. Where the security
 * module Yama restricts tracing to descendants (kernel.yama.ptrace_scope 1),
 * a process may name one other that may trace it, with that one's descendants;
 * at 2 and 3 nobody can be let in. The kernel's answer alone does not tell a
 * kernel without Yama, where there is nothing to allow, from a process that
 * does not exist: the file of the setting does.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/host.h"
#include "host/linux/decode.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ATTACH_YAMA "/proc/sys/kernel/yama/ptrace_scope"

/* The setting, or -1 where there is none. */
static int attach_scope(void)
{
	char text[24];
	uint64_t scope;
	const int file = open(ATTACH_YAMA, O_RDONLY | O_CLOEXEC);
	ssize_t size;

	if (file < 0)
		return -1;
	do
		size = read(file, text, sizeof text);
	while (size < 0 && errno == EINTR);
	close(file);
	if (size <= 0 ||
	    plimp_decode_number((plim_bytes){text, (size_t)size}, &scope) !=
		PLIM_OK ||
	    scope > 3)
		return -1;
	return (int)scope;
}

int plimp_attach_answer(int problem, int scope, int32_t pid, plim_error *error)
{
	/* Taking leave back needs none. */
	if (scope > 1 && pid != PLIM_ATTACH_NONE)
		return plimp_fail(error, PLIM_EDENIED, problem, "allow attach",
				  ATTACH_YAMA,
				  "it is %d: only root may look into a "
				  "process, and this one cannot allow it",
				  scope);
	if (problem == 0 || (problem == EINVAL && scope < 0))
		return PLIM_OK;
	if (problem == EINVAL && pid > 0)
		return plimp_fail(error, PLIM_ENOPROCESS, problem,
				  "allow attach", NULL, "no process %d", pid);
	return plimp_fail(error, PLIM_ESYSTEM, problem, "allow attach", NULL,
			  NULL);
}

int plimp_system_allow_attach(int32_t pid, plim_error *error)
{
	const unsigned long who =
	    pid == PLIM_ATTACH_ANY ? PR_SET_PTRACER_ANY : (unsigned long)pid;
	int problem = 0;

	if (pid != PLIM_ATTACH_NONE && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1)
		return plimp_fail(error, PLIM_EDENIED, 0, "allow attach", NULL,
				  "this process is not dumpable (prctl "
				  "PR_SET_DUMPABLE; so are set-uid programs): "
				  "only root may look into it");
	if (prctl(PR_SET_PTRACER, who, 0, 0, 0) != 0)
		problem = errno;
	return plimp_attach_answer(problem, attach_scope(), pid, error);
}
