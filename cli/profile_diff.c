/*
 * profile_diff.c - plim profile diff: what changed between two profiles that
 * were written, or between several of each side.
 *
 * Files are read one after the other and kept as tables; the library compares
 * and words, this tells: both sides, the test, the changed functions, those
 * that are the same within noise, and of the others those that are large.
 * A difference found is no failure: the status is 0 whatever changed.
 */
#include "profile.h"
#include "gate_run.h"
#include "term.h"

#include <stdlib.h>
#include <string.h>

/* Functions with not enough samples are shown from this share on. */
#define DIFF_LARGE 0.01

struct diff_side {
	char *const *paths;
	size_t count;
	plim_stored *stored[PLIM_DIFF_SIDE_LIMIT];
};

struct diff_run {
	const struct options *options;
	struct diff_side sides[2];
	plim_diff *diff;
	plim_diff_facts facts;
	struct profile_places places; /* of its page; none: no page */
};

int profile_is_diff(const struct command *command,
		    const struct options *options)
{
	return command->run == cmd_profile && options->operand_count > 1 &&
	       strcmp(options->operands[0], "diff") == 0;
}

/* --- what is compared ------------------------------------------------------
 */

static int diff_options_check(const struct options *options)
{
	if (options->for_given || options->hz > 0 || options->tree ||
	    options->tid_count > 0 || options->thread_name != NULL ||
	    options->cycles || options->budget_percent > 0 ||
	    options->pause_ns > 0 || options->no_ptrace || options->preload ||
	    options->no_preload || options->no_inlines)
		return fail_usage("profile diff: it samples nothing; --detect, "
				  "--limit, --json, --csv and -o FILE.html are "
				  "its options");
	return EXIT_DONE;
}

/* Its page is the one thing that goes to files; --json and --csv are of what
 * is printed besides. */
static int diff_places(struct diff_run *run)
{
	struct options options = *run->options;
	int status;

	if (options.output_count == 0 && options.written_as == NULL)
		return EXIT_DONE;
	if (options.written_as == NULL)
		options.format = FORMAT_TABLE;
	status = profile_places_find(&options, &run->places);
	for (size_t i = 0; i < run->places.count && status == EXIT_DONE; i++)
		if (run->places.items[i].form != PROFILE_FLAME)
			status = fail_usage("profile diff: a flame graph is "
					    "what it writes to a file: "
					    "-o FILE.html");
	if (status == EXIT_DONE && run->places.has_output &&
	    run->options->format != FORMAT_TABLE)
		status = fail_usage("profile diff: --json or --csv and the "
				    "page cannot both be printed");
	return status;
}

static int diff_sides(struct diff_run *run)
{
	const struct options *options = run->options;
	const size_t count = (size_t)options->operand_count - 1;

	run->sides[0].paths = options->operands + 1;
	run->sides[0].count = count;
	if (options->command != NULL) {
		run->sides[1].paths = options->command;
		while (options->command[run->sides[1].count] != NULL)
			run->sides[1].count++;
	} else if (count == 2) {
		run->sides[0].count = 1;
		run->sides[1].paths = options->operands + 2;
		run->sides[1].count = 1;
	}
	if (run->sides[1].count == 0)
		return fail_usage("usage: plim profile diff BEFORE AFTER, or "
				  "BEFORE ... -- AFTER ...");
	for (int side = 0; side < 2; side++)
		if (run->sides[side].count > PLIM_DIFF_SIDE_LIMIT)
			return fail_usage("profile diff: at most %d profiles "
					  "a side",
					  PLIM_DIFF_SIDE_LIMIT);
	return EXIT_DONE;
}

/* --- reading ---------------------------------------------------------------
 */

static int diff_read_wrong(const char *path, const plim_error *error)
{
	char name[1024];

	plim_escape(PLIM_ESCAPE_TERMINAL, (plim_bytes){path, strlen(path)},
		    name, sizeof name);
	if (error->code == PLIM_ENOMEM)
		return fail_memory();
	if (error->code == PLIM_ESYNTAX)
		return fail_usage("%s: no profile that can be read: %s, at "
				  "byte %lld",
				  name, error->detail,
				  (long long)error->position);
	return fail_usage("%s: %s", name, error->detail);
}

