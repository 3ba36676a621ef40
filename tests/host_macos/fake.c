/*
 * fake.c - the made-up machine of fake.h. Answers are put together byte by
 * byte, at the offsets that layout.h declares and layout_check.c ties to
 * Apple's headers.
 */
#include "fake.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct fake fake;

static void fake_put(char *bytes, size_t at, uint64_t value, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		bytes[at + i] = (char)(value >> (8 * i) & 0xff);
}

#define PUT(bytes, type, member, value)                       \
	fake_put(bytes, offsetof(struct type, member), value, \
		 sizeof(((struct type *)0)->member))

void fake_reset(void)
{
	struct fake_process *self;

	memset(&fake, 0, sizeof fake);
	fake.scale = (struct plimp_mac_scale){125, 3};
	fake.absolute = 24000000u * UINT64_C(1000);
	fake.continuous = 24000000u * UINT64_C(1500);
	fake.unix_ns = UINT64_C(1700000000000000000);
	fake.rusage_most = 6;
	fake.own_pid = FAKE_SELF;
	self = fake_add(FAKE_SELF, 1, "observer");
	self->running = 1;
}

struct fake_process *fake_add(int32_t pid, int32_t ppid, const char *name)
{
	struct fake_process *made = &fake.processes[fake.count++];

	memset(made, 0, sizeof *made);
	made->pid = pid;
	made->ppid = ppid;
	made->uid = FAKE_UID;
	made->status = PLIMP_MAC_RUN;
	made->id = 1000 + (uint64_t)pid;
	made->version = 7;
	snprintf(made->comm, sizeof made->comm, "%.15s", name);
	snprintf(made->name, sizeof made->name, "%.31s", name);
	made->start_s = 1699999000;
	made->start_us = 250000;
	made->rusage.start_ticks = 24000000u * UINT64_C(10) + (uint64_t)pid;
	made->files = 3;
	return made;
}

struct fake_process *fake_find(int32_t pid)
{
	size_t i;

	for (i = 0; i < fake.count; i++)
		if (fake.processes[i].pid == pid)
			return &fake.processes[i];
	return NULL;
}

void fake_exit(struct fake_process *process)
{
	process->rusage.footprint = 0;
	process->rusage.exit_ticks = fake.absolute;
}

void fake_end(struct fake_process *process)
{
	fake_exit(process);
	process->status = PLIMP_MAC_ZOMBIE;
}

void fake_remove(int32_t pid)
{
	struct fake_process *found = fake_find(pid);

	*found = fake.processes[--fake.count];
}

int64_t plimp_mac_call_pids(plim_host *host, void *buffer, size_t size)
{
	size_t i;

	size_t most = (fake.count + 20) * sizeof(int32_t);

	host->bill.system_calls++;
	if (buffer == NULL)
		return (int64_t)most;
	fake.lists++;
	fake.list_room = size;
	if (size > most)
		size = most;
	for (i = 0; i < fake.forks; i++)
		fake_add(10000 + (int32_t)fake.count, 1, "forked");
	fake.forks = fake.forks_on ? fake.forks : 0;
	/* The newest first, as the kernel's list has them; and itself. */
	for (i = 0; i < fake.count + 1 && (i + 1) * 4 <= size; i++)
		fake_put(buffer, i * 4,
			 i < fake.count
			     ? (uint32_t)fake.processes[fake.count - 1 - i].pid
			     : 0,
			 4);
	return (int64_t)(i * 4);
}

static int64_t fake_give(plim_host *host, const char *answer, size_t has,
			 void *buffer, size_t size)
{
	if (size < has)
		return -ENOMEM;
	memcpy(buffer, answer, has);
	host->bill.bytes_read += has;
	return (int64_t)has;
}

