/*
 * budget_limit.c - the limits of a target, and what its `when` change.
 *
 * A limit is read key by key into a record that has the defaults, and then
 * checked as a whole. An entry of `when` is read over a copy of the limit
 * that stands outside: a key that it has replaces, what it does not have
 * stays; and the outcome is checked again. All entries are read and checked
 * on every machine, so that a mistake is found wherever the file is read;
 * only the one that matches this machine is applied.
 */
#include "observe/budget.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const budget_limit_keys[] = {
    "max",    "min", "versus", "rise",	"also_above",	 "on_unavailable",
    "method", "why", "owner",  "until", "slack_warning", NULL};

/* A limit in the making: what was given, apart from the values. */
struct budget_limit {
	plim_budget_limit limit;
	int has_rise;
	int has_also_above;
};

/* The limits of a target, by figure; has == 0 where there is none. */
struct budget_limits {
	struct budget_limit of[PLIM_BUDGET_FIGURE_LAST + 1];
};

static int budget_read_bound(struct plimp_budget_reader *reader,
			     const struct plimp_toml_node *table,
			     const char *key, unsigned bit, int unit,
			     double *value, plim_budget_limit *limit)
{
	const struct plimp_toml_node *node = plimp_budget_get(table, key);

	if (node == NULL)
		return PLIM_OK;
	limit->has |= bit;
	return plimp_budget_quantity(reader, node, unit, value);
}

static int budget_read_versus(struct plimp_budget_reader *reader,
			      const struct plimp_toml_node *table, int unit,
			      struct budget_limit *made)
{
	const struct plimp_toml_node *node = plimp_budget_get(table, "versus");
	int code = PLIM_OK;

	if (node != NULL) {
		made->limit.has |= PLIM_LIMIT_VERSUS;
		code = plimp_budget_text(reader, node, &made->limit.versus);
	}
	node = plimp_budget_get(table, "rise");
	if (code == PLIM_OK && node != NULL) {
		made->has_rise = 1;
		code = plimp_budget_quantity(reader, node, PLIM_UNIT_PERCENT,
					     &made->limit.rise_percent);
	}
	node = plimp_budget_get(table, "also_above");
	if (code == PLIM_OK && node != NULL) {
		made->has_also_above = 1;
		code = plimp_budget_quantity(reader, node, unit,
					     &made->limit.also_above);
	}
	return code;
}

/* on_unavailable = "fail", or { skip = "why" }. */
static int budget_read_skip(struct plimp_budget_reader *reader,
			    const struct plimp_toml_node *node,
			    plim_budget_limit *limit)
{
	static const char *const words[] = {"fail", NULL};
	static const char *const keys[] = {"skip", NULL};
	static const char form[] = "\"fail\" or { skip = \"the reason\" }";
	plim_bytes string = node->is.string;
	int code, index;

	if (node->kind == PLIMP_TOML_STRING) {
		if (string.size == 4 && memcmp(string.data, "skip", 4) == 0)
			return plimp_budget_wrong(
			    reader, PLIM_EBUDGET, node->value_at,
			    "a skip needs its reason; write { skip = \"the "
			    "reason\" }");
		code = plimp_budget_word(reader, node, words, &index);
		if (code == PLIM_OK)
			limit->skip = NULL;
		return code;
	}
	code = plimp_budget_table(reader, node, form);
	if (code == PLIM_OK)
		code =
		    plimp_budget_keys(reader, node, keys, "in on_unavailable");
	if (code != PLIM_OK)
		return code;
	if (node->is.list.count == 0)
		return plimp_budget_wrong(reader, PLIM_EBUDGET, node->value_at,
					  "on_unavailable: expected %s", form);
	return plimp_budget_text(reader, node->is.list.first, &limit->skip);
}

static int budget_find_method(struct plimp_budget_reader *reader,
			      const struct plimp_toml_node *node, int *method)
{
	const char *words[1 + PLIMP_BUDGET_WORD * 4] = {NULL};
	size_t count = 0;
	int code, index = 0;

	/* Row 0 is "no source". */
	for (int id = 1; plim_method_word(id) != NULL; id++) {
		assert(count + 1 < sizeof(words) / sizeof(words[0]));
		if (count + 1 < sizeof(words) / sizeof(words[0]))
			words[count++] = plim_method_word(id);
	}
	code = plimp_budget_word(reader, node, words, &index);
	if (code == PLIM_OK)
		*method = index + 1;
	return code;
}

