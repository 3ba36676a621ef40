/*
 * store.h - what the table says of a process, decoded, into a record and into
 * a list of threads. Pure: see store.c.
 */
#ifndef PLIMP_WINDOWS_STORE_H
#define PLIMP_WINDOWS_STORE_H

#include "host/host.h"
#include "host/windows/decode.h"

/* What is known or missing together; of each the source says the method. */
enum plimp_nt_table_group {
	PLIMP_NT_TABLE_TIMES,
	PLIMP_NT_TABLE_MEMORY,
	PLIMP_NT_TABLE_PRIVATE, /* working set */
	PLIMP_NT_TABLE_FAULTS,
	PLIMP_NT_TABLE_IO,
	PLIMP_NT_TABLE_HANDLES,
	PLIMP_NT_TABLE_SWITCHES,
	PLIMP_NT_TABLE_GROUPS
};

struct plimp_nt_entry {
	struct plimp_nt_process process;
	const struct plimp_nt_layout *layout;
	const uint16_t *methods; /* of the groups: enum plim_method */
	uint16_t lacks[PLIMP_NT_TABLE_GROUPS]; /* enum plim_reason; 0: known */
};

void plimp_windows_identity(plim_identity *identity, uint64_t pid,
			    uint64_t create_time);
void plimp_windows_store_identity(plim_process *record,
				  const plim_identity *identity, int method);

/* Fields that no process has here. */
void plimp_windows_never(plim_process *record, const plim_field_set *fields);

/* Empties the record and stores everything but threads; time and texts are
 * the caller's. */
void plimp_nt_store(const struct plimp_nt_entry *entry,
		    const plim_field_set *fields, plim_process *record);

extern const struct plimp_thread_ways plimp_windows_ways;

/* Appends the threads, sorted, and tells the record of them and of their sum.
 * PLIM_ELIMIT, PLIM_ENOMEM, PLIM_EMALFORMED. */
int plimp_nt_store_threads(const struct plimp_nt_entry *entry,
			   const plim_allocator *allocator,
			   const plim_field_set *fields, plim_process *record,
			   struct plimp_thread_list *threads);

#endif
