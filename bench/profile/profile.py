"""profile.py OUT BUILD - runs the parts, and holds them against the targets.
PLIM_ONLY=cost, pause, rate, sleepers or idle takes one part."""
import glob
import os
import platform
import re
import sys

import busy
import quiet
import rows

OUT, BUILD = sys.argv[1:3]
QUICK = os.environ.get("BENCH_QUICK", "0") not in ("", "0")
ONLY = os.environ.get("PLIM_ONLY", "")
PROGRAM = {name: os.path.join(OUT, name)
           for name in ("busy", "sleepers", "gaps", "idle", "stacks")}
PROGRAM["session"] = os.path.abspath(os.path.join(OUT, "session.so"))
PROGRAM["ptraced"] = None
PROGRAM["libprofiler"] = next(
    iter(glob.glob("/usr/lib/*/libprofiler.so.0")), None)


def machine():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"^model name\s*: (.*)", file.read(), re.M)
    print(f"{os.cpu_count()} CPUs of {model[1] if model else 'some kind'}, "
          f"Linux {platform.release()}, load {os.getloadavg()[0]:.1f}")


PARTS = {"cost": busy.cost, "pause": busy.pause, "rate": busy.rate,
         "sleepers": quiet.sleepers, "idle": quiet.idle}
machine()
for name, part in PARTS.items():
    if ONLY in ("", name):
        print(f"-- {name}", flush=True)
        part(rows.row, PROGRAM, OUT, QUICK)
rows.finish()
