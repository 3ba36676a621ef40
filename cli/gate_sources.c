/*
 * gate_sources.c - where each figure of a budget comes from: the one table
 * that `plim gate --explain` and the manual page show. gate_figures.c does
 * what stands here.
 */
#include "gate.h"

static const struct gate_source sources[] = {
    {PLIM_BUDGET_IDLE_CPU, "the process CPU clock at both ends of the window",
     "the same of each member, with the children-time of those that ended"},
    {PLIM_BUDGET_WAKEUPS,
     "voluntary context switches, thread by thread; what a thread counted that "
     "ended is lost, so that it is a lower bound where one may have",
     "the same of each member"},
    {PLIM_BUDGET_DISK_READ, "read_bytes of /proc/PID/io",
     "the same of each member, and what ended ones left to their parents"},
    {PLIM_BUDGET_DISK_WRITE, "write_bytes of /proc/PID/io",
     "the same of each member, and what ended ones left to their parents"},
    {PLIM_BUDGET_DISK_BLOCKS,
     "read_bytes and write_bytes of /proc/PID/io, in blocks of 512 bytes as "
     "the kernel makes ru_inblock and ru_oublock of them",
     "the same of each member"},
    {PLIM_BUDGET_DISK_OPS,
     "io.stat of a cgroup (version 2) that holds the process alone; nowhere "
     "else are operations counted, and blocks are not operations",
     "the same: a cgroup that holds several processes is not told apart"},
    {PLIM_BUDGET_IO_CALLS, "syscr and syscw of /proc/PID/io",
     "the same of each member, and what ended ones left to their parents"},
    {PLIM_BUDGET_RESIDENT_WARM, "statm when the window begins",
     "the sum over the members; a page that several share counts for each"},
    {PLIM_BUDGET_RESIDENT_END, "statm when the window ends",
     "the sum over the members; a page that several share counts for each"},
    {PLIM_BUDGET_PRIVATE_WARM,
     "anonymous memory in RAM and in swap (status) when the window begins",
     "the sum over the members"},
    {PLIM_BUDGET_PRIVATE_DIRTY_END,
     "Private_Dirty of smaps_rollup, right after the window; unavailable where "
     "the walk that it takes is predicted to stall the process for more than "
     "20 ms",
     "the sum over the members, each with that guard"},
    {PLIM_BUDGET_PEAK_RESIDENT,
     "VmHWM of status, which starts anew when a program is executed; of one "
     "that ended, as it was last seen",
     "the sum of the members' peaks, at most; of a tree that ended, the most "
     "that its members held together when they were looked at"},
    {PLIM_BUDGET_RETAINED,
     "a walk through its allocators when the window has ended: resident bytes "
     "that are free, or in caches of threads; at least, where an allocator is "
     "not walked",
     "the sum over the members"},
    {PLIM_BUDGET_CPU_TOTAL,
     "wait4 of what the gate started, once it has ended (on Windows its own "
     "times, without its children's); else the CPU clock",
     "wait4 of the command, which includes children that were waited for, and "
     "of every orphan that the gate inherited (on Windows the account of its "
     "job, and where there is none at least the command's own times); else "
     "what the members used"},
    {PLIM_BUDGET_WALL,
     "the monotonic clock, from the moment it was executed until it ended, or "
     "else was quiet; only of what the gate starts",
     "the same"},
    {PLIM_BUDGET_THREADS, "stat when the window ends",
     "the sum over the members"},
    {PLIM_BUDGET_DESCRIPTORS, "the size of its fd directory",
     "the sum over the members"},
    {PLIM_BUDGET_CHILDREN_STARTED,
     "perf records of every start, else the process connector",
     "the same, of all descendants"},
};

const struct gate_source *gate_source_of(int figure)
{
	size_t i;

	for (i = 0; i < sizeof sources / sizeof sources[0]; i++)
		if (sources[i].figure == figure)
			return &sources[i];
	return NULL;
}
