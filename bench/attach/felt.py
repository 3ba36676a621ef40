"""felt.py - what the target feels of being profiled, and what it costs us.

Windows with and without a profiler alternate on one process, which counts for
itself: a computing one its turns and CPU time, a sleeping one its turns and
what ended its sleeps. Each profiler is started before its window and ends
after it, so that its start is not in it. The target has a CPU of its own where
there are two.
"""
import mmap
import os
import re
import signal
import statistics
import struct
import subprocess
import time

CPUS = sorted(os.sched_getaffinity(0))


def pin(number):
    def pinned():
        os.sched_setaffinity(0, {CPUS[number % len(CPUS)]})
    return pinned


class Load:
    """A workload with its counts in a file."""

    def __init__(self, out, argv, name, pinned=True, **options):
        self.path = os.path.join(out, name)
        with open(self.path, "w") as file:
            file.truncate(4096)
        self.process = subprocess.Popen(
            [argv[0], self.path, *argv[1:]], stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL, preexec_fn=pin(1) if pinned else None,
            **options)
        self.process.stdout.readline()
        self.pid = self.process.pid
        with open(self.path, "rb") as file:
            self.bytes = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)

    def pair(self):
        """(turns, CPU ns) of one moment."""
        while True:
            before, turns, cpu = struct.unpack_from("<3Q", self.bytes, 0)
            if before % 2 == 0 and \
                    struct.unpack_from("<Q", self.bytes, 0)[0] == before:
                return turns, cpu

    def sleeps(self):
        """turns, interrupted, shorter, wrong: sums of all threads."""
        rows = list(struct.iter_unpack("<4Q", self.bytes[:16 * 32]))
        return [sum(column) for column in zip(*rows)]

    def switches(self):
        total = 0
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{tid}/status") as file:
                total += int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)",
                                       file.read(), re.M)[1])
        return total

    def end(self):
        self.process.kill()
        self.process.wait()
        self.bytes.close()


class Tool:
    """A profiler at work: its process, and what it cost in the end."""

    def __init__(self, argv, log=None):
        self.name = argv[0]
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log or subprocess.DEVNULL,
            stderr=subprocess.STDOUT, preexec_fn=pin(0))

    def finish(self, interrupt=False):
        """(CPU seconds, wall seconds)."""
        if interrupt:
            self.process.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode not in (0, -signal.SIGINT):
            raise RuntimeError(f"{self.name}: exit status "
                               f"{self.process.returncode}")
        return usage.ru_utime + usage.ru_stime, time.monotonic() - self.began


def tools(program, pid, hz, seconds, out):
    """{name: argv}; each samples for `seconds`."""
    data = os.path.join(out, "perf.data")
    perf = ["perf", "record", "-q", "-F", str(hz), "-e", "task-clock", "-p",
            str(pid), "-o", data]
    return {
        "plim": [program["stacks"], str(pid), str(hz), str(seconds)],
        "perf record -g": perf + ["-g", "--", "sleep", str(seconds)],
        "perf record dwarf 8 KiB": perf + ["--call-graph", "dwarf,8192", "--",
                                           "sleep", str(seconds)],
        "perf record dwarf 16 KiB": perf + ["--call-graph", "dwarf,16384",
                                            "--", "sleep", str(seconds)],
        "ptrace, 16 KiB": [program["ptraced"], str(pid), str(hz),
                           str(seconds)],
    }


def busy_samples(argv, log):
    """How many samples the tool has kept, or None."""
    if argv[0] == "perf":
        data = argv[argv.index("-o") + 1]
        told = subprocess.run(["perf", "report", "--stats", "-i", data],
                              capture_output=True, text=True).stdout
        # Not to be taken for the next run's.
        os.unlink(data)
        found = re.search(r"^ *SAMPLE events: *(\d+)", told, re.M)
        return int(found[1]) if found else None
    return busy_metric(log, "running_captured")


def busy_metric(log, name):
    """Of our own run, or None."""
    with open(log) as file:
        found = re.search(rf"^metric {name} (\d+)", file.read(), re.M)
    return int(found[1]) if found else None


def busy_window(load, argv, seconds, log=None):
    """CPU time of a turn, and the share of a CPU that the target had."""
    tool = None
    if argv:
        with open(log, "w") as file:
            tool = Tool(argv, file)
    time.sleep(0.6 if argv else 0.05)
    turns, cpu = load.pair()
    start = time.monotonic()
    time.sleep(seconds)
    turns_after, cpu_after = load.pair()
    share = (cpu_after - cpu) / 1e9 / (time.monotonic() - start)
    if tool is not None:
        tool.finish()
    return (cpu_after - cpu) / max(turns_after - turns, 1), share


