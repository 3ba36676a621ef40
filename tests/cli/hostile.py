#!/usr/bin/env python3
"""hostile.py PROGRAM COPY - a copy of the workload `hostile` whose functions
have names that no compiler gives: of the same length, so that only bytes of
its tables of names change. hostile.py --check FILE: are all names in a profile
of it, in JSON, with time in each?
"""
import json
import sys

from profile_check import expect, of_json, shown

NAMES = {b"hostile_inner_namely": b"in;ner <&'\"\n\t\\x41  \xff",
         b"hostile_outer_namely": b"ou\"ter`;`;; \xc3(\x1b[31m ",
         b"hostile_wait_at_last": b"wait;;%s%n{}\r\x9b2J\xe2\x80\xae)"}
# Of the perf map, and of the threads.
MADE = (b"ca;ll \"it\" <&'\\\xfe> (int)",
        b"le\raf;\x1b[7m </script> \xe2\x80\xae` 17")
THREADS = (b"a;b c", b"q\"u'o`te\\", b"<b>&amp;</b>", b"new\nline\t\r",
           b"bad\xff\xc3(", b"\xe2\x80\xaegnp.x", b" 12 ")


def copy(path, other):
    with open(path, "rb") as file:
        data = file.read()
    for name, told in NAMES.items():
        if len(name) != len(told) or name not in data:
            sys.exit(f"{name}: {len(name)}, {len(told)}, "
                     f"{data.count(name)} times")
        data = data.replace(name, told)
    with open(other, "wb") as file:
        file.write(data)


def check(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    found = set()
    for (thread, name, _), weight in of_json(document, "wall").items():
        expect(weight > 0, f"{name} has no time")
        found |= {thread.rpartition(" ")[0], name}
    for name in [*NAMES.values(), *MADE, *THREADS]:
        expect(shown(name) in found, f"{shown(name)} is lost")
    expect(any(shown(b"<&'\\\n\xff x") in name for name in found),
           "its file is lost")


def main():
    if sys.argv[1] == "--check":
        check(sys.argv[2])
    else:
        copy(sys.argv[1], sys.argv[2])


main()
