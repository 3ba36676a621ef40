/*
 * cell_inside.c - what a new cell does before it runs anything: it gives up
 * what it could do harm with.
 *
 * Each wall stands by itself. Descriptors are closed but for the given ones,
 * and RLIMIT_NOFILE 0 lets no new one be made, so that nothing can be opened
 * or connected even where the kernel has no seccomp filters. The filter, a
 * list of what malloc() and reading need, refuses everything else with EPERM,
 * execution of memory included. RLIMIT_AS bounds memory, RLIMIT_CPU time. It
 * leaves no core file, which would be one of the caller's memory, and is the
 * first that the kernel ends when memory runs out.
 */
#include "host/linux/gnu.h"

#include "host/linux/cell.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Closes [low, high]. Without close_range (Linux 5.9) one by one: a limit of
 * descriptors that is in the millions is not one that anybody has used up. */
static void inside_close_range(unsigned low, unsigned high)
{
	struct rlimit limit = {1024, 1024};
	unsigned last = high;

	if (low > high || syscall(PLIMP_SYS_CLOSE_RANGE, low, high, 0) == 0)
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > 1048576)
		limit.rlim_cur = 1048576;
	if (last >= limit.rlim_cur)
		last = (unsigned)limit.rlim_cur;
	for (; low < last; low++)
		close((int)low);
}

static int inside_compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static void inside_close(const struct plimp_cell_inside *inside)
{
	int kept[PLIMP_CELL_FILES + 1];
	unsigned low = 0;
	size_t i;

	memcpy(kept, inside->files, sizeof inside->files);
	kept[PLIMP_CELL_FILES] = inside->socket;
	qsort(kept, PLIMP_CELL_FILES + 1, sizeof kept[0], inside_compare);
	for (i = 0; i <= PLIMP_CELL_FILES; i++) {
		if (kept[i] < 0 || (unsigned)kept[i] < low)
			continue;
		if (kept[i] > 0)
			inside_close_range(low, (unsigned)kept[i] - 1);
		low = (unsigned)kept[i] + 1;
	}
	inside_close_range(low, ~0u);
}

/* Signals that a fault raises end the process, blocked or not; those that
 * were sent to it are blocked for ever. */
static void inside_signals(void)
{
	struct sigaction action;
	int signal;

	memset(&action, 0, sizeof action);
	action.sa_handler = SIG_DFL;
	for (signal = 1; signal < NSIG; signal++)
		sigaction(signal, &action, NULL);
}

/* Bytes of address space that the process has; 0: it cannot be told. */
static uint64_t inside_size(void)
{
	char text[128];
	struct plimp_statm statm;
	plim_bytes bytes = {text, 0};
	ssize_t count;
	int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return 0;
	count = read(file, text, sizeof text);
	close(file);
	if (count <= 0)
		return 0;
	bytes.size = (size_t)count;
	if (plimp_decode_statm(bytes, &statm) != PLIM_OK)
		return 0;
	return statm.size_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void inside_first_to_go(void)
{
	int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (file < 0)
		return;
	/* It is a wish. */
	if (write(file, "1000", 4) != 4)
		errno = 0;
	close(file);
}

/* What was lower stays. By the kernel's call, of which C libraries disagree how
 * its first argument is typed. */
static int inside_limit(int which, uint64_t value)
{
	struct {
		uint64_t soft;
		uint64_t hard;
	} limit;

	if (syscall(SYS_prlimit64, 0, which, NULL, &limit) != 0)
		return -1;
	if (limit.hard > value)
		limit.hard = value;
	if (limit.soft > value)
		limit.soft = value;
	return (int)syscall(SYS_prlimit64, 0, which, &limit, NULL);
}

static int inside_limits(const struct plimp_cell_limits *limits)
{
	uint64_t size = inside_size();

	if (size == 0)
		return -1;
	if (inside_limit(RLIMIT_AS, size + limits->memory_bytes) != 0 ||
	    inside_limit(RLIMIT_CPU, limits->cpu_seconds) != 0 ||
	    inside_limit(RLIMIT_CORE, 0) != 0 ||
	    inside_limit(RLIMIT_FSIZE, 0) != 0)
		return -1;
	/* The last: from here on nothing can be opened. */
	return inside_limit(RLIMIT_NOFILE, 0);
}

#if defined(__x86_64__) && defined(__LP64__)
#define INSIDE_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define INSIDE_MACHINE AUDIT_ARCH_AARCH64
#else
#define INSIDE_MACHINE 0
#endif

#define INSIDE_FIELD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define INSIDE_ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define INSIDE_REFUSE \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & 0xffffu))
/* The next one for this call, else the one behind it. */
#define INSIDE_CALL(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), INSIDE_ALLOW
/* The same, where the third argument has not PROT_EXEC. */
#define INSIDE_CALL_NO_EXEC(number)                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4),       \
	    INSIDE_FIELD(args[2]),                                 \
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), \
	    INSIDE_REFUSE, INSIDE_ALLOW

