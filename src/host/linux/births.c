/*
 * births.c - who counts what a tree starts: perf records, else the process
 * connector, else nobody, and why.
 *
 * A member is taken in below its own directory, whose start tick must be the
 * remembered one, so that nobody else's births are counted after a pid was
 * used again. Why there is no source is told of perf, which is the one that a
 * user can do something about.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/births.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

/* PID_MAX_LIMIT of include/linux/threads.h, the most that pid_max can be. */
#define BIRTHS_PIDS (4u << 20)
#define BIRTHS_MAP  (BIRTHS_PIDS / 8)

#define BIRTHS_RING	 ((size_t)512 << 10)
#define BIRTHS_RING_MOST ((size_t)16 << 20)

int plimp_births_knows(const struct plimp_births *births, int32_t pid)
{
	if (births->known == NULL || pid < 0 || (uint32_t)pid >= BIRTHS_PIDS)
		return 0;
	return births->known[pid / 8] >> (pid % 8) & 1;
}

void plimp_births_learn(struct plimp_births *births, int32_t pid, int known)
{
	unsigned bit = 1u << ((uint32_t)pid % 8);
	unsigned char *byte;

	if (births->known == NULL || pid < 0 || (uint32_t)pid >= BIRTHS_PIDS)
		return;
	byte = &births->known[pid / 8];
	*byte = (unsigned char)(known ? *byte | bit : *byte & ~bit);
}

static void births_forget(struct plimp_births *births)
{
	plimp_release(&births->host->allocator, births->known, BIRTHS_MAP, 1);
	births->known = NULL;
}

void plimp_system_births_close(struct plimp_births *births)
{
	plim_host *host;

	if (births == NULL)
		return;
	host = births->host;
	plimp_perf_end(births);
	plimp_connector_end(births);
	births_forget(births);
	plimp_release(&host->allocator, births, 1, sizeof *births);
}

static size_t births_limit(plim_host *host)
{
	struct rlimit limit;

	host->bill.system_calls++;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur / 4 < PLIM_BIRTHS_DESCRIPTORS)
		return (size_t)(limit.rlim_cur / 4);
	return PLIM_BIRTHS_DESCRIPTORS;
}

static int births_new(plim_host *host, struct plimp_births **births)
{
	struct plimp_births *made =
	    plimp_allocate(&host->allocator, 1, sizeof *made);

	if (made == NULL)
		return ENOMEM;
	made->host = host;
	made->poll = -1;
	made->socket = -1;
	made->event_limit = births_limit(host);
	made->known = plimp_allocate(&host->allocator, BIRTHS_MAP, 1);
	if (made->known == NULL) {
		plimp_system_births_close(made);
		return ENOMEM;
	}
	*births = made;
	return 0;
}

/* The directory of a member that is still the same: 0, or the error. */
static int births_find(plim_host *host, const plim_identity *member,
		       int *directory)
{
	int found = plimp_open_process(host, member->pid);
	struct plimp_stat stat;
	plim_bytes text;
	int problem;

	if (found < 0)
		return errno;
	problem = plimp_read_file(host, found, "stat", &text);
	if (problem == 0 && (plimp_decode_stat(text, &stat) != PLIM_OK ||
			     stat.start_ticks != member->start_ticks))
		problem = ESRCH;
	if (problem == 0)
		*directory = found;
	else
		plimp_call_close(host, found);
	return problem;
}

/* Takes one in: 0, or the error. */
static int births_take(struct plimp_births *births, const plim_identity *member,
		       size_t *added)
{
	plim_host *host = births->host;
	int directory = -1;
	int problem = births_find(host, member, &directory);

	if (problem != 0)
		return problem;
	if (births->method == PLIM_METHOD_PERF_RECORDS) {
		problem = plimp_perf_cover(births, directory, added);
	} else if (!plimp_births_knows(births, member->pid)) {
		plimp_births_learn(births, member->pid, 1);
		++*added;
	}
	plimp_call_close(host, directory);
	return problem;
}

static int births_fail(int problem, plim_error *error)
{
	if (problem == ENOMEM)
		return plimp_fail(error, PLIM_ENOMEM, 0, "count births", NULL,
				  NULL);
	if (plimp_is_gone(problem))
		return plimp_fail(error, PLIM_ENOPROCESS, 0, "count births",
				  NULL, NULL);
	return plimp_fail(
	    error, PLIM_ESYSTEM, problem, "count births", NULL,
	    plimp_is_starved(problem) ? "raise the limit of open files" : NULL);
}

/* What no other source can help with. */
static int births_is_fatal(int problem)
{
	return problem == ENOMEM || plimp_is_gone(problem) ||
	       plimp_is_starved(problem);
}

