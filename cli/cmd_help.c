/*
 * cmd_help.c - plim help: the manual page where there is one and a reader for
 * it, else the short help.
 */
#include "cmd.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* 1 if a manual page was shown. */
static int help_manual(void)
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

int cmd_help(const struct options *options)
{
	const struct command *command = NULL;
	const char *nearest;

	if (options->operand_count > 0) {
		command = command_find(options->operands[0]);
		nearest = command_nearest(options->operands[0]);
		if (command == NULL)
			return fail_usage("help: unknown command '%s'%s%s%s",
					  options->operands[0],
					  nearest ? "; did you mean '" : "",
					  nearest ? nearest : "",
					  nearest ? "'?" : "");
	}
	if (term_is(TERM_OUTPUT) && help_manual())
		return EXIT_DONE;
	if (command != NULL)
		args_help(command, stdout);
	else
		args_overview(stdout);
	return text_end();
}
