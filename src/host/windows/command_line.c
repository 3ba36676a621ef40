/*
 * command_line.c - the command line of one process, and the path of its
 * program.
 *
 * Windows 8.1 tells a command line to who may ask for little
 * (ProcessCommandLineInformation). Before, it is read from the process's own
 * memory: the PEB points to parameters, which hold the string. The process can
 * write there, so nothing of it is trusted but that lengths have 16 bits. The
 * target's handle keeps the pid from being used again, so what is opened by
 * number meanwhile is the same process; that it has not ended is asked before
 * and after.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/windows/system.h"

#include <string.h>

#define COMMAND_CLASS 60 /* ProcessCommandLineInformation */

static plim_text command_none(plim_count why)
{
	return (plim_text){.bytes = {"", 0},
			   .state = why.state,
			   .method = why.method,
			   .code = why.code};
}

static plim_count command_status(int32_t status)
{
	return plim_count_missing(status == PLIMP_NT_ACCESS_DENIED
				      ? PLIM_REASON_ACCESS_DENIED
				      : PLIM_REASON_READ_FAILED,
				  status);
}

/* 1 with the characters, 0 where this Windows has no such class, or refuses,
 * or failed: then why. */
static plim_count command_ask(plim_host *host, HANDLE process,
			      plim_bytes *utf16)
{
	char *answer = host->system->command;
	ULONG size = 0;
	int32_t status;

	memset(answer, 0, sizeof(void *) * 2);
	host->bill.system_calls++;
	status = host->system->calls.query_process(
	    process, COMMAND_CLASS, answer, PLIMP_COMMAND_ANSWER, &size);
	if (status < 0)
		return command_status(status);
	if (size > PLIMP_COMMAND_ANSWER ||
	    plimp_decode_nt_answer((plim_bytes){answer, size}, PLIMP_NT_WORD,
				   (uint64_t)(uintptr_t)answer,
				   utf16) != PLIM_OK)
		return plim_count_missing(PLIM_REASON_BAD_TEXT, 0);
	host->bill.bytes_read += size;
	return plimp_known(utf16->size, PLIM_METHOD_QUERY);
}

/* 0, or the system's error. */
static int command_copy(plim_host *host, HANDLE process, uint64_t address,
			void *to, size_t size)
{
	SIZE_T done = 0;

	host->bill.system_calls++;
	if (address > UINTPTR_MAX)
		return ERROR_INVALID_ADDRESS;
	if (!ReadProcessMemory(process, (const void *)(uintptr_t)address, to,
			       size, &done))
		return (int)GetLastError();
	host->bill.bytes_read += done;
	return done == size ? 0 : ERROR_PARTIAL_COPY;
}

static int command_peb(plim_host *host, HANDLE process, uint64_t *address)
{
	ULONG_PTR basic[6] = {0}; /* PROCESS_BASIC_INFORMATION */

	host->bill.system_calls++;
	if (host->system->calls.query_process(process, 0, basic, sizeof basic,
					      NULL) < 0)
		return ERROR_READ_FAULT;
	*address = basic[1];
	return *address != 0 ? 0 : ERROR_INVALID_ADDRESS;
}

static plim_count command_walk(plim_host *host, HANDLE process,
			       plim_bytes *utf16)
{
	char bytes[PLIMP_NT_PARAMETERS_SIZE];
	struct plimp_nt_string string = {0, 0};
	uint64_t at = 0;
	int problem = command_peb(host, process, &at);

	if (problem == 0)
		problem =
		    command_copy(host, process, at, bytes, PLIMP_NT_PEB_SIZE);
	if (problem == 0 &&
	    plimp_decode_nt_peb((plim_bytes){bytes, PLIMP_NT_PEB_SIZE},
				PLIMP_NT_WORD, &at) != PLIM_OK)
		problem = ERROR_INVALID_DATA;
	if (problem == 0)
		problem = command_copy(host, process, at, bytes, sizeof bytes);
	if (problem == 0 &&
	    plimp_decode_nt_parameters((plim_bytes){bytes, sizeof bytes},
				       PLIMP_NT_WORD, &string) != PLIM_OK)
		problem = ERROR_INVALID_DATA;
	if (problem == 0 && string.size > 0)
		problem = command_copy(host, process, string.address,
				       host->system->command, string.size);
	if (problem != 0)
		return problem == ERROR_ACCESS_DENIED
			   ? plimp_nt_missing(problem)
			   : plim_count_missing(PLIM_REASON_READ_FAILED,
						problem);
	*utf16 = (plim_bytes){host->system->command, string.size};
	return plimp_known(string.size, PLIM_METHOD_PROCESS_PARAMETERS);
}