static int64_t fake_bsdinfo(plim_host *host, const struct fake_process *of,
			    void *buffer, size_t size)
{
	char bytes[sizeof(struct plimp_mac_bsdinfo)] = {0};

	PUT(bytes, plimp_mac_bsdinfo, flags, of->flags);
	PUT(bytes, plimp_mac_bsdinfo, status, of->status);
	PUT(bytes, plimp_mac_bsdinfo, pid,
	    (uint32_t)(of->pid + fake.wrong_pid));
	PUT(bytes, plimp_mac_bsdinfo, ppid, (uint32_t)of->ppid);
	PUT(bytes, plimp_mac_bsdinfo, uid, of->uid);
	PUT(bytes, plimp_mac_bsdinfo, nice, (uint32_t)of->nice);
	PUT(bytes, plimp_mac_bsdinfo, files, 9999);
	PUT(bytes, plimp_mac_bsdinfo, start_s, of->start_s);
	PUT(bytes, plimp_mac_bsdinfo, start_us, of->start_us);
	memcpy(bytes + offsetof(struct plimp_mac_bsdinfo, comm), of->comm,
	       sizeof of->comm);
	memcpy(bytes + offsetof(struct plimp_mac_bsdinfo, name), of->name,
	       sizeof of->name);
	return fake_give(host, bytes, sizeof bytes, buffer, size);
}

static int64_t fake_bsdshort(plim_host *host, const struct fake_process *of,
			     void *buffer, size_t size)
{
	char bytes[sizeof(struct plimp_mac_bsdshort)] = {0};

	PUT(bytes, plimp_mac_bsdshort, flags, of->flags);
	PUT(bytes, plimp_mac_bsdshort, status, of->status);
	PUT(bytes, plimp_mac_bsdshort, pid, (uint32_t)of->pid);
	PUT(bytes, plimp_mac_bsdshort, ppid, (uint32_t)of->ppid);
	PUT(bytes, plimp_mac_bsdshort, uid, of->uid);
	memcpy(bytes + offsetof(struct plimp_mac_bsdshort, comm), of->comm,
	       sizeof of->comm);
	return fake_give(host, bytes, sizeof bytes, buffer, size);
}

static int64_t fake_unique(plim_host *host, struct fake_process *of,
			   void *buffer, size_t size)
{
	char bytes[sizeof(struct plimp_mac_uniqueinfo)] = {0};
	int64_t came;

	PUT(bytes, plimp_mac_uniqueinfo, id, of->id);
	PUT(bytes, plimp_mac_uniqueinfo, parent_id, 1000);
	PUT(bytes, plimp_mac_uniqueinfo, version, of->version);
	came = fake_give(host, bytes, sizeof bytes, buffer, size);
	if (of->replaced_after > 0 && --of->replaced_after == 0) {
		of->id += 5000;
		of->version += 100;
		snprintf(of->name, sizeof of->name, "successor");
		of->rusage.user_ticks = 1;
	}
	return came;
}

static int64_t fake_taskinfo(plim_host *host, const struct fake_process *of,
			     void *buffer, size_t size)
{
	char bytes[sizeof(struct plimp_mac_taskinfo)] = {0};

	PUT(bytes, plimp_mac_taskinfo, faults, of->faults);
	PUT(bytes, plimp_mac_taskinfo, pageins, of->pageins);
	PUT(bytes, plimp_mac_taskinfo, threads,
	    of->thread_count > 0 ? of->thread_count : 1);
	PUT(bytes, plimp_mac_taskinfo, running, of->running);
	return fake_give(host, bytes, sizeof bytes, buffer, size);
}

static int64_t fake_threads(plim_host *host, const struct fake_process *of,
			    void *buffer, size_t size)
{
	size_t i;

	fake.thread_lists++;
	fake.list_room = size;
	for (i = 0; i < of->thread_count && (i + 1) * 8 <= size; i++)
		fake_put(buffer, i * 8, of->threads[i].id, 8);
	host->bill.bytes_read += i * 8;
	return (int64_t)(i * 8);
}

