/*
 * storm.h - what a process can do to whoever samples it from inside.
 *
 * `storm NAME [SIZE]` does it and prints what it did: counts and checksums,
 * which are the same each time. `storm --session NAME` does it while the
 * process samples itself, and has to print the same; what was sampled goes to
 * its standard error. A storm works by amounts, never by the clock.
 */
#ifndef TESTS_INSIDE_STORM_H
#define TESTS_INSIDE_STORM_H

#include <pthread.h>
#include <stdint.h>

/* What a storm ends with where the machine is too small for it. */
#define STORM_SKIPPED 77

struct storm {
	const char *name;
	void (*prepare)(void); /* before the session begins; may be NULL */
	void (*run)(uint64_t size);
	uint64_t usual; /* size */
};

void storm_waits_prepare(void);
void storm_waits(uint64_t size);
void storm_polls(uint64_t size);
void storm_masks(uint64_t size);
void storm_handlers(uint64_t size);
void storm_altstacks(uint64_t size);
void storm_exits(uint64_t size);
void storm_contexts(uint64_t size);
void storm_starts(uint64_t size);
void storm_forks_prepare(void);
void storm_forks(uint64_t size);
void storm_spawns(uint64_t size);
void storm_exec(uint64_t size);
void storm_throws(uint64_t size);
void storm_reloads(uint64_t size);

/* Counts the files that are open before there is a session. */
void storm_lives_begin(void);
/* What a program that was executed finds of the one before, which had so many
 * files: 0, or a bit for each thing that is not as it should be. */
unsigned storm_inherited(unsigned files);

/* Ends the process, with the reason on standard error. */
void storm_die(const char *what) __attribute__((noreturn));
/* Dies if it is 0. */
#define STORM_TRUE(condition)                  \
	do {                                   \
		if (!(condition))              \
			storm_die(#condition); \
	} while (0)

uint64_t storm_mix(uint64_t hash, uint64_t value);
/* Computes; some nanoseconds a round. */
uint64_t storm_work(uint64_t rounds);
/* With a stack of so many bytes; 0: the usual. */
pthread_t storm_thread(void *(*body)(void *user), void *user, size_t stack);
/* A file beside the program; static storage. */
const char *storm_beside(const char *name);

/* The session: nothing without --session. It may begin again. */
int storm_has_session(void);
void storm_session_begin(void);
/* Ends it and tells what it has sampled. */
void storm_session_end(void);
/* Begins and ends it, for a moment or some milliseconds; tells nothing. */
void storm_session_turn(int is_long);
/* Computes until a signal has come to the calling thread: it is sampled,
 * however slow the machine. Where none comes it gives up at last. */
void storm_settle(void);
/* Its thread gets a CPU only where nobody else wants one. */
void storm_session_lags(void);
/* Adds to what is told: what the application saw that was not its own. */
void storm_strange(uint64_t count);

#endif
