/*
 * tables.c - the commands and the options of plim, as rows. What reads argv,
 * the short help, the suggestions and the completions of three shells
 * (completions.c) are all made of these rows.
 */
#include "args.h"

#include <string.h>

static const struct command commands[] = {
    {"report", cmd_report, "report [options] PID | -- CMD [ARG ...]",
     "one screen: who wakes, what memory is retained, where the time goes",
     "plim report -o ticket.html firefox", 0, 1, COMMAND_ENDED},
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
    {"threads", cmd_threads, "threads [options] PID",
     "the threads of one process: who wakes, who computes, and in what each "
     "blocks",
     "plim threads --for 5s 4711", 1, 1, 0},
    {"idle", cmd_idle, "idle [options] PID | -- CMD [ARG ...]",
     "what a process costs while it has nothing to do, as RESULT lines",
     "plim idle --threads --for 1m -- ./daemon", 0, 1, COMMAND_ENDED},
    {"mem", cmd_mem, "mem [options] PID | --core FILE",
     "what a process still holds, whether it is live, and what would return it",
     "plim mem --for 10s -o mem.html 4711", 0, 1, 0},
    {"profile", cmd_profile,
     "profile [options] PID | -- CMD [ARG ...] | diff A ... [--] B ...",
     "where the time goes: on a CPU, waiting for one, or blocked, by function",
     "plim profile --for 10s -o nginx.pb.gz nginx", 0, 1, COMMAND_AWAITED},
    {"cmdline", cmd_cmdline, "cmdline [options] PID",
     "the command line of one process, read now", "plim cmdline 4711", 1, 1, 0},
    {"time", cmd_time, "time [options] -- CMD [ARG ...]",
     "run a command and print the kernel's exact account of it",
     "plim time -- make -j2", 0, 0, COMMAND_AWAITED},
    {"gate", cmd_gate,
     "gate [options] FILE | --init PID | --init -- CMD [ARG ...]",
     "hold programs to the limits of a budget file; the verdict is the status",
     "plim gate --target server budget.toml", 0, 1, COMMAND_ENDED},
    {"doctor", cmd_doctor, "doctor [options]",
     "what this host tells this user, what not, and the cheapest remedy",
     "plim doctor", 0, 0, 0},
    {"help", cmd_help, "help [COMMAND]", "the manual page", "plim help ps", 0,
     1, 0},
};

