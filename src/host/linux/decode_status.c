/*
 * decode_status.c - /proc/PID/status, some sixty lines "Key:\tvalue".
 *
 * The format is proc_pid_status() in the kernel's fs/proc/array.c and
 * task_mem() in task_mmu.c. Which lines there are depends on the kernel (the
 * Rss* lines came with 4.5) and on the process (a kernel thread and a zombie
 * have no Vm* lines), so each line is a part of its own in `has`. The Name
 * line comes first and its newlines are escaped: no process can write a line.
 * A line that comes twice counts once, the first; a last line without its
 * newline was cut and is left out, as is one with anything behind its value.
 *
 * This runs once per process of a snapshot. A row of the table says what a
 * wanted line looks like; a few letters of a line pick the only row that it
 * can belong to. Once only the switches are missing, which stand at the end,
 * the lines before them are jumped over.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <assert.h>
#include <string.h>

enum status_kind {
	STATUS_COUNT, /* "N", to a uint64_t */
	STATUS_SIZE,  /* "N kB" of 1024 bytes, to a uint64_t of bytes */
	STATUS_ID,    /* "N" up to 2^31 - 1, to an int32_t */
	STATUS_MASK,  /* 16 hexadecimal digits, to a uint64_t */
	STATUS_USER   /* real, effective, saved, file system: the second */
};

struct status_row {
	const char *key;
	size_t size;
	enum status_kind kind;
	int part;
	size_t offset; /* of the member in struct plimp_status */
};

#define STATUS_ROW(name, key, kind, member)                                    \
	[STATUS_AT_##name] = {key, sizeof(key) - 1, kind, PLIMP_STATUS_##name, \
			      offsetof(struct plimp_status, member)}

enum status_at {
	STATUS_AT_TGID,
	STATUS_AT_PID,
	STATUS_AT_PPID,
	STATUS_AT_UID,
	STATUS_AT_HWM,
	STATUS_AT_RSS,
	STATUS_AT_ANON,
	STATUS_AT_FILE,
	STATUS_AT_SHMEM,
	STATUS_AT_SWAP,
	STATUS_AT_PTE,
	STATUS_AT_THREADS,
	STATUS_AT_IGNORED,
	STATUS_AT_VOLUNTARY,
	STATUS_AT_INVOLUNTARY,
	STATUS_AT_NONE
};

/* clang-format off */
static const struct status_row status_rows[] = {
	STATUS_ROW(TGID, "Tgid:", STATUS_ID, tgid),
	STATUS_ROW(PID, "Pid:", STATUS_ID, pid),
	STATUS_ROW(PPID, "PPid:", STATUS_ID, ppid),
	STATUS_ROW(UID, "Uid:", STATUS_USER, uid),
	STATUS_ROW(HWM, "VmHWM:", STATUS_SIZE, peak_bytes),
	STATUS_ROW(RSS, "VmRSS:", STATUS_SIZE, resident_bytes),
	STATUS_ROW(ANON, "RssAnon:", STATUS_SIZE, anonymous_bytes),
	STATUS_ROW(FILE, "RssFile:", STATUS_SIZE, file_bytes),
	STATUS_ROW(SHMEM, "RssShmem:", STATUS_SIZE, shmem_bytes),
	STATUS_ROW(SWAP, "VmSwap:", STATUS_SIZE, swap_bytes),
	STATUS_ROW(PTE, "VmPTE:", STATUS_SIZE, page_table_bytes),
	STATUS_ROW(THREADS, "Threads:", STATUS_COUNT, threads),
	STATUS_ROW(IGNORED, "SigIgn:", STATUS_MASK, ignored),
	STATUS_ROW(VOLUNTARY, "voluntary_ctxt_switches:", STATUS_COUNT,
		   voluntary),
	STATUS_ROW(INVOLUNTARY, "nonvoluntary_ctxt_switches:", STATUS_COUNT,
		   involuntary),
};
/* clang-format on */

#define STATUS_SWITCHES \
	((uint32_t)(PLIMP_STATUS_VOLUNTARY | PLIMP_STATUS_INVOLUNTARY))
#define STATUS_ALL (((uint32_t)1 << STATUS_AT_NONE) - 1)

/* The row that a line of at least four letters may belong to. */
static enum status_at status_guess(const char *line)
{
	switch (line[0]) {
	case 'T':
		return line[1] == 'g' ? STATUS_AT_TGID : STATUS_AT_THREADS;
	case 'P':
		return line[1] == 'i' ? STATUS_AT_PID : STATUS_AT_PPID;
	case 'U':
		return STATUS_AT_UID;
	case 'V':
		switch (line[2]) {
		case 'H':
			return STATUS_AT_HWM;
		case 'R':
			return STATUS_AT_RSS;
		case 'P':
			return STATUS_AT_PTE;
		case 'S':
			return STATUS_AT_SWAP;
		default:
			return STATUS_AT_NONE;
		}
	case 'R':
		switch (line[3]) {
		case 'A':
			return STATUS_AT_ANON;
		case 'F':
			return STATUS_AT_FILE;
		default:
			return STATUS_AT_SHMEM;
		}
	case 'S':
		return STATUS_AT_IGNORED;
	case 'v':
		return STATUS_AT_VOLUNTARY;
	case 'n':
		return STATUS_AT_INVOLUNTARY;
	default:
		return STATUS_AT_NONE;
	}
}

/* The row whose key the line has, or NULL. */
static const struct status_row *status_find(const struct plimp_scan *line)
{
	size_t left = (size_t)(line->end - line->at);
	if (left < 4)
		return NULL;

	enum status_at at = status_guess(line->at);
	if (at == STATUS_AT_NONE)
		return NULL;
	const struct status_row *row = &status_rows[at];
	if (left < row->size || memcmp(line->at, row->key, row->size))
		return NULL;
	return row;
}

