/*
 * test_sampler_sleeping.c - threads that sleep: what is told of them is what
 * they know themselves, and they notice nothing.
 */
#include "subject.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct seen {
	struct subject *subject;
	int blocked[POSTURES];
	int same[POSTURES];
	int other[POSTURES];
	int running;
};

static int posture_of(const struct seen *seen, int tid)
{
	for (int i = 0; i < POSTURES; i++)
		if (seen->subject->postures[i].tid == tid)
			return i;
	return -1;
}

static void expect_words(const struct posture *posture,
			 const struct plimp_stack_bytes *stack)
{
	uint64_t low = stack->low;
	uint64_t value;

	/* What was copied at once is right, and not all of it was. */
	assert_true(stack->size > 2048 && stack->size < 16384);
	assert_true(stack->is_cut);
	for (size_t i = 0; i < SUBJECT_WORDS; i++) {
		uint64_t at = posture->words + i * 8;

		if (at >= low && at + 8 <= low + stack->size) {
			memcpy(&value, stack->bytes + (at - low), 8);
			assert_true(value == SUBJECT_WORD + i);
		}
		value = 0;
		assert_int_equal(stack->word(stack->user, at, &value), 0);
		assert_true(value == SUBJECT_WORD + i);
	}
	/* Nothing lies at the beginning of all addresses. */
	value = 77;
	assert_int_not_equal(stack->word(stack->user, 64, &value), 0);
	assert_int_not_equal(stack->word(stack->user, UINT64_MAX - 3, &value),
			     0);
	assert_int_equal(value, 77);
}

/* The instruction before the pc is the system call. */
static void expect_code(const struct plimp_capture *capture, uint64_t pc)
{
	unsigned char code[2] = {0, 0};

	(void)pc;
	(void)code;
#if defined(__x86_64__)
	assert_int_equal(
	    capture->stack.code(capture->stack.user, pc - 2, code, 2), 0);
	assert_int_equal(code[0], 0x0f);
	assert_int_equal(code[1], 0x05);
#else
	(void)capture;
#endif
}

static void see(void *user, const struct plimp_capture *capture)
{
	struct seen *seen = user;
	int index = posture_of(seen, capture->tid);
	const struct posture *posture;

	if (capture->kind == PLIMP_CAPTURE_RUNNING)
		seen->running++;
	if (index < 0 || capture->kind == PLIMP_CAPTURE_BORN)
		return;
	posture = &seen->subject->postures[index];
	assert_int_equal(capture->pid, seen->subject->pid);
	if (capture->kind == PLIMP_CAPTURE_SAME) {
		assert_true(capture->has_accounts);
		assert_true(capture->cpu_ns ==
			    thread_cpu(capture->pid, capture->tid));
		assert_int_equal(capture->call, posture->number);
		assert_int_equal(capture->state, PLIMP_THREAD_BLOCKED);
		seen->same[index]++;
		return;
	}
	if (capture->kind != PLIMP_CAPTURE_BLOCKED) {
		seen->other[index]++;
		return;
	}
	seen->blocked[index]++;
	assert_int_equal(capture->state, PLIMP_THREAD_BLOCKED);
	assert_int_equal(capture->call, posture->number);
#if defined(__x86_64__)
	assert_int_equal(capture->registers.known, 1u << 7 | 1u << 16);
	assert_true(capture->registers.value[7] == posture->sp);
	assert_true(capture->registers.value[16] == posture->pc);
	assert_true(capture->stack.low == posture->sp - 128);
#endif
	expect_words(posture, &capture->stack);
	expect_code(capture, posture->pc);
}

static void expect_nothing_noticed(const struct subject *subject,
				   const uint64_t *switches)
{
	for (int i = 0; i < POSTURES; i++) {
		int tid = subject->postures[i].tid;

		assert_true(thread_switches(subject->pid, tid) == switches[i]);
		assert_int_equal(thread_state(subject->pid, tid), 'S');
	}
	assert_int_equal(subject->failed, 0);
}

