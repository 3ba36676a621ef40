/*
 * fuzz_mount_option.c - a name, a newline, and a list of options: the answer
 * is the one that splitting the list at its commas gives.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <stdlib.h>
#include <string.h>

/* By hand: 1 with the value, or 0. */
static int find(plim_bytes options, const char *name, plim_bytes *value)
{
	size_t length = strlen(name), start = 0;

	while (length && start < options.size) {
		size_t end = start;
		while (end < options.size && options.data[end] != ',')
			end++;
		const char *option = options.data + start;
		size_t size = end - start;
		start = end + 1;
		if (size < length || memcmp(option, name, length) != 0)
			continue;
		if (size == length) {
			*value = (plim_bytes){option + size, 0};
			return 1;
		}
		if (option[length] != '=')
			continue;
		*value = (plim_bytes){option + length + 1, size - length - 1};
		return 1;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;

	if (!newline)
		return 0;
	size_t name_size = (size_t)(newline - data);
	char *name = promise_string(data, name_size);
	plim_bytes options = {(const char *)newline + 1, size - name_size - 1};
	plim_bytes value = {.data = NULL, .size = 77};
	plim_bytes expected = value;
	int result = plimp_decode_mount_option(options, name, &value);
	PROMISE(result == find(options, name, &expected));
	PROMISE(value.data == expected.data && value.size == expected.size);
	if (result)
		PROMISE(promise_inside(options, value));
	else
		PROMISE(value.size == 77);
	free(name);
	return 0;
}
