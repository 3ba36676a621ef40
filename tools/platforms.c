/*
 * platforms.c - prints PLATFORMS.md from the tables of fields.h and
 * profile.h. It is compiled and run by tools/gen-platforms and needs the
 * headers alone.
 *
 * What stands only here is how much is proven: a source in fields.h is a
 * claim, and proven_rows says what backs it on each system. Who implements a
 * figure moves its row on, and never further than what a test asserts.
 */
#include <plimsoll/fields.h>
#include <plimsoll/profile.h>

#include <stdio.h>
#include <string.h>

#define LATER "not implemented yet"

/* How it was seen that a figure is right, weakest first. */
enum proof {
	PROOF_NONE = 0, /* not implemented yet */
	/* It compiles and links with the system's own headers. */
	PROOF_COMPILED = 1,
	/* And its decoder is tested on bytes of the documented layout, with
	 * values that are not zero. */
	PROOF_BYTES = 2,
	/* Wine implements the call; a test asserts the figure there. */
	PROOF_WINE = 3,
	PROOF_RUN = 4 /* a test asserts it on the system itself */
};

static const char *const proof_texts[] = {
    [PROOF_NONE] = "not implemented yet", [PROOF_COMPILED] = "compiled only",
    [PROOF_BYTES] = "decoded from bytes", [PROOF_WINE] = "run under Wine",
    [PROOF_RUN] = "run on the system",
};

/* Every field that macOS or Windows has a source of. On Linux each has a test
 * that runs on the system. */
static const struct {
	int field;
	enum proof macos;
	enum proof windows;
} proven_rows[] = {
    {PLIM_FIELD_PID, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_PPID, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_NAME, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_STATE, PROOF_BYTES, PROOF_BYTES},
    {PLIM_FIELD_IDENTITY, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_IDENTITY_RUNG, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_START_TICKS, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_START_UNIX_MS, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_UID, PROOF_BYTES, PROOF_NONE},
    {PLIM_FIELD_CPU, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_CPU_USER, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_CPU_SYSTEM, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_CPU_CHILDREN, PROOF_BYTES, PROOF_NONE},
    {PLIM_FIELD_RESIDENT, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_PRIVATE, PROOF_BYTES, PROOF_BYTES},
    {PLIM_FIELD_PEAK_RESIDENT, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_COMMIT, PROOF_NONE, PROOF_BYTES},
    {PLIM_FIELD_WAKEUPS, PROOF_BYTES, PROOF_BYTES},
    {PLIM_FIELD_DISK_READ, PROOF_BYTES, PROOF_BYTES},
    {PLIM_FIELD_DISK_WRITE, PROOF_BYTES, PROOF_BYTES},
    {PLIM_FIELD_DISK_OPS, PROOF_NONE, PROOF_BYTES},
    {PLIM_FIELD_IO_CALLS, PROOF_NONE, PROOF_BYTES},
    {PLIM_FIELD_FAULTS_MINOR, PROOF_BYTES, PROOF_BYTES},
    {PLIM_FIELD_FAULTS_MAJOR, PROOF_BYTES, PROOF_BYTES},
    {PLIM_FIELD_THREADS, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_DESCRIPTORS, PROOF_BYTES, PROOF_BYTES},
    {PLIM_FIELD_KERNEL_THREAD, PROOF_BYTES, PROOF_NONE},
    {PLIM_FIELD_EXE, PROOF_BYTES, PROOF_WINE},
    {PLIM_FIELD_NICE, PROOF_BYTES, PROOF_NONE},
    {PLIM_FIELD_OOM_SCORE, PROOF_NONE, PROOF_NONE},
};

