"""Wake-ups of one's own process, as an ordinary user.

Three threads sleep 1 ms again and again: some 3,000 wake-ups a second. The
process and whoever asks belong to an ordinary user. A counter that is limited
to user mode without a word is 0, because no switch happens there.
"""
from answer import value_is
from scene import pick
from world import NOBODY, Impossible

REPORTS = "perf stat, kernel.perf_event_paranoid 2"


def run(scene):
    if not scene.world.is_root:
        raise Impossible("only root can become another user")
    try:
        sleepers = scene.world.start("sleepers", 3, user=NOBODY, group=NOBODY,
                                     extra_groups=[])
    except PermissionError as error:
        raise Impossible("another user cannot enter the build folder") from error
    for peer in scene.peers:
        peer.as_nobody = True
    before = sleepers.ask("truth")
    found = scene.watch(sleepers.pid, ["switches"], lambda: None)
    after = sleepers.ask("truth")
    rate = (after["sleeps"] - before["sleeps"]) * 1e9 / (
        after["monotonic_ns"] - before["monotonic_ns"])
    # The windows are not the same, and load comes and goes.
    scene.question("voluntary switches per second", f"{rate:.0f}/s",
                   pick(found, "switches"), value_is(rate, near=0.5))
