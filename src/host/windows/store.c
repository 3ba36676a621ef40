/*
 * store.c - one entry of the table into one record.
 *
 * A figure that the source of the table lacks gets the reason of its group;
 * one that no process has on Windows says so. Nothing here asks a system: it
 * is compiled everywhere, and tested with tables made of bytes.
 */
#include "host/windows/store.h"

#include <string.h>

struct store_row {
	int field;
	int group;
	uint64_t value;
};

void plimp_windows_identity(plim_identity *identity, uint64_t pid,
			    uint64_t create_time)
{
	memset(identity, 0, sizeof *identity);
	identity->pid = (int32_t)pid;
	if (create_time == 0)
		return;
	identity->start_ticks = create_time;
	identity->has = PLIM_IDENTITY_START;
}

void plimp_windows_store_identity(plim_process *record,
				  const plim_identity *identity, int method)
{
	plimp_record_identity(record, identity);
	plimp_record_set(
	    record, PLIM_FIELD_IDENTITY_RUNG,
	    plimp_known((uint64_t)plim_identity_rung(identity), method));
}

void plimp_windows_never(plim_process *record, const plim_field_set *fields)
{
	static const uint8_t never[] = {
	    PLIM_FIELD_UID,	      PLIM_FIELD_CPU_CHILDREN,
	    PLIM_FIELD_ANONYMOUS,     PLIM_FIELD_FILE,
	    PLIM_FIELD_SHMEM,	      PLIM_FIELD_SWAP,
	    PLIM_FIELD_INVOLUNTARY,   PLIM_FIELD_DISK_CANCELLED,
	    PLIM_FIELD_DISK_BLOCKS,   PLIM_FIELD_CGROUP,
	    PLIM_FIELD_UNIT,	      PLIM_FIELD_CONTAINER,
	    PLIM_FIELD_NICE,	      PLIM_FIELD_OOM_SCORE,
	    PLIM_FIELD_RUNQUEUE,      PLIM_FIELD_BLOCK_IO_DELAY,
	    PLIM_FIELD_PSS,	      PLIM_FIELD_PRIVATE_DIRTY,
	    PLIM_FIELD_KERNEL_THREAD,
	};
	size_t i;

	for (i = 0; i < sizeof never; i++)
		if (plimp_set_has(fields, never[i]))
			plimp_record_set(
			    record, never[i],
			    plim_count_missing(PLIM_REASON_HOST_NEVER, 0));
}

static uint64_t store_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void store_counters(const struct plimp_nt_entry *entry,
			   const plim_field_set *fields, plim_process *record)
{
	const struct plimp_nt_process *from = &entry->process;
	const uint64_t user = plimp_nt_ns(from->user_time);
	const uint64_t kernel = plimp_nt_ns(from->kernel_time);
	const uint64_t calls =
	    store_sum(from->io.read_calls, from->io.write_calls);
	/* The faults of the table are of both kinds, in 32 bits. Fewer than the
	 * hard ones among them: they have overflowed. (Once they have passed
	 * the hard ones again, nothing shows it.) */
	const int wrapped = from->faults < from->hard_faults;
	const uint64_t minor =
	    wrapped ? 0 : (uint64_t)from->faults - from->hard_faults;
	const struct store_row rows[] = {
	    {PLIM_FIELD_CPU, PLIMP_NT_TABLE_TIMES, store_sum(user, kernel)},
	    {PLIM_FIELD_CPU_USER, PLIMP_NT_TABLE_TIMES, user},
	    {PLIM_FIELD_CPU_SYSTEM, PLIMP_NT_TABLE_TIMES, kernel},
	    {PLIM_FIELD_RESIDENT, PLIMP_NT_TABLE_MEMORY, from->resident},
	    {PLIM_FIELD_PEAK_RESIDENT, PLIMP_NT_TABLE_MEMORY,
	     from->peak_resident},
	    {PLIM_FIELD_COMMIT, PLIMP_NT_TABLE_MEMORY, from->commit},
	    {PLIM_FIELD_PRIVATE, PLIMP_NT_TABLE_PRIVATE,
	     from->private_resident},
	    {PLIM_FIELD_FAULTS_MINOR, PLIMP_NT_TABLE_FAULTS, minor},
	    {PLIM_FIELD_FAULTS_MAJOR, PLIMP_NT_TABLE_FAULTS, from->hard_faults},
	    {PLIM_FIELD_DISK_READ, PLIMP_NT_TABLE_IO, from->io.read_bytes},
	    {PLIM_FIELD_DISK_WRITE, PLIMP_NT_TABLE_IO, from->io.write_bytes},
	    {PLIM_FIELD_DISK_OPS, PLIMP_NT_TABLE_IO, calls},
	    {PLIM_FIELD_IO_CALLS, PLIMP_NT_TABLE_IO, calls},
	    {PLIM_FIELD_DESCRIPTORS, PLIMP_NT_TABLE_HANDLES, from->handles},
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint16_t lacks = entry->lacks[rows[i].group];

		if (!plimp_set_has(fields, rows[i].field))
			continue;
		if (lacks == 0 && wrapped &&
		    rows[i].field == PLIM_FIELD_FAULTS_MINOR)
			lacks = PLIM_REASON_COUNTER_WRAPPED;
		plimp_record_set(
		    record, rows[i].field,
		    lacks != 0 ? plim_count_missing(lacks, 0)
			       : plimp_known(rows[i].value,
					     entry->methods[rows[i].group]));
	}
}

