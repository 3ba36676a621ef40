/*
 * decode_mac_info.c - what proc_pidinfo() answers of a process and of a thread:
 * XNU's bsd/kern/proc_info.c fills these structures, osfmk/kern/bsd_kern.c
 * those of tasks and threads.
 *
 * The kernel copies a whole structure or nothing, so the size must be its own.
 * Names are a process's to choose: any bytes, and not always with a NUL.
 */
#include "host/macos/decode.h"

#include "host/macos/read.h"

#include <limits.h>
#include <stddef.h>

#define INFO_STATE_RUNNING	   1
#define INFO_STATE_STOPPED	   2
#define INFO_STATE_WAITING	   3
#define INFO_STATE_UNINTERRUPTIBLE 4
#define INFO_STATE_HALTED	   5

/* Pids are int in the kernel; a negative one is none. */
static int info_pids_are_sound(uint32_t pid, uint32_t ppid)
{
	return pid <= INT32_MAX && ppid <= INT32_MAX;
}

int plimp_decode_mac_bsdinfo(plim_bytes bytes,
			     struct plimp_mac_process *process)
{
	const size_t at_name = offsetof(struct plimp_mac_bsdinfo, name);
	const size_t at_comm = offsetof(struct plimp_mac_bsdinfo, comm);
	uint32_t pid;
	uint32_t ppid;
	uint64_t seconds;
	uint64_t micros;
	plim_bytes name;

	if (bytes.size != sizeof(struct plimp_mac_bsdinfo))
		return PLIM_EMALFORMED;
	pid = PLIMP_MAC_U32(bytes, plimp_mac_bsdinfo, pid);
	ppid = PLIMP_MAC_U32(bytes, plimp_mac_bsdinfo, ppid);
	seconds = PLIMP_MAC_U64(bytes, plimp_mac_bsdinfo, start_s);
	micros = PLIMP_MAC_U64(bytes, plimp_mac_bsdinfo, start_us);
	if (!info_pids_are_sound(pid, ppid) || micros >= 1000000 ||
	    seconds > UINT64_MAX / 1000000 - 1)
		return PLIM_EMALFORMED;
	name =
	    plimp_mac_field(bytes, at_name, sizeof(char[2 * PLIMP_MAC_COMM]));
	if (name.size == 0)
		name = plimp_mac_field(bytes, at_comm, PLIMP_MAC_COMM);
	*process = (struct plimp_mac_process){
	    .pid = (int32_t)pid,
	    .ppid = (int32_t)ppid,
	    .uid = PLIMP_MAC_U32(bytes, plimp_mac_bsdinfo, uid),
	    .flags = PLIMP_MAC_U32(bytes, plimp_mac_bsdinfo, flags),
	    .status = PLIMP_MAC_U32(bytes, plimp_mac_bsdinfo, status),
	    .name = name,
	    .has_more = 1,
	    .nice = (int32_t)PLIMP_MAC_U32(bytes, plimp_mac_bsdinfo, nice),
	    .start_unix_us = seconds * 1000000 + micros,
	};
	return PLIM_OK;
}

int plimp_decode_mac_bsdshort(plim_bytes bytes,
			      struct plimp_mac_process *process)
{
	const size_t at_comm = offsetof(struct plimp_mac_bsdshort, comm);
	uint32_t pid;
	uint32_t ppid;

	if (bytes.size != sizeof(struct plimp_mac_bsdshort))
		return PLIM_EMALFORMED;
	pid = PLIMP_MAC_U32(bytes, plimp_mac_bsdshort, pid);
	ppid = PLIMP_MAC_U32(bytes, plimp_mac_bsdshort, ppid);
	if (!info_pids_are_sound(pid, ppid))
		return PLIM_EMALFORMED;
	*process = (struct plimp_mac_process){
	    .pid = (int32_t)pid,
	    .ppid = (int32_t)ppid,
	    .uid = PLIMP_MAC_U32(bytes, plimp_mac_bsdshort, uid),
	    .flags = PLIMP_MAC_U32(bytes, plimp_mac_bsdshort, flags),
	    .status = PLIMP_MAC_U32(bytes, plimp_mac_bsdshort, status),
	    .name = plimp_mac_field(bytes, at_comm, PLIMP_MAC_COMM),
	};
	return PLIM_OK;
}

