#!/usr/bin/env python3
"""measure.py FOLDER: seconds until all frames of many addresses are known.

A large C++ program is generated and compiled (once; FOLDER keeps it): units
of many containers' instances, each linked several times under other names.
libc's debug file is taken where it is installed. Each reader gets the same
random addresses of .text, in random order, and prints all inlined frames; the
readers are run in turn, and the medians of the rounds are printed: wall time,
CPU time, and wall time as a multiple of ours. BENCH_QUICK=1 takes a small
program. Targets: at most a fifth of eu-addr2line's time for 1,000 addresses
of the large file, and no more than llvm-symbolizer's; for 50,000 no more than
any of them, where a turn apart is noise (5 %).
"""
import glob
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import time

FOLDER = sys.argv[1]
QUICK = bool(os.environ.get("BENCH_QUICK"))
UNITS, KINDS, COPIES = (2, 6, 1) if QUICK else (3, 20, 8)
LIMIT = 150  # seconds for one run of a reader

HEAD = """#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>
"""
KIND = """
namespace u{u} {{
struct kind{k} {{ int a; std::string name; double weight;
	bool operator<(const kind{k} &o) const {{ return weight < o.weight || a < o.a; }} }};
template <int N> struct step{k} {{ static inline int go(int x) {{ return step{k}<N - 1>::go(x * {k} + N) ^ x; }} }};
template <> struct step{k}<0> {{ static inline int go(int x) {{ return x + {u}; }} }};
__attribute__((noinline)) int work{k}(int n)
{{
	std::vector<kind{k}> all;
	std::map<std::string, std::shared_ptr<kind{k}>> by_name;
	std::unordered_map<int, kind{k}> by_number;
	for (int i = 0; i < n; i++)
		all.push_back(kind{k}{{step{k}<8>::go(i), std::to_string(i), i * 0.5}});
	std::sort(all.begin(), all.end());
	std::stable_sort(all.begin(), all.end(), [](const kind{k} &x, const kind{k} &y) {{ return x.name < y.name; }});
	for (auto &k : all) {{ by_name[k.name] = std::make_shared<kind{k}>(k); by_number[k.a] = k; }}
	std::function<int(int)> f = [&](int x) {{ return by_number[x].a + (int)by_name.size(); }};
	return std::accumulate(all.begin(), all.end(), 0, [&](int s, const kind{k} &k) {{ return s + f(k.a); }});
}}
}}
"""


def copies(objects):
    """COPIES - 1 more of each object, whose symbols have other names."""
    more = []
    for file in objects:
        text = subprocess.run(["nm", "--defined-only", "-P", file],
                              capture_output=True, text=True,
                              check=True).stdout
        symbols = sorted({line.split()[0] for line in text.splitlines()})
        for number in range(1, COPIES):
            more.append(f"{file}.{number}.o")
            table = f"{file}.{number}.names"
            with open(table, "w", encoding="ascii") as names:
                for symbol in symbols:
                    names.write(f"{symbol} copy{number}_{symbol}\n")
            subprocess.run(["objcopy", f"--redefine-syms={table}", file,
                            more[-1]], check=True)
            os.unlink(table)
    return more


def make_program():
    """A program of UNITS units, each with KINDS instances of containers, and
    COPIES of each."""
    name = os.path.join(FOLDER, f"lines-{UNITS}-{KINDS}-{COPIES}")
    if os.path.exists(name):
        return name
    objects, running = [], []
    for u in range(UNITS):
        source = f"{name}.{u}.cc"
        with open(source, "w", encoding="ascii") as file:
            file.write(HEAD)
            for k in range(KINDS):
                file.write(KIND.format(u=u, k=k))
            file.write(f"int all{u}(int n) {{ return " + " + ".join(
                f"u{u}::work{k}(n)" for k in range(KINDS)) + "; }\n")
        objects.append(f"{name}.{u}.o")
        running.append(subprocess.Popen(
            ["g++", "-O2", "-g", "-c", "-o", objects[-1], source]))
        while sum(p.poll() is None for p in running) >= (os.cpu_count() or 1):
            time.sleep(0.1)
    if any(p.wait() for p in running):
        sys.exit("the program does not compile")
    objects += copies(objects)
    main = f"{name}.main.cc"
    with open(main, "w", encoding="ascii") as file:
        for u in range(UNITS):
            file.write(f"int all{u}(int);\n")
        file.write("int main(int c, char **) { return " + " + ".join(
            f"all{u}(c)" for u in range(UNITS)) + "; }\n")
    subprocess.run(["g++", "-O2", "-g", "-o", name, main, *objects],
                   check=True)
    for file in objects:
        os.unlink(file)
    return name


