"""Names with leading, inner and trailing blanks.

Who splits the line of `stat` at blanks takes a part of the name for a figure.
The second part is a process that calls itself so after it was first seen.
"""
from answer import value_is, value_such_that
from scene import pick

REPORTS = "sysstat/sysstat#28, elastic/gosigar#81"
NAME = b" a  9 S 1 b "


def resident(pid):
    with open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * 4096


def run(scene):
    named = scene.world.start("renamer")
    named.ask("name " + NAME.hex())
    found = scene.look(named.pid, ["state", "ppid", "threads", "rss", "name"])
    rss = resident(named.pid)  # some read a looser counter: near enough
    scene.question("the state beside blanks", "S", pick(found, "state"),
                   value_is("S"))
    scene.question("the parent", 1, pick(found, "ppid"), value_is(1))
    scene.question("the number of threads", 1, pick(found, "threads"),
                   value_is(1))
    scene.question("resident memory", rss, pick(found, "rss"),
                   value_is(rss, near=0.3))
    # Tables pad and align their columns.
    scene.question("the name itself", repr(NAME.decode()),
                   pick(found, "name"),
                   value_such_that(lambda name: name.strip() == NAME.strip()))

    later = scene.world.start("renamer")
    later.ask("name " + b"plain".hex())

    def change():
        later.ask("name " + b"a b c d".hex())
        later.ask("busy 200")
        later.tell("busy 60000")

    found = scene.watch(later.pid, ["cpu", "threads", "rss", "name"], change)
    # Most of the first interval may lie before, and the machine be loaded.
    scene.question("its CPU, once it has blanks", "it spins: above 1 %",
                   pick(found, "cpu"),
                   value_such_that(lambda percent: 1 <= percent <= 110))
    rss = resident(later.pid)
    scene.question("threads, once it has blanks", 1, pick(found, "threads"),
                   value_is(1))
    scene.question("resident memory then", rss, pick(found, "rss"),
                   value_is(rss, near=0.3))
    scene.question("the new name", "a b c d", pick(found, "name"),
                   value_is(b"a b c d"))
