"""attach.py OUT BUILD - runs the parts, and holds them against the targets.
PLIM_ONLY=blocked, sleepers, busy, report, served or kills takes one part."""
import glob
import os
import subprocess
import sys
import time

import blocked
import felt
import rows
import served

OUT, BUILD = sys.argv[1:3]
QUICK = os.environ.get("BENCH_QUICK", "0") not in ("", "0")
ONLY = os.environ.get("PLIM_ONLY", "")
PROGRAM = {name: os.path.join(OUT, name)
           for name in ("stacks", "busy", "sleepers", "ptraced", "mix",
                        "refuse")}
PROGRAM["plim"] = os.path.join(BUILD, "cli/plim")
PROGRAM["libraries"] = glob.glob(os.path.join(BUILD, "src/libplimsoll.so.?"))


def kills():
    count = "20" if QUICK else "300"
    for tier in ("perf", "ptrace", "no_stop"):
        run = subprocess.run(
            [sys.executable, "tests/attach/kill.py", PROGRAM["plim"],
             f"{BUILD}/tests/workloads/spinners", PROGRAM["refuse"], count,
             str(int(time.time())), tier], capture_output=True, text=True)
        is_met = run.stdout.count("\nok") == 2 and "not ok" not in run.stdout
        rows.row(f"SIGKILL at {count} moments, {tier}", "no harm",
            "none" if is_met else "HARM", is_met)
        if not is_met:
            print(run.stdout + run.stderr)


PARTS = {
    "blocked": lambda: blocked.run(rows.row, PROGRAM["stacks"], QUICK),
    "sleepers": lambda: felt.sleepers(rows.row, PROGRAM, OUT, QUICK),
    "busy": lambda: felt.busy(rows.row, PROGRAM, OUT, QUICK),
    "report": lambda: felt.report(rows.row, PROGRAM, OUT, QUICK),
    "served": lambda: served.run(rows.row, PROGRAM, OUT, QUICK),
    "kills": kills,
}

for name, part in PARTS.items():
    if ONLY in ("", name):
        print(f"-- {name}", flush=True)
        part()
rows.finish()