static int64_t fake_thread(plim_host *host, const struct fake_process *of,
			   uint64_t id, void *buffer, size_t size)
{
	char bytes[sizeof(struct plimp_mac_threadinfo)] = {0};
	size_t i;

	/* They are asked for in their order, many of them. */
	for (i = 0; i < of->thread_count; i++, fake.thread_at++) {
		fake.thread_at %= of->thread_count;
		if (of->threads[fake.thread_at].id == id)
			break;
	}
	if (i == of->thread_count || of->threads[fake.thread_at].ended)
		return -ESRCH;
	i = fake.thread_at;
	if (of->threads[i].error != 0)
		return -of->threads[i].error;
	PUT(bytes, plimp_mac_threadinfo, user_time, of->threads[i].user_ns);
	PUT(bytes, plimp_mac_threadinfo, system_time, of->threads[i].system_ns);
	PUT(bytes, plimp_mac_threadinfo, run_state, of->threads[i].state);
	if (of->threads[i].name != NULL)
		snprintf(bytes + offsetof(struct plimp_mac_threadinfo, name),
			 PLIMP_MAC_THREAD_NAME, "%s", of->threads[i].name);
	return fake_give(host, bytes, sizeof bytes, buffer, size);
}

static int64_t fake_files(plim_host *host, const struct fake_process *of,
			  void *buffer, size_t size)
{
	size_t i;

	for (i = 0; i < of->files && (i + 1) * 8 <= size; i++)
		fake_put(buffer, i * 8, i, 8);
	host->bill.bytes_read += i * 8;
	return (int64_t)(i * 8);
}

/* What is told to everybody; of the rest, the own processes alone. */
static int fake_is_public(int flavour)
{
	return flavour == PLIMP_MAC_BSDSHORT || flavour == PLIMP_MAC_UNIQUE;
}

/* Zombies are told of where the argument says so. */
static int fake_zombies(int flavour, uint64_t argument)
{
	return argument != 0 &&
	       (flavour == PLIMP_MAC_BSDSHORT || flavour == PLIMP_MAC_UNIQUE ||
		flavour == PLIMP_MAC_BSDINFO);
}

static int64_t fake_info(plim_host *host, int32_t pid, int flavour,
			 uint64_t argument, void *buffer, size_t size)
{
	struct fake_process *of = fake_find(pid);

	host->bill.system_calls++;
	fake.infos++;
	if (of != NULL && of->gone_after > 0 && --of->gone_after == 0) {
		fake_remove(pid);
		of = NULL;
	}
	if (of == NULL || (of->status == PLIMP_MAC_ZOMBIE &&
			   !fake_zombies(flavour, argument)))
		return -ESRCH;
	if (pid == fake.hidden)
		return -EPERM;
	if (of->uid != FAKE_UID && !fake.has_root && !fake_is_public(flavour))
		return -EPERM;
	switch (flavour) {
	case PLIMP_MAC_BSDINFO:
		return fake_bsdinfo(host, of, buffer, size);
	case PLIMP_MAC_BSDSHORT:
		return fake_bsdshort(host, of, buffer, size);
	case PLIMP_MAC_UNIQUE:
		return fake_unique(host, of, buffer, size);
	case PLIMP_MAC_TASKINFO:
		return fake_taskinfo(host, of, buffer, size);
	case PLIMP_MAC_LIST_THREAD_IDS:
		return fake_threads(host, of, buffer, size);
	case PLIMP_MAC_THREAD_BY_ID:
		return fake_thread(host, of, argument, buffer, size);
	case PLIMP_MAC_LIST_FILES:
		return fake_files(host, of, buffer, size);
	default:
		return -EINVAL;
	}
}

int64_t plimp_mac_call_info(plim_host *host, int32_t pid, int flavour,
			    uint64_t argument, void *buffer, size_t size)
{
	int64_t came = fake_info(host, pid, flavour, argument, buffer, size);

	if (came > 0 && fake.cut == flavour)
		came--;
	return came;
}

int64_t plimp_mac_call_path(plim_host *host, int32_t pid, char *path,
			    size_t size)
{
	const struct fake_process *of = fake_find(pid);

	host->bill.system_calls++;
	if (of == NULL || of->status == PLIMP_MAC_ZOMBIE)
		return -ESRCH;
	if (of->path == NULL)
		return -ENOENT;
	return fake_give(host, of->path, strlen(of->path), path, size);
}