static int budget_read_methods(struct plimp_budget_reader *reader,
			       const struct plimp_toml_node *node,
			       plim_budget_limit *limit)
{
	int *methods;
	size_t count = 0;

	if (node->kind != PLIMP_TOML_ARRAY)
		return plimp_budget_wrong(
		    reader, PLIM_ESYNTAX, node->value_at,
		    "method: expected a list, as in [\"getrusage\", "
		    "\"wait4\"], not %s",
		    plimp_toml_kind_word(node->kind));
	if (node->is.list.count == 0)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, node->value_at,
		    "method: the list is empty, so no source would do; leave "
		    "it out for any");
	methods = plimp_pool_take(&reader->budget->pool,
				  node->is.list.count * sizeof(*methods));
	if (methods == NULL)
		return plimp_budget_no_memory(reader);
	for (node = node->is.list.first; node != NULL; node = node->next) {
		int code = budget_find_method(reader, node, &methods[count]);

		if (code != PLIM_OK)
			return code;
		count++;
	}
	limit->methods = methods;
	limit->method_count = count;
	return PLIM_OK;
}

/* A local date. Whether it has passed is asked once the owner is known. */
static int budget_read_until(struct plimp_budget_reader *reader,
			     const struct plimp_toml_node *node,
			     plim_budget_limit *limit)
{
	const struct plimp_toml_time *time = &node->is.time;

	if (node->kind != PLIMP_TOML_LOCAL_DATE)
		return plimp_budget_wrong(
		    reader, PLIM_ESYNTAX, node->value_at,
		    "until: expected a date without quotes, as in 2027-01-31, "
		    "not %s",
		    plimp_toml_kind_word(node->kind));
	limit->until = time->year * 10000 + time->month * 100 + time->day;
	if (limit->until == 0)
		limit->until = 1;
	if (reader->place.today == 0 || limit->until >= reader->place.today)
		return PLIM_OK;
	return plimp_budget_wrong(
	    reader, PLIM_EBUDGET, node->value_at,
	    "the limit was good until %04d-%02d-%02d; ask its owner, %.100s, "
	    "then renew or remove it",
	    time->year, time->month, time->day,
	    limit->owner != NULL ? limit->owner : "who is not named");
}

static int budget_read_slack(struct plimp_budget_reader *reader,
			     const struct plimp_toml_node *node,
			     plim_budget_limit *limit)
{
	double factor;

	if (node->kind == PLIMP_TOML_INTEGER)
		factor = (double)node->is.integer;
	else if (node->kind == PLIMP_TOML_FLOAT)
		factor = node->is.real;
	else
		return plimp_budget_wrong(
		    reader, PLIM_ESYNTAX, node->value_at,
		    "slack_warning: expected a factor, as in 3 or 1.5, not %s",
		    plimp_toml_kind_word(node->kind));
	if (!isfinite(factor) || factor < 1)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, node->value_at,
		    "slack_warning is a factor of at least 1");
	limit->slack_warning = factor;
	return PLIM_OK;
}

static int budget_read_rest(struct plimp_budget_reader *reader,
			    const struct plimp_toml_node *table,
			    plim_budget_limit *limit)
{
	const struct plimp_toml_node *node =
	    plimp_budget_get(table, "on_unavailable");
	int code = PLIM_OK;

	if (node != NULL)
		code = budget_read_skip(reader, node, limit);
	node = plimp_budget_get(table, "method");
	if (code == PLIM_OK && node != NULL)
		code = budget_read_methods(reader, node, limit);
	node = plimp_budget_get(table, "why");
	if (code == PLIM_OK && node != NULL)
		code = plimp_budget_text(reader, node, &limit->why);
	node = plimp_budget_get(table, "owner");
	if (code == PLIM_OK && node != NULL)
		code = plimp_budget_text(reader, node, &limit->owner);
	node = plimp_budget_get(table, "until");
	if (code == PLIM_OK && node != NULL)
		code = budget_read_until(reader, node, limit);
	node = plimp_budget_get(table, "slack_warning");
	if (code == PLIM_OK && node != NULL)
		code = budget_read_slack(reader, node, limit);
	return code;
}

