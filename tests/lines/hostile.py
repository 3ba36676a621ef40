#!/usr/bin/env python3
"""hostile.py FRAMES SOURCE: files made to attack a reader of DWARF.

FRAMES is the program frames.c, SOURCE is deep.cc. Each file is asked for
addresses; it must answer every one of them, with frames or with a word, end
with status 0 and leave no process, within a time that has nothing to do with
what the file says of its sizes. Prints TAP.
"""
import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
import zlib

FRAMES, SOURCE = map(os.path.abspath, sys.argv[1:3])
WORDS = {"unknown_name", "malformed", "over_limit"}


def out_of(command, text=""):
    return subprocess.run(command, input=text, capture_output=True, text=True,
                          check=True, errors="replace", timeout=120).stdout


def sections_of(image):
    """{name: (index, offset, size)} of an ELF file's bytes."""
    table, = struct.unpack_from("<Q", image, 40)
    count, names = struct.unpack_from("<HH", image, 60)
    heads = [struct.unpack_from("<IIQQQQIIQQ", image, table + 64 * i)
             for i in range(count)]
    text = heads[names][4]
    return {image[text + h[0]:image.index(b"\0", text + h[0])].decode():
            (i, h[4], h[5]) for i, h in enumerate(heads)}


def addresses_of(image, count):
    _, offset, size = sections_of(image)[".text"]
    rand = random.Random(3)
    return [offset + rand.randrange(size) for _ in range(count)]


def ask(path, addresses):
    """The answers; every address must have one."""
    text = out_of([FRAMES, path], "".join(f"{a:#x}\n" for a in addresses))
    parts = re.split(r"(?m)^(0x[0-9a-f]+)\n", text)[1:]
    assert [int(a, 16) for a in parts[::2]] == addresses, text[:500]
    for answer in parts[1::2]:
        found = re.fullmatch(r"\?\? (\w+)\n", answer)
        assert answer.count("\n") >= 2 or found and found[1] in WORDS, answer
    return parts[1::2]


def write(folder, image):
    path = os.path.join(folder, "hostile")
    with open(path, "wb") as file:
        file.write(image)
    return path


def mutated(folder, image):
    """Bytes of the sections that are read, changed at random."""
    rand = random.Random(11)
    places = [(o, s) for n, (_, o, s) in sections_of(image).items()
              if n.startswith(".debug_")]
    addresses = addresses_of(image, 40)
    right = ask(write(folder, image), addresses)
    differ = 0
    for _ in range(60):
        broken = bytearray(image)
        for _ in range(rand.choice((1, 3, 30, 1000))):
            offset, size = rand.choice(places)
            at = offset + rand.randrange(min(size, rand.choice((64, 1 << 30))))
            broken[at] = rand.choice((0, 255, 128, rand.randrange(256)))
        differ += ask(write(folder, broken), addresses) != right
    assert differ > 10
    return f"{differ} of 60 files gave other answers"


def headers(folder, image):
    """The same with the table of sections, and with cut files."""
    rand = random.Random(12)
    table, = struct.unpack_from("<Q", image, 40)
    addresses = addresses_of(image, 10)
    for _ in range(60):
        broken = bytearray(image)
        for _ in range(rand.choice((1, 5))):
            at = rand.randrange(table, len(image))
            broken[at] = rand.choice((0, 255, rand.randrange(256)))
        ask(write(folder, broken), addresses)
    for _ in range(40):
        ask(write(folder, image[:rand.randrange(64, len(image))]), addresses)
    return "100 files"


def section_replaced(image, name, data, flags):
    """The image with other bytes in a section, at its end."""
    index, _, _ = sections_of(image)[name]
    table, = struct.unpack_from("<Q", image, 40)
    made = bytearray(image)
    place = table + 64 * index
    struct.pack_into("<Q", made, place + 8, flags)
    struct.pack_into("<QQ", made, place + 24, len(made), len(data))
    return bytes(made) + data


def bomb(folder, image):
    """Three MB that say they are three GB: more than the reader may have."""
    size = 3 << 30
    data = zlib.compress(bytes(1 << 26), 1).ljust(size // 1000)
    data = struct.pack("<IIQQ", 1, 0, size, 1) + data
    path = write(folder, section_replaced(image, ".debug_str", data, 0x800))
    before = time.monotonic()
    answers = ask(path, addresses_of(image, 5))
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert used < 2 << 20, f"{used} KiB"
    return f"{time.monotonic() - before:.1f} s, {answers[0].split()[-1]}"


def cycle(folder, image):
    """Abstract origins that lead in a circle: each DIE's to itself."""
    _, offset, size = sections_of(image)[".debug_info"]
    broken = bytearray(image)
    rand = random.Random(13)
    # Four bytes that hold a place of this section are most often a reference.
    for at in range(offset + 12, offset + size - 4):
        value, = struct.unpack_from("<I", image, at)
        if 11 < value < size and rand.random() < 0.3:
            struct.pack_into("<I", broken, at, at - offset - 1)
    ask(write(folder, broken), addresses_of(image, 40))
    return ""


def deep(folder, image):
    """A tree of DIEs as deep as the section is long."""
    _, offset, size = sections_of(image)[".debug_info"]
    broken = bytearray(image)
    broken[offset + 64:offset + size] = bytes([broken[offset + 12]]) * \
        (size - 64)
    ask(write(folder, broken), addresses_of(image, 40))
    return ""


def others(folder, image):
    """What is no ELF file at all."""
    del image
    for data in (b"", b"\x7fELF", bytes(4096), b"!<arch>\n" * 100,
                 random.Random(1).randbytes(100000)):
        answers = ask(write(folder, data), [0, 4096, 2 ** 64 - 1])
        assert all(answer.startswith("?? ") for answer in answers), data[:9]
    return ""


def main():
    tests = [mutated, headers, bomb, cycle, deep, others]
    bad = 0
    print(f"1..{len(tests)}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "whole")
        out_of(["g++", "-O2", "-g", "-o", path, SOURCE])
        with open(path, "rb") as file:
            image = file.read()
        for number, test in enumerate(tests, 1):
            try:
                told = test(folder, image)
                print(f"ok {number} - {test.__name__}"
                      + (f": {told}" if told else ""))
            except (AssertionError, subprocess.SubprocessError) as problem:
                bad += 1
                print(f"not ok {number} - {test.__name__}")
                for line in str(problem).splitlines():
                    print(f"# {line[:800]}")
            sys.stdout.flush()
    return 1 if bad else 0


sys.exit(main())
