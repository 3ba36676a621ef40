/*
 * open.c - opening the system, and its facts.
 *
 * There is one system here, the live one: no directory stands for another. The
 * highest version of proc_pid_rusage() that the kernel knows is found by
 * asking about ourselves, from the newest down; a kernel refuses a version
 * that it does not know.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/macos/system.h"

#include <errno.h>
#include <string.h>

/* A number of at most `most` bytes, little endian; 0 where there is none. */
static uint64_t open_mac_number(plim_host *host, const char *name, size_t most)
{
	unsigned char bytes[8];
	int64_t size = plimp_mac_call_sysctl(host, name, bytes, most);
	uint64_t number = 0;

	if (size != 4 && size != 8)
		return 0;
	while (size > 0)
		number = number << 8 | bytes[--size];
	return number;
}

static uint64_t open_mac_u32(plim_host *host, const char *name)
{
	return open_mac_number(host, name, 4);
}

/*
 * The scale of the ticks that the kernel counts CPU times and starts in. It is
 * that of the clocks, but in a program that is translated (Rosetta): such a
 * one is told that a tick is a nanosecond, and its clocks keep to that, while
 * the kernel counts in the machine's own, of which CPU times would come out 42
 * times too small (giampaolo/psutil#2728, htop-dev/htop#765). hw.tbfrequency is
 * the machine's own number there. If it is none that a translating machine can
 * have, nothing is known.
 */
static void open_mac_scale(plim_host *host)
{
	struct plimp_system *system = host->system;
	uint64_t rate;

	system->scale = plimp_mac_call_scale();
	if (open_mac_u32(host, "sysctl.proc_translated") != 1)
		return;
	rate = open_mac_number(host, "hw.tbfrequency", 8);
	if (rate > 0 && rate < 1000000000)
		system->scale =
		    (struct plimp_mac_scale){1000000000, (uint32_t)rate};
	else
		system->no_scale = 1;
}

static void open_mac_text(plim_host *host, const char *name, char *text,
			  size_t size)
{
	int64_t came = plimp_mac_call_sysctl(host, name, text, size);

	if (came < 0 || (size_t)came >= size)
		came = 0;
	text[came] = '\0';
}

static void open_mac_boot(plim_host *host)
{
	struct plimp_system *system = host->system;
	uint64_t real = plimp_mac_call_unix_ns();
	uint64_t since = plimp_system_now().boottime.ns;
	plim_count boot = plim_count_missing(PLIM_REASON_READ_FAILED, 0);

	if (real > since) {
		system->boot_unix_ms = (real - since) / 1000000;
		boot = plimp_known(system->boot_unix_ms, PLIM_METHOD_SYSTEM);
	}
	host->facts[PLIM_HOST_BOOT_UNIX_MS] = boot;
	open_mac_text(host, "kern.bootsessionuuid", host->boot_text,
		      sizeof host->boot_text);
	if (plimp_decode_mac_boot(
		(plim_bytes){host->boot_text, strlen(host->boot_text)},
		host->boot) != PLIM_OK)
		host->boot_text[0] = '\0';
}

static void open_mac_rusage(plim_host *host)
{
	struct plimp_system *system = host->system;
	struct plimp_mac_rusage rusage;

	for (system->rusage_flavour = PLIMP_MAC_RUSAGE_MOST;
	     system->rusage_flavour >= PLIMP_MAC_RUSAGE_LEAST;
	     system->rusage_flavour--)
		if (plimp_mac_rusage(host, plimp_mac_call_pid(), &rusage) == 0)
			return;
	system->rusage_flavour = 0;
}

/* struct xsw_usage begins with the total. */
static plim_count open_mac_swap(plim_host *host)
{
	unsigned char bytes[64];
	int64_t size =
	    plimp_mac_call_sysctl(host, "vm.swapusage", bytes, sizeof bytes);
	uint64_t total = 0;
	int i;

	if (size < 8)
		return plim_count_missing(PLIM_REASON_READ_FAILED,
					  size < 0 ? (int32_t)-size : 0);
	for (i = 7; i >= 0; i--)
		total = total << 8 | bytes[i];
	return plimp_known(total, PLIM_METHOD_SYSTEM);
}

