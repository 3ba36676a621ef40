/*
 * scale.c - what the tests with very many processes share (scale.h).
 *
 * The files of a process are read with plain calls and taken apart by
 * strings, slowly and without a line of the library, so that the two can
 * disagree.
 */
#include "scale.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Left free for the rest of the machine. */
#define SCALE_SPARE 1500

/* The whole of a small file as text; 0 if it cannot be read. */
static size_t scale_text(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (file < 0)
		return 0;
	got = read(file, text, size - 1);
	close(file);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

/* A number, or `otherwise` where there is none ("max"). */
static uint64_t scale_number(const char *path, uint64_t otherwise)
{
	char text[64];
	char *end;
	uint64_t value;

	if (scale_text(path, text, sizeof(text)) == 0)
		return otherwise;
	value = strtoull(text, &end, 10);
	return end > text ? value : otherwise;
}

/* All tasks of the machine: the second number of loadavg's "RUNNING/ALL". */
static uint64_t scale_tasks(void)
{
	char text[128] = "";
	const char *slash;

	scale_text("/proc/loadavg", text, sizeof(text));
	slash = strchr(text, '/');
	return slash != NULL ? strtoull(slash + 1, NULL, 10) : 0;
}

static void scale_limit(uint64_t *room, const char **limit, const char *name,
			uint64_t most, uint64_t used)
{
	uint64_t left =
	    most > used + SCALE_SPARE ? most - used - SCALE_SPARE : 0;

	if (left >= *room)
		return;
	*room = left;
	*limit = name;
}

/* The pids controller of each cgroup on the way up, where it is mounted as
 * it is by default. Version 2 has no controller's name in its line. */
static void scale_cgroups(uint64_t *room, const char **limit)
{
	char text[4096] = "";
	char *line;
	char *next;

	scale_text("/proc/self/cgroup", text, sizeof(text));
	for (line = text; line != NULL && *line != '\0'; line = next) {
		char folder[512];
		char path[600];
		const char *group = strchr(line, ':');

		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (group == NULL)
			continue;
		if (strncmp(group, ":pids:", 6) == 0)
			snprintf(folder, sizeof(folder),
				 "/sys/fs/cgroup/pids%s", group + 6);
		else if (strncmp(group, "::", 2) == 0)
			snprintf(folder, sizeof(folder), "/sys/fs/cgroup%s",
				 group + 2);
		else
			continue;
		while (strlen(folder) > strlen("/sys/fs/cgroup")) {
			uint64_t most;

			snprintf(path, sizeof(path), "%s/pids.max", folder);
			most = scale_number(path, UINT64_MAX);
			snprintf(path, sizeof(path), "%s/pids.current", folder);
			scale_limit(room, limit, "pids.max of the cgroup", most,
				    scale_number(path, 0));
			*strrchr(folder, '/') = '\0';
		}
	}
}

/* MemAvailable in KiB. */
static uint64_t scale_memory(void)
{
	static char text[8192];
	const char *at;

	scale_text("/proc/meminfo", text, sizeof(text));
	at = strstr(text, "MemAvailable:");
	return at != NULL ? strtoull(at + 13, NULL, 10) : 0;
}

unsigned scale_room(const char **limit)
{
	const char *ignored;
	uint64_t room = UINT32_MAX;
	uint64_t tasks = scale_tasks();
	struct rlimit own;

	if (limit == NULL)
		limit = &ignored;
	scale_limit(&room, limit, "kernel.pid_max",
		    scale_number("/proc/sys/kernel/pid_max", 32768), tasks);
	scale_limit(&room, limit, "kernel.threads-max",
		    scale_number("/proc/sys/kernel/threads-max", UINT32_MAX),
		    tasks);
	/* It counts the tasks of the user; all of them are no fewer. */
	if (getrlimit(RLIMIT_NPROC, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
		scale_limit(&room, limit, "RLIMIT_NPROC", own.rlim_cur, tasks);
	/* Kernel stack, tables and own pages of one of them: about 200 KiB. */
	scale_limit(&room, limit, "memory", scale_memory() / 256, 0);
	scale_cgroups(&room, limit);
	return (unsigned)room;
}

unsigned scale_fit(const char *what, unsigned wanted, unsigned least)
{
	static char reason[128];
	const char *limit = "";
	unsigned room = scale_room(&limit);

	if (room >= wanted)
		return wanted;
	if (room < least) {
		snprintf(reason, sizeof(reason),
			 "%s does not allow as many %s as this test takes",
			 limit, what);
		SKIP_BECAUSE(reason);
	}
	printf("%u %s instead of %u: %s\n", room, what, wanted, limit);
	return room;
}

void crowd_start(struct crowd *crowd, unsigned count, const char *more)
{
	char number[16];
	char table[16];
	const char *const argv[] = {"crowd", number, table, more, NULL};

	memset(crowd, 0, sizeof(*crowd));
	crowd->count = count;
	/* No close-on-exec: the workload writes into it. */
	crowd->table = memfd_create("crowd", 0);
	assert_true(crowd->table >= 0);
	snprintf(number, sizeof(number), "%u", count);
	snprintf(table, sizeof(table), "%d", crowd->table);
	spawn_start(&crowd->spawn, argv);
	crowd->members = mmap(NULL, count * sizeof(*crowd->members), PROT_READ,
			      MAP_SHARED, crowd->table, 0);
	assert_ptr_not_equal(crowd->members, MAP_FAILED);
}

void crowd_end(struct crowd *crowd)
{
	if (crowd->spawn.pid == 0)
		return;
	spawn_ask(&crowd->spawn, "end");
	spawn_finish(&crowd->spawn);
	munmap((void *)(uintptr_t)crowd->members,
	       crowd->count * sizeof(*crowd->members));
	close(crowd->table);
	memset(crowd, 0, sizeof(*crowd));
}

static void truth_text(int32_t pid, const char *file, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	if (scale_text(path, text, size) == 0)
		fail_msg("%s cannot be read", path);
}

static uint64_t truth_line(const char *text, const char *key)
{
	char mark[64];
	const char *at;

	snprintf(mark, sizeof(mark), "\n%s:", key);
	at = strstr(text, mark);
	if (at == NULL)
		fail_msg("no line %s", key);
	return strtoull(at + strlen(mark), NULL, 10);
}

/* The fields behind the name are told apart by blanks. */
static void truth_stat(int32_t pid, struct truth *truth)
{
	char text[2048];
	char *open;
	char *close;
	char *at;
	uint64_t fields[53] = {0};

	truth_text(pid, "stat", text, sizeof(text));
	open = strchr(text, '(');
	close = strrchr(text, ')');
	assert_true(open != NULL && close != NULL && close > open);
	*close = '\0';
	snprintf(truth->name, sizeof(truth->name), "%s", open + 1);
	at = close + 4; /* behind the state */
	for (int field = 4; field <= 52 && *at != '\0'; field++) {
		fields[field] = strtoull(at, &at, 10);
		at += *at == ' ';
	}
	truth->ppid = fields[4];
	truth->faults_minor = fields[10];
	truth->threads = fields[20];
	truth->start_ticks = fields[22];
}

void truth_read(int32_t pid, struct truth *truth)
{
	char text[8192] = "\n";

	memset(truth, 0, sizeof(*truth));
	truth_stat(pid, truth);
	truth_text(pid, "schedstat", text, sizeof(text));
	truth->cpu_ns = strtoull(text, NULL, 10);
	truth_text(pid, "status", text, sizeof(text));
	truth->uid =
	    strtoull(strchr(strstr(text, "\nUid:") + 6, '\t'), NULL, 10);
	truth->resident_kib = truth_line(text, "VmRSS");
	truth->anonymous_kib = truth_line(text, "RssAnon");
	truth->peak_kib = truth_line(text, "VmHWM");
	truth->wakeups = truth_line(text, "voluntary_ctxt_switches");
	truth->involuntary = truth_line(text, "nonvoluntary_ctxt_switches");
	truth_text(pid, "io", text, sizeof(text));
	truth->io_calls = truth_line(text, "syscr") + truth_line(text, "syscw");
	truth->disk_write = truth_line(text, "write_bytes");
}

void truth_expect(const plim_process *record, const struct truth *truth)
{
	const struct {
		int field;
		uint64_t value;
	} rows[] = {
	    {PLIM_FIELD_PPID, truth->ppid},
	    {PLIM_FIELD_UID, truth->uid},
	    {PLIM_FIELD_START_TICKS, truth->start_ticks},
	    {PLIM_FIELD_THREADS, truth->threads},
	    {PLIM_FIELD_FAULTS_MINOR, truth->faults_minor},
	    {PLIM_FIELD_CPU, truth->cpu_ns},
	    {PLIM_FIELD_RESIDENT, truth->resident_kib << 10},
	    {PLIM_FIELD_ANONYMOUS, truth->anonymous_kib << 10},
	    {PLIM_FIELD_PEAK_RESIDENT, truth->peak_kib << 10},
	    {PLIM_FIELD_WAKEUPS, truth->wakeups},
	    {PLIM_FIELD_INVOLUNTARY, truth->involuntary},
	    {PLIM_FIELD_IO_CALLS, truth->io_calls},
	    {PLIM_FIELD_DISK_WRITE, truth->disk_write},
	};

	expect_text(plim_process_text(record, PLIM_FIELD_NAME), truth->name,
		    strlen(truth->name));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = known(record, rows[i].field);

		if (value != rows[i].value)
			fail_msg("%s, pid %d: %s is %" PRIu64 ", not %" PRIu64,
				 truth->name, (int)plim_process_pid(record),
				 plim_field_get(rows[i].field)->name, value,
				 rows[i].value);
	}
}

void scale_expect_order(const plim_snapshot *snapshot)
{
	size_t count = plim_snapshot_size(snapshot);
	plim_cost cost = plim_snapshot_cost(snapshot);
	int32_t before = 0;

	for (size_t i = 0; i < count; i++) {
		int32_t pid = plim_process_pid(plim_snapshot_at(snapshot, i));

		if (pid <= before)
			fail_msg("pid %d after pid %d", (int)pid, (int)before);
		before = pid;
	}
	assert_int_equal(cost.read, count);
	assert_int_equal(cost.present, cost.read + cost.vanished);
}

int scale_take(plim_snapshot *snapshot, const plim_snapshot *previous,
	       plim_error *error)
{
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .previous = previous,
	};

	return plim_snapshot_take(snapshot, &options, error);
}
