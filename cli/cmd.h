/*
 * cmd.h - what the subcommands of plim share: the options that were given,
 * where output goes, how a process is found, started and interrupted.
 *
 * The command is a client of the library: it includes <plimsoll.h> and the C
 * library, nothing of src/. Start reading at main.c; each subcommand is a file
 * cmd_*.c, each option a row of tables.c.
 */
#ifndef PLIM_CMD_H
#define PLIM_CMD_H

#include <plimsoll.h>

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Which argument is a format, and from which on they are its. gcc takes
 * "printf" for what the C library of a system means by it. */
#if defined(__clang__)
#define FORMATS(text, first) __attribute__((format(printf, text, first)))
#elif defined(__GNUC__)
#define FORMATS(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define FORMATS(text, first)
#endif

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1, /* of the target or the operation */
	EXIT_USAGE = 2,
	EXIT_OWN_FAILURE = 125, /* of us, when the status is the command's */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_INTERRUPTED = 130
};

enum output_format {
	FORMAT_TABLE,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_RESULT,
	FORMAT_HTML
};

#define OPTION_TIDS    64 /* that can be named */
#define OPTION_OUTPUTS 16

struct options {
	int format;
	int ascii;
	int color;
	int watch;
	int leave;
	int threads;
	int strong;
	int reverse;
	int tree;
	int for_given;
	uint64_t for_ns;
	uint64_t every_ns;
	uint64_t rounds; /* 0: no end */
	uint64_t limit;	 /* rows, 0: all */
	/* Of a quiet window; 0 and NULL: not given. */
	int every_given;
	int no_tree;
	int table; /* a page for people in place of RESULT lines */
	int blocks_as_ops;
	double quiet_cpu; /* per cent; below 0: not awaited */
	uint64_t quiet_for_ns;
	uint64_t quiet_limit_ns;
	uint64_t longest_ns;
	uint64_t scale_count;
	const char *scale_text;
	const char *scope;
	const char *crate;
	const char *crate_version;
	const char *sort;
	const char *columns;
	const char *proc_root;
	const char *group; /* the field that makes groups, or NULL */
	/* of plim gate */
	int init;
	int explain;
	int allow_inconclusive;
	int github;
	int silent;   /* no progress */
	double slack; /* 0: the default */
	const char *target;
	const char *record; /* files, "-" is standard output */
	const char *junit;
	const char *bencher;
	const char *action;
	const char *write_to;
	/* of plim mem */
	int no_walk;
	int force;	   /* past the stall guard */
	uint64_t stall_ns; /* 0: the default */
	const char *core;
	const char *page; /* a file of HTML; of plim report, too */
	/* of plim report */
	int all; /* everything, not one screen */
	/* of plim profile; 0 and NULL: not given */
	uint64_t hz;
	int view; /* enum plim_view */
	const char *written_as;
	const char *outputs[OPTION_OUTPUTS];
	size_t output_count;
	int32_t tids[OPTION_TIDS];
	size_t tid_count;
	const char *thread_name;
	int cycles;
	double budget_percent;
	uint64_t pause_ns;
	int no_ptrace;
	int preload;
	int no_preload;
	int no_inlines;
	double detect; /* per cent */
	char **operands;
	int operand_count;
	char **command; /* behind "--", ended by NULL; NULL if not given */
};

struct command {
	const char *name;
	int (*run)(const struct options *options);
	const char *usage;
	const char *text;
	const char *example;
	int operands_least;
	int operands_most; /* -1: any number */
	int takes_command; /* enum command_care */
};

/* What becomes of a command that is started. */
enum command_care {
	COMMAND_NONE = 0,
	COMMAND_ENDED = 1,  /* it ends with us, whatever becomes of us */
	COMMAND_AWAITED = 2 /* its end is ours; what it leaves is its own */
};

/* tables.c */
const struct command *command_find(const char *name);
const char *command_nearest(const char *name); /* or NULL */

/* args.c */
const struct command *command_given(void); /* the one that runs */
int args_parse(const struct command *command, int argc, char **argv,
	       struct options *options);
void args_help(const struct command *command, FILE *to);
void args_overview(FILE *to);
/* The words behind the options as one filter. */
void options_filter(const struct options *options, char *text, size_t size);
int args_wants_json(int argc, char **argv);
extern int usage_json; /* failures of usage are told as JSON */

