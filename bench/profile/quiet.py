"""quiet.py - threads that sleep: sixteen that wake a hundred times a second,
and two thousand that never do.
"""
import os
import re
import statistics
import time

import felt
import inside


def ran(path):
    with open(path) as file:
        return int(file.read().split()[0])


def sleepers_look(load):
    """Turns, what went wrong, EINTR, voluntary switches, CPU ns. Turns go on
    while the kernel is asked: theirs are those of the middle of it."""
    turns = load.sleeps()[0]
    switches = sum(pair[0] for pair in load.counts().values())
    after, interrupted, shorter, wrong = load.sleeps()
    return ((turns + after) / 2, interrupted + shorter + wrong, interrupted,
            switches, sum(map(load.cpu_of, load.tids)))


def sleepers_window(load, bits, seconds):
    """One window on bench/attach's sleepers.c."""
    tid = None
    if bits is not None:
        load.begin(bits, 1000)
        tid = load.sampler()
    own = load.cpu_of(tid) if tid else 0
    before = sleepers_look(load)
    start = time.monotonic()
    time.sleep(seconds)
    span = time.monotonic() - start
    turns, wrong, interrupted, switches, cpu = (
        b - a for a, b in zip(before, sleepers_look(load)))
    own = load.cpu_of(tid) - own if tid else 0
    if bits is not None:
        load.stop()
    return {"rate": turns / span, "wrong": wrong, "interrupted": interrupted,
            "switches": switches / turns, "cpu": cpu / turns,
            "sampler": 100 * own / 1e9 / span}


def sleepers(row, program, out, is_quick):
    seconds, rounds = (1.0, 2) if is_quick else (3.0, 7)
    tiers = inside.tiers()
    load = inside.Inside(program, out, [program["sleepers"]],
                         "sleepers.told", pinned=False)
    pairs = {name: [] for name in tiers}
    try:
        for _ in range(rounds):
            for name, (bits, _) in tiers.items():
                pairs[name].append((sleepers_window(load, None, seconds),
                                    sleepers_window(load, bits, seconds)))
    finally:
        load.end()
    for name, windows in pairs.items():
        switches = [statistics.median(window["switches"] for window in side)
                    for side in zip(*windows)]
        sampler = [on["sampler"] for _, on in windows]
        grown = [on["cpu"] / off["cpu"] - 1 for off, on in windows]
        print(f"  1,000 Hz {name:20} sampler {inside.told(sampler)} % of a "
              f"core, target's CPU a turn {inside.told(grown, 100, '+')} %, "
              f"EINTR {sum(on['interrupted'] for _, on in windows)}, "
              f"voluntary switches a turn {switches[1]:.4f} (without "
              f"{switches[0]:.4f})", flush=True)
    windows = pairs["A, perf_signal"]
    sampler = statistics.median(on["sampler"] for _, on in windows)
    row("16 sleepers, 1,000 Hz: the sampler", "<= 2 % of a core",
        f"{sampler:.2f} %", sampler <= 2)
    if sampler > 2:
        turns = statistics.median(on["rate"] for _, on in windows)
        print(f"    they wake {turns:.0f} times a second, and each wake is a "
              f"stack to be read: {1e4 * sampler / turns:.1f} us each, if it "
              "were all of it")
    wrong = sum(on["wrong"] for _, on in windows)
    row("EINTR, short sleeps, other", "0", str(wrong), wrong == 0)
    off = statistics.median(off["switches"] for off, _ in windows)
    on = statistics.median(on["switches"] for _, on in windows)
    row("voluntary switches a turn", "equal (0.5 %)", f"{on:.4f} by {off:.4f}",
        abs(on / off - 1) <= 0.005)


def idle_inside(load, seconds):
    """(percent of a core, threads that were switched, what was answered)."""
    before = load.counts()
    load.begin(0, 99)
    tid = load.sampler()
    own = load.cpu_of(tid)
    start = time.monotonic()
    time.sleep(seconds)
    own = 100 * (load.cpu_of(tid) - own) / 1e9 / (time.monotonic() - start)
    answer = load.stop()
    after = load.counts()
    return own, sum(before[tid] != after[tid] for tid in before), answer


def idle_outside(load, argv, seconds, log):
    """The same of a process that profiles it, over the middle of its time,
    and with that its CPU time as a whole."""
    before = load.counts()
    with open(log, "w") as file:
        tool = felt.Tool(argv, file)
    time.sleep(1.5)
    path = f"/proc/{tool.process.pid}/schedstat"
    start, own = time.monotonic(), ran(path)
    time.sleep(seconds - 2.0)
    own = 100 * (ran(path) - own) / 1e9 / (time.monotonic() - start)
    whole, _ = tool.finish()
    after = load.counts()
    with open(log) as file:
        answer = {name: int(value) for name, value in re.findall(
            r"^metric (\w+) (\d+)", file.read(), re.M)}
    return own, sum(before[tid] != after[tid] for tid in before), answer, whole


def idle(row, program, out, is_quick):
    seconds, rounds = (3.0, 1) if is_quick else (6.0, 5)
    threads = 2000
    load = inside.Inside(program, out, [program["idle"], str(threads)],
                         "idle.told", pinned=False)
    log = os.path.join(out, "idle.log")
    argv = [program["stacks"], str(load.pid), "99", str(seconds)]
    found = {"inside": [], "outside": []}
    try:
        time.sleep(1.0)
        for _ in range(rounds):
            found["inside"].append(idle_inside(load, seconds))
            found["outside"].append(idle_outside(load, argv, seconds, log))
    finally:
        load.end()
    for name, windows in found.items():
        answer = windows[-1][2]
        own = [each[0] for each in windows]
        moved = sum(each[1] for each in windows)
        looks = answer["blocked_captured"] / max(
            answer["ticks_planned"] - answer["ticks_skipped"], 1)
        skipped = answer["ticks_skipped"] / answer["ticks_planned"]
        print(f"  99 Hz {name:8} sampler {inside.told(own)} % of a core, "
              f"{looks:.0f} looks a tick, {100 * skipped:.0f} % of the ticks "
              "skipped" + ("" if name == "inside" else
                        f"; {statistics.median(e[3] for e in windows):.2f} s "
                        f"of CPU with start and end, for {seconds:.0f} s"))
        own = statistics.median(own)
        row(f"2,000 idle threads, 99 Hz, {name}: the sampler",
            "<= 5 % of a core", f"{own:.2f} %", own <= 5)
        if own > 5:
            print(f"    {own / 100 / 99 / threads * 1e9:.0f} ns for a thread "
                  "and tick")
        row("threads whose switches changed", "0", str(moved), moved == 0)
