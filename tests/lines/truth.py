#!/usr/bin/env python3
"""truth.py FRAMES SOURCE NAMES: are all frames what other readers of DWARF say?

FRAMES is the program frames.c, SOURCE is deep.cc, NAMES the program
../symbols/names.c, which asks plim_code_name() about a process: there symbols
name the physical function. SOURCE is compiled by gcc and by
clang, with DWARF 4 and 5, compressed, and with what dwz takes out in a file of
its own; libc's debug file is asked too where it is installed. Addresses are
every one of .text, or some thousands at random. Every frame's name, file and
line must be llvm-symbolizer's, with these exceptions, each of which is
asserted to be just that:

- llvm-symbolizer takes the physical function's name from the symbol table,
  addr2line that of any frame without a linkage name: "work" is "work.cold"
  there, or an alias. Names from symbols are another part of this library.
- Where there is no DWARF they answer from the symbol table; then we say that
  there is nothing.
- A folder that is relative and that the line table has as its folder 0 is put
  before a path twice by them; libc's debug file has such.
- addr2line 2.40 gives the wrong file to lines of a header in code without
  optimisation, and does not read ranges as clang writes them in DWARF 5: it is
  not asked there.
Prints TAP.
"""
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

FRAMES, SOURCE, NAMES = map(os.path.abspath, sys.argv[1:4])
# Where a program waits to be looked at.
WAITS = """#include <unistd.h>
int main() { if (write(1, "x", 1) != 1) return 1; for (;;) pause(); }
"""
COUNT = 4000


class Skip(Exception):
    """The reason why something cannot be tried here."""


def need(tool):
    if shutil.which(tool) is None:
        raise Skip(f"{tool} is not installed")
    return tool


def out_of(command, text=""):
    return subprocess.run(command, input=text, capture_output=True, text=True,
                          check=True, timeout=300).stdout


def parsed(text):
    """{address: [(name, file, line)]} of what the tools print."""
    found = {}
    frames = []
    lines = [line for line in text.splitlines() if line]
    at = 0
    while at < len(lines):
        if lines[at].startswith("0x"):
            frames = found[int(lines[at], 16)] = []
            at += 1
            continue
        if lines[at].startswith("?? "):
            at += 1
            continue
        place = re.sub(r" \(discriminator \d+\)$", "", lines[at + 1])
        path, _, line = place.rpartition(":")
        path = "" if path in ("", "??") else os.path.normpath(path)
        frames.append((lines[at], path, int(line) if line.isdigit() else 0))
        at += 2
    return found


def addresses_of(file):
    """Addresses of .text: all, or COUNT."""
    text = out_of(["readelf", "-SW", file])
    found = re.search(r" \.text +\w+ +(\w+) +\w+ +(\w+)", text)
    low, size = int(found[1], 16), int(found[2], 16)
    if size <= COUNT:
        return list(range(low, low + size))
    return sorted(random.Random(6).sample(range(low, low + size), COUNT))


def ask(command, addresses):
    return parsed(out_of(command, "".join(f"{a:#x}\n" for a in addresses)))


def symbols_of(file):
    """{name: [(first address, one behind the last)]} of all symbols."""
    spans = {}
    for line in out_of(["readelf", "-sW", file]).splitlines():
        parts = line.split()
        if len(parts) == 8 and parts[0].rstrip(":").isdigit():
            low, size = int(parts[1], 16), int(parts[2], 0)
            spans.setdefault(parts[7].split("@")[0], []).append(
                (low, low + size))
    return spans


def is_symbol(symbols, name, address, plain):
    """Is it the symbol table's name for this place, or for the function whose
    name in the source is `plain`, or of what precedes a place that is in no
    function (the filling between two)?"""
    spans = symbols.get(name.split("@")[0], [])
    word = re.sub(r"<.*", "", plain)
    return any(low <= address < high for low, high in spans) or \
        bool(spans) and plain == "??" or \
        bool(spans) and {"operator()": "cl"}.get(word, word) in name


