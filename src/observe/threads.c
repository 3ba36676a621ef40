/*
 * threads.c - samples of the threads of one process.
 *
 * Three sides take turns: two are shown, the third is written, and they swap
 * when the new one is whole, so that a failure leaves both samples as they
 * were. Pairs, order and sums are made once, in threads_change.c, when a
 * sample has come in: asking for them afterwards costs nothing.
 */
#include "observe/threads.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/rates.h"
#include "host/bill.h"

#include <assert.h>
#include <string.h>

#define THREADS_ROOM 64

int plim_threads_new(plim_threads **threads, plim_host *host, plim_error *error)
{
	plim_threads *made;

	if (threads == NULL || host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new threads", NULL,
				  NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new threads", NULL,
				  NULL);
	made->host = host;
	*threads = made;
	return PLIM_OK;
}

void plim_threads_free(plim_threads *threads)
{
	const plim_allocator *allocator;
	int i;

	if (threads == NULL)
		return;
	allocator = &threads->host->allocator;
	for (i = 0; i < 3; i++) {
		struct plimp_threads_side *side = &threads->sides[i];

		plimp_threads_release(threads->host, &side->list);
		plimp_details_release(threads->host, &side->details);
		plimp_release(allocator, side->shown, side->shown_capacity,
			      sizeof *side->shown);
	}
	plimp_release(allocator, threads->pairs, threads->pair_capacity,
		      sizeof *threads->pairs);
	plimp_release(allocator, threads, 1, sizeof *threads);
}

static int threads_options(const plim_threads_options *given,
			   plim_threads_options *options, plim_error *error)
{
	memset(options, 0, sizeof *options);
	if (given != NULL && given->size < sizeof given->size)
		return plimp_fail(error, PLIM_EINVAL, 0, "sample threads",
				  "options.size",
				  "set it to sizeof(plim_threads_options)");
	if (given != NULL)
		memcpy(options, given,
		       given->size < sizeof *options ? given->size
						     : sizeof *options);
	if (options->parts == 0)
		options->parts = PLIM_THREAD_ALL;
	if ((options->parts & ~(uint32_t)PLIM_THREAD_ALL) != 0)
		return plimp_fail(error, PLIM_EINVAL, 0, "sample threads",
				  "options.parts", NULL);
	return PLIM_OK;
}

static unsigned threads_parts(unsigned parts)
{
	static const struct {
		unsigned asked;
		unsigned read;
	} rows[] = {
	    {PLIM_THREAD_SWITCHES, PLIMP_THREAD_SWITCHES},
	    {PLIM_THREAD_TIMES, PLIMP_THREAD_RUNQUEUE},
	    {PLIM_THREAD_NAME, PLIMP_THREAD_NAME},
	    {PLIM_THREAD_BLOCKED, PLIMP_THREAD_NAME | PLIMP_THREAD_WAIT},
	};
	unsigned wanted = 0;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if ((parts & rows[i].asked) != 0)
			wanted |= rows[i].read;
	return wanted;
}

static struct plimp_request threads_request(const plim_threads_options *options,
					    struct plimp_threads_side *side)
{
	struct plimp_request request = {
	    .threads = 1,
	    .dear = 1,
	    .young_ticks = UINT64_MAX,
	    .thread_parts = threads_parts(options->parts),
	    .remember = 1,
	    .details = &side->details,
	};

	if (options->fields != NULL) {
		request.fields = *options->fields;
		request.walks = 1;
	} else {
		plim_field_set_add(&request.fields, PLIM_FIELD_CPU);
		if ((options->parts & PLIM_THREAD_SWITCHES) != 0)
			plim_field_set_add(&request.fields, PLIM_FIELD_WAKEUPS);
	}
	return request;
}

/* The threads of the last sample, if that was of the same process. */
static const struct plimp_threads *threads_known(const plim_threads *threads,
						 const plim_target *target)
{
	const plim_process *last;

	if (threads->samples == 0)
		return NULL;
	last = &threads->sides[threads->last].record;
	if (target == NULL
		? !threads->of_self
		: plim_identity_compare(&last->identity, &target->identity) !=
		      PLIM_SAME)
		return NULL;
	return &last->threads;
}

