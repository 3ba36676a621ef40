/*
 * plimsoll.h - everything in libplimsoll, in the order in which to read it.
 *
 * Plimsoll says what a running process costs, who in it causes that, and
 * whether it stays under its load line. Every figure is known or says why it
 * is not; none is ever a zero that means "refused".
 *
 *   plimsoll/base.h      errors, allocator, texts
 *   plimsoll/figure.h    a figure that may be unavailable, and its arithmetic
 *   plimsoll/fields.h    the table of fields, of methods and of reasons
 *   plimsoll/units.h     quantities with units, read and written
 *   plimsoll/host.h      open a host; what it can report; what asking cost
 *   plimsoll/process.h   identity; one record; one remembered process
 *   plimsoll/snapshot.h  every process at once; comparing two rounds
 *   plimsoll/usage.h     one process measured again and again; rates
 *   plimsoll/thread.h    the threads of one process: who wakes, who computes
 *   plimsoll/watch.h     CPU time of many remembered processes, often
 *   plimsoll/filter.h    a small language that selects processes
 *   plimsoll/tree.h      trees and groups, and what they cost in all
 *   plimsoll/births.h    what a tree starts, short-lived children included
 *   plimsoll/idle.h      a quiet window: what it costs when its load has ended
 *   plimsoll/memory.h    what a process holds: samples, floors, its last state
 *   plimsoll/mapping.h   its mappings: what each is, totals, glibc's heaps
 *   plimsoll/heap.h      allocators walked: what is live, what is retained
 *   plimsoll/unwind.h    call stacks: why one ends; the code they run through
 *   plimsoll/profile.h   where its time goes: stacks on and off the CPU
 *   plimsoll/compare.h   profiles in files, and what changed between two
 *   plimsoll/export.h    JSON, CSV and plain tables
 *   plimsoll/result.h    RESULT lines, written and read
 *   plimsoll/budget.h    budgets in files, and verdicts on what was measured
 *
 * A first program (plimsoll(3) has it whole):
 *
 *     plim_host *host = NULL;
 *     plim_usage *usage = NULL;
 *     if (plim_host_open(&host, NULL, NULL) == PLIM_OK &&
 *         plim_usage_new(&usage, host, NULL) == PLIM_OK &&
 *         plim_usage_refresh_self(usage, NULL, NULL) == PLIM_OK) {
 *             plim_count woken = plim_process_count(
 *                 plim_usage_process(usage), PLIM_FIELD_WAKEUPS);
 *             if (woken.state == PLIM_STATE_KNOWN)
 *                     printf("woken %llu times\n",
 *                            (unsigned long long)woken.value);
 *     }
 *     plim_usage_free(usage);
 *     plim_host_close(host);
 */
#ifndef PLIMSOLL_H
#define PLIMSOLL_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/fields.h>
#include <plimsoll/units.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>
#include <plimsoll/snapshot.h>
#include <plimsoll/usage.h>
#include <plimsoll/thread.h>
#include <plimsoll/watch.h>
#include <plimsoll/filter.h>
#include <plimsoll/tree.h>
#include <plimsoll/births.h>
#include <plimsoll/idle.h>
#include <plimsoll/memory.h>
#include <plimsoll/mapping.h>
#include <plimsoll/heap.h>
#include <plimsoll/unwind.h>
#include <plimsoll/profile.h>
#include <plimsoll/compare.h>
#include <plimsoll/export.h>
#include <plimsoll/result.h>
#include <plimsoll/budget.h>

#endif
