/*
 * The unwinder against libunwind at single instructions, in ten programs and
 * more: every address and the end of each stack must be the same. The long
 * trial, with ten times as many stacks, is `./dev bench unwind`; PLIM_STEPS=N
 * takes N stacks of each program here.
 *
 * One in ten thousand may differ, as the specification has it. What differs is
 * printed with both answers. Where libunwind has no rules it goes by the frame
 * pointer, and what it makes of that is no truth: differences behind such a
 * frame are counted apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "programs.h"
#include "skip.h"
#include "trial.h"

#define STEP_STACKS 1200

static struct trial_pair *pair;
static size_t all_stacks;
static size_t all_equal;

static const char *step_folder(void)
{
	static char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 16);

	assert_true(size > 0);
	path[size] = '\0';
	strcpy(strrchr(path, '/'), "/programs");
	return path;
}

/* A container may forbid it. */
static int step_is_allowed(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		for (;;)
			pause();
	}
	status = (int)ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_EXITKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	return status == 0;
}

static size_t step_count(void)
{
	const char *text = getenv("PLIM_STEPS");

	return text != NULL ? (size_t)strtoul(text, NULL, 10) : STEP_STACKS;
}

static void test_program(void **state)
{
	const struct program *program = *state;
	const char *const *argv =
	    program_argv(program, step_folder(), UNWIND_SOURCES);
	struct step_plan plan = {.argv = argv,
				 .stops = step_count(),
				 .run_us = program->run_us,
				 .skip_us = program->skip_us,
				 .seed = 20260730,
				 .seconds = 30};
	struct trial trial = {.name = program->name, .differences = stdout};
	struct step_done done;

	if (!step_is_allowed())
		SKIP_BECAUSE("ptrace is refused to this user");
	if (argv == NULL)
		SKIP_BECAUSE("a program to step through is not installed");
	if (trial_program(pair, &plan, &trial, &done) != 0)
		fail_msg("%s: %s", program->name, done.trouble);
	printf("%s: %zu of %zu stacks equal (%zu once libunwind's cache was "
	       "empty), %zu differ behind a guess of "
	       "libunwind, %.1f frames each, %zu in the vDSO, %zu with a "
	       "signal's frame\n",
	       program->name, trial.equal, trial.stacks, trial.cached,
	       trial.guessed,
	       (double)trial.frames /
		   (double)(trial.equal > 0 ? trial.equal : 1),
	       trial.in_vdso, trial.in_handlers);
	all_stacks += trial.stacks - trial.guessed;
	all_equal += trial.equal;
	assert_true(trial.stacks >= plan.stops * 9 / 10);
	/* That they agree in nothing would be no agreement. */
	assert_true(trial.frames > trial.equal * 2);
	assert_true(program->has_bare_root ||
		    trial.both_partial + trial.mute <= trial.stacks / 10);
	assert_true(trial.guessed <= trial.stacks / 20);
	/* Of few stacks one may differ; of all together see below. */
	assert_true((trial.stacks - trial.equal - trial.guessed) * 10000 <=
		    (trial.stacks > 10000 ? trial.stacks : 10000));
}

static void test_all(void **state)
{
	(void)state;
	if (all_stacks == 0)
		SKIP_BECAUSE("ptrace is refused to this user");
	printf("in all %zu of %zu stacks equal\n", all_equal, all_stacks);
	assert_true((all_stacks - all_equal) * 10000 <= all_stacks);
}

int main(void)
{
	struct CMUnitTest tests[64] = {{0}};
	size_t count = 0;
	size_t i;
	int status;

	pair = trial_pair_open();
	if (pair == NULL)
		return 1;
	for (i = 0; i < program_count; i++)
		if (!programs[i].is_heavy)
			tests[count++] = (struct CMUnitTest){
			    .name = programs[i].name,
			    .test_func = test_program,
			    .initial_state = (void *)(uintptr_t)&programs[i]};
	tests[count++] =
	    (struct CMUnitTest){.name = "all of them", .test_func = test_all};
	status =
	    _cmocka_run_group_tests("unwind step", tests, count, NULL, NULL);
	trial_pair_close(pair);
	return status;
}
