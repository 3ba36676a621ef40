/*
 * toml.c - the structure of a TOML document: lines, keys, tables and arrays.
 *
 * One cursor walks over the text. A header chooses the table that the lines
 * after it fill; every table and array remembers how it came to be
 * (enum plimp_toml_origin), and all rules of redefinition follow from that.
 * Nesting is counted, so that the text cannot exhaust the C stack; nodes are
 * counted, so that it cannot exhaust memory or, since keys are compared one
 * by one, time. All memory is the document's pool. Strings, numbers and dates
 * are read by toml_value.c.
 */
#include "core/toml_scan.h"

#include "core/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int toml_value(struct plimp_toml_cursor *cursor,
		      struct plimp_toml_node *node);

int plimp_toml_peek(const struct plimp_toml_cursor *cursor, size_t ahead)
{
	if (ahead >= cursor->size - cursor->at)
		return -1;
	return (unsigned char)cursor->text[cursor->at + ahead];
}

int plimp_toml_sees(const struct plimp_toml_cursor *cursor, const char *word)
{
	size_t size = strlen(word);

	return cursor->size - cursor->at >= size &&
	       memcmp(cursor->text + cursor->at, word, size) == 0;
}

size_t plimp_toml_newline(const struct plimp_toml_cursor *cursor)
{
	if (plimp_toml_peek(cursor, 0) == '\n')
		return 1;
	return plimp_toml_sees(cursor, "\r\n") ? 2 : 0;
}

plim_budget_position plimp_toml_position(struct plimp_toml_cursor *cursor,
					 size_t offset)
{
	plim_budget_position at = cursor->mark;

	assert(offset >= cursor->start && offset <= cursor->size);
	if (at.line == 0 || at.offset > offset) {
		at.offset = cursor->start;
		at.line = at.column = 1;
	}
	for (; at.offset < offset; at.offset++) {
		unsigned char byte = (unsigned char)cursor->text[at.offset];

		if (byte == '\n') {
			at.line++;
			at.column = 1;
		} else {
			/* A character is counted at its first byte. */
			at.column += (byte & 0xc0) != 0x80;
		}
	}
	cursor->mark = at;
	return at;
}

int plimp_toml_fail(struct plimp_toml_cursor *cursor, int code, size_t offset,
		    const char *detail, ...)
{
	char text[sizeof(cursor->error->detail)];
	va_list arguments;

	text[0] = '\0';
	va_start(arguments, detail);
	vsnprintf(text, sizeof(text), detail, arguments);
	va_end(arguments);
	if (cursor->where != NULL)
		*cursor->where = plimp_toml_position(cursor, offset);
	return plimp_fail_at(cursor->error, code, "toml", "", offset, "%s",
			     text);
}

int plimp_toml_fail_memory(struct plimp_toml_cursor *cursor)
{
	return plimp_fail(cursor->error, PLIM_ENOMEM, 0, "toml", "", NULL);
}

const char *plimp_toml_kind_word(int kind)
{
	static const char *const words[] = {
	    [PLIMP_TOML_STRING] = "a string",
	    [PLIMP_TOML_INTEGER] = "an integer",
	    [PLIMP_TOML_FLOAT] = "a float",
	    [PLIMP_TOML_BOOLEAN] = "true or false",
	    [PLIMP_TOML_OFFSET_DATE_TIME] = "a date and time",
	    [PLIMP_TOML_LOCAL_DATE_TIME] = "a local date and time",
	    [PLIMP_TOML_LOCAL_DATE] = "a date",
	    [PLIMP_TOML_LOCAL_TIME] = "a time of day",
	    [PLIMP_TOML_ARRAY] = "an array",
	    [PLIMP_TOML_TABLE] = "a table",
	};

	assert(kind >= PLIMP_TOML_STRING && kind <= PLIMP_TOML_TABLE);
	return words[kind];
}

static void toml_skip_blanks(struct plimp_toml_cursor *cursor)
{
	while (plimp_toml_peek(cursor, 0) == ' ' ||
	       plimp_toml_peek(cursor, 0) == '\t')
		cursor->at++;
}

