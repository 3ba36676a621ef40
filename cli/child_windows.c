/*
 * child_windows.c - a command on Windows: it is made suspended, put into a job
 * (job.h), and begins when it is released.
 *
 * It gets three handles of ours and no other. Its number stays its own while
 * we hold a handle of it, which we do until the next command is started. There
 * is no signal: nobody is asked to end, and an interruption from the console
 * reaches the command without us.
 */
#include "file.h"
#include "job.h"
#include "quote.h"
#include "term.h"
#include "wide.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* The process: the handle by which its number stays its own. */
static HANDLE child_held;

/* What it inherits. */
struct child_streams {
	HANDLE handles[3];
	HANDLE list[3]; /* those that there are */
	size_t count;
	LPPROC_THREAD_ATTRIBUTE_LIST attributes;
};

static HANDLE child_stream(const struct child_plan *plan, int stream)
{
	const int given = stream == TERM_OUTPUT	 ? plan->output
			  : stream == TERM_ERROR ? plan->error
						 : 0;

	if (given > 0) {
		const intptr_t handle = _get_osfhandle(given);

		/* -2: a stream without a file, as in a program without a
		 * console (documented). DuplicateHandle() would take that for
		 * the thread that calls. */
		return handle != -2 ? (HANDLE)handle : INVALID_HANDLE_VALUE;
	}
	return GetStdHandle(stream == TERM_INPUT    ? STD_INPUT_HANDLE
			    : stream == TERM_OUTPUT ? STD_OUTPUT_HANDLE
						    : STD_ERROR_HANDLE);
}

static void child_streams_close(struct child_streams *streams)
{
	size_t i;

	for (i = 0; i < streams->count; i++)
		CloseHandle(streams->list[i]);
	if (streams->attributes != NULL) {
		DeleteProcThreadAttributeList(streams->attributes);
		free(streams->attributes);
	}
}

static int child_streams_open(struct child_streams *streams,
			      const struct child_plan *plan)
{
	const HANDLE self = GetCurrentProcess();
	SIZE_T size = 0;
	int i;

	memset(streams, 0, sizeof *streams);
	for (i = 0; i < 3; i++) {
		const HANDLE ours = child_stream(plan, i);

		if (ours == NULL || ours == INVALID_HANDLE_VALUE ||
		    !DuplicateHandle(self, ours, self, &streams->handles[i], 0,
				     TRUE, DUPLICATE_SAME_ACCESS)) {
			streams->handles[i] = NULL;
			continue;
		}
		streams->list[streams->count++] = streams->handles[i];
	}
	if (streams->count == 0)
		return 0;
	InitializeProcThreadAttributeList(NULL, 1, 0, &size);
	streams->attributes = malloc(size);
	if (streams->attributes == NULL ||
	    !InitializeProcThreadAttributeList(streams->attributes, 1, 0,
					       &size)) {
		free(streams->attributes);
		streams->attributes = NULL;
		return ENOMEM;
	}
	if (!UpdateProcThreadAttribute(
		streams->attributes, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
		streams->list, streams->count * sizeof(HANDLE), NULL, NULL))
		return wide_errno(GetLastError());
	return 0;
}

static int child_create(const wchar_t *program, wchar_t *arguments,
			const struct child_plan *plan,
			PROCESS_INFORMATION *made)
{
	struct child_streams streams;
	STARTUPINFOEXW start;
	int problem = child_streams_open(&streams, plan);

	memset(&start, 0, sizeof start);
	start.StartupInfo.cb = sizeof start;
	start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
	start.StartupInfo.hStdInput = streams.handles[TERM_INPUT];
	start.StartupInfo.hStdOutput = streams.handles[TERM_OUTPUT];
	start.StartupInfo.hStdError = streams.handles[TERM_ERROR];
	start.lpAttributeList = streams.attributes;
	if (problem == 0 &&
	    !CreateProcessW(program, arguments, NULL, NULL,
			    streams.attributes != NULL,
			    CREATE_SUSPENDED | EXTENDED_STARTUPINFO_PRESENT,
			    NULL, NULL, &start.StartupInfo, made))
		problem = wide_errno(GetLastError());
	child_streams_close(&streams);
	return problem;
}

