/*
 * worker.h - one thread beside the main one, which interruptions do not reach.
 */
#ifndef PLIM_WORKER_H
#define PLIM_WORKER_H

struct worker; /* what the system has of it */
typedef void worker_fn(void *user);

/* 0 and `*worker`, or an error number. */
int worker_start(struct worker **worker, worker_fn *run, void *user);
/* Waits for its end. */
void worker_join(struct worker *worker);

#endif
