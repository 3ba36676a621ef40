#!/usr/bin/env python3
"""cli.py PLIM CHILD - plim.exe, as a user meets it; prints TAP.

PLIM_WRAPPER runs programs of Windows here (Wine). What Wine fakes is asserted
nowhere: of a figure the shape alone is looked at, unless Wine is known to have
it right (docs/design/cross.md). Whatever is started ends with its starter,
which is one of the things that are shown.
"""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

SOURCE = os.environ["PLIM_SOURCE"]
BUILD = os.environ["PLIM_BUILD_DIR"]
PLIM, CHILD = (os.path.join(BUILD, path) for path in sys.argv[1:3])
WRAPPER = os.environ["PLIM_WRAPPER"]
WORK = tempfile.mkdtemp(prefix="plim-cross-", dir=os.environ.get("TMPDIR"))
LIMIT = 60

try:
    import jsonschema
except ImportError:
    jsonschema = None

number = failures = 0


def outside(path):
    """A path of ours as Windows has it: the drive Z is our root."""
    return "Z:" + path.replace("/", "\\")


def told(what, good, *notes):
    global number, failures
    number += 1
    failures += not good
    print("%s %d - %s" % ("ok" if good else "not ok", number, what))
    if not good:
        for note in notes:
            for line in str(note).splitlines()[:20]:
                print("# " + line)


def skip(what, reason):
    global number
    number += 1
    print("ok %d - %s # skip %s" % (number, what, reason))


class Run:
    """One run of a program of Windows."""

    def __init__(self, program, *words, stdin=b"", env=None, cwd=None,
                 limit=LIMIT):
        environment = dict(os.environ)
        environment["WINEPATH"] = outside(os.path.join(BUILD, "src"))
        environment.pop("NO_COLOR", None)
        environment.update(env or {})
        try:
            done = subprocess.run([WRAPPER, program, *words], input=stdin,
                                  capture_output=True, timeout=limit,
                                  env=environment, cwd=cwd or WORK,
                                  check=False)
            self.status = done.returncode
            self.out = done.stdout.decode("utf-8", "replace")
            self.err = done.stderr.decode("utf-8", "replace")
        except subprocess.TimeoutExpired as ended:
            self.status = "none in %d s" % limit
            self.out = (ended.stdout or b"").decode("utf-8", "replace")
            self.err = (ended.stderr or b"").decode("utf-8", "replace")

    def seen(self):
        return "status %s\n%s\n%s" % (self.status, self.out, self.err)


def plim(*words, **rest):
    return Run(PLIM, *words, **rest)


def child(*words, **rest):
    return Run(CHILD, *words, **rest)


def is_status(what, run, status):
    told("%s: %d" % (what, status), run.status == status, run.seen())


def has(what, run, pattern, where="out"):
    told(what, re.search(pattern, getattr(run, where), re.M), run.seen())


SCHEMA = None


def is_json(what, run, command):
    """One document that the schema knows; it, or {}."""
    global SCHEMA
    try:
        document = json.loads(run.out)
    except ValueError as error:
        told(what + ", JSON", False, error, run.seen())
        return {}
    told(what + ", JSON of " + command, document.get("command") == command,
         run.seen())
    if jsonschema is None:
        skip(what + ", the schema", "python3-jsonschema is not installed")
        return document
    if SCHEMA is None:
        with open(os.path.join(SOURCE, "data/schema/plim.schema.json"),
                  encoding="utf-8") as file:
            SCHEMA = jsonschema.Draft202012Validator(json.load(file))
    error = jsonschema.exceptions.best_match(SCHEMA.iter_errors(document))
    told(what + ", by the schema", error is None, error)
    return document


