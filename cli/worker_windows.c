/*
 * worker_windows.c - a thread of Windows; interruptions come in one of their
 * own anyway.
 */
#include "wide.h"
#include "worker.h"

#include <errno.h>
#include <process.h>
#include <stdlib.h>
#include <windows.h>

struct worker {
	HANDLE thread;
	worker_fn *run;
	void *user;
};

static unsigned __stdcall worker_run(void *user)
{
	const struct worker *worker = user;

	worker->run(worker->user);
	return 0;
}

int worker_start(struct worker **worker, worker_fn *run, void *user)
{
	struct worker *made = calloc(1, sizeof *made);

	if (made == NULL)
		return ENOMEM;
	made->run = run;
	made->user = user;
	made->thread =
	    (HANDLE)_beginthreadex(NULL, 0, worker_run, made, 0, NULL);
	if (made->thread == NULL) {
		const int problem = errno;

		free(made);
		return problem;
	}
	*worker = made;
	return 0;
}

void worker_join(struct worker *worker)
{
	WaitForSingleObject(worker->thread, INFINITE);
	CloseHandle(worker->thread);
	free(worker);
}
