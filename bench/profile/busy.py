"""busy.py - one thread that computes, thirty calls deep: what a sample costs,
how long it stands, and how many there are.
"""
import os
import re
import statistics
import struct
import subprocess
import time

import felt
import inside

GAPS = 65536


def measure(load, line, hz, seconds):
    """A window with a session between two without. The session's thread goes
    by the clock, so that a sample's share of it is that of a period."""
    off = inside.turn_window(load, None, seconds)["each"]
    on = inside.turn_window(load, line, seconds)
    base = (off + inside.turn_window(load, None, seconds)["each"]) / 2
    samples = max(on["answer"]["running_captured"], 1)
    return {"overhead": on["each"] / base - 1,
            "each": (on["each"] - base) * on["turns"] / samples,
            "sampler": on["sampler"] * 1e9 / hz,
            "kept": samples / (hz * on["cpu"] / 1e9),
            "answer": on["answer"]}


def column(rows, name):
    return [row[name] for row in rows]


def middle(rows, name):
    return statistics.median(column(rows, name))


def cost(row, program, out, is_quick):
    """CPU time for the same work, with and without; tiers alternate."""
    seconds, rounds = (0.3, 3) if is_quick else (0.5, 15)
    tiers = inside.tiers()
    load = inside.Inside(program, out, [program["busy"], "30"], "busy.told")
    found = {}
    try:
        for hz, share in ((10000, 1), (1000, 1), (99, 0.5)):
            for _ in range(max(int(rounds * share), 2)):
                for name, (bits, word) in tiers.items():
                    found.setdefault((hz, name), []).append(measure(
                        load, f"plim {bits} {hz}", hz, seconds))
    finally:
        load.end()
    for (hz, name), rows in found.items():
        used = all(f"tier_{tiers[name][1]}" in each["answer"]
                   for each in rows)
        print(f"  {hz:6} Hz {name:20} target's CPU for the same work "
              f"{inside.told(column(rows, 'overhead'), 100, '+')} %; a "
              f"sample {inside.told(column(rows, 'each'), 1e-3)} us, and "
              f"{inside.told(column(rows, 'sampler'), 1e-3)} us of the "
              f"sampler's; kept {100 * middle(rows, 'kept'):.0f} %" +
              ("" if used else "; NOT this tier"), flush=True)
    rows = found[10000, "A, perf_signal"]
    target, sampler = middle(rows, "each"), middle(rows, "sampler")
    whole = (target + sampler) / 1e3
    kept = middle(rows, "kept")
    for hz, limit in ((99, 0.2), (1000, 1.5)):
        percent = whole * hz / 1e4
        is_met = percent <= limit
        row(f"a sample, by 10,000 Hz, means at {hz:,} Hz", f"<= {limit} %",
            f"{percent:.3f} %: {target / 1e3:.2f} + {sampler / 1e3:.2f} us",
            is_met if kept >= 0.9 else None)
        if not is_met:
            print(f"    {100 * target / (target + sampler):.0f} % of it is "
                  "the thread's own (signal, walk), the rest the session's "
                  "thread")
    if kept < 0.9:
        print(f"    not judged: {100 * kept:.0f} % of the samples were kept")
    direct = found[1000, "A, perf_signal"]
    row("the same measured at 1,000 Hz, target's part", "",
        f"{inside.told(column(direct, 'overhead'), 100, '+')} %")


def pauses(load, line, seconds):
    """How long the thread stood, ns, for each signal in a window."""
    before, = struct.unpack_from("<Q", load.bytes, 0)
    answer = {}
    if line is not None:
        load.say(line)
    time.sleep(seconds)
    if line is not None:
        answer = load.stop()
    after, = struct.unpack_from("<Q", load.bytes, 0)
    gaps = [struct.unpack_from("<Q", load.bytes, 8 + 8 * (i % GAPS))[0]
            for i in range(max(before, after - GAPS), after)]
    return gaps, answer


