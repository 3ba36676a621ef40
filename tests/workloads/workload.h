/*
 * workload.h - what every workload is made of: a bounded life, a start-up
 * line, commands, and truth.
 *
 * A workload is a program whose cost is known, because it counts for itself.
 * It prints `pid=N ready`, then reads one command a line on its standard
 * input; each answer is a block of `key=value` lines that ends with the line
 * `end`. It ends by itself: when its input closes, when its parent ends, and
 * in any case after the given number of seconds.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

/* Binds the life of the process to its parent's and to `seconds`. */
void workload_begin(unsigned seconds);

/* Prints "pid=N ready". */
void workload_ready(void);

/* The next command without its newline. Ends the process at the end of the
 * input, and when the line does not fit. */
void workload_command(char *line, size_t size);

/* If `line` is `word` alone or `word` and a number, stores the number (or 0)
 * and returns 1. */
int workload_is(const char *line, const char *word, uint64_t *number);

/* One line of an answer. */
void workload_number(const char *key, uint64_t value);

/* The end of an answer. */
void workload_done(void);

/* What the kernel has counted for this process until now: monotonic_ns,
 * cpu_ns, wakeups, involuntary, faults_minor, faults_major. */
void workload_account(void);

/* The answer to every command that the workload itself does not know: `truth`
 * gives workload_account(), `quit` ends, anything else ends with status 2. */
void workload_otherwise(const char *line);

uint64_t workload_monotonic_ns(void);
uint64_t workload_cpu_ns(void);

/* Prints what failed with errno, and ends with status 1. */
_Noreturn void workload_fail(const char *what);

/* Sleeps to the end of the duration, whatever signals arrive. */
void workload_sleep_ns(uint64_t ns);

/* Private anonymous memory of whole 4 KiB pages, each of them touched. */
void *workload_touched(size_t bytes);

/*
 * A file without a name in `folder`, of `bytes` (a multiple of 4 KiB) that are
 * on storage already. A child has written them and was never waited for, so
 * this process is charged with nothing: not with the data, and not with the
 * file system's metadata, which the kernel now and then charges to who makes
 * it allocate. What is then written in place is counted to the byte.
 */
int workload_file(const char *folder, size_t bytes);

/* A decimal number, or the end of the process. */
uint64_t workload_parse(const char *text);

#endif
