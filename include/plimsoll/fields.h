/*
 * fields.h - the three tables that everything else is derived from: what can
 * be known of a process, how it was found, and why it may be missing.
 *
 * A row is added at the end and never changes its number, word, unit or kind.
 * JSON names, columns, filters, PLATFORMS.md, man pages and the tests that
 * walk every field come from these rows.
 */
#ifndef PLIMSOLL_FIELDS_H
#define PLIMSOLL_FIELDS_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/units.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a difference of two samples means. */
enum plim_kind {
	PLIM_KIND_COUNTER = 1, /* since the start; only grows */
	PLIM_KIND_GAUGE = 2,   /* as it is now */
	PLIM_KIND_KEY = 3,     /* tells processes apart or describes them */
	PLIM_KIND_TEXT = 4     /* bytes; read with plim_process_text() */
};

/*
 * X(NAME, NUMBER, "json_name", KIND, UNIT, "since", "sentence", "Linux",
 * "macOS", "Windows"). The last columns name the sources on each system, best
 * first; NULL means that the system never reports it.
 */
#define PLIM_FIELD_LIST(X)                                                     \
	X(PID, 1, "pid", KEY, ID, "0.1", "process id", "the /proc listing",    \
	  "proc_listallpids",                                                  \
	  "the process table (NtQuerySystemInformation, class 5)")             \
	X(PPID, 2, "ppid", KEY, ID, "0.1", "pid of the parent",                \
	  "stat field 4", "pbi_ppid (PROC_PIDTBSDINFO)",                       \
	  "the process table; never updated, so it may name a process that "   \
	  "ended or a newer one")                                              \
	X(NAME, 3, "name", TEXT, NONE, "0.1",                                  \
	  "name of the executable, or what the process calls itself",          \
	  "stat field 2", "pbi_name, else pbi_comm (PROC_PIDTBSDINFO)",        \
	  "ImageName of the process table")                                    \
	X(STATE, 4, "state", TEXT, NONE, "0.1",                                \
	  "scheduling state of the main thread, one letter: R running, "       \
	  "S sleeping, D uninterruptible, T stopped, t traced, Z zombie, "     \
	  "I idle",                                                            \
	  "stat field 3",                                                      \
	  "pbi_status (PROC_PIDTBSDINFO), else R where pti_numrunning "        \
	  "counts a thread, of whichever, else S",                             \
	  "ThreadState and WaitReason of its oldest thread")                   \
	X(IDENTITY, 5, "identity", TEXT, NONE, "0.1",                          \
	  "the pid with its proof, as plim accepts it: PID@iINODE or "         \
	  "PID@tTICKS",                                                        \
	  "pidfd inode (Linux 6.9), else stat field 22",                       \
	  "the kernel's unique id (PROC_PIDUNIQIDENTIFIERINFO)",               \
	  "CreateTime of the process table")                                   \
	X(IDENTITY_RUNG, 6, "identity_rung", KEY, NONE, "0.1",                 \
	  "how strong the proof is: 1 never reused, 2 start tick, 3 none",     \
	  "pidfd inode, stat field 22", "the kernel's unique id",              \
	  "CreateTime")                                                        \
	X(START_TICKS, 7, "start_ticks", KEY, TICKS, "0.1",                    \
	  "start of the process in clock ticks; since boot on Linux",          \
	  "stat field 22",                                                     \
	  "ri_proc_start_abstime, Mach ticks (proc_pid_rusage)",               \
	  "CreateTime, 100 ns since 1601")                                     \
	X(START_UNIX_MS, 8, "start_unix_ms", KEY, UNIX_MS, "0.1",              \
	  "start of the process in Unix time, derived once per host",          \
	  "stat field 22, CLOCK_REALTIME - CLOCK_BOOTTIME",                    \
	  "pbi_start_tvsec and pbi_start_tvusec", "CreateTime")                \
	X(UID, 9, "uid", KEY, ID, "0.1", "effective user id",                  \
	  "status Uid, else the owner of /proc/PID",                           \
	  "pbi_uid (PROC_PIDTBSDINFO)", NULL)                                  \
	X(CPU, 10, "cpu_ns", COUNTER, NS, "0.1",                               \
	  "CPU time, user and system, of all threads, ended ones included",    \
	  "getrusage for self, wait4 for a reaped child, else the process "    \
	  "CPU clock, else stat fields 14 and 15",                             \
	  "ri_user_time + ri_system_time (proc_pid_rusage), Mach ticks "       \
	  "converted",                                                         \
	  "KernelTime + UserTime of the process table, in 100 ns; "            \
	  "GetProcessTimes for self")                                          \
	X(CPU_USER, 11, "cpu_user_ns", COUNTER, NS, "0.1",                     \
	  "CPU time in user mode; the split is sampled by ticks and need not " \
	  "add up to cpu_ns",                                                  \
	  "getrusage for self, else stat field 14", "ri_user_time",            \
	  "UserTime")                                                          \
	X(CPU_SYSTEM, 12, "cpu_system_ns", COUNTER, NS, "0.1",                 \
	  "CPU time in the kernel; the split is sampled by ticks and need "    \
	  "not add up to cpu_ns",                                              \
	  "getrusage for self, else stat field 15", "ri_system_time",          \
	  "KernelTime")                                                        \
	X(CPU_CHILDREN, 13, "cpu_children_ns", COUNTER, NS, "0.1",             \
	  "CPU time of children that ended and were waited for",               \
	  "getrusage for self, else stat fields 16 and 17",                    \
	  "ri_child_user_time + ri_child_system_time", NULL)                   \
	X(RESIDENT, 14, "resident_bytes", GAUGE, BYTES, "0.1",                 \
	  "memory in RAM, shared pages included (RSS)", "statm field 2",       \
	  "ri_resident_size (proc_pid_rusage)", "WorkingSetSize")              \
	X(PRIVATE, 15, "private_bytes", GAUGE, BYTES, "0.1",                   \
	  "anonymous memory, in RAM or swapped out",                           \
	  "status RssAnon + VmSwap; statm where the host has no swap",         \
	  "ri_phys_footprint: the memory footprint that the system's own "     \
	  "tools show",                                                        \
	  "WorkingSetPrivateSize: the private working set that the system's "  \
	  "own task manager shows")                                            \
	X(ANONYMOUS, 16, "anonymous_bytes", GAUGE, BYTES, "0.1",               \
	  "anonymous memory in RAM (RssAnon)",                                 \
	  "statm field 2 - field 3, else status RssAnon", NULL, NULL)          \
	X(FILE, 17, "file_bytes", GAUGE, BYTES, "0.1",                         \
	  "file pages in RAM, evictable and mostly shared (RssFile)",          \
	  "status RssFile", NULL, NULL)                                        \
	X(SHMEM, 18, "shmem_bytes", GAUGE, BYTES, "0.1",                       \
	  "shared memory and tmpfs pages in RAM (RssShmem)",                   \
	  "status RssShmem", NULL, NULL)                                       \
	X(SWAP, 19, "swap_bytes", GAUGE, BYTES, "0.1",                         \
	  "anonymous memory swapped out (VmSwap)", "status VmSwap", NULL,      \
	  NULL)                                                                \
	X(PEAK_RESIDENT, 20, "peak_resident_bytes", GAUGE, BYTES, "0.1",       \
	  "largest resident size since the last exec (VmHWM)", "status VmHWM", \
	  "ri_lifetime_max_phys_footprint, of the footprint",                  \
	  "PeakWorkingSetSize")                                                \
	X(COMMIT, 21, "commit_bytes", GAUGE, BYTES, "0.1",                     \
	  "private memory that was promised, touched or not", NULL, NULL,      \
	  "PrivatePageCount; PrivateUsage for self")                           \
	X(WAKEUPS, 22, "wakeups", COUNTER, NONE, "0.1",                        \
	  "times any thread gave up its CPU to wait (voluntary context "       \
	  "switches)",                                                         \
	  "getrusage for self, wait4 for a reaped child, else the sum of "     \
	  "task/TID/status over live threads (at least)",                      \
	  "ri_interrupt_wkups: interrupt wake-ups of the process; no thread "  \
	  "has a share",                                                       \
	  "the sum of ContextSwitches over live threads (at least), 64-bit "   \
	  "alone")                                                             \
	X(INVOLUNTARY, 23, "involuntary_switches", COUNTER, NONE, "0.1",       \
	  "times any thread was put off its CPU", "as wakeups", NULL, NULL)    \
	X(DISK_READ, 24, "disk_read_bytes", COUNTER, BYTES, "0.1",             \
	  "bytes fetched from storage; reaped children included",              \
	  "io read_bytes", "ri_diskio_bytesread",                              \
	  "ReadTransferCount: all I/O, pipes and sockets too")                 \
	X(DISK_WRITE, 25, "disk_write_bytes", COUNTER, BYTES, "0.1",           \
	  "bytes sent towards storage; reaped children included",              \
	  "io write_bytes", "ri_diskio_byteswritten",                          \
	  "WriteTransferCount: all I/O, pipes and sockets too")                \
	X(DISK_CANCELLED, 26, "disk_cancelled_write_bytes", COUNTER, BYTES,    \
	  "0.1",                                                               \
	  "bytes counted as written whose pages were dropped before they "     \
	  "reached storage; reaped children included",                         \
	  "io cancelled_write_bytes", NULL, NULL)                              \
	X(DISK_BLOCKS, 27, "disk_blocks", COUNTER, BLOCKS, "0.1",              \
	  "storage traffic in units of 512 bytes; not operations",             \
	  "getrusage for self, wait4 for a reaped child", NULL, NULL)          \
	X(DISK_OPS, 28, "disk_ops", COUNTER, NONE, "0.1",                      \
	  "operations that reached a block device",                            \
	  "cgroup v2 io.stat of a cgroup that holds this process alone", NULL, \
	  "ReadOperationCount + WriteOperationCount: all I/O, pipes and "      \
	  "sockets too")                                                       \
	X(IO_CALLS, 29, "io_calls", COUNTER, NONE, "0.1",                      \
	  "read and write system calls, pipes and sockets too; reaped "        \
	  "children included",                                                 \
	  "io syscr + syscw", NULL,                                            \
	  "ReadOperationCount + WriteOperationCount")                          \
	X(FAULTS_MINOR, 30, "faults_minor", COUNTER, NONE, "0.1",              \
	  "page faults served without storage",                                \
	  "getrusage for self, else stat field 10",                            \
	  "pti_faults - pti_pageins (PROC_PIDTASKINFO)",                       \
	  "PageFaultCount - HardFaultCount")                                   \
	X(FAULTS_MAJOR, 31, "faults_major", COUNTER, NONE, "0.1",              \
	  "page faults that waited for storage",                               \
	  "getrusage for self, else stat field 12",                            \
	  "ri_pageins (proc_pid_rusage)", "HardFaultCount")                    \
	X(THREADS, 32, "threads", GAUGE, NONE, "0.1", "threads alive",         \
	  "stat field 20", "pti_threadnum (PROC_PIDTASKINFO)",                 \
	  "NumberOfThreads")                                                   \
	X(DESCRIPTORS, 33, "descriptors", GAUGE, NONE, "0.1",                  \
	  "open file descriptors", "size of /proc/PID/fd (Linux 6.2)",         \
	  "counting what PROC_PIDLISTFDS lists",                               \
	  "HandleCount: handles of every kind")                                \
	X(KERNEL_THREAD, 34, "kernel_thread", KEY, NONE, "0.1",                \
	  "1 for a thread of the kernel, else 0",                              \
	  "stat field 9, flag 0x200000", "pbi_flags, PROC_FLAG_SYSTEM", NULL)  \
	X(CGROUP, 35, "cgroup", TEXT, NONE, "0.1",                             \
	  "path of the control group, seen from our cgroup namespace; of a "   \
	  "removed one with \" (deleted)\" behind it",                         \
	  "cgroup: of the named systemd hierarchy, version 2, memory, pids "   \
	  "and cpu the first that is not /",                                   \
	  NULL, NULL)                                                          \
	X(UNIT, 36, "unit", TEXT, NONE, "0.1",                                 \
	  "unit of systemd that the process belongs to: the user's own where " \
	  "there is one, else the system's, else the slice",                   \
	  "the cgroup path", NULL, NULL)                                       \
	X(CONTAINER, 37, "container", TEXT, NONE, "0.1",                       \
	  "id of the innermost container that the process runs in; of lxc "    \
	  "and systemd-nspawn the name",                                       \
	  "the cgroup path", NULL, NULL)                                       \
	X(EXE, 38, "exe", TEXT, NONE, "0.1",                                   \
	  "path of the program file, as the kernel has it now; of a removed "  \
	  "one with \" (deleted)\" behind it",                                 \
	  "the link exe", "proc_pidpath", "QueryFullProcessImageName")         \
	X(NICE, 39, "nice", KEY, SIGNED, "0.1",                                \
	  "nice value of the main thread, from -20, the most urgent, to 19",   \
	  "stat field 19", "pbi_nice (PROC_PIDTBSDINFO)", NULL)                \
	X(OOM_SCORE, 40, "oom_score", GAUGE, NONE, "0.1",                      \
	  "how likely the kernel ends it when memory runs out; 0 is never",    \
	  "oom_score", NULL, NULL)                                             \
	X(RUNQUEUE, 41, "runqueue_wait_ns", COUNTER, NS, "0.1",                \
	  "time that its threads waited for a CPU while they could run",       \
	  "schedstat of one thread, else the sum of task/TID/schedstat over "  \
	  "live threads (at least)",                                           \
	  NULL, NULL)                                                          \
	X(BLOCK_IO_DELAY, 42, "block_io_delay_ns", COUNTER, NS, "0.1",         \
	  "time that its threads waited for storage",                          \
	  "stat field 42 of one thread, else the sum of task/TID/stat over "   \
	  "live threads (at least), while kernel.task_delayacct is on",        \
	  NULL, NULL)                                                          \
	X(PSS, 43, "pss_bytes", GAUGE, BYTES, "0.1",                           \
	  "memory in RAM, each page divided by the number of processes that "  \
	  "map it (PSS)",                                                      \
	  "smaps_rollup Pss, where the walk for it is predicted to take no "   \
	  "longer than 20 ms; not in snapshots",                               \
	  NULL, NULL)                                                          \
	X(PRIVATE_DIRTY, 44, "private_dirty_bytes", GAUGE, BYTES, "0.1",       \
	  "written memory in RAM that no other process maps: what the "        \
	  "process alone costs the machine",                                   \
	  "smaps_rollup Private_Dirty, as pss_bytes", NULL, NULL)