/* output.c: standard output, buffered by us, so that its end can be told. */
struct output {
	int failed; /* the error number of the first write that failed */
	int bold;   /* until the next newline */
	size_t size;
	char buffer[8192];
};
extern struct output standard_output;
int output_write(const char *data, size_t size, void *user);
void output_text(const char *text);
int text_end(void); /* the end of what went through stdio */
void output_format(const char *format, ...) FORMATS(1, 2);
/* Takes the next piece of a text, which ends where a character does: escaped,
 * it fits into 512 bytes. */
plim_bytes text_piece(plim_bytes *text);
void output_escaped(const struct options *options, plim_bytes text);
void output_bold(const struct options *options);
void output_bold_end(void); /* and the line's */
/* Hands out what is buffered. */
int output_flush(void);
/* The same at the end: `status`, or what a failure makes of it. */
int output_end(int status);
void output_clear_screen(const struct options *options);

/* A value for people, as plim_quantity_format has it; "-" if unavailable, and
 * marked if it is a bound. The result is one of a few buffers in turn. */
const char *show_count(const struct options *options, plim_count count,
		       int unit);
const char *show_real(const struct options *options, plim_real real, int unit);
/* The reason of an unavailable figure, as a sentence. */
const char *show_reason(uint8_t state, uint16_t method, int32_t code);

/* The exit status of what fails: EXIT_FAILED, but for a command that has
 * another meaning for 1. */
extern int failure_status;
/* report failures: a message on standard error, or the JSON error object on
 * standard output; the result is the exit status. */
int fail_with(const struct options *options, const plim_error *error);
int fail_memory(void);
int fail_usage(const char *format, ...) FORMATS(1, 2);

/* target.c */
int host_open(const struct options *options, plim_host **host,
	      plim_error *error);
/* Opens the process that an operand names: pid, identity or unique name. On
 * an ambiguous name the candidates stand in the error's detail. */
int target_resolve(plim_host *host, const char *operand, plim_target **target,
		   plim_error *error);

/* json.c: the frame of every JSON object that plim prints. */
plim_json *json_begin(const struct options *options, plim_host *host,
		      int one_line);
int json_finish(plim_json *json, plim_host *host);
/* The same to another place, by who tells its failure himself: PLIM_OK, or the
 * failure. The stream is not freed. */
plim_json *json_begin_to(const struct options *options, plim_host *host,
			 plim_write_fn *write, void *user);
int json_end(plim_json *json, plim_host *host, plim_error *error);
/* How a command ended: exit_status and signal, one of them null. */
void json_exit(plim_json *json, int status);
/* One entry of an array of events; `was` had the pid before, or is NULL. */
void json_event(plim_json *json, const char *word, const plim_process *process,
		const plim_process *was);
/* The bill of this command so far, its own CPU time included. */
plim_cost command_cost(plim_host *host);
/* `signalled`: something that we started was ended by us. */
void output_cost(const struct options *options, plim_host *host, int signalled);

/* interrupt.c, interrupt_*.c */
extern volatile int interrupted; /* by SIGINT, SIGTERM, SIGHUP or their like */
extern volatile int interrupted_by;
extern volatile int interrupted_by_user; /* not from the terminal */
void interrupt_catch(void);
/* Also called by the handler, for what waits elsewhere; NULL: no more. */
typedef void interrupt_fn(int number, void *user);
void interrupt_tell(interrupt_fn *tell, void *user);
/* Sleeps; ends early if interrupted (1) or if `descriptor` (or -1) becomes
 * readable (2); else 0. */
int interrupt_sleep(uint64_t ns, int descriptor);
/* What is waited for: a descriptor that the library gave, or a pipe of ours
 * (pipe.h); none that is negative is looked at. */
struct wait_entry {
	int descriptor;
	int is_pipe;
	int is_ready; /* has something to say, or has ended */
};
/* The same with several: -1 interrupted, else how many are ready. */
int interrupt_wait(uint64_t ns, struct wait_entry *entries, size_t count);
/* By the handler: what has come, and whether it was sent to us alone. */
void interrupt_note(int number, int by_user);

/* The worker's front was killed (guard_*.c): nobody waits for an answer. */
extern volatile int interrupt_lost;
/* From now on this signal says so, when our parent is `front` no more. */
void interrupt_on_loss(int number, pid_t front);

