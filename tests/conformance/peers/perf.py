"""perf.py - perf stat on one process, for its context switches alone.

What it counts are all switches, voluntary or not. As an ordinary user it asks
for the event in user mode, in which no switch happens.
"""
import time

from answer import absent, refused, said, unasked
from peers.base import SECONDS, Peer
from world import end_group


class Perf(Peer):
    name = "perf"
    program = "perf"
    needs = "linux-perf"

    def version(self):
        return self.run(["perf", "--version"]).out.decode().split()[-1]

    def watch(self, pid, fields):
        return PerfWatch(self, pid, fields)


class PerfWatch:
    """One run of two seconds; `-x,` gives COUNT,UNIT,EVENT,... a line."""

    def __init__(self, peer, pid, fields):
        self.fields = fields
        self.seconds = 2 * peer.pace
        self.begin = time.monotonic()
        self.process = None
        if "switches" in fields:
            self.process = peer.start([
                "perf", "stat", "-x,", "-e", "context-switches", "-p",
                str(pid), "--", "sleep", str(self.seconds)])

    def first(self):
        time.sleep(max(0, self.begin + 0.3 - time.monotonic()))

    def is_late(self):
        return self.process is not None and \
            time.monotonic() > self.begin + self.seconds - 0.2

    def frames(self):
        found = {field: unasked() for field in self.fields}
        if self.process is not None:
            _, err = self.process.communicate(timeout=SECONDS)
            found["switches"] = self.switches(err)
        return [found]

    def switches(self, text):
        for line in text.splitlines():
            parts = line.split(b",")
            if len(parts) < 3 or not parts[2].startswith(b"context-switches"):
                continue
            if parts[0].isdigit():
                return said(int(parts[0]) / self.seconds, line)
            return refused(line)
        return absent(text.strip())

    def close(self):
        if self.process is not None:
            end_group(self.process)
