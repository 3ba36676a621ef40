/*
 * completions.c - writes the completions of plim for a shell: `completions
 * bash`, `zsh` or `fish`. A program of the build, not of those who use plim.
 *
 * Commands, options and fields come from their tables, so that what a shell
 * offers is what plim takes. The scripts start no process of their own and
 * evaluate nothing that was typed: a word is compared, never expanded. All
 * text of the tables is quoted for the shell that reads it.
 */
#include "args.h"
#include "profile.h"

#include <string.h>

/* What can stand behind an option or a command. The words in capitals are
 * those of the tables. */
static const char *const durations[] = {"200ms", "500ms", "1s", "3s",
					"10s",	 "30s",	  "1m", NULL};
static const char *const colors[] = {"auto", "always", "never", NULL};
static const char *const views[] = {"cpu", "off", "wall", NULL};
static const char *const events[] = {"cpu", "cycles", NULL};

/* Calls back for each name that a column, an order or a filter takes. A
 * suffix that may be left out is left out. */
typedef void field_fn(const char *name, const char *text, const char *end);

static void fields_each(field_fn *callback)
{
	char name[64];
	size_t i;

	for (i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);
		size_t size = strlen(field->name);

		if (field->unit == PLIM_UNIT_BYTES)
			size -= strlen("_bytes");
		else if (field->unit == PLIM_UNIT_NS)
			size -= strlen("_ns");
		snprintf(name, sizeof name, "%.*s", (int)size, field->name);
		callback(name, field->text, "");
		if (field->kind != PLIM_KIND_COUNTER ||
		    field->unit == PLIM_UNIT_NS)
			continue;
		snprintf(name, sizeof name, "%.*s_per_second", (int)size,
			 field->name);
		callback(name, field->text, ", per second");
	}
	callback("cpu_percent", "CPU time in per cent of one core", "");
}

static int value_is(const struct option_row *row, const char *word)
{
	return row->value != NULL && strcmp(row->value, word) == 0;
}

/* The words that a value may be, or NULL where they are not so few. */
static const char *const *value_words(const struct option_row *row)
{
	static const struct {
		const char *value;
		const char *const *list;
	} lists[] = {{"D", durations},
		     {"WHEN", colors},
		     {"VIEW", views},
		     {"EVENT", events},
		     {"FORMAT", profile_words}};
	size_t i;

	for (i = 0; i < sizeof lists / sizeof lists[0]; i++)
		if (value_is(row, lists[i].value))
			return lists[i].list;
	return NULL;
}

static int value_is_field(const struct option_row *row)
{
	return value_is(row, "FIELD") || value_is(row, "LIST");
}

/* What the operands of a command are, by its usage. */
static int command_takes(const struct command *command, const char *word)
{
	return strstr(command->usage, word) != NULL;
}

static void words(const char *const *list)
{
	for (; *list != NULL; list++)
		printf(" %s", *list);
}

/* --- bash ----------------------------------------------------------------- */

static void bash_field(const char *name, const char *text, const char *end)
{
	(void)text;
	(void)end;
	printf(" %s", name);
}

static const char bash_begin[] =
    "# Completions of plim for bash, made from the tables of its commands and\n"
    "# options. What was typed is compared, never expanded.\n"
    "\n"
    "# HEAD TYPED WORD...: the words that begin as typed, with a head.\n"
    "_plim_words()\n"
    "{\n"
    "\tlocal head=$1 typed=$2 word\n"
    "\tshift 2\n"
    "\tfor word; do\n"
    "\t\t[[ $word == \"$typed\"* ]] && COMPREPLY+=(\"$head$word\")\n"
    "\tdone\n"
    "}\n"
    "\n"
    "# WORD: the first of these letters that takes a value is the option; the\n"
    "# head is what stands before the value.\n"
    "_plim_letters()\n"
    "{\n"
    "\tlocal i\n"
    "\tfor ((i = 1; i < ${#1}; i++)); do\n"
    "\t\t[[ $takes == *\" -${1:i:1} \"* ]] || continue\n"
    "\t\toption=-${1:i:1} head=${1:0:i+1}\n"
    "\t\treturn\n"
    "\tdone\n"
    "}\n"
    "\n"
    "# AT TYPED: a command of its own begins at this word.\n"
    "_plim_other()\n"
    "{\n"
    "\tif declare -F _command_offset >/dev/null; then\n"
    "\t\t_command_offset \"$1\"\n"
    "\telif ((COMP_CWORD == $1)); then\n"
    "\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$2\")\n"
    "\t\tcompopt -o filenames 2>/dev/null\n"
    "\telse\n"
    "\t\tcompopt -o default 2>/dev/null\n"
    "\tfi\n"
    "}\n"
    "\n"
    "_plim()\n"
    "{\n"
    "\tlocal typed=$2 head= option= words= takes= runs= operands=\n"
    "\tlocal fields commands word at IFS=$' \\t\\n'\n";

