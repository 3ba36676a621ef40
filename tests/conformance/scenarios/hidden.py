"""A process that /proc hides is not one that has ended.

/proc is mounted with hidepid 1, 2 and 4, and the tools run as another user
without any group: options 1 and 2 exempt group 0. The truth is that the
process runs. Who gives for it the very answer that it gives for a pid that
nobody has, says that it has ended. With subset=pid the machine's own files
are missing, and each process's are there.
"""
import re

from answer import ABSENT, REFUSED, SAID, UNASKED, value_is
from scene import pick
from world import Impossible, mount

REPORTS = "wazuh/wazuh#37979"
NOBODYS_PID = 30000


def run(scene):
    victim = scene.world.start("idle", "hidden")
    if not scene.world.is_root:
        raise Impossible("only root can become another user")
    for option in (1, 2, 4):
        mount("proc", "/proc", "proc", 0, f"hidepid={option}")
        hidden(scene, victim.pid, option)
    mount("proc", "/proc", "proc", 0, "hidepid=0")
    mount("proc", "/proc", "proc", 0, "subset=pid")
    found = scene.look(victim.pid, ["state", "rss"])
    scene.question("subset=pid: the state of a process", "S",
                   pick(found, "state"), value_is("S"))
    scene.question("subset=pid: its memory is known", "more than 0",
                   pick(found, "rss"), lambda answer:
                   None if answer.kind == REFUSED else
                   answer.kind == SAID and answer.value > 0)


def hidden(scene, pid, option):
    for peer in scene.peers:
        peer.as_nobody = True
    there = pick(scene.look(pid, ["name"], on_a_terminal), "name")
    ended = pick(scene.look(NOBODYS_PID, ["name"], on_a_terminal), "name")
    for peer in scene.peers:
        peer.as_nobody = False

    for name, answer in there.items():
        answer.of_nobody = plain(ended[name])

    def not_gone(answer):
        return answer.kind in (SAID, REFUSED) or \
            plain(answer) != answer.of_nobody

    scene.question(f"hidepid={option}: it has not ended",
                   "another answer than for a pid that nobody has", there,
                   not_gone)


def on_a_terminal(peer):
    """A list on a screen makes no claim about one pid that is not in it."""
    return hasattr(peer, "configure")


def plain(answer):
    """An answer without its numbers."""
    assert answer.kind in (ABSENT, REFUSED, SAID, UNASKED)
    return answer.kind + " " + re.sub(r"\d+", "N", answer.shown())