enum plim_field_id {
#define PLIM_X(name, number, json, kind, unit, since, text, linux_source, \
	       macos_source, windows_source)                              \
	PLIM_FIELD_##name = number,
	PLIM_FIELD_LIST(PLIM_X)
#undef PLIM_X
	    PLIM_FIELD_LAST = 44 /* of this header; a library may know more */
};

/* A field number is below this, now and later. */
#define PLIM_FIELD_LIMIT 128

/*
 * How a known figure was found. The same word of the field table means
 * different things on different systems, so the method is shown in detail
 * views, JSON and gate output, and unlike methods are not compared.
 * X(NAME, NUMBER, "word", "sentence").
 */
#define PLIM_METHOD_LIST(X)                                                    \
	X(NONE, 0, "none", "no source")                                        \
	X(GETRUSAGE, 1, "getrusage",                                           \
	  "getrusage of the process itself: every thread, ended ones "         \
	  "included")                                                          \
	X(WAIT4, 2, "wait4",                                                   \
	  "the kernel's account at the end: every thread and every "           \
	  "descendant that was waited for")                                    \
	X(PROCESS_CPU_CLOCK, 3, "process_cpu_clock",                           \
	  "the process CPU clock: nanoseconds, ended threads included")        \
	X(STAT, 4, "stat", "/proc/PID/stat")                                   \
	X(STAT_TICKS, 5, "stat_ticks",                                         \
	  "/proc/PID/stat in clock ticks, each part rounded down")             \
	X(STATM, 6, "statm", "/proc/PID/statm in pages")                       \
	X(STATUS, 7, "status", "/proc/PID/status")                             \
	X(IO, 8, "io", "/proc/PID/io")                                         \
	X(IO_WITH_CHILDREN, 9, "io_reaped_children_included",                  \
	  "/proc/PID/io, which includes children once they were waited for")   \
	X(THREAD_SUM, 10, "thread_sum",                                        \
	  "the sum over the live threads; what ended threads counted is "      \
	  "lost")                                                              \
	X(DIRECTORY_OWNER, 11, "proc_directory_owner",                         \
	  "the owner of the process's directory in /proc")                     \
	X(FD_DIRECTORY_SIZE, 12, "fd_directory_size",                          \
	  "the size that the kernel gives the process's fd directory")         \
	X(STATM_NO_SWAP, 13, "statm_host_without_swap",                        \
	  "anonymous memory in RAM, on a host that has no swap")               \
	X(START_TICKS, 14, "start_ticks_and_boot_time",                        \
	  "the start tick added to the time of boot")                          \
	X(PIDFD_INODE, 15, "pidfd_inode",                                      \
	  "the inode of the pidfd, unique until the machine restarts")         \
	X(PIDFD_INFO, 16, "pidfd_info", "PIDFD_GET_INFO")                      \
	X(CGROUP_IO_STAT, 17, "cgroup_io_stat",                                \
	  "io.stat of the cgroup that holds this process alone, counted "      \
	  "since "                                                             \
	  "the group was made")                                                \
	X(LISTING, 18, "listing", "the list of processes itself")              \
	X(IDENTITY, 19, "identity", "composed of the figures of identity")     \
	X(MIXED, 20, "mixed",                                                  \
	  "found by different methods in different "                           \
	  "members")                                                           \
	X(TASK_STATM, 21, "task_statm",                                        \
	  "task/TID/statm of a live thread, since the main thread has ended")  \
	X(TASK_STATUS, 22, "task_status",                                      \
	  "task/TID/status of a live thread, since the main thread has ended") \
	X(SYSTEM, 23, "system", "a question to the system as a whole")         \
	X(FD_LISTING, 24, "fd_listing",                                        \
	  "counting the entries of the process's fd directory")                \
	X(WAITID, 25, "waitid", "the status that waiting for it gave")         \
	X(COMMAND_LINE, 26, "cmdline", "/proc/PID/cmdline")                    \
	X(CGROUP_V2, 27, "cgroup_v2",                                          \
	  "the version 2 line of /proc/PID/cgroup")                            \
	X(CGROUP_V1, 28, "cgroup_v1",                                          \
	  "a version 1 line of /proc/PID/cgroup: that of the named systemd "   \
	  "hierarchy, else memory, pids or cpu")                               \
	X(EXE_LINK, 29, "exe_link", "the link /proc/PID/exe")                  \
	X(OOM_SCORE, 30, "oom_score", "/proc/PID/oom_score")                   \
	X(PERF_RECORDS, 31, "perf_records",                                    \
	  "a perf record of every start and end, of the tree alone")           \
	X(PROCESS_CONNECTOR, 32, "process_connector",                          \
	  "the process connector: every start and end on the machine, of "     \
	  "which those of the tree are kept")                                  \
	X(THREAD_STATUS, 33, "thread_status",                                  \
	  "/proc/PID/task/TID/status, of this thread alone")                   \
	X(THREAD_SCHEDSTAT, 34, "thread_schedstat",                            \
	  "/proc/PID/task/TID/schedstat, of this thread alone")                \
	X(THREAD_STAT, 35, "thread_stat",                                      \
	  "/proc/PID/task/TID/stat, of this thread alone; its times are in "   \
	  "clock ticks")                                                       \
	X(THREAD_SYSCALL, 36, "thread_syscall", "/proc/PID/task/TID/syscall")  \
	X(THREAD_WCHAN, 37, "thread_wchan", "/proc/PID/task/TID/wchan")        \
	X(HEAP_WALK, 38, "heap_walk",                                          \
	  "walking the allocator's own structures in the process's memory")    \
	X(SMAPS_ROLLUP, 39, "smaps_rollup",                                    \
	  "/proc/PID/smaps_rollup: a walk over all page tables")               \
	X(SMAPS, 40, "smaps",                                                  \
	  "/proc/PID/smaps: a walk over the page tables of each mapping")      \
	X(PAGEMAP_SCAN, 41, "pagemap_scan",                                    \
	  "PAGEMAP_SCAN, and pagemap for who else maps a page, in short "      \
	  "calls")                                                             \
	X(PAGEMAP, 42, "pagemap", "/proc/PID/pagemap in short calls")          \
	X(MAPS, 43, "maps", "/proc/PID/maps")                                  \
	X(PERF_SAMPLES, 44, "perf_samples",                                    \
	  "perf events in the clock of each thread's CPU time")                \
	X(BLOCKED_THREADS, 45, "blocked_threads",                              \
	  "/proc/PID/task/TID/syscall and the memory of threads that sleep, "  \
	  "which are neither stopped nor woken")                               \
	X(PTRACE_STOPS, 46, "ptrace_stops",                                    \
	  "stopping threads that run, by ptrace")                              \
	X(PROFILE, 47, "profile", "counted by the profile itself")             \
	X(PERF_SIGNALS, 48, "perf_signals",                                    \
	  "perf events of the own process: a signal to the thread that runs, " \
	  "which walks its own stack")                                         \
	X(CPU_TIMERS, 49, "cpu_timers",                                        \
	  "timers of each thread's CPU time, in the own process: a signal to " \
	  "the thread, which walks its own stack")                             \
	X(THREAD_SIGNALS, 50, "thread_signals",                                \
	  "signals to the threads of the own process that run, which walk "    \
	  "their own stacks")                                                  \
	X(SUSPENSIONS, 51, "suspensions",                                      \
	  "a signal to every thread of the own process, which holds it while " \
	  "its stack is copied")                                               \
	X(PROCESS_TABLE, 52, "process_table",                                  \
	  "the system's table of all processes, of one instant")               \
	X(SWITCH_SUM, 53, "context_switch_sum",                                \
	  "the sum over the live threads of the times that each was put on a " \
	  "CPU; what ended threads counted is lost")                           \
	X(THREAD_TABLE, 54, "thread_table",                                    \
	  "the threads in the system's table of processes; their switches "    \
	  "are the times that each was put on a CPU")                          \
	X(ALL_IO, 55, "all_io",                                                \
	  "all that the process reads and writes: files, pipes, sockets and "  \
	  "devices")                                                           \
	X(PROCESS_TIMES, 56, "process_times",                                  \
	  "the system's account of this one process's CPU time")               \
	X(MEMORY_COUNTERS, 57, "memory_counters",                              \
	  "the system's account of this one process's memory")                 \
	X(QUERY, 58, "query", "a question about this one process or thread")   \
	X(PROCESS_PARAMETERS, 59, "process_parameters",                        \
	  "the parameters that lie in the process's own memory")               \
	X(MAC_BSDINFO, 60, "proc_bsdinfo",                                     \
	  "PROC_PIDTBSDINFO, which macOS tells of the user's own processes")   \
	X(MAC_BSDSHORT, 61, "proc_bsdshortinfo",                               \
	  "PROC_PIDT_SHORTBSDINFO, which macOS tells of any process")          \
	X(MAC_TASKINFO, 62, "proc_taskinfo", "PROC_PIDTASKINFO")               \
	X(MAC_RUSAGE, 63, "proc_pid_rusage",                                   \
	  "proc_pid_rusage: every thread, ended ones included")                \
	X(MAC_FOOTPRINT, 64, "phys_footprint",                                 \
	  "the memory footprint of macOS: what the process alone holds, "      \
	  "compressed or swapped out memory included")                         \
	X(MAC_PEAK_FOOTPRINT, 65, "lifetime_max_phys_footprint",               \
	  "the largest memory footprint of macOS since the process began, "    \
	  "not its largest resident size")                                     \
	X(MAC_WAKEUPS, 66, "interrupt_wakeups",                                \
	  "times an interrupt for the process woke an idle CPU; no context "   \
	  "switches")                                                          \
	X(MAC_UNIQUE_ID, 67, "unique_id",                                      \
	  "the kernel's unique id of the process, never used again until the " \
	  "machine restarts")                                                  \
	X(MAC_FILE_LIST, 68, "proc_fd_list",                                   \
	  "counting the entries of PROC_PIDLISTFDS")                           \
	X(MAC_PATH, 69, "proc_pidpath", "PROC_PIDPATHINFO")                    \
	X(MAC_ARGUMENTS, 70, "kern_procargs2", "sysctl KERN_PROCARGS2")        \
	X(MAC_THREAD, 71, "proc_threadinfo",                                   \
	  "PROC_PIDTHREADID64INFO, of this thread alone")                      \
	X(MAC_QUEUE, 72, "kqueue_exit_status",                                 \
	  "a kqueue's event of the end, NOTE_EXITSTATUS")