/* What is told beside the fields; NULL: never. */
static const struct {
	const char *what;
	const char *linux_source;
	const char *macos_source;
	enum proof macos;
	const char *windows_source;
	enum proof windows;
} other_rows[] = {
    {"wake-ups of a thread", "task/TID/status", NULL, PROOF_NONE,
     "ContextSwitches of the process table, 64-bit alone", PROOF_BYTES},
    {"CPU time of a thread", "task/TID/schedstat, else task/TID/stat",
     "pth_user_time + pth_system_time (PROC_PIDTHREADID64INFO)", PROOF_BYTES,
     "KernelTime + UserTime of the process table", PROOF_WINE},
    {"start of a thread", "task/TID/stat field 22", NULL, PROOF_NONE,
     "CreateTime of the process table", PROOF_WINE},
    {"name of a thread", "task/TID/stat field 2", "pth_name", PROOF_BYTES,
     "GetThreadDescription, of the thread that was sampled", PROOF_WINE},
    {"start address of a thread", NULL, NULL, PROOF_NONE,
     "NtQueryInformationThread, class 9", PROOF_WINE},
    {"command line of a process", "/proc/PID/cmdline", "KERN_PROCARGS2",
     PROOF_BYTES,
     "NtQueryInformationProcess, class 60 (decoded from bytes alone), else "
     "the process's own memory",
     PROOF_WINE},
    {"figures of this process", "getrusage", "proc_pid_rusage", PROOF_BYTES,
     "GetProcessTimes, GetProcessMemoryInfo, GetProcessIoCounters", PROOF_WINE},
    {"figures of a child that ended", "wait4",
     "wait4, and proc_pid_rusage of the zombie", PROOF_COMPILED,
     "GetProcessTimes of a handle: the child alone", PROOF_WINE},
    {"a remembered process, its end, its exit status", "pidfd", "kqueue",
     PROOF_COMPILED, "a handle", PROOF_WINE},
    {"processes that start and end meanwhile",
     "perf records, the process connector", NULL, PROOF_NONE, NULL, PROOF_NONE},
    {"CPUs of the machine", "online CPUs", "hw.logicalcpu_max", PROOF_BYTES,
     "active processors of every group", PROOF_WINE},
    {"CPUs that may be used", "affinity and cgroup quota", "hw.activecpu",
     PROOF_BYTES,
     "affinity in its groups (from build 20348 on in all; several "
     "groups: compiled alone), and the hard rate of its job",
     PROOF_WINE},
    {"mappings, heaps, memory of a process", "the lens on its memory",
     "mach_vm_region_recurse", PROOF_NONE, "VirtualQueryEx", PROOF_NONE},
};

static const char *kind_word(int kind)
{
	switch (kind) {
	case PLIM_KIND_COUNTER:
		return "counter";
	case PLIM_KIND_GAUGE:
		return "gauge";
	case PLIM_KIND_KEY:
		return "key";
	default:
		return "text";
	}
}

static const char *unit_word(int unit)
{
	switch (unit) {
	case PLIM_UNIT_BYTES:
		return "bytes";
	case PLIM_UNIT_NS:
		return "ns";
	case PLIM_UNIT_BLOCKS:
		return "512-byte blocks";
	case PLIM_UNIT_TICKS:
		return "clock ticks";
	case PLIM_UNIT_UNIX_MS:
		return "ms since 1970";
	default:
		return "";
	}
}

/* A `|` would end the cell. */
static void cell(const char *text)
{
	printf("| ");
	for (; *text != '\0'; text++)
		printf(*text == '|' ? "\\|" : "%c", *text);
	printf(" ");
}

/* What a system tells of a figure: nothing is named that is not there. */
static void source_cell(const char *source, enum proof proof)
{
	if (source == NULL)
		source = "never reported";
	else if (proof == PROOF_NONE)
		source = proof_texts[PROOF_NONE];
	cell(source);
}

static void proof_cell(const char *source, enum proof proof)
{
	cell(source == NULL ? "" : proof_texts[proof]);
}

static int find_proof(int field, enum proof *macos, enum proof *windows)
{
	*macos = *windows = PROOF_NONE;
	for (size_t i = 0; i < sizeof(proven_rows) / sizeof(proven_rows[0]);
	     i++)
		if (proven_rows[i].field == field) {
			*macos = proven_rows[i].macos;
			*windows = proven_rows[i].windows;
			return 1;
		}
	return 0;
}

static void field_row(int field, const char *name, int kind, int unit,
		      const char *since, const char *text, const char *on_linux,
		      const char *on_macos, const char *on_windows)
{
	enum proof macos;
	enum proof windows;

	(void)find_proof(field, &macos, &windows);
	printf("| `%s` ", name);
	cell(kind_word(kind));
	cell(unit_word(unit));
	cell(since);
	cell(text);
	cell(on_linux == NULL ? "never reported" : on_linux);
	source_cell(on_macos, macos);
	source_cell(on_windows, windows);
	printf("|\n");
}

