/*
 * bill.c - the cost ledger: system calls and bytes are counted where they are
 * made (host/), CPU and wall time are the difference of two clock reads here.
 */
#include "host/bill.h"

/* plim_count_missing(PLIM_REASON_TOO_DEAR, 0), without a call. */
static const plim_count bill_too_dear = {
    .state = PLIM_STATE_SKIPPED,
    .method = PLIM_REASON_TOO_DEAR,
};

struct plimp_bill_mark plimp_bill_begin(plim_host *host, int timed)
{
	struct plimp_bill_mark mark;

	mark.bill = host->bill;
	mark.timed = timed;
	mark.monotonic_ns = timed ? plimp_system_monotonic() : 0;
	mark.cpu = timed ? plimp_system_thread_cpu(host) : bill_too_dear;
	return mark;
}

static uint32_t bill_add(uint32_t sum, uint32_t more)
{
	return sum > UINT32_MAX - more ? UINT32_MAX : sum + more;
}

/* Time that was not asked for makes the total a lower bound; that it is
 * one already is told without adding, since measuring oneself is to be cheap.
 */
static void bill_time(plim_count *total, plim_count more)
{
	plim_sum sum = {0};

	if (more.state != PLIM_STATE_KNOWN &&
	    total->state == PLIM_STATE_KNOWN &&
	    total->bound == PLIM_BOUND_AT_LEAST)
		return;
	plim_sum_add(&sum, *total);
	plim_sum_add(&sum, more);
	*total = plim_sum_total(&sum);
}

void plimp_cost_add(plim_cost *total, const plim_cost *cost)
{
	total->system_calls += cost->system_calls;
	total->bytes_read += cost->bytes_read;
	total->helper_cpu_ns += cost->helper_cpu_ns;
	bill_time(&total->cpu_ns, cost->cpu_ns);
	bill_time(&total->wall_ns, cost->wall_ns);
	total->present = bill_add(total->present, cost->present);
	total->read = bill_add(total->read, cost->read);
	total->vanished = bill_add(total->vanished, cost->vanished);
	total->refused = bill_add(total->refused, cost->refused);
}

static void bill_take(plim_host *host, const struct plimp_bill_mark *mark,
		      plim_cost *cost)
{
	plim_count cpu = mark->cpu;

	if (cpu.state == PLIM_STATE_KNOWN)
		cpu = plim_counter_change(cpu, plimp_system_thread_cpu(host));
	cost->cpu_ns = cpu;
	cost->wall_ns = mark->timed
			    ? plim_count_known(plimp_system_monotonic() -
						   mark->monotonic_ns,
					       PLIM_METHOD_SYSTEM)
			    : bill_too_dear;
	cost->system_calls = host->bill.system_calls - mark->bill.system_calls;
	cost->bytes_read = host->bill.bytes_read - mark->bill.bytes_read;
	cost->helper_cpu_ns =
	    host->bill.helper_cpu_ns - mark->bill.helper_cpu_ns;
}

void plimp_bill_end(plim_host *host, const struct plimp_bill_mark *mark,
		    plim_cost *cost)
{
	bill_take(host, mark, cost);
	plimp_cost_add(&host->cost, cost);
}

struct plimp_bill_whole plimp_bill_open(plim_host *host)
{
	return (struct plimp_bill_whole){.mark = plimp_bill_begin(host, 1),
					 .before = host->cost};
}

void plimp_bill_close(plim_host *host, const struct plimp_bill_whole *whole)
{
	const plim_cost inner = host->cost;
	plim_cost cost = {0};

	bill_take(host, &whole->mark, &cost);
	/* Who was listed and read stands with the calls that did it. */
	cost.present = inner.present - whole->before.present;
	cost.read = inner.read - whole->before.read;
	cost.vanished = inner.vanished - whole->before.vanished;
	cost.refused = inner.refused - whole->before.refused;
	host->cost = whole->before;
	plimp_cost_add(&host->cost, &cost);
}