enum plim_method {
#define PLIM_X(name, number, word, text) PLIM_METHOD_##name = number,
	PLIM_METHOD_LIST(PLIM_X)
#undef PLIM_X
};

/*
 * Why a figure is missing. X(NAME, NUMBER, STATE, "word", "sentence").
 */
#define PLIM_REASON_LIST(X)                                                    \
	X(NONE, 0, UNREAD, "not_read", "nothing has been read yet")            \
	X(HOST_NEVER, 1, UNSUPPORTED, "never_on_this_host",                    \
	  "this system does not report it")                                    \
	X(KERNEL_LACKS, 2, UNSUPPORTED, "kernel_lacks_it",                     \
	  "this kernel does not report it; a newer one does")                  \
	X(OTHER_ROOT, 3, UNSUPPORTED, "other_proc_root",                       \
	  "its source goes by pid and cannot be asked through another proc "   \
	  "root")                                                              \
	X(SELF_ONLY, 4, UNSUPPORTED, "self_or_reaped_child_only",              \
	  "the kernel tells it a process of itself and of a child it waited "  \
	  "for, of no other")                                                  \
	X(SHARED_CGROUP, 5, UNSUPPORTED, "shared_cgroup",                      \
	  "operations are counted per cgroup, and this one holds other "       \
	  "processes too")                                                     \
	X(NO_IO_CONTROLLER, 6, UNSUPPORTED, "no_io_controller",                \
	  "operations are counted by the cgroup v2 io controller, which is "   \
	  "not enabled for this process")                                      \
	X(UNKNOWN_FIELD, 7, UNSUPPORTED, "unknown_field",                      \
	  "this version of the library does not know the field")               \
	X(NOT_PERMITTED, 8, DENIED, "not_permitted",                           \
	  "the kernel tells it only to the same user or to a caller with "     \
	  "CAP_SYS_PTRACE")                                                    \
	X(ENDED, 9, GONE, "ended", "the process ended while it was read")      \
	X(INVISIBLE, 10, HIDDEN, "hidden_by_mount",                            \
	  "/proc is mounted so that this user does not see the process")       \
	X(ZOMBIE, 11, NOT_APPLICABLE, "zombie",                                \
	  "the process has ended and waits to be reaped; it holds none")       \
	X(NO_MEMORY, 12, NOT_APPLICABLE, "kernel_thread",                      \
	  "a kernel thread has no memory of its own")                          \
	X(NOT_REAPED, 13, PENDING, "not_reaped",                               \
	  "known once the parent has waited for it")                           \
	X(FIRST_SAMPLE, 14, PENDING, "first_sample",                           \
	  "a rate needs a second sample")                                      \
	X(ZERO_INTERVAL, 15, NO_INTERVAL, "zero_interval",                     \
	  "no time passed between the two samples")                            \
	X(WENT_BACK, 16, RESET, "counter_went_back",                           \
	  "the counter was lower than before")                                 \
	X(NOT_ASKED, 17, SKIPPED, "not_asked", "it was not asked for")         \
	X(THREAD_PASS, 18, SKIPPED, "needs_thread_pass",                       \
	  "the process has several threads, and reading each one was not "     \
	  "asked for")                                                         \
	X(TOO_DEAR, 19, SKIPPED, "left_out_for_its_cost",                      \
	  "measuring it would cost more than the figure is worth here")        \
	X(DEADLINE, 20, TIMEOUT, "deadline", "the deadline passed first")      \
	X(SHORT, 21, TRUNCATED, "short_read", "less came than there is")       \
	X(OTHER_METHOD, 22, UNLIKE, "different_methods",                       \
	  "the two samples were found by different methods")                   \
	X(SAME_BOUND, 23, UNLIKE, "bounds_cancel",                             \
	  "two bounds that point the same way say nothing of the result")      \
	X(OTHER_PROCESS, 24, UNLIKE, "different_processes",                    \
	  "the two samples are of different processes")                        \
	X(NO_LINE, 25, UNSUPPORTED, "not_in_the_file",                         \
	  "the kernel's file has no such line")                                \
	X(BAD_TEXT, 26, MALFORMED, "malformed_text",                           \
	  "the kernel's file does not have the documented form")               \
	X(ZERO_WHOLE, 27, NOT_APPLICABLE, "share_of_nothing",                  \
	  "a share of zero")                                                   \
	X(READ_FAILED, 28, UNSUPPORTED, "read_failed",                         \
	  "the system answered with an error")                                 \
	X(NO_BACKEND, 29, UNSUPPORTED, "no_backend",                           \
	  "this build of the library reads no processes")                      \
	X(NOT_A_RATE, 30, NOT_APPLICABLE, "not_a_counter",                     \
	  "the field is no counter, so it has no rate")                        \
	X(TOO_MANY_DESCRIPTORS, 31, SKIPPED, "no_free_descriptor",             \
	  "this process has no free file descriptor to read it with")          \
	X(NO_LIMIT, 32, NOT_APPLICABLE, "no_limit", "no limit is set")         \
	X(NO_FILE, 33, UNSUPPORTED, "no_such_file",                            \
	  "this kernel, or this recording, has no such file of the process")   \
	X(OTHER_IMAGE, 34, UNLIKE, "executed_another_program",                 \
	  "a thread that was not the first executed another program, and "     \
	  "took "                                                              \
	  "over the first one's number")                                       \
	X(NO_UNIT, 35, NOT_APPLICABLE, "no_unit",                              \
	  "its cgroup belongs to no unit of systemd")                          \
	X(NO_CONTAINER, 36, NOT_APPLICABLE, "no_container",                    \
	  "its cgroup has not the form that container engines give theirs")    \
	X(NO_PROGRAM, 37, NOT_APPLICABLE, "no_program",                        \
	  "a kernel thread runs no program file")                              \
	X(NO_DELAYS, 38, UNSUPPORTED, "delays_not_counted",                    \
	  "waits for storage are counted while kernel.task_delayacct is on; "  \
	  "it is off, or cannot be told")                                      \
	X(PERF_REFUSED, 39, DENIED, "perf_refused",                            \
	  "this system refuses perf events to this user: "                     \
	  "kernel.perf_event_paranoid is above 2, or a seccomp filter "        \
	  "forbids them")                                                      \
	X(PERF_MEMORY, 40, DENIED, "perf_memory_used_up",                      \
	  "this user may lock no more memory for perf records: "               \
	  "kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK are used up")         \
	X(NOT_WANTED, 41, SKIPPED, "source_ruled_out",                         \
	  "the caller ruled out every source that could tell it")              \
	X(NO_CONNECTOR, 42, DENIED, "no_process_connector",                    \
	  "the process connector needs CAP_NET_ADMIN or Linux 6.6, and the "   \
	  "pid and user namespaces of the machine itself")                     \
	X(RUNNING, 43, NOT_APPLICABLE, "running",                              \
	  "it runs, or could, and waits for nothing but a CPU")                \
	X(NO_CALL, 44, NOT_APPLICABLE, "outside_system_call",                  \
	  "it waits, but not in a system call")                                \
	X(NO_WAIT, 45, UNSUPPORTED, "no_wait_channel",                         \
	  "the kernel names no place where it waits, or not to this user")     \
	X(THREAD_ENDED, 46, GONE, "thread_ended",                              \
	  "the thread ended meanwhile; what it did since is not known")        \
	X(NO_RESIDENCY, 47, UNSUPPORTED, "residency_unknown",                  \
	  "what of it takes memory cannot be told, as of a core file")         \
	X(NOT_WALKED, 48, UNSUPPORTED, "recognised_not_walked",                \
	  "the allocator is recognised, and this version walks no such one")   \
	X(HEAP_NOT_FOUND, 49, UNSUPPORTED, "heap_not_found",                   \
	  "the structures of the allocator were not found")                    \
	X(HEAP_LAYOUT, 50, UNSUPPORTED, "heap_layout_unknown",                 \
	  "the structures of the allocator have no layout that is known")      \
	X(HEAP_CONTRADICTS, 51, MALFORMED, "self_check_failed",                \
	  "the walk contradicts what the allocator counts itself")             \
	X(PAGES_MISSING, 52, TRUNCATED, "pages_not_readable",                  \
	  "pages that it takes are swapped out, or not in the core file")      \
	X(NO_SUCH_PART, 53, NOT_APPLICABLE, "no_such_part",                    \
	  "such an allocator has nothing of the kind")                         \
	X(STALL, 54, SKIPPED, "left_out_for_its_stall",                        \
	  "reading it walks page tables while the process waits, for longer "  \
	  "than the limit allows")                                             \
	X(NO_HEAP, 55, NOT_APPLICABLE, "no_brk_heap",                          \
	  "the process has no heap that brk moves")                            \
	X(RECENT_WALK, 56, SKIPPED, "walked_recently",                         \
	  "page tables were walked a moment ago, and the process is left "     \
	  "alone for a while")                                                 \
	X(NO_TRACE, 57, DENIED, "no_ptrace_access",                            \
	  "this user may not trace the process: it is another user's, is "     \
	  "not dumpable, or kernel.yama.ptrace_scope forbids it")              \
	X(NOT_STOPPED, 58, SKIPPED, "stopping_not_allowed",                    \
	  "it takes stopping threads, which the caller did not allow")         \
	X(PERF_LACKS, 59, UNSUPPORTED, "perf_lacks_it",                        \
	  "the perf events of this kernel, or of this machine, lack it")       \
	X(SIGNAL_TAKEN, 60, NOT_APPLICABLE, "signal_taken",                    \
	  "the program handles the signal that samples are taken by")          \
	X(TIMERS_REFUSED, 61, DENIED, "timers_refused",                        \
	  "this system gives the program no timers of CPU time")               \
	X(TIMERS_USED_UP, 62, DENIED, "timers_used_up",                        \
	  "this user may have no more timers: RLIMIT_SIGPENDING is used up")   \
	X(BETTER_SOURCE, 63, SKIPPED, "better_source_used",                    \
	  "a better source is used")                                           \
	X(SIGNAL_BLOCKED, 64, NOT_APPLICABLE, "signal_blocked",                \
	  "the thread blocks the signal that samples are taken by, or has no " \
	  "room for it on its stack")                                          \
	X(SIGNALS_REFUSED, 65, DENIED, "signals_refused",                      \
	  "this system lets the program send no signal to its own threads")    \
	X(NOT_TOLD_APART, 66, NOT_APPLICABLE, "not_told_apart",                \
	  "it or others like it changed, and which of them cannot be told")    \
	X(FEW_SAMPLES, 67, NOT_APPLICABLE, "few_samples",                      \
	  "too few samples lie on it, or on everything else, to test it by")   \
	X(HAS_CHANGED, 68, NOT_APPLICABLE, "has_changed",                      \
	  "it was found to have changed")                                      \
	X(NOT_IN_TABLE, 69, UNSUPPORTED, "not_in_the_table",                   \
	  "the system's table of processes does not tell it")                  \
	X(STILL_LIVES, 70, PENDING, "still_lives",                             \
	  "known once the process has ended")                                  \
	X(NEEDS_64_BIT, 71, UNSUPPORTED, "needs_64_bit",                       \
	  "it takes a build of the library of 64 bits")                        \
	X(ACCESS_DENIED, 72, DENIED, "access_denied",                          \
	  "the system does not let this user ask the process or thread")       \
	X(TABLE_LACKS, 73, UNSUPPORTED, "left_out_of_this_build",              \
	  "this build takes the list of processes from a source that does "    \
	  "not tell it")                                                       \
	X(OTHER_USER, 74, DENIED, "other_users_process",                       \
	  "the kernel tells it of the user's own processes, and to root")      \
	X(TRANSLATED, 75, UNSUPPORTED, "translated_program",                   \
	  "this program is translated from another processor's code and is "   \
	  "not told the scale of the kernel's ticks")                          \
	X(COUNTER_WRAPPED, 76, UNSUPPORTED, "counter_wrapped",                 \
	  "the system counts it in 32 bits, which have overflowed")