/* A part that lacks although the process was read. */
static int threads_refused(const plim_process *record, plim_error *error)
{
	plim_count why = record->threads.no_switches;
	int code = PLIM_ESYSTEM;

	if (why.state == PLIM_STATE_DENIED)
		code = PLIM_EDENIED;
	else if (why.state == PLIM_STATE_MALFORMED)
		code = PLIM_EMALFORMED;
	else if (why.method == PLIM_REASON_NO_FILE ||
		 why.method == PLIM_REASON_TABLE_LACKS)
		code = PLIM_EUNSUPPORTED;
	return plimp_fail(error, code, why.code, "read threads", NULL,
			  why.method == PLIM_REASON_TOO_MANY_DESCRIPTORS
			      ? "raise the limit of open files"
			  : why.method == PLIM_REASON_NO_FILE
			      ? "this recording has no threads of it"
			      : NULL);
}

static int threads_measure(plim_threads *threads, plim_target *target,
			   const plim_threads_options *options,
			   struct plimp_threads_side *side, plim_error *error)
{
	struct plimp_request request = threads_request(options, side);
	int code;

	side->list.count = 0;
	side->details.count = 0;
	side->details.texts.size = 0;
	side->parts = options->parts;
	request.known = threads_known(threads, target);
	if (target == NULL) {
		code = plimp_system_read_self(
		    threads->host, &request, &side->record, &side->list, error);
	} else {
		plimp_system_begin(threads->host);
		code = plimp_system_read_target(target, &request, &side->record,
						&side->list, error);
	}
	if (code == PLIM_OK && !side->record.threads.known)
		code = threads_refused(&side->record, error);
	if (code == PLIM_OK)
		side->record.threads.items = side->list.items;
	return code;
}

static plim_text threads_text(const struct plimp_threads_side *side,
			      const struct plimp_thread_text *where)
{
	plim_text text = {.state = where->size.state,
			  .method = where->size.method,
			  .code = where->size.code};

	if (text.state == PLIM_STATE_KNOWN) {
		text.bytes.data = "";
		text.bytes.size = (size_t)where->size.value;
	}
	/* Where no thread has a name there are no texts at all. */
	if (text.bytes.size > 0)
		text.bytes.data = side->details.texts.bytes + where->start;
	return text;
}

static plim_text threads_no_text(plim_count why)
{
	return (plim_text){
	    .state = why.state, .method = why.method, .code = why.code};
}

static void threads_show_details(const struct plimp_threads_side *side,
				 const struct plimp_thread *thread,
				 plim_thread *shown)
{
	const plim_count skipped = plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	const struct plimp_thread_detail *detail =
	    &side->details.items[thread->detail];

	shown->start_address = detail->start_address;
	if (shown->start_address.state == PLIM_STATE_UNREAD)
		shown->start_address =
		    plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
	shown->name = threads_text(side, &detail->name);
	if (shown->name.state == PLIM_STATE_UNREAD)
		shown->name = threads_no_text(skipped);
	if ((side->parts & PLIM_THREAD_BLOCKED) == 0) {
		shown->system_call = skipped;
		shown->blocked_in = threads_no_text(skipped);
		shown->wait_channel = shown->blocked_in;
		return;
	}
	shown->state = detail->state;
	shown->system_call = detail->call;
	shown->wait_channel = threads_text(side, &detail->wait);
	if (detail->call.state == PLIM_STATE_KNOWN)
		shown->blocked_in = threads_text(side, &detail->call_name);
	else if (shown->wait_channel.state == PLIM_STATE_KNOWN)
		shown->blocked_in = shown->wait_channel;
	else
		shown->blocked_in = threads_no_text(detail->call);
}

/* The figure of a thread that has it, as the host tells it of all. */
static plim_count threads_way(plim_count way, uint64_t value)
{
	if (way.state == PLIM_STATE_KNOWN)
		way.value = value;
	return way;
}