/* A comment, if one stands here, up to its line's end. */
static int toml_skip_comment(struct plimp_toml_cursor *cursor)
{
	if (plimp_toml_peek(cursor, 0) != '#')
		return PLIM_OK;
	for (;;) {
		int byte = plimp_toml_peek(cursor, 0);

		if (byte < 0 || plimp_toml_newline(cursor) > 0)
			return PLIM_OK;
		if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
			return plimp_toml_fail(
			    cursor, PLIM_ESYNTAX, cursor->at,
			    "a control character in a comment; remove it");
		cursor->at++;
	}
}

/* Blanks, comments and line ends. */
static int toml_skip_lines(struct plimp_toml_cursor *cursor)
{
	int code;

	for (;;) {
		size_t newline;

		toml_skip_blanks(cursor);
		code = toml_skip_comment(cursor);
		newline = plimp_toml_newline(cursor);
		if (code != PLIM_OK || newline == 0)
			return code;
		cursor->at += newline;
	}
}

static uint32_t toml_hash(plim_bytes key)
{
	uint32_t hash = UINT32_C(2166136261);

	for (size_t i = 0; i < key.size; i++)
		hash = (hash ^ (unsigned char)key.data[i]) * UINT32_C(16777619);
	return hash;
}

struct plimp_toml_node *plimp_toml_find(const struct plimp_toml_node *table,
					plim_bytes key)
{
	uint32_t hash = toml_hash(key);

	assert(table->kind == PLIMP_TOML_TABLE);
	for (struct plimp_toml_node *node = table->is.list.first; node != NULL;
	     node = node->next)
		if (node->hash == hash && node->key.size == key.size &&
		    (key.size == 0 ||
		     memcmp(node->key.data, key.data, key.size) == 0))
			return node;
	return NULL;
}

/* One more node of a table or array; NULL after a failure, whose code is
 * stored. `at` is where its key begins, or the element itself. */
static struct plimp_toml_node *toml_add(struct plimp_toml_cursor *cursor,
					struct plimp_toml_node *parent,
					plim_bytes key, size_t at, int *code)
{
	struct plimp_toml *document = cursor->document;
	struct plimp_toml_node *node;

	if (document->count >= PLIMP_TOML_NODES) {
		*code = plimp_toml_fail(
		    cursor, PLIM_ELIMIT, at,
		    "a document has at most %d keys and elements",
		    PLIMP_TOML_NODES);
		return NULL;
	}
	node = plimp_pool_take(&document->pool, sizeof(*node));
	if (node == NULL) {
		*code = plimp_toml_fail_memory(cursor);
		return NULL;
	}
	document->count++;
	node->key = key;
	node->hash = toml_hash(key);
	node->key_at = node->value_at = plimp_toml_position(cursor, at);
	if (parent->is.list.last != NULL)
		parent->is.list.last->next = node;
	else
		parent->is.list.first = node;
	parent->is.list.last = node;
	parent->is.list.count++;
	return node;
}

static struct plimp_toml_node *toml_add_table(struct plimp_toml_cursor *cursor,
					      struct plimp_toml_node *parent,
					      plim_bytes key, size_t at,
					      int origin, int *code)
{
	struct plimp_toml_node *node = toml_add(cursor, parent, key, at, code);

	if (node != NULL) {
		node->kind = PLIMP_TOML_TABLE;
		node->origin = (uint8_t)origin;
	}
	return node;
}

/* What may be quoted of a key in a message. */
#define TOML_SHOWN(key) (int)((key).size < 64 ? (key).size : 64), (key).data

static int toml_fail_again(struct plimp_toml_cursor *cursor,
			   const struct plimp_toml_node *first, plim_bytes key,
			   size_t at)
{
	return plimp_toml_fail(
	    cursor, PLIM_ESYNTAX, at,
	    "%.*s was defined as %s in line %lu already; a key is given once",
	    TOML_SHOWN(key), plimp_toml_kind_word(first->kind),
	    (unsigned long)first->key_at.line);
}

static int toml_is_bare(int byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '-';
}

/* One part of a key: a bare word or a quoted string of one line. */
static int toml_key_part(struct plimp_toml_cursor *cursor, plim_bytes *key)
{
	int byte = plimp_toml_peek(cursor, 0);
	size_t start = cursor->at;

	if (byte == '"' || byte == '\'')
		return plimp_toml_string(cursor, 0, key);
	while (toml_is_bare(plimp_toml_peek(cursor, 0)))
		cursor->at++;
	if (cursor->at == start)
		return plimp_toml_fail(
		    cursor, PLIM_ESYNTAX, start,
		    "expected a key: letters, digits, - and _, or a quoted "
		    "text");
	key->data = cursor->text + start;
	key->size = cursor->at - start;
	return PLIM_OK;
}

