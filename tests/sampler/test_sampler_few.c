/*
 * test_sampler_few.c - fewer descriptors than threads times CPUs: each thread
 * has one event, newborn ones, too, and as many samples as the kernel's
 * account of its CPU time says; and where there are fewer than threads, those
 * that run have the events of those that sleep.
 */
#include "subject.h"

#include <sys/resource.h>
#include <unistd.h>

#define PERIOD	     UINT64_C(1000000)
#define SAMPLED_MOST 64

struct counted {
	int tid;
	uint64_t samples;
	uint64_t first; /* of them, when it was begun to count */
	uint64_t begun; /* its CPU time then */
	uint64_t cpu_ns;
	int has_gaps;
};

struct seen {
	struct counted threads[SAMPLED_MOST];
	size_t count;
	int ended;
};

static struct counted *counted_of(struct seen *seen, int tid)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->threads[i].tid == tid)
			return &seen->threads[i];
	assert_true(seen->count < SAMPLED_MOST);
	seen->threads[seen->count].tid = tid;
	return &seen->threads[seen->count++];
}

static void see(void *user, const struct plimp_capture *capture)
{
	struct counted *thread;

	if (capture->tid == 0)
		return;
	thread = counted_of(user, capture->tid);
	switch (capture->kind) {
	case PLIMP_CAPTURE_RUNNING:
		thread->samples++;
		if (capture->has_cpu) {
			assert_true(capture->cpu_ns >= thread->cpu_ns);
			thread->cpu_ns = capture->cpu_ns;
		}
		break;
	case PLIMP_CAPTURE_ENDED:
		((struct seen *)user)->ended++;
		break;
	case PLIMP_CAPTURE_TOTAL:
		thread->has_gaps = capture->has_gaps;
		break;
	default:
		break;
	}
}

/* So many may be opened from now on, in all. */
static void limit_files(rlim_t count)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = count;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static struct plimp_tiers open_few(struct rig *rig, struct subject *subject)
{
	struct plimp_tiers tiers;

	rig_open(rig, subject->pid, 0, PERIOD);
	tiers = plimp_system_sampler_tiers(rig->sampler);
	if (tiers.perf.method == PLIM_REASON_PERF_REFUSED)
		SKIP_BECAUSE("perf events are refused to this user");
	assert_int_equal(plimp_system_sampler_start(rig->sampler, NULL),
			 PLIM_OK);
	return tiers;
}

static void stop_few(struct rig *rig, struct seen *seen)
{
	struct plimp_sampler_bill bill;

	assert_int_equal(plimp_system_sampler_halt(rig->sampler, NULL),
			 PLIM_OK);
	assert_int_equal(
	    plimp_system_sampler_drain(rig->sampler, see, seen, NULL), PLIM_OK);
	assert_int_equal(
	    plimp_system_sampler_totals(rig->sampler, see, seen, NULL),
	    PLIM_OK);
	bill = plimp_system_sampler_bill(rig->sampler);
	assert_int_equal(bill.malformed, 0);
	assert_int_equal(bill.lost, 0);
}

/* From here on the samples of these ranks are counted. */
static void count_begin(struct seen *seen, struct subject *subject, int from,
			int end)
{
	for (int i = from; i < end; i++) {
		struct counted *thread = counted_of(seen, subject->busy_tid[i]);

		thread->first = thread->samples;
		thread->begun = thread_cpu(subject->pid, thread->tid);
	}
}

/* Until each has had so much CPU time; then as many samples as it had of it,
 * but for a scheduler's tick at both ends, the time until one that was born is
 * found, and what a loaded machine adds. */
static void count_end(struct rig *rig, struct seen *seen,
		      struct subject *subject, int from, int end, unsigned ms,
		      unsigned slack)
{
	for (int i = from; i < end; i++) {
		const struct counted *thread =
		    counted_of(seen, subject->busy_tid[i]);
		uint64_t until = thread->begun + ms * PERIOD;

		for (int turn = 0;
		     thread_cpu(subject->pid, thread->tid) < until; turn++) {
			assert_true(turn < 6000);
			rig_run(rig, see, seen, 10, 10);
		}
	}
	for (int i = from; i < end; i++) {
		struct counted *thread = counted_of(seen, subject->busy_tid[i]);
		uint64_t cpu = thread_cpu(subject->pid, thread->tid);
		uint64_t periods = (cpu - thread->begun) / PERIOD;
		uint64_t samples = thread->samples - thread->first;

		if (samples + periods / 10 + slack < periods ||
		    samples > periods + periods / 10 + 12)
			fail_msg("%u samples in %u ms of thread %d",
				 (unsigned)samples, (unsigned)periods, i);
	}
}

