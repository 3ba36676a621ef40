/*
 * quote.c - arguments as one text (quote.h), by the rules of
 * CommandLineToArgvW and of Microsoft's C library: blanks part arguments, a
 * quotation mark begins or ends a part in which they don't, and backslashes
 * are themselves unless a quotation mark follows them. Then two of them are
 * one, and an odd one makes the mark a character.
 *
 * The name of the program is cut by another rule, without backslashes: it ends
 * at the next mark. A path has none.
 */
#include "quote.h"

#include <stdlib.h>
#include <string.h>

static size_t quote_room(char *const *arguments)
{
	size_t room = 1;

	for (; *arguments != NULL; arguments++)
		room += 2 * strlen(*arguments) + 3;
	return room;
}

static char *quote_one(char *to, const char *text)
{
	size_t slashes = 0;

	*to++ = '"';
	for (; *text != '\0'; text++) {
		if (*text == '"') {
			memset(to, '\\', slashes + 1);
			to += slashes + 1;
		}
		slashes = *text == '\\' ? slashes + 1 : 0;
		*to++ = *text;
	}
	memset(to, '\\', slashes);
	to += slashes;
	*to++ = '"';
	return to;
}

static int quote_is_plain(const char *text)
{
	return *text != '\0' && strpbrk(text, " \t\n\v\"") == NULL;
}

char *quote_arguments(char *const *arguments)
{
	char *text = malloc(quote_room(arguments));
	char *to = text;
	int first = 1;

	if (text == NULL)
		return NULL;
	for (; *arguments != NULL; arguments++) {
		if (!first)
			*to++ = ' ';
		first = 0;
		if (quote_is_plain(*arguments)) {
			memcpy(to, *arguments, strlen(*arguments));
			to += strlen(*arguments);
		} else {
			to = quote_one(to, *arguments);
		}
	}
	*to = '\0';
	return text;
}
