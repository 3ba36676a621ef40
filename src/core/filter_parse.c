/*
 * filter_parse.c - from the text of a filter to its steps (recursive descent).
 *
 * One cursor walks over the text; every function below reads one rule of the
 * grammar in plimsoll/filter.h and leaves the cursor after it. The first
 * failure fills the error record with the byte where reading stopped and what
 * was expected there, and is passed up unchanged. Nesting is counted, so the
 * text cannot exhaust the C stack, and every loop moves the cursor.
 */
#include "core/filter_program.h"
#include "core/hex.h"
#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

struct filter_cursor {
	plim_filter *filter;
	const char *text;
	size_t size;
	size_t at;
	int depth;
	plimp_find_user_fn *find_user;
	plim_error *error;
};

static int filter_parse_or(struct filter_cursor *cursor);

static int filter_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int filter_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int filter_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* What ends a bare word: blanks, and all that has a meaning of its own. */
static int filter_is_bare(char c)
{
	return !filter_is_blank(c) && c != '\0' &&
	       strchr("()\"\\=!<>~&|", c) == NULL;
}

static char filter_peek(const struct filter_cursor *cursor, size_t ahead)
{
	size_t at = cursor->at + ahead;

	return at < cursor->size ? cursor->text[at] : '\0';
}

static void filter_skip_blanks(struct filter_cursor *cursor)
{
	while (filter_is_blank(filter_peek(cursor, 0)))
		cursor->at++;
}

/* The word between two places, terminated and cut, for look-ups and messages.
 */
static size_t filter_copy(const struct filter_cursor *cursor, size_t start,
			  size_t end, char word[PLIMP_FILTER_WORD])
{
	size_t size = end - start;

	assert(start <= end && end <= cursor->size);
	if (size >= PLIMP_FILTER_WORD)
		size = PLIMP_FILTER_WORD - 1;
	memcpy(word, cursor->text + start, size);
	word[size] = '\0';
	return end - start;
}

static int filter_expected(const struct filter_cursor *cursor, const char *what)
{
	char word[PLIMP_FILTER_WORD];
	size_t end = cursor->at;

	while (end < cursor->size && !filter_is_blank(cursor->text[end]))
		end++;
	filter_copy(cursor, cursor->at, end, word);
	return plimp_fail_at(cursor->error, PLIM_ESYNTAX, "filter", word,
			     cursor->at, "expected %s", what);
}

static int filter_push(struct filter_cursor *cursor,
		       const struct plimp_filter_step *step)
{
	plim_filter *filter = cursor->filter;
	void *steps = filter->steps;
	int code = plimp_reserve(&filter->allocator, &steps, &filter->capacity,
				 filter->count + 1, 8, sizeof(*step));

	if (code != PLIM_OK)
		return plimp_fail(cursor->error, code, 0, "filter", "", NULL);
	filter->steps = steps;
	filter->steps[filter->count++] = *step;
	return PLIM_OK;
}

static int filter_push_kind(struct filter_cursor *cursor, uint8_t kind)
{
	struct plimp_filter_step step = {0};

	step.kind = kind;
	return filter_push(cursor, &step);
}

/* Takes the word if it stands here and no letter or digit follows. */
static int filter_take_word(struct filter_cursor *cursor, const char *word)
{
	size_t size = strlen(word);
	char next;

	filter_skip_blanks(cursor);
	if (cursor->size - cursor->at < size ||
	    memcmp(cursor->text + cursor->at, word, size) != 0)
		return 0;
	next = filter_peek(cursor, size);
	if (filter_is_letter(word[0]) &&
	    (filter_is_letter(next) || filter_is_digit(next)))
		return 0;
	cursor->at += size;
	return 1;
}

/* Reads NAME into the step and notes what it needs. */
static int filter_parse_name(struct filter_cursor *cursor,
			     struct plimp_filter_step *step)
{
	char word[PLIMP_FILTER_WORD];
	char advice[PLIMP_FILTER_ADVICE];
	size_t start;

