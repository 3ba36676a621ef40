"""programs.py FOLDER: files that look like programs to whoever reads their
headers, each with one thing for which nothing can be preloaded."""
import os
import struct
import sys

LOADER = os.readlink("/proc/self/exe")


def own_loader():
    """The path in the segment INTERPRETER of the program that runs this."""
    with open(LOADER, "rb") as file:
        data = file.read()
    at, size = struct.unpack_from("<Q", data, 32)[0], 56
    for i in range(struct.unpack_from("<H", data, 56)[0]):
        kind, _, offset, _, _, length = struct.unpack_from(
            "<IIQQQQ", data, at + i * size)
        if kind == 3:
            return data[offset:offset + length]
    return b"/lib64/ld-linux-x86-64.so.2\0"


def program(machine=62 if os.uname().machine == "x86_64" else 183,
            needed=b"libc.so.6\0", section=b".text\0"):
    loader = own_loader()
    # Everything lies behind the headers, in one segment from address 0 on.
    strings = b"\0" + needed
    names = b"\0" + section
    base = 64 + 3 * 56
    at_loader = base
    at_strings = at_loader + len(loader)
    at_dynamic = (at_strings + len(strings) + 15) & ~15
    dynamic = struct.pack("<QQQQQQ", 1, 1, 5, at_strings, 0, 0)
    at_names = at_dynamic + len(dynamic)
    at_sections = (at_names + len(names) + 15) & ~15
    end = at_sections + 3 * 64
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\177ELF\2\1\1", 3, machine, 1,
                         base, 64, at_sections, 0, 64, 56, 3, 64, 3, 2)

    def segment(kind, at, size):
        return struct.pack("<IIQQQQQQ", kind, 5, at, at, at, size, size, 16)

    body = header + segment(1, 0, end) + segment(3, at_loader, len(loader)) \
        + segment(2, at_dynamic, len(dynamic))
    body += loader + strings
    body = body.ljust(at_dynamic, b"\0") + dynamic + names
    body = body.ljust(at_sections, b"\0") + bytes(64)
    body += struct.pack("<IIQQQQIIQQ", 1, 1, 6, base, base, 16, 0, 0, 1, 0)
    body += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at_names, len(names), 0, 0,
                        1, 0)
    return body


FILES = {
    "sanitized": program(needed=b"libasan.so.8\0"),
    "other-machine": program(machine=243),
    "go": program(section=b".go.buildinfo\0"),
    "plain": program(),
    "cut": program()[:70],
}
for name, data in FILES.items():
    path = os.path.join(sys.argv[1], name)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755)
