/*
 * test_usage_self.c - what this process costs, against what it knows of
 * itself: getrusage, its own files, and what it does on purpose between two
 * measurements.
 */
#include "common.h"

#include "counting.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct self {
	plim_host *host;
	plim_usage *first;
	plim_usage *last;
};

static int self_setup(void **state)
{
	static struct self self;

	self.host = open_host(0);
	self.first = new_usage(self.host);
	self.last = new_usage(self.host);
	*state = &self;
	return 0;
}

static int self_teardown(void **state)
{
	struct self *self = *state;

	plim_usage_free(self->first);
	plim_usage_free(self->last);
	plim_host_close(self->host);
	return 0;
}

static uint64_t self_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void self_spin(uint64_t ms)
{
	uint64_t end = self_cpu_ns() + ms * 1000000u;

	while (self_cpu_ns() < end)
		;
}

static _Atomic int self_stop;
static _Atomic uint64_t self_sleeps;

static void *self_sleeper(void *user)
{
	struct timespec ms = {0, 1000000};

	(void)user;
	while (!atomic_load(&self_stop)) {
		nanosleep(&ms, NULL);
		atomic_fetch_add(&self_sleeps, 1);
	}
	return NULL;
}

static uint64_t self_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_nvcsw;
}

/* Who this is. */
static void test_who(void **state)
{
	struct self *self = *state;
	const plim_process *me = measure_self(self->first);
	char name[17] = {0};
	struct timespec now;
	uint64_t started;

	prctl(PR_GET_NAME, name);
	assert_int_equal(plim_process_pid(me), getpid());
	assert_int_equal(known(me, PLIM_FIELD_PID), (uint64_t)getpid());
	assert_int_equal(known(me, PLIM_FIELD_PPID), (uint64_t)getppid());
	assert_int_equal(known(me, PLIM_FIELD_UID), geteuid());
	assert_int_equal(known(me, PLIM_FIELD_KERNEL_THREAD), 0);
	expect_text(plim_process_text(me, PLIM_FIELD_NAME), name, strlen(name));
	expect_text(plim_process_text(me, PLIM_FIELD_STATE), "R", 1);
	assert_true(plim_process_is_measured(me));
	clock_gettime(CLOCK_REALTIME, &now);
	started = known(me, PLIM_FIELD_START_UNIX_MS);
	assert_true(started <= (uint64_t)now.tv_sec * 1000 + 1000);
	assert_true(started + 600000 >= (uint64_t)now.tv_sec * 1000);
}

/* The identity says who it is, and on which rung it stands. */
static void test_identity_text(void **state)
{
	struct self *self = *state;
	const plim_process *me = measure_self(self->first);
	plim_identity identity = plim_process_identity(me);
	char text[64];
	size_t size = plim_identity_format(&identity, text, sizeof(text));

	expect_text(plim_process_text(me, PLIM_FIELD_IDENTITY), text, size);
	assert_int_equal(known(me, PLIM_FIELD_IDENTITY_RUNG),
			 (uint64_t)plim_identity_rung(&identity));
	assert_int_equal(known(me, PLIM_FIELD_START_TICKS),
			 identity.start_ticks);
}

/* Four threads that sleep 1 ms; the leader itself does nothing. */
static void test_wakeups(void **state)
{
	struct self *self = *state;
	pthread_t threads[4];
	uint64_t truth;
	uint64_t sleeps;
	plim_count change;

	atomic_store(&self_stop, 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, self_sleeper, NULL), 0);
	sleeps = atomic_load(&self_sleeps);
	truth = self_switches();
	measure_self(self->first);
	child_sleep_ms(1500);
	measure_self(self->last);
	truth = self_switches() - truth;
	sleeps = atomic_load(&self_sleeps) - sleeps;
	change = plim_process_change(plim_usage_process(self->first),
				     plim_usage_process(self->last),
				     PLIM_FIELD_WAKEUPS);
	atomic_store(&self_stop, 1);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(change.state, PLIM_STATE_KNOWN);
	assert_int_equal(change.bound, PLIM_BOUND_EXACT);
	assert_int_equal(change.method, PLIM_METHOD_GETRUSAGE);
	assert_true(sleeps > 1000);
	expect_near(change.value, truth, 2, 4);
	expect_near(change.value, sleeps, 5, 0);
}