static int status_number(struct plimp_scan *scan, uint64_t *number)
{
	plimp_scan_blanks(scan);
	return plimp_scan_u64(scan, number);
}

/* Real, effective, saved and file system user; the second is wanted. */
static int status_user(struct plimp_scan *scan, uint64_t *effective)
{
	uint64_t users[4];

	for (int i = 0; i < 4; i++) {
		if (!status_number(scan, &users[i]) || users[i] > UINT32_MAX)
			return 0;
	}
	*effective = users[1];
	return 1;
}

/* What render_sigset_t() prints: 16 digits, lower case, on a system of 64
 * signals. */
static int status_mask(struct plimp_scan *scan, uint64_t *mask)
{
	int digits = 0;

	plimp_scan_blanks(scan);
	*mask = 0;
	for (; scan->at < scan->end && digits < 16; scan->at++, digits++) {
		char digit = *scan->at;

		if (digit >= '0' && digit <= '9')
			*mask = *mask << 4 | (uint64_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			*mask = *mask << 4 | (uint64_t)(digit - 'a' + 10);
		else
			break;
	}
	return digits == 16;
}

/* "N kB", in bytes. */
static int status_size(struct plimp_scan *scan, uint64_t *bytes)
{
	uint64_t number;

	if (!status_number(scan, &number) || number > UINT64_MAX / 1024 ||
	    !plimp_scan_literal(scan, " kB"))
		return 0;
	*bytes = number * 1024;
	return 1;
}

/* The value of a row in the unit of its member; 0 if it has not the form of
 * its kind, does not fit, or anything but a newline stands behind it. */
static int status_value(struct plimp_scan *scan, enum status_kind kind,
			uint64_t *value)
{
	int good;

	if (kind == STATUS_SIZE)
		good = status_size(scan, value);
	else if (kind == STATUS_USER)
		good = status_user(scan, value);
	else if (kind == STATUS_MASK)
		good = status_mask(scan, value);
	else
		good = status_number(scan, value) &&
		       (kind != STATUS_ID || *value <= INT32_MAX);
	return good && scan->at < scan->end && *scan->at == '\n';
}

static void status_store(struct plimp_status *status,
			 const struct status_row *row, uint64_t value)
{
	char *member = (char *)status + row->offset;
	uint32_t narrow = (uint32_t)value;

	assert(!(status->has & (uint32_t)row->part));
	/* A uint32_t and an int32_t that is not negative look the same. */
	if (row->kind == STATUS_ID || row->kind == STATUS_USER)
		memcpy(member, &narrow, sizeof(narrow));
	else
		memcpy(member, &value, sizeof(value));
	status->has |= (uint32_t)row->part;
}

/* Steps over the next line, and stores what it says. */
static void status_line(struct plimp_scan *scan, struct plimp_status *status)
{
	const struct status_row *row = status_find(scan);
	uint64_t value;

	if (row && !(status->has & (uint32_t)row->part)) {
		struct plimp_scan rest = {.at = scan->at + row->size,
					  .end = scan->end};
		if (status_value(&rest, row->kind, &value)) {
			status_store(status, row, value);
			scan->at = rest.at + 1;
			return;
		}
	}
	const char *newline =
	    memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
	scan->at = newline ? newline + 1 : scan->end;
}

/*
 * From the beginning of a line to that of the next one about switches, which
 * have a "v" as their first or fourth letter; few other lines hold one.
 */
static void status_jump(struct plimp_scan *scan)
{
	const char *start = scan->at;
	const char *at = start;

	while (at < scan->end) {
		at = memchr(at, 'v', (size_t)(scan->end - at));
		if (!at)
			break;
		size_t before = (size_t)(at - start);
		if (!before || at[-1] == '\n') {
			scan->at = at;
			return;
		}
		if (before >= 3 && !memcmp(at - 3, "non", 3) &&
		    (before == 3 || at[-4] == '\n')) {
			scan->at = at - 3;
			return;
		}
		at++;
	}
	scan->at = scan->end;
}

/* What is not wanted is taken for found, so that its line is stepped over, and
 * the last line that is wanted is the last that is looked at. */
int plimp_decode_status_parts(plim_bytes text, uint32_t parts,
			      struct plimp_status *status)
{
	struct plimp_scan scan = plimp_scan_of(text);
	struct plimp_status found = {.has = STATUS_ALL & ~parts};

	while (scan.at < scan.end && found.has != STATUS_ALL) {
		if ((found.has | STATUS_SWITCHES) == STATUS_ALL)
			status_jump(&scan);
		if (scan.at < scan.end)
			status_line(&scan, &found);
	}
	found.has &= parts;
	if (!found.has)
		return PLIM_EMALFORMED;
	*status = found;
	return PLIM_OK;
}

int plimp_decode_status(plim_bytes text, struct plimp_status *status)
{
	return plimp_decode_status_parts(text, STATUS_ALL, status);
}

int plimp_decode_own_pid(plim_bytes text, int32_t *pid)
{
	struct plimp_scan scan = plimp_scan_of(text);
	plim_bytes line;

	while (plimp_scan_line(&scan, &line)) {
		struct plimp_scan at = plimp_scan_of(line);
		uint64_t number = 0;

		if (!plimp_scan_literal(&at, "NSpid:"))
			continue;
		/* A last line without its newline was cut. */
		if (at.at == at.end || at.end == scan.end)
			return PLIM_EMALFORMED;
		while (at.at < at.end)
			if (!status_number(&at, &number) || number == 0 ||
			    number > INT32_MAX)
				return PLIM_EMALFORMED;
		*pid = (int32_t)number;
		return PLIM_OK;
	}
	return PLIM_EMALFORMED;
}
