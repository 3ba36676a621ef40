/*
 * test_sampler_running.c - threads that run: as many samples as the kernel's
 * own account of their CPU time says, in the function where they run, with the
 * words that they put on their stacks; threads and children that are born
 * meanwhile, and programs that are executed, with and without inheritance.
 */
#include "subject.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PERIOD UINT64_C(1000000)

struct taken {
	int tid;
	uint64_t samples;
	uint64_t in_code;
	uint64_t cpu_ns;
	uint64_t last_ns;
	uint64_t count; /* as ENDED told */
	int born, ended, has_registers;
};

struct seen {
	struct subject *subject;
	struct taken taken[32];
	size_t count;
	uint64_t late;
	uint64_t lost;
	int forks, execs, born, ended;
	char executed[16];
	int child;
	int mapped;
	uint64_t deepest; /* of the words that samples showed, */
	uint64_t deepest_size;
	int cut;
};

static struct taken *taken_of(struct seen *seen, int tid)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->taken[i].tid == tid)
			return &seen->taken[i];
	assert_true(seen->count < 32);
	seen->taken[seen->count].tid = tid;
	return &seen->taken[seen->count++];
}

static unsigned pc_of(void)
{
#if defined(__x86_64__)
	return PLIMP_X86_RIP;
#else
	return PLIMP_ARM_PC;
#endif
}

/* All that an event dumps: what was asked for, or half of it and again, to
 * fit small rings. */
static int is_dump(uint64_t size)
{
	return size == PLIMP_STACK_MOST ||
	       (size >= 1024 && (size & (size - 1)) == 0);
}

static void see_stack(struct seen *seen, const struct plimp_capture *capture)
{
	uint64_t word;
	uint64_t limit = SUBJECT_WORD + (uint64_t)seen->subject->depth;

	/* A whole stack may have such a size, too. */
	assert_true(capture->stack.is_cut ? is_dump(capture->stack.size)
					  : capture->stack.size < 16384 ||
						!is_dump(capture->stack.size));
	seen->cut += capture->stack.is_cut;
	if (capture->stack.size > seen->deepest_size)
		seen->deepest_size = capture->stack.size;
	for (size_t at = 0; at + 8 <= capture->stack.size; at += 8) {
		memcpy(&word, capture->stack.bytes + at, 8);
		if (word >= SUBJECT_WORD && word <= limit &&
		    word - SUBJECT_WORD > seen->deepest)
			seen->deepest = word - SUBJECT_WORD;
	}
}

static void see_running(struct seen *seen, const struct plimp_capture *capture)
{
	struct taken *taken = taken_of(seen, capture->tid);
	uint64_t pc = capture->registers.value[pc_of()];

	assert_true(taken->born);
	taken->samples++;
	seen->late += capture->time_ns < taken->last_ns;
	taken->last_ns = capture->time_ns;
	if (capture->has_cpu) {
		assert_true(capture->cpu_ns >= taken->cpu_ns);
		taken->cpu_ns = capture->cpu_ns;
	}
	if (capture->in_kernel)
		return;
	assert_true(capture->registers.known >> pc_of() & 1);
	taken->in_code +=
	    pc >= seen->subject->code_start && pc < seen->subject->code_end;
	see_stack(seen, capture);
}

static void see(void *user, const struct plimp_capture *capture)
{
	struct seen *seen = user;

	switch (capture->kind) {
	case PLIMP_CAPTURE_RUNNING:
		see_running(seen, capture);
		break;
	case PLIMP_CAPTURE_BORN:
		assert_false(taken_of(seen, capture->tid)->born);
		taken_of(seen, capture->tid)->born = 1;
		seen->born++;
		break;
	case PLIMP_CAPTURE_ENDED:
		assert_true(taken_of(seen, capture->tid)->born);
		assert_false(taken_of(seen, capture->tid)->ended);
		taken_of(seen, capture->tid)->ended = 1;
		taken_of(seen, capture->tid)->count = capture->count;
		seen->ended++;
		break;
	case PLIMP_CAPTURE_FORK:
		seen->forks++;
		seen->child = capture->pid;
		assert_int_equal(capture->parent, seen->subject->pid);
		break;
	case PLIMP_CAPTURE_EXEC:
		seen->execs++;
		assert_true(capture->name.size < sizeof(seen->executed));
		memcpy(seen->executed, capture->name.data, capture->name.size);
		break;
	case PLIMP_CAPTURE_MAPPED:
		assert_true(capture->start < capture->end);
		seen->mapped += capture->inode != 0 && capture->name.size > 0;
		break;
	case PLIMP_CAPTURE_LOST:
		seen->lost += capture->count;
		break;
	default:
		break;
	}
}

