#!/usr/bin/env python3
"""tool.py COMMAND ARGUMENT... - what sh alone cannot do for tests/cli.

  schema FILE NAME [--lines]   standard input against the schema's NAME, and
                               against the rules that a schema cannot tell
  names                        PID and the bytes of its name, in hex, of JSON
  csv                          CSV as JSON, row by row; all rows equally long
  clean [crlf]                 nothing that a terminal obeys is in the input
  near A B PERCENT             A is at most so far from B
  pty COLUMNS PROGRAM...       what the program prints on a terminal
  interrupted SECONDS PROGRAM... the same; once it has been silent for so long
                               somebody presses Ctrl-C
  account FILE PROGRAM...      runs it; the kernel's account of it, and of the
                               runner itself, as the last act
  complete SHELL FILE          what the shell makes of each line of the input
                               when its completions are asked for; a line
                               that begins with ! is not run then
  crowd COUNT                  so many processes that wait until the input
                               ends, or for a while

Status 1: no; 77: cannot be told here.
"""
import csv
import fcntl
import json
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

# Controls, and what changes or hides the direction of text.
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f"
                    "\u2028-\u202e\u2060-\u206f\ufeff]")


def give_up(text):
    print(text)
    sys.exit(1)


def both_or_none(where, figures, missing, method):
    """A figure is known and has a source, or null and has a reason."""
    for name, value in figures.items():
        if value is None and name not in missing:
            give_up(f"{where}: {name} is null without a reason")
        if value is not None and name in missing:
            give_up(f"{where}: {name} is {value} and unavailable")
        if value is not None and name not in method:
            give_up(f"{where}: {name} has no source")
    for name in list(missing) + list(method):
        if name not in figures:
            give_up(f"{where}: nothing is called {name}")


# What is told of a process in a tree is its place and no figure.
PLACE = ("depth", "parent", "selected", "born", "reparented",
         "ignores_children", "tree_sums")


def check_sums(where, sums):
    """A sum says of how many members it is; if some lack the figure it is a
    bound, and if none has it, it is none. What does not apply to a member, as
    memory to a zombie, counts neither as known nor as missing; CPU time always
    applies."""
    for name, told in sums.items():
        lacks = told["known"] == 0 and (
            told["missing"] > 0 or
            told.get("unavailable", {}).get("state") == "not_applicable")
        if (told["value"] is None) != lacks:
            if "per_second" not in name and name != "cpu_percent":
                give_up(f"{where}: sum of {name}: {told}")
        if told["value"] is not None and told["missing"] > 0 and \
                told.get("bound") != "at_least":
            give_up(f"{where}: sum of {name} is no bound: {told}")
    of = {name: told["known"] + told["missing"] for name, told in sums.items()}
    if "cpu_ns" in of and max(of.values()) != of["cpu_ns"]:
        give_up(f"{where}: sums of more members than there are: {sums}")


def check_tree(tree):
    check_sums("tree", tree["sums"])
    for process in tree.get("biggest", []):
        check_process(process)
    above = []
    for process in tree.get("processes", []):
        check_process(process)
        if process["depth"] > len(above):
            give_up(f"{process['pid']} stands too deep")
        del above[process["depth"]:]
        if process["parent"] != (above[-1] if above else None):
            give_up(f"{process['pid']} is not below its parent")
        above.append(process["pid"])


def check_process(process):
    sides = ("unavailable", "method", "bound", "rates", "name_bytes") + PLACE
    figures = {k: v for k, v in process.items() if k not in sides}
    check_sums(f"process {process.get('pid')}", process.get("tree_sums", {}))
    where = f"process {process.get('pid')}"
    if "method" in process:
        both_or_none(where, figures, process["unavailable"],
                     process["method"])
    rates = process.get("rates")
    if rates:
        sides = ("unavailable", "method", "bound", "interval_ns",
                 "suspended_ns")
        figures = {k: v for k, v in rates.items() if k not in sides}
        both_or_none(where + " rates", figures, rates["unavailable"],
                     rates["method"])


def check_thread(thread):
    where = f"thread {thread['tid']}"
    sides = ("unavailable", "method", "bound")
    figures = {k: v for k, v in thread.items()
               if k not in sides + ("tid", "born", "delta", "name_bytes",
                                    "pid", "process", "process_bytes")}
    both_or_none(where, figures, thread["unavailable"], thread["method"])
    delta = thread.get("delta")
    if delta:
        figures = {k: v for k, v in delta.items() if k not in sides}
        both_or_none(where + " delta", figures, delta["unavailable"],
                     delta["method"])


