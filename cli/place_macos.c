/*
 * place_macos.c - the processor's model, and whether there is a hypervisor
 * below, as the kernel has them by name (sysctl(3)). What it does not have
 * stays unknown.
 */
#include "gate_run.h"

#include <string.h>
#include <sys/sysctl.h>

void place_machine(plim_budget_place *place)
{
	char model[256];
	size_t size = sizeof model - 1;
	int present = 0;

	if (sysctlbyname("machdep.cpu.brand_string", model, &size, NULL, 0) ==
	    0) {
		model[size < sizeof model ? size : sizeof model - 1] = '\0';
		place->processor = strdup(model);
	}
	size = sizeof present;
	if (sysctlbyname("kern.hv_vmm_present", &present, &size, NULL, 0) == 0)
		place->is_virtual = present != 0;
}