static int budget_check_limit(struct plimp_budget_reader *reader,
			      const struct budget_limit *made,
			      plim_budget_position at)
{
	const plim_budget_limit *limit = &made->limit;
	const char *word = plim_budget_figure_get(limit->figure)->word;
	int versus = (limit->has & PLIM_LIMIT_VERSUS) != 0;

	if (limit->has == 0)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, at,
		    "the limit of %s is empty; give it max, min or versus",
		    word);
	if (versus && !made->has_rise)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, at,
		    "versus without rise: by how much may %s rise? add rise = "
		    "\"10 %%\"",
		    word);
	if (!versus && (made->has_rise || made->has_also_above))
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, at,
		    "%s without versus: rises above what? add versus = "
		    "\"baseline.txt\"",
		    made->has_rise ? "rise" : "also_above");
	if ((limit->has & PLIM_LIMIT_MAX) && (limit->has & PLIM_LIMIT_MIN) &&
	    limit->max < limit->min)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, at,
		    "the max of %s is below its min, so nothing could pass",
		    word);
	return PLIM_OK;
}

/* Reads the table of one figure over what the limit has already. */
static int budget_read_limit(struct plimp_budget_reader *reader,
			     const struct plimp_toml_node *table, int figure,
			     struct budget_limit *made)
{
	int unit = plim_budget_figure_get(figure)->unit;
	plim_budget_limit *limit = &made->limit;
	int code =
	    plimp_budget_table(reader, table, "a table, as in { max = ... }");

	if (limit->figure == 0) {
		limit->figure = figure;
		limit->slack_warning = 3;
	}
	if (code == PLIM_OK)
		code = plimp_budget_keys(reader, table, budget_limit_keys,
					 "in a limit");
	if (code == PLIM_OK)
		code = budget_read_bound(reader, table, "max", PLIM_LIMIT_MAX,
					 unit, &limit->max, limit);
	if (code == PLIM_OK)
		code = budget_read_bound(reader, table, "min", PLIM_LIMIT_MIN,
					 unit, &limit->min, limit);
	if (code == PLIM_OK)
		code = budget_read_versus(reader, table, unit, made);
	if (code == PLIM_OK)
		code = budget_read_rest(reader, table, limit);
	if (code == PLIM_OK)
		code = budget_check_limit(reader, made, table->key_at);
	return code;
}

static int budget_figure_of(struct plimp_budget_reader *reader,
			    const struct plimp_toml_node *node, int *figure)
{
	const plim_budget_figure *row = plim_budget_figure_find(node->key);
	const char *words[PLIM_BUDGET_FIGURE_LAST + 1] = {NULL};
	const char *nearest;
	char word[PLIMP_BUDGET_WORD];

	if (row != NULL) {
		*figure = row->id;
		return PLIM_OK;
	}
	for (int id = 1; id <= PLIM_BUDGET_FIGURE_LAST; id++)
		words[id - 1] = plim_budget_figure_get(id)->word;
	plimp_budget_word_of(node->key, word);
	nearest = plim_nearest_name(word, words);
	if (nearest != NULL)
		return plimp_budget_wrong(reader, PLIM_ENAME, node->key_at,
					  "%s is no figure; did you mean %s?",
					  word, nearest);
	return plimp_budget_wrong(reader, PLIM_ENAME, node->key_at,
				  "%s is no figure; plim-budget(5) lists them",
				  word);
}

/*
 * Reads a table `limit` over `limits`; `line` is that of the `when` it stands
 * in, or 0.
 */
static int budget_read_limits(struct plimp_budget_reader *reader,
			      const struct plimp_toml_node *table,
			      uint32_t line, struct budget_limits *limits)
{
	int code = plimp_budget_table(reader, table,
				      "tables, as in limit.wakeups.max");

	if (code != PLIM_OK)
		return code;
	if (table->is.list.count == 0)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, table->key_at,
		    "there is no limit in it; add limit.FIGURE.max = \"...\"");
	for (table = table->is.list.first; table != NULL; table = table->next) {
		int figure = 0;

		code = budget_figure_of(reader, table, &figure);
		if (code == PLIM_OK)
			code = budget_read_limit(reader, table, figure,
						 &limits->of[figure]);
		if (code != PLIM_OK)
			return code;
		limits->of[figure].limit.at = table->key_at;
		limits->of[figure].limit.overridden_by = line;
	}
	return PLIM_OK;
}

