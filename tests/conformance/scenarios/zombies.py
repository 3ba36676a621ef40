"""Zombies: one that is dead, and one that only looks so.

A child that nobody has waited for is listed, in state Z; it has no memory,
which is not the same as 0 bytes, but 0 is let pass. A process whose main
thread has ended while others run shows the same in the leader's files; it
holds memory all the same.
"""
from answer import ABSENT, REFUSED, SAID, is_refused, value_is
from scene import pick

REPORTS = "giampaolo/psutil#2793"


def run(scene):
    parent = scene.world.start("zombie")
    parent.ask("child")
    child = parent.ask("end 3")["child"]
    found = scene.look(child, ["state", "rss"])
    scene.question("the state of a child nobody waited for", "Z",
                   pick(found, "state"), value_is("Z"))
    scene.question("its memory", "none: not applicable, or 0",
                   pick(found, "rss"), lambda answer: {
                       REFUSED: is_refused(answer, "not_applicable"),
                       ABSENT: None,
                       SAID: answer.value == 0}.get(answer.kind, False))

    leader = scene.world.start("leader", 64)
    held = leader.ask("truth")["anonymous"]
    found = scene.look(leader.pid, ["rss"])
    scene.question("memory of a process whose leader ended",
                   f"it holds {held} bytes", pick(found, "rss"),
                   lambda answer: None if answer.kind == REFUSED else
                   answer.kind == SAID and
                   0.9 * held <= answer.value <= 1.2 * held)
