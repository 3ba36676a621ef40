/*
 * args.h - the rows of tables.c, for those who read argv by them, print them
 * as help, or make completions for a shell of them.
 */
#ifndef PLIM_ARGS_H
#define PLIM_ARGS_H

#include "cmd.h"

enum option_id {
	OPTION_JSON,
	OPTION_CSV,
	OPTION_FOR,
	OPTION_EVERY,
	OPTION_WATCH,
	OPTION_ROUNDS,
	OPTION_SORT,
	OPTION_REVERSE,
	OPTION_COLUMNS,
	OPTION_LIMIT,
	OPTION_THREADS,
	OPTION_STRONG,
	OPTION_LEAVE,
	OPTION_TREE,
	OPTION_CGROUP,
	OPTION_UNIT,
	OPTION_CONTAINER,
	OPTION_USER,
	OPTION_NO_TREE,
	OPTION_QUIET_CPU,
	OPTION_QUIET_FOR,
	OPTION_QUIET_LIMIT,
	OPTION_LONGEST,
	OPTION_SCALE,
	OPTION_SCOPE,
	OPTION_CRATE,
	OPTION_CRATE_VERSION,
	OPTION_BLOCKS,
	OPTION_TABLE,
	OPTION_PROC,
	OPTION_COLOR,
	OPTION_ASCII,
	OPTION_TARGET,
	OPTION_INIT,
	OPTION_SLACK,
	OPTION_WRITE,
	OPTION_EXPLAIN,
	OPTION_ALLOW,
	OPTION_RESULT,
	OPTION_RECORD,
	OPTION_JUNIT,
	OPTION_BENCHER,
	OPTION_ACTION,
	OPTION_GITHUB,
	OPTION_QUIET,
	OPTION_REPEATS,
	OPTION_CORE,
	OPTION_PAGE,
	OPTION_NO_WALK,
	OPTION_FORCE,
	OPTION_STALL,
	OPTION_HZ,
	OPTION_VIEW,
	OPTION_FORMAT,
	OPTION_TID,
	OPTION_THREAD,
	OPTION_EVENT,
	OPTION_BUDGET,
	OPTION_PAUSE,
	OPTION_NO_PTRACE,
	OPTION_PRELOAD,
	OPTION_NO_PRELOAD,
	OPTION_NO_INLINES,
	OPTION_DETECT,
	OPTION_ALL,
	OPTION_TOLD_AS,
	OPTION_HELP
};

struct option_row {
	int id;
	char letter;
	const char *name;
	const char *value; /* what stands behind it, or NULL */
	const char *commands;
	const char *text;
};

/* Rows by number; NULL behind the last. */
const struct command *command_at(int index);
const struct option_row *option_at(int index);
/* Is `word` one of the words of `list`, which single spaces part? */
int word_in(const char *list, const char *word);
/* Has the command this option? */
int option_fits(const struct option_row *row, const struct command *command);

/* Values of options, read: EXIT_DONE, or the status of what is wrong. */
int option_duration(const char *name, const char *value, uint64_t *ns);
int option_number(const char *name, const char *value, uint64_t *number);

/* args_profile.c: what plim profile alone has. */
int option_profile(const struct option_row *row, const char *value,
		   struct options *options);

#endif
