"""Names that are no text: half a character, and bytes that begin none.

The kernel cuts a name at 15 bytes, within a character if it must. Such a
process is in the list, and two such names that differ are told apart.
"""
from answer import SAID, said
from scene import pick

REPORTS = "GuillaumeGomez/sysinfo#1190"
NAMES = (b"half a cha \xe6\x97", b"half a cha \xe6\x98")


def run(scene):
    pair = [scene.world.start("renamer") for _ in NAMES]
    for one, name in zip(pair, NAMES):
        one.ask("name " + name.hex())
    first, second = (pick(scene.look(one.pid, ["name"]), "name")
                     for one in pair)
    scene.question("a name of half a character is there", NAMES[0].hex(),
                   first, lambda answer: answer.kind == SAID)
    both = {}
    for name in first:
        both[name] = first[name]
        if first[name].kind == SAID == second[name].kind:
            both[name] = said((first[name].value, second[name].value),
                              f"{first[name].shown()}, and "
                              f"{second[name].shown()}")
    scene.question("two such names are told apart",
                   " and ".join(name.hex() for name in NAMES), both,
                   lambda answer: answer.kind == SAID and
                   answer.value[0] != answer.value[1])