static void threads_show_times(const struct plimp_threads_side *side,
			       const struct plimp_thread *thread,
			       plim_thread *shown)
{
	const struct plimp_thread_ways *ways = side->record.threads.ways;
	plim_count missing = side->record.threads.no_times;

	if ((side->parts & PLIM_THREAD_TIMES) == 0)
		missing = plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	shown->cpu_ns = missing;
	shown->runqueue_ns = missing;
	shown->switches_in = missing;
	if ((side->parts & PLIM_THREAD_TIMES) == 0)
		return;
	if ((thread->has & PLIMP_THREAD_RUNQUEUE) != 0) {
		shown->cpu_ns = threads_way(ways->cpu, thread->cpu_ns);
		shown->runqueue_ns =
		    threads_way(ways->runqueue, thread->runqueue_ns);
		shown->switches_in =
		    threads_way(ways->switches_in, thread->switches_in);
	} else if ((thread->has & PLIMP_THREAD_TICKS) != 0) {
		shown->cpu_ns = threads_way(ways->cpu_ticks, thread->cpu_ns);
	}
}

static void threads_show_one(const struct plimp_threads_side *side,
			     const struct plimp_thread *thread,
			     plim_thread *shown)
{
	const struct plimp_thread_ways *ways = side->record.threads.ways;
	plim_count missing = side->record.threads.no_switches;

	assert(ways != NULL);
	memset(shown, 0, sizeof *shown);
	shown->tid = thread->tid;
	shown->is_main =
	    !ways->no_main && thread->tid == side->record.identity.pid;
	shown->start_ticks =
	    (thread->has & PLIMP_THREAD_NO_START) != 0
		? side->record.threads.no_times
		: threads_way(ways->start, thread->start_ticks);
	if ((side->parts & PLIM_THREAD_SWITCHES) == 0)
		missing = plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	shown->wakeups = missing;
	shown->involuntary = missing;
	if ((side->parts & PLIM_THREAD_SWITCHES) != 0 &&
	    (thread->has & PLIMP_THREAD_SWITCHES) != 0) {
		shown->wakeups = threads_way(ways->wakeups, thread->voluntary);
		shown->involuntary =
		    threads_way(ways->involuntary, thread->involuntary);
	}
	threads_show_times(side, thread, shown);
	threads_show_details(side, thread, shown);
}

static int threads_same_process(const plim_threads *threads,
				const struct plimp_threads_side *side)
{
	return threads->samples > 0 &&
	       plim_identity_compare(
		   &threads->sides[threads->last].record.identity,
		   &side->record.identity) == PLIM_SAME;
}

/* A name that was not asked for stays the one that was read last. */
static int threads_keep_names(plim_threads *threads,
			      struct plimp_threads_side *side)
{
	const struct plimp_threads_side *last = &threads->sides[threads->last];
	size_t at = 0;
	size_t i;

	if ((side->parts & (PLIM_THREAD_NAME | PLIM_THREAD_BLOCKED)) != 0)
		return PLIM_OK;
	for (i = 0; i < side->list.count; i++) {
		const struct plimp_thread *thread = &side->list.items[i];
		const struct plim_thread *before;

		while (at < last->list.count &&
		       last->list.items[at].tid < thread->tid)
			at++;
		if (at == last->list.count ||
		    last->list.items[at].tid != thread->tid ||
		    last->list.items[at].start_ticks != thread->start_ticks)
			continue;
		before = &last->shown[at];
		if (before->name.state == PLIM_STATE_KNOWN &&
		    plimp_details_text(
			&side->details, &threads->host->allocator,
			&side->details.items[thread->detail].name,
			before->name.bytes, before->name.method) != PLIM_OK)
			return PLIM_ENOMEM;
	}
	return PLIM_OK;
}

/* Makes what is shown, and room for all pairs. */
static int threads_show(plim_threads *threads, struct plimp_threads_side *side)
{
	const plim_allocator *allocator = &threads->host->allocator;
	const size_t count = side->list.count;
	void *shown = side->shown;
	void *pairs = threads->pairs;
	size_t most = count;
	size_t i;

	for (i = 0; i < 3; i++)
		if (most < threads->sides[i].list.count)
			most = threads->sides[i].list.count;
	if (plimp_reserve(allocator, &shown, &side->shown_capacity, count,
			  THREADS_ROOM, sizeof *side->shown) != PLIM_OK)
		return PLIM_ENOMEM;
	side->shown = shown;
	/* The pairs of before are shown until they are made anew. Of a first
	 * sample there are none. */
	if (threads->samples > 0 &&
	    plimp_reserve(allocator, &pairs, &threads->pair_capacity,
			  count + most, THREADS_ROOM,
			  sizeof *threads->pairs) != PLIM_OK)
		return PLIM_ENOMEM;
	threads->pairs = pairs;
	if (threads_same_process(threads, side) &&
	    threads_keep_names(threads, side) != PLIM_OK)
		return PLIM_ENOMEM;
	for (i = 0; i < count; i++)
		threads_show_one(side, &side->list.items[i], &side->shown[i]);
	return PLIM_OK;
}