/* Reads a part and what follows it; `more` if that is a point. */
static int toml_key_next(struct plimp_toml_cursor *cursor, plim_bytes *key,
			 size_t *at, int *more)
{
	int code;

	toml_skip_blanks(cursor);
	*at = cursor->at;
	if (cursor->depth >= PLIMP_TOML_DEPTH)
		return plimp_toml_fail(cursor, PLIM_ELIMIT, *at,
				       "nested more than %d deep",
				       PLIMP_TOML_DEPTH);
	cursor->depth++;
	code = toml_key_part(cursor, key);
	if (code != PLIM_OK)
		return code;
	toml_skip_blanks(cursor);
	*more = plimp_toml_peek(cursor, 0) == '.';
	if (*more)
		cursor->at++;
	return PLIM_OK;
}

/* Into the table that a part of a dotted key names, which is made if need be.
 * Only tables that dotted keys made, or that nothing defined yet, may grow. */
static int toml_enter_dotted(struct plimp_toml_cursor *cursor,
			     struct plimp_toml_node **table, plim_bytes key,
			     size_t at)
{
	struct plimp_toml_node *node = plimp_toml_find(*table, key);
	int code = PLIM_OK;

	if (node == NULL)
		node = toml_add_table(cursor, *table, key, at,
				      PLIMP_TOML_DOTTED, &code);
	else if (node->kind != PLIMP_TOML_TABLE ||
		 (node->origin != PLIMP_TOML_DOTTED &&
		  node->origin != PLIMP_TOML_IMPLICIT))
		code = toml_fail_again(cursor, node, key, at);
	if (code != PLIM_OK)
		return code;
	node->origin = PLIMP_TOML_DOTTED;
	*table = node;
	return PLIM_OK;
}

/* key = value, in a table. */
static int toml_pair(struct plimp_toml_cursor *cursor,
		     struct plimp_toml_node *table)
{
	int depth = cursor->depth;
	struct plimp_toml_node *node;
	plim_bytes key;
	size_t at;
	int more, code;

	for (;;) {
		code = toml_key_next(cursor, &key, &at, &more);
		if (code == PLIM_OK && more)
			code = toml_enter_dotted(cursor, &table, key, at);
		if (code != PLIM_OK)
			return code;
		if (!more)
			break;
	}
	node = plimp_toml_find(table, key);
	if (node != NULL)
		return toml_fail_again(cursor, node, key, at);
	if (plimp_toml_peek(cursor, 0) != '=')
		return plimp_toml_fail(cursor, PLIM_ESYNTAX, cursor->at,
				       "expected = behind the key");
	cursor->at++;
	toml_skip_blanks(cursor);
	node = toml_add(cursor, table, key, at, &code);
	if (node != NULL)
		code = toml_value(cursor, node);
	cursor->depth = depth;
	return code;
}

/* The cursor stands behind the brace. */
static int toml_inline_table(struct plimp_toml_cursor *cursor,
			     struct plimp_toml_node *node)
{
	node->kind = PLIMP_TOML_TABLE;
	/* Until it is closed, dotted keys may fill what they made in it. */
	node->origin = PLIMP_TOML_INLINE;
	toml_skip_blanks(cursor);
	if (plimp_toml_peek(cursor, 0) == '}') {
		cursor->at++;
		return PLIM_OK;
	}
	for (;;) {
		int code = toml_pair(cursor, node);
		int byte;

		if (code != PLIM_OK)
			return code;
		toml_skip_blanks(cursor);
		byte = plimp_toml_peek(cursor, 0);
		if (byte != ',' && byte != '}')
			return plimp_toml_fail(
			    cursor, PLIM_ESYNTAX, cursor->at,
			    "expected , or } on the line on which the inline "
			    "table began");
		cursor->at++;
		if (byte == '}')
			return PLIM_OK;
		toml_skip_blanks(cursor);
	}
}

/* The cursor stands behind the bracket. */
static int toml_array(struct plimp_toml_cursor *cursor,
		      struct plimp_toml_node *node)
{
	static const plim_bytes nameless = {NULL, 0};

