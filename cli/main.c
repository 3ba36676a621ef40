/*
 * main.c - plim: finds the command, reads its options, runs it.
 */
#include "cmd.h"
#include "term.h"

#include <string.h>

static int main_unknown(const char *name)
{
	const char *nearest = command_nearest(name);

	if (nearest != NULL)
		return fail_usage("unknown command '%s'; did you mean '%s'?",
				  name, nearest);
	return fail_usage("unknown command '%s'; 'plim --help' lists them",
			  name);
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct options options;
	int status;

	if (!term_begin(&argc, &argv)) {
		fail_memory();
		return EXIT_OWN_FAILURE;
	}
	if (argc < 2) {
		args_overview(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("plim %s\n", plim_version());
		return text_end();
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		args_overview(stdout);
		return text_end();
	}
	usage_json = args_wants_json(argc, argv);
	command = command_find(argv[1]);
	if (command == NULL)
		return main_unknown(argv[1]);
	status = args_parse(command, argc - 1, argv + 1, &options);
	if (status < 0)
		return text_end();
	if (status != EXIT_DONE)
		return status;
	interrupt_catch();
	if (command->takes_command == COMMAND_ENDED &&
	    options.command != NULL && !options.leave && guard_start(&status))
		return output_end(status);
	return output_end(command->run(&options));
}
