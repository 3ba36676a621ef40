/*
 * platforms.c - prints PLATFORMS.md from the tables of fields.h and
 * profile.h. It is compiled and run by tools/gen-platforms and needs the
 * headers alone.
 */
#include <plimsoll/fields.h>
#include <plimsoll/profile.h>

#include <stdio.h>
#include <string.h>

#define LATER "not implemented yet"

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

static void field_row(const char *name, int kind, int unit, const char *since,
		      const char *text, const char *source)
{
	printf("| `%s` ", name);
	cell(kind_word(kind));
	cell(unit_word(unit));
	cell(since);
	cell(text);
	cell(source == NULL ? "never reported" : source);
	cell(LATER);
	cell(LATER);
	printf("|\n");
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
	     "`include/plimsoll/fields.h` and\n`profile.h`; edit those. "
	     "Plimsoll reads Linux. "
	     "Windows and macOS are not implemented yet; there, and\nwherever "
	     "the library is built with `-Dhost=none`, a host opens only in "
	     "that build and\nevery figure is unavailable (`no_backend`).\n");
	puts("## Fields\n");
	puts("A counter only grows, a gauge is as it is now, a key tells "
	     "processes apart or describes\nthem. Sources stand best first: "
	     "the first that this kernel has and this user may read\nis used, "
	     "and each figure names its method.\n");
	puts("| field | kind | unit | since | what it is | Linux | macOS | "
	     "Windows |");
	puts("|---|---|---|---|---|---|---|---|");
#define PLIM_X(name, number, json, kind, unit, since, text, source)      \
	field_row(json, PLIM_KIND_##kind, PLIM_UNIT_##unit, since, text, \
		  source);
	PLIM_FIELD_LIST(PLIM_X)
#undef PLIM_X
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
