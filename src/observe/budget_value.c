/*
 * budget_value.c - the values of a budget file, one function for each kind.
 *
 * Each takes a node of the document and says, where it is not what it should
 * be, what it should be and how that is written. Nothing is converted: a
 * number where a quantity belongs is a mistake, for it has no unit.
 */
#include "observe/budget.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void plimp_budget_word_of(plim_bytes text, char word[PLIMP_BUDGET_WORD])
{
	size_t size = text.size;

	if (size >= PLIMP_BUDGET_WORD)
		size = PLIMP_BUDGET_WORD - 1;
	if (size > 0)
		memcpy(word, text.data, size);
	word[size] = '\0';
}

/* "a", "b" or "c": for messages. */
static void budget_list(const char *const *words, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; words[i] != NULL && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i == 0			? ""
					 : words[i + 1] == NULL ? " or "
								: ", ",
					 words[i]);
}

static int budget_unknown(struct plimp_budget_reader *reader,
			  plim_budget_position at, const char *word,
			  const char *const *words, const char *what)
{
	const char *nearest = plim_nearest_name(word, words);
	char list[192];

	if (nearest != NULL)
		return plimp_budget_wrong(reader, PLIM_ENAME, at,
					  "%s is not known %s; did you mean "
					  "%s?",
					  word, what, nearest);
	budget_list(words, list, sizeof(list));
	return plimp_budget_wrong(reader, PLIM_ENAME, at,
				  "%s is not known %s; it takes %s", word, what,
				  list);
}

int plimp_budget_keys(struct plimp_budget_reader *reader,
		      const struct plimp_toml_node *table,
		      const char *const *keys, const char *what)
{
	char word[PLIMP_BUDGET_WORD];

	assert(table->kind == PLIMP_TOML_TABLE);
	for (const struct plimp_toml_node *node = table->is.list.first;
	     node != NULL; node = node->next) {
		size_t i = 0;

		while (keys[i] != NULL &&
		       (strlen(keys[i]) != node->key.size ||
			memcmp(keys[i], node->key.data, node->key.size) != 0))
			i++;
		if (keys[i] != NULL)
			continue;
		plimp_budget_word_of(node->key, word);
		return budget_unknown(reader, node->key_at, word, keys, what);
	}
	return PLIM_OK;
}

const struct plimp_toml_node *
plimp_budget_get(const struct plimp_toml_node *table, const char *key)
{
	plim_bytes bytes = {key, strlen(key)};

	return plimp_toml_find(table, bytes);
}

static int budget_kind(struct plimp_budget_reader *reader,
		       const struct plimp_toml_node *node, int kind,
		       const char *expected)
{
	char word[PLIMP_BUDGET_WORD];

	if (node->kind == kind)
		return PLIM_OK;
	plimp_budget_word_of(node->key, word);
	return plimp_budget_wrong(reader, PLIM_ESYNTAX, node->value_at,
				  "%s%sexpected %s, not %s", word,
				  word[0] != '\0' ? ": " : "", expected,
				  plimp_toml_kind_word(node->kind));
}

int plimp_budget_table(struct plimp_budget_reader *reader,
		       const struct plimp_toml_node *node, const char *what)
{
	return budget_kind(reader, node, PLIMP_TOML_TABLE, what);
}

int plimp_budget_text(struct plimp_budget_reader *reader,
		      const struct plimp_toml_node *node, const char **text)
{
	int code = budget_kind(reader, node, PLIMP_TOML_STRING,
			       "a text in \"quotes\"");
	plim_bytes string = node->is.string;
	char *copy;

	if (code != PLIM_OK)
		return code;
	if (string.size == 0)
		return plimp_budget_wrong(reader, PLIM_ESYNTAX, node->value_at,
					  "the text is empty");
	if (memchr(string.data, '\0', string.size) != NULL)
		return plimp_budget_wrong(reader, PLIM_ESYNTAX, node->value_at,
					  "the text has a NUL in it");
	copy = plimp_pool_copy(&reader->budget->pool, string);
	if (copy == NULL)
		return plimp_budget_no_memory(reader);
	*text = copy;
	return PLIM_OK;
}

/* How a quantity of the unit is written, for messages. */
static const char *budget_example(int unit)
{
	switch (unit) {
	case PLIM_UNIT_BYTES:
		return "\"32 MiB\"";
	case PLIM_UNIT_NS:
		return "\"60s\"";
	case PLIM_UNIT_PERCENT:
		return "\"0.5 %\"";
	case PLIM_UNIT_PER_SECOND:
		return "\"100/s\"";
	case PLIM_UNIT_BYTES_PER_SECOND:
		return "\"4 KiB/s\"";
	default:
		return "\"8\"";
	}
}

/* A string that can hold a quantity, terminated: longer than any number. */
#define BUDGET_QUANTITY 128

