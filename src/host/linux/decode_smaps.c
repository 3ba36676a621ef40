/*
 * decode_smaps.c - the lines of /proc/PID/smaps below the head of a mapping,
 * and those of smaps_rollup, which are the same: __show_smap() and
 * show_smap_vma_flags() in the kernel's fs/proc/task_mmu.c.
 *
 * Which lines there are depends on the kernel (Pss_Dirty came with 6.0,
 * LazyFree with 4.12), so each is a part of its own in `has`. Only
 * "Key: N kB" is a size: "THPeligible: 0" is none, and a key that is not in
 * the table is passed over, not guessed.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <string.h>

/* In the order of enum plimp_smaps_row, with the colon. */
static const char *const smaps_keys[PLIMP_SMAPS_ROWS] = {
    [PLIMP_SMAPS_RSS] = "Rss:",
    [PLIMP_SMAPS_PSS] = "Pss:",
    [PLIMP_SMAPS_PSS_DIRTY] = "Pss_Dirty:",
    [PLIMP_SMAPS_PSS_ANON] = "Pss_Anon:",
    [PLIMP_SMAPS_PSS_FILE] = "Pss_File:",
    [PLIMP_SMAPS_PSS_SHMEM] = "Pss_Shmem:",
    [PLIMP_SMAPS_SHARED_CLEAN] = "Shared_Clean:",
    [PLIMP_SMAPS_SHARED_DIRTY] = "Shared_Dirty:",
    [PLIMP_SMAPS_PRIVATE_CLEAN] = "Private_Clean:",
    [PLIMP_SMAPS_PRIVATE_DIRTY] = "Private_Dirty:",
    [PLIMP_SMAPS_ANONYMOUS] = "Anonymous:",
    [PLIMP_SMAPS_LAZY_FREE] = "LazyFree:",
    [PLIMP_SMAPS_ANON_HUGE] = "AnonHugePages:",
    [PLIMP_SMAPS_SHARED_HUGETLB] = "Shared_Hugetlb:",
    [PLIMP_SMAPS_PRIVATE_HUGETLB] = "Private_Hugetlb:",
    [PLIMP_SMAPS_SWAP] = "Swap:",
    [PLIMP_SMAPS_SWAP_PSS] = "SwapPss:",
    [PLIMP_SMAPS_LOCKED] = "Locked:",
};

/* The row whose key the line has; the scan is then behind it. Else -1. */
static int smaps_find(struct plimp_scan *scan)
{
	int row;

	for (row = 0; row < PLIMP_SMAPS_ROWS; row++)
		if (plimp_scan_literal(scan, smaps_keys[row]))
			return row;
	return -1;
}

static uint32_t smaps_flag(const char *word)
{
	static const struct {
		char word[3];
		uint32_t flag;
	} rows[] = {
	    {"nh", PLIMP_SMAPS_NH}, {"nr", PLIMP_SMAPS_NR},
	    {"ac", PLIMP_SMAPS_AC}, {"ht", PLIMP_SMAPS_HT},
	    {"gd", PLIMP_SMAPS_GD}, {"io", PLIMP_SMAPS_IO},
	    {"pf", PLIMP_SMAPS_IO}, {"hg", PLIMP_SMAPS_HG},
	    {"lo", PLIMP_SMAPS_LO},
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (!memcmp(rows[i].word, word, 2))
			return rows[i].flag;
	return 0;
}

/* "VmFlags: rd ex mr mw me ": words of two letters. */
static int smaps_flags(struct plimp_scan *scan, struct plimp_smaps *smaps)
{
	plim_bytes word;
	uint32_t flags = 0;

	if ((smaps->has >> PLIMP_SMAPS_FLAGS & 1) != 0)
		return 0;
	plimp_scan_blanks(scan);
	while (plimp_scan_word(scan, &word)) {
		if (word.size == 2)
			flags |= smaps_flag(word.data);
		plimp_scan_blanks(scan);
	}
	smaps->flags = flags;
	smaps->has |= 1u << PLIMP_SMAPS_FLAGS;
	return 1;
}

int plimp_decode_smaps_line(plim_bytes line, struct plimp_smaps *smaps)
{
	struct plimp_scan scan = plimp_scan_of(line);
	uint64_t number;
	int row;

	if (plimp_scan_literal(&scan, "VmFlags:"))
		return smaps_flags(&scan, smaps);
	row = smaps_find(&scan);
	if (row < 0 || (smaps->has >> row & 1) != 0)
		return 0;
	plimp_scan_blanks(&scan);
	if (!plimp_scan_u64(&scan, &number) || number > UINT64_MAX / 1024 ||
	    !plimp_scan_literal(&scan, " kB") || scan.at != scan.end)
		return 0;
	smaps->bytes[row] = number * 1024;
	smaps->has |= 1u << row;
	return 1;
}

int plimp_decode_smaps(plim_bytes text, struct plimp_smaps *smaps)
{
	struct plimp_scan scan = plimp_scan_of(text);
	struct plimp_smaps found;
	plim_bytes line;

	memset(&found, 0, sizeof found);
	while (plimp_scan_line(&scan, &line))
		if (line.data + line.size < scan.end ||
		    (scan.at > line.data && scan.at[-1] == '\n'))
			(void)plimp_decode_smaps_line(line, &found);
	if (found.has == 0)
		return PLIM_EMALFORMED;
	*smaps = found;
	return PLIM_OK;
}
