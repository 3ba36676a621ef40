"""Another user's process: what may not be read is not 0.

The kernel refuses `smaps_rollup` and `io` of a process of root to everybody
else. The proportional share of 64 MiB of private memory is not 0 bytes.
"""
from answer import REFUSED, SAID, is_refused
from scene import pick
from world import Impossible

REPORTS = "ncabatoff/process-exporter#95, and what ps prints for PSS"


def run(scene):
    if not scene.world.is_root:
        raise Impossible("only root can become another user")
    process = scene.world.start("holder", "/var/tmp")
    process.ask("anonymous 64")
    for peer in scene.peers:
        peer.as_nobody = True
    found = scene.look(process.pid, ["pss", "read_bytes", "read_rate"])

    def honest(answer):
        if answer.kind in (SAID, REFUSED):
            return is_refused(answer, "denied")
        return None

    scene.question("PSS of a process of root", "refused; it is above 64 MiB",
                   pick(found, "pss"), honest)
    io = {name: one["read_rate"] if one["read_bytes"].kind == "unasked" else
          one["read_bytes"] for name, one in found.items()}
    scene.question("bytes that it has read", "refused", io, honest)
