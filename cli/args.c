/*
 * args.c - the reading of argv by the tables of commands and options
 * (tables.c), and the help that is made of them.
 */
#include "args.h"
#include "given.h"
#include "term.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FOR_DEFAULT_NS	 3000000000u
#define EVERY_DEFAULT_NS 1000000000u
#define DURATION_MOST_NS UINT64_C(604800000000000) /* a week */

static const struct command *running;

const struct command *command_given(void)
{
	return running;
}

static const struct option_row *option_by_name(const struct command *command,
					       const char *name, size_t size)
{
	const struct option_row *row;
	int i;

	for (i = 0; (row = option_at(i)) != NULL; i++)
		if (strlen(row->name) == size &&
		    memcmp(row->name, name, size) == 0 &&
		    option_fits(row, command))
			break;
	return row;
}

static const struct option_row *option_by_letter(const struct command *command,
						 char letter)
{
	const struct option_row *row;
	int i;

	for (i = 0; (row = option_at(i)) != NULL; i++)
		if (row->letter == letter && letter != 0 &&
		    option_fits(row, command))
			break;
	return row;
}

static int option_unknown(const struct command *command, const char *given)
{
	const char *names[OPTION_HELP + 2];
	const struct option_row *row;
	const char *nearest;
	char word[64];
	int count = 0;
	int i;

	for (i = 0; (row = option_at(i)) != NULL; i++)
		if (option_fits(row, command))
			names[count++] = row->name;
	names[count] = NULL;
	snprintf(word, sizeof word, "%.*s", (int)strcspn(given, "="), given);
	nearest = plim_nearest_name(word, names);
	if (nearest != NULL)
		return fail_usage("%s: unknown option '--%s'; did you mean "
				  "'--%s'?",
				  command->name, word, nearest);
	return fail_usage("%s: unknown option '--%s'; see 'plim %s --help'",
			  command->name, word, command->name);
}

int option_duration(const char *name, const char *value, uint64_t *ns)
{
	plim_error error;

	if (plim_quantity_parse_whole(value, PLIM_UNIT_NS, ns, &error) !=
	    PLIM_OK)
		return fail_usage("--%s: '%s' is no duration: %s", name, value,
				  "write 3s, 500ms or 2m");
	if (*ns < 1000000 || *ns > DURATION_MOST_NS)
		return fail_usage("--%s: '%s' is not between 1ms and 7d", name,
				  value);
	return EXIT_DONE;
}

int option_number(const char *name, const char *value, uint64_t *number)
{
	assert(value != NULL); /* a row that names one has one */
	if (plim_quantity_parse_whole(value, PLIM_UNIT_NONE, number, NULL) !=
		PLIM_OK ||
	    *number == 0 || strchr(value, '.') != NULL)
		return fail_usage("--%s: '%s' is no number from 1 up", name,
				  value);
	return EXIT_DONE;
}

static int option_color(struct options *options, const char *value)
{
	assert(value != NULL);
	if (strcmp(value, "always") == 0)
		options->color = 1;
	else if (strcmp(value, "never") == 0)
		options->color = 0;
	else if (strcmp(value, "auto") != 0)
		return fail_usage(
		    "--color: '%s' is none of auto, always, never", value);
	return EXIT_DONE;
}

static int option_factor(const char *name, const char *value, double *factor)
{
	plim_error error;

	assert(value != NULL);
	if (plim_quantity_parse(value, PLIM_UNIT_NONE, factor, &error) !=
		PLIM_OK ||
	    *factor < 1)
		return fail_usage("--%s: '%s' is no factor from 1 up", name,
				  value);
	return EXIT_DONE;
}

static int option_repeats(const char *name, const char *value,
			  struct options *options)
{
	int status = option_number(name, value, &options->rounds);

	if (status == EXIT_DONE && options->rounds > PLIM_BUDGET_REPEAT_LIMIT)
		return fail_usage("--%s: at most %d", name,
				  PLIM_BUDGET_REPEAT_LIMIT);
	return status;
}

static int option_allow(struct options *options, const char *value)
{
	assert(value != NULL);
	if (strcmp(value, "inconclusive") != 0)
		return fail_usage("--allow: '%s' cannot be allowed, only "
				  "inconclusive can",
				  value);
	options->allow_inconclusive = 1;
	return EXIT_DONE;
}

static int option_group(struct options *options, const char *field)
{
	if (options->group != NULL && strcmp(options->group, field) != 0)
		return fail_usage("tree: groups are made by one of --cgroup, "
				  "--unit, --container and --user");
	options->group = field;
	return EXIT_DONE;
}

