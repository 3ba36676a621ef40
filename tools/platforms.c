/*
 * platforms.c - prints PLATFORMS.md from the tables of fields.h. It is
 * compiled and run by tools/gen-platforms and needs the headers alone.
 */
#include <plimsoll/fields.h>

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

int main(void)
{
	puts("# What each system reports\n");
	puts("Written by `tools/gen-platforms` from the tables of "
	     "`include/plimsoll/fields.h`; edit\nthose. Plimsoll reads Linux. "
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
	return 0;
}
