/*
 * test_decode_mac_arguments.c - KERN_PROCARGS2: padding, numbers of arguments
 * that are lies, texts without an end.
 */
#include "fixture.h"
#include "mac_bytes.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

struct row {
	uint32_t claimed;
	const char *bytes; /* behind the number */
	size_t size;
	const char *program;
	const char *arguments;
	size_t arguments_size;
	uint32_t count;
	int is_whole;
};

/* A row's texts have NULs in them; sizeof counts the last one, too. */
#define TEXT(string) string, sizeof(string) - 1
#define NOTHING	     "", 0

static const struct row rows[] = {
    {2, TEXT("/bin/ls\0ls\0-l\0PATH=/bin\0"), "/bin/ls", TEXT("ls\0-l\0"), 2,
     1},
    {2, TEXT("/bin/ps\0ps\0-l\0"), "/bin/ps", TEXT("ps\0-l\0"), 2, 1},
    {2, TEXT("/bin/l\0\0ls\0-l\0"), "/bin/l", TEXT("ls\0-l\0"), 2, 1},
    {2, TEXT("/bin/cat\0\0\0\0\0\0\0\0cat\0-l\0"), "/bin/cat",
     TEXT("cat\0-l\0"), 2, 1},
    /* Empty arguments are arguments, the first one as well. */
    {3, TEXT("/bin/ls\0ls\0\0\0HOME=/\0"), "/bin/ls", TEXT("ls\0\0\0"), 3, 1},
    {2, TEXT("/bin/ls\0\0x\0SECRET=1\0"), "/bin/ls", TEXT("\0x\0"), 2, 1},
    {2, TEXT("/bin/l\0\0\0x\0SECRET=1\0"), "/bin/l", TEXT("\0x\0"), 2, 1},
    {2, TEXT("/bin/ls\0\0\0SECRET=1\0"), "/bin/ls", TEXT("\0\0"), 2, 1},
    {0, TEXT("/bin/ls\0HOME=/\0"), "/bin/ls", NOTHING, 0, 1},
    /* More are claimed than there are. */
    {9, TEXT("/bin/ls\0ls\0-l\0"), "/bin/ls", TEXT("ls\0-l\0"), 2, 0},
    {0x7fffffff, TEXT("/x\0\0\0\0\0\0y\0"), "/x", TEXT("y\0"), 1, 0},
    /* The last has no end. */
    {2, TEXT("/bin/ls\0ls\0-l"), "/bin/ls", TEXT("ls\0"), 1, 0},
    {1, TEXT("/bin/ls\0-l"), "/bin/ls", NOTHING, 0, 0},
    {1, TEXT("/bin/ls\0"), "/bin/ls", NOTHING, 0, 0},
    /* Less padding than the kernel's. */
    {1, TEXT("\0x\0"), "", TEXT("x\0"), 1, 1},
};

static int decode(uint32_t claimed, const char *data, size_t size,
		  struct plimp_mac_arguments *found, plim_bytes *kept)
{
	struct plimp_mac_arguments poison;
	char bytes[256];
	int result;

	assert_true(size + 4 <= sizeof(bytes));
	mac_put(bytes, 0, claimed, 4);
	memcpy(bytes + 4, data, size);
	*kept = text_copy(bytes, size + 4);
	memset(&poison, 0xa5, sizeof(poison));
	*found = poison;
	result = plimp_decode_mac_arguments(*kept, found);
	if (result != PLIM_OK) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(found, &poison, sizeof(poison));
	}
	return result;
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct plimp_mac_arguments found;
		plim_bytes bytes;

		assert_int_equal(
		    decode(row->claimed, row->bytes, row->size, &found, &bytes),
		    PLIM_OK);
		assert_true(text_is(found.program, row->program));
		assert_int_equal(found.arguments.size, row->arguments_size);
		assert_memory_equal(found.arguments.data, row->arguments,
				    row->arguments_size);
		assert_int_equal(found.count, row->count);
		assert_int_equal(found.is_whole, row->is_whole);
		text_free(bytes);
	}
}

static void test_malformed(void **state)
{
	struct plimp_mac_arguments found;
	plim_bytes bytes;

	(void)state;
	/* A negative number, no end of the path, no number at all. */
	assert_int_equal(decode(0x80000000, TEXT("/x\0y\0"), &found, &bytes),
			 PLIM_EMALFORMED);
	text_free(bytes);
	assert_int_equal(decode(1, TEXT("/bin/ls"), &found, &bytes),
			 PLIM_EMALFORMED);
	text_free(bytes);
	assert_int_equal(decode(1, "", 0, &found, &bytes), PLIM_EMALFORMED);
	text_free(bytes);
	for (size_t size = 0; size < 4; size++) {
		bytes = text_copy("\1\0\0\0", size);
		assert_int_equal(plimp_decode_mac_arguments(bytes, &found),
				 PLIM_EMALFORMED);
		text_free(bytes);
	}
}

/* Whatever is cut off, no more is told than there is. */
static void test_prefixes(void **state)
{
	static const char whole[] = "/bin/l\0\0ls\0-l\0PATH=/bin\0";

	(void)state;
	for (size_t size = 7; size < sizeof(whole); size++) {
		struct plimp_mac_arguments found;
		plim_bytes bytes;

		assert_int_equal(decode(2, whole, size, &found, &bytes),
				 PLIM_OK);
		assert_int_equal(found.is_whole, size >= 14);
		assert_int_equal(found.count, size >= 14   ? 2
					      : size >= 11 ? 1
							   : 0);
		text_free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_malformed),
	    cmocka_unit_test(test_prefixes),
	};

	return cmocka_run_group_tests_name("decode_mac_arguments", tests, NULL,
					   NULL);
}
