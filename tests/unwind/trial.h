/*
 * trial.h - both unwinders on the same stopped program: what they agree in,
 * and, where they don't, both answers in words.
 */
#ifndef UNWIND_TRIAL_H
#define UNWIND_TRIAL_H

#include "step.h"

#include <stdio.h>

struct trial {
	const char *name;
	size_t stacks;
	size_t equal;
	/* Differ behind code for which libunwind has no rules: it goes by the
	 * frame pointer there, whatever that is. Told, and judged by nobody. */
	size_t guessed;
	size_t frames;	     /* of all that agree */
	size_t in_vdso;	     /* leaf in the vDSO */
	size_t in_handlers;  /* a frame below is a signal's */
	size_t both_partial; /* agree, and neither reached the root */
	size_t mute;	     /* libunwind gave an error after its last frame */
	size_t cached;	     /* agree once libunwind's cache is empty */
	size_t told;
	FILE *differences; /* NULL: nothing is told */
};

/* Steps the program and compares after each step: 0, or -1 and the trouble.
 * A trial continues where it stood. */
struct trial_pair;
struct trial_pair *trial_pair_open(void);
void trial_pair_close(struct trial_pair *pair);
int trial_program(struct trial_pair *pair, const struct step_plan *plan,
		  struct trial *trial, struct step_done *done);

#endif