/* A rig whose running tier is perf, or a skip. */
static void rig_perf(struct rig *rig, pid_t pid, uint32_t flags)
{
	struct plimp_tiers tiers;

	rig_open(rig, pid, flags, PERIOD);
	tiers = plimp_system_sampler_tiers(rig->sampler);
	if (tiers.perf.state != PLIM_STATE_KNOWN) {
		rig_close(rig);
		SKIP_BECAUSE("perf events are refused to this user");
	}
	assert_int_equal(tiers.running, PLIMP_TIER_PERF);
	assert_int_equal(tiers.threads_covered, tiers.threads_present);
}

static void rig_start(struct rig *rig)
{
	assert_int_equal(plimp_system_sampler_start(rig->sampler, NULL),
			 PLIM_OK);
}

static void rig_stop(struct rig *rig, struct seen *seen)
{
	assert_int_equal(plimp_system_sampler_halt(rig->sampler, NULL),
			 PLIM_OK);
	assert_int_equal(
	    plimp_system_sampler_drain(rig->sampler, see, seen, NULL), PLIM_OK);
	assert_int_equal(plimp_system_sampler_bill(rig->sampler).malformed, 0);
	assert_int_equal(plimp_system_sampler_bill(rig->sampler).stops, 0);
}

/* Samples of a thread that used so much CPU time. A scheduler's tick at each
 * end, the time until one that was born is found, where events are not
 * inherited, and what a loaded machine adds. */
static void expect_samples(const struct taken *taken, uint64_t cpu_ns,
			   int counts)
{
	uint64_t periods = cpu_ns / PERIOD;

	if (taken->samples + periods / 10 + 12 < periods ||
	    taken->samples > periods + periods / 10 + 12)
		fail_msg("%u samples in %u ms of CPU time",
			 (unsigned)taken->samples, (unsigned)periods);
	assert_true(taken->in_code + taken->in_code / 10 + 5 >= taken->samples);
	if (counts)
		expect_near(taken->cpu_ns, cpu_ns, 5, 25 * PERIOD);
}

static void sample_two(uint32_t flags, int inherits)
{
	struct seen seen = {.subject = subject_start(0)};
	struct plimp_tiers tiers;
	uint64_t before[2], after[2];
	struct rig rig;

	subject_busy(seen.subject, 2);
	rig_perf(&rig, seen.subject->pid, flags);
	tiers = plimp_system_sampler_tiers(rig.sampler);
	assert_int_equal(tiers.threads_present, 3);
	assert_int_equal(tiers.newborn_inherit, inherits);
	rig_start(&rig);
	for (int i = 0; i < 2; i++)
		before[i] =
		    thread_cpu(seen.subject->pid, seen.subject->busy_tid[i]);
	for (int i = 0; i < 2; i++)
		rig_run_cpu(&rig, see, &seen, seen.subject->pid,
			    seen.subject->busy_tid[i], 200);
	for (int i = 0; i < 2; i++)
		after[i] =
		    thread_cpu(seen.subject->pid, seen.subject->busy_tid[i]);
	rig_stop(&rig, &seen);
	for (int i = 0; i < 2; i++)
		expect_samples(taken_of(&seen, seen.subject->busy_tid[i]),
			       after[i] - before[i], tiers.counts_cpu);
	assert_int_equal(seen.late, 0);
	assert_int_equal(seen.born, 3);
	assert_int_equal(seen.lost, 0);
	rig_close(&rig);
	subject_end(seen.subject);
}

