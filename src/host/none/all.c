/*
 * all.c - everything of a library without a system, for src/all.c: the
 * decoders of all systems, which take bytes, and the answers "unsupported".
 */
/* Written by tools/check-all-c --write. */
#include "host/linux/decode_bootid.c"
#include "host/linux/decode_btime.c"
#include "host/linux/decode_cgroup.c"
#include "host/linux/decode_container.c"
#include "host/linux/decode_cpulist.c"
#include "host/linux/decode_cpumax.c"
#include "host/linux/decode_dents.c"
#include "host/linux/decode_io.c"
#include "host/linux/decode_iostat.c"
#include "host/linux/decode_meminfo.c"
#include "host/linux/decode_mount.c"
#include "host/linux/decode_mount_option.c"
#include "host/linux/decode_number.c"
#include "host/linux/decode_perf_record.c"
#include "host/linux/decode_proc_event.c"
#include "host/linux/decode_schedstat.c"
#include "host/linux/decode_stat.c"
#include "host/linux/decode_statm.c"
#include "host/linux/decode_status.c"
#include "host/linux/decode_syscall.c"
#include "host/linux/decode_unit.c"
#include "host/linux/decode_wchan.c"
#include "host/linux/scan.c"
#include "host/linux/syscall_names.c"
#include "host/none/none.c"
/* End of the list. */