/* By the question, else through the memory. */
static plim_count command_read(plim_host *host, int32_t pid, plim_bytes *utf16)
{
	plim_count found;
	int problem;
	HANDLE process = plimp_nt_open(
	    host, pid, PROCESS_QUERY_LIMITED_INFORMATION, &problem);

	if (process == NULL)
		return plimp_nt_not_opened(problem);
	found = command_ask(host, process, utf16);
	plimp_nt_close(host, process);
	if (found.state == PLIM_STATE_KNOWN)
		return found;
	process = plimp_nt_open(
	    host, pid, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, &problem);
	if (process == NULL)
		return plimp_nt_not_opened(problem);
	found = command_walk(host, process, utf16);
	plimp_nt_close(host, process);
	return found;
}

static int command_room(plim_host *host, plim_error *error)
{
	struct plimp_system *system = host->system;

	if (system->command == NULL)
		system->command = plimp_allocate(
		    &host->allocator, PLIMP_COMMAND_ANSWER + PLIMP_COMMAND_TEXT,
		    1);
	return system->command != NULL
		   ? PLIM_OK
		   : plimp_fail(error, PLIM_ENOMEM, 0, "read command line",
				NULL, NULL);
}

static int command_is_over(int fate)
{
	return fate == PLIM_FATE_GONE || fate == PLIM_FATE_REPLACED;
}

int plimp_system_command_line(plim_target *target, plim_text *text,
			      plim_error *error)
{
	plim_host *host = target->host;
	plim_bytes utf16 = {"", 0};
	plim_check check;
	plim_count found;
	char *to;
	size_t size;
	int code = command_room(host, error);

	if (code != PLIM_OK)
		return code;
	plimp_system_check(target, &check);
	if (command_is_over(check.fate)) {
		*text = command_none(plim_count_missing(PLIM_REASON_ENDED, 0));
		return PLIM_OK;
	}
	found = command_read(host, target->identity.pid, &utf16);
	plimp_system_check(target, &check);
	if (check.fate != PLIM_FATE_SAME)
		found = plim_count_missing(PLIM_REASON_ENDED, 0);
	if (found.state != PLIM_STATE_KNOWN) {
		*text = command_none(found);
		return PLIM_OK;
	}
	to = host->system->command + PLIMP_COMMAND_ANSWER;
	size = plimp_nt_utf8(utf16, to, PLIMP_COMMAND_TEXT - 1);
	size = plimp_nt_arguments(to, size, PLIMP_COMMAND_TEXT);
	*text = (plim_text){.bytes = {to, size},
			    .state = PLIM_STATE_KNOWN,
			    .method = found.method};
	return PLIM_OK;
}

/* In the form of the caller's drives. A long path needs room, which is taken
 * once. */
int plimp_windows_exe(plim_host *host, int32_t pid,
		      const struct plimp_request *request, plim_process *record)
{
	WCHAR wide[PLIMP_TEXT_SIZE];
	char path[PLIMP_TEXT_SIZE];
	DWORD units = sizeof wide / sizeof wide[0];
	size_t size;
	size_t start;
	HANDLE process;
	int problem = 0;
	int is_other = 0;

	if (!plimp_set_has(&request->fields, PLIM_FIELD_EXE) ||
	    request->texts == NULL)
		return PLIM_OK;
	process = plimp_nt_open(host, pid, PROCESS_QUERY_LIMITED_INFORMATION,
				&problem);
	if (process != NULL) {
		host->bill.system_calls++;
		if (!QueryFullProcessImageNameW(process, 0, wide, &units))
			problem = (int)GetLastError();
		/* Nobody has the pid while it is held: is it still this one? */
		if (problem == 0) {
			struct plimp_nt_times times;

			problem = plimp_nt_process_times(host, process, &times);
			if (problem == 0 &&
			    (record->identity.has & PLIM_IDENTITY_START) != 0 &&
			    times.create_time != record->identity.start_ticks)
				is_other = 1;
		}
		plimp_nt_close(host, process);
	}
	if (problem != 0 || is_other) {
		plimp_record_set(
		    record, PLIM_FIELD_EXE,
		    is_other	      ? plim_count_missing(PLIM_REASON_ENDED, 0)
		    : process == NULL ? plimp_nt_not_opened(problem)
				      : plimp_nt_missing(problem));
		return PLIM_OK;
	}
	size = plimp_nt_utf8(
	    (plim_bytes){(const char *)wide, units * sizeof wide[0]}, path,
	    sizeof path);
	start = record->texts.size;
	if (plimp_texts_add(request->texts, &host->allocator,
			    (plim_bytes){path, size}) != PLIM_OK)
		return PLIM_ENOMEM;
	record->texts.size += (uint32_t)size;
	plimp_record_text(record, PLIMP_TEXT_EXE, start, size,
			  PLIM_METHOD_QUERY);
	return PLIM_OK;
}