	filter_skip_blanks(cursor);
	start = cursor->at;
	if (!filter_is_letter(filter_peek(cursor, 0)))
		return filter_expected(cursor, "the name of a field");
	while (filter_is_letter(filter_peek(cursor, 0)) ||
	       filter_is_digit(filter_peek(cursor, 0)))
		cursor->at++;
	if (filter_copy(cursor, start, cursor->at, word) >= PLIMP_FILTER_WORD ||
	    !plimp_filter_resolve(word, step)) {
		plimp_filter_advise(word, advice);
		return plimp_fail_at(cursor->error, PLIM_ENAME, "filter", word,
				     start, "%s", advice);
	}
	plim_field_set_add(&cursor->filter->fields, step->field);
	if (step->source != PLIMP_FILTER_FIELD)
		cursor->filter->needs_rates = 1;
	return PLIM_OK;
}

static int filter_unit(const struct plimp_filter_step *step,
		       const plim_field *field)
{
	if (step->source == PLIMP_FILTER_CPU_PERCENT)
		return PLIM_UNIT_PERCENT;
	if (step->source != PLIMP_FILTER_RATE)
		return field->unit;
	return field->unit == PLIM_UNIT_BYTES ? PLIM_UNIT_BYTES_PER_SECOND
					      : PLIM_UNIT_PER_SECOND;
}

static size_t filter_word_end(const struct filter_cursor *cursor, size_t at)
{
	while (at < cursor->size && filter_is_bare(cursor->text[at]))
		at++;
	return at;
}

/* `and` or `or`, in capitals too: those are a slip, and no unit. */
static int filter_is_joint(const char *word, size_t size)
{
	char lower[3];

	if (size < 2 || size > 3)
		return 0;
	for (size_t i = 0; i < size; i++)
		lower[i] = (char)(word[i] | 0x20);
	return memcmp(lower, size == 3 ? "and" : "or", size) == 0;
}

/*
 * Where the quantity at the cursor ends. A suffix may stand apart from its
 * number: the word that follows is one unless it joins the next comparison.
 */
static size_t filter_quantity_end(const struct filter_cursor *cursor)
{
	const char *text = cursor->text;
	size_t end = filter_word_end(cursor, cursor->at);
	size_t next = end, next_end;

	if (end == cursor->at ||
	    !(filter_is_digit(text[end - 1]) || text[end - 1] == '.'))
		return end;
	while (next < cursor->size && filter_is_blank(text[next]))
		next++;
	next_end = filter_word_end(cursor, next);
	if (next_end == next || filter_is_joint(text + next, next_end - next))
		return end;
	if (filter_is_letter(text[next]) || text[next] == '%' ||
	    text[next] == '/')
		return next_end;
	return end;
}

/* Reads the limit twice, as plimp_filter_step wants it. */
static int filter_limit(const char *word, int unit,
			struct plimp_filter_step *step, plim_error *inner)
{
	const double exact = 9007199254740992.0; /* 2^53 */
	int code = plim_quantity_parse(word, unit, &step->limit, inner);

	if (code != PLIM_OK)
		return code;
	step->is_signed = unit == PLIM_UNIT_SIGNED;
	if (step->is_signed)
		return PLIM_OK;
	assert(step->limit >= 0);
	if (step->limit < exact) {
		step->whole = (uint64_t)step->limit;
		step->remainder = step->limit > (double)step->whole;
	} else if (plim_quantity_parse_whole(word, unit, &step->whole, NULL) !=
		   PLIM_OK) {
		step->whole = UINT64_MAX;
		step->remainder = 1;
	}
	return PLIM_OK;
}

/*
 * Time per second: a number of ns, a share of the time, or a duration, which
 * may say "/s". A failure is told by what the second looks like to the first.
 */