static void test_two_threads(void **state)
{
	(void)state;
	sample_two(0, 1);
}

static void test_two_threads_alone(void **state)
{
	(void)state;
	sample_two(PLIMP_SAMPLER_NO_INHERIT, 0);
}

/* Born after the start, gone before the end. */
static void sample_newborn(uint32_t flags)
{
	struct seen seen = {.subject = subject_start(0)};
	struct plimp_tiers tiers;
	uint64_t cpu[2];
	struct rig rig;
	int tids[2];

	rig_perf(&rig, seen.subject->pid, flags);
	tiers = plimp_system_sampler_tiers(rig.sampler);
	rig_start(&rig);
	rig_run(&rig, see, &seen, 10, 30);
	subject_busy(seen.subject, 2);
	for (int i = 0; i < 2; i++)
		tids[i] = seen.subject->busy_tid[i];
	for (int i = 0; i < 2; i++)
		rig_run_cpu(&rig, see, &seen, seen.subject->pid, tids[i], 150);
	for (int i = 0; i < 2; i++)
		cpu[i] = thread_cpu(seen.subject->pid, tids[i]);
	assert_int_equal(
	    plimp_system_sampler_tiers(rig.sampler).threads_covered, 3);
	seen.subject->busy = 0;
	for (int i = 0; i < 2; i++)
		while (thread_state(seen.subject->pid, tids[i]) != '-')
			rig_run(&rig, see, &seen, 10, 10);
	rig_run(&rig, see, &seen, 10, 20);
	rig_stop(&rig, &seen);
	for (int i = 0; i < 2; i++) {
		struct taken *taken = taken_of(&seen, tids[i]);

		expect_samples(taken, cpu[i], tiers.counts_cpu);
		assert_true(taken->ended);
		if (tiers.counts_cpu)
			assert_true(taken->count == taken->cpu_ns);
	}
	assert_int_equal(seen.born, 3);
	assert_int_equal(seen.ended, 2);
	rig_close(&rig);
	subject_end(seen.subject);
}

static void test_newborn(void **state)
{
	(void)state;
	sample_newborn(0);
}

static void test_newborn_alone(void **state)
{
	(void)state;
	sample_newborn(PLIMP_SAMPLER_NO_INHERIT);
}

/* A child that runs, and one that executes another program. */
static void test_children(void **state)
{
	struct seen seen = {.subject = subject_start(0)};
	struct taken *taken;
	struct rig rig;
	int ran;

	(void)state;
	rig_perf(&rig, seen.subject->pid, PLIMP_SAMPLER_FOLLOW);
	rig_start(&rig);
	seen.subject->forks = 1;
	while (seen.subject->forks != 0)
		rig_run(&rig, see, &seen, 10, 10);
	rig_run(&rig, see, &seen, 10, 10);
	ran = seen.subject->child;
	assert_int_equal(seen.forks, 1);
	assert_int_equal(seen.child, ran);
	seen.subject->execs = 1;
	while (seen.subject->execs != 0)
		rig_run(&rig, see, &seen, 10, 10);
	rig_run(&rig, see, &seen, 10, 20);
	rig_stop(&rig, &seen);
	taken = taken_of(&seen, ran);
	assert_true(taken->born && taken->ended);
	/* It runs for 100 ms of its own CPU time. */
	assert_true(taken->samples >= 88 && taken->samples <= 112);
	assert_int_equal(seen.forks, 2);
	assert_int_equal(seen.execs, 1);
	assert_string_equal(seen.executed, "sleep");
	assert_true(seen.mapped >= 2); /* sleep and its libraries */
	assert_true(taken_of(&seen, seen.subject->child)->ended);
	rig_close(&rig);
	subject_end(seen.subject);
}

