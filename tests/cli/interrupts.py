#!/usr/bin/env python3
"""interrupts.py PLIM RUNAWAY COUNT SEED COMMAND - interrupts plim while what
it started runs away (tests/workloads/runaway.c), and counts survivors.

COUNT times, several at once, `plim COMMAND` (report or gate) starts RUNAWAY with
ways to run away and a moment drawn by SEED, and then interrupted: SIGINT or
SIGTERM to plim, SIGINT to its process group, SIGKILL to plim or to its worker.
Every process that runs away holds the other end of a pipe and has written its
pid there; a pidfd is taken of each. Once plim has ended, all must be gone in
time: the pipe at its end, each pidfd readable.

Prints TAP.
"""
import ctypes
import json
import os
import random
import select
import signal
import struct
import sys
import time

PLIM, RUNAWAY, COUNT, SEED, COMMAND = sys.argv[1:]
LANES = 6
PATIENCE = 5.0    # after the end of plim
END = 20.0        # of plim after the signal
WAYS = ("child", "child", "session", "session", "deaf", "adopter", "spawner",
        "chain")
ACTIONS = ("INT", "TERM", "group", "front", "worker")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


REAPED = {}


def reap():
    """Whatever plim should leave behind falls to us."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            REAPED[pid] = status
    except ChildProcessError:
        return


def end_children():
    end = time.monotonic() + 3
    while time.monotonic() < end and children(os.getpid()):
        for pid in children(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        reap()


BUDGET = """schema = 1
[target.runaway]
run = {run}
scope = "synthetic"
load = {{ statement = "it runs away", unit = "times", count = 1 }}
quiet = {{ cpu = "100 %", for = "100ms", limit = "30s" }}
window = "30s"
repeats = 1
limit.children_started.max = 1000000
limit.threads.max = 1000
"""


def arguments(number, words):
    """Of plim, so that it starts these words."""
    if COMMAND == "report":
        return ["report", "--for", "30s", "--", *words]
    path = f"{os.environ.get('TMPDIR', '/tmp')}/runaway-{number}.toml"
    with open(path, "w") as file:
        file.write(BUDGET.format(run=json.dumps(words)))
    return ["gate", path]


class Run:
    """One plim, from its start to the count of survivors."""

    def __init__(self, number, lottery, action=None):
        self.number = number
        ways = lottery.sample(WAYS, lottery.randint(0, 4))
        if lottery.random() < 0.15:
            ways.insert(0, "ignore")
        if lottery.random() < 0.15:
            ways.append("leave")
        self.action = action or lottery.choice(ACTIONS)
        self.delay = (lottery.uniform(0, 0.03) if lottery.random() < 0.4
                      else lottery.uniform(0.03, 0.4))
        self.what = f"{self.action} after {self.delay * 1000:.1f} ms, " + \
            (" ".join(ways) or "alone")
        self.pidfds = {}
        self.status = None
        self.problem = None
        self.signalled = None
        self.ended = None
        self.first = None
        self.pipe, other = os.pipe2(os.O_NONBLOCK)
        words = [RUNAWAY, str(other), "25", *ways]
        # A signal before the exec must not become an exception of Python.
        ended_by = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
        signal.pthread_sigmask(signal.SIG_BLOCK, ended_by)
        self.front = os.fork()
        if self.front == 0:
            os.setpgid(0, 0)
            null = os.open("/dev/null", os.O_RDWR)
            for descriptor in range(3):
                os.dup2(null, descriptor)
            os.set_inheritable(other, True)
            for number in ended_by:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ended_by)
            os.execv(PLIM, [PLIM, *arguments(self.number, words)])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ended_by)
        REAPED.pop(self.front, None)  # somebody else had the number
        os.close(other)
        self.begin = time.monotonic()

    def take(self):
        """Pids that were written; True at the end of the pipe."""
        while True:
            try:
                data = os.read(self.pipe, 4096)
            except BlockingIOError:
                return False
            if not data:
                return True
            for (pid,) in struct.iter_unpack("i", data[:len(data) & ~3]):
                self.first = self.first or pid
                if pid in self.pidfds or len(self.pidfds) > 100:
                    continue
                try:
                    self.pidfds[pid] = os.pidfd_open(pid)
                except OSError:
                    pass

    def interrupt(self):
        workers = children(self.front)
        if self.action == "group":
            # The child makes the group, in a moment.
            try:
                os.killpg(self.front, signal.SIGINT)
            except ProcessLookupError:
                os.kill(self.front, signal.SIGINT)
        elif self.action == "front":
            os.kill(self.front, signal.SIGKILL)
        elif self.action == "worker":
            if not workers:
                self.action = "front"
            os.kill((workers or [self.front])[0], signal.SIGKILL)
        elif self.action == "both":
            os.kill(self.front, signal.SIGKILL)
            if workers:
                os.kill(workers[0], signal.SIGKILL)
        else:
            os.kill(self.front, getattr(signal, "SIG" + self.action))
        self.signalled = time.monotonic()

    def expected(self):
        code = os.waitstatus_to_exitcode(self.status)
        if "leave" in self.what and code in (0, 3, 4):
            return True  # it had ended by itself
        if self.action in ("front", "both"):
            return code == -9
        if self.action == "worker":
            return code == 125
        # Before it was ready, the signal ends it as any program.
        number = signal.SIGTERM if self.action == "TERM" else signal.SIGINT
        return code == 130 or (code == -number and self.first is None)

    def survivors(self):
        alive = []
        for pid, descriptor in self.pidfds.items():
            if not select.select([descriptor], [], [], 0)[0]:
                alive.append(pid)
        return alive

    def step(self):
        """True once it is over."""
        now = time.monotonic()
        at_end = self.take()
        if self.signalled is None:
            if self.front in REAPED:
                self.signalled = now  # too late: it had ended by itself
            elif now - self.begin >= self.delay:
                self.interrupt()
            return False
        if self.ended is None:
            if self.front in REAPED:
                self.status, self.ended = REAPED.pop(self.front), now
            elif now - self.signalled > END and not self.problem:
                self.problem = "plim did not end"
                os.kill(self.front, signal.SIGKILL)
            return False
        if not at_end and now - self.ended < PATIENCE:
            return False
        alive = self.survivors()
        if (alive or not at_end) and self.action != "both":
            self.problem = f"{len(alive)} survivors, or more"
        if self.action == "both" and self.first in alive:
            self.problem = "the command itself survived"
        if self.problem is None and not self.expected():
            self.problem = "exit status " + \
                str(os.waitstatus_to_exitcode(self.status))
        for pid in alive:
            signal.pidfd_send_signal(self.pidfds[pid], signal.SIGKILL)
        return True

    def close(self):
        for descriptor in self.pidfds.values():
            os.close(descriptor)
        os.close(self.pipe)


def batch(runs, action=None):
    """Runs so many: those with a problem, how many were started, the longest
    time from the end of plim to that of the last descendant."""
    waiting = iter(range(runs))
    active, failed, seen, longest = [], [], 0, 0.0
    lottery = random.Random(f"{SEED} {action}")
    left = runs
    while left:
        while len(active) < LANES:
            number = next(waiting, None)
            if number is None:
                break
            active.append(Run(number, lottery, action))
        reap()
        for run in list(active):
            if run.step():
                active.remove(run)
                left -= 1
                seen += len(run.pidfds)
                longest = max(longest, time.monotonic() - run.ended)
                if run.problem:
                    failed.append(run)
                    print(f"# {run.number}: {run.what}: {run.problem}",
                          flush=True)
                run.close()
        time.sleep(0.005)
    end_children()
    return failed, seen, longest


def main():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    print(f"# seed {SEED}; PLIM_SEED={SEED} gives the same again", flush=True)
    failed, seen, longest = batch(int(COUNT))
    print(f"# {COUNT} interruptions, {seen} processes ran away, gone at most "
          f"{longest * 1000:.0f} ms after plim")
    print("not ok 1" if failed else "ok 1",
          f"- {COUNT} interruptions of {COMMAND}: no survivor, and the exit status")
    print("ok 2" if seen > int(COUNT) else "not ok 2",
          "- they did interrupt something")
    failed, _, _ = batch(12, "both")
    print("not ok 3" if failed else "ok 3",
          "- plim and its worker killed at once: the command itself has ended")
    print("1..3")
    sys.exit(bool(failed))


main()
