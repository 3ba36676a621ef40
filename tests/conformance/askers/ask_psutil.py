"""ask_psutil.py - answers the questions of peers/asker.py with psutil.

A pid's Process object is made at the first question and kept, as a program
would that watches it.
"""
import sys

import psutil

held = {}


def joined(process):
    return b" ".join(word.encode("utf-8", "surrogateescape")
                     for word in process.cmdline())


def identity(process):
    """What psutil itself compares: pid and creation time."""
    return f"{process.pid} {process.create_time()}"


LETTERS = {"running": "R", "sleeping": "S", "disk-sleep": "D", "zombie": "Z",
           "stopped": "T", "idle": "I"}
FIELDS = {
    "name": lambda p: p.name().encode("utf-8", "surrogateescape"),
    "state": lambda p: LETTERS.get(p.status(), p.status()),
    "ppid": lambda p: p.ppid(),
    "threads": lambda p: p.num_threads(),
    "rss": lambda p: p.memory_info().rss,
    "cpu": lambda p: p.cpu_percent(),
    "switches": lambda p: p.num_ctx_switches().voluntary,
    "cmdline": joined,
    "exe": lambda p: p.exe(),
    "pss": lambda p: p.memory_full_info().pss,
    "read_bytes": lambda p: p.io_counters().read_bytes,
    "write_bytes": lambda p: p.io_counters().write_bytes,
    "identity": identity,
    "running": lambda p: int(p.is_running()),
    "kill": lambda p: p.kill() or "sent",
}


def process_of(pid):
    if pid not in held:
        held[pid] = psutil.Process(pid)
    return held[pid]


def answer(field, pid):
    try:
        if field == "list":
            found = [p.pid for p in psutil.process_iter(
                ["name", "memory_info", "status"])]
            return "said", " ".join(map(str, found))
        if field not in FIELDS:
            return "unasked", ""
        return "said", FIELDS[field](process_of(pid))
    except psutil.NoSuchProcess as error:  # a zombie's, too
        return "absent", repr(error)
    except psutil.AccessDenied as error:
        return "refused", repr(error)
    except Exception as error:  # what a program would end with
        return "absent", repr(error)


for line in sys.stdin:
    asked, number = line.split()
    word, text = answer(asked, int(number))
    if not isinstance(text, bytes):
        text = str(text).encode("utf-8", "surrogateescape")
    print(word, text.hex(), flush=True)
