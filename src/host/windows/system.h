/*
 * system.h - what the files of this folder share.
 *
 * The table is the heart: one answer of the system that has every process and
 * thread. It is taken at the first need after plimp_system_begin() and serves
 * the whole pass, so that all records of a pass are of one instant and nothing
 * can vanish or be replaced between the list and the reading. Who needs one
 * process alone holds it by a handle: while a handle is open the system gives
 * the pid to nobody else.
 */
#ifndef PLIMP_WINDOWS_SYSTEM_H
#define PLIMP_WINDOWS_SYSTEM_H

#include "host/host.h"
#include "host/windows/store.h"

/* What is newer than Windows 7 is looked up at run time. */
#include <windows.h>

#define PLIMP_NT_WORD ((unsigned)sizeof(void *))

/* NTSTATUS, whose header is the driver kit's. */
#define PLIMP_NT_ACCESS_DENIED	 ((int32_t)0xc0000022)
#define PLIMP_NT_LENGTH_MISMATCH ((int32_t)0xc0000004)

/* Functions that are in no import library, or not in every Windows. NULL
 * where this one lacks it. */
struct plimp_nt_calls {
	int32_t(WINAPI *query_system)(ULONG, void *, ULONG, ULONG *);
	int32_t(WINAPI *query_process)(HANDLE, ULONG, void *, ULONG, ULONG *);
	int32_t(WINAPI *query_thread)(HANDLE, ULONG, void *, ULONG, ULONG *);
	HRESULT(WINAPI *thread_description)(HANDLE, WCHAR **);
	BOOL(WINAPI *memory_info)(HANDLE, void *, DWORD);
	void(WINAPI *precise_time)(FILETIME *);
	BOOL(WINAPI *group_affinity)(HANDLE, USHORT *, USHORT *);
	int32_t(WINAPI *version)(OSVERSIONINFOW *);
};
int plimp_nt_calls_find(struct plimp_nt_calls *calls);

struct plimp_nt_table {
	char *bytes; /* as the system filled them */
	size_t capacity;
	size_t size;
	struct plimp_nt_entry *items; /* ascending by pid */
	size_t count;
	size_t item_capacity;
	int fresh;
	plim_stamp stamp;
	uint64_t stamp_ticks;
};

/* The source that was built in: table_nt.c, or table_toolhelp.c. */
int plimp_nt_table_fill(plim_host *host, plim_error *error);
extern const uint16_t plimp_nt_table_methods[PLIMP_NT_TABLE_GROUPS];
extern const char plimp_nt_table_source[];

/* The table of this pass, taken now if there is none yet. */
int plimp_nt_table_take(plim_host *host, plim_error *error);
const struct plimp_nt_entry *plimp_nt_table_find(const plim_host *host,
						 int32_t pid);
/* For the source: an entry more, in any order. PLIM_EMALFORMED for a pid that
 * is none; the idle process (0) is left out. */
int plimp_nt_table_add(plim_host *host, const struct plimp_nt_entry *entry);
/* For the source: the instant of the table; directly before it is asked. */
void plimp_nt_table_stamp(plim_host *host);

#define PLIMP_COMMAND_ANSWER 65568 /* UNICODE_STRING and all it can hold */
#define PLIMP_COMMAND_TEXT   98304 /* the same in UTF-8 */

struct plimp_system {
	struct plimp_nt_calls calls;
	struct plimp_nt_table table;
	plim_identity self;
	char *command; /* answer and text, once asked for */
};

extern const struct plimp_nt_layout *const plimp_nt_layout;

/* System time as of its last tick, and now. A process or thread that starts
 * after either call is dated no earlier than the first said, whichever of the
 * two the system dates by; one that started before, no later than the second
 * says. */
uint64_t plimp_nt_filetime(void);
uint64_t plimp_nt_filetime_precise(const struct plimp_nt_calls *calls);
uint64_t plimp_nt_units(FILETIME time);

/* Whom a handle is of: fills times; 0, or the system's error. */
struct plimp_nt_times {
	uint64_t create_time;
	uint64_t exit_time; /* 0: it lives */
	uint64_t kernel_time;
	uint64_t user_time;
};
int plimp_nt_process_times(plim_host *host, HANDLE process,
			   struct plimp_nt_times *times);

/* The memory counters of a process; 0, or the system's error. */
int plimp_nt_memory_ask(plim_host *host, HANDLE process,
			struct plimp_nt_memory *memory);

/* A handle on the process that has this very pid, with these rights, or NULL
 * and the error in `*problem`. The system would also open a neighbour. */
HANDLE plimp_nt_open(plim_host *host, int32_t pid, DWORD rights, int *problem);
void plimp_nt_close(plim_host *host, HANDLE handle);

/* What a refused or failed question means for a figure; and what it means that
 * plimp_nt_open() failed, which may be that there is no such process. */
plim_count plimp_nt_missing(int problem);
plim_count plimp_nt_not_opened(int problem);

/* One entry of the table into a record, see plimp_system_read(). */
int plimp_windows_capture(plim_host *host, const struct plimp_nt_entry *entry,
			  const struct plimp_request *request,
			  plim_process *record,
			  struct plimp_thread_list *threads, plim_error *error);
int plimp_windows_threads(plim_host *host, const struct plimp_nt_entry *entry,
			  const struct plimp_request *request,
			  plim_process *record,
			  struct plimp_thread_list *threads, plim_error *error);
/* The path of the program, where it was asked for. */
int plimp_windows_exe(plim_host *host, int32_t pid,
		      const struct plimp_request *request,
		      plim_process *record);
/* CPUs that this process may run on. */
plim_count plimp_windows_affinity(plim_host *host);

#endif