int plimp_mac_call_rusage(plim_host *host, int32_t pid, int flavour,
			  void *buffer)
{
	const struct fake_process *of = fake_find(pid);
	const size_t words = offsetof(struct plimp_mac_rusageinfo, user_ticks);
	size_t size = plimp_mac_rusage_size(flavour);
	const char *from;
	size_t at;

	host->bill.system_calls++;
	if (of == NULL)
		return -ESRCH;
	if (of->uid != FAKE_UID && !fake.has_root)
		return -EPERM;
	if (flavour > fake.rusage_most)
		return -EINVAL;
	from = (const char *)&of->rusage;
	memset(buffer, 0, size);
	for (at = words; at < size; at += 8) {
		uint64_t word;

		memcpy(&word, from + at, sizeof word);
		fake_put(buffer, at, word, 8);
	}
	host->bill.bytes_read += size;
	return 0;
}

int64_t plimp_mac_call_arguments(plim_host *host, int32_t pid, void *buffer,
				 size_t size)
{
	const struct fake_process *of = fake_find(pid);

	host->bill.system_calls++;
	if (of == NULL || of->status == PLIMP_MAC_ZOMBIE ||
	    (of->uid != FAKE_UID && !fake.has_root) || of->arguments == NULL)
		return -EINVAL;
	if (buffer == NULL)
		return (int64_t)of->arguments_size;
	if (size > 1024 * 1024 + 4)
		return -EINVAL;
	if (size < of->arguments_size) {
		/* The end instead of the beginning. */
		memcpy(buffer, of->arguments, 4);
		memcpy((char *)buffer + 4,
		       of->arguments + of->arguments_size - (size - 4),
		       size - 4);
		return (int64_t)size;
	}
	memcpy(buffer, of->arguments, of->arguments_size);
	return (int64_t)of->arguments_size;
}

int64_t plimp_mac_call_sysctl(plim_host *host, const char *name, void *buffer,
			      size_t size)
{
	static const struct {
		const char *name;
		const char *text;
		uint64_t number;
		size_t size;
	} rows[] = {
	    {"kern.osrelease", "23.1.0", 0, 7},
	    {"hw.machine", "arm64", 0, 6},
	    {"kern.bootsessionuuid", "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0", 0,
	     37},
	    {"hw.logicalcpu", NULL, 7, 4},
	    {"hw.logicalcpu_max", NULL, 8, 4},
	    {"hw.activecpu", NULL, 6, 4},
	    {"vm.swapusage", NULL, UINT64_C(3) << 30, 8},
	};
	size_t i;

	host->bill.system_calls++;
	if (strcmp(name, "sysctl.proc_translated") == 0) {
		fake_put(buffer, 0, (uint64_t)fake.translated, 4);
		return 4;
	}
	if (strcmp(name, "hw.tbfrequency") == 0 && fake.tbfrequency != 0) {
		fake_put(buffer, 0, fake.tbfrequency, 8);
		return 8;
	}
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (strcmp(name, rows[i].name) != 0)
			continue;
		if (rows[i].size > size)
			return -ENOMEM;
		if (rows[i].text != NULL)
			memcpy(buffer, rows[i].text, rows[i].size);
		else
			fake_put(buffer, 0, rows[i].number, rows[i].size);
		return (int64_t)rows[i].size;
	}
	return -ENOENT;
}

uint64_t plimp_mac_call_absolute(void)
{
	return fake.absolute;
}

uint64_t plimp_mac_call_continuous(void)
{
	return fake.continuous;
}

uint64_t plimp_mac_call_unix_ns(void)
{
	return fake.unix_ns;
}

struct plimp_mac_scale plimp_mac_call_scale(void)
{
	return fake.scale;
}

int32_t plimp_mac_call_pid(void)
{
	return fake.own_pid;
}

