/*
 * base.h - what every other header of Plimsoll stands on: the export mark,
 * the version, the error table and the error record, the allocator hook, and
 * the two shapes of text.
 *
 * Three kinds of failure are never mixed. A bug in the caller asserts in a
 * debug build and returns PLIM_EINVAL otherwise. An operation that failed
 * returns a negative PLIM_E... and leaves its outputs as they were. A figure
 * that is missing is neither: it is a state (figure.h).
 */
#ifndef PLIMSOLL_BASE_H
#define PLIMSOLL_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(PLIM_SHARED)
#if defined(PLIM_BUILDING)
#define PLIM_API __declspec(dllexport)
#else
#define PLIM_API __declspec(dllimport)
#endif
#elif defined(__GNUC__) && !defined(_WIN32)
#define PLIM_API __attribute__((visibility("default")))
#else
#define PLIM_API
#endif

#define PLIM_VERSION_MAJOR 0
#define PLIM_VERSION_MINOR 1
#define PLIM_VERSION_PATCH 0
#define PLIM_VERSION	   "0.1.0"

/* The version of the library that is loaded, as "MAJOR.MINOR.PATCH". Compare
 * it with PLIM_VERSION, the version of the header. Static storage. */
PLIM_API const char *plim_version(void);

/*
 * The errors. X(NAME, NUMBER, "word", "sentence"): the word is the `code` of
 * the JSON error object and never changes; numbers are append-only.
 */
#define PLIM_ERROR_LIST(X)                                                     \
	X(OK, 0, "ok", "no error")                                             \
	X(EINVAL, -1, "invalid_argument",                                      \
	  "an argument is outside its documented range")                       \
	X(ENOMEM, -2, "out_of_memory", "memory could not be allocated")        \
	X(EUNSUPPORTED, -3, "unsupported", "this host cannot do this")         \
	X(ENOPROCESS, -4, "no_such_process", "there is no such process")       \
	X(EDENIED, -5, "denied", "the system refuses this to this user")       \
	X(EHIDDEN, -6, "hidden",                                               \
	  "the process exists but is not visible to this user")                \
	X(EREPLACED, -7, "replaced", "the pid now belongs to another process") \
	X(ETHREAD, -8, "thread_not_process",                                   \
	  "the number is the id of a thread, not of a process")                \
	X(EAMBIGUOUS, -9, "ambiguous", "the name matches several processes")   \
	X(EROOT, -10, "not_procfs", "the directory is not a proc file system") \
	X(ESYNTAX, -11, "syntax", "the text cannot be understood")             \
	X(ENAME, -12, "unknown_name", "no such name")                          \
	X(ETIMEOUT, -13, "timeout", "the deadline passed first")               \
	X(ELIMIT, -14, "over_limit",                                           \
	  "an inventory is larger than its documented bound")                  \
	X(EMALFORMED, -15, "malformed",                                        \
	  "the system's answer does not have the documented form")             \
	X(EUNLIKE, -16, "unlike",                                              \
	  "the two records are of different processes")                        \
	X(EOUTPUT, -17, "output", "the output could not be written")           \
	X(ESYSTEM, -18, "system", "a system call failed")                      \
	X(ECANNOTTELL, -19, "cannot_tell",                                     \
	  "whether this is still the same process cannot be told")             \
	X(EBUDGET, -20, "wrong_budget", "the budget cannot be judged by")      \
	X(EIMAGE, -21, "other_program",                                        \
	  "the process has executed another program meanwhile")                \
	X(ENOSAMPLES, -22, "no_samples",                                       \
	  "nothing of the process could be sampled")                           \
	X(EBUSY, -23, "busy", "another session does this already")

enum plim_error_code {
#define PLIM_X(name, number, word, text) PLIM_##name = number,
	PLIM_ERROR_LIST(PLIM_X)
#undef PLIM_X
};

/*
 * What failed, for a message. Every function that can fail takes an optional
 * `plim_error *`: it is filled on failure and untouched on success. The
 * strings are NUL-terminated, and cut where they do not fit. `path` and
 * `detail` may hold bytes of a hostile process: escape them (plim_escape)
 * before they reach a terminal; plim_error_message() has done so.
 */
