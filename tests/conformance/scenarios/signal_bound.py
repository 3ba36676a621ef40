"""A signal for a process that has ended meanwhile.

A process is chosen to be killed: held as an object, or selected in a list
with the question "kill it?" on the screen. Before the answer it ends, and
another takes its pid. The newcomer must not get the signal.
"""
import os
import time

from answer import ABSENT, Answer, said, unasked
from peers.asker import AskerPeer
from peers.screen import Btop, Htop, Screen
from world import TooLate, Trouble

REPORTS = "aristocratos/btop#846"


class Held:
    """A tool that is about to send SIGKILL."""

    def __init__(self, peer, pid):
        self.peer, self.pid = peer, pid

    def send(self):
        """Sends it; returns what the tool said."""

    def wait(self, seconds):
        time.sleep(seconds)

    def close(self):
        pass


class HeldByLibrary(Held):
    def __init__(self, peer, pid):
        super().__init__(peer, pid)
        self.watch = peer.watch(pid, ["name"])

    def send(self):
        return self.watch.ask("kill")[0].shown()

    def close(self):
        self.watch.close()


class HeldByPlim(Held):
    def __init__(self, peer, pid):
        super().__init__(peer, pid)
        program = os.path.join(peer.place.build, "tests", "conformance",
                               "signal_plim")
        self.process = peer.start([program, str(pid)], stdin=-1, bufsize=0)
        if self.process.stdout.readline() != b"held\n":
            raise Trouble("signal_plim holds nothing")

    def send(self):
        return self.process.communicate(b"now\n", timeout=10)[0].strip()

    def close(self):
        self.process.kill()
        self.process.wait()


class HeldOnScreen(Held):
    def __init__(self, peer, pid, keys, answer):
        super().__init__(peer, pid)
        self.answer = answer
        peer.configure()
        argv = [word for word in peer.argv(pid) if word != "--readonly"]
        self.screen = Screen(argv, peer.environment())
        self.wait(2.5 * peer.pace)
        if pid not in peer.pids(self.screen.rows()):
            raise TooLate
        for key in keys:
            self.screen.press(key)
            self.wait(0.5 * peer.pace)
        if "SIGKILL" not in " ".join(self.screen.rows()):
            raise TooLate

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.screen.paint(0.1)

    def send(self):
        self.screen.press(self.answer)
        return "the signal"

    def close(self):
        self.screen.close()


def hold(peer, pid):
    if peer.name == "plim":
        return HeldByPlim(peer, pid)
    if isinstance(peer, AskerPeer) and peer.name != "libproc2":
        return HeldByLibrary(peer, pid)
    if isinstance(peer, Htop):  # F9, then 9 for SIGKILL, then Enter
        return HeldOnScreen(peer, pid, [b"\x1b[20~", b"9"], b"\r")
    if isinstance(peer, Btop):  # a filter, the first row, k for SIGKILL
        return HeldOnScreen(peer, pid, [b"f", str(pid).encode(), b"\r",
                                        b"\x1b[B", b"k"], b"\r")
    return None


def run(scene):
    answers = {}
    for peer in scene.peers:
        answers[peer.name] = one(scene.world, peer)
    scene.question("SIGKILL after the pid was used again",
                   "the newcomer lives", answers,
                   lambda answer: answer.kind == ABSENT)


def one(world, peer):
    """Absent if the signal reached nobody, said if it killed the newcomer."""
    old = world.start("idle", "old")
    held = hold(peer, old.pid)
    if held is None:
        old.stop()
        return unasked()
    try:
        old.stop()
        new = world.start_as(old.pid, "idle", "new")
        told = held.send()
        end = time.monotonic() + 2
        while new.process.poll() is None and time.monotonic() < end:
            held.wait(0.1)
        killed = new.process.poll() is not None
        new.stop()
        return said(1, "the newcomer was killed") if killed else \
            Answer(ABSENT, None, told)
    finally:
        held.close()