uint32_t plimp_mac_call_uid(void)
{
	return fake.has_root ? 0 : FAKE_UID;
}

uint64_t plimp_mac_call_thread(void)
{
	return 7777;
}

uint64_t plimp_mac_call_page(void)
{
	return 16384;
}

int64_t plimp_mac_call_thread_cpu(plim_host *host)
{
	host->bill.system_calls++;
	return 1234;
}

int64_t plimp_mac_call_process_cpu(plim_host *host)
{
	host->bill.system_calls++;
	return 5678;
}

static int fake_is_ended(int queue)
{
	const struct fake_process *of = fake_find(queue - 1000);

	return of == NULL || of->status == PLIMP_MAC_ZOMBIE;
}

/* Time goes by at once; something may happen meanwhile. */
int plimp_mac_call_sleep(plim_host *host, uint64_t ns, int descriptor)
{
	uint64_t ticks = ns / 125 * 3 + 3;

	host->bill.system_calls++;
	if (descriptor >= 0 && fake_is_ended(descriptor))
		return 1;
	fake.slept_ns += ns;
	fake.absolute += ticks;
	fake.continuous += ticks;
	if (fake.asleep != NULL)
		fake.asleep();
	return descriptor >= 0 && fake_is_ended(descriptor);
}

/* A queue is 1000 and the pid; those of others tell no status. */
int plimp_mac_call_queue(plim_host *host, int32_t pid, int status)
{
	const struct fake_process *of = fake_find(pid);

	host->bill.system_calls++;
	if (of == NULL || of->status == PLIMP_MAC_ZOMBIE)
		return -ESRCH;
	if (status && of->uid != FAKE_UID && !fake.has_root)
		return -EACCES;
	fake.queues++;
	return 1000 + pid;
}

int plimp_mac_call_ended(plim_host *host, int queue, uint32_t *status)
{
	const struct fake_process *of = fake_find(queue - 1000);

	host->bill.system_calls++;
	if (fake.queue_error != 0)
		return -fake.queue_error;
	if (of != NULL && of->status != PLIMP_MAC_ZOMBIE)
		return 0;
	*status = of != NULL ? of->exit_status : 0;
	return 1;
}

int plimp_mac_call_has_signal(void)
{
	return fake.has_signal;
}

int plimp_mac_call_signal(plim_host *host, int32_t pid, uint32_t version,
			  int number)
{
	struct fake_process *of = fake_find(pid);

	if (!fake.has_signal)
		return -ENOSYS;
	host->bill.system_calls++;
	if (of != NULL && of->execs_meanwhile) {
		of->execs_meanwhile = 0;
		of->version++;
	}
	if (of == NULL || of->version != version ||
	    of->status == PLIMP_MAC_ZOMBIE)
		return -ESRCH;
	if (of->uid != FAKE_UID && !fake.has_root)
		return -EPERM;
	fake.signalled = number;
	fake.signalled_pid = pid;
	return 0;
}

void plimp_mac_call_close(plim_host *host, int descriptor)
{
	(void)descriptor;
	host->bill.system_calls++;
	fake.queues--;
}

int plimp_mac_call_await(plim_host *host, int32_t child)
{
	struct fake_process *of = fake_find(child);

	host->bill.system_calls++;
	if (of == NULL || of->ppid != fake.own_pid)
		return -ECHILD;
	fake_end(of);
	return 0;
}

int plimp_mac_call_reap(plim_host *host, int32_t child, int *status,
			struct plimp_mac_account *account)
{
	const struct fake_process *of = fake_find(child);

	host->bill.system_calls++;
	*status = (int)of->exit_status;
	*account = (struct plimp_mac_account){
	    .user_ns = 700000000,
	    .system_ns = 300000000,
	    .faults_minor = 41,
	    .faults_major = 2,
	};
	fake_remove(child);
	return 0;
}

int plimp_system_find_user(const char *name, uint32_t *uid)
{
	if (strcmp(name, "somebody") != 0)
		return -1;
	*uid = FAKE_UID;
	return 0;
}
