/*
 * manual_posix.c - the manual page by man(1), which tells nothing of what goes
 * wrong: the short help is told instead.
 */
#include "manual.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int manual_show(void)
{
	char man[] = "man";
	char section[] = "1";
	char page[] = "plim";
	char *const arguments[] = {man, section, page, NULL};
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;
	int problem;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	problem = posix_spawnp(&pid, "man", &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (problem != 0)
		return 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
