/*
 * cgroup.c - the two questions that control groups answer: how many CPUs this
 * process may use, and how many operations on block devices a process made.
 *
 * Operations are counted per cgroup. They are a process's own only while its
 * cgroup holds that process and nobody else, and never had a child group; so
 * the membership is read before and after the count.
 */
#include "host/linux/gnu.h"

#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Path of a group below a mount, and a file in it. */
#define CGROUP_PATH 4096

struct cgroup_search {
	const char *type;
	const char *controller; /* of v1; NULL for v2 */
	char *point;
	size_t size;
};

static int cgroup_on_mount(const struct plimp_mount *mount, void *user)
{
	struct cgroup_search *search = user;
	plim_bytes value;

	if (mount->type.size != strlen(search->type) ||
	    memcmp(mount->type.data, search->type, mount->type.size) != 0 ||
	    mount->point.size >= search->size ||
	    memchr(mount->point.data, '\\', mount->point.size) != NULL)
		return 0;
	if (search->controller != NULL &&
	    !plimp_decode_mount_option(mount->options, search->controller,
				       &value))
		return 0;
	memcpy(search->point, mount->point.data, mount->point.size);
	search->point[mount->point.size] = '\0';
	return 1;
}

static int cgroup_file(plim_host *host, const char *path, const char *file,
		       plim_bytes *text)
{
	int group = plimp_call_open(host, AT_FDCWD, path, O_PATH | O_DIRECTORY);
	int problem;

	if (group < 0)
		return errno;
	problem = plimp_read_file(host, group, file, text);
	plimp_call_close(host, group);
	return problem;
}

static int cgroup_has_word(plim_bytes list, const char *word)
{
	size_t size = strlen(word);
	size_t at;

	for (at = 0; at + size <= list.size; at++)
		if (memcmp(list.data + at, word, size) == 0 &&
		    (at == 0 || list.data[at - 1] == ' ') &&
		    (at + size == list.size || list.data[at + size] == ' ' ||
		     list.data[at + size] == '\n'))
			return 1;
	return 0;
}

/* Finds where cgroup2 is mounted and whether it counts I/O, once. */
static const char *cgroup_mount(plim_host *host)
{
	struct plimp_system *system = host->system;
	struct cgroup_search search = {"cgroup2", NULL, system->cgroup_mount,
				       sizeof system->cgroup_mount};
	plim_bytes text;

	if (!system->cgroup_asked) {
		system->cgroup_asked = 1;
		if (plimp_each_mount(host, cgroup_on_mount, &search) == 1 &&
		    cgroup_file(host, system->cgroup_mount,
				"cgroup.controllers", &text) == 0)
			system->cgroup_has_io = cgroup_has_word(text, "io");
		/* What was not looked at is looked at the next time. */
		if (system->starved != 0)
			system->cgroup_asked = 0;
	}
	return system->cgroup_mount[0] != '\0' ? system->cgroup_mount : NULL;
}

/* The group of a process below `mount`, as a path; 0 if it has none there.
 * A path that leaves our cgroup namespace ("/..") is not ours to read. */
static int cgroup_of(plim_host *host, int directory, const char *controller,
		     const char *mount, char path[CGROUP_PATH])
{
	plim_bytes text;
	plim_bytes group;
	size_t start = strlen(mount);

	if (plimp_read_file(host, directory, "cgroup", &text) != 0 ||
	    plimp_decode_cgroup(text, controller, &group) != 1 ||
	    group.size == 0 || group.data[0] != '/' ||
	    start + group.size + 32 > CGROUP_PATH ||
	    memchr(group.data, '\0', group.size) != NULL ||
	    (group.size >= 3 && memcmp(group.data, "/..", 3) == 0))
		return 0;
	memcpy(path, mount, start);
	memcpy(path + start, group.data, group.size);
	path[start + group.size] = '\0';
	return 1;
}

/* 1 if the group holds this process alone and has no groups below it. */
static int cgroup_is_own(plim_host *host, const char *path, int32_t pid)
{
	plim_bytes text;
	uint64_t number;
	const char *line;

	if (cgroup_file(host, path, "cgroup.procs", &text) != 0 ||
	    plimp_decode_number(text, &number) != PLIM_OK ||
	    number != (uint64_t)pid)
		return 0;
	if (cgroup_file(host, path, "cgroup.stat", &text) != 0)
		return 0;
	line = "nr_descendants 0\n";
	return text.size >= strlen(line) &&
	       memcmp(text.data, line, strlen(line)) == 0;
}

static plim_count cgroup_operations(plim_host *host, int directory, int32_t pid)
{
	const char *mount;
	char path[CGROUP_PATH];
	plim_bytes text;
	uint64_t operations;
	int problem;

	if (!host->system->live)
		return plim_count_missing(PLIM_REASON_OTHER_ROOT, 0);
	mount = cgroup_mount(host);
	if (mount == NULL || !host->system->cgroup_has_io ||
	    !cgroup_of(host, directory, NULL, mount, path))
		return plim_count_missing(PLIM_REASON_NO_IO_CONTROLLER, 0);
	problem = cgroup_file(host, path, "io.stat", &text);
	if (problem == ENOENT)
		return plim_count_missing(PLIM_REASON_NO_IO_CONTROLLER, 0);
	if (!cgroup_is_own(host, path, pid))
		return plim_count_missing(PLIM_REASON_SHARED_CGROUP, 0);
	problem = cgroup_file(host, path, "io.stat", &text);
	if (problem != 0)
		return plimp_missing_file(problem);
	if (plimp_decode_io_stat(text, &operations) != PLIM_OK)
		return plim_count_missing(PLIM_REASON_BAD_TEXT, 0);
	if (!cgroup_is_own(host, path, pid))
		return plim_count_missing(PLIM_REASON_SHARED_CGROUP, 0);
	return plimp_known(operations, PLIM_METHOD_CGROUP_IO_STAT);
}

