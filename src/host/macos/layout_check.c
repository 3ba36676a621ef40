/*
 * layout_check.c - our declarations against Apple's headers: sizes, offsets
 * and the numbers of flavours, states and flags. It makes no code; what does
 * not agree does not compile. Compiled for macOS alone.
 *
 * No header at hand declares the structure of the unique identifier nor the
 * flavours 17 and 28: no compiler checks these. They were compared by hand with
 * XNU's published proc_info_private.h; the size of the structure stands below
 * so that our own declaration cannot drift.
 */
#include "host/macos/layout.h"

#include <assert.h>
#include <libproc.h>
#include <stddef.h>
#include <sys/proc.h>
#include <sys/proc_info.h>
#include <sys/resource.h>

#define SAME_SIZE(ours, theirs) \
	(sizeof(struct plimp_mac_##ours) == sizeof(struct theirs))
#define SAME_PLACE(ours, member, theirs, their_member) \
	(offsetof(struct plimp_mac_##ours, member) ==  \
	 offsetof(struct theirs, their_member))
#define ENDS_BEFORE(version, next)                      \
	(offsetof(struct plimp_mac_rusageinfo, next) == \
	 sizeof(struct rusage_info_v##version))

static_assert(SAME_SIZE(bsdinfo, proc_bsdinfo), "proc_bsdinfo");
static_assert(SAME_PLACE(bsdinfo, flags, proc_bsdinfo, pbi_flags), "pbi_flags");
static_assert(SAME_PLACE(bsdinfo, status, proc_bsdinfo, pbi_status),
	      "pbi_status");
static_assert(SAME_PLACE(bsdinfo, exit_status, proc_bsdinfo, pbi_xstatus),
	      "pbi_xstatus");
static_assert(SAME_PLACE(bsdinfo, pid, proc_bsdinfo, pbi_pid), "pbi_pid");
static_assert(SAME_PLACE(bsdinfo, ppid, proc_bsdinfo, pbi_ppid), "pbi_ppid");
static_assert(SAME_PLACE(bsdinfo, uid, proc_bsdinfo, pbi_uid), "pbi_uid");
static_assert(SAME_PLACE(bsdinfo, comm, proc_bsdinfo, pbi_comm), "pbi_comm");
static_assert(SAME_PLACE(bsdinfo, name, proc_bsdinfo, pbi_name), "pbi_name");
static_assert(SAME_PLACE(bsdinfo, files, proc_bsdinfo, pbi_nfiles),
	      "pbi_nfiles");
static_assert(SAME_PLACE(bsdinfo, nice, proc_bsdinfo, pbi_nice), "pbi_nice");
static_assert(SAME_PLACE(bsdinfo, start_s, proc_bsdinfo, pbi_start_tvsec),
	      "pbi_start_tvsec");
static_assert(SAME_PLACE(bsdinfo, start_us, proc_bsdinfo, pbi_start_tvusec),
	      "pbi_start_tvusec");

static_assert(SAME_SIZE(bsdshort, proc_bsdshortinfo), "proc_bsdshortinfo");
static_assert(SAME_PLACE(bsdshort, pid, proc_bsdshortinfo, pbsi_pid),
	      "pbsi_pid");
static_assert(SAME_PLACE(bsdshort, ppid, proc_bsdshortinfo, pbsi_ppid),
	      "pbsi_ppid");
static_assert(SAME_PLACE(bsdshort, status, proc_bsdshortinfo, pbsi_status),
	      "pbsi_status");
static_assert(SAME_PLACE(bsdshort, comm, proc_bsdshortinfo, pbsi_comm),
	      "pbsi_comm");
static_assert(SAME_PLACE(bsdshort, flags, proc_bsdshortinfo, pbsi_flags),
	      "pbsi_flags");
static_assert(SAME_PLACE(bsdshort, uid, proc_bsdshortinfo, pbsi_uid),
	      "pbsi_uid");

static_assert(SAME_SIZE(taskinfo, proc_taskinfo), "proc_taskinfo");
static_assert(SAME_PLACE(taskinfo, resident_size, proc_taskinfo,
			 pti_resident_size),
	      "pti_resident_size");
static_assert(SAME_PLACE(taskinfo, total_user, proc_taskinfo, pti_total_user),
	      "pti_total_user");
static_assert(SAME_PLACE(taskinfo, total_system, proc_taskinfo,
			 pti_total_system),
	      "pti_total_system");
static_assert(SAME_PLACE(taskinfo, faults, proc_taskinfo, pti_faults),
	      "pti_faults");
static_assert(SAME_PLACE(taskinfo, pageins, proc_taskinfo, pti_pageins),
	      "pti_pageins");
static_assert(SAME_PLACE(taskinfo, threads, proc_taskinfo, pti_threadnum),
	      "pti_threadnum");
static_assert(SAME_PLACE(taskinfo, running, proc_taskinfo, pti_numrunning),
	      "pti_numrunning");

static_assert(SAME_SIZE(threadinfo, proc_threadinfo), "proc_threadinfo");
static_assert(SAME_PLACE(threadinfo, user_time, proc_threadinfo, pth_user_time),
	      "pth_user_time");
static_assert(SAME_PLACE(threadinfo, system_time, proc_threadinfo,
			 pth_system_time),
	      "pth_system_time");
static_assert(SAME_PLACE(threadinfo, run_state, proc_threadinfo, pth_run_state),
	      "pth_run_state");
static_assert(SAME_PLACE(threadinfo, name, proc_threadinfo, pth_name),
	      "pth_name");

static_assert(SAME_SIZE(fdinfo, proc_fdinfo), "proc_fdinfo");
static_assert(SAME_PLACE(fdinfo, fd, proc_fdinfo, proc_fd), "proc_fd");
static_assert(SAME_PLACE(fdinfo, type, proc_fdinfo, proc_fdtype),
	      "proc_fdtype");

static_assert(SAME_SIZE(rusageinfo, rusage_info_v6), "rusage_info_v6");
static_assert(SAME_PLACE(rusageinfo, user_ticks, rusage_info_v6, ri_user_time),
	      "ri_user_time");
static_assert(SAME_PLACE(rusageinfo, system_ticks, rusage_info_v6,
			 ri_system_time),
	      "ri_system_time");
static_assert(SAME_PLACE(rusageinfo, package_idle_wakeups, rusage_info_v6,
			 ri_pkg_idle_wkups),
	      "ri_pkg_idle_wkups");
static_assert(SAME_PLACE(rusageinfo, interrupt_wakeups, rusage_info_v6,
			 ri_interrupt_wkups),
	      "ri_interrupt_wkups");
static_assert(SAME_PLACE(rusageinfo, pageins, rusage_info_v6, ri_pageins),
	      "ri_pageins");
static_assert(SAME_PLACE(rusageinfo, resident_size, rusage_info_v6,
			 ri_resident_size),
	      "ri_resident_size");
static_assert(SAME_PLACE(rusageinfo, footprint, rusage_info_v6,
			 ri_phys_footprint),
	      "ri_phys_footprint");
static_assert(SAME_PLACE(rusageinfo, start_ticks, rusage_info_v6,
			 ri_proc_start_abstime),
	      "ri_proc_start_abstime");
static_assert(SAME_PLACE(rusageinfo, exit_ticks, rusage_info_v6,
			 ri_proc_exit_abstime),
	      "ri_proc_exit_abstime");
static_assert(SAME_PLACE(rusageinfo, exit_ticks, rusage_info_v2,
			 ri_proc_exit_abstime),
	      "ri_proc_exit_abstime of version 2");
static_assert(SAME_PLACE(rusageinfo, child_user_ticks, rusage_info_v6,
			 ri_child_user_time),
	      "ri_child_user_time");
static_assert(SAME_PLACE(rusageinfo, child_system_ticks, rusage_info_v6,
			 ri_child_system_time),
	      "ri_child_system_time");
static_assert(SAME_PLACE(rusageinfo, child_interrupt_wakeups, rusage_info_v6,
			 ri_child_interrupt_wkups),
	      "ri_child_interrupt_wkups");
static_assert(SAME_PLACE(rusageinfo, disk_read, rusage_info_v6,
			 ri_diskio_bytesread),
	      "ri_diskio_bytesread");
static_assert(SAME_PLACE(rusageinfo, disk_written, rusage_info_v6,
			 ri_diskio_byteswritten),
	      "ri_diskio_byteswritten");
static_assert(SAME_PLACE(rusageinfo, lifetime_max_footprint, rusage_info_v6,
			 ri_lifetime_max_phys_footprint),
	      "ri_lifetime_max_phys_footprint");
static_assert(SAME_PLACE(rusageinfo, flags, rusage_info_v6, ri_flags),
	      "ri_flags");

/* Where each version of the resources ends. */
static_assert(ENDS_BEFORE(0, child_user_ticks), "version 0");
static_assert(ENDS_BEFORE(1, disk_read), "version 1");
static_assert(ENDS_BEFORE(2, qos_ticks), "version 2");
static_assert(ENDS_BEFORE(3, logical_writes), "version 3");
static_assert(ENDS_BEFORE(4, flags), "version 4");
static_assert(ENDS_BEFORE(5, later), "version 5");
static_assert(sizeof(struct plimp_mac_uniqueinfo) == 56,
	      "the size of proc_uniqidentifierinfo");

static_assert(PLIMP_MAC_LIST_FILES == PROC_PIDLISTFDS, "PROC_PIDLISTFDS");
static_assert(PLIMP_MAC_BSDINFO == PROC_PIDTBSDINFO, "PROC_PIDTBSDINFO");
static_assert(PLIMP_MAC_TASKINFO == PROC_PIDTASKINFO, "PROC_PIDTASKINFO");
static_assert(PLIMP_MAC_THREAD == PROC_PIDTHREADINFO, "PROC_PIDTHREADINFO");
static_assert(PLIMP_MAC_LIST_THREADS == PROC_PIDLISTTHREADS,
	      "PROC_PIDLISTTHREADS");
static_assert(PLIMP_MAC_BSDSHORT == PROC_PIDT_SHORTBSDINFO,
	      "PROC_PIDT_SHORTBSDINFO");
static_assert(PLIMP_MAC_THREAD_BY_ID == PROC_PIDTHREADID64INFO,
	      "PROC_PIDTHREADID64INFO");
static_assert(PLIMP_MAC_IDLE == SIDL, "SIDL");
static_assert(PLIMP_MAC_RUN == SRUN, "SRUN");
static_assert(PLIMP_MAC_SLEEP == SSLEEP, "SSLEEP");
static_assert(PLIMP_MAC_STOP == SSTOP, "SSTOP");
static_assert(PLIMP_MAC_ZOMBIE == SZOMB, "SZOMB");
static_assert(PLIMP_MAC_FLAG_SYSTEM == PROC_FLAG_SYSTEM, "PROC_FLAG_SYSTEM");
static_assert(PLIMP_MAC_FLAG_EXITING == PROC_FLAG_INEXIT, "PROC_FLAG_INEXIT");
static_assert(PLIMP_MAC_COMM == MAXCOMLEN, "MAXCOMLEN");
static_assert(PLIMP_MAC_THREAD_NAME == MAXTHREADNAMESIZE, "MAXTHREADNAMESIZE");
static_assert(PLIMP_MAC_RUSAGE_MOST == RUSAGE_INFO_V6, "RUSAGE_INFO_V6");
static_assert(PLIMP_MAC_RUSAGE_LEAST == RUSAGE_INFO_V2, "RUSAGE_INFO_V2");
