"""Pid 2 is the parent of the kernel's threads, but not in a namespace.

Here pid 2 is a program of a user, and so is its child. A list without kernel
threads has both.
"""
from answer import SAID, absent, said, unasked
from peers.screen import Htop
from world import Trouble

REPORTS = "eminence/procfs PR#337"


def without_kernel_threads(peer):
    """The pids in a list without kernel threads, as the tool makes one."""
    if peer.name == "plim":
        return peer.lists("kernel_thread = 0")
    if peer.name == "ps":
        ended = peer.run(["ps", "-o", "pid=", "--ppid", "2", "-p", "2",
                          "--deselect"])
        if ended.err:
            return absent(ended.err)
        return said([int(word) for word in ended.out.split()], ended.out)
    if isinstance(peer, Htop):
        peer.hide_kernel_threads = 1
        return peer.lists()
    return unasked()


def run(scene):
    parent = scene.world.start("zombie")
    if parent.pid != 2:
        raise Trouble(f"the first process got pid {parent.pid}")
    child = parent.ask("child")["child"]
    lists = scene.each(without_kernel_threads)
    for what, pid in (("pid 2, a user's program", 2), ("its child", child)):
        scene.question(f"no kernel thread: {what}", f"pid {pid} is listed",
                       lists, lambda answer: answer.kind == SAID and
                       pid in answer.value)
