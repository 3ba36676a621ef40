"""unwind.py OUT SOURCES - runs what unwind.sh has built, and holds it against
the targets. PLIM_ONLY=agree, speed or tables takes one part; names are in
./dev bench symbols."""
import os
import shutil
import subprocess
import sys

OUT, SOURCES = sys.argv[1:3]
QUICK = os.environ.get("BENCH_QUICK", "0") not in ("", "0")
ONLY = os.environ.get("PLIM_ONLY", "")
missed = 0


def row(what, target, measured, is_met=None):
    global missed
    word = "" if is_met is None else "met" if is_met else "MISSED"
    missed += is_met is False
    print(f"{what:52} {target:22} {measured:36} {word}", flush=True)


def run(argv, **options):
    return subprocess.run(argv, capture_output=True, text=True,
                          errors="replace", stdin=subprocess.DEVNULL,
                          **options)


def agree():
    stacks = 1000 if QUICK else 12000
    differences = os.path.join(OUT, "differences.txt")
    with subprocess.Popen([f"{OUT}/agree", f"{OUT}/programs", SOURCES,
                           str(stacks), differences], text=True,
                          stdout=subprocess.PIPE) as process:
        last = ""
        for last in process.stdout:
            print(" ", last, end="", flush=True)
    words = last.split()
    if process.returncode != 0 or not words or words[0] != "sum":
        row("agreement with libunwind", ">= 99.99 %", "did not run", False)
        return
    programs, total, equal = int(words[2]), int(words[4]), int(words[6])
    row("programs", ">= 10", str(programs), programs >= 10)
    row("stacks at single instructions", ">= 100,000", f"{total:,}",
        QUICK or total >= 100000)
    row("agreement with libunwind", ">= 99.99 %",
        f"{equal:,}, {100 * equal / total:.4f} %", equal >= 0.9999 * total)
    row("differ behind a guess of libunwind, counted apart", "", words[8])
    if equal < total:
        print(f"  both answers of what differs: {differences}")


PYTHON = ("import json\nwhile True:\n x={str(i):[i]*3 for i in range(200)}\n"
          " sorted(json.loads(json.dumps(x)).items(), key=lambda k: k[0])")
PERL = ("while (1) { my %h; $h{$_ % 97} .= $_ for 1..400; "
        "my $t = join(',', sort { $h{$a} cmp $h{$b} } keys %h); "
        "$t =~ s/(.)(.)/$2$1/g }")


def speed_programs():
    yield "C++, gcc -O2", [f"{OUT}/programs/mix-gcc-O2"]
    yield "C++, gcc -O0", [f"{OUT}/programs/mix-gcc-O0"]
    yield "C++, clang -Os", [f"{OUT}/programs/mix-clang-Os"]
    yield "python3", ["/usr/bin/python3", "-c", PYTHON]
    yield "perl", ["/usr/bin/perl", "-e", PERL]
    cc1plus = run(["g++", "-print-prog-name=cc1plus"]).stdout.strip()
    yield "cc1plus -O2", [cc1plus, "-quiet", "-imultiarch",
                          "x86_64-linux-gnu", "-D_GNU_SOURCE", "-std=c++17",
                          "-O2", f"{SOURCES}/mix.cpp", "-o", "/dev/null"]


def inside(argv, samples):
    out = os.path.join(OUT, "inside.txt")
    if os.path.exists(out):
        os.unlink(out)
    environment = dict(os.environ, INSIDE_OUT=out, INSIDE_SAMPLES=str(samples),
                       LD_PRELOAD=f"{OUT}/inside.so")
    subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=120)
    told = {}
    with open(out) as file:
        for line in file:
            words = line.split()
            told[words[0]] = [float(word) for word in words[1:]]
    return told


def speed():
    print("  ns per frame, each on the same interrupted stacks (250 a CPU "
          "second):\n  in situ = the first walk over it: median (p10-p90); "
          "hot = again at once")
    ways = ["ours_in_place", "ours_on_a_copy", "libunwind", "libgcc",
            "backtrace"]
    worst = {"hot": None, "situ": None}
    slower = []
    for name, argv in speed_programs():
        try:
            told = inside(argv, 250 if QUICK or "cc1" in name else 1000)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"  {name}: not measured: {error}")
            continue
        for way in ways:
            median, low, high, hot, frames, samples, crashes = told[way]
            print(f"  {name:16} {way:16} in situ {median:7.1f} "
                  f"({low:.1f}-{high:.1f})   hot {hot:7.1f}   "
                  f"{frames:.1f} frames, {samples:.0f} samples"
                  + (f", {crashes:.0f} CRASHES" if crashes else ""))
        ours = told["ours_in_place"]
        if ours[4] < told["libunwind"][4] * 0.98:
            row(f"{name}: as many frames as libunwind", "",
                f"{ours[4]:.1f} of {told['libunwind'][4]:.1f}", False)
        for key, column in (("situ", 0), ("hot", 3)):
            ratio = told["libunwind"][column] / ours[column]
            if worst[key] is None or ratio < worst[key][0]:
                worst[key] = (ratio, name)
            for way in ("libgcc", "backtrace"):
                if told[way][column] <= ours[column]:
                    slower.append(f"{way} {key} in {name}")
    if worst["hot"] is None:
        row("time per frame", "", "did not run", False)
        return
    row("hot, libunwind's unw_step by ours, least", ">= 10",
        f"{worst['hot'][0]:.1f} ({worst['hot'][1]})", worst["hot"][0] >= 10)
    row("first touch in situ, likewise", ">= 3",
        f"{worst['situ'][0]:.1f} ({worst['situ'][1]})", worst["situ"][0] >= 3)
    row("faster than backtrace() and libgcc", "everywhere",
        "everywhere" if not slower else "not " + ", ".join(slower),
        not slower)


def files():
    folder = "/usr/lib/x86_64-linux-gnu"
    yield f"{folder}/libc.so.6"
    yield f"{folder}/libstdc++.so.6"
    yield "/usr/bin/python3.11"
    yield f"{folder}/libcrypto.so.3"
    yield "/usr/bin/gdb"
    yield shutil.which("node") or ""
    yield f"{folder}/libLLVM-14.so.1"


def tables():
    there = [os.path.realpath(path) for path in files()
             if path and os.path.exists(path)]
    answer = run([f"{OUT}/tables"] + there)
    worst_ms = worst_kb = 0.0
    print(f"  {'file':28} {'MiB text':>9} {'entries':>8} {'rows':>9} "
          f"{'rules':>6} {'KB':>7} {'KB/MiB':>7} {'ms':>7} {'ms/MiB':>7}")
    for line in answer.stdout.splitlines():
        words = line.split()
        text, kb, ms = float(words[1]), float(words[6]), float(words[7])
        print(f"  {os.path.basename(words[0]):28} {text:9.2f} {words[2]:>8} "
              f"{words[3]:>9} {words[4]:>6} {kb:7.0f} {kb / text:7.0f} "
              f"{ms:7.2f} {ms / text:7.2f}")
        worst_ms = max(worst_ms, ms / text)
        worst_kb = max(worst_kb, kb / text)
    print(answer.stderr, end="")
    row("rules: CPU ms per MiB of text, most", "<= 1.5", f"{worst_ms:.2f}",
        0 < worst_ms <= 1.5)
    row("rules: KB per MiB of text, most", "<= 300", f"{worst_kb:.0f}",
        0 < worst_kb <= 300)


for part in (agree, speed, tables):
    if ONLY in ("", part.__name__):
        print(f"-- {part.__name__}")
        part()
print(f"{missed} missed")
sys.exit(missed > 0)