static const char bash_scan[] =
    "\t# The option whose value is typed, if it is one.\n"
    "\tfor ((at = 2; at < COMP_CWORD; at++)); do\n"
    "\t\tword=${COMP_WORDS[at]}\n"
    "\t\tif [[ -n $option ]]; then\n"
    "\t\t\t[[ $word == = ]] || option=\n"
    "\t\telif [[ $word == -- ]]; then\n"
    "\t\t\t[[ -z $runs ]] || _plim_other $((at + 1)) \"$typed\"\n"
    "\t\t\t[[ -n $runs ]] || _plim_words '' \"$typed\" $operands\n"
    "\t\t\treturn\n"
    "\t\telif [[ $word == --* ]]; then\n"
    "\t\t\t[[ $takes == *\" $word \"* ]] && option=$word\n"
    "\t\telif [[ $word == -?* ]]; then\n"
    "\t\t\t_plim_letters \"$word\"\n"
    "\t\t\t[[ $head == \"$word\" ]] || option=\n"
    "\t\t\thead=\n"
    "\t\tfi\n"
    "\tdone\n"
    "\tif [[ -z $option && $typed == --*=* ]]; then\n"
    "\t\toption=${typed%%=*} head=${typed%%=*}= typed=${typed#*=}\n"
    "\telif [[ -z $option && $typed == -[^-]?* ]]; then\n"
    "\t\t_plim_letters \"$typed\"\n"
    "\t\ttyped=${typed#\"$head\"}\n"
    "\tfi\n"
    "\n"
    "\tcase ${option:+${COMP_WORDS[1]} $option} in\n"
    "\t'') ;;\n";

static const char bash_end[] = "\t*) return ;;\n"
			       "\tesac\n"
			       "\tif [[ $typed == -* ]]; then\n"
			       "\t\t_plim_words '' \"$typed\" $words\n"
			       "\telse\n"
			       "\t\t_plim_words '' \"$typed\" $operands\n"
			       "\tfi\n"
			       "}\n"
			       "complete -F _plim plim\n";

static void bash_command(const struct command *command)
{
	const struct option_row *row;
	int i;

	printf("\t%s)\n\t\twords='", command->name);
	for (i = 0; (row = option_at(i)) != NULL; i++)
		if (option_fits(row, command))
			printf("--%s ", row->name);
	printf("%s'\n\t\ttakes=' ", command->takes_command ? "--" : "");
	for (i = 0; (row = option_at(i)) != NULL; i++) {
		if (!option_fits(row, command) || row->value == NULL)
			continue;
		printf("--%s ", row->name);
		if (row->letter != 0)
			printf("-%c ", row->letter);
	}
	fputs("'\n", stdout);
	if (command->takes_command)
		fputs("\t\truns=yes operands=--\n", stdout);
	if (command_takes(command, "FILTER"))
		fputs("\t\toperands=$fields\n", stdout);
	if (command_takes(command, "[COMMAND]"))
		fputs("\t\toperands=$commands\n", stdout);
	fputs("\t\t;;\n", stdout);
}

