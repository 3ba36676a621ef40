/*
 * unwind.h - call stacks: why one ends, the registers that one begins with,
 * and the code of a process that they run through.
 *
 * A stack is a list of addresses, innermost first. A list says nothing of
 * whether it is whole, so every stack has an end with a reason; one that did
 * not reach the thread's first function is a part, and is told as one.
 */
#ifndef PLIMSOLL_UNWIND_H
#define PLIMSOLL_UNWIND_H

#include <plimsoll/base.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Why a stack ends. X(NAME, NUMBER, "word", "sentence"): the word stands in
 * exports and never changes; numbers are append-only, begin with 1, and have
 * no gap.
 */
#define PLIM_STACK_END_LIST(X)                                                \
	X(ROOT, 1, "root", "the walk reached the thread's first function")    \
	X(DEPTH, 2, "depth_cap", "more frames than were asked for")           \
	X(CUT, 3, "copy_cap", "the stack goes on above what was copied")      \
	X(NO_RULES, 4, "no_rules",                                            \
	  "code without unwinding rules, whose frame pointer proves nothing") \
	X(BAD_MEMORY, 5, "bad_memory", "a saved address could not be read")   \
	X(UNKNOWN_CODE, 6, "unknown_code",                                    \
	  "an address that is in no executable mapping")                      \
	X(BAD_RULES, 7, "bad_rules",                                          \
	  "rules that contradict themselves or the stack")                    \
	X(NO_POINTER, 8, "no_frame_pointer",                                  \
	  "a rule needs a register that a blocked thread does not tell, and " \
	  "that could not be proven")                                         \
	X(NO_STACK, 9, "no_stack", "only the program counter was known")

enum plim_stack_end {
#define PLIM_X(name, number, word, text) PLIM_STACK_##name = number,
	PLIM_STACK_END_LIST(PLIM_X)
#undef PLIM_X
};
/* Room for an array that is indexed by these. */
#define PLIM_STACK_END_LIMIT 16

/* Word and sentence of an end; NULL for a number that is none. Static
 * storage. */
PLIM_API const char *plim_stack_end_word(int end);
PLIM_API const char *plim_stack_end_text(int end);

/*
 * The registers that a stack begins with, by their DWARF numbers. x86-64: 0 to
 * 15 are rax rdx rcx rbx rsi rdi rbp rsp r8 to r15, and 16 is rip. aarch64: 0
 * to 30 are x0 to x30, 31 is sp and 32 the pc. Program counter and stack
 * pointer must be known; what else is known makes for more stacks that come to
 * their end.
 */
#define PLIM_REGISTERS 33
typedef struct plim_registers {
	uint64_t value[PLIM_REGISTERS];
	uint64_t known; /* bit n: value[n] is known */
	/* aarch64: the bits of a return address that are its signature; 0:
	 * none, or not known */
	uint64_t signature_bits;
	uint64_t reserved[2]; /* 0 */
} plim_registers;

/*
 * What stands behind a module. PLIM_CODE_FILE: a file, which is held open since
 * it was first seen. PLIM_CODE_VDSO: code that the kernel puts into every
 * process. PLIM_CODE_ANONYMOUS: executable memory without a file: a JIT's, or
 * text that was moved onto huge pages; all that has one name is one module.
 * PLIM_CODE_MEMORY: a file that cannot be had any more (deleted, replaced, not
 * for this user), of which the pages that were resident were copied.
 */
enum plim_code_kind {
	PLIM_CODE_FILE = 1,
	PLIM_CODE_VDSO = 2,
	PLIM_CODE_ANONYMOUS = 3,
	PLIM_CODE_MEMORY = 4
};
/* "file", "vdso", "anonymous", "memory"; NULL for a number that is none.
 * Static storage. */
PLIM_API const char *plim_code_kind_word(int kind);

#define PLIM_BUILD_ID_SIZE 64

