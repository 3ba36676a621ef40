/*
 * open.c - opening the live system or another proc root, and its facts.
 *
 * A root is live if it shows our own pids: it is a proc file system, its
 * `self` is our pid, and our status there lists that one number and no other
 * (NSpid has a number for each pid namespace between the root's and ours). In
 * a live root sources that go by number may be asked. Any other directory is
 * read as files only, and must at least look like a recording.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/scan.h"
#include "host/linux/system.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define OPEN_PROC_MAGIC	 0x9fa0
#define OPEN_PIDFS_MAGIC 0x50494446

static void open_copy(char *to, size_t size, plim_bytes from)
{
	size_t length = from.size < size - 1 ? from.size : size - 1;

	memcpy(to, from.data, length);
	to[length] = '\0';
}

static void open_fact(plim_host *host, int fact, plim_count figure)
{
	host->facts[fact] = figure;
}

/* How many pid namespaces lie between the root's and ours, ours included. */
static int open_namespaces(plim_host *host)
{
	struct plimp_scan scan;
	plim_bytes text;
	plim_bytes line;
	plim_bytes word;

	if (plimp_read_file(host, host->system->root, "self/status", &text) !=
	    0)
		return 0;
	scan = plimp_scan_of(text);
	while (plimp_scan_line(&scan, &line)) {
		struct plimp_scan inside = plimp_scan_of(line);
		int count = 0;

		if (!plimp_scan_literal(&inside, "NSpid:"))
			continue;
		for (plimp_scan_blanks(&inside);
		     plimp_scan_word(&inside, &word);
		     plimp_scan_blanks(&inside))
			count++;
		return count;
	}
	return 1; /* before Linux 4.1: no such line */
}

static int open_is_live(plim_host *host)
{
	struct statfs filesystem;
	struct plimp_scan scan;
	char link[32];
	uint64_t pid;
	ssize_t size;

	host->bill.system_calls += 2;
	if (fstatfs(host->system->root, &filesystem) != 0 ||
	    filesystem.f_type != OPEN_PROC_MAGIC)
		return 0;
	size = readlinkat(host->system->root, "self", link, sizeof link);
	if (size <= 0)
		return 0;
	scan = plimp_scan_of((plim_bytes){link, (size_t)size});
	return plimp_scan_u64(&scan, &pid) && scan.at == scan.end &&
	       pid == (uint64_t)getpid() && open_namespaces(host) == 1;
}

/* stat is long where there are many interrupts, and btime stands behind them.
 */
static int open_find_btime(plim_bytes lines, void *user)
{
	return plimp_decode_btime(lines, user) == PLIM_OK;
}

static int open_btime(plim_host *host, uint64_t *seconds)
{
	return plimp_each_block(host, "stat", open_find_btime, seconds) == 1;
}

/* A recording has a process in it, or the text that names the boot. */
static int open_is_recording(plim_host *host)
{
	int directory = plimp_call_open(host, host->system->root, ".",
					O_RDONLY | O_DIRECTORY);
	uint64_t seconds;
	ssize_t size;
	int found = 0;

	if (open_btime(host, &seconds))
		found = 1;
	while (directory >= 0 && !found &&
	       (size = plimp_call_dents(host, directory, host->system->listing,
					sizeof host->system->listing)) > 0) {
		plim_bytes records = {host->system->listing, (size_t)size};
		size_t offset = 0;
		int32_t pid;

		found = plimp_decode_dents(records, &offset, &pid) == 1;
	}
	plimp_call_close(host, directory);
	return found;
}

static int open_root(plim_host *host, plim_error *error)
{
	struct plimp_system *system = host->system;
	struct statfs filesystem;

	system->root = plimp_call_open(host, AT_FDCWD, host->proc_root,
				       O_PATH | O_DIRECTORY);
	if (system->root < 0)
		return plimp_fail(error,
				  errno == EACCES	    ? PLIM_EDENIED
				  : plimp_is_starved(errno) ? PLIM_ESYSTEM
							    : PLIM_EROOT,
				  errno, "open", host->proc_root, NULL);
	system->live = open_is_live(host);
	host->bill.system_calls++;
	if (!system->live &&
	    (fstatfs(system->root, &filesystem) != 0 ||
	     filesystem.f_type != OPEN_PROC_MAGIC) &&
	    !open_is_recording(host) && system->starved == 0)
		return plimp_fail(error, PLIM_EROOT, 0, "open", host->proc_root,
				  "it holds neither processes nor a stat file");
	return PLIM_OK;
}

/*
 * Boot time, once: a clock that is set later does not move a start. Rounded
 * to 10 ms, which is all that a start tick knows, so that two hosts that were
 * opened one after the other tell the same start of the same process.
 */