/* Ten calls, each right at the first tick and the same for a hundred more. */
static void test_postures(void **state)
{
	struct seen seen = {.subject = subject_start(1)};
	uint64_t switches[POSTURES];
	struct plimp_sampler_bill bill;
	struct plimp_tiers tiers;
	struct rig rig;

	(void)state;
	for (int i = 0; i < POSTURES; i++)
		switches[i] = thread_switches(seen.subject->pid,
					      seen.subject->postures[i].tid);
	rig_open(&rig, seen.subject->pid, PLIMP_SAMPLER_NO_RUNNING, 1000000);
	tiers = plimp_system_sampler_tiers(rig.sampler);
	assert_int_equal(tiers.sleeping, PLIMP_TIER_NO_STOP);
	assert_int_equal(tiers.no_stop.state, PLIM_STATE_KNOWN);
	assert_int_equal(tiers.running, PLIMP_TIER_NONE);
	assert_int_equal(tiers.perf.state, PLIM_STATE_SKIPPED);
	assert_int_equal(plimp_system_sampler_start(rig.sampler, NULL),
			 PLIM_OK);
	assert_int_equal(
	    plimp_system_sampler_tick(rig.sampler, see, &seen, NULL), PLIM_OK);
	for (int i = 0; i < POSTURES; i++) {
		assert_int_equal(seen.blocked[i], 1);
		assert_int_equal(seen.same[i], 0);
	}
	for (int i = 0; i < 100; i++)
		assert_int_equal(
		    plimp_system_sampler_tick(rig.sampler, see, &seen, NULL),
		    PLIM_OK);
	for (int i = 0; i < POSTURES; i++) {
		assert_int_equal(seen.blocked[i], 1);
		assert_int_equal(seen.same[i], 100);
		assert_int_equal(seen.other[i], 0);
	}
	assert_int_equal(seen.running, 0);
	expect_nothing_noticed(seen.subject, switches);
	bill = plimp_system_sampler_bill(rig.sampler);
	assert_true(bill.copies >= POSTURES);
	assert_true(bill.bytes_copied >= POSTURES * SUBJECT_WORDS * 8);
	assert_int_equal(bill.signals_sent, 0);
	assert_int_equal(bill.stops, 0);
	assert_int_equal(bill.calls_disturbed, 0);
	rig_close(&rig);
	expect_nothing_noticed(seen.subject, switches);
	subject_end(seen.subject);
}

/* A thread that was woken by a signal is found at the same place anew. */
static void test_woken(void **state)
{
	struct seen seen = {.subject = subject_start(1)};
	struct posture *read_posture = &seen.subject->postures[0];
	uint64_t before;
	struct rig rig;

	(void)state;
	rig_open(&rig, seen.subject->pid, PLIMP_SAMPLER_NO_RUNNING, 1000000);
	assert_int_equal(plimp_system_sampler_start(rig.sampler, NULL),
			 PLIM_OK);
	rig_run(&rig, see, &seen, 2, 20);
	assert_int_equal(seen.blocked[0], 1);
	before = thread_switches(seen.subject->pid, read_posture->tid);
	assert_int_equal(
	    syscall(SYS_tgkill, seen.subject->pid, read_posture->tid, SIGUSR1),
	    0);
	while (thread_switches(seen.subject->pid, read_posture->tid) ==
		   before ||
	       thread_state(seen.subject->pid, read_posture->tid) != 'S')
		child_sleep_ms(1);
	rig_run(&rig, see, &seen, 2, 20);
	/* read() is restarted: the same place, but another stay there. */
	assert_int_equal(seen.blocked[0], 2);
	assert_int_equal(seen.blocked[1], 1);
	assert_int_equal(seen.subject->signals, 1);
	rig_close(&rig);
	subject_end(seen.subject);
}

static void see_nothing(void *user, const struct plimp_capture *capture)
{
	(void)user;
	(void)capture;
}

/* A tick, and whether somebody has run since it began. */
static int has_moved_since(struct rig *rig)
{
	assert_int_equal(
	    plimp_system_sampler_tick(rig->sampler, see_nothing, NULL, NULL),
	    PLIM_OK);
	return plimp_system_sampler_has_moved(rig->sampler);
}

/* A process that stands still is told from one that runs for a moment, by the
 * clock of all its threads. */
static void test_still(void **state)
{
	struct subject *subject = subject_start(0);
	uint64_t before;
	struct rig rig;
	int turn = 0;

	(void)state;
	rig_open(&rig, subject->pid, PLIMP_SAMPLER_NO_RUNNING, 1000000);
	assert_int_equal(plimp_system_sampler_has_moved(rig.sampler), 1);
	assert_int_equal(plimp_system_sampler_start(rig.sampler, NULL),
			 PLIM_OK);
	kill(subject->pid, SIGSTOP);
	while (thread_state(subject->pid, subject->pid) != 'T')
		child_sleep_ms(1);
	for (; has_moved_since(&rig); turn++) {
		assert_true(turn < 1000);
		child_sleep_ms(1);
	}
	before = thread_cpu(subject->pid, subject->pid);
	for (int i = 0; i < 50; i++)
		assert_int_equal(plimp_system_sampler_has_moved(rig.sampler),
				 0);
	assert_true(thread_cpu(subject->pid, subject->pid) == before);
	kill(subject->pid, SIGCONT);
	while (thread_cpu(subject->pid, subject->pid) < before + 10000)
		child_sleep_ms(1);
	assert_int_equal(plimp_system_sampler_has_moved(rig.sampler), 1);
	/* Who was seen to move is taken for moving until a look finds him
	 * still. */
	assert_int_equal(has_moved_since(&rig), 1);
	assert_int_equal(has_moved_since(&rig), 1);
	rig_close(&rig);
	subject_end(subject);
}