	node->kind = PLIMP_TOML_ARRAY;
	node->origin = PLIMP_TOML_INLINE;
	for (;;) {
		struct plimp_toml_node *element;
		int code = toml_skip_lines(cursor);

		if (code != PLIM_OK)
			return code;
		if (plimp_toml_peek(cursor, 0) == ']')
			break;
		element = toml_add(cursor, node, nameless, cursor->at, &code);
		if (element != NULL)
			code = toml_value(cursor, element);
		if (code == PLIM_OK)
			code = toml_skip_lines(cursor);
		if (code != PLIM_OK)
			return code;
		if (plimp_toml_peek(cursor, 0) == ']')
			break;
		if (plimp_toml_peek(cursor, 0) != ',')
			return plimp_toml_fail(cursor, PLIM_ESYNTAX, cursor->at,
					       "expected , or ] in an array");
		cursor->at++;
	}
	cursor->at++;
	return PLIM_OK;
}

static int toml_value(struct plimp_toml_cursor *cursor,
		      struct plimp_toml_node *node)
{
	int byte = plimp_toml_peek(cursor, 0);
	int code;

	node->value_at = plimp_toml_position(cursor, cursor->at);
	if (byte == '"' || byte == '\'') {
		node->kind = PLIMP_TOML_STRING;
		return plimp_toml_string(cursor, 1, &node->is.string);
	}
	if (byte != '[' && byte != '{')
		return plimp_toml_scalar(cursor, node);
	if (cursor->depth >= PLIMP_TOML_DEPTH)
		return plimp_toml_fail(cursor, PLIM_ELIMIT, cursor->at,
				       "nested more than %d deep",
				       PLIMP_TOML_DEPTH);
	cursor->depth++;
	cursor->at++;
	if (byte == '[')
		code = toml_array(cursor, node);
	else
		code = toml_inline_table(cursor, node);
	cursor->depth--;
	return code;
}

/* Into what a part of a header names: a table, or the last one of [[ ]]. */
static int toml_enter_header(struct plimp_toml_cursor *cursor,
			     struct plimp_toml_node **table, plim_bytes key,
			     size_t at)
{
	struct plimp_toml_node *node = plimp_toml_find(*table, key);
	int code = PLIM_OK;

	if (node == NULL) {
		node = toml_add_table(cursor, *table, key, at,
				      PLIMP_TOML_IMPLICIT, &code);
	} else if (node->kind == PLIMP_TOML_ARRAY &&
		   node->origin == PLIMP_TOML_TABLES) {
		node = node->is.list.last;
	} else if (node->kind != PLIMP_TOML_TABLE ||
		   node->origin == PLIMP_TOML_INLINE) {
		code = toml_fail_again(cursor, node, key, at);
	}
	if (code == PLIM_OK)
		*table = node;
	return code;
}

/* [key]: `table` becomes the table that is defined by it. */
static int toml_define_table(struct plimp_toml_cursor *cursor,
			     struct plimp_toml_node **table, plim_bytes key,
			     size_t at)
{
	struct plimp_toml_node *node = plimp_toml_find(*table, key);
	int code = PLIM_OK;

	if (node == NULL) {
		node = toml_add_table(cursor, *table, key, at,
				      PLIMP_TOML_HEADER, &code);
		if (node == NULL)
			return code;
	} else if (node->kind != PLIMP_TOML_TABLE ||
		   node->origin != PLIMP_TOML_IMPLICIT) {
		return toml_fail_again(cursor, node, key, at);
	}
	node->origin = PLIMP_TOML_HEADER;
	node->key_at = node->value_at = plimp_toml_position(cursor, at);
	*table = node;
	return PLIM_OK;
}

/* [[key]]: `table` becomes a new element of that array. */
static int toml_define_element(struct plimp_toml_cursor *cursor,
			       struct plimp_toml_node **table, plim_bytes key,
			       size_t at)
{
	static const plim_bytes nameless = {NULL, 0};
	struct plimp_toml_node *array = plimp_toml_find(*table, key);
	struct plimp_toml_node *node;
	int code = PLIM_OK;

	if (array == NULL) {
		array = toml_add(cursor, *table, key, at, &code);
		if (array == NULL)
			return code;
		array->kind = PLIMP_TOML_ARRAY;
		array->origin = PLIMP_TOML_TABLES;
	} else if (array->kind != PLIMP_TOML_ARRAY ||
		   array->origin != PLIMP_TOML_TABLES) {
		return toml_fail_again(cursor, array, key, at);
	}
	node = toml_add_table(cursor, array, nameless, at, PLIMP_TOML_HEADER,
			      &code);
	if (node == NULL)
		return code;
	*table = node;
	return PLIM_OK;
}

