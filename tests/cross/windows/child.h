/*
 * child.h - children of a test on Windows: the test's own program with
 * another task. A program of tests calls child_main() first.
 */
#ifndef PLIMT_WINDOWS_CHILD_H
#define PLIMT_WINDOWS_CHILD_H

#include <windows.h>

#include <stdint.h>

/* Does what `argv` says and ends the program, or returns. Tasks:
 *   nap MS            sleeps and returns 0
 *   exit CODE         returns that at once
 *   parent MS COUNT   starts so many `nap MS` and waits for them
 *   chain MS COUNT    starts one `chain MS COUNT-1` and waits for it */
void child_main(int argc, char **argv);

/* The process with this command line behind the program's name; fails the
 * test if there is none. */
PROCESS_INFORMATION child_start(const wchar_t *arguments);

/* Waits for it, gives its exit code, and closes its handles. */
uint32_t child_end(PROCESS_INFORMATION *child);

/* Ends it first. */
void child_kill(PROCESS_INFORMATION *child);

/* 1 under Wine. */
int child_is_wine(void);

#endif