def differences(ours, theirs, symbols, by_symbol, twice):
    """The frames of both where they are not the same. `by_symbol` are those
    whose name they take from the symbol table, where that has one."""
    for address in ours:
        mine, other = list(ours[address]), list(theirs.get(address, []))
        if not mine and all(line == 0 for _, _, line in other):
            continue
        if twice:
            other = [(n, re.sub(r"^([^/]+)/(?=\1/)", "", p), l)
                     for n, p, l in other]
            mine = [(n, re.sub(r"^([^/]+)/(?=\1/)", "", p), l)
                    for n, p, l in mine]
        for at in range(len(mine))[by_symbol]:
            name = mine[at][0]
            if at < len(other) and \
                    is_symbol(symbols, other[at][0], address, name):
                other[at] = (name,) + other[at][1:]
        if mine != other:
            yield address, mine, other


def compile_with(folder, compiler, *flags):
    made = os.path.join(folder, re.sub(r"\W", "", compiler + "".join(flags)))
    if not os.path.exists(made):
        out_of([need(compiler), "-O2", "-g", *flags, "-o", made, SOURCE])
    return made


def expect_same(file, more=(), twice=False, binutils=True, depth=8):
    addresses = addresses_of(file)
    ours = ask([FRAMES, file, *more], addresses)
    known = sum(1 for frames in ours.values() if frames)
    deepest = max(len(frames) for frames in ours.values())
    assert len(ours) == len(addresses)
    assert known > len(addresses) * 0.9, (known, len(addresses))
    assert deepest >= depth, deepest
    symbols = symbols_of(file)
    peers = 0
    if not more and shutil.which("llvm-symbolizer"):
        theirs = ask(["llvm-symbolizer", "--no-demangle", "-a", "-f", "-i",
                      "--output-style=GNU", "-e", file], addresses)
        bad = list(differences(ours, theirs, symbols, slice(-1, None), twice))
        assert not bad, (len(bad), bad[:2])
        peers += 1
    if binutils:
        theirs = ask([need("addr2line"), "-a", "-f", "-i", "-e", file],
                     addresses)
        bad = list(differences(ours, theirs, symbols, slice(None), twice))
        assert not bad, (len(bad), bad[:2])
        peers += 1
    if peers == 0:
        raise Skip("llvm-symbolizer is not installed")
    return f"{len(addresses)} addresses, {known} with frames, " \
           f"at most {deepest}"


def with_gcc_5(folder):
    return expect_same(compile_with(folder, "g++", "-gdwarf-5"))


def with_gcc_4(folder):
    return expect_same(compile_with(folder, "g++", "-gdwarf-4"))


def with_gcc_types(folder):
    return expect_same(compile_with(folder, "g++", "-gdwarf-4",
                                    "-fdebug-types-section"))


def with_gcc_compressed(folder):
    return expect_same(compile_with(folder, "g++", "-gz"))


def with_gcc_o0(folder):
    return expect_same(compile_with(folder, "g++", "-O0"), binutils=False,
                       depth=2)


def with_clang_5(folder):
    return expect_same(compile_with(folder, "clang++", "-gdwarf-5"),
                       binutils=False)


def with_clang_4(folder):
    return expect_same(compile_with(folder, "clang++", "-gdwarf-4"))


def with_clang_compressed(folder):
    return expect_same(compile_with(folder, "clang++", "-gdwarf-4", "-gz"))


def stripped(folder):
    """A debug file of its own, as distributions make them."""
    whole = compile_with(folder, "g++", "-gdwarf-5")
    file = os.path.join(folder, "alone.debug")
    out_of(["objcopy", "--only-keep-debug", "--compress-debug-sections",
            whole, file])
    addresses = addresses_of(whole)
    assert ask([FRAMES, file], addresses) == ask([FRAMES, whole], addresses)
    return f"{len(addresses)} addresses"