static int budget_quantity_text(struct plimp_budget_reader *reader,
				const struct plimp_toml_node *node, int unit,
				char text[BUDGET_QUANTITY])
{
	char expected[64];
	plim_bytes string = node->is.string;
	int code;

	snprintf(expected, sizeof(expected), "a quantity, as in %s",
		 budget_example(unit));
	code = budget_kind(reader, node, PLIMP_TOML_STRING, expected);
	if (code != PLIM_OK)
		return code;
	if (string.size >= BUDGET_QUANTITY ||
	    memchr(string.data, '\0', string.size) != NULL)
		return plimp_budget_wrong(reader, PLIM_ESYNTAX, node->value_at,
					  "expected %s", expected);
	if (string.size > 0)
		memcpy(text, string.data, string.size);
	text[string.size] = '\0';
	return PLIM_OK;
}

static int budget_bad_quantity(struct plimp_budget_reader *reader,
			       const struct plimp_toml_node *node,
			       const char *text, int unit, const char *why)
{
	return plimp_budget_wrong(
	    reader, PLIM_ESYNTAX, node->value_at,
	    "\"%.40s\" is no quantity here: %s; write it as in %s", text, why,
	    budget_example(unit));
}

/* The library's reader lets the unit of bytes and rates be left out; a file
 * that others will read does not, but for a plain 0. */
static int budget_lacks_unit(const char *text, int unit)
{
	return unit != PLIM_UNIT_NONE &&
	       text[strspn(text, "0123456789.")] == '\0' &&
	       text[strspn(text, "0.")] != '\0';
}

int plimp_budget_quantity(struct plimp_budget_reader *reader,
			  const struct plimp_toml_node *node, int unit,
			  double *value)
{
	char text[BUDGET_QUANTITY];
	plim_error inner = {0};
	int code;

	/* What has no unit may be a plain number. */
	if (unit == PLIM_UNIT_NONE && node->kind == PLIMP_TOML_INTEGER &&
	    node->is.integer >= 0) {
		*value = (double)node->is.integer;
		return PLIM_OK;
	}
	code = budget_quantity_text(reader, node, unit, text);
	if (code != PLIM_OK)
		return code;
	if (budget_lacks_unit(text, unit))
		return budget_bad_quantity(reader, node, text, unit,
					   "it has no unit");
	if (plim_quantity_parse(text, unit, value, &inner) != PLIM_OK)
		return budget_bad_quantity(reader, node, text, unit,
					   inner.detail);
	return PLIM_OK;
}

int plimp_budget_duration(struct plimp_budget_reader *reader,
			  const struct plimp_toml_node *node, uint64_t *ns)
{
	char text[BUDGET_QUANTITY];
	plim_error inner = {0};
	uint64_t value = 0;
	int code = budget_quantity_text(reader, node, PLIM_UNIT_NS, text);

	if (code != PLIM_OK)
		return code;
	if (plim_quantity_parse_whole(text, PLIM_UNIT_NS, &value, &inner) !=
	    PLIM_OK)
		return budget_bad_quantity(reader, node, text, PLIM_UNIT_NS,
					   inner.detail);
	if (value == 0)
		return budget_bad_quantity(reader, node, text, PLIM_UNIT_NS,
					   "it is no time at all");
	*ns = value;
	return PLIM_OK;
}

int plimp_budget_integer(struct plimp_budget_reader *reader,
			 const struct plimp_toml_node *node, int64_t least,
			 int64_t most, int64_t *value)
{
	char word[PLIMP_BUDGET_WORD];
	int code = budget_kind(reader, node, PLIMP_TOML_INTEGER, "an integer");
	int is_low;

	if (code != PLIM_OK)
		return code;
	is_low = node->is.integer < least;
	if (!is_low && node->is.integer <= most) {
		*value = node->is.integer;
		return PLIM_OK;
	}
	plimp_budget_word_of(node->key, word);
	return plimp_budget_wrong(reader, PLIM_EBUDGET, node->value_at,
				  "%s: %" PRId64 " is %s %" PRId64, word,
				  node->is.integer, is_low ? "below" : "above",
				  is_low ? least : most);
}

int plimp_budget_boolean(struct plimp_budget_reader *reader,
			 const struct plimp_toml_node *node, int *value)
{
	int code = budget_kind(reader, node, PLIMP_TOML_BOOLEAN,
			       "true or false, without quotes");

	if (code == PLIM_OK)
		*value = node->is.boolean;
	return code;
}

int plimp_budget_word(struct plimp_budget_reader *reader,
		      const struct plimp_toml_node *node,
		      const char *const *words, int *index)
{
	char list[96], word[PLIMP_BUDGET_WORD], key[PLIMP_BUDGET_WORD + 4];
	int code;

	budget_list(words, list, sizeof(list));
	code = budget_kind(reader, node, PLIMP_TOML_STRING, list);
	if (code != PLIM_OK)
		return code;
	for (int i = 0; words[i] != NULL; i++) {
		if (strlen(words[i]) == node->is.string.size &&
		    memcmp(words[i], node->is.string.data,
			   node->is.string.size) == 0) {
			*index = i;
			return PLIM_OK;
		}
	}
	plimp_budget_word_of(node->key, word);
	/* What stands in a list has no key. */
	snprintf(key, sizeof(key), "%s%s", word[0] != '\0' ? "as " : "here",
		 word);
	plimp_budget_word_of(node->is.string, word);
	return budget_unknown(reader, node->value_at, word, words, key);
}