/* Without FOLLOW nothing is told of children. */
static void test_no_children(void **state)
{
	struct seen seen = {.subject = subject_start(0)};
	struct rig rig;

	(void)state;
	rig_perf(&rig, seen.subject->pid, 0);
	rig_start(&rig);
	seen.subject->forks = 1;
	while (seen.subject->forks != 0)
		rig_run(&rig, see, &seen, 10, 10);
	rig_stop(&rig, &seen);
	assert_int_equal(seen.forks, 0);
	assert_int_equal(seen.born, 1);
	for (size_t i = 0; i < seen.count; i++)
		assert_int_not_equal(seen.taken[i].tid, seen.subject->child);
	rig_close(&rig);
	subject_end(seen.subject);
}

/* 80 calls of 512 bytes and more are deeper than 16 KiB, and less than 64. */
static void test_deep(void **state)
{
	struct seen seen = {.subject = subject_start(0)};
	struct taken *taken;
	uint64_t before, after, deep_before;
	struct rig rig;
	int tid;

	(void)state;
	seen.subject->depth = 80;
	subject_busy(seen.subject, 1);
	tid = seen.subject->busy_tid[0];
	rig_perf(&rig, seen.subject->pid, 0);
	rig_start(&rig);
	before = thread_cpu(seen.subject->pid, tid);
	rig_run_cpu(&rig, see, &seen, seen.subject->pid, tid, 100);
	assert_true(seen.cut > 50);
	assert_int_equal(seen.deepest_size,
			 plimp_system_sampler_tiers(rig.sampler).stack_bytes);
	assert_true(seen.deepest > seen.deepest_size / 820 &&
		    seen.deepest < seen.deepest_size / 410);
	assert_int_equal(
	    plimp_system_sampler_deepen(rig.sampler, tid, PLIMP_STACK_MOST), 0);
	deep_before = taken_of(&seen, tid)->samples;
	rig_run_cpu(&rig, see, &seen, seen.subject->pid, tid, 150);
	after = thread_cpu(seen.subject->pid, tid);
	rig_stop(&rig, &seen);
	taken = taken_of(&seen, tid);
	assert_int_equal(seen.deepest, 80);
	assert_true(seen.deepest_size > 80 * 512);
	assert_true(taken->samples > deep_before + 50);
	expect_samples(taken, after - before, 1);
	assert_int_not_equal(
	    plimp_system_sampler_deepen(rig.sampler, tid, PLIMP_STACK_MOST + 8),
	    0);
	rig_close(&rig);
	subject_end(seen.subject);
}

/* The same of a thread that inherited its events: those cannot be silenced,
 * and what they still sample is not counted twice. */
static void test_deep_inherited(void **state)
{
	struct seen seen = {.subject = subject_start(0)};
	struct taken *taken;
	uint64_t before, first, after;
	struct rig rig;
	int tid;

	(void)state;
	rig_perf(&rig, seen.subject->pid, 0);
	rig_start(&rig);
	seen.subject->depth = 80;
	subject_busy(seen.subject, 1);
	tid = seen.subject->busy_tid[0];
	rig_run_cpu(&rig, see, &seen, seen.subject->pid, tid, 50);
	assert_int_equal(
	    plimp_system_sampler_deepen(rig.sampler, tid, PLIMP_STACK_MOST), 0);
	rig_run(&rig, see, &seen, 10, 10);
	before = thread_cpu(seen.subject->pid, tid);
	first = taken_of(&seen, tid)->samples;
	seen.cut = 0;
	rig_run_cpu(&rig, see, &seen, seen.subject->pid, tid, 200);
	after = thread_cpu(seen.subject->pid, tid);
	rig_stop(&rig, &seen);
	taken = taken_of(&seen, tid);
	assert_int_equal(seen.deepest, 80);
	assert_int_equal(seen.cut, 0);
	taken->samples -= first;
	taken->in_code -= first;
	expect_samples(taken, after - before, 0);
	rig_close(&rig);
	subject_end(seen.subject);
}

/* Who is born of a thread that was born before a deeper one: of that one, or of
 * the first thread, whose events all have inherited. Sampled once either way.
 */
