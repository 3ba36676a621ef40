/*
 * common.c - the steps that the tests of processes share (common.h).
 */
#include "common.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

plim_host *open_root(const char *proc_root, uint32_t flags)
{
	plim_host_options options = {
	    .size = sizeof(options),
	    .proc_root = proc_root,
	    .flags = flags,
	    /* What a recording holds is read by name, once. */
	    .command_line_ms = proc_root != NULL ? 2000 : 0,
	};
	plim_host *host = NULL;
	plim_error error = {0};

	if (plim_host_open(&host, &options, &error) != PLIM_OK)
		fail_msg("plim_host_open: %s", plim_error_word(error.code));
	return host;
}

plim_host *open_host(uint32_t flags)
{
	return open_root(NULL, flags);
}

plim_usage *new_usage(plim_host *host)
{
	plim_usage *usage = NULL;

	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	return usage;
}

plim_snapshot *new_snapshot(plim_host *host)
{
	plim_snapshot *snapshot = NULL;

	assert_int_equal(plim_snapshot_new(&snapshot, host, NULL), PLIM_OK);
	return snapshot;
}

plim_target *open_target(plim_host *host, int32_t pid)
{
	plim_target *target = NULL;
	plim_error error = {0};

	if (plim_target_open(&target, host, pid, &error) != PLIM_OK)
		fail_msg("plim_target_open(%d): %s", (int)pid,
			 plim_error_word(error.code));
	return target;
}

const plim_process *measure(plim_usage *usage, plim_target *target)
{
	plim_error error = {0};

	if (plim_usage_refresh(usage, target, NULL, &error) != PLIM_OK)
		fail_msg("plim_usage_refresh: %s", plim_error_word(error.code));
	return plim_usage_process(usage);
}

const plim_process *measure_self(plim_usage *usage)
{
	assert_int_equal(plim_usage_refresh_self(usage, NULL, NULL), PLIM_OK);
	return plim_usage_process(usage);
}

void take(plim_snapshot *snapshot)
{
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .fields = &all,
	};
	plim_error error = {0};

	if (plim_snapshot_take(snapshot, &options, &error) != PLIM_OK)
		fail_msg("plim_snapshot_take: %s", plim_error_word(error.code));
}

uint64_t known(const plim_process *process, int field)
{
	plim_count count = plim_process_count(process, field);

	if (count.state != PLIM_STATE_KNOWN)
		fail_msg("%s is not known: state %d, reason %s, errno %d",
			 plim_field_get(field)->name, count.state,
			 plim_reason_word(count.method), count.code);
	return count.value;
}

void expect_state(const plim_process *process, int field, int state)
{
	plim_count count = plim_process_count(process, field);

	if (count.state != state)
		fail_msg("%s: state %d, expected %d (method or reason %d)",
			 plim_field_get(field)->name, count.state, state,
			 count.method);
	if (state == PLIM_STATE_KNOWN)
		return;
	assert_int_equal(count.value, 0);
	assert_int_equal(plim_reason_state(count.method), state);
}

void expect_method(const plim_process *process, int field, int method)
{
	plim_count count = plim_process_count(process, field);

	if (count.state != PLIM_STATE_KNOWN || count.method != method)
		fail_msg("%s: state %d, method %d, expected %s",
			 plim_field_get(field)->name, count.state, count.method,
			 plim_method_word(method));
}

void expect_text(plim_text text, const void *bytes, size_t size)
{
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_int_equal(text.bytes.size, size);
	if (size != 0)
		assert_memory_equal(text.bytes.data, bytes, size);
}

void expect_fate(plim_target *target, int fate, int changes, int zombie)
{
	plim_check check = {0};

	assert_int_equal(plim_target_check(target, &check, NULL), PLIM_OK);
	assert_int_equal(check.fate, fate);
	assert_int_equal(check.changes, changes);
	assert_int_equal(check.zombie, zombie);
}

void expect_near(uint64_t got, uint64_t truth, unsigned per_cent,
		 uint64_t least)
{
	uint64_t off = got > truth ? got - truth : truth - got;
	uint64_t most = truth / 100 * per_cent;

	if (most < least)
		most = least;
	if (off > most)
		fail_msg("%llu is not near %llu (within %llu)",
			 (unsigned long long)got, (unsigned long long)truth,
			 (unsigned long long)most);
}

uint64_t proc_number(int32_t pid, const char *file, const char *key)
{
	static char text[16384];
	char path[64];
	char mark[64];
	const char *at;
	ssize_t got;
	int number;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	number = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(number >= 0);
	text[0] = '\n';
	got = read(number, text + 1, sizeof(text) - 2);
	close(number);
	assert_true(got > 0);
	text[got + 1] = '\0';
	snprintf(mark, sizeof(mark), "\n%s:", key);
	at = strstr(text, mark);
	assert_non_null(at);
	return strtoull(at + strlen(mark), NULL, 10);
}

unsigned kernel_version(void)
{
	struct utsname name;
	unsigned major = 0;
	unsigned minor = 0;

	assert_int_equal(uname(&name), 0);
	assert_int_equal(sscanf(name.release, "%u.%u", &major, &minor), 2);
	return major * 1000 + minor;
}