static void store_start(const struct plimp_nt_entry *entry,
			const plim_field_set *fields, plim_process *record)
{
	const uint64_t start = entry->process.create_time;
	plim_count ticks = plim_count_missing(PLIM_REASON_NOT_IN_TABLE, 0);
	plim_count unix_ms = ticks;
	uint64_t ms;

	if (start != 0)
		ticks =
		    plimp_known(start, entry->methods[PLIMP_NT_TABLE_TIMES]);
	if (start != 0 && plimp_nt_unix_ms(start, &ms) == 0)
		unix_ms = plimp_known(ms, entry->methods[PLIMP_NT_TABLE_TIMES]);
	if (plimp_set_has(fields, PLIM_FIELD_START_TICKS))
		plimp_record_set(record, PLIM_FIELD_START_TICKS, ticks);
	if (plimp_set_has(fields, PLIM_FIELD_START_UNIX_MS))
		plimp_record_set(record, PLIM_FIELD_START_UNIX_MS, unix_ms);
}

/* The main thread's: the one that is there longest. */
static void store_state(const struct plimp_nt_entry *entry,
			plim_process *record)
{
	struct plimp_nt_thread main_thread = {.create_time = UINT64_MAX};
	struct plimp_nt_thread thread;
	size_t i;

	for (i = 0;
	     plimp_decode_nt_thread(entry->process.threads, entry->layout, i,
				    &thread) == PLIM_OK;
	     i++)
		if (thread.create_time < main_thread.create_time)
			main_thread = thread;
	if (i > 0)
		record->state =
		    plimp_nt_state(main_thread.state, main_thread.wait_reason);
	plimp_record_set(record, PLIM_FIELD_STATE,
			 record->state != 0
			     ? plimp_known(0, PLIM_METHOD_PROCESS_TABLE)
			     : plim_count_missing(PLIM_REASON_NOT_IN_TABLE, 0));
}

static void store_who(const struct plimp_nt_entry *entry,
		      const plim_field_set *fields, plim_process *record)
{
	const struct plimp_nt_process *from = &entry->process;
	char name[PLIMP_NAME_SIZE];
	size_t size = plimp_nt_utf8(from->name, name, sizeof name);

	plimp_record_set(record, PLIM_FIELD_NAME,
			 size > 0
			     ? plimp_known(0, PLIM_METHOD_PROCESS_TABLE)
			     : plim_count_missing(PLIM_REASON_NOT_IN_TABLE, 0));
	plimp_record_name(record, (plim_bytes){name, size});
	if (plimp_set_has(fields, PLIM_FIELD_PID))
		plimp_record_set(
		    record, PLIM_FIELD_PID,
		    plimp_known(from->pid, PLIM_METHOD_PROCESS_TABLE));
	if (plimp_set_has(fields, PLIM_FIELD_PPID))
		plimp_record_set(
		    record, PLIM_FIELD_PPID,
		    plimp_known(from->parent, PLIM_METHOD_PROCESS_TABLE));
	if (plimp_set_has(fields, PLIM_FIELD_THREADS))
		plimp_record_set(
		    record, PLIM_FIELD_THREADS,
		    plimp_known(from->thread_count, PLIM_METHOD_PROCESS_TABLE));
	store_state(entry, record);
	store_start(entry, fields, record);
}

void plimp_nt_store(const struct plimp_nt_entry *entry,
		    const plim_field_set *fields, plim_process *record)
{
	plim_identity identity;

	plimp_record_clear(record, fields);
	plimp_windows_never(record, fields);
	store_who(entry, fields, record);
	store_counters(entry, fields, record);
	plimp_windows_identity(&identity, entry->process.pid,
			       entry->process.create_time);
	plimp_windows_store_identity(record, &identity,
				     entry->methods[PLIMP_NT_TABLE_TIMES]);
}