/* What a thread has cost stays when it has ended. */
static void test_ended_thread_counts(void **state)
{
	struct self *self = *state;
	pthread_t thread;
	plim_count change;

	measure_self(self->first);
	atomic_store(&self_stop, 0);
	pthread_create(&thread, NULL, self_sleeper, NULL);
	child_sleep_ms(300);
	atomic_store(&self_stop, 1);
	pthread_join(thread, NULL);
	measure_self(self->last);
	change = plim_process_change(plim_usage_process(self->first),
				     plim_usage_process(self->last),
				     PLIM_FIELD_WAKEUPS);
	assert_int_equal(change.state, PLIM_STATE_KNOWN);
	assert_true(change.value >= 100);
}

/* CPU within 2 % of the clock, not in ticks; the rate too; user and system
 * are of the same instant and add up. */
static void test_cpu(void **state)
{
	struct self *self = *state;
	const plim_process *first = measure_self(self->first);
	uint64_t truth = self_cpu_ns();
	const plim_process *last;
	plim_count change;
	plim_interval interval = {0};
	plim_real per_cent;

	self_spin(300);
	truth = self_cpu_ns() - truth;
	last = measure_self(self->last);
	change = plim_process_change(first, last, PLIM_FIELD_CPU);
	assert_int_equal(change.state, PLIM_STATE_KNOWN);
	assert_int_equal(change.method, PLIM_METHOD_GETRUSAGE);
	expect_near(change.value, truth, 2, 0);
	assert_int_equal(plim_process_interval(first, last, &interval, NULL),
			 PLIM_OK);
	assert_true(interval.elapsed_ns >= 290000000u);
	assert_int_equal(interval.elapsed_ns,
			 plim_process_stamp(last).monotonic.ns -
			     plim_process_stamp(first).monotonic.ns);
	per_cent = plim_process_cpu_percent(first, last);
	assert_int_equal(per_cent.state, PLIM_STATE_KNOWN);
	expect_near((uint64_t)(per_cent.value * 1000),
		    change.value * 100000 / interval.elapsed_ns, 1, 1);
	assert_int_equal(known(last, PLIM_FIELD_CPU_USER) +
			     known(last, PLIM_FIELD_CPU_SYSTEM),
			 known(last, PLIM_FIELD_CPU));
}