static int option_percent(const char *name, const char *value, double *percent)
{
	assert(value != NULL);
	if (strcmp(value, "none") == 0) {
		*percent = -1;
		return EXIT_DONE;
	}
	if (plim_quantity_parse(value, PLIM_UNIT_PERCENT, percent, NULL) !=
		PLIM_OK ||
	    *percent <= 0)
		return fail_usage("--%s: '%s' is no share of one core: write "
				  "2%% or none",
				  name, value);
	return EXIT_DONE;
}

/* "200 open connections": a number, and what it counts. */
static int option_scale(const char *name, const char *value,
			struct options *options)
{
	const char *text;
	char number[32];
	size_t size;

	assert(value != NULL);
	size = strspn(value, "0123456789");
	text = value + size + strspn(value + size, " ");
	snprintf(number, sizeof number, "%.*s", (int)size, value);
	if (size == 0 || size > 20 || value[size] != ' ' || *text == '\0' ||
	    plim_quantity_parse_whole(number, PLIM_UNIT_NONE,
				      &options->scale_count, NULL) != PLIM_OK)
		return fail_usage("--%s: '%s' is no number and what it counts: "
				  "write '200 open connections'",
				  name, value);
	options->scale_text = text;
	return EXIT_DONE;
}

static int option_scope(const char *name, const char *value,
			struct options *options)
{
	assert(value != NULL);
	if (strcmp(value, "synthetic") != 0 && strcmp(value, "real") != 0 &&
	    strcmp(value, "installed") != 0)
		return fail_usage("--%s: '%s' is none of synthetic, real, "
				  "installed",
				  name, value);
	options->scope = value;
	return EXIT_DONE;
}

/* How a report is told. */
static int option_format(const char *value, struct options *options)
{
	static const struct {
		const char *word;
		int format;
	} words[] = {{"text", FORMAT_TABLE},
		     {"html", FORMAT_HTML},
		     {"json", FORMAT_JSON},
		     {"csv", FORMAT_CSV}};
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strcmp(words[i].word, value) != 0)
			continue;
		options->format = words[i].format;
		return EXIT_DONE;
	}
	return fail_usage("--format: '%s' is none of text, html, json, csv",
			  value);
}

/* What plim report alone has. */
static int option_report(const struct option_row *row, const char *value,
			 struct options *options)
{
	switch (row->id) {
	case OPTION_ALL:
		options->all = 1;
		return EXIT_DONE;
	case OPTION_TOLD_AS:
		return option_format(value, options);
	default:
		return option_profile(row, value, options);
	}
}

/* What plim mem alone has. */
static int option_mem(const struct option_row *row, const char *value,
		      struct options *options)
{
	switch (row->id) {
	case OPTION_CORE:
		options->core = value;
		return EXIT_DONE;
	case OPTION_PAGE:
		options->page = value;
		return EXIT_DONE;
	case OPTION_NO_WALK:
		options->no_walk = 1;
		return EXIT_DONE;
	case OPTION_FORCE:
		options->force = 1;
		return EXIT_DONE;
	case OPTION_STALL:
		return option_duration(row->name, value, &options->stall_ns);
	default:
		return option_report(row, value, options);
	}
}

/* What plim gate alone has. */
static int option_gate(const struct option_row *row, const char *value,
		       struct options *options)
{
	switch (row->id) {
	case OPTION_TARGET:
		options->target = value;
		return EXIT_DONE;
	case OPTION_INIT:
		options->init = 1;
		return EXIT_DONE;
	case OPTION_SLACK:
		return option_factor(row->name, value, &options->slack);
	case OPTION_EXPLAIN:
		options->explain = 1;
		return EXIT_DONE;
	case OPTION_REPEATS:
		return option_repeats(row->name, value, options);
	case OPTION_ALLOW:
		return option_allow(options, value);
	case OPTION_RESULT:
		options->format = FORMAT_RESULT;
		return EXIT_DONE;
	case OPTION_RECORD:
		options->record = value;
		return EXIT_DONE;
	case OPTION_JUNIT:
		options->junit = value;
		return EXIT_DONE;
	case OPTION_BENCHER:
		options->bencher = value;
		return EXIT_DONE;
	case OPTION_ACTION:
		options->action = value;
		return EXIT_DONE;
	case OPTION_GITHUB:
		options->github = 1;
		return EXIT_DONE;
	case OPTION_QUIET:
		options->silent = 1;
		return EXIT_DONE;
	default:
		return option_mem(row, value, options);
	}
}

