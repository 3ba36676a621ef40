/*
 * faked.h - the figures that Wine tells as zero, or not at all, although the
 * call succeeds. The list is checked from both sides: on every system each has
 * a value that is not zero when it is decoded from bytes
 * (tests/decode/test_decode_nt_table.c), and under Wine each is zero
 * (test_faked.c), so that nothing else may be asserted of it there and a Wine
 * that learns to tell one makes the list shorter.
 */
#ifndef PLIMT_FAKED_H
#define PLIMT_FAKED_H

/* Names of fields. */
static const char *const faked_fields[] = {
    "private_bytes", "wakeups",	 "disk_read_bytes", "disk_write_bytes",
    "disk_ops",	     "io_calls", "faults_minor",    "faults_major",
    "commit_bytes",  "state",
};

/* Told, but not what it is called: the room in the table of handles. */
static const char *const faked_others[] = {"descriptors"};

#endif
