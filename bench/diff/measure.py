#!/usr/bin/env python3
"""measure.py PLIM PROGRAM FOLDER: how often a comparison of two profiles is
wrong, and how often it finds what changed.

PROGRAM is tests/workloads/parts: eight functions of known shares. It is run
until it has used 30 s of CPU time, sampled at 499 Hz: once to begin with, then
20 times as it is and, beside it, 20 times with a function that has 20 % of the
time made 20 % slower. Each run is compared with the one before it (nothing
changed: each verdict "changed" is false) and each slower one with the run that
went beside it. Two run at a time, so on two CPUs they fill the machine; load
beside them is told. FOLDER keeps the profiles; BENCH_KEPT=1 takes those
that are there and runs what is missing. BENCH_QUICK=1 makes 3 runs of 3 s.

Targets: at most one null comparison of 20 with a false "changed", and the
slower function named in at least 19 of 20.
"""
import json
import os
import subprocess
import sys
import time

PLIM, PROGRAM, FOLDER = sys.argv[1:4]
QUICK = bool(os.environ.get("BENCH_QUICK"))
KEPT = bool(os.environ.get("BENCH_KEPT"))
RUNS, SECONDS, HZ = (3, 3, 499) if QUICK else (20, 30, 499)
SLOWER, PERCENT = "fifth", 20
LIMIT = 840  # seconds of a run, however loaded the machine


def path_of(name):
    return os.path.join(FOLDER, name + ".json")


def begin(name, percent):
    if KEPT and os.path.exists(path_of(name)):
        return None
    return subprocess.Popen(
        [PLIM, "profile", "-F", str(HZ), "--for", f"{LIMIT}s",
         "-o", path_of(name), "--", PROGRAM, str(SECONDS), str(percent)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(run, name):
    if run is None:
        return
    _, said = run.communicate(timeout=LIMIT + 60)
    if run.returncode != 0:
        sys.exit(f"{name}: {said.decode(errors='replace')}")


def compare(before, after):
    said = subprocess.run(
        [PLIM, "profile", "diff", "--json", path_of(before), path_of(after)],
        stdout=subprocess.PIPE, check=True, timeout=60)
    return json.loads(said.stdout)["diff"]


def changed(diff):
    return [row for row in diff["functions"] if row["verdict"] == "changed"]


def words(rows):
    return ", ".join(
        f'{row["name"]} ({"open" if row["open"] else "%+.1f %%" % (row["change"] * 100) if row["change"] is not None else "new"}'
        f', {row["z"]:+.1f} errors)' for row in rows) or "-"


def tell(kind, number, diff, right):
    print(f'{kind:7} {number:2}  {diff["before"]["samples"]:6} '
          f'{diff["after"]["samples"]:6}  {diff["before"]["cpus"]:.2f} '
          f'{diff["after"]["cpus"]:.2f}  {"" if right else "WRONG "}'
          f'{words(changed(diff))}', flush=True)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    began = time.time()
    print(f"{RUNS} null and {RUNS} slower runs of {SECONDS} s of CPU time at "
          f"{HZ} Hz; {SLOWER} takes {PERCENT} % longer; load "
          f"{os.getloadavg()[0]:.1f} at the start")
    print("kind    no  samples of both   CPUs      changed")
    wrong = others = 0
    found = 0
    sizes = []
    finish(begin("same-0", 0), "same-0")
    for i in range(1, RUNS + 1):
        same, slower = f"same-{i}", f"slower-{i}"
        runs = [(begin(same, 0), same), (begin(slower, PERCENT), slower)]
        for run, name in runs:
            finish(run, name)
        diff = compare(f"same-{i - 1}", same)
        wrong += bool(changed(diff))
        tell("null", i, diff, not changed(diff))
        diff = compare(same, slower)
        rows = changed(diff)
        hit = [row for row in rows if row["name"] == SLOWER and not row["open"]]
        found += bool(hit)
        others += len(rows) > len(hit)
        sizes += [row["change"] for row in hit]
        tell("slower", i, diff, hit and len(rows) == 1)
    print(f'{wrong} of {RUNS} null comparisons with a false "changed" '
          f'(target: at most {RUNS // 20})')
    print(f"{SLOWER} named in {found} of {RUNS} (target: at least "
          f"{RUNS * 19 // 20}); its change told as "
          f"{min(sizes, default=0) * 100:+.1f} to "
          f"{max(sizes, default=0) * 100:+.1f} %; another named in {others}")
    print(f"took {time.time() - began:.0f} s; load {os.getloadavg()[0]:.1f} at "
          "the end")
    if QUICK:
        return 0
    return int(wrong > 1 or found < 19)


sys.exit(main())