/* The options of a quiet window that have a value. */
static int option_window(const struct option_row *row, const char *value,
			 struct options *options)
{
	switch (row->id) {
	case OPTION_QUIET_CPU:
		return option_percent(row->name, value, &options->quiet_cpu);
	case OPTION_QUIET_FOR:
		return option_duration(row->name, value,
				       &options->quiet_for_ns);
	case OPTION_QUIET_LIMIT:
		return option_duration(row->name, value,
				       &options->quiet_limit_ns);
	case OPTION_LONGEST:
		return option_duration(row->name, value, &options->longest_ns);
	case OPTION_SCALE:
		return option_scale(row->name, value, options);
	case OPTION_SCOPE:
		return option_scope(row->name, value, options);
	case OPTION_CRATE:
		options->crate = value;
		return EXIT_DONE;
	case OPTION_CRATE_VERSION:
		options->crate_version = value;
		return EXIT_DONE;
	default:
		return option_gate(row, value, options);
	}
}

static int option_take(const struct option_row *row, const char *value,
		       struct options *options)
{
	switch (row->id) {
	case OPTION_JSON:
		options->format = FORMAT_JSON;
		return EXIT_DONE;
	case OPTION_CSV:
		options->format = FORMAT_CSV;
		return EXIT_DONE;
	case OPTION_FOR:
		options->for_given = 1;
		return option_duration(row->name, value, &options->for_ns);
	case OPTION_EVERY:
		options->every_given = 1;
		return option_duration(row->name, value, &options->every_ns);
	case OPTION_WATCH:
		options->watch = 1;
		return EXIT_DONE;
	case OPTION_ROUNDS:
		return option_number(row->name, value, &options->rounds);
	case OPTION_SORT:
		options->sort = value;
		return EXIT_DONE;
	case OPTION_REVERSE:
		options->reverse = 1;
		return EXIT_DONE;
	case OPTION_COLUMNS:
		options->columns = value;
		return EXIT_DONE;
	case OPTION_LIMIT:
		return option_number(row->name, value, &options->limit);
	case OPTION_THREADS:
		options->threads = 1;
		return EXIT_DONE;
	case OPTION_STRONG:
		options->strong = 1;
		return EXIT_DONE;
	case OPTION_LEAVE:
		options->leave = 1;
		return EXIT_DONE;
	case OPTION_TREE:
		options->tree = 1;
		return EXIT_DONE;
	case OPTION_CGROUP:
	case OPTION_UNIT:
	case OPTION_CONTAINER:
		return option_group(options, row->name);
	case OPTION_USER:
		return option_group(options, "uid");
	case OPTION_PROC:
		options->proc_root = value;
		return EXIT_DONE;
	case OPTION_NO_TREE:
		options->no_tree = 1;
		return EXIT_DONE;
	case OPTION_TABLE:
		options->table = 1;
		return EXIT_DONE;
	case OPTION_BLOCKS:
		options->blocks_as_ops = 1;
		return EXIT_DONE;
	case OPTION_COLOR:
		return option_color(options, value);
	case OPTION_ASCII:
		options->ascii = 1;
		return EXIT_DONE;
	default:
		return option_window(row, value, options);
	}
}

/* One "--name", "--name=value" or "--name value". Steps `*at` on. */
static int option_long(const struct command *command, int argc, char **argv,
		       int *at, struct options *options, int *help)
{
	const char *given = argv[*at] + 2;
	size_t size = strcspn(given, "=");
	const struct option_row *row = option_by_name(command, given, size);
	const char *value = given[size] == '=' ? given + size + 1 : NULL;

	if (row == NULL)
		return option_unknown(command, given);
	if (row->value == NULL && value != NULL)
		return fail_usage("--%s takes no value", row->name);
	if (row->value != NULL && value == NULL) {
		if (*at + 1 >= argc)
			return fail_usage("--%s needs %s", row->name,
					  row->value);
		value = argv[++*at];
	}
	*help |= row->id == OPTION_HELP;
	return option_take(row, value, options);
}

/* A word of letters, "-wn3" for instance. */
static int option_letters(const struct command *command, int argc, char **argv,
			  int *at, struct options *options, int *help)
{
	const char *letter;
	int status = EXIT_DONE;

	for (letter = argv[*at] + 1; *letter != '\0' && status == EXIT_DONE;
	     letter++) {
		const struct option_row *row =
		    option_by_letter(command, *letter);
		const char *value = NULL;

		if (row == NULL)
			return fail_usage("%s: unknown option '-%c'; see "
					  "'plim %s --help'",
					  command->name, *letter,
					  command->name);
		if (row->value != NULL) {
			value = letter + 1;
			if (*value == '\0' && *at + 1 >= argc)
				return fail_usage("-%c needs %s", *letter,
						  row->value);
			if (*value == '\0')
				value = argv[++*at];
		}
		*help |= row->id == OPTION_HELP;
		status = option_take(row, value, options);
		if (row->value != NULL)
			break;
	}
	return status;
}

