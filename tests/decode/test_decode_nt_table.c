/*
 * test_decode_nt_table.c - the table of processes that Windows makes, and
 * what becomes of it in records. The figures that Wine tells as zero are
 * here by name, with values that are not (tests/cross/windows/faked.h).
 */
#include "fixture.h"
#include "nt.h"

#include "core/record.h"
#include "host/windows/store.h"
#include "windows/faked.h"

#include <plimsoll/usage.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define START  UINT64_C(134405445774598520) /* 2026-11-30 */
#define SECOND UINT64_C(10000000)	    /* in units of 100 ns */

static const uint16_t methods[PLIMP_NT_TABLE_GROUPS] = {
    [PLIMP_NT_TABLE_TIMES] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_MEMORY] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_PRIVATE] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_FAULTS] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_IO] = PLIM_METHOD_ALL_IO,
    [PLIMP_NT_TABLE_HANDLES] = PLIM_METHOD_PROCESS_TABLE,
    [PLIMP_NT_TABLE_SWITCHES] = PLIM_METHOD_SWITCH_SUM,
};

static uint64_t base_of(const struct plimp_nt_layout *layout)
{
	return layout->word == 8 ? NT_BASE : NT_BASE & 0xffffffff;
}

/* A failure stores nothing and moves nothing. */
static int next(plim_bytes bytes, const struct plimp_nt_layout *layout,
		size_t *offset, struct plimp_nt_process *process)
{
	struct plimp_nt_process poison;
	const size_t before = *offset;

	memset(&poison, 0xa5, sizeof(poison));
	*process = poison;
	int more = plimp_decode_nt_process(bytes, layout, base_of(layout),
					   offset, process);
	assert_in_range(more + 1, 0, 2);
	if (more != 1) {
		assert_memory_equal(process, &poison, sizeof(poison));
		assert_int_equal(*offset, before);
		return more;
	}
	assert_true(*offset > before && *offset <= bytes.size);
	/* Touch what it points to. */
	for (size_t i = 0; i < process->name.size; i++)
		(void)*(volatile const char *)(process->name.data + i);
	for (size_t i = 0; i < process->thread_count; i++) {
		struct plimp_nt_thread thread;

		assert_int_equal(plimp_decode_nt_thread(process->threads,
							layout, i, &thread),
				 PLIM_OK);
	}
	return 1;
}

static const struct nt_thread three[] = {
    {.tid = 36,
     .create_time = START + 5,
     .switches = 4000,
     .user_time = 11,
     .kernel_time = 12,
     .state = 5,
     .wait_reason = 6},
    {.tid = 200,
     .create_time = START + 9,
     .switches = 70,
     .user_time = 3,
     .kernel_time = 4,
     .state = 2},
    {.tid = 44,
     .create_time = START + 7,
     .switches = 9,
     .state = 5,
     .wait_reason = 5},
};

static void make_table(struct nt_table *table,
		       const struct plimp_nt_layout *layout)
{
	const struct nt_process idle = {
	    .pid = 0, .threads = three, .thread_count = 1};
	const struct nt_process one = {.pid = 4321,
				       .parent = 88,
				       .create_time = START,
				       .name = "worker.exe",
				       .threads = three,
				       .thread_count = 3,
				       .seed = 1000};
	const struct nt_process bare = {.pid = 8,
					.parent = 4,
					.create_time = START + SECOND,
					.name = "a",
					.seed = 5};

	nt_begin(table, layout);
	nt_add(table, &idle);
	nt_add(table, &one);
	nt_add(table, &bare);
}

static void check_process(const struct plimp_nt_process *process)
{
	char name[16];

	assert_int_equal(process->pid, 4321);
	assert_int_equal(process->parent, 88);
	assert_true(process->create_time == START);
	assert_int_equal(process->private_resident, 1001);
	assert_int_equal(process->hard_faults, 1002);
	assert_int_equal(process->user_time, 1003);
	assert_int_equal(process->kernel_time, 1004);
	assert_int_equal(process->handles, 1005);
	assert_int_equal(process->session, 1006);
	assert_int_equal(process->faults, 2007);
	assert_int_equal(process->peak_resident, 1008);
	assert_int_equal(process->resident, 1009);
	assert_int_equal(process->commit, 1010);
	assert_int_equal(process->io.read_calls, 1011);
	assert_int_equal(process->io.write_calls, 1012);
	assert_int_equal(process->io.other_calls, 1013);
	assert_int_equal(process->io.read_bytes, 1014);
	assert_int_equal(process->io.write_bytes, 1015);
	assert_int_equal(process->io.other_bytes, 1016);
	assert_int_equal(process->thread_count, 3);
	assert_int_equal(plimp_nt_utf8(process->name, name, sizeof(name)), 10);
	assert_memory_equal(name, "worker.exe", 10);
}