/* [a.b] or [[a.b]]; the cursor stands before the first bracket. */
static int toml_header(struct plimp_toml_cursor *cursor,
		       struct plimp_toml_node **table)
{
	int is_array = plimp_toml_sees(cursor, "[[");
	plim_bytes key;
	size_t at;
	int more, code;

	cursor->depth = is_array;
	cursor->at += is_array ? 2 : 1;
	*table = &cursor->document->root;
	for (;;) {
		code = toml_key_next(cursor, &key, &at, &more);
		if (code == PLIM_OK && more)
			code = toml_enter_header(cursor, table, key, at);
		if (code != PLIM_OK)
			return code;
		if (!more)
			break;
	}
	if (!plimp_toml_sees(cursor, is_array ? "]]" : "]"))
		return plimp_toml_fail(cursor, PLIM_ESYNTAX, cursor->at,
				       "expected %s behind the name of the "
				       "table",
				       is_array ? "]]" : "]");
	cursor->at += is_array ? 2 : 1;
	if (is_array)
		return toml_define_element(cursor, table, key, at);
	return toml_define_table(cursor, table, key, at);
}

static int toml_document(struct plimp_toml_cursor *cursor)
{
	struct plimp_toml_node *table = &cursor->document->root;

	for (;;) {
		int code = toml_skip_lines(cursor);

		if (code != PLIM_OK || cursor->at == cursor->size)
			return code;
		if (plimp_toml_peek(cursor, 0) == '[')
			code = toml_header(cursor, &table);
		else
			code = toml_pair(cursor, table);
		if (code != PLIM_OK)
			return code;
		toml_skip_blanks(cursor);
		code = toml_skip_comment(cursor);
		if (code != PLIM_OK)
			return code;
		if (cursor->at < cursor->size &&
		    plimp_toml_newline(cursor) == 0)
			return plimp_toml_fail(cursor, PLIM_ESYNTAX, cursor->at,
					       "expected the end of the line");
	}
}

/* All of it is UTF-8, and it is not too long. */
static int toml_check(struct plimp_toml_cursor *cursor)
{
	size_t at = 0;

	if (cursor->size > PLIMP_TOML_SIZE)
		return plimp_toml_fail(cursor, PLIM_ELIMIT, 0,
				       "a document has at most %d bytes",
				       PLIMP_TOML_SIZE);
	/* Some editors write one; it is no part of the document. */
	if (plimp_toml_sees(cursor, "\xef\xbb\xbf"))
		at = cursor->start = cursor->at = 3;
	while (at < cursor->size) {
		plim_bytes rest = {cursor->text + at, cursor->size - at};
		uint32_t point;
		size_t size = plimp_utf8_decode(rest, &point);

		if (size == 0)
			return plimp_toml_fail(
			    cursor, PLIM_ESYNTAX, at,
			    "a byte that is not UTF-8; save it as UTF-8");
		at += size;
	}
	return PLIM_OK;
}

int plimp_toml_parse(struct plimp_toml *document, plim_bytes text,
		     const plim_allocator *allocator,
		     plim_budget_position *where, plim_error *error)
{
	struct plimp_toml_cursor cursor = {
	    .document = document,
	    .text = text.size > 0 ? text.data : "",
	    .size = text.size,
	    .where = where,
	    .error = error,
	};
	int code;

	assert(document->count == 0 && document->pool.chunks == NULL);
	if (allocator != NULL)
		document->pool.allocator = *allocator;
	document->root.kind = PLIMP_TOML_TABLE;
	document->root.origin = PLIMP_TOML_HEADER;
	document->root.key_at.line = document->root.key_at.column = 1;
	document->root.value_at = document->root.key_at;
	code = toml_check(&cursor);
	if (code == PLIM_OK)
		code = toml_document(&cursor);
	if (code != PLIM_OK)
		plimp_toml_release(document);
	return code;
}

void plimp_toml_release(struct plimp_toml *document)
{
	static const struct plimp_toml empty;

	plimp_pool_release(&document->pool);
	*document = empty;
}