/* A letter may be another option of another command. */
static void bash_pattern(const struct option_row *row)
{
	const struct command *command;
	const char *before = "\t";
	int i;

	for (i = 0; (command = command_at(i)) != NULL; i++) {
		if (!option_fits(row, command))
			continue;
		if (row->letter != 0)
			printf("%s'%s -%c' | ", before, command->name,
			       row->letter);
		else
			fputs(before, stdout);
		printf("'%s --%s'", command->name, row->name);
		before = " | ";
	}
	fputs(")\n", stdout);
}

static void bash_value(const struct option_row *row)
{
	const char *const *list = value_words(row);

	if (row->value == NULL ||
	    (list == NULL && !value_is_field(row) && !value_is(row, "DIR") &&
	     !value_is(row, "FILE")))
		return;
	bash_pattern(row);
	if (value_is(row, "LIST"))
		fputs("\t\t[[ $typed == *,* ]] &&\n"
		      "\t\t\thead=$head${typed%,*}, typed=${typed##*,}\n"
		      "\t\tcompopt -o nospace 2>/dev/null\n",
		      stdout);
	if (value_is(row, "DIR")) {
		fputs("\t\tcompopt -o dirnames 2>/dev/null\n", stdout);
	} else if (value_is(row, "FILE")) {
		fputs("\t\tcompopt -o default 2>/dev/null\n", stdout);
	} else {
		fputs("\t\t_plim_words \"$head\" \"$typed\"", stdout);
		if (list != NULL)
			words(list);
		else
			fputs(" $fields", stdout);
		fputs("\n", stdout);
	}
	fputs("\t\treturn\n\t\t;;\n", stdout);
}

static void bash(void)
{
	const struct command *command;
	const struct option_row *row;
	int i;

	fputs(bash_begin, stdout);
	fputs("\n\tcommands='", stdout);
	for (i = 0; (command = command_at(i)) != NULL; i++)
		printf(" %s", command->name);
	fputs("'\n\tfields='", stdout);
	fields_each(bash_field);
	fputs("'\n\tCOMPREPLY=()\n"
	      "\tif ((COMP_CWORD < 2)); then\n"
	      "\t\t[[ $typed == -* ]] && commands='--help --version'\n"
	      "\t\t_plim_words '' \"$typed\" $commands\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase ${COMP_WORDS[1]} in\n",
	      stdout);
	for (i = 0; (command = command_at(i)) != NULL; i++)
		bash_command(command);
	fputs("\t*) return ;;\n\tesac\n\n", stdout);
	fputs(bash_scan, stdout);
	for (i = 0; (row = option_at(i)) != NULL; i++)
		bash_value(row);
	fputs(bash_end, stdout);
}

/* --- zsh ------------------------------------------------------------------ */

/* A colon ends the name in _describe; a bracket the text in _arguments. */
static void zsh_text(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text) != NULL)
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void zsh_field(const char *name, const char *text, const char *end)
{
	printf("\t\t'%s:", name);
	zsh_text(text);
	printf("%s'\n", end);
}

static void zsh_option(const struct option_row *row)
{
	const char *equal = row->value != NULL ? "=" : "";
	const char *const *list = value_words(row);

	if (row->letter != 0)
		printf(" \\\n\t\t\t'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter,
		       row->name, row->letter, row->value != NULL ? "+" : "",
		       row->name, equal);
	else
		printf(" \\\n\t\t\t'--%s%s[", row->name, equal);
	zsh_text(row->text);
	fputs("]", stdout);
	if (list != NULL) {
		printf(":%s:(", value_is(row, "D") ? "time" : "word");
		words(list);
		fputs(" )", stdout);
	} else if (value_is(row, "FIELD")) {
		fputs(":field:_plim_fields", stdout);
	} else if (value_is(row, "LIST")) {
		fputs(":fields:_sequence _plim_fields", stdout);
	} else if (value_is(row, "DIR")) {
		fputs(":folder:_plim_folders", stdout);
	} else if (value_is(row, "FILE")) {
		fputs(":file:_plim_files", stdout);
	} else if (row->value != NULL) {
		fputs(":number:", stdout);
	}
	fputs("'", stdout);
}

