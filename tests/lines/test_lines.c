/*
 * test_lines.c - lines of this very program: what the compiler was told, and
 * what becomes of questions whose cell dies.
 */
#include "common.h"

#include "unwind/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the linker: where this program's file begins in memory. */
extern const char program_start[] __asm__("__executable_start");

struct subject {
	plim_host *host;
	struct plimp_file file;
	struct plimp_lines *lines;
};

static volatile int sink;

/* Inlined, whatever the optimisation, and known by its lines. */
static inline __attribute__((always_inline)) void known_inner(void)
{
	sink = sink * 3 + 1;
}
enum { INNER_LINE = __LINE__ - 2 };

__attribute__((noinline)) static uint64_t known_outer(void)
{
	uint64_t here;

	known_inner();
	here = (uint64_t)(uintptr_t)&known_outer;
	return here - (uint64_t)(uintptr_t)program_start;
}
enum { CALL_LINE = __LINE__ - 4, OUTER_LINE = CALL_LINE - 4 };

static void subject_open(struct subject *subject)
{
	plim_error error;
	int result;

	memset(subject, 0, sizeof(*subject));
	subject->host = open_host(0);
	assert_int_equal(plimp_system_file_open(subject->host, "/proc/self/exe",
						&subject->file, NULL),
			 PLIM_OK);
	result = plimp_lines_open(&subject->lines, subject->host,
				  &subject->file, NULL, &error);
	if (result == PLIM_EUNSUPPORTED)
		SKIP_BECAUSE("libdw is not there");
	assert_int_equal(result, PLIM_OK);
}

static void subject_close(struct subject *subject)
{
	plimp_lines_close(subject->lines);
	plimp_system_file_close(subject->host, &subject->file);
	plim_host_close(subject->host);
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static int same(plim_bytes text, const char *right)
{
	return text.size == strlen(right) &&
	       memcmp(text.data, right, text.size) == 0;
}

static int ends(plim_bytes text, const char *right)
{
	size_t size = strlen(right);

	return text.size >= size &&
	       memcmp(text.data + text.size - size, right, size) == 0;
}

static void test_own(void **state)
{
	uint64_t start = known_outer();
	struct plimp_line frames[8];
	struct subject subject;
	int found = 0;
	uint64_t at;

	(void)state;
	subject_open(&subject);
	/* Somewhere in it is the inlined one. */
	for (at = start; at < start + 80; at++) {
		size_t count = 0;

		if (plimp_lines_find(subject.lines, at, frames, 8, &count,
				     NULL) != PLIM_OK ||
		    count != 2 || !same(frames[1].function, "known_outer"))
			continue;
		found = 1;
		assert_true(same(frames[0].function, "known_inner"));
		assert_true(ends(frames[0].file, "tests/lines/test_lines.c"));
		assert_int_equal(frames[0].line, INNER_LINE);
		assert_int_equal(frames[0].is_inlined, 1);
		assert_true(frames[0].start == 0);
		assert_int_equal(frames[1].line, CALL_LINE);
		assert_true(ends(frames[1].file, "tests/lines/test_lines.c"));
		assert_int_equal(frames[1].is_inlined, 0);
		assert_true(frames[1].start == start);
		assert_int_equal(frames[1].declared_line, OUTER_LINE);
		assert_true(
		    ends(frames[1].declared_file, "tests/lines/test_lines.c"));
		assert_int_equal(frames[0].linkage.size, 0);
	}
	assert_true(found);
	subject_close(&subject);
}

/* Rows as they are before and after a rest. */
static void test_rest(void **state)
{
	uint64_t start = known_outer();
	struct plimp_line frames[8];
	struct subject subject;
	size_t count = 0;
	uint32_t line;

	(void)state;
	subject_open(&subject);
	plimp_lines_rest(subject.lines);
	assert_int_equal(
	    plimp_lines_find(subject.lines, start, frames, 8, &count, NULL),
	    PLIM_OK);
	line = frames[0].line;
	assert_int_not_equal(line, 0);
	plimp_lines_rest(subject.lines);
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(
	    plimp_lines_find(subject.lines, start, frames, 8, &count, NULL),
	    PLIM_OK);
	assert_int_equal(frames[0].line, line);
	subject_close(&subject);
}

/* The only child of this process, by the kernel's list; 0: none. */
static pid_t only_child(void)
{
	char path[64], text[64] = "";
	ssize_t count;
	int file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children",
		 (int)getpid());
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		SKIP_BECAUSE("the kernel has no list of children");
	count = read(file, text, sizeof(text) - 1);
	close(file);
	assert_true(count >= 0);
	return (pid_t)atoi(text);
}

