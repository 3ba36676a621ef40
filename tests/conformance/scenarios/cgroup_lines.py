"""The lines of `cgroup` in every order.

Version 2 is the line that begins with `0::`, version 1 has one for each
hierarchy, and hybrid hosts have both; the kernel gives no order that one may
rely on, and lines of "/" stand before and behind those that tell something.
"""
from answer import REFUSED, SAID, value_is
from scene import pick

REPORTS = "facebookincubator/below#8105"
UNIT = "plain.service"
PATH = "/system.slice/" + UNIT
V1 = (b"12:net_cls,net_prio:/\n", b"4:memory:" + PATH.encode() + b"\n",
      b"1:name=systemd:" + PATH.encode() + b"\n")
UNUSED = b"0::/\n"
V2 = b"0::" + PATH.encode() + b"\n"
LAYOUTS = (
    ("v2", V2),
    ("v1", b"".join(V1)),
    ("v1, net_cls last", b"".join(reversed(V1))),
    ("hybrid, 0:: first", UNUSED + b"".join(V1)),
    ("hybrid, 0:: last", b"".join(V1) + UNUSED),
    ("net_cls, then 0::", b"1:net_cls:/\n" + V2),
)


def run(scene):
    process = scene.world.start("idle", "cgroup")
    path = f"/proc/{process.pid}/cgroup"
    for name, lines in LAYOUTS:
        scene.world.cover(path, lines)
        found = scene.look(process.pid, ["cgroup", "unit"])
        scene.question(f"{name}: the control group", PATH,
                       pick(found, "cgroup"), has_path)
        scene.question(f"{name}: the unit", UNIT, pick(found, "unit"),
                       value_is(UNIT))


def has_path(answer):
    """Some print all lines, for who reads them to choose."""
    if answer.kind == REFUSED:
        return None
    return answer.kind == SAID and PATH in answer.value
