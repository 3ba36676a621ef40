/*
 * test_sampler_stops.c - the ptrace tier: what it sees of threads that run,
 * that those that sleep are left alone, that signals still arrive, that job
 * control holds, and that a sampler that is killed leaves everybody running.
 */
#include "subject.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PERIOD	    PLIMP_PTRACE_PERIOD_NS
#define STOPS_KILLS 40

static const uint32_t stops_flags =
    PLIMP_SAMPLER_NO_PERF | PLIMP_SAMPLER_PTRACE;

struct seen {
	struct subject *subject;
	uint64_t running, in_code, deep, others;
	uint64_t blocked;
};

static void see(void *user, const struct plimp_capture *capture)
{
	struct seen *seen = user;
	uint64_t word;
	uint64_t pc;

	seen->blocked += capture->kind == PLIMP_CAPTURE_BLOCKED;
	if (capture->kind != PLIMP_CAPTURE_RUNNING)
		return;
	seen->running++;
	if (capture->tid != seen->subject->busy_tid[0]) {
		seen->others++;
		return;
	}
#if defined(__x86_64__)
	pc = capture->registers.value[PLIMP_X86_RIP];
	assert_int_equal(capture->registers.known, 0x1ffff);
	assert_true(
	    capture->stack.low ==
	    ((capture->registers.value[PLIMP_X86_RSP] - 128) & ~UINT64_C(7)));
#else
	pc = capture->registers.value[PLIMP_ARM_PC];
#endif
	seen->in_code +=
	    pc >= seen->subject->code_start && pc < seen->subject->code_end;
	for (size_t at = 0; at + 8 <= capture->stack.size; at += 8) {
		memcpy(&word, capture->stack.bytes + at, 8);
		if (word == SUBJECT_WORD + 7) {
			seen->deep++;
			break;
		}
	}
}

static void rig_stops(struct rig *rig, pid_t pid)
{
	struct plimp_tiers tiers;

	rig_open(rig, pid, stops_flags, PERIOD);
	tiers = plimp_system_sampler_tiers(rig->sampler);
	if (tiers.ptrace.state != PLIM_STATE_KNOWN) {
		rig_close(rig);
		SKIP_BECAUSE("ptrace is refused to this user");
	}
	assert_int_equal(tiers.running, PLIMP_TIER_PTRACE);
	assert_int_equal(tiers.perf.state, PLIM_STATE_SKIPPED);
	assert_int_equal(plimp_system_sampler_start(rig->sampler, NULL),
			 PLIM_OK);
}

static void test_stops(void **state)
{
	struct seen seen = {.subject = subject_start(1)};
	struct plimp_sampler_bill bill;
	uint64_t switches[POSTURES];
	uint64_t begin;
	struct rig rig;

	(void)state;
	seen.subject->depth = 8;
	subject_busy(seen.subject, 1);
	for (int i = 0; i < POSTURES; i++)
		switches[i] = thread_switches(seen.subject->pid,
					      seen.subject->postures[i].tid);
	rig_stops(&rig, seen.subject->pid);
	begin = child_monotonic_ns();
	/* However often it ticks, it stops nobody more often than that. */
	rig_run(&rig, see, &seen, 1, 1000);
	while (seen.running < 20)
		rig_run(&rig, see, &seen, 1, 100);
	bill = plimp_system_sampler_bill(rig.sampler);
	assert_true(bill.stops >= seen.running);
	assert_true(seen.running - seen.others <=
		    (child_monotonic_ns() - begin) / PERIOD + 1);
	assert_true(seen.in_code * 10 >= (seen.running - seen.others) * 9);
	assert_true(seen.deep * 10 >= (seen.running - seen.others) * 9);
	assert_true(bill.stop_sum_ns > 0);
	assert_true(bill.stop_longest_ns <= bill.stop_sum_ns);
	assert_int_equal(bill.signals_sent, 0);
	assert_true(seen.blocked >= POSTURES);
	for (int i = 0; i < POSTURES; i++)
		assert_true(thread_switches(seen.subject->pid,
					    seen.subject->postures[i].tid) ==
			    switches[i]);
	rig_close(&rig);
	assert_int_equal(
	    thread_state(seen.subject->pid, seen.subject->busy_tid[0]), 'R');
	subject_end(seen.subject);
}

/* One signal after another, as soon as the last one was handled; 1 if one
 * never was. */
static int signals_send(const struct subject *subject, const _Atomic int *stop)
{
	uint64_t sent = 0;

	while (!*stop) {
		uint64_t begin = child_monotonic_ns();

		if (syscall(SYS_tgkill, subject->pid, subject->busy_tid[0],
			    SIGUSR1) != 0)
			return 1;
		sent++;
		while (subject->signals != sent)
			if (child_monotonic_ns() - begin >
			    UINT64_C(20000000000))
				return 1;
	}
	return 0;
}

