/*
 * given.c - the words of the command line, put together once (given.h). A word
 * is quoted where a shell would read it as more or other than itself.
 */
#include "given.h"

#include <string.h>

#define GIVEN_MARK " ..."

static struct {
	char text[2048];
	size_t size;
	int is_full;
	int left_out;
} given;

static void given_put(const char *bytes, size_t size)
{
	const size_t room = sizeof given.text - sizeof GIVEN_MARK - given.size;

	if (given.is_full)
		return;
	if (size > room) {
		memcpy(given.text + given.size, GIVEN_MARK, sizeof GIVEN_MARK);
		given.is_full = 1;
		return;
	}
	memcpy(given.text + given.size, bytes, size);
	given.size += size;
	given.text[given.size] = '\0';
}

static void given_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	given_put(" ", 1);
	if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
		given_put(word, strlen(word));
		return;
	}
	given_put("'", 1);
	for (; *word != '\0'; word++)
		if (*word == '\'')
			given_put("'\\''", 4);
		else
			given_put(word, 1);
	given_put("'", 1);
}

void given_note(int argc, char **argv)
{
	int i;

	memset(&given, 0, sizeof given);
	given_put("plim", 4);
	for (i = 0; i < argc; i++) {
		given_word(argv[i]);
		if (strcmp(argv[i], "--") == 0 && i + 1 < argc) {
			given_word(argv[i + 1]);
			given.left_out = argc - i - 2;
			break;
		}
	}
}

const char *given_text(void)
{
	return given.text;
}

int given_left_out(void)
{
	return given.left_out;
}