static const struct option_row option_rows[] = {
    {OPTION_FOR, 'd', "for", "D",
     "report ps show tree threads idle mem gate profile",
     "observe for so long: 3s, 500ms, 2m"},
    {OPTION_EVERY, 'e', "every", "D", "report ps show tree threads idle mem",
     "time between two samples or rounds"},
    {OPTION_WATCH, 'w', "watch", NULL, "ps show tree threads",
     "again and again, until interrupted"},
    {OPTION_ROUNDS, 'n', "rounds", "N", "ps show tree threads",
     "end --watch after so many rounds"},
    {OPTION_SORT, 's', "sort", "FIELD", "ps tree",
     "by this field, largest first; by a name or pid, smallest first"},
    {OPTION_REVERSE, 'r', "reverse", NULL, "ps tree", "the other way round"},
    {OPTION_COLUMNS, 'o', "columns", "LIST", "ps tree",
     "fields to show: pid,name,cpu_percent,resident"},
    {OPTION_LIMIT, 'l', "limit", "N", "ps tree threads idle mem profile",
     "the first N rows only"},
    {OPTION_THREADS, 't', "threads", NULL, "ps tree idle",
     "read every thread, for the wake-ups of processes with several"},
    {OPTION_STRONG, 'i', "identity", NULL, "ps",
     "take the strongest identity of each process"},
    {OPTION_TREE, 0, "tree", NULL, "ps",
     "children below their parents, with sums of each subtree"},
    {OPTION_TREE, 0, "tree", NULL, "mem",
     "the process with its descendants, as sums"},
    {OPTION_CGROUP, 0, "cgroup", NULL, "tree",
     "groups by control group, each with those below it"},
    {OPTION_UNIT, 0, "unit", NULL, "tree", "groups by systemd unit"},
    {OPTION_CONTAINER, 0, "container", NULL, "tree", "groups by container"},
    {OPTION_USER, 0, "user", NULL, "tree", "groups by user"},
    {OPTION_LEAVE, 0, "leave", NULL, "report idle",
     "leave the command that was started running"},
    {OPTION_NO_TREE, 0, "no-tree", NULL, "idle",
     "the process alone, without its descendants"},
    {OPTION_QUIET_CPU, 0, "quiet-cpu", "P", "idle",
     "quiet is at most this CPU: 2% of one core; none: do not wait"},
    {OPTION_QUIET_FOR, 0, "quiet-for", "D", "idle", "for so long: 5s"},
    {OPTION_QUIET_LIMIT, 0, "quiet-limit", "D", "idle",
     "wait for it no longer than this: 2m"},
    {OPTION_LONGEST, 0, "longest-period", "D", "idle",
     "its slowest timer; no window is shorter"},
    {OPTION_SCALE, 0, "scale", "N WHAT", "idle",
     "the load: '200 open connections'"},
    {OPTION_SCOPE, 0, "scope", "WORD", "idle",
     "kind of load: synthetic, real or installed"},
    {OPTION_CRATE, 0, "crate", "NAME", "idle", "name of what is measured"},
    {OPTION_CRATE_VERSION, 0, "crate-version", "V", "idle", "its version"},
    {OPTION_BLOCKS, 0, "disk-ops-from-blocks", NULL, "idle gate",
     "take blocks of 512 bytes for disk operations"},
    {OPTION_TABLE, 0, "table", NULL, "idle",
     "a page for people in place of RESULT lines"},
    {OPTION_TARGET, 't', "target", "NAME", "gate", "this target alone"},
    {OPTION_INIT, 0, "init", NULL, "gate",
     "write a first budget file from a measurement"},
    {OPTION_SLACK, 0, "slack", "FACTOR", "gate",
     "with --init: room above what was measured, 1.5"},
    {OPTION_WRITE, 'o', "output", "FILE", "gate",
     "with --init: write it there, where nothing is yet"},
    {OPTION_EXPLAIN, 0, "explain", NULL, "gate",
     "what the file means and where each figure comes from; starts nothing"},
    {OPTION_REPEATS, 'n', "repeats", "N", "gate",
     "measure so often, instead of what the file says"},
    {OPTION_ALLOW, 0, "allow", "inconclusive", "gate", "let that verdict pass"},
    {OPTION_RESULT, 0, "result", NULL, "gate", "print RESULT lines"},
    {OPTION_RECORD, 0, "record", "FILE", "gate",
     "write the RESULT lines there too, as a baseline"},
    {OPTION_JUNIT, 0, "junit", "FILE", "gate", "write JUnit XML there too"},
    {OPTION_BENCHER, 0, "bencher", "FILE", "gate",
     "write Bencher Metric Format there too"},
    {OPTION_ACTION, 0, "action-benchmark", "FILE", "gate",
     "write the array of github-action-benchmark there too"},
    {OPTION_GITHUB, 0, "github", NULL, "gate",
     "annotations and a step summary; on GitHub by itself"},
    {OPTION_QUIET, 'q', "quiet", NULL, "gate", "show no progress"},
    {OPTION_PAGE, 'o', "output", "FILE", "mem",
     "write a page with a plot there too: FILE.html"},
    {OPTION_PAGE, 'o', "output", "FILE", "report",
     "write a page to attach to a ticket there too: FILE.html"},
    {OPTION_TOLD_AS, 'f', "format", "FORMAT", "report",
     "print text, html, json or csv"},
    {OPTION_ALL, 'a', "all", NULL, "report",
     "every thread, figure and reason: more than one screen"},
    {OPTION_CORE, 0, "core", "FILE", "mem",
     "the allocators of a core file in place of a process"},
    {OPTION_NO_WALK, 0, "no-walk", NULL, "mem",
     "leave the allocators alone: figures and mappings only"},
    {OPTION_STALL, 0, "stall", "D", "mem",
     "read no page tables where that is predicted to stall it longer: 20ms"},
    {OPTION_FORCE, 0, "force", NULL, "mem",
     "read them, however long it is stalled"},
    {OPTION_HZ, 'F', "frequency", "HZ", "profile",
     "samples a second of each thread: 99; at most 10000"},
    {OPTION_VIEW, 'V', "view", "VIEW", "profile",
     "cpu: on a CPU; off: waiting or blocked; wall: both"},
    {OPTION_WRITE, 'o', "output", "FILE", "profile",
     "write it there: .html .pb.gz .folded .json ...; again for another"},
    {OPTION_FORMAT, 'f', "format", "FORMAT", "profile",
     "text, flame, firefox, speedscope, pprof, collapsed, json, csv"},
    {OPTION_TREE, 0, "tree", NULL, "profile",
     "its descendants as well, and what they start meanwhile"},
    {OPTION_TID, 't', "tid", "TID", "profile",
     "this thread alone; again for another"},
    {OPTION_THREAD, 0, "thread", "NAME", "profile",
     "threads of this name alone"},
    {OPTION_EVENT, 'e', "event", "EVENT", "profile",
     "cpu: by CPU time; cycles: by those of the processor"},
    {OPTION_BUDGET, 0, "budget", "P", "profile",
     "as often as costs the process at most this: 1%"},
    {OPTION_PAUSE, 0, "pause", "D", "profile",
     "with --budget: no pause longer than this: 2ms"},
    {OPTION_NO_PTRACE, 0, "no-ptrace", NULL, "profile",
     "never stop a thread, whatever is missing then"},
    {OPTION_PRELOAD, 0, "preload", NULL, "profile",
     "CMD samples itself, by an object that is preloaded into it"},
    {OPTION_NO_PRELOAD, 0, "no-preload", NULL, "profile",
     "preload nothing, whatever is missing then"},
    {OPTION_NO_INLINES, 0, "no-inlines", NULL, "profile",
     "no lines and no inlined functions: faster with large debug files"},
    {OPTION_DETECT, 0, "detect", "P", "profile",
     "diff: same means that a change of this size would show: 20%"},
    {OPTION_JSON, 'j', "json", NULL,
     "report ps show tree threads idle mem cmdline time gate doctor profile",
     "print JSON"},
    {OPTION_CSV, 0, "csv", NULL,
     "report ps show tree threads idle mem time gate doctor profile",
     "print CSV"},
    {OPTION_PROC, 0, "proc", "DIR",
     "report ps show tree threads idle mem cmdline doctor",
     "read another proc file system, or a recording of one"},
    {OPTION_COLOR, 0, "color", "WHEN",
     "report ps show tree threads idle mem cmdline time gate doctor profile",
     "auto, always or never; NO_COLOR is obeyed"},
    {OPTION_ASCII, 0, "ascii", NULL,
     "report ps show tree threads idle mem cmdline time gate doctor profile",
     "pages and tables in nothing but ASCII"},
    {OPTION_HELP, 'h', "help", NULL,
     "report ps show tree threads idle mem cmdline time gate doctor help "
     "profile",
     "this text"},
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

int word_in(const char *list, const char *word)
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