/* The side that is neither first nor last. */
static int threads_spare(const plim_threads *threads)
{
	int side = 0;

	while (threads->samples > 0 &&
	       (side == threads->last ||
		(threads->samples > 1 && side == threads->first)))
		side++;
	assert(side < 3);
	return side;
}

static void threads_turn(plim_threads *threads, int spare, int extend)
{
	if (!threads_same_process(threads, &threads->sides[spare])) {
		threads->samples = 1;
		threads->first = spare;
	} else {
		if (threads->samples == 1 || !extend)
			threads->first = threads->last;
		threads->samples = 2;
	}
	threads->last = spare;
	plimp_threads_pair(threads);
}

static int threads_again(plim_threads *threads, plim_target *target,
			 const plim_threads_options *given, int extend,
			 plim_error *error)
{
	plim_cost cost = {.present = 1};
	plim_threads_options options;
	struct plimp_bill_mark mark;
	int spare;
	int code;

	if (threads == NULL ||
	    (target != NULL && target->host != threads->host))
		return plimp_fail(error, PLIM_EINVAL, 0, "sample threads", NULL,
				  NULL);
	code = threads_options(given, &options, error);
	if (code != PLIM_OK)
		return code;
	spare = threads_spare(threads);
	mark = plimp_bill_begin(threads->host, 1);
	code = threads_measure(threads, target, &options,
			       &threads->sides[spare], error);
	if (code == PLIM_OK &&
	    threads_show(threads, &threads->sides[spare]) != PLIM_OK)
		code = plimp_fail(error, PLIM_ENOMEM, 0, "sample threads", NULL,
				  NULL);
	cost.read = code == PLIM_OK;
	cost.vanished = code == PLIM_ENOPROCESS;
	if (code == PLIM_OK)
		cost.refused = (uint32_t)plimp_record_is_refused(
		    &threads->sides[spare].record);
	plimp_bill_end(threads->host, &mark, &cost);
	threads->cost = cost;
	if (code != PLIM_OK)
		return code;
	threads_turn(threads, spare, extend);
	threads->of_self = target == NULL;
	return PLIM_OK;
}

int plim_threads_sample(plim_threads *threads, plim_target *target,
			const plim_threads_options *options, plim_error *error)
{
	return threads_again(threads, target, options, 0, error);
}

int plim_threads_extend(plim_threads *threads, plim_target *target,
			const plim_threads_options *options, plim_error *error)
{
	return threads_again(threads, target, options, 1, error);
}

size_t plim_threads_count(const plim_threads *threads)
{
	assert(threads != NULL);
	return threads->samples > 0 ? threads->sides[threads->last].list.count
				    : 0;
}

const plim_thread *plim_threads_at(const plim_threads *threads, size_t index)
{
	assert(threads != NULL);
	return index < plim_threads_count(threads)
		   ? &threads->sides[threads->last].shown[index]
		   : NULL;
}

const plim_process *plim_threads_first(const plim_threads *threads)
{
	assert(threads != NULL);
	return threads->samples > 1 ? &threads->sides[threads->first].record
				    : NULL;
}

const plim_process *plim_threads_last(const plim_threads *threads)
{
	assert(threads != NULL);
	return threads->samples > 0 ? &threads->sides[threads->last].record
				    : NULL;
}

int plim_threads_interval(const plim_threads *threads, plim_interval *interval,
			  plim_error *error)
{
	if (threads == NULL || interval == NULL || threads->samples < 2)
		return plimp_fail(error, PLIM_EINVAL, 0, "interval", NULL,
				  "there are no two samples");
	return plim_process_interval(plim_threads_first(threads),
				     plim_threads_last(threads), interval,
				     error);
}

plim_cost plim_threads_cost(const plim_threads *threads)
{
	assert(threads != NULL);
	return threads->cost;
}

const char *plim_system_call_name(const plim_host *host, uint64_t number)
{
	const char *name;

	assert(host != NULL);
	name = plimp_system_call_name(host, number);
	return name != NULL ? name : "";
}
