"""A name with a parenthesis and a newline.

`stat` carries it raw: the name ends at the last parenthesis, and the file is
not made of lines. On a terminal or in a table the newline must not begin
another row, and an escape sequence must not reach the terminal.
"""
from answer import value_is, value_such_that
from scene import pick

REPORTS = "util-linux/util-linux PR#1971"


def run(scene):
    named = scene.world.start("renamer")
    named.ask("name " + b"a) R 77\n2 (".hex())
    found = scene.look(named.pid, ["state", "ppid", "threads", "rows"])
    scene.question("the state of `a) R 77\\n2 (`", "S", pick(found, "state"),
                   value_is("S"))
    scene.question("its parent", 1, pick(found, "ppid"), value_is(1))
    scene.question("its number of threads", 1, pick(found, "threads"),
                   value_is(1))
    scene.question("rows that it takes", 1, pick(found, "rows"), value_is(1))

    named.ask("name " + b"\x1b[31mred\x07\x0d".hex())
    found = scene.look(named.pid, ["raw"])
    scene.question("its escape sequence stays in", "no control byte printed",
                   pick(found, "raw"), value_such_that(
                       lambda raw: not set(raw) & set(b"\x1b\x07\x0d")))