static void other_fields(void)
{
	puts("\n## Beside the fields\n");
	puts("| what | Linux | macOS | Windows |");
	puts("|---|---|---|---|");
	for (size_t i = 0; i < sizeof(other_rows) / sizeof(other_rows[0]);
	     i++) {
		cell(other_rows[i].what);
		cell(other_rows[i].linux_source == NULL
			 ? "never reported"
			 : other_rows[i].linux_source);
		source_cell(other_rows[i].macos_source, other_rows[i].macos);
		source_cell(other_rows[i].windows_source,
			    other_rows[i].windows);
		printf("|\n");
	}
}

/* Returns 0 for a source that nobody has given a proof. */
static int proof_row(int field, const char *name, const char *on_macos,
		     const char *on_windows)
{
	enum proof macos;
	enum proof windows;

	if (on_macos == NULL && on_windows == NULL)
		return 1;
	if (!find_proof(field, &macos, &windows)) {
		fprintf(stderr, "platforms.c has no proof of %s\n", name);
		return 0;
	}
	printf("| `%s` ", name);
	proof_cell(on_macos, macos);
	proof_cell(on_windows, windows);
	printf("|\n");
	return 1;
}

/* The words stand where the proof does; a figure that a system never reports
 * has none there. */
static int proofs(void)
{
	int complete = 1;

	puts("\n## How each was verified\n");
	puts("*Run on the system*: a test asserts the figure on the running "
	     "system. *Run under Wine*: a\ntest asserts it where Wine "
	     "implements the call; Windows itself was not at hand. *Decoded "
	     "from\nbytes*: the decoder is tested on bytes that were made "
	     "after the documented layout; the system's\nown answer was not "
	     "seen. The compiler checks the layout where a header at hand "
	     "declares one; the\nunique id of macOS (`identity`) and its "
	     "flavours 17 and 28 stand in none: they were compared\nwith "
	     "XNU's published source by hand. *Compiled only*: it compiles "
	     "and links with the system's\nheaders. On Linux every figure "
	     "is run on the system.\n");
	puts("| figure | macOS | Windows |");
	puts("|---|---|---|");
#define PLIM_X(name, number, json, kind, unit, since, text, on_linux, \
	       on_macos, on_windows)                                  \
	complete &= proof_row(number, json, on_macos, on_windows);
	PLIM_FIELD_LIST(PLIM_X)
#undef PLIM_X
	for (size_t i = 0; i < sizeof(other_rows) / sizeof(other_rows[0]); i++)
		if (other_rows[i].macos_source != NULL ||
		    other_rows[i].windows_source != NULL) {
			cell(other_rows[i].what);
			proof_cell(other_rows[i].macos_source,
				   other_rows[i].macos);
			proof_cell(other_rows[i].windows_source,
				   other_rows[i].windows);
			printf("|\n");
		}
	return complete;
}

static void reason_row(const char *word, const char *state, const char *text)
{
	printf("| `%s` ", word);
	printf("| `");
	for (; *state != '\0'; state++)
		putchar(*state == '_' ? '_' : *state | 0x20);
	printf("` ");
	cell(text);
	printf("|\n");
}

static void method_row(const char *word, const char *text)
{
	if (strcmp(word, "none") == 0)
		return;
	printf("| `%s` ", word);
	cell(text);
	printf("|\n");
}

/* What a way to sample needs on Linux, and where stock systems give it to an
 * ordinary user. */
