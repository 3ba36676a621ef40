/*
 * filter_program.h - what a compiled filter is inside.
 *
 * The parser (filter_parse.c) writes the expression in postfix order into one
 * array of steps, and the evaluator (filter.c) runs it with a small stack of
 * truths. Postfix keeps both free of pointers, and bounds the stack by the
 * nesting depth: a chain of a thousand `and` needs two places.
 */
#ifndef PLIMP_FILTER_PROGRAM_H
#define PLIMP_FILTER_PROGRAM_H

#include <plimsoll/filter.h>

#define PLIMP_FILTER_DEPTH 64

/* At every level at most one operand of `or` and one of `and` wait while the
 * next is computed; the levels are 0 to PLIMP_FILTER_DEPTH. */
#define PLIMP_FILTER_STACK (2 * (PLIMP_FILTER_DEPTH + 1) + 1)

enum plimp_filter_kind {
	PLIMP_FILTER_KNOWN = 1,	  /* known(subject) */
	PLIMP_FILTER_NUMBER = 2,  /* subject OP limit */
	PLIMP_FILTER_TEXT = 3,	  /* subject = bytes */
	PLIMP_FILTER_PATTERN = 4, /* subject ~ pattern */
	PLIMP_FILTER_NOT = 5,
	PLIMP_FILTER_AND = 6,
	PLIMP_FILTER_OR = 7,
	PLIMP_FILTER_BELOW = 8,	    /* cgroup:path, without its outer slashes */
	PLIMP_FILTER_UNIT = 9,	    /* unit:pattern */
	PLIMP_FILTER_CONTAINER = 10 /* container:id */
};

enum plimp_filter_operator {
	PLIMP_FILTER_EQUAL = 1,
	PLIMP_FILTER_UNEQUAL = 2,
	PLIMP_FILTER_LESS = 3,
	PLIMP_FILTER_LESS_EQUAL = 4,
	PLIMP_FILTER_GREATER = 5,
	PLIMP_FILTER_GREATER_EQUAL = 6,
	PLIMP_FILTER_LIKE = 7,
	PLIMP_FILTER_UNLIKE = 8
};

enum plimp_filter_source {
	PLIMP_FILTER_FIELD = 1,	     /* the field itself */
	PLIMP_FILTER_RATE = 2,	     /* the field per second */
	PLIMP_FILTER_CPU_PERCENT = 3 /* `field` is PLIM_FIELD_CPU */
};

/*
 * One step. The limit of a number is kept twice: as a double for rates, and
 * for counts as a whole number and whether something remains above it, since
 * a double would make 2^53 + 1 equal to 2^53. A text or pattern lies in the
 * filter's pool; in a pattern `\` takes the next byte literally.
 */
struct plimp_filter_step {
	uint8_t kind;
	uint8_t operator;
	uint8_t source;
	uint8_t remainder;
	uint8_t is_signed; /* compared as a double */
	int32_t field;
	uint32_t text_start;
	uint32_t text_size;
	uint64_t whole;
	double limit;
};

struct plim_filter {
	plim_allocator allocator;
	plim_field_set fields;
	int needs_rates;
	size_t count;
	size_t capacity;
	struct plimp_filter_step *steps;
	size_t pool_used;
	size_t pool_size;
	char pool[]; /* twice as long as the source: a text may grow from
		      * "unit:a" to "a.service" */
};

/* Finds a user by name: 0 and `*uid`; ENOENT's part is played by -1, nobody
 * has the name; else the system's error number, or INT_MAX where there is
 * nobody to ask. */
typedef int plimp_find_user_fn(const char *name, uint32_t *uid);

/* plim_filter_new() with what it needs of the system (host/host.h). */
int plimp_filter_compile(plim_filter **filter, const char *text,
			 const plim_allocator *allocator,
			 plimp_find_user_fn *find_user, plim_error *error);

/* 1 if the bytes match the pattern: `*`, `?`, and `\` before a plain byte. */
int plimp_filter_glob(plim_bytes pattern, plim_bytes text);

/* Judges a selector. */
int plimp_filter_select(const plim_filter *filter,
			const struct plimp_filter_step *step,
			const plim_process *process);

/* Longer words are no name and no quantity; messages cut them. */
#define PLIMP_FILTER_WORD 64

/* A sentence about a name. */
#define PLIMP_FILTER_ADVICE 128

/* Sets source and field of a step by its name, of less than PLIMP_FILTER_WORD
 * bytes; 0 if it is none, and the step as it was. */
int plimp_filter_resolve(const char *name, struct plimp_filter_step *step);

/* What to say of a name that is none. */
void plimp_filter_advise(const char *name, char advice[PLIMP_FILTER_ADVICE]);

/* Fills an empty filter from the text of `size` bytes. */
int plimp_filter_parse(plim_filter *filter, const char *text, size_t size,
		       plimp_find_user_fn *find_user, plim_error *error);

/*
 * Selectors (filter_select.c). The kind of step that a word before a colon
 * makes, 0 if it is none; UNIT, CONTAINER, BELOW, or NUMBER for a user. Then
 * what its text, at the end of the pool, makes of the step: PLIM_OK, or the
 * error that the text deserves, with a sentence for people.
 */
uint8_t plimp_filter_selector(const char *word, int *field);
int plimp_filter_settle(plim_filter *filter, struct plimp_filter_step *step,
			plimp_find_user_fn *find_user,
			char advice[PLIMP_FILTER_ADVICE], int *system);

#endif
