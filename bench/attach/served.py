"""served.py - redis under load, profiled as its own user: what its clients
get with and without, alternated, and the stacks that it shows.
"""
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

USER = "nobody"


def as_user(argv, **options):
    return subprocess.Popen(argv, user=USER, group="nogroup", extra_groups=[],
                            stdin=subprocess.DEVNULL, **options)


def requests(socket, seconds):
    """Requests a second: redis-benchmark for about so long."""
    run = subprocess.run(
        ["redis-benchmark", "-s", socket, "-t", "get", "-c", "20", "-n",
         str(int(60000 * seconds)), "-r", "10000", "--csv"],
        capture_output=True, text=True)
    match = re.search(r'"GET[^"]*","([0-9.]+)"', run.stdout)
    if not match:
        raise SystemExit(f"redis-benchmark failed: {run.stdout}{run.stderr}")
    return float(match[1])


def start(plim, pid, more, file):
    """A profile as that user; all that it says goes to a file."""
    return as_user([plim, "profile", str(pid), *more], stdout=file,
                   stderr=subprocess.STDOUT,
                   env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(plim)))


def finish(tool, file):
    """Ends it early. One that did not run to here would have cost nothing,
    which is no result."""
    tool.send_signal(signal.SIGINT)
    tool.wait()
    file.seek(0)
    text = file.read().decode("utf-8", "replace")
    if "redis" not in text or "samples" not in text:
        raise SystemExit(f"the profile failed ({tool.returncode}): {text}")
    return text


def stacks(plim, pid, socket, name):
    """What an expert would read: three seconds, on and off the CPU."""
    load = subprocess.Popen(
        ["redis-benchmark", "-s", socket, "-t", "get,set", "-c", "20", "-n",
         "1000000", "-q"], stdout=subprocess.DEVNULL)
    with open(name, "w+b") as file:
        tool = start(plim, pid, ["--for", "10s", "--view", "wall"], file)
        time.sleep(3)
        finish(tool, file)
    load.terminate()
    load.wait()


def run(row, program, out, is_quick):
    if not shutil.which("redis-benchmark"):
        print("  redis is not installed")
        return
    folder = tempfile.mkdtemp(prefix="plim-served-")
    shutil.chown(folder, USER)
    os.chmod(folder, 0o755)
    socket = f"{folder}/redis.sock"
    # What another user may run: our build may be below a closed folder.
    plim = shutil.copy(program["plim"], folder)
    for library in program["libraries"]:
        shutil.copy(library, folder)
    server = as_user(["redis-server", "--port", "0", "--unixsocket", socket,
                      "--save", "", "--dir", folder],
                     stdout=subprocess.DEVNULL)
    seconds = 1 if is_quick else 3
    rates = {"off": [], "on": []}
    try:
        time.sleep(1)
        requests(socket, 0.2)
        for number in range(2 if is_quick else 10):
            for word in ("off", "on") if number % 2 else ("on", "off"):
                if word == "off":
                    rates[word].append(requests(socket, seconds))
                    continue
                with tempfile.TemporaryFile() as file:
                    tool = start(plim, server.pid,
                                 ["--for", "60s", "-F", "99"], file)
                    time.sleep(0.5)
                    rates[word].append(requests(socket, seconds))
                    finish(tool, file)
        stacks(plim, server.pid, socket, os.path.join(out, "redis.txt"))
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)
    # Each window with is held against the one beside it without: the machine
    # has phases that are longer than two windows.
    pairs = [on / max(off, 1) for on, off in zip(rates["on"], rates["off"])]
    ratio = statistics.median(pairs)
    spread = statistics.stdev(pairs) / len(pairs) ** 0.5
    row("redis, 99 Hz, as its own user: requests/s", ">= 99 % (error)",
        f"{100 * ratio:.1f} % of {statistics.median(rates['off']):,.0f}, "
        f"error {100 * spread:.1f} %", is_quick or ratio >= 0.99 - spread)
    print(f"  its stacks: {os.path.join(out, 'redis.txt')}")
