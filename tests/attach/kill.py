#!/usr/bin/env python3
"""kill.py PLIM SPINNERS REFUSE COUNT SEED TIER - kills plim profile at random
moments, and looks what that did to the process it profiled.

TIER is perf, ptrace (perf events are refused by a filter, so that running
threads are stopped now and then) or no_stop (ptrace is refused, too). COUNT
times `plim profile` is started on the same target and ended by SIGKILL after a
time drawn by SEED, from its first instruction to well into sampling. Then the
target must be there, untraced, none of its threads stopped, its computing
threads computing, and its sleeping one in the same sleep: a stop that was left
behind, a signal that was on its way, or a call that was interrupted shows.

Prints TAP.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

PLIM, SPINNERS, REFUSE, COUNT, SEED, TIER = sys.argv[1:]
REFUSED = {"perf": [], "ptrace": ["perf"], "no_stop": ["perf", "ptrace"]}[TIER]
PATIENCE = 10.0  # for a computing thread to get a CPU of a loaded machine


def command(pid, seconds):
    words = [PLIM, "profile", str(pid), "--for", f"{seconds}s", "-F", "1000",
             "--json"]
    return [REFUSE, *REFUSED, "--", *words] if REFUSED else words


def tasks(pid):
    """{tid: (state, CPU ns, system call line)} of the threads."""
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        base = f"/proc/{pid}/task/{tid}"
        with open(f"{base}/stat") as file:
            state = file.read().rsplit(")", 1)[1].split()[0]
        with open(f"{base}/schedstat") as file:
            cpu = int(file.read().split()[0])
        with open(f"{base}/syscall") as file:
            call = file.read().strip()
        found[int(tid)] = (state, cpu, call)
    return found


def status(pid, key):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(key + ":"):
                return line.split(":")[1].strip()
    return ""


def harm(target, sleeper, sleep):
    """What is wrong with the target, or None. A thread in the moment between
    the tracer's end and its release is looked at again."""
    pid = target.pid
    end = time.monotonic() + PATIENCE
    before = tasks(pid)
    problem = "nothing"
    while time.monotonic() < end:
        if target.poll() is not None:
            return f"it ended with {target.returncode}"
        now = tasks(pid)
        states = {tid: row[0] for tid, row in now.items()}
        problem = None
        if any(state in "tT" for state in states.values()):
            problem = f"states {states}"
        elif status(pid, "TracerPid") != "0":
            problem = "it is still traced"
        elif any(row[1] <= before[tid][1] for tid, row in now.items()
                 if tid != sleeper):
            problem = "a computing thread does not run"
        elif now[sleeper][2] != sleep:
            return f"its sleep was {sleep}, is {now[sleeper][2]}"
        if problem is None:
            return None
        time.sleep(0.005)
    return problem


def moment(lottery):
    """Half while it starts, half while it samples."""
    return lottery.choice((lottery.uniform(0, 0.02),
                           lottery.uniform(0.02, 0.15)))


def kills(target, lottery):
    """(how many were done, what went wrong)."""
    sleeper = target.pid
    time.sleep(0.1)
    sleep = tasks(target.pid)[sleeper][2]
    switches = status(target.pid, "voluntary_ctxt_switches")
    for number in range(int(COUNT)):
        delay = moment(lottery)
        with subprocess.Popen(command(target.pid, 5), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as plim:
            time.sleep(delay)
            early = plim.poll()
            plim.kill()
        if early is not None:
            return number, f"plim ended by itself with {early}"
        problem = harm(target, sleeper, sleep)
        if problem is not None:
            return number, f"after {delay * 1000:.2f} ms: {problem}"
    now = status(target.pid, "voluntary_ctxt_switches")
    if now != switches:
        return int(COUNT), f"its sleeper woke: {switches}, then {now}"
    return int(COUNT), None


def main():
    print("1..2")
    target = subprocess.Popen([SPINNERS, "2"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    try:
        target.stdout.readline()
        run = subprocess.run(command(target.pid, 0.5), capture_output=True,
                             text=True, stdin=subprocess.DEVNULL, timeout=60)
        check_tier(run)
        done, problem = kills(target, random.Random(int(SEED)))
        word = "ok" if problem is None else "not ok"
        print(f"{word} 2 - {TIER}: {COUNT} kills, the target goes on "
              f"(seed {SEED})")
        if problem is not None:
            print(f"# kill {done}: {problem}")
    finally:
        target.kill()
        target.wait()


def find(tree, key):
    """The first value of that key, wherever it stands."""
    if isinstance(tree, dict):
        if key in tree:
            return tree[key]
        tree = list(tree.values())
    for branch in tree if isinstance(tree, list) else []:
        found = find(branch, key)
        if found is not None:
            return found
    return None


def check_tier(run):
    """The tier that is killed is the one that was meant."""
    try:
        tiers = {row["name"]: row["used"]
                 for row in find(json.loads(run.stdout), "tiers")}
    except (ValueError, KeyError, TypeError) as error:
        print(f"not ok 1 - {TIER} is used")
        print(f"# {error!r}: {run.stderr[:300]} {run.stdout[:300]}")
        return
    word = "ok" if tiers.get(TIER) else "not ok"
    print(f"{word} 1 - {TIER} is used")
    if word != "ok":
        print(f"# tiers {tiers}")

main()
