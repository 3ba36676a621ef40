/*
 * test_faked.c - what Wine tells as zero is on the list (faked.h), and nothing
 * is on it that Wine tells: of a process that has done all of it.
 */
#include "child.h"
#include "faked.h"

#include <plimsoll.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "skip.h"

#include <stdio.h>
#include <string.h>

/* Switches, faults, I/O, handles. */
static void do_all(void)
{
	char *memory = VirtualAlloc(NULL, 1 << 22, MEM_COMMIT, PAGE_READWRITE);
	HANDLE read, write;
	char bytes[512];
	DWORD done;

	assert_non_null(memory);
	memset(memory, 1, 1 << 22);
	assert_true(CreatePipe(&read, &write, NULL, 0));
	memset(bytes, 2, sizeof bytes);
	assert_true(WriteFile(write, bytes, sizeof bytes, &done, NULL));
	assert_true(ReadFile(read, bytes, sizeof bytes, &done, NULL));
	CloseHandle(read);
	CloseHandle(write);
	for (int i = 0; i < 20; i++)
		Sleep(1);
}

static int is_listed(const char *name)
{
	for (size_t i = 0; i < sizeof faked_fields / sizeof faked_fields[0];
	     i++)
		if (strcmp(faked_fields[i], name) == 0)
			return 1;
	return 0;
}

static void test_list(void **state)
{
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	const plim_snapshot_options options = {.size = sizeof options,
					       .fields = &all};
	const plim_process *self;
	plim_snapshot *snapshot;
	plim_host *host;

	(void)state;
	if (!child_is_wine())
		SKIP_BECAUSE("this is Windows: nothing is faked");
	do_all();
	assert_int_equal(plim_host_open(&host, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_snapshot_new(&snapshot, host, NULL), PLIM_OK);
	assert_int_equal(plim_snapshot_take(snapshot, &options, NULL), PLIM_OK);
	self = plim_snapshot_find(snapshot, (int32_t)GetCurrentProcessId());
	assert_non_null(self);
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);
		const int listed = is_listed(field->name);
		plim_count figure;

		if (field->kind == PLIM_KIND_TEXT) {
			assert_int_equal(
			    listed,
			    field->id == PLIM_FIELD_STATE &&
				plim_process_text(self, field->id).state !=
				    PLIM_STATE_KNOWN);
			continue;
		}
		figure = plim_process_count(self, field->id);
		/* The parent may be none of Wine's, CPU time is in ticks. */
		if (figure.state != PLIM_STATE_KNOWN ||
		    field->id == PLIM_FIELD_PPID ||
		    field->id == PLIM_FIELD_CPU ||
		    field->id == PLIM_FIELD_CPU_USER ||
		    field->id == PLIM_FIELD_CPU_SYSTEM) {
			assert_int_equal(listed, 0);
			continue;
		}
		if (listed != (figure.value == 0))
			printf("%s is %llu\n", field->name,
			       (unsigned long long)figure.value);
		assert_int_equal(listed, figure.value == 0);
	}
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_list),
	};

	child_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