static int diff_read(struct diff_side *side, size_t index)
{
	const char *path = side->paths[index];
	plim_error error;
	char *data = NULL;
	size_t size = 0;
	int problem =
	    gate_read_file(path, PLIM_STORED_FILE_LIMIT, &data, &size);
	int code;

	if (problem != 0) {
		char name[1024];

		plim_escape(PLIM_ESCAPE_TERMINAL,
			    (plim_bytes){path, strlen(path)}, name,
			    sizeof name);
		return fail_usage("%s: %s", name,
				  problem < 0
				      ? "too large"
				      : plim_system_error_name(problem));
	}
	code = plim_stored_read(&side->stored[index],
				(plim_bytes){size > 0 ? data : "", size}, NULL,
				&error);
	free(data);
	return code == PLIM_OK ? EXIT_DONE : diff_read_wrong(path, &error);
}

static int diff_read_all(struct diff_run *run)
{
	int status = EXIT_DONE;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0;
		     i < run->sides[side].count && status == EXIT_DONE; i++)
			status = diff_read(&run->sides[side], i);
	return status;
}

/* --- telling ---------------------------------------------------------------
 */

static void diff_tell_side(const struct diff_run *run, int number)
{
	const struct options *options = run->options;
	const struct diff_side *files = &run->sides[number];
	const plim_diff_side *side = &run->facts.sides[number];
	plim_bytes name;

	output_text(number == 0 ? "before       " : "after        ");
	name = (plim_bytes){files->paths[0], strlen(files->paths[0])};
	output_escaped(options, name);
	if (files->count > 1)
		output_format(" and %zu more", files->count - 1);
	name = plim_stored_about(files->stored[0]).name;
	if (name.size > 0) {
		output_text(" of ");
		output_escaped(options, name);
	}
	output_format(": %llu samples", (unsigned long long)side->samples);
	if (side->duration_ns > 0)
		output_format(" in %s",
			      show_count(options,
					 plim_count_known(side->duration_ns,
							  PLIM_METHOD_SYSTEM),
					 PLIM_UNIT_NS));
	if (side->per_second.state == PLIM_STATE_KNOWN)
		output_format(
		    "; it used %s CPUs",
		    show_real(options, side->per_second, PLIM_UNIT_NONE));
	output_text("\n");
}

static const char *diff_percent(const struct options *options, double share)
{
	return show_real(options,
			 plim_real_known(share * 100, PLIM_METHOD_SYSTEM),
			 PLIM_UNIT_PERCENT);
}

static void diff_tell_head(const struct diff_run *run)
{
	const struct options *options = run->options;
	const plim_diff_facts *facts = &run->facts;

	output_bold(options);
	output_format("compared     shares of CPU time: %zu changed, %zu the "
		      "same within noise, %zu with not enough samples\n",
		      facts->changed, facts->same, facts->few);
	for (int side = 0; side < 2; side++)
		diff_tell_side(run, side);
	output_format("test         %zu functions by self time, %zu by total "
		      "time; any false \"changed\": in %s of comparisons\n",
		      facts->tested[0], facts->tested[1],
		      diff_percent(options, facts->level));
	output_format("             two runs are %s to differ by %s of a "
		      "function's time; the same: %s more would show\n",
		      facts->is_allowance_seen ? "seen" : "taken",
		      diff_percent(options, facts->allowance),
		      diff_percent(options, facts->detect));
	if (facts->scale.state == PLIM_STATE_KNOWN)
		output_format("             what has not changed took %+.1f %% "
			      "CPU time a second\n",
			      (facts->scale.value - 1) * 100);
	output_text("\n");
}

static plim_real diff_scaled(plim_real real)
{
	real.value *= 100;
	return real;
}

static void diff_tell_row(plim_table *table, const plim_diff_function *row)
{
	const double *share =
	    row->of == PLIM_DIFF_OF_SELF ? row->self_share : row->total_share;
	char change[32] = "-";
	const char *verdict = plim_diff_verdict_word(row->verdict);

	if (row->verdict == PLIM_DIFF_FEW)
		verdict = "few samples";
	else if (row->is_open)
		verdict = "one of these";
	plim_table_text(table, (plim_bytes){verdict, strlen(verdict)});
	plim_table_text(table,
			(plim_bytes){plim_diff_of_word(row->of),
				     strlen(plim_diff_of_word(row->of))});
	for (int side = 0; side < 2; side++)
		plim_table_real(
		    table,
		    plim_real_known(share[side] * 100, PLIM_METHOD_SYSTEM),
		    PLIM_UNIT_PERCENT);
	if (row->change.state == PLIM_STATE_KNOWN)
		snprintf(change, sizeof change, "%+.1f %%",
			 row->change.value * 100);
	else if (row->total[0] == 0)
		snprintf(change, sizeof change, "new");
	plim_table_text(table, (plim_bytes){change, strlen(change)});
	plim_table_real(table, diff_scaled(row->change_error),
			PLIM_UNIT_PERCENT);
	plim_table_real(table, diff_scaled(row->detectable), PLIM_UNIT_PERCENT);
	plim_table_text(table, row->name);
	plim_table_text(table, row->module);
}