static void zsh_command(const struct command *command)
{
	const struct option_row *row;
	int i;

	printf("\t%s)\n", command->name);
	if (command->takes_command)
		fputs("\t\tif ((at < CURRENT)); then\n"
		      "\t\t\tshift at words\n"
		      "\t\t\t((CURRENT -= at))\n"
		      "\t\t\t_normal\n"
		      "\t\t\treturn\n"
		      "\t\tfi\n",
		      stdout);
	fputs("\t\t_arguments -s -S :", stdout);
	for (i = 0; (row = option_at(i)) != NULL; i++)
		if (option_fits(row, command))
			zsh_option(row);
	if (command_takes(command, "FILTER"))
		fputs(" \\\n\t\t\t'*:filter:_plim_fields'", stdout);
	else if (command_takes(command, "[COMMAND]"))
		fputs(" \\\n\t\t\t'1:command:_plim_commands'", stdout);
	else if (command_takes(command, "PID"))
		fputs(" \\\n\t\t\t'1:process:_plim_process'", stdout);
	fputs("\n\t\t;;\n", stdout);
}

static void zsh(void)
{
	const struct command *command;
	int i;

	fputs("#compdef plim\n"
	      "# Completions of plim for zsh, made from the tables of its "
	      "commands and\n# options.\n\n"
	      "_plim_fields()\n{\n\tlocal -a fields=(\n",
	      stdout);
	fields_each(zsh_field);
	fputs("\t)\n\t_describe -t fields field fields \"$@\"\n}\n\n"
	      "_plim_commands()\n{\n\tlocal -a commands=(\n",
	      stdout);
	for (i = 0; (command = command_at(i)) != NULL; i++) {
		printf("\t\t'%s:", command->name);
		zsh_text(command->text);
		fputs("'\n", stdout);
	}
	fputs("\t)\n\t_describe -t commands command commands \"$@\"\n}\n\n"
	      "_plim_process()\n{\n"
	      "\t# A message would take the place of the options.\n"
	      "\t[[ $PREFIX == -* ]] || _message -e processes 'pid, identity "
	      "or name'\n}\n\n"
	      "# Where a file or a folder is asked for, zsh expands what was "
	      "typed: not a\n# command.\n"
	      "_plim_files()\n{\n"
	      "\t[[ $PREFIX$SUFFIX == *('$('|'`')* ]] || _files \"$@\"\n"
	      "}\n\n"
	      "_plim_folders()\n{\n"
	      "\t[[ $PREFIX$SUFFIX == *('$('|'`')* ]] || _files -/ "
	      "\"$@\"\n}\n\n"
	      "_plim()\n{\n"
	      "\tlocal curcontext=$curcontext context state line\n"
	      "\tlocal -A opt_args\n"
	      "\tlocal -i at\n\n"
	      "\tif ((CURRENT == 2)); then\n"
	      "\t\tif [[ $PREFIX == -* ]]; then\n"
	      "\t\t\tcompadd -- --help --version\n"
	      "\t\telse\n"
	      "\t\t\t_plim_commands\n"
	      "\t\tfi\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tshift words\n"
	      "\t((CURRENT--))\n"
	      "\tat=${words[(ie)--]}\n"
	      "\tcase ${words[1]} in\n",
	      stdout);
	for (i = 0; (command = command_at(i)) != NULL; i++)
		zsh_command(command);
	fputs("\tesac\n}\n\n"
	      "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
	      "\t_plim \"$@\"\n"
	      "else\n"
	      "\tcompdef _plim plim\n"
	      "fi\n",
	      stdout);
}

/* --- fish ----------------------------------------------------------------- */

static void fish_text(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
}

static void fish_field(const char *name, const char *text, const char *end)
{
	printf(" \\\n\t\t%s '", name);
	fish_text(text);
	printf("%s'", end);
}

