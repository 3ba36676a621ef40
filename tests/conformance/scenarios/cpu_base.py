"""CPU usage above 100 %, and of what.

Eight threads compute. On a machine of several CPUs they use more than one
core, which is no fault if it is said what 100 % are. The truth is the
process's own CPU time over the time that passed.
"""
import time

from answer import said, unasked, value_is, value_such_that
from peers.plim import Plim
from scene import pick

REPORTS = "open-telemetry/opentelemetry-collector-contrib#31368"


def run(scene):
    spinners = scene.world.start("spinners", 8)
    time.sleep(0.5)
    before = spinners.ask("truth")
    found = scene.watch(spinners.pid, ["cpu"], lambda: None)
    after = spinners.ask("truth")
    share = 100 * (after["cpu_ns"] - before["cpu_ns"]) / (
        after["monotonic_ns"] - before["monotonic_ns"])
    # The windows are not the same, and other load comes and goes.
    scene.question("CPU of eight threads that compute",
                   f"{share:.0f} % of one core", pick(found, "cpu"),
                   value_is(share, near=0.5))
    answers = {peer.name: base_of(peer, spinners.pid)
               if isinstance(peer, Plim) else unasked()
               for peer in scene.peers}
    scene.question("what 100 % are, beside the figure", "one core", answers,
                   value_such_that(lambda line: b"% of one core" in line))


def base_of(peer, pid):
    """The line with the figure, as people read it."""
    ended = peer.run([peer.plim, "report", "--for", "200ms", str(pid)])
    lines = [line for line in ended.out.splitlines()
             if line.startswith(b"CPU")]
    return said(lines[0] if lines else b"", ended.out)
