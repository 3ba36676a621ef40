/*
 * all.c - the whole library as one source file, for who wants no build
 * system:
 *
 *     cc -std=c11 -Iinclude -Isrc -c src/all.c
 *
 * The macro that opens the system's interfaces comes first, because the C
 * library reads it once. Core follows, before any system header, so that it
 * cannot come to need one; then what stands on it; the system's own files,
 * which include what they like, come last. That all of this is one unit is
 * why every file-scope name is unique in the tree (tools/check-names).
 * Define PLIM_HOST_NONE for a library that reads no processes.
 */
#if defined(__linux__) && !defined(PLIM_HOST_NONE)
#include "host/linux/gnu.h"
#endif

#ifndef PLIM_BUILDING
#define PLIM_BUILDING 1
#endif

/* Written by tools/check-all-c --write. */
#include "core/buffer.c"
#include "core/decimal.c"
#include "core/error.c"
#include "core/escape.c"
#include "core/fields.c"
#include "core/figure.c"
#include "core/filter.c"
#include "core/filter_name.c"
#include "core/filter_parse.c"
#include "core/filter_select.c"
#include "core/fixed.c"
#include "core/forest.c"
#include "core/identity.c"
#include "core/memory.c"
#include "core/meter.c"
#include "core/pool.c"
#include "core/rates.c"
#include "core/record.c"
#include "core/result.c"
#include "core/result_number.c"
#include "core/sum.c"
#include "core/system_error.c"
#include "core/text.c"
#include "core/toml.c"
#include "core/toml_value.c"
#include "core/units.c"
#include "core/units_format.c"
#include "memory/core.c"
#include "memory/core_map.c"
#include "memory/core_notes.c"
#include "memory/elf.c"
#include "memory/elf_symbols.c"
#include "memory/glibc_judge.c"
#include "memory/glibc_layout.c"
#include "memory/glibc_locate.c"
#include "memory/glibc_module.c"
#include "memory/glibc_tell.c"
#include "memory/glibc_ways.c"
#include "memory/glibc_layout.c"
#include "memory/gperftools.c"
#include "memory/heaps.c"
#include "memory/heaps_read.c"
#include "memory/musl.c"
#include "memory/musl_find.c"
#include "memory/musl_nest.c"
#include "memory/musl_pages.c"
#include "memory/musl_read.c"
#include "memory/recognise.c"
#include "memory/recognise_bound.c"
#include "memory/recognise_module.c"
#include "memory/recognise_names.c"
#include "memory/sweep.c"
#include "memory/verdict.c"
#include "memory/verdict_tell.c"
#include "memory/window.c"
#include "host/lists.c"
#include "host/space.c"
#include "observe/bill.c"
#include "observe/births.c"
#include "observe/budget.c"
#include "observe/budget_draft.c"
#include "observe/budget_explain.c"
#include "observe/budget_judge.c"
#include "observe/budget_limit.c"
#include "observe/budget_read.c"
#include "observe/budget_reading.c"
#include "observe/budget_record.c"
#include "observe/budget_record_read.c"
#include "observe/budget_say.c"
#include "observe/budget_value.c"
#include "observe/filter.c"
#include "observe/forest.c"
#include "observe/groups.c"
#include "observe/heaps.c"
#include "observe/host.c"
#include "observe/idle.c"
#include "observe/idle_figures.c"
#include "observe/idle_quiet.c"
#include "observe/idle_threads.c"
#include "observe/idle_window.c"
#include "observe/snapshot.c"
#include "observe/snapshot_compare.c"
#include "observe/target.c"
#include "observe/threads.c"
#include "observe/threads_change.c"
#include "observe/tree.c"
#include "observe/tree_account.c"
#include "observe/tree_members.c"
#include "observe/tree_sums.c"
#include "observe/usage.c"
#include "observe/watch.c"
#include "export/csv.c"
#include "export/json.c"
#include "export/json_process.c"
#include "export/json_thread.c"
#include "export/result.c"
#include "export/result_block.c"
#include "export/result_line.c"
#include "export/result_threads.c"
#include "export/sink.c"
#include "export/table.c"
#include "export/width.c"
/* End of the list. */

#if defined(__linux__) && !defined(PLIM_HOST_NONE)
#include "host/linux/all.c"
#else
#include "host/none/all.c"
#endif
