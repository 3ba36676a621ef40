"""base.py - what every tool of the comparison can be asked, ours included.

`look` asks about one process once, `watch` twice with something in between:
first() returns when the tool has seen the process, frames() what it printed
afterwards, one dictionary for each round. Both give an answer for each asked
field. The fields, and what they are in:

  name bytes, state a letter, ppid, threads, rss bytes, cpu per cent of one
  core, switches voluntary ones per second, cmdline bytes (arguments as the
  tool shows them), exe, pss bytes, read_bytes from storage (read_rate per
  second), write_bytes, cancelled_bytes of them, peak_rss bytes, identity text
  that tells it from another process, cgroup, unit,
  running 1 if a process that was kept is said to run, events words of what
  happened, rows how many lines one process took, raw everything printed

A field that a tool does not have is unasked. Tools are started in a session
of their own, in English, with a home of their own, and never outlive a call
or a watch.
"""
import os
import shutil
import subprocess
import tempfile

from answer import absent, late, unasked
from world import NOBODY, end_group

SECONDS = 20  # longer than any tool needs that is not stuck


class Place:
    """Where tools find what they need: build folder, a home, our source."""

    def __init__(self, source, build):
        self.source = source
        self.build = build
        self.home = tempfile.mkdtemp(prefix="plim-peers-")
        os.chmod(self.home, 0o777)

    def environment(self):
        return {"LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color",
                "HOME": self.home, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "XDG_CONFIG_HOME": self.home}


class Said:
    """The end of a tool: status, what it printed, and whether in time."""

    def __init__(self, status, out, err, in_time):
        self.status, self.out, self.err = status, out, err
        self.in_time = in_time


NOTHING = Said(0, b"", b"", True)


class Peer:
    name = ""
    needs = ""  # the package of Debian, for who has not got it

    def __init__(self, place):
        self.place = place
        self.as_nobody = False
        self.pace = 1  # 2 to watch at half the speed
        self.preload = None

    def there(self):
        return shutil.which(self.program, path=self.place.environment()[
            "PATH"]) is not None

    def version(self):
        return ""

    def command(self, argv):
        """The argv that runs it, as another user where that was asked."""
        if not self.as_nobody:
            return argv
        return [os.path.join(self.place.source, "tools", "as-user"),
                str(NOBODY), self.place.source, self.place.build] + argv

    def environment(self):
        environment = self.place.environment()
        if self.preload:
            environment.update(self.preload)
        return environment

    def start(self, argv, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(
            self.command(argv), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment(),
            cwd="/", start_new_session=True, **how)

    def run(self, argv, seconds=SECONDS):
        process = self.start(argv)
        try:
            out, err = process.communicate(timeout=seconds)
            return Said(process.returncode, out, err, True)
        except subprocess.TimeoutExpired:
            end_group(process)
            out, err = process.communicate()
            return Said(None, out, err, False)
        finally:
            end_group(process)

    # What a tool overrides.
    def look(self, pid, fields, seconds=SECONDS):
        return {field: unasked() for field in fields}

    def watch(self, pid, fields):
        return None

    def lists(self):
        """The pids of everything that it shows."""
        return unasked()


def all_of(fields, answer):
    return {field: answer for field in fields}


def none_from(fields, had, ended):
    """Nothing was printed of the process: why?"""
    if not ended.in_time:
        answer = late("no end in time")
    else:
        answer = absent((ended.out + ended.err).strip() or
                        f"nothing, status {ended.status}")
    return {field: answer if field in had else unasked() for field in fields}
