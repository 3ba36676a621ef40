/*
 * capture.c - one process of the table into one record: what the table says
 * (store.c), its threads, and what is asked of it alone. Everything of the
 * table is of the instant at which it was taken.
 */
#include "core/fail.h"
#include "host/windows/system.h"

int plimp_windows_capture(plim_host *host, const struct plimp_nt_entry *entry,
			  const struct plimp_request *request,
			  plim_process *record,
			  struct plimp_thread_list *threads, plim_error *error)
{
	const struct plimp_nt_table *table = &host->system->table;
	int code;

	plimp_nt_store(entry, &request->fields, record);
	record->stamp = table->stamp;
	record->stamp_ticks = table->stamp_ticks;
	code =
	    plimp_windows_threads(host, entry, request, record, threads, error);
	if (code == PLIM_OK && plimp_windows_exe(host, record->identity.pid,
						 request, record) != PLIM_OK)
		code = plimp_fail(error, PLIM_ENOMEM, 0, "read process", NULL,
				  NULL);
	return code;
}

int plimp_system_read(plim_host *host, int32_t pid,
		      const struct plimp_request *request, plim_process *record,
		      struct plimp_thread_list *threads, plim_error *error)
{
	const struct plimp_nt_entry *entry;
	int code = plimp_nt_table_take(host, error);

	if (code != PLIM_OK)
		return code;
	entry = plimp_nt_table_find(host, pid);
	if (entry == NULL)
		return PLIM_ENOPROCESS;
	return plimp_windows_capture(host, entry, request, record, threads,
				     error);
}
