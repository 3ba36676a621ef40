/*
 * budget_read.c - the targets of a budget file.
 *
 * Each function reads one part of [target.NAME] into the target, in the order
 * of plim-budget(5); what only makes sense together is checked at the end.
 * Defaults stand in budget_defaults and nowhere else.
 */
#include "observe/budget.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define BUDGET_SECOND UINT64_C(1000000000)

static const plim_budget_target budget_defaults = {
    .tree = 1,
    .ready = PLIM_READY_QUIET,
    .quiet_cpu_percent = 2,
    .quiet_for_ns = 5 * BUDGET_SECOND,
    .quiet_limit_ns = 120 * BUDGET_SECOND,
    .window_ns = 60 * BUDGET_SECOND,
    .repeats = 3,
    .aggregate = PLIM_AGGREGATE_WORST,
};

/* One of run, attach and report, and no second one. */
static int budget_read_way(struct plimp_budget_reader *reader,
			   const struct plimp_toml_node *table, const char *key,
			   int way, plim_budget_target *target,
			   const struct plimp_toml_node **node)
{
	static const char *const words[] = {"", "run", "attach", "report"};

	*node = plimp_budget_get(table, key);
	if (*node == NULL)
		return PLIM_OK;
	if (target->way != 0)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, (*node)->key_at,
		    "the target has %s already; run, attach and report "
		    "exclude each other",
		    words[target->way]);
	target->way = way;
	return PLIM_OK;
}

static int budget_read_run(struct plimp_budget_reader *reader,
			   const struct plimp_toml_node *node,
			   plim_budget_target *target)
{
	const char **run;
	size_t count = 0;
	int code = PLIM_OK;

	if (node->kind != PLIMP_TOML_ARRAY)
		return plimp_budget_wrong(
		    reader, PLIM_ESYNTAX, node->value_at,
		    "run: expected the program and its arguments, as in "
		    "[\"./server\", \"--port\", \"0\"], not %s",
		    plimp_toml_kind_word(node->kind));
	if (node->is.list.count == 0)
		return plimp_budget_wrong(reader, PLIM_EBUDGET, node->value_at,
					  "run: there is no program in it");
	run = plimp_pool_take(&reader->budget->pool,
			      (node->is.list.count + 1) * sizeof(*run));
	if (run == NULL)
		return plimp_budget_no_memory(reader);
	for (node = node->is.list.first; node != NULL; node = node->next) {
		/* An argument may be empty, the program may not. */
		if (node->kind == PLIMP_TOML_STRING && count > 0 &&
		    node->is.string.size == 0)
			run[count] = "";
		else
			code = plimp_budget_text(reader, node, &run[count]);
		if (code != PLIM_OK)
			return code;
		count++;
	}
	target->run = run;
	return PLIM_OK;
}

static int budget_read_ways(struct plimp_budget_reader *reader,
			    const struct plimp_toml_node *table,
			    plim_budget_target *target)
{
	const struct plimp_toml_node *run, *attach, *report;
	int code = budget_read_way(reader, table, "run", PLIM_BUDGET_RUN,
				   target, &run);

	if (code == PLIM_OK)
		code = budget_read_way(reader, table, "attach",
				       PLIM_BUDGET_ATTACH, target, &attach);
	if (code == PLIM_OK)
		code = budget_read_way(reader, table, "report",
				       PLIM_BUDGET_REPORT, target, &report);
	if (code != PLIM_OK)
		return code;
	if (run != NULL)
		return budget_read_run(reader, run, target);
	if (attach != NULL)
		return plimp_budget_text(reader, attach, &target->attach);
	if (report != NULL)
		return plimp_budget_text(reader, report, &target->report);
	return plimp_budget_wrong(
	    reader, PLIM_EBUDGET, target->at,
	    "target %.60s says not what it judges; add run = [...], attach = "
	    "\"...\" or report = \"...\"",
	    target->name);
}

