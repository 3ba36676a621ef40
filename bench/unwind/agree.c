/*
 * agree.c FOLDER SOURCES STACKS DIFFERENCES [WORD] - the trial of
 * tests/unwind/test_step.c, longer: a line for each program, whose name has
 * WORD in it, and the sum. Both answers of what differs go into DIFFERENCES.
 */
#include "../../tests/unwind/programs.h"
#include "../../tests/unwind/trial.h"

#include <stdlib.h>
#include <string.h>

static int agree_program(struct trial_pair *pair, const struct program *program,
			 char **words, FILE *differences, struct trial *trial)
{
	const char *const *argv = program_argv(program, words[1], words[2]);
	struct step_plan plan = {.argv = argv,
				 .stops = strtoul(words[3], NULL, 10),
				 .run_us = program->run_us,
				 .skip_us = program->skip_us,
				 .seed = 7,
				 .seconds = 300};
	struct step_done done;

	if (argv == NULL) {
		printf("%-26s is not installed\n", program->name);
		return -1;
	}
	*trial =
	    (struct trial){.name = program->name, .differences = differences};
	if (trial_program(pair, &plan, trial, &done) != 0) {
		printf("%-26s %s\n", program->name, done.trouble);
		return -1;
	}
	printf("%-26s %7zu stacks %9.4f %% equal %5zu behind a guess %6.1f "
	       "frames %6zu in the "
	       "vDSO %6zu with a signal's frame %5zu in part\n",
	       program->name, trial->stacks,
	       100.0 * (double)trial->equal /
		   (double)(trial->stacks - trial->guessed),
	       trial->guessed,
	       (double)trial->frames /
		   (double)(trial->equal > 0 ? trial->equal : 1),
	       trial->in_vdso, trial->in_handlers, trial->both_partial);
	fflush(stdout);
	return 0;
}

int main(int count, char **words)
{
	struct trial_pair *pair = trial_pair_open();
	FILE *differences;
	struct trial trial;
	size_t stacks = 0;
	size_t equal = 0;
	size_t guessed = 0;
	size_t ran = 0;
	size_t i;

	if (count < 5 || pair == NULL)
		return 2;
	differences = fopen(words[4], "w");
	if (differences == NULL)
		return 1;
	for (i = 0; i < program_count; i++) {
		if (count > 5 && strstr(programs[i].name, words[5]) == NULL)
			continue;
		if (agree_program(pair, &programs[i], words, differences,
				  &trial) != 0)
			continue;
		ran++;
		stacks += trial.stacks - trial.guessed;
		guessed += trial.guessed;
		equal += trial.equal;
	}
	printf("sum programs %zu stacks %zu equal %zu guessed %zu\n", ran,
	       stacks, equal, guessed);
	fclose(differences);
	trial_pair_close(pair);
	return 0;
}