typedef struct plim_error {
	int32_t code;	    /* PLIM_E... */
	int32_t system;	    /* the system's error number, 0 if there is none */
	int64_t position;   /* byte in the text that was parsed, else -1 */
	char operation[32]; /* what was being done: "open", "filter" */
	char path[256];	    /* on what: a path, a pid, the parsed word */
	char detail[256];   /* what to do, or what was meant; may be empty */
} plim_error;

/* The stable word of a code ("no_such_process"), "unknown" for a number that
 * is none. Static storage. */
PLIM_API const char *plim_error_word(int code);

/* The sentence of a code, without a full stop. Static storage. */
PLIM_API const char *plim_error_text(int code);

/* One line for people: operation, path, sentence, the system's error, detail;
 * escaped. Writes at most `size` bytes with the NUL and returns the length
 * that the whole line has, as snprintf does. */
PLIM_API size_t plim_error_message(const plim_error *error, char *buffer,
				   size_t size);

/* The symbolic name of a system error ("EACCES"), "E?" for an unknown one.
 * Static storage; unlike strerror() it depends on no locale. */
PLIM_API const char *plim_system_error_name(int system);

/*
 * Where memory comes from. `resize` behaves as realloc: a NULL `memory` asks
 * for new memory, a `new_size` of 0 gives it back (and returns NULL); failure
 * returns NULL and leaves the old memory valid. The default is realloc and
 * free. The hook is called by the thread that called the library, never while
 * a lock is held. It belongs to one host handle (host.h), not to the process.
 */
typedef void *plim_resize_fn(void *memory, size_t old_size, size_t new_size,
			     void *user);

typedef struct plim_allocator {
	plim_resize_fn *resize;
	void *user;
} plim_allocator;

/* Bytes that are not NUL-terminated and may be anything. */
typedef struct plim_bytes {
	const char *data;
	size_t size;
} plim_bytes;

/*
 * Escaping. The result is always NUL-terminated valid UTF-8 (cut at a
 * character's end when it does not fit); the return value is the whole length
 * without the NUL.
 *
 * PLIM_ESCAPE_TERMINAL keeps printable UTF-8 and writes control characters
 * (C0, C1, DEL), the directional and invisible format characters that can
 * disguise a line, stray bytes and the backslash itself as \xNN, so that the
 * bytes can be told from the text.
 * PLIM_ESCAPE_JSON gives the inside of a JSON string: the escapes of RFC 8259
 * for `"`, `\` and control characters; a byte that is not UTF-8 becomes the
 * four characters \xNN (in JSON source \\xNN), and an invisible format
 * character its \uNNNN.
 * PLIM_ESCAPE_CSV gives a CSV field (RFC 4180): quoted where needed; what
 * PLIM_ESCAPE_TERMINAL escapes as \xNN, likewise; a first character that a
 * spreadsheet would take for a formula (= + - @) likewise. PLIM_ESCAPE_ASCII is
 * PLIM_ESCAPE_TERMINAL with every byte above 0x7e written as \xNN.
 */
enum plim_escape_form {
	PLIM_ESCAPE_TERMINAL = 0,
	PLIM_ESCAPE_JSON = 1,
	PLIM_ESCAPE_CSV = 2,
	PLIM_ESCAPE_ASCII = 3
};
PLIM_API size_t plim_escape(int form, plim_bytes text, char *buffer,
			    size_t size);

/* 1 if the bytes are well-formed UTF-8 (RFC 3629), else 0. */
PLIM_API int plim_is_utf8(plim_bytes text);

/* The last component of a path with either separator, or with '/' alone where
 * it begins with that; trailing separators are left out; a path of separators
 * alone gives an empty text. */
PLIM_API plim_bytes plim_base_name(plim_bytes path);

/* The name of `names` (an array that ends with NULL) that is nearest to
 * `word`, or NULL if none is near enough to be a slip of the fingers. */
PLIM_API const char *plim_nearest_name(const char *word,
				       const char *const *names);

#ifdef __cplusplus
}
#endif
#endif
