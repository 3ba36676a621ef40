"""A command line that cannot be read: the target's memory lock is held.

A process with a lot of memory in small pages forks in a loop. Each fork copies
the page tables under the lock that a reader of its command line needs, and
this one is of the lowest priority on a CPU that another keeps busy, so that a
fork takes seconds. A reader with a deadline answers in time, if only with
"too late".
"""
import os
import subprocess
import time

from answer import LATE, UNASKED, Answer
from world import Impossible

REPORTS = "aws/efs-utils#374, mej/nhc#156"
IN_TIME = 1.5  # seconds; the command's own deadline is 250 ms
PATIENCE = 4.0  # seconds that a tool is given
LOADED = 30.0  # seconds that ours is given, on a machine that is
TRIES = 3


def slowest(peer, pid, patience):
    """The answer of several that took longest, and how long it took."""
    worst = (-1.0, None)
    for _ in range(TRIES):
        begin = time.monotonic()
        answer = peer.look(pid, ["cmdline"], seconds=patience)["cmdline"]
        worst = max(worst, (time.monotonic() - begin, answer.kind))
        if answer.kind in (LATE, UNASKED):
            break
    took, kind = worst
    text = f"nothing in {took:.1f} s" if kind == LATE else \
        f"{kind} after {took:.1f} s"
    return Answer(kind, took, text)


def await_the_lock(pid):
    """Until somebody who reads the command line has to wait. Between two
    forks the lock is free, and that may last seconds, too."""
    end = time.monotonic() + 25
    while time.monotonic() < end:
        time.sleep(0.05)
        reader = subprocess.Popen(["cat", f"/proc/{pid}/cmdline"],
                                  stdout=subprocess.DEVNULL)
        try:
            reader.wait(0.3)
        except subprocess.TimeoutExpired:
            return
        finally:
            reader.kill()
            reader.wait()
    raise Impossible("the memory lock of a process is never held for long")


def run(scene):
    world = scene.world
    target = world.start("forkloop", 4096 if scene.full else 512, 60)
    busy = world.start("spin")
    cpu = max(os.sched_getaffinity(0))
    for one in (target, busy):
        os.sched_setaffinity(one.pid, {cpu})
    os.sched_setscheduler(target.pid, os.SCHED_IDLE, os.sched_param(0))
    busy.tell("spin 60000")
    await_the_lock(target.pid)

    def one(peer):
        if hasattr(peer, "configure"):  # a screen shows many processes
            return Answer(UNASKED)
        if peer.name != "plim":
            return slowest(peer, target.pid, PATIENCE)
        # A machine that is so loaded that nothing is in time is no fault of
        # ours: a process that nothing holds up is asked for, too.
        answer = slowest(peer, target.pid, LOADED)
        loaded.append(slowest(peer, idle.pid, LOADED).value)
        return answer

    idle = world.start("idle", "nothing holds it up")
    loaded = []
    answers = scene.each(one)
    busy.stop()
    target.stop()
    limit = IN_TIME + 4 * max(loaded)
    scene.question("its command line, or why not, in time",
                   f"within {limit:.1f} s", answers,
                   lambda answer: answer.kind != LATE and
                   answer.value <= limit)