/* 32 MiB touched are 32 MiB anonymous, private and resident. */
static void test_memory(void **state)
{
	struct self *self = *state;
	const plim_process *first = measure_self(self->first);
	const plim_process *last;
	const size_t bytes = 32u << 20;
	volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t faults;

	assert_true(memory != MAP_FAILED);
	madvise((void *)memory, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
	last = measure_self(self->last);
	expect_near(known(last, PLIM_FIELD_ANONYMOUS),
		    known(first, PLIM_FIELD_ANONYMOUS) + bytes, 0, MIB);
	expect_near(known(last, PLIM_FIELD_PRIVATE),
		    known(first, PLIM_FIELD_PRIVATE) + bytes, 0, MIB);
	expect_near(known(last, PLIM_FIELD_RESIDENT),
		    known(first, PLIM_FIELD_RESIDENT) + bytes, 0, 2 * MIB);
	assert_true(known(last, PLIM_FIELD_PEAK_RESIDENT) >=
		    known(last, PLIM_FIELD_RESIDENT) - MIB);
	faults =
	    plim_process_change(first, last, PLIM_FIELD_FAULTS_MINOR).value;
	assert_true(faults >= bytes / 4096 && faults < bytes / 4096 + 2048);
	munmap((void *)memory, bytes);
	last = measure_self(self->last);
	expect_near(known(last, PLIM_FIELD_ANONYMOUS),
		    known(first, PLIM_FIELD_ANONYMOUS), 0, MIB);
}

/* The parts of resident memory, against the kernel's own file at rest. */
static void test_memory_parts(void **state)
{
	struct self *self = *state;
	const plim_process *me = measure_self(self->first);

	expect_near(known(me, PLIM_FIELD_ANONYMOUS),
		    proc_number(getpid(), "status", "RssAnon") * 1024, 0,
		    MIB / 4);
	expect_near(known(me, PLIM_FIELD_FILE),
		    proc_number(getpid(), "status", "RssFile") * 1024, 0, MIB);
	assert_int_equal(known(me, PLIM_FIELD_SHMEM),
			 proc_number(getpid(), "status", "RssShmem") * 1024);
	assert_int_equal(known(me, PLIM_FIELD_SWAP),
			 proc_number(getpid(), "status", "VmSwap") * 1024);
	assert_true(known(me, PLIM_FIELD_RESIDENT) >=
		    known(me, PLIM_FIELD_PRIVATE) / 4);
	expect_state(me, PLIM_FIELD_COMMIT, PLIM_STATE_UNSUPPORTED);
}

static void test_descriptors_and_threads(void **state)
{
	struct self *self = *state;
	const plim_process *me = measure_self(self->first);
	uint64_t before = known(me, PLIM_FIELD_DESCRIPTORS);
	int files[10];
	pthread_t thread;

	assert_int_equal(known(me, PLIM_FIELD_THREADS), 1);
	for (int i = 0; i < 10; i++)
		files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	atomic_store(&self_stop, 0);
	pthread_create(&thread, NULL, self_sleeper, NULL);
	me = measure_self(self->first);
	assert_int_equal(known(me, PLIM_FIELD_DESCRIPTORS), before + 10);
	assert_int_equal(known(me, PLIM_FIELD_THREADS), 2);
	atomic_store(&self_stop, 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 10; i++)
		close(files[i]);
}

/* Bytes, blocks and calls, all of which only this process moves. */
static void test_disk(void **state)
{
	struct self *self = *state;
	char name[] = "plim-self.XXXXXX";
	static char block[1 << 20];
	const plim_process *me;
	struct rusage usage;
	uint64_t calls;
	int file = mkostemp(name, O_CLOEXEC);

	if (file < 0) {
		SKIP_BECAUSE("the current folder cannot be written to");
		return;
	}
	unlink(name);
	measure_self(self->first);
	memset(block, 1, sizeof(block));
	assert_int_equal(write(file, block, sizeof(block)), sizeof(block));
	fsync(file);
	close(file);
	calls = proc_number(getpid(), "io", "syscw");
	me = measure_self(self->last);
	getrusage(RUSAGE_SELF, &usage);
	assert_int_equal(known(me, PLIM_FIELD_DISK_WRITE),
			 proc_number(getpid(), "io", "write_bytes"));
	assert_int_equal(known(me, PLIM_FIELD_DISK_READ),
			 proc_number(getpid(), "io", "read_bytes"));
	assert_int_equal(known(me, PLIM_FIELD_DISK_CANCELLED),
			 proc_number(getpid(), "io", "cancelled_write_bytes"));
	assert_int_equal(known(me, PLIM_FIELD_DISK_BLOCKS),
			 (uint64_t)usage.ru_inblock +
			     (uint64_t)usage.ru_oublock);
	assert_true(known(me, PLIM_FIELD_IO_CALLS) >= calls);
	expect_method(me, PLIM_FIELD_DISK_WRITE, PLIM_METHOD_IO_WITH_CHILDREN);
	if (child_on_tmpfs("."))
		SKIP_BECAUSE("the current folder is on a tmpfs");
	assert_true(plim_process_change(plim_usage_process(self->first), me,
					PLIM_FIELD_DISK_WRITE)
			.value >= sizeof(block));
}

/* Only what is asked is read; what is unknown says so. */
static void test_fields_asked(void **state)
{
	struct self *self = *state;
	plim_field_set basic = plim_usage_basic();
	const plim_process *me;

	assert_int_equal(plim_usage_refresh_self(self->first, &basic, NULL),
			 PLIM_OK);
	me = plim_usage_process(self->first);
	known(me, PLIM_FIELD_CPU);
	known(me, PLIM_FIELD_WAKEUPS);
	known(me, PLIM_FIELD_INVOLUNTARY);
	known(me, PLIM_FIELD_FAULTS_MINOR);
	known(me, PLIM_FIELD_FAULTS_MAJOR);
	known(me, PLIM_FIELD_DISK_BLOCKS);
	known(me, PLIM_FIELD_RESIDENT);
	expect_state(me, PLIM_FIELD_DISK_WRITE, PLIM_STATE_SKIPPED);
	expect_state(me, PLIM_FIELD_DESCRIPTORS, PLIM_STATE_SKIPPED);
	assert_int_equal(plim_process_count(me, PLIM_FIELD_NAME).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_process_count(me, 120).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_process_count(me, -1).state,
			 PLIM_STATE_UNSUPPORTED);
	/* getrusage and statm, once its file is open. */
	assert_int_equal(plim_usage_refresh_self(self->first, &basic, NULL),
			 PLIM_OK);
	assert_int_equal(plim_usage_cost(self->first).system_calls, 2);
}

/* A host is the parent's: in a child it refuses, and tells nothing mixed. */
static void self_in_child(void *user)
{
	struct self *self = user;
	plim_error error = {0};
	plim_host *host;
	plim_usage *usage;

	assert_int_equal(plim_usage_refresh_self(self->first, NULL, &error),
			 PLIM_EUNSUPPORTED);
	assert_int_equal(error.code, PLIM_EUNSUPPORTED);
	host = open_host(0);
	usage = new_usage(host);
	assert_int_equal(plim_process_pid(measure_self(usage)), getpid());
	plim_usage_free(usage);
	plim_host_close(host);
}

static void test_fork(void **state)
{
	struct self *self = *state;

	measure_self(self->first);
	child_run(self_in_child, self);
	assert_int_equal(plim_process_pid(measure_self(self->first)), getpid());
}

static void test_unread(void **state)
{
	struct self *self = *state;
	const plim_process *nobody = plim_usage_process(self->first);

	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (field->kind != PLIM_KIND_TEXT)
			expect_state(nobody, field->id, PLIM_STATE_UNREAD);
	}
	assert_false(plim_process_is_measured(nobody));
	assert_int_not_equal(
	    plim_process_change(nobody, nobody, PLIM_FIELD_CPU).state,
	    PLIM_STATE_KNOWN);
}

