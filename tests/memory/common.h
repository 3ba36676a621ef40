/*
 * common.h - steps that the tests of heaps share; each fails the test, with
 * the words of the target, when it does not get what it asks for.
 */
#ifndef TESTS_MEMORY_COMMON_H
#define TESTS_MEMORY_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "pages.h"
#include "skip.h"
#include "trial.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* One host and its walks, for all tests of a program. */
struct look {
	plim_host *host;
	plim_heaps *heaps;
};
int look_open(void **state);
int look_close(void **state);

/* Skips the test where the library walks nothing. */
void look_can(void **state);

/* Starts the program `name` with a command line of words parted by blanks;
 * the target ends with the test's process if the test does not end it. */
void look_start(struct target *target, const char *name, const char *tunables,
		const char *line);

void look_ask(struct target *target, const char *command);
uint64_t look_truth(struct target *target, const char *key);

/* A walk that must succeed. */
struct trial_walk look_walk(const struct look *look, pid_t pid);

/* Asks for the truth; every equation but those in `but` must hold. */
void look_compare(struct target *target, const struct trial_walk *walk,
		  unsigned but);

/* Trims; anonymous memory must fall as forecast, within so many pages. */
void look_trim(struct target *target, const struct trial_walk *walk,
	       uint64_t pages);

/* The glibc heap of the last walk; a figure of it that must be known. */
const plim_heap *look_glibc(const struct look *look);
uint64_t look_figure(const struct look *look, int figure);

#endif