def busy(row, program, out, is_quick):
    """CPU time of the target for the same work. A sample that finds no room
    costs the target little: where a tool keeps few of them, as on a machine
    that does not let it read in time, nothing is judged."""
    seconds = 0.5 if is_quick else 1.0
    rounds = 2 if is_quick else 6
    log = os.path.join(out, "busy.log")
    kept = {}
    copied = 0
    load = Load(out, [program["busy"], "30"], "busy.told")
    results = {}
    try:
        for hz in (1000, 10000):
            chosen = tools(program, load.pid, hz, seconds + 0.8, out)
            ons = {name: [] for name in chosen}
            offs = {name: [] for name in chosen}
            for _ in range(rounds):
                for name, argv in chosen.items():
                    before, _ = busy_window(load, None, seconds)
                    on, share = busy_window(load, argv, seconds, log)
                    samples = busy_samples(argv, log)
                    if name == "plim" and samples:
                        copied = busy_metric(log, "bytes_copied") / samples
                    after, _ = busy_window(load, None, seconds)
                    offs[name].append((before + after) / 2)
                    ons[name].append(on / ((before + after) / 2))
                    if samples is not None:
                        kept.setdefault((hz, name), []).append(
                            samples / (hz * (seconds + 0.8) * share))
            for name in chosen:
                cost = statistics.median(ons[name]) - 1
                spread = sorted(ons[name])
                results[hz, name] = cost
                print(f"  {hz:6} Hz {name:26} target's CPU for the same work "
                      f"{100 * cost:+6.2f} % ({100 * (spread[0] - 1):+.2f} "
                      f"to {100 * (spread[-1] - 1):+.2f}), "
                      f"{1e6 * cost / hz:5.2f} us a sample, kept " +
                      (f"{100 * statistics.median(kept[hz, name]):.0f} %"
                       if (hz, name) in kept else "not told"), flush=True)
        print(f"  plim copied {copied:.0f} bytes of stack a sample")
    finally:
        load.end()
    for hz, what, noise in (
            (10000, "target-side cost, 10,000 Hz, by perf record -g's", 0),
            (1000, "the same at 1,000 Hz (noise 1 %)", 0.01)):
        mine, theirs = results[hz, "plim"], results[hz, "perf record -g"]
        least = min(statistics.median(kept.get((hz, name), [0]))
                    for name in ("plim", "perf record -g"))
        is_met = mine <= 1.1 * theirs + noise
        row(what, "<= 1.1",
            f"{100 * mine:.2f} % by {100 * theirs:.2f} %" +
            ("" if least >= 0.9 else ", not judged: samples were lost"),
            (is_quick or is_met) if least >= 0.9 else None)


def sleepers_window(load, argv, seconds):
    tool = Tool(argv) if argv else None
    time.sleep(0.8 if argv else 0.1)
    before = load.sleeps() + [load.switches()]
    start = time.monotonic()
    time.sleep(seconds)
    after = load.sleeps() + [load.switches()]
    span = time.monotonic() - start
    cpu = tool.finish()[0] if tool is not None else 0
    turns, interrupted, shorter, wrong, switches = (
        b - a for a, b in zip(before, after))
    return {"rate": turns / span, "interrupted": interrupted,
            "shorter": shorter, "wrong": wrong,
            "switches": switches / max(turns, 1), "cpu": cpu}


def sleepers(row, program, out, is_quick):
    seconds = 1.0 if is_quick else 3.0
    rounds = 2 if is_quick else 7
    load = Load(out, [program["sleepers"]], "sleepers.told", pinned=False)
    try:
        chosen = tools(program, load.pid, 1000, seconds + 1.0, out)
        chosen = {name: chosen[name] for name in
                  ("plim", "perf record -g", "ptrace, 16 KiB")}
        told = {name: [] for name in chosen}
        for _ in range(rounds):
            for name, argv in chosen.items():
                off = sleepers_window(load, None, seconds)
                on = sleepers_window(load, argv, seconds)
                told[name].append((on, off))
        for name, pairs in told.items():
            rate = statistics.median(on["rate"] / off["rate"]
                                     for on, off in pairs)
            on_switches = statistics.median(on["switches"]
                                            for on, _ in pairs)
            off_switches = statistics.median(off["switches"]
                                             for _, off in pairs)
            sums = {key: sum(on[key] for on, _ in pairs)
                    for key in ("interrupted", "shorter", "wrong", "cpu")}
            cpu = 100 * sums["cpu"] / (rounds * (seconds + 1.0))
            print(f"  {name:18} turns {100 * rate:7.2f} % of those without, "
                  f"EINTR {sums['interrupted']}, short sleeps "
                  f"{sums['shorter']}, other {sums['wrong']}, voluntary "
                  f"switches a turn {on_switches:.4f} (without "
                  f"{off_switches:.4f}), tool {cpu:.1f} % of a core",
                  flush=True)
            if name == "plim":
                row("16 sleepers, 1,000 Hz: throughput", ">= 99 %",
                    f"{100 * rate:.2f} %", rate >= 0.99)
                row("EINTR, short sleeps, other", "0, 0, 0",
                    f"{sums['interrupted']}, {sums['shorter']}, "
                    f"{sums['wrong']}",
                    not any(sums[key] for key in
                            ("interrupted", "shorter", "wrong")))
                row("voluntary switches a turn", "equal (0.5 %)",
                    f"{on_switches:.4f} by {off_switches:.4f}",
                    abs(on_switches / off_switches - 1) <= 0.005)
        strace(row, program, load, out)
    finally:
        load.end()


