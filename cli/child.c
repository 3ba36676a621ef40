/*
 * child.c - a command that plim starts: what is alike on every system.
 * child_*.c starts it, holds it back, and ends it.
 */
#include "cmd.h"

#include <errno.h>

int child_release(struct child *child)
{
	return child_release_with(child, NULL);
}

const char *child_problem(const struct child *child)
{
	return child->problem == ENOENT
		   ? "no such command"
		   : plim_system_error_name(child->problem);
}

int child_tell(const struct child *child, int status)
{
	if (status != EXIT_DONE)
		fail_usage("%s: %s", child->name, child_problem(child));
	return status;
}

int child_start(struct child *child, char **command)
{
	const struct child_plan plan = {.command = command,
					.fate = guard_is_on() ? CHILD_IS_KILLED
							      : CHILD_STAYS};

	return child_tell(child, child_launch(child, &plan));
}
