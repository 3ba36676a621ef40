"""A pid that is used again between two looks.

A busy process is watched, ends, is reaped, and another that sleeps gets its
pid at once. The newcomer has used no CPU time to speak of; its name and its
arguments are its own.
"""
from answer import REFUSED, SAID, said, value_is
from scene import pick

REPORTS = "GuillaumeGomez/sysinfo#805, collectd PR#3773"


def run(scene):
    old = scene.world.start("spin", "first")
    old.ask("spin 500")
    old.tell("spin 60000")
    pid = old.pid
    new = []

    def change():
        old.stop()
        new.append(scene.world.start_as(pid, "idle", "second"))

    found = scene.watch(pid, ["cpu", "name", "cmdline", "events"],
                        change)
    cpu = new[0].ask("truth")["cpu_ns"] / 1e6
    truth = f"it sleeps, and has used {cpu:.1f} ms"

    def idle(answer):
        if answer.kind == REFUSED:
            return True  # a first round has no rate
        return answer.kind == SAID and 0 <= answer.value <= 10

    events = {name: frames[0]["events"] for name, frames in found.items()}
    for name, answer in events.items():
        if answer.kind == SAID:
            events[name] = said(sum((frame["events"].value for frame in
                                     found[name]), []))
    scene.question("that another has taken its place", "replaced, once",
                   events, value_is(["replaced"]))
    scene.question("CPU of the newcomer", truth, pick(found, "cpu"), idle)
    scene.question("its name", "idle", pick(found, "name"),
                   value_is(b"idle"))
    scene.question("its command line", "idle second",
                   pick(found, "cmdline"), value_is(b"idle second"))