int plimp_decode_mac_unique(plim_bytes bytes, struct plimp_mac_unique *unique)
{
	uint64_t id;

	if (bytes.size != sizeof(struct plimp_mac_uniqueinfo))
		return PLIM_EMALFORMED;
	id = PLIMP_MAC_U64(bytes, plimp_mac_uniqueinfo, id);
	if (id == 0)
		return PLIM_EMALFORMED;
	*unique = (struct plimp_mac_unique){
	    .id = id,
	    .parent_id = PLIMP_MAC_U64(bytes, plimp_mac_uniqueinfo, parent_id),
	    .version = PLIMP_MAC_U32(bytes, plimp_mac_uniqueinfo, version),
	};
	return PLIM_OK;
}

int plimp_decode_mac_task(plim_bytes bytes, struct plimp_mac_task *task)
{
	struct plimp_mac_task found;
	uint32_t faults;
	uint32_t pageins;

	if (bytes.size != sizeof(struct plimp_mac_taskinfo))
		return PLIM_EMALFORMED;
	faults = PLIMP_MAC_U32(bytes, plimp_mac_taskinfo, faults);
	pageins = PLIMP_MAC_U32(bytes, plimp_mac_taskinfo, pageins);
	found = (struct plimp_mac_task){
	    .user_ticks = PLIMP_MAC_U64(bytes, plimp_mac_taskinfo, total_user),
	    .system_ticks =
		PLIMP_MAC_U64(bytes, plimp_mac_taskinfo, total_system),
	    .resident_bytes =
		PLIMP_MAC_U64(bytes, plimp_mac_taskinfo, resident_size),
	    .threads = PLIMP_MAC_U32(bytes, plimp_mac_taskinfo, threads),
	    .running = PLIMP_MAC_U32(bytes, plimp_mac_taskinfo, running),
	};
	if (found.threads > INT32_MAX || found.running > INT32_MAX)
		return PLIM_EMALFORMED;
	found.has_faults = faults <= INT32_MAX && pageins <= INT32_MAX;
	if (found.has_faults) {
		found.faults = faults;
		found.pageins = pageins;
		found.faults_are_least = faults == INT32_MAX;
	}
	*task = found;
	return PLIM_OK;
}

static char info_letter(uint32_t state)
{
	switch (state) {
	case INFO_STATE_RUNNING:
		return 'R';
	case INFO_STATE_STOPPED:
	case INFO_STATE_HALTED:
		return 'T';
	case INFO_STATE_WAITING:
		return 'S';
	case INFO_STATE_UNINTERRUPTIBLE:
		return 'D';
	default:
		return 0;
	}
}

int plimp_decode_mac_thread(plim_bytes bytes, struct plimp_mac_thread *thread)
{
	const size_t at_name = offsetof(struct plimp_mac_threadinfo, name);
	uint64_t user;
	uint64_t system;

	if (bytes.size != sizeof(struct plimp_mac_threadinfo))
		return PLIM_EMALFORMED;
	user = PLIMP_MAC_U64(bytes, plimp_mac_threadinfo, user_time);
	system = PLIMP_MAC_U64(bytes, plimp_mac_threadinfo, system_time);
	if (system > UINT64_MAX - user)
		return PLIM_EMALFORMED;
	*thread = (struct plimp_mac_thread){
	    .cpu_ns = user + system,
	    .state = info_letter(
		PLIMP_MAC_U32(bytes, plimp_mac_threadinfo, run_state)),
	    .name = plimp_mac_field(bytes, at_name, PLIMP_MAC_THREAD_NAME),
	};
	return PLIM_OK;
}

uint64_t plimp_decode_mac_handle(plim_bytes bytes, size_t index)
{
	assert(index < bytes.size / sizeof(uint64_t));
	return plimp_mac_number(bytes, index * sizeof(uint64_t),
				sizeof(uint64_t));
}

int32_t plimp_decode_mac_pid(plim_bytes bytes, size_t index)
{
	assert(index < bytes.size / sizeof(int32_t));
	return (int32_t)(uint32_t)plimp_mac_number(
	    bytes, index * sizeof(int32_t), sizeof(int32_t));
}

static int info_hex(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

int plimp_decode_mac_boot(plim_bytes bytes, uint8_t boot[16])
{
	uint8_t found[16];
	size_t at = 0;
	size_t i;

	if (bytes.size > 36 && bytes.data[36] == '\0')
		bytes.size = 36;
	if (bytes.size != 36)
		return PLIM_EMALFORMED;
	for (i = 0; i < sizeof found; i++) {
		int high;
		int low;

		if (i == 4 || i == 6 || i == 8 || i == 10)
			if (bytes.data[at++] != '-')
				return PLIM_EMALFORMED;
		high = info_hex(bytes.data[at++]);
		low = info_hex(bytes.data[at++]);
		if (high < 0 || low < 0)
			return PLIM_EMALFORMED;
		found[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(boot, found, sizeof found);
	return PLIM_OK;
}
