#!/usr/bin/env python3
"""rounds.py PLIM GENERATIONS LIVE SECONDS FOLDER

Runs the storm of reused pids (tests/workloads/generations.c) and, beside it,
`plim ps --watch --json --every 100ms`, in the pid namespace that it is started
in, and holds every line of the one against the log of the other: every row is
of one generation, with its name, its proof and its figures; the events are
exactly what the rows of two lines differ by; each end has happened, and who
lived is there; each rate is the difference of two lines by the interval.

Prints TAP. The log's format stands in tests/workloads/generations.h.
"""
import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import time

CAPACITY = 1000000
PIDS = 65536
PAGE = 4096
HEAD = struct.Struct("QQii")
ITEM = struct.Struct("iiii7Q")
LAST_AT = HEAD.size
ITEMS_AT = LAST_AT + 4 * PIDS
FLASH, ELDER, BUSY, WRITER = 1, 2, 3, 4
SLACK_NS = 50000000
WRITER_NS = 5000000
PAGES = 4  # see test_reuse_storm.c
METADATA = 16
# A line is read so much later than it was written, at most.
LATE_NS = 50000000
MOST = 60  # seconds more, if too little was seen


class Wrong(Exception):
    pass


class Log:
    def __init__(self, file):
        self.map = mmap.mmap(file, ITEMS_AT + CAPACITY * ITEM.size,
                             prot=mmap.PROT_READ)

    def settled(self):
        """All that had begun by now is written down."""
        step = HEAD.unpack_from(self.map)[0]
        while step & 1 and HEAD.unpack_from(self.map)[0] == step:
            time.sleep(0)
        return HEAD.unpack_from(self.map)[1]

    def driver(self):
        return HEAD.unpack_from(self.map)[2]

    def item(self, number):
        return Gen(number, *ITEM.unpack_from(self.map, ITEMS_AT +
                                             number * ITEM.size))

    def of_pid(self, pid):
        number = struct.unpack_from("i", self.map, LAST_AT + 4 * pid)[0]
        while number >= 0:
            gen = self.item(number)
            yield gen
            number = gen.before


class Gen:
    __slots__ = ("number", "pid", "before", "kind", "inode", "born_before",
                 "born_after", "end_before", "end_after", "low", "high")

    def __init__(self, number, pid, before, kind, _, *rest):
        self.number, self.pid, self.before, self.kind = (number, pid, before,
                                                         kind)
        (self.inode, self.born_before, self.born_after, self.end_before,
         self.end_after, self.low, self.high) = rest

    def pages(self):
        return self.number % 6 * 16

    def written(self):
        return self.number // 8 % 5 + 1 if self.number % 8 == 1 else 0

    def bytes_written(self, more):
        """At most: the file system's own pages are charged to who makes it
        allocate them, and to nobody who does not write."""
        pages = self.written() + more
        return (pages + METADATA) * PAGE if pages else 0

    def calls(self):
        return self.number * 7 % 251 + self.written()

    def spin(self):
        return (self.number // 16 % 16 * 100000 if self.number % 16 == 0
                else 0)


def between(row, key, low, high):
    value = row[key]
    if value is not None and not low <= value <= high:
        raise Wrong(f"{key} is {value}, not between {low} and {high}: {row}")


