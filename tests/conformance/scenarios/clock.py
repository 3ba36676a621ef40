"""The clock of the machine is set while a process runs.

The start of a process in wall-clock time is made from the boot time, which
the kernel makes from the clock. Both readers look at the same process, one
before and one after the clock was set two hours on; the process has not
changed. The machine's clock is left alone: the tools find the `btime` that
the kernel would tell, and a clock that agrees with it.
"""
import os
import re
import subprocess

from answer import SAID, Answer, unasked
from scene import pick
from world import Trouble

REPORTS = "r-lib/ps#206"
STEP = 7200
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def clock_library(scene):
    """A library whose clock is STEP seconds ahead, for LD_PRELOAD."""
    path = os.path.join(scene.world.folder, "clock.so")
    ended = subprocess.run(
        ["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", f"-DSTEP={STEP}", "-o",
         path, os.path.join(HERE, "askers", "clock.c")], check=False,
        capture_output=True)
    if ended.returncode != 0:
        raise Trouble(ended.stderr.decode())
    return path


def run(scene):
    process = scene.world.start("idle", "clock")
    library = clock_library(scene)
    with open("/proc/stat", "rb") as file:
        data = file.read()
    cover = scene.world.cover("/proc/stat", data)

    def step():
        later = re.sub(rb"(?m)^btime (\d+)$", lambda match: b"btime %d" % (
            int(match[1]) + STEP), data)
        with open(cover, "wb") as file:
            file.write(later)

    before = pick(scene.look(process.pid, ["identity"]), "identity")
    running = {}
    watch = {}
    for peer in scene.peers:
        if peer.name in ("psutil", "gopsutil"):
            watch[peer.name] = peer.watch(process.pid, ["running"])
    step()
    for peer in scene.peers:
        peer.preload = {"LD_PRELOAD": library}
    after = pick(scene.look(process.pid, ["identity"]), "identity")
    for name, answer in after.items():
        answer.before = before[name].value
        answer.printed = f"{before[name].value}, then {answer.value}"
    scene.question("before and after, one identity", "the same process",
                   after, lambda answer: answer.kind == SAID and
                   answer.value == answer.before)
    for peer in scene.peers:
        running[peer.name] = unasked()
        if peer.name in watch:
            running[peer.name] = watch[peer.name].ask("running")[0]
            watch[peer.name].close()
        elif peer.name == "plim":
            running[peer.name] = known_again(peer, before["plim"])
    scene.question("the process that was kept still runs", "it does",
                   running, lambda answer: answer.kind == SAID and
                   answer.value == 1)


def known_again(peer, identity):
    """plim by the identity that it gave before."""
    found = peer.look(identity.value, ["state"])["state"]
    if found.kind == SAID:
        return Answer(SAID, 1)
    return found
