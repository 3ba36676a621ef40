/*
 * symbols.h - names of code: tables of one module, the files that hold them,
 * maps of jitted code, demangling, and the namer that puts them together.
 *
 * A table is built once and then only read: functions sorted by where they
 * start, none overlapping another, with an index per piece of text
 * (docs/design/symbols.md). An address that no symbol covers has no name, and
 * is never given its neighbour's. Everything in a file or a map is hostile: a
 * symbol that lies outside the module's code is not there, and every table has
 * a bound. Nothing here needs the process to be alive, but what is opened
 * below its root.
 *
 * Where not said otherwise functions give PLIM_OK, PLIM_ENAME where there is
 * no such thing, PLIM_EMALFORMED, PLIM_ELIMIT, PLIM_ENOMEM, or what a reader
 * failed with; outputs are untouched then. A built table may be read by any
 * number of threads; a namer is used by one at a time, and with it its host.
 */
#ifndef PLIMP_SYMBOLS_H
#define PLIMP_SYMBOLS_H

#include "elf/elf.h"
#include "host/target.h"

/* Where a name is from. */
enum plimp_symbol_source {
	PLIMP_SYMBOL_NONE = 0,
	PLIMP_SYMBOL_SYMTAB = 1,     /* .symtab of the module's own file */
	PLIMP_SYMBOL_DYNSYM = 2,     /* .dynsym of the file or its memory */
	PLIMP_SYMBOL_DEBUG_FILE = 3, /* .symtab of a separate debug file */
	PLIMP_SYMBOL_PLT = 4,	     /* made of a stub's target: NAME@plt */
	PLIMP_SYMBOL_PERF_MAP = 5,   /* told by the process's own JIT */
	PLIMP_SYMBOL_LINES = 6	     /* from DWARF: an inlined function */
};
/* "symtab", "dynsym", "debug_file", "plt", "perf_map", "dwarf"; "none". */
const char *plimp_symbol_source_word(int source);

/* A perf map of more bytes, lines, or bytes in a line is PLIM_ELIMIT: a map
 * that is cut off would lack its newest lines, which are the true ones. */
#define PLIMP_PERF_MAP_BYTES 0x8000000u
#define PLIMP_PERF_MAP_LINES 2097152u
#define PLIMP_PERF_MAP_LINE  65536u

/* Symbols of one module, or of a map of jitted code. */
struct plimp_symbols;

struct plimp_symbol {
	plim_bytes name; /* as in the file, mangled, without the version that
			  * .symtab has behind an '@'; borrowed */
	uint64_t start;	 /* address in the file; in the process for a map */
	uint64_t size;	 /* up to where the name holds, never 0 */
	int source;	 /* enum plimp_symbol_source */
};

struct plimp_symbols_facts {
	uint64_t pieces;   /* of code with a name: a function that others lie
			    * in is several */
	uint64_t seen;	   /* entries of the tables, or lines of the map */
	uint64_t rejected; /* of them, malformed or outside the code */
	uint64_t bytes;	   /* of memory, names included */
	int source; /* the best one: DEBUG_FILE, SYMTAB, DYNSYM, PERF_MAP; or
		     * NONE: nothing but stubs */
};

/*
 * Functions and ifuncs of .symtab and .dynsym of `elf`, and of .symtab of
 * `debug`, its debug file (NULL: none), code symbols without a type where
 * those leave a gap, and the stubs of the PLT. `elf` may be pages in memory:
 * what is not resident of its tables has no names. PLIM_ENAME: no symbol at
 * all. The files may be closed afterwards.
 */
int plimp_symbols_build(struct plimp_symbols **symbols,
			const struct plimp_elf *elf,
			const struct plimp_elf *debug,
			const plim_allocator *allocator, plim_error *error);

/*
 * A map of jitted code, /tmp/perf-PID.map: lines of START SIZE NAME in
 * hexadecimal. Where lines overlap a later one wins, as code is jitted again
 * at the same place, and a line whose first byte has been taken by a later one
 * names nothing any more. A malformed line is passed over and counted.
 * PLIM_ENAME: it names nothing.
 */
int plimp_symbols_perf_map(struct plimp_symbols **symbols, plim_bytes text,
			   const plim_allocator *allocator, plim_error *error);

/* NULL is allowed. */
void plimp_symbols_free(struct plimp_symbols *symbols,
			const plim_allocator *allocator);

struct plimp_symbols_facts
plimp_symbols_facts(const struct plimp_symbols *symbols);

/* The function that holds the address; PLIM_ENAME: none does. Neither
 * allocates nor calls out. NULL has no symbols. */
int plimp_symbols_find(const struct plimp_symbols *symbols,
		       uint64_t file_address, struct plimp_symbol *symbol);

/*
 * A separate debug file, verified. `file` must stay where it is as long as
 * `elf` is used, which reads through it.
 */
