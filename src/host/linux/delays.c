/*
 * delays.c - what the threads of a process waited for while they could have
 * run: a CPU (schedstat), and storage (stat field 42).
 *
 * Both files tell of one thread, also those of the process itself. Where it
 * has one thread that is the whole; where it has more all are read, if that
 * was asked for. What ended threads had waited is lost: at least so much.
 *
 * A kernel that does not count shows 0 for everybody, which is no figure.
 * Whether it counts is asked once per host: our own schedstat must say that
 * we ran; waits for storage have a switch, kernel.task_delayacct (Linux 5.14),
 * and count from then on for processes that start later.
 */
#include "host/linux/gnu.h"

#include "host/linux/capture.h"

#include <errno.h>

static plim_count delays_ask_runqueue(plim_host *host)
{
	struct plimp_schedstat own;
	plim_bytes text;
	int error;

	/* Of a recording each file must say it for itself. */
	if (!host->system->live || host->system->self_directory < 0)
		return plimp_known(1, PLIM_METHOD_SYSTEM);
	error = plimp_read_file(host, host->system->self_directory, "schedstat",
				&text);
	if (error == 0 && plimp_decode_schedstat(text, &own) != PLIM_OK)
		error = EBADMSG;
	if (error != 0)
		return plimp_missing_file(error);
	if (own.run_ns == 0 && own.wait_ns == 0 && own.switches_in == 0)
		return plim_count_missing(PLIM_REASON_KERNEL_LACKS, 0);
	return plimp_known(1, PLIM_METHOD_SYSTEM);
}

static plim_count delays_ask_switch(plim_host *host)
{
	uint64_t on;
	plim_bytes text;
	int error = plimp_read_file(host, host->system->root,
				    "sys/kernel/task_delayacct", &text);

	if (plimp_is_starved(error))
		return plimp_missing_file(error);
	if (error == 0 && plimp_decode_number(text, &on) == PLIM_OK && on == 1)
		return plimp_known(1, PLIM_METHOD_SYSTEM);
	return plim_count_missing(PLIM_REASON_NO_DELAYS, error);
}

/* A lack of descriptors is asked about again the next time. */
static plim_count delays_once(plim_host *host, plim_count *answer,
			      plim_count (*ask)(plim_host *host))
{
	plim_count found = *answer;

	if (found.state != PLIM_STATE_UNREAD)
		return found;
	found = ask(host);
	if (!plimp_is_starved(found.code))
		*answer = found;
	return found;
}

plim_count plimp_runqueue_counted(plim_host *host)
{
	return delays_once(host, &host->system->runqueue_counted,
			   delays_ask_runqueue);
}

plim_count plimp_delays_counted(plim_host *host)
{
	return delays_once(host, &host->system->delays_counted,
			   delays_ask_switch);
}

unsigned plimp_delays_wanted(plim_host *host, plim_process *record,
			     const plim_field_set *fields)
{
	unsigned parts = 0;
	plim_count counted;

	if (plimp_set_has(fields, PLIM_FIELD_RUNQUEUE)) {
		counted = plimp_runqueue_counted(host);
		if (counted.state == PLIM_STATE_KNOWN)
			parts |= PLIMP_THREAD_RUNQUEUE;
		else
			plimp_record_set(record, PLIM_FIELD_RUNQUEUE, counted);
	}
	if (plimp_set_has(fields, PLIM_FIELD_BLOCK_IO_DELAY)) {
		counted = plimp_delays_counted(host);
		if (counted.state == PLIM_STATE_KNOWN)
			parts |= PLIMP_THREAD_BLOCK_IO;
		else
			plimp_record_set(record, PLIM_FIELD_BLOCK_IO_DELAY,
					 counted);
	}
	return parts;
}

static plim_count delays_known(uint64_t ns)
{
	return plim_count_bounded(ns, PLIM_METHOD_THREAD_SUM,
				  PLIM_BOUND_AT_LEAST);
}

static plim_count delays_runqueue(const plim_host *host, plim_bytes text,
				  int error, struct plimp_thread *thread)
{
	struct plimp_schedstat found;

	if (error == 0 && plimp_decode_schedstat(text, &found) != PLIM_OK)
		error = EBADMSG;
	if (error != 0)
		return plimp_missing_file(error);
	if (!host->system->live && found.run_ns == 0 && found.wait_ns == 0 &&
	    found.switches_in == 0)
		return plim_count_missing(PLIM_REASON_KERNEL_LACKS, 0);
	thread->runqueue_ns = found.wait_ns;
	return delays_known(found.wait_ns);
}

unsigned plimp_delays_of_one(const plim_host *host, plim_process *record,
			     unsigned parts, plim_bytes schedstat, int error,
			     const struct plimp_stat *stat,
			     struct plimp_thread *thread)
{
	plim_count figure;

	if ((parts & PLIMP_THREAD_RUNQUEUE) != 0) {
		figure = delays_runqueue(host, schedstat, error, thread);
		plimp_record_set(record, PLIM_FIELD_RUNQUEUE, figure);
		if (figure.state != PLIM_STATE_KNOWN)
			parts &= ~(unsigned)PLIMP_THREAD_RUNQUEUE;
	}
	if ((parts & PLIMP_THREAD_BLOCK_IO) != 0 &&
	    (stat->has & PLIMP_STAT_BLOCK_IO) != 0) {
		thread->block_io_ns =
		    plimp_ticks_to_ns(host, stat->block_io_ticks);
		plimp_record_set(record, PLIM_FIELD_BLOCK_IO_DELAY,
				 delays_known(thread->block_io_ns));
	} else if ((parts & PLIMP_THREAD_BLOCK_IO) != 0) {
		parts &= ~(unsigned)PLIMP_THREAD_BLOCK_IO;
		plimp_record_set(record, PLIM_FIELD_BLOCK_IO_DELAY,
				 plim_count_missing(PLIM_REASON_NO_LINE, 0));
	}
	return parts;
}

void plimp_delays_store(plim_process *record, unsigned parts,
			const struct plimp_thread_sum *sum)
{
	if ((parts & PLIMP_THREAD_RUNQUEUE) != 0)
		plimp_record_set(record, PLIM_FIELD_RUNQUEUE, sum->runqueue);
	if ((parts & PLIMP_THREAD_BLOCK_IO) != 0)
		plimp_record_set(record, PLIM_FIELD_BLOCK_IO_DELAY,
				 sum->block_io);
}
