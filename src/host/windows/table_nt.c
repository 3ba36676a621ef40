/*
 * table_nt.c - the table by one native call, which needs no handle of any
 * process and tells of those of other users, too.
 *
 * How large the answer is going to be changes while it is asked for: the
 * buffer grows by what the system says and a margin, some times, up to a
 * bound. The buffer stays for the next pass.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/windows/system.h"

#define TABLE_CLASS  5 /* SystemProcessInformation */
#define TABLE_FIRST  ((size_t)1 << 20)
#define TABLE_MARGIN ((size_t)256 << 10)
#define TABLE_MOST   ((size_t)256 << 20)
#define TABLE_TRIES  8

const char plimp_nt_table_source[] = "NtQuerySystemInformation";

const uint16_t plimp_nt_table_methods[PLIMP_NT_TABLE_GROUPS] = {
    [PLIMP_NT_TABLE_TIMES] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_MEMORY] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_PRIVATE] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_FAULTS] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_IO] = PLIM_METHOD_ALL_IO,
    [PLIMP_NT_TABLE_HANDLES] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_SWITCHES] = PLIM_METHOD_SWITCH_SUM,
};

static int table_grow(plim_host *host, size_t needed, plim_error *error)
{
	struct plimp_nt_table *table = &host->system->table;
	void *bytes;

	if (needed <= table->capacity)
		return PLIM_OK;
	if (needed > TABLE_MOST)
		return plimp_fail(error, PLIM_ELIMIT, 0, "list processes", NULL,
				  "the table of processes is larger than "
				  "256 MiB");
	bytes = plimp_resize(&host->allocator, table->bytes, table->capacity,
			     needed, 1);
	if (bytes == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "list processes", NULL,
				  NULL);
	table->bytes = bytes;
	table->capacity = needed;
	return PLIM_OK;
}

static int table_ask(plim_host *host, plim_error *error)
{
	struct plimp_nt_table *table = &host->system->table;
	size_t needed = TABLE_FIRST;
	int tries;

	for (tries = 0; tries < TABLE_TRIES; tries++) {
		ULONG size = 0;
		int32_t status;
		int code = table_grow(host, needed, error);

		if (code != PLIM_OK)
			return code;
		host->bill.system_calls++;
		plimp_nt_table_stamp(host);
		status = host->system->calls.query_system(
		    TABLE_CLASS, table->bytes, (ULONG)table->capacity, &size);
		if (status >= 0 && size <= table->capacity) {
			table->size = size;
			host->bill.bytes_read += size;
			return PLIM_OK;
		}
		if (status != PLIMP_NT_LENGTH_MISMATCH)
			return plimp_fail(error, PLIM_ESYSTEM, status,
					  "list processes",
					  "NtQuerySystemInformation", NULL);
		if (size < table->capacity)
			size = (ULONG)table->capacity;
		needed = (size_t)size + TABLE_MARGIN;
	}
	return plimp_fail(error, PLIM_ESYSTEM, PLIMP_NT_LENGTH_MISMATCH,
			  "list processes", "NtQuerySystemInformation",
			  "the table kept growing");
}

int plimp_nt_table_fill(plim_host *host, plim_error *error)
{
	struct plimp_nt_table *table = &host->system->table;
	struct plimp_nt_entry entry = {
	    .layout = plimp_nt_layout,
	    .methods = plimp_nt_table_methods,
	};
	plim_bytes bytes;
	size_t offset = 0;
	int more;
	int code = table_ask(host, error);

	if (code != PLIM_OK)
		return code;
	if (PLIMP_NT_WORD < 8)
		entry.lacks[PLIMP_NT_TABLE_SWITCHES] = PLIM_REASON_NEEDS_64_BIT;
	bytes = (plim_bytes){table->bytes, table->size};
	while ((more = plimp_decode_nt_process(
		    bytes, plimp_nt_layout, (uint64_t)(uintptr_t)table->bytes,
		    &offset, &entry.process)) == 1) {
		code = plimp_nt_table_add(host, &entry);
		if (code != PLIM_OK)
			return plimp_fail(error, code, 0, "list processes",
					  NULL, NULL);
	}
	if (more < 0)
		return plimp_fail(error, PLIM_EMALFORMED, 0, "list processes",
				  "NtQuerySystemInformation", NULL);
	return PLIM_OK;
}
