/*
 * reader.h - a process that reads command lines, and everything it holds.
 *
 * To be used in a process of its own (child_run()) that has no other child:
 * there a child that is found is a helper that has stayed.
 */
#ifndef TESTS_FAULT_READER_H
#define TESTS_FAULT_READER_H

#include "fault.h"

#include <signal.h>

struct reader {
	struct fault_memory memory;
	plim_host *host;
	plim_target *target;
	size_t before; /* descriptors without the host */
	size_t descriptors;
	const char *line; /* what is to be read */
	size_t size;
};

/* Starts a workload whose command line takes several pieces. */
void reader_spawn(struct spawn *spawn);

/* Counts SIGCHLD, with these flags of sigaction(); as of 0. */
extern volatile sig_atomic_t reader_signals;
void reader_count_signals(int flags);

/* Opens a host and this process, whose line is reader_spawn()'s. */
void reader_open(struct reader *reader, pid_t pid, uint32_t deadline_ms);

/* 1 if the text is the line. */
int reader_is_line(const struct reader *reader, const plim_text *text);

/* One read; 1 if it gave the line, 0 if it was late on a loaded machine; what
 * else came fails the test. */
int reader_try(struct reader *reader);

/* Reads until it is the line. */
void reader_expect(struct reader *reader);

/* No child, not even a zombie; no signal; no descriptor more. */
void reader_expect_quiet(const struct reader *reader);

/* Closes all of it, and nothing is left. */
void reader_close(struct reader *reader);

#endif