/* Every signal is handled, though it may be what stops the thread. */
static void test_signals_arrive(void **state)
{
	struct seen seen = {.subject = subject_start(0)};
	_Atomic int *stop = &seen.subject->depth;
	struct rig rig;
	pid_t sender;
	int status;

	(void)state;
	subject_busy(seen.subject, 1);
	rig_stops(&rig, seen.subject->pid);
	fflush(stdout);
	sender = fork();
	assert_true(sender >= 0);
	if (sender == 0) {
		child_bind();
		_exit(signals_send(seen.subject, stop));
	}
	while (plimp_system_sampler_bill(rig.sampler).stops < 60 &&
	       waitpid(sender, &status, WNOHANG) == 0)
		rig_run(&rig, see, &seen, 5, 5);
	*stop = 1;
	assert_int_equal(waitpid(sender, &status, 0), sender);
	assert_int_equal(status, 0);
	rig_close(&rig);
	assert_true(seen.subject->signals > 60);
	subject_end(seen.subject);
}

/* Stopped by job control it stays, until it is told to go on. */
static void test_job_control(void **state)
{
	struct seen seen = {.subject = subject_start(0)};
	struct rig rig;
	uint64_t turns;
	int tid;

	(void)state;
	subject_busy(seen.subject, 1);
	tid = seen.subject->busy_tid[0];
	rig_stops(&rig, seen.subject->pid);
	rig_run(&rig, see, &seen, 10, 50);
	kill(seen.subject->pid, SIGSTOP);
	rig_run(&rig, see, &seen, 10, 200);
	while (thread_state(seen.subject->pid, tid) != 'T')
		rig_run(&rig, see, &seen, 10, 10);
	turns = seen.subject->turns;
	rig_run(&rig, see, &seen, 10, 50);
	rig_close(&rig);
	child_sleep_ms(20);
	assert_int_equal(thread_state(seen.subject->pid, tid), 'T');
	assert_true(seen.subject->turns == turns);
	kill(seen.subject->pid, SIGCONT);
	for (int turn = 0; seen.subject->turns == turns; turn++) {
		assert_true(turn < 10000);
		child_sleep_ms(1);
	}
	subject_end(seen.subject);
}

static void stops_forever(struct subject *subject)
{
	struct seen seen = {.subject = subject};
	struct rig rig;

	child_bind();
	rig_stops(&rig, subject->pid);
	for (;;)
		plimp_system_sampler_tick(rig.sampler, see, &seen, NULL);
}

/* Killed at any moment: nobody stays stopped, nobody dies. */
static void test_killed(void **state)
{
	struct subject *subject = subject_start(0);
	struct rig probe;

	(void)state;
	subject_busy(subject, 2);
	rig_stops(&probe, subject->pid);
	rig_close(&probe);
	srand(7);
	for (int i = 0; i < STOPS_KILLS; i++) {
		uint64_t turns;
		pid_t killer = fork();

		if (killer == 0)
			stops_forever(subject);
		assert_true(killer > 0);
		usleep(3000 + (unsigned)(rand() % 25000));
		kill(killer, SIGKILL);
		assert_int_equal(waitpid(killer, NULL, 0), killer);
		turns = subject->turns;
		for (int k = 0; k < 2; k++)
			for (int turn = 0;
			     thread_state(subject->pid, subject->busy_tid[k]) !=
			     'R';
			     turn++) {
				assert_true(turn < 1000);
				child_sleep_ms(1);
			}
		for (int turn = 0; subject->turns == turns; turn++) {
			assert_true(turn < 1000);
			child_sleep_ms(1);
		}
	}
	subject_end(subject);
}

/* A thread that ends while it is looked at, again and again. */
static void test_vanishing(void **state)
{
	struct seen seen = {.subject = subject_start(0)};
	struct rig rig;

	(void)state;
	rig_stops(&rig, seen.subject->pid);
	for (int i = 0; i < 30; i++) {
		subject_busy(seen.subject, 2);
		rig_run(&rig, see, &seen, 5, 15);
		seen.subject->busy = 0;
		rig_run(&rig, see, &seen, 1, 6);
		for (int turn = 0;
		     thread_state(seen.subject->pid,
				  seen.subject->busy_tid[0]) != '-' ||
		     thread_state(seen.subject->pid,
				  seen.subject->busy_tid[1]) != '-';
		     turn++) {
			/* Who is traced when it ends is let go of, too. */
			assert_true(turn < 10000);
			rig_run(&rig, see, &seen, 1, 1);
		}
	}
	assert_true(seen.running > 0);
	rig_close(&rig);
	subject_end(seen.subject);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stops),
	    cmocka_unit_test(test_signals_arrive),
	    cmocka_unit_test(test_job_control),
	    cmocka_unit_test(test_killed),
	    cmocka_unit_test(test_vanishing),
	};

	return cmocka_run_group_tests_name("sampler: ptrace", tests, NULL,
					   NULL);
}