static int filter_limit_of_share(const char *word,
				 struct plimp_filter_step *step,
				 plim_error *inner)
{
	char duration[PLIMP_FILTER_WORD];
	size_t size = strlen(word);

	if (plim_quantity_parse(word, PLIM_UNIT_PER_SECOND, &step->limit,
				inner) == PLIM_OK)
		return PLIM_OK;
	if (plim_quantity_parse(word, PLIM_UNIT_PERCENT, &step->limit, NULL) ==
	    PLIM_OK) {
		step->limit *= 1e7; /* ns per second in one per cent */
		return PLIM_OK;
	}
	if (size > 2 && strcmp(word + size - 2, "/s") == 0)
		size -= 2;
	memcpy(duration, word, size);
	duration[size] = '\0';
	if (plim_quantity_parse(duration, PLIM_UNIT_NS, &step->limit, NULL) ==
	    PLIM_OK)
		return PLIM_OK;
	return PLIM_ESYNTAX;
}

static int filter_parse_quantity(struct filter_cursor *cursor,
				 struct plimp_filter_step *step, int unit)
{
	char word[PLIMP_FILTER_WORD];
	plim_error inner = {0};
	size_t start, end;
	int code;

	filter_skip_blanks(cursor);
	start = cursor->at;
	end = filter_quantity_end(cursor);
	if (end == start)
		return filter_expected(cursor, "a quantity");
	if (filter_copy(cursor, start, end, word) >= PLIMP_FILTER_WORD)
		return plimp_fail_at(cursor->error, PLIM_ESYNTAX, "filter",
				     word, start,
				     "a quantity is at most %d bytes long",
				     PLIMP_FILTER_WORD - 1);
	if (step->source == PLIMP_FILTER_RATE &&
	    plim_field_get(step->field)->unit == PLIM_UNIT_NS)
		code = filter_limit_of_share(word, step, &inner);
	else
		code = filter_limit(word, unit, step, &inner);
	if (code == PLIM_OK) {
		step->kind = PLIMP_FILTER_NUMBER;
		cursor->at = end;
		return PLIM_OK;
	}
	if (inner.position > 0)
		start += (size_t)inner.position;
	return plimp_fail_at(
	    cursor->error, PLIM_ESYNTAX, "filter", word, start, "%s",
	    inner.detail[0] != '\0' ? inner.detail : plim_error_text(code));
}

static void filter_keep(plim_filter *filter, char byte)
{
	assert(filter->pool_used < filter->pool_size);
	filter->pool[filter->pool_used++] = byte;
}

/* Reads the escape at the cursor; the byte it stands for is never a wildcard.
 */
static int filter_parse_escape(struct filter_cursor *cursor, int pattern)
{
	char next = filter_peek(cursor, 1);
	int high = plimp_hex_digit(filter_peek(cursor, 2));
	int low = plimp_hex_digit(filter_peek(cursor, 3));
	size_t size = 2;

	if (next == 'x' && high >= 0 && low >= 0) {
		next = (char)(high * 16 + low);
		size = 4;
	} else if (next != '"' && next != '\\') {
		return filter_expected(cursor, "\\\", \\\\ or \\xNN");
	}
	if (pattern && (next == '*' || next == '?' || next == '\\'))
		filter_keep(cursor->filter, '\\');
	filter_keep(cursor->filter, next);
	cursor->at += size;
	return PLIM_OK;
}

static int filter_parse_quoted(struct filter_cursor *cursor, int pattern)
{
	size_t start = cursor->at++;
	int code;

	while (cursor->at < cursor->size && cursor->text[cursor->at] != '"') {
		if (cursor->text[cursor->at] != '\\') {
			filter_keep(cursor->filter, cursor->text[cursor->at++]);
			continue;
		}
		code = filter_parse_escape(cursor, pattern);
		if (code != PLIM_OK)
			return code;
	}
	if (cursor->at == cursor->size) {
		cursor->at = start;
		return filter_expected(cursor, "a closing quote");
	}
	cursor->at++;
	return PLIM_OK;
}

static int filter_parse_text(struct filter_cursor *cursor,
			     struct plimp_filter_step *step)
{
	plim_filter *filter = cursor->filter;
	int pattern = step->operator== PLIMP_FILTER_LIKE || step->operator==
		      PLIMP_FILTER_UNLIKE;
	size_t start = filter->pool_used;
	int code = PLIM_OK;