def addresses_of(file, count):
    text = subprocess.run(["readelf", "-SW", file], capture_output=True,
                          text=True, check=True).stdout
    found = re.search(r" \.text +\w+ +(\w+) +\w+ +(\w+)", text)
    low, size = int(found[1], 16), int(found[2], 16)
    rand = random.Random(5)
    return "".join(f"{low + rand.randrange(size):#x}\n"
                   for _ in range(count))


READERS = [
    ("plimsoll", [os.path.join(FOLDER, "lines-frames")]),
    ("llvm-symbolizer", ["llvm-symbolizer", "--no-demangle", "-f", "-i",
                         "-e"]),
    ("addr2line", ["addr2line", "-f", "-i", "-e"]),
    ("eu-addr2line", ["eu-addr2line", "-f", "-i", "-e"]),
]


MANY = {"eu-addr2line": 5, "llvm-symbolizer": 0.95, "addr2line": 0.95}


def run(command, text):
    """(wall s, CPU s) of one run; None where it took too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    with subprocess.Popen(["/usr/bin/env", *command], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, text=True) as process:
        try:
            process.communicate(text, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (wall, after.ru_utime + after.ru_stime - before.ru_utime -
            before.ru_stime)


def measure(file, what, count, rounds, least=None):
    text = addresses_of(file, count)
    taken = {name: [] for name, _ in READERS}
    late = set()
    for _ in range(rounds):
        for name, command in READERS:
            if name in late:
                continue
            took = run([*command, file], text)
            if took is None:
                late.add(name)
            else:
                taken[name].append(took)
    ours = statistics.median(t[0] for t in taken["plimsoll"])
    print(f"{what}, {count:,} addresses, median of {rounds}:")
    missed = 0
    for name, _ in READERS:
        if name in late:
            print(f"  {name:16} more than {LIMIT} s")
            continue
        wall = statistics.median(t[0] for t in taken[name])
        cpu = statistics.median(t[1] for t in taken[name])
        print(f"  {name:16} {wall:8.3f} s   {cpu:8.3f} s CPU   "
              f"{wall / ours:7.2f} x")
        wanted = (least or {}).get(name, 0)
        if wall < ours * wanted:
            missed += 1
            print(f"  MISSED: {name} should take {wanted} x")
    return missed


def main():
    missed = 0
    program = make_program()
    size = os.path.getsize(program) >> 20
    what = f"C++, {size} MB"
    rounds = 3
    missed += measure(program, what, 1, 7)
    missed += measure(program, what, 1000, rounds,
                      {"eu-addr2line": 5, "llvm-symbolizer": 1})
    missed += measure(program, what, 50000, rounds, MANY)
    lib = (glob.glob("/lib/*-linux-gnu/libc.so.6") or [""])[0]
    note = subprocess.run(["readelf", "-n", lib], capture_output=True,
                          text=True, check=False).stdout
    found = re.search(r"Build ID: (\w\w)(\w+)", note)
    file = found and f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug"
    if file and os.path.exists(file):
        what = "libc's debug file, 4 MB compressed"
        missed += measure(file, what, 1, 7)
        missed += measure(file, what, 1000, rounds)
        missed += measure(file, what, 50000, rounds, MANY)
    print(f"{missed} targets missed")
    return 1 if missed else 0


sys.exit(main())