/*
 * A program that shares no memory with others could do with read() and write()
 * alone, but malloc() maps, and grows arenas by mprotect(). x32 calls have
 * bit 30 in their number and match none of these. A kernel that has no filters
 * runs without.
 */
static void inside_filter(void)
{
	struct sock_filter rules[] = {
	    INSIDE_FIELD(arch),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, INSIDE_MACHINE, 1, 0),
	    INSIDE_REFUSE,
	    INSIDE_FIELD(nr),
	    INSIDE_CALL(SYS_pread64),
	    INSIDE_CALL(SYS_read),
	    INSIDE_CALL(SYS_write),
	    INSIDE_CALL(SYS_brk),
	    INSIDE_CALL_NO_EXEC(SYS_mmap),
	    INSIDE_CALL(SYS_munmap),
	    INSIDE_CALL(SYS_mremap),
	    INSIDE_CALL_NO_EXEC(SYS_mprotect),
	    INSIDE_CALL(SYS_madvise),
	    INSIDE_CALL(SYS_fstat),
#ifdef SYS_newfstatat
	    INSIDE_CALL(SYS_newfstatat),
#endif
	    INSIDE_CALL(SYS_lseek),
	    INSIDE_CALL(SYS_futex),
	    INSIDE_CALL(SYS_getrandom),
	    INSIDE_CALL(SYS_exit),
	    INSIDE_CALL(SYS_exit_group),
	    INSIDE_REFUSE,
	};
	const struct sock_fprog program = {
	    .len = (unsigned short)(sizeof rules / sizeof rules[0]),
	    .filter = rules,
	};

	if (INSIDE_MACHINE != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int plimp_cell_shut(const struct plimp_cell_inside *inside,
		    const struct plimp_cell_limits *limits)
{
	inside_close(inside);
	inside_signals();
	inside_first_to_go();
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (inside_limits(limits) != 0)
		return -1;
	inside_filter();
	return 0;
}

int plimp_system_cell_tell(const struct plimp_cell_inside *inside,
			   const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t count = write(inside->socket, at, size);

		if (count < 0 && errno != EINTR)
			return 0;
		if (count > 0) {
			at += count;
			size -= (size_t)count;
		}
	}
	return 1;
}

size_t plimp_system_cell_hear_some(const struct plimp_cell_inside *inside,
				   void *bytes, size_t most)
{
	ssize_t count;

	do
		count = read(inside->socket, bytes, most);
	while (count < 0 && errno == EINTR);
	return count > 0 ? (size_t)count : 0;
}

int plimp_system_cell_hear(const struct plimp_cell_inside *inside, void *bytes,
			   size_t size)
{
	char *at = bytes;

	while (size > 0) {
		size_t count = plimp_system_cell_hear_some(inside, at, size);

		if (count == 0)
			return 0;
		at += count;
		size -= count;
	}
	return 1;
}
