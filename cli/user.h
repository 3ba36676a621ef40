/*
 * user.h - the names of users, for people.
 */
#ifndef PLIM_USER_H
#define PLIM_USER_H

#include <stdint.h>

/* The name that this machine has for a user, asked once; its number as text
 * where it has none. Valid until the end. */
const char *user_name(uint32_t uid);

#endif
