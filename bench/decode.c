/*
 * decode.c - what one decode costs, in ns.
 *
 *   decode [FOLDER]
 *
 * FOLDER is tests/decode/fixtures. Each decoder runs over a recorded text for
 * about 2 ms, 200 times, and the least mean is printed: what disturbs a run
 * only ever adds. These are costs of this machine; compare them with the
 * kernel's own (a read of /proc/PID/stat is some 5 us), not with other
 * machines.
 */
#define _POSIX_C_SOURCE 200809L

#include "host/linux/decode.h"

#include <stdio.h>
#include <time.h>

static char text_data[65536];
static plim_bytes text;
/* What the decoders found ends here, so that none of it can be left out. */
static volatile uint64_t sink;

static void run_stat(void)
{
	struct plimp_stat stat;
	sink = plimp_decode_stat(text, &stat) ? 0 : stat.start_ticks;
}

static void run_statm(void)
{
	struct plimp_statm statm;
	sink = plimp_decode_statm(text, &statm) ? 0 : statm.resident_pages;
}

static void run_status(void)
{
	struct plimp_status status;
	sink = plimp_decode_status(text, &status) ? 0 : status.involuntary;
}

static void run_io(void)
{
	struct plimp_io io;
	sink = plimp_decode_io(text, &io) ? 0 : io.read_chars;
}

/* Per entry, not per buffer. */
static void run_dents(void)
{
	static size_t offset;
	int32_t number;

	if (plimp_decode_dents(text, &offset, &number) != 1)
		offset = 0;
	else
		sink = (uint64_t)number;
}

/* Per line. */
static void run_mount(void)
{
	static size_t offset;
	struct plimp_mount mount;

	if (plimp_decode_mount(text, &offset, &mount) != 1)
		offset = 0;
	else
		sink = mount.point.size;
}

static void run_meminfo(void)
{
	uint64_t bytes;
	sink = plimp_decode_meminfo(text, "SwapTotal", &bytes) ? 0 : bytes;
}

static void run_cgroup(void)
{
	plim_bytes path;
	sink = plimp_decode_cgroup(text, NULL, &path) < 1 ? 0 : path.size;
}

/* clang-format off */
static const struct subject {
	const char *name;
	const char *file;
	void (*run)(void);
} subjects[] = {
	{"stat", "linux-6.18-stat/worker", run_stat},
	{"stat, kernel thread", "linux-6.18-stat/kthreadd", run_stat},
	{"statm", "linux-6.18-statm/worker", run_statm},
	{"status", "linux-6.18-status/worker", run_status},
	{"status, kernel thread", "linux-6.18-status/kthreadd", run_status},
	{"io", "linux-6.18-io/worker", run_io},
	{"dents, an entry", "linux-6.18-dents/proc", run_dents},
	{"mount, a line", "linux-6.18-mount/host", run_mount},
	{"meminfo", "linux-6.18-meminfo/host", run_meminfo},
	{"cgroup", "linux-6.18-cgroup/hybrid", run_cgroup},
};
/* clang-format on */

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int load(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "rb");
	if (!file) {
		perror(path);
		return 0;
	}
	text.data = text_data;
	text.size = fread(text_data, 1, sizeof(text_data), file);
	fclose(file);
	return 1;
}

/* The mean of one run of about 2 ms. */
static double mean_ns(void (*run)(void))
{
	double start = now_ns(), end;
	long count = 0;

	do {
		for (int i = 0; i < 200; i++)
			run();
		count += 200;
		end = now_ns();
	} while (end - start < 2e6);
	return (end - start) / (double)count;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "tests/decode/fixtures";

	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		double least = 0;
		if (!load(folder, subjects[i].file))
			return 1;
		for (int round = 0; round < 200; round++) {
			double mean = mean_ns(subjects[i].run);
			if (!round || mean < least)
				least = mean;
		}
		printf("%-24s %6zu bytes %8.1f ns\n", subjects[i].name,
		       text.size, least);
	}
	return 0;
}
