/*
 * place_windows.c - the processor's model, as the registry has it. Whether the
 * machine is a virtual one stays unknown: with Hyper-V or its kin switched on,
 * Windows itself runs above a hypervisor, and CPUID says so, also where nobody
 * would speak of a virtual machine.
 */
#include "gate_run.h"
#include "wide.h"

#include <windows.h>

#define PLACE_KEY L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0"

void place_machine(plim_budget_place *place)
{
	wchar_t model[256];
	DWORD size = sizeof model;

	if (RegGetValueW(HKEY_LOCAL_MACHINE, PLACE_KEY, L"ProcessorNameString",
			 RRF_RT_REG_SZ, NULL, model, &size) == ERROR_SUCCESS)
		place->processor = wide_to(model);
}
