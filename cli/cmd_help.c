/*
 * cmd_help.c - plim help: the manual page where there is one and a reader for
 * it, else the short help.
 */
#include "cmd.h"
#include "manual.h"
#include "term.h"

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
	if (term_is(TERM_OUTPUT) && manual_show())
		return EXIT_DONE;
	if (command != NULL)
		args_help(command, stdout);
	else
		args_overview(stdout);
	return text_end();
}