/* The environment decides where no option did. */
static void args_environment(struct options *options)
{
	const char *no_color = term_setting("NO_COLOR");

	options->ascii = !term_takes_utf8();
	options->color =
	    (no_color == NULL || *no_color == '\0') && term_width() > 0;
}

static int args_check(const struct command *command,
		      const struct options *options)
{
	int count = options->operand_count;

	if (profile_is_diff(command, options))
		return EXIT_DONE;
	if (options->command != NULL && options->command[0] == NULL)
		return fail_usage("%s: no command stands behind '--'",
				  command->name);
	if (options->command != NULL && count > 0)
		return fail_usage("%s takes a process or a command, not both",
				  command->name);
	if (options->command == NULL && command->takes_command && count == 0)
		return fail_usage("usage: plim %s", command->usage);
	if (options->command == NULL && count < command->operands_least)
		return fail_usage("usage: plim %s", command->usage);
	if (command->operands_most >= 0 && count > command->operands_most)
		return fail_usage(
		    "%s: what is '%s' for? usage: plim %s", command->name,
		    options->operands[command->operands_most], command->usage);
	return EXIT_DONE;
}

/* argv[0] is the command's name. Returns -1 when help was printed. */
int args_parse(const struct command *command, int argc, char **argv,
	       struct options *options)
{
	int status = EXIT_DONE;
	int help = 0;
	int at;

	running = command;
	given_note(argc, argv);
	memset(options, 0, sizeof *options);
	options->for_ns = FOR_DEFAULT_NS;
	options->every_ns = EVERY_DEFAULT_NS;
	options->operands = argv + 1;
	args_environment(options);
	for (at = 1; at < argc && status == EXIT_DONE && !help; at++) {
		if (strcmp(argv[at], "--") == 0 && command->takes_command) {
			options->command = argv + at + 1;
			break;
		}
		if (strcmp(argv[at], "--") == 0) {
			while (++at <
			       argc) /* operands, whatever they look like */
				options->operands[options->operand_count++] =
				    argv[at];
			break;
		}
		if (strncmp(argv[at], "--", 2) == 0)
			status = option_long(command, argc, argv, &at, options,
					     &help);
		else if (argv[at][0] == '-' && argv[at][1] != '\0')
			status = option_letters(command, argc, argv, &at,
						options, &help);
		else
			options->operands[options->operand_count++] = argv[at];
	}
	if (status == EXIT_DONE && help) {
		args_help(command, stdout);
		return -1;
	}
	return status == EXIT_DONE ? args_check(command, options) : status;
}

void options_filter(const struct options *options, char *text, size_t size)
{
	size_t used = 0;
	int i;

	text[0] = '\0';
	for (i = 0; i < options->operand_count; i++) {
		int more = snprintf(text + used, size - used, "%s%s",
				    i > 0 ? " " : "", options->operands[i]);

		if (more < 0 || (size_t)more >= size - used) {
			/* Too long: let the parser say so. */
			memset(text, '(', size - 1);
			text[size - 1] = '\0';
			return;
		}
		used += (size_t)more;
	}
}

int args_wants_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0 ||
		    strcmp(argv[i], "-j") == 0)
			return 1;
	return 0;
}

void args_help(const struct command *command, FILE *to)
{
	const struct option_row *row;
	int i;

	fprintf(to, "usage: plim %s\n%s\n\n", command->usage, command->text);
	for (i = 0; (row = option_at(i)) != NULL; i++) {
		char name[32];

		if (!option_fits(row, command))
			continue;
		snprintf(name, sizeof name, "--%s%s%s", row->name,
			 row->value != NULL ? " " : "",
			 row->value != NULL ? row->value : "");
		if (row->letter != 0)
			fprintf(to, "  -%c, %-16s %s\n", row->letter, name,
				row->text);
		else
			fprintf(to, "      %-16s %s\n", name, row->text);
	}
	fprintf(to, "\nexample: %s\n", command->example);
}

void args_overview(FILE *to)
{
	const struct command *command;
	int i;

	fprintf(to, "usage: plim COMMAND [options] [PID | -- CMD ARG ...]\n\n");
	for (i = 0; (command = command_at(i)) != NULL; i++)
		fprintf(to, "  %-8s %s\n", command->name, command->text);
	fprintf(to,
		"\n'plim COMMAND --help' lists its options, 'plim help' opens "
		"the manual.\nA PID may be a number, an identity (PID@i...), "
		"or a name that one process has.\n\nexample: plim report -- "
		"sleep 1\n");
}
