/*
 * test_buffer.c - appending, escaping, and the failure that is kept.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/buffer.h"

#include <stdlib.h>
#include <string.h>

/* Hands out memory for so many calls, then no more. */
struct ration {
	int calls;
	size_t held;
};

static void *ration_resize(void *memory, size_t old_size, size_t new_size,
			   void *user)
{
	struct ration *ration = user;

	if (new_size == 0) {
		ration->held -= old_size;
		free(memory);
		return NULL;
	}
	if (ration->calls == 0)
		return NULL;
	ration->calls--;
	ration->held += new_size - old_size;
	return realloc(memory, new_size);
}

static void holds(const struct plimp_buffer *buffer, const char *expected)
{
	assert_int_equal(buffer->size, strlen(expected));
	assert_memory_equal(buffer->data, expected, buffer->size);
}

static void test_append(void **state)
{
	struct plimp_buffer buffer;
	char piece[8] = "abcdefg";

	(void)state;
	plimp_buffer_init(&buffer, NULL);
	plimp_buffer_append(&buffer, NULL, 0);
	plimp_buffer_string(&buffer, "");
	assert_null(buffer.data);
	plimp_buffer_string(&buffer, "one ");
	plimp_buffer_append(&buffer, "two three", 3);
	holds(&buffer, "one two");
	for (int i = 0; i < 10000; i++)
		plimp_buffer_append(&buffer, piece, 7);
	assert_int_equal(buffer.failed, PLIM_OK);
	assert_int_equal(buffer.size, 7 + 70000);
	assert_memory_equal(buffer.data + 7 + 69993, piece, 7);
	plimp_buffer_clear(&buffer);
	assert_int_equal(buffer.size, 0);
	assert_true(buffer.capacity > 70000);
	plimp_buffer_string(&buffer, "again");
	holds(&buffer, "again");
	plimp_buffer_release(&buffer);
	assert_null(buffer.data);
	assert_int_equal(buffer.capacity, 0);
	plimp_buffer_release(&buffer);
}

static void test_escaped(void **state)
{
	struct plimp_buffer buffer;
	char large[300];

	(void)state;
	plimp_buffer_init(&buffer, NULL);
	plimp_buffer_escaped(&buffer, PLIM_ESCAPE_JSON, (plim_bytes){NULL, 0});
	assert_int_equal(buffer.size, 0);
	plimp_buffer_string(&buffer, "\"");
	plimp_buffer_escaped(&buffer, PLIM_ESCAPE_JSON,
			     (plim_bytes){"a\"\n\xff", 4});
	plimp_buffer_string(&buffer, "\"");
	holds(&buffer, "\"a\\\"\\n\\\\xff\"");
	/* Four bytes each, up to the very end of the room. */
	memset(large, 1, sizeof(large));
	for (size_t size = 0; size < sizeof(large); size++) {
		plimp_buffer_clear(&buffer);
		plimp_buffer_escaped(&buffer, PLIM_ESCAPE_TERMINAL,
				     (plim_bytes){large, size});
		assert_int_equal(buffer.size, 4 * size);
	}
	plimp_buffer_release(&buffer);
}

static void test_failure_is_kept(void **state)
{
	struct ration ration = {1, 0};
	const plim_allocator allocator = {ration_resize, &ration};
	struct plimp_buffer buffer;
	char large[1000];

	(void)state;
	memset(large, 'x', sizeof(large));
	plimp_buffer_init(&buffer, &allocator);
	plimp_buffer_string(&buffer, "kept");
	plimp_buffer_append(&buffer, large, sizeof(large));
	assert_int_equal(buffer.failed, PLIM_ENOMEM);
	holds(&buffer, "kept");
	/* Even what there would be room for. */
	plimp_buffer_string(&buffer, "y");
	plimp_buffer_escaped(&buffer, PLIM_ESCAPE_CSV, (plim_bytes){"y", 1});
	holds(&buffer, "kept");
	plimp_buffer_append(&buffer, "", 0);
	assert_int_equal(buffer.failed, PLIM_ENOMEM);
	plimp_buffer_clear(&buffer);
	plimp_buffer_string(&buffer, "new");
	assert_int_equal(buffer.failed, PLIM_OK);
	holds(&buffer, "new");
	plimp_buffer_append(&buffer, large, SIZE_MAX - 1);
	assert_int_equal(buffer.failed, PLIM_ENOMEM);
	holds(&buffer, "new");
	plimp_buffer_release(&buffer);
	assert_int_equal(ration.held, 0);
}

static void test_no_memory_at_all(void **state)
{
	struct ration ration = {0, 0};
	const plim_allocator allocator = {ration_resize, &ration};
	struct plimp_buffer buffer;

	(void)state;
	plimp_buffer_init(&buffer, &allocator);
	plimp_buffer_escaped(&buffer, PLIM_ESCAPE_ASCII, (plim_bytes){"y", 1});
	assert_int_equal(buffer.failed, PLIM_ENOMEM);
	assert_int_equal(buffer.size, 0);
	assert_null(buffer.data);
	plimp_buffer_release(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_append),
	    cmocka_unit_test(test_escaped),
	    cmocka_unit_test(test_failure_is_kept),
	    cmocka_unit_test(test_no_memory_at_all),
	};

	return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
