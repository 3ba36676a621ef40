"""pidstat.py - pidstat of sysstat, all its reports in one line a process.

The values stand under their headings; the name is the rest of the line, or
of everything, if it holds a newline. What it could not read it prints as -1.
"""
import re
import time

from answer import REFUSED, Answer, absent, said, unasked
from peers.base import SECONDS, Peer, Said, none_from
from world import end_group

HEADINGS = {"rss": "RSS", "cpu": "%CPU", "switches": "cswch/s",
            "threads": "threads", "read_rate": "kB_rd/s"}
NO_ROW = Said(0, b"headings, and no row", b"", True)


class Pidstat(Peer):
    name = "pidstat"
    program = "pidstat"
    needs = "sysstat"
    had = tuple(HEADINGS) + ("name", "cmdline", "rows", "raw")

    def version(self):
        out = self.run(["pidstat", "-V"])
        return (out.out + out.err).decode().split()[2]

    def arguments(self, pid, fields, seconds):
        argv = ["pidstat", "-h", "-u", "-r", "-d", "-w", "-v", "-p", str(pid)]
        if "cmdline" in fields:
            argv.append("-l")
        return argv + ([str(seconds), "1"] if seconds else [])

    def look(self, pid, fields, seconds=SECONDS):
        if not set(fields) & set(self.had):
            return {field: unasked() for field in fields}
        # What needs no interval comes at once.
        wait = 0 if set(fields) <= {"name", "cmdline", "rss", "threads",
                                    "rows", "raw"} else 1
        ended = self.run(self.arguments(pid, fields, wait), seconds)
        return self.row(ended, fields)

    def lists(self):
        ended = self.run(["pidstat", "-h", "-r", "-p", "ALL"])
        found = re.findall(rb"(?m)^\S+ +\d+ +(\d+) ", ended.out)
        if ended.status != 0 or not found:
            return absent(ended.err.strip() or f"status {ended.status}")
        return said([int(pid) for pid in found], ended.out[-60:])

    def row(self, ended, fields):
        found = none_from(fields, self.had, ended)
        head = re.search(rb"(?m)^# Time +(.*)$", ended.out)
        if head is None:
            return found
        headings = head[1].decode().split()
        rest = ended.out[head.end() + 1:]
        if not rest:
            return none_from(fields, self.had, NO_ROW)
        row = re.match(rb"\S+ +" + rb"(\S+) +" * (len(headings) - 1) +
                       rb"(?s:(.*))$", rest)
        if row is None:
            return found
        text = dict(zip(headings, row.groups()))
        values = {"name": said(text["Command"].rstrip(b"\n").lstrip(b" ")),
                  "rows": said(rest.rstrip(b"\n").count(b"\n") + 1,
                               text["Command"]),
                  "raw": said(rest, text["Command"])}
        values["cmdline"] = values["name"]
        for field, heading in HEADINGS.items():
            number = float(text[heading])
            values[field] = said(number * (1024 if field == "rss" else 1),
                                 text[heading])
            if number == -1:
                values[field] = Answer(REFUSED, None, text[heading])
        return {field: values.get(field, found[field]) for field in fields}

    def watch(self, pid, fields):
        return PidstatWatch(self, pid, fields)


class PidstatWatch:
    """One interval of two seconds, begun before the change; one pidstat for
    names, one for command lines, which stand in the same column."""

    def __init__(self, peer, pid, fields):
        self.seconds = 2 * peer.pace
        self.begin = time.monotonic()
        self.peer = peer
        self.parts = []
        for part in ([f for f in fields if f != "cmdline"],
                     [f for f in fields if f == "cmdline"]):
            if part:
                self.parts.append((part, peer.start(
                    peer.arguments(pid, part, self.seconds))))

    def first(self):
        time.sleep(max(0, self.begin + 0.6 - time.monotonic()))

    def is_late(self):
        """The second look may have come before what happens."""
        return time.monotonic() > self.begin + self.seconds - 0.2

    def frames(self):
        found = {}
        for part, process in self.parts:
            out, err = process.communicate(timeout=SECONDS)
            found.update(self.peer.row(
                Said(process.returncode, out, err, True), part))
        return [found]

    def close(self):
        for _, process in self.parts:
            end_group(process)
