"""A process that ends between the listing and the reading.

Its folder is there and its files are not, all of them or one. It is left out
or said to be unknown; nobody else is missing, and nothing is made up.
"""
import os

from answer import ABSENT, REFUSED, value_such_that
from scene import pick

REPORTS = "giampaolo/psutil#2418"
FILES = ("stat", "status", "statm", "cmdline", "comm", "io")


def run(scene):
    world = scene.world
    victim = world.start("idle", "victim")
    witness = world.start("idle", "witness")
    kept = {}
    for name in FILES:
        with open(f"/proc/{victim.pid}/{name}", "rb") as file:
            kept[name] = file.read()
    empty = world.cover(f"/proc/{victim.pid}")
    listed(scene, witness.pid, "nothing in its folder")
    found = scene.look(victim.pid, ["rss"])
    scene.question("its memory", "unknown", pick(found, "rss"),
                   lambda answer: answer.kind in (ABSENT, REFUSED))
    for missing in FILES[:3]:
        for name in FILES:
            path = os.path.join(empty, name)
            if name == missing:
                if os.path.exists(path):
                    os.unlink(path)
            else:
                with open(path, "wb") as copy:
                    copy.write(kept[name])
        listed(scene, witness.pid, f"all but {missing}")


def listed(scene, witness, what):
    lists = scene.each(lambda peer: peer.lists())
    scene.question(f"the others are listed: {what}", f"pid {witness} is there",
                   lists, value_such_that(lambda pids: witness in pids))
