"""procps.py - ps and top.

ps is asked for exactly the columns that answer a question, with the name at
the end of the line, where nothing can follow it. top runs in batch mode with
its own defaults; its second frame is what it says after the change.
"""
import re
import time

from answer import absent, refused, said, unasked
from peers.base import SECONDS, Peer, Said, none_from
from world import end_group

COLUMNS = {  # field: column of ps
    "ppid": "ppid", "state": "s", "threads": "nlwp", "rss": "rss",
    "pss": "pss", "read_bytes": "rbytes", "write_bytes": "wbytes",
    "cancelled_bytes": "wcbytes",
    "exe": "exe", "cgroup": "cgroup", "unit": "unit", "cmdline": "args",
    "name": "comm",
}
NUMBERS = ("ppid", "threads", "rss", "pss", "read_bytes", "write_bytes",
           "cancelled_bytes")
UNITS = {"rss": 1024, "pss": 1024}


class Ps(Peer):
    name = "ps"
    program = "ps"
    needs = "procps"

    def version(self):
        return self.run(["ps", "--version"]).out.decode().split()[-1]

    def look(self, pid, fields, seconds=SECONDS):
        found = {}
        for field in fields:
            if field in COLUMNS:
                found[field] = self.one(pid, field, seconds)
            elif field == "rows":
                out = self.run(["ps", "-ww", "-o", "pid=,comm=", "-p",
                                str(pid)], seconds).out
                found[field] = said(out.count(b"\n"), out)
            elif field == "raw":
                out = self.run(["ps", "-ww", "-fp", str(pid), "-o",
                                "pid,comm"], seconds).out
                found[field] = said(out)
            else:
                found[field] = unasked()
        return found

    def one(self, pid, field, seconds):
        ended = self.run(["ps", "-ww", "-o", COLUMNS[field] + "=", "-p",
                          str(pid)], seconds)
        if ended.status != 0 or not ended.out:
            return none_from([field], [field], ended)[field]
        text = ended.out[:-1]
        if field in ("name", "cmdline"):
            return said(text)
        text = text.strip()
        if text == b"-":
            return refused(text)
        if field in NUMBERS:
            if not re.fullmatch(rb"\d+", text):
                return absent(text)
            return said(int(text) * UNITS.get(field, 1), text)
        return said(text.decode("ascii", "backslashreplace"))

    def lists(self):
        """The pids in its list of everything."""
        ended = self.run(["ps", "-e", "-o", "pid="])
        return pids_said(ended)


def pids_said(ended):
    if ended.status != 0:
        return absent(ended.err.strip() or f"status {ended.status}")
    return said([int(word) for word in ended.out.split()], ended.out)


def top_size(text):
    """RES: KiB, or with a letter."""
    scale = {b"m": 1 << 20, b"g": 1 << 30, b"t": 1 << 40}.get(text[-1:])
    return int(float(text[:-1]) * scale) if scale else int(text) * 1024


NO_ROW = Said(0, b"headings, and no row", b"", True)


class Top(Peer):
    name = "top"
    program = "top"
    needs = "procps"
    had = ("state", "rss", "cpu", "name", "cmdline", "rows", "raw")

    def version(self):
        return self.run(["top", "-V"]).out.decode().split()[-1]

    def look(self, pid, fields, seconds=SECONDS):
        argv = ["top", "-b", "-n", "1", "-w", "400", "-p", str(pid)]
        if "cmdline" in fields:
            argv.insert(1, "-c")
        ended = self.run(argv, seconds)
        return self.frame(ended.out, pid, fields, ended)

    def lists(self):
        ended = self.run(["top", "-b", "-n", "1", "-w", "400"])
        if ended.status != 0:
            return absent(ended.err.strip() or ended.out.strip())
        table = ended.out.partition(b"COMMAND")[2]
        return said([int(p) for p in re.findall(rb"(?m)^\s*(\d+) ", table)],
                    ended.out[-100:])

    def frame(self, text, pid, fields, ended):
        found = none_from(fields, self.had, ended)
        header, _, table = text.partition(b"COMMAND")
        row = re.search(
            rb"(?m)^ *%d +\S+ +\S+ +\S+ +\S+ +(\S+) +\S+ (\S) +(\S+) +\S+ +"
            rb"\S+ (.*)$" % pid, table)
        if row is None and header and not table.strip():
            return none_from(fields, self.had, NO_ROW)
        if row is None:
            return found
        values = {"rss": said(top_size(row[1]), row[1]),
                  "state": said(row[2].decode()),
                  "cpu": refused(row[3]) if row[3] == b"?" else
                  said(float(row[3]), row[3]),
                  "name": said(row[4].rstrip()),
                  "cmdline": said(row[4].rstrip()),
                  "rows": said(len(table.strip().splitlines()), table),
                  "raw": said(table)}
        return {field: values.get(field, found[field]) for field in fields}

    def watch(self, pid, fields):
        return TopWatch(self, pid, fields)


class TopWatch:
    """Two frames, two seconds apart; one top for names, one for command
    lines, which stand in the same column."""

    def __init__(self, top, pid, fields):
        self.seconds = 2 * top.pace
        self.begin = time.monotonic()
        self.top, self.pid = top, pid
        self.parts = []
        for part in ([f for f in fields if f != "cmdline"],
                     [f for f in fields if f == "cmdline"]):
            if part:
                argv = ["top", "-b", "-n", "2", "-d", str(self.seconds), "-w",
                        "400", "-p", str(pid)]
                if "cmdline" in part:
                    argv.insert(1, "-c")
                self.parts.append((part, top.start(argv)))

    def first(self):
        time.sleep(max(0, self.begin + 0.6 - time.monotonic()))

    def is_late(self):
        """The second look may have come before what happens."""
        return time.monotonic() > self.begin + self.seconds - 0.2

    def frames(self):
        found = {}
        for part, process in self.parts:
            out, err = process.communicate(timeout=SECONDS)
            at = out.rfind(b"\ntop - ")
            ended = Said(process.returncode, out[at + 1:] if at > 0 else out,
                         err, True)
            found.update(self.top.frame(ended.out, self.pid, part, ended))
        return [found]

    def close(self):
        for _, process in self.parts:
            end_group(process)
