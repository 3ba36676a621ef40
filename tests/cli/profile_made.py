#!/usr/bin/env python3
"""profile_made.py json|pprof [FUNCTION=SAMPLES...]: a profile of a program
whose samples are told by hand, as plim writes it or as Go's runtime does.

FUNCTION may be a path, "main/step/inner", from the root. The period is 2 ms.
"""
import gzip
import json
import sys

PERIOD = 2000000


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(key, value):
    if isinstance(value, int):
        return number(key << 3) + number(value)
    return number(key << 3 | 2) + number(len(value)) + value


def as_json(stacks, names):
    functions = [{"name": name, "module": 0} for name in names]
    return json.dumps({
        "plimsoll": "0.1.0",
        "profile": {"name": "made", "start_unix_ns": 1,
                    "duration_ns": 30000000000, "period_ns": PERIOD},
        "modules": [{"path": "/usr/bin/made"}],
        "functions": functions,
        "frames": [{"lines": [{"function": i}]} for i in range(len(names))],
        "stacks": [{"activity": "running", "weight_ns": count * PERIOD,
                    "samples": count,
                    "frames": [names.index(n) for n in reversed(path)]}
                   for path, count in stacks]}).encode()


def as_pprof(stacks, names):
    texts = ["", "samples", "count", "cpu", "nanoseconds", "/usr/bin/made"]
    out = b""
    for kind in ((1, 2), (3, 4)):
        out += field(1, field(1, kind[0]) + field(2, kind[1]))
    for path, count in stacks:
        ids = b"".join(number(names.index(n) + 1) for n in reversed(path))
        values = number(count) + number(count * PERIOD)
        out += field(2, field(1, ids) + field(2, values))
    out += field(3, field(1, 1) + field(2, 0x1000) + field(3, 0x9000) +
                 field(5, 5))
    for i, name in enumerate(names):
        out += field(4, field(1, i + 1) + field(2, 1) +
                     field(3, 0x1000 + 16 * i) + field(4, field(1, i + 1)))
        out += field(5, field(1, i + 1) + field(2, len(texts)))
        texts.append(name)
    for text in texts:
        out += field(6, text.encode())
    out += field(10, 30000000000)
    out += field(11, field(1, 3) + field(2, 4)) + field(12, PERIOD)
    return gzip.compress(out)


def main():
    stacks = []
    for argument in sys.argv[2:]:
        path, count = argument.rsplit("=", 1)
        stacks.append((path.split("/"), int(count)))
    names = sorted({name for path, _ in stacks for name in path})
    make = {"json": as_json, "pprof": as_pprof}[sys.argv[1]]
    sys.stdout.buffer.write(make(stacks, names))


main()
