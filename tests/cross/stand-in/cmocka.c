/*
 * cmocka.c - a stand-in for the part of cmocka that our tests use; see
 * cmocka.h.
 *
 * A test is left by longjmp() to the place that started it. What it prints
 * goes to one stream in order, unbuffered, so that a crash loses nothing. The
 * lines between the brackets are those of cmocka 1.1.5: tools/run-tests reads
 * either.
 */
#include "cmocka.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a test ended. */
enum { RAN, FAILED, SKIPPED };

static jmp_buf back;

/* Where a failure outside of a test would jump to nowhere. */
static int may_jump;

void print_message(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
}

void print_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
}

void cmocka_stand_in_fail(const char *file, int line)
{
	print_error("[   LINE   ] --- %s:%d: error: Failure!\n", file, line);
	if (may_jump)
		longjmp(back, FAILED);
	exit(1);
}

void cmocka_stand_in_skip(void)
{
	if (may_jump)
		longjmp(back, SKIPPED);
	exit(1);
}

void cmocka_stand_in_true(int holds, const char *text, const char *file,
			  int line)
{
	if (holds)
		return;
	print_error("[  ERROR   ] --- %s\n", text);
	cmocka_stand_in_fail(file, line);
}

void cmocka_stand_in_same(LargestIntegralType one, LargestIntegralType other,
			  int wanted, const char *file, int line)
{
	if ((one == other) == wanted)
		return;
	print_error("[  ERROR   ] --- 0x%" PRIx64 " %s 0x%" PRIx64 "\n", one,
		    wanted ? "!=" : "==", other);
	cmocka_stand_in_fail(file, line);
}

void cmocka_stand_in_strings(const char *one, const char *other, int wanted,
			     const char *file, int line)
{
	if (one != NULL && other != NULL && (strcmp(one, other) == 0) == wanted)
		return;
	print_error("[  ERROR   ] --- \"%s\" %s \"%s\"\n",
		    one == NULL ? "(null)" : one,
		    wanted ? "!=" : "==", other == NULL ? "(null)" : other);
	cmocka_stand_in_fail(file, line);
}

void cmocka_stand_in_memory(const void *one, const void *other, size_t size,
			    int wanted, const char *file, int line)
{
	const unsigned char *a = one;
	const unsigned char *b = other;
	size_t at = 0;

	while (at < size && a[at] == b[at])
		at++;
	if ((at == size) == wanted)
		return;
	if (at < size)
		print_error("[  ERROR   ] --- difference at offset %zu 0x%02x "
			    "0x%02x\n",
			    at, a[at], b[at]);
	cmocka_stand_in_fail(file, line);
}

void cmocka_stand_in_range(LargestIntegralType value, LargestIntegralType least,
			   LargestIntegralType most, const char *file, int line)
{
	if (value >= least && value <= most)
		return;
	print_error("[  ERROR   ] --- %" PRIu64
		    " is not within the range %" PRIu64 "-%" PRIu64 "\n",
		    value, least, most);
	cmocka_stand_in_fail(file, line);
}

static int run_one(const struct CMUnitTest *test, void *group_state)
{
	/* What a test leaves by longjmp() keeps the value of these. */
	void *volatile state = group_state;
	void *now = group_state;
	int ended;

	if (test->initial_state != NULL)
		now = test->initial_state;
	state = now;
	/* C11 lets the value of setjmp() be compared, not kept. */
	switch (setjmp(back)) {
	case RAN:
		ended = RAN;
		may_jump = 1;
		if (test->setup_func != NULL && test->setup_func(&now) != 0) {
			print_error("Test setup failed\n");
			longjmp(back, FAILED);
		}
		state = now;
		test->test_func(&now);
		state = now;
		break;
	case SKIPPED:
		ended = SKIPPED;
		break;
	default:
		ended = FAILED;
	}
	may_jump = 0;
	now = state;
	if (test->teardown_func != NULL && test->teardown_func(&now) != 0) {
		print_error("Test teardown failed\n");
		ended = FAILED;
	}
	return ended;
}

/* The list of those that ended so. */
static void tell(const struct CMUnitTest *tests, const int *ends, size_t count,
		 int end, size_t number, const char *word)
{
	if (number == 0)
		return;
	printf("[  %s ] %zu test(s), listed below:\n", word, number);
	for (size_t i = 0; i < count; i++)
		if (ends[i] == end)
			printf("[  %s ] %s\n", word, tests[i].name);
	printf("\n %zu %s TEST(S)\n", number,
	       end == FAILED ? "FAILED" : "SKIPPED");
}

int cmocka_stand_in_run(const struct CMUnitTest *tests, size_t count,
			CMFixtureFunction setup, CMFixtureFunction teardown)
{
	static const char *const words[] = {
	    [RAN] = "[       OK ]",
	    [FAILED] = "[  FAILED  ]",
	    [SKIPPED] = "[  SKIPPED ]",
	};
	static int ends[256];
	size_t numbers[3] = {0, 0, 0};
	void *state = NULL;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (count > sizeof(ends) / sizeof(ends[0])) {
		print_error("more tests than the stand-in has room for\n");
		return 1;
	}
	printf("[==========] Running %zu test(s).\n", count);
	if (setup != NULL && setup(&state) != 0) {
		print_error("[  FAILED  ] GROUP SETUP\n");
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		printf("[ RUN      ] %s\n", tests[i].name);
		ends[i] = run_one(&tests[i], state);
		numbers[ends[i]]++;
		printf("%s %s\n", words[ends[i]], tests[i].name);
	}
	if (teardown != NULL && teardown(&state) != 0) {
		print_error("[  FAILED  ] GROUP TEARDOWN\n");
		numbers[FAILED]++;
	}
	printf("[==========] %zu test(s) run.\n", count);
	printf("[  PASSED  ] %zu test(s).\n", numbers[RAN]);
	tell(tests, ends, count, SKIPPED, numbers[SKIPPED], "SKIPPED");
	tell(tests, ends, count, FAILED, numbers[FAILED], "FAILED ");
	return (int)numbers[FAILED];
}
