/*
 * test_gzip.c - what goes in comes out of the system's gunzip; equal bytes
 * give equal members; memory is the caller's; failures are kept. Without zlib
 * the bytes come out as they went in.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/gzip.h"

#include "counting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE 300000

struct gathered {
	char *data;
	size_t size;
	size_t room; /* bytes that still fit */
};

static int gather(const char *data, size_t size, void *user)
{
	struct gathered *to = user;

	if (size > to->room)
		return ENOSPC;
	memcpy(to->data + to->size, data, size);
	to->size += size;
	to->room -= size;
	return 0;
}

static char *text_of(size_t size)
{
	char *text = malloc(size);
	unsigned number = 1;

	assert_non_null(text);
	for (size_t i = 0; i < size; i++) {
		number = number * 1103515245u + 12345u;
		text[i] = (char)('a' + (number >> 16) % 7);
	}
	return text;
}

static int squeeze(const char *text, size_t part, int plain,
		   struct gathered *to, const plim_allocator *allocator)
{
	struct plimp_gzip *gzip = NULL;
	struct plimp_sink sink;
	int code;

	to->size = 0;
	plimp_sink_init(&sink, gather, to);
	assert_int_equal(plimp_gzip_new(&gzip, &sink, plain, allocator),
			 PLIM_OK);
	for (size_t at = 0; at < SIZE; at += part)
		plimp_gzip_put(gzip, text + at,
			       SIZE - at < part ? SIZE - at : part);
	code = plimp_gzip_finish(gzip);
	plimp_gzip_free(gzip);
	return code;
}

/* By another reader than zlib's own. */
static void comes_back(const struct gathered *gathered, const char *text)
{
	char path[] = "/tmp/plim-gzip.XXXXXX";
	char command[64];
	char *back = malloc(SIZE + 1);
	const int file = mkstemp(path);
	FILE *pipe;

	assert_true(file >= 0);
	assert_int_equal(write(file, gathered->data, gathered->size),
			 (ssize_t)gathered->size);
	close(file);
	snprintf(command, sizeof command, "gzip -dc <%s", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fread(back, 1, SIZE + 1, pipe), SIZE);
	assert_int_equal(pclose(pipe), 0);
	unlink(path);
	assert_memory_equal(back, text, SIZE);
	free(back);
}

static void round_trip(void **state)
{
	struct counting counting = {0};
	const plim_allocator allocator = counting_allocator(&counting);
	struct gathered one = {malloc(2 * SIZE), 0, 2 * SIZE};
	struct gathered other = {malloc(2 * SIZE), 0, 2 * SIZE};
	char *text = text_of(SIZE);

	(void)state;
	assert_int_equal(squeeze(text, SIZE, 0, &one, &allocator), PLIM_OK);
	assert_int_equal(squeeze(text, 777, 0, &other, &allocator), PLIM_OK);
	assert_int_equal(counting.live, 0);
	assert_true(counting.calls > 2);
	assert_int_equal(one.size, other.size);
	assert_memory_equal(one.data, other.data, one.size);
	if (plimp_gzip_is_there()) {
		/* RFC 1952: magic, deflate, no flags, no time. */
		assert_memory_equal(one.data, "\x1f\x8b\x08\0\0\0\0\0", 8);
		assert_true(one.size < SIZE / 2);
		comes_back(&one, text);
	} else {
		assert_int_equal(one.size, SIZE);
		assert_memory_equal(one.data, text, SIZE);
	}
	free(text);
	free(one.data);
	free(other.data);
}

static void plain(void **state)
{
	struct gathered one = {malloc(SIZE), 0, SIZE};
	char *text = text_of(SIZE);

	(void)state;
	assert_int_equal(squeeze(text, 4096, 1, &one, NULL), PLIM_OK);
	assert_int_equal(one.size, SIZE);
	assert_memory_equal(one.data, text, SIZE);
	free(text);
	free(one.data);
}

static void full_disk(void **state)
{
	struct gathered little = {malloc(10000), 0, 10000};
	char *text = text_of(SIZE);

	(void)state;
	assert_int_equal(squeeze(text, 4096, 0, &little, NULL), PLIM_EOUTPUT);
	free(text);
	free(little.data);
}

/* Every allocation fails in turn. */
struct failing {
	int until;
	int calls;
	long live;
};

static void *failing_resize(void *memory, size_t old_size, size_t new_size,
			    void *user)
{
	struct failing *failing = user;
	void *moved;

	if (new_size == 0) {
		if (memory != NULL)
			failing->live -= (long)old_size;
		free(memory);
		return NULL;
	}
	if (failing->calls++ == failing->until)
		return NULL;
	moved = realloc(memory, new_size);
	assert_non_null(moved);
	failing->live += (long)new_size - (memory != NULL ? (long)old_size : 0);
	return moved;
}

static void no_memory(void **state)
{
	struct failing failing = {0};
	const plim_allocator allocator = {failing_resize, &failing};
	struct plimp_gzip *gzip = NULL;
	struct plimp_sink sink;
	int code = PLIM_ENOMEM;

	(void)state;
	plimp_sink_init(&sink, gather, NULL);
	for (; code == PLIM_ENOMEM; failing.until++) {
		assert_true(failing.until < 20);
		failing.calls = 0;
		code = plimp_gzip_new(&gzip, &sink, 0, &allocator);
		if (code == PLIM_ENOMEM) {
			assert_null(gzip);
			assert_int_equal(failing.live, 0);
		}
	}
	assert_int_equal(code, PLIM_OK);
	plimp_gzip_free(gzip);
	assert_int_equal(failing.live, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(round_trip),
	    cmocka_unit_test(plain),
	    cmocka_unit_test(full_disk),
	    cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