static const struct {
	int tier;
	const char *needs;
	const char *stock;
} tier_rows[] = {
    {PLIM_TIER_PERF,
     "perf_event_open: kernel.perf_event_paranoid at most 2 for one's own "
     "processes, at most 1 or CAP_PERFMON to sample the kernel, too; no "
     "filter of system calls that refuses it",
     "the kernel's default (2); not Debian's kernels (3), Ubuntu's (4) and "
     "most containers"},
    {PLIM_TIER_PTRACE,
     "ptrace of the target: the same user, and Yama at 0, or at 1 for a "
     "descendant, or a target that called plim_allow_attach(); where perf is "
     "refused, since it stops the target, and off with --no-ptrace",
     "Debian and the kernel's default; on Ubuntu (Yama at 1) descendants "
     "alone: plim profile -- CMD"},
    {PLIM_TIER_NO_STOP,
     "ptrace access without attaching: task/TID/syscall and the memory are "
     "read, under the same conditions as ptrace",
     "as ptrace"},
    {PLIM_TIER_PERF_SIGNAL,
     "perf_event_open as for perf, of the own process alone "
     "(plim_profile_open_self()), and SIGURG, which the program must not "
     "handle; x86-64 and aarch64",
     "as perf"},
    {PLIM_TIER_CPU_TIMER,
     "the own process, SIGURG as for perf_signal, and room for one pending "
     "signal per thread (RLIMIT_SIGPENDING); at most CONFIG_HZ samples per "
     "second of CPU time; where a thread can have no perf event",
     "everywhere"},
    {PLIM_TIER_THREAD_SIGNAL,
     "the own process, and SIGURG as for perf_signal; where a thread can have "
     "neither a perf event nor a timer",
     "everywhere"},
    {PLIM_TIER_SUSPEND,
     "the own process, and SIGURG as for perf_signal; with "
     "PLIM_PROFILE_SUSPEND alone",
     "everywhere"},
    {PLIM_TIER_PRELOAD,
     "a command that plim starts (`profile -- CMD`), linked dynamically with "
     "the C library of plim, without privileges of its own, a sanitizer's "
     "library or a Go runtime; where perf and ptrace are refused, or with "
     "--preload; at most CONFIG_HZ samples a second; x86-64 and aarch64",
     "everywhere"},
};

/* Returns 0 for a tier that nobody has described. */
static int tier_row(int tier, const char *word, const char *text)
{
	for (size_t i = 0; i < sizeof(tier_rows) / sizeof(tier_rows[0]); i++)
		if (tier_rows[i].tier == tier) {
			printf("| `%s` ", word);
			cell(text);
			cell(tier_rows[i].needs);
			cell(tier_rows[i].stock);
			cell(LATER);
			cell(LATER);
			printf("|\n");
			return 1;
		}
	fprintf(stderr, "platforms.c says nothing of the tier %s\n", word);
	return 0;
}

int main(void)
{
	int complete = 1;

	puts("# What each system reports\n");
	puts("Written by `tools/gen-platforms` from the tables of "
	     "`include/plimsoll/fields.h` and\n`profile.h` and those of "
	     "`tools/platforms.c`; edit those. What is implemented, and how "
	     "that was\nverified, stands in it system by system. On any other "
	     "Unix, and wherever the library is built\nwith `-Dhost=none`, a "
	     "host opens and every figure is unavailable (`no_backend`).\n");
	puts("## Fields\n");
	puts("A counter only grows, a gauge is as it is now, a key tells "
	     "processes apart or describes\nthem. Sources stand best first: "
	     "the first that this kernel has and this user may read\nis used, "
	     "and each figure names its method.\n");
	puts("| field | kind | unit | since | what it is | Linux | macOS | "
	     "Windows |");
	puts("|---|---|---|---|---|---|---|---|");
#define PLIM_X(name, number, json, kind, unit, since, text, on_linux,      \
	       on_macos, on_windows)                                       \
	field_row(number, json, PLIM_KIND_##kind, PLIM_UNIT_##unit, since, \
		  text, on_linux, on_macos, on_windows);
	PLIM_FIELD_LIST(PLIM_X)
#undef PLIM_X
	other_fields();
	complete &= proofs();
	puts("\n## Ways to profile\n");
	puts("A profile names those that it used and says why the others were "
	     "not; `plim doctor` says\nwhich work here.\n");
	puts("| way | what it samples | needs on Linux | stock systems that "
	     "give it to an ordinary user | macOS | Windows |");
	puts("|---|---|---|---|---|---|");
#define PLIM_X(name, number, word, text) \
	complete &= tier_row(PLIM_TIER_##name, word, text);
	PLIM_TIER_LIST(PLIM_X)
#undef PLIM_X
	puts("\n## Methods\n");
	puts("How a known figure was found. Figures of unlike methods are not "
	     "compared.\n");
	puts("| method | what it is |");
	puts("|---|---|");
#define PLIM_X(name, number, word, text) method_row(word, text);
	PLIM_METHOD_LIST(PLIM_X)
#undef PLIM_X
	puts("\n## Reasons\n");
	puts("Why a figure is unavailable.\n");
	puts("| reason | state | what it means |");
	puts("|---|---|---|");
#define PLIM_X(name, number, state, word, text) reason_row(word, #state, text);
	PLIM_REASON_LIST(PLIM_X)
#undef PLIM_X
	return complete ? 0 : 1;
}
