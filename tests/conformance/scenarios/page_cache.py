"""The peak of a process that reads a large file and holds next to nothing.

It reads a file of 256 MiB (1 GiB in a full run) through 64 KiB. What the
kernel keeps of the file is the machine's page cache, not the process's memory;
the peak of its cgroup counts it.
"""
from answer import value_such_that
from scene import pick

REPORTS = "gsauthof/cgmemtime#1"
MOST = 16 << 20


def run(scene):
    reader = scene.world.start("reader", "/var/tmp")
    mib = 1024 if scene.full else 256
    truth = reader.ask(f"read {mib}")
    assert truth["read"] == mib << 20
    found = scene.look(reader.pid, ["rss", "peak_rss"])
    little = value_such_that(lambda value: 0 < value < MOST)
    scene.question(f"resident after reading {mib} MiB", "below 16 MiB",
                   pick(found, "rss"), little)
    scene.question("the most it had resident", "below 16 MiB",
                   pick(found, "peak_rss"), little)
