/*
 * reuse.c - the storm of reused pids, and whose a record is (reuse.h).
 */
#include "reuse.h"

#include "ns.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REUSE_SECONDS 3 /* at least */
#define REUSE_MOST    60
#define REUSE_LIVE    2000

/* By so many pages a child may differ from generation 0, its number's pages
 * aside: what a fork shares is counted, and a page more may be touched. */
#define REUSE_PAGES    4
#define REUSE_METADATA 16

struct reuse reuse;

uint64_t reuse_settled(void)
{
	uint64_t step = __atomic_load_n(&reuse.log->step, __ATOMIC_SEQ_CST);

	while ((step & 1) != 0 &&
	       __atomic_load_n(&reuse.log->step, __ATOMIC_SEQ_CST) == step)
		sched_yield();
	return __atomic_load_n(&reuse.log->count, __ATOMIC_SEQ_CST);
}

_Noreturn void reuse_fail(const plim_process *it, uint32_t number,
			  const char *what)
{
	plim_identity identity = plim_process_identity(it);
	plim_text name = plim_process_text(it, PLIM_FIELD_NAME);
	char text[64];

	plim_identity_format(&identity, text, sizeof(text));
	printf("round %u: %s '%.*s', state %c, generation %d: %s\n",
	       reuse.round, text, (int)name.bytes.size, name.bytes.data,
	       *plim_process_text(it, PLIM_FIELD_STATE).bytes.data, (int)number,
	       what);
	for (int32_t i = reuse.log->last[identity.pid]; i >= 0;
	     i = reuse.log->items[i].before) {
		const struct gen *gen = &reuse.log->items[i];

		printf("  %d: kind %d, inode %" PRIu64 ", ticks %" PRIu64
		       "-%" PRIu64 ", born %" PRIu64 "-%" PRIu64
		       ", ended %" PRIu64 "-%" PRIu64 "\n",
		       (int)i, gen->kind, gen->inode, gen->tick_low,
		       gen->tick_high, gen->born_before, gen->born_after,
		       gen->end_before, gen->end_after);
	}
	printf("  read at %" PRIu64 ", rounds from %" PRIu64 ", %" PRIu64
	       " to %" PRIu64 "\n",
	       plim_process_stamp(it).monotonic.ns, reuse.begin[0],
	       reuse.begin[1], reuse.end);
	fflush(stdout);
	fail_msg("%s", what);
	abort();
}

static int reuse_fits(const struct gen *gen, const plim_identity *identity,
		      uint64_t at)
{
	if (gen->born_before > at ||
	    (gen->end_after != 0 && gen->end_after < at))
		return 0;
	if ((identity->has & PLIM_IDENTITY_INODE) != 0 && gen->inode != 0 &&
	    gen->inode != identity->inode)
		return 0;
	return identity->start_ticks >= gen->tick_low &&
	       identity->start_ticks <= gen->tick_high;
}

uint32_t reuse_who(const plim_process *it)
{
	plim_identity identity = plim_process_identity(it);
	uint64_t at = plim_process_stamp(it).monotonic.ns;
	uint32_t found = REUSE_NOBODY;

	assert_in_range(identity.pid, 1, GEN_PIDS - 1);
	if (reuse.log->last[identity.pid] < 0)
		return REUSE_NOBODY;
	assert_true(identity.has & PLIM_IDENTITY_START);
	for (int32_t i = reuse.log->last[identity.pid]; i >= 0;
	     i = reuse.log->items[i].before) {
		if (!reuse_fits(&reuse.log->items[i], &identity, at))
			continue;
		if (found != REUSE_NOBODY)
			reuse_fail(it, found, "it can be two of them");
		found = (uint32_t)i;
	}
	if (found == REUSE_NOBODY)
		reuse_fail(it, found, "it is none of them");
	return found;
}

int reuse_is_named(const plim_process *it, uint32_t number)
{
	plim_text name = plim_process_text(it, PLIM_FIELD_NAME);
	char own[16];

	snprintf(own, sizeof(own), "g%u", (unsigned)number);
	if (name.bytes.size == strlen(own) &&
	    memcmp(name.bytes.data, own, strlen(own)) == 0)
		return 1;
	/* Before that it is called as its parent is. */
	if (name.bytes.size != 11 ||
	    memcmp(name.bytes.data, "generations", 11) != 0)
		reuse_fail(it, number, "its name is another's");
	return 0;
}