static int diff_is_shown(const struct diff_run *run, size_t index)
{
	const plim_diff_function *row = plim_diff_function_at(run->diff, index);

	if (run->options->limit > 0)
		return index < run->options->limit;
	return row->verdict != PLIM_DIFF_FEW ||
	       row->total_share[0] >= DIFF_LARGE ||
	       row->total_share[1] >= DIFF_LARGE;
}

static int diff_tell(const struct diff_run *run)
{
	static const char *const titles[] = {"VERDICT",	   "OF",       "BEFORE",
					     "AFTER",	   "CHANGE",   "ERROR",
					     "SHOWS FROM", "FUNCTION", "FILE"};
	plim_table *table;
	plim_error error;
	size_t hidden = 0;

	if (plim_table_new(&table, NULL, &error) != PLIM_OK)
		return fail_with(run->options, &error);
	plim_table_ascii(table, run->options->ascii);
	for (int i = 0; i < 9; i++)
		plim_table_column(table, titles[i], i >= 2 && i < 7);
	for (size_t i = 0; i < plim_diff_function_count(run->diff); i++)
		if (diff_is_shown(run, i))
			diff_tell_row(table,
				      plim_diff_function_at(run->diff, i));
		else
			hidden++;
	diff_tell_head(run);
	output_bold(run->options);
	plim_table_print(table, term_width(), 1, output_write, &standard_output,
			 NULL);
	plim_table_free(table);
	if (hidden > 0)
		output_format("and %zu more\n", hidden);
	return EXIT_DONE;
}

static int diff_json(const struct diff_run *run)
{
	plim_host *host = NULL;
	plim_error error;
	plim_json *json;
	int status;

	if (host_open(run->options, &host, &error) != PLIM_OK)
		return fail_with(run->options, &error);
	json = json_begin(run->options, host, 0);
	if (json != NULL)
		plim_json_diff(json, "diff", run->diff);
	status = json_finish(json, host);
	plim_host_close(host);
	return status;
}

static int diff_say_page(const struct profile_place *place,
			 plim_write_fn *write, void *user, plim_error *error,
			 void *what)
{
	const struct diff_run *run = what;
	plim_bytes names[2];

	(void)place;
	for (int side = 0; side < 2; side++) {
		const char *path = run->sides[side].paths[0];

		names[side] = (plim_bytes){path, strlen(path)};
	}
	return plim_flame_diff(run->diff, names, NULL, write, user, error);
}

static int diff_write(struct diff_run *run)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < run->places.count && status == EXIT_DONE; i++)
		status = profile_place_write(
		    run->options, &run->places.items[i], diff_say_page, run);
	return status;
}

static int diff_say(const struct diff_run *run)
{
	if (run->places.has_output)
		return EXIT_DONE; /* the page went there */
	if (run->options->format == FORMAT_JSON)
		return diff_json(run);
	if (run->options->format == FORMAT_CSV) {
		plim_csv_diff(run->diff, NULL, output_write, &standard_output,
			      NULL);
		return EXIT_DONE;
	}
	return diff_tell(run);
}

/* --- all -------------------------------------------------------------------
 */

static int diff_compare(struct diff_run *run)
{
	const plim_diff_options options = {
	    .size = sizeof options,
	    .view = run->options->view,
	    .detect = run->options->detect / 100,
	};
	plim_error error;

	if (plim_diff_new(&run->diff,
			  (const plim_stored *const *)run->sides[0].stored,
			  run->sides[0].count,
			  (const plim_stored *const *)run->sides[1].stored,
			  run->sides[1].count, &options, &error) != PLIM_OK)
		return fail_with(run->options, &error);
	run->facts = plim_diff_about(run->diff);
	return EXIT_DONE;
}

int profile_diff(const struct options *options)
{
	struct diff_run run = {.options = options};
	int status = diff_options_check(options);

	if (status == EXIT_DONE)
		status = diff_sides(&run);
	if (status == EXIT_DONE)
		status = diff_places(&run);
	if (status == EXIT_DONE)
		status = diff_read_all(&run);
	if (status == EXIT_DONE)
		status = diff_compare(&run);
	if (status == EXIT_DONE)
		status = diff_write(&run);
	if (status == EXIT_DONE)
		status = diff_say(&run);
	profile_places_free(&run.places);
	plim_diff_free(run.diff);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < PLIM_DIFF_SIDE_LIMIT; i++)
			plim_stored_free(run.sides[side].stored[i]);
	return status;
}