struct plimp_debug_file {
	struct plimp_file file;
	struct plimp_elf elf;
	char path[4096];     /* as it was opened, for messages */
	int is_below_target; /* it was found below the target's own root */
};

/*
 * Finds the debug file of a module: by its build id below
 * /usr/lib/debug/.build-id, then by its .gnu_debuglink in the folder of
 * `path`, in .debug below it, and below /usr/lib/debug; all of them below the
 * root of the lens's process, or, where that is NULL, on this machine.
 * It is taken only if it has the module's build id or, where that has none,
 * the CRC that the link tells, and is for the same machine. PLIM_ENAME: none.
 */
int plimp_debug_file_find(struct plimp_debug_file *debug, plim_host *host,
			  struct plimp_lens *lens, const struct plimp_elf *elf,
			  plim_bytes path, plim_error *error);
void plimp_debug_file_close(plim_host *host, struct plimp_debug_file *debug);

/* Longer names are not demangled, nor those that would become longer. */
#define PLIMP_DEMANGLE_INPUT  1024u
#define PLIMP_DEMANGLE_OUTPUT 8192u

/*
 * The name that a C++ or Rust (legacy and v0) symbol stands for, without
 * parameters, as perf shows it: "ns::Class<int>::method". Not NUL-terminated.
 * PLIM_ENAME where it is no mangled name, PLIM_ELIMIT where it or its text is
 * too long for `size` or the bounds, PLIM_EUNSUPPORTED without the library.
 */
int plimp_demangle(plim_bytes name, char *buffer, size_t size, size_t *length);

/* Names of the frames of one process, made at report time. */
struct plimp_namer;
struct plimp_modules; /* modules.h */

enum plimp_namer_flag {
	PLIMP_NAMER_LINES = 1 /* files, lines and inlined functions, too */
};

struct plimp_frame_name {
	plim_bytes function; /* demangled where it can be; empty: it has no
			      * name but module + offset */
	plim_bytes linkage;  /* as in the file */
	plim_bytes file;     /* empty: not known */
	uint32_t line;	     /* 0: not known */
	uint64_t start;	     /* of the physical function, address in the file
			      * (in the process for jitted code); of one
			      * without a name by its unwind rules. 0: not
			      * known */
	int is_inlined;	     /* innermost first; the last one is not */
	int source;	     /* enum plimp_symbol_source */
};

/* What could be had of a module. Asking reads its tables, as naming does. */
struct plimp_namer_module {
	int has_symbols; /* a static or a debug file's table; 0 where
			  * there is .dynsym alone */
	int has_lines; /* for an address that was asked so far, and the same */
	int has_inlines;
	int symbols_failed;    /* PLIM_OK, or why it has no table at all */
	plim_bytes debug_path; /* empty: no debug file */
	struct plimp_symbols_facts facts;
};

/*
 * Modules, their store and lens must outlive the namer; namers of one store
 * have the same flags. `lens` may be NULL where the process is gone or there is
 * none: then there is no map of jitted code, and debug files are those of this
 * machine. PLIM_ENOMEM.
 */
int plimp_namer_open(struct plimp_namer **namer, plim_host *host,
		     struct plimp_lens *lens, struct plimp_modules *modules,
		     uint32_t flags, plim_error *error);

/*
 * Reads the process's map of jitted code again. To be called while it lives,
 * at best when sampling ends; what was read before is kept where it cannot be
 * read. PLIM_OK also where there is none. Names that were given for jitted
 * code stay valid, and may become other ones for the same address.
 */
int plimp_namer_refresh(struct plimp_namer *namer, plim_error *error);

/*
 * The names of the frame at `address`, which is one inside the instruction (a
 * caller's is its return address - 1), innermost inlined function first; at
 * least one, which may be unnamed. `module` is an index of the modules, or
 * PLIMP_NO_MODULE. Borrowed until the namer is closed. PLIM_ENOMEM; or
 * PLIM_EINVAL for a module that there is not.
 */
int plimp_namer_find(struct plimp_namer *namer, uint32_t module,
		     uint64_t address, uint64_t time_ns,
		     const struct plimp_frame_name **names, size_t *count,
		     plim_error *error);

/*
 * Names many addresses of one module, as its file numbers them, so that asking
 * for them afterwards costs next to nothing, in this process and in all that
 * share the store and have mapped the same file: where it has lines that is
 * several times as fast as naming them one by one. The process that reads its
 * lines is ended then. PLIM_ENOMEM; PLIM_EINVAL for a module that there is not.
 */
int plimp_namer_prepare(struct plimp_namer *namer, uint32_t module,
			const uint64_t *file_addresses, size_t count,
			plim_error *error);

/* Borrowed likewise; a module without any is zeroed but for the reason. */
int plimp_namer_module(struct plimp_namer *namer, uint32_t module,
		       struct plimp_namer_module *told, plim_error *error);

/* NULL is allowed. */
void plimp_namer_close(struct plimp_namer *namer);

#endif