/* One module, as it was found: a file as it was loaded once. */
typedef struct plim_code_module {
	int32_t kind; /* enum plim_code_kind */
	int32_t why;  /* PLIM_OK, or why its file could not be had */
	/* Lowest and highest address of its executable ranges. */
	uint64_t start;
	uint64_t end;
	/* An address in the file is the address in the process less this; it
	 * wraps. 0 of anonymous ones. */
	uint64_t bias;
	uint64_t offset; /* in the file, of what is mapped at `start` */
	uint64_t device; /* major << 32 | minor; 0 without a file */
	uint64_t inode;
	/* As the process sees it, without " (deleted)"; "[vdso]", "[anon]",
	 * "[anon:NAME]". Hostile: escape it before it is shown. Borrowed until
	 * the code is closed. */
	plim_bytes path;
	uint8_t build_id[PLIM_BUILD_ID_SIZE];
	uint32_t build_id_size; /* 0: it has none, or it is not known */
	uint8_t is_loaded;	/* 0: it is gone by now */
	uint8_t is_deleted;	/* its file has no name any more */
	uint8_t is_replaced; /* another file has the name, or the file's bytes
			      * are not those in memory */
	uint8_t is_proven; /* the build id in memory was found to be the file's;
			    * 0: its page is not resident */
	/* Monotonic times, ns: since when it may have been there, 0: since
	 * before the first look; until when, 0: it is there. */
	uint64_t since_ns;
	uint64_t until_ns;
	uint64_t rule_entries; /* functions that have unwinding rules */
	uint64_t rule_bytes;   /* of memory that their table takes */
	uint64_t reserved[4];  /* 0 */
} plim_code_module;

/* The code of one process: its modules with their unwinding rules. Used by one
 * thread at a time, and with it its host. */
typedef struct plim_code plim_code;

/*
 * Reads the mappings of the target, or, where it is NULL, of ourselves, opens
 * its files in its own mount namespace, and builds their rules: some
 * milliseconds for each million bytes of code. The target is not stopped and
 * no page of it is brought in. It must outlive the code, and is the program
 * that it executes now. PLIM_EDENIED where its memory is not for this user,
 * PLIM_EUNSUPPORTED of a program of 32 bits, and where the system tells no
 * mappings, PLIM_ENOPROCESS, PLIM_EREPLACED, PLIM_EHIDDEN, PLIM_EIMAGE,
 * PLIM_ELIMIT, PLIM_ENOMEM, PLIM_ESYSTEM.
 */
PLIM_API int plim_code_open(plim_code **code, plim_host *host,
			    plim_target *target, plim_error *error);
/* NULL is allowed. */
PLIM_API void plim_code_close(plim_code *code);

/* Looks again: what was loaded since is there, what is gone is told as gone,
 * and modules keep their places; the map of jitted code is read again. On
 * failure the code is as it was; PLIM_EIMAGE where the process executes another
 * program by now. Errors as for opening. */
PLIM_API int plim_code_refresh(plim_code *code, plim_error *error);

/* How many modules there were since it was opened, also those that are gone;
 * and the one at a place. PLIM_EINVAL from the last one on: then `module` is
 * as it was. */
PLIM_API size_t plim_code_module_count(const plim_code *code);
PLIM_API int plim_code_module_at(const plim_code *code, size_t index,
				 plim_code_module *module);
/* The module that holds the address now, or SIZE_MAX. */
PLIM_API size_t plim_code_module_find(const plim_code *code, uint64_t address);

/*
 * Reads memory for a walk: `size` bytes at an address of the process, all or
 * none; 0, or another number where they cannot be had. It is asked for words of
 * the stack and for pieces of code.
 */
typedef int plim_memory_read_fn(uint64_t address, void *buffer, size_t size,
				void *user);

/* What the thread of plim_code_thread() did. */
enum plim_stack_thread {
	PLIM_STACK_THREAD_NONE = 0, /* the walk was of no thread */
	PLIM_STACK_THREAD_BLOCKED =
	    1, /* it slept: the stack is of one moment */
	PLIM_STACK_THREAD_RUNNING = 2,	 /* it runs, or waits for a CPU */
	PLIM_STACK_THREAD_MOVED = 3,	 /* it ran each time it was looked at */
	PLIM_STACK_THREAD_UNREADABLE = 4 /* it sleeps, and its stack is not
					  * resident */
};
/* "none", "blocked", "running", "moved", "unreadable"; NULL for a number that
 * is none. Static storage. */
