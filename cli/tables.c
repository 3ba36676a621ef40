/*
 * tables.c - the commands and the options of plim, as rows. What reads argv,
 * the short help, the suggestions and the completions of three shells
 * (completions.c) are all made of these rows.
 */
#include "args.h"

#include <string.h>

static const struct command commands[] = {
    {"report", cmd_report, "report [options] PID | -- CMD [ARG ...]",
     "one page: what a process costs now, and what finding out cost",
     "plim report firefox", 0, 1, COMMAND_ENDED},
    {"ps", cmd_ps, "ps [options] [FILTER]",
     "every process, measured; sorted, filtered, again and again",
     "plim ps --sort resident 'resident > 100MiB and name ~ \"post*\"'", 0, -1,
     0},
    {"show", cmd_show, "show [options] PID",
     "everything known of one process, with method and reason",
     "plim show --for 2s 4711", 1, 1, 0},
    {"tree", cmd_tree,
     "tree [options] PID | --cgroup | --unit | --container | --user [FILTER]",
     "a process and its descendants, or groups of processes, with sums",
     "plim tree --for 2s 4711", 0, -1, 0},
    {"cmdline", cmd_cmdline, "cmdline [options] PID",
     "the command line of one process, read now", "plim cmdline 4711", 1, 1, 0},
    {"time", cmd_time, "time [options] -- CMD [ARG ...]",
     "run a command and print the kernel's exact account of it",
     "plim time -- make -j2", 0, 0, COMMAND_AWAITED},
    {"doctor", cmd_doctor, "doctor [options]",
     "what this host tells this user, what not, and the cheapest remedy",
     "plim doctor", 0, 0, 0},
    {"help", cmd_help, "help [COMMAND]", "the manual page", "plim help ps", 0,
     1, 0},
};

static const struct option_row option_rows[] = {
    {OPTION_FOR, 'd', "for", "D", "report ps show tree",
     "observe for so long: 3s, 500ms, 2m"},
    {OPTION_EVERY, 'e', "every", "D", "report ps show tree",
     "time between two samples or rounds"},
    {OPTION_WATCH, 'w', "watch", NULL, "ps show tree",
     "again and again, until interrupted"},
    {OPTION_ROUNDS, 'n', "rounds", "N", "ps show tree",
     "end --watch after so many rounds"},
    {OPTION_SORT, 's', "sort", "FIELD", "ps tree",
     "by this field, largest first; by a name or pid, smallest first"},
    {OPTION_REVERSE, 'r', "reverse", NULL, "ps tree", "the other way round"},
    {OPTION_COLUMNS, 'o', "columns", "LIST", "ps tree",
     "fields to show: pid,name,cpu_percent,resident"},
    {OPTION_LIMIT, 'l', "limit", "N", "ps tree", "the first N rows only"},
    {OPTION_THREADS, 't', "threads", NULL, "ps tree",
     "read every thread, for the wake-ups of processes with several"},
    {OPTION_STRONG, 'i', "identity", NULL, "ps",
     "take the strongest identity of each process"},
    {OPTION_TREE, 0, "tree", NULL, "ps",
     "children below their parents, with sums of each subtree"},
    {OPTION_CGROUP, 0, "cgroup", NULL, "tree",
     "groups by control group, each with those below it"},
    {OPTION_UNIT, 0, "unit", NULL, "tree", "groups by systemd unit"},
    {OPTION_CONTAINER, 0, "container", NULL, "tree", "groups by container"},
    {OPTION_USER, 0, "user", NULL, "tree", "groups by user"},
    {OPTION_LEAVE, 0, "leave", NULL, "report",
     "leave the command that was started running"},
    {OPTION_JSON, 'j', "json", NULL, "report ps show tree cmdline time doctor",
     "print JSON"},
    {OPTION_CSV, 0, "csv", NULL, "report ps show tree time doctor",
     "print CSV"},
    {OPTION_PROC, 0, "proc", "DIR", "report ps show tree cmdline doctor",
     "read another proc file system, or a recording of one"},
    {OPTION_COLOR, 0, "color", "WHEN",
     "report ps show tree cmdline time doctor",
     "auto, always or never; NO_COLOR is obeyed"},
    {OPTION_ASCII, 0, "ascii", NULL, "report ps show tree cmdline time doctor",
     "pages and tables in nothing but ASCII"},
    {OPTION_HELP, 'h', "help", NULL,
     "report ps show tree cmdline time doctor help", "this text"},
};

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

const char *command_nearest(const char *name)
{
	const char *names[ROWS(commands) + 1];
	int i;

	for (i = 0; i < ROWS(commands); i++)
		names[i] = commands[i].name;
	names[i] = NULL;
	return plim_nearest_name(name, names);
}

const struct command *command_find(const char *name)
{
	int i;

	for (i = 0; i < ROWS(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* Is `word` one of the words of `list`? */
static int word_in(const char *list, const char *word)
{
	size_t size = strlen(word);
	const char *at = list;

	while ((at = strstr(at, word)) != NULL) {
		if ((at == list || at[-1] == ' ') &&
		    (at[size] == ' ' || at[size] == '\0'))
			return 1;
		at += size;
	}
	return 0;
}

int option_fits(const struct option_row *row, const struct command *command)
{
	return word_in(row->commands, command->name);
}

const struct command *command_at(int index)
{
	return index < ROWS(commands) ? &commands[index] : NULL;
}

const struct option_row *option_at(int index)
{
	return index < ROWS(option_rows) ? &option_rows[index] : NULL;
}