/* A key that must be there. */
static int budget_required(struct plimp_budget_reader *reader,
			   const struct plimp_toml_node *table,
			   plim_budget_position at, const char *key,
			   const char *full, const char *example,
			   const struct plimp_toml_node **node)
{
	*node = plimp_budget_get(table, key);
	if (*node != NULL)
		return PLIM_OK;
	return plimp_budget_wrong(reader, PLIM_EBUDGET, at,
				  "%s is missing; add %s = %s", full, full,
				  example);
}

static int budget_read_load(struct plimp_budget_reader *reader,
			    const struct plimp_toml_node *table,
			    plim_budget_target *target)
{
	static const char *const scopes[] = {"synthetic", "real", "installed",
					     NULL};
	static const char *const keys[] = {"statement", "unit", "count", NULL};
	const struct plimp_toml_node *node, *load;
	plim_budget_position at = target->at;
	int64_t count = 0;
	int scope = 0;
	int code =
	    budget_required(reader, table, at, "scope", "scope",
			    "\"synthetic\", \"real\" or \"installed\"", &node);

	if (code == PLIM_OK)
		code = plimp_budget_word(reader, node, scopes, &scope);
	if (code == PLIM_OK)
		code =
		    budget_required(reader, table, at, "load", "load.statement",
				    "\"what it was doing\"", &load);
	if (code == PLIM_OK)
		code = plimp_budget_table(reader, load,
					  "load.statement, "
					  "load.unit and load.count");
	if (code == PLIM_OK)
		code = plimp_budget_keys(reader, load, keys, "in load");
	if (code == PLIM_OK)
		code = budget_required(reader, load, load->key_at, "statement",
				       "load.statement",
				       "\"what it was doing\"", &node);
	if (code == PLIM_OK)
		code = plimp_budget_text(reader, node, &target->load_statement);
	if (code == PLIM_OK)
		code = budget_required(reader, load, load->key_at, "unit",
				       "load.unit", "\"connections\"", &node);
	if (code == PLIM_OK)
		code = plimp_budget_text(reader, node, &target->load_unit);
	if (code == PLIM_OK)
		code = budget_required(reader, load, load->key_at, "count",
				       "load.count", "100", &node);
	if (code == PLIM_OK)
		code = plimp_budget_integer(reader, node, 0, INT64_MAX, &count);
	if (code == PLIM_OK) {
		target->scope = scopes[scope];
		target->load_count = (uint64_t)count;
	}
	return code;
}

/* ready = "quiet", { output = "..." }, { file = "..." } or { port = 1 }. */
static int budget_read_ready(struct plimp_budget_reader *reader,
			     const struct plimp_toml_node *node,
			     plim_budget_target *target)
{
	static const char *const words[] = {"quiet", NULL};
	static const char *const keys[] = {"output", "file", "port", NULL};
	int64_t port = 0;
	int code, index;

	if (node->kind == PLIMP_TOML_STRING)
		return plimp_budget_word(reader, node, words, &index);
	code = plimp_budget_table(reader, node,
				  "\"quiet\", { output = \"text\" }, { file = "
				  "\"path\" } or { port = 8080 }");
	if (code == PLIM_OK)
		code = plimp_budget_keys(reader, node, keys, "in ready");
	if (code != PLIM_OK)
		return code;
	if (node->is.list.count != 1)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, node->value_at,
		    "ready: exactly one of output, file and port");
	node = node->is.list.first;
	if (node->key.data[0] != 'p') {
		target->ready = node->key.data[0] == 'o' ? PLIM_READY_OUTPUT
							 : PLIM_READY_FILE;
		return plimp_budget_text(reader, node, &target->ready_text);
	}
	code = plimp_budget_integer(reader, node, 1, 65535, &port);
	target->ready = PLIM_READY_PORT;
	target->ready_port = (int)port;
	return code;
}

