/*
 * job.h - the job object that a command of ours is in on Windows, and with it
 * everything that it starts (guard_windows.c). For the files *_windows.c.
 */
#ifndef PLIM_JOB_H
#define PLIM_JOB_H

#include "cmd.h"

/* Puts a process that has not begun yet into a job of its own, which is ours
 * from then on; the one before is let go. `fate` is an enum child_fate. 0, or
 * an error number. */
int job_take(void *process, int fate);

#endif
