/*
 * error.c - the error table, filling a record, and the line for people.
 *
 * A record is put together aside and stored whole, because its parts may come
 * from the very record that is being replaced. Everything in a line is
 * escaped here: path and detail may be what a process calls itself.
 */
#include "core/fail.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *plim_version(void)
{
	return PLIM_VERSION;
}

struct error_row {
	int code;
	const char *word;
	const char *text;
};

static const struct error_row error_rows[] = {
#define PLIM_X(name, number, word_, sentence) {(number), word_, sentence},
    PLIM_ERROR_LIST(PLIM_X)
#undef PLIM_X
};

static const struct error_row *error_find(int code)
{
	for (size_t i = 0; i < sizeof(error_rows) / sizeof(error_rows[0]); i++)
		if (error_rows[i].code == code)
			return &error_rows[i];
	return NULL;
}

const char *plim_error_word(int code)
{
	const struct error_row *row = error_find(code);

	return row != NULL ? row->word : "unknown";
}

const char *plim_error_text(int code)
{
	const struct error_row *row = error_find(code);

	return row != NULL ? row->text : "unknown error";
}

static void error_copy(char *to, size_t size, const char *from)
{
	size_t length = from != NULL ? strlen(from) : 0;

	if (length >= size)
		length = size - 1;
	if (length > 0)
		memcpy(to, from, length);
	to[length] = '\0';
}

/* `made` has the numbers and is otherwise zero, so its detail is a text even
 * if the format fails. */
static void error_store(plim_error *error, plim_error *made,
			const char *operation, const char *path,
			const char *detail, va_list arguments)
{
	assert(made->code < 0 && error_find(made->code) != NULL);
	error_copy(made->operation, sizeof(made->operation), operation);
	error_copy(made->path, sizeof(made->path), path);
	if (detail != NULL)
		vsnprintf(made->detail, sizeof(made->detail), detail,
			  arguments);
	if (error != NULL)
		*error = *made;
}

int plimp_fail(plim_error *error, int code, int system, const char *operation,
	       const char *path, const char *detail, ...)
{
	plim_error made = {.code = code, .system = system, .position = -1};
	va_list arguments;

	va_start(arguments, detail);
	error_store(error, &made, operation, path, detail, arguments);
	va_end(arguments);
	return code;
}

int plimp_fail_at(plim_error *error, int code, const char *operation,
		  const char *text, size_t position, const char *detail, ...)
{
	plim_error made = {.code = code, .position = (int64_t)position};
	va_list arguments;

	va_start(arguments, detail);
	error_store(error, &made, operation, text, detail, arguments);
	va_end(arguments);
	return code;
}

/* A line in the making: `used` bytes of it are in the buffer, `length` it has
 * in all. Once a piece was cut nothing follows it. */
struct error_line {
	char *buffer;
	size_t size;
	size_t used;
	size_t length;
};

static void error_put(struct error_line *line, plim_bytes text)
{
	int cut = line->used < line->length;
	size_t room = cut ? 0 : line->size - line->used;
	char *at = room > 0 ? line->buffer + line->used : NULL;

	assert(line->used <= line->length && line->used <= line->size);
	line->length += plim_escape(PLIM_ESCAPE_TERMINAL, text, at, room);
	if (room > 0)
		line->used += strlen(at);
}

static void error_put_string(struct error_line *line, const char *string)
{
	error_put(line, (plim_bytes){string, strlen(string)});
}

/* One of the arrays of the record, which a caller may have filled to the
 * brim; `before` stands between it and the line so far. */
static void error_put_part(struct error_line *line, const char *before,
			   const char *part, size_t size)
{
	const char *end = memchr(part, '\0', size);

	if (end == part)
		return;
	if (line->length > 0)
		error_put_string(line, before);
	error_put(line, (plim_bytes){part, end != NULL ? (size_t)(end - part)
						       : size});
}

size_t plim_error_message(const plim_error *error, char *buffer, size_t size)
{
	struct error_line line = {buffer, size, 0, 0};
	char number[48];

	if (size > 0)
		buffer[0] = '\0';
	error_put_part(&line, "", error->operation, sizeof(error->operation));
	error_put_part(&line, " ", error->path, sizeof(error->path));
	if (line.length > 0)
		error_put_string(&line, ": ");
	error_put_string(&line, plim_error_text(error->code));
	if (error->position >= 0) {
		snprintf(number, sizeof(number), ", at byte %" PRId64,
			 error->position);
		error_put_string(&line, number);
	}
	if (error->system != 0) {
		snprintf(number, sizeof(number), " (%s)",
			 plim_system_error_name(error->system));
		error_put_string(&line, number);
	}
	error_put_part(&line, "; ", error->detail, sizeof(error->detail));
	return line.length;
}