class Rounds:
    def __init__(self, log):
        self.log = log
        self.before = None  # pid: (generation, row) of the line before
        self.begin = self.end = 0  # when this round was taken at most
        self.told = dict.fromkeys(("lines", "rows", "stayed", "gone",
                                   "started", "replaced"), 0)
        self.base = None

    def who(self, row):
        """The generation of a row, or None for who is no part of the storm."""
        pid, identity = row["pid"], row["identity"]
        any_of_it, found = False, []
        for gen in self.log.of_pid(pid):
            any_of_it = True
            if gen.end_after and gen.end_after < self.begin - LATE_NS:
                break  # and so have all before it
            if gen.born_before <= self.end and \
                    gen.low <= row["start_ticks"] <= gen.high and \
                    ("@i" not in identity or not gen.inode or
                     identity == f"{pid}@i{gen.inode}"):
                found.append(gen)
        if not any_of_it:
            return None
        named = [g for g in found if row["name"] == f"g{g.number}"]
        if not found or (not named and row["name"] != "generations"):
            raise Wrong(f"it is nobody: {row}")
        return (named or found)[0]

    def figures(self, gen, row):
        named = row["name"] != "generations"
        flash = gen.kind == FLASH
        more = 0
        if gen.kind == WRITER:
            more = (self.end - gen.born_before) // WRITER_NS + 8
        calls = 0 if flash else gen.calls()
        pages = self.base + (0 if flash else gen.pages())
        between(row, "ppid", self.log.driver(), self.log.driver())
        between(row, "threads", 1, 1)
        between(row, "io_calls", calls if named else 0, calls + more)
        between(row, "disk_write_bytes", 0,
                0 if flash else gen.bytes_written(more))
        between(row, "anonymous_bytes",
                (pages - PAGES) * PAGE if named else 0,
                (pages + PAGES) * PAGE)
        if gen.kind not in (BUSY, WRITER):
            between(row, "cpu_ns", gen.spin() if named else 0,
                    gen.spin() + SLACK_NS)

    def rates(self, gen, row, was):
        rates = row["rates"]
        passed = rates["interval_ns"]
        if not 0 < passed <= self.end - self.begin_before + LATE_NS:
            raise Wrong(f"an interval of {passed} ns: {row}")
        for key, value in rates.items():
            if not key.endswith("_per_second"):
                continue
            field = key[:-len("_per_second")]
            if value is None:
                if rates["unavailable"][key]["state"] in ("reset", "unlike"):
                    raise Wrong(f"{key}: {row}")
                continue
            change = row[field] - was[field]
            if value < 0 or abs(value * passed / 1e9 - change) > \
                    1e-6 * change + 1e-3:
                raise Wrong(f"{key} is {value}, the change {change}: {row}")
        change = row["cpu_ns"] - was["cpu_ns"]
        if abs(rates["cpu_percent"] * passed / 100 - change) > \
                1e-6 * change + 1:
            raise Wrong(f"cpu_percent, with a change of {change}: {row}")
        most = SLACK_NS + gen.spin()
        if gen.kind == BUSY:
            most = self.end - self.begin_before + LATE_NS
        elif gen.kind != WRITER and was["name"] != "generations" and \
                gen.born_after + 200000000 < self.begin_before and \
                not (gen.end_before and gen.end_before <= self.end):
            most = 0
        if change > most:
            raise Wrong(f"{change} ns of CPU, at most {most}: {row}")

    def expected(self, now):
        """The events that two lines ask for."""
        events = set()
        for pid in self.before.keys() | now.keys():
            old, new = self.before.get(pid), now.get(pid)
            if new is None:
                events.add(("gone", pid, old[1]["identity"], None))
            elif old is None:
                events.add(("started", pid, new[1]["identity"], None))
            elif old[0] != new[0]:
                events.add(("replaced", pid, new[1]["identity"],
                            old[1]["identity"]))
        return events

    def ended(self, number, row):
        gen = self.log.item(number)
        if not gen.end_before or gen.end_before > self.end:
            raise Wrong(f"nobody has ended {row}")

    def compare(self, document, now):
        told = [(e["event"], e["pid"], e["identity"], e.get("was"))
                for e in document["events"]]
        expected = self.expected(now)
        if len(told) != len(expected) or set(told) != expected:
            raise Wrong(f"events: {sorted(set(told) ^ expected, key=str)}")
        for event, pid, _, _ in told:
            self.told[event] += 1
            if event != "started" and self.before[pid][0] is not None:
                self.ended(*self.before[pid])
        for pid, (number, row) in now.items():
            old = self.before.get(pid)
            stayed = old is not None and old[0] == number
            if (row.get("rates") is not None) != stayed:
                raise Wrong(f"rates of one that is new, or none: {row}")
            if stayed and number is not None:
                self.told["stayed"] += 1
                self.rates(self.log.item(number), row, old[1])

    def whole(self, count, now):
        """Who lived all through the round is in it."""
        seen = {number for number, _ in now.values()}
        for number in range(count):
            if number in seen or number in self.dead:
                continue
            gen = self.log.item(number)
            if gen.end_before and gen.end_before <= self.end:
                if gen.end_before < self.begin - LATE_NS:
                    self.dead.add(number)
                continue
            if gen.born_after < self.begin - LATE_NS:
                raise Wrong(f"generation {number} was missed: pid {gen.pid}, "
                            f"born {gen.born_before}, ended "
                            f"{gen.end_before}, round {self.begin} to "
                            f"{self.end}; there is {now.get(gen.pid)}")

    dead = set()
    begin_before = 0

    def enough(self):
        return all(n >= 5 for n in self.told.values())

    def line(self, text):
        self.begin_before, self.begin, self.end = (
            self.begin, self.end, time.monotonic_ns())
        document = json.loads(text)
        count = self.log.settled()
        if self.base is None:
            first = self.log.item(0).pid
            self.base = next(r["anonymous_bytes"] // PAGE
                             for r in document["processes"]
                             if r["pid"] == first)
        now, last = {}, 0
        for row in document["processes"]:
            if row["pid"] <= last:
                raise Wrong(f"pid {row['pid']} after {last}")
            last = row["pid"]
            gen = self.who(row)
            if gen is not None:
                self.figures(gen, row)
            now[last] = (gen.number if gen else None, row)
        self.told["lines"] += 1
        self.told["rows"] += len(now)
        if self.before is not None:
            self.compare(document, now)
            self.whole(count, now)
        self.before = now