static const char fish_begin[] =
    "# Completions of plim for fish, made from the tables of its commands and\n"
    "# options. What was typed is compared, never evaluated.\n"
    "\n"
    "function __plim_is -d 'this command is given, and nothing behind --'\n"
    "\tset -l given (commandline -opc)\n"
    "\ttest (count $given) -ge 2; and not contains -- -- $given\n"
    "\tand test $given[2] = $argv[1]\n"
    "end\n"
    "\n"
    "function __plim_runs -d 'a command of its own stands behind --'\n"
    "\tset -l given (commandline -opc)\n"
    "\ttest (count $given) -ge 3; and contains -- -- $given\n"
    "\tand contains -- $given[2] $argv\n"
    "end\n"
    "\n"
    "function __plim_other -d 'what that command has to offer'\n"
    "\tset -l given (commandline -opc)\n"
    "\tset -e given[1..(contains -i -- -- $given)]\n"
    "\tset given (string escape -- $given) (commandline -ct)\n"
    "\tcomplete -C (string join ' ' -- $given)\n"
    "end\n"
    "\n"
    "function __plim_list -d 'fields with commas between them'\n"
    "\tset -l typed (commandline -ct | "
    "string replace -r '^(--[a-z]+=|-[a-z]*?o)' '')\n"
    "\tset -l head (string replace -r '[^,]*$' '' -- \"$typed\")\n"
    "\tprintf '%s\\n' $head(__plim_fields)\n"
    "end\n"
    "\n";

static void fish_option(const struct command *command,
			const struct option_row *row)
{
	const char *const *list = value_words(row);

	printf("complete -c plim -n '__plim_is %s' -l %s", command->name,
	       row->name);
	if (row->letter != 0)
		printf(" -s %c", row->letter);
	fputs(" -d '", stdout);
	fish_text(row->text);
	fputs("'", stdout);
	if (value_is(row, "FILE"))
		fputs(" -r -F", stdout);
	else if (row->value != NULL)
		fputs(" -x", stdout);
	if (list != NULL) {
		fputs(" -ka '", stdout);
		words(list);
		fputs("'", stdout);
	} else if (value_is(row, "FIELD")) {
		fputs(" -a '(__plim_fields)'", stdout);
	} else if (value_is(row, "LIST")) {
		fputs(" -a '(__plim_list)'", stdout);
	} else if (value_is(row, "DIR")) {
		fputs(" -a '(__fish_complete_directories)'", stdout);
	}
	fputs("\n", stdout);
}

static void fish_command(const struct command *command)
{
	const struct option_row *row;
	int i;

	for (i = 0; (row = option_at(i)) != NULL; i++)
		if (option_fits(row, command))
			fish_option(command, row);
	if (command_takes(command, "FILTER"))
		printf("complete -c plim -n '__plim_is %s' "
		       "-a '(__plim_fields)'\n",
		       command->name);
	if (command_takes(command, "[COMMAND]"))
		printf("complete -c plim -n '__plim_is %s' "
		       "-a '(__plim_commands)'\n",
		       command->name);
	if (command->takes_command)
		printf("complete -c plim -n '__plim_runs %s' "
		       "-a '(__plim_other)'\n",
		       command->name);
}

static void fish(void)
{
	const struct command *command;
	int i;

	fputs(fish_begin, stdout);
	fputs("function __plim_fields\n\tprintf '%s\\t%s\\n'", stdout);
	fields_each(fish_field);
	fputs("\nend\n\nfunction __plim_commands\n\tprintf '%s\\t%s\\n'",
	      stdout);
	for (i = 0; (command = command_at(i)) != NULL; i++)
		fish_field(command->name, command->text, "");
	fputs("\nend\n\n"
	      "function __plim_first\n"
	      "\ttest (count (commandline -opc)) -eq 1\n"
	      "end\n\n"
	      "complete -c plim -f\n"
	      "complete -c plim -n __plim_first -a '(__plim_commands)'\n"
	      "complete -c plim -n __plim_first -s h -l help -d 'the list of "
	      "commands'\n"
	      "complete -c plim -n __plim_first -s V -l version -d 'the "
	      "version'\n",
	      stdout);
	for (i = 0; (command = command_at(i)) != NULL; i++)
		fish_command(command);
}

int main(int argc, char **argv)
{
	const char *shell = argc == 2 ? argv[1] : "";

	if (strcmp(shell, "bash") == 0)
		bash();
	else if (strcmp(shell, "zsh") == 0)
		zsh();
	else if (strcmp(shell, "fish") == 0)
		fish();
	else
		return EXIT_USAGE;
	return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}