enum plim_reason {
#define PLIM_X(name, number, state, word, text) PLIM_REASON_##name = number,
	PLIM_REASON_LIST(PLIM_X)
#undef PLIM_X
};

/* One row of the field table. Static storage; never freed. */
typedef struct plim_field {
	int id;
	int kind; /* enum plim_kind */
	int unit; /* enum plim_unit */
	const char *name;
	const char *since;
	const char *text;
	const char *linux_source;   /* NULL: never on Linux */
	const char *macos_source;   /* NULL: never on macOS */
	const char *windows_source; /* NULL: never on Windows */
} plim_field;

/* The row of a field; NULL for a number that is none. */
PLIM_API const plim_field *plim_field_get(int id);

/* The row with this JSON name, or NULL; the name need not be terminated. */
PLIM_API const plim_field *plim_field_find(plim_bytes name);

/* Rows in the order of the table: index 0 up to plim_field_count() - 1. */
PLIM_API size_t plim_field_count(void);
PLIM_API const plim_field *plim_field_at(size_t index);

/* Word and sentence of a method, of a reason; NULL for an unknown number.
 * plim_reason_state() gives PLIM_STATE_UNREAD for one. */
PLIM_API const char *plim_method_word(int method);
PLIM_API const char *plim_method_text(int method);
PLIM_API const char *plim_reason_word(int reason);
PLIM_API const char *plim_reason_text(int reason);
PLIM_API int plim_reason_state(int reason);

