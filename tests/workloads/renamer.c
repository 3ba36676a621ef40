/*
 * renamer.c - a process that calls itself whatever bytes it is told.
 *
 * `name HEX` sets the name (at most 15 bytes, none of them 0) and answers. The
 * kernel takes any byte, and /proc shows most of them raw. `busy MS` takes so
 * much CPU time before it answers.
 */
#include "workload.h"

#include <string.h>
#include <sys/prctl.h>

static unsigned renamer_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return (unsigned)(digit - '0');
	if (digit >= 'a' && digit <= 'f')
		return (unsigned)(digit - 'a' + 10);
	return 0;
}

static void renamer_busy(uint64_t ms)
{
	uint64_t until = workload_cpu_ns() + ms * 1000000u;

	while (workload_cpu_ns() < until)
		for (volatile int i = 0; i < 1000; i++)
			;
}

int main(void)
{
	char line[64];
	uint64_t number;

	workload_begin(120);
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (strncmp(line, "name ", 5) == 0) {
			char name[16] = {0};
			const char *hex = line + 5;

			for (size_t i = 0; i < 15 && hex[2 * i] != '\0' &&
					   hex[2 * i + 1] != '\0';
			     i++)
				name[i] =
				    (char)(renamer_digit(hex[2 * i]) * 16 +
					   renamer_digit(hex[2 * i + 1]));
			if (prctl(PR_SET_NAME, name) != 0)
				workload_fail("prctl");
			workload_done();
		} else if (workload_is(line, "busy", &number)) {
			renamer_busy(number);
			workload_done();
		} else {
			workload_otherwise(line);
		}
	}
}
