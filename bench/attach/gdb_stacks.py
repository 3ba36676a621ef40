"""gdb_stacks.py - inside gdb: every thread's stack, as numbers.

    thread TID END PC...      END: outermost, or why the walk stopped

Inlined frames and those of tail calls, which gdb infers from debug
information, are no frames of the stack, and left out.
"""
import gdb

gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
for thread in gdb.selected_inferior().threads():
    thread.switch()
    pcs = []
    end = "none"
    try:
        frame = gdb.newest_frame()
        while frame is not None and len(pcs) < 500:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                pcs.append("%x" % frame.pc())
            end = gdb.frame_stop_reason_string(frame.unwind_stop_reason())
            frame = frame.older()
    except gdb.error as error:
        end = str(error)
    print("thread", thread.ptid[1], end.replace(" ", "_") or "none", *pcs)