/* A set of fields, by value. A zeroed set is empty. It may hold any number
 * from 1 below PLIM_FIELD_LIMIT, also one that this library does not know. */
typedef struct plim_field_set {
	uint64_t bits[PLIM_FIELD_LIMIT / 64];
} plim_field_set;

PLIM_API void plim_field_set_add(plim_field_set *set, int id);
PLIM_API void plim_field_set_remove(plim_field_set *set, int id);
PLIM_API int plim_field_set_has(const plim_field_set *set, int id);

/*
 * Ready sets. LIGHT is what two cheap files tell (pid, ppid, start, name,
 * state, CPU, resident, anonymous, threads, faults). FULL adds memory by
 * kind, I/O, user and switches; ALL is every field, also the dear ones and
 * those that are in no other set because each takes a file of its own.
 * PSS and PRIVATE_DIRTY take a walk over all page tables, for which the process
 * may have to wait: they are read of one process or tree when the caller
 * asks for them, and in a snapshot never (PLIM_REASON_TOO_DEAR).
 * Identity, pid, name and state are read whatever the set says.
 */
enum plim_field_preset {
	PLIM_FIELDS_LIGHT = 1,
	PLIM_FIELDS_FULL = 2,
	PLIM_FIELDS_ALL = 3
};
PLIM_API plim_field_set plim_field_set_preset(int preset);

/* Adds the fields of a list such as "pid,name,cpu_ns". PLIM_ENAME with the
 * position and the nearest name; the set is then as it was. */
PLIM_API int plim_field_set_parse(plim_field_set *set, const char *list,
				  plim_error *error);

#ifdef __cplusplus
}
#endif
#endif