PLIM_API const char *plim_stack_thread_word(int thread);

/* What a walk came to. */
typedef struct plim_stack {
	size_t count;	  /* frames */
	int32_t end;	  /* enum plim_stack_end; 0 where there is no stack */
	int32_t thread;	  /* enum plim_stack_thread */
	int64_t call;	  /* the number of the system call that a blocked
			   * thread is in; -1: none, or not known */
	uint32_t scanned; /* frames whose frame pointer was found by a search of
			   * the stack, and proven */
	uint32_t by_pointer; /* frames of code without rules, left by their
			      * frame pointer */
	uint64_t missed;     /* what could not be read, where that is the end */
	uint64_t reserved[2]; /* 0 */
} plim_stack;

/*
 * Walks one stack: at most `capacity` frames, at least 1, innermost first.
 * frames[0] is the program counter; of each caller it is an address inside the
 * call instruction, the return address less 1, and of code that a signal
 * interrupted the program counter itself: look names up for them as they are.
 * `read` NULL: the memory of the process, of which nothing is read that is not
 * resident; then somebody else must see to it that the thread does not run.
 * `stack` and `frames` are set on success, which it is also where the stack is
 * not whole: `stack->end` says so. PLIM_EINVAL without program counter or
 * stack pointer.
 */
PLIM_API int plim_code_unwind(plim_code *code, const plim_registers *registers,
			      plim_memory_read_fn *read, void *user,
			      uint64_t *frames, size_t capacity,
			      plim_stack *stack, plim_error *error);

/*
 * The stack of a thread of the process that sleeps, without stopping it and
 * without a signal: its system call and stack pointer as the kernel tells them,
 * its memory, and a proof that it did not run meanwhile. A thread that runs has
 * no stack to be told: that is PLIM_OK, with a count of 0, and `stack->thread`
 * says so. On failure `frames` may have been written. Linux alone.
 * PLIM_ENOPROCESS where the process has no such thread
 * (any more); PLIM_EDENIED, PLIM_EUNSUPPORTED where the system does not tell
 * it, with the remedy; PLIM_EREPLACED, PLIM_EHIDDEN, PLIM_EIMAGE, PLIM_ENOMEM,
 * PLIM_ESYSTEM.
 */
PLIM_API int plim_code_thread(plim_code *code, int32_t tid, uint64_t *frames,
			      size_t capacity, plim_stack *stack,
			      plim_error *error);

/* What a frame is called. Texts are hostile: escape them before they are shown.
 * Borrowed until the code is closed. */
typedef struct plim_frame_name {
	plim_bytes function; /* demangled where it can be; empty: it has no
			      * name, and is module + offset */
	plim_bytes linkage;  /* as in the file */
	plim_bytes file;     /* of the source; empty: not known */
	uint32_t line;	     /* of the frame in it, for the caller of an inlined
			      * function the call; 0: not known */
	uint32_t is_inlined; /* 1: a part of the function behind it */
	uint64_t start;	 /* of the function, as `offset` counts; 0: not known,
			  * and of an inlined one */
	size_t module;	 /* place among the modules; SIZE_MAX: in none */
	uint64_t offset; /* the address in the file; without a module, and of
			  * code without a file, in the process */
	uint64_t reserved[2]; /* 0 */
} plim_frame_name;

/*
 * The names of a frame, an address as plim_code_unwind() gives it: innermost
 * inlined function first, the function itself last. `*count` is how many there
 * are, at least 1; at most `capacity` are written. Nothing has a name that no
 * symbol covers, rather than its neighbour's. Symbols and lines are read when
 * they are first wanted: of the file, of its separate debug file below the
 * process's own root, and from the process's own map of jitted code; never from
 * a network. Lines are there where libdw is. On failure `names` and `*count`
 * are as they were. PLIM_EINVAL, PLIM_ENOMEM.
 */
PLIM_API int plim_code_name(plim_code *code, uint64_t address,
			    plim_frame_name *names, size_t capacity,
			    size_t *count, plim_error *error);

#ifdef __cplusplus
}
#endif
#endif
