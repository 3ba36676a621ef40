/*
 * common.h - the steps that the tests of processes share. Every one of them
 * fails the test, naming field and state, when it does not get what it asks.
 */
#ifndef TESTS_HOST_COMMON_H
#define TESTS_HOST_COMMON_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include "child.h"
#include "skip.h"
#include "spawn.h"

#define MIB ((uint64_t)1 << 20)

plim_host *open_host(uint32_t flags);
plim_host *open_root(const char *proc_root, uint32_t flags);
plim_usage *new_usage(plim_host *host);
plim_snapshot *new_snapshot(plim_host *host);
plim_target *open_target(plim_host *host, int32_t pid);

/* Refreshes with every field; the record. */
const plim_process *measure(plim_usage *usage, plim_target *target);
const plim_process *measure_self(plim_usage *usage);

/* Takes every field of every process. */
void take(plim_snapshot *snapshot);

/* The value of a figure that must be known. */
uint64_t known(const plim_process *process, int field);

/* The figure must be in this state, and if it is not KNOWN be 0. */
void expect_state(const plim_process *process, int field, int state);
void expect_method(const plim_process *process, int field, int method);

/* The name must be these bytes. */
void expect_text(plim_text text, const void *bytes, size_t size);

/* The fate and the changes of a target. */
void expect_fate(plim_target *target, int fate, int changes, int zombie);

/* `got` differs from `truth` by at most `per_cent` of it, or by `least`. */
void expect_near(uint64_t got, uint64_t truth, unsigned per_cent,
		 uint64_t least);

/* A word of the process's status or io file, read without the library. */
uint64_t proc_number(int32_t pid, const char *file, const char *key);

/* Release and minor as one number: 6.15 is 6015. */
unsigned kernel_version(void);

#endif