def answer(driver):
    told = {}
    for line in driver.stdout:
        if line == "end\n":
            break
        key, value = line.strip().split("=")
        told[key] = int(value)
    return told


def ask(driver, word):
    driver.stdin.write(word + "\n")
    driver.stdin.flush()
    return answer(driver)


def watch(plim, log, seconds):
    command = [plim, "ps", "--watch", "--json", "--every", "100ms"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    rounds = Rounds(log)
    rounds.end = time.monotonic_ns()
    until = time.monotonic() + seconds
    try:
        for line in process.stdout:
            rounds.line(line)
            late = time.monotonic() - until
            if late > 0 and (rounds.enough() or late > MOST):
                until = float("inf")
                process.send_signal(signal.SIGINT)
        status = process.wait()
    finally:
        process.kill()
        process.wait()
    if status != 130:
        raise Wrong(f"plim ended with {status} after Ctrl-C")
    return {**rounds.told, "few": not rounds.enough()}


def main():
    plim, program, live, seconds, folder = sys.argv[1:]
    live = int(live)
    name = "every line of plim ps --watch against the log of the storm"
    file = os.memfd_create("log", 0)
    driver = subprocess.Popen(
        [program, str(live), str(file), str(600 + live * 5 // 4), folder],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[file],
        universal_newlines=True)
    wrong = ""
    if not driver.stdout.readline().endswith(" ready\n"):
        print("1..1\nok 1 - " + name +
              " # skip this machine does not let so many processes start")
        return
    try:
        told = watch(plim, Log(file), float(seconds))
        told.update(ask(driver, "stop"))
        few = told.pop("few")
        print("# " + ", ".join(f"{v} {k}" for k, v in told.items()))
        if few:
            wrong = f"too few events: {told}"
    except Wrong as error:
        wrong = str(error)
    ask(driver, "end")
    driver.stdin.close()
    driver.wait()
    if wrong:
        print("# " + ascii(wrong))
    print(f"{'not ok' if wrong else 'ok'} 1 - {name}\n1..1")
    sys.exit(1 if wrong else 0)


main()