/* The same sample twice: no time passed, so there is no rate, not even 0. */
static void test_no_interval(void **state)
{
	struct self *self = *state;
	const plim_process *me = measure_self(self->first);

	assert_int_equal(plim_process_rate(me, me, PLIM_FIELD_CPU).state,
			 PLIM_STATE_NO_INTERVAL);
	assert_int_equal(plim_process_cpu_percent(me, me).state,
			 PLIM_STATE_NO_INTERVAL);
	assert_int_equal(plim_process_change(me, me, PLIM_FIELD_RESIDENT).state,
			 PLIM_STATE_NOT_APPLICABLE);
}

/* After the first refresh nothing asks for memory any more. */
static void test_no_allocation(void **state)
{
	struct counting counting = {0};
	plim_host_options options = {
	    .size = sizeof(options),
	    .allocator = counting_allocator(&counting),
	};
	plim_field_set basic = plim_usage_basic();
	plim_host *host = NULL;
	plim_usage *usage;
	size_t calls;

	(void)state;
	assert_int_equal(plim_host_open(&host, &options, NULL), PLIM_OK);
	usage = new_usage(host);
	assert_true(counting.calls > 0);
	measure_self(usage);
	calls = counting.calls;
	for (int i = 0; i < 100; i++) {
		measure_self(usage);
		plim_usage_refresh_self(usage, &basic, NULL);
	}
	assert_int_equal(counting.calls, calls);
	plim_usage_free(usage);
	plim_host_close(host);
	assert_int_equal(counting.live, 0);
}

/* The facts of the host that everything above divides by. */
static void test_host_facts(void **state)
{
	struct self *self = *state;
	plim_count cpus = plim_host_count(self->host, PLIM_HOST_CPUS);
	plim_count affinity = plim_host_count(self->host, PLIM_HOST_AFFINITY);
	plim_real usable = plim_host_usable_cpus(self->host);

	assert_int_equal(cpus.state, PLIM_STATE_KNOWN);
	assert_int_equal(cpus.value, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(affinity.value >= 1 && affinity.value <= cpus.value);
	assert_int_equal(usable.state, PLIM_STATE_KNOWN);
	assert_true(usable.value > 0 && usable.value <= (double)affinity.value);
	assert_int_equal(
	    plim_host_count(self->host, PLIM_HOST_PAGE_BYTES).value,
	    (uint64_t)sysconf(_SC_PAGESIZE));
	assert_int_equal(
	    plim_host_count(self->host, PLIM_HOST_TICKS_PER_SECOND).value,
	    (uint64_t)sysconf(_SC_CLK_TCK));
	assert_int_equal(plim_host_count(self->host, PLIM_HOST_OWN_PID).value,
			 (uint64_t)getpid());
	assert_int_equal(plim_host_count(self->host, PLIM_HOST_IS_LIVE).value,
			 1);
	assert_int_equal(
	    plim_host_text(self->host, PLIM_HOST_BOOT_ID).bytes.size, 36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define SELF(test) \
	cmocka_unit_test_setup_teardown(test, self_setup, self_teardown)
	    SELF(test_who),	     SELF(test_identity_text),
	    SELF(test_wakeups),	     SELF(test_ended_thread_counts),
	    SELF(test_cpu),	     SELF(test_memory),
	    SELF(test_memory_parts), SELF(test_descriptors_and_threads),
	    SELF(test_disk),	     SELF(test_fields_asked),
	    SELF(test_fork),	     SELF(test_unread),
	    SELF(test_no_interval),  cmocka_unit_test(test_no_allocation),
	    SELF(test_host_facts),
	};

	return cmocka_run_group_tests_name("usage of self", tests, NULL, NULL);
}
