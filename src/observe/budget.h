/*
 * budget.h - what the files that read, judge and explain budgets share.
 *
 * budget.c has the tables and the public object, budget_read.c reads the
 * targets and budget_limit.c their limits out of a TOML document,
 * budget_judge.c gives verdicts, budget_record.c reads recorded results, and
 * budget_explain.c and budget_draft.c write for people.
 */
#ifndef PLIMP_OBSERVE_BUDGET_H
#define PLIMP_OBSERVE_BUDGET_H

#include <plimsoll/budget.h>
#include <plimsoll/fields.h>

#include "core/fail.h"
#include "core/pool.h"
#include "core/toml.h"

struct plim_budget {
	struct plimp_pool pool;
	plim_budget_target *targets;
	size_t count;
};

/* A budget in the making. */
struct plimp_budget_reader {
	plim_budget *budget;
	const char *file_name;
	plim_budget_place place;
	plim_budget_position *where;
	plim_error *error;
};

/* Fails at a place of the file; returns `code`. */
int plimp_budget_wrong(struct plimp_budget_reader *reader, int code,
		       plim_budget_position at, const char *detail, ...)
    PLIMP_PRINTF(4, 5);
int plimp_budget_no_memory(struct plimp_budget_reader *reader);

/* "FILE:LINE:COLUMN", the end of the file's name if it is long. */
#define PLIMP_BUDGET_PLACE 256
void plimp_budget_place_text(const char *file_name, plim_budget_position at,
			     char text[PLIMP_BUDGET_PLACE]);

/* Every key of the table is one of `keys`, which ends with NULL; else
 * PLIM_ENAME with the nearest. `what` is the table in words. */
int plimp_budget_keys(struct plimp_budget_reader *reader,
		      const struct plimp_toml_node *table,
		      const char *const *keys, const char *what);

/* The node of a key, or NULL. */
const struct plimp_toml_node *
plimp_budget_get(const struct plimp_toml_node *table, const char *key);

/*
 * Values. Each of these takes a node of any kind and fails where it is of the
 * wrong one, or the value is out of range; outputs are then untouched.
 */
int plimp_budget_table(struct plimp_budget_reader *reader,
		       const struct plimp_toml_node *node, const char *what);
/* Not empty and without a NUL; copied into the budget. */
int plimp_budget_text(struct plimp_budget_reader *reader,
		      const struct plimp_toml_node *node, const char **text);
int plimp_budget_quantity(struct plimp_budget_reader *reader,
			  const struct plimp_toml_node *node, int unit,
			  double *value);
int plimp_budget_duration(struct plimp_budget_reader *reader,
			  const struct plimp_toml_node *node, uint64_t *ns);
int plimp_budget_integer(struct plimp_budget_reader *reader,
			 const struct plimp_toml_node *node, int64_t least,
			 int64_t most, int64_t *value);
int plimp_budget_boolean(struct plimp_budget_reader *reader,
			 const struct plimp_toml_node *node, int *value);
/* One of `words`, which ends with NULL: its index. */
int plimp_budget_word(struct plimp_budget_reader *reader,
		      const struct plimp_toml_node *node,
		      const char *const *words, int *index);

/* A key's name for a message: NUL-terminated, cut. */
#define PLIMP_BUDGET_WORD 64
void plimp_budget_word_of(plim_bytes text, char word[PLIMP_BUDGET_WORD]);

/* The limits of a target and what its `when` change: budget_limit.c. */
int plimp_budget_limits(struct plimp_budget_reader *reader,
			const struct plimp_toml_node *table,
			plim_budget_target *target);

/* The targets of a document: budget_read.c. */
int plimp_budget_targets(struct plimp_budget_reader *reader,
			 const struct plimp_toml_node *root);

#endif