static void check_walk(const struct plimp_nt_layout *layout)
{
	struct plimp_nt_process process;
	struct plimp_nt_thread thread;
	struct nt_table table;
	size_t offset = 0;

	make_table(&table, layout);
	plim_bytes bytes = text_copy(table.bytes, table.size);
	assert_int_equal(next(bytes, layout, &offset, &process), 1);
	assert_int_equal(process.pid, 0);
	assert_int_equal(process.name.size, 0);
	assert_int_equal(next(bytes, layout, &offset, &process), 1);
	check_process(&process);
	assert_int_equal(
	    plimp_decode_nt_thread(process.threads, layout, 1, &thread),
	    PLIM_OK);
	assert_int_equal(thread.tid, 200);
	assert_true(thread.create_time == START + 9);
	assert_int_equal(thread.switches, 70);
	assert_int_equal(thread.user_time, 3);
	assert_int_equal(thread.kernel_time, 4);
	assert_int_equal(thread.state, 2);
	assert_int_equal(
	    plimp_decode_nt_thread(process.threads, layout, 3, &thread),
	    PLIM_EMALFORMED);
	assert_int_equal(next(bytes, layout, &offset, &process), 1);
	assert_int_equal(process.pid, 8);
	assert_int_equal(process.thread_count, 0);
	assert_int_equal(next(bytes, layout, &offset, &process), 0);
	assert_int_equal(next(bytes, layout, &offset, &process), 0);
	text_free(bytes);
	nt_free(&table);
}

static void test_walk(void **state)
{
	(void)state;
	check_walk(&plimp_nt_layout_64);
	check_walk(&plimp_nt_layout_32);
}

/* Any bytes end, and nothing outside is read. */
static void check_any(plim_bytes bytes)
{
	static const struct plimp_nt_layout *const layouts[] = {
	    &plimp_nt_layout_64, &plimp_nt_layout_32};

	for (size_t i = 0; i < 2; i++) {
		struct plimp_nt_process process;
		size_t offset = 0;
		size_t entries = 0;

		while (next(bytes, layouts[i], &offset, &process) == 1)
			entries++;
		assert_true(entries <= bytes.size / layouts[i]->threads);
	}
}

static void test_hostile(void **state)
{
	struct nt_table table;

	(void)state;
	make_table(&table, &plimp_nt_layout_64);
	text_every_prefix(nt_bytes(&table), check_any);
	text_every_change(nt_bytes(&table), check_any);
	text_every_nonsense(check_any);
	nt_free(&table);
}

/* One number of the second entry replaced: the walk ends there. */
static void refuse(size_t at, unsigned size, uint64_t value)
{
	struct plimp_nt_process process;
	struct nt_table table;
	size_t offset = 0;

	make_table(&table, &plimp_nt_layout_64);
	assert_int_equal(
	    next(nt_bytes(&table), &plimp_nt_layout_64, &offset, &process), 1);
	nt_put(table.bytes, offset + at, size, value);
	assert_int_equal(
	    next(nt_bytes(&table), &plimp_nt_layout_64, &offset, &process), -1);
	nt_free(&table);
}

static void test_refused(void **state)
{
	(void)state;
	refuse(0, 4, 1);	  /* the next one begins inside this one */
	refuse(0, 4, 0xff);	  /* and here */
	refuse(0, 4, 0xfffffff8); /* backwards, in a signed world */
	refuse(0, 4, 0x10000);	  /* behind the table */
	refuse(4, 4, 0xffffffff); /* so many threads have no room */
	refuse(4, 4, 4);	  /* nor has one more: there stands the name */
	refuse(0x38, 2, 21);	  /* half a character */
	refuse(0x38, 2, 0xfffe);  /* longer than its own room */
	refuse(0x40, 8, 0);	  /* its name is at no address */
	refuse(0x40, 8, NT_BASE - 2);
	refuse(0x40, 8, UINT64_MAX - 3);
	refuse(0x40, 8, NT_BASE + 0x10000);
}

