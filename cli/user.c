/*
 * user.c - the names of users, for people.
 *
 * The system (user_*.c) is asked once for each user; a machine has few of them
 * beside its processes. The names are of this machine, also where the processes
 * are of another (--proc). What cannot be remembered is shown as a number.
 */
#include "user.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct user {
	uint32_t uid;
	char *name;
};

static struct user *users;
static size_t user_count;

static char *user_find(uint32_t uid)
{
	char number[16];
	char *name = user_ask(uid);

	if (name != NULL)
		return name;
	snprintf(number, sizeof number, "%u", (unsigned)uid);
	return strdup(number);
}

const char *user_name(uint32_t uid)
{
	struct user *grown;
	size_t i;

	for (i = 0; i < user_count; i++)
		if (users[i].uid == uid)
			return users[i].name;
	grown = realloc(users, (user_count + 1) * sizeof *users);
	if (grown == NULL)
		return "?";
	users = grown;
	users[user_count].uid = uid;
	users[user_count].name = user_find(uid);
	if (users[user_count].name == NULL)
		return "?";
	return users[user_count++].name;
}
