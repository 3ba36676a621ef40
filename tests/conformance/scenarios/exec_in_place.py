"""exec in place: the same process, another program.

pid and start stay, the name, the arguments and the executable do not. What
was remembered under the identity is out of date.
"""
import os

from answer import unasked, value_is, value_such_that
from scene import pick

REPORTS = "GuillaumeGomez/sysinfo#840"


def run(scene):
    world = scene.world
    process = world.start("before-exec", world.path("idle"), "later")
    before = pick(scene.look(process.pid, ["identity"]), "identity")

    def change():
        process.tell("exec")
        process.lines(lambda line: line.endswith(b" ready"))

    found = scene.watch(process.pid, ["name", "cmdline", "exe"], change)
    after = pick(scene.look(process.pid, ["identity"]), "identity")
    idle = os.path.realpath(world.path("idle"))
    arguments = (world.path("idle") + " later").encode()
    scene.question("the name after exec", "idle", pick(found, "name"),
                   value_is(b"idle"))
    scene.question("the command line after exec", arguments,
                   pick(found, "cmdline"), value_is(arguments))
    scene.question("the executable", idle, pick(found, "exe"),
                   value_such_that(lambda exe: exe in (
                       idle, os.path.basename(idle))))
    same = {name: after[name] for name in after}
    for name, answer in before.items():
        same[name].before = answer.value
    again = world.start("before-exec", world.path("idle"), "reported")

    def change_again():
        again.tell("exec")
        again.lines(lambda line: line.endswith(b" ready"))

    events = {peer.name: peer.report_events(again.pid, change_again)
              if peer.name == "plim" else unasked() for peer in scene.peers}
    scene.question("that another program runs", "image_changed, once", events,
                   value_such_that(
                       lambda found: found.count("image_changed") == 1 and
                       "gone" not in found))
    scene.question("it is the same process as before", "the same identity",
                   same, lambda answer: answer.value == answer.before)
