/*
 * fuzz_filter.c - any bytes as a filter: it compiles or says where it does
 * not, and what compiles judges any process with one of three truths.
 */
#include <plimsoll.h>

#include "core/filter_program.h"
#include "core/record.h"

#include <stdlib.h>
#include <string.h>

/* A machine with one user, and a data base that cannot always be asked. */
static int find_user(const char *name, uint32_t *uid)
{
	if (strcmp(name, "broken") == 0)
		return 5;
	if (strcmp(name, "root") != 0)
		return -1;
	*uid = 0;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A broken promise ends the run, whether assertions are built in or not. */
static void require(int holds)
{
	if (!holds)
		abort();
}

static void fill(plim_process *record, uint64_t round)
{
	static const char name[] = "a*b\\\n\"\xff?";
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_bytes bytes = {name, sizeof(name) - 1};
	plim_identity identity = {0};

	identity.pid = 42;
	identity.has = PLIM_IDENTITY_START;
	plimp_record_clear(record, &all);
	plimp_record_identity(record, &identity);
	plimp_record_name(record, bytes);
	plimp_record_set(
	    record, PLIM_FIELD_CPU,
	    plim_count_known(round * 1000000000, PLIM_METHOD_STAT_TICKS));
	plimp_record_set(record, PLIM_FIELD_WAKEUPS,
			 plim_count_bounded(round, PLIM_METHOD_THREAD_SUM,
					    PLIM_BOUND_AT_LEAST));
	plimp_record_set(record, PLIM_FIELD_RESIDENT,
			 plim_count_bounded(UINT64_MAX, PLIM_METHOD_STATM,
					    PLIM_BOUND_AT_MOST));
	plimp_record_set(
	    record, PLIM_FIELD_NICE,
	    plim_count_known((uint64_t)(int64_t)-5, PLIM_METHOD_STAT));
	record->texts.data = "/a.slice/\xff b.service";
	record->texts.size = 21;
	plimp_record_text(record, PLIMP_TEXT_CGROUP, 0, 21,
			  PLIM_METHOD_CGROUP_V2);
	plimp_record_text(record, PLIMP_TEXT_UNIT, 9, 12,
			  PLIM_METHOD_CGROUP_V2);
	record->stamp.monotonic.ns = round * 2000000000;
	record->stamp.boottime.ns = round * 2000000000;
}

static void judge(const plim_filter *filter)
{
	plim_process earlier = {0}, later = {0};
	int alone, paired;

	fill(&earlier, 1);
	fill(&later, 2);
	alone = plim_filter_match(filter, &later, NULL);
	paired = plim_filter_match(filter, &later, &earlier);
	require(alone >= PLIM_FALSE && alone <= PLIM_UNKNOWN);
	require(paired >= PLIM_FALSE && paired <= PLIM_UNKNOWN);
	require(plim_filter_needs_rates(filter) || alone == paired);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	plim_filter *filter = NULL;
	plim_error error = {0};
	int code;

	if (text == NULL)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	code = plimp_filter_compile(&filter, text, NULL, find_user, &error);
	if (code == PLIM_OK) {
		judge(filter);
	} else {
		require(code == PLIM_ESYNTAX || code == PLIM_ENAME ||
			code == PLIM_ELIMIT || code == PLIM_ESYSTEM);
		require(filter == NULL && error.code == code);
		require(error.position >= 0 &&
			(size_t)error.position <= strlen(text));
	}
	plim_filter_free(filter);
	free(text);
	return 0;
}