def pids_of(path):
    """The numbers in a file, once it is there."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            with open(path, encoding="ascii") as file:
                found = file.read().split()
            if found:
                return found
        except OSError:
            pass
        time.sleep(0.05)
    return []


def alive(pids):
    run = child("alive", *pids)
    return int(run.out) if run.status == 0 else run.seen()


def all_end(pids):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if alive(pids) == 0:
            return True
        time.sleep(0.1)
    return False


class Background:
    """A child that waits while it is looked at."""

    def __init__(self, *words, program=CHILD):
        environment = dict(os.environ)
        environment["WINEPATH"] = outside(os.path.join(BUILD, "src"))
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen([WRAPPER, program, *words],
                                        stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL,
                                        env=environment, cwd=WORK)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


# --- before anything is measured ---------------------------------------------

def words():
    run = plim("--version")
    is_status("--version", run, 0)
    has("its line, which ends in a newline alone", run, r"\Aplim [0-9.]+\n\Z")
    run = plim()
    is_status("nothing asked for", run, 2)
    has("the overview", run, r"^usage: plim COMMAND", "err")
    run = plim("pss")
    is_status("an unknown command", run, 2)
    has("with the nearest", run, "did you mean 'ps'", "err")
    run = plim("ps", "--help")
    is_status("help", run, 0)
    run = plim("help")
    is_status("no manual page: the short help", run, 0)
    run = plim("ps", "--colour")
    is_status("an unknown option", run, 2)


def time_command():
    for status in (0, 3, 255):
        run = plim("time", "--", CHILD, "exit", str(status))
        is_status("time hands the status on", run, status)
    run = plim("time", "--json", "--", CHILD, "exit", "0xc0000005")
    document = is_json("time, a status of 32 bits", run, "time")
    told("it is told whole", document.get("exit_status") == 0xc0000005,
         run.seen())
    told("and is no signal", document.get("signal", 0) is None, run.seen())
    run = plim("time", "--csv", "--", CHILD, "exit", "7")
    has("as CSV", run, r"^[0-9]+,7,")
    run = plim("time", "--", os.path.join(WORK, "not there"))
    is_status("no such command", run, 127)
    has("which it says", run, "not there: no such command", "err")
    text = os.path.join(WORK, "text.exe")
    with open(text, "w", encoding="ascii") as file:
        file.write("this is no program\n")
    run = plim("time", "--", text)
    is_status("what cannot be executed", run, 126)
    batch = os.path.join(WORK, "batch.bat")
    with open(batch, "w", encoding="ascii") as file:
        file.write("exit 0\n")
    is_status("a batch file is not started",
              plim("time", "--", batch, "a&b"), 127)
    odd = ["", "a b", 'say "x"', "back\\slash\\", 'a\\"b\\\\', "\\\\",
           "tab\tnew", "%PATH%", "caret^&|<>", "*", "\u00e4\u00f6 \u65e5\u672c",
           "\U0001f600", "'"]
    run = plim("time", "--", CHILD, "args", *odd)
    told("arguments arrive as they were given",
         run.out == "".join(word + "\n" for word in odd), run.seen())
    run = plim("time", "--", CHILD, "handles")
    told("a command inherits its three streams and nothing else",
         run.out == "0\n", run.seen())


# --- names and paths ---------------------------------------------------------

def names():
    run = plim("show", "\u65e5\u672c\u00e4.exe")
    is_status("a name in UTF-8 that nobody has", run, 1)
    has("is told as it was given", run, "\u65e5\u672c\u00e4\\.exe", "err")
    name = os.path.join(WORK, "\u65e5\u672c\u00e4 x.toml")
    with open(name, "w", encoding="utf-8") as file:
        file.write("schema = 2\n")
    run = plim("gate", name)
    is_status("a budget whose name is UTF-8", run, 2)
    has("is read, and named", run,
        "\u65e5\u672c\u00e4 x\\.toml:1:", "err")
    folder = WORK
    for _ in range(6):
        folder = os.path.join(folder, "d" * 60)
    os.makedirs(folder)
    long = os.path.join(folder, "b" * 60 + ".toml")
    shutil.copyfile(name, long)
    told("a path of more than 260 characters", len(long) > 320, len(long))
    run = plim("gate", outside(long))
    is_status("is read", run, 2)
    has("and named", run, "toml:1:", "err")
    run = plim("gate", long)
    has("with slashes, too", run, "toml:1:", "err")
    record = os.path.join(folder, "made.txt")
    budget = os.path.join(WORK, "time.toml")
    write_budget(budget, ["exit", "0"], {"wall": 'max = "60s"'},
                 quiet=False)
    run = plim("gate", "--record", outside(record), budget)
    told("and written", os.path.exists(record), run.seen())
    copy = os.path.join(folder, "\u00e4 child.exe")
    shutil.copyfile(CHILD, copy)
    write_budget(budget, ["exit", "0"], {"wall": 'max = "60s"'}, quiet=False,
                 program=copy)
    run = plim("gate", budget)
    told("a program with a long path is found", run.status != 2, run.seen())
    run = plim("time", "--", outside(copy), "args", "x")
    if run.status == 127:
        skip("and started", "Wine starts no program with so long a path")
    else:
        told("and started", run.out == "x\n", run.seen())
    run = plim("time", "--", "child", "exit", "9",
               env={"WINEPATH": outside(os.path.join(BUILD, "src")) + ";" +
                    outside(os.path.dirname(CHILD))})
    is_status("a program is found by PATH, without its end", run, 9)
    shutil.copyfile(CHILD, os.path.join(WORK, "here.exe"))
    run = plim("time", "--", "here", "exit", "9")
    is_status("and not in the current folder", run, 127)
    for end in ("", ".", " "):
        batch = os.path.join(WORK, "x.bat" + end)
        shutil.copyfile(CHILD, batch)
        run = plim("time", "--", outside(batch), "exit", "9")
        told("a batch file is not started, whatever is behind its name: " +
             repr(end), run.status in (126, 127), run.seen())


def write_budget(path, words, limits, quiet=True, ready=None, repeats=1,
                 window="500ms", program=CHILD):
    command = ", ".join(json.dumps(word)
                        for word in [outside(program)] + words)
    lines = ["schema = 1", "[target.it]", 'scope = "synthetic"',
             'load = { statement = "none", unit = "things", count = 1 }',
             "run = [%s]" % command, "repeats = %d" % repeats]
    if quiet:
        lines += ['quiet = { cpu = "50 %", for = "200ms", limit = "5s" }',
                  'window = "%s"' % window]
    if ready:
        lines.append(ready)
    for figure, limit in limits.items():
        lines += ["[target.it.limit.%s]" % figure, limit]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


# --- processes ---------------------------------------------------------------

def reads_processes():
    return plim("ps", "--json").status == 0


def looks():
    run = plim("ps")
    is_status("ps", run, 0)
    has("ps has itself in it", run, r"plim\.exe")
    run = plim("ps", "--json")
    document = is_json("ps", run, "ps")
    processes = document.get("processes", [])
    told("ps has more than one process", len(processes) > 1, run.seen())
    own = [one for one in processes if one.get("name") == "plim.exe"]
    told("with what is known of it",
         own and own[0]["resident_bytes"] and
         re.fullmatch(r"[0-9]+@t[0-9]+", own[0]["identity"]), own)
    told("what Windows does not have is null, with the reason",
         own and own[0]["uid"] is None and
         own[0].get("unavailable", {}).get("uid"), own)
    run = plim("ps", "--csv")
    is_status("ps as CSV", run, 0)
    run = plim("ps", "--watch", "--rounds", "2", "--every", "200ms", "--json")
    is_status("ps --watch", run, 0)
    told("has two rounds, one a line", len(run.out.splitlines()) == 2 and all(
        json.loads(line)["command"] == "ps" for line in run.out.splitlines()),
        run.seen())
    with Background("tree", outside(os.path.join(WORK, "t1")), "30000"):
        pids = pids_of(os.path.join(WORK, "t1"))
        inner = pids_of(os.path.join(WORK, "t1.inner"))
        one_process(pids, inner)


def one_process(pids, inner):
    run = plim("show", pids[0])
    is_status("show by pid", run, 0)
    has("its name", run, r"^name +child\.exe")
    run = plim("show", "--json", pids[0])
    document = is_json("show", run, "show")
    identity = (document.get("process") or document).get("identity")
    run = plim("show", "--json", str(identity))
    is_status("show by identity " + str(identity), run, 0)
    run = plim("show", "%s@t1" % pids[0])
    is_status("another identity is nobody", run, 1)
    run = plim("show", "child.exe")
    is_status("an ambiguous name", run, 1)
    has("with those who have it", run, re.escape(pids[0] + "@t"), "err")
    is_status("a pid that nobody has", plim("show", "999999996"), 1)
    run = plim("tree", "--json", pids[0])
    is_json("tree", run, "tree")
    told("tree has who was started", all(
        re.search(r'"pid":\s*%s\b' % pid, run.out) for pid in pids[:2]),
        run.seen())
    told("and not the child of one that has ended",
         inner and not re.search(r'"pid":\s*%s\b' % inner[0], run.out) or
         '"orphans"' in run.out, run.seen())
    is_status("tree", plim("tree", pids[0]), 0)
    run = plim("threads", "--for", "300ms", pids[0])
    is_status("threads", run, 0)
    run = plim("threads", "--json", "--for", "300ms", pids[0])
    is_json("threads", run, "threads")
    run = plim("cmdline", pids[0])
    is_status("cmdline", run, 0)
    has("has the words", run, "tree .*30000")
    has("and folders as Windows parts them", run, r"\\child\.exe.* tree ")
    run = plim("cmdline", "--json", pids[0])
    document = is_json("cmdline", run, "cmdline")
    told("word by word", "30000" in json.dumps(document), run.seen())
    run = plim("report", "--for", "300ms", "--json", pids[0])
    is_json("report", run, "report")
    page = os.path.join(WORK, "\u00e4.html")
    run = plim("report", "--for", "300ms", "-o", outside(page), pids[0])
    is_status("report", run, 0)
    told("and its page, whole, with no other file beside it",
         os.path.exists(page) and "</html>" in open(
             page, encoding="utf-8").read() and
         not [name for name in os.listdir(WORK) if name.endswith(".new")],
         os.listdir(WORK))


def doctor():
    run = plim("doctor")
    is_status("doctor", run, 0)
    has("names what is there", run, "^processes +known")
    run = plim("doctor", "--json")
    is_json("doctor", run, "doctor")


def idle():
    run = plim("idle", "--for", "300ms", "--json", "--", CHILD, "wait",
               "60000")
    is_status("idle of a command", run, 0)
    is_json("idle", run, "idle")
    run = plim("idle", "--for", "300ms", "--", CHILD, "wait", "60000")
    has("as RESULT lines", run, "^RESULT resident_memory_bytes=[1-9]")
    run = plim("idle", "--quiet-cpu", "none", "--for", "30m", "--", CHILD,
               "wait", "2000")
    has("the end of a command ends its window of half an hour", run,
        "it ended in the window", "err")
    run = plim("report", "--for", "30m", "--every", "10m", "--", CHILD,
               "wait", "3000")
    has("and that of report", run, "ended +with status 0")


# --- what is on Linux alone ---------------------------------------------------

def linux_alone():
    mark = os.path.join(WORK, "started")
    run = plim("profile", "--", CHILD, "open", outside(mark), "0")
    is_status("profile of a command", run, 125)
    has("says why", run, "cannot do this", "err")
    told("and nothing was started", not os.path.exists(mark), run.seen())
    run = plim("profile", "services.exe")
    is_status("profile", run, 1)
    run = plim("mem", "services.exe")
    is_status("mem", run, 1)
    has("says why", run, "cannot do this", "err")
    run = plim("mem", "--json", "services.exe")
    told("as JSON, too", run.status == 1 and
         json.loads(run.out)["error"]["code"] == "unsupported", run.seen())


# --- the gate ----------------------------------------------------------------

def gate():
    budget = os.path.join(WORK, "gate.toml")
    write_budget(budget, ["wait", "60000"], {"resident_end": 'max = "1 GiB"'})
    run = plim("gate", budget)
    is_status("gate: pass", run, 0)
    has("with its verdict", run, "^verdict +pass")
    run = plim("gate", "--json", budget)
    document = is_json("gate", run, "gate")
    told("the verdict in it", document.get("verdict") == "pass", run.seen())
    record = os.path.join(WORK, "record.txt")
    run = plim("gate", "--result", "--record", outside(record), budget)
    is_status("gate with RESULT lines", run, 0)
    has("of this system", run, "^RESULT gate_host system=windows ")
    with open(record, encoding="utf-8") as file:
        told("the record is the same", file.read() == run.out, run.seen())
    write_budget(budget, ["wait", "60000"], {"resident_end": 'max = "1 B"'})
    is_status("gate: exceeded", plim("gate", budget), 1)
    write_budget(budget, ["wait", "60000"], {"children_started": "max = 1"})
    run = plim("gate", "--result", budget)
    is_status("a figure that cannot be had here", run, 3)
    write_budget(budget, ["exit", "3"], {"resident_end": 'max = "1 GiB"'})
    run = plim("gate", budget)
    told("a command that ends at once: 3, or 4 if it was seen alive",
         run.status in (3, 4) and "ended with status 3" in run.out, run.seen())
    write_budget(budget, ["wait", "1500"], {"resident_end": 'max = "1 GiB"'},
                 window="3s")
    run = plim("gate", budget)
    is_status("one that ends in the window", run, 4)
    has("is told so", run, "ended with status 0 in the window")
    write_budget(budget, ["say", "ready now", "60000"],
                 {"resident_end": 'max = "1 GiB"'},
                 ready='ready = { output = "ready now" }')
    run = plim("gate", budget)
    is_status("ready by its output", run, 0)
    has("which is passed on", run, "^ready now", "err")
    sign = os.path.join(WORK, "sign")
    write_budget(budget, ["open", outside(sign), "60000"],
                 {"resident_end": 'max = "1 GiB"'},
                 ready="ready = { file = %s }" % json.dumps(outside(sign)))
    is_status("ready by a file", plim("gate", budget), 0)
    write_budget(budget, ["wait", "60000"], {"resident_end": 'max = "1 GiB"'})
    with open(budget, encoding="utf-8") as file:
        text = file.read().replace(json.dumps(outside(CHILD)),
                                   '"no such program"')
    with open(budget, "w", encoding="utf-8") as file:
        file.write(text)
    is_status("no such command: found before anything starts",
              plim("gate", budget), 2)
    whole_cpu(budget)


def whole_cpu(budget):
    """Wine's account of a job has no times: what children used is not known
    then, and must not be passed over."""
    limit = {"cpu_total": 'max = "30s"'}
    write_budget(budget, ["spin", "700"], limit, quiet=False)
    run = plim("gate", "--json", budget)
    is_status("CPU of a command without children", run, 0)
    told("is exact", "at_least" not in run.out, run.seen())
    write_budget(budget, ["pass", "700"], limit, quiet=False)
    run = plim("gate", "--json", budget)
    is_status("CPU of a command whose child computes", run, 0)
    told("is a lower bound", "at_least" in run.out, run.seen())


def baselines():
    budget = os.path.join(WORK, "versus.toml")
    record = os.path.join(WORK, "record.txt")
    limit = 'versus = "record.txt"\nrise = "100 %"\nalso_above = "64 MiB"'
    write_budget(budget, ["wait", "60000"], {"resident_end": limit})
    is_status("a baseline of this system", plim("gate", budget), 0)
    with open(record, encoding="utf-8") as file:
        text = file.read()
    for key, other, says in (
            ("system=windows", "system=linux", "another system (linux, this "
             "is windows)"),
            ("method=process_table", "method=stat", "measured by stat")):
        told("it has " + key, key in text, text)
        with open(record, "w", encoding="utf-8") as file:
            file.write(text.replace(key, other))
        run = plim("gate", "--result", budget)
        is_status("a baseline with " + other, run, 3)
        told("is refused by name", says in run.out, run.seen())


# --- what was started ends -----------------------------------------------------

def trees():
    path = os.path.join(WORK, "t2")
    budget = os.path.join(WORK, "tree.toml")
    write_budget(budget, ["tree", outside(path), "60000"],
                 {"threads": "max = 100"},
                 ready="ready = { file = %s }" %
                 json.dumps(outside(path + ".inner")))
    run = plim("gate", budget)
    is_status("gate of a tree", run, 0)
    pids = pids_of(path) + pids_of(path + ".inner")
    told("had four processes", len(pids) == 4, pids)
    told("all of which have ended, the detached orphan, too",
         alive(pids) == 0, alive(pids))
    path = os.path.join(WORK, "t3")
    with Background("idle", "--for", "30s", "--", outside(CHILD), "tree",
                    outside(path), "60000", program=PLIM) as runner:
        pids = pids_of(path) + pids_of(path + ".inner")
        told("idle of a tree has four", len(pids) == 4 and alive(pids) > 0,
             pids)
        runner.process.kill()
        runner.process.wait()
        told("plim killed: all of them end", all_end(pids), alive(pids))
    path = os.path.join(WORK, "t4")
    # Without a pipe: under Wine who is left would hold it.
    with Background("time", "--", outside(CHILD), "leave", outside(path),
                    "20000", program=PLIM) as runner:
        told("time of a command that leaves one running",
             runner.process.wait(LIMIT) == 0)
    found = alive(pids_of(path))
    told("leaves it running, as on Linux", found == 1, found, pids_of(path))


class Terminal:
    """A run on a console, which Wine makes of a terminal of ours."""

    def __init__(self, *words, keys=b"", when="", columns=100):
        self.text = ""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.environ["WINEPATH"] = outside(os.path.join(BUILD, "src"))
            os.environ["TERM"] = "xterm"
            os.execv(WRAPPER, [WRAPPER, PLIM, *words])
        fcntl.ioctl(self.end, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, columns, 0, 0))
        self.read(keys, when)
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.end)

    def read(self, keys, when):
        got = b""
        limit = time.monotonic() + LIMIT
        while time.monotonic() < limit:
            if select.select([self.end], [], [], 0.2)[0]:
                try:
                    piece = os.read(self.end, 65536)
                except OSError:
                    break
                if not piece:
                    break
                got += piece
                # Wine hides the cursor whenever it writes.
                self.text = re.sub("\x1b\\[\\?25[lh]", "",
                                   got.decode("utf-8", "replace"))
            if keys and when in self.text:
                time.sleep(0.5)
                os.write(self.end, keys)
                keys = b""
        else:
            os.kill(self.pid, signal.SIGKILL)

    def seen(self):
        return "status %s\n%r" % (self.status, self.text)


def console():
    run = Terminal("ps")
    if "\x1b" not in run.text:
        skip("a console", "Wine makes no console of a terminal here")
        return
    told("ps on a console: 0", run.status == 0, run.seen())
    told("with colours, in UTF-8",
         "[1m" in run.text and "\u2265" in run.text, run.seen())
    run = Terminal("show", "\u00e4\u65e5.exe")
    told("messages in UTF-8, too", "\u00e4\u65e5.exe: there is no such" in
         run.text, run.seen())
    run = Terminal("idle", "--for", "60s", "services.exe", keys=b"\x03",
                   when="waiting")
    told("Ctrl-C ends the measurement: 130", run.status == 130, run.seen())
    told("and not the report of it", "RESULT window" in run.text and
         "interrupted=yes" in run.text, run.seen())
    path = os.path.join(WORK, "t5")
    run = Terminal("idle", "--for", "60s", "--", outside(CHILD), "tree",
                   outside(path), "60000", keys=b"\x03", when="waiting")
    told("Ctrl-C on a tree that we started: 130", run.status == 130,
         run.seen())
    told("and all of it ends", all_end(pids_of(path) +
                                       pids_of(path + ".inner")), run.seen())
    run = Terminal("time", "--", outside(CHILD), "say", "begun", "60000",
                   keys=b"\x03", when="begun")
    told("the command of plim time gets Ctrl-C itself, and its account is "
         "told", "wall_ns" in run.text, run.seen())


def main():
    words()
    if not reads_processes():
        run = plim("ps", "--json")
        is_status("a host that reads no processes", run, 1)
        is_json("ps", run, "ps")
        return
    for part in (time_command, names, looks, doctor, idle, linux_alone, gate,
                 baselines, trees, console):
        try:
            part()
        except Exception as error:  # pylint: disable=broad-except
            told(part.__name__ + " came to its end", False, repr(error))


try:
    main()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
print("1..%d" % number)
sys.exit(1 if failures else 0)
