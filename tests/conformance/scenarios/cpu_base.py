"""CPU usage above 100 %, and of what.

Eight threads compute. On a machine of several CPUs they use more than one
core, which is no fault if it is said what 100 % are. The truth is the
process's CPU clock over the time that passed, read ten times a second: the
tools' windows are not the same, and other load comes and goes.
"""
import threading
import time

from answer import said, unasked, value_such_that
from peers.plim import Plim
from scene import pick

REPORTS = "open-telemetry/opentelemetry-collector-contrib#31368"


class Shares:
    """Per cent of one core in every window as long as a tool's may be."""

    def __init__(self, pid):
        self.clock = (~pid << 3) | 2  # as clock_getcpuclockid()
        self.samples = []
        self.end = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.end.wait(0.1):
            self.samples.append((time.monotonic_ns(),
                                 time.clock_gettime_ns(self.clock)))

    def all(self):
        self.end.set()
        self.thread.join()
        return [100 * (cpu - before) / (at - begin)
                for begin, before in self.samples
                for at, cpu in self.samples
                if 8e8 <= at - begin <= 5e9]


def run(scene):
    spinners = scene.world.start("spinners", 8)
    time.sleep(0.5)
    shares = Shares(spinners.pid)
    found = scene.watch(spinners.pid, ["cpu"], lambda: None)
    every = shares.all()
    low, high = 0.9 * min(every), 1.1 * max(every)
    scene.question("CPU of eight threads that compute",
                   f"{min(every):.0f} to {max(every):.0f} % of one core",
                   pick(found, "cpu"),
                   value_such_that(lambda value: low <= value <= high))
    answers = {peer.name: base_of(peer, spinners.pid)
               if isinstance(peer, Plim) else unasked()
               for peer in scene.peers}
    scene.question("what 100 % are, beside the figure", "one core", answers,
                   value_such_that(lambda line: b"% of one core" in line))


def base_of(peer, pid):
    """The line with the figure, as people read it."""
    ended = peer.run([peer.plim, "report", "--for", "200ms", str(pid)])
    lines = [line for line in ended.out.splitlines()
             if line.startswith(b"CPU")]
    return said(lines[0] if lines else b"", ended.out)
