"""A child between fork and exec.

For so long it is a copy of its parent, name and arguments too. Who has looked
at it then must look again: after its exec it is a program of its own.
"""
from answer import value_is
from scene import pick

REPORTS = "canonical/apport PR#640"


def run(scene):
    world = scene.world
    parent = world.start("before-exec", world.path("idle"), "child")
    child = parent.ask("fork")["child"]
    now = scene.look(child, ["name"])
    scene.question("the name before exec: its parent's", "before-exec",
                   pick(now, "name"), value_is(b"before-exec"))
    found = scene.watch(child, ["name", "cmdline"],
                        lambda: parent.ask("release"))
    arguments = (world.path("idle") + " child").encode()
    scene.question("the name after exec: its own", "idle",
                   pick(found, "name"), value_is(b"idle"))
    scene.question("the command line after exec", arguments,
                   pick(found, "cmdline"), value_is(arguments))
