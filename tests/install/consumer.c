/*
 * consumer.c - what somebody's first program does, compiled as C11 and as
 * C++17 against an installed library. It reads its own figures and fails
 * unless one of them is known or the library says that it reads nothing here.
 */
#include <plimsoll.h>

#include <stdio.h>
#include <string.h>

/* Where CPU time is counted in ticks, a program as short as this one may have
 * none yet: it asks until it has, at most so often. */
#define ASK_MOST 100000

static int look(plim_host *host)
{
	plim_usage *usage = NULL;
	plim_count resident;
	plim_count cpu;
	int known;
	int asked = 0;

	if (plim_usage_new(&usage, host, NULL) != PLIM_OK)
		return 1;
	do {
		if (plim_usage_refresh_self(usage, NULL, NULL) != PLIM_OK) {
			plim_usage_free(usage);
			return 1;
		}
		resident = plim_process_count(plim_usage_process(usage),
					      PLIM_FIELD_RESIDENT);
		cpu = plim_process_count(plim_usage_process(usage),
					 PLIM_FIELD_CPU);
	} while (cpu.state == PLIM_STATE_KNOWN && cpu.value == 0 &&
		 ++asked < ASK_MOST);
	known = resident.state == PLIM_STATE_KNOWN && resident.value > 65536 &&
		cpu.state == PLIM_STATE_KNOWN && cpu.value > 0;
	printf("resident %llu, cpu %llu\n", (unsigned long long)resident.value,
	       (unsigned long long)cpu.value);
	plim_usage_free(usage);
	return known ? 0 : 1;
}

int main(void)
{
	plim_host *host = NULL;
	plim_error error;
	int status;

	if (strcmp(plim_version(), PLIM_VERSION) != 0) {
		printf("header %s, library %s\n", PLIM_VERSION, plim_version());
		return 1;
	}
	if (plim_host_open(&host, NULL, &error) != PLIM_OK) {
		printf("%s\n", plim_error_word(error.code));
		return 1;
	}
	status = look(host);
	plim_host_close(host);
	return status;
}
