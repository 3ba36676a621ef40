/*
 * refuse.c WORD... -- COMMAND ARGUMENT... - runs a command to which the kernel
 * refuses system calls, as a container's filter does: `perf` is
 * perf_event_open with EACCES, `ptrace` is ptrace with EPERM, `readv` is
 * process_vm_readv with EPERM. `perf-enosys` is a kernel without perf events.
 * Needs no privilege.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *word;
	unsigned call;
	unsigned error;
} refusals[] = {
    {"perf", SYS_perf_event_open, EACCES},
    {"perf-enosys", SYS_perf_event_open, ENOSYS},
    {"ptrace", SYS_ptrace, EPERM},
    {"readv", SYS_process_vm_readv, EPERM},
};

static struct sock_filter code[2 + 2 * 16];
static unsigned short length;

static void add(struct sock_filter step)
{
	code[length++] = step;
}

static int refuse(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (strcmp(word, refusals[i].word) != 0 || length > 2 * 15)
			continue;
		add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						 refusals[i].call, 0, 1));
		add((struct sock_filter)BPF_STMT(
		    BPF_RET | BPF_K, SECCOMP_RET_ERRNO | refusals[i].error));
		return 0;
	}
	return -1;
}

int main(int count, char **words)
{
	struct sock_fprog program = {.filter = code};
	int i;

	add((struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS,
	    (unsigned)offsetof(struct seccomp_data, nr)));
	for (i = 1; i < count && strcmp(words[i], "--") != 0; i++)
		if (refuse(words[i]) != 0) {
			fprintf(stderr, "refuse: no \"%s\"\n", words[i]);
			return 125;
		}
	if (i + 1 >= count)
		return 125;
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("refuse");
		return 125;
	}
	execvp(words[i + 1], words + i + 1);
	perror(words[i + 1]);
	return 127;
}