static int budget_read_quiet(struct plimp_budget_reader *reader,
			     const struct plimp_toml_node *quiet,
			     plim_budget_target *target)
{
	static const char *const keys[] = {"cpu", "for", "limit", NULL};
	const struct plimp_toml_node *node;
	int code = plimp_budget_table(reader, quiet,
				      "quiet.cpu, quiet.for and quiet.limit");

	if (code == PLIM_OK)
		code = plimp_budget_keys(reader, quiet, keys, "in quiet");
	if (code == PLIM_OK) {
		node = plimp_budget_get(quiet, "cpu");
		if (node != NULL)
			code = plimp_budget_quantity(
			    reader, node, PLIM_UNIT_PERCENT,
			    &target->quiet_cpu_percent);
	}
	if (code == PLIM_OK) {
		node = plimp_budget_get(quiet, "for");
		if (node != NULL)
			code = plimp_budget_duration(reader, node,
						     &target->quiet_for_ns);
	}
	if (code == PLIM_OK) {
		node = plimp_budget_get(quiet, "limit");
		if (node != NULL)
			code = plimp_budget_duration(reader, node,
						     &target->quiet_limit_ns);
	}
	if (code == PLIM_OK && target->quiet_limit_ns < target->quiet_for_ns)
		code = plimp_budget_wrong(
		    reader, PLIM_EBUDGET, quiet->key_at,
		    "quiet.limit is shorter than quiet.for, so it could never "
		    "get quiet; raise quiet.limit");
	return code;
}

static int budget_read_window(struct plimp_budget_reader *reader,
			      const struct plimp_toml_node *table,
			      plim_budget_target *target)
{
	static const char *const words[] = {"worst", "median", "best", NULL};
	const struct plimp_toml_node *node = plimp_budget_get(table, "window");
	const struct plimp_toml_node *period =
	    plimp_budget_get(table, "longest_period");
	int64_t repeats = target->repeats;
	int code = PLIM_OK;

	if (node != NULL)
		code = plimp_budget_duration(reader, node, &target->window_ns);
	if (code == PLIM_OK && period != NULL)
		code = plimp_budget_duration(reader, period,
					     &target->longest_period_ns);
	if (code == PLIM_OK && target->window_ns < target->longest_period_ns)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET,
		    node != NULL     ? node->value_at
		    : period != NULL ? period->value_at
				     : table->key_at,
		    "the window is shorter than longest_period, so it could "
		    "miss a timer; raise window");
	node = plimp_budget_get(table, "repeats");
	if (code == PLIM_OK && node != NULL)
		code = plimp_budget_integer(reader, node, 1,
					    PLIM_BUDGET_REPEAT_LIMIT, &repeats);
	node = plimp_budget_get(table, "aggregate");
	if (code == PLIM_OK && node != NULL)
		code =
		    plimp_budget_word(reader, node, words, &target->aggregate);
	if (code == PLIM_OK)
		target->repeats = (uint32_t)repeats;
	return code;
}

/* What would be read and never looked at. */
static int budget_check_way(struct plimp_budget_reader *reader,
			    const struct plimp_toml_node *table,
			    const plim_budget_target *target)
{
	const struct plimp_toml_node *ready = plimp_budget_get(table, "ready");
	const struct plimp_toml_node *quiet = plimp_budget_get(table, "quiet");

	if (target->way == PLIM_BUDGET_REPORT &&
	    (ready != NULL || quiet != NULL))
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET,
		    ready != NULL ? ready->key_at : quiet->key_at,
		    "report judges what was recorded, where nothing gets "
		    "ready or quiet; remove it");
	if (target->way == PLIM_BUDGET_ATTACH &&
	    target->ready == PLIM_READY_OUTPUT)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET,
		    ready != NULL ? ready->key_at : table->key_at,
		    "the output of a process that was found cannot be read; "
		    "use file, port or quiet");
	return PLIM_OK;
}

static int budget_read_name(struct plimp_budget_reader *reader,
			    const struct plimp_toml_node *node,
			    plim_budget_target *target)
{
	char *name;

	if (node->key.size == 0 || node->key.size > 128)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, node->key_at,
		    "the name of a target has 1 to 128 bytes");
	for (size_t i = 0; i < node->key.size; i++)
		if ((unsigned char)node->key.data[i] < 0x20)
			return plimp_budget_wrong(
			    reader, PLIM_EBUDGET, node->key_at,
			    "a control character in the name of a target");
	name = plimp_pool_copy(&reader->budget->pool, node->key);
	if (name == NULL)
		return plimp_budget_no_memory(reader);
	target->name = name;
	target->at = node->key_at;
	return PLIM_OK;
}

