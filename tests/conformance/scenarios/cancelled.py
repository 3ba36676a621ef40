"""Bytes that were written and never reached the disk.

A process writes 8 MiB into a file and drops them before they are flushed. All
of them count as written when the pages become dirty; the kernel tells apart
that they were cancelled. Who shows the first figure alone shows traffic of a
disk that was none.
"""
from answer import value_is, value_such_that
from scene import pick
from world import Impossible

REPORTS = "collectd/collectd#2982"
PAGES = 2048


def run(scene):
    writer = scene.world.start("writer", "/var/tmp")
    truth = writer.ask(f"cancel {PAGES}")
    with open(f"/proc/{writer.pid}/io", encoding="ascii") as file:
        if "\nwrite_bytes: 0\n" in file.read():
            raise Impossible("the file system of /var/tmp counts no writes")
    found = scene.look(writer.pid, ["write_bytes", "cancelled_bytes"])
    # The file system's own pages may count as well.
    scene.question("bytes that it has written", f"about {truth['written']}",
                   pick(found, "write_bytes"), value_such_that(
                       lambda v: 1 <= v / truth["written"] < 1.02))
    scene.question("of them cancelled before they were flushed",
                   truth["cancelled"], pick(found, "cancelled_bytes"),
                   value_is(truth["cancelled"]))
