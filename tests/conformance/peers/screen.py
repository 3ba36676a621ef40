"""screen.py - htop and btop, each on a terminal of its own.

The terminal is a pty whose output a terminal emulator (pyte) turns into the
screen that a user would see. Only frames that were painted after the change
count, and the first paint after it is left out: it may have been under way.
Both tools are told what to show by a configuration in a home of their own.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from answer import REFUSED, Answer, absent, said, unasked
from peers.base import SECONDS, Peer

try:
    import pyte
except ImportError:
    pyte = None

COLUMNS, ROWS = 240, 50
REFRESH = 2  # seconds from one round to the next


class Screen:
    """A program on a terminal; `rows` is what can be read there."""

    def __init__(self, argv, environment):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ,
                        struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            try:
                os.chdir("/")
                os.execvpe(argv[0], argv, environment)
            finally:
                os._exit(127)
        self.ended = False
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)

    def paint(self, seconds):
        """Takes what is painted; True if something was, and has settled."""
        if self.ended:
            time.sleep(seconds)
            return False
        ready = select.select([self.terminal], [], [], seconds)[0]
        painted = False
        while ready:
            try:
                data = os.read(self.terminal, 65536)
            except OSError:  # the other end is closed
                data = b""
            if not data:
                self.ended = True
                return painted
            self.stream.feed(data)
            painted = True
            ready = select.select([self.terminal], [], [], 0.05)[0]
        return painted

    def rows(self):
        return [row.rstrip() for row in self.screen.display]

    def press(self, keys):
        os.write(self.terminal, keys)

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def nothing(fields, had, rows):
    """Not on the screen. If all that is there is a line or two, a tool has
    ended with a message, and that is what it said."""
    written = [row for row in rows if row.strip()]
    text = " ".join(written) if len(written) < 3 else "not on the screen"
    return {field: absent(text) if field in had else unasked()
            for field in fields}


class ScreenPeer(Peer):
    def there(self):
        if not super().there():
            return False
        if pyte is None:
            self.why_not = "python3-pyte is needed to read its screen"
        return pyte is not None

    def version(self):
        ended = subprocess.run([self.program, "--version"],
                               capture_output=True, check=False)
        return re.findall(r"[\d.]+\d", ended.stdout.decode())[0]

    def look(self, pid, fields, seconds=SECONDS):
        if not set(fields) & set(self.had):
            return {field: unasked() for field in fields}
        watch = self.watch(pid, fields)
        try:
            watch.first(seconds)
            return watch.now()
        finally:
            watch.close()

    def lists(self):
        """Every pid that is on the screen after a while."""
        screen = self.open(None)
        try:
            end = time.monotonic() + 2
            while time.monotonic() < end:
                screen.paint(0.2)
            pids = self.pids(screen.rows())
            return said(pids, str(pids)) if pids else absent(
                " ".join(screen.rows()).strip())
        finally:
            screen.close()

    def watch(self, pid, fields):
        return ScreenWatch(self, pid, fields)

    def open(self, pid):
        self.configure()
        return Screen(self.command(self.argv(pid)), self.environment())


class ScreenWatch:
    def __init__(self, peer, pid, fields):
        self.peer, self.pid, self.fields = peer, pid, fields
        self.refresh = REFRESH * peer.pace
        self.screen = peer.open(pid)

    def now(self):
        return self.peer.frame(self.screen.rows(), self.pid, self.fields)

    def first(self, seconds=SECONDS):
        """Until the process is on the screen, and all of it is painted."""
        end = time.monotonic() + min(seconds, 6)
        while time.monotonic() < end and not self.screen.ended:
            self.screen.paint(0.2)
            if self.pid in self.peer.pids(self.screen.rows()):
                break
        self.screen.paint(0.2)

    def is_late(self):
        """It was painted meanwhile, and may have looked before."""
        return self.screen.paint(0)

    def frames(self):
        """What is painted in the next round, if not that of before."""
        begin = time.monotonic()
        found = []
        while time.monotonic() < begin + self.refresh + 0.4:
            painted = self.screen.paint(0.1)
            if painted and time.monotonic() > begin + 0.15:
                found.append(self.now())
        return found or [self.now()]

    def close(self):
        self.screen.close()


def align(watches):
    """Returns when every screen has just been painted: there is time until
    the next round, for others to begin and for something to happen. Screens
    that were opened together stay about in step."""
    painted = [0.0 for _ in watches]
    for watch in watches:
        watch.screen.paint(0)
    refresh = max(watch.refresh for watch in watches)
    end = time.monotonic() + 3 * refresh
    while time.monotonic() < end:
        for number, watch in enumerate(watches):
            if watch.screen.paint(0.02) or watch.screen.ended:
                painted[number] = time.monotonic()
        if time.monotonic() - min(painted) < refresh / 4:
            return


HTOPRC = """htop_version=3.2.2
config_reader_min_version=3
hide_kernel_threads={hide}
hide_userland_threads=1
hide_function_bar=2
header_layout=one_100
column_meters_0=Tasks
column_meter_modes_0=2
tree_view=0
delay={delay}
screen:Main=PID PPID STATE NLWP PERCENT_CPU M_RESIDENT CTXT M_PSS RBYTES \
CGROUP COMM EXE Command
.sort_key=PID
.sort_direction=1
"""


class Htop(ScreenPeer):
    name = "htop"
    program = "htop"
    needs = "htop python3-pyte"
    had = ("ppid", "state", "threads", "cpu", "rss", "switches", "pss",
           "read_bytes", "cgroup", "name", "cmdline", "exe")
    hide_kernel_threads = 0

    def configure(self):
        with open(self.place.home + "/htoprc", "w", encoding="ascii") as file:
            file.write(HTOPRC.format(hide=self.hide_kernel_threads,
                                     delay=10 * REFRESH * self.pace))

    def environment(self):
        return {**super().environment(),
                "HTOPRC": self.place.home + "/htoprc"}

    def argv(self, pid):
        # Read-only: the configuration is not written back. The command line
        # is shown with the whole path; -p keeps the list to one process.
        argv = ["htop", "--readonly", "-C"]
        return argv + (["-p", str(pid)] if pid else [])

    def pids(self, rows):
        return [int(pid) for pid in re.findall(
            r"(?m)^ *(\d+) +\d+ \S +\d+ ", "\n".join(rows))]

    def frame(self, rows, pid, fields):
        found = nothing(fields, self.had, rows)
        row = head = None
        for text in rows:
            if " COMM " in text and " EXE " in text:
                head = text
            row = row or re.match(rf" *{pid} +(\d+) (\S) +(\d+) +(\S+) +"
                                  r"(\S+) +(\S+) +(\S+) +(\S+) ", text)
        if row is None or head is None:
            return found
        # Texts stand below their headings, from left to right.
        starts = [head.index(word) for word in ("COMM", "EXE", "Command")]
        texts = [row.string[a:b].rstrip() for a, b in
                 zip(starts, starts[1:] + [None])]
        # An odd name moves what stands behind it: then all of it is shown.
        name = texts[0]
        if name[:1] in ("", " "):
            name = row.string[row.end():].strip()
        values = {"ppid": said(int(row[1])), "state": said(row[2]),
                  "threads": said(int(row[3])),
                  "cpu": self.number(row[4]),
                  "rss": self.size(row[5]), "switches": self.number(row[6]),
                  "pss": self.size(row[7]), "read_bytes": self.size(row[8]),
                  "cgroup": said(row.string[row.end():starts[0]].strip()),
                  "name": said(texts[0].encode(), name), "exe": said(texts[1]),
                  "cmdline": said(texts[2].encode())}
        return {field: values.get(field, found[field]) for field in fields}

    def number(self, text):
        if text == "N/A":
            return Answer(REFUSED, None, text)
        return said(float(text.rstrip("%")), text)

    def size(self, text):
        if text == "N/A":
            return Answer(REFUSED, None, text)
        scale = {"M": 1 << 20, "G": 1 << 30}.get(text[-1], 1024)
        return said(int(float(text.rstrip("KMG")) * scale), text)


BTOP = """#? Config file for btop v. {version}
shown_boxes="proc"
update_ms={update}
proc_sorting="pid"
proc_tree=False
proc_colors=False
proc_gradient=False
proc_per_core=True
proc_mem_bytes=True
proc_cpu_graphs=False
"""


class Btop(ScreenPeer):
    name = "btop"
    program = "btop"
    needs = "btop python3-pyte"
    had = ("name", "cmdline", "threads", "rss", "cpu")

    def configure(self):
        folder = self.place.home + "/btop"
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/btop.conf", "w", encoding="ascii") as file:
            file.write(BTOP.format(version=self.version(),
                                   update=1000 * REFRESH *
                                   self.pace))

    def argv(self, pid):
        return ["btop", "--utf-force"]

    ROW = (r"\W+\b(%s) (.{16}) (.*?) +(\d+) (\S+) +(\S+) +(\d\S*) +[^ ]$")

    def pids(self, rows):
        found = [re.match(self.ROW % r"\d+", row) for row in rows]
        return [int(row[1]) for row in found if row]

    def frame(self, rows, pid, fields):
        found = nothing(fields, self.had, rows)
        row = None
        for text in rows:
            row = row or re.match(self.ROW % pid, text)
        if row is None:
            return found
        values = {"name": said(row[2].rstrip().encode()),
                  "cmdline": said(row[3].encode()),
                  "threads": said(int(row[4])),
                  "rss": self.size(row[6]), "cpu": said(float(row[7]))}
        return {field: values.get(field, found[field]) for field in fields}

    def size(self, text):
        scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1], 1)
        if text[-1] == "B":
            text = text[:-1]
        try:
            return said(int(float(text.rstrip("KMG")) * scale), text)
        except ValueError:
            return absent(text)
