/*
 * fuzz_scan.c - the steps that decoders are made of, from every place of the
 * text: none leaves it, one that fails moves and stores nothing, and a number
 * is the digits that were taken.
 */
#include "host/linux/scan.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void check_moved(const struct plimp_scan *before,
			const struct plimp_scan *after, int moves)
{
	PROMISE(after->end == before->end);
	if (moves)
		PROMISE(after->at > before->at && after->at <= after->end);
	else
		PROMISE(after->at == before->at);
}

static void try_numbers(const struct plimp_scan *from)
{
	struct plimp_scan scan = *from;
	uint64_t whole = 77;
	int64_t with_sign = 77;
	size_t size = (size_t)(from->end - from->at);
	int minus = size > 0 && *from->at == '-';
	char line[64];

	int is_whole = plimp_scan_u64(&scan, &whole);
	check_moved(from, &scan, is_whole);
	if (is_whole) {
		PROMISE(promise_says((plim_bytes){from->at, size}, "", whole));
		PROMISE(scan.at == scan.end || *scan.at < '0' ||
			*scan.at > '9');
	} else {
		PROMISE(whole == 77);
	}

	scan = *from;
	int is_signed = plimp_scan_i64(&scan, &with_sign);
	check_moved(from, &scan, is_signed);
	if (!is_signed)
		PROMISE(with_sign == 77);
	if (!minus) {
		PROMISE(is_signed == (is_whole && whole <= INT64_MAX));
		if (is_signed)
			PROMISE((uint64_t)with_sign == whole);
	} else if (is_signed) {
		PROMISE(!is_whole && with_sign <= 0);
		snprintf(line, sizeof(line), "%" PRId64, with_sign);
		/* Either the same digits, or "-0", or zeros in front. */
		PROMISE(with_sign == 0 || from->at[1] == '0' ||
			!memcmp(line, from->at, strlen(line)));
	}
}

static void try_words(const struct plimp_scan *from)
{
	struct plimp_scan scan = *from;
	plim_bytes word = {.data = NULL, .size = 77};
	size_t size = (size_t)(from->end - from->at);
	int found = plimp_scan_word(&scan, &word);

	check_moved(from, &scan, found);
	if (found) {
		PROMISE(word.data == from->at &&
			word.data + word.size == scan.at);
		PROMISE(!memchr(word.data, ' ', word.size));
		PROMISE(!memchr(word.data, '\t', word.size));
	} else {
		PROMISE(word.size == 77);
	}
	plimp_scan_blanks(&scan);
	PROMISE(scan.at <= scan.end);
	PROMISE(scan.at == scan.end || (*scan.at != ' ' && *scan.at != '\t'));

	scan = *from;
	found = plimp_scan_literal(&scan, "kB");
	check_moved(from, &scan, found);
	PROMISE(found == (size >= 2 && !memcmp(from->at, "kB", 2)));
}

/* All lines together are the text, and no line holds a newline. */
static void try_lines(plim_bytes text)
{
	struct plimp_scan scan = plimp_scan_of(text);
	plim_bytes line;
	size_t sum = 0;

	while (plimp_scan_line(&scan, &line)) {
		PROMISE(promise_inside(text, line));
		PROMISE(!line.size || !memchr(line.data, '\n', line.size));
		sum += line.size + (line.data + line.size != scan.end);
	}
	PROMISE(sum == text.size && scan.at == scan.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	struct plimp_scan scan = plimp_scan_of(text);

	try_lines(text);
	for (int i = 0; i < 64; i++) {
		try_numbers(&scan);
		try_words(&scan);
		if (scan.at == scan.end)
			break;
		scan.at++;
	}
	return 0;
}