static void open_mac_facts(plim_host *host)
{
	struct plimp_system *system = host->system;
	const plim_count never = plim_count_missing(PLIM_REASON_HOST_NEVER, 0);

	host->facts[PLIM_HOST_PAGE_BYTES] =
	    plimp_known(system->page_bytes, PLIM_METHOD_SYSTEM);
	host->facts[PLIM_HOST_TICKS_PER_SECOND] =
	    system->no_scale
		? plim_count_missing(PLIM_REASON_TRANSLATED, 0)
		: plimp_known(plimp_mac_ticks_per_second(system->scale),
			      PLIM_METHOD_SYSTEM);
	host->facts[PLIM_HOST_AFFINITY] = never;
	host->facts[PLIM_HOST_PID_NAMESPACE] = never;
	host->facts[PLIM_HOST_SWAP_BYTES] = open_mac_swap(host);
	host->facts[PLIM_HOST_OWN_PID] =
	    plimp_known((uint64_t)system->self.pid, PLIM_METHOD_SYSTEM);
	host->facts[PLIM_HOST_IDENTITY_RUNG] =
	    plimp_known(PLIM_RUNG_INODE, PLIM_METHOD_SYSTEM);
	host->facts[PLIM_HOST_IS_LIVE] = plimp_known(1, PLIM_METHOD_SYSTEM);
}

static int open_mac_all(plim_host *host, plim_error *error)
{
	struct plimp_system *system = host->system;
	int problem;

	open_mac_scale(host);
	if (!plimp_mac_scale_is_sound(system->scale) ||
	    !plimp_mac_scale_is_sound(plimp_mac_call_scale()))
		return plimp_fail(error, PLIM_EMALFORMED, 0, "open",
				  "mach_timebase_info", NULL);
	system->page_bytes = plimp_mac_call_page();
	open_mac_boot(host);
	open_mac_rusage(host);
	system->self.pid = plimp_mac_call_pid();
	problem = plimp_mac_who(host, system->self.pid, &system->self);
	if (problem != 0)
		return plimp_fail(error, PLIM_ESYSTEM, -problem, "open", NULL,
				  NULL);
	open_mac_facts(host);
	return PLIM_OK;
}

int plimp_system_open(plim_host *host, plim_error *error)
{
	int code;

	if (strcmp(host->proc_root, "/proc") != 0)
		return plimp_fail(error, PLIM_EROOT, 0, "open", host->proc_root,
				  "this system has no proc file system");
	host->system =
	    plimp_allocate(&host->allocator, 1, sizeof *host->system);
	if (host->system == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open", NULL, NULL);
	memcpy(host->system_name, "macos", 6);
	open_mac_text(host, "kern.osrelease", host->kernel,
		      sizeof host->kernel);
	open_mac_text(host, "hw.machine", host->machine, sizeof host->machine);
	code = open_mac_all(host, error);
	if (code != PLIM_OK)
		plimp_system_close(host);
	else
		host->proc_root[0] = '\0';
	return code;
}

void plimp_system_close(plim_host *host)
{
	struct plimp_system *system = host->system;

	if (system == NULL)
		return;
	plimp_release(&host->allocator, system->room, system->room_size, 1);
	plimp_release(&host->allocator, system, 1, sizeof *system);
	host->system = NULL;
}

/* Those that the machine has, and of these the ones that are switched on now:
 * hw.logicalcpu, like hw.activecpu, falls when one is powered down. */
plim_count plimp_system_cpus(plim_host *host)
{
	uint64_t cpus = open_mac_u32(host, "hw.logicalcpu_max");

	return cpus > 0 ? plimp_known(cpus, PLIM_METHOD_SYSTEM)
			: plim_count_missing(PLIM_REASON_READ_FAILED, 0);
}

plim_real plimp_system_usable_cpus(plim_host *host)
{
	uint64_t all = open_mac_u32(host, "hw.logicalcpu_max");
	uint64_t active = open_mac_u32(host, "hw.activecpu");

	if (all == 0 || active == 0)
		return plim_real_missing(PLIM_REASON_READ_FAILED, 0);
	return plim_real_known((double)(active < all ? active : all),
			       PLIM_METHOD_SYSTEM);
}

plim_count plimp_system_hidepid(plim_host *host)
{
	(void)host;
	return plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
}