static int budget_read_target(struct plimp_budget_reader *reader,
			      const struct plimp_toml_node *table,
			      plim_budget_target *target)
{
	static const char *const keys[] = {
	    "run",     "attach", "report",    "tree",	"scope",
	    "load",    "ready",	 "quiet",     "window", "longest_period",
	    "repeats", "limit",	 "aggregate", "when",	NULL};
	const struct plimp_toml_node *node;
	int code;

	*target = budget_defaults;
	code = plimp_budget_table(reader, table, "[target.NAME]");
	if (code != PLIM_OK)
		return code;
	code = budget_read_name(reader, table, target);
	if (code == PLIM_OK)
		code = plimp_budget_keys(reader, table, keys, "in a target");
	if (code == PLIM_OK)
		code = budget_read_ways(reader, table, target);
	node = plimp_budget_get(table, "tree");
	if (code == PLIM_OK && node != NULL)
		code = plimp_budget_boolean(reader, node, &target->tree);
	if (code == PLIM_OK)
		code = budget_read_load(reader, table, target);
	node = plimp_budget_get(table, "ready");
	if (code == PLIM_OK && node != NULL)
		code = budget_read_ready(reader, node, target);
	node = plimp_budget_get(table, "quiet");
	if (code == PLIM_OK && node != NULL)
		code = budget_read_quiet(reader, node, target);
	if (code == PLIM_OK)
		code = budget_read_window(reader, table, target);
	if (code == PLIM_OK)
		code = budget_check_way(reader, table, target);
	return code == PLIM_OK ? plimp_budget_limits(reader, table, target)
			       : code;
}

static int budget_read_schema(struct plimp_budget_reader *reader,
			      const struct plimp_toml_node *root)
{
	const struct plimp_toml_node *node;
	int64_t schema;
	int code = budget_required(reader, root, root->key_at, "schema",
				   "schema", "1", &node);

	if (code == PLIM_OK)
		code =
		    plimp_budget_integer(reader, node, 1, INT64_MAX, &schema);
	if (code == PLIM_OK && schema > PLIM_BUDGET_SCHEMA)
		code = plimp_budget_wrong(
		    reader, PLIM_EBUDGET, node->value_at,
		    "schema %" PRId64
		    " is newer than this version (" PLIM_VERSION
		    ") reads, which is %d; update plim",
		    schema, PLIM_BUDGET_SCHEMA);
	return code;
}

int plimp_budget_targets(struct plimp_budget_reader *reader,
			 const struct plimp_toml_node *root)
{
	static const char *const keys[] = {"schema", "target", NULL};
	const struct plimp_toml_node *target = plimp_budget_get(root, "target");
	plim_budget *budget = reader->budget;
	/* A newer file may have keys that are not known here. */
	int code = budget_read_schema(reader, root);

	if (code == PLIM_OK)
		code = plimp_budget_keys(reader, root, keys,
					 "at the top of a budget");
	if (code != PLIM_OK)
		return code;
	if (target == NULL)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, root->key_at,
		    "there is nothing to judge; add a table [target.NAME]");
	code = plimp_budget_table(reader, target, "tables [target.NAME]");
	if (code != PLIM_OK)
		return code;
	if (target->is.list.count == 0)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, target->key_at,
		    "there is nothing to judge; add a table [target.NAME]");
	if (target->is.list.count > PLIM_BUDGET_TARGET_LIMIT)
		return plimp_budget_wrong(reader, PLIM_ELIMIT, target->key_at,
					  "a budget has at most %d targets",
					  PLIM_BUDGET_TARGET_LIMIT);
	budget->targets = plimp_pool_take(
	    &budget->pool, target->is.list.count * sizeof(*budget->targets));
	if (budget->targets == NULL)
		return plimp_budget_no_memory(reader);
	for (target = target->is.list.first; target != NULL;
	     target = target->next) {
		code = budget_read_target(reader, target,
					  &budget->targets[budget->count]);
		if (code != PLIM_OK)
			return code;
		budget->count++;
	}
	assert(budget->count > 0);
	return PLIM_OK;
}