static void test_deaths(void **state)
{
	uint64_t start = known_outer();
	struct plimp_line frames[8];
	struct subject subject;
	size_t count = 9;
	plim_error error;
	int death;

	(void)state;
	subject_open(&subject);
	for (death = 0; death <= PLIMP_LINES_DEATHS; death++) {
		assert_int_equal(plimp_lines_find(subject.lines, start, frames,
						  8, &count, NULL),
				 PLIM_OK);
		assert_int_equal(kill(only_child(), SIGKILL), 0);
		count = 9;
		assert_int_equal(plimp_lines_find(subject.lines, start, frames,
						  8, &count, &error),
				 PLIM_EMALFORMED);
		assert_int_equal(error.code, PLIM_EMALFORMED);
		assert_int_equal(count, 9);
	}
	/* Nobody is started any more. */
	assert_int_equal(
	    plimp_lines_find(subject.lines, start, frames, 8, &count, NULL),
	    PLIM_EMALFORMED);
	assert_int_equal(only_child(), 0);
	subject_close(&subject);
}

/* Many questions in one go. */
enum { RUN = 1000 };

struct run {
	uint64_t addresses[RUN];
	int results[RUN]; /* as one by one */
	struct plimp_line frames[RUN];
	size_t told;
	size_t kill_at; /* the cell, when this one is told */
	size_t stop_at;
};

static int run_told(void *user, size_t index, int result,
		    const struct plimp_line *frames, size_t count)
{
	struct run *run = user;

	assert_int_equal(index, run->told++);
	assert_int_equal(result, run->results[index]);
	if (result == PLIM_OK) {
		assert_true(count >= 1);
		assert_int_equal(frames[0].line, run->frames[index].line);
		assert_int_equal(frames[0].column, run->frames[index].column);
		assert_int_equal(frames[0].function.size,
				 run->frames[index].function.size);
		assert_int_equal(frames[0].is_inlined,
				 run->frames[index].is_inlined);
	} else {
		assert_null(frames);
	}
	if (index == run->kill_at)
		assert_int_equal(kill(only_child(), SIGKILL), 0);
	return index == run->stop_at ? PLIM_ELIMIT : PLIM_OK;
}

static int run_each(struct run *run, struct plimp_lines *lines, size_t kill_at,
		    size_t stop_at)
{
	struct plimp_line frames[8];

	run->told = 0;
	run->kill_at = kill_at;
	run->stop_at = stop_at;
	return plimp_lines_each(lines, run->addresses, RUN, frames, 8, run_told,
				run);
}

static void test_each(void **state)
{
	static struct run run;
	uint64_t start = known_outer();
	struct plimp_line frames[8];
	struct subject subject;
	size_t lines = 0;
	size_t i;

	(void)state;
	subject_open(&subject);
	for (i = 0; i < RUN; i++) {
		size_t count = 0;

		/* Some are of no code. */
		run.addresses[i] = i % 10 == 9 ? i : start - 300 + i % 600;
		run.results[i] = plimp_lines_find(
		    subject.lines, run.addresses[i], frames, 8, &count, NULL);
		run.frames[i] = frames[0];
		lines += run.results[i] == PLIM_OK;
	}
	assert_in_range(lines, RUN / 4, RUN * 9 / 10);
	assert_int_equal(run_each(&run, subject.lines, RUN, RUN), PLIM_OK);
	assert_int_equal(run.told, RUN);
	/* The rest is not told, and the next run knows nothing of it. */
	assert_int_equal(run_each(&run, subject.lines, RUN, 10), PLIM_ELIMIT);
	assert_int_equal(run.told, 11);
	assert_int_equal(run_each(&run, subject.lines, RUN, RUN), PLIM_OK);
	assert_int_equal(run.told, RUN);
	/* What it did not die of has its answer all the same. */
	assert_int_equal(run_each(&run, subject.lines, 5, RUN), PLIM_OK);
	assert_int_equal(run.told, RUN);
	assert_int_equal(plimp_lines_each(subject.lines, run.addresses, 0,
					  frames, 8, run_told, &run),
			 PLIM_OK);
	assert_int_equal(run.told, RUN);
	subject_close(&subject);
}

static void test_nowhere(void **state)
{
	static const uint64_t places[] = {
	    0, 1, 64, UINT64_MAX, UINT64_MAX - 1, 1ull << 47};
	struct plimp_line frames[8];
	struct subject subject;
	size_t count = 9, i;

	(void)state;
	subject_open(&subject);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		assert_int_equal(plimp_lines_find(subject.lines, places[i],
						  frames, 8, &count, NULL),
				 PLIM_ENAME);
	assert_int_equal(count, 9);
	subject_close(&subject);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_own),	    cmocka_unit_test(test_rest),
	    cmocka_unit_test(test_deaths),  cmocka_unit_test(test_each),
	    cmocka_unit_test(test_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