/* The conditions of a `when`; a text that is NULL, -1 and 0 are not given. */
struct budget_when {
	const char *os, *arch, *kernel;
	int is_virtual;
	int64_t cores;
};

static int budget_read_when(struct plimp_budget_reader *reader,
			    const struct plimp_toml_node *table,
			    struct budget_when *when)
{
	static const char *const keys[] = {
	    "os", "arch", "kernel", "virtual", "cores", "limit", NULL};
	const struct plimp_toml_node *node;
	int code = plimp_budget_table(reader, table, "a table [[...when]]");

	if (code == PLIM_OK)
		code = plimp_budget_keys(reader, table, keys, "in when");
	if (code != PLIM_OK)
		return code;
	node = plimp_budget_get(table, "os");
	if (node != NULL)
		code = plimp_budget_text(reader, node, &when->os);
	node = plimp_budget_get(table, "arch");
	if (code == PLIM_OK && node != NULL)
		code = plimp_budget_text(reader, node, &when->arch);
	node = plimp_budget_get(table, "kernel");
	if (code == PLIM_OK && node != NULL)
		code = plimp_budget_text(reader, node, &when->kernel);
	node = plimp_budget_get(table, "virtual");
	if (code == PLIM_OK && node != NULL)
		code = plimp_budget_boolean(reader, node, &when->is_virtual);
	node = plimp_budget_get(table, "cores");
	if (code == PLIM_OK && node != NULL)
		code = plimp_budget_integer(reader, node, 1, UINT32_MAX,
					    &when->cores);
	if (code == PLIM_OK && when->os == NULL && when->arch == NULL &&
	    when->kernel == NULL && when->is_virtual < 0 && when->cores == 0)
		code = plimp_budget_wrong(
		    reader, PLIM_EBUDGET, table->key_at,
		    "when what? give it os, arch, kernel, virtual or cores");
	return code;
}

/* Leading components of the release, whole: 6.18 of 6.18.5, not of 6.180. */
static int budget_is_kernel(const char *release, const char *wanted)
{
	size_t size = strlen(wanted);

	if (release == NULL || strncmp(release, wanted, size) != 0)
		return 0;
	return release[size] == '\0' || strchr(".-+_~", release[size]) != NULL;
}

static int budget_is_text(const char *fact, const char *wanted)
{
	return wanted == NULL || (fact != NULL && strcmp(fact, wanted) == 0);
}

static int budget_matches(const struct budget_when *when,
			  const plim_budget_place *place)
{
	return budget_is_text(place->os, when->os) &&
	       budget_is_text(place->arch, when->arch) &&
	       (when->kernel == NULL ||
		budget_is_kernel(place->kernel, when->kernel)) &&
	       (when->is_virtual < 0 ||
		when->is_virtual == place->is_virtual) &&
	       (when->cores == 0 || when->cores == (int64_t)place->cores);
}

static int budget_same_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a, b) == 0;
}

static int budget_same_when(const struct budget_when *a,
			    const struct budget_when *b)
{
	return budget_same_text(a->os, b->os) &&
	       budget_same_text(a->arch, b->arch) &&
	       budget_same_text(a->kernel, b->kernel) &&
	       a->is_virtual == b->is_virtual && a->cores == b->cores;
}

/* A `when` has conditions of its own, and is checked as if it matched. */
static int budget_try_when(struct plimp_budget_reader *reader,
			   const struct plimp_toml_node *table,
			   struct budget_when *when,
			   const struct budget_limits *base,
			   struct budget_limits *made)
{
	const struct plimp_toml_node *limit;
	int code;