def strace(row, program, load, out):
    """Whatever strace tells while we sample, but calls."""
    log = os.path.join(out, "strace.log")
    tracer = subprocess.Popen(["strace", "-f", "-q", "-e", "trace=none", "-o",
                               log, "-p", str(load.pid)],
                              stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    time.sleep(0.7)
    subprocess.run([program["stacks"], str(load.pid), "1000", "2"],
                   stdout=subprocess.DEVNULL)
    with open(log) as file:
        lines = [line for line in file if "SIG" in line or "stop" in line]
    os.kill(load.pid, signal.SIGCONT)  # would it see one?
    time.sleep(0.3)
    tracer.send_signal(signal.SIGINT)
    tracer.wait()
    with open(log) as file:
        sees = "SIGCONT" in file.read()
    row("signals and stops that strace sees", "0", str(len(lines)) if sees
        else "strace saw not even ours", sees and not lines)


def report(row, program, out, is_quick):
    """The same ten seconds of a C++ program, from the command to its answer:
    CPU, bytes and time after the sampling."""
    seconds = 3 if is_quick else 10
    target = subprocess.Popen([program["mix"]], stdout=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, preexec_fn=pin(1))
    data = os.path.join(out, "perf.data")
    answer = os.path.join(out, "answer")
    told = {}
    try:
        time.sleep(0.5)
        record = ["perf", "record", "-q", "-F", "1000", "-e", "task-clock",
                  "-p", str(target.pid), "-o", data, "--call-graph",
                  "dwarf,8192", "--", "sleep", str(seconds)]
        record_cpu = Tool(record).finish()[0]
        size = os.path.getsize(data)
        for name, words in (("without inlines", ["--no-inline"]),
                            ("with inlines", [])):
            with open(answer, "w") as file:
                cpu, wall = Tool(["perf", "report", "--stdio", "-i", data,
                                  *words], file).finish()
            told["perf", name] = (record_cpu + cpu, wall, size)
        for name, words in (("without inlines", ["--no-inlines"]),
                            ("with inlines", [])):
            with open(answer, "w") as file:
                cpu, wall = Tool([program["plim"], "profile", str(target.pid),
                                  "--for", f"{seconds}s", "-F", "1000",
                                  *words], file).finish()
            told["plim", name] = (cpu, wall - seconds, 0)
        # What is kept of it, with every stack by its addresses.
        written = os.path.join(out, "profile.pb.gz")
        Tool([program["plim"], "profile", str(target.pid), "--for",
              f"{seconds}s", "-F", "1000", "-o", written]).finish()
        kept = os.path.getsize(written)
    finally:
        target.kill()
        target.wait()
    for (who, name), (cpu, wall, _) in told.items():
        print(f"  {who:5} {name:16} CPU in all {cpu:6.2f} s, answer "
              f"{wall:6.2f} s after the {seconds} s")
    print(f"  perf.data {size:,} bytes; plim's profile as pprof {kept:,} "
          "bytes")
    a, b = told["plim", "without inlines"], told["perf", "without inlines"]
    c, d = told["plim", "with inlines"], told["perf", "with inlines"]
    row("tool's CPU by perf dwarf's record + report", "<= 1/5",
        f"{a[0]:.2f} s by {b[0]:.2f} s: 1/{b[0] / max(a[0], 1e-3):.1f}",
        a[0] <= b[0] / 5)
    row("bytes kept by perf dwarf's", "<= 1/50",
        f"{kept:,} by {size:,}: 1/{size / max(kept, 1):.0f}",
        0 < kept <= size / 50)
    row("time to the report, without inlines", "<= 1/5 of perf's",
        f"{a[1]:.2f} s by {b[1]:.2f} s", a[1] <= b[1] / 5)
    row("time to the report, with inlines", "<= perf's",
        f"{c[1]:.2f} s by {d[1]:.2f} s", c[1] <= d[1])