static void with_one_each(void *user)
{
	struct subject *subject = subject_start(0);
	struct seen seen = {.count = 0};
	struct plimp_tiers tiers;
	struct rig rig;

	(void)user;
	subject_rest(subject, 0, 20);
	subject_busy(subject, 20);
	/* The host and the rest of the sampler take some eight, and it leaves
	 * sixteen to others: 48 are less than 2 x 2 x 21. */
	limit_files((rlim_t)dup(0) + 8 + 16 + 48);
	tiers = open_few(&rig, subject);
	assert_int_equal(tiers.threads_present, 21);
	assert_int_equal(tiers.threads_covered, 21);
	assert_int_equal(tiers.running, PLIMP_TIER_PERF);
	assert_int_equal(tiers.perf.state, PLIM_STATE_KNOWN);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		assert_int_equal(tiers.alone, 1);
		assert_int_equal(tiers.newborn_inherit, 0);
	}
	/* Six run, and two more that are born to. */
	subject_rest(subject, 6, 20);
	rig_run(&rig, see, &seen, 10, 20);
	count_begin(&seen, subject, 0, 6);
	count_end(&rig, &seen, subject, 0, 6, 60, 12);
	subject_busy(subject, 22);
	count_end(&rig, &seen, subject, 20, 22, 150, 30);
	for (int i = 6; i < 20; i++)
		assert_true(counted_of(&seen, subject->busy_tid[i])->samples <=
			    2);
	/* Whoever ends gives its descriptor back. */
	assert_int_equal(
	    plimp_system_sampler_tiers(rig.sampler).threads_covered, 23);
	subject->busy = 20;
	while (seen.ended < 2)
		rig_run(&rig, see, &seen, 10, 10);
	rig_run(&rig, see, &seen, 10, 20);
	if (tiers.alone)
		assert_true(
		    plimp_system_sampler_bill(rig.sampler).descriptors <=
		    21 + 6 + 4);
	stop_few(&rig, &seen);
	assert_int_equal(counted_of(&seen, subject->busy_tid[0])->has_gaps, 0);
	rig_close(&rig);
	subject_end(subject);
}

static void test_one_each(void **state)
{
	(void)state;
	child_run(with_one_each, NULL);
}

static void with_fewer_than_threads(void *user)
{
	struct subject *subject = subject_start(0);
	struct seen seen = {.count = 0};
	struct plimp_tiers tiers;
	struct rig rig;
	int missing = 10;

	(void)user;
	subject_rest(subject, 0, 40);
	subject_busy(subject, 40);
	limit_files(64);
	tiers = open_few(&rig, subject);
	assert_int_equal(tiers.threads_present, 41);
	assert_true(tiers.threads_covered < tiers.threads_present);
	assert_true(tiers.threads_covered >= 12);
	assert_int_equal(tiers.running, PLIMP_TIER_PERF);
	assert_int_equal(tiers.perf.method, PLIM_REASON_TOO_MANY_DESCRIPTORS);
	/* The last ten run, for whom there was no event. */
	subject_rest(subject, 0, 30);
	for (int turn = 0; missing > 0 && turn < 500; turn++) {
		rig_run(&rig, see, &seen, 10, 20);
		missing = 0;
		for (int i = 30; i < 40; i++)
			missing +=
			    counted_of(&seen, subject->busy_tid[i])->samples ==
			    0;
	}
	assert_int_equal(missing, 0);
	count_begin(&seen, subject, 30, 40);
	count_end(&rig, &seen, subject, 30, 40, 60, 12);
	assert_true(plimp_system_sampler_bill(rig.sampler).descriptors < 64);
	stop_few(&rig, &seen);
	assert_int_equal(counted_of(&seen, subject->busy_tid[39])->has_gaps, 1);
	rig_close(&rig);
	subject_end(subject);
}

static void test_fewer_than_threads(void **state)
{
	(void)state;
	child_run(with_fewer_than_threads, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one_each),
	    cmocka_unit_test(test_fewer_than_threads),
	};

	return cmocka_run_group_tests_name("sampler: few descriptors", tests,
					   NULL, NULL);
}
