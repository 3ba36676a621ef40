/*
 * args_profile.c - the values of the options that plim profile alone has.
 */
#include "args.h"
#include "profile.h"

#include <assert.h>
#include <string.h>

/* The word's place in a list that ends with NULL, or -1. */
static int profile_word(const char *const *words, const char *value)
{
	int i;

	for (i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], value) == 0)
			return i;
	return -1;
}

static int profile_view(const char *value, struct options *options)
{
	static const char *const words[] = {"cpu", "off", "wall", NULL};
	const int at = profile_word(words, value);

	if (at < 0)
		return fail_usage("--view: '%s' is none of cpu, off, wall",
				  value);
	options->view = at + 1;
	return EXIT_DONE;
}

static int profile_event(const char *value, struct options *options)
{
	static const char *const words[] = {"cpu", "cycles", NULL};
	const int at = profile_word(words, value);

	if (at < 0)
		return fail_usage("--event: '%s' is none of cpu, cycles",
				  value);
	options->cycles = at == 1;
	return EXIT_DONE;
}

const char *const profile_words[] = {"text",  "pprof",	 "collapsed",
				     "json",  "csv",	 "speedscope",
				     "flame", "firefox", NULL};

static int profile_format(const char *value, struct options *options)
{
	char words[160] = "";

	if (profile_word(profile_words, value) >= 0) {
		options->written_as = value;
		return EXIT_DONE;
	}
	for (int i = 0; profile_words[i] != NULL; i++) {
		strcat(words, i > 0 ? ", " : "");
		strcat(words, profile_words[i]);
		assert(strlen(words) < sizeof words / 2);
	}
	return fail_usage("--format: '%s' is none of %s", value, words);
}

static int profile_tid(const struct option_row *row, const char *value,
		       struct options *options)
{
	uint64_t number = 0;
	int status = option_number(row->name, value, &number);

	if (status != EXIT_DONE)
		return status;
	if (number > INT32_MAX)
		return fail_usage("--%s: '%s' is the id of no thread",
				  row->name, value);
	if (options->tid_count == OPTION_TIDS)
		return fail_usage("--%s: at most %d threads can be named",
				  row->name, OPTION_TIDS);
	options->tids[options->tid_count++] = (int32_t)number;
	return EXIT_DONE;
}

static int profile_detect(const struct option_row *row, const char *value,
			  struct options *options)
{
	if (plim_quantity_parse(value, PLIM_UNIT_PERCENT, &options->detect,
				NULL) != PLIM_OK ||
	    options->detect <= 0 || options->detect > 1000)
		return fail_usage("--%s: '%s' is no change: write 20%%",
				  row->name, value);
	return EXIT_DONE;
}

static int profile_budget(const struct option_row *row, const char *value,
			  struct options *options)
{
	if (plim_quantity_parse(value, PLIM_UNIT_PERCENT,
				&options->budget_percent, NULL) != PLIM_OK ||
	    options->budget_percent <= 0 || options->budget_percent > 100)
		return fail_usage("--%s: '%s' is no share of its time: write "
				  "1%%",
				  row->name, value);
	return EXIT_DONE;
}

/* plim gate has one, plim profile several. */
static int profile_output(const struct option_row *row, const char *value,
			  struct options *options)
{
	if (options->output_count == OPTION_OUTPUTS)
		return fail_usage("--%s: at most %d files", row->name,
				  OPTION_OUTPUTS);
	options->outputs[options->output_count++] = value;
	options->write_to = value;
	return EXIT_DONE;
}

int option_profile(const struct option_row *row, const char *value,
		   struct options *options)
{
	switch (row->id) {
	case OPTION_HZ:
		return option_number(row->name, value, &options->hz);
	case OPTION_VIEW:
		return profile_view(value, options);
	case OPTION_FORMAT:
		return profile_format(value, options);
	case OPTION_WRITE:
		return profile_output(row, value, options);
	case OPTION_TID:
		return profile_tid(row, value, options);
	case OPTION_THREAD:
		if (value[0] == '\0')
			return fail_usage("--thread: no thread is called ''");
		options->thread_name = value;
		return EXIT_DONE;
	case OPTION_EVENT:
		return profile_event(value, options);
	case OPTION_BUDGET:
		return profile_budget(row, value, options);
	case OPTION_PAUSE:
		return option_duration(row->name, value, &options->pause_ns);
	case OPTION_NO_PTRACE:
		options->no_ptrace = 1;
		return EXIT_DONE;
	case OPTION_PRELOAD:
		options->preload = 1;
		return EXIT_DONE;
	case OPTION_NO_PRELOAD:
		options->no_preload = 1;
		return EXIT_DONE;
	case OPTION_NO_INLINES:
		options->no_inlines = 1;
		return EXIT_DONE;
	case OPTION_DETECT:
		return profile_detect(row, value, options);
	default:
		return EXIT_DONE;
	}
}