static void sample_nested(int of_first)
{
	struct seen seen = {.subject = subject_start(0)};
	struct taken *taken;
	uint64_t cpu;
	struct rig rig;
	int tid;

	rig_perf(&rig, seen.subject->pid, 0);
	rig_start(&rig);
	seen.subject->depth = of_first ? 0 : 80;
	seen.subject->nest = 1;
	subject_rest(seen.subject, 0, 1);
	subject_busy(seen.subject, 1);
	rig_run(&rig, see, &seen, 10, 20);
	tid = of_first ? (int)seen.subject->pid : seen.subject->busy_tid[0];
	assert_int_equal(
	    plimp_system_sampler_deepen(rig.sampler, tid, PLIMP_STACK_MOST), 0);
	subject_rest(seen.subject, 0, 0);
	while ((tid = seen.subject->nested_tid) == 0)
		rig_run(&rig, see, &seen, 10, 10);
	rig_run_cpu(&rig, see, &seen, seen.subject->pid, tid, 200);
	cpu = thread_cpu(seen.subject->pid, tid);
	rig_stop(&rig, &seen);
	taken = taken_of(&seen, tid);
	assert_int_equal(seen.cut, 0);
	expect_samples(taken, cpu, 1);
	rig_close(&rig);
	subject_end(seen.subject);
}

static void test_deep_nested(void **state)
{
	(void)state;
	sample_nested(0);
}

static void test_deep_first(void **state)
{
	(void)state;
	sample_nested(1);
}

/* Another rate in between: as many samples as both give. Of a thread that is
 * born before the change, too, where nothing is inherited. */
static void sample_periods(uint32_t flags, int newborn)
{
	struct seen seen = {.subject = subject_start(0)};
	struct taken *taken;
	uint64_t at[3];
	uint64_t first;
	uint64_t periods;
	struct rig rig;
	int tid;

	if (!newborn)
		subject_busy(seen.subject, 1);
	rig_perf(&rig, seen.subject->pid, flags);
	rig_start(&rig);
	if (newborn)
		subject_busy(seen.subject, 1);
	tid = seen.subject->busy_tid[0];
	rig_run(&rig, see, &seen, 10, 20);
	at[0] = thread_cpu(seen.subject->pid, tid);
	rig_run_cpu(&rig, see, &seen, seen.subject->pid, tid, 100);
	assert_int_equal(
	    plimp_system_sampler_period(rig.sampler, 9 * PERIOD, NULL),
	    PLIM_OK);
	assert_int_equal(plimp_system_sampler_period(rig.sampler, 9999, NULL),
			 PLIM_EINVAL);
	first = taken_of(&seen, tid)->samples;
	at[1] = thread_cpu(seen.subject->pid, tid);
	rig_run_cpu(&rig, see, &seen, seen.subject->pid, tid, 300);
	at[2] = thread_cpu(seen.subject->pid, tid);
	rig_stop(&rig, &seen);
	taken = taken_of(&seen, tid);
	periods = (at[2] - at[1]) / (9 * PERIOD);
	assert_true(first > 50);
	assert_true(taken->samples - first <= periods + periods / 8 + 12);
	assert_true(taken->samples - first + periods / 8 + 3 >= periods);
	/* And still the weights are right. */
	expect_near(taken->cpu_ns, at[2] - at[0], 5, 40 * PERIOD);
	rig_close(&rig);
	subject_end(seen.subject);
}

static void test_period(void **state)
{
	(void)state;
	sample_periods(0, 0);
}

static void test_period_newborn(void **state)
{
	(void)state;
	sample_periods(PLIMP_SAMPLER_NO_INHERIT, 1);
}

/* Nobody reads while it runs for longer than rings hold: what came and what was
 * lost is what its CPU time offered, also where no later record could tell. */