/* child.c, child_*.c */
struct child {
	pid_t pid;
	int ended;  /* reaped */
	int status; /* as plim_usage_reap() gives it */
	/* What child_*.c has of one that is held, and of one that runs. */
	intptr_t hold;
	intptr_t told;
	int problem; /* why it could not be executed, an error number */
	const char *name;
};
/* What becomes of a command when we end before it. */
enum child_fate { CHILD_STAYS, CHILD_IS_ASKED, CHILD_IS_KILLED };
struct child_plan {
	char **command;
	int hold; /* before it is executed, until child_release() */
	int fate;
	int output; /* descriptors that become its standard output */
	int error;  /* and error; 0: ours */
};
/* Starts a command: 0, or the exit status that our own failure has, and then
 * says why. */
int child_start(struct child *child, char **command);
/* The same, and says nothing; child_tell() does, and gives `status` back. */
int child_tell(const struct child *child, int status);
const char *child_problem(const struct child *child);
int child_launch(struct child *child, const struct child_plan *plan);
/* Lets one go that was held: 0, or the exit status; then it is reaped. Its
 * environment has these, too ("NAME=value", NULL behind the last), of 16 KiB
 * at most; NULL: none. */
int child_release(struct child *child);
int child_release_with(struct child *child, const char *const *settings);
/* Ends one that was held, or whatever became of it, at once. */
void child_drop(struct child *child);
/* Ends what was started, politely first, and reaps it. */
void child_end(struct child *child, plim_target *target, plim_usage *usage);
/* Asks one to end, by who waits for it then: 1, or 0 where it cannot be asked.
 * And ends it. */
int child_ask(const struct child *child, plim_target *target);
void child_kill(const struct child *child, plim_target *target);
/* What tells that it has ended, for interrupt_wait(): of the target where the
 * library has it, else of a child of ours; -1. */
int child_descriptor(const struct child *child, const plim_target *target);
/* Hands an interruption on that came to us alone; may run in a handler. */
void child_hand_on(const struct child *child, int number);
/* By which signal it was ended; 0: by none. And what a shell would say. */
int child_signal(int status);
int child_exit_status(int status);
/* Whether what plim_usage_reap() tells has the children that it waited for. */
int child_reap_has_children(void);
/* The CPU time of one that was reaped, by that (`own`) and by the account of
 * what it left: of it alone, or, `tree`, of all that it started. `ignoring`:
 * somebody waited for no child. */
struct reaper_account;
plim_count child_cpu(const struct reaper_account *account, plim_count own,
		     int tree, int ignoring);

/* guard_*.c: what is started ends also when plim is killed. Call it before
 * anything is opened. 1: we are the one who waited for all of it, `*status` is
 * our exit status. 0: go on and measure. */
int guard_start(int *status);
int guard_is_on(void);
/* For a child just forked: it gets this signal (0: none) when `parent` ends.
 * 0 if that has ended already. Where children are forked. */
int guard_bind(int number, pid_t parent);

/* reaper_*.c: what a command leaves running when it ends. Start before the
 * command; end once it is reaped: every descendant that is still there. */
struct reaper_account {
	uint64_t cpu_ns; /* of those that were reaped, and of their children */
	/* Of the command and all that it started, by the system's account of
	 * them together, and how many they were; 0: it has no such account. */
	uint64_t whole_cpu_ns;
	uint32_t whole_members;
	uint32_t reaped;
	uint32_t signalled; /* that were alive and were ended */
	int unseen; /* orphans go to somebody else, with what they used */
	int left;   /* something does not end, or is not known to have ended */
};
void reaper_start(void);
/* Reaps orphans that have ended, the command (child_launch() names it) left
 * out. Every interrupt_sleep() begins with it: a sample has seen them by then,
 * and they take no pids. */
void reaper_sweep(void);
void reaper_keep(pid_t pid);
void reaper_end(plim_host *host);
struct reaper_account reaper_end_all(plim_host *host);
/* All of them at once, without asking; needs nothing. */
void reaper_kill(void);

/* profile_diff.c: is it plim profile diff A B? A process that is called diff
 * is one operand, and no file follows it. */
int profile_is_diff(const struct command *command,
		    const struct options *options);

int cmd_report(const struct options *options);
int cmd_ps(const struct options *options);
int cmd_show(const struct options *options);
int cmd_threads(const struct options *options);
int cmd_mem(const struct options *options);
int cmd_cmdline(const struct options *options);
int cmd_profile(const struct options *options);
int cmd_tree(const struct options *options);
int cmd_idle(const struct options *options);
int cmd_time(const struct options *options);
int cmd_doctor(const struct options *options);
int cmd_gate(const struct options *options);
int cmd_help(const struct options *options);

#endif