/* `refused`: what EACCES says, who was refused. */
static plim_count births_missing(int problem, int refused)
{
	int reason = PLIM_REASON_READ_FAILED;

	if (problem == EACCES || problem == EPERM)
		reason = refused;
	else if (problem == ENOBUFS)
		reason = PLIM_REASON_PERF_MEMORY;
	else if (problem == E2BIG)
		reason = PLIM_REASON_TOO_DEAR;
	else if (problem == ENOENT || problem == ENOSYS || problem == EINVAL ||
		 problem == EOPNOTSUPP)
		reason = PLIM_REASON_KERNEL_LACKS;
	return plim_count_missing(reason, problem);
}

static size_t births_ring_bytes(uint32_t asked)
{
	size_t bytes = BIRTHS_RING;

	if (asked == 0)
		return bytes;
	for (bytes = 4096; bytes < asked && bytes < BIRTHS_RING_MOST;)
		bytes *= 2;
	return bytes;
}

static int births_perf(struct plimp_births *births,
		       const plim_births_options *options,
		       const plim_identity *root, plim_count *missing)
{
	size_t added = 0;
	int refused = PLIM_REASON_PERF_REFUSED;
	int problem =
	    plimp_perf_begin(births, births_ring_bytes(options->ring_bytes));

	/* ENOENT of the rings is said of the kernel, not of a process. */
	if (problem == ENOENT)
		problem = ENOSYS;
	births->method = PLIM_METHOD_PERF_RECORDS;
	if (problem == 0) {
		refused = PLIM_REASON_NOT_PERMITTED;
		problem = births_take(births, root, &added);
	}
	if (problem == 0 && added == 0)
		problem = ESRCH;
	if (problem != 0) {
		*missing = births_missing(problem, refused);
		births->method = PLIM_METHOD_NONE;
		plimp_perf_end(births);
	}
	return problem;
}

static int births_connector(struct plimp_births *births,
			    const plim_identity *root)
{
	size_t added = 0;
	int problem = plimp_connector_begin(births);

	births->method = PLIM_METHOD_PROCESS_CONNECTOR;
	memset(births->known, 0, BIRTHS_MAP);
	if (problem == 0)
		problem = births_take(births, root, &added);
	if (problem != 0) {
		births->method = PLIM_METHOD_NONE;
		plimp_connector_end(births);
	}
	return problem;
}

/* Leaves method NONE where no source can be used; 0, or a fatal error. */
static int births_choose(struct plimp_births *births,
			 const plim_births_options *options,
			 const plim_identity *root, plim_count *missing)
{
	int problem = 0;

	*missing = plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	if ((options->flags & PLIM_BIRTHS_NO_PERF) == 0)
		problem = births_perf(births, options, root, missing);
	if (births->method != PLIM_METHOD_NONE || births_is_fatal(problem))
		return problem;
	if ((options->flags & PLIM_BIRTHS_NO_CONNECTOR) != 0)
		return 0;
	problem = births_connector(births, root);
	if (problem != 0 && missing->state == PLIM_STATE_SKIPPED)
		*missing = plim_count_missing(problem == EPERM
						  ? PLIM_REASON_NO_CONNECTOR
						  : plimp_reason_of(problem),
					      problem);
	return births_is_fatal(problem) ? problem : 0;
}

int plimp_system_births_open(plim_host *host,
			     const plim_births_options *options,
			     const plim_identity *root,
			     struct plimp_births **births, int *method,
			     plim_count *missing, plim_error *error)
{
	struct plimp_births *made = NULL;
	plim_count why;
	int problem;

	if (!host->system->live) {
		*births = NULL;
		*method = PLIM_METHOD_NONE;
		*missing = plim_count_missing(PLIM_REASON_OTHER_ROOT, 0);
		return PLIM_OK;
	}
	problem = births_new(host, &made);
	if (problem == 0)
		problem = births_choose(made, options, root, &why);
	if (problem != 0) {
		plimp_system_births_close(made);
		return births_fail(problem, error);
	}
	*method = made->method;
	if (made->method == PLIM_METHOD_NONE) {
		*missing = why;
		plimp_system_births_close(made);
		made = NULL;
	}
	*births = made;
	return PLIM_OK;
}

int plimp_system_births_cover(struct plimp_births *births,
			      const plim_identity *member, size_t *added,
			      plim_error *error)
{
	int problem = births_take(births, member, added);

	if (problem == ENOMEM || plimp_is_starved(problem))
		return births_fail(problem, error);
	/* One that may not be observed: what it starts is missed. */
	if (problem != 0 && !plimp_is_gone(problem))
		births->counts.is_partial = 1;
	return PLIM_OK;
}

void plimp_system_births_settle(struct plimp_births *births, int whole)
{
	if (!whole)
		births->counts.is_partial = 1;
	if (births->method == PLIM_METHOD_PERF_RECORDS)
		births_forget(births);
}

void plimp_system_births_read(struct plimp_births *births,
			      struct plimp_birth_counts *counts)
{
	if (births->method == PLIM_METHOD_PERF_RECORDS) {
		plimp_perf_drain(births);
		plimp_perf_check_cpus(births);
	} else {
		plimp_connector_drain(births);
	}
	*counts = births->counts;
}

int plimp_system_births_descriptor(const struct plimp_births *births)
{
	return births->poll;
}