static void open_boot(plim_host *host)
{
	struct plimp_system *system = host->system;
	struct timespec real;
	struct timespec boot;
	plim_bytes text;
	uint64_t seconds;

	if (system->live && clock_gettime(CLOCK_REALTIME, &real) == 0 &&
	    clock_gettime(CLOCK_BOOTTIME, &boot) == 0) {
		int64_t ms = ((int64_t)real.tv_sec - boot.tv_sec) * 1000 +
			     ((int64_t)real.tv_nsec - boot.tv_nsec) / 1000000;

		system->boot_known = ms >= 0;
		if (system->boot_known)
			system->boot_unix_ms = ((uint64_t)ms + 5) / 10 * 10;
	} else if (open_btime(host, &seconds) && seconds <= UINT64_MAX / 2000) {
		system->boot_known = 1;
		system->boot_unix_ms = seconds * 1000;
	}
	open_fact(host, PLIM_HOST_BOOT_UNIX_MS,
		  system->boot_known
		      ? plimp_known(system->boot_unix_ms, PLIM_METHOD_SYSTEM)
		      : plim_count_missing(PLIM_REASON_NO_LINE, 0));
	if (plimp_read_file(host, system->root, "sys/kernel/random/boot_id",
			    &text) == 0 &&
	    plimp_decode_boot_id(text, host->boot) == PLIM_OK)
		open_copy(host->boot_text, 37, text);
}

static void open_names(plim_host *host)
{
	struct utsname names;
	plim_bytes text;

	open_copy(host->system_name, sizeof host->system_name,
		  (plim_bytes){"linux", 5});
	if (host->system->live && uname(&names) == 0) {
		host->bill.system_calls++;
		open_copy(host->kernel, sizeof host->kernel,
			  (plim_bytes){names.release, strlen(names.release)});
		open_copy(host->machine, sizeof host->machine,
			  (plim_bytes){names.machine, strlen(names.machine)});
	} else if (plimp_read_file(host, host->system->root,
				   "sys/kernel/osrelease", &text) == 0) {
		if (text.size > 0 && text.data[text.size - 1] == '\n')
			text.size--;
		open_copy(host->kernel, sizeof host->kernel, text);
	}
}

static void open_swap(plim_host *host)
{
	struct sysinfo info;
	plim_bytes text;
	uint64_t bytes;
	plim_count figure = plim_count_missing(PLIM_REASON_NO_LINE, 0);

	if (host->system->live) {
		host->bill.system_calls++;
		if (sysinfo(&info) == 0)
			figure = plimp_known((uint64_t)info.totalswap *
						 info.mem_unit,
					     PLIM_METHOD_SYSTEM);
	} else if (plimp_read_file(host, host->system->root, "meminfo",
				   &text) == 0 &&
		   plimp_decode_meminfo(text, "SwapTotal", &bytes) == PLIM_OK) {
		figure = plimp_known(bytes, PLIM_METHOD_SYSTEM);
	}
	open_fact(host, PLIM_HOST_SWAP_BYTES, figure);
	/* Not knowing of any is no proof that there is none. */
	host->system->has_swap =
	    figure.state != PLIM_STATE_KNOWN || figure.value != 0;
}

static void open_pidfds(plim_host *host)
{
	struct plimp_system *system = host->system;
	struct statfs filesystem;
	int pidfd;

	if (!system->live || (host->flags & PLIM_HOST_NO_PIDFD) != 0)
		return;
	pidfd = plimp_call_pidfd(host, (int32_t)getpid());
	if (pidfd < 0)
		return;
	system->has_pidfd = 1;
	host->bill.system_calls++;
	if ((host->flags & PLIM_HOST_NO_INODE) == 0 &&
	    fstatfs(pidfd, &filesystem) == 0 &&
	    filesystem.f_type == OPEN_PIDFS_MAGIC) {
		system->has_inode = 1;
		system->has_inode =
		    plimp_pidfd_inode(host, pidfd, &system->self.inode) == 0;
	}
	plimp_call_close(host, pidfd);
}

/* Who we are in this root; nobody, where it is not live. */
static void open_self(plim_host *host)
{
	struct plimp_system *system = host->system;
	struct plimp_stat stat;
	struct stat status;
	plim_bytes text;

	if (!system->live)
		return;
	system->self.pid = (int32_t)getpid();
	system->self_directory = plimp_open_process(host, system->self.pid);
	if (system->self_directory < 0)
		return;
	if (plimp_call_stat(host, system->self_directory, "ns/pid", &status,
			    0) == 0) {
		system->self.pid_namespace = (uint64_t)status.st_ino;
		system->self.has |= PLIM_IDENTITY_NAMESPACE;
	}
	if (plimp_read_file(host, system->self_directory, "stat", &text) == 0 &&
	    plimp_decode_stat(text, &stat) == PLIM_OK) {
		system->self.start_ticks = stat.start_ticks;
		system->self.has |= PLIM_IDENTITY_START;
	}
	if (plimp_call_stat(host, system->self_directory, "fd", &status, 0) ==
	    0)
		system->has_fd_count = status.st_size > 0;
	if (system->has_inode)
		system->self.has |= PLIM_IDENTITY_INODE;
	if (host->boot_text[0] != '\0') {
		memcpy(system->self.boot, host->boot, sizeof host->boot);
		system->self.has |= PLIM_IDENTITY_BOOT;
	}
}

