"""asker.py - the libraries: psutil, libproc2 and gopsutil.

For each a small program in askers/ answers `FIELD PID` lines on its standard
input with one line: `said HEX`, `refused HEX`, `absent HEX` or `unasked`. It
keeps what its library would have a program keep between two looks: a process
object, a history. libproc2's is compiled here, and so is gopsutil's.
"""
import glob
import os
import select
import subprocess
import time

from answer import ABSENT, REFUSED, Answer, absent, late, said, unasked
from peers.base import SECONDS, Peer
from world import end_group

NUMBERS = ("ppid", "threads", "rss", "pss", "read_bytes", "write_bytes",
           "cancelled_bytes", "peak_rss", "cpu", "switches", "running")
HERE = os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "askers")


class Asking:
    """One running asker."""

    def __init__(self, peer):
        self.process = peer.start(peer.argv(), stdin=subprocess.PIPE,
                                  bufsize=0)

    def ask(self, field, pid, seconds=SECONDS):
        out = self.process.stdout.fileno()
        line = b""
        end = time.monotonic() + seconds
        try:
            self.process.stdin.write(f"{field} {pid}\n".encode())
            while not line.endswith(b"\n"):
                left = end - time.monotonic()
                if left <= 0 or not select.select([out], [], [], left)[0]:
                    return late(f"nothing within {seconds:g} s")
                data = os.read(out, 65536)
                if not data:
                    break
                line += data
        except BrokenPipeError:
            pass
        if not line.endswith(b"\n"):
            err = self.process.stderr.read() or b""
            return absent(b"it crashed: " + err.strip()[-300:])
        word, _, text = line.strip().partition(b" ")
        return understood(field, word.decode(), bytes.fromhex(text.decode()))

    def close(self):
        end_group(self.process)


def understood(field, word, text):
    if word == "unasked":
        return unasked()
    if word in (REFUSED, ABSENT):
        return Answer(word, None, text)
    if field == "list":
        return said([int(pid) for pid in text.split()], text[-60:])
    if field in ("cgroup", "unit") and text == b"-":
        return Answer(REFUSED, None, text)  # as ps prints it
    if field in NUMBERS:
        return said(float(text), text)
    if field in ("name", "cmdline"):
        return said(text)
    return said(text.decode("utf-8", "backslashreplace"), text)


class AskerPeer(Peer):
    def look(self, pid, fields, seconds=SECONDS):
        asking = Asking(self)
        try:
            return {field: asking.ask(field, pid, seconds)
                    for field in fields}
        finally:
            asking.close()

    def lists(self):
        asking = Asking(self)
        try:
            return asking.ask("list", 0)
        finally:
            asking.close()

    def watch(self, pid, fields):
        return AskerWatch(self, pid, fields)

    def built(self):
        return os.path.join(self.place.build, "conformance", self.name)


class AskerWatch:
    def __init__(self, peer, pid, fields):
        self.pid, self.fields = pid, fields
        self.asking = Asking(peer)
        self.begun = {field: self.ask(field) for field in fields}

    def ask(self, field):
        return self.asking.ask(field, self.pid), time.monotonic()

    def first(self):
        pass

    def is_late(self):
        return False

    def frames(self):
        time.sleep(1)
        found = {}
        for field in self.fields:
            answer, now = self.ask(field)
            if field == "switches" and answer.kind == "said":
                count, then = self.begun[field]
                answer = said((answer.value - count.value) / (now - then),
                              f"{count.value:.0f}, then {answer.value:.0f}")
            found[field] = answer
        return [found]

    def close(self):
        self.asking.close()


def compiled(peer, source, argv, environment=None):
    """Builds the asker of a peer, once; False if that fails."""
    target = peer.built()
    source = os.path.join(HERE, source)
    if os.path.exists(target) and \
            os.path.getmtime(target) > os.path.getmtime(source):
        return True
    os.makedirs(os.path.dirname(target), exist_ok=True)
    part = f"{target}.{os.getpid()}"
    environment = {**os.environ, **(environment or {})}
    words = {"@OUT@": part, "@SOURCE@": source}
    ended = subprocess.run([words.get(word, word) for word in argv],
                           env=environment, stdin=subprocess.DEVNULL,
                           capture_output=True, check=False)
    if ended.returncode != 0:
        peer.why_not = (ended.stderr.decode("utf-8", "replace").strip()
                        or "it does not build")[-200:]
        return False
    os.replace(part, target)
    return True


class Psutil(AskerPeer):
    name = "psutil"
    needs = "python3-psutil"

    def argv(self):
        return ["/usr/bin/python3", os.path.join(HERE, "ask_psutil.py")]

    def there(self):
        if not os.path.exists("/usr/bin/python3"):
            return False
        ended = self.run(["/usr/bin/python3", "-c", "import psutil"])
        return ended.status == 0

    def version(self):
        return self.run(["/usr/bin/python3", "-c", "import psutil;"
                         "print(psutil.__version__)"]).out.decode().strip()


class Libproc2(AskerPeer):
    name = "libproc2"
    needs = "libproc2-dev"

    def argv(self):
        return [self.built()]

    def there(self):
        if not os.path.exists("/usr/include/libproc2/pids.h"):
            return False
        return compiled(self, "ask_libproc2.c", [
            "cc", "-std=c11", "-O1", "-D_GNU_SOURCE", "-o", "@OUT@",
            "@SOURCE@", "-lproc2"])

    def version(self):
        return self.run(["pkg-config", "--modversion", "libproc2"]
                        ).out.decode().strip()


class Gopsutil(AskerPeer):
    name = "gopsutil"
    needs = "golang-go golang-github-shirou-gopsutil-dev"
    sources = "/usr/share/gocode"

    def argv(self):
        return [self.built()]

    def there(self):
        folder = self.sources + "/src/github.com/shirou/gopsutil"
        if not glob.glob(folder + "/process/*.go") or \
                not os.path.exists("/usr/bin/go"):
            return False
        os.makedirs(os.path.dirname(self.built()), exist_ok=True)
        return compiled(
            self, "ask_gopsutil.go",
            ["/usr/bin/go", "build", "-o", "@OUT@", "@SOURCE@"],
            {"GO111MODULE": "off", "GOPATH": self.sources, "GOFLAGS": "",
             "CGO_ENABLED": "0",
             "GOCACHE": os.path.dirname(self.built()) + "/go"})

    def version(self):
        return self.run(["dpkg-query", "-W", "-f", "${Version}",
                         "golang-github-shirou-gopsutil-dev"]).out.decode()
