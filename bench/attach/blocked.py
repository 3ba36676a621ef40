"""blocked.py - stacks of blocked threads, read without a stop, against what
gdb sees in the same threads once it has stopped them.

A native stack is one all of whose frames, as gdb has them, lie in files; of
code that was compiled at run time gdb knows as little as anybody. gdb may be
wrong, too: a difference is printed with both answers.
"""
import os
import subprocess
import sys

import targets

HERE = os.path.dirname(os.path.abspath(__file__))


def executable_ranges(pid):
    """(start, end, path) of what may be executed."""
    found = []
    with open(f"/proc/{pid}/maps") as file:
        for line in file:
            words = line.split(None, 5)
            if "x" in words[1]:
                start, end = (int(part, 16) for part in words[0].split("-"))
                found.append((start, end, words[5].strip()
                              if len(words) > 5 else ""))
    return found


def place(ranges, address):
    for start, end, path in ranges:
        if start <= address < end:
            return path or "[anon]"
    return "?"


def ours(tool, pid):
    """{tid: [(end, call, addresses)...]} of all blocked stacks of each, since
    one that wakes has several, and what the run said."""
    run = subprocess.run([tool, str(pid), "50", "0.5"], capture_output=True,
                         text=True, timeout=60)
    stacks, said = {}, {}
    for line in run.stdout.splitlines():
        words = line.split()
        if words[0] == "stack" and words[2] == "blocked":
            addresses = [int(word, 16) for word in words[6:]]
            if words[4] != "0":
                stacks.setdefault(words[1], []).append(
                    (words[3], words[5], addresses))
        elif words[0] == "metric":
            said[words[1]] = int(words[2])
        elif words[0] == "error":
            said["error"] = line[6:]
    return stacks, said


def gdbs(pid):
    run = subprocess.run(
        ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off",
         "-iex", "set auto-load off", "-p", str(pid), "-x",
         os.path.join(HERE, "gdb_stacks.py")],
        capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    stacks = {}
    for line in run.stdout.splitlines():
        words = line.split()
        if words and words[0] == "thread":
            stacks[words[1]] = (words[2], [int(word, 16)
                                           for word in words[3:]])
    return stacks


def same(mine, theirs):
    """Callers' addresses are inside their calls, or exact below a signal."""
    return len(mine) == len(theirs) and mine[0] == theirs[0] and all(
        m in (t - 1, t) for m, t in zip(mine[1:], theirs[1:]))


class Tally:
    def __init__(self):
        self.programs = set()
        self.native = self.equal = self.explained = self.wrong = 0
        self.other = self.unseen = self.other_prefix = 0
        self.ends = {}
        self.signals = self.stops = 0


def tell(name, tid, ranges, mine, theirs):
    print(f"    {name}, thread {tid}: ours ends with {mine[0]} in {mine[1]}, "
          f"gdb with {theirs[0]}")
    for i in range(max(len(mine[2]), len(theirs[1]))):
        m = mine[2][i] if i < len(mine[2]) else None
        t = theirs[1][i] if i < len(theirs[1]) else None
        if m is not None and t is not None and m in (t, t - 1):
            continue
        print("      %2d  ours %s  gdb %s" % (
            i, "-" if m is None else f"{m:x} {place(ranges, m)}",
            "-" if t is None else f"{t:x} {place(ranges, t)}"))


def judge(tally, name, tid, ranges, seen, theirs):
    """One thread. What gdb calls native and complete must be equal; where it
    is not, our own answer must not claim to be whole. gdb comes later: of
    several stacks it is held against the one that is like its own."""
    places = [place(ranges, pc) for pc in theirs[1]]
    is_native = all(p.startswith("/") or p == "[vdso]" for p in places)
    if not seen:
        tally.unseen += 1
        return "unseen"
    mine = seen[-1]
    for one in seen:
        if same(one[2], theirs[1]):
            mine = one
    tally.ends[mine[0]] = tally.ends.get(mine[0], 0) + 1
    if not is_native:
        tally.other += 1
        return "jit"
    tally.native += 1
    if same(mine[2], theirs[1]) and mine[0] == "root":
        tally.equal += 1
        return "equal"
    tell(name, tid, ranges, mine, theirs)
    prefix = mine[2][:len(theirs[1])]
    if mine[0] != "root" and same(prefix, theirs[1][:len(prefix)]):
        tally.explained += 1
        return mine[0]
    tally.wrong += 1
    return "WRONG"


def look(tally, tool, target):
    words = {}
    for pid in target.pids():
        stacks, said = ours(tool, pid)
        if "error" in said:
            print(f"    {target.name}, {pid}: {said['error']}")
        ranges = executable_ranges(pid)
        for tid, theirs in gdbs(pid).items():
            word = judge(tally, target.name, tid, ranges, stacks.get(tid),
                         theirs)
            words[word] = words.get(word, 0) + 1
        tally.signals += said.get("signals_sent", 0)
        tally.stops += said.get("stops", 0)
    tally.programs.add(target.name)
    told = ", ".join(f"{count} {word}" for word, count in words.items())
    print(f"  {target.name:22} {told}", flush=True)


def run(row, tool, is_quick):
    tally = Tally()
    screen = None
    chosen = list(targets.rows({}))
    if is_quick:
        chosen = [r for r in chosen if r[0] in ("sleep", "dash", "perl",
                                                "python3, 6 threads", "vim",
                                                "redis-server")]
    for name, argv, how in chosen:
        if not targets.is_there(argv):
            print(f"  {name:22} is not installed")
            continue
        try:
            target = targets.start(name, argv, how)
        except RuntimeError as error:
            print(f"  {error}")
            continue
        if target.process.poll() is not None:
            print(f"  {name:22} ended at once with "
                  f"{target.process.returncode}")
            target.end()
            continue
        try:
            look(tally, tool, target)
        finally:
            if name == "Xvfb":
                screen = target
            else:
                target.end()
    if screen is not None:
        screen.end()
    native = max(tally.native, 1)
    row("programs compared with gdb", ">= 20", len(tally.programs),
        is_quick or len(tally.programs) >= 20)
    row("native stacks complete and equal", ">= 95 %",
        f"{tally.equal} of {tally.native} "
        f"({100 * tally.equal / native:.1f} %)",
        tally.equal >= 0.95 * native and tally.native > 0)
    row("the rest, with the right reason", "all",
        f"{tally.explained} of {tally.native - tally.equal}",
        tally.wrong == 0)
    row("signals sent, stops", "0, 0", f"{tally.signals}, {tally.stops}",
        tally.signals == 0 and tally.stops == 0)
    print(f"  beside: {tally.other} with compiled code, {tally.unseen} not "
          f"seen blocked; ends {tally.ends}")


if __name__ == "__main__":
    run(lambda *words: print(*words), sys.argv[1], False)