/* ENOENT: there is no such program. */
static int child_make(const struct child_plan *plan, PROCESS_INFORMATION *made)
{
	char *path = file_program(plan->command[0]);
	char *text = quote_arguments(plan->command);
	wchar_t *program = path != NULL ? wide_path(path) : NULL;
	wchar_t *arguments = text != NULL ? wide_from(text) : NULL;
	int problem;

	if (path == NULL)
		problem = ENOENT;
	else if (program == NULL || arguments == NULL)
		problem = ENOMEM;
	else
		problem = child_create(program, arguments, plan, made);
	free(arguments);
	free(program);
	free(text);
	free(path);
	return problem;
}

static void child_hold(HANDLE process)
{
	if (child_held != NULL)
		CloseHandle(child_held);
	child_held = process;
}

int child_launch(struct child *child, const struct child_plan *plan)
{
	PROCESS_INFORMATION made;

	memset(child, 0, sizeof *child);
	child->pid = -1;
	child->name = plan->command[0];
	output_flush();
	fflush(stderr);
	child->problem = child_make(plan, &made);
	if (child->problem != 0) {
		child->ended = 1;
		return child->problem == ENOENT ? EXIT_NOT_FOUND
		       : child->problem == ENOEXEC || child->problem == EACCES
			   ? EXIT_NOT_EXECUTABLE
			   : EXIT_OWN_FAILURE;
	}
	child_hold(made.hProcess);
	child->pid = (pid_t)made.dwProcessId;
	child->told = (intptr_t)made.hProcess;
	child->hold = (intptr_t)made.hThread;
	child->problem = job_take(made.hProcess, plan->fate);
	if (child->problem != 0) {
		child_drop(child);
		return EXIT_OWN_FAILURE;
	}
	return plan->hold ? EXIT_DONE : child_release(child);
}

/* An environment cannot be changed any more: nobody asks for that here. */
int child_release_with(struct child *child, const char *const *settings)
{
	(void)settings;
	if (child->hold != 0) {
		ResumeThread((HANDLE)child->hold);
		CloseHandle((HANDLE)child->hold);
	}
	child->hold = 0;
	return EXIT_DONE;
}

/* The status as plim_usage_reap() has it: the number that it ended with. */
static void child_wait(struct child *child)
{
	DWORD status = 0;

	WaitForSingleObject((HANDLE)child->told, INFINITE);
	GetExitCodeProcess((HANDLE)child->told, &status);
	child->status = (int)status;
	child->ended = 1;
}

static void child_terminate(const struct child *child)
{
	TerminateProcess((HANDLE)child->told, EXIT_FAILED);
}

void child_drop(struct child *child)
{
	if (child->pid > 0 && !child->ended) {
		child_terminate(child);
		child_wait(child);
	}
	if (child->hold != 0)
		CloseHandle((HANDLE)child->hold);
	child->hold = 0;
}

void child_end(struct child *child, plim_target *target, plim_usage *usage)
{
	(void)target;
	if (child->ended)
		return;
	child_terminate(child);
	if (plim_usage_reap(usage, (int32_t)child->pid, &child->status, NULL) ==
	    PLIM_OK)
		child->ended = 1;
	else
		child_wait(child);
}

int child_ask(const struct child *child, plim_target *target)
{
	(void)child;
	(void)target;
	return 0;
}

void child_kill(const struct child *child, plim_target *target)
{
	(void)target;
	child_terminate(child);
}

/* The library has none: a handle is no descriptor. To interrupt_wait() it is
 * one; it has 32 bits. */
int child_descriptor(const struct child *child, const plim_target *target)
{
	(void)target;
	return child->pid > 0 && !child->ended ? (int)child->told : -1;
}

void child_hand_on(const struct child *child, int number)
{
	(void)child;
	(void)number;
}

int child_reap_has_children(void)
{
	return 0;
}

/* Reaping tells of the process alone; the job, of all that were ever in it. Who
 * was alone there has no more than its own. An account of several that is less
 * than one's own, or 0, as Wine has it, is none. */
plim_count child_cpu(const struct reaper_account *account, plim_count own,
		     int tree, int ignoring)
{
	(void)ignoring;
	if (own.state != PLIM_STATE_KNOWN || !tree ||
	    account->whole_members == 1)
		return own;
	if (account->whole_members == 0 || account->whole_cpu_ns == 0 ||
	    account->whole_cpu_ns < own.value)
		return plim_count_bounded(own.value, own.method,
					  PLIM_BOUND_AT_LEAST);
	return plim_count_known(account->whole_cpu_ns,
				account->whole_cpu_ns == own.value
				    ? own.method
				    : PLIM_METHOD_MIXED);
}

int child_signal(int status)
{
	(void)status;
	return 0;
}

int child_exit_status(int status)
{
	return status;
}
