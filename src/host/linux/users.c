/*
 * users.c - users by name.
 *
 * The C library is asked, because on many machines users are in no file: it
 * goes by nsswitch.conf(5), and may load modules and ask a service. What it
 * allocates for that is its own and cannot be the caller's allocator's.
 */
#include "host/linux/gnu.h"

#include "host/host.h"

#include <errno.h>
#include <pwd.h>

/* The entry of one user: name, shell, home, and a comment. */
#define USERS_ENTRY 16384

int plimp_system_find_user(const char *name, uint32_t *uid)
{
	char buffer[USERS_ENTRY];
	struct passwd entry;
	struct passwd *found = NULL;
	int error;

	do
		error = getpwnam_r(name, &entry, buffer, sizeof buffer, &found);
	while (error == EINTR);
	/* Some say so where there is no such user, or no data base at all
	 * (getpwnam_r(3)). */
	if (found == NULL && (error == ENOENT || error == ESRCH))
		error = 0;
	if (error != 0)
		return error;
	if (found == NULL)
		return -1;
	*uid = (uint32_t)entry.pw_uid;
	return 0;
}
