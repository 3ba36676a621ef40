/*
 * place_linux.c - the processor's model, and whether there is a hypervisor
 * below.
 *
 * /proc/cpuinfo is text of the architecture's own making
 * (arch/x86/kernel/cpu/proc.c, arch/arm64/kernel/cpuinfo.c): x86 has `model
 * name` and, below a hypervisor, the flag of that name, which CPUID leaf 1
 * reserves for it. Elsewhere a device tree or /sys/hypervisor may tell.
 */
#include "args.h"
#include "gate_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLACE_LINES_MOST 200

/* What stands behind the colon, if the line begins with `key`. */
static const char *place_value(char *line, const char *key)
{
	size_t size = strlen(key);
	char *colon;

	if (strncmp(line, key, size) != 0)
		return NULL;
	colon = line + size + strspn(line + size, " \t");
	if (*colon != ':')
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return colon + 1 + strspn(colon + 1, " \t");
}

static void place_cpuinfo(plim_budget_place *place)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	const char *value;
	char *line = NULL;
	size_t room = 0;
	int lines;

	if (file == NULL)
		return;
	for (lines = 0; lines < PLACE_LINES_MOST; lines++) {
		if (getline(&line, &room, file) < 0)
			break;
		value = place_value(line, "model name");
		if (value != NULL && place->processor == NULL)
			place->processor = strdup(value);
		value = place_value(line, "flags");
		if (value != NULL && place->is_virtual < 0)
			place->is_virtual = word_in(value, "hypervisor");
	}
	free(line);
	fclose(file);
}

void place_machine(plim_budget_place *place)
{
	place_cpuinfo(place);
	if (place->is_virtual < 0 &&
	    (access("/sys/hypervisor/type", F_OK) == 0 ||
	     access("/proc/device-tree/hypervisor", F_OK) == 0))
		place->is_virtual = 1;
}
