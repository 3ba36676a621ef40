"""plim.py - our own command, asked by its JSON as any client would ask it."""
import json
import os
import select
import time

from answer import absent, refused, said, unasked
from peers.base import NOTHING, SECONDS, Peer, none_from
from world import end_group

KEYS = {"state": "state", "ppid": "ppid", "threads": "threads",
        "rss": "resident_bytes", "pss": "pss_bytes",
        "read_bytes": "disk_read_bytes", "write_bytes": "disk_write_bytes",
        "cancelled_bytes": "disk_cancelled_write_bytes",
        "peak_rss": "peak_resident_bytes", "identity": "identity",
        "kernel_thread": "kernel_thread", "cgroup": "cgroup",
        "unit": "unit", "exe": "exe"}
RATES = {"cpu": "cpu_percent", "switches": "wakeups_per_second"}


class Plim(Peer):
    name = "plim"

    def __init__(self, place):
        super().__init__(place)
        self.plim = os.path.join(place.build, "cli", "plim")

    def there(self):
        return os.access(self.plim, os.X_OK)

    def version(self):
        return self.run([self.plim, "--version"]).out.decode().split()[-1]

    def look(self, pid, fields, seconds=SECONDS):
        if fields == ["cmdline"]:
            return {"cmdline": self.cmdline(pid, seconds)}
        ended = self.run([self.plim, "show", "--json", str(pid)], seconds)
        found = self.failure(ended, fields)
        if found is None:
            found = self.process(json.loads(ended.out)["process"], fields)
        if "cmdline" in fields:
            found["cmdline"] = self.cmdline(pid, seconds)
        if "rows" in fields or "raw" in fields:
            out = self.run([self.plim, "ps", "-o", "pid,name",
                            f"pid = {pid}"], seconds).out
            lines = out.splitlines()[1:-1]  # a heading, and the cost
            found["rows"] = said(len(lines), out)
            found["raw"] = said(out)
        return {field: found[field] for field in fields}

    def failure(self, ended, fields):
        """The answers, if it failed; an error is JSON, too."""
        if ended.in_time and ended.out.startswith(b"{"):
            error = json.loads(ended.out).get("error")
            if error is None:
                return None
            text = f"{error['code']}: {error['message']}"
            answer = absent(text) if error["code"] == "no_such_process" \
                else refused(text)
            return {field: answer for field in fields}
        return none_from(fields, fields, ended)

    def process(self, process, fields):
        missing = process.get("unavailable", {})
        rates = process.get("rates") or {}
        found = {}
        for field in fields:
            if field == "name":
                raw = process.get("name_bytes")
                found[field] = said(bytes.fromhex(raw) if raw else
                                    process["name"].encode())
            elif field in KEYS and KEYS[field] in process:
                found[field] = figure(process, KEYS[field], missing)
            elif field in RATES and RATES[field] in rates:
                found[field] = figure(rates, RATES[field],
                                      rates["unavailable"])
            elif field in RATES and "rates" in process:
                found[field] = refused("no rate of this round")
            else:
                found[field] = unasked()
        return found

    def cmdline(self, pid, seconds):
        ended = self.run([self.plim, "cmdline", "--json", str(pid)], seconds)
        found = self.failure(ended, ["cmdline"])
        if found is not None:
            return found["cmdline"]
        document = json.loads(ended.out)
        words = document.get("arguments_bytes")
        if words is not None:
            return said(b" ".join(bytes.fromhex(word) for word in words))
        words = document["arguments"]
        why = document["unavailable"].get("arguments")
        if why is not None:
            return refused(f"{why['state']}, {why['reason']}")
        return said(" ".join(words).encode())

    def lists(self, *options):
        ended = self.run([self.plim, "ps", "--json", *options])
        failed = self.failure(ended, ["list"])
        if failed is not None:
            return failed["list"]
        return said([process["pid"] for process in
                     json.loads(ended.out)["processes"]], ended.out[-60:])

    def report_events(self, pid, change):
        """What a report says to have happened, when change() did."""
        process = self.start([self.plim, "report", "--json", "--for", "1s",
                              str(pid)])
        try:
            time.sleep(0.3)
            change()
            document = json.loads(process.communicate(timeout=SECONDS)[0])
            return said(events_of(document, pid))
        finally:
            end_group(process)

    def watch(self, pid, fields, options=()):
        return PlimWatch(self, pid, fields, options)


def figure(holder, key, missing):
    if holder[key] is None:
        why = missing[key]
        answer = refused(f"{why['state']}, {why['reason']}")
        answer.state = why["state"]
        return answer
    return said(holder[key])


def events_of(document, pid):
    """The words of the events of one pid."""
    return [event["event"] for event in document.get("events", [])
            if event.get("pid", pid) == pid]


class PlimWatch:
    """plim ps --watch, whose every line is one round."""

    def __init__(self, plim, pid, fields, options):
        self.plim, self.pid, self.fields = plim, pid, fields
        self.rest = b""
        self.process = plim.start([
            plim.plim, "ps", "--watch", "--every", f"{plim.pace}s",
            "--threads", "--identity", "--json", *options,
            f"pid = {pid}"])

    def round(self, seconds=SECONDS):
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [],
                                 end - time.monotonic())[0]:
                raise TimeoutError("plim ps --watch is silent")
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise EOFError("plim ps --watch has ended")
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def first(self):
        self.round()

    def is_late(self):
        """Another round is over before what happens has happened."""
        return bool(self.rest or
                    select.select([self.process.stdout], [], [], 0)[0])

    def frames(self):
        """The round that was under way, and the one after it."""
        found = []
        for _ in range(2):
            document = self.round()
            one = [p for p in document["processes"] if p["pid"] == self.pid]
            answers = none_from(self.fields, self.fields, NOTHING)
            if one:
                answers = self.plim.process(one[0], self.fields)
            if "events" in self.fields:
                answers["events"] = said(events_of(document, self.pid))
            if "exe" in self.fields:  # not among what ps prints unasked
                answers["exe"] = self.plim.look(self.pid, ["exe"])["exe"]
            if "cmdline" in self.fields:
                answers["cmdline"] = self.plim.cmdline(self.pid, SECONDS)
            found.append(answers)
        return found

    def close(self):
        end_group(self.process)
