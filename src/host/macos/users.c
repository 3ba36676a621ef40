/*
 * users.c - users by name, through the C library and its directory service.
 */
#include "host/host.h"

#include <errno.h>
#include <pwd.h>

#define USERS_MAC_ENTRY 16384

int plimp_system_find_user(const char *name, uint32_t *uid)
{
	char buffer[USERS_MAC_ENTRY];
	struct passwd entry;
	struct passwd *found = NULL;
	int error;

	do
		error = getpwnam_r(name, &entry, buffer, sizeof buffer, &found);
	while (error == EINTR);
	if (found == NULL && (error == ENOENT || error == ESRCH))
		error = 0;
	if (error != 0)
		return error;
	if (found == NULL)
		return -1;
	*uid = entry.pw_uid;
	return 0;
}
