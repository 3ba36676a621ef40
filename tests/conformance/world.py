"""world.py - the place in which a scenario happens: a pid namespace of its
own, workloads with known truth, and pids and files that are ours to choose.

The driver (run) starts each scenario as init of a new pid and mount namespace
with its own /proc, so that any pid can be used again at once, any file of
/proc can be covered by another, and everything ends with the scenario,
whatever becomes of it. Nothing outside is touched: no clock, no setting, no
process.
"""
import ctypes
import os
import select
import signal
import subprocess
import tempfile
import time

LIBC = ctypes.CDLL(None, use_errno=True)
MS_BIND = 4096
NOBODY = 65534


class Trouble(Exception):
    """The scenario could not be set up; no tool is to blame."""


class TooLate(Exception):
    """The machine was too loaded for what had to happen in time; again."""


class Impossible(Exception):
    """It cannot happen on this machine; a skip with a reason."""


class Workload:
    """A program of tests/workloads; workload.h has the protocol."""

    def __init__(self, path, arguments, environment, **how):
        name = os.path.basename(path)
        self.process = subprocess.Popen(
            [name] + [str(a) for a in arguments], executable=path,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
            bufsize=0, **how)
        self.pid = self.process.pid
        self.lines(lambda line: line.endswith(b" ready"))

    def lines(self, last, seconds=30):
        """Lines up to the one that `last` knows."""
        end = time.monotonic() + seconds
        got = b""
        while True:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.process.stdout], [], [],
                                             left)[0]:
                raise Trouble(f"no answer of workload {self.pid}")
            byte = os.read(self.process.stdout.fileno(), 65536)
            if not byte:
                raise Trouble(f"workload {self.pid} has ended")
            got += byte
            done = got.split(b"\n")[:-1]
            if done and last(done[-1]):
                return done

    def tell(self, command):
        self.process.stdin.write(command.encode() + b"\n")

    def ask(self, command):
        self.tell(command)
        truth = {}
        for line in self.lines(lambda line: line == b"end"):
            key, _, value = line.decode("ascii", "replace").partition("=")
            truth[key] = int(value) if value.isdigit() else value
        return truth

    def stop(self):
        if self.process.returncode is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class World:
    def __init__(self, build, uid=None):
        self.build = build
        self.workloads = []
        self.folder = tempfile.mkdtemp(prefix="plim-conformance-")
        os.chmod(self.folder, 0o755)
        self.is_root = uid == 0

    def path(self, name):
        return os.path.join(self.build, "tests", "workloads", name)

    def start(self, name, *arguments, **how):
        workload = Workload(self.path(name), arguments,
                            {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, **how)
        self.workloads.append(workload)
        return workload

    def end(self):
        """Ends every workload; another attempt begins anew."""
        for workload in self.workloads:
            workload.stop()
        self.workloads = []

    def start_as(self, pid, name, *arguments):
        """A workload that gets this pid, whose last owner has been reaped."""
        for _ in range(20):
            write("/proc/sys/kernel/ns_last_pid", str(pid - 1))
            workload = self.start(name, *arguments)
            if workload.pid == pid:
                return workload
            workload.stop()
        raise Impossible("choosing the next pid is refused here")

    def cover(self, path, data=None):
        """Lays a file of ours over one of /proc, or an empty folder over a
        folder; returns the path of what lies there, to be written anew."""
        cover = os.path.join(self.folder, f"cover-{time.monotonic_ns()}")
        if data is None:
            os.mkdir(cover)
        else:
            with open(cover, "wb") as file:
                file.write(data)
        os.chmod(cover, 0o755)
        mount(cover, path, None, MS_BIND, None)
        return cover


def write(path, text):
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except PermissionError as error:
        raise Impossible("choosing the next pid is refused here") from error


def mount(source, target, kind, flags, options):
    def encoded(text):
        return None if text is None else text.encode()

    if LIBC.mount(encoded(source), encoded(target), encoded(kind), flags,
                  encoded(options)) != 0:
        number = ctypes.get_errno()
        raise Impossible(f"mounting over {target} is refused here: "
                         f"{os.strerror(number)}")


def end_group(process):
    """Ends a tool that was started in a session of its own, and reaps it."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