def dwz(folder):
    """What two files have in common is in a third one."""
    need("dwz")
    whole = compile_with(folder, "g++", "-gdwarf-4")
    files = [os.path.join(folder, name) for name in ("one", "two")]
    common = os.path.join(folder, "common")
    for file in files:
        shutil.copy(whole, file)
    out_of(["dwz", "-m", common, "-M", common, *files])
    addresses = addresses_of(whole)
    ours = ask([FRAMES, files[0], common], addresses)
    assert ours == ask([FRAMES, whole], addresses)
    # Without it there are lines, and no false names.
    alone = ask([FRAMES, files[0]], addresses)
    for address, frames in alone.items():
        for mine, right in zip(frames, ours[address]):
            assert mine[0] in (right[0], "??"), (mine, right)
    return f"{len(addresses)} addresses"


def split(folder):
    """DWARF in .dwo files is not read: lines, but no functions."""
    file = os.path.join(folder, "split")
    subprocess.run([need("g++"), "-O2", "-g", "-gsplit-dwarf", "-o", file,
                    SOURCE], check=True, cwd=folder)
    addresses = addresses_of(file)
    ours = ask([FRAMES, file], addresses)
    lines = {a: f[0][1:] for a, f in
             ask([FRAMES, compile_with(folder, "g++")], addresses).items()
             if f}
    known = 0
    for address, frames in ours.items():
        if frames:
            assert len(frames) == 1 and frames[0][0] == "??"
            assert frames[0][1:] == lines.get(address), address
            known += 1
    assert known > len(addresses) * 0.9
    return f"{known} addresses"


def libc(folder):
    """The debug file of Debian's libc: by its build id."""
    del folder
    lib = (glob.glob("/lib/*-linux-gnu/libc.so.6") or [""])[0]
    note = out_of(["readelf", "-n", lib]) if lib else ""
    found = re.search(r"Build ID: (\w\w)(\w+)", note)
    file = found and f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug"
    if not file or not os.path.exists(file):
        raise Skip("libc6-dbg is not installed")
    need("llvm-symbolizer")
    return expect_same(file, twice=True, binutils=False, depth=4)


def waiting(folder, *flags):
    """A program that has the code of SOURCE and waits."""
    made = os.path.join(folder, "waiting" + "".join(flags))
    if not os.path.exists(made):
        waits = os.path.join(folder, "waits.cc")
        with open(waits, "w", encoding="ascii") as file:
            file.write(WAITS)
        part = os.path.join(folder, "deep.o")
        out_of([need("g++"), "-O2", "-g", *flags, "-Dmain=deep_main", "-c",
                "-o", part, SOURCE])
        out_of(["g++", "-O2", "-g", *flags, "-Wl,--build-id", "-o", made,
                waits, part])
    return made


def is_named(symbols, name, address):
    """Is it a symbol's name that covers the address?"""
    return any(low <= address < high
               for low, high in symbols.get(name.split("@")[0], []))


def expect_names(ours, file, addresses):
    """Names of a process, held against addr2line's of its file: the same
    frames, files and lines, the same names of what is inlined; and the
    physical function's name is a symbol's that covers it."""
    theirs = ask([need("addr2line"), "-a", "-f", "-i", "-e", file], addresses)
    symbols = symbols_of(file)
    inlined = lines = named = 0
    for address in addresses:
        mine, other = ours[address], theirs[address]
        assert len(mine) == len(other), (hex(address), mine, other)
        inlined += len(mine) > 1
        lines += mine[0][2] > 0
        named += mine[-1][0] != "??"
        for at, (name, path, line) in enumerate(mine):
            assert line == other[at][2], (hex(address), mine, other)
            assert line == 0 or path == other[at][1], (hex(address), mine,
                                                       other)
            if at + 1 < len(mine):
                assert name == other[at][0] or is_symbol(
                    symbols, other[at][0], address, name), \
                    (hex(address), mine, other)
            elif name.endswith("@plt") or name == "??":
                assert not any(low <= address < high for spans in
                               symbols.values() for low, high in spans), \
                    (hex(address), mine, other)
            else:
                assert is_named(symbols, name, address) or \
                    name in symbols and other[at][0] == name, \
                    (hex(address), mine, other)
    return inlined, lines, named


