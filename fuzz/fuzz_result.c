/*
 * fuzz_result.c - any bytes as a line of a program's output. What is read lies
 * within the line; a failure stores nothing and says where; pairs are walked
 * to the end; a number is finite; and any bytes written as a text come back as
 * they were.
 */
#include <plimsoll/result.h>

#include "promise.h"

#include <math.h>
#include <string.h>

static void check_pairs(plim_bytes line, const plim_result *result)
{
	plim_result_pair pair, again;
	size_t offset = 0, before = 0;
	char key[64];

	while (plim_result_next(result, &offset, &pair)) {
		PROMISE(offset > before && offset <= result->value.size);
		PROMISE(pair.key.size > 0 && promise_inside(line, pair.key));
		PROMISE(promise_inside(line, pair.value));
		PROMISE(pair.quoted || pair.value.size > 0);
		PROMISE(!pair.quoted || !pair.unavailable);
		PROMISE(!memchr(pair.value.data, '\n', pair.value.size));
		before = offset;
		if (pair.key.size >= sizeof(key))
			continue;
		memcpy(key, pair.key.data, pair.key.size);
		key[pair.key.size] = '\0';
		int found = plim_result_find(result, key, &again, NULL);
		PROMISE(found == PLIM_ESYNTAX ||
			(found == 1 && again.key.data == pair.key.data));
	}
	/* The walk ends where the line does. */
	PROMISE(offset == result->value.size);
}

static void check_line(plim_bytes line, const plim_result *result)
{
	double number;

	PROMISE(result->kind > PLIM_RESULT_NONE &&
		result->kind <= PLIM_RESULT_RECORD);
	PROMISE(result->key.size > 0 && promise_inside(line, result->key));
	PROMISE(promise_inside(line, result->value));
	PROMISE(promise_inside(line, result->unit));
	PROMISE(result->value.data == line.data + result->start);
	for (size_t i = 0; i < result->unit.size; i++)
		PROMISE((unsigned char)result->unit.data[i] >= ' ' &&
			result->unit.data[i] != 0x7f);
	if (result->kind == PLIM_RESULT_RECORD)
		check_pairs(line, result);
	if (result->kind != PLIM_RESULT_VALUE)
		return;
	PROMISE(isfinite(result->number));
	PROMISE(plim_result_number(result->value, &number, NULL) == PLIM_OK);
	PROMISE(number == result->number);
}

struct gathered {
	char data[8192];
	size_t size;
};

static int gather(const char *data, size_t size, void *user)
{
	struct gathered *to = user;

	if (size > sizeof(to->data) - to->size)
		return 1;
	memcpy(to->data + to->size, data, size);
	to->size += size;
	return 0;
}

/* The bytes as a text: one line, and the same bytes back. */
static void check_text(plim_bytes text)
{
	static struct gathered line;
	static char back[1024];
	plim_result_line writer;
	plim_result_pair pair;
	plim_result result;

	if (text.size > sizeof(back))
		return;
	line.size = 0;
	plim_result_begin(&writer, "r", gather, &line);
	plim_result_add_text(&writer, "t", text);
	PROMISE(plim_result_end(&writer) == PLIM_OK);
	plim_bytes whole = {line.data, line.size};
	PROMISE(memchr(whole.data, '\n', whole.size) ==
		whole.data + whole.size - 1);
	PROMISE(plim_result_parse(whole, &result, NULL) == PLIM_OK);
	PROMISE(plim_result_find(&result, "t", &pair, NULL) == 1);
	PROMISE(plim_result_unescape(pair.value, back, sizeof(back)) ==
		text.size);
	PROMISE(text.size == 0 || !memcmp(back, text.data, text.size));

	line.size = 0;
	PROMISE(plim_result_text("t", text, gather, &line) == PLIM_OK);
	whole = (plim_bytes){line.data, line.size};
	PROMISE(plim_result_parse(whole, &result, NULL) == PLIM_OK);
	PROMISE(result.kind == PLIM_RESULT_TEXT);
	PROMISE(plim_result_unescape(result.value, back, sizeof(back)) ==
		text.size);
	PROMISE(text.size == 0 || !memcmp(back, text.data, text.size));
}

static void check_numbers(plim_bytes text)
{
	double number = 77;
	uint64_t whole = 77;

	if (plim_result_number(text, &number, NULL) == PLIM_OK)
		PROMISE(isfinite(number));
	else
		PROMISE(number > 76 && number < 78);
	if (plim_result_whole(text, &whole, NULL) != PLIM_OK)
		PROMISE(whole == 77);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes line = {.data = (const char *)data, .size = size};
	plim_result result, untouched;
	plim_error error, no_error;

	memset(&untouched, 0xa5, sizeof(untouched));
	memset(&no_error, 0x5a, sizeof(no_error));
	result = untouched;
	error = no_error;
	int code = plim_result_parse(line, &result, &error);
	if (code == PLIM_OK) {
		PROMISE(!memcmp(&error, &no_error, sizeof(error)));
		if (result.kind == PLIM_RESULT_NONE)
			PROMISE(size < 7 || memcmp(data, "RESULT ", 7) != 0);
		else
			check_line(line, &result);
	} else {
		PROMISE(code == PLIM_ESYNTAX || code == PLIM_EINVAL);
		PROMISE(!memcmp(&result, &untouched, sizeof(result)));
		PROMISE(error.position >= 7 && error.position <= (int64_t)size);
	}
	check_text(line);
	check_numbers(line);
	return 0;
}