plim_count plimp_cgroup_operations(plim_host *host, int directory, int32_t pid)
{
	plim_count figure;

	host->system->starved = 0;
	figure = cgroup_operations(host, directory, pid);
	if (figure.state != PLIM_STATE_KNOWN && host->system->starved != 0)
		return plimp_missing_file(host->system->starved);
	return figure;
}

static void cgroup_least(plim_real *least, uint64_t quota, uint64_t period)
{
	double cpus = period > 0 ? (double)quota / (double)period : 0;

	if (period > 0 &&
	    (least->state != PLIM_STATE_KNOWN || cpus < least->value))
		*least = plim_real_known(cpus, PLIM_METHOD_SYSTEM);
}

/* Every group from ours up to the mount may set a limit. */
static void cgroup_walk_v2(plim_host *host, plim_real *least)
{
	const char *mount = cgroup_mount(host);
	char path[CGROUP_PATH];
	plim_bytes text;
	uint64_t quota;
	uint64_t period;
	size_t top;

	if (mount == NULL ||
	    !cgroup_of(host, host->system->self_directory, NULL, mount, path))
		return;
	top = strlen(mount);
	for (;;) {
		char *slash = strrchr(path, '/');

		if (cgroup_file(host, path, "cpu.max", &text) == 0 &&
		    plimp_decode_cpu_max(text, &quota, &period) == 1)
			cgroup_least(least, quota, period);
		if (slash == NULL || (size_t)(slash - path) < top)
			return;
		*slash = '\0';
	}
}

static int cgroup_number(plim_host *host, const char *path, const char *file,
			 uint64_t *number)
{
	plim_bytes text;

	return cgroup_file(host, path, file, &text) == 0 &&
	       plimp_decode_number(text, number) == PLIM_OK;
}

/* cgroup v1: -1, which is no number, means no limit. */
static void cgroup_ask_v1(plim_host *host, plim_real *least)
{
	char mount[256] = "";
	struct cgroup_search search = {"cgroup", "cpu", mount, sizeof mount};
	char path[CGROUP_PATH];
	uint64_t quota;
	uint64_t period;

	plimp_each_mount(host, cgroup_on_mount, &search);
	if (mount[0] != '\0' &&
	    cgroup_of(host, host->system->self_directory, "cpu", mount, path) &&
	    cgroup_number(host, path, "cpu.cfs_quota_us", &quota) &&
	    cgroup_number(host, path, "cpu.cfs_period_us", &period))
		cgroup_least(least, quota, period);
}

plim_real plimp_cgroup_cpus(plim_host *host)
{
	plim_real least = plim_real_missing(PLIM_REASON_NO_LIMIT, 0);

	host->system->starved = 0;
	if (host->system->live && host->system->self_directory >= 0) {
		cgroup_walk_v2(host, &least);
		cgroup_ask_v1(host, &least);
	}
	if (host->system->starved != 0)
		return plim_real_missing(PLIM_REASON_TOO_MANY_DESCRIPTORS,
					 host->system->starved);
	return least;
}

/* Lines "cpuN ..." of stat. */
static int cgroup_count_cpus(plim_bytes lines, void *user)
{
	uint64_t *count = user;
	size_t at;

	for (at = 0; at + 4 < lines.size; at++)
		if ((at == 0 || lines.data[at - 1] == '\n') &&
		    memcmp(lines.data + at, "cpu", 3) == 0 &&
		    lines.data[at + 3] >= '0' && lines.data[at + 3] <= '9')
			++*count;
	return 0;
}

/* "/sys" is the live kernel's; a recording has the lines of its stat. */
plim_count plimp_system_cpus(plim_host *host)
{
	plim_bytes text;
	uint64_t count = 0;

	host->system->starved = 0;
	if (host->system->live &&
	    plimp_read_file(host, AT_FDCWD, "/sys/devices/system/cpu/online",
			    &text) == 0 &&
	    plimp_decode_cpu_list(text, &count) == PLIM_OK && count > 0)
		return plimp_known(count, PLIM_METHOD_SYSTEM);
	count = 0;
	if (plimp_each_block(host, "stat", cgroup_count_cpus, &count) != 0)
		return host->system->starved != 0
			   ? plimp_missing_file(host->system->starved)
		       : host->system->live
			   ? host->facts[PLIM_HOST_AFFINITY]
			   : plim_count_missing(PLIM_REASON_NO_LINE, 0);
	return count > 0 ? plimp_known(count, PLIM_METHOD_SYSTEM)
			 : plim_count_missing(PLIM_REASON_NO_LINE, 0);
}

plim_real plimp_system_usable_cpus(plim_host *host)
{
	plim_real usable = plim_real_of(plimp_system_cpus(host));
	plim_real affinity = plim_real_of(host->facts[PLIM_HOST_AFFINITY]);
	plim_real limit = plimp_cgroup_cpus(host);

	if (!host->system->live)
		return plim_real_missing(PLIM_REASON_OTHER_ROOT, 0);
	if (limit.method == PLIM_REASON_TOO_MANY_DESCRIPTORS &&
	    limit.state != PLIM_STATE_KNOWN)
		return limit;
	if (affinity.state == PLIM_STATE_KNOWN &&
	    (usable.state != PLIM_STATE_KNOWN || affinity.value < usable.value))
		usable = affinity;
	if (limit.state == PLIM_STATE_KNOWN &&
	    (usable.state != PLIM_STATE_KNOWN || limit.value < usable.value))
		usable = limit;
	return usable;
}