def named(folder):
    """Of a process, with the lines of its own file."""
    file = waiting(folder)
    addresses = addresses_of(file)
    inlined, lines, found = expect_names(ask([NAMES, file], addresses), file,
                                         addresses)
    assert inlined > len(addresses) * 0.3, inlined
    assert lines > len(addresses) * 0.9, lines
    assert found > len(addresses) * 0.9, found
    return f"{len(addresses)} addresses, {inlined} with inlined ones, " \
           f"{lines} with lines, {found} with a name"


def separated(whole, file, debug):
    """A stripped copy, and its debug file, to which it has a link."""
    os.makedirs(os.path.dirname(debug), exist_ok=True)
    out_of(["objcopy", "--only-keep-debug", whole, debug])
    out_of(["objcopy", "--strip-all", whole, file])
    out_of(["objcopy", f"--add-gnu-debuglink={debug}", file])


def named_separately(folder):
    """The same of a stripped program that has a debug file."""
    whole = waiting(folder)
    file = os.path.join(folder, "apart", "waiting")
    debug = os.path.join(folder, "apart", ".debug", "waiting.debug")
    separated(whole, file, debug)
    addresses = addresses_of(whole)
    right = ask([NAMES, whole], addresses)
    assert ask([NAMES, file], addresses) == right
    # Without it there are no lines, and no false names.
    os.unlink(debug)
    for address, frames in ask([NAMES, file], addresses).items():
        assert len(frames) == 1 and frames[0][1:] == ("", 0), frames
        assert frames[0][0] in ("??", right[address][-1][0]), frames
    return f"{len(addresses)} addresses"


def named_below_root(folder):
    """A program with a root of its own, and its debug file below that."""
    if os.geteuid() != 0:
        raise Skip("chroot takes root")
    whole = waiting(folder, "-static")
    root = os.path.join(folder, "root")
    file = os.path.join(root, "waiting")
    debug = os.path.join(root, ".debug", "waiting.debug")
    separated(whole, file, debug)
    addresses = addresses_of(whole)
    inlined, lines, _ = expect_names(ask([NAMES, "/waiting", root], addresses),
                                     whole, addresses)
    assert inlined > 0 and lines > 0, (inlined, lines)
    # The same path without that root leads to nothing that is its own.
    os.makedirs(root + root)
    os.rename(os.path.join(root, ".debug"), root + root + "/.debug")
    for frames in ask([NAMES, "/waiting", root], addresses).values():
        assert frames == [("??", "", 0)] or frames[0][0].endswith("@plt"), \
            frames
    return f"{len(addresses)} addresses, {lines} with lines"


def nothing(folder):
    """No DWARF, and an address of nowhere."""
    file = os.path.join(folder, "bare")
    out_of([need("g++"), "-O2", "-s", "-o", file, SOURCE])
    text = out_of([FRAMES, file], "0x1200\n")
    assert text == "0x1200\n?? unknown_name\n", text
    file = compile_with(folder, "g++")
    text = out_of([FRAMES, file], "0x0\n0xffffffffffffffff\n0x10\n")
    assert text.count("?? unknown_name") == 3, text
    return ""


def main():
    tests = [with_gcc_5, with_gcc_4, with_gcc_types, with_gcc_compressed,
             with_gcc_o0, with_clang_5, with_clang_4, with_clang_compressed,
             stripped, dwz, split, libc, named, named_separately,
             named_below_root, nothing]
    bad = 0
    print(f"1..{len(tests)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, test in enumerate(tests, 1):
            name = test.__name__.replace("_", " ")
            try:
                told = test(folder)
                print(f"ok {number} - {name}" + (f": {told}" if told else ""))
            except Skip as reason:
                print(f"SKIP_BECAUSE: {reason}")
                print(f"ok {number} - {name} # SKIP {reason}")
            except (AssertionError, subprocess.SubprocessError) as problem:
                bad += 1
                print(f"not ok {number} - {name}")
                for line in (str(problem) + str(getattr(
                        problem, "stderr", ""))).splitlines():
                    print(f"# {line[:1500]}")
            sys.stdout.flush()
    return 1 if bad else 0


sys.exit(main())
