/*
 * fuzz_nt_text.c - any bytes as UTF-16, as strings and where they lie, and as
 * a command line. The arguments are no longer than the line and a NUL; a line
 * that is made of arguments as one quotes them gives these arguments again.
 */
#include "host/windows/decode.h"
#include "promise.h"

#include <stdlib.h>
#include <string.h>

static void check_utf8(plim_bytes bytes)
{
	const size_t room = bytes.size * 3 / 2 + 1;
	char *whole = malloc(room);
	char *cut = malloc(room);
	size_t size;

	if (whole == NULL || cut == NULL)
		abort();
	size = plimp_nt_utf8(bytes, whole, room);
	PROMISE(size < room);
	for (size_t i = 0; i < size; i += 1 + size / 7) {
		size_t part = plimp_nt_utf8(bytes, cut, i);

		PROMISE(part <= i && !memcmp(cut, whole, part));
		PROMISE((whole[part] & 0xc0) != 0x80);
	}
	free(whole);
	free(cut);
}

static void check_strings(plim_bytes bytes, unsigned word)
{
	const uint64_t base = 0x10000;
	struct plimp_nt_string string = {7, 7};
	plim_bytes utf16 = {NULL, 7};
	uint64_t address = 7;

	if (plimp_decode_nt_string(bytes, word, &string) != PLIM_OK)
		PROMISE(string.address == 7 && string.size == 7);
	else
		PROMISE(string.size % 2 == 0);
	if (plimp_decode_nt_answer(bytes, word, base, &utf16) != PLIM_OK)
		PROMISE(utf16.data == NULL && utf16.size == 7);
	else
		PROMISE(utf16.size == 0 ||
			(utf16.data >= bytes.data &&
			 utf16.data + utf16.size <= bytes.data + bytes.size));
	if (plimp_decode_nt_peb(bytes, word, &address) != PLIM_OK)
		PROMISE(address == 7);
	(void)plimp_decode_nt_parameters(bytes, word, &string);
}

static size_t split(const char *text, size_t size, char **to)
{
	*to = malloc(size + 1);
	if (*to == NULL)
		abort();
	if (size > 0)
		memcpy(*to, text, size);
	return plimp_nt_arguments(*to, size, size + 1);
}

/* "p" and each argument in quotes, backslashes before a quote doubled. */
static size_t quote(const char *arguments, size_t size, char *line)
{
	size_t length = 0;
	size_t i = 0;

	line[length++] = 'p';
	while (i < size) {
		size_t slashes = 0;

		line[length++] = ' ';
		line[length++] = '"';
		for (; arguments[i] != '\0'; i++) {
			slashes = arguments[i] == '\\' ? slashes + 1 : 0;
			if (arguments[i] == '"') {
				size_t before = 0;

				while (before < i &&
				       arguments[i - before - 1] == '\\')
					before++;
				while (before-- > 0)
					line[length++] = '\\';
				line[length++] = '\\';
			}
			line[length++] = arguments[i];
		}
		while (slashes-- > 0)
			line[length++] = '\\';
		line[length++] = '"';
		i++;
	}
	return length;
}

static void check_arguments(plim_bytes bytes)
{
	char *arguments;
	char *line;
	char *again;
	size_t size = split(bytes.data, bytes.size, &arguments);
	size_t length;

	PROMISE(size <= bytes.size + 1);
	PROMISE(size == 0 || arguments[size - 1] == '\0');
	line = malloc(1 + 6 * size + 8);
	if (line == NULL)
		abort();
	length = quote(arguments, size, line);
	length = split(line, length, &again);
	PROMISE(length == size + 2 && !memcmp(again, "p", 2));
	PROMISE(size == 0 || !memcmp(again + 2, arguments, size));
	free(arguments);
	free(again);
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes bytes = {.data = (const char *)data, .size = size};

	check_utf8(bytes);
	check_strings(bytes, 8);
	check_strings(bytes, 4);
	check_arguments(bytes);
	return 0;
}