def pause(row, program, out, is_quick):
    """Tiers alternate, a window each; ratios are within one round."""
    seconds, rounds = (0.5, 3) if is_quick else (1.0, 11)
    tiers = {name: pair for name, pair in inside.tiers().items()
             if pair[1] != "perf"}
    load = inside.Inside(program, out, [program["gaps"], "30"], "gaps.told")
    told = {name: [] for name in tiers}
    pooled = {name: [] for name in tiers}
    seen = {name: [0, 0] for name in tiers}
    try:
        for _ in range(rounds):
            for name, (bits, _) in tiers.items():
                gaps, answer = pauses(load, f"plim {bits} 1000", seconds)
                if gaps:
                    told[name].append(statistics.median(gaps))
                pooled[name] += gaps
                seen[name][0] += len(gaps)
                seen[name][1] += answer["running_captured"]
        none = len(pauses(load, None, seconds)[0])
    finally:
        load.end()
    for name, gaps in pooled.items():
        tenths = statistics.quantiles(gaps, n=100) if len(gaps) > 1 else None
        print(f"  1,000 Hz {name:20} pause " +
              ("not seen" if tenths is None else
               f"{tenths[49] / 1e3:.1f} us ({tenths[9] / 1e3:.1f} to "
               f"{tenths[89] / 1e3:.1f}, 99 of 100 {tenths[98] / 1e3:.1f})") +
              f", {seen[name][0]} pauses of {seen[name][1]} samples",
              flush=True)
    print(f"  without a session {none} signals were seen")
    mine, theirs = "A, perf_signal", "classic suspension"
    if not told.get(theirs):
        row("pause by suspend-and-copy's", "<= 1/3", "it is not built")
        return
    ratios = [a / b for a, b in zip(told[mine], told[theirs])]
    ratio = statistics.median(ratios)
    row("pause by suspend-and-copy's", "<= 0.33",
        inside.told(ratios), ratio <= 1 / 3)
    if ratio > 1 / 3:
        a, b = (statistics.median(told[name]) for name in (mine, theirs))
        print(f"    a pause of ours is {a / 1e3:.1f} us by the median round, "
              f"theirs {b / 1e3:.1f}: it would have to be "
              f"{(a - b / 3) / 1e3:.1f} us shorter")


def rate_of(load, line, hz, seconds):
    """Samples by those that the thread's CPU time asks for."""
    _, cpu = load.pair()
    load.say(line)
    inside.has_run(load, seconds)
    answer = load.stop()
    return answer["running_captured"] / (hz * (load.pair()[1] - cpu) / 1e9)


def rate_of_perf(program, load, out, hz, seconds):
    """The same, by the samples' times; None where it came too late."""
    argv = felt.tools(program, load.pid, hz, seconds, out)["perf record -g"]
    data = argv[argv.index("-o") + 1]
    argv = argv[:argv.index("--")] + ["-k", "CLOCK_MONOTONIC"]
    with open(os.path.join(out, "perf.log"), "w") as file:
        tool = felt.Tool(argv, file)
    inside.has_run(load, 0.3)
    began, (_, cpu) = time.monotonic(), load.pair()
    inside.has_run(load, seconds)
    ended, (_, after) = time.monotonic(), load.pair()
    tool.finish(interrupt=True)
    told = subprocess.run(["perf", "script", "-F", "time", "-i", data],
                          capture_output=True, text=True).stdout
    os.unlink(data)
    times = [float(each) for each in
             re.findall(r"^\s*(\d+\.\d+):", told, re.M)]
    if not times or min(times) > began:
        return None
    kept = sum(began <= each <= ended for each in times)
    return kept / (hz * (after - cpu) / 1e9)


def rate(row, program, out, is_quick):
    """Of gperftools a process each, since it is told by its environment."""
    seconds, rounds = (1.0, 1) if is_quick else (3.0, 5)
    argv = [program["busy"], "30"]
    found = {}

    def alone(name, line, gperf=None):
        if gperf is not None and program["libprofiler"] is None:
            return
        load = inside.Inside(program, out, argv, "rate.told", gperf=gperf)
        try:
            found.setdefault(name, []).append(
                rate_of_perf(program, load, out, 1000, seconds)
                if line is None else rate_of(load, line, 1000, seconds))
        finally:
            load.end()

    frequency = {"CPUPROFILE_FREQUENCY": "1000"}
    profile = os.path.join(out, "gperf.prof")
    for _ in range(rounds):
        for name, (bits, _) in inside.tiers().items():
            alone(name, f"plim {bits} 1000")
        alone("gperftools, ITIMER_PROF", f"gperf {profile}", frequency)
        alone("gperftools, a timer a thread", f"gperf {profile}",
              dict(frequency, CPUPROFILE_PER_THREAD_TIMERS="1"))
        alone("perf record -g", None)
    for name, rates in found.items():
        rates = [each for each in rates if each is not None]
        print(f"  1,000 Hz asked, {name:28} samples a CPU second " +
              (inside.told(rates, 1000) if rates else "not told"))
    mine = statistics.median(found["A, perf_signal"])
    row("rate reached at 1,000 Hz, tier A", ">= 95 %", f"{100 * mine:.1f} %",
        mine >= 0.95)
    if mine < 0.95:
        print(f"    {100 * (1 - mine):.1f} % of the periods gave no sample")