static void reuse_between(const plim_process *it, uint32_t number, int field,
			  uint64_t least, uint64_t most)
{
	plim_count count = plim_process_count(it, field);
	char text[160];

	if (count.state != PLIM_STATE_KNOWN ||
	    (count.value >= least && count.value <= most))
		return;
	snprintf(text, sizeof(text),
		 "%s is %" PRIu64 ", not between %" PRIu64 " and %" PRIu64,
		 plim_field_get(field)->name, count.value, least, most);
	reuse_fail(it, number, text);
}

/* In bytes, at most. The file system's own pages are charged to who makes it
 * allocate them, and to nobody who does not write. */
static uint64_t reuse_written(uint64_t pages)
{
	return pages != 0 ? (pages + REUSE_METADATA) * GEN_PAGE : 0;
}

void reuse_figures(const plim_process *it, uint32_t number)
{
	const struct gen *gen = &reuse.log->items[number];
	int named = reuse_is_named(it, number);
	int flash = gen->kind == GEN_FLASH;
	uint64_t calls = gen_calls(number) + gen_written(number);
	uint64_t pages = gen_pages(number);
	uint64_t more = 0;

	if (gen->kind == GEN_WRITER)
		more = (reuse.end - gen->born_before) / GEN_WRITER_NS + 8;
	if (flash)
		calls = pages = 0;
	reuse_between(it, number, PLIM_FIELD_PPID, (uint64_t)reuse.log->driver,
		      (uint64_t)reuse.log->driver);
	reuse_between(it, number, PLIM_FIELD_THREADS, 1, 1);
	reuse_between(it, number, PLIM_FIELD_IO_CALLS, named ? calls : 0,
		      calls + more);
	reuse_between(it, number, PLIM_FIELD_ANONYMOUS,
		      named ? (pages + reuse.own_pages - REUSE_PAGES) * GEN_PAGE
			    : 0,
		      (pages + reuse.own_pages + REUSE_PAGES) * GEN_PAGE);
	reuse_between(it, number, PLIM_FIELD_DISK_WRITE, 0,
		      flash ? 0 : reuse_written(gen_written(number) + more));
	if (gen->kind != GEN_BUSY && gen->kind != GEN_WRITER)
		reuse_between(it, number, PLIM_FIELD_CPU,
			      named ? gen_spin_ns(number) : 0,
			      gen_spin_ns(number) + REUSE_SLACK_NS);
}

void reuse_start(void)
{
	char live[16];
	char log[16];
	char pids[16];
	const char *folder = getenv("TMPDIR");
	const char *const argv[] = {
	    "generations", live, log, pids, folder != NULL ? folder : "/tmp",
	    NULL};
	int file = memfd_create("generations", 0);

	assert_true(file >= 0);
	snprintf(live, sizeof(live), "%u", reuse.live);
	snprintf(log, sizeof(log), "%d", file);
	snprintf(pids, sizeof(pids), "%u", 600 + reuse.live / 4 * 5);
	spawn_start(&reuse.driver, argv);
	reuse.log =
	    mmap(NULL, sizeof(*reuse.log), PROT_READ, MAP_SHARED, file, 0);
	assert_ptr_not_equal(reuse.log, MAP_FAILED);
	reuse.own_pages =
	    proc_number(reuse.log->items[0].pid, "status", "RssAnon") * 1024 /
	    GEN_PAGE;
}

int reuse_is_over(uint64_t begin)
{
	uint64_t passed = (child_monotonic_ns() - begin) / 1000000000u;
	int enough = reuse.ended > REUSE_EVENTS &&
		     reuse.started > REUSE_EVENTS && reuse.round > 5;

	return passed >= reuse.seconds &&
	       (enough || passed >= reuse.seconds + REUSE_MOST);
}

void reuse_run(child_fn *body)
{
	const char *large = getenv("PLIM_STORM");

	reuse.seconds = REUSE_SECONDS;
	reuse.live = REUSE_LIVE;
	if (large != NULL &&
	    (sscanf(large, "%u,%u", &reuse.seconds, &reuse.live) != 2 ||
	     reuse.seconds > 120 || reuse.live > 20000))
		fail_msg("PLIM_STORM is SECONDS,LIVE");
	reuse.live = scale_fit("processes", reuse.live, 500);
	child_patience(30000 + (REUSE_MOST + reuse.seconds) * 1000);
	reuse.told = mmap(NULL, REUSE_TOLD, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(reuse.told, MAP_FAILED);
	ns_run(NULL, body, NULL);
	printf("%s\n", reuse.told);
}
