/*
 * decode.h - what Windows answers, as bytes, into numbers.
 *
 * The layouts are those of the native interface (ntdll's system and process
 * classes), which the SDK declares in part only: they stand here as offsets,
 * for 64 and for 32 bits, and layout.c compares them with the SDK where that
 * declares them. All functions take bytes, include no system header and are
 * compiled, tested and fuzzed on every system. Every number is little-endian,
 * every bound is checked, and a walk only goes forward, so that no table can
 * make it endless. On failure outputs are untouched.
 */
#ifndef PLIMP_WINDOWS_DECODE_H
#define PLIMP_WINDOWS_DECODE_H

#include <plimsoll/base.h>

/* Offsets in SYSTEM_PROCESS_INFORMATION and what stands in it. */
struct plimp_nt_layout {
	uint8_t word; /* bytes of a pointer */
	uint16_t private_resident;
	uint16_t hard_faults;
	uint16_t create_time;
	uint16_t user_time;
	uint16_t kernel_time;
	uint16_t image_name;
	uint16_t pid;
	uint16_t parent;
	uint16_t handles;
	uint16_t session;
	uint16_t faults;
	uint16_t peak_resident;
	uint16_t resident;
	uint16_t commit;
	uint16_t io;	  /* six counters of 8 bytes */
	uint16_t threads; /* the first SYSTEM_THREAD_INFORMATION */
	uint16_t thread_size;
	/* In each of those. */
	uint16_t thread_start;
	uint16_t thread_id;
	uint16_t thread_switches;
	uint16_t thread_state;
};
extern const struct plimp_nt_layout plimp_nt_layout_64;
extern const struct plimp_nt_layout plimp_nt_layout_32;

/* What GetProcessIoCounters() fills, and the table has for each process. */
struct plimp_nt_io {
	uint64_t read_calls;
	uint64_t write_calls;
	uint64_t other_calls;
	uint64_t read_bytes;
	uint64_t write_bytes;
	uint64_t other_bytes;
};
#define PLIMP_NT_IO_SIZE 48
int plimp_decode_nt_io(plim_bytes bytes, struct plimp_nt_io *io);

/* One process of the table. Times are in units of 100 ns, the creation since
 * 1601. `name` and `threads` lie in the table; the name is UTF-16. */
struct plimp_nt_process {
	uint64_t pid;
	uint64_t parent;
	uint64_t create_time;
	uint64_t user_time;
	uint64_t kernel_time;
	uint64_t private_resident;
	uint64_t resident;
	uint64_t peak_resident;
	uint64_t commit;
	uint32_t faults;
	uint32_t hard_faults;
	uint32_t handles;
	uint32_t session;
	uint32_t thread_count;
	struct plimp_nt_io io;
	plim_bytes name;
	plim_bytes threads;
};

/*
 * The process at `*offset` of a table that began at address `base` when the
 * system filled it (its names are pointers into it). 1 with one, and `*offset`
 * moved on; 0 at the end; -1 for a table that is not of the documented form.
 */
int plimp_decode_nt_process(plim_bytes table,
			    const struct plimp_nt_layout *layout, uint64_t base,
			    size_t *offset, struct plimp_nt_process *process);

struct plimp_nt_thread {
	uint64_t tid;
	uint64_t create_time;
	uint64_t user_time;
	uint64_t kernel_time;
	uint32_t switches;
	uint32_t state;
	uint32_t wait_reason;
};

/* The thread of this index in plimp_nt_process.threads: PLIM_OK, or
 * PLIM_EMALFORMED where there is none. */
int plimp_decode_nt_thread(plim_bytes threads,
			   const struct plimp_nt_layout *layout, size_t index,
			   struct plimp_nt_thread *thread);

/* The letter of a process (plim_process_text of STATE) by its main thread's
 * KTHREAD_STATE and KWAIT_REASON; 0 for a state that is none of a thread that
 * lives. */
char plimp_nt_state(uint32_t state, uint32_t wait_reason);

/* The name of a KWAIT_REASON, "" for one that is not in the table. Static. */
const char *plimp_nt_wait_reason(uint32_t reason);

/* Bits of plimp_nt_memory.has. */
enum plimp_nt_memory_part {
	PLIMP_NT_FAULTS = 1,
	PLIMP_NT_PEAK_RESIDENT = 2,
	PLIMP_NT_RESIDENT = 4,
	PLIMP_NT_PAGEFILE = 8,
	PLIMP_NT_PRIVATE = 16,
	PLIMP_NT_PRIVATE_RESIDENT = 32,
	PLIMP_NT_SHARED_COMMIT = 64
};
struct plimp_nt_memory {
	uint32_t has;
	uint32_t faults;
	uint64_t peak_resident;
	uint64_t resident;
	uint64_t pagefile;	   /* commit, as old systems name it */
	uint64_t private_bytes;	   /* PrivateUsage: commit */
	uint64_t private_resident; /* private working set */
	uint64_t shared_commit;
};

/* PROCESS_MEMORY_COUNTERS, _EX or _EX2 as it was filled. Its first member is
 * the size that the call filled, which can be less than was asked: nothing
 * behind it is read, whatever stands there. */
int plimp_decode_nt_memory(plim_bytes bytes, unsigned word,
			   struct plimp_nt_memory *memory);

/* FILETIME: 100 ns since 1601, into ms since 1970; and a span of them into
 * ns. -1 for a time before 1970. */
int plimp_nt_unix_ms(uint64_t filetime, uint64_t *ms);
uint64_t plimp_nt_ns(uint64_t units);

/*
 * UTF-16 into UTF-8, at most `room` bytes, cut between characters. Half a pair
 * of surrogates becomes the three bytes that it would have as a character
 * (WTF-8), so that names stay different; a byte too many is left out. Returns
 * the size.
 */
size_t plimp_nt_utf8(plim_bytes utf16, char *text, size_t room);

/* A UNICODE_STRING: where its characters are in the process that it is of. */
struct plimp_nt_string {
	uint64_t address;
	uint16_t size; /* bytes; even */
};
int plimp_decode_nt_string(plim_bytes bytes, unsigned word,
			   struct plimp_nt_string *string);

/* A UNICODE_STRING at the beginning of an answer whose characters lie in the
 * same answer, which began at address `base`. */
int plimp_decode_nt_answer(plim_bytes bytes, unsigned word, uint64_t base,
			   plim_bytes *utf16);

/* How much of a PEB, and of the parameters that it points to, is read. */
#define PLIMP_NT_PEB_SIZE	 0x28
#define PLIMP_NT_PARAMETERS_SIZE 0x80
int plimp_decode_nt_peb(plim_bytes bytes, unsigned word, uint64_t *parameters);
int plimp_decode_nt_parameters(plim_bytes bytes, unsigned word,
			       struct plimp_nt_string *command_line);

/*
 * Splits a command line as Microsoft's C runtime does, in place: arguments
 * each ended by a NUL. `room` is at least size + 1. Returns the size. What
 * stands behind a NUL is not part of it, for the program neither.
 */
size_t plimp_nt_arguments(char *text, size_t size, size_t room);

#endif