/* Descriptors run out: every file is opened for each look. */
static void test_without_descriptors(void **state)
{
	struct seen seen = {.subject = subject_start(1)};
	const struct rlimit few = {24, 24};
	struct rlimit many;
	struct rig rig;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &many);
	rig_open(&rig, seen.subject->pid, PLIMP_SAMPLER_NO_RUNNING, 1000000);
	plimp_system_sampler_close(rig.sampler);
	assert_int_equal(
	    setrlimit(RLIMIT_NOFILE,
		      &(struct rlimit){few.rlim_cur, many.rlim_max}),
	    0);
	assert_int_equal(
	    plimp_system_sampler_open(
		&rig.sampler, rig.host, rig.target, rig.lens,
		&(struct plimp_sampler_options){
		    .period_ns = 1000000, .flags = PLIMP_SAMPLER_NO_RUNNING},
		NULL),
	    PLIM_OK);
	assert_int_equal(plimp_system_sampler_start(rig.sampler, NULL),
			 PLIM_OK);
	for (int i = 0; i < 10; i++)
		assert_int_equal(
		    plimp_system_sampler_tick(rig.sampler, see, &seen, NULL),
		    PLIM_OK);
	assert_true(plimp_system_sampler_bill(rig.sampler).descriptors < 12);
	setrlimit(RLIMIT_NOFILE, &many);
	for (int i = 0; i < POSTURES; i++) {
		assert_int_equal(seen.blocked[i], 1);
		assert_int_equal(seen.other[i], 0);
		assert_int_equal(seen.same[i], 9);
	}
	rig_close(&rig);
	subject_end(seen.subject);
}

/* One that has ended: told once, and not looked at again. */
static void test_stop_and_end(void **state)
{
	struct seen seen = {.subject = subject_start(1)};
	struct rig rig;
	uint64_t now;
	int woken;

	(void)state;
	rig_open(&rig, seen.subject->pid, PLIMP_SAMPLER_NO_RUNNING, 1000000);
	now = child_monotonic_ns();
	assert_int_equal(plimp_system_sampler_wait(
			     rig.sampler, now + UINT64_C(20000000), NULL),
			 PLIMP_WAKE_TIME);
	assert_true(child_monotonic_ns() >= now + UINT64_C(20000000));
	assert_int_equal(plimp_system_sampler_wait(rig.sampler, 0, NULL) &
			     ~PLIMP_WAKE_TIME,
			 0);
	plimp_system_sampler_stop(rig.sampler);
	for (int i = 0; i < 2; i++)
		assert_true(
		    (plimp_system_sampler_wait(
			 rig.sampler,
			 child_monotonic_ns() + UINT64_C(20000000000), NULL) &
		     PLIMP_WAKE_STOP) != 0);
	kill(seen.subject->pid, SIGKILL);
	do
		woken = plimp_system_sampler_wait(
		    rig.sampler, child_monotonic_ns() + 1000000, NULL);
	while ((woken & PLIMP_WAKE_ENDED) == 0);
	assert_int_equal(plimp_system_sampler_start(rig.sampler, NULL),
			 PLIM_OK);
	assert_int_equal(
	    plimp_system_sampler_tick(rig.sampler, see, &seen, NULL), PLIM_OK);
	for (int i = 0; i < POSTURES; i++)
		assert_int_equal(seen.blocked[i] + seen.same[i], 0);
	rig_close(&rig);
	assert_int_equal(waitpid(seen.subject->pid, NULL, 0),
			 seen.subject->pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_postures),
	    cmocka_unit_test(test_woken),
	    cmocka_unit_test(test_still),
	    cmocka_unit_test(test_without_descriptors),
	    cmocka_unit_test(test_stop_and_end),
	};

	return cmocka_run_group_tests_name("sampler: threads that sleep", tests,
					   NULL, NULL);
}
