"""A counter that goes backwards.

Between two looks the CPU time in `stat` becomes less. The process sleeps: no
CPU, or no figure for this interval; never a negative one, and never what an
unsigned subtraction makes of it.
"""
import os
import shutil

from answer import REFUSED, SAID, is_refused, unasked
from peers.plim import Plim
from scene import pick

REPORTS = "giampaolo/psutil#2172"


def with_ticks(data, ticks):
    """The bytes of `stat` with other user and system ticks."""
    head, _, rest = data.rpartition(b") ")
    fields = rest.split(b" ")
    fields[11:13] = [b"%d" % ticks, b"%d" % ticks]
    return head + b") " + b" ".join(fields)


def steady(answer):
    if answer.kind == REFUSED:
        return True
    return answer.kind == SAID and 0 <= answer.value <= 10


def run(scene):
    process = scene.world.start("idle", "backwards")
    path = f"/proc/{process.pid}/stat"
    with open(path, "rb") as file:
        data = file.read()
    cover = scene.world.cover(path, with_ticks(data, 5000))

    def change():
        with open(cover, "wb") as file:
            file.write(with_ticks(data, 4000))

    found = scene.watch(process.pid, ["cpu"], change)
    scene.question("CPU while the counter goes back", "it sleeps: 0, or none",
                   pick(found, "cpu"), steady)
    recorded(scene)


def recorded(scene):
    """The same where the file is all there is: in a recording, which only
    tools with a root of their own can read."""
    ours = [peer for peer in scene.peers if isinstance(peer, Plim)]
    answers = {peer.name: unasked() for peer in scene.peers}
    for peer in ours:
        root = os.path.join(scene.world.folder, "root")
        shutil.copytree(os.path.join(peer.place.source, "tests", "fixtures",
                                     "linux-6.18-small"), root, symlinks=True)
        stat = os.path.join(root, "35", "stat")
        with open(stat, "rb") as file:
            data = file.read()
        watch = peer.watch(35, ["cpu"], ["--proc", root])
        try:
            watch.first()
            with open(stat, "wb") as file:
                file.write(with_ticks(data, 1))
            answers[peer.name] = watch.frames()[0]["cpu"]
        finally:
            watch.close()
    scene.question("the same in a recording", "no rate", answers,
                   lambda answer: is_refused(answer, "reset"))