def twice(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        give_up("a key stands twice")
    return dict(pairs)


def documents(lines):
    text = sys.stdin.buffer.read().decode()
    if not text.endswith("\n"):
        give_up("no newline at the end")
    texts = text.splitlines() if lines else [text]
    return [json.loads(t, object_pairs_hook=twice) for t in texts]


def check_profile(document):
    """Its threads have no counters, but shares of the window; and indices
    are places."""
    sides = ("unavailable", "method", "bound")
    metrics = document["metrics"]
    both_or_none("metrics", {name: value for name, value in metrics.items()
                             if name not in sides},
                 metrics["unavailable"], metrics["method"])
    for tier in document["profile"]["tiers"]:
        both_or_none("tier", {"works": tier["works"]}, tier["unavailable"],
                     tier["method"])
    places = {"program": "programs", "module": "modules",
              "function": "functions", "thread": "threads"}
    lines = [line for frame in document["frames"] for line in frame["lines"]]
    for row in (document["threads"] + document["modules"] + lines
                + document["functions"] + document["frames"]
                + document["stacks"]):
        for key, where in places.items():
            if row.get(key) is not None and \
                    row[key] >= len(document[where]):
                give_up(f"{key} {row[key]} is no place in {where}")
    for stack in document["stacks"]:
        for frame in stack["frames"]:
            if frame >= len(document["frames"]):
                give_up(f"frame {frame} is no place in frames")
    for thread in document["threads"] + [document["views"]]:
        times = thread["times"]
        if times["wall_ns"] != times["cpu_ns"] + times["waiting_ns"] \
                + times["blocked_ns"]:
            give_up(f"times do not add up: {times}")
        if times["cpu_ns"] != times["cpu_sampled_ns"] \
                + times["cpu_system_ns"] + times["cpu_unsampled_ns"]:
            give_up(f"CPU times do not add up: {times}")


def check_diff(diff):
    """Shares are of the sides, and functions as many as verdicts."""
    counts = {"changed": 0, "same": 0, "not_enough_samples": 0}
    for row in diff["functions"]:
        counts[row["verdict"]] += 1
        for side in ("before", "after"):
            whole = diff[side]["weight"]
            for key in ("self", "total"):
                share = row[side][key] / whole
                if abs(row[side][key + "_share"] - share) > 1e-6:
                    give_up(f"{row['name']}: no share of {side}")
    for verdict, count in counts.items():
        if diff[verdict] != count:
            give_up(f"{count} functions are {verdict}")


def schema(file, name, how=""):
    try:
        import jsonschema
    except ImportError:
        sys.exit(77)
    with open(file, encoding="utf-8") as opened:
        whole = json.load(opened)
    jsonschema.Draft202012Validator.check_schema(whole)
    part = {"$ref": "#/$defs/" + name, "$defs": whole["$defs"]}
    found = documents(how == "--lines")
    if not found:
        give_up("no document")
    for document in found:
        for rules in (part, whole):
            errors = jsonschema.Draft202012Validator(rules)
            for error in errors.iter_errors(document):
                give_up(f"{list(error.path)}: {error.message[:2000]}")
        for process in document.get("processes", []):
            check_process(process)
        if "diff" in document:
            check_diff(document["diff"])
            continue
        if document.get("command") == "profile":
            check_profile(document)
            continue
        for thread in document.get("threads", []) + document.get("exited", []):
            check_thread(thread)
        if document.get("tree"):
            check_tree(document["tree"])
        for group in document.get("groups", []):
            check_sums(f"group {group['key']}", group["sums"])
        for key in ("process", "total"):
            if key in document:
                check_process(document[key])


def names():
    for document in documents(False):
        for process in document.get("processes") or [document["process"]]:
            name = process.get("name_bytes")
            if name is None:
                name = process["name"].encode().hex()
            print(process["pid"], name)


def read_csv():
    text = sys.stdin.buffer.read().decode()
    if text.replace("\r\n", "").find("\n") >= 0:
        give_up("a line ends in LF alone")
    rows = list(csv.reader(text.splitlines(True), strict=True))
    for row in rows[1:]:
        if len(row) != len(rows[0]):
            give_up(f"{len(row)} fields instead of {len(rows[0])}: {row}")
        print(json.dumps(dict(zip(rows[0], row))))


def clean(how=""):
    text = sys.stdin.buffer.read().decode()
    if how == "crlf":
        text = text.replace("\r\n", "\n")
    found = UNSAFE.search(text)
    if found or not text:
        give_up(repr(text[max(0, found.start() - 40):found.end()])
                if found else "it is empty")


def near(a, b, percent):
    if abs(float(a) - float(b)) > float(percent) / 100 * float(b):
        give_up(f"{a} is more than {percent} % off {b}")


def on_terminal(columns, *program, key_after=None):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(program[0], program)
    size = struct.pack("HHHH", 50, int(columns), 0, 0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
    while True:
        if key_after and not select.select([terminal], [], [], key_after)[0]:
            os.write(terminal, b"\x03")
            key_after = None
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        sys.stdout.buffer.write(data)
    sys.stdout.flush()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def interrupted(seconds, *program):
    on_terminal(300, *program, key_after=float(seconds))


def figures(usage):
    return {"cpu_us": round(usage.ru_utime * 1e6) +
            round(usage.ru_stime * 1e6),
            "wakeups": usage.ru_nvcsw, "involuntary": usage.ru_nivcsw}


def account(file, *program):
    out = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    pid = os.fork()
    if pid == 0:
        os.execvp(program[0], program)
    _, status, child = os.wait4(pid, 0)
    told = {"child": figures(child),
            "status": os.waitstatus_to_exitcode(status)}
    told["own"] = figures(resource.getrusage(resource.RUSAGE_SELF))
    # Nothing but this comes after.
    os.write(out, json.dumps(told).encode())
    os._exit(told["status"] & 255)


def crowd(count):
    inner, outer = os.pipe()
    for _ in range(int(count)):
        if os.fork() == 0:
            os.close(outer)
            os.close(0)
            os.close(1)
            os.read(inner, 1)  # ends when the last writer, our parent, ends
            os._exit(0)
    signal.alarm(110)
    print("ready", flush=True)
    sys.stdin.read()


# A shell at a terminal: the completions of a line are inserted, all of them,
# and the line becomes the arguments of `record`, so that they are seen as a
# command would get them. The last key inserts, then goes to the line's begin.
BASH = """PS1=; HISTFILE=; source "$FILE"
record() { printf '%s\\n' "$@" >"$OUT.new"; mv "$OUT.new" "$OUT"; }
plim() { :; }
record ready
"""
ZSH = """PS1=; fpath=("${FILE:h}" $fpath); autoload -Uz compinit
compinit -u -d "$OUT.dump"; setopt nobeep
source "$FILE"
zle -C all-matches complete-word _generic
zstyle ':completion:all-matches:*' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert yes
bindkey -e; bindkey '^Xa' all-matches
record() { printf '%s\\n' "$@" >"$OUT.new"; mv "$OUT.new" "$OUT"; }
plim() { :; }
record ready
"""
SHELLS = {"bash": (["bash", "--norc", "--noprofile", "-i"], BASH, "\033*"),
          "zsh": (["zsh", "-f", "-i"], ZSH, "\x18a")}


def recorded(terminal, out):
    end = time.monotonic() + 20
    told = b""
    while not os.path.exists(out):
        if select.select([terminal], [], [], 0.02)[0]:
            try:
                told += os.read(terminal, 65536)
            except OSError:
                give_up(f"the shell ended: {told[-2000:]!r}")
        if time.monotonic() > end:
            give_up(f"the shell does not answer: {told[-2000:]!r}")
    with open(out, encoding="utf-8") as opened:
        words = opened.read().split("\n")[:-1]
    os.unlink(out)
    return words


def at_terminal(shell, file):
    program, script, key = SHELLS[shell]
    with tempfile.TemporaryDirectory() as folder:
        out = folder + "/out"
        with open(folder + "/rc", "w", encoding="utf-8") as opened:
            opened.write(script)
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ.update(FILE=file, OUT=out, HOME=folder, TERM="dumb")
            os.execvp(program[0], program)
        size = struct.pack("HHHH", 200, 1000, 0, 0)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
        os.write(terminal, f". {folder}/rc\n".encode())
        recorded(terminal, out)
        for line in sys.stdin.read().splitlines():
            # Killed, not run: what did its completion do?
            end = "\x15record\n" if line.startswith("!") else "\x01record \n"
            os.write(terminal, f"{line.lstrip('!')}{key}{end}".encode())
            yield line, recorded(terminal, out)[line.count(" "):]
        os.close(terminal)
        os.waitpid(pid, 0)


def in_fish(file):
    for line in sys.stdin.read().splitlines():
        out = subprocess.run(
            ["fish", "--no-config", "-c",
             "source $argv[1]; complete -C $argv[2]", file,
             line.lstrip("!")],
            check=True, stdout=subprocess.PIPE, universal_newlines=True)
        yield line, [w.split("\t")[0] for w in out.stdout.splitlines()]


def complete(shell, file):
    for line, found in in_fish(file) if shell == "fish" else \
            at_terminal(shell, file):
        print(f"{line}|{' '.join(sorted(found))}")


COMMANDS = {"complete": complete, "schema": schema, "names": names,
            "csv": read_csv, "clean": clean,
            "near": near, "pty": on_terminal, "interrupted": interrupted,
            "account": account, "crowd": crowd}

COMMANDS[sys.argv[1]](*sys.argv[2:])
