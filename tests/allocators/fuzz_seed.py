#!/usr/bin/env python3
"""fuzz_seed PID [PATTERN...] > fuzz/corpus/allocators/NAME

A seed for fuzz_allocators of a live process that runs on 4 KiB pages: its
mappings (first 64), the resident pages of writable ones that hold something
(of files whose name matches a pattern, and of nameless memory and the heap),
zeros at the end left out, 128 at most; and the program's file if it is small.
"""
import os
import re
import struct
import sys

PAGE = 4096


def main():
    pid, patterns = sys.argv[1], sys.argv[2:]
    out = b""
    pages = 0
    files = {}
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, \
            open(f"/proc/{pid}/mem", "rb") as memory, \
            open(f"/proc/{pid}/pagemap", "rb") as pagemap:
        for line in list(maps)[:64]:
            found = re.match(r"(\w+)-(\w+) (....) (\w+) (\S+) (\d+) *(.*)",
                             line)
            start, end = int(found[1], 16), int(found[2], 16)
            if start >= 1 << 47 or end - start > 1024 * PAGE:
                continue
            bits = sum(1 << i for i, c in enumerate("rwx")
                       if found[3][i] == c) | (8 if found[3][3] == "s" else 0)
            inode = 0
            if found[6] != "0":
                inode = files.setdefault(found[7], len(files) % 4 + 1)
            name = found[7].encode()[:80]
            out += struct.pack("<BQHBBB", 0, start, (end - start) // PAGE - 1,
                               bits, inode, int(found[4], 16) // PAGE & 255)
            out += bytes([len(name)]) + name
            if "w" not in found[3] or (inode and patterns and not any(
                    pattern in found[7] for pattern in patterns)):
                continue
            for at in range(start, end, PAGE):
                pagemap.seek(at // PAGE * 8)
                entry = pagemap.read(8)
                if len(entry) < 8 or not entry[7] >> 7 or pages == 128:
                    continue
                memory.seek(at)
                content = memory.read(PAGE).rstrip(b"\0")
                if not content:
                    continue
                if not inode and "[" not in found[7]:
                    content = content[:512]
                pages += 1
                out += struct.pack("<BQBH", 1, at, 0, len(content)) + content
    for path, inode in files.items():
        if os.path.exists(path) and os.path.getsize(path) < 40000:
            with open(path, "rb") as file:
                content = file.read()
            out += struct.pack("<BB", 3, inode) + \
                struct.pack("<I", len(content))[:3] + content
    sys.stdout.buffer.write(out)


main()