/* A table whose last entry is whole, and one byte less. */
static void test_end(void **state)
{
	struct plimp_nt_process process;
	struct nt_table table;
	size_t offset;

	(void)state;
	nt_begin(&table, &plimp_nt_layout_64);
	nt_add(&table, &(struct nt_process){.pid = 4, .create_time = START});
	table.size = plimp_nt_layout_64.threads;
	offset = 0;
	assert_int_equal(
	    next(nt_bytes(&table), &plimp_nt_layout_64, &offset, &process), 1);
	table.size--;
	offset = 0;
	assert_int_equal(
	    next(nt_bytes(&table), &plimp_nt_layout_64, &offset, &process), -1);
	nt_free(&table);
}

static void test_states(void **state)
{
	static const struct {
		uint32_t state, reason;
		char letter;
	} rows[] = {
	    {0, 0, 0},		{1, 0, 'R'}, {2, 0, 'R'}, {3, 0, 'R'},
	    {4, 0, 'X'},	{5, 0, 'S'}, {5, 5, 'T'}, {5, 6, 'S'},
	    {5, 12, 'T'},	{6, 0, 'D'}, {7, 0, 'R'}, {8, 0, 0},
	    {UINT32_MAX, 5, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(plimp_nt_state(rows[i].state, rows[i].reason),
				 rows[i].letter);
	assert_string_equal(plimp_nt_wait_reason(5), "Suspended");
	assert_string_equal(plimp_nt_wait_reason(15), "WrQueue");
	assert_string_equal(plimp_nt_wait_reason(38), "WrDeferredPreempt");
	assert_string_equal(plimp_nt_wait_reason(39), "");
	assert_string_equal(plimp_nt_wait_reason(UINT32_MAX), "");
}

/* Records: of a table of one process after another. */
struct taken {
	plim_process record;
	struct plimp_thread_list threads;
	struct nt_table table;
};

static void take(struct taken *taken, const struct nt_process *process,
		 uint64_t stamp_ns)
{
	static const plim_allocator allocator;
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	struct plimp_nt_entry entry = {.layout = &plimp_nt_layout_64,
				       .methods = methods};
	size_t offset = 0;

	memset(taken, 0, sizeof(*taken));
	nt_begin(&taken->table, &plimp_nt_layout_64);
	nt_add(&taken->table, process);
	assert_int_equal(next(nt_bytes(&taken->table), &plimp_nt_layout_64,
			      &offset, &entry.process),
			 1);
	plimp_nt_store(&entry, &all, &taken->record);
	assert_int_equal(plimp_nt_store_threads(&entry, &allocator, &all,
						&taken->record,
						&taken->threads),
			 PLIM_OK);
	taken->record.threads.items = taken->threads.items;
	taken->record.stamp.monotonic.ns = stamp_ns;
	taken->record.stamp.boottime.ns = stamp_ns;
	taken->record.stamp_ticks = START + stamp_ns / 100;
	assert_true(plimp_record_is_sound(&taken->record));
}

static void drop(struct taken *taken)
{
	free(taken->threads.items);
	nt_free(&taken->table);
}

static void check_known(const plim_process *record, int field, uint64_t value,
			int method)
{
	plim_count figure = plim_process_count(record, field);

	assert_int_equal(figure.state, PLIM_STATE_KNOWN);
	assert_true(figure.value == value);
	assert_int_equal(figure.method, method);
}

static void test_record(void **state)
{
	const struct nt_process one = {.pid = 4321,
				       .parent = 88,
				       .create_time = START,
				       .name = "worker.exe",
				       .threads = three,
				       .thread_count = 3,
				       .seed = 1000};
	const int table = PLIM_METHOD_PROCESS_TABLE;
	struct taken taken;
	plim_process *record = &taken.record;
	plim_count wakeups;
	plim_identity identity;
	plim_text text;

	(void)state;
	take(&taken, &one, SECOND);
	check_known(record, PLIM_FIELD_PID, 4321, table);
	check_known(record, PLIM_FIELD_PPID, 88, table);
	check_known(record, PLIM_FIELD_START_TICKS, START, table);
	check_known(record, PLIM_FIELD_START_UNIX_MS, UINT64_C(1796070977459),
		    table);
	check_known(record, PLIM_FIELD_CPU, 200700, table);
	check_known(record, PLIM_FIELD_CPU_USER, 100300, table);
	check_known(record, PLIM_FIELD_CPU_SYSTEM, 100400, table);
	check_known(record, PLIM_FIELD_RESIDENT, 1009, table);
	check_known(record, PLIM_FIELD_PEAK_RESIDENT, 1008, table);
	check_known(record, PLIM_FIELD_PRIVATE, 1001, table);
	check_known(record, PLIM_FIELD_COMMIT, 1010, table);
	check_known(record, PLIM_FIELD_FAULTS_MINOR, 1005, table);
	check_known(record, PLIM_FIELD_FAULTS_MAJOR, 1002, table);
	check_known(record, PLIM_FIELD_DESCRIPTORS, 1005, table);
	check_known(record, PLIM_FIELD_THREADS, 3, table);
	check_known(record, PLIM_FIELD_DISK_READ, 1014, PLIM_METHOD_ALL_IO);
	check_known(record, PLIM_FIELD_DISK_WRITE, 1015, PLIM_METHOD_ALL_IO);
	check_known(record, PLIM_FIELD_DISK_OPS, 2023, PLIM_METHOD_ALL_IO);
	check_known(record, PLIM_FIELD_IO_CALLS, 2023, PLIM_METHOD_ALL_IO);
	check_known(record, PLIM_FIELD_IDENTITY_RUNG, PLIM_RUNG_START, table);
	wakeups = plim_process_count(record, PLIM_FIELD_WAKEUPS);
	assert_int_equal(wakeups.value, 4079);
	assert_int_equal(wakeups.bound, PLIM_BOUND_AT_LEAST);
	assert_int_equal(wakeups.method, PLIM_METHOD_SWITCH_SUM);
	identity = plim_process_identity(record);
	assert_int_equal(identity.has, PLIM_IDENTITY_START);
	text = plim_process_text(record, PLIM_FIELD_IDENTITY);
	assert_true(text_is(text.bytes, "4321@t134405445774598520"));
	text = plim_process_text(record, PLIM_FIELD_NAME);
	assert_true(text_is(text.bytes, "worker.exe"));
	/* The oldest thread waits. */
	text = plim_process_text(record, PLIM_FIELD_STATE);
	assert_true(text_is(text.bytes, "S"));
	for (int field = 1; field <= PLIM_FIELD_LAST; field++)
		assert_int_not_equal(record->figures[field].state,
				     field == PLIM_FIELD_EXE
					 ? PLIM_STATE_KNOWN
					 : PLIM_STATE_UNREAD);
	/* In the order of their numbers. */
	assert_int_equal(taken.threads.count, 3);
	assert_int_equal(taken.threads.items[1].tid, 44);
	assert_int_equal(taken.threads.items[2].switches_in, 70);
	assert_int_equal(taken.threads.items[2].cpu_ns, 700);
	drop(&taken);
}

/* Each figure that Wine tells as zero, from bytes that are not. */
static void test_faked(void **state)
{
	const struct nt_process one = {.pid = 4321,
				       .create_time = START,
				       .name = "w",
				       .threads = three,
				       .thread_count = 3,
				       .seed = 1000};
	struct taken taken;

	(void)state;
	take(&taken, &one, SECOND);
	for (size_t i = 0; i < sizeof(faked_fields) / sizeof(faked_fields[0]);
	     i++) {
		plim_bytes name = {faked_fields[i], strlen(faked_fields[i])};
		const plim_field *field = plim_field_find(name);
		plim_count figure;

		assert_non_null(field);
		if (field->kind == PLIM_KIND_TEXT) {
			assert_int_equal(
			    plim_process_text(&taken.record, field->id).state,
			    PLIM_STATE_KNOWN);
			continue;
		}
		figure = plim_process_count(&taken.record, field->id);
		assert_int_equal(figure.state, PLIM_STATE_KNOWN);
		assert_true(figure.value > 0);
	}
	for (size_t i = 0; i < sizeof(faked_others) / sizeof(faked_others[0]);
	     i++) {
		plim_bytes name = {faked_others[i], strlen(faked_others[i])};

		assert_true(
		    plim_process_count(&taken.record, plim_field_find(name)->id)
			.value > 0);
	}
	drop(&taken);
}

/* A thread of many switches exits: the sum dips by what it had, the change is
 * what the others did, flagged as a lower bound, and no rate is negative. */
static void test_dip(void **state)
{
	static const struct nt_thread after[] = {
	    {.tid = 44, .create_time = START + 7, .switches = 29},
	    {.tid = 200, .create_time = START + 9, .switches = 75},
	    /* Born since; the one that exited had this number. */
	    {.tid = 36, .create_time = START + 2 * SECOND, .switches = 3},
	};
	struct nt_process process = {.pid = 4321,
				     .create_time = START,
				     .threads = three,
				     .thread_count = 3,
				     .seed = 7};
	struct taken first;
	struct taken last;
	plim_count before;
	plim_count now;
	plim_count change;
	plim_real rate;

	(void)state;
	take(&first, &process, UINT64_C(1000000000));
	process.threads = after;
	take(&last, &process, UINT64_C(3000000000));
	before = plim_process_count(&first.record, PLIM_FIELD_WAKEUPS);
	now = plim_process_count(&last.record, PLIM_FIELD_WAKEUPS);
	assert_int_equal(before.value, 4079);
	assert_int_equal(now.value, 107);
	/* The difference of the sums would say nothing. */
	assert_int_equal(plim_counter_change(before, now).state,
			 PLIM_STATE_UNLIKE);
	change = plim_process_change(&first.record, &last.record,
				     PLIM_FIELD_WAKEUPS);
	assert_int_equal(change.state, PLIM_STATE_KNOWN);
	assert_int_equal(change.value, 20 + 5 + 3);
	assert_int_equal(change.bound, PLIM_BOUND_AT_LEAST);
	assert_int_equal(change.method, PLIM_METHOD_SWITCH_SUM);
	rate =
	    plim_process_rate(&first.record, &last.record, PLIM_FIELD_WAKEUPS);
	assert_int_equal(rate.state, PLIM_STATE_KNOWN);
	assert_true(rate.value == 14.0);
	assert_int_equal(rate.bound, PLIM_BOUND_AT_LEAST);
	drop(&first);
	drop(&last);
}

/* Its 32 bits wrapped: the thread's counter went back, which is said. */
static void test_wrap(void **state)
{
	static const struct nt_thread high[] = {
	    {.tid = 36, .create_time = START, .switches = UINT32_MAX}};
	static const struct nt_thread low[] = {
	    {.tid = 36, .create_time = START, .switches = 2}};
	struct nt_process process = {.pid = 4321,
				     .create_time = START,
				     .threads = high,
				     .thread_count = 1};
	struct taken first;
	struct taken last;

	(void)state;
	take(&first, &process, UINT64_C(1000000000));
	process.threads = low;
	take(&last, &process, UINT64_C(3000000000));
	assert_int_equal(
	    plim_process_change(&first.record, &last.record, PLIM_FIELD_WAKEUPS)
		.state,
	    PLIM_STATE_RESET);
	assert_int_equal(
	    plim_process_rate(&first.record, &last.record, PLIM_FIELD_WAKEUPS)
		.state,
	    PLIM_STATE_RESET);
	drop(&first);
	drop(&last);
}

/* Windows never updates the parent that it recorded: that one may have ended,
 * and its pid have a new owner, who started after the child. */
static void test_parent_reused(void **state)
{
	struct nt_process child = {
	    .pid = 500, .parent = 88, .create_time = START + 5 * SECOND};
	struct nt_process parent = {
	    .pid = 88, .parent = 4, .create_time = START};
	struct taken a;
	struct taken b;

	(void)state;
	take(&a, &child, 0);
	take(&b, &parent, 0);
	assert_int_equal(plim_process_is_child_of(&a.record, &b.record), 1);
	assert_int_equal(plim_process_is_child_of(&b.record, &a.record), 0);
	drop(&b);
	/* At the same tick of the clock it may be. */
	parent.create_time = START + 5 * SECOND;
	take(&b, &parent, 0);
	assert_int_equal(plim_process_is_child_of(&a.record, &b.record), 1);
	drop(&b);
	parent.create_time = START + 5 * SECOND + 1;
	take(&b, &parent, 0);
	assert_int_equal(plim_process_is_child_of(&a.record, &b.record), 0);
	drop(&b);
	/* The child has the pid of its own parent. */
	child.parent = 500;
	drop(&a);
	take(&a, &child, 0);
	assert_int_equal(plim_process_is_child_of(&a.record, &a.record), 0);
	drop(&a);
}

/* Who has no date stands on nothing but a number. */
static void test_no_start(void **state)
{
	const struct nt_process process = {.pid = 4};
	struct taken taken;

	(void)state;
	take(&taken, &process, 0);
	assert_int_equal(
	    plim_process_count(&taken.record, PLIM_FIELD_START_TICKS).state,
	    PLIM_STATE_UNSUPPORTED);
	assert_int_equal(
	    plim_process_count(&taken.record, PLIM_FIELD_START_UNIX_MS).state,
	    PLIM_STATE_UNSUPPORTED);
	assert_int_equal(
	    plim_process_count(&taken.record, PLIM_FIELD_IDENTITY_RUNG).value,
	    PLIM_RUNG_NONE);
	assert_int_equal(
	    plim_process_text(&taken.record, PLIM_FIELD_NAME).state,
	    PLIM_STATE_UNSUPPORTED);
	assert_int_equal(
	    plim_process_text(&taken.record, PLIM_FIELD_STATE).state,
	    PLIM_STATE_UNSUPPORTED);
	drop(&taken);
}

/* A thread that the table gives no creation for has none of 1601. */
static void test_thread_without_start(void **state)
{
	static const plim_allocator allocator;
	static const struct nt_thread two[] = {
	    {.tid = 36, .create_time = 0, .state = 5, .wait_reason = 6},
	    {.tid = 40, .create_time = START, .state = 5, .wait_reason = 6},
	};
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	const struct nt_process process = {.pid = 4321,
					   .create_time = START,
					   .threads = two,
					   .thread_count = 2};
	struct plimp_nt_entry entry = {.layout = &plimp_nt_layout_64,
				       .methods = methods};
	struct plimp_thread_list threads = {NULL, 0, 0};
	plim_process record;
	struct nt_table table;
	size_t offset = 0;

	(void)state;
	memset(&record, 0, sizeof(record));
	nt_begin(&table, &plimp_nt_layout_64);
	nt_add(&table, &process);
	assert_int_equal(next(nt_bytes(&table), &plimp_nt_layout_64, &offset,
			      &entry.process),
			 1);
	assert_int_equal(
	    plimp_nt_store_threads(&entry, &allocator, &all, &record, &threads),
	    PLIM_OK);
	assert_int_equal(threads.count, 2);
	assert_int_equal(threads.items[0].has & PLIMP_THREAD_NO_START,
			 PLIMP_THREAD_NO_START);
	assert_int_equal(threads.items[1].has & PLIMP_THREAD_NO_START, 0);
	free(threads.items);
	nt_free(&table);
}

/* What a source lacks has the reason of its group; where all faults are fewer
 * than the hard ones among them, they have overflowed and say nothing. */
static void test_lacks(void **state)
{
	static const plim_allocator allocator;
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	const struct nt_process process = {.pid = 4321,
					   .create_time = START,
					   .threads = three,
					   .thread_count = 3,
					   .seed = 1000};
	struct plimp_nt_entry entry = {.layout = &plimp_nt_layout_64,
				       .methods = methods};
	struct plimp_thread_list threads = {NULL, 0, 0};
	plim_process record;
	struct nt_table table;
	size_t offset = 0;

	(void)state;
	memset(&record, 0, sizeof(record));
	nt_begin(&table, &plimp_nt_layout_64);
	nt_add(&table, &process);
	nt_put(table.bytes, plimp_nt_layout_64.hard_faults, 4, UINT32_MAX);
	assert_int_equal(next(nt_bytes(&table), &plimp_nt_layout_64, &offset,
			      &entry.process),
			 1);
	entry.lacks[PLIMP_NT_TABLE_SWITCHES] = PLIM_REASON_NEEDS_64_BIT;
	entry.lacks[PLIMP_NT_TABLE_PRIVATE] = PLIM_REASON_TABLE_LACKS;
	plimp_nt_store(&entry, &all, &record);
	assert_int_equal(
	    plimp_nt_store_threads(&entry, &allocator, &all, &record, &threads),
	    PLIM_OK);
	assert_int_equal(plim_process_count(&record, PLIM_FIELD_WAKEUPS).method,
			 PLIM_REASON_NEEDS_64_BIT);
	assert_int_equal(plim_process_count(&record, PLIM_FIELD_PRIVATE).method,
			 PLIM_REASON_TABLE_LACKS);
	assert_int_equal(
	    plim_process_count(&record, PLIM_FIELD_FAULTS_MINOR).state,
	    PLIM_STATE_UNSUPPORTED);
	assert_int_equal(
	    plim_process_count(&record, PLIM_FIELD_FAULTS_MINOR).method,
	    PLIM_REASON_COUNTER_WRAPPED);
	check_known(&record, PLIM_FIELD_FAULTS_MAJOR, UINT32_MAX,
		    PLIM_METHOD_PROCESS_TABLE);
	assert_int_equal(plim_process_count(&record, PLIM_FIELD_UID).method,
			 PLIM_REASON_HOST_NEVER);
	assert_int_equal(threads.items[0].has & PLIMP_THREAD_SWITCHES, 0);
	assert_int_equal(record.threads.no_switches.method,
			 PLIM_REASON_NEEDS_64_BIT);
	free(threads.items);
	/* Threads, and nothing of them: that is not none. */
	threads = (struct plimp_thread_list){NULL, 0, 0};
	entry.process.threads = (plim_bytes){NULL, 0};
	entry.lacks[PLIMP_NT_TABLE_SWITCHES] = PLIM_REASON_TABLE_LACKS;
	plimp_nt_store(&entry, &all, &record);
	assert_int_equal(
	    plimp_nt_store_threads(&entry, &allocator, &all, &record, &threads),
	    PLIM_OK);
	assert_int_equal(record.threads.known, 0);
	assert_int_equal(threads.count, 0);
	assert_int_equal(plim_process_count(&record, PLIM_FIELD_WAKEUPS).method,
			 PLIM_REASON_TABLE_LACKS);
	assert_int_equal(plim_process_text(&record, PLIM_FIELD_STATE).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_process_count(&record, PLIM_FIELD_THREADS).value,
			 3);
	nt_free(&table);
}

/* The same thread twice counts once; one without a number is no thread. */
static void test_threads_hostile(void **state)
{
	static const plim_allocator allocator;
	static const struct nt_thread twice[] = {
	    {.tid = 8, .create_time = START, .switches = 5},
	    {.tid = 8, .create_time = START, .switches = 5}};
	static const struct nt_thread none[] = {{.tid = 0}};
	static const struct nt_thread far_away[] = {{.tid = UINT64_C(1) << 40}};
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	struct nt_process process = {.pid = 7,
				     .create_time = START,
				     .threads = twice,
				     .thread_count = 2};
	struct taken taken;

	(void)state;
	take(&taken, &process, 0);
	assert_int_equal(taken.record.threads.count, 1);
	assert_int_equal(
	    plim_process_count(&taken.record, PLIM_FIELD_WAKEUPS).value, 5);
	drop(&taken);
	for (int i = 0; i < 2; i++) {
		struct plimp_nt_entry entry = {.layout = &plimp_nt_layout_64,
					       .methods = methods};
		struct plimp_thread_list threads = {NULL, 0, 0};
		plim_process record;
		struct nt_table table;
		size_t offset = 0;

		memset(&record, 0, sizeof(record));
		process.threads = i ? far_away : none;
		process.thread_count = 1;
		nt_begin(&table, &plimp_nt_layout_64);
		nt_add(&table, &process);
		assert_int_equal(next(nt_bytes(&table), &plimp_nt_layout_64,
				      &offset, &entry.process),
				 1);
		plimp_nt_store(&entry, &all, &record);
		assert_int_equal(plimp_nt_store_threads(&entry, &allocator,
							&all, &record,
							&threads),
				 PLIM_EMALFORMED);
		assert_int_equal(record.threads.known, 0);
		free(threads.items);
		nt_free(&table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_walk),
	    cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_end),
	    cmocka_unit_test(test_states),
	    cmocka_unit_test(test_record),
	    cmocka_unit_test(test_faked),
	    cmocka_unit_test(test_dip),
	    cmocka_unit_test(test_wrap),
	    cmocka_unit_test(test_parent_reused),
	    cmocka_unit_test(test_no_start),
	    cmocka_unit_test(test_thread_without_start),
	    cmocka_unit_test(test_lacks),
	    cmocka_unit_test(test_threads_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