static void test_lost(void **state)
{
	struct seen seen = {.subject = subject_start(0)};
	struct plimp_tiers tiers;
	uint64_t before, after, periods, told;
	struct rig rig;
	int tid;

	(void)state;
	subject_busy(seen.subject, 1);
	tid = seen.subject->busy_tid[0];
	rig_perf(&rig, seen.subject->pid, 0);
	tiers = plimp_system_sampler_tiers(rig.sampler);
	rig_start(&rig);
	before = thread_cpu(seen.subject->pid, tid);
	/* Twice what all rings hold. */
	periods = 2 * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) *
		  tiers.ring_bytes / tiers.stack_bytes;
	while (thread_cpu(seen.subject->pid, tid) < before + periods * PERIOD)
		child_sleep_ms(10);
	after = thread_cpu(seen.subject->pid, tid);
	rig_stop(&rig, &seen);
	periods = (after - before) / PERIOD;
	told = taken_of(&seen, tid)->samples + seen.lost;
	assert_true(seen.lost > periods / 4);
	assert_int_equal(plimp_system_sampler_bill(rig.sampler).lost,
			 seen.lost);
	assert_true(told + 12 >= periods && told <= periods + 12);
	rig_close(&rig);
	subject_end(seen.subject);
}

/* A shell that waits for a line; gives its pid, and where to write. */
static pid_t script_start(const char *script, int *to)
{
	int in[2];
	pid_t pid;

	assert_int_equal(pipe(in), 0);
	pid = fork();
	if (pid == 0) {
		child_bind();
		dup2(in[0], 0);
		close(in[1]);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	while (thread_state(pid, pid) != 'S')
		child_sleep_ms(1);
	*to = in[1];
	return pid;
}

static void script_go(int to)
{
	assert_int_equal(write(to, "\n", 1), 1);
	close(to);
}

static void script_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* What this one executes counts, and what it did before does not. */
static void test_on_exec(void **state)
{
	static const char script[] =
	    "read line; exec sh -c 'i=0; while [ $i -lt 20000000 ]; do "
	    "i=$((i+1)); done'";
	struct seen seen = {.subject = subject_start(0)};
	struct taken *taken;
	struct rig rig;
	int to;
	pid_t pid = script_start(script, &to);

	(void)state;
	rig_perf(&rig, pid, PLIMP_SAMPLER_ON_EXEC);
	rig_start(&rig);
	script_go(to);
	rig_run_cpu(&rig, see, &seen, pid, pid, 100);
	rig_stop(&rig, &seen);
	taken = taken_of(&seen, pid);
	assert_int_equal(seen.execs, 1);
	assert_string_equal(seen.executed, "sh");
	assert_true(taken->samples > 20);
	rig_close(&rig);
	script_end(pid);
	subject_end(seen.subject);
}

/* One that has executed a program is not known to stand still, though it
 * sleeps: its new image is to be taken over. */
static void test_executed(void **state)
{
	struct seen seen = {.subject = subject_start(0)};
	struct rig rig;
	int to;
	pid_t pid = script_start("read line; exec sleep 600", &to);

	(void)state;
	rig_perf(&rig, pid, 0);
	rig_start(&rig);
	do
		rig_run(&rig, see, &seen, 1, 1);
	while (plimp_system_sampler_has_moved(rig.sampler));
	script_go(to);
	while (seen.execs == 0)
		rig_run(&rig, see, &seen, 1, 1);
	while (thread_state(pid, pid) != 'S')
		child_sleep_ms(1);
	for (int i = 0; i < 5; i++) {
		rig_run(&rig, see, &seen, 1, 1);
		assert_int_equal(plimp_system_sampler_has_moved(rig.sampler),
				 1);
	}
	rig_close(&rig);
	script_end(pid);
	subject_end(seen.subject);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_two_threads),
	    cmocka_unit_test(test_two_threads_alone),
	    cmocka_unit_test(test_newborn),
	    cmocka_unit_test(test_newborn_alone),
	    cmocka_unit_test(test_children),
	    cmocka_unit_test(test_no_children),
	    cmocka_unit_test(test_deep),
	    cmocka_unit_test(test_deep_inherited),
	    cmocka_unit_test(test_deep_nested),
	    cmocka_unit_test(test_deep_first),
	    cmocka_unit_test(test_period),
	    cmocka_unit_test(test_period_newborn),
	    cmocka_unit_test(test_lost),
	    cmocka_unit_test(test_on_exec),
	    cmocka_unit_test(test_executed),
	};

	return cmocka_run_group_tests_name("sampler: threads that run", tests,
					   NULL, NULL);
}