/* A page that the kernel empties in a child (Linux 4.14) tells a fork without
 * a system call. */
static void open_fork_mark(plim_host *host)
{
	size_t size = (size_t)host->system->page_bytes;
	char *mark;

	host->bill.system_calls += 2;
	mark = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mark == MAP_FAILED)
		return;
	if (madvise(mark, size, MADV_WIPEONFORK) != 0) {
		munmap(mark, size);
		return;
	}
	*mark = 1;
	host->system->fork_mark = mark;
}

static plim_count open_affinity(plim_host *host)
{
	unsigned long mask[1024];
	uint64_t count = 0;
	size_t i;
	int size;

	host->bill.system_calls++;
	memset(mask, 0, sizeof mask);
	size = sched_getaffinity(0, sizeof mask, (cpu_set_t *)(void *)mask);
	if (size != 0)
		return plim_count_missing(PLIM_REASON_READ_FAILED, errno);
	for (i = 0; i < sizeof mask / sizeof mask[0]; i++)
		count += (uint64_t)__builtin_popcountl(mask[i]);
	return plimp_known(count, PLIM_METHOD_SYSTEM);
}

static void open_facts(plim_host *host)
{
	struct plimp_system *system = host->system;
	const plim_count other = plim_count_missing(PLIM_REASON_OTHER_ROOT, 0);

	open_fact(host, PLIM_HOST_PAGE_BYTES,
		  plimp_known(system->page_bytes, PLIM_METHOD_SYSTEM));
	open_fact(host, PLIM_HOST_TICKS_PER_SECOND,
		  plimp_known(system->ticks_per_second, PLIM_METHOD_SYSTEM));
	open_fact(host, PLIM_HOST_AFFINITY, open_affinity(host));
	open_fact(host, PLIM_HOST_OWN_PID,
		  system->live ? plimp_known((uint64_t)system->self.pid,
					     PLIM_METHOD_SYSTEM)
			       : other);
	open_fact(
	    host, PLIM_HOST_PID_NAMESPACE,
	    (system->self.has & PLIM_IDENTITY_NAMESPACE) != 0
		? plimp_known(system->self.pid_namespace, PLIM_METHOD_SYSTEM)
		: other);
	open_fact(
	    host, PLIM_HOST_IDENTITY_RUNG,
	    plimp_known(system->has_inode ? PLIM_RUNG_INODE : PLIM_RUNG_START,
			PLIM_METHOD_SYSTEM));
	open_fact(host, PLIM_HOST_IS_LIVE,
		  plimp_known((uint64_t)system->live, PLIM_METHOD_SYSTEM));
}

static void open_init(struct plimp_system *system)
{
	long ticks = sysconf(_SC_CLK_TCK);
	long page = sysconf(_SC_PAGESIZE);
	int i;

	system->root = -1;
	system->self_directory = -1;
	for (i = 0; i < PLIMP_SELF_FILES; i++)
		system->self_files[i] = -1;
	system->helper.socket = -1;
	system->helper.pidfd = -1;
	system->ticks_per_second = ticks > 0 ? (uint64_t)ticks : 100;
	system->page_bytes = page > 0 ? (uint64_t)page : 4096;
}

int plimp_system_open(plim_host *host, plim_error *error)
{
	int code;

	host->system =
	    plimp_allocate(&host->allocator, 1, sizeof *host->system);
	if (host->system == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open",
				  host->proc_root, NULL);
	open_init(host->system);
	code = open_root(host, error);
	if (code != PLIM_OK) {
		plimp_system_close(host);
		return code;
	}
	open_names(host);
	open_boot(host);
	open_swap(host);
	open_pidfds(host);
	open_self(host);
	open_fork_mark(host);
	open_facts(host);
	/* What could not be opened would be taken for what is not there. */
	if (host->system->starved != 0) {
		code = plimp_fail(error, PLIM_ESYSTEM, host->system->starved,
				  "open", host->proc_root,
				  "raise the limit of open files");
		plimp_system_close(host);
		return code;
	}
	return PLIM_OK;
}

void plimp_system_close(plim_host *host)
{
	struct plimp_system *system = host->system;
	int i;

	if (system == NULL)
		return;
	plimp_helper_release(host);
	if (system->fork_mark != NULL)
		munmap(system->fork_mark, (size_t)system->page_bytes);
	for (i = 0; i < PLIMP_SELF_FILES; i++)
		plimp_call_close(host, system->self_files[i]);
	plimp_call_close(host, system->self_directory);
	plimp_call_close(host, system->root);
	plimp_release(&host->allocator, system, 1, sizeof *system);
	host->system = NULL;
}
