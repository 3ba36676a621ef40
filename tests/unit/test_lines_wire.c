/*
 * test_lines_wire.c - frames that a cell tells: they come out as they went in,
 * the outermost is kept where there is no room, and what does not add up is
 * not believed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/lines_wire.h"

#include <stdlib.h>
#include <string.h>

#define ROW 40

static plim_bytes text(const char *string)
{
	plim_bytes bytes = {string, strlen(string)};

	return bytes;
}

static void expect(plim_bytes got, const char *right)
{
	assert_int_equal(got.size, strlen(right));
	assert_memory_equal(got.data, right, got.size);
}

static const char *const names[3] = {"in", "between", "out"};

static size_t write_three(uint8_t *bytes, size_t capacity)
{
	struct plimp_line frames[3];
	size_t i;

	memset(frames, 0, sizeof(frames));
	for (i = 0; i < 3; i++) {
		frames[i].function = text(names[i]);
		frames[i].linkage = text(i == 1 ? "_Z7between" : "");
		frames[i].file = text("/source.c");
		frames[i].declared_file = text("/header.h");
		frames[i].line = (uint32_t)(10 + i);
		frames[i].column = (uint32_t)(20 + i);
		frames[i].declared_line = (uint32_t)(30 + i);
		frames[i].start = i == 2 ? 0x123456789abcull : 0;
	}
	return plimp_lines_write(frames, 3, bytes, capacity);
}

static void test_whole(void **state)
{
	struct plimp_line frames[4];
	uint8_t bytes[1024];
	size_t size = write_three(bytes, sizeof(bytes));
	size_t count = 0, i;

	(void)state;
	assert_int_equal(size, 3 * ROW + 2 + 7 + 3 + 10 + 3 * 18);
	assert_int_equal(plimp_lines_read(bytes, size, 3, frames, 4, &count),
			 PLIM_OK);
	assert_int_equal(count, 3);
	for (i = 0; i < 3; i++) {
		expect(frames[i].function, names[i]);
		expect(frames[i].linkage, i == 1 ? "_Z7between" : "");
		expect(frames[i].file, "/source.c");
		expect(frames[i].declared_file, "/header.h");
		assert_int_equal(frames[i].line, 10 + i);
		assert_int_equal(frames[i].column, 20 + i);
		assert_int_equal(frames[i].declared_line, 30 + i);
		assert_int_equal(frames[i].is_inlined, i < 2);
	}
	assert_true(frames[2].start == 0x123456789abcull);
}

static void test_little_room(void **state)
{
	struct plimp_line frames[2];
	uint8_t bytes[1024];
	size_t size = write_three(bytes, sizeof(bytes));
	size_t count = 0;

	(void)state;
	assert_int_equal(plimp_lines_read(bytes, size, 3, frames, 2, &count),
			 PLIM_OK);
	assert_int_equal(count, 2);
	expect(frames[0].function, "in");
	expect(frames[1].function, "out");
	assert_int_equal(frames[1].is_inlined, 0);
	assert_int_equal(plimp_lines_read(bytes, size, 3, frames, 1, &count),
			 PLIM_OK);
	assert_int_equal(count, 1);
	expect(frames[0].function, "out");
	assert_int_equal(frames[0].is_inlined, 0);
}

/* A text without room is left out, and so is one that is too long. */
static void test_left_out(void **state)
{
	static uint8_t bytes[2 * PLIMP_LINES_NAME];
	struct plimp_line frame, got;
	size_t count = 0, size;
	char *name = malloc(PLIMP_LINES_NAME + 1);

	(void)state;
	assert_non_null(name);
	memset(name, 'n', PLIMP_LINES_NAME + 1);
	memset(&frame, 0, sizeof(frame));
	frame.function.data = name;
	frame.function.size = PLIMP_LINES_NAME + 1;
	frame.linkage.data = name;
	frame.linkage.size = PLIMP_LINES_NAME;
	frame.file = text("/a.c");
	size = plimp_lines_write(&frame, 1, bytes, sizeof(bytes));
	assert_int_equal(size, ROW + PLIMP_LINES_NAME + 4);
	assert_int_equal(plimp_lines_read(bytes, size, 1, &got, 1, &count),
			 PLIM_OK);
	assert_int_equal(got.function.size, 0);
	assert_int_equal(got.linkage.size, PLIMP_LINES_NAME);
	expect(got.file, "/a.c");

	size = plimp_lines_write(&frame, 1, bytes, ROW + 5);
	assert_int_equal(size, ROW + 4);
	assert_int_equal(plimp_lines_read(bytes, size, 1, &got, 1, &count),
			 PLIM_OK);
	assert_int_equal(got.linkage.size, 0);
	expect(got.file, "/a.c");
	free(name);
}

static void test_hostile(void **state)
{
	struct plimp_line frames[4];
	uint8_t bytes[1024], broken[1024];
	size_t size = write_three(bytes, sizeof(bytes));
	size_t count = 7, i;
	const uint32_t huge = 0xffffffffu;

	(void)state;
	/* Any other number of bytes, or of rows. */
	for (i = 0; i < size; i++)
		assert_int_equal(
		    plimp_lines_read(bytes, i, 3, frames, 4, &count),
		    PLIM_EMALFORMED);
	assert_int_equal(
	    plimp_lines_read(bytes, size + 1, 3, frames, 4, &count),
	    PLIM_EMALFORMED);
	assert_int_equal(plimp_lines_read(bytes, size, 0, frames, 4, &count),
			 PLIM_EMALFORMED);
	assert_int_equal(plimp_lines_read(bytes, size, PLIMP_LINES_FRAMES + 1,
					  frames, 4, &count),
			 PLIM_EMALFORMED);
	/* Sizes of texts: at 20, 24, 28, 32 of each row. */
	for (i = 0; i < 12; i++) {
		memcpy(broken, bytes, size);
		memcpy(broken + i / 4 * ROW + 20 + i % 4 * 4, &huge,
		       sizeof(huge));
		assert_int_equal(
		    plimp_lines_read(broken, size, 3, frames, 4, &count),
		    PLIM_EMALFORMED);
	}
	assert_int_equal(count, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_whole),
	    cmocka_unit_test(test_little_room),
	    cmocka_unit_test(test_left_out),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