	filter_skip_blanks(cursor);
	step->kind = pattern ? PLIMP_FILTER_PATTERN : PLIMP_FILTER_TEXT;
	if (filter_peek(cursor, 0) == '"')
		code = filter_parse_quoted(cursor, pattern);
	else if (!filter_is_bare(filter_peek(cursor, 0)))
		return filter_expected(cursor, "a word or a \"quoted text\"");
	else
		while (filter_is_bare(filter_peek(cursor, 0)))
			filter_keep(filter, cursor->text[cursor->at++]);
	if (code == PLIM_OK && filter_peek(cursor, 0) == '\\')
		code = filter_expected(cursor,
				       "quotes around a text with a backslash");
	step->text_start = (uint32_t)start;
	step->text_size = (uint32_t)(filter->pool_used - start);
	return code;
}

static uint8_t filter_parse_operator(struct filter_cursor *cursor)
{
	/* Longer ones first. */
	/* clang-format off */
	static const struct {
		const char *text;
		uint8_t operator;
	} operators[] = {
		{"==", PLIMP_FILTER_EQUAL},
		{"!=", PLIMP_FILTER_UNEQUAL},
		{"<=", PLIMP_FILTER_LESS_EQUAL},
		{"!~", PLIMP_FILTER_UNLIKE},
		{">=", PLIMP_FILTER_GREATER_EQUAL},
		{"=", PLIMP_FILTER_EQUAL},
		{"<", PLIMP_FILTER_LESS},
		{">", PLIMP_FILTER_GREATER},
		{"~", PLIMP_FILTER_LIKE},
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (filter_take_word(cursor, operators[i].text))
			return operators[i].operator;
	return 0;
}

static int filter_is_text_operator(int operator)
{
	return operator== PLIMP_FILTER_EQUAL || operator==
	    PLIMP_FILTER_UNEQUAL ||
	    operator== PLIMP_FILTER_LIKE ||
	    operator== PLIMP_FILTER_UNLIKE;
}

static int filter_parse_comparison(struct filter_cursor *cursor)
{
	struct plimp_filter_step step = {0};
	const plim_field *field;
	size_t start;
	int code = filter_parse_name(cursor, &step);

	if (code != PLIM_OK)
		return code;
	field = plim_field_get(step.field);
	assert(field != NULL);
	filter_skip_blanks(cursor);
	start = cursor->at;
	step.operator= filter_parse_operator(cursor);
	if (step.operator!= 0 && field->kind == PLIM_KIND_TEXT &&
	    filter_is_text_operator(step.operator)) {
		code = filter_parse_text(cursor, &step);
	} else if (step.operator!= 0 && field->kind != PLIM_KIND_TEXT &&
		   step.
		   operator!= PLIMP_FILTER_LIKE && step.
		   operator!= PLIMP_FILTER_UNLIKE) {
		code = filter_parse_quantity(cursor, &step,
					     filter_unit(&step, field));
	} else {
		cursor->at = start;
		return filter_expected(cursor,
				       field->kind == PLIM_KIND_TEXT
					   ? "= != ~ or !~ after a text"
					   : "= != < <= > or >= after a "
					     "number");
	}
	return code == PLIM_OK ? filter_push(cursor, &step) : code;
}

static int filter_parse_known(struct filter_cursor *cursor)
{
	struct plimp_filter_step step = {0};
	int code;

	step.kind = PLIMP_FILTER_KNOWN;
	if (!filter_take_word(cursor, "("))
		return filter_expected(cursor, "( after known");
	code = filter_parse_name(cursor, &step);
	if (code != PLIM_OK)
		return code;
	if (!filter_take_word(cursor, ")"))
		return filter_expected(cursor, ") after the name");
	return filter_push(cursor, &step);
}

/*
 * A word and a colon: a selector, if the word names one. Then `*code` tells
 * how it went, and the cursor stands behind it; else nothing has happened.
 */
static int filter_parse_selector(struct filter_cursor *cursor, int *code)
{
	struct plimp_filter_step step = {0};
	char word[PLIMP_FILTER_WORD];
	char advice[PLIMP_FILTER_ADVICE];
	size_t start = cursor->at;
	int system = 0;

	while (filter_is_letter(filter_peek(cursor, 0)))
		cursor->at++;
	if (filter_copy(cursor, start, cursor->at, word) < PLIMP_FILTER_WORD &&
	    filter_take_word(cursor, ":"))
		step.kind = plimp_filter_selector(word, &step.field);
	if (step.kind == 0) {
		cursor->at = start;
		return 0;
	}
	filter_skip_blanks(cursor);
	start = cursor->at;
	step.source = PLIMP_FILTER_FIELD;
	step.operator= step.kind == PLIMP_FILTER_UNIT ? PLIMP_FILTER_LIKE
						      : PLIMP_FILTER_EQUAL;
	plim_field_set_add(&cursor->filter->fields, step.field);
	*code = filter_parse_text(cursor, &step);
	if (*code != PLIM_OK)
		return 1;
	step.kind = plimp_filter_selector(word, &step.field);
	*code = plimp_filter_settle(cursor->filter, &step, cursor->find_user,
				    advice, &system);
	if (*code == PLIM_OK) {
		*code = filter_push(cursor, &step);
		return 1;
	}
	filter_copy(cursor, start, cursor->at, word);
	plimp_fail_at(cursor->error, *code, "filter", word, start, "%s",
		      advice);
	if (cursor->error != NULL)
		cursor->error->system = system;
	return 1;
}

static int filter_deeper(struct filter_cursor *cursor)
{
	if (cursor->depth == PLIMP_FILTER_DEPTH)
		return plimp_fail_at(
		    cursor->error, PLIM_ELIMIT, "filter", "", cursor->at,
		    "a filter is nested at most %d deep", PLIMP_FILTER_DEPTH);
	cursor->depth++;
	return PLIM_OK;
}

static int filter_parse_factor(struct filter_cursor *cursor)
{
	int code;

	filter_skip_blanks(cursor);
	if (filter_take_word(cursor, "not") || filter_take_word(cursor, "!")) {
		code = filter_deeper(cursor);
		if (code == PLIM_OK)
			code = filter_parse_factor(cursor);
		if (code == PLIM_OK)
			code = filter_push_kind(cursor, PLIMP_FILTER_NOT);
		cursor->depth--;
		return code;
	}
	if (filter_take_word(cursor, "known"))
		return filter_parse_known(cursor);
	if (filter_parse_selector(cursor, &code))
		return code;
	if (!filter_take_word(cursor, "("))
		return filter_parse_comparison(cursor);
	code = filter_deeper(cursor);
	if (code == PLIM_OK)
		code = filter_parse_or(cursor);
	if (code == PLIM_OK && !filter_take_word(cursor, ")"))
		code = filter_expected(cursor, "and, or or a closing )");
	cursor->depth--;
	return code;
}

static int filter_parse_and(struct filter_cursor *cursor)
{
	int code = filter_parse_factor(cursor);

	while (code == PLIM_OK && (filter_take_word(cursor, "and") ||
				   filter_take_word(cursor, "&&"))) {
		code = filter_parse_factor(cursor);
		if (code == PLIM_OK)
			code = filter_push_kind(cursor, PLIMP_FILTER_AND);
	}
	return code;
}

static int filter_parse_or(struct filter_cursor *cursor)
{
	int code = filter_parse_and(cursor);

	while (code == PLIM_OK && (filter_take_word(cursor, "or") ||
				   filter_take_word(cursor, "||"))) {
		code = filter_parse_and(cursor);
		if (code == PLIM_OK)
			code = filter_push_kind(cursor, PLIMP_FILTER_OR);
	}
	return code;
}

int plimp_filter_parse(plim_filter *filter, const char *text, size_t size,
		       plimp_find_user_fn *find_user, plim_error *error)
{
	struct filter_cursor cursor = {.filter = filter,
				       .text = text,
				       .size = size,
				       .find_user = find_user,
				       .error = error};
	int code;

	assert(filter->count == 0 && filter->pool_used == 0);
	code = filter_parse_or(&cursor);
	if (code != PLIM_OK)
		return code;
	filter_skip_blanks(&cursor);
	if (cursor.at != cursor.size)
		return filter_expected(&cursor, "and, or or the end");
	assert(filter->count > 0);
	return PLIM_OK;
}
