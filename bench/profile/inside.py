"""inside.py - workloads with session.so in them, and what a window shows.

Windows with a session and without one alternate on one process. CPU times are
the kernel's own of single threads, so that what else runs on the machine takes
time and not the measure.
"""
import os
import re
import statistics
import time

import felt

TIERS = {  # name: (flags of plim_profile_request, word of the tier)
    "A, perf_signal": ((), "perf_signal"),
    "A', perf rings": (("NO_SIGNALS",), "perf"),
    "B, CPU timers": (("NO_PERF",), "cpu_timer"),
    "C, thread signals": (("NO_PERF", "NO_TIMERS"), "thread_signal"),
    "classic suspension": (("SUSPEND",), "suspend"),
}


def flags(names):
    """Their bits as the header has them, or None where it has one not."""
    with open("include/plimsoll/profile.h") as file:
        text = file.read()
    total = 0
    for name in names:
        found = re.search(rf"PLIM_PROFILE_{name} = (\d+)", text)
        if found is None:
            return None
        total |= int(found[1])
    return total


def tiers():
    """{name: (flags, word)} of those that are built."""
    chosen = {name: (flags(names), word)
              for name, (names, word) in TIERS.items()}
    return {name: pair for name, pair in chosen.items()
            if pair[0] is not None}


class Inside(felt.Load):
    """A workload that sessions are begun and ended in."""

    def __init__(self, program, out, argv, name, pinned=True, gperf=None):
        theirs, self.to = os.pipe()
        self.answers, other = os.pipe()
        preload = [program["session"]]
        environment = dict(os.environ, PLIM_BENCH_PIPES=f"{theirs} {other} "
                           f"{felt.CPUS[0] if pinned else -1}")
        if gperf is not None:
            preload += [program["libprofiler"]]
            environment.update(gperf)
        environment["LD_PRELOAD"] = " ".join(preload)
        super().__init__(out, argv, name, pinned, env=environment,
                         pass_fds=(theirs, other))
        os.close(theirs)
        os.close(other)
        self.file = os.fdopen(self.answers)
        self.tids = {tid for tid in os.listdir(f"/proc/{self.pid}/task")
                     if self.comm(tid) != "bench"}

    def comm(self, tid):
        with open(f"/proc/{self.pid}/task/{tid}/comm") as file:
            return file.read().strip()

    def say(self, line):
        """What is answered, as numbers by their names."""
        os.write(self.to, (line + "\n").encode())
        words = self.file.readline().split()
        if not words or words[0] != "ok":
            raise RuntimeError(f"{line}: {' '.join(words) or 'it is gone'}")
        return {name: int(value) for name, value in
                (word.split("=") for word in words[1:])}

    def begin(self, bits, hz):
        self.say(f"plim {bits} {hz}")

    def stop(self):
        return self.say("stop")

    def cpu_of(self, tid):
        with open(f"/proc/{self.pid}/task/{tid}/schedstat") as file:
            return int(file.read().split()[0])

    def sampler(self):
        """The session's own thread, or None."""
        for tid in set(os.listdir(f"/proc/{self.pid}/task")) - self.tids:
            if self.comm(tid) == "plimsoll":
                return tid
        return None

    def counts(self):
        """{tid: (voluntary, involuntary)} of the workload's own threads."""
        counts = {}
        for tid in self.tids:
            with open(f"/proc/{self.pid}/task/{tid}/status") as file:
                counts[tid] = tuple(int(number) for number in re.findall(
                    r"ctxt_switches:\s*(\d+)", file.read()))
        return counts

    def end(self):
        super().end()
        self.file.close()
        os.close(self.to)


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def told(values, scale=1.0, sign=""):
    """Median and quartiles as text."""
    low, middle, high = (scale * value for value in quartiles(values))
    return f"{middle:{sign}.2f} ({low:{sign}.2f} to {high:{sign}.2f})"


def has_run(load, seconds):
    """Waits until bench/attach's busy.c had so much CPU time: (turns, CPU ns)
    since. On a machine that is busy otherwise that takes longer."""
    turns, cpu = load.pair()
    end = time.monotonic() + 60 + 30 * seconds
    turns_after, cpu_after = turns, cpu
    while cpu_after - cpu < seconds * 1e9:
        if time.monotonic() > end:
            raise RuntimeError("the workload gets no CPU")
        time.sleep(max(seconds - (cpu_after - cpu) / 1e9, 0.01))
        turns_after, cpu_after = load.pair()
    return turns_after - turns, cpu_after - cpu


def turn_window(load, line, seconds):
    """One window: "each", CPU ns a turn; "turns"; "cpu", ns; of a session
    "answer", and "sampler", its own thread's share of a CPU."""
    window = {}
    tid = None
    if line is not None:
        load.say(line)
        tid = load.sampler()
    own = load.cpu_of(tid) if tid else 0
    start = time.monotonic()
    window["turns"], window["cpu"] = has_run(load, seconds)
    window["each"] = window["cpu"] / window["turns"]
    if tid:
        own = load.cpu_of(tid) - own
        window["sampler"] = own / 1e9 / (time.monotonic() - start)
    if line is not None:
        window["answer"] = load.stop()
    return window
