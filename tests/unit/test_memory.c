/*
 * test_memory.c - the allocator hook and its overflow checks.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* An allocator that keeps books and fails when told to. */
struct books {
	size_t bytes; /* held now */
	size_t calls;
	int fails;
	size_t last_old;
	size_t last_new;
};

static void *books_resize(void *memory, size_t old_size, size_t new_size,
			  void *user)
{
	struct books *books = user;

	books->calls++;
	books->last_old = old_size;
	books->last_new = new_size;
	if (new_size == 0) {
		books->bytes -= old_size;
		free(memory);
		return NULL;
	}
	if (books->fails)
		return NULL;
	books->bytes += new_size - old_size;
	memory = realloc(memory, new_size);
	/* Memory that was used before. */
	if (memory != NULL && new_size > old_size)
		memset((char *)memory + old_size, 0xa5, new_size - old_size);
	return memory;
}

static void test_default(void **state)
{
	const plim_allocator empty = {NULL, NULL};
	char *bytes = plimp_allocate(NULL, 100, 1);

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(bytes[i], 0);
	memset(bytes, 7, 100);
	bytes = plimp_resize(&empty, bytes, 100, 10000, 1);
	assert_non_null(bytes);
	assert_int_equal(bytes[99], 7);
	plimp_release(NULL, bytes, 10000, 1);
	plimp_release(NULL, NULL, 0, 8);
}

static void test_hook(void **state)
{
	struct books books = {0};
	const plim_allocator allocator = {books_resize, &books};
	uint64_t *numbers = plimp_allocate(&allocator, 5, sizeof(*numbers));
	uint64_t *grown;

	(void)state;
	assert_int_equal(books.bytes, 40);
	assert_int_equal(books.last_old, 0);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(numbers[i], 0);
	numbers[4] = 44;
	books.fails = 1;
	assert_null(plimp_resize(&allocator, numbers, 5, 50, 8));
	assert_int_equal(numbers[4], 44);
	books.fails = 0;
	grown = plimp_resize(&allocator, numbers, 5, 50, 8);
	assert_int_equal(books.last_old, 40);
	assert_int_equal(books.last_new, 400);
	assert_int_equal(grown[4], 44);
	plimp_release(&allocator, grown, 50, 8);
	assert_int_equal(books.bytes, 0);
	books.calls = 0;
	plimp_release(&allocator, NULL, 50, 8);
	assert_int_equal(books.calls, 0);
}

/* A product that does not fit never reaches the allocator. */
static void test_overflow(void **state)
{
	struct books books = {0};
	const plim_allocator allocator = {books_resize, &books};
	void *array = NULL;
	size_t capacity = 0;

	(void)state;
	assert_null(plimp_allocate(&allocator, SIZE_MAX / 8 + 1, 8));
	assert_null(plimp_resize(&allocator, NULL, 0, SIZE_MAX, 2));
	assert_int_equal(
	    plimp_reserve(&allocator, &array, &capacity, SIZE_MAX - 1, 16, 1),
	    PLIM_ENOMEM);
	assert_int_equal(
	    plimp_reserve(&allocator, &array, &capacity, SIZE_MAX / 4, 16, 64),
	    PLIM_ENOMEM);
	assert_int_equal(books.calls, 0);
	assert_null(array);
	assert_int_equal(capacity, 0);
}

static void test_reserve(void **state)
{
	struct books books = {0};
	const plim_allocator allocator = {books_resize, &books};
	void *array = NULL;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(plimp_reserve(&allocator, &array, &capacity, 0, 16, 4),
			 PLIM_OK);
	assert_null(array);
	assert_int_equal(plimp_reserve(&allocator, &array, &capacity, 1, 16, 4),
			 PLIM_OK);
	assert_int_equal(capacity, 16);
	assert_int_equal(books.bytes, 64);
	assert_int_equal(
	    plimp_reserve(&allocator, &array, &capacity, 16, 16, 4), PLIM_OK);
	assert_int_equal(books.calls, 1);
	assert_int_equal(
	    plimp_reserve(&allocator, &array, &capacity, 64, 16, 4), PLIM_OK);
	assert_int_equal(capacity, 64);
	assert_int_equal(
	    plimp_reserve(&allocator, &array, &capacity, 100, 16, 4), PLIM_OK);
	assert_int_equal(capacity, 128);
	books.fails = 1;
	assert_int_equal(
	    plimp_reserve(&allocator, &array, &capacity, 129, 16, 4),
	    PLIM_ENOMEM);
	assert_int_equal(capacity, 128);
	assert_int_equal(books.bytes, 512);
	plimp_release(&allocator, array, capacity, 4);
	assert_int_equal(books.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_default),
	    cmocka_unit_test(test_hook),
	    cmocka_unit_test(test_overflow),
	    cmocka_unit_test(test_reserve),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