	*when = (struct budget_when){.is_virtual = -1};
	code = budget_read_when(reader, table, when);
	if (code != PLIM_OK)
		return code;
	limit = plimp_budget_get(table, "limit");
	if (limit == NULL)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, table->key_at,
		    "this when changes nothing; add limit.FIGURE.max = "
		    "\"...\"");
	*made = *base;
	return budget_read_limits(reader, limit, table->key_at.line, made);
}

static int budget_check_pair(struct plimp_budget_reader *reader,
			     const struct plimp_toml_node *table, int matches,
			     const struct budget_when *conditions, size_t count,
			     const plim_budget_target *target)
{
	for (size_t i = 0; i < count; i++)
		if (budget_same_when(&conditions[i], &conditions[count]))
			return plimp_budget_wrong(
			    reader, PLIM_EBUDGET, table->key_at,
			    "an earlier when has the same conditions; join "
			    "the two");
	if (matches && target->when_line != 0)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, table->key_at,
		    "this when and that of line %lu both match this machine; "
		    "make them exclude each other",
		    (unsigned long)target->when_line);
	return PLIM_OK;
}

/* Entries of `when` are compared pair by pair; nobody needs more. */
#define BUDGET_WHENS 64

static int budget_read_whens(struct plimp_budget_reader *reader,
			     const struct plimp_toml_node *node,
			     plim_budget_target *target,
			     struct budget_limits *limits)
{
	struct budget_limits base = *limits;
	struct budget_limits made;
	struct budget_when conditions[BUDGET_WHENS];
	size_t count = 0;

	if (node->kind != PLIMP_TOML_ARRAY)
		return plimp_budget_wrong(
		    reader, PLIM_ESYNTAX, node->key_at,
		    "when: there may be several; write [[target.NAME.when]] "
		    "with two brackets");
	if (node->is.list.count > BUDGET_WHENS)
		return plimp_budget_wrong(reader, PLIM_ELIMIT, node->key_at,
					  "a target has at most %d when",
					  BUDGET_WHENS);
	for (node = node->is.list.first; node != NULL; node = node->next) {
		int matches;
		int code = budget_try_when(reader, node, &conditions[count],
					   &base, &made);

		if (code != PLIM_OK)
			return code;
		matches = budget_matches(&conditions[count], &reader->place);
		code = budget_check_pair(reader, node, matches, conditions,
					 count, target);
		if (code != PLIM_OK)
			return code;
		count++;
		if (!matches)
			continue;
		*limits = made;
		target->when_line = node->key_at.line;
	}
	target->when_count = (uint32_t)count;
	return PLIM_OK;
}

/* The limits in the order of the table of figures. */
static int budget_keep_limits(struct plimp_budget_reader *reader,
			      const struct budget_limits *limits,
			      plim_budget_target *target)
{
	plim_budget_limit *kept;
	size_t count = 0;

	for (int id = 1; id <= PLIM_BUDGET_FIGURE_LAST; id++)
		count += limits->of[id].limit.has != 0;
	assert(count > 0);
	kept = plimp_pool_take(&reader->budget->pool, count * sizeof(*kept));
	if (kept == NULL)
		return plimp_budget_no_memory(reader);
	target->limits = kept;
	target->limit_count = count;
	for (int id = 1; id <= PLIM_BUDGET_FIGURE_LAST; id++)
		if (limits->of[id].limit.has != 0)
			*kept++ = limits->of[id].limit;
	return PLIM_OK;
}

int plimp_budget_limits(struct plimp_budget_reader *reader,
			const struct plimp_toml_node *table,
			plim_budget_target *target)
{
	const struct plimp_toml_node *limit = plimp_budget_get(table, "limit");
	const struct plimp_toml_node *when = plimp_budget_get(table, "when");
	struct budget_limits limits = {0};
	int code;

	if (limit == NULL)
		return plimp_budget_wrong(
		    reader, PLIM_EBUDGET, target->at,
		    "target %.60s has no limit%s; add [target.%.60s.limit."
		    "FIGURE]",
		    target->name, when != NULL ? " outside of when" : "",
		    target->name);
	code = budget_read_limits(reader, limit, 0, &limits);
	if (code == PLIM_OK && when != NULL)
		code = budget_read_whens(reader, when, target, &limits);
	if (code == PLIM_OK)
		code = budget_keep_limits(reader, &limits, target);
	return code;
}
