"""Wake-ups of a process whose leader is idle.

Four threads sleep 1 ms again and again while the main thread waits. The
workload counts its own sleeps; each is one voluntary switch. Who takes the
leader's file for the process sees next to nothing.
"""
from answer import value_is
from scene import pick

REPORTS = ("open-telemetry/opentelemetry-collector-contrib#36804, "
           "giampaolo/psutil#1467")


def run(scene):
    sleepers = scene.world.start("sleepers", 4)
    before = sleepers.ask("truth")
    found = scene.watch(sleepers.pid, ["switches"], lambda: None)
    after = sleepers.ask("truth")
    rate = (after["sleeps"] - before["sleeps"]) * 1e9 / (
        after["monotonic_ns"] - before["monotonic_ns"])
    # The windows are not the same, and load comes and goes.
    scene.question("voluntary switches per second", f"{rate:.0f}/s",
                   pick(found, "switches"), value_is(rate, near=0.5))
