/*
 * user.h - the names of users, for people.
 */
#ifndef PLIM_USER_H
#define PLIM_USER_H

#include <stddef.h>
#include <stdint.h>

/* The name that this machine has for a user, asked once; its number as text
 * where it has none. Valid until the end. */
const char *user_name(uint32_t uid);

/* user_*.c: asks the system: a copy of the name, or NULL. */
char *user_ask(uint32_t uid);

/* Who we are, as the system tells users apart, and the name of the machine;
 * "" where it has none. */
void user_self(char *text, size_t size);
void user_machine(char *text, size_t size);

#endif
